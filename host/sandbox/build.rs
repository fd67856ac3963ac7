//! Compresses the default policy's component, which the program contains and seldom needs.

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;

use lzma_rust2::{LzmaOptions, LzmaWriter};

/// The component, relative to the crate's folder.
const COMPONENT: &str = "default-policy/policy.wasm";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={COMPONENT}");
    let component = fs::read(COMPONENT)?;
    let mut options = LzmaOptions::with_preset(9);
    // No larger than it need be: whoever unpacks it allocates as much.
    options.dict_size = u32::try_from(component.len().next_power_of_two())?;
    let length = u64::try_from(component.len())?;
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(length))?;
    writer.write_all(&component)?;
    let folder = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    fs::write(Path::new(&folder).join("policy.wasm.lzma"), writer.finish()?)?;
    Ok(())
}
