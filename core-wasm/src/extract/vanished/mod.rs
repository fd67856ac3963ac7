//! Names in code that the session wrote and took out again: what was said of them before does not hold any more.

mod names;
mod said;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use self::names::COMMON_FILES;
pub(super) use self::names::files_in;
use self::names::{identifiers, in_code, named_in_code, names, names_in};
pub(crate) use self::said::{DOUBTS, says_removal};
use self::said::{RESTORES, gone, restored, taken_out};
use super::files::is_document;
use super::standing;
use crate::text;

/// The maximum number of names to keep. Names that come later are not counted.
const MAX_NAMES: usize = 1_200;

/// The maximum number of names of created files.
const MAX_CREATED: usize = 600;

/// The maximum number of names that the agent said are gone.
const MAX_SAID: usize = 60;

/// The maximum number of names that the session took out without having written them.
const MAX_TAKEN: usize = 300;

/// The maximum number of deleted files to keep.
const MAX_FILES: usize = 40;

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
    /// The turn in which the session first wrote it. 0 if that was in a document.
    #[serde(default)]
    u32,
);

/// A name that the session took out of a file without having written it: the turns in which it did, and in which it wrote the name into
/// that file again, 0 until it did, and the hash of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Taken(u32, u32, u32);

/// A name in a file that the session created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Created(
    /// The hash of the file, 0 for several.
    u32,
    /// The turn in which the name or the file was deleted. 0 while it stands.
    u32,
    /// How often the name stands in the file, and one more. 0 if that is not known.
    #[serde(default)]
    u32,
);

/// The names that the session wrote into files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Vanished {
    names: BTreeMap<u32, Name>,
    /// The names in files that the session created.
    #[serde(default)]
    created: BTreeMap<u32, Created>,
    /// The names that the session took out without having written them.
    #[serde(default)]
    taken: BTreeMap<u32, Taken>,
    /// The files that were deleted and not written again, each with the turn in which it was.
    #[serde(default)]
    files: Vec<(String, u32)>,
    /// The latest turn in which the agent said that it puts something back.
    #[serde(default)]
    restoring: u32,
    /// What the agent said is back, each as a hash with the turn in which it said so.
    #[serde(default)]
    back: Vec<(u32, u32)>,
    /// What the agent said is gone, each as a hash with the turn in which it said so.
    #[serde(default)]
    said: Vec<(u32, u32)>,
}

impl Vanished {
    /// Records that a line was added to a file in that turn.
    pub(super) fn added(&mut self, file: &str, line: &str, turn: u32) {
        let names = names_in(file, line);
        // A document only speaks of what there is.
        let first = if is_document(file) { 0 } else { turn };
        let file = text::hash(file);
        for name in names {
            self.written_again(name, file, turn);
            self.recounted(name, file, true, turn);
            if let Some(Name(count, _, gone, _)) = self.names.get_mut(&name) {
                (*count, *gone) = (*count + 1, 0);
            } else if self.names.len() < MAX_NAMES {
                self.names.insert(name, Name(1, file, 0, first));
            }
        }
    }

    /// Records that a name was written that the session may have taken out before.
    fn written_again(&mut self, name: u32, file: u32, turn: u32) {
        let Some(Taken(gone, back, of)) = self.taken.get_mut(&name) else { return };
        if *gone == turn && *back == 0 {
            // The line was only written anew.
            self.taken.remove(&name);
        } else if *of == file && *gone < turn && self.restoring == turn {
            // Without the agent's word it may stand for something else now.
            *back = turn;
        }
    }

    /// Records the content of a file that was created. Its names are gone once the file is, whatever is changed in it.
    /// `is_whole` says whether that is all of it.
    pub(super) fn created(&mut self, file: &str, content: &str, is_whole: bool) {
        let file = text::hash(file);
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for name in names(content).map(text::hash) {
            *counts.entry(name).or_default() += 1;
        }
        for (name, count) in counts {
            let count = if is_whole { count + 1 } else { 0 };
            if let Some(known) = self.created.get_mut(&name) {
                // A name that stands in another file too does not go with either.
                *known = Created(if known.0 == file { file } else { 0 }, 0, count);
            } else if self.created.len() < MAX_CREATED {
                self.created.insert(name, Created(file, 0, count));
            }
        }
    }

    /// Counts a name that was written into a created file, or taken out of it.
    fn recounted(&mut self, name: u32, file: u32, is_added: bool, turn: u32) {
        let is_own = |known: &&mut Created| known.0 == file && known.2 > 0;
        let Some(Created(_, gone, count)) = self.created.get_mut(&name).filter(is_own) else { return };
        *count = if is_added { *count + 1 } else { (*count - 1).max(1) };
        *gone = if *count == 1 { turn } else { 0 };
    }

    /// Returns whether a name certainly stands in a file that the session created.
    fn is_in_created(&self, name: u32) -> bool {
        self.created.get(&name).is_some_and(|Created(_, gone, count)| *gone == 0 && *count > 1)
    }

    /// Records that a line was removed from a file in that turn.
    ///
    /// A name that the session did not write is not counted: it may stand elsewhere.
    pub(super) fn removed(&mut self, file: &str, line: &str, turn: u32) {
        for name in names_in(file, line) {
            self.recounted(name, text::hash(file), false, turn);
            if let Some(Name(count, _, gone, _)) = self.names.get_mut(&name).filter(|known| known.0 > 0) {
                *count -= 1;
                *gone = if *count == 0 { turn } else { 0 };
            } else if self.created.get(&name).is_some_and(|known| known.0 == text::hash(file)) {
                // The session wrote it with the file.
            } else if self.taken.len() < MAX_TAKEN || self.taken.contains_key(&name) {
                self.taken.insert(name, Taken(turn, 0, text::hash(file)));
            }
        }
    }

    /// Records that a file was deleted, or is as it was before the session.
    pub(super) fn file_removed(&mut self, file: &str, turn: u32) {
        let file = text::hash(file);
        for Name(count, _, gone, _) in self.names.values_mut().filter(|known| known.1 == file && known.0 > 0) {
            (*count, *gone) = (0, turn);
        }
        for Created(_, gone, _) in self.created.values_mut().filter(|known| known.0 == file) {
            *gone = turn;
        }
    }

    /// Records that a file was deleted, and not only moved.
    pub(super) fn file_deleted(&mut self, path: &str, turn: u32) {
        self.file_removed(path, turn);
        self.files.push((path.to_owned(), turn));
        self.files.drain(..self.files.len().saturating_sub(MAX_FILES));
    }

    /// Records that a file was written: it is there again.
    pub(super) fn file_written(&mut self, path: &str) {
        self.files.retain(|(known, _)| known != path);
    }

    /// Records that a file has another path now. Its names go with it.
    pub(super) fn file_moved(&mut self, from: &str, to: &str) {
        let (from, to) = (text::hash(from), text::hash(to));
        self.names.values_mut().filter(|known| known.1 == from).for_each(|known| known.1 = to);
        self.created.values_mut().filter(|known| known.0 == from).for_each(|known| known.0 = to);
    }

    /// Records what the agent says in that turn is gone, or back.
    pub(super) fn agent_said(&mut self, said: &str, turn: u32) {
        let sentences = text::sentences(said);
        remember(&mut self.said, sentences.iter().flat_map(|sentence| gone(sentence)), turn);
        if text::contains_any_words(&said.to_lowercase(), RESTORES) {
            self.restoring = turn;
            remember(&mut self.back, sentences.iter().flat_map(|sentence| restored(sentence)), turn);
        }
    }

    /// Returns whether any name was written, or is gone.
    pub(super) fn has_any(&self) -> bool {
        !self.said.is_empty()
            || !self.files.is_empty()
            || !self.names.is_empty()
            || !self.created.is_empty()
            || !self.taken.is_empty()
    }

    /// Returns whether a statement of that turn speaks of names that a later turn took out again, or says that it took out what a later turn
    /// put back.
    pub(super) fn overtakes(&self, statement: &str, turn: u32) -> bool {
        let (mut all, mut gone) = (0_u8, 0_u8);
        let mut count = |is_gone: bool| {
            all = all.saturating_add(1);
            gone = gone.saturating_add(u8::from(is_gone));
        };
        let known = |name: &str| self.names.get(&text::hash(name)).filter(|_| !self.is_in_created(text::hash(name)));
        let has_gone =
            |name: &str| known(name).is_some_and(|known| known.2 > turn) || self.is_gone_with_file(text::hash(name), turn);
        identifiers(statement).for_each(|name| count(has_gone(name)));
        // What the session wrote later was there before if it was spoken of.
        named_in_code(statement).for_each(|name| count(known(name).is_some_and(|known| known.2 > turn && known.3 <= turn)));
        (gone > 0 && f32::from(gone) >= MOST * f32::from(all))
            || self.speaks_of_gone(statement, turn)
            || self.names_deleted(statement, turn)
            || self.is_put_back(statement, turn)
    }

    /// Returns whether a statement of that turn tells that names were taken out of which a later turn put most back.
    fn is_put_back(&self, statement: &str, turn: u32) -> bool {
        if self.restoring <= turn || !says_removal(statement) {
            return false;
        }
        let is_said = |name: u32| self.back.iter().any(|(known, said)| *known == name && *said > turn);
        if taken_out(&statement.to_lowercase()).any(is_said) {
            return true;
        }
        let is_back =
            |name: &str| self.taken.get(&text::hash(name)).is_some_and(|Taken(gone, back, _)| *gone <= turn && *back > turn);
        let named: Vec<bool> = names(statement).chain(named_in_code(statement)).map(is_back).collect();
        let back = named.iter().filter(|is_back| **is_back).count();
        back > 0 && 2 * back >= named.len()
    }

    /// Returns whether a name stood only in a file that the session created and deleted after that turn.
    fn is_gone_with_file(&self, name: u32, turn: u32) -> bool {
        let stands = || self.names.get(&name).is_some_and(|known| known.0 > 0);
        self.created.get(&name).is_some_and(|Created(_, gone, _)| *gone > turn) && !stands()
    }

    /// Returns whether a statement of that turn says that something is missing that a later turn wrote.
    pub(super) fn supplies(&self, statement: &str, turn: u32) -> bool {
        // To write the code is not to test it.
        let lower = statement.to_lowercase();
        let is_of_tests = text::contains_any_words(&lower, &["test", "tests", "coverage"]);
        if is_of_tests || !standing::says_missing(&lower) {
            return false;
        }
        let (mut all, mut written) = (0_u16, 0_u16);
        for name in names(statement).chain(named_in_code(statement)) {
            let is_new = self.names.get(&text::hash(name)).is_some_and(|Name(count, .., first)| *count > 0 && *first > turn);
            (all, written) = (all + 1, written + u16::from(is_new));
        }
        written > 0 && 2 * written >= all
    }

    /// Returns whether a statement speaks of a name that the session wrote and that stands.
    pub(super) fn has_standing(&self, statement: &str) -> bool {
        let stands = |name: &str| self.names.get(&text::hash(name)).is_some_and(|known| known.0 > 0);
        identifiers(statement).chain(named_in_code(statement)).any(stands)
    }

    /// Returns whether half of what a statement of that turn names was written anew or taken out later. `is_edited` returns whether the
    /// file of a name was edited after the turn.
    pub(super) fn worked_on(&self, statement: &str, turn: u32, is_edited: impl Fn(&str) -> bool) -> bool {
        let is_touched = |name: &str| {
            let hash = text::hash(name);
            let is_written = self.names.get(&hash).is_some_and(|Name(_, _, gone, first)| *gone > turn || *first > turn);
            is_written || self.taken.get(&hash).is_some_and(|Taken(gone, ..)| *gone > turn)
        };
        let named = names(statement).chain(named_in_code(statement)).map(is_touched);
        let all: Vec<bool> = named.chain(files_in(statement).map(is_edited)).collect();
        let touched = all.iter().filter(|is_touched| **is_touched).count();
        touched > 0 && 2 * touched >= all.len()
    }

    /// Returns whether most of the files that a statement of that turn names were deleted later.
    fn names_deleted(&self, statement: &str, turn: u32) -> bool {
        if self.files.iter().all(|(_, gone)| *gone <= turn) {
            return false;
        }
        let is_deleted = |name: &&str| {
            let ends = |path: &str| path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
            self.files.iter().any(|(path, gone)| *gone > turn && ends(path))
        };
        let named: Vec<&str> = files_in(statement).collect();
        let gone = named.iter().filter(|name| is_deleted(name)).count();
        // "The logic of one now lives in the other" is true of what stands.
        2 * gone > named.len()
    }

    /// Returns whether most of what a statement of that turn names in code was said to be gone later.
    fn speaks_of_gone(&self, statement: &str, turn: u32) -> bool {
        let is_gone = |name: &u32| self.said.iter().any(|(known, said)| known == name && *said > turn);
        let named: Vec<u32> = in_code(statement).map(|(_, name)| name).collect();
        let gone = named.iter().filter(|name| is_gone(name)).count();
        gone > 0 && 2 * gone >= named.len()
    }
}

/// Adds names to those that the agent spoke of, each with the latest turn in which it did.
fn remember(known: &mut Vec<(u32, u32)>, names: impl Iterator<Item = u32>, turn: u32) {
    for name in names {
        known.retain(|(it, _)| *it != name);
        known.push((name, turn));
    }
    known.drain(..known.len().saturating_sub(MAX_SAID));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_of_code_is_over_once_it_is_worked_on() {
        let mut vanished = Vanished::default();
        vanished.removed("src/cart.ts", "  total = addTax(cart)", 3);
        vanished.added("src/cart.ts", "  total = roundTotal(cart)", 3);
        let worked_on = |said: &str, turn: u32| vanished.worked_on(said, turn, |name| name == "cart.ts");
        assert!(worked_on("`addTax` runs once.", 2) && worked_on("We need `roundTotal`.", 2));
        assert!(!worked_on("`addTax` runs once.", 3), "it was said of the code as it is");
        assert!(!worked_on("`addTax` runs once, `openDrawer` and `printSlip` twice.", 2));
        assert!(worked_on("The till is in `cart.ts`.", 2) && !worked_on("The till rings.", 2));
    }

    #[test]
    fn what_was_said_of_a_name_ends_with_the_name() {
        let mut vanished = Vanished::default();
        vanished.added("src/cart.ts", "function roundTotal(cart) { return cart.total_cents; }", 1);
        vanished.removed("src/cart.ts", "  roundTotal(cart)", 3);
        let early = "Added the helper `roundTotal` that rounds up.";
        assert!(vanished.overtakes(early, 2) && !vanished.overtakes(early, 3));
        assert!(!vanished.overtakes("`total_cents` is kept, `roundTotal` and `cartView` are new.", 2));
        vanished.added("src/order.ts", "roundTotal()", 1);
        assert!(!vanished.overtakes(early, 2), "it only moved");
    }

    #[test]
    fn a_name_with_a_hyphen_counts_between_backticks() {
        let mut vanished = Vanished::default();
        vanished.added(".ci/till.yml", "  print-slip:", 2);
        vanished.removed(".ci/till.yml", "  print-slip:", 3);
        assert!(vanished.overtakes("The `print-slip` job runs at night.", 2));
        assert!(!vanished.overtakes("It can print-slip by slip.", 2), "that is prose");
        assert!(!vanished.overtakes("The command is `till print-slip`.", 1), "it was there before");
        vanished.added("till.ts", "const slipTotal = 1;", 2);
        assert!(vanished.has_standing("`slipTotal` is new") && !vanished.has_standing("the `print-slip` job"));
    }

    #[test]
    fn what_was_put_back_was_not_removed() {
        let mut vanished = Vanished::default();
        vanished.removed("src/cart.ts", "  \"slip_total\", \"cart_total\",", 2);
        let early = "Removed: `slip_total` - found nowhere.";
        assert!(!vanished.overtakes(early, 2));
        vanished.added("src/cart.ts", "  \"slip_total\",", 3);
        assert!(!vanished.overtakes(early, 2), "it may stand elsewhere now");
        vanished.agent_said("I restore the list.", 3);
        vanished.added("src/cart.ts", "  \"slip_total\",", 3);
        assert!(vanished.overtakes(early, 2) && !vanished.overtakes(early, 3));
        vanished.removed("src/cart.ts", "  round(vat_total)", 2);
        vanished.added("src/cart.ts", "  vat_total", 2);
        vanished.added("src/cart.ts", "  vat_total + 1", 3);
        assert!(!vanished.overtakes("Removed the rounding from `vat_total`.", 2), "the name itself stood");
        vanished.agent_said("Reverted `t.Round()` in all tests.", 3);
        assert!(vanished.overtakes("Slow tests — Fix: Removed t.Round() from all tests.", 2));
        for kept in [
            "Removed `cart_total`.",
            "`slip_total` is found nowhere.",
            "Dropped `cart_total`, `tax_total` and `slip_total`.",
        ] {
            assert!(!vanished.overtakes(kept, 2), "{kept}");
        }
    }

    #[test]
    fn names_of_others_do_not_vanish() {
        let mut vanished = Vanished::default();
        vanished.removed("src/cart.ts", "const oldRate = loadRate();", 2);
        assert!(!vanished.overtakes("`loadRate` reads the table.", 1));
    }

    #[test]
    fn a_file_takes_its_names_with_it() {
        let mut vanished = Vanished::default();
        vanished.added("src/mail.py", "def send_mail_twice():", 1);
        vanished.file_removed("src/mail.py", 5);
        assert!(vanished.overtakes("메일은 `send_mail_twice`로 보냅니다.", 4));
    }

    #[test]
    fn a_file_that_was_created_takes_its_names_with_it() {
        let mut vanished = Vanished::default();
        vanished.created("mail_test.go", "func TestMailTwice() { sendMail() }", true);
        vanished.created("cart_test.go", "func TestCartTotal() { sendMail() }", true);
        vanished.file_removed("mail_test.go", 3);
        assert!(vanished.overtakes("`TestMailTwice` sends two mails.", 2));
        assert!(!vanished.overtakes("`TestMailTwice` sends two mails.", 3));
        assert!(!vanished.overtakes("`TestCartTotal` adds up, with `sendMail`.", 2));
    }

    #[test]
    fn a_name_is_taken_out_of_a_file_that_was_created() {
        let mut vanished = Vanished::default();
        vanished.created("mail_test.go", "func TestMailTwice() {}\nfunc TestMailOnce() { openMail(); openMail() }", true);
        vanished.created("cart.go", "func sumOfCart() {}", false);
        vanished.removed("mail_test.go", "func TestMailTwice() {}", 3);
        vanished.removed("mail_test.go", "openMail()", 3);
        vanished.removed("cart.go", "sumOfCart()", 3);
        assert!(vanished.overtakes("`TestMailTwice` sends two mails.", 2));
        for kept in ["`TestMailOnce` sends a mail.", "It calls `openMail` first.", "`sumOfCart` adds up."] {
            assert!(!vanished.overtakes(kept, 2), "{kept}");
        }
        vanished.added("mail_test.go", "func TestMailTwice() {}", 4);
        assert!(!vanished.overtakes("`TestMailTwice` sends two mails.", 2), "it is back");
        vanished.added("mail_test.go", "TestMailOnce()", 4);
        vanished.removed("mail_test.go", "TestMailOnce()", 5);
        assert!(!vanished.overtakes("`TestMailOnce` sends a mail.", 4), "the first one stands");
    }

    #[test]
    fn what_was_said_of_a_file_ends_with_the_file() {
        let mut vanished = Vanished::default();
        vanished.file_deleted("docs/till-plan.md", 3);
        vanished.file_deleted("shop/README.md", 3);
        for gone in ["Created `docs/till-plan.md` with the steps.", "The steps are in till-plan.md.", "See shop/README.md."]
        {
            assert!(vanished.overtakes(gone, 2), "{gone}");
        }
        for kept in
            ["Created docs/cart.md.", "README.md says how.", "Moved docs/till-plan.md into docs/cart.md and docs/tax.md."]
        {
            assert!(!vanished.overtakes(kept, 2), "{kept}");
        }
        assert!(!vanished.overtakes("Deleted docs/till-plan.md.", 3));
        vanished.file_deleted(".notes/till.md", 3);
        assert!(vanished.overtakes("Created `.notes/till.md` - all the steps.", 2), "in a hidden folder");
        vanished.file_written("docs/till-plan.md");
        assert!(!vanished.overtakes("Created `docs/till-plan.md`.", 2));
    }

    #[test]
    fn a_file_that_was_moved_keeps_its_names() {
        let mut vanished = Vanished::default();
        vanished.created("mail_test.go", "func TestMailTwice() { sendMail() }", true);
        vanished.file_moved("mail_test.go", "shop/mail_test.go");
        vanished.file_removed("mail_test.go", 3);
        assert!(!vanished.overtakes("`TestMailTwice` sends two mails.", 2));
    }

    #[test]
    fn what_was_missing_and_was_written_later() {
        let mut vanished = Vanished::default();
        vanished.added("till.go", "  SlipTotal int", 2);
        assert!(vanished.supplies("The struct doesn't have `SlipTotal`.", 1));
        for kept in [
            "The struct has `SlipTotal`.",
            "There are no tests: `SlipTotal` has no test.",
            "`SlipTotal` is set if it is missing.",
            "The struct doesn't have `CartTotal` and `cartView`, only `SlipTotal`.",
        ] {
            assert!(!vanished.supplies(kept, 1), "{kept}");
        }
        assert!(!vanished.supplies("The struct doesn't have `SlipTotal`.", 2));
        vanished.added("guide.md", "`CartTotal` is the sum.", 2);
        assert!(!vanished.supplies("The struct doesn't have `CartTotal`.", 1), "that is a document");
    }

    #[test]
    fn what_the_agent_says_is_gone() {
        let mut vanished = Vanished::default();
        vanished.agent_said("`--chunk-days N` is gone, replaced by `--chunk {month,all}`. Removed the `gridPin` button.", 3);
        vanished.agent_said("`--page` is not gone, and we could drop `cartView`: `mailTwice` was removed?", 3);
        assert!(
            vanished.overtakes("Verified with `--chunk-days 0`.", 2)
                && !vanished.overtakes("Verified with `--chunk-days 0`.", 3)
        );
        assert!(vanished.overtakes("The button is `gridPin`.", 2));
        for kept in ["`--chunk all` reads one file.", "`--page 2` works.", "`cartView` is new.", "`mailTwice` is new."] {
            assert!(!vanished.overtakes(kept, 2), "{kept}");
        }
    }
}
