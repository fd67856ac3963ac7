//! Lines of a transcript, as policies read them.

use std::io;

/// How identifiers begin that were made from the content of a hook's payload, because the agent sent none. Its transcript calls the
/// same tool call by another identifier.
pub const DERIVED_ID: &str = "made-";

/// One complete line of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Byte offset of the line's first byte in the file.
    pub start: u64,
    /// Byte offset just past the line's newline.
    pub end: u64,
    /// The line without its newline. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub text: String,
}

/// A source of transcript lines, in order.
pub trait LineSource: Send {
    /// Returns the next lines, together up to about `max_bytes` and at least one. Empty at the end.
    fn read_lines(&mut self, max_bytes: usize) -> io::Result<Vec<Line>>;
}

/// Lines of a text that is in memory.
pub struct TextLines {
    lines: std::vec::IntoIter<Line>,
}

impl TextLines {
    /// The lines of `text`, as if it stood in a file; a last one without a newline counts.
    pub fn new(text: &str) -> Self {
        let mut start = 0;
        let lines: Vec<Line> = text
            .split_inclusive('\n')
            .map(|line| {
                let begin = start;
                start += line.len() as u64;
                Line { start: begin, end: start, text: line.strip_suffix('\n').unwrap_or(line).into() }
            })
            .collect();
        Self { lines: lines.into_iter() }
    }
}

impl LineSource for TextLines {
    fn read_lines(&mut self, max_bytes: usize) -> io::Result<Vec<Line>> {
        let mut bytes = 0;
        let mut batch = Vec::new();
        for line in self.lines.by_ref() {
            bytes += line.text.len();
            batch.push(line);
            if bytes >= max_bytes {
                break;
            }
        }
        Ok(batch)
    }
}
