//! `throughline memory reindex`.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::{Failure, Runtime, Store, output};
use throughline_engine::reindex::{self, Progress, Report};

/// Make the index anew where it has to be, and the vectors that are missing
///
/// What memories are found by is made anew where another version of this program made it, or where the configuration wants
/// vectors of another model; memories whose vectors are missing get them. Searches and sessions go on meanwhile. It can be
/// stopped at any time and goes on where it was; without it, the same is done in the background when sessions start.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Make it anew though it is as it should be
    #[arg(long)]
    force: bool,
    /// Print an object: remade (memories; null where the index was not made anew), embedded, model, unembedded, failure
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Done<'a> {
    remade: Option<u64>,
    embedded: u64,
    model: &'a str,
    unembedded: u64,
    failure: Option<String>,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    let started = Instant::now();
    let bar = progress_bar(store.memory_count()?, store.unembedded()?);
    let outcome = reindex::run(runtime, &mut store, arguments.force, None, &mut |progress| {
        let (what, count) = match progress {
            Progress::Remaking(count) => ("index", count),
            Progress::Embedding(count) => ("vectors", count),
        };
        bar.set_message(what);
        bar.set_position(count);
    });
    bar.finish_and_clear();
    runtime.finish();
    let Some(report) = outcome? else {
        return Err(Failure::new("another process is making the index anew").hint("wait until it is done; searches go on"));
    };
    if arguments.json {
        output::json(&Done {
            remade: report.remade,
            embedded: report.embedded,
            model: &report.model,
            unembedded: report.unembedded,
            failure: report.failure.as_ref().map(ToString::to_string),
        })?;
    } else {
        tell(&report, started.elapsed())?;
    }
    match report.failure {
        None => Ok(()),
        Some(failure) => Err(Failure::new(failure.to_string())
            .hint(format!("{}; nothing is lost, and it goes on with the next session", failure.hint))),
    }
}

fn progress_bar(memories: u64, unembedded: u64) -> ProgressBar {
    let bar = ProgressBar::new(memories.max(unembedded));
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {human_pos}/{human_len} {per_sec} {eta} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn tell(report: &Report, took: Duration) -> Result<(), Failure> {
    let mut out = output::stdout();
    if let Some(remade) = report.remade {
        writeln!(
            out,
            "the index was made anew: {} in {:.1} s, vectors of {}",
            output::counted(remade, "memory", "memories"),
            took.as_secs_f64(),
            report.model
        )?;
    }
    if report.embedded > 0 {
        writeln!(out, "{} got the vectors that were missing", output::counted(report.embedded, "memory", "memories"))?;
    }
    if report.unembedded > 0 {
        writeln!(out, "{} without vectors", output::counted(report.unembedded, "memory is still", "memories are still"))?;
    }
    if report.remade.is_none() && report.embedded == 0 && report.unembedded == 0 && report.failure.is_none() {
        writeln!(out, "nothing to do: the index is as it should be, with vectors of {}", report.model)?;
    }
    Ok(out.flush()?)
}
