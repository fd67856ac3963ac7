//! Folders, locks and the log of this machine.
//!
//! Every run of the program begins with [`paths::Paths`], which finds the folders for data, configuration and cache and
//! the agents' own folders. No other module reads the environment for them. A [`namespace`] puts a memory of its own
//! below the data folder, so most code receives paths that already belong to a namespace.
//!
//! - [`files`] replaces whole files atomically (write a temporary file, `fsync`, `rename`), and takes lock files.
//! - [`log`] collects what went wrong and writes it at the end, because the details must be redacted first.
//! - [`program`] finds the path by which other programs, such as an agent's hook, should call this one.
//!
//! Code that is specific to Unix is in this crate alone, so that another operating system is added in one place:
//!
//! - [`open`] creates private files and folders, and opens files without following links or waiting for a FIFO.
//! - [`permissions`] reads and sets modes, and says who owns a file and who may use it.
//! - [`metadata`] identifies a file by device and inode, and reads its times.
//! - [`files`] reads at an offset.
//! - [`process`] starts a session (`setsid`), kills a process group, limits resources, and knows root.
//! - [`machine`] knows the name of this machine.
//! - [`disk`] asks a file system for its free space.
//!
//! The other crates call these functions and use neither `std::os::unix` nor `rustix`, except in tests. What they still
//! take for granted are paths: `/` as the last resort for a folder, and where an agent keeps its managed settings.

pub mod disk;
pub mod files;
pub mod log;
pub mod machine;
pub mod metadata;
pub mod namespace;
pub mod open;
pub mod paths;
pub mod permissions;
pub mod process;
pub mod program;
