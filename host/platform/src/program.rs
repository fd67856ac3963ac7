//! Finds the path by which other programs should call this one.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

/// Returns a path to this program that stays valid: an entry of `PATH` that leads to it if there is one, because
/// upgrades and package managers replace the file behind that entry; else the file itself.
pub fn stable_path() -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    let found = env::var_os("PATH").and_then(|path| {
        env::split_paths(&path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join("throughline"))
            .find(|candidate| is_same_file(candidate, &program))
    });
    Ok(found.unwrap_or(program))
}

/// Returns whether both paths lead to the same file.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
