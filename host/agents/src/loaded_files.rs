//! The files that an agent loads by itself when a session starts, so that nothing is told twice: instructions such as `CLAUDE.md`, and the
//! index of Claude Code's auto memory. Of a file only what the agent loads counts.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::protocol::claude_code;
use crate::protocol::name::Agent;
use throughline_platform::open::FileOptions as _;
use throughline_platform::paths::Paths;

/// The index of Claude Code's auto memory, the only file of it that is loaded at a session's start.
pub const INDEX: &str = "MEMORY.md";

/// How much of the index Claude Code 2.1.330 loads.
const MAX_INDEX_LINES: usize = 200;
/// See [`MAX_INDEX_LINES`].
const MAX_INDEX_BYTES: usize = 25_000;

/// How much of a file of instructions is read. Agents load them whole, but a hook has little time.
const MAX_BYTES: u64 = 256 << 10;

/// Returns the texts of the files that the agent loads by itself for a session in `cwd` of the project at `root`.
pub fn loaded_texts(agent: Agent, paths: &Paths, root: &Path, cwd: &Path) -> Vec<String> {
    let mut texts: Vec<String> = instructions(agent, paths, root, cwd).iter().filter_map(|path| read(path)).collect();
    if agent == Agent::ClaudeCode {
        let folders = [root, cwd].map(|folder| paths.claude.join("projects").join(claude_code::slug(folder)).join("memory"));
        let index = folders.iter().find_map(|folder| read(&folder.join(INDEX)));
        texts.extend(index.map(|text| {
            let lines: Vec<&str> = text.lines().take(MAX_INDEX_LINES).collect();
            let text = lines.join("\n");
            text[..text.floor_char_boundary(MAX_INDEX_BYTES)].to_owned()
        }));
    }
    texts
}

/// Returns where the agent's instructions may be.
fn instructions(agent: Agent, paths: &Paths, root: &Path, cwd: &Path) -> Vec<PathBuf> {
    let below = |names: &[&str]| {
        let mut found: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
        if cwd != root && cwd.starts_with(root) {
            found.extend(names.iter().map(|name| cwd.join(name)));
        }
        found
    };
    match agent {
        Agent::ClaudeCode => {
            [vec![paths.claude.join("CLAUDE.md")], below(&["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"])].concat()
        }
        Agent::Codex => [vec![paths.codex.join("AGENTS.md")], below(&["AGENTS.md"])].concat(),
        Agent::Gemini => [vec![paths.gemini.join("GEMINI.md")], below(&["GEMINI.md"])].concat(),
        Agent::Copilot => below(&[".github/copilot-instructions.md", "AGENTS.md"]),
        Agent::Droid | Agent::Cursor => below(&["AGENTS.md"]),
    }
}

/// Reads a file without blocking; none if it is no regular file, or cannot be read.
fn read(path: &Path) -> Option<String> {
    let mut options = File::options();
    options.read(true).nonblocking();
    let file = options.open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_pipe_nothing_is_read() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("CLAUDE.md"), "Use pnpm.").unwrap();
        assert_eq!(read(&dir.path().join("CLAUDE.md")).as_deref(), Some("Use pnpm."));
        assert_eq!(read(dir.path()), None);
        assert_eq!(read(&dir.path().join("none")), None);
    }
}
