//! Where this program is: the path that others are told to call it by.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

/// The path by which this program can be called tomorrow too: an entry of `PATH` that leads to it, since that one stays
/// where an upgrade or a package manager moves the file behind it; else the file itself.
pub fn lasting_path() -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    let found = env::var_os("PATH").and_then(|path| {
        env::split_paths(&path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join("throughline"))
            .find(|candidate| is_same(candidate, &program))
    });
    Ok(found.unwrap_or(program))
}

/// Whether both paths lead to one file.
pub fn is_same(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
