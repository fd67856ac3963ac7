//! How fast the default policy extracts, natively and in the sandbox: the same lines, in turns.

use std::path::Path;
use std::time::{Duration, Instant};

use throughline_default_policy::bindings::exports::throughline::policy::extractor::Request;
use throughline_default_policy::bindings::throughline::policy::types::Session;
use throughline_default_policy::extract::{Lines, extract};

use crate::home::Home;
use crate::measure::median;
use crate::process::{self, WATCHDOG};

/// The most bytes of a transcript that are given to one call, as a reading gives them.
const CHUNK_BYTES: usize = 8 << 20;

/// The medians of all inputs, added up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    /// The bytes of the lines.
    pub bytes: usize,
    /// The call, in this process.
    pub native: Duration,
    /// The call in the sandbox, with its calls to the host.
    pub sandbox: Duration,
}

struct Text<'a>(Option<&'a str>);

impl Lines for Text<'_> {
    fn next_lines(&mut self, _max_bytes: u32, visit: &mut dyn FnMut(&str, u64)) -> bool {
        let Some(text) = self.0.take() else { return false };
        text.lines().for_each(|line| visit(line, 0));
        true
    }
}

/// Returns the transcript's first lines that fit into one call.
pub fn chunk(transcript: &Path) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(transcript).expect("read a transcript")).into_owned();
    if text.len() <= CHUNK_BYTES {
        return text;
    }
    let end = text[..text.floor_char_boundary(CHUNK_BYTES)].rfind('\n').map_or(0, |at| at + 1);
    text[..end].to_owned()
}

/// Extracts from each text in turns, natively and in the sandbox.
pub fn extraction_times(home: &Home, texts: &[String], rounds: usize) -> Times {
    let mut sum = Times::default();
    for text in texts {
        let (mut native, mut sandbox) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            native.push(extract_natively(text));
            sandbox.push(extract_in_sandbox(home, text));
        }
        sum.bytes += text.len();
        sum.native += median(&mut native);
        sum.sandbox += median(&mut sandbox);
    }
    sum
}

fn extract_natively(text: &str) -> Duration {
    let session = Session {
        id: "policy-run".into(),
        agent: "claude-code".into(),
        project: "p".into(),
        root: "/p".into(),
        cwd: "/p".into(),
        model: None,
        now: 0,
        attributes: Vec::new(),
    };
    let request = Request { session, moment: "ingest".into(), state: None, supplements: Vec::new() };
    let started = Instant::now();
    let extraction = extract(&request, &mut Text(Some(text)));
    let took = started.elapsed();
    drop(extraction);
    took
}

/// Returns the time that the program reports of the call alone.
fn extract_in_sandbox(home: &Home, text: &str) -> Duration {
    let command = home.command(["policy", "run", "extractor"]);
    let run = process::run(command, text.as_bytes().to_vec(), WATCHDOG).success();
    let said = run.stderr.lines().last().and_then(|line| line.split_once(" ms, "));
    let milliseconds: f64 =
        said.and_then(|(number, _)| number.parse().ok()).unwrap_or_else(|| panic!("no time in {}", run.stderr));
    Duration::from_secs_f64(milliseconds / 1_000.0)
}
