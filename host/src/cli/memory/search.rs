//! `throughline memory search`.

use super::{Failure, Look, Restriction, Runtime, Store};
use crate::search::query::Query;

/// Search the memories, best first
///
/// The words are searched for in titles, contents, keywords and file names.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What to search for
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    #[command(flatten)]
    restriction: Restriction,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print an array of objects: id, type, title, content, score, session_id, project, created_at, files, …
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
    let memories = store.search(&query, id, arguments.limit, runtime.now)?;
    if arguments.json {
        super::write_json(store, &memories)?;
    } else if memories.is_empty() {
        super::tell_empty(&restriction.scope)?;
    } else {
        let look = Look {
            projects: project.is_none(),
            excerpts: true,
        };
        super::write_table(runtime, store, &memories, look)?;
    }
    let ids: Vec<String> = memories.into_iter().map(|memory| memory.id).collect();
    super::note_lookup(runtime, store, &ids);
    Ok(())
}
