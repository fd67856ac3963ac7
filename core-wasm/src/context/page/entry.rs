//! One line of a section: its text, what it weighs, and what other lines it covers.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::label::{Label, LineLabel};
use super::layout::{Part, laid_out};
use crate::bindings::throughline::policy::types::Memory;
use crate::context::line::{self, MAX_DECISION_CHARS, MAX_END_CHARS, MAX_LINE_CHARS, MAX_RESULT_CHARS, TextKey};
use crate::context::marks;
use crate::extract::course::ARROW;
use crate::extract::labels;
use crate::text;

/// How many tenths of its words a line about the session must have for a lesson to be told by it.
const REPEATED_TENTHS: usize = 9;

/// The length from which what was chosen is not in another line by accident, in characters: "At commit time" may be.
const MIN_CHOICE_CHARS: usize = 40;

/// The length that the marks of a line leave its text, in characters.
const MIN_MARKED_CHARS: usize = 150;

/// The most that a late place adds to the importance of a decision, in thousandths. It decides among those that weigh the same.
const MAX_RECENCY: u32 = 40;

/// What is told of an entry where there is no room for its text.
#[derive(Clone, Debug)]
pub(super) struct Short {
    pub text: String,
    /// Its weight in thousandths.
    pub weight: u32,
    /// The weight of the whole text then. None if that is the entry's own.
    pub whole_weight: Option<u32>,
}

/// The form in which an entry is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Whole,
    Short,
}

/// One line of a section.
#[derive(Clone, Debug)]
pub(in crate::context) struct Entry {
    pub(super) text: String,
    /// What follows the text in parentheses.
    pub(super) marks: Vec<String>,
    /// The importance in thousandths.
    pub(super) weight: u32,
    /// What is added for a place late among its like, in thousandths.
    recency: u32,
    /// The share of the weight that counts: less than 1 if the memory is doubtful.
    pub(super) share: f32,
    pub(super) ids: Vec<String>,
    pub(super) keys: Vec<TextKey>,
    /// Whether this line is about the session as a whole. Such a line may cover a memory, but a memory never covers
    /// such a line.
    pub(super) is_session_line: bool,
    /// Whether this is a choice between ways. A few of its words in another line do not tell it.
    pub(super) is_choice: bool,
    /// Whether it tells a correction of the user.
    pub(super) is_correction: bool,
    /// What is told where there is no room for the text. None if the text is short.
    pub(super) short: Option<Short>,
    /// Its parts that have lines of their own if it is long.
    pub(super) parts: Vec<Part>,
    /// The words of the text, once they were asked for.
    words: OnceCell<text::Features>,
}

impl Entry {
    /// Creates an entry with that importance, from 0 to 1.
    pub(in crate::context) fn new(raw: &str, importance: f32) -> Self {
        Self::within(raw, importance, MAX_LINE_CHARS)
    }

    /// Creates an entry that tells a decision.
    pub(in crate::context) fn decision(raw: &str, importance: f32) -> Self {
        Self::within(raw, importance, MAX_DECISION_CHARS)
    }

    fn within(raw: &str, importance: f32, max_chars: usize) -> Self {
        let text = line::fit_within(&line::sanitize(raw), max_chars);
        let keys = TextKey::new(&text).into_iter().collect();
        Self {
            text,
            marks: Vec::new(),
            weight: weight(importance),
            recency: 0,
            share: 1.0,
            ids: Vec::new(),
            keys,
            is_session_line: false,
            is_choice: false,
            is_correction: false,
            short: None,
            parts: Vec::new(),
            words: OnceCell::new(),
        }
    }

    /// Returns the same entry as one that tells a correction of the user, or not.
    pub(in crate::context) fn of_correction(self, is_correction: bool) -> Self {
        Self { is_correction, ..self }
    }

    /// Turns the entry into a line about a session as a whole, which covers every entry that says no more than it does.
    pub(in crate::context) fn into_session_line(self) -> Self {
        Self { is_session_line: true, ..self }
    }

    /// Creates a line about the session as a whole: a label and its text.
    pub(in crate::context) fn session_line(label: impl Into<LineLabel>, raw: &str, importance: f32) -> Self {
        Self::labelled(&label.into(), raw, importance, MAX_LINE_CHARS)
    }

    /// Creates a line that tells what a turn or the session gave.
    pub(in crate::context) fn result_line(label: impl Into<LineLabel>, raw: &str, importance: f32) -> Self {
        Self::labelled(&label.into(), raw, importance, MAX_RESULT_CHARS)
    }

    /// Creates a line that tells how a session ended.
    pub(in crate::context) fn end_line(label: impl Into<LineLabel>, raw: &str, importance: f32) -> Self {
        Self::labelled(&label.into(), raw, importance, MAX_END_CHARS)
    }

    fn labelled(label: &LineLabel, raw: &str, importance: f32, max_chars: usize) -> Self {
        let said = line::sanitize(raw);
        // The key is made of the text without its label. No text has no key.
        Self {
            text: line::without_middle(&format!("{}: {said}", label.text()), max_chars),
            marks: Vec::new(),
            weight: weight(importance),
            recency: 0,
            share: 1.0,
            ids: Vec::new(),
            keys: TextKey::new(&said).into_iter().collect(),
            is_session_line: true,
            is_choice: false,
            is_correction: false,
            short: None,
            parts: Vec::new(),
            words: OnceCell::new(),
        }
    }

    /// Returns the same entry with this text in full, in at most `max_chars` characters.
    pub(in crate::context) fn with_whole_text(mut self, raw: &str, max_chars: usize) -> Self {
        self.text = line::truncate(&line::sanitize(raw), max_chars);
        self
    }

    /// Returns the same entry with what is told of it where there is no room for more, of that importance.
    pub(in crate::context) fn with_short(mut self, raw: &str, importance: f32) -> Self {
        let text = line::fit(&line::sanitize(raw));
        self.short = Some(Short { text, weight: weight(importance), whole_weight: None });
        self
    }

    /// Returns the same entry with this importance of its whole text, where the short one was told first.
    pub(in crate::context) fn with_whole_importance(mut self, importance: f32) -> Self {
        if let Some(short) = &mut self.short {
            short.whole_weight = Some(weight(importance));
        }
        self
    }

    /// Returns the same entry as one that has these parts.
    pub(in crate::context) fn with_parts(self, parts: Vec<Part>) -> Self {
        Self { parts, ..self }
    }

    /// Returns the text without its marks.
    pub(in crate::context) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the same entry with the weight of another one.
    pub(in crate::context) fn weighing_as(mut self, other: &Self) -> Self {
        self.weight = other.weight;
        self
    }

    /// Returns the same entry as one that says nothing beside its request: what was learned from that has a line of its own.
    pub(in crate::context) fn without_words(self) -> Self {
        Self { words: OnceCell::from(text::Features::default()), keys: Vec::new(), ..self }
    }

    /// Returns the same entry with what the tools say of it behind it.
    pub(in crate::context) fn with_record(mut self, record: &str) -> Self {
        // Nothing is told of the request itself.
        if self.text.trim_end().ends_with(':') {
            return self;
        }
        self.text.push_str(ARROW);
        self.text.push_str(record);
        self
    }

    /// Returns whether this line about the session tells a request.
    pub(super) fn is_request(&self) -> bool {
        self.is_session_line && Label::Asked.said_in(&self.text).is_some()
    }

    /// Returns the same entry, which tells a result, with what was asked before it. `asked` has the whole request and a short form. Where
    /// there is no room for more, the short form stands before at most `max_chars` characters of the result.
    pub(in crate::context) fn behind(mut self, asked: (&str, &str), label: Option<&str>, max_chars: usize) -> Self {
        let (asked, asked_briefly) = asked;
        let said = self.text.split_once(": ").map_or("", |(_, said)| said).to_owned();
        let label = label.map(|label| format!("{label}: ")).unwrap_or_default();
        let told = |asked: &str, said: &str| format!("{asked} → {label}{said}");
        let brief = line::in_sentences(&said, max_chars);
        self.words = OnceCell::from(text::features(&said));
        self.text = told(asked, &said);
        if brief != said || asked_briefly != asked {
            let text = if brief.is_empty() { asked_briefly.to_owned() } else { told(asked_briefly, &brief) };
            self.short = Some(Short { text, weight: self.rank(), whole_weight: Some(self.rank() / 10) });
        }
        self
    }

    /// Returns the same entry with only the beginning of its text, of at most `max_chars` characters, unless there is room left in the end.
    pub(in crate::context) fn shortened(mut self, max_chars: usize) -> Self {
        let text = if self.is_request() {
            line::brief_request(&self.text, max_chars)
        } else {
            line::without_middle(&self.text, max_chars)
        };
        if text != self.text {
            self.short = Some(Short { text, weight: self.rank(), whole_weight: Some(self.rank() / 10) });
        }
        self
    }

    /// Returns the same entry as the one at that place among its like: the later ones stand closer to the work to come.
    pub(in crate::context) fn with_place(mut self, place: usize) -> Self {
        self.recency = u32::try_from(place).unwrap_or(u32::MAX).min(MAX_RECENCY);
        self
    }

    /// Returns the same entry as one that tells this memory.
    pub(in crate::context) fn with_id(mut self, id: &str) -> Self {
        self.ids.push(id.to_owned());
        self
    }

    /// Adds another wording, for comparisons.
    pub(in crate::context) fn with_key(mut self, raw: &str) -> Self {
        self.keys.extend(TextKey::new(raw));
        self
    }

    /// Creates an entry from a memory. Its importance, raised by how often the memory was seen, is multiplied by
    /// `factor`.
    pub(in crate::context) fn from_memory(memory: &Memory, said: &str, factor: f32) -> Self {
        let seen = u8::try_from(memory.seen.saturating_sub(1)).unwrap_or(u8::MAX).min(5);
        let max_chars = if memory.kind == "decision" { MAX_DECISION_CHARS } else { MAX_LINE_CHARS };
        let importance = (memory.importance + 0.02 * f32::from(seen)) * factor;
        let mut entry = Self::within(said, importance, max_chars).with_key(&memory.content);
        entry.ids.push(memory.id.clone());
        entry.marks = marks::of(memory);
        entry.share = marks::share(memory);
        // Two turns may start with the same words.
        if memory.kind == "turn" { entry } else { entry.with_key(&memory.title) }
    }

    /// Returns the text with its marks.
    pub(super) fn line(&self) -> Cow<'_, str> {
        if self.marks.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let marks = marks::in_parentheses(&self.marks);
        let max = if self.text.chars().count() > MAX_LINE_CHARS { MAX_DECISION_CHARS } else { MAX_LINE_CHARS };
        let room = max.saturating_sub(marks.chars().count()).max(MIN_MARKED_CHARS);
        Cow::Owned(line::fit_within(&self.text, room) + &marks)
    }

    /// Returns the text in the form that has room.
    pub(super) fn told(&self, form: Form) -> Cow<'_, str> {
        let told = match &self.short {
            Some(short) if form == Form::Short => Cow::Borrowed(short.text.as_str()),
            _ => self.line(),
        };
        match told {
            told if self.parts.is_empty() => told,
            Cow::Borrowed(told) => laid_out(told, &self.parts),
            Cow::Owned(told) => laid_out(&told, &self.parts).into_owned().into(),
        }
    }

    /// Returns what the entry's place is decided by.
    pub(super) fn rank(&self) -> u32 {
        weight(self.share * f32::from(u16::try_from(self.weight).unwrap_or(u16::MAX)) / 1000.0) + self.recency
    }

    /// Tells the memories of an entry too. If only the whole text says what it says, that is told before other things.
    pub(super) fn absorb(&mut self, entry: &Self) {
        merge_ids(&mut self.ids, &entry.ids);
        self.weight = self.weight.max(entry.weight);
        if let Some(short) = &mut self.short
            && short.whole_weight.is_some()
            && !has_most(&text::features(&short.text), &text::features(&entry.text))
        {
            short.whole_weight = None;
        }
    }

    /// Returns whether this line about the session says nearly all of an entry in other words or in another order.
    pub(super) fn repeats(&self, words: &text::Features) -> bool {
        if !self.is_session_line {
            return false;
        }
        has_most(self.words.get_or_init(|| text::features(&self.text)), words)
    }

    /// Returns whether it tells a request that has nearly all of these words.
    pub(super) fn asks(&self, words: &text::Features) -> bool {
        let asked = Label::Asked.said_in(&self.text).filter(|_| self.is_session_line);
        asked
            .is_some_and(|asked| has_most(&text::features(asked.split_once(" → ").map_or(asked, |(asked, _)| asked)), words))
    }

    /// Returns whether a line names a rejected option as well, so that it tells what was offered and not what was chosen.
    fn was_offered_in(&self, line: &TextKey) -> bool {
        let rejected = Some(&self.text).filter(|_| self.is_choice).map_or("", |text| line::rejected_in(text));
        rejected.split("; ").filter_map(TextKey::new).any(|option| option.is_within(line))
    }

    /// Returns whether it says of something that it was rejected, and so what was chosen: a commit that records a decision does.
    fn says_rejected(&self) -> bool {
        let lower = self.text.to_lowercase();
        line::LANGUAGES.into_iter().any(|language| lower.contains(&labels::labels(language).rejected.to_lowercase()))
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        let pairs = || self.keys.iter().flat_map(|mine| other.keys.iter().map(move |theirs| (mine, theirs)));
        if self.is_session_line {
            let may_count = |theirs: &TextKey| !other.is_choice || theirs.chars() >= MIN_CHOICE_CHARS;
            pairs().any(|(mine, theirs)| {
                may_count(theirs) && theirs.is_within(mine) && (self.says_rejected() || !other.was_offered_in(mine))
            })
        } else {
            pairs().any(|(mine, theirs)| mine.is_same(theirs))
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 to 1000; not a number becomes 0")]
pub(super) fn weight(importance: f32) -> u32 {
    (importance.clamp(0.0, 1.0) * 1000.0).round() as u32
}

/// Returns whether a text with the words `own` has nearly all of these.
fn has_most(own: &text::Features, words: &text::Features) -> bool {
    words.iter().filter(|word| own.contains(word)).count() * 10 >= words.len() * REPEATED_TENTHS
}

pub(super) fn merge_ids(ids: &mut Vec<String>, more: &[String]) {
    for id in more {
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_has_more_room_than_another_line() {
        let long = "The till rings twice ".repeat(18);
        assert!(Entry::decision(&long, 0.6).text().chars().count() > MAX_LINE_CHARS);
        assert!(Entry::new(&long, 0.6).text().chars().count() <= MAX_LINE_CHARS);
    }
}
