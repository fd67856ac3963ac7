//! Measures search from a thousand memories to a million: whole processes with a warm page cache, in a project with half of all
//! memories, in a small one, and in all of them; disk space and import time per memory; whether needles are found; and, with
//! `--viewer`, how soon the viewer paints at the last size.
//!
//! `cargo run --release -p tests --bin growth` after `cargo build --release`; `--most 1000` only shows that it runs. It needs 3 GB
//! of disk for the million.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde_json::{Value, json};
use tests::database;
use tests::growth::memories::{self, NEEDLES, PROJECTS};
use tests::growth::paint::{self, MAX_PAINT};
use tests::growth::plot::{self, Curve};
use tests::growth::questions::{self, KINDS, Question};
use tests::growth::words::Words;
use tests::home::Home;
use tests::measure::{self, milliseconds};
use tests::process;

/// How many memories there are when it is measured.
const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// Of the words, so that all stores are alike.
const SEED: u64 = 20_260_101;

/// What a search may take with a million memories, milliseconds: median and p99 in the large project, median in a small one.
const MAX_LARGE: f64 = 40.0;
const MAX_LARGE_P99: f64 = 120.0;
const MAX_SMALL: f64 = 12.0;

/// What a search of all projects may take, as a multiple of one in the large project.
const MAX_ALL: f64 = 1.5;

/// Searches that warm the caches.
const WARMING: usize = 20;

#[derive(Parser)]
#[command(about = "Measures the search of the built `throughline` in a growing store")]
struct Arguments {
    /// The most memories.
    #[arg(long, default_value_t = 1_000_000)]
    most: u64,
    /// How many projects there are. The first has half of all memories.
    #[arg(long, default_value_t = PROJECTS, value_parser = clap::value_parser!(u64).range(2..))]
    projects: u64,
    /// How many searches are timed in each project.
    #[arg(long, default_value_t = 200)]
    queries: usize,
    /// Also loads the viewer's pages in a browser, at the last size.
    #[arg(long)]
    viewer: bool,
    /// Writes the figures as JSON.
    #[arg(long, value_name = "FILE")]
    figures: Option<PathBuf>,
    /// Draws the picture, such as docs/search-growth.svg.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Writes the memories, as many as --most says, as lines of an import, and measures nothing.
    #[arg(long, value_name = "FILE")]
    lines: Option<PathBuf>,
    /// Draws the picture from the figures of an earlier run, and measures nothing.
    #[arg(long, value_name = "FILE", requires = "plot")]
    from: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    if let (Some(from), Some(plot)) = (&arguments.from, &arguments.plot) {
        let text = fs::read_to_string(from).with_context(|| format!("cannot read {}", from.display()))?;
        draw(plot, &serde_json::from_str(&text).with_context(|| format!("{} is no JSON", from.display()))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let words = Words::new(SEED);
    if let Some(file) = &arguments.lines {
        let out = File::create(file).with_context(|| format!("cannot write {}", file.display()))?;
        memories::write(&words, arguments.projects, 0..arguments.most, &mut BufWriter::new(out))?;
        return Ok(ExitCode::SUCCESS);
    }
    println!("{}", process::throughline().display());
    let home = Home::new();
    let mut stages: Vec<Value> = Vec::new();
    let mut size = 0;
    for wanted in SIZES.into_iter().filter(|wanted| *wanted <= arguments.most) {
        let took = import(&home, &words, arguments.projects, size..wanted)?;
        let stage = stage(&home, &words, &arguments, wanted, took / u32::try_from(wanted - size)?)?;
        tell(&stage);
        stages.push(stage);
        size = wanted;
    }
    ensure!(!stages.is_empty(), "--most is below {}, the least size", SIZES[0]);
    let mut figures = json!({"queries": arguments.queries, "projects": arguments.projects, "stages": stages});
    if arguments.viewer {
        let asked = questions::questions(&words, arguments.projects, size, 0, 2);
        let query = asked.last().context("there is no question")?;
        figures["viewer"] = paint::paints(&home, &query.query)?;
    }
    if let Some(file) = &arguments.figures {
        fs::write(file, serde_json::to_string_pretty(&figures)? + "\n").with_context(|| file.display().to_string())?;
    }
    if let Some(file) = &arguments.plot {
        draw(file, &figures)?;
    }
    Ok(judge(&figures))
}

/// Imports the memories of these numbers. Gives the time of the import, without that of making them.
fn import(home: &Home, words: &Words, projects: u64, numbers: std::ops::Range<u64>) -> Result<Duration> {
    let file = home.path().join("memories.jsonl");
    memories::write(words, projects, numbers, &mut BufWriter::new(File::create(&file)?))?;
    let mut command = home.command(["import"]);
    command.arg(&file);
    let took = measure::time(command, b"");
    fs::remove_file(&file)?;
    Ok(took)
}

/// All that is measured at one size.
fn stage(home: &Home, words: &Words, arguments: &Arguments, size: u64, import: Duration) -> Result<Value> {
    let small = arguments.projects - 1;
    let timed = |of: u64, searched: Option<u64>| {
        let asked = questions::questions(words, arguments.projects, size, of, arguments.queries);
        timed(home, &asked, searched)
    };
    let large = timed(0, Some(0))?;
    let small_ones = timed(small, Some(small))?;
    let all = timed(0, None)?;
    let (any1, any5) = needles(home, words, arguments.projects)?;
    let memories = home.count("memories");
    #[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
    let per_memory = |bytes: u64| bytes as f64 / memories as f64;
    let file = home.database();
    let database = fs::metadata(&file)?.len();
    let sum = |sql: &str| u64::try_from(database::number(&file, sql)).unwrap_or(0);
    let text = sum("SELECT sum(length(CAST(title AS BLOB)) + length(CAST(content AS BLOB))) FROM memories");
    // With what SQLite keeps of a row beside its values, about a byte in fifty.
    let vectors = sum("SELECT (SELECT sum(length(vector)) FROM vectors) + (SELECT sum(length(codes)) FROM vector_codes)");
    Ok(json!({
        "memories": memories,
        "in_large": stored(home, 0),
        "in_small": stored(home, small),
        "large": large,
        "small": small_ones,
        "all": all,
        "import_ms_per_memory": milliseconds(import),
        "database_bytes_per_memory": per_memory(database),
        "text_bytes_per_memory": per_memory(text),
        "vector_bytes_per_memory": per_memory(vectors),
        "times_the_text": per_memory(database.saturating_sub(vectors)) / per_memory(text),
        "needles": {"any@1": any1, "any@5": any5},
    }))
}

fn stored(home: &Home, project: u64) -> u64 {
    let name = memories::project(project);
    home.json(["memory", "stats", "--json", "--project", &name])["memories"].as_u64().unwrap_or_default()
}

/// A search in a project, or in all.
fn search(home: &Home, project: Option<u64>, query: &str) -> Command {
    let name = project.map(memories::project);
    let scope = name.as_ref().map_or(vec!["--all-projects"], |name| vec!["--project", name]);
    let mut command = home.command(["memory", "search", "--json"]);
    command.args(scope).args(["--", query]);
    command
}

/// The times of searches in a project, or in all: median, p99, and the median of each kind of question.
fn timed(home: &Home, asked: &[Question], project: Option<u64>) -> Result<Value> {
    for question in asked.iter().take(WARMING) {
        measure::time(search(home, project, &question.query), b"");
    }
    let mut times: Vec<(&str, Duration)> = Vec::new();
    for question in asked {
        times.push((question.kind, measure::time(search(home, project, &question.query), b"")));
    }
    ensure!(!times.is_empty(), "there are no queries");
    let at = |kind: Option<&str>, percent: usize| {
        let mut own: Vec<Duration> =
            times.iter().filter(|(own, _)| kind.is_none_or(|kind| kind == *own)).map(|(_, time)| *time).collect();
        own.sort_unstable();
        own.get((own.len() * percent / 100).min(own.len().saturating_sub(1))).map(|time| milliseconds(*time))
    };
    let kinds: serde_json::Map<String, Value> =
        KINDS.iter().map(|kind| ((*kind).to_owned(), json!(at(Some(kind), 50)))).collect();
    Ok(json!({"median_ms": at(None, 50), "p99_ms": at(None, 99), "kinds": kinds}))
}

/// Which part of the needles is found first, and among the first five.
fn needles(home: &Home, words: &Words, projects: u64) -> Result<(f64, f64)> {
    let (mut first, mut among) = (0_u32, 0_u32);
    for needle in 0..NEEDLES {
        let memory = memories::memory(words, projects, needle);
        let run = process::run(
            search(home, Some(memory.project), &questions::for_needle(words, needle)),
            Vec::new(),
            process::WATCHDOG,
        );
        let found: Value = serde_json::from_str(&run.success().stdout).context("the search printed no JSON")?;
        let place = found.as_array().and_then(|all| all.iter().position(|it| it["external_id"] == memory.id.as_str()));
        first += u32::from(place == Some(0));
        among += u32::from(place.is_some_and(|place| place < 5));
    }
    let share = |found: u32| f64::from(found) / f64::from(u32::try_from(NEEDLES).unwrap_or(1));
    Ok((share(first), share(among)))
}

fn tell(stage: &Value) {
    let number = |place: &str| stage.pointer(place).and_then(Value::as_f64).unwrap_or_default();
    println!(
        "\n{} memories, {} in the large project, {} in a small one",
        number("/memories"),
        number("/in_large"),
        number("/in_small")
    );
    for (name, place) in [("large", "/large"), ("small", "/small"), ("all", "/all")] {
        let kinds = KINDS.map(|kind| format!("{kind} {:.1}", number(&format!("{place}/kinds/{kind}"))));
        println!(
            "  {name}: median {:.1} ms, p99 {:.1} ms ({})",
            number(&format!("{place}/median_ms")),
            number(&format!("{place}/p99_ms")),
            kinds.join(", ")
        );
    }
    println!(
        "  needles: any@1 {:.2}, any@5 {:.2}; import {:.3} ms; a memory: database {:.0} bytes, vectors {:.0}, title and content {:.0}; \
         the database without vectors is {:.2} times the text",
        number("/needles/any@1"),
        number("/needles/any@5"),
        number("/import_ms_per_memory"),
        number("/database_bytes_per_memory"),
        number("/vector_bytes_per_memory"),
        number("/text_bytes_per_memory"),
        number("/times_the_text")
    );
}

fn draw(file: &Path, figures: &Value) -> Result<()> {
    let stages = figures["stages"].as_array().context("the figures have no stages")?;
    let curve = |name: &str, project: &str, what: &str, dashed, second| {
        let points = stages.iter().filter_map(|it| Some((it["memories"].as_f64()?, it[project][what].as_f64()?))).collect();
        Curve { name: name.into(), points, dashed, second }
    };
    let curves = [
        curve("large project, p99", "large", "p99_ms", true, false),
        curve("large project, median", "large", "median_ms", false, false),
        curve("small project, p99", "small", "p99_ms", true, true),
        curve("small project, median", "small", "median_ms", false, true),
    ];
    let svg = plot::svg("throughline memory search, the whole process", "memories in the store", &curves);
    fs::write(file, svg).with_context(|| format!("cannot write {}", file.display()))
}

/// The limits, which hold for a million memories.
fn judge(figures: &Value) -> ExitCode {
    let last = figures["stages"].as_array().and_then(|stages| stages.last()).unwrap_or(&Value::Null);
    if last["memories"].as_u64().unwrap_or_default() < SIZES[SIZES.len() - 1] {
        return ExitCode::SUCCESS;
    }
    let mut code = ExitCode::SUCCESS;
    let most_of_all = last["large"]["median_ms"].as_f64().unwrap_or_default() * MAX_ALL;
    for (what, value, most) in [
        ("median in all projects", &last["all"]["median_ms"], most_of_all),
        ("median in the large project", &last["large"]["median_ms"], MAX_LARGE),
        ("p99 in the large project", &last["large"]["p99_ms"], MAX_LARGE_P99),
        ("median in a small project", &last["small"]["median_ms"], MAX_SMALL),
    ] {
        let is_kept = value.as_f64().is_some_and(|value| value <= most);
        println!("{what}: {value} ms, limit {most} ms: {}", if is_kept { "ok" } else { "MISSED" });
        if !is_kept {
            code = ExitCode::FAILURE;
        }
    }
    for (page, times) in figures["viewer"].as_object().into_iter().flatten() {
        let is_kept = times["paint"].as_f64().is_some_and(|median| median <= MAX_PAINT);
        println!(
            "viewer, {page}: {times}, limit {MAX_PAINT} ms for the first paint: {}",
            if is_kept { "ok" } else { "MISSED" }
        );
        if !is_kept {
            code = ExitCode::FAILURE;
        }
    }
    code
}
