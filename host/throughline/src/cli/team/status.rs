//! `throughline team status`: how far behind this machine is.

use std::io::Write as _;

use serde::Serialize;

use crate::cli::error::CommandError;
use crate::cli::output::{self, DIM};
use throughline_engine::runtime::Runtime;
use throughline_engine::team::credentials;
use throughline_engine::team::team_key::TeamKey;
use throughline_store::Store;

/// Show what this machine shares, and how far behind it is
///
/// Reads only what is stored here: the figures of the server are those of the last sync.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Print an object: joined, sealed, member, role, `synced_at`, fault, sent, pending, review, refused, pulled, behind, unopened,
    /// waiting, muted, devices
    #[arg(long)]
    json: bool,
}

/// The state of team memory.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct TeamState {
    /// Whether this machine has an invitation.
    joined: bool,
    /// Whether this machine has the key of a sealed team.
    sealed: bool,
    /// Our name in the team; null before the first sync.
    member: Option<String>,
    /// Our role.
    role: Option<String>,
    /// When the last sync ended well; RFC 3339, UTC.
    synced_at: Option<String>,
    /// Why the last sync failed: `unreachable`, `denied`, …; null if it did not.
    fault: Option<String>,
    /// Memories that the server has from this machine.
    sent: u64,
    /// Records that will be sent.
    pending: u64,
    /// Memories that a person must look at first.
    review: u64,
    /// Memories that the server refused.
    refused: u64,
    /// Memories that came from the team.
    pulled: u64,
    /// Records that the server had at the last sync and that are not here.
    behind: u64,
    /// Records that this machine's team key does not open. They are kept out.
    unopened: u64,
    /// Keys of projects that are not on this machine, for which something waits.
    waiting: Vec<String>,
    /// What is muted.
    muted: Vec<String>,
    /// The other machines.
    devices: Vec<TeamDevice>,
}

/// A machine of the team.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TeamDevice {
    /// Its name.
    name: String,
    /// Whose it is.
    member: String,
    /// How many of its records this machine has not read.
    behind: i64,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    let status = store.team_status()?;
    let synced = status.synced;
    let mut devices: Vec<TeamDevice> = Vec::new();
    for it in store.team_series()? {
        let behind = (it.last - it.sequence).max(0);
        match devices.iter_mut().find(|known| known.name == it.name && known.member == it.member) {
            Some(known) => known.behind += behind,
            None => devices.push(TeamDevice { name: it.name, member: it.member, behind }),
        }
    }
    let state = TeamState {
        joined: credentials::load(&runtime.paths).is_ok_and(|it| it.is_some()),
        sealed: TeamKey::load(&runtime.paths).is_ok_and(|it| it.is_some()),
        member: status.member,
        role: status.role,
        synced_at: synced.map(output::timestamp),
        fault: status.fault,
        sent: status.sent,
        pending: status.pending,
        review: status.review,
        refused: status.refused,
        pulled: status.pulled,
        behind: status.behind,
        unopened: status.unopened,
        waiting: status.waiting,
        muted: status.muted,
        devices,
    };
    if arguments.json { output::json(&state) } else { print(&state, synced.map(|at| runtime.now.saturating_sub(at))) }
}

/// Prints the state; `ago` says how long ago the last sync was, milliseconds.
fn print(state: &TeamState, ago: Option<u64>) -> Result<(), CommandError> {
    let mut out = output::stdout();
    match (&state.member, &state.role) {
        (Some(member), Some(role)) if state.joined => {
            writeln!(out, "{} {DIM}({role}){DIM:#}", output::clean_line(member))?;
        }
        _ if state.joined => writeln!(out, "joined, and not connected yet: `throughline team sync`")?,
        _ => writeln!(out, "this machine has joined no team: `throughline team join`")?,
    }
    if let Some(ago) = ago {
        writeln!(out, "last sync {} ago", output::duration(ago))?;
    }
    if let Some(fault) = &state.fault {
        writeln!(out, "the last sync failed: {}", output::clean_line(fault))?;
    }
    writeln!(
        out,
        "{} sent, {} to be sent, {} to be reviewed, {} refused; {} received, {} behind",
        output::count(state.sent),
        output::count(state.pending),
        output::count(state.review),
        output::count(state.refused),
        output::count(state.pulled),
        output::count(state.behind)
    )?;
    if state.sealed {
        writeln!(out, "sealed: what leaves is encrypted with this machine's team key")?;
    }
    if state.unopened > 0 {
        writeln!(
            out,
            "{} cannot be opened with that key, and were kept out",
            output::counted(state.unopened, "record", "records")
        )?;
    }
    for device in &state.devices {
        let behind = if device.behind > 0 { format!(", {} behind", device.behind) } else { String::new() };
        writeln!(
            out,
            "  {} {DIM}of {}{behind}{DIM:#}",
            output::clean_line(&device.name),
            output::clean_line(&device.member)
        )?;
    }
    for key in &state.waiting {
        writeln!(out, "waits for a project that is not here: {}", output::clean_line(key))?;
    }
    for what in &state.muted {
        writeln!(out, "muted: {}", output::clean_line(what))?;
    }
    Ok(out.flush()?)
}
