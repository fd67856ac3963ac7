//! How long events are kept: each use can promote an observation to a longer retention tier.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde::Serialize;

use super::DAY_MS;
use crate::{Result, Store, classify, time, time_from_sql};

/// By how many days observations age between two runs of [`Store::promote_events`] at most. A run is due once a day, so somebody
/// who comes back from a long absence loses nothing by it but a few days.
const MAX_AGING_DAYS: u64 = 8;

/// The entry of `meta` with the time up to which observations have aged, in milliseconds since the Unix epoch.
const RETENTION_CLOCK: &str = "retention_clock";

/// A step from one retention tier to the next, by which observations that are used are promoted.
#[derive(Debug, Clone, PartialEq, serde::Deserialize, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RetentionStep {
    /// How often the observation must have been accessed.
    pub access: u32,
    /// The minimum confidence: 0.5, plus bonuses for signs that it matters. See [`Store::promote_events`].
    pub confidence: f64,
    /// How many other sessions must have used it.
    pub sessions: u32,
    /// How many days it is kept in the tier that it reaches, counted from the last access.
    pub days: u32,
}

/// What promoting and expiring observations did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetentionOutcome {
    /// The number of observations promoted.
    pub raised: u64,
    /// The number of observations deleted.
    pub dropped: u64,
}

impl Store {
    /// Records that events were accessed, by a session if one asked.
    pub fn mark_used(&self, ids: &[i64], session: Option<&str>, now: u64) -> Result<()> {
        self.explain((|| {
            let tx = self.conn.unchecked_transaction()?;
            for id in ids {
                tx.prepare_cached("UPDATE events SET accessed_at = ?2, access_count = access_count + 1 WHERE event_id = ?1")?
                    .execute(params![id, time(now)])?;
                if let Some(session) = session {
                    tx.prepare_cached(
                        "INSERT OR IGNORE INTO event_uses SELECT event_id, ?2 FROM events WHERE event_id = ?1 AND session_id <> ?2",
                    )?
                    .execute(params![id, session])?;
                }
            }
            tx.commit()
        })())
    }

    /// Promotes used observations and deletes expired ones. `tiers` has one step from each tier to the next; the last
    /// tier is permanent. `days` is how long observations in the first tier are kept. The confidence of an observation
    /// is 0.5, plus 0.1 for each access, 0.15 for each other session that accessed it, and 0.2 if it changed something
    /// or failed; at most 1.
    ///
    /// A clock that is wrong must not delete everything at once: between two runs, observations age by
    /// [`MAX_AGING_DAYS`] at most.
    pub fn promote_events(
        &mut self,
        tiers: &[RetentionStep],
        days: u32,
        now: u64,
        really: bool,
    ) -> Result<RetentionOutcome> {
        let path = self.path.clone();
        let aged = (|| {
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let age_now = retention_now(&tx, now)?;
            let mut aged = RetentionOutcome::default();
            let mut raised = BTreeSet::new();
            for (level, step) in (0_u8..).zip(tiers) {
                let mut raise = tx.prepare_cached(
                    "UPDATE events SET level = ?1 + 1
                     WHERE event_type = 'tool_observation' AND level = ?1 AND access_count >= ?2
                       AND (SELECT count(*) FROM event_uses u WHERE u.event_id = events.event_id) >= ?4
                       AND min(1.0, 0.5 + 0.1 * access_count
                               + 0.15 * (SELECT count(*) FROM event_uses u WHERE u.event_id = events.event_id)
                               + CASE WHEN failed OR tool IN ('Edit', 'Write', 'MultiEdit', 'NotebookEdit') THEN 0.2 ELSE 0 END) >= ?3
                     RETURNING event_id",
                )?;
                for id in raise
                    .query_map(params![level, step.access, step.confidence, step.sessions], |row| row.get::<_, i64>(0))?
                {
                    raised.insert(id?);
                }
            }
            // One observation may be promoted several times at once.
            aged.raised = raised.len() as u64;
            let kept = std::iter::once(days).chain(tiers.iter().map(|step| step.days));
            for (level, days) in (0_u8..).zip(kept).take(tiers.len()) {
                let before = age_now.saturating_sub(u64::from(days) * DAY_MS);
                aged.dropped += tx.execute(
                    "DELETE FROM events WHERE event_type = 'tool_observation' AND level = ?1
                       AND max(timestamp, COALESCE(accessed_at, 0)) < ?2",
                    params![level, time(before)],
                )? as u64;
            }
            if really {
                for (key, at) in [("graduated_at", now), (RETENTION_CLOCK, age_now)] {
                    tx.execute(
                        "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
                        [key, &at.to_string()],
                    )?;
                }
                tx.commit()?;
            }
            Ok(aged)
        })();
        aged.map_err(|error| classify(&path, error))
    }

    /// Returns when [`Store::promote_events`] last ran, or 0 if never.
    pub fn promoted_at(&self) -> Result<u64> {
        let value: Option<String> = self.explain(
            self.conn.query_row("SELECT value FROM meta WHERE key = 'graduated_at'", [], |row| row.get(0)).optional(),
        )?;
        Ok(value.and_then(|value| value.parse().ok()).unwrap_or(0))
    }
}

/// Returns the time by which observations are judged: `now`, unless the clock has jumped ahead since the last run. Before the
/// first run, the newest event counts as the last run.
fn retention_now(tx: &Connection, now: u64) -> rusqlite::Result<u64> {
    let last: Option<String> =
        tx.query_row("SELECT value FROM meta WHERE key = ?1", [RETENTION_CLOCK], |row| row.get(0)).optional()?;
    let last = match last.and_then(|last| last.parse().ok()) {
        Some(last) => Some(last),
        None => {
            tx.query_row("SELECT max(timestamp) FROM events", [], |row| row.get::<_, Option<i64>>(0))?.map(time_from_sql)
        }
    };
    Ok(last.map_or(now, |last| now.min(last.saturating_add(MAX_AGING_DAYS * DAY_MS))))
}
