//! What was measured, as a table for people or as JSON lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::metrics::{ANY, Measures, RECALL};
use super::run::Answer;
use super::set::{Question, Set};

/// How far from the top a forbidden label does harm.
const HARMFUL: usize = 5;

/// One way of searching, over a whole set.
pub struct Row {
    /// What to call it.
    pub name: String,
    /// Questions to which there is an answer.
    pub questions: usize,
    /// Their mean.
    pub measures: Measures,
    /// The same by kind of question, where there are several.
    pub kinds: BTreeMap<String, (usize, Measures)>,
    /// The number of questions with forbidden memories, and how many of them found one among the first five.
    pub forbidding: (usize, usize),
    median: Duration,
    p99: Duration,
}

impl Row {
    /// Judges the answers to the set's questions, one each.
    pub fn new(name: &str, set: &Set, answers: &[Answer]) -> Self {
        let pairs = || set.questions.iter().zip(answers);
        let of = |wanted: &dyn Fn(&Question) -> bool| -> Vec<Measures> {
            pairs()
                .filter(|(question, _)| !question.relevant.is_empty() && wanted(question))
                .map(|(question, answer)| Measures::of(&answer.ranking, &question.relevant))
                .collect()
        };
        let all = of(&|_| true);
        let mut kinds = BTreeMap::new();
        for question in set.questions.iter().filter(|question| !question.relevant.is_empty()) {
            if !kinds.contains_key(&question.kind) {
                let own = of(&|other| other.kind == question.kind);
                kinds.insert(question.kind.clone(), (own.len(), Measures::mean(&own)));
            }
        }
        if kinds.len() < 2 {
            kinds.clear();
        }
        let forbidding = || pairs().filter(|(question, _)| !question.forbidden.is_empty());
        let harmed = forbidding()
            .filter(|(question, answer)| answer.ranking.iter().take(HARMFUL).any(|label| question.forbidden.contains(label)))
            .count();
        let mut times: Vec<Duration> = answers.iter().map(|answer| answer.took).collect();
        times.sort_unstable();
        let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
        Self {
            name: name.into(),
            questions: all.len(),
            measures: Measures::mean(&all),
            kinds,
            forbidding: (forbidding().count(), harmed),
            median: at(50),
            p99: at(99),
        }
    }

    /// As a program reads it.
    pub fn json(&self, set: &str) -> Value {
        let kinds: BTreeMap<_, _> = self.kinds.iter().map(|(kind, (number, it))| (kind, measures(*number, it))).collect();
        let mut value = measures(self.questions, &self.measures);
        value["set"] = set.into();
        value["search"] = self.name.as_str().into();
        value["median_ms"] = milliseconds(self.median).into();
        value["p99_ms"] = milliseconds(self.p99).into();
        value["forbidding"] = self.forbidding.0.into();
        value["harmed"] = self.forbidding.1.into();
        value["kinds"] = json!(kinds);
        value
    }
}

fn measures(questions: usize, it: &Measures) -> Value {
    let mut value = json!({"questions": questions, "ndcg@10": it.ndcg10, "mrr": it.mrr});
    for (k, any) in ANY.iter().zip(it.any) {
        value[format!("any@{k}")] = any.into();
    }
    for (k, recall) in RECALL.iter().zip(it.recall) {
        value[format!("recall@{k}")] = recall.into();
    }
    value
}

/// All rows as one table, the kinds of questions below.
pub fn table(rows: &[Row]) -> String {
    let kinds = rows.iter().flat_map(|row| row.kinds.keys());
    let width = rows.iter().map(|row| &row.name).chain(kinds).map(|name| name.chars().count()).max().unwrap_or(0) + 2;
    let mut out =
        format!("{:width$} questions  any@1  any@3  any@5 any@10   r@5  r@10  ndcg@10   MRR   median      p99\n", "");
    for row in rows {
        let times = format!("{:>7.1} ms {:>5.1} ms", milliseconds(row.median), milliseconds(row.p99));
        line(&mut out, width, &row.name, row.questions, &row.measures, &times);
        if row.forbidding.0 > 0 {
            let (number, harmed) = row.forbidding;
            let _ = writeln!(out, "{:width$} something forbidden among the first {HARMFUL}: {harmed} of {number}", "");
        }
    }
    let named: Vec<&Row> = rows.iter().filter(|row| !row.kinds.is_empty()).collect();
    for row in &named {
        let _ = writeln!(out, "{}, by kind", row.name);
        for (kind, (number, measures)) in &row.kinds {
            line(&mut out, width, &format!("  {kind}"), *number, measures, "");
        }
    }
    out
}

fn line(out: &mut String, width: usize, name: &str, questions: usize, it: &Measures, times: &str) {
    let [any1, any3, any5, any10] = it.any;
    let [r5, r10] = it.recall;
    let text = format!(
        "{name:width$} {questions:>9} {any1:>6.3} {any3:>6.3} {any5:>6.3} {any10:>6.3} {r5:>5.3} {r10:>5.3} {:>8.3} {:>5.3} {times}",
        it.ndcg10, it.mrr
    );
    let _ = writeln!(out, "{}", text.trim_end());
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::super::set::{Source, Unit};
    use super::*;

    #[test]
    fn questions_without_an_answer_count_only_for_what_they_forbid() {
        let question = |relevant: &[&str], forbidden: &[&str], kind: &str| Question {
            query: "q".into(),
            relevant: relevant.iter().map(|&label| (label.to_owned(), 1.0)).collect(),
            forbidden: forbidden.iter().map(|&label| label.to_owned()).collect(),
            kind: kind.into(),
            ..Question::default()
        };
        let answer = |ranking: &[&str]| Answer {
            ranking: ranking.iter().map(|&label| label.to_owned()).collect(),
            took: Duration::from_millis(2),
        };
        let set = Set {
            name: "s".into(),
            source: Source::Documents(Vec::new()),
            unit: Unit::Document,
            questions: vec![question(&["a"], &[], "k"), question(&["b"], &[], "l"), question(&[], &["a"], "trap")],
        };
        let row = Row::new("default", &set, &[answer(&["a"]), answer(&["a", "b"]), answer(&["c", "a"])]);
        assert_eq!((row.questions, row.measures.any[0], row.measures.mrr), (2, 0.5, 0.75));
        assert_eq!((row.forbidding, row.kinds.len()), ((1, 1), 2));
        let table = table(&[row]);
        assert!(table.contains("default") && table.contains("1 of 1") && table.contains("by kind"), "{table}");
    }
}
