//! Turns texts into vectors, so that what means the same is found though it shares no word.
//!
//! The model in [`local`] is part of this program and needs nothing. Any other runs in a process of its own, started only
//! where the configuration names one: this program itself opens no connection and loads no model from a disk.

use std::fmt;

pub mod local;

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

/// `local/minilm-256-1:256`: as it stands in the database.
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
