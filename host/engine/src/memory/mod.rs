//! Operations on memories that a person or an agent asks for, shared by the commands and the MCP server.

pub mod compression;
pub mod deletion;
pub mod kept;
pub mod marking;
pub mod saving;
pub mod supersession;
pub mod types;
pub mod undo;

use std::fmt;

/// The reason a request is refused, and what the caller can do about it.
#[derive(Debug)]
pub struct RequestError {
    /// The reason: one line, starting in lower case, without a full stop.
    pub what: String,
    /// What to do about it, in the same form.
    pub hint: String,
}

impl RequestError {
    /// Creates a refusal from a reason and a hint.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: hint.into() }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for RequestError {}
