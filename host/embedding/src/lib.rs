//! Turns texts into vectors, so that search finds texts with the same meaning even if they share no word.
//!
//! [`embed`] is the entry point. [`ProviderChoice`] picks the providers to try, from the [`Settings`] and the environment. The
//! model in [`local`] is built in and has no requirements. Any other provider runs in a separate process,
//! `throughline-embedder`, which is started only if the configuration names such a provider. This program itself opens
//! no connection and loads no model from disk. [`target_model`] determines which model's vectors the database should contain.
//!
//! # External providers
//!
//! A server or a larger model is asked by `throughline-embedder`, one process per request ([`remote`], [`process`]).
//! One JSON request goes in and one JSON answer comes out. `throughline-embedder-wire` has the protocol. It is a
//! separate program for these reasons:
//!
//! - *No network in the main program.* The main program reads everything that is said in every session. Without a
//!   network client it cannot send that anywhere, and `deny.toml` shows that it has none. An administrator who does not
//!   want the embedder does not install it.
//! - *Hooks start in milliseconds.* A TLS stack or a tensor library would be loaded and relocated each time for
//!   nothing.
//! - *Least capability.* The child gets the texts, one key, the variables of proxies and certificates, and nothing else
//!   of the environment, not even `HOME`. It has no database, and the host has no key in its configuration to lose.
//! - *A fault ends there.* A child that hangs, grows or crashes is killed with its process group after its time. Its
//!   output is checked like anything from outside: number of vectors, dimensions, length 1.
//!
//! A provider that the user named is the only one that is sent text. Only `auto` falls back to the next provider, and
//! the log then says so. Vectors of two models are never compared: the name of a [`Model`] contains the provider, the
//! server if it is not the usual one, or a fingerprint of the folder, and the dimensions.

use std::fmt;

use throughline_platform::log::{Level, Log};

pub mod choice;
pub mod failure;
pub mod local;
pub mod process;
pub mod remote;
pub mod settings;
pub mod target_model;

pub use choice::ProviderChoice;
pub use failure::EmbeddingFailure;
pub use remote::Embedder;
pub use settings::{Provider, Settings};

/// The purpose of an embedding. Some models treat questions and the texts that answer them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A search query.
    Query,
    /// A text to search through.
    Document,
}

/// The name of a model. Vectors of different models, or of one model with different dimensions, cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// The provider: `local`, `openai`, `gemini` or `folder`.
    pub provider: String,
    /// The provider's name for the model.
    pub name: String,
    /// How many numbers a vector has.
    pub dims: usize,
}

/// Formats the model as it is stored in the database, such as `local/minilm-256-2:256`.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}:{}", self.provider, self.name, self.dims)
    }
}

/// The embedding of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// A vector of length 1, so that the dot product of two is their cosine. All numbers are finite.
    pub vector: Vec<f32>,
    /// The share of the text that the model knows, 0 to 1. A model of English knows none of a Korean sentence, and its
    /// vector for that sentence is meaningless.
    pub known: f32,
}

/// The result of an embedding request.
#[derive(Clone, Debug, PartialEq)]
pub enum EmbedOutcome {
    /// Vectors from an external provider: one for each text, in order.
    Remote(Model, Vec<Embedding>),
    /// The caller should use the built-in model, [`local`].
    Local,
    /// Embeddings are turned off.
    Disabled,
}

/// Asks the configured provider to embed these texts, none of which may be empty.
///
/// With `auto`, failures are logged and the next provider is tried. A provider that the user named has no fallback: if
/// it fails, the caller searches by words only and must report the failure.
pub fn embed(
    settings: &Settings,
    embedder: &Embedder<'_>,
    texts: &[String],
    purpose: Purpose,
    log: &Log,
) -> Result<EmbedOutcome, EmbeddingFailure> {
    let choice = Provider::choose(settings, |name| embedder.is_set(name));
    let mut failed = None;
    for provider in choice.order {
        if let Some(failure) = failed.take() {
            log_failure(log, &failure);
        }
        if provider == Provider::Local {
            return Ok(EmbedOutcome::Local);
        }
        match embedder.embed(settings, provider, texts, purpose) {
            Ok((model, vectors)) => return Ok(EmbedOutcome::Remote(model, vectors)),
            Err(failure) => failed = Some(failure),
        }
    }
    match (failed, choice.skipped.into_iter().next()) {
        (Some(failure), _) => Err(failure),
        (None, Some((provider, what))) => Err(EmbeddingFailure::not_configured(settings, provider, what)),
        (None, None) => Ok(EmbedOutcome::Disabled),
    }
}

fn log_failure(log: &Log, failure: &EmbeddingFailure) {
    log.record(Level::Warn, "an embedding provider failed; trying the next one", failure.to_string());
}
