//! Turns texts into vectors, so that what means the same is found though it shares no word.
//!
//! The model in [`local`] is part of this program and needs nothing. Any other runs in a process of its own, started only
//! where the configuration names one: this program itself opens no connection and loads no model from a disk.

use std::fmt;

use throughline_platform::log::{Level, Log};

pub mod choice;
pub mod failure;
pub mod local;
pub mod process;
pub mod remote;
pub mod settings;
pub mod wish;

pub use choice::Choice;
pub use failure::Failure;
pub use remote::Embedder;
pub use settings::{Provider, Settings};

/// What texts are embedded for: some models treat a question and what answers it differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// What is searched for.
    Query,
    /// What is searched through.
    Document,
}

/// A model, by name. Vectors of two models, or of one model with other dimensions, cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Who computes: `local`, `openai`, `gemini`, `folder`.
    pub provider: String,
    /// As the provider calls it.
    pub name: String,
    /// How many numbers a vector has.
    pub dims: usize,
}

/// `local/minilm-256-2:256`: as it stands in the database.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}:{}", self.provider, self.name, self.dims)
    }
}

/// What a text means.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// Of length 1, so that the cosine of two is their dot product; finite.
    pub vector: Vec<f32>,
    /// The share of the text that the model knows, 0 to 1. A model of English knows nothing of a Korean sentence, and its
    /// vector says nothing.
    pub known: f32,
}

/// Who answered, and what.
#[derive(Clone, Debug, PartialEq)]
pub enum Embedded {
    /// A provider outside this program: a vector for each text, in their order.
    Remote(Model, Vec<Embedding>),
    /// It is the turn of the model that is part of this program, [`local`].
    Local,
    /// The user wants no vectors.
    Nobody,
}

/// Asks whom the settings name for the vectors of these texts; none of them may be empty.
///
/// Where they say `auto`, whoever fails is noted in the log and the next one is asked. A provider that is named fails alone:
/// then search is for words only, and has to say so with the failure.
pub fn embed(
    settings: &Settings,
    embedder: &Embedder<'_>,
    texts: &[String],
    purpose: Purpose,
    log: &Log,
) -> Result<Embedded, Failure> {
    let choice = Provider::choose(settings, |name| embedder.is_set(name));
    let mut failed = None;
    for provider in choice.order {
        if let Some(failure) = failed.take() {
            note(log, &failure);
        }
        if provider == Provider::Local {
            return Ok(Embedded::Local);
        }
        match embedder.embed(settings, provider, texts, purpose) {
            Ok((model, vectors)) => return Ok(Embedded::Remote(model, vectors)),
            Err(failure) => failed = Some(failure),
        }
    }
    match (failed, choice.passed_over.into_iter().next()) {
        (Some(failure), _) => Err(failure),
        (None, Some((provider, what))) => Err(Failure::not_asked(settings, provider, what)),
        (None, None) => Ok(Embedded::Nobody),
    }
}

fn note(log: &Log, failure: &Failure) {
    log.note(Level::Warn, "a provider of embeddings failed and the next one is asked", failure.to_string());
}
