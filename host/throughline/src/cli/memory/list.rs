//! `throughline memory list`.

use clap::ValueEnum;

use super::{Failure, Look, Restriction, Runtime, Store};
use throughline_notes::registry::Registry;
use throughline_store::Filter;

/// List memories, newest first
///
/// The turns of the sessions, which only searches find, are left out unless `--type turn` asks for them.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    restriction: Restriction,
    /// What comes first
    #[arg(long, value_enum, default_value_t = Order::Newest)]
    order: Order,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print an array of objects: id, type, title, content, `session_id`, project, `created_at`, files, …
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Order {
    /// What was learned last
    Newest,
    /// What matters most
    Important,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), Failure> {
    let restriction = &arguments.restriction;
    let project = restriction.scope.project()?;
    let session = match &restriction.session {
        Some(beginning) => Some(super::whole_session(store, beginning)?),
        None => None,
    };
    let kinds = Registry::meant_by_own(&restriction.types);
    let filter = Filter { project: project.as_ref().map(|project| project.id.clone()), session, kinds, shared: true };
    let mut memories = match arguments.order {
        Order::Newest => store.recent(&filter, arguments.limit)?,
        Order::Important => store.important(&filter, arguments.limit)?,
    };
    if project.is_none() {
        // Beside the memories themselves.
        memories.retain(|memory| !super::has_shared(std::slice::from_ref(memory)));
    }
    if arguments.json {
        super::write_json(store, &memories)
    } else if memories.is_empty() {
        super::tell_empty(&restriction.scope)
    } else {
        let look = Look { projects: project.is_none() || super::has_shared(&memories), excerpts: false };
        super::write_table(runtime, store, &memories, look, &[])
    }
}
