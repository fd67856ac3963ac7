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
///
/// `orders + default` work together. In `strict (else default)` the default answers only if the first one fails.
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
    /// Why these policies are asked, and no others.
    why: String,
}

#[derive(Clone, Serialize)]
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
        blocked: registry.blocked.as_ref().map(|blocked| blocked.why.as_str()),
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
    let registry = policies.registry();
    let default = StagePolicy { policy: DEFAULT_NAME, source: Source::Default, mode: None, only_if_needed: false };
    let order = registry.order(stage);
    let others = order.iter().filter(|index| policies.objection(**index).is_none()).map(|index| {
        let candidate = &registry.candidates[*index];
        StagePolicy {
            policy: candidate.name(),
            source: candidate.source,
            mode: candidate.mode(stage),
            only_if_needed: false,
        }
    });
    let mut by: Vec<StagePolicy<'a>> = if stage == Stage::Redactor {
        let first = runtime.managed.redaction.default.then_some(default);
        first.into_iter().chain(others).collect()
    } else {
        // The default policy merges nothing: only a policy that may ask a model does.
        let last = (stage != Stage::Consolidator).then_some(default);
        others.chain(last).collect()
    };
    if stage != Stage::Redactor {
        let mut replaced = false;
        for link in &mut by {
            link.only_if_needed = replaced;
            replaced |= link.mode == Some(Mode::Replace);
        }
    }
    let have_stage = registry.candidates.iter().filter(|candidate| candidate.mode(stage).is_some());
    let idle: Vec<&str> = have_stage
        .map(throughline_sandbox::registry::Candidate::name)
        .filter(|name| by.iter().all(|link| link.policy != *name))
        .collect();
    let why = why(stage, &by, &idle);
    StagePolicies { stage, by, why }
}

/// Says why these policies are asked in a stage; `idle` are those that have the stage and do not run.
fn why(stage: Stage, by: &[StagePolicy<'_>], idle: &[&str]) -> String {
    let mut why: Vec<String> = Vec::new();
    for link in by {
        let whose = match link.source {
            Source::Default if stage == Stage::Redactor && by.len() > 1 => {
                why.push("the default redacts first".into());
                continue;
            }
            Source::Default => continue,
            Source::User => "yours",
            Source::Project => "this project's",
            Source::Managed => "the administrator's",
        };
        let does = match link.mode {
            _ if stage == Stage::Redactor => "redacts what is left",
            Some(Mode::Replace) => "replaces weaker ones, which answer if it fails",
            _ => "works together with the next one",
        };
        why.push(format!("{} is {whose} and {does}", link.policy));
    }
    if why.is_empty() && idle.is_empty() {
        why.push(match stage {
            Stage::Consolidator => "only a policy that may ask a language model merges memories".into(),
            _ => "no other policy here has this stage".into(),
        });
    }
    why.extend(idle.iter().map(|name| format!("{name} does not run, see below")));
    why.join("; ")
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

/// Returns the policies of a stage in the order in which they are asked: `strict (else default)`, `orders + default`.
fn chain(of: &StagePolicies<'_>) -> String {
    if of.by.is_empty() {
        return "none".into();
    }
    let links = of.by.iter().enumerate().map(|(index, link)| match (index, link.only_if_needed) {
        (0, _) => link.policy.to_owned(),
        (_, true) => format!(" (else {})", link.policy),
        _ if of.stage == Stage::Redactor => format!(", then {}", link.policy),
        _ => format!(" + {}", link.policy),
    });
    links.collect()
}

fn write(listed: &Listed<'_>) -> Result<(), CommandError> {
    let mut out = output::stdout();
    if let Some(why) = listed.blocked {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        writeln!(out, "{red}nothing is remembered:{red:#} {}\n", output::clean_line(why))?;
    }
    let chains: Vec<String> = listed.stages.iter().map(chain).collect();
    let width = output::widest(&chains);
    // The default alone has one reason, which is the same for every stage.
    let is_default_alone = listed.policies.is_empty() && listed.broken.is_empty();
    for (StagePolicies { stage, why, .. }, chain) in listed.stages.iter().zip(&chains) {
        if is_default_alone {
            writeln!(out, "{stage:<16}{chain}")?;
        } else {
            let head = format!("{stage:<16}{}  ", output::pad(chain, width));
            output::write_hanging(&mut out, &head, 16 + width + 2, why)?;
        }
    }
    if is_default_alone {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn link(policy: &'static str, source: Source, mode: Option<Mode>) -> StagePolicy<'static> {
        StagePolicy { policy, source, mode, only_if_needed: false }
    }

    #[test]
    fn every_stage_has_a_reason() {
        let default = || link(DEFAULT_NAME, Source::Default, None);
        let strict = || link("strict", Source::Project, Some(Mode::Replace));
        assert_eq!(why(Stage::Query, &[default()], &[]), "no other policy here has this stage");
        assert_eq!(why(Stage::Query, &[default()], &["shelf"]), "shelf does not run, see below");
        assert_eq!(
            why(Stage::Extractor, &[strict(), default()], &[]),
            "strict is this project's and replaces weaker ones, which answer if it fails"
        );
        assert_eq!(
            why(Stage::Redactor, &[default(), link("terms", Source::User, Some(Mode::Add))], &[]),
            "the default redacts first; terms is yours and redacts what is left"
        );
        assert!(why(Stage::Consolidator, &[], &[]).contains("language model"));
    }

    #[test]
    fn a_chain_says_who_works_together_and_who_comes_only_if_needed() {
        let chain_of = |stage, by| chain(&StagePolicies { stage, by, why: String::new() });
        let mut by = vec![link("orders", Source::User, Some(Mode::Add)), link(DEFAULT_NAME, Source::Default, None)];
        assert_eq!(chain_of(Stage::Extractor, by.clone()), "orders + default");
        by[1].only_if_needed = true;
        assert_eq!(chain_of(Stage::Extractor, by), "orders (else default)");
        assert_eq!(chain_of(Stage::Consolidator, Vec::new()), "none");
    }
}
