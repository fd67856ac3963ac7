//! Rules that the agent writes into the project's list of lessons: "### Tag only", and below it what holds from now on.

use crate::text;

/// The maximum length of a lesson, in characters.
const MAX_CHARS: usize = 400;

/// The line above the rules of a lesson.
const RULES: &[&str] =
    &["rule", "rules", "lesson", "lessons", "takeaway", "takeaways", "규칙", "교훈", "ルール", "教訓", "规则", "教训"];

/// Returns whether a file is a list of lessons, by its name.
pub(in crate::extract) fn is_of_lessons(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    name.starts_with("lesson") && name.rsplit('.').next() == Some("md")
}

/// Returns the heading of each lesson of a text with the rules below it.
pub(in crate::extract) fn lessons(written: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    let mut is_rule = false;
    for line in text::prose_lines(written) {
        let said = text::plain(line);
        if line.starts_with('#') {
            is_rule = false;
            all.push((said.trim_start_matches('#').trim().to_owned(), Vec::new()));
            continue;
        }
        let is_item =
            line.starts_with(['-', '*', '•']) && !line.starts_with("**") || line.starts_with(|c: char| c.is_ascii_digit());
        if is_item && is_rule {
            if let Some((_, rules)) = all.last_mut() {
                rules.push(said.trim_end_matches(['.', '。']).to_owned());
            }
        } else if !is_item {
            let label = said.trim_end_matches([':', '：']).to_lowercase();
            is_rule = RULES.contains(&label.as_str());
        }
    }
    let told = all.into_iter().filter(|(heading, rules)| !heading.is_empty() && !rules.is_empty());
    let told = told.map(|(heading, rules)| {
        let whole = format!("{heading}: {}", rules.join("; "));
        (heading, text::clip(&whole, MAX_CHARS).into_owned())
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_is_its_heading_with_its_rules() {
        let written = "## 用語\n\n### レジ\n\n- 店の出口\n\n### 税は一度だけ足す\n\n**何が起きたか:**\n二度足した。\n\n\
                       **ルール:**\n1. 税は `sum()` で足す。\n2. 印刷では足さない\n\n### Drawer\n\nRules:\n- Close it";
        let told: Vec<String> = lessons(written).into_iter().map(|(_, lesson)| lesson).collect();
        assert_eq!(told, ["税は一度だけ足す: 税は `sum()` で足す; 印刷では足さない", "Drawer: Close it"]);
        assert!(is_of_lessons("tasks/lessons.md") && is_of_lessons("docs/Lessons-learned.md"));
        assert!(!is_of_lessons("src/lessons.rs") && !is_of_lessons("docs/piano.md"));
    }
}
