//! `throughline memory unforget`: brings back what was forgotten or deleted within the last day.

use std::io::Write;

use serde::Serialize;

use super::selection;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use throughline_engine::memory::kept::{self, DeletionNote};
use throughline_engine::memory::undo;
use throughline_engine::runtime::Runtime;
use throughline_store::{BroughtBack, ForgetCounts, Kept, Store};

/// How many titles are listed of a deletion.
const MAX_TITLES: usize = 5;

/// Bring back what was forgotten or deleted within the last day
///
/// Without an identifier, lists what can be brought back. A deletion comes back as a whole, also if you name one of its
/// memories. What was learned since a deletion stays. Deleted lines of the
/// log, and of transcripts that Throughline wrote itself, do not come back. After a day, or after `--now`, nothing can
/// be brought back.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The deletion, as the list or the deletion itself names it; or a memory that it deleted, or a unique beginning of
    /// that memory's identifier
    #[arg(value_name = "ID", conflicts_with = "last")]
    id: Option<String>,
    /// The latest deletion
    #[arg(long)]
    last: bool,
    /// Print what came back as an object: id, memories, sessions, events, left. Without an identifier, print an array of
    /// objects: id, at, until, what, memories, sessions, notes, events, titles
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Whether the deletions are listed, and none is undone.
    pub(super) fn is_list(&self) -> bool {
        self.id.is_none() && !self.last
    }
}

/// What the command prints with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(super) enum Output {
    /// Without an identifier.
    Deletions(Vec<KeptDeletion>),
    /// With an identifier or `--last`.
    Back {
        /// The deletion that was undone.
        id: String,
        /// What came back.
        #[serde(flatten)]
        back: BroughtBack,
    },
}

/// A deletion that can be undone.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct KeptDeletion {
    id: String,
    /// RFC 3339, UTC.
    at: String,
    /// Until when it can be undone.
    until: String,
    /// The command that deleted it.
    what: String,
    #[serde(flatten)]
    counts: ForgetCounts,
    /// The titles of its memories, at most 1,000.
    titles: Vec<String>,
}

impl From<&Kept> for KeptDeletion {
    fn from(kept: &Kept) -> Self {
        Self {
            id: kept.id(),
            at: output::timestamp(kept.at),
            until: output::timestamp(kept::kept_until(kept.at)),
            what: DeletionNote::of(kept).what,
            counts: kept.counts,
            titles: kept.titles.clone(),
        }
    }
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    kept::delete_expired(runtime)?;
    let all = kept::all(runtime);
    let chosen = match &arguments.id {
        None if arguments.last => all.first(),
        None => return list(runtime, &all, arguments.json),
        Some(id) => find(&all, id)?,
    };
    let Some(kept) = chosen else {
        let what = match &arguments.id {
            Some(id) => format!("no deletion and no deleted memory {} can be brought back", output::clean_line(id)),
            None => "nothing was deleted within the last day".into(),
        };
        return Err(CommandError::new(what).hint("`throughline memory unforget` lists what can be brought back"));
    };
    let back = undo::bring_back(runtime, &mut store, kept)?;
    if arguments.json {
        return output::json(&Output::Back { id: kept.id(), back });
    }
    let mut out = output::stdout();
    write(&mut out, runtime, kept, MAX_TITLES)?;
    let BroughtBack { memories, sessions, events, left } = back;
    writeln!(
        out,
        "brought back {}, {}, {}",
        output::counted(memories, "memory", "memories"),
        output::counted(sessions, "session", "sessions"),
        output::counted(events, "event", "events"),
    )?;
    out.flush()?;
    if left > 0 {
        let left = output::counted(left, "entry that changed since stays", "entries that changed since stay");
        writeln!(anstream::stderr().lock(), "{left} as the database has it now")?;
    }
    Ok(())
}

/// Returns the deletion that `typed` names, or the latest one that deleted the memory that it names.
fn find<'a>(all: &'a [Kept], typed: &str) -> Result<Option<&'a Kept>, CommandError> {
    if let Some(kept) = all.iter().find(|kept| kept.id() == typed) {
        return Ok(Some(kept));
    }
    selection::check_length(typed)?;
    let mut found: Option<(&Kept, &str)> = None;
    for kept in all {
        for id in kept.ids.iter().filter(|id| id.starts_with(typed)) {
            match found {
                Some((_, other)) if other != id => return Err(selection::ambiguous(typed)),
                // The list begins with the latest.
                Some(_) => {}
                None => found = Some((kept, id)),
            }
        }
    }
    Ok(found.map(|(kept, _)| kept))
}

fn list(runtime: &Runtime, all: &[Kept], is_json: bool) -> Result<(), CommandError> {
    if is_json {
        return output::json(&Output::Deletions(all.iter().map(KeptDeletion::from).collect()));
    }
    if all.is_empty() {
        writeln!(anstream::stderr().lock(), "nothing was deleted within the last day")?;
        return Ok(());
    }
    let mut out = output::stdout();
    for kept in all {
        write(&mut out, runtime, kept, MAX_TITLES)?;
    }
    out.flush()?;
    let id = all.first().map(Kept::id).unwrap_or_default();
    let mut err = anstream::stderr().lock();
    writeln!(
        err,
        "hint: `throughline memory unforget {id}` brings the first one back; `throughline memory forget --now {id} --yes` erases it"
    )?;
    Ok(())
}

/// Prints a deletion: its identifier, when and what, at most `most` titles, and how much else.
pub(super) fn write(out: &mut impl Write, runtime: &Runtime, kept: &Kept, most: usize) -> Result<(), CommandError> {
    let what = output::clean_line(&DeletionNote::of(kept).what);
    let ago = output::pad(&output::ago(kept.at, runtime.now), output::AGO_COLUMNS);
    writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}{ago}{DIM:#}  {what}", kept.id())?;
    for title in kept.titles.iter().take(most) {
        writeln!(out, "    {DIM}{}{DIM:#}", output::clean_line(title))?;
    }
    let more = kept.counts.memories.saturating_sub(kept.titles.len().min(most) as u64);
    if more > 0 {
        writeln!(out, "    {DIM}and {} more{DIM:#}", output::count(more))?;
    }
    let ForgetCounts { sessions, notes, events, .. } = kept.counts;
    let others = [
        (sessions, "session", "sessions"),
        (notes, "note of another session", "notes of other sessions"),
        (events, "event", "events"),
    ];
    let others: Vec<String> = others
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| output::counted(count, one, many))
        .collect();
    if !others.is_empty() {
        writeln!(out, "    {DIM}{}{DIM:#}", others.join(", "))?;
    }
    Ok(())
}
