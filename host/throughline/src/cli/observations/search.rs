//! `throughline observations search`.

use std::io::Write;
use std::path::PathBuf;

use super::events::{self, Line, Table, When};
use super::{Failure, Scope, output};
use throughline_engine::runtime::Runtime;
use throughline_platform::paths;
use throughline_store::{Event, OBSERVATION, Store, Wanted};

const SYNTAX: &str = "\
The words may hold, beside words (put `--` before one that begins with a hyphen):
  \"two words\"                these, in this order; say '\"two words\"' to the shell
  -word  -\"two words\"        not this
  file:runner.ts             about a file with this in its path
  session:61d299fc           of the session whose identifier begins so
  after:2026-02-23           since then: a year, month, day or moment, `today`,
  before:7d                  `yesterday`, or how long ago in h, d or w; or before";

/// List what tools were used for: a line each, best first
///
/// The words are searched for in summaries, names of files, commands and errors; any of them may match, and the more the better.
/// Without words it lists the newest.
#[derive(clap::Args)]
#[command(after_long_help = SYNTAX)]
pub(super) struct Arguments {
    /// What to search for
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// Uses of this tool only, such as Bash; may be repeated
    #[arg(long = "tool", value_name = "TOOL", value_delimiter = ',')]
    tools: Vec<String>,
    /// About this file or folder only; the end of its path is enough
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Of this session only; the beginning of its identifier is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only what failed
    #[arg(long)]
    failed: bool,
    #[command(flatten)]
    scope: Scope,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print an array of objects: id, type, at, tool, summary, failed, `session_id`, project
    #[arg(long)]
    json: bool,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), Failure> {
    let project = arguments.scope.project()?;
    let wanted = Wanted {
        project: project.as_ref().map(|project| project.id.clone()),
        session: arguments.session.clone(),
        tools: arguments.tools.clone(),
        kinds: vec![OBSERVATION.into()],
        file: arguments.file.as_deref().map(|file| events::file_of(project.as_ref(), file)),
        failed: arguments.failed,
        words: arguments.words.join(" "),
        before: None,
    };
    let found = store.events(&wanted, arguments.limit)?;
    let roots = store.roots_of_events(&found)?;
    if arguments.json {
        return output::json(&found.iter().zip(&roots).map(|(event, root)| Line::new(event, root)).collect::<Vec<_>>());
    }
    if found.is_empty() {
        return events::tell_empty(&arguments.scope);
    }
    tell(runtime, &found, if project.is_none() { &roots } else { &[] })
}

fn tell(runtime: &Runtime, found: &[Event], roots: &[String]) -> Result<(), Failure> {
    let table = Table::new(found, When::Ago, runtime.now);
    let mut out = output::stdout();
    for (index, event) in found.iter().enumerate() {
        let root = roots.get(index).map_or_else(String::new, |root| paths::display(root.as_ref(), &runtime.paths.home));
        table.write(&mut out, event, "", &output::clean_line(&root))?;
    }
    Ok(out.flush()?)
}
