//! Labelled sets, and how well the memory search answers them: documents are imported into a home of their own, each question
//! is asked of the real binary, and the same documents are searched with the database's own full-text search beside it.

pub mod adapters;
pub mod floor;
pub mod metrics;
pub mod report;
pub mod run;
pub mod set;

pub use metrics::Measures;
pub use run::Answer;
pub use set::{Document, Question, Set, Source, Unit};
