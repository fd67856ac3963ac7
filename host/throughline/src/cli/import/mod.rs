//! `throughline import`: imports memories from another memory system, or from a file of JSON lines.

mod counts;
mod lines;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::environment;
use super::error::CommandError;
use super::output::{self, BOLD, DIM};
use super::scope;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::import::ImportFolder;
use throughline_engine::import::from::{self, NothingFound, PartReport, System, SystemReport};
use throughline_engine::runtime::Runtime;
use throughline_engine::storing;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::{Access, Store, StoreError};

const DETAILS: &str = "\
JSON lines (without --from): each line is a JSON object. Only `content` is
required; unknown fields are ignored.
  content      what to remember, at most 64 KiB
  id           your own identifier, at most 128 bytes; `--json` prints it as
               `external_id`. A line replaces an earlier one with the same id,
               project and session. Of two with the same content one is stored,
               and has both identifiers, in `external_ids`
  project      a folder (absolute, or beginning with . or ~/) or a plain name
               such as `shop`, which `--project shop` then finds; by default the
               project of the current folder, or of --project
  session_id   the session that it is from, at most 128 bytes
  type         such as decision, learning or preference; by default learning
  created_at   milliseconds or seconds since 1970, or RFC 3339; by default now
  title        by default the first line or sentence
  keywords     a list of strings
  files        a list of strings
  importance   0 to 1; by default 0.5
  said_by      who said it: human, agreed (the agent, and the human agreed),
               agent or tool; by default nobody knows. Import lines only from
               somebody whom you believe that
  pinned_at    when you pinned it, and wrong_at when you marked it wrong, in the
               forms of created_at; wrong_because says why
  supersedes   which earlier memories this one replaces: a list of objects
               such as {\"id\": \"17\", \"relation\": \"reverses\"}. The id is that of
               another line, with its session_id if it has one. The relation
               is amends (by default), reverses, refutes, completes, or
               follows, which replaces nothing. With undone_at, the time when
               you undid it, it replaces nothing either
An export also has lines of projects, with project and project_key, and of
sessions, with project and session.

Where each SYSTEM is looked for if no FILE is given:
{places}  markdown, jsonl  nowhere: name a file, or for markdown a folder

What the rows of a SYSTEM become:
  prompts and answers  together one memory of type turn, which searches
                       find and which is never shown unasked
  summaries            session_summary
  sessions             the next session is told of the last one: what was
                       asked, what is done and what is open
  everything else      the type that it has there, if Throughline has that type
                       too; otherwise learning

If the project of a row is only a name, as in claude-mem, the row goes to the
known project whose folder has that name. If there is no such project, or more
than one, it goes to a project of that name (`search --project NAME`).";

/// Returns the last part of the long help.
fn details() -> String {
    let lines = from::ALL.into_iter().flat_map(|system| {
        let names = std::iter::once(system.name).chain(std::iter::repeat(""));
        names.zip(system.places).map(|(name, place)| format!("  {name:<15}  {place}\n"))
    });
    DETAILS.replace("{places}", &lines.collect::<String>())
}

/// The most places to name if nothing was found.
const MAX_PLACES_NAMED: usize = 8;

/// Import memories from JSON lines or another memory system
///
/// Without `--from`, FILE contains one JSON object per line, as `throughline export` writes them; `-` is standard
/// input. A project of an export is recognized by the first commits and the remote of its repository, wherever that is now:
/// in the current folder, right below it, or known already. With `--from`, FILE is the database, file or folder of another
/// system; without FILE, the usual places are searched. That source is read from a copy and never changed; times, sessions
/// and projects are kept.
///
/// Secrets are redacted first, as always. You can stop an import at any time and repeat it: nothing is stored twice. A
/// line or row that cannot be read is reported, and the rest is imported; the exit code is then 1.
#[derive(clap::Args)]
#[command(after_long_help = details())]
pub(super) struct Arguments {
    /// A file of JSON lines or `-`; with --from, the system's database, file or folder
    #[arg(value_name = "FILE", required_unless_present = "from")]
    file: Option<PathBuf>,
    /// The memory system to import from
    #[arg(long, value_parser = source_parser(), value_name = "SYSTEM")]
    from: Option<Source>,
    /// The project of memories that name none, by the path of its folder; by default the current one. For lines of an
    /// export also that of its project, if this is not on this machine
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// With --from: show what would be imported, and store nothing
    #[arg(long)]
    dry_run: bool,
    /// The format of FILE: the old `memory import` had this option
    #[arg(long, value_enum, hide = true, conflicts_with = "from")]
    format: Option<Format>,
    /// Print an object. For JSON lines: lines, bytes, memories, `seen_again`, known, forgotten, `left_out`, sessions,
    /// `known_sessions`, projects, failed, errors. For a system: from, sources, rows, cut, memories, `seen_again`, known,
    /// forgotten, `left_out`, joined, `passed_over`, failed, errors, parts, sessions
    #[arg(long)]
    json: bool,
}

/// A value of `--from`.
#[derive(Clone, Copy)]
enum Source {
    System(&'static System),
    JsonLines,
}

/// Returns the parser of `--from`. The help and the error of an unknown name list all systems.
fn source_parser() -> impl TypedValueParser<Value = Source> {
    const JSON_LINES: &str = "jsonl";
    let system = |system: &&'static System| PossibleValue::new(system.name).help(system.about);
    let json_lines = PossibleValue::new(JSON_LINES).help("The same as without --from");
    PossibleValuesParser::new(from::ALL.iter().map(system).chain([json_lines]))
        .map(|name| from::ALL.into_iter().find(|system| system.name == name).map_or(Source::JsonLines, Source::System))
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// One JSON object per line
    Jsonl,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime()?;
    if !arguments.dry_run {
        storing::check(&runtime)?;
    }
    let Some(Source::System(system)) = arguments.from else { return import_lines(&runtime, arguments) };
    let default = arguments.project.as_deref().map(|folder| scope::folder(Some(folder))).transpose()?;
    // The database is only created if there is something to store.
    let mut store = existing(&runtime)?;
    let sources = sources(&runtime, store.as_ref(), system, arguments)?;
    if !arguments.dry_run {
        store = Some(runtime.store(Access::Write, STORE_BUSY_TIMEOUT * 4)?);
    }
    let started = Instant::now();
    let bar = output::progress_bar(None, "{spinner} {human_pos} rows, {elapsed}");
    let outcome = from::run(&runtime, store.as_mut(), arguments.dry_run, system, &sources, default.as_deref(), |rows| {
        bar.set_position(rows);
    });
    bar.finish_and_clear();
    runtime.finish();
    let moved = outcome?;
    if arguments.json {
        output::json(&moved)?;
    } else {
        print(&moved, started.elapsed())?;
    }
    match moved.failed {
        0 => Ok(ExitCode::SUCCESS),
        failed => {
            Err(CommandError::new(format!("{} could not be read", output::counted(failed, "row or part", "rows or parts")))
                .hint("everything else is stored; correct what you can and import again: nothing is stored twice"))
        }
    }
}

fn import_lines(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let Some(file) = &arguments.file else {
        return Err(CommandError::new("JSON lines have no usual place").hint("name the file, or `-` for standard input"));
    };
    if arguments.dry_run {
        return Err(CommandError::new("JSON lines cannot be imported with --dry-run")
            .hint("to try an import, use another folder: THROUGHLINE_HOME=DIR throughline import …"));
    }
    let default = scope::folder(arguments.project.as_deref())?;
    let folder = ImportFolder { path: &default, is_named: arguments.project.is_some() };
    lines::run(runtime, file, folder, arguments.json)?;
    Ok(ExitCode::SUCCESS)
}

/// Opens the database if there is one.
fn existing(runtime: &Runtime) -> Result<Option<Store>, CommandError> {
    match runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4) {
        Ok(store) => Ok(Some(store)),
        Err(StoreError::Missing(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn sources(
    runtime: &Runtime,
    store: Option<&Store>,
    system: &System,
    arguments: &Arguments,
) -> Result<Vec<PathBuf>, CommandError> {
    let paths = &runtime.paths;
    let named = arguments.file.as_deref().map(std::path::absolute).transpose().map_err(CommandError::new)?;
    if let Some(path) = named.as_deref().filter(|path| !path.exists()) {
        return Err(CommandError::new(format!("{} does not exist", path.display()))
            .hint("name the database, file or folder; without FILE the usual places are searched"));
    }
    if named.is_none() && system.places.is_empty() {
        return Err(CommandError::new(format!("{} has no usual place", system.name)).hint("name a file or a folder"));
    }
    let here = scope::folder(arguments.project.as_deref())?;
    let mut projects = vec![here.clone(), Project::discover(&here).root];
    if let Some(store) = store {
        projects.extend(store.all_projects()?.into_iter().map(|project| project.root).filter(|root| root.is_absolute()));
    }
    from::find(system, named.as_deref(), paths, &projects).map_err(|NothingFound { places }| {
        let mut shown: Vec<String> = places.iter().map(|place| paths::display(place, &paths.home)).collect();
        shown.dedup();
        let more = shown.len().saturating_sub(MAX_PLACES_NAMED);
        shown.truncate(MAX_PLACES_NAMED);
        let more =
            if more > 0 { format!(", and {} more", output::counted(more as u64, "place", "places")) } else { String::new() };
        CommandError::new(format!("found nothing of {} at {}{more}", system.name, shown.join(", ")))
            .hint("name its database, file or folder")
    })
}

fn print(moved: &SystemReport, took: Duration) -> Result<(), CommandError> {
    let mut err = anstream::stderr().lock();
    let yellow = anstyle::AnsiColor::Yellow.on_default().bold();
    for trouble in &moved.errors {
        let (place, reason) = (output::clean_line(&trouble.place), output::clean_line(&trouble.reason));
        writeln!(err, "{yellow}warning:{yellow:#} {place}: {reason}")?;
    }
    let unlisted = moved.failed.saturating_sub(moved.errors.len() as u64);
    if unlisted > 0 {
        writeln!(err, "{yellow}warning:{yellow:#} and {} more", output::count(unlisted))?;
    }
    let mut out = output::stdout();
    print_parts(&mut out, &moved.parts)?;
    let rows = output::counted(moved.rows, "row", "rows");
    let sources = output::counted(moved.sources.len() as u64, "source", "sources");
    if moved.dry_run {
        writeln!(out, "{rows} in {sources}; nothing was stored because this is a dry run")?;
        return Ok(out.flush()?);
    }
    writeln!(out, "read {rows} from {sources} in {:.1} s", took.as_secs_f64())?;
    counts::print_counts(&mut out, moved.memories, moved.seen_again + moved.known, moved.forgotten, moved.left_out)?;
    if moved.sessions > 0 {
        writeln!(out, "{}", output::counted(moved.sessions, "session", "sessions"))?;
    }
    Ok(out.flush()?)
}

/// Prints what each file or table contains and what it becomes.
fn print_parts(out: &mut impl Write, parts: &[PartReport]) -> io::Result<()> {
    let mut source = None;
    let width = parts.iter().map(|part| output::columns(&part.what)).max().unwrap_or(0);
    for part in parts {
        if source != Some(&part.source) {
            writeln!(out, "{BOLD}{}{BOLD:#}", output::clean_line(&part.source))?;
            source = Some(&part.source);
        }
        let mut becomes: Vec<String> =
            part.becomes.iter().map(|(kind, number)| format!("{} {kind}", output::count(*number))).collect();
        if part.joined > 0 {
            becomes.push(format!("{} joined to others", output::count(part.joined)));
        }
        if part.failed > 0 {
            becomes.push(format!("{} cannot be read", output::count(part.failed)));
        }
        let what = output::pad(&output::clean_line(&part.what), width);
        let times = match (part.oldest, part.newest) {
            (Some(oldest), Some(newest)) => format!("  {DIM}{} – {}{DIM:#}", output::date(oldest), output::date(newest)),
            _ => String::new(),
        };
        let line = format!("  {what}  {:>7}  {}{times}", output::count(part.rows), becomes.join(", "));
        writeln!(out, "{}", line.trim_end())?;
        for (why, number) in &part.passed_over {
            writeln!(out, "  {}  {:>7}  {DIM}not imported: {why}{DIM:#}", output::pad("", width), output::count(*number))?;
        }
    }
    Ok(())
}

/// The schema of what the command prints with `--json`.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum Imported {
    /// From another system.
    Moved(SystemReport),
    /// From JSON lines.
    Lines(throughline_engine::import::ImportReport),
}
