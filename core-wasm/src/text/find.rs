//! Whether a text contains a part, one of many parts, or words.

use std::cell::RefCell;

use super::known::Known;

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
        Self { text, pairs: is_worthwhile.then(|| Pairs::known(text)) }
    }

    pub(crate) fn contains(&self, part: &str) -> bool {
        self.may_contain(part) && contains(self.text, part)
    }

    fn may_contain(&self, part: &str) -> bool {
        self.pairs.as_ref().is_none_or(|pairs| pairs.may_have(part))
    }
}

thread_local! {
    static KNOWN: RefCell<Known<Pairs, 256, 4096>> = const { RefCell::new(Known::new()) };
}

/// Which pairs of neighbouring bytes a text has, to tell at once of most patterns that they are not in it. Two pairs may share a
/// bit, so a pattern that may be in the text has to be searched for.
#[derive(Clone, Copy, Default)]
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

    /// Returns the pairs of a text, which are mostly known: to hash and compare texts takes less time than to find the pairs.
    fn known(text: &str) -> Self {
        KNOWN.with_borrow_mut(|known| known.get(text, Self::of))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn holds_is_contains() {
        for (text, part) in [("", ""), ("a", ""), ("", "a"), ("aab", "ab"), ("인증을", "증"), ("abc", "abcd"), ("abab", "b")]
        {
            assert_eq!(contains(text, part), text.contains(part), "{text:?} {part:?}");
        }
    }

    #[test]
    fn words_are_whole_in_the_latin_script() {
        assert!(contains_words("it might be stale", "might") && !contains_words("the mighty parser", "might"));
        assert!(contains_words("원인은 캐시인 것 같습니다", "것 같"));
        assert!(contains_words("prを作る", "pr") && contains_words("이worktree에서", "worktree"));
        assert!(!contains_words("préparer", "pr") && !contains_words("sprintを", "print"));
        assert!(starts_with_words("now the cache", "now") && !starts_with_words("nowhere", "now"));
        assert!(starts_with_words("commit해줘", "commit") && starts_with_words("먼저 확인", "먼저"));
    }

    proptest! {
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
    }
}
