//! Brings the rows of a kept file back: undoes its changes, the last one first.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior, params, params_from_iter};
use serde::Serialize;

use super::{MAX_COLUMNS, columns, list};
use crate::extent::ROW_BITS;
use crate::index::{index, unindex};
use crate::memories::recount;
use crate::{Result, Store, classify, events, from_json_or_default, open_read_only, projects};
use throughline_model::contract::Draft;
use throughline_model::digest::{hex, sha256_parts};

/// What came back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BroughtBack {
    /// The number of memories.
    pub memories: u64,
    /// The number of sessions.
    pub sessions: u64,
    /// The number of events.
    pub events: u64,
    /// The number of rows that stayed as they are, because they changed since the deletion.
    pub left: u64,
}

impl Store {
    /// Brings back what a file keeps, in one transaction. The file stays.
    pub fn bring_back(&mut self, file: &Path) -> Result<BroughtBack> {
        let kept = open_read_only(file).map_err(|error| classify(file, error))?;
        let (columns, changes) = read_changes(&kept).map_err(|error| classify(file, error))?;
        let path = self.path.clone();
        let outcome = (|| {
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut undo = Undo {
                tx: &tx,
                columns: &columns,
                numbers: HashMap::new(),
                memories: BTreeSet::new(),
                events: BTreeSet::new(),
                merged: BTreeSet::new(),
                back: BroughtBack::default(),
            };
            for change in changes {
                undo.undo(change)?;
            }
            let back = undo.finish()?;
            tx.commit()?;
            Ok(back)
        })();
        outcome.map_err(|error: rusqlite::Error| classify(&path, error))
    }
}

/// A change of a row.
struct Change {
    table: String,
    op: String,
    before: Vec<Value>,
    after: Vec<Value>,
}

/// The columns of each table.
type TableColumns = HashMap<String, Vec<String>>;

/// Reads the columns and the changes of a file, the last change first.
fn read_changes(kept: &Connection) -> rusqlite::Result<(TableColumns, Vec<Change>)> {
    let mut columns = TableColumns::new();
    let mut select = kept.prepare("SELECT tbl, name FROM columns ORDER BY rowid")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        columns.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    let mut changes = Vec::new();
    let mut select = kept.prepare("SELECT * FROM changes ORDER BY seq DESC")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let table: String = row.get(1)?;
        let Some(count) = columns.get(&table).map(Vec::len) else { continue };
        let image = |from: usize| (0..count).map(|at| row.get(from + at)).collect::<rusqlite::Result<Vec<Value>>>();
        changes.push(Change { before: image(3)?, after: image(3 + MAX_COLUMNS)?, op: row.get(2)?, table });
    }
    Ok((columns, changes))
}

/// What a number in a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Numbered {
    Memory,
    Event,
    Failure,
}

/// Returns the kind of row that the number in a column refers to.
fn numbered(table: &str, column: &str) -> Option<Numbered> {
    match (table, column) {
        ("memories", "rowid" | "digest" | "superseded_by" | "followed_by" | "revisited_by")
        | ("supersessions", "older" | "newer")
        | (_, "memory") => Some(Numbered::Memory),
        (_, "event_id") => Some(Numbered::Event),
        ("failures", "number") | ("failure_sightings", "failure") => Some(Numbered::Failure),
        _ => None,
    }
}

/// Undoes the changes of one file.
struct Undo<'a> {
    tx: &'a Connection,
    columns: &'a TableColumns,
    /// The numbers that rows have now, by those that they had.
    numbers: HashMap<(Numbered, i64), i64>,
    /// Memories whose index entries are made anew.
    memories: BTreeSet<i64>,
    /// Events whose index entries are made anew.
    events: BTreeSet<i64>,
    /// Memories that were learned again since.
    merged: BTreeSet<i64>,
    back: BroughtBack,
}

impl Undo<'_> {
    fn undo(&mut self, change: Change) -> rusqlite::Result<()> {
        let Change { table, op, mut before, mut after } = change;
        let Some(names) = self.columns.get(&table) else { return Ok(()) };
        self.renumber(&table, names, &mut before);
        self.renumber(&table, names, &mut after);
        match op.as_str() {
            "D" => self.insert(&table, names, before),
            "U" => self.revert(&table, names, &before, &after),
            _ => self.delete(&table, names, &after),
        }
    }

    /// Replaces the numbers of rows that have others now.
    fn renumber(&self, table: &str, names: &[String], row: &mut [Value]) {
        for (name, value) in names.iter().zip(row) {
            if let (Some(kind), Value::Integer(number)) = (numbered(table, name), &value)
                && let Some(now) = self.numbers.get(&(kind, *number))
            {
                *value = Value::Integer(*now);
            }
        }
    }

    /// Inserts a row that was deleted.
    fn insert(&mut self, table: &str, names: &[String], mut row: Vec<Value>) -> rusqlite::Result<()> {
        let is_placed = match table {
            "memories" => self.place_memory(names, &mut row)?,
            "failures" => self.place_failure(names, &row)?,
            _ => true,
        };
        if !is_placed {
            self.back.left += 1;
            return Ok(());
        }
        // A number that was given to another row meanwhile is replaced.
        let own = match table {
            "events" => position(names, "event_id").map(|at| (at, Some(Numbered::Event))),
            "failures" => position(names, "number").map(|at| (at, Some(Numbered::Failure))),
            "projects" => position(names, "number").map(|at| (at, None)),
            _ => None,
        };
        let mut replaced = None;
        if let Some((at, kind)) = own {
            let is_same = list(names.len(), |at| format!("{} IS ?{}", names[at], at + 1), " AND ");
            let same = format!("SELECT 1 FROM {table} WHERE {is_same}");
            if self.tx.prepare_cached(&same)?.exists(params_from_iter(&row))? {
                self.back.left += 1;
                return Ok(());
            }
            let taken = format!("SELECT 1 FROM {table} WHERE {} = ?1", names[at]);
            if self.tx.prepare_cached(&taken)?.exists([&row[at]])? {
                replaced = kind.zip(integer(&row[at]));
                row[at] = Value::Null;
            }
        }
        let values = list(names.len(), |_| "?".into(), ", ");
        let sql = format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({values})", names.join(", "));
        let inserted = match self.tx.prepare_cached(&sql)?.execute(params_from_iter(&row)) {
            // What the row belongs to was deleted by another deletion.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => 0,
            other => other?,
        };
        if inserted == 0 {
            self.back.left += u64::from(table != "projects");
            return Ok(());
        }
        let number = self.tx.last_insert_rowid();
        if let Some((kind, before)) = replaced {
            self.numbers.insert((kind, before), number);
        }
        match table {
            "memories" => {
                self.back.memories += 1;
                self.memories.insert(number);
            }
            "session_history" => self.back.sessions += 1,
            "events" => {
                self.back.events += 1;
                self.events.insert(number);
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns whether a failure has to be inserted. If the same one happened again since, its occurrences go there.
    fn place_failure(&mut self, names: &[String], row: &[Value]) -> rusqlite::Result<bool> {
        let [Some(number), Some(project), Some(signature)] =
            ["number", "project_id", "signature"].map(|column| position(names, column).map(|at| &row[at]))
        else {
            return Ok(false);
        };
        let known: Option<i64> = self
            .tx
            .prepare_cached("SELECT number FROM failures WHERE project_id = ?1 AND signature = ?2")?
            .query_row([project, signature], |row| row.get(0))
            .optional()?;
        if let (Some(known), Some(before)) = (known, integer(number)) {
            self.numbers.insert((Numbered::Failure, before), known);
        }
        Ok(known.is_none())
    }

    /// Gives a memory that was deleted a number that is free. Returns false if it was learned again since, or if its
    /// project is gone.
    fn place_memory(&mut self, names: &[String], row: &mut [Value]) -> rusqlite::Result<bool> {
        let [Some(rowid_at), Some(id_at), Some(project_at), Some(hash_at)] =
            ["rowid", "id", "project_id", "content_hash"].map(|column| position(names, column))
        else {
            return Ok(false);
        };
        let (Some(before), Value::Text(project)) = (integer(&row[rowid_at]), row[project_at].clone()) else {
            return Ok(false);
        };
        let known: Option<i64> = self
            .tx
            .prepare_cached("SELECT rowid FROM memories WHERE project_id = ?1 AND content_hash = ?2")?
            .query_row(params![project, row[hash_at]], |row| row.get(0))
            .optional()?;
        if let Some(known) = known {
            self.numbers.insert((Numbered::Memory, before), known);
            self.merged.insert(known);
            return Ok(false);
        }
        let Some(project_number) = projects::number(self.tx, &project)? else { return Ok(false) };
        let is_free = project_number == before >> ROW_BITS
            && !self.tx.prepare_cached("SELECT 1 FROM memories WHERE rowid = ?1")?.exists([before])?;
        if is_free {
            let count = before & ((1 << ROW_BITS) - 1);
            self.tx
                .prepare_cached("UPDATE projects SET memories = max(memories, ?2) WHERE id = ?1")?
                .execute(params![project, count])?;
        } else {
            let number: i64 = self
                .tx
                .prepare_cached(&format!(
                    "UPDATE projects SET memories = memories + 1 WHERE id = ?1 RETURNING number << {ROW_BITS} | memories"
                ))?
                .query_row([&project], |row| row.get(0))?;
            self.numbers.insert((Numbered::Memory, before), number);
            row[rowid_at] = Value::Integer(number);
        }
        // An identifier can be taken by a memory that was edited since.
        let mut taken = self.tx.prepare_cached("SELECT 1 FROM memories WHERE id = ?1")?;
        while taken.exists([&row[id_at]])? {
            let Value::Text(id) = &row[id_at] else { return Ok(false) };
            row[id_at] = Value::Text(hex(&sha256_parts(&[&project, id])[..6]));
        }
        Ok(true)
    }

    /// Gives a row's columns the values that they had, unless one of them changed since.
    fn revert(&mut self, table: &str, names: &[String], before: &[Value], after: &[Value]) -> rusqlite::Result<()> {
        let changed: Vec<usize> = (0..names.len()).filter(|at| before[*at] != after[*at]).collect();
        // The counter of row numbers only grows.
        if changed.is_empty() || table == "projects" {
            return Ok(());
        }
        let key = columns(self.tx, table)?.key;
        let set = list(changed.len(), |at| format!("{} = ?{}", names[changed[at]], at + 1), ", ");
        let from = changed.len();
        let is_key = list(key.len(), |at| format!("{} IS ?{}", names[key[at]], from + at + 1), " AND ");
        let from = from + key.len();
        let is_same = list(changed.len(), |at| format!("{} IS ?{}", names[changed[at]], from + at + 1), " AND ");
        let values = changed
            .iter()
            .map(|at| &before[*at])
            .chain(key.iter().map(|at| &after[*at]))
            .chain(changed.iter().map(|at| &after[*at]));
        let reverted = self
            .tx
            .prepare_cached(&format!("UPDATE OR IGNORE {table} SET {set} WHERE {is_key} AND {is_same}"))?
            .execute(params_from_iter(values))?;
        self.back.left += u64::from(reverted == 0);
        if table == "memories" {
            self.memories.extend(position(names, "rowid").and_then(|at| integer(&before[at])));
        }
        Ok(())
    }

    /// Deletes a row that was inserted, such as a tombstone.
    fn delete(&mut self, table: &str, names: &[String], row: &[Value]) -> rusqlite::Result<()> {
        let key = columns(self.tx, table)?.key;
        let is_key = list(key.len(), |at| format!("{} IS ?{}", names[key[at]], at + 1), " AND ");
        self.tx
            .prepare_cached(&format!("DELETE FROM {table} WHERE {is_key}"))?
            .execute(params_from_iter(key.iter().map(|at| &row[*at])))?;
        if table == "memories" {
            self.memories.extend(position(names, "rowid").and_then(|at| integer(&row[at])));
        }
        Ok(())
    }

    /// Makes the index entries of the restored rows.
    fn finish(self) -> rusqlite::Result<BroughtBack> {
        for rowid in &self.memories {
            unindex(self.tx, *rowid)?;
            let draft = self
                .tx
                .prepare_cached("SELECT title, content, keywords, files FROM memories WHERE rowid = ?1 AND digest IS NULL")?
                .query_row([rowid], |row| {
                    let [keywords, files] = [row.get::<_, String>(2)?, row.get::<_, String>(3)?];
                    let (keywords, files) = (from_json_or_default(&keywords), from_json_or_default(&files));
                    Ok(Draft { title: row.get(0)?, content: row.get(1)?, keywords, files, ..Draft::default() })
                })
                .optional()?;
            if let Some(draft) = draft {
                index(self.tx, *rowid, &draft)?;
            }
        }
        for id in &self.events {
            let payload: Option<String> = self
                .tx
                .prepare_cached("SELECT payload_json FROM events WHERE event_id = ?1")?
                .query_row([id], |row| row.get(0))
                .optional()?;
            if let Some(payload) = payload {
                events::reindex(self.tx, *id, &payload)?;
            }
        }
        self.merged.iter().try_for_each(|rowid| recount(self.tx, *rowid))?;
        Ok(self.back)
    }
}

fn position(names: &[String], column: &str) -> Option<usize> {
    names.iter().position(|name| name == column)
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        _ => None,
    }
}
