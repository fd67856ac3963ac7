//! Builds a policy in Rust: cargo makes a core module, which is then turned into a component.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Encoder;
use super::source::PolicySource;
use super::tool::Tool;

/// A target without an operating system, hence without WASI imports.
const TARGET: &str = "wasm32-unknown-unknown";

const CARGO: Tool = Tool {
    program: "cargo",
    purpose: "to build policies in Rust",
    remedy: "Install Rust from https://rustup.rs, or a package such as `cargo`.",
};
const RUSTC: Tool = Tool { program: "rustc", purpose: CARGO.purpose, remedy: CARGO.remedy };

pub(super) fn component(source: &PolicySource, encode: &Encoder, say: &mut dyn FnMut(&str)) -> Result<Vec<u8>> {
    require_target(&source.folder)?;
    say("building for wasm32-unknown-unknown with cargo");
    let module = cargo(source)?;
    say("turning the module into a component");
    let bytes = fs::read(&module).with_context(|| format!("{} cannot be read", module.display()))?;
    encode(&bytes).context("the module cannot be turned into a component: does it `export!` the world that [build] names?")
}

/// Fails unless the toolchain that the folder selects has the target's library.
fn require_target(folder: &Path) -> Result<()> {
    let sysroot = RUSTC.run(RUSTC.command().args(["--print", "sysroot"]).current_dir(folder))?;
    if !Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).join("lib").is_dir() {
        bail!(
            "the Rust toolchain in {} has no library for {TARGET}, the target that policies are built for. Run `rustup target add {TARGET}` in {}.",
            sysroot.trim(),
            folder.display()
        );
    }
    Ok(())
}

/// Runs cargo and returns the path of the module.
fn cargo(source: &PolicySource) -> Result<PathBuf> {
    let mut command = CARGO.command();
    command
        .args(["build", "--release", "--target", TARGET, "--message-format", "json-render-diagnostics"])
        .arg("--target-dir")
        .arg(source.folder.join("target"))
        .current_dir(&source.folder)
        .env("CARGO_ENCODED_RUSTFLAGS", mapped_paths(&source.folder).join(OsStr::new("\u{1f}")))
        .env_remove("RUSTFLAGS");
    if source.folder.join("Cargo.lock").exists() {
        command.arg("--locked");
    }
    let messages = CARGO.run(&mut command)?;
    messages
        .lines()
        .filter_map(module)
        .next_back()
        .context("cargo did not produce a WebAssembly module: Cargo.toml needs [lib] with crate-type = [\"cdylib\"]")
}

/// Returns the WebAssembly module that a cargo message names. The folder's own crate comes last.
fn module(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let files = message["filenames"].as_array()?;
    files.iter().filter_map(Value::as_str).map(PathBuf::from).find(|file| file.extension().is_some_and(|end| end == "wasm"))
}

/// Returns compiler flags that remap the paths of this machine, so that the same sources give the same bytes elsewhere.
fn mapped_paths(folder: &Path) -> Vec<OsString> {
    let home =
        std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let mut paths = vec![(folder.to_path_buf(), "/policy")];
    if let Some(home) = home {
        // The names of these folders depend on the registry's address.
        let registries = fs::read_dir(home.join("registry/src")).into_iter().flatten().flatten();
        paths.push((home, "/cargo"));
        paths.extend(registries.map(|entry| (entry.path(), "/registry")));
    }
    // If several prefixes match, the compiler uses the last.
    paths
        .into_iter()
        .map(|(from, to)| {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(from);
            flag.push("=");
            flag.push(to);
            flag
        })
        .collect()
}
