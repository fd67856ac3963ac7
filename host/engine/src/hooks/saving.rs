//! `PreCompact`, `PostCompact`, `Stop` and `SessionEnd`: store the session's state. `SubagentStop`: stores what a
//! sub-agent found.

use std::time::Instant;

use super::reading::{self, Job, Report};
use super::{Outcome, PATIENCE, background, checkpoints, noting};
use crate::projection;
use crate::runtime::Runtime;
use throughline_agents::protocol::shorten::shorten_text;
use throughline_agents::protocol::{Event, Moment};
use throughline_model::project::Project;
use throughline_platform::log::Level;
use throughline_sandbox::chain::NotCompiled;
use throughline_store::journal::Seen;
use throughline_store::{Access, Store, Turn};

/// Continues reading the transcript and stores the result; what does not fit into the hook's time is done by a
/// background process. Returns the text for the agent.
pub(super) fn save(runtime: &Runtime, event: &Event, deadline: Instant) -> Outcome<Option<String>> {
    let mut job = Job {
        path: event.transcript.clone(),
        roots: runtime.transcript_roots(),
        session: Some(event.session.clone()),
        cwd: Some(event.cwd.clone()),
        model: event.model.clone(),
        agent: Some(event.agent),
        ..Job::default()
    };
    let mut store = runtime.store(Access::Write, PATIENCE)?;
    if let Err(error) = noting::store(runtime, &mut store, &event.session) {
        runtime.log.note(Level::Warn, "the session's journal could not be stored yet", format!("{error:#}"));
    }
    match &event.moment {
        Moment::Compacting { trigger } => {
            job.moment = "compact";
            job.event = Some(("pre_compact", plain(format!("Context is compacted ({trigger})"))));
        }
        Moment::Compacted { summary } => {
            job.moment = "compacted";
            runtime.journal().unmark(&event.session);
            job.supplements.push(("compact-summary", summary.clone()));
            job.event = Some(("post_compact", plain("Context was compacted".into())));
        }
        Moment::Answered { last_message, .. } => {
            job.moment = "stop";
            job.supplements.extend(last_message.iter().map(|text| ("last-assistant-message", text.clone())));
            let turn = store.turn(&event.session)?;
            job.event = Some(("stop", end_of_turn(turn, last_message.as_deref().unwrap_or_default(), runtime.now)));
        }
        Moment::GaveUp { error, message } => {
            job.moment = "stop";
            let turn = store.turn(&event.session)?;
            let mut seen = end_of_turn(turn, message.as_deref().unwrap_or(error), runtime.now);
            seen.failed = true;
            seen.attributes.push(("error".into(), error.clone()));
            job.event = Some(("stop_failure", seen));
        }
        Moment::End { reason } => {
            job.moment = "session-end";
            job.end_reason = Some(reason.clone());
            // Some agents report the end more than once.
            if store.last_event(&event.session)?.as_deref() != Some("session_end") {
                job.event = Some(("session_end", plain(format!("Session ended ({reason})"))));
            }
        }
        Moment::Start { .. }
        | Moment::Prompted { .. }
        | Moment::Used { .. }
        | Moment::Said { .. }
        | Moment::SubAgentDone { .. }
        | Moment::Other { .. } => return Ok(None),
    }
    let report = match reading::read(runtime, &mut store, &job, deadline) {
        Err(error) if error.is::<throughline_agents::transcript::Refusal>() => {
            runtime.log.note(Level::Warn, "a transcript was not read", format!("{error:#}"));
            // The texts that the event itself carried are still worth keeping.
            job.path = None;
            reading::read(runtime, &mut store, &job, deadline)?
        }
        Err(error) if error.is::<NotCompiled>() => Report::default(),
        other => other?,
    };
    if report.finished {
        write_files(runtime, event, &store);
        if matches!(event.moment, Moment::End { .. }) {
            background::compress(runtime, &store, &event.cwd);
        }
    }
    if report.finished {
        drop(background::settle(&runtime.paths));
    } else if let Some(path) = &event.transcript {
        runtime.log.note(Level::Info, "ran out of time while reading a transcript; continuing in the background", "");
        background::read_on(runtime, path, &event.cwd, &event.session);
    }
    Ok(checkpoints::at_end(runtime, event))
}

/// Writes the projection files that the user configured. If the reading continues in the background, that process
/// writes them.
fn write_files(runtime: &Runtime, event: &Event, store: &Store) {
    if !matches!(event.moment, Moment::Compacting { .. } | Moment::Answered { .. } | Moment::End { .. }) {
        return;
    }
    if let Err(error) = projection::write(runtime, store, &event.session) {
        runtime.log.note(Level::Warn, "a project's memory files could not be written", format!("{error:#}"));
    }
}

fn plain(summary: String) -> Seen {
    Seen { summary, ..Seen::default() }
}

/// Records the end of a turn: the agent's answer, the files it changed, and how long it took.
fn end_of_turn(turn: Turn, said: &str, now: u64) -> Seen {
    let outcome = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("Turn ended");
    Seen {
        summary: outcome.trim_start_matches(['#', '*', ' ']).into(),
        // It is cut only after redaction.
        detail: shorten_text(said),
        files: turn.files,
        attributes: vec![("tools".into(), turn.tools.to_string()), ("failed".into(), turn.failed.to_string())],
        duration: turn.began.map(|began| now.saturating_sub(began)),
        ..Seen::default()
    }
}

/// Records the result of a sub-agent, and leaves reading its transcript to a background process.
pub(super) fn sub_agent(runtime: &Runtime, event: &Event, deadline: Instant) -> Outcome<()> {
    let Moment::SubAgentDone { id, kind, transcript, last_message } = &event.moment else { return Ok(()) };
    let transcript = transcript.as_ref().filter(|path| path.is_file());
    // Forks of the agent itself have no type and no transcript. The agent uses them to compact its context.
    if kind.is_empty() && transcript.is_none() || id.is_empty() {
        return Ok(());
    }
    let said = last_message.as_deref().unwrap_or_default();
    let said = shorten_text(&runtime.privacy.clean(said).unwrap_or_else(|| said.to_owned()));
    let first = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("ended without a message");
    let name = if kind.is_empty() { "Sub-agent" } else { kind.as_str() };
    let seen = Seen {
        summary: format!("{name}: {}", first.trim_start_matches(['#', '*', ' '])),
        detail: said.clone(),
        attributes: vec![("agent_type".into(), kind.clone()), ("agent_id".into(), id.clone())],
        ..Seen::default()
    };
    let project = Project::of(&event.cwd);
    let policies = runtime.policies(Some(&project.root))?;
    runtime.secrets.look_in(&project.root, &event.cwd);
    let mut work = policies.work(None, deadline)?;
    // A sub-agent can stop several times, each time with a longer answer.
    let key = format!("subagent:{id}:{}", runtime.now);
    let mut record = noting::record(runtime, event, "subagent_stop", key, seen);
    record.seen.agent = Some(id.clone());
    noting::note(runtime, &mut work, vec![record], deadline)?;
    if let Some(path) = transcript {
        background::read_sub_agent(runtime, path, &event.cwd, &event.session, id);
    }
    Ok(())
}
