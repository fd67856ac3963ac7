//! `throughline policy check`: checks a policy against the contract.

use std::io::Write;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::compiling::COMPILE_TIMEOUT;
use super::selection;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use throughline_engine::runtime::Runtime;
use throughline_policy_kit::conformance::{self, ConformanceReport, Granted, Options, Status};
use throughline_sandbox::compile;
use throughline_sandbox::folder::{PolicyPackage, Source};
use throughline_sandbox::imports::Grants;
use throughline_sandbox::instance::{LinkError, LinkedPolicy, Terms};
use throughline_sandbox::stage::Stage;

/// Check a policy against the contract
///
/// Checks the manifest, imports and limits, and then runs each stage and checks what the contract requires of it. The
/// policy runs with everything that it asks for, granted or not, on built-in sessions and texts. The exit code is 1 if
/// a check fails.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The name of the policy, or the path of its folder
    policy: String,
    /// Another text for a redactor, which contains what it looks for; can be repeated
    #[arg(long)]
    text: Vec<String>,
    /// Another transcript for an extractor; can be repeated
    #[arg(long, value_name = "FILE")]
    session: Vec<std::path::PathBuf>,
    /// Also print the checks that passed
    #[arg(long)]
    all: bool,
    /// Print an object: name, digest, fine, lines (part, check, status, seen, why)
    #[arg(long)]
    json: bool,
}

/// The result of one check.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CheckResult {
    /// `manifest`, `component`, `load`, or a stage.
    part: String,
    check: String,
    status: Status,
    seen: String,
    why: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Checked {
    name: String,
    digest: String,
    fine: bool,
    lines: Vec<CheckResult>,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let root = selection::root()?;
    let (found, source) = selection::by_name_or_path(runtime, &root, &arguments.policy)?;
    let mut lines = Vec::new();
    let terms = selection::terms(runtime, &found, source)?;
    let loaded = before_running(runtime, &found, source, terms, &mut lines);
    if let Some(loaded) = loaded {
        let report = conform(runtime, &loaded, &found, arguments)?;
        if found.manifest.stages.contains_key(&Stage::Extractor) && report.drafts == 0 {
            lines.push(CheckResult {
                part: Stage::Extractor.to_string(),
                check: "drafts".into(),
                status: Status::Warn,
                seen: "no session produced a draft, so little could be checked".into(),
                why: "give it a transcript with what it looks for: --session FILE".into(),
            });
        }
        lines.extend(report.checks.into_iter().map(|check| CheckResult {
            part: check.stage.to_string(),
            check: check.id.into(),
            status: check.status,
            seen: check.seen,
            why: format!("{} ({})", check.why, check.contract),
        }));
    }
    let fine = lines.iter().all(|line| line.status != Status::Fail);
    let checked = Checked { name: found.manifest.name.clone(), digest: found.digest.clone(), fine, lines };
    if arguments.json {
        output::json(&checked)?;
    } else {
        write(&checked, arguments.all)?;
    }
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the checks that a policy must pass before it may run; none if one fails.
fn before_running(
    runtime: &Runtime,
    found: &PolicyPackage,
    source: Source,
    terms: Terms,
    lines: &mut Vec<CheckResult>,
) -> Option<Arc<LinkedPolicy>> {
    let mut add = |part: &str, check: &str, status: Status, seen: String, why: &str| {
        lines.push(CheckResult { part: part.into(), check: check.into(), status, seen, why: why.into() });
        status != Status::Fail
    };
    let owner = throughline_sandbox::registry::owner_of(source);
    let manifest = &found.manifest;
    let digest = match &manifest.sha256 {
        Some(digest) if *digest == found.digest => (Status::Pass, "the digest is that of the component".to_owned()),
        Some(_) => (Status::Fail, "the digest is that of another component".to_owned()),
        None => (Status::Fail, "the digest is missing: this is a source folder".to_owned()),
    };
    let pinned =
        add("manifest", "sha256", digest.0, digest.1, "a component runs only if its digest is the one in the manifest");
    let bytes = match found.component(owner) {
        Ok(bytes) => bytes,
        Err(what) => {
            add("component", "read", Status::Fail, what.into(), "the component must be readable");
            return None;
        }
    };
    let shape = match compile::interface(&bytes) {
        Ok(shape) => shape,
        Err(error) => {
            add("component", "shape", Status::Fail, format!("{error:#}"), "a policy must be a WebAssembly component");
            return None;
        }
    };
    let seen = format!("{} imports, {} exports", shape.imports.len(), shape.exports.len());
    add("component", "shape", Status::Pass, seen, "a policy must be a WebAssembly component");
    if !pinned {
        return None;
    }
    let started = Instant::now();
    let compiled =
        runtime.sandbox().and_then(|sandbox| sandbox.load_or_compile(&found.digest, &bytes, started + COMPILE_TIMEOUT));
    let component = match compiled {
        Ok(component) => component,
        Err(error) => {
            add("load", "compile", Status::Fail, format!("{error:#}"), "the component must compile");
            return None;
        }
    };
    let seen = format!("{} in {} ms", output::bytes(bytes.len() as u64), started.elapsed().as_millis());
    add("load", "compile", Status::Pass, seen, "a policy is compiled once, in the background");
    match runtime.sandbox().and_then(|sandbox| sandbox.link(terms, &component)) {
        Ok(loaded) => {
            let seen = "it imports only what its manifest asks for, and exports its stages".to_owned();
            add("load", "link", Status::Pass, seen, "other imports are not available");
            Some(Arc::new(loaded))
        }
        Err(error) => {
            let (what, hint) = match error.downcast::<LinkError>() {
                Ok(unfit) => (unfit.what, unfit.hint),
                Err(error) => (format!("{error:#}"), String::new()),
            };
            add("load", "link", Status::Fail, what, &hint);
            None
        }
    }
}

fn conform(
    runtime: &Runtime,
    loaded: &Arc<LinkedPolicy>,
    found: &PolicyPackage,
    arguments: &Arguments,
) -> Result<ConformanceReport, CommandError> {
    let mut sessions = Vec::new();
    for file in &arguments.session {
        let text = std::fs::read_to_string(file).map_err(|error| {
            CommandError::new(format!("{}: {error}", file.display())).hint("name a transcript, a .jsonl file")
        })?;
        sessions.push(text.lines().map(str::to_owned).collect());
    }
    let options =
        Options { call: loaded.terms().limits.time, sessions, texts: arguments.text.clone(), ..Options::default() };
    let settings = found.manifest.settings(runtime.config.policy.get(&found.manifest.name)).map_err(CommandError::new)?;
    // Log messages are not checked.
    let grants = Grants { memories: None, settings: Rc::new(settings), model: None, log: None };
    let stages: Vec<Stage> = found.manifest.stages.keys().copied().collect();
    Ok(conformance::run(&Granted { policy: loaded, grants }, &stages, &options))
}

fn write(checked: &Checked, all: bool) -> Result<(), CommandError> {
    let mut out = output::stdout();
    let count = |status| checked.lines.iter().filter(|line| line.status == status).count() as u64;
    for line in checked.lines.iter().filter(|line| all || line.status != Status::Pass) {
        let (style, word) = match line.status {
            Status::Pass => (anstyle::AnsiColor::Green.on_default(), "pass"),
            Status::Warn => (anstyle::AnsiColor::Yellow.on_default(), "warn"),
            Status::Fail => (anstyle::AnsiColor::Red.on_default(), "FAIL"),
        };
        writeln!(out, "{style}{word}{style:#}  {}/{}  {}", line.part, line.check, output::clean_line(&line.seen))?;
        if !line.why.is_empty() && line.status != Status::Pass {
            writeln!(out, "      {DIM}{}{DIM:#}", output::clean_line(&line.why))?;
        }
    }
    let verdict = if checked.fine { "conforms to the contract" } else { "does not conform to the contract" };
    writeln!(
        out,
        "{BOLD}{}{BOLD:#} {verdict}: {} passed, {}, {}",
        checked.name,
        count(Status::Pass),
        output::counted(count(Status::Warn), "warning", "warnings"),
        output::counted(count(Status::Fail), "failure", "failures")
    )?;
    out.flush()?;
    Ok(())
}
