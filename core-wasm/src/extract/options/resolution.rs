//! What a prompt decides of the agent's options.

use crate::text;

/// A resolved decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::extract) struct Resolution {
    /// The question to which the options belong. May be empty.
    pub asked: String,
    /// The chosen option, or the proposal.
    pub what: String,
    /// The reason, as far as the agent gave one.
    pub why: String,
    /// The options that were not chosen.
    pub rejected: Vec<String>,
    /// What the user says beside the number of the option. May be empty.
    pub beside: String,
    /// Whether the prompt says in its own words what it decides.
    pub is_own: bool,
    /// Whether the answer weighed several ways and sums up what is decided.
    pub is_weighed: bool,
}

impl Resolution {
    /// Returns whether the choice is one of how the session itself goes on, which ends with it.
    pub(in crate::extract) fn is_of_session(&self) -> bool {
        const WAYS: [&str; 6] =
            ["something else", "subagent-driven", "parallel session", "(this session)", "in this session", "다른 것"];
        let names_way = |option: &str| {
            let lower = text::head(option, 60).to_lowercase();
            text::contains_any(&lower, &WAYS)
        };
        !self.is_own && (names_way(&self.what) || self.rejected.iter().any(|option| names_way(option)))
    }
}
