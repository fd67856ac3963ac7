//! Reads files of redaction rules for the default's redactor. Policies cannot open files, so files that a file extends
//! are read here too.

use std::fs;
use std::path::Path;

use toml::Value;

/// The largest file that is read, in bytes.
pub const MOST_BYTES: u64 = 1 << 20;

/// How many files may be in a chain of extensions.
const DEEPEST: usize = 4;

/// Returns the texts of a file in gitleaks' format and of the files that it extends. Extended files come first, because
/// later rules win. The error names the file that cannot be read.
pub fn read(file: &Path) -> Result<Vec<String>, String> {
    let mut texts = Vec::new();
    let mut next = Some(file.to_owned());
    while let Some(file) = next {
        let failed = |error: String| format!("{}: {error}", file.display());
        if texts.len() == DEEPEST {
            return Err(failed(format!("more than {DEEPEST} files extend one another")));
        }
        let meta = fs::metadata(&file).map_err(|error| failed(error.to_string()))?;
        if !meta.is_file() || meta.len() > MOST_BYTES {
            return Err(failed(format!("it is not a regular file of at most {MOST_BYTES} bytes")));
        }
        let text = fs::read_to_string(&file).map_err(|error| failed(error.to_string()))?;
        // The path is relative to the file that contains it, so that a team can move its files together.
        next = extended(&text).map(|path| file.parent().unwrap_or(Path::new("/")).join(path));
        texts.push(text);
    }
    texts.reverse();
    Ok(texts)
}

/// Returns `extend.path`. Keys are not case-sensitive, as in gitleaks. Invalid TOML extends nothing; the redactor
/// reports what is wrong with it.
fn extended(text: &str) -> Option<String> {
    let get = |table: &toml::Table, wanted: &str| {
        table.iter().find(|(key, _)| key.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.clone())
    };
    let Some(Value::Table(extend)) = get(&text.parse().ok()?, "extend") else { return None };
    match get(&extend, "path") {
        Some(Value::String(path)) if !path.is_empty() => Some(path),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_extends_comes_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("base")).unwrap();
        fs::write(path("base/own.toml"), "title = 'base'\n").unwrap();
        fs::write(path("base/team.toml"), "[EXTEND]\nPath = 'own.toml'\n").unwrap();
        fs::write(path("mine.toml"), "[extend]\nuseDefault = true\npath = 'base/team.toml'\n").unwrap();
        let texts = read(&path("mine.toml")).unwrap();
        assert!(texts.len() == 3 && texts[0].contains("base'") && texts[2].contains("useDefault"), "{texts:?}");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("round.toml"), "[extend]\npath = 'round.toml'\n").unwrap();
        fs::write(path("gone.toml"), "[extend]\npath = 'nowhere.toml'\n").unwrap();
        fs::write(path("damaged.toml"), "[extend").unwrap();
        assert!(read(&path("round.toml")).unwrap_err().contains("extend one another"));
        assert!(read(&path("gone.toml")).unwrap_err().contains("nowhere.toml"));
        assert!(read(dir.path()).unwrap_err().contains("not a regular file"));
        assert_eq!(read(&path("damaged.toml")).unwrap().len(), 1);
    }
}
