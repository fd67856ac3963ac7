//! A fuzzer of the whole way from hooks to disk: random sessions with planted secrets go through all hooks, and their transcripts
//! through `ingest` in another home. Then every byte of both homes is searched for the secrets, in every form.
//!
//! It runs for a few seconds. `THROUGHLINE_FUZZ_SECONDS=3600` lets it run for an hour, and `THROUGHLINE_FUZZ_SEED` repeats a run.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aho_corasick::AhoCorasick;
use serde_json::json;
use tests::env_number;
use tests::home::Home;
use tests::session::Session;
use tests::transcript::session_id;

use crate::canary::{ALNUM, Chance, escaped, forms, percent, shaped};

/// How long it runs unless the variable says otherwise, in seconds, and the seed of the first session.
const SECONDS: u64 = 15;
const SEED: u64 = 0x5eed_0000_0000_0001;

/// The shortest part of a secret that counts as the secret.
const MIN_PART: usize = 12;

/// Words around the secrets.
const WORDS: [&str; 12] =
    ["deploy", "the", "staging", "server", "fails", "because", "of", "a", "timeout", "수정", "設定", "retry"];

struct Planter<'a> {
    chance: &'a mut Chance,
    secrets: Vec<String>,
    /// Values that only their variable's name gives away.
    values: Vec<String>,
}

impl Planter<'_> {
    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.chance.next()).unwrap_or(0) % most
    }

    fn words(&mut self) -> String {
        let count = 1 + self.below(6);
        (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
    }

    /// A text with a secret in it, encoded or split as secrets are in the texts of tools.
    fn text(&mut self) -> String {
        let (before, after) = (self.words(), self.words());
        if self.below(3) == 0 {
            return format!("{before}. {after}");
        }
        let planted = if self.below(3) == 0 {
            let number = self.below(self.values.len());
            let value = self.values[number].clone();
            match self.below(4) {
                0 => percent(&value),
                1 => escaped(&value),
                2 => value.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")),
                _ => value,
            }
        } else {
            let kind = self.below(6);
            let (secret, text) = shaped(self.chance, kind);
            self.secrets.push(secret.clone());
            match self.below(6) {
                // Colours and invisible characters inside of it.
                0 => text.replace(&secret, &format!("{}\u{1b}[0m{}", &secret[..9], &secret[9..])),
                1 => text.replace(&secret, &format!("{}\u{200b}{}", &secret[..9], &secret[9..])),
                2 => json!({"text": text}).to_string(),
                3 => format!("{}{text}", "padding ".repeat(self.below(400))),
                _ => text,
            }
        };
        format!("{before} {planted} {after}")
    }
}

/// One session with everything that a session has.
fn run_session(home: &Home, project: &Path, number: u64, planter: &mut Planter<'_>) -> Vec<String> {
    let mut session = Session::new(home, project, &session_id(number));
    let mut told: Vec<String> = session.start("startup").context.into_iter().collect();
    for round in 0..2 + planter.below(4) {
        let id = |name: &str| format!("{name}-{number}-{round}");
        for _ in 0..=planter.below(4) {
            let (one, other) = (planter.text(), planter.text());
            match planter.below(9) {
                0 => drop(session.transcript.user(&one)),
                1 => drop(session.transcript.says(&one)),
                2 => drop(session.transcript.bash(&one, &other)),
                3 => drop(session.transcript.bash_fails(&one, 1, &other)),
                4 => drop(session.transcript.edits("src/a.rs", &one, &other)),
                5 => drop(session.transcript.writes("conf/a.txt", &one)),
                6 => drop(session.transcript.asks(&one, &[&other, "none"], "none")),
                7 => drop(session.transcript.todo(&[(&one, "pending"), (&other, "completed")])),
                _ => drop(session.transcript.tool(
                    "mcp__vault__read",
                    &json!({"path": one}),
                    &other,
                    &json!({"value": other}),
                )),
            }
        }
        told.extend(session.prompt(&planter.text()).context);
        let (command, output) = (planter.text(), planter.text());
        session.ran(&id("ran"), &command, &output);
        let failing = planter.text();
        for again in 0..2 {
            let error = format!("Exit code 2\nerror: {}", planter.text());
            told.extend(session.failed(&id(&format!("failed{again}")), &failing, &error).context);
        }
        session.edited(&id("edited"), &project.join("src/a.rs"), &planter.text(), &planter.text());
        let (kind, result) = (planter.text(), planter.text());
        session.silent(
            "SubagentStop",
            &json!({"agent_id": id("agent"), "agent_type": kind, "last_assistant_message": result, "stop_hook_active": false,
                "agent_transcript_path": "/nowhere.jsonl"}),
        );
        if planter.below(2) == 0 {
            let (error, message) = (planter.text(), planter.text());
            session
                .silent("StopFailure", &json!({"error": error, "error_details": error, "last_assistant_message": message}));
        }
        let answer = planter.text();
        session.transcript.answer(&answer);
        session.stop(&answer);
        if planter.below(4) == 0 {
            session.pre_compact();
            let summary = planter.text();
            session.transcript.compacts(&summary);
            session.post_compact(&summary);
        }
    }
    session.end();
    told
}

#[test]
fn attack_random_sessions_with_planted_secrets() {
    let until = Instant::now() + Duration::from_secs(env_number("THROUGHLINE_FUZZ_SECONDS", SECONDS));
    let mut seed = env_number("THROUGHLINE_FUZZ_SEED", SEED);
    let mut planted = 0;
    while planted == 0 || Instant::now() < until {
        planted += run_home(seed);
        seed += 1;
    }
    eprintln!("{planted} secrets were planted, and none was found");
    assert!(planted > 0);
}

/// Runs two sessions in a home of its own, reads their transcripts in another one, and returns how many secrets were planted.
fn run_home(seed: u64) -> usize {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let values: Vec<String> =
        (0..4).map(|_| format!("{}&{}%{}", chance.text(ALNUM, 7), chance.text(ALNUM, 6), chance.text(ALNUM, 5))).collect();
    let (home, project) = home_with(&values);
    let mut planter = Planter { chance: &mut chance, secrets: Vec::new(), values: values.clone() };
    let mut told = run_session(&home, &project, 1, &mut planter);
    told.extend(run_session(&home, &project, 2, &mut planter));
    let secrets = [planter.secrets, values.clone()].concat();

    // The same transcripts, of which no hook told this home anything.
    let (other, folder) = home_with(&values);
    for number in 1..=2 {
        let from = Session::new(&home, &project, &session_id(number)).path;
        let to = Session::new(&other, &folder, &session_id(number)).path;
        let text = std::fs::read_to_string(from).expect("the transcript");
        let (ours, theirs) = (home.path().to_string_lossy(), other.path().to_string_lossy());
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("create");
        std::fs::write(to, text.replace(&*ours, &theirs)).expect("write");
    }
    for (way, home, told) in [("hooks", &home, told), ("ingest", &other, Vec::new())] {
        drop(home.run(["ingest"]).success());
        let context = format!("THROUGHLINE_FUZZ_SEED={seed}, through {way}");
        assert!(!home.memories().is_empty(), "{context}: nothing is remembered");
        assert_planted_nowhere(&context, home, told, &secrets);
    }
    secrets.len()
}

/// A home and a project in it. The values are in its environment and in the project's `.env` file.
fn home_with(values: &[String]) -> (Home, PathBuf) {
    let mut home = Home::new();
    let project = home.project("shop");
    home.set("SERVICE_SECRET", &values[0]);
    home.set("OTHER_TOKEN", &values[1]);
    std::fs::write(project.join(".env"), format!("A_TOKEN='{}'\nB_PASSWORD='{}'\n", values[2], values[3])).expect("write");
    (home, project)
}

/// Searches every file of the home, what was told and what is printed for the secrets and for parts of them.
fn assert_planted_nowhere(context: &str, home: &Home, told: Vec<String>, secrets: &[String]) {
    let events = home.run(["observations", "search", "--all-projects", "--limit", "1000", "--json"]).success().stdout;
    let mut files: Vec<(PathBuf, Vec<u8>)> = home.files();
    assert!(files.iter().any(|(path, _)| path.ends_with("throughline.db")), "{context}");
    files.extend(told.into_iter().map(|told| ("what was told".into(), told.into_bytes())));
    files.push(("what was printed".into(), events.into_bytes()));
    let mut needles: Vec<(&String, String)> = Vec::new();
    for secret in secrets {
        needles.extend(forms(secret).into_iter().map(|form| (secret, form)));
        // What was split: a part that no other text has.
        let parts = [secret.get(..MIN_PART), secret.get(secret.len().saturating_sub(MIN_PART)..)];
        needles
            .extend(parts.into_iter().flatten().filter(|part| part.len() == MIN_PART).map(|part| (secret, part.to_owned())));
    }
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(needles.iter().map(|(_, form)| form))
        .expect("an automaton");
    for (path, bytes) in &files {
        if let Some(found) = automaton.find(bytes) {
            let (secret, form) = &needles[found.pattern().as_usize()];
            let around =
                String::from_utf8_lossy(&bytes[found.start().saturating_sub(80)..(found.end() + 40).min(bytes.len())]);
            panic!("{context}: {secret} as {form} in {}: {around:?}", path.display());
        }
    }
}
