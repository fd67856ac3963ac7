//! Checks that transcripts can be read, and how far they were read.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, SystemTime};

use super::finding::Finding;
use throughline_engine::config::Config;
use throughline_engine::ingest;
use throughline_model::cursor::Cursor;
use throughline_platform::paths::{self, Paths};
use throughline_store::Store;

/// How long a transcript may have unread content. After this time it is no longer just being written.
const STALE_AFTER: Duration = Duration::from_hours(24);

pub(super) fn transcripts(paths: &Paths, config: &Config, store: Option<&Store>, now: u64) -> Vec<Finding> {
    let folder = paths.claude_projects();
    let shown = paths::display(&folder, &paths.home);
    let mut findings = Vec::new();
    for root in &config.transcripts.roots {
        if let Err(error) = fs::read_dir(root) {
            findings.push(Finding::warn(
                "transcripts",
                format!("{} cannot be read: {error}", root.display()),
                "correct transcripts.roots in the configuration",
            ));
        }
    }
    match fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            findings.push(Finding::warn(
                "transcripts",
                format!("there are none: {shown} does not exist"),
                "use Claude Code once; if it keeps its files elsewhere, set CLAUDE_CONFIG_DIR",
            ));
            return findings;
        }
        Err(error) => {
            findings.push(Finding::fail(
                "transcripts",
                format!("{shown} cannot be read: {error}"),
                "check the owner and the permissions of the folder",
            ));
            return findings;
        }
        Ok(_) => {}
    }
    if let Some(store) = store {
        match store.cursors() {
            Ok(cursors) => findings.extend(progress(paths, &cursors, now)),
            Err(error) => findings.push(Finding::fail(
                "transcripts",
                format!("it is unknown how far they were read: {error}"),
                error.hint().unwrap_or_default(),
            )),
        }
    }
    findings
}

/// Reports how far the transcripts were read.
fn progress(paths: &Paths, cursors: &[Cursor], now: u64) -> Vec<Finding> {
    let mut findings = Vec::new();
    let named = |cursor: &Cursor| paths::display(cursor.path.as_ref(), &paths.home);
    for cursor in cursors {
        if cursor.failures > 0 {
            findings.push(Finding::warn(
                "transcripts",
                format!("the policy failed on {} from byte {}", named(cursor), cursor.offset),
                "it is tried again at the next session; run `throughline ingest` with its path to see why",
            ));
        }
        if cursor.is_mostly_malformed() {
            findings.push(Finding::warn(
                "transcripts",
                format!("{} is not a transcript: most of its lines are malformed", named(cursor)),
                "nothing from it is remembered; you can delete it",
            ));
        }
    }
    let by_path: HashMap<&str, &Cursor> = cursors.iter().map(|cursor| (cursor.path.as_str(), cursor)).collect();
    let folder = paths.claude_projects();
    let (sources, _) = ingest::sources(std::slice::from_ref(&folder), &folder);
    let (mut unread, mut late) = (0_u64, Vec::new());
    for source in &sources {
        let path = source.path.to_string_lossy();
        match by_path.get(path.as_ref()) {
            None => unread += 1,
            // If the size has not changed since the last read, everything readable was read: the rest is an incomplete
            // line.
            Some(cursor) if cursor.size != source.bytes && is_old(&source.path, now) => {
                late.push(paths::display(&source.path, &paths.home));
            }
            Some(_) => {}
        }
    }
    if let Some(first) = late.first() {
        findings.push(Finding::warn(
            "transcripts",
            format!("{} have had unread lines for a day, for example {first}", late.len()),
            "`throughline ingest` reads the rest",
        ));
    }
    let sum = |of: fn(&Cursor) -> u64| cursors.iter().map(of).sum::<u64>();
    let mut message = vec![format!("{} in {}", sources.len(), paths::display(&folder, &paths.home))];
    if unread > 0 {
        message.push(format!("{unread} never read (`throughline ingest` reads them)"));
    }
    for (number, what) in [(sum(|cursor| cursor.malformed), "malformed"), (sum(|cursor| cursor.oversized), "oversized")] {
        if number > 0 {
            message.push(format!("{number} {what} lines skipped"));
        }
    }
    findings.push(Finding::ok("transcripts", message.join(", ")));
    findings
}

/// Returns whether the file was not written to for [`STALE_AFTER`].
fn is_old(file: &std::path::Path, now: u64) -> bool {
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(now);
    fs::metadata(file)
        .and_then(|meta| meta.modified())
        .is_ok_and(|modified| now.duration_since(modified).is_ok_and(|age| age > STALE_AFTER))
}
