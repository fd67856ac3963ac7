//! Folders, locks and the log of this machine.
//!
//! Every run of the program begins with [`paths::Paths`], which finds the folders for data, configuration and cache and
//! the agents' own folders. No other module reads the environment for them. A [`namespace`] puts a memory of its own
//! below the data folder, so most code receives paths that already belong to a namespace.
//!
//! - [`files`] replaces whole files atomically (write a temporary file, `fsync`, `rename`), and locks them with
//!   `flock`.
//! - [`log`] collects what went wrong and writes it at the end, because the details must be redacted first.
//! - [`program`] finds the path by which other programs, such as an agent's hook, should call this one.
//!
//! Most of what is specific to Unix is here: modes, `flock`, user ids. The rest is in modules that open files or start
//! processes: transcripts in `throughline-agents`, the compiled cache in `throughline-sandbox`, and background
//! processes in `throughline-engine`; and behind the standard library's Unix traits.

pub mod files;
pub mod log;
pub mod namespace;
pub mod paths;
pub mod program;
