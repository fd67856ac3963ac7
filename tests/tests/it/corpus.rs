//! Real transcripts, where there are some: a folder with `CATALOGUE.md`, `transcripts/` and `growth/`, which
//! `THROUGHLINE_CORPUS` names, else `../shared/corpus` beside the repository.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tests::corpus;
use tests::database;
use tests::home::Home;

/// What the catalogue says of each file: bytes and malformed lines.
fn catalogue(corpus: &Path) -> BTreeMap<String, (u64, u64)> {
    let text = std::fs::read_to_string(corpus.join("CATALOGUE.md")).expect("the catalogue");
    let mut rows = text
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let head = rows.next().expect("a table");
    let column = |name: &str| head.iter().position(|title| *title == name).expect("a column of this name");
    let (file, bytes, malformed) = (column("file"), column("bytes"), column("malformed"));
    rows.filter_map(|row| Some((row[file].to_owned(), (row[bytes].parse().ok()?, row[malformed].parse().ok()?)))).collect()
}

/// The report of `ingest --json`: one object a file.
fn ingest(home: &Home, path: &Path) -> Vec<Value> {
    let report = home.json([OsStr::new("ingest"), path.as_os_str(), OsStr::new("--json")]);
    let files = if report.is_array() { &report } else { &report["files"] };
    files.as_array().unwrap_or_else(|| panic!("no files in {report}")).clone()
}

/// Columns that differ between two readings of the same lines but do not depend on their content: when and where they
/// were read, how often a row was written, and row numbers.
fn bookkeeping(table: &str, column: &str) -> bool {
    match table {
        "events" | "shown" | "supersessions" => true,
        "memories" => {
            ["rowid", "id", "accessed_at", "access_count", "superseded_by", "followed_by", "revisited_by"].contains(&column)
        }
        "sightings" => column == "memory",
        "transcripts" => ["device", "inode", "modified", "version", "updated_at"].contains(&column),
        "extractor_states" => column == "version",
        "file_anchors" => column == "at",
        "session_context" => ["saved_at", "moment"].contains(&column),
        "projects" => ["created_at", "memories", "compared"].contains(&column),
        _ => false,
    }
}

fn content(home: &Home) -> Vec<String> {
    database::dump(&home.database(), bookkeeping)
}

#[test]
fn every_transcript_is_read_to_its_end() {
    let Some(corpus) = corpus("every_transcript_is_read_to_its_end") else {
        return;
    };
    let home = Home::new();
    let folder = corpus.join("transcripts");
    let report = ingest(&home, &folder);
    let by_path: BTreeMap<String, &Value> = report
        .iter()
        .map(|file| {
            let path = Path::new(file["path"].as_str().expect("a path"));
            let short = path.strip_prefix(&folder).expect("inside the folder");
            (short.to_string_lossy().into_owned(), file)
        })
        .collect();
    let catalogue = catalogue(&corpus);
    assert!(catalogue.len() > 100, "the catalogue was not understood");
    for (file, (bytes, malformed)) in &catalogue {
        let found = by_path.get(file).unwrap_or_else(|| panic!("{file} was not read"));
        assert_eq!(found["malformed"], *malformed, "{file}: {found}");
        assert_eq!(found["bytes"], *bytes, "{file}: {found}");
    }
    assert!(home.count("memories") > catalogue.len() as u64);
    database::assert_sound(&home.database());

    let before = content(&home);
    ingest(&home, &folder);
    database::assert_same(&before, &content(&home), "read a second time");
}

#[test]
fn moved_transcripts_teach_nothing_new() {
    let Some(corpus) = corpus("moved_transcripts_teach_nothing_new") else {
        return;
    };
    let home = Home::new();
    let sample = corpus.join("transcripts/ujuc__agent-stuff");
    let (first, second) = (home.path().join("first"), home.path().join("second"));
    for folder in [&first, &second] {
        std::fs::create_dir_all(folder).expect("create the folder");
        for entry in std::fs::read_dir(&sample).expect("the sample") {
            let entry = entry.expect("an entry");
            std::fs::copy(entry.path(), folder.join(entry.file_name())).expect("copy");
        }
    }
    ingest(&home, &first);
    let without_paths = |home: &Home| {
        database::dump(&home.database(), |table, column| {
            table == "transcripts" || table == "extractor_states" || bookkeeping(table, column)
        })
    };
    let before = without_paths(&home);
    assert!(!before.is_empty());
    ingest(&home, &second);
    database::assert_same(&before, &without_paths(&home), "read from another folder");
}

#[test]
fn a_transcript_that_grew_is_as_one_that_was_always_so_long() {
    let Some(corpus) = corpus("a_transcript_that_grew_is_as_one_that_was_always_so_long") else {
        return;
    };
    for session in std::fs::read_dir(corpus.join("growth")).expect("the snapshots") {
        let session = session.expect("an entry").path();
        let mut snapshots: Vec<PathBuf> =
            std::fs::read_dir(&session).expect("the snapshots").map(|entry| entry.expect("an entry").path()).collect();
        snapshots.sort();
        let last = snapshots.last().expect("a snapshot").clone();

        let alone = Home::new();
        let file = "00000000-0000-4000-8000-00000000cafe.jsonl";
        let read = |home: &Home, snapshot: &Path, replace: bool| {
            // One path for all homes: it is part of what is stored.
            let target = home.path().join(file);
            let bytes = std::fs::read(snapshot).expect("read");
            if replace {
                drop(std::fs::remove_file(&target));
            }
            std::fs::write(&target, bytes).expect("write");
            ingest(home, &target);
        };
        let stored = |home: &Home| -> Vec<String> {
            let own = home.path().to_string_lossy().into_owned();
            let mut rows: Vec<String> = content(home).iter().map(|row| row.replace(&own, "HOME")).collect();
            rows.sort();
            rows
        };
        read(&alone, &last, false);
        for replace in [false, true] {
            let grown = Home::new();
            grown.tag_like(&alone);
            for snapshot in &snapshots {
                read(&grown, snapshot, replace);
            }
            database::assert_same(&stored(&grown), &stored(&alone), &format!("{} (replaced: {replace})", session.display()));
        }
    }
}
