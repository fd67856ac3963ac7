//! Runs the hooks: what Throughline does at each moment of a session. A hook must never harm the session: it finishes
//! in time, with valid output or none, whatever is broken. Errors go to the log.
//!
//! [`run`] dispatches an event to the module for its moment. [`reading`] is the way in, and [`load`] the way out. What
//! does not fit into a hook's time goes to [`background`].
//!
//! # Inside the agent's loop
//!
//! A session prompts and calls tools a hundred times between two ends of turns, and each time the agent waits for us.
//! So those hooks do not write to the database. `PostToolUse` asks the policy's `observer` for an observation of the
//! call, redacts it, appends one line to the session's *journal* and exits ([`tracking`]). `Stop`, `PreCompact`,
//! `SessionEnd`, a checkpoint, or the next session's start moves the journal into the table `events`, in one
//! transaction ([`journal_writer`]).
//!
//! - *The journal.* Records that were taken stay on disk until they are stored. A record that is stored twice is one,
//!   by the agent's own identifiers (`event_keys`). At 4 MiB a journal is stored in the background; at 32 MiB nothing
//!   more is recorded.
//! - *Payloads of megabytes* lose the middle of their long texts before a policy sees them, and images are not kept.
//! - *What was shown* is recorded in the journal, so no prompt waits for a writer. A compaction removes the context in
//!   which memories were shown, so the record starts empty again.
//!
//! # Prompts
//!
//! `UserPromptSubmit` asks the policy's `query` stage for a search. Results that are good enough and that this session
//! has not been shown go to the `context-builder` with the source `prompt` ([`recall`]). Good enough means the query's
//! least score, or most of the words: in a small database, where every word is common, BM25 says nothing. A hook's
//! search examines half as much as a person's.
//!
//! # Sub-agents and checkpoints
//!
//! A sub-agent's transcript is read like its session's, with an extractor state of its own. Its prompts are its parent's
//! words and not a human's, so only its drafts about what it learned are kept.
//!
//! [`checkpoints`] counts tool calls by the length of a file to which each call appends one byte: the position after an
//! append is a number that no other process gets.

pub mod background;
mod checkpoints;
mod exclusion;
mod file_checks;
mod journal_writer;
pub mod last_runs;
mod load;
mod loaded;
mod memories;
mod missed;
mod pinned;
pub mod reading;
mod recall;
mod refusal;
mod result;
mod saving;
mod session_project;
pub mod spawn;
pub mod synthesized_transcript;
mod tracking;
pub mod transcript_lookup;
pub mod trial;

use std::borrow::Cow;
use std::time::Instant;

use anyhow::Result;

pub use file_checks::{FileChecks, OutdatedFile, describe_outdated, outdated_files};
pub use journal_writer::store_journal;
pub use load::context;
pub use loaded::LoadedText;
pub use memories::{ProjectMemories, open_memories};
pub use result::STORE_BUSY_TIMEOUT;

use crate::runtime::{self, Runtime};
use throughline_agents::protocol::{self as agent, Event, Moment};
use throughline_platform::log::Level;
use throughline_platform::namespace;
use throughline_sandbox::chain::{Compiling, NoAnswer, NotCompiled};
use throughline_sandbox::compile::CompilerError;
use throughline_sandbox::registry::Blocked;
use throughline_store::{self as store, Store, StoreError};

/// What begins the description of a failure.
const HOOK: &str = "hook: ";
const COMPILER_FAILED: &str = "hook: throughline-compiler cannot be used";

/// Prepares the runtime of a hook. Until the event is known, only the log needs a policy, and nobody may wait for that until the
/// default policy is compiled.
#[must_use]
pub fn prepare(runtime: Runtime) -> Runtime {
    runtime.for_hook(Compiling::Never, defer_upgrade)
}

/// Lets the hook compile what its event needs. Only the start of a session needs the default policy at once: without it the
/// agent would get no context. All other compiling is left to a background process.
pub fn allow_compiling(runtime: &mut Runtime, moment: &Moment, deadline: Instant) {
    if matches!(moment, Moment::Start { .. }) {
        runtime.allow(Compiling::Default(deadline));
    }
}

/// Prepares the runtime of a detached process that handles an event again, which waits until the default policy is compiled.
#[must_use]
pub fn prepare_replay(runtime: Runtime, deadline: Instant) -> Runtime {
    runtime.for_background(Compiling::Default(deadline))
}

/// What a hook says.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The text for standard output, in the agent's own format.
    pub answer: Option<String>,
    /// At the start of a session, what the person should know.
    pub notice: Option<Notice>,
}

/// What a person should know at the start of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The agent was told something.
    Told {
        /// How many memories.
        memories: usize,
        /// When something was last stored of an earlier session of the project, milliseconds since the Unix epoch.
        last_session: Option<u64>,
    },
    /// Nothing could be told, or nothing can be remembered: why.
    Failed(Cow<'static, str>),
    /// Nothing is remembered or told, as a person wants it: why.
    Off(&'static str),
}

/// Handles the event. [`prepare`] and [`allow_compiling`] come first.
pub fn run(runtime: &Runtime, event: &Event, deadline: Instant) -> Outcome {
    let event = &refusal::resolve_folder(runtime, event);
    let is_start = matches!(event.moment, Moment::Start { .. });
    if let Some(refusal) = refusal::refusal_of(runtime, event) {
        return Outcome { answer: None, notice: is_start.then(|| Notice::Off(runtime::why(&refusal))) };
    }
    // Log lines must be free of these secrets too, whatever happens next.
    runtime.secrets.add_env_files(&event.cwd, &event.cwd);
    if let Err(error) = namespace::record_session(&runtime.paths, &event.session) {
        runtime.log.record(
            Level::Warn,
            "could not record the session's namespace; the session is not read",
            error.to_string(),
        );
        let notice = is_start.then(|| Notice::Failed("the folder of its data cannot be written".into()));
        return Outcome { answer: None, notice };
    }
    let mut notice = None;
    let source = &synthesized_transcript::resolve_source(runtime, event, deadline);
    let outcome = match &event.moment {
        Moment::Start { source: how } => load::start_session(runtime, event, source, how, deadline).map(|started| {
            notice = started.notice;
            started.context
        }),
        Moment::Compacting { .. }
        | Moment::Compacted { .. }
        | Moment::TurnEnded { .. }
        | Moment::TurnFailed { .. }
        | Moment::End { .. } => saving::save(runtime, event, source, deadline),
        Moment::PromptSubmitted { prompt } => recall::recall(runtime, event, prompt, deadline),
        Moment::ToolsUsed { uses, batch } => tracking::track(runtime, event, source, uses, *batch, deadline),
        Moment::SubAgentStopped { .. } => saving::save_sub_agent(runtime, event, deadline).map(|()| None),
        Moment::MessageWritten { .. } => Ok(None),
        Moment::Other { name } => {
            runtime.log.record(Level::Debug, "ignored an event that this version does not know", name);
            Ok(None)
        }
    };
    if runtime.reporter().uncompiled.get() {
        spawn::compile(runtime, &event.cwd);
    }
    let context = outcome.unwrap_or_else(|error| {
        if error.is::<NotCompiled>() {
            // This happens right after an upgrade that only replaced the program.
            runtime.log.record(Level::Info, "the default policy is not compiled yet; compiling it in the background", "");
            spawn::compile(runtime, &event.cwd);
            missed::miss(runtime, event);
            return None;
        }
        if is_start {
            notice = Some(Notice::Failed(failure_at_start(&error)));
        }
        let (level, details) = match error.downcast_ref() {
            Some(StoreError::Older(_)) => (Level::Info, String::new()),
            _ => (Level::Error, format!("{error:#}")),
        };
        runtime.log.record(level, describe_failure(&error), details);
        None
    });
    Outcome { answer: context.and_then(|context| agent::answer(event, &context)), notice }
}

/// Upgrades a large database from an older version in a background process. A hook would be killed before the upgrade
/// is done, and the next hook would start over.
fn defer_upgrade(runtime: &Runtime) -> std::result::Result<(), StoreError> {
    let database = runtime.paths.database();
    if !store::needs_long_migration(&database) {
        return Ok(());
    }
    spawn::upgrade(runtime);
    Err(StoreError::Older(database))
}

/// Moves the journals of all sessions into the database, so that the latest events are visible. If the database cannot
/// be written, returns Ok and the caller works with what is there.
pub fn store_all_journals(runtime: &Runtime, store: &mut Store) -> Result<()> {
    // No session's file has an empty name, so this takes every journal.
    match journal_writer::store_left_journals(runtime, store, "") {
        Err(error) if result::is_read_only(&error) => Ok(()),
        other => other,
    }
}

/// Says to a person why nothing could be told or can be remembered. Of a policy that blocks this, only the name is said: a name has no
/// other characters than lower-case letters, digits and hyphens.
fn failure_at_start(error: &anyhow::Error) -> Cow<'static, str> {
    let what = describe_failure(error);
    // What a policy cannot do without the compiler is no fault of the policy.
    if what != COMPILER_FAILED {
        if let Some(Blocked { policy, .. }) = error.downcast_ref() {
            return format!("the required policy {policy} does not run").into();
        }
        if let Some(NoAnswer { policy }) = error.downcast_ref() {
            return format!("the required policy {policy} did not answer").into();
        }
    }
    what.strip_prefix(HOOK).unwrap_or("the policies failed").into()
}

/// Describes the failure using no text from outside, so that it can be logged whatever else is broken.
fn describe_failure(error: &anyhow::Error) -> &'static str {
    if error.chain().any(<dyn std::error::Error>::is::<CompilerError>) {
        return COMPILER_FAILED;
    }
    match error.chain().find_map(|cause| cause.downcast_ref::<StoreError>()) {
        Some(StoreError::Missing(_)) => "hook: there is no database",
        Some(StoreError::Newer { .. }) => "hook: the database is newer than this program",
        Some(StoreError::Older(_)) => "the database is from an older version; upgrading it in the background",
        Some(StoreError::Damaged(..)) => "hook: the database is damaged",
        Some(StoreError::Locked(_)) => "hook: the database is locked",
        Some(StoreError::ReadOnly(..)) => "hook: the database cannot be written",
        Some(StoreError::Full(_)) => "hook: the disk is full",
        Some(StoreError::Conflict | StoreError::Other(_)) => "hook: the database failed",
        None => "hook failed",
    }
}

/// Returns the hook's name, under which the configuration gives its time budget.
pub fn budget_name(moment: &Moment) -> &'static str {
    match moment {
        Moment::Start { .. } => "memory-load",
        Moment::Compacting { .. } | Moment::Compacted { .. } | Moment::Other { .. } => "memory-flush",
        Moment::TurnEnded { .. } | Moment::TurnFailed { .. } => "memory-complete",
        Moment::SubAgentStopped { .. } => "memory-subagent",
        Moment::PromptSubmitted { .. } => "memory-search",
        Moment::ToolsUsed { .. } | Moment::MessageWritten { .. } => "memory-track",
        Moment::End { .. } => "memory-save",
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Error;

    use super::*;

    #[test]
    fn the_start_says_what_keeps_the_session_from_being_remembered() {
        let blocked = || Blocked { policy: "till".into(), why: "the required policy till is missing".into() };
        let no_answer = || NoAnswer { policy: "till".into() };
        let compiler = || CompilerError::new("it is not there".into());
        for (error, what) in [
            (Error::from(blocked()), "the required policy till does not run"),
            (Error::from(no_answer()), "the required policy till did not answer"),
            (Error::msg("a trap").context(no_answer()), "the required policy till did not answer"),
            (Error::from(compiler()).context(no_answer()), "throughline-compiler cannot be used"),
            (Error::from(StoreError::Missing("till.db".into())), "there is no database"),
            (Error::msg("a trap"), "the policies failed"),
        ] {
            assert_eq!(failure_at_start(&error), what);
        }
    }
}
