//! `throughline policy check`.

use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::{Done, Failure, Runtime};
use crate::cli::output::{self, BOLD, DIM};
use throughline_policy_kit::anatomy;
use throughline_policy_kit::conformance::{self, Granted, Options, Report, Status};
use throughline_sandbox::folder::{Found, Source};
use throughline_sandbox::imports::Grants;
use throughline_sandbox::instance::{Loaded, Terms, Unfit};
use throughline_sandbox::stage::Stage;

/// Check a policy against the contract: manifest, imports, limits, and a run through all that its stages promise
///
/// It runs with all that it asks for, granted or not, on sessions and texts of the check's own. Exit code 1 says that
/// something is not as it must be.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The policy's name, or the path of its folder
    policy: String,
    /// A further text for a redactor, such as holds what it looks for; may be repeated
    #[arg(long)]
    text: Vec<String>,
    /// A further transcript for an extractor; may be repeated
    #[arg(long, value_name = "FILE")]
    session: Vec<std::path::PathBuf>,
    /// Every check, also those that passed
    #[arg(long)]
    all: bool,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// One step before the conformance run, or a check of it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Line {
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
    lines: Vec<Line>,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<Done, Failure> {
    let root = super::root()?;
    let (found, source) = super::by_name_or_path(runtime, &root, &arguments.policy)?;
    let mut lines = Vec::new();
    let terms = super::terms(runtime, &found, source)?;
    let sound = before_running(runtime, &found, source, terms, &mut lines);
    if let Some(subject) = sound {
        let report = conform(runtime, &subject, &found, arguments)?;
        if found.manifest.stages.contains_key(&Stage::Extractor) && report.drafts == 0 {
            lines.push(Line {
                part: Stage::Extractor.to_string(),
                check: "drafts".into(),
                status: Status::Warn,
                seen: "no session gave a draft, so little was seen of it".into(),
                why: "hand it a transcript that holds what it looks for: --session FILE".into(),
            });
        }
        lines.extend(report.checks.into_iter().map(|check| Line {
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
    Ok(if fine { Done::Well } else { Done::Badly })
}

type Subject = Arc<Loaded>;

/// What must hold before anything of it may run. None: it does not.
fn before_running(runtime: &Runtime, found: &Found, source: Source, terms: Terms, lines: &mut Vec<Line>) -> Option<Subject> {
    let mut tell = |part: &str, check: &str, status: Status, seen: String, why: &str| {
        lines.push(Line { part: part.into(), check: check.into(), status, seen, why: why.into() });
        status != Status::Fail
    };
    let owner = throughline_sandbox::roster::owner_of(source);
    let manifest = &found.manifest;
    let digest = match &manifest.sha256 {
        Some(digest) if *digest == found.digest => (Status::Pass, "it is the component's".to_owned()),
        Some(_) => (Status::Fail, "the component is another one".to_owned()),
        None => (Status::Fail, "it is missing: this is a source folder".to_owned()),
    };
    let pinned = tell("manifest", "sha256", digest.0, digest.1, "a component that is not its manifest's does not run");
    let bytes = match found.component(owner) {
        Ok(bytes) => bytes,
        Err(what) => {
            tell("component", "read", Status::Fail, what, "what cannot be read cannot run");
            return None;
        }
    };
    let shape = match anatomy::of(&bytes) {
        Ok(shape) => shape,
        Err(error) => {
            tell("component", "shape", Status::Fail, format!("{error:#}"), "only components are run");
            return None;
        }
    };
    let seen = format!("{} imports, {} exports", shape.imports.len(), shape.exports.len());
    tell("component", "shape", Status::Pass, seen, "only components are run");
    if !pinned {
        return None;
    }
    let started = Instant::now();
    let compiled = runtime.sandbox().and_then(|sandbox| {
        let cache = sandbox.cache();
        Ok(cache.load_or_compile(sandbox.engine(), &found.digest, &bytes, started + super::COMPILE)?.0)
    });
    let component = match compiled {
        Ok(component) => component,
        Err(error) => {
            tell("load", "compile", Status::Fail, format!("{error:#}"), "what does not compile cannot run");
            return None;
        }
    };
    let seen = format!("{} in {} ms", output::bytes(bytes.len() as u64), started.elapsed().as_millis());
    tell("load", "compile", Status::Pass, seen, "it is compiled once, in the background");
    match runtime.sandbox().and_then(|sandbox| sandbox.link(terms, &component)) {
        Ok(loaded) => {
            let seen = "it imports what its manifest asks for, and exports its stages".to_owned();
            tell("load", "link", Status::Pass, seen, "nothing else is there for it");
            Some(Arc::new(loaded))
        }
        Err(error) => {
            let (what, hint) = match error.downcast::<Unfit>() {
                Ok(unfit) => (unfit.what, unfit.hint),
                Err(error) => (format!("{error:#}"), String::new()),
            };
            tell("load", "link", Status::Fail, what, &hint);
            None
        }
    }
}

fn conform(runtime: &Runtime, loaded: &Subject, found: &Found, arguments: &Arguments) -> Result<Report, Failure> {
    let mut sessions = Vec::new();
    for file in &arguments.session {
        let text = std::fs::read_to_string(file).map_err(|error| {
            Failure::new(format!("{}: {error}", file.display())).hint("name a transcript, a .jsonl file")
        })?;
        sessions.push(text.lines().map(str::to_owned).collect());
    }
    let options =
        Options { call: loaded.terms().limits.time, sessions, texts: arguments.text.clone(), ..Options::default() };
    let settings = found.manifest.settings(runtime.config.policy.get(&found.manifest.name)).map_err(Failure::new)?;
    // What it logs is not what is checked.
    let grants = Grants { memories: None, settings: Rc::new(settings), log: None };
    let stages: Vec<Stage> = found.manifest.stages.keys().copied().collect();
    Ok(conformance::run(&Granted { policy: loaded, grants }, &stages, &options))
}

fn write(checked: &Checked, all: bool) -> Result<(), Failure> {
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
    let verdict = if checked.fine { "is fine" } else { "is not as it must be" };
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
