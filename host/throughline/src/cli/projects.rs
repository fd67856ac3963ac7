//! `throughline projects`: the projects that something is stored of.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::output::{self, BOLD, DIM};
use super::pager;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::runtime::Runtime;
use throughline_platform::paths;
use throughline_store::{Access, KnownProject};

/// List the known projects, latest session first
///
/// The options `--project` and `--all-projects` of other commands choose between them.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = crate::cli::number::limit)]
    limit: u32,
    /// Print an array of objects: name, path, sessions, memories, turns, `last_session_at`
    #[arg(long)]
    json: bool,
}

/// A project as printed with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ProjectEntry {
    /// The name of the root folder. A project that was imported by name has this name and no folder.
    name: String,
    /// The root folder; null if the project is only a name.
    path: Option<String>,
    /// How many of its sessions were read.
    sessions: u64,
    /// Memories, without turns and without those that were folded into a digest.
    memories: u64,
    /// Turns, the prompts and answers of sessions, which only searches find.
    turns: u64,
    /// When something of a session was stored last; RFC 3339, UTC. Null if there is no session.
    last_session_at: Option<String>,
}

impl ProjectEntry {
    fn new(known: &KnownProject) -> Self {
        let root = &known.project.root;
        let name = if root.is_absolute() { root.file_name().unwrap_or(root.as_os_str()) } else { root.as_os_str() };
        Self {
            name: name.to_string_lossy().into_owned(),
            path: root.is_absolute().then(|| root.to_string_lossy().into_owned()),
            sessions: known.sessions,
            memories: known.memories,
            turns: known.turns,
            last_session_at: known.last_at.map(output::timestamp),
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime_for_reading()?;
    let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4)?;
    let mut known = store.known_projects(arguments.limit.saturating_add(1))?;
    let is_more = output::cut(&mut known, arguments.limit);
    if arguments.json {
        output::json(&known.iter().map(ProjectEntry::new).collect::<Vec<_>>())?;
    } else if known.is_empty() {
        writeln!(anstream::stderr().lock(), "no project is known yet")?;
    } else {
        print(&runtime, &known)?;
        if is_more {
            output::print_first("latest", known.len())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The most columns of a name.
const MAX_NAME: usize = 24;

fn print(runtime: &Runtime, known: &[KnownProject]) -> Result<(), CommandError> {
    let name = |known: &KnownProject| output::fit(&output::clean_line(&ProjectEntry::new(known).name), MAX_NAME);
    let of_each = |cell: &dyn Fn(&KnownProject) -> String| known.iter().map(cell).collect::<Vec<String>>();
    // The path is shown in any case: of two projects of one name, nothing else tells which is which.
    let cells = [
        of_each(&name),
        of_each(&|known| known.last_at.map(|at| output::ago(at, runtime.now)).unwrap_or_default()),
        of_each(&|known| output::counted(known.memories, "memory", "memories")),
        of_each(&|known| output::counted(known.sessions, "session", "sessions")),
        of_each(&|known| output::counted(known.turns, "turn", "turns")),
    ];
    let widths = cells.each_ref().map(output::widest);
    let shown = output::leading_columns(output::width(), &widths);
    let before_path: usize = widths[..shown].iter().map(|width| width + 2).sum();
    let mut out = Vec::new();
    for (row, known) in known.iter().enumerate() {
        for (column, width) in widths[..shown].iter().enumerate() {
            let style = if column == 0 { BOLD } else { DIM };
            write!(out, "{style}{}{style:#}  ", output::pad(&cells[column][row], *width))?;
        }
        let root = &known.project.root;
        let path = if root.is_absolute() { paths::display(root, &runtime.paths.home) } else { "(only a name)".into() };
        let left = output::width().map_or(usize::MAX, |width| width.saturating_sub(before_path));
        writeln!(out, "{}", output::fit_end(&output::clean_line(&path), left))?;
    }
    pager::write(&out)
}
