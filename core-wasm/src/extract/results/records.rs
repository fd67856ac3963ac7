//! Leaves out of what was chosen what others tell better.

use super::barred::MIN_CAUSE;
use super::line::REPEATED;
use super::turn_result::share;
use super::{Place, Results};
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::text;

/// The length from which the agent's words tell what a commit contains, in characters.
const MIN_TOLD_CHARS: usize = 160;
/// The length up to which the prompt of a turn that only commits asks for nothing else, in characters: "comit".
const MAX_CHORE_CHARS: u32 = 12;

/// Parts of the names of files with tests.
const TEST_FILES: [&str; 5] = [".test.", ".spec.", "_test.", "/tests/", "test_"];
/// Openings of headings above the tests that were written.
const TESTS: [&str; 5] = ["test", "new test", "테스트", "テスト", "测试"];

impl Results {
    /// Leaves out what others tell better: how it was before a change that the answer tells, the body of a commit, and what the
    /// agent said beside it, where the work that it contains was told in words.
    pub(super) fn without_records(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        let statement = |&(turn, number): &Place| &self.turns[turn].statements[number];
        let chars = |places: &[Place]| -> usize { places.iter().map(|place| statement(place).text.chars().count()).sum() };
        let mut told = 0;
        let mut dropped: Vec<Place> = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            let of_turn = |voices: &[Voice]| -> Vec<Place> {
                let is_of = |&&(of, number): &&Place| of == at && voices.contains(&turn.statements[number].voice);
                chosen.iter().filter(is_of).copied().collect()
            };
            let words = of_turn(&[Voice::Work, Voice::Answer]);
            if chars(&of_turn(&[Voice::Answer])) >= MIN_TOLD_CHARS {
                let is_way = |place: &&Place| {
                    let it = statement(place);
                    it.is_before_edit && it.voice == Voice::Work && prose::signs(&it.text.to_lowercase()).0 < MIN_CAUSE
                };
                dropped.extend(words.iter().filter(is_way));
            }
            // The list of files tells the tests that were written, and their run what they say.
            let is_of_test = |place: &&Place| {
                let it = statement(place);
                let opening = it.text.split_whitespace().next().unwrap_or_default().to_lowercase();
                let heading = it.heading.to_lowercase();
                let is_file = |said: &str| text::contains_any(said, &TEST_FILES);
                let is_list = TESTS.iter().any(|word| heading.starts_with(word));
                it.voice == Voice::Answer && it.form == Form::Item && (is_file(&opening) || is_file(&heading) || is_list)
            };
            if words.iter().any(|place| !is_of_test(&place)) {
                dropped.extend(words.iter().filter(is_of_test));
            }
            let is_record = turn.is_chore || turn.prompt_chars <= MAX_CHORE_CHARS;
            if turn.only_commits() && is_record && told >= MIN_TOLD_CHARS {
                // What is still open, or failed, is told nowhere else.
                let is_done = |place: &&Place| {
                    let lower = statement(place).text.to_lowercase();
                    !signs::is_open_state(&lower) && !signs::is_problem(&lower)
                };
                dropped.extend(words.iter().filter(is_done));
            } else {
                // "Commit this" may need a repair first. What its answer repeats of the work was told.
                let named: Vec<u32> = chosen
                    .iter()
                    .filter(|&&(of, _)| of < at)
                    .map(statement)
                    .flat_map(|it| [statement::names(&it.text), statement::names(&it.heading)].concat())
                    .collect();
                let is_told_before = |place: &&Place| {
                    let own = statement::names(&statement(place).text);
                    let again = own.iter().filter(|name| named.contains(name)).count();
                    // What was done in a file is told where it was done.
                    let file = prose::file_in(&statement(place).text).map(|file| statement::names(&file));
                    let is_of_file = file.is_some_and(|file| file.iter().any(|name| named.contains(name)));
                    is_of_file || (!own.is_empty() && share(again, own.len()) >= REPEATED)
                };
                if turn.is_chore && turn.committed {
                    dropped.extend(words.iter().filter(is_told_before));
                }
                told += chars(&words);
            }
            if turn.committed {
                let is_body = |place: &&Place| statement(place).place > 0;
                if told >= MIN_TOLD_CHARS {
                    dropped.extend(of_turn(&[Voice::Commit]).iter().filter(is_body));
                }
                if !of_turn(&[Voice::Commit]).is_empty() {
                    let is_report = |place: &&Place| {
                        let said = &statement(place).text;
                        signs::only_reports_commit(said) || signs::is_about_committing(&said.to_lowercase())
                    };
                    dropped.extend(words.iter().filter(is_report));
                }
                told = 0;
            }
        }
        chosen.retain(|place| !dropped.contains(place));
        chosen
    }

    /// Returns whether a commit was made after a statement, so that a failed one is only how it came to that.
    pub(super) fn is_committed_after(&self, statement: &Statement, turn: usize) -> bool {
        let in_turn = statement.voice == Voice::Work && self.turns[turn].committed;
        statement.voice != Voice::Human && (in_turn || self.turns[turn + 1..].iter().any(|later| later.committed))
    }
}
