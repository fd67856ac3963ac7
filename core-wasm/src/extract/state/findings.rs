//! What plans, documents and reports of sub-agents found.

use super::State;
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::files::is_description;
use crate::extract::memories::{FINDING_KEY, LineRef, SessionMemory};
use crate::extract::prose;
use crate::text;

/// The minimum length of a piece of code that is recognized in an edit, in bytes.
const MIN_PIECE_BYTES: usize = 10;
/// The maximum length of a sub-agent's report, in bytes.
const MAX_REPORT_BYTES: usize = 12 * 1024;

impl State {
    /// Records what a plan or the report of a sub-agent warns of. The agent's answer often only refers to it.
    /// Returns their keys.
    pub(super) fn record_findings(&mut self, document: &str, source: &LineRef, settled: &mut Vec<Draft>) -> Vec<String> {
        let mut keys = Vec::new();
        for finding in prose::findings(document) {
            let key = format!("{FINDING_KEY}{:08x}", text::hash(&finding));
            keys.push(key.clone());
            let memory = SessionMemory {
                key,
                kind: "learning".to_owned(),
                files: prose::file_in(&finding).into_iter().collect(),
                title: finding,
                importance: 50,
                source: source.clone(),
                turn: self.turns,
                ..SessionMemory::default()
            };
            self.memories.add(memory, settled);
        }
        keys
    }

    /// Records the files that a sub-agent's report says it changed, and what it found. The agent may mend that later in the turn.
    pub(super) fn record_report(&mut self, report: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let report = clean::block(report, MAX_REPORT_BYTES);
        self.sub_agent_reported(&report);
        let found = self.record_findings(&report, source, settled);
        self.awaited.report_came(found);
    }

    /// Forgets what a report found that the agent mends by editing a file: what is about that file or, if it is code, about none.
    pub(super) fn mended_findings(&mut self, file: &str) {
        if self.awaited.being_mended.is_empty() {
            return;
        }
        let is_code = !is_description(file);
        let is_about = |memory: &SessionMemory| match memory.files.first() {
            Some(named) => file.ends_with(named.as_str()),
            None => is_code,
        };
        let mended = &self.awaited.being_mended;
        self.memories.forget(|memory| mended.contains(&memory.key) && is_about(memory));
    }

    /// Forgets what was learned of a piece of code that an edit takes out of its file, given the lines that the edit adds and removes: what
    /// stands in its place may be right.
    pub(super) fn code_taken_out(&mut self, lines: &[(bool, String)]) {
        let has = |is_added: bool, code: &str| lines.iter().any(|line| line.0 == is_added && line.1.contains(code));
        let is_gone = |code: &str| is_piece(code) && has(false, code) && !has(true, code);
        self.memories.forget(|memory| {
            let is_of_agent = memory.kind == "learning" && (memory.from_prose || memory.key.starts_with(FINDING_KEY));
            is_of_agent && memory.title.split('`').skip(1).step_by(2).any(is_gone)
        });
    }
}

/// Returns whether code in a sentence is a piece of a line, and no name that may stand elsewhere too.
fn is_piece(code: &str) -> bool {
    code.len() >= MIN_PIECE_BYTES && code.contains([' ', '[', '(', '=']) && !code.ends_with("()")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_code_is_more_than_a_name() {
        assert!(is_piece("left-[12px] fixed") && is_piece("till.open(null)"));
        assert!(!is_piece("openNightTill") && !is_piece("openTheDrawer()") && !is_piece("a = b"));
    }
}
