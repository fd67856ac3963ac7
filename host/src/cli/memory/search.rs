//! `throughline memory search`.

use super::{Failure, Look, Restriction, Runtime, Store};
use crate::search::query::Query;

const SYNTAX: &str = "\
A query may hold, beside words (put `--` before one that begins with a hyphen):
  \"two words\"                these, in this order; say '\"two words\"' to the shell
  -word  -\"two words\"        not this
  type:decision,error_fix    of one of these types; -type:turn of any but this
  file:runner.ts             about a file with this in its path
  session:61d299fc           of the session whose identifier begins so
  after:2026-02-23           learned since then: a year, month, day or moment, `today`,
  before:7d                  `yesterday`, or how long ago in h, d or w; or learned before";

/// Search the memories, best first
///
/// The words are searched for in titles, contents, keywords and file names; any of them may match, and the more the better.
#[derive(clap::Args)]
#[command(after_long_help = SYNTAX)]
pub(super) struct Arguments {
    /// What to search for
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    #[command(flatten)]
    restriction: Restriction,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print an array of objects: id, `external_id` (where it was imported with an id), type, title, content, score,
    /// `session_id`, project, `created_at`, files, …
    #[arg(long)]
    json: bool,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), Failure> {
    let restriction = &arguments.restriction;
    let project = restriction.scope.project()?;
    let mut query = Query::parse(&arguments.query.join(" "), &jiff::Zoned::now());
    query.kinds.extend_from_slice(&restriction.types);
    query.sessions.extend(restriction.session.clone());
    let id = project.as_ref().map(|project| project.id.as_str());
    let memories = store.find_memories(&query, id, arguments.limit, runtime.now)?;
    if arguments.json {
        super::write_json(store, &memories)?;
    } else if memories.is_empty() {
        super::tell_empty(&restriction.scope)?;
    } else {
        let look = Look { projects: project.is_none(), excerpts: true };
        super::write_table(runtime, store, &memories, look)?;
    }
    let ids: Vec<String> = memories.into_iter().map(|memory| memory.id).collect();
    super::note_lookup(runtime, store, &ids);
    Ok(())
}
