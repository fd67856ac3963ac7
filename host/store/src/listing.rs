//! Lists of memories: the newest, the weightiest, or in the order in which they were learned, and how many there are.
//!
//! Each kind of a project's memories is found along an index, as long as only one kind is asked for. So of several kinds the best of
//! each are found first, without their texts, and only those that are listed are read.

use std::cmp::Ordering;

use rusqlite::{Row, params_from_iter};

use super::memories::{COLUMNS, MAX_OCCURRENCES, MemoryFilter, OCCURRENCE_WEIGHT, Where, from_row};
use super::{Result, Store, time_from_sql};
use throughline_model::contract::Memory;
use throughline_model::project::Project;

/// The longest list for which the best of each kind are found first. Of a longer one, most are listed anyway.
const MAX_CANDIDATES: u32 = 200;

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The newest first.
    Newest,
    /// The weightiest first.
    Weightiest,
    /// The oldest first.
    Learned,
    /// As they are stored. Of several kinds, one after the other.
    Stored,
}

impl Order {
    /// The terms by which the database sorts. The rest is done by [`Order::compare`].
    fn sql(self) -> &'static str {
        match self {
            Self::Newest => "m.created_at DESC, m.rowid",
            Self::Weightiest => "m.weight DESC, m.created_at DESC, m.rowid",
            Self::Learned => "m.created_at, m.id",
            Self::Stored => "m.rowid",
        }
    }

    fn compare(self, one: &Place<'_>, other: &Place<'_>) -> Ordering {
        let newest = || other.created.cmp(&one.created);
        match self {
            Self::Newest => newest(),
            Self::Weightiest => other.weight.total_cmp(&one.weight).then_with(newest),
            Self::Learned => one.created.cmp(&other.created),
            Self::Stored => return Ordering::Equal,
        }
        .then_with(|| one.id.cmp(other.id))
    }
}

/// By what a memory has its place in a list.
struct Place<'a> {
    weight: f64,
    created: u64,
    id: &'a str,
}

impl<'a> Place<'a> {
    /// The column `weight` contains the same value.
    fn of(memory: &'a Memory) -> Self {
        let again = memory.seen.saturating_sub(1).min(MAX_OCCURRENCES);
        let weight = f64::from(memory.importance) + OCCURRENCE_WEIGHT * f64::from(again);
        Self { weight, created: memory.created, id: &memory.id }
    }
}

/// A memory that may be listed.
struct Candidate {
    rowid: i64,
    weight: f64,
    created: u64,
    id: String,
}

impl Candidate {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { rowid: row.get(0)?, weight: row.get(1)?, created: time_from_sql(row.get(2)?), id: row.get(3)? })
    }

    fn place(&self) -> Place<'_> {
        Place { weight: self.weight, created: self.created, id: &self.id }
    }
}

impl Store {
    /// Returns how many memories the filter lets pass.
    pub fn count(&self, filter: &MemoryFilter) -> Result<u64> {
        let condition = Where::filter(filter);
        let sql = format!("SELECT count(*) FROM memories m WHERE {}", condition.sql());
        let counted: i64 = self.explain(
            self.conn
                .prepare_cached(&sql)
                .and_then(|mut s| s.query_row(params_from_iter(condition.params()), |row| row.get(0))),
        )?;
        let mut count = time_from_sql(counted);
        if let (true, Some(project), None) = (filter.shared, &filter.project, &filter.session) {
            let shared = MemoryFilter { project: Some(Project::shared().id), shared: false, ..filter.clone() };
            count += self.shared_of(self.list_own(&shared, Order::Stored, u32::MAX)?, project)?.len() as u64;
        }
        Ok(count)
    }

    /// Returns memories, newest first.
    pub fn recent(&self, filter: &MemoryFilter, limit: u32) -> Result<Vec<Memory>> {
        self.list(filter, Order::Newest, limit)
    }

    /// Returns memories, highest weight first.
    pub fn important(&self, filter: &MemoryFilter, limit: u32) -> Result<Vec<Memory>> {
        self.list(filter, Order::Weightiest, limit)
    }

    /// Returns memories in the order in which they were learned.
    pub fn in_learned_order(&self, filter: &MemoryFilter, limit: u32) -> Result<Vec<Memory>> {
        self.list(filter, Order::Learned, limit)
    }

    fn list(&self, filter: &MemoryFilter, order: Order, limit: u32) -> Result<Vec<Memory>> {
        let mut memories = self.list_own(filter, order, limit)?;
        if let (true, Some(project), None) = (filter.shared, &filter.project, &filter.session) {
            let shared = MemoryFilter { project: Some(Project::shared().id), shared: false, ..filter.clone() };
            memories.extend(self.shared_of(self.list_own(&shared, order, limit)?, project)?);
        }
        memories.sort_by(|one, other| order.compare(&Place::of(one), &Place::of(other)));
        memories.truncate(limit as usize);
        Ok(memories)
    }

    /// Lists a project's own memories, in any order.
    pub(super) fn list_own(&self, filter: &MemoryFilter, order: Order, limit: u32) -> Result<Vec<Memory>> {
        let kinds = match filter {
            MemoryFilter { kinds, .. } if !kinds.is_empty() => kinds.clone(),
            MemoryFilter { project: Some(project), session: None, .. } => self.kinds(project)?,
            _ => return self.list_one(filter, order, limit),
        };
        let filters = kinds.iter().map(|kind| MemoryFilter { kinds: vec![kind.clone()], ..filter.clone() });
        if kinds.len() == 1 || order == Order::Stored || limit > MAX_CANDIDATES {
            let mut memories = Vec::new();
            for of_kind in filters {
                memories.extend(self.list_one(&of_kind, order, limit)?);
            }
            return Ok(memories);
        }
        let mut candidates = Vec::new();
        for of_kind in filters {
            candidates.extend(self.first_of_kind(&of_kind, order, limit)?);
        }
        candidates.sort_by(|one, other| order.compare(&one.place(), &other.place()));
        candidates.truncate(limit as usize);
        self.explain(
            self.conn
                .prepare_cached(&format!("SELECT {COLUMNS} FROM memories m WHERE m.rowid = ?1"))
                .and_then(|mut s| candidates.iter().map(|it| s.query_row([it.rowid], from_row)).collect()),
        )
    }

    /// Returns the first memories of one kind, which an index gives in this order.
    fn first_of_kind(&self, filter: &MemoryFilter, order: Order, limit: u32) -> Result<Vec<Candidate>> {
        let condition = Where::filter(filter);
        let sql = format!(
            "SELECT m.rowid, m.weight, m.created_at, m.id FROM memories m WHERE {} ORDER BY {} LIMIT {limit}",
            condition.sql(),
            order.sql()
        );
        self.explain(
            self.conn
                .prepare_cached(&sql)
                .and_then(|mut s| s.query_map(params_from_iter(condition.params()), Candidate::from_row)?.collect()),
        )
    }

    fn list_one(&self, filter: &MemoryFilter, order: Order, limit: u32) -> Result<Vec<Memory>> {
        let condition = Where::filter(filter);
        let sql =
            format!("SELECT {COLUMNS} FROM memories m WHERE {} ORDER BY {} LIMIT {limit}", condition.sql(), order.sql());
        self.explain(
            self.conn
                .prepare_cached(&sql)
                .and_then(|mut s| s.query_map(params_from_iter(condition.params()), from_row)?.collect()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Fixture, draft, fixture, project};
    use throughline_model::contract::Draft;

    /// Memories of three kinds, some as important and as old as others.
    fn filled(of: &Project) -> Fixture {
        let mut it = fixture();
        let drafts: Vec<Draft> = (0..60_usize)
            .map(|number| {
                let mut draft = draft(None, &format!("Till {number} rounds the total"), &format!("u{number}"));
                draft.kind = ["decision", "learning", "result"][number % 3].into();
                draft.importance = [0.5, 0.2, 0.9, 0.5][number % 4];
                draft.origin.at = Some([1_000, 1_001, 1_002, 1_003, 1_004][number % 5]);
                draft
            })
            .collect();
        it.commit(of, "s", &drafts, &[]);
        it
    }

    #[test]
    fn of_several_kinds_the_first_of_each_are_listed() {
        let project = project("till");
        let it = filled(&project);
        let filter = |kinds: &[&str]| MemoryFilter {
            project: Some(project.id.clone()),
            kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            ..MemoryFilter::default()
        };
        for order in [Order::Newest, Order::Weightiest, Order::Learned] {
            for limit in [1, 7, 19, 60, 100] {
                let of_kind = |kind: &&str| it.store.list_one(&filter(&[*kind]), order, limit).unwrap();
                let mut whole: Vec<Memory> = ["decision", "learning", "result"].iter().flat_map(of_kind).collect();
                whole.sort_by(|one, other| order.compare(&Place::of(one), &Place::of(other)));
                whole.truncate(limit as usize);
                assert_eq!(it.store.list(&filter(&[]), order, limit).unwrap(), whole, "{order:?} {limit}");
            }
        }
        assert_eq!(it.store.list(&filter(&["decision", "result"]), Order::Weightiest, 100).unwrap().len(), 40);
    }
}
