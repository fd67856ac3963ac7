//! Learns the weights of `src/supersession/weights.rs` from the written chains of `tests/chains`, and checks that the committed
//! ones are those. `UPDATE=1 cargo test --workspace --test weights` writes them.
//!
//! A logistic regression with a ridge, by Newton's method; everything is deterministic. The two thresholds are read off scores
//! that a chain gets from weights learned without it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use throughline_search::supersession::{FEATURES, Statement, Subject, weigh};

/// How strongly weights are pulled to zero.
const RIDGE: f64 = 0.02;

/// The weight of a pair of two chains beside that of a pair of one.
const OTHERS_WEIGHT: f64 = 0.5;

/// The share of the changes, in percent, that may be missed even by a link that only orders. With 4, so many statements that hold
/// were followed by another that prompts told less of what holds.
const MISSED_PERCENT: usize = 10;

/// What is added to the score above which no statement of these chains is hidden wrongly, because others are less like them.
const MARGIN: f64 = 0.5;

/// The share of the pairs of two chains that may seem to be likely changes. Such a link orders every search.
const OTHERS_PERCENT: usize = 2;

/// Of how many parts one is left out at a time.
const FOLDS: usize = 10;

/// The files of chains, and behind their numbers those of the pairs and of the rules.
const CHAINS: [&str; 3] = ["dev.jsonl", "wide.jsonl", "fresh.jsonl"];
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
    for weighed in weigh(&statements) {
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

/// Learns the weights, the last of which is the bias.
#[expect(clippy::cast_precision_loss, reason = "some hundred")]
fn learn<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> Vec<f64> {
    let size = FEATURES.len();
    let count = samples.clone().count() as f64;
    let mean: Vec<f64> = (0..size).map(|n| samples.clone().map(|it| it.features[n]).sum::<f64>() / count).collect();
    let scale: Vec<f64> = (0..size)
        .map(|n| (samples.clone().map(|it| (it.features[n] - mean[n]).powi(2)).sum::<f64>() / count).sqrt())
        .map(|scale| if scale > 0.0 { scale } else { 1.0 })
        .collect();
    let rows: Vec<(Vec<f64>, f64, f64)> = samples
        .map(|it| {
            let mut row: Vec<f64> = (0..size).map(|n| (it.features[n] - mean[n]) / scale[n]).collect();
            row.push(1.0);
            let weight = if it.label == Label::Other { OTHERS_WEIGHT } else { 1.0 };
            (row, f64::from(u8::from(it.label == Label::Changes)), weight)
        })
        .collect();
    let ridge = RIDGE * rows.iter().map(|(.., weight)| weight).sum::<f64>();
    let mut weights = vec![0.0; size + 1];
    for _ in 0..30 {
        let mut gradient: Vec<f64> = weights.iter().map(|weight| weight * ridge).collect();
        let mut curvature = vec![vec![0.0; size + 1]; size + 1];
        gradient[size] = 0.0;
        for (n, row) in curvature.iter_mut().enumerate() {
            row[n] = if n < size { ridge } else { 1e-9 };
        }
        for (row, label, weight) in &rows {
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
    let bias = weights[size] - (0..size).map(|n| weights[n] * mean[n] / scale[n]).sum::<f64>();
    (0..size).map(|n| weights[n] / scale[n]).chain([bias]).collect()
}

fn score(weights: &[f64], features: &[f64]) -> f64 {
    features.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>() + weights[FEATURES.len()]
}

/// Scores each sample by weights that were learned without its chain.
fn held_out(samples: &[Sample]) -> Vec<f64> {
    let learned: BTreeMap<usize, Vec<f64>> =
        (0..FOLDS).map(|fold| (fold, learn(samples.iter().filter(|it| it.chain % FOLDS != fold)))).collect();
    samples.iter().map(|it| score(&learned[&(it.chain % FOLDS)], &it.features)).collect()
}

/// Returns the lowest threshold, a multiple of .05, above which no sample holds.
fn threshold(samples: &[(&Sample, f64)]) -> f64 {
    let wrong = |least: f64| samples.iter().filter(|(it, score)| it.label != Label::Changes && *score > least).count();
    (-60..100).map(|step| f64::from(step) / 20.0).find(|least| wrong(*least) == 0).expect("a threshold")
}

/// Returns the generated file, and how often the weights are right about chains that they were not learned from.
fn generate(samples: &[Sample]) -> (String, String) {
    let scored: Vec<(&Sample, f64)> = samples.iter().zip(held_out(samples)).collect();
    let (plain, others): (Vec<_>, Vec<_>) = scored.iter().partition(|(it, _)| it.is_plain);
    let least = threshold(&plain) + MARGIN;
    let sure = (threshold(&others) + MARGIN).max(least);
    let mut changes: Vec<f64> =
        scored.iter().filter(|(it, _)| it.label == Label::Changes).map(|(_, score)| *score).collect();
    changes.sort_by(f64::total_cmp);
    let missed = |percent: usize| (changes[changes.len() * percent / 100] * 20.0).floor() / 20.0;
    let doubt = missed(MISSED_PERCENT);
    let mut others: Vec<f64> = scored.iter().filter(|(it, _)| it.label == Label::Other).map(|(_, score)| *score).collect();
    others.sort_by(f64::total_cmp);
    let likely = (others[others.len() - 1 - others.len() * OTHERS_PERCENT / 100] * 20.0).ceil() / 20.0;

    let mut report = String::new();
    for label in [Label::Changes, Label::Holds, Label::Other] {
        let of_label: Vec<_> = scored.iter().filter(|(it, _)| it.label == label).collect();
        let linked = of_label.iter().filter(|(it, score)| *score > if it.is_plain { least } else { sure }).count();
        let in_favour = of_label.iter().filter(|(_, score)| *score > likely).count();
        let doubted = of_label.iter().filter(|(_, score)| *score > doubt).count();
        writeln!(report, "{label:?}: {} pairs, {linked} linked, {in_favour} likely, {doubted} possible", of_label.len())
            .expect("it fits");
    }
    for (it, score) in scored.iter().filter(|(it, score)| it.label != Label::Changes && *score > least) {
        writeln!(report, "  {score:.2} {}: {:?}", it.name, it.label).expect("it fits");
    }

    let learned = learn(samples.iter());
    let mut out = String::from(
        "//! What the features that tell a change weigh. Generated by `UPDATE=1 cargo test --workspace --test weights`; do not edit.\n\n\
         use super::evidence::FEATURES;\n\n",
    );
    writeln!(out, "pub(super) const BIAS: f32 = {:.2};\n", learned[FEATURES.len()]).expect("it fits");
    writeln!(out, "/// One for each of [`FEATURES`].\n#[rustfmt::skip]").expect("it fits");
    writeln!(out, "pub(super) const WEIGHTS: [f32; FEATURES.len()] = [").expect("it fits");
    for (name, weight) in FEATURES.iter().zip(&learned) {
        writeln!(out, "    {weight:.2}, // {name}").expect("it fits");
    }
    writeln!(out, "];\n").expect("it fits");
    for (about, name, value) in [
        (
            "The least score of a change of which something plain speaks. A wrong link hides a rule that holds.",
            "THRESHOLD",
            least,
        ),
        ("The least score of a change of which many weak signs speak.", "SURE_THRESHOLD", sure),
        ("The least score of what is likely a change.", "LIKELY_THRESHOLD", likely),
        (
            "The least score of what may be a change. Such a link hides nothing: it puts the later one first.",
            "DOUBT_THRESHOLD",
            doubt,
        ),
    ] {
        writeln!(out, "/// {about}\npub(super) const {name}: f32 = {value:.2};\n").expect("it fits");
    }
    out.truncate(out.trim_end().len() + 1);
    (out, report)
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
