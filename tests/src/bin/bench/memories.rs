//! Hooks in a project with many memories, and with memories about files.

use std::ffi::OsStr;
use std::time::Duration;

use serde_json::{Value, json};
use tests::bulk;
use tests::cited::CitedProject;
use tests::home::Home;
use tests::measure::{self, median, milliseconds};
use tests::session::Session;
use tests::transcript::session_id;

use crate::floor::Floor;
use crate::hooks::MAX_HOOK_BYTES;
use crate::reading::on_one_core;
use crate::table::{Table, mebibytes};

/// What a prompt's search may take of `sqlite3` among 100,000 memories of its project.
const MAX_RATIO_TO_SQLITE_SEARCH: f64 = 10.0;

/// What looking for the files that memories are about may add to a hook, milliseconds, and what remembering how they were may
/// add to the time of a reading.
const MAX_CHECKS_MS: f64 = 1.0;
const MAX_ANCHORS_SHARE: f64 = 0.1;

pub(crate) fn many_memories(table: &mut Table, rounds: usize, smoke: bool) {
    let wanted = if smoke { 1_000 } else { 10_000 };
    println!("\nstartup in a project of {wanted} memories");
    let home = Home::new();
    let project = home.project("many");
    let folder = home.transcript_path(&project, "x").parent().expect("a folder").to_owned();
    let mut sessions = 0;
    while sessions == 0 || home.count("memories") < wanted {
        bulk::sessions(&folder, &project, sessions, 50, 20);
        sessions += 50;
        drop(home.run([OsStr::new("ingest"), folder.as_os_str()]).success());
    }
    let session = Session::new(&home, &project, &session_id(1_000_000));
    let start = |source: &str| session.payload("SessionStart", &json!({"source": source}));
    let (startup, clear) = (start("startup"), start("clear"));
    let hooks = [
        ("SessionStart(startup), hook memory-load", &["memory-load"][..], &startup),
        ("SessionStart(clear), hook memory-load", &["memory-load"][..], &clear),
    ];
    Floor::find().compare(&home, &hooks, rounds, || ()).print(table, 1.0);
    let (bytes, _) = measure::peak(&home.command(["hook", "memory-load"]), startup.to_string().into_bytes());
    table.row(
        &format!("its memory, with {} memories", home.count("memories")),
        &mebibytes(bytes),
        &format!("≤ {}", mebibytes(MAX_HOOK_BYTES)),
        Some(bytes <= MAX_HOOK_BYTES),
    );
}

/// What a prompt is answered with in a project of very many memories.
pub(crate) fn search_among_many(table: &mut Table, rounds: usize, smoke: bool) {
    let wanted = if smoke { 1_000 } else { 100_000 };
    println!("\na prompt in a project of {wanted} memories");
    let home = Home::new();
    let project = home.project("vast");
    let folder = home.transcript_path(&project, "x").parent().expect("a folder").to_owned();
    let mut sessions = 0;
    while sessions == 0 || home.count("memories") < wanted {
        let more = if smoke { 50 } else { 500 };
        bulk::sessions(&folder, &project, sessions, more, 20);
        sessions += more;
        drop(home.run([OsStr::new("ingest"), folder.as_os_str()]).success());
    }
    let session = Session::new(&home, &project, &session_id(1_000_000));
    let prompt = |text: &str| session.payload("UserPromptSubmit", &json!({"prompt": text}));
    let (rare, common) = (
        prompt("what about quokka7 and the frobnicator?"),
        prompt("why does the cache drop the last record when the scheduler ignores the timeout?"),
    );
    let hooks = [
        ("words that are nowhere, memory-search", &["memory-search"][..], &rare),
        ("words that are everywhere, memory-search", &["memory-search"][..], &common),
    ];
    Floor::find().compare(&home, &hooks, rounds, || ()).print_within(table, MAX_RATIO_TO_SQLITE_SEARCH);
    println!("  ({} memories)", home.count("memories"));
}

/// What the files that memories are about cost: two projects with the same sessions, in one of which the files are there and
/// have changed since or are gone, and in the other one no memory names a file.
pub(crate) fn cited_files(table: &mut Table, rounds: usize, smoke: bool) {
    let sessions = if smoke { 5 } else { 60 };
    let cited = CitedProject::new(sessions).with_files();
    let plain = CitedProject::new(sessions);
    println!("\n{sessions} sessions about {} files: what looking after the files adds", cited.files.len());
    let (with, without) = (reading_times(&cited, smoke), reading_times(&plain, smoke));
    let share = with.as_secs_f64() / without.as_secs_f64() - 1.0;
    table.row(
        "reading the transcripts, with anchors",
        &format!("{:+.1} % of {:.0} ms", share * 100.0, milliseconds(without)),
        &format!("≤ +{:.0} %", MAX_ANCHORS_SHARE * 100.0),
        Some(share <= MAX_ANCHORS_SHARE),
    );
    cited.change_files();
    plain.forget_files();
    let asked = "why does the cache drop the last record when the scheduler ignores the timeout?";
    let payloads = |of: &CitedProject| {
        let session = Session::new(&of.home, &of.project, &session_id(1_000_000));
        [
            ("SessionStart(startup)", session.payload("SessionStart", &json!({"source": "startup"}))),
            ("UserPromptSubmit", session.payload("UserPromptSubmit", &json!({"prompt": asked}))),
        ]
    };
    for ((what, marked), (_, unmarked)) in payloads(&cited).into_iter().zip(payloads(&plain)) {
        let mut times = [Vec::new(), Vec::new()];
        // The first rounds warm the caches.
        for round in 0..rounds + 2 {
            for (times, (of, payload)) in times.iter_mut().zip([(&cited, &marked), (&plain, &unmarked)]) {
                // A session that was told of a memory is not told again.
                let payload = with_session(payload, &session_id(2_000_000 + round as u64));
                let time = measure::time(of.home.command(["hook"]), payload.to_string().as_bytes());
                if round >= 2 {
                    times.push(time);
                }
            }
        }
        let [with, without] = times.map(|mut times| milliseconds(median(&mut times)));
        table.row(
            &format!("{what}, with its checks"),
            &format!("{:+.2} ms of {without:.1} ms", with - without),
            &format!("≤ +{MAX_CHECKS_MS} ms"),
            Some(with - without <= MAX_CHECKS_MS),
        );
    }
    assert!(marks_a_file(&cited) && !marks_a_file(&plain), "only one of them looks for files");
}

/// Whether a prompt about some of the project's files is answered with a mark. How a file was is known of some files of each
/// session only.
fn marks_a_file(of: &CitedProject) -> bool {
    const ASKED: usize = 24;
    of.files.iter().take(ASKED).enumerate().any(|(at, file)| {
        let session = Session::new(&of.home, &of.project, &session_id(3_000_000 + at as u64));
        let name = file.rsplit('/').next().unwrap_or(file);
        let payload = session.payload("UserPromptSubmit", &json!({"prompt": format!("what was done in {name}?")}));
        let told = of.home.hook(&payload).context.unwrap_or_default();
        told.contains("changed since") || told.contains(" gone")
    })
}

/// Returns the payload of another session.
fn with_session(payload: &Value, session: &str) -> Value {
    let mut payload = payload.clone();
    payload["session_id"] = session.into();
    payload
}

/// How long reading the project's transcripts takes: the median of some times, each into an empty store.
fn reading_times(of: &CitedProject, smoke: bool) -> Duration {
    let mut times = Vec::new();
    for _ in 0..if smoke { 1 } else { 9 } {
        drop(std::fs::remove_dir_all(of.home.data()));
        let command = on_one_core(of.home.command([OsStr::new("ingest"), of.transcripts.as_os_str()]));
        times.push(measure::time(command, b""));
    }
    median(&mut times)
}
