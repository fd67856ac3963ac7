//! `throughline memory list`.

use clap::ValueEnum;

use super::entry::{self, TableOptions};
use super::selection::Restriction;
use super::{links, marks};
use crate::cli::error::CommandError;
use crate::cli::{output, scope};
use throughline_engine::memory::types;
use throughline_engine::runtime::Runtime;
use throughline_store::{Marked, MemoryFilter, Store};

/// List memories, newest first
///
/// Memories of type turn, the prompts and answers of sessions, are only listed with `--type turn`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    restriction: Restriction,
    /// Only memories that you marked wrong
    #[arg(long, conflicts_with = "pinned")]
    wrong: bool,
    /// What comes first
    #[arg(long, value_enum, default_value_t = Order::Newest)]
    order: Order,
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = crate::cli::number::limit)]
    limit: u32,
    /// Print an array of objects: id, type, title, content, `session_id`, project, `created_at`, files, …
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Order {
    /// The latest memories
    Newest,
    /// The most important memories
    Important,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    let restriction = &arguments.restriction;
    let project = restriction.scope.project(runtime)?;
    let session = match &restriction.session {
        Some(beginning) => Some(scope::resolve_session(store, beginning)?),
        None => None,
    };
    let kinds = types::resolve_kinds(&restriction.types, store, project.as_ref())?;
    let filter = MemoryFilter {
        project: project.as_ref().map(|project| project.id.clone()),
        session,
        kinds,
        shared: true,
        current: false,
        marked: restriction.marked(arguments.wrong.then_some(Marked::Wrong)),
    };
    let mut memories = match arguments.order {
        Order::Newest => store.recent(&filter, arguments.limit)?,
        Order::Important => store.important(&filter, arguments.limit)?,
    };
    if project.is_none() {
        // The memories that these are copies of are in the list as well.
        memories.retain(|memory| !entry::has_shared(std::slice::from_ref(memory)));
    }
    if arguments.json {
        entry::write_json(store, &memories)
    } else if memories.is_empty() {
        let is_filtered = restriction.is_filtered() || arguments.wrong;
        scope::print_nothing_found(
            runtime,
            store,
            &restriction.scope,
            if is_filtered { "no such memories" } else { "no memories" },
        )
    } else {
        let projects = project.is_none() || entry::has_shared(&memories);
        let options = TableOptions { projects, ..TableOptions::default() };
        let ids: Vec<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
        let replaced = store.replacements(&ids)?;
        let mut details = marks::of(store, &memories)?;
        for (lines, replaced) in details.iter_mut().zip(&replaced) {
            lines.extend(replaced.iter().map(links::replaced));
        }
        entry::write_table(runtime, store, &memories, options, &details)?;
        if memories.len() == arguments.limit as usize {
            output::print_more(memories.len(), Some(store.count(&filter)?))?;
        }
        Ok(())
    }
}
