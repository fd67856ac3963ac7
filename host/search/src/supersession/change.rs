//! Decides whether a later statement changes what an earlier one about the same settled.
//!
//! [`Evidence`] is what speaks for and against it. Two linear models weigh it: one says whether the two have one subject, the other
//! whether the later one changes the earlier one if they have. A single model took signs of a change as signs of a common subject.
//! The weights are learned from pairs that were written for this, see [`weights`](super::weights).

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::cues;
use super::evidence::Evidence;
use super::facts::{self, Assignments, Value};
use super::nearness::Nearness;
use super::relation::{Change, Relation, Statement};
use super::weights::{DOUBT_THRESHOLD, LIKELY_THRESHOLD, PLAIN_THRESHOLD, SUBJECT_THRESHOLD};

/// What a statement consists of.
pub(super) struct Parts<'a> {
    pub(super) request: &'a str,
    pub(super) result: &'a str,
    sentences: Vec<&'a str>,
    pub(super) text: String,
    pub(super) identifiers: BTreeSet<String>,
    /// Of the request and the first sentence of the result, where the decision stands.
    pub(super) head_identifiers: BTreeSet<String>,
    pub(super) head_words: BTreeSet<String>,
    pub(super) head_values: BTreeSet<Value>,
    pub(super) assigned: Assignments,
    pub(super) request_values: BTreeSet<Value>,
    pub(super) result_values: BTreeSet<Value>,
    /// What its request and the whole result are about.
    pub(super) request_words: BTreeSet<String>,
    pub(super) words: BTreeSet<String>,
    pub(super) paths: BTreeSet<String>,
    /// The values that were decided: those of the request that the result repeats, and those given to an identifier.
    pub(super) decided: BTreeSet<Value>,
    /// What it claims about earlier statements, if it was compared with one.
    claims: OnceCell<Claims>,
}

/// What a statement claims about earlier ones, by its phrases.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a kind of phrase")]
pub(super) struct Claims {
    /// Sentences that leave something as it is.
    pub(super) kept: Vec<Said>,
    /// Sentences that take something away.
    pub(super) removed: Vec<Said>,
    /// Sentences that name what was before.
    pub(super) instead: Vec<Said>,
    pub(super) is_question: bool,
    pub(super) is_unchanged: bool,
    pub(super) asks_change: bool,
    pub(super) asks_reversal: bool,
    pub(super) asks_no_change: bool,
    pub(super) is_about_all: bool,
    pub(super) is_refuted: bool,
    pub(super) is_from_now: bool,
    pub(super) is_closed: bool,
    pub(super) added: usize,
}

/// What a sentence names.
pub(super) struct Said {
    pub(super) words: BTreeSet<String>,
    pub(super) identifiers: BTreeSet<String>,
    pub(super) values: BTreeSet<Value>,
}

impl Said {
    fn of(sentence: &str) -> Self {
        Self { words: facts::words(sentence), identifiers: facts::identifiers(sentence), values: facts::values(sentence) }
    }
}

impl<'a> Parts<'a> {
    pub(super) fn of(statement: &Statement<'a>) -> Self {
        /// What stands between a request and its result.
        const ARROW: &str = " → ";
        let request = statement.title;
        let result = statement.content.split_once(ARROW).map_or(statement.content, |(_, result)| result);
        let sentences = facts::sentences(result);
        let text = format!("{request}. {result}");
        let head = format!("{request} {}", sentences.first().copied().unwrap_or_default());
        let assigned = facts::assignments(&text);
        let (request_values, result_values) = (facts::values(request), facts::values(result));
        let given: BTreeSet<&String> =
            assigned.values().flatten().filter(|it| it.starts_with(|first: char| first.is_ascii_digit())).collect();
        let is_repeated = |value: &Value| result_values.iter().any(|(other, _)| *other == value.0);
        let mut decided: BTreeSet<Value> = request_values.iter().filter(|value| is_repeated(value)).cloned().collect();
        decided.extend(result_values.iter().filter(|(value, _)| given.contains(value)).cloned());
        decided.extend(given.into_iter().map(|value| (value.clone(), "")));
        Self {
            request,
            result,
            identifiers: facts::identifiers(&text),
            head_identifiers: facts::identifiers(&head),
            head_words: facts::words(&head),
            head_values: facts::values(&head),
            request_words: facts::words(request),
            words: facts::words(&text),
            paths: facts::paths(&text),
            assigned,
            request_values,
            result_values,
            decided,
            sentences,
            text,
            claims: OnceCell::new(),
        }
    }

    /// Returns whether one of the decided values is among these.
    pub(super) fn has_decided(&self, values: &BTreeSet<Value>) -> bool {
        self.decided.iter().any(|(value, unit)| {
            values.iter().any(|(other, of)| value == other && (unit == of || unit.is_empty() || of.is_empty()))
        })
    }

    /// Returns what it claims about earlier statements.
    pub(super) fn claims(&self) -> &Claims {
        self.claims.get_or_init(|| {
            let said = |phrases: &regex::Regex| {
                self.sentences.iter().filter(|it| phrases.is_match(it)).map(|it| Said::of(it)).collect()
            };
            Claims {
                kept: said(&cues::KEPT),
                removed: said(&cues::REMOVED),
                instead: said(&cues::INSTEAD),
                is_question: cues::is_question(self.request),
                is_unchanged: cues::UNCHANGED.is_match(self.result),
                asks_change: cues::ASKS_CHANGE.is_match(self.request),
                asks_reversal: cues::ASKS_REVERSAL.is_match(self.request),
                asks_no_change: cues::ASKS_NO_CHANGE.is_match(self.request),
                is_about_all: cues::ALL.is_match(self.request),
                is_refuted: cues::REFUTED.is_match(self.result),
                is_from_now: cues::FROM_NOW.is_match(&self.text),
                is_closed: cues::CLOSED.is_match(self.request) && !cues::is_question(self.request),
                added: cues::ADDED.find_iter(self.result).count(),
            }
        })
    }

    /// Returns its sentences, without the request.
    pub(super) fn sentences(&self) -> &[&'a str] {
        &self.sentences
    }
}

/// What a later statement about the same does to an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It changes it.
    Changes(Relation),
    /// It may have changed it.
    MayChange(Change),
    /// The earlier one holds.
    Holds,
}

/// Judges what a later statement does to an earlier one.
pub(super) fn judge(older: &Parts<'_>, newer: &Parts<'_>, nearness: Nearness) -> Judgement {
    let evidence = Evidence::of(older, newer, nearness);
    if !evidence.has_topic || evidence.subject_score() <= SUBJECT_THRESHOLD {
        return Judgement::Holds;
    }
    let score = evidence.change_score();
    if evidence.is_sure_topic && evidence.is_plain() && score > PLAIN_THRESHOLD {
        Judgement::Changes(evidence.relation(older, newer))
    } else if score > LIKELY_THRESHOLD {
        Judgement::MayChange(Change::Likely)
    } else if score > DOUBT_THRESHOLD {
        Judgement::MayChange(Change::Possible)
    } else {
        Judgement::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(older: [&str; 2], newer: [&str; 2]) -> Judgement {
        // The texts live as long as the test.
        let leak = |texts: [&str; 2]| texts.map(|text| &*Box::leak(text.to_owned().into_boxed_str()));
        let parts = |texts| Parts::of(&Statement::of("s", 0, leak(texts)));
        judge(&parts(older), &parts(newer), Nearness::alone(0.35))
    }

    const LIMIT: [&str; 2] =
        ["cap uploads at 20 MB", "cap uploads at 20 MB → `MAX_UPLOAD_MB = 20` in `upload.rs`; larger files get 413."];

    #[test]
    fn the_same_name_with_another_value() {
        let newer = ["make it 50", "make it 50 → `MAX_UPLOAD_MB = 50` in `upload.rs`, and the error names the new limit."];
        assert_eq!(judged(LIMIT, newer), Judgement::Changes(Relation::Amends));
    }

    #[test]
    fn a_question_that_confirms() {
        let newer = [
            "what was the upload limit again?",
            "what was the upload limit again? → `MAX_UPLOAD_MB = 20` in `upload.rs`, unchanged since spring.",
        ];
        assert!(!matches!(judged(LIMIT, newer), Judgement::Changes(_)));
    }

    #[test]
    fn a_corrected_cause() {
        let older = [
            "why do builds hang?",
            "why do builds hang? → OPS-17 says that the cause is the runner's full disk; `clean.sh` runs nightly now.",
        ];
        let newer = [
            "they still hang. fix it and correct the ticket",
            "they still hang. fix it and correct the ticket → OPS-17 has the true cause: `lockd` never let go of a lock. The disk \
             had nothing to do with it.",
        ];
        assert_eq!(judged(older, newer), Judgement::Changes(Relation::Refutes));
    }

    #[test]
    fn what_is_near_to_many_is_not_about_the_same_however_much_it_sounds_like_a_change() {
        let older =
            ["how long do stops stay on the board?", "how long do stops stay on the board? → They stay for 90 seconds."];
        let newer = [
            "too slow, make it 20 instead",
            "too slow, make it 20 instead → The pump starts after 20 seconds now, no longer after 45.",
        ];
        let [older, newer] = [older, newer].map(|texts| Statement::of("s", 0, texts));
        let judged = |nearness| judge(&Parts::of(&older), &Parts::of(&newer), nearness);
        let lone = Nearness::alone(0.22);
        let among_many = Nearness {
            is_nearest_earlier: false,
            is_nearest_later: false,
            stands_out: 0.4,
            is_alikest_earlier: false,
            is_alikest_later: false,
            ..lone
        };
        assert!(matches!(judged(lone), Judgement::MayChange(_)), "{:?}", judged(lone));
        assert_eq!(judged(among_many), Judgement::Holds);
    }

    #[test]
    fn the_same_parameter_of_another_part() {
        let older = ["pool of 12", "pool of 12 → `POOL_MAX = 12` in `services/cart/values.yaml`."];
        let newer = ["20 for search", "20 for search → `POOL_MAX = 20` in `services/search/values.yaml`."];
        assert!(!matches!(judged(older, newer), Judgement::Changes(_)));
    }
}
