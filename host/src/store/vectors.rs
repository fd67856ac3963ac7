//! Tables `vectors` and `vector_codes`: the nearest neighbours of a vector.
//!
//! A small project is compared with as a whole. In a large one the codes, two bits a number, choose [`COMPARED`] pieces of
//! which then the cosines are computed: half a million codes are 34 MB, their vectors would be 130.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension, params};

use super::index::Tables;
use crate::search::pieces;
use crate::search::vector::{Nearest, Probe, code_bytes, entry, pack, places, unpack, without};

/// Memories a block of codes. Two blocks of one-piece memories with the built-in model's codes fill a page of the database,
/// and the place of a piece in its block fits 16 bits.
const BLOCK: i64 = 28;

/// Where a project has fewer memories than this, every vector is compared with.
const SMALL: i64 = 16_000;

/// How many pieces the codes choose.
const COMPARED: usize = 2_000;

fn block_of(memory: i64) -> i64 {
    memory / BLOCK
}

/// The place of a piece in its block.
fn place(memory: i64, piece: usize) -> u16 {
    u16::try_from((memory % BLOCK) << 8).unwrap_or(0) | u16::try_from(piece).unwrap_or(0)
}

/// The row of a piece, from its place in a block.
fn row_of(block: i64, place: u16) -> i64 {
    ((block * BLOCK) << 8) + i64::from(place)
}

/// Stores the vectors of a memory's pieces; those that have none are left out. There must be none of it yet.
pub(super) fn add<'v>(
    tx: &Connection,
    tables: &Tables,
    memory: i64,
    vectors: impl Iterator<Item = Option<&'v [f32]>>,
) -> rusqlite::Result<()> {
    let mut insert =
        tx.prepare_cached(&format!("INSERT OR REPLACE INTO {} (piece, vector) VALUES (?1, ?2)", tables.vectors))?;
    let mut entries = Vec::new();
    for (piece, vector) in vectors.enumerate() {
        let Some(vector) = vector else { continue };
        insert.execute(params![pieces::row(memory, piece), pack(vector)])?;
        entries.extend(entry(place(memory, piece), vector));
    }
    put_codes(tx, tables, memory, &entries)
}

/// Puts the codes of a memory's pieces behind those of its block.
fn put_codes(tx: &Connection, tables: &Tables, memory: i64, entries: &[u8]) -> rusqlite::Result<()> {
    if !entries.is_empty() {
        // What `||` makes is a text to SQLite, whatever its bytes.
        tx.prepare_cached(&format!(
            "INSERT INTO {0} (block, codes) VALUES (?1, ?2)
             ON CONFLICT (block) DO UPDATE SET codes = CAST({0}.codes || excluded.codes AS BLOB)",
            tables.codes
        ))?
        .execute(params![block_of(memory), entries])?;
    }
    Ok(())
}

/// Takes all vectors of a memory out.
pub(super) fn remove(tx: &Connection, tables: &Tables, memory: i64, dims: usize) -> rusqlite::Result<()> {
    let (first, last) = pieces::rows(memory..=memory);
    let gone = tx
        .prepare_cached(&format!("DELETE FROM {} WHERE piece BETWEEN ?1 AND ?2", tables.vectors))?
        .execute([first, last])?;
    if gone == 0 {
        return Ok(());
    }
    let block = block_of(memory);
    let codes: Option<Vec<u8>> = tx
        .prepare_cached(&format!("SELECT codes FROM {} WHERE block = ?1", tables.codes))?
        .query_row([block], |row| row.get(0))
        .optional()?;
    let Some(mut codes) = codes else { return Ok(()) };
    without(&mut codes, code_bytes(dims), |place| i64::from(place >> 8) == memory % BLOCK);
    if codes.is_empty() {
        tx.prepare_cached(&format!("DELETE FROM {} WHERE block = ?1", tables.codes))?.execute([block])?;
    } else {
        tx.prepare_cached(&format!("UPDATE {} SET codes = ?2 WHERE block = ?1", tables.codes))?
            .execute(params![block, codes])?;
    }
    Ok(())
}

/// Copies the vectors of a memory, which has none there yet, from one set of tables to another. False: it has none.
pub(super) fn copy(tx: &Connection, from: &Tables, to: &Tables, memory: i64, dims: usize) -> rusqlite::Result<bool> {
    let (first, last) = pieces::rows(memory..=memory);
    let copied = tx
        .prepare_cached(&format!(
            "INSERT OR REPLACE INTO {} (piece, vector) SELECT piece, vector FROM {} WHERE piece BETWEEN ?1 AND ?2",
            to.vectors, from.vectors
        ))?
        .execute([first, last])?;
    let codes: Option<Vec<u8>> = tx
        .prepare_cached(&format!("SELECT codes FROM {} WHERE block = ?1", from.codes))?
        .query_row([block_of(memory)], |row| row.get(0))
        .optional()?;
    let mut codes = codes.unwrap_or_default();
    without(&mut codes, code_bytes(dims), |place| i64::from(place >> 8) != memory % BLOCK);
    put_codes(tx, to, memory, &codes)?;
    Ok(copied > 0)
}

/// The blocks whose codes are not those of the vectors that there are.
pub(super) fn unfit_blocks(conn: &Connection, dims: usize) -> rusqlite::Result<BTreeSet<i64>> {
    let mut unfit = BTreeSet::new();
    let mut blocks = conn.prepare("SELECT block, codes FROM vector_codes")?;
    let mut rows = blocks.query([])?;
    while let Some(row) = rows.next()? {
        let block: i64 = row.get(0)?;
        let codes = row.get_ref(1)?;
        let found = codes.as_blob().ok().and_then(|codes| places(codes, code_bytes(dims))).map(|places| {
            let mut found: Vec<i64> = places.into_iter().map(|place| row_of(block, place)).collect();
            found.sort_unstable();
            found
        });
        if found != Some(pieces_of_block(conn, block)?) {
            unfit.insert(block);
        }
    }
    let mut without = conn.prepare(&format!(
        "SELECT DISTINCT (piece >> 8) / {BLOCK} AS of FROM vectors WHERE NOT EXISTS (SELECT 1 FROM vector_codes c WHERE c.block = of)"
    ))?;
    for block in without.query_map([], |row| row.get(0))? {
        unfit.insert(block?);
    }
    Ok(unfit)
}

fn pieces_of_block(conn: &Connection, block: i64) -> rusqlite::Result<Vec<i64>> {
    let (first, last) = pieces::rows(block * BLOCK..=block * BLOCK + BLOCK - 1);
    conn.prepare_cached("SELECT piece FROM vectors WHERE piece BETWEEN ?1 AND ?2 ORDER BY piece")?
        .query_map([first, last], |row| row.get(0))?
        .collect()
}

/// Makes the codes of a block anew, from its vectors. They are of the numbers as they were rounded, which differ from those
/// of the model by less than what a code can tell apart.
pub(super) fn make_block_anew(tx: &Connection, tables: &Tables, block: i64, dims: usize) -> rusqlite::Result<()> {
    tx.prepare_cached(&format!("DELETE FROM {} WHERE block = ?1", tables.codes))?.execute([block])?;
    let mut select = tx.prepare_cached(&format!("SELECT vector FROM {} WHERE piece = ?1", tables.vectors))?;
    for row in pieces_of_block(tx, block)? {
        let packed: Vec<u8> = select.query_row([row], |row| row.get(0))?;
        let memory = pieces::memory_of(row);
        if let Some(vector) = unpack(&packed).filter(|vector| vector.len() == dims) {
            put_codes(tx, tables, memory, &entry(place(memory, pieces::number_of(row)), &vector))?;
        }
    }
    Ok(())
}

/// The pieces among those of `memories`, from the oldest to the newest, that are nearest to the probe, at most `most`, nearest
/// first, with their cosines.
pub(super) fn nearest(
    conn: &Connection,
    probe: &Probe,
    memories: RangeInclusive<i64>,
    most: usize,
) -> rusqlite::Result<Vec<(i64, f32)>> {
    let mut found = if memories.end() - memories.start() < SMALL {
        every(conn, probe, memories)?
    } else {
        let chosen = chosen(conn, probe, memories, COMPARED.max(most))?;
        cosines_of(conn, probe, chosen)?.into_iter().collect()
    };
    found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    found.truncate(most);
    Ok(found)
}

fn every(conn: &Connection, probe: &Probe, memories: RangeInclusive<i64>) -> rusqlite::Result<Vec<(i64, f32)>> {
    let (first, last) = pieces::rows(memories);
    let mut select = conn.prepare_cached("SELECT piece, vector FROM vectors WHERE piece BETWEEN ?1 AND ?2")?;
    let mut rows = select.query([first, last])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if let Some(cosine) = probe.cosine(row.get_ref(1)?.as_blob().unwrap_or_default()) {
            found.push((row.get(0)?, cosine));
        }
    }
    Ok(found)
}

/// The pieces whose codes are nearest.
fn chosen(conn: &Connection, probe: &Probe, memories: RangeInclusive<i64>, most: usize) -> rusqlite::Result<Vec<i64>> {
    let mut select = conn.prepare_cached("SELECT block, codes FROM vector_codes WHERE block BETWEEN ?1 AND ?2")?;
    let mut rows = select.query([block_of(*memories.start()), block_of(*memories.end())])?;
    let mut nearest = Nearest::new(most);
    while let Some(row) = rows.next()? {
        let block: i64 = row.get(0)?;
        probe.look_through(row.get_ref(1)?.as_blob().unwrap_or_default(), &mut nearest, |place| row_of(block, place));
    }
    // A block may reach into what lies beside the range.
    let (first, last) = pieces::rows(memories);
    Ok(nearest.rows().into_iter().filter(|piece| (first..=last).contains(piece)).collect())
}

/// The cosines of those of the pieces that have a vector.
pub(super) fn cosines_of(
    conn: &Connection,
    probe: &Probe,
    pieces: impl IntoIterator<Item = i64>,
) -> rusqlite::Result<HashMap<i64, f32, foldhash::fast::RandomState>> {
    let mut select = conn.prepare_cached("SELECT vector FROM vectors WHERE piece = ?1")?;
    let mut found = HashMap::default();
    for piece in pieces {
        let cosine = select
            .query_row([piece], |row| Ok(probe.cosine(row.get_ref(0)?.as_blob().unwrap_or_default())))
            .optional()?
            .flatten();
        found.extend(cosine.map(|cosine| (piece, cosine)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_found_by_its_place_again() {
        for memory in (0..3 * BLOCK).chain((1 << 32)..(1 << 32) + 3 * BLOCK) {
            for piece in [0, 1, 255] {
                assert_eq!(row_of(block_of(memory), place(memory, piece)), pieces::row(memory, piece));
            }
        }
    }
}
