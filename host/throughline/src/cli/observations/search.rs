//! `throughline observations search`: searches recorded tool calls.

use std::io::Write;
use std::path::PathBuf;

use super::events::{self, EventLine, Table, When};
use crate::cli::error::CommandError;
use crate::cli::output;
use crate::cli::scope::{self, Scope};
use throughline_engine::memory::types;
use throughline_engine::runtime::Runtime;
use throughline_platform::paths;
use throughline_store::{EventFilter, OBSERVATION, Store, StoredEvent};

const SYNTAX: &str = "\
Besides words, WORDS can contain:
  \"two words\"              these words in this order; in a shell, type
                           '\"two words\"'
  -word  -\"two words\"      not these words
  file:runner.ts           about a file with this in its path
  session:61d299fc         from the session whose identifier begins so
  after:2026-02-23         since then: a year, month, day or moment, `today`,
                           `yesterday`, or how long ago in h, d or w
  before:7d                before then
Put `--` before a word that begins with a hyphen.";

/// Search tool calls, one line each, best match first
///
/// Searches summaries, names of files, commands and errors. An observation that matches any of the words is a result;
/// one that matches more of them ranks higher. Without words, lists the newest observations.
#[derive(clap::Args)]
#[command(after_long_help = SYNTAX)]
pub(super) struct Arguments {
    /// What to search for
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// Only calls of this tool, such as Bash; can be repeated
    #[arg(long = "tool", value_name = "TOOL", value_delimiter = ',')]
    tools: Vec<String>,
    /// Only calls about this file or folder; the end of its path is enough
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Only calls of this session; the beginning of its identifier is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only failed calls
    #[arg(long)]
    failed: bool,
    #[command(flatten)]
    scope: Scope,
    /// Print at most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = crate::cli::number::limit)]
    limit: u32,
    /// Print an array of objects: id, type, at, tool, summary, failed, `session_id`, project
    #[arg(long)]
    json: bool,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    let words = arguments.words.join(" ");
    types::check_dates(&words)?;
    types::check_observation_types(&words)?;
    let project = arguments.scope.project(runtime)?;
    let session = arguments.session.as_deref().map(|id| scope::resolve_session(store, id)).transpose()?;
    let wanted = EventFilter {
        project: project.as_ref().map(|project| project.id.clone()),
        session,
        tools: arguments.tools.clone(),
        kinds: vec![OBSERVATION.into()],
        file: arguments.file.as_deref().map(|file| events::file_of(project.as_ref(), file)),
        failed: arguments.failed,
        words,
        before: None,
    };
    let mut found = store.events(&wanted, arguments.limit.saturating_add(1))?;
    let is_more = output::cut(&mut found, arguments.limit);
    let roots = store.roots_of_events(&found)?;
    if arguments.json {
        return output::json(&found.iter().zip(&roots).map(|(event, root)| EventLine::new(event, root)).collect::<Vec<_>>());
    }
    if found.is_empty() {
        return scope::print_nothing_found(runtime, store, &arguments.scope, "no observations found");
    }
    print(runtime, &found, if project.is_none() { &roots } else { &[] })?;
    if is_more {
        let what = if wanted.words.trim().is_empty() { "latest" } else { "best" };
        output::print_first(what, found.len())?;
    }
    Ok(())
}

fn print(runtime: &Runtime, found: &[StoredEvent], roots: &[String]) -> Result<(), CommandError> {
    let table = Table::new(found, When::Ago, runtime.now);
    let mut out = output::stdout();
    for (index, event) in found.iter().enumerate() {
        let root = roots.get(index).map_or_else(String::new, |root| paths::display(root.as_ref(), &runtime.paths.home));
        table.write(&mut out, event, "", &output::clean_line(&root))?;
    }
    Ok(out.flush()?)
}
