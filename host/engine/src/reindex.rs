//! Keeps the index what this version and the configuration want: makes it anew where it is another's, and makes the vectors
//! that are missing. Never in a hook: providers may be slow, and cost money.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::runtime::Runtime;
use throughline_embedding::wish::{NOBODY, Wish};
use throughline_embedding::{self as embedding, Embedded, Embedder, Failure, Model, Provider, Purpose, local};
use throughline_platform::files;
use throughline_platform::log::Level;
use throughline_store::{IndexState, Remade, Store, StoreError, Unembedded};

/// The longest that a step may keep other writers waiting, but for its last memory.
const STEP: Duration = Duration::from_millis(15);

/// How long others may write between two steps: they look every millisecond whether they can.
const PAUSE: Duration = Duration::from_millis(3);

/// How many memories are read at once for a model.
const BATCH: usize = 64;

/// How long a provider that failed is left alone where it says nothing of it, and where nothing will change by itself.
const SOON: Duration = Duration::from_mins(5);
const LATER: Duration = Duration::from_hours(1);

/// What a provider is asked only to learn who answers.
const TRIAL: &str = "throughline";

/// What was done.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Memories in an index that was made anew; none: it was not.
    pub remade: Option<u64>,
    /// Memories that were given vectors beside that.
    pub embedded: u64,
    /// The model of the vectors now.
    pub model: String,
    /// Memories that still wait for their vectors.
    pub unembedded: u64,
    /// Whether the time was up before all was done.
    pub is_unfinished: bool,
    /// Why vectors are missing, or are not of the model that is wanted.
    pub failure: Option<Failure>,
}

/// How far the work is, in memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The index is made anew: so many are in it.
    Remaking(u64),
    /// So many more have their vectors.
    Embedding(u64),
}

/// The work, and what it is done with.
struct Work<'a> {
    runtime: &'a Runtime,
    store: &'a mut Store,
    embedder: Embedder<'a>,
    until: Option<Instant>,
    tell: &'a mut dyn FnMut(Progress),
    report: Report,
}

/// Whom the configuration wants, from the environment of this process.
fn wish(runtime: &Runtime) -> Wish {
    Wish::of(&runtime.config.embedding, |name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Whether there is something to do, and no reason to wait with it. Reads a few rows and asks nobody: for a hook.
pub fn is_due(runtime: &Runtime, store: &Store) -> std::result::Result<bool, StoreError> {
    let state = store.index_state()?;
    let wish = wish(runtime);
    let as_wanted = match &wish {
        Wish::Model(model) => *model == state.model,
        Wish::Ask(asked) => state.asked.as_ref() == Some(asked),
    };
    if !state.is_current || state.is_untidy {
        return Ok(true);
    }
    if as_wanted && state.made.is_none() && !state.has_queue {
        return Ok(false);
    }
    Ok(!store.is_left_alone(&name(&wish), runtime.now)?)
}

/// What a failure is noted under.
fn name(wish: &Wish) -> String {
    match wish {
        Wish::Model(name) | Wish::Ask(name) => name.clone(),
    }
}

/// Does what is to be done, until that moment; with `is_forced` the index is made anew though it is as it should be. None:
/// another process is at it.
pub fn run(
    runtime: &Runtime,
    store: &mut Store,
    is_forced: bool,
    until: Option<Instant>,
    tell: &mut dyn FnMut(Progress),
) -> Result<Option<Report>> {
    let Some(_lock) = files::try_lock(&runtime.paths.data.join("reindex.lock"))? else { return Ok(None) };
    // What a power cut takes back is done again.
    store.relax()?;
    let mut work = Work { runtime, store, embedder: Embedder::installed(), until, tell, report: Report::default() };
    work.all(is_forced)?;
    let mut report = work.report;
    if let Some(failure) = &report.failure {
        runtime.log.note(Level::Warn, "vectors could not be had and are asked for later", failure.to_string());
        let wait = failure.after.unwrap_or(if failure.again { SOON } else { LATER });
        let until = runtime.now.saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        store.leave_alone(&name(&wish(runtime)), until)?;
    }
    report.model = store.index_state()?.model;
    report.unembedded = store.unembedded()?;
    if store.leaves_much() {
        store.checkpoint()?;
    }
    Ok(Some(report))
}

impl Work<'_> {
    fn all(&mut self, is_forced: bool) -> Result<()> {
        // A provider may give another model's vectors at any time; that is then wanted. Not for ever.
        const CHANGES: u32 = 3;
        let mut is_forced = is_forced;
        for _ in 0..CHANGES {
            let state = self.store.index_state()?;
            let (model, asked) = self.wanted(&state, is_forced)?;
            if is_forced || !state.is_current || state.made.is_some() || state.model != model {
                self.store.begin_reindex(&model, asked.as_deref())?;
                if let Err(failure) = self.remake()? {
                    self.report.failure = Some(failure);
                    if !state.is_current {
                        // The words can be mended without that model, with the vectors that there are.
                        self.store.begin_reindex(&state.model, state.asked.as_deref())?;
                        if let Err(failure) = self.remake()? {
                            self.report.failure = Some(failure);
                        }
                    }
                }
            } else if state.asked != asked {
                self.store.settle(asked.as_deref())?;
            }
            is_forced = false;
            // What could not be finished waits for its vectors, and the index that is searched stays.
            while !self.is_over() && self.store.next_model()?.is_none() && self.store.remake(BATCH, STEP)? != Remade::Nothing
            {
                self.pause()?;
            }
            if self.report.failure.is_none() && !is_remote(&model) {
                self.store.forget_answers()?;
            }
            if self.is_over() || self.report.failure.is_some() || self.backfill()? {
                break;
            }
            // Another model answered: who does is to be learned anew.
            self.store.settle(None)?;
        }
        Ok(())
    }

    fn is_over(&mut self) -> bool {
        let is_over = self.until.is_some_and(|until| Instant::now() >= until);
        self.report.is_unfinished |= is_over;
        is_over
    }

    /// The model that the index should have, and whom that was learned from.
    fn wanted(&mut self, state: &IndexState, is_forced: bool) -> Result<(String, Option<String>)> {
        let as_it_is = (state.model.clone(), state.asked.clone());
        let asked = match wish(self.runtime) {
            Wish::Model(model) => return Ok((model, None)),
            Wish::Ask(asked) if !is_forced && state.asked.as_ref() == Some(&asked) => return Ok(as_it_is),
            Wish::Ask(asked) => asked,
        };
        let settings = &self.runtime.config.embedding;
        let answer = embedding::embed(settings, &self.embedder, &[TRIAL.into()], Purpose::Document, &self.runtime.log);
        Ok(match answer {
            Ok(Embedded::Remote(model, _)) => (model.to_string(), Some(asked)),
            Ok(Embedded::Nobody) => (NOBODY.into(), None),
            Ok(Embedded::Local) => {
                self.store.leave_alone(
                    &asked,
                    self.runtime.now.saturating_add(u64::try_from(SOON.as_millis()).unwrap_or(u64::MAX)),
                )?;
                if is_remote(&state.model) {
                    // They were paid for, and are better than these. Until their maker is there again words are searched.
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

    /// Makes the index anew and swaps it in. The inner failure: its vectors could not be had.
    fn remake(&mut self) -> Result<std::result::Result<(), Failure>> {
        while !self.is_over() {
            let erasures = self.store.erasures()?;
            let texts = self.store.texts_ahead(BATCH)?;
            if !texts.is_empty()
                && let Some(model) = self.store.next_model()?
            {
                match self.ask(&model, &texts, erasures)? {
                    Ok(true) => {}
                    // It is another model's turn: what waits for vectors finds that out.
                    Ok(false) => return self.swap_without_vectors(),
                    Err(failure) => return Ok(Err(failure)),
                }
            }
            match self.store.remake(BATCH, STEP)? {
                Remade::Memories(made) => {
                    self.report.remade = Some(made);
                    (self.tell)(Progress::Remaking(made));
                }
                Remade::Swapped => {
                    self.report.remade = Some(self.report.remade.unwrap_or(0));
                    return Ok(Ok(()));
                }
                Remade::Rest | Remade::Nothing => return Ok(Ok(())),
            }
            self.pause()?;
        }
        Ok(Ok(()))
    }

    fn swap_without_vectors(&mut self) -> Result<std::result::Result<(), Failure>> {
        while !self.is_over() {
            match self.store.remake(BATCH, STEP)? {
                Remade::Memories(made) => self.report.remade = Some(made),
                _ => break,
            }
            self.pause()?;
        }
        Ok(Ok(()))
    }

    /// Gives what waits its vectors. False: another model than that of the index answered.
    fn backfill(&mut self) -> Result<bool> {
        let mut last: Option<Unembedded> = None;
        while !self.is_over() {
            let model = self.store.index_state()?.model;
            let erasures = self.store.erasures()?;
            let queued = self.store.queued(last.as_ref(), BATCH)?;
            if queued.is_empty() {
                break;
            }
            if is_remote(&model) {
                let texts: Vec<String> = queued.iter().flat_map(|memory| memory.texts.iter().cloned()).collect();
                match self.ask(&model, &texts, erasures)? {
                    Ok(true) => {}
                    Ok(false) => return Ok(false),
                    Err(failure) => {
                        self.report.failure = Some(failure);
                        return Ok(true);
                    }
                }
            }
            self.report.embedded += self.store.fill(&queued)?;
            (self.tell)(Progress::Embedding(self.report.embedded));
            last = queued.into_iter().next_back();
            self.pause()?;
        }
        Ok(true)
    }

    /// Asks the maker of this model, and nobody else, for the vectors of those texts that are not known. False: it answered
    /// with those of another.
    fn ask(&mut self, model: &str, texts: &[String], erasures: u64) -> Result<std::result::Result<bool, Failure>> {
        let unknown = self.store.unknown_texts(model, texts)?;
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
            self.store.keep_vectors(&by, texts, &found, erasures, self.runtime.now)?;
        }
        Ok(Ok(true))
    }

    /// Lets others write.
    fn pause(&mut self) -> Result<()> {
        if self.store.wants_checkpoint() {
            self.store.checkpoint()?;
        }
        thread::sleep(PAUSE);
        Ok(())
    }
}

/// Whether a model's vectors come from outside this program.
fn is_remote(model: &str) -> bool {
    provider_of(model).is_some()
}

/// Who makes the vectors of a model, where that is not this program.
pub fn provider_of(model: &str) -> Option<Provider> {
    let (provider, _) = model.split_once('/')?;
    [Provider::Openai, Provider::Gemini, Provider::Folder].into_iter().find(|known| known.name() == provider)
}
