//! Long git histories, made in one go.

use std::fmt::Write as _;
use std::path::Path;

use crate::bulk::Dice;
use crate::home::Home;
use crate::process::{self, WATCHDOG};

const SUBJECTS: &[&str] = &[
    "Retry the upload of a parcel",
    "Sort the pick list by aisle",
    "Print labels at the dock",
    "Round the weight up",
    "Keep the order of a basket",
    "Close the gate at night",
    "Log who opened the cage",
];

const REASONS: &[&str] = &[
    "The depots lose their line at night, and what was not sent then came back the next day.",
    "Pickers walked twice, because the list was in the order of the baskets.",
    "The office printer was too far away.",
    "Customers complained about a basket that changed while they looked at it.",
    "Nobody knew afterwards who had been there.",
];

/// Gives a new repository in this folder so many commits, each with a subject and a body of its own, one minute apart.
pub fn write(home: &Home, folder: &Path, commits: u32) {
    write_among(home, folder, commits, Vec::new());
}

/// Does the same, with commits of these messages spread among the others.
pub fn write_among(home: &Home, folder: &Path, commits: u32, messages: Vec<String>) {
    let every = commits / u32::try_from(messages.len().max(1)).unwrap_or(u32::MAX);
    let mut messages = messages.into_iter();
    home.git(folder, &["init", "-q", "-b", "main"]);
    let mut dice = Dice::new(11);
    let mut stream = String::new();
    for number in 0..commits {
        let mut message = format!(
            "{} ({number})\n\n{} It is about part {}.",
            dice.pick(SUBJECTS),
            dice.pick(REASONS),
            dice.below(100_000)
        );
        if every > 0 && number % every == every / 2 {
            message = messages.next().unwrap_or(message);
        }
        let at = 1_600_000_000 + u64::from(number) * 60;
        let _ = write!(
            stream,
            "commit refs/heads/main\ncommitter A <a@example.org> {at} +0000\ndata {}\n{message}\nM 644 inline a.txt\ndata {}\n{number}\n\n",
            message.len(),
            number.to_string().len(),
        );
    }
    let mut command = home.isolated("git");
    command.current_dir(folder).args(["fast-import", "--quiet"]);
    drop(process::run(command, stream.into_bytes(), WATCHDOG).success());
    home.git(folder, &["reset", "-q", "--hard"]);
}
