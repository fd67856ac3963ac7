//! The contract's stages, as names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One stage of the contract: an interface that a policy may export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// A transcript becomes memories.
    Extractor,
    /// A session's notes become its summary.
    Summarizer,
    /// Texts lose what must not be kept.
    Redactor,
    /// Stored memories become the text that the agent is shown.
    ContextBuilder,
    /// One use of a tool becomes an observation.
    Observer,
    /// A prompt becomes a search.
    Query,
}

impl Stage {
    /// All of them, in the contract's order.
    pub const ALL: [Self; 6] =
        [Self::Extractor, Self::Summarizer, Self::Redactor, Self::ContextBuilder, Self::Observer, Self::Query];

    /// The interface's name in the contract.
    pub fn name(self) -> &'static str {
        match self {
            Self::Extractor => "extractor",
            Self::Summarizer => "summarizer",
            Self::Redactor => "redactor",
            Self::ContextBuilder => "context-builder",
            Self::Observer => "observer",
            Self::Query => "query",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|stage| stage.name() == text)
            .ok_or_else(|| format!("there is no stage {text}; there are {}", Self::ALL.map(Self::name).join(", ")))
    }
}
