//! The hooks of an ordinary session: at its start and end, inside the agent's loop, with drop-in policies, and after a long transcript.

use std::ffi::OsStr;
use std::fs::File;
use std::io::BufWriter;
use std::time::Duration;

use serde_json::{Value, json};
use tests::bulk::{self, Dice};
use tests::home::Home;
use tests::measure::{self, median, milliseconds};
use tests::session::Session;
use tests::transcript::session_id;

use crate::floor::Floor;
use crate::sessions::{every_payload, ordinary, tool_use};
use crate::table::{Table, mebibytes};

/// The most memory that a hook may take.
pub(crate) const MAX_HOOK_BYTES: u64 = 32 << 20;

/// How many times the limit of the others a flush of a long transcript may take.
const LONG_FLUSH: f64 = 2.0;

/// What a hook inside the agent's loop may take: a multiple of the time of `sqlite3`, and memory; with a payload of 5 MB, time and memory.
const MAX_RATIO_TO_SQLITE_IN_LOOP: f64 = 4.0;
const MAX_LOOP_BYTES: u64 = 16 << 20;
const MAX_LARGE: Duration = Duration::from_millis(40);
const MAX_LARGE_BYTES: u64 = 48 << 20;

/// What a drop-in policy may add to a hook.
struct Allowance {
    /// Its folder in policies/.
    name: &'static str,
    language: &'static str,
    milliseconds: f64,
    /// Of the whole hook.
    bytes: u64,
}

const POLICIES: [Allowance; 3] = [
    Allowance { name: "decision-records", language: "Rust", milliseconds: 3.0, bytes: MAX_HOOK_BYTES },
    Allowance { name: "commit-trailers", language: "Python", milliseconds: 15.0, bytes: 40 << 20 },
    Allowance { name: "private-terms", language: "JavaScript", milliseconds: 6.0, bytes: 40 << 20 },
];

/// What runs after each use of a tool and before each prompt is answered.
pub(crate) fn in_the_loop(table: &mut Table, rounds: usize) {
    println!("\ninside the agent's loop; times the wall time of sqlite3");
    let home = Home::new();
    let project = home.project("loop");
    let mut past = ordinary(&home, &project, 1);
    past.stop("Done.");
    past.end();
    let session = Session::new(&home, &project, &session_id(2));
    let log = "2026-11-22 12:00:00 INFO worker 17 took a job and finished it\n";
    let ordinary = tool_use(&session, 1, &log.repeat(60));
    let edit = session.use_of(
        "toolu_2",
        "Edit",
        &json!({"file_path": project.join("src/pay.rs"), "old_string": "let a = 1;\n".repeat(10), "new_string": "let b = 2;\n".repeat(10)}),
        &json!({"structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": vec!["-let a = 1;"; 10]}]}),
    );
    let large_log = tool_use(&session, 3, &log.repeat((5 << 20) / log.len()));
    let image = session.use_of(
        "toolu_4",
        "Read",
        &json!({"file_path": project.join("pic.png")}),
        &json!({"type": "image", "file": {"base64": "iVBORw0KGgoA".repeat((5 << 20) / 12), "type": "image/png"}}),
    );
    let failed = session.payload(
        "PostToolUseFailure",
        &json!({"tool_name": "Bash", "tool_use_id": "toolu_5", "tool_input": {"command": "make check"},
            "error": "Exit code 2\nmake: *** no rule to make target", "is_interrupt": false, "duration_ms": 4}),
    );
    let prompt = session.payload("UserPromptSubmit", &json!({"prompt": "Why does the check of the greeting file fail?"}));
    let track = &["memory-track"][..];
    let hooks = [
        ("PostToolUse of a command, memory-track", track, &ordinary),
        ("PostToolUse of an edit, memory-track", track, &edit),
        ("PostToolUseFailure, memory-failure", &["memory-failure"][..], &failed),
        ("UserPromptSubmit, memory-search", &["memory-search"][..], &prompt),
    ];
    Floor::find().compare(&home, &hooks, rounds, || ()).print_within(table, MAX_RATIO_TO_SQLITE_IN_LOOP);
    let large = [
        ("PostToolUse with a log of 5 MB, memory-track", track, &large_log),
        ("PostToolUse with an image of 5 MB, memory-track", track, &image),
    ];
    let compared = Floor { sqlite: None, node: None }.compare(&home, &large, rounds.min(15), || ());
    for (what, time) in compared.hooks {
        let limit = format!("≤ {:.0} ms", milliseconds(MAX_LARGE));
        table.row(what, &format!("{:.1} ms", milliseconds(time)), &limit, Some(time <= MAX_LARGE));
    }
    for (what, payload, limit) in
        [("its memory, ordinary", &ordinary, MAX_LOOP_BYTES), ("its memory, 5 MB", &large_log, MAX_LARGE_BYTES)]
    {
        let (bytes, _) = measure::peak(&home.command(["hook", "memory-track"]), payload.to_string().into_bytes());
        table.row(what, &mebibytes(bytes), &format!("≤ {}", mebibytes(limit)), Some(bytes <= limit));
    }
}

fn borrowed<'a>(
    payloads: &'a [(&'static str, &'static [&'static str], Value)],
) -> Vec<(&'static str, &'a [&'a str], &'a Value)> {
    payloads.iter().map(|(what, name, payload)| (*what, *name, payload)).collect()
}

pub(crate) fn hooks(table: &mut Table, rounds: usize) {
    println!("\nhooks: a median of {rounds} whole processes; times the wall time of sqlite3, and of node");
    let home = Home::new();
    let project = home.project("bench");
    let mut past = ordinary(&home, &project, 1);
    past.stop("Done.");
    past.end();
    let mut session = ordinary(&home, &project, 2);
    session.transcript.append_to(&session.path);
    let payloads = every_payload(&session);
    let mut turn = 0;
    let path = session.path.clone();
    let mut transcript = session.transcript.clone();
    let compared = Floor::find().compare(&home, &borrowed(&payloads), rounds, || {
        turn += 1;
        transcript
            .user(&format!("And now step {turn}"))
            .writes(&format!("out{turn}.txt"), "more\n")
            .answer("Done.")
            .append_to(&path);
    });
    compared.print_floor(table);
    compared.print(table, 1.0);
    let (mut most, mut which) = (0, "");
    for (what, name, payload) in &payloads {
        let command = home.command(["hook"].iter().chain(*name));
        let (bytes, _) = measure::peak(&command, payload.to_string().into_bytes());
        if bytes > most {
            (most, which) = (bytes, what);
        }
    }
    table.row(
        &format!("largest memory: {which}"),
        &mebibytes(most),
        &format!("≤ {}", mebibytes(MAX_HOOK_BYTES)),
        Some(most <= MAX_HOOK_BYTES),
    );
}

/// A home in which a policy of the repository is built, granted and compiled, or `None` if the tools of its language are
/// missing.
fn with_policy(name: &str) -> Option<Home> {
    let folder = tests::sources::build(name, "the cost of a policy")?;
    let home = Home::new();
    drop(home.run(["policy".as_ref(), "add".as_ref(), "--grant".as_ref(), folder.as_os_str()]).success());
    let config = home.throughline().join("config/config.toml");
    std::fs::write(config, "[policy.private-terms]\nterms = [\"Acme Corp\", \"db01.corp.example\"]\n").expect("write");
    Some(home)
}

/// What a drop-in policy for one stage adds to a turn's end.
pub(crate) fn policies(table: &mut Table, rounds: usize) {
    println!("\nStop with a drop-in policy for one stage, compiled and cached: what it adds to the default alone");
    let mut homes: Vec<(Option<Allowance>, Home)> = vec![(None, Home::new())];
    homes.extend(POLICIES.into_iter().filter_map(|policy| with_policy(policy.name).map(|home| (Some(policy), home))));
    let mut sessions: Vec<Session<'_>> = homes
        .iter()
        .map(|(_, home)| {
            let project = home.project("bench");
            let mut session = ordinary(home, &project, 1);
            session.stop("Done.");
            session
        })
        .collect();
    let mut times = vec![Vec::new(); homes.len()];
    let mut memory = vec![0; homes.len()];
    for round in 0..rounds + 2 {
        for (index, ((_, home), session)) in homes.iter().zip(&mut sessions).enumerate() {
            session
                .transcript
                .user(&format!("And now step {round}"))
                .writes(&format!("out{round}.txt"), "more\n")
                .answer("Done.")
                .append_to(&session.path);
            let payload = session.payload("Stop", &json!({"stop_hook_active": false, "last_assistant_message": "Done."}));
            if round == 0 {
                memory[index] = measure::peak(&home.command(["hook"]), payload.to_string().into_bytes()).0;
                continue;
            }
            let time = measure::time(home.command(["hook"]), payload.to_string().as_bytes());
            if round >= 2 {
                times[index].push(time);
            }
        }
    }
    let medians: Vec<f64> = times.iter_mut().map(|times| milliseconds(median(times))).collect();
    for (index, (policy, home)) in homes.iter().enumerate() {
        for policy in home.policy_list(home.path())["policies"].as_array().into_iter().flatten() {
            assert!(policy["runs"] == true && policy["failures"] == 0, "{policy:#}\n{}", home.log());
        }
        let Some(Allowance { name, language, milliseconds: most, bytes }) = policy else {
            table.row("the default alone", &format!("{:.1} ms, {}", medians[0], mebibytes(memory[0])), "", None);
            continue;
        };
        let more = medians[index] - medians[0];
        table.row(
            &format!("{name} ({language})"),
            &format!("+{more:.1} ms, {}", mebibytes(memory[index])),
            &format!("≤ +{most} ms, {}", mebibytes(*bytes)),
            Some(more <= *most && memory[index] <= *bytes),
        );
    }
}

pub(crate) fn long_flush(table: &mut Table, rounds: usize) {
    const WHOLE: u64 = 20 << 20;
    const FRESH: usize = 100 << 10;
    println!("\nmemory-flush of a transcript of 20 MB, of which 100 KB are new");
    let home = Home::new();
    let project = home.project("long");
    let session = Session::new(&home, &project, &session_id(1));
    std::fs::create_dir_all(session.path.parent().expect("a folder")).expect("create the folder");
    let mut file = BufWriter::new(File::create(&session.path).expect("create the transcript"));
    bulk::long_transcript(&mut file, &project, session.id(), WHOLE, 1).expect("write the transcript");
    drop(file);
    drop(home.run([OsStr::new("ingest"), session.path.as_os_str()]).success());

    let payload = session.payload("PreCompact", &json!({"trigger": "auto", "custom_instructions": null}));
    let hooks = [("PreCompact, hook memory-flush", &["memory-flush"][..], &payload)];
    // Another transcript continues the same file, so its uuids must be new.
    let mut more = tests::transcript::Transcript::new(&session_id(2), &project);
    let mut dice = Dice::new(2);
    let compared = Floor::find().compare(&home, &hooks, rounds, || {
        let before = more.text().len();
        while more.text().len() - before < FRESH {
            bulk::turn(&mut more, &mut dice);
            more.noise(6_000);
        }
        more.append_to(&session.path);
    });
    compared.print(table, LONG_FLUSH);
    let (bytes, _) = measure::peak(&home.command(["hook", "memory-flush"]), payload.to_string().into_bytes());
    table.row("its memory", &mebibytes(bytes), "", None);
}
