//! `throughline memory reindex`: rebuilds the search index.

use std::io::Write;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use serde::Serialize;

use crate::cli::error::CommandError;
use crate::cli::output;
use throughline_engine::reindex::{self, ReindexProgress, ReindexReport};
use throughline_engine::runtime::Runtime;
use throughline_store::Store;

/// Rebuild the search index if needed, and add missing vectors
///
/// Rebuilds the index if another version of this program made it, or if the configuration names another embedding
/// model, and adds missing vectors. Searches and sessions can go on meanwhile. You can stop the command at any time; it
/// then continues where it stopped. The same happens in the background when sessions start.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Rebuild the index even if it is current
    #[arg(long)]
    force: bool,
    /// Print an object: remade (memories; null if the index was not rebuilt), embedded, model, unembedded, failure
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Reindexed<'a> {
    remade: Option<u64>,
    embedded: u64,
    model: &'a str,
    unembedded: u64,
    failure: Option<String>,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let started = Instant::now();
    let bar = progress_bar(store.memory_count()?, store.unembedded()?);
    let outcome = reindex::run(runtime, &mut store, arguments.force, None, &mut |progress| {
        let (what, count) = match progress {
            ReindexProgress::Rebuilding(count) => ("index", count),
            ReindexProgress::Embedding(count) => ("vectors", count),
        };
        bar.set_message(what);
        bar.set_position(count);
    });
    bar.finish_and_clear();
    runtime.finish();
    let Some(report) = outcome? else {
        return Err(
            CommandError::new("another process is rebuilding the index").hint("wait until it is done; searches still work")
        );
    };
    if arguments.json {
        output::json(&Reindexed {
            remade: report.remade,
            embedded: report.embedded,
            model: &report.model,
            unembedded: report.unembedded,
            failure: report.failure.as_ref().map(ToString::to_string),
        })?;
    } else {
        print(&report, started.elapsed())?;
    }
    match report.failure {
        None => Ok(()),
        Some(failure) => Err(CommandError::new(failure.to_string())
            .hint(format!("{}; nothing is lost, and the rebuild continues with the next session", failure.hint))),
    }
}

fn progress_bar(memories: u64, unembedded: u64) -> ProgressBar {
    let template = "{bar:30} {human_pos}/{human_len} {per_sec} {eta} {wide_msg}";
    output::progress_bar(Some(memories.max(unembedded)), template)
}

fn print(report: &ReindexReport, took: Duration) -> Result<(), CommandError> {
    let mut out = output::stdout();
    if let Some(remade) = report.remade {
        writeln!(
            out,
            "rebuilt the index: {} in {:.1} s, with vectors of {}",
            output::counted(remade, "memory", "memories"),
            took.as_secs_f64(),
            report.model
        )?;
    }
    if report.embedded > 0 {
        writeln!(out, "added missing vectors to {}", output::counted(report.embedded, "memory", "memories"))?;
    }
    if report.unembedded > 0 {
        writeln!(out, "{} without vectors", output::counted(report.unembedded, "memory is left", "memories are left"))?;
    }
    if report.remade.is_none() && report.embedded == 0 && report.unembedded == 0 && report.failure.is_none() {
        writeln!(out, "nothing to do: the index is current, with vectors of {}", report.model)?;
    }
    Ok(out.flush()?)
}
