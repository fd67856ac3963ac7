//! Architecture decision records: Markdown files in Nygard's format or in MADR.

use serde::{Deserialize, Serialize};

use crate::text::{clip, labelled, unfenced};

/// What is kept of one record. A field is empty if the file, or the part of it that was seen, does not contain it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The heading without its number.
    pub title: String,
    /// The status in lower case: `accepted`, `proposed`, `superseded by …`.
    pub status: String,
    /// The decision.
    pub decision: String,
    /// The rejected options.
    pub rejected: Vec<String>,
}

/// The maximum number of bytes kept of each part.
const MAX_TITLE: usize = 160;
const MAX_DECISION: usize = 600;
const MAX_OPTION: usize = 120;
const MAX_OPTIONS: usize = 6;

/// The headings of the parts in lower case, in English and Korean. Each entry is the beginning of a heading.
const STATUS: &[&str] = &["status", "상태"];
const DECISION: &[&str] = &["decision", "결정"];
const OPTIONS: &[&str] =
    &["considered options", "options considered", "alternatives", "considered alternatives", "rejected", "대안", "검토한"];

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Status,
    Decision,
    Options,
    Other,
}

impl Record {
    /// Reads a file or a part of one.
    pub fn read(text: &str) -> Self {
        let mut record = Self::default();
        let mut part = Part::Other;
        let mut chosen = String::new();
        for line in unfenced(text) {
            if let Some((level, heading)) = heading(line) {
                if level == 1 && record.title.is_empty() {
                    record.title = clip(without_number(heading), MAX_TITLE);
                } else if level == 2 {
                    part = part_of(heading);
                } else if part == Part::Options {
                    record.rejected.push(heading.to_owned());
                }
                continue;
            }
            if let Some(status) = STATUS.iter().find_map(|name| labelled(line, name)).filter(|status| !status.is_empty()) {
                record.status = status_of(status);
            }
            if let Some(option) = chosen_option(line) {
                option.clone_into(&mut chosen);
            }
            record.line(part, line);
        }
        record.decision = clip(&record.decision, MAX_DECISION);
        record.rejected.retain(|option| chosen.is_empty() || !same(option, &chosen));
        record.rejected = record.rejected.iter().take(MAX_OPTIONS).map(|option| clip(option, MAX_OPTION)).collect();
        record
    }

    fn line(&mut self, part: Part, line: &str) {
        let line = line.trim();
        match part {
            _ if line.is_empty() => {}
            Part::Status if self.status.is_empty() => self.status = status_of(line),
            Part::Decision if self.decision.len() < MAX_DECISION => {
                self.decision.push(' ');
                self.decision.push_str(line);
            }
            Part::Options => {
                if let Some(item) = line.strip_prefix(['*', '-', '+']).and_then(|rest| rest.strip_prefix(' ')) {
                    self.rejected.push(item.replace("**", "").trim().to_owned());
                }
            }
            _ => {}
        }
    }

    /// Returns whether there is nothing to remember.
    pub fn is_empty(&self) -> bool {
        self.title.is_empty() || (self.decision.is_empty() && self.status.is_empty())
    }

    /// Updates the record with everything that a part of the file contains.
    pub fn update(&mut self, part: Record) {
        for (old, new) in
            [(&mut self.title, part.title), (&mut self.status, part.status), (&mut self.decision, part.decision)]
        {
            if !new.is_empty() {
                *old = new;
            }
        }
        if !part.rejected.is_empty() {
            self.rejected = part.rejected;
        }
    }

    /// Returns the importance, from 0 to 1. A record in force is more important than a proposed one, and that one more
    /// than a record no longer in force.
    pub fn importance(&self) -> f32 {
        let is = |words: &[&str]| words.iter().any(|word| self.status.starts_with(word));
        if is(&["reject", "superseded", "deprecated", "폐기", "기각", "대체"]) {
            0.5
        } else if is(&["proposed", "draft", "제안", "초안"]) {
            0.6
        } else {
            0.9
        }
    }
}

/// Returns the number at the beginning of the file name: `0007` for `docs/adr/0007-use-redis.md`.
pub fn number(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let name = name.strip_prefix("ADR-").or_else(|| name.strip_prefix("adr-")).unwrap_or(name);
    let digits = name.len() - name.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (digits > 0).then(|| &name[..digits])
}

/// Returns whether the path is a record in one of the folders. The folder may occur anywhere in the path.
pub fn is_record(path: &str, folders: &[String]) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else {
        return false;
    };
    let lower = name.to_ascii_lowercase();
    let is_text = [".md", ".mdx", ".markdown"].iter().any(|end| lower.ends_with(end));
    let is_about_all = ["readme", "index", "template", "adr-template", "0000-template"]
        .iter()
        .any(|stem| lower.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.')));
    is_text
        && !is_about_all
        && folders.iter().map(|f| f.trim_matches('/')).any(|f| {
            !f.is_empty() && folder.strip_suffix(f).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        })
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.len() - line.trim_start_matches('#').len();
    let text = line[level..].strip_prefix(' ')?.trim().trim_end_matches('#').trim();
    (1..=6).contains(&level).then_some((level, text))
}

fn part_of(heading: &str) -> Part {
    let lower = heading.to_lowercase();
    let starts = |names: &[&str]| names.iter().any(|name| lower.starts_with(name));
    // MADR's "Decision Drivers" are not a decision.
    if lower.contains("driver") {
        Part::Other
    } else if starts(STATUS) {
        Part::Status
    } else if starts(OPTIONS) {
        Part::Options
    } else if starts(DECISION) {
        Part::Decision
    } else {
        Part::Other
    }
}

/// Strips the number: `7. Use Redis`, `ADR-0007: Use Redis` and `[ADR 7] Use Redis` become `Use Redis`.
fn without_number(title: &str) -> &str {
    let bare = title.trim_start_matches('[');
    let bare = bare.strip_prefix("ADR").or_else(|| bare.strip_prefix("adr")).unwrap_or(bare);
    let rest = bare.trim_start_matches(['-', ' ', '#']).trim_start_matches(|c: char| c.is_ascii_digit());
    let text = rest.trim_start_matches(['.', ':', ']', '-', '–', '—', ' ']);
    if rest.len() == title.len() || text.is_empty() || !rest.starts_with(['.', ':', ']', ' ', '-', '–', '—']) {
        title
    } else {
        text
    }
}

fn status_of(text: &str) -> String {
    clip(text.trim_matches(['*', '_', '`', '"', '\'', ' ', '.']), 80).to_lowercase()
}

/// Parses MADR's outcome: `Chosen option: "Redis", because …`.
fn chosen_option(line: &str) -> Option<&str> {
    let value = labelled(line, "chosen option")?;
    let value = value.split(", because").next().unwrap_or(value);
    Some(value.trim_matches(['"', '\'', '*', '`', '.', ',', ' ']))
}

/// Returns whether a listed option is the chosen one. It may be inside a link, or have an explanation after it.
fn same(option: &str, chosen: &str) -> bool {
    let plain = |text: &str| text.trim_matches(['"', '[', '*', '`', ' ']).to_lowercase();
    plain(option).starts_with(&plain(chosen))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NYGARD: &str = "# 7. Use Redis for tokens\n\nDate: 2026-02-01\n\n## Status\n\nAccepted\n\n## Context\n\nWorkers.\n\n## Decision\n\nTokens live in Redis.\nOne key a user.\n\n## Consequences\n\nMore to run.\n";
    const MADR: &str = "---\nstatus: \"proposed\"\n---\n# Use Redis\n\n## Decision Drivers\n\n* speed\n\n## Considered Options\n\n* Redis\n* One cache a worker: fast, but stale\n* No cache\n\n## Decision Outcome\n\nChosen option: \"Redis\", because workers share it.\n\n### Consequences\n\n* good\n";

    #[test]
    fn nygards_form() {
        let record = Record::read(NYGARD);
        assert_eq!(record.title, "Use Redis for tokens");
        assert_eq!(record.status, "accepted");
        assert_eq!(record.decision, "Tokens live in Redis. One key a user.");
        assert!((record.importance() - 0.9).abs() < 1e-6);
    }

    #[test]
    fn the_form_of_madr() {
        let record = Record::read(MADR);
        assert_eq!((record.title.as_str(), record.status.as_str()), ("Use Redis", "proposed"));
        assert_eq!(record.rejected, ["One cache a worker: fast, but stale", "No cache"]);
        assert!(record.decision.starts_with("Chosen option: \"Redis\", because"), "{}", record.decision);
    }

    #[test]
    fn korean_headings_and_options_as_headings() {
        let record = Record::read(
            "# ADR-0003: Redis 사용\n\n## 상태\n승인\n\n## 결정\nRedis에 둔다\n\n## 대안\n\n### 메모리\n느리다\n",
        );
        assert_eq!((record.title.as_str(), record.status.as_str()), ("Redis 사용", "승인"));
        assert_eq!((record.decision.as_str(), record.rejected), ("Redis에 둔다", vec!["메모리".to_owned()]));
    }

    #[test]
    fn a_part_of_a_file_changes_its_part() {
        let mut record = Record::read(NYGARD);
        record.update(Record::read("## Status\n\nSuperseded by 0009"));
        assert_eq!(record.status, "superseded by 0009");
        assert_eq!(record.title, "Use Redis for tokens");
        assert!((record.importance() - 0.5).abs() < 1e-6);
    }

    #[test]
    fn which_paths_are_records() {
        let folders = ["docs/adr".to_owned(), "decisions/".to_owned()];
        for path in ["docs/adr/0007-use-redis.md", "packages/a/docs/adr/1.md", "decisions/x.md"] {
            assert!(is_record(path, &folders), "{path}");
        }
        for path in ["mydocs/adr/1.md", "docs/adr/README.md", "docs/adr/template.md", "docs/adr/x.rs", "x.md", "docs/adr.md"]
        {
            assert!(!is_record(path, &folders), "{path}");
        }
        assert_eq!(number("docs/adr/0007-use-redis.md"), Some("0007"));
        assert_eq!(number("docs/adr/use-redis.md"), None);
    }

    #[test]
    fn titles_without_numbers() {
        for title in ["7. Use Redis", "ADR-0007: Use Redis", "ADR 7 - Use Redis", "[ADR-7] Use Redis", "Use Redis"] {
            assert_eq!(without_number(title), "Use Redis");
        }
        for title in ["3D rendering", "2026", "ADR", "2FA for all"] {
            assert_eq!(without_number(title), title);
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>(), lines in "(?:#{0,4} ?(?:Status|Decision|Rejected|[*] |x|7\\. )[: a*\n]*){0,12}") {
            Record::read(&text);
            Record::read(&lines);
            number(&text);
            is_record(&text, std::slice::from_ref(&text));
        }
    }
}
