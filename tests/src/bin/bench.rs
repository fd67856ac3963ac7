//! How long the hooks take, as the user feels it: whole processes, next to `sqlite3` and `node` on the same machine at the
//! same time. How fast existing transcripts are read, and how much memory that takes.
//!
//! `cargo run --release -p tests --bin bench` after `cargo build --release`; `--smoke` only shows that everything runs.

use std::ffi::OsStr;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};
use tests::bulk::{self, Dice};
use tests::cited::CitedProject;
use tests::commits;
use tests::guest;
use tests::home::Home;
use tests::measure::{self, median, milliseconds};
use tests::process;
use tests::session::Session;
use tests::transcript::session_id;

/// Hooks against the floor: at most so many times the wall time of `sqlite3 FILE 'select 1'` …
const MAX_RATIO_TO_SQLITE: f64 = 6.0;
/// … at most this part of `node -e 1` …
const MAX_RATIO_TO_NODE: f64 = 0.1;
/// … and at most so many bytes.
const MAX_HOOK_BYTES: u64 = 32 << 20;
/// A flush of a long transcript may take so many times as long as the limit of the others.
const LONG_FLUSH: f64 = 2.0;
/// What a hook inside the agent's loop may take of the same, and its memory; of a payload of 5 MB, milliseconds and memory.
const MAX_RATIO_TO_SQLITE_IN_LOOP: f64 = 4.0;
const MAX_LOOP_BYTES: u64 = 16 << 20;
const MAX_LARGE: Duration = Duration::from_millis(40);
const MAX_LARGE_BYTES: u64 = 48 << 20;
/// What a prompt's search may take of `sqlite3` among 100,000 memories of its project.
const MAX_RATIO_TO_SQLITE_SEARCH: f64 = 10.0;
/// The slowest of a hundred hooks while 16 sessions work side by side, or 64 hooks of one at once.
const MAX_UNDER_LOAD: Duration = Duration::from_millis(100);
/// Limits after a session of 10,000 tool calls: the size of the journal and the database, and the context of a prompt and
/// of the next start.
const MAX_JOURNAL_BYTES: u64 = 32 << 20;
const MAX_DATABASE_BYTES: u64 = 64 << 20;
const MAX_CONTEXT_UNITS: usize = 9_500;
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
/// What looking for the files that memories are about may add to a hook, milliseconds, and what remembering how they were may
/// add to the time of a reading.
const MAX_CHECKS_MS: f64 = 1.0;
const MAX_ANCHORS_SHARE: f64 = 0.1;
/// How long reading a history of [`COMMITS`] commits may take.
const MAX_HISTORY: Duration = Duration::from_mins(1);
const COMMITS: u32 = 100_000;
/// Transcript bytes a second that `ingest` reads on one core.
const LEAST_INGEST_RATE: f64 = 100e6;
/// The time of the policy's extraction natively, as a share of its time in the sandbox.
const LEAST_GUEST_SPEED: f64 = 0.8;
/// Memory of `ingest` however long the transcript is.
const MAX_INGEST_BYTES: u64 = 64 << 20;

#[derive(Parser)]
#[command(about = "Measures the hooks and the ingestion of the built `throughline`")]
struct Arguments {
    /// Few rounds and small inputs; the exit code does not tell of the limits.
    #[arg(long)]
    smoke: bool,
    /// Rounds that medians are taken of.
    #[arg(long)]
    rounds: Option<usize>,
    /// MiB of the transcript whose ingestion's memory is measured.
    #[arg(long)]
    long_mib: Option<u64>,
    /// A folder of real transcripts for the rate of ingestion, instead of generated ones.
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Only this part; may be repeated.
    #[arg(long, value_parser = PossibleValuesParser::new(PARTS))]
    only: Vec<String>,
}

/// The parts, in their order.
const PARTS: [&str; 14] = [
    "hooks",
    "loop",
    "at-once",
    "load",
    "long-session",
    "policies",
    "flush",
    "startup",
    "prompt",
    "cited-files",
    "history",
    "ingest",
    "guest",
    "ingest-memory",
];

/// The results, printed as they come.
struct Table {
    failed: usize,
}

impl Table {
    fn row(&mut self, what: &str, value: &str, limit: &str, kept: Option<bool>) {
        let verdict = match kept {
            Some(true) => "ok",
            Some(false) => {
                self.failed += 1;
                "MISSED"
            }
            None => "",
        };
        println!("{what:<46} {value:>30} {limit:>26} {verdict}");
    }
}

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == measure::PEAK_WORD) {
        measure::stand_between(std::env::args_os().skip(2));
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::parse();
    let rounds = arguments.rounds.unwrap_or(if arguments.smoke { 5 } else { 41 });
    let mut table = Table { failed: 0 };
    println!("{}", process::throughline().display());
    for part in PARTS.into_iter().filter(|part| arguments.only.is_empty() || arguments.only.iter().any(|it| it == part)) {
        measure_part(&mut table, part, rounds, &arguments);
    }
    if table.failed == 0 {
        println!("all limits are kept");
    } else {
        println!("{} limits are missed", table.failed);
    }
    if table.failed == 0 || arguments.smoke { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn measure_part(table: &mut Table, part: &str, rounds: usize, arguments: &Arguments) {
    let smoke = arguments.smoke;
    match part {
        "hooks" => hooks(table, rounds),
        "loop" => in_the_loop(table, rounds),
        "at-once" => at_once(table, rounds.min(15)),
        "load" => side_by_side(table, Duration::from_secs(if smoke { 3 } else { 60 })),
        "long-session" => a_long_session(table, if smoke { 300 } else { 10_000 }),
        "policies" => policies(table, rounds),
        "flush" => long_flush(table, rounds),
        "startup" => many_memories(table, rounds, smoke),
        "prompt" => search_among_many(table, rounds, smoke),
        "cited-files" => cited_files(table, rounds, smoke),
        "history" => history(table, if smoke { 1_000 } else { COMMITS }),
        "ingest" => ingest_rate(table, arguments.corpus.as_deref(), smoke),
        "guest" => guest(table, arguments.corpus.as_deref(), smoke),
        "ingest-memory" => ingest_memory(table, arguments.long_mib.unwrap_or(if smoke { 50 } else { 1024 })),
        other => unreachable!("{other} is not one of the parts"),
    }
}

/// The two programs that every machine has felt.
struct Floor {
    sqlite: Option<PathBuf>,
    node: Option<PathBuf>,
}

/// The medians of one comparison.
struct Compared {
    hooks: Vec<(&'static str, Duration)>,
    sqlite: Option<Duration>,
    node: Option<Duration>,
}

impl Floor {
    fn find() -> Self {
        let find = |name: &str| {
            let path = process::which(name);
            if path.is_none() {
                tests::skip(&format!("the comparison with {name}"), "it is not installed");
            }
            path
        };
        Self { sqlite: find("sqlite3"), node: find("node") }
    }

    /// Takes the hooks and the floor in turn, so that whatever else the machine does meets all alike. `prepare` runs
    /// before each round and is not measured.
    fn compare(
        &self,
        home: &Home,
        hooks: &[(&'static str, &[&str], &Value)],
        rounds: usize,
        mut prepare: impl FnMut(),
    ) -> Compared {
        let mut times = vec![Vec::new(); hooks.len()];
        let (mut sqlite, mut node) = (Vec::new(), Vec::new());
        // The first rounds warm the caches.
        for round in 0..rounds + 2 {
            prepare();
            let keep = |times: &mut Vec<Duration>, time| {
                if round >= 2 {
                    times.push(time);
                }
            };
            for ((_, name, payload), times) in hooks.iter().zip(&mut times) {
                let command = home.command(["hook"].iter().chain(*name));
                keep(times, measure::time(command, payload.to_string().as_bytes()));
            }
            if let Some(program) = &self.sqlite {
                let mut command = home.isolated(program);
                command.arg(home.database()).arg("select 1");
                keep(&mut sqlite, measure::time(command, b""));
            }
            if let Some(program) = &self.node {
                let mut command = home.isolated(program);
                command.args(["-e", "1"]);
                keep(&mut node, measure::time(command, b""));
            }
        }
        let some = |times: &mut Vec<Duration>| (!times.is_empty()).then(|| median(times));
        Compared {
            hooks: hooks.iter().zip(&mut times).map(|((what, ..), times)| (*what, median(times))).collect(),
            sqlite: some(&mut sqlite),
            node: some(&mut node),
        }
    }
}

impl Compared {
    /// One row a hook; `allowance` lifts the limits.
    fn print(&self, table: &mut Table, allowance: f64) {
        for (what, time) in &self.hooks {
            let ratio = |floor: Option<Duration>| floor.map(|floor| time.as_secs_f64() / floor.as_secs_f64());
            let (sqlite, node) = (ratio(self.sqlite), ratio(self.node));
            let shown = |ratio: Option<f64>| ratio.map_or("?".to_owned(), |ratio| format!("{ratio:.2}"));
            let kept = sqlite.map(|ratio| ratio <= MAX_RATIO_TO_SQLITE * allowance);
            let kept = match (kept, node.map(|ratio| ratio <= MAX_RATIO_TO_NODE * allowance)) {
                (Some(a), Some(b)) => Some(a && b),
                (a, b) => a.or(b),
            };
            table.row(
                what,
                &format!("{:.1} ms, {}, {}", milliseconds(*time), shown(sqlite), shown(node)),
                &format!("≤ {} sqlite3, {} node", MAX_RATIO_TO_SQLITE * allowance, MAX_RATIO_TO_NODE * allowance),
                kept,
            );
        }
    }

    /// One row a hook, against `sqlite3` alone.
    fn print_within(&self, table: &mut Table, most: f64) {
        for (what, time) in &self.hooks {
            let ratio = self.sqlite.map(|floor| time.as_secs_f64() / floor.as_secs_f64());
            let shown = ratio.map_or("?".to_owned(), |ratio| format!("{ratio:.2}"));
            let kept = ratio.map(|ratio| ratio <= most);
            table.row(what, &format!("{:.1} ms, {shown}", milliseconds(*time)), &format!("≤ {most} sqlite3"), kept);
        }
    }

    fn print_floor(&self, table: &mut Table) {
        for (what, time) in [("sqlite3 FILE 'select 1'", self.sqlite), ("node -e 1", self.node)] {
            if let Some(time) = time {
                table.row(what, &format!("{:.1} ms", milliseconds(time)), "", None);
            }
        }
    }
}

/// A session as large as one of a single prompt is with the real client: what is sent along dwarfs what is said.
fn ordinary<'home>(home: &'home Home, project: &Path, number: u64) -> Session<'home> {
    let mut session = Session::new(home, project, &session_id(number));
    session
        .transcript
        .noise(57_000)
        .noise(38_000)
        .user("Write a greeting file and run the check")
        .says("I will write the file.")
        .writes("out.txt", "hello\n")
        .bash_fails("ls nope", 2, "ls: cannot access 'nope'")
        .noise(40_000)
        .answer("The file is written; the check fails because `nope` does not exist.");
    session
}

fn every_payload(session: &Session<'_>) -> Vec<(&'static str, &'static [&'static str], Value)> {
    vec![
        ("SessionStart, hook memory-load", &["memory-load"], session.payload("SessionStart", &json!({"source": "startup"}))),
        ("SessionStart, hook", &[], session.payload("SessionStart", &json!({"source": "startup"}))),
        (
            "PreCompact, hook memory-flush",
            &["memory-flush"],
            session.payload("PreCompact", &json!({"trigger": "manual", "custom_instructions": "keep things"})),
        ),
        (
            "PostCompact, hook",
            &[],
            session.payload(
                "PostCompact",
                &json!({"trigger": "manual", "compact_summary": "<analysis>x</analysis><summary>We wrote a file.</summary>"}),
            ),
        ),
        (
            "Stop, hook memory-complete",
            &["memory-complete"],
            session.payload(
                "Stop",
                &json!({"permission_mode": "default", "stop_hook_active": false, "last_assistant_message": "Hello!",
                    "background_tasks": [], "session_crons": []}),
            ),
        ),
        ("SessionEnd, hook memory-save", &["memory-save"], session.payload("SessionEnd", &json!({"reason": "other"}))),
    ]
}

/// The use of a tool, as the client reports it.
fn tool_use(session: &Session<'_>, number: u64, stdout: &str) -> Value {
    session.use_of(
        &format!("toolu_{number}"),
        "Bash",
        &json!({"command": format!("make target{}", number % 50), "description": "Make it"}),
        &json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false}),
    )
}

/// What runs after each use of a tool and before each prompt is answered.
fn in_the_loop(table: &mut Table, rounds: usize) {
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

/// So many hooks of one session in the same instant.
fn at_once(table: &mut Table, rounds: usize) {
    const HOOKS: u64 = 64;
    println!("\n{HOOKS} hooks of one session started at once");
    let home = Home::new();
    let project = home.project("burst");
    let session = Session::new(&home, &project, &session_id(1));
    measure::time(
        home.command(["hook"]),
        session.payload("SessionStart", &json!({"source": "startup"})).to_string().as_bytes(),
    );
    let mut slowest: Vec<Duration> = (0..u64::try_from(rounds).unwrap_or(1))
        .map(|round| {
            let payloads: Vec<String> =
                (0..HOOKS).map(|number| tool_use(&session, round * HOOKS + number, "made\n").to_string()).collect();
            std::thread::scope(|scope| {
                let threads: Vec<_> = payloads
                    .iter()
                    .map(|payload| scope.spawn(|| measure::time(home.command(["hook"]), payload.as_bytes())))
                    .collect();
                threads.into_iter().map(|thread| thread.join().expect("no thread panics")).max().unwrap_or_default()
            })
        })
        .collect();
    let time = median(&mut slowest);
    table.row(
        &format!("the last of them, a median of {rounds} times"),
        &format!("{:.1} ms", milliseconds(time)),
        &format!("≤ {:.0} ms", milliseconds(MAX_UNDER_LOAD)),
        Some(time <= MAX_UNDER_LOAD),
    );
}

/// 16 sessions at work at once: each prompts, uses tools and stops, again and again. Nothing may be lost or come twice.
fn side_by_side(table: &mut Table, time: Duration) {
    const SESSIONS: u64 = 16;
    /// Between two hooks of a session: a model takes ten times as long.
    const THINKING: Duration = Duration::from_millis(100);
    println!("\n{SESSIONS} sessions side by side for {} s", time.as_secs());
    let home = Home::new();
    let project = home.project("busy");
    let until = std::time::Instant::now() + time;
    let worked: Vec<(u64, Vec<Duration>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=SESSIONS)
            .map(|number| {
                let (home, project) = (&home, &project);
                scope.spawn(move || {
                    let mut session = Session::new(home, project, &session_id(number));
                    let mut times = Vec::new();
                    let mut uses = 0;
                    let run = |payload: &Value| {
                        std::thread::sleep(THINKING);
                        measure::time(home.command(["hook"]), payload.to_string().as_bytes())
                    };
                    times.push(run(&session.payload("SessionStart", &json!({"source": "startup"}))));
                    while std::time::Instant::now() < until {
                        let prompt = format!("Make target {uses} of part {number}");
                        times.push(run(&session.payload("UserPromptSubmit", &json!({"prompt": prompt}))));
                        session.transcript.user(&prompt);
                        for _ in 0..5 {
                            uses += 1;
                            times.push(run(&tool_use(&session, uses, "made\n")));
                        }
                        session.transcript.answer("Made.").append_to(&session.path);
                        let stop = json!({"stop_hook_active": false, "last_assistant_message": "Made."});
                        times.push(run(&session.payload("Stop", &stop)));
                    }
                    times.push(run(&session.payload("SessionEnd", &json!({"reason": "other"}))));
                    (uses, times)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    let uses: u64 = worked.iter().map(|(uses, _)| uses).sum();
    let mut times: Vec<Duration> = worked.into_iter().flat_map(|(_, times)| times).collect();
    times.sort_unstable();
    let slow = times[times.len() * 99 / 100];
    let limit = format!("p99 ≤ {:.0} ms", milliseconds(MAX_UNDER_LOAD));
    table.row(
        &format!("{} hooks: median {:.1} ms", times.len(), milliseconds(times[times.len() / 2])),
        &format!("p99 {:.1} ms, longest {:.1} ms", milliseconds(slow), milliseconds(times[times.len() - 1])),
        &limit,
        Some(slow <= MAX_UNDER_LOAD),
    );
    let stored = || {
        let query = "SELECT COALESCE(sum(times), 0) FROM events WHERE event_type = 'tool_observation'";
        u64::try_from(tests::database::number(&home.database(), query)).unwrap_or(0)
    };
    // A checkpoint's own process may still be at it.
    for _ in 0..100 {
        if stored() == uses {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let locked = home.log().matches("locked").count();
    table.row(
        &format!("{uses} uses of tools"),
        &format!("{} stored, {locked} times \"locked\"", stored()),
        "all, never",
        Some(stored() == uses && locked == 0),
    );
}

/// A session that never seems to end: as large as outputs get, and few ends of turns.
fn a_long_session(table: &mut Table, uses: u64) {
    const TURN: u64 = 1_000;
    println!("\na session of {uses} uses of tools");
    let home = Home::new();
    let project = home.project("endless");
    let mut session = Session::new(&home, &project, &session_id(1));
    let mut dice = Dice::new(7);
    let journal = home.data().join("journal").join(format!("{}.jsonl", session.id()));
    let mut longest = 0;
    for number in 1..=uses {
        let lines: Vec<String> = (0..400).map(|_| format!("{:x} was looked at and found good", dice.roll())).collect();
        measure::time(home.command(["hook"]), tool_use(&session, number, &lines.join("\n")).to_string().as_bytes());
        longest = longest.max(std::fs::metadata(&journal).map_or(0, |meta| meta.len()));
        if number % TURN == 0 || number == uses {
            session.transcript.user("Go on").answer("I go on.").append_to(&session.path);
            let stop = json!({"stop_hook_active": false, "last_assistant_message": "I go on."});
            measure::time(home.command(["hook"]), session.payload("Stop", &stop).to_string().as_bytes());
        }
    }
    drop(home.run(["observations", "gc"]).success());
    let bytes: u64 = ["throughline.db", "throughline.db-wal"]
        .iter()
        .map(|name| std::fs::metadata(home.data().join(name)).map_or(0, |meta| meta.len()))
        .sum();
    let told = Session::new(&home, &project, &session_id(2)).start("startup");
    let units = told.context.unwrap_or_default().encode_utf16().count();
    let size = |bytes: u64, most: u64| (mebibytes(bytes), format!("≤ {}", mebibytes(most)), Some(bytes <= most));
    for (what, (value, limit, kept)) in [
        ("its journal, at most", size(longest, MAX_JOURNAL_BYTES)),
        ("database and WAL", size(bytes, MAX_DATABASE_BYTES)),
        (
            "what the next session is told",
            (format!("{units} units"), format!("≤ {MAX_CONTEXT_UNITS} units"), Some(units <= MAX_CONTEXT_UNITS)),
        ),
    ] {
        table.row(what, &value, &limit, kept);
    }
}

fn borrowed<'a>(
    payloads: &'a [(&'static str, &'static [&'static str], Value)],
) -> Vec<(&'static str, &'a [&'a str], &'a Value)> {
    payloads.iter().map(|(what, name, payload)| (*what, *name, payload)).collect()
}

fn hooks(table: &mut Table, rounds: usize) {
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
fn policies(table: &mut Table, rounds: usize) {
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

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", {
        #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
        let bytes = bytes as f64;
        bytes / 1_048_576.0
    })
}

fn long_flush(table: &mut Table, rounds: usize) {
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

fn many_memories(table: &mut Table, rounds: usize, smoke: bool) {
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
fn search_among_many(table: &mut Table, rounds: usize, smoke: bool) {
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
fn cited_files(table: &mut Table, rounds: usize, smoke: bool) {
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

/// How long a repository's history takes to read.
fn history(table: &mut Table, commits: u32) {
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
fn on_one_core(command: Command) -> Command {
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

fn ingest_rate(table: &mut Table, corpus: Option<&Path>, smoke: bool) {
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
fn guest(table: &mut Table, corpus: Option<&Path>, smoke: bool) {
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

fn ingest_memory(table: &mut Table, mib: u64) {
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
