//! Made-up words in Zipf's proportions: a few that are everywhere, many that are rare, in English and Korean syllables.

use std::collections::HashSet;

use crate::bulk::Dice;

/// Different words of each language. A developer's notes of some years have about as many.
pub const VOCABULARY: usize = 30_000;

/// Mandelbrot's shift of Zipf's law, which keeps the very first words from being in every sentence.
const SHIFT: f64 = 2.7;

const ONSETS: [&str; 24] = [
    "b", "br", "c", "ch", "cl", "d", "dr", "f", "fl", "g", "gr", "h", "k", "l", "m", "n", "p", "pr", "r", "s", "st", "t",
    "tr", "v",
];
const NUCLEI: [&str; 10] = ["a", "e", "i", "o", "u", "ai", "ea", "io", "ou", "oo"];
const CODAS: [&str; 12] = ["", "", "", "n", "r", "l", "s", "t", "x", "nd", "rk", "mp"];
const HANGUL: [&str; 40] = [
    "가", "거", "고", "구", "기", "나", "너", "노", "누", "니", "다", "더", "도", "두", "디", "라", "러", "로", "루", "리",
    "마", "머", "모", "무", "미", "바", "버", "보", "부", "비", "산", "선", "손", "순", "신", "장", "정", "종", "준", "진",
];

/// The words of both languages, the most frequent first.
#[derive(Debug)]
pub struct Words {
    english: Vec<String>,
    korean: Vec<String>,
    /// For each word the share of all that stands up to it, the same for both languages.
    shares: Vec<f64>,
}

impl Words {
    /// The same words from the same seed.
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let english = distinct(&mut dice, |dice| {
            let syllables = 1 + dice.below(3);
            (0..syllables).map(|_| [dice.pick(&ONSETS), dice.pick(&NUCLEI), dice.pick(&CODAS)].concat()).collect()
        });
        let korean = distinct(&mut dice, |dice| {
            let syllables = 2 + dice.below(3);
            (0..syllables).map(|_| dice.pick(&HANGUL)).collect()
        });
        let mut sum = 0.0;
        #[expect(clippy::cast_precision_loss, reason = "tens of thousands")]
        let mut shares: Vec<f64> = (0..VOCABULARY)
            .map(|rank| {
                sum += 1.0 / (rank as f64 + 1.0 + SHIFT);
                sum
            })
            .collect();
        for share in &mut shares {
            *share /= sum;
        }
        Self { english, korean, shares }
    }

    /// The rank of a word, from 0, as often as Zipf's law says.
    pub fn rank(&self, dice: &mut Dice) -> usize {
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
        let at = (dice.roll() >> 11) as f64 / (1_u64 << 53) as f64;
        self.shares.partition_point(|share| *share < at).min(VOCABULARY - 1)
    }

    /// The English word of this rank.
    pub fn english(&self, rank: usize) -> &str {
        &self.english[rank % VOCABULARY]
    }

    /// The Korean word of this rank.
    pub fn korean(&self, rank: usize) -> &str {
        &self.korean[rank % VOCABULARY]
    }
}

fn distinct(dice: &mut Dice, make: impl Fn(&mut Dice) -> String) -> Vec<String> {
    let mut seen = HashSet::with_capacity(VOCABULARY);
    let mut words = Vec::with_capacity(VOCABULARY);
    while words.len() < VOCABULARY {
        let word = make(dice);
        if word.len() > 2 && seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_distinct_and_in_zipfs_proportions() {
        let words = Words::new(1);
        assert_eq!((words.english.len(), words.korean.len()), (VOCABULARY, VOCABULARY));
        assert_eq!(words.english, Words::new(1).english);
        let mut dice = Dice::new(2);
        let ranks: Vec<usize> = (0..20_000).map(|_| words.rank(&mut dice)).collect();
        let within = |most: usize| ranks.iter().filter(|rank| **rank < most).count();
        // The first hundred of thirty thousand are about a third of all that is said.
        assert!((6_000..8_500).contains(&within(100)), "{}", within(100));
        assert!(within(VOCABULARY / 2) < 20_000);
    }
}
