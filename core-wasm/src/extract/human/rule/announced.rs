//! Rules that are announced as such, and tools that are not to be used.

use super::records::ONCE;
use crate::text::{self, strip_apostrophes};

/// Returns whether a sentence in lower case announces a rule and says it: "standing order: never open the drawer at night".
pub(in crate::extract::human) fn announces_rule(lower: &str) -> bool {
    const MAX_LEAD_WORDS: usize = 4;
    const MIN_WORDS: usize = 3;
    const LEADS: [&str; 10] = [
        "standing order",
        "standing orders",
        "standing item",
        "standing rule",
        "standing rules",
        "standing instruction",
        "standing instructions",
        "ground rule",
        "ground rules",
        "house rules",
    ];
    // "The bank's standing orders: 3 of 5 failed" are somebody else's, or things.
    const OTHERS: [&str; 7] = ["their", "his", "her", "its", "your", "old", "no"];
    lower.split_once(':').is_some_and(|(lead, rule)| {
        let lead = lead.trim();
        let is_own = !lead.contains("'s ") && !text::contains_any_words(lead, &OTHERS);
        let is_thing = rule.trim_start().starts_with(|c: char| c.is_ascii_digit()) || rule.trim_end().ends_with('?');
        lead.split_whitespace().count() <= MAX_LEAD_WORDS
            && LEADS.iter().any(|it| lead.strip_suffix(it).is_some_and(|before| before.is_empty() || before.ends_with(' ')))
            && is_own
            && !is_thing
            && rule.split_whitespace().count() >= MIN_WORDS
    })
}

/// Returns whether a short sentence in lower case forbids a tool by its name: "don't use the `till` command", "till は使わないで". What
/// else is not used, such as a colour, is of one step.
pub(super) fn forbids_tool(lower: &str) -> bool {
    const MAX_CHARS: usize = 32;
    const WIDE_BANS: [&str; 12] = [
        "は使わないで",
        "は使わないでください",
        "は使うな",
        "は使用しないで",
        "은 쓰지 마",
        "는 쓰지 마",
        "은 쓰지마",
        "는 쓰지마",
        "은 사용하지 마",
        "는 사용하지 마",
        "은 사용하지마",
        "는 사용하지마",
    ];
    let said = lower.trim().trim_end_matches(['.', '!', '。', '！']);
    if said.chars().count() > MAX_CHARS || text::contains_any_words(&format!(" {said} "), ONCE) {
        return false;
    }
    let wide = WIDE_BANS.iter().find_map(|ban| said.strip_suffix(ban));
    let wide = wide.or_else(|| ["不要用", "别用", "不要使用"].iter().find_map(|ban| said.strip_prefix(ban)));
    let is_letter = |c: char| c.is_ascii_alphabetic();
    wide.is_some_and(|name| name.trim_start().starts_with(is_letter)) || forbids_in_english(said)
}

/// Returns whether an English sentence in lower case forbids a command, a program or what has the form of a name.
fn forbids_in_english(said: &str) -> bool {
    const MAX_NAME_WORDS: usize = 4;
    const KINDS: [&str; 5] = ["command", "commands", "cli", "tool", "mcp"];
    let said = strip_apostrophes(said);
    let lead = ["hey ", "please ", "and ", "also "].iter().find_map(|lead| said.strip_prefix(lead)).unwrap_or(&said);
    let ban = ["dont use ", "do not use ", "never use ", "stop using "].iter().find_map(|ban| lead.strip_prefix(ban));
    let Some(name) = ban.map(|rest| rest.trim_start_matches("the ")) else { return false };
    let is_name = |word: &str| word.starts_with('`') || word.trim_end_matches('.').contains('.');
    let words: Vec<&str> = name.split_whitespace().collect();
    let is_kind = words.len() > 1 && words.last().is_some_and(|last| KINDS.contains(last));
    words.len() <= MAX_NAME_WORDS && (is_kind || (words.len() == 1 && is_name(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_may_be_announced() {
        for said in [
            "standing orders: never open the drawer at night, coins go in by the slot only.",
            "new standing item: at the start of ever new day, count the coins",
            "ground rules: count twice, close once",
        ] {
            assert!(announces_rule(said), "{said}");
        }
        for said in [
            "standing by: the till of the night",
            "the coin was standing: on its edge",
            "standing order: no",
            "the shop's house rules: never tip the clerk",
            "their ground rules: never tip the clerk",
            "standing orders table: till, coin, slip",
            "standing orders: 3 of 5 failed at night",
            "standing order: should we never open it?",
        ] {
            assert!(!announces_rule(said), "{said}");
        }
    }

    #[test]
    fn a_tool_is_forbidden_by_its_name() {
        for said in [
            "tillコマンドは使わないで。",
            "till cli は使わないで。",
            "till는 쓰지 마",
            "不要用till",
            "don't use the till command",
            "hey dont use till.example",
            "please do not use `till`.",
        ] {
            assert!(forbids_tool(said), "{said}");
        }
        for said in [
            "引き出しは使わないで",
            "ここでは till は使わないで",
            "don't use red here",
            "don't use this command",
            "do we still not use the till command?",
            "don't use more than three drawers for the slip",
        ] {
            assert!(!forbids_tool(said), "{said}");
        }
    }
}
