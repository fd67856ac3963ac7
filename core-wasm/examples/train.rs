//! Trains the model that judges statements, or lists what it would judge.
//!
//! `cargo run --release -p throughline-default-policy --example train -- list TRANSCRIPTS…` prints each statement as JSON.
//! `… -- train LABELS TRANSCRIPTS_FOLDER` writes the weights to `src/extract/weights.rs`; the same labels and transcripts
//! give the same bytes. A line of LABELS is `FILE TAB TURN TAB HASH TAB LABEL TAB WEIGHT`: the transcript below the folder,
//! the identifier of the prompt's line, the hash of the statement's text, 1 or 0, and how much the example counts. Every other
//! statement of the files that are named is an example of 0.

#[path = "shared/lines.rs"]
mod lines;
#[path = "shared/session.rs"]
mod session;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use throughline_default_policy::bindings::exports::throughline::policy::extractor::Request;
use throughline_default_policy::extract::{Candidate, WEIGHTS, candidates};

use lines::Slice;
use session::session;

/// How strongly large weights are punished.
const PENALTY: f64 = 50.0;
/// How many steps the training takes.
const STEPS: usize = 4_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["list", files @ ..] => {
            for file in files {
                for found in read(Path::new(file))? {
                    let Candidate { turn, text, heading, voice, later_turns, features } = &found;
                    let value = serde_json::json!({"file": file, "turn": turn, "hash": hash(text), "text": text,
                        "heading": heading, "voice": voice, "later": later_turns, "features": features});
                    println!("{value}");
                }
            }
        }
        ["train", labels, folder] => {
            let weights = train(&examples(&std::fs::read_to_string(labels)?, Path::new(folder))?);
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/extract/weights.rs");
            std::fs::write(file, source(&weights))?;
        }
        _ => return Err("usage: train list FILE… | train LABELS FOLDER; the first lines of this example say more".into()),
    }
    Ok(())
}

fn read(file: &Path) -> Result<Vec<Candidate>, std::io::Error> {
    let text = String::from_utf8_lossy(&std::fs::read(file)?).into_owned();
    let request = Request { session: session(), moment: "ingest".to_owned(), state: None, supplements: Vec::new() };
    Ok(candidates(&request, &mut Slice(Some(&text.lines().collect::<Vec<_>>()))))
}

/// FNV-1a with 64 bits.
fn hash(text: &str) -> String {
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

struct Example {
    features: Vec<(usize, f32)>,
    label: f64,
    weight: f64,
}

/// The label and the weight of each statement of a file, by its turn and its hash.
type Labels<'a> = HashMap<(&'a str, &'a str), (f64, f64)>;

fn examples(labels: &str, folder: &Path) -> Result<Vec<Example>, Box<dyn std::error::Error>> {
    let mut files: BTreeMap<&str, Labels<'_>> = BTreeMap::new();
    for (number, line) in labels.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let [file, turn, hash, label, weight] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("line {}: not five columns", number + 1).into());
        };
        files.entry(file).or_default().insert((turn, hash), (label.parse()?, weight.parse()?));
    }
    let mut all = Vec::new();
    for (file, labels) in files {
        for found in read(&folder.join(file))? {
            let hash = hash(&found.text);
            let (label, weight) = labels.get(&(found.turn.as_str(), hash.as_str())).copied().unwrap_or((0.0, 1.0));
            all.push(Example { features: found.features, label, weight });
        }
    }
    Ok(all)
}

/// Fits a logistic regression by gradient descent with momentum, always over all examples and in the same order.
fn train(examples: &[Example]) -> Vec<f64> {
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    let (mut weights, mut speed) = (vec![0.0; WEIGHTS], vec![0.0; WEIGHTS]);
    for _ in 0..STEPS {
        let mut gradient: Vec<f64> = weights.iter().map(|weight| PENALTY * weight / total).collect();
        for Example { features, label, weight } in examples {
            let sum: f64 = features.iter().map(|&(at, value)| weights[at] * f64::from(value)).sum();
            let error = weight * (1.0 / (1.0 + (-sum).exp()) - label) / total;
            for &(at, value) in features {
                gradient[at] += error * f64::from(value);
            }
        }
        for ((weight, speed), gradient) in weights.iter_mut().zip(&mut speed).zip(&gradient) {
            *speed = 0.9 * *speed - 0.2 * gradient;
            *weight += *speed;
        }
    }
    weights
}

/// Returns the source file of the weights. Four digits are enough, and hide the last bits of the arithmetic.
fn source(weights: &[f64]) -> String {
    let mut source = String::from(
        "//! The weights of the model in `judge.rs`. Written by `examples/train.rs`; do not edit.\n\nuse super::judge::COUNT;\n\n/// The weights, in the order of `judge::positions`.\n#[rustfmt::skip]\npub(super) const WEIGHTS: [f32; COUNT] = [\n",
    );
    for weights in weights.chunks(10) {
        source.push_str("    ");
        for weight in weights {
            // Writing to a string cannot fail.
            let _ = write!(source, "{:.4}, ", if weight.abs() < 0.000_05 { 0.0 } else { *weight });
        }
        source.truncate(source.trim_end().len());
        source.push('\n');
    }
    source + "];\n"
}
