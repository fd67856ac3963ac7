//! Suggestions for a command that does not exist. clap's own go by edit distance alone and are often wrong: for
//! `status` it suggests `pause`.

use std::ffi::OsString;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use strsim::osa_distance;

use super::renamed;

/// The most suggestions for one word.
const MAX_SUGGESTIONS: usize = 3;

/// The shortest beginning of a command's name that is completed.
const MIN_PREFIX: usize = 3;

/// Words that people try because other programs have them, and the commands or options that do the same here.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("add", &["memory save", "note add"]),
    ("check", &["doctor", "verify", "note check"]),
    ("clean", &["memory gc", "observations gc"]),
    ("cleanup", &["memory gc", "observations gc"]),
    ("configure", &["config show", "config init"]),
    ("create", &["memory save", "note add"]),
    ("del", &["memory delete", "memory forget"]),
    ("delete", &["memory delete", "memory forget"]),
    ("diagnose", &["doctor"]),
    ("disable", &["pause", "uninstall"]),
    ("dump", &["export", "backup"]),
    ("enable", &["resume", "install"]),
    ("erase", &["memory delete", "memory forget"]),
    ("errors", &["failures"]),
    ("events", &["timeline", "observations search"]),
    ("find", &["search"]),
    ("forget", &["memory forget", "memory delete"]),
    ("get", &["memory show"]),
    ("grep", &["search"]),
    ("health", &["status", "doctor"]),
    ("history", &["timeline", "session list"]),
    ("info", &["status", "memory stats"]),
    ("init", &["install"]),
    ("list", &["memory list", "session list"]),
    ("load", &["import", "restore"]),
    ("log", &["timeline", "session list"]),
    ("logs", &["timeline", "session list"]),
    ("ls", &["memory list", "session list"]),
    ("memories", &["memory list"]),
    ("new", &["memory save", "note add"]),
    ("notes", &["note list", "note recall", "note add"]),
    ("off", &["pause", "uninstall"]),
    ("on", &["resume", "install"]),
    ("plugin", &["install", "policy list"]),
    ("policies", &["policy list"]),
    ("prune", &["memory gc", "observations gc"]),
    ("put", &["memory save", "note add"]),
    ("query", &["search"]),
    ("read", &["ingest", "memory show"]),
    ("recall", &["search", "note recall"]),
    ("recent", &["memory list", "timeline"]),
    ("remember", &["memory save", "note add"]),
    ("remove", &["memory delete", "memory forget"]),
    ("repair", &["verify", "doctor"]),
    ("rm", &["memory delete", "memory forget"]),
    ("serve", &["mcp", "view"]),
    ("server", &["mcp", "view"]),
    ("sessions", &["session list"]),
    ("set", &["config init", "config show"]),
    ("settings", &["config show"]),
    ("setup", &["install"]),
    ("show", &["memory show", "session show"]),
    ("start", &["install", "resume"]),
    ("stats", &["memory stats"]),
    ("stop", &["pause", "uninstall"]),
    ("store", &["memory save", "note add"]),
    ("sync", &["note sync"]),
    ("tools", &["observations search"]),
    ("undo", &["memory unforget", "memory unlink"]),
    ("update", &["install"]),
    ("upgrade", &["install"]),
    ("validate", &["verify", "note check"]),
    ("version", &["--version"]),
    ("viewer", &["view"]),
    ("web", &["view"]),
    ("why", &["memory show", "search"]),
    ("write", &["memory save", "note add"]),
];

/// Options that people try because other programs have them, and the option that does the same here.
const OPTION_SYNONYMS: &[(&str, &str)] = &[
    ("--all", "--all-projects"),
    ("--count", "--limit"),
    ("--cwd", "--project"),
    ("--dir", "--project"),
    ("--force", "--yes"),
    ("--from", "--after"),
    ("--kind", "--type"),
    ("--max", "--limit"),
    ("--path", "--project"),
    ("--query", "--match"),
    ("--since", "--after"),
    ("--to", "--before"),
    ("--until", "--before"),
];

/// Replaces clap's suggestions in an error about an unknown command or option. Other errors are returned as they are.
pub(super) fn improve(mut error: clap::Error, root: &Command, arguments: &[OsString]) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument {
        return improve_option(error, find(root, &group(root, arguments)).unwrap_or(root));
    }
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let tips = suggestions(root, &group(root, arguments), word);
    error.remove(ContextKind::SuggestedSubcommand);
    error.remove(ContextKind::Suggested);
    if !tips.is_empty() {
        let literal = root.get_styles().get_literal();
        let width = tips.iter().map(String::len).max().unwrap_or(0);
        let styled = |name: &String| {
            let about = find(root, name).and_then(Command::get_about).map(ToString::to_string).unwrap_or_default();
            let gap = " ".repeat(width - name.len());
            StyledStr::from(format!("{literal}throughline {name}{literal:#}{gap}  {about}").trim_end().to_owned())
        };
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips.iter().map(styled).collect()));
    }
    error
}

/// Names the option of the command that does what another program's option does.
fn improve_option(mut error: clap::Error, command: &Command) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return error };
    let synonym = OPTION_SYNONYMS.iter().find(|(name, _)| name == typed).map(|(_, option)| *option);
    let has = |option: &str| command.get_arguments().any(|it| it.get_long() == option.strip_prefix("--"));
    if let Some(option) = synonym.filter(|option| has(option)) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(option.to_owned()));
    }
    error
}

/// Returns the names of the group of commands in which the unknown one was looked for; empty at the top.
pub(super) fn group(root: &Command, arguments: &[OsString]) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut at = root;
    for word in renamed::words(arguments).into_iter().map(|index| &arguments[index]) {
        if names.is_empty() && word == "help" {
            continue;
        }
        let Some(below) = word.to_str().and_then(|word| at.find_subcommand(word)) else { break };
        names.push(below.get_name());
        at = below;
    }
    names.join(" ")
}

/// Returns what may have been meant, best first: synonyms, then commands of that name in a group, then names that are
/// spelt alike.
fn suggestions(root: &Command, group: &str, word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    // `note-add` for `note add`.
    let as_words = word.replace(['-', '_'], " ");
    if as_words != word && find(root, &as_words).is_some() {
        return vec![as_words];
    }
    let synonyms = SYNONYMS.iter().find(|(name, _)| *name == word).map_or(&[][..], |(_, commands)| *commands);
    let mut found: Vec<String> = synonyms.iter().map(|name| (*name).to_owned()).collect();
    found.extend(
        visible(root).filter(|above| above.find_subcommand(&word).is_some()).map(|above| join(above.get_name(), &word)),
    );
    if let Some(own) = find(root, group).filter(|_| !group.is_empty()) {
        // A command of the same group is likelier than one elsewhere.
        for name in &mut found {
            if own.find_subcommand(name.as_str()).is_some() {
                *name = join(group, name);
            }
        }
        let prefix = join(group, "");
        let inside: Vec<String> = found.iter().filter(|name| name.starts_with(&prefix)).cloned().collect();
        if !inside.is_empty() {
            found = inside;
        }
    }
    if found.is_empty() {
        found = alike(find(root, group).unwrap_or(root), &word).into_iter().map(|name| join(group, name)).collect();
    }
    let mut seen = Vec::new();
    found.retain(|name| !seen.contains(name) && (seen.push(name.clone()), true).1);
    found.truncate(MAX_SUGGESTIONS);
    found
}

fn join(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{group} {name}") }
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
}

/// Returns the command with these names.
pub(super) fn find<'a>(root: &'a Command, names: &str) -> Option<&'a Command> {
    names.split(' ').filter(|name| !name.is_empty()).try_fold(root, |at, name| at.find_subcommand(name))
}

/// Returns the commands whose names begin with the word, or else those that differ from it by the fewest letters.
fn alike<'a>(command: &'a Command, word: &str) -> Vec<&'a str> {
    let names = || visible(command).map(Command::get_name);
    if word.len() >= MIN_PREFIX {
        let longer: Vec<&str> = names().filter(|name| name.starts_with(word)).collect();
        if !longer.is_empty() {
            return longer;
        }
    }
    // One wrong letter in three, and at least one, but not the only one.
    let length = word.chars().count();
    let limit = (length / 3).clamp(usize::from(length > 1), 3);
    let mut close: Vec<(usize, &str)> =
        names().map(|name| (osa_distance(word, name), name)).filter(|(distance, _)| *distance <= limit).collect();
    close.sort_unstable();
    let least = close.first().map(|(distance, _)| *distance);
    close.into_iter().filter(|(distance, _)| Some(*distance) == least).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(line: &str) -> Vec<String> {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let root = crate::cli::command();
        let word = line.rsplit(' ').next().unwrap();
        suggestions(&root, &group(&root, &arguments), word)
    }

    #[test]
    fn a_command_is_suggested_that_does_what_was_meant() {
        for (line, wanted) in [
            ("t health", &["status", "doctor"][..]),
            ("t list", &["memory list", "session list", "note list"]),
            ("t unistall", &["uninstall"]),
            ("t Instal", &["install"]),
            ("t serach", &["search"]),
            ("t exprot", &["export"]),
            ("t obs", &["observations"]),
            ("t proj", &["projects", "projections"]),
            ("t reindex", &["memory reindex"]),
            ("t trust", &["policy trust"]),
            ("t --namespace list find", &["search"]),
            ("t note-add", &["note add"]),
            ("t off", &["pause", "uninstall"]),
            ("t note ad", &["note add"]),
            ("t memory lst", &["memory list"]),
            ("t memory rm", &["memory delete", "memory forget"]),
            ("t memory add", &["memory save"]),
            ("t memory serch", &["memory search"]),
            ("t memory find", &["memory search"]),
            ("t note find", &["search"]),
            ("t help memory lst", &["memory list"]),
            ("t note store", &["note add"]),
            ("t session ls", &["session list"]),
            ("t version", &["--version"]),
        ] {
            assert_eq!(suggested(line), wanted, "{line}");
        }
    }

    #[test]
    fn nothing_is_suggested_where_nothing_is_near() {
        for line in ["t frobnicate", "t remember-everything", "t x", "t memory xyzzy", "t 수달"] {
            assert_eq!(suggested(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn synonyms_are_no_commands_and_stand_for_some() {
        let root = crate::cli::command();
        assert!(SYNONYMS.is_sorted() && OPTION_SYNONYMS.is_sorted());
        for (word, names) in SYNONYMS {
            assert!(root.find_subcommand(word).is_none(), "{word}");
            for name in *names {
                assert!(name.starts_with("--") || find(&root, name).is_some(), "{word}: {name}");
            }
        }
    }

    #[test]
    fn distances_count_letters() {
        for (one, other, wanted) in
            [("", "", 0), ("a", "", 1), ("sesion", "session", 1), ("serach", "search", 1), ("pause", "parse", 1)]
        {
            assert_eq!((osa_distance(one, other), osa_distance(other, one)), (wanted, wanted), "{one} {other}");
        }
    }
}
