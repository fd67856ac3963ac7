//! The field's measures of a ranking, for one question at a time.

use std::collections::BTreeMap;

/// Where the relevant stand in one ranking, in numbers that are averaged over questions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measures {
    /// Whether something relevant is among the first 1, 3, 5 and 10.
    pub any: [f64; 4],
    /// Which part of what is relevant is among the first 5 and 10.
    pub recall: [f64; 2],
    /// Discounted cumulative gain of the first 10, as a part of the best that there could be (Järvelin and Kekäläinen 2002, with
    /// gains of 2^grade − 1).
    pub ndcg10: f64,
    /// One through the place of the first relevant; 0 where there is none.
    pub mrr: f64,
}

/// The depths of [`Measures::any`].
pub const ANY: [usize; 4] = [1, 3, 5, 10];
/// The depths of [`Measures::recall`].
pub const RECALL: [usize; 2] = [5, 10];

impl Measures {
    /// Of a ranking without repetitions, best first. `grades` holds what is relevant: more than 0.
    pub fn of(ranking: &[String], grades: &BTreeMap<String, f64>) -> Self {
        let grade = |label: &String| grades.get(label).copied().unwrap_or_default().max(0.0);
        let relevant = grades.values().filter(|grade| **grade > 0.0).count();
        let first = ranking.iter().position(|label| grade(label) > 0.0);
        let found = |k: usize| ranking.iter().take(k).filter(|label| grade(label) > 0.0).count();
        let mut ideal: Vec<f64> = grades.values().copied().collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let best = gain(ideal.into_iter());
        Self {
            any: ANY.map(|k| f64::from(u8::from(first.is_some_and(|at| at < k)))),
            recall: RECALL.map(|k| ratio(found(k), relevant)),
            ndcg10: if best > 0.0 { gain(ranking.iter().map(grade)) / best } else { 0.0 },
            mrr: first.map_or(0.0, |at| ratio(1, at + 1)),
        }
    }

    /// The mean; all zero of none.
    pub fn mean(all: &[Self]) -> Self {
        let mut sum = Self::default();
        for one in all {
            for (sum, part) in sum.any.iter_mut().zip(one.any) {
                *sum += part;
            }
            for (sum, part) in sum.recall.iter_mut().zip(one.recall) {
                *sum += part;
            }
            sum.ndcg10 += one.ndcg10;
            sum.mrr += one.mrr;
        }
        let through = |value: f64| if all.is_empty() { 0.0 } else { value / ratio(all.len(), 1) };
        Self {
            any: sum.any.map(through),
            recall: sum.recall.map(through),
            ndcg10: through(sum.ndcg10),
            mrr: through(sum.mrr),
        }
    }
}

/// Discounted cumulative gain of the first ten.
fn gain(grades: impl Iterator<Item = f64>) -> f64 {
    grades.take(10).enumerate().map(|(at, grade)| (grade.exp2() - 1.0) / ratio(at + 2, 1).log2()).sum()
}

#[expect(clippy::cast_precision_loss, reason = "counts of questions and places are small")]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ranking: &[&str], grades: &[(&str, f64)]) -> Measures {
        let ranking: Vec<String> = ranking.iter().map(|&label| label.to_owned()).collect();
        Measures::of(&ranking, &grades.iter().map(|&(label, grade)| (label.to_owned(), grade)).collect())
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn one_relevant_at_the_third_place() {
        let measures = of(&["x", "y", "a", "z"], &[("a", 1.0)]);
        assert_eq!((measures.any, measures.recall), ([0.0, 1.0, 1.0, 1.0], [1.0, 1.0]));
        close(measures.mrr, 1.0 / 3.0);
        // 1 / log2(4) against 1 / log2(2).
        close(measures.ndcg10, 0.5);
    }

    #[test]
    fn graded_ones_in_the_wrong_order() {
        let measures = of(&["b", "a"], &[("a", 3.0), ("b", 2.0), ("c", 0.0)]);
        // (3 / 1 + 7 / log2 3) / (7 / 1 + 3 / log2 3)
        close(measures.ndcg10, (3.0 + 7.0 / 3_f64.log2()) / (7.0 + 3.0 / 3_f64.log2()));
        close(measures.ndcg10, 0.833_991_232_398_148_8);
        assert_eq!((measures.any[0], measures.recall[0]), (1.0, 1.0));
    }

    #[test]
    fn what_is_not_found_counts() {
        let grades = [("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)];
        let measures = of(&["a", "1", "2", "3", "4", "b"], &grades);
        close(measures.recall[0], 0.25);
        close(measures.recall[1], 0.5);
        let ideal = 1.0 + 1.0 / 3_f64.log2() + 0.5 + 1.0 / 5_f64.log2();
        close(measures.ndcg10, (1.0 + 1.0 / 7_f64.log2()) / ideal);
        assert_eq!(of(&[], &grades), Measures::default());
        assert_eq!(of(&["a"], &[]), Measures::default());
    }

    #[test]
    fn what_stands_beyond_the_tenth_place_is_no_gain() {
        let ranking: Vec<String> = (0..11).map(|n| n.to_string()).collect();
        let measures = Measures::of(&ranking, &BTreeMap::from([("10".to_owned(), 1.0)]));
        close(measures.mrr, 1.0 / 11.0);
        assert!(measures.any[3] + measures.ndcg10 < 1e-9);
    }

    #[test]
    fn the_mean_of_two() {
        let mean = Measures::mean(&[of(&["a"], &[("a", 1.0)]), of(&["x"], &[("a", 1.0)])]);
        assert_eq!((mean.any, mean.recall, mean.ndcg10, mean.mrr), ([0.5; 4], [0.5; 2], 0.5, 0.5));
        assert_eq!(Measures::mean(&[]), Measures::default());
    }
}
