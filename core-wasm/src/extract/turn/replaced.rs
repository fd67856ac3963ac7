//! The small changes of a turn, which are told if its answer says nothing of them.

use serde::{Deserialize, Serialize};

use super::Turn;
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::statement::{Form, Statement, Voice};
use crate::text;

/// A piece of one line that was written anew, in one file or in several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Replaced {
    before: String,
    after: String,
    files: Vec<String>,
}

/// The maximum number of small changes that are told of a turn, and of the files of one.
const MAX_REPLACED: usize = 3;
/// The length of a piece that was replaced, and of what stands in its place, in characters.
const MIN_REPLACED_CHARS: usize = 4;
const MAX_REPLACED_CHARS: usize = 60;

impl Turn {
    /// Records that a piece of a file was replaced. What was replaced again counts from its beginning, and not at all once it is back.
    pub(in crate::extract) fn replaced(&mut self, file: &str, before: &str, after: &str) {
        let (before, after) = (before.trim(), after.trim());
        let is_piece = |it: &str| {
            let chars = it.chars().count();
            // A single word may be the value of a secret, which nothing beside it tells.
            (MIN_REPLACED_CHARS..=MAX_REPLACED_CHARS).contains(&chars)
                && it.contains([' ', '(', '='])
                && !it.contains(['\n', '`'])
        };
        let of_file = |it: &Replaced| it.files.iter().any(|known| known == file);
        let again = self.replaced.iter().position(|it| of_file(it) && it.after == before);
        let before = again.map_or_else(|| before.to_owned(), |at| self.replaced[at].before.clone());
        self.forget_replaced(|known, it| known == file && it == before);
        if !(is_piece(&before) && is_piece(after)) || before == after {
            return;
        }
        match self.replaced.iter_mut().find(|it| it.before == before && it.after == after) {
            Some(known) if known.files.len() < MAX_REPLACED => known.files.push(file.to_owned()),
            Some(_) => {}
            None => self.replaced.push(Replaced { before, after: after.to_owned(), files: vec![file.to_owned()] }),
        }
        // A turn with more of them did something else than these.
        self.replaced.truncate(MAX_REPLACED + 1);
    }

    /// Forgets the small changes of a file that is gone, or as it was before.
    pub(in crate::extract) fn restored(&mut self, is_restored: impl Fn(&str) -> bool) {
        self.forget_replaced(|file, _| is_restored(file));
    }

    /// Forgets the files of small changes, given the file and what stood there before, for which `is_gone` returns true.
    fn forget_replaced(&mut self, is_gone: impl Fn(&str, &str) -> bool) {
        for Replaced { before, files, .. } in &mut self.replaced {
            files.retain(|file| !is_gone(file, before));
        }
        self.replaced.retain(|it| !it.files.is_empty());
    }

    /// Returns the small changes of a turn whose answer says nothing of them: "Good catch."
    pub(super) fn untold_changes(&self) -> Vec<Statement> {
        let says_nothing =
            |said: &String| prose::is_filler(said) || prose::is_narration(said) || signs::is_praise(&said.to_lowercase());
        let tells = self.is_silent() || !text::sentences(&self.answer).iter().all(says_nothing);
        if self.replaced.len() > MAX_REPLACED || tells {
            return Vec::new();
        }
        let count = u16::try_from(self.replaced.len()).unwrap_or(u16::MAX);
        let told = self.replaced.iter().zip(0..).map(|(it, place)| Statement {
            text: format!("`{}` → `{}` (`{}`)", it.before, it.after, it.files.join("`, `")),
            voice: Voice::Answer,
            form: Form::Item,
            place,
            count,
            ..Statement::default()
        });
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::memories::LineRef;

    #[test]
    fn a_small_change_is_stated_if_the_answer_says_nothing() {
        let stated = |answer: &str| {
            let mut turn = Turn::begin(LineRef::default(), String::new(), "only cents are rounded", true);
            turn.replaced("day.sh", "round -1", "round -2");
            turn.replaced("night.sh", "round -1", "round -2");
            turn.replaced("till.sh", "one\ntwo", "three");
            turn.replaced("key.sh", "first-secret", "second-secret");
            turn.replaced("slow.sh", "wait 30", "wait 60");
            turn.replaced("slow.sh", "wait 60", "wait 30");
            turn.say(answer, LineRef::default());
            let told = turn.all_statements().into_iter().filter(|it| it.form == Form::Item);
            told.map(|it| it.text).collect::<Vec<_>>()
        };
        assert_eq!(stated("Good catch."), ["`round -1` → `round -2` (`day.sh`, `night.sh`)"]);
        assert!(stated("The till now rounds all sums to two places.").is_empty());
        assert!(stated("").is_empty(), "the turn was interrupted");
    }
}
