//! Reads Markdown files, with or without YAML front matter: one memory for each file, or for each section of a long
//! file.

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::input::{MAX_FILE_BYTES, read_text, short_hash};
use super::normalize::{TURN, TURN_IMPORTANCE};
use super::sink::{Row, Sink};
use super::system::System;
use crate::import::line::{self, Line, title_of};
use throughline_model::contract::Timestamp;

/// The system as commands see it.
pub(super) static SYSTEM: System = System {
    name: "markdown",
    about: "Files with or without YAML front matter",
    places: &[],
    locations: &[],
    instead: &[],
    takes_all_markdown: true,
    has_own_project: false,
    read,
};

/// A file longer than this, in bytes, is split at its headings: more than a page of text is about more than one thing.
const LONG: usize = 8 << 10;

/// The deepest heading level at which a long file is split.
const DEEPEST: usize = 2;

/// A heading with the text below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// The heading without its marks; empty for the text before the first heading.
    pub(super) heading: String,
    /// The text up to the next heading of the same or a higher level.
    pub(super) body: String,
    /// The line number of the heading, starting at 1.
    pub(super) line: usize,
}

fn read(source: &Path, sink: &mut Sink<'_>) -> Result<()> {
    let project = sink.fallback.clone();
    file(source, &source.to_string_lossy(), project, "learning", sink)
}

/// Imports one file. `name` identifies the file; `kind` is the type if the file names none.
pub(super) fn file(source: &Path, name: &str, project: Option<String>, kind: &str, sink: &mut Sink<'_>) -> Result<()> {
    const WHAT: &str = "Markdown";
    let (text, modified) = match read_text(source, MAX_FILE_BYTES) {
        Ok(read) => read,
        Err(reason) => {
            sink.fail(WHAT, name, reason);
            return Ok(());
        }
    };
    let (front, body, first) = front_matter(&text);
    let kind = front.one("type").unwrap_or_else(|| kind.to_owned());
    let mut keywords = front.all("tags");
    keywords.extend(front.all("keywords"));
    keywords.extend(front.all("related").into_iter().map(|it| format!("related:{it}")));
    let common = Line {
        project,
        importance: if kind == TURN { TURN_IMPORTANCE } else { 0.5 },
        kind,
        keywords,
        created: front.one("created").and_then(|it| parse_time(&it)).or(modified),
        ..Line::default()
    };
    let title = front.one("title").unwrap_or_default();
    if body.len() <= LONG {
        let title = if title.is_empty() { title_of(body) } else { title };
        let line = Line { id: Some(short_hash(&[name])), title, content: body.to_owned(), ..common };
        return sink.add_memory(Row { what: WHAT, place: format!("line {first}"), line });
    }
    let mut seen = std::collections::HashMap::new();
    for section in sections(body, DEEPEST) {
        if section.body.trim().is_empty() {
            // A heading directly above another: the text below it is imported with that one.
            continue;
        }
        let times = seen.entry(section.heading.clone()).or_insert(0_u32);
        *times += 1;
        let heading = if section.heading.is_empty() { title_of(&section.body) } else { section.heading.clone() };
        let line = Line {
            id: Some(short_hash(&[name, &section.heading, &times.to_string()])),
            title: if title.is_empty() { heading } else { format!("{title}: {heading}") },
            content: section.body,
            ..common.clone()
        };
        sink.add_memory(Row { what: WHAT, place: format!("line {}", first + section.line - 1), line })?;
    }
    Ok(())
}

/// Splits the text before each heading of at most this level. Lines in fenced code blocks are not headings.
pub(super) fn sections(text: &str, deepest: usize) -> Vec<Section> {
    let mut all = vec![Section { line: 1, ..Section::default() }];
    let mut fence: Option<&str> = None;
    for (at, line) in text.lines().enumerate() {
        let bare = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        let depth = line.bytes().take_while(|byte| *byte == b'#').count();
        let is_heading = fence.is_none() && (1..=deepest).contains(&depth) && line[depth..].starts_with([' ', '\t']);
        if is_heading {
            let heading = line[depth..].trim().trim_end_matches('#').trim_end();
            all.push(Section { heading: heading.to_owned(), body: String::new(), line: at + 1 });
        } else if let Some(section) = all.last_mut() {
            section.body.push_str(line);
            section.body.push('\n');
        }
    }
    all.retain(|section| !section.heading.is_empty() || !section.body.trim().is_empty());
    all
}

/// The fields of a file's front matter; each name can have several values.
#[derive(Debug, Default, PartialEq, Eq)]
struct Front(Vec<(String, Vec<String>)>);

impl Front {
    fn all(&self, name: &str) -> Vec<String> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, values)| values.clone()).unwrap_or_default()
    }

    fn one(&self, name: &str) -> Option<String> {
        self.all(name).into_iter().next().filter(|value| !value.is_empty())
    }
}

/// Returns the front matter, the rest, and the line number at which the rest begins. A block that is never closed is
/// not front matter.
///
/// This supports the part of YAML that front matter uses: one value a line, and lists in brackets or with dashes.
fn front_matter(text: &str) -> (Front, &str, usize) {
    let mut lines = text.split_inclusive('\n');
    if lines.next().map(str::trim_end) != Some("---") {
        return (Front::default(), text, 1);
    }
    let mut front = Front::default();
    let (mut at, mut number) = (text.split_inclusive('\n').next().map_or(0, str::len), 2);
    for line in lines {
        at += line.len();
        number += 1;
        let line = line.trim_end();
        if line == "---" || line == "..." {
            return (front, &text[at..], number);
        }
        if let Some(item) = line.trim_start().strip_prefix("- ") {
            if let Some((_, values)) = front.0.last_mut() {
                values.push(unquoted(item));
            }
        } else if let Some((name, value)) = line.split_once(':').filter(|(name, _)| !name.starts_with([' ', '\t', '#'])) {
            front.0.push((name.trim().to_lowercase(), values(value.trim())));
        }
    }
    (Front::default(), text, 1)
}

/// Returns the fields of a file's front matter that have one value, also those below another field, and the rest of the file.
pub(super) fn front_and_body(text: &str) -> (Vec<(String, String)>, &str) {
    let (_, body, _) = front_matter(text);
    let head = &text[..text.len() - body.len()];
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let fields = fields.map(|(name, value)| (name.trim().to_lowercase(), unquoted(value)));
    (fields.filter(|(_, value)| !value.is_empty()).collect(), body)
}

fn values(text: &str) -> Vec<String> {
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(list) => list.split(',').map(unquoted).filter(|value| !value.is_empty()).collect(),
        None if text.is_empty() => Vec::new(),
        None => vec![unquoted(text)],
    }
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inside = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inside.unwrap_or(text).to_owned()
}

fn parse_time(text: &str) -> Option<Timestamp> {
    line::parse_time(&Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_head_is_read_as_people_write_it() {
        let text = "---\ntitle: \"한글 제목: 둘\"\ntags: [a, 'b c']\nkeywords:\n  - one\n  - two\ntype: root-cause\nempty:\n---\r\nBody\n";
        let (front, body, line) = front_matter(text);
        assert_eq!(front.one("title"), Some("한글 제목: 둘".into()));
        assert_eq!(
            (front.all("tags"), front.all("keywords")),
            (vec!["a".into(), "b c".into()], vec!["one".into(), "two".into()])
        );
        assert_eq!((front.one("type"), front.one("empty"), body, line), (Some("root-cause".into()), None, "Body\n", 10));
        let open = "---\ntitle: never closed\n\nBody";
        assert_eq!(front_matter(open), (Front::default(), open, 1));
    }

    #[test]
    fn headings_in_code_are_none() {
        let text = "before\n# A\n```sh\n# comment\n```\n### deep\n## B ##\nb";
        let found = sections(text, 2);
        let told: Vec<(&str, &str, usize)> =
            found.iter().map(|it| (it.heading.as_str(), it.body.as_str(), it.line)).collect();
        assert_eq!(told, [("", "before\n", 1), ("A", "```sh\n# comment\n```\n### deep\n", 2), ("B", "b\n", 7)]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(---\n)?[-a:#\\[\\]'\"` \n한]{0,80}") {
            let (_, body, line) = front_matter(&text);
            prop_assert!(text.ends_with(body) && line >= 1);
            drop(sections(body, 2));
        }

        #[test]
        fn every_line_is_in_a_section(lines in prop::collection::vec("(#{1,3} )?[a-c]{1,5}|```", 0..20)) {
            let text = lines.join("\n");
            let found = sections(&text, 2);
            let bodies: usize = found.iter().map(|it| it.body.lines().count() + usize::from(!it.heading.is_empty())).sum();
            prop_assert_eq!(bodies, lines.len());
        }
    }
}
