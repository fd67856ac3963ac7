//! `throughline session show`: shows what is known about a session.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use super::describe::title;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM, GREEN};
use crate::cli::scope;
use crate::cli::{events, failures, pager};
use throughline_engine::runtime::Runtime;
use throughline_model::contract::SessionNotes;
use throughline_platform::paths;
use throughline_store::{self as store, EventFilter, KnownSession, PROMPT, Store, StoredEvent};

/// The most turns to show, the last ones of the session.
const MAX_TURNS: u32 = 500;

/// The most failures to show.
const MAX_FAILURES: u32 = 50;

/// Show a session: its request, outcome, changes, failures and turns
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The identifier of the session, or a unique beginning of it
    id: String,
    /// Print an object: id, project, title, request, outcome, summary, done, current, pending, decisions, changes,
    /// commits, failures, tools, prompts, …
    #[arg(long)]
    json: bool,
}

/// A turn, from its prompt to its end.
struct Turn {
    prompt: StoredEvent,
    /// None while the turn runs, or if it was interrupted.
    end: Option<StoredEvent>,
}

/// What is stored about a session.
struct SessionData {
    session: KnownSession,
    notes: SessionNotes,
    failures: Vec<store::Failure>,
    tools: BTreeMap<String, (u64, u64)>,
    turns: Vec<Turn>,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    let id = scope::resolve_session(store, &arguments.id)?;
    let Some(session) = store.known_session(&id)? else {
        return Err(CommandError::new(format!("there is no session {}", arguments.id))
            .hint("`throughline session list --all-projects` shows their identifiers"));
    };
    let known = SessionData {
        notes: session.record.notes.clone().unwrap_or_default(),
        failures: store.failures(None, Some(&id), false, MAX_FAILURES)?,
        tools: store.tool_counts(None, Some(&id))?,
        turns: turns(store, &id)?,
        session,
    };
    if arguments.json {
        return output::json(&SessionDetails::new(&known));
    }
    let mut out = Vec::new();
    print(runtime, &known, &mut out)?;
    pager::write(&out)
}

fn turns(store: &Store, id: &str) -> Result<Vec<Turn>, CommandError> {
    let kinds = vec![PROMPT.into(), "stop".into(), "stop_failure".into()];
    let wanted = EventFilter { session: Some(id.to_owned()), kinds, ..EventFilter::default() };
    let mut events = store.events(&wanted, 2 * MAX_TURNS)?;
    events.retain(|event| event.session_id == id);
    events.sort_by_key(|event| event.id);
    let mut turns: Vec<Turn> = Vec::new();
    for event in events {
        if event.kind == PROMPT {
            turns.push(Turn { prompt: event, end: None });
        } else if let Some(turn) = turns.last_mut() {
            // A stop hook can make the agent continue; the turn then ends again.
            turn.end = Some(event);
        }
    }
    Ok(turns)
}

/// A session as printed with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SessionDetails<'a> {
    id: &'a str,
    /// The root folder of its project.
    project: &'a str,
    cwd: &'a str,
    agent: &'a str,
    model: Option<&'a str>,
    /// RFC 3339, UTC.
    started_at: Option<String>,
    last_at: String,
    /// Null while the session runs.
    end_reason: Option<&'a str>,
    turns: u32,
    title: String,
    summary: &'a str,
    topics: &'a [String],
    /// The first request of the user.
    request: &'a str,
    /// The current objective, if it differs from the request.
    objective: &'a str,
    outcome: &'a str,
    done: &'a [String],
    current: &'a [String],
    pending: &'a [String],
    decisions: &'a [throughline_model::contract::Decision],
    discoveries: &'a [throughline_model::contract::Discovery],
    learnings: &'a [String],
    preferences: &'a [String],
    blockers: &'a [String],
    /// Errors that were not fixed in the session.
    errors: &'a [String],
    /// The changed files, with the numbers of added and removed lines.
    changes: &'a [throughline_model::contract::Change],
    commits: &'a [String],
    failures: Vec<failures::FailureEntry<'a>>,
    tools: Vec<Tool<'a>>,
    prompts: Vec<Prompt<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Tool<'a> {
    name: &'a str,
    uses: u64,
    failed: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Prompt<'a> {
    /// The number of the event.
    id: i64,
    /// RFC 3339, UTC.
    at: String,
    text: &'a str,
    /// Null while the turn runs, or if it was interrupted.
    duration_ms: Option<u64>,
    /// The first line of the agent's last message.
    end: Option<&'a str>,
    failed: bool,
}

impl<'a> SessionDetails<'a> {
    fn new(known: &'a SessionData) -> Self {
        let SessionData { session, notes, failures, tools, turns } = known;
        Self {
            id: &session.record.id,
            project: &session.root,
            cwd: &session.cwd,
            agent: &session.agent,
            model: session.model.as_deref(),
            started_at: session.record.started.map(output::timestamp),
            last_at: output::timestamp(session.last_at),
            end_reason: session.end_reason.as_deref(),
            turns: session.turns,
            title: title(session),
            summary: &session.record.summary,
            topics: &session.record.topics,
            request: &notes.original_request,
            objective: &notes.current_objective,
            outcome: &notes.outcome,
            done: &notes.done,
            current: &notes.current,
            pending: &notes.pending,
            decisions: &notes.decisions,
            discoveries: &notes.discoveries,
            learnings: &notes.learnings,
            preferences: &notes.preferences,
            blockers: &notes.blockers,
            errors: &notes.errors,
            changes: &notes.changes,
            commits: &notes.commits,
            failures: failures.iter().map(failures::FailureEntry::new).collect(),
            tools: tools.iter().map(|(name, &(uses, failed))| Tool { name, uses, failed }).collect(),
            prompts: turns.iter().map(Prompt::new).collect(),
        }
    }
}

impl<'a> Prompt<'a> {
    fn new(turn: &'a Turn) -> Self {
        let seen = &turn.prompt.seen;
        Self {
            id: turn.prompt.id,
            at: output::timestamp(turn.prompt.at),
            text: if seen.detail.is_empty() { &seen.summary } else { &seen.detail },
            duration_ms: turn.end.as_ref().and_then(|end| end.seen.duration),
            end: turn.end.as_ref().map(|end| end.seen.summary.as_str()),
            failed: turn.end.as_ref().is_some_and(|end| end.seen.failed),
        }
    }
}

fn print(runtime: &Runtime, known: &SessionData, out: &mut impl Write) -> Result<(), CommandError> {
    let SessionData { session, notes, .. } = known;
    let record = &session.record;
    for line in output::wrap(&title(session), 0) {
        writeln!(out, "{BOLD}{line}{BOLD:#}")?;
    }
    writeln!(out)?;
    let lasted = record.started.map(|started| session.last_at.saturating_sub(started)).filter(|lasted| *lasted > 0);
    let (date, time) = output::local(session.last_at);
    // Of what is long ago, the age is a date too.
    let ago = Some(output::ago(session.last_at, runtime.now)).filter(|ago| *ago != date);
    let when = format!(
        "{date} {time}{}{}",
        ago.map_or_else(String::new, |ago| format!(" ({ago})")),
        lasted.map_or_else(String::new, |lasted| format!(", {} after it started", output::duration(lasted)))
    );
    let rows = [
        ("id", record.id.clone()),
        ("project", paths::display(session.root.as_ref(), &runtime.paths.home)),
        ("agent", [session.agent.as_str(), session.model.as_deref().unwrap_or_default()].join(" ")),
        ("last seen", when),
        ("ended", session.end_reason.clone().unwrap_or_default()),
        ("turns", output::count(session.turns.into())),
        ("topics", record.topics.join(", ")),
    ];
    for (name, value) in rows {
        if !value.trim().is_empty() {
            writeln!(out, "{DIM}{}{DIM:#}  {}", output::pad(name, 9), output::clean_line(&value))?;
        }
    }
    // If no extractor kept notes, only the summary is known.
    let summary = if record.notes.is_some() { "" } else { record.summary.as_str() };
    let objective = if notes.current_objective == notes.original_request { "" } else { notes.current_objective.as_str() };
    for (name, text) in [
        ("Request", notes.original_request.as_str()),
        ("Objective", objective),
        ("Outcome", notes.outcome.as_str()),
        ("Summary", summary),
    ] {
        if !text.trim().is_empty() {
            heading(out, name)?;
            for line in output::wrap(&output::clean(text.trim()), 2) {
                writeln!(out, "  {line}")?;
            }
        }
    }
    let decisions = notes.decisions.iter().map(|decision| {
        let why = if decision.why.is_empty() { String::new() } else { format!(": {}", decision.why) };
        let not =
            if decision.rejected.is_empty() { String::new() } else { format!(" (not: {})", decision.rejected.join("; ")) };
        format!("{}{why}{not}", decision.what)
    });
    list(out, "Decisions", "-", decisions)?;
    list(out, "Done", &format!("{GREEN}✓{GREEN:#}"), notes.done.iter().cloned())?;
    list(out, "Open", "○", notes.blockers.iter().chain(&notes.current).chain(&notes.pending).cloned())?;
    list(out, "Learned", "-", notes.learnings.iter().cloned())?;
    let width = notes.changes.iter().map(|change| output::columns(&output::clean_line(&change.path))).max().unwrap_or(0);
    let changes = notes.changes.iter().map(|change| {
        format!("{}  +{} −{}", output::pad(&output::clean_line(&change.path), width), change.added, change.removed)
    });
    raw_list(out, "Files", "", changes)?;
    list(out, "Commits", "-", notes.commits.iter().cloned())?;
    print_activity(runtime, known, out)
}

/// Prints what is known from events: failures, tools and turns.
fn print_activity(runtime: &Runtime, known: &SessionData, out: &mut impl Write) -> Result<(), CommandError> {
    if !known.failures.is_empty() {
        heading(out, "Failures")?;
        for failure in &known.failures {
            write!(out, "  ")?;
            failures::write(out, runtime, failure, false)?;
        }
    }
    if !known.tools.is_empty() {
        heading(out, "Tools")?;
        let mut tools: Vec<(&String, &(u64, u64))> = known.tools.iter().collect();
        tools.sort_by_key(|(_, (uses, _))| std::cmp::Reverse(*uses));
        let width = tools.iter().map(|(name, _)| output::columns(&output::clean_line(name))).max().unwrap_or(0);
        for (name, (uses, failed)) in tools {
            let name = output::pad(&output::clean_line(name), width);
            let line = format!("  {name}  {:>5}  {}", output::count(*uses), events::failures(*failed));
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    if !known.turns.is_empty() {
        heading(out, "Turns")?;
        let width = output::width();
        let mut day = String::new();
        for turn in &known.turns {
            let (date, clock) = output::local(turn.prompt.at);
            if date != day {
                writeln!(out, "  {DIM}{date}{DIM:#}")?;
                day = date;
            }
            let took = turn.end.as_ref().and_then(|end| end.seen.duration).map(output::duration).unwrap_or_default();
            let failed = turn.end.as_ref().is_some_and(|end| end.seen.failed);
            let mark = if failed { format!("{} ", output::failed()) } else { String::new() };
            let text = output::clean_line(&turn.prompt.seen.summary);
            let text = match width {
                Some(width) => output::fit(&text, width.saturating_sub(2 + 5 + 2 + 12 + 2 + 7).max(20)),
                None => text,
            };
            writeln!(out, "  {DIM}{clock}  {}{DIM:#}  {mark}{text}", output::pad(&took, 12))?;
        }
    }
    Ok(())
}

fn heading(out: &mut impl Write, name: &str) -> Result<(), CommandError> {
    writeln!(out, "\n{BOLD}{name}{BOLD:#}")?;
    Ok(())
}

fn list(out: &mut impl Write, name: &str, mark: &str, items: impl Iterator<Item = String>) -> Result<(), CommandError> {
    raw_list(out, name, mark, items.map(|item| output::clean_line(&item)))
}

/// Prints a heading and the items, which must be clean; nothing if there are no items.
fn raw_list(out: &mut impl Write, name: &str, mark: &str, items: impl Iterator<Item = String>) -> Result<(), CommandError> {
    for (index, item) in items.enumerate() {
        if index == 0 {
            heading(out, name)?;
        }
        let gap = if mark.is_empty() { "" } else { " " };
        let taken = 2 + events::plain_columns(mark) + gap.len();
        for (line, text) in output::wrap(&item, taken).into_iter().enumerate() {
            let before = if line == 0 { format!("  {mark}{gap}") } else { " ".repeat(taken) };
            writeln!(out, "{before}{text}")?;
        }
    }
    Ok(())
}
