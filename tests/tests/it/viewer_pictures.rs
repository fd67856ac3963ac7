//! The pictures of the viewer in `docs/images`: every page, light and dark, of a home in which an invented team works on a ferry company's
//! ticket service. With `UPDATE=1` they are copied there; without it the pages are only looked at for what sticks out.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::drop_in::DropIn;
use tests::home::Home;
use tests::process::{self, WATCHDOG};
use tests::session::Session;
use tests::transcript::{moment, session_id};
use tests::viewer::{Viewer, browser, drive};
use tests::wasm;

use crate::viewer::{import, memory};

/// A session: its prompt, a command that fails and what the error is, the file that is changed, and the answer.
struct Work {
    prompt: &'static str,
    command: &'static str,
    error: &'static str,
    file: &'static str,
    change: [&'static str; 2],
    answer: &'static str,
}

const WORKS: [Work; 4] = [
    Work {
        prompt: "Passengers with an accent in their name get a broken ticket. Please fix the PDF export. From now on always run the tests with `make test`.",
        command: "make test",
        error: "FAILED tests/test_ticket.py::test_accents - UnicodeEncodeError: 'latin-1' codec can't encode character '\\u0142' in position 7",
        file: "tickets/pdf.py",
        change: ["font = core_font(\"Helvetica\")", "font = embedded_font(\"NotoSans\")"],
        answer: "Tickets embed Noto Sans now, so every name can be printed. I decided to embed the font because the core fonts of PDF only know Latin-1. All 48 tests pass.",
    },
    Work {
        prompt: "The timetable of the night ferry is an hour off after the clocks change. Find out why.",
        command: "make test",
        error: "FAILED tests/test_timetable.py::test_night_of_the_change - AssertionError: assert '03:40' == '02:40'",
        file: "timetable/departures.py",
        change: ["start + timedelta(minutes=n)", "(start_utc + timedelta(minutes=n)).astimezone(port.zone)"],
        answer: "Departures are computed in UTC and shown in the port's zone. The old code added minutes to local times, which skips or repeats an hour in that night.",
    },
    Work {
        prompt: "Booking a cabin sometimes answers with 500 when two people take the last one. Make that a proper conflict.",
        command: "pytest tests/test_booking.py -k last_cabin",
        error: "psycopg.errors.SerializationFailure: could not serialize access due to concurrent update",
        file: "booking/cabins.py",
        change: ["with db.transaction():", "with db.transaction(retries=3):"],
        answer: "The second booking is tried again, sees that no cabin is left, and answers with 409. I decided against a table lock, because it would stop all other bookings of that ferry.",
    },
    Work {
        prompt: "Let the gate scanner work without a network for ten minutes.",
        command: "cargo test -p scanner offline",
        error: "thread 'offline::keeps_scans' panicked: the queue is lost when the process is killed",
        file: "scanner/src/queue.rs",
        change: ["let queue = VecDeque::new();", "let queue = Journal::open(&dir)?;"],
        answer: "Scans go to an append-only journal and are sent once the gate is online again. A scan that was not sent survives a restart.",
    },
];

/// What was learned over some weeks, with the day and who said it.
const LEARNED: [(&str, &str, &str, i64); 14] = [
    ("decision", "human", "Prices are integers in öre, never floating point numbers", 61),
    ("decision", "agreed", "Ports have a time zone of their own; departures are stored in UTC", 48),
    ("preference", "human", "Commit messages are in English and say why, not what", 44),
    ("learning", "agent", "The payment provider sends each webhook up to three times; `payment_id` makes it idempotent", 40),
    ("learning", "tool", "The staging database is restored from production every Monday at 04:00", 33),
    ("convention", "human", "Every table has `created_at` and `updated_at`, with time zone", 30),
    ("decision", "agreed", "Cabins are held for fifteen minutes while a passenger pays", 26),
    ("learning", "agent", "Old scanners send the ticket number without its check digit", 21),
    ("preference", "human", "Keep functions below forty lines; split them by what they decide", 17),
    ("decision", "agreed", "The gate scanner is written in Rust because its memory is small", 12),
    ("learning", "agent", "항구의 시간대는 여름과 겨울에 다르므로 출발 시각은 UTC로 저장한다", 9),
    ("learning", "agent", "フェリーの時刻表は港ごとの時間帯で表示し、保存はUTCで行う。", 6),
    ("learning", "tool", "The load test needs 400 connections, and the pool has 40", 4),
    ("convention", "human", "Feature flags are named after the ticket that removes them", 2),
];

/// Lets a session happen, and end.
fn work(home: &Home, project: &Path, number: u64, work: &Work) -> String {
    let mut session = Session::new(home, project, &session_id(number));
    // The transcript is of the hooks' time, so that no call is counted twice.
    session.transcript.at(&moment(0));
    let [old, new] = work.change;
    let file = project.join(work.file);
    let id = |n: u32| format!("toolu_{number}{n}");
    session.start("startup");
    session.prompt(work.prompt);
    session.failed(&id(1), work.command, work.error);
    session.ran(&id(2), &format!("rg -n '{}'", &old[..12]), &format!("{}:17: {old}", work.file));
    session.edited(&id(3), &file, old, new);
    session.ran(&id(4), work.command, "48 passed in 3.91s");
    session
        .transcript
        .user(work.prompt)
        .bash_fails(work.command, 1, work.error)
        .edits(work.file, old, new)
        .bash(work.command, "48 passed in 3.91s")
        .answer(work.answer);
    session.stop(work.answer);
    session.id().to_owned()
}

/// A home with some weeks of work, and what the pictures are of.
fn seed(home: &Home) -> Value {
    let (project, other) = (home.project("ferry"), home.project("harbour-map"));
    let day = |days: i64| moment(-24 * 3_600 * days);
    let lines: Vec<Value> = LEARNED
        .iter()
        .map(|(kind, who, text, days)| {
            json!({"project": project, "type": kind, "content": text, "said_by": who, "created_at": day(*days),
                "keywords": ["ferry"], "files": ["booking/cabins.py"]})
        })
        .collect();
    import(home, &lines);
    let token = format!("ghp_{}", "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xY3");
    let secrets = [(20, "deploy"), (20, "mirror"), (13, "map tiles"), (5, "deploy"), (1, "release")];
    let lines: Vec<Value> = secrets
        .iter()
        .enumerate()
        .map(|(n, (days, what))| {
            json!({"project": other, "type": "learning", "created_at": day(*days), "content": format!("Step {n} of the {what} job reads the token {token} from the vault")})
        })
        .collect();
    import(home, &lines);
    let note = |more: &[&str]| {
        let mut command = home.command([&["note", "add", "--json"], more].concat());
        command.current_dir(&project);
        let run = process::run(command, Vec::new(), WATCHDOG).success();
        serde_json::from_str::<Value>(&run.stdout).expect("JSON")["id"].as_str().expect("an identifier").to_owned()
    };
    let cause =
        note(&["--type", "root-cause", "--title", "The night ferry was an hour off", "Minutes were added to local times."]);
    let zones = note(&[
        "--type",
        "general",
        "--title",
        "How ports know their zone",
        "--related",
        &cause,
        "Each port names its IANA zone.",
    ]);
    let gate = note(&["--type", "general", "--title", "What a gate does without a network", "Scans wait in a journal."]);
    note(&[
        "--type",
        "general",
        "--title",
        "Runbook for the night of the change",
        "--related",
        &format!("{cause},{zones}"),
        "Watch the departures board.",
    ]);
    note(&["--type", "general", "--title", "Runbook for a broken gate", "--related", &gate, "Restart it; scans survive."]);
    let x = wasm::context_builder(&wasm::writes('x', 40));
    DropIn { stages: "context-builder = \"replace\"".into(), ..DropIn::redactor("short-page", x) }.install(home);

    let sessions: Vec<String> = (1..).zip(&WORKS).map(|(number, of)| work(home, &project, number, of)).collect();
    // What failed once fails again, in another session.
    work(home, &project, 9, &WORKS[1]);
    let map = Session::new(home, &other, &session_id(5));
    map.start("startup");
    map.prompt("Draw the new pier on the map");
    map.failed(
        "toolu_51",
        "npm run build",
        "error TS2345: Argument of type 'Pier | undefined' is not assignable to parameter of type 'Pier'",
    );
    let pinned = memory(home, &project, "decision", "integers in");
    let pinned = pinned["id"].as_str().expect("an id");
    home.json(["memory", "pin", "--json", pinned]);
    let held = memory(home, &project, "decision", "held for fifteen");
    let held = held["id"].as_str().expect("an id").to_owned();
    let later = home.json([
        "memory",
        "save",
        "--json",
        "--type",
        "decision",
        "--project",
        &project.to_string_lossy(),
        "--supersedes",
        &held,
        "Cabins are held for ten minutes while a passenger pays",
    ]);
    json!({"project": project, "session": sessions[2], "memory": held, "other": later["id"]})
}

#[test]
fn pictures_of_every_page() {
    let Some((chromium, modules)) = browser("pictures_of_every_page") else { return };
    let home = Home::new();
    let mut setup = seed(&home);
    let viewer = Viewer::start(&home, &["--write"]);
    let images = tempfile::tempdir().expect("a folder");
    for (name, value) in [
        ("writable", json!(viewer.address)),
        ("chromium", json!(chromium)),
        ("modules", json!(modules)),
        ("images", json!(images.path())),
    ] {
        setup[name] = value;
    }
    drive(&home, "pictures.mjs", &setup);
    let mut made: Vec<PathBuf> =
        std::fs::read_dir(images.path()).expect("pictures").map(|it| it.expect("an entry").path()).collect();
    made.sort();
    assert!(made.len() >= 24, "{made:?}");
    if tests::env_flag("UPDATE") {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/images");
        std::fs::create_dir_all(&folder).expect("create docs/images");
        for image in made {
            std::fs::copy(&image, folder.join(image.file_name().expect("a name"))).expect("copy a picture");
        }
    }
}
