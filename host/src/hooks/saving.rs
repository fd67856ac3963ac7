//! PreCompact, PostCompact, Stop and SessionEnd: what the session has come to is stored.

use std::time::Instant;

use super::reading::{self, Job, Report};
use super::{Outcome, PATIENCE, background};
use crate::agent::{Event, Moment};
use crate::log::Level;
use crate::policy::chain::NotCompiled;
use crate::runtime::Runtime;
use crate::store::Access;

/// Reads the transcript on and stores it; what does not fit into the hook's time goes on in a process of its own.
pub(super) fn save(runtime: &Runtime, event: &Event, deadline: Instant) -> Outcome<()> {
    let mut job = Job {
        path: event.transcript.clone(),
        roots: runtime.transcript_roots(),
        session: Some(event.session.clone()),
        cwd: Some(event.cwd.clone()),
        model: event.model.clone(),
        ..Job::default()
    };
    match &event.moment {
        Moment::Compacting { trigger } => {
            job.moment = "compact";
            job.event = Some(("pre_compact", serde_json::json!({ "trigger": trigger }).to_string()));
        }
        Moment::Compacted { summary } => {
            job.moment = "compacted";
            job.supplements.push(("compact-summary", summary.clone()));
            job.event = Some(("post_compact", "{}".into()));
        }
        Moment::Answered { last_message } => {
            job.moment = "stop";
            job.supplements.extend(last_message.iter().map(|text| ("last-assistant-message", text.clone())));
            job.event = Some(("stop", "{}".into()));
        }
        Moment::End { reason } => {
            job.moment = "session-end";
            job.end_reason = Some(reason.clone());
            job.event = Some(("session_end", serde_json::json!({ "reason": reason }).to_string()));
        }
        Moment::Start { .. } | Moment::Other { .. } => return Ok(()),
    }
    let mut store = runtime.store(Access::Write, PATIENCE)?;
    let report = match reading::read(runtime, &mut store, &job, deadline) {
        Err(error) if error.is::<crate::transcript::Refusal>() => {
            runtime.log.note(Level::Warn, "a transcript was not read", format!("{error:#}"));
            // What the event itself carried is still worth keeping.
            job.path = None;
            reading::read(runtime, &mut store, &job, deadline)?
        }
        Err(error) if error.is::<NotCompiled>() => Report::default(),
        other => other?,
    };
    if !report.finished {
        if let Some(path) = &event.transcript {
            runtime.log.note(
                Level::Info,
                "there was not enough time to read a transcript; it is read in the background",
                "",
            );
            background::read_on(runtime, path, &event.cwd, &event.session);
        }
    } else if store.wants_checkpoint() {
        background::tidy(runtime);
    }
    Ok(())
}
