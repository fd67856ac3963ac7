//! `throughline team review`: a person keeps, drops or edits what would leave.

use std::io::{self, Read as _, Write as _};

use clap::Subcommand;

use super::outbox::{self, entries};
use crate::cli::error::CommandError;
use crate::cli::output;
use crate::cli::pager;
use throughline_engine::runtime::Runtime;
use throughline_engine::team::outbox as staging;
use throughline_store::Store;
use throughline_store::team::{Decided, OutboxState};

/// The longest text that is read from standard input, bytes: the longest content of a memory.
const MAX_TEXT: u64 = 64 << 10;

/// Decide what leaves: keep, drop or edit
///
/// Without a decision, lists what waits for one. Only a text that was listed leaves: if a memory changes afterwards, it waits
/// until you have seen the new text. Your memories here do not change.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    decision: Option<Decision>,
}

#[derive(Subcommand)]
enum Decision {
    /// Let memories leave with the next sync
    Keep(Ids),
    /// Let memories stay here; they are not offered again
    Drop(Ids),
    /// Offer memories again that were dropped or refused
    Offer(OfferIds),
    /// Change the text of a memory that leaves, and let it leave: the text comes from standard input
    Edit(EditArguments),
}

#[derive(clap::Args)]
struct Ids {
    /// The identifiers of the memories
    #[arg(required_unless_present = "all")]
    ids: Vec<String>,
    /// All that `throughline team review` has listed
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

#[derive(clap::Args)]
struct OfferIds {
    /// The identifiers of the memories
    #[arg(required_unless_present = "all")]
    ids: Vec<String>,
    /// All that were dropped or refused, as `throughline team outbox --all` lists them
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

#[derive(clap::Args)]
struct EditArguments {
    /// The identifier of the memory
    id: String,
    /// The title
    #[arg(long)]
    title: Option<String>,
}

pub(super) fn run(runtime: &Runtime, store: &mut Store, arguments: Arguments) -> Result<(), CommandError> {
    let Some(decision) = arguments.decision else { return list(runtime, store) };
    match decision {
        Decision::Keep(ids) => {
            decide_listed(store, &ids, "leaves with the next sync", |store, id| Ok(store.team_decide(id, true)?))
        }
        Decision::Drop(ids) => decide_listed(store, &ids, "stays here", |store, id| Ok(store.team_decide(id, false)?)),
        Decision::Offer(arguments) => offer(store, arguments),
        Decision::Edit(arguments) => edit(runtime, store, arguments),
    }
}

fn list(runtime: &Runtime, store: &mut Store) -> Result<(), CommandError> {
    let mut waiting = entries(runtime, store, false)?;
    waiting.retain(|entry| entry.state == OutboxState::Review);
    if waiting.is_empty() {
        writeln!(anstream::stderr().lock(), "nothing waits for your review")?;
        return Ok(());
    }
    let roots = store.projects()?;
    let mut out = Vec::new();
    for entry in &waiting {
        let root = roots.iter().find(|(id, _)| *id == entry.project).map(|(_, root)| root.as_str()).unwrap_or_default();
        outbox::write(&mut out, entry, root)?;
    }
    pager::write(&out)?;
    outbox::mark_shown(store, &waiting)
}

/// Lets memories that stay here be offered again.
fn offer(store: &mut Store, OfferIds { ids, all }: OfferIds) -> Result<(), CommandError> {
    let ids: Vec<String> = if all {
        let stays = |state| matches!(state, OutboxState::Dropped | OutboxState::Refused);
        store.team_outbox(true)?.into_iter().filter(|it| stays(it.state)).filter_map(|it| it.id).collect()
    } else {
        ids
    };
    if ids.is_empty() {
        writeln!(anstream::stderr().lock(), "nothing was dropped or refused")?;
    }
    decide(store, &ids, "is offered again", |store, id| {
        Ok(if store.team_offer_again(id)? { Decided::Done } else { Decided::Missing })
    })
}

/// Decides about what was listed. Nothing is staged here, because that could put a text in its place that nobody has seen.
fn decide_listed(
    store: &mut Store,
    ids: &Ids,
    done: &str,
    decide: impl Fn(&mut Store, &str) -> Result<Decided, CommandError>,
) -> Result<(), CommandError> {
    let mut unseen = 0;
    let ids: Vec<String> = if ids.all {
        let mut waiting = store.team_outbox(false)?;
        waiting.retain(|it| it.state == OutboxState::Review);
        let all = waiting.len();
        waiting.retain(|it| it.is_shown && it.body.is_some());
        unseen = all - waiting.len();
        waiting.into_iter().filter_map(|it| it.id).collect()
    } else {
        ids.ids.clone()
    };
    self::decide(store, &ids, done, decide)?;
    if unseen > 0 {
        let what = "were not listed yet, or changed since, and wait: see `throughline team review`";
        writeln!(anstream::stderr().lock(), "{unseen} more {what}")?;
    }
    Ok(())
}

/// Decides about each memory, and says what became of it. Ends at the first one about which nothing can be decided.
fn decide(
    store: &mut Store,
    ids: &[String],
    done: &str,
    decide: impl Fn(&mut Store, &str) -> Result<Decided, CommandError>,
) -> Result<(), CommandError> {
    let mut out = output::stdout();
    for id in ids {
        let decided = decide(store, id)?;
        if decided != Decided::Done {
            out.flush()?;
            return Err(not_decided(decided, id));
        }
        writeln!(out, "{} {done}", output::clean_line(id))?;
    }
    Ok(out.flush()?)
}

fn not_decided(decided: Decided, id: &str) -> CommandError {
    let id = output::clean_line(id);
    if decided == Decided::Unseen {
        let message = format!("{id} has a text that was not listed yet, or it changed since");
        return CommandError::new(message).hint("look at it with `throughline team review`, and decide then");
    }
    CommandError::new(format!("{id} is not in the outbox, or has left"))
        .hint("`throughline team outbox --all` lists the whole identifiers")
}

fn edit(runtime: &Runtime, store: &mut Store, arguments: EditArguments) -> Result<(), CommandError> {
    let mut text = String::new();
    io::stdin().lock().take(MAX_TEXT + 1).read_to_string(&mut text).map_err(|error| {
        CommandError::new(format!("standard input cannot be read: {error}")).hint("pipe the text into the command")
    })?;
    if text.len() as u64 > MAX_TEXT {
        return Err(CommandError::new("the text is longer than 64 KiB").hint("shorten it"));
    }
    if text.trim().is_empty() && arguments.title.is_none() {
        return Err(CommandError::new("there is no text").hint("pipe the new text into the command, or give --title"));
    }
    let content = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let decided = staging::edit(runtime, store, &arguments.id, arguments.title, content)?;
    if decided != Decided::Done {
        return Err(not_decided(decided, &arguments.id));
    }
    let mut out = output::stdout();
    writeln!(out, "{} leaves with the next sync, with the new text", output::clean_line(&arguments.id))?;
    Ok(out.flush()?)
}
