//! Plants two hundred secrets in every part of a session. After a whole life cycle, no file that the program wrote contains any
//! of them in any form.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use aho_corasick::AhoCorasick;
use serde_json::json;
use tests::home::Home;
use tests::session::Session;
use tests::transcript::session_id;

/// Numbers that look like chance and are the same in every run (xorshift64*).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub(crate) fn text(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[usize::try_from(self.next()).unwrap_or(0) % alphabet.len()])).collect()
    }
}

pub(crate) const ALNUM: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// A secret that can be known by its shape: the secret alone, and how it stands in a text.
pub(crate) fn shaped(chance: &mut Chance, number: usize) -> (String, String) {
    match number % 6 {
        0 => {
            let secret = format!("ghp_{}", chance.text(ALNUM, 36));
            (secret.clone(), secret)
        }
        1 => {
            let secret = format!("AKIA{}", chance.text(UPPER, 16));
            (secret.clone(), secret)
        }
        2 => {
            let secret = format!("glpat-{}", chance.text(ALNUM, 20));
            (secret.clone(), secret)
        }
        3 => {
            let secret = chance.text(ALNUM, 24);
            (secret.clone(), format!("DB_PASSWORD={secret}"))
        }
        4 => {
            let secret = chance.text(ALNUM, 22);
            (secret.clone(), format!("postgres://app:{secret}@db.internal:5432/main"))
        }
        _ => {
            let secret = chance.text(ALNUM, 40);
            (secret.clone(), format!("Authorization: Bearer {secret}"))
        }
    }
}

pub(crate) fn percent(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

pub(crate) fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(*chunk.get(at).unwrap_or(&0)));
        out.extend((0..=chunk.len()).map(|at| char::from(ALPHABET[bits >> (18 - at * 6) & 63])));
    }
    out
}

pub(crate) fn escaped(text: &str) -> String {
    json!(text).to_string().trim_matches('"').to_owned()
}

/// All forms of a secret that no file may contain. For base64, the part that does not depend on the bytes around it.
pub(crate) fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned(), percent(secret), hex(secret), escaped(secret)];
    // JSON in JSON in JSON: a transcript's line adds the last layer.
    for layer in 3..5 {
        forms.push(escaped(&forms[layer]));
    }
    for before in 0..3 {
        let whole = base64(format!("{}{secret}", "-".repeat(before)).as_bytes());
        let begin = (before * 8).div_ceil(6);
        forms.push(whole[begin..whole.len() - 1].to_owned());
    }
    forms
}

/// Finds any of the texts, whatever the case of their letters, all at once: there are many, and the files are large.
pub(crate) fn finder<'a>(texts: impl IntoIterator<Item = &'a String>) -> AhoCorasick {
    AhoCorasick::builder().ascii_case_insensitive(true).build(texts).expect("an automaton")
}

/// What is looked for: secrets in all their forms.
pub(crate) struct Canaries<'a> {
    secrets: &'a [String],
    needles: Vec<(usize, String)>,
    automaton: AhoCorasick,
}

impl<'a> Canaries<'a> {
    pub(crate) fn new(secrets: &'a [String]) -> Self {
        let needles: Vec<(usize, String)> = secrets
            .iter()
            .enumerate()
            .flat_map(|(number, secret)| forms(secret).into_iter().map(move |form| (number, form)))
            .collect();
        let automaton = finder(needles.iter().map(|(_, form)| form));
        Self { secrets, needles, automaton }
    }

    /// Returns what stands in the bytes: the number of the secret, its form, and where.
    pub(crate) fn found_in(&self, bytes: &[u8]) -> impl Iterator<Item = (usize, &str, Range<usize>)> {
        self.automaton.find_overlapping_iter(bytes).map(|found| {
            let (number, form) = &self.needles[found.pattern().as_usize()];
            (*number, form.as_str(), found.range())
        })
    }

    /// Without this the test could not fail.
    #[track_caller]
    fn assert_planted(&self, transcript: &[u8]) {
        let mut planted: Vec<usize> = self.found_in(transcript).map(|(number, ..)| number).collect();
        planted.sort_unstable();
        planted.dedup();
        let missing: Vec<&String> =
            (0..200).filter(|number| !planted.contains(number)).map(|number| &self.secrets[number]).collect();
        assert!(missing.is_empty(), "not in the transcript: {missing:?}");
    }

    #[track_caller]
    fn assert_in_none(&self, files: Vec<(std::path::PathBuf, Vec<u8>)>) {
        let mut leaks = Vec::new();
        for (path, bytes) in files {
            for (number, form, place) in self.found_in(&bytes) {
                let from = place.start.saturating_sub(60);
                let around = String::from_utf8_lossy(&bytes[from..(place.end + 20).min(bytes.len())]).into_owned();
                leaks.push(format!("{number} as {form} in {}: {around:?}", path.display()));
            }
        }
        leaks.truncate(20);
        assert!(leaks.is_empty(), "{leaks:#?}");
    }
}

/// Forty that only their variable's name gives away, in the environment and in a file.
fn of_the_environment(home: &mut Home, project: &Path, chance: &mut Chance) -> Vec<String> {
    let mut values = Vec::new();
    let mut env_file = String::from("# local settings\n");
    for number in 0..40 {
        let secret = format!("{}&\"{}\\%{}", chance.text(ALNUM, 7), chance.text(ALNUM, 6), chance.text(ALNUM, 5));
        if number % 2 == 0 {
            home.set(&format!("SERVICE_{number}_SECRET"), &secret);
        } else {
            let _ = writeln!(env_file, "export SERVICE_{number}_TOKEN='{secret}'");
        }
        values.push(secret);
    }
    std::fs::write(project.join(".env"), env_file).expect("the file");
    values
}

/// The hook payloads of one round: a prompt, tools, a failure, a sub-agent, an answer that never came.
fn while_it_happens(home: &Home, session: &Session<'_>, round: usize, text: &str, value: &str) {
    drop(session.prompt(&format!("Deploy it. {text}")));
    session.ran(&format!("live-{round}"), &format!("deploy --note '{text}'"), &format!("{text}\n").repeat(40));
    drop(session.failed(&format!("fail-{round}"), &format!("check '{text}'"), &format!("Exit code 1\nerror: {text}")));
    session.edited(&format!("edit-{round}"), &home.work().join(format!("billing/conf/{value}.toml")), text, value);
    let more = json!({"agent_id": format!("a{round}"), "agent_type": "Explore", "last_assistant_message": text,
        "agent_transcript_path": "/nowhere.jsonl"});
    home.hook(&session.payload("SubagentStop", &more)).silent();
    if round % 5 == 4 {
        let gave_up = json!({"error": "overloaded", "last_assistant_message": text});
        home.hook(&session.payload("StopFailure", &gave_up)).silent();
    }
}

#[test]
fn two_hundred_secrets_reach_no_file() {
    let mut chance = Chance(0x5eed_cafe_f00d_1234);
    let mut home = Home::new();
    let project = home.project("billing");
    let mut secrets = Vec::new();

    let values = of_the_environment(&mut home, &project, &mut chance);

    // And as many as fill up two hundred that have a shape.
    let mut place = |secrets: &mut Vec<String>, shapes: usize| {
        let (secret, text) = shaped(&mut chance, secrets.len() % shapes);
        secrets.push(secret);
        text
    };
    let value = |number: usize, form: usize| {
        let value = &values[number % values.len()];
        match form % 6 {
            0 => value.clone(),
            1 => percent(value),
            2 => hex(value),
            3 => base64(format!("user:{value}").as_bytes()),
            4 => escaped(value),
            _ => escaped(&escaped(value)),
        }
    };
    let mut session = Session::new(&home, &project, &session_id(1));
    drop(session.start("startup"));
    // The text that only hooks receive.
    let mut told_live = String::new();
    for round in 0..14 {
        let t = &mut session.transcript;
        t.user(&format!("Always deploy with {} and never with {}", place(&mut secrets, 6), value(round, round)))
            .says(&format!("The cause is that {} was wrong: {}", place(&mut secrets, 6), value(round + 7, round + 1)))
            .bash(
                &format!("curl -H '{}' https://{}", place(&mut secrets, 6), value(round + 3, round + 5)),
                &format!("{}\nvalue {}", place(&mut secrets, 6), value(round + 1, round + 2)),
            )
            .bash_fails(
                &format!("deploy {}", value(round + 2, round + 3)),
                1,
                &format!("error: login with {} failed: {}", place(&mut secrets, 6), value(round, round + 4)),
            )
            .bash(&format!("deploy --with {}", place(&mut secrets, 6)), "done")
            .edits(&format!("src/{}.rs", place(&mut secrets, 6)), &place(&mut secrets, 6), &value(round + 4, round))
            .writes(&format!("conf/{}.txt", value(round, 2)), &place(&mut secrets, 6))
            .asks(&format!("Which token, {}?", value(round, 0)), &[&place(&mut secrets, 6), "none"], "none")
            .todo(&[(&format!("Rotate {}", value(round + 9, round)), "pending")]);
        let line = json!({"type": "user", "isSidechain": true, "agentId": "a1", "uuid": format!("side-{round}"), "sessionId": session_id(1),
            "cwd": project, "timestamp": "2025-06-02T10:00:00.000Z",
            "message": {"role": "user", "content": format!("sub-agent: use {}, {}, {} and {}", place(&mut secrets, 6), value(round, 0), value(round + 20, round), value(round + 30, 0))}});
        t.raw(&line.to_string());
        let answer = format!("Deployed. I decided to use {} because {} fails.", value(round, round), value(round + 1, 0));
        t.answer(&answer);
        // The same while it happens: a prompt, tools, a failure, a sub-agent, an answer that never came.
        let text = if round < 6 { format!("{answer} {}", place(&mut secrets, 6)) } else { answer.clone() };
        told_live.push_str(&text);
        while_it_happens(&home, &session, round, &text, &value(round + 5, round));
        if round == 7 {
            let noted = home.files();
            assert!(
                noted.iter().any(|(path, bytes)| path.ends_with(format!("{}.jsonl", session.id())) && !bytes.is_empty())
            );
            let known: Vec<String> = secrets.iter().chain(&values).cloned().collect();
            Canaries::new(&known).assert_in_none(noted);
        }
        session.stop_before_it_is_written(&answer);
        session.stop(&answer);
    }
    while secrets.len() < 160 {
        let text = place(&mut secrets, 6);
        session.transcript.user(&format!("Remember: {text}"));
    }
    // The transcript of a sub-agent is a separate file.
    let shaped: Vec<&str> =
        secrets.iter().enumerate().filter(|(number, _)| number % 6 < 3).map(|(_, secret)| secret.as_str()).collect();
    let agents = session.path.with_extension("").join("subagents");
    std::fs::create_dir_all(&agents).expect("the folder");
    let line = json!({"type": "user", "isSidechain": true, "agentId": "a2", "uuid": "agent", "sessionId": session_id(1), "cwd": project,
        "timestamp": "2025-06-02T10:00:00.000Z", "message": {"role": "user", "content": format!("Always use {}", shaped.join(" and "))}});
    std::fs::write(agents.join("agent-a2.jsonl"), format!("{line}\n")).expect("the file");
    session.pre_compact();
    let summary = format!("They deployed with {} and {}", value(1, 0), value(2, 4));
    session.transcript.compacts(&summary);
    session.post_compact(&summary);
    session.end();

    // What goes wrong is logged, with what it was about.
    let run = home.hook_with_input(&[&value(2, 0)], b"{}".to_vec());
    assert_eq!(run.code, Some(0));
    drop(home.hook(&json!({"session_id": "x", "hook_event_name": "Stop", "cwd": project, "transcript_path": format!("/nowhere/{}.jsonl", value(4, 0))})));
    let next = Session::new(&home, &project, &session_id(2)).start("startup");
    let told = next.said().to_owned();
    drop(home.run(["ingest"]).success());
    let found = home.run(["memory", "search", "deploy", "--all-projects", "--json"]).success().stdout;
    let events = home.run(["observations", "search", "--all-projects", "--limit", "1000", "--json"]).success().stdout;
    assert!(events.contains("live-") || events.contains("deploy --note"), "{events}");
    let page = home.run(["context", "--source", "resume", "--project", &project.to_string_lossy()]).success().stdout;

    secrets.extend(values.iter().cloned());
    assert_eq!(secrets.len(), 200);
    let canaries = Canaries::new(&secrets);
    let transcript = std::fs::read(&session.path).expect("the transcript");
    canaries.assert_planted(&[transcript, told_live.into_bytes()].concat());
    assert!(home.memories().len() > 20 && home.log().contains("[redacted:"), "{}", home.log());
    let mut files = home.files();
    for (name, text) in [("hook", told), ("search", found), ("context", page), ("observations", events)] {
        files.push((name.into(), text.into_bytes()));
    }
    canaries.assert_in_none(files);
}
