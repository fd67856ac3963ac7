//! The log: what went wrong, for people and for `doctor`. Entries are collected and written once, at the end, because
//! their details must pass the redactor first; where no redactor can be had, the details are withheld.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::paths;

/// How much an entry matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For somebody who looks for a fault.
    Debug,
    /// Worth knowing.
    Info,
    /// Something was not done, and will be.
    Warn,
    /// Something was not done.
    Error,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }
}

struct Entry {
    level: Level,
    what: &'static str,
    detail: String,
}

/// Entries of one process run.
#[derive(Default)]
pub struct Log {
    entries: RefCell<Vec<Entry>>,
}

/// The longest detail that is kept, bytes.
const MOST_DETAIL: usize = 2_000;

/// The most entries of one run.
const MOST_ENTRIES: usize = 200;

impl Log {
    /// Notes that `what` (in our own words, nothing from outside) happened; `detail` may hold anything.
    pub fn note(&self, level: Level, what: &'static str, detail: impl Into<String>) {
        let mut entries = self.entries.borrow_mut();
        if entries.len() < MOST_ENTRIES {
            let mut detail: String = detail.into();
            if detail.len() > MOST_DETAIL {
                detail.truncate(detail.floor_char_boundary(MOST_DETAIL));
                detail.push('…');
            }
            entries.push(Entry { level, what, detail });
        }
    }

    /// Whether there is anything to write.
    pub fn is_empty(&self) -> bool {
        self.entries.borrow().is_empty()
    }

    /// Appends the entries to `file`, a line each, with `redact` applied to their details, and forgets them.
    pub fn write(
        &self,
        file: &Path,
        max_bytes: u64,
        stamp: &str,
        redact: impl FnOnce(&mut [String]) -> anyhow::Result<()>,
    ) -> io::Result<()> {
        let entries = self.entries.take();
        if entries.is_empty() {
            return Ok(());
        }
        let mut details: Vec<String> = entries.iter().map(|entry| entry.detail.clone()).collect();
        if redact(&mut details).is_err() {
            details.fill("(details withheld: no redactor could be run)".into());
        }
        let mut text = String::new();
        for (entry, detail) in entries.iter().zip(details) {
            let line = format!("{stamp} {} {}: {detail}", entry.level.word(), entry.what);
            // One line an entry, whatever the detail holds.
            text.extend(line.trim_end_matches([':', ' ']).chars().map(|c| if c.is_control() { ' ' } else { c }));
            text.push('\n');
        }
        append(file, max_bytes, text.as_bytes())
    }
}

/// Appends one entry without details at once: for a process that is about to be ended.
pub fn last_words(file: &Path, stamp: &str, what: &'static str) {
    let _ = append(file, u64::MAX, format!("{stamp} {} {what}\n", Level::Error.word()).as_bytes());
}

fn append(file: &Path, max_bytes: u64, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        paths::create_private(folder)?;
    }
    if fs::metadata(file).is_ok_and(|meta| meta.len() > max_bytes) {
        fs::rename(file, older(file))?;
    }
    // O_APPEND and one write: lines of hooks that run side by side do not mix.
    File::options().create(true).append(true).mode(0o600).open(file)?.write_all(bytes)
}

/// Where the log before this one is kept.
pub fn older(file: &Path) -> PathBuf {
    file.with_extension("log.1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_redacted_and_lines_stay_lines() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("log/x.log");
        let log = Log::default();
        log.note(Level::Warn, "something failed", "secret\nand more");
        log.write(&file, 1_000, "T", |details| {
            for detail in details {
                *detail = detail.replace("secret", "[redacted:x]");
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "T WARN something failed: [redacted:x] and more\n");
        assert!(log.is_empty());
    }

    #[test]
    fn without_a_redactor_details_are_withheld() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.log");
        let log = Log::default();
        log.note(Level::Error, "something failed", "secret");
        log.write(&file, 1_000, "T", |_| anyhow::bail!("none")).unwrap();
        assert!(!fs::read_to_string(&file).unwrap().contains("secret"));
    }

    #[test]
    fn it_is_turned_over() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.log");
        for _ in 0..3 {
            let log = Log::default();
            log.note(Level::Info, "long", "x".repeat(100));
            log.write(&file, 50, "T", |_| Ok(())).unwrap();
        }
        assert!(older(&file).exists());
        assert!(fs::metadata(&file).unwrap().len() < 200);
    }
}
