//! Components of both versions of the contract, side by side, and what only the newer one has.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tests::wasm;
use throughline_model::contract::Session;
use throughline_model::project::Project;
use throughline_sandbox::capability::Capabilities;
use throughline_sandbox::engine::{EpochTicker, Limits};
use throughline_sandbox::imports::{Grants, ModelError, ModelRequest, ModelSource, Reply};
use throughline_sandbox::instance::{ConsolidateRequest, PolicyInstance, Terms, describe_failure};
use throughline_sandbox::stage::Stage;

use crate::support;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

fn start(stage: Stage, wasm: &[u8], grants: Grants) -> PolicyInstance {
    let clock = EpochTicker::start().expect("an engine");
    let capabilities = Capabilities { model: true, ..Capabilities::of_default() };
    let terms = Terms { capabilities, ..support::terms("versions", &[stage], Limits::default()) };
    let loaded = Arc::new(support::link(&clock, terms, wasm).expect("it links"));
    loaded.start(grants, soon()).expect("it starts")
}

#[test]
fn both_versions_run_and_log() {
    let body = format!("(call $log (i32.const 1) (i32.const 0) (i32.const 0)) {}", wasm::FINDS_NOTHING);
    for wasm in [wasm::redactor(&body), wasm::redactor_0_2(&body)] {
        let logged = Rc::new(Cell::new(0));
        let count = Rc::clone(&logged);
        let grants = Grants { log: Some(Rc::new(move |_, _| count.set(count.get() + 1))), ..Grants::default() };
        let mut instance = start(Stage::Redactor, &wasm, grants);
        let redacted = instance.redacted(&["a".into(), "b".into()], soon()).expect("it answers");
        assert_eq!((redacted.len(), logged.get()), (2, 1));
    }
}

#[test]
fn a_component_that_mixes_versions_or_is_of_another_is_refused() {
    let clock = EpochTicker::start().expect("an engine");
    for (imports, word) in [
        (["0.1.0", "0.2.0"], "mixes the versions 0.1.0 and 0.2.0"),
        (["0.3.0", "0.3.0"], "built for version 0.3.0"),
        (["0.2.1", "0.2.1"], "built for version 0.2.1"),
    ] {
        let import =
            |interface: &str, version: &str| format!("(import \"throughline:policy/{interface}@{version}\" (instance))");
        let text = format!("(component {} {})", import("settings", imports[0]), import("log", imports[1]));
        let bytes = wat::parse_str(text).expect("it parses");
        let error = support::link(&clock, support::terms("versions", &[], Limits::default()), &bytes).err();
        let error = format!("{:#}", error.expect("it does not link"));
        assert!(error.contains(word), "{error}");
    }
    // Version 0.1 has no such interface, granted or not.
    let text =
        "(component (import \"throughline:policy/model@0.1.0\" (instance (export \"allowance\" (func (result u64))))))";
    let bytes = wat::parse_str(text).expect("it parses");
    let capabilities = Capabilities { model: true, ..Capabilities::of_default() };
    let terms = Terms { capabilities, ..support::terms("versions", &[], Limits::default()) };
    assert!(support::link(&clock, terms, &bytes).is_err());
}

/// Answers after a while.
struct Slow {
    wait: Duration,
    asked: RefCell<Vec<ModelRequest>>,
}

impl ModelSource for Slow {
    fn complete(&self, request: ModelRequest) -> Result<Reply, ModelError> {
        self.asked.borrow_mut().push(request);
        std::thread::sleep(self.wait);
        Err(ModelError::Unavailable("slow".into()))
    }

    fn allowance(&self) -> u64 {
        7
    }
}

const ASKS: &str = "(call $complete (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
    (i32.const 0) (i32.const 9) (i32.const 1024))";

fn consolidate(body: &str, model: Option<Rc<dyn ModelSource>>, time: Duration) -> anyhow::Result<()> {
    let mut instance = start(Stage::Consolidator, &wasm::consolidator(body), Grants { model, ..Grants::default() });
    let session = Session::new("s", &Project::shared(), std::path::Path::new("/p"), "claude-code", None, 0);
    let request = ConsolidateRequest { session, scope: "session".into(), sources: Vec::new() };
    let answer = instance.consolidate(&request, Instant::now() + time)?;
    assert!(answer.memories.is_empty() && answer.superseded.is_empty());
    Ok(())
}

#[test]
fn waiting_for_the_model_is_not_the_policys_time() {
    let slow = Rc::new(Slow { wait: Duration::from_millis(400), asked: RefCell::default() });
    consolidate(&format!("{ASKS} {ASKS} (i32.const 16)"), Some(slow.clone()), Duration::from_millis(150)).expect("in time");
    assert_eq!(slow.asked.borrow().iter().map(|request| request.max_tokens).collect::<Vec<_>>(), [9, 9]);
    // What it computes itself is, also after it waited.
    let error = consolidate(&format!("{ASKS} (loop $l (br $l)) (i32.const 16)"), Some(slow), Duration::from_millis(150));
    assert_eq!(describe_failure(&error.expect_err("it never ends")), "stopped at its deadline");
}

#[test]
fn nobody_asks_without_a_model_or_without_end() {
    // The variant of the answer: `err` (1) with `not-allowed` (0).
    let checks = format!(
        "{ASKS} (if (i32.ne (i32.load8_u (i32.const 1024)) (i32.const 1)) (then unreachable))
         (if (i64.ne (call $allowance) (i64.const 0)) (then unreachable)) (i32.const 16)"
    );
    consolidate(&checks, None, Duration::from_secs(1)).expect("it is told that it may not");
    let quick = Rc::new(Slow { wait: Duration::ZERO, asked: RefCell::default() });
    let error =
        consolidate(&format!("(loop $l {ASKS} (br $l)) (i32.const 16)"), Some(quick.clone()), Duration::from_secs(5));
    let error = format!("{:#}", error.expect_err("it has an end"));
    assert!(error.contains("asked the model more than 100 times"), "{error}");
    assert_eq!(quick.asked.borrow().len(), 100);
}
