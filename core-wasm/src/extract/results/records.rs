//! Leaves out of what was chosen what others tell better.

use std::ops::RangeInclusive;

use super::barred::MIN_CAUSE;
use super::line::REPEATED;
use super::turn_result::{TurnResult, is_lead, share};
use super::{Place, Results};
use crate::extract::commits;
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::text;

/// The length from which the agent's words tell what a commit contains, in characters.
const MIN_TOLD_CHARS: usize = 160;
/// The length from which an answer says what came of the work, in characters.
const MIN_END_CHARS: usize = 60;
/// Words with which the agent says what it decided to leave as it is.
const DECIDED: [&str; 9] = ["on purpose", "leave", "left", "leaving", "keep", "keeping", "kept", "stay", "stays"];
/// The length up to which the prompt of a turn that only commits asks for nothing else, in characters: "comit".
const MAX_CHORE_CHARS: u32 = 12;

/// The number of tests of a list from which their names say nothing, and the number of words that say no more than a name.
const MIN_BARE_TESTS: usize = 3;
const MAX_BARE_WORDS: usize = 5;

/// The length of a told answer from which the list of a commit adds little, in characters.
const MIN_ANSWER_TOLD: usize = 320;
/// The number of entries from which a commit's body is a list, and how much of it is told, in characters.
const MIN_COMMIT_ITEMS: usize = 3;
const MAX_COMMIT_LIST: usize = 700;
/// The share of its words that an answer must have for an entry to be told by it.
const TOLD_IN_ANSWER: f32 = 0.3;

/// Parts of the names of files with tests.
const TEST_FILES: [&str; 5] = [".test.", ".spec.", "_test.", "/tests/", "test_"];
/// Openings of headings above the tests that were written.
const TESTS: [&str; 5] = ["test", "new test", "테스트", "テスト", "测试"];

/// Returns whether the agent said on the way how it was, which its answer tells otherwise.
fn is_way(it: &Statement, turn: &TurnResult) -> bool {
    let lower = it.text.to_lowercase();
    let is_past = it.is_before_edit || (turn.edited && it.form == Form::Sentence && !standing::is_deed(&lower));
    is_past && it.voice == Voice::Work && prose::signs(&lower).0 < MIN_CAUSE && !signs::tells_limit(&lower)
}

/// Returns whether an entry of a list speaks of a file with tests, or stands below the heading of such a file or of tests.
fn is_of_test_file(it: &Statement) -> bool {
    let opening = it.text.split_whitespace().next().unwrap_or_default().to_lowercase();
    let heading = it.heading.to_lowercase();
    let is_file = |said: &str| text::contains_any(said, &TEST_FILES);
    it.form == Form::Item && (is_file(&opening) || is_file(&heading) || TESTS.iter().any(|word| heading.starts_with(word)))
}

/// Returns whether a request speaks of tests: what they are is a part of the answer.
fn asks_for_tests(asked: &str) -> bool {
    const WORDS: [&str; 7] = ["test", "tests", "testing", "coverage", "테스트", "テスト", "测试"];
    text::contains_any_words(&asked.to_lowercase(), &WORDS)
}

/// Returns the places of the tests of which a turn lists so many that their names say nothing, unless the user asked for tests.
fn bare_tests(at: usize, turn: &TurnResult) -> Vec<Place> {
    if asks_for_tests(&turn.asked) {
        return Vec::new();
    }
    let is_bare = |number: &usize| is_bare_test(&turn.statements[*number].text);
    let lists = turn.lists().into_iter().map(|list| list.filter(is_bare).collect::<Vec<usize>>());
    lists.filter(|tests| tests.len() >= MIN_BARE_TESTS).flatten().map(|number| (at, number)).collect()
}

/// Returns whether an entry of a list is the name of a test in code, alone or with what tests do: "`TestTotal` - verifies the total".
fn is_bare_test(said: &str) -> bool {
    const DEEDS: [&str; 7] = ["verifies", "verify", "tests", "checks", "ensures", "covers", "validates"];
    let (name, rest) = said.split_once(' ').unwrap_or((said, ""));
    let name = name.trim_matches(['`', ':', ',', '.']);
    let is_name = |rest: &str| {
        rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && rest.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let is_test = name.strip_prefix("Test").is_some_and(is_name) || name.strip_prefix("test").is_some_and(is_name);
    let rest = rest.trim_start_matches(['-', '–', '—', ':', ' ']).to_lowercase();
    let is_short = !rest.contains('`') && rest.split_whitespace().count() <= MAX_BARE_WORDS;
    is_test && (is_short || DEEDS.iter().any(|deed| text::starts_with_words(&rest, deed)))
}

/// Returns whether a statement of an answer says what came of the work, and not only that checks pass or that it was committed.
fn tells_end(statement: &Statement) -> bool {
    statement.voice == Voice::Answer
        && !is_lead(&statement.text)
        && prose::checked(&statement.text).is_none()
        && !prose::is_filler(&statement.text)
        && !prose::is_narration(&statement.text)
        && !signs::is_about_committing(&statement.text.to_lowercase())
        && !signs::only_reports_commit(&statement.text)
}

/// Returns whether a line of a commit's body is an entry of a list: an item, or a line behind a short label.
fn is_listed(statement: &Statement) -> bool {
    statement.form == Form::Item || commits::has_numbered_label(&statement.text)
}

impl Results {
    /// Leaves out what others tell better: how it was before a change that the answer tells, the body of a commit, and what the
    /// agent said beside it, where the work that it contains was told in words.
    pub(super) fn without_records(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        let mut told = 0;
        let mut dropped: Vec<Place> = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            let of_turn = |voices: &[Voice]| -> Vec<Place> {
                let is_of = |&&(of, number): &&Place| of == at && voices.contains(&turn.statements[number].voice);
                chosen.iter().filter(is_of).copied().collect()
            };
            let (words, commit) = (of_turn(&[Voice::Work, Voice::Answer]), of_turn(&[Voice::Commit]));
            if self.chars(&of_turn(&[Voice::Answer])) >= MIN_TOLD_CHARS {
                dropped.extend(words.iter().filter(|place| is_way(self.statement(**place), turn)));
            }
            dropped.extend(self.tests_beside_work(at, &words));
            let is_record = turn.is_chore || turn.prompt_chars <= MAX_CHORE_CHARS;
            if turn.only_commits() && is_record && told >= MIN_TOLD_CHARS {
                // What is still open, or failed, is told nowhere else.
                let is_done = |place: &&Place| {
                    let lower = self.statement(**place).text.to_lowercase();
                    !signs::is_open_state(&lower) && !signs::is_problem(&lower)
                };
                dropped.extend(words.iter().filter(is_done));
            } else {
                if turn.is_chore && turn.committed {
                    dropped.extend(self.told_before(at, &words, &chosen));
                }
                told += self.chars(&words);
            }
            if turn.committed {
                if told >= MIN_TOLD_CHARS {
                    dropped.extend(commit.iter().filter(|place| self.statement(**place).place > 0));
                }
                if !commit.is_empty() {
                    let is_report = |place: &&Place| {
                        let said = &self.statement(**place).text;
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

    fn statement(&self, (turn, number): Place) -> &Statement {
        &self.turns[turn].statements[number]
    }

    /// Returns the length of what is told at some places, in characters.
    fn chars(&self, places: &[Place]) -> usize {
        places.iter().map(|place| self.statement(*place).text.chars().count()).sum()
    }

    /// Returns which of a turn's words list tests beside other work: the list of files tells the tests that were written, and their run
    /// what they say. Where most of the work was on tests, or all that is listed, they are what was done.
    fn tests_beside_work(&self, at: usize, words: &[Place]) -> Vec<Place> {
        let turn = &self.turns[at];
        let bare_tests = bare_tests(at, turn);
        let is_asked = asks_for_tests(&turn.asked);
        let is_of_test = |place: Place| {
            let it = self.statement(place);
            it.voice == Voice::Answer && ((is_of_test_file(it) && !is_asked) || bare_tests.contains(&place))
        };
        // What stands behind an entry speaks of it.
        let goes_on = |place: Place| {
            let follows =
                |number: usize| is_of_test((at, number)) && self.statement(place).follows(&turn.statements[number]);
            place.1.checked_sub(1).is_some_and(follows)
        };
        // That all pass says nothing of what was done.
        let says = |place: &Place| {
            let said = &self.statement(*place).text;
            !is_of_test(*place) && !is_lead(said) && !prose::is_filler(said) && prose::checked(said).is_none()
        };
        let of_tests: Vec<Place> = words.iter().copied().filter(|place| is_of_test(*place) || goes_on(*place)).collect();
        let is_most = of_tests.len() >= MIN_BARE_TESTS && 2 * self.chars(&of_tests) > self.chars(words);
        let is_of_file = |place: &Place| {
            let it = self.statement(*place);
            it.form == Form::Item && [&it.text, &it.heading].iter().any(|said| prose::file_in(said).is_some())
        };
        let is_all = of_tests.iter().all(|place| text::contains_any(&self.statement(*place).heading, &TEST_FILES))
            && !words.iter().any(|place| !of_tests.contains(place) && is_of_file(place));
        let is_work_on_tests = (is_most || is_all) && !of_tests.iter().all(|place| bare_tests.contains(place));
        if words.iter().any(says) && !is_work_on_tests { of_tests } else { Vec::new() }
    }

    /// Returns which of a turn's words repeat what was chosen of earlier turns: "commit this" may need a repair first.
    fn told_before(&self, at: usize, words: &[Place], chosen: &[Place]) -> Vec<Place> {
        let named: Vec<u32> = chosen
            .iter()
            .filter(|&&(of, _)| of < at)
            .map(|place| self.statement(*place))
            .flat_map(|it| [statement::names(&it.text), statement::names(&it.heading)].concat())
            .collect();
        let is_told_before = |place: &&Place| {
            let said = &self.statement(**place).text;
            let own = statement::names(said);
            let again = own.iter().filter(|name| named.contains(name)).count();
            // What was done in a file is told where it was done.
            let file = prose::file_in(said).map(|file| statement::names(&file));
            let is_of_file = file.is_some_and(|file| file.iter().any(|name| named.contains(name)));
            is_of_file || (!own.is_empty() && share(again, own.len()) >= REPEATED)
        };
        words.iter().filter(is_told_before).copied().collect()
    }

    /// Adds the body of a commit where no answer tells the work that it contains. If it says enough, what the agent said before its last
    /// changes goes: it may have decided otherwise since.
    pub(super) fn with_commit_bodies(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        let mut first = 0;
        for (at, _) in self.turns.iter().enumerate().filter(|(_, turn)| turn.committed) {
            let work = std::mem::replace(&mut first, at + 1)..=at;
            let added = self.untold_body(at, &work, &chosen);
            let chars: usize =
                added.iter().map(|&(turn, number)| self.turns[turn].statements[number].text.chars().count()).sum();
            chosen.extend(added);
            if chars >= MIN_END_CHARS {
                chosen = self.without_way(chosen, &work);
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Returns what fits of the body of a turn's commit, if no answer of the turns of its work tells that.
    fn untold_body(&self, at: usize, work: &RangeInclusive<usize>, chosen: &[Place]) -> Vec<Place> {
        let turn = &self.turns[at];
        let statement = |&(turn, number): &Place| &self.turns[turn].statements[number];
        let of_work = chosen.iter().filter(|place| work.contains(&place.0)).map(statement);
        let answer: usize = of_work.filter(|it| tells_end(it)).map(|it| it.text.chars().count()).sum();
        let is_named = chosen.iter().any(|place| place.0 == at && statement(place).voice == Voice::Commit);
        let is_body = |number: &usize| {
            let it = &turn.statements[*number];
            it.voice == Voice::Commit && it.place > 0 && !it.text.starts_with("This reverts commit ")
        };
        let is_edited = || self.turns[work.clone()].iter().any(|turn| turn.edited);
        if answer >= MIN_END_CHARS || !is_named || !is_edited() {
            return Vec::new();
        }
        let body = (0..turn.statements.len()).filter(is_body).filter(|number| !chosen.contains(&(at, *number)));
        self.fitting(at, body, MAX_COMMIT_LIST)
    }

    /// Leaves out what the agent said in the turns of some work before its last changes, unless it decides something.
    fn without_way(&self, mut chosen: Vec<Place>, work: &RangeInclusive<usize>) -> Vec<Place> {
        let is_decided = |lower: &str| text::contains_any_words(lower, &DECIDED);
        let is_way = |it: &Statement, lower: &str| {
            it.voice == Voice::Work
                && it.is_before_edit
                && it.form == Form::Sentence
                && prose::signs(lower).0 < MIN_CAUSE
                && !is_decided(lower)
        };
        let mut gone: Option<&Statement> = None;
        chosen.retain(|&(turn, number)| {
            let it = &self.turns[turn].statements[number];
            let lower = it.text.to_lowercase();
            // What goes on behind such a sentence goes with it.
            let goes_on = || gone.is_some_and(|before| it.follows(before));
            let is_gone = work.contains(&turn) && (is_way(it, &lower) || (goes_on() && !is_decided(&lower)));
            gone = is_gone.then_some(it);
            !is_gone
        });
        chosen
    }

    /// Adds the list in the body of a commit to a turn that did the work and hardly says what: "H1: the key is wrapped, H2: …".
    pub(super) fn with_commit_lists(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate().filter(|(_, turn)| turn.edited && turn.committed) {
            let of_turn = || chosen.iter().filter(|(of, _)| *of == at).map(|&(_, number)| &turn.statements[number]);
            let answer = || of_turn().filter(|it| it.voice == Voice::Answer);
            let told: usize = answer().map(|it| it.text.chars().count()).sum();
            let words: text::Features = answer().flat_map(|it| text::features(&it.text)).collect();
            let is_told = |number: &&usize| {
                let own = text::features(&turn.statements[**number].text);
                share(own.iter().filter(|word| words.contains(word)).count(), own.len()) >= TOLD_IN_ANSWER
            };
            let has_commit = of_turn().any(|it| it.voice == Voice::Commit);
            let is_item = |number: &usize| {
                let it = &turn.statements[*number];
                it.voice == Voice::Commit && it.place > 0 && is_listed(it) && !chosen.contains(&(at, *number))
            };
            let items: Vec<usize> = (0..turn.statements.len()).filter(is_item).collect();
            let is_news = items.len() >= MIN_COMMIT_ITEMS && 2 * items.iter().filter(is_told).count() < items.len();
            if has_commit && told < MIN_ANSWER_TOLD && is_news {
                let added = self.fitting(at, items.into_iter(), MAX_COMMIT_LIST);
                chosen.extend(added);
            }
        }
        chosen.sort_unstable();
        chosen
    }
}
