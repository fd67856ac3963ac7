//! `throughline policy enable|disable|grant|revoke|trust|lock`: what a person decides about policies.

use std::io::Write;
use std::time::Instant;

use super::{Done, Failure, Place, Runtime};
use crate::cli::output::{self, BOLD, DIM};
use throughline_sandbox::capability::{Capabilities, Capability};
use throughline_sandbox::folder::{self, Source};
use throughline_sandbox::ledger::Editor;
use throughline_sandbox::lock::{self, Lock as LockFile};
use throughline_sandbox::roster::{Candidate, owner_of};

/// Let a policy run, also one that was set aside because it failed
#[derive(clap::Args)]
pub(super) struct Enable {
    /// The policy's name
    name: String,
    #[command(flatten)]
    place: Place,
}

/// Keep a policy from running
#[derive(clap::Args)]
pub(super) struct Disable {
    /// The policy's name
    name: String,
    #[command(flatten)]
    place: Place,
}

/// Grant a policy what it asks for
///
/// Capabilities: transcript, memories (or memories:KIND,KIND for some kinds), settings, log, wall-clock, random, wasi.
#[derive(clap::Args)]
pub(super) struct Grant {
    /// The policy's name
    name: String,
    /// What to grant, as `policy list` names it
    #[arg(required_unless_present = "all")]
    capabilities: Vec<Capability>,
    /// All that it asks for now
    #[arg(long, conflicts_with = "capabilities")]
    all: bool,
    #[command(flatten)]
    place: Place,
}

/// Take back what a policy was granted
#[derive(clap::Args)]
pub(super) struct Revoke {
    /// The policy's name
    name: String,
    /// What to take back
    #[arg(required_unless_present = "all")]
    capabilities: Vec<Capability>,
    /// All that it was granted
    #[arg(long, conflicts_with = "capabilities")]
    all: bool,
    #[command(flatten)]
    place: Place,
}

/// Trust the policies of the present folder's project as they are now
///
/// The trust is for their digests: whoever changes one of them, by a pull perhaps, asks again.
#[derive(clap::Args)]
pub(super) struct Trust {
    /// Grant each what it asks for
    #[arg(long)]
    grant: bool,
    /// Trust them no more
    #[arg(long, conflicts_with = "grant")]
    revoke: bool,
}

/// Write policies.lock: what is not as it stands there does not run
#[derive(clap::Args)]
pub(super) struct Lock {
    #[command(flatten)]
    place: Place,
    /// Remove the file instead
    #[arg(long)]
    remove: bool,
}

pub(super) fn enable(runtime: &Runtime, arguments: &Enable) -> Result<Done, Failure> {
    switch(runtime, &arguments.name, arguments.place, true)
}

pub(super) fn disable(runtime: &Runtime, arguments: &Disable) -> Result<Done, Failure> {
    switch(runtime, &arguments.name, arguments.place, false)
}

fn switch(runtime: &Runtime, name: &str, place: Place, enabled: bool) -> Result<Done, Failure> {
    decide(runtime, name, place, |editor, root, _| {
        editor.enable(place.whose(root), name, enabled);
        format!("{BOLD}{}{BOLD:#} {name}", if enabled { "enabled" } else { "disabled" })
    })
}

pub(super) fn grant(runtime: &Runtime, arguments: &Grant) -> Result<Done, Failure> {
    let (name, place) = (&arguments.name, arguments.place);
    decide(runtime, name, place, |editor, root, candidate| {
        let mut granted = candidate.granted.clone();
        let asked = candidate.found.manifest.capabilities.list();
        for capability in if arguments.all { &asked } else { &arguments.capabilities } {
            granted.add(capability.clone());
        }
        editor.grant(place.whose(root), name, &granted);
        told(name, &granted)
    })
}

pub(super) fn revoke(runtime: &Runtime, arguments: &Revoke) -> Result<Done, Failure> {
    let (name, place) = (&arguments.name, arguments.place);
    decide(runtime, name, place, |editor, root, candidate| {
        let mut granted = if arguments.all { Capabilities::default() } else { candidate.granted.clone() };
        for capability in &arguments.capabilities {
            granted.remove(capability);
        }
        editor.grant(place.whose(root), name, &granted);
        told(name, &granted)
    })
}

fn told(name: &str, granted: &Capabilities) -> String {
    let list: Vec<String> = granted.list().iter().map(Capability::to_string).collect();
    format!("{name} is granted {}", if list.is_empty() { "nothing".into() } else { list.join(", ") })
}

/// Writes a decision down. Who decides has looked: failures are forgiven. Then says whether the policy runs.
fn decide(
    runtime: &Runtime,
    name: &str,
    place: Place,
    write: impl FnOnce(&mut Editor, &std::path::Path, &Candidate) -> String,
) -> Result<Done, Failure> {
    let root = super::root()?;
    let roster = super::roster(runtime, &root)?;
    let candidate = super::named(&roster, name, place)?;
    let mut editor = Editor::open(&runtime.paths.policy_ledger())?;
    let told = write(&mut editor, &root, candidate);
    editor.save()?;
    let mut failures = runtime.reporter().failures.borrow_mut();
    failures.forgive(&candidate.found.digest);
    failures.save()?;
    drop(failures);
    let mut out = output::stdout();
    writeln!(out, "{told}")?;
    super::settle(runtime, &root, name, place, &mut out)?;
    Ok(Done::Well)
}

pub(super) fn trust(runtime: &Runtime, arguments: &Trust) -> Result<Done, Failure> {
    let root = super::root()?;
    let roster = super::roster(runtime, &root)?;
    let found: Vec<folder::Found> = roster
        .candidates
        .iter()
        .filter(|candidate| candidate.source == Source::Project)
        .map(|candidate| candidate.found.clone())
        .collect();
    let mut editor = Editor::open(&runtime.paths.policy_ledger())?;
    let mut out = output::stdout();
    if arguments.revoke {
        editor.trust(&root, None);
        editor.save()?;
        writeln!(out, "the policies of {} are not trusted", root.display())?;
        out.flush()?;
        return Ok(Done::Well);
    }
    if found.is_empty() {
        let place = root.join(throughline_sandbox::roster::PROJECT_FOLDER);
        let failure = Failure::new(format!("{} holds no policy", place.display()));
        return Err(match roster.broken.iter().find(|broken| broken.path.starts_with(&place)) {
            Some(broken) => failure.hint(format!("{}: {}", broken.path.display(), broken.what)),
            None => failure.hint("`throughline policy add PATH --in-project` puts one there"),
        });
    }
    editor.trust(&root, Some(&folder::identity(&found)));
    for policy in &found {
        let asks: Vec<String> = policy.manifest.capabilities.list().iter().map(Capability::to_string).collect();
        let stages: Vec<&str> = policy.manifest.stages.keys().map(|stage| stage.name()).collect();
        writeln!(
            out,
            "{BOLD}{}{BOLD:#} {}: {}; asks for {}",
            policy.manifest.name,
            output::clean_line(&policy.manifest.version),
            stages.join(", "),
            if asks.is_empty() { "nothing".into() } else { asks.join(", ") }
        )?;
        if arguments.grant {
            let whose = throughline_sandbox::ledger::Whose::Project(&root);
            editor.grant(whose, &policy.manifest.name, &policy.manifest.capabilities);
        } else if !asks.is_empty() {
            writeln!(out, "  {DIM}throughline policy grant {} --all --in-project{DIM:#}", policy.manifest.name)?;
        }
    }
    editor.save()?;
    let fresh = Runtime::new(runtime.paths.clone()).map_err(Failure::new)?;
    fresh.policies(Some(&root))?.compile(Instant::now() + super::COMPILE);
    fresh.finish();
    writeln!(out, "trusted as they are now: {}", output::counted(found.len() as u64, "policy", "policies"))?;
    out.flush()?;
    Ok(Done::Well)
}

pub(super) fn lock(runtime: &Runtime, arguments: &Lock) -> Result<Done, Failure> {
    let root = super::root()?;
    let folder = arguments.place.folder(runtime, &root)?;
    let file = lock::file_of(&folder);
    let mut out = output::stdout();
    if arguments.remove {
        match std::fs::remove_file(&file) {
            Ok(()) => writeln!(out, "{} is gone: what is in {} may change", file.display(), folder.display())?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => writeln!(out, "there is no {}", file.display())?,
            Err(error) => return Err(Failure::new(format!("{} cannot be removed: {error}", file.display()))),
        }
        out.flush()?;
        return Ok(Done::Well);
    }
    let source = arguments.place.source();
    let (found, broken) = folder::scan(&folder, owner_of(source), runtime.sandbox()?.cache());
    if let Some(broken) = broken.first() {
        return Err(super::tell(broken));
    }
    if found.is_empty() {
        return Err(Failure::new(format!("{} holds no policy", folder.display())).hint("add one first"));
    }
    let lock = LockFile::of(&found);
    lock.write(&file)?;
    writeln!(out, "{} pins {}", file.display(), output::counted(lock.len() as u64, "policy", "policies"))?;
    out.flush()?;
    Ok(Done::Well)
}
