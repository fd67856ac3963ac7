//! The format of shared memories: one record for a revision of a memory, or for its deletion, as JSON. A record is known by the
//! SHA-256 of its bytes.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use throughline_model::digest::sha256_hex;
use throughline_model::redacted::{Redacted, Texts};
use throughline_model::said_by::SaidBy;

/// The version of the form. A record of a later version is left alone.
const RECORD_VERSION: u32 = 1;

/// The longest body, bytes: the longest content that an import takes with every character escaped would be longer, but then the
/// memory is not shared.
pub const MAX_BODY_BYTES: usize = 256 << 10;

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    /// A revision of a memory.
    Memory,
    /// A deletion.
    Tombstone,
}

impl RecordKind {
    /// Returns the word that is stored and sent.
    pub fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Tombstone => "tombstone",
        }
    }

    /// Returns the kind of this word.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Memory, Self::Tombstone].into_iter().find(|kind| kind.word() == word)
    }
}

/// A memory that is about to be shared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SharedMemory {
    /// What stays the same when the memory is edited.
    pub item: String,
    /// The hashes of the revisions whose place this one takes.
    pub replaces: Vec<String>,
    /// Items whose memories a person or an agent said this one replaces, and how.
    pub supersedes: Vec<(String, String)>,
    /// How its project is recognized.
    pub project: String,
    /// Its kind.
    pub kind: String,
    /// One line.
    pub title: String,
    /// Markdown.
    pub content: String,
    /// Search terms.
    pub keywords: Vec<String>,
    /// Files, relative to the project's root.
    pub files: Vec<String>,
    /// 0 to 1.
    pub importance: f32,
    /// When it was learned.
    pub created: u64,
    /// Who said it.
    pub said_by: Option<SaidBy>,
}

impl Texts for SharedMemory {
    /// The project is not among them: it is an identity.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.title, &mut self.content];
        texts.extend(&mut self.keywords);
        texts.extend(&mut self.files);
        texts
    }
}

/// A record as it is written. The memory is a line as `throughline import` takes it.
#[derive(Serialize)]
struct Written<'a> {
    v: u32,
    item: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    replaces: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    supersedes: &'a [(String, String)],
    #[serde(skip_serializing_if = "str::is_empty")]
    project: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    target: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<WrittenMemory<'a>>,
}

#[derive(Serialize)]
struct WrittenMemory<'a> {
    r#type: &'a str,
    title: &'a str,
    content: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    keywords: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    files: &'a [String],
    importance: f32,
    created_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    said_by: Option<&'static str>,
}

/// A record that is ready to be stored and sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The SHA-256 of `body`.
    pub hash: String,
    /// Its item.
    pub item: String,
    /// How its project is recognized.
    pub project: String,
    /// The JSON.
    pub body: String,
}

impl SharedMemory {
    fn write(mut self) -> Record {
        // PostgreSQL stores no NUL.
        self.texts_mut().into_iter().for_each(|text| text.retain(|letter| letter != '\0'));
        let memory = WrittenMemory {
            r#type: &self.kind,
            title: &self.title,
            content: &self.content,
            keywords: &self.keywords,
            files: &self.files,
            importance: self.importance,
            created_at: self.created,
            said_by: self.said_by.map(SaidBy::word),
        };
        let body = to_json(&Written {
            v: RECORD_VERSION,
            item: &self.item,
            replaces: &self.replaces,
            supersedes: &self.supersedes,
            project: &self.project,
            target: "",
            memory: Some(memory),
        });
        Record { hash: sha256_hex(body.as_bytes()), item: self.item, project: self.project, body }
    }
}

/// Writes the record of a redacted memory.
pub fn record_of(memory: Redacted<SharedMemory>) -> Redacted<Record> {
    memory.map(SharedMemory::write)
}

/// Writes the record of a deletion: of an item, or of one of its revisions.
pub(super) fn tombstone(item: &str, target: &str) -> Record {
    let body =
        to_json(&Written { v: RECORD_VERSION, item, replaces: &[], supersedes: &[], project: "", target, memory: None });
    Record { hash: sha256_hex(body.as_bytes()), item: item.to_owned(), project: String::new(), body }
}

fn to_json(written: &Written<'_>) -> String {
    // Strings, numbers and lists of them can always be written.
    serde_json::to_string(written).unwrap_or_default()
}

/// A record as it was read.
#[derive(Debug, Clone, Deserialize)]
pub struct ReadRecord {
    v: u32,
    /// See [`SharedMemory::item`].
    pub item: String,
    /// See [`SharedMemory::replaces`].
    #[serde(default)]
    pub replaces: Vec<String>,
    /// See [`SharedMemory::supersedes`].
    #[serde(default)]
    pub supersedes: Vec<(String, String)>,
    /// See [`SharedMemory::project`].
    #[serde(default)]
    pub project: String,
    /// Of a deletion: the one revision that it deletes; empty for all of the item.
    #[serde(default)]
    pub target: String,
    /// The memory, as a line of an import.
    pub memory: Option<Box<RawValue>>,
}

/// Why a record cannot be used. No error quotes the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It is not JSON, or lacks a field.
    #[error("it is not valid JSON at column {column}")]
    NotJson {
        /// The column at which parsing stopped.
        column: usize,
    },
    /// A later version of the program wrote it.
    #[error("it has version {0}, and this program knows version {RECORD_VERSION}")]
    UnknownVersion(u32),
    /// The name of an item has the wrong form.
    #[error("it names an item that is none")]
    NotAnItem,
    /// The name of a revision has the wrong form.
    #[error("it names a revision that is none")]
    NotARevision,
    /// It names too many revisions or items.
    #[error("it names more than {MAX_NAMED} others")]
    TooManyNames,
    /// The key of its project has the wrong form.
    #[error("its project is too long or has control characters")]
    BadProject,
}

/// The most revisions or items that one record may name.
const MAX_NAMED: usize = 64;

/// The longest key of a project, bytes.
const MAX_PROJECT_KEY: usize = 1 << 10;

impl ReadRecord {
    /// Parses a record.
    pub fn parse(body: &str) -> Result<Self, RecordError> {
        let record: Self = serde_json::from_str(body).map_err(|error| RecordError::NotJson { column: error.column() })?;
        let hashes = record.replaces.iter().chain((!record.target.is_empty()).then_some(&record.target));
        if record.v > RECORD_VERSION {
            return Err(RecordError::UnknownVersion(record.v));
        }
        if !is_item(&record.item) || !record.supersedes.iter().all(|(item, _)| is_item(item)) {
            return Err(RecordError::NotAnItem);
        }
        if !hashes.into_iter().all(|hash| throughline_model::digest::is_sha256_hex(hash)) {
            return Err(RecordError::NotARevision);
        }
        if record.replaces.len() > MAX_NAMED || record.supersedes.len() > MAX_NAMED {
            return Err(RecordError::TooManyNames);
        }
        if record.project.len() > MAX_PROJECT_KEY || record.project.chars().any(char::is_control) {
            return Err(RecordError::BadProject);
        }
        Ok(record)
    }
}

/// Returns whether this is an item: 32 hexadecimal digits.
pub fn is_item(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let memory = SharedMemory {
            item: "0".repeat(32),
            replaces: vec!["a".repeat(64)],
            project: "name:otters".into(),
            kind: "decision".into(),
            content: "Otters \"hold\"\0 hands.\n".into(),
            ..SharedMemory::default()
        };
        let record = memory.write();
        let read = ReadRecord::parse(&record.body).unwrap();
        assert_eq!((read.item, read.project, read.replaces), (record.item, record.project, vec!["a".repeat(64)]));
        assert!(read.memory.unwrap().get().contains(r#""content":"Otters \"hold\" hands.\n""#));
        let deletion = tombstone(&"1".repeat(32), "");
        let read = ReadRecord::parse(&deletion.body).unwrap();
        assert!(read.memory.is_none() && read.target.is_empty());
    }

    #[test]
    fn what_names_nothing_is_refused() {
        let item = "0".repeat(32);
        for (body, why) in [
            ("{".to_owned(), "not valid JSON"),
            (format!(r#"{{"v":2,"item":"{item}"}}"#), "version 2"),
            (r#"{"v":1,"item":"'; DROP"}"#.to_owned(), "an item"),
            (format!(r#"{{"v":1,"item":"{item}","replaces":["x"]}}"#), "a revision"),
            (format!(r#"{{"v":1,"item":"{item}","supersedes":[["x","amends"]]}}"#), "an item"),
            (format!(r#"{{"v":1,"item":"{item}","project":"a\u0000"}}"#), "control"),
        ] {
            let error = ReadRecord::parse(&body).unwrap_err().to_string();
            assert!(error.contains(why), "{body}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(body in "\\PC{0,200}") {
            drop(ReadRecord::parse(&body));
        }
    }
}
