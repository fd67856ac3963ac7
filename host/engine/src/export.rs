//! Exports memories and sessions: as lines of JSON that `throughline import` reads, and memories as Markdown files of
//! notes. Lines that are exported, imported into an empty store and exported again stay the same.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::import::line::{
    self, DEFAULT_TYPE, MAX_CONTENT_BYTES, MAX_ID_BYTES, MAX_LINE_BYTES, MAX_LIST, MAX_REASON_CHARS, MAX_TITLE_CHARS,
};
use crate::note_sync::folder::Folder;
use crate::redaction;
use crate::runtime::Runtime;
use crate::team::project_key::ProjectKey;
use throughline_model::contract::{Memory, SessionNotes};
use throughline_model::project::Project;
use throughline_model::said_by::SaidBy;
use throughline_notes::registry::Registry;
use throughline_notes::{markdown, slug};
use throughline_search::supersession::Relation;
use throughline_store::{EXTERNAL_ID, KnownSession, Marks, StatedLink, Store, wrong_because};

/// How many notes are redacted at once.
const BATCH: usize = 200;

/// The start of a placeholder. An external identifier that contains one is not exported, since two different
/// identifiers may have become equal by redaction.
const PLACEHOLDER: &str = "[redacted:";

/// What the lines of an export are.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
pub enum AnyExportLine<'a> {
    /// A project.
    Project(ProjectLine<'a>),
    /// A session.
    Session(Box<SessionLine<'a>>),
    /// A memory.
    Memory(Box<ExportLine<'a>>),
}

/// The line of a project that is a folder. These come first.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProjectLine<'a> {
    /// The root folder, as the other lines name it.
    project: &'a str,
    /// How the project is recognized on another machine: a hash of its first commits and its remote; empty if it has no
    /// repository.
    project_key: String,
}

/// The line of a session. These come before the memories.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionLine<'a> {
    project: &'a str,
    session: ExportedSession<'a>,
}

/// A session.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ExportedSession<'a> {
    /// The agent's identifier.
    id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    agent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    /// Missing while the session runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    summary: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    topics: &'a [String],
    /// Times are milliseconds since the Unix epoch.
    notes: SessionNotes,
}

/// The line of a memory: the fields that `import/line.rs` reads.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportLine<'a> {
    id: &'a str,
    project: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    session_id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    title: &'a str,
    content: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keywords: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<&'a str>,
    importance: f32,
    created_at: String,
    /// Who said it: `human`, `agreed`, `agent` or `tool`; missing if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    said_by: Option<SaidBy>,
    /// When a person pinned it; RFC 3339, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned_at: Option<String>,
    /// When a person marked it wrong; RFC 3339, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong_at: Option<String>,
    /// Why it is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong_because: Option<&'a str>,
    /// What a person or an agent said of earlier memories. Links that were found by comparing texts are found again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    supersedes: Vec<ExportedLink<'a>>,
}

/// That a memory took the place of an earlier one, or that a person undid such a link.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ExportedLink<'a> {
    /// The `id` of the earlier memory's line.
    id: &'a str,
    /// The earlier memory's session.
    #[serde(skip_serializing_if = "str::is_empty")]
    session_id: &'a str,
    /// `amends`, `reverses`, `refutes`, `completes` or `follows`.
    relation: &'static str,
    /// When a person undid the link; RFC 3339, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    undone_at: Option<String>,
}

/// Returns the line of a project, without a newline; `None` if it is only a name.
pub fn project_line(runtime: &Runtime, project: &Project) -> Result<Option<String>> {
    if project.identity.starts_with("name:") {
        return Ok(None);
    }
    let mut project_key = ProjectKey::of(project).map(|key| key.to_string()).unwrap_or_default();
    let before = project_key.clone();
    if !before.is_empty() {
        redaction::in_place(runtime, Some(&project.root), vec![&mut project_key])?;
    }
    if project_key != before {
        // A remote that was redacted would never be the project's.
        project_key = ProjectKey::parse(&before).and_then(|key| key.without_remote()).unwrap_or_default();
    }
    Ok(Some(serde_json::to_string(&ProjectLine { project: project_name(project), project_key })?))
}

/// Returns the line of a session, without a newline; `None` if nothing is known of it, or if a line cannot have it.
pub fn session_line(session: &KnownSession, project: &Project) -> Option<String> {
    let record = &session.record;
    let mut notes = record.notes.clone().unwrap_or_default();
    if record.notes.is_none() {
        notes.original_request = session.first_prompt.clone().unwrap_or_default();
    }
    let said = SessionNotes { turns: 0, started: None, ended: None, ..notes.clone() };
    let says_something = !record.summary.trim().is_empty() || said != SessionNotes::default();
    if !says_something || record.id.trim().is_empty() || record.id.len() > MAX_ID_BYTES {
        return None;
    }
    notes.turns = session.turns;
    notes.started = record.started;
    notes.ended = Some(session.last_at).filter(|at| *at > 0);
    let exported = ExportedSession {
        id: &record.id,
        agent: &session.agent,
        model: session.model.as_deref(),
        end_reason: session.end_reason.as_deref(),
        summary: &record.summary,
        topics: &record.topics,
        notes,
    };
    let line = serde_json::to_string(&SessionLine { project: project_name(project), session: exported }).ok()?;
    (line.len() <= MAX_LINE_BYTES).then_some(line)
}

/// Returns a memory's lines, without newlines: one line for each external identifier, or one line with the memory's own
/// identifier.
///
/// Values that the format does not allow are adjusted here, not at import: a type that is not a plain word, a title
/// longer than 200 characters, and empty content, which is replaced by the title.
pub fn to_json_lines(memory: &Memory, project: &Project, marks: Marks, links: &[StatedLink]) -> Vec<String> {
    let content = content(memory);
    let kind = line::plain_type(&memory.kind).unwrap_or_else(|| DEFAULT_TYPE.into());
    let title = title(memory, content);
    let links: Vec<ExportedLink<'_>> = links.iter().take(MAX_LIST).map(exported_link).collect();
    let fields = |id| ExportLine {
        id,
        project: project_name(project),
        session_id: session(memory),
        kind: &kind,
        title: &title,
        content,
        keywords: list(&memory.keywords),
        files: list(&memory.files),
        importance: if memory.importance.is_finite() { memory.importance.clamp(0.0, 1.0) } else { 0.0 },
        created_at: format_timestamp(memory.created),
        said_by: memory.said_by(),
        pinned_at: marks.pinned_at.map(format_timestamp),
        wrong_at: marks.wrong_at.map(format_timestamp),
        wrong_because: marks.wrong_at.and_then(|_| {
            let because = wrong_because(&memory.attributes);
            because.map(|because| line::cut(because.trim(), MAX_REASON_CHARS).trim()).filter(|it| !it.is_empty())
        }),
        supersedes: links.clone(),
    };
    // Texts, numbers and lists of texts can always be serialized as JSON.
    identifiers(memory).into_iter().filter_map(|id| serde_json::to_string(&fields(id)).ok()).collect()
}

/// Returns the identifiers under which a memory is exported: those of its source, or its own.
fn identifiers(memory: &Memory) -> Vec<&str> {
    let names = memory.attributes.iter().filter(|(name, _)| name == EXTERNAL_ID).map(|(_, id)| id.as_str());
    let mut ids: Vec<&str> =
        names.filter(|id| !id.trim().is_empty() && id.len() <= MAX_ID_BYTES && !id.contains(PLACEHOLDER)).collect();
    if ids.is_empty() {
        ids.push(&memory.id);
    }
    ids
}

/// Returns the session as a line writes it; empty if a line cannot have it.
fn session(memory: &Memory) -> &str {
    let session = memory.session_id.as_str();
    if session.len() > MAX_ID_BYTES || session.trim().is_empty() { "" } else { session }
}

fn exported_link(link: &StatedLink) -> ExportedLink<'_> {
    ExportedLink {
        id: identifiers(&link.older)[0],
        session_id: session(&link.older),
        relation: Relation::name(link.relation),
        undone_at: link.undone_at.map(format_timestamp),
    }
}

/// Returns the project as a line writes it: a plain name, or the root folder.
fn project_name(project: &Project) -> &str {
    match project.identity.strip_prefix("name:") {
        Some(name) => name,
        None => project.root.to_str().unwrap_or(&project.identity),
    }
}

fn content(memory: &Memory) -> &str {
    let content = if memory.content.trim().is_empty() { memory.title.as_str() } else { &memory.content };
    &content[..content.floor_char_boundary(MAX_CONTENT_BYTES)]
}

fn title<'a>(memory: &'a Memory, content: &str) -> Cow<'a, str> {
    let title = memory.title.trim();
    if title.is_empty() {
        let title = line::title_of(content);
        return Cow::Owned(line::cut(title.trim(), MAX_TITLE_CHARS).trim_end().to_owned());
    }
    Cow::Borrowed(line::cut(title, MAX_TITLE_CHARS).trim_end())
}

/// Formats a time as RFC 3339, UTC, to the millisecond. Times that are too large are clamped to the last one that can
/// be written.
pub fn format_timestamp(at: u64) -> String {
    let at = i64::try_from(at).unwrap_or(i64::MAX).min(jiff::Timestamp::MAX.as_millisecond());
    jiff::Timestamp::from_millisecond(at).unwrap_or_default().to_string()
}

fn list(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).filter(|text| !text.trim().is_empty()).take(MAX_LIST).collect()
}

/// Returns the name of a project's folder beside those of others: a readable name and part of the project's identifier.
pub fn project_folder_name(project: &Project) -> String {
    let name = project.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let id: String = project.id.chars().take(8).collect();
    format!("{}-{id}", slug::slug(&name))
}

/// Writes the notes of a project into a folder, one file each, including memories from policies whose type is a note
/// type. Returns the number of files.
pub fn write_notes(runtime: &Runtime, store: &Store, project: &Project, path: &Path) -> Result<u64> {
    let registry = Registry::of_project(&project.root)?;
    let notes = store.notes_to_export(&project.id, &registry)?;
    let folder = Folder::open(path, notes.is_empty()).with_context(|| path.display().to_string())?;
    let (Some(folder), false) = (folder, notes.is_empty()) else { return Ok(0) };
    let mut taken = HashSet::with_capacity(notes.len());
    for notes in notes.chunks(BATCH) {
        let mut texts: Vec<String> = notes.iter().map(|it| markdown::format_note(&it.note, &registry)).collect();
        // The redaction rules may be newer than the stored texts.
        redaction::in_place(runtime, Some(&project.root), texts.iter_mut().collect())?;
        for (it, text) in notes.iter().zip(texts) {
            let file = |stem: &str| format!("{}/{stem}.md", it.note.note_type);
            let file = file(&slug::unique_stem(&it.stem, |stem| taken.contains(&file(stem))));
            folder.write(&file, &text).with_context(|| folder.path.join(&file).display().to_string())?;
            taken.insert(file);
        }
    }
    Ok(taken.len() as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use throughline_store::WRONG_BECAUSE;

    use super::*;
    use crate::import::LineLink;

    /// Returns the memory that importing a line creates, its marks and its links.
    fn imported(text: &str) -> (Memory, Marks, Vec<StatedLink>) {
        let line = line::parse(text.as_bytes()).unwrap_or_else(|why| panic!("{why}: {text}"));
        let marks = Marks { pinned_at: line.pinned_at, wrong_at: line.wrong_at };
        let memory = Memory {
            id: "0123456789ab".into(),
            session_id: line.session,
            kind: line.kind,
            title: if line.title.is_empty() { line::title_of(&line.content) } else { line.title },
            content: line.content,
            keywords: line.keywords,
            files: line.files,
            importance: line.importance,
            created: line.created.expect("every line has its time"),
            seen: 1,
            score: 0.0,
            attributes: line
                .id
                .map(|id| (EXTERNAL_ID.to_owned(), id))
                .into_iter()
                .chain(line.said_by.map(SaidBy::attribute))
                .chain(line.wrong_because.map(|because| (WRONG_BECAUSE.to_owned(), because)))
                .collect(),
        };
        let older = |link: LineLink| StatedLink {
            older: Memory {
                session_id: link.session,
                attributes: vec![(EXTERNAL_ID.to_owned(), link.id)],
                ..Memory::default()
            },
            relation: link.relation,
            undone_at: link.undone_at,
        };
        (memory, marks, line.supersedes.into_iter().map(older).collect())
    }

    proptest! {
        #[test]
        fn what_is_imported_is_written_the_same_again(
            title in "(\\PC{0,30}|\\s{0,3}|[a-z ]{150,320})",
            content in "(\\PC{1,60}|[\\PC\\n\\t\"\\\\]{1,200}| )",
            kind in "([a-z_]{1,10}|[A-Z][a-z]{1,4}[ ./][a-z]{1,5}|결정|)",
            session in "([a-f0-9-]{0,36}|\\PC{0,10}|[a-z]{140})",
            lists in prop::collection::vec("\\PC{0,12}", 0..4),
            ids in prop::collection::vec("([a-z0-9-]{1,12}|\\PC{1,10}|\\[redacted:key#00a\\])", 0..3),
            importance in prop::num::f32::ANY,
            said_by in prop::option::of(prop::sample::select(vec![SaidBy::Tool, SaidBy::Agent, SaidBy::Agreed, SaidBy::Human])),
            created in prop_oneof![0_u64..4_000_000_000_000, any::<u64>()],
            pinned in prop::option::of(0_u64..4_000_000_000_000),
            wrong in prop::option::of(0_u64..4_000_000_000_000),
            because in prop::option::of("(\\PC{1,30}| )"),
            older in prop::collection::vec(
                ("[a-z0-9]{1,12}", "([a-f0-9-]{0,36}|\\PC{0,10})", prop::option::of(0_u64..4_000_000_000_000), 0_usize..5), 0..3,
            ),
        ) {
            prop_assume!(!(title.trim().is_empty() && content.trim().is_empty()));
            let memory = Memory {
                id: "ba9876543210".into(), session_id: session, kind, title, content, keywords: lists.clone(), files: lists,
                importance, created, seen: 3, score: 0.0,
                attributes: ids
                    .into_iter()
                    .map(|id| (EXTERNAL_ID.to_owned(), id))
                    .chain(said_by.map(SaidBy::attribute))
                    .chain(because.map(|because| (WRONG_BECAUSE.to_owned(), because)))
                    .collect(),
            };
            let project = Project::named("shop");
            let marks = Marks { pinned_at: pinned, wrong_at: wrong };
            let relations = ["amends", "reverses", "refutes", "completes", "follows"];
            let links: Vec<StatedLink> = older
                .into_iter()
                .map(|(id, session_id, undone_at, relation)| StatedLink {
                    older: Memory { id, session_id, ..Memory::default() },
                    relation: Relation::from_name(relations[relation]),
                    undone_at,
                })
                .collect();
            let written = to_json_lines(&memory, &project, marks, &links);
            prop_assert!(!written.is_empty());
            for text in written {
                let (memory, marks, links) = imported(&text);
                prop_assert_eq!(to_json_lines(&memory, &project, marks, &links), [text]);
            }
        }
    }
}
