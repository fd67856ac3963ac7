//! Which memories a statement of SQL is about.

use std::ops::RangeInclusive;

use rusqlite::{Connection, ToSql};
use throughline_search::query::Query;

use crate::extent::ROW_BITS;
use crate::marks::Marked;
use crate::projects;

/// Which memories to list. Empty fields do not restrict.
#[derive(Debug, Clone, Default)]
pub struct MemoryFilter {
    /// One project.
    pub project: Option<String>,
    /// One session.
    pub session: Option<String>,
    /// Kinds; empty means all but `turn`.
    pub kinds: Vec<String>,
    /// Whether to include memories shared with all projects.
    pub shared: bool,
    /// Whether to leave out memories whose place a later one took.
    pub current: bool,
    /// What a person may have said of them.
    pub marked: Marked,
}

/// Indexes identify a project by its number.
const OF_PROJECT: &str = "m.project = (SELECT number FROM projects WHERE id = ?)";

/// The conditions and parameters of a WHERE clause.
#[derive(Default)]
pub(crate) struct Where {
    clauses: Vec<String>,
    params: Vec<Box<dyn ToSql>>,
}

impl Where {
    fn and(&mut self, clause: &str, value: impl ToSql + 'static) {
        self.params.push(Box::new(value));
        self.clauses.push(clause.replace('?', &format!("?{}", self.params.len())));
    }

    /// Matches memories that can be listed, which excludes those folded into a digest.
    fn listed() -> Self {
        Self { clauses: vec!["m.digest IS NULL".into()], params: Vec::new() }
    }

    pub(crate) fn filter(filter: &MemoryFilter) -> Self {
        let mut it = Self::listed();
        if let Some(project) = &filter.project {
            it.and(OF_PROJECT, project.clone());
        }
        if let Some(session) = &filter.session {
            it.and("m.session_id = ?", session.clone());
        }
        if filter.current {
            it.clauses.push("m.superseded_by IS NULL".into());
        }
        it.clauses.push(filter.marked.sql().into());
        if filter.kinds.is_empty() {
            it.clauses.push("m.type <> 'turn'".into());
        } else {
            it.kinds(&filter.kinds);
        }
        it
    }

    fn kinds(&mut self, kinds: &[String]) {
        if kinds.is_empty() {
            return;
        }
        let marks: Vec<String> = kinds
            .iter()
            .map(|kind| {
                self.params.push(Box::new(kind.clone()));
                format!("?{}", self.params.len())
            })
            .collect();
        self.clauses.push(format!("m.type IN ({})", marks.join(", ")));
    }

    /// Adds the parts of a query that the database can check; [`Query::accepts`] checks the rest.
    pub(crate) fn query(&mut self, query: &Query, project: Option<&str>, marked: Marked) {
        self.clauses.extend(Self::listed().clauses);
        self.clauses.push(marked.sql().into());
        if let Some(project) = project {
            self.and(OF_PROJECT, project.to_owned());
        }
        self.kinds(&query.kinds);
        if let Some(after) = query.after {
            self.and("m.created_at >= ?", after);
        }
        if let Some(before) = query.before {
            self.and("m.created_at < ?", before);
        }
    }

    pub(crate) fn params(&self) -> &[Box<dyn ToSql>] {
        &self.params
    }

    pub(crate) fn sql(&self) -> String {
        if self.clauses.is_empty() { "1".into() } else { self.clauses.join(" AND ") }
    }
}

/// Returns the rows that memories of a project, or of all, can have, or `None` if the project is unknown.
pub(crate) fn row_range(conn: &Connection, project: Option<&str>) -> rusqlite::Result<Option<RangeInclusive<i64>>> {
    let Some(project) = project else { return Ok(Some(0..=(1 << 54))) };
    Ok(projects::number(conn, project)?.map(|number| (number << ROW_BITS)..=(number << ROW_BITS | ((1 << ROW_BITS) - 1))))
}
