//! What a person says of a memory, which outranks every rule: it is pinned, or wrong.
//!
//! A *pinned* memory is told at the start of every session. No cleaning, folding or retraction removes it, and a search does
//! not count its age.
//!
//! A *wrong* memory stays as it is, but no list and no search has it unless the caller asks for wrong ones too. What it took
//! the place of holds again, and notes of its sessions are told without it. Its row stays, so reading its transcript again
//! changes nothing. Its copy that is shared with all projects, and whatever that is a copy of, get the same mark.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::marks::{Marks, marks_from_row, set_pinned, set_wrong};
use super::memories::{COLUMNS, drop_from_notes, from_row};
use super::sharing::{self, SHARED_FROM};
use super::{Replacement, Result, Store, classify, digests};
use throughline_model::contract::{Memory, SessionNotes};
use throughline_model::project::Project;
use throughline_model::redacted::{Redacted, Texts};
use throughline_model::said_by::SaidBy;

/// How many memories of a project can be pinned. All of them are shown at every start, so a longer list would leave no
/// room for new memories.
pub const MAX_PINNED: u32 = 12;

/// A pinned memory, as it is told.
#[derive(Debug, Clone, PartialEq)]
pub struct PinnedMemory {
    /// The pinned memory, or the one by which a person replaced it.
    pub memory: Memory,
    /// The later memory that took its place, if no person said that one: the pinned memory is told nevertheless.
    pub later: Option<Replacement>,
}

/// The outcome of pinning a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinOutcome {
    /// It is pinned now.
    Pinned,
    /// It was pinned already.
    Known,
    /// [`MAX_PINNED`] others of its project are pinned.
    Full,
    /// There is no such memory.
    Missing,
}

/// Why a memory is wrong, in a person's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrongReason(pub String);

impl Texts for WrongReason {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        vec![&mut self.0]
    }
}

/// What marking a memory wrong or right changed, or would change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MarkChange {
    /// The memories whose mark changed: the memory, and its copies.
    pub marked: Vec<Memory>,
    /// Memories whose place the wrong one had taken: they hold again.
    pub holds_again: Vec<Memory>,
    /// Memories that replaced it in the meantime, and that it replaces again.
    pub superseded: Vec<Memory>,
}

impl Store {
    /// Returns the marks of memories, in their order.
    pub fn marks(&self, ids: &[&str]) -> Result<Vec<Marks>> {
        self.explain(self.conn.prepare_cached("SELECT pinned_at, wrong_at FROM memories WHERE id = ?1").and_then(|mut s| {
            ids.iter().map(|id| Ok(s.query_row([id], marks_from_row).optional()?.unwrap_or_default())).collect()
        }))
    }

    /// Pins a memory; without `really`, only says what would come of it. One that was folded into a digest is restored.
    pub fn pin(&mut self, id: &str, now: u64, really: bool) -> Result<PinOutcome> {
        self.write(|tx| {
            let found: Option<(i64, bool)> = tx
                .prepare_cached("SELECT rowid, pinned_at IS NOT NULL FROM memories WHERE id = ?1")?
                .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((rowid, is_pinned)) = found else { return Ok(PinOutcome::Missing) };
            if is_pinned {
                return Ok(PinOutcome::Known);
            }
            let others: u32 = tx
                .prepare_cached(
                    "SELECT count(*) FROM memories WHERE pinned_at IS NOT NULL AND wrong_at IS NULL
                       AND project = (SELECT project FROM memories WHERE rowid = ?1)",
                )?
                .query_row([rowid], |row| row.get(0))?;
            if others >= MAX_PINNED {
                return Ok(PinOutcome::Full);
            }
            if really {
                digests::revive(tx, rowid, None)?;
                set_pinned(tx, rowid, Some(now))?;
            }
            Ok(PinOutcome::Pinned)
        })
    }

    /// Undoes [`Store::pin`]; without `really`, only says what would come of it. Returns false if the memory was not pinned.
    pub fn unpin(&mut self, id: &str, really: bool) -> Result<bool> {
        self.write(|tx| {
            if !really {
                return tx.prepare_cached("SELECT 1 FROM memories WHERE id = ?1 AND pinned_at IS NOT NULL")?.exists([id]);
            }
            let unpinned = tx
                .prepare_cached("UPDATE memories SET pinned_at = NULL WHERE id = ?1 AND pinned_at IS NOT NULL")?
                .execute([id])?;
            Ok(unpinned > 0)
        })
    }

    /// Returns the pinned memories of a project, and of those that all projects share if `shared`, in the order in which
    /// they were pinned; at most [`MAX_PINNED`] of each.
    pub fn pinned(&self, project: &str, shared: bool) -> Result<Vec<PinnedMemory>> {
        let mut found: Vec<PinnedMemory> = Vec::new();
        let common = Project::shared().id;
        for project_of_pin in [project, common.as_str()].into_iter().take(1 + usize::from(shared)) {
            for memory in self.explain(pinned_of(&self.conn, project_of_pin))? {
                if project_of_pin != project && self.explain(sharing::is_known(&self.conn, &memory.id, project))? {
                    continue;
                }
                let later = self.replacements(&[&memory.id])?.into_iter().next().flatten();
                let pinned = match later {
                    Some(Replacement { head, .. }) if head.said_by() == Some(SaidBy::Human) => {
                        PinnedMemory { memory: head, later: None }
                    }
                    later => PinnedMemory { memory, later },
                };
                if found.iter().all(|other| other.memory.id != pinned.memory.id) {
                    found.push(pinned);
                }
            }
        }
        Ok(found)
    }

    /// Marks a memory wrong; without `really`, only says what would change. One that was folded into a digest is restored
    /// first, so that the digest does not say it any more.
    pub fn mark_wrong(
        &mut self,
        id: &str,
        because: Option<&Redacted<WrongReason>>,
        now: u64,
        really: bool,
    ) -> Result<MarkChange> {
        self.mark(id, really, |tx, rowid| {
            digests::revive(tx, rowid, None)?;
            set_wrong(tx, rowid, Some(now), because.map(|reason| reason.0.as_str()))
        })
    }

    /// Undoes [`Store::mark_wrong`]; without `really`, only says what would change.
    pub fn mark_right(&mut self, id: &str, really: bool) -> Result<MarkChange> {
        self.mark(id, really, |tx, rowid| set_wrong(tx, rowid, None, None))
    }

    /// Changes the mark of a memory and of its copies in one transaction, which is taken back if it is only a preview.
    fn mark(
        &mut self,
        id: &str,
        really: bool,
        mut set: impl FnMut(&Connection, i64) -> rusqlite::Result<bool>,
    ) -> Result<MarkChange> {
        let path = self.path.clone();
        let outcome = (|| {
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut change = MarkChange::default();
            for rowid in with_copies(&tx, id)? {
                let before = links_to(&tx, rowid)?;
                if !set(&tx, rowid)? {
                    continue;
                }
                change.marked.extend(memory(&tx, rowid)?);
                for ((older, was_superseded), (_, is_superseded)) in before.into_iter().zip(links_to(&tx, rowid)?) {
                    match (was_superseded, is_superseded) {
                        (true, false) => change.holds_again.extend(memory(&tx, older)?),
                        (false, true) => change.superseded.extend(memory(&tx, older)?),
                        _ => {}
                    }
                }
            }
            if really {
                tx.commit()?;
            }
            Ok(change)
        })();
        outcome.map_err(|error| classify(&path, error))
    }

    /// Removes from a session's notes what was marked wrong.
    pub(super) fn leave_out_wrong(&self, session: &str, notes: &mut SessionNotes) -> Result<()> {
        let wrong: Vec<(String, String)> = self.explain(
            self.conn
                .prepare_cached(
                    "SELECT title, content FROM memories m WHERE m.wrong_at IS NOT NULL
                       AND (m.session_id = ?1 OR EXISTS (SELECT 1 FROM sightings s WHERE s.memory = m.rowid AND s.session_id = ?1))",
                )
                .and_then(|mut s| s.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()),
        )?;
        for (title, content) in wrong {
            drop_from_notes(notes, &title, &content);
        }
        Ok(())
    }
}

fn memory(conn: &Connection, rowid: i64) -> rusqlite::Result<Option<Memory>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memories m WHERE m.rowid = ?1"))?
        .query_row([rowid], from_row)
        .optional()
}

fn pinned_of(conn: &Connection, project: &str) -> rusqlite::Result<Vec<Memory>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories m
         WHERE m.project = (SELECT number FROM projects WHERE id = ?1) AND m.pinned_at IS NOT NULL AND m.wrong_at IS NULL
           AND m.digest IS NULL ORDER BY m.pinned_at, m.rowid LIMIT {MAX_PINNED}"
    ))?
    .query_map([project], from_row)?
    .collect()
}

/// Returns the rows of a memory, of its shared copy, and of its original.
fn with_copies(conn: &Connection, id: &str) -> rusqlite::Result<Vec<i64>> {
    let own = conn
        .prepare_cached(&format!("SELECT {COLUMNS}, m.rowid FROM memories m WHERE m.id = ?1"))?
        .query_row([id], |row| Ok((from_row(row)?, row.get::<_, i64>(11)?)))
        .optional()?;
    let Some((memory, rowid)) = own else { return Ok(Vec::new()) };
    let mut rows = vec![rowid];
    rows.extend(
        conn.prepare_cached("SELECT memory FROM sightings WHERE session_id = '' AND key = 'shared:' || ?1")?
            .query_row([id], |row| row.get::<_, i64>(0))
            .optional()?,
    );
    let mut origin = conn.prepare_cached("SELECT rowid FROM memories WHERE id = ?1")?;
    for (_, id) in memory.attributes.iter().filter(|(name, _)| name == SHARED_FROM) {
        rows.extend(origin.query_row([id], |row| row.get::<_, i64>(0)).optional()?);
    }
    rows.dedup();
    Ok(rows)
}

/// Returns the memories that are linked to a later one, and whether something holds in their stead.
fn links_to(conn: &Connection, newer: i64) -> rusqlite::Result<Vec<(i64, bool)>> {
    conn.prepare_cached(
        "SELECT m.rowid, m.superseded_by IS NOT NULL FROM supersessions s JOIN memories m ON m.rowid = s.older
         WHERE s.newer = ?1 ORDER BY m.created_at, m.rowid",
    )?
    .query_map([newer], |row| Ok((row.get(0)?, row.get(1)?)))?
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Fixture, draft, fixture, project, redacted};
    use crate::{Marked, MemoryFilter, Search, WRONG_BECAUSE};
    use throughline_model::contract::{Draft, Origin};
    use throughline_search::query::Query;
    use throughline_search::supersession::Relation;

    fn rule(day: u64, text: &str, session: &str, it: &mut Fixture, project: &Project) -> String {
        let origin = Origin { line_uuid: Some(format!("{session}-{day}")), at: Some(day * 86_400_000) };
        let draft = Draft { origin, ..draft(Some(&format!("k{day}")), text, "u") };
        it.commit(project, session, &[draft], &[]);
        let filter = MemoryFilter { project: Some(project.id.clone()), marked: Marked::Any, ..MemoryFilter::default() };
        let all = it.store.recent(&filter, 100).unwrap();
        all.into_iter().find(|memory| memory.content == text || memory.title == text).expect("it was stored").id
    }

    fn found(it: &Fixture, project: &Project, wrong: bool) -> Vec<String> {
        let query = Query::parse("cache minutes", &jiff::Zoned::now());
        let marked = if wrong { Marked::Any } else { Marked::NotWrong };
        let search = Search { marked, ..Search::new(&query, Some(&project.id), 10, 9 * 86_400_000) };
        it.store.search(&search).unwrap().hits.into_iter().map(|hit| hit.memory.id).collect()
    }

    fn listed(it: &Fixture, project: &Project) -> Vec<String> {
        let filter = MemoryFilter { project: Some(project.id.clone()), ..MemoryFilter::default() };
        it.store.recent(&filter, 100).unwrap().into_iter().map(|memory| memory.id).collect()
    }

    fn wrong(it: &mut Fixture, id: &str, because: Option<&str>) -> MarkChange {
        let reason = because.map(|because| redacted(WrongReason(because.into())));
        it.store.mark_wrong(id, reason.as_ref(), 5, true).unwrap()
    }

    #[test]
    fn what_is_wrong_is_in_no_list_and_what_it_replaced_holds_again() {
        let (mut it, project) = (fixture(), project("a"));
        let old = rule(1, "The cache lives 5 minutes", "s1", &mut it, &project);
        let new = rule(2, "The cache lives 15 minutes", "s2", &mut it, &project);
        it.store.supersede(&old, &new, Relation::Amends, 3).unwrap();
        let preview = it.store.mark_wrong(&new, None, 4, false).unwrap();
        assert_eq!(preview.holds_again.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), [old.as_str()]);
        assert!(listed(&it, &project).contains(&new), "a preview changes nothing");

        let change = wrong(&mut it, &new, Some("it was a guess"));
        assert_eq!((change.marked.len(), change.holds_again.len()), (1, 1));
        assert_eq!(listed(&it, &project), [old.as_str()]);
        assert_eq!(found(&it, &project, false), [old.as_str()]);
        assert_eq!(found(&it, &project, true).len(), 2);
        assert!(it.store.replacements(&[&old]).unwrap()[0].is_none());
        let shown = it.store.memory(&new, None).unwrap().remove(0).memory;
        assert!(shown.attributes.contains(&(WRONG_BECAUSE.into(), "it was a guess".into())));
        assert_eq!(it.store.marks(&[&new]).unwrap()[0].wrong_at, Some(5));
        assert!(wrong(&mut it, &new, None).marked.is_empty(), "it is wrong already");

        let back = it.store.mark_right(&new, true).unwrap();
        assert_eq!(back.superseded.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), [old.as_str()]);
        assert_eq!(found(&it, &project, false)[0], new);
        assert!(it.store.replacements(&[&old]).unwrap()[0].is_some());
        let shown = it.store.memory(&new, None).unwrap().remove(0).memory;
        assert!(shown.attributes.iter().all(|(name, _)| name != WRONG_BECAUSE));
    }

    #[test]
    fn reading_again_brings_back_nothing_that_is_wrong() {
        let (mut it, project) = (fixture(), project("a"));
        let id = rule(1, "The cache lives 5 minutes", "s1", &mut it, &project);
        wrong(&mut it, &id, None);
        // The same line, the same words elsewhere, and the key with other words.
        assert_eq!(rule(1, "The cache lives 5 minutes", "s1", &mut it, &project), id);
        assert_eq!(rule(2, "The cache lives 5 minutes", "s2", &mut it, &project), id);
        it.commit(&project, "s1", &[draft(Some("k1"), "The cache lives 6 minutes", "u")], &[]);
        it.commit(&project, "s2", &[], &["k2".into()]);
        assert_eq!(listed(&it, &project).len(), 1);
        assert_eq!(rule(1, "The cache lives 5 minutes", "s1", &mut it, &project), id);
        assert!(!listed(&it, &project).contains(&id));
        assert_eq!(it.store.collect_garbage(u64::MAX >> 1, 0, None, true).unwrap(), 0);
        assert!(it.store.faults().unwrap().is_empty());
    }

    #[test]
    fn what_is_pinned_stays_and_what_replaces_it_is_pinned() {
        let (mut it, project) = (fixture(), project("a"));
        let id = rule(1, "The cache lives 5 minutes", "s1", &mut it, &project);
        assert_eq!(it.store.pin(&id, 7, false).unwrap(), PinOutcome::Pinned);
        assert_eq!(it.store.marks(&[&id]).unwrap()[0].pinned_at, None, "a preview changes nothing");
        assert_eq!(it.store.pin(&id, 7, true).unwrap(), PinOutcome::Pinned);
        assert!(it.store.unpin(&id, false).unwrap());
        assert_eq!(it.store.pin(&id, 8, true).unwrap(), PinOutcome::Known);
        assert_eq!(it.store.pin("none", 8, true).unwrap(), PinOutcome::Missing);
        it.commit(&project, "s1", &[], &["k1".into()]);
        assert_eq!(it.store.collect_garbage(u64::MAX >> 1, 0, None, true).unwrap(), 0);
        let pinned = |it: &Fixture| it.store.pinned(&project.id, true).unwrap();
        assert_eq!(pinned(&it)[0].memory.id, id);

        // A rule's later word is mentioned, and a person's takes its place.
        let ruled = rule(2, "The cache lives 15 minutes", "s2", &mut it, &project);
        it.store.supersede(&id, &ruled, Relation::Amends, 3).unwrap();
        let told = pinned(&it);
        assert_eq!(
            (told[0].memory.id.as_str(), told[0].later.as_ref().map(|it| it.head.id.as_str())),
            (id.as_str(), Some(ruled.as_str()))
        );
        let human =
            Draft { attributes: vec![SaidBy::Human.attribute()], ..draft(Some("h"), "The cache lives 20 minutes", "v") };
        it.commit(&project, "s3", &[human], &[]);
        let human = listed(&it, &project).into_iter().find(|other| *other != id && *other != ruled).unwrap();
        it.store.supersede(&ruled, &human, Relation::Amends, 4).unwrap();
        let told = pinned(&it);
        assert_eq!((told.len(), told[0].memory.id.as_str(), told[0].later.is_none()), (1, human.as_str(), true));
        assert!(it.store.unpin(&id, true).unwrap() && !it.store.unpin(&id, true).unwrap());
        assert!(pinned(&it).is_empty());

        // The extractor changes its mind about a pinned memory: the later words are pinned.
        it.store.pin(&ruled, 9, true).unwrap();
        it.commit(&project, "s2", &[draft(Some("k2"), "The cache lives 25 minutes", "w")], &[]);
        assert_eq!(pinned(&it)[0].memory.content, "The cache lives 25 minutes");
    }

    #[test]
    fn only_so_many_are_pinned() {
        let (mut it, project) = (fixture(), project("a"));
        for day in 1..=u64::from(MAX_PINNED) + 1 {
            let id = rule(day, &format!("Rule number {day} of the cache"), "s1", &mut it, &project);
            let outcome = it.store.pin(&id, day, true).unwrap();
            assert_eq!(outcome == PinOutcome::Pinned, day <= u64::from(MAX_PINNED), "{day}: {outcome:?}");
        }
        assert_eq!(it.store.pinned(&project.id, false).unwrap().len(), MAX_PINNED as usize);
    }

    #[test]
    fn copies_are_wrong_with_their_origin() {
        let (mut it, project) = (fixture(), project("a"));
        let id = rule(1, "The cache lives 5 minutes", "s1", &mut it, &project);
        let copy = it.store.share(&id, 2).unwrap().unwrap();
        assert_eq!(wrong(&mut it, &id, None).marked.len(), 2);
        assert!(listed(&it, &Project::shared()).is_empty());
        assert_eq!(it.store.mark_right(&copy, true).unwrap().marked.len(), 2);
        assert_eq!(listed(&it, &project), [id.as_str()]);
        // A copy that is marked goes with its origin nevertheless.
        it.store.pin(&copy, 3, true).unwrap();
        assert!(it.store.unshare(&id).unwrap());
        assert!(it.store.memory(&copy, None).unwrap().is_empty());
    }
}
