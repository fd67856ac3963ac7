//! What sessions before the last one settled and ran into. A project has many of them, so each trouble is told once, what came back
//! in several sessions comes first, and details of old plans are left to the search.

mod ban;
mod decisions;
mod lesson;
mod lessons;
mod mended;
mod named;
mod of_its_day;
#[cfg(test)]
mod tests;
mod words;

pub(super) use ban::forbids;
pub(super) use decisions::add_decisions;
pub(super) use lessons::add_lessons;
