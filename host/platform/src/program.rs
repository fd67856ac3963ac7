//! Finds the path by which other programs should call this one, and the programs that are installed with it.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::permissions;

/// Environment variables that a program of ours needs to reach a server. `HOME` is deliberately not among them.
pub const NETWORK_VARIABLES: [&str; 10] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Returns the file name of a program of ours on this system.
fn file_name(program: &str) -> String {
    format!("{program}{}", env::consts::EXE_SUFFIX)
}

/// Returns a path to this program that stays valid: an entry of `PATH` that leads to it if there is one, because
/// upgrades and package managers replace the file behind that entry; else the file itself.
pub fn stable_path() -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    let found = env::var_os("PATH").and_then(|path| {
        env::split_paths(&path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(file_name("throughline")))
            .find(|candidate| is_same_file(candidate, &program))
    });
    Ok(found.unwrap_or(program))
}

/// Returns the folders in which a shell or one of our hooks looks for the program, in their order.
pub fn usual_folders(home: &Path) -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let cargo = env::var_os("CARGO_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
    let usual = [cargo.unwrap_or_else(|| home.join(".cargo")).join("bin"), home.join(".local/bin")];
    folders.into_iter().chain(usual).filter(|folder| folder.is_absolute())
}

/// Returns the installations of this program: this one, and others where it is usually looked for. A script that starts
/// the program, such as npm's launcher, is none.
pub fn installations(home: &Path) -> Vec<PathBuf> {
    let is_program = |file: &PathBuf| {
        let mut mark = [0; 2];
        let read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut mark));
        read.is_ok() && mark != *b"#!" && std::fs::metadata(file).is_ok_and(|meta| permissions::is_executable(&meta))
    };
    let others = usual_folders(home).map(|folder| folder.join(file_name("throughline")));
    let mut found: Vec<PathBuf> = Vec::new();
    for file in stable_path().into_iter().chain(others).filter(is_program) {
        if !found.iter().any(|known| is_same_file(known, &file)) {
            found.push(file);
        }
    }
    found
}

/// Finds a program of ours that is installed with this one: next to `own`, or else in an absolute folder of `path`.
pub fn find_companion(name: &str, own: Option<&Path>, path: Option<&OsStr>) -> Option<PathBuf> {
    let beside = own.and_then(Path::parent).map(Path::to_path_buf);
    let others = path.map(|path| env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
    beside
        .into_iter()
        .chain(others)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(file_name(name)))
        .find(|file| std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && permissions::is_executable(&meta)))
}

/// Why [`find_beside_this`] finds no program.
#[derive(Debug)]
pub enum CompanionError {
    /// There is none.
    Missing {
        /// Where it would be.
        folder: PathBuf,
    },
    /// Somebody else could have put it there or changed it.
    Untrusted {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The place of this program is not known.
    Unknown(io::Error),
}

/// Finds a program of ours whose output is trusted like this program itself: beside the file of this program, wherever links lead
/// to it, and nowhere else. It must belong to the owner of this program or to root, and nobody else may write to it.
pub fn find_beside_this(name: &str) -> Result<PathBuf, CompanionError> {
    find_beside(name, &env::current_exe().map_err(CompanionError::Unknown)?)
}

fn find_beside(name: &str, own: &Path) -> Result<PathBuf, CompanionError> {
    // While an upgrade replaces this program, its name leads nowhere, but its folder is still the right one.
    let own = own.canonicalize().unwrap_or_else(|_| own.to_path_buf());
    let folder = own.parent().unwrap_or(Path::new("/")).to_path_buf();
    let file = folder.join(file_name(name));
    let Some(meta) = std::fs::metadata(&file).ok().filter(|meta| meta.is_file() && permissions::is_executable(meta)) else {
        return Err(CompanionError::Missing { folder });
    };
    let is_of_owner = match std::fs::metadata(&own) {
        Ok(own) => permissions::have_same_owner(&own, &meta),
        Err(_) => permissions::belongs_to_user(&meta),
    };
    let reason = if !is_of_owner && !permissions::belongs_to_root(&meta) {
        "it belongs to another user than throughline"
    } else if permissions::everyone_may_write(&meta) {
        "everybody may write to it"
    } else if permissions::group_may_write(&meta) && !permissions::has_private_group(&meta) {
        "its group may write to it"
    } else {
        return Ok(file);
    };
    Err(CompanionError::Untrusted { file, reason })
}

/// Returns whether both paths lead to the same file.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_companion_is_looked_for_beside_us_and_then_in_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, mode: u32| {
            let place = folder.path().join(name);
            std::fs::create_dir_all(&place).unwrap();
            let file = place.join(file_name("companion"));
            std::fs::write(&file, "").unwrap();
            permissions::set_mode(&file, mode).unwrap();
            place
        };
        let (own, other) = (make("own", 0o755), make("other", 0o755));
        // On Windows, any file of this name can be run.
        let dull = if cfg!(unix) { make("dull", 0o644) } else { folder.path().join("dull") };
        let filled = folder.path().join("filled");
        std::fs::create_dir_all(filled.join(file_name("companion"))).unwrap();
        let path = env::join_paths([Path::new("."), &dull, &filled, &other]).unwrap();
        let find = |own: &Path| find_companion("companion", Some(&own.join("throughline")), Some(&path));
        assert_eq!(find(&own), Some(own.join(file_name("companion"))));
        assert_eq!(find(&dull), Some(other.join(file_name("companion"))));
        assert_eq!(find_companion("companion", None, None), None);
    }

    #[test]
    fn a_trusted_companion_lies_in_the_folder_of_this_program() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join(file_name("throughline"));
        std::fs::write(&own, "").unwrap();
        let place = folder.path().canonicalize().unwrap();
        let missing = find_beside("companion", &own);
        assert!(matches!(&missing, Err(CompanionError::Missing { folder }) if *folder == place), "{missing:?}");
        let file = folder.path().join(file_name("companion"));
        std::fs::write(&file, "").unwrap();
        permissions::set_mode(&file, 0o755).unwrap();
        assert_eq!(find_beside("companion", &own).unwrap(), place.join(file_name("companion")));
    }

    #[cfg(unix)]
    #[test]
    fn a_trusted_companion_lies_beside_the_file_behind_all_links() {
        let folder = tempfile::tempdir().unwrap();
        let (real, linked) = (folder.path().join("real"), folder.path().join("linked"));
        for place in [&real, &linked] {
            std::fs::create_dir(place).unwrap();
        }
        let own = real.join("throughline");
        std::fs::write(&own, "").unwrap();
        let link = linked.join("throughline");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        let companion = |place: &Path, mode: u32| {
            let file = place.join("companion");
            std::fs::write(&file, "").unwrap();
            permissions::set_mode(&file, mode).unwrap();
            file
        };
        // What lies beside a link is somebody else's.
        companion(&linked, 0o755);
        let missing = find_beside("companion", &link);
        let place = real.canonicalize().unwrap();
        assert!(matches!(&missing, Err(CompanionError::Missing { folder }) if *folder == place), "{missing:?}");
        let file = companion(&real, 0o755);
        assert_eq!(find_beside("companion", &link).unwrap(), place.join("companion"));
        // During an upgrade the program's own name is gone.
        assert!(find_beside("companion", &real.join("throughline (deleted)")).is_ok());
        for mode in [0o757, 0o777] {
            permissions::set_mode(&file, mode).unwrap();
            let found = find_beside("companion", &own);
            assert!(matches!(found, Err(CompanionError::Untrusted { .. })), "{mode:o}: {found:?}");
        }
        permissions::set_mode(&file, 0o644).unwrap();
        assert!(matches!(find_beside("companion", &own), Err(CompanionError::Missing { .. })), "it cannot be run");
    }
}
