//! Counts the consecutive failures of each policy and sets aside those that keep failing. The counts are kept in one
//! small file beside the database, which contains nothing that a policy wrote.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::stage::Stage;
use throughline_platform::files;
use throughline_platform::paths;

/// After how many failures in a row a policy is set aside, that is, no longer run until the user enables it again.
pub const SET_ASIDE: u32 = 3;

/// How many policies are kept in the file; the oldest are dropped first.
const MOST: usize = 200;

/// The largest file that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The failures of one component.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The policy's name.
    pub name: String,
    /// Failures since the last success.
    pub in_a_row: u32,
    /// Failures in total.
    pub total: u32,
    /// The stage of the last failure; none if it failed before a stage was called.
    pub stage: Option<Stage>,
    /// The last failure in a few words.
    pub what: String,
    /// When the last failure was, in milliseconds since the Unix epoch.
    pub at: u64,
}

impl Record {
    /// Whether the policy is set aside until the user enables it again.
    pub fn is_set_aside(&self) -> bool {
        self.in_a_row >= SET_ASIDE
    }
}

/// All failure records, by the component's digest.
#[derive(Debug, Clone, Default)]
pub struct Failures {
    file: PathBuf,
    records: BTreeMap<String, Record>,
    changed: bool,
}

impl Failures {
    /// Reads the file. An unreadable file counts as empty: every policy then gets its full number of attempts again.
    pub fn load(file: &Path) -> Self {
        let small = std::fs::metadata(file).is_ok_and(|meta| meta.len() <= MOST_BYTES);
        let text = small.then(|| std::fs::read(file).ok()).flatten();
        let records = text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        Self { file: file.to_owned(), records, changed: false }
    }

    /// Returns the record of a component.
    pub fn of(&self, digest: &str) -> Option<&Record> {
        self.records.get(digest)
    }

    /// Counts a failure. Returns whether it caused the policy to be set aside.
    pub fn failed(&mut self, name: &str, digest: &str, stage: Option<Stage>, what: &str, now: u64) -> bool {
        self.changed = true;
        let record = self.records.entry(digest.to_owned()).or_default();
        let before = record.is_set_aside();
        record.name = name.into();
        record.in_a_row += 1;
        record.total += 1;
        record.stage = stage;
        record.what = what.into();
        record.at = now;
        !before && record.is_set_aside()
    }

    /// Records a success, which ends a row of failures.
    pub fn worked(&mut self, digest: &str) {
        if let Some(record) = self.records.get_mut(digest).filter(|record| record.in_a_row > 0) {
            record.in_a_row = 0;
            self.changed = true;
        }
    }

    /// Deletes the record, as if the policy had never failed, because the user asked for it.
    pub fn forgive(&mut self, digest: &str) {
        self.changed |= self.records.remove(digest).is_some();
    }

    /// Writes the file if anything changed. Of two hooks that write at the same time, one may lose a count; the next
    /// failure is counted again.
    pub fn save(&mut self) -> std::io::Result<()> {
        if !std::mem::take(&mut self.changed) {
            return Ok(());
        }
        while self.records.len() > MOST {
            let oldest = self.records.iter().min_by_key(|(_, record)| record.at).map(|(digest, _)| digest.clone());
            self.records.remove(&oldest.unwrap_or_default());
        }
        if let Some(folder) = self.file.parent() {
            paths::create_private(folder)?;
        }
        files::replace(&self.file, &serde_json::to_vec_pretty(&self.records)?, 0o600)
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
        assert!(!failures.failed("p", "d", Some(Stage::Query), "it trapped", 1));
        failures.worked("d");
        assert!(!failures.failed("p", "d", Some(Stage::Query), "it trapped", 2));
        assert!(!failures.failed("p", "d", None, "it trapped", 3));
        assert!(failures.failed("p", "d", None, "it trapped", 4));
        assert!(!failures.failed("p", "d", None, "it trapped", 5));
        failures.save().unwrap();
        let mut again = Failures::load(&file);
        assert!(again.of("d").unwrap().is_set_aside());
        assert_eq!(again.of("d").unwrap().total, 5);
        again.forgive("d");
        again.save().unwrap();
        assert!(Failures::load(&file).of("d").is_none());
        std::fs::write(&file, "{").unwrap();
        assert!(Failures::load(&file).of("d").is_none());
    }
}
