//! What an answer found or advised, until a later turn says that it did something about it.

use super::subject::Subject;
use super::turn_result::TurnResult;
use super::{Place, Results};
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{Form, Statement, Voice};
use crate::text;

/// How many names and words a deed must share with what was found.
const MIN_NAMES: usize = 1;
const MIN_WORDS: usize = 3;
/// The number of words from which on a heading says what was found below it: "The total is never rounded".
const MIN_TITLE_WORDS: usize = 4;

impl Results {
    /// Returns what turns without work found and advised, and later ones did something about. If a heading says what was found, all that
    /// stands below it goes with it.
    pub(super) fn handled(&self) -> Vec<Place> {
        let deeds: Vec<Vec<Subject>> = self.turns.iter().map(deeds).collect();
        let mut all = Vec::new();
        for (at, turn) in self.without_work() {
            let later: Vec<&Subject> = deeds[at + 1..].iter().flatten().collect();
            if later.is_empty() {
                continue;
            }
            let statements: Vec<(&Statement, bool)> = turn.statements.iter().map(|it| (it, finds(it))).collect();
            let found: Vec<&str> = statements.iter().filter(|(_, finds)| *finds).map(|(it, _)| title_of(it)).collect();
            let is_done = |(it, finds): &(&Statement, bool)| {
                it.is_of_agent() && (*finds || (is_title(title_of(it)) && found.contains(&title_of(it)))) && {
                    let own = Subject::with_plain_words(it);
                    later.iter().any(|deed| own.shares(deed, MIN_NAMES, MIN_WORDS))
                }
            };
            let done: Vec<bool> = statements.iter().map(is_done).collect();
            // A heading that is no finding itself, such as "Issues I found in the cart", stands above several.
            let is_alone = |title: &str| {
                found.iter().filter(|known| **known == title).count() <= 1
                    || statements.iter().any(|(it, finds)| *finds && it.form == Form::Heading && it.text == title)
            };
            let titles = statements.iter().zip(&done).filter(|(_, is_done)| **is_done).map(|((it, _), _)| title_of(it));
            let titles: Vec<&str> = titles.filter(|title| is_title(title) && is_alone(title)).collect();
            let is_over = |number: &usize| {
                let (it, _) = statements[*number];
                it.is_of_agent() && (done[*number] || titles.contains(&title_of(it)))
            };
            all.extend((0..statements.len()).filter(is_over).map(|number| (at, number)));
        }
        all
    }
}

/// Returns the heading that a statement is, or that stands above it.
fn title_of(statement: &Statement) -> &str {
    if statement.form == Form::Heading { &statement.text } else { &statement.heading }
}

fn is_title(heading: &str) -> bool {
    heading.split_whitespace().count() >= MIN_TITLE_WORDS
}

/// Returns whether a turn changed files, and its changes were not taken back.
fn has_done(turn: &TurnResult) -> bool {
    turn.edited && !turn.reverted && !turn.is_taken_back
}

/// Returns what a turn that changed files says it did, one subject a statement.
fn deeds(turn: &TurnResult) -> Vec<Subject> {
    let is_deed = |it: &&Statement| {
        let lower = it.text.to_lowercase();
        it.voice == Voice::Commit
            || (it.voice == Voice::Answer && (standing::tells_work(&lower) || standing::says_mended(&lower)))
    };
    if !has_done(turn) {
        return Vec::new();
    }
    turn.statements.iter().filter(|it| !puts_off(it)).filter(is_deed).map(Subject::with_plain_words).collect()
}

/// Returns whether a statement says that something is still to be done: "Deferred: the night till", "Still to fix".
fn puts_off(statement: &Statement) -> bool {
    const OPENINGS: [&str; 10] =
        ["deferred", "skipped", "left ", "postponed", "confirmed", "verified", "noted", "reviewed", "still ", "not yet"];
    const ANYWHERE: [&str; 6] = ["still to fix", "left to fix", "not fixed", "still needs", "필요합니다", "必要です"];
    if statement.voice == Voice::Commit {
        return false;
    }
    let lower = statement.text.to_lowercase();
    OPENINGS.iter().any(|opening| lower.starts_with(opening)) || text::contains_any(&lower, &ANYWHERE)
}

/// Returns whether a statement of the agent says what is wrong or missing, or what should be done.
fn finds(statement: &Statement) -> bool {
    let lower = statement.text.to_lowercase();
    let is_step = || matches!(statement.form, Form::Item | Form::Heading) && signs::is_imperative(&lower);
    statement.is_of_agent()
        && (signs::is_problem(&lower)
            || signs::finds_fault(&lower)
            || signs::advises(&lower)
            || lower.starts_with("consider ")
            || signs::lacks_something(&lower)
            || is_step())
        && !standing::says_mended(&lower)
        && !standing::is_deed(&lower)
        && !signs::tells_limit(&lower)
}
