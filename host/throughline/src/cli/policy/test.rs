//! `throughline policy test`: compares a policy with the default policy, or with another one, on recorded sessions.

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
use crate::cli::scope;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::hooks::trial::{Trial, TrialResult};
use throughline_engine::ingest;
use throughline_engine::runtime::Runtime;
use throughline_model::contract::{Draft, Memory, Origin};
use throughline_policy_kit::compare::{self, DiffSide, SessionAnswer, SessionDiff, StoredResult};
use throughline_policy_kit::sample;
use throughline_sandbox::chain::{Compiling, Policies};
use throughline_sandbox::engine::Limits;
use throughline_sandbox::folder::{PolicyPackage, Source};
use throughline_sandbox::registry::{Candidate, PolicyRegistry};
use throughline_store::Access;

/// Run a policy on recorded sessions and show what it changes
///
/// Reads each session twice in a temporary home folder: once with the default policy alone, or with the policy of
/// `--against`, and once with this policy. A policy is added to the default policy, or replaces it, as its manifest says.
/// Prints the differences stage by stage. Nothing is stored.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The name of the policy, or the path of its folder
    policy: String,
    /// Transcripts, or folders of transcripts; by default the sample session
    transcripts: Vec<PathBuf>,
    /// Compare with this policy instead of with the default policy alone
    #[arg(long, value_name = "POLICY")]
    against: Option<String>,
    /// Read the transcript of this session; the beginning of its identifier is enough
    #[arg(long, value_name = "ID", conflicts_with = "transcripts")]
    session: Option<String>,
    /// Print an object: policy, digest, against, sessions (with both answers and the differences)
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
    /// The policy that it was compared with; left out if that is the default policy alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against_digest: Option<String>,
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
    /// The answer without the policy, or of the one that it was compared with.
    before: SessionAnswer,
    /// The answer with the policy.
    after: SessionAnswer,
    difference: SessionDiff,
    /// Failures and log messages of the policies.
    log: Vec<String>,
}

/// A policy that is tried, and its limits.
struct TriedPolicy {
    found: PolicyPackage,
    limits: Limits,
}

impl TriedPolicy {
    fn new(runtime: &Runtime, root: &Path, name: &str) -> Result<Self, CommandError> {
        let (found, source) = selection::by_name_or_path(runtime, root, name)?;
        let limits = selection::terms(runtime, &found, source)?.limits;
        Ok(Self { found, limits })
    }
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let root = selection::root()?;
    let policy = TriedPolicy::new(runtime, &root, &arguments.policy)?;
    let against = arguments.against.as_deref().map(|name| TriedPolicy::new(runtime, &root, name)).transpose()?;
    let folder =
        tempfile::tempdir().map_err(|error| CommandError::new(format!("cannot create a temporary folder: {error}")))?;
    let transcripts = if let Some(session) = &arguments.session {
        vec![transcript_of(runtime, session)?]
    } else if arguments.transcripts.is_empty() {
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
    let mut tested = Tested {
        policy: policy.found.manifest.name.clone(),
        digest: policy.found.digest.clone(),
        against: against.as_ref().map(|it| it.found.manifest.name.clone()),
        against_digest: against.as_ref().map(|it| it.found.digest.clone()),
        sessions: Vec::new(),
    };
    for transcript in transcripts {
        tested.sessions.push(compare_session(runtime, against.as_ref(), &policy, &transcript)?);
    }
    if arguments.json {
        output::json(&tested)?;
    } else {
        print(&tested)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds the transcript from which a session was read.
fn transcript_of(runtime: &Runtime, typed: &str) -> Result<PathBuf, CommandError> {
    let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4)?;
    let session = scope::resolve_session(&store, typed)?;
    let mut paths: Vec<PathBuf> = store.transcripts_of(&session)?.into_iter().map(PathBuf::from).collect();
    if paths.is_empty() {
        return Err(CommandError::new(format!("no transcript of session {} was read", output::clean_line(&session)))
            .hint("`throughline session list --all-projects` shows the sessions"));
    }
    paths.retain(|path| path.is_file());
    // A sub-agent's transcript has another name than the session's own.
    let is_own = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == session.as_str());
    let own = paths.iter().position(is_own).unwrap_or_default();
    paths.into_iter().nth(own).ok_or_else(|| {
        CommandError::new(format!("the transcript of session {} is no longer there", output::clean_line(&session)))
            .hint("agents delete old transcripts; choose a later session")
    })
}

/// What one side made of a session.
struct Side {
    outcome: TrialResult,
    stored: StoredResult,
    millis: f64,
    log: Vec<String>,
    /// The policies, unless the side is the default policy alone.
    policies: Option<Rc<Policies>>,
}

impl Side {
    /// Reads the transcript with this policy, or with the default policy alone.
    fn run(runtime: &Runtime, policy: Option<&TriedPolicy>, transcript: &Path) -> Result<Self, CommandError> {
        let trial = Trial::new(&runtime.paths, &runtime.config)?;
        let policies = policy.map(|policy| chain(runtime, &trial, policy).map(Rc::new)).transpose()?;
        let trial = match &policies {
            Some(policies) => {
                // Compile the policy before the clock starts.
                policies.compile(Instant::now() + COMPILE_TIMEOUT);
                trial.with(Rc::clone(policies))
            }
            None => trial,
        };
        let (outcome, millis) = replay(&trial, transcript)?;
        let (stored, log) = (learned(&outcome), trial.runtime().log.unredacted_lines());
        Ok(Self { outcome, stored, millis, log, policies })
    }

    fn answer(&self) -> SessionAnswer {
        SessionAnswer::new(&self.stored, self.outcome.summary.as_ref(), self.outcome.page.as_ref())
    }

    /// Returns what this side's redactors make of texts.
    fn redact(&self, texts: &[String]) -> Result<Vec<String>, CommandError> {
        let mut texts = texts.to_vec();
        if let Some(policies) = &self.policies {
            let until = Instant::now() + SESSION_TIMEOUT;
            policies.work(None, until)?.redact(&mut texts, until)?;
        }
        Ok(texts)
    }
}

fn compare_session(
    runtime: &Runtime,
    against: Option<&TriedPolicy>,
    policy: &TriedPolicy,
    transcript: &Path,
) -> Result<TestedSession, CommandError> {
    let before = Side::run(runtime, against, transcript)?;
    // Both sides' redactors get the memories of the default policy, because one redactor must not hide text from the other.
    let plain = match against {
        Some(_) => texts_of(&Side::run(runtime, None, transcript)?.outcome),
        None => texts_of(&before.outcome),
    };
    let after = Side::run(runtime, Some(policy), transcript)?;
    let redactions = compare::redactions(&before.redact(&plain)?, &after.redact(&plain)?);
    let difference = SessionDiff {
        extractor: compare::extractions(&before.stored, &after.stored),
        summarizer: compare::summaries(before.outcome.summary.as_ref(), after.outcome.summary.as_ref()),
        redactor: Some(redactions).filter(|redactions| redactions.different > 0),
        context_builder: compare::pages(before.outcome.page.as_ref(), after.outcome.page.as_ref()),
    };
    let (answer_before, answer_after) = (before.answer(), after.answer());
    Ok(TestedSession {
        transcript: transcript.to_owned(),
        session_id: after.outcome.report.session.clone(),
        memories_before: before.outcome.memories.len(),
        memories_after: after.outcome.memories.len(),
        millis_before: before.millis,
        millis_after: after.millis,
        before: answer_before,
        after: answer_after,
        difference,
        log: before.log.into_iter().chain(after.log).collect(),
    })
}

fn texts_of(outcome: &TrialResult) -> Vec<String> {
    outcome.memories.iter().flat_map(|memory| [memory.title.clone(), memory.content.clone()]).collect()
}

fn replay(trial: &Trial, transcript: &Path) -> Result<(TrialResult, f64), CommandError> {
    // Load the default policy before the clock starts.
    trial.runtime().default_policy()?;
    let started = Instant::now();
    let outcome = trial.replay(transcript, started + SESSION_TIMEOUT)?;
    Ok((outcome, started.elapsed().as_secs_f64() * 1000.0))
}

/// Returns a chain of this policy, with everything that it asks for, and the default policy.
fn chain(runtime: &Runtime, trial: &Trial, policy: &TriedPolicy) -> Result<Policies, CommandError> {
    let TriedPolicy { found, limits } = policy;
    let name = &found.manifest.name;
    let settings = found.manifest.settings(runtime.config.policy.get(name)).map_err(CommandError::new)?;
    let candidate = Candidate {
        source: Source::User,
        granted: found.manifest.capabilities.clone(),
        limits: *limits,
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

/// Converts stored memories to drafts without keys, so that a memory with a different text is a different memory.
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
