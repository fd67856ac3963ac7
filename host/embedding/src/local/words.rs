//! Splits a text into the words that are looked up in the model.
//!
//! The model knows English. Words of Latin letters and digits are looked up, without accents. Characters of any other
//! script end a word and are only counted, so `rust를` is the word `rust` plus an unknown syllable. BERT's own
//! vocabulary contains single Chinese characters, Cyrillic letters and parts of Korean syllables. Alone they mean
//! nothing, and a mean over them would look as if it did.
//!
//! An identifier is split into its parts unless it is a known word by itself: `getUserName` becomes get, user, name,
//! but `JavaScript` stays javascript.

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// A run of characters between separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word<'a> {
    /// A word of Latin letters and digits.
    Latin {
        /// The word in its original case, without accents.
        text: &'a str,
        /// The length of the word in the original text, in bytes of UTF-8.
        bytes: usize,
    },
    /// A run of letters of other scripts.
    Foreign {
        /// Its length in bytes of UTF-8. A syllable or an ideograph thus counts as much as three Latin letters.
        bytes: usize,
    },
}

/// Calls `sink` with each word of `text`, in order.
pub(super) fn for_each_word(text: &str, mut sink: impl FnMut(Word<'_>)) {
    let mut run = Run { latin: String::new(), bytes: 0 };
    for c in text.chars() {
        match kind(c) {
            Kind::Latin(narrow) => {
                if run.latin.is_empty() {
                    run.end(&mut sink);
                }
                push_without_accents(narrow, &mut run.latin);
                run.bytes += c.len_utf8();
            }
            Kind::Foreign => {
                if !run.latin.is_empty() {
                    run.end(&mut sink);
                }
                run.bytes += c.len_utf8();
            }
            Kind::Mark => {}
            Kind::Separator => run.end(&mut sink),
        }
    }
    run.end(&mut sink);
}

/// A run of adjacent characters of one kind.
struct Run {
    /// Empty if the run is of another script.
    latin: String,
    bytes: usize,
}

impl Run {
    fn end(&mut self, sink: &mut impl FnMut(Word<'_>)) {
        let bytes = std::mem::take(&mut self.bytes);
        if !self.latin.is_empty() {
            sink(Word::Latin { text: &self.latin, bytes });
            self.latin.clear();
        } else if bytes > 0 {
            sink(Word::Foreign { bytes });
        }
    }
}

enum Kind {
    /// A Latin letter or a digit, converted to its ordinary width.
    Latin(char),
    Foreign,
    /// A combining mark, which belongs to the character before it.
    Mark,
    Separator,
}

fn kind(c: char) -> Kind {
    match c {
        '0'..='9' | 'A'..='Z' | 'a'..='z' => Kind::Latin(c),
        // The rest of ASCII, and the multiplication and division signs in the Latin-1 block.
        '\0'..='\x7f' | '\u{d7}' | '\u{f7}' => Kind::Separator,
        '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Kind::Latin(c),
        // Full-width forms of ASCII, in ASCII order.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).map_or(Kind::Separator, kind),
        '\u{300}'..='\u{36f}' => Kind::Mark,
        _ if c.is_alphanumeric() || is_combining_mark(c) => Kind::Foreign,
        _ => Kind::Separator,
    }
}

fn push_without_accents(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c);
    } else {
        decompose_canonical(c, |part| {
            if !is_combining_mark(part) {
                out.push(part);
            }
        });
    }
}

/// Splits an identifier into its parts: before a capital that follows another character, and before the last of several
/// capitals followed by a lower-case letter (`HTTPServer`), unless that letter is the `s` of a plural (`APIs`).
pub(super) fn split_word(word: &str) -> impl Iterator<Item = &str> {
    let bytes = word.as_bytes();
    let at = |index: usize| bytes.get(index).copied().unwrap_or(b' ');
    let is_border = move |index: usize| {
        at(index).is_ascii_uppercase()
            && (!at(index - 1).is_ascii_uppercase()
                || at(index + 1).is_ascii_lowercase() && (at(index + 1) != b's' || at(index + 2).is_ascii_lowercase()))
    };
    let mut start = 0;
    std::iter::from_fn(move || {
        (start < word.len()).then(|| {
            // A split point is always before an ASCII letter, so it never divides a character.
            let end = (start + 1..word.len()).find(|&index| is_border(index)).unwrap_or(word.len());
            let part = &word[start..end];
            start = end;
            part
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, |word| {
            words.push(match word {
                Word::Latin { text, .. } => text.to_owned(),
                Word::Foreign { bytes } => format!("<{bytes}>"),
            });
        });
        words
    }

    #[test]
    fn words_end_where_the_script_changes() {
        assert_eq!(words("rust를 배우는 東京tower"), ["rust", "<3>", "<9>", "<6>", "tower"]);
        assert_eq!(words("snake_case src/main.rs"), ["snake", "case", "src", "main", "rs"]);
        assert_eq!(words("🚀 → — ×"), [""; 0]);
    }

    #[test]
    fn accents_and_width_do_not_count() {
        assert_eq!(words("Café e\u{301}té ＡＰＩ Łódź"), ["Cafe", "ete", "API", "Łodz"]);
    }

    #[test]
    fn identifiers_have_parts() {
        let split_word = |word| split_word(word).collect::<Vec<_>>();
        assert_eq!(split_word("getUserName"), ["get", "User", "Name"]);
        assert_eq!(split_word("XMLHttpRequest"), ["XML", "Http", "Request"]);
        assert_eq!(split_word("IDsList"), ["IDs", "List"]);
        assert_eq!(split_word("APIs"), ["APIs"]);
        assert_eq!(split_word("MAX"), ["MAX"]);
        assert_eq!(split_word("straßeÉtat"), ["straßeÉtat"]);
        assert_eq!(split_word(""), [""; 0]);
    }

    proptest! {
        #[test]
        fn all_letters_are_counted_and_parts_make_the_whole(text in r"(\PC|[a-zA-Z가-힣é０-ｚ ]){0,200}") {
            let mut counted = 0;
            for_each_word(&text, |word| match word {
                Word::Latin { text, bytes } => {
                    assert_eq!(split_word(text).collect::<String>(), text);
                    assert!(bytes > 0 && !text.is_empty());
                    counted += bytes;
                }
                Word::Foreign { bytes } => counted += bytes,
            });
            let letters: usize = text.chars().filter(char::is_ascii_alphanumeric).count();
            prop_assert!((letters..=text.len()).contains(&counted));
        }
    }
}
