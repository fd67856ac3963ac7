//! `throughline policy list`: shows which policies run.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;

use super::selection;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use throughline_engine::runtime::Runtime;
use throughline_sandbox::chain::{DEFAULT_NAME, Policies, short};
use throughline_sandbox::failures::FailureRecord;
use throughline_sandbox::folder::{BrokenPolicy, Source};
use throughline_sandbox::manifest::Mode;
use throughline_sandbox::stage::Stage;

/// Show which policies run for each stage in the current folder, and why
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Print an object: blocked, stages, policies, broken
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Listed<'a> {
    /// Why nothing is remembered at all; null if something is.
    blocked: Option<&'a str>,
    stages: Vec<StagePolicies<'a>>,
    policies: Vec<PolicyEntry<'a>>,
    broken: &'a [BrokenPolicy],
}

/// The policies of a stage, in the order in which they are asked.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct StagePolicies<'a> {
    stage: Stage,
    by: Vec<StagePolicy<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct StagePolicy<'a> {
    policy: &'a str,
    source: Source,
    /// Null for the default policy.
    mode: Option<Mode>,
    /// Whether the policy is only asked if those before it give no answer.
    only_if_needed: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct PolicyEntry<'a> {
    name: &'a str,
    version: &'a str,
    description: &'a str,
    source: Source,
    folder: String,
    digest: &'a str,
    stages: Vec<Stage>,
    asks_for: Vec<String>,
    granted: Vec<String>,
    runs: bool,
    /// Null if the policy runs, like the next two fields.
    why_not: Option<&'static str>,
    what: Option<String>,
    hint: Option<String>,
    compiled: bool,
    /// Failures in a row, of the stage that has the most.
    failures_in_a_row: u32,
    failures: u32,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let root = selection::root()?;
    let policies = runtime.policies(Some(&root))?;
    let registry = policies.registry();
    let listed = Listed {
        blocked: registry.blocked.as_deref(),
        stages: Stage::ALL.into_iter().map(|stage| stage_policies(runtime, &policies, stage)).collect(),
        policies: (0..registry.candidates.len()).map(|index| entry(runtime, &policies, index)).collect(),
        broken: &registry.broken,
    };
    if arguments.json {
        output::json(&listed)?;
    } else {
        write(&listed)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn stage_policies<'a>(runtime: &Runtime, policies: &'a Policies, stage: Stage) -> StagePolicies<'a> {
    let default = StagePolicy { policy: DEFAULT_NAME, source: Source::Default, mode: None, only_if_needed: false };
    let order = policies.registry().order(stage);
    let others = order.iter().filter(|index| policies.objection(**index).is_none()).map(|index| {
        let candidate = &policies.registry().candidates[*index];
        StagePolicy {
            policy: candidate.name(),
            source: candidate.source,
            mode: candidate.mode(stage),
            only_if_needed: false,
        }
    });
    if stage == Stage::Redactor {
        let first = runtime.managed.redaction.default.then_some(default);
        return StagePolicies { stage, by: first.into_iter().chain(others).collect() };
    }
    // The default policy merges nothing: only a policy that may ask a model does.
    let last = (stage != Stage::Consolidator).then_some(default);
    let mut by: Vec<StagePolicy<'a>> = others.chain(last).collect();
    let mut replaced = false;
    for link in &mut by {
        link.only_if_needed = replaced;
        replaced |= link.mode == Some(Mode::Replace);
    }
    StagePolicies { stage, by }
}

fn entry<'a>(runtime: &Runtime, policies: &'a Policies, index: usize) -> PolicyEntry<'a> {
    let candidate = &policies.registry().candidates[index];
    let manifest = &candidate.found.manifest;
    let failures = runtime.reporter().failures.borrow();
    let record = failures.of(&candidate.found.digest);
    let (why_not, what, hint) = match &candidate.refusal {
        Some(refusal) => (Some(refusal.kind.word()), Some(refusal.what.clone()), Some(refusal.hint.clone())),
        None => match policies.objection(index) {
            Some(unfit) => (Some("unfit"), Some(unfit.what), Some(unfit.hint)),
            None => (None, None, None),
        },
    };
    PolicyEntry {
        name: &manifest.name,
        version: &manifest.version,
        description: &manifest.description,
        source: candidate.source,
        folder: candidate.found.folder.to_string_lossy().into_owned(),
        digest: &candidate.found.digest,
        stages: manifest.stages.keys().copied().collect(),
        asks_for: manifest.capabilities.list().iter().map(ToString::to_string).collect(),
        granted: candidate.granted.list().iter().map(ToString::to_string).collect(),
        runs: why_not.is_none(),
        why_not,
        what,
        hint,
        compiled: policies.is_compiled(index),
        failures_in_a_row: record.map_or(0, FailureRecord::in_a_row),
        failures: record.map_or(0, |record| record.total),
    }
}

fn write(listed: &Listed<'_>) -> Result<(), CommandError> {
    let mut out = output::stdout();
    if let Some(why) = listed.blocked {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        writeln!(out, "{red}nothing is remembered:{red:#} {}\n", output::clean_line(why))?;
    }
    for StagePolicies { stage, by } in &listed.stages {
        write!(out, "{stage:<16}{}", if by.is_empty() { "none" } else { "" })?;
        for (index, link) in by.iter().enumerate() {
            let (before, after) = match (index, link.only_if_needed, link.mode) {
                (0, ..) => ("", ""),
                (_, true, _) => (" (else ", ")"),
                _ if *stage == Stage::Redactor => (", then ", ""),
                _ => (" + ", ""),
            };
            write!(out, "{before}{}{after}", link.policy)?;
        }
        writeln!(out)?;
    }
    if listed.policies.is_empty() && listed.broken.is_empty() {
        writeln!(
            out,
            "\n{DIM}default is the built-in policy; it runs alone, because no other policy is installed here{DIM:#}"
        )?;
    }
    for entry in &listed.policies {
        writeln!(
            out,
            "\n{BOLD}{}{BOLD:#} {} {DIM}{}, {}{DIM:#}  {}",
            entry.name,
            output::clean_line(entry.version),
            entry.source.word(),
            short(entry.digest),
            output::clean_line(entry.description)
        )?;
        let stages: Vec<&str> = entry.stages.iter().map(|stage| stage.name()).collect();
        let asks = if entry.asks_for.is_empty() { "nothing".into() } else { entry.asks_for.join(", ") };
        writeln!(out, "  {}; asks for {}", stages.join(", "), output::clean_line(&asks))?;
        match (&entry.what, &entry.hint) {
            (Some(what), Some(hint)) => {
                let yellow = anstyle::AnsiColor::Yellow.on_default();
                writeln!(out, "  {yellow}does not run:{yellow:#} {}", output::clean_line(what))?;
                writeln!(out, "  {DIM}{}{DIM:#}", output::clean_line(hint))?;
            }
            _ if !entry.compiled => writeln!(out, "  runs once it is compiled; the next hook starts that")?,
            _ => writeln!(out, "  runs")?,
        }
        if entry.failures_in_a_row > 0 {
            writeln!(
                out,
                "  failed {} in a row; see the log",
                output::counted(entry.failures_in_a_row.into(), "time", "times")
            )?;
        }
    }
    for broken in listed.broken {
        writeln!(out, "\n{}\n  {}\n  {DIM}{}{DIM:#}", broken.path.display(), output::clean_line(&broken.what), broken.hint)?;
    }
    out.flush()?;
    Ok(())
}
