//! A question that somebody hangs behind a statement without a full stop: "it goes to the drawer now, where else is it?"

use crate::text;

/// How such a question begins.
const OPENINGS: &[&str] = &[
    ", where ",
    ", what ",
    ", why ",
    ", how ",
    ", which ",
    ", is there ",
    ", are there ",
    ", does ",
    ", do you ",
    ", do we ",
    ", can you ",
    ", could you ",
    ", can we ",
    ", and can you ",
    " what do we need ",
    " what do i need ",
    " what would ",
    " what do you think",
    " how do we ",
];
/// How many words a statement has at least that stands before one.
const MIN_WORDS: usize = 5;

/// Returns what a sentence states before the question at its end. The whole sentence if it asks nothing, or states nothing first.
pub(super) fn stated(sentence: &str) -> &str {
    let asks = sentence.ends_with('?') && sentence.matches('?').count() == 1;
    let at = OPENINGS.iter().filter_map(|opening| sentence.find(opening)).min().filter(|_| asks);
    let before = at.map_or(sentence, |at| &sentence[..at]);
    // "When it is shut, where does it go?" states nothing.
    let leads =
        ["when ", "if ", "so if ", "but if ", "what ", "how ", "why ", "which ", "where ", "does ", "is ", "are ", "can "];
    let lower = before.to_ascii_lowercase();
    let is_lead = leads.iter().any(|lead| lower.starts_with(lead)) || text::one_line(before).split(' ').count() < MIN_WORDS;
    if is_lead { sentence } else { before }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_behind_a_statement_is_cut_off() {
        assert_eq!(stated("the slip goes to the drawer now, where is the box used?"), "the slip goes to the drawer now");
        assert_eq!(
            stated("lets sell it as `till` instead of `cart` what do we need to do for this?"),
            "lets sell it as `till` instead of `cart`"
        );
        for whole in ["when the till is shut, where does the slip go?", "the till, what is it?", "it shuts, where we are."] {
            assert_eq!(stated(whole), whole);
        }
    }
}
