//! Determines which project a folder belongs to: its git common directory, so that worktrees share one memory, or its
//! canonical path. Never the base name: two folders of the same name are two projects.
//!
//! A folder's own files must not lead to another project's memory, because a downloaded folder can contain anything. So
//! a `.git` file or link counts only if the git directory points back to the folder. A folder cannot write that into
//! another project's git directory.

use std::path::{Path, PathBuf};

use crate::digest::{hex, sha256_parts};
use crate::files::{canonical, read_regular};

/// The largest `.git`, `gitdir` or `commondir` file that is read, bytes: they hold one path.
const MAX_POINTER_BYTES: u64 = 8 << 10;

/// The largest git configuration that is read, bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

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
    pub fn discover(cwd: &Path) -> Self {
        let folder = canonical(cwd);
        // A path of another operating system (`C:\\…`) is only a name here; it must not be looked up below the current
        // folder.
        let known = folder.is_absolute().then(|| folder.ancestors()).into_iter().flatten();
        for candidate in known {
            match Repository::find(candidate) {
                None => {}
                Some(Repository::Own(common)) => {
                    // `/repo/.git` → `/repo`; a bare repository or a submodule's directory is its own root.
                    let root = match common.file_name() {
                        Some(name) if name == ".git" => common.parent().unwrap_or(&common).to_path_buf(),
                        _ => candidate.to_path_buf(),
                    };
                    return Self::new("git:", &common, root);
                }
                Some(Repository::Foreign) => return Self::new("dir:", candidate, candidate.to_path_buf()),
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

    /// Returns whether the text is an absolute path, on this operating system or on another one (`C:\\…`).
    pub fn is_absolute_path(text: &str) -> bool {
        let is_drive = |rest: &str| rest.starts_with(":\\") || rest.starts_with(":/");
        let has_drive = text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.get(1..).is_some_and(is_drive);
        text.starts_with('/') || text.starts_with("\\\\") || has_drive
    }

    fn new(scheme: &str, place: &Path, root: PathBuf) -> Self {
        let identity = format!("{scheme}{}", place.to_string_lossy());
        Self { id: hex(&sha256_parts(&[&identity])[..8]), identity, root }
    }
}

/// What a folder's `.git` leads to.
enum Repository {
    /// The folder's own repository, given by the directory that all its worktrees share.
    Own(PathBuf),
    /// A repository that does not know the folder. The folder is a project of its own.
    Foreign,
}

impl Repository {
    /// Returns the repository of the folder, whose path is canonical; `None` if it has none.
    fn find(folder: &Path) -> Option<Self> {
        let dot_git = folder.join(".git");
        let meta = dot_git.metadata().ok()?;
        let target = if meta.is_dir() {
            dot_git.clone()
        } else {
            // A linked worktree or a submodule: "gitdir: <path>".
            let text = read_regular(&dot_git, MAX_POINTER_BYTES).ok()?;
            folder.join(text.strip_prefix("gitdir:")?.trim())
        };
        // A folder is a git directory only if it looks like one; an empty `.git` folder does not count.
        if !target.join("HEAD").is_file() {
            return None;
        }
        let git_dir = target.canonicalize().ok()?;
        // Git writes `commondir` only for linked worktrees. One in the folder's own `.git` could lead anywhere.
        if git_dir == dot_git || git_dir.parent() == Some(folder) {
            return Some(Self::Own(git_dir));
        }
        if let Some(common) = common_dir_of_worktree(&git_dir, &dot_git) {
            return Some(Self::Own(common));
        }
        let is_work_tree = work_tree(&git_dir).is_some_and(|tree| tree == folder);
        Some(if is_work_tree { Self::Own(git_dir) } else { Self::Foreign })
    }
}

/// Returns the common directory if `git_dir` is that of the linked worktree with this `.git` file: the common directory
/// contains it as `worktrees/NAME`, and its file `gitdir` names the `.git` file.
fn common_dir_of_worktree(git_dir: &Path, dot_git: &Path) -> Option<PathBuf> {
    let pointer = |name: &str| {
        let text = read_regular(&git_dir.join(name), MAX_POINTER_BYTES).ok()?;
        Some(git_dir.join(text.trim_end_matches(['\n', '\r'])))
    };
    let points_back = canonical(&pointer("gitdir")?) == dot_git;
    let common = pointer("commondir")?.canonicalize().ok()?;
    let contains_it = git_dir.parent() == Some(&common.join("worktrees"));
    (points_back && contains_it).then_some(common)
}

/// Returns the work tree that the configuration of a git directory names (`core.worktree`), as for submodules.
fn work_tree(git_dir: &Path) -> Option<PathBuf> {
    // With `extensions.worktreeConfig`, git moves the setting to the second file.
    let tree = ["config", "config.worktree"].iter().find_map(|name| {
        let text = read_regular(&git_dir.join(name), MAX_CONFIG_BYTES).ok()?;
        core_worktree(&text)
    })?;
    git_dir.join(tree).canonicalize().ok()
}

/// Returns the value of `core.worktree` in the text of a git configuration. A path with escapes is not understood.
fn core_worktree(config: &str) -> Option<String> {
    let mut in_core = false;
    let mut found = None;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            in_core = section.split(']').next().is_some_and(|name| name.trim().eq_ignore_ascii_case("core"));
        } else if in_core
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("worktree")
        {
            let value = value.trim();
            let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
            found = Some(value.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;
    #[cfg(unix)]
    use std::os::unix::fs::symlink;

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
        fs::write(main.join(".git/worktrees/side/gitdir"), format!("{}\n", side.join(".git").display())).unwrap();
        fs::create_dir_all(side.join("deep/er")).unwrap();
        fs::write(side.join(".git"), format!("gitdir: {}\n", main.join(".git/worktrees/side").display())).unwrap();

        let project = Project::discover(&main);
        assert_eq!(Project::discover(&side.join("deep/er")).id, project.id);
        assert_eq!(project.root, fs::canonicalize(&main).unwrap());
    }

    #[test]
    fn one_basename_is_two_projects() {
        let dir = tempfile::tempdir().unwrap();
        for parent in ["a", "b"] {
            fs::create_dir_all(dir.path().join(parent).join("app")).unwrap();
        }
        assert_ne!(Project::discover(&dir.path().join("a/app")).id, Project::discover(&dir.path().join("b/app")).id);
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_the_same_project() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("real")).unwrap();
        symlink(dir.path().join("real"), dir.path().join("link")).unwrap();
        assert_eq!(Project::discover(&dir.path().join("real")), Project::discover(&dir.path().join("link")));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_gone_still_has_its_name() {
        let project = Project::discover(Path::new("/no/such/./place/../folder"));
        assert_eq!(project.identity, "dir:/no/such/folder");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_of_another_system_is_a_name() {
        assert_eq!(Project::discover(Path::new("C:\\Users\\dev")).identity, "dir:C:\\Users\\dev");
    }

    #[test]
    fn a_name_is_no_path() {
        for name in ["shop", "owner/shop", "결제", "a b"] {
            assert!(Project::is_name(name), "{name}");
        }
        for path in ["/srv/shop", "./shop", "../shop", "~/shop", "C:\\shop", "\\\\server\\shop", ".", " "] {
            assert!(!Project::is_name(path), "{path}");
        }
        for path in ["/srv/shop", "C:\\shop", "C:/shop", "\\\\server\\shop"] {
            assert!(Project::is_absolute_path(path), "{path}");
        }
        for name in ["", "shop", "./shop", "../shop", "~/shop", "C:shop", "é/x"] {
            assert!(!Project::is_absolute_path(name), "{name}");
        }
        assert_ne!(Project::named("shop").id, Project::discover(Path::new("/shop")).id);
        assert_eq!(Project::named("shop").identity, "name:shop");
    }

    #[test]
    fn an_empty_git_folder_is_no_repository() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        assert!(Project::discover(dir.path()).identity.starts_with("dir:"));
    }

    /// A folder with the projects `victim`, a repository, and `evil`, a plain folder.
    fn victim_and_evil() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        git_dir(&root.join("victim/.git"));
        fs::create_dir_all(root.join("evil/deep")).unwrap();
        (dir, root.join("victim"), root.join("evil"))
    }

    #[test]
    fn attack_a_git_pointer_to_another_project() {
        let (_dir, victim, evil) = victim_and_evil();
        let own = Project::discover(&evil);
        let attacks: &[&dyn Fn()] = &[
            &|| fs::write(evil.join(".git"), format!("gitdir: {}\n", victim.join(".git").display())).unwrap(),
            &|| fs::write(evil.join(".git"), "gitdir: ../victim/.git").unwrap(),
            #[cfg(unix)]
            &|| symlink(victim.join(".git"), evil.join(".git")).unwrap(),
            &|| {
                // A worktree that the victim has, but for another folder.
                let linked = victim.join(".git/worktrees/other");
                git_dir(&linked);
                fs::write(linked.join("gitdir"), "/srv/other/.git\n").unwrap();
                fs::write(linked.join("commondir"), "../..\n").unwrap();
                fs::write(evil.join(".git"), format!("gitdir: {}\n", linked.display())).unwrap();
            },
            &|| {
                fs::write(victim.join(".git/config"), "[core]\n\tworktree = ..\n").unwrap();
                fs::write(evil.join(".git"), format!("gitdir: {}\n", victim.join(".git").display())).unwrap();
            },
        ];
        for (number, attack) in attacks.iter().enumerate() {
            attack();
            assert_eq!(Project::discover(&evil), own, "attack {number}");
            assert_eq!(Project::discover(&evil.join("deep")), own, "attack {number}");
            assert_ne!(Project::discover(&victim).id, own.id, "attack {number}");
            fs::remove_file(evil.join(".git")).unwrap();
        }
    }

    #[test]
    fn attack_a_common_directory_that_leads_out() {
        let (_dir, victim, evil) = victim_and_evil();
        let theirs = Project::discover(&victim);
        // In the folder's own `.git`.
        git_dir(&evil.join(".git"));
        fs::write(evil.join(".git/commondir"), "../../victim/.git\n").unwrap();
        assert_eq!(Project::discover(&evil).root, evil);
        assert_ne!(Project::discover(&evil).id, theirs.id);
        fs::remove_dir_all(evil.join(".git")).unwrap();
        // In a git directory that points back, but is not a worktree of the victim.
        for place in ["x", "deep/worktrees/x"] {
            git_dir(&evil.join(place));
            fs::write(evil.join(place).join("gitdir"), format!("{}\n", evil.join(".git").display())).unwrap();
            fs::write(evil.join(place).join("commondir"), victim.join(".git").to_str().unwrap()).unwrap();
            fs::write(evil.join(".git"), format!("gitdir: {place}\n")).unwrap();
            assert_ne!(Project::discover(&evil).id, theirs.id, "{place}");
            assert_eq!(Project::discover(&evil).root, evil, "{place}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn attack_a_fifo_as_git_or_commondir() {
        let (_dir, victim, evil) = victim_and_evil();
        let fifo = |path: &Path| {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        };
        fifo(&evil.join(".git"));
        assert_eq!(Project::discover(&evil.join("deep")).root, evil.join("deep"));
        let linked = victim.join(".git/worktrees/side");
        git_dir(&linked);
        fs::remove_file(evil.join(".git")).unwrap();
        fs::write(evil.join(".git"), format!("gitdir: {}\n", linked.display())).unwrap();
        for name in ["gitdir", "commondir", "config", "config.worktree"] {
            fifo(&linked.join(name));
        }
        assert_eq!(Project::discover(&evil).root, evil);
        fs::remove_file(linked.join("gitdir")).unwrap();
        fs::write(linked.join("gitdir"), evil.join(".git").to_str().unwrap()).unwrap();
        assert_eq!(Project::discover(&evil).root, evil);
        fifo(&victim.join(".git/commondir"));
        assert_eq!(Project::discover(&victim).root, victim);
    }

    #[test]
    fn submodules_and_bare_repositories_with_worktrees_are_repositories() {
        let (_dir, main, other) = victim_and_evil();
        let module = main.join(".git/modules/lib");
        git_dir(&module);
        fs::create_dir_all(main.join("lib/deep")).unwrap();
        fs::write(main.join("lib/.git"), "gitdir: ../.git/modules/lib\n").unwrap();
        fs::write(module.join("config"), "[core]\n\tbare = false\n\tworktree = ../../../lib\n[x]\n\ty = 1\n").unwrap();
        let sub = Project::discover(&main.join("lib/deep"));
        assert_eq!(sub.identity, format!("git:{}", module.display()));
        assert_eq!(sub.root, main.join("lib"));

        // `.git` names a bare repository beside it, and its worktrees are folders beside that.
        git_dir(&other.join(".bare"));
        fs::write(other.join(".git"), "gitdir: ./.bare\n").unwrap();
        git_dir(&other.join(".bare/worktrees/tree"));
        fs::create_dir(other.join("tree")).unwrap();
        fs::write(other.join("tree/.git"), format!("gitdir: {}\n", other.join(".bare/worktrees/tree").display())).unwrap();
        fs::write(other.join(".bare/worktrees/tree/gitdir"), "../../../tree/.git\n").unwrap();
        fs::write(other.join(".bare/worktrees/tree/commondir"), "../..\n").unwrap();
        assert_eq!(Project::discover(&other.join("tree")).id, Project::discover(&other).id);
    }
}
