//! The invitation to a team: the server's address with name and password, in a file that only the user can read. The key of a
//! sealed team lies in such a file, too: see [`super::team_key`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use throughline_model::files::open_regular;
use throughline_platform::paths::{self, Paths};
use throughline_platform::{files, permissions};

/// The longest invitation, bytes.
const MAX_BYTES: u64 = 4 << 10;

/// Why an invitation or a team key cannot be used. No error quotes it.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The file cannot be read.
    #[error("{} cannot be read: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Others can read the file.
    #[error("{} holds a password or a key, and others can read it: `chmod 600` it", .0.display())]
    NotPrivate(PathBuf),
    /// The file is larger than an invitation can be.
    #[error("{} is too large", .0.display())]
    TooLarge(PathBuf),
    /// The text has another form than an invitation.
    #[error("it is not an invitation: that is one line that begins with postgres://")]
    NotAnInvitation,
    /// The text has another form than a key.
    #[error("it is not a team key: that is one line that begins with AGE-SECRET-KEY-1")]
    NotAKey,
}

/// Returns the file.
pub fn file(paths: &Paths) -> PathBuf {
    paths.config.join("team-invitation")
}

/// Reads the invitation, or `None` if this machine has joined no team. The error says what is wrong.
pub fn load(paths: &Paths) -> Result<Option<String>, CredentialError> {
    read_private(&file(paths))?.map(|text| check(&text).map(str::to_owned)).transpose()
}

/// Reads a file that only the user can read, or `None` if there is none.
pub(super) fn read_private(file: &Path) -> Result<Option<String>, CredentialError> {
    let cannot = |error: io::Error| CredentialError::Unreadable { file: file.to_owned(), error };
    let opened = match open_regular(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(cannot)?,
    };
    let meta = opened.metadata().map_err(cannot)?;
    if permissions::others_have_access(&meta) || !permissions::belongs_to_user(&meta) {
        return Err(CredentialError::NotPrivate(file.to_owned()));
    }
    if meta.len() > MAX_BYTES {
        return Err(CredentialError::TooLarge(file.to_owned()));
    }
    io::read_to_string(opened).map(Some).map_err(cannot)
}

/// Checks the form of an invitation, as far as that needs no network.
pub fn check(text: &str) -> Result<&str, CredentialError> {
    let text = text.trim();
    let is_one_line = text.len() as u64 <= MAX_BYTES && !text.chars().any(|c| c.is_control() || c.is_whitespace());
    if is_one_line && (text.starts_with("postgres://") || text.starts_with("postgresql://")) {
        Ok(text)
    } else {
        Err(CredentialError::NotAnInvitation)
    }
}

/// Stores the invitation.
pub fn store(paths: &Paths, invitation: &str) -> io::Result<()> {
    write_private(paths, &file(paths), invitation)
}

/// Writes a line into a file that only the user can read.
pub(super) fn write_private(paths: &Paths, file: &Path, line: &str) -> io::Result<()> {
    paths::create_private(&paths.config)?;
    files::replace_atomically(file, format!("{line}\n").as_bytes(), 0o600)
}

/// Deletes the invitation. Returns false if there was none.
pub fn delete(paths: &Paths) -> io::Result<bool> {
    remove(&file(paths))
}

/// Deletes a file. Returns false if there was none.
pub fn remove(file: &Path) -> io::Result<bool> {
    match fs::remove_file(file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
