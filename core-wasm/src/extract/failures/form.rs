//! What in a command's later form is the cure: another path of the same file, and not options that only change what is printed.

use crate::extract::commands;
use crate::text;

/// Options that only change what a runner of tests prints, or when it stops.
const DISPLAY: &[&str] =
    &["-v", "-vv", "-vvv", "-q", "-x", "-s", "--verbose", "--quiet", "--no-header", "--exitfirst", "--no-pager"];

/// Returns a command without options that only change what is printed.
pub(super) fn without_display_options(command: &str) -> String {
    // A variable that has a program tell more of what it does.
    let tells_more = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| {
            name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
                && ["TRACE", "DEBUG", "VERBOSE"].iter().any(|it| name.contains(it))
        })
    };
    let command = command.trim_start();
    let command = command.split_once(' ').filter(|(first, _)| tells_more(first)).map_or(command, |(_, rest)| rest);
    let tells = |word: &&str| !DISPLAY.contains(word) && !["--tb=", "--color"].iter().any(|option| word.starts_with(option));
    command.split_whitespace().filter(tells).collect::<Vec<_>>().join(" ")
}

/// Returns the name of what is not there, if an error says so: the module of "No module named 'till.slip'", the program of "till: command not
/// found", the remote of "'till' does not appear to be a git repository".
pub(super) fn missing(error: &str) -> Option<&str> {
    const BEFORE: [&str; 5] = [
        "No module named ",
        "Cannot find module ",
        "Cannot find package ",
        "command not found: ",
        "executable file not found: ",
    ];
    const BEHIND: [&str; 8] = [
        ": command not found",
        ": not found",
        " does not appear to be a git repository",
        " does not exist",
        " was not found",
        " is not recognized",
        " is not installed",
        " could not be found",
    ];
    let is_end = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ',' | ';' | ':');
    let quotes = ['\'', '"', '`'];
    let behind = BEFORE.iter().find_map(|sign| error.split_once(sign)).map(|(_, rest)| {
        let rest = rest.trim_start_matches(quotes);
        rest.split(is_end).next().unwrap_or_default()
    });
    let before = || {
        let (head, _) = BEHIND.iter().filter_map(|sign| error.split_once(sign)).min_by_key(|(head, _)| head.len())?;
        match head.strip_suffix(quotes) {
            Some(inside) => inside.rsplit(quotes).next(),
            None => head.rsplit(is_end).next(),
        }
    };
    behind.or_else(before).map(|name| name.split('.').next().unwrap_or(name)).filter(|name| name.len() > 1)
}

/// Returns whether a command names something that was missing: a package may be called like its module, with other strokes.
pub(super) fn names_missing(command: &str, name: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    text::contains_words(&plain(command), &plain(name))
}

/// Returns whether two commands differ in nothing but options.
pub(super) fn is_same_but_options(one: &str, other: &str) -> bool {
    let plain = |command: &str| -> Vec<String> {
        command.split_whitespace().filter(|word| !word.starts_with('-')).map(str::to_owned).collect()
    };
    one != other && plain(one) == plain(other)
}

/// Returns whether two commands that are shown commit with another form of the message, and the error does not come from the shell that
/// read it: what the message looks like cures nothing else.
pub(super) fn is_only_other_message(failed: &str, later: &str, error: &str) -> bool {
    const OF_SHELL: [&str; 9] =
        ["here document", "here-document", "eof", "eval", "syntax", "unexpected", "quot", "pathspec", "substitution"];
    let before = |command: &str| {
        let (before, message) = command.split_once(" -m ")?;
        // "-m "…" -- till.rs" commits other files.
        let is_all = message.starts_with(['"', '\'']) && message.trim_end().ends_with(['"', '\'']);
        is_all.then(|| before.to_owned())
    };
    let is_same = before(failed).is_some_and(|it| before(later) == Some(it));
    is_same && !text::contains_any(&error.to_lowercase(), &OF_SHELL)
}

/// Returns the part of a later command that reads a file from another place, if the failed one did not find it:
/// `source venv/bin/activate` after `source .venv/bin/activate`.
pub(super) fn other_path<'c>(failed: &str, later: &'c str, error: &str) -> Option<&'c str> {
    if !error.contains("No such file") {
        return None;
    }
    let missing =
        commands::segments(failed).into_iter().find_map(|segment| sourced(segment).filter(|it| error.contains(it)))?;
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    commands::segments(later)
        .into_iter()
        .find(|segment| sourced(segment).is_some_and(|path| path != missing && name(path) == name(missing)))
}

/// Returns the file that a part of a command line has the shell read.
fn sourced(segment: &str) -> Option<&str> {
    let mut words = segment.split_whitespace();
    words.next().filter(|program| matches!(*program, "source" | "."))?;
    words.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_message_is_written_cures_only_the_shell() {
        let (failed, later) = ("git commit -m \"$(cat <<'EOF' …)\"", "git commit -m \"…\"");
        assert!(is_only_other_message(failed, later, "error: the key of the till is locked"));
        assert!(!is_only_other_message(failed, later, "can't create temp file for here document"));
        assert!(!is_only_other_message(failed, "git commit --no-verify -m \"…\"", "error: the till is open"));
        assert!(!is_only_other_message(failed, "git commit -m \"…\" -- till.rs", "error: the till is open"));
    }

    #[test]
    fn what_is_missing_has_a_name() {
        for (error, name) in [
            ("ModuleNotFoundError: No module named 'till_slip.print'", "till_slip"),
            ("zsh: command not found: till", "till"),
            ("bash: line 3: till: command not found", "till"),
            ("fatal: 'shop' does not appear to be a git repository", "shop"),
            ("Error: Cannot find module 'till'", "till"),
        ] {
            assert_eq!(missing(error), Some(name), "{error}");
        }
        assert_eq!(missing("error: the till is open"), None);
        assert!(names_missing("pip install Till-Slip", "till_slip") && !names_missing("pip install slip", "till_slip"));
        assert!(is_same_but_options("git push shop main", "git push -u shop main"));
        assert!(!is_same_but_options("git push shop main", "git push store main"));
    }
}
