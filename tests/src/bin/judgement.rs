//! Measures what the memory tells beside what readers wanted to be told. The exit code is 1 if less is reached than the
//! options ask for.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};
use tests::judgement::gold::Share;
use tests::judgement::{chains, commits, gold, rules};

/// Measures what the memory tells. `THROUGHLINE_BIN` names the binary; without it, the one built beside this program.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    set: Set,
    /// Also print what is missing or wrong
    #[arg(long, short, global = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Set {
    /// Real sessions, each with what a reader wanted to be told
    Gold {
        /// Folder of gold files
        folder: PathBuf,
        /// Folder of their transcripts
        transcripts: PathBuf,
        /// The least share of the wanted weight that the startup context tells
        #[arg(long, default_value_t = 0.0)]
        min_told: f64,
        /// The most traps shown
        #[arg(long, default_value_t = usize::MAX)]
        max_traps: usize,
        /// The least share of the prompts that are answered
        #[arg(long, default_value_t = 0.0)]
        min_answered: f64,
        /// The most prompts at which the hook speaks though it should be silent
        #[arg(long, default_value_t = usize::MAX)]
        max_spoke: usize,
    },
    /// Real sessions, told by the rules alone and after a language model went over them: what is told, traps, and what a session costs
    ///
    /// To record the replies of your model, set `record` under `[model]` in CONFIG. To measure again without it, set the provider
    /// "recorded" with the same folder.
    Model {
        /// Folder of gold files
        folder: PathBuf,
        /// Folder of their transcripts
        transcripts: PathBuf,
        /// A `config.toml` with `[model]`
        #[arg(long)]
        config: PathBuf,
        /// Folder of the built policy
        #[arg(long, default_value = "policies/model-summaries/dist/model-summaries")]
        policy: PathBuf,
        /// Pass this environment variable on, such as that of a key; may be repeated
        #[arg(long, value_name = "NAME")]
        env: Vec<String>,
        /// The least share of the wanted weight that is told after the model went over the sessions
        #[arg(long, default_value_t = 0.0)]
        min_told: f64,
        /// The most traps shown then
        #[arg(long, default_value_t = usize::MAX)]
        max_traps: usize,
        /// The most requests without an answer
        #[arg(long, default_value_t = u64::MAX)]
        max_failed: u64,
    },
    /// Rules settled in conversations
    Rules {
        /// Folder of the set
        folder: PathBuf,
        /// Name of the set: its files are NAME.jsonl, `NAME_decoys.jsonl` and `NAME_silent.jsonl`
        name: String,
        /// The least share of the rules' literals that the prompts bring back
        #[arg(long, default_value_t = 0.0)]
        min_told: f64,
        /// The most unrelated prompts at which the hook speaks
        #[arg(long, default_value_t = usize::MAX)]
        max_spoke: usize,
    },
    /// Decisions that stand only in commit messages
    Commits {
        /// Folder of the set: its file is decisions.jsonl
        folder: PathBuf,
        /// How many other commits there are
        #[arg(long, default_value_t = 1_000)]
        others: u32,
        /// The least share of the decisions' literals that the prompts bring back
        #[arg(long, default_value_t = 0.0)]
        min_told: f64,
    },
    /// What later conversations changed, and look-alikes that changed nothing
    Chains {
        /// Folder of the set
        folder: PathBuf,
        /// Name of the set: its file is NAME.jsonl
        name: String,
        /// The least number of changes that are linked
        #[arg(long, default_value_t = 0)]
        min_linked: usize,
        /// The most pairs of conversations that are linked although the earlier one holds
        #[arg(long, default_value_t = usize::MAX)]
        max_false: usize,
        /// The least share of searches in which what holds now comes first
        #[arg(long, default_value_t = 0.0)]
        min_first: f64,
        /// The most prompts that bring back what no longer holds as if it did
        #[arg(long, default_value_t = usize::MAX)]
        max_stale: usize,
    },
}

fn print_commits(report: &commits::Report) {
    println!(
        "{} decisions: {:.2} of the literals told ({:.2} before the history was read), {} decisions whole",
        report.decisions,
        share(report.told, report.literals),
        share(report.told_before, report.literals),
        report.whole
    );
}

fn print_rules(report: &rules::Report) {
    println!(
        "{} rules: {:.2} of the literals told ({:.2} where the rule was amended), {} rules whole; {} told as earlier only; spoke at {} of \
         {} unrelated prompts",
        report.rules,
        share(report.told, report.literals),
        share(report.amended_told, report.amended),
        report.whole,
        report.doubted,
        report.spoke,
        report.silent
    );
}

fn main() -> Result<ExitCode> {
    let Arguments { set, verbose } = Arguments::parse();
    let mut missed = Vec::new();
    let mut require = |holds: bool, what: &str| {
        if !holds {
            missed.push(what.to_owned());
        }
    };
    let details = match set {
        Set::Gold { folder, transcripts, min_told, max_traps, min_answered, max_spoke } => {
            let report = gold::measure(&folder, &transcripts, None)?;
            for (name, share) in report.kinds.iter().chain(&report.languages) {
                println!("  {name:12} {}", describe(share));
            }
            println!("  all          {}", describe(&report.all));
            let sessions = report.sessions.max(1);
            println!(
                "{} sessions: {} of {} traps shown, {:.2} lines a session match nothing wanted, {} characters a session; \
                 prompts answered {} of {}, spoke at {} of {} where silence is wanted",
                report.sessions,
                report.trapped,
                report.traps,
                share(report.others, sessions),
                report.chars / sessions,
                report.answered,
                report.prompts,
                report.spoke,
                report.silent
            );
            require(report.all.told() >= min_told, "less is told");
            require(report.trapped <= max_traps, "more traps are shown");
            require(share(report.answered, report.prompts) >= min_answered, "fewer prompts are answered");
            require(report.spoke <= max_spoke, "the hook speaks more often where it should be silent");
            report.details
        }
        Set::Model { folder, transcripts, config, policy, env, min_told, max_traps, max_failed } => {
            let model = gold::Model {
                policy: std::fs::canonicalize(&policy).with_context(|| format!("{} is not built", policy.display()))?,
                config,
                variables: env,
            };
            let report = compare(&folder, &transcripts, &model)?;
            require(report.all.told() >= min_told, "less is told");
            require(report.trapped <= max_traps, "more traps are shown");
            require(report.model.failed <= max_failed, "more requests have no answer");
            report.details
        }
        Set::Chains { folder, name, min_linked, max_false, min_first, max_stale } => {
            let report = chains::measure(&folder, &name)?;
            println!(
                "{} of {} changes linked, {} as the right relation; {} of {} look-alikes and {} other pairs linked although the \
                 earlier one holds; what holds comes first in {} of {} searches; prompts bring back {:.2} of what holds, and {} \
                 of {} bring back what no longer holds; of the look-alikes {:.2}, and a search finds first what holds in {} of {}; {} \
                 prompts tell what holds as earlier only",
                report.linked,
                report.changes,
                report.right,
                report.false_links,
                report.look_alikes,
                report.strange_links,
                report.first,
                report.changes,
                share(report.told, report.literals),
                report.stale,
                report.changes,
                share(report.kept_told, report.kept_literals),
                report.kept_first,
                report.look_alikes,
                report.doubted,
            );
            require(report.linked >= min_linked, "fewer changes are linked");
            require(report.false_links + report.strange_links <= max_false, "more is linked falsely");
            require(share(report.first, report.changes) >= min_first, "what holds comes first less often");
            require(report.stale <= max_stale, "more of what no longer holds is told");
            report.details
        }
        Set::Commits { folder, others, min_told } => {
            let report = commits::measure(&folder, others)?;
            print_commits(&report);
            require(share(report.told, report.literals) >= min_told, "less is told");
            report.details
        }
        Set::Rules { folder, name, min_told, max_spoke } => {
            let report = rules::measure(&folder, &name)?;
            print_rules(&report);
            require(share(report.told, report.literals) >= min_told, "less is told");
            require(report.spoke <= max_spoke, "the hook speaks more often where it should be silent");
            report.details
        }
    };
    if verbose {
        for line in details {
            println!("{line}");
        }
    }
    for what in &missed {
        eprintln!("error: {what} than is required");
    }
    Ok(if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints what is told by the rules alone and after the model went over each session, and what that cost.
fn compare(folder: &Path, transcripts: &Path, model: &gold::Model) -> Result<gold::Report> {
    let rules = gold::measure(folder, transcripts, None)?;
    let with_model = gold::measure(folder, transcripts, Some(model))?;
    let sessions = with_model.sessions.max(1);
    let row = |name: &str, report: &gold::Report| {
        println!(
            "{name:6}  told {:.3}  stored {:.3}  traps {}/{}  {:.2} other lines a session  {} characters a session",
            report.all.told(),
            f64::from(report.all.told + report.all.stored) / f64::from(report.all.wanted.max(1)),
            report.trapped,
            report.traps,
            share(report.others, sessions),
            report.chars / sessions,
        );
    };
    row("rules", &rules);
    row("model", &with_model);
    let cost = with_model.model;
    let per_session = sessions as u64;
    println!(
        "{sessions} sessions: {} requests, {} without an answer, {} unsupported statements; {} tokens and ${}.{:06} a session",
        cost.sent,
        cost.failed,
        cost.unsupported,
        cost.tokens / per_session,
        cost.nano_usd / per_session / 1_000_000_000,
        cost.nano_usd / per_session % 1_000_000_000 / 1_000
    );
    Ok(with_model)
}

fn describe(it: &Share) -> String {
    let of = |part: u32| if it.wanted == 0 { 0.0 } else { f64::from(part) / f64::from(it.wanted) };
    format!(
        "weight {:4} told {:.2} only stored {:.2} only in a turn {:.2}",
        it.wanted,
        it.told(),
        of(it.stored),
        of(it.archived)
    )
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}
