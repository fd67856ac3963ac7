//! Salvages a database whose pages are damaged: reads every row that can still be read into a new database.
//!
//! Rows of tables with a row number are read range by range. A range that cannot be read is halved until only the
//! numbers of damaged rows are left. Rows of other tables are read from both ends. What is missing then is taken from a
//! copy of an earlier time, if there is one. Cursors and the states of extractors, which know the lines that were read,
//! are not salvaged, so that all transcripts that still exist are read again: reading a line twice stores nothing twice,
//! and brings back what only the damaged pages had. For the same reason the team's series count as unread: the next sync reads
//! them again.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::verify::StoreCheck;
use super::{Access, Result, Store, classify, open_read_only, team};

/// The tables with content, parents before children.
const TABLES: &[&str] = &[
    "makers",
    "projects",
    "memories",
    "digests",
    "supersessions",
    "sightings",
    "file_anchors",
    "shown",
    "notes",
    "note_files",
    "session_history",
    "session_context",
    "events",
    "event_keys",
    "event_files",
    "event_uses",
    "failures",
    "failure_sightings",
    "tombstones",
    "team_records",
    "team_replaced",
    "team_mutes",
];

/// How many ranges of one table may be tried that cannot be read.
const MAX_FAILURES: u32 = 20_000;

/// What was salvaged of a table.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SalvagedTable {
    /// The table.
    pub table: &'static str,
    /// Rows that could be read.
    pub read: u64,
    /// Rows that were taken from the copy.
    pub from_copy: u64,
    /// Whether some rows could not be read. How many there were is not known.
    pub damaged: bool,
}

/// Salvages `damaged` into a new database `into`, and takes what is missing from `copy`.
pub fn salvage_database(damaged: &Path, copy: Option<&Path>, into: &Path) -> Result<Vec<SalvagedTable>> {
    let store = Store::open(into, Access::Write, super::BUSY_TIMEOUT.get().0)?;
    let salvaged = (|| {
        store.conn.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF")?;
        let copy = copy.and_then(|copy| open_read_only(copy).ok());
        // A file that is no database at all has nothing.
        let from = open_read_only(damaged).ok();
        let mut tables = Vec::new();
        for table in TABLES {
            tables.push(table_of(from.as_ref(), copy.as_ref(), &store.conn, table)?);
        }
        store.conn.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL")?;
        Ok(tables)
    })();
    salvaged.map_err(|error| classify(into, error))
}

impl Store {
    /// Computes everything that a salvaged database lacks: indexes, counters and lost parents.
    pub fn complete_salvaged(&mut self, now: u64) -> Result<()> {
        self.write(team::prepare_salvaged)?;
        let all = [
            StoreCheck::Projects,
            StoreCheck::Orphans,
            StoreCheck::Digests,
            StoreCheck::Lists,
            StoreCheck::Counters,
            StoreCheck::WordTable,
            StoreCheck::EventWordTable,
            StoreCheck::Occurrences,
            StoreCheck::Shared,
            StoreCheck::Failures,
        ];
        self.repair(&BTreeSet::from(all), now)?;
        // What the repair removed was not deleted by a person, so the team is not told.
        self.write(|tx| tx.execute("DELETE FROM team_records WHERE gone", []).map(drop))
    }
}

fn table_of(
    from: Option<&Connection>,
    copy: Option<&Connection>,
    to: &Connection,
    table: &'static str,
) -> rusqlite::Result<SalvagedTable> {
    let tx = to.unchecked_transaction()?;
    let mut salvaged = SalvagedTable { table, read: 0, from_copy: 0, damaged: true };
    if let Some(from) = from {
        let mut reader = Reader { from, to: &tx, table, names: Vec::new(), count: 0, failures: 0 };
        salvaged.damaged = reader.read_all().is_err() || reader.failures > 0;
        salvaged.read = reader.count;
    }
    if let Some(copy) = copy.filter(|_| salvaged.damaged) {
        let mut reader = Reader { from: copy, to: &tx, table, names: Vec::new(), count: 0, failures: 0 };
        // What a copy lacks is no further fault.
        let _ = reader.read_all();
        salvaged.from_copy = reader.count;
    }
    tx.commit()?;
    Ok(salvaged)
}

/// Reads the rows of one table into another database.
struct Reader<'a> {
    from: &'a Connection,
    to: &'a Connection,
    table: &'static str,
    /// The columns that both have.
    names: Vec<String>,
    /// How many rows were new.
    count: u64,
    /// How many times rows could not be read.
    failures: u32,
}

impl Reader<'_> {
    fn read_all(&mut self) -> rusqlite::Result<()> {
        let (own, theirs) = (columns(self.to, self.table)?, columns(self.from, self.table)?);
        self.names = own
            .iter()
            .filter(|(name, _)| theirs.iter().any(|(other, _)| other == name))
            .map(|(name, _)| name.clone())
            .collect();
        let key: Vec<&str> = own.iter().filter(|(_, is_key)| *is_key).map(|(name, _)| name.as_str()).collect();
        let has_rowid = self.to.prepare(&format!("SELECT rowid FROM {}", self.table)).is_ok();
        if has_rowid {
            self.read_range(i64::MIN, i64::MAX);
        } else {
            let (up, down) = (format!("ORDER BY {}", key.join(", ")), format!("ORDER BY {} DESC", key.join(" DESC, ")));
            if self.read(&up, &[]).is_err() {
                self.failures += 1;
                // What the first reading got is not counted twice.
                let _ = self.read(&down, &[]);
            }
        }
        Ok(())
    }

    /// Reads the rows in a range of numbers, skipping those that cannot be read.
    fn read_range(&mut self, first: i64, last: i64) {
        if first > last || self.failures > MAX_FAILURES {
            return;
        }
        let Err(reached) = self.read("WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid", &[first, last]) else { return };
        self.failures += 1;
        let first = reached.map_or(first, |reached| reached.saturating_add(1));
        let Err(reached) = self.read("WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid DESC", &[first, last]) else { return };
        self.failures += 1;
        let last = reached.map_or(last, |reached| reached.saturating_sub(1));
        if first < last {
            let middle = first.midpoint(last);
            self.read_range(first, middle);
            self.read_range(middle.saturating_add(1), last);
        }
    }

    /// Reads rows until one cannot be read; then returns the number of the last one that could be.
    fn read(&mut self, which: &str, range: &[i64]) -> std::result::Result<(), Option<i64>> {
        let names = self.names.join(", ");
        let marks = self.names.iter().map(|_| "?").collect::<Vec<_>>().join(", ");
        let (table, mut reached) = (self.table, None);
        let number = if range.is_empty() { "NULL" } else { "rowid" };
        let read = (|| {
            let mut insert = self.to.prepare_cached(&format!("INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"))?;
            let mut select = self.from.prepare(&format!("SELECT {number}, {names} FROM {table} {which}"))?;
            let mut rows = select.query(params_from_iter(range))?;
            while let Some(row) = rows.next()? {
                let values: Vec<Value> = (0..self.names.len()).map(|at| row.get(at + 1)).collect::<rusqlite::Result<_>>()?;
                // A row that breaks a rule of the schema is as good as damaged.
                self.count += insert.execute(params_from_iter(values)).unwrap_or(0) as u64;
                reached = row.get(0)?;
            }
            Ok::<_, rusqlite::Error>(())
        })();
        read.map_err(|_| reached)
    }
}

/// Returns a table's columns, without generated ones, and whether they are part of the key.
fn columns(conn: &Connection, table: &str) -> rusqlite::Result<Vec<(String, bool)>> {
    conn.prepare("SELECT name, pk > 0 FROM pragma_table_xinfo(?1) WHERE hidden = 0 ORDER BY cid")?
        .query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_with_content_is_salvaged() {
        // Cursors and states must not come back, and deletions touch none of the others.
        let mut kept: BTreeSet<&str> = super::super::kept::TABLES.iter().copied().collect();
        assert!(kept.remove("transcripts") && kept.remove("extractor_states"));
        kept.extend(["makers", "event_files", "team_records", "team_replaced", "team_mutes"]);
        assert_eq!(TABLES.iter().copied().collect::<BTreeSet<&str>>(), kept);
    }
}
