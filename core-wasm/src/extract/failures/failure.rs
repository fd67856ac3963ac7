//! One failure that is still open.

use serde::{Deserialize, Serialize};

use crate::extract::memories::LineRef;

/// What failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::extract) enum Subject {
    /// A shell command.
    #[default]
    Command,
    /// An edit of a file.
    Edit,
}

/// One open failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of what happened since the failure")]
pub(in crate::extract) struct Failure {
    pub(super) subject: Subject,
    /// The command or the file.
    pub(super) what: String,
    /// The line that explains the failure.
    pub(super) error: String,
    pub(super) source: LineRef,
    /// How many times it failed.
    pub(super) times: u32,
    /// What the agent has said since then.
    pub(super) said: Vec<String>,
    /// What has been done since then.
    pub(super) steps: Vec<String>,
    /// The number of the turn.
    pub(super) turn: u32,
    /// How many texts the agent has written since then.
    #[serde(default)]
    pub(super) age: u32,
    /// Whether files were changed since then.
    #[serde(default)]
    pub(super) edited: bool,
    /// The files that were changed since then.
    #[serde(default)]
    pub(super) edited_files: Vec<String>,
    /// Whether the user allowed to go past it.
    #[serde(default)]
    pub(super) is_bypass_allowed: bool,
    /// How the command was written when it failed again, as it would be told. That cures nothing.
    #[serde(default)]
    pub(super) tried: Vec<String>,
    /// What cured it, as it would be told, if it was closed.
    #[serde(default)]
    pub(super) cured_by: String,
    /// What the agent said that only the user can do about it.
    #[serde(default)]
    pub(super) needs: String,
    /// Whether the user has said something since then.
    #[serde(default)]
    pub(super) is_answered: bool,
    /// Whether no line that it printed explains it: the one that seemed to is printed when it passes, too.
    #[serde(default)]
    pub(super) is_unexplained: bool,
    /// Whether the same was done with another name and passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_corrected: bool,
    /// What the agent said about whose fault it is, if it is not the session's. May be empty.
    #[serde(default)]
    pub(super) excuse: String,
}

/// Returns whether all words of a command stand in another one, which has more.
pub(super) fn is_part_of(shorter: &str, longer: &str) -> bool {
    let (few, many): (Vec<&str>, Vec<&str>) = (shorter.split_whitespace().collect(), longer.split_whitespace().collect());
    few.len() < many.len() && few.iter().all(|word| many.contains(word))
}
