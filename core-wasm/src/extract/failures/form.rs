//! What in a command's later form is the cure: another path of the same file, and not options that only change what is printed.

use crate::extract::commands;

/// Options that only change what a runner of tests prints, or when it stops.
const DISPLAY: &[&str] = &["-v", "-vv", "-vvv", "-q", "-x", "-s", "--verbose", "--quiet", "--no-header", "--exitfirst"];

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
