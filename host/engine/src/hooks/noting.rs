//! Writes records to a session's journal, and moves journals into the database.

use std::time::Instant;

use super::Outcome;
use super::reading::project_of;
use crate::runtime::Runtime;
use throughline_agents::protocol::Event;
use throughline_platform::log::Level;
use throughline_sandbox::chain::Work;
use throughline_store::Store;
use throughline_store::journal::{self, Appended, Journal, Record, Seen};

/// The limits of an observation's detail, in bytes and in lines, from the design.
const MOST_DETAIL: usize = 10 << 10;
const MOST_LINES: usize = 100;

/// The longest summary, characters.
const MOST_SUMMARY: usize = 300;

/// The longest attribute, characters.
const MOST_ATTRIBUTE: usize = 2_000;

/// The most files and attributes of one observation.
const MOST_ENTRIES: usize = 64;

impl Runtime {
    /// The sessions' journals.
    pub fn journal(&self) -> Journal {
        Journal::new(self.paths.journal())
    }
}

/// Makes a journal record of an event.
pub(super) fn record(runtime: &Runtime, event: &Event, kind: &str, key: String, seen: Seen) -> Record {
    Record {
        kind: kind.into(),
        key,
        at: runtime.now,
        session: event.session.clone(),
        cwd: event.cwd.clone(),
        seen: Seen { agent: event.sub_agent.clone(), ..seen },
    }
}

/// Redacts the records, cuts them to their limits, and appends them to the journal. Records that cannot be redacted are
/// dropped, since they may not be stored.
pub(super) fn note(
    runtime: &Runtime,
    work: &mut Work<'_>,
    mut records: Vec<Record>,
    deadline: Instant,
) -> Outcome<Vec<Appended>> {
    redact(work, records.iter_mut().map(|record| &mut record.seen), deadline)?;
    let journal = runtime.journal();
    let mut appended = Vec::new();
    for record in &mut records {
        bound(&mut record.seen);
        appended.push(journal.append(record)?);
    }
    Ok(appended)
}

/// Records which memories are shown to the session. This goes to the journal, not the database, so that nobody waits
/// for it.
pub(super) fn shown(runtime: &Runtime, event: &Event, source: &str, ids: &[String]) {
    if ids.is_empty() {
        return;
    }
    let seen = Seen { summary: source.into(), detail: ids.join("\n"), ..Seen::default() };
    bookkeep(runtime, event, journal::SHOWN, seen);
}

/// Appends a record that holds no text from outside and therefore needs no redaction.
pub(super) fn bookkeep(runtime: &Runtime, event: &Event, kind: &str, seen: Seen) {
    let key = format!("{kind}:{}:{}", runtime.now, std::process::id());
    if let Err(error) = runtime.journal().append(&record(runtime, event, kind, key, seen)) {
        runtime.log.note(Level::Warn, "could not append to the session's journal", error.to_string());
    }
}

/// Passes all texts through the redactors.
pub(super) fn redact<'a>(work: &mut Work<'_>, seen: impl Iterator<Item = &'a mut Seen>, deadline: Instant) -> Outcome<()> {
    work.redact_in_place(seen.flat_map(Seen::texts_mut).collect(), deadline)
}

/// Cuts everything to its limits, since a policy can return anything.
pub(super) fn bound(seen: &mut Seen) {
    seen.summary = clipped(&seen.summary.split_whitespace().collect::<Vec<_>>().join(" "), MOST_SUMMARY);
    if seen.detail.len() > MOST_DETAIL || seen.detail.lines().count() > MOST_LINES {
        seen.detail = ends(&seen.detail);
    }
    seen.files.truncate(MOST_ENTRIES);
    seen.attributes.truncate(MOST_ENTRIES);
    for (name, value) in &mut seen.attributes {
        *name = clipped(name, 64);
        *value = clipped(value, MOST_ATTRIBUTE);
    }
}

/// Returns the first `most` characters of a text.
pub(super) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Returns the first and the last lines, within the limits.
fn ends(text: &str) -> String {
    const MARK: &str = "\n…\n";
    let lines: Vec<&str> = text.lines().collect();
    let half = (MOST_LINES - 1) / 2;
    let (head, tail) = if lines.len() > MOST_LINES {
        (lines[..half].join("\n"), lines[lines.len() - half..].join("\n"))
    } else {
        (text.to_owned(), text.to_owned())
    };
    if lines.len() > MOST_LINES && head.len() + tail.len() + MARK.len() <= MOST_DETAIL {
        return head + MARK + &tail;
    }
    let part = (MOST_DETAIL - MARK.len()) / 2;
    let head = &head[..head.floor_char_boundary(part)];
    let tail = &tail[tail.ceil_char_boundary(tail.len().saturating_sub(part))..];
    format!("{head}{MARK}{tail}")
}

/// Moves a session's journal into the database. If that fails, the rest stays in the journal and is moved the next
/// time.
pub fn store(runtime: &Runtime, store: &mut Store, session: &str) -> Outcome<()> {
    let taken = runtime.journal().take(session)?;
    if taken.malformed > 0 {
        runtime.log.note(Level::Warn, "torn journal records were dropped", taken.malformed.to_string());
    }
    let Some(first) = taken.records.first() else {
        taken.done();
        return Ok(());
    };
    let project = project_of(store, &first.session, &first.cwd)?;
    // The journal was not synced either. The next synced commit takes these records with it, and at the end of a turn
    // that follows at once.
    store.relax()?;
    let stored = store.put_records(&project, &taken.records, runtime.now);
    store.insist()?;
    stored?;
    taken.done();
    Ok(())
}

/// Moves the journals that crashed sessions left behind. `except` is the running session.
pub(super) fn take_up(runtime: &Runtime, database: &mut Store, except: &str) -> Outcome<()> {
    let mut failed = None;
    for session in runtime.journal().sessions()? {
        if session != except {
            // One unreadable journal must not keep the others from being stored.
            failed = store(runtime, database, &session).err().or(failed);
        }
    }
    failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_bounded_is_within_bounds(lines in prop::collection::vec("\\PC{0,400}", 0..300)) {
            let text = lines.join("\n");
            let mut seen = Seen { summary: text.clone(), detail: text.clone(), ..Seen::default() };
            bound(&mut seen);
            prop_assert!(seen.detail.len() <= MOST_DETAIL, "{}", seen.detail.len());
            prop_assert!(seen.detail.lines().count() <= MOST_LINES);
            prop_assert!(seen.summary.chars().count() <= MOST_SUMMARY + 1);
            if text.len() <= MOST_DETAIL && lines.len() <= MOST_LINES {
                prop_assert_eq!(seen.detail, text);
            }
        }
    }
}
