//! The memories that tests of this folder have in common.

use crate::bindings::throughline::policy::types::Memory;

pub(super) fn failure(session: &str, content: &str) -> Memory {
    Memory {
        id: content.to_owned(),
        session_id: session.to_owned(),
        kind: "error_fix".to_owned(),
        title: String::new(),
        content: content.to_owned(),
        keywords: Vec::new(),
        files: Vec::new(),
        importance: 0.7,
        created: 0,
        seen: 1,
        score: 0.0,
        attributes: Vec::new(),
    }
}

pub(super) fn at(created: u64, memory: Memory) -> Memory {
    Memory { created, ..memory }
}
