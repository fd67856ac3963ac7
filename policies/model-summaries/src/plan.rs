//! Chooses what of the sources is sent, and splits it into requests that are short enough.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The longest line that is sent, in bytes.
const MAX_LINE: usize = 600;

/// The most lines of one archived turn that are sent, its first and its last ones: what was asked, and what came of it.
const TURN_LINES: usize = 8;

/// A stored memory.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// The identifier.
    pub id: String,
    /// The kind.
    pub kind: String,
    /// Who said it.
    pub said_by: Option<String>,
    /// From 0 to 1.
    pub importance: f32,
    /// Whether another memory may take its place.
    pub replaceable: bool,
    /// Identifiers and texts of its lines.
    pub lines: Vec<(String, String)>,
}

/// What one request is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chunk {
    /// The sources as the model sees them.
    pub text: String,
    /// The identifiers of the lines in the text.
    pub lines: Vec<String>,
    /// The identifier of each source in the text, by its short name.
    pub names: BTreeMap<String, String>,
    /// Whether the session's summary is made from this chunk.
    pub has_summary: bool,
}

/// Renders a source, and returns it with the identifiers of its lines.
fn render(name: &str, source: &Source) -> (String, Vec<String>) {
    let mut text = format!("{name} {}", source.kind);
    if let Some(said_by) = &source.said_by {
        let _ = write!(text, ", said by {said_by}");
    }
    text += if source.replaceable { ", replaceable\n" } else { "\n" };
    let count = source.lines.len();
    let is_left_out = |place: usize| {
        source.kind == "turn" && count > TURN_LINES && (TURN_LINES / 2..count - TURN_LINES / 2).contains(&place)
    };
    let mut lines = Vec::new();
    for (_, (id, line)) in source.lines.iter().enumerate().filter(|(place, _)| !is_left_out(*place)) {
        let cut = &line[..line.floor_char_boundary(MAX_LINE)];
        let _ = writeln!(text, "[{id}] {cut}");
        lines.push(id.clone());
    }
    (text, lines)
}

/// Chooses sources for `budget` bytes in all, and splits them into chunks of `most` bytes, in the order of the sources. Memories are
/// chosen before archived turns, and important ones before others; of the turns, the first and the last ones.
pub fn chunks(sources: &[Source], budget: usize, most: usize) -> Vec<Chunk> {
    let rendered: Vec<(String, Vec<String>)> =
        sources.iter().enumerate().map(|(place, source)| render(&format!("m{}", place + 1), source)).collect();
    let mut order: Vec<usize> = (0..sources.len()).collect();
    let (first, last) = (|place: &usize| *place, sources.len());
    // A turn near one of the ends of the session says what was wanted, or how it ended.
    order.sort_by(|a, b| {
        let is_turn = |place: &usize| sources[*place].kind == "turn";
        let from_end = |place: &usize| first(place).min(last - 1 - first(place));
        let of_memory = || sources[*b].importance.total_cmp(&sources[*a].importance);
        is_turn(a).cmp(&is_turn(b)).then_with(|| if is_turn(a) { from_end(a).cmp(&from_end(b)) } else { of_memory() })
    });
    let mut left = budget;
    let mut chosen = vec![false; sources.len()];
    for place in order {
        let size = rendered[place].0.len();
        if size <= left.min(most) {
            left -= size;
            chosen[place] = true;
        }
    }
    // The summary that the rules wrote belongs to the last chunk, where the new one is made.
    let mut places: Vec<usize> = (0..sources.len()).filter(|place| chosen[*place]).collect();
    places.sort_by_key(|place| sources[*place].kind == "session_summary");
    let mut all: Vec<Chunk> = Vec::new();
    for place in places {
        let (text, lines) = &rendered[place];
        if all.last().is_none_or(|chunk| chunk.text.len() + text.len() > most) {
            all.push(Chunk::default());
        }
        let Some(chunk) = all.last_mut() else { break };
        chunk.text += text;
        chunk.lines.extend(lines.iter().cloned());
        chunk.names.insert(format!("m{}", place + 1), sources[place].id.clone());
    }
    if let Some(chunk) = all.last_mut() {
        chunk.has_summary = true;
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn source(id: &str, kind: &str, importance: f32, lines: usize) -> Source {
        let lines = (0..lines).map(|line| (format!("{id}.{line}"), format!("{id} line {line}"))).collect();
        Source { id: id.into(), kind: kind.into(), importance, lines, ..Source::default() }
    }

    #[test]
    fn memories_come_before_turns_and_the_summary_is_last() {
        let sources = [
            source("sum", "session_summary", 0.5, 2),
            source("t1", "turn", 0.1, 20),
            source("t2", "turn", 0.1, 20),
            source("t3", "turn", 0.1, 20),
            source("d", "decision", 0.9, 2),
        ];
        let all = chunks(&sources, 10_000, 10_000);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].names.len(), 5);
        assert_eq!(all[0].lines.len(), 2 + 3 * TURN_LINES + 2);
        assert!(all[0].text.find("m1 session_summary").unwrap() > all[0].text.find("m5 decision").unwrap());
        let few = chunks(&sources, 350, 350);
        assert!(few[0].names.contains_key("m5") && !few[0].names.contains_key("m3"), "{few:?}");
        let split = chunks(&sources, 10_000, 250);
        assert!(split.len() > 1);
        assert!(split.last().unwrap().has_summary && !split[0].has_summary);
        assert!(split.last().unwrap().names.contains_key("m1"));
        assert!(chunks(&[], 100, 100).is_empty());
    }

    proptest! {
        #[test]
        fn no_budget_is_exceeded(
            sizes in prop::collection::vec((0_usize..40, any::<bool>()), 0..30), budget in 0_usize..5_000, most in 1_usize..2_000,
        ) {
            let sources: Vec<Source> = sizes
                .iter()
                .enumerate()
                .map(|(place, (lines, is_turn))| source(&format!("s{place}"), if *is_turn { "turn" } else { "learning" }, 0.5, *lines))
                .collect();
            let all = chunks(&sources, budget, most);
            prop_assert!(all.iter().map(|chunk| chunk.text.len()).sum::<usize>() <= budget);
            prop_assert!(all.iter().all(|chunk| chunk.text.len() <= most && !chunk.names.is_empty()));
        }
    }
}
