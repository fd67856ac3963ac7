//! Who said what a memory says, and who saved it: the attributes `said-by` and `source`.

use serde::{Deserialize, Serialize};

use crate::bindings::throughline::policy::types::Memory;

/// The name of the attribute that says who said it.
const NAME: &str = "said-by";
/// The name of the attribute of memories that were saved on request, and its values for a person and for an agent.
const SOURCE: &str = "source";
pub(crate) const SAVED: &str = "saved";
const SAVED_BY_AGENT: &str = "agent";

/// Who said it. What is made of several voices counts as said by the least of them: what an agent concluded from a page is
/// the agent's word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SaidBy {
    /// The human said it.
    Human,
    /// The agent said it and the human agreed.
    Agreed,
    /// The agent said it. A state of an older build does not say who did, and must not claim a human.
    #[default]
    Agent,
    /// A tool, a file or a commit said it.
    Tool,
}

impl SaidBy {
    /// Returns who said it: a human, or a program in the human's place.
    pub(crate) fn agreed_by(is_from_program: bool) -> Self {
        if is_from_program { Self::Agent } else { Self::Agreed }
    }

    /// Returns the word for it in an attribute.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Agreed => "agreed",
            Self::Agent => "agent",
            Self::Tool => "tool",
        }
    }

    /// Returns the attribute of a draft.
    pub(crate) fn attribute(self) -> (String, String) {
        (NAME.to_owned(), self.word().to_owned())
    }

    /// Returns who said what a memory says, if that is known.
    pub(crate) fn of(memory: &Memory) -> Option<Self> {
        let Some(word) = attribute(memory, NAME) else {
            // What an agent saved before there was the attribute.
            return saved_by(memory).filter(|source| *source == SAVED_BY_AGENT).map(|_| Self::Agent);
        };
        [Self::Human, Self::Agreed, Self::Agent, Self::Tool].into_iter().find(|said_by| said_by.word() == word)
    }

    /// Returns the word for a memory that could pass for the human's word and is not. Nothing for all others.
    pub(crate) fn mark(memory: &Memory) -> Option<&'static str> {
        let could_pass = matches!(memory.kind.as_str(), "preference" | "decision" | "correction" | "learning");
        let said_by = Self::of(memory).filter(|_| could_pass)?;
        matches!(said_by, Self::Agent | Self::Tool).then(|| said_by.word())
    }
}

/// Returns how a memory was saved on request. None if it was found in a transcript.
pub(crate) fn saved_by(memory: &Memory) -> Option<&str> {
    attribute(memory, SOURCE)
}

fn attribute<'m>(memory: &'m Memory, name: &str) -> Option<&'m str> {
    memory.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}
