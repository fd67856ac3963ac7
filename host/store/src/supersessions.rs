//! Table `supersessions`: which later memory took the place of an earlier one, and which ones are about the same.
//!
//! A link is found by comparing texts ([`throughline_search::supersession`]), or a person or an agent states it. It leads from
//! the older memory to the newer one, so there is no circle. If a memory has several links, the link to the newest memory is in
//! force, as long as that is not marked wrong; following it to the end leads to the *head*, which holds now. Triggers keep the
//! columns `memories.superseded_by`, `memories.followed_by` and `memories.revisited_by`, so that lists and searches need no
//! join.
//!
//! A superseded memory is not told unasked, and a search puts its head above it. A memory that is only *followed* stays
//! in force. If the later one *may have changed* it, a search that both match puts the later one above it, and it is told as the earlier
//! word, unless the two are hardly similar. If it *likely* did, the later one must match a prompt only a little. In a
//! search that somebody asked for, the later one need not match. Only if it is a possible change and the two are hardly similar, it
//! must match a little.
//! A person can undo a link; its row stays, so that the next comparison does not
//! make it again.

use rusqlite::{Connection, OptionalExtension, params};

use super::extent::ROW_BITS;
use super::memories::{COLUMNS, from_row};
use super::{Result, Store, time, time_from_sql};
use throughline_model::contract::Memory;
use throughline_search::rank::Later;
use throughline_search::supersession::{Change, MIN_DOUBT, Relation};

/// How many links are followed from a memory to its head.
const MAX_CHAIN: usize = 32;

/// A link of a memory to a later one.
#[derive(Debug, Clone, PartialEq)]
pub struct Supersession {
    /// The older memory's identifier.
    pub older: String,
    /// The newer memory's identifier.
    pub newer: String,
    /// How the newer one relates to the older one.
    pub relation: Relation,
    /// Whether a newer one that only follows may have changed the older one.
    pub change: Change,
    /// How similar their texts are, 0 to 1; `None` if a person or an agent stated the link.
    pub similarity: Option<f32>,
    /// When the link was made, milliseconds since the Unix epoch.
    pub made_at: u64,
    /// When a person undid it.
    pub undone_at: Option<u64>,
}

/// A link to an older memory that a person or an agent stated, or that a person undid.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedLink {
    /// The older memory.
    pub older: Memory,
    /// How the newer one relates to it.
    pub relation: Relation,
    /// When a person undid the link, milliseconds since the Unix epoch.
    pub undone_at: Option<u64>,
}

/// What holds instead of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Replacement {
    /// The memory at the end of the chain.
    pub head: Memory,
    /// How the next memory of the chain relates to the superseded one.
    pub relation: Relation,
}

/// A memory that is compared with the others of its project.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedMemory {
    /// The memory.
    pub memory: Memory,
    /// Whether it was stored since the last comparison.
    pub is_new: bool,
}

/// The memories of a project to compare, and what [`Store::put_comparison`] needs afterwards.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// The memories, oldest first.
    pub memories: Vec<ComparedMemory>,
    through: i64,
}

impl Store {
    /// Returns the memories of a project to compare, of each kind the newest `limit`, if any was stored since the last
    /// comparison. Leaves out kinds in `except`, what was folded into a digest, and what was marked wrong.
    pub fn to_compare(&self, project: &str, except: &[&str], limit: u32) -> Result<Option<Comparison>> {
        let Some((number, compared, through)) = self.explain(uncompared(&self.conn, project))? else { return Ok(None) };
        let mut kinds = self.kinds(project)?;
        kinds.push("turn".into());
        kinds.retain(|kind| !except.contains(&kind.as_str()));
        self.explain((|| {
            // One index scan per kind, as for lists.
            let mut select = self.conn.prepare_cached(&format!(
                "SELECT {COLUMNS}, m.rowid FROM memories m WHERE m.project = ?1 AND m.type = ?2 AND m.digest IS NULL
                   AND m.wrong_at IS NULL ORDER BY m.created_at DESC LIMIT ?3"
            ))?;
            let mut memories: Vec<ComparedMemory> = Vec::new();
            for kind in kinds {
                let rows = select.query_map(params![number, kind, limit], |row| {
                    let rowid: i64 = row.get(11)?;
                    Ok(ComparedMemory { memory: from_row(row)?, is_new: rowid > compared })
                })?;
                for memory in rows {
                    memories.push(memory?);
                }
            }
            memories.sort_by(|a, b| (a.memory.created, &a.memory.id).cmp(&(b.memory.created, &b.memory.id)));
            Ok(Some(Comparison { memories, through }))
        })())
    }

    /// Returns the memories of a project of one kind that a session brought, oldest first.
    pub fn of_session(&self, project: &str, session: &str, kind: &str) -> Result<Vec<Memory>> {
        self.explain((|| {
            self.conn
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM memories m WHERE m.session_id = ?1 AND m.project_id = ?2 AND m.type = ?3
                     ORDER BY m.created_at, m.rowid"
                ))?
                .query_map([session, project, kind], from_row)?
                .collect()
        })())
    }

    /// Returns whether memories of a project were stored since the last comparison. Cheap.
    pub fn has_uncompared(&self, project: &str) -> Result<bool> {
        Ok(self.explain(uncompared(&self.conn, project))?.is_some())
    }

    /// Stores the links of a comparison and remembers how far it went. An existing link stays as it is, even if it was
    /// undone. Returns how many are new.
    pub fn put_comparison(&mut self, project: &str, comparison: &Comparison, links: &[Supersession]) -> Result<u64> {
        self.write(|tx| {
            let mut new = 0;
            for link in links {
                new += u64::from(put(tx, link)?);
            }
            tx.prepare_cached("UPDATE projects SET compared = max(compared, ?2) WHERE id = ?1")?
                .execute(params![project, comparison.through])?;
            Ok(new)
        })
    }

    /// States that a memory took the place of an older one of its project. An undone link is made again. Returns false
    /// if one of them does not exist, or if they belong to two projects.
    pub fn supersede(&mut self, older: &str, newer: &str, relation: Relation, now: u64) -> Result<bool> {
        self.write(|tx| link(tx, older, newer, relation, now))
    }

    /// Records that a later memory likely changed older ones of its project, which stay in force. A link that is known, or was undone,
    /// stays as it is. Returns how many are new.
    pub fn doubt(&mut self, older: &[&str], newer: &str, now: u64) -> Result<u64> {
        self.write(|tx| {
            let mut new = 0;
            for older in older {
                if !can_supersede(tx, older, newer)? {
                    continue;
                }
                let link = Supersession {
                    older: (*older).to_owned(),
                    newer: newer.to_owned(),
                    relation: Relation::Follows,
                    change: Change::Likely,
                    similarity: None,
                    made_at: now,
                    undone_at: None,
                };
                new += u64::from(put(tx, &link)?);
            }
            Ok(new)
        })
    }

    /// Returns whether [`Store::supersede`] would make a link.
    pub fn can_supersede(&self, older: &str, newer: &str) -> Result<bool> {
        self.explain(can_supersede(&self.conn, older, newer))
    }

    /// Undoes all links from and to a memory, and returns those that were in force, in the order of [`Store::supersessions`].
    pub fn unlink(&mut self, id: &str, now: u64) -> Result<Vec<Supersession>> {
        self.write(|tx| {
            let undone: Vec<Supersession> =
                links_of(tx, id)?.into_iter().filter(|link| link.undone_at.is_none()).collect();
            tx.prepare_cached(
                "UPDATE supersessions SET undone_at = ?2 WHERE undone_at IS NULL
                     AND (older = (SELECT rowid FROM memories WHERE id = ?1) OR newer = (SELECT rowid FROM memories WHERE id = ?1))",
            )?
            .execute(params![id, time(now)])?;
            Ok(undone)
        })
    }

    /// Undoes the link from one memory to a later one: the older one holds again. Returns false if there is none in force.
    pub fn undo(&mut self, older: &str, newer: &str, now: u64) -> Result<bool> {
        self.write(|tx| {
            let undone = tx
                .prepare_cached(
                    "UPDATE supersessions SET undone_at = ?3 WHERE undone_at IS NULL
                         AND older = (SELECT rowid FROM memories WHERE id = ?1)
                         AND newer = (SELECT rowid FROM memories WHERE id = ?2)",
                )?
                .execute(params![older, newer, time(now)])?;
            Ok(undone > 0)
        })
    }

    /// Returns the links from and to a memory, the oldest memories first, with those that were undone.
    pub fn supersessions(&self, id: &str) -> Result<Vec<Supersession>> {
        self.explain(links_of(&self.conn, id))
    }

    /// Returns what holds instead of each of these memories, in their order; `None` for those that hold.
    pub fn replacements(&self, ids: &[&str]) -> Result<Vec<Option<Replacement>>> {
        self.explain(ids.iter().map(|id| replacement(&self.conn, id)).collect())
    }
}

/// Returns a project's number, the row up to which its memories were compared, and its newest row, if that is a later one.
fn uncompared(conn: &Connection, project: &str) -> rusqlite::Result<Option<(i64, i64, i64)>> {
    let known: Option<(i64, i64)> = conn
        .prepare_cached("SELECT number, compared FROM projects WHERE id = ?1")?
        .query_row([project], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((number, compared)) = known else { return Ok(None) };
    let first = number << ROW_BITS;
    let through: Option<i64> = conn
        .prepare_cached("SELECT max(rowid) FROM memories WHERE rowid BETWEEN ?1 AND ?2")?
        .query_row([compared.max(first) + 1, first | ((1 << ROW_BITS) - 1)], |row| row.get(0))?;
    Ok(through.map(|through| (number, compared, through)))
}

/// Returns the rows of the chain that begins with `row`, from the oldest to the newest.
fn chain_from(conn: &Connection, row: i64) -> rusqlite::Result<Vec<i64>> {
    let mut next = conn.prepare_cached("SELECT superseded_by FROM memories WHERE rowid = ?1")?;
    let mut rows = vec![row];
    let mut at = row;
    while rows.len() <= MAX_CHAIN
        && let Some(later) = next.query_row([at], |row| row.get::<_, Option<i64>>(0)).optional()?.flatten()
        && !rows.contains(&later)
    {
        rows.push(later);
        at = later;
    }
    Ok(rows)
}

/// Returns the row at the end of the chain that begins with `row`.
pub(super) fn head_of(conn: &Connection, row: i64) -> rusqlite::Result<i64> {
    Ok(chain_from(conn, row)?.pop().unwrap_or(row))
}

/// Returns the later rows that may have changed `row`, the oldest first. A superseded memory is represented by the memory that
/// replaced it.
pub(super) fn revisits_of(conn: &Connection, row: i64) -> rusqlite::Result<Vec<Later<i64>>> {
    let links: Vec<Later<i64>> = conn
        .prepare_cached(
            "SELECT s.newer, s.may_change >= ?2, s.similarity FROM supersessions s JOIN memories n ON n.rowid = s.newer
             WHERE s.older = ?1 AND s.undone_at IS NULL AND s.may_change <> 0 ORDER BY n.created_at, s.newer",
        )?
        .query_map(params![row, Change::Likely.number()], |row| {
            let is_doubt = row.get::<_, Option<f32>>(2)?.is_none_or(|similarity| similarity >= MIN_DOUBT);
            Ok(Later { id: row.get(0)?, is_likely: row.get(1)?, is_doubt })
        })?
        .collect::<rusqlite::Result<_>>()?;
    links.into_iter().map(|later| Ok(Later { id: head_of(conn, later.id)?, ..later })).collect()
}

fn replacement(conn: &Connection, id: &str) -> rusqlite::Result<Option<Replacement>> {
    let next: Option<(i64, String)> = conn
        .prepare_cached(
            "SELECT s.newer, s.relation FROM memories m JOIN supersessions s ON s.older = m.rowid AND s.newer = m.superseded_by
             WHERE m.id = ?1",
        )?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((newer, relation)) = next else { return Ok(None) };
    let head = head_of(conn, newer)?;
    let head = conn
        .prepare_cached(&format!("SELECT {COLUMNS} FROM memories m WHERE m.rowid = ?1"))?
        .query_row([head], from_row)
        .optional()?;
    Ok(head.map(|head| Replacement { head, relation: Relation::from_name(&relation) }))
}

fn links_of(conn: &Connection, id: &str) -> rusqlite::Result<Vec<Supersession>> {
    conn.prepare_cached(
        "SELECT o.id, n.id, s.relation, s.similarity, s.made_at, s.undone_at, s.may_change
         FROM supersessions s JOIN memories o ON o.rowid = s.older JOIN memories n ON n.rowid = s.newer
         WHERE o.id = ?1 OR n.id = ?1 ORDER BY o.created_at, n.created_at, o.rowid, n.rowid",
    )?
    .query_map([id], |row| {
        Ok(Supersession {
            older: row.get(0)?,
            newer: row.get(1)?,
            relation: Relation::from_name(&row.get::<_, String>(2)?),
            similarity: row.get(3)?,
            made_at: time_from_sql(row.get(4)?),
            undone_at: row.get::<_, Option<i64>>(5)?.map(time_from_sql),
            change: Change::from_number(row.get(6)?),
        })
    })?
    .collect()
}

fn can_supersede(conn: &Connection, older: &str, newer: &str) -> rusqlite::Result<bool> {
    let are_of_one_project = conn
        .prepare_cached("SELECT 1 FROM memories o JOIN memories n ON n.project = o.project WHERE o.id = ?1 AND n.id = ?2")?
        .exists([older, newer])?;
    Ok(are_of_one_project && older != newer && !leads_to(conn, newer, older)?)
}

/// Returns whether the chain from a memory passes through another one.
fn leads_to(conn: &Connection, from: &str, to: &str) -> rusqlite::Result<bool> {
    let row = |id: &str| -> rusqlite::Result<Option<i64>> {
        conn.prepare_cached("SELECT rowid FROM memories WHERE id = ?1")?.query_row([id], |row| row.get(0)).optional()
    };
    let (Some(from), Some(to)) = (row(from)?, row(to)?) else { return Ok(false) };
    Ok(chain_from(conn, from)?.contains(&to))
}

fn put(tx: &Connection, link: &Supersession) -> rusqlite::Result<bool> {
    let put = tx
        .prepare_cached(
            "INSERT INTO supersessions (older, newer, relation, similarity, made_at, may_change)
             SELECT o.rowid, n.rowid, ?3, ?4, ?5, ?6 FROM memories o JOIN memories n ON n.id = ?2
             WHERE o.id = ?1 AND o.rowid <> n.rowid ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            link.older,
            link.newer,
            link.relation.name(),
            link.similarity,
            time(link.made_at),
            link.change.number()
        ])?;
    Ok(put > 0)
}

/// Returns a memory's links to older ones that were stated, and all that a person undid. Links that are in force and were found by
/// comparing texts, or that only follow, are left out.
pub(super) fn stated(conn: &Connection, newer: i64) -> rusqlite::Result<Vec<StatedLink>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS}, s.relation, s.undone_at FROM supersessions s JOIN memories m ON m.rowid = s.older
         WHERE s.newer = ?1 AND (s.undone_at IS NOT NULL OR (s.similarity IS NULL AND s.relation <> 'follows')) ORDER BY m.created_at, m.content_hash"
    ))?
    .query_map([newer], |row| {
        Ok(StatedLink {
            older: from_row(row)?,
            relation: Relation::from_name(&row.get::<_, String>(11)?),
            undone_at: row.get::<_, Option<i64>>(12)?.map(time_from_sql),
        })
    })?
    .collect()
}

/// Stores a link that was stated elsewhere, unless it is known here, even if undone, or would make a circle. Returns whether it
/// was stored.
pub(super) fn take_over(
    tx: &Connection,
    (older, newer): (i64, i64),
    relation: Relation,
    undone_at: Option<u64>,
    now: u64,
) -> rusqlite::Result<bool> {
    if older == newer || chain_from(tx, newer)?.contains(&older) {
        return Ok(false);
    }
    let put = tx
        .prepare_cached(
            "INSERT INTO supersessions (older, newer, relation, made_at, undone_at)
             SELECT o.rowid, n.rowid, ?3, ?4, ?5 FROM memories o JOIN memories n ON n.project = o.project
             WHERE o.rowid = ?1 AND n.rowid = ?2 ON CONFLICT DO NOTHING",
        )?
        .execute(params![older, newer, relation.name(), time(now), undone_at.map(time)])?;
    Ok(put > 0)
}

/// Returns the rows that a person or an agent said this one replaces, and how.
pub(super) fn stated_by(conn: &Connection, newer: i64) -> rusqlite::Result<Vec<(i64, String)>> {
    conn.prepare_cached(
        "SELECT older, relation FROM supersessions WHERE newer = ?1 AND similarity IS NULL AND undone_at IS NULL AND relation <> 'follows'
         ORDER BY older",
    )?
    .query_map([newer], |row| Ok((row.get(0)?, row.get(1)?)))?
    .collect()
}

/// States that a row took the place of an older one, unless that is known, was undone, or would make a circle.
pub(super) fn state(tx: &Connection, older: i64, newer: i64, relation: Relation, now: u64) -> rusqlite::Result<()> {
    let id = |row: i64| -> rusqlite::Result<Option<String>> {
        tx.prepare_cached("SELECT id FROM memories WHERE rowid = ?1")?.query_row([row], |row| row.get(0)).optional()
    };
    let (Some(older), Some(newer)) = (id(older)?, id(newer)?) else { return Ok(()) };
    if older == newer || leads_to(tx, &newer, &older)? {
        return Ok(());
    }
    let link =
        Supersession { older, newer, relation, change: Change::Unlikely, similarity: None, made_at: now, undone_at: None };
    put(tx, &link).map(drop)
}

/// Does what [`Store::supersede`] does, in a transaction of the caller's.
pub(super) fn link(tx: &Connection, older: &str, newer: &str, relation: Relation, now: u64) -> rusqlite::Result<bool> {
    if !can_supersede(tx, older, newer)? {
        return Ok(false);
    }
    remove(tx, older, newer)?;
    put(
        tx,
        &Supersession {
            older: older.to_owned(),
            newer: newer.to_owned(),
            relation,
            change: Change::Unlikely,
            similarity: None,
            made_at: now,
            undone_at: None,
        },
    )
}

fn remove(tx: &Connection, older: &str, newer: &str) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "DELETE FROM supersessions WHERE older = (SELECT rowid FROM memories WHERE id = ?1)
             AND newer = (SELECT rowid FROM memories WHERE id = ?2)",
    )?
    .execute([older, newer])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Fixture, draft, fixture, project};
    use crate::{Fate, MemoryFilter, Search};
    use throughline_model::contract::{Draft, Origin};
    use throughline_model::project::Project;
    use throughline_search::query::Query;

    /// A store that knows three rules of the cache, each a day after the other, and an unrelated one.
    fn three_rules() -> (Fixture, Project, Vec<String>) {
        let (mut it, project) = (fixture(), project("a"));
        let rules =
            ["The cache lives 5 minutes", "The cache lives 15 minutes", "The cache lives 40 minutes", "Tabs are wide"];
        for (day, rule) in (1..).zip(rules) {
            let origin = Origin { line_uuid: Some(format!("u{day}")), at: Some(day * 86_400_000) };
            it.commit(&project, &format!("s{day}"), &[Draft { origin, ..draft(None, rule, "u") }], &[]);
        }
        let filter = MemoryFilter { project: Some(project.id.clone()), ..MemoryFilter::default() };
        let ids = it.store.in_learned_order(&filter, 10).unwrap().into_iter().map(|memory| memory.id).collect();
        (it, project, ids)
    }

    fn found(it: &Fixture, project: &Project, current: bool) -> Vec<String> {
        let query = Query::parse("cache 5 minutes", &jiff::Zoned::now());
        let search = Search { is_unasked: current, ..Search::new(&query, Some(&project.id), 10, 5 * 86_400_000) };
        it.store.search(&search).unwrap().hits.into_iter().map(|hit| hit.memory.id).collect()
    }

    #[test]
    fn what_holds_now_stands_before_what_it_replaced() {
        let (mut it, project, ids) = three_rules();
        assert_eq!(found(&it, &project, true)[0], ids[0]);
        assert!(it.store.supersede(&ids[0], &ids[1], Relation::Amends, 1).unwrap());
        assert!(it.store.supersede(&ids[1], &ids[2], Relation::Amends, 2).unwrap());
        assert_eq!(found(&it, &project, true), [ids[2].clone()]);
        let all = found(&it, &project, false);
        assert_eq!((all.len(), &all[0]), (3, &ids[2]));
        let filter = MemoryFilter { project: Some(project.id), current: true, ..MemoryFilter::default() };
        let listed: Vec<String> = it.store.recent(&filter, 10).unwrap().into_iter().map(|memory| memory.id).collect();
        assert_eq!(listed, [ids[3].clone(), ids[2].clone()]);
        let replaced = it.store.replacements(&[&ids[0], &ids[2]]).unwrap();
        assert_eq!(replaced[0].as_ref().map(|it| it.head.id.clone()), Some(ids[2].clone()), "a chain has one head");
        assert!(replaced[1].is_none());
    }

    #[test]
    fn what_holds_now_is_found_though_it_has_none_of_the_words() {
        let (mut it, project, ids) = three_rules();
        it.store.supersede(&ids[0], &ids[3], Relation::Reverses, 1).unwrap();
        assert_eq!(found(&it, &project, false)[0], ids[3]);
    }

    #[test]
    fn a_chain_has_no_circle() {
        let (mut it, _, ids) = three_rules();
        assert!(it.store.supersede(&ids[0], &ids[1], Relation::Amends, 1).unwrap());
        assert!(!it.store.supersede(&ids[1], &ids[0], Relation::Amends, 2).unwrap());
        assert!(!it.store.supersede(&ids[1], &ids[1], Relation::Amends, 2).unwrap());
        assert!(!it.store.supersede("none", &ids[1], Relation::Amends, 2).unwrap());
    }

    #[test]
    fn an_undone_link_is_not_found_again() {
        let (mut it, project, ids) = three_rules();
        let link = Supersession {
            older: ids[0].clone(),
            newer: ids[1].clone(),
            relation: Relation::Amends,
            change: Change::Unlikely,
            similarity: Some(0.5),
            made_at: 1,
            undone_at: None,
        };
        let comparison = it.store.to_compare(&project.id, &[], 10).unwrap().expect("new memories");
        assert!(comparison.memories.iter().all(|it| it.is_new));
        assert_eq!(it.store.put_comparison(&project.id, &comparison, std::slice::from_ref(&link)).unwrap(), 1);
        assert!(!it.store.has_uncompared(&project.id).unwrap());
        assert!(it.store.to_compare(&project.id, &[], 10).unwrap().is_none());
        assert_eq!(it.store.unlink(&ids[1], 2).unwrap(), std::slice::from_ref(&link));
        assert_eq!(found(&it, &project, true).len(), 3);
        assert_eq!(it.store.put_comparison(&project.id, &comparison, &[link]).unwrap(), 0);
        assert_eq!(found(&it, &project, true).len(), 3);
        assert!(it.store.supersessions(&ids[0]).unwrap()[0].undone_at.is_some());
        // A person can still state it.
        assert!(it.store.supersede(&ids[0], &ids[1], Relation::Amends, 3).unwrap());
        assert_eq!(found(&it, &project, true).len(), 2);
    }

    #[test]
    fn what_was_replaced_holds_again_if_its_replacement_is_deleted() {
        let (mut it, project, ids) = three_rules();
        it.store.supersede(&ids[0], &ids[1], Relation::Amends, 1).unwrap();
        it.store.delete_memories(&[ids[1].clone()], 2, Fate::Erased).unwrap();
        assert_eq!(found(&it, &project, true)[0], ids[0]);
        assert!(it.store.supersessions(&ids[0]).unwrap().is_empty());
    }

    #[test]
    fn only_what_follows_stays_in_force() {
        let (mut it, project, ids) = three_rules();
        it.store.supersede(&ids[0], &ids[1], Relation::Follows, 1).unwrap();
        let all = found(&it, &project, true);
        assert_eq!(all.len(), 3);
        assert!(it.store.replacements(&[&ids[0]]).unwrap()[0].is_none());
    }

    #[test]
    fn what_may_have_changed_a_memory_stands_before_it() {
        let (mut it, project, ids) = three_rules();
        let link = |change| Supersession {
            older: ids[0].clone(),
            newer: ids[2].clone(),
            relation: Relation::Follows,
            change,
            similarity: Some(0.5),
            made_at: 1,
            undone_at: None,
        };
        let comparison = it.store.to_compare(&project.id, &[], 10).unwrap().expect("new memories");
        it.store.put_comparison(&project.id, &comparison, &[link(Change::Likely)]).unwrap();
        let order = found(&it, &project, true);
        let place = |id: &String| order.iter().position(|other| other == id);
        assert!(place(&ids[2]) < place(&ids[0]), "{order:?}");
        assert_eq!(order.len(), 3, "nothing is hidden");
        assert_eq!(it.store.supersessions(&ids[0]).unwrap(), [link(Change::Likely)]);
        it.store.unlink(&ids[0], 2).unwrap();
        assert_eq!(found(&it, &project, true)[0], ids[0], "the link was undone");
    }

    #[test]
    fn whoever_searches_finds_what_likely_changed_a_memory_though_it_has_none_of_the_words() {
        for (change, similarity, is_raised) in
            [(Change::Likely, 0.3, true), (Change::Possible, 0.3, false), (Change::Possible, 0.06, false)]
        {
            let (mut it, project, ids) = three_rules();
            let link = Supersession {
                older: ids[0].clone(),
                newer: ids[3].clone(),
                relation: Relation::Follows,
                change,
                similarity: Some(similarity),
                made_at: 1,
                undone_at: None,
            };
            let comparison = it.store.to_compare(&project.id, &[], 10).unwrap().expect("new memories");
            it.store.put_comparison(&project.id, &comparison, &[link]).unwrap();
            assert_eq!(found(&it, &project, false)[0] == ids[3], is_raised, "{change:?} {similarity}");
            assert_eq!(found(&it, &project, true)[0], ids[0], "nobody asked: {change:?}");
        }
    }

    #[test]
    fn what_is_hardly_similar_orders_and_puts_nothing_in_doubt() {
        for (similarity, is_doubt) in [(0.06, false), (0.3, true)] {
            let (mut it, project, ids) = three_rules();
            let link = Supersession {
                older: ids[0].clone(),
                newer: ids[2].clone(),
                relation: Relation::Follows,
                change: Change::Possible,
                similarity: Some(similarity),
                made_at: 1,
                undone_at: None,
            };
            let comparison = it.store.to_compare(&project.id, &[], 10).unwrap().expect("new memories");
            it.store.put_comparison(&project.id, &comparison, &[link]).unwrap();
            for words in ["cache 5 minutes", "type:decision"] {
                let query = Query::parse(words, &jiff::Zoned::now());
                let hits = it.store.search(&Search::new(&query, Some(&project.id), 10, 5 * 86_400_000)).unwrap().hits;
                let earlier = hits.iter().find(|hit| hit.memory.id == ids[0]).expect("the earlier rule");
                assert_eq!(earlier.revisited_by.is_some(), is_doubt, "{words} {similarity}");
            }
            let order = found(&it, &project, true);
            assert!(order.iter().position(|id| *id == ids[2]) < order.iter().position(|id| *id == ids[0]), "{order:?}");
        }
    }
}
