//! What the agent took for right at first sight, until it looked again and said that it is wrong.

use super::subject::Subject;
use super::turn_result::TurnResult;
use super::{Place, Results};
use crate::extract::standing;
use crate::extract::statement::{Form, Statement};
use crate::text;

/// The share of its names that the refutation must say again for a claim to be meant by it.
const SAME_NAMES: f32 = 0.5;
/// The same share of its words.
const SAME_WORDS: f32 = 0.4;
/// From how many refuted claims the whole first look was wrong, and of how many claims one of them must be refuted for that.
const MIN_REFUTED: usize = 2;
const ONE_OF: usize = 4;

/// Words of a sentence that says that a claim is wrong, in a turn that speaks of claims.
const REFUTES: [&str; 14] = [
    "misread",
    "false positive",
    "false positives",
    "false alarm",
    "already handled",
    "already handles",
    "not actually an issue",
    "not a real issue",
    "not an issue",
    "not a bug",
    "오탐",
    "이미 처리되어",
    "誤検知",
    "误报",
];
/// Words that say it only of a claim: "the total is wrong" is a fault of the work.
const WRONG: [&str; 7] = ["wrong", "incorrect", "not valid", "invalid", "not accurate", "잘못된", "誤り"];
const CLAIMS: [&str; 13] = [
    "comments",
    "claim",
    "claims",
    "finding",
    "findings",
    "suggestion",
    "suggestions",
    "reviewer",
    "copilot",
    "bugbot",
    "지적",
    "리뷰",
    "指摘",
];

/// Words before such a word that turn it around: "this is no false alarm".
const NEGATIONS: [&str; 9] = ["not", "no", "never", "isnt", "arent", "wasnt", "werent", "cannot", "without"];
/// How many words before it are looked at.
const MAX_WORDS_BEFORE: usize = 3;

/// Returns whether a refutation is about what a claim says. One name alone may stand in any statement about the same code.
fn is_about(refutation: &Subject, claim: &Subject) -> bool {
    (claim.names() >= 2 && claim.names_in(refutation) >= SAME_NAMES) || claim.words_in(refutation) >= SAME_WORDS
}

impl Results {
    /// Returns the claims of turns that changed nothing and of which a later turn says that they are wrong. If these are several of a list,
    /// all its claims: the first look was wrong, and what is left of it says so nowhere.
    pub(super) fn refuted(&self) -> Vec<Place> {
        let refutations: Vec<Vec<Subject>> = self.turns.iter().map(refutations).collect();
        let mut all = Vec::new();
        for (at, turn) in self.without_work() {
            let refuted: Vec<&Subject> = refutations[at + 1..].iter().flatten().collect();
            if refuted.is_empty() {
                continue;
            }
            let claims: Vec<usize> =
                (0..turn.statements.len()).filter(|&number| is_claim(&turn.statements[number])).collect();
            let opens = |number: &usize| !turn.statements[*number].goes_on;
            let is_wrong = |number: &usize| {
                let claim = Subject::of_statement(&turn.statements[*number]);
                refuted.iter().any(|it| is_about(it, &claim))
            };
            let wrong = claims.iter().filter(|number| opens(number) && is_wrong(number)).count();
            let is_all = wrong >= MIN_REFUTED && wrong * ONE_OF >= claims.iter().filter(|number| opens(number)).count();
            // The sentences behind a claim go on with it.
            let mut is_gone = false;
            for number in claims {
                is_gone = is_all || is_wrong(&number) || (is_gone && !opens(&number));
                if is_gone {
                    all.push((at, number));
                }
            }
        }
        all
    }
}

/// Returns what a turn says is wrong, if it says so of claims: those of a review, or its own. Items below such a line are wrong, too.
fn refutations(turn: &TurnResult) -> Vec<Subject> {
    let said: Vec<String> = turn.statements.iter().map(|it| it.text.to_lowercase()).collect();
    let speaks_of_claims = |said: &str| text::contains_any_words(said, &CLAIMS);
    let says_wrong = |said: &str| speaks_of_claims(said) && says_any(said, &WRONG);
    let refutes = |said: &str| says_any(said, &REFUTES) || says_wrong(said);
    if !(0..said.len()).any(|at| turn.statements[at].is_of_agent() && speaks_of_claims(&said[at]) && refutes(&said[at])) {
        return Vec::new();
    }
    let is_meant = |number: &usize| {
        let statement = &turn.statements[*number];
        let is_led = || turn.lead(*number).is_some_and(|lead| refutes(&lead.text.to_lowercase()));
        statement.is_of_agent() && (refutes(&said[*number]) || (statement.form == Form::Item && is_led()))
    };
    (0..said.len()).filter(is_meant).map(|number| Subject::of_statement(&turn.statements[number])).collect()
}

/// Returns whether a text in lower case has one of the words, and no negation shortly before it.
fn says_any(lower: &str, words: &[&str]) -> bool {
    let is_denied = |before: &str| {
        let before = before.replace(['\'', '’'], "");
        let last = before.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).rev().take(MAX_WORDS_BEFORE);
        last.into_iter().any(|word| NEGATIONS.contains(&word))
    };
    words
        .iter()
        .any(|word| text::contains_words(lower, word) && lower.match_indices(word).any(|(at, _)| !is_denied(&lower[..at])))
}

/// Returns whether a statement is an item that tells what is, and not what was done.
fn is_claim(statement: &Statement) -> bool {
    statement.is_of_agent() && statement.form == Form::Item && !standing::is_deed(&statement.text.to_lowercase())
}
