//! The contract's shared records (`interface types` of `wit/`) as Rust types. Policies, the store and `--json` output
//! all use these types, so no value is converted between them.
//!
//! With the feature `component`, the types derive wasmtime's `ComponentType`, `Lift` and `Lower`, and the bindings in
//! `throughline-sandbox` map the contract's `types` interface onto them. The same [`Memory`] comes from the store, goes
//! to a policy and is printed; there is no generated twin to copy field by field. Wasmtime checks the names and the
//! order of the fields against the component when it links.

use std::path::Path;

use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

use crate::project::Project;
use crate::redacted::Texts;

/// Milliseconds since the Unix epoch, UTC.
pub type Timestamp = u64;

/// A name and a value, for data that has no field of its own.
pub type Attribute = (String, String);

/// The session that a call is about.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component", component(record))]
pub struct Session {
    /// The agent's session identifier.
    pub id: String,
    /// The project's identifier, [`crate::project::Project::id`].
    pub project: String,
    /// The project's root folder.
    pub root: String,
    /// The agent's working folder.
    pub cwd: String,
    /// `claude-code`, …
    pub agent: String,
    /// The model, if the agent reports it.
    pub model: Option<String>,
    /// The host's clock when the hook started.
    pub now: Timestamp,
    /// Contains `sub-agent` if the lines come from a sub-agent.
    pub attributes: Vec<Attribute>,
}

impl Session {
    /// Creates a session of an agent in a project.
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
    /// When it was said or done, according to the transcript.
    pub at: Option<Timestamp>,
}

/// Something worth remembering, before the host has stored it.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component", component(record))]
pub struct Draft {
    /// Identity within the session. Without a key, kind and content are the identity.
    pub key: Option<String>,
    /// A core kind or one of the policy's own.
    pub kind: String,
    /// One line.
    pub title: String,
    /// Markdown.
    pub content: String,
    /// Search terms that occur in neither title nor content.
    pub keywords: Vec<String>,
    /// Paths, relative to the project's root if inside it.
    pub files: Vec<String>,
    /// 0 to 1.
    pub importance: f32,
    /// Where it was learned.
    pub origin: Origin,
    /// The policy's own data.
    pub attributes: Vec<Attribute>,
}

/// The longest memory kind, in bytes, as the contract says.
pub const MAX_KIND: usize = 64;

/// The longest key of a draft, in bytes: a URL or a path fits.
const MAX_KEY: usize = 4 << 10;

/// The kind of a draft whose own kind a redactor took away.
const REDACTED_KIND: &str = "redacted";

/// Whether this is a valid memory kind: lower-case words joined by `_`.
pub fn is_kind(kind: &str) -> bool {
    (1..=MAX_KIND).contains(&kind.len())
        && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

impl Draft {
    /// Makes kind and key valid again after redaction. A redactor cannot turn a kind into another one, but it can replace
    /// one; such a draft is kept as a kind of its own. Without a valid key, kind and content are the identity.
    pub fn validate_identity(&mut self) {
        if !is_kind(&self.kind) {
            REDACTED_KIND.clone_into(&mut self.kind);
        }
        let is_key = |key: &String| (1..=MAX_KEY).contains(&key.len()) && !key.contains(char::is_control);
        self.key = self.key.take().filter(is_key);
    }
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
    /// A core kind or one of a policy's own.
    #[serde(rename = "type")]
    pub kind: String,
    /// One line.
    pub title: String,
    /// Markdown.
    pub content: String,
    /// Search terms.
    pub keywords: Vec<String>,
    /// The files that the memory is about.
    pub files: Vec<String>,
    /// 0 to 1.
    pub importance: f32,
    /// When it was learned.
    pub created: Timestamp,
    /// The number of places where it was learned.
    pub seen: u32,
    /// 0 to 1 in a search result, otherwise 0.
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
    /// The reason; empty if none was given.
    pub why: String,
    /// The options that were rejected.
    pub rejected: Vec<String>,
}

/// An insight tied to a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "component", component(record))]
pub struct Discovery {
    /// The file, relative to the project's root if inside it.
    pub file: String,
    /// One line.
    pub insight: String,
    /// When it was found.
    pub at: Option<Timestamp>,
}

/// The lines that a session added to and removed from a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "component", component(record))]
pub struct Change {
    /// Relative to the project's root if inside it.
    pub path: String,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// What is known about a session as a whole, as of its latest line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "component", component(record))]
#[serde(default)]
pub struct SessionNotes {
    /// What the human asked for first, in substance.
    #[cfg_attr(feature = "component", component(name = "original-request"))]
    pub original_request: String,
    /// What the session is about now, if that has changed.
    #[cfg_attr(feature = "component", component(name = "current-objective"))]
    pub current_objective: String,
    /// The current state.
    pub outcome: String,
    /// The earliest time seen.
    pub started: Option<Timestamp>,
    /// The latest time seen.
    pub ended: Option<Timestamp>,
    /// The number of prompts by the human.
    pub turns: u32,
    /// Finished work.
    pub done: Vec<String>,
    /// Work in progress.
    pub current: Vec<String>,
    /// Work not started.
    pub pending: Vec<String>,
    /// Choices between options.
    pub decisions: Vec<Decision>,
    /// Insights tied to files.
    pub discoveries: Vec<Discovery>,
    /// What a later session should know to avoid mistakes.
    pub learnings: Vec<String>,
    /// Standing rules and corrections by the human.
    pub preferences: Vec<String>,
    /// Files changed, latest last.
    pub changes: Vec<Change>,
    /// Commits and pull requests that were created, in order.
    pub commits: Vec<String>,
    /// What blocks the work.
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
    /// The agent's session identifier.
    pub id: String,
    /// When it started.
    pub started: Option<Timestamp>,
    /// When it was last seen.
    pub ended: Option<Timestamp>,
    /// A few sentences.
    pub summary: String,
    /// Most relevant first.
    pub topics: Vec<String>,
    /// Files that the session changed.
    pub files: Vec<String>,
    /// The notes, if an extractor has kept any.
    pub notes: Option<SessionNotes>,
}

/// Why a policy's call returned no result.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component", component(variant))]
pub enum Failure {
    /// The input cannot be used.
    #[cfg_attr(feature = "component", component(name = "invalid-input"))]
    InvalidInput(String),
    /// The policy itself failed.
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

impl Texts for Draft {
    /// Every text, also those that only look like identifiers: a policy can return anything.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.kind, &mut self.title, &mut self.content];
        texts.extend(&mut self.key);
        texts.extend(&mut self.keywords);
        texts.extend(&mut self.files);
        texts.extend(&mut self.origin.line_uuid);
        texts.extend(self.attributes.iter_mut().flat_map(|(name, value)| [name, value]));
        texts
    }
}

impl Texts for SessionNotes {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.original_request, &mut self.current_objective, &mut self.outcome];
        for list in [
            &mut self.done,
            &mut self.current,
            &mut self.pending,
            &mut self.learnings,
            &mut self.preferences,
            &mut self.commits,
            &mut self.blockers,
            &mut self.errors,
        ] {
            texts.extend(list);
        }
        for decision in &mut self.decisions {
            texts.extend([&mut decision.what, &mut decision.why]);
            texts.extend(&mut decision.rejected);
        }
        texts.extend(self.discoveries.iter_mut().flat_map(|it| [&mut it.file, &mut it.insight]));
        texts.extend(self.changes.iter_mut().map(|change| &mut change.path));
        texts.extend(self.attributes.iter_mut().flat_map(|(name, value)| [name, value]));
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_a_redactor_replaced_is_no_other_kind() {
        let validated = |kind: &str, key: &str| {
            let mut draft = Draft { kind: kind.into(), key: Some(key.into()), ..Draft::default() };
            draft.validate_identity();
            (draft.kind, draft.key)
        };
        assert_eq!(
            validated("build_tip2", "pr:https://x.test/1"),
            ("build_tip2".into(), Some("pr:https://x.test/1".into()))
        );
        assert_eq!(
            validated("[redacted:x]", "fix:[redacted:x#0f3]"),
            ("redacted".into(), Some("fix:[redacted:x#0f3]".into()))
        );
        for kind in ["", "Preference", "a b", "a\n## b", &"k".repeat(MAX_KIND + 1)] {
            assert_eq!(validated(kind, "").0, "redacted", "{kind}");
        }
        for key in ["", "a\nb", "a\u{1b}[0m", &"k".repeat(MAX_KEY + 1)] {
            assert_eq!(validated("decision", key).1, None, "{key:?}");
        }
    }
}
