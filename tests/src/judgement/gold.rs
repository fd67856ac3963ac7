//! Gold: for one real session, the statements that the next agent should get, those that it must not get, and those that
//! later prompts should bring back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::lines_of_prompt;
use super::needles::Needles;
use crate::home::Home;

/// What is wanted of one session, as its file says it.
#[derive(Debug, Deserialize)]
struct File {
    session: String,
    #[serde(default)]
    language: String,
    items: Vec<Item>,
    #[serde(default)]
    traps: Vec<Item>,
    #[serde(default)]
    prompts: Vec<Prompt>,
}

#[derive(Debug, Deserialize)]
struct Item {
    #[serde(default)]
    kind: String,
    text: String,
    #[serde(default)]
    needles: Vec<String>,
    #[serde(default = "one")]
    weight: u32,
}

#[derive(Debug, Deserialize)]
struct Prompt {
    prompt: String,
    needles: Option<Vec<String>>,
}

fn one() -> u32 {
    1
}

/// How much of a weight is told in the startup context, only stored, or only stored in a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// The weight that is wanted.
    pub wanted: u32,
    /// The part that the startup context tells.
    pub told: u32,
    /// The part that only a stored memory says.
    pub stored: u32,
    /// The part that only an archived turn says.
    pub archived: u32,
}

impl Share {
    /// Returns the share that is told, 0 to 1.
    pub fn told(&self) -> f64 {
        if self.wanted == 0 { 0.0 } else { f64::from(self.told) / f64::from(self.wanted) }
    }
}

/// A language model that goes over each session before it is measured.
#[derive(Debug, Clone)]
pub struct Model {
    /// The folder of a built policy with the stage `consolidator`.
    pub policy: PathBuf,
    /// A `config.toml` with `[model]`.
    pub config: PathBuf,
    /// Environment variables that are passed on, such as that of a key.
    pub variables: Vec<String>,
}

/// What the model did and cost.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ModelCost {
    /// Requests that were sent, and requests without an answer.
    pub sent: u64,
    /// See `sent`.
    pub failed: u64,
    /// Statements that the lines that they cite do not say.
    pub unsupported: u64,
    /// Tokens that were read and written.
    pub tokens: u64,
    /// Billionths of a US dollar.
    pub nano_usd: u64,
}

/// What was measured.
#[derive(Debug, Default)]
pub struct Report {
    /// What the model did and cost.
    pub model: ModelCost,
    /// Over all sessions.
    pub all: Share,
    /// By kind.
    pub kinds: BTreeMap<String, Share>,
    /// By language.
    pub languages: BTreeMap<String, Share>,
    /// The number of sessions.
    pub sessions: usize,
    /// The lines that must not be told, and were.
    pub trapped: usize,
    /// The traps there are.
    pub traps: usize,
    /// The lines of the startup contexts that match nothing wanted.
    pub others: usize,
    /// The characters of the startup contexts.
    pub chars: usize,
    /// The prompts that should bring something back.
    pub prompts: usize,
    /// The prompts that did.
    pub answered: usize,
    /// The prompts that should bring nothing.
    pub silent: usize,
    /// The prompts that brought something nevertheless.
    pub spoke: usize,
    /// What is missing or wrong, a line each.
    pub details: Vec<String>,
}

/// Measures the binary under test on all gold files of a folder whose sessions lie below `transcripts`.
pub fn measure(folder: &Path, transcripts: &Path, model: Option<&Model>) -> Result<Report> {
    // The binary runs in a folder of its own.
    let transcripts = &fs::canonicalize(transcripts).with_context(|| format!("cannot find {}", transcripts.display()))?;
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let mut report = Report::default();
    let mut repositories: BTreeMap<PathBuf, Vec<File>> = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file)?;
        let gold: File = serde_json::from_str(&text).with_context(|| format!("{} is no gold file", file.display()))?;
        let transcript = transcripts.join(&gold.session);
        if !transcript.exists() {
            continue;
        }
        measure_session(&gold, &transcript, model, &mut report)?;
        let repository = transcript.parent().unwrap_or(transcripts).to_owned();
        repositories.entry(repository).or_default().push(gold);
    }
    for (repository, golds) in repositories {
        // The output of a model is measured in the context of the next start.
        if model.is_none() {
            measure_prompts(&repository, transcripts, &golds, &mut report)?;
        }
    }
    Ok(report)
}

/// Lets the model go over all sessions of a home.
fn go_over(home: &mut Home, model: &Model, cost: &mut ModelCost) -> Result<()> {
    for name in &model.variables {
        home.set(name, &std::env::var(name).with_context(|| format!("{name} is not set"))?);
    }
    let config = home.throughline().join("config");
    fs::create_dir_all(&config)?;
    fs::copy(&model.config, config.join("config.toml"))
        .with_context(|| format!("cannot copy {}", model.config.display()))?;
    drop(home.run(["policy".as_ref(), "add".as_ref(), "--grant".as_ref(), model.policy.as_os_str()]).success());
    let sessions = home.json(["session", "list", "--all-projects", "--json"]);
    for session in sessions.as_array().into_iter().flatten().filter_map(|session| session["id"].as_str()) {
        let run = home.run(["model", "run", "--session", session, "--json"]);
        let ran: Value = serde_json::from_str(&run.stdout).with_context(|| format!("no model ran: {}", run.stderr))?;
        let number = |name: &str| ran[name].as_u64().unwrap_or(0);
        cost.sent += number("sent");
        cost.failed += number("failed");
        cost.unsupported += number("unsupported");
        cost.tokens += number("input_tokens") + number("output_tokens");
        cost.nano_usd += number("nano_usd");
    }
    Ok(())
}

/// Returns what a page tells, line by line, without its headings. What stands below a line is a part of it.
fn entries(page: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in page.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        match (line.trim_start().strip_prefix('•'), entries.last_mut()) {
            (Some(part), Some(last)) => last.push_str(part),
            _ => entries.push(line.trim().to_owned()),
        }
    }
    entries
}

fn measure_session(gold: &File, transcript: &Path, model: Option<&Model>, report: &mut Report) -> Result<()> {
    let mut home = Home::new();
    drop(home.run(["ingest".as_ref(), transcript.as_os_str()]).success());
    if let Some(model) = model {
        go_over(&mut home, model, &mut report.model)?;
    }
    let stored = memories(&home, &[]);
    let archived = memories(&home, &["--type", "turn"]);
    let payload = json!({"session_id": "00000000-0000-4000-8000-000000000000", "transcript_path": "", "cwd": cwd_of(transcript)?,
        "hook_event_name": "SessionStart", "source": "startup"});
    let told = home.hook(&payload).context.unwrap_or_default();
    let lines = entries(&told);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    report.sessions += 1;
    report.chars += told.chars().count();
    report.details.push(gold.session.clone());
    let mut matched = BTreeSet::new();
    for item in &gold.items {
        let needles = Needles::new(&item.needles)?;
        let hits: Vec<&str> = lines.iter().copied().filter(|line| needles.match_in(line)).collect();
        let shares = [
            &mut report.all,
            report.kinds.entry(item.kind.clone()).or_default(),
            report.languages.entry(gold.language.clone()).or_default(),
        ];
        let state = if !hits.is_empty() {
            "told"
        } else if stored.iter().any(|text| needles.match_in(text)) {
            "stored"
        } else if archived.iter().any(|text| needles.match_in(text)) {
            "archived"
        } else {
            "missing"
        };
        for share in shares {
            share.wanted += item.weight;
            match state {
                "told" => share.told += item.weight,
                "stored" => share.stored += item.weight,
                "archived" => share.archived += item.weight,
                _ => {}
            }
        }
        if hits.is_empty() {
            report.details.push(format!("  {state}: {}: {}", item.kind, item.text));
        }
        matched.extend(hits);
    }
    let traps: Vec<Needles> = gold.traps.iter().map(|trap| Needles::new(&trap.needles)).collect::<Result<_>>()?;
    report.traps += traps.len();
    for line in &lines {
        let claim = claim(line);
        if traps.iter().any(|trap| trap.match_in(claim)) {
            report.trapped += 1;
            report.details.push(format!("  trap: {line}"));
        }
        if !matched.contains(line) && is_statement(claim) {
            report.others += 1;
            report.details.push(format!("  other: {line}"));
        }
    }
    Ok(())
}

/// Returns what a line tells as true: of a request, what came of it. What the user said is only what was said.
fn claim(line: &str) -> &str {
    let is_request = line.starts_with("- Asked: ");
    // The space before the result is the mark that it begins with.
    let result = line.find(" → ").map(|at| &line[at + " →".len()..]);
    if is_request { result.unwrap_or_default() } else { line }
}

/// Returns whether a line of a startup context says something, beside the frame that every context has.
fn is_statement(line: &str) -> bool {
    line.starts_with(|c: char| c == '-' || c == '*' || c == ' ' || c.is_ascii_digit())
        && !["- Date", "- Files", "- Session"].iter().any(|frame| line.starts_with(frame))
}

fn measure_prompts(repository: &Path, transcripts: &Path, golds: &[File], report: &mut Report) -> Result<()> {
    let home = Home::new();
    drop(home.run(["ingest".as_ref(), repository.as_os_str()]).success());
    for gold in golds {
        let cwd = cwd_of(&transcripts.join(&gold.session))?;
        for prompt in &gold.prompts {
            let lines = lines_of_prompt(&home, &cwd, &prompt.prompt, report.prompts + report.silent);
            let needles = Needles::new(prompt.needles.as_deref().unwrap_or_default())?;
            if needles.is_empty() {
                report.silent += 1;
                if let Some(first) = lines.first() {
                    report.spoke += 1;
                    report.details.push(format!("spoke: {:?}: {first}", prompt.prompt));
                }
            } else {
                report.prompts += 1;
                if lines.iter().any(|line| needles.match_in(line)) {
                    report.answered += 1;
                } else {
                    report.details.push(format!("unanswered: {:?}: {lines:#?}", prompt.prompt));
                }
            }
        }
    }
    Ok(())
}

/// Returns the memories as `memory list` shows them, each on one line.
fn memories(home: &Home, options: &[&str]) -> Vec<String> {
    let all = ["memory", "list", "--all-projects", "--limit", "1000", "--json"];
    let list = home.json(all.iter().chain(options));
    let text = |memory: &Value| {
        let words = format!("{} {}", memory["title"].as_str()?, memory["content"].as_str()?);
        Some(words.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    list.as_array().into_iter().flatten().filter_map(text).collect()
}

/// Returns the folder in which a session worked, as its first line that names one says.
fn cwd_of(transcript: &Path) -> Result<PathBuf> {
    let file = fs::File::open(transcript).with_context(|| format!("cannot open {}", transcript.display()))?;
    for line in std::io::BufReader::new(file).split(b'\n') {
        let line: Value = serde_json::from_slice(&line?).unwrap_or_default();
        if let Some(cwd) = line["cwd"].as_str() {
            return Ok(PathBuf::from(cwd));
        }
    }
    Ok(PathBuf::from("/nowhere"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_asked_is_told_as_nothing_more() {
        let claims =
            ["- Asked: is the till red? → It is blue.", "- Asked: paint it", "- Outcome: It is red → blue."].map(claim);
        assert_eq!(claims, [" It is blue.", "", "- Outcome: It is red → blue."]);
        assert_eq!(claims.map(is_statement), [true, false, true]);
    }
}
