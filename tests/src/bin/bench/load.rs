//! Many hooks at once, many sessions side by side, and a session that never seems to end.

use std::time::Duration;

use serde_json::{Value, json};
use tests::bulk::Dice;
use tests::home::Home;
use tests::measure::{self, median, milliseconds};
use tests::session::Session;
use tests::transcript::session_id;

use crate::sessions::tool_use;
use crate::table::{Table, mebibytes};

/// The slowest of a hundred hooks while 16 sessions work side by side, or 64 hooks of one at once.
const MAX_UNDER_LOAD: Duration = Duration::from_millis(100);

/// Limits after a session of 10,000 tool calls: the size of the journal and the database, and the context of a prompt and
/// of the next start.
const MAX_JOURNAL_BYTES: u64 = 32 << 20;
const MAX_DATABASE_BYTES: u64 = 64 << 20;
const MAX_CONTEXT_UNITS: usize = 9_500;

/// So many hooks of one session in the same instant.
pub(crate) fn at_once(table: &mut Table, rounds: usize) {
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
pub(crate) fn side_by_side(table: &mut Table, time: Duration) {
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
pub(crate) fn a_long_session(table: &mut Table, uses: u64) {
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
