//! Commands as they are shown to a reader.

use crate::extract::commands::{self, Class};
use crate::text;

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
