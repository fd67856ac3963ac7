//! The shared vocabulary.

pub mod contract;
pub mod cursor;
pub mod digest;
pub mod lines;
pub mod project;
