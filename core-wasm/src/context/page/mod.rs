//! A page that is filled section by section. It contains nothing twice and fits the most important entries into the
//! budget.

mod entry;
mod fill;
mod label;
mod layout;
mod memory;
mod render;
mod section;

pub(super) use entry::Entry;
pub(super) use fill::Page;
pub(super) use label::{Label, LineLabel};
pub(super) use layout::{Part, parts, with_whole_result};
pub(super) use memory::{discovery, is_routine, is_saved, memory_text, teaches_nothing};
pub(super) use section::{LESSONS, SectionKind};
