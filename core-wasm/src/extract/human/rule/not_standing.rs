//! What sounds like a rule and is none: what is for once, what is only discussed, and how something is.

use super::ways::WORK;
use crate::text;

/// "It never finishes" describes what happens. A rule addresses the agent or speaks of "we".
const DESCRIPTIONS: [&str; 47] = [
    " it never",
    " it always",
    " will never",
    " will also never",
    " would never",
    " could never",
    " can never",
    " is never",
    " is always",
    " was never",
    " are never",
    " are always",
    " i never",
    " i always get",
    " still always",
    " has never",
    " have never",
    " they never",
    " never mind",
    " nevermind",
    " does it always",
    " not always",
    " they always",
    " never been ",
    " always been ",
    " assuming we ",
    " assumed we ",
    " thought we ",
    " interested in ",
    " let's think ",
    " lets think ",
    " let's discuss ",
    " think about how ",
    " think how ",
    " can always",
    " could always",
    " would always",
    " don't always",
    " doesn't always",
    " don't never",
    " as if ",
    " as though ",
    " in the future state",
    " in the future version",
    " let's fix ",
    " lets fix ",
    " how can we ",
];

/// Returns whether a sentence in lower case speaks of today, of an example, or of one thing.
pub(super) fn is_for_once(lower: &str) -> bool {
    // How something is done today is no rule for tomorrow, nor is an example of what was said before it.
    const OPENINGS: [&str; 7] =
        [" right now", " currently", " at the moment", " today ", " like there ", " like it ", " in that case"];
    // "Let's stick to it but just move it" settles one thing.
    let steers = || text::contains_any(lower, &[" let's ", " just ", " i guess ", " for now"]);
    OPENINGS.iter().any(|opening| lower.starts_with(opening)) || (lower.contains(" stick to ") && steers())
}

/// Returns whether a sentence in lower case asks for something, or is not decided yet.
pub(super) fn is_discussed(lower: &str) -> bool {
    const OPENINGS: [&str; 7] =
        [" question", " one question", " i wonder", " can we ", " could we ", " maybe we ", " potentially"];
    OPENINGS.iter().any(|opening| lower.starts_with(opening)) || is_undecided(lower) || ponders(lower)
}

/// Returns whether a sentence in lower case leaves open what is to be, or only wants to be told something: "there has to be a decision
/// on whether …", "before you go on, clarify that …".
pub(in crate::extract::human) fn is_undecided(lower: &str) -> bool {
    const OPEN: [&str; 5] = ["whether", "theoretically", "in theory", "decision on", "to validate this"];
    const TELLS: [&str; 3] = ["clarify", "explain", "confirm whether"];
    let clauses = || lower.split([',', ';', ':']).map(str::trim_start);
    text::contains_any_words(lower, &OPEN)
        || clauses().any(|clause| TELLS.iter().any(|verb| text::starts_with_words(clause, verb)))
}

/// Returns whether a sentence in lower case wants a way to be thought of: "reflect on the keys and how we can mend them".
fn ponders(lower: &str) -> bool {
    lower.contains(" how we can ")
        && text::contains_any_words(lower, &["reflect", "think", "see", "discuss", "consider", "figure out"])
}

/// Returns whether a sentence in lower case says how something is, or what a text or the product has to be like.
pub(super) fn is_description(lower: &str) -> bool {
    text::contains_any(lower, &DESCRIPTIONS)
        || remarks_on_text(lower)
        || demands_of_product(lower)
        || describes_habit(lower)
        || tells_past(lower)
}

/// Returns whether a sentence in lower case says how a text reads, which is for that text only.
pub(in crate::extract::human) fn remarks_on_text(lower: &str) -> bool {
    text::contains_any_words(lower, &["still reads", "still sounds", "reads like", "reads as if", "sounds as if"])
}

/// Returns whether an English sentence in lower case demands something of the product, which ends with the task: "it should open
/// the last cart every time".
pub(in crate::extract::human) fn demands_of_product(lower: &str) -> bool {
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let lead = words.iter().take_while(|word| ["also", "and", "but", "so", "then", "ok", "okay"].contains(word)).count();
    let words = &words[lead..];
    let is_demand = |at: &usize| {
        let next = words.get(at + 1).copied();
        matches!(words[*at], "should" | "shouldn't" | "shouldnt")
            || (matches!(words[*at], "needs" | "has") && next == Some("to"))
    };
    let demand = (0..words.len().min(6)).find(is_demand);
    let is_subject = match (words.first().copied(), demand) {
        (Some("it" | "they"), Some(1)) => true,
        (Some("the"), Some(at)) => at >= 2,
        _ => false,
    };
    let person = ["you", "your", "i", "we", "please"].iter().any(|word| words.contains(word));
    is_subject && !person && !text::contains_any_words(lower, WORK)
}

/// Returns whether an English sentence in lower case says what something does each time: "always calls". An order has the verb
/// without an ending.
fn describes_habit(lower: &str) -> bool {
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let verb = pair[1].trim_end_matches(|c: char| !c.is_alphanumeric());
        matches!(pair[0], "always" | "never" | "constantly")
            && verb.len() > 3
            && verb.ends_with('s')
            && !verb.ends_with("ss")
    })
}

/// Returns whether an English sentence in lower case says what something did: "never really worked".
fn tells_past(lower: &str) -> bool {
    let words: Vec<&str> = lower.split_whitespace().collect();
    (0..words.len()).filter(|at| matches!(words[*at], "always" | "never")).any(|at| {
        let verb = words[at + 1..].iter().find(|word| !word.ends_with("ly")).copied().unwrap_or_default();
        let verb = verb.trim_end_matches(|c: char| !c.is_alphanumeric());
        verb.len() > 4 && verb.ends_with("ed") && !matches!(verb, "need" | "embed" | "exceed" | "proceed" | "succeed")
    })
}

/// Returns a sentence in lower case without what it only wants something for: "build a skill that makes sure whenever …", "… so that
/// these need not be made every time".
pub(super) fn without_purpose(lower: &str) -> &str {
    const PURPOSES: [&str; 5] = [" so that ", " that makes sure", " which makes sure", " that ensures ", " which ensures "];
    PURPOSES.iter().filter_map(|words| lower.find(words)).min().map_or(lower, |at| &lower[..at])
}

/// Returns whether what stands before "we use" in lower case is the thing that is used: "the colors of the drawer we use". Where or for
/// what something is used may stand there, too: "in this shop we use".
fn names_thing(before: &str) -> bool {
    const LEADS: [&str; 12] =
        ["and", "also", "but", "so", "because", "since", "as", "note", "know", "remember", "here", "now"];
    const PLACES: [&str; 8] = ["in", "for", "on", "at", "with", "to", "when", "if"];
    let clause = before.rsplit([',', ';', ':', '.', '(', '—']).next().unwrap_or_default();
    let words: Vec<&str> = clause.split_whitespace().skip_while(|word| LEADS.contains(word)).collect();
    words.first().is_some_and(|first| !PLACES.contains(first)) && words.last().is_some_and(|last| !LEADS.contains(last))
}

/// Returns whether the clause of a sign depends on another one or asks: "the branches where we use it", "can we use it".
pub(super) fn is_dependent(lower: &str, sign: &str) -> bool {
    const BEFORE: [&str; 17] = [
        "where", "which", "that", "how", "when", "what", "why", "if", "can", "could", "should", "shall", "do", "did",
        "before", "until", "whether",
    ];
    let before = |at: usize| lower[..at].split_whitespace().next_back().unwrap_or_default();
    lower.match_indices(sign).all(|(at, _)| BEFORE.contains(&before(at)) || names_thing(&lower[..at]))
}
