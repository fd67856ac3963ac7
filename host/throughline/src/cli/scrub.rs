//! `throughline scrub` and `throughline redact`: run the redactors on the database or on standard input.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::copies;
use super::environment;
use super::error::CommandError;
use super::output;
use super::scope;
use throughline_engine::hooks::{self, STORE_BUSY_TIMEOUT};
use throughline_engine::memory::{deletion, kept};
use throughline_engine::runtime::Runtime;
use throughline_engine::targets;
use throughline_model::redacted::TextRedactor;
use throughline_store::{Access, ScrubError};

/// The longest that the redactors may take for a batch of rows, or for one chunk.
const REDACTION_TIMEOUT: Duration = Duration::from_mins(1);

/// How much of standard input is redacted at once, bytes: the memory of a policy is limited.
const CHUNK: usize = 4 << 20;

/// Redact secrets again in everything that is stored
///
/// Use this after adding redaction rules, updating Throughline, or when a secret came into the environment later.
/// Removes what the redactors find now from memories, notes, summaries, states, events and the full-text index. What was
/// forgotten within the last day is erased, because it may contain the same secrets. You can stop the command at any
/// time and repeat it.
#[derive(clap::Args)]
pub(super) struct ScrubArguments {
    /// Count what would be redacted and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print an object: rows, rules, `dry_run`
    #[arg(long)]
    json: bool,
}

/// Redact secrets in a file or standard input and print the result
///
/// Does what happens to everything before it is stored: removes what `privacy.exclude_patterns` matches and the values of
/// secret environment variables, then runs the default redactor with `redaction.rules` and the redactor policies of the current project.
#[derive(clap::Args)]
pub(super) struct RedactArguments {
    /// The file to read, which is not changed; standard input by default
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print how often each rule matched instead of the text
    #[arg(long, value_name = "FORMAT", value_enum)]
    report: Option<Format>,
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// An object: rules
    Json,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct RedactionReport {
    /// Rows that changed; missing for a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    /// How often each rule matched.
    rules: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
}

pub(super) fn scrub(arguments: &ScrubArguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime()?;
    let mut store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4)?;
    // Otherwise what is still in a journal would be stored unredacted later.
    hooks::store_all_journals(&runtime, &mut store)?;
    let mut rules = BTreeMap::new();
    let mut rows = 0;
    for (project, root) in store.projects()? {
        let mut redactor = CountingRedactor { runtime: &runtime, root: Path::new(&root), rules: &mut rules };
        let scrubbed = store.scrub(&project, &mut redactor, runtime.now, !arguments.dry_run);
        rows += scrubbed.map_err(|error| match error {
            ScrubError::Store(error) => error.into(),
            ScrubError::Redactor(error) => error,
        })?;
    }
    if !arguments.dry_run {
        copies::warn_of_copies(store.path())?;
        if kept::delete_all(&runtime)? > 0 {
            writeln!(anstream::stderr().lock(), "what was forgotten within the last day can no longer be brought back")?;
        }
        hooks::synthesized_transcript::scrub(&runtime)?;
        deletion::clear_free_space(&store, "redacted")?;
        deletion::rewrite_projections(&runtime, &store, &store.all_projects()?)?;
    }
    runtime.finish();
    let report = RedactionReport { rows: Some(rows), rules, dry_run: Some(arguments.dry_run) };
    if arguments.json {
        output::json(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = output::stdout();
    let verb = if arguments.dry_run { "would redact" } else { "redacted" };
    writeln!(out, "{verb} {}", output::counted(rows, "row", "rows"))?;
    for (rule, times) in &report.rules {
        writeln!(out, "  {} {}", output::pad(&output::clean_line(rule), 32), output::count(*times))?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn redact(arguments: &RedactArguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime()?;
    let root = targets::find_project(&runtime, arguments.project.as_deref())?.root;
    let folder = match &arguments.project {
        Some(folder) if folder.is_dir() => scope::folder(Some(folder))?,
        Some(_) => root.clone(),
        None => scope::folder(None)?,
    };
    runtime.secrets.add_env_files(&root, &folder);
    let bytes = input(arguments.file.as_deref())?;
    let text = String::from_utf8_lossy(&bytes);
    let mut rules = BTreeMap::new();
    let mut cleaned = String::with_capacity(text.len());
    for chunk in chunks(&text) {
        // What the user excludes by a pattern does not reach the redactors either.
        let mut texts = [runtime.privacy.clean(chunk).unwrap_or_else(|| chunk.to_owned())];
        add(&mut rules, redacted(&runtime, &root, &mut texts)?);
        cleaned.push_str(&texts[0]);
    }
    // A person who tries a rule must see what is wrong with it.
    let mut lines = runtime.log.unredacted_lines();
    lines.retain(|line| line.starts_with("WARN") || line.starts_with("ERROR"));
    lines.dedup();
    let mut err = anstream::stderr().lock();
    for line in lines {
        writeln!(err, "{}", output::clean_line(&line))?;
    }
    drop(err);
    runtime.finish();
    if arguments.report == Some(Format::Json) {
        output::json(&RedactionReport { rows: None, rules, dry_run: None })?;
    } else {
        // The text is not cleaned, because programs read it.
        let mut out = io::stdout().lock();
        out.write_all(cleaned.as_bytes())?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn input(file: Option<&Path>) -> Result<Vec<u8>, CommandError> {
    let Some(file) = file.filter(|file| *file != Path::new("-")) else {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes);
        return read.map(|_| bytes).map_err(|error| CommandError::new(format!("standard input: {error}")));
    };
    std::fs::read(file).map_err(|error| {
        let what = if file.is_dir() { "it is a folder".to_owned() } else { error.to_string() };
        CommandError::new(format!("cannot read {}: {what}", file.display()))
            .hint("name a file with text, or use standard input")
    })
}

/// The redactors of a project, with a count of what each rule found.
struct CountingRedactor<'a> {
    runtime: &'a Runtime,
    root: &'a Path,
    rules: &'a mut BTreeMap<String, u64>,
}

impl TextRedactor for CountingRedactor<'_> {
    type Error = anyhow::Error;

    fn redact_texts(&mut self, mut slots: Vec<&mut String>) -> anyhow::Result<()> {
        let mut texts: Vec<String> = slots.iter_mut().map(|slot| std::mem::take(*slot)).collect();
        add(self.rules, redacted(self.runtime, self.root, &mut texts)?);
        for (slot, text) in slots.into_iter().zip(texts) {
            *slot = text;
        }
        Ok(())
    }
}

fn redacted(runtime: &Runtime, root: &Path, texts: &mut [String]) -> anyhow::Result<BTreeMap<String, u64>> {
    runtime.secrets.add_env_files(root, root);
    let until = Instant::now() + REDACTION_TIMEOUT;
    runtime.policies(Some(root))?.work(None, until)?.redact_counting(texts, until)
}

fn add(rules: &mut BTreeMap<String, u64>, found: BTreeMap<String, u64>) {
    for (rule, times) in found {
        *rules.entry(rule).or_insert(0) += times;
    }
}

/// Splits the text at line ends, but not inside a private key.
fn chunks(text: &str) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while rest.len() > CHUNK {
        let window = &rest[..rest.floor_char_boundary(CHUNK)];
        let line = window.rfind('\n').map_or(window.len(), |at| at + 1);
        // A private key that ends in the next chunk has to begin there as well.
        let block = window.rfind("-----BEGIN").filter(|at| *at > 0 && !window[*at..].contains("-----END"));
        let (chunk, after) = rest.split_at(block.unwrap_or(line).min(line));
        chunks.push(chunk);
        rest = after;
    }
    chunks.push(rest);
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_add_up_to_the_text_and_split_no_key() {
        let mut text = "a line of text\n".repeat(CHUNK / 15 - 2);
        text += "-----BEGIN PRIVATE KEY-----\nabc\ndef\nghi\nabc\ndef\nghi\nabc\n-----END PRIVATE KEY-----\n";
        text += &"behind\n".repeat(CHUNK / 7);
        let chunks = chunks(&text);
        assert_eq!(chunks.concat(), text);
        assert!(chunks.len() > 1 && chunks.iter().all(|chunk| chunk.len() <= CHUNK));
        assert!(chunks[1].starts_with("-----BEGIN"));
    }
}
