//! `throughline session list`: lists sessions.

use std::io::Write;

use serde::Serialize;

use super::describe::{outcome, title};
use crate::cli::error::CommandError;
use crate::cli::events;
use crate::cli::output::{self, BOLD, DIM};
use crate::cli::pager;
use crate::cli::scope::{self, Scope};
use throughline_engine::runtime::Runtime;
use throughline_platform::paths;
use throughline_store::{KnownSession, Store};

/// List sessions, latest first
///
/// Prints one line a session. `throughline session show` has the rest.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = crate::cli::number::limit)]
    limit: u32,
    /// Skip this many first
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u32,
    /// Print an array of objects: id, project, `started_at`, `last_at`, `end_reason`, turns, title, outcome, files
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Entry<'a> {
    id: &'a str,
    /// The root folder of its project.
    project: &'a str,
    /// RFC 3339, UTC.
    started_at: Option<String>,
    last_at: String,
    /// Null while the session runs.
    end_reason: Option<&'a str>,
    turns: u32,
    title: String,
    outcome: String,
    /// The files that it changed.
    files: &'a [String],
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    let project = arguments.scope.project(runtime)?;
    let id = project.as_ref().map(|project| project.id.as_str());
    let mut sessions = store.known_sessions_from(id, arguments.offset, arguments.limit.saturating_add(1))?;
    let is_more = output::cut(&mut sessions, arguments.limit);
    if arguments.json {
        let entries = sessions.iter().map(|session| Entry {
            id: &session.record.id,
            project: &session.root,
            started_at: session.record.started.map(output::timestamp),
            last_at: output::timestamp(session.last_at),
            end_reason: session.end_reason.as_deref(),
            turns: session.turns,
            title: title(session),
            outcome: outcome(session),
            files: &session.record.files,
        });
        return output::json(&entries.collect::<Vec<_>>());
    }
    if sessions.is_empty() {
        return scope::print_nothing_found(runtime, store, &arguments.scope, "no sessions");
    }
    print(runtime, store, &sessions, project.is_none())?;
    if is_more {
        output::print_first("latest", sessions.len())?;
    }
    Ok(())
}

/// The most columns of a title where there is no terminal.
const MAX_TITLE: usize = 100;

fn print(runtime: &Runtime, store: &Store, sessions: &[KnownSession], projects: bool) -> Result<(), CommandError> {
    let width = output::width();
    let ids = sessions.iter().map(|session| events::short(store, &session.record.id)).collect::<Result<Vec<_>, _>>()?;
    let heads: Vec<[String; 3]> = sessions
        .iter()
        .map(|session| {
            [
                output::ago(session.last_at, runtime.now),
                output::counted(session.turns.into(), "turn", "turns"),
                output::counted(session.record.files.len() as u64, "file", "files"),
            ]
        })
        .collect();
    let columns = output::widest(&ids);
    let widths = [0, 1, 2].map(|index| output::widest(heads.iter().map(|head| &head[index])));
    // On a narrow terminal files, turns and age are left out, in this order.
    let kept = output::leading_columns(width, &[columns, widths[0], widths[1], widths[2]]) - 1;
    let before_title = columns + 2 + widths[..kept].iter().map(|width| width + 2).sum::<usize>();
    let mut out = Vec::new();
    for ((session, id), head) in sessions.iter().zip(&ids).zip(&heads) {
        let mut root = if projects {
            let root = output::clean_line(&paths::display(session.root.as_ref(), &runtime.paths.home));
            output::fit_behind(&root, width, before_title)
        } else {
            String::new()
        };
        if !root.is_empty() {
            root.insert_str(0, "  ");
        }
        let left = width.map_or(MAX_TITLE, |width| width.saturating_sub(before_title + output::columns(&root)).max(1));
        let beside: String = (0..kept).map(|index| output::pad(&head[index], widths[index]) + "  ").collect();
        writeln!(
            out,
            "{}  {DIM}{beside}{DIM:#}{BOLD}{}{BOLD:#}{DIM}{root}{DIM:#}",
            output::pad(id, columns),
            output::fit(&title(session), left),
        )?;
    }
    pager::write(&out)
}
