//! Decides whether a later statement changes what an earlier one about the same settled.
//!
//! What it looks at: whether the same identifier has another value, whether the value of the earlier decision is gone and the
//! request names one of the same unit, whether an explanation of the same ticket is corrected, an open end closed, or
//! something that the decision names removed; and against it, whether the later one asks, confirms, keeps, or adds
//! something of its own. A linear model weighs these. Its weights were learned from some 580 pairs that were written for
//! this, a quarter of them changes, in English and Korean.

use std::collections::BTreeSet;

use super::facts::{self, Assignments, Value};
use super::{Relation, Statement, cues};

/// The similarity below which both must name something in common.
const SURE_TOPIC: f32 = 0.20;

/// By how much similarities here are larger than those from which the weights were learned.
const SIMILARITY_SCALE: f32 = 1.6;

/// The least score of a change. Half of the changes of a set that was kept apart reach it. A wrong link hides a rule that
/// holds, so this is higher than where the errors of both kinds would be fewest.
const THRESHOLD: f32 = 1.0;

/// The least score of what may be a change. Such a link hides nothing: it puts the later statement first.
const DOUBT_THRESHOLD: f32 = -1.5;

/// What a statement consists of.
pub(super) struct Parts<'a> {
    request: &'a str,
    result: &'a str,
    sentences: Vec<&'a str>,
    text: String,
    identifiers: BTreeSet<String>,
    /// Of the request and the first sentence of the result, where the decision stands.
    head_identifiers: BTreeSet<String>,
    head_words: BTreeSet<String>,
    head_values: BTreeSet<Value>,
    assigned: Assignments,
    request_values: BTreeSet<Value>,
    result_values: BTreeSet<Value>,
    paths: BTreeSet<String>,
    /// The values that were decided: those of the request that the result repeats, and those given to an identifier.
    decided: BTreeSet<Value>,
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
        let given: BTreeSet<&String> = assigned.values().flatten().collect();
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
            paths: facts::paths(&text),
            assigned,
            request_values,
            result_values,
            decided,
            sentences,
            text,
        }
    }

    /// Returns whether one of the decided values is among these.
    fn has_decided(&self, values: &BTreeSet<Value>) -> bool {
        self.decided.iter().any(|(value, unit)| {
            values.iter().any(|(other, of)| value == other && (unit == of || unit.is_empty() || of.is_empty()))
        })
    }
}

/// What a later statement about the same does to an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It changes it.
    Changes(Relation),
    /// It may have changed it.
    MayChange,
    /// The earlier one holds.
    Holds,
}

/// Judges what a later statement does to an earlier one.
pub(super) fn judge(older: &Parts<'_>, newer: &Parts<'_>, similarity: f32) -> Judgement {
    let evidence = Evidence::of(older, newer, similarity);
    let score = evidence.score();
    if evidence.has_topic && evidence.is_plain() && score > THRESHOLD {
        Judgement::Changes(evidence.relation(older, newer))
    } else if evidence.has_topic && score > DOUBT_THRESHOLD {
        Judgement::MayChange
    } else {
        Judgement::Holds
    }
}

/// What speaks for and against a change.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a feature of the model")]
struct Evidence {
    /// Whether they are about the same at all.
    has_topic: bool,
    similarity: f32,
    /// How many identifiers both name.
    shared: f32,
    /// The same identifier has another value.
    differs: bool,
    /// The decided value is gone, and the later one names another of its unit.
    other_value: bool,
    /// An explanation of the same ticket or document is corrected.
    refutes: bool,
    /// An open end is closed.
    completes: bool,
    /// In how many sentences something that the decision names is removed.
    removed: f32,
    /// The same, and the human asked for it.
    reverses: bool,
    asks_change: bool,
    asks_reversal: bool,
    about_all: bool,
    /// How many signs there are that nothing changes.
    against: f32,
    /// The decided value is said to stay.
    keeps_value: bool,
    /// How often the later one speaks of something beside.
    added: f32,
    /// A file of the same name in another folder: the same parameter of another part.
    elsewhere: bool,
}

impl Evidence {
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn of(older: &Parts<'_>, newer: &Parts<'_>, similarity: f32) -> Self {
        let shared: BTreeSet<&String> = older.identifiers.intersection(&newer.identifiers).collect();
        let ticket = shared.iter().any(|name| is_ticket(name));
        let elsewhere = same_file_elsewhere(older, newer);
        let both = || older.assigned.iter().filter_map(|(name, values)| Some((values, newer.assigned.get(name)?)));
        let differs = !elsewhere && both().any(|(before, after)| before.is_disjoint(after));
        let same = !differs && both().any(|(before, after)| !before.is_disjoint(after));

        let kept = Kept::of(older, newer);
        let keeps = kept.value || kept.share >= 0.25 || (kept.identifier && !differs);
        // It names a parameter of its own.
        let older_text = older.text.to_lowercase();
        let own = !differs
            && newer
                .assigned
                .keys()
                .any(|name| !older_text.contains(name.as_str()) && !name.contains('/') && !is_file(name));
        let is_removal = |sentence: &&&str| {
            cues::REMOVED.is_match(sentence)
                && (!facts::identifiers(sentence).is_disjoint(&older.identifiers)
                    || facts::words(sentence).intersection(&older.head_words).count() >= 4)
        };
        let removed = newer.sentences.iter().filter(is_removal).count();
        let completes = completes(older, newer, &shared);

        let is_near = similarity >= SURE_TOPIC || !shared.is_empty();
        let has_topic = is_near || differs || ticket;
        let mut said = newer.request_values.clone();
        said.extend(newer.result_values.iter().cloned());
        let value_gone = !older.decided.is_empty() && !older.has_decided(&said);
        let mut named = newer.request_values.clone();
        named.extend(newer.head_values.iter().cloned());
        let units: BTreeSet<&str> = named.iter().map(|(_, unit)| *unit).filter(|unit| !unit.is_empty()).collect();
        let same_unit = older.decided.iter().any(|(_, unit)| units.contains(unit));
        let asks_reversal = cues::ASKS_REVERSAL.is_match(newer.request);
        let asks_change = cues::ASKS_CHANGE.is_match(newer.request);
        let against = [
            cues::is_question(newer.request),
            own,
            keeps,
            cues::UNCHANGED.is_match(newer.result),
            cues::ASKS_NO_CHANGE.is_match(newer.request),
        ];
        Self {
            has_topic,
            similarity: (similarity / SIMILARITY_SCALE).min(0.25),
            shared: shared.len().min(4) as f32,
            differs,
            other_value: has_topic && value_gone && same_unit && !own && !keeps && !elsewhere,
            refutes: ticket && cues::REFUTED.is_match(newer.result),
            completes,
            removed: removed.min(2) as f32,
            reverses: has_topic && removed > 0 && (asks_reversal || asks_change) && !keeps && !same,
            asks_change,
            asks_reversal,
            about_all: cues::ALL.is_match(newer.request),
            against: against.into_iter().filter(|it| *it).count() as f32,
            keeps_value: kept.value,
            added: cues::ADDED.find_iter(newer.result).count().min(2) as f32,
            elsewhere,
        }
    }

    fn score(&self) -> f32 {
        let yes = |it: bool| f32::from(u8::from(it));
        -3.06
            + 8.74 * self.similarity
            + 0.42 * self.shared
            + 2.04 * yes(self.differs)
            + 0.95 * yes(self.other_value)
            + 2.49 * yes(self.refutes)
            + 1.59 * yes(self.completes)
            + 0.84 * self.removed
            + 1.14 * yes(self.reverses)
            + 0.82 * yes(self.asks_change)
            + 0.50 * yes(self.asks_reversal)
            + 0.39 * yes(self.about_all)
            - 0.52 * self.against
            - 0.60 * yes(self.keeps_value)
            - 0.34 * self.added
            - 1.23 * yes(self.elsewhere)
    }

    /// Returns whether something plain says that it is a change, and not only many weak signs.
    fn is_plain(&self) -> bool {
        let takes_back = self.reverses && self.asks_reversal && self.shared > 0.0;
        self.differs || self.other_value || self.refutes || self.completes || takes_back
    }

    fn relation(&self, older: &Parts<'_>, newer: &Parts<'_>) -> Relation {
        let has_other_value = self.differs || self.other_value;
        if self.completes && !self.differs {
            Relation::Completes
        } else if self.refutes && cues::EXPLAINS.is_match(&older.text) && !self.differs {
            Relation::Refutes
        } else if !has_other_value
            && (self.reverses || self.removed > 0.0 || (self.asks_reversal && cues::BACK.is_match(&newer.text)))
        {
            Relation::Reverses
        } else {
            Relation::Amends
        }
    }
}

/// What the later statement says that it leaves as it is.
struct Kept {
    /// The largest share of the decision's words in such a sentence.
    share: f32,
    /// Such a sentence names an identifier of the decision.
    identifier: bool,
    /// Such a sentence names a value of the decision.
    value: bool,
}

impl Kept {
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn of(older: &Parts<'_>, newer: &Parts<'_>) -> Self {
        let mut kept = Self { share: 0.0, identifier: false, value: false };
        for sentence in newer.sentences.iter().filter(|sentence| cues::KEPT.is_match(sentence)) {
            let common = facts::words(sentence).intersection(&older.head_words).count();
            kept.share = kept.share.max(common as f32 / older.head_words.len().max(4) as f32);
            let names = facts::identifiers(sentence);
            kept.identifier |=
                names.iter().any(|name| older.head_identifiers.contains(name) || older.assigned.contains_key(name));
            kept.value |= older.has_decided(&facts::values(sentence));
        }
        kept
    }
}

/// Returns whether an open end of the earlier statement is closed.
fn completes(older: &Parts<'_>, newer: &Parts<'_>, shared: &BTreeSet<&String>) -> bool {
    if shared.is_empty() || !cues::OPEN.is_match(older.result) {
        return false;
    }
    let mut is_closed = cues::CLOSED.is_match(newer.request) && !cues::is_question(newer.request);
    for sentence in &newer.sentences {
        if facts::identifiers(sentence).iter().any(|name| shared.contains(name)) {
            if cues::STILL_OPEN.is_match(sentence) {
                return false;
            }
            is_closed |= cues::CLOSED.is_match(sentence);
        }
    }
    is_closed
}

/// Returns whether both name a file of the same name in two folders: most likely the same parameter of two parts.
fn same_file_elsewhere(older: &Parts<'_>, newer: &Parts<'_>) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let is_end = |whole: &str, end: &str| whole.strip_suffix(end).is_some_and(|rest| rest.ends_with('/'));
    older.paths.iter().any(|one| {
        newer
            .paths
            .iter()
            .any(|other| one != other && name(one) == name(other) && !is_end(one, other) && !is_end(other, one))
    })
}

/// Returns whether a name is that of a ticket, an issue or a document.
fn is_ticket(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.rsplit_once('.').is_some_and(|(_, extension)| extension == "md")
        || name.strip_prefix('#').is_some_and(digits)
        || name.split_once('-').is_some_and(|(letters, number)| {
            letters.len() >= 2 && letters.bytes().all(|byte| byte.is_ascii_lowercase()) && digits(number)
        })
}

/// Returns whether a name ends like a file's.
fn is_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| {
        (2..=4).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(older: [&str; 2], newer: [&str; 2]) -> Judgement {
        let statement = |[title, content]: [&'static str; 2]| Statement {
            session: "s",
            created: 0,
            title,
            content,
            is_statement: true,
            is_new: true,
        };
        // The texts live as long as the test.
        let leak = |texts: [&str; 2]| texts.map(|text| &*Box::leak(text.to_owned().into_boxed_str()));
        judge(&Parts::of(&statement(leak(older))), &Parts::of(&statement(leak(newer))), 0.35)
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
    fn the_same_parameter_of_another_part() {
        let older = ["pool of 12", "pool of 12 → `POOL_MAX = 12` in `services/cart/values.yaml`."];
        let newer = ["20 for search", "20 for search → `POOL_MAX = 20` in `services/search/values.yaml`."];
        assert!(!matches!(judged(older, newer), Judgement::Changes(_)));
    }
}
