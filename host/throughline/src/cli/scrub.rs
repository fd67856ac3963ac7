//! `throughline scrub` and `throughline redact`.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::failure::{Done, Failure};
use super::output;
use throughline_engine::hooks::{self, PATIENCE};
use throughline_engine::memory::forgetting;
use throughline_engine::runtime::Runtime;
use throughline_model::project::Project;
use throughline_store::Access;

/// The longest that the redactors may take for some rows, or for one piece.
const PATIENT: Duration = Duration::from_mins(1);

/// How much of standard input goes through the redactors at once, bytes: a policy's memory has an end.
const PIECE: usize = 4 << 20;

/// Pass everything that is stored through the redactors once more
///
/// For new rules, a new version, or secrets that came into the environment later: memories, notes, summaries, states, events
/// and the words of the full-text index lose what the redactors find now. It can be stopped at any time, and repeated.
#[derive(clap::Args)]
pub(super) struct Scrubbing {
    /// Count what would be redacted, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print an object: rows, rules, `dry_run`
    #[arg(long)]
    json: bool,
}

/// Pass standard input through the redactors
///
/// As everything is before it is stored: the values of secret variables, the default redactor with the rules of
/// `redaction.rules`, and the policies in force for the present project.
#[derive(clap::Args)]
pub(super) struct Redaction {
    /// Print how often each rule found something, and not the text
    #[arg(long, value_name = "FORMAT", value_enum)]
    report: Option<Format>,
    /// The project of this folder, instead of the present one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// An object: rules
    Json,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Report {
    /// Rows that changed; none of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    /// By rule, how often it found something.
    rules: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
}

pub(super) fn scrub(arguments: &Scrubbing) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let mut store = runtime.store(Access::Existing, PATIENCE * 4)?;
    // What is still in a journal would come into the store afterwards, as it is.
    hooks::take_journals(&runtime, &mut store)?;
    let mut rules = BTreeMap::new();
    let mut rows = 0;
    for (project, root) in store.projects()? {
        let mut redact = |texts: &mut [String]| add(&mut rules, redacted(&runtime, Path::new(&root), texts)?);
        rows += store.scrub(&project, &mut redact, runtime.now, !arguments.dry_run)?;
    }
    if !arguments.dry_run {
        super::memory::warn_of_copies(store.path())?;
        hooks::minutes::scrub(&runtime)?;
        forgetting::erase(&store, "redacted")?;
        forgetting::make_anew(&runtime, &store, &store.all_projects()?)?;
    }
    runtime.finish();
    let report = Report { rows: Some(rows), rules, dry_run: Some(arguments.dry_run) };
    if arguments.json {
        output::json(&report)?;
        return Ok(Done::Well);
    }
    let mut out = output::stdout();
    let verb = if arguments.dry_run { "would be redacted" } else { "redacted" };
    writeln!(out, "{} {verb}", output::counted(rows, "row", "rows"))?;
    for (rule, times) in &report.rules {
        writeln!(out, "  {} {}", output::pad(&output::clean_line(rule), 32), output::count(*times))?;
    }
    out.flush()?;
    Ok(Done::Well)
}

pub(super) fn redact(arguments: &Redaction) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let folder = super::memory::folder(arguments.project.as_deref())?;
    let root = Project::of(&folder).root;
    runtime.secrets.look_in(&root, &folder);
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(|error| Failure::new(format!("standard input: {error}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut rules = BTreeMap::new();
    let mut cleaned = String::with_capacity(text.len());
    for piece in pieces(&text) {
        let mut texts = [piece.to_owned()];
        add(&mut rules, redacted(&runtime, &root, &mut texts)?)?;
        cleaned.push_str(&texts[0]);
    }
    // Whoever tries a rule must see what is wrong with it.
    let mut told = runtime.log.told();
    told.retain(|line| line.starts_with("WARN") || line.starts_with("ERROR"));
    told.dedup();
    let mut err = anstream::stderr().lock();
    for line in told {
        writeln!(err, "{}", output::clean_line(&line))?;
    }
    drop(err);
    runtime.finish();
    if arguments.report == Some(Format::Json) {
        output::json(&Report { rows: None, rules, dry_run: None })?;
    } else {
        // As it came: what reads it is a program.
        let mut out = io::stdout().lock();
        out.write_all(cleaned.as_bytes())?;
        out.flush()?;
    }
    Ok(Done::Well)
}

fn redacted(runtime: &Runtime, root: &Path, texts: &mut [String]) -> anyhow::Result<BTreeMap<String, u64>> {
    runtime.secrets.look_in(root, root);
    let until = Instant::now() + PATIENT;
    runtime.policies(Some(root))?.work(None, until)?.redact_counting(texts, until)
}

#[expect(clippy::unnecessary_wraps, reason = "so that it can end a closure that may fail")]
fn add(rules: &mut BTreeMap<String, u64>, found: BTreeMap<String, u64>) -> anyhow::Result<()> {
    for (rule, times) in found {
        *rules.entry(rule).or_insert(0) += times;
    }
    Ok(())
}

/// The text in pieces that end with a line, and not within a block of several lines.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > PIECE {
        let window = &rest[..rest.floor_char_boundary(PIECE)];
        let line = window.rfind('\n').map_or(window.len(), |at| at + 1);
        // A private key that ends in the next piece begins there too.
        let block = window.rfind("-----BEGIN").filter(|at| *at > 0 && !window[*at..].contains("-----END"));
        let (piece, after) = rest.split_at(block.unwrap_or(line).min(line));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_whole_and_tear_no_key() {
        let mut text = "a line of text\n".repeat(PIECE / 15 - 2);
        text += "-----BEGIN PRIVATE KEY-----\nabc\ndef\nghi\nabc\ndef\nghi\nabc\n-----END PRIVATE KEY-----\n";
        text += &"behind\n".repeat(PIECE / 7);
        let pieces = pieces(&text);
        assert_eq!(pieces.concat(), text);
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.len() <= PIECE));
        assert!(pieces[1].starts_with("-----BEGIN"));
    }
}
