//! Every command that prints for programs, run once on a home that has something to say, against its schema in docs/json.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use tests::home::Home;
use tests::postgres::{self, Team};
use tests::process::{self, Finished, WATCHDOG};
use tests::schemas;
use tests::session::Session;
use tests::transcript::session_id;

/// Runs commands and writes down which.
struct Tour<'a> {
    home: &'a Home,
    project: &'a Path,
    seen: BTreeSet<String>,
}

impl Tour<'_> {
    /// Runs a command whose words come first, with its input; what it prints is held against its schema on the way.
    #[track_caller]
    fn runs(&mut self, words: &str, more: &[&str], input: &str) -> Finished {
        let mut command = self.home.command(words.split(' ').chain(more.iter().copied()));
        command.current_dir(self.project);
        let run = process::run(command, input.as_bytes().to_vec(), WATCHDOG);
        assert!(!run.stdout.is_empty(), "`{words} {more:?}` has nothing to say: {run:#?}");
        self.seen.insert(words.replace(' ', "-"));
        run
    }

    /// What it prints, where it succeeds.
    #[track_caller]
    fn prints(&mut self, words: &str, more: &[&str], input: &str) -> String {
        self.runs(words, more, input).success().stdout
    }

    /// Its output, if that is one non-empty document.
    #[track_caller]
    fn json(&mut self, words: &str, more: &[&str]) -> Value {
        let value: Value = serde_json::from_str(&self.prints(words, &[more, &["--json"]].concat(), "")).expect("JSON");
        assert!(value != json!([]), "`{words} {more:?}` finds nothing");
        value
    }
}

/// A session with a prompt, a failure, a change and a result, through the hooks and with its transcript.
fn work(home: &Home, project: &Path) {
    let mut session = Session::new(home, project, &session_id(1));
    session.exporter("Make the otter exporter write headers, and always use tabs");
}

impl Tour<'_> {
    /// Notes and memories.
    fn of_memories(&mut self) {
        let mut old = Session::new(self.home, self.project, &session_id(2));
        for animal in ["quokka", "wombat", "heron", "marten", "tapir"] {
            let printed = format!("[main 1234abc] Feed the {animal}\n 1 file changed, 1 insertion(+)");
            old.transcript
                .user("Commit it")
                .bash(&format!("git commit -m 'Feed the {animal}'"), &printed)
                .answer("Committed.");
        }
        old.transcript.write_to(&old.path);
        self.json("ingest", &[]);
        self.json("memory compress", &["--dry-run", "--older-than", "0"]);
        let made = self.json("memory compress", &["--older-than", "0"]);
        let digest = made["digests"][0]["id"].as_str().expect("a digest");
        self.json("memory show", &[digest]);
        self.json("memory decompress", &[digest]);
        let cause =
            ["--type", "root-cause", "--title", "Headers were lost", "--tags", "exporter,otter", "The writer was reset."];
        let stored = self.json("note add", &cause);
        let stored = stored["id"].as_str().expect("an identifier");
        self.json("note add", &cause);
        let tags = ["--title", "How otters export", "--tags", "otter,export", "--related", stored];
        self.json("note add", &[&["--type", "general"], &tags[..], &["Rows, then headers."]].concat());
        let saved = self.json("memory save", &["Otters hold hands when they sleep"]);
        let saved = saved["id"].as_str().expect("an identifier");
        let line =
            json!({"id": "a", "content": "Otters eat crabs", "created_at": 1_736_902_800_000_u64, "session_id": "s1"});
        self.runs("import", &["--json", "-"], &format!("{line}\n{{broken\n"));
        for folder in ["a", "b", "c"] {
            let line =
                json!({"project": self.home.project(folder), "type": "user_preference", "content": "Always use tabs"});
            self.prints("import", &["--json", "-"], &format!("{line}\n"));
        }

        self.json("memory list", &[]);
        self.json("search", &["otter"]);
        self.json("memory search", &["otter"]);
        self.json("memory search", &["--explain", "otter"]);
        self.json("memory show", &[saved]);
        self.json("memory stats", &[]);
        self.json("note recall", &["headers", "--hop", "2"]);
        self.json("note list", &["--learned"]);
        self.prints("note graph", &["--format", "json", stored], "");
        let sync = self.json("note sync", &[]);
        assert!(sync["written"] != json!(0), "{sync}");
        std::fs::write(self.project.join(".gsd/memories/broken.md"), "---\ntitle: [\n---\n").expect("write");
        self.json("note sync", &["--dry-run"]);
        self.runs("note check", &["--json"], "");
        self.json("memory reindex", &[]);
        self.json("memory share", &[saved]);
        self.json("memory unshare", &[saved]);
        self.json("memory pin", &[saved]);
        self.json("memory unpin", &[saved]);
        let other = self.json("memory save", &["Otters sleep on their backs"]);
        let other = other["id"].as_str().expect("an identifier");
        self.json("memory merge", &[saved, other, "--dry-run"]);
        let merged = self.json("memory merge", &[saved, other]);
        self.json("memory unlink", &[merged["id"].as_str().expect("an identifier")]);
        self.json("memory supersede", &[saved, other]);
        self.json("memory wrong", &[other, "--because", "some do not"]);
        self.json("memory list", &["--wrong"]);
        self.json("memory right", &[other]);
        self.json("memory unlink", &[saved]);
        self.runs("memory suggest-shared", &["--json"], "");
        self.json("memory gc", &["--dry-run"]);
        self.json("memory forget", &["--match", "crabs", "--dry-run"]);
        self.json("memory delete", &[saved]);
        self.json("memory unforget", &[]);
        self.json("memory unforget", &["--last"]);
    }

    /// What sessions did.
    fn of_sessions(&mut self, session: &str) {
        self.json("context", &["--source", "startup"]);
        self.json("session list", &[]);
        self.json("session show", &[session]);
        let found = self.json("observations search", &["exporter"]);
        let id = found[0]["id"].to_string();
        self.json("observations show", &[&id]);
        self.json("observations timeline", &[&id]);
        self.json("timeline", &[]);
        drop(self.home.run(["install"]).success());
        self.json("status", &[]);
        self.json("files", &[]);
        self.json("files", &["src/exporter.rs"]);
        self.json("failures", &[]);
        self.json("session save", &["--session", session]);
        self.json("session context", &[]);
        self.json("resume", &[]);
        self.json("projections", &["--folder", "projected"]);
        self.json("ingest", &[]);
        self.json("ingest", &["--dry-run"]);
    }

    /// The program and its stored data.
    fn of_the_whole(&mut self) {
        self.json("config show", &[]);
        self.runs("doctor", &["--json"], "");
        self.json("namespaces", &[]);
        self.json("observations gc", &["--dry-run"]);
        self.json("projects", &[]);
        self.json("scrub", &["--dry-run"]);
        self.prints("redact", &["--report", "json"], "token = ghp_0123456789abcdefghijABCDEFGHIJ012345");
        self.json("verify", &[]);
        self.json("install", &[]);
        self.json("install", &["--dry-run", "--plugin"]);
        self.json("uninstall", &[]);
        self.json("demo", &[]);
        self.prints("export", &[], "");
        let file = self.home.path().join("copy.db").to_string_lossy().into_owned();
        self.json("backup", &[&file]);
        self.json("restore", &["--yes", &file]);
        let notes = self.home.path().join("notes");
        std::fs::create_dir_all(&notes).expect("a folder");
        std::fs::write(notes.join("otters.md"), "# Otters\n\nThey hold hands.\n").expect("write");
        self.json("import", &["--from", "markdown", &notes.to_string_lossy()]);
    }

    /// A language model that was asked and did not answer.
    fn of_models(&mut self) {
        let Some(policy) = tests::sources::build("model-summaries", "what_every_command_prints_is_as_its_schema_says")
        else {
            self.seen.extend(["model-run", "model-spend", "model-outbox"].map(str::to_owned));
            return;
        };
        let config = self.home.throughline().join("config");
        std::fs::create_dir_all(&config).expect("create the folder");
        let empty = self.home.path().join("no-replies");
        let text = format!(
            "[model]\nprovider = \"recorded\"\nrecorded.folder = \"{}\"\nlimits.day_tokens = 1000000\n",
            empty.display()
        );
        std::fs::write(config.join("config.toml"), text).expect("write");
        drop(self.home.run(["policy".as_ref(), "add".as_ref(), "--grant".as_ref(), policy.as_os_str()]).success());
        let ran = self.runs("model run", &["--json"], "");
        assert!(ran.stdout.contains("\"failed\""), "{ran:#?}");
        self.json("model outbox", &["--dry-run"]);
        self.json("model outbox", &[]);
        self.json("model spend", &[]);
    }

    /// A team, where this machine has a server.
    fn of_team(&mut self) {
        let Some(server) = postgres::shared("what_every_command_prints_is_as_its_schema_says") else {
            self.seen.extend(["mute", "outbox", "search", "status", "sync", "unmute"].map(|verb| format!("team-{verb}")));
            return;
        };
        let team = Team::new(server);
        postgres::join(self.home, &team.invite("ann", "contributor"));
        self.json("memory save", &["--type", "decision", "Otters work in a team"]);
        self.json("team outbox", &[]);
        self.json("team sync", &[]);
        self.json("team status", &[]);
        self.json("team search", &["otters"]);
        self.json("team mute", &["--person", "ben"]);
        self.json("team unmute", &["--person", "ben"]);
    }

    /// Policies, and each of their stages.
    fn of_policies(&mut self, transcript: &Path) {
        let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/../policies/default");
        self.runs("policy check", &["--json", policy], "");
        self.json("policy inspect", &[policy]);
        self.json("policy list", &[]);
        self.json("policy test", &[policy, &transcript.to_string_lossy()]);
        let lines = std::fs::read_to_string(transcript).expect("the transcript");
        let extracted = self.prints("policy run", &["extractor"], &lines);
        let extracted: Value = serde_json::from_str(&extracted).expect("JSON");
        self.prints("policy run", &["summarizer"], &extracted["notes"].to_string());
        self.prints("policy run", &["redactor"], "nothing");
        self.prints("policy run", &["context-builder"], "");
        self.prints("policy run", &["query"], "why does the otter exporter lose headers?");
        self.prints("policy run", &["observer"], r#"{"tool": "Bash", "input": "{\"command\": \"ls\"}", "output": "a"}"#);
    }
}

#[test]
fn what_every_command_prints_is_as_its_schema_says() {
    let home = Home::new();
    let project = home.project("zoo");
    work(&home, &project);
    let mut tour = Tour { home: &home, project: &project, seen: BTreeSet::new() };
    let session = session_id(1);
    tour.of_sessions(&session);
    tour.of_memories();
    tour.of_policies(&home.transcript_path(&project, &session));
    tour.of_models();
    tour.of_the_whole();
    tour.of_team();
    let described: BTreeSet<String> = std::fs::read_dir(schemas::folder())
        .expect("docs/json")
        .filter_map(|entry| Some(entry.expect("an entry").file_name().to_str()?.strip_suffix(".schema.json")?.to_owned()))
        .collect();
    assert_eq!(tour.seen, described, "a command has a schema and no run here, or the other way round");
}
