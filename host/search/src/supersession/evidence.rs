//! What speaks for and against a change of an earlier statement by a later one.

use std::collections::BTreeSet;

use super::change::Parts;
use super::nearness::Nearness;
use super::relation::Relation;
use super::weights::{CHANGE_BIAS, CHANGE_WEIGHTS, SUBJECT_BIAS, SUBJECT_WEIGHTS};
use super::{cues, facts};

/// The similarity below which both must name something in common.
const SURE_TOPIC: f32 = 0.20;

/// The names of the features, in their order.
pub const FEATURES: [&str; 40] = [
    "similarity",
    "shared_identifiers",
    "shared_in_heads",
    "common_head_words",
    "other_value_of_a_name",
    "same_value_of_a_name",
    "other_value_of_its_unit",
    "decided_value_gone",
    "asks_for_another_value",
    "refutes_a_ticket",
    "refutes_an_explanation",
    "completes",
    "removes",
    "removal_was_asked",
    "names_what_was_before",
    "holds_from_now",
    "asks_for_a_change",
    "asks_for_a_reversal",
    "asks_about_all",
    "asks_a_question",
    "asks_for_no_change",
    "has_a_name_of_its_own",
    "keeps_what_was_decided",
    "keeps_a_name",
    "keeps_the_value",
    "says_unchanged",
    "adds",
    "same_file_elsewhere",
    "nearest_earlier",
    "nearest_later",
    "stands_out",
    "kept_identifiers",
    "new_identifiers",
    "kept_values",
    "other_values",
    "request_is_about_it",
    "is_short",
    "likeness",
    "alikest_earlier",
    "alikest_later",
];

/// What speaks for and against a change.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each decides the relation")]
pub(super) struct Evidence {
    /// Whether they are about the same at all.
    pub(super) has_topic: bool,
    /// Whether they surely are: a change is not believed otherwise.
    pub(super) is_sure_topic: bool,
    /// The features, see [`FEATURES`].
    pub(super) features: [f32; FEATURES.len()],
    shares_a_name: bool,
    /// The same identifier has another value.
    differs: bool,
    /// The decided value is gone, and the later one names another of its unit.
    other_value: bool,
    /// An explanation of the same ticket or document is corrected.
    refutes: bool,
    /// An open end is closed.
    completes: bool,
    /// Something that the decision names is removed.
    removes: bool,
    /// The same, and the human asked for it.
    reverses: bool,
    asks_reversal: bool,
}

/// What a later memory says about the values that an earlier one decided on.
struct DecidedValues {
    /// The later one has none of them.
    is_gone: bool,
    /// The later one has a value of the same unit.
    has_same_unit: bool,
    /// The human asks for a value that the earlier one does not have.
    asks_other: bool,
}

impl DecidedValues {
    fn of(older: &Parts<'_>, newer: &Parts<'_>) -> Self {
        let mut said = newer.request_values.clone();
        said.extend(newer.result_values.iter().cloned());
        let is_gone = !older.decided.is_empty() && !older.has_decided(&said);
        let mut named = newer.request_values.clone();
        named.extend(newer.head_values.iter().cloned());
        let units: BTreeSet<&str> = named.iter().map(|(_, unit)| *unit).filter(|unit| !unit.is_empty()).collect();
        let has_same_unit = older.decided.iter().any(|(_, unit)| units.contains(unit));
        let is_new = |value: &facts::Value| {
            let among = |values: &BTreeSet<facts::Value>| values.iter().any(|(other, _)| *other == value.0);
            !among(&older.request_values) && !among(&older.result_values) && among(&newer.result_values)
        };
        let asks_other = !older.decided.is_empty() && newer.request_values.iter().any(is_new);
        Self { is_gone, has_same_unit, asks_other }
    }
}

impl Evidence {
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    pub(super) fn of(older: &Parts<'_>, newer: &Parts<'_>, nearness: Nearness) -> Self {
        let similarity = nearness.similarity;
        let claims = newer.claims();
        let shared: BTreeSet<&String> = older.identifiers.intersection(&newer.identifiers).collect();
        let ticket = shared.iter().any(|name| is_ticket(name));
        let elsewhere = same_file_elsewhere(older, newer);
        let is_sure_topic = similarity >= SURE_TOPIC || shared.len() >= 2;
        // A word like `default` or `mode` is the name of many things.
        let says_of_what = |name: &str| facts::is_key(name) || (similarity >= SURE_TOPIC && shared.len() >= 2);
        let both = || {
            let assigned = older.assigned.iter().filter(|(name, _)| says_of_what(name));
            assigned.filter_map(|(name, values)| Some((values, newer.assigned.get(name)?)))
        };
        let differs = !elsewhere && both().any(|(before, after)| before.is_disjoint(after));
        let same = !differs && both().any(|(before, after)| !before.is_disjoint(after));

        let kept = Kept::of(older, newer);
        let keeps = kept.value || kept.share >= 0.25 || (kept.identifier && !differs);
        let older_text = older.text.to_lowercase();
        let own = !differs
            && newer
                .assigned
                .keys()
                .any(|name| !older_text.contains(name.as_str()) && !name.contains('/') && !is_file(name));
        let names_decision = |said: &&super::change::Said, words: usize| {
            !said.identifiers.is_disjoint(&older.identifiers) || said.words.intersection(&older.head_words).count() >= words
        };
        let removed = claims.removed.iter().filter(|said| names_decision(said, 4)).count();
        let instead =
            claims.instead.iter().filter(|said| older.has_decided(&said.values) || names_decision(said, 3)).count();
        let completes = completes(older, newer, &shared);

        let is_near = similarity >= SURE_TOPIC || !shared.is_empty();
        let has_topic = is_near || differs || ticket || nearness.is_nearest();
        let DecidedValues { is_gone: value_gone, has_same_unit: same_unit, asks_other: asks_value } =
            DecidedValues::of(older, newer);
        let common_head = older.head_words.intersection(&newer.head_words).count();
        let least_head = older.head_words.len().min(newer.head_words.len()).max(4);
        let shared_heads = older.head_identifiers.intersection(&newer.head_identifiers).count();
        let other_value = has_topic && value_gone && same_unit && !own && !keeps && !elsewhere;
        // A document says many things.
        let is_of_ticket = |name: &&&String| !is_document(name) || similarity >= SURE_TOPIC;
        let refutes = shared.iter().filter(is_of_ticket).any(|name| is_ticket(name)) && claims.is_refuted;
        let asks = claims.asks_reversal || claims.asks_change;
        let reverses = has_topic && removed > 0 && asks && !keeps && !same;
        let yes = |it: bool| f32::from(u8::from(it));
        let of_both = [
            similarity.min(0.4),
            shared.len().min(4) as f32,
            shared_heads.min(2) as f32,
            common_head as f32 / least_head as f32,
            yes(differs),
            yes(same),
            yes(other_value),
            yes(value_gone),
            yes(asks_value),
            yes(refutes),
            yes(claims.is_refuted && cues::EXPLAINS.is_match(&older.text)),
            yes(completes),
            removed.min(2) as f32,
            yes(reverses),
            instead.min(2) as f32,
            yes(claims.is_from_now),
            yes(claims.asks_change),
            yes(claims.asks_reversal),
            yes(claims.is_about_all),
            yes(claims.is_question),
            yes(claims.asks_no_change),
            yes(own),
            yes(kept.share >= 0.25),
            yes(kept.identifier && !differs),
            yes(kept.value),
            yes(claims.is_unchanged),
            claims.added.min(2) as f32,
            yes(elsewhere),
        ];
        let mut features = [0.0; FEATURES.len()];
        let all = of_both.into_iter().chain(beside_others(older, newer, nearness));
        features.iter_mut().zip(all).for_each(|(feature, value)| *feature = value);
        Self {
            has_topic,
            is_sure_topic,
            features,
            shares_a_name: !shared.is_empty(),
            differs,
            other_value,
            refutes,
            completes,
            removes: removed > 0,
            reverses,
            asks_reversal: claims.asks_reversal,
        }
    }

    /// Returns what speaks for one subject of both: above 0, more does than against it.
    pub(super) fn subject_score(&self) -> f32 {
        SUBJECT_BIAS + self.sum(&SUBJECT_WEIGHTS)
    }

    /// Returns what speaks for a change, if they have one subject.
    pub(super) fn change_score(&self) -> f32 {
        CHANGE_BIAS + self.sum(&CHANGE_WEIGHTS)
    }

    fn sum(&self, weights: &[f32; FEATURES.len()]) -> f32 {
        self.features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum()
    }

    /// Returns whether something plain says that it is a change, and not only many weak signs.
    pub(super) fn is_plain(&self) -> bool {
        let takes_back = self.reverses && self.asks_reversal && self.shares_a_name;
        self.differs || self.other_value || self.refutes || self.completes || takes_back
    }

    pub(super) fn relation(&self, older: &Parts<'_>, newer: &Parts<'_>) -> Relation {
        let has_other_value = self.differs || self.other_value;
        if self.completes && !self.differs {
            Relation::Completes
        } else if self.refutes && cues::EXPLAINS.is_match(&older.text) && !self.differs {
            Relation::Refutes
        } else if !has_other_value
            && (self.reverses || self.removes || (self.asks_reversal && cues::BACK.is_match(&newer.text)))
        {
            Relation::Reverses
        } else {
            Relation::Amends
        }
    }
}

/// Returns the last features: how the two are near each other beside all others, and what of each is in the other.
fn beside_others(older: &Parts<'_>, newer: &Parts<'_>, nearness: Nearness) -> [f32; 12] {
    let yes = |it: bool| f32::from(u8::from(it));
    let newer_values: BTreeSet<facts::Value> = newer.request_values.union(&newer.result_values).cloned().collect();
    [
        yes(nearness.is_nearest_earlier),
        yes(nearness.is_nearest_later),
        nearness.standing(),
        share(&older.head_identifiers, &newer.identifiers),
        share_new(&newer.head_identifiers, &older.identifiers),
        share(&older.head_values, &newer_values),
        yes(units_differ(&older.head_values, &newer_values)),
        share(&newer.request_words, &older.words),
        yes(newer.request_words.len() < 6),
        nearness.likeness,
        yes(nearness.is_alikest_earlier),
        yes(nearness.is_alikest_later),
    ]
}

/// Returns which share of some are among others; one half if there are none.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn share<T: Ord>(some: &BTreeSet<T>, others: &BTreeSet<T>) -> f32 {
    if some.is_empty() { 0.5 } else { some.intersection(others).count() as f32 / some.len() as f32 }
}

/// Returns which share of some are not among others; 0 if there are none.
fn share_new<T: Ord>(some: &BTreeSet<T>, others: &BTreeSet<T>) -> f32 {
    if some.is_empty() { 0.0 } else { 1.0 - share(some, others) }
}

/// Returns whether both have values of a unit, and none in common.
fn units_differ(some: &BTreeSet<facts::Value>, others: &BTreeSet<facts::Value>) -> bool {
    let of = |values: &BTreeSet<facts::Value>, unit: &str| -> BTreeSet<String> {
        values.iter().filter(|(_, of)| *of == unit).map(|(value, _)| value.clone()).collect()
    };
    let units: BTreeSet<&str> = some.iter().map(|(_, unit)| *unit).filter(|unit| !unit.is_empty()).collect();
    units.iter().any(|unit| {
        let (before, after) = (of(some, unit), of(others, unit));
        !after.is_empty() && before.is_disjoint(&after)
    })
}

/// What the later statement explicitly keeps.
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
        for said in &newer.claims().kept {
            let common = said.words.intersection(&older.head_words).count();
            kept.share = kept.share.max(common as f32 / older.head_words.len().max(4) as f32);
            let is_of_decision = |name: &String| older.head_identifiers.contains(name) || older.assigned.contains_key(name);
            kept.identifier |= said.identifiers.iter().any(is_of_decision);
            kept.value |= older.has_decided(&said.values);
        }
        kept
    }
}

/// Returns whether an open end of the earlier statement is closed.
fn completes(older: &Parts<'_>, newer: &Parts<'_>, shared: &BTreeSet<&String>) -> bool {
    if shared.is_empty() || !cues::OPEN.is_match(older.result) {
        return false;
    }
    let mut is_closed = newer.claims().is_closed;
    for sentence in newer.sentences() {
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

/// Returns whether a name denotes a ticket, an issue or a document.
fn is_ticket(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_document(name)
        || name.strip_prefix('#').is_some_and(digits)
        || name.split_once('-').is_some_and(|(letters, number)| {
            letters.len() >= 2 && letters.bytes().all(|byte| byte.is_ascii_lowercase()) && digits(number)
        })
}

/// Returns whether a name, in lower case, denotes a document.
fn is_document(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extension == "md")
}

/// Returns whether a name ends like a file's.
fn is_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| {
        (2..=4).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_lowercase())
    })
}
