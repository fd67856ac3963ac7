//! Where systems keep what they remember: the usual places, and what of a place that was named is theirs.

use std::fs;
use std::path::{Path, PathBuf};

use super::System;
use throughline_platform::paths::Paths;

/// Where one kind of file of a system usually lies.
struct Usual {
    /// Below the user's home, the agent's folder, or each project.
    root: Root,
    /// The folder there.
    folder: &'static str,
    /// Files in it; `*` stands for any part of one name.
    files: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Home,
    Agent,
    Project,
}

const fn usual(root: Root, folder: &'static str, files: &'static [&'static str]) -> Usual {
    Usual { root, folder, files }
}

impl System {
    fn usual(self) -> &'static [Usual] {
        match self {
            Self::JikimeMem => {
                const {
                    &[usual(
                        Root::Home,
                        ".jikime-mem",
                        &["jikime-mem.db", "projects/*/jikime-mem.db", "prisma/jikime-mem.db"],
                    )]
                }
            }
            // Where the database is gone, what stands beside it is still there.
            Self::JikimeAdk => const { &[usual(Root::Project, ".jikime/memory", &["memory.db"])] },
            Self::ClaudeMem => const { &[usual(Root::Home, ".claude-mem", &["claude-mem.db"])] },
            Self::OpenClaw => const { &[usual(Root::Home, ".openclaw", &["*.sqlite", "memory/*.sqlite"])] },
            Self::MemoryKeeper => {
                const {
                    &[
                        usual(
                            Root::Agent,
                            "memory-keeper",
                            &["memory.md", "sessions/*", "projects/*/memory.md", "projects/*/sessions/*"],
                        ),
                        usual(
                            Root::Project,
                            ".crabshell/memory",
                            &["project.md", "logbook.md", "logbook_*.md", "*.summary.json", "sessions/*"],
                        ),
                    ]
                }
            }
            Self::SessionContext => {
                const { &[usual(Root::Project, ".claude", &["session-context.json", "session-context.json.bak"])] }
            }
            Self::Markdown => &[],
        }
    }
}

/// Where nothing was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nothing {
    /// The places that were looked at, or the one that was named.
    pub places: Vec<PathBuf>,
}

/// The project that rows are of which name none; none: that of the present folder.
pub(super) fn stands_for(system: System) -> Option<String> {
    match system {
        System::Markdown | System::SessionContext => None,
        system => Some(system.name().to_owned()),
    }
}

/// The files to read: of the place that was named, or else of the usual ones. `projects` are the folders of projects to look
/// in.
pub fn find(system: System, named: Option<&Path>, paths: &Paths, projects: &[PathBuf]) -> Result<Vec<PathBuf>, Nothing> {
    let mut found = Vec::new();
    let mut looked = Vec::new();
    if let Some(named) = named {
        looked.push(named.to_path_buf());
        if named.is_file() {
            found.push(named.to_path_buf());
        } else if system == System::Markdown {
            markdown(named, &mut found);
        } else {
            for usual in system.usual() {
                for folder in [named.to_path_buf(), named.join(usual.folder)] {
                    within(system, usual, &folder, &mut found);
                }
            }
        }
    } else {
        for usual in system.usual() {
            let roots = match usual.root {
                Root::Home => std::slice::from_ref(&paths.home),
                Root::Agent => std::slice::from_ref(&paths.claude),
                Root::Project => projects,
            };
            for root in roots {
                let folder = root.join(usual.folder);
                looked.extend(usual.files.iter().map(|file| folder.join(file)));
                within(system, usual, &folder, &mut found);
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| path.canonicalize().is_ok_and(|path| seen.insert(path)));
    if found.is_empty() { Err(Nothing { places: looked }) } else { Ok(found) }
}

fn within(system: System, usual: &Usual, folder: &Path, found: &mut Vec<PathBuf>) {
    let before = found.len();
    for file in usual.files {
        expand(folder, file, found);
    }
    let mut beside = Vec::new();
    if system == System::JikimeAdk && found.len() == before {
        for file in ["MEMORY.md", "*-*-*.md"] {
            expand(folder, file, &mut beside);
        }
    }
    if !beside.is_empty() {
        found.push(folder.to_path_buf());
    }
}

/// The files below `folder` that a pattern names, in order.
fn expand(folder: &Path, pattern: &str, found: &mut Vec<PathBuf>) {
    let (part, rest) = pattern.split_once('/').map_or((pattern, None), |(part, rest)| (part, Some(rest)));
    let mut paths = if part.contains('*') {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter(|entry| fits(&entry.file_name().to_string_lossy(), part)).map(|entry| entry.path()).collect()
    } else {
        vec![folder.join(part)]
    };
    paths.sort();
    for path in paths {
        match rest {
            Some(rest) => expand(&path, rest, found),
            None if path.is_file() => found.push(path),
            None => {}
        }
    }
}

/// Whether a name fits a pattern; each `*` stands for any text.
fn fits(name: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(name) = name.strip_prefix(start) else { return false };
    if rest.is_empty() {
        return true;
    }
    name.char_indices().map(|(at, _)| at).chain([name.len()]).any(|at| fits(&name[at..], rest))
}

/// All Markdown below a folder. Hidden files and folders, schemas and links are passed over.
fn markdown(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<fs::DirEntry> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(['.', '_']) {
            continue;
        }
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            markdown(&entry.path(), found);
        } else if kind.is_file() && Path::new(&name).extension().is_some_and(|end| end.eq_ignore_ascii_case("md")) {
            found.push(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_names() {
        for (name, pattern, yes) in [
            ("main.sqlite", "*.sqlite", true),
            (".sqlite", "*.sqlite", true),
            ("main.sqlite-wal", "*.sqlite", false),
            ("2026-02-20.md", "*-*-*.md", true),
            ("notes-1.md", "*-*-*.md", false),
            ("한글.summary.json", "*.summary.json", true),
            ("logbook.md", "logbook_*.md", false),
            ("anything", "*", true),
        ] {
            assert_eq!(fits(name, pattern), yes, "{name} {pattern}");
        }
    }
}
