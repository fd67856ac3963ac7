//! Search by words and by meaning, with a combined ranking.
//!
//! The cost of a search hardly grows with the size of the database, and other projects do not affect it.
//!
//! # Words
//!
//! FTS5 keeps lists of rows and nothing else (`detail=none`). It says which pieces contain a word, newest first and up
//! to a limit. For words that occur in more pieces than that, those pieces are fetched that contain several of them.
//! FTS5's own `bm25()` counts each word's rows in the whole table; it took 24 to 47 times as long.
//!
//! # Meaning
//!
//! A packed vector of the built-in model has 256 numbers of a byte each. In a project of up to 16,000 memories, all
//! vectors are compared. In larger ones, codes of two bits per number select the vectors that can be among the nearest,
//! given the known error of the codes, and at most 4,000. Of half a million generated texts that resemble each other
//! (`growth`), with 60 short and 20 long queries, this keeps all of the nearest ten and 0.99 of the nearest 200.
//!
//! The extension sqlite-vec was not used: it has bits or bytes but no two-bit codes with a correction, it scans the
//! rows of all projects in a chunk, and it brings C into the address space of every hook.
//!
//! # Ranking
//!
//! For every memory that either method found, both scores are computed from the memory itself: BM25 over its best
//! piece, and the cosine. An identifier as it was written scores higher than its parts, its parts are not counted three
//! times, and words that follow each other in the query and in the text count more. [`rank`] combines the two.
//!
//! Of some hundred candidates, a few are shown. So candidates are scored from their rows as they are, and only the
//! results become memories. A candidate that contains no word of the query, and that the ranking would drop for its
//! distance, is not read at all.
//!
//! From 2,000 memories on, a second thread with its own connection (`helper`) begins with the vectors while the first
//! one looks for the words. Both then take the remaining vectors block by block, and each scores half of the
//! candidates. The helper is never relied upon: if it cannot do something, the first thread does it, with the same
//! results.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::thread;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::extent::Extent;
use super::helper::{PendingAnswer, SearchHelper};
use super::index::{self, LIVE, MODEL, NO_MODEL};
use super::marks::Marked;
use super::memories::{COLUMNS, from_row, row_range};
use super::sharing::{SHARED_FROM, is_known};
use super::vectors::{Cosines, Scan};
use super::{Result, Store, supersessions, time, vectors};
use throughline_embedding::local;
use throughline_model::contract::Memory;
use throughline_model::project::Project;
use throughline_search::pieces;
use throughline_search::query::{FilterableFields, Query};
use throughline_search::rank::{self, Candidate, MAX_CANDIDATES, Profile, ScoreExplanation};
use throughline_search::score::{PieceText, Score, WeightedWords, idf};
use throughline_search::vector::QueryVector;

/// How many memories a query without words examines.
const FILTERED: u32 = 2_000;

/// How many of the newest pieces that contain a word are fetched.
const MAX_NEWEST: usize = 4_000;

/// How many of the common words, the rarest ones, are combined to fetch pieces that contain several of them.
const MAX_COMMON_WORDS: usize = 6;

/// About how many of the newest rows are scanned for each combination of common words. A row takes about a tenth of a
/// microsecond per word.
const MAX_SCANNED_ROWS: usize = 40_000;

/// From this number of memories on, half of the work is given to a helper.
const MIN_MEMORIES_FOR_HELPER: i64 = 2_000;

/// How many memories are added because they replaced, or likely changed, one that was found.
const MAX_ADDED: usize = 100;

/// Selects [`Stored`]: [`COLUMNS`], and what only the ranking needs.
fn select_stored() -> String {
    format!(
        "SELECT {COLUMNS}, m.access_count, m.superseded_by, m.revisited_by, m.pinned_at, m.wrong_at FROM memories m WHERE m.rowid = ?1"
    )
}

/// A search request.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// The query.
    pub query: &'a Query,
    /// The project to search, or `None` for all.
    pub project: Option<&'a str>,
    /// Whether to include memories shared with all projects.
    pub shared: bool,
    /// The maximum number of results.
    pub limit: u32,
    /// The current time, in milliseconds since the Unix epoch.
    pub now: u64,
    /// The ranking parameters.
    pub profile: &'a Profile,
    /// The query's vector, if the database's vectors come from a model other than the built-in one.
    pub probe: Option<QueryVector>,
    /// Whether to halve the candidates of each method, because a hook has less time than a person.
    pub is_quick: bool,
    /// Whether nobody asked for the search. Memories whose place a later one took are left out, and the later one is found in their
    /// stead.
    pub is_unasked: bool,
    /// What a person may have said of the results.
    pub marked: Marked,
}

#[cfg(test)]
impl<'a> Search<'a> {
    /// Creates a search with default settings.
    pub fn new(query: &'a Query, project: Option<&'a str>, limit: u32, now: u64) -> Self {
        Self {
            query,
            project,
            shared: false,
            limit,
            now,
            profile: &rank::DEFAULT_PROFILE,
            probe: None,
            is_quick: false,
            is_unasked: false,
            marked: Marked::NotWrong,
        }
    }
}

impl Search<'_> {
    /// Returns how many pieces each search method returns.
    fn candidates(&self) -> usize {
        if self.is_quick { MAX_CANDIDATES / 2 } else { MAX_CANDIDATES }
    }

    /// Returns how many of the newest pieces that contain a word are fetched.
    fn newest(&self) -> usize {
        if self.is_quick { MAX_NEWEST / 2 } else { MAX_NEWEST }
    }
}

/// The results of a search.
#[derive(Clone, Debug, Default)]
pub struct SearchResults {
    /// The results, best first.
    pub hits: Vec<SearchHit>,
    /// Why the search was limited, or `None` if it was not.
    pub degraded: Option<String>,
}

/// A memory that was found.
#[derive(Clone, Debug)]
pub struct SearchHit {
    /// The memory, with its score.
    pub memory: Memory,
    /// How the score was computed.
    pub why: ScoreExplanation,
    /// The words of the query that it contains.
    pub words: Vec<String>,
    /// The identifier of the memory that took its place, which is listed before it.
    pub superseded_by: Option<String>,
    /// The identifier of a later memory about the same.
    pub followed_by: Option<String>,
    /// The identifier of the latest memory about the same that may have changed it, which is listed before it.
    pub revisited_by: Option<String>,
}

/// Which pieces contain words of a query.
struct WordMatches {
    /// By the piece's row, the total weight of the words that it is known to contain.
    scores: HashMap<i64, f64, foldhash::fast::RandomState>,
    /// In about how many pieces each word occurs.
    counts: Vec<usize>,
    /// Whether every piece with any of the words is included.
    is_whole: bool,
}

impl Store {
    /// Returns the matching memories, best first. A query without words lists what its filters accept, newest first.
    pub fn search(&self, search: &Search<'_>) -> Result<SearchResults> {
        // Most pages are read once; allocating memory to cache them all takes longer than reading a few of them again.
        self.explain(self.conn.execute_batch("PRAGMA cache_size = -1024"))?;
        // Use one transaction for everything, because another index may be swapped in meanwhile.
        let _one_state = self.read_together()?;
        self.explain(self.find(search))
    }

    fn find(&self, search: &Search<'_>) -> rusqlite::Result<SearchResults> {
        let conn = &self.conn;
        let query = search.query;
        if query.is_empty() {
            return Ok(SearchResults::default());
        }
        let ranges = ranges(conn, search)?;
        if ranges.is_empty() {
            return Ok(SearchResults::default());
        }
        if query.term_count() == 0 {
            return Ok(SearchResults { hits: filtered(conn, search)?, degraded: None });
        }
        let extents =
            ranges.iter().map(|memories| Extent::find(conn, memories)).collect::<rusqlite::Result<Vec<Extent>>>()?;
        let model = index::meta(conn, MODEL)?.unwrap_or_else(|| NO_MODEL.into());
        let (probe, degraded) = probe(search, &model);
        let scans: Vec<Scan<'_>> = match probe.as_ref().filter(|_| query.required_expression().is_none()) {
            Some(probe) => extents.iter().map(|extent| Scan::new(probe, extent, most_near(search))).collect(),
            None => Vec::new(),
        };
        let is_much = extents.iter().map(Extent::rows).sum::<i64>() >= MIN_MEMORIES_FOR_HELPER;
        let (found, candidates) = thread::scope(|scope| {
            let helper = is_much.then(|| SearchHelper::start(scope, &self.path, &model)).flatten();
            let found = Arc::new(self.legs(search, &ranges, &extents, &scans, helper.as_ref())?);
            let mut candidates = self.candidates(search, probe.as_ref(), &found, helper.as_ref())?;
            add_heads(conn, search, probe.as_ref(), &found, &mut candidates)?;
            // A prompt is answered without it, see below.
            if !search.is_unasked {
                add_names(&found.words, &mut candidates);
            }
            Ok::<_, rusqlite::Error>((found, candidates))
        })?;
        let MatchedPieces { by_words, words, .. } = &*found;
        let mut has: HashMap<i64, Vec<usize>, foldhash::fast::RandomState> = HashMap::default();
        let mut ranked = Vec::with_capacity(candidates.len());
        let mut heads: HashMap<i64, i64, foldhash::fast::RandomState> = HashMap::default();
        for Scored { candidate, words, .. } in candidates {
            has.insert(candidate.id, words);
            heads.extend(candidate.head.map(|head| (candidate.id, head)));
            ranked.push(candidate);
        }
        let setting = rank::RankingContext {
            now: time(search.now),
            ideal: words.ideal(&by_words.counts),
            words: words.count_concepts(),
            // The thresholds of prompts are set for scores without names.
            names: if search.is_unasked { 0.0 } else { words.share_of_names(&by_words.counts) },
            known: probe.as_ref().map_or(0.0, |probe| f64::from(probe.known)),
            profile: search.profile,
            is_unasked: search.is_unasked,
        };
        let tokens: Vec<&str> = query.words().map(|word| word.token).collect();
        let mut hits = Vec::new();
        for ranked in rank::rank(ranked, &setting, search.limit as usize) {
            let Some((memory, _)) = memory(conn, ranked.id)? else { continue };
            let words = has.remove(&ranked.id).unwrap_or_default();
            let id = |row: Option<&i64>| row.map_or(Ok(None), |row| id_of(conn, *row));
            let superseded_by = id(heads.get(&ranked.id))?;
            let revisited_by = id(ranked.later.as_ref())?;
            let followed_by = followed_by(conn, ranked.id)?;
            #[expect(clippy::cast_possible_truncation, reason = "f32 is precise enough for a score")]
            hits.push(SearchHit {
                memory: Memory { score: ranked.score as f32, ..memory },
                why: ranked.why,
                words: words.into_iter().filter_map(|n| tokens.get(n)).map(|&token| token.to_owned()).collect(),
                superseded_by,
                followed_by,
                revisited_by,
            });
        }
        Ok(SearchResults { hits, degraded })
    }

    /// Runs both search methods. A helper begins with the vectors while this thread looks up the words.
    fn legs<'q, 'e>(
        &self,
        search: &Search<'q>,
        ranges: &[RangeInclusive<i64>],
        extents: &[Extent],
        scans: &'e [Scan<'e>],
        helper: Option<&SearchHelper<'e>>,
    ) -> rusqlite::Result<MatchedPieces<'q>> {
        let conn = &self.conn;
        let begun: Vec<_> =
            scans.iter().map(|scan| helper.map(|helper| (helper, helper.ask(|conn| scan.run(conn))))).collect();
        let mut extents = extents.to_vec();
        extents.iter_mut().try_for_each(|extent| extent.count_pieces(conn))?;
        // Shared memories are ranked together with the project's own, so a word has its weight in both combined.
        let mut by_words = WordMatches::new();
        for (memories, extent) in ranges.iter().zip(&extents) {
            by_words.add(self::by_words(conn, search, memories, extent)?);
        }
        let mut cosines = Cosines::default();
        for (scan, begun) in scans.iter().zip(begun) {
            cosines.extend(accepted(conn, search, scan.nearest(conn, begun)?)?);
        }
        let words = WeightedWords::new(search.query, &by_words.counts, extents.iter().map(|extent| extent.pieces).sum());
        let words = if search.is_unasked { words } else { words.measuring_pairs_as_parts() };
        let mut pieces: Vec<i64> = if search.profile.text > 0.0 { best(conn, search, &by_words)? } else { Vec::new() };
        pieces.extend(cosines.keys());
        pieces.sort_unstable();
        pieces.dedup();
        Ok(MatchedPieces { by_words, words, cosines, pieces })
    }

    /// Returns the candidates for the ranking. A helper does half of the work.
    fn candidates<'q: 'e, 'e>(
        &self,
        search: &'e Search<'q>,
        probe: Option<&'e QueryVector>,
        found: &Arc<MatchedPieces<'q>>,
        helper: Option<&SearchHelper<'e>>,
    ) -> rusqlite::Result<Vec<Scored>> {
        let all = found.pieces.len();
        let mut middle = if helper.is_some() { all / 2 } else { all };
        // Keep the pieces of a memory together.
        while (1..all).contains(&middle)
            && pieces::memory_row(found.pieces[middle - 1]) == pieces::memory_row(found.pieces[middle])
        {
            middle += 1;
        }
        let asked = helper.map(|helper| {
            let found = Arc::clone(found);
            helper.ask(move |conn| candidates(conn, search, probe, &found, middle..all))
        });
        let mut candidates = candidates(&self.conn, search, probe, found, 0..middle)?;
        candidates.extend(match asked.and_then(PendingAnswer::answer) {
            Some(others) => others,
            None => self::candidates(&self.conn, search, probe, found, middle..all)?,
        });
        Ok(candidates)
    }
}

/// A candidate for the ranking.
struct Scored {
    candidate: Candidate<i64>,
    /// The words of the query that its best piece contains.
    words: Vec<usize>,
    /// How often its pieces have each name of the query.
    names: BTreeMap<usize, f64>,
}

/// Sets [`Candidate::names`] of each candidate. Memories of a session that were not found do not count: they have none of the names.
fn add_names(words: &WeightedWords<'_>, candidates: &mut [Scored]) {
    let mut sessions: BTreeMap<String, BTreeMap<usize, f64>> = BTreeMap::new();
    for Scored { candidate, names, .. } in candidates.iter().filter(|it| !it.names.is_empty()) {
        let counts = sessions.entry(candidate.session.clone()).or_default();
        for (name, count) in names {
            *counts.entry(*name).or_default() += count;
        }
    }
    let scores: BTreeMap<String, f64> =
        sessions.into_iter().map(|(session, counts)| (session, words.score_names(&counts))).collect();
    for Scored { candidate, .. } in candidates {
        candidate.names = scores.get(&candidate.session).copied().unwrap_or_default();
    }
}

/// The combined results of both search methods.
struct MatchedPieces<'q> {
    by_words: WordMatches,
    words: WeightedWords<'q>,
    /// The cosines of the pieces found by meaning.
    cosines: Cosines,
    /// The rows of all pieces, sorted and without duplicates.
    pieces: Vec<i64>,
}

impl WordMatches {
    fn new() -> Self {
        Self { scores: HashMap::default(), counts: Vec::new(), is_whole: true }
    }

    fn add(&mut self, other: Self) {
        self.is_whole &= other.is_whole;
        self.scores.extend(other.scores);
        self.counts.resize(other.counts.len(), 0);
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
    }
}

/// Returns the candidates among these pieces.
fn candidates(
    conn: &Connection,
    search: &Search<'_>,
    probe: Option<&QueryVector>,
    found: &MatchedPieces<'_>,
    pieces: Range<usize>,
) -> rusqlite::Result<Vec<Scored>> {
    let MatchedPieces { by_words, words, cosines, pieces: all } = found;
    let found = &all[pieces];
    let missing = || found.iter().copied().filter(|piece| !cosines.contains_key(piece));
    let more = probe.map(|probe| vectors::cosines_of(conn, probe, missing())).transpose()?.unwrap_or_default();
    let cosine = |piece: &i64| cosines.get(piece).or_else(|| more.get(piece)).copied().map(f64::from);
    let mut candidates = Vec::with_capacity(found.len());
    let mut select = conn.prepare_cached(&select_stored())?;
    for pieces_found in found.chunk_by(|a, b| pieces::memory_row(*a) == pieces::memory_row(*b)) {
        let nearest = pieces_found.iter().filter_map(cosine).reduce(f64::max);
        let is_near = nearest.is_some_and(|cosine| cosine >= rank::MIN_COSINE);
        let may_have_words = !by_words.is_whole || pieces_found.iter().any(|piece| by_words.scores.contains_key(piece));
        if search.profile.text > 0.0 && !may_have_words && !is_near {
            // The ranking would drop it.
            continue;
        }
        let rowid = pieces::memory_row(pieces_found[0]);
        let mut rows = select.query([rowid])?;
        let Some(row) = rows.next()? else { continue };
        let stored = Stored::of(row)?;
        if stored.is_wanted(conn, search, row)? {
            candidates.push(scored(conn, rowid, &stored, pieces_found, words, nearest)?);
        }
    }
    Ok(candidates)
}

/// Adds what stands before a candidate whether or not it contains a word of the query: what holds instead, or may have changed it.
fn add_heads(
    conn: &Connection,
    search: &Search<'_>,
    probe: Option<&QueryVector>,
    found: &MatchedPieces<'_>,
    candidates: &mut Vec<Scored>,
) -> rusqlite::Result<()> {
    let mut known: HashSet<i64> = candidates.iter().map(|it| it.candidate.id).collect();
    let most = candidates.len() + MAX_ADDED;
    let mut select = conn.prepare_cached(&select_stored())?;
    let mut at = 0;
    // The memory that is added may itself have been changed.
    while at < candidates.len() {
        let heads: Vec<i64> = candidates[at].candidate.preferred().collect();
        at += 1;
        for head in heads {
            if candidates.len() >= most || !known.insert(head) {
                continue;
            }
            let mut rows = select.query([head])?;
            let Some(row) = rows.next()? else { continue };
            let stored = Stored::of(row)?;
            if stored.is_wanted(conn, search, row)? {
                let pieces: Vec<i64> =
                    (0..pieces::split(stored.content).len()).map(|piece| pieces::row_id(head, piece)).collect();
                let cosines = probe.map(|probe| vectors::cosines_of(conn, probe, pieces.iter().copied())).transpose()?;
                let nearest = cosines.and_then(|it| it.into_values().map(f64::from).reduce(f64::max));
                candidates.push(scored(conn, head, &stored, &pieces, &found.words, nearest)?);
            }
        }
    }
    Ok(())
}

/// Returns the identifier of a later memory about the same.
fn followed_by(conn: &Connection, rowid: i64) -> rusqlite::Result<Option<String>> {
    conn.prepare_cached("SELECT n.id FROM memories m JOIN memories n ON n.rowid = m.followed_by WHERE m.rowid = ?1")?
        .query_row([rowid], |row| row.get(0))
        .optional()
}

/// Returns the identifier of the latest memory that puts one in doubt.
fn in_doubt_by(conn: &Connection, rowid: i64) -> rusqlite::Result<Option<String>> {
    let later = supersessions::revisits_of(conn, rowid)?;
    later.iter().rev().find(|later| later.is_doubt).map_or(Ok(None), |later| id_of(conn, later.id))
}

fn id_of(conn: &Connection, rowid: i64) -> rusqlite::Result<Option<String>> {
    conn.prepare_cached("SELECT id FROM memories WHERE rowid = ?1")?.query_row([rowid], |row| row.get(0)).optional()
}

/// Returns the row ranges to search: those of the project and of shared memories.
fn ranges(conn: &Connection, search: &Search<'_>) -> rusqlite::Result<Vec<RangeInclusive<i64>>> {
    let mut ranges = Vec::from_iter(row_range(conn, search.project)?);
    if search.shared && search.project.is_some() {
        ranges.extend(row_range(conn, Some(&Project::shared().id))?);
    }
    Ok(ranges)
}

/// Returns whether a memory is a copy of one that is searched as well.
fn is_double(conn: &Connection, search: &Search<'_>, memory: &Memory) -> rusqlite::Result<bool> {
    if !memory.attributes.iter().any(|(name, _)| name == SHARED_FROM) {
        return Ok(false);
    }
    search.project.map_or(Ok(true), |project| is_known(conn, &memory.id, project))
}

/// Returns the best pieces by their words; of equal scores, the newest.
fn best(conn: &Connection, search: &Search<'_>, found: &WordMatches) -> rusqlite::Result<Vec<i64>> {
    let most = search.candidates();
    let mut best: Vec<(i64, f64)> = found.scores.iter().map(|(&piece, &score)| (piece, score)).collect();
    let order = |a: &(i64, f64), b: &(i64, f64)| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0));
    if best.len() > most && !search.query.has_filters() {
        best.select_nth_unstable_by(most, order);
        best.truncate(most);
    }
    best.sort_unstable_by(order);
    let mut kept = Vec::with_capacity(most);
    for (piece, _) in best {
        if kept.len() >= most {
            break;
        }
        if !search.query.has_filters() || is_of_kind(conn, search.query, pieces::memory_row(piece))? {
            kept.push(piece);
        }
    }
    Ok(kept)
}

/// Returns the query's vector for comparing with those of the database's `model`, and the reason if there should be one
/// but is none.
fn probe(search: &Search<'_>, model: &str) -> (Option<QueryVector>, Option<String>) {
    if search.profile.vector <= 0.0 || model == NO_MODEL {
        return (None, None);
    }
    // Check this first: the index of another model, for which a probe was made, may have been replaced by this one
    // meanwhile.
    if model == index::local_model() {
        return (local::embed(&search.query.text).map(|found| QueryVector::new(found.vector, found.known)), None);
    }
    if let Some(probe) = search.probe.clone().filter(|probe| probe.dims() == index::dims(model)) {
        return (Some(probe), None);
    }
    let why = format!("the stored vectors come from {model}, but the query has no vector from it: only words were searched");
    (None, Some(why))
}

/// Returns how many of the nearest pieces to fetch. A query with filters fetches more, so that pieces it rejects do not
/// displace others.
fn most_near(search: &Search<'_>) -> usize {
    if search.query.has_filters() { search.candidates() * 10 } else { search.candidates() }
}

/// Filters the nearest pieces by the query's kinds and times.
fn accepted(conn: &Connection, search: &Search<'_>, near: Vec<(i64, f32)>) -> rusqlite::Result<Vec<(i64, f32)>> {
    if !search.query.has_filters() {
        return Ok(near);
    }
    let mut kept = Vec::new();
    for (piece, cosine) in near {
        if kept.len() >= search.candidates() {
            break;
        }
        if is_of_kind(conn, search.query, pieces::memory_row(piece))? {
            kept.push((piece, cosine));
        }
    }
    Ok(kept)
}

/// Returns whether a memory's row passes the query's filters on kind and time.
fn is_of_kind(conn: &Connection, query: &Query, rowid: i64) -> rusqlite::Result<bool> {
    let row = conn
        .prepare_cached("SELECT type, created_at FROM memories WHERE rowid = ?1")?
        .query_row([rowid], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))
        .optional()?;
    Ok(row.is_some_and(|(kind, created)| query.accepts_kind(&kind, created)))
}

fn memory(conn: &Connection, rowid: i64) -> rusqlite::Result<Option<(Memory, u32)>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS}, m.access_count FROM memories m WHERE m.rowid = ?1"))?
        .query_row([rowid], |row| Ok((from_row(row)?, row.get(11)?)))
        .optional()
}

/// The name of the attribute of memories that a colleague shared ([`throughline_model::said_by::COLLEAGUE`]), as it is written
/// in JSON.
const COLLEAGUE_ATTRIBUTE: &str = "[\"colleague\",";

/// The columns of a memory that ranking needs, borrowed from its row: of some hundred candidates only a few are
/// returned.
struct Stored<'r> {
    session: &'r str,
    kind: &'r str,
    title: &'r str,
    content: &'r str,
    /// JSON, as are files and attributes.
    keywords: &'r str,
    files: &'r str,
    attributes: &'r str,
    importance: f64,
    created: i64,
    seen: u32,
    accessed: u32,
    superseded_by: Option<i64>,
    revisited_by: Option<i64>,
    is_pinned: bool,
    is_wrong: bool,
}

impl<'r> Stored<'r> {
    /// Reads a row of [`select_stored`].
    fn of(row: &'r Row<'_>) -> rusqlite::Result<Self> {
        let text = |column: usize| row.get_ref(column).map(|value| value.as_str().unwrap_or_default());
        Ok(Self {
            session: text(1)?,
            kind: text(2)?,
            title: text(3)?,
            content: text(4)?,
            keywords: text(5)?,
            files: text(6)?,
            importance: row.get(7)?,
            created: row.get(8)?,
            seen: row.get(9)?,
            attributes: text(10)?,
            accessed: row.get(11)?,
            superseded_by: row.get(12)?,
            revisited_by: row.get(13)?,
            is_pinned: row.get::<_, Option<i64>>(14)?.is_some(),
            is_wrong: row.get::<_, Option<i64>>(15)?.is_some(),
        })
    }

    /// Returns whether the memory passes the query's filters, is not a copy of one that is searched as well, and has
    /// no mark that excludes it.
    fn is_wanted(&self, conn: &Connection, search: &Search<'_>, row: &Row<'_>) -> rusqlite::Result<bool> {
        if !search.marked.includes(self.is_pinned, self.is_wrong) {
            return Ok(false);
        }
        if !search.query.has_filters() && !self.attributes.contains(SHARED_FROM) {
            return Ok(true);
        }
        let memory = from_row(row)?;
        Ok(accepts(search.query, &memory) && !is_double(conn, search, &memory)?)
    }

    /// Returns a hash that is equal for memories of one kind with the same text, ignoring white space and the case of
    /// ASCII letters. FNV-1a, because every candidate is hashed byte by byte.
    fn said(&self) -> u64 {
        const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        let mut hash = BASIS;
        for text in [self.kind, self.title, self.content] {
            for byte in text.bytes() {
                let more = add(hash, byte.to_ascii_lowercase());
                hash = if byte.is_ascii_whitespace() { hash } else { more };
            }
            hash = add(hash, u8::MAX);
        }
        hash
    }
}

/// Scores a memory by those of its pieces that were found and the cosine of the nearest one.
fn scored(
    conn: &Connection,
    rowid: i64,
    stored: &Stored<'_>,
    found: &[i64],
    words: &WeightedWords<'_>,
    nearest: Option<f64>,
) -> rusqlite::Result<Scored> {
    let cut = pieces::split(stored.content);
    let (keywords, files) = (words_of(stored.keywords), words_of(stored.files));
    let mut best = Score::default();
    let mut names: BTreeMap<usize, f64> = BTreeMap::new();
    for piece in found {
        let content = cut.get(pieces::piece_number(*piece)).copied().unwrap_or_default();
        let score = words.score(&PieceText { title: stored.title, content, keywords: &keywords, files: &files });
        for (name, count) in &score.names {
            *names.entry(*name).or_default() += count;
        }
        if score.bm25 >= best.bm25 {
            best = score;
        }
    }
    let later = match (stored.superseded_by, stored.revisited_by) {
        (None, Some(_)) => supersessions::revisits_of(conn, rowid)?.into_iter().filter(|later| later.id != rowid).collect(),
        _ => Vec::new(),
    };
    let candidate = Candidate {
        id: rowid,
        session: stored.session.to_owned(),
        kind: stored.kind.to_owned(),
        bm25: best.bm25,
        names: 0.0,
        cosine: nearest,
        importance: stored.importance,
        // What is pinned does not age.
        created: if stored.is_pinned { i64::MAX } else { stored.created },
        seen: stored.seen,
        accessed: stored.accessed,
        content_hash: stored.said(),
        is_colleagues: stored.attributes.contains(COLLEAGUE_ATTRIBUTE),
        head: stored.superseded_by.map(|next| supersessions::head_of(conn, next)).transpose()?,
        later,
    };
    Ok(Scored { candidate, words: best.words().collect(), names })
}

/// Returns a stored list of words as one text. JSON punctuation separates words as spaces do, so the list must be
/// decoded only if it contains escapes.
fn words_of(list: &str) -> Cow<'_, str> {
    if list.contains('\\') { super::from_json_or_default::<Vec<String>>(list).join(" ").into() } else { list.into() }
}

/// Returns whether a memory satisfies the query's filters; its words do not count.
fn accepts(query: &Query, memory: &Memory) -> bool {
    if !query.has_filters() {
        return true;
    }
    let tools: Vec<&str> =
        memory.attributes.iter().filter(|(name, _)| name == "tool").map(|(_, tool)| tool.as_str()).collect();
    query.accepts(&FilterableFields {
        kind: &memory.kind,
        session: &memory.session_id,
        created: time(memory.created),
        title: &memory.title,
        content: &memory.content,
        keywords: &memory.keywords.join(" "),
        files: &memory.files,
        tools: &tools,
    })
}

/// Returns which pieces contain which of the query's words.
fn by_words(
    conn: &Connection,
    search: &Search<'_>,
    memories: &RangeInclusive<i64>,
    extent: &Extent,
) -> rusqlite::Result<WordMatches> {
    let query = search.query;
    let (first, last) = pieces::row_id_range(memories.clone());
    // A hook filters the results afterwards instead, because looking up each row would cost more.
    let condition = if search.is_quick { String::new() } else { condition(query) };
    let newest_pieces = search.newest();
    let mut newest = conn.prepare_cached(&format!(
        "SELECT rowid FROM {words} WHERE {words} MATCH ?1 AND rowid BETWEEN ?2 AND ?3 {condition}
         ORDER BY rowid DESC LIMIT ?4",
        words = LIVE.words
    ))?;
    let mut matching = |expression: &str, first: i64, most: usize| -> rusqlite::Result<Vec<i64>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        newest.query_map(params![expression, first, last, most], |row| row.get(0))?.collect()
    };
    let mut found = WordMatches::new();
    let mut common: Vec<(usize, String)> = Vec::new();
    for word in query.words() {
        let pieces = matching(&word.quoted(), first, newest_pieces)?;
        let count = if pieces.len() < newest_pieces { pieces.len() } else { extent.estimate(&pieces) };
        let weight = idf(count, extent.pieces);
        for piece in &pieces {
            *found.scores.entry(*piece).or_default() += weight;
        }
        if pieces.len() >= newest_pieces {
            common.push((count, word.quoted()));
            found.is_whole = false;
        }
        found.counts.push(count);
    }
    common.sort();
    common.dedup_by(|a, b| a.1 == b.1);
    combine(&mut found, &common, extent, search.candidates(), &mut matching)?;
    if let Some(required) = query.required_expression() {
        let pieces: HashSet<i64> = matching(&required, first, newest_pieces)?.into_iter().collect();
        found.scores.retain(|piece, _| pieces.contains(piece));
        for piece in pieces {
            found.scores.entry(piece).or_default();
        }
    }
    Ok(found)
}

/// Fetches pieces that contain several of the common words, newest first: those with all of them, then those with all
/// but the most common one, and so on, until there are enough.
fn combine(
    found: &mut WordMatches,
    common: &[(usize, String)],
    extent: &Extent,
    enough: usize,
    matching: &mut impl FnMut(&str, i64, usize) -> rusqlite::Result<Vec<i64>>,
) -> rusqlite::Result<()> {
    let common = &common[..common.len().min(MAX_COMMON_WORDS)];
    let mut new = 0;
    for words in (2..=common.len()).rev().map(|rarest| &common[..rarest]) {
        if new >= enough {
            break;
        }
        let weight: f64 = words.iter().map(|(count, _)| idf(*count, extent.pieces)).sum();
        let expression = words.iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(" AND ");
        for piece in matching(&expression, extent.newest(words[0].0, 2 * MAX_SCANNED_ROWS / words.len()), enough)? {
            let score = found.scores.entry(piece).or_insert_with(|| {
                new += 1;
                0.0
            });
            *score = score.max(weight);
        }
    }
    Ok(())
}

/// Returns the query's filters on the memory's row as part of a WHERE clause.
fn condition(query: &Query) -> String {
    let mut clauses = Vec::new();
    let list =
        |kinds: &[String]| kinds.iter().map(|kind| format!("'{}'", kind.replace('\'', "''"))).collect::<Vec<_>>().join(", ");
    if !query.kinds.is_empty() {
        clauses.push(format!("m.type IN ({})", list(&query.kinds)));
    }
    if !query.excluded_kinds.is_empty() {
        clauses.push(format!("m.type NOT IN ({})", list(&query.excluded_kinds)));
    }
    clauses.extend(query.after.map(|after| format!("m.created_at >= {after}")));
    clauses.extend(query.before.map(|before| format!("m.created_at < {before}")));
    if clauses.is_empty() {
        return String::new();
    }
    format!("AND EXISTS (SELECT 1 FROM memories m WHERE m.rowid = {}.rowid >> 8 AND {})", LIVE.words, clauses.join(" AND "))
}

/// Returns the results of a query without words, newest first.
fn filtered(conn: &Connection, search: &Search<'_>) -> rusqlite::Result<Vec<SearchHit>> {
    let query = search.query;
    let shared = Project::shared().id;
    let mut projects = vec![search.project];
    if search.shared && search.project.is_some() {
        projects.push(Some(&shared));
    }
    let mut hits = Vec::new();
    for project in projects {
        let mut condition = super::memories::Where::default();
        condition.query(query, project, search.marked);
        let sql = format!(
            "SELECT m.rowid, m.superseded_by, m.revisited_by FROM memories m WHERE {} ORDER BY m.created_at DESC, m.id LIMIT {FILTERED}",
            condition.sql()
        );
        let mut select = conn.prepare_cached(&sql)?;
        let mut rows = select.query(rusqlite::params_from_iter(condition.params()))?;
        let mut left = search.limit;
        while left > 0
            && let Some(row) = rows.next()?
        {
            let superseded: Option<i64> = row.get(1)?;
            if let Some((memory, _)) = memory(conn, row.get(0)?)?.filter(|(memory, _)| accepts(query, memory))
                && !(search.is_unasked && superseded.is_some())
                && !is_double(conn, search, &memory)?
            {
                let superseded_by = match superseded {
                    Some(next) => id_of(conn, supersessions::head_of(conn, next)?)?,
                    None => None,
                };
                let followed_by = followed_by(conn, row.get(0)?)?;
                let revisited_by = match row.get::<_, Option<i64>>(2)?.filter(|_| superseded_by.is_none()) {
                    Some(_) => in_doubt_by(conn, row.get(0)?)?,
                    None => None,
                };
                let why = ScoreExplanation::default();
                hits.push(SearchHit { memory, why, words: Vec::new(), superseded_by, followed_by, revisited_by });
                left -= 1;
            }
        }
    }
    hits.sort_by(|a, b| b.memory.created.cmp(&a.memory.created).then_with(|| a.memory.id.cmp(&b.memory.id)));
    hits.truncate(search.limit as usize);
    Ok(hits)
}
