//! Prints how many memories an import added.

use std::io::{self, Write};

use crate::cli::output;

/// Prints how many memories are new, known already, and not stored.
pub(super) fn print_counts(out: &mut impl Write, new: u64, known: u64, forgotten: u64, left_out: u64) -> io::Result<()> {
    writeln!(out, "{}, {} known already", output::counted(new, "new memory", "new memories"), output::count(known))?;
    for (number, why) in [
        (forgotten, "deleted for good before"),
        (left_out, "from a project or session that is paused or excluded, or from a time that was forgotten"),
    ] {
        if number > 0 {
            writeln!(out, "{} not stored: {why}", output::count(number))?;
        }
    }
    Ok(())
}
