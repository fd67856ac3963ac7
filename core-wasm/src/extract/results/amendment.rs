//! What a turn takes back of the turn before it.

use super::turn_result::share;
use crate::extract::statement::{self, Statement, Voice};
use crate::text;

/// The share of its words that the turn after a dispute must say again for a statement to be amended by it.
const AMENDED: f32 = 0.2;
/// The same for a script that is compared by pairs of letters, in which two sentences share the pairs of their endings, and for a
/// prompt that only the agent took for a dispute.
const AMENDED_WIDE: f32 = 0.4;
/// The share of its names that the turn in which the agent gave in must say again for a statement to be amended by it.
const NAMED_AGAIN: f32 = 0.5;

/// What the turn after a dispute says.
pub(super) struct Amendment {
    pub words: text::Features,
    pub names: Vec<u32>,
    /// Whether the prompt itself disputes the turn before.
    pub disputed: bool,
    /// Whether all that the turn before did was taken back.
    pub reverted: bool,
}

impl Amendment {
    /// Returns whether it speaks of the statement's subject, so that it and not the statement holds.
    pub(super) fn amends(&self, statement: &Statement) -> bool {
        let own = text::features(&statement.text);
        let again = own.iter().filter(|word| self.words.contains(word)).count();
        let is_spaced = text::language(&statement.text) == text::Language::English;
        let least = if self.disputed && is_spaced { AMENDED } else { AMENDED_WIDE };
        let names = statement::names(&statement.text);
        let again_named = names.iter().filter(|name| self.names.contains(name)).count();
        let is_named = !self.disputed && share(again_named, names.len()) >= NAMED_AGAIN;
        matches!(statement.voice, Voice::Work | Voice::Answer)
            && (self.reverted || is_named || share(again, own.len()) >= least)
    }
}
