//! Determines which project a folder belongs to: its git common directory, so that worktrees share one memory, or its
//! canonical path. Never the base name: two folders of the same name are two projects.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::digest::{hex, sha256_parts};

/// The largest `.git` or `commondir` file that is read, bytes: they hold one path.
const MOST_POINTER_BYTES: u64 = 8 << 10;

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Opaque and stable: the first 16 hexadecimal digits of the SHA-256 of `identity`.
    pub id: String,
    /// `git:` and the common directory, `dir:` and the folder, `name:` and a name, or `shared:`.
    pub identity: String,
    /// The main work tree's root or the folder itself; for a named project, the name, which is relative.
    pub root: PathBuf,
}

impl Project {
    /// Returns the project of the folder `cwd`, which need not exist (any more).
    pub fn of(cwd: &Path) -> Self {
        let folder = fs::canonicalize(cwd).unwrap_or_else(|_| normalize(cwd));
        // A path of another operating system (`C:\\…`) is only a name here; it must not be looked up below the current
        // folder.
        let known = folder.is_absolute().then(|| folder.ancestors()).into_iter().flatten();
        for candidate in known {
            if let Some(common) = git_common_dir(&candidate.join(".git")) {
                // `/repo/.git` → `/repo`; a bare repository or a submodule's directory is its own root.
                let root = match common.file_name() {
                    Some(name) if name == ".git" => common.parent().unwrap_or(&common).to_path_buf(),
                    _ => candidate.to_path_buf(),
                };
                return Self::new("git:", &common, root);
            }
        }
        Self::new("dir:", &folder.clone(), folder)
    }

    /// Returns the project with a plain name that is not a folder: imported memories can come from anywhere.
    pub fn named(name: &str) -> Self {
        Self::new("name:", Path::new(name), PathBuf::from(name))
    }

    /// Returns the project of memories shared with all projects. No folder and no name has its identity.
    pub fn shared() -> Self {
        Self { root: PathBuf::from("(shared)"), ..Self::new("shared:", Path::new(""), PathBuf::new()) }
    }

    /// Returns whether this is the project of shared memories.
    pub fn is_shared(&self) -> bool {
        self.identity == "shared:"
    }

    /// Returns whether the text is a plain name, such as `shop` or `owner/shop`, and not a path. Paths are absolute,
    /// start with `.` or `~`, or are another operating system's (`C:\\…`).
    pub fn is_name(text: &str) -> bool {
        let mut bytes = text.bytes();
        let drive = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic()) && bytes.next() == Some(b':');
        !text.trim().is_empty() && !text.starts_with(['/', '\\', '.', '~']) && !drive
    }

    fn new(scheme: &str, place: &Path, root: PathBuf) -> Self {
        let identity = format!("{scheme}{}", place.to_string_lossy());
        Self { id: hex(&sha256_parts(&[&identity])[..8]), identity, root }
    }
}

/// Returns the directory that all worktrees of a repository share, given a `.git` folder or file.
fn git_common_dir(dot_git: &Path) -> Option<PathBuf> {
    let meta = fs::metadata(dot_git).ok()?;
    let git_dir = if meta.is_dir() {
        dot_git.to_path_buf()
    } else {
        // A linked worktree or a submodule: "gitdir: <path>".
        let text = read_pointer(dot_git, meta.len())?;
        dot_git.parent()?.join(text.strip_prefix("gitdir:")?.trim())
    };
    // A folder is a git directory only if it looks like one; an empty `.git` folder does not count.
    if !git_dir.join("HEAD").is_file() {
        return None;
    }
    let common = match fs::metadata(git_dir.join("commondir")) {
        Ok(meta) => git_dir.join(read_pointer(&git_dir.join("commondir"), meta.len())?.trim()),
        Err(_) => git_dir,
    };
    Some(fs::canonicalize(&common).unwrap_or_else(|_| normalize(&common)))
}

fn read_pointer(file: &Path, bytes: u64) -> Option<String> {
    if bytes > MOST_POINTER_BYTES {
        return None;
    }
    fs::read_to_string(file).ok()
}

/// Removes `.` and `..` from the path, without looking at the file system.
fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git_dir(path: &Path) {
        fs::create_dir_all(path).unwrap();
        fs::write(path.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn worktrees_and_subfolders_share_the_repository() {
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("main");
        git_dir(&main.join(".git"));
        git_dir(&main.join(".git/worktrees/side"));
        fs::write(main.join(".git/worktrees/side/commondir"), "../..\n").unwrap();
        let side = dir.path().join("side");
        fs::create_dir_all(side.join("deep/er")).unwrap();
        fs::write(side.join(".git"), format!("gitdir: {}\n", main.join(".git/worktrees/side").display())).unwrap();

        let project = Project::of(&main);
        assert_eq!(Project::of(&side.join("deep/er")).id, project.id);
        assert_eq!(project.root, fs::canonicalize(&main).unwrap());
    }

    #[test]
    fn one_basename_is_two_projects() {
        let dir = tempfile::tempdir().unwrap();
        for parent in ["a", "b"] {
            fs::create_dir_all(dir.path().join(parent).join("app")).unwrap();
        }
        assert_ne!(Project::of(&dir.path().join("a/app")).id, Project::of(&dir.path().join("b/app")).id);
    }

    #[test]
    fn links_lead_to_the_same_project() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("real")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("real"), dir.path().join("link")).unwrap();
        assert_eq!(Project::of(&dir.path().join("real")), Project::of(&dir.path().join("link")));
    }

    #[test]
    fn a_folder_that_is_gone_still_has_its_name() {
        let project = Project::of(Path::new("/no/such/./place/../folder"));
        assert_eq!(project.identity, "dir:/no/such/folder");
    }

    #[test]
    fn a_folder_of_another_system_is_a_name() {
        assert_eq!(Project::of(Path::new("C:\\Users\\dev")).identity, "dir:C:\\Users\\dev");
    }

    #[test]
    fn a_name_is_no_path() {
        for name in ["shop", "owner/shop", "결제", "a b"] {
            assert!(Project::is_name(name), "{name}");
        }
        for path in ["/srv/shop", "./shop", "../shop", "~/shop", "C:\\shop", "\\\\server\\shop", ".", " "] {
            assert!(!Project::is_name(path), "{path}");
        }
        assert_ne!(Project::named("shop").id, Project::of(Path::new("/shop")).id);
        assert_eq!(Project::named("shop").identity, "name:shop");
    }

    #[test]
    fn an_empty_git_folder_is_no_repository() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        assert!(Project::of(dir.path()).identity.starts_with("dir:"));
    }
}
