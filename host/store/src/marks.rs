//! Columns `memories.pinned_at` and `memories.wrong_at`: the marks that a person gives memories.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{from_json_or_default, json, time, time_from_sql};
use throughline_model::contract::Attribute;

/// The attribute with the reason why a memory is wrong.
pub const WRONG_BECAUSE: &str = "wrong-because";

/// Returns why a memory with these attributes is wrong, if a person said it.
pub fn wrong_because(attributes: &[Attribute]) -> Option<&str> {
    attributes.iter().find(|(name, _)| name == WRONG_BECAUSE).map(|(_, because)| because.as_str())
}

/// What a person said of a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// When it was pinned, milliseconds since the Unix epoch.
    pub pinned_at: Option<u64>,
    /// When it was marked wrong.
    pub wrong_at: Option<u64>,
}

/// Which memories a list or a search includes, by the marks that a person made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Marked {
    /// All but those that are wrong.
    #[default]
    NotWrong,
    /// All.
    Any,
    /// Only those that are pinned, and not wrong.
    Pinned,
    /// Only those that are wrong.
    Wrong,
}

impl Marked {
    /// Returns the SQL condition on `memories m`.
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::NotWrong => "m.wrong_at IS NULL",
            Self::Any => "1",
            Self::Pinned => "m.pinned_at IS NOT NULL AND m.wrong_at IS NULL",
            Self::Wrong => "m.wrong_at IS NOT NULL",
        }
    }

    /// Returns whether a memory with these marks is included.
    pub(super) fn includes(self, is_pinned: bool, is_wrong: bool) -> bool {
        match self {
            Self::NotWrong => !is_wrong,
            Self::Any => true,
            Self::Pinned => is_pinned && !is_wrong,
            Self::Wrong => is_wrong,
        }
    }
}

/// Reads the two columns.
pub(super) fn marks_from_row(row: &Row<'_>) -> rusqlite::Result<Marks> {
    let at = |column: usize| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(time_from_sql));
    Ok(Marks { pinned_at: at(0)?, wrong_at: at(1)? })
}

/// Returns the marks of a row.
pub(super) fn of(conn: &Connection, rowid: i64) -> rusqlite::Result<Marks> {
    let found = conn
        .prepare_cached("SELECT pinned_at, wrong_at FROM memories WHERE rowid = ?1")?
        .query_row([rowid], marks_from_row)
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// Sets or clears a row's pin.
pub(super) fn set_pinned(tx: &Connection, rowid: i64, at: Option<u64>) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE memories SET pinned_at = ?2 WHERE rowid = ?1")?.execute(params![rowid, at.map(time)])?;
    Ok(())
}

/// Sets or clears that a row is wrong, and why. Returns false if nothing changed. A reason alone can be changed.
pub(super) fn set_wrong(tx: &Connection, rowid: i64, at: Option<u64>, because: Option<&str>) -> rusqlite::Result<bool> {
    let is_wrong = of(tx, rowid)?.wrong_at.is_some();
    if is_wrong == at.is_some() && because.is_none() {
        return Ok(false);
    }
    if is_wrong != at.is_some() {
        tx.prepare_cached("UPDATE memories SET wrong_at = ?2 WHERE rowid = ?1")?.execute(params![rowid, at.map(time)])?;
    }
    let mut attributes = attributes(tx, rowid)?;
    attributes.retain(|(name, _)| name != WRONG_BECAUSE);
    attributes.extend(because.map(|because| (WRONG_BECAUSE.to_owned(), because.to_owned())));
    tx.prepare_cached("UPDATE memories SET metadata = ?2 WHERE rowid = ?1")?.execute(params![rowid, json(&attributes)])?;
    Ok(true)
}

/// Returns why a row is wrong, as its attribute.
pub(super) fn reason(conn: &Connection, rowid: i64) -> rusqlite::Result<Option<Attribute>> {
    if of(conn, rowid)?.wrong_at.is_none() {
        return Ok(None);
    }
    Ok(attributes(conn, rowid)?.into_iter().find(|(name, _)| name == WRONG_BECAUSE))
}

fn attributes(conn: &Connection, rowid: i64) -> rusqlite::Result<Vec<Attribute>> {
    let attributes: Option<String> = conn
        .prepare_cached("SELECT metadata FROM memories WHERE rowid = ?1")?
        .query_row([rowid], |row| row.get(0))
        .optional()?;
    Ok(attributes.as_deref().map(from_json_or_default).unwrap_or_default())
}
