//! Reads another program's SQLite file from a copy, made with its log. SQLite would leave files beside the original,
//! and a program that still writes to it must neither wait for us nor change it while we read. So a foreign database is
//! never opened in its place.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde_json::Value;
use tempfile::TempDir;

use super::error::DatabaseError;
use super::foreign_limits::{self, WorkCounter};
use throughline_model::contract::Timestamp;
use throughline_platform::metadata::{self, Modified as _};
use throughline_platform::permissions;

/// How often copying a file that keeps changing is tried.
const MAX_RETRIES: u32 = 5;

/// The longest value that is read, bytes.
const MAX_CELL_BYTES: usize = 4 << 20;

/// Suffixes of files beside a database that belong to it.
const SIDECAR_SUFFIXES: [&str; 2] = ["-wal", "-journal"];

/// Why another program's database, or a value in it, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// There is no temporary folder.
    #[error("cannot create a temporary folder for a copy of it: {0}")]
    NoFolder(io::Error),
    /// The file, or one that belongs to it, cannot be copied.
    #[error("it cannot be copied: {0}")]
    NotCopied(io::Error),
    /// Another program changed the file each time that it was copied.
    #[error("another program keeps writing to it; stop that program and import again")]
    KeepsChanging,
    /// SQLite cannot read the copy.
    #[error("it cannot be read as a SQLite database: {0}")]
    NotADatabase(DatabaseError),
    /// A row cannot be read.
    #[error("it cannot be read: {0}")]
    UnreadableRow(DatabaseError),
    /// A value is not text, or too long.
    #[error("its {column} {why}")]
    UnreadableValue {
        /// The column of the value.
        column: String,
        /// What is wrong with the value.
        why: &'static str,
    },
    /// A text should be JSON, and is not.
    #[error("its {0} is not valid JSON")]
    NotJson(&'static str),
}

/// A copy of a database.
pub struct Database {
    conn: Connection,
    /// The work since the last row, which is limited.
    work: WorkCounter,
    /// When the original was last modified.
    pub modified: Option<Timestamp>,
    /// A cache of the columns of tables.
    columns: RefCell<HashMap<String, Rc<[String]>>>,
    /// The copy's folder, deleted on drop unless it could already be deleted after opening.
    _copy: Option<TempDir>,
}

impl Database {
    /// Copies and opens the database. The error says why that failed.
    pub fn open(path: &Path) -> Result<Self, ForeignError> {
        let copy = tempfile::Builder::new().prefix("throughline-import-").tempdir();
        let copy = copy.map_err(ForeignError::NoFolder)?;
        let file = copy.path().join("copy.db");
        duplicate(path, &file)?;
        let open = || -> rusqlite::Result<(Connection, WorkCounter, bool)> {
            let mut conn = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            let work = foreign_limits::limit(&mut conn)?;
            // This makes SQLite apply the write-ahead log, or roll back what a crash left half done.
            conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            let mode: rusqlite::Result<String> = conn.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0));
            conn.pragma_update(None, "query_only", true)?;
            Ok((conn, work, mode.is_ok_and(|mode| mode == "delete")))
        };
        let (conn, work, is_one_file) = open().map_err(|error| ForeignError::NotADatabase(DatabaseError(error)))?;
        let modified = fs::metadata(path).ok().and_then(|meta| metadata::modified_ms(&meta));
        // An open file can be read after it was unlinked, so nothing is left behind wherever the import is stopped.
        let copy = if is_one_file { None } else { Some(copy) };
        Ok(Self { conn, work, modified, columns: RefCell::default(), _copy: copy })
    }

    /// Returns whether the table exists.
    pub fn has(&self, table: &str) -> bool {
        !self.columns(table).is_empty()
    }

    /// Returns the columns of a table; empty if the table does not exist. A view or a virtual table is none: reading it
    /// would run what the file says.
    fn columns(&self, table: &str) -> Rc<[String]> {
        if let Some(known) = self.columns.borrow().get(table) {
            return Rc::clone(known);
        }
        let read = || -> rusqlite::Result<Rc<[String]>> {
            let is_table =
                "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name = ?1 COLLATE NOCASE";
            if !self.conn.prepare(is_table)?.exists([table])? {
                return Ok(Rc::default());
            }
            self.conn.prepare("SELECT name FROM pragma_table_info(?1)")?.query_map([table], |row| row.get(0))?.collect()
        };
        let columns = read().unwrap_or_default();
        self.columns.borrow_mut().insert(table.to_owned(), Rc::clone(&columns));
        columns
    }

    /// Returns the column list of a SELECT; a column that does not exist is NULL.
    fn select(&self, table: &str, columns: &[&'static str]) -> String {
        let present = self.columns(table);
        let list =
            columns.iter().map(|column| if present.iter().any(|it| it == column) { quoted(column) } else { "NULL".into() });
        list.collect::<Vec<_>>().join(", ")
    }

    /// Returns the number of rows of a table, or 0 if they cannot be counted.
    pub fn count(&self, table: &str) -> u64 {
        if !self.has(table) {
            return 0;
        }
        self.work.reset();
        let count = format!("SELECT count(*) FROM {}", quoted(table));
        self.conn
            .query_row(&count, [], |row| row.get::<_, i64>(0))
            .ok()
            .and_then(|rows| u64::try_from(rows).ok())
            .unwrap_or(0)
    }

    /// Calls `visit` with each row of a table. A column that does not exist is empty. If a part of the table cannot be
    /// read, the rows before and after it are still read; the result describes each unreadable part in one line.
    pub fn rows<E>(
        &self,
        table: &str,
        columns: &[&'static str],
        mut visit: impl FnMut(Row) -> Result<(), E>,
    ) -> Result<Vec<String>, E> {
        let (mut first, mut last) = (None, None);
        let Err(broken) = self.walk(table, columns, "ASC", &mut |row: Row| {
            first = Some(row.number);
            visit(row).map(|()| true)
        })?
        else {
            return Ok(Vec::new());
        };
        // Read from the other end, down to where the first walk stopped. The order of the rows does not matter.
        let back = self.walk(table, columns, "DESC", &mut |row: Row| {
            if first.is_some_and(|first| row.number <= first) {
                return Ok(false);
            }
            last = Some(row.number);
            visit(row).map(|()| true)
        })?;
        drop(back);
        let mut place = "rows".to_owned();
        // Writing to a string cannot fail.
        if let Some(first) = first {
            let _ = write!(place, " after {first}");
        }
        if let Some(last) = last {
            let _ = write!(place, " before {last}");
        }
        Ok(vec![format!("{place} cannot be read: {broken}")])
    }

    /// Visits the rows in order. The inner error is the database's.
    fn walk<E>(
        &self,
        table: &str,
        columns: &[&'static str],
        order: &str,
        visit: &mut dyn FnMut(Row) -> Result<bool, E>,
    ) -> Result<rusqlite::Result<()>, E> {
        if !self.has(table) {
            return Ok(Ok(()));
        }
        self.work.reset();
        let sql = format!("SELECT rowid, {} FROM {} ORDER BY rowid {order}", self.select(table, columns), quoted(table));
        let mut statement = match self.conn.prepare(&sql) {
            Ok(statement) => statement,
            Err(error) => return Ok(Err(error)),
        };
        let mut rows = match statement.query([]) {
            Ok(rows) => rows,
            Err(error) => return Ok(Err(error)),
        };
        let mut last: Option<i64> = None;
        loop {
            let row = match rows.next() {
                Ok(None) => return Ok(Ok(())),
                Ok(Some(row)) => row,
                Err(error) => return Ok(Err(error)),
            };
            let read = || -> rusqlite::Result<Row> {
                let cells = columns.iter().enumerate();
                let cells = cells.map(|(at, name)| Ok((*name, Cell::of(row.get_ref(at + 1)?))));
                Ok(Row { number: row.get(0)?, cells: cells.collect::<rusqlite::Result<_>>()? })
            };
            match read() {
                Ok(row) => {
                    // A damaged tree can lead back to an earlier row.
                    let goes_on = last.is_none_or(|last| if order == "ASC" { row.number > last } else { row.number < last });
                    if !goes_on {
                        return Ok(Err(rusqlite::Error::IntegralValueOutOfRange(0, row.number)));
                    }
                    last = Some(row.number);
                    self.work.reset();
                    if !visit(row)? {
                        return Ok(Ok(()));
                    }
                }
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// Returns one row, or `None` if it does not exist (any more).
    pub fn row(&self, table: &str, columns: &[&'static str], number: i64) -> Result<Option<Row>, ForeignError> {
        if !self.has(table) {
            return Ok(None);
        }
        self.work.reset();
        let read = || {
            self.conn
                .prepare_cached(&format!("SELECT {} FROM {} WHERE rowid = ?1", self.select(table, columns), quoted(table)))?
                .query_row([number], |row| {
                    let cells = columns.iter().enumerate();
                    let cells = cells.map(|(at, name)| Ok((*name, Cell::of(row.get_ref(at)?))));
                    Ok(Row { number, cells: cells.collect::<rusqlite::Result<_>>()? })
                })
                .optional()
        };
        read().map_err(|error| ForeignError::UnreadableRow(DatabaseError(error)))
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Copies a database and its log as of a single moment: if they change meanwhile, copies them again.
fn duplicate(from: &Path, to: &Path) -> Result<(), ForeignError> {
    let cannot = ForeignError::NotCopied;
    for _ in 0..MAX_RETRIES {
        let before = stamps(from).map_err(cannot)?;
        for (end, stamp) in [""].iter().chain(&SIDECAR_SUFFIXES).zip(&before) {
            let (from, to) = (with_end(from, end), with_end(to, end));
            // Left by an earlier try.
            let _ = fs::remove_file(&to);
            if stamp.is_some() {
                fs::copy(&from, &to).map_err(cannot)?;
                permissions::set_mode(&to, 0o600).map_err(cannot)?;
            }
        }
        if stamps(from).map_err(cannot)? == before {
            // If this fails, SQLite reports what is wrong.
            let _ = lengthen(to);
            return Ok(());
        }
    }
    Err(ForeignError::KeepsChanging)
}

/// Extends a truncated copy to the length given in its header. Otherwise SQLite would refuse to read any of it; now it
/// reads what is there and finds nothing in the missing part.
fn lengthen(file: &Path) -> io::Result<()> {
    let mut head = [0; 32];
    let mut file = File::options().read(true).write(true).open(file)?;
    file.read_exact(&mut head)?;
    // Offsets of the file format: the page size, where 1 means 65,536, and the number of pages.
    let size = match u16::from_be_bytes([head[16], head[17]]) {
        1 => 1 << 16,
        size => u64::from(size),
    };
    let whole = size * u64::from(u32::from_be_bytes([head[28], head[29], head[30], head[31]]));
    if file.metadata()?.len() < whole { file.set_len(whole) } else { Ok(()) }
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(end);
    path.into()
}

/// What shows a change of a file: inode, size, and seconds and nanoseconds of the last modification.
type Stamp = (u64, u64, (i64, i64));

fn stamps(path: &Path) -> io::Result<Vec<Option<Stamp>>> {
    [""].iter()
        .chain(&SIDECAR_SUFFIXES)
        .map(|end| match fs::metadata(with_end(path, end)) {
            Ok(meta) if meta.is_file() => {
                Ok(Some((metadata::path_id(&with_end(path, end))?.1, meta.len(), meta.modified_parts())))
            }
            Ok(_) => Err(io::Error::other("it is not a file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !end.is_empty() => Ok(None),
            Err(error) => Err(error),
        })
        .collect()
}

/// A value, whatever type its column was declared with.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Nothing,
    Number(serde_json::Number),
    Text(String),
    /// Bytes that are not text, or too many.
    Other(&'static str),
}

impl Cell {
    fn of(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Nothing,
            ValueRef::Integer(number) => Self::Number(number.into()),
            ValueRef::Real(number) => serde_json::Number::from_f64(number).map_or(Self::Nothing, Self::Number),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) if bytes.len() > MAX_CELL_BYTES => {
                Self::Other("has more than 4 MiB")
            }
            // Systems that count bytes may have cut a text in the middle of a character.
            ValueRef::Text(bytes) => {
                Self::Text(String::from_utf8_lossy(bytes).trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned())
            }
            ValueRef::Blob(bytes) => {
                std::str::from_utf8(bytes).map_or(Self::Other("is not text"), |text| Self::Text(text.to_owned()))
            }
        }
    }
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The row's number in SQLite.
    pub number: i64,
    cells: Vec<(&'static str, Cell)>,
}

impl Row {
    fn cell(&self, column: &str) -> &Cell {
        self.cells.iter().find(|(name, _)| *name == column).map_or(&Cell::Nothing, |(_, cell)| cell)
    }

    /// Returns the row's identifier in its own system, or its number if it has none.
    pub fn id(&self) -> String {
        self.text("id").unwrap_or_else(|| format!("row {}", self.number))
    }

    /// Returns the column as text, with numbers in digits; `None` if it is empty or not text.
    pub fn text(&self, column: &str) -> Option<String> {
        self.content(column).ok().flatten()
    }

    /// Returns the column's text, or why it cannot be read.
    pub fn content(&self, column: &str) -> Result<Option<String>, ForeignError> {
        match self.cell(column) {
            Cell::Nothing => Ok(None),
            Cell::Number(number) => Ok(Some(number.to_string())),
            Cell::Text(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            Cell::Other(why) => Err(ForeignError::UnreadableValue { column: column.to_owned(), why }),
        }
    }

    /// Returns a number or a text as JSON; `Value::Null` for anything else.
    pub fn value(&self, column: &str) -> Value {
        match self.cell(column) {
            Cell::Number(number) => Value::Number(number.clone()),
            Cell::Text(text) => Value::String(text.clone()),
            Cell::Nothing | Cell::Other(_) => Value::Null,
        }
    }

    /// Parses a list: a JSON array, or words separated by commas.
    pub fn list(&self, column: &str) -> Vec<String> {
        let Some(text) = self.text(column) else { return Vec::new() };
        match serde_json::from_str(&text) {
            Ok(Value::Array(values)) => values
                .into_iter()
                .filter_map(|value| match value {
                    Value::String(text) => Some(text),
                    Value::Number(number) => Some(number.to_string()),
                    _ => None,
                })
                .filter(|text| !text.trim().is_empty())
                .collect(),
            Ok(_) => Vec::new(),
            Err(_) if text.starts_with(['[', '{']) => Vec::new(),
            Err(_) => text.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const COLUMNS: [&str; 4] = ["id", "text", "at", "missing"];

    fn sample(rows: u32) -> (TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let conn = Connection::open_with_flags(&path, OpenFlags::default()).unwrap();
        conn.execute_batch(
            "PRAGMA page_size = 512; PRAGMA synchronous = OFF; CREATE TABLE t (id TEXT PRIMARY KEY, text, at); BEGIN",
        )
        .unwrap();
        for row in 0..rows {
            conn.execute("INSERT INTO t VALUES (?1, ?2, ?3)", (row, format!("한글 text {row}"), 1_768_471_200_000_i64))
                .unwrap();
        }
        conn.execute_batch("COMMIT").unwrap();
        (dir, path)
    }

    #[test]
    fn values_are_read_whatever_their_type() {
        let (_dir, path) = sample(0);
        let conn = Connection::open_with_flags(&path, OpenFlags::default()).unwrap();
        conn.execute_batch(
            "INSERT INTO t VALUES ('a', '[\"x\", 7, null]', 1768471200), (NULL, 'x, y', '2026-01-15 10:00:00'), ('c', x'ff', -1),
             ('d', 1.5, 'soon'), ('e', CAST(x'ed959ced95' AS TEXT), 0)",
        )
        .unwrap();
        let mut read = Vec::new();
        let broken = Database::open(&path)
            .unwrap()
            .rows("t", &COLUMNS, |row| {
                read.push((row.id(), row.list("text"), row.value("at"), row.content("text").is_ok(), row.text("missing")));
                Ok::<(), Infallible>(())
            })
            .unwrap();
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(broken, [] as [String; 0]);
        assert_eq!(
            read,
            [
                ("a".into(), list(&["x", "7"]), json!(1_768_471_200), true, None),
                ("row 2".into(), list(&["x", "y"]), json!("2026-01-15 10:00:00"), true, None),
                ("c".into(), list(&[]), json!(-1), false, None),
                ("d".into(), list(&[]), json!("soon"), true, None),
                ("e".into(), list(&["한"]), json!(0), true, None),
            ]
        );
    }

    #[test]
    fn a_view_that_never_ends_is_not_read() {
        let (_dir, path) = sample(3);
        let conn = Connection::open_with_flags(&path, OpenFlags::default()).unwrap();
        conn.execute_batch(
            "CREATE VIEW memories AS
                 WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, id AS rowid, '' AS text FROM n;
             CREATE TABLE huge (id);
             INSERT INTO huge (id) VALUES (1), (2);
             ALTER TABLE huge ADD COLUMN text AS (hex(zeroblob(100000000)));",
        )
        .unwrap();
        drop(conn);
        let database = Database::open(&path).unwrap();
        assert!(!database.has("memories") && database.has("T"));
        assert_eq!((database.count("memories"), database.count("t")), (0, 3));
        let broken = database.rows("memories", &COLUMNS, |_| -> Result<(), Infallible> { panic!("it is a view") }).unwrap();
        assert_eq!(broken, [] as [String; 0]);
        assert!(database.row("memories", &COLUMNS, 1).unwrap().is_none());
        let mut texts = Vec::new();
        let broken = database.rows("huge", &COLUMNS, |row| {
            texts.push(row.text("text"));
            Ok::<(), Infallible>(())
        });
        assert_eq!((broken.unwrap(), texts), (Vec::new(), vec![None, None]), "generated columns are not read");
        // Whatever else runs without a row is interrupted.
        let endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
        database.work.reset();
        assert!(database.conn.query_row(endless, [], |_| Ok(())).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn no_damage_makes_it_panic(flips in prop::collection::vec((0_usize..20_000, any::<u8>()), 0..40), end in 0_usize..20_000) {
            let (_dir, path) = sample(200);
            let mut bytes = fs::read(&path).unwrap();
            let whole = bytes.len();
            for (at, byte) in flips {
                // The header stays intact: without it nothing is read at all.
                bytes[100 + at % (whole - 100)] = byte;
            }
            bytes.truncate(whole - end % (whole / 2));
            fs::write(&path, &bytes).unwrap();
            if let Ok(database) = Database::open(&path) {
                let broken = database.rows("t", &COLUMNS, |row| {
                    drop((row.id(), row.list("text"), row.value("at")));
                    Ok::<(), Infallible>(())
                });
                prop_assert!(broken.is_ok());
                drop(database.row("t", &COLUMNS, 7));
                prop_assert!(database.count("t") < 20_000);
            }
            prop_assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }
}
