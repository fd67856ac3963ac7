//! Follows the journals of all sessions while hooks append to them, without taking anything.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};

use super::{Journal, JournalRecord, NOTED, TAKEN};
use throughline_platform::metadata;

/// How many bytes of a journal are read in one step.
const MAX_STEP: u64 = 1 << 20;

/// A place in every journal. It ends after the last record that was read.
#[derive(Debug)]
pub struct JournalTail {
    journal: Journal,
    /// How far each file was read, by the file's identity: a journal that is taken is renamed.
    read: HashMap<(u64, u64), u64>,
}

impl JournalTail {
    pub(super) fn new(journal: Journal, from_the_end: bool) -> Self {
        let mut tail = Self { journal, read: HashMap::new() };
        if from_the_end {
            tail.skip();
        }
        tail
    }

    /// Goes to the end of every journal.
    fn skip(&mut self) {
        for entry in self.journal.files().into_iter().flatten().filter(|it| it.ending == NOTED || it.ending == TAKEN) {
            if let (Ok(id), Ok(meta)) = (metadata::path_id(&entry.path), fs::metadata(&entry.path)) {
                self.read.insert(id, meta.len());
            }
        }
    }

    /// Returns the records that were appended since the last call, in the order of their times. A file that cannot be read is
    /// tried again the next time; a torn record is left out.
    pub fn next_records(&mut self) -> Vec<JournalRecord> {
        let mut records = Vec::new();
        let mut there = HashMap::new();
        for entry in self.journal.files().into_iter().flatten().filter(|it| it.ending == NOTED || it.ending == TAKEN) {
            let Ok(mut file) = File::open(&entry.path) else { continue };
            let (Ok(id), Ok(meta)) = (metadata::file_id(&file), file.metadata()) else { continue };
            // A shorter file is another one that got the same number.
            let from = self.read.get(&id).copied().filter(|at| *at <= meta.len()).unwrap_or(0);
            let mut bytes = Vec::new();
            let step = file
                .seek(SeekFrom::Start(from))
                .and_then(|_| file.take(MAX_STEP).read_to_end(&mut bytes))
                .ok()
                .filter(|_| meta.len() > from);
            let whole = step.and_then(|_| bytes.iter().rposition(|&byte| byte == b'\n')).map_or(0, |end| end + 1);
            // A line that is longer than a step is no record of ours.
            let passed = if whole == 0 && bytes.len() as u64 == MAX_STEP { MAX_STEP } else { whole as u64 };
            there.insert(id, from + passed);
            let lines = bytes[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
            records.extend(lines.filter_map(|line| serde_json::from_slice::<JournalRecord>(line).ok()));
        }
        self.read = there;
        records.sort_by_key(|record| record.at);
        records
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::journal::HostRecord;

    fn start(journal: &Journal, session: &str, at: u64) {
        journal.append_host(session, Path::new("/p"), at, HostRecord::SessionStart { source: "startup" }).unwrap();
    }

    #[test]
    fn what_is_appended_is_seen_once_also_when_it_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().join("journal"));
        assert!(journal.tail(true).next_records().is_empty());
        start(&journal, "a", 1);
        let mut tail = journal.tail(true);
        let times = |tail: &mut JournalTail| tail.next_records().iter().map(|record| record.at).collect::<Vec<_>>();
        assert_eq!(times(&mut tail), [0; 0]);
        start(&journal, "a", 3);
        start(&journal, "b", 2);
        assert_eq!(times(&mut tail), [2, 3]);
        start(&journal, "a", 4);
        // A hook takes the journal before it was looked at, and has not stored it yet.
        let taken = journal.take("a").unwrap();
        start(&journal, "a", 5);
        assert_eq!(times(&mut tail), [4, 5]);
        taken.done();
        assert_eq!(times(&mut tail), [0; 0]);
        assert_eq!(times(&mut journal.tail(false)), [2, 5]);
    }

    #[test]
    fn a_record_that_is_not_complete_is_read_later() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().to_owned());
        let mut tail = journal.tail(true);
        start(&journal, "a", 1);
        let file = dir.path().join("a.jsonl");
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() - 9]).unwrap();
        assert!(tail.next_records().is_empty());
        fs::write(&file, &whole).unwrap();
        assert_eq!(tail.next_records().len(), 1);
        assert!(tail.next_records().is_empty());
    }
}
