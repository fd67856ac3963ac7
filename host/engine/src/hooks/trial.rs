//! Trial runs: a transcript is read, stored and shown by the real code, in a temporary home that is deleted afterwards.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::reading::{self, ReadOutcome, ReadRequest};
use crate::config::Config;
use crate::runtime::Runtime;
use throughline_agents::protocol::name::Agent;
use throughline_model::contract::{Memory, Session, SessionNotes};
use throughline_model::project::Project;
use throughline_platform::paths::Paths;
use throughline_sandbox::chain::Policies;
use throughline_sandbox::instance::{BuiltContext, Summary};
use throughline_sandbox::managed::Managed;
use throughline_store::{Access, MemoryFilter};

/// A limit that no session reaches.
const NO_LIMIT: u32 = 100_000;

/// A temporary home for one trial.
pub struct Trial {
    runtime: Runtime,
    folder: TempDir,
}

/// The result of a trial.
pub struct TrialResult {
    /// The result of the reading.
    pub report: ReadOutcome,
    /// The memories, without archived turns.
    pub memories: Vec<Memory>,
    /// The session's notes.
    pub notes: SessionNotes,
    /// The session's summary; `None` if it is empty.
    pub summary: Option<Summary>,
    /// The context that the next session in the project would get.
    pub page: Option<BuiltContext>,
}

impl Trial {
    /// Creates a trial with the user's configuration and compiled components, and only the default policy.
    pub fn new(paths: &Paths, config: &Config) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let root = folder.path().canonicalize()?;
        let there = Paths {
            data: root.join("data"),
            config: root.join("config"),
            cache: paths.cache.clone(),
            home: root.clone(),
            user_config: root.join("user-config"),
            claude: root.join("claude"),
            claude_state: root.join("claude.json"),
            codex: root.join("codex"),
            gemini: root.join("gemini"),
            cursor: root.join("cursor"),
            copilot: root.join("copilot"),
            factory: root.join("factory"),
            pi: root.join("pi"),
            managed: root.join("managed"),
            namespace: None,
        };
        Ok(Self { runtime: Runtime::with(there, config.clone(), Managed::default()), folder })
    }

    /// Uses these policies instead.
    #[must_use]
    pub fn with(self, policies: Rc<Policies>) -> Self {
        Self { runtime: self.runtime.with_policies(policies), ..self }
    }

    /// Returns the trial's own folder.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap_or_else(|_| self.folder.path().to_owned())
    }

    /// Returns the runtime of the trial.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Reads one transcript.
    pub fn replay(&self, transcript: &Path, deadline: Instant) -> Result<TrialResult> {
        let runtime = &self.runtime;
        let transcript = transcript.canonicalize().with_context(|| format!("{} does not exist", transcript.display()))?;
        let mut store = runtime.store(Access::Write, super::STORE_BUSY_TIMEOUT)?;
        let roots = transcript.parent().map(Path::to_path_buf).into_iter().collect();
        let report = reading::read(runtime, &mut store, &ReadRequest::trial(transcript, roots), deadline)?;
        let project = Project::discover(&report.project);
        let filter = MemoryFilter { session: Some(report.session.clone()), ..MemoryFilter::default() };
        let memories = store.in_learned_order(&filter, NO_LIMIT)?;
        let record = store.session(&project.id, &report.session)?;
        let next = Session::new("trial", &project, &project.root, Agent::ClaudeCode.name(), None, runtime.now);
        let budget = runtime.config.context.budget;
        let (page, used) = super::context(runtime, &Rc::new(store), &next, "startup", budget, deadline)?;
        let (notes, summary) = record.map_or_else(Default::default, |record| {
            let summary = Summary { text: record.summary, topics: record.topics };
            (record.notes.unwrap_or_default(), Some(summary).filter(|summary| !summary.text.is_empty()))
        });
        let page = page.map(|text| BuiltContext { text, used });
        Ok(TrialResult { report, memories, notes, summary, page })
    }
}
