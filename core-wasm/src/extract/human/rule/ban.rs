//! Short bans in a prompt: "no verify".

use crate::text::{self, strip_apostrophes};

/// Returns the short bans in a prompt, in lower case: "no verify" in "commit it, no verify". What points to something, or only calms,
/// is none.
pub(in crate::extract) fn short_bans(prompt: &str) -> impl Iterator<Item = String> {
    const MAX_CHARS: usize = 32;
    const OPENINGS: [&str; 6] = ["no", "dont", "do not", "never", "without", "skip"];
    const OTHERS: [&str; 28] = [
        "need", "needs", "problem", "problems", "worry", "worries", "idea", "this", "that", "it", "them", "these", "those",
        "i", "you", "we", "change", "changes", "more", "longer", "one", "know", "think", "thanks", "matter", "please",
        "yet", "now",
    ];
    let is_ban = |clause: &String| {
        let words = clause.split_whitespace().count();
        let opening = OPENINGS.iter().find(|it| text::starts_with_words(clause, it));
        let rest = opening.map_or(0, |it| words - it.split_whitespace().count());
        (1..=3).contains(&rest) && clause.len() <= MAX_CHARS && !text::contains_any_words(clause, &OTHERS)
    };
    let short = Some(prompt).filter(|prompt| prompt.is_ascii() && prompt.len() <= 10 * MAX_CHARS).unwrap_or_default();
    let clauses = short.split([',', '.', ';', '\n', '(', ')', '!']).filter(|clause| !clause.contains(['?', '`', '/']));
    clauses.map(|clause| strip_apostrophes(clause.trim())).filter(is_ban)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_ban_stands_in_its_own_clause() {
        let bans = |prompt: &str| short_bans(prompt).collect::<Vec<_>>();
        assert_eq!(bans("commit the till, no verify"), ["no verify"]);
        assert_eq!(bans("Don't run the drawer"), ["dont run the drawer"]);
        for said in ["no", "no problem", "don't do that", "no, I mean the till", "no need for it", "does it run, no slips?"]
        {
            assert!(bans(said).is_empty(), "{said}");
        }
    }
}
