//! Reads `OpenClaw`'s index of its Markdown memory. The files are better than the index, whose chunks overlap, so files
//! that exist are read directly.

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use super::database::{Database, RowTime as _};
use super::markdown;
use super::normalize::{TURN, TURN_IMPORTANCE};
use super::sink::{Row, Sink};
use super::system::{DefaultLocation, Root, System};
use crate::import::line::{Line, title_of};
use throughline_model::contract::Timestamp;

/// The system as commands see it.
pub(super) static SYSTEM: System = System {
    name: "openclaw",
    about: "The index of its Markdown memory, and the Markdown files if they exist",
    places: &["~/.openclaw/*.sqlite and ~/.openclaw/memory/*.sqlite"],
    locations: &[DefaultLocation { root: Root::Home, folder: ".openclaw", files: &["*.sqlite", "memory/*.sqlite"] }],
    instead: &[],
    takes_all_markdown: false,
    has_own_project: true,
    read,
};

fn read(source: &Path, sink: &mut Sink<'_>) -> Result<()> {
    let database = match Database::open(source) {
        Ok(database) => database,
        Err(why) => {
            sink.fail("", "", why);
            return Ok(());
        }
    };
    if !database.has("chunks") {
        sink.fail("", "", "it has none of OpenClaw's tables");
        return Ok(());
    }
    let agent = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let project = match (sink.fallback.clone(), agent.as_str()) {
        (Some(name), agent) if name == "openclaw" && agent != "main" && !agent.is_empty() => Some(format!("{name}/{agent}")),
        (fallback, _) => fallback,
    };
    let mut times: HashMap<String, Timestamp> = HashMap::new();
    if database.has("files") {
        let broken = database.rows("files", &["path", "mtime"], |row| {
            sink.skip("files", "only describes the chunks", 1);
            times.extend(row.text("path").zip(row.time("mtime")));
            anyhow::Ok(())
        })?;
        for reason in broken {
            sink.fail("files", "", reason);
        }
    }
    // Look for the files first: chunks of files that exist are skipped.
    let mut present: BTreeMap<String, bool> = BTreeMap::new();
    let mut looked = |path: &str| *present.entry(path.to_owned()).or_insert_with(|| beside(source, &agent, path).is_some());
    let columns = ["id", "path", "source", "start_line", "end_line", "text", "updated_at"];
    let broken = database.rows("chunks", &columns, |row| {
        let place = format!("row {}", row.number);
        let path = row.text("path").unwrap_or_default();
        if looked(&path) {
            sink.skip("chunks", "its file is read directly", 1);
            return Ok(());
        }
        let content = match row.content("text") {
            Ok(content) => content.unwrap_or_default(),
            Err(reason) => {
                sink.fail("chunks", &place, reason);
                return Ok(());
            }
        };
        let is_talk = row.text("source").is_some_and(|source| source == "sessions");
        let line = Line {
            id: Some(format!("chunk:{}", row.id())),
            project: project.clone(),
            kind: if is_talk { TURN } else { "learning" }.into(),
            title: title_of(&content),
            content,
            files: Some(path.clone()).filter(|path| !path.is_empty()).into_iter().collect(),
            importance: if is_talk { TURN_IMPORTANCE } else { 0.4 },
            created: times.get(&path).copied().or_else(|| row.time("updated_at")).or(database.modified),
            ..Line::default()
        };
        sink.add_memory(Row { what: "chunks", place, line })
    })?;
    for reason in broken {
        sink.fail("chunks", "", reason);
    }
    for (path, _) in present.iter().filter(|(_, is_there)| **is_there) {
        if let Some(file) = beside(source, &agent, path) {
            markdown::file(&file, path, project.clone(), "learning", sink)?;
        }
    }
    Ok(())
}

/// Returns the Markdown file that a path in the index leads to, within the folders where `OpenClaw` keeps an agent's
/// files. Paths that lead out of these folders are not followed, since the database may contain anything.
fn beside(source: &Path, agent: &str, path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let folder = source.parent()?;
    let home = folder.parent()?;
    if !path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"))
        || path.components().any(|part| part == Component::ParentDir)
    {
        return None;
    }
    let roots = [home.join("workspace"), home.join(format!("workspace-{agent}")), folder.to_path_buf(), home.to_path_buf()];
    let mut roots = roots.iter().filter_map(|root| root.canonicalize().ok());
    // Joining an absolute path gives that path.
    roots.find_map(|root| {
        let file = root.join(path).canonicalize().ok()?;
        (file.starts_with(&root) && file.is_file()).then_some(file)
    })
}
