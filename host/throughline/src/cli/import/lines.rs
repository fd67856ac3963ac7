//! Importing a file of JSON lines.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::{CommandError, Runtime, output};
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::import::{self, FoundBy, ImportFolder, ImportReport};
use throughline_platform::paths;
use throughline_store::Access;

/// The size of the read buffer, bytes.
const BUFFER: usize = 256 << 10;

/// Imports a file of JSON lines and prints the result.
pub(super) fn run(runtime: &Runtime, file: &Path, folder: ImportFolder<'_>, as_json: bool) -> Result<(), CommandError> {
    let (input, bytes) = open(file)?;
    let mut store = runtime.store(Access::Write, STORE_BUSY_TIMEOUT * 4)?;
    let started = Instant::now();
    let bar = progress_bar(bytes);
    let outcome =
        import::run(runtime, &mut store, BufReader::with_capacity(BUFFER, input), folder, |read| bar.set_position(read));
    bar.finish_and_clear();
    runtime.finish();
    let report = outcome?;
    if as_json {
        output::json(&report)?;
    } else {
        print(runtime, &report, started.elapsed())?;
    }
    match report.failed {
        0 => Ok(()),
        failed => Err(CommandError::new(format!("could not import {}", output::counted(failed, "line", "lines"))).hint(
            if failed == report.lines {
                "nothing was stored; the file needs one JSON object per line, or `--from SYSTEM`"
            } else {
                "the other lines are stored; correct these and import the file again"
            },
        )),
    }
}

/// Opens the file. Returns its size as well, if it has one.
fn open(path: &Path) -> Result<(Box<dyn Read>, Option<u64>), CommandError> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin().lock()), None));
    }
    let cannot = |why: &dyn std::fmt::Display| {
        CommandError::new(format!("cannot read {}: {why}", path.display())).hint(
            "name a file with one JSON object per line, or `-` for standard input; `--from SYSTEM` imports from another system",
        )
    };
    let file = File::open(path).map_err(|error| cannot(&error))?;
    let meta = file.metadata().map_err(|error| cannot(&error))?;
    if meta.is_dir() {
        return Err(cannot(&"it is a folder"));
    }
    Ok((Box::new(file), meta.is_file().then_some(meta.len())))
}

fn progress_bar(bytes: Option<u64>) -> ProgressBar {
    let template = match bytes {
        Some(_) => "{bar:30} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}",
        None => "{spinner} {decimal_bytes} {decimal_bytes_per_sec}",
    };
    output::progress_bar(bytes, template)
}

fn print(runtime: &Runtime, report: &ImportReport, took: Duration) -> Result<(), CommandError> {
    let mut err = anstream::stderr().lock();
    let yellow = anstyle::AnsiColor::Yellow.on_default().bold();
    for bad in &report.errors {
        writeln!(err, "{yellow}warning:{yellow:#} line {}: {}", bad.line, output::clean_line(&bad.reason))?;
    }
    let unlisted = report.failed.saturating_sub(report.errors.len() as u64);
    if unlisted > 0 {
        writeln!(err, "{yellow}warning:{yellow:#} and {} more", output::counted(unlisted, "line", "lines"))?;
    }
    let mut out = output::stdout();
    writeln!(
        out,
        "read {}, {}, in {:.1} s",
        output::counted(report.lines, "line", "lines"),
        output::bytes(report.bytes),
        took.as_secs_f64()
    )?;
    super::counts::print_counts(
        &mut out,
        report.memories,
        report.seen_again + report.known,
        report.forgotten,
        report.left_out,
    )?;
    let is_export = !report.projects.is_empty() || report.sessions + report.known_sessions > 0;
    if is_export {
        let known = output::count(report.known_sessions);
        writeln!(out, "{}, {known} known already", output::counted(report.sessions, "new session", "new sessions"))?;
    }
    let shown = |folder: &str| output::clean_line(&paths::display(folder.as_ref(), &runtime.paths.home));
    for it in &report.projects {
        let why = match it.found {
            FoundBy::Path | FoundBy::Nowhere => continue,
            FoundBy::Repository => "the same repository",
            FoundBy::Named => "as you said",
        };
        writeln!(out, "{} is {} here: {why}", output::clean_line(&it.project), shown(&it.here))?;
    }
    let missing: Vec<&str> =
        report.projects.iter().filter(|it| it.found == FoundBy::Nowhere).map(|it| it.project.as_str()).collect();
    for project in &missing {
        writeln!(out, "{} is not on this machine: its memories stay under that path", output::clean_line(project))?;
    }
    if is_export {
        writeln!(out, "an export has no tool calls, failures and timeline; `throughline restore` of a backup brings them")?;
    }
    out.flush()?;
    if !missing.is_empty() {
        let how = "import again in the folder that has its repository, or name its folder with --project";
        writeln!(err, "hint: {how}; until then `--all-projects` finds them")?;
    }
    Ok(())
}
