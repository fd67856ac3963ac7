//! The contract's shared words (`interface types` of `wit/`) as Rust types. The same values go to a policy, to the store
//! and to `--json`; nothing is copied from one shape into another on the way.

use std::path::Path;

use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

use crate::project::Project;

/// Milliseconds since the Unix epoch, UTC.
pub type Timestamp = u64;

/// A name and its value, for what has no field of its own.
pub type Attribute = (String, String);

/// The session that a call is about.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component", component(record))]
pub struct Session {
    /// The agent's identifier of the session.
    pub id: String,
    /// The project's identifier, [`crate::project::Project::id`].
    pub project: String,
    /// The project's root folder.
    pub root: String,
    /// The agent's working folder.
    pub cwd: String,
    /// `claude-code`, …
    pub agent: String,
    /// The model, where the agent says it.
    pub model: Option<String>,
    /// The host's clock when the hook began.
    pub now: Timestamp,
    /// `sub-agent`, where the lines are one's.
    pub attributes: Vec<Attribute>,
}

impl Session {
    /// A session of an agent in a project.
    pub fn new(id: &str, project: &Project, cwd: &Path, agent: &str, model: Option<String>, now: Timestamp) -> Self {
        Self {
            id: id.into(),
            project: project.id.clone(),
            root: project.root.to_string_lossy().into_owned(),
            cwd: cwd.to_string_lossy().into_owned(),
            agent: agent.into(),
            model,
            now,
            attributes: Vec::new(),
        }
    }
}

/// Where a memory was learned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "component", component(record))]
pub struct Origin {
    /// The transcript line's own identifier.
    #[cfg_attr(feature = "component", component(name = "line-uuid"))]
    pub line_uuid: Option<String>,
    /// When it was said or done, by the transcript's clock.
    pub at: Option<Timestamp>,
}

/// Something worth keeping, before the host has stored it.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component", component(record))]
pub struct Draft {
    /// Identity within the session; none: kind and content are the identity.
    pub key: Option<String>,
    /// A core kind or the policy's own.
    pub kind: String,
    /// One line.
    pub title: String,
    /// Markdown.
    pub content: String,
    /// Words to find it by that stand in neither title nor content.
    pub keywords: Vec<String>,
    /// Relative to the project's root where inside it.
    pub files: Vec<String>,
    /// 0 to 1.
    pub importance: f32,
    /// Where it was learned.
    pub origin: Origin,
    /// The policy's own data.
    pub attributes: Vec<Attribute>,
}

/// A stored memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component", component(record))]
pub struct Memory {
    /// Stable and opaque.
    pub id: String,
    /// The session in which it was first learned.
    #[cfg_attr(feature = "component", component(name = "session-id"))]
    pub session_id: String,
    /// A core kind or a policy's own.
    #[serde(rename = "type")]
    pub kind: String,
    /// One line.
    pub title: String,
    /// Markdown.
    pub content: String,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Files that it is about.
    pub files: Vec<String>,
    /// 0 to 1.
    pub importance: f32,
    /// When it was learned.
    pub created: Timestamp,
    /// In how many places it was learned.
    pub seen: u32,
    /// 0 to 1 where it answers a search, else 0.
    pub score: f32,
    /// The policy's own data.
    pub attributes: Vec<Attribute>,
}

/// A choice between options.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "component", component(record))]
pub struct Decision {
    /// What was chosen.
    pub what: String,
    /// Empty where no reason was given.
    pub why: String,
    /// The options that were not taken.
    pub rejected: Vec<String>,
}

/// An insight tied to a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "component", component(record))]
pub struct Discovery {
    /// The file, relative to the project's root where inside it.
    pub file: String,
    /// One line.
    pub insight: String,
    /// When it was found.
    pub at: Option<Timestamp>,
}

/// What a session did to a file, in lines.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "component", component(record))]
pub struct Change {
    /// Relative to the project's root where inside it.
    pub path: String,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// What is known of a session as a whole, at its present end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "component", component(record))]
#[serde(default)]
pub struct SessionNotes {
    /// What the human asked for first, in substance.
    #[cfg_attr(feature = "component", component(name = "original-request"))]
    pub original_request: String,
    /// What the session is about now, where that has moved on.
    #[cfg_attr(feature = "component", component(name = "current-objective"))]
    pub current_objective: String,
    /// How it stands.
    pub outcome: String,
    /// The first moment seen.
    pub started: Option<Timestamp>,
    /// The last moment seen.
    pub ended: Option<Timestamp>,
    /// Prompts by the human.
    pub turns: u32,
    /// Finished work.
    pub done: Vec<String>,
    /// Work in hand.
    pub current: Vec<String>,
    /// Work not begun.
    pub pending: Vec<String>,
    /// Choices between options.
    pub decisions: Vec<Decision>,
    /// Insights tied to files.
    pub discoveries: Vec<Discovery>,
    /// What a later session would trip over.
    pub learnings: Vec<String>,
    /// Standing rules and corrections by the human.
    pub preferences: Vec<String>,
    /// Files changed, latest last.
    pub changes: Vec<Change>,
    /// Commits and pull requests that came about, in order.
    pub commits: Vec<String>,
    /// What is in the way.
    pub blockers: Vec<String>,
    /// Failures that are still open.
    pub errors: Vec<String>,
    /// A policy's own data for its later stages.
    pub attributes: Vec<Attribute>,
}

/// A past session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component", component(record))]
pub struct SessionRecord {
    /// The agent's identifier.
    pub id: String,
    /// When it began.
    pub started: Option<Timestamp>,
    /// When it was last seen.
    pub ended: Option<Timestamp>,
    /// A few sentences.
    pub summary: String,
    /// Most telling first.
    pub topics: Vec<String>,
    /// Files that the session changed.
    pub files: Vec<String>,
    /// The notes, where an extractor has kept some.
    pub notes: Option<SessionNotes>,
}

/// Why a policy's call gave no result.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component", component(variant))]
pub enum Failure {
    /// What was handed over cannot be used.
    #[cfg_attr(feature = "component", component(name = "invalid-input"))]
    InvalidInput(String),
    /// The policy's own fault.
    #[cfg_attr(feature = "component", component(name = "internal"))]
    Internal(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InvalidInput(why) => write!(f, "the policy refused its input: {why}"),
            Self::Internal(why) => write!(f, "the policy failed: {why}"),
        }
    }
}

impl std::error::Error for Failure {}
