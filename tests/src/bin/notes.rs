//! How fast notes and a folder of Markdown are brought to agree: notes of varied size, from files into an empty database, from
//! the database into an empty folder, and when nothing changed.
//!
//! `cargo run --release -p tests --bin notes` after `cargo build --release`; `--notes 200` only shows that it runs.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde_json::Value;
use tests::bulk::Dice;
use tests::growth::words::Words;
use tests::home::Home;
use tests::measure;
use tests::process::{self, WATCHDOG};

/// Files a second that a first sync must do at least, and one that finds nothing changed.
const LEAST_FIRST: f64 = 2_000.0;
const LEAST_UNCHANGED: f64 = 20_000.0;

/// So many notes are wanted before the limits hold: starting a process takes its time whatever there is to do.
const JUDGED_FROM: u64 = 10_000;

/// How often a sync that finds nothing changed is timed; the median counts.
const TIMES: usize = 5;

/// Of the words, so that all runs are alike.
const SEED: u64 = 20_260_223;

/// The types of the notes, in turns, with the least and the most words that one has.
const TYPES: [(&str, u64, u64); 5] = [
    ("general", 8, 40),
    ("root-cause", 40, 120),
    ("architecture-decision", 60, 200),
    ("pattern-discovery", 30, 90),
    ("session-summary", 150, 600),
];

#[derive(Parser)]
#[command(about = "Measures `throughline note sync` with many notes")]
struct Arguments {
    /// How many notes there are.
    #[arg(long, default_value_t = JUDGED_FROM)]
    notes: u64,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    println!("{}", process::throughline().display());
    let home = Home::new();
    let project = home.project("notes");
    let (here, there) = (project.join(".gsd/memories"), home.path().join("elsewhere"));
    let bytes = write(&here, arguments.notes)?;
    println!("{} notes, {} bytes each on average", arguments.notes, bytes / arguments.notes.max(1));

    let mut code = ExitCode::SUCCESS;
    let mut tell = |what: &str, took: Duration, least: f64| {
        #[expect(clippy::cast_precision_loss, reason = "thousands")]
        let rate = arguments.notes as f64 / took.as_secs_f64();
        let is_kept = rate >= least || arguments.notes < JUDGED_FROM;
        let verdict = if is_kept { "ok" } else { "MISSED" };
        println!("{what}: {:.0} ms, {rate:.0} files a second, limit {least}: {verdict}", measure::milliseconds(took));
        if !is_kept {
            code = ExitCode::FAILURE;
        }
    };
    tell("files into an empty database", sync(&home, &project, &here, "stored", arguments.notes)?, LEAST_FIRST);
    tell("nothing changed", unchanged(&home, &project, &here, arguments.notes)?, LEAST_UNCHANGED);
    tell("the database into an empty folder", sync(&home, &project, &there, "written", arguments.notes)?, LEAST_FIRST);
    tell("nothing changed there", unchanged(&home, &project, &there, arguments.notes)?, LEAST_UNCHANGED);
    Ok(code)
}

/// Syncs a folder, and sees that all notes were what is said of them. Gives the time of the whole process.
fn sync(home: &Home, project: &Path, folder: &Path, what: &str, notes: u64) -> Result<Duration> {
    let mut command = home.command(["note", "sync", "--json"]);
    command.arg(folder).current_dir(project);
    let run = process::run(command, Vec::new(), WATCHDOG).success();
    let report: Value = serde_json::from_str(&run.stdout).context("the sync printed no JSON")?;
    ensure!(report[what] == notes, "not all of {notes} notes were {what}: {report:#}");
    Ok(run.wall)
}

/// The median time of a sync that finds nothing changed.
fn unchanged(home: &Home, project: &Path, folder: &Path, notes: u64) -> Result<Duration> {
    // Files that were written just before they were looked at are read once more.
    sync(home, project, folder, "unchanged", notes)?;
    let mut times = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        times.push(sync(home, project, folder, "unchanged", notes)?);
    }
    Ok(measure::median(&mut times))
}

/// Writes the notes as files, and gives their bytes.
fn write(folder: &Path, notes: u64) -> Result<u64> {
    let words = Words::new(SEED);
    let mut dice = Dice::new(SEED);
    let mut bytes = 0;
    for (note_type, ..) in TYPES {
        fs::create_dir_all(folder.join(note_type))?;
    }
    for (number, (note_type, least, most)) in (0..notes).zip(TYPES.into_iter().cycle()) {
        let title = format!("{} {number}", text(&words, &mut dice, 5));
        let day = 1 + number % 28;
        let mut note = format!(
            "---\ntitle: \"{title}\"\ntags:\n  - {note_type}\n  - {}\ntype: {note_type}\ncreated: 2026-02-{day:02}T09:56:43Z\n",
            words.english(words.rank(&mut dice))
        );
        let _ = writeln!(note, "keywords:\n  - {}", words.korean(words.rank(&mut dice)));
        let length = least + dice.below(most - least);
        let _ = write!(note, "---\n\n## {title}\n\n{}\n", text(&words, &mut dice, length));
        fs::write(folder.join(note_type).join(format!("2026-02-{day:02}_note-{number}.md")), &note)?;
        bytes += note.len() as u64;
    }
    Ok(bytes)
}

/// So many words, a sentence every dozen, a paragraph every sixty; one in five is Korean.
fn text(words: &Words, dice: &mut Dice, count: u64) -> String {
    let mut text = String::new();
    for place in 0..count {
        if place > 0 {
            text.push_str(match place {
                place if place % 60 == 0 => ".\n\n",
                place if place % 12 == 0 => ". ",
                _ => " ",
            });
        }
        let rank = words.rank(dice);
        text.push_str(if dice.below(5) == 0 { words.korean(rank) } else { words.english(rank) });
    }
    text
}
