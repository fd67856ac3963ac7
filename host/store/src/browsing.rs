//! Pages of stored memories and of new ones, for a user who browses all of them.
//!
//! A page continues after the last entry of the one before, so it costs the same at the beginning and after a million entries.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::memories::{COLUMNS, count_kinds, from_row};
use super::{Result, Store, events, projects, time, time_from_sql};
use crate::StoredEvent;
use throughline_model::contract::Memory;
use throughline_model::project::Project;

/// A day in milliseconds.
const DAY_MS: u64 = 86_400_000;

/// What a redactor's placeholder begins with.
const PLACEHOLDER: &str = "[redacted:";

/// A place in the list of memories, after which the next page begins. What is in it is the store's own business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPlace {
    pub(super) at: u64,
    pub(super) row: i64,
}

/// Which memories to browse. Empty fields do not restrict.
#[derive(Debug, Clone, Default)]
pub struct BrowseFilter {
    /// One project.
    pub project: Option<String>,
    /// Kinds; empty means all but `turn`.
    pub kinds: Vec<String>,
}

/// That a session was told of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Telling {
    /// The session.
    pub session_id: String,
    /// The memory's identifier.
    pub memory: String,
    /// The memory's title.
    pub title: String,
    /// The memory's kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// The occasion: `startup`, `prompt`, …
    pub moment: String,
    /// When, milliseconds since the Unix epoch.
    pub at: u64,
}

/// How often a rule's placeholder is in texts of one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RedactionCount {
    /// The rule.
    pub rule: String,
    /// The beginning of the day, UTC, milliseconds since the Unix epoch.
    pub day: u64,
    /// The number of placeholders.
    pub count: u64,
}

const TELLING: &str =
    "SELECT s.session_id, m.id, m.title, m.type, s.source, s.at FROM shown s JOIN memories m ON m.rowid = s.memory";

fn telling_from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Telling> {
    Ok(Telling {
        session_id: row.get(0)?,
        memory: row.get(1)?,
        title: row.get(2)?,
        kind: row.get(3)?,
        moment: row.get(4)?,
        at: time_from_sql(row.get(5)?),
    })
}

impl Store {
    /// Returns a page of memories, newest first, and where the next page begins. Copies that are shared with all projects are not
    /// among them: their originals are.
    pub fn browse(
        &self,
        filter: &BrowseFilter,
        after: Option<MemoryPlace>,
        limit: u32,
    ) -> Result<(Vec<Memory>, Option<MemoryPlace>)> {
        let projects = self.browsed_projects(filter)?;
        let after = after.map_or((i64::MAX, i64::MAX), |place| (time(place.at), place.row));
        let mut rows: Vec<(i64, i64)> = Vec::new();
        for project in projects {
            let kinds = if filter.kinds.is_empty() { self.kinds(&project)? } else { filter.kinds.clone() };
            let Some(number) = self.explain(projects::number(&self.conn, &project))? else { continue };
            // One index scan for each kind of each project, and nothing to sort.
            for kind in kinds {
                rows.extend(
                    self.explain(
                        self.conn
                            .prepare_cached(
                                "SELECT created_at, rowid FROM memories
                             WHERE project = ?1 AND type = ?2 AND digest IS NULL
                               AND created_at <= ?3 AND (created_at < ?3 OR rowid > ?4)
                             ORDER BY created_at DESC, rowid LIMIT ?5",
                            )
                            .and_then(|mut s| {
                                s.query_map(params![number, kind, after.0, after.1, limit + 1], |row| {
                                    Ok((row.get(0)?, row.get(1)?))
                                })?
                                .collect::<rusqlite::Result<Vec<_>>>()
                            }),
                    )?,
                );
            }
        }
        rows.sort_unstable_by_key(|&(at, row)| (std::cmp::Reverse(at), row));
        let is_more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next = rows.last().filter(|_| is_more).map(|&(at, row)| MemoryPlace { at: time_from_sql(at), row });
        let memories = self.explain((|| {
            let mut statement = self.conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memories m WHERE m.rowid = ?1"))?;
            let found = rows.iter().map(|(_, row)| statement.query_row([row], from_row).optional());
            Ok(found.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
        })())?;
        Ok((memories, next))
    }

    /// Returns the projects whose memories are browsed.
    pub(super) fn browsed_projects(&self, filter: &BrowseFilter) -> Result<Vec<String>> {
        Ok(match &filter.project {
            Some(project) => vec![project.clone()],
            None => self.all_projects()?.into_iter().filter(|it| !it.is_shared()).map(|it| it.id).collect(),
        })
    }

    /// Returns the number of memories of each kind that [`Store::browse`] can list, in alphabetic order; of one project or of all.
    pub fn memory_counts(&self, project: Option<&str>) -> Result<Vec<(String, u64)>> {
        self.explain((|| {
            // An unknown project has no memories; without one, copies of shared memories do not count.
            let (condition, number) = match project {
                Some(project) => ("project = ?1", Some(projects::number(&self.conn, project)?.unwrap_or(-1))),
                None => ("project IS NOT ?1", projects::number(&self.conn, &Project::shared().id)?),
            };
            count_kinds(&self.conn, condition, number)
        })())
    }

    /// Returns events after the one with this number, in the order in which they happened; of one session or of all.
    pub fn events_after(&self, number: i64, session: Option<&str>, limit: u32) -> Result<Vec<StoredEvent>> {
        self.explain(
            self.conn
                .prepare_cached(&format!(
                    "SELECT {} FROM events e WHERE e.event_id > ?1 AND (?2 IS NULL OR e.session_id = ?2)
                     ORDER BY e.event_id LIMIT ?3",
                    events::COLUMNS
                ))
                .and_then(|mut s| s.query_map(params![number, session, limit], events::from_row)?.collect()),
        )
    }

    /// Returns the number of the latest event; 0 if there is none.
    pub fn last_event_number(&self) -> Result<i64> {
        self.explain(self.conn.query_row("SELECT COALESCE(max(event_id), 0) FROM events", [], |row| row.get(0)))
    }

    /// Returns the memories that a session was shown, in order.
    pub fn told_to(&self, session: &str) -> Result<Vec<Telling>> {
        self.explain(
            self.conn
                .prepare_cached(&format!("{TELLING} WHERE s.session_id = ?1 ORDER BY s.at, m.id"))
                .and_then(|mut s| s.query_map([session], telling_from_row)?.collect()),
        )
    }

    /// Returns what any session was told after this time, in order, at most the last `limit`.
    pub fn told_since(&self, at: u64, limit: u32) -> Result<Vec<Telling>> {
        let mut told: Vec<Telling> = self.explain(
            self.conn
                .prepare_cached(&format!("{TELLING} WHERE s.at > ?1 ORDER BY s.at DESC, m.id LIMIT ?2"))
                .and_then(|mut s| s.query_map(params![time(at), limit], telling_from_row)?.collect()),
        )?;
        told.reverse();
        Ok(told)
    }

    /// Counts the placeholders of redactors in memories and events, by rule and day. Reads every stored text.
    pub fn redactions(&self, project: Option<&str>) -> Result<Vec<RedactionCount>> {
        let mut counts: BTreeMap<(u64, String), u64> = BTreeMap::new();
        let sources = [
            "SELECT created_at, title || char(10) || content FROM memories
             WHERE (?1 IS NULL OR project_id = ?1) AND (instr(title, ?2) OR instr(content, ?2))",
            "SELECT timestamp, payload_json FROM events
             WHERE (?1 IS NULL OR project_id = ?1) AND instr(payload_json, ?2)",
        ];
        self.explain((|| {
            for sql in sources {
                let mut statement = self.conn.prepare_cached(sql)?;
                let mut rows = statement.query(params![project, PLACEHOLDER])?;
                while let Some(row) = rows.next()? {
                    let day = time_from_sql(row.get(0)?) / DAY_MS * DAY_MS;
                    for rule in rules_in(row.get_ref(1)?.as_str()?) {
                        *counts.entry((day, rule.to_owned())).or_default() += 1;
                    }
                }
            }
            Ok(())
        })())?;
        Ok(counts.into_iter().map(|((day, rule), count)| RedactionCount { rule, day, count }).collect())
    }
}

/// Returns the rules of a text's placeholders, without their tags.
fn rules_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(PLACEHOLDER).skip(1).filter_map(|rest| {
        let name = rest.get(..rest.find(']')?)?;
        let rule = name.split('#').next()?;
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
        ((1..=64).contains(&rule.len()) && rule.bytes().all(is_plain)).then_some(rule)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{EventPayload, JournalRecord};
    use crate::tests::{draft, fixture, project};
    use throughline_model::contract::Draft;

    #[test]
    fn pages_hold_every_memory_once_whatever_their_times() {
        let mut it = fixture();
        let (one, other) = (project("a"), project("b"));
        for (n, project) in (0_u64..60).map(|n| (n, if n % 3 == 0 { &other } else { &one })) {
            let mut draft = draft(None, &format!("Memory {n} of the quokka"), &format!("u{n}"));
            // Many of the same moment, of three kinds, and turns, which are not listed.
            draft.origin.at = Some(1_000 + n / 7);
            draft.kind = ["decision", "learning", "preference", "turn"][usize::try_from(n % 4).unwrap()].into();
            it.commit(project, &format!("s{n}"), &[draft], &[]);
        }
        let counts = |project: Option<&str>| -> Vec<(String, u64)> { it.store.memory_counts(project).unwrap() };
        let all: Vec<(String, u64)> =
            [("decision", 15), ("learning", 15), ("preference", 15), ("turn", 15)].map(|(kind, n)| (kind.into(), n)).into();
        assert_eq!(counts(None), all);
        assert_eq!(counts(Some(&one.id)).iter().map(|(_, n)| n).sum::<u64>(), 40);
        assert_eq!(counts(Some("unknown")), []);
        for (filter, expected) in [
            (BrowseFilter::default(), 45),
            (BrowseFilter { project: Some(one.id.clone()), ..BrowseFilter::default() }, 30),
            (BrowseFilter { kinds: vec!["turn".into()], ..BrowseFilter::default() }, 15),
        ] {
            let (mut place, mut seen, mut last) = (None, std::collections::BTreeSet::new(), u64::MAX);
            loop {
                let (page, next) = it.store.browse(&filter, place, 7).unwrap();
                for memory in page {
                    assert!(memory.created <= last);
                    last = memory.created;
                    assert!(seen.insert(memory.id));
                }
                place = next;
                if place.is_none() {
                    break;
                }
            }
            assert_eq!(seen.len(), expected);
        }
    }

    #[test]
    fn what_is_new_is_what_came_after() {
        let mut it = fixture();
        let project = project("a");
        let store = Store::open_read_only(&it.path).unwrap();
        let before = store.data_version().unwrap();
        assert_eq!(store.data_version().unwrap(), before);
        assert_eq!(store.last_event_number().unwrap(), 0);
        let record = |key: &str, at: u64, session: &str| {
            let record = JournalRecord {
                kind: "user_prompt".into(),
                key: key.into(),
                at,
                session: session.into(),
                cwd: "/a".into(),
                seen: EventPayload { summary: key.into(), ..EventPayload::default() },
            };
            crate::tests::redacted(record)
        };
        it.store.put_records(&project, &[record("one", 5, "s"), record("two", 6, "t")], 7).unwrap();
        assert_ne!(store.data_version().unwrap(), before);
        let after = |number, session| {
            let events = store.events_after(number, session, 10).unwrap();
            events.into_iter().map(|event| (event.id, event.seen.summary)).collect::<Vec<_>>()
        };
        let all = after(0, None);
        assert_eq!(all.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(after(all[0].0, None), all[1..]);
        assert_eq!(after(0, Some("t")), all[1..]);
        assert_eq!(store.last_event_number().unwrap(), all[1].0);

        it.commit(&project, "s", &[draft(None, "Use tabs", "u1")], &[]);
        let id = it.store.browse(&BrowseFilter::default(), None, 1).unwrap().0.remove(0).id;
        it.store.mark_shown(std::slice::from_ref(&id), Some("t"), "startup", 9).unwrap();
        let told = store.told_to("t").unwrap();
        assert_eq!((told[0].memory.as_str(), told[0].title.as_str(), told[0].at), (id.as_str(), "Use tabs", 9));
        assert_eq!(store.told_since(8, 10).unwrap(), told);
        assert!(store.told_since(9, 10).unwrap().is_empty());
    }

    #[test]
    fn placeholders_are_counted_by_rule_and_day() {
        let mut it = fixture();
        let project = project("a");
        let mut one = draft(None, "The key is [redacted:aws-access-token#0f3], then [redacted:aws-access-token#1a2]", "u1");
        one.origin.at = Some(DAY_MS + 5);
        let two = Draft { title: "Plain".into(), ..draft(None, "[redacted:jwt] and [redacted:no such thing]", "u2") };
        it.commit(&project, "s", &[Draft { title: "Plain".into(), ..one }, two], &[]);
        let found: Vec<(String, u64, u64)> =
            it.store.redactions(Some(&project.id)).unwrap().into_iter().map(|it| (it.rule, it.day, it.count)).collect();
        assert_eq!(found, [("jwt".into(), 0, 1), ("aws-access-token".into(), DAY_MS, 2)]);
        assert!(it.store.redactions(Some("other")).unwrap().is_empty());
    }
}
