//! What is printed if the command line is wrong: clap's error, with hints about what was meant and where the list of commands or
//! options is.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use anstream::adapter::strip_str;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::suggest;

/// Where clap's last line begins. It says `--help` without the command.
const FOOTER: &str = "For more information, try";

/// How clap marks a line that says what may have been meant.
const TIP: &str = "tip:";

/// Prints an error of clap, or the help if that was asked for. Returns the exit code.
pub(super) fn report(error: &clap::Error, root: &Command, arguments: &[OsString]) -> ExitCode {
    let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    // Ignore the errors of a closed stream: nobody is reading.
    if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let said = error.render().ansi().to_string();
        let _ = anstream::stderr().lock().write_all(with_hints(&said, &hints(error, root, arguments)).as_bytes());
    } else {
        let _ = error.print();
    }
    code
}

/// Returns what clap says with its tips, and then `more`, as hints at the end.
fn with_hints(said: &str, more: &[String]) -> String {
    let cyan = anstyle::AnsiColor::Cyan.on_default();
    let (mut text, mut hints) = (String::new(), Vec::new());
    for line in said.lines() {
        let plain = strip_str(line).to_string();
        if plain.starts_with(FOOTER) {
            continue;
        }
        match line.split_once(TIP).filter(|_| plain.trim_start().starts_with(TIP)) {
            Some((_, tip)) => hints.push(tip.trim_start_matches("\u{1b}[0m").trim().to_owned()),
            None if plain.is_empty() && text.ends_with("\n\n") => {}
            None => text = text + line + "\n",
        }
    }
    for hint in hints.iter().chain(more) {
        text = format!("{}\n{cyan}hint:{cyan:#} {hint}", text.trim_end());
    }
    text + "\n"
}

/// Returns where the list of what was meant is.
fn hints(error: &clap::Error, root: &Command, arguments: &[OsString]) -> Vec<String> {
    let group = suggest::group(root, arguments);
    let called = if group.is_empty() { "throughline".to_owned() } else { format!("throughline {group}") };
    let command = suggest::find(root, &group).unwrap_or(root);
    let mut hints = Vec::new();
    if is_unquoted(error, command) {
        hints.push("put a text of several words into quotes".into());
    }
    hints.push(match error.kind() {
        ErrorKind::InvalidSubcommand | ErrorKind::MissingSubcommand => format!("`{called} --help` lists the commands"),
        _ => format!("`{called} --help` explains the arguments and options"),
    });
    hints
}

/// Whether a word was too many for a command that takes one text.
fn is_unquoted(error: &clap::Error, command: &Command) -> bool {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return false };
    error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-') && command.get_positionals().next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let mut root = crate::cli::command();
        let error = root.try_get_matches_from_mut(&arguments).unwrap_err().format(&mut root);
        let error = suggest::improve(error, &root, &arguments);
        strip_str(&with_hints(&error.render().ansi().to_string(), &hints(&error, &root, &arguments))).to_string()
    }

    #[test]
    fn an_error_says_what_was_meant_and_where_the_list_is() {
        for (line, wanted) in [
            ("t serach", &["throughline search", "`throughline --help` lists the commands"][..]),
            ("t memory lst", &["throughline memory list", "`throughline memory --help` lists the commands"]),
            ("t search x --al-projects", &["'--all-projects'", "`throughline search --help` explains"]),
            ("t memory save The linter", &["put a text of several words into quotes", "`throughline memory save --help`"]),
            ("t session show", &["`throughline session show --help` explains"]),
            ("t search --kind decision x", &["'--type'", "`throughline search --help` explains"]),
            ("t memory forget --since 2h", &["'--after'"]),
            ("t install --profile huge", &["[possible values: minimal", "`throughline install --help` explains"]),
            ("t ingest --frob", &["`throughline ingest --help` explains"]),
        ] {
            let said = said(line);
            assert!(wanted.iter().all(|part| said.contains(part)), "{line}: {said}");
            assert!(said.starts_with("error: ") && !said.contains(TIP) && !said.contains(FOOTER), "{line}: {said}");
            let last = said.trim_end().lines().last().unwrap_or_default();
            assert!(last.starts_with("hint: `throughline") && said.ends_with('\n'), "{line}: {said}");
        }
    }
}
