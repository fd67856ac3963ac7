//! What adapters share for reading the files of other systems.

use std::fs;
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

/// Reads a text file of at most `most` bytes. Returns its text and when it was last modified, or why it cannot be read.
pub(super) fn read_text(file: &Path, most: u64) -> Result<(String, Option<Timestamp>), String> {
    let cannot = |error: std::io::Error| format!("it cannot be read: {error}");
    let meta = fs::metadata(file).map_err(cannot)?;
    if !meta.is_file() {
        return Err("it is not a file".into());
    }
    if meta.len() > most {
        return Err(format!("it has more than {} MiB", most >> 20));
    }
    let bytes = fs::read(file).map_err(cannot)?;
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8 at byte {}", error.utf8_error().valid_up_to() + 1))?;
    Ok((text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text), metadata::modified_ms(&meta)))
}
