//! Making and checking policies.

pub mod anatomy;
pub mod build;
pub mod compare;
pub mod conformance;
pub mod sample;
pub mod template;
