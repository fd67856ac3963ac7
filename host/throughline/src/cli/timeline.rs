//! `throughline timeline`: recorded events in order.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use super::error::CommandError;
use super::events::{self, Table, When};
use super::scope::{self, Scope};
use super::{output, pager};
use throughline_engine::runtime::Runtime;
use throughline_store::{EventFilter, Store, StoredEvent};

/// Show prompts, tool calls, failures and ends of turns in order
///
/// Shows the events of a project or of one session, by session and day, oldest first. If there are more than the limit,
/// it shows the latest ones.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Only events of this session; the beginning of its identifier is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only events about this file or folder; the end of its path is enough
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    scope: Scope,
    /// Show at most this many events
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = crate::cli::number::limit)]
    limit: u32,
    /// Print an array of objects: id, type, at, tool, summary, failed, files, times, `duration_ms`, `session_id`,
    /// project, …
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let (runtime, store) = events::open()?;
    let project = arguments.scope.project(&runtime)?;
    let session = arguments.session.as_deref().map(|id| scope::resolve_session(&store, id)).transpose()?;
    let wanted = EventFilter {
        project: project.as_ref().map(|project| project.id.clone()),
        session,
        file: arguments.file.as_deref().map(|file| events::file_of(project.as_ref(), file)),
        ..EventFilter::default()
    };
    let mut found = store.events(&wanted, arguments.limit.saturating_add(1))?;
    let is_more = output::cut(&mut found, arguments.limit);
    found.reverse();
    if arguments.json {
        output::json(&events::entries(&found, &store.roots_of_events(&found)?))?;
    } else if found.is_empty() {
        scope::print_nothing_found(&runtime, &store, &arguments.scope, "no events")?;
    } else {
        print(&runtime, &store, &found, project.is_none())?;
        if is_more {
            output::print_first("latest", found.len())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print(runtime: &Runtime, store: &Store, found: &[StoredEvent], projects: bool) -> Result<(), CommandError> {
    let table = Table::new(found, When::Clock, runtime.now);
    let mut out = Vec::new();
    // Keep the events of a session together, even if several sessions ran at the same time.
    let mut groups: Vec<(&str, String, Vec<&StoredEvent>)> = Vec::new();
    for event in found {
        let day = output::local(event.at).0;
        match groups.iter_mut().find(|(session, of, _)| *session == event.session_id && *of == day) {
            Some((_, _, events)) => events.push(event),
            None => groups.push((&event.session_id, day, vec![event])),
        }
    }
    for (index, (session, day, events)) in groups.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let root = if projects { store.roots_of_events(std::slice::from_ref(events[0]))?.pop() } else { None };
        events::write_head(&mut out, (runtime, store), session, day, root.as_deref())?;
        for event in events {
            table.write(&mut out, event, "  ", "")?;
        }
    }
    pager::write(&out)
}
