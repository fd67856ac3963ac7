//! Whether two lines say the same thing: a decision is in the last session's notes and is a memory, too.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The words of a line as a set, without case and punctuation. Where a script does not part its words, pairs of characters.
#[derive(Debug, Clone)]
pub(super) struct Words {
    words: Vec<u64>,
    /// One bit for each word's hash: most lines that differ are told apart by it alone.
    mask: u64,
}

impl Words {
    pub fn of(line: &str) -> Self {
        let mut words = Vec::new();
        let lower = line.to_lowercase();
        for word in lower.split(|letter: char| !letter.is_alphanumeric()) {
            if word.is_ascii() {
                if !word.is_empty() {
                    words.push(hash(word));
                }
                continue;
            }
            let letters: Vec<char> = word.chars().collect();
            if letters.len() == 1 {
                words.push(hash(word));
            }
            words.extend(letters.windows(2).map(hash));
        }
        words.sort_unstable();
        words.dedup();
        let mask = words.iter().fold(0, |mask, word| mask | 1 << (word % 64));
        Self { words, mask }
    }

    /// Nearly all words of the one are in the other. Short lines must agree wholly: one word is the whole difference there.
    pub fn repeat(&self, other: &Self) -> bool {
        let (few, many) = if self.words.len() <= other.words.len() {
            (self, other)
        } else {
            (other, self)
        };
        let size = few.words.len();
        let may_miss = if size < 5 { 0 } else { size * 3 / 20 };
        if size == 0
            || size < 5 && many.words.len() > size + 1
            || (few.mask & !many.mask).count_ones() as usize > may_miss
        {
            return false;
        }
        let missing = few
            .words
            .iter()
            .filter(|word| many.words.binary_search(word).is_err())
            .count();
        missing <= may_miss
    }
}

fn hash(word: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn lines_that_say_the_same() {
        for (one, other, same) in [
            (
                "Use SQLite: one file, no server",
                "use SQLite (one file, no server)",
                true,
            ),
            (
                "Use SQLite: one file, no server",
                "Use SQLite: one file, no server; rejected: DuckDB",
                true,
            ),
            (
                "Use SQLite: one file, no server",
                "Use DuckDB: one file, no server",
                false,
            ),
            ("always run the linter", "never run the linter", false),
            (
                "방법 1로 진행한다: 언어 정책을 명시",
                "방법 1로 진행한다 — 언어 정책을 명시",
                true,
            ),
            (
                "방법 1로 진행한다: 언어 정책을 명시",
                "방법 2로 진행한다: 템플릿을 번역",
                false,
            ),
            ("", "", false),
        ] {
            assert_eq!(
                Words::of(one).repeat(&Words::of(other)),
                same,
                "{one} / {other}"
            );
        }
    }
}
