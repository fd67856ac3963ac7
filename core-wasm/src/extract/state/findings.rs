//! What plans, documents and reports of sub-agents found.

use super::State;
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::files::is_description;
use crate::extract::memories::{FINDING_KEY, LineRef, SessionMemory};
use crate::extract::prose;
use crate::text;

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
}
