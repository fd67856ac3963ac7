//! The words with which a sentence settles something, or asks for something to be so.

use crate::text;

/// Words before a ruling that settle nothing themselves.
const LEADS: &[&str] = &[
    "yes",
    "yeah",
    "yep",
    "ok",
    "okay",
    "and",
    "also",
    "but",
    "so",
    "then",
    "hmm",
    "oh",
    "ah",
    "actually",
    "maybe",
    "perhaps",
    "well",
    "right",
    "sure",
    "great",
    "good",
    "all good",
    "looks good",
    "no",
    "nah",
    "for now",
    "thinking again",
    "i think that",
    "i think",
    "i feel",
    "in that case",
    "please",
    "just",
    "now",
];

/// Verbs that settle how something is to be, behind "let's", "we should" and "can we".
const SETTLING_VERBS: &[&str] = &[
    "use",
    "reuse",
    "re-use",
    "keep",
    "drop",
    "skip",
    "rename",
    "call",
    "name",
    "limit",
    "cap",
    "leave",
    "avoid",
    "stick",
    "stay",
    "default",
    "hide",
    "get rid of",
    "ignore",
    "exclude",
    "share",
    "consolidate",
    "not",
    "only",
    "put",
    "treat",
    "separate",
    "split",
    "switch",
    "go for",
    "go with",
    "set",
    "store",
    "log",
    "allow",
    "require",
    "rely",
    "postpone",
    "defer",
    "make",
    "have",
    "move",
    "replace",
    "remove",
];

/// Verbs of that list that also ask for a plain change, so that a question with them settles something only with a limit beside it.
const PLAIN_VERBS: &[&str] = &[
    "make", "have", "move", "replace", "remove", "set", "put", "change", "take", "get", "return", "log", "split", "store",
    "show", "hide", "allow", "leave", "switch", "skip",
];

/// Verbs of a step that only looks at something.
const READS: &[&str] =
    &["look", "check", "see", "read", "talk", "discuss", "think", "try", "test", "run", "review", "compare"];

/// Adverbs between such an opening and its verb.
const ADVERBS: &[&str] = &[
    "just ",
    "rather ",
    "maybe ",
    "also ",
    "please ",
    "completely ",
    "now ",
    "then ",
    "simply ",
    "still ",
    "instead ",
    "always ",
];

/// Openings of a sentence that rules something out or in.
const OPENINGS: &[&str] = &[
    "we dont need",
    "we do not need",
    "we dont want",
    "we do not want",
    "i dont want",
    "i do not want",
    "no need for",
    "no need to have",
    "we shouldnt",
    "we should not",
    "id prefer",
    "id rather",
    "id personally prefer",
    "i would prefer",
    "i would rather",
    "keep",
    "leave",
    "use",
    "only",
    "make it",
    "call it",
    "name it",
    "default to",
    "stick to",
    "stick with",
];

/// Signs of a limit or of a preference: "can we just make it one?"
pub(super) const LIMITS: &[&str] =
    &["instead", "rather than", "just", "only", "not", "dont", "without", "by default", "same", "to be", "always"];

/// Openings of questions that ask for something to be so.
pub(super) const ASKS: &[&str] = &[
    "can we",
    "could we",
    "cant we",
    "couldnt we",
    "we can",
    "we could",
    "should we",
    "shouldnt we",
    "shall we",
    "can you",
    "could you",
    "why not",
    "why dont we",
    "any chance we can",
];

/// Returns whether a sentence in lower case, without what leads to it, begins as a ruling.
pub(super) fn opens_ruling(bare: &str) -> bool {
    settles(bare) || OPENINGS.iter().any(|it| text::starts_with_words(bare, it))
}

/// Returns whether a sentence in lower case, without what leads to it, says what is to be: "let's keep it", "I want only one".
pub(super) fn settles(bare: &str) -> bool {
    let limits = |rest: &str| text::contains_any_words(rest, LIMITS);
    let settles = behind(bare, &["lets", "let us", "we should", "we want to", "i would", "id"]).is_some_and(|rest| {
        let opens = |verbs: &[&str]| verbs.iter().any(|it| text::starts_with_words(rest, it));
        let replaces = !opens(READS) && text::contains_any_words(rest, &["instead of", "rather than"]);
        let goes_to_value = rest.strip_prefix("go ").is_some_and(|value| value.starts_with(|c: char| c.is_ascii_digit()));
        goes_to_value || replaces || opens(SETTLING_VERBS) || (opens(PLAIN_VERBS) && limits(rest))
    });
    let wants = behind(bare, &["i want", "id like", "i would like"]).is_some_and(limits);
    settles || wants
}

/// Returns whether a sentence asks for something to be so. `bare` is the sentence in lower case, without what leads to it. What weighs
/// two ways asks for none.
pub(super) fn asks_for(bare: &str, sentence: &str) -> bool {
    if text::contains_words(bare, "or") || sentence.to_lowercase().starts_with("hmm") {
        return false;
    }
    let Some(verb) = behind(bare, ASKS) else { return false };
    let opens = |verbs: &[&str]| verbs.iter().any(|it| text::starts_with_words(verb, it));
    let has_limit = || text::contains_any_words(bare, LIMITS);
    (opens(SETTLING_VERBS) && !opens(PLAIN_VERBS)) || (opens(PLAIN_VERBS) && has_limit())
}

/// Returns what stands behind one of the openings, and behind adverbs after it.
pub(super) fn behind<'a>(bare: &'a str, openings: &[&str]) -> Option<&'a str> {
    let opening = openings.iter().find(|it| text::starts_with_words(bare, it))?;
    let mut rest = bare[opening.len()..].trim_start();
    while let Some(adverb) = ADVERBS.iter().find(|adverb| rest.starts_with(**adverb)) {
        rest = rest[adverb.len()..].trim_start();
    }
    Some(rest)
}

/// Returns a sentence in lower case without the words that lead to what it settles.
pub(in crate::extract::human) fn without_leads(lower: &str) -> &str {
    let mut rest = lower;
    while let Some(lead) = LEADS.iter().find(|lead| text::starts_with_words(rest, lead)) {
        let after = rest[lead.len()..].trim_start_matches(|c: char| !c.is_alphanumeric());
        if after.is_empty() {
            break;
        }
        rest = after;
    }
    rest
}
