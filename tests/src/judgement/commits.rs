//! Decisions that stand only in commit messages, among other commits; and prompts that ask for them.

use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use super::conversations::read;
use super::lines_of_prompt;
use super::needles::Needles;
use crate::commits;
use crate::home::{Home, run_in};

#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    language: String,
    subject: String,
    body: String,
    prompt: String,
    literals: Vec<String>,
}

/// What was measured.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The decisions.
    pub decisions: usize,
    /// The literals of all decisions.
    pub literals: usize,
    /// The literals that the prompts brought back before the history was read.
    pub told_before: usize,
    /// Those that they brought back afterwards.
    pub told: usize,
    /// The decisions of which every literal came back.
    pub whole: usize,
    /// What is missing, a line each.
    pub details: Vec<String>,
}

/// Measures the binary under test on `decisions.jsonl` in a folder, among so many other commits.
pub fn measure(folder: &Path, others: u32) -> Result<Report> {
    let cases: Vec<Case> = read(&folder.join("decisions.jsonl"))?;
    let home = Home::new();
    let project = home.work().join("product");
    std::fs::create_dir_all(&project)?;
    let messages = cases.iter().map(|case| format!("{}\n\n{}", case.subject, case.body)).collect();
    commits::write_among(&home, &project, others, messages);
    let ask = |at: usize, case: &Case| lines_of_prompt(&home, &project, &case.prompt, at);
    let mut report = Report { decisions: cases.len(), ..Report::default() };
    for (at, case) in cases.iter().enumerate() {
        report.told_before += Needles::new(&case.literals)?.count_in(&ask(at, case));
    }
    drop(run_in(&home, &project, &["ingest", "--git"]).success());
    for (at, case) in cases.iter().enumerate() {
        let lines = ask(cases.len() + at, case);
        let literals = Needles::new(&case.literals)?;
        let told = literals.count_in(&lines);
        report.literals += literals.len();
        report.told += told;
        report.whole += usize::from(told == literals.len());
        if told < literals.len() {
            report.details.push(format!("{} ({}): {told} of {}: {lines:#?}", case.id, case.language, literals.len()));
        }
    }
    Ok(report)
}
