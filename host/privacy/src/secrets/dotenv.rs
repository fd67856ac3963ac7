//! Finds and parses the `.env` files of a folder. Lines that are not assignments are skipped.

use std::fs;
use std::io::Read;
use std::path::Path;

use throughline_platform::open;

/// How many files of a folder are read, the largest file in bytes, and how many entries of the folder are looked at.
const MAX_FILES: usize = 32;
const MAX_FILE_BYTES: u64 = 256 << 10;
const MAX_ENTRIES: usize = 10_000;

/// How much is read of the files of a folder together, in bytes. Hooks read them within the agent's loop.
const MAX_FOLDER_BYTES: u64 = 512 << 10;

/// Endings of sample files, which contain no secrets.
const SAMPLE_SUFFIXES: &[&str] = &["example", "sample", "template", "dist", "schema", "defaults"];

/// Returns the texts of the folder's `.env`, `.env.*` and `.envrc` files. Reads only regular files and no links,
/// because a link's target need not belong to the project. Takes the bytes that it reads from `budget`.
pub(super) fn files(folder: &Path, budget: &mut u64) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .take(MAX_ENTRIES)
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name == ".env" || name == ".envrc" || name.starts_with(".env."))
        .filter(|name| !SAMPLE_SUFFIXES.iter().any(|sample| name.ends_with(sample)))
        .collect();
    names.sort();
    let mut left = MAX_FOLDER_BYTES.min(*budget);
    let before = left;
    let texts = names.iter().take(MAX_FILES).filter_map(|name| read(&folder.join(name), &mut left)).collect();
    *budget -= before - left;
    texts
}

/// Reads a file of at most `left` bytes, and takes its size from `left`.
fn read(path: &Path, left: &mut u64) -> Option<String> {
    let file = open::open_no_follow(path).ok()?;
    let meta = file.metadata().ok()?;
    let most = MAX_FILE_BYTES.min(*left);
    if !meta.is_file() || meta.len() > most {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    *left -= bytes.len() as u64;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Parses assignments as shells and common libraries do: with `export` before the name, with quoted values, with values
/// over several lines, and with comments after the value.
pub(super) fn parse(text: &str) -> Vec<(String, String)> {
    let mut rest = text.trim_start_matches('\u{feff}');
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let before = rest;
        rest = after;
        let Some((name, value)) = assignment(line) else { continue };
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        let Some(quote) = quote else {
            found.push((name.to_owned(), bare(value)));
            continue;
        };
        let at = value.as_ptr().addr() - before.as_ptr().addr();
        if let Some(value) = quoted(&before[at + 1..], quote) {
            // The lines inside are also parsed on their own, because the quote may not have been meant as one.
            found.push((name.to_owned(), value));
        } else {
            // A quote without a closing quote may be part of the value.
            found.push((name.to_owned(), bare(value)));
            found.push((name.to_owned(), bare(&value[1..])));
        }
    }
    found
}

/// Returns the name and value of a line: `NAME=value`, `export NAME=value`, `NAME: value`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").map_or(line, str::trim_start);
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')))?;
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let value = rest.strip_prefix('=').or_else(|| rest.strip_prefix(':'))?;
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then(|| (name, value.trim_start()))
}

fn bare(value: &str) -> String {
    let end = value
        .char_indices()
        .find(|(at, c)| *c == '#' && value[..*at].ends_with(char::is_whitespace))
        .map_or(value.len(), |(at, _)| at);
    value[..end].trim().to_owned()
}

/// Returns the text before the closing quote, or `None` if there is no closing quote.
fn quoted(text: &str, quote: char) -> Option<String> {
    let mut value = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quote == '"' => match chars.next()? {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            _ if c == quote => return Some(value),
            _ => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn assignments() {
        let text = "\u{feff}# comment\nA=1\r\nexport B = two words # why\nC='it''s'\nD=\"a\\nb\\\"c\" # x\nno assignment\n\
                    E=\"first\nsecond\"\nF: yaml\nG=`tick`\n=nameless\n9X=digit\nH=with#hash\nI='open\nJ=last";
        let found = parse(text);
        let wanted = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "it"),
            ("D", "a\nb\"c"),
            ("E", "first\nsecond"),
            ("F", "yaml"),
            ("G", "tick"),
            ("H", "with#hash"),
            ("I", "'open"),
            ("I", "open"),
            ("J", "last"),
        ];
        let found: Vec<(&str, &str)> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn only_regular_files_of_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [(".env", "A=1"), (".env.local", "B=2"), (".env.example", "C=3"), ("x.env", "D=4")] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        fs::write(dir.path().join("elsewhere"), "E=5").unwrap();
        std::os::unix::fs::symlink("elsewhere", dir.path().join(".env.link")).unwrap();
        fs::create_dir(dir.path().join(".env.d")).unwrap();
        let status = std::process::Command::new("mkfifo").arg(dir.path().join(".env.pipe")).status().unwrap();
        assert!(status.success());
        fs::write(dir.path().join(".env.large"), vec![b'x'; 300 << 10]).unwrap();
        let mut budget = 100;
        assert_eq!(files(dir.path(), &mut budget), ["A=1", "B=2"]);
        assert_eq!(budget, 94);
        let mut budget = 3;
        assert_eq!(files(dir.path(), &mut budget), ["A=1"]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail(text in "[A-Z='\"`#\\\\\n a-z\u{ac00}:]{0,200}") {
            parse(&text);
        }

        #[test]
        fn a_quoted_value_comes_back(value in "[a-zA-Z0-9 #=$\n\"]{1,40}") {
            let text = format!("X=1\nNAME='{value}'\nY=2\n");
            let found = parse(&text);
            prop_assert!(found.contains(&("NAME".into(), value)));
            prop_assert!(found.contains(&("Y".into(), "2".into())));
        }
    }
}
