//! `throughline memory …`: what is stored, for people and programs.

mod check;
mod compress;
mod delete;
mod forget;
mod gc;
mod graph;
pub(super) mod import;
mod list;
mod notes;
mod protocol;
mod recall;
mod reindex;
mod save;
mod search;
mod share;
mod show;
mod stats;
mod store;
mod sync;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::failure::{Done, Failure};
use super::output::{self, BOLD, DIM};
use throughline_engine::backup;
use throughline_engine::hooks::PATIENCE;
use throughline_engine::runtime::Runtime;
use throughline_model::contract::Memory;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::{Access, EXTERNAL_ID, Found, SHARED_FROM, Store};

/// Search, list, show, write, sync, import and delete what is remembered
///
/// Where nothing else is said, it is about the project of the present folder: its git repository, whose worktrees share
/// one memory, or else the folder itself.
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
    Store(store::Arguments),
    Recall(recall::Arguments),
    Check(check::Arguments),
    Graph(graph::Arguments),
    Sync(sync::Arguments),
    Protocol(protocol::Arguments),
    Import(import::Arguments),
    Delete(delete::Arguments),
    Forget(forget::Arguments),
    Stats(stats::Arguments),
    Gc(gc::Arguments),
    Compress(compress::Arguments),
    Decompress(compress::Reversal),
    Reindex(reindex::Arguments),
    Share(share::Arguments),
    Unshare(share::Removal),
    SuggestShared(share::Suggesting),
}

pub(super) fn run(arguments: Arguments) -> Result<Done, Failure> {
    if let Command::Protocol(arguments) = &arguments.command {
        return protocol::run(arguments).map(|()| Done::Well);
    }
    let runtime = super::runtime()?;
    // Only what is written by hand or imported may be the first of all.
    let is_first = matches!(
        arguments.command,
        Command::Save(_) | Command::Store(_) | Command::Sync(_) | Command::Check(_) | Command::Import(_)
    );
    let access = if is_first { Access::Write } else { Access::Existing };
    let store = runtime.store(access, PATIENCE * 4)?;
    match arguments.command {
        Command::Search(arguments) => search::run(&runtime, &store, &arguments),
        Command::List(arguments) => list::run(&runtime, &store, &arguments),
        Command::Show(arguments) => show::run(&runtime, &store, &arguments),
        Command::Save(arguments) => save::run(&runtime, store, &arguments),
        Command::Store(arguments) => store::run(&runtime, store, &arguments),
        Command::Recall(arguments) => recall::run(&runtime, &store, &arguments),
        Command::Check(arguments) => return check::run(&runtime, &store, &arguments),
        Command::Graph(arguments) => graph::run(&store, &arguments),
        Command::Sync(arguments) => return sync::run(&runtime, store, &arguments),
        Command::Protocol(arguments) => protocol::run(&arguments),
        Command::Import(arguments) => import::run(&runtime, store, &arguments),
        Command::Delete(arguments) => delete::run(&runtime, store, &arguments),
        Command::Forget(arguments) => forget::run(&runtime, store, &arguments),
        Command::Stats(arguments) => stats::run(&runtime, &store, &arguments),
        Command::Gc(arguments) => gc::run(&runtime, store, &arguments),
        Command::Compress(arguments) => compress::compress(&runtime, store, &arguments),
        Command::Decompress(arguments) => compress::decompress(&runtime, store, &arguments),
        Command::Reindex(arguments) => reindex::run(&runtime, store, &arguments),
        Command::Share(arguments) => share::share(&runtime, store, &arguments),
        Command::Unshare(arguments) => share::unshare(&runtime, store, &arguments),
        Command::SuggestShared(arguments) => share::suggest(&runtime, &store, &arguments),
    }?;
    Ok(Done::Well)
}

/// Tells whoever wants something gone that copies which a restore or a repair kept may still hold it.
pub(in crate::cli) fn warn_of_copies(store: &Path) -> Result<(), Failure> {
    let mut err = anstream::stderr().lock();
    for kept in backup::kept(store) {
        writeln!(
            err,
            "warning: {} is older and may still hold it; delete that file when you need it no more",
            kept.display()
        )?;
    }
    Ok(())
}

/// Which projects a command is about.
#[derive(Args)]
pub(super) struct Scope {
    /// The project of this folder, instead of the present one; or of this name, where there is no such folder
    #[arg(long, value_name = "DIR", conflicts_with = "all_projects")]
    project: Option<PathBuf>,
    /// All projects
    #[arg(long)]
    all_projects: bool,
}

impl Scope {
    /// The project; none: all of them.
    pub(super) fn project(&self) -> Result<Option<Project>, Failure> {
        if self.all_projects {
            return Ok(None);
        }
        // What was imported can be of a project that is only a name.
        if let Some(name) = self.project.as_deref().filter(|path| !path.exists()).and_then(Path::to_str)
            && Project::is_name(name)
        {
            return Ok(Some(Project::named(name)));
        }
        Ok(Some(Project::of(&folder(self.project.as_deref())?)))
    }
}

/// Which memories of them.
#[derive(Args)]
struct Restriction {
    #[command(flatten)]
    scope: Scope,
    /// Of this session only; the beginning of its identifier is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Of these types only, such as decision, preference or `error_fix`, or types of notes, such as root-cause; may be repeated
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,
}

/// `folder` as an absolute path; none: the present folder.
pub(in crate::cli) fn folder(folder: Option<&Path>) -> Result<PathBuf, Failure> {
    std::path::absolute(folder.unwrap_or(Path::new("."))).map_err(|error| {
        Failure::new(format!("the present folder is not known: {error}"))
            .hint("change to a folder that exists, or say --project DIR or --all-projects")
    })
}

/// A memory as programs read it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Entry<'a> {
    id: &'a str,
    /// What the author of an import calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<&'a str>,
    /// All such names, where it has more than one: of two with the same content one is stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    external_ids: Vec<&'a str>,
    #[serde(rename = "type")]
    kind: &'a str,
    title: &'a str,
    content: &'a str,
    /// 0 to 1 where it answers a search, else 0.
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

/// Writes the memories as JSON.
fn write_json(store: &Store, memories: &[Memory]) -> Result<(), Failure> {
    let roots = store.project_roots(memories)?;
    let entries: Vec<Entry<'_>> = memories.iter().zip(&roots).map(|(memory, root)| Entry::new(memory, root)).collect();
    output::json(&entries)
}

/// How [`write_table`] writes.
#[derive(Clone, Copy, Default)]
struct Look {
    /// Name the project of each.
    projects: bool,
    /// Show a few lines of the content.
    excerpts: bool,
}

/// The columns that a line takes before the title: identifier, type and age with the gaps between.
const BEFORE_TITLE: usize = 12 + 2 + 15 + 2 + 9 + 2;

/// The most columns of a line of an excerpt.
const EXCERPT: usize = 110;

/// Writes a line a memory, and what goes with it, for people; at last the notes on it, where there are any.
fn write_table(
    runtime: &Runtime,
    store: &Store,
    memories: &[Memory],
    look: Look,
    notes: &[Vec<String>],
) -> Result<(), Failure> {
    let mut projects = Vec::new();
    if look.projects {
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
        for note in notes.get(index).into_iter().flatten() {
            writeln!(out, "    {DIM}{note}{DIM:#}")?;
        }
        if !look.excerpts {
            continue;
        }
        let most = width.map_or(EXCERPT, |width| width.saturating_sub(6).clamp(20, EXCERPT));
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

/// Whether some of them were shared with this project by another one.
fn has_shared(memories: &[Memory]) -> bool {
    memories.iter().any(|memory| memory.attributes.iter().any(|(name, _)| name == SHARED_FROM))
}

/// The first lines of the content that say more than the title.
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

/// The one memory that `id`, or a beginning of it, names.
fn find(store: &Store, id: &str) -> Result<Found, Failure> {
    // Less than this is a slip of the finger rather than a name.
    const SHORTEST: usize = 4;
    let unknown = || {
        Failure::new(format!("there is no memory {id}"))
            .hint("`throughline memory list --all-projects` shows their identifiers")
    };
    if id.len() < SHORTEST {
        return Err(
            Failure::new(format!("{id:?} is too short for an identifier")).hint("give at least its first four characters")
        );
    }
    let mut found = store.memory(id, None)?;
    if let Some(exact) = found.iter().position(|found| found.memory.id == id) {
        return Ok(found.swap_remove(exact));
    }
    if found.len() > 1 {
        return Err(Failure::new(format!("{id} is the beginning of more than one identifier")).hint("give more of it"));
    }
    found.pop().ok_or_else(unknown)
}

/// The one session whose identifier begins so; what names none names an empty list.
pub(super) fn whole_session(store: &Store, beginning: &str) -> Result<String, Failure> {
    let mut sessions = store.sessions_named(beginning)?;
    if sessions.len() > 1 && sessions[0] != beginning {
        let sessions: Vec<String> = sessions.iter().map(|id| output::clean_line(id)).collect();
        return Err(Failure::new(format!("{beginning} is the beginning of more than one session: {}", sessions.join(", ")))
            .hint("give more of it"));
    }
    sessions.truncate(1);
    Ok(sessions.pop().unwrap_or_else(|| beginning.to_owned()))
}

/// Says on stderr that there is nothing, so that an empty answer is not taken for a fault.
pub(super) fn tell_empty(scope: &Scope) -> Result<(), Failure> {
    let mut err = anstream::stderr().lock();
    writeln!(
        err,
        "nothing found{}",
        if scope.all_projects { "" } else { " in this project (--all-projects looks everywhere)" }
    )?;
    Ok(())
}

/// Notes that a person or an agent looked the memories up: what is looked at is not old. Only bookkeeping: where it cannot
/// be written, the answer is no worse.
fn note_lookup(runtime: &Runtime, store: &Store, ids: &[String]) {
    let _ = store.relax().and_then(|()| store.mark_shown(ids, None, "lookup", runtime.now));
}

/// What `throughline memory …` prints with `--json`.
#[cfg(test)]
pub(super) fn schemas() -> Vec<super::schemas::Output> {
    use super::schemas::of;
    vec![
        ("memory check", of::<Vec<check::Found>>()),
        ("memory compress", of::<throughline_engine::memory::compressing::Report>()),
        ("memory decompress", of::<compress::Back>()),
        ("memory delete", of::<delete::Deleted>()),
        ("memory forget", of::<throughline_engine::memory::forgetting::Report>()),
        ("memory gc", of::<gc::Collected>()),
        ("memory graph", of::<graph::Neighbourhood<'_>>()),
        ("memory import", of::<throughline_engine::import::Report>()),
        ("memory list", of::<Vec<Entry<'_>>>()),
        ("memory recall", of::<Vec<recall::Recalled<'_>>>()),
        ("memory reindex", of::<reindex::Done<'_>>()),
        ("memory save", of::<save::Answer<'_>>()),
        ("memory search", of::<Vec<search::Found<'_>>>()),
        ("memory share", of::<share::Shared<'_>>()),
        ("memory unshare", of::<share::Unshared<'_>>()),
        ("memory suggest-shared", of::<Vec<throughline_store::Suggestion>>()),
        ("memory show", of::<show::Whole<'_>>()),
        ("memory stats", of::<throughline_store::Stats>()),
        ("memory store", of::<store::Said<'_>>()),
        ("memory sync", of::<throughline_engine::note_sync::Report>()),
    ]
}
