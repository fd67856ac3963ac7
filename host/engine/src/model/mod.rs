//! Lets granted policies go over what is stored, with a language model if they are granted one, within the user's limits.
//!
//! Nothing here runs in a hook. A hook starts a detached process ([`due::is_due`] is cheap), and [`run_due`] does the work: for
//! each session that has something new, and once a day for the project, it hands the stored memories to the policies that have
//! the stage `consolidator`. [`consolidation`] makes the request, checks every statement of the answer against the lines that
//! it cites ([`support`]), and replaces what the rules wrote with the supported statements. If a model is slow, down, wrong, or
//! over its limit, what the rules wrote stays.
//!
//! [`caller`] is the only code that has something sent. [`limits`] says what a call may cost, and the ledger in
//! `throughline-store` keeps it. [`settings`] is the section `[model]` of the configuration.

pub mod caller;
pub mod consolidation;
pub mod due;
pub mod limits;
pub mod settings;
pub mod support;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use throughline_model::project::Project;
use throughline_model_wire as wire;
use throughline_platform::log::Level;
use throughline_platform::program;
use throughline_sandbox::chain::PolicyId;
use throughline_sandbox::imports::MemorySource;
use throughline_store::ledger::Ledger;
use throughline_store::{Replies, Store};

use self::caller::{Caller, Calls, Outgoing, PROGRAM, Subject};
use self::consolidation::ConsolidationResult;
use crate::memory::RequestError;
use crate::redaction::PolicyRedactor;
use crate::runtime::Runtime;

/// The variable that marks the processes of a call. Hooks do nothing if it is set.
pub const MARK: &str = wire::MARK;

/// How long to wait for another process that writes to the ledger or the replies.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Sessions that were read longer ago than this are not gone over unless a person asks, in milliseconds: 7 days.
const MAX_SESSION_AGE: u64 = 7 * DAY;

/// A day in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1_000;

/// The most sessions that one run goes over.
const MAX_SESSIONS: u32 = 20;

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunReport {
    /// Sessions that were gone over.
    pub sessions: u32,
    /// Whether the project as a whole was.
    pub project: bool,
    /// Memories that were stored.
    pub stored: u32,
    /// Memories whose place they took.
    pub replaced: u32,
    /// Statements that were dropped, because the lines that they cite do not say it.
    pub unsupported: u32,
    /// What the requests came to.
    #[serde(flatten)]
    pub calls: Calls,
}

impl RunReport {
    fn add(&mut self, made: &ConsolidationResult, calls: Calls) {
        self.stored += made.stored;
        self.replaced += made.replaced;
        self.unsupported += made.unsupported;
        self.calls += calls;
    }
}

/// Opens the ledger.
pub fn ledger(runtime: &Runtime) -> Result<Ledger> {
    throughline_platform::paths::create_private(&runtime.paths.default_namespace_data())?;
    Ok(Ledger::open(&runtime.paths.model_ledger(), BUSY_TIMEOUT)?)
}

/// Opens the memories of a project, without those of a session, for the capability `memories`.
pub type OpenMemories = fn(&Runtime, &Project, &str) -> Result<Rc<dyn MemorySource>>;

/// Goes over the sessions of a project that have something new, and once a day over the project. `except` is a session that is
/// still running.
pub fn run_due(
    runtime: &Runtime,
    store: &mut Store,
    project: &Project,
    except: &str,
    memories: OpenMemories,
    until: Instant,
) -> Result<RunReport> {
    let mut report = RunReport::default();
    if is_refused(runtime, store, project, "")? {
        return Ok(report);
    }
    let policies = runtime.policies(Some(&project.root))?;
    let replies = Rc::new(Replies::open(store.path(), BUSY_TIMEOUT)?);
    let consolidators = policies.work(None, until)?.consolidators();
    let since = runtime.now.saturating_sub(MAX_SESSION_AGE);
    let mut sessions = store.known_sessions(Some(&project.id), MAX_SESSIONS)?;
    sessions.retain(|session| session.record.id != except);
    for (index, policy) in &consolidators {
        for session in &sessions {
            let id = &session.record.id;
            let Some(saved) = store.saved_at(id)?.filter(|saved| *saved >= since) else { continue };
            let subject = format!("session:{id}");
            let is_new = replies.last_run(&policy.digest, &subject)?.is_none_or(|last| last < saved);
            if is_new && Instant::now() < until && !is_refused(runtime, store, project, id)? {
                report.sessions += 1;
                let run = Run { runtime, project, session: id, memories, until, outbox: None, replies: &replies };
                run.policy(store, *index, policy, &subject, saved, &mut report)?;
            }
        }
        let subject = format!("project:{}", project.id);
        let is_due = replies.last_run(&policy.digest, &subject)?.is_none_or(|last| last + DAY <= runtime.now);
        if is_due && Instant::now() < until {
            report.project = true;
            let run = Run { runtime, project, session: "", memories, until, outbox: None, replies: &replies };
            run.policy(store, *index, policy, &subject, runtime.now, &mut report)?;
        }
    }
    Ok(report)
}

/// Returns whether a model may not be asked, because the user excluded or paused the project, the session, or its folder.
fn is_refused(runtime: &Runtime, store: &Store, project: &Project, session: &str) -> Result<bool> {
    if runtime.refusal(project, session).is_some() {
        return Ok(true);
    }
    let known = if session.is_empty() { None } else { store.known_session(session)? };
    Ok(known.is_some_and(|known| !known.cwd.is_empty() && runtime.is_excluded(std::path::Path::new(&known.cwd))))
}

/// Goes over one session, or over the project if `session` is empty, because a person asks for it. With an outbox nothing is sent,
/// stored or spent.
pub fn run_one(
    runtime: &Runtime,
    store: &mut Store,
    project: &Project,
    session: &str,
    memories: OpenMemories,
    until: Instant,
    outbox: Option<&Rc<RefCell<Vec<Outgoing>>>>,
) -> Result<RunReport> {
    let mut report = RunReport::default();
    if is_refused(runtime, store, project, session)? {
        return Err(anyhow!("{} is excluded or paused, so no model is asked about it", project.root.display()));
    }
    let policies = runtime.policies(Some(&project.root))?;
    let consolidators = policies.work(None, until)?.consolidators();
    if consolidators.is_empty() {
        return Err(RequestError::new(
            format!("no policy with the stage consolidator runs in {}, so no model is asked", project.root.display()),
            "install such a policy and grant it a model with `throughline policy add`: docs/models.md, \"Turn it on\"",
        )
        .into());
    }
    let replies = Rc::new(Replies::open(store.path(), BUSY_TIMEOUT)?);
    let saved = if session.is_empty() { Some(runtime.now) } else { store.saved_at(session)? };
    let subject = if session.is_empty() { format!("project:{}", project.id) } else { format!("session:{session}") };
    for (index, policy) in &consolidators {
        let run = Run { runtime, project, session, memories, until, outbox: outbox.map(Rc::clone), replies: &replies };
        run.policy(store, *index, policy, &subject, saved.unwrap_or(runtime.now), &mut report)?;
    }
    report.sessions = u32::from(!session.is_empty());
    report.project = session.is_empty();
    Ok(report)
}

/// One policy going over one session or one project.
struct Run<'a> {
    runtime: &'a Runtime,
    project: &'a Project,
    /// Empty for the project.
    session: &'a str,
    memories: OpenMemories,
    until: Instant,
    outbox: Option<Rc<RefCell<Vec<Outgoing>>>>,
    replies: &'a Rc<Replies>,
}

impl Run<'_> {
    /// Lets one policy go over the subject, unless nothing was stored since it last did. `at` is when the subject was last saved.
    fn policy(
        &self,
        store: &mut Store,
        index: usize,
        policy: &PolicyId,
        subject: &str,
        at: u64,
        report: &mut RunReport,
    ) -> Result<()> {
        let runtime = self.runtime;
        runtime.secrets.add_env_files(&self.project.root, &self.project.root);
        let input = consolidation::Input {
            runtime,
            project: self.project,
            session: self.session,
            policy: (index, policy),
            memories: self.memories,
            until: self.until,
            is_dry: self.outbox.is_some(),
        };
        let is_same = |state: &str| Ok(self.replies.last_state(&policy.digest, subject)?.as_deref() == Some(state));
        let before: Result<bool> = consolidation::state(&input, store).and_then(|state| is_same(&state));
        if before? {
            return Ok(());
        }
        let caller = match limits::caps(&runtime.config.model, &runtime.managed.model, &policy.name) {
            Ok(caps) => Some(Rc::new(self.caller(policy, caps)?)),
            Err(why) => {
                runtime.log.record(Level::Info, "no model may be asked", why.to_string());
                None
            }
        };
        let made = consolidation::consolidate(&input, store, caller.as_ref());
        let calls = caller.as_ref().map(|caller| caller.finish()).unwrap_or_default();
        report.add(made.as_ref().unwrap_or(&ConsolidationResult::default()), calls);
        let made = made?;
        // The next start tries again what failed, what could not be sent to a model, and what was learned during this
        // run.
        if caller.is_some() && calls.failed == 0 && !made.is_outdated && self.outbox.is_none() {
            self.replies.record_run(&policy.digest, subject, at, &consolidation::state(&input, store)?)?;
        }
        Ok(())
    }

    fn caller(&self, policy: &PolicyId, caps: Vec<throughline_store::ledger::Cap>) -> Result<Caller> {
        let runtime = self.runtime;
        let own = std::env::current_exe().ok();
        Ok(Caller {
            settings: runtime.config.model.clone(),
            caps,
            subject: Subject {
                policy: (policy.name.clone(), policy.digest.clone()),
                project: self.project.root.to_string_lossy().into_owned(),
                session: self.session.to_owned(),
            },
            redactor: RefCell::new(PolicyRedactor {
                policies: runtime.policies(Some(&self.project.root))?,
                privacy: Arc::clone(&runtime.privacy),
            }),
            ledger: RefCell::new(ledger(runtime)?),
            replies: Rc::clone(self.replies),
            log: Rc::clone(&runtime.log),
            program: program::find_companion(PROGRAM, own.as_deref(), std::env::var_os("PATH").as_deref()),
            folder: runtime.paths.model_sessions(),
            until: self.until,
            outbox: self.outbox.clone(),
            calls: Cell::default(),
            allowed: Cell::default(),
            answered_by: RefCell::default(),
        })
    }
}
