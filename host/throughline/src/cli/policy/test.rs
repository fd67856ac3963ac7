//! `throughline policy test`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;

use super::{Done, Failure, Runtime};
use crate::cli::output::{self, BOLD, DIM};
use throughline_engine::hooks::trial::{Outcome, Trial};
use throughline_engine::ingest;
use throughline_model::contract::{Draft, Memory, Origin};
use throughline_policy_kit::compare::{self, Difference, Learned, Side};
use throughline_policy_kit::sample;
use throughline_sandbox::chain::{Compiling, Policies};
use throughline_sandbox::engine::Limits;
use throughline_sandbox::folder::{Found, Source};
use throughline_sandbox::roster::{Candidate, Roster};

/// Run a policy over recorded sessions and show what it changes, stage by stage
///
/// Each session is read twice into a home that is thrown away: by the default policy alone, and with the policy in its
/// place or beside it. Nothing is stored.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The policy's name, or the path of its folder
    policy: String,
    /// Transcripts, or folders of transcripts; without any, the sample session
    transcripts: Vec<PathBuf>,
    /// Print the differences as JSON
    #[arg(long)]
    json: bool,
}

/// The longest that one session may take.
const LONGEST: Duration = Duration::from_mins(10);

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Tested {
    policy: String,
    digest: String,
    sessions: Vec<Tried>,
}

/// One session, both ways.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Tried {
    transcript: PathBuf,
    session_id: String,
    memories_before: usize,
    memories_after: usize,
    /// Reading, storing and telling, milliseconds.
    millis_before: f64,
    /// Likewise.
    millis_after: f64,
    difference: Difference,
    /// What the policy failed at, and what it logged.
    log: Vec<String>,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<Done, Failure> {
    let root = super::root()?;
    let (found, source) = super::by_name_or_path(runtime, &root, &arguments.policy)?;
    let limits = super::terms(runtime, &found, source)?.limits;
    let folder = tempfile::tempdir().map_err(|error| Failure::new(format!("no temporary folder can be made: {error}")))?;
    let transcripts = if arguments.transcripts.is_empty() {
        vec![sample::write_to(folder.path(), runtime.now)?]
    } else {
        let (sources, failed) = ingest::sources(&arguments.transcripts, &runtime.paths.claude_projects());
        if let Some(failed) = failed.first() {
            let why = failed.error.as_deref().unwrap_or("it cannot be read");
            return Err(Failure::new(format!("{}: {why}", failed.path)).hint("name .jsonl files, or folders with some"));
        }
        sources.into_iter().map(|source| source.path).collect()
    };
    if transcripts.is_empty() {
        return Err(Failure::new("there is no transcript").hint("name .jsonl files, or folders with some"));
    }
    let mut tested = Tested { policy: found.manifest.name.clone(), digest: found.digest.clone(), sessions: Vec::new() };
    for transcript in transcripts {
        tested.sessions.push(try_one(runtime, &found, limits, &transcript)?);
    }
    if arguments.json {
        output::json(&tested)?;
    } else {
        write(&tested)?;
    }
    Ok(Done::Well)
}

fn try_one(runtime: &Runtime, found: &Found, limits: Limits, transcript: &Path) -> Result<Tried, Failure> {
    let alone = Trial::new(&runtime.paths, &runtime.config)?;
    let (before, millis_before) = play(&alone, transcript)?;
    let trial = Trial::new(&runtime.paths, &runtime.config)?;
    let policies = Rc::new(with(runtime, &trial, found, limits)?);
    // Compiled before, so that it does not count.
    policies.compile(Instant::now() + super::COMPILE);
    let trial = trial.with(Rc::clone(&policies));
    let (after, millis_after) = play(&trial, transcript)?;
    let mut texts: Vec<String> =
        before.memories.iter().flat_map(|memory| [memory.title.clone(), memory.content.clone()]).collect();
    let plain = texts.clone();
    let until = Instant::now() + LONGEST;
    policies.work(None, until)?.redact(&mut texts, until)?;
    let difference = Difference {
        extractor: compare::extractions(&learned(&before), &learned(&after)),
        summarizer: compare::summaries(before.summary.as_ref(), after.summary.as_ref()),
        redactor: Some(compare::redactions(&plain, &texts)).filter(|redactions| redactions.different > 0),
        context_builder: compare::pages(before.page.as_ref(), after.page.as_ref()),
    };
    Ok(Tried {
        transcript: transcript.to_owned(),
        session_id: after.report.session.clone(),
        memories_before: before.memories.len(),
        memories_after: after.memories.len(),
        millis_before,
        millis_after,
        difference,
        log: trial.runtime().log.told(),
    })
}

fn play(trial: &Trial, transcript: &Path) -> Result<(Outcome, f64), Failure> {
    // Instances and the default's compiled form are there before the clock runs.
    trial.runtime().default_policy()?;
    let started = Instant::now();
    let outcome = trial.play(transcript, started + LONGEST)?;
    Ok((outcome, started.elapsed().as_secs_f64() * 1000.0))
}

/// A chain of this policy and the default, with all that it asks for.
fn with(runtime: &Runtime, trial: &Trial, found: &Found, limits: Limits) -> Result<Policies, Failure> {
    let name = &found.manifest.name;
    let settings = found.manifest.settings(runtime.config.policy.get(name)).map_err(Failure::new)?;
    let candidate = Candidate {
        source: Source::User,
        granted: found.manifest.capabilities.clone(),
        limits,
        settings,
        required: false,
        demanded: false,
        refusal: None,
        found: found.clone(),
    };
    let there = trial.runtime();
    Ok(Policies::new(
        Rc::clone(there.sandbox()?),
        Roster { candidates: vec![candidate], ..Roster::default() },
        Rc::clone(there.reporter()),
        Compiling::All(Instant::now() + super::COMPILE),
        serde_json::Map::new(),
        true,
    )
    .redacting(Rc::clone(&there.secrets), runtime.config.redaction.rules.clone()))
}

/// What was stored, as what was learned: without keys, so that a memory that reads differently is another one.
fn learned(outcome: &Outcome) -> Learned {
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
    Learned { drafts: outcome.memories.iter().map(draft).collect(), notes: outcome.notes.clone() }
}

fn write(tested: &Tested) -> Result<(), Failure> {
    let mut out = output::stdout();
    for tried in &tested.sessions {
        writeln!(out, "{BOLD}{}{BOLD:#} {DIM}{}{DIM:#}", tried.session_id, tried.transcript.display())?;
        writeln!(
            out,
            "  {:<16}{} → {}    {:.0} ms → {:.0} ms",
            "memories", tried.memories_before, tried.memories_after, tried.millis_before, tried.millis_after
        )?;
        write_difference(&mut out, &tried.difference)?;
        for line in &tried.log {
            writeln!(out, "  {:<16}{}", "log", output::clean_line(line))?;
        }
    }
    out.flush()?;
    Ok(())
}

/// A stage and what there is to say of it.
fn row(out: &mut impl Write, stage: &str, text: &str) -> Result<(), Failure> {
    Ok(writeln!(out, "  {stage:<16}{text}")?)
}

fn write_difference(out: &mut impl Write, difference: &Difference) -> Result<(), Failure> {
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
                    Side::Both => {}
                    Side::Before => writeln!(out, "    {minus}- {}{minus:#}", output::clean_line(&line.text))?,
                    Side::After => writeln!(out, "    {plus}+ {}{plus:#}", output::clean_line(&line.text))?,
                }
            }
        }
    }
    Ok(())
}
