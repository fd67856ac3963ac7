//! What the agent said before a later turn ended it: plans and steps, what was wrong before the user had it mended, and counts of tests.

use std::cell::OnceCell;

use super::barred::MIN_CAUSE;
use super::subject::Subject;
use super::turn_result::{TurnResult, share_of};
use super::{Place, Results};
use crate::extract::prose;
use crate::extract::signs::{self, Step};
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::text;

/// The share of its names that the turn with the work must say again for a statement to be about the same.
const SAME_WORK: f32 = 0.5;
/// The share of its names or words that the turn must say again that did what was offered.
const SAME_SUBJECT: f32 = 0.3;

/// The length up to which a report of checks says little else, in characters.
const MAX_REPORT_CHARS: usize = 80;

/// Returns whether a turn speaks of what a statement is about.
fn is_in(own: &Subject, turn: &Subject) -> bool {
    own.names_in(turn) >= SAME_SUBJECT || own.words_in(turn) >= SAME_SUBJECT
}

impl Results {
    /// Returns what the agent said that a later turn ended. What it found out of a cause stands.
    pub(super) fn superseded(&self) -> Vec<Place> {
        let last_count = self.turns.iter().rposition(|turn| turn.statements.iter().any(counts_checks));
        let last_of = |says: fn(&Statement) -> bool| -> Option<Place> {
            let last = |(at, turn): (usize, &TurnResult)| Some((at, turn.statements.iter().rposition(says)?));
            self.turns.iter().enumerate().rev().find_map(last)
        };
        let (last_success, last_failure) = (last_of(only_says_passing), last_of(says_failing));
        // The words of a turn are needed for many statements, and those of most turns for none.
        let subjects: Vec<OnceCell<Subject>> = self.turns.iter().map(|_| OnceCell::new()).collect();
        let subject = |at: usize| subjects[at].get_or_init(|| Subject::of_turn(&self.turns[at]));
        let mut all = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            let later = &self.turns[at + 1..];
            let work = later.iter().find(|later| later.has_work()).filter(|_| !turn.has_work());
            let plan = work.filter(|work| work.carries_plan || turn.is_refused).map(TurnResult::names);
            let is_first = !self.turns[..at].iter().any(TurnResult::has_work);
            let is_taken_up = !turn.has_work() && later.first().is_some_and(carries_out_offer);
            let is_made = |step: Step| later.iter().any(|later| later.makes(step));
            let is_recounted = last_count.is_some_and(|last| last > at);
            let passes_later =
                last_success.is_some_and(|last| last.0 > at && last_failure.is_none_or(|failed| failed < last));
            let fails_later = last_failure.is_some_and(|last| last.0 > at);
            let works_on = |it: &Statement| {
                let own = Subject::of_statement(it);
                (at + 1..self.turns.len()).any(|later| self.turns[later].has_work() && is_in(&own, subject(later)))
            };
            let is_over = |it: &Statement| {
                plan.as_ref().is_some_and(|work| is_of_plan(it, turn, work, is_first))
                    || (is_taken_up && is_fault(it, || is_in(&Subject::of_statement(it), subject(at + 1))))
                    || (!turn.has_work() && is_step(it) && works_on(it))
                    || says_unpublished(it, is_made)
                    || (is_recounted && counts_checks(it))
                    || (fails_later && only_says_passing(it))
                    || (passes_later && tells_failure(it))
            };
            all.extend(places_in(at, turn, |it| it.is_of_agent() && is_over(it)));
        }
        all
    }
}

impl Results {
    /// Returns what the agent took for a cause in a turn that changed nothing, until it found another one for the same: "the actual bug",
    /// or the cause of what it mended right after that.
    pub(super) fn other_causes(&self) -> Vec<Place> {
        let finds = |turn: &TurnResult| turn.statements.iter().any(finds_real_cause);
        let finding = self.turns.iter().enumerate().filter(|(_, turn)| finds(turn));
        let real: Vec<(usize, Subject)> = finding.map(|(at, turn)| (at, Subject::of_turn(turn))).collect();
        let mut all = Vec::new();
        for (at, turn) in self.without_work() {
            // What was changed between the two was done for the first cause.
            let next_work = (at + 1..self.turns.len()).find(|&later| self.turns[later].has_work());
            let is_next = |later: usize| later > at && next_work.is_none_or(|work| later <= work);
            if self.turns.get(at + 1).is_some_and(|next| mends_other_cause(turn, next)) {
                all.extend(guessed(turn, &self.turns[at + 1]).into_iter().map(|number| (at, number)));
                continue;
            }
            let next: Vec<&Subject> = real.iter().filter(|(of, _)| is_next(*of)).map(|(_, subject)| subject).collect();
            if !next.is_empty() {
                let is_found_again = |own: &Subject| next.iter().any(|later| is_in(own, later));
                all.extend(places_in(at, turn, |it| claims_cause(it) && is_found_again(&Subject::of_statement(it))));
            }
        }
        all
    }
}

/// Returns the places of the statements of a turn for which `is_meant` returns true. `at` is the place of the turn.
fn places_in(at: usize, turn: &TurnResult, is_meant: impl Fn(&Statement) -> bool) -> impl Iterator<Item = Place> {
    let all = turn.statements.iter().enumerate();
    all.filter(move |(_, it)| is_meant(it)).map(move |(number, _)| (at, number))
}

/// Returns whether the turn after a diagnosis, which the user had the agent act on, tells the cause of what it mended, and names
/// something for it that the diagnosis does not have: the diagnosis was a guess.
fn mends_other_cause(turn: &TurnResult, next: &TurnResult) -> bool {
    let names_cause =
        |it: &&Statement| it.voice == Voice::Answer && (signs::names_cause(&it.text) || signs::names_cause(&it.heading));
    let tells_deed = |it: &Statement| {
        let lower = it.text.to_lowercase();
        it.is_of_agent() && (standing::says_mended(&lower) || standing::tells_work(&lower))
    };
    let known = turn.names();
    let is_new = |it: &Statement| statement::names(&it.text).iter().any(|name| !known.contains(name));
    next.consents
        && (next.edited || next.used_tools)
        && turn.statements.iter().any(claims_cause)
        && next.statements.iter().any(tells_deed)
        && next.statements.iter().filter(names_cause).any(is_new)
}

/// Returns the numbers of the statements of a diagnosis that say what is wrong with what the next turn mended, with the sentences that go
/// on after them.
fn guessed(turn: &TurnResult, next: &TurnResult) -> Vec<usize> {
    let later = Subject::of_turn(next);
    let mut all: Vec<usize> = Vec::new();
    for (number, statement) in turn.statements.iter().enumerate() {
        let is_behind = all.last().is_some_and(|last| last + 1 == number && statement.follows(&turn.statements[number - 1]));
        if is_behind || (says_wrong(statement) && is_in(&Subject::of_statement(statement), &later)) {
            all.push(number);
        }
    }
    all
}

/// Returns whether a statement of the agent says what the cause is, or what is wrong.
fn says_wrong(statement: &Statement) -> bool {
    let lower = text::lower(&statement.text);
    claims_cause(statement)
        || (statement.is_of_agent()
            && (signs::lacks_something(&lower) || signs::is_problem(&lower) || signs::finds_fault(&lower)))
}

/// Returns whether a statement of the agent says what the cause of something is.
fn claims_cause(statement: &Statement) -> bool {
    const SIGNS: [&str; 12] = [
        "root cause",
        "the problem is",
        "the issue is",
        "the bug is",
        "the cause is",
        "the culprit is",
        "원인은",
        "원인이",
        "문제는",
        "原因は",
        "問題は",
        "原因是",
    ];
    statement.is_of_agent() && text::contains_any_words(&statement.text.to_lowercase(), &SIGNS)
}

/// Returns whether a statement of the agent says that the cause is another one than it seemed to be.
fn finds_real_cause(statement: &Statement) -> bool {
    statement.is_of_agent() && names_real_cause(&statement.text)
}

/// Returns whether a text says that the cause is another one than it seemed to be: "Found the actual bug!"
pub(in crate::extract) fn names_real_cause(said: &str) -> bool {
    const KINDS: [&str; 2] = ["actual", "real"];
    const CAUSES: [&str; 7] = ["root cause", "cause", "bug", "culprit", "issue", "problem", "reason"];
    const WIDE: [&str; 6] = ["진짜 원인", "실제 원인", "本当の原因", "真の原因", "真正的原因", "真正原因"];
    let lower = text::lower(said);
    let is_named = KINDS.iter().any(|kind| {
        let after = |(at, word): (usize, &str)| lower[at + word.len()..].trim_start();
        let names = |rest: &str| CAUSES.iter().any(|cause| text::starts_with_words(rest, cause));
        lower.match_indices(&format!("the {kind} ")).map(after).any(names)
    });
    (is_named && !lower.contains("not the ")) || text::contains_any(&lower, &WIDE)
}

/// Returns whether a turn did what the answer before it offered.
fn carries_out_offer(turn: &TurnResult) -> bool {
    let tells_cure = |it: &Statement| it.voice == Voice::Answer && standing::says_mended(&it.text.to_lowercase());
    turn.consents && (turn.edited || (turn.used_tools && turn.statements.iter().any(tells_cure)))
}

/// Returns whether a statement says what a plan would do. The work that carried the plan out, with these names, says it better.
///
/// Before the first work, what reads as a deed is a part of the plan. Later it may be done.
fn is_of_plan(statement: &Statement, turn: &TurnResult, work: &[u32], is_first: bool) -> bool {
    let lower = text::lower(&statement.text);
    let is_same = || share_of(&statement::names(&statement.text), |name| work.contains(name)) >= SAME_WORK;
    let is_proposed_deed = is_first && standing::is_deed(&lower);
    prose::signs(&lower).0 < MIN_CAUSE && (turn.is_refused || is_proposed_deed || is_same())
}

/// Returns whether a statement says what was missing or too old, or what should be done about something. `is_of_next` says whether the
/// next turn speaks of that.
fn is_fault(statement: &Statement, is_of_next: impl FnOnce() -> bool) -> bool {
    let lower = text::lower(&statement.text);
    // The label of a row may begin like that.
    let is_missing = || statement.form != Form::Row && signs::lacks_something(&lower);
    (is_missing() || (signs::advises(&lower) && is_of_next()))
        && !standing::says_mended(&lower)
        && prose::signs(&lower).0 < MIN_CAUSE
}

/// Returns whether a statement says what to do: "Add a field to the slip".
fn is_step(statement: &Statement) -> bool {
    matches!(statement.form, Form::Item | Form::Heading) && signs::is_imperative(&statement.text.to_lowercase())
}

/// Returns whether a statement says that the work is still to be committed, pushed or merged, and that was done later, as `is_made` says of
/// each of these steps.
fn says_unpublished(statement: &Statement, is_made: impl Fn(Step) -> bool) -> bool {
    const VERBS: [&str; 3] = ["commit", "push", "merge"];
    const WHAT: [&str; 8] = ["the", "these", "this", "your", "it", "and", "all", "to"];
    const STEPS: [&str; 5] =
        ["create a pr", "create a pull request", "open a pr", "open a pull request", "get these changes onto"];
    let lower = statement.text.to_lowercase();
    let orders = || {
        let mut words = lower.split_whitespace();
        words.next().is_some_and(|verb| VERBS.contains(&verb)) && words.next().is_some_and(|what| WHAT.contains(&what))
    };
    let is_step = || statement.form == Form::Item && (orders() || STEPS.iter().any(|step| lower.starts_with(step)));
    // A commit in a later turn says that the work went on from there.
    let is_over = |step: Step| is_made(step) || (step == Step::Push && is_made(Step::Commit));
    let awaits = || signs::awaits_commit(&lower) || is_step();
    signs::steps_to_make(&lower).any(is_over) || (is_made(Step::Commit) && awaits())
}

/// Returns whether a statement of an answer says that checks fail.
fn says_failing(statement: &Statement) -> bool {
    statement.voice == Voice::Answer && statement.text.contains("est") && signs::is_failing(&statement.text.to_lowercase())
}

/// Returns whether a statement says that tests fail, and does not tell of a cure.
fn tells_failure(statement: &Statement) -> bool {
    let lower = text::lower(&statement.text);
    let fails = || signs::is_failing(&lower) || text::contains_any_words(&lower, &["failure", "failures"]);
    let tests = ["test", "tests", "테스트", "テスト", "测试"];
    text::contains_any_words(&lower, &tests)
        && fails()
        // "The test of the till fails - updated it" tells a cure.
        && !standing::tells_work(&lower)
        && !standing::says_mended(&lower)
        && prose::signs(&lower).0 < MIN_CAUSE
}

/// Returns whether a statement says little more than that all checks pass.
fn only_says_passing(statement: &Statement) -> bool {
    let lower = text::lower(&statement.text);
    let is_of_all = ["all ", "모든 ", "すべて", "全て", "所有"].iter().any(|all| lower.starts_with(all));
    let passes = ["pass", "passed", "passing", "통과", "パス", "通过"];
    is_of_all
        && lower.chars().count() <= MAX_REPORT_CHARS
        && text::contains_any(&lower, &["test", "check", "테스트", "テスト", "测试"])
        && text::contains_any_words(&lower, &passes)
}

/// Returns whether a statement of the agent says how many tests pass. A later run counts anew.
fn counts_checks(statement: &Statement) -> bool {
    const PASSES: [&str; 7] = ["pass", "passes", "passed", "passing", "green", "0 failures", "0 fail"];
    // Most statements say nothing of tests.
    if !statement.text.contains("est") {
        return false;
    }
    let lower = text::lower(&statement.text);
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_count = |pair: &[&str]| is_number(pair[0]) && matches!(pair[1], "test" | "tests");
    statement.is_of_agent() && words.windows(2).any(is_count) && text::contains_any_words(&lower, &PASSES)
}
