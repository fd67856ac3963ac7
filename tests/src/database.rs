//! Looking into the database from outside, where no command shows enough.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

/// Opens the database read-only.
pub fn open(path: &Path) -> Connection {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    connection.busy_timeout(std::time::Duration::from_secs(30)).expect("a busy timeout");
    connection
}

/// Makes a database of the first schema, of at least so many bytes, that knows of an old otter.
pub fn of_first_version(path: &Path, bytes: u32) -> Connection {
    std::fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a folder");
    let made = Connection::open(path).expect("open");
    made.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).expect("a mode");
    made.execute_batch(include_str!("../../host/store/src/migrations/0001_initial.sql")).expect("valid SQL");
    made.execute_batch(
        "PRAGMA user_version = 1;
         INSERT INTO projects (number, id, identity, root, memories, created_at) VALUES (1, 'p', 'name:old', 'old', 1, 1);
         INSERT INTO memories (rowid, id, project_id, session_id, type, title, content, content_hash, importance, weight, policy,
                               policy_digest, created_at)
         VALUES (4294967297, 'aaaaaaaaaaaa', 'p', 's', 'convention', 'Old', 'An old otter', zeroblob(32), 0.5, 0.5, '', '', 1);",
    )
    .expect("valid SQL");
    made.execute("INSERT INTO meta VALUES ('ballast', printf('%.*c', ?1, 'x'))", [bytes]).expect("an insert");
    made.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("a checkpoint");
    made
}

/// One stored memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Memory {
    /// The session in which it was first learned.
    pub session: String,
    /// Its kind.
    pub kind: String,
    /// Title, content, keywords and files, a line or more each: everything by which it could be found or shown.
    pub text: String,
    /// How often it was seen.
    pub seen: i64,
}

/// All memories of all projects, in the order of the fields.
pub fn memories(path: &Path) -> Vec<Memory> {
    let connection = open(path);
    let mut statement = connection
        .prepare(
            "SELECT session_id, type, title || char(10) || content || char(10) || keywords || char(10) || files, seen_count
             FROM memories ORDER BY 1, 2, 3",
        )
        .expect("a valid query");
    let rows = statement
        .query_map([], |row| Ok(Memory { session: row.get(0)?, kind: row.get(1)?, text: row.get(2)?, seen: row.get(3)? }))
        .expect("rows");
    rows.map(|row| row.expect("a memory")).collect()
}

/// The number that a query gives.
pub fn number(path: &Path, query: &str) -> i64 {
    open(path).query_row(query, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{query}: {error}"))
}

/// What an event says: its type and payload, with `tool`, `times` and `failed` beside what the payload has.
pub fn events(path: &Path, session: &str) -> Vec<serde_json::Value> {
    let connection = open(path);
    let mut statement = connection
        .prepare("SELECT event_type, tool, times, failed, payload_json FROM events WHERE session_id = ?1 ORDER BY event_id")
        .expect("a valid query");
    let rows = statement
        .query_map([session], |row| {
            let mut event: serde_json::Value = serde_json::from_str(&row.get::<_, String>(4)?).expect("a payload is JSON");
            event["type"] = row.get::<_, String>(0)?.into();
            event["tool"] = row.get::<_, String>(1)?.into();
            event["times"] = row.get::<_, i64>(2)?.into();
            event["failed"] = row.get::<_, bool>(3)?.into();
            Ok(event)
        })
        .expect("rows");
    rows.map(|row| row.expect("an event")).collect()
}

/// Panics unless `PRAGMA integrity_check` and the full-text index's own check find nothing.
pub fn assert_sound(path: &Path) {
    let connection = Connection::open(path).expect("open the database");
    connection.busy_timeout(std::time::Duration::from_secs(30)).expect("a busy timeout");
    // A process in the background may be about to put one index in the place of another.
    connection.execute_batch("BEGIN IMMEDIATE").expect("lock");
    let found: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("integrity_check runs");
    assert_eq!(found, "ok");
    let foreign: i64 = connection
        .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))
        .expect("foreign_key_check runs");
    assert_eq!(foreign, 0, "rows whose parent is missing");
    let indexes: Vec<String> =
        names(&connection, "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%USING fts5%'");
    for index in indexes {
        connection
            .execute(&format!("INSERT INTO \"{index}\"(\"{index}\", rank) VALUES ('integrity-check', 1)"), [])
            .unwrap_or_else(|error| panic!("the full-text index {index} does not fit its content: {error}"));
    }
}

fn names(connection: &Connection, query: &str) -> Vec<String> {
    let mut statement = connection.prepare(query).expect("a valid query");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.map(|row| row.expect("a name")).collect()
}

/// Every row of every table as one line of text, sorted, without the columns for which `skip` says yes.
///
/// The shadow tables of a full-text index are left out: the same content may lie there in more than one form.
pub fn dump(path: &Path, skip: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let connection = open(path);
    let shadow: Vec<String> = names(&connection, "SELECT name FROM pragma_table_list WHERE type IN ('shadow', 'virtual')");
    // Vectors are stored under row numbers, which differ between homes, so they are identified by their memories.
    let mut lines = names(
        &connection,
        "SELECT 'vector of ' || m.id || '/' || (v.piece & 255) || ' ' || hex(v.vector)
         FROM vectors v JOIN memories m ON m.rowid = v.piece >> 8",
    );
    for table in names(&connection, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
        if shadow.contains(&table) || ["vectors", "vector_codes"].contains(&table.as_str()) {
            continue;
        }
        let columns = names(&connection, &format!("SELECT name FROM pragma_table_info('{table}')"));
        let columns: Vec<String> = columns.into_iter().filter(|column| !skip(&table, column)).collect();
        if columns.is_empty() {
            continue;
        }
        let list = columns.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ");
        let mut statement = connection.prepare(&format!("SELECT {list} FROM \"{table}\"")).expect("a valid query");
        let mut rows = statement.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            let mut line = table.clone();
            for (index, column) in columns.iter().enumerate() {
                line = line + " " + column + "=" + &shown(row.get_ref(index).expect("a value"));
            }
            lines.push(line);
        }
    }
    lines.sort();
    lines
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => format!("{bytes:?}"),
    }
}

/// Panics with the first lines that differ.
pub fn assert_same(left: &[String], right: &[String], what: &str) {
    let only = |these: &[String], others: &[String]| -> Vec<String> {
        these.iter().filter(|line| others.binary_search(line).is_err()).take(5).cloned().collect()
    };
    assert!(
        left == right,
        "{what}: {} and {} rows\nonly in the first: {:#?}\nonly in the second: {:#?}",
        left.len(),
        right.len(),
        only(left, right),
        only(right, left)
    );
}
