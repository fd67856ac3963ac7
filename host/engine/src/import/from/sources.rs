//! Finds the files in which other systems keep their memories: in the usual places, or in a place that the user named.

use std::fs;
use std::path::{Path, PathBuf};

use super::system::{DefaultLocation, Root, System};
use throughline_platform::paths::Paths;

/// The error if nothing was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NothingFound {
    /// The places that were searched, or the one that was named.
    pub places: Vec<PathBuf>,
}

/// Returns the files to read: those of the named place, or of the usual places. `projects` are the project folders to
/// search.
pub fn find(
    system: &System,
    named: Option<&Path>,
    paths: &Paths,
    projects: &[PathBuf],
) -> Result<Vec<PathBuf>, NothingFound> {
    let mut found = Vec::new();
    let mut looked = Vec::new();
    if let Some(named) = named {
        looked.push(named.to_path_buf());
        if named.is_file() {
            found.push(named.to_path_buf());
        } else if system.takes_all_markdown {
            markdown(named, &mut found);
        } else {
            for usual in system.locations {
                for folder in [named.to_path_buf(), named.join(usual.folder)] {
                    find_in(system, usual, &folder, &mut found);
                }
            }
        }
    } else {
        for usual in system.locations {
            let roots = match usual.root {
                Root::Home => std::slice::from_ref(&paths.home),
                Root::Agent => std::slice::from_ref(&paths.claude),
                Root::Project => projects,
            };
            for root in roots {
                let folder = root.join(usual.folder);
                looked.extend(usual.files.iter().map(|file| folder.join(file)));
                find_in(system, usual, &folder, &mut found);
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| path.canonicalize().is_ok_and(|path| seen.insert(path)));
    if found.is_empty() { Err(NothingFound { places: looked }) } else { Ok(found) }
}

fn find_in(system: &System, usual: &DefaultLocation, folder: &Path, found: &mut Vec<PathBuf>) {
    let before = found.len();
    for file in usual.files {
        expand(folder, file, found);
    }
    if found.len() == before {
        let mut beside = Vec::new();
        for file in system.instead {
            expand(folder, file, &mut beside);
        }
        if !beside.is_empty() {
            found.push(folder.to_path_buf());
        }
    }
}

/// Adds the files below `folder` that match a pattern, sorted.
fn expand(folder: &Path, pattern: &str, found: &mut Vec<PathBuf>) {
    let (part, rest) = pattern.split_once('/').map_or((pattern, None), |(part, rest)| (part, Some(rest)));
    let mut paths = if part.contains('*') {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .filter(|entry| matches_pattern(&entry.file_name().to_string_lossy(), part))
            .map(|entry| entry.path())
            .collect()
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

/// Returns whether a name matches a pattern; each `*` stands for any text.
fn matches_pattern(name: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(name) = name.strip_prefix(start) else { return false };
    if rest.is_empty() {
        return true;
    }
    name.char_indices().map(|(at, _)| at).chain([name.len()]).any(|at| matches_pattern(&name[at..], rest))
}

/// Adds all Markdown files below a folder. Hidden files and folders, those that start with `_`, and symbolic links are
/// skipped.
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
            assert_eq!(matches_pattern(name, pattern), yes, "{name} {pattern}");
        }
    }
}
