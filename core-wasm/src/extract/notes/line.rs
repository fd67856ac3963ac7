//! The line of one turn: without what is told elsewhere, with the user's words quoted, and with hashes and counts of tests.

use crate::extract::course::split_quote;
use crate::extract::state::State;
use crate::text;

/// The maximum length of a run of tests that is told, in bytes.
const MAX_RUN_BYTES: usize = 140;

/// The length below which too little would remain of a result, in characters.
pub(super) const MIN_REST_CHARS: usize = 40;

/// Returns the result of a turn without the quoted words of the user before it.
pub(super) fn without_quote(line: &str) -> &str {
    split_quote(line).map_or(line, |(_, result)| result)
}

/// Removes the sentences from a line, unless nothing else would remain of it. What stands behind this label keeps it: it would be said of
/// the next sentence.
pub(super) fn without(line: &str, sentences: &[String], label: &str) -> String {
    let has_label = line.contains(label);
    let is_labelled = |sentence: &str| has_label && line.contains(&format!("{label}: {sentence}"));
    let removed = sentences.iter().filter(|sentence| !is_labelled(sentence));
    let shorter = removed.fold(line.to_owned(), |line, sentence| line.replacen(sentence.as_str(), "", 1));
    if shorter == line {
        return shorter;
    }
    let shorter = without_gaps(text::one_line(&shorter));
    let shorter = ["; .", ". ."].iter().find_map(|end| shorter.strip_suffix(end)).unwrap_or(&shorter);
    let shorter = shorter.trim_matches([' ', ';']).trim_start_matches(". ").trim_start_matches("— ");
    // The commit stands behind what it has.
    let commit = shorter.find(": — ").filter(|_| !line.contains(": — ")).map_or(shorter.len(), |at| at + 1);
    let shorter = format!("{}{}", without_last_lead(&shorter[..commit]), &shorter[commit..]);
    if shorter.chars().count() >= MIN_REST_CHARS { shorter } else { line.to_owned() }
}

/// Removes the last part of a line if it only leads to what was removed: "It rings. Steps to take:".
fn without_last_lead(line: &str) -> &str {
    let Some(lead) = line.trim_end_matches([' ', '.']).strip_suffix(':') else { return line };
    lead.rfind(". ").map_or(line, |end| &line[..=end])
}

/// Removes the separators of sentences that are not there any more.
fn without_gaps(mut line: String) -> String {
    const GAPS: [(&str, &str); 5] = [("; ; ", "; "), (": ; ", ": "), ("; . ", ". "), (". . ", ". "), (": . ", ": ")];
    // Of several sentences in a row, their separators remain.
    while let Some((gap, end)) = GAPS.iter().find(|(gap, _)| line.contains(gap)) {
        line = line.replace(gap, end);
    }
    line
}

/// Adds to "All tests pass" which were run, if they were only some.
pub(super) fn with_tests_run(state: &State, sentence: &str) -> String {
    let Some(run) = state.evidence.some_tests().filter(|run| run.len() <= MAX_RUN_BYTES) else {
        return sentence.to_owned();
    };
    let only = state.labels().only_run.replacen("{}", run, 1);
    ["ll tests pass", "모든 테스트 통과", "모든 테스트가 통과"]
        .iter()
        .fold(sentence.to_owned(), |sentence, claim| with_note(&sentence, claim, &only))
}

/// Adds a note in parentheses to the first claim in a sentence.
fn with_note(sentence: &str, claim: &str, note: &str) -> String {
    let Some(at) = sentence.find(claim) else { return sentence.to_owned() };
    let (before, after) = sentence.split_at(at + claim.len());
    // "pass" may be only the beginning of a word, and what follows in parentheses says it already.
    let is_open = after.starts_with(|c: char| c.is_ascii_alphabetic()) || after.trim_start().starts_with('(');
    if is_open { sentence.to_owned() } else { format!("{before} ({note}){after}") }
}

/// Writes the hash of a commit before its quoted subject.
pub(super) fn with_hashes(state: &State, line: &str) -> String {
    let label = state.labels().committed;
    state.hashes.iter().fold(line.to_owned(), |line, (subject, hash)| {
        line.replacen(&format!("{label} \"{subject}\""), &format!("{label} {hash} \"{subject}\""), 1)
    })
}

/// Ends the line with a full stop.
pub(super) fn as_sentence(line: &str) -> String {
    if text::has_ended(line) || line.ends_with(['.', '…']) { line.to_owned() } else { format!("{line}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "Before the change";

    #[test]
    fn what_is_told_elsewhere_leaves_no_gap() {
        let line = |rest: &str| format!("The till rounds the total. {rest}The slip names the shop.");
        let gone = ["It rings".to_owned(), "It shuts".to_owned()];
        assert_eq!(without(&line("It rings. It shuts. "), &gone, BEFORE), line(""));
        assert_eq!(without(&line("Now: It rings; it waits. "), &gone, BEFORE), line("Now: it waits. "));
        let slip = "The slip names the shop and the hour of the day";
        assert_eq!(without(&format!("It rings. {slip}"), &gone, BEFORE), slip);
        let told = "The till rounds the total of the slip of the shop.";
        assert_eq!(without(&format!("{told} Steps to take: It rings."), &gone, BEFORE), told, "nothing is led to");
        let committed = "— committed as \"Fold the slip\"";
        let led = format!("{told} Steps to take: It rings {committed}");
        assert_eq!(without(&led, &gone, BEFORE), format!("{told} {committed}"), "nor before a commit");
        let labelled = format!("{BEFORE}: It rings. {slip}");
        assert_eq!(without(&labelled, &gone, BEFORE), labelled, "the label is of that sentence");
    }
}
