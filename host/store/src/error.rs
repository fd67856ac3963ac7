//! Why the store cannot be used.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::migrations::SCHEMA_VERSION;

/// Why the store cannot be used.
#[derive(Debug)]
pub enum StoreError {
    /// There is no database yet.
    Missing(PathBuf),
    /// A newer version of the program wrote the database. It was not changed.
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: u32,
    },
    /// An older version of the program wrote the database, and migrating it takes longer than a hook has.
    Older(PathBuf),
    /// The file is not a database, or is damaged.
    Damaged(PathBuf, String),
    /// Another process held a lock for longer than the busy timeout.
    Locked(PathBuf),
    /// The database or its folder cannot be written.
    ReadOnly(PathBuf, String),
    /// The disk is full.
    Full(PathBuf),
    /// Two hooks read the same lines at the same time, and the other one committed first. Read again.
    Conflict,
    /// Any other error.
    Other(DatabaseError),
}

/// An error of the database engine that callers can only report.
#[derive(Debug)]
pub struct DatabaseError(pub(super) rusqlite::Error);

impl std::error::Error for DatabaseError {}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The result of a store operation.
pub type Result<T> = std::result::Result<T, StoreError>;

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(path) => write!(f, "there is no memory yet at {}", path.display()),
            Self::Newer { path, found } => write!(
                f,
                "{} was written by a newer version (schema {found}, this program supports {SCHEMA_VERSION}); it was not changed",
                path.display()
            ),
            Self::Older(path) => {
                write!(f, "{} was written by an older version and is being upgraded", path.display())
            }
            Self::Damaged(path, why) => write!(f, "{} is damaged: {why}", path.display()),
            Self::Locked(path) => write!(f, "{} is locked by another process", path.display()),
            Self::ReadOnly(path, why) => write!(f, "{} cannot be written: {why}", path.display()),
            Self::Full(path) => write!(f, "the disk with {} is full", path.display()),
            Self::Conflict => write!(f, "another process stored the same lines first"),
            Self::Other(error) => write!(f, "the database failed: {error}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl StoreError {
    /// Returns what the user can do about the error.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Missing(_) => "run `throughline install`, or `throughline ingest` to read existing sessions".into(),
            Self::Newer { .. } => "upgrade this program, or point THROUGHLINE_HOME at another folder".into(),
            Self::Older(_) => "wait until the upgrade is done; nothing was lost".into(),
            Self::Damaged(..) => {
                "`throughline verify --repair` salvages what can be read, fills gaps from the automatic copy \
                                  and the transcripts, and keeps the damaged database"
                    .into()
            }
            Self::Locked(_) => "wait for the other process, or stop it; nothing was lost".into(),
            Self::ReadOnly(path, _) => format!("check the owner and mode of {}", path.display()),
            Self::Full(_) => "free some space; anything not stored will be read from the transcripts again".into(),
            Self::Conflict | Self::Other(_) => return None,
        })
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Other(DatabaseError(error))
    }
}

/// Classifies an error of the database engine by what it means for the whole store.
pub(super) fn classify(path: &Path, error: rusqlite::Error) -> StoreError {
    let why = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(path.into(), why),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked(path.into()),
        Some(ErrorCode::DiskFull) => StoreError::Full(path.into()),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::ReadOnly(path.into(), why)
        }
        _ => StoreError::Other(DatabaseError(error)),
    }
}
