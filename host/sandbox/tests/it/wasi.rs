//! Tests WASI in its fixed shape: the functions that a language runtime calls while it starts are answered, with
//! nothing behind them, and what was not granted cannot be linked.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tests::wasm::{FINDS_NOTHING, redactor_with_wasi};
use throughline_sandbox::capability::Capabilities;
use throughline_sandbox::engine::{EpochTicker, Limits};
use throughline_sandbox::imports::Grants;
use throughline_sandbox::instance::{LinkError, LinkedPolicy};
use throughline_sandbox::stage::Stage;

fn link(wasm: &[u8], granted: &[&str]) -> anyhow::Result<Arc<LinkedPolicy>> {
    let clock = EpochTicker::start()?;
    let mut terms = crate::support::terms("wasi", &[Stage::Redactor], Limits::default());
    terms.capabilities = Capabilities::parse(granted.iter().copied()).map_err(anyhow::Error::msg)?;
    Ok(Arc::new(crate::support::link(&clock, terms, wasm)?))
}

/// Runs the redactor over one text and returns what it logged.
fn run(wasm: &[u8], granted: &[&str]) -> anyhow::Result<Vec<String>> {
    let said = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&said);
    let log: throughline_sandbox::imports::LogSink =
        Rc::new(move |_, message: &str| sink.borrow_mut().push(message.to_owned()));
    let until = Instant::now() + Duration::from_secs(2);
    let mut running = link(wasm, granted)?.start(Grants { log: Some(log), ..Grants::default() }, until)?;
    running.redact(&mut ["text".to_owned()], until)?;
    Ok(said.take())
}

/// Returns code that traps unless this number is on the stack.
fn must_be(number: u32) -> String {
    format!("(if (i32.ne (i32.const {number})) (then (unreachable)))")
}

#[test]
fn a_runtime_finds_nothing_and_its_output_is_logged() {
    let wit = "import wasi:cli/environment@0.2.0; import wasi:cli/stdout@0.2.0; import wasi:filesystem/preopens@0.2.0;";
    let imports = r#"
        (import "wasi:cli/environment@0.2.0" "get-environment" (func $environment (param i32)))
        (import "wasi:cli/environment@0.2.0" "get-arguments" (func $arguments (param i32)))
        (import "wasi:filesystem/preopens@0.2.0" "get-directories" (func $directories (param i32)))
        (import "wasi:cli/stdout@0.2.0" "get-stdout" (func $stdout (result i32)))
        (import "wasi:io/streams@0.2.0" "[method]output-stream.blocking-write-and-flush" (func $write (param i32 i32 i32 i32)))
        (import "wasi:io/streams@0.2.0" "[method]output-stream.check-write" (func $check (param i32 i32)))
        (import "wasi:io/streams@0.2.0" "[resource-drop]output-stream" (func $drop (param i32)))"#;
    let empty = |function: &str| format!("(call ${function} (i32.const 256)) (i32.load (i32.const 260)) {}", must_be(0));
    let body = format!(
        "(local $out i32) {} {} {}
         (local.set $out (call $stdout))
         (call $check (local.get $out) (i32.const 256)) (i32.load8_u (i32.const 256)) {}
         (call $write (local.get $out) (i32.const 1024) (i32.const 22) (i32.const 256)) (i32.load8_u (i32.const 256)) {}
         (call $drop (local.get $out))
         {FINDS_NOTHING}",
        empty("environment"),
        empty("arguments"),
        empty("directories"),
        must_be(0),
        must_be(0),
    );
    let wasm = redactor_with_wasi(wit, imports, &body);
    assert_eq!(run(&wasm, &["wasi"]).expect("it runs"), ["hello from the policy"]);
    let error = link(&wasm, &["log", "random", "wall-clock"]).err().expect("it does not link");
    let unfit = error.downcast::<LinkError>().expect("it is said why");
    assert!(unfit.what.contains("wasi:") && unfit.what.contains("the capability wasi"), "{unfit:?}");
    assert!(unfit.hint.contains("throughline policy grant wasi wasi"), "{unfit:?}");
}

#[test]
fn clocks_and_randomness_are_capabilities_of_their_own() {
    let wit = "import wasi:clocks/wall-clock@0.2.0; import wasi:random/random@0.2.0;";
    let imports = r#"
        (import "wasi:clocks/wall-clock@0.2.0" "now" (func $now (param i32)))
        (import "wasi:random/random@0.2.0" "get-random-u64" (func $random (result i64)))"#;
    // The time is after 2020, and two random numbers differ.
    let body = format!(
        "(call $now (i32.const 256))
         (if (i64.lt_u (i64.load (i32.const 256)) (i64.const 1577836800)) (then (unreachable)))
         (if (i64.eq (call $random) (call $random)) (then (unreachable)))
         {FINDS_NOTHING}"
    );
    let wasm = redactor_with_wasi(wit, imports, &body);
    run(&wasm, &["wall-clock", "random"]).expect("it runs");
    for (granted, missing) in [(["wall-clock", "wasi"], "random"), (["random", "wasi"], "wall-clock")] {
        let error = link(&wasm, &granted).err().expect("it does not link");
        assert!(format!("{error:#}").contains(&format!("the capability {missing}")), "{error:#}");
    }
}

#[test]
fn what_no_runtime_needs_traps_and_is_named() {
    let wit = "import wasi:cli/exit@0.2.0;";
    let imports = r#"(import "wasi:cli/exit@0.2.0" "exit" (func $exit (param i32)))"#;
    let wasm = redactor_with_wasi(wit, imports, &format!("(call $exit (i32.const 0)) {FINDS_NOTHING}"));
    let error = run(&wasm, &["wasi"]).expect_err("it does not end the host");
    assert!(format!("{error:#}").contains("wasi:cli/exit.exit, which no policy can use"), "{error:#}");
}

#[test]
fn random_bytes_are_bounded() {
    let wit = "import wasi:random/random@0.2.0;";
    let imports = r#"(import "wasi:random/random@0.2.0" "get-random-bytes" (func $bytes (param i64 i32)))"#;
    let body = format!("(call $bytes (i64.const 4000000000) (i32.const 256)) {FINDS_NOTHING}");
    let error = run(&redactor_with_wasi(wit, imports, &body), &["random"]).expect_err("that is too much");
    assert!(format!("{error:#}").contains("4000000000 random bytes"), "{error:#}");
}
