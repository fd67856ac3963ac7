//! Finds the transcript line in which a memory was learned.

use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde::Serialize;

use throughline_platform::open::open_no_follow;
use throughline_platform::paths;

/// The place of a line in a transcript.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct LinePlace {
    /// The transcript.
    path: String,
    /// The line's number, from 1.
    line: u64,
}

impl LinePlace {
    /// Shows it as editors take it: `~/…/session.jsonl:12`.
    pub(super) fn display(&self, home: &Path) -> String {
        format!("{}:{}", paths::display(Path::new(&self.path), home), self.line)
    }
}

/// Returns where the line with this identifier is, in the first of the transcripts that has it. An agent deletes its transcripts
/// after weeks, so there may be none.
pub(super) fn find(transcripts: &[String], uuid: &str) -> Option<LinePlace> {
    // In a text of the line, the quotes would be escaped.
    let needle = format!("\"uuid\":\"{uuid}\"");
    let in_one = |path: &String| Some(LinePlace { path: path.clone(), line: number(Path::new(path), needle.as_bytes())? });
    transcripts.iter().find_map(in_one)
}

/// Returns the number of the first line that contains the needle.
fn number(path: &Path, needle: &[u8]) -> Option<u64> {
    let file = open_no_follow(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let (mut reader, mut line, mut number) = (BufReader::new(file), Vec::new(), 0);
    let finder = memchr::memmem::Finder::new(needle);
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        number += 1;
        if finder.find(&line).is_some() {
            return Some(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_in_whichever_transcript_still_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
        std::fs::write(path("a.jsonl"), "{\"uuid\":\"u1\"}\n{\"text\":\"\\\"uuid\\\":\\\"u2\\\"\",\"uuid\":\"u3\"}\n")
            .unwrap();
        std::fs::write(path("b.jsonl"), "{\"uuid\":\"u2\"}").unwrap();
        let all = [path("gone.jsonl"), path("a.jsonl"), path("b.jsonl")];
        let found = |uuid: &str| find(&all, uuid).map(|it| it.display(dir.path()));
        assert_eq!(found("u3").as_deref(), Some("~/a.jsonl:2"));
        assert_eq!(found("u2").as_deref(), Some("~/b.jsonl:1"), "a quotation is not the line");
        assert_eq!(found("u9"), None);
        assert_eq!(find(&[dir.path().to_string_lossy().into_owned()], "u1"), None, "a folder has no lines");
    }
}
