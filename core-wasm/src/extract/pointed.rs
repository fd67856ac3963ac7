//! The proposal that a closing question only points to.

use crate::text;

/// How many sentences before a question may propose what it asks for.
const MAX_SENTENCES_BEFORE: usize = 6;
/// How many words such a sentence has at least. A shorter one leads to what stands below it.
const MIN_PROPOSAL_WORDS: usize = 6;
/// The maximum length of such a sentence, in bytes.
const MAX_PROPOSAL_BEFORE: usize = 220;

/// Returns the sentence that proposes what an English question only points to: "Want me to make that change?".
pub(super) fn proposal_before(question: &str, answer: &str) -> Option<String> {
    const POINTERS: [&str; 4] = ["that", "this", "these", "those"];
    const CHORES: [&str; 4] = ["commit", "push", "pr", "pull request"];
    const PROPOSES: [&str; 8] =
        ["we could", "we can", "i could", "i can", "could also", "i'd suggest", "i suggest", "i recommend"];
    let lower = question.to_lowercase();
    let points = question.is_ascii() && !question.contains('`') && text::contains_any_words(&lower, &POINTERS);
    if !points || text::contains_any_words(&lower, &CHORES) {
        return None;
    }
    let sentences = text::sentences(answer);
    let before = sentences.iter().rev().skip(1).take(MAX_SENTENCES_BEFORE);
    let proposes = |said: &&String| {
        text::contains_any_words(&said.to_lowercase().replace('’', "'"), &PROPOSES)
            && !said.ends_with('?')
            && text::features(said).len() >= MIN_PROPOSAL_WORDS
    };
    let proposal = before.into_iter().find(proposes)?;
    let proposal = proposal.trim_end_matches(':');
    let end = if proposal.ends_with(['.', '!']) { "" } else { "." };
    Some(format!("{}{end}", text::clip(proposal, MAX_PROPOSAL_BEFORE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_points_to_a_proposal() {
        let answer = "The till is slow. We could keep the rates of the tax in a table of the cart:\n\n```\nrates\n```\n\nStill small.\n\n";
        let proposed = |question: &str| proposal_before(question, &format!("{answer}{question}"));
        let proposal = "We could keep the rates of the tax in a table of the cart.";
        assert_eq!(proposed("Want me to make that change?").as_deref(), Some(proposal));
        for alone in ["Want me to commit this?", "Want me to round `total`, as in this file?", "Should I go on?"] {
            assert_eq!(proposed(alone), None, "{alone}");
        }
        assert_eq!(proposal_before("Want me to do that?", "We can do. Want me to do that?"), None, "it says nothing");
    }
}
