//! Duplicate-hook detection: finds out whether an agent has Throughline hooks of its own. If it has, hooks that the
//! agent also runs by another way (Claude Code's settings, `notify`) do nothing, so that no event is counted twice.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::name::Agent;
use throughline_platform::paths::Paths;

/// How many bytes of a hook file are read at most.
const MAX_BYTES: u64 = 4 << 20;

/// Returns whether a hook file of the agent, the user's or this folder's, registers Throughline's hooks.
pub fn has_own_hooks(paths: &Paths, agent: Agent, folder: &Path) -> bool {
    let word = format!("--agent {}", agent.name());
    files(paths, agent, folder).iter().any(|file| file_contains(file, &word))
}

fn files(paths: &Paths, agent: Agent, folder: &Path) -> Vec<PathBuf> {
    let both = |user: PathBuf, project: &str| vec![user, folder.join(project)];
    match agent {
        Agent::ClaudeCode => Vec::new(),
        Agent::Codex => [
            both(paths.codex.join("hooks.json"), ".codex/hooks.json"),
            both(paths.codex.join("config.toml"), ".codex/config.toml"),
        ]
        .concat(),
        Agent::Gemini => both(paths.gemini.join("settings.json"), ".gemini/settings.json"),
        Agent::Cursor => both(paths.cursor.join("hooks.json"), ".cursor/hooks.json"),
        Agent::Copilot => {
            let mut files = both(paths.copilot.join("settings.json"), ".github/copilot/settings.json");
            for folder in both(paths.copilot.join("hooks"), ".github/hooks") {
                files.extend(fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()));
            }
            files
        }
        Agent::Droid => [
            both(paths.factory.join("hooks.json"), ".factory/hooks.json"),
            both(paths.factory.join("settings.json"), ".factory/settings.json"),
        ]
        .concat(),
    }
}

fn file_contains(file: &Path, word: &str) -> bool {
    let mut bytes = Vec::new();
    let read = fs::metadata(file).is_ok_and(|meta| meta.is_file())
        && fs::File::open(file).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)).is_ok();
    read && memchr::memmem::find(&bytes, b"throughline").is_some() && memchr::memmem::find(&bytes, word.as_bytes()).is_some()
}
