//! What a check found.

use serde::Serialize;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// Works.
    Ok,
    /// Works, but the user should know something.
    Warn,
    /// Does not work.
    Fail,
}

/// The finding of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Finding {
    /// The check: `program`, `managed`, `configuration`, `namespace`, `folders`, `disk`, `database`, `index`, `policy`,
    /// `policies`, `privacy`, `projections`, `embedding`, `model`, `team`, `hooks`, `agents`, `mcp`, `runs`, `plugin`, `others`, `transcripts`,
    /// `log`.
    pub check: &'static str,
    /// The result.
    pub status: Status,
    /// What was found.
    pub message: String,
    /// How to repair it.
    pub hint: Option<String>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, status: Status::Ok, message: message.into(), hint: None }
    }

    pub(super) fn warn(check: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { check, status: Status::Warn, message: message.into(), hint: Some(hint.into()) }
    }

    pub(super) fn fail(check: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { check, status: Status::Fail, message: message.into(), hint: Some(hint.into()) }
    }
}
