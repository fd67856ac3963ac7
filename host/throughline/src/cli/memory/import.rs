//! `throughline memory import`.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Failure, Runtime, Store, output};
use throughline_engine::import::{self, Report};

const FIELDS: &str = "\
Each line is a JSON object; only `content` is required, and fields that are not named here are passed over:
  content      what to remember, at most 64 KiB
  id           your own name of it, at most 128 bytes: `--json` gives it back as `external_id`. A line with the same id,
               project and session takes the place of the one before. Of two with the same content one is stored, and has
               both names, in `external_ids`
  project      a folder (absolute, or beginning with . or ~/), or a plain name such as `shop`, to be searched with
               `--project shop`; without it the project of the present folder, or of --project
  session_id   the session that it is of, at most 128 bytes
  type         such as decision, learning or preference; without it learning
  created_at   milliseconds or seconds since 1970, or RFC 3339; without it now
  title        without it the first line or sentence
  keywords, files     lists of strings
  importance   0 to 1; without it 0.5";

/// How much is read at once, bytes.
const BUFFER: usize = 256 << 10;

/// Import memories that were made elsewhere
///
/// As everything else they lose their secrets first. It can be stopped at any time, and repeating it is safe: what is stored
/// is known again. A line that cannot be used is reported with its number and the others go on; the exit code is then 1.
#[derive(clap::Args)]
#[command(after_long_help = FIELDS)]
pub(super) struct Arguments {
    /// The file; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What the file holds
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// The project of lines that name none: this folder's, instead of the present one's
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print an object: lines, bytes, memories, `seen_again`, known, forgotten, `left_out`, failed, errors
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// A JSON object a line
    Jsonl,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    let Format::Jsonl = arguments.format;
    let default = super::folder(arguments.project.as_deref())?;
    lines(runtime, &mut store, &arguments.file, &default, arguments.json)
}

/// Imports a file of JSON lines and says what became of it.
pub(in crate::cli) fn lines(
    runtime: &Runtime,
    store: &mut Store,
    file: &Path,
    default: &Path,
    as_json: bool,
) -> Result<(), Failure> {
    let (input, bytes) = open(file)?;
    let started = Instant::now();
    let bar = progress_bar(bytes);
    let outcome =
        import::run(runtime, store, BufReader::with_capacity(BUFFER, input), default, |read| bar.set_position(read));
    bar.finish_and_clear();
    runtime.finish();
    let report = outcome?;
    if as_json {
        output::json(&report)?;
    } else {
        tell(&report, started.elapsed())?;
    }
    match report.failed {
        0 => Ok(()),
        failed => {
            let what = if failed == 1 {
                "a line could not be imported".into()
            } else {
                format!("{failed} lines could not be imported")
            };
            Err(Failure::new(what).hint("the others are stored; mend these and import the file again"))
        }
    }
}

/// The input, and its size where it is known.
fn open(path: &Path) -> Result<(Box<dyn Read>, Option<u64>), Failure> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin().lock()), None));
    }
    let cannot = |why: &dyn std::fmt::Display| {
        Failure::new(format!("{} cannot be read: {why}", path.display()))
            .hint("name a file with a JSON object a line, or `-` for standard input")
    };
    let file = File::open(path).map_err(|error| cannot(&error))?;
    let meta = file.metadata().map_err(|error| cannot(&error))?;
    if meta.is_dir() {
        return Err(cannot(&"it is a folder"));
    }
    Ok((Box::new(file), meta.is_file().then_some(meta.len())))
}

fn progress_bar(bytes: Option<u64>) -> ProgressBar {
    let bar = bytes.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    if !io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let template = match bytes {
        Some(_) => "{bar:30} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}",
        None => "{spinner} {decimal_bytes} {decimal_bytes_per_sec}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn tell(report: &Report, took: Duration) -> Result<(), Failure> {
    let mut err = anstream::stderr().lock();
    let yellow = anstyle::AnsiColor::Yellow.on_default().bold();
    for bad in &report.errors {
        writeln!(err, "{yellow}warning:{yellow:#} line {}: {}", bad.line, output::clean_line(&bad.reason))?;
    }
    let untold = report.failed.saturating_sub(report.errors.len() as u64);
    if untold > 0 {
        writeln!(err, "{yellow}warning:{yellow:#} and {} more", output::counted(untold, "line", "lines"))?;
    }
    let mut out = output::stdout();
    writeln!(
        out,
        "{} read: {}, in {:.1} s",
        output::counted(report.lines, "line", "lines"),
        output::bytes(report.bytes),
        took.as_secs_f64()
    )?;
    writeln!(
        out,
        "{}, {} seen again",
        output::counted(report.memories, "new memory", "new memories"),
        output::count(report.seen_again + report.known)
    )?;
    for (number, what) in [
        (report.forgotten, "was deleted for good before and stays so"),
        (report.left_out, "is paused, left out or of a time that was forgotten"),
    ] {
        if number > 0 {
            writeln!(out, "{}: what {what}", output::counted(number, "line", "lines"))?;
        }
    }
    Ok(out.flush()?)
}
