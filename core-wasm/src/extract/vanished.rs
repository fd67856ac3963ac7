//! Names in code that the session wrote and took out again: what was said of them before does not hold any more.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::text;

/// The maximum number of names to keep. Names that come later are not counted.
const MAX_NAMES: usize = 800;
/// The minimum length of a name, in bytes. Shorter ones occur by chance.
const MIN_BYTES: usize = 6;
/// The share of a statement's names that must have vanished.
const MOST: f32 = 0.5;

/// What is known of one name. A tuple, because there are many and each is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Name(
    /// How often the session added it, less how often it removed it.
    i32,
    /// The hash of the file in which it appeared first.
    u32,
    /// The turn in which the last one was removed. 0 while it stands.
    u32,
);

/// The names that the session wrote into files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Vanished {
    names: BTreeMap<u32, Name>,
}

impl Vanished {
    /// Records that lines were added to a file.
    pub(super) fn added(&mut self, file: &str, line: &str) {
        let file = text::hash(file);
        for name in identifiers(line).map(text::hash) {
            if let Some(Name(count, _, gone)) = self.names.get_mut(&name) {
                (*count, *gone) = (*count + 1, 0);
            } else if self.names.len() < MAX_NAMES {
                self.names.insert(name, Name(1, file, 0));
            }
        }
    }

    /// Records that lines were removed from a file in that turn.
    ///
    /// A name that the session did not write is not counted: it may stand elsewhere.
    pub(super) fn removed(&mut self, line: &str, turn: u32) {
        for name in identifiers(line).map(text::hash) {
            if let Some(Name(count, _, gone)) = self.names.get_mut(&name).filter(|known| known.0 > 0) {
                *count -= 1;
                *gone = if *count == 0 { turn } else { 0 };
            }
        }
    }

    /// Records that a file was deleted, or is as it was before the session.
    pub(super) fn file_removed(&mut self, file: &str, turn: u32) {
        let file = text::hash(file);
        for Name(count, _, gone) in self.names.values_mut().filter(|known| known.1 == file && known.0 > 0) {
            (*count, *gone) = (0, turn);
        }
    }

    /// Returns whether any name is gone.
    pub(super) fn has_any(&self) -> bool {
        self.names.values().any(|known| known.2 > 0)
    }

    /// Returns whether a statement of that turn speaks of names that a later turn took out again.
    pub(super) fn overtakes(&self, statement: &str, turn: u32) -> bool {
        let (mut all, mut gone) = (0_u8, 0_u8);
        for name in identifiers(statement).map(text::hash) {
            all = all.saturating_add(1);
            gone = gone.saturating_add(u8::from(self.names.get(&name).is_some_and(|known| known.2 > turn)));
        }
        gone > 0 && f32::from(gone) >= MOST * f32::from(all)
    }
}

/// Returns the parts of a text that can be found again in code: numbers of two digits and more, names, and quoted texts.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | ':' | '-' | '/' | '#');
    let parts = text.split(is_end).filter(|part| part.len() >= 2).flat_map(|part| {
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then_some(part).into_iter().chain(names(if is_number { "" } else { part }))
    });
    let quoted = text.split('"').skip(1).step_by(2).filter(|part| (MIN_BYTES..60).contains(&part.len()));
    parts.chain(quoted)
}

/// Returns the words that can only be names in code: with an underscore or a capital letter inside.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.len() >= MIN_BYTES);
    words.filter(|word| {
        let inner = word.trim_matches('_').as_bytes();
        let is_camel = || inner.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        inner.len() >= MIN_BYTES && inner[0].is_ascii_alphabetic() && (inner.contains(&b'_') || is_camel())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_of_a_name_ends_with_the_name() {
        let mut vanished = Vanished::default();
        vanished.added("src/cart.ts", "function roundTotal(cart) { return cart.total_cents; }");
        vanished.removed("  roundTotal(cart)", 3);
        let early = "Added the helper `roundTotal` that rounds up.";
        assert!(vanished.overtakes(early, 2) && !vanished.overtakes(early, 3));
        assert!(!vanished.overtakes("`total_cents` is kept, `roundTotal` and `cartView` are new.", 2));
        vanished.added("src/order.ts", "roundTotal()");
        assert!(!vanished.overtakes(early, 2), "it only moved");
    }

    #[test]
    fn names_of_others_do_not_vanish() {
        let mut vanished = Vanished::default();
        vanished.removed("const oldRate = loadRate();", 2);
        assert!(!vanished.overtakes("`loadRate` reads the table.", 1));
    }

    #[test]
    fn a_file_takes_its_names_with_it() {
        let mut vanished = Vanished::default();
        vanished.added("src/mail.py", "def send_mail_twice():");
        vanished.file_removed("src/mail.py", 5);
        assert!(vanished.overtakes("메일은 `send_mail_twice`로 보냅니다.", 4));
    }

    #[test]
    fn plain_words_are_no_names() {
        assert_eq!(names("The Parser reads a_b, fooBar and HTML_TEXT of v2").collect::<Vec<_>>(), ["fooBar", "HTML_TEXT"]);
    }
}
