//! `throughline observations timeline`: shows what happened around recorded tool calls.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use super::events::{self, EventEntry, Table, When};
use super::find::find;
use crate::cli::error::CommandError;
use crate::cli::output::{self, DIM};
use crate::cli::pager;
use crate::cli::scope::Scope;
use throughline_engine::runtime::Runtime;
use throughline_store::{Store, StoredEvent};

/// Show what happened around observations
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The numbers that `search` prints
    #[arg(value_name = "ID", required = true, value_parser = crate::cli::number::observation)]
    ids: Vec<i64>,
    /// How many events to show before and after each observation
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = crate::cli::number::between::<0, 1_000>)]
    reach: u32,
    #[command(flatten)]
    scope: Scope,
    /// Print an array of stretches: `session_id`, project, events; `asked` is true for the observations that were named
    #[arg(long)]
    json: bool,
}

/// Consecutive events of one session.
struct EventRange {
    events: Vec<StoredEvent>,
    root: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Stretch<'a> {
    session_id: &'a str,
    /// The root folder of its project.
    project: &'a str,
    events: Vec<TimelineEntry<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct TimelineEntry<'a> {
    #[serde(flatten)]
    entry: EventEntry<'a>,
    /// Whether the observation was named on the command line.
    asked: bool,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    let asked = find(runtime, store, &arguments.scope, &arguments.ids)?;
    let stretches = stretches(store, &asked, arguments.reach)?;
    let is_asked = |event: &StoredEvent| asked.iter().any(|it| it.id == event.id);
    if arguments.json {
        let written = stretches.iter().map(|stretch| Stretch {
            session_id: stretch.events.first().map_or("", |event| &event.session_id),
            project: &stretch.root,
            events: stretch
                .events
                .iter()
                .map(|event| TimelineEntry { entry: EventEntry::new(event, &stretch.root), asked: is_asked(event) })
                .collect(),
        });
        output::json(&written.collect::<Vec<_>>())?;
    } else {
        print(runtime, store, &stretches, is_asked)?;
    }
    // The events around them do not count as used.
    let ids: Vec<i64> = asked.iter().map(|event| event.id).collect();
    events::record_lookup(runtime, store, &ids);
    Ok(())
}

/// Returns the events around each observation, session by session in the order in which they were named. Ranges that
/// overlap are merged.
fn stretches(store: &Store, asked: &[StoredEvent], reach: u32) -> Result<Vec<EventRange>, CommandError> {
    let mut sessions: Vec<&str> = Vec::new();
    for event in asked {
        if !sessions.contains(&event.session_id.as_str()) {
            sessions.push(&event.session_id);
        }
    }
    let mut stretches = Vec::new();
    for session in sessions {
        let mut of_session: Vec<&StoredEvent> = asked.iter().filter(|event| event.session_id == session).collect();
        of_session.sort_by_key(|event| event.id);
        let mut merged: Vec<BTreeMap<i64, StoredEvent>> = Vec::new();
        for event in of_session {
            let around: BTreeMap<i64, StoredEvent> =
                store.around(event, reach)?.into_iter().map(|event| (event.id, event)).collect();
            match merged.last_mut() {
                Some(last) if touches(store, last, &around)? => last.extend(around),
                _ => merged.push(around),
            }
        }
        for events in merged {
            let events: Vec<StoredEvent> = events.into_values().collect();
            let root = store.roots_of_events(&events[..1])?.pop().unwrap_or_default();
            stretches.push(EventRange { events, root });
        }
    }
    Ok(stretches)
}

/// Whether no event lies between the end of one range and the beginning of the other.
fn touches(
    store: &Store,
    one: &BTreeMap<i64, StoredEvent>,
    other: &BTreeMap<i64, StoredEvent>,
) -> Result<bool, CommandError> {
    let (Some((_, end)), Some((&begin, _))) = (one.last_key_value(), other.first_key_value()) else { return Ok(false) };
    Ok(begin <= end.id || store.around(end, 1)?.last().is_some_and(|next| next.id >= begin))
}

fn print(
    runtime: &Runtime,
    store: &Store,
    stretches: &[EventRange],
    is_asked: impl Fn(&StoredEvent) -> bool,
) -> Result<(), CommandError> {
    let all: Vec<StoredEvent> = stretches.iter().flat_map(|stretch| stretch.events.iter().cloned()).collect();
    let table = Table::new(&all, When::Clock, runtime.now);
    let mut out = Vec::new();
    let mut before: Option<(&str, String)> = None;
    for stretch in stretches {
        for (index, event) in stretch.events.iter().enumerate() {
            let head = (event.session_id.as_str(), output::local(event.at).0);
            if before.as_ref() != Some(&head) {
                if before.is_some() {
                    writeln!(out)?;
                }
                events::write_head(&mut out, (runtime, store), head.0, &head.1, Some(&stretch.root))?;
                before = Some(head);
            } else if index == 0 {
                writeln!(out, "  {DIM}…{DIM:#}")?;
            }
            table.write(&mut out, event, if is_asked(event) { "> " } else { "  " }, "")?;
        }
    }
    pager::write(&out)
}
