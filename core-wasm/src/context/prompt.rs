//! The page for a prompt: of the sessions that the search found, the passages that answer.

use std::collections::BTreeMap;

use super::line::{self, TextKey};
use super::page::{Entry, Page, SectionKind, memory_text};
use super::relevance;
use crate::bindings::exports::throughline::policy::context_builder::Request;
use crate::bindings::throughline::policy::types::Memory;
use crate::query::form::PromptForm;
use crate::text;

/// The line below the heading.
pub(super) const INTRO: &str =
    "Memories of this project that match the prompt. They may be outdated: the user and the code have the last word.";

/// The maximum length in UTF-16 units. It is small because the text is added to every prompt.
pub(super) const MAX_UNITS: usize = 2_000;

/// What is told of each session, best match first: the maximum length of the best passage and of the session's summary, in
/// characters. A passage that answers, whole, is worth more than several that are cut.
const SESSION_CHARS: [(usize, usize); 3] = [(400, 760), (320, 420), (300, 0)];
/// The share of the best session's score below which a session is not told beside it.
const MIN_SHARE: f32 = 0.5;
/// The maximum length of the request before a passage of its answer, in characters.
const REQUEST_CHARS: usize = 120;
/// The kind of memory that is for manual searches only: it is long, and others cover it.
const SKIPPED_KIND: &str = "compact_summary";

/// Builds the page. It is empty if the results do not help with the prompt.
pub(super) fn page(request: &Request) -> Page {
    let mut page = Page::new(&request.session.root);
    let (form, found) = judged(request);
    if relevance::evidence(&form, &found) <= 0.0 {
        return page;
    }
    let rarity = Rarity::of(&found);
    let sessions = by_session(&found);
    let best = sessions.first().map_or(0.0, |session| session[0].score);
    let mut rank = 0_u8;
    let mut told: Vec<TextKey> = Vec::new();
    for (session, (passage_chars, summary_chars)) in sessions.iter().zip(SESSION_CHARS) {
        if session[0].score < best * MIN_SHARE {
            break;
        }
        let (summaries, others): (Vec<&Memory>, Vec<&Memory>) =
            session.iter().partition(|memory| memory.kind == "session_summary");
        let parts = [(others.first(), passage_chars), (summaries.first(), summary_chars)];
        for (memory, max_chars) in parts.into_iter().filter_map(|(memory, max)| Some((memory?, max))) {
            if max_chars == 0 {
                continue;
            }
            let passage = passage(memory, max_chars, &rarity);
            let Some(key) = TextKey::new(&passage) else { continue };
            if !told.iter().any(|known| key.is_within(known)) {
                add(&mut page, memory, &passage, rank);
                told.push(key);
                rank = rank.saturating_add(1);
            }
        }
    }
    page
}

/// Returns the form of the request's prompt, and the results that may be told.
pub(super) fn judged(request: &Request) -> (PromptForm, Vec<Memory>) {
    let prompt = request.session.attributes.iter().find(|(name, _)| name == "prompt").map_or("", |(_, value)| value);
    let found = request.found.iter().filter(|memory| memory.kind != SKIPPED_KIND).cloned().collect();
    (PromptForm::of(prompt), found)
}

/// Groups the results by their sessions, the session with the best result first. Memories without a session stand alone.
fn by_session(found: &[Memory]) -> Vec<Vec<&Memory>> {
    let mut sessions: Vec<Vec<&Memory>> = Vec::new();
    for memory in found {
        let same = |session: &&mut Vec<&Memory>| !memory.session_id.is_empty() && session[0].session_id == memory.session_id;
        match sessions.iter_mut().find(same) {
            Some(session) => session.push(memory),
            None => sessions.push(vec![memory]),
        }
    }
    sessions.sort_by(|one, other| other[0].score.total_cmp(&one[0].score));
    sessions
}

fn add(page: &mut Page, memory: &Memory, passage: &str, rank: u8) {
    let day = line::day(memory.created).map_or_else(String::new, |day| format!(" {day}"));
    let line = format!("[{}]{day} {}: {passage}", memory.id, memory.kind);
    // The search knows better than the memory's importance what matters here.
    let importance = 1.0 - f32::from(rank) / 100.0;
    // Two passages of one session may come from texts of which one contains the other: only the passages count.
    let entry = Entry::new(&line, importance).with_whole_text(&line, MAX_UNITS).with_id(&memory.id);
    page.add(SectionKind::Found, entry);
}

/// How rare the matched words are among the pieces of all results: a word that stands everywhere does not say which
/// passage answers.
struct Rarity(BTreeMap<String, f32>);

impl Rarity {
    fn of(found: &[Memory]) -> Self {
        let mut words: BTreeMap<String, f32> = found.iter().flat_map(matched).map(|word| (word.to_owned(), 0.0)).collect();
        let pieces: Vec<String> =
            found.iter().flat_map(|memory| pieces(&memory.content)).map(|it| it.to_lowercase()).collect();
        for (word, rarity) in &mut words {
            let count = pieces.iter().filter(|piece| text::contains(piece, word)).count();
            #[expect(clippy::cast_precision_loss, reason = "small counts")]
            let share = (1 + pieces.len()) as f32 / (1 + count) as f32;
            *rarity = share.ln();
        }
        Self(words)
    }

    /// Returns how much of the prompt a piece has.
    fn score(&self, piece: &str, memory: &Memory) -> f32 {
        let lower = piece.to_lowercase();
        let words = matched(memory).filter(|word| text::contains(&lower, word));
        words.filter_map(|word| self.0.get(word)).sum()
    }
}

/// Returns the words of the prompt that a memory has.
fn matched(memory: &Memory) -> impl Iterator<Item = &str> {
    let words = memory.attributes.iter().find(|(name, _)| name == "match.words");
    words.map_or("", |(_, words)| words.as_str()).split(' ').filter(|word| !word.is_empty())
}

/// Splits a text into sentences and rows, without code.
fn pieces(content: &str) -> Vec<String> {
    let rows = |line: &str| if line.starts_with('|') { vec![text::plain(line)] } else { text::sentences(line) };
    text::prose_lines(content).flat_map(rows).collect()
}

/// Returns what a memory says in answer to the prompt: all of it if it fits, otherwise its request and the sentences
/// around the best match.
fn passage(memory: &Memory, max_chars: usize, rarity: &Rarity) -> String {
    let whole = memory_text(memory);
    if memory.content.chars().count() <= max_chars || memory.content.is_empty() {
        return line::sanitize(&whole);
    }
    let is_answer = matches!(memory.kind.as_str(), "turn" | "result" | "session_summary");
    let request = if is_answer { line::truncate(&line::sanitize(&memory.title), REQUEST_CHARS) } else { String::new() };
    let pieces = pieces(&memory.content);
    let room = max_chars.saturating_sub(request.chars().count() + 3);
    let around = best_window(&pieces, room, |piece| rarity.score(piece, memory));
    let around = line::sanitize(&around);
    if request.is_empty() || around.starts_with(request.trim_end_matches('…')) {
        around
    } else if around.is_empty() {
        line::truncate(&line::sanitize(&whole), max_chars)
    } else {
        format!("{request} → {around}")
    }
}

/// Returns the pieces around the one that has most of the prompt, as many as fit: first those that follow it.
fn best_window(pieces: &[String], max_chars: usize, score: impl Fn(&str) -> f32) -> String {
    let scores: Vec<f32> = pieces.iter().map(|piece| score(piece)).collect();
    let near = |at: usize| {
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| scores.get(at)).sum::<f32>();
        scores[at] + beside / 2.0
    };
    // The last of equals: later statements win over earlier ones.
    let Some(best) = (0..pieces.len()).max_by(|&one, &other| near(one).total_cmp(&near(other))) else {
        return String::new();
    };
    let (mut first, mut end) = (best, best + 1);
    let mut chars = pieces[best].chars().count();
    loop {
        let cost = |at: usize| pieces.get(at).map(|piece| piece.chars().count() + 1);
        let after = cost(end).filter(|cost| chars + cost <= max_chars);
        let before = first.checked_sub(1).and_then(cost).filter(|cost| chars + cost <= max_chars);
        match (after, before) {
            (Some(cost), _) => (chars, end) = (chars + cost, end + 1),
            (None, Some(cost)) => (chars, first) = (chars + cost, first - 1),
            (None, None) => break,
        }
    }
    line::truncate(&pieces[first..end].join(" "), max_chars)
}
