//! A fold over the lines of the transcript: the same lines give the same drafts, in one call or in ten.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::adr::{self, Record};
use crate::lines;
use crate::text::{bare, clip};

/// The maximum number of decisions in the notes, of files whose text is known, and of bytes of the known keys. Together
/// with the lengths below, they keep the state under the contract's 256 KiB, even if every byte is escaped.
const MAX_KEPT: usize = 30;
const MAX_FILES: usize = 20;
const MAX_SEEN: usize = 40_000;
const MAX_PATH: usize = 300;
const MAX_TEXT: usize = 400;
const MAX_OPTION: usize = 120;
const MAX_OPTIONS: usize = 6;
const MAX_KEY: usize = 200;

/// The maximum length of a title in bytes, so that it stays within the contract's 200 characters.
const MAX_TITLE: usize = 200;

/// The heading of injected memory. Text that contains it was remembered before.
const INJECTED: &str = "## Session Memory";

/// The user's settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The word before the colon of a decision. If it is empty, lines are not read.
    pub marker: String,
    /// The folders of ADR files. If there are none, files are not read.
    pub folders: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        let folders = ["docs/adr", "doc/adr", "docs/decisions", "docs/architecture/decisions", "adr"];
        Self { marker: "DECISION".into(), folders: folders.map(str::to_owned).into() }
    }
}

/// A memory; see `draft` in the contract.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the contract's own names")]
pub struct Draft {
    pub key: String,
    pub title: String,
    pub content: String,
    pub files: Vec<String>,
    pub importance: f32,
    pub line_uuid: Option<String>,
    pub at: Option<u64>,
    pub attributes: Vec<(String, String)>,
}

/// A decision in the session's notes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    key: String,
    /// The decision, in one line.
    pub what: String,
    /// The reason. Empty if none was given.
    pub why: String,
    /// The rejected options.
    pub rejected: Vec<String>,
}

/// The state that is kept between calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// The keys of stated decisions, oldest first. Repeating a decision teaches nothing.
    seen: VecDeque<String>,
    /// The decisions in the notes, oldest first.
    kept: VecDeque<Kept>,
    /// The latest content of the ADR files, by path.
    files: BTreeMap<String, Record>,
}

/// The fold over the lines.
pub struct Fold {
    settings: Settings,
    root: String,
    state: State,
    signs: Vec<Finder<'static>>,
    drafts: BTreeMap<String, Draft>,
    order: Vec<String>,
    malformed: u32,
}

impl Fold {
    /// Continues from `state`. A state in another format is ignored. `root` is the project's folder.
    pub fn new(settings: Settings, root: &str, state: Option<&str>) -> Self {
        let state = state.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let mut signs: Vec<Finder<'static>> = Vec::new();
        if !settings.marker.is_empty() {
            // The marker as it appears inside JSON, without the quotes.
            let json = Value::from(settings.marker.as_str()).to_string();
            signs.push(Finder::new(json.trim_matches('"')).into_owned());
        }
        if !settings.folders.is_empty() {
            signs.push(Finder::new("filePath").into_owned());
        }
        let root = format!("{}/", root.replace('\\', "/").trim_end_matches('/'));
        Self { settings, root, state, signs, drafts: BTreeMap::new(), order: Vec::new(), malformed: 0 }
    }

    /// Processes one line of the transcript. A line without any sign of a decision is not parsed.
    pub fn line(&mut self, text: &str) {
        let whole = text.starts_with('{') && text.ends_with('}');
        if whole && !self.signs.iter().any(|sign| sign.find(text.as_bytes()).is_some()) {
            return;
        }
        // A crash may leave NUL bytes before a record, and a lost newline puts two records on one line.
        let text = text.trim_matches(|c: char| c == '\0' || c == '\u{feff}' || c.is_whitespace());
        for record in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            match record {
                Ok(record) => self.record(&record),
                Err(_) => self.malformed += 1,
            }
        }
    }

    fn record(&mut self, record: &Value) {
        if ["isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage"].iter().any(|flag| record[flag] == true) {
            return;
        }
        let origin = Origin::of(record);
        match &record["message"]["content"] {
            Value::String(text) => self.text(text, &origin),
            Value::Array(blocks) => {
                for text in blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str())
                {
                    self.text(text, &origin);
                }
            }
            _ => {}
        }
        if record["type"] == "user" {
            self.file(&record["toolUseResult"], &origin);
        }
    }

    /// Reads a text of the user or the agent. Text in angle brackets comes from the client.
    fn text(&mut self, text: &str, origin: &Origin) {
        let marker = self.settings.marker.clone();
        let client =
            text.trim_start().strip_prefix('<').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
        if marker.is_empty() || client || text.contains(INJECTED) {
            return;
        }
        for stated in lines::stated(text, &marker) {
            self.stated(&stated, origin);
        }
    }

    fn stated(&mut self, stated: &lines::Stated, origin: &Origin) {
        let key = format!("line:{}", clip(&stated.what.to_lowercase(), MAX_KEY));
        if self.state.seen.contains(&key) {
            return;
        }
        self.state.seen.push_back(key.clone());
        while self.state.seen.iter().map(String::len).sum::<usize>() > MAX_SEEN {
            self.state.seen.pop_front();
        }
        let why = if stated.why.is_empty() { String::new() } else { format!("Why: {}", stated.why) };
        let content = markdown(&stated.what, &why, &stated.rejected);
        self.keep(&key, &stated.what, &stated.why, &stated.rejected);
        self.add(Draft {
            key,
            title: clip(&stated.what, MAX_TITLE),
            content,
            files: stated.files.iter().map(|file| self.relative(file)).collect(),
            importance: 0.9,
            line_uuid: origin.uuid.clone(),
            at: origin.at,
            attributes: Vec::new(),
        });
    }

    /// Reads what a tool wrote to an ADR file. There is a result only if the tool succeeded.
    fn file(&mut self, result: &Value, origin: &Origin) {
        let Some(path) = result["filePath"].as_str().map(|path| self.relative(path)) else {
            return;
        };
        if path.len() > MAX_PATH || !adr::is_record(&path, &self.settings.folders) {
            return;
        }
        let mut record = self.state.files.get(&path).cloned().unwrap_or_default();
        match written(result) {
            Some(Written::Whole(text)) => record = Record::read(&text),
            Some(Written::Part(text)) => record.update(Record::read(text)),
            None => return,
        }
        if !record.is_empty() && self.state.files.get(&path) != Some(&record) {
            self.adr(&path, &record, origin);
            self.state.files.insert(path, record);
            while self.state.files.len() > MAX_FILES {
                self.state.files.pop_first();
            }
        }
    }

    fn adr(&mut self, path: &str, record: &Record, origin: &Origin) {
        let name = adr::number(path).map_or_else(|| "ADR".to_owned(), |number| format!("ADR {number}"));
        let status = if record.status.is_empty() { String::new() } else { format!(" ({})", record.status) };
        let title = format!("{name}: {}{status}", record.title);
        let content = markdown(&title, &record.decision, &record.rejected);
        let key = format!("adr:{}", clip(path, MAX_KEY));
        self.keep(&key, &title, bare(&record.decision), &record.rejected);
        let attributes = if record.status.is_empty() { Vec::new() } else { vec![("status".into(), record.status.clone())] };
        self.add(Draft {
            key,
            title: clip(&title, MAX_TITLE),
            content,
            files: vec![path.to_owned()],
            importance: record.importance(),
            line_uuid: origin.uuid.clone(),
            at: origin.at,
            attributes,
        });
    }

    fn add(&mut self, draft: Draft) {
        if self.drafts.insert(draft.key.clone(), draft.clone()).is_none() {
            self.order.push(draft.key);
        }
    }

    fn keep(&mut self, key: &str, what: &str, why: &str, rejected: &[String]) {
        let rejected = rejected.iter().take(MAX_OPTIONS).map(|option| clip(option, MAX_OPTION)).collect();
        let kept = Kept { key: key.to_owned(), what: clip(what, MAX_TEXT), why: clip(why, MAX_TEXT), rejected };
        self.state.kept.retain(|old| old.key != key);
        self.state.kept.push_back(kept);
        while self.state.kept.len() > MAX_KEPT {
            self.state.kept.pop_front();
        }
    }

    /// Returns the path with `/` between folders, relative to the root if it is inside.
    fn relative(&self, path: &str) -> String {
        let path = path.replace('\\', "/");
        path.strip_prefix(&self.root).unwrap_or(&path).trim_start_matches("./").to_owned()
    }

    /// Returns the drafts, each once, in the order in which they were first found.
    pub fn drafts(&self) -> impl Iterator<Item = &Draft> {
        self.order.iter().filter_map(|key| self.drafts.get(key))
    }

    /// Returns the decisions of the whole session, latest last.
    pub fn kept(&self) -> impl Iterator<Item = &Kept> {
        self.state.kept.iter()
    }

    /// Returns how many lines, or parts of lines, are not valid JSON.
    pub fn malformed(&self) -> u32 {
        self.malformed
    }

    /// Returns the state for the next call.
    pub fn state(&self) -> String {
        serde_json::to_string(&self.state).unwrap_or_default()
    }
}

/// Formats the text of a memory, one paragraph for each part.
fn markdown(what: &str, more: &str, rejected: &[String]) -> String {
    let mut paragraphs = vec![what.to_owned()];
    if !more.is_empty() {
        paragraphs.push(more.to_owned());
    }
    paragraphs.extend(rejected.iter().map(|option| format!("Rejected: {option}")));
    paragraphs.join("\n\n")
}

struct Origin {
    uuid: Option<String>,
    at: Option<u64>,
}

impl Origin {
    fn of(record: &Value) -> Self {
        let at = record["timestamp"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
        Self {
            uuid: record["uuid"].as_str().map(str::to_owned),
            at: at.and_then(|at| u64::try_from(at.as_millisecond()).ok()),
        }
    }
}

enum Written<'a> {
    Whole(String),
    Part(&'a str),
}

/// Returns what the file contains after a write or an edit, as far as the result shows it.
fn written(result: &Value) -> Option<Written<'_>> {
    if let Some(text) = result["content"].as_str() {
        return Some(Written::Whole(text.to_owned()));
    }
    let new = result["newString"].as_str()?;
    match (result["originalFile"].as_str(), result["oldString"].as_str()) {
        (Some(original), Some(old)) if !old.is_empty() => Some(Written::Whole(if result["replaceAll"] == true {
            original.replace(old, new)
        } else {
            original.replacen(old, new, 1)
        })),
        _ => Some(Written::Part(new)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn said(kind: &str, text: &str) -> String {
        json!({"type": kind, "uuid": "u1", "timestamp": "2026-02-23T10:00:00.500Z",
            "message": {"role": kind, "content": [{"type": "text", "text": text}]}})
        .to_string()
    }

    fn wrote(result: &Value) -> String {
        json!({"type": "user", "uuid": "u2", "message": {"role": "user", "content": []}, "toolUseResult": result})
            .to_string()
    }

    /// Runs the lines in calls of `size` lines, each with the state of the previous one, as the host does.
    fn run(lines: &[String], size: usize) -> (BTreeMap<String, Draft>, Vec<Kept>, u32) {
        let (mut drafts, mut state, mut kept, mut malformed) = (BTreeMap::new(), None::<String>, Vec::new(), 0);
        for call in lines.chunks(size.max(1)) {
            let mut fold = Fold::new(Settings::default(), "/p", state.as_deref());
            for line in call {
                fold.line(line);
            }
            drafts.extend(fold.drafts().map(|draft| (draft.key.clone(), draft.clone())));
            kept = fold.kept().cloned().collect();
            malformed += fold.malformed();
            state = Some(fold.state());
        }
        (drafts, kept, malformed)
    }

    #[test]
    fn decisions_of_the_human_and_the_agent() {
        let lines = [
            said("user", "DECISION: tokens in Redis because workers share them\nRejected: one cache each"),
            said("assistant", "As agreed.\n- **DECISION**: `src/cache.rs` is the only door"),
            said("user", "> DECISION: Tokens in Redis"),
            json!({"type": "user", "message": {"content": "DECISION: a plain prompt"}}).to_string(),
        ];
        let (drafts, kept, malformed) = run(&lines, 10);
        let first = &drafts["line:tokens in redis"];
        assert_eq!(first.title, "tokens in Redis");
        assert_eq!(first.content, "tokens in Redis\n\nWhy: workers share them\n\nRejected: one cache each");
        assert_eq!((first.line_uuid.as_deref(), first.at), (Some("u1"), Some(1_771_840_800_500)));
        assert_eq!(drafts.values().find(|d| d.title.contains("door")).unwrap().files, ["src/cache.rs"]);
        assert_eq!((drafts.len(), kept.len(), malformed), (3, 3, 0));
        assert_eq!(kept[0].rejected, ["one cache each"]);
    }

    #[test]
    fn nobodys_own_words_are_no_decisions() {
        let mut lines = vec![
            said("user", "<system-reminder>\nDECISION: x\n</system-reminder>"),
            said("user", "## Session Memory\nDECISION: x"),
        ];
        for flag in ["isMeta", "isSidechain", "isCompactSummary"] {
            lines.push(json!({"type": "user", flag: true, "message": {"content": "DECISION: x"}}).to_string());
        }
        assert!(run(&lines, 10).0.is_empty());
    }

    #[test]
    fn files_that_are_written_and_edited() {
        let path = "/p/docs/adr/0007-use-redis.md";
        let text = "# 7. Use Redis\n\n## Status\n\nProposed\n\n## Decision\n\nTokens live in Redis.\n\n## Alternatives\n\n- memory\n";
        let lines = [
            wrote(&json!({"type": "create", "filePath": path, "content": text})),
            wrote(&json!({"filePath": path, "originalFile": text, "oldString": "Proposed", "newString": "Accepted"})),
            wrote(&json!({"type": "create", "filePath": "/p/README.md", "content": text})),
            wrote(&json!("Error: the file docs/adr/0008.md is not there (filePath)")),
        ];
        for size in [1, 10] {
            let (drafts, kept, _) = run(&lines, size);
            assert_eq!(drafts.len(), 1);
            let draft = &drafts["adr:docs/adr/0007-use-redis.md"];
            assert_eq!(draft.title, "ADR 0007: Use Redis (accepted)");
            assert_eq!(draft.content, "ADR 0007: Use Redis (accepted)\n\nTokens live in Redis.\n\nRejected: memory");
            assert_eq!(draft.files, ["docs/adr/0007-use-redis.md"]);
            assert_eq!(draft.attributes, [("status".to_owned(), "accepted".to_owned())]);
            assert_eq!((kept.len(), kept[0].why.as_str()), (1, "Tokens live in Redis."));
        }
    }

    #[test]
    fn an_edit_without_the_original_changes_what_it_names() {
        let path = "/p/docs/adr/0007-use-redis.md";
        let lines = [
            wrote(&json!({"filePath": path, "content": "# Use Redis\n\nStatus: proposed\n"})),
            wrote(&json!({"filePath": path, "oldString": "Status: proposed", "newString": "Status: accepted"})),
        ];
        assert_eq!(run(&lines, 1).0["adr:docs/adr/0007-use-redis.md"].title, "ADR 0007: Use Redis (accepted)");
    }

    #[test]
    fn lines_that_cannot_be_read_are_counted() {
        let good = said("user", "DECISION: x");
        let lines = [
            "{\"type\":".to_owned(),
            "// no".into(),
            format!("\0\0{good} {good}"),
            format!("{good} {{"),
            "7".into(),
            String::new(),
        ];
        let (drafts, _, malformed) = run(&lines, 10);
        assert_eq!((drafts.len(), malformed), (1, 3));
    }

    #[test]
    fn settings_decide_what_is_read() {
        let settings = Settings { marker: "결정".into(), folders: Vec::new() };
        let mut fold = Fold::new(settings, "/p", None);
        fold.line(&said("user", "결정: Redis를 쓴다\nDECISION: x"));
        fold.line(&wrote(&json!({"filePath": "/p/docs/adr/1.md", "content": "# A\nStatus: accepted"})));
        assert_eq!(fold.drafts().map(|draft| draft.title.as_str()).collect::<Vec<_>>(), ["Redis를 쓴다"]);
    }

    #[test]
    fn the_state_stays_within_what_the_contract_allows() {
        let mut fold = Fold::new(Settings::default(), "/p", None);
        for n in 0..500 {
            let noise = "\"\u{1}".repeat(1_000);
            fold.line(&said("user", &format!("DECISION: {n} {noise} because {noise}\nRejected: {noise}; {noise}")));
            let text = format!(
                "# {n} {noise}\n\n## Status\n{noise}\n## Decision\n{noise}\n## Options considered\n- {noise}\n- a\n"
            );
            fold.line(&wrote(&json!({"filePath": format!("/p/adr/{n}.md"), "content": text})));
        }
        let state = fold.state();
        assert!(state.len() < 256 << 10, "{}", state.len());
        assert_eq!(Fold::new(Settings::default(), "/p", Some(&state)).state(), state);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let key =
            prop::sample::select(vec!["type", "message", "content", "text", "toolUseResult", "filePath", "newString", "x"]);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            prop::sample::select(vec!["user", "text", "DECISION: a", "/p/adr/1.md", "# a\nStatus: b", ""])
                .prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((key.clone(), inner), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_json_makes_it_panic(record in any_json(), state in any_json()) {
            let mut fold = Fold::new(Settings::default(), "/p", Some(&state.to_string()));
            fold.record(&record);
            fold.line(&record.to_string());
            fold.state();
        }

        #[test]
        fn one_call_or_many_give_the_same(
            picks in prop::collection::vec((0_u8..4, 0_u8..6), 0..40),
            size in 1_usize..12,
        ) {
            let lines: Vec<String> = picks.iter().map(|(kind, n)| match kind {
                0 => said("user", &format!("DECISION: take {n} because of it")),
                1 => said("assistant", &format!("DECISION: take {n}\nRejected: {}", n + 1)),
                2 => wrote(&json!({"filePath": format!("/p/adr/{}.md", n % 3), "content": format!("# A\n\n## Decision\n{n}")})),
                _ => wrote(&json!({"filePath": format!("/p/adr/{}.md", n % 3), "newString": format!("Status: {n}")})),
            }).collect();
            prop_assert_eq!(run(&lines, size), run(&lines, lines.len()));
        }
    }
}
