//! Why a team's folder of notes cannot be used.

use std::fmt;
use std::path::PathBuf;

use throughline_model::invalid::Invalid;

/// Why a team's folder of notes cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotesError {
    /// The folder leads out of its project by a link.
    LeadsOut(PathBuf),
    /// The team's types or relations are not valid; one line that names the file.
    Registry(Invalid),
    /// A schema of the team's is not valid; one line that names the schema.
    Schema(Invalid),
}

impl fmt::Display for NotesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeadsOut(path) => {
                write!(f, "{} leads out of the project by a link, and such links are not followed", path.display())
            }
            Self::Registry(why) | Self::Schema(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for NotesError {}

impl NotesError {
    /// Returns what the user can do about the error.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::LeadsOut(_) => "remove the link, or name the folder that it leads to, if you trust it",
            Self::Registry(_) => "correct the file or remove it: the built-in types work without it",
            Self::Schema(_) => "correct the schema or remove it: the built-in schemas work without it",
        }
    }
}
