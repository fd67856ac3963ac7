//! Compiles components with the configuration of the sandbox. Only the program `throughline-compiler` and tests use it: a
//! program that remembers has no compiler in it, because most of its code and half of its start would be the compiler's.

use anyhow::Result;
use throughline_sandbox::engine;
use wasmtime::{Engine, OptLevel};

/// Compiles a component. Returns what the sandbox's cache stores.
pub fn compile(wasm: &[u8]) -> Result<Vec<u8>> {
    // `engine::SETTINGS` names the level.
    Ok(Engine::new(engine::config().cranelift_opt_level(OptLevel::Speed))?.precompile_component(wasm)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    #[test]
    fn a_component_is_compiled_and_anything_else_refused() {
        assert!(engine::is_precompiled(&compile(EMPTY).unwrap()));
        assert!(compile(b"no component").is_err());
        assert!(compile(&compile(EMPTY).unwrap()).is_err());
    }
}
