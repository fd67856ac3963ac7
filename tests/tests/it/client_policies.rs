//! The policies in `policies/`, in three languages, in sessions of the real Claude Code client: what they make of a session
//! is what the model is shown in the next one.

use std::path::PathBuf;

use serde_json::Value;
use tests::client::{self, Client};
use tests::fake_api::{self, FakeApi};
use tests::home::Home;
use tests::sources;
use tests::transcript::session_id;

/// A home with the client's hooks and one policy, built from its source.
struct Fixture {
    home: Home,
    project: PathBuf,
    api: FakeApi,
    binary: PathBuf,
}

impl Fixture {
    /// None where the client or the policy's language is not there. `settings` goes into the configuration.
    fn new(test: &str, policy: &str, settings: &str) -> Option<Self> {
        let binary = client::find(test)?;
        let dropped = sources::build(policy, test)?;
        let home = Home::new();
        let project = home.project("vault");
        for (key, value) in [("user.name", "Test"), ("user.email", "test@example.org")] {
            home.git(&project, &["config", key, value]);
        }
        let config = home.throughline().join("config");
        std::fs::create_dir_all(&config).expect("create the folder");
        std::fs::write(config.join("config.toml"), settings).expect("write");
        drop(home.run(["install", "--scope", "user"]).success());
        let add = home.run(["policy".as_ref(), "add".as_ref(), "--grant".as_ref(), dropped.as_os_str()]).success();
        assert!(add.stdout.contains("the policy runs"), "{add:#?}");
        let api = FakeApi::start(&project);
        Some(Self { home, project, api, binary })
    }

    /// One prompt in a new session; what the model was shown before it answered.
    fn session(&self, number: u64, prompt: &str) -> String {
        self.prompt(prompt, &["--session-id", &session_id(number)])
    }

    fn prompt(&self, prompt: &str, arguments: &[&str]) -> String {
        let client = Client { binary: self.binary.clone(), home: &self.home, project: &self.project, api: &self.api };
        let ran = client.prompt(prompt, arguments);
        ran.assert_hooks(&["SessionStart", "Stop"]);
        assert!(!self.home.log().contains("a policy failed"), "{}", self.home.log());
        fake_api::shown(ran.requests.first().expect("the model was asked"))
    }

    /// The memory whose title is this, whole.
    fn memory(&self, title: &str) -> Value {
        let memories = self.home.memories_of(&self.project);
        let found = memories.iter().find(|memory| memory["title"] == title);
        let id =
            found.unwrap_or_else(|| panic!("there is no {title:?}: {memories:#?}"))["id"].as_str().expect("an identifier");
        self.home.json(["memory", "show", "--json", id])
    }
}

#[test]
fn a_policy_in_python_remembers_the_trailers_of_a_commit() {
    let test = "a_policy_in_python_remembers_the_trailers_of_a_commit";
    let Some(fixture) = Fixture::new(test, "commit-trailers", "") else { return };
    fixture.session(1, "SCN_COMMIT Commit what there is");
    let decision = "keep tokens in Redis, not in process memory";
    assert!(fake_api::COMMIT_MESSAGE.contains(decision));
    let memory = fixture.memory(decision);
    assert_eq!((&memory["type"], &memory["policy"]), (&"decision".into(), &"commit-trailers".into()), "{memory:#}");
    // It is told once: with the commit, whose body says it too.
    let shown = fixture.session(2, "Where do tokens live?");
    assert_eq!(shown.matches(decision).count(), 1, "{shown}");
}

#[test]
fn a_policy_in_rust_remembers_a_stated_decision() {
    let test = "a_policy_in_rust_remembers_a_stated_decision";
    let Some(fixture) = Fixture::new(test, "decision-records", "") else { return };
    fixture.session(1, "Look at the cache");
    // Not in the session's first words: those are told anyway.
    let decision = "DECISION: workers share `src/cache.rs`, because each had a copy";
    fixture.prompt(decision, &["--resume", &session_id(1)]);
    let decision = fixture
        .home
        .memories_of(&fixture.project)
        .into_iter()
        .find(|memory| memory["type"] == "decision")
        .expect("a decision is remembered");
    let memory = fixture.memory(decision["title"].as_str().expect("a title"));
    assert_eq!(memory["policy"], "decision-records", "{memory:#}");
    assert_eq!(memory["files"], serde_json::json!(["src/cache.rs"]), "{memory:#}");
    let shown = fixture.session(2, "What was decided?");
    assert!(shown.contains("### Key Decisions") && shown.contains("workers share `src/cache.rs`"), "{shown}");
}

#[test]
fn a_policy_in_javascript_keeps_a_name_out_of_everything() {
    let test = "a_policy_in_javascript_keeps_a_name_out_of_everything";
    let settings = "[policy.private-terms]\nterms = [\"Otterworks\"]\n";
    let Some(fixture) = Fixture::new(test, "private-terms", settings) else { return };
    fixture.session(1, "SCN_WRITE Greet OTTERWORKS in Busan, as Otterworks wants it");
    let memories = fixture.home.memories();
    assert!(memories.iter().any(|memory| memory.text.contains("[redacted:private-term] in Busan")), "{memories:#?}");
    let shown = fixture.session(2, "What did we do?");
    assert!(shown.contains("[redacted:private-term] in Busan") && !shown.to_lowercase().contains("otterworks"), "{shown}");
    // The copy of the settings has the names that the user wants to keep out.
    let is_memory =
        |path: &std::path::Path| path.starts_with(fixture.home.data()) && !path.ends_with("config.last-good.toml");
    for (path, bytes) in fixture.home.files().into_iter().filter(|(path, _)| is_memory(path)) {
        let words = String::from_utf8_lossy(&bytes).to_lowercase();
        assert!(!words.contains("otterworks"), "the name is in {}", path.display());
    }
}
