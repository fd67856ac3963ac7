//! `memory.md` of a project: its decisions, its current state, its latest sessions and its known issues.

use std::fmt::Write as _;

use jiff::tz::TimeZone;

use super::session::saved_summary;
use super::text::{line, list, local, stamp};
use throughline_model::contract::{Memory, SessionNotes, SessionRecord};
use throughline_model::project::Project;
use throughline_model::said_by::SaidBy;
use throughline_store::{Failure, MemoryFilter, Result, Store};

/// The types that count as decisions.
const DECISIONS: [&str; 3] = ["decision", "preference", "architecture"];

/// The most entries of each section.
const MAX_DECISIONS: u32 = 15;
const MAX_SESSIONS: u32 = 5;
const MAX_ISSUES: usize = 10;

/// The text of an empty section.
const NONE: &str = "- None known";

/// Returns the file's text, or `None` if nothing is stored of the project.
pub(super) fn page(store: &Store, project: &Project, zone: &TimeZone) -> Result<Option<String>> {
    let kinds = DECISIONS.map(str::to_owned).to_vec();
    let filter = MemoryFilter { project: Some(project.id.clone()), kinds, ..MemoryFilter::default() };
    let decisions = store.important(&filter, MAX_DECISIONS)?;
    let sessions = store.sessions(&project.id, "", MAX_SESSIONS)?;
    let failures = store.failures(Some(&project.id), None, true, u32::try_from(MAX_ISSUES).unwrap_or(u32::MAX))?;
    let any = MemoryFilter { project: Some(project.id.clone()), ..MemoryFilter::default() };
    let newest = store.recent(&any, 1)?;
    if newest.is_empty() && sessions.is_empty() && failures.is_empty() {
        return Ok(None);
    }
    let last = sessions.first();
    let notes = last.and_then(|session| session.notes.as_ref());
    let updated = newest
        .iter()
        .map(|memory| memory.created)
        .chain(last.and_then(|session| session.ended.or(session.started)))
        .chain(failures.iter().map(|failure| failure.last_at))
        .max();
    let mut recent = Vec::new();
    for session in &sessions {
        let text = one_line_summary(session, saved_summary(store, &project.id, &session.id)?.as_ref());
        let day = session.started.or(session.ended).map(|at| local(at, zone).strftime("%Y-%m-%d: ").to_string());
        recent.push(if text.is_empty() { text } else { day.unwrap_or_default() + &text });
    }
    let name = project.root.file_name().map_or_else(|| project.root.to_string_lossy(), |name| name.to_string_lossy());
    let state = [
        updated.map(|at| format!("Last updated: {}", stamp(at))).unwrap_or_default(),
        notes.map(state).filter(|text| !text.is_empty()).map(|text| format!("State: {text}")).unwrap_or_default(),
    ];
    let sections = [
        ("Core Decisions", list(decisions.iter().map(decision))),
        ("Current State", list(state)),
        ("Recent Context", list(recent)),
        ("Known Issues", list(issues(&failures, notes))),
    ];
    let mut page = format!("# Project Memory: {}\n", line(&name));
    for (title, lines) in sections {
        let _ = write!(page, "\n## {title}\n");
        let lines = if lines.is_empty() { vec![NONE.to_owned()] } else { lines };
        page.push_str(&lines.join("\n"));
        page.push('\n');
    }
    Ok(Some(page))
}

fn decision(memory: &Memory) -> String {
    let text = line(if memory.content.trim().is_empty() { &memory.title } else { &memory.content });
    let is_of_agent = memory.said_by() == Some(SaidBy::Agent);
    match memory.kind.as_str() {
        // It must not pass for the user's own word: an agent also saves what it read elsewhere.
        "preference" if is_of_agent => format!("Preference, noted by the agent: {text}"),
        "preference" => format!("Preference: {text}"),
        "architecture" => format!("Architecture: {text}"),
        _ => text,
    }
}

/// Describes the project's state as the last session left it.
fn state(notes: &SessionNotes) -> String {
    let (outcome, objective) = (line(&notes.outcome), line(&super::context::objective(notes)));
    match (outcome.is_empty(), objective.is_empty()) {
        (false, _) => outcome,
        (true, false) => format!("working on: {objective}"),
        (true, true) => String::new(),
    }
}

/// Returns a session in one line, preferring the summary that its agent saved.
fn one_line_summary(session: &SessionRecord, saved: Option<&Memory>) -> String {
    let notes = session.notes.as_ref();
    let texts = [
        saved.map(|memory| memory.content.as_str()),
        Some(session.summary.as_str()),
        notes.map(|notes| notes.outcome.as_str()),
        notes.map(|notes| notes.original_request.as_str()),
    ];
    texts.into_iter().flatten().map(line).find(|text| !text.is_empty()).unwrap_or_default()
}

/// Lists what blocks the work first, then what fails repeatedly, then what the last session left broken.
fn issues(failures: &[Failure], notes: Option<&SessionNotes>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |text: String, told: &str| {
        // The same error can come from the session's notes and from its tool calls.
        if !text.is_empty() && !all.iter().any(|known| known.contains(told)) {
            all.push(text);
        }
    };
    for blocker in notes.map(|notes| &notes.blockers).into_iter().flatten() {
        add(line(blocker), &line(blocker));
    }
    for failure in failures {
        let times = if failure.count > 1 { format!(" ({} times)", failure.count) } else { String::new() };
        add(line(&failure.line()) + &times, &line(&failure.error));
    }
    for error in notes.map(|notes| &notes.errors).into_iter().flatten() {
        let error = line(error);
        if !failures.iter().any(|failure| error.contains(&line(&failure.error))) {
            add(error.clone(), &error);
        }
    }
    all.truncate(MAX_ISSUES);
    all
}
