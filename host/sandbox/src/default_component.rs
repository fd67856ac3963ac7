//! The default policy's component. It is compressed, because only the one process that compiles it needs it.

use std::io::Read as _;

use anyhow::{Context as _, Result};
use lzma_rust2::LzmaReader;

/// The component in the format `.lzma`, as `build.rs` writes it.
const COMPRESSED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/policy.wasm.lzma"));

/// The limit for the decoder's memory, in KiB. Its dictionary is about as large as the component.
const MAX_MEMORY: u32 = 32 << 10;

/// Returns the component, a few megabytes. Unpacking it takes a small part of the time that compiling it takes.
pub(crate) fn bytes() -> Result<Vec<u8>> {
    let mut component = Vec::new();
    LzmaReader::new_mem_limit(COMPRESSED, MAX_MEMORY, None)
        .and_then(|mut reader| reader.read_to_end(&mut component))
        .context("the default policy cannot be unpacked")?;
    Ok(component)
}
