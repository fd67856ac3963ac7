//! Policies written by hand: components of WebAssembly text, harmless and hostile.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

/// A component of a core module in text form that targets a world of the contract, of the version that the module names.
///
/// # Panics
/// Where the module is none, or does not fit the world.
pub fn component(world: &str, text: &str) -> Vec<u8> {
    let mut module = wat::parse_str(text).expect("the module parses");
    let mut resolve = wit_parser::Resolve::default();
    let folder = if text.contains("@0.2.0") { "wit/v0.2.0" } else { "wit/v0.1.0" };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let (package, _) = resolve.push_dir(folder).expect("the contract parses");
    let world = resolve.select_world(&[package], Some(world)).expect("the world is there");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).expect("the world fits the module");
    ComponentEncoder::default().module(&module).expect("a module").encode().expect("a component")
}

/// Hands out memory, and never takes it back: what a component must export to be given anything.
const REALLOC: &str = r#"(global $free (mut i32) (i32.const 65536))
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (local $at i32)
        (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
        (global.set $free (i32.add (local.get $at) (local.get 3)))
        (local.get $at))"#;

/// A redactor with this body: (list of texts: pointer, length) → pointer to the result. Function `$log` writes to the log.
pub fn redactor(body: &str) -> Vec<u8> {
    component(
        "redactor-policy",
        &format!(
            r#"(module
                (import "throughline:policy/log@0.1.0" "write" (func $log (param i32 i32 i32)))
                (memory (export "memory") 64)
                (table $t (export "table") 1 funcref)
                {REALLOC}
                (func $redact (export "throughline:policy/redactor@0.1.0#redact") (param i32 i32) (result i32) {body}))"#
        ),
    )
}

/// A consolidator with this body: a pointer to a request → pointer to the result. It can call `$complete` and `$allowance`.
pub fn consolidator(body: &str) -> Vec<u8> {
    component(
        "consolidator-policy",
        &format!(
            r#"(module
                (import "throughline:policy/model@0.2.0" "complete"
                    (func $complete (param i32 i32 i32 i32 i32 i32 i32 i32 i32)))
                (import "throughline:policy/model@0.2.0" "allowance" (func $allowance (result i64)))
                (memory (export "memory") 64)
                {REALLOC}
                (func (export "throughline:policy/consolidator@0.2.0#consolidate") (param i32) (result i32) {body}))"#
        ),
    )
}

/// The body of a redactor that finds nothing: as many empty results as texts, from memory that nobody wrote to.
pub const FINDS_NOTHING: &str = "(i32.store (i32.const 16) (i32.const 0))
    (i32.store (i32.const 20) (i32.const 3145728))
    (i32.store (i32.const 24) (local.get 1))
    (i32.const 16)";

/// A small redactor that needs gigabytes to compile: each of the nested loops hands on each of the variables.
///
/// # Panics
/// Never, unless [`component`] does.
pub fn redactor_that_is_slow_to_compile() -> Vec<u8> {
    const LOOPS: usize = 2_000;
    const VARIABLES: usize = 4_000;
    let locals = "i64 ".repeat(VARIABLES);
    let counted: String = (2..VARIABLES + 2)
        .map(|it| format!("local.get {it} i64.const 1 i64.add local.set {it}\n"))
        .collect::<Vec<_>>()
        .concat();
    let (begin, end) = ("loop\n".repeat(LOOPS), "local.get 0 br_if 0 end\n".repeat(LOOPS));
    redactor(&format!("(local {locals})\n{begin}{counted}{end}{FINDS_NOTHING}"))
}

/// The redactor of [`redactor`] for version 0.2 of the contract.
pub fn redactor_0_2(body: &str) -> Vec<u8> {
    component(
        "redactor-policy",
        &format!(
            r#"(module
                (import "throughline:policy/log@0.2.0" "write" (func $log (param i32 i32 i32)))
                (memory (export "memory") 64)
                {REALLOC}
                (func (export "throughline:policy/redactor@0.2.0#redact") (param i32 i32) (result i32) {body}))"#
        ),
    )
}

/// An extractor with this body: pointers and lengths of a request → pointer to the result.
pub fn extractor(body: &str) -> Vec<u8> {
    component(
        "extractor-policy",
        &format!(
            r#"(module
                (memory (export "memory") 1400)
                {REALLOC}
                (func (export "throughline:policy/extractor@0.1.0#extract") (param i32) (result i32) {body}))"#
        ),
    )
}

/// A redactor that keeps the contract: `ghp_` and 20 or more letters and digits become `[redacted:github-token]`.
/// `patch` names what is replaced in its text form, to break it.
///
/// # Panics
/// If the text to replace does not occur exactly once.
pub fn token_redactor(patch: Option<(&str, &str)>) -> Vec<u8> {
    const MODULE: &str = include_str!("redactor.wat");
    let module = match patch {
        None => MODULE.to_owned(),
        Some((what, with)) => {
            assert_eq!(MODULE.matches(what).count(), 1, "{what} stands there once");
            MODULE.replace(what, with)
        }
    };
    component("redactor-policy", &module)
}

/// A policy of one stage whose function takes a pointer and returns one.
fn one_function(world: &str, function: &str, body: &str) -> Vec<u8> {
    component(
        world,
        &format!(
            r#"(module
                (memory (export "memory") 64)
                {REALLOC}
                (data (i32.const 1024) "{}")
                (func (export "{function}") (param i32) (result i32) {body}))"#,
            "x".repeat(64)
        ),
    )
}

/// A context builder with this body; `None` is a pointer to zeros, such as `(i32.const 16)`.
pub fn context_builder(body: &str) -> Vec<u8> {
    one_function("context-builder-policy", "throughline:policy/context-builder@0.1.0#build", body)
}

/// The body of a context builder that writes `length` (at most 64) times the letter.
pub fn writes(letter: char, length: u32) -> String {
    format!(
        "(memory.fill (i32.const 1024) (i32.const {}) (i32.const {length}))
         (i32.store8 (i32.const 20) (i32.const 1)) (i32.store (i32.const 24) (i32.const 1024))
         (i32.store (i32.const 28) (i32.const {length})) (i32.const 16)",
        u32::from(letter)
    )
}

/// A summarizer with this body; likewise.
pub fn summarizer(body: &str) -> Vec<u8> {
    one_function("summarizer-policy", "throughline:policy/summarizer@0.1.0#summarize", body)
}

/// A redactor that also imports WASI: `imports` has the functions that it may call in text form, and `wit` has them as
/// lines of a world.
pub fn redactor_with_wasi(wit: &str, imports: &str, body: &str) -> Vec<u8> {
    let module = format!(
        r#"(module
            {imports}
            (memory (export "memory") 64)
            {REALLOC}
            (data (i32.const 1024) "hello from the policy\n")
            (func (export "throughline:policy/redactor@0.1.0#redact") (param i32 i32) (result i32) {body}))"#
    );
    let mut module = wat::parse_str(&module).expect("the module parses");
    let mut resolve = wit_parser::Resolve::default();
    for package in WASI {
        resolve.push_str("wasi.wit", package).expect("the packages parse");
    }
    resolve.push_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../wit/v0.1.0")).expect("the contract parses");
    let world = format!("package test:wasi;\nworld w {{\n{wit}\nexport throughline:policy/redactor@0.1.0;\n}}\n");
    let package = resolve.push_str("world.wit", &world).expect("the world parses");
    let world = resolve.select_world(&[package], Some("w")).expect("the world is there");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).expect("the world fits the module");
    ComponentEncoder::default().module(&module).expect("a module").encode().expect("a component")
}

/// As much of WASI 0.2 as the tests use, as WASI has it.
const WASI: [&str; 5] = [
    "package wasi:io@0.2.0;
     interface poll { resource pollable { ready: func() -> bool; block: func(); } poll: func(in: list<borrow<pollable>>) -> list<u32>; }
     interface error { resource error { to-debug-string: func() -> string; } }
     interface streams {
        use error.{error};
        use poll.{pollable};
        variant stream-error { last-operation-failed(error), closed }
        resource output-stream {
            check-write: func() -> result<u64, stream-error>;
            blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>;
            subscribe: func() -> pollable;
        }
     }",
    "package wasi:cli@0.2.0;
     interface environment { get-environment: func() -> list<tuple<string, string>>; get-arguments: func() -> list<string>; }
     interface stdout { use wasi:io/streams@0.2.0.{output-stream}; get-stdout: func() -> output-stream; }
     interface exit { exit: func(status: result); }",
    "package wasi:clocks@0.2.0;
     interface wall-clock { record datetime { seconds: u64, nanoseconds: u32 } now: func() -> datetime; }",
    "package wasi:random@0.2.0;
     interface random { get-random-bytes: func(len: u64) -> list<u8>; get-random-u64: func() -> u64; }",
    "package wasi:filesystem@0.2.0;
     interface types { resource descriptor { sync: func(); } }
     interface preopens { use types.{descriptor}; get-directories: func() -> list<tuple<descriptor, string>>; }",
];
