//! Shows texts that are longer than the screen in the user's pager.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use super::error::CommandError;
use super::output;

/// The options make less exit if the text fits after all, keep colours, leave the text on the screen, and exit at
/// Ctrl-C.
const DEFAULT: &str = "less -FRXK";

/// Prints a text: in `$PAGER` if standard output is a terminal on which the text does not fit, otherwise directly.
pub(super) fn write(text: &[u8]) -> Result<(), CommandError> {
    if is_long(text) && page(text) {
        return Ok(());
    }
    let mut out = output::stdout();
    out.write_all(text)?;
    Ok(out.flush()?)
}

fn is_long(text: &[u8]) -> bool {
    let (Some(width), Some(height)) = (output::width(), output::height()) else { return false };
    if !io::stdout().is_terminal() || width == 0 {
        return false;
    }
    let plain = anstream::adapter::strip_bytes(text).into_vec();
    let rows: usize = String::from_utf8_lossy(&plain).lines().map(|line| output::columns(line).div_ceil(width).max(1)).sum();
    // The shell needs the last line.
    rows >= height
}

/// Shows the text in the pager. Returns false if there is no pager or it fails.
fn page(text: &[u8]) -> bool {
    let pager = env::var("PAGER").unwrap_or_else(|_| DEFAULT.into());
    if pager.trim().is_empty() {
        return false;
    }
    // As for git and man, the variable contains a command line.
    let child = Command::new("sh").args(["-c", &pager]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // The pipe breaks if the user quits the pager early, which is not an error.
        let _ = if output::has_colours() {
            stdin.write_all(text)
        } else {
            stdin.write_all(&anstream::adapter::strip_bytes(text).into_vec())
        };
    }
    child.wait().is_ok_and(|status| status.success())
}
