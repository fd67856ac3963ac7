//! The policies in `policies/`, built from their sources with the tools of their languages.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use crate::home::Home;
use crate::{component, env_flag, process, skip, turns};

/// The longest that a build may take: fetching from a registry is in it.
const BUILD: Duration = Duration::from_mins(10);

/// What is said where a language's tool or registry is not there.
pub const UNAVAILABLE: [&str; 6] = [
    "is not installed",
    "cannot be fetched",
    "cannot create a virtual environment",
    "has no library for wasm32",
    "failed to download",
    "command not found",
];

/// One build at a time: two of one policy would write the same files.
static BUILDING: Mutex<()> = Mutex::new(());

/// Builds `policies/NAME` and gives the folder to drop in. None, and a line that says so, where a tool or a registry is not
/// there; a panic where `THROUGHLINE_REQUIRE_LANGUAGES` is set, or where the build fails for another cause.
pub fn build(name: &str, test: &str) -> Option<PathBuf> {
    let _busy = turns::busy();
    let _one = BUILDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = component::workspace().join("policies").join(name);
    let home = Home::cold();
    let mut command = home.command(["policy", "build"]);
    command.arg(&folder);
    toolchains(&mut command);
    let run = process::run(command, Vec::new(), BUILD);
    if run.code == Some(0) {
        return Some(folder.join("dist").join(name));
    }
    let needed = env_flag("THROUGHLINE_REQUIRE_LANGUAGES");
    assert!(!needed && UNAVAILABLE.iter().any(|sign| run.stderr.contains(sign)), "{name} does not build: {run:#?}");
    skip(test, &run.stderr);
    None
}

/// Lets the tools of the languages find what is theirs in an isolated home, and keep what they fetch.
pub fn toolchains(command: &mut std::process::Command) {
    for (variable, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let there = std::env::var_os(variable).map(PathBuf::from);
        command.envs(there.or_else(|| Some(std::env::home_dir()?.join(folder))).map(|folder| (variable, folder)));
    }
    // The toolchain that this repository pins: it is there, and has the target.
    command.envs(std::env::var_os("RUSTUP_TOOLCHAIN").map(|toolchain| ("RUSTUP_TOOLCHAIN", toolchain)));
    let kept = component::workspace().join("target/fetched");
    command.env("PIP_CACHE_DIR", kept.join("pip")).env("npm_config_cache", kept.join("npm"));
}
