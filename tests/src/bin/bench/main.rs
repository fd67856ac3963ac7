//! How long the hooks take, as the user feels it: whole processes, next to `sqlite3` and `node` on the same machine at the
//! same time. How fast existing transcripts are read, and how much memory that takes.
//!
//! `cargo run --release -p tests --bin bench` after `cargo build --release`; `--smoke` only shows that everything runs.

mod floor;
mod hooks;
mod load;
mod memories;
mod reading;
mod sessions;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use tests::measure;
use tests::process;

use crate::table::Table;

#[derive(Parser)]
#[command(about = "Measures the hooks and the ingestion of the built `throughline`")]
struct Arguments {
    /// Few rounds and small inputs; the exit code does not tell of the limits.
    #[arg(long)]
    smoke: bool,
    /// Rounds that medians are taken of.
    #[arg(long)]
    rounds: Option<usize>,
    /// MiB of the transcript whose ingestion's memory is measured.
    #[arg(long)]
    long_mib: Option<u64>,
    /// A folder of real transcripts for the rate of ingestion, instead of generated ones.
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Only this part; may be repeated.
    #[arg(long, value_parser = PossibleValuesParser::new(PARTS))]
    only: Vec<String>,
}

/// The parts, in their order.
const PARTS: [&str; 14] = [
    "hooks",
    "loop",
    "at-once",
    "load",
    "long-session",
    "policies",
    "flush",
    "startup",
    "prompt",
    "cited-files",
    "history",
    "ingest",
    "guest",
    "ingest-memory",
];

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == measure::PEAK_WORD) {
        measure::stand_between(std::env::args_os().skip(2));
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::parse();
    let rounds = arguments.rounds.unwrap_or(if arguments.smoke { 5 } else { 41 });
    let mut table = Table { failed: 0 };
    println!("{}", process::throughline().display());
    for part in PARTS.into_iter().filter(|part| arguments.only.is_empty() || arguments.only.iter().any(|it| it == part)) {
        measure_part(&mut table, part, rounds, &arguments);
    }
    if table.failed == 0 {
        println!("all limits are kept");
    } else {
        println!("{} limits are missed", table.failed);
    }
    if table.failed == 0 || arguments.smoke { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn measure_part(table: &mut Table, part: &str, rounds: usize, arguments: &Arguments) {
    let smoke = arguments.smoke;
    match part {
        "hooks" => hooks::hooks(table, rounds),
        "loop" => hooks::in_the_loop(table, rounds),
        "at-once" => load::at_once(table, rounds.min(15)),
        "load" => load::side_by_side(table, Duration::from_secs(if smoke { 3 } else { 60 })),
        "long-session" => load::a_long_session(table, if smoke { 300 } else { 10_000 }),
        "policies" => hooks::policies(table, rounds),
        "flush" => hooks::long_flush(table, rounds),
        "startup" => memories::many_memories(table, rounds, smoke),
        "prompt" => memories::search_among_many(table, rounds, smoke),
        "cited-files" => memories::cited_files(table, rounds, smoke),
        "history" => reading::history(table, smoke),
        "ingest" => reading::ingest_rate(table, arguments.corpus.as_deref(), smoke),
        "guest" => reading::guest(table, arguments.corpus.as_deref(), smoke),
        "ingest-memory" => reading::ingest_memory(table, arguments.long_mib.unwrap_or(if smoke { 50 } else { 1024 })),
        other => unreachable!("{other} is not one of the parts"),
    }
}
