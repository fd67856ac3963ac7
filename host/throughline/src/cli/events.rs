//! What was seen while sessions ran, as the commands about it get it and write it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::failure::Failure;
use super::memory::Scope;
use super::output::{self, BOLD, DIM, RED};
use throughline_engine::hooks::{self, PATIENCE};
use throughline_engine::runtime::Runtime;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::{Access, Event, OBSERVATION, PROMPT, Store};

/// The variable in which Claude Code tells its commands whose they are.
const SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// The widest column of tools' names.
const MOST_TOOL: usize = 18;

/// What every command about it works with. What hooks noted down until now is in the store.
pub(super) fn open() -> Result<(Runtime, Store), Failure> {
    let runtime = super::runtime()?;
    // Before the first session's first turn has ended there are journals and no database.
    let noted = runtime.journal().sessions().is_ok_and(|sessions| !sessions.is_empty());
    let access = if noted { Access::Write } else { Access::Existing };
    let mut store = runtime.store(access, PATIENCE * 4)?;
    if let Err(error) = hooks::take_journals(&runtime, &mut store) {
        let error = output::clean_line(&format!("{error:#}"));
        writeln!(anstream::stderr().lock(), "what was seen just now is missing here: {error}")?;
    }
    Ok((runtime, store))
}

/// Notes that events were looked at, by the session in which this runs. Only bookkeeping: where it cannot be written, the
/// answer is no worse.
pub(super) fn note_lookup(runtime: &Runtime, store: &Store, ids: &[i64]) {
    let session = std::env::var(SESSION).ok().filter(|session| !session.is_empty());
    let _ = store.relax().and_then(|()| store.mark_used(ids, session.as_deref(), runtime.now));
}

/// The file as events name it: relative to the project's root where it is inside it. One that is not there now is taken as it
/// was typed: the end of a path will do.
pub(super) fn file_of(project: Option<&Project>, typed: &Path) -> String {
    let root = match project {
        Some(project) => Some(project.root.clone()),
        None => std::env::current_dir().ok().map(|folder| Project::of(&folder).root),
    };
    let roots: Vec<PathBuf> =
        root.into_iter().flat_map(|root| [fs::canonicalize(&root).ok(), Some(root)]).flatten().collect();
    let whole = fs::canonicalize(typed).unwrap_or_else(|_| typed.to_owned());
    let inside = roots.iter().find_map(|root| whole.strip_prefix(root).ok());
    inside.unwrap_or(&whole).to_string_lossy().into_owned()
}

/// An event in one line, as programs read it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Line<'a> {
    id: i64,
    #[serde(rename = "type")]
    kind: &'a str,
    /// RFC 3339, UTC; where it came several times in a row, the last one.
    at: String,
    /// Empty where it is about none.
    tool: &'a str,
    summary: &'a str,
    failed: bool,
    session_id: &'a str,
    /// The root folder of its project.
    project: &'a str,
}

impl<'a> Line<'a> {
    pub(super) fn new(event: &'a Event, project: &'a str) -> Self {
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

/// An event with what it was about, as programs read it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Step<'a> {
    #[serde(flatten)]
    line: Line<'a>,
    files: &'a [String],
    /// How often in a row.
    times: u32,
    duration_ms: Option<u64>,
    /// The sub-agent that it happened in.
    agent: Option<&'a str>,
}

impl<'a> Step<'a> {
    pub(super) fn new(event: &'a Event, project: &'a str) -> Self {
        Self {
            line: Line::new(event, project),
            files: &event.seen.files,
            times: event.times,
            duration_ms: event.seen.duration,
            agent: event.seen.agent.as_deref(),
        }
    }
}

/// The events as programs read them; `roots` are the root folders of their projects, in the same order.
pub(super) fn steps<'a>(events: &'a [Event], roots: &'a [String]) -> Vec<Step<'a>> {
    events.iter().zip(roots).map(|(event, root)| Step::new(event, root)).collect()
}

/// Says on stderr that there is nothing.
pub(super) fn tell_empty(scope: &Scope) -> Result<(), Failure> {
    super::memory::tell_empty(scope)
}

/// The tool, or a word for what is no use of one.
pub(super) fn name(event: &Event) -> String {
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

/// How [`Table`] writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// How long ago: of a list over days.
    Ago,
    /// The time of day: of events below their day.
    Clock,
}

/// Lines of events below one another.
pub(super) struct Table {
    when: When,
    now: u64,
    width: Option<usize>,
    ids: usize,
    names: usize,
    marks: usize,
    mark: String,
}

impl Table {
    pub(super) fn new(events: &[Event], when: When, now: u64) -> Self {
        let widest = |of: &dyn Fn(&Event) -> usize| events.iter().map(of).max().unwrap_or(0);
        let mark = output::failed();
        let marks = if events.iter().any(|event| event.seen.failed) { plain_columns(&mark) + 1 } else { 0 };
        Self {
            when,
            now,
            width: output::width(),
            ids: widest(&|event| event.id.to_string().len()),
            names: widest(&|event| output::columns(&name(event))).min(MOST_TOOL),
            marks,
            mark,
        }
    }

    /// Writes one: identifier, when, tool, what happened.
    pub(super) fn write(&self, out: &mut impl Write, event: &Event, before: &str, behind: &str) -> Result<(), Failure> {
        let seen = &event.seen;
        let when = match self.when {
            When::Ago => output::pad(&output::ago(event.at, self.now), 9),
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
        if !behind.is_empty() {
            more.push_str("  ");
            more.push_str(behind);
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

/// The columns of a text without its colours.
fn plain_columns(text: &str) -> usize {
    output::columns(&anstream::adapter::strip_str(text).to_string())
}

/// The first characters of a session's identifier, by which people tell sessions apart.
pub(super) fn short(session: &str) -> String {
    output::clean_line(session).chars().take(8).collect()
}

/// Writes what stands above a session's events.
pub(super) fn write_head(
    out: &mut impl Write,
    runtime: &Runtime,
    session: &str,
    day: &str,
    root: Option<&str>,
) -> Result<(), Failure> {
    let root = root.map_or_else(String::new, |root| {
        format!("  {}", output::clean_line(&paths::display(root.as_ref(), &runtime.paths.home)))
    });
    writeln!(out, "{BOLD}{day}{BOLD:#}  {DIM}session {}{root}{DIM:#}", short(session))?;
    Ok(())
}

/// How often something failed, in red where it did.
pub(super) fn failures(number: u64) -> String {
    if number == 0 { String::new() } else { format!("{RED}{} failed{RED:#}", output::count(number)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_from_its_projects_root_on() {
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
