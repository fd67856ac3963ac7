//! Checks team memory: whether this machine has joined, when it synced last, and how far behind each device is. No server is
//! contacted.

use super::finding::Finding;
use crate::times;
use throughline_engine::team::credentials;
use throughline_engine::team::link::PROGRAM;
use throughline_engine::team::team_key::TeamKey;
use throughline_platform::paths::Paths;
use throughline_platform::program::find_companion;
use throughline_store::{Store, StoreError};

/// Reports the state of team memory; nothing if this machine has joined no team.
pub(super) fn team(paths: &Paths, store: Option<&Store>, now: u64) -> Option<Finding> {
    match credentials::load(paths) {
        Ok(None) => return None,
        Ok(Some(_)) => {}
        Err(what) => return Some(Finding::fail("team", what.to_string(), "let only yourself read it")),
    }
    if let Err(what) = TeamKey::load(paths) {
        return Some(Finding::fail("team", what.to_string(), "let only yourself read it, or `throughline team key import`"));
    }
    let own = std::env::current_exe().ok();
    if find_companion(PROGRAM, own.as_deref(), std::env::var_os("PATH").as_deref()).is_none() {
        let what = format!("this machine has joined a team, and {PROGRAM} is not installed");
        return Some(Finding::fail("team", what, format!("install {PROGRAM} beside throughline")));
    }
    Some(state(store?, now).unwrap_or_else(|error| Finding::fail("team", error.to_string(), "see the finding `database`")))
}

fn state(store: &Store, now: u64) -> Result<Finding, StoreError> {
    let status = store.team_status()?;
    let behind: Vec<String> = store
        .team_series()?
        .into_iter()
        .filter(|it| it.last > it.sequence)
        .map(|it| format!("{} records of {} ({}) are not here yet", it.last - it.sequence, it.name, it.member))
        .collect();
    let synced = match status.synced {
        Some(at) => format!("the last sync was {}", times::ago(at, now)),
        None => "there was no sync yet".into(),
    };
    let mut message = format!(
        "{synced}; {} sent, {} to be sent, {} to be reviewed, {} received",
        status.sent, status.pending, status.review, status.pulled
    );
    for what in &behind {
        message.push_str("; ");
        message.push_str(what);
    }
    if status.refused > 0 {
        message = format!("{message}; the server refused {}", status.refused);
    }
    if status.unopened > 0 {
        message = format!("{message}; {} cannot be opened with this machine's team key, and were kept out", status.unopened);
    }
    if let Some(fault) = status.fault {
        return Ok(Finding::warn(
            "team",
            format!("{message}; the last sync failed: {fault}"),
            "`throughline team sync` says why",
        ));
    }
    if !behind.is_empty() || status.synced.is_none() {
        return Ok(Finding::warn("team", message, "run `throughline team sync`"));
    }
    if status.unopened > 0 {
        return Ok(Finding::warn("team", message, "ask who shared them with which key: docs/team.md"));
    }
    Ok(Finding::ok("team", message))
}
