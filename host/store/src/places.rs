//! Positions in long lists, so that a list can be entered anywhere and not only page by page.
//!
//! A list's positions are read once, from indexes alone. They stay valid: what is stored later is not among them, and what is deleted
//! is missing at its position.

use std::collections::HashSet;

use rusqlite::{OptionalExtension as _, params};

use super::browsing::{BrowseFilter, MemoryPlace};
use super::memories::{COLUMNS, from_row};
use super::sessions::{EVERY, PROJECT};
use super::{Result, Store, StoredEvent, events, projects, time, time_from_sql};
use throughline_model::contract::Memory;

impl Store {
    /// Returns the places of all memories that [`Store::browse`] lists after this place, in its order.
    pub fn memory_places(&self, filter: &BrowseFilter, after: Option<MemoryPlace>) -> Result<Vec<MemoryPlace>> {
        let (at, row) = after.map_or((i64::MAX, i64::MAX), |place| (time(place.at), place.row));
        let mut rows: Vec<(i64, i64)> = Vec::new();
        for project in self.browsed_projects(filter)? {
            let kinds = if filter.kinds.is_empty() { self.kinds(&project)? } else { filter.kinds.clone() };
            let Some(number) = self.explain(projects::number(&self.conn, &project))? else { continue };
            for kind in kinds {
                self.explain(
                    self.conn
                        .prepare_cached(
                            "SELECT created_at, rowid FROM memories
                             WHERE project = ?1 AND type = ?2 AND created_at <= ?3 AND (created_at < ?3 OR rowid > ?4)",
                        )
                        .and_then(|mut s| {
                            let found = s.query_map(params![number, kind, at, row], |row| Ok((row.get(0)?, row.get(1)?)))?;
                            found.collect::<rusqlite::Result<Vec<_>>>()
                        }),
                )
                .map(|found| rows.extend(found))?;
            }
        }
        // Whole rows would have to be read to see which memories were folded into a digest. These are few, and have an index.
        let folded: HashSet<i64> = self.explain(
            self.conn
                .prepare_cached("SELECT rowid FROM memories WHERE digest IS NOT NULL")
                .and_then(|mut s| s.query_map([], |row| row.get(0))?.collect()),
        )?;
        rows.retain(|(_, row)| !folded.contains(row));
        rows.sort_unstable_by_key(|&(at, row)| (std::cmp::Reverse(at), row));
        Ok(rows.into_iter().map(|(at, row)| MemoryPlace { at: time_from_sql(at), row }).collect())
    }

    /// Returns the memories at these places; none where one was deleted.
    pub fn memories_at(&self, places: &[MemoryPlace]) -> Result<Vec<Option<Memory>>> {
        self.explain((|| {
            let sql = format!("SELECT {COLUMNS} FROM memories m WHERE m.rowid = ?1 AND m.created_at = ?2");
            let mut statement = self.conn.prepare_cached(&sql)?;
            places.iter().map(|place| statement.query_row(params![place.row, time(place.at)], from_row).optional()).collect()
        })())
    }

    /// Returns the numbers and times of a session's events, in the order in which they were stored.
    pub fn event_times(&self, session: &str) -> Result<Vec<(i64, u64)>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT event_id, timestamp FROM events WHERE session_id = ?1 ORDER BY event_id")
                .and_then(|mut s| s.query_map([session], |row| Ok((row.get(0)?, time_from_sql(row.get(1)?))))?.collect()),
        )
    }

    /// Returns the events with these numbers; none where one was deleted.
    pub fn events_numbered(&self, numbers: &[i64]) -> Result<Vec<Option<StoredEvent>>> {
        self.explain((|| {
            let sql = format!("SELECT {} FROM events e WHERE e.event_id = ?1", events::COLUMNS);
            let mut statement = self.conn.prepare_cached(&sql)?;
            numbers.iter().map(|number| statement.query_row([number], events::from_row).optional()).collect()
        })())
    }

    /// Counts the sessions that [`Store::known_sessions`] can return.
    pub fn session_count(&self, project: Option<&str>) -> Result<u64> {
        self.explain(
            self.conn
                .prepare_cached(&format!("{EVERY} SELECT count(*) FROM every WHERE ?1 IS NULL OR ?1 = {PROJECT}"))
                .and_then(|mut s| s.query_row([project], |row| row.get(0).map(time_from_sql))),
        )
    }

    /// Counts the failures of a project or of all; with `open`, only those that [`super::Failure::is_open`].
    pub fn failure_count(&self, project: Option<&str>, open: bool) -> Result<u64> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT count(*) FROM failures
                     WHERE (?1 IS NULL OR project_id = ?1) AND (?2 = 0 OR fixed_at IS NULL OR fixed_at < last_at)",
                )
                .and_then(|mut s| s.query_row(params![project, open], |row| row.get(0).map(time_from_sql))),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{draft, fixture, project};

    #[test]
    fn places_are_those_of_all_pages_and_stay() {
        let mut it = fixture();
        let (one, other) = (project("a"), project("b"));
        for n in 0_u64..40 {
            let mut draft = draft(None, &format!("Memory {n} of the quokka"), &format!("u{n}"));
            draft.origin.at = Some(1_000 + n / 7);
            draft.kind = ["decision", "learning", "turn"][usize::try_from(n % 3).unwrap()].into();
            it.commit(if n % 4 == 0 { &other } else { &one }, &format!("s{n}"), &[draft], &[]);
        }
        for filter in [
            BrowseFilter::default(),
            BrowseFilter { project: Some(one.id.clone()), ..BrowseFilter::default() },
            BrowseFilter { kinds: vec!["turn".into(), "learning".into()], ..BrowseFilter::default() },
        ] {
            let (all, _) = it.store.browse(&filter, None, 1_000).unwrap();
            let (first, next) = it.store.browse(&filter, None, 5).unwrap();
            let places = it.store.memory_places(&filter, next).unwrap();
            let rest = it.store.memories_at(&places).unwrap().into_iter().flatten();
            assert_eq!(
                first.into_iter().chain(rest).map(|it| it.id).collect::<Vec<_>>(),
                all.iter().map(|it| it.id.clone()).collect::<Vec<_>>()
            );
            assert_eq!(it.store.memory_places(&filter, None).unwrap().len(), all.len());
        }
        let places = it.store.memory_places(&BrowseFilter::default(), None).unwrap();
        let gone = it.store.memories_at(&places[3..4]).unwrap().remove(0).unwrap().id;
        it.store.conn.execute("DELETE FROM memories WHERE id = ?1", [gone]).unwrap();
        let after = it.store.memories_at(&places).unwrap();
        assert_eq!(after.iter().position(Option::is_none), Some(3));
        assert_eq!(after.iter().flatten().count(), places.len() - 1);
    }
}
