//! Which rows a search covers. The rows of a project are numbered one after the other, and those of two projects lie far
//! apart: what walks over all projects must not walk over the numbers between them.

use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension};

use throughline_search::pieces;

/// How many bits of a row number count memories within a project; the bits above hold the project's own number. So the
/// memories of a project, and their pieces in the full-text table, are one range of rows.
pub(super) const ROW_BITS: u32 = 32;

/// The table of the words of all pieces.
pub(super) const WORDS: &str = "memories_fts";

/// How many of the newest pieces are counted exactly; that sample gives the number of pieces per memory.
const COUNTED: i64 = 4_000;

/// The rows of the memories of one or of all projects, oldest first within each project.
#[derive(Clone, Debug, Default)]
pub(super) struct Extent {
    runs: Vec<Run>,
    /// How many rows all runs have together.
    rows: i64,
    /// The approximate number of pieces; see [`Extent::count_pieces`].
    pub(super) pieces: usize,
}

/// The rows of one project, from its oldest to its newest memory.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: i64,
    last: i64,
    /// How many rows the runs before this one have.
    before: i64,
}

impl Extent {
    /// Finds the memories in a range of rows. This takes two steps into the index for each project.
    pub(super) fn find(conn: &Connection, range: &RangeInclusive<i64>) -> rusqlite::Result<Self> {
        let bound = |wanted: &str| format!("SELECT id FROM {WORDS}_docsize WHERE id BETWEEN ?1 AND ?2 {wanted}");
        let mut oldest = conn.prepare_cached(&bound("ORDER BY id LIMIT 1"))?;
        let mut newest = conn.prepare_cached(&bound("ORDER BY id DESC LIMIT 1"))?;
        let mut found = Self::default();
        let mut from = *range.start();
        while from <= *range.end() {
            let (start, end) = pieces::row_id_range(from..=*range.end());
            let Some(first) = oldest.query_row([start, end], |row| row.get(0)).optional()? else { break };
            let first = pieces::memory_row(first);
            // The last row that a memory of the same project can have.
            let most = (first | ((1 << ROW_BITS) - 1)).min(*range.end());
            let (start, end) = pieces::row_id_range(first..=most);
            let last: i64 = newest.query_row([start, end], |row| row.get(0))?;
            found.push(first..=pieces::memory_row(last));
            from = most + 1;
        }
        Ok(found)
    }

    /// Appends a run, which must come after all others.
    pub(super) fn push(&mut self, rows: RangeInclusive<i64>) {
        let run = Run { first: *rows.start(), last: *rows.end(), before: self.rows };
        self.rows += run.last - run.first + 1;
        self.runs.push(run);
    }

    /// Returns the number of rows, including those of memories that were deleted.
    pub(super) fn rows(&self) -> i64 {
        self.rows
    }

    /// Returns the first and the last row, if there are any.
    pub(super) fn bounds(&self) -> Option<(i64, i64)> {
        Some((self.runs.first()?.first, self.runs.last()?.last))
    }

    /// Returns how many of the rows come before `row`.
    pub(super) fn rows_before(&self, row: i64) -> i64 {
        let at = self.runs.partition_point(|run| run.last < row);
        self.runs.get(at).map_or(self.rows, |run| run.before + (row - run.first).max(0))
    }

    /// Returns the row that `place` others come before, or the last one.
    fn row_at(&self, place: i64) -> i64 {
        let at = self.runs.partition_point(|run| run.before <= place).saturating_sub(1);
        self.runs.get(at).map_or(0, |run| (run.first + (place - run.before)).clamp(run.first, run.last))
    }

    /// Returns the first piece of the newest rows in which a word that occurs in `count` pieces should occur in about
    /// `most`.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "an estimate")]
    pub(super) fn newest(&self, count: usize, most: usize) -> i64 {
        let share = (most as f64 / count.max(1) as f64).min(1.0);
        pieces::row_id(self.row_at(self.rows - 1 - (self.rows as f64 * share) as i64), 0)
    }

    /// Estimates in how many pieces a word occurs, from how far its newest ones reach back.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
    pub(super) fn estimate(&self, newest: &[i64]) -> usize {
        let (Some(&last), Some(&first)) = (newest.first(), newest.last()) else { return 0 };
        let before = |piece: i64| self.rows_before(pieces::memory_row(piece));
        let spanned = (before(last) - before(first)).max(1) as f64;
        let estimated = (newest.len() as f64 * self.rows as f64 / spanned) as usize;
        estimated.clamp(newest.len(), self.pieces.max(newest.len()))
    }

    /// Sets the approximate number of pieces.
    pub(super) fn count_pieces(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        let Some((first, last)) = self.bounds() else { return Ok(()) };
        let (first, last) = pieces::row_id_range(first..=last);
        let (counted, down_to): (i64, Option<i64>) = conn
            .prepare_cached(&format!(
                "SELECT count(*), min(id) FROM (SELECT id FROM {WORDS}_docsize WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT ?3)"
            ))?
            .query_row([first, last, COUNTED], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let pieces = match down_to {
            Some(down_to) if counted == COUNTED => {
                let sampled = (self.rows - self.rows_before(pieces::memory_row(down_to))).max(1);
                (self.rows * counted / sampled).max(counted)
            }
            _ => counted,
        };
        self.pieces = usize::try_from(pieces).unwrap_or(0);
        Ok(())
    }

    /// Divides the rows into parts of about `size` rows, such that no part begins within a block of `block` rows. The
    /// numbers between two projects belong to the part of either.
    pub(super) fn parts(&self, size: i64, block: i64) -> Vec<RangeInclusive<i64>> {
        let Some((first, last)) = self.bounds() else { return Vec::new() };
        let mut parts = Vec::new();
        let mut from = first / block;
        let mut place = size;
        while place < self.rows {
            let to = self.row_at(place) / block;
            if to > from {
                parts.push(from..=to - 1);
                from = to;
            }
            place += size;
        }
        parts.push(from..=last / block);
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(runs: &[RangeInclusive<i64>]) -> Extent {
        let mut extent = Extent::default();
        for run in runs {
            extent.push(run.clone());
        }
        extent
    }

    #[test]
    fn rows_are_counted_without_the_numbers_between_projects() {
        let (one, two) = (1_i64 << ROW_BITS, 7_i64 << ROW_BITS);
        let extent = extent(&[one + 1..=one + 10, two + 3..=two + 5]);
        assert_eq!(extent.rows(), 13);
        assert_eq!(extent.bounds(), Some((one + 1, two + 5)));
        for (place, row) in (0..).zip((one + 1..=one + 10).chain(two + 3..=two + 5)) {
            assert_eq!((extent.row_at(place), extent.rows_before(row)), (row, place));
        }
        assert_eq!((extent.rows_before(0), extent.rows_before(3 << ROW_BITS), extent.rows_before(i64::MAX)), (0, 10, 13));
        assert_eq!(extent.newest(13, 3), pieces::row_id(one + 10, 0));
        assert_eq!(extent.newest(1, 99), pieces::row_id(one + 1, 0));
    }

    #[test]
    fn parts_hold_every_block_once() {
        const BLOCK: i64 = 28;
        let runs: Vec<_> = (1..=40_i64).map(|number| (number << ROW_BITS) + 1..=(number << ROW_BITS) + number * 5).collect();
        let extent = extent(&runs);
        for size in [1, 28, 100, 1_000, 100_000] {
            let parts = extent.parts(size, BLOCK);
            assert!(parts.windows(2).all(|pair| *pair[0].end() + 1 == *pair[1].start()), "{size}: {parts:?}");
            assert!(parts.iter().all(|part| part.start() <= part.end()), "{size}: {parts:?}");
            let (first, last) = extent.bounds().unwrap();
            assert_eq!((*parts[0].start(), *parts[parts.len() - 1].end()), (first / BLOCK, last / BLOCK));
            assert!(i64::try_from(parts.len()).unwrap() <= extent.rows() / size + 1);
        }
        assert!(Extent::default().parts(10, BLOCK).is_empty());
    }
}
