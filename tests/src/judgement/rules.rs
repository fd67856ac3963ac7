//! Rules that were settled in a conversation, or amended in a later one, among conversations about the same parts that
//! settle nothing; and prompts that speak in symptoms weeks later.

use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use super::chains::is_doubted;
use super::conversations::{Conversation, read, write};
use super::lines_of_prompt;
use super::needles::Needles;
use crate::home::Home;

#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    language: String,
    conversations: Vec<Conversation>,
    prompt: String,
    literals: Vec<String>,
    #[serde(default)]
    stale: Vec<String>,
}

/// What was measured.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The literals of all rules.
    pub literals: usize,
    /// The literals that the prompts brought back.
    pub told: usize,
    /// The literals of the rules that were amended later.
    pub amended: usize,
    /// Those that the prompts brought back.
    pub amended_told: usize,
    /// The rules.
    pub rules: usize,
    /// The rules of which every literal came back.
    pub whole: usize,
    /// The rules that are told only as what a later memory may have changed.
    pub doubted: usize,
    /// The prompts that have nothing to do with the project.
    pub silent: usize,
    /// Those that brought something back nevertheless.
    pub spoke: usize,
    /// What is missing or wrong, a line each.
    pub details: Vec<String>,
}

/// Measures the binary under test on a set: `NAME.jsonl`, `NAME_decoys.jsonl` and `NAME_silent.jsonl` in a folder.
pub fn measure(folder: &Path, name: &str) -> Result<Report> {
    let cases: Vec<Case> = read(&folder.join(format!("{name}.jsonl")))?;
    let decoys: Vec<Conversation> = read(&folder.join(format!("{name}_decoys.jsonl")))?;
    let silent: Vec<String> = read(&folder.join(format!("{name}_silent.jsonl")))?;
    let home = Home::new();
    let project = home.project("product");
    let mut number = 0;
    let all = cases.iter().flat_map(|case| &case.conversations).chain(&decoys);
    for conversation in all {
        number += 1;
        drop(write(&home, &project, conversation, number));
    }
    drop(home.run(["ingest".as_ref(), home.projects().as_os_str()]).success());
    let mut report = Report::default();
    for (at, case) in cases.iter().enumerate() {
        let lines = lines_of_prompt(&home, &project, &case.prompt, at);
        let literals = Needles::new(&case.literals)?;
        let told = literals.count_in(&lines);
        report.rules += 1;
        report.literals += literals.len();
        report.told += told;
        report.whole += usize::from(told == literals.len());
        report.doubted += usize::from(is_doubted(&literals, &lines));
        if !case.stale.is_empty() {
            report.amended += literals.len();
            report.amended_told += told;
        }
        if told < literals.len() {
            let (id, language) = (&case.id, &case.language);
            report.details.push(format!("{id} ({language}): {told} of {}: {lines:#?}", literals.len()));
        }
    }
    for (at, prompt) in silent.iter().enumerate() {
        let lines = lines_of_prompt(&home, &project, prompt, cases.len() + at);
        report.silent += 1;
        if let Some(first) = lines.first() {
            report.spoke += 1;
            report.details.push(format!("spoke: {prompt:?}: {first}"));
        }
    }
    Ok(report)
}
