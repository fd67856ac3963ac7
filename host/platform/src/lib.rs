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
//! Code that is specific to one operating system is in this crate alone. Each of these modules has a counterpart for Windows in the
//! folder `windows`, with the same functions; what cannot be done there says so, or takes the safer side:
//!
//! - [`open`] creates private files and folders, and opens files without following links or waiting for a FIFO.
//! - [`permissions`] reads and sets modes, and says who owns a file and who may use it.
//! - [`metadata`] identifies a file by device and inode, and reads its times.
//! - [`files`] reads at an offset, replaces an open file, and locks for appending.
//! - [`process`] starts a session (`setsid`), kills a process group, limits resources, and knows root.
//! - [`machine`] knows the name of this machine.
//! - [`disk`] asks a file system for its free space.
//!
//! The other crates call these functions and use neither `std::os::unix`, `std::os::windows` nor `rustix`, except in tests. What they still
//! take for granted are paths: `/` as the last resort for a folder, and where an agent keeps its managed settings.

#[cfg_attr(windows, path = "windows/disk.rs")]
pub mod disk;
pub mod files;
pub mod log;
#[cfg_attr(windows, path = "windows/machine.rs")]
pub mod machine;
#[cfg_attr(windows, path = "windows/metadata.rs")]
pub mod metadata;
pub mod namespace;
#[cfg_attr(windows, path = "windows/open.rs")]
pub mod open;
pub mod paths;
#[cfg_attr(windows, path = "windows/permissions.rs")]
pub mod permissions;
#[cfg_attr(windows, path = "windows/process.rs")]
pub mod process;
pub mod program;
