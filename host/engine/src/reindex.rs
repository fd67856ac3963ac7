//! Keeps the search index up to date: rebuilds it if it does not match this version or the configuration, and computes
//! missing vectors. This never runs in a hook: providers may be slow, and cost money. `throughline memory reindex` runs
//! it, and so does the background after a session's start.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::runtime::Runtime;
use throughline_embedding::target_model::{NO_MODEL, TargetModel};
use throughline_embedding::{self as embedding, EmbedOutcome, Embedder, EmbeddingFailure, Model, Provider, Purpose, local};
use throughline_platform::files;
use throughline_platform::log::Level;
use throughline_store::{IndexState, RebuildStep, Store, StoreError, Unembedded};

/// The longest that one step may block other writers, except for the step's last memory.
const STEP_TIME: Duration = Duration::from_millis(15);

/// The pause between two steps, in which others may write: they check every millisecond whether they can.
const PAUSE: Duration = Duration::from_millis(3);

/// How many memories are sent to a model at once.
const BATCH: usize = 64;

/// How long to wait after a provider failed without saying how long: if it may recover by itself, and if it will not.
const SHORT_RETRY_DELAY: Duration = Duration::from_mins(5);
const LONG_RETRY_DELAY: Duration = Duration::from_hours(1);

/// A text that is sent to a provider only to learn which model answers.
const PROBE_TEXT: &str = "throughline";

/// The result of a run.
#[derive(Debug, Clone, Default)]
pub struct ReindexReport {
    /// Number of memories in the rebuilt index; `None` if it was not rebuilt.
    pub remade: Option<u64>,
    /// Number of memories that got their missing vectors outside a rebuild.
    pub embedded: u64,
    /// The model of the vectors after the run.
    pub model: String,
    /// Number of memories that are still without vectors.
    pub unembedded: u64,
    /// Whether time ran out before everything was done.
    pub is_unfinished: bool,
    /// Why vectors are missing, or are not from the configured model.
    pub failure: Option<EmbeddingFailure>,
}

/// Progress, in memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReindexProgress {
    /// The index is being rebuilt; this many memories are in it.
    Rebuilding(u64),
    /// This many memories got their missing vectors.
    Embedding(u64),
}

/// A run of the indexer with everything it uses.
struct Indexer<'a> {
    runtime: &'a Runtime,
    store: &'a mut Store,
    embedder: Embedder<'a>,
    until: Option<Instant>,
    tell: &'a mut dyn FnMut(ReindexProgress),
    report: ReindexReport,
}

/// Returns the model that the configuration asks for, given the environment of this process.
fn target_model(runtime: &Runtime) -> TargetModel {
    TargetModel::from_settings(&runtime.config.embedding, |name| {
        std::env::var_os(name).is_some_and(|value| !value.is_empty())
    })
}

/// Returns whether there is something to do and no reason to wait. This reads a few rows and makes no requests, so a
/// hook can call it.
pub fn is_due(runtime: &Runtime, store: &Store) -> std::result::Result<bool, StoreError> {
    let state = store.index_state()?;
    let target_model = target_model(runtime);
    let as_wanted = match &target_model {
        TargetModel::Model(model) => *model == state.model,
        TargetModel::FromProvider(asked) => state.asked.as_ref() == Some(asked),
    };
    if !state.is_current || state.needs_cleanup {
        return Ok(true);
    }
    if as_wanted && state.made.is_none() && !state.has_queue {
        return Ok(false);
    }
    Ok(!store.is_suspended(&name(&target_model), runtime.now)?)
}

/// The key under which a failure is recorded.
fn name(target_model: &TargetModel) -> String {
    match target_model {
        TargetModel::Model(name) | TargetModel::FromProvider(name) => name.clone(),
    }
}

/// Does the work until the deadline. With `is_forced`, rebuilds the index even if it is up to date. Returns `None` if
/// another process is doing it.
pub fn run(
    runtime: &Runtime,
    store: &mut Store,
    is_forced: bool,
    until: Option<Instant>,
    tell: &mut dyn FnMut(ReindexProgress),
) -> Result<Option<ReindexReport>> {
    let Some(_lock) = files::try_lock(&runtime.paths.data.join("reindex.lock"))? else { return Ok(None) };
    // Syncing is not needed: what a power cut undoes is simply done again.
    store.set_synchronous_normal()?;
    let mut work =
        Indexer { runtime, store, embedder: Embedder::installed(), until, tell, report: ReindexReport::default() };
    work.all(is_forced)?;
    let mut report = work.report;
    if let Some(failure) = &report.failure {
        runtime.log.record(Level::Warn, "could not compute vectors; will try again later", failure.to_string());
        let wait = failure.retry_after.unwrap_or(if failure.is_retryable { SHORT_RETRY_DELAY } else { LONG_RETRY_DELAY });
        let until = runtime.now.saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        store.suspend_providers(&name(&target_model(runtime)), until)?;
    }
    report.model = store.index_state()?.model;
    report.unembedded = store.unembedded()?;
    if store.has_large_wal() {
        store.checkpoint()?;
    }
    Ok(Some(report))
}

impl Indexer<'_> {
    fn all(&mut self, is_forced: bool) -> Result<()> {
        // A provider may switch to another model at any time, which then becomes the target. The number of such changes
        // is limited.
        const MAX_MODEL_CHANGES: u32 = 3;
        let mut is_forced = is_forced;
        for _ in 0..MAX_MODEL_CHANGES {
            let state = self.store.index_state()?;
            let (model, asked) = self.resolve_target(&state, is_forced)?;
            if is_forced || !state.is_current || state.made.is_some() || state.model != model {
                self.store.begin_reindex(&model, asked.as_deref())?;
                if let Err(failure) = self.rebuild_step()? {
                    self.report.failure = Some(failure);
                    if !state.is_current {
                        // The text index can be repaired without the new model, using the existing vectors.
                        self.store.begin_reindex(&state.model, state.asked.as_deref())?;
                        if let Err(failure) = self.rebuild_step()? {
                            self.report.failure = Some(failure);
                        }
                    }
                }
            } else if state.asked != asked {
                self.store.set_asked_providers(asked.as_deref())?;
            }
            is_forced = false;
            // An unfinished rebuild waits for its vectors, and the current index stays in use.
            while !self.is_over()
                && self.store.next_model()?.is_none()
                && self.store.rebuild_step(BATCH, STEP_TIME)? != RebuildStep::Nothing
            {
                self.pause()?;
            }
            if self.report.failure.is_none() && !is_remote(&model) {
                self.store.clear_embedding_cache()?;
            }
            if self.is_over() || self.report.failure.is_some() || self.backfill()? {
                break;
            }
            // Another model answered, so which one answers must be determined again.
            self.store.set_asked_providers(None)?;
        }
        Ok(())
    }

    fn is_over(&mut self) -> bool {
        let is_over = self.until.is_some_and(|until| Instant::now() >= until);
        self.report.is_unfinished |= is_over;
        is_over
    }

    /// Returns the target model of the index, and the provider setting from which it was determined.
    fn resolve_target(&mut self, state: &IndexState, is_forced: bool) -> Result<(String, Option<String>)> {
        let as_it_is = (state.model.clone(), state.asked.clone());
        let asked = match target_model(self.runtime) {
            TargetModel::Model(model) => return Ok((model, None)),
            TargetModel::FromProvider(asked) if !is_forced && state.asked.as_ref() == Some(&asked) => return Ok(as_it_is),
            TargetModel::FromProvider(asked) => asked,
        };
        let settings = &self.runtime.config.embedding;
        let answer = embedding::embed(settings, &self.embedder, &[PROBE_TEXT.into()], Purpose::Document, &self.runtime.log);
        Ok(match answer {
            Ok(EmbedOutcome::Remote(model, _)) => (model.to_string(), Some(asked)),
            Ok(EmbedOutcome::Disabled) => (NO_MODEL.into(), None),
            Ok(EmbedOutcome::Local) => {
                self.store.suspend_providers(
                    &asked,
                    self.runtime.now.saturating_add(u64::try_from(SHORT_RETRY_DELAY.as_millis()).unwrap_or(u64::MAX)),
                )?;
                if is_remote(&state.model) {
                    // The existing vectors were paid for and are better than the built-in ones. Until their provider is
                    // back, only words are searched.
                    as_it_is
                } else {
                    (local::model().to_string(), None)
                }
            }
            Err(failure) => {
                self.report.failure = Some(failure);
                as_it_is
            }
        })
    }

    /// Rebuilds the index and swaps it in. The inner error means that vectors could not be computed.
    fn rebuild_step(&mut self) -> Result<std::result::Result<(), EmbeddingFailure>> {
        while !self.is_over() {
            let erasures = self.store.erasures()?;
            let texts = self.store.upcoming_texts(BATCH)?;
            if !texts.is_empty()
                && let Some(model) = self.store.next_model()?
            {
                match self.fetch_vectors(&model, &texts, erasures)? {
                    Ok(true) => {}
                    // The provider switched to another model. The backfill step will notice.
                    Ok(false) => return self.swap_without_vectors(),
                    Err(failure) => return Ok(Err(failure)),
                }
            }
            match self.store.rebuild_step(BATCH, STEP_TIME)? {
                RebuildStep::Memories(made) => {
                    self.report.remade = Some(made);
                    (self.tell)(ReindexProgress::Rebuilding(made));
                }
                RebuildStep::Swapped => {
                    self.report.remade = Some(self.report.remade.unwrap_or(0));
                    return Ok(Ok(()));
                }
                RebuildStep::Rest | RebuildStep::Nothing => return Ok(Ok(())),
            }
            self.pause()?;
        }
        Ok(Ok(()))
    }

    fn swap_without_vectors(&mut self) -> Result<std::result::Result<(), EmbeddingFailure>> {
        while !self.is_over() {
            match self.store.rebuild_step(BATCH, STEP_TIME)? {
                RebuildStep::Memories(made) => self.report.remade = Some(made),
                _ => break,
            }
            self.pause()?;
        }
        Ok(Ok(()))
    }

    /// Computes the vectors of queued memories. Returns false if another model than the index's answered.
    fn backfill(&mut self) -> Result<bool> {
        let mut last: Option<Unembedded> = None;
        while !self.is_over() {
            let model = self.store.index_state()?.model;
            let erasures = self.store.erasures()?;
            let queued = self.store.next_unembedded(last.as_ref(), BATCH)?;
            if queued.is_empty() {
                break;
            }
            if is_remote(&model) {
                let texts: Vec<String> = queued.iter().flat_map(|memory| memory.texts.iter().cloned()).collect();
                match self.fetch_vectors(&model, &texts, erasures)? {
                    Ok(true) => {}
                    Ok(false) => return Ok(false),
                    Err(failure) => {
                        self.report.failure = Some(failure);
                        return Ok(true);
                    }
                }
            }
            self.report.embedded += self.store.store_cached_vectors(&queued)?;
            (self.tell)(ReindexProgress::Embedding(self.report.embedded));
            last = queued.into_iter().next_back();
            self.pause()?;
        }
        Ok(true)
    }

    /// Requests the vectors of texts that are not known yet, from this model's provider only. Returns false if another
    /// model answered.
    fn fetch_vectors(
        &mut self,
        model: &str,
        texts: &[String],
        erasures: u64,
    ) -> Result<std::result::Result<bool, EmbeddingFailure>> {
        let unknown = self.store.uncached_texts(model, texts)?;
        let settings = &self.runtime.config.embedding;
        let Some(provider) = provider_of(model) else { return Ok(Ok(true)) };
        for texts in unknown.chunks(settings.batch.max(1)) {
            let (by, found): (Model, _) = match self.embedder.embed(settings, provider, texts, Purpose::Document) {
                Ok(answer) => answer,
                Err(failure) => return Ok(Err(failure)),
            };
            if by.to_string() != model {
                return Ok(Ok(false));
            }
            self.store.cache_vectors(&by, texts, &found, erasures, self.runtime.now)?;
        }
        Ok(Ok(true))
    }

    /// Lets other processes write.
    fn pause(&mut self) -> Result<()> {
        if self.store.wants_checkpoint() {
            self.store.checkpoint()?;
        }
        thread::sleep(PAUSE);
        Ok(())
    }
}

/// Returns whether a model's vectors come from outside this program.
fn is_remote(model: &str) -> bool {
    provider_of(model).is_some()
}

/// Returns the provider of a model, unless it is the built-in one.
pub fn provider_of(model: &str) -> Option<Provider> {
    let (provider, _) = model.split_once('/')?;
    [Provider::Openai, Provider::Gemini, Provider::Folder].into_iter().find(|known| known.name() == provider)
}
