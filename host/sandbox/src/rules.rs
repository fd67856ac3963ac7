//! Files of redaction rules, as the default's redactor is handed them: a policy opens no files, so what a file extends is read
//! here.

use std::fs;
use std::path::Path;

use toml::Value;

/// The largest file that is read, bytes.
pub const MOST_BYTES: u64 = 1 << 20;

/// How many files may extend one another.
const DEEPEST: usize = 4;

/// The texts of a file in gitleaks' format and of those that it extends, the extended ones first: what comes later wins. The
/// error names the file that cannot be read.
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
            return Err(failed(format!("it is no regular file of at most {MOST_BYTES} bytes")));
        }
        let text = fs::read_to_string(&file).map_err(|error| failed(error.to_string()))?;
        // Relative to the file that says it, so that a team's files can be moved together.
        next = extended(&text).map(|path| file.parent().unwrap_or(Path::new("/")).join(path));
        texts.push(text);
    }
    texts.reverse();
    Ok(texts)
}

/// `extend.path`, in any case, as gitleaks reads keys. What is no TOML extends nothing: the redactor says what is wrong with it.
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
        assert!(read(dir.path()).unwrap_err().contains("no regular file"));
        assert_eq!(read(&path("damaged.toml")).unwrap().len(), 1);
    }
}
