//! Commands and their failures as they are shown to a reader.

use super::normalize::normalize;
use crate::extract::commands::{self, Class};
use crate::extract::labels::Labels;
use crate::text;

/// The maximum length of the line of a failure, in characters, and of its parts.
const MAX_LINE_CHARS: usize = 300;
const MAX_ERROR_CHARS: usize = 160;
const MIN_CAUSE_CHARS: usize = 60;

/// Formats a command for display: its main part on one line, without redirections and without the text of a message.
pub(in crate::extract) fn display_command(command: &str) -> String {
    // The project's own folder says nothing.
    let main = commands::main_segment(command).replace(" -C . ", " ");
    let main = match (main.find("<<"), main.find(" -m ")) {
        (Some(at), _) => {
            let end = main[at..].find('\n').map_or(main.len(), |line| at + line);
            let closing = if main[..at].contains("\"$(") { ")\"" } else { "" };
            format!("{} …{closing}", &main[..end])
        }
        (None, Some(at)) if commands::class(command) == Class::Commit => {
            format!("{} -m \"…\"", &main[..at])
        }
        _ => {
            match [" -e \"", " -e '", " -c \"", " -c '"].iter().find_map(|flag| main.find(flag).map(|at| at + flag.len())) {
                // The text of an inline script is of no use to a reader.
                Some(at) if main.len() > at + 60 => format!("{}…{}", &main[..at], &main[at - 1..at]),
                _ => main.clone(),
            }
        }
    };
    let line = text::one_line(&main);
    let line = ["2>&1", "2>/dev/null", "> /dev/null", ">/dev/null"].iter().fold(line, |line, end| line.replace(end, ""));
    text::clip(&text::one_line(&line), 140).into_owned()
}

/// Returns whether a command can be run as it is shown: nothing of it was left out, and it uses no variable.
pub(super) fn is_whole(command: &str) -> bool {
    !command.contains('…') && !has_variable(command)
}

/// Returns whether a command uses a variable.
pub(super) fn has_variable(command: &str) -> bool {
    let is_variable =
        |(at, _): (usize, &str)| command[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '{'));
    command.match_indices('$').any(is_variable)
}

/// Returns a failure, how often it happened, its cause and its fix as one line.
pub(super) fn failure_text(what: &str, times: u32, error: &str, cause: &str, fix: (&str, &str), labels: &Labels) -> String {
    let times = if times > 1 { format!(" ({times}×)") } else { String::new() };
    // How pytest marks a line.
    let error = text::clip(error.strip_prefix("E ").unwrap_or(error).trim_start(), MAX_ERROR_CHARS);
    let colon = if error.is_empty() { "" } else { ": " };
    let mut content = format!("{} {}{times}{colon}{error}", normalize(what), labels.fails.to_lowercase());
    // The cure is not cut, so the cause has what is left.
    let left = MAX_LINE_CHARS.saturating_sub(content.chars().count() + fix.1.chars().count() + 24);
    let cause =
        if left < MIN_CAUSE_CHARS && !fix.1.is_empty() { "".into() } else { text::clip(cause, left.max(MIN_CAUSE_CHARS)) };
    for (label, body) in [(labels.cause, &*cause), fix] {
        if !body.is_empty() {
            content.push_str(if content.ends_with(['.', '。', '`', '?', '!', '…']) { " " } else { ". " });
            content.push_str(label);
            content.push_str(": ");
            content.push_str(body);
        }
    }
    content
}
