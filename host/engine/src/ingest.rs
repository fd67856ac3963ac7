//! Ingests existing transcripts: finds the files below the given paths and reads them one after another. What was read
//! before is not read again, so ingesting can be stopped and repeated at any time.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;

use crate::hooks::reading::{self, ReadRequest};
use crate::memory::supersession;
use crate::runtime::Runtime;
use throughline_agents::transcript::TranscriptError;
use throughline_platform::namespace;
use throughline_store::{Store, StoreError};

/// The longest that one transcript may take. Only a policy that hangs in every call comes near this.
const TRANSCRIPT_TIMEOUT: Duration = Duration::from_hours(1);

/// How often a transcript is tried. A chunk is skipped after a few failures, so this many attempts get past one bad
/// chunk.
const MAX_ATTEMPTS: u32 = 4;

/// A transcript to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptSource {
    /// The file, by the same path however the user gave it.
    pub path: PathBuf,
    /// The folder below which the file was found, or the folder that contains it.
    pub root: PathBuf,
    /// Whether the file was named, not found in a folder.
    pub named: bool,
    /// The file's size when it was found, bytes.
    pub bytes: u64,
}

/// The result of reading one transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileReport {
    /// The path of the file.
    pub path: String,
    /// The session; empty if the transcript does not say.
    pub session_id: String,
    /// The root folder of the session's project; empty if nothing was read this time.
    pub project: String,
    /// Bytes read this time; 0 if the whole file was already read.
    pub bytes: u64,
    /// Lines read this time.
    pub lines: u64,
    /// Lines of the whole file that could not be parsed.
    pub malformed: u64,
    /// Lines of the whole file that were too long.
    pub oversized: u64,
    /// New memories.
    pub memories: u64,
    /// Memories that were known already and were learned again.
    pub seen_again: u64,
    /// Tool calls that no hook had recorded.
    pub tool_calls: u64,
    /// For a file that was named: the path of another transcript from which the same session was read before. The session
    /// goes on, in its project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_from: Option<String>,
    /// Why the file, or a part of it, was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the file was named, not found in a folder.
    #[serde(skip)]
    pub named: bool,
    /// Whether nothing was read because the session is excluded or paused.
    #[serde(skip)]
    pub is_refused: bool,
}

/// The sums over all transcripts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// Number of transcripts.
    pub files: u64,
    /// Number of transcripts with an error.
    pub failed: u64,
    /// See [`FileReport`], like the fields below.
    pub bytes: u64,
    /// See [`FileReport`].
    pub lines: u64,
    /// See [`FileReport`].
    pub malformed: u64,
    /// See [`FileReport`].
    pub oversized: u64,
    /// See [`FileReport`].
    pub memories: u64,
    /// See [`FileReport`].
    pub seen_again: u64,
    /// See [`FileReport`].
    pub tool_calls: u64,
}

/// The result of reading all transcripts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IngestReport {
    /// The result for each transcript, in the order in which they were read.
    pub files: Vec<FileReport>,
    /// The sums.
    pub totals: Totals,
}

impl IngestReport {
    fn add(&mut self, file: FileReport) {
        let totals = &mut self.totals;
        totals.files += 1;
        totals.failed += u64::from(file.error.is_some());
        for (sum, part) in [
            (&mut totals.bytes, file.bytes),
            (&mut totals.lines, file.lines),
            (&mut totals.malformed, file.malformed),
            (&mut totals.oversized, file.oversized),
            (&mut totals.memories, file.memories),
            (&mut totals.seen_again, file.seen_again),
            (&mut totals.tool_calls, file.tool_calls),
        ] {
            *sum += part;
        }
        self.files.push(file);
    }

    /// Adds the paths that were not found.
    #[must_use]
    pub fn with(mut self, failed: Vec<FileReport>) -> Self {
        for file in failed {
            self.add(file);
        }
        self
    }

    /// Returns whether every transcript that failed is one of an excluded or paused session.
    pub fn is_refused(&self) -> bool {
        self.files.iter().filter(|file| file.error.is_some()).all(|file| file.is_refused)
    }

    /// Returns whether the run failed: a named transcript failed, or all of them did.
    pub fn failed(&self) -> bool {
        let failed = |file: &FileReport| file.error.is_some();
        self.files.iter().any(|file| failed(file) && file.named) || (!self.files.is_empty() && self.files.iter().all(failed))
    }
}

/// Like [`sources_of`], for a single folder of an agent.
pub fn sources(paths: &[PathBuf], own: &Path) -> (Vec<TranscriptSource>, Vec<FileReport>) {
    sources_of(paths, &[own.to_path_buf()])
}

/// Returns the transcripts at `paths`: files as they are, and every `.jsonl` file below folders. They are in the order
/// of the paths and, below a folder, of the names. Symbolic links inside a folder are not followed. Paths below `own`,
/// the agents' own folders, are spelled as the agents spell them, so that the hooks and this module know a file by the
/// same path.
pub fn sources_of(paths: &[PathBuf], own: &[PathBuf]) -> (Vec<TranscriptSource>, Vec<FileReport>) {
    let mut found: Vec<TranscriptSource> = Vec::new();
    let mut known: HashSet<PathBuf> = HashSet::new();
    let mut failed = Vec::new();
    for path in paths {
        match sources_at(path, own) {
            Ok(sources) => found.extend(sources.into_iter().filter(|source| known.insert(source.path.clone()))),
            Err(error) => failed.push(FileReport {
                path: path.to_string_lossy().into_owned(),
                error: Some(match error.kind() {
                    io::ErrorKind::NotFound => "does not exist".into(),
                    _ => format!("cannot be read: {error}"),
                }),
                named: true,
                ..FileReport::default()
            }),
        }
    }
    (found, failed)
}

fn sources_at(path: &Path, own: &[PathBuf]) -> io::Result<Vec<TranscriptSource>> {
    let path = fs::canonicalize(path)?;
    let as_named = |own: &PathBuf| {
        let real = fs::canonicalize(own).ok()?;
        let rest = path.strip_prefix(real).ok()?;
        Some(if rest.as_os_str().is_empty() { own.clone() } else { own.join(rest) })
    };
    let path = own.iter().find_map(as_named).unwrap_or_else(|| path.clone());
    let meta = fs::metadata(&path)?;
    if !meta.is_dir() {
        let root = path.parent().unwrap_or(Path::new("/")).to_path_buf();
        return Ok(vec![TranscriptSource { root, named: true, bytes: meta.len(), path }]);
    }
    let mut found = Vec::new();
    let mut folders = vec![path.clone()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if folder == path => return Err(error),
            // A folder that is gone or not readable holds nothing to read.
            Err(_) => continue,
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let inside = entry.path();
            if kind.is_dir() {
                folders.push(inside);
            } else if kind.is_file() && inside.extension().is_some_and(|e| e == "jsonl") {
                found.push(TranscriptSource {
                    bytes: entry.metadata().map_or(0, |meta| meta.len()),
                    path: inside,
                    root: path.clone(),
                    named: false,
                });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// A transcript, and what reading it would begin with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedFile {
    /// The path of the file.
    pub path: String,
    /// The session; empty if the transcript does not say.
    pub session_id: String,
    /// The root folder of the session's project; empty if nothing would be read.
    pub project: String,
    /// Bytes that would be read; 0 if the whole file was already read.
    pub bytes: u64,
    /// Why nothing would be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What reading all transcripts would read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IngestPlan {
    /// Always true: nothing was read.
    pub dry_run: bool,
    /// The transcripts, in the order in which they would be read.
    pub files: Vec<PlannedFile>,
    /// Bytes that would be read.
    pub bytes: u64,
}

/// Finds out what [`run`] would read, and reads nothing but the heads of the transcripts. Without a store nothing was read
/// before.
pub fn plan(runtime: &Runtime, store: Option<&Store>, sources: &[TranscriptSource]) -> Result<IngestPlan> {
    let mut plan = IngestPlan { dry_run: true, ..IngestPlan::default() };
    for source in sources.iter().filter(|source| is_wanted(runtime, source)) {
        let roots = runtime.allowed_roots(vec![source.root.clone()]);
        let request = ReadRequest::ingest(source.path.clone(), roots, source.named);
        let mut file = PlannedFile { path: source.path.to_string_lossy().into_owned(), ..PlannedFile::default() };
        match reading::preview(runtime, store, &request) {
            Ok(Some(preview)) => {
                file.session_id = preview.session;
                match preview.project {
                    Some(project) => {
                        file.project = project.to_string_lossy().into_owned();
                        file.bytes = preview.bytes;
                    }
                    None => file.error = Some("its session is excluded or paused".into()),
                }
            }
            Ok(None) if source.bytes > 0 => file.error = Some("not a transcript: it names no session".into()),
            Ok(None) => {}
            Err(error) if error.is::<StoreError>() => return Err(error),
            Err(error) => file.error = Some(format!("{error:#}")),
        }
        plan.bytes += file.bytes;
        plan.files.push(file);
    }
    Ok(plan)
}

/// Returns the number of transcripts of this namespace of which nothing was read yet.
pub fn unread(runtime: &Runtime, store: Option<&Store>, sources: &[TranscriptSource]) -> Result<usize> {
    let mut unread = 0;
    for source in sources.iter().filter(|source| is_wanted(runtime, source) && source.bytes > 0) {
        let cursor = match store {
            Some(store) => store.cursor(&source.path.to_string_lossy())?,
            None => None,
        };
        unread += usize::from(cursor.is_none());
    }
    Ok(unread)
}

/// Returns whether a transcript is read: one of another namespace is read only if it is named, not if it is merely found.
fn is_wanted(runtime: &Runtime, source: &TranscriptSource) -> bool {
    source.named || namespace::owns_transcript(&runtime.paths, &source.path)
}

/// Reads all sources and calls `progress` before each. A transcript that cannot be read is reported, and the rest
/// continues; an error in the store ends the run.
pub fn run(
    runtime: &Runtime,
    store: &mut Store,
    sources: &[TranscriptSource],
    mut progress: impl FnMut(&TranscriptSource),
) -> Result<IngestReport> {
    // If there is no policy, the error must not be blamed on a file.
    runtime.default_policy()?;
    store.set_synchronous_normal()?;
    let sources = sources.iter().filter(|source| is_wanted(runtime, source));
    let mut report = IngestReport::default();
    for source in sources {
        progress(source);
        report.add(read(runtime, store, source)?);
        if store.wants_checkpoint() {
            store.checkpoint()?;
        }
    }
    supersession::link_all(store, runtime.now)?;
    store.checkpoint()?;
    Ok(report)
}

fn read(runtime: &Runtime, store: &mut Store, source: &TranscriptSource) -> Result<FileReport> {
    let roots = runtime.allowed_roots(vec![source.root.clone()]);
    let request = ReadRequest::ingest(source.path.clone(), roots, source.named);
    let path = source.path.to_string_lossy();
    let mut file = FileReport { path: path.clone().into_owned(), named: source.named, ..FileReport::default() };
    let mut is_refused = false;
    for _ in 0..MAX_ATTEMPTS {
        match reading::read(runtime, store, &request, Instant::now() + TRANSCRIPT_TIMEOUT) {
            Ok(report) => {
                is_refused = report.is_refused;
                file.session_id = report.session;
                file.project = report.project.to_string_lossy().into_owned();
                file.bytes = report.bytes;
                file.lines = report.lines;
                file.memories = u64::from(report.stored);
                file.seen_again = u64::from(report.seen_again);
                file.tool_calls = report.calls;
                break;
            }
            Err(error) if error.is::<StoreError>() => return Err(error),
            Err(error) => {
                let refused = error.is::<TranscriptError>();
                file.error = Some(format!("{error:#}"));
                if refused {
                    break;
                }
            }
        }
    }
    // An agent keeps several files of one session itself, so this is said of a file that a person names.
    if source.named && file.bytes > 0 {
        file.known_from = store.other_transcript(&file.session_id, &path)?;
    }
    match store.cursor(&path)? {
        Some(cursor) => {
            let is_mostly_malformed = cursor.is_mostly_malformed();
            file.malformed = cursor.malformed;
            file.oversized = cursor.oversized;
            if file.session_id.is_empty() {
                file.session_id = cursor.session_id;
            }
            if is_mostly_malformed {
                file.error.get_or_insert_with(|| "not a transcript: most of its lines could not be parsed".into());
            }
        }
        None if is_refused => {
            file.is_refused = file.error.is_none();
            file.error.get_or_insert_with(|| "nothing was read: the session is excluded or paused".into());
        }
        None if file.session_id.is_empty() && source.bytes > 0 => {
            file.error.get_or_insert_with(|| "not a transcript: it names no session".into());
        }
        None => {}
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_order_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("b/deep")).unwrap();
        for name in ["c.jsonl", "a.jsonl", "b/deep/x.jsonl", "b/notes.txt"] {
            fs::write(root.join(name), "{}\n").unwrap();
        }
        std::os::unix::fs::symlink(&root, root.join("b/loop")).unwrap();
        let (found, failed) = sources(&[root.join("c.jsonl"), root.clone(), root.join("none")], Path::new("/none"));
        let names: Vec<_> = found.iter().map(|source| source.path.strip_prefix(&root).unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["c.jsonl", "a.jsonl", "b/deep/x.jsonl"]);
        assert!(found[0].named && !found[1].named);
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0].error.as_deref(), Some("does not exist"));
    }

    #[test]
    fn the_agents_own_files_have_the_agents_names() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("disk/projects/p")).unwrap();
        fs::write(dir.path().join("disk/projects/p/x.jsonl"), "").unwrap();
        std::os::unix::fs::symlink("disk", dir.path().join("home")).unwrap();
        let projects = dir.path().join("home/projects");
        for path in ["home/projects", "disk/projects", "disk/projects/p/x.jsonl"] {
            let (found, _) = sources(&[dir.path().join(path)], &projects);
            assert_eq!(found.iter().map(|source| &source.path).collect::<Vec<_>>(), [&projects.join("p/x.jsonl")]);
            assert!(found[0].path.starts_with(&found[0].root));
        }
    }

    #[test]
    fn when_it_failed() {
        let file =
            |named, error: Option<&str>| FileReport { named, error: error.map(str::to_owned), ..FileReport::default() };
        let failed = |files: &[FileReport]| {
            let mut report = IngestReport::default();
            files.iter().cloned().for_each(|file| report.add(file));
            report.failed()
        };
        assert!(!failed(&[]));
        assert!(!failed(&[file(false, None), file(false, Some("x"))]));
        assert!(failed(&[file(false, Some("x"))]));
        assert!(failed(&[file(false, None), file(true, Some("x"))]));
    }
}
