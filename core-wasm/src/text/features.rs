//! The features by which two texts are compared, and their hashes.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use super::known::Known;

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

thread_local! {
    static KNOWN: RefCell<Known<Features, 1024, 512>> = const { RefCell::new(Known::new()) };
}

/// Returns the features by which texts are compared: words in lower case, and pairs of characters for scripts without
/// spaces. The last texts are known: to copy a set takes a tenth of the time that finding the words does.
pub(crate) fn features(text: &str) -> Features {
    KNOWN.with_borrow_mut(|known| known.get(text, features_of))
}

fn features_of(text: &str) -> Features {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_words_and_pairs() {
        let of = |words: &[&str]| -> Features { words.iter().map(|word| hash(word)).collect() };
        assert_eq!(features("The Till_drawer of `a.rs` is OPEN, is it?"), of(&["till_drawer", "open"]));
        assert_eq!(features("금고의 drawer를 — open"), of(&["금고", "고의", "drawer", "open"]));
        assert_eq!(features("a1 가"), of(&[]));
    }
}
