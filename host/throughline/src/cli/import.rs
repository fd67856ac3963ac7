//! `throughline import --from SYSTEM`: moving in from a system that remembered before.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::failure::{Done, Failure};
use super::memory;
use super::output::{self, BOLD, DIM};
use throughline_engine::hooks::PATIENCE;
use throughline_engine::import::from::{self, Moved, Nothing, Part, System};
use throughline_engine::runtime::Runtime;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::{Access, Store, StoreError};

const PLACES: &str = "\
Where each is looked for when no PATH is given:
  jikime-mem       ~/.jikime-mem/jikime-mem.db and ~/.jikime-mem/projects/*/jikime-mem.db
  jikime-adk       .jikime/memory/ in this project and in all that are known
  claude-mem       ~/.claude-mem/claude-mem.db
  openclaw         ~/.openclaw/*.sqlite and ~/.openclaw/memory/*.sqlite
  memory-keeper    ~/.claude/memory-keeper/, and .crabshell/memory/ in this project and in all that are known
  session-context  .claude/session-context.json in this project and in all that are known
  markdown, jsonl  nowhere: name a file, or for markdown a folder

What its rows become:
  prompts and answers  one memory of type turn together: found by a search, and never shown unasked
  summaries            session_summary
  all else             the type that it has there, where this program has it too; or learning

Rows of a project that is only a name, as claude-mem has them, are of the known project whose folder has that name; where
there is none, or several, of a project that is that name (`memory search --project NAME`).";

/// The most places that are named where nothing was found.
const MOST_PLACES: usize = 8;

/// Move in from another memory: jikime-mem, claude-mem, jikime-adk, openclaw, memory-keeper, or files
///
/// The source is read from a copy and never changed. As everything else its texts lose their secrets first. Times,
/// sessions and projects are kept. It can be stopped at any time, and repeating it is safe: what is stored is known again.
/// What cannot be read is reported with its place and the rest goes on; the exit code is then 1.
#[derive(clap::Args)]
#[command(after_long_help = PLACES)]
pub(super) struct Arguments {
    /// The system that remembered before
    #[arg(long, value_enum, value_name = "SYSTEM")]
    from: Source,
    /// Its database, file or folder, instead of the usual places
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// The project of what names none: this folder's
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Show what would come, and store nothing
    #[arg(long)]
    dry_run: bool,
    /// Print an object: from, sources, rows, cut, memories, `seen_again`, known, forgotten, `left_out`, joined, `passed_over`, failed,
    /// errors, parts
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Source {
    /// All versions to 1.5.4
    JikimeMem,
    /// The memory of jikime-adk 0.5 to 0.9.2
    JikimeAdk,
    /// Its schema 23 and what is like it
    ClaudeMem,
    /// The index of its Markdown memory, and the files themselves where they are there
    Openclaw,
    /// Version 3, and Crabshell
    MemoryKeeper,
    /// `.claude/session-context.json`, version 2
    SessionContext,
    /// Files with or without YAML front matter
    Markdown,
    /// The same as `memory import`
    Jsonl,
}

impl Source {
    /// None: JSON lines.
    fn system(self) -> Option<System> {
        Some(match self {
            Self::JikimeMem => System::JikimeMem,
            Self::JikimeAdk => System::JikimeAdk,
            Self::ClaudeMem => System::ClaudeMem,
            Self::Openclaw => System::OpenClaw,
            Self::MemoryKeeper => System::MemoryKeeper,
            Self::SessionContext => System::SessionContext,
            Self::Markdown => System::Markdown,
            Self::Jsonl => return None,
        })
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let Some(system) = arguments.from.system() else { return lines(&runtime, arguments) };
    let default = arguments.project.as_deref().map(|folder| memory::folder(Some(folder))).transpose()?;
    // Only what there is to store makes a database.
    let mut store = existing(&runtime)?;
    let sources = sources(&runtime, store.as_ref(), system, arguments)?;
    if !arguments.dry_run {
        store = Some(runtime.store(Access::Write, PATIENCE * 4)?);
    }
    let started = Instant::now();
    let bar = progress_bar();
    let outcome = from::run(&runtime, store.as_mut(), arguments.dry_run, system, &sources, default.as_deref(), |rows| {
        bar.set_position(rows);
    });
    bar.finish_and_clear();
    runtime.finish();
    let moved = outcome?;
    if arguments.json {
        output::json(&moved)?;
    } else {
        tell(&moved, started.elapsed())?;
    }
    match moved.failed {
        0 => Ok(Done::Well),
        failed => {
            Err(Failure::new(format!("{} could not be read", output::counted(failed, "row or part", "rows or parts")))
                .hint("all else is there; what can be mended can be imported again, and nothing comes twice"))
        }
    }
}

/// JSON lines, by the same way as `memory import`.
fn lines(runtime: &Runtime, arguments: &Arguments) -> Result<Done, Failure> {
    let Some(file) = &arguments.path else {
        return Err(Failure::new("JSON lines have no usual place").hint("name the file, or `-` for standard input"));
    };
    if arguments.dry_run {
        return Err(Failure::new("--dry-run is not there for JSON lines")
            .hint("a file can be imported into another folder: THROUGHLINE_HOME=DIR throughline import …"));
    }
    if file != Path::new("-") && !file.exists() {
        return Err(missing(file));
    }
    let default = memory::folder(arguments.project.as_deref())?;
    let mut store = runtime.store(Access::Write, PATIENCE * 4)?;
    memory::import::lines(runtime, &mut store, file, &default, arguments.json)?;
    Ok(Done::Well)
}

fn missing(path: &Path) -> Failure {
    Failure::new(format!("{} is not there", path.display()))
        .hint("name the database, file or folder; without a PATH the usual places are looked at")
}

/// The store, where there is one.
fn existing(runtime: &Runtime) -> Result<Option<Store>, Failure> {
    match runtime.store(Access::Existing, PATIENCE * 4) {
        Ok(store) => Ok(Some(store)),
        Err(StoreError::Missing(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn sources(
    runtime: &Runtime,
    store: Option<&Store>,
    system: System,
    arguments: &Arguments,
) -> Result<Vec<PathBuf>, Failure> {
    let paths = &runtime.paths;
    let named = arguments.path.as_deref().map(std::path::absolute).transpose().map_err(Failure::new)?;
    if let Some(path) = named.as_deref().filter(|path| !path.exists()) {
        return Err(missing(path));
    }
    if named.is_none() && system == System::Markdown {
        return Err(Failure::new("Markdown has no usual place").hint("name a file or a folder"));
    }
    let here = memory::folder(arguments.project.as_deref())?;
    let mut projects = vec![here.clone(), Project::of(&here).root];
    if let Some(store) = store {
        projects.extend(store.all_projects()?.into_iter().map(|project| project.root).filter(|root| root.is_absolute()));
    }
    from::find(system, named.as_deref(), paths, &projects).map_err(|Nothing { places }| {
        let mut shown: Vec<String> = places.iter().map(|place| paths::display(place, &paths.home)).collect();
        shown.dedup();
        let more = shown.len().saturating_sub(MOST_PLACES);
        shown.truncate(MOST_PLACES);
        let more =
            if more > 0 { format!(", and {} more", output::counted(more as u64, "place", "places")) } else { String::new() };
        Failure::new(format!("nothing of {} was found at {}{more}", system.name(), shown.join(", ")))
            .hint("name its database, file or folder")
    })
}

fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if !io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{spinner} {human_pos} rows, {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn tell(moved: &Moved, took: Duration) -> Result<(), Failure> {
    let mut err = anstream::stderr().lock();
    let yellow = anstyle::AnsiColor::Yellow.on_default().bold();
    for trouble in &moved.errors {
        let (place, reason) = (output::clean_line(&trouble.place), output::clean_line(&trouble.reason));
        writeln!(err, "{yellow}warning:{yellow:#} {place}: {reason}")?;
    }
    let untold = moved.failed.saturating_sub(moved.errors.len() as u64);
    if untold > 0 {
        writeln!(err, "{yellow}warning:{yellow:#} and {} more", output::count(untold))?;
    }
    let mut out = output::stdout();
    table(&mut out, &moved.parts)?;
    let rows = output::counted(moved.rows, "row", "rows");
    let sources = output::counted(moved.sources.len() as u64, "source", "sources");
    if moved.dry_run {
        writeln!(out, "{rows} in {sources}; nothing was stored, because this is a dry run")?;
        return Ok(out.flush()?);
    }
    writeln!(out, "{rows} read from {sources}, in {:.1} s", took.as_secs_f64())?;
    writeln!(
        out,
        "{}, {} seen again",
        output::counted(moved.memories, "new memory", "new memories"),
        output::count(moved.seen_again + moved.known)
    )?;
    for (number, what) in [
        (moved.forgotten, "was deleted for good before and stays so"),
        (moved.left_out, "is paused, left out or of a time that was forgotten"),
    ] {
        if number > 0 {
            writeln!(out, "{}: what {what}", output::counted(number, "memory", "memories"))?;
        }
    }
    Ok(out.flush()?)
}

/// What each file and table holds and what it makes.
fn table(out: &mut impl Write, parts: &[Part]) -> io::Result<()> {
    let mut source = None;
    let width = parts.iter().map(|part| output::columns(&part.what)).max().unwrap_or(0);
    for part in parts {
        if source != Some(&part.source) {
            writeln!(out, "{BOLD}{}{BOLD:#}", output::clean_line(&part.source))?;
            source = Some(&part.source);
        }
        let mut told: Vec<String> =
            part.becomes.iter().map(|(kind, number)| format!("{} {kind}", output::count(*number))).collect();
        if part.joined > 0 {
            told.push(format!("{} joined to others", output::count(part.joined)));
        }
        if part.failed > 0 {
            told.push(format!("{} cannot be read", output::count(part.failed)));
        }
        let what = output::pad(&output::clean_line(&part.what), width);
        let times = match (part.oldest, part.newest) {
            (Some(oldest), Some(newest)) => format!("  {DIM}{} – {}{DIM:#}", output::date(oldest), output::date(newest)),
            _ => String::new(),
        };
        let line = format!("  {what}  {:>7}  {}{times}", output::count(part.rows), told.join(", "));
        writeln!(out, "{}", line.trim_end())?;
        for (why, number) in &part.passed_over {
            writeln!(out, "  {}  {:>7}  {DIM}no memory: {why}{DIM:#}", output::pad("", width), output::count(*number))?;
        }
    }
    Ok(())
}
