//! Namespaces separate the memories of agents on one machine. Each has its own folder in the data folder, with its own
//! database, journals, log and cursors, so that nothing can leak.
//!
//! Only transcripts are shared, if agents share their own folder. A namespace therefore records its sessions and reads
//! the transcripts of these only; the default namespace reads the transcripts that no other namespace has recorded.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::open::FileOptions as _;
use crate::paths::{self, Paths};
use throughline_model::digest::sha256_hex;

/// The folder of namespaces in the data folder.
const NAMESPACES_FOLDER: &str = "namespaces";

/// The folder of a namespace's recorded sessions: empty files, named by hashes of session identifiers.
const SESSIONS_FOLDER: &str = "sessions";

/// The longest name, bytes.
const MAX_NAME_BYTES: usize = 64;

/// An invalid namespace name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidNamespaceName(pub String);

impl std::fmt::Display for InvalidNamespaceName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} is not a namespace name", self.0)
    }
}

impl InvalidNamespaceName {
    /// What a name may look like.
    pub const HINT: &str =
        "use up to 64 of a-z, 0-9, `-`, `_` and `.`, starting with a letter or a digit, such as `reviewer`";
}

/// Checks a namespace name: it must not lead to another folder, and no file system may treat two names as one.
pub fn validate_name(name: &str) -> Result<(), InvalidNamespaceName> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.');
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if begins && name.len() <= MAX_NAME_BYTES && name.bytes().all(is_plain) && !name.ends_with('.') {
        return Ok(());
    }
    Err(InvalidNamespaceName(name.to_owned()))
}

/// Returns the data folder of a namespace, below the common data folder.
pub fn data_folder(data: &Path, name: &str) -> PathBuf {
    data.join(NAMESPACES_FOLDER).join(name)
}

/// Returns the existing namespaces, sorted.
pub fn list_namespaces(paths: &Paths) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(paths.default_namespace_data().join(NAMESPACES_FOLDER)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| validate_name(name).is_ok())
        .collect();
    names.sort();
    Ok(names)
}

fn session_hash(session: &str) -> String {
    sha256_hex(session.as_bytes())[..32].to_owned()
}

/// Records that the session belongs to this namespace. The default namespace records nothing.
pub fn record_session(paths: &Paths, session: &str) -> io::Result<()> {
    if paths.namespace.is_none() {
        return Ok(());
    }
    let folder = paths.data.join(SESSIONS_FOLDER);
    let claim = folder.join(session_hash(session));
    if claim.exists() {
        return Ok(());
    }
    paths::create_private(&folder)?;
    File::options().create(true).append(true).private().open(claim).map(drop)
}

/// Returns whether this namespace may read the transcript without being told to: it must belong to a session of this
/// namespace, or lie in the folder of one.
pub fn owns_transcript(paths: &Paths, transcript: &Path) -> bool {
    /// Some file names end with the session's identifier.
    const UUID: usize = 36;
    let stems = transcript.components().filter_map(|part| match part {
        Component::Normal(name) => Path::new(name).file_stem().and_then(OsStr::to_str),
        _ => None,
    });
    let ending =
        |stem: &str| stem.len().checked_sub(UUID).filter(|at| *at > 0).and_then(|at| stem.get(at..)).map(session_hash);
    let mut sessions = stems.flat_map(|stem| [Some(session_hash(stem)), ending(stem)]).flatten();
    if paths.namespace.is_some() {
        let folder = paths.data.join(SESSIONS_FOLDER);
        return sessions.any(|claim| folder.join(claim).exists());
    }
    // If the namespaces cannot be listed, the owner is unknown.
    let Ok(others) = list_namespaces(paths) else { return false };
    if others.is_empty() {
        return true;
    }
    let folders: Vec<PathBuf> = others.iter().map(|name| data_folder(&paths.data, name).join(SESSIONS_FOLDER)).collect();
    !sessions.any(|claim| folders.iter().any(|folder| folder.join(&claim).exists()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_lead_nowhere() {
        for name in ["reviewer", "a", "agent-2", "v1.2", "0_x"] {
            assert!(validate_name(name).is_ok(), "{name}");
        }
        for name in
            ["", ".", "..", "../x", "a/b", "a\\b", "/a", "~", "-x", ".x", "a b", "A", "é", "a\0", "x.", &"x".repeat(65)]
        {
            assert!(validate_name(name).is_err(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_one_folder_below(name in "[a-zA-Z0-9._/\\\\-]{0,8}|\\PC{0,8}") {
            if validate_name(&name).is_ok() {
                let inside = data_folder(Path::new("/data"), &name);
                prop_assert_eq!(inside.components().count(), 4);
                prop_assert!(inside.starts_with("/data/namespaces"));
            }
        }
    }
}
