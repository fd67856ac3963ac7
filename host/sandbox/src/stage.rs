//! The names of the contract's stages.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use throughline_model::invalid::Invalid;

/// A stage of the contract: an interface that a policy may export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Turns a transcript into memories.
    Extractor,
    /// Turns a session's notes into its summary.
    Summarizer,
    /// Removes from texts what must not be kept.
    Redactor,
    /// Turns stored memories into the text that the agent is shown.
    ContextBuilder,
    /// Turns a tool call into an observation.
    Observer,
    /// Turns a prompt into a search.
    Query,
    /// Goes over stored memories and returns better ones. Since version 0.2 of the contract.
    Consolidator,
}

impl Stage {
    /// All stages, in the contract's order.
    pub const ALL: [Self; 7] = [
        Self::Extractor,
        Self::Summarizer,
        Self::Redactor,
        Self::ContextBuilder,
        Self::Observer,
        Self::Query,
        Self::Consolidator,
    ];

    /// The stages of the default policy, which must answer if no other policy does. A consolidator is no such stage: without one,
    /// what is stored stays.
    pub const OF_DEFAULT: [Self; 6] =
        [Self::Extractor, Self::Summarizer, Self::Redactor, Self::ContextBuilder, Self::Observer, Self::Query];

    /// Returns the interface's name in the contract.
    pub fn name(self) -> &'static str {
        match self {
            Self::Extractor => "extractor",
            Self::Summarizer => "summarizer",
            Self::Redactor => "redactor",
            Self::ContextBuilder => "context-builder",
            Self::Observer => "observer",
            Self::Query => "query",
            Self::Consolidator => "consolidator",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Stage {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::ALL.into_iter().find(|stage| stage.name() == text).ok_or_else(|| {
            format!("there is no stage {text}; the stages are {}", Self::ALL.map(Self::name).join(", ")).into()
        })
    }
}
