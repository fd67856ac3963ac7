//! Databases of other memory systems, in every schema that they had, with made-up rows, and the expected results of
//! importing them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use serde_json::Value;

use crate::database;
use crate::home::Home;
use crate::process::Finished;

/// The generations of jikime-mem: the one made with Prisma and its own, each with different tables and columns.
pub const GENERATIONS: [char; 8] = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];

/// 2026-01-15T10:00:00Z, milliseconds.
pub const TEN: i64 = 1_768_471_200_000;

/// The tables of a generation of jikime-mem.
pub fn jikime_mem(generation: char) -> String {
    let (time, now) = if generation == 'A' { ("DATETIME", "CURRENT_TIMESTAMP") } else { ("TEXT", "(datetime('now'))") };
    let compressed = if matches!(generation, 'C' | 'D' | 'E') { "compressed TEXT," } else { "" };
    let written = if matches!(generation, 'C' | 'D') { "ai_summary TEXT, summary_type TEXT DEFAULT 'stats'," } else { "" };
    let prompt = if generation == 'H' { "prompt_id TEXT," } else { "" };
    let mut ddl = format!(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, session_id TEXT UNIQUE NOT NULL, project_path TEXT NOT NULL,
           started_at {time} DEFAULT {now}, ended_at {time}, status TEXT DEFAULT 'active', metadata TEXT);
         CREATE TABLE prompts (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, content TEXT NOT NULL,
           timestamp {time} DEFAULT {now}, metadata TEXT);
         CREATE TABLE settings (id TEXT PRIMARY KEY, key TEXT UNIQUE NOT NULL, value TEXT NOT NULL,
           updated_at {time} DEFAULT {now});"
    );
    if generation <= 'E' {
        let _ = write!(
            ddl,
            "CREATE TABLE observations (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, tool_name TEXT NOT NULL,
               tool_input TEXT NOT NULL, tool_response TEXT NOT NULL, {compressed} timestamp {time} DEFAULT {now},
               duration INTEGER, status TEXT DEFAULT 'success', metadata TEXT);"
        );
    }
    if generation <= 'D' {
        let _ =
            write!(ddl,
            "CREATE TABLE context_summaries (id TEXT PRIMARY KEY, session_id TEXT UNIQUE NOT NULL, summary TEXT NOT NULL,
               {written} tokens INTEGER, created_at {time} DEFAULT {now});"
        );
    }
    if generation >= 'C' {
        let _ = write!(
            ddl,
            "CREATE TABLE responses (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, {prompt} content TEXT NOT NULL,
               timestamp TEXT DEFAULT (datetime('now')), metadata TEXT);"
        );
    }
    if generation >= 'D' {
        ddl += "CREATE VIRTUAL TABLE prompts_fts USING fts5(id UNINDEXED, session_id UNINDEXED, content,
                  timestamp UNINDEXED, content='prompts', content_rowid='rowid');
                CREATE TRIGGER prompts_ai AFTER INSERT ON prompts BEGIN
                  INSERT INTO prompts_fts(rowid, id, session_id, content, timestamp)
                  VALUES (NEW.rowid, NEW.id, NEW.session_id, NEW.content, NEW.timestamp); END;";
    }
    ddl
}

/// The memory of jikime-adk in a version of its schema, 1 to 3.
pub fn jikime_adk(version: u8) -> String {
    let embedding = if version >= 2 { "embedding BLOB," } else { "" };
    let mut ddl = format!(
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
         INSERT INTO meta VALUES ('schema_version', '{version}');
         CREATE TABLE memories (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, project_dir TEXT NOT NULL, type TEXT NOT NULL,
           content TEXT NOT NULL, content_hash TEXT NOT NULL, metadata TEXT, {embedding}
           created_at DATETIME DEFAULT CURRENT_TIMESTAMP, accessed_at DATETIME, access_count INTEGER DEFAULT 0);
         CREATE TABLE project_knowledge (id TEXT PRIMARY KEY, project_dir TEXT NOT NULL, file_path TEXT, knowledge_type TEXT,
           content TEXT NOT NULL, created_at DATETIME DEFAULT CURRENT_TIMESTAMP, updated_at DATETIME);
         CREATE TABLE session_history (session_id TEXT PRIMARY KEY, project_dir TEXT NOT NULL, started_at DATETIME,
           ended_at DATETIME, summary TEXT, topics TEXT, files_modified TEXT, model TEXT);"
    );
    if version >= 2 {
        ddl += "CREATE TABLE embedding_cache (content_hash TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
                  embedding BLOB NOT NULL, dims INTEGER NOT NULL, PRIMARY KEY (content_hash, provider, model));";
    }
    if version >= 3 {
        ddl += "CREATE TABLE chunks (id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, start_line INTEGER NOT NULL,
                  end_line INTEGER NOT NULL, text TEXT NOT NULL, hash TEXT NOT NULL, heading TEXT DEFAULT '', embedding BLOB);
                CREATE TABLE file_index (path TEXT PRIMARY KEY, last_modified INTEGER NOT NULL, chunk_count INTEGER NOT NULL,
                  last_indexed INTEGER NOT NULL);";
    }
    ddl
}

/// claude-mem's schema 23, as far as it holds what is remembered.
pub const CLAUDE_MEM: &str = "
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT UNIQUE NOT NULL,
      memory_session_id TEXT UNIQUE, project TEXT NOT NULL, user_prompt TEXT, started_at TEXT NOT NULL,
      started_at_epoch INTEGER NOT NULL, status TEXT NOT NULL DEFAULT 'active');
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
      prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
      text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
      files_modified TEXT, prompt_number INTEGER, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL,
      content_hash TEXT);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
      project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT,
      files_edited TEXT, notes TEXT, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE pending_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER NOT NULL,
      content_session_id TEXT NOT NULL, message_type TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'pending',
      created_at_epoch INTEGER NOT NULL);";

/// The index of `OpenClaw`'s memory.
pub const OPENCLAW: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE files (path TEXT PRIMARY KEY, source TEXT NOT NULL DEFAULT 'memory', hash TEXT NOT NULL,
      mtime INTEGER NOT NULL, size INTEGER NOT NULL);
    CREATE TABLE chunks (id TEXT PRIMARY KEY, path TEXT NOT NULL, source TEXT NOT NULL DEFAULT 'memory',
      start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, hash TEXT NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL,
      embedding TEXT NOT NULL, updated_at INTEGER NOT NULL);";

/// A new database with these tables.
pub fn create(path: &Path, ddl: &str) -> Connection {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("create the folder");
    let conn = Connection::open(path).expect("open");
    conn.execute_batch(ddl).expect("valid DDL");
    conn
}

/// What must come of the rows that [`fill`] wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// The system.
    pub from: &'static str,
    /// Rows in all.
    pub rows: u64,
    /// New memories.
    pub memories: u64,
    /// Rows that go into another row's memory.
    pub joined: u64,
    /// Rows that make no memory.
    pub passed_over: u64,
    /// A text that stands in a memory, and the memory's time.
    pub times: Vec<(&'static str, i64)>,
}

fn columns(conn: &Connection, table: &str) -> Vec<(String, String)> {
    let mut statement = conn.prepare("SELECT name, type FROM pragma_table_info(?1)").expect("a valid query");
    let rows = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    rows.map(|row| row.expect("a column")).collect()
}

fn has(conn: &Connection, table: &str, column: &str) -> bool {
    columns(conn, table).iter().any(|(name, _)| name == column)
}

/// Fills an empty database of whatever system with rows of a session in `project`.
pub fn fill(conn: &Connection, project: &str) -> Expected {
    if has(conn, "sdk_sessions", "id") {
        fill_claude_mem(conn, project)
    } else if has(conn, "memories", "content_hash") {
        fill_jikime_adk(conn, project)
    } else {
        fill_jikime_mem(conn, project)
    }
}

/// So many milliseconds after ten, as the column holds times.
fn at(conn: &Connection, table: &str, column: &str, after: i64) -> rusqlite::types::Value {
    let declared = columns(conn, table).into_iter().find(|(name, _)| name == column).map(|(_, declared)| declared);
    if declared.as_deref() == Some("DATETIME") && has(conn, "prompts", "id") {
        return (TEN + after).into();
    }
    let time = jiff::Timestamp::from_millisecond(TEN + after).expect("a moment");
    time.strftime("%Y-%m-%d %H:%M:%S").to_string().into()
}

fn run(conn: &Connection, sql: &str, values: &[&dyn rusqlite::ToSql]) {
    conn.execute(sql, values).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn fill_jikime_mem(conn: &Connection, project: &str) -> Expected {
    let mut expected = Expected { from: "jikime-mem", rows: 5, memories: 3, passed_over: 2, ..Expected::default() };
    // Integers keep their milliseconds.
    let rest = if at(conn, "prompts", "timestamp", 0) == rusqlite::types::Value::Integer(TEN) { 123 } else { 0 };
    run(
        conn,
        "INSERT INTO sessions (id, session_id, project_path, started_at) VALUES ('i1', 's-1', ?1, ?2)",
        params![project, at(conn, "sessions", "started_at", 0)],
    );
    run(conn, "INSERT INTO settings (id, key, value) VALUES ('x', 'port', '37888')", &[]);
    for (id, content, after) in [
        ("p1", "결제 수달이 왜 실패하지?", 0),
        ("p2", "Rename the otter module", 300_000),
        ("p3", "What did the otter leave open?", 600_000),
    ] {
        run(
            conn,
            "INSERT INTO prompts (id, session_id, content, timestamp) VALUES (?1, 's-1', ?2, ?3)",
            params![id, content, at(conn, "prompts", "timestamp", after + rest)],
        );
        expected.times.push((content, TEN + after + rest));
    }
    if has(conn, "observations", "id") {
        for (id, tool, input, after) in [
            ("o1", "Bash", r#"{"command": "cargo test otter"}"#, 10_000),
            ("o2", "Read", r#"{"file_path": "/p/otter.rs"}"#, 20_000),
        ] {
            run(
                conn,
                "INSERT INTO observations (id, session_id, tool_name, tool_input, tool_response, timestamp)
                 VALUES (?1, 's-1', ?2, ?3, 'a long output', ?4)",
                params![id, tool, input, at(conn, "observations", "timestamp", after)],
            );
        }
        expected.rows += 2;
        expected.joined += 1;
        expected.passed_over += 1;
        expected.times.push(("`cargo test otter`", TEN + rest));
    }
    if has(conn, "responses", "id") {
        let linked = has(conn, "responses", "prompt_id");
        for (id, content, after, prompt) in [
            ("r0", "An otter from before", -60_000, None),
            ("r1", "수달 키가 틀렸습니다", 30_000, None),
            // Later than the next prompt: only the link tells, and without one it is to that.
            ("r2", "The otter is renamed", if linked { 900_000 } else { 330_000 }, Some("p2")),
        ] {
            let time = at(conn, "responses", "timestamp", after);
            if linked {
                run(
                    conn,
                    "INSERT INTO responses (id, session_id, content, timestamp, prompt_id) VALUES (?1, 's-1', ?2, ?3, ?4)",
                    params![id, content, time, prompt],
                );
            } else {
                run(
                    conn,
                    "INSERT INTO responses (id, session_id, content, timestamp) VALUES (?1, 's-1', ?2, ?3)",
                    params![id, content, time],
                );
            }
        }
        expected.rows += 3;
        expected.memories += 1;
        expected.joined += 2;
        expected.times.extend([
            ("An otter from before", TEN - 60_000),
            ("수달 키가 틀렸습니다", TEN + rest),
            ("The otter is renamed", TEN + 300_000 + rest),
        ]);
    }
    if has(conn, "context_summaries", "id") {
        run(
            conn,
            "INSERT INTO context_summaries (id, session_id, summary, created_at) VALUES ('c1', 's-1', 'Otters were counted', ?1)",
            params![at(conn, "context_summaries", "created_at", 700_000)],
        );
        expected.rows += 1;
        expected.memories += 1;
        expected.times.push(("Otters were counted", TEN + 700_000));
    }
    expected
}

fn fill_jikime_adk(conn: &Connection, project: &str) -> Expected {
    let mut expected = Expected { from: "jikime-adk", rows: 9, memories: 7, joined: 2, ..Expected::default() };
    for (id, kind, content, time) in [
        ("m1", "user_prompt", "수달을 어디에 저장하지?", "2026-01-15 10:00:00"),
        ("m2", "tool_usage", "Bash: cargo test   otter", "2026-01-15 10:00:10"),
        ("m3", "assistant_response", "In the burrow", "2026-01-15 10:00:20"),
        ("m4", "decision", "수달은 굴에 저장하기로 결정", "2026-01-15T10:01:00Z"),
        ("m5", "learning", "Otters sleep at noon", "2026-01-15 19:02:00.5 +0900 KST"),
        ("m6", "error_fix", "The otter leaked: close the door", "2026-01-15 10:03:00"),
        ("m7", "session_summary", "A day of otters", "2026-01-15 10:04:00"),
    ] {
        run(
            conn,
            "INSERT INTO memories (id, session_id, project_dir, type, content, content_hash, created_at)
             VALUES (?1, 's-2', ?2, ?3, ?4, ?1, ?5)",
            params![id, project, kind, content, time],
        );
    }
    run(
        conn,
        "INSERT INTO project_knowledge (id, project_dir, file_path, knowledge_type, content, created_at)
         VALUES ('k1', ?1, 'src/otter.rs', 'convention', 'Otters are named in lower case', '2026-01-15 10:05:00')",
        params![project],
    );
    run(
        conn,
        "INSERT INTO session_history (session_id, project_dir, ended_at, summary, topics)
         VALUES ('s-2', ?1, '2026-01-15 10:06:00', 'Otters moved house', '[\"burrow\"]')",
        params![project],
    );
    expected.times = vec![
        ("수달을 어디에 저장하지?", TEN),
        ("In the burrow", TEN),
        ("수달은 굴에", TEN + 60_000),
        ("Otters sleep", TEN + 120_500),
        ("Otters are named", TEN + 300_000),
        ("Otters moved", TEN + 360_000),
    ];
    if has(conn, "chunks", "id") {
        run(
            conn,
            "INSERT INTO chunks (path, start_line, end_line, text, hash) VALUES ('MEMORY.md', 1, 2, 'a chunk', 'h')",
            &[],
        );
        expected.rows += 1;
        expected.passed_over += 1;
    }
    expected
}

fn fill_claude_mem(conn: &Connection, project: &str) -> Expected {
    run(
        conn,
        "INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at, started_at_epoch)
         VALUES ('s-3', 'm-3', ?1, '2026-01-15T10:00:00.000Z', ?2)",
        params![project, TEN],
    );
    run(
        conn,
        "INSERT INTO user_prompts (content_session_id, prompt_number, prompt_text, created_at, created_at_epoch)
         VALUES ('s-3', 1, '수달을 고쳐줘', '2026-01-15T10:00:00.123Z', ?1)",
        params![TEN + 123],
    );
    for (kind, title, after) in
        [("decision", "Otters are kept", 1_001), ("bugfix", "수달 수정", 2_002), ("feature", "An otter door", 3_003)]
    {
        run(
            conn,
            "INSERT INTO observations (memory_session_id, project, type, title, facts, narrative, concepts, files_modified,
               created_at, created_at_epoch)
             VALUES ('m-3', ?1, ?2, ?3, '[\"fact one\"]', 'Why ' || ?3, '[\"burrows\"]', '[\"src/otter.rs\"]', 'x', ?4)",
            params![project, kind, title, TEN + after],
        );
    }
    run(
        conn,
        "INSERT INTO session_summaries (memory_session_id, project, request, learned, completed, created_at, created_at_epoch)
         VALUES ('m-3', ?1, 'Mend the otter', 'It was hungry', 'The otter is mended', 'x', ?2)",
        params![project, TEN + 4_004],
    );
    Expected {
        from: "claude-mem",
        rows: 6,
        memories: 5,
        joined: 0,
        passed_over: 1,
        times: vec![
            ("수달을 고쳐줘", TEN + 123),
            ("Why Otters are kept", TEN + 1_001),
            ("Why 수달 수정", TEN + 2_002),
            ("It was hungry", TEN + 4_004),
        ],
    }
}

/// Every file below a folder: its bytes and when it was changed last.
pub fn tree(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(tree(&path));
        } else {
            let modified = entry.metadata().and_then(|meta| meta.modified()).expect("a time");
            all.insert(path.clone(), (std::fs::read(&path).expect("read"), modified));
        }
    }
    all
}

/// Runs `import --from SYSTEM PATH --json` and gives what it printed, whether all could be read or not.
#[track_caller]
pub fn import(home: &Home, from: &str, path: &Path, more: &[&str]) -> (Finished, Value) {
    let arguments = [OsStr::new("import"), "--from".as_ref(), from.as_ref(), "--json".as_ref(), path.as_os_str()];
    let run = home.run(arguments.into_iter().chain(more.iter().map(OsStr::new)));
    let report = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("not JSON: {error}: {run:#?}"));
    (run, report)
}

/// A number of a report.
pub fn number(report: &Value, field: &str) -> u64 {
    report[field].as_u64().unwrap_or_else(|| panic!("no {field} in {report:#}"))
}

/// Panics unless every row that was read has come to one end.
#[track_caller]
pub fn assert_adds_up(report: &Value) {
    let ends = ["memories", "seen_again", "known", "forgotten", "left_out", "joined", "passed_over", "failed"];
    let ended: u64 = ends.iter().map(|field| number(report, field)).sum();
    assert_eq!(number(report, "rows") + number(report, "cut"), ended, "{report:#}");
    let parts = report["parts"].as_array().expect("parts");
    assert_eq!(number(report, "rows"), parts.iter().map(|part| number(part, "rows")).sum::<u64>(), "{report:#}");
}

/// Imports, checks everything that goes for any source, and imports again.
#[track_caller]
pub fn assert_moves(home: &Home, path: &Path, expected: &Expected) {
    let folder = path.parent().expect("a folder");
    let before = tree(folder);
    let (_, dry) = import(home, expected.from, path, &["--dry-run"]);
    let stored = home.memories();
    let (run, report) = import(home, expected.from, path, &[]);
    drop(run.success());
    assert_adds_up(&report);
    for (field, wanted) in [
        ("rows", expected.rows),
        ("memories", expected.memories),
        ("joined", expected.joined),
        ("passed_over", expected.passed_over),
        ("failed", 0),
    ] {
        assert_eq!(number(&report, field), wanted, "{field} of {}: {report:#}", path.display());
    }
    assert_eq!(dry["parts"], report["parts"], "the dry run promised something else");
    assert_eq!(home.memories().len() as u64, stored.len() as u64 + expected.memories, "the dry run stored something");
    for (text, at) in &expected.times {
        assert_eq!(time_of(home, text), *at, "the time of {text:?}");
    }
    let stored = home.memories();
    let (_, again) = import(home, expected.from, path, &[]);
    assert_adds_up(&again);
    assert_eq!((number(&again, "memories"), number(&again, "known")), (0, expected.memories), "{again:#}");
    assert_eq!(home.memories(), stored);
    assert_eq!(tree(folder), before, "the source was touched");
    let left = std::fs::read_dir(home.path()).expect("the home").flatten().map(|entry| entry.file_name());
    let copies: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("throughline-import-")).collect();
    assert!(copies.is_empty(), "a copy was left behind: {copies:?}");
}

/// When the memory that holds the text was learned, milliseconds.
pub fn time_of(home: &Home, text: &str) -> i64 {
    let conn = database::open(&home.database());
    let found =
        conn.query_row("SELECT created_at FROM memories WHERE content LIKE '%' || ?1 || '%'", [text], |row| row.get(0));
    found.unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// The memory whose content holds the words: type, title, project's identity, session.
pub fn stored(home: &Home, words: &str) -> (String, String, String, String) {
    let conn = database::open(&home.database());
    conn.query_row(
        "SELECT m.type, m.title, p.identity, m.session_id FROM memories m JOIN projects p ON p.id = m.project_id
         WHERE m.content LIKE '%' || ?1 || '%'",
        [words],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
    )
    .unwrap_or_else(|error| panic!("{words:?}: {error}"))
}
