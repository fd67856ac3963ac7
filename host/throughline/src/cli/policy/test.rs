//! `throughline policy test`: compares a policy with the default policy on recorded sessions.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;

use super::compiling::COMPILE_TIMEOUT;
use super::selection;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use throughline_engine::hooks::trial::{Trial, TrialResult};
use throughline_engine::ingest;
use throughline_engine::runtime::Runtime;
use throughline_model::contract::{Draft, Memory, Origin};
use throughline_policy_kit::compare::{self, DiffSide, SessionDiff, StoredResult};
use throughline_policy_kit::sample;
use throughline_sandbox::chain::{Compiling, Policies};
use throughline_sandbox::engine::Limits;
use throughline_sandbox::folder::{PolicyPackage, Source};
use throughline_sandbox::registry::{Candidate, PolicyRegistry};

/// Run a policy on recorded sessions and show what it changes
///
/// Reads each session twice in a temporary home folder: once with the default policy alone, and once with this policy
/// added or replacing it. Prints the differences stage by stage. Nothing is stored.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The name of the policy, or the path of its folder
    policy: String,
    /// Transcripts, or folders of transcripts; by default the sample session
    transcripts: Vec<PathBuf>,
    /// Print an object: policy, digest, sessions (with the differences)
    #[arg(long)]
    json: bool,
}

/// How long one session may take.
const SESSION_TIMEOUT: Duration = Duration::from_mins(10);

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Tested {
    policy: String,
    digest: String,
    sessions: Vec<TestedSession>,
}

/// One session, with and without the policy.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct TestedSession {
    transcript: PathBuf,
    session_id: String,
    memories_before: usize,
    memories_after: usize,
    /// The time for reading, storing and building the context, milliseconds.
    millis_before: f64,
    /// The same with the policy.
    millis_after: f64,
    difference: SessionDiff,
    /// Failures and log messages of the policy.
    log: Vec<String>,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let root = selection::root()?;
    let (found, source) = selection::by_name_or_path(runtime, &root, &arguments.policy)?;
    let limits = selection::terms(runtime, &found, source)?.limits;
    let folder =
        tempfile::tempdir().map_err(|error| CommandError::new(format!("cannot create a temporary folder: {error}")))?;
    let transcripts = if arguments.transcripts.is_empty() {
        vec![sample::write_to(folder.path(), runtime.now)?]
    } else {
        let (sources, failed) = ingest::sources(&arguments.transcripts, &runtime.paths.claude_projects());
        if let Some(failed) = failed.first() {
            let why = failed.error.as_deref().unwrap_or("it cannot be read");
            return Err(
                CommandError::new(format!("{}: {why}", failed.path)).hint("name .jsonl files, or folders with .jsonl files")
            );
        }
        sources.into_iter().map(|source| source.path).collect()
    };
    if transcripts.is_empty() {
        return Err(CommandError::new("there is no transcript").hint("name .jsonl files, or folders with .jsonl files"));
    }
    let mut tested = Tested { policy: found.manifest.name.clone(), digest: found.digest.clone(), sessions: Vec::new() };
    for transcript in transcripts {
        tested.sessions.push(compare_session(runtime, &found, limits, &transcript)?);
    }
    if arguments.json {
        output::json(&tested)?;
    } else {
        print(&tested)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn compare_session(
    runtime: &Runtime,
    found: &PolicyPackage,
    limits: Limits,
    transcript: &Path,
) -> Result<TestedSession, CommandError> {
    let alone = Trial::new(&runtime.paths, &runtime.config)?;
    let (before, millis_before) = replay(&alone, transcript)?;
    let trial = Trial::new(&runtime.paths, &runtime.config)?;
    let policies = Rc::new(chain(runtime, &trial, found, limits)?);
    // Compile the policy before the clock starts.
    policies.compile(Instant::now() + COMPILE_TIMEOUT);
    let trial = trial.with(Rc::clone(&policies));
    let (after, millis_after) = replay(&trial, transcript)?;
    let mut texts: Vec<String> =
        before.memories.iter().flat_map(|memory| [memory.title.clone(), memory.content.clone()]).collect();
    let plain = texts.clone();
    let until = Instant::now() + SESSION_TIMEOUT;
    policies.work(None, until)?.redact(&mut texts, until)?;
    let difference = SessionDiff {
        extractor: compare::extractions(&learned(&before), &learned(&after)),
        summarizer: compare::summaries(before.summary.as_ref(), after.summary.as_ref()),
        redactor: Some(compare::redactions(&plain, &texts)).filter(|redactions| redactions.different > 0),
        context_builder: compare::pages(before.page.as_ref(), after.page.as_ref()),
    };
    Ok(TestedSession {
        transcript: transcript.to_owned(),
        session_id: after.report.session.clone(),
        memories_before: before.memories.len(),
        memories_after: after.memories.len(),
        millis_before,
        millis_after,
        difference,
        log: trial.runtime().log.unredacted_lines(),
    })
}

fn replay(trial: &Trial, transcript: &Path) -> Result<(TrialResult, f64), CommandError> {
    // Load the default policy before the clock starts.
    trial.runtime().default_policy()?;
    let started = Instant::now();
    let outcome = trial.replay(transcript, started + SESSION_TIMEOUT)?;
    Ok((outcome, started.elapsed().as_secs_f64() * 1000.0))
}

/// Returns a chain of this policy, with everything that it asks for, and the default policy.
fn chain(runtime: &Runtime, trial: &Trial, found: &PolicyPackage, limits: Limits) -> Result<Policies, CommandError> {
    let name = &found.manifest.name;
    let settings = found.manifest.settings(runtime.config.policy.get(name)).map_err(CommandError::new)?;
    let candidate = Candidate {
        source: Source::User,
        granted: found.manifest.capabilities.clone(),
        limits,
        settings,
        required: false,
        required_by_admin: false,
        refusal: None,
        found: found.clone(),
    };
    let inner = trial.runtime();
    Ok(Policies::new(
        Rc::clone(inner.sandbox()?),
        PolicyRegistry { candidates: vec![candidate], ..PolicyRegistry::default() },
        Rc::clone(inner.reporter()),
        Compiling::All(Instant::now() + COMPILE_TIMEOUT),
        serde_json::Map::new(),
        true,
    )
    .redacting(Rc::clone(&inner.secrets), runtime.redaction_rules()))
}

/// Converts what was stored to drafts without keys, so that a memory with another text counts as another memory.
fn learned(outcome: &TrialResult) -> StoredResult {
    let draft = |memory: &Memory| Draft {
        key: None,
        kind: memory.kind.clone(),
        title: memory.title.clone(),
        content: memory.content.clone(),
        keywords: memory.keywords.clone(),
        files: memory.files.clone(),
        importance: memory.importance,
        origin: Origin::default(),
        attributes: memory.attributes.clone(),
    };
    StoredResult { drafts: outcome.memories.iter().map(draft).collect(), notes: outcome.notes.clone() }
}

fn print(tested: &Tested) -> Result<(), CommandError> {
    let mut out = output::stdout();
    for session in &tested.sessions {
        writeln!(out, "{BOLD}{}{BOLD:#} {DIM}{}{DIM:#}", session.session_id, session.transcript.display())?;
        writeln!(
            out,
            "  {:<16}{} → {}    {:.0} ms → {:.0} ms",
            "memories", session.memories_before, session.memories_after, session.millis_before, session.millis_after
        )?;
        write_difference(&mut out, &session.difference)?;
        for line in &session.log {
            writeln!(out, "  {:<16}{}", "log", output::clean_line(line))?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Prints a stage and its differences.
fn row(out: &mut impl Write, stage: &str, text: &str) -> Result<(), CommandError> {
    Ok(writeln!(out, "  {stage:<16}{text}")?)
}

fn write_difference(out: &mut impl Write, difference: &SessionDiff) -> Result<(), CommandError> {
    const SAME: &str = "the same";
    let (plus, minus) = (anstyle::AnsiColor::Green.on_default(), anstyle::AnsiColor::Red.on_default());
    let extractor = &difference.extractor;
    if extractor.is_empty() {
        row(out, "extractor", SAME)?;
    } else {
        let notes: Vec<&str> = extractor.notes.iter().map(|field| field.field.as_str()).collect();
        let of_notes = if notes.is_empty() { String::new() } else { format!("; notes: {}", notes.join(", ")) };
        row(
            out,
            "extractor",
            &format!(
                "+{} −{} ~{}{of_notes}",
                extractor.only_after.len(),
                extractor.only_before.len(),
                extractor.changed.len()
            ),
        )?;
        for (style, sign, drafts) in [(minus, '-', &extractor.only_before), (plus, '+', &extractor.only_after)] {
            for draft in drafts {
                writeln!(out, "    {style}{sign} {:<16}{style:#} {}", draft.kind, output::clean_line(&draft.title))?;
            }
        }
        for changed in &extractor.changed {
            let title = output::clean_line(&changed.after.title);
            writeln!(out, "    ~ {:<16} {title} ({})", changed.after.kind, changed.fields.join(", "))?;
        }
    }
    match &difference.summarizer {
        None => row(out, "summarizer", SAME)?,
        Some(summaries) => {
            row(out, "summarizer", "another summary")?;
            writeln!(out, "    {minus}- {minus:#}{}", output::clean_line(&summaries.before.text))?;
            writeln!(out, "    {plus}+ {plus:#}{}", output::clean_line(&summaries.after.text))?;
        }
    }
    match &difference.redactor {
        None => row(out, "redactor", SAME)?,
        Some(redactions) => {
            let rules: Vec<String> = redactions.only_after.iter().map(|(rule, count)| format!("{rule} {count} ×")).collect();
            let of = format!("{} of {} texts differ", redactions.different, redactions.texts);
            row(out, "redactor", &if rules.is_empty() { of } else { format!("{of}: {}", rules.join(", ")) })?;
        }
    }
    match &difference.context_builder {
        None => row(out, "context-builder", SAME)?,
        Some(page) => {
            row(out, "context-builder", &format!("{} → {} UTF-16 units", page.units_before, page.units_after))?;
            for line in &page.lines {
                match line.side {
                    DiffSide::Both => {}
                    DiffSide::Before => writeln!(out, "    {minus}- {}{minus:#}", output::clean_line(&line.text))?,
                    DiffSide::After => writeln!(out, "    {plus}+ {}{plus:#}", output::clean_line(&line.text))?,
                }
            }
        }
    }
    Ok(())
}
