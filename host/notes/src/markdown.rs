//! Notes as files: YAML front matter, a heading, and the content. Readable in Obsidian and in a diff.
//!
//! ```markdown
//! ---
//! title: "The pool is exhausted under load"
//! tags:
//!   - debug
//!   - root-cause
//! type: root-cause
//! created: 2026-02-23T09:56:43Z
//! contextual_description: "Ten connections were not enough."
//! id: 61d299fc80a1
//! ---
//!
//! ## The pool is exhausted under load
//!
//! Ten connections were not enough. …
//! ```

use std::fmt::Write as _;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::registry::Registry;
use super::{MAX_CONTENT_BYTES, MAX_TITLE_CHARS, Note, describe, one_line, parse_list, yaml};
use throughline_model::invalid::Invalid;

/// The largest front matter, bytes.
const MAX_FRONT_MATTER_BYTES: usize = 64 << 10;

/// The front matter fields of this program. All others are kept unchanged.
const FIELDS: &[&str] = &[
    "title",
    "tags",
    "type",
    "created",
    "contextual_description",
    "keywords",
    "related",
    "files",
    "importance",
    "kind",
    "session",
    "id",
];

/// A file split into its parts.
#[derive(Debug, PartialEq)]
pub struct NoteParts {
    /// The fields of the front matter; `None` if the file has none.
    pub fields: Option<Map<String, Value>>,
    /// The source text of unknown fields.
    extra: String,
    /// The text after the front matter, with `\n` as line separator.
    body: String,
}

/// Splits a file into its parts. The error is one line for a person.
pub fn split(text: &str) -> Result<NoteParts, Invalid> {
    let text = lines(text.strip_prefix('\u{feff}').unwrap_or(text));
    let is_fence = |line: &str| line.trim_end() == "---";
    let Some(rest) = text.split_once('\n').filter(|(first, _)| is_fence(first)).map(|(_, rest)| rest) else {
        return Ok(NoteParts { fields: None, extra: String::new(), body: text });
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if is_fence(line) || line.trim_end() == "..." {
            let front = &rest[..at];
            let fields = if front.trim().is_empty() { Value::Object(Map::new()) } else { yaml::parse(front)? };
            let fields = match fields {
                Value::Object(fields) => fields,
                // The front matter has only comments.
                Value::Null => Map::new(),
                _ => return Err("the front matter is not a list of fields and values".into()),
            };
            let extra = unknown_fields(front, &fields);
            return Ok(NoteParts { fields: Some(fields), extra, body: rest[at + line.len()..].to_owned() });
        }
        at += line.len();
        if at > MAX_FRONT_MATTER_BYTES {
            return Err(format!("the front matter has more than {} KiB, or has no end", MAX_FRONT_MATTER_BYTES >> 10).into());
        }
    }
    Err("the front matter begins with `---` and does not end with one".into())
}

/// Normalizes line separators to `\n`.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Returns the source lines of unknown fields. If these lines alone have another meaning, as in front matter that is a
/// single `{…}`, the fields are written anew.
fn unknown_fields(front: &str, fields: &Map<String, Value>) -> String {
    let theirs: Map<String, Value> = fields
        .iter()
        .filter(|(name, _)| !FIELDS.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let lines = unknown_field_lines(front);
    let says = match yaml::parse::<Value>(&lines) {
        _ if lines.is_empty() => Some(Map::new()),
        Ok(Value::Object(fields)) => Some(fields),
        Ok(Value::Null) => Some(Map::new()),
        _ => None,
    };
    if says.as_ref() == Some(&theirs) {
        return lines;
    }
    // JSON is valid YAML.
    theirs.iter().fold(String::new(), |text, (name, value)| text + &yaml::quoted(name) + ": " + &value.to_string() + "\n")
}

fn unknown_field_lines(front: &str) -> String {
    let mut kept = String::new();
    // Comments and blank lines may belong to the field below.
    let mut between = String::new();
    let mut is_ours = true;
    for line in front.split_inclusive('\n') {
        let is_first = kept.is_empty() && between.is_empty();
        if line.starts_with('#') || line.trim().is_empty() {
            between.push_str(line);
        } else if let Some(key) = key(line) {
            is_ours = FIELDS.contains(&key);
            if !is_ours {
                kept.push_str(&between);
                kept.push_str(line);
            }
            between.clear();
        } else if is_first && line.trim_start().starts_with('#') {
            between.push_str(line.trim_start());
        } else if is_ours {
            between.clear();
        } else {
            kept.push_str(&between);
            kept.push_str(line);
            between.clear();
        }
    }
    kept.push_str(&between);
    let kept = kept.trim_start_matches('\n').trim_end();
    if kept.is_empty() { String::new() } else { format!("{kept}\n") }
}

/// Returns the name of the field that starts on the line.
fn key(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let is_item = line.strip_prefix('-').is_some_and(|rest| rest.starts_with([' ', '\t', '\n']) || rest.is_empty());
    let begins = !line.starts_with([' ', '\t', '#']) && !is_item;
    (begins && (rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']))).then(|| key.trim().trim_matches(['"', '\'']))
}

/// The context of a file, from which missing fields are filled in.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileContext<'a> {
    /// The file name without its extension.
    pub stem: &'a str,
    /// The name of the file's folder.
    pub folder: &'a str,
    /// When the file was last modified, milliseconds since the Unix epoch.
    pub modified: u64,
}

impl<'a> FileContext<'a> {
    /// Returns the context of a file with this path, which has `/` between folders.
    pub fn from_path(path: &'a str, modified: u64) -> Self {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = above.rsplit('/').next().unwrap_or_default();
        Self { stem: name.strip_suffix(".md").unwrap_or(name), folder, modified }
    }
}

/// Parses a note. Missing fields are taken from the file's name, folder, heading and modification time. An invalid
/// field is an error, one line for a person.
pub fn parse(text: &str, around: FileContext<'_>, registry: &Registry) -> Result<Note, Invalid> {
    let NoteParts { fields, extra, body } = split(text)?;
    let fields = FrontMatterFields(fields.unwrap_or_default());
    let (heading, content) = split_heading(&body, &fields.text("title")?);
    let title = [fields.text("title")?, heading.to_owned(), around.stem.replace(['-', '_'], " ")]
        .iter()
        .map(|title| one_line(title, MAX_TITLE_CHARS))
        .find(|title| !title.is_empty())
        .ok_or("it has no title")?;
    if content.len() > MAX_CONTENT_BYTES {
        return Err(
            format!("it has {} KiB, but a note may have at most {}", content.len() >> 10, MAX_CONTENT_BYTES >> 10).into()
        );
    }
    let note_type = match fields.text("type")?.trim() {
        "" if registry.get(around.folder).is_some() => around.folder.to_owned(),
        "" => super::registry::GENERAL_TYPE.to_owned(),
        name => name.to_owned(),
    };
    let created = fields.created()?.unwrap_or_else(|| day_of(around.stem).unwrap_or(around.modified));
    let importance = fields.importance()?.unwrap_or_else(|| registry.get(&note_type).map_or(0.6, |it| it.importance));
    let description = one_line(&fields.text("contextual_description")?, super::MAX_DESCRIPTION_CHARS);
    Ok(Note {
        uid: fields.text("id")?.trim().to_owned(),
        kind: fields.text("kind")?.trim().to_owned(),
        description: if description.is_empty() { describe(&title, content) } else { description },
        content: content.to_owned(),
        title,
        tags: fields.list("tags")?,
        keywords: fields.list("keywords")?,
        related: fields.list("related")?,
        files: fields.list("files")?,
        session: fields.text("session")?.trim().to_owned(),
        note_type,
        importance,
        created,
        extra,
    })
}

/// The fields of the front matter. A field that is missing or empty counts as not given.
struct FrontMatterFields(Map<String, Value>);

impl FrontMatterFields {
    /// Returns the text of a field, empty if it is not given.
    fn text(&self, name: &str) -> Result<String, Invalid> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(value) => scalar(value).ok_or_else(|| format!("{name}: it is not a text").into()),
        }
    }

    /// Returns the texts of a field that is a list, or a text with separators.
    fn list(&self, name: &str) -> Result<Vec<String>, Invalid> {
        let item = |item: &Value| scalar(item).ok_or_else(|| format!("{name}: an item is not a text").into());
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(parse_list(text)),
            Some(Value::Array(items)) => items.iter().map(item).collect(),
            Some(_) => Err(format!("{name}: it is not a list of texts").into()),
        }
    }

    /// Returns when the note was made, milliseconds since the Unix epoch, if that is given.
    fn created(&self) -> Result<Option<u64>, Invalid> {
        match self.text("created")?.trim() {
            "" => Ok(None),
            text => parse_time(text)
                .map(Some)
                .ok_or_else(|| format!("created: {text:?} is not a time such as 2026-02-23T09:56:43Z").into()),
        }
    }

    /// Returns how important the note is, from 0 to 1, if that is given.
    fn importance(&self) -> Result<Option<f32>, Invalid> {
        let Some(value) = self.0.get("importance").filter(|value| !value.is_null()) else { return Ok(None) };
        let number = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
        #[expect(clippy::cast_possible_truncation, reason = "it is within 0 to 1")]
        let number = number.ok_or("importance: it is not a number from 0 to 1")? as f32;
        Ok(Some(number))
    }
}

/// Returns a value that is not a list or a mapping as a text.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        _ => None,
    }
}

/// Returns the text without a heading at its top that says the same as the title, which every reader is shown as well.
pub fn without_heading<'a>(text: &'a str, title: &str) -> &'a str {
    let (heading, rest) = split_heading(text, title);
    // A note of nothing but its title keeps it.
    if heading.is_empty() || rest.is_empty() { text } else { rest }
}

/// Returns the first heading and the text below it. A heading that differs from the title stays part of the text.
fn split_heading<'a>(body: &'a str, title: &str) -> (&'a str, &'a str) {
    let body = body.trim();
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    let heading = match first.trim_start_matches('#') {
        text if text.len() < first.len() && text.starts_with(' ') => text.trim(),
        _ => return ("", body),
    };
    if title.is_empty() || one_line(heading, MAX_TITLE_CHARS) == one_line(title, MAX_TITLE_CHARS) {
        (heading, rest.trim())
    } else {
        ("", body)
    }
}

fn day_of(stem: &str) -> Option<u64> {
    let (day, _) = stem.split_once('_')?;
    parse_time(day)
}

/// Parses a time with or without time zone, or a date alone; without a zone it is UTC.
fn parse_time(text: &str) -> Option<u64> {
    let of = |at: Timestamp| u64::try_from(at.as_millisecond()).ok();
    if let Ok(at) = text.parse::<Timestamp>() {
        return of(at);
    }
    let civil: jiff::civil::DateTime = text.replacen(' ', "T", 1).parse().or_else(|_| text.parse()).ok()?;
    of(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}

/// Formats a time.
pub fn format_time(at: u64) -> String {
    i64::try_from(at).ok().and_then(|at| Timestamp::from_millisecond(at).ok()).unwrap_or_default().to_string()
}

/// Formats a note as a file.
pub fn format_note(note: &Note, registry: &Registry) -> String {
    let mut text = String::with_capacity(note.content.len() + 512);
    let field = |text: &mut String, name: &str, value: &str| {
        let _ = writeln!(text, "{name}: {value}");
    };
    let list = |text: &mut String, name: &str, items: &[String]| {
        if !items.is_empty() {
            let _ = writeln!(text, "{name}:");
            for item in items {
                let _ = writeln!(text, "  - {}", yaml::scalar(item));
            }
        }
    };
    text.push_str("---\n");
    field(&mut text, "title", &yaml::quoted(&note.title));
    list(&mut text, "tags", &note.tags);
    field(&mut text, "type", &yaml::scalar(&note.note_type));
    field(&mut text, "created", &format_time(note.created));
    if !note.description.is_empty() {
        field(&mut text, "contextual_description", &yaml::quoted(&note.description));
    }
    list(&mut text, "keywords", &note.keywords);
    list(&mut text, "related", &note.related);
    list(&mut text, "files", &note.files);
    if registry.get(&note.note_type).is_none_or(|it| it.importance.to_bits() != note.importance.to_bits()) {
        field(&mut text, "importance", &note.importance.to_string());
    }
    if !note.kind.is_empty() && note.kind != registry.kind_of(&note.note_type) {
        field(&mut text, "kind", &yaml::scalar(&note.kind));
    }
    if !note.session.is_empty() {
        field(&mut text, "session", &yaml::scalar(&note.session));
    }
    if !note.uid.is_empty() {
        field(&mut text, "id", &yaml::quoted(&note.uid));
    }
    text.push_str(&note.extra);
    let _ = write!(text, "---\n\n## {}\n", note.title);
    let content = lines(&note.content);
    let content = content.trim();
    if !content.is_empty() {
        let _ = write!(text, "\n{content}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Note, Invalid> {
        parse(text, FileContext { stem: "2026-02-23_some-name", folder: "root-cause", modified: 5 }, &Registry::built_in())
    }

    #[test]
    fn the_seeds_form_is_read() {
        let note = read(
            "---\ntitle: \"Auth token: expired\"\ntags:\n  - debug\n  - root-cause\ntype: root-cause\ncreated: 2026-02-23T09:56:43Z\n\
             contextual_description: \"d\"\nkeywords: jwt, token\nrelated:\n  - 2026-01-16_jwt\nsymptom: |\n  a: b\n  c\n# why\ncause: x\n---\n\n\
             ## Auth token: expired\n\nThe clock was wrong.\n",
        )
        .unwrap();
        assert_eq!((note.title.as_str(), note.content.as_str()), ("Auth token: expired", "The clock was wrong."));
        assert_eq!((note.keywords.len(), note.related.len(), note.created), (2, 1, 1_771_840_603_000));
        assert_eq!(note.extra, "symptom: |\n  a: b\n  c\n# why\ncause: x\n");
    }

    #[test]
    fn what_is_missing_is_taken_from_around() {
        let note = read("Only prose.\r\nTwo lines.\r\n").unwrap();
        assert_eq!((note.title.as_str(), note.note_type.as_str()), ("2026 02 23 some name", "root-cause"));
        assert_eq!(note.content, "Only prose.\nTwo lines.");
        assert_eq!(note.created, 1_771_804_800_000);
        let note = read("\u{feff}---\r\ntags: [a, 3, true]\r\n---\r\n# A heading\r\n\r\nText\r\n").unwrap();
        assert_eq!((note.title.as_str(), note.content.as_str()), ("A heading", "Text"));
        assert_eq!(note.tags, ["a", "3", "true"]);
    }

    #[test]
    fn what_is_broken_is_said() {
        for (text, wrong) in [
            ("---\ntitle: x\n", "does not end"),
            ("---\ntitle: [x\n---\n", "line"),
            ("---\n- a\n---\n", "not a list of fields"),
            ("---\ntitle: {a: b}\n---\n", "title: it is not a text"),
            ("---\ntags: {a: b}\n---\n", "tags: it is not a list"),
            ("---\ncreated: soon\n---\n", "created: \"soon\" is not a time"),
            ("---\nimportance: 7\n---\n", "importance"),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.to_string().contains(wrong), "{text:?}: {why}");
        }
        assert!(read(&"x".repeat(MAX_CONTENT_BYTES + 1)).unwrap_err().to_string().contains("KiB"));
        assert!(
            split(&format!("---\na: {}", "x\n".repeat(MAX_FRONT_MATTER_BYTES))).unwrap_err().to_string().contains("KiB")
        );
    }

    #[test]
    fn a_heading_that_says_something_else_is_content() {
        let note = read("---\ntitle: A\n---\n\n# B\n\nText\n").unwrap();
        assert_eq!(note.content, "# B\n\nText");
    }

    prop_compose! {
        fn notes()(
            uid in "[0-9a-f]{12}", at in 0..15usize, title in "\\PC{1,40}", content in any::<String>(),
            tags in prop::collection::vec("\\PC{1,12}", 0..4), keywords in prop::collection::vec(any::<String>(), 0..4),
            related in prop::collection::vec("[a-z:0-9_-]{1,20}", 0..3), files in prop::collection::vec("[a-z/.]{1,20}", 0..3),
            importance in 0.0_f32..=1.0, created in 0..4_102_444_800_000_u64, session in "[0-9a-f-]{0,36}",
            extra in prop::sample::select(vec!["", "symptom: x\n", "list:\n- a\n- b\n# end\n", "text: |\n  a\n\n  b\n"]),
        ) -> Note {
            let registry = Registry::built_in();
            let note_type = registry.names().nth(at).unwrap_or("unknown-type").to_owned();
            let title = match one_line(&title, MAX_TITLE_CHARS) { title if title.is_empty() => "x".to_owned(), title => title };
            Note {
                uid, title, tags, keywords, related, files, importance, created, session,
                content: lines(&content).trim().to_owned(),
                description: "d".into(),
                kind: String::new(),
                extra: extra.to_owned(),
                note_type,
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(note in notes()) {
            let registry = Registry::built_in();
            let text = format_note(&note, &registry);
            let again = parse(&text, FileContext::default(), &registry).unwrap();
            prop_assert_eq!(&again, &note);
            prop_assert_eq!(format_note(&again, &registry), text);
        }

        #[test]
        fn no_file_makes_it_panic(text in "(---\n)?[-a-c: \\[\\]{}'\"\r\n#|]{0,80}(\n---\n)?[a-c#\n ]{0,20}") {
            if let Ok(note) = read(&text) {
                let again = read(&format_note(&note, &Registry::built_in())).unwrap();
                prop_assert_eq!(&again.title, &note.title);
                prop_assert_eq!(&again.content, &note.content);
                prop_assert_eq!(&again.extra, &note.extra);
            }
        }
    }
}
