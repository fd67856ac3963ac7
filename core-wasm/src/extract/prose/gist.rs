//! A plan in a few words: what it proposes, in which files, and its steps.

use super::document::{Line, lines};
use super::heading::file_in;

use crate::text;

/// Headings below which stands what a plan proposes, the most telling first.
const PROPOSALS: &[&[&str]] = &[
    &["approach", "solution", "design", "접근", "방안", "해결", "方針", "アプローチ", "解決", "方案"],
    &["goal", "summary", "overview", "목표", "요약", "개요", "目的", "概要", "目标"],
];

/// Headings below which stands what is changed, if a plan has no steps.
const CHANGES: &[&str] = &[
    "fix",
    "the fix",
    "proposed fix",
    "change",
    "changes",
    "proposed change",
    "proposed changes",
    "수정",
    "변경",
    "修正",
    "変更",
    "修复",
];

/// What stands before the goal in a paragraph that says why.
const GOALS: [&str; 4] = ["Goal:", "목표:", "目的:", "目标:"];

/// The maximum number of files that are named of a plan.
const MAX_PLAN_FILES: usize = 3;

/// The maximum length of a step, and the maximum number of steps, that are told of a plan.
const MAX_STEP_CHARS: usize = 90;
const MAX_STEPS: usize = 6;

/// The maximum number of words of a heading that only names a section.
const MAX_SECTION_WORDS: usize = 3;

/// Beginnings of steps that only check.
const CHECKS: [&str; 6] = ["verify ", "verification", "manual test", "검증", "検証", "验证"];

/// Words of headings below which no steps stand, and that are none themselves.
const NO_STEPS: &[&str] = &[
    "context",
    "background",
    "overview",
    "problem",
    "problems",
    "current",
    "risk",
    "risks",
    "scope",
    "option",
    "options",
    "alternative",
    "alternatives",
    "question",
    "questions",
    "배경",
    "문제",
    "위험",
    "대안",
    "질문",
    "背景",
    "問題",
    "現状",
    "リスク",
    "代替案",
    "質問",
];

/// Returns in a few words what a plan proposes: the first sentence of its approach or goal, and its steps or else the files that it
/// changes.
pub(in crate::extract) fn gist(plan: &str) -> String {
    let steps = steps(plan);
    let said = proposed(plan, &steps);
    let bare = || said.trim_end_matches(['.', '。']);
    if !steps.is_empty() {
        let more = steps.len().saturating_sub(MAX_STEPS);
        let mut steps: Vec<String> = steps.iter().take(MAX_STEPS).map(|step| short_step(step)).collect();
        steps.extend((more > 0).then(|| format!("+{more}")));
        let steps = steps.join("; ");
        return if said.is_empty() { steps } else { format!("{}: {steps}", bare()) };
    }
    let files: Vec<String> = plan_files(plan).into_iter().take(MAX_PLAN_FILES).map(|file| format!("`{file}`")).collect();
    match (said.is_empty(), files.is_empty()) {
        (_, true) => said,
        (true, false) => files.join(", "),
        (false, false) => format!("{} ({})", bare(), files.join(", ")),
    }
}

/// Returns the first sentence of a plan's approach or goal. What stands below a step is about that step. May be empty.
fn proposed(plan: &str, steps: &[String]) -> String {
    let lines = lines(plan);
    let titles: Vec<String> = steps.iter().map(|step| step.to_lowercase()).collect();
    let is_prose = |line: &&Line<'_>| {
        let is_of_step = line.headings.iter().any(|heading| titles.iter().any(|title| heading.ends_with(title)));
        let text = line.text.trim();
        !is_of_step && !is_left_out(text) && text.chars().count() >= 20 && !text.ends_with([':', '：'])
    };
    let proposed = PROPOSALS.iter().find_map(|words| lines.iter().filter(is_prose).find(|line| line.is_below(words)));
    // A plan may name its goal in the paragraph that says why.
    let goal =
        || lines.iter().filter(is_prose).find(|line| GOALS.iter().any(|label| text::plain(line.text).starts_with(label)));
    let is_change = |heading: &&str| CHANGES.contains(&heading.trim_matches(['#', '*', ':', ' ']));
    let is_sentence = |line: &&Line<'_>| line.text.trim_start().starts_with(|c: char| c.is_alphabetic() || c == '`');
    let change = || {
        let mut said = lines.iter().filter(is_prose).filter(is_sentence).filter(|_| steps.is_empty());
        said.find(|line| line.headings.iter().any(|heading| is_change(&heading.as_str())))
    };
    let said = proposed
        .or_else(goal)
        .or_else(change)
        .and_then(|line| text::first_sentence(&text::plain(line.text)))
        .unwrap_or_default();
    let said = GOALS.iter().fold(said.as_str(), |it, label| it.strip_prefix(label).unwrap_or(it)).trim();
    text::clip(said, 260).into_owned()
}

/// Returns whether a plan says of an entry that it is left out after all: "Print the name — actually, we skip this".
fn is_left_out(entry: &str) -> bool {
    entry.contains("actually, ")
}

/// Returns the paths of files that a plan names.
fn plan_files(plan: &str) -> Vec<&str> {
    let mut files: Vec<&str> = Vec::new();
    for name in plan.split('`').skip(1).step_by(2) {
        if name.contains('/') && file_in(name).as_deref() == Some(name) && !files.contains(&name) {
            files.push(name);
        }
    }
    files
}

/// Returns the titles of a plan's steps: the first headings that count up from one, below a heading that leads to steps or below the
/// plan's title, without those that only check. One alone is no list. In doubt there are none.
fn steps(plan: &str) -> Vec<String> {
    const FINISHED: [&str; 5] = ["(done)", "✅", "[x]", "완료", "完了"];
    let mut all: Vec<String> = Vec::new();
    // The headings above, each with its level, and the level of the steps.
    let mut above: Vec<(usize, &str)> = Vec::new();
    let mut level = 0;
    let mut is_code = false;
    for line in plan.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let marks = line.bytes().take_while(|byte| *byte == b'#').count();
        // A part of a step is none.
        if is_code || marks == 0 || (level > 0 && marks > level) {
            continue;
        }
        let step = step(&line[marks..]).filter(|_| marks > 1);
        if level == 0 {
            above.retain(|(known, _)| *known < marks);
            if step.is_some_and(|(number, _)| number == 1) && leads_to_steps(above.last().copied()) {
                level = marks;
            } else {
                above.push((marks, line));
                continue;
            }
        }
        match step {
            Some((number, title)) if marks == level && number == all.len() + 1 => all.push(text::plain(title)),
            // The count may go on below another heading.
            None if marks < level && !ends_steps(line) => {}
            _ => break,
        }
    }
    let is_other = |title: &String| {
        let lower = title.to_lowercase();
        // "Current state" is a section, a step may name all of that.
        let is_section = title.split_whitespace().count() <= MAX_SECTION_WORDS && !title.contains('`');
        text::contains_any(&lower, &FINISHED) || (is_section && text::contains_any_words(&lower, NO_STEPS))
    };
    if all.iter().any(is_other) {
        return Vec::new();
    }
    all.retain(|title| !CHECKS.iter().any(|check| title.to_lowercase().starts_with(check)));
    if all.len() < 2 {
        return Vec::new();
    }
    all.iter().map(|title| title.trim_end_matches([':', '.']).to_owned()).collect()
}

/// Returns whether no more steps stand below a heading.
fn ends_steps(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    text::contains_any_words(&lower, NO_STEPS) || text::contains_any(&lower, &CHECKS)
}

/// Returns whether the steps of a plan may stand directly below a heading: it says so, or is the title or none at all.
fn leads_to_steps(heading: Option<(usize, &str)>) -> bool {
    const WORDS: [&str; 17] = [
        "change",
        "changes",
        "plan",
        "implementation",
        "step",
        "steps",
        "test",
        "tests",
        "변경",
        "구현",
        "단계",
        "変更",
        "実装",
        "手順",
        "ステップ",
        "变更",
        "步骤",
    ];
    let Some((marks, heading)) = heading else { return true };
    let lower = heading.to_lowercase();
    marks == 1 || (text::contains_any_words(&lower, &WORDS) && !text::contains_any_words(&lower, NO_STEPS))
}

/// Returns a step without the file in brackets behind it if that makes it too long.
fn short_step(step: &str) -> String {
    let bare = step.split_once(" (`").filter(|_| step.chars().count() > MAX_STEP_CHARS).map_or(step, |(bare, _)| bare);
    text::clip(bare, MAX_STEP_CHARS).into_owned()
}

/// Returns the number of a heading and what it says: "1. Round the totals", "Step 2: Print the slip", "1단계: 영수증".
fn step(heading: &str) -> Option<(usize, &str)> {
    const WORDS: [&str; 10] = ["step", "phase", "change", "task", "part", "단계", "변경", "ステップ", "フェーズ", "步骤"];
    let heading = heading.trim_start_matches('#').trim();
    let lower = heading.to_lowercase();
    let word = WORDS.iter().find(|word| lower.starts_with(**word)).map_or(0, |word| word.len());
    let rest = heading.get(word..)?.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    let counter = rest[digits..].strip_prefix("단계");
    let title = counter.unwrap_or(&rest[digits..]).strip_prefix(['.', ':', ')', '：'])?;
    // "1.2" is a part of a step.
    let is_step = digits <= 2 && (title.starts_with(' ') || word > 0);
    Some((number, title.trim())).filter(|(_, title)| is_step && !title.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::prose::document::tests::PLAN;

    #[test]
    fn a_plan_without_steps_proposes_what_it_changes() {
        let plan = "# Loud till\n\n## Context\n\nThe bell of the till is loud.\n\n## Fix\n\n**File:** `src/till/bell.rs`:\n\n\
                    - the wire goes from the drawer\n\nThe bell rings once when the drawer opens.";
        assert_eq!(gist(plan), "The bell rings once when the drawer opens (`src/till/bell.rs`)");
    }

    #[test]
    fn numbered_headings_are_steps_only_where_a_plan_has_them() {
        let of = |headings: &str| steps(&headings.replace('|', "\n\n"));
        let locks = ["Add a lock", "Round once"];
        assert_eq!(
            of(
                "# Till|## Problems found|### 1. It stays open|### 2. No slip|## Changes|### 1. Add a lock|### 2. Round once"
            ),
            locks
        );
        assert_eq!(of("# Till|## 1. Add a lock|### 1. In the drawer|## 2. Round once|## Notes|## 3. A third"), locks);
        assert_eq!(
            of("# Till|## Changes|### 1. Add a lock|## Guide|### 2. Round once|## Verification|### 3. The sums"),
            locks
        );
        assert_eq!(of("# Till|## Changes|### 1. Add a lock|### 2. Round once|## Open questions|### 3. Which key?"), locks);
        let guide = ["Add the lock to the current drawer", "Change `docs/overview.md`"];
        assert_eq!(of(&format!("# Till|## Plan|### 1. {}|### 2. {}", guide[0], guide[1])), guide);
        let badges = ["Verified accounts get a badge", "Add optional tax field", "Validate the coupon"];
        assert_eq!(of(&format!("# Till|## Plan|### 1. {}|### 2. {}|### 3. {}", badges[0], badges[1], badges[2])), badges);
        assert_eq!(of("# 금전함|## 변경|### 1단계: 동전 세기|### 2단계: 영수증 인쇄"), ["동전 세기", "영수증 인쇄"]);
        for other in [
            "# Till|## 1. Context|## 2. Current state|## 3. Proposed changes|## 4. Risks",
            "# Till|## Alternatives considered and rejected|### 1. A camera|### 2. A guard",
            "# Till|## Open questions|### 1. Which timer?|### 2. Who has the key?",
            "# Till|## Options|### 1. A timer|### 2. A guard",
            "# Till|## Phase 1: Lock (done)|## Phase 2: Print ✅|## Phase 3: Report",
            "# Till|## Changes|### 2. Add a lock|### 3. Round once",
        ] {
            assert!(of(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn a_plan_in_a_few_words() {
        assert_eq!(gist(PLAN), "Store every price as an integer of cents (`src/cart/total.ts`)");
        assert_eq!(gist("1. Move it"), "");
        let stepped = "# Close the till\n\n## Approach\nCount twice.\n\n## Changes\n### 1. Count the coins (`src/coins.ts`)\nIt is an overview of \
                       all coins, but we skip this.\n### 2. Print the sums\n#### 2.1 The tax\n### Step 3: Lock the drawer\n\n\
                       ## Verification\n### 4. Verify the sums\n";
        assert_eq!(gist(stepped), "Count the coins (`src/coins.ts`); Print the sums; Lock the drawer");
        let aside = "## Summary\n\nPrint the name in red — actually, we skip this.\n\n## 1. Print the date\n\n## 2. Fold it";
        assert_eq!(gist(aside), "Print the date; Fold it");
    }
}
