//! Copies of the database that a deletion does not reach.

use std::io::Write as _;
use std::path::Path;

use super::error::CommandError;
use throughline_engine::backup;

/// Warns that copies which a restore or a repair kept may still contain what was just deleted.
pub(super) fn warn_of_copies(store: &Path) -> Result<(), CommandError> {
    let mut err = anstream::stderr().lock();
    for kept in backup::previous_databases(store) {
        writeln!(
            err,
            "warning: the older copy {} may still contain what you deleted; delete that file when you no longer need it",
            kept.display()
        )?;
    }
    Ok(())
}
