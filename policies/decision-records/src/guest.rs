//! Implements the contract on top of [`crate::fold`]: settings and lines come in, an extraction goes out. Built for
//! WebAssembly only.

use serde::de::DeserializeOwned;

use crate::fold::{Draft, Fold, Settings};

#[allow(unsafe_code, missing_docs, clippy::pedantic, reason = "generated: what crosses the component boundary")]
mod bindings {
    wit_bindgen::generate!({ path: "wit", world: "extractor-policy", generate_all });
    export!(Policy);

    use super::Policy;
}

use bindings::exports::throughline::policy::extractor::{Extraction, Guest, Request};
use bindings::throughline::policy::settings;
use bindings::throughline::policy::transcript::Reader;
use bindings::throughline::policy::types::{self, Decision, Failure, Origin, SessionNotes};

/// How many bytes to read in each call of the host. Calls are expensive, and a mebibyte per call keeps them few.
const MAX_BYTES: u32 = 1 << 20;

struct Policy;

impl Guest for Policy {
    fn extract(request: Request, transcript: &Reader) -> Result<Extraction, Failure> {
        let mut fold = Fold::new(chosen(), &request.session.root, request.state.as_deref());
        let mut consumed = 0;
        loop {
            let lines = transcript.read_lines(MAX_BYTES);
            let Some(last) = lines.last() else { break };
            consumed = last.end;
            for line in &lines {
                fold.line(&line.text);
            }
        }
        Ok(Extraction {
            drafts: fold.drafts().map(draft).collect(),
            retracted: Vec::new(),
            notes: notes(&fold),
            state: fold.state(),
            consumed,
            malformed: fold.malformed(),
        })
    }
}

fn chosen() -> Settings {
    let default = Settings::default();
    Settings { marker: setting("marker").unwrap_or(default.marker), folders: setting("folders").unwrap_or(default.folders) }
}

fn setting<T: DeserializeOwned>(key: &str) -> Option<T> {
    serde_json::from_str(&settings::get(key)?).ok()
}

fn draft(draft: &Draft) -> types::Draft {
    types::Draft {
        key: Some(draft.key.clone()),
        kind: "decision".into(),
        title: draft.title.clone(),
        content: draft.content.clone(),
        keywords: Vec::new(),
        files: draft.files.clone(),
        importance: draft.importance,
        origin: Origin { line_uuid: draft.line_uuid.clone(), at: draft.at },
        attributes: draft.attributes.clone(),
    }
}

/// Notes that contain nothing but decisions. The host adds them to the notes of the next weaker policy.
fn notes(fold: &Fold) -> SessionNotes {
    let decisions = fold
        .kept()
        .map(|kept| Decision { what: kept.what.clone(), why: kept.why.clone(), rejected: kept.rejected.clone() })
        .collect();
    SessionNotes {
        original_request: String::new(),
        current_objective: String::new(),
        outcome: String::new(),
        started: None,
        ended: None,
        turns: 0,
        done: Vec::new(),
        current: Vec::new(),
        pending: Vec::new(),
        decisions,
        discoveries: Vec::new(),
        learnings: Vec::new(),
        preferences: Vec::new(),
        changes: Vec::new(),
        commits: Vec::new(),
        blockers: Vec::new(),
        errors: Vec::new(),
        attributes: Vec::new(),
    }
}
