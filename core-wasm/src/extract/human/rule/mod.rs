//! Standing rules: what the user wants done in every later session.

mod addressed;
mod announced;
mod ban;
mod language;
mod not_standing;
mod quoted;
mod records;
mod ways;

use self::addressed::is_addressed;
pub(super) use self::announced::announces_rule;
use self::announced::forbids_tool;
pub(in crate::extract) use self::ban::short_bans;
use self::language::tells_language;
pub(super) use self::not_standing::{demands_of_product, is_undecided, remarks_on_text};
use self::not_standing::{is_dependent, is_description, is_discussed, is_for_once, without_purpose};
use self::quoted::{is_reported, without_quoted};
pub(super) use self::quoted::{outside, quotations};
use self::records::{
    forbids_record, is_naming_rule, is_reasoned_convention, keeps_later_records, tells_what_is_committed,
    tells_working_habit,
};
use self::ways::{is_lasting_demand, is_reasoned_prohibition, tells_practice, tells_way_of_working};
use super::undecided::asks_unmarked;
use crate::text;

/// Signs of a standing rule. ASCII signs must be whole words. In scripts without spaces, a sign may occur anywhere.
const RULE_SIGNS: &[&str] = &[
    "always",
    "never",
    "from now on",
    "in the future",
    "going forward",
    "every time",
    "whenever you",
    "i prefer",
    "we prefer",
    "as a rule",
    "don't ever",
    "do not ever",
    "make sure to always",
    "make sure you always",
    "remember to",
    "we use",
    "we don't use",
    "we also use",
    "we only use",
    "on every run",
    "on every commit",
    "on each run",
    "each time",
    "we always",
    "we never",
    "our convention",
    "must always",
    "must never",
    "stick to",
    "stop using",
    "my preference",
    "my philosophy",
    "better not",
    "i'd rather",
    "i would rather",
    "please avoid",
    "only ever",
    "항상",
    "절대",
    "앞으로",
    "언제나",
    "매번",
    "반드시",
    "기억해",
    "규칙",
    "いつも",
    "常に",
    "必ず",
    "今後",
    "これから",
    "絶対",
    "毎回",
    "覚えて",
    "ルール",
    "总是",
    "永远",
    "以后",
    "今后",
    "每次",
    "务必",
    "必须",
    "绝对不",
    "记住",
    "一律",
];

/// Returns whether a sentence is a standing rule.
pub(in crate::extract) fn is_rule(sentence: &str) -> bool {
    let length = sentence.chars().count();
    // What is quoted is not said.
    let sentence = without_quoted(sentence);
    let sentence = sentence.as_str();
    let lower = format!(" {} ", sentence.to_lowercase().replace('’', "'"));
    if is_reported(&lower) {
        return false;
    }
    // A comment in pasted code is nobody's rule.
    if ["//", "/*", "<!--"].iter().any(|mark| sentence.trim_start().starts_with(mark)) {
        return false;
    }
    if tells_language(&lower) || tells_what_is_committed(&lower) || forbids_tool(&lower) || announces_rule(&lower) {
        return true;
    }
    if length < if sentence.is_ascii() { 16 } else { 7 } || length > 400 || sentence.ends_with(['?', '？']) {
        return false;
    }
    if asks_unmarked(sentence) {
        return false;
    }
    if sentence.contains("? ") || is_for_once(&lower) || is_discussed(&lower) || is_description(&lower) {
        return false;
    }
    if keeps_later_records(lower.trim())
        || tells_practice(&lower)
        || tells_way_of_working(&lower)
        || tells_working_habit(&lower)
    {
        return true;
    }
    is_addressed(sentence, &lower)
        && (has_sign(&lower)
            || is_reasoned_prohibition(&lower)
            || forbids_record(&lower)
            || is_naming_rule(&lower)
            || is_reasoned_convention(&lower)
            || is_lasting_demand(without_purpose(&lower)))
}

/// Returns whether a sentence in lower case has a sign of a standing rule.
fn has_sign(lower: &str) -> bool {
    let said = without_purpose(lower);
    let uses = |sign: &str| sign.starts_with("we ") && is_dependent(said, sign);
    RULE_SIGNS.iter().any(|rule| text::contains_words(said, rule) && !uses(rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_keeps_the_commits_for_later_gives_a_rule() {
        for said in ["Next time you paint the till, let me commit.", "from now on I'll push it myself, so don't push"] {
            assert!(is_rule(said), "{said}");
        }
        for said in [
            "let me commit this one first",
            "next time the till may commit twice",
            "will the till let me commit from now on?",
        ] {
            assert!(!is_rule(said), "{said}");
        }
    }

    #[test]
    fn what_is_left_open_or_asked_is_no_rule() {
        for said in [
            "There needs to be a decision on whether we should stick to the old till",
            "before you close it, clarify that the night till should never be counted",
            "It should build a list of things we should know whenever the till rings, and read it in the script",
            "The easiest thing, theoretically, would be to always use the till of the day before",
        ] {
            assert!(!is_rule(said), "{said}");
        }
        assert!(is_rule("we should never count the night till") && is_rule("from now on, tell me the total first"));
    }

    #[test]
    fn what_is_asked_for_once_is_no_rule() {
        for said in [
            "create a skill for the till that makes sure, whenever we add a drawer, to make sure the list is updated",
            "as a suggestion, put all coins in the test, so that these don't need to be counted every time",
            "the last drawer that was opened should have our colors as well so that it's always right",
            "in that case, I would only open the day till and never the night till",
            "You can say the same for the colors we use in the night till",
        ] {
            assert!(!is_rule(said), "{said}");
        }
        for said in [
            "in this shop we use wooden drawers only",
            "we use wooden drawers, so that nothing rings",
            "please note we use wooden drawers",
            "for night-tills we use wooden drawers only",
            "whenever we add a drawer, make sure the list is updated",
        ] {
            assert!(is_rule(said), "{said}");
        }
    }
}
