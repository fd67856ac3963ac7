//! The files that an agent loads on its own when a session starts, so that we do not repeat their content: instructions such as
//! `CLAUDE.md` with what they import, rules, and the index of Claude Code's auto memory. Only the part of a file that the agent
//! loads is compared.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::protocol::claude_code;
use crate::protocol::name::Agent;
use throughline_model::files::canonical;
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

/// The most files that are read, for the same reason.
const MAX_FILES: usize = 64;

/// How far imports are followed, as Claude Code does it.
const MAX_IMPORT_DEPTH: usize = 5;

/// How deep below the folder of rules they are looked for, and how many entries of it are looked at.
const MAX_RULE_DEPTH: usize = 4;
/// See [`MAX_RULE_DEPTH`].
const MAX_RULE_ENTRIES: usize = 200;

/// Returns the texts of the files that the agent loads by itself for a session in `cwd` of the project at `root`.
pub fn loaded_texts(agent: Agent, paths: &Paths, root: &Path, cwd: &Path) -> Vec<String> {
    let mut loading = Loading { agent, paths, root: canonical(root), seen: Vec::new(), texts: Vec::new() };
    for path in instructions(agent, paths, root, cwd) {
        loading.load(&path, 0);
    }
    let mut texts = loading.texts;
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
    let in_each = |folders: &[&Path], names: &[&str]| -> Vec<PathBuf> {
        folders.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name))).collect()
    };
    // From the working folder up to the project's root.
    let mut within: Vec<&Path> = cwd.ancestors().filter(|folder| folder.starts_with(root)).collect();
    if within.is_empty() {
        within.push(root);
    }
    match agent {
        Agent::ClaudeCode => {
            let mut folders: Vec<&Path> = cwd.ancestors().collect();
            folders.extend(root.ancestors().filter(|folder| !cwd.starts_with(folder)));
            let mut all = vec![PathBuf::from("/etc/claude-code/CLAUDE.md"), paths.claude.join("CLAUDE.md")];
            all.extend(in_each(&folders, &["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"]));
            rules_below(&paths.claude.join("rules"), MAX_RULE_DEPTH, &mut all);
            for folder in folders {
                rules_below(&folder.join(".claude/rules"), MAX_RULE_DEPTH, &mut all);
            }
            all
        }
        Agent::Codex => [vec![paths.codex.join("AGENTS.md")], in_each(&within, &["AGENTS.md"])].concat(),
        Agent::Gemini => [vec![paths.gemini.join("GEMINI.md")], in_each(&within, &["GEMINI.md"])].concat(),
        Agent::Copilot => in_each(&within, &[".github/copilot-instructions.md", "AGENTS.md"]),
        Agent::Droid | Agent::Cursor => in_each(&within, &["AGENTS.md"]),
        Agent::Pi => [vec![paths.pi.join("AGENTS.md")], in_each(&within, &["AGENTS.md"])].concat(),
        Agent::Amp => [vec![paths.user_config.join("amp/AGENTS.md")], in_each(&within, &["AGENTS.md"])].concat(),
        Agent::Goose => {
            let own = vec![paths.user_config.join("goose/.goosehints")];
            [own, in_each(&within, &["AGENTS.md", ".goosehints"])].concat()
        }
        Agent::Qwen => [vec![paths.home.join(".qwen/QWEN.md")], in_each(&within, &["QWEN.md", "AGENTS.md"])].concat(),
        Agent::Opencode => [vec![paths.user_config.join("opencode/AGENTS.md")], in_each(&within, &["AGENTS.md"])].concat(),
    }
}

/// Adds the Markdown files below a folder, in the order of their names.
fn rules_below(folder: &Path, depth: usize, into: &mut Vec<PathBuf>) {
    let Ok(entries) = folder.read_dir() else { return };
    let mut found: Vec<PathBuf> = entries.take(MAX_RULE_ENTRIES).filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort();
    for path in found {
        if path.extension().is_some_and(|extension| extension == "md") {
            into.push(path);
        } else if depth > 0 && path.is_dir() {
            rules_below(&path, depth - 1, into);
        }
    }
}

/// Loads files with what they import.
struct Loading<'a> {
    agent: Agent,
    paths: &'a Paths,
    root: PathBuf,
    seen: Vec<PathBuf>,
    texts: Vec<String>,
}

impl Loading<'_> {
    fn load(&mut self, path: &Path, depth: usize) {
        if self.texts.len() >= MAX_FILES || self.seen.iter().any(|seen| seen == path) {
            return;
        }
        self.seen.push(path.to_owned());
        let Some(text) = read(path).filter(|text| !is_for_some_paths(text)) else { return };
        if self.agent == Agent::ClaudeCode && depth < MAX_IMPORT_DEPTH {
            for import in imports(&text) {
                if let Some(path) = self.imported(path, import) {
                    self.load(&path, depth + 1);
                }
            }
        }
        self.texts.push(text);
    }

    /// Returns the file that an import names. The agent asks before it loads a file from outside of the project, and we cannot
    /// know the answer. So such a file does not count, unless the user's own instructions import it.
    fn imported(&self, from: &Path, import: &str) -> Option<PathBuf> {
        let path = match import.strip_prefix("~/") {
            Some(rest) => self.paths.home.join(rest),
            None => from.parent()?.join(import),
        };
        let path = canonical(&path);
        (path.starts_with(&self.root) || from.starts_with(&self.paths.claude)).then_some(path)
    }
}

/// Returns whether a rule is only loaded with files that match its patterns, as the front matter says.
fn is_for_some_paths(text: &str) -> bool {
    let mut lines = text.lines();
    lines.next().is_some_and(|line| line.trim_end() == "---")
        && lines.take_while(|line| line.trim_end() != "---").any(|line| line.starts_with("paths:"))
}

/// Returns the paths that a text imports: words that begin with `@`, outside of code.
fn imports(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let outside = line.split('`').step_by(2);
            let words = outside.flat_map(str::split_whitespace).filter_map(|word| word.strip_prefix('@'));
            let paths = words.map(|word| word.trim_end_matches(['.', ',', ';', ':', ')']));
            found.extend(paths.filter(|path| !path.is_empty()));
        }
    }
    found
}

/// Reads a file without blocking; returns `None` if it is not a regular file or cannot be read.
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
    fn imports_are_words_outside_of_code() {
        let text =
            "See @README.md and @./docs/a.md.\n\n- mail me@example.com, `@not/this`\n```\n@nor/this\n```\n@~/own.md\n";
        assert_eq!(imports(text), ["README.md", "./docs/a.md", "~/own.md"]);
    }

    #[test]
    fn what_is_loaded_comes_from_parents_rules_and_imports() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let (root, cwd) = (dir.join("work/shop"), dir.join("work/shop/web/cart"));
        let write = |path: &str, text: &str| {
            let path = dir.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("work/CLAUDE.md", "above the project\n@secret.md");
        write("work/secret.md", "outside of the project");
        write("work/shop/CLAUDE.md", "of the project\n@docs/style.md\n@../secret.md");
        write("work/shop/docs/style.md", "imported\n@more.md");
        write("work/shop/docs/more.md", "imported by the imported\n@style.md");
        write("work/shop/web/CLAUDE.md", "between");
        write("work/shop/web/cart/CLAUDE.local.md", "of the folder");
        write("work/shop/web/other/CLAUDE.md", "beside");
        write("work/shop/.claude/rules/git/commits.md", "a rule");
        write("work/shop/.claude/rules/css.md", "---\npaths: \"*.css\"\n---\na rule for some files");
        write("work/shop/.claude/rules/notes.txt", "no rule");
        write("home/.claude/rules/own.md", "the user's rule");
        let [data, config, cache, claude] = ["data", "config", "cache", "home/.claude"].map(|name| dir.join(name));
        let [codex, gemini, cursor, copilot, factory, pi, claude_state, user_config] = [(); 8].map(|()| dir.join("other"));
        let (home, managed, namespace) = (dir.join("home"), dir.join("managed"), None);
        let paths = Paths {
            data,
            config,
            cache,
            home,
            claude,
            claude_state,
            codex,
            gemini,
            cursor,
            copilot,
            factory,
            pi,
            user_config,
            managed,
            namespace,
        };
        let mut texts = loaded_texts(Agent::ClaudeCode, &paths, &root, &cwd);
        let machine = read(Path::new("/etc/claude-code/CLAUDE.md"));
        texts.retain(|text| Some(text) != machine.as_ref());
        let mut first: Vec<&str> = texts.iter().filter_map(|text| text.lines().next()).collect();
        first.sort_unstable();
        let wanted = [
            "a rule",
            "above the project",
            "between",
            "imported",
            "imported by the imported",
            "of the folder",
            "of the project",
            "the user's rule",
        ];
        assert_eq!(first, wanted);
        write("work/shop/AGENTS.md", "for Codex");
        write("work/shop/web/AGENTS.md", "for Codex, between");
        assert_eq!(loaded_texts(Agent::Codex, &paths, &root, &cwd), ["for Codex, between", "for Codex"]);
    }

    #[test]
    fn of_a_pipe_nothing_is_read() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("CLAUDE.md"), "Use pnpm.").unwrap();
        assert_eq!(read(&dir.path().join("CLAUDE.md")).as_deref(), Some("Use pnpm."));
        assert_eq!(read(dir.path()), None);
        assert_eq!(read(&dir.path().join("none")), None);
    }
}
