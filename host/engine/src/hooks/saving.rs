//! `PreCompact`, `PostCompact`, `Stop` and `SessionEnd`: store the session's state. `SubagentStop`: stores what a
//! sub-agent found.

use std::time::Instant;

use super::reading::{self, ReadOutcome, ReadReason, ReadRequest};
use super::result::{HookResult, STORE_BUSY_TIMEOUT};
use super::session_project::project_of;
use super::synthesized_transcript::SessionSource;
use super::{checkpoints, journal_writer, spawn};
use crate::projection;
use crate::runtime::Runtime;
use throughline_agents::protocol::shorten::shorten_text;
use throughline_agents::protocol::{Event, Moment};
use throughline_model::project::Project;
use throughline_platform::log::Level;
use throughline_sandbox::chain::NotCompiled;
use throughline_store::journal::EventPayload;
use throughline_store::{Access, Store, Turn};

/// Continues reading the transcript and stores the result; what does not fit into the hook's time is done by a
/// background process. Returns the text for the agent.
pub(super) fn save(
    runtime: &Runtime,
    event: &Event,
    source: &SessionSource,
    deadline: Instant,
) -> HookResult<Option<String>> {
    let mut store = runtime.store(Access::Write, STORE_BUSY_TIMEOUT)?;
    if let Err(error) = journal_writer::store_journal(runtime, &mut store, &event.session) {
        runtime.log.record(Level::Warn, "the session's journal could not be stored yet", format!("{error:#}"));
    }
    if matches!(event.moment, Moment::Compacted { .. }) {
        runtime.journal().unmark(&event.session);
    }
    let Some((reason, record)) = reason(runtime, &store, event, source)? else { return Ok(None) };
    let request = ReadRequest::for_event(event, source.path(), runtime.transcript_roots(), reason, record);
    let outcome = match reading::read(runtime, &mut store, &request, deadline) {
        Err(error) if error.is::<throughline_agents::transcript::TranscriptError>() => {
            runtime.log.record(Level::Warn, "a transcript was not read", format!("{error:#}"));
            // The texts that the event itself carried are still worth keeping.
            reading::read(runtime, &mut store, &request.without_transcript(), deadline)?
        }
        Err(error) if error.is::<NotCompiled>() => ReadOutcome::default(),
        other => other?,
    };
    if outcome.finished {
        write_projections(runtime, event, &store);
        if matches!(event.moment, Moment::End { .. }) {
            spawn::compare(runtime, &store, &project_of(&store, &event.session, &event.cwd)?.id, &event.cwd);
            spawn::compress(runtime, &store, &event.cwd);
            spawn::consolidate(runtime, &event.cwd, "");
            spawn::sync_team(runtime);
        }
    }
    if outcome.finished {
        drop(spawn::checkpoint_wal(&runtime.paths));
    } else if let Some(path) = source.path() {
        runtime.log.record(Level::Info, "ran out of time while reading a transcript; continuing in the background", "");
        spawn::continue_reading(runtime, path, &event.cwd, &event.session);
    }
    Ok(checkpoints::request_last_summary(runtime, event))
}

/// Returns why an event makes us read, and the record to store for it, with its kind. Returns `None` if it does not.
#[expect(clippy::type_complexity, reason = "named where it is used")]
fn reason(
    runtime: &Runtime,
    store: &Store,
    event: &Event,
    source: &SessionSource,
) -> HookResult<Option<(ReadReason, Option<(&'static str, EventPayload)>)>> {
    Ok(Some(match &event.moment {
        Moment::Compacting { trigger } => {
            (ReadReason::Compact, Some(("pre_compact", summary_payload(format!("Context is compacted ({trigger})")))))
        }
        Moment::Compacted { summary } => {
            let record = ("post_compact", summary_payload("Context was compacted".into()));
            (ReadReason::Compacted { summary: summary.clone() }, Some(record))
        }
        Moment::TurnEnded { .. } => {
            let last_message = &source.last_message;
            let turn = store.turn(&event.session)?;
            let record = end_of_turn(turn, last_message.as_deref().unwrap_or_default(), runtime.now);
            (ReadReason::Stop { last_message: last_message.clone() }, Some(("stop", record)))
        }
        Moment::TurnFailed { error, message } => {
            let turn = store.turn(&event.session)?;
            let mut record = end_of_turn(turn, message.as_deref().unwrap_or(error), runtime.now);
            record.failed = true;
            record.attributes.push(("error".into(), error.clone()));
            (ReadReason::Stop { last_message: None }, Some(("stop_failure", record)))
        }
        Moment::End { reason } => {
            // Some agents report the end more than once.
            let is_known = store.last_event(&event.session)?.as_deref() == Some("session_end");
            let record = ("session_end", summary_payload(format!("Session ended ({reason})")));
            (ReadReason::SessionEnd { reason: reason.clone() }, (!is_known).then_some(record))
        }
        Moment::Start { .. }
        | Moment::PromptSubmitted { .. }
        | Moment::ToolsUsed { .. }
        | Moment::MessageWritten { .. }
        | Moment::SubAgentStopped { .. }
        | Moment::Other { .. } => return Ok(None),
    }))
}

/// Writes the projection files that the user configured. If the reading continues in the background, that process
/// writes them.
fn write_projections(runtime: &Runtime, event: &Event, store: &Store) {
    if !matches!(event.moment, Moment::Compacting { .. } | Moment::TurnEnded { .. } | Moment::End { .. }) {
        return;
    }
    if let Err(error) = projection::write(runtime, store, &event.session) {
        runtime.log.record(Level::Warn, "a project's memory files could not be written", format!("{error:#}"));
    }
}

fn summary_payload(summary: String) -> EventPayload {
    EventPayload { summary, ..EventPayload::default() }
}

/// Records the end of a turn: the agent's answer, the files it changed, and how long it took.
fn end_of_turn(turn: Turn, said: &str, now: u64) -> EventPayload {
    let outcome = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("Turn ended");
    EventPayload {
        summary: outcome.trim_start_matches(['#', '*', ' ']).into(),
        // It is cut only after redaction.
        detail: shorten_text(said),
        files: turn.files,
        attributes: vec![("tools".into(), turn.tools.to_string()), ("failed".into(), turn.failed.to_string())],
        duration: turn.began.map(|began| now.saturating_sub(began)),
        ..EventPayload::default()
    }
}

/// Records the result of a sub-agent, and leaves reading its transcript to a background process.
pub(super) fn save_sub_agent(runtime: &Runtime, event: &Event, deadline: Instant) -> HookResult<()> {
    let Moment::SubAgentStopped { id, kind, transcript, last_message } = &event.moment else { return Ok(()) };
    let transcript = transcript.as_ref().filter(|path| path.is_file());
    // Forks of the agent itself have no type and no transcript. The agent uses them to compact its context.
    if kind.is_empty() && transcript.is_none() || id.is_empty() {
        return Ok(());
    }
    let said = last_message.as_deref().unwrap_or_default();
    let said = shorten_text(&runtime.privacy.clean(said).unwrap_or_else(|| said.to_owned()));
    let first = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("ended without a message");
    let name = if kind.is_empty() { "Sub-agent" } else { kind.as_str() };
    let seen = EventPayload {
        summary: format!("{name}: {}", first.trim_start_matches(['#', '*', ' '])),
        detail: said.clone(),
        attributes: vec![("agent_type".into(), kind.clone()), ("agent_id".into(), id.clone())],
        ..EventPayload::default()
    };
    let project = Project::discover(&event.cwd);
    let policies = runtime.policies(Some(&project.root))?;
    runtime.secrets.add_env_files(&project.root, &event.cwd);
    let mut work = policies.work(None, deadline)?;
    // A sub-agent can stop several times, each time with a longer answer.
    let key = format!("subagent:{id}:{}", runtime.now);
    let mut record = journal_writer::new_record(runtime, event, "subagent_stop", key, seen);
    record.seen.agent = Some(id.clone());
    journal_writer::append_redacted(runtime, &mut work, vec![record], deadline)?;
    if let Some(path) = transcript {
        spawn::read_sub_agent(runtime, path, &event.cwd, &event.session, id);
    }
    Ok(())
}
