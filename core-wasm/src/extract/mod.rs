//! Stage `extractor`: a fold over transcript lines that maintains a session's notes and emits memories.
//!
//! Every line updates the [`State`]. At the end of a call, the memories that currently hold are compared with those
//! that were emitted before. Therefore the same lines give the same memories and notes, in one call or in ten.

pub(crate) mod clean;
pub(crate) mod commands;
mod commits;
mod compact;
mod conventions;
mod failures;
mod files;
mod human;
pub(crate) mod labels;
mod memories;
mod notes;
mod options;
mod prose;
mod questions;
mod seen_lines;
mod state;
mod tasks;
mod tool_uses;
mod turn;

use crate::bindings::exports::throughline::policy::extractor::{Extraction, Request};
use crate::bindings::throughline::policy::types::Draft;
use crate::text;
use memories::LineRef;
use state::State;

/// The maximum size of the state in bytes, as the contract defines it.
const MAX_STATE_BYTES: usize = 256 * 1024;
/// How many bytes are requested from the reader at once.
const CHUNK_BYTES: u32 = 1024 * 1024;

/// The lines of a transcript, in chunks.
pub trait Lines {
    /// Calls `visit` with the next lines and the offset just past each. Returns false when there are no more lines.
    fn next_lines(&mut self, max_bytes: u32, visit: &mut dyn FnMut(&str, u64)) -> bool;
}

/// Reads all available lines and returns what they teach.
pub fn extract(request: &Request, lines: &mut impl Lines) -> Extraction {
    let mut state = State::restore(request.state.as_deref(), &request.session.root);
    state.is_sub_agent = request.session.attributes.iter().any(|(name, _)| name == "sub-agent");
    let mut settled = Vec::new();
    let (mut consumed, mut malformed) = (0, 0_u32);
    while lines.next_lines(CHUNK_BYTES, &mut |line, end| {
        malformed = malformed.saturating_add(state.fold(line, &mut settled));
        consumed = end;
    }) {}
    for supplement in request.supplements.iter().filter(|supplement| supplement.kind == "compact-summary") {
        settled.extend(compact::summary(&supplement.text, &LineRef::default()));
    }
    let last_message = request.supplements.iter().rfind(|supplement| supplement.kind == "last-assistant-message");
    let last_message = last_message.map(|supplement| supplement.text.as_str());
    let (end, live) = state.snapshot(None);
    let notes = match last_message {
        Some(_) => notes::notes(&state.snapshot(last_message).0),
        None => notes::notes(&end),
    };
    let (drafts, retracted) = diff_drafts(&mut state, settled, live);
    Extraction { drafts, retracted, notes, state: state.save(MAX_STATE_BYTES), consumed, malformed }
}

/// Returns the drafts that are new or changed since the last call, and the keys of drafts that no longer hold.
fn diff_drafts(state: &mut State, settled: Vec<Draft>, live: Vec<Draft>) -> (Vec<Draft>, Vec<String>) {
    let emitted = std::mem::take(&mut state.emitted);
    let known =
        |draft: &Draft| emitted.iter().any(|(key, print)| Some(key) == draft.key.as_ref() && *print == fingerprint(draft));
    let gone = |key: &String| !live.iter().chain(&settled).any(|draft| draft.key.as_ref() == Some(key));
    let retracted = emitted.iter().map(|(key, _)| key.clone()).filter(gone).collect();
    state.emitted = live.iter().filter_map(|draft| Some((draft.key.clone()?, fingerprint(draft)))).collect();
    let drafts = settled.into_iter().chain(live).filter(|draft| !known(draft)).collect();
    (drafts, retracted)
}

fn fingerprint(draft: &Draft) -> u32 {
    let Draft { key: _, kind, title, content, keywords: _, files, importance, origin, attributes: _ } = draft;
    text::hash(&format!("{kind}\n{title}\n{content}\n{files:?}\n{importance}\n{origin:?}"))
}
