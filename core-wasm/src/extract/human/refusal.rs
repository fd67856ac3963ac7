//! What the user's reason for a refusal wants in the place of what was refused.

use super::consent::asks_record;
use super::pasted::{looks_pasted, own_words};
use super::rule::is_rule;
use super::ruling::{MAX_RULINGS, Ruling, STEPS, names_option_only, without_leads};
use crate::text::{self, strip_apostrophes};

/// Openings of what the user wants in the place of what was refused.
const REPLACEMENTS: &[&str] = &[
    "use",
    "merge from",
    "rebase on",
    "rebase onto",
    "base it on",
    "branch off",
    "target",
    "put it",
    "put this",
    "put them",
    "break out",
    "break it out",
    "split out",
    "prefer",
    "pull it out",
];
/// Verbs with which the user says how a text or a plan is to be. "Show", "let", "have", "call" and "set" mostly begin the next step.
const DESIGN_VERBS: &[&str] = &[
    "make", "add", "define", "drop", "remove", "put", "move", "name", "rename", "keep", "pass", "return", "replace", "use",
    "split", "merge", "print", "render", "include", "exclude", "leave", "allow", "limit", "share", "reuse", "store",
    "inline", "extract",
];
/// Words of whoever speaks to the agent about the course of the work, and not of what is refused.
const COURSES: &[&str] = &["you", "me", "i", "stop", "wait", "carry on", "go on", "continue", "todo"];
/// The maximum length of such an answer, in characters.
const MAX_REPLACEMENT_CHARS: usize = 160;

/// Returns what the reason for a refusal puts in the place of what was refused, in one sentence: "merge from the branch `till`". A step
/// that only comes first does not.
pub(in crate::extract) fn replacement(reason: &str) -> Option<Ruling> {
    let said = reason.trim();
    let lower = strip_apostrophes(&text::plain(said));
    let bare = without_leads(&lower);
    let has_place = REPLACEMENTS.iter().any(|it| text::starts_with_words(bare, it));
    let is_told = has_place && text::sentences(said).len() == 1 && is_plain_order(said, &lower, bare);
    is_told.then(|| Ruling { said: said.to_owned(), asks: false, points: false })
}

/// Returns what the reason for the refusal of a text or a plan wants to be in it: "make it the same for both tills".
pub(in crate::extract) fn wishes(reason: &str) -> Vec<Ruling> {
    let own = own_words(reason);
    let all = text::sentences(&own);
    let typed = all.iter().flat_map(|sentence| text::typed_sentences(sentence)).map(str::trim);
    let is_wish = |said: &&str| {
        let lower = strip_apostrophes(&text::plain(said));
        let bare = without_leads(&lower);
        let orders = DESIGN_VERBS.iter().any(|it| text::starts_with_words(bare, it));
        let is_step = text::contains_any_words(&lower, STEPS)
            || text::contains_any_words(&lower, COURSES)
            || asks_record(said)
            || is_rule(said);
        orders && !is_step && is_plain_order(said, &lower, bare)
    };
    let wishes = typed.filter(is_wish).take(MAX_RULINGS);
    wishes.map(|said| Ruling { said: said.to_owned(), asks: false, points: false }).collect()
}

/// Returns what the reason for a refusal proposes as a question: "why not print it on the slip?" It holds if the agent then does so.
pub(in crate::extract) fn proposed_instead(reason: &str) -> Option<Ruling> {
    const OPENINGS: [&str; 14] = [
        "why not",
        "why dont we",
        "why dont you",
        "why are we not",
        "why arent we",
        "are we not",
        "shouldnt we",
        "should we not",
        "shouldnt this",
        "cant we",
        "couldnt we",
        "could we not",
        "cant you",
        "wouldnt it be",
    ];
    const READS: [&str; 6] = ["see", "look", "check", "show", "explain", "tell"];
    let said = reason.trim();
    let lower = strip_apostrophes(&text::plain(said));
    let is_one = text::sentences(said).len() == 1 && said.ends_with('?') && !looks_pasted(said);
    let proposes = text::contains_any_words(&lower, &OPENINGS) && !text::contains_any_words(&lower, &READS);
    let fits = (20..=MAX_REPLACEMENT_CHARS).contains(&said.chars().count());
    (is_one && fits && proposes).then(|| Ruling { said: said.to_owned(), asks: true, points: false })
}

/// Returns whether a sentence is short, asks nothing and was not pasted. `lower` is it in lower case, and `bare` that without its lead.
fn is_plain_order(said: &str, lower: &str, bare: &str) -> bool {
    (12..=MAX_REPLACEMENT_CHARS).contains(&said.chars().count())
        && !said.contains(['?', '？'])
        && !text::contains_words(bare, "first")
        && !names_option_only(lower)
        && !looks_pasted(said)
        && said.matches('"').count().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_to_do_in_its_place() {
        for said in ["merge from origin/night-till", "use a comment of the ticket for the plan"] {
            assert_eq!(replacement(said).map(|it| it.said).as_deref(), Some(said));
        }
        for said in ["rebase from main first", "use it", "why not use the other till?", "too many tills. use one. ok"] {
            assert_eq!(replacement(said), None, "{said}");
        }
    }

    #[test]
    fn a_refusal_may_propose_something_as_a_question() {
        assert!(proposed_instead("why not printing the slip at noon?").is_some_and(|it| it.asks));
        for said in ["why not?", "what does the till do at noon?", "can't we look at the till of the night first?"] {
            assert_eq!(proposed_instead(said), None, "{said}");
        }
    }
}
