//! Compiles components, reads their interfaces, and makes them of core modules.

use anyhow::{Context, Result, bail};
use throughline_sandbox::compile::ComponentInterface;
use throughline_sandbox::engine;
use wasmtime::{Engine, OptLevel};
use wit_component::{ComponentEncoder, DecodedWasm, decode};
use wit_parser::{Resolve, WorldItem, WorldKey};

/// Compiles a component. Returns what the sandbox's cache stores.
pub fn compile(wasm: &[u8]) -> Result<Vec<u8>> {
    // `engine::SETTINGS` names the level.
    Ok(Engine::new(engine::config().cranelift_opt_level(OptLevel::Speed))?.precompile_component(wasm)?)
}

/// Makes a component of a core module whose custom sections describe its interfaces.
pub fn encode(module: &[u8]) -> Result<Vec<u8>> {
    ComponentEncoder::default().module(module).and_then(|encoder| encoder.validate(true).encode())
}

/// Reads the imports and exports of a component from its bytes, without compiling or running it.
pub fn interface(bytes: &[u8]) -> Result<ComponentInterface> {
    // The first eight bytes are the magic number, the version and the layer.
    match bytes.get(..8) {
        Some(b"\0asm\x0d\0\x01\0") => {}
        Some(b"\0asm\x01\0\0\0") => bail!("it is a core module and not a component"),
        _ if engine::is_precompiled(bytes) => {
            bail!("it is a compiled artifact and not a component; Throughline only runs code that it compiled itself")
        }
        _ => bail!("it is not WebAssembly"),
    }
    let DecodedWasm::Component(resolve, world) = decode(bytes).context("it is damaged")? else {
        bail!("it is a package of interfaces and not a component");
    };
    let world = &resolve.worlds[world];
    Ok(ComponentInterface { imports: names(&resolve, world.imports.iter()), exports: names(&resolve, world.exports.iter()) })
}

fn names<'a>(resolve: &Resolve, items: impl Iterator<Item = (&'a WorldKey, &'a WorldItem)>) -> Vec<String> {
    let mut names: Vec<String> = items
        .filter(|(_, item)| !matches!(item, WorldItem::Type { .. }))
        .map(|(key, _)| resolve.name_world_key(key))
        .collect();
    names.sort();
    names
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

    #[test]
    fn what_has_no_interfaces_is_named() {
        let none = interface(EMPTY).unwrap();
        assert!(none.imports.is_empty() && none.exports.is_empty());
        let fails = |bytes: &[u8]| interface(bytes).unwrap_err().to_string();
        assert!(fails(b"\0asm\x01\0\0\0").contains("core module"));
        assert!(fails(b"hello").contains("not WebAssembly"));
        assert!(fails(&compile(EMPTY).unwrap()).contains("compiled artifact"));
        assert!(encode(b"hello").is_err());
    }
}
