//! Generated transcripts in bulk: many memories, or many bytes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::transcript::{Transcript, session_id};

/// A small deterministic generator (xorshift64*): the same seed gives the same bytes on every machine.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// A generator that starts from the seed.
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below the bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    /// One of these.
    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let index = self.below(from.len() as u64);
        from[usize::try_from(index).expect("an index")]
    }
}

const PARTS: &[&str] = &[
    "parser",
    "scheduler",
    "gateway",
    "cache",
    "router",
    "importer",
    "exporter",
    "indexer",
    "renderer",
    "planner",
    "결제 모듈",
    "로그인 화면",
    "검색 색인",
    "알림 서비스",
];
const FAULTS: &[&str] = &[
    "drops the last record",
    "reads past the end",
    "ignores the timeout",
    "counts twice",
    "blocks on a full queue",
    "마지막 줄을 놓친다",
    "시간대를 무시한다",
];
const CURES: &[&str] = &[
    "flush before close",
    "check the length first",
    "pass the deadline on",
    "deduplicate by identifier",
    "bound the queue",
    "버퍼를 먼저 비운다",
    "UTC로 저장한다",
];

/// Adds one turn that is worth remembering and like no other: a request, an edit, a failure with its cure, a decision.
pub fn turn(transcript: &mut Transcript, dice: &mut Dice) {
    let (part, fault, cure) = (dice.pick(PARTS), dice.pick(FAULTS), dice.pick(CURES));
    let number = dice.below(1_000_000_000);
    let file = format!("src/part_{}/unit_{number}.rs", dice.below(40));
    transcript
        .user(&format!("The {part} {fault} when record {number} comes; please mend it"))
        .says("Let me look at the code first.")
        .bash_fails(&format!("cargo test unit_{number}"), 101, &format!("test unit_{number} failed: the {part} {fault}"))
        .edits(&file, &format!("let limit = {number};"), &format!("let limit = {number}; // {cure}"))
        .bash(&format!("cargo test unit_{number}"), "test result: ok. 12 passed; 0 failed")
        .asks(&format!("How shall the {part} treat record {number}?"), &[cure, "Leave it as it is"], cure)
        .answer(&format!(
            "The {part} {fault} no more: in `{file}` I let it {cure}, because record {number} showed that the bound was \
             taken too late. All 12 tests pass."
        ));
}

/// Writes sessions of so many turns each for one project where the agent would; gives the folder.
pub fn sessions(folder: &Path, project: &Path, first: u64, count: u64, turns: u64) -> PathBuf {
    for number in first..first + count {
        let mut dice = Dice::new(0x9E37_79B9_7F4A_7C15 ^ (number + 1).wrapping_mul(0xBF58_476D_1CE4_E5B9));
        let mut transcript = Transcript::new(&session_id(number), project);
        for _ in 0..turns {
            turn(&mut transcript, &mut dice);
        }
        transcript.write_to(&folder.join(format!("{}.jsonl", session_id(number))));
    }
    folder.to_owned()
}

/// Writes a file for `throughline import` with so many memories of one project.
pub fn memories(file: &Path, project: &Path, count: usize) {
    let mut dice = Dice::new(0xD6E8_FEB8_6659_FD93);
    let mut lines = String::new();
    for number in 0..count {
        let (part, fault, cure) = (dice.pick(PARTS), dice.pick(FAULTS), dice.pick(CURES));
        let kind = ["decision", "error_fix", "learning"][number % 3];
        let content =
            format!("The {part} {fault} at record {number}: {cure}, as in `src/part_{}/unit_{number}.rs`.", number % 40);
        lines += &(json!({"project": project, "type": kind, "content": content}).to_string() + "\n");
    }
    std::fs::write(file, lines).expect("write the memories");
}

/// Writes a session's transcript of at least this many bytes, with the proportions of a real one: mostly client metadata
/// and tool output, and little conversation. Memory stays bounded; gives the bytes written.
pub fn long_transcript(out: &mut impl Write, project: &Path, session: &str, bytes: u64, seed: u64) -> io::Result<u64> {
    let mut dice = Dice::new(seed);
    let mut written = 0;
    let mut turns = 0;
    let mut transcript = Transcript::new(session, project);
    while written < bytes {
        let before = transcript.text().len();
        turn(&mut transcript, &mut dice);
        let listing = (0..200).fold(String::new(), |text, line| {
            text + &format!("{line:>6}\tlet value_{} = {};\n", dice.below(1000), dice.below(1000))
        });
        transcript.bash("cat src/lib.rs", &listing);
        transcript.noise(8_000);
        let text = &transcript.text()[before..];
        out.write_all(text.as_bytes())?;
        written += text.len() as u64;
        turns += 1;
        if turns % 50 == 0 {
            transcript.forget_text();
        }
    }
    out.flush()?;
    Ok(written)
}
