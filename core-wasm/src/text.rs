//! Text utilities that respect character boundaries: clipping, sentences, UTF-16 lengths, normalization, similarity,
//! language.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// Returns the length in UTF-16 code units, the unit in which the agent measures its context.
pub(crate) fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Returns the length of a text in characters, of which one of Korean, Japanese or Chinese counts for one and a half, because it says
/// more.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|c| if c < '\u{2e80}' { 2 } else { 3 }).sum::<usize>() / 2
}

/// Returns the first `max` bytes of the text at most, cut at a character boundary.
pub(crate) fn head(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// Returns the last `max` bytes of the text at most, cut at a character boundary.
pub(crate) fn tail(text: &str, max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(max))..]
}

/// How common each byte is in texts: the rank of a letter in English. The bytes that begin a character of another script are the
/// most common ones in it.
const COMMONNESS: [u8; 256] = {
    const LETTERS: &[u8] = b"zqxjkgbvpywfmculdrhsnioate ";
    let mut ranks = [0; 256];
    let (mut at, mut rank) = (0, 2);
    while at < LETTERS.len() {
        ranks[LETTERS[at] as usize] = rank;
        (at, rank) = (at + 1, rank + 1);
    }
    let mut byte = 0x80;
    while byte < 0x100 {
        ranks[byte] = if byte < 0xC0 { 12 } else { 40 };
        byte += 1;
    }
    ranks
};

/// Returns whether `text` contains `part`.
///
/// A session has many short texts and patterns. The standard library's search does set-up work that pays off only for
/// long texts, and took a seventh of an extraction. So an uncommon byte of the pattern is searched for: the least common of
/// five, because a look at all of them took a quarter of an extraction.
pub(crate) fn contains(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let Some(last) = part.len().checked_sub(1) else { return true };
    if text.len() <= last {
        return false;
    }
    let mut before = 0;
    for at in [last / 4, last / 2, last - last / 4, last] {
        if COMMONNESS[usize::from(part[at])] < COMMONNESS[usize::from(part[before])] {
            before = at;
        }
    }
    // Behind the last place at which the pattern has room, its byte need not be searched.
    let room = &text[before..text.len() - (last - before)];
    memchr::memchr_iter(part[before], room).any(|at| text[at] == part[0] && text[at..].starts_with(part))
}

/// Returns where `part` stands last in `text`. Most texts do not have it, and the standard library's search takes long to find that out.
pub(crate) fn rfind(text: &str, part: &str) -> Option<usize> {
    contains(text, part).then(|| text.rfind(part)).flatten()
}

/// Returns whether `text` contains one of the parts.
pub(crate) fn contains_any(text: &str, parts: &[impl AsRef<str>]) -> bool {
    let text = Searched::for_patterns(text, parts.len());
    parts.iter().any(|part| text.contains(part.as_ref()))
}

/// Returns whether `text` contains one of these, each as words: see [`contains_words`].
pub(crate) fn contains_any_words(text: &str, parts: &[impl AsRef<str>]) -> bool {
    let text = Searched::for_patterns(text, parts.len());
    parts.iter().any(|part| text.may_contain(part.as_ref()) && contains_words(text.text, part.as_ref()))
}

/// A text in which many patterns are searched for.
pub(crate) struct Searched<'a> {
    text: &'a str,
    /// None if they are not worth their time.
    pairs: Option<Pairs>,
}

impl<'a> Searched<'a> {
    /// The number of patterns from which a pass over a text of any length costs less than to search for each.
    const MANY: usize = 10;
    /// The number of bytes for each of fewer patterns up to which it does.
    const BYTES_PER_PATTERN: usize = 40;

    /// Prepares a text for a search for so many patterns.
    pub(crate) fn for_patterns(text: &'a str, count: usize) -> Self {
        let is_worthwhile = count >= Self::MANY || text.len() < count * Self::BYTES_PER_PATTERN;
        Self { text, pairs: is_worthwhile.then(|| Pairs::recent(text)) }
    }

    pub(crate) fn contains(&self, part: &str) -> bool {
        self.may_contain(part) && contains(self.text, part)
    }

    fn may_contain(&self, part: &str) -> bool {
        self.pairs.as_ref().is_none_or(|pairs| pairs.may_have(part))
    }
}

/// The texts in which patterns were searched for last, with their pairs. A sentence is searched for one list of signs after another.
struct Recent {
    texts: [(String, Pairs); Self::COUNT],
    /// The place of the oldest.
    oldest: usize,
}

impl Recent {
    /// How many are kept: a sentence, the heading above it, and what they are compared with.
    const COUNT: usize = 4;
    /// The longest text that is worth a copy, in bytes.
    const MAX_BYTES: usize = 4096;
}

thread_local! {
    static RECENT: RefCell<Recent> = const {
        RefCell::new(Recent { texts: [const { (String::new(), Pairs([0; Pairs::BITS / 64])) }; Recent::COUNT], oldest: 0 })
    };
}

/// Which pairs of neighbouring bytes a text has, to tell at once of most patterns that they are not in it. Two pairs may share a
/// bit, so a pattern that may be in the text has to be searched for.
#[derive(Clone, Copy)]
struct Pairs([u64; Self::BITS / 64]);

impl Pairs {
    /// The number of bits: a sentence of 100 bytes sets a tenth of them.
    const BITS: usize = 1024;

    fn of(text: &str) -> Self {
        let mut bits = [0; Self::BITS / 64];
        for pair in text.as_bytes().array_windows() {
            let (word, bit) = Self::place(*pair);
            bits[word] |= bit;
        }
        Self(bits)
    }

    /// Returns the pairs of a text, which are mostly known: to compare two texts takes less time than to go over one byte by byte.
    fn recent(text: &str) -> Self {
        if text.len() > Recent::MAX_BYTES {
            return Self::of(text);
        }
        RECENT.with_borrow_mut(|recent| {
            if let Some((_, pairs)) = recent.texts.iter().find(|(known, _)| known == text) {
                return *pairs;
            }
            let (known, pairs) = &mut recent.texts[recent.oldest];
            known.clear();
            known.push_str(text);
            *pairs = Self::of(text);
            let pairs = *pairs;
            recent.oldest = (recent.oldest + 1) % Recent::COUNT;
            pairs
        })
    }

    fn may_have(&self, part: &str) -> bool {
        part.as_bytes().array_windows().all(|pair| {
            let (word, bit) = Self::place(*pair);
            self.0[word] & bit != 0
        })
    }

    fn place([first, second]: [u8; 2]) -> (usize, u64) {
        let place = (usize::from(first) * 37 + usize::from(second)) % Self::BITS;
        (place / 64, 1 << (place % 64))
    }
}

/// The first letter of the scripts of Korean, Japanese and Chinese, which stand behind those of Europe, Africa and India.
const FIRST_WIDE: char = '\u{1100}';

/// More letters of the Latin and Greek scripts, behind the first of these: those of Vietnamese, for example.
const LATIN_ADDITIONAL: std::ops::RangeInclusive<char> = '\u{1e00}'..='\u{1fff}';

/// Returns whether `text` contains the words. Words in the Latin script must not be part of longer words; other scripts write
/// words without spaces, and particles right behind Latin ones.
pub(crate) fn contains_words(text: &str, words: &str) -> bool {
    let is_inside = contains(text, words);
    if !is_inside || !words.is_ascii() {
        return is_inside;
    }
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        let is_of_word = |c: char| c.is_alphanumeric() && (c < FIRST_WIDE || LATIN_ADDITIONAL.contains(&c));
        !before.is_some_and(is_of_word) && !after.is_some_and(is_of_word)
    })
}

/// Returns whether `text` begins with the words. If they end in the Latin script, no longer word may begin with them.
pub(crate) fn starts_with_words(text: &str, words: &str) -> bool {
    // Most of the many openings that are tried differ in the first byte.
    if text.as_bytes().first() != words.as_bytes().first() && !words.is_empty() {
        return false;
    }
    text.strip_prefix(words).is_some_and(|rest| {
        !words.ends_with(|c: char| c.is_ascii_alphanumeric()) || !rest.starts_with(|c: char| c.is_ascii_alphanumeric())
    })
}

/// Returns the text in at most `max` characters. A longer text is cut at the end of a word and ends in `…`.
pub(crate) fn clip(text: &str, max: usize) -> Cow<'_, str> {
    let text = text.trim();
    let Some((cut, _)) = text.char_indices().nth(max) else {
        return Cow::Borrowed(text);
    };
    // The ellipsis takes one character of the budget.
    let cut = text[..cut].char_indices().next_back().map_or(0, |(at, _)| at);
    let word = text[..cut].rfind(char::is_whitespace).unwrap_or(cut);
    // Long words and scripts without spaces are cut exactly at the limit.
    let cut = if word * 3 >= cut * 2 { word } else { cut };
    Cow::Owned(format!("{}…", text[..cut].trim_end()))
}

/// Returns the text in at most `max` bytes. A longer text is cut at the end of a paragraph, line or sentence if one is
/// near, and ends in `…`.
pub(crate) fn clip_block(text: &str, max: usize) -> Cow<'_, str> {
    let text = text.trim();
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let cut = natural_cut(text, max.saturating_sub('…'.len_utf8()));
    Cow::Owned(format!("{}…", text[..cut].trim_end()))
}

/// Returns where to cut a text that is longer than `max` bytes: the last natural boundary in the second half of the
/// window.
pub(crate) fn natural_cut(text: &str, max: usize) -> usize {
    let window = head(text, max);
    let least = window.len() / 2;
    for border in ["\n\n", "\n", ". ", "。", " "] {
        if let Some(at) = window.rfind(border)
            && at >= least
        {
            return at + border.len();
        }
    }
    window.len()
}

/// Puts the text on one line and collapses each run of white space into one space.
pub(crate) fn one_line(text: &str) -> String {
    if is_one_line(text) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns whether a text is one line already, as most texts are that were stored.
fn is_one_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_other_space = || text.chars().any(|c| c != ' ' && c.is_whitespace());
    !matches!(bytes, [b' ', ..] | [.., b' '])
        && !bytes.array_windows().any(|pair| pair == b"  ")
        && (bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) || !has_other_space())
}

/// Strips heading, list, quote and emphasis marks from one line of Markdown.
pub(crate) fn plain(line: &str) -> String {
    let mut rest = line.trim();
    loop {
        let shorter = rest.trim_start_matches(['#', '>', '|', ' ', '\t']);
        // What is not done yet keeps its box.
        let shorter = ["- [x] ", "* [x] ", "- [X] ", "- ", "* ", "• ", "+ "]
            .iter()
            .find_map(|mark| shorter.strip_prefix(mark))
            .unwrap_or(shorter);
        if shorter.len() == rest.len() {
            break;
        }
        rest = shorter;
    }
    let unmarked = one_line(&strip_links(&strip_emphasis(rest)));
    strip_numbering(&unmarked).trim_end_matches('|').trim().to_owned()
}

/// Strips the marks of bold text outside code.
fn strip_emphasis(text: &str) -> Cow<'_, str> {
    if !contains(text, "**") && !contains(text, "__") {
        return Cow::Borrowed(text);
    }
    let backticks = text.matches('`').count();
    let part = |(at, part): (usize, &str)| {
        // Every second part stands between backticks. Without a closing one it is no code.
        let is_code = at % 2 == 1 && backticks > at;
        if is_code { part.to_owned() } else { part.replace("**", "").replace("__", "") }
    };
    Cow::Owned(text.split('`').enumerate().map(part).collect::<Vec<_>>().join("`"))
}

/// Replaces each Markdown link outside code by its text.
fn strip_links(text: &str) -> Cow<'_, str> {
    if !contains(text, "](") {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut rest, mut code) = (String::with_capacity(text.len()), text, false);
    while let Some(at) = rest.find(['`', '[']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let link = from.strip_prefix('[').filter(|_| !code).and_then(|inner| {
            let (shown, target) = inner.split_once("](")?;
            let (_, after) = target.split_once(')')?;
            (!shown.contains('[')).then_some((shown, after))
        });
        if let Some((shown, after)) = link {
            plain.push_str(shown);
            rest = after;
        } else {
            code ^= from.starts_with('`');
            plain.push_str(&from[..1]);
            rest = &from[1..];
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Strips a leading number such as `1.` or `2)`.
fn strip_numbering(text: &str) -> &str {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=3).contains(&digits)
        && let Some(rest) = text[digits..].strip_prefix(['.', ')'])
        && rest.starts_with([' ', '*'])
    {
        return rest.trim_start();
    }
    text
}

/// Returns the lines of Markdown prose, without fenced code, table rulers and empty lines.
pub(crate) fn prose_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().map(str::trim).filter(move |line| {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            return false;
        }
        !fenced && !line.is_empty() && line.chars().any(char::is_alphanumeric)
    })
}

/// Returns a text without the codes with which a terminal is told colours and positions: `ESC [31m`.
pub(crate) fn without_codes(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let is_end = |c: char| matches!(c, '\u{40}'..='\u{7e}');
    let mut plain = Cow::Borrowed(first);
    for part in parts {
        let rest = match part.strip_prefix('[') {
            Some(code) => code.find(is_end).map_or("", |at| &code[at + 1..]),
            None => part,
        };
        plain.to_mut().push_str(rest);
    }
    plain
}

/// Returns the sentences of Markdown prose, each on one line and without marks. Skips code blocks.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    lines_of_sentences(text).for_each(|line| push_sentences(&mut all, line));
    all
}

/// Returns the lines of Markdown prose that sentences stand on: no rows of tables.
fn lines_of_sentences(text: &str) -> impl Iterator<Item = &str> {
    prose_lines(text).filter(|line| !line.starts_with('|'))
}

/// Adds the sentences of one line.
fn push_sentences(all: &mut Vec<String>, line: &str) {
    let line = plain(line);
    let mut rest = line.as_str();
    while let Some(end) = sentence_end(rest) {
        push_sentence(all, &rest[..end]);
        rest = &rest[end..];
    }
    push_sentence(all, rest);
}

fn push_sentence(all: &mut Vec<String>, sentence: &str) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        all.push(sentence.to_owned());
    }
}

/// Splits at full stops after which somebody who types fast goes on with a small letter.
pub(crate) fn typed_sentences(sentence: &str) -> Vec<&str> {
    let is_end = |at: usize| {
        let word = sentence[..at].rsplit(' ').next().unwrap_or_default();
        word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in sentence.match_indices(". ").filter(|(at, _)| is_end(*at)) {
        parts.push(&sentence[start..=at]);
        start = at + 2;
    }
    parts.push(&sentence[start..]);
    parts
}

/// Returns the first sentence, or none if there is no prose.
pub(crate) fn first_sentence(text: &str) -> Option<String> {
    lines_of_sentences(text).find_map(|line| {
        let mut found = Vec::new();
        push_sentences(&mut found, line);
        found.into_iter().next()
    })
}

/// Returns the position just past the mark that closes the first sentence, or none if the line is a single sentence.
///
/// Marks inside backticks or a quotation, after a single letter (`e.g.`) and before a lower-case word do not close a sentence.
fn sentence_end(line: &str) -> Option<usize> {
    let mut code = false;
    let mut quoted_until = 0;
    for (at, mark) in line.char_indices() {
        match mark {
            _ if at < quoted_until => {}
            '`' => code = !code,
            '"' | '“' if !code && !line[..at].ends_with(char::is_alphanumeric) => {
                let inside = at + mark.len_utf8();
                quoted_until = quotation(&line[inside..]).map_or(0, |end| inside + end + 1);
            }
            '。' | '！' | '？' if !code => return Some(at + mark.len_utf8()),
            '.' | '!' | '?' if !code => {
                let next = line[at + 1..].chars().next();
                let abbreviation = mark == '.' && ends_in_abbreviation(&line[..at]);
                let continues = line[at + 1..].trim_start().chars().next().is_some_and(char::is_lowercase);
                if next.is_some_and(char::is_whitespace) && !abbreviation && !continues {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the length of what is quoted at the beginning of a text. None if it is long, or if nothing closes the quotation.
fn quotation(text: &str) -> Option<usize> {
    const MAX_QUOTED_BYTES: usize = 160;
    head(text, MAX_QUOTED_BYTES).find(['"', '”'])
}

fn ends_in_abbreviation(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    matches!(word, "e.g" | "i.e" | "etc" | "vs" | "cf" | "no" | "No") || word.len() == 1
}

/// Returns a text in lower case, as the standard library does. That one looks at each character behind the first that is not ASCII,
/// such as a dash, and took a tenth of an extraction.
pub(crate) fn lower(text: &str) -> String {
    let mut lower = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let plain = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
        let start = lower.len();
        lower.push_str(&rest[..plain]);
        lower[start..].make_ascii_lowercase();
        rest = &rest[plain..];
        let Some(c) = rest.chars().next() else { return lower };
        match c {
            // How a sigma is written depends on what stands around it.
            'Σ' => return text.to_lowercase(),
            // Punctuation, and the scripts of Japanese, Chinese and Korean, which have no cases.
            '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => lower.push(c),
            _ => lower.extend(c.to_lowercase()),
        }
        rest = &rest[c.len_utf8()..];
    }
}

/// Computes a 32-bit FNV-1a hash. It identifies things within one session and gives no security.
pub(crate) fn hash(text: &str) -> u32 {
    text.bytes().fold(HASH_OF_NOTHING, add_to_hash)
}

/// Computes the hash of a text in lower case. Only letters in ASCII have one.
pub(crate) fn hash_of_lower(text: &str) -> u32 {
    text.bytes().fold(HASH_OF_NOTHING, |hash, byte| add_to_hash(hash, byte.to_ascii_lowercase()))
}

const HASH_OF_NOTHING: u32 = 0x811c_9dc5;

const fn add_to_hash(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

/// Hashes of the words that characterize a text.
pub(crate) type Features = HashSet<u32, BuildHasherDefault<Rehash>>;

/// Hashes what is a hash already: one multiplication spreads its bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rehash(u64);

impl Hasher for Rehash {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }

    fn write_u32(&mut self, hash: u32) {
        let spread = u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ (spread >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Words that say nothing about the subject of a text.
const STOP_WORDS: [&str; 39] = [
    "the", "and", "that", "this", "with", "from", "for", "are", "was", "were", "not", "but", "has", "have", "had", "its",
    "now", "when", "which", "will", "can", "into", "all", "also", "more", "than", "then", "them", "they", "been", "only",
    "one", "our", "out", "you", "your", "there", "their", "what",
];

/// Their hashes, in the same order.
const STOP_HASHES: [u32; STOP_WORDS.len()] = {
    let mut hashes = [HASH_OF_NOTHING; STOP_WORDS.len()];
    let mut at = 0;
    while at < STOP_WORDS.len() {
        let word = STOP_WORDS[at].as_bytes();
        let mut byte = 0;
        while byte < word.len() {
            hashes[at] = add_to_hash(hashes[at], word[byte]);
            byte += 1;
        }
        at += 1;
    }
    hashes
};

/// Returns whether a word, whose hash in lower case is given, says nothing.
fn is_stop_word(word: &str, hash: u32) -> bool {
    let known = STOP_HASHES.iter().position(|known| *known == hash);
    known.is_some_and(|at| word.eq_ignore_ascii_case(STOP_WORDS[at]))
}

/// Returns the features by which texts are compared: words in lower case, and pairs of characters for scripts without
/// spaces.
pub(crate) fn features(text: &str) -> Features {
    /// Every how many bytes a text has a feature, so that the set is seldom made larger.
    const BYTES_PER_FEATURE: usize = 8;
    let mut set = Features::with_capacity_and_hasher(text.len() / BYTES_PER_FEATURE, BuildHasherDefault::default());
    let mut add_word = |word: &str| {
        let hash = hash_of_lower(word);
        if word.len() > 2 && !is_stop_word(word, hash) {
            set.insert(hash);
        }
    };
    if text.is_ascii() {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').for_each(add_word);
        return set;
    }
    let mut pairs = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        for run in runs(word) {
            if run.is_ascii() {
                add_word(run);
                continue;
            }
            let ends = run.char_indices().map(|(at, _)| at).skip(2).chain([run.len()]);
            let starts = run.char_indices().map(|(at, _)| at);
            let is_single = run.chars().nth(1).is_none();
            pairs.extend(starts.zip(ends).filter(|_| !is_single).map(|(start, end)| hash(&run[start..end])));
        }
    }
    set.extend(pairs);
    set
}

/// Splits a word into its ASCII and non-ASCII parts, in order. Korean and Japanese particles are attached directly to
/// names.
fn runs(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let ascii = rest.chars().next()?.is_ascii();
        let end = rest.find(|c: char| c.is_ascii() != ascii).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some(run)
    })
}

/// Returns how much of the smaller text also occurs in the other one, from 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "set sizes are small")]
pub(crate) fn similarity(one: &Features, other: &Features) -> f32 {
    let smaller = one.len().min(other.len());
    if smaller == 0 {
        return 0.0;
    }
    one.intersection(other).count() as f32 / smaller as f32
}

/// Puts a text that somebody else may have written between quotation marks, which it cannot end.
pub(crate) fn quoted(said: &str) -> String {
    format!("\"{}\"", said.replace(['"', '“', '”', '„'], "'"))
}

/// The languages that have their own markers and labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Language {
    /// English, and every language without a table of its own.
    #[default]
    English,
    /// Korean.
    Korean,
    /// Japanese.
    Japanese,
    /// Chinese.
    Chinese,
}

/// Detects the language of a text by its script. One fifth of the letters in another script outweighs Latin.
pub(crate) fn language(text: &str) -> Language {
    let (mut latin, mut hangul, mut kana, mut han) = (0_u32, 0_u32, 0_u32, 0_u32);
    for c in head(text, 4000).chars() {
        match c {
            'a'..='z' | 'A'..='Z' => latin += 1,
            '\u{ac00}'..='\u{d7a3}' | '\u{3131}'..='\u{318e}' => hangul += 1,
            '\u{3040}'..='\u{30ff}' => kana += 1,
            '\u{4e00}'..='\u{9fff}' => han += 1,
            _ => {}
        }
    }
    let all = latin + hangul + kana + han;
    if hangul * 5 > all {
        Language::Korean
    } else if kana > 0 && (kana + han) * 5 > all {
        Language::Japanese
    } else if han * 5 > all {
        Language::Chinese
    } else {
        Language::English
    }
}

/// Converts to lower case without apostrophes. People leave them out as often as not.
pub(crate) fn strip_apostrophes(text: &str) -> String {
    text.to_lowercase().replace(['’', '\''], "")
}

/// Returns a text with its first letter in upper case.
pub(crate) fn capitalized(said: &str) -> String {
    let mut chars = said.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_is_contains() {
        for (text, part) in [("", ""), ("a", ""), ("", "a"), ("aab", "ab"), ("인증을", "증"), ("abc", "abcd"), ("abab", "b")]
        {
            assert_eq!(contains(text, part), text.contains(part), "{text:?} {part:?}");
        }
    }
    use proptest::prelude::*;

    #[test]
    fn words_are_whole_in_the_latin_script() {
        assert!(contains_words("it might be stale", "might") && !contains_words("the mighty parser", "might"));
        assert!(contains_words("원인은 캐시인 것 같습니다", "것 같"));
        assert!(contains_words("prを作る", "pr") && contains_words("이worktree에서", "worktree"));
        assert!(!contains_words("préparer", "pr") && !contains_words("sprintを", "print"));
        assert!(starts_with_words("now the cache", "now") && !starts_with_words("nowhere", "now"));
        assert!(starts_with_words("commit해줘", "commit") && starts_with_words("먼저 확인", "먼저"));
    }

    #[test]
    fn clips_at_a_word_and_counts_characters() {
        assert_eq!(clip("fix the crash", 20), "fix the crash");
        assert_eq!(clip("fix the crash in the runner", 14), "fix the crash…");
        assert_eq!(clip("언어정책을추가한다", 5), "언어정책…");
    }

    #[test]
    fn sentences_keep_paths_versions_and_code_whole() {
        assert_eq!(
            sentences("Use `a. B` in v1.2.3, e.g. here. Then run src/main.rs! 끝났다. 終わり。次"),
            ["Use `a. B` in v1.2.3, e.g. here.", "Then run src/main.rs!", "끝났다.", "終わり。", "次"]
        );
    }

    #[test]
    fn a_quotation_is_not_divided() {
        let said = "It prints \"Already paid. All is well.\" and waits. The \"till\" rings.";
        assert_eq!(sentences(said), ["It prints \"Already paid. All is well.\" and waits.", "The \"till\" rings."]);
        assert_eq!(sentences("A 5\" drawer. It opens. It shuts."), ["A 5\" drawer.", "It opens.", "It shuts."]);
        assert_eq!(sentences("It says “Paid. Thanks.” then. It shuts."), ["It says “Paid. Thanks.” then.", "It shuts."]);
    }

    #[test]
    fn sentences_leave_out_code_and_marks() {
        assert_eq!(sentences("## Fix\n- **One** done\n```rust\nlet x = 1;\n```\n2. Two"), ["Fix", "One done", "Two"]);
    }

    #[test]
    fn links_are_their_text_outside_code() {
        assert_eq!(plain("- see [a.md](docs/a.md:3) and `[text](url)`"), "see a.md and `[text](url)`");
    }

    #[test]
    fn a_ticked_box_is_a_mark() {
        assert_eq!(plain("- [x] **Round** the total"), "Round the total");
        assert_eq!(plain("- [ ] Round the total"), "[ ] Round the total");
    }

    #[test]
    fn languages_by_script() {
        assert_eq!(language("fix `runner.ts`"), Language::English);
        assert_eq!(language("writing-guide.md 문서를 한국어로 변경해줘"), Language::Korean);
        assert_eq!(language("todo.mdもけして"), Language::Japanese);
        assert_eq!(language("请修复这个错误"), Language::Chinese);
    }

    #[test]
    fn features_are_words_and_pairs() {
        let of = |words: &[&str]| -> Features { words.iter().map(|word| hash(word)).collect() };
        assert_eq!(features("The Till_drawer of `a.rs` is OPEN, is it?"), of(&["till_drawer", "open"]));
        assert_eq!(features("금고의 drawer를 — open"), of(&["금고", "고의", "drawer", "open"]));
        assert_eq!(features("a1 가"), of(&[]));
    }

    #[test]
    fn lower_case_is_that_of_the_standard_library() {
        for text in ["", "A—B", "ΑΣ ΑΣΑ", "İstanbul", "ÀÉ ß Ω K", "금고 ABC 引き出し、ＡＢ", "…Now “It”"]
        {
            assert_eq!(lower(text), text.to_lowercase());
        }
    }

    proptest! {
        #[test]
        fn any_text_in_lower_case_is_that_of_the_standard_library(text in any::<String>()) {
            prop_assert_eq!(lower(&text), text.to_lowercase());
        }

        #[test]
        fn a_part_is_found_wherever_it_is(text in "[ab z가]{0,12}", part in "[ab z가]{0,4}") {
            prop_assert_eq!(contains(&text, &part), text.contains(&part));
        }

        #[test]
        fn one_of_the_parts_is_found_wherever_it_is(
            text in "[ab z가]{0,12}", parts in proptest::collection::vec("[ab z가]{0,4}", 0..9)
        ) {
            prop_assert_eq!(contains_any(&text, &parts), parts.iter().any(|part| text.contains(part.as_str())));
            prop_assert_eq!(contains_any_words(&text, &parts), parts.iter().any(|part| contains_words(&text, part)));
        }

        #[test]
        fn clipping_never_panics_and_keeps_its_bound(text in "\\PC{0,200}", max in 1_usize..100) {
            prop_assert!(clip(&text, max).chars().count() <= max);
            prop_assert!(clip_block(&text, max + 3).len() <= max + 3);
            prop_assert!(head(&text, max).len() <= max);
            prop_assert!(tail(&text, max).len() <= max);
        }

        #[test]
        fn sentences_never_panic(text in any::<String>()) {
            sentences(&text);
            plain(&text);
        }
    }
}
