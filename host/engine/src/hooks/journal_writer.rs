//! Writes records to a session's journal, and moves journals into the database.

use std::time::Instant;

use super::result::HookResult;
use super::session_project::project_of;
use crate::runtime::Runtime;
use crate::text::{one_line, truncate_chars};
use throughline_agents::protocol::Event;
use throughline_model::redacted::Redacted;
use throughline_platform::log::Level;
use throughline_sandbox::chain::Work;
use throughline_store::Store;
use throughline_store::journal::{AppendOutcome, EventPayload, HostRecord, Journal, JournalRecord};

/// The limits of an observation's detail, in bytes and in lines, from the design.
const MAX_DETAIL_BYTES: usize = 10 << 10;
const MAX_DETAIL_LINES: usize = 100;

/// The longest summary, characters.
const MAX_SUMMARY_CHARS: usize = 300;

/// The longest attribute, characters.
const MAX_ATTRIBUTE_CHARS: usize = 2_000;

/// The most files and attributes of one observation.
const MAX_LIST_ITEMS: usize = 64;

impl Runtime {
    /// The sessions' journals.
    pub fn journal(&self) -> Journal {
        Journal::new(self.paths.journal())
    }
}

/// Makes a journal record of an event.
pub(super) fn new_record(runtime: &Runtime, event: &Event, kind: &str, key: String, seen: EventPayload) -> JournalRecord {
    JournalRecord {
        kind: kind.into(),
        key,
        at: runtime.now,
        session: event.session.clone(),
        cwd: event.cwd.clone(),
        seen: EventPayload { agent: event.sub_agent.clone(), ..seen },
    }
}

/// Redacts the records, cuts them to their limits, and appends them to the journal. Records that cannot be redacted are
/// dropped, since they may not be stored.
pub(super) fn append_redacted(
    runtime: &Runtime,
    work: &mut Work<'_>,
    records: Vec<JournalRecord>,
    deadline: Instant,
) -> HookResult<Vec<AppendOutcome>> {
    let journal = runtime.journal();
    let mut appended = Vec::new();
    for record in Redacted::all(records, &mut work.redactor(deadline))? {
        appended.push(journal.append(&record.map(within_limits))?);
    }
    Ok(appended)
}

/// Records which memories are shown to the session. This goes to the journal, not the database, so that the hook does not
/// wait for it.
pub(super) fn record_shown(runtime: &Runtime, event: &Event, source: &str, ids: &[String]) {
    if !ids.is_empty() {
        append_host(runtime, event, HostRecord::Shown { source, ids });
    }
}

/// Appends a record that holds no text from outside.
pub(super) fn append_host(runtime: &Runtime, event: &Event, record: HostRecord<'_>) {
    if let Err(error) = runtime.journal().append_host(&event.session, &event.cwd, runtime.now, record) {
        runtime.log.record(Level::Warn, "could not append to the session's journal", error.to_string());
    }
}

fn within_limits(mut record: JournalRecord) -> JournalRecord {
    enforce_limits(&mut record.seen);
    record
}

/// Cuts everything to its limits, since a policy can return anything.
pub(super) fn enforce_limits(seen: &mut EventPayload) {
    seen.summary = truncate_chars(&one_line(&seen.summary), MAX_SUMMARY_CHARS);
    if seen.detail.len() > MAX_DETAIL_BYTES || seen.detail.lines().count() > MAX_DETAIL_LINES {
        seen.detail = head_and_tail(&seen.detail);
    }
    seen.files.truncate(MAX_LIST_ITEMS);
    seen.attributes.truncate(MAX_LIST_ITEMS);
    for (name, value) in &mut seen.attributes {
        *name = truncate_chars(name, 64);
        *value = truncate_chars(value, MAX_ATTRIBUTE_CHARS);
    }
}

/// Returns the first and the last lines, within the limits.
fn head_and_tail(text: &str) -> String {
    const MARK: &str = "\n…\n";
    let lines: Vec<&str> = text.lines().collect();
    let half = (MAX_DETAIL_LINES - 1) / 2;
    let (head, tail) = if lines.len() > MAX_DETAIL_LINES {
        (lines[..half].join("\n"), lines[lines.len() - half..].join("\n"))
    } else {
        (text.to_owned(), text.to_owned())
    };
    if lines.len() > MAX_DETAIL_LINES && head.len() + tail.len() + MARK.len() <= MAX_DETAIL_BYTES {
        return head + MARK + &tail;
    }
    let part = (MAX_DETAIL_BYTES - MARK.len()) / 2;
    let head = &head[..head.floor_char_boundary(part)];
    let tail = &tail[tail.ceil_char_boundary(tail.len().saturating_sub(part))..];
    format!("{head}{MARK}{tail}")
}

/// Moves a session's journal into the database. If that fails, the rest stays in the journal and is moved the next
/// time.
pub fn store_journal(runtime: &Runtime, store: &mut Store, session: &str) -> HookResult<()> {
    let taken = runtime.journal().take(session)?;
    if taken.malformed > 0 {
        runtime.log.record(Level::Warn, "torn journal records were dropped", taken.malformed.to_string());
    }
    let Some(first) = taken.records.first() else {
        taken.done();
        return Ok(());
    };
    let project = project_of(store, &first.session, &first.cwd)?;
    // The journal was not synced either. The next synced commit takes these records with it, and at the end of a turn
    // that follows at once.
    store.set_synchronous_normal()?;
    let stored = store.put_records(&project, &taken.records, runtime.now);
    store.set_synchronous_full()?;
    stored?;
    taken.done();
    Ok(())
}

/// Moves the journals that crashed sessions left behind. `except` is the running session.
pub(super) fn store_left_journals(runtime: &Runtime, database: &mut Store, except: &str) -> HookResult<()> {
    let mut failed = None;
    for session in runtime.journal().sessions()? {
        if session != except {
            // One unreadable journal must not keep the others from being stored.
            failed = store_journal(runtime, database, &session).err().or(failed);
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
            let mut seen = EventPayload { summary: text.clone(), detail: text.clone(), ..EventPayload::default() };
            enforce_limits(&mut seen);
            prop_assert!(seen.detail.len() <= MAX_DETAIL_BYTES, "{}", seen.detail.len());
            prop_assert!(seen.detail.lines().count() <= MAX_DETAIL_LINES);
            prop_assert!(seen.summary.chars().count() <= MAX_SUMMARY_CHARS + 1);
            if text.len() <= MAX_DETAIL_BYTES && lines.len() <= MAX_DETAIL_LINES {
                prop_assert_eq!(seen.detail, text);
            }
        }
    }
}
