//! `throughline team mute` and `unmute`: whose memories, and for which projects, are not wanted here.

use std::io::Write as _;
use std::path::PathBuf;

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
    whom: Whom,
}

/// Show again what was muted: the next sync fetches it
#[derive(clap::Args)]
pub(super) struct UnmuteArguments {
    #[command(flatten)]
    whom: Whom,
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

pub(super) fn mute(runtime: &Runtime, store: &mut Store, arguments: &Arguments) -> Result<(), CommandError> {
    let what = arguments.whom.what(runtime)?;
    let hidden = store.set_team_mute(&what, true)?;
    if hidden > 0 {
        store.erase()?;
    }
    let mut out = output::stdout();
    writeln!(out, "muted; {} hidden", output::counted(hidden, "memory is", "memories are"))?;
    Ok(out.flush()?)
}

pub(super) fn unmute(runtime: &Runtime, store: &mut Store, arguments: &UnmuteArguments) -> Result<(), CommandError> {
    let what = arguments.whom.what(runtime)?;
    if store.set_team_mute(&what, false)? == 0 {
        return Err(CommandError::new("that is not muted").hint("`throughline team status` lists what is muted"));
    }
    let mut out = output::stdout();
    writeln!(out, "not muted any more; `throughline team sync` fetches it")?;
    Ok(out.flush()?)
}
