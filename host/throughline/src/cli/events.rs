//! What the commands about recorded events share: opening the store, and printing events.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::output::{self, BOLD, DIM, RED};
use throughline_engine::hooks::{self, STORE_BUSY_TIMEOUT};
use throughline_engine::runtime::Runtime;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::{Access, OBSERVATION, PROMPT, Store, StoredEvent};

/// The variable in which Claude Code passes the session identifier to the commands that it runs.
const SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// The most columns for the names of tools.
const MAX_TOOL_COLUMNS: usize = 18;

/// Opens the store after adding to it what hooks have recorded until now.
pub(super) fn open() -> Result<(Runtime, Store), CommandError> {
    let runtime = environment::runtime_for_reading()?;
    // Until the first turn of the first session ends there are only journals and no database.
    let has_journals = runtime.journal().sessions().is_ok_and(|sessions| !sessions.is_empty());
    let access = if has_journals { Access::Write } else { Access::Existing };
    let mut store = runtime.store(access, STORE_BUSY_TIMEOUT * 4)?;
    if let Err(error) = hooks::store_all_journals(&runtime, &mut store) {
        let error = output::clean_line(&format!("{error:#}"));
        writeln!(anstream::stderr().lock(), "the latest events are missing here: {error}")?;
    }
    Ok((runtime, store))
}

/// Records that the session in which this command runs used the events. If the record cannot be written, the result is
/// still good, so the error is ignored.
pub(super) fn record_lookup(runtime: &Runtime, store: &Store, ids: &[i64]) {
    let session = std::env::var(SESSION).ok().filter(|session| !session.is_empty());
    let _ = store.set_synchronous_normal().and_then(|()| store.mark_used(ids, session.as_deref(), runtime.now));
}

/// Returns the path as events name it: relative to the root of the project if it is inside. A path that does not exist
/// is used as it was typed, because the end of a path is enough.
pub(super) fn file_of(project: Option<&Project>, typed: &Path) -> String {
    let root = match project {
        Some(project) => Some(project.root.clone()),
        None => std::env::current_dir().ok().map(|folder| Project::discover(&folder).root),
    };
    let roots: Vec<PathBuf> =
        root.into_iter().flat_map(|root| [fs::canonicalize(&root).ok(), Some(root)]).flatten().collect();
    let full = fs::canonicalize(typed).unwrap_or_else(|_| typed.to_owned());
    let inside = roots.iter().find_map(|root| full.strip_prefix(root).ok());
    inside.unwrap_or(&full).to_string_lossy().into_owned()
}

/// The main fields of an event as printed with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct EventLine<'a> {
    id: i64,
    #[serde(rename = "type")]
    kind: &'a str,
    /// RFC 3339, UTC; the last time if it happened several times in a row.
    at: String,
    /// Empty if the event is not a tool call.
    tool: &'a str,
    summary: &'a str,
    failed: bool,
    session_id: &'a str,
    /// The root folder of its project.
    project: &'a str,
}

impl<'a> EventLine<'a> {
    pub(super) fn new(event: &'a StoredEvent, project: &'a str) -> Self {
        Self {
            id: event.id,
            kind: &event.kind,
            at: output::timestamp(event.at),
            tool: &event.seen.tool,
            summary: &event.seen.summary,
            failed: event.seen.failed,
            session_id: &event.session_id,
            project,
        }
    }
}

/// An event as printed with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct EventEntry<'a> {
    #[serde(flatten)]
    line: EventLine<'a>,
    files: &'a [String],
    /// How many times in a row.
    times: u32,
    duration_ms: Option<u64>,
    /// The sub-agent in which it happened.
    agent: Option<&'a str>,
}

impl<'a> EventEntry<'a> {
    pub(super) fn new(event: &'a StoredEvent, project: &'a str) -> Self {
        Self {
            line: EventLine::new(event, project),
            files: &event.seen.files,
            times: event.times,
            duration_ms: event.seen.duration,
            agent: event.seen.agent.as_deref(),
        }
    }
}

/// Converts events for `--json`; `roots` are the root folders of their projects, in the same order.
pub(super) fn entries<'a>(events: &'a [StoredEvent], roots: &'a [String]) -> Vec<EventEntry<'a>> {
    events.iter().zip(roots).map(|(event, root)| EventEntry::new(event, root)).collect()
}

/// Returns the name of the tool, or a word for an event that is not a tool call.
pub(super) fn name(event: &StoredEvent) -> String {
    match event.kind.as_str() {
        OBSERVATION => output::clean_line(&event.seen.tool),
        PROMPT => "prompt".into(),
        "stop" | "stop_failure" => "stop".into(),
        "subagent_stop" => "sub-agent".into(),
        "pre_compact" | "post_compact" => "compaction".into(),
        "session_start" => "start".into(),
        "session_end" => "end".into(),
        other => output::clean_line(other),
    }
}

/// How [`Table`] prints the time of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// How long ago it was: for lists that span days.
    Ago,
    /// The time of day: for events under a heading with the day.
    Clock,
}

/// Prints events as a table.
pub(super) struct Table {
    when: When,
    now: u64,
    width: Option<usize>,
    ids: usize,
    ages: usize,
    names: usize,
    marks: usize,
    mark: String,
}

impl Table {
    pub(super) fn new(events: &[StoredEvent], when: When, now: u64) -> Self {
        let widest = |of: &dyn Fn(&StoredEvent) -> usize| events.iter().map(of).max().unwrap_or(0);
        let mark = output::failed();
        let marks = if events.iter().any(|event| event.seen.failed) { plain_columns(&mark) + 1 } else { 0 };
        Self {
            when,
            now,
            width: output::width(),
            ids: widest(&|event| event.id.to_string().len()),
            ages: widest(&|event| output::ago(event.at, now).len()),
            names: widest(&|event| output::columns(&name(event))).min(MAX_TOOL_COLUMNS),
            marks,
            mark,
        }
    }

    /// Prints one event: identifier, time, tool and summary. `before` and `after` are printed around it.
    pub(super) fn write(
        &self,
        out: &mut impl Write,
        event: &StoredEvent,
        before: &str,
        after: &str,
    ) -> Result<(), CommandError> {
        let seen = &event.seen;
        let when = match self.when {
            When::Ago => output::pad(&output::ago(event.at, self.now), self.ages),
            When::Clock => output::local(event.at).1,
        };
        let id = event.id;
        let ids = self.ids;
        let name = output::pad(&output::fit(&name(event), self.names), self.names);
        let mark = if seen.failed { self.mark.as_str() } else { "" };
        let gap = " ".repeat(self.marks.saturating_sub(plain_columns(mark)));
        let mut summary = String::new();
        if seen.agent.is_some() && event.kind == OBSERVATION {
            summary.push_str("↳ ");
        }
        summary.push_str(&output::clean_line(&seen.summary));
        let mut more = if event.times > 1 { format!(" ({}×)", event.times) } else { String::new() };
        if event.kind != OBSERVATION {
            more.extend(seen.duration.map(|took| format!(" ({})", output::duration(took))));
        }
        if !after.is_empty() {
            more.push_str("  ");
            more.push_str(after);
        }
        if let Some(width) = self.width {
            let taken = output::columns(before) + ids + 2 + output::columns(&when) + 2 + self.names + 2 + self.marks;
            summary = output::fit(&summary, width.saturating_sub(taken + output::columns(&more)).max(20));
        }
        if !more.is_empty() {
            more = format!("{DIM}{more}{DIM:#}");
        }
        let style = match event.kind.as_str() {
            PROMPT => BOLD,
            OBSERVATION => anstyle::Style::new(),
            _ => DIM,
        };
        writeln!(out, "{before}{DIM}{id:>ids$}  {when}{DIM:#}  {name}  {mark}{gap}{style}{summary}{style:#}{more}")?;
        Ok(())
    }
}

/// Returns the columns of a text without its colours.
pub(super) fn plain_columns(text: &str) -> usize {
    output::columns(&anstream::adapter::strip_str(text).to_string())
}

/// Returns the beginning of a session's identifier by which people can name it.
pub(super) fn short(store: &Store, session: &str) -> Result<String, CommandError> {
    Ok(output::clean_line(&store.session_prefix(session)?))
}

/// Prints the heading above the events of a session.
pub(super) fn write_head(
    out: &mut impl Write,
    (runtime, store): (&Runtime, &Store),
    session: &str,
    day: &str,
    root: Option<&str>,
) -> Result<(), CommandError> {
    let root = root.map_or_else(String::new, |root| {
        format!("  {}", output::clean_line(&paths::display(root.as_ref(), &runtime.paths.home)))
    });
    writeln!(out, "{BOLD}{day}{BOLD:#}  {DIM}session {}{root}{DIM:#}", short(store, session)?)?;
    Ok(())
}

/// Returns how often something failed, in red; empty if it never did.
pub(super) fn failures(number: u64) -> String {
    if number == 0 { String::new() } else { format!("{RED}{} failed{RED:#}", output::count(number)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_relative_to_the_root_of_its_project() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("src")).unwrap();
        fs::write(root.join("src/a.rs"), "").unwrap();
        let project = Project { id: String::new(), identity: String::new(), root: root.clone() };
        let of = |typed: &Path| file_of(Some(&project), typed);
        assert_eq!(of(&root.join("src/a.rs")), "src/a.rs");
        assert_eq!(of(&root.join("src/gone.rs")), "src/gone.rs");
        assert_eq!(of(Path::new("gone/b.rs")), "gone/b.rs");
        assert_eq!(of(Path::new("/elsewhere/b.rs")), "/elsewhere/b.rs");
    }
}
