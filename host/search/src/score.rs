//! BM25 scores of memory pieces, computed from the text itself.
//!
//! FTS5's own `bm25()` is not used. It counts the rows of the whole table in which each word occurs, so a search gets
//! slower the more *other* projects store. Here the database only says which pieces have which words, and a few hundred
//! pieces that are worth ranking are read and counted.

use std::collections::{BTreeMap, HashMap};

use super::query::{Query, Word};
use super::tokens::{self, Class, Initials};

/// The weights of title, content, keywords and files.
const COLUMN_WEIGHTS: [f64; 4] = [1.5, 1.0, 1.5, 1.0];

/// BM25's constants, as in FTS5 and most other engines: how quickly repeated words stop counting, and how much long
/// texts are penalized.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The approximate number of tokens in a piece: the mean over the memories of 90 real sessions is 74.
const MEAN_TOKENS: f64 = 75.0;

/// What a pair of characters is of the length of a text, where a word is 1: a Korean word of four syllables is three pairs.
const PAIR_LENGTH: f64 = 1.0 / 3.0;

/// How often a pair of characters counts each time it occurs, so that further occurrences soon add nothing. A long text repeats the
/// pairs of common endings, which says nothing. Of 300 sentences, the right paragraph of 12 sentences came first for .950 instead
/// of .933.
const PAIR_COUNT: f64 = 2.0;

/// The minimum weight of a word, for words that occur in nearly every piece.
const MIN_WEIGHT: f64 = 1e-6;

/// The parts of an identifier together count at most this share of the whole, so that exact matches come first.
const MAX_PARTS_SHARE: f64 = 0.8;

/// The bonus for an identifier that matches exactly as written, as a share of its weight. It also counts no less than all of
/// its parts can, however long the piece. Of 175 questions about names and paths in 90 real sessions, the right session came
/// first for .806 instead of .691.
const WHOLE_BONUS: f64 = 0.25;

/// The maximum distance at which two consecutive words of the query count as consecutive in a text: at most one word
/// may come between them.
const MAX_WORD_DISTANCE: usize = 2;

/// The bonus for consecutive words, as a share of the lesser of the weights of the two tokens that were found. With it, the
/// right session ranked first for 82 % of 175 questions about 25 sessions instead of 80 %, and for 65 % of 658 questions about
/// 90 sessions instead of 63 %.
const ADJACENCY_BONUS: f64 = 1.0;

/// How often a session must have a name for it to count half of its weight. It was set on questions by name about 24 sessions;
/// docs/performance.md has the figures.
const HALF_OF_NAMES: f64 = 10.0;

/// The words of a query with their weights.
#[derive(Debug)]
pub struct WeightedWords<'q> {
    query_words: Vec<Word<'q>>,
    weights: Vec<f64>,
    exact: HashMap<&'q str, usize, foldhash::fast::RandomState>,
    /// The initial letters of the words.
    initials: Initials,
    /// Indexes of the words to match as prefixes.
    prefixes: Vec<usize>,
    /// Indexes of the words that were made from one word of the query.
    compounds: Vec<Vec<usize>>,
    /// For each word, the index of its compound.
    compound_of: Vec<usize>,
    /// For each word, what it counts beside another one. Of an identifier, a part counts as itself; of a run of characters, any
    /// pair counts as the rarest.
    beside: Vec<f64>,
    /// How much a pair of characters counts of the length of a piece, where a word counts 1.
    pair_length: f64,
    /// How often a pair of characters counts each time it occurs, where a word counts once.
    pair_count: f64,
}

/// The score of a piece.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// The BM25 score; higher is better, never negative.
    pub bm25: f64,
    /// What each of [`Query::words`] contributes; 0 if the piece does not have the word.
    pub parts: Vec<f64>,
    /// How often the piece has each name of the query as it was written: the word's index and the count.
    pub names: Vec<(usize, f64)>,
}

impl Score {
    /// Returns the indexes into [`Query::words`] of the words that the piece has.
    pub fn words(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().enumerate().filter(|(_, part)| **part > 0.0).map(|(n, _)| n)
    }
}

/// How often a word of the query and the one before it are consecutive in a text.
#[derive(Clone, Copy, Debug, Default)]
struct Adjacent {
    count: f64,
    /// The lesser of the weights of the two tokens, where it is greatest. An identifier of which only a common part was found
    /// counts as that part does.
    weight: f64,
}

impl Adjacent {
    fn add(&mut self, count: f64, weight: f64) {
        self.count += count;
        self.weight = self.weight.max(weight);
    }
}

/// The texts of a piece, as stored in the full-text table.
#[derive(Clone, Copy, Debug)]
pub struct PieceText<'a> {
    /// The memory's title.
    pub title: &'a str,
    /// The piece's part of the content.
    pub content: &'a str,
    /// The memory's keywords.
    pub keywords: &'a str,
    /// The memory's files.
    pub files: &'a str,
}

/// Returns the weight of a word that occurs in `count` of `rows` pieces. It lies between the textbook formula, which
/// gives no weight to a word in half of the pieces, and Lucene's, which gives it `ln 2`.
#[expect(clippy::cast_precision_loss, reason = "numbers of rows are far below 2^52")]
pub fn idf(count: usize, rows: usize) -> f64 {
    let (count, rows) = (count.max(1) as f64, rows.max(count).max(1) as f64);
    (0.5 + (rows - count + 0.5) / (count + 0.5)).ln().max(MIN_WEIGHT)
}

impl<'q> WeightedWords<'q> {
    /// Weighs the words of `query`; `counts` says in how many of `rows` pieces each occurs.
    pub fn new(query: &'q Query, counts: &[usize], rows: usize) -> Self {
        let words: Vec<Word<'q>> = query.words().collect();
        let weights: Vec<f64> = (0..words.len()).map(|n| idf(counts.get(n).copied().unwrap_or(0), rows)).collect();
        let mut exact = HashMap::default();
        let mut initials = Initials::default();
        let mut prefixes = Vec::new();
        let mut compounds: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (n, word) in words.iter().enumerate() {
            compounds.entry(word.compound).or_default().push(n);
            exact.entry(word.token).or_insert(n);
            initials.add(word.token);
            if word.prefix {
                prefixes.push(n);
            }
        }
        let compounds: Vec<Vec<usize>> = compounds.into_values().collect();
        let mut compound_of = vec![0; words.len()];
        for (place, compound) in compounds.iter().enumerate() {
            for &n in compound {
                compound_of[n] = place;
            }
        }
        let mut beside = weights.clone();
        for compound in &compounds {
            if !compound.iter().any(|&n| words[n].whole) {
                let rarest = compound.iter().map(|&n| weights[n]).fold(0.0_f64, f64::max);
                for &n in compound {
                    beside[n] = rarest;
                }
            }
        }
        Self {
            query_words: words,
            weights,
            exact,
            initials,
            prefixes,
            compounds,
            compound_of,
            beside,
            pair_length: 1.0,
            pair_count: 1.0,
        }
    }

    /// Counts pairs of characters as parts of words where the length of a piece is measured, and repeated pairs less. The thresholds
    /// of prompts are set for scores without it.
    #[must_use]
    pub fn measuring_pairs_as_parts(self) -> Self {
        Self { pair_length: PAIR_LENGTH, pair_count: PAIR_COUNT, ..self }
    }

    /// Returns how many words the query has, counting an identifier as one.
    #[expect(clippy::cast_precision_loss, reason = "at most 128")]
    pub fn count_concepts(&self) -> f64 {
        self.compounds.len() as f64
    }

    /// Returns the approximate BM25 of a piece of the usual length that has every word once. Wholes that occur nowhere
    /// are left out, because their parts are words too.
    pub fn ideal(&self, counts: &[usize]) -> f64 {
        let found = |n: usize| !self.query_words[n].whole || counts.get(n).is_some_and(|&count| count > 0);
        self.sum(|n| if found(n) { self.weights[n] } else { 0.0 })
    }

    /// Returns which share of the query's weight are names that occur as they were written, 0 to 1: identifiers, paths, versions
    /// and flags.
    pub fn share_of_names(&self, counts: &[usize]) -> f64 {
        let (mut all, mut names) = (0.0, 0.0);
        for compound in &self.compounds {
            let occurs = |n: usize| counts.get(n).is_some_and(|&count| count > 0);
            let name = self.wholes(compound).filter(|&n| occurs(n)).map(|n| self.weights[n]).reduce(f64::max);
            let parts = compound.iter().filter(|&&n| !self.query_words[n].whole).map(|&n| self.weights[n]);
            all += name.unwrap_or_else(|| parts.sum());
            names += name.unwrap_or_default();
        }
        if all > 0.0 { names / all } else { 0.0 }
    }

    /// Scores how often a session has the names of the query: the sum of `counts` over its pieces, by the word's index. Each name
    /// counts at most its weight.
    pub fn score_names(&self, counts: &BTreeMap<usize, f64>) -> f64 {
        let of = |n: usize| {
            let count = counts.get(&n).copied().unwrap_or_default();
            self.weights[n] * count / (count + HALF_OF_NAMES)
        };
        self.compounds.iter().map(|compound| self.wholes(compound).map(of).fold(0.0, f64::max)).sum()
    }

    /// Returns the indexes of the wholes of a compound.
    fn wholes<'c>(&'c self, compound: &'c [usize]) -> impl Iterator<Item = usize> + 'c {
        compound.iter().copied().filter(|&n| self.query_words[n].whole)
    }

    /// Sums `of` over the words. A whole and its parts are the same words, so only the greater of the two counts.
    fn sum(&self, of: impl Fn(usize) -> f64) -> f64 {
        let mut sum = 0.0;
        for compound in &self.compounds {
            let (mut whole, mut parts, mut bound) = (0.0_f64, 0.0, f64::INFINITY);
            for &n in compound {
                if self.query_words[n].whole {
                    whole = whole.max(of(n));
                    bound = MAX_PARTS_SHARE * self.weights[n];
                } else {
                    parts += of(n);
                }
            }
            sum += if whole > 0.0 {
                whole.max(bound) + bound / MAX_PARTS_SHARE * WHOLE_BONUS
            } else if bound.is_finite() {
                bound.min(parts)
            } else {
                parts
            };
        }
        sum
    }

    /// Scores a piece.
    pub fn score(&self, piece: &PieceText<'_>) -> Score {
        let mut counts = vec![0.0_f64; self.query_words.len()];
        let mut length = 0.0;
        let mut pairs = vec![Adjacent::default(); self.compounds.len()];
        let texts = [piece.title, piece.content, piece.keywords, piece.files];
        for (text, weight) in texts.into_iter().zip(COLUMN_WEIGHTS) {
            let mut last: Option<(usize, usize)> = None;
            tokens::for_each_with_initials(text, self.initials, |token| {
                length += if token.class == Class::Pair { self.pair_length } else { 1.0 };
                if !self.initials.has(token.text) {
                    return;
                }
                if let Some(&n) = self.exact.get(token.text) {
                    let weight = if token.class == Class::Pair { self.pair_count * weight } else { weight };
                    counts[n] += weight;
                    let here = self.compound_of[n];
                    if let Some((other, at)) = last
                        && here == self.compound_of[other] + 1
                        && token.word > at
                        && token.word - at <= MAX_WORD_DISTANCE
                    {
                        pairs[here].add(weight, self.beside[other].min(self.beside[n]));
                    }
                    if last.is_none_or(|(other, _)| self.compound_of[other] != here) {
                        last = Some((n, token.word));
                    }
                }
                for &n in &self.prefixes {
                    let word = self.query_words[n].token;
                    if token.text.len() > word.len() && token.text.starts_with(word) {
                        counts[n] += weight;
                    }
                }
            });
        }
        let saturation = K1 * (1.0 - B + B * length / MEAN_TOKENS);
        let saturated = |count: f64| count * (K1 + 1.0) / (count + saturation);
        let parts: Vec<f64> = counts.iter().zip(&self.weights).map(|(count, weight)| weight * saturated(*count)).collect();
        let adjacent: f64 = pairs.iter().map(|pair| pair.weight * saturated(pair.count)).sum();
        let is_name = |n: &usize| self.query_words[*n].whole && counts[*n] > 0.0;
        let names = (0..counts.len()).filter(is_name).map(|n| (n, counts[n])).collect();
        Score { bm25: self.sum(|n| parts[n]) + ADJACENCY_BONUS * adjacent, parts, names }
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::*;

    fn query(text: &str) -> Query {
        Query::parse(text, &jiff::Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC))
    }

    fn content(content: &str) -> PieceText<'_> {
        PieceText { title: "", content, keywords: "", files: "" }
    }

    #[test]
    fn rare_words_short_texts_and_titles_weigh_more() {
        let query = query("cache quokka");
        let words = WeightedWords::new(&query, &[500, 2], 1_000);
        let score = |piece: &PieceText<'_>| words.score(piece).bm25;
        assert!(score(&content("the quokka")) > score(&content("the cache")));
        let padded = format!("the quokka {}", "and so on ".repeat(100));
        assert!(score(&content("the quokka")) > score(&content(&padded)));
        assert!(score(&PieceText { title: "quokka", ..content("") }) > score(&content("quokka")));
        assert_eq!(words.score(&content("a quokka's cache")).words().collect::<Vec<_>>(), [0, 1]);
        assert!(score(&content("nothing of it")).abs() < f64::EPSILON);
    }

    #[test]
    fn it_is_the_bm25_of_the_books() {
        let query = query("quokka");
        let words = WeightedWords::new(&query, &[2], 10);
        let text = "quokka ".repeat(3) + &"word ".repeat(27);
        let idf = (0.5 + 8.5_f64 / 2.5).ln();
        let expected = idf * 3.0 * 2.2 / (3.0 + 1.2 * (0.25 + 0.75 * 30.0 / MEAN_TOKENS));
        assert!((words.score(&content(&text)).bm25 - expected).abs() < 1e-9);
    }

    #[test]
    fn pairs_can_be_measured_as_parts_of_words() {
        let query = query("quokka");
        let scores = |text: &str| {
            let plain = WeightedWords::new(&query, &[2], 10);
            let plain_score = plain.score(&content(text)).bm25;
            (plain_score, plain.measuring_pairs_as_parts().score(&content(text)).bm25)
        };
        // A run of four characters has three pairs, and its last character alone.
        let (_, measured) = scores(&("quokka ".to_owned() + &"승인하면 ".repeat(30)));
        let (as_long, _) = scores(&("quokka ".to_owned() + &"word ".repeat(60)));
        assert!((measured - as_long).abs() < 1e-9);
        let (plain, measured) = scores(&("quokka ".to_owned() + &"word ".repeat(60)));
        assert!((plain - measured).abs() < 1e-9);
    }

    #[test]
    fn pairs_that_are_repeated_stop_counting_sooner() {
        let query = query("승인");
        let words = WeightedWords::new(&query, &[2], 10);
        let gain =
            |words: &WeightedWords<'_>| words.score(&content("승인 승인 승인")).bm25 / words.score(&content("승인")).bm25;
        let plain = gain(&words);
        assert!(gain(&words.measuring_pairs_as_parts()) < plain);
    }

    #[test]
    fn what_has_an_identifier_as_it_was_written_comes_before_what_has_its_parts() {
        let query = query("why does src/pay.rs fail");
        let counts: Vec<usize> = query.words().map(|_| 3).collect();
        let words = WeightedWords::new(&query, &counts, 100);
        let score = |text: &str| words.score(&content(text)).bm25;
        assert!(score("in src/pay.rs") > score("pay what src has to rs"));
        assert!(score("pay what src has to rs") > score("nothing here"));
        let long = format!("in src/pay.rs {}", "and so on ".repeat(200));
        assert!(score(&long) > score("pay rs src pay rs src"), "however long the text is");
    }

    #[test]
    fn names_are_weighed_apart_from_other_words() {
        let query = query("why does till_drawer fail at tills/rows.rs");
        let place = query.words().position(|word| word.whole && word.token.starts_with("till")).unwrap();
        let counts: Vec<usize> = (0..query.term_count()).map(|n| usize::from(n == place)).collect();
        let words = WeightedWords::new(&query, &counts, 100);
        let share = words.share_of_names(&counts);
        assert!(share > 0.0 && share < 0.5, "{share}");
        assert!(words.share_of_names(&[]).abs() < f64::EPSILON, "a name that occurs nowhere is its parts");
        let names = words.score(&content("till_drawer and till drawer, till_drawer")).names;
        assert_eq!(names, [(place, 2.0)]);
        let score = |count: f64| words.score_names(&BTreeMap::from([(place, count)]));
        assert!(score(20.0) > score(2.0) && score(1e9) <= idf(1, 100));
        assert!(words.score_names(&BTreeMap::new()).abs() < f64::EPSILON);
    }

    #[test]
    fn words_that_follow_one_another_count_more_than_scattered_ones() {
        let query = query("health check");
        let words = WeightedWords::new(&query, &[3, 3], 100);
        let score = |text: &str| words.score(&content(text)).bm25;
        assert!(score("the health check of it") > score("check of it the health"));
        assert!(score("the health check of it") > score("the health of it all check"));
    }

    #[test]
    fn a_part_of_an_identifier_beside_a_word_counts_as_the_part_does() {
        let query = query("pruneStaleQuokka works");
        let counts: Vec<usize> = query.words().map(|word| if word.whole { 1 } else { 40 }).collect();
        let words = WeightedWords::new(&query, &counts, 100);
        let score = |text: &str| words.score(&content(text)).bm25;
        assert!(score("pruneStaleQuokka, and what works") > score("a stale work, so prune work: stale quokka works"));
    }

    #[test]
    fn a_last_character_is_found_where_another_follows() {
        let query = query("값");
        let words = WeightedWords::new(&query, &[1], 10);
        assert_eq!(words.score(&content("값을 바꿈")).words().collect::<Vec<_>>(), [0]);
    }

    proptest! {
        #[test]
        fn scores_are_finite_and_not_negative(text in any::<String>(), query_words in any::<String>(), count in 0usize..99) {
            let query = query(&query_words);
            let words = WeightedWords::new(&query, &[count], 50);
            let score = words.score(&content(&text));
            prop_assert!(score.bm25.is_finite() && score.bm25 >= 0.0);
        }
    }
}
