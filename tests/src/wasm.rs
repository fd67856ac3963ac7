//! Policies written by hand: components of WebAssembly text, harmless and hostile.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

/// A component of a core module in text form that targets a world of the contract.
///
/// # Panics
/// Where the module is none, or does not fit the world.
pub fn component(world: &str, module: &str) -> Vec<u8> {
    let mut module = wat::parse_str(module).expect("the module parses");
    let mut resolve = wit_parser::Resolve::default();
    let (package, _) = resolve.push_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../wit/v0.1.0")).expect("the contract parses");
    let world = resolve.select_world(&[package], Some(world)).expect("the world is there");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).expect("the world fits the module");
    ComponentEncoder::default().module(&module).expect("a module").encode().expect("a component")
}

/// A redactor with this body: (list of texts: pointer, length) → pointer to the result. Function `$log` writes to the log.
pub fn redactor(body: &str) -> Vec<u8> {
    component(
        "redactor-policy",
        &format!(
            r#"(module
                (import "throughline:policy/log@0.1.0" "write" (func $log (param i32 i32 i32)))
                (memory (export "memory") 64)
                (table $t (export "table") 1 funcref)
                (global $free (mut i32) (i32.const 65536))
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                    (local $at i32)
                    (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
                    (global.set $free (i32.add (local.get $at) (local.get 3)))
                    (local.get $at))
                (func $redact (export "throughline:policy/redactor@0.1.0#redact") (param i32 i32) (result i32) {body}))"#
        ),
    )
}

/// The body of a redactor that finds nothing: as many empty results as texts, from memory that nobody wrote to.
pub const FINDS_NOTHING: &str = "(i32.store (i32.const 16) (i32.const 0))
    (i32.store (i32.const 20) (i32.const 3145728))
    (i32.store (i32.const 24) (local.get 1))
    (i32.const 16)";

/// An extractor with this body: pointers and lengths of a request → pointer to the result.
pub fn extractor(body: &str) -> Vec<u8> {
    component(
        "extractor-policy",
        &format!(
            r#"(module
                (memory (export "memory") 1400)
                (global $free (mut i32) (i32.const 65536))
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                    (local $at i32)
                    (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
                    (global.set $free (i32.add (local.get $at) (local.get 3)))
                    (local.get $at))
                (func (export "throughline:policy/extractor@0.1.0#extract") (param i32) (result i32) {body}))"#
        ),
    )
}

/// A redactor that keeps the contract: `ghp_` and 20 or more letters and digits become `[redacted:github-token]`.
/// `patch` names what is replaced in its text form, to break it.
///
/// # Panics
/// Where what is to be replaced does not stand there once.
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
