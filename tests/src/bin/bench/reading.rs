//! How fast transcripts and histories are read, and how much memory that takes.

use std::ffi::OsStr;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tests::bulk;
use tests::commits;
use tests::guest;
use tests::home::Home;
use tests::measure::{self, median, milliseconds};
use tests::process;
use tests::transcript::session_id;

use crate::table::{Table, mebibytes};

/// The number of commits of the history that is read.
const COMMITS: u32 = 100_000;

/// How long reading such a history may take.
const MAX_HISTORY: Duration = Duration::from_mins(1);

/// Transcript bytes a second that `ingest` reads on one core.
const LEAST_INGEST_RATE: f64 = 100e6;

/// The time of the policy's extraction natively, as a share of its time in the sandbox.
const LEAST_GUEST_SPEED: f64 = 0.8;

/// Memory of `ingest` however long the transcript is.
const MAX_INGEST_BYTES: u64 = 64 << 20;

/// How long a repository's history takes to read.
pub(crate) fn history(table: &mut Table, smoke: bool) {
    let commits = if smoke { 1_000 } else { COMMITS };
    println!("\ningest --git of a history of {commits} commits");
    let home = Home::new();
    let folder = home.work().join("old");
    std::fs::create_dir_all(&folder).expect("create the folder");
    commits::write(&home, &folder, commits);
    let mut command = home.command(["ingest", "--git"]);
    command.current_dir(&folder);
    let (bytes, wall) = measure::peak(&command, Vec::new());
    table.row(
        &format!("{} memories; {} at most", home.count("memories"), mebibytes(bytes)),
        &format!("{:.1} s", wall.as_secs_f64()),
        &format!("≤ {:.0} s", MAX_HISTORY.as_secs_f64()),
        Some(wall <= MAX_HISTORY),
    );
}

/// The bytes of all transcripts below the folder.
fn size(folder: &Path) -> u64 {
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) if entry.path().extension() == Some(OsStr::new("jsonl")) => meta.len(),
            _ => 0,
        })
        .sum()
}

/// Restricts the command to one core, where the system can.
pub(crate) fn on_one_core(command: Command) -> Command {
    let Some(taskset) = process::which("taskset") else {
        tests::skip("restricting ingest to one core", "taskset is not installed");
        return command;
    };
    let mut pinned = Command::new(taskset);
    pinned.args(["-c", "0"]).arg(command.get_program()).args(command.get_args()).env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            pinned.env(name, value);
        }
    }
    pinned
}

pub(crate) fn ingest_rate(table: &mut Table, corpus: Option<&Path>, smoke: bool) {
    let home = Home::new();
    let generated = home.path().join("generated");
    let folder = if let Some(corpus) = corpus {
        println!("\ningest of {}", corpus.display());
        corpus.join("transcripts")
    } else {
        println!("\ningest of generated transcripts");
        std::fs::create_dir_all(&generated).expect("create the folder");
        for number in 0..if smoke { 4 } else { 40 } {
            let file = File::create(generated.join(format!("{}.jsonl", session_id(number)))).expect("create");
            bulk::long_transcript(&mut BufWriter::new(file), &home.work(), &session_id(number), 4 << 20, number + 1)
                .expect("write the transcript");
        }
        generated
    };
    let bytes = size(&folder);
    assert!(bytes > 0, "no transcripts in {}", folder.display());
    // Read once before, so that the disk is not what is measured.
    let mut times = Vec::new();
    for _ in 0..if smoke { 1 } else { 5 } {
        drop(std::fs::remove_dir_all(home.data()));
        let command = on_one_core(home.command([OsStr::new("ingest"), folder.as_os_str()]));
        times.push(measure::time(command, b""));
    }
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    let rate = bytes as f64 / median(&mut times).as_secs_f64();
    table.row(
        &format!("{} into {} memories, on one core", mebibytes(bytes), home.count("memories")),
        &format!("{:.1} MB/s", rate / 1e6),
        &format!("≥ {:.0} MB/s", LEAST_INGEST_RATE / 1e6),
        Some(rate >= LEAST_INGEST_RATE),
    );
}

/// The policy's extraction, natively and in the sandbox.
pub(crate) fn guest(table: &mut Table, corpus: Option<&Path>, smoke: bool) {
    /// The shortest transcript that is worth a call: the program says how long it took in tenths of a millisecond.
    const LEAST_BYTES: usize = 1 << 20;
    /// The most transcripts of a corpus.
    const MOST: usize = 24;
    let home = Home::new();
    let texts: Vec<String> = if let Some(corpus) = corpus {
        println!("\nextraction from {}, natively and in the sandbox", corpus.display());
        let mut files = Vec::new();
        transcripts(&corpus.join("transcripts"), &mut files);
        files.sort();
        files.iter().map(|file| guest::chunk(file)).filter(|text| text.len() >= LEAST_BYTES).take(MOST).collect()
    } else {
        println!("\nextraction from a generated transcript, natively and in the sandbox");
        let mut text = Vec::new();
        bulk::long_transcript(&mut text, &home.work(), &session_id(1), if smoke { 1 << 20 } else { 6 << 20 }, 1)
            .expect("write the transcript");
        vec![String::from_utf8(text).expect("a transcript is text")]
    };
    assert!(!texts.is_empty(), "no transcript is long enough");
    let times = guest::extraction_times(&home, &texts, if smoke { 1 } else { 9 });
    let speed = times.native.as_secs_f64() / times.sandbox.as_secs_f64();
    table.row(
        &format!("{} transcripts, {}", texts.len(), mebibytes(times.bytes as u64)),
        &format!("{:.1} of {:.1} ms: {speed:.2}", milliseconds(times.native), milliseconds(times.sandbox)),
        &format!("≥ {LEAST_GUEST_SPEED}"),
        Some(speed >= LEAST_GUEST_SPEED),
    );
}

/// Finds all transcripts below the folder.
fn transcripts(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            transcripts(&path, into);
        } else if path.extension() == Some(OsStr::new("jsonl")) {
            into.push(path);
        }
    }
}

pub(crate) fn ingest_memory(table: &mut Table, mib: u64) {
    println!("\ningest of one transcript of {mib} MiB");
    let home = Home::new();
    let path = home.path().join(format!("{}.jsonl", session_id(1)));
    let mut file = BufWriter::new(File::create(&path).expect("create the transcript"));
    bulk::long_transcript(&mut file, &home.work(), &session_id(1), mib << 20, 3).expect("write the transcript");
    drop(file);
    let (bytes, wall) = measure::peak(&home.command([OsStr::new("ingest"), path.as_os_str()]), Vec::new());
    table.row(
        &format!("its memory, in {:.1} s", wall.as_secs_f64()),
        &mebibytes(bytes),
        &format!("≤ {}", mebibytes(MAX_INGEST_BYTES)),
        Some(bytes <= MAX_INGEST_BYTES),
    );
}
