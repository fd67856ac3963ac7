//! Shortens what was asked and what a session gave to whole sentences.

use super::{is_in_code, truncate};
use crate::extract::Parts;
use crate::text;

/// Shortens what a session gave to the whole sentences at its beginning, and the whole items of a list, that fit into `max` characters.
pub(in crate::context) fn brief(line: &str, max: usize) -> String {
    /// The length below which a sentence says too little, in characters.
    const MIN_BRIEF_CHARS: usize = 60;
    let line = line.trim();
    if line.chars().nth(max).is_none() {
        return line.to_owned();
    }
    let clipped = text::clip(line, max - 2);
    let clipped = clipped.trim_end_matches('…');
    let whole = |end: &usize| clipped[..*end].chars().count() >= MIN_BRIEF_CHARS && !is_in_code(&clipped[..*end]);
    let ends = |marks: &[&str]| -> Option<usize> {
        let of = |mark: &str| clipped.match_indices(mark).map(|(at, _)| at + mark.trim_end().len()).filter(&whole).last();
        marks.iter().filter_map(|mark| of(mark)).max()
    };
    match ends(&[". ", "。", "! ", "? ", "; ", "；"]) {
        // What follows a short beginning may be what matters, and is cut in its middle.
        Some(end) if clipped[..end].chars().count() * 2 >= max => format!("{} …", &clipped[..end]),
        _ => truncate(line, max),
    }
}

/// Shortens the line of a request, such as "Asked: …", to `max` characters: to its opening, the first line of each of its parts, and what
/// it forbids and orders. The label stays.
pub(in crate::context) fn brief_request(line: &str, max: usize) -> String {
    let (label, asked) = line.split_once(": ").unwrap_or(("", line));
    let room = max.saturating_sub(label.chars().count() + 2);
    if asked.chars().count() <= room {
        return brief(line, max);
    }
    let told = Parts::of_line(asked).told(room);
    if told.is_empty() { brief(line, max) } else { format!("{label}: {told}") }
}

/// Shortens what a session gave as [`without_middle`] does, unless that tears a sentence. Then it returns the first sentence alone, or an
/// empty text if even that is much too long, because half a sentence says nothing.
pub(in crate::context) fn in_sentences(line: &str, max: usize) -> String {
    /// How many times the room the first sentence may take, and the length that it may have in any case, in characters.
    const MORE: usize = 2;
    const MAX_FIRST_CHARS: usize = 280;
    let brief = without_middle(line, max);
    // What was cut between sentences has a space before the mark.
    let is_torn = brief.match_indices('…').any(|(at, mark)| {
        let is_own = line.contains(&brief[..at + mark.len()]);
        at > 0 && !brief[..at].ends_with(' ') && !is_own
    });
    if !is_torn {
        return brief;
    }
    let first = text::first_sentence(line).unwrap_or_default();
    let is_short = first.chars().count() <= (max * MORE).max(MAX_FIRST_CHARS);
    if is_short && !first.is_empty() && !first.ends_with([':', '：', '…']) && first.len() < line.len() {
        return format!("{first} …");
    }
    String::new()
}

/// Shortens what a session gave to whole sentences from its beginning and from its end, which says how things stand, that fit into `max`
/// characters.
pub(in crate::context) fn without_middle(line: &str, max: usize) -> String {
    /// The part of the room that the end may take, unless its last sentence alone is longer, and the most that this may take.
    const END_PART: usize = 3;
    const LAST_PART: usize = 2;
    let line = line.trim();
    if line.chars().nth(max).is_none() {
        return line.to_owned();
    }
    let mut starts: Vec<usize> = [". ", "。", "! ", "? "]
        .iter()
        .flat_map(|mark| line.match_indices(mark).map(|(at, _)| at + mark.len()))
        .filter(|&start| start < line.len() && !is_in_code(&line[..start]) && !line[start..].starts_with("— "))
        .collect();
    starts.sort_unstable_by(|one, other| other.cmp(one));
    let fits = |start: usize, part: usize| line[start..].chars().count() * part <= max;
    let end = starts.iter().take_while(|start| fits(**start, END_PART)).last().or(starts.first()).copied();
    let Some(end) = end.filter(|&end| fits(end, LAST_PART)) else { return brief(line, max) };
    let tail = &line[end..];
    let begin = brief(&line[..end], max.saturating_sub(tail.chars().count() + 1));
    format!("{begin} {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_session_gave_is_shortened_to_whole_sentences_or_items() {
        let said = "The till rounds half a cent up, as the tax office of the country wants it done. The drawer opens later.";
        assert_eq!(brief(said, 90), "The till rounds half a cent up, as the tax office of the country wants it done. …");
        let list =
            "Changed in the till and in the drawer of the shop: `round` rounds up; `open()` waits; the bell rings twice";
        assert_eq!(
            brief(list, 100),
            "Changed in the till and in the drawer of the shop: `round` rounds up; `open()` waits; …"
        );
        assert_eq!(brief("Short.", 90), "Short.");
        assert_eq!(brief(&"drawer ".repeat(20), 90), truncate(&"drawer ".repeat(20), 90));
    }

    #[test]
    fn half_a_sentence_is_not_told() {
        let said =
            "The till of the night shop rounds half a cent up, as the tax office of the country wants it. The drawer opens.";
        assert_eq!(
            in_sentences(said, 60),
            "The till of the night shop rounds half a cent up, as the tax office of the country wants it. …"
        );
        assert_eq!(in_sentences(said, 200), said);
        assert_eq!(in_sentences(&"drawer ".repeat(90), 90), "");
    }

    #[test]
    fn what_has_no_room_is_cut_in_its_middle() {
        let said = "The till rounds half a cent up. The drawer opens later. The bell of the night till rings twice. One slip \
                    is left to print.";
        assert_eq!(without_middle(said, 70), "The till rounds half a cent up. … One slip is left to print.");
        assert_eq!(without_middle(said, 200), said);
        let committed = format!("{said} — committed as 1a2b3c4 \"Fold the slip\".");
        assert_eq!(
            without_middle(&committed, 140),
            "The till rounds half a cent up. The drawer opens later. … One slip is left to print. — committed as 1a2b3c4 \"Fold the slip\"."
        );
        let long_end = format!("The till rings. {}", "The drawer opens and ".repeat(9));
        assert_eq!(without_middle(&long_end, 90), brief(&long_end, 90), "the last sentence alone has no room");
    }
}
