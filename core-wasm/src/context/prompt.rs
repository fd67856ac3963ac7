//! The page for a prompt: of the sessions that the search found, the passages that answer.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::line::{self, TextKey};
use super::marks;
use super::page::{Entry, Page, SectionKind, memory_text};
use super::relevance::{self, revisited_by};
use crate::bindings::exports::throughline::policy::context_builder::Request;
use crate::bindings::throughline::policy::types::Memory;
use crate::extract::{prose, statement};
use crate::query::form::PromptForm;
use crate::said_by::SaidBy;
use crate::text;

/// The line below the heading.
const INTRO: &str =
    "Memories of this project that match the prompt. They may be outdated: the user and the code have the last word.";

/// How a line is marked that a later memory may have changed, and what is added to the line below the heading.
const EARLIER: &str = " (earlier)";
const EARLIER_MARK: &str = " \"(earlier)\" marks what a later memory may have changed.";

/// The maximum length in UTF-16 units. It is small because the text is added to every prompt.
pub(super) const MAX_UNITS: usize = 2_000;

/// How many of the best sessions are told of.
const MAX_SESSIONS: usize = 3;
/// The share of the best session's score below which a session is not told beside it.
const MIN_SHARE: f32 = 0.5;
/// The maximum number of passages, and the maximum length of one, in characters. Several short ones find the answer more
/// often than two long ones.
const MAX_PASSAGES: usize = 5;
const PASSAGE_CHARS: usize = 330;
/// The maximum lengths of the summaries of the best sessions, in characters. The first holds most settled rules whole.
const SUMMARY_CHARS: [usize; 2] = [760, 380];
/// The length below which a passage is not worth its line, in characters.
const MIN_CHARS: usize = 120;
/// What the marks of an entry take, and what the heading and the line below it take, in UTF-16 units.
const ENTRY_UNITS: usize = 50;
const HEAD_UNITS: usize = 160;
/// How much more a passage of a lesson is worth than one of a turn that has the same words: it was chosen once already.
const LESSON: f32 = 1.6;
/// How the agent begins when it tells itself what was asked, behind "The user".
const REPEATS: [&str; 5] = ["wants ", "is asking ", "asked ", "asks ", "is saying "];
/// What a word that names something, or a number, adds to what a piece of a summary is worth, and how many of them count.
const NAMED: f32 = 0.5;
const MAX_NAMED: f32 = 4.0;
/// The maximum length of the request before a passage of its answer, in characters.
const REQUEST_CHARS: usize = 80;
/// How many characters a title and a text must begin with alike to begin with the same request. A title cuts long ones.
const SHARED_CHARS: usize = 20;

/// Returns the line below the heading of a page.
pub(super) fn intro(page: &Page) -> Cow<'static, str> {
    let marks = if page.is_marked { marks::MEANING } else { "" };
    let earlier = if page.has_earlier { EARLIER_MARK } else { "" };
    if marks.len() + earlier.len() > 0 { format!("{INTRO}{marks}{earlier}").into() } else { INTRO.into() }
}

/// Builds the page. It is empty if the results do not help with the prompt.
pub(super) fn page(request: &Request) -> Page {
    let (form, mut found) = judged(request);
    let marks = if found.iter().any(|memory| SaidBy::mark(memory).is_some()) { marks::MEANING.len() } else { 0 };
    let earlier = if found.iter().any(|memory| revisited_by(memory).is_some()) { EARLIER_MARK.len() } else { 0 };
    let room = MAX_UNITS - HEAD_UNITS - marks - earlier;
    let mut told = Told { page: Page::new(&request.session.root), keys: Vec::new(), rank: 0, room };
    if relevance::evidence(&form, &found) <= 0.0 {
        return told.page;
    }
    sink_doubtful(&mut found);
    told.page.limit(SectionKind::Found, MAX_PASSAGES + SUMMARY_CHARS.len());
    let rarity = Rarity::of(&found);
    let sessions = by_session(&found);
    let best = sessions.first().map_or(0.0, |session| session[0].score);
    let sessions: Vec<_> =
        sessions.iter().take(MAX_SESSIONS).filter(|session| session[0].score >= best * MIN_SHARE).collect();
    let summary = |memory: &&&Memory| memory.kind == "session_summary";
    let sources = sessions.iter().flat_map(|session| session.iter()).filter(|memory| !summary(memory));
    let mut passages = Passages::of(sources.map(|memory| Source::of(memory, &rarity)).collect());
    let mut summaries = sessions.iter().filter_map(|session| session.iter().find(summary));
    for number in 0..MAX_PASSAGES {
        passages.tell_next(&mut told);
        if let Some(max_chars) = SUMMARY_CHARS.get(number)
            && let Some(summary) = summaries.next()
        {
            let max_chars = told.room_for(*max_chars);
            if max_chars >= MIN_CHARS {
                told.tell(summary, &Source::of(summary, &rarity).digest(max_chars));
            }
        }
    }
    told.page
}

/// What is on the page so far.
struct Told {
    page: Page,
    keys: Vec<TextKey>,
    rank: u8,
    /// The UTF-16 units that are left.
    room: usize,
}

impl Told {
    /// Returns how many characters of the wanted ones fit.
    fn room_for(&self, max_chars: usize) -> usize {
        max_chars.min(self.room.saturating_sub(ENTRY_UNITS))
    }

    /// Adds a passage, unless the page says it already. Returns whether it was added.
    fn tell(&mut self, memory: &Memory, passage: &str) -> bool {
        let Some(key) = TextKey::new(passage) else { return false };
        if self.keys.iter().any(|known| key.is_within(known)) {
            return false;
        }
        add(&mut self.page, memory, passage, self.rank);
        self.keys.push(key);
        self.rank = self.rank.saturating_add(1);
        self.room = self.room.saturating_sub(ENTRY_UNITS + text::utf16_len(passage));
        true
    }
}

/// A memory that passages are taken from.
struct Source<'a> {
    memory: &'a Memory,
    /// What was asked, for what answers it.
    request: String,
    pieces: Vec<String>,
    /// How much of the prompt each piece has. All are 0 if the memory only means something similar.
    scores: Vec<f32>,
    /// The pieces that were told.
    told: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    fn of(memory: &'a Memory, rarity: &Rarity) -> Self {
        let (asked, said) = asked_and_said(memory).unwrap_or((&memory.title, &memory.content));
        let pieces = pieces(said);
        let scores = pieces.iter().map(|piece| rarity.score(piece, memory)).collect();
        Self { memory, request: line::truncate(&line::sanitize(asked), REQUEST_CHARS), pieces, scores, told: Vec::new() }
    }

    /// Returns how much of the prompt a piece and half of what stands beside it have.
    fn score(&self, at: usize) -> f32 {
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        self.scores[at] + beside.filter_map(|at| self.scores.get(at)).sum::<f32>() / 2.0
    }

    /// Returns the memory's request and its best pieces in their order: all of it if it fits. What a prompt asks for often stands in
    /// a sentence with none of its words, so what names something counts too.
    fn digest(&self, max_chars: usize) -> String {
        if let Some(whole) = self.whole(max_chars) {
            return whole;
        }
        let room = max_chars.saturating_sub(self.request.chars().count() + 3);
        let worth = |at: usize| self.score(at) + NAMED * telling_words(&self.pieces[at]).min(MAX_NAMED);
        let mut order: Vec<(usize, f32)> = (0..self.pieces.len()).map(|at| (at, worth(at))).collect();
        // The last of equals first: later statements win over earlier ones.
        order.sort_by(|(one, better), (other, worse)| worse.total_cmp(better).then(other.cmp(one)));
        let (mut chosen, mut used) = (Vec::new(), 0);
        for (at, _) in order {
            // One is told in any case, cut if it must be.
            let chars = self.pieces[at].chars().count() + 2;
            if used + chars <= room || chosen.is_empty() {
                used += chars;
                chosen.push(at);
            }
        }
        chosen.sort_unstable();
        let mut told = String::new();
        for (number, &at) in chosen.iter().enumerate() {
            if number > 0 {
                told.push_str(if chosen[number - 1] + 1 == at { " " } else { " … " });
            }
            told.push_str(&self.pieces[at]);
        }
        behind(&self.request, line::sanitize(&line::truncate(&told, room)))
    }

    /// Returns all that the memory says if it fits, or if it has no pieces to choose from.
    fn whole(&self, max_chars: usize) -> Option<String> {
        if self.memory.content.chars().count() > max_chars && !self.pieces.is_empty() {
            return None;
        }
        let whole = match self.memory.kind.as_str() {
            // What was decided stands in the body.
            "commit" => text::one_line(&self.memory.content),
            _ => memory_text(self.memory),
        };
        Some(line::truncate(&line::sanitize(&whole), max_chars))
    }

    /// Returns what the memory says around a piece, and the pieces that this takes up: all of them if they fit, otherwise the
    /// request and as many pieces as fit, first those that follow.
    fn passage(&self, at: usize, max_chars: usize) -> (String, Range<usize>) {
        if let Some(whole) = self.whole(max_chars) {
            return (whole, 0..self.pieces.len());
        }
        let is_answer = matches!(self.memory.kind.as_str(), "turn" | "result" | "session_summary") && self.told.is_empty();
        let request = if is_answer { self.request.as_str() } else { "" };
        let room = max_chars.saturating_sub(request.chars().count() + 3);
        let window = window(&self.pieces, at, room, &self.told);
        let around = line::sanitize(&line::truncate(&self.pieces[window.clone()].join(" "), room));
        (behind(request, around), window)
    }
}

/// Splits the text of an answer into what was asked and what was said. The title of a summary goes on with how the session ended,
/// which its text says again.
fn asked_and_said(memory: &Memory) -> Option<(&str, &str)> {
    if !matches!(memory.kind.as_str(), "result" | "session_summary") {
        return None;
    }
    let (asked, said) = memory.content.split_once(" → ")?;
    let shared = asked.chars().zip(memory.title.chars()).take_while(|(one, other)| one == other).count();
    (shared == asked.chars().count() || shared >= SHARED_CHARS).then_some((asked, said.trim_start_matches("→ ")))
}

/// Returns whether a memory is a lesson in a sentence or two, and not a record of what was said.
fn is_lesson(memory: &Memory) -> bool {
    matches!(
        memory.kind.as_str(),
        "decision" | "error_fix" | "learning" | "correction" | "preference" | "failure" | "discovery"
    )
}

/// The passages of the results, best first.
struct Passages<'a> {
    sources: Vec<Source<'a>>,
    /// The places of the pieces: of the source, and in it.
    order: VecDeque<(usize, usize)>,
    /// Whether a later memory without a word of the prompt was told.
    has_unmatched: bool,
}

impl<'a> Passages<'a> {
    fn of(sources: Vec<Source<'a>>) -> Self {
        let mut order: Vec<(usize, usize, f32)> = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            // How well the whole memory matches says whether its words mean the same.
            let is_alike = source.scores.iter().all(|score| *score <= 0.0);
            let has_words = |at: &usize| source.scores[*at] > 0.0 || (is_alike && *at == 0);
            let worth = source.memory.score * if is_lesson(source.memory) { LESSON } else { 1.0 };
            order.extend((0..source.pieces.len()).filter(has_words).map(|at| (number, at, source.score(at) * worth)));
        }
        order.sort_by(|(.., one), (.., other)| other.total_cmp(one));
        Self { sources, order: order.into_iter().map(|(source, at, _)| (source, at)).collect(), has_unmatched: false }
    }

    /// Tells the best passage that is new, after what may have changed it.
    fn tell_next(&mut self, told: &mut Told) {
        while let Some((number, at)) = self.order.pop_front() {
            if self.sources[number].told.iter().any(|told| told.contains(&at)) {
                continue;
            }
            self.tell_later(number, told);
            if !has_room(told) {
                return;
            }
            let source = &mut self.sources[number];
            let (passage, pieces) = source.passage(at, told.room_for(PASSAGE_CHARS));
            source.told.push(pieces);
            if told.tell(source.memory, &passage) {
                return;
            }
        }
    }

    /// Tells the later memory that may have changed a source, unless something of it was told. It may have no word of the prompt.
    fn tell_later(&mut self, number: usize, told: &mut Told) {
        let Some(id) = revisited_by(self.sources[number].memory) else { return };
        let Some(later) = self.sources.iter_mut().find(|it| it.memory.id == id && it.told.is_empty()) else { return };
        if has_room(told) {
            let best = (0..later.pieces.len()).max_by(|&one, &other| later.score(one).total_cmp(&later.score(other)));
            let best = best.unwrap_or(0);
            // What has no word of the prompt must leave the room to what answers it.
            if later.scores.get(best).is_none_or(|score| *score <= 0.0) && std::mem::replace(&mut self.has_unmatched, true) {
                return;
            }
            let (passage, pieces) = later.passage(best, told.room_for(PASSAGE_CHARS));
            later.told.push(pieces);
            told.tell(later.memory, &passage);
        }
    }
}

/// Returns what was said behind the request that it answers, unless it begins with that.
fn behind(request: &str, said: String) -> String {
    if said.starts_with(request.trim_end_matches('…')) { said } else { format!("{request} → {said}") }
}

/// Returns how many words of a piece name something or have a digit: code, a path, a value.
#[expect(clippy::cast_precision_loss, reason = "a sentence has few words")]
fn telling_words(piece: &str) -> f32 {
    let has_digit = |word: &&str| word.bytes().any(|b| b.is_ascii_digit());
    (statement::names(piece).len() + piece.split_whitespace().filter(has_digit).count()) as f32
}

/// Returns whether another passage is worth its line.
fn has_room(told: &Told) -> bool {
    told.room_for(PASSAGE_CHARS) >= MIN_CHARS
}

/// Returns the form of the request's prompt, and the results that may be told.
pub(super) fn judged(request: &Request) -> (PromptForm, Vec<Memory>) {
    let prompt = request.session.attributes.iter().find(|(name, _)| name == "prompt").map_or("", |(_, value)| value);
    (PromptForm::of(prompt), request.found.clone())
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
    let mark = SaidBy::mark(memory);
    page.is_marked |= mark.is_some();
    page.has_earlier |= revisited_by(memory).is_some();
    let said_by = mark.map_or_else(String::new, |word| format!(" by {word}"));
    let line = format!("[{}]{day} {}{said_by}{}: {passage}", memory.id, memory.kind, doubts(memory));
    // The search knows better than the memory's importance what matters here.
    let importance = 1.0 - f32::from(rank) / 100.0;
    // Two passages of one session may come from texts of which one contains the other: only the passages count.
    let entry = Entry::new(&line, importance).with_whole_text(&line, MAX_UNITS).with_id(&memory.id);
    page.add(SectionKind::Found, entry);
}

/// Returns what makes a memory doubtful, in parentheses: what became of a file that it is about, or that a later session was
/// about the same. Empty if nothing does.
fn doubts(memory: &Memory) -> String {
    let values =
        |wanted: &'static str| memory.attributes.iter().filter(move |(name, _)| name == wanted).map(|(_, value)| value);
    let revisited = revisited_by(memory);
    let later = revisited.or(values("followed-by").next().map(String::as_str));
    let later = later.map(|id| {
        let see = if revisited.is_some() { "see" } else { "see also" };
        format!("{see} the later [{}]", line::sanitize(id))
    });
    let doubts: Vec<String> = marks::of_files(memory).into_iter().chain(later).collect();
    let doubts = marks::in_parentheses(&doubts);
    if revisited.is_some() { format!("{EARLIER}{doubts}") } else { doubts }
}

/// Lets doubtful results sink. Whether the prompt is answered was decided before, by how well they match.
fn sink_doubtful(found: &mut Vec<Memory>) {
    if found.iter().all(|memory| marks::share(memory) >= 1.0) {
        return;
    }
    // The order also says which of two holds, whatever their scores are: only what is doubtful moves.
    let mut least = f32::MAX;
    let mut keyed: Vec<(f32, Memory)> = found
        .drain(..)
        .map(|mut memory| {
            least = least.min(memory.score);
            let share = marks::share(&memory);
            memory.score *= share;
            (least * share, memory)
        })
        .collect();
    keyed.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    found.extend(keyed.into_iter().map(|(_, memory)| memory));
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
            let count = pieces.iter().filter(|piece| contains_stem(piece, word)).count();
            #[expect(clippy::cast_precision_loss, reason = "small counts")]
            let share = (1 + pieces.len()) as f32 / (1 + count) as f32;
            *rarity = share.ln();
        }
        Self(words)
    }

    /// Returns how much of the prompt a piece has.
    fn score(&self, piece: &str, memory: &Memory) -> f32 {
        let lower = piece.to_lowercase();
        let words = matched(memory).filter(|word| contains_stem(&lower, word));
        words.filter_map(|word| self.0.get(word)).sum()
    }
}

/// Returns whether a text in lower case has a word with that stem. The stem of "strategy" is "strategi".
fn contains_stem(lower: &str, stem: &str) -> bool {
    text::contains(lower, stem)
        || stem.strip_suffix('i').is_some_and(|rest| rest.len() > 2 && text::contains(lower, &format!("{rest}y")))
}

/// Returns the words of the prompt that a memory has.
fn matched(memory: &Memory) -> impl Iterator<Item = &str> {
    let words = memory.attributes.iter().find(|(name, _)| name == "match.words");
    words.map_or("", |(_, words)| words.as_str()).split(' ').filter(|word| !word.is_empty())
}

/// Splits a text into sentences and rows, without code.
fn pieces(content: &str) -> Vec<String> {
    let rows = |line: &str| if line.starts_with('|') { vec![text::plain(line)] } else { text::sentences(line) };
    text::prose_lines(content).flat_map(rows).filter(|piece| says_something(piece)).collect()
}

/// Returns whether a piece says something: it neither narrates the agent's next step or what was asked, nor is a command that was
/// run.
fn says_something(piece: &str) -> bool {
    let is_command = piece.starts_with('`') && piece.ends_with('`') && piece.matches('`').count() == 2;
    let repeats_request =
        piece.strip_prefix("The user ").is_some_and(|rest| REPEATS.iter().any(|verb| rest.starts_with(verb)));
    !is_command && !repeats_request && !prose::is_narration(piece)
}

/// Returns the pieces around one of them that were not told yet, as many as fit: first those that follow it.
fn window(pieces: &[String], at: usize, max_chars: usize, told: &[Range<usize>]) -> Range<usize> {
    let (mut first, mut end) = (at, at + 1);
    let mut chars = pieces[at].chars().count();
    loop {
        let is_new = |at: &usize| !told.iter().any(|told| told.contains(at));
        let cost = |at: usize| pieces.get(at).filter(|_| is_new(&at)).map(|piece| piece.chars().count() + 1);
        let after = cost(end).filter(|cost| chars + cost <= max_chars);
        let before = first.checked_sub(1).and_then(cost).filter(|cost| chars + cost <= max_chars);
        match (after, before) {
            (Some(cost), _) => (chars, end) = (chars + cost, end + 1),
            (None, Some(cost)) => (chars, first) = (chars + cost, first - 1),
            (None, None) => return first..end,
        }
    }
}
