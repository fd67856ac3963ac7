//! A store that grows to a million memories: what is in it, what is asked of it, and the picture of how the search grows.

pub mod memories;
pub mod paint;
pub mod plot;
pub mod questions;
pub mod words;
