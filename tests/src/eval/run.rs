//! Asks the real binary: documents are imported into a home of their own, and each question is a process.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::set::{Question, Set, Source, Unit};

/// The length of a ranking. Later results count as not found.
pub const LIMIT: u32 = 20;

/// How many results are asked for where sessions are labelled, since one can have many.
const SESSION_LIMIT: u32 = 100;

/// What came back for a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Labels, best first, none twice.
    pub ranking: Vec<String>,
    /// How long it took.
    pub took: Duration,
}

/// The binary with a home that holds the documents of a set.
pub struct Filled {
    binary: PathBuf,
    home: tempfile::TempDir,
    /// How long importing took.
    pub took: Duration,
    /// The bytes of its files.
    pub bytes: u64,
    /// Documents that were imported, or transcripts; and of documents the bytes of their text.
    pub documents: usize,
    /// See `documents`.
    pub text_bytes: usize,
}

impl Filled {
    /// Imports, or ingests, all that the set searches in.
    pub fn new(binary: &Path, set: &Set) -> Result<Self> {
        let binary = fs::canonicalize(binary).with_context(|| format!("cannot find {}", binary.display()))?;
        let home = tempfile::tempdir()?;
        let mut filled = Self { binary, home, took: Duration::ZERO, bytes: 0, documents: 0, text_bytes: 0 };
        // The first command of a home compiles the default policy, which is no part of importing.
        let words = filled.home.path().join("words.txt");
        fs::write(&words, "words\n")?;
        run(filled.command().arg("redact").stdin(fs::File::open(&words)?))?;
        let started = Instant::now();
        match &set.source {
            Source::Transcripts(folder) => {
                run(filled.command().arg("ingest").arg(folder))?;
                filled.documents = fs::read_dir(folder)?.count();
            }
            Source::Documents(documents) => {
                let mut text = String::new();
                for document in documents {
                    text.push_str(&document.line().to_string());
                    text.push('\n');
                }
                let file = filled.home.path().join("documents.jsonl");
                fs::write(&file, text)?;
                run(filled.command().args(["import", "--format", "jsonl"]).arg(&file))
                    .context("the documents could not be imported")?;
                fs::remove_file(&file)?;
                filled.documents = documents.len();
                filled.text_bytes = documents.iter().map(|document| document.content.len()).sum();
            }
        }
        filled.took = started.elapsed();
        filled.bytes = size(&filled.home.path().join("data"))?;
        Ok(filled)
    }

    /// The binary in the home, so that nothing of the user's is read or written.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        let home = self.home.path();
        command.env("THROUGHLINE_HOME", home).env("HOME", home).current_dir(home).stdin(std::process::Stdio::null());
        command
    }

    /// Whether the search knows this profile. An older binary knows none.
    pub fn has_profile(&self, profile: &str) -> Result<bool> {
        let output = self
            .command()
            .args(["memory", "search", "--json", "--all-projects", "--profile", profile, "--", "x"])
            .output()?;
        // 2 is the exit code of arguments that are not understood.
        Ok(output.status.code() != Some(2))
    }

    /// Asks all questions, so many at once; `profile`: of the search, none for its default. Earlier look-ups may affect
    /// the ranking, so each profile starts with a fresh copy of the home.
    pub fn answers(&self, set: &Set, profile: Option<&str>, threads: usize) -> Result<Vec<Answer>> {
        let fresh = self.copy()?;
        let next = AtomicUsize::new(0);
        let answers = Mutex::new(BTreeMap::new());
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.max(1))
                .map(|_| {
                    scope.spawn(|| -> Result<()> {
                        loop {
                            let n = next.fetch_add(1, Ordering::Relaxed);
                            let Some(question) = set.questions.get(n) else { return Ok(()) };
                            let answer = fresh.ask(question, set.unit, profile)?;
                            answers.lock().map_err(|_| anyhow::anyhow!("another search failed"))?.insert(n, answer);
                        }
                    })
                })
                .collect();
            workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow::anyhow!("a search panicked"))?)
        })?;
        Ok(answers.into_inner().map_err(|_| anyhow::anyhow!("a search failed"))?.into_values().collect())
    }

    fn copy(&self) -> Result<Self> {
        let home = tempfile::tempdir()?;
        copy(self.home.path(), home.path())?;
        Ok(Self { binary: self.binary.clone(), home, ..*self })
    }

    fn ask(&self, question: &Question, unit: Unit, profile: Option<&str>) -> Result<Answer> {
        let limit = if unit == Unit::Session { SESSION_LIMIT } else { LIMIT };
        let mut command = self.command();
        command.args(["memory", "search", "--json", "--limit", &limit.to_string()]);
        match question.project.as_str() {
            "" => command.arg("--all-projects"),
            project => command.args(["--project", project]),
        };
        command.args(profile.iter().flat_map(|profile| ["--profile", profile])).arg("--").arg(&question.query);
        let started = Instant::now();
        let output = run(&mut command)?;
        let took = started.elapsed();
        let results: Value = serde_json::from_slice(&output).context("the search printed no JSON")?;
        let results = results.as_array().context("the search printed no array")?;
        ensure!(results.len() <= limit as usize, "more results than were asked for");
        let mut seen = HashSet::new();
        let labels = results.iter().flat_map(|memory| labels(memory, unit)).filter(|label| seen.insert(label.clone()));
        Ok(Answer { ranking: labels.take(LIMIT as usize).collect(), took })
    }
}

/// What labels would call a result: documents of one content are one memory with several names.
fn labels(memory: &Value, unit: Unit) -> Vec<String> {
    match (unit, &memory["external_ids"], &memory["external_id"]) {
        (Unit::Session, ..) => memory["session_id"].as_str().map(str::to_owned).into_iter().collect(),
        (Unit::Document, Value::Array(ids), _) => ids.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        (Unit::Document, _, id) => id.as_str().map(str::to_owned).into_iter().collect(),
    }
}

fn run(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&target)?;
            fs::set_permissions(&target, entry.metadata()?.permissions())?;
            copy(&entry.path(), &target)?;
        } else if entry.file_type()?.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// The bytes of the files below a folder.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { size(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_has_all_names_of_its_memory() {
        let memory = json!({"external_id": "a", "external_ids": ["a", "b"], "session_id": "s"});
        assert_eq!(labels(&memory, Unit::Document), ["a", "b"]);
        assert_eq!(labels(&memory, Unit::Session), ["s"]);
        assert_eq!(labels(&json!({"external_id": "a"}), Unit::Document), ["a"]);
        assert!(labels(&json!({}), Unit::Document).is_empty());
    }
}
