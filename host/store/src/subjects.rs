//! Removes subjects of tool uses that earlier builds derived from commands before these were redacted.
//!
//! The words of a subject have lost the options before them, so no redactor recognizes a password among them:
//! `curl admin:PASSWORD` instead of `curl -u admin:PASSWORD`. But the command itself was redacted before it was stored. A
//! subject is therefore kept only if the command of its tool use still has each of its words. The others are removed, with the
//! failures that they name and the memories of these.

use rusqlite::{Connection, TransactionBehavior, params};

use super::columns::{from_json_or_default, json};
use super::journal::EventPayload;
use super::memories::{forget_in_notes, remove};
use super::proof::drop_unproven;
use super::{Result, Store};

/// The mark in `meta` that the schema's version 9 sets.
const MARK: &str = "subjects";

/// Programs whose subcommands name no secret. If the events of a failure are gone, its subject is kept only if it begins with
/// one of these, and the rest are plain words.
const PROGRAMS: [&str; 20] = [
    "bun", "cargo", "cmake", "deno", "dotnet", "eslint", "go", "gradle", "jest", "make", "mvn", "mypy", "npm", "pnpm",
    "pytest", "ruff", "rustc", "tsc", "vitest", "yarn",
];

/// Tools whose subject is the tool and a file. Both are already redacted.
const FILE_TOOLS: [&str; 6] = ["Edit", "Glob", "Grep", "MultiEdit", "Read", "Write"];

impl Store {
    /// Checks the subjects of a database that an earlier build wrote, once. Whoever opens a database that may be older calls this
    /// before anything else.
    pub fn check_subjects_once(&self) -> Result<()> {
        Ok(check_once(&self.conn)?)
    }
}

fn check_once(conn: &Connection) -> rusqlite::Result<()> {
    let is_marked = |conn: &Connection| conn.prepare_cached("SELECT 1 FROM meta WHERE key = ?1")?.exists([MARK]);
    if !is_marked(conn)? {
        return Ok(());
    }
    conn.execute_batch("PRAGMA secure_delete = ON")?;
    let tx = rusqlite::Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    // Another process may have checked them first.
    if is_marked(&tx)? {
        if remove_unproven(&tx)? {
            // Deleted rows leave their words in older segments of the index until these are merged.
            tx.execute_batch("INSERT INTO memories_fts (memories_fts) VALUES ('optimize')")?;
        }
        tx.execute("DELETE FROM meta WHERE key = ?1", [MARK])?;
    }
    tx.commit()?;
    // What was removed is also in the WAL. If other processes use it, the next checkpoint removes it.
    let _ = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    Ok(())
}

/// Removes what is not proven to be free of secrets. Returns whether a memory was removed.
fn remove_unproven(tx: &Connection) -> rusqlite::Result<bool> {
    remove_from_events(tx)?;
    let failures: Vec<(i64, String, Option<i64>, bool)> = tx
        .prepare(
            "SELECT number, subject, memory,
                    EXISTS (SELECT 1 FROM failure_sightings s WHERE s.failure = f.number AND s.subject = f.subject)
             FROM failures f",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut is_changed = false;
    for (number, subject, memory, is_proven) in failures {
        if is_proven || is_plain(&subject) {
            continue;
        }
        tx.execute("DELETE FROM failures WHERE number = ?1", [number])?;
        if let Some(memory) = memory {
            forget_in_notes(tx, memory)?;
            remove(tx, memory)?;
            is_changed = true;
        }
    }
    // Memories of failures that were deleted before.
    let left: Vec<i64> = tx
        .prepare(
            "SELECT DISTINCT memory FROM sightings WHERE key LIKE 'failure:%'
               AND memory NOT IN (SELECT memory FROM failures WHERE memory IS NOT NULL)
               AND memory IN (SELECT m.rowid FROM memories m JOIN makers a ON a.number = m.maker WHERE a.policy = 'throughline')",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for memory in left {
        forget_in_notes(tx, memory)?;
        remove(tx, memory)?;
        is_changed = true;
    }
    Ok(is_changed)
}

/// Removes unproven subjects from the events and what refers to them.
fn remove_from_events(tx: &Connection) -> rusqlite::Result<()> {
    let mut select = tx.prepare(
        "SELECT event_id, payload_json FROM events WHERE event_type = 'tool_observation' AND payload_json LIKE '%\"subject\"%'",
    )?;
    let mut rows = select.query([])?;
    let mut changed: Vec<(i64, String)> = Vec::new();
    while let Some(row) = rows.next()? {
        let mut seen: EventPayload = from_json_or_default(&row.get::<_, String>(1)?);
        if drop_unproven(&mut seen) {
            changed.push((row.get(0)?, json(&seen)));
        }
    }
    for (event, payload) in changed {
        tx.prepare_cached("UPDATE events SET payload_json = ?2 WHERE event_id = ?1")?.execute(params![event, payload])?;
        tx.prepare_cached("DELETE FROM failure_sightings WHERE event_id = ?1")?.execute([event])?;
    }
    Ok(())
}

/// Returns whether a subject names no secret, as far as it can be known without its command.
fn is_plain(subject: &str) -> bool {
    let mut words = subject.split_whitespace();
    let Some(first) = words.next() else { return true };
    if FILE_TOOLS.contains(&first) {
        return true;
    }
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b':');
    PROGRAMS.contains(&first) && words.all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::JournalRecord;
    use crate::tests::{fixture, project, redacted};
    use crate::{Access, Store};
    use std::time::Duration;

    fn failed(key: &str, command: &str, subject: &str) -> JournalRecord {
        let attribute = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let seen = EventPayload {
            tool: "Bash".into(),
            summary: format!("Ran `{command}`: exit 1"),
            attributes: vec![
                attribute("command", command),
                attribute("signature", &format!("hash of {subject}")),
                attribute("error", "could not connect"),
                attribute("subject", subject),
            ],
            failed: true,
            ..EventPayload::default()
        };
        JournalRecord {
            kind: "tool_observation".into(),
            key: key.into(),
            at: 1_000,
            session: "s".into(),
            cwd: "/p".into(),
            seen,
        }
    }

    fn bytes(it: &crate::tests::Fixture) -> Vec<u8> {
        let mut bytes = std::fs::read(&it.path).unwrap();
        bytes.extend(std::fs::read(it.path.with_extension("db-wal")).unwrap_or_default());
        bytes
    }

    #[test]
    fn attack_a_password_that_an_earlier_build_stored_as_the_name_of_a_failure() {
        let mut it = fixture();
        let project = project("p");
        let records = [
            failed("1", "curl -u admin:[redacted:curl-user] https://db", "curl admin:Hunter2Swordfish"),
            failed("2", "curl -u admin:[redacted:curl-user] https://db", "curl admin:Hunter2Swordfish"),
            failed("3", "redis-cli -a [redacted:redis] ping", "redis-cli swordfish9 ping"),
            failed("4", "cd api && cargo test -p x", "cargo test x"),
            failed("5", "cargo test -p x", "cargo test x"),
        ];
        it.store.put_records(&project, &records.map(redacted), 2_000).unwrap();
        let found = |it: &crate::tests::Fixture, word: &str| memchr::memmem::find(&bytes(it), word.as_bytes()).is_some();
        assert!(found(&it, "Hunter2Swordfish") && found(&it, "swordfish9"));
        let memories = |store: &Store| -> Vec<String> {
            let mut rows = store.conn.prepare("SELECT content FROM memories").unwrap();
            rows.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
        };
        assert_eq!(memories(&it.store).len(), 2);

        // As the earlier build left it.
        it.store.conn.execute("INSERT INTO meta (key, value) VALUES ('subjects', 'unchecked')", []).unwrap();
        it.store.checkpoint().unwrap();
        it.store = Store::open(&it.path, Access::Write, Duration::from_secs(1)).unwrap();
        it.store.check_subjects_once().unwrap();
        for word in ["Hunter2Swordfish", "hunter2swordfish", "swordfish9"] {
            assert!(!found(&it, word), "{word}");
        }
        assert_eq!(memories(&it.store), ["`cargo test x` fails: could not connect"]);
        let failures = it.store.failures(None, None, false, 10).unwrap();
        assert_eq!(failures.iter().map(|failure| failure.subject.as_str()).collect::<Vec<_>>(), ["cargo test x"]);
        let events: i64 = it.store.conn.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
        assert_eq!(events, 5, "what happened is still known");
    }

    #[test]
    fn subjects_whose_events_are_gone_are_kept_if_they_are_plain() {
        for plain in ["cargo test", "npm run build", "Edit src/a.rs", "pytest", ""] {
            assert!(is_plain(plain), "{plain}");
        }
        for not in ["curl admin:x", "redis-cli swordfish", "cargo login Abc123", "mongosh admin", "npm Hunter2"] {
            assert!(!is_plain(not), "{not}");
        }
    }
}
