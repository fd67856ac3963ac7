//! Texts that are longer than the screen, through the user's pager.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use super::failure::Failure;
use super::output;

/// Ends at once where the text fits after all, keeps colours, leaves the text on the screen, and ends with us at Ctrl-C.
const DEFAULT: &str = "less -FRXK";

/// Writes a whole text to standard output: through `$PAGER` where that is a terminal on which it does not fit.
pub(super) fn write(text: &[u8]) -> Result<(), Failure> {
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
    // The last line is the shell's.
    rows >= height
}

/// Whether a pager has shown it. One that ends with an error, or that is not there, has not.
fn page(text: &[u8]) -> bool {
    let pager = env::var("PAGER").unwrap_or_else(|_| DEFAULT.into());
    if pager.trim().is_empty() {
        return false;
    }
    // The variable holds a command line, as for git and man.
    let child = Command::new("sh").args(["-c", &pager]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // Who has seen enough closes the pager before its end.
        let _ = if output::has_colours() {
            stdin.write_all(text)
        } else {
            stdin.write_all(&anstream::adapter::strip_bytes(text).into_vec())
        };
    }
    child.wait().is_ok_and(|status| status.success())
}
