//! What adapters share for reading the files of other systems.

use std::fs;
use std::io;
use std::path::Path;

use throughline_model::contract::Timestamp;
use throughline_model::digest::{hex, sha256_parts};
use throughline_platform::metadata;

/// The largest text file that is read, bytes.
pub(super) const MAX_FILE_BYTES: u64 = 16 << 20;

/// Returns a short hash of these texts.
pub(super) fn short_hash(texts: &[&str]) -> String {
    hex(&sha256_parts(texts)[..12])
}

/// Returns the project in which a system keeps its folder: the parent of the last folder of that name above `source`.
pub(super) fn enclosing_project(source: &Path, folder: &str) -> Option<String> {
    let source = std::path::absolute(source).ok()?;
    let around = source.ancestors().find(|it| it.file_name().is_some_and(|name| name == folder))?.parent()?;
    Some(around.to_string_lossy().into_owned())
}

/// Why a text file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnreadableFile {
    #[error("it cannot be read: {0}")]
    Io(io::Error),
    #[error("it is not a file")]
    NotAFile,
    #[error("it has more than {0} MiB")]
    TooLarge(u64),
    #[error("it is not UTF-8 at byte {0}")]
    NotUtf8(usize),
}

/// Reads a text file of at most `most` bytes. Returns its text and when it was last modified, or why it cannot be read.
pub(super) fn read_text(file: &Path, most: u64) -> Result<(String, Option<Timestamp>), UnreadableFile> {
    let meta = fs::metadata(file).map_err(UnreadableFile::Io)?;
    if !meta.is_file() {
        return Err(UnreadableFile::NotAFile);
    }
    if meta.len() > most {
        return Err(UnreadableFile::TooLarge(most >> 20));
    }
    let bytes = fs::read(file).map_err(UnreadableFile::Io)?;
    let text = String::from_utf8(bytes).map_err(|error| UnreadableFile::NotUtf8(error.utf8_error().valid_up_to() + 1))?;
    Ok((text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text), metadata::modified_ms(&meta)))
}
