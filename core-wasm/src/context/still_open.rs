//! What the few sessions before the last one left open, as long as no later one speaks of it.

use super::attributes::{attribute, has_result, later_requests};
use super::line;
use super::page::{Entry, Page, SectionKind};
use crate::bindings::throughline::policy::types::{SessionNotes, SessionRecord};
use crate::text;

/// How many sessions before the last one are asked. What is older was settled or given up.
const MAX_SESSIONS: usize = 3;
/// The longest time between a session and the last one for its points to be told, in milliseconds.
const MAX_AGE: u64 = 21 * 24 * 60 * 60 * 1000;
/// The weight of the points of the newest of them, and what each older session takes off.
const WEIGHT: f32 = 0.62;
const OLDER: f32 = 0.04;
/// The maximum length of a point, of all points of a session, and of what was asked there, in characters.
const MAX_POINT_CHARS: usize = 380;
const MAX_CHARS: usize = 440;
const MAX_ASKED_CHARS: usize = 70;

/// The length of the beginning by which a word is known in another form, and the minimum length of a word, in characters.
const STEM_CHARS: usize = 6;
const MIN_WORD_CHARS: usize = 5;
/// The minimum length of a title by which a plan is known, in characters.
const MIN_TITLE_CHARS: usize = 8;
/// How many words of a point a later text must share to speak of it, and which share of them.
const MIN_SHARED: usize = 3;
const SHARED_PERCENT: usize = 30;

/// Adds what the sessions before the last one left open. In doubt whether it was settled, nothing is said.
pub(super) fn add_still_open(page: &mut Page, sessions: &[SessionRecord], last: Option<usize>) {
    let Some(last) = last else { return };
    let ended = sessions[last].ended;
    let earlier = sessions.iter().enumerate().skip(last + 1).filter(|(_, record)| has_result(record)).take(MAX_SESSIONS);
    let mut weight = WEIGHT;
    for (at, record) in earlier {
        let is_recent = ended.zip(record.ended).is_none_or(|(last, own)| last.saturating_sub(own) <= MAX_AGE);
        let Some(notes) = record.notes.as_ref().filter(|_| is_recent) else { continue };
        let points = attribute(notes, "still-open").into_iter().flat_map(str::lines);
        let is_open =
            |point: &&str| !sessions[..at].iter().filter_map(|it| it.notes.as_ref()).any(|it| speaks_of(it, point));
        let points: Vec<String> =
            points.filter(is_open).map(|point| line::truncate(&line::sanitize(point), MAX_POINT_CHARS)).collect();
        if !points.is_empty() {
            let day = record.ended.or(record.started).and_then(line::day).map(|day| format!("{day}, ")).unwrap_or_default();
            let points = line::join(&points, "; ", MAX_CHARS);
            let asked = line::truncate(&line::sanitize(&notes.original_request), MAX_ASKED_CHARS);
            let told = format!("{day}left undone: {points} (asked: {asked})");
            let entry = Entry::new(&told, weight).with_whole_text(&told, MAX_CHARS + MAX_ASKED_CHARS + 60);
            page.add(SectionKind::Other, entry.with_key(&points));
        }
        weight -= OLDER;
    }
}

/// Returns whether a later session speaks of a point in a sentence, a request or a commit.
fn speaks_of(notes: &SessionNotes, point: &str) -> bool {
    let words = stems(point);
    let needed = MIN_SHARED.max((words.len() * SHARED_PERCENT).div_ceil(100));
    let lower = point.to_lowercase();
    let titles: Vec<&str> = titles(&lower);
    let is_about = |said: &str| {
        let lower = said.to_lowercase();
        words.iter().filter(|word| lower.contains(word.as_str())).count() >= needed
            || titles.iter().any(|title| lower.contains(title))
    };
    let results = notes.done.iter().chain([&notes.outcome]).flat_map(|said| text::sentences(said));
    let requests = later_requests(notes);
    // Of a few words nobody knows what is about them.
    (words.len() < MIN_SHARED && titles.is_empty())
        || results.chain(requests).any(|said| is_about(&said))
        || notes.commits.iter().chain([&notes.original_request]).any(|said| is_about(said))
}

/// Returns what a point names in quotation marks, such as a plan.
fn titles(point: &str) -> Vec<&str> {
    let ends = [('"', '"'), ('“', '”'), ('「', '」')];
    let quoted = ends.iter().flat_map(|&(open, close)| {
        let after = point.split(open).skip(1).step_by(if open == close { 2 } else { 1 });
        after.filter_map(move |rest| if open == close { Some(rest) } else { rest.split(close).next() })
    });
    quoted.filter(|title| title.chars().count() >= MIN_TITLE_CHARS).collect()
}

/// Returns the beginnings of the words of a text, each once.
fn stems(said: &str) -> Vec<String> {
    let lower = said.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let is_word = |word: &&str| word.chars().count() >= MIN_WORD_CHARS || (!word.is_ascii() && word.chars().count() > 1);
    let mut stems: Vec<String> = words.filter(is_word).map(|word| word.chars().take(STEM_CHARS).collect()).collect();
    stems.sort();
    stems.dedup();
    stems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::overtaken::tests::empty_notes;

    fn speaks(asked: &str, outcome: &str, point: &str) -> bool {
        let notes = SessionNotes { original_request: asked.to_owned(), outcome: outcome.to_owned(), ..empty_notes() };
        speaks_of(&notes, point)
    }

    #[test]
    fn a_later_session_settles_what_it_speaks_of() {
        let point = "The receipt printer was checked with a stub, not with the printer of the counter.";
        assert!(!speaks("Round the totals of the cart", "Each total is rounded once. The tax is added last.", point));
        assert!(speaks("Try the receipt printer at the counter", "It prints.", point));
        assert!(speaks("Go on", "The drawer opens. The printer at the counter printed a receipt.", point));
    }

    #[test]
    fn a_plan_is_taken_up_by_its_title() {
        let point = "The user refused the plan \"Close the till\": Count the coins, print the sums, lock the drawer and send the report";
        assert!(speaks("Implement the plan \"Close the Till\"", "", point));
        assert!(!speaks("Open the shop", "The door is open.", point));
        assert!(speaks("Open the shop", "", "Step 8: commit"), "nobody knows what would be about that");
    }
}
