//! Counts the consecutive failures of each policy and sets aside those that keep failing. Each stage has its own counter:
//! a policy with a working redactor and a broken extractor keeps failing. The counts are kept in one small file beside
//! the database, which contains nothing that a policy wrote.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::stage::Stage;
use throughline_platform::files;
use throughline_platform::paths;

/// After how many failures in a row of one stage a policy is set aside, that is, no longer run until the user enables it
/// again.
pub const MAX_FAILURES_IN_A_ROW: u32 = 3;

/// How many policies are kept in the file; the oldest are dropped first.
const MAX_RECORDS: usize = 200;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The failures of one component.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailureRecord {
    /// The policy's name.
    pub name: String,
    /// Failures in a row before a stage was called, for example because the component does not load.
    #[serde(rename = "in_a_row")]
    unloaded: u32,
    /// Failures in a row of each stage, since the last success of that stage.
    stages: BTreeMap<Stage, u32>,
    /// Failures in total.
    pub total: u32,
    /// The stage of the last failure; none if it failed before a stage was called.
    pub stage: Option<Stage>,
    /// The last failure in a few words.
    pub what: String,
    /// When the last failure was, in milliseconds since the Unix epoch.
    pub at: u64,
}

impl FailureRecord {
    /// Whether the policy is set aside until the user enables it again.
    pub fn is_set_aside(&self) -> bool {
        self.in_a_row() >= MAX_FAILURES_IN_A_ROW
    }

    /// Returns the failures in a row of the stage that has the most.
    pub fn in_a_row(&self) -> u32 {
        self.stages.values().copied().fold(self.unloaded, u32::max)
    }

    /// Returns the count that a failure in this stage, or before any stage, belongs to.
    fn count_of(&mut self, stage: Option<Stage>) -> &mut u32 {
        match stage {
            Some(stage) => self.stages.entry(stage).or_default(),
            None => &mut self.unloaded,
        }
    }
}

/// All failure records, by the component's digest.
#[derive(Debug, Clone, Default)]
pub struct Failures {
    file: PathBuf,
    records: BTreeMap<String, FailureRecord>,
    changed: bool,
}

impl Failures {
    /// Reads the file. An unreadable file counts as empty: every policy then gets its full number of attempts again.
    pub fn load(file: &Path) -> Self {
        let small = std::fs::metadata(file).is_ok_and(|meta| meta.len() <= MAX_BYTES);
        let text = small.then(|| std::fs::read(file).ok()).flatten();
        let records = text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        Self { file: file.to_owned(), records, changed: false }
    }

    /// Returns the record of a component.
    pub fn of(&self, digest: &str) -> Option<&FailureRecord> {
        self.records.get(digest)
    }

    /// Counts a failure. Returns whether it caused the policy to be set aside.
    pub fn record_failure(&mut self, name: &str, digest: &str, stage: Option<Stage>, what: &str, now: u64) -> bool {
        self.changed = true;
        let record = self.records.entry(digest.to_owned()).or_default();
        let before = record.is_set_aside();
        record.name = name.into();
        let count = record.count_of(stage);
        *count = count.saturating_add(1);
        record.total = record.total.saturating_add(1);
        record.stage = stage;
        record.what = what.into();
        record.at = now;
        !before && record.is_set_aside()
    }

    /// Records a success of a stage. It ends that stage's row of failures and, because the component was loaded for it,
    /// the row of those before any stage. The rows of other stages go on.
    pub fn record_success(&mut self, digest: &str, stage: Stage) {
        if let Some(record) = self.records.get_mut(digest) {
            self.changed |= record.stages.remove(&stage).is_some() || record.unloaded > 0;
            record.unloaded = 0;
        }
    }

    /// Withdraws the failure that was recorded before an attempt that then succeeded. The rows of the stages go on.
    pub fn withdraw_unloaded(&mut self, digest: &str) {
        if let Some(record) = self.records.get_mut(digest).filter(|record| record.unloaded > 0) {
            record.total = record.total.saturating_sub(record.unloaded);
            record.unloaded = 0;
            if record.total == 0 {
                self.records.remove(digest);
            }
            self.changed = true;
        }
    }

    /// Deletes the record, as if the policy had never failed, because the user asked for it.
    pub fn clear_failures(&mut self, digest: &str) {
        self.changed |= self.records.remove(digest).is_some();
    }

    /// Writes the file if anything changed. Of two hooks that write at the same time, one may lose a count; the next
    /// failure is counted again.
    pub fn save(&mut self) -> std::io::Result<()> {
        if !std::mem::take(&mut self.changed) {
            return Ok(());
        }
        while self.records.len() > MAX_RECORDS {
            let oldest = self.records.iter().min_by_key(|(_, record)| record.at).map(|(digest, _)| digest.clone());
            self.records.remove(&oldest.unwrap_or_default());
        }
        if let Some(folder) = self.file.parent() {
            paths::create_private(folder)?;
        }
        files::replace_atomically(&self.file, &serde_json::to_vec_pretty(&self.records)?, 0o600)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_in_a_row_sets_it_aside() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("data/policy-failures.json");
        let mut failures = Failures::load(&file);
        assert!(!failures.record_failure("p", "d", Some(Stage::Query), "it trapped", 1));
        failures.record_success("d", Stage::Query);
        assert!(!failures.record_failure("p", "d", Some(Stage::Query), "it trapped", 2));
        assert!(!failures.record_failure("p", "d", Some(Stage::Query), "it trapped", 3));
        assert!(failures.record_failure("p", "d", Some(Stage::Query), "it trapped", 4));
        assert!(!failures.record_failure("p", "d", Some(Stage::Query), "it trapped", 5));
        failures.save().unwrap();
        let mut again = Failures::load(&file);
        assert!(again.of("d").unwrap().is_set_aside());
        assert_eq!(again.of("d").unwrap().total, 5);
        again.clear_failures("d");
        again.save().unwrap();
        assert!(Failures::load(&file).of("d").is_none());
        std::fs::write(&file, "{").unwrap();
        assert!(Failures::load(&file).of("d").is_none());
    }

    #[test]
    fn attack_a_policy_that_serves_in_one_stage_and_fails_in_another() {
        let mut failures = Failures::default();
        for at in 1..=3 {
            let set_aside = failures.record_failure("p", "d", Some(Stage::Extractor), "it trapped", at);
            assert_eq!(set_aside, at == 3);
            failures.record_success("d", Stage::Redactor);
            failures.record_success("d", Stage::Query);
        }
        assert!(failures.of("d").unwrap().is_set_aside());
    }

    #[test]
    fn failures_of_several_stages_are_not_added_up() {
        let mut failures = Failures::default();
        for stage in Stage::ALL {
            assert!(!failures.record_failure("p", "d", Some(stage), "it trapped", 1));
        }
        assert!(!failures.record_failure("p", "d", None, "its component does not load", 2));
        assert_eq!(failures.of("d").unwrap().in_a_row(), 1);
    }

    #[test]
    fn compiling_it_again_does_not_forget_how_a_stage_failed() {
        let mut failures = Failures::default();
        failures.record_failure("p", "d", Some(Stage::Query), "it trapped", 1);
        failures.record_failure("p", "d", None, "its compilation did not finish", 2);
        failures.withdraw_unloaded("d");
        assert_eq!((failures.of("d").unwrap().in_a_row(), failures.of("d").unwrap().total), (1, 1));
        failures.record_failure("q", "e", None, "its compilation did not finish", 3);
        failures.withdraw_unloaded("e");
        assert!(failures.of("e").is_none());
    }
}
