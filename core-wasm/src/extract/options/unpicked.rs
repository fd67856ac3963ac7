//! Findings of a list that a prompt takes up only in part: the others are left.

use super::items::named_numbers;
use super::listed::{ProposedOption, label, parse_numbered_option};
use crate::extract::human;
use crate::text;

/// The maximum length of a prompt that takes up findings, in characters.
const MAX_PROMPT_CHARS: usize = 100;
/// The minimum number of findings. Fewer are mostly ways to choose from.
const MIN_FINDINGS: usize = 4;
/// The maximum length of a finding's title, in characters.
const MAX_TITLE_CHARS: usize = 80;
/// The level of a line that leads to a list, below all headings.
const MAX_LEVEL: usize = 7;

/// A finding that was not taken up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::extract) struct Unpicked {
    /// Its number in the list.
    pub number: String,
    pub title: String,
}

/// Returns the findings in the answer before it that a prompt does not take up: "do 1 and 3". Empty if it takes up none, or if the list
/// has no findings.
pub(in crate::extract) fn unpicked_findings(prompt: &str, answer: &str) -> Vec<Unpicked> {
    if prompt.chars().count() > MAX_PROMPT_CHARS
        || human::only_asks(prompt)
        || parse_numbered_option(prompt.trim()).is_some()
    {
        return Vec::new();
    }
    let named = picked_numbers(prompt);
    // A bare number chooses a way.
    if named.is_empty() || (named.len() == 1 && !prompt.contains(char::is_alphabetic)) {
        return Vec::new();
    }
    let has_all = |list: &&List| named.iter().all(|number| list.items.iter().any(|item| item.id == *number));
    let lists = lists(answer);
    let list = lists.iter().filter(|list| list.is_of_findings).filter(has_all).max_by_key(|list| list.items.len());
    let Some(list) = list.filter(|list| list.items.len() >= MIN_FINDINGS) else { return Vec::new() };
    let is_left = |item: &&ProposedOption| !named.contains(&item.id) && !is_settled(&item.title);
    let left = list.items.iter().filter(is_left);
    left.map(|item| Unpicked {
        number: item.id.clone(),
        title: text::clip(&label(&item.title), MAX_TITLE_CHARS).into_owned(),
    })
    .collect()
}

/// Returns the numbers of the items that a prompt takes up. "Issue 1" is one of the list.
pub(in crate::extract) fn picked_numbers(prompt: &str) -> Vec<String> {
    let mut lower = prompt.to_lowercase();
    for word in ["issue", "finding", "bug", "comment"] {
        lower = lower.replace(&format!("{word}s "), "items ").replace(&format!("{word} "), "item ");
    }
    named_numbers(&lower)
}

/// Returns whether a finding says itself that nothing is to be done.
fn is_settled(title: &str) -> bool {
    const WORDS: [&str; 14] = [
        "✅",
        "fixed",
        "resolved",
        "done",
        "not an issue",
        "non-issue",
        "no issue",
        "no action",
        "intentional",
        "by design",
        "false positive",
        "unrelated",
        "해결",
        "対応済み",
    ];
    text::contains_any(&title.to_lowercase(), &WORDS)
}

/// A numbered list.
#[derive(Default)]
struct List {
    items: Vec<ProposedOption>,
    is_of_findings: bool,
}

fn lists(answer: &str) -> Vec<List> {
    let mut all: Vec<List> = Vec::new();
    // The headings above the line, each with its level.
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut is_code = false;
    for line in answer.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if is_code || line.starts_with([' ', '\t']) {
            continue;
        }
        let line = line.trim();
        let number = |id: &str| id.parse::<u32>().ok();
        let item = parse_numbered_option(line).and_then(|item| number(&item.id).map(|number| (number, item)));
        let Some((number_here, item)) = item else {
            let level = line.bytes().take_while(|byte| *byte == b'#').count();
            let level = if level == 0 { MAX_LEVEL } else { level };
            if level < MAX_LEVEL || text::plain(line).ends_with([':', '：']) {
                above.retain(|(known, _)| *known < level);
                above.push((level, line.to_lowercase()));
            }
            continue;
        };
        let goes_on = all.last().and_then(|list| list.items.last()).and_then(|last| number(&last.id)) < Some(number_here);
        if !goes_on || all.is_empty() {
            all.push(List::default());
        }
        if let Some(list) = all.last_mut() {
            list.is_of_findings |= leads_to_findings(&above);
            list.items.push(item);
        }
    }
    all
}

/// Returns whether below these headings stands what is wrong.
fn leads_to_findings(above: &[(usize, String)]) -> bool {
    const WORDS: [&str; 20] = [
        "issue", "issues", "finding", "findings", "problem", "problems", "bug", "bugs", "p1", "p2", "p3", "concern",
        "concerns", "gaps", "critical", "severity", "문제", "지적", "指摘", "問題",
    ];
    const OTHERS: [&str; 6] = ["option", "approach", "step", "plan", "fixed", "question"];
    above.iter().any(|(_, line)| text::contains_any_words(line, &WORDS))
        && !above.iter().any(|(_, line)| text::contains_any(line, &OTHERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(prompt: &str, answer: &str) -> Vec<String> {
        unpicked_findings(prompt, answer).into_iter().map(|it| format!("{} {}", it.number, it.title)).collect()
    }

    #[test]
    fn the_findings_that_are_not_taken_up_are_left() {
        let review = "## Issues worth a look\n\n### 1. The slip has no date\n\nIt never had.\n\n### 2. The drawer stays open (minor)\n\n\
                      ### From the till:\n\n### 3. The total is rounded twice\n\n```\n1. no item\n```\n\n### 4. The key is read each time\n\n## Already fixed\n\n1. ✅ The cart\n\n\
                      Shall I fix any?";
        assert_eq!(left("do 1 and 3", review), ["2 The drawer stays open", "4 The key is read each time"]);
        assert_eq!(left("let's discuss issue #1", review).len(), 3);
        for other in ["2", "is 1 a part of the till?", "all but 2", "skip 2 and do the rest", "do 1 and 9", "fix all 4"] {
            assert!(left(other, review).is_empty(), "{other}");
        }
    }

    #[test]
    fn of_ways_and_steps_none_is_left() {
        let ways = "There are these options:\n\n1. A date\n2. A lock\n3. A key\n4. A sum\n";
        assert!(left("do 1 and 3", ways).is_empty());
        assert!(left("do 1 and 3", &ways.replace("these options", "these steps for the issue")).is_empty());
        let few = "Two issues:\n\n1. No date\n2. No lock\n";
        assert!(left("fix 1 first", few).is_empty(), "of a few the answer speaks");
    }
}
