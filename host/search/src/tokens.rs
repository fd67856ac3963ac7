//! The tokenizer, used for both the index and queries, in every script.
//!
//! A text becomes tokens of lower-case letters, digits, `_` and non-ASCII letters, and nothing else. The full-text
//! table stores them joined by spaces and reads them with FTS5's simplest tokenizer ([`FTS5_TOKENIZER`]), which leaves
//! them unchanged. So the database never decides what a word is, and a query can be quoted without escapes.
//!
//! | in the text | tokens |
//! | --- | --- |
//! | `Running tests` | `run`, `test`: English stems |
//! | `getUserName`, `get_user_name`, `get-user-name` | `getusernam` (the whole, stemmed like a word), `get`, `user`, `name` |
//! | `src/store/mod.rs` | `src_store_mod_rs`, `store_mod_rs`, `mod_rs`, and each part |
//! | `E0308`, `sha256` | `e0308`, `0308`; `sha256`, `sha`, `256` |
//! | `v1.2.3` | `1_2`, `1_2_3` |
//! | `--no-verify` | `__noverify`, and `no-verify` as above |
//! | `인증을`, `認証する` | pairs of adjacent characters, `인증`, `증을`, and the last character alone |
//!
//! Text is first normalized to NFKC, so that decomposed file names, full-width letters and half-width kana equal their
//! ordinary forms. Latin letters lose their accents.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::char::{decompose_canonical, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// The version of the tokenizer; increase it with every change of its output. An index made by another version must be
/// rebuilt.
pub const VERSION: u32 = 2;

/// The `tokenize=` option of an FTS5 table for our tokens. It splits at spaces and keeps everything else, because the
/// only ASCII characters in tokens are lower-case letters, digits and `_`.
pub const FTS5_TOKENIZER: &str = "ascii tokenchars '_'";

/// The longest token, in bytes. Longer ones are truncated, in the index and in queries alike. The limit exceeds any
/// real identifier; longer runs are encoded data.
const MAX_TOKEN_BYTES: usize = 64;

/// A path or dotted name longer than this many bytes gets tokens for its parts, but not for the whole.
const MAX_COMPOUND_BYTES: usize = 160;

/// The shortest run of hexadecimal digits that is treated as a hash rather than a word with digits: git's short form.
const MIN_HASH_LEN: usize = 7;

/// How many stems each thread caches. Words repeat, and looking up a stem costs a tenth of computing it.
const MAX_CACHED_STEMS: usize = 8 * 1024;

/// Abbreviations that programmers use interchangeably with the full words, sorted. Either form finds the other.
/// Abbreviations that are words of their own, or stand for several words, are left out.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("arg", "argument"),
    ("args", "arguments"),
    ("attr", "attribute"),
    ("attrs", "attributes"),
    ("auth", "authentication"),
    ("btn", "button"),
    ("cfg", "configuration"),
    ("cmd", "command"),
    ("cmds", "commands"),
    ("config", "configuration"),
    ("configs", "configuration"),
    ("db", "database"),
    ("dbs", "databases"),
    ("dep", "dependency"),
    ("deps", "dependencies"),
    ("dev", "development"),
    ("dir", "directory"),
    ("dirs", "directories"),
    ("doc", "documentation"),
    ("docs", "documentation"),
    ("env", "environment"),
    ("envs", "environments"),
    ("err", "error"),
    ("errs", "errors"),
    ("fn", "function"),
    ("fns", "functions"),
    ("func", "function"),
    ("funcs", "functions"),
    ("idx", "index"),
    ("impl", "implementation"),
    ("infra", "infrastructure"),
    ("init", "initialize"),
    ("js", "javascript"),
    ("len", "length"),
    ("lib", "library"),
    ("libs", "libraries"),
    ("msg", "message"),
    ("msgs", "messages"),
    ("num", "number"),
    ("param", "parameter"),
    ("params", "parameters"),
    ("perf", "performance"),
    ("pkg", "package"),
    ("pkgs", "packages"),
    ("postgres", "postgresql"),
    ("prop", "property"),
    ("props", "properties"),
    ("py", "python"),
    ("regex", "regexp"),
    ("regexes", "regexps"),
    ("repo", "repository"),
    ("repos", "repositories"),
    ("req", "request"),
    ("spec", "specification"),
    ("specs", "specifications"),
    ("str", "string"),
    ("temp", "temporary"),
    ("tmp", "temporary"),
    ("ts", "typescript"),
    ("util", "utility"),
    ("utils", "utilities"),
    ("val", "value"),
    ("var", "variable"),
    ("vars", "variables"),
];

/// What a token was made from. Queries treat the classes differently; the index does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A stemmed word, or one part of an identifier.
    Word,
    /// A whole identifier, path, version or flag.
    Whole,
    /// Two adjacent characters of a script that is written without spaces or whose words take endings.
    Pair,
    /// The last character of a run of such a script. A one-character query is searched as a prefix. It finds the
    /// character anywhere, because every character but the last begins a pair.
    Last,
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The token as stored in the index.
    pub text: &'a str,
    /// The word that it was made from, folded but not stemmed; for [`Class::Pair`] and [`Class::Last`], the whole run.
    pub surface: &'a str,
    /// What it was made from.
    pub class: Class,
    /// The number of the word, compound or run in the text, counted from 1. A whole and its parts have the same number.
    pub word: usize,
}

/// Returns what the full-text table stores for `text`: its tokens, separated by spaces.
pub fn index_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 2);
    for_each_token(text, |token| {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(token.text);
    });
    out
}

/// A set of initial letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Initials(u32);

impl Initials {
    /// The set of all letters.
    pub const ALL: Self = Self(u32::MAX);

    /// Adds the initial letter of `token`.
    pub fn add(&mut self, token: &str) {
        self.0 |= Self::bit(token);
    }

    /// Returns whether the set contains the initial of `token`; always true if that is not an ASCII letter.
    pub fn has(self, token: &str) -> bool {
        let bit = Self::bit(token);
        bit == 0 || self.0 & bit != 0
    }

    fn bit(token: &str) -> u32 {
        token.bytes().next().filter(u8::is_ascii_lowercase).map_or(0, |letter| 1 << (letter - b'a'))
    }
}

/// Calls `sink` with every token of `text`, in order.
pub fn for_each_token(text: &str, sink: impl FnMut(Token<'_>)) {
    for_each_with_initials(text, Initials::ALL, sink);
}

/// Calls `sink` with every token of `text`, in order. English words whose initial is not in `initials` are not stemmed.
/// Stemming is most of the work when looking for a few words; skipping it is safe because a stem always begins with the
/// same letter as its word.
pub fn for_each_with_initials(text: &str, initials: Initials, mut sink: impl FnMut(Token<'_>)) {
    let text = compose(text);
    // Taken rather than borrowed, because the sink may tokenize too.
    let mut stems = STEMS.take().unwrap_or_else(StemCache::new);
    let (folded, whole) = std::mem::take(&mut stems.buffers);
    let mut scanner = Scanner { sink: &mut sink, stems: &mut stems, folded, whole, number: 0, initials };
    scanner.scan(&text);
    let buffers = (scanner.folded, scanner.whole);
    STEMS.set(Some(StemCache { buffers, ..stems }));
}

/// Normalizes `text`: NFKC, lower case, without accents, with white space collapsed to single spaces. Two texts that a
/// reader would call the same become equal. For comparing phrases and names, not for the index.
pub fn fold(text: &str) -> String {
    let composed = compose(text);
    let mut out = String::with_capacity(composed.len());
    for word in composed.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        fold_into(word, &mut out);
    }
    out
}

fn compose(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// Appends `text` in lower case and without the accents of Latin letters.
fn fold_into(text: &str, out: &mut String) {
    if text.is_ascii() {
        let start = out.len();
        out.push_str(text);
        out[start..].make_ascii_lowercase();
        return;
    }
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
            continue;
        }
        for lower in c.to_lowercase() {
            match lower {
                '\u{300}'..='\u{36f}' => {}
                '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => {
                    decompose_canonical(lower, |part| {
                        if !is_combining_mark(part) {
                            out.push(part);
                        }
                    });
                }
                _ => out.push(lower),
            }
        }
    }
}

/// Returns whether words of the character's script are indexed as pairs of characters. Chinese, Japanese and the
/// scripts of South-East Asia have no spaces between words; Korean words take endings and run together.
fn is_paired(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}'            // Thai, Lao
        | '\u{1000}'..='\u{109f}'        // Myanmar
        | '\u{1100}'..='\u{11ff}'        // Hangul letters
        | '\u{1780}'..='\u{17ff}'        // Khmer
        | '\u{2e80}'..='\u{2fdf}'        // radicals
        | '\u{3005}'..='\u{3007}'        // 々 〆 〇
        | '\u{3041}'..='\u{3096}'        // Hiragana
        | '\u{309d}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}'        // Katakana, without the middle dot
        | '\u{30fc}'..='\u{30ff}'
        | '\u{3105}'..='\u{318e}'        // Bopomofo, Hangul compatibility letters
        | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'   // Han
        | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7fb}'   // Hangul
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}' // Han
    )
}

fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c == '_' || c.is_ascii_alphanumeric();
    }
    !is_paired(c) && (c.is_alphanumeric() || is_combining_mark(c))
}

/// How two words of a compound are joined, the loosest joint last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Joint {
    /// `-`: one identifier.
    Hyphen,
    /// `.`: one name.
    Dot,
    /// `/`, `\`, `::`: a path.
    Slash,
}

/// Returns the joint at the start of `rest` and its length in bytes, if a word follows it.
fn joint(rest: &str) -> Option<(Joint, usize)> {
    let (joint, len) = match rest.as_bytes() {
        [b'-', ..] => (Joint::Hyphen, 1),
        [b'.', ..] => (Joint::Dot, 1),
        [b'/' | b'\\', ..] => (Joint::Slash, 1),
        [b':', b':', ..] => (Joint::Slash, 2),
        _ => return None,
    };
    // `serde-1.0` is a name and a version.
    let joined = rest[len..].starts_with(is_word) && !(joint == Joint::Hyphen && starts_version(&rest[len..]));
    joined.then_some((joint, len))
}

/// Returns whether `text` begins like `1.2` or `v1.2`.
fn starts_version(text: &str) -> bool {
    let number = text.strip_prefix('v').unwrap_or(text);
    let digits = prefix_len(number, |c| c.is_ascii_digit());
    digits > 0 && number[digits..].starts_with('.') && number[digits + 1..].starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the length in bytes of the longest prefix of `text` whose characters satisfy `belongs`.
fn prefix_len(text: &str, belongs: fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// Truncates `text` to the longest token.
fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TOKEN_BYTES)]
}

/// One identifier of a compound, with its lower-case parts in [`Scanner::folded`].
struct Name {
    /// The parts, as adjacent byte ranges of the folded text.
    parts: Vec<std::ops::Range<usize>>,
    /// How it is joined to the one before it.
    joint: Joint,
}

impl Name {
    fn range(&self) -> std::ops::Range<usize> {
        match (self.parts.first(), self.parts.last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }
}

/// The English stemmer and a cache of its stems.
struct StemCache {
    stemmer: Stemmer,
    made: HashMap<Box<str>, Box<str>, foldhash::fast::RandomState>,
    /// Buffers for the next [`Scanner`]'s `folded` and `whole`.
    buffers: (String, String),
}

thread_local! {
    static STEMS: Cell<Option<StemCache>> = const { Cell::new(None) };
}

impl StemCache {
    fn new() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), made: HashMap::default(), buffers: Default::default() }
    }

    /// Returns the stem of a word of lower-case ASCII letters.
    fn of(&mut self, word: &str) -> &str {
        if !self.made.contains_key(word) {
            if self.made.len() >= MAX_CACHED_STEMS {
                self.made.clear();
            }
            let long = ABBREVIATIONS.binary_search_by_key(&word, |(short, _)| short).map_or(word, |at| ABBREVIATIONS[at].1);
            self.made.insert(word.into(), self.stemmer.stem(long).into());
        }
        self.made.get(word).map_or("", AsRef::as_ref)
    }
}

/// The role of a byte next to a word that has no parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `a` to `z`.
    Small,
    /// `A` to `Z`.
    Capital,
    /// Always separates words.
    Separator,
    /// May join the words on either side, or continue one.
    Joint,
    /// A digit, `_`, or part of a character that is not ASCII.
    Other,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Other; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        kinds[byte as usize] = match byte {
            b'a'..=b'z' => Kind::Small,
            b'A'..=b'Z' => Kind::Capital,
            b'0'..=b'9' | b'_' => Kind::Other,
            b'-' | b'.' | b'/' | b'\\' | b':' | b'\'' => Kind::Joint,
            _ => Kind::Separator,
        };
        byte += 1;
    }
    kinds
};

struct Scanner<'s, S> {
    sink: &'s mut S,
    stems: &'s mut StemCache,
    /// The folded parts of the current compound, without joints.
    folded: String,
    whole: String,
    /// The number of the current word.
    number: usize,
    /// The initials of the words to stem.
    initials: Initials,
}

impl<S: FnMut(Token<'_>)> Scanner<'_, S> {
    fn scan(&mut self, text: &str) {
        let mut at = 0;
        while at < text.len() {
            at += match self.lone(text, at) {
                0 => self.step(text, at),
                len => len,
            };
        }
    }

    /// The fast path for most of a text: separators, and plain words that are not joined to anything. Returns the
    /// length it consumed, or 0 for nothing. [`Scanner::step`] would produce the same tokens.
    fn lone(&mut self, text: &str, at: usize) -> usize {
        let bytes = text.as_bytes();
        match KINDS[usize::from(bytes[at])] {
            Kind::Separator => return bytes[at..].iter().take_while(|b| KINDS[usize::from(**b)] == Kind::Separator).count(),
            Kind::Capital | Kind::Small if !bytes[..at].ends_with(b"--") => {}
            _ => return 0,
        }
        let small = bytes[at + 1..].iter().take_while(|b| KINDS[usize::from(**b)] == Kind::Small).count();
        let end = at + 1 + small;
        let kind = |at: usize| bytes.get(at).map_or(Kind::Separator, |b| KINDS[usize::from(*b)]);
        match (kind(end), kind(end + 1)) {
            (Kind::Separator, _) | (Kind::Joint, Kind::Separator) => {}
            _ => return 0,
        }
        self.number += 1;
        self.plain(&text[at..end]);
        end - at
    }

    /// Scans the word, run or other character at a position and returns its length.
    fn step(&mut self, text: &str, at: usize) -> usize {
        let rest = &text[at..];
        let Some(c) = rest.chars().next() else { return 1 };
        self.number += usize::from(is_paired(c) || is_word(c));
        if is_paired(c) {
            let run = prefix_len(rest, is_paired);
            self.pairs(&rest[..run]);
            run
        } else if is_word(c) {
            let len = compound_len(rest);
            let flag = text[..at].ends_with("--");
            if !flag && is_plain(&rest[..len]) {
                self.plain(&rest[..len]);
            } else {
                self.compound(&rest[..len], flag);
            }
            len + contraction_len(&rest[len..])
        } else {
            c.len_utf8()
        }
    }

    fn pairs(&mut self, run: &str) {
        let mut previous = None;
        let mut last = 0;
        for (at, c) in run.char_indices() {
            if let Some(start) = previous {
                let text = &run[start..at + c.len_utf8()];
                (self.sink)(Token { text, surface: run, class: Class::Pair, word: self.number });
            }
            previous = Some(at);
            last = at;
        }
        (self.sink)(Token { text: &run[last..], surface: run, class: Class::Last, word: self.number });
    }

    /// Emits a word without parts, as most are.
    fn plain(&mut self, word: &str) {
        if word.as_bytes()[0].is_ascii_lowercase() {
            return self.stemmed(word);
        }
        self.folded.clear();
        self.folded.push_str(word);
        self.folded.make_ascii_lowercase();
        self.word(0..word.len(), Class::Word);
    }

    /// Emits a word of lower-case letters only.
    fn stemmed(&mut self, word: &str) {
        let surface = clip(word);
        let text = if surface.len() > 1 && self.initials.has(surface) { self.stems.of(surface) } else { surface };
        (self.sink)(Token { text, surface, class: Class::Word, word: self.number });
    }

    fn compound(&mut self, text: &str, flag: bool) {
        self.folded.clear();
        let names = self.names(text);
        if flag && let Some(first) = names.first() {
            self.joined(std::slice::from_ref(first), "__");
        }
        let mut paths = 0;
        for name in &names {
            paths += usize::from(name.joint == Joint::Slash);
        }
        if paths > 0 && text.len() <= MAX_COMPOUND_BYTES {
            self.joined(&names, "");
            if paths > 1 {
                self.joined(tail(&names, 2), "");
            }
        }
        for segment in names.chunk_by(|_, next| next.joint != Joint::Slash) {
            self.segment(segment);
        }
    }

    /// Splits a compound into identifiers, which are folded into `self.folded`.
    fn names(&mut self, text: &str) -> Vec<Name> {
        let mut names: Vec<Name> = Vec::new();
        let mut next = Joint::Dot;
        let mut rest = text;
        while !rest.is_empty() {
            let len = prefix_len(rest, is_word);
            let parts = self.parts(&rest[..len]);
            match names.last_mut() {
                Some(name) if next == Joint::Hyphen => name.parts.extend(parts),
                _ => names.push(Name { parts, joint: next }),
            }
            rest = &rest[len..];
            if let Some((found, len)) = joint(rest) {
                next = found;
                rest = &rest[len..];
            }
        }
        names.retain(|name| !name.parts.is_empty());
        names
    }

    /// Splits a word into its parts: `getUserName` has three, and so has `HTTPServer2`.
    fn parts(&mut self, word: &str) -> Vec<std::ops::Range<usize>> {
        let mut parts = Vec::new();
        let hash = is_hash(word);
        for piece in word.split('_').filter(|piece| !piece.is_empty()) {
            let mut start = 0;
            let mut chars = piece.char_indices().peekable();
            while let Some((_, c)) = chars.next() {
                let Some(&(at, following)) = chars.peek() else {
                    break;
                };
                let after = piece[at + following.len_utf8()..].chars().next();
                if !hash && is_border(c, following, after) {
                    parts.push(self.fold_part(&piece[start..at]));
                    start = at;
                }
            }
            parts.push(self.fold_part(&piece[start..]));
        }
        parts
    }

    fn fold_part(&mut self, part: &str) -> std::ops::Range<usize> {
        let start = self.folded.len();
        fold_into(part, &mut self.folded);
        start..self.folded.len()
    }

    /// Emits one segment of a path: names separated by dots.
    fn segment(&mut self, names: &[Name]) {
        if names.len() > 1 {
            if let Some(first) = names.first().filter(|_| self.is_version(names)) {
                return self.version(names, first);
            }
            self.joined(names, "");
        }
        for name in names {
            self.name(name);
        }
    }

    fn name(&mut self, name: &Name) {
        let whole = name.range();
        if name.parts.len() == 1 {
            return self.word(whole, Class::Word);
        }
        self.word(whole, Class::Whole);
        for part in &name.parts {
            // A single letter or digit of an identifier carries no meaning.
            if part.len() > 1 {
                self.word(part.clone(), Class::Word);
            }
        }
    }

    fn word(&mut self, range: std::ops::Range<usize>, class: Class) {
        let surface = clip(&self.folded[range]);
        if surface.is_empty() {
            return;
        }
        let has_stem = surface.len() > 1 && surface.bytes().all(|b| b.is_ascii_lowercase());
        let text = if has_stem && self.initials.has(surface) { self.stems.of(surface) } else { surface };
        (self.sink)(Token { text, surface, class, word: self.number });
    }

    /// Emits the names as one token, joined with `_`.
    fn joined(&mut self, names: &[Name], prefix: &str) {
        self.whole.clear();
        self.whole.push_str(prefix);
        for (n, name) in names.iter().enumerate() {
            if n > 0 {
                self.whole.push('_');
            }
            self.whole.push_str(&self.folded[name.range()]);
        }
        let text = clip_end(&self.whole);
        (self.sink)(Token { text, surface: text, class: Class::Whole, word: self.number });
    }

    /// Returns whether the names are numbers separated by dots, the first optionally with a `v`.
    fn is_version(&self, names: &[Name]) -> bool {
        names.iter().enumerate().all(|(n, name)| {
            let text = &self.folded[name.range()];
            let number = if n == 0 { text.strip_prefix('v').unwrap_or(text) } else { text };
            !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
        })
    }

    /// Emits a version and its prefixes, so that `1.2.3` is also found by `1.2`.
    fn version(&mut self, names: &[Name], first: &Name) {
        let first = &self.folded[first.range()];
        self.whole.clear();
        self.whole.push_str(first.strip_prefix('v').unwrap_or(first));
        for name in &names[1..] {
            self.whole.push('_');
            self.whole.push_str(&self.folded[name.range()]);
            let text = clip(&self.whole);
            (self.sink)(Token { text, surface: text, class: Class::Whole, word: self.number });
        }
    }
}

/// Returns whether a word consists of ASCII letters, of which only the first may be a capital.
fn is_plain(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic()) && bytes.all(|b| b.is_ascii_lowercase())
}

/// Returns the last `count` segments of a path.
fn tail(names: &[Name], count: usize) -> &[Name] {
    let mut seen = 0;
    for (n, name) in names.iter().enumerate().rev() {
        seen += usize::from(name.joint == Joint::Slash);
        if seen == count {
            return &names[n..];
        }
    }
    names
}

/// Truncates a long whole at its beginning, because the end of a path is more specific.
fn clip_end(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_TOKEN_BYTES))..]
}

/// Returns the length in bytes of the joined words at the start of `text`.
fn compound_len(text: &str) -> usize {
    let mut len = prefix_len(text, is_word);
    while let Some((_, joint)) = joint(&text[len..]) {
        len += joint;
        len += prefix_len(&text[len..], is_word);
    }
    len
}

/// Returns the length in bytes of an English contraction, such as `'s`, `'t` or `'ll`.
fn contraction_len(rest: &str) -> usize {
    let Some(mark) = rest.chars().next().filter(|c| matches!(c, '\'' | '\u{2019}')) else {
        return 0;
    };
    let letters = prefix_len(&rest[mark.len_utf8()..], is_word);
    if (1..=2).contains(&letters) { mark.len_utf8() + letters } else { 0 }
}

fn is_hash(word: &str) -> bool {
    word.len() >= MIN_HASH_LEN && word.bytes().all(|b| b.is_ascii_hexdigit()) && word.bytes().any(|b| b.is_ascii_digit())
}

/// Returns whether a part of an identifier ends between `c` and `following`.
fn is_border(c: char, following: char, after: Option<char>) -> bool {
    c.is_numeric() != following.is_numeric() && !is_combining_mark(following)
        || c.is_lowercase() && following.is_uppercase()
        || c.is_uppercase() && following.is_uppercase() && after.is_some_and(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        for_each_token(text, |token| tokens.push(token.text.to_owned()));
        tokens
    }

    #[test]
    fn words_are_stemmed_and_contractions_dropped() {
        assert_eq!(tokens("Running the user's tests, don't"), ["run", "the", "user", "test", "don"]);
    }

    #[test]
    fn short_forms_stand_for_their_words() {
        assert!(ABBREVIATIONS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(ABBREVIATIONS.iter().all(|(short, long)| short[..1] == long[..1]), "a stem begins as its word does");
        assert_eq!(tokens("auth of the db"), tokens("authentication of the database"));
        assert_eq!(tokens("initDb")[1..], tokens("initialize database"));
    }

    #[test]
    fn one_identifier_in_any_spelling_is_one_whole() {
        for spelling in ["getUserName", "get_user_name", "get-user-name", "GetUserName", "GET_USER_NAME"] {
            assert_eq!(tokens(spelling), ["getusernam", "get", "user", "name"], "{spelling}");
        }
        assert_eq!(tokens("getusername"), ["getusernam"]);
        assert_eq!(tokens("HTTPServer"), ["httpserver", "http", "server"]);
    }

    #[test]
    fn a_path_is_found_whole_by_its_end_and_by_its_parts() {
        let path = tokens("src/store/user-map.rs");
        assert_eq!(
            path,
            ["src_store_usermap_rs", "store_usermap_rs", "src", "store", "usermap_rs", "usermap", "user", "map", "rs"]
        );
        assert!(tokens(r"src\store\user-map.rs").contains(&"src_store_usermap_rs".to_owned()));
        assert_eq!(tokens("std::fs"), ["std_fs", "std", "fs"]);
    }

    #[test]
    fn a_line_number_does_not_change_the_file() {
        assert!(tokens("runner.ts:120").contains(&"runner_ts".to_owned()));
    }

    #[test]
    fn versions_flags_codes_and_hashes() {
        assert_eq!(tokens("v1.2.3"), ["1_2", "1_2_3"]);
        assert_eq!(tokens("serde-1.0.228"), ["serd", "1_0", "1_0_228"]);
        assert_eq!(tokens("--no-verify")[0], "__noverify");
        assert_eq!(tokens("E0308 sha256"), ["e0308", "0308", "sha256", "sha", "256"]);
        assert_eq!(tokens("3f2a9bc1"), ["3f2a9bc1"]);
    }

    #[test]
    fn scripts_without_spaces_are_pairs() {
        assert_eq!(tokens("인증을"), ["인증", "증을", "을"]);
        assert_eq!(tokens("값"), ["값"]);
        assert_eq!(tokens("API는 データ"), ["api", "는", "デー", "ータ", "タ"]);
    }

    #[test]
    fn forms_of_one_text_are_the_same() {
        let composed = "인증 café ガード";
        let decomposed: String = composed.nfd().collect();
        assert_eq!(tokens(composed), tokens(&decomposed));
        assert_eq!(tokens("ＡＰＩ ｶﾞｰﾄﾞ"), tokens("api ガード"));
        assert_eq!(tokens("café"), tokens("cafe"));
        assert_eq!(fold("  Café\n BAR "), "cafe bar");
    }

    #[test]
    fn a_long_run_is_cut_the_same_in_text_and_query() {
        let run = "a1".repeat(10_000);
        assert!(tokens(&run).iter().all(|token| token.len() <= MAX_TOKEN_BYTES));
    }

    fn texts() -> impl Strategy<Value = String> {
        prop_oneof![any::<String>(), r"([a-zA-Z0-9_./\\:'é가-힣ァ-ンก-๙-]{1,12} ?){0,12}",]
    }

    proptest! {
        #[test]
        fn stems_begin_as_their_words_do(words in "[a-z]{1,9}( [a-z]{1,12}){0,9}") {
            for_each_token(&words, |token| assert_eq!(token.text.as_bytes()[0], token.surface.as_bytes()[0], "{token:?}"));
        }

        #[test]
        fn tokens_hold_nothing_that_splits_or_quotes(text in texts()) {
            for token in tokens(&text) {
                prop_assert!(!token.is_empty());
                let allowed = |c: char| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit() || !c.is_ascii();
                prop_assert!(token.chars().all(allowed), "{token:?}");
            }
        }

        #[test]
        fn the_short_way_ends_where_the_long_one_does(text in texts()) {
            let of = |is_short: bool| {
                let mut found = Vec::new();
                let mut scanner = Scanner {
                    sink: &mut |token: Token<'_>| found.push(format!("{token:?}")),
                    stems: &mut StemCache::new(),
                    folded: String::new(),
                    whole: String::new(),
                    number: 0,
                    initials: Initials::ALL,
                };
                let mut at = 0;
                while at < text.len() {
                    let len = if is_short { scanner.lone(&text, at) } else { 0 };
                    at += if len > 0 { len } else { scanner.step(&text, at) };
                }
                found
            };
            prop_assert_eq!(of(true), of(false));
        }

        #[test]
        fn upper_case_words_are_the_same(text in "[a-z]{2,12}( [a-z]{2,12}){0,5}") {
            prop_assert_eq!(tokens(&text.to_uppercase()), tokens(&text));
        }
    }
}
