//! Stage `extractor`: a fold over transcript lines that keeps a session's notes and emits memories.
//!
//! Every line changes the [`State`]; at the end of a call the memories that hold are compared with what was given out
//! before. So the same lines in one call or in ten give the same memories and notes.

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

/// The most that the state may be, in bytes (the contract's limit).
const MAX_STATE_BYTES: usize = 256 * 1024;
/// What is asked of the reader at once, in bytes.
const CHUNK_BYTES: u32 = 1024 * 1024;

/// Lines of a transcript, in chunks.
pub trait Lines {
    /// Calls `visit` with the next lines and the offset just past each; false when there are no more.
    fn next_lines(&mut self, max_bytes: u32, visit: &mut dyn FnMut(&str, u64)) -> bool;
}

/// Reads all lines there are and gives what they teach.
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

/// What is new or changed since the last call, and what no longer holds.
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
