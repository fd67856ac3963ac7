//! Drops texts from the outbox that must not be there any longer: what the redactor removes now, or what a person forgets.
//!
//! A record's text is a copy of its memory's, or what a person wrote instead. So it is not enough to redact or to delete the
//! memory. A dropped text is made anew from the memory, and a person looks again at one that had been edited.

use rusqlite::{Connection, params};
use serde_json::Value;

use crate::Store;
use crate::scrub::ScrubError;
use throughline_model::redacted::TextRedactor;

impl Store {
    /// Drops the texts in a project's outbox that the redactor changes. Returns how many.
    pub fn team_scrub_outbox<R: TextRedactor>(
        &mut self,
        project: &str,
        redactor: &mut R,
        really: bool,
    ) -> std::result::Result<u64, ScrubError<R::Error>> {
        let waiting = self.explain(bodies(&self.conn, Some(project)))?;
        let mut dropped = Vec::new();
        for (number, body) in waiting {
            let Some(mut read) = parsed(&body) else {
                dropped.push(number);
                continue;
            };
            let before = read.clone();
            redactor.redact_texts(texts(&mut read)).map_err(ScrubError::Redactor)?;
            if read != before {
                dropped.push(number);
            }
        }
        if really && !dropped.is_empty() {
            self.explain(self.conn.execute_batch("PRAGMA secure_delete = ON"))?;
            self.write(|tx| dropped.iter().try_for_each(|number| drop_body(tx, *number)))?;
        }
        Ok(dropped.len() as u64)
    }
}

/// Drops the texts in the outbox that `holds` accepts, of a project or of all. Returns how many.
pub(crate) fn forget_in_outbox(
    tx: &Connection,
    project: Option<&str>,
    holds: impl Fn(&str) -> bool,
) -> rusqlite::Result<u64> {
    let mut dropped = 0;
    for (number, body) in bodies(tx, project)? {
        let text = match parsed(&body) {
            Some(mut read) => texts(&mut read).into_iter().map(|text| text.as_str()).collect::<Vec<_>>().join("\n"),
            None => body,
        };
        if holds(&text) {
            drop_body(tx, number)?;
            dropped += 1;
        }
    }
    Ok(dropped)
}

/// Returns the texts that wait in the outbox, with the numbers of their rows.
fn bodies(conn: &Connection, project: Option<&str>) -> rusqlite::Result<Vec<(i64, String)>> {
    conn.prepare_cached(
        "SELECT number, body FROM team_records WHERE state IN ('review', 'pending', 'queued', 'dropped', 'refused')
           AND kind = 'memory' AND body IS NOT NULL AND (?1 IS NULL OR project_id = ?1)",
    )?
    .query_map(params![project], |row| Ok((row.get(0)?, row.get(1)?)))?
    .collect()
}

fn drop_body(tx: &Connection, number: i64) -> rusqlite::Result<()> {
    // Without a memory there is nothing to make it from: it never leaves, and what may have left is deleted on the server.
    tx.prepare_cached(
        "UPDATE team_records SET body = NULL, changed = memory IS NOT NULL, gone = memory IS NULL WHERE number = ?1",
    )?
    .execute([number])?;
    Ok(())
}

/// Reads a body. Its strings are kept as they are, whatever else it has.
fn parsed(body: &str) -> Option<Value> {
    serde_json::from_str(body).ok()
}

/// Returns the texts that a person or an agent wrote; the rest are identifiers.
fn texts(body: &mut Value) -> Vec<&mut String> {
    let mut found = Vec::new();
    let Some(Value::Object(memory)) = body.get_mut("memory") else { return found };
    for (name, value) in memory {
        match (name.as_str(), value) {
            ("title" | "content", Value::String(text)) => found.push(text),
            ("keywords" | "files", Value::Array(list)) => found.extend(list.iter_mut().filter_map(|it| match it {
                Value::String(text) => Some(text),
                _ => None,
            })),
            _ => {}
        }
    }
    found
}
