//! Folders, locks and the log of this machine.

pub mod files;
pub mod log;
pub mod namespace;
pub mod paths;
pub mod program;
