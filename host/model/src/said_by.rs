//! Who said what a memory says: the attribute `said-by` of drafts and memories.

use serde::Serialize;

use crate::contract::{Attribute, Draft, Memory};

/// The attribute's name.
pub const SAID_BY: &str = "said-by";

/// The attribute of memories that were saved on request, with the values for a person and for an agent. Those that an older build
/// saved have nothing else that says who did.
pub const SOURCE: &str = "source";
/// See [`SOURCE`].
pub const SAVED: &str = "saved";
/// See [`SOURCE`].
pub const SAVED_BY_AGENT: &str = "agent";

/// The attribute of a memory that a colleague shared: the colleague's name in the team.
pub const COLLEAGUE: &str = "colleague";

/// Who said it, from the least trusted to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SaidBy {
    /// A tool, a file or a commit said it.
    Tool,
    /// The agent said it.
    Agent,
    /// The agent said it and the human agreed.
    Agreed,
    /// The human said it.
    Human,
}

impl SaidBy {
    /// Returns the value of the attribute.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Agent => "agent",
            Self::Agreed => "agreed",
            Self::Human => "human",
        }
    }

    /// Describes it for people.
    pub fn description(self) -> &'static str {
        match self {
            Self::Tool => "a tool, a file or a commit",
            Self::Agent => "the agent",
            Self::Agreed => "the agent, and the human agreed",
            Self::Human => "the human",
        }
    }

    /// Returns the attribute.
    pub fn attribute(self) -> Attribute {
        (SAID_BY.to_owned(), self.word().to_owned())
    }

    /// Returns the value of this word, if it is one.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Tool, Self::Agent, Self::Agreed, Self::Human].into_iter().find(|said_by| said_by.word() == word)
    }

    /// Returns the least trusted of those that the attributes name, if they name any.
    pub fn of(attributes: &[Attribute]) -> Option<Self> {
        attributes.iter().filter(|(name, _)| name == SAID_BY).filter_map(|(_, word)| Self::of_word(word)).min()
    }

    /// Like [`Self::of`], but also reads the attributes that older builds used for memories saved on request.
    pub fn of_stored(attributes: &[Attribute]) -> Option<Self> {
        let of_source = |value: &str| match value {
            SAVED => Some(Self::Human),
            SAVED_BY_AGENT => Some(Self::Agent),
            _ => None,
        };
        let source = || attributes.iter().find(|(name, _)| name == SOURCE).and_then(|(_, value)| of_source(value));
        Self::of(attributes).or_else(source)
    }
}

/// Replaces what attributes say about who said it.
pub fn set(attributes: &mut Vec<Attribute>, said_by: Option<SaidBy>) {
    attributes.retain(|(name, _)| name != SAID_BY);
    attributes.extend(said_by.map(SaidBy::attribute));
}

impl Memory {
    /// Returns who made the statement of the memory, if known.
    pub fn said_by(&self) -> Option<SaidBy> {
        SaidBy::of_stored(&self.attributes)
    }

    /// Returns the colleague who shared the memory, or `None` if it was made on this machine.
    pub fn colleague(&self) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == COLLEAGUE).map(|(_, colleague)| colleague.as_str())
    }

    /// Puts the colleague's name before title and content, for where only these are told: a colleague's statement must
    /// never be mistaken for the user's, regardless of the policy.
    pub fn name_colleague(&mut self) {
        let Some(mark) = self.colleague().map(|name| format!("From a colleague ({name}): ")) else { return };
        for text in [&mut self.title, &mut self.content] {
            if !text.is_empty() {
                text.insert_str(0, &mark);
            }
        }
    }
}

impl Draft {
    /// Keeps one valid `said-by` at most.
    pub fn validate_said_by(&mut self) {
        let said_by = SaidBy::of(&self.attributes);
        set(&mut self.attributes, said_by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colleagues_word_has_a_name() {
        let mut memory = Memory { title: "T".into(), content: "C".into(), ..Memory::default() };
        memory.name_colleague();
        assert_eq!(memory.title, "T");
        memory.attributes.push((COLLEAGUE.into(), "ann".into()));
        memory.name_colleague();
        assert_eq!(
            (memory.title.as_str(), memory.content.as_str()),
            ("From a colleague (ann): T", "From a colleague (ann): C")
        );
    }

    #[test]
    fn one_valid_value_stays_and_the_least_trusted_wins() {
        let validated = |words: &[&str]| {
            let attributes = words.iter().map(|word| (SAID_BY.to_owned(), (*word).to_owned())).collect();
            let mut draft = Draft { attributes, ..Draft::default() };
            draft.attributes.push(("model".into(), "human".into()));
            draft.validate_said_by();
            draft.attributes.into_iter().map(|(name, word)| format!("{name}={word}")).collect::<Vec<_>>()
        };
        assert_eq!(validated(&["human"]), ["model=human", "said-by=human"]);
        assert_eq!(validated(&["the human", "HUMAN", ""]), ["model=human"]);
        assert_eq!(SaidBy::of_stored(&[(SOURCE.into(), SAVED.into())]), Some(SaidBy::Human));
        assert_eq!(SaidBy::of_stored(&[(SOURCE.into(), SAVED.into()), SaidBy::Tool.attribute()]), Some(SaidBy::Tool));
        assert_eq!(validated(&["human", "tool", "nobody"]), ["model=human", "said-by=tool"]);
    }
}
