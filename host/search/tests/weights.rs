//! Learns the weights of `src/supersession/weights.rs` from the written chains of `tests/chains`, and checks that the committed
//! ones are those. `UPDATE=1 cargo test --workspace --test weights` writes them.
//!
//! Two logistic regressions with a ridge, by Newton's method; everything is deterministic. The first tells pairs of one chain from
//! those of two, the second tells changes from what holds among pairs of one chain. The thresholds are read off scores that a chain
//! gets from weights learned without it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use throughline_search::supersession::{FEATURES, Meaning, Statement, Subject, weigh};

/// How strongly weights are pulled to zero.
const RIDGE: f64 = 0.02;

/// The share of the changes of one subject, in percent, that may be missed even by a link that only orders. With 4, so many statements
/// that hold were followed by another that prompts told less of what holds.
const MISSED_PERCENT: usize = 7;

/// What is added to the score above which no statement of these chains is hidden wrongly, because others are less like them.
const MARGIN: f64 = 0.5;

/// The share of the pairs of two chains, in percent, that may seem to have one subject.
const OTHERS_PERCENT: usize = 5;

/// The share of the pairs of one chain that hold, in percent, that may seem to be likely changes. Such a link orders every search.
const HOLDS_PERCENT: usize = 13;

/// What statements mean says what they are about, and not whether one changes the other. In Korean and Japanese it is not known at all.
const MEANINGS: [&str; 3] = ["likeness", "alikest_earlier", "alikest_later"];

/// Of how many parts one is left out at a time.
const FOLDS: usize = 10;

/// The files of chains, and behind their numbers those of the pairs and of the rules.
const CHAINS: [&str; 6] = ["dev.jsonl", "wide.jsonl", "fresh.jsonl", "plain.jsonl", "second.jsonl", "third.jsonl"];
const PAIRS: usize = CHAINS.len();
const RULES: usize = PAIRS + 1;

const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;

/// A turn of a conversation.
struct Turn {
    /// The chain, and its file.
    chain: usize,
    file: usize,
    session: String,
    created: u64,
    title: String,
    content: String,
    /// Its place among the conversations of its chain, if it is the last turn of its conversation.
    settles: Option<usize>,
}

/// What the later statement of a pair does to the earlier one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Label {
    Changes,
    /// They are of one chain, and both hold.
    Holds,
    /// They are of two chains.
    Other,
}

/// A pair to learn from.
struct Sample {
    chain: usize,
    label: Label,
    is_plain: bool,
    features: Vec<f64>,
    name: String,
}

fn read(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/chains").join(name);
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn embed(text: &str) -> Option<Meaning> {
    throughline_embedding::local::embed(text).map(|it| Meaning { vector: it.vector, known: it.known })
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn turn((file, chain): (usize, usize), place: usize, created: u64, said: &Value, settles: bool) -> Turn {
    let (human, agent) = (text(&said["human"]), text(&said["agent"]));
    Turn {
        chain,
        file,
        session: format!("{chain}-{place}"),
        created,
        title: human.to_owned(),
        content: format!("{human} → {agent}"),
        settles: settles.then_some(place),
    }
}

/// Returns the turns of one conversation.
fn of_conversation(of: (usize, usize), place: usize, conversation: &Value) -> Vec<Turn> {
    // Those that name no day are spread over the month.
    let day = conversation["day"].as_u64().unwrap_or(of.1 as u64 % 27 + 1);
    let said = conversation["turns"].as_array().expect("turns");
    let settles = |number: u64| number == said.len() as u64;
    (1..).zip(said).map(|(number, it)| turn(of, place, day * DAY + number * MINUTE, it, settles(number))).collect()
}

/// Returns all turns and, for each chain, its name and what each conversation after the first does to the first.
fn turns() -> (Vec<Turn>, Vec<(String, Vec<bool>)>) {
    let mut turns = Vec::new();
    let mut chains = Vec::new();
    let files = CHAINS.map(read);
    for (file, value) in files.iter().enumerate().flat_map(|(file, values)| values.iter().map(move |value| (file, value))) {
        let conversations = value["conversations"].as_array().expect("conversations");
        for (place, conversation) in conversations.iter().enumerate() {
            turns.extend(of_conversation((file, chains.len()), place, conversation));
        }
        chains.push((text(&value["id"]).to_owned(), vec![value["relation"] != "none"; conversations.len()]));
    }
    for value in read("pairs.jsonl") {
        let later = value["later"].as_array().expect("later ones");
        turns.push(turn((PAIRS, chains.len()), 0, DAY, &value["earlier"], true));
        for (place, it) in (1..).zip(later) {
            turns.push(turn((PAIRS, chains.len()), place, (place as u64 + 1) * DAY, it, true));
        }
        let changes = later.iter().map(|it| it["relation"] != "none");
        chains.push((text(&value["id"]).to_owned(), [false].into_iter().chain(changes).collect()));
    }
    // What a real project has: most conversations are about other things.
    let settled = read("../rules/dev.jsonl").into_iter().map(|value| {
        let changes = value["stale"].as_array().is_some_and(|stale| !stale.is_empty());
        (text(&value["id"]).to_owned(), value["conversations"].as_array().expect("conversations").clone(), changes)
    });
    let decoys =
        (1..).zip(read("../rules/dev_decoys.jsonl")).map(|(number, it)| (format!("decoy {number}"), vec![it], false));
    for (id, conversations, changes) in settled.chain(decoys) {
        for (place, conversation) in conversations.iter().enumerate() {
            turns.extend(of_conversation((RULES, chains.len()), place, conversation));
        }
        chains.push((id, vec![changes; conversations.len()]));
    }
    (turns, chains)
}

fn samples() -> Vec<Sample> {
    let (turns, chains) = turns();
    let statements: Vec<Statement<'_>> = turns
        .iter()
        .map(|it| Statement {
            session: &it.session,
            created: it.created,
            title: &it.title,
            content: &it.content,
            is_whole: true,
            is_statement: true,
            subject: Subject::Deed,
            is_new: true,
        })
        .collect();
    let mut samples = Vec::new();
    for weighed in weigh(&statements, &embed) {
        let (older, newer) = (&turns[weighed.older], &turns[weighed.newer]);
        let Some(features) = weighed.features else { continue };
        if older.file != newer.file {
            // They are about two products.
            continue;
        }
        let label = if older.chain != newer.chain {
            Label::Other
        } else if older.file == PAIRS && older.settles != Some(0) {
            // The later ones of a group know nothing of each other.
            continue;
        } else {
            let changes = chains[older.chain].1[newer.settles.unwrap_or(0)];
            match (changes, older.settles, newer.settles) {
                (true, Some(_), Some(_)) => Label::Changes,
                // What was said on the way to a decision may be changed or not.
                (true, ..) => continue,
                (false, ..) => Label::Holds,
            }
        };
        samples.push(Sample {
            chain: older.chain,
            label,
            is_plain: weighed.is_plain,
            features: features.iter().map(|it| f64::from(*it)).collect(),
            name: format!("{} / {}", chains[older.chain].0, chains[newer.chain].0),
        });
    }
    samples
}

/// Solves a system of linear equations, whose matrix is symmetric and positive.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for at in 0..size {
        let pivot = (at..size).max_by(|a, b| matrix[*a][at].abs().total_cmp(&matrix[*b][at].abs())).expect("a row");
        matrix.swap(at, pivot);
        right.swap(at, pivot);
        for row in at + 1..size {
            let factor = matrix[row][at] / matrix[at][at];
            let (above, below) = matrix.split_at_mut(row);
            for (value, pivot) in below[0].iter_mut().zip(&above[at]).skip(at) {
                *value -= factor * pivot;
            }
            right[row] -= factor * right[at];
        }
    }
    for at in (0..size).rev() {
        let known: f64 = (at + 1..size).map(|column| matrix[at][column] * right[column]).sum();
        right[at] = (right[at] - known) / matrix[at][at];
    }
    right
}

/// Learns weights that tell the samples of a label from the others; the last one is the bias. Both sides count the same in all. What
/// is not `used` weighs nothing.
#[expect(clippy::cast_precision_loss, reason = "some hundred")]
fn learn<'a>(
    samples: impl Iterator<Item = &'a Sample> + Clone,
    used: impl Fn(&str) -> bool,
    is_of_label: impl Fn(&Sample) -> bool,
) -> Vec<f64> {
    let size = FEATURES.len();
    let value = |it: &Sample, n: usize| if used(FEATURES[n]) { it.features[n] } else { 0.0 };
    let count = samples.clone().count() as f64;
    let of_label = samples.clone().filter(|it| is_of_label(it)).count() as f64;
    let mean: Vec<f64> = (0..size).map(|n| samples.clone().map(|it| value(it, n)).sum::<f64>() / count).collect();
    let scale: Vec<f64> = (0..size)
        .map(|n| (samples.clone().map(|it| (value(it, n) - mean[n]).powi(2)).sum::<f64>() / count).sqrt())
        .map(|scale| if scale > 0.0 { scale } else { 1.0 })
        .collect();
    let rows: Vec<(Vec<f64>, f64, f64)> = samples
        .map(|it| {
            let mut row: Vec<f64> = (0..size).map(|n| (value(it, n) - mean[n]) / scale[n]).collect();
            row.push(1.0);
            let is_of_label = is_of_label(it);
            let weight = count / 2.0 / if is_of_label { of_label } else { count - of_label };
            (row, f64::from(u8::from(is_of_label)), weight)
        })
        .collect();
    let weights = regress(&rows);
    let bias = weights[size] - (0..size).map(|n| weights[n] * mean[n] / scale[n]).sum::<f64>();
    (0..size).map(|n| weights[n] / scale[n]).chain([bias]).collect()
}

/// Returns the weights of a logistic regression; the last one is the bias. A row has its features and a 1, its label and its weight.
fn regress(rows: &[(Vec<f64>, f64, f64)]) -> Vec<f64> {
    let size = FEATURES.len();
    let ridge = RIDGE * rows.iter().map(|(.., weight)| weight).sum::<f64>();
    let mut weights = vec![0.0; size + 1];
    for _ in 0..30 {
        let mut gradient: Vec<f64> = weights.iter().map(|weight| weight * ridge).collect();
        let mut curvature = vec![vec![0.0; size + 1]; size + 1];
        gradient[size] = 0.0;
        for (n, row) in curvature.iter_mut().enumerate() {
            row[n] = if n < size { ridge } else { 1e-9 };
        }
        for (row, label, weight) in rows {
            let score: f64 = row.iter().zip(&weights).map(|(a, b)| a * b).sum();
            let chance = 1.0 / (1.0 + (-score).exp());
            for n in 0..=size {
                gradient[n] += weight * (chance - label) * row[n];
                for m in 0..=size {
                    curvature[n][m] += weight * chance * (1.0 - chance) * row[n] * row[m];
                }
            }
        }
        for (weight, step) in weights.iter_mut().zip(solve(curvature, gradient)) {
            *weight -= step;
        }
    }
    weights
}

/// The weights of both models.
struct Models {
    /// Whether two statements have one subject.
    subject: Vec<f64>,
    /// Whether the later of two statements of one subject changes the earlier one.
    change: Vec<f64>,
}

impl Models {
    fn of<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> Self {
        let of_one_chain = samples.clone().filter(|it| it.label != Label::Other);
        Self {
            subject: learn(samples, |_| true, |it| it.label != Label::Other),
            change: learn(of_one_chain, |feature| !MEANINGS.contains(&feature), |it| it.label == Label::Changes),
        }
    }
}

fn score(weights: &[f64], features: &[f64]) -> f64 {
    features.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>() + weights[FEATURES.len()]
}

/// A sample, with its scores by weights that were learned without its chain.
struct Scored<'a> {
    sample: &'a Sample,
    subject: f64,
    change: f64,
}

fn held_out(samples: &[Sample]) -> Vec<Scored<'_>> {
    let learned: Vec<Models> =
        (0..FOLDS).map(|fold| Models::of(samples.iter().filter(|it| it.chain % FOLDS != fold))).collect();
    let scored = |sample: &'_ Sample| {
        let models = &learned[sample.chain % FOLDS];
        (score(&models.subject, &sample.features), score(&models.change, &sample.features))
    };
    let all = samples.iter().map(|sample| (sample, scored(sample)));
    all.map(|(sample, (subject, change))| Scored { sample, subject, change }).collect()
}

/// The least scores of the links, see the generated file.
struct Thresholds {
    subject: f64,
    plain: f64,
    likely: f64,
    doubt: f64,
}

impl Thresholds {
    fn of(scored: &[Scored<'_>]) -> Self {
        let others = sorted(scored.iter().filter(|it| it.sample.label == Label::Other).map(|it| it.subject));
        let subject = round_up(others[others.len() - 1 - others.len() * OTHERS_PERCENT / 100]);
        let of_one = || scored.iter().filter(|it| it.subject > subject);
        let of_label = |label| sorted(of_one().filter(|it| it.sample.label == label).map(|it| it.change));
        let wrong = of_one().filter(|it| it.sample.label != Label::Changes && it.sample.is_plain);
        let (changes, holds) = (of_label(Label::Changes), of_label(Label::Holds));
        Self {
            subject,
            plain: round_up(wrong.map(|it| it.change).fold(0.0, f64::max)) + MARGIN,
            likely: round_up(holds[holds.len() - 1 - holds.len() * HOLDS_PERCENT / 100]),
            doubt: -round_up(-changes[changes.len() * MISSED_PERCENT / 100]),
        }
    }

    fn is_linked(&self, it: &Scored<'_>) -> bool {
        it.sample.is_plain && it.subject > self.subject && it.change > self.plain
    }
}

fn sorted(scores: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut scores: Vec<f64> = scores.collect();
    scores.sort_by(f64::total_cmp);
    scores
}

/// Returns the next multiple of .05.
fn round_up(score: f64) -> f64 {
    // No negative zero.
    (score * 20.0).ceil() / 20.0 + 0.0
}

/// Returns how often the weights are right about chains that they were not learned from.
fn report(scored: &[Scored<'_>], least: &Thresholds) -> String {
    let mut report = String::new();
    for label in [Label::Changes, Label::Holds, Label::Other] {
        let of_label: Vec<_> = scored.iter().filter(|it| it.sample.label == label).collect();
        let linked = of_label.iter().filter(|it| least.is_linked(it)).count();
        let above = |change: f64| of_label.iter().filter(|it| it.subject > least.subject && it.change > change).count();
        writeln!(
            report,
            "{label:?}: {} pairs, {linked} linked, {} likely, {} possible, {} of one subject",
            of_label.len(),
            above(least.likely),
            above(least.doubt),
            above(f64::MIN),
        )
        .expect("it fits");
    }
    for it in scored.iter().filter(|it| it.sample.label != Label::Changes && it.subject > least.subject) {
        if it.change > least.likely {
            writeln!(report, "  {:.2} {}: {:?}", it.change, it.sample.name, it.sample.label).expect("it fits");
        }
    }
    report
}

/// Writes a model into the generated file.
fn write_model(out: &mut String, [name, doc]: [&str; 2], learned: &[f64]) {
    writeln!(out, "pub(super) const {name}_BIAS: f32 = {:.2};\n", learned[FEATURES.len()]).expect("it fits");
    writeln!(out, "/// {doc} One for each of [`FEATURES`].\n#[rustfmt::skip]").expect("it fits");
    writeln!(out, "pub(super) const {name}_WEIGHTS: [f32; FEATURES.len()] = [").expect("it fits");
    for (name, weight) in FEATURES.iter().zip(learned) {
        writeln!(out, "    {weight:.2}, // {name}").expect("it fits");
    }
    writeln!(out, "];\n").expect("it fits");
}

/// Returns the generated file, and how often the weights are right about chains that they were not learned from.
fn generate(samples: &[Sample]) -> (String, String) {
    let scored = held_out(samples);
    let least = Thresholds::of(&scored);
    let learned = Models::of(samples.iter());
    let mut out = String::from(
        "//! What the features that tell a change weigh. Generated by `UPDATE=1 cargo test --workspace --test weights`; do not edit.\n\n\
         use super::evidence::FEATURES;\n\n",
    );
    write_model(&mut out, ["SUBJECT", "What speaks for one subject of two statements."], &learned.subject);
    write_model(&mut out, ["CHANGE", "What speaks for a change, if they have one subject."], &learned.change);
    for (about, name, value) in [
        ("The least score of two statements that have one subject.", "SUBJECT_THRESHOLD", least.subject),
        (
            "The least score of a change that hides the earlier one, if something plain speaks of it. A wrong link hides a rule that holds.",
            "PLAIN_THRESHOLD",
            least.plain,
        ),
        ("The least score of what is likely a change.", "LIKELY_THRESHOLD", least.likely),
        (
            "The least score of what may be a change. Such a link hides nothing: it puts the later one first.",
            "DOUBT_THRESHOLD",
            least.doubt,
        ),
    ] {
        writeln!(out, "/// {about}\npub(super) const {name}: f32 = {value:.2};\n").expect("it fits");
    }
    out.truncate(out.trim_end().len() + 1);
    (out, report(&scored, &least))
}

#[test]
fn the_weights_are_those_that_are_learned() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/supersession/weights.rs");
    let samples = samples();
    let (generated, report) = generate(&samples);
    println!("{report}");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, &generated).expect("write");
    }
    assert_eq!(fs::read_to_string(&file).expect("read"), generated, "run UPDATE=1 cargo test --workspace --test weights");
}
