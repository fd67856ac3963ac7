//! Tables `vectors` and `vector_codes`: nearest-neighbour search.
//!
//! In a small project the query is compared with every vector. In a large one, codes of two bits per number select
//! between a few hundred and [`MAX_COMPARED`] pieces, whose cosines are then computed. Half a million codes take 34
//! MB; their vectors would take 130 MB.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::{Connection, OptionalExtension, params};

use super::extent::Extent;
use super::helper::{PendingAnswer, SearchHelper};
use super::index::Tables;
use throughline_search::pieces;
use throughline_search::vector::{
    NearestCodes, QueryVector, code_bytes, encode_entry, pack, read_slots, remove_entries, unpack,
};

/// How many memories share one block of codes. With the built-in model and one piece per memory, two blocks fill a
/// database page, and the place of a piece in its block fits 16 bits.
const BLOCK: i64 = 28;

/// In a project with fewer memories than this, every vector is compared.
const MAX_EXHAUSTIVE_SCAN: i64 = 16_000;

/// The codes, and the vectors, of how many memories a thread takes at a time. Reading them takes about a quarter of a
/// millisecond.
const CODES_PER_TAKE: i64 = 256 * BLOCK;
const VECTORS_PER_TAKE: i64 = 32 * BLOCK;

/// The maximum number of pieces selected by their codes. In a test with half a million very similar texts, these
/// included 99 % of the nearest 200.
const MAX_COMPARED: usize = 4_000;

/// Cosines with the query's vector, by the piece's row.
pub(super) type Cosines = HashMap<i64, f32, foldhash::fast::RandomState>;

fn block_of(memory: i64) -> i64 {
    memory / BLOCK
}

/// Returns the place of a piece in its block.
fn place(memory: i64, piece: usize) -> u16 {
    u16::try_from((memory % BLOCK) << 8).unwrap_or(0) | u16::try_from(piece).unwrap_or(0)
}

/// Returns the row of a piece from its place in a block.
fn row_of(block: i64, place: u16) -> i64 {
    ((block * BLOCK) << 8) + i64::from(place)
}

/// Stores the vectors of a memory's pieces; pieces without one are left out. The memory must have no vectors yet.
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
        insert.execute(params![pieces::row_id(memory, piece), pack(vector)])?;
        entries.extend(encode_entry(place(memory, piece), vector));
    }
    put_codes(tx, tables, memory, &entries)
}

/// Appends the codes of a memory's pieces to its block.
fn put_codes(tx: &Connection, tables: &Tables, memory: i64, entries: &[u8]) -> rusqlite::Result<()> {
    if !entries.is_empty() {
        // The result of `||` is text to SQLite, whatever its bytes.
        tx.prepare_cached(&format!(
            "INSERT INTO {0} (block, codes) VALUES (?1, ?2)
             ON CONFLICT (block) DO UPDATE SET codes = CAST({0}.codes || excluded.codes AS BLOB)",
            tables.codes
        ))?
        .execute(params![block_of(memory), entries])?;
    }
    Ok(())
}

/// Removes all vectors of a memory.
pub(super) fn remove(tx: &Connection, tables: &Tables, memory: i64, dims: usize) -> rusqlite::Result<()> {
    let (first, last) = pieces::row_id_range(memory..=memory);
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
    remove_entries(&mut codes, code_bytes(dims), |place| i64::from(place >> 8) == memory % BLOCK);
    if codes.is_empty() {
        tx.prepare_cached(&format!("DELETE FROM {} WHERE block = ?1", tables.codes))?.execute([block])?;
    } else {
        tx.prepare_cached(&format!("UPDATE {} SET codes = ?2 WHERE block = ?1", tables.codes))?
            .execute(params![block, codes])?;
    }
    Ok(())
}

/// Copies the vectors of a memory from one set of tables to another, where it must have none yet. Returns false if
/// there are none to copy.
pub(super) fn copy(tx: &Connection, from: &Tables, to: &Tables, memory: i64, dims: usize) -> rusqlite::Result<bool> {
    let (first, last) = pieces::row_id_range(memory..=memory);
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
    remove_entries(&mut codes, code_bytes(dims), |place| i64::from(place >> 8) != memory % BLOCK);
    put_codes(tx, to, memory, &codes)?;
    Ok(copied > 0)
}

/// Returns the blocks whose codes do not match their vectors.
pub(super) fn invalid_blocks(conn: &Connection, dims: usize) -> rusqlite::Result<BTreeSet<i64>> {
    let mut unfit = BTreeSet::new();
    let mut blocks = conn.prepare("SELECT block, codes FROM vector_codes")?;
    let mut rows = blocks.query([])?;
    while let Some(row) = rows.next()? {
        let block: i64 = row.get(0)?;
        let codes = row.get_ref(1)?;
        let found = codes.as_blob().ok().and_then(|codes| read_slots(codes, code_bytes(dims))).map(|places| {
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
    let (first, last) = pieces::row_id_range(block * BLOCK..=block * BLOCK + BLOCK - 1);
    conn.prepare_cached("SELECT piece FROM vectors WHERE piece BETWEEN ?1 AND ?2 ORDER BY piece")?
        .query_map([first, last], |row| row.get(0))?
        .collect()
}

/// Rebuilds the codes of a block from its vectors. Those are rounded, but they differ from the model's by less than a
/// code can distinguish.
pub(super) fn rebuild_block(tx: &Connection, tables: &Tables, block: i64, dims: usize) -> rusqlite::Result<()> {
    tx.prepare_cached(&format!("DELETE FROM {} WHERE block = ?1", tables.codes))?.execute([block])?;
    let mut select = tx.prepare_cached(&format!("SELECT vector FROM {} WHERE piece = ?1", tables.vectors))?;
    for row in pieces_of_block(tx, block)? {
        let packed: Vec<u8> = select.query_row([row], |row| row.get(0))?;
        let memory = pieces::memory_row(row);
        if let Some(vector) = unpack(&packed).filter(|vector| vector.len() == dims) {
            put_codes(tx, tables, memory, &encode_entry(place(memory, pieces::piece_number(row)), &vector))?;
        }
    }
    Ok(())
}

/// A search for the pieces nearest to a probe, among the memories of an extent. Several connections can take part: each
/// takes the next blocks until none are left.
pub(super) struct Scan<'p> {
    probe: &'p QueryVector,
    /// The first and the last row.
    memories: RangeInclusive<i64>,
    /// Whether codes select what is compared.
    is_large: bool,
    /// Blocks that are taken together.
    parts: Vec<RangeInclusive<i64>>,
    most: usize,
    /// The next part that no thread has taken.
    next: AtomicUsize,
}

/// The results of a scan, from one or all of its participants.
pub(super) enum ScanResult {
    /// All pieces of a small project, with their cosines.
    All(Vec<(i64, f32)>),
    /// The nearest pieces of a large project, by their codes.
    Codes(NearestCodes),
}

impl ScanResult {
    fn add(&mut self, other: Self) {
        match (self, other) {
            (Self::All(all), Self::All(others)) => all.extend(others),
            (Self::Codes(nearest), Self::Codes(others)) => nearest.add_all(others),
            // Both sides scan the same project, so this cannot happen.
            (Self::All(_), Self::Codes(_)) | (Self::Codes(_), Self::All(_)) => {}
        }
    }
}

impl<'p> Scan<'p> {
    /// Creates a scan for the nearest `most`.
    pub(super) fn new(probe: &'p QueryVector, memories: &Extent, most: usize) -> Self {
        let is_large = memories.rows() > MAX_EXHAUSTIVE_SCAN;
        let parts = memories.parts(if is_large { CODES_PER_TAKE } else { VECTORS_PER_TAKE }, BLOCK);
        let (first, last) = memories.bounds().unwrap_or((1, 0));
        Self { probe, memories: first..=last, is_large, parts, most, next: AtomicUsize::new(0) }
    }

    /// Scans the blocks that no other thread has taken.
    pub(super) fn run(&self, conn: &Connection) -> rusqlite::Result<ScanResult> {
        Ok(if self.is_large { ScanResult::Codes(self.by_codes(conn)?) } else { ScanResult::All(self.every(conn)?) })
    }

    /// Returns at most `most` nearest pieces with their cosines, nearest first. `begun` is a helper that was asked for
    /// its own [`Scan::run`].
    pub(super) fn nearest<'e>(
        &'e self,
        conn: &Connection,
        begun: Option<(&SearchHelper<'e>, PendingAnswer<ScanResult>)>,
    ) -> rusqlite::Result<Vec<(i64, f32)>> {
        let mut seen = self.run(conn)?;
        let mut helper = None;
        if let Some((willing, asked)) = begun {
            if let Some(others) = asked.answer() {
                seen.add(others);
                helper = Some(willing);
            } else {
                // It is unknown which blocks the helper had taken, so start over.
                self.next.store(0, Ordering::Relaxed);
                seen = self.run(conn)?;
            }
        }
        let mut found = match seen {
            ScanResult::All(all) => all,
            ScanResult::Codes(nearest) => self.chosen(conn, nearest, helper)?,
        };
        let order = |a: &(i64, f32), b: &(i64, f32)| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0));
        if found.len() > self.most {
            // Select before sorting: sorting all of them took an eighth of a search among ten thousand.
            found.select_nth_unstable_by(self.most, order);
            found.truncate(self.most);
        }
        found.sort_unstable_by(order);
        Ok(found)
    }

    /// Returns the pieces whose codes are nearest, with their cosines; a helper computes half of them.
    fn chosen<'e>(
        &'e self,
        conn: &Connection,
        nearest: NearestCodes,
        helper: Option<&SearchHelper<'e>>,
    ) -> rusqlite::Result<Vec<(i64, f32)>> {
        // A block may extend beyond the range.
        let (first, last) = pieces::row_id_range(self.memories.clone());
        let mut chosen = nearest.likely_nearest(self.most, self.probe.dims());
        chosen.retain(|piece| (first..=last).contains(piece));
        let theirs = chosen.split_off(if helper.is_some() { chosen.len() / 2 } else { chosen.len() });
        let asked = helper.map(|helper| {
            let theirs = theirs.clone();
            helper.ask(move |conn| cosines_of(conn, self.probe, theirs))
        });
        let mut cosines = cosines_of(conn, self.probe, chosen)?;
        match asked.and_then(PendingAnswer::answer) {
            Some(others) => cosines.extend(others),
            None => cosines.extend(cosines_of(conn, self.probe, theirs)?),
        }
        Ok(cosines.into_iter().collect())
    }

    /// Takes the next blocks that no other thread has taken.
    fn take(&self) -> Option<&RangeInclusive<i64>> {
        self.parts.get(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns the pieces that are nearest by their codes.
    fn by_codes(&self, conn: &Connection) -> rusqlite::Result<NearestCodes> {
        let mut select = conn.prepare_cached("SELECT block, codes FROM vector_codes WHERE block BETWEEN ?1 AND ?2")?;
        let mut nearest = NearestCodes::new(MAX_COMPARED.max(self.most));
        while let Some(blocks) = self.take() {
            let mut rows = select.query([blocks.start(), blocks.end()])?;
            while let Some(row) = rows.next()? {
                let block: i64 = row.get(0)?;
                let codes = row.get_ref(1)?.as_blob().unwrap_or_default();
                self.probe.scan_block(codes, &mut nearest, |place| row_of(block, place));
            }
        }
        Ok(nearest)
    }

    /// Returns all pieces with their cosines.
    fn every(&self, conn: &Connection) -> rusqlite::Result<Vec<(i64, f32)>> {
        let mut select = conn.prepare_cached("SELECT piece, vector FROM vectors WHERE piece BETWEEN ?1 AND ?2")?;
        let mut found = Vec::new();
        while let Some(blocks) = self.take() {
            let (oldest, newest) = (blocks.start() * BLOCK, (blocks.end() + 1) * BLOCK - 1);
            let (first, last) = pieces::row_id_range(oldest.max(*self.memories.start())..=newest.min(*self.memories.end()));
            let mut rows = select.query([first, last])?;
            while let Some(row) = rows.next()? {
                if let Some(cosine) = self.probe.cosine(row.get_ref(1)?.as_blob().unwrap_or_default()) {
                    found.push((row.get(0)?, cosine));
                }
            }
        }
        Ok(found)
    }
}

/// Returns the cosines of those pieces that have a vector.
pub(super) fn cosines_of(
    conn: &Connection,
    probe: &QueryVector,
    pieces: impl IntoIterator<Item = i64>,
) -> rusqlite::Result<Cosines> {
    let mut select = conn.prepare_cached("SELECT vector FROM vectors WHERE piece = ?1")?;
    let mut found = Cosines::default();
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
    use std::thread;

    use super::super::index::{LIVE, MODEL};
    use super::super::tests::fixture;
    use super::*;

    #[test]
    fn a_large_project_is_looked_through_by_several_at_once() {
        const DIMS: u16 = 8;
        let it = fixture();
        let conn = &it.store.conn;
        let (first, last) = (1_i64 << 32, (1 << 32) + MAX_EXHAUSTIVE_SCAN + 100);
        let vector = |n: i64| -> Vec<f32> {
            let numbers: Vec<f32> =
                (0..DIMS).map(|d| (f32::from(u16::try_from(n % 9_973).unwrap()) * f32::from(d + 1)).sin()).collect();
            let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
            numbers.into_iter().map(|x| x / length).collect()
        };
        let tx = conn.unchecked_transaction().unwrap();
        for memory in first..=last {
            add(&tx, &LIVE, memory, [Some(vector(memory).as_slice())].into_iter()).unwrap();
        }
        tx.commit().unwrap();
        conn.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, 'of-a-test')", [MODEL]).unwrap();
        let probe = QueryVector::new(vector(4_711), 1.0);
        let mut extent = Extent::default();
        extent.push(first..=last);
        let scan = || Scan::new(&probe, &extent, 50);

        let alone = scan().nearest(conn, None).unwrap();
        assert_eq!(alone.len(), 50);
        assert!(alone.is_sorted_by(|a, b| a.1 >= b.1) && alone[0].1 > 0.99);
        let helped = |scan: &Scan<'_>, model: &str| {
            assert!(scan.is_large);
            thread::scope(|scope| {
                let helper = SearchHelper::start(scope, &it.path, model).unwrap();
                let asked = helper.ask(|conn| scan.run(conn));
                scan.nearest(conn, Some((&helper, asked))).unwrap()
            })
        };
        assert_eq!(helped(&scan(), "of-a-test"), alone);
        // One helper sees another model's vectors; the other took everything and does not report.
        assert_eq!(helped(&scan(), "another"), alone);
        let taken = scan();
        taken.next.store(taken.parts.len(), Ordering::Relaxed);
        assert_eq!(helped(&taken, "another"), alone);
    }

    #[test]
    fn every_piece_is_found_by_its_place_again() {
        for memory in (0..3 * BLOCK).chain((1 << 32)..(1 << 32) + 3 * BLOCK) {
            for piece in [0, 1, 255] {
                assert_eq!(row_of(block_of(memory), place(memory, piece)), pieces::row_id(memory, piece));
            }
        }
    }
}
