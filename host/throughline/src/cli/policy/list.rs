//! `throughline policy list`.

use std::io::Write;

use serde::Serialize;

use super::{Done, Failure, Runtime};
use crate::cli::output::{self, BOLD, DIM};
use throughline_sandbox::chain::{DEFAULT_NAME, Policies, short};
use throughline_sandbox::folder::{Broken, Source};
use throughline_sandbox::manifest::Mode;
use throughline_sandbox::stage::Stage;

/// Show what would run for each stage in the present folder, and why
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Print stages, policies and what is broken as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Listed<'a> {
    /// Why nothing is remembered at all; null where that is not so.
    blocked: Option<&'a str>,
    stages: Vec<Served<'a>>,
    policies: Vec<Entry<'a>>,
    broken: &'a [Broken],
}

/// Who serves a stage, in the order in which they are asked.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Served<'a> {
    stage: Stage,
    by: Vec<Link<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Link<'a> {
    policy: &'a str,
    source: Source,
    /// Null for the default.
    mode: Option<Mode>,
    /// Whether it only serves where those before it give no answer.
    only_if_needed: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Entry<'a> {
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
    /// Null where it runs; as the two below.
    why_not: Option<&'static str>,
    what: Option<String>,
    hint: Option<String>,
    compiled: bool,
    /// Failures since its last success.
    failures_in_a_row: u32,
    failures: u32,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<Done, Failure> {
    let root = super::root()?;
    let policies = runtime.policies(Some(&root))?;
    let roster = policies.roster();
    let listed = Listed {
        blocked: roster.blocked.as_deref(),
        stages: Stage::ALL.into_iter().map(|stage| served(runtime, &policies, stage)).collect(),
        policies: (0..roster.candidates.len()).map(|index| entry(runtime, &policies, index)).collect(),
        broken: &roster.broken,
    };
    if arguments.json {
        output::json(&listed)?;
    } else {
        write(&listed)?;
    }
    Ok(Done::Well)
}

fn served<'a>(runtime: &Runtime, policies: &'a Policies, stage: Stage) -> Served<'a> {
    let default = Link { policy: DEFAULT_NAME, source: Source::Default, mode: None, only_if_needed: false };
    let order = policies.roster().order(stage);
    let others = order.iter().filter(|index| policies.objection(**index).is_none()).map(|index| {
        let candidate = &policies.roster().candidates[*index];
        Link { policy: candidate.name(), source: candidate.source, mode: candidate.mode(stage), only_if_needed: false }
    });
    if stage == Stage::Redactor {
        let first = runtime.managed.redaction.default.then_some(default);
        return Served { stage, by: first.into_iter().chain(others).collect() };
    }
    let mut by: Vec<Link<'a>> = others.chain([default]).collect();
    let mut replaced = false;
    for link in &mut by {
        link.only_if_needed = replaced;
        replaced |= link.mode == Some(Mode::Replace);
    }
    Served { stage, by }
}

fn entry<'a>(runtime: &Runtime, policies: &'a Policies, index: usize) -> Entry<'a> {
    let candidate = &policies.roster().candidates[index];
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
    Entry {
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
        failures_in_a_row: record.map_or(0, |record| record.in_a_row),
        failures: record.map_or(0, |record| record.total),
    }
}

fn write(listed: &Listed<'_>) -> Result<(), Failure> {
    let mut out = output::stdout();
    if let Some(why) = listed.blocked {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        writeln!(out, "{red}nothing is remembered:{red:#} {}\n", output::clean_line(why))?;
    }
    for Served { stage, by } in &listed.stages {
        write!(out, "{stage:<16}")?;
        for (place, link) in by.iter().enumerate() {
            let (before, after) = match (place, link.only_if_needed, link.mode) {
                (0, ..) => ("", ""),
                (_, true, _) => (" (else ", ")"),
                _ if *stage == Stage::Redactor => (", then ", ""),
                _ => (" + ", ""),
            };
            write!(out, "{before}{}{after}", link.policy)?;
        }
        writeln!(out)?;
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
            _ if !entry.compiled => writeln!(out, "  runs once it is compiled, which the next hook begins")?,
            _ => writeln!(out, "  runs")?,
        }
        if entry.failures_in_a_row > 0 {
            writeln!(
                out,
                "  failed {} in a row; the log says how",
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
