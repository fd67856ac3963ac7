//! `throughline memory …`: searches, shows, changes and deletes what is stored.

mod compress;
mod delete;
mod forget;
mod gc;
mod list;
mod reindex;
mod save;
mod search;
mod share;
mod show;
mod stats;
mod unforget;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

pub(in crate::cli) use search::Arguments as SearchArguments;

use super::error::CommandError;
use super::output::{self, BOLD, DIM};
use throughline_engine::backup;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::runtime::Runtime;
use throughline_engine::targets;
use throughline_model::contract::Memory;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::{Access, EXTERNAL_ID, MemoryRecord, SHARED_FROM, Store};

/// Search, list, show, save, share and delete memories
///
/// A memory belongs to a project: a git repository, whose worktrees share one memory, or else a folder. Unless an
/// option says otherwise, the commands are about the project of the current folder.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Search(search::Arguments),
    List(list::Arguments),
    Show(show::Arguments),
    Save(save::Arguments),
    Delete(delete::Arguments),
    Forget(forget::Arguments),
    Unforget(unforget::Arguments),
    Stats(stats::Arguments),
    Gc(gc::Arguments),
    Compress(compress::Arguments),
    Decompress(compress::DecompressArguments),
    Reindex(reindex::Arguments),
    Share(share::Arguments),
    Unshare(share::UnshareArguments),
    SuggestShared(share::SuggestArguments),
}

pub(super) fn run(arguments: Arguments) -> Result<ExitCode, CommandError> {
    let runtime = match arguments.command {
        Command::Search(_) | Command::List(_) | Command::Show(_) | Command::Stats(_) | Command::SuggestShared(_) => {
            super::runtime_for_reading()?
        }
        _ => super::runtime()?,
    };
    // Saving is the only command here that creates the database if there is none.
    let access = if matches!(arguments.command, Command::Save(_)) { Access::Write } else { Access::Existing };
    let store = runtime.store(access, STORE_BUSY_TIMEOUT * 4)?;
    match arguments.command {
        Command::Search(arguments) => search::run(&runtime, &store, &arguments),
        Command::List(arguments) => list::run(&runtime, &store, &arguments),
        Command::Show(arguments) => show::run(&runtime, &store, &arguments),
        Command::Save(arguments) => save::run(&runtime, store, &arguments),
        Command::Delete(arguments) => delete::run(&runtime, store, &arguments),
        Command::Forget(arguments) => forget::run(&runtime, store, &arguments),
        Command::Unforget(arguments) => unforget::run(&runtime, store, &arguments),
        Command::Stats(arguments) => stats::run(&runtime, &store, &arguments),
        Command::Gc(arguments) => gc::run(&runtime, store, &arguments),
        Command::Compress(arguments) => compress::compress(&runtime, store, &arguments),
        Command::Decompress(arguments) => compress::decompress(&runtime, store, &arguments),
        Command::Reindex(arguments) => reindex::run(&runtime, store, &arguments),
        Command::Share(arguments) => share::share(&runtime, store, &arguments),
        Command::Unshare(arguments) => share::unshare(&runtime, store, &arguments),
        Command::SuggestShared(arguments) => share::suggest(&runtime, &store, &arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// `throughline search`, which is `throughline memory search`.
pub(super) fn search(arguments: &SearchArguments) -> Result<ExitCode, CommandError> {
    let runtime = super::runtime_for_reading()?;
    let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4)?;
    search::run(&runtime, &store, arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// Warns that copies which a restore or a repair kept may still contain what was just deleted.
pub(in crate::cli) fn warn_of_copies(store: &Path) -> Result<(), CommandError> {
    let mut err = anstream::stderr().lock();
    for kept in backup::previous_databases(store) {
        writeln!(
            err,
            "warning: the older copy {} may still contain what you deleted; delete that file when you no longer need it",
            kept.display()
        )?;
    }
    Ok(())
}

/// The projects that a command is about.
#[derive(Args)]
pub(super) struct Scope {
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR", conflicts_with = "all_projects")]
    project: Option<PathBuf>,
    /// Use all projects
    #[arg(long)]
    all_projects: bool,
}

impl Scope {
    /// Returns the project; none for all projects.
    pub(super) fn project(&self, runtime: &Runtime) -> Result<Option<Project>, CommandError> {
        if self.all_projects {
            return Ok(None);
        }
        Ok(Some(targets::find_project(runtime, self.project.as_deref())?))
    }
}

/// The options that restrict which memories are searched or listed.
#[derive(Args)]
struct Restriction {
    #[command(flatten)]
    scope: Scope,
    /// Only memories of this session; the beginning of its identifier is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only these types, such as decision, preference or `error_fix`, or types of notes such as root-cause; can be
    /// repeated
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,
}

/// Returns `folder`, by default the current folder, as an absolute path.
pub(in crate::cli) fn folder(folder: Option<&Path>) -> Result<PathBuf, CommandError> {
    std::path::absolute(folder.unwrap_or(Path::new("."))).map_err(|error| {
        CommandError::new(format!("cannot find out the current folder: {error}"))
            .hint("change to a folder that exists, or use --project DIR or --all-projects")
    })
}

/// A memory as printed with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Entry<'a> {
    id: &'a str,
    /// The identifier that an imported memory had in its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<&'a str>,
    /// All such identifiers, if there are several: of two memories with the same content only one is stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    external_ids: Vec<&'a str>,
    #[serde(rename = "type")]
    kind: &'a str,
    title: &'a str,
    content: &'a str,
    /// 0 to 1 for the result of a search, else 0.
    score: f32,
    session_id: &'a str,
    /// The root folder of its project.
    project: &'a str,
    /// RFC 3339, UTC.
    created_at: String,
    files: &'a [String],
    keywords: &'a [String],
    /// 0 to 1.
    importance: f32,
    /// In how many places it was learned.
    seen: u32,
}

impl<'a> Entry<'a> {
    fn new(memory: &'a Memory, project: &'a str) -> Self {
        let names = memory.attributes.iter().filter(|(key, _)| key == EXTERNAL_ID).map(|(_, name)| name.as_str());
        let external_ids: Vec<&str> = names.collect();
        Self {
            id: &memory.id,
            external_id: external_ids.first().copied(),
            external_ids: if external_ids.len() > 1 { external_ids } else { Vec::new() },
            kind: &memory.kind,
            title: &memory.title,
            content: &memory.content,
            score: memory.score,
            session_id: &memory.session_id,
            project,
            created_at: output::timestamp(memory.created),
            files: &memory.files,
            keywords: &memory.keywords,
            importance: memory.importance,
            seen: memory.seen,
        }
    }
}

/// Prints the memories as JSON.
fn write_json(store: &Store, memories: &[Memory]) -> Result<(), CommandError> {
    let roots = store.project_roots(memories)?;
    let entries: Vec<Entry<'_>> = memories.iter().zip(&roots).map(|(memory, root)| Entry::new(memory, root)).collect();
    output::json(&entries)
}

/// The columns of [`write_table`].
#[derive(Clone, Copy, Default)]
struct TableOptions {
    /// Print the project of each memory.
    projects: bool,
    /// Print the first lines of the content.
    excerpts: bool,
}

/// The columns before the title: identifier, type and age, with the gaps between them.
const BEFORE_TITLE: usize = 12 + 2 + 15 + 2 + 9 + 2;

/// The most columns of a line of an excerpt.
const MAX_EXCERPT: usize = 110;

/// Prints the memories for people, one line each; below each line its details, if there are any, and an excerpt.
fn write_table(
    runtime: &Runtime,
    store: &Store,
    memories: &[Memory],
    options: TableOptions,
    details: &[Vec<String>],
) -> Result<(), CommandError> {
    let mut projects = Vec::new();
    if options.projects {
        let roots = store.project_roots(memories)?;
        projects.extend(roots.iter().map(|root| output::clean_line(&paths::display(root.as_ref(), &runtime.paths.home))));
    }
    let width = output::width();
    let mut out = output::stdout();
    for (index, memory) in memories.iter().enumerate() {
        let style = output::kind_style(&memory.kind);
        let project = projects.get(index).map_or("", String::as_str);
        let title = output::clean_line(&memory.title);
        let title = match width {
            Some(width) => output::fit(&title, width.saturating_sub(BEFORE_TITLE + 2 + output::columns(project)).max(20)),
            None => title,
        };
        writeln!(
            out,
            "{DIM}{}{DIM:#}  {style}{}{style:#}  {DIM}{}{DIM:#}  {BOLD}{title}{BOLD:#}{}{DIM}{project}{DIM:#}",
            output::pad(&output::clean_line(&memory.id), 12),
            output::pad(&output::clean_line(&memory.kind), 15),
            output::pad(&output::ago(memory.created, runtime.now), 9),
            if project.is_empty() { "" } else { "  " },
        )?;
        for line in details.get(index).into_iter().flatten() {
            writeln!(out, "    {DIM}{line}{DIM:#}")?;
        }
        if !options.excerpts {
            continue;
        }
        let most = width.map_or(MAX_EXCERPT, |width| width.saturating_sub(6).clamp(20, MAX_EXCERPT));
        for line in excerpt(memory) {
            writeln!(out, "    {}", output::fit(&line, most))?;
        }
        if !memory.files.is_empty() {
            let files = memory.files[..memory.files.len().min(4)].join(", ");
            writeln!(out, "    {DIM}{}{DIM:#}", output::clean_line(&files))?;
        }
    }
    Ok(out.flush()?)
}

/// Whether another project shared any of the memories with this one.
fn has_shared(memories: &[Memory]) -> bool {
    memories.iter().any(|memory| memory.attributes.iter().any(|(name, _)| name == SHARED_FROM))
}

/// Returns the first lines of the content that say more than the title.
fn excerpt(memory: &Memory) -> Vec<String> {
    let title = output::clean_line(&memory.title);
    memory
        .content
        .lines()
        .map(output::clean_line)
        .map(|line| line.strip_prefix(&title).map(|rest| rest.trim_start().to_owned()).unwrap_or(line))
        .filter(|line| !line.is_empty())
        .take(3)
        .collect()
}

/// Returns the memory whose identifier is `id` or begins with it.
fn find(store: &Store, id: &str) -> Result<MemoryRecord, CommandError> {
    // Anything shorter is more likely a typing error than an identifier.
    const MIN_LENGTH: usize = 4;
    let unknown = || {
        CommandError::new(format!("there is no memory {id}"))
            .hint("`throughline memory list --all-projects` shows the identifiers")
    };
    if id.len() < MIN_LENGTH {
        return Err(CommandError::new(format!("{id:?} is too short for an identifier"))
            .hint("give at least its first four characters"));
    }
    let mut found = store.memory(id, None)?;
    if let Some(exact) = found.iter().position(|found| found.memory.id == id) {
        return Ok(found.swap_remove(exact));
    }
    if found.len() > 1 {
        return Err(CommandError::new(format!("more than one identifier begins with {id}")).hint("give more characters"));
    }
    found.pop().ok_or_else(unknown)
}

/// Returns the identifier of the session that begins with `beginning`. It is an error if there is none.
pub(super) fn resolve_session(store: &Store, beginning: &str) -> Result<String, CommandError> {
    Ok(targets::find_session(store, beginning)?
        .ok_or_else(|| targets::unknown_session(beginning))
        .map_err(anyhow::Error::from)?)
}

/// Like [`resolve_session`], but takes a whole identifier as it is: nothing may be stored of the session yet.
pub(in crate::cli) fn resolve_any_session(store: Option<&Store>, typed: &str) -> Result<String, CommandError> {
    /// The length of a UUID, which is what agents use.
    const WHOLE: usize = 36;
    super::pause::check_session(typed)?;
    let found = store.map(|store| targets::find_session(store, typed)).transpose()?.flatten();
    match found {
        Some(session) => Ok(session),
        None if typed.len() >= WHOLE => Ok(typed.to_owned()),
        None => Err(CommandError::from(anyhow::Error::from(targets::unknown_session(typed)))
            .hint("a session that nothing is stored of yet needs its whole identifier")),
    }
}

/// Names a project for people: its name and its folder.
pub(in crate::cli) fn describe(project: &Project, home: &Path) -> String {
    let path = output::clean_line(&paths::display(&project.root, home));
    match project.root.file_name() {
        Some(name) if project.root.is_absolute() => format!("{} ({path})", output::clean_line(&name.to_string_lossy())),
        _ => path,
    }
}

/// Says on stderr that nothing was found, so that an empty result does not look like an error.
pub(super) fn print_nothing_found(scope: &Scope) -> Result<(), CommandError> {
    let mut err = anstream::stderr().lock();
    writeln!(
        err,
        "nothing found{}",
        if scope.all_projects { "" } else { " in this project (--all-projects searches everywhere)" }
    )?;
    Ok(())
}

/// The schemas of what `throughline memory …` and `throughline search` print with `--json`.
#[cfg(test)]
pub(super) fn schemas() -> Vec<super::schemas::Output> {
    use super::schemas::of;
    vec![
        ("memory compress", of::<throughline_engine::memory::compression::CompressionReport>()),
        ("memory decompress", of::<compress::Decompressed>()),
        ("memory delete", of::<delete::Deleted>()),
        ("memory forget", of::<throughline_engine::memory::deletion::ForgetReport>()),
        ("memory gc", of::<gc::Collected>()),
        ("memory list", of::<Vec<Entry<'_>>>()),
        ("memory reindex", of::<reindex::Reindexed<'_>>()),
        ("memory save", of::<save::SavedMemory<'_>>()),
        ("memory search", of::<Vec<search::SearchResult<'_>>>()),
        ("memory share", of::<share::Shared<'_>>()),
        ("memory unforget", of::<unforget::Output>()),
        ("memory unshare", of::<share::Unshared<'_>>()),
        ("memory suggest-shared", of::<Vec<throughline_store::Suggestion>>()),
        ("memory show", of::<show::MemoryDetails<'_>>()),
        ("memory stats", of::<throughline_store::Stats>()),
        ("search", of::<Vec<search::SearchResult<'_>>>()),
    ]
}
