//! What the end-to-end tests share: the binary under test, isolated homes, synthetic transcripts and a fake model API.
//!
//! Nothing here knows the product's code. It is driven as Claude Code drives it: a process, JSON on its standard input, an
//! exit code, and what it leaves on the disk.
#![expect(clippy::missing_panics_doc, reason = "a test harness panics where a test has failed")]

pub mod bulk;
pub mod cited;
pub mod client;
pub mod commits;
pub mod component;
pub mod contract_doc;
pub mod database;
pub mod drop_in;
pub mod eval;
pub mod fake_api;
pub mod fake_model;
pub mod fake_provider;
pub mod faults;
pub mod growth;
pub mod guest;
pub mod home;
mod http;
pub mod judgement;
pub mod managed;
pub mod matrix;
pub mod mcp;
pub mod measure;
pub mod modules;
pub mod moving;
pub mod opencode;
pub mod pi;
pub mod picture;
pub mod postgres;
pub mod process;
pub mod redaction;
pub mod schemas;
pub mod scrub;
pub mod session;
pub mod sources;
pub mod team;
pub mod transcript;
pub mod turns;
pub mod viewer;
pub mod wasm;

use std::path::{Path, PathBuf};

/// Says on stderr that a test could not run here, and why. The words are grepped for by nobody: they are for people.
pub fn skip(what: &str, why: &str) {
    eprintln!("skipped: {what}: {why}");
}

/// Whether the bytes hold the text.
pub fn holds(bytes: &[u8], text: impl AsRef<[u8]>) -> bool {
    memchr::memmem::find(bytes, text.as_ref()).is_some()
}

/// Whether the variable is set to something other than nothing and `0`.
pub fn env_flag(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !value.is_empty() && value != "0")
}

/// The number in the variable, or the default where it is not set.
pub fn env_number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {value:?}")))
}

/// The folder of real transcripts: what `THROUGHLINE_CORPUS` names, else `../shared/corpus` beside the repository. None, and a
/// line that says so, where there is none.
pub fn corpus(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("THROUGHLINE_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"), PathBuf::from);
    if folder.join("CATALOGUE.md").is_file() {
        return Some(folder.canonicalize().expect("a path"));
    }
    skip(test, &format!("no corpus at {}", folder.display()));
    None
}
