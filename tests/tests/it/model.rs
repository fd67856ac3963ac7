//! A language model, if it is granted: `policies/model-summaries` against a server of our own that has every fault. Whatever
//! the server does, the results of the rules stay, each limit holds to the token, and nothing private is sent.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};

use serde_json::{Value, json};
use tests::fake_model::{Act, FakeModel, said};
use tests::home::Home;
use tests::process::{self, Finished, WATCHDOG};
use tests::session::Session;
use tests::sources;
use tests::transcript::{Transcript, session_id};

use crate::canary::{Chance, shaped};

/// Stands in the environment and nowhere else: no output and no request's body may hold a part of it.
const KEY: &str = "key-QWERTYUIOPasdfghjkl";

/// Limits that no session meets.
const WIDE: &str = "day_tokens = 10000000\n";

struct Fixture {
    home: Home,
    project: PathBuf,
}

impl Fixture {
    /// A home whose policy may ask the server; none where the policy cannot be built.
    fn new(test: &str, server: &FakeModel, limits: &str) -> Option<Self> {
        Self::with(test, &openai(server, limits))
    }

    fn with(test: &str, config: &str) -> Option<Self> {
        let policy = sources::build("model-summaries", test)?;
        let mut home = Home::new();
        home.set("A_KEY", KEY);
        let project = home.project("otter");
        let it = Self { home, project };
        it.configure(config);
        let add = it.home.run(["policy".as_ref(), "add".as_ref(), "--grant".as_ref(), policy.as_os_str()]).success();
        assert!(add.stdout.contains("the policy runs"), "{add:#?}");
        Some(it)
    }

    fn configure(&self, config: &str) {
        let folder = self.home.throughline().join("config");
        std::fs::create_dir_all(&folder).expect("create the folder");
        std::fs::write(folder.join("config.toml"), config).expect("write");
    }

    /// Reads a session without a hook, so that nothing goes over it in the background.
    fn ingest(&self, number: u64, prompt: &str) -> String {
        let id = session_id(number);
        let mut transcript = Transcript::new(&id, &self.project);
        transcript
            .user(prompt)
            .bash_fails("cargo test exporter", 101, "error[E0425]: cannot find function `headers` in this scope")
            .edits("src/exporter.rs", "write(rows)", "write(headers); write(rows)")
            .bash("cargo test exporter", "test result: ok. 3 passed; 0 failed")
            .answer("The otter exporter writes headers now. I decided to use a table because it is simpler.");
        self.ingest_transcript(&mut transcript, &id);
        id
    }

    fn ingest_transcript(&self, transcript: &mut Transcript, id: &str) {
        let path = self.home.transcript_path(&self.project, id);
        transcript.write_to(&path);
        drop(self.home.run(["ingest".as_ref(), path.as_os_str()]).success());
    }

    fn run(&self, session: &str) -> Finished {
        self.home.run(["model", "run", "--session", session, "--json"])
    }

    /// What `model run` reports.
    #[track_caller]
    fn report(&self, session: &str) -> Value {
        let run = self.run(session);
        assert!(!format!("{run:?}").contains("QWERTY"), "the key is in its output: {run:#?}");
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}\n{}", self.home.log()))
    }

    /// Everything that is remembered, without when it was used.
    fn content(&self) -> Vec<(String, String)> {
        let mut all: Vec<_> =
            self.home.memories().into_iter().map(|memory| (memory.kind.clone(), memory.text.clone())).collect();
        all.sort();
        all
    }

    fn summary(&self) -> Value {
        self.try_summary().expect("a summary")
    }

    /// The summary; none if there is none, or if another took its place just now.
    fn try_summary(&self) -> Option<Value> {
        let memories = self.home.memories_of(&self.project);
        let summary = memories.iter().find(|memory| memory["type"] == "session_summary")?;
        let shown = self.home.run(["memory", "show", "--json", summary["id"].as_str().expect("an identifier")]);
        serde_json::from_str(&shown.stdout).ok()
    }

    fn spent(&self) -> u64 {
        let rows = self.home.json(["model", "spend", "--json"]);
        let number = |row: &Value, name: &str| row[name].as_u64().expect("a number");
        rows.as_array().expect("rows").iter().map(|row| number(row, "input_tokens") + number(row, "output_tokens")).sum()
    }
}

/// Lets a policy ask a model about a session of a project of its own, and turns the model off again. Returns the project, and the
/// calls, tokens and dollars as the commands say them. None where the policy cannot be built.
pub(crate) fn spend(home: &Home, test: &str) -> Option<Value> {
    let policy = sources::build("model-summaries", test)?;
    let server = FakeModel::start([Act::Right]);
    let config = home.throughline().join("config/config.toml");
    let before = std::fs::read_to_string(&config).ok();
    std::fs::create_dir_all(config.parent().expect("a folder")).expect("create the folder");
    let of_server = openai(&server, WIDE).replace("key_env = [\"A_KEY\"]\n", "");
    std::fs::write(&config, format!("{of_server}[model.price]\ninput = 3.0\noutput = 15.0\n")).expect("write");
    drop(home.run(["policy".as_ref(), "add".as_ref(), "--grant".as_ref(), policy.as_os_str()]).success());
    let (project, id) = (home.project("spender"), session_id(90));
    let path = home.transcript_path(&project, &id);
    Transcript::new(&id, &project)
        .user("Make the otter exporter write headers")
        .answer("It writes headers now.")
        .write_to(&path);
    drop(home.run(["ingest".as_ref(), path.as_os_str()]).success());
    let report = home.json(["model", "run", "--session", &id, "--json"]);
    drop(home.run(["policy", "remove", "model-summaries"]).success());
    match before {
        Some(before) => std::fs::write(&config, before).expect("write"),
        None => std::fs::remove_file(&config).expect("remove"),
    }
    let number = |name: &str| report[name].as_u64().expect("a number");
    let said = home.run(["model", "spend"]).success().stdout;
    let dollars = said.trim_end().rsplit(' ').next().expect("dollars");
    Some(json!({"project": project, "calls": number("sent"), "tokens": number("input_tokens") + number("output_tokens"),
        "dollars": dollars}))
}

fn openai(server: &FakeModel, limits: &str) -> String {
    format!(
        "[model]\nprovider = \"openai\"\ntimeout_ms = 2000\n[model.openai]\nbase_url = \"{}\"\nmodel = \"a-model\"\n\
         key_env = [\"A_KEY\"]\n[model.limits]\n{limits}",
        server.url()
    )
}

#[test]
fn a_session_is_summarized_in_the_background_and_never_in_a_hook() {
    let test = "a_session_is_summarized_in_the_background_and_never_in_a_hook";
    let server = FakeModel::start([Act::Right]);
    let Some(it) = Fixture::new(test, &server, WIDE) else { return };
    let mut session = Session::new(&it.home, &it.project, &session_id(1));
    session.exporter("Make the otter exporter write headers, and always use tabs");
    it.home.eventually("the model is asked, and its summary is stored", |_| {
        it.home.database().exists() && it.try_summary().is_some_and(|summary| summary["policy"] == "model-summaries")
    });
    it.home.eventually("the process in the background is done", |home| {
        home.log().contains("what a model made of memories was stored")
    });
    let summary = it.summary();
    let content = summary["content"].as_str().expect("a text");
    assert!(!content.contains("Zanzibar"), "a statement that no line says is stored: {content}");
    assert!(content.contains("otter"), "{content}");
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!((&asked.body["model"], &asked.body["response_format"]["type"]), (&json!("a-model"), &json!("json_schema")));
    // What the person said stays, in the person's words.
    let rule = it.content().into_iter().find(|(kind, _)| kind == "preference");
    assert!(rule.is_none_or(|(_, text)| text.contains("always use tabs")));
    // The same again costs nothing: the session and the project were gone over, and the answers are kept.
    let before = server.asked().len();
    let report = it.report(&session_id(1));
    assert_eq!((&report["sent"], &report["failed"]), (&json!(0), &json!(0)), "{report}");
    assert_eq!(server.asked().len(), before);
}

#[test]
fn every_provider_is_spoken_to_in_its_protocol() {
    let test = "every_provider_is_spoken_to_in_its_protocol";
    let server = FakeModel::start([Act::Right]);
    let Some(it) = Fixture::new(test, &server, WIDE) else { return };
    for (number, (provider, base_url, path, header, value)) in (1..).zip([
        ("openai", server.url(), "/v1/chat/completions", "authorization", format!("Bearer {KEY}")),
        ("anthropic", server.root(), "/v1/messages", "x-api-key", KEY.to_owned()),
        ("gemini", server.url(), "/v1/models/a-model:generateContent", "x-goog-api-key", KEY.to_owned()),
    ]) {
        let id = it.ingest(number, "Make the otter exporter write headers");
        it.configure(&format!(
            "[model]\nprovider = \"{provider}\"\n[model.{provider}]\nbase_url = \"{base_url}\"\nmodel = \"a-model\"\n\
             key_env = [\"A_KEY\"]\n[model.limits]\n{WIDE}"
        ));
        let report = it.report(&id);
        assert_eq!(
            (&report["sent"], &report["failed"], &report["unsupported"]),
            (&json!(1), &json!(0), &json!(1)),
            "{report}"
        );
        let asked = server.asked().pop().expect("it was asked");
        assert_eq!((asked.path.as_str(), asked.header(header)), (path, Some(value.as_str())));
        assert!(!asked.text.contains("QWERTY") && said(&asked.body).contains("otter"));
        let shown = it.home.memories_of(&it.project);
        assert!(shown.iter().any(|memory| memory["type"] == "session_summary"), "{shown:#?}");
    }
    assert!(it.home.memories().iter().all(|memory| !memory.text.contains("Zanzibar")));
}

#[test]
fn whatever_the_server_does_the_rules_result_stands() {
    let test = "whatever_the_server_does_the_rules_result_stands";
    let Some(policy) = sources::build("model-summaries", test) else { return };
    let unsupported = json!({"memories": [{"kind": "session_summary", "title": {"text": "Zeppelins", "cites": ["1"]},
        "statements": [{"text": "The zeppelin landed in Zanzibar.", "cites": ["1"]}], "replaces": ["m1"],
        "keywords": [], "importance": 0.5}], "superseded": []});
    let wrong_json = json!({"memories": "none"});
    let acts = [
        ("429", Act::Status(429, "{\"error\": {\"message\": \"slow down\"}}".into())),
        ("500", Act::Status(500, String::new())),
        ("401", Act::Status(401, format!("{{\"error\": {{\"message\": \"wrong key {KEY}\"}}}}"))),
        ("redirect", Act::Raw(b"HTTP/1.1 302 -\r\nlocation: http://example.org/\r\ncontent-length: 0\r\n\r\n".to_vec())),
        ("timeout", Act::Silent),
        ("half a body", Act::Half),
        ("no HTTP", Act::Raw(b"hello\n".to_vec())),
        ("no JSON", Act::Says("I am glad to help".into())),
        ("wrong JSON", Act::Says(wrong_json.to_string())),
        ("an empty answer", Act::Says(" ".into())),
        ("a refusal", Act::Refuses),
        ("10 MB", Act::Long(10 << 20)),
        ("what nobody said", Act::Says(unsupported.to_string())),
        ("instructions", Act::Says("{\"memories\": [], \"superseded\": [[\"m1\", \"m1\"]]}".into())),
    ];
    std::thread::scope(|scope| {
        for chunk in acts.chunks(acts.len().div_ceil(2)) {
            let policy = &policy;
            scope.spawn(move || chunk.iter().for_each(|(name, act)| stands_after(name, act, policy)));
        }
    });
}

fn stands_after(name: &str, act: &Act, policy: &Path) {
    let server = FakeModel::start([act.clone()]);
    let mut home = Home::new();
    home.set("A_KEY", KEY);
    let project = home.project("otter");
    let it = Fixture { home, project };
    it.configure(&openai(&server, WIDE));
    drop(it.home.run(["policy".as_ref(), "add".as_ref(), "--grant".as_ref(), policy.as_os_str()]).success());
    let id = it.ingest(1, "Make the otter exporter write headers");
    let before = it.content();
    let report = it.report(&id);
    assert_eq!(it.content(), before, "{name}");
    assert_eq!(report["stored"], 0, "{name}: {report}");
    assert!((1..=6).contains(&server.asked().len()), "{name}: {} requests", server.asked().len());
    let log = it.home.log();
    assert!(!log.contains("QWERTY") && !log.contains("a policy failed"), "{name}: {log}");
}

#[test]
fn a_lie_about_tokens_moves_no_limit() {
    let test = "a_lie_about_tokens_moves_no_limit";
    let lies = [json!(0), json!(-7), json!(u64::MAX), json!("many"), Value::Null, json!(1e300)];
    for lie in &lies {
        let server = FakeModel::start([Act::Claims(lie.clone(), lie.clone())]);
        let Some(it) = Fixture::new(test, &server, "day_tokens = 20000\n") else { return };
        let ids: Vec<String> = (1..=4).map(|number| it.ingest(number, &format!("Export otter number {number}"))).collect();
        for id in &ids {
            it.report(id);
        }
        let (spent, requests) = (it.spent(), server.asked().len() as u64);
        assert!(spent <= 20_000, "{lie}: {spent}");
        // A request has about 5,000 bytes, of which no tokenizer makes less than an eighth in tokens.
        assert!(requests >= 1 && spent >= requests * 300, "{lie}: {spent} for {requests} requests");
    }
}

#[test]
fn limits_hold_to_the_token_under_sixteen_processes() {
    const CAP: u64 = 12_000;
    let test = "limits_hold_to_the_token_under_sixteen_processes";
    let server = FakeModel::start([Act::Right]);
    let Some(it) = Fixture::new(test, &server, WIDE) else { return };
    let ids: Vec<String> = (1..=16).map(|number| it.ingest(number, &format!("Export otter number {number}"))).collect();
    it.configure(&openai(&server, &format!("day_tokens = {CAP}\n")));
    std::thread::scope(|scope| {
        for id in &ids {
            scope.spawn(|| it.report(id));
        }
    });
    let tokens: u64 = server.asked().iter().map(|asked| asked.tokens).sum();
    let (spent, requests) = (it.spent(), server.asked().len());
    assert!(spent <= CAP && tokens <= CAP, "{spent} by the ledger, {tokens} by the server");
    assert!((1..16).contains(&requests), "{requests} requests");
    eprintln!("16 processes: {requests} requests, {spent} tokens by the ledger, {tokens} by the server, of {CAP}");
    // Each process had reserved what its request could cost; another run uses what they left, and the limit holds still.
    for id in &ids {
        it.report(id);
    }
    assert!(it.spent() <= CAP && it.spent() >= spent);
    assert!((2..16).contains(&server.asked().len()), "{} requests", server.asked().len());
    let log = it.home.log();
    assert_eq!(log.matches("a limit for models is reached").count(), 1, "{log}");
    let left = it.home.json(["model", "outbox", "--json", "--limit", "100"]);
    assert_eq!(left["sent"].as_array().map(Vec::len), Some(server.asked().len()));
}

#[test]
fn nothing_is_asked_until_a_figure_is_set() {
    let test = "nothing_is_asked_until_a_figure_is_set";
    let server = FakeModel::start([Act::Right]);
    let Some(it) = Fixture::new(test, &server, "call_tokens = 100000\n") else { return };
    let id = it.ingest(1, "Make the otter exporter write headers");
    assert_eq!(it.report(&id)["sent"], 0);
    assert!(it.home.log().contains("no limit is set"), "{}", it.home.log());
    it.configure(&openai(&server, "day_usd = 1.0\n"));
    assert_eq!(it.report(&id)["sent"], 0, "nobody knows what tokens cost");
    it.configure(&format!("{}[model.price]\ninput = 1.0\noutput = 2.0\n", openai(&server, "day_usd = 1.0\n")));
    let report = it.report(&id);
    assert_eq!(report["sent"], 1, "{report}");
    let cost = report["input_tokens"].as_u64().expect("a number") + 2 * report["output_tokens"].as_u64().expect("a number");
    assert_eq!(report["nano_usd"], cost * 1_000);
    // Without the capability the policy does not even load.
    drop(it.home.run(["policy", "revoke", "model-summaries", "model"]).success());
    assert!(it.run(&id).stderr.contains("no policy with the stage consolidator runs"));
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_dry_run_shows_what_would_be_sent_and_sends_nothing() {
    let test = "a_dry_run_shows_what_would_be_sent_and_sends_nothing";
    let server = FakeModel::start([Act::Right]);
    let Some(it) = Fixture::new(test, &server, WIDE) else { return };
    let id = it.ingest(1, "Make the otter exporter write headers");
    let before = it.content();
    let outbox = it.home.json(["model", "outbox", "--dry-run", "--session", &id, "--json"]);
    let pending = &outbox["pending"][0];
    assert!(pending["messages"].to_string().contains("otter") && pending["is_known"] == false, "{outbox}");
    assert_eq!((server.asked().len(), it.content(), it.spent()), (0, before, 0));
    it.report(&id);
    let sent = it.home.json(["model", "outbox", "--json"]);
    assert_eq!((&sent["sent"][0]["request"], &sent["sent"][0]["bytes"]), (&pending["digest"], &pending["bytes"]));
}

#[test]
fn two_hundred_secrets_leave_in_no_request() {
    let test = "two_hundred_secrets_leave_in_no_request";
    let server = FakeModel::start([Act::Right]);
    let Some(it) = Fixture::new(test, &server, WIDE) else { return };
    let id = it.ingest(1, "Make the otter exporter write headers");
    let mut chance = Chance(0x0074_7465_7221);
    let secrets: Vec<(String, String)> = (0..200).map(|number| shaped(&mut chance, number)).collect();
    // As if an older build, whose rules knew less, had stored them.
    let database = rusqlite::Connection::open(it.home.database()).expect("the database");
    let texts: Vec<String> = secrets.iter().map(|(_, text)| format!("the exporter was called with {text} today")).collect();
    let rows = database
        .execute("UPDATE memories SET content = content || char(10) || ?1 WHERE type <> 'turn'", [texts[..100].join("\n")])
        .expect("an update");
    assert!(rows > 0);
    database.execute("UPDATE memories SET title = ?1 WHERE type = 'turn'", [texts[100..].join(" ; ")]).expect("an update");
    database
        .execute("UPDATE memories SET content = content || char(10) || ?1 WHERE type = 'turn'", [texts[100..].join("\n")])
        .expect("an update");
    drop(database);
    let report = it.report(&id);
    assert!(report["sent"].as_u64() >= Some(1), "{report}");
    let outbox = it.home.json(["model", "outbox", "--dry-run", "--session", &id, "--json"]).to_string();
    let sent: String = server.asked().iter().map(|asked| asked.text.as_str()).collect();
    let leaked = secrets.iter().filter(|(secret, _)| sent.contains(secret.as_str()) || outbox.contains(secret.as_str()));
    assert_eq!(leaked.count(), 0, "{sent}");
    let shown = secrets.iter().filter(|(_, text)| sent.contains(text.split(['=', ':']).next().unwrap_or("-"))).count();
    assert!(shown > 0 && sent.contains("[redacted:"), "none of the texts was sent at all: {sent}");
}

#[test]
fn a_session_of_a_megabyte_costs_at_most_thirty_thousand_tokens() {
    let test = "a_session_of_a_megabyte_costs_at_most_thirty_thousand_tokens";
    let server = FakeModel::start([Act::Right]);
    let Some(it) = Fixture::new(test, &server, WIDE) else { return };
    let id = session_id(1);
    let mut transcript = Transcript::new(&id, &it.project);
    let mut number = 0;
    while transcript.text().len() < 1 << 20 {
        number += 1;
        let file = format!("src/part{number}.rs");
        transcript
            .user(&format!("Make part {number} of the otter exporter write headers, and tell me why it did not"))
            .bash_fails("cargo test", 101, &format!("error[E0425]: cannot find function `part{number}` in this scope"))
            .edits(&file, "write(rows)", &format!("write(headers{number}); write(rows)"))
            .bash("cargo test", &format!("test result: ok. {number} passed; 0 failed"))
            .answer(&format!(
                "Part {number} writes headers now. The cause was that the exporter read the column names after the rows. \
                 I decided to keep a table for part {number} because a list would be read twice, and rejected a list."
            ));
    }
    it.ingest_transcript(&mut transcript, &id);
    let report = it.report(&id);
    let bytes: usize = server.asked().iter().map(|asked| asked.text.len()).sum();
    let tokens = report["input_tokens"].as_u64().expect("a number");
    assert!(report["sent"].as_u64() >= Some(1), "{report}\n{}", it.home.log());
    // No tokenizer makes more tokens than there are bytes, so this holds for every model.
    assert!(bytes <= 36_000 && tokens <= 30_000, "{bytes} bytes of JSON, {tokens} tokens");
    eprintln!(
        "a session of {} bytes: {} requests, {bytes} bytes of JSON, {tokens} tokens",
        transcript.text().len(),
        report["sent"]
    );
}

#[test]
fn a_session_that_a_call_creates_is_never_remembered() {
    let test = "a_session_that_a_call_creates_is_never_remembered";
    let server = FakeModel::start([Act::Right]);
    let Some(mut it) = Fixture::new(test, &server, WIDE) else { return };
    // An agent's command line that answers, and says in which folder and with which mark it ran.
    let program = it.home.path().join("claude");
    let seen = it.home.path().join("seen");
    let script = format!(
        "#!/bin/sh\ncat > '{0}.prompt'\necho \"$THROUGHLINE_MODEL_CALL $PWD $*\" > '{0}'\n\
         echo '{{\"result\": \"{{\\\"memories\\\": [], \\\"superseded\\\": []}}\", \"usage\": {{\"input_tokens\": 9, \"output_tokens\": 4}}}}'\n",
        seen.display()
    );
    std::fs::write(&program, script).expect("write");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    it.configure(&format!(
        "[model]\nprovider = \"command\"\n[model.command]\nagent = \"claude\"\nprogram = \"{}\"\n[model.limits]\n{WIDE}",
        program.display()
    ));
    let id = it.ingest(1, "Make the otter exporter write headers");
    let report = it.report(&id);
    assert_eq!((&report["sent"], &report["failed"]), (&json!(1), &json!(0)), "{report}\n{}", it.home.log());
    let ran = std::fs::read_to_string(&seen).expect("it ran");
    let folder = it.home.data().join("model-sessions");
    assert!(ran.starts_with(&format!("1 {}", folder.display())) && ran.contains("--no-session-persistence"), "{ran}");
    assert!(std::fs::read_to_string(seen.with_extension("prompt")).expect("a prompt").contains("otter"));
    // A transcript of such a session, should the agent write one, is not read, and its hooks do nothing.
    let before = it.content();
    let other = session_id(2);
    let mut transcript = Transcript::new(&other, &folder);
    transcript.user("Always summarize the otter exporter in French").answer("I will always do that from now on.");
    let path = it.home.transcript_path(&folder, &other);
    transcript.write_to(&path);
    drop(it.home.run(["ingest".as_ref(), path.as_os_str()]));
    assert_eq!(it.content(), before);
    it.home.set("THROUGHLINE_MODEL_CALL", "1");
    let mut session = Session::new(&it.home, &it.project, &session_id(3));
    let start = session.start("startup");
    start.silent();
    session.exporter("Remember the walrus exporter");
    assert_eq!(it.content(), before);
}

#[test]
fn recorded_replies_compare_prompts_without_a_model() {
    let test = "recorded_replies_compare_prompts_without_a_model";
    let server = FakeModel::start([Act::Right]);
    let Some(it) = Fixture::new(test, &server, WIDE) else { return };
    let id = it.ingest(1, "Make the otter exporter write headers");
    let folder = it.home.path().join("replies");
    let config = openai(&server, WIDE).replacen("timeout_ms", &format!("record = \"{}\"\ntimeout_ms", folder.display()), 1);
    it.configure(&config);
    it.report(&id);
    let summary = it.summary()["content"].clone();
    let replay = Fixture::with(
        test,
        &format!(
            "[model]\nprovider = \"recorded\"\n[model.recorded]\nfolder = \"{}\"\n[model.limits]\n{WIDE}",
            folder.display()
        ),
    );
    let Some(replay) = replay else { return };
    let id = replay.ingest(1, "Make the otter exporter write headers");
    let report = replay.report(&id);
    assert_eq!((&report["sent"], &report["failed"]), (&json!(1), &json!(0)), "{report}\n{}", replay.home.log());
    assert_eq!(replay.summary()["content"], summary);
    assert_eq!(server.asked().len(), 1);
    // Another session was not recorded, and the results of the rules stay.
    let other = replay.ingest(2, "Make the walrus exporter write footers");
    assert_eq!(replay.report(&other)["stored"], 0);
}

#[test]
fn a_key_comes_from_a_private_file_or_from_a_command() {
    use std::os::unix::fs::PermissionsExt as _;
    let test = "a_key_comes_from_a_private_file_or_from_a_command";
    let server = FakeModel::start([Act::Right]);
    let Some(it) = Fixture::new(test, &server, WIDE) else { return };
    let file = it.home.path().join("a-key");
    std::fs::write(&file, format!("{KEY}\n")).expect("write");
    let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("chmod");
    let from = |source: &str| openai(&server, WIDE).replacen("key_env = [\"A_KEY\"]", source, 1);
    let of_file = from(&format!("key_env = []\nkey_file = \"{}\"", file.display()));
    let of_command = from(&format!("key_env = []\nkey_command = [\"cat\", \"{}\"]", file.display()));
    for (number, config) in (1..).zip([&of_file, &of_command]) {
        mode(0o600);
        it.configure(config);
        let id = it.ingest(number, &format!("Export otter number {number}"));
        assert_eq!(it.report(&id)["sent"], 1, "{}", it.home.log());
        let asked = server.asked().pop().expect("it was asked");
        assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    }
    // What others may read is no secret, and a command that fails has no key. Both are said, and nothing is sent.
    mode(0o644);
    it.configure(&of_file);
    let asked = server.asked().len();
    let id = it.ingest(3, "Export otter number 3");
    it.report(&id);
    assert!(it.home.log().contains("chmod 600"), "{}", it.home.log());
    it.configure(&from("key_env = []\nkey_command = [\"false\"]"));
    it.report(&id);
    assert!(it.home.log().contains("key_command false failed"), "{}", it.home.log());
    assert_eq!(server.asked().len(), asked);
    assert!(!it.home.log().contains("QWERTY"), "the key is in the log: {}", it.home.log());
}

/// Lets the model go over a session that the rules have read. When it was asked, and before it answers, `meanwhile` happens to the
/// rules' summary. Returns the identifiers and contents of the session's summaries then, and those afterwards.
#[track_caller]
fn summaries_around(number: u64, test: &str, meanwhile: impl FnOnce(&Fixture, &str)) -> Option<[Vec<(String, String)>; 2]> {
    let barrier = Arc::new(Barrier::new(2));
    let server = FakeModel::start([Act::Held(Arc::clone(&barrier))]);
    let it = Fixture::with(test, &openai(&server, WIDE).replacen("timeout_ms = 2000", "timeout_ms = 60000", 1))?;
    let id = it.ingest(number, "Make the otter exporter write headers");
    let summaries = || -> Vec<(String, String)> {
        let field = |memory: &Value, name: &str| memory[name].as_str().expect("a text").to_owned();
        let all = it.home.memories_of(&it.project).into_iter().filter(|memory| memory["type"] == "session_summary");
        all.map(|memory| (field(&memory, "id"), field(&memory, "content"))).collect()
    };
    let rules = summaries();
    assert_eq!(rules.len(), 1, "{rules:#?}");
    let then = std::thread::scope(|scope| {
        let run = scope.spawn(|| it.report(&id));
        it.home.eventually("the model is asked", |_| server.asked().len() == 1);
        meanwhile(&it, &rules[0].0);
        let then = summaries();
        barrier.wait();
        let report = run.join().expect("the run ends");
        assert_eq!((&report["sent"], &report["failed"]), (&json!(1), &json!(0)), "{report}");
        then
    });
    Some([then, summaries()])
}

#[test]
fn what_a_person_says_while_the_model_is_asked_stands() {
    let test = "what_a_person_says_while_the_model_is_asked_stands";
    // Without anybody else, the answer takes the place of the rules' summary.
    let Some([then, now]) = summaries_around(1, test, |_, _| {}) else { return };
    assert_eq!((then.len(), now.len()), (1, 1));
    assert_ne!(then, now, "the answer is not stored");
    // Pinned: it stays as it is, under its identifier.
    let command = |it: &Fixture, words: &[&str]| drop(it.home.run([&["memory"], words].concat()).success());
    let [then, now] = summaries_around(2, test, |it, id| command(it, &["pin", id])).expect("as above");
    assert_eq!((then.len(), &now), (1, &then));
    // Wrong: it does not come back in the words of the model.
    let [then, now] = summaries_around(3, test, |it, id| command(it, &["wrong", id])).expect("as above");
    assert!(then.is_empty() && now.is_empty(), "{now:#?}");
    // Corrected: what the person said holds.
    let correct = |it: &Fixture, id: &str| {
        let project = it.project.to_str().expect("UTF-8");
        command(it, &["save", "--project", project, "--type", "decision", "--supersedes", id, "The otter exporter is gone"]);
    };
    let [then, now] = summaries_around(4, test, correct).expect("as above");
    assert_eq!(now, then);
    // Forgotten: it stays forgotten.
    let [then, now] = summaries_around(5, test, |it, id| command(it, &["delete", id])).expect("as above");
    assert!(then.is_empty() && now.is_empty(), "{now:#?}");
}

#[test]
fn what_a_session_learns_while_the_model_is_asked_stands() {
    let test = "what_a_session_learns_while_the_model_is_asked_stands";
    let go_on = |it: &Fixture, _: &str| {
        let id = session_id(1);
        let mut transcript = Transcript::new(&id, &it.project);
        transcript
            .user("Make the otter exporter write headers")
            .bash_fails("cargo test exporter", 101, "error[E0425]: cannot find function `headers` in this scope")
            .edits("src/exporter.rs", "write(rows)", "write(headers); write(rows)")
            .bash("cargo test exporter", "test result: ok. 3 passed; 0 failed")
            .answer("The otter exporter writes headers now. I decided to use a table because it is simpler.")
            .user("From now on always run the walrus tests twice.")
            .edits("src/walrus.rs", "once()", "twice()")
            .answer("The walrus tests run twice now. They took a second longer than before.");
        it.ingest_transcript(&mut transcript, &id);
    };
    let Some([then, now]) = summaries_around(1, test, go_on) else { return };
    assert!(then[0].1.contains("walrus"), "{then:#?}");
    assert_eq!(now, then, "the answer knows nothing of what came later");
}

/// Writes a gold file beside an invented session: what a reader wants to be told, and what would mislead.
fn gold(folder: &Path, project: &Path, number: u64, says: &str, wanted: &str, trap: &str) {
    let id = session_id(number);
    let mut transcript = Transcript::new(&id, project);
    transcript.user("How should the otter exporter keep its rows?").answer(says).user("Good. Go on.").answer("It is done.");
    let name = format!("otter/{id}.jsonl");
    transcript.write_to(&folder.join("transcripts").join(&name));
    let file = json!({"session": name, "language": "en",
        "items": [{"kind": "decision", "text": wanted, "needles": [wanted], "weight": 2}],
        "traps": [{"text": trap, "needles": [trap]}]});
    std::fs::create_dir_all(folder.join("gold")).expect("create the folder");
    std::fs::write(folder.join(format!("gold/{number}.json")), file.to_string()).expect("write");
}

#[test]
fn a_gold_set_is_measured_with_recorded_replies() {
    let test = "a_gold_set_is_measured_with_recorded_replies";
    let server = FakeModel::start([Act::Quotes(&["walrus ledger", "kelp index"])]);
    let Some(it) = Fixture::new(test, &server, WIDE) else { return };
    let policy = sources::build("model-summaries", test).expect("built above");
    let folder = it.home.path().join("set");
    // Of a hope the rules tell nothing.
    let first = "There are several ways here. Rows should now live in the walrus ledger. Redis would lose them.";
    gold(&folder, &it.project, 1, first, "walrus ledger", "a zeppelin keeps the rows");
    let second = "I looked at both files. Keys come out of the kelp index, sorted by name. Nothing else is new.";
    gold(&folder, &it.project, 2, second, "kelp index", "a zeppelin keeps the keys");

    let recordings = folder.join("recordings");
    let write = |name: &str, config: &str| {
        let file = folder.join(name);
        std::fs::write(&file, config).expect("write");
        file
    };
    let recording =
        openai(&server, WIDE).replacen("timeout_ms", &format!("record = \"{}\"\ntimeout_ms", recordings.display()), 1);
    let recording = write("recording.toml", &recording);
    let recorded = format!(
        "[model]\nprovider = \"recorded\"\n[model.recorded]\nfolder = \"{}\"\n[model.limits]\n{WIDE}",
        recordings.display()
    );
    let recorded = write("recorded.toml", &recorded);
    let measure = |config: &Path, more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_judgement"));
        command.arg("model").args([folder.join("gold"), folder.join("transcripts")]);
        command.arg("--config").arg(config).arg("--policy").arg(&policy).args(["--env", "A_KEY"]).args(more);
        command.env("A_KEY", KEY).env("THROUGHLINE_BIN", process::throughline());
        process::run(command, Vec::new(), WATCHDOG)
    };
    let bounds = ["--min-told", "0.99", "--max-traps", "0", "--max-failed", "0"];
    let live = measure(&recording, &bounds).success();
    assert!(server.asked().len() >= 2, "{live:#?}");
    let replayed = measure(&recorded, &bounds).success();
    let row = |run: &Finished, name: &str| {
        let rows = run.stdout.lines().find(|line| line.starts_with(name));
        rows.unwrap_or_else(|| panic!("no row {name}: {run:#?}")).to_owned()
    };
    for name in ["rules", "model", "2 sessions"] {
        assert_eq!(row(&replayed, name), row(&live, name), "{name}");
    }
    // The replies did something: more is told with them than by the rules alone.
    let told = |name: &str| row(&replayed, name)[name.len()..].trim().to_owned();
    assert_ne!(told("model"), told("rules"), "{replayed:#?}");
    assert!(row(&replayed, "2 sessions").contains("2 requests, 0 without an answer"), "{replayed:#?}");
    // A request that was not recorded has no answer, which the bound sees.
    for file in std::fs::read_dir(&recordings).expect("the replies").flatten() {
        std::fs::remove_file(file.path()).expect("remove");
    }
    let missed = measure(&recorded, &bounds);
    assert_eq!(missed.code, Some(1), "{missed:#?}");
    assert!(missed.stderr.contains("more requests have no answer than is required"), "{missed:#?}");
}

#[test]
fn what_is_excluded_or_paused_is_sent_to_no_model() {
    let test = "what_is_excluded_or_paused_is_sent_to_no_model";
    let server = FakeModel::start([Act::Right]);
    let Some(it) = Fixture::new(test, &server, WIDE) else { return };
    let id = it.ingest(1, "Make the otter exporter write headers");
    let project = it.project.to_str().expect("UTF-8");
    let refused = |arguments: &[&str]| {
        let run = it.home.run([&["model", "run"], arguments].concat()).failure_with_hint();
        assert!(run.stderr.contains("excluded or paused"), "{run:#?}");
    };
    it.configure(&format!("{}[privacy]\nexclude_projects = [\"{project}\"]\n", openai(&server, WIDE)));
    refused(&["--session", &id]);
    refused(&["--project", project]);
    it.configure(&openai(&server, WIDE));
    drop(it.home.run(["pause", "--project", project]).success());
    refused(&["--session", &id]);
    assert_eq!((server.asked().len(), it.spent()), (0, 0));
    drop(it.home.run(["resume", "--project", project]).success());
    assert_eq!(it.report(&id)["sent"], 1);
}
