//! What an adapter says about the system that it reads.

use std::path::Path;

use anyhow::Result;

use super::sink::Sink;

/// A system to import from.
#[derive(Debug)]
pub struct System {
    /// Its name on the command line and in identifiers.
    pub name: &'static str,
    /// Which versions or files are read, for the help.
    pub about: &'static str,
    /// Where its files are looked for, in words for the help; a line for each place.
    pub places: &'static [&'static str],
    /// Where its files usually lie.
    pub(super) locations: &'static [DefaultLocation],
    /// A location that has none of its files, but one of these, is a source as a whole.
    pub(super) instead: &'static [&'static str],
    /// Whether all Markdown files below a folder that the user names are sources.
    pub(super) takes_all_markdown: bool,
    /// Whether rows that name no project belong to one that is called like the system, and not to that of the current
    /// folder.
    pub(super) has_own_project: bool,
    /// Reads one source.
    pub(super) read: fn(&Path, &mut Sink<'_>) -> Result<()>,
}

/// A place where one kind of file of a system usually lies.
#[derive(Debug)]
pub(super) struct DefaultLocation {
    /// Whether the folder is below the user's home, the agent's folder, or each project.
    pub(super) root: Root,
    /// The folder below the root.
    pub(super) folder: &'static str,
    /// The files in the folder; `*` stands for any part of a name.
    pub(super) files: &'static [&'static str],
}

/// What a location is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    Home,
    Agent,
    Project,
}
