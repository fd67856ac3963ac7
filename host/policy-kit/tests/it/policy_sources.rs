//! Builds policies from source: the templates and the policies in `policies/` build with the tools of their languages,
//! load into the sandbox, and answer their stages.
//!
//! Python and JavaScript need their tools and registries. If those are missing, the tests say so and pass; with
//! `THROUGHLINE_REQUIRE_LANGUAGES` set, they fail.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use throughline_model::contract::{Draft, Memory, Session, SessionRecord};
use throughline_model::lines::{Line, LineSource};
use throughline_model::project::Project;
use throughline_policy_kit::build::{self, BuiltPolicy};
use throughline_policy_kit::conformance::{self, Granted, Options, Status};
use throughline_policy_kit::template;
use throughline_sandbox::cache::Cache;
use throughline_sandbox::capability::KindSet;
use throughline_sandbox::engine::EpochTicker;
use throughline_sandbox::imports::{Fact, Grants, LogSink, MemorySource};
use throughline_sandbox::instance::{ExtractRequest, Extraction, LinkedPolicy, PolicyInstance, Terms, ToolEvent};
use throughline_sandbox::manifest::{Language, Manifest};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate is in the repository").to_owned()
}

/// Returns an empty folder that only this test uses.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("policy-sources").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn until() -> Instant {
    Instant::now() + Duration::from_mins(5)
}

/// Whether a build failed because a tool or a registry is missing.
fn is_unavailable(error: &str) -> bool {
    ["is not installed", "cannot be fetched", "cannot create a virtual environment"].iter().any(|sign| error.contains(sign))
}

/// Builds the policy, or `None` if a tool or registry is missing and not required.
fn built(folder: &Path) -> Option<BuiltPolicy> {
    let mut steps = Vec::new();
    match build::build(folder, &throughline_compiler::encode, &mut |step| steps.push(step.to_owned())) {
        Ok(built) => {
            assert!(!steps.is_empty());
            let manifest = fs::read_to_string(built.folder.join("policy.toml")).expect("it is written");
            assert!(manifest.contains(&built.digest) && !manifest.contains("\n[build]"), "{manifest}");
            Some(built)
        }
        Err(error) => {
            let error = format!("{error:#}");
            let unavailable = is_unavailable(&error);
            let needed = std::env::var_os("THROUGHLINE_REQUIRE_LANGUAGES").is_some();
            assert!(unavailable && !needed, "{} does not build: {error}", folder.display());
            eprintln!("skipped: {} cannot be built here: {error}", folder.display());
            None
        }
    }
}

/// Runs the tests in a policy's folder that need no wasm.
fn passes(program: &str, arguments: &[&str], folder: &Path) {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1").env_remove("CARGO_TARGET_DIR");
    let output = command.output().expect("the tool built the policy, so it is there");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Compiles the component or loads it from the last run's cache, and links it as its manifest requests.
fn loaded(built: &BuiltPolicy) -> Arc<LinkedPolicy> {
    let clock = EpochTicker::start().expect("an engine");
    let wasm = fs::read(built.folder.join("policy.wasm")).expect("it is built");
    let cache = Cache::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("policy-sources-compiled"));
    let compile = throughline_compiler::compile;
    let (component, _) = cache.load_or_compile(clock.engine(), &built.digest, &wasm, until(), compile).expect("it compiles");
    for (import, _) in component.component_type().imports(clock.engine()) {
        assert!(import.starts_with("throughline:policy/"), "{} imports {import}", built.name);
    }
    let text = fs::read_to_string(built.folder.join("policy.toml")).expect("it is written");
    let manifest = Manifest::parse(&text).expect("it is sound");
    let terms = Terms {
        name: manifest.name.clone(),
        digest: built.digest.clone(),
        capabilities: manifest.capabilities.clone(),
        stages: manifest.stages.keys().copied().collect(),
        limits: manifest.limits(),
    };
    Arc::new(LinkedPolicy::link(terms, &clock, &component).expect("it links"))
}

fn start(policy: &Arc<LinkedPolicy>, grants: Grants) -> PolicyInstance {
    policy.start(grants, Instant::now() + Duration::from_secs(1)).expect("it starts")
}

/// Asserts that a shipped policy keeps the contract.
fn conforms(policy: &Arc<LinkedPolicy>, grants: &Grants) {
    let options = Options { call: policy.terms().limits.time, ..Options::default() };
    let report = conformance::run(&Granted { policy, grants: grants.clone() }, &policy.terms().stages, &options);
    assert!(report.has_passed(), "{:#?}", report.with(Status::Fail).collect::<Vec<_>>());
}

fn session() -> Session {
    let root = Path::new("/p");
    Session::new("s", &Project::discover(root), root, "claude-code", None, 0)
}

fn with_settings(settings: Value) -> Grants {
    let Value::Object(settings) = settings else { panic!("settings are a table") };
    Grants { settings: Rc::new(settings), ..Grants::default() }
}

struct Lines(VecDeque<Line>);

impl LineSource for Lines {
    fn read_lines(&mut self, _max_bytes: usize) -> std::io::Result<Vec<Line>> {
        // Returns a few lines at a time, so that a policy must ask again.
        Ok(self.0.drain(..self.0.len().min(3)).collect())
    }
}

fn extract(running: &mut PolicyInstance, lines: &[String], state: Option<String>, start: u64) -> Extraction {
    let mut at = start;
    let lines = lines.iter().map(|text| {
        let line = Line { start: at, end: at + text.len() as u64 + 1, text: text.clone() };
        at = line.end;
        line
    });
    let lines = Lines(lines.collect());
    let request = ExtractRequest { session: session(), moment: "stop".into(), state, supplements: Vec::new() };
    running.extract(&request, Box::new(lines), until()).expect("it extracts")
}

/// Extracts in one call and again line by line, each call in a new instance. Returns the drafts, which must be equal.
fn drafts(policy: &Arc<LinkedPolicy>, grants: &Grants, lines: &[String]) -> Vec<Draft> {
    let fresh = || start(policy, grants.clone());
    let whole = extract(&mut fresh(), lines, None, 0);
    assert_eq!(whole.consumed, lines.iter().map(|line| line.len() as u64 + 1).sum::<u64>());
    let (mut state, mut at, mut malformed) = (None, 0, 0);
    let mut by_key: Vec<Draft> = Vec::new();
    let mut notes = None;
    for line in lines {
        let one = extract(&mut fresh(), std::slice::from_ref(line), state, at);
        at = one.consumed;
        state = Some(one.state);
        malformed += one.malformed;
        for draft in one.drafts {
            by_key.retain(|old| old.key != draft.key);
            by_key.push(draft);
        }
        by_key.retain(|draft| !draft.key.as_ref().is_some_and(|key| one.retracted.contains(key)));
        notes = Some(one.notes);
    }
    let sorted = |mut drafts: Vec<Draft>| {
        drafts.sort_by(|a, b| a.key.cmp(&b.key));
        drafts
    };
    let by_key = sorted(by_key);
    let all = sorted(whole.drafts);
    assert_eq!(format!("{all:?}"), format!("{by_key:?}"));
    assert_eq!(format!("{:?}", Some(whole.notes)), format!("{notes:?}"));
    assert_eq!(whole.malformed, malformed);
    all
}

fn said(kind: &str, text: &str) -> String {
    let content = json!([{"type": "text", "text": text}]);
    line(kind, &content, &Value::Null)
}

fn line(kind: &str, content: &Value, result: &Value) -> String {
    json!({"type": kind, "uuid": format!("{kind}-line"), "timestamp": "2026-02-23T10:00:00.500Z",
        "message": {"role": kind, "content": content}, "toolUseResult": result})
    .to_string()
}

/// Returns a session in which a decision is stated, an ADR is written, one commit fails and one succeeds.
fn transcript() -> Vec<String> {
    let adr = "# 7. Use Redis\n\n## Status\n\nAccepted\n\n## Decision\n\nTokens live in Redis.\n";
    let command = "git commit -qm \"$(cat <<'EOF'\nCache tokens\n\nDecision: keep \"tokens\" in Redis\nRejected: one cache each\nConstraint: 10 calls a second\nTicket: AUTH-12\nEOF\n)\"";
    let commit = |id: &str| json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]);
    let answer = |id: &str, text: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": text}]);
    vec![
        said(
            "user",
            "Please cache the tokens.\nREMEMBER: staging is read-only\nDECISION: tokens in Redis because workers share them",
        ),
        said("assistant", "I write it down. 좋습니다 😀"),
        line("user", &json!([]), &json!({"type": "create", "filePath": "/p/docs/adr/0007-use-redis.md", "content": adr})),
        line("assistant", &commit("t1"), &Value::Null),
        line("user", &answer("t1", "nothing to commit, working tree clean"), &Value::Null),
        "{\"type\":\"user\",\"message\":{\"content\":\"DECISION: Decision: REMEMBER: ".into(),
        line("assistant", &commit("t2"), &Value::Null),
        line("user", &answer("t2", "[main 1a2b3c4] Cache tokens\n 1 file changed"), &Value::Null),
    ]
}

fn titles(drafts: &[Draft]) -> Vec<(&str, &str)> {
    drafts.iter().map(|draft| (draft.kind.as_str(), draft.title.as_str())).collect()
}

#[test]
fn decision_records() {
    let built = built(&repository().join("policies/decision-records")).expect("cargo is there");
    let policy = loaded(&built);
    conforms(&policy, &Grants::default());
    let found = drafts(&policy, &Grants::default(), &transcript());
    assert_eq!(titles(&found), [("decision", "ADR 0007: Use Redis (accepted)"), ("decision", "tokens in Redis")]);
    assert_eq!(found[0].files, ["docs/adr/0007-use-redis.md"]);
    assert_eq!(found[1].content, "tokens in Redis\n\nWhy: workers share them");
    assert_eq!(found[1].origin.at, Some(1_771_840_800_500));
    let grants = with_settings(json!({"marker": "REMEMBER", "folders": []}));
    assert_eq!(titles(&drafts(&policy, &grants, &transcript())), [("decision", "staging is read-only")]);
}

#[test]
fn commit_trailers() {
    let folder = repository().join("policies/commit-trailers");
    let Some(built) = built(&folder) else { return };
    passes("python3", &["-m", "unittest"], &folder);
    let policy = loaded(&built);
    conforms(&policy, &Grants::default());
    let found = drafts(&policy, &Grants::default(), &transcript());
    assert_eq!(titles(&found), [("learning", "Constraint: 10 calls a second"), ("decision", "keep \"tokens\" in Redis")]);
    assert!(found[1].content.contains("Rejected: one cache each"), "{}", found[1].content);
    assert_eq!(found[1].keywords, ["AUTH-12"]);
    assert!(found[1].attributes.contains(&("commit".into(), "1a2b3c4".into())), "{:?}", found[1].attributes);
    let grants = with_settings(json!({"trailers": ["Constraint"]}));
    assert_eq!(titles(&drafts(&policy, &grants, &transcript())), [("learning", "Constraint: 10 calls a second")]);
}

#[test]
fn private_terms() {
    let folder = repository().join("policies/private-terms");
    let Some(built) = built(&folder) else { return };
    passes("node", &["--test"], &folder);
    let policy = loaded(&built);
    let warnings = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&warnings);
    let mut grants = with_settings(json!({"terms": ["Acme Corp", "한빛은행", "мир"], "patterns": ["KD-\\d+", "("]}));
    grants.log = Some(Rc::new(move |_, message: &str| sink.borrow_mut().push(message.to_owned())));
    conforms(&policy, &grants);
    warnings.borrow_mut().clear();
    let mut running = start(&policy, grants);
    let texts = ["for ACME\ncorp: KD-17", "한빛은행에서 온 😀", "МИР [redacted:jwt]", "nothing", ""];
    let mut texts = texts.map(str::to_owned);
    running.redact(&mut texts, until()).expect("it redacts");
    let (term, pattern) = ("[redacted:private-term]", "[redacted:private-pattern]");
    let expected = [
        format!("for {term}: {pattern}"),
        format!("{term}에서 온 😀"),
        format!("{term} [redacted:jwt]"),
        "nothing".to_owned(),
        String::new(),
    ];
    assert_eq!(texts, expected);
    running.redact(&mut texts, until()).expect("it redacts");
    assert_eq!(texts, expected);
    let warnings = warnings.borrow();
    assert!(warnings.len() == 2 && warnings[0].starts_with("patterns[1] is not used"), "{warnings:?}");
}

/// Creates a policy from a template, which must build without changes, and runs its tests.
fn from_template(language: Language) -> Option<BuiltPolicy> {
    let name = format!("new-{}", language.name());
    let folder = template::create(&scratch(language.name()), &name, language).expect("it is created");
    let built = built(&folder)?;
    assert_eq!(built.name, name);
    match language {
        Language::Rust => passes("cargo", &["test", "--release", "--quiet", "--locked"], &folder),
        Language::Python => passes("python3", &["-m", "unittest"], &folder),
        Language::JavaScript => passes("node", &["--test"], &folder),
    }
    Some(built)
}

#[test]
fn a_new_policy_in_rust() {
    let built = from_template(Language::Rust).expect("cargo is there");
    let found = drafts(&loaded(&built), &Grants::default(), &transcript());
    assert_eq!(titles(&found), [("learning", "staging is read-only")]);
    // The same sources give the same bytes in another folder.
    let elsewhere = template::create(&scratch("elsewhere"), "new-rust", Language::Rust).expect("it is created");
    assert_eq!(self::built(&elsewhere).expect("cargo is there").digest, built.digest);
}

/// A source that always returns one decision.
struct OneDecision;

impl MemorySource for OneDecision {
    fn count(&self, _kinds: &[String]) -> anyhow::Result<u64> {
        Ok(1)
    }
    fn recent(&self, kinds: &[String], limit: u32) -> anyhow::Result<Vec<Memory>> {
        assert_eq!((kinds, limit), (["decision".to_owned()].as_slice(), 7));
        Ok(vec![Memory {
            id: "m1".into(),
            session_id: "s0".into(),
            kind: "decision".into(),
            title: "결정: Redis 😀".into(),
            content: "x".into(),
            keywords: Vec::new(),
            files: Vec::new(),
            importance: 0.5,
            created: 1,
            seen: 1,
            score: 0.0,
            attributes: Vec::new(),
        }])
    }
    fn important(&self, _kinds: &[String], _limit: u32) -> anyhow::Result<Vec<Memory>> {
        Ok(Vec::new())
    }
    fn of_session(&self, _session: &str, _kinds: &[String], _limit: u32) -> anyhow::Result<Vec<Memory>> {
        Ok(Vec::new())
    }
    fn search(&self, _query: &str, _kinds: &[String], _limit: u32) -> anyhow::Result<Vec<Memory>> {
        Ok(Vec::new())
    }
    fn knowledge(&self, _limit: u32) -> anyhow::Result<Vec<Fact>> {
        Ok(Vec::new())
    }
    fn sessions(&self, _limit: u32) -> anyhow::Result<Vec<SessionRecord>> {
        Ok(Vec::new())
    }
    fn session(&self, _id: &str) -> anyhow::Result<Option<SessionRecord>> {
        Ok(None)
    }
}

#[test]
fn a_new_policy_in_python() {
    let Some(built) = from_template(Language::Python) else { return };
    let policy = loaded(&built);
    let grants = Grants { memories: Some((Rc::new(OneDecision), KindSet::ALL)), ..with_settings(json!({"most": 7})) };
    let mut running = start(&policy, grants);
    let built = running.build_context(&session(), "startup", 200, Vec::new(), until()).expect("it builds");
    let context = built.expect("there is something to tell");
    assert_eq!(context.text, "### Latest decisions\n- 결정: Redis 😀\n");
    assert_eq!(context.used, ["m1"]);
    assert!(running.build_context(&session(), "startup", 10, Vec::new(), until()).expect("it builds").is_none());
    assert!(running.build_context(&session(), "prompt", 200, Vec::new(), until()).expect("it builds").is_none());
    // An error in the policy's own code becomes the contract's failure, with the error's message and place.
    let mut running = start(&policy, with_settings(json!({"most": "many"})));
    let error = running.build_context(&session(), "startup", 200, Vec::new(), until()).expect_err("that is no number");
    let told = format!("{error:#}");
    assert!(told.contains("ValueError: invalid literal") && told.contains("\n  at app.py, line "), "{told}");
}

#[test]
fn a_new_policy_in_javascript() {
    let Some(built) = from_template(Language::JavaScript) else { return };
    let policy = loaded(&built);
    let mut running = start(&policy, with_settings(json!({"commands": ["make check"]})));
    let mut event = ToolEvent {
        tool: "Bash".into(),
        use_id: "t".into(),
        at: 1,
        input: json!({"command": "make check"}).to_string(),
        output: json!({"stdout": "ok 1\nnot ok 2 - 나누기 😀\n", "stderr": ""}).to_string(),
        succeeded: true,
        error: None,
        duration_ms: Some(7),
    };
    let observation = running.observe(&session(), &event, until()).expect("it answers").expect("it is a test run");
    assert_eq!(
        (observation.summary.as_str(), observation.detail.as_str()),
        ("`make check`: 1 failed", "not ok 2 - 나누기 😀")
    );
    event.input = json!({"command": "ls"}).to_string();
    assert!(running.observe(&session(), &event, until()).expect("it answers").is_none());
    // An error in the policy's own code becomes the contract's failure, with the error's message and place.
    let mut running = start(&policy, with_settings(json!({"commands": 7})));
    event.input = json!({"command": "make check"}).to_string();
    let error = running.observe(&session(), &event, until()).expect_err("that is no list");
    let told = format!("{error:#}");
    assert!(told.contains("TypeError: ") && told.contains("\n  at observe@policy.js:"), "{told}");
}

/// The folder of a new policy, in which the author has replaced a piece of a file.
fn with_mistake(language: Language, file: &str, piece: &str, mistake: &str) -> PathBuf {
    let name = format!("mistaken-{}", language.name());
    let folder = template::create(&scratch(&format!("{name}-{}", mistake.len())), &name, language).expect("it is created");
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).expect("the template has the file");
    assert!(text.contains(piece), "{text}");
    std::fs::write(&path, text.replacen(piece, mistake, 1)).expect("it is written");
    folder
}

#[test]
fn an_authors_panic_is_told_with_its_message_its_place_and_its_function() {
    let mistake = "assert!(record[\"type\"] != \"user\", \"this is the message\");\n    if record[\"type\"] != \"user\"";
    let folder = with_mistake(Language::Rust, "src/remember.rs", "if record[\"type\"] != \"user\"", mistake);
    let policy = loaded(&built(&folder).expect("cargo is there"));
    let logged = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&logged);
    let log: LogSink = Rc::new(move |_, message: &str| sink.borrow_mut().push(message.to_owned()));
    let mut running = start(&policy, Grants { log: Some(log), ..Grants::default() });
    let lines = transcript().into_iter().map(|text| Line { start: 0, end: text.len() as u64 + 1, text }).collect();
    let request = ExtractRequest { session: session(), moment: "stop".into(), state: None, supplements: Vec::new() };
    let error = running.extract(&request, Box::new(Lines(lines)), until()).expect_err("it panics");
    assert!(format!("{error:#}").contains("it panicked in policy::"), "{error:#}");
    let logged = logged.borrow().join("\n");
    assert!(logged.contains("panicked at src/remember.rs:") && logged.contains("this is the message"), "{logged}");
}

#[test]
fn an_author_returns_a_wrong_type_in_python() {
    let folder = with_mistake(Language::Python, "app.py", "Context(text=text, used=used)", "Context(text=text, used=[7])");
    let Some(built) = built(&folder) else { return };
    let grants = Grants { memories: Some((Rc::new(OneDecision), KindSet::ALL)), ..with_settings(json!({"most": 7})) };
    let mut running = start(&loaded(&built), grants);
    let error = running.build_context(&session(), "startup", 200, Vec::new(), until()).expect_err("that is no text");
    assert!(format!("{error:#}").contains("the result.used[0] is a int, not str"), "{error:#}");
}

#[test]
fn an_author_misspells_something_and_the_builds_own_error_comes_first() {
    for (language, file, piece, mistake, first, place) in [
        (Language::Rust, "src/lib.rs", "let marker: String", "let markr: String", "error", "--> src/lib.rs:"),
        (Language::Python, "app.py", "def build(", "def build((", "SyntaxError: ", "app.py"),
        (Language::JavaScript, "policy.js", "function observe(", "function observe((", "SyntaxError: ", "policy.js:"),
    ] {
        let folder = with_mistake(language, file, piece, mistake);
        let error = build::build(&folder, &throughline_compiler::encode, &mut |_| ()).expect_err("that does not compile");
        let told = format!("{error:#}");
        if language != Language::Rust && is_unavailable(&told) {
            continue;
        }
        assert!(told.starts_with(first) && told.lines().take(3).any(|line| line.contains(place)), "{told}");
    }
}
