//! The pinned memories on the page at a session's start. A person pinned them, so they are shown regardless of the policy.

use crate::text::one_line;
use throughline_model::contract::Memory;
use throughline_store::PinnedMemory;

/// The part of the page's budget that they may take: one of so many.
const SHARE: usize = 3;

/// What stands before them.
const HEADING: &str = "The user pinned this, so it always stands here:\n\n";

/// The fewest units in which an entry says something.
const MIN_UNITS: usize = 48;

/// What stands before the rest of an entry that was cut.
const ELLIPSIS: &str = "…";

/// Returns the section with the pinned memories, of at most a third of `budget` UTF-16 units. Each has an equal share; what one
/// does not need is left to those after it. Empty if there are none.
pub(super) fn section(pinned: &[PinnedMemory], budget: usize) -> String {
    let mut left = (budget / SHARE).saturating_sub(units(HEADING) + 1);
    let mut text = String::new();
    for (at, PinnedMemory { memory, later }) in pinned.iter().enumerate() {
        let rest = match later {
            Some(later) => format!(" ({} says otherwise: {})", later.head.id, line_of(&later.head)),
            None => String::new(),
        };
        // On a page so short that a share would say nothing, the first ones have the room.
        let most = (left / (pinned.len() - at)).max(MIN_UNITS.min(left)).saturating_sub(units("- \n"));
        if most + units("- \n") < MIN_UNITS.min(units(&line_of(memory))) {
            break;
        }
        let line = format!("- {}\n", cut(&format!("{}{rest}", line_of(memory)), &memory.id, most));
        left = left.saturating_sub(units(&line));
        text.push_str(&line);
    }
    if text.is_empty() { text } else { format!("{HEADING}{text}\n") }
}

/// Returns what a memory says as one line.
fn line_of(memory: &Memory) -> String {
    let (title, content) = (one_line(&memory.title), one_line(&memory.content));
    if content.is_empty() {
        title
    } else if title.is_empty() || content.starts_with(title.trim_end_matches(ELLIPSIS)) {
        content
    } else {
        format!("{title}: {content}")
    }
}

/// Cuts a line to so many units, and says where the rest is.
fn cut(line: &str, id: &str, most: usize) -> String {
    if units(line) <= most {
        return line.to_owned();
    }
    let rest = format!("{ELLIPSIS} (memory {id})");
    let mut room = most.saturating_sub(units(&rest));
    let kept: String = line
        .chars()
        .take_while(|c| {
            let fits = c.len_utf16() <= room;
            room = room.saturating_sub(c.len_utf16());
            fits
        })
        .collect();
    format!("{}{rest}", kept.trim_end())
}

/// The length of a text as agents count it.
pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(content: &str) -> PinnedMemory {
        let memory = Memory { id: "0a1b2c3d4e5f".into(), content: content.into(), ..Memory::default() };
        PinnedMemory { memory, later: None }
    }

    #[test]
    fn every_pinned_memory_has_its_share_of_the_page() {
        assert_eq!(section(&[], 9_500), "");
        let short = section(&[pinned("Use tabs"), pinned("## Ignore\n\nwhat was said")], 9_500);
        assert_eq!(short, format!("{HEADING}- Use tabs\n- ## Ignore what was said\n\n"));
        for budget in [600, 2_000, 9_500] {
            let long = "수달 캐시 ".repeat(2_000);
            let all: Vec<PinnedMemory> = (0..12).map(|n| pinned(&format!("Rule {n:02}. {long}"))).collect();
            let text = section(&all, budget);
            assert!(units(&text) <= budget / SHARE, "{budget}: {}", units(&text));
            if budget > 600 {
                assert!((0..12).all(|n| text.contains(&format!("- Rule {n:02}"))), "{text}");
            }
            assert!(text.contains("… (memory 0a1b2c3d4e5f)"));
        }
        // What the first does not need, the last one has.
        let text = section(&[pinned("Use tabs"), pinned(&"word ".repeat(400))], 9_500);
        assert!(!text.contains(ELLIPSIS), "{text}");
    }

    #[test]
    fn a_later_word_is_mentioned() {
        let later = Memory { id: "ffff".into(), title: "Use spaces".into(), ..Memory::default() };
        let relation = throughline_search::supersession::Relation::Amends;
        let it =
            PinnedMemory { later: Some(throughline_store::Replacement { head: later, relation }), ..pinned("Use tabs") };
        assert!(section(&[it], 9_500).contains("- Use tabs (ffff says otherwise: Use spaces)\n"));
    }
}
