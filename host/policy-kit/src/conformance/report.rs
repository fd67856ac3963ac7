//! The report of the suite: its checks and their results.

use serde::Serialize;

use throughline_sandbox::stage::Stage;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The contract is kept.
    Pass,
    /// Acceptable to the host, but not as it should be.
    Warn,
    /// The contract is broken.
    Fail,
}

/// One check and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConformanceCheck {
    /// Its name, unique within the stage.
    pub id: &'static str,
    /// The stage that was called.
    pub stage: Stage,
    /// The result.
    pub status: Status,
    /// What was observed.
    pub seen: String,
    /// Why the check matters.
    pub why: &'static str,
    /// The passage of the contract that requires this.
    pub contract: &'static str,
}

/// All checks, in a fixed order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConformanceReport {
    /// The checks by stage, in the order in which they ran.
    pub checks: Vec<ConformanceCheck>,
    /// How many drafts the extractor made of all sessions. If none, its checks have hardly tested it.
    pub drafts: usize,
}

impl ConformanceReport {
    /// Returns the checks with this result.
    pub fn with(&self, status: Status) -> impl Iterator<Item = &ConformanceCheck> {
        self.checks.iter().filter(move |check| check.status == status)
    }

    /// Whether anything was checked and nothing failed.
    pub fn has_passed(&self) -> bool {
        !self.checks.is_empty() && self.with(Status::Fail).next().is_none()
    }
}
