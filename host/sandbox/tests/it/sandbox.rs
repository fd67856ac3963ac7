//! Tests every limit of the sandbox with hostile, hand-written components in the engine that hooks use.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tests::wasm::redactor;
use throughline_model::digest::sha256_hex;
use throughline_sandbox::cache::Cache;
use throughline_sandbox::chain::Sandbox;
use throughline_sandbox::engine::{EpochTicker, Limits};
use throughline_sandbox::imports::Grants;
use throughline_sandbox::instance::Terms;
use throughline_sandbox::stage::Stage;

use crate::support::link;

/// Returns the terms for a hostile component: all capabilities of the contract, and tight limits.
fn terms(stages: &[Stage]) -> Terms {
    let limits = Limits { memory_bytes: 8 << 20, table_elements: 1_000, items: 8, ..Limits::default() };
    crate::support::terms("hostile", stages, limits)
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(1)
}

/// Runs the redactor over one text with little time and memory, and returns its error.
fn failure(body: &str) -> String {
    failure_within(body, Duration::from_millis(200))
}

fn failure_within(body: &str, time: Duration) -> String {
    let clock = EpochTicker::start().expect("an engine");
    let bytes = redactor(body);
    let loaded = Arc::new(link(&clock, terms(&[Stage::Redactor]), &bytes).expect("it links"));
    let mut running = loaded.start(Grants::default(), soon()).expect("it starts");
    let mut texts = ["text".to_owned()];
    let started = Instant::now();
    let error = running.redact(&mut texts, Instant::now() + time).expect_err("it fails");
    assert!(started.elapsed() < time + Duration::from_secs(5), "it was stopped in time");
    assert_eq!(texts[0], "text", "nothing of its result is used");
    format!("{error:#}")
}

#[test]
fn an_endless_loop_ends_at_the_deadline() {
    let error = failure("(loop $l (br $l)) (i32.const 0)");
    assert!(error.contains("stopped at its deadline"), "{error}");
    assert!(error.contains("policy hostile (dddddddddddd), stage redactor"), "{error}");
}

#[test]
fn endless_recursion_meets_the_end_of_the_stack() {
    let error = failure("(call $redact (local.get 0) (local.get 1))");
    assert!(error.contains("stack"), "{error}");
}

#[test]
fn memory_does_not_grow_beyond_its_limit() {
    let error = failure("(loop $l (br_if $l (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (i32.const 0)");
    assert!(error.contains("memory") && !error.contains("backtrace"), "{error}");
}

#[test]
fn tables_do_not_grow_beyond_their_limit() {
    let error = failure(
        "(loop $l (br_if $l (i32.ne (table.grow $t (ref.null func) (i32.const 500)) (i32.const -1)))) (i32.const 0)",
    );
    assert!(error.contains("table"), "{error}");
}

#[test]
fn calls_of_the_host_are_counted() {
    let body = "(loop $l (call $log (i32.const 0) (i32.const 0) (i32.const 0)) (br $l)) (i32.const 0)";
    let error = failure_within(body, Duration::from_secs(20));
    assert!(error.contains("called the host more than 250000 times"), "{error}");
}

/// A component can consist of many core instances, and each costs the host something before any of its code runs.
#[test]
fn instances_are_counted() {
    let clock = EpochTicker::start().expect("an engine");
    let instances = "(core instance (instantiate $m))\n".repeat(9);
    let bytes = wat::parse_str(format!("(component (core module $m) {instances})")).expect("it parses");
    let loaded = Arc::new(link(&clock, terms(&[]), &bytes).expect("it links"));
    let error = loaded.start(Grants::default(), soon()).err().expect("eight are allowed");
    assert!(format!("{error:#}").contains("instance"), "{error:#}");
}

#[test]
fn a_trap_is_an_error_and_no_more() {
    let error = failure("unreachable");
    assert!(error.contains("unreachable"), "{error}");
}

#[test]
fn a_result_outside_of_its_memory_is_refused() {
    let error = failure("(i32.const 0x7ffffff0)");
    assert!(error.contains("policy hostile"), "{error}");
}

#[test]
fn a_result_that_is_no_text_is_refused() {
    // ok([{ text: some("\ff"), findings: [] }])
    let error = failure(
        "(i32.store (i32.const 16) (i32.const 0)) (i32.store (i32.const 20) (i32.const 64)) (i32.store (i32.const 24) (i32.const 1))
         (i32.store (i32.const 64) (i32.const 1)) (i32.store (i32.const 68) (i32.const 128)) (i32.store (i32.const 72) (i32.const 1))
         (i32.store (i32.const 76) (i32.const 0)) (i32.store (i32.const 80) (i32.const 0))
         (i32.store8 (i32.const 128) (i32.const 255)) (i32.const 16)",
    );
    assert!(error.to_lowercase().contains("utf-8"), "{error}");
}

#[test]
fn a_result_of_another_length_is_refused() {
    // ok([])
    let error = failure(
        "(i32.store (i32.const 16) (i32.const 0)) (i32.store (i32.const 20) (i32.const 64)) (i32.store (i32.const 24) (i32.const 0))
         (i32.const 16)",
    );
    assert!(error.contains("1 texts and returned 0"), "{error}");
}

#[test]
fn what_the_contract_does_not_have_cannot_be_imported() {
    let clock = EpochTicker::start().expect("an engine");
    let bytes = wat::parse_str(
        r#"(component (import "wasi:filesystem/preopens@0.2.0" (instance (export "get-directories" (func)))))"#,
    )
    .expect("it parses");
    let error = link(&clock, terms(&[]), &bytes).err().expect("it does not link");
    assert!(format!("{error:#}").contains("wasi:filesystem/preopens"), "{error:#}");
}

fn session() -> throughline_model::contract::Session {
    let root = std::path::Path::new("/p");
    throughline_model::contract::Session::new(
        "s",
        &throughline_model::project::Project::discover(root),
        root,
        "claude-code",
        None,
        0,
    )
}

/// The stages that no hook calls yet also work through the sandbox.
#[test]
fn the_default_policy_observes_plans_and_names_its_findings() {
    let dir = tempfile::tempdir().expect("a folder");
    let until = Instant::now() + Duration::from_mins(1);
    let sandbox = Sandbox::compiling_with(throughline_compiler::compile, Cache::new(dir.path())).expect("an engine");
    let (policy, _) = sandbox.default_policy(Some(until)).expect("it loads");
    let mut running = policy.start(Grants::default(), until).expect("it starts");
    let event = throughline_sandbox::instance::ToolEvent {
        tool: "Bash".into(),
        use_id: "t".into(),
        at: 0,
        input: r#"{"command":"cargo test"}"#.into(),
        output: r#"{"stdout":"test result: ok","stderr":"","interrupted":false}"#.into(),
        succeeded: true,
        error: None,
        duration_ms: Some(7),
    };
    let observation = running.observe(&session(), &event, until).expect("it answers").expect("it is worth keeping");
    assert!(observation.summary.contains("cargo test"), "{observation:?}");
    let search = running.plan(&session(), "Why does refresh_token fail in src/auth.rs?", None, until).expect("it answers");
    assert!(search.expect("there is something to look for").text.contains("refresh_token"));
    assert!(running.plan(&session(), "ok", None, until).expect("it answers").is_none());
    let mut texts = ["curl -H 'Authorization: Bearer sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789'".to_owned()];
    running.redact(&mut texts, until).expect("it answers");
    assert!(texts[0].contains("[redacted:") && !texts[0].contains("abcdefghij"), "{}", texts[0]);
}

#[test]
fn a_stage_that_is_not_there_is_named() {
    let clock = EpochTicker::start().expect("an engine");
    let loaded = Arc::new(link(&clock, terms(&[Stage::Redactor]), &redactor("unreachable")).expect("it links"));
    let mut running = loaded.start(Grants::default(), soon()).expect("it starts");
    let error =
        running.plan(&session(), "x", None, Instant::now() + Duration::from_secs(1)).expect_err("there is no such stage");
    assert_eq!(error.to_string(), "policy hostile has no stage query");
}

/// The default policy imports only the contract's capabilities: no WASI.
#[test]
fn the_default_policy_imports_nothing_but_the_contract() {
    let bytes =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../policies/default/policy.wasm")).expect("it is committed");
    let clock = EpochTicker::start().expect("an engine");
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::new(folder.path().join("components"));
    let compile = throughline_compiler::compile;
    let loaded = cache.load_or_compile(clock.engine(), &sha256_hex(&bytes), &bytes, Instant::now(), compile);
    let (component, _) = loaded.expect("it compiles");
    let foreign: Vec<String> = component
        .component_type()
        .imports(clock.engine())
        .map(|(name, _)| name.to_owned())
        .filter(|name| !name.starts_with("throughline:policy/"))
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

/// The version in the cache key of compiled components is the one in Cargo.lock.
#[test]
fn the_key_names_the_wasmtime_that_is_used() {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock")).expect("it is committed");
    let version = throughline_sandbox::engine::WASMTIME_VERSION;
    assert!(lock.contains(&format!("name = \"wasmtime\"\nversion = \"{version}\"\n")), "engine.rs says {version}");
}
