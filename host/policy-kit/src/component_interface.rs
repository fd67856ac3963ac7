//! Reads a component's imports and exports from its bytes, without compiling or running it.

use anyhow::{Context, Result, bail};
use serde::Serialize;
use wit_component::{DecodedWasm, decode};
use wit_parser::{Resolve, WorldItem, WorldKey};

/// The names of a component's interfaces and functions, with their versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComponentInterface {
    /// What it imports.
    pub imports: Vec<String>,
    /// What it exports.
    pub exports: Vec<String>,
}

/// Reads the imports and exports of a component.
pub fn read(bytes: &[u8]) -> Result<ComponentInterface> {
    // The first eight bytes are the magic number, the version and the layer.
    match bytes.get(..8) {
        Some(b"\0asm\x0d\0\x01\0") => {}
        Some(b"\0asm\x01\0\0\0") => bail!("it is a core module and not a component"),
        _ if throughline_sandbox::engine::is_precompiled(bytes) => {
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
