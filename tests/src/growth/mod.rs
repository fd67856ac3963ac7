//! A store that grows to a million memories: its content, its queries, and the chart of search times.

pub mod memories;
pub mod paint;
pub mod plot;
pub mod questions;
pub mod words;
