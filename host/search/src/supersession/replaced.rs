//! Values that a statement says were replaced: "refunds: 7 → 14 days", "raised from 20 to 50 MB", "7일에서 14일로", "20件から50件に".
//!
//! Nothing else says so plainly what holds no longer. But the earlier statement may say other things too, and those hold, so such a
//! statement only puts the earlier one in doubt.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::LazyLock;

use regex::Regex;

use super::cues;
use super::facts::{self, Value, compiled};

/// How many words, beside the values, the two sentences must have in common.
const MIN_SHARED: usize = 2;

/// How many replaced values of one text count.
const MAX_REPLACED: usize = 8;

/// How many sentences may name a value, so that it says something.
const MAX_SAID: usize = 200;

/// Two numbers with an arrow between them, and the unit of the second one.
static ARROW: LazyLock<Regex> =
    LazyLock::new(|| compiled(&format!(r"({NUMBER})\s*({UNIT})?\s*(?:→|⇒|->|=>)\s*({NUMBER})\s*({UNIT})")));

/// "Raised from 20 to 50 MB". Without a word that says so, it may be a range: "it takes from 7 to 14 days".
static FROM_TO: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(
        r"(?i)\b(?:chang|rais|lower|increas|decreas|extend|reduc|shorten|cut|bump|mov|went|go|updat|set|switch|doubl|halv)\w*\b[^.;:]{{0,40}}? from ({NUMBER})\s*({UNIT})? to ({NUMBER})\s*({UNIT})"
    ))
});

/// "7일에서 14일로", "20件から50件に". A range ends with 까지 and まで.
static KOREAN_OR_JAPANESE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(
        r"({NUMBER})\s*([가-힣]{{1,3}}?|%|[A-Za-z]+)?\s?에서\s*({NUMBER})\s*([가-힣]{{1,3}}?|%|[A-Za-z]+)(?:으)?로|({NUMBER})\s*([\p{{Han}}ヶか]{{1,3}}|%|[A-Za-z]+)?から\s*({NUMBER})\s*([\p{{Han}}ヶか]{{1,3}}|%|[A-Za-z]+)[にへ]"
    ))
});

const NUMBER: &str = r"[0-9][0-9.,_]*[0-9]|[0-9]";
const UNIT: &str = r"%|[A-Za-z]+|[가-힣]+|[\p{Han}か]+";

/// That a value was replaced.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Replaced {
    before: Value,
    after: Value,
    /// The words of its sentence.
    words: BTreeSet<String>,
}

impl Replaced {
    /// Returns what a text says was replaced. Only values with a unit that is known count: "step 1 → 2" replaces nothing. A change that
    /// was only proposed, refused or undone is none.
    pub(super) fn all_in(text: &str) -> Vec<Self> {
        if !["→", "⇒", "->", "=>", " from ", "에서", "から"].iter().any(|sign| text.contains(sign)) {
            return Vec::new();
        }
        let sentences = facts::sentences(text).into_iter().filter(|said| !cues::NOT_DONE.is_match(said));
        sentences.flat_map(Self::in_sentence).take(MAX_REPLACED).collect()
    }

    fn in_sentence(sentence: &str) -> Vec<Self> {
        let all = [&*ARROW, &*FROM_TO, &*KOREAN_OR_JAPANESE].into_iter().flat_map(|form| form.captures_iter(sentence));
        all.filter_map(|found| {
            // The last form has the groups of one language, and then those of the other.
            let first = if found.get(1).is_some() { 1 } else { 5 };
            let part = |at: usize| found.get(first + at).map_or("", |it| it.as_str());
            let unit = facts::unit(part(3));
            let unit_before = if part(1).is_empty() { unit } else { facts::unit(part(1)) };
            let (before, after) = ((facts::number(part(0)), unit_before), (facts::number(part(2)), unit));
            let is_change = !unit.is_empty() && unit == unit_before && before != after;
            is_change.then(|| Self { words: words_beside(sentence, [&before, &after]), before, after })
        })
        .collect()
    }

    /// Returns the texts of which a sentence gives the value that was replaced to the same thing, by their places.
    pub(super) fn said_in<'v>(&'v self, values: &'v SaidValues<'_>) -> impl Iterator<Item = usize> + 'v {
        let with = values.sentences.get(&self.before).into_iter().flatten();
        let says = |it: &&Said<'_>| {
            !it.values.contains(&self.after)
                && self.words.intersection(&words_beside(it.sentence, [&self.before, &self.after])).count() >= MIN_SHARED
        };
        with.filter(says).map(|it| it.text)
    }
}

/// A sentence that names values.
struct Said<'t> {
    /// The place of its text.
    text: usize,
    sentence: &'t str,
    values: Rc<BTreeSet<Value>>,
}

/// The sentences of many texts by the values with a unit that they name.
#[derive(Default)]
pub(super) struct SaidValues<'t> {
    sentences: HashMap<Value, Vec<Said<'t>>>,
}

impl<'t> SaidValues<'t> {
    /// Reads the texts, given with their places.
    pub(super) fn of(texts: impl Iterator<Item = (usize, &'t str)>) -> Self {
        let mut sentences: HashMap<Value, Vec<Said<'t>>> = HashMap::new();
        for (text, content) in texts {
            for sentence in facts::sentences(content) {
                let values = Rc::new(facts::values(sentence));
                for value in values.iter().filter(|(_, unit)| !unit.is_empty()) {
                    let said = Said { text, sentence, values: Rc::clone(&values) };
                    sentences.entry(value.clone()).or_default().push(said);
                }
            }
        }
        // A value that everything has says nothing, and to compare all would take too long.
        sentences.retain(|_, said| said.len() <= MAX_SAID);
        Self { sentences }
    }
}

/// Returns the words of a sentence without those values, their units, and what is too short to name anything.
fn words_beside(sentence: &str, values: [&Value; 2]) -> BTreeSet<String> {
    let mut words = facts::words(sentence);
    words.retain(|word| {
        let is_number = word.starts_with(|first: char| first.is_ascii_digit());
        let is_value = values.iter().any(|(number, _)| number == word);
        if is_number { !is_value } else { word.chars().nth(1).is_some() && facts::unit(word).is_empty() }
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaces(later: &str, earlier: &str) -> bool {
        let values = SaidValues::of([(7, earlier)].into_iter());
        Replaced::all_in(later).iter().any(|it| it.said_in(&values).any(|text| text == 7))
    }

    #[test]
    fn a_replaced_value_is_found_in_an_earlier_text() {
        for (later, earlier) in [
            (
                "§10: slips can be returned for 14 days. Return window of slips: 7 → 14 days.",
                "The return window of a slip is 7 days.",
            ),
            (
                "Raised the drawer's upload limit from 20 to 50 MB.",
                "The drawer has an upload limit of 20 MB; larger slips get 413.",
            ),
            ("전표 반품 기간을 7일에서 14일로 늘렸습니다.", "전표 반품 기간은 7일입니다."),
            ("제10조: 전표 반품 기간 7일→14일", "제10조 전표 철회 및 반품 (7일 이내 철회)"),
            ("引き出しの明細の上限を20回から50回に変更しました。", "引き出しの明細の上限は20回です。"),
        ] {
            assert!(replaces(later, earlier), "{later}");
        }
    }

    #[test]
    fn another_thing_with_the_same_value_is_not_meant() {
        let later = "Return window of slips: 7 → 14 days.";
        for earlier in [
            "The night shift of the till takes 7 days.",
            "The return window of slips is 14 days, not 7 days.",
            "The return window of slips is 7 hours.",
            "The return window of slips is 30 days.",
        ] {
            assert!(!replaces(later, earlier), "{earlier}");
        }
    }

    #[test]
    fn a_range_a_step_and_a_flow_replace_nothing() {
        for said in [
            "A return of slips takes from 7 to 14 days.",
            "Slips go from step 1 → 2.",
            "전표는 7일에서 14일까지 걸립니다.",
            "`drawer` → `till` → `slip`",
            "The slip 7 → 7 days.",
        ] {
            assert_eq!(Replaced::all_in(said), [], "{said}");
        }
    }

    #[test]
    fn what_was_not_done_replaces_nothing() {
        for said in [
            "Ann proposes to raise the upload limit of the drawer from 20 to 50 MB.",
            "We did not change the upload limit of the drawer from 20 to 50 MB.",
            "The upload limit of the drawer, 20 → 50 MB, is undone again.",
            "Shall I raise the upload limit of the drawer from 20 to 50 MB?",
            "전표 반품 기간을 7일에서 14일로 늘리지 않았습니다.",
            "引き出しの明細の上限を20回から50回に変更しませんでした。",
        ] {
            assert_eq!(Replaced::all_in(said), [], "{said}");
        }
    }

    #[test]
    fn many_texts_with_one_value_are_read_once() {
        let texts: Vec<String> = (0..2_000).map(|slip| format!("The return window of slip {slip} is 7 days.")).collect();
        let values = SaidValues::of(texts.iter().map(String::as_str).enumerate());
        let replaced = Replaced::all_in("The return window of slips: 7 → 14 days.");
        assert_eq!(replaced[0].said_in(&values).count(), 0, "a value of all texts says nothing");
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_read(later in "[0-9a-z가-힣日 →.;]{0,60}", earlier in "\\PC{0,60}") {
            let _ = replaces(&later, &earlier);
        }
    }
}
