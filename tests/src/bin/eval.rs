//! Measures `throughline memory search` on labelled questions, through the real binary in a home of its own, beside what
//! the database's own full-text search finds in the same documents in the same run.
//!
//! Sets: JSON lines of anybody's (`jsonl`), transcripts with questions about their sessions, and the files of `DevMemBench`,
//! `LoCoMo`, REALTALK, `LongMemEval`, `CoSQA`, KLUE-NLI and replay sets, which the user supplies. The exit code is 1 where fewer questions are answered among
//! the first five results than was asked for.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use tests::eval::adapters::{self, Grain};
use tests::eval::floor::{self, Split};
use tests::eval::report::{self, Row};
use tests::eval::run::Filled;
use tests::eval::{Answer, Measures, Set};

/// The profiles of the search that an ablation compares, beside its default: words and vectors alone, the memory system's design, and
/// the default without one of its steps.
const PROFILES: [&str; 7] = ["text", "vector", "seed", "without-prior", "without-session", "without-names", "without-links"];

/// What `transcripts` wants where nothing else is said.
const LEAST_OF_TRANSCRIPTS: f64 = 0.76;

/// Measures how well the memory search answers labelled questions.
#[derive(Parser)]
struct Arguments {
    /// The binary to measure.
    binary: PathBuf,
    #[command(subcommand)]
    set: Which,
    #[command(flatten)]
    options: Options,
}

#[derive(Args)]
#[command(next_help_heading = "Options of all sets")]
struct Options {
    /// Least share of the questions to be answered among the first five results
    #[arg(long, global = true, value_name = "SHARE")]
    min_any5: Option<f64>,
    /// How many searches run at once
    #[arg(long, global = true, default_value_t = 2)]
    threads: usize,
    /// Only so many questions, spread over the set
    #[arg(long, global = true, value_name = "N")]
    most: Option<usize>,
    /// Also search with text only, with vectors only, as the seed says, and without one step of the ranking each
    #[arg(long, global = true)]
    ablations: bool,
    /// Also print the questions that are not answered among the first five
    #[arg(long, global = true)]
    missed: bool,
    /// Print an object a line instead of a table
    #[arg(long, global = true)]
    json: bool,
    /// Write the set to this folder as documents.jsonl and queries.jsonl, and measure nothing
    #[arg(long, global = true, value_name = "DIR")]
    export: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Which {
    /// Documents and queries as JSON lines
    Jsonl {
        /// Lines of `import`, with ids
        #[arg(long)]
        documents: PathBuf,
        /// Lines of {query, relevant: a list of ids or {id: grade}, kind?, project?, filters?, forbidden?}
        #[arg(long)]
        queries: PathBuf,
    },
    /// Transcripts, named by their sessions, and lines of {`query`, `session_id`, kind?}
    Transcripts {
        /// Folder of transcripts
        transcripts: PathBuf,
        /// The questions
        questions: PathBuf,
    },
    /// `DevMemBench`: a folder with sessions.json and questions.json
    Devmembench {
        /// The folder
        folder: PathBuf,
        /// What is imported as one memory
        #[arg(long, value_enum, default_value_t = Grain::Session)]
        grain: Grain,
    },
    /// `LoCoMo`: a file such as locomo10.json
    Locomo {
        /// The file
        file: PathBuf,
    },
    /// REALTALK: its folder of chats
    Realtalk {
        /// The folder
        folder: PathBuf,
    },
    /// `CoSQA`: what people searched for, answered by functions
    Cosqa {
        /// A file such as cosqa-retrieval-dev-500.json
        queries: PathBuf,
        /// The file that numbers the functions
        functions: PathBuf,
    },
    /// KLUE-NLI: Korean sentences that ask for paragraphs
    KlueNli {
        /// A file such as klue-nli-v1.1_dev.json
        file: PathBuf,
        /// How many sentences a paragraph has
        #[arg(long, default_value_t = 4)]
        sentences: usize,
    },
    /// `LongMemEval`: a file such as `longmemeval_s.json`
    Longmemeval {
        /// The file
        file: PathBuf,
        /// What is imported as one memory
        #[arg(long, value_enum, default_value_t = Grain::Session)]
        grain: Grain,
    },
    /// Replay sets: files with memories and graded queries
    Replay {
        /// The files, each a project
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

impl Which {
    fn read(&self) -> Result<Set> {
        match self {
            Self::Jsonl { documents, queries } => Set::jsonl(documents, queries),
            Self::Transcripts { transcripts, questions } => Set::transcripts(transcripts, questions),
            Self::Devmembench { folder, grain } => adapters::devmembench(folder, *grain),
            Self::Locomo { file } => adapters::locomo(file),
            Self::Realtalk { folder } => adapters::realtalk(folder),
            Self::Cosqa { queries, functions } => adapters::cosqa(queries, functions),
            Self::KlueNli { file, sentences } => adapters::klue_nli(file, *sentences),
            Self::Longmemeval { file, grain } => adapters::longmemeval(file, *grain),
            Self::Replay { files } => adapters::replay(files),
        }
    }
}

fn main() -> Result<ExitCode> {
    let Arguments { binary, set: which, options } = Arguments::parse();
    let mut set = which.read()?;
    if let Some(folder) = &options.export {
        set.write(folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(most) = options.most.filter(|most| *most < set.questions.len()) {
        let all = set.questions.len();
        let mut number = 0;
        // The first of each of `most` equal parts.
        set.questions.retain(|_| {
            number += 1;
            (number - 1) * most % all < most
        });
    }
    let filled = Filled::new(&binary, &set)?;
    if !options.json {
        let (documents, seconds) = (filled.documents, filled.took.as_secs_f64());
        let kilobytes = filled.bytes / 1000;
        println!("{}: {documents} documents stored in {seconds:.1} s, database {kilobytes} KB", set.name);
    }
    let answers = filled.answers(&set, None, options.threads)?;
    let mut rows = vec![Row::new("default", &set, &answers)];
    if options.ablations {
        for profile in PROFILES {
            if filled.has_profile(profile)? {
                let answers = filled.answers(&set, Some(profile), options.threads)?;
                rows.push(Row::new(profile, &set, &answers));
            } else {
                eprintln!("this binary's search has no profile {profile}");
            }
        }
    }
    rows.push(Row::new("floor: FTS5 porter", &set, &floor::answers(&set, Split::Porter)?));
    if floor::has_pairs(&set) {
        rows.push(Row::new("floor: FTS5 pairs", &set, &floor::answers(&set, Split::Pairs)?));
    }
    if options.json {
        for row in &rows {
            println!("{}", row.json(&set.name));
        }
    } else {
        print!("{}", report::table(&rows));
    }
    if options.missed {
        tell_missed(&set, &answers);
    }
    let least =
        options.min_any5.unwrap_or(if matches!(which, Which::Transcripts { .. }) { LEAST_OF_TRANSCRIPTS } else { 0.0 });
    let any5 = rows[0].measures.any[2];
    if any5 < least {
        eprintln!("error: any@5 is {any5:.3}, below {least:.3}");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn tell_missed(set: &Set, answers: &[Answer]) {
    for (question, answer) in set.questions.iter().zip(answers).filter(|(question, _)| !question.relevant.is_empty()) {
        if Measures::of(&answer.ranking, &question.relevant).any[2] == 0.0 {
            let place = answer.ranking.iter().position(|label| question.relevant.contains_key(label)).map(|at| at + 1);
            let wanted: Vec<&str> = question.relevant.keys().map(String::as_str).collect();
            println!("missed ({place:?}): {} | {}", wanted.join(" "), question.query);
        }
    }
}
