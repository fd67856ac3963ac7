//! Sentences that lean on the one before them, or on their reader.

use crate::text;

/// Openings of a sentence that says little without the one before it.
const LEANING: &[&str] = &[
    "most ",
    "some ",
    "many ",
    "both ",
    "each ",
    "neither ",
    "none ",
    "all of ",
    "when ",
    "then ",
    "so ",
    "now ",
    "instead",
    "otherwise",
    "therefore",
    "thus",
    "hence",
    "the rest",
    "the others",
    "the other ",
    "그래서",
    "따라서",
    "그러면",
    "そのため",
    "したがって",
    "つまり",
    "所以",
    "因此",
];

/// Returns whether a text in lower case speaks to its reader.
pub(in crate::extract) fn addresses_reader(lower: &str) -> bool {
    // What is quoted may be a text of the product.
    let lower: String = lower.replace(['“', '”', '`'], "\"").split('"').step_by(2).collect();
    text::contains_any_words(&lower, &["you", "your", "you're", "you'll", "you've", "you'd", "yours"])
}

/// Openings of a sentence about several things that were named before it.
const PLURALS: &[&str] = &[
    "two are ",
    "three are ",
    "all but one ",
    "meanwhile",
    "if that ",
    "it also ",
    "each ",
    "both ",
    "these ",
    "those ",
    "they ",
    "all three ",
    "all four ",
    "all of ",
    "neither ",
    "the latter",
    "the former",
    "이들",
    "각각",
    "それぞれ",
    "いずれも",
    "它们",
    "这些",
];

/// Returns whether a sentence in lower case speaks of several things that were named before it.
pub(in crate::extract) fn speaks_of_named_before(lower: &str) -> bool {
    PLURALS.iter().any(|opening| lower.starts_with(opening))
}

/// Returns whether a sentence in lower case says something of the fact that only the sentence before it tells: "This was by chance".
pub(in crate::extract) fn speaks_of_fact_before(lower: &str) -> bool {
    const OPENINGS: [&str; 7] =
        ["this was ", "this is ", "this means ", "this happens ", "this happened ", "that was ", "that's why "];
    OPENINGS.iter().any(|opening| lower.starts_with(opening))
}

/// Returns whether a sentence in lower case refers by its first word to the sentence before it.
pub(in crate::extract) fn leans_on_sentence_before(lower: &str) -> bool {
    LEANING.iter().any(|opening| lower.starts_with(opening))
}

/// Returns whether a sentence in lower case says what something does or is that only the sentence before it names. "It" certainly points
/// there in an item of a list.
pub(crate) fn begins_with_pronoun(lower: &str, is_item: bool) -> bool {
    let lower = lower.replace('’', "'");
    let starts = |words: &[&str]| words.iter().any(|word| text::starts_with_words(&lower, word));
    starts(&["this"]) || (is_item && starts(&["it", "it's", "its", "that"]))
}
