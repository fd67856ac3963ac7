//! What is done with memories on somebody's behalf: by the commands and by the MCP server alike.

pub mod compressing;
pub mod forgetting;
pub mod probing;
pub mod saving;
pub mod types;

use std::fmt;

/// Why something that was asked for is not done, and what the one who asked can do about it.
#[derive(Debug)]
pub struct Refused {
    /// One line; begins in lower case, no full stop.
    pub what: String,
    /// The same of what to do.
    pub hint: String,
}

impl Refused {
    /// Why, and what to do about it.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: hint.into() }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Refused {}
