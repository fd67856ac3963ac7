//! The transcripts: that they can be read, and how far they have been.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, SystemTime};

use super::Finding;
use throughline_engine::config::Config;
use throughline_engine::ingest;
use throughline_model::cursor::Cursor;
use throughline_platform::paths::{self, Paths};
use throughline_store::Store;

/// What was not read for so long is not just being written.
const LATE: Duration = Duration::from_hours(24);

pub(super) fn transcripts(paths: &Paths, config: &Config, store: Option<&Store>, now: u64) -> Vec<Finding> {
    let folder = paths.claude_projects();
    let shown = paths::display(&folder, &paths.home);
    let mut findings = Vec::new();
    for root in &config.transcripts.roots {
        if let Err(error) = fs::read_dir(root) {
            findings.push(Finding::warn(
                "transcripts",
                format!("{} cannot be read: {error}", root.display()),
                "mend transcripts.roots in the configuration",
            ));
        }
    }
    match fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            findings.push(Finding::warn(
                "transcripts",
                format!("there are none: {shown} does not exist"),
                "work with Claude Code once; where it keeps its files elsewhere, set CLAUDE_CONFIG_DIR",
            ));
            return findings;
        }
        Err(error) => {
            findings.push(Finding::fail(
                "transcripts",
                format!("{shown} cannot be read: {error}"),
                "check owner and mode of the folder",
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
                format!("how far they have been read is not known: {error}"),
                error.hint().unwrap_or_default(),
            )),
        }
    }
    findings
}

/// How far they have been read.
fn progress(paths: &Paths, cursors: &[Cursor], now: u64) -> Vec<Finding> {
    let mut findings = Vec::new();
    let named = |cursor: &Cursor| paths::display(cursor.path.as_ref(), &paths.home);
    for cursor in cursors {
        if cursor.failures > 0 {
            findings.push(Finding::warn(
                "transcripts",
                format!("the policy failed on {} from byte {}", named(cursor), cursor.offset),
                "it is tried again at the next session; `throughline ingest` with its path shows why",
            ));
        }
        if cursor.is_no_transcript() {
            findings.push(Finding::warn(
                "transcripts",
                format!("{} is no transcript: most of its lines are malformed", named(cursor)),
                "nothing of it is remembered; it may be deleted",
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
            // Of what was looked at as it is now, all that can be read has been: the rest is a torn line.
            Some(cursor) if cursor.size != source.bytes && is_old(&source.path, now) => {
                late.push(paths::display(&source.path, &paths.home));
            }
            Some(_) => {}
        }
    }
    if let Some(first) = late.first() {
        findings.push(Finding::warn(
            "transcripts",
            format!("{} were not read to their end for a day, such as {first}", late.len()),
            "`throughline ingest` reads them on",
        ));
    }
    let sum = |of: fn(&Cursor) -> u64| cursors.iter().map(of).sum::<u64>();
    let mut message = vec![format!("{} in {}", sources.len(), paths::display(&folder, &paths.home))];
    if unread > 0 {
        message.push(format!("{unread} never read (`throughline ingest` does)"));
    }
    for (number, what) in [(sum(|cursor| cursor.malformed), "malformed"), (sum(|cursor| cursor.oversized), "oversized")] {
        if number > 0 {
            message.push(format!("{number} {what} lines passed over"));
        }
    }
    findings.push(Finding::ok("transcripts", message.join(", ")));
    findings
}

/// Whether nobody has written to the file for [`LATE`].
fn is_old(file: &std::path::Path, now: u64) -> bool {
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(now);
    fs::metadata(file)
        .and_then(|meta| meta.modified())
        .is_ok_and(|modified| now.duration_since(modified).is_ok_and(|age| age > LATE))
}
