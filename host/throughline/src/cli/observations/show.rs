//! `throughline observations show`: shows recorded tool calls in full.

use std::io::Write;

use serde::Serialize;

use super::events::{self, EventEntry};
use super::find::find;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use crate::cli::pager;
use crate::cli::scope::Scope;
use throughline_engine::runtime::Runtime;
use throughline_platform::paths;
use throughline_store::{Store, StoredEvent};

/// Show observations in full
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The numbers that `search` and `timeline` print
    #[arg(value_name = "ID", required = true, value_parser = crate::cli::number::observation)]
    ids: Vec<i64>,
    #[command(flatten)]
    scope: Scope,
    /// Print an array of objects: id, type, at, tool, summary, detail, files, attributes, `duration_ms`, level, times,
    /// …
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct EventDetails<'a> {
    #[serde(flatten)]
    entry: EventEntry<'a>,
    /// The compressed output of a tool, or the text of a prompt or answer.
    detail: &'a str,
    attributes: &'a [(String, String)],
    /// Whether a person interrupted it.
    interrupted: bool,
    /// The retention tier, 0 to 4: each use promotes the observation.
    level: u8,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    let found = find(runtime, store, &arguments.scope, &arguments.ids)?;
    let roots = store.roots_of_events(&found)?;
    if arguments.json {
        let details = found.iter().zip(&roots).map(|(event, root)| EventDetails {
            entry: EventEntry::new(event, root),
            detail: &event.seen.detail,
            attributes: &event.seen.attributes,
            interrupted: event.seen.interrupted,
            level: event.level,
        });
        output::json(&details.collect::<Vec<_>>())?;
    } else {
        let mut out = Vec::new();
        for (index, (event, root)) in found.iter().zip(&roots).enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            print(runtime, event, root, &mut out)?;
        }
        pager::write(&out)?;
    }
    let ids: Vec<i64> = found.iter().map(|event| event.id).collect();
    events::record_lookup(runtime, store, &ids);
    Ok(())
}

fn print(runtime: &Runtime, event: &StoredEvent, root: &str, out: &mut impl Write) -> Result<(), CommandError> {
    let seen = &event.seen;
    let mark = match (seen.failed, seen.interrupted) {
        (true, _) => format!("  {}", output::failed()),
        (_, true) => "  interrupted".into(),
        _ => String::new(),
    };
    writeln!(
        out,
        "{DIM}{}  {}{DIM:#}{mark}  {BOLD}{}{BOLD:#}\n",
        event.id,
        events::name(event),
        output::clean_line(&seen.summary)
    )?;
    for line in output::clean(seen.detail.trim_end()).lines() {
        writeln!(out, "    {line}")?;
    }
    if !seen.detail.trim().is_empty() {
        writeln!(out)?;
    }
    let when = format!("{} ({})", output::timestamp(event.at), output::ago(event.at, runtime.now));
    let mut rows = vec![
        ("when", when),
        ("took", seen.duration.map(output::duration).unwrap_or_default()),
        ("times", if event.times > 1 { format!("{} in a row", event.times) } else { String::new() }),
        ("project", paths::display(root.as_ref(), &runtime.paths.home)),
        ("session", event.session_id.clone()),
        ("sub-agent", seen.agent.clone().unwrap_or_default()),
        ("files", seen.files.join(", ")),
        ("tier", format!("{} of 4", event.level)),
    ];
    rows.extend(seen.attributes.iter().map(|(name, value)| (name.as_str(), value.clone())));
    let width = rows.iter().map(|(name, _)| output::columns(&output::clean_line(name))).max().unwrap_or(0).min(20);
    for (name, value) in rows {
        if !value.is_empty() {
            writeln!(out, "{DIM}{}{DIM:#}  {}", output::pad(&output::clean_line(name), width), output::clean_line(&value))?;
        }
    }
    Ok(())
}
