//! `SessionStart`: reads earlier sessions that were left unread, and returns the context for the agent.
//!
//! First the catch-up: transcripts of the folder that have grown since they were last read are read for at most
//! `hooks.catch_up_ms`, and the rest in the background. Then the policy's `context-builder` asks the `memories`
//! capability for what it wants (recent, important, of a session, knowledge, the last session, a search) and writes
//! Markdown within a budget. The host redacts the text once more, checks the budget, prints it, and records what was
//! shown. Before the policy's page stand the memories that the user pinned, in at most a third of the budget.
//!
//! The budget is in UTF-16 code units because the agent counts in them: beyond 10,000 it cuts the text to a preview.
//! The default is 9,500. Stored text is data, and is made harmless where it enters the page: a memory cannot open or
//! close a section. For `resume` and `fork` the policy repeats nothing that the agent's own replayed context has.

use std::path::Path;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::file_checks::FileChecks;
use super::loaded::LoadedText;
use super::memories::ProjectMemories;
use super::reading::{self, ReadRequest};
use super::result::{HookResult, STORE_BUSY_TIMEOUT, cut};
use super::synthesized_transcript::SessionSource;
use super::{Notice, journal_writer, pinned, session_project, spawn};
use crate::memory::{kept, supersession};
use crate::note_sync;
use crate::runtime::{self, Runtime};
use crate::weekly_copy;
use throughline_agents::loaded_files;
use throughline_agents::protocol::harmless::neutralize;
use throughline_agents::protocol::name::Agent;
use throughline_agents::protocol::{self as agent, Event};
use throughline_model::contract::{Memory, Session};
use throughline_platform::log::Level;
use throughline_store::journal::HostRecord;
use throughline_store::{self as store, Access, Store, StoreError};

/// How long to wait for other writers when the context does not depend on the write.
const SHOWN_BUSY_TIMEOUT: Duration = Duration::from_millis(100);

/// How often observations are promoted or expired, milliseconds.
const PROMOTION_INTERVAL_MS: u64 = 24 * 60 * 60 * 1000;

/// Opens the store. If the database is being upgraded, waits as long as the deadline allows: otherwise the agent would
/// get no context.
fn open(runtime: &Runtime, deadline: Instant) -> Result<Store, StoreError> {
    /// The time that the rest of the start needs.
    const CONTEXT_RESERVE: Duration = Duration::from_secs(1);
    const POLL_INTERVAL: Duration = Duration::from_millis(20);
    let opened = runtime.store(Access::Write, STORE_BUSY_TIMEOUT);
    let Err(StoreError::Older(database)) = &opened else { return opened };
    while Instant::now() + CONTEXT_RESERVE < deadline {
        thread::sleep(POLL_INTERVAL);
        if !store::needs_long_migration(database) {
            return runtime.store(Access::Write, STORE_BUSY_TIMEOUT);
        }
    }
    opened
}

/// What the start of a session gives.
#[derive(Default)]
pub(super) struct Started {
    /// The context for the agent.
    pub(super) context: Option<String>,
    /// What the person should know.
    pub(super) notice: Option<Notice>,
}

impl Started {
    fn new(
        runtime: &Runtime,
        store: &Store,
        (agent, session): (Agent, &Session),
        context: Option<String>,
        used: &[String],
    ) -> Self {
        let memories = used.len();
        let is_wanted =
            runtime.config.notice.start && agent::shows_notice(agent, false) && context.is_some() && memories > 0;
        // If the time is not known, the line does without it.
        let last_session = || store.last_session_at(&session.project, &session.id).unwrap_or_default();
        let notice = is_wanted.then(|| Notice::Told { memories, last_session: last_session() });
        Self { context, notice }
    }
}

/// Returns the context for the agent at the start of a session.
pub(super) fn start_session(
    runtime: &Runtime,
    event: &Event,
    source: &SessionSource,
    how: &str,
    deadline: Instant,
) -> HookResult<Started> {
    let mut store = match open(runtime, deadline) {
        Err(error @ StoreError::ReadOnly(..)) => return start_read_only(runtime, event, how, error, deadline),
        opened => opened?,
    };
    if let Err(error) = catch_up(runtime, &mut store, event, source) {
        runtime.log.record(Level::Warn, "earlier sessions could not be read", format!("{error:#}"));
    }
    if let Err(error) = journal_writer::store_left_journals(runtime, &mut store, &event.session) {
        runtime.log.record(Level::Warn, "the journal of an earlier session could not be stored yet", format!("{error:#}"));
    }
    let project = session_project::project_of(&store, &event.session, &event.cwd)?;
    if let Some(refusal) = runtime.refusal(&project, &event.session) {
        return Ok(Started { context: None, notice: Some(Notice::Off(runtime::why(&refusal))) });
    }
    if let Err(error) = note_sync::take_in(runtime, &mut store, &project) {
        runtime.log.record(Level::Warn, "notes that were written as files could not be taken in", format!("{error:#}"));
    }
    match supersession::link_at_start(&mut store, &project.id, runtime.now) {
        Ok(true) => {}
        Ok(false) => spawn::compare(runtime, &store, &project.id, &event.cwd),
        Err(error) => runtime.log.record(Level::Warn, "memories could not be compared", format!("{error:#}")),
    }
    let session = Session::new(&event.session, &project, &event.cwd, event.agent.name(), event.model.clone(), runtime.now);
    let store = Rc::new(store);
    let (text, used) = context(runtime, &store, &session, how, runtime.config.context.budget, deadline)?;
    // The rest is bookkeeping that nobody waits for.
    if matches!(how, "compact" | "clear") {
        // The memories that were shown are no longer in the agent's context.
        journal_writer::append_host(runtime, event, HostRecord::ShownNothing);
    }
    journal_writer::record_shown(runtime, event, how, &used);
    journal_writer::append_host(runtime, event, HostRecord::SessionStart { source: how });
    // A time in the future comes from a clock that was wrong.
    let is_promotion_due = store.promoted_at().is_ok_and(|at| runtime.now.abs_diff(at) > PROMOTION_INTERVAL_MS);
    if is_promotion_due || kept::has_expired(runtime) || weekly_copy::is_due(runtime, &store) {
        spawn::clean_up(runtime);
    } else {
        // To clean up reads all events, which takes longer than the WAL alone.
        drop(spawn::checkpoint_wal(&runtime.paths));
    }
    spawn::reindex(runtime, &store);
    spawn::consolidate(runtime, &event.cwd, &event.session);
    Ok(Started::new(runtime, &store, (event.agent, &session), text, &used))
}

/// Returns the context at a start if the home cannot be written: nothing is read or recorded, but the agent still gets
/// the stored memories.
fn start_read_only(
    runtime: &Runtime,
    event: &Event,
    how: &str,
    error: StoreError,
    deadline: Instant,
) -> HookResult<Started> {
    let Ok(store) = runtime.read_only_store() else { return Err(error.into()) };
    runtime.log.record(Level::Error, "hook: the database cannot be written", error.to_string());
    let project = session_project::project_of(&store, &event.session, &event.cwd)?;
    let session = Session::new(&event.session, &project, &event.cwd, event.agent.name(), event.model.clone(), runtime.now);
    let (context, _) = context(runtime, &Rc::new(store), &session, how, runtime.config.context.budget, deadline)?;
    Ok(Started { context, notice: Some(Notice::Failed("the database cannot be written".into())) })
}

/// Builds the context for `session` and `source`, redacted and within `budget` UTF-16 units. Returns it with the
/// identifiers of the memories in it.
pub fn context(
    runtime: &Runtime,
    store: &Rc<Store>,
    session: &Session,
    source: &str,
    budget: u32,
    deadline: Instant,
) -> Result<(Option<String>, Vec<String>)> {
    if runtime.is_excluded(Path::new(&session.root)) || runtime.intervals.is_paused(&session.project, &session.id) {
        return Ok((None, Vec::new()));
    }
    // A page takes more than a hundred reads.
    let _one_state = store.read_together()?;
    // The agent's client replays the conversation, which contains them.
    let pinned = match source {
        "resume" | "fork" => Vec::new(),
        _ => store.pinned(&session.project, runtime.config.sharing.context)?,
    };
    let section = pinned::section(&pinned, budget as usize);
    let pinned: Vec<Memory> = pinned.into_iter().map(|it| it.memory).collect();
    let mut used: Vec<String> = pinned.iter().map(|memory| memory.id.clone()).collect();
    let memories = ProjectMemories {
        store: Rc::clone(store),
        project: session.project.clone(),
        files: FileChecks::new(Path::new(&session.root), runtime.now),
        session: session.id.clone(),
        now: runtime.now,
        shared: runtime.config.sharing.context,
        loaded: Agent::of(&session.agent).map_or_else(LoadedText::default, |agent| {
            let (root, cwd) = (Path::new(&session.root), Path::new(&session.cwd));
            LoadedText::new(&loaded_files::loaded_texts(agent, &runtime.paths, root, cwd))
        }),
        pinned,
    };
    let policies = runtime.policies(Some(Path::new(&session.root)))?;
    runtime.secrets.add_env_files(Path::new(&session.root), Path::new(&session.cwd));
    let mut work = policies.work(Some(Rc::new(memories)), deadline)?;
    let left = budget.saturating_sub(u32::try_from(pinned::units(&section)).unwrap_or(u32::MAX));
    let mut texts = [section, String::new()];
    if let Some(built) = work.build_context(session, source, left, &[], deadline)? {
        used.extend(built.used);
        texts[1] = built.text;
    }
    work.redact(&mut texts, deadline)?;
    let text = neutralize(&texts.concat()).into_owned();
    if text.encode_utf16().count() > budget as usize {
        // Placeholders can be longer than what they replace. Whole lines are cut from the end.
        return Ok((Some(cut(&text, budget as usize)), used));
    }
    Ok((Some(text).filter(|text| !text.trim().is_empty()), used))
}

/// Reads transcripts of earlier sessions of this project that were left unread, within a small time budget of its own.
/// The rest is read in the background.
fn catch_up(runtime: &Runtime, store: &mut Store, event: &Event, source: &SessionSource) -> Result<()> {
    let Some(folder) = source.path().and_then(Path::parent) else {
        return Ok(());
    };
    let roots = runtime.transcript_roots();
    if !roots.iter().any(|root| folder.starts_with(root)) || !folder.is_dir() {
        return Ok(());
    }
    let unread = reading::unread(runtime, store, folder, &event.session)?;
    if !unread.is_empty() {
        // If the policy must be compiled, that does not count against this budget.
        runtime.default_policy()?;
    }
    let until = Instant::now() + Duration::from_millis(runtime.config.hooks.catch_up_ms);
    store.set_busy_timeout(SHOWN_BUSY_TIMEOUT);
    for path in unread.into_iter().filter(|path| Some(path.as_path()) != source.path()) {
        if Instant::now() >= until {
            spawn::catch_up(runtime, folder, &event.session);
            return Ok(());
        }
        match reading::read(runtime, store, &ReadRequest::catch_up(path.clone(), roots.clone()), until) {
            Ok(report) if !report.finished => {
                spawn::catch_up(runtime, folder, &event.session);
                return Ok(());
            }
            Ok(report) => reading::read_sub_agents(runtime, store, &path, &report, until)?,
            Err(error) if error.is::<StoreError>() => return Err(error),
            Err(error) => runtime.log.record(Level::Warn, "a transcript was not read", format!("{error:#}")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_loses_whole_lines() {
        assert_eq!(cut("abc\n한글\nx\n", 7), "abc\n한글\n");
        assert_eq!(cut("abcdef", 3), "");
    }
}
