//! The tool calls that a chunk of a transcript records become observations, as if hooks had reported them.
//!
//! So do prompts, if no hook saw any of the session.
//!
//! What hooks reported is not observed again: the agent's identifier of a call is the event's key. Where an agent's hooks have no
//! identifiers, the store compares the observations themselves.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::merge::RecordedPrompt;
use super::request::ReadRequest;
use super::scope::{CALL, Scope};
use crate::hooks::{exclusion, tracking};
use crate::runtime::Runtime;
use anyhow::Result;
use throughline_agents::protocol::transcripts::tool_calls::{RecordedCall, ToolCalls};
use throughline_model::lines::{Line, LineSource};
use throughline_platform::log::Level;
use throughline_privacy::EarlierPart;
use throughline_sandbox::chain::Work;
use throughline_store::journal::{EventPayload, JournalRecord};
use throughline_store::{OBSERVATION, PROMPT, RECORDED_PROMPT, Store};

/// The tool calls of the lines that a policy reads. The reader of the lines belongs to the policy meanwhile.
#[derive(Clone, Default)]
pub(super) struct SharedCalls(Arc<Mutex<ToolCalls>>);

impl SharedCalls {
    /// Wraps a source of lines so that their tool calls are collected.
    pub(super) fn watch(&self, lines: Box<dyn LineSource>) -> Box<dyn LineSource> {
        Box::new(WatchedLines { lines, calls: self.clone() })
    }

    /// Returns the calls, and begins anew.
    pub(super) fn take(&self) -> ToolCalls {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct WatchedLines {
    lines: Box<dyn LineSource>,
    calls: SharedCalls,
}

impl LineSource for WatchedLines {
    fn read_lines(&mut self, max_bytes: usize) -> io::Result<Vec<Line>> {
        let lines = self.lines.read_lines(max_bytes)?;
        let mut calls = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        for line in &lines {
            calls.read(&line.text);
        }
        Ok(lines)
    }
}

/// Returns the observations of the calls that are not stored yet. `earlier` is the part of the transcript before the chunk. A call that
/// cannot be observed is left out, because the rest of the reading must not fail for it.
pub(super) fn observe(
    runtime: &Runtime,
    store: &Store,
    work: &mut Work<'_>,
    (request, scope): (&ReadRequest, &Scope),
    mut calls: ToolCalls,
    earlier: Option<&dyn EarlierPart>,
    deadline: Instant,
) -> Result<Vec<JournalRecord>> {
    // The other half of a hook's time is for redacting and storing.
    let until = Instant::now() + (deadline.saturating_duration_since(Instant::now()) / 2).min(CALL);
    if let Some(earlier) = earlier
        && has_unknown_orphans(store, scope, &calls)?
    {
        calls.adopt(&earlier.lines()?);
    }
    let mut calls = calls.take();
    let keys: Vec<&str> = calls.iter().map(|call| call.tool_use.id.as_str()).collect();
    let known = store.known_events(&scope.session.id, &keys)?;
    calls.retain(|call| !known.contains(&call.tool_use.id));
    let mut records = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        match record(runtime, work, request, scope, call, until) {
            Ok(record) => records.extend(record),
            Err(error) => {
                let left = calls.len() - number;
                let why = format!("{left} calls of session {}: {error:#}", scope.session.id);
                runtime.log.record(Level::Warn, "tool calls of a transcript were not recorded", why);
                break;
            }
        }
    }
    Ok(records)
}

/// Returns the calls with the prompts of the chunk among them, in the order in which they happened. The prompts of a sub-agent are its
/// parent's words.
pub(super) fn with_prompts(
    store: &Store,
    request: &ReadRequest,
    scope: &Scope,
    mut calls: Vec<JournalRecord>,
    prompts: Vec<RecordedPrompt>,
) -> Result<Vec<JournalRecord>> {
    if prompts.is_empty() || request.reason.sub_agent().is_some() || store.has_seen_prompts(&scope.session.id)? {
        return Ok(calls);
    }
    let record = |RecordedPrompt { text, line, at }| JournalRecord {
        kind: PROMPT.into(),
        key: format!("{RECORDED_PROMPT}{line}"),
        at,
        session: scope.session.id.clone(),
        cwd: PathBuf::from(&scope.session.cwd),
        seen: EventPayload { summary: text, ..EventPayload::default() },
    };
    let mut all: Vec<JournalRecord> = prompts.into_iter().map(record).collect();
    all.append(&mut calls);
    all.sort_by_key(|record| record.at);
    Ok(all)
}

/// Whether a result of the chunk belongs to an earlier call that is not stored. To find the call, earlier lines must be read again.
fn has_unknown_orphans(store: &Store, scope: &Scope, calls: &ToolCalls) -> Result<bool> {
    let orphans: Vec<&str> = calls.orphans().collect();
    let known = store.known_events(&scope.session.id, &orphans)?;
    Ok(orphans.into_iter().any(|id| !known.contains(id)))
}

fn record(
    runtime: &Runtime,
    work: &mut Work<'_>,
    request: &ReadRequest,
    scope: &Scope,
    call: &RecordedCall,
    until: Instant,
) -> Result<Option<JournalRecord>> {
    let Some(tool_use) = exclusion::without_excluded(&runtime.privacy, &call.tool_use) else { return Ok(None) };
    let at = call.at.unwrap_or(runtime.now);
    let seen = tracking::observe(runtime, work, &scope.session, &tool_use, at, until)?;
    Ok(seen.map(|seen| JournalRecord {
        kind: OBSERVATION.into(),
        key: tool_use.id,
        at,
        session: scope.session.id.clone(),
        cwd: PathBuf::from(&scope.session.cwd),
        seen: EventPayload {
            agent: request.reason.sub_agent().map(str::to_owned).or_else(|| call.sub_agent.clone()),
            ..seen
        },
    }))
}
