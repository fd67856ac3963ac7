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
    let names: Vec<String> = known.iter().map(|known| output::clean_line(&ProjectEntry::new(known).name)).collect();
    let width = output::widest(&names).min(MAX_NAME);
    let ages: Vec<String> =
        known.iter().map(|known| known.last_at.map(|at| output::ago(at, runtime.now)).unwrap_or_default()).collect();
    let age = output::widest(&ages);
    let mut out = Vec::new();
    for ((known, name), ago) in known.iter().zip(&names).zip(&ages) {
        let sessions = output::counted(known.sessions, "session", "sessions");
        let memories = output::counted(known.memories, "memory", "memories");
        let turns = output::counted(known.turns, "turn", "turns");
        let mut path = String::new();
        if known.project.root.is_absolute() {
            path = output::clean_line(&paths::display(&known.project.root, &runtime.paths.home));
        }
        if let Some(columns) = output::width() {
            path = output::fit(&path, columns.saturating_sub(width + 2 + age + 2 + 14 + 2 + 16 + 2 + 12 + 2).max(20));
        }
        let line = format!(
            "{BOLD}{}{BOLD:#}  {DIM}{}  {}  {}  {}{DIM:#}  {path}",
            output::pad(&output::fit(name, width), width),
            output::pad(ago, age),
            output::pad(&sessions, 14),
            output::pad(&memories, 16),
            output::pad(&turns, 12),
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    pager::write(&out)
}
