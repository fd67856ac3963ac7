//! `kill -9` at random moments of flush and save: the database stays sound, and in the end everything is remembered exactly
//! as if nothing had happened.
//!
//! `THROUGHLINE_CRASHES` says how often (60 unless set; CI sets 500), `THROUGHLINE_CRASH_SEED` which moments.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::bulk::{self, Dice};
use tests::database::{self, Memory};
use tests::home::Home;
use tests::process;
use tests::session::Session;
use tests::transcript::session_id;
use tests::turns;

const SESSIONS: u64 = 6;

fn sessions<'home>(home: &'home Home, project: &Path) -> Vec<Session<'home>> {
    (0..SESSIONS).map(|number| Session::new(home, project, &session_id(number))).collect()
}

/// One of the hooks that write, as a payload.
fn payload(session: &Session<'_>, kind: u64) -> Value {
    match kind {
        0 => session.payload("Stop", &json!({"stop_hook_active": false, "last_assistant_message": "Done."})),
        1 => session.payload("PreCompact", &json!({"trigger": "auto", "custom_instructions": ""})),
        _ => session.payload("SessionEnd", &json!({"reason": "other"})),
    }
}

/// Runs the hook and kills it after the delay; says whether it was still running.
fn killed_after(home: &Home, payload: &Value, delay: Duration) -> bool {
    let mut child = home
        .command(["hook"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start the hook");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin.write_all(payload.to_string().as_bytes()).expect("it fits into the pipe");
    drop(stdin);
    std::thread::sleep(delay);
    process::kill_now(child.id());
    child.wait().expect("wait").code().is_none()
}

/// Lets every session stop and end in peace, and gives what is then remembered.
fn in_the_end(home: &Home, sessions: &mut [Session<'_>]) -> Vec<Memory> {
    for session in sessions {
        session.stop_before_it_is_written("Done.");
        session.end();
    }
    database::assert_sound(&home.database());
    home.memories()
}

#[test]
fn killed_at_any_moment_nothing_is_lost_and_nothing_doubled() {
    let _timed = turns::timed();
    let crashes = tests::env_number("THROUGHLINE_CRASHES", 60);
    let seed = tests::env_number("THROUGHLINE_CRASH_SEED", 20_261_121);
    println!("seed {seed}");
    let mut dice = Dice::new(seed);
    let home = Home::new();
    let project = home.project("crashing");
    let mut disturbed = sessions(&home, &project);

    // How long a hook takes undisturbed, here and now: the moments to choose from.
    let started = Instant::now();
    for session in &mut disturbed {
        bulk::turn(&mut session.transcript, &mut dice);
        session.stop("Done.");
    }
    let usual = started.elapsed() / u32::try_from(SESSIONS).expect("a handful");

    let mut hits = 0;
    for round in 0..crashes {
        let index = usize::try_from(dice.below(SESSIONS)).expect("a handful");
        let session = &mut disturbed[index];
        bulk::turn(&mut session.transcript, &mut dice);
        session.transcript.append_to(&session.path);
        let delay = usual.mul_f64(f64::from(u32::try_from(dice.below(1_000)).expect("small")) / 1_000.0);
        let payload = payload(session, dice.below(3));
        if killed_after(&home, &payload, delay) {
            hits += 1;
        }
        if round % 25 == 24 {
            database::assert_sound(&home.database());
        }
    }
    println!("{hits} of {crashes} hooks were killed while they ran, of usually {usual:?}");
    assert!(hits * 3 >= crashes, "too few were killed in the middle: {hits} of {crashes}");
    let survived = in_the_end(&home, &mut disturbed);

    // The same transcripts, read in peace by a program that knows nothing yet.
    std::fs::rename(home.data(), home.throughline().join("data-of-the-crashes")).expect("rename");
    let undisturbed = in_the_end(&home, &mut disturbed);
    assert!(!undisturbed.is_empty());
    let shown = |memories: &[Memory]| -> Vec<String> { memories.iter().map(|memory| format!("{memory:?}")).collect() };
    database::assert_same(&shown(&survived), &shown(&undisturbed), "what is remembered");
}
