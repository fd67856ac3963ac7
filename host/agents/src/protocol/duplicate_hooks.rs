//! Duplicate-hook detection: finds out whether an agent has Throughline hooks of its own. If it has, hooks that the
//! agent also runs by another way (Claude Code's settings, `notify`) do nothing, so that no event is counted twice.

use std::fs;
use std::io::Read;
use std::path::Path;

use super::name::Agent;
use crate::settings::agents::hook_files;
use throughline_platform::paths::Paths;

/// How many bytes of a hook file are read at most.
const MAX_BYTES: u64 = 4 << 20;

/// Returns whether a hook file of the agent, the user's or this folder's, registers Throughline's hooks.
pub fn has_own_hooks(paths: &Paths, agent: Agent, folder: &Path) -> bool {
    let word = format!("--agent {}", agent.name());
    hook_files(agent, paths, folder).iter().any(|file| file_contains(file, &word))
}

fn file_contains(file: &Path, word: &str) -> bool {
    let mut bytes = Vec::new();
    let read = fs::metadata(file).is_ok_and(|meta| meta.is_file())
        && fs::File::open(file).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)).is_ok();
    read && memchr::memmem::find(&bytes, b"throughline").is_some() && memchr::memmem::find(&bytes, word.as_bytes()).is_some()
}
