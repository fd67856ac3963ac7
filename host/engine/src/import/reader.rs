//! Reads the lines of a file with any content. A line that is too long is skipped without being held in memory.

use std::io::{self, BufRead};

/// Reads lines one after another into one buffer.
pub(super) struct LineReader<R> {
    input: R,
    most: usize,
    buffer: Vec<u8>,
    number: u64,
    bytes: u64,
}

/// The result of reading a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineOutcome {
    /// A line; get it with [`LineReader::line`].
    Line,
    /// A blank line.
    Blank,
    /// A line longer than the limit.
    TooLong,
    /// The end of the input.
    End,
}

impl<R: BufRead> LineReader<R> {
    /// Creates a reader of lines of at most `most` bytes.
    pub(super) fn new(input: R, most: usize) -> Self {
        Self { input, most, buffer: Vec::new(), number: 0, bytes: 0 }
    }

    /// Returns the number of the last line read, starting at 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the number of bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the last line read, without its newline.
    pub(super) fn line(&self) -> &[u8] {
        self.buffer.trim_ascii()
    }

    /// Reads up to the next newline or the end of the input.
    pub(super) fn next(&mut self) -> io::Result<LineOutcome> {
        self.buffer.clear();
        let before = self.bytes;
        let mut is_long = false;
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = memchr::memchr(b'\n', available);
            let part = &available[..end.unwrap_or(available.len())];
            is_long |= self.buffer.len() + part.len() > self.most;
            if !is_long {
                self.buffer.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.bytes += used as u64;
            self.input.consume(used);
            if end.is_some() || used == 0 {
                break;
            }
        }
        if self.bytes == before {
            return Ok(LineOutcome::End);
        }
        self.number += 1;
        if self.number == 1 && self.buffer.starts_with("\u{feff}".as_bytes()) {
            self.buffer.drain(.."\u{feff}".len());
        }
        Ok(match (is_long, self.line().is_empty()) {
            (true, _) => LineOutcome::TooLong,
            (false, true) => LineOutcome::Blank,
            (false, false) => LineOutcome::Line,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn all(bytes: &[u8], most: usize, capacity: usize) -> Vec<(LineOutcome, Vec<u8>)> {
        let mut lines = LineReader::new(BufReader::with_capacity(capacity, bytes), most);
        let mut read = Vec::new();
        loop {
            match lines.next().unwrap() {
                LineOutcome::End => break,
                LineOutcome::Line => read.push((LineOutcome::Line, lines.line().to_vec())),
                other => read.push((other, Vec::new())),
            }
        }
        assert_eq!((lines.number(), lines.bytes()), (read.len() as u64, bytes.len() as u64));
        read
    }

    #[test]
    fn marks_returns_and_a_missing_last_newline_are_no_matter() {
        let line = |text: &str| (LineOutcome::Line, text.as_bytes().to_vec());
        let read = all("\u{feff}a\r\n\n  \nb".as_bytes(), 10, 3);
        assert_eq!(read, [line("a"), (LineOutcome::Blank, vec![]), (LineOutcome::Blank, vec![]), line("b")]);
        assert_eq!(all(b"", 10, 3), []);
    }

    #[test]
    fn a_long_line_is_passed_over_and_not_held() {
        let bytes = [&[b'x'; 100][..], b"\nshort\n", &[b'y'; 11]].concat();
        let read = all(&bytes, 10, 7);
        assert_eq!(
            read,
            [(LineOutcome::TooLong, vec![]), (LineOutcome::Line, b"short".to_vec()), (LineOutcome::TooLong, vec![])]
        );
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_text(text in "[a-c \n]{0,60}", capacity in 1_usize..20) {
            let found: Vec<Vec<u8>> =
                all(text.as_bytes(), 100, capacity).into_iter().filter(|it| it.0 == LineOutcome::Line).map(|it| it.1).collect();
            let wanted: Vec<Vec<u8>> =
                text.lines().map(|line| line.trim().as_bytes().to_vec()).filter(|line| !line.is_empty()).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
