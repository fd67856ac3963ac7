//! The ledger of calls to language models, in a file of its own that all namespaces of a machine share. It keeps the user's
//! limits: a call is written down with the most that it can cost before it is made, in the transaction that checks the limits, and
//! with what it did cost afterwards. So no number of processes can exceed a limit together. A process that dies in between leaves
//! its call charged in full.
//!
//! There is no text in it: a request is a digest and a size.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::columns::open_small;
use super::error::{Result, classify};
use super::notes::day;
use super::{time, time_from_sql};
use throughline_platform::open::FileOptions as _;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS calls (
        number        INTEGER PRIMARY KEY,
        at            INTEGER NOT NULL,
        day           TEXT NOT NULL,              -- of this machine, as in 2026-01-31
        policy        TEXT NOT NULL,
        policy_digest TEXT NOT NULL,
        project       TEXT NOT NULL,              -- its root folder
        session_id    TEXT NOT NULL,              -- empty: the project as a whole
        purpose       TEXT NOT NULL,              -- one word
        provider      TEXT NOT NULL,
        model         TEXT NOT NULL,
        request       TEXT NOT NULL,              -- the digest of what was sent
        bytes         INTEGER NOT NULL,           -- its size
        state         TEXT NOT NULL,              -- reserved, answered, failed
        input_tokens  INTEGER NOT NULL,           -- what it is charged with: at first, the most that it can be
        output_tokens INTEGER NOT NULL,
        nano_usd      INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS calls_by_day ON calls (day);
    CREATE INDEX IF NOT EXISTS calls_by_session ON calls (session_id);
    CREATE TABLE IF NOT EXISTS notices (
        day    TEXT NOT NULL,
        policy TEXT NOT NULL,
        PRIMARY KEY (day, policy)
    ) STRICT, WITHOUT ROWID;";

/// What may be spent in some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spend {
    /// Tokens, read and written together.
    pub tokens: u64,
    /// Billionths of a US dollar.
    pub nano_usd: u64,
}

/// A limit that was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cap {
    /// The setting that sets it, such as `day_tokens`.
    pub name: String,
    /// Over what it is counted.
    pub span: Span,
    /// The policy that it is for; none for all policies together.
    pub policy: Option<String>,
    /// The most.
    pub most: Amount,
}

/// Over what a limit is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// One call.
    Call,
    /// One session.
    Session,
    /// A day of this machine.
    Day,
    /// A month of this machine.
    Month,
}

/// An amount of one of the two units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Tokens.
    Tokens(u64),
    /// Billionths of a US dollar.
    NanoUsd(u64),
}

/// A call that is about to be made.
#[derive(Debug, Clone, Default)]
pub struct NewCall {
    /// When.
    pub at: u64,
    /// The policy that asks, and the digest of its component.
    pub policy: (String, String),
    /// The root folder of the project.
    pub project: String,
    /// The session; empty for the project as a whole.
    pub session: String,
    /// What for, in one word.
    pub purpose: String,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The digest of the request.
    pub request: String,
    /// Its size.
    pub bytes: u64,
    /// The most tokens that can be read.
    pub input_tokens: u64,
    /// The most tokens that can be written.
    pub output_tokens: u64,
    /// The most that it can cost.
    pub nano_usd: u64,
}

/// The answer to [`Ledger::reserve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reservation {
    /// The call may be made. The number is for [`Ledger::settle`].
    Reserved(i64),
    /// This limit would be exceeded.
    Reached {
        /// The limit.
        cap: Cap,
        /// What it still leaves.
        left: u64,
        /// Whether this is the first time that the policy meets a limit on this day.
        is_first: bool,
    },
}

/// What a call did cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settlement {
    /// Whether there was an answer.
    pub is_answered: bool,
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Billionths of a US dollar.
    pub nano_usd: u64,
}

/// What was spent on one day by one policy for one project.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpendRow {
    /// The day, as in 2026-01-31.
    pub day: String,
    /// The policy.
    pub policy: String,
    /// The root folder of the project.
    pub project: String,
    /// Calls.
    pub calls: u64,
    /// Calls without an answer.
    pub failed: u64,
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Billionths of a US dollar.
    pub nano_usd: u64,
}

/// A call that was made.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SentCall {
    /// When, milliseconds since the Unix epoch.
    pub at: u64,
    /// The policy.
    pub policy: String,
    /// What for.
    pub purpose: String,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// SHA-256 of the request, hexadecimal.
    pub request: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// `reserved`: it is running, or its process died; `answered`, or `failed`.
    pub state: String,
    /// Tokens that it is charged with.
    pub tokens: u64,
    /// Billionths of a US dollar that it is charged with.
    pub nano_usd: u64,
}

/// An open ledger.
#[derive(Debug)]
pub struct Ledger {
    conn: Connection,
    path: std::path::PathBuf,
}

impl Ledger {
    /// Opens the ledger, and creates it if it is missing. Waits at most `timeout` for other processes.
    pub fn open(path: &Path, timeout: Duration) -> Result<Self> {
        // The file is created here and not by SQLite, so that there is no moment in which others could read it.
        let _ = std::fs::File::options().write(true).create_new(true).private().open(path);
        let open = || {
            let conn = open_small(path)?;
            conn.busy_timeout(timeout)?;
            conn.execute_batch("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;")?;
            conn.execute_batch(SCHEMA)?;
            Ok(conn)
        };
        open().map(|conn| Self { conn, path: path.to_owned() }).map_err(|error| classify(path, error))
    }

    fn write<T>(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let done = (|| {
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&tx)?;
            tx.commit()?;
            Ok(done)
        })();
        done.map_err(|error| classify(&self.path, error))
    }

    /// Writes a call down with the most that it can cost, if every limit leaves that.
    pub fn reserve(&mut self, call: &NewCall, caps: &[Cap]) -> Result<Reservation> {
        self.write(|tx| {
            let day = day(call.at);
            for cap in caps {
                let spent = spent(tx, cap, &call.session, &day)?;
                let (spent, most, wanted) = match cap.most {
                    Amount::Tokens(most) => (spent.tokens, most, call.input_tokens.saturating_add(call.output_tokens)),
                    Amount::NanoUsd(most) => (spent.nano_usd, most, call.nano_usd),
                };
                let left = most.saturating_sub(spent);
                if wanted > left {
                    let is_first = notice(tx, &day, &call.policy.0)?;
                    return Ok(Reservation::Reached { cap: cap.clone(), left, is_first });
                }
            }
            tx.execute(
                "INSERT INTO calls (at, day, policy, policy_digest, project, session_id, purpose, provider, model, request, bytes,
                                    state, input_tokens, output_tokens, nano_usd)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'reserved', ?12, ?13, ?14)",
                params![
                    time(call.at),
                    day,
                    call.policy.0,
                    call.policy.1,
                    call.project,
                    call.session,
                    call.purpose,
                    call.provider,
                    call.model,
                    call.request,
                    time(call.bytes),
                    time(call.input_tokens),
                    time(call.output_tokens),
                    time(call.nano_usd),
                ],
            )?;
            Ok(Reservation::Reserved(tx.last_insert_rowid()))
        })
    }

    /// Records that the limits leave a policy too little. Returns whether this is the first time on this day.
    pub fn notice(&mut self, policy: &str, now: u64) -> Result<bool> {
        self.write(|tx| notice(tx, &day(now), policy))
    }

    /// Writes down what a call did cost, which is never more than was reserved: a provider that says more is not believed.
    pub fn settle(&mut self, number: i64, settlement: Settlement) -> Result<()> {
        self.write(|tx| {
            tx.execute(
                "UPDATE calls SET state = ?2, input_tokens = min(?3, input_tokens), output_tokens = min(?4, output_tokens),
                        nano_usd = min(?5, nano_usd)
                 WHERE number = ?1 AND state = 'reserved'",
                params![
                    number,
                    if settlement.is_answered { "answered" } else { "failed" },
                    time(settlement.input_tokens),
                    time(settlement.output_tokens),
                    time(settlement.nano_usd),
                ],
            )
            .map(drop)
        })
    }

    /// Returns what the limits leave: tokens, and billionths of a US dollar. None where no limit counts the unit.
    pub fn left(&self, caps: &[Cap], session: &str, now: u64) -> Result<(Option<u64>, Option<u64>)> {
        let left = || {
            let (mut tokens, mut nano_usd): (Option<u64>, Option<u64>) = (None, None);
            let day = day(now);
            for cap in caps {
                let spent = spent(&self.conn, cap, session, &day)?;
                let (unit, left) = match cap.most {
                    Amount::Tokens(most) => (&mut tokens, most.saturating_sub(spent.tokens)),
                    Amount::NanoUsd(most) => (&mut nano_usd, most.saturating_sub(spent.nano_usd)),
                };
                *unit = Some(unit.map_or(left, |other| other.min(left)));
            }
            Ok((tokens, nano_usd))
        };
        left().map_err(|error| classify(&self.path, error))
    }

    /// Returns what was spent since a day (as in 2026-01-31), the latest day first.
    pub fn spend(&self, since: &str) -> Result<Vec<SpendRow>> {
        let rows = || {
            self.conn
                .prepare_cached(
                    "SELECT day, policy, project, count(*), sum(state = 'failed'), sum(input_tokens), sum(output_tokens), sum(nano_usd)
                     FROM calls WHERE day >= ?1 GROUP BY day, policy, project ORDER BY day DESC, policy, project",
                )?
                .query_map([since], |row| {
                    let number = |index| row.get(index).map(time_from_sql);
                    Ok(SpendRow {
                        day: row.get(0)?,
                        policy: row.get(1)?,
                        project: row.get(2)?,
                        calls: number(3)?,
                        failed: number(4)?,
                        input_tokens: number(5)?,
                        output_tokens: number(6)?,
                        nano_usd: number(7)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()
        };
        rows().map_err(|error| classify(&self.path, error))
    }

    /// Returns the latest calls, the latest first.
    pub fn sent(&self, limit: u32) -> Result<Vec<SentCall>> {
        let rows = || {
            self.conn
                .prepare_cached(
                    "SELECT at, policy, purpose, provider, model, request, bytes, state, input_tokens + output_tokens, nano_usd
                     FROM calls ORDER BY number DESC LIMIT ?1",
                )?
                .query_map([limit], |row| {
                    let number = |index| row.get(index).map(time_from_sql);
                    Ok(SentCall {
                        at: number(0)?,
                        policy: row.get(1)?,
                        purpose: row.get(2)?,
                        provider: row.get(3)?,
                        model: row.get(4)?,
                        request: row.get(5)?,
                        bytes: number(6)?,
                        state: row.get(7)?,
                        tokens: number(8)?,
                        nano_usd: number(9)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()
        };
        rows().map_err(|error| classify(&self.path, error))
    }
}

fn notice(tx: &Connection, day: &str, policy: &str) -> rusqlite::Result<bool> {
    Ok(tx.execute("INSERT OR IGNORE INTO notices (day, policy) VALUES (?1, ?2)", [day, policy])? > 0)
}

/// Returns what was spent over the span of a limit.
fn spent(conn: &Connection, cap: &Cap, session: &str, day: &str) -> rusqlite::Result<Spend> {
    // The first seven characters of a day are its month.
    let (condition, value) = match cap.span {
        Span::Call => return Ok(Spend::default()),
        // What is done for a project as a whole belongs to no session.
        Span::Session if session.is_empty() => return Ok(Spend::default()),
        Span::Session => ("session_id = ?1", session),
        Span::Day => ("day = ?1", day),
        Span::Month => ("day BETWEEN ?1 AND ?1 || '~'", &day[..day.len().min(7)]),
    };
    let spent = conn
        .prepare_cached(&format!(
            "SELECT COALESCE(sum(input_tokens + output_tokens), 0), COALESCE(sum(nano_usd), 0) FROM calls
             WHERE {condition} AND (?2 IS NULL OR policy = ?2)"
        ))?
        .query_row(params![value, cap.policy], |row| {
            Ok(Spend { tokens: row.get(0).map(time_from_sql)?, nano_usd: row.get(1).map(time_from_sql)? })
        })
        .optional()?;
    Ok(spent.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noon, so that no time zone moves it to another month.
    const NOON: u64 = 1_790_000_000_000;
    const DAY: u64 = 86_400_000;

    fn call(session: &str, tokens: u64, at: u64) -> NewCall {
        NewCall { at, session: session.into(), input_tokens: tokens, nano_usd: tokens * 10, ..NewCall::default() }
    }

    fn cap(name: &str, span: Span, most: Amount) -> Cap {
        Cap { name: name.into(), span, policy: None, most }
    }

    fn reached(reservation: &Reservation) -> Option<(&str, u64, bool)> {
        match reservation {
            Reservation::Reserved(_) => None,
            Reservation::Reached { cap, left, is_first } => Some((cap.name.as_str(), *left, *is_first)),
        }
    }

    #[test]
    fn each_limit_holds_to_the_token() {
        let dir = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&dir.path().join("ledger.db"), Duration::from_secs(1)).unwrap();
        let caps = [
            cap("call_tokens", Span::Call, Amount::Tokens(60)),
            cap("session_tokens", Span::Session, Amount::Tokens(100)),
            cap("day_tokens", Span::Day, Amount::Tokens(150)),
            cap("month_usd", Span::Month, Amount::NanoUsd(2_000)),
        ];
        let mut reserve = |call: &NewCall| ledger.reserve(call, &caps).unwrap();
        assert_eq!(reached(&reserve(&call("a", 61, NOON))), Some(("call_tokens", 60, true)));
        let Reservation::Reserved(first) = reserve(&call("a", 60, NOON)) else { panic!() };
        assert_eq!(reached(&reserve(&call("a", 41, NOON))), Some(("session_tokens", 40, false)));
        assert_eq!(reached(&reserve(&call("a", 40, NOON))), None);
        assert_eq!(reached(&reserve(&call("b", 51, NOON))), Some(("day_tokens", 50, false)));
        assert_eq!(reached(&reserve(&call("b", 50, NOON))), None);
        // It goes on the next day, until the month is used up.
        assert_eq!(reached(&reserve(&call("c", 51, NOON + DAY))), Some(("month_usd", 500, true)));
        assert_eq!(reached(&reserve(&call("c", 50, NOON + DAY))), None);
        // What a call did not need is free again, and a lie adds nothing.
        let settle = |input_tokens, nano_usd| Settlement { is_answered: true, input_tokens, output_tokens: 0, nano_usd };
        ledger.settle(first, settle(20, 200)).unwrap();
        ledger.settle(first, settle(0, 0)).unwrap();
        assert_eq!(ledger.left(&caps, "a", NOON).unwrap(), (Some(40), Some(400)));
        let Reservation::Reserved(second) = ledger.reserve(&call("a", 40, NOON), &caps).unwrap() else { panic!() };
        ledger.settle(second, settle(u64::MAX, u64::MAX)).unwrap();
        assert_eq!(ledger.left(&caps, "a", NOON).unwrap(), (Some(0), Some(0)));
        assert!(ledger.notice("q", NOON).unwrap() && !ledger.notice("q", NOON).unwrap());
        let rows = ledger.spend("").unwrap();
        assert_eq!(rows.iter().map(|row| row.input_tokens).collect::<Vec<_>>(), [50, 150]);
    }
}
