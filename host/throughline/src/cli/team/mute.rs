//! `throughline team mute` and `unmute`: whose memories, and for which projects, are not wanted here.

use std::io::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use crate::cli::error::CommandError;
use crate::cli::output;
use throughline_engine::runtime::Runtime;
use throughline_engine::targets;
use throughline_store::Store;

/// Hide what a person shared, or what the team shared for a project
///
/// The memories go from this machine, and are fetched again when you unmute. Nothing changes for others.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    change: Change,
}

/// Show again what was muted: the next sync fetches it
#[derive(clap::Args)]
pub(super) struct UnmuteArguments {
    #[command(flatten)]
    change: Change,
}

#[derive(clap::Args)]
struct Change {
    #[command(flatten)]
    whom: Whom,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print an object: muted, hidden, `dry_run`
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Whom {
    /// A member of the team
    #[arg(long, value_name = "NAME")]
    person: Option<String>,
    /// The project of this folder, or the known project of this name or path
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

impl Whom {
    fn what(&self, runtime: &Runtime) -> Result<String, CommandError> {
        match &self.person {
            Some(name) => Ok(format!("person:{name}")),
            None => Ok(format!("project:{}", targets::find_project(runtime, self.project.as_deref())?.id)),
        }
    }
}

/// What muting or unmuting did.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct MuteResult {
    /// Whether it is muted now, or would be.
    muted: bool,
    /// How many memories go from this machine.
    hidden: u64,
    /// Whether nothing was changed.
    dry_run: bool,
}

pub(super) fn mute(runtime: &Runtime, store: &mut Store, Arguments { change }: &Arguments) -> Result<(), CommandError> {
    let (what, dry_run) = (change.whom.what(runtime)?, change.dry_run);
    let hidden = if dry_run { store.preview_team_mute(&what, true)? } else { store.set_team_mute(&what, true)? };
    if hidden > 0 && !dry_run {
        store.erase()?;
    }
    if change.json {
        return output::json(&MuteResult { muted: true, hidden, dry_run });
    }
    let mut out = output::stdout();
    if dry_run {
        writeln!(out, "{} would be hidden", output::counted(hidden, "memory", "memories"))?;
    } else {
        writeln!(out, "muted; {} hidden", output::counted(hidden, "memory is", "memories are"))?;
    }
    Ok(out.flush()?)
}

pub(super) fn unmute(
    runtime: &Runtime,
    store: &mut Store,
    UnmuteArguments { change }: &UnmuteArguments,
) -> Result<(), CommandError> {
    let (what, dry_run) = (change.whom.what(runtime)?, change.dry_run);
    let known = if dry_run { store.preview_team_mute(&what, false)? } else { store.set_team_mute(&what, false)? };
    if known == 0 {
        return Err(CommandError::new("that is not muted").hint("`throughline team status` lists what is muted"));
    }
    if change.json {
        return output::json(&MuteResult { muted: false, hidden: 0, dry_run });
    }
    let mut out = output::stdout();
    let verb = if dry_run { "would not be muted any more" } else { "not muted any more" };
    writeln!(out, "{verb}; `throughline team sync` fetches it")?;
    Ok(out.flush()?)
}
