//! `throughline ingest`: reads existing transcripts.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::failure::{Done, Failure};
use super::output;
use throughline_engine::hooks::PATIENCE;
use throughline_engine::ingest::{self, FileReport, Report, Source};
use throughline_engine::runtime::Runtime;
use throughline_platform::paths;
use throughline_store::Access;

/// Read existing transcripts into memory
///
/// Takes files, and folders with everything below them that ends in .jsonl; without a path, all that the agents have kept:
/// Claude Code (~/.claude/projects), Codex (~/.codex/sessions), Gemini CLI (~/.gemini/tmp), Copilot CLI
/// (~/.copilot/session-state) and droid (~/.factory/sessions). Links inside of a folder are not followed. What was read before is not read again: it can be
/// stopped at any time, and repeating it is safe. A session belongs to the project of the folder that its lines name.
///
/// A transcript that cannot be read is reported and the others go on. The exit code is 1 where all of them failed, or one
/// that was named.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Transcripts, or folders of them
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Print the outcome of each file, and the totals, as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let (sources, failed) = find(&runtime, &arguments.paths)?;
    let started = Instant::now();
    let mut store = runtime.store(Access::Write, PATIENCE * 4)?;
    let bar = progress_bar(&sources);
    let mut begun = 0;
    let outcome = ingest::run(&runtime, &mut store, &sources, |source| {
        bar.set_position(begun);
        begun += source.bytes;
        let name = source.path.file_name().unwrap_or_default().to_string_lossy();
        bar.set_message(output::clean_line(&name));
    });
    bar.finish_and_clear();
    runtime.finish();
    let report = outcome?.with(failed);
    if arguments.json {
        output::json(&report)?;
    } else {
        tell(&runtime, &report, started.elapsed())?;
    }
    if !report.failed() {
        return Ok(Done::Well);
    }
    Err(Failure::new(match report.totals.failed {
        1 => "a transcript could not be read".to_owned(),
        n => format!("{n} transcripts could not be read"),
    })
    .hint("what was read is stored; run it again for the others when they are mended"))
}

fn find(runtime: &Runtime, paths: &[PathBuf]) -> Result<(Vec<Source>, Vec<FileReport>), Failure> {
    let own = runtime.paths.transcripts();
    if !paths.is_empty() {
        return Ok(ingest::sources_of(paths, &own));
    }
    let there: Vec<PathBuf> = own.iter().filter(|folder| folder.is_dir()).cloned().collect();
    if there.is_empty() {
        let folder = runtime.paths.claude_projects();
        return Err(Failure::new(format!("there are no transcripts at {}, nor another agent's", folder.display()))
            .hint("name the folder or the files, or set CLAUDE_CONFIG_DIR"));
    }
    Ok(ingest::sources_of(&there, &own))
}

fn progress_bar(sources: &[Source]) -> ProgressBar {
    let bar = ProgressBar::new(sources.iter().map(|source| source.bytes).sum());
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template(
        "{bar:30} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta} {wide_msg}",
    ) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn tell(runtime: &Runtime, report: &Report, took: Duration) -> Result<(), Failure> {
    let mut err = anstream::stderr().lock();
    let yellow = anstyle::AnsiColor::Yellow.on_default().bold();
    for file in &report.files {
        if let Some(error) = &file.error {
            writeln!(
                err,
                "{yellow}warning:{yellow:#} {}: {}",
                output::clean_line(&paths::display(file.path.as_ref(), &runtime.paths.home)),
                output::clean_line(error)
            )?;
        }
    }
    let totals = &report.totals;
    let mut out = output::stdout();
    writeln!(
        out,
        "{} read: {} and {} that were new, in {:.1} s",
        output::counted(totals.files, "transcript", "transcripts"),
        output::bytes(totals.bytes),
        output::counted(totals.lines, "line", "lines"),
        took.as_secs_f64()
    )?;
    writeln!(
        out,
        "{}, {} seen again",
        output::counted(totals.memories, "new memory", "new memories"),
        output::count(totals.seen_again)
    )?;
    for (number, what) in [(totals.malformed, "could not be parsed"), (totals.oversized, "were too long")] {
        if number > 0 {
            writeln!(out, "{} {what} and were passed over", output::counted(number, "line", "lines"))?;
        }
    }
    Ok(out.flush()?)
}
