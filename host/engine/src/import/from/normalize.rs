//! Normalizes the lines of every system: types become one word, identifiers and titles are shortened, and texts too
//! long for one memory are split.

use std::collections::HashSet;

use super::system::System;
use crate::import::line::{self, Line, MAX_CONTENT_BYTES, MAX_ID_BYTES, MAX_LIST, MAX_TITLE_CHARS, MAX_TYPE_BYTES};
use crate::text::one_line;
use throughline_model::contract::SessionNotes;
use throughline_model::digest::{hex, sha256_parts};

/// The type of memories that search finds but that are never shown unasked.
pub(super) const TURN: &str = "turn";

/// The importance of a turn, the same as for turns read from transcripts.
pub(super) const TURN_IMPORTANCE: f32 = 0.1;

/// The longest title of a turn, characters, the same as for turns read from transcripts.
const MAX_TURN_TITLE: usize = 160;

/// Normalizes a line of any system.
pub(super) fn normalize_line(line: &mut Line, system: &System) {
    let short = |text: &str, most: usize| {
        if text.len() <= most { text.to_owned() } else { hex(&sha256_parts(&[text])[..16]) }
    };
    // Project names may be long or strange. They are left alone, since only folders and plain names get this far.
    line.id = line.id.take().map(|id| format!("{}:{}", system.name, short(&id, MAX_ID_BYTES / 2)));
    line.session = short(line.session.trim(), MAX_ID_BYTES);
    let title = one_line(&line.title);
    let most = if line.kind == TURN { MAX_TURN_TITLE } else { MAX_TITLE_CHARS };
    let cut = line::cut(&title, most);
    line.title = if cut.len() < title.len() { format!("{}…", cut.trim_end()) } else { title };
    line.kind = normalize_type(&line.kind);
    for list in [&mut line.keywords, &mut line.files] {
        let mut seen = HashSet::new();
        list.retain(|it| !it.trim().is_empty() && seen.insert(it.clone()));
        list.truncate(MAX_LIST);
    }
}

/// Joins finished work of a few words each. Beside an outcome, a page only tells work that was described in a sentence: the short items of
/// a list of tasks would crowd it. Another memory has nothing but such items.
pub(super) fn join_short(notes: &mut SessionNotes) {
    /// From this length on, a page tells an item beside an outcome, characters.
    const SENTENCE: usize = 60;
    if notes.outcome.trim().is_empty() {
        return;
    }
    let (short, mut done): (Vec<String>, Vec<String>) =
        std::mem::take(&mut notes.done).into_iter().partition(|item| item.chars().count() < SENTENCE);
    let joined = short.join("; ");
    if joined.chars().count() >= SENTENCE {
        done.push(joined);
    } else if !joined.is_empty() {
        notes.outcome = format!("{joined}; {}", notes.outcome);
    }
    notes.done = done;
}

/// Turns another system's type into one of ours: lower case, one word.
fn normalize_type(kind: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let word: String = kind.trim().to_lowercase().chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let word = word.trim_matches('_');
    if word.is_empty() || word.len() > MAX_TYPE_BYTES { "learning".into() } else { word.to_owned() }
}

/// Splits a line whose text is longer than a memory may be: preferably at the end of a paragraph or a line, otherwise
/// anywhere.
pub(super) fn split(line: Line) -> Vec<Line> {
    if line.content.len() <= MAX_CONTENT_BYTES {
        return vec![line];
    }
    let title = if line.title.is_empty() { line::title_of(&line.content) } else { line.title.clone() };
    let mut parts = Vec::new();
    let mut rest = line.content.as_str();
    while !rest.is_empty() {
        let end = cut_at(rest, MAX_CONTENT_BYTES);
        parts.push(rest[..end].trim());
        rest = rest[end..].trim_start();
    }
    let all = parts.len();
    let of = |(at, part): (usize, &str)| Line {
        id: line.id.as_ref().map(|id| if at == 0 { id.clone() } else { format!("{id}#{}", at + 1) }),
        title: format!("{title} ({}/{all})", at + 1),
        content: part.to_owned(),
        ..line.clone()
    };
    parts.into_iter().enumerate().filter(|(_, part)| !part.is_empty()).map(of).collect()
}

/// Returns the best byte offset for a split, at most `most`.
fn cut_at(text: &str, most: usize) -> usize {
    if text.len() <= most {
        return text.len();
    }
    let end = text.floor_char_boundary(most);
    let half = end / 2;
    ["\n\n", "\n", ". ", " "]
        .iter()
        .find_map(|border| text[..end].rfind(border).filter(|at| *at > half))
        .map_or(end, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_work_is_told_beside_an_outcome() {
        let of = |done: &[&str], outcome: &str| {
            let done = done.iter().map(|&it| it.to_owned()).collect();
            let mut notes = SessionNotes { done, outcome: outcome.into(), ..SessionNotes::default() };
            join_short(&mut notes);
            (notes.done.len(), notes.outcome)
        };
        assert_eq!(of(&["swept", "painted"], "The den is open"), (0, "swept; painted; The den is open".into()));
        assert_eq!(of(&["swept", "painted"], ""), (2, String::new()));
        let long = "x".repeat(40);
        assert_eq!(of(&[&long, &long, &"y".repeat(70)], "open"), (2, "open".into()));
    }

    #[test]
    fn types_of_others_become_words() {
        for (theirs, ours) in
            [("Error Fix", "error_fix"), ("root-cause", "root-cause"), ("결정", "learning"), ("", "learning")]
        {
            assert_eq!(normalize_type(theirs), ours);
        }
    }

    proptest! {
        #[test]
        fn nothing_of_a_long_text_is_lost(part in "[a-c한글 .\n]{1,200}", times in 300_usize..1500) {
            let content = part.repeat(times).trim().to_owned();
            let lines = split(Line { id: Some("x".into()), content: content.clone(), ..Line::default() });
            let words = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(lines.iter().map(|line| words(&line.content)).collect::<String>(), words(&content));
            prop_assert!(lines.iter().all(|line| line.content.len() <= MAX_CONTENT_BYTES));
            let ids: std::collections::HashSet<_> = lines.iter().map(|line| line.id.clone()).collect();
            prop_assert_eq!(ids.len(), lines.len());
        }
    }
}
