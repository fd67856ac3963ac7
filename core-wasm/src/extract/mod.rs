//! Stage `extractor`: a fold over transcript lines that maintains a session's notes and emits memories.
//!
//! Every line updates the [`State`]. At the end of a call, the memories that currently hold are compared with those
//! that were emitted before. Therefore the same lines give the same memories and notes, in one call or in ten.

mod before;
mod check;
mod ci;
pub(crate) mod clean;
mod code_block;
pub(crate) mod commands;
mod commit_contents;
pub(crate) mod commits;
mod compact;
mod conventions;
pub(crate) mod course;
mod evidence;
pub(crate) mod failures;
pub(crate) mod files;
mod human;
mod judge;
pub(crate) mod labels;
mod lost;
mod memories;
mod notes;
mod open_points;
mod options;
pub(crate) mod parts_of_result;
mod plan_reason;
mod planned;
mod pointed;
pub(crate) mod prose;
mod published;
mod questions;
mod ran;
mod recap;
mod references;
mod requests;
mod results;
mod rewritten;
mod seen_lines;
mod server_tools;
pub(crate) mod signs;
pub(crate) mod standing;
mod state;
pub(crate) mod statement;
mod switched;
mod taken_back;
pub(crate) mod tasks;
mod tool_uses;
mod turn;
mod undone;
mod unrun;
pub(crate) mod vanished;
mod weights;
mod work_tree;

use crate::bindings::exports::throughline::policy::extractor::{Extraction, Request};
use crate::bindings::throughline::policy::types::Draft;
use crate::text;
pub(crate) use human::{Parts, states_fact};
use memories::LineRef;
pub(crate) use requests::MAX_REQUESTS;
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
    let (end, live) = state.snapshot();
    let notes = notes::notes(last_message.map(|message| state.at_end(Some(message)).0).as_ref().unwrap_or(&end));
    let (drafts, retracted) = diff_drafts(&mut state, settled, live);
    Extraction { drafts, retracted, notes, state: state.save(MAX_STATE_BYTES), consumed, malformed }
}

/// Returns whether a number is 0, so that a state is saved without it.
fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

/// A statement of a session with its features, for training the model that judges statements.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The line of the prompt of its turn.
    pub turn: String,
    /// The statement.
    pub text: String,
    /// The heading above it. May be empty.
    pub heading: String,
    /// Who made it: `Human`, `Answer`, `Work` or `Commit`.
    pub voice: String,
    /// How many later turns have an answer.
    pub later_turns: usize,
    /// The positions and values of its features, in the model's weights.
    pub features: Vec<(usize, f32)>,
}

/// The number of weights of the model that judges statements.
pub const WEIGHTS: usize = judge::COUNT;

/// Returns every statement of a session, as the extraction sees it at the end of the lines.
pub fn candidates(request: &Request, lines: &mut impl Lines) -> Vec<Candidate> {
    let mut state = State::restore(None, &request.session.root);
    state.results.keep_all = true;
    while lines.next_lines(CHUNK_BYTES, &mut |line, _| {
        state.fold(line, &mut Vec::new());
    }) {}
    let (end, _) = state.snapshot();
    let candidate = |&((turn, number), setting, _): &results::Judged| {
        let turn = &end.results.turns()[turn];
        let statement: &statement::Statement = &turn.statements[number];
        let features = judge::features(statement, &setting);
        let features = features.iter().enumerate().filter(|(_, value)| **value != 0.0);
        Candidate {
            turn: turn.source.uuid.clone(),
            text: statement.text.clone(),
            heading: statement.heading.clone(),
            voice: format!("{:?}", statement.voice),
            later_turns: setting.later_turns,
            features: features
                .flat_map(|(at, value)| judge::positions(statement.voice, at).map(|position| (position, *value)))
                .collect(),
        }
    };
    end.results.judged().iter().map(candidate).collect()
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
    let Draft { key: _, kind, title, content, keywords, files, importance, origin, attributes: _ } = draft;
    text::hash(&format!("{kind}\n{title}\n{content}\n{keywords:?}\n{files:?}\n{importance}\n{origin:?}"))
}
