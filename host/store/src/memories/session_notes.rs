//! Removes memories from the notes of the sessions that learned them.

use rusqlite::{Connection, params};
use throughline_model::contract::SessionNotes;

use crate::{from_json_or_default, json};

/// Removes a memory from the notes of the sessions that learned it; otherwise the agent would still see it there.
pub(crate) fn forget_in_notes(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    let (title, content): (String, String) =
        tx.query_row("SELECT title, content FROM memories WHERE rowid = ?1", [rowid], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let sessions: Vec<(String, String)> = tx
        .prepare(
            "SELECT session_id, notes FROM session_context
             WHERE session_id IN (SELECT session_id FROM sightings WHERE memory = ?1)",
        )?
        .query_map([rowid], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (session, notes) in sessions {
        let mut notes: SessionNotes = from_json_or_default(&notes);
        drop_from_notes(&mut notes, &title, &content);
        tx.execute("UPDATE session_context SET notes = ?2 WHERE session_id = ?1", params![session, json(&notes)])?;
    }
    Ok(())
}

/// Removes from notes what a memory with this title and content says.
pub(crate) fn drop_from_notes(notes: &mut SessionNotes, title: &str, content: &str) {
    let kept = |text: &String| text.trim() != title.trim() && text.trim() != content.trim();
    // The memory of a decision begins with what was chosen, followed by the reason and the rejected options.
    notes.decisions.retain(|decision| kept(&decision.what) && !begins(content, &decision.what));
    notes.discoveries.retain(|discovery| kept(&discovery.insight) && !begins(content, &discovery.insight));
    for list in [&mut notes.learnings, &mut notes.preferences, &mut notes.errors, &mut notes.blockers] {
        list.retain(kept);
    }
    for list in [&mut notes.done, &mut notes.current, &mut notes.pending] {
        list.retain(kept);
    }
}

fn begins(content: &str, text: &str) -> bool {
    !text.trim().is_empty() && content.trim_start().starts_with(text.trim())
}
