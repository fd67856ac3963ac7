//! Measures `throughline memory search` on labelled questions: transcripts are ingested into a home of their own, each
//! question is searched for through the real binary, and it counts at which place the first memory of the right session
//! stands. Beside it stands what the database's own full-text search finds in the sessions' whole text.
//!
//! A question is a line `{"query": …, "session_id": …}`; a `kind`, where it has one, is reported apart. The exit code is 1
//! where fewer are found among the first five than was asked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use rusqlite::Connection;
use serde_json::Value;

/// How many results are asked for; a session that is not among them is not found.
const LIMIT: u32 = 20;

/// Words that the baseline does not search for.
const STOP_WORDS: [&str; 24] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "in", "is", "it", "its", "of", "on", "or",
    "that", "the", "this", "to", "was", "with",
];

/// Measures how often the memory search finds the session that a question is about.
#[derive(Parser)]
struct Arguments {
    /// The binary to measure.
    binary: PathBuf,
    /// Folder of transcripts, named by their sessions.
    transcripts: PathBuf,
    /// The labelled questions, as JSON lines.
    questions: PathBuf,
    /// Least share of the questions to be answered among the first five results.
    #[arg(long, default_value_t = 0.76)]
    min_any5: f64,
    /// How many searches run at once.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Also print the questions that are not answered among the first five.
    #[arg(long)]
    missed: bool,
}

struct Question {
    kind: String,
    query: String,
    session: String,
}

/// Where the right session stood, from 1, and how long the search took.
#[derive(Clone)]
struct Answer {
    rank: Option<usize>,
    took: Duration,
}

fn main() -> Result<ExitCode> {
    let mut arguments = Arguments::parse();
    // The binary runs in another folder.
    for path in [&mut arguments.binary, &mut arguments.transcripts] {
        *path = fs::canonicalize(&*path).with_context(|| format!("cannot find {}", path.display()))?;
    }
    let questions = read_questions(&arguments.questions)?;
    let home = tempfile::tempdir()?;
    let started = Instant::now();
    run(command(&arguments.binary, home.path()).arg("ingest").arg(&arguments.transcripts))?;
    println!("ingested in {:.1} s, database {} KB", started.elapsed().as_secs_f64(), size(home.path())? / 1000);

    let answers = search_all(&arguments, home.path(), &questions)?;
    report("throughline", &questions, &answers);
    report("baseline", &questions, &baseline(&arguments.transcripts, &questions)?);
    if arguments.missed {
        for (question, answer) in questions.iter().zip(&answers).filter(|(_, answer)| !within(answer, 5)) {
            println!("missed ({:?}): {} | {}", answer.rank, question.session, question.query);
        }
    }
    let any5 = share(&answers, 5);
    if any5 < arguments.min_any5 {
        eprintln!("error: any@5 is {any5:.3}, below {:.3}", arguments.min_any5);
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn read_questions(path: &Path) -> Result<Vec<Question>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let questions: Vec<Question> = text
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line)?;
            let field = |name: &str| value[name].as_str().map(str::to_owned);
            Ok(Question {
                kind: field("kind").unwrap_or_default(),
                query: field("query").context("a question without query")?,
                session: field("session_id").context("a question without session_id")?,
            })
        })
        .collect::<Result<_>>()?;
    ensure!(!questions.is_empty(), "no questions in {}", path.display());
    Ok(questions)
}

/// The binary in a home of its own, so that nothing of the user's is read or written.
fn command(binary: &Path, home: &Path) -> Command {
    let mut command = Command::new(binary);
    command.env("THROUGHLINE_HOME", home).env("HOME", home).current_dir(home);
    command
}

fn run(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

/// The bytes of the files in the home.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { size(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

fn search_all(arguments: &Arguments, home: &Path, questions: &[Question]) -> Result<Vec<Answer>> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..arguments.threads.max(1))
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    loop {
                        let n = next.fetch_add(1, Ordering::Relaxed);
                        let Some(question) = questions.get(n) else { return Ok(()) };
                        let answer = search(&arguments.binary, home, question)?;
                        answers.lock().map_err(|_| anyhow::anyhow!("another search failed"))?.insert(n, answer);
                    }
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow::anyhow!("a search panicked"))?)
    })?;
    Ok(answers.into_inner().map_err(|_| anyhow::anyhow!("a search failed"))?.into_values().collect())
}

fn search(binary: &Path, home: &Path, question: &Question) -> Result<Answer> {
    let mut command = command(binary, home);
    command.args(["memory", "search", "--json", "--all-projects", "--limit", &LIMIT.to_string(), "--"]).arg(&question.query);
    let started = Instant::now();
    let output = run(&mut command)?;
    let took = started.elapsed();
    let results: Value = serde_json::from_slice(&output).context("the search printed no JSON")?;
    let results = results.as_array().context("the search printed no array")?;
    ensure!(results.len() <= LIMIT as usize, "more results than were asked for");
    let rank = results.iter().position(|memory| memory["session_id"] == question.session.as_str()).map(|n| n + 1);
    Ok(Answer { rank, took })
}

/// What `porter unicode61` and an OR of the words find over each session's prompts and prose.
fn baseline(transcripts: &Path, questions: &[Question]) -> Result<Vec<Answer>> {
    let db = Connection::open_in_memory()?;
    db.execute_batch("CREATE VIRTUAL TABLE sessions USING fts5 (id UNINDEXED, text, tokenize = 'porter unicode61')")?;
    for entry in fs::read_dir(transcripts)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            db.execute("INSERT INTO sessions VALUES (?1, ?2)", (id, said(&path)?))?;
        }
    }
    let mut select = db.prepare("SELECT id FROM sessions WHERE sessions MATCH ?1 ORDER BY rank LIMIT ?2")?;
    questions
        .iter()
        .map(|question| {
            let started = Instant::now();
            let words = question
                .query
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|word| !word.is_empty() && !STOP_WORDS.contains(&word.to_lowercase().as_str()))
                .map(|word| format!("\"{word}\""))
                .collect::<Vec<_>>()
                .join(" OR ");
            let found = select.query_map((words, LIMIT), |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
            let rank = found.iter().position(|id| *id == question.session).map(|n| n + 1);
            Ok(Answer { rank, took: started.elapsed() })
        })
        .collect()
}

/// All that the human and the agent said in a transcript; not what tools printed.
fn said(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut text = String::new();
    let lines = String::from_utf8_lossy(&bytes);
    for line in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if !matches!(line["type"].as_str(), Some("user" | "assistant")) || line["isMeta"] == true {
            continue;
        }
        match &line["message"]["content"] {
            Value::String(said) => push(&mut text, said),
            Value::Array(blocks) => {
                for block in blocks.iter().filter(|block| block["type"] == "text") {
                    push(&mut text, block["text"].as_str().unwrap_or_default());
                }
            }
            _ => {}
        }
    }
    Ok(text)
}

fn push(text: &mut String, said: &str) {
    text.push_str(said);
    text.push('\n');
}

fn within(answer: &Answer, k: usize) -> bool {
    answer.rank.is_some_and(|rank| rank <= k)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of questions are small")]
fn share(answers: &[Answer], k: usize) -> f64 {
    answers.iter().filter(|answer| within(answer, k)).count() as f64 / answers.len() as f64
}

#[expect(clippy::cast_precision_loss, reason = "ranks and numbers of questions are small")]
fn report(name: &str, questions: &[Question], answers: &[Answer]) {
    let mrr =
        answers.iter().filter_map(|answer| answer.rank).map(|rank| 1.0 / rank as f64).sum::<f64>() / answers.len() as f64;
    let shares = [1, 3, 5, 10].map(|k| format!("any@{k} {:.3}", share(answers, k))).join(", ");
    let mut times: Vec<f64> = answers.iter().map(|answer| answer.took.as_secs_f64() * 1e3).collect();
    times.sort_by(f64::total_cmp);
    let (median, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("{name}: {} questions, {shares}, MRR {mrr:.3}, median {median:.1} ms, p99 {p99:.1} ms", answers.len());
    let mut kinds: BTreeMap<&str, Vec<Answer>> = BTreeMap::new();
    for (question, answer) in questions.iter().zip(answers) {
        kinds.entry(&question.kind).or_default().push(answer.clone());
    }
    if kinds.len() > 1 {
        for (kind, answers) in kinds {
            println!("  {kind}: {}, any@1 {:.3}, any@5 {:.3}", answers.len(), share(&answers, 1), share(&answers, 5));
        }
    }
}
