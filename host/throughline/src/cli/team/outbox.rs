//! `throughline team outbox`: the exact text that would leave.

use std::io::Write as _;

use serde::Serialize;

use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use crate::cli::pager;
use throughline_engine::runtime::Runtime;
use throughline_engine::team::outbox;
use throughline_store::Store;
use throughline_store::team::{OutboxEntry, OutboxState};

/// Show the exact text that would leave this machine with the next sync
///
/// Needs no network and sends nothing. In a sealed team the text is encrypted before it leaves. `throughline team review` drops or edits what is listed.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Also list what stays here: what you dropped, and what the server refused, with its reason
    #[arg(long)]
    all: bool,
    /// Print an array of objects: id, state, project, deletes, edited, reason, record
    #[arg(long)]
    json: bool,
}

/// A record that leaves, or that stays here by decision.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct OutboxItem {
    /// The memory's identifier; null for a deletion.
    id: Option<String>,
    /// `review`, `pending`, `queued`, `dropped` or `refused`.
    state: &'static str,
    /// The project's root folder.
    project: String,
    /// Whether it deletes something on the server.
    deletes: bool,
    /// Whether a person changed the text.
    edited: bool,
    /// Why the server refused it; empty otherwise.
    reason: String,
    /// The exact text that leaves, or that is encrypted and leaves so in a sealed team; null if it stays here.
    record: Option<String>,
}

/// Stages what the rules share, and returns the outbox.
pub(super) fn entries(runtime: &Runtime, store: &mut Store, all: bool) -> Result<Vec<OutboxEntry>, CommandError> {
    outbox::stage(runtime, store)?;
    Ok(store.team_outbox(all)?)
}

pub(super) fn run(runtime: &Runtime, store: &mut Store, arguments: &Arguments) -> Result<(), CommandError> {
    let entries = entries(runtime, store, arguments.all)?;
    print(runtime, store, arguments, &entries)?;
    mark_shown(store, &entries)
}

/// Records that a person has seen these texts, so that they may decide about them.
pub(super) fn mark_shown(store: &mut Store, listed: &[OutboxEntry]) -> Result<(), CommandError> {
    let new = listed.iter().filter(|it| !it.is_shown && it.body.is_some());
    Ok(store.team_mark_shown(&new.map(|it| it.hash.as_str()).collect::<Vec<_>>())?)
}

fn print(runtime: &Runtime, store: &Store, arguments: &Arguments, entries: &[OutboxEntry]) -> Result<(), CommandError> {
    let roots = store.projects()?;
    let root = |id: &str| roots.iter().find(|(known, _)| known == id).map(|(_, root)| root.clone()).unwrap_or_default();
    if arguments.json {
        let items: Vec<OutboxItem> = entries
            .iter()
            .map(|it| OutboxItem {
                project: root(&it.project),
                id: it.id.clone(),
                state: it.state.word(),
                deletes: it.is_deletion,
                edited: it.is_edited,
                reason: it.reason.clone(),
                record: it.body.clone(),
            })
            .collect();
        return output::json(&items);
    }
    if entries.is_empty() {
        let what = if runtime.config.team.share.is_empty() {
            "nothing would leave: no rule in the section [team] of the configuration shares anything"
        } else {
            "nothing would leave"
        };
        writeln!(anstream::stderr().lock(), "{what}")?;
        return Ok(());
    }
    let mut out = Vec::new();
    for entry in entries {
        write(&mut out, entry, &root(&entry.project))?;
    }
    pager::write(&out)
}

pub(super) fn write(out: &mut Vec<u8>, entry: &OutboxEntry, project: &str) -> Result<(), CommandError> {
    let state = match entry.state {
        OutboxState::Review => "waits for your review",
        OutboxState::Pending => "leaves with the next sync",
        OutboxState::Queued => "is on its way",
        OutboxState::Dropped => "stays here",
        OutboxState::Refused => "was refused",
    };
    let reason = if entry.reason.is_empty() { String::new() } else { format!(": {}", output::clean_line(&entry.reason)) };
    if entry.is_deletion {
        writeln!(out, "{BOLD}deletion of {}{BOLD:#}  {DIM}{state}{DIM:#}", entry.item)?;
        return Ok(());
    }
    let id = entry.id.as_deref().unwrap_or("-");
    writeln!(out, "{BOLD}{id}{BOLD:#}  {DIM}{state}{reason}  {}{DIM:#}", output::clean_line(project))?;
    if let Some(text) = entry.body.as_deref().and_then(outbox::readable) {
        writeln!(out, "  {}: {}", output::clean_line(&text.kind), output::clean_line(&text.title))?;
        for line in output::clean(&text.content).lines() {
            writeln!(out, "  {line}")?;
        }
    }
    if let Some(body) = &entry.body {
        writeln!(out, "  {DIM}{}{DIM:#}", output::clean_line(body))?;
    }
    Ok(())
}
