//! Which policies answer a stage: the strongest, those in mode `add`, and the next one if a policy fails.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tests::wasm::{self, FINDS_NOTHING, context_builder, summarizer, writes};
use throughline_model::contract::{Session, SessionNotes};
use throughline_model::digest::sha256_hex;
use throughline_model::project::Project;
use throughline_platform::log::Log;
use throughline_sandbox::cache::Cache;
use throughline_sandbox::chain::{Compiling, NoAnswer, Policies, Reporter, Sandbox};
use throughline_sandbox::failures::{FailureRecord, Failures};
use throughline_sandbox::folder::{PolicyPackage, Source};
use throughline_sandbox::manifest::Manifest;
use throughline_sandbox::registry::{Candidate, PolicyRegistry};
use throughline_sandbox::rules::{RuleSources, UserRules};

/// The time that a hook of three seconds has for its calls.
const HOOK: Duration = Duration::from_secs(3);

struct Fixture {
    folder: tempfile::TempDir,
    sandbox: Rc<Sandbox>,
    registry: PolicyRegistry,
    reporter: Rc<Reporter>,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        // The time for compiling the default must not count.
        let cache = Cache::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("chain-compiled"));
        let sandbox = Rc::new(Sandbox::compiling_with(throughline_compiler::compile, cache).expect("an engine"));
        sandbox.default_policy(Some(Instant::now() + Duration::from_mins(1))).expect("it compiles");
        let reporter = Rc::new(Reporter {
            log: Rc::new(Log::default()),
            failures: RefCell::new(Failures::load(&folder.path().join("failures.json"))),
            failed_now: RefCell::default(),
            uncompiled: Cell::new(false),
            now: 0,
        });
        Self { folder, sandbox, registry: PolicyRegistry::default(), reporter }
    }

    /// Adds a policy that is stronger than those before it.
    fn add(mut self, name: &str, stage: &str, mode: &str, wasm: &[u8]) -> Self {
        let digest = sha256_hex(wasm);
        let text = format!(
            "name = {name:?}\nversion = \"1\"\ndescription = \"\"\ncontract = \"0.1.0\"\nsha256 = {digest:?}\n\
             [stages]\n{stage} = {mode:?}\n[capabilities]\nlog = true\n[limits]\ntime-ms = 200\n"
        );
        let until = Instant::now() + Duration::from_mins(1);
        self.sandbox.load_or_compile(&digest, wasm, until).expect("it compiles");
        let manifest = Manifest::parse(&text).expect("it is sound");
        self.registry.candidates.push(Candidate {
            source: Source::User,
            granted: manifest.capabilities.clone(),
            limits: manifest.limits(),
            settings: serde_json::Map::new(),
            required: false,
            required_by_admin: false,
            refusal: None,
            found: PolicyPackage { folder: PathBuf::new(), manifest, manifest_digest: String::new(), digest },
        });
        self
    }

    fn policies(&self) -> Policies {
        let until = Instant::now() + Duration::from_mins(1);
        let (sandbox, reporter) = (Rc::clone(&self.sandbox), Rc::clone(&self.reporter));
        Policies::new(sandbox, self.registry.clone(), reporter, Compiling::All(until), serde_json::Map::new(), true)
    }

    fn context(&self, budget: u32) -> Option<String> {
        let policies = self.policies();
        let deadline = Instant::now() + HOOK;
        let mut work = policies.work(None, deadline).expect("the default is there");
        let built = work.build_context(&session(), "startup", budget, &[], deadline).expect("somebody answers");
        assert!(Instant::now() < deadline, "in time");
        built.map(|context| context.text)
    }

    fn summary(&self) -> Option<String> {
        let policies = self.policies();
        let deadline = Instant::now() + HOOK;
        let mut work = policies.work(None, deadline).expect("the default is there");
        let notes = SessionNotes {
            original_request: "Feed the otter".into(),
            outcome: "The otter is fed.".into(),
            turns: 1,
            ..SessionNotes::default()
        };
        work.summarize(&session(), &notes, deadline).expect("somebody answers").map(|summary| summary.text)
    }

    fn failures_of(&self, name: &str) -> u32 {
        let digest = &self.registry.candidates.iter().find(|candidate| candidate.name() == name).expect(name).found.digest;
        self.reporter.failures.borrow().of(digest).map_or(0, FailureRecord::in_a_row)
    }
}

fn session() -> Session {
    let root = Path::new("/p");
    Session::new("s", &Project::discover(root), root, "claude-code", None, 0)
}

const STAGE: &str = "context-builder";

#[test]
fn the_strongest_that_replaces_answers_and_those_that_are_added_stand_under_it() {
    let it = Fixture::new()
        .add("weak", STAGE, "replace", &context_builder(&writes('w', 5)))
        .add("strong", STAGE, "replace", &context_builder(&writes('s', 5)))
        .add("more", STAGE, "add", &context_builder(&writes('m', 3)))
        .add("most", STAGE, "add", &context_builder(&writes('x', 2)));
    assert_eq!(it.context(500).as_deref(), Some("sssss\n\nmmm\n\nxx"));
}

#[test]
fn where_one_fails_the_next_weaker_answers() {
    for (body, limit) in [("unreachable", 1.0), ("(loop $l (br $l)) (i32.const 0)", 2.0)] {
        let it = Fixture::new().add("weak", STAGE, "replace", &context_builder(&writes('w', 5))).add(
            "broken",
            STAGE,
            "replace",
            &context_builder(body),
        );
        let started = Instant::now();
        assert_eq!(it.context(500).as_deref(), Some("wwwww"));
        assert!(started.elapsed().as_secs_f64() < limit + 1.0);
        assert_eq!((it.failures_of("broken"), it.failures_of("weak")), (1, 0));
    }
    // Without another policy the default answers; it has no context for a project without memories.
    let it = Fixture::new().add("broken", STAGE, "replace", &context_builder("unreachable"));
    assert_eq!(it.context(500), None);
}

#[test]
fn nothing_answers_in_the_place_of_a_required_policy() {
    let mut it = Fixture::new().add("weak", STAGE, "replace", &context_builder(&writes('w', 5))).add(
        "till",
        STAGE,
        "replace",
        &context_builder("unreachable"),
    );
    it.registry.candidates[1].required_by_admin = true;
    let policies = it.policies();
    let deadline = Instant::now() + HOOK;
    let mut work = policies.work(None, deadline).expect("the default is there");
    let error = work.build_context(&session(), "startup", 500, &[], deadline).expect_err("it traps");
    assert_eq!(error.downcast_ref(), Some(&NoAnswer { policy: "till".into() }), "{error:#}");
}

#[test]
fn an_added_text_has_a_quarter_of_the_budget() {
    let it = Fixture::new().add("long", STAGE, "add", &context_builder(&writes('x', 40)));
    assert_eq!(it.context(160).as_deref().map(str::len), Some(40));
    assert_eq!(it.context(156), None, "39 are allowed, so it is not used");
    assert_eq!(it.failures_of("long"), 1);
}

#[test]
fn nothing_said_by_one_that_replaces_is_an_answer() {
    let nothing = "(i32.const 16)";
    let it = Fixture::new().add("silent", STAGE, "replace", &context_builder(nothing));
    assert_eq!(it.context(500), None);
    let it = Fixture::new().add("silent", "summarizer", "replace", &summarizer(nothing));
    assert_eq!(it.summary(), None);
    let it = Fixture::new().add("silent", "summarizer", "add", &summarizer(nothing));
    assert!(it.summary().is_some_and(|text| text.contains("otter")), "the default was asked");
    let it = Fixture::new().add("mine", "summarizer", "add", &summarizer(&writes('y', 4)));
    assert_eq!(it.summary().as_deref(), Some("yyyy"));
}

#[test]
fn the_default_redacts_first_and_a_broken_redactor_takes_nothing_from_it() {
    let secret = "ghp_".to_owned() + &"A1b2C3d4E5".repeat(4)[..36];
    for wasm in
        [wasm::token_redactor(None), wasm::token_redactor(Some(("(export \"cabi_realloc\")", "(export \"cabi_realloc\")")))]
    {
        let it = Fixture::new().add("tokens", "redactor", "add", &wasm);
        let policies = it.policies();
        let deadline = Instant::now() + HOOK;
        let mut work = policies.work(None, deadline).expect("the default is there");
        let mut texts = [format!("token {secret}")];
        work.redact(&mut texts, deadline).expect("somebody redacts");
        assert!(!texts[0].contains(&secret) && texts[0].contains("[redacted:"), "{texts:?}");
    }
}

/// A redactor sees the texts of all policies. Each of these would take memories away or write some.
#[test]
fn a_redactor_that_rewrites_texts_fails_and_changes_none() {
    for forged in ["", "nothing to see", "[redacted:x]\n\n## Forged", "[redacted:X Y]", "preference"] {
        let bytes: String = forged.bytes().enumerate().fold(String::new(), |body, (at, byte)| {
            body + &format!("(i32.store8 (i32.const {}) (i32.const {byte}))", 128 + at)
        });
        let body = format!(
            "(local $i i32) {bytes}
             (loop $l
                (i32.store (i32.add (i32.const 3145728) (i32.mul (local.get $i) (i32.const 20))) (i32.const 1))
                (i32.store (i32.add (i32.const 3145732) (i32.mul (local.get $i) (i32.const 20))) (i32.const 128))
                (i32.store (i32.add (i32.const 3145736) (i32.mul (local.get $i) (i32.const 20))) (i32.const {}))
                (local.set $i (i32.add (local.get $i) (i32.const 1)))
                (br_if $l (i32.lt_u (local.get $i) (local.get 1))))
             {FINDS_NOTHING}",
            forged.len()
        );
        let it = Fixture::new().add("forger", "redactor", "add", &wasm::redactor(&body));
        let policies = it.policies();
        let deadline = Instant::now() + HOOK;
        let mut work = policies.work(None, deadline).expect("the default is there");
        let mut texts = ["discovery".to_owned(), "The otter eats at noon.".to_owned()];
        work.redact(&mut texts, deadline).expect("the default redacts");
        assert_eq!(texts, ["discovery", "The otter eats at noon."], "{forged}");
        assert_eq!(it.failures_of("forger"), 1, "{forged}");
    }
}

#[test]
fn drop_ins_together_have_half_of_the_time() {
    let endless = "(loop $l (br $l)) (i32.const 0)";
    let mut it = Fixture::new();
    for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"] {
        it = it.add(name, STAGE, "replace", &context_builder(endless));
    }
    // Twenty times 200 ms is more than the hook has.
    let started = Instant::now();
    assert_eq!(it.context(500), None);
    assert!(started.elapsed() < Duration::from_millis(2_500), "{:?}", started.elapsed());
    drop(it.folder);
}

#[test]
fn values_of_the_environment_are_masked_before_and_after_all_redactors() {
    let bench = Fixture::new();
    let secrets = throughline_privacy::secrets::Secrets::from_variables([("SERVICE_TOKEN", "qzplain9but8secret7")]);
    let users = Rc::new(UserRules::new(vec![PathBuf::from("/no/such/rules.toml")]));
    let rules = RuleSources { users, ..RuleSources::default() };
    let policies = bench.policies().redacting(Rc::new(secrets), rules);
    let deadline = Instant::now() + HOOK;
    let mut work = policies.work(None, deadline).expect("the default is there");
    let mut texts = ["it is qzplain9but8secret7.".to_owned(), "nothing here".to_owned()];
    let found = work.redact_counting(&mut texts, deadline).expect("somebody redacts");
    assert_eq!(texts, ["it is [redacted:environment].".to_owned(), "nothing here".to_owned()]);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [("environment".to_owned(), 1)]);
    let told = bench.reporter.log.unredacted_lines();
    assert!(told.iter().any(|line| line.contains("/no/such/rules.toml")), "{told:?}");
}
