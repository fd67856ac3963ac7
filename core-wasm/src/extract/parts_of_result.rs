//! How the notes say where the parts of a result begin. The extractor writes it, and the page reads it.

use std::fmt;
use std::str::FromStr;

#[cfg(doc)]
use super::course::END;

/// The name of the attribute: one line for each result, with its place among the results or [`END`], and its parts.
pub(crate) const PARTS: &str = "parts";

/// The length of the beginning of a part by which it is found, and the least, in bytes.
pub(crate) const MAX_OPENING_BYTES: usize = 60;
pub(crate) const MIN_OPENING_BYTES: usize = 4;

/// What a part of a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A heading, or a line that leads to a list.
    Heading,
    /// An item of a list, or a row of a table.
    Item,
    /// An item below another one.
    SubItem,
    /// A paragraph.
    Paragraph,
    /// What belongs to nothing before it.
    Line,
}

/// The beginning of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Where it begins in the result, in bytes.
    pub at: usize,
    pub kind: Kind,
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.kind {
            Kind::Heading => 'h',
            Kind::Item => 'i',
            Kind::SubItem => 's',
            Kind::Paragraph => 'p',
            Kind::Line => 'l',
        };
        write!(formatter, "{letter}{}", self.at)
    }
}

impl FromStr for Part {
    type Err = ();

    /// Reads a letter and a number. Fails on everything else.
    fn from_str(part: &str) -> Result<Self, ()> {
        let kind = match part.chars().next() {
            Some('h') => Kind::Heading,
            Some('i') => Kind::Item,
            Some('s') => Kind::SubItem,
            Some('p') => Kind::Paragraph,
            Some('l') => Kind::Line,
            _ => return Err(()),
        };
        Ok(Part { at: part[1..].parse().map_err(|_| ())?, kind })
    }
}

/// Returns where a part that begins so stands in a result, at or behind a place: at the beginning, or behind a separator.
pub(crate) fn find(said: &str, opening: &str, start: usize) -> Option<usize> {
    const ENDS: [char; 14] = [';', ':', '.', '!', '?', '…', '→', '：', '。', '！', '？', ')', '"', '”'];
    // What was committed stands behind a dash.
    let is_apart = opening.starts_with('—');
    let begins = |at: usize| {
        let before = &said[..at];
        before.is_empty() || is_apart || (before.ends_with([' ', '。']) && before.trim_end().ends_with(ENDS))
    };
    let mut found = said.get(start..)?.match_indices(opening).map(|(at, _)| start + at);
    found.find(|&at| begins(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_as_it_was_written() {
        for kind in [Kind::Heading, Kind::Item, Kind::SubItem, Kind::Paragraph, Kind::Line] {
            let part = Part { at: 120, kind };
            assert_eq!(part.to_string().parse(), Ok(part));
        }
        for other in ["", "h", "x1", "ü1", "h-1"] {
            assert_eq!(other.parse::<Part>(), Err(()), "{other}");
        }
    }

    #[test]
    fn a_part_begins_behind_a_separator() {
        let said = "The bell rings. Bell: it rings; it waits";
        let found = |opening: &str, start: usize| find(said, opening, start);
        assert_eq!((found("The bell", 0), found("Bell:", 0), found("it waits", 0)), (Some(0), Some(16), Some(32)));
        assert_eq!((found("bell", 0), found("The bell", 1), found("it", 99)), (None, None, None));
    }
}
