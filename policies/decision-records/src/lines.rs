//! Decisions stated on a line: `DECISION: keep tokens in Redis because workers share them`, with `Why:`, `Rejected:`
//! and `Files:` on the lines below.

use crate::text::{labelled, marked, unfenced};

/// A stated decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    /// The decision.
    pub what: String,
    /// The reason. Empty if none was given.
    pub why: String,
    /// The rejected options.
    pub rejected: Vec<String>,
    /// The files that the decision is about.
    pub files: Vec<String>,
}

/// Returns all decisions of a text, in order.
pub fn stated(text: &str, marker: &str) -> Vec<Stated> {
    let mut all: Vec<Stated> = Vec::new();
    // Whether the previous line belongs to the last decision.
    let mut open = false;
    for line in unfenced(text) {
        if let Some(value) = marked(line, marker) {
            open = !value.is_empty();
            if open {
                all.push(statement(value));
            }
        } else if let Some(last) = all.last_mut().filter(|_| open) {
            open = detail(last, line);
        }
    }
    all
}

fn statement(value: &str) -> Stated {
    let (what, why) = value.split_once(" because ").unwrap_or((value, ""));
    let files = value.split('`').skip(1).step_by(2).filter(|word| is_path(word)).map(str::to_owned).collect();
    Stated { what: what.trim_end_matches(',').trim().to_owned(), why: why.trim().to_owned(), rejected: Vec::new(), files }
}

/// Processes a line below a decision. Returns false if the line does not belong to the decision.
fn detail(decision: &mut Stated, line: &str) -> bool {
    if let Some(why) = ["why", "because", "reason"].iter().find_map(|name| labelled(line, name)) {
        why.clone_into(&mut decision.why);
    } else if let Some(options) = labelled(line, "rejected") {
        decision.rejected.extend(items(options));
    } else if let Some(files) = labelled(line, "files") {
        decision.files.extend(items(files).map(|file| file.trim_matches('`').to_owned()));
    } else {
        return false;
    }
    true
}

/// Splits a list: `a; b`, or `a, b` if there is no semicolon.
fn items(list: &str) -> impl Iterator<Item = String> {
    let separator = if list.contains(';') { ';' } else { ',' };
    list.split(separator).map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned)
}

fn is_path(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let has_extension = name.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty() && (1..=5).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    has_extension && !word.contains([' ', '(', ':', '*'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_with_its_details() {
        let text = "Done.\n\n**DECISION:** keep tokens in `src/cache.rs`, because workers share them\n- Rejected: one cache each; no cache\n- Files: src/auth.rs\n\nRejected: this is another matter";
        let all = stated(text, "DECISION");
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].what, "keep tokens in `src/cache.rs`");
        assert_eq!(all[0].why, "workers share them");
        assert_eq!(all[0].rejected, ["one cache each", "no cache"]);
        assert_eq!(all[0].files, ["src/cache.rs", "src/auth.rs"]);
    }

    #[test]
    fn what_is_no_decision() {
        for text in ["no DECISION: x", "DECISION:", "```\nDECISION: x\n```", "DECISIONS: x", "Decision: x"] {
            assert!(stated(text, "DECISION").is_empty(), "{text}");
        }
        assert_eq!(stated("결정: 토큰은 Redis에 둔다", "결정")[0].what, "토큰은 Redis에 둔다");
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>(), lines in "(?:(?:DECISION|Why|Rejected|Files):[ ,;`a.\n]*){0,8}") {
            stated(&text, "DECISION");
            stated(&lines, "DECISION");
        }
    }
}
