//! Plans that a user hands over or approves: their title and the decisions that they name.

use crate::text;

/// Openings of prompts that the client writes around a plan.
const PLAN_OPENINGS: &[&str] = &[
    "Implement the following plan:",
    "Please implement this plan:",
    "Please implement the following plan:",
    "Execute the following plan:",
];

/// Returns the plan that a prompt asks the agent to carry out, without the text that the client adds. None for every
/// other prompt.
pub(in crate::extract) fn plan(prompt: &str) -> Option<&str> {
    let rest = PLAN_OPENINGS.iter().find_map(|opening| prompt.trim_start().strip_prefix(opening))?;
    let end = rest.find("If you need specific details from before exiting plan mode").unwrap_or(rest.len());
    Some(rest[..end].trim())
}

/// Returns the title of a plan or another document.
pub(in crate::extract) fn title(document: &str) -> Option<String> {
    let heading = document.lines().map(str::trim).find(|line| line.starts_with('#'))?;
    let title = text::plain(heading);
    (!title.is_empty()).then_some(title)
}

/// Headings of a plan below which its decisions stand.
const DECISION_HEADINGS: &[&str] = &[
    "decision",
    "decisions",
    "decided",
    "결정",
    "결정사항",
    "決定",
    "決定事項",
    "設計判断",
    "決まったこと",
    "决定",
    "决策",
];

/// The maximum number of decisions that are taken from one plan.
const MAX_PLAN_DECISIONS: usize = 4;

/// Returns the decisions of a plan: the items below a heading that says so.
pub(in crate::extract) fn plan_decisions(plan: &str) -> Vec<String> {
    let mut all = Vec::new();
    let (mut is_decided, mut is_code) = (false, false);
    for line in plan.lines() {
        let bare = line.trim_start();
        is_code ^= bare.starts_with("```");
        if bare.starts_with('#') && !is_code {
            let heading = bare.to_lowercase();
            // How the product decides is no decision about it.
            is_decided = DECISION_HEADINGS.iter().any(|word| text::contains_words(&heading, word))
                && !["criteria", "tree", "framework", "logic"].iter().any(|word| heading.contains(word));
            continue;
        }
        let is_item = line.starts_with(['-', '*']) || line.starts_with(|c: char| c.is_ascii_digit());
        if is_decided && is_item && !is_code {
            let item = text::plain(line);
            if item.chars().count() >= if item.is_ascii() { 20 } else { 10 } && !item.ends_with(['?', '？', ':', '：']) {
                all.push(text::clip(&item, 300).into_owned());
            }
        }
    }
    all.truncate(MAX_PLAN_DECISIONS);
    all
}
