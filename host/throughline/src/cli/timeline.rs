//! `throughline timeline`: what happened, in order.

use std::io::Write;
use std::path::PathBuf;

use super::events::{self, Table, When};
use super::failure::{Done, Failure};
use super::memory::{self, Scope};
use super::{output, pager};
use throughline_engine::runtime::Runtime;
use throughline_store::{Event, Store, Wanted};

/// Show what happened: prompts, uses of tools, failures and ends of turns, the oldest first
///
/// Of a project or of one session; by session and day. Where there is more than fits the limit, the last of it.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Of this session only; the beginning of its identifier is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// About this file or folder only; the end of its path is enough
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    scope: Scope,
    /// At most this many events
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print an array of objects: id, type, at, tool, summary, failed, files, times, `duration_ms`, `session_id`, project, …
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let (runtime, store) = events::open()?;
    let project = arguments.scope.project()?;
    let session = arguments.session.as_deref().map(|id| memory::whole_session(&store, id)).transpose()?;
    let wanted = Wanted {
        project: project.as_ref().map(|project| project.id.clone()),
        session,
        file: arguments.file.as_deref().map(|file| events::file_of(project.as_ref(), file)),
        ..Wanted::default()
    };
    let mut found = store.events(&wanted, arguments.limit)?;
    found.reverse();
    if arguments.json {
        output::json(&events::steps(&found, &store.roots_of_events(&found)?))?;
    } else if found.is_empty() {
        events::tell_empty(&arguments.scope)?;
    } else {
        tell(&runtime, &store, &found, project.is_none())?;
    }
    Ok(Done::Well)
}

fn tell(runtime: &Runtime, store: &Store, found: &[Event], projects: bool) -> Result<(), Failure> {
    let table = Table::new(found, When::Clock, runtime.now);
    let mut out = Vec::new();
    // Sessions that ran side by side are not told in turns.
    let mut groups: Vec<(&str, String, Vec<&Event>)> = Vec::new();
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
        events::write_head(&mut out, runtime, session, day, root.as_deref())?;
        for event in events {
            table.write(&mut out, event, "  ", "")?;
        }
    }
    pager::write(&out)
}
