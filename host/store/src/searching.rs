//! Searches: by words, by meaning, and both ranked as one.
//!
//! What a search takes hardly grows with what is stored. A word's pieces are asked for newest first and up to a number; of
//! words that stand in more, those pieces are asked for that have several of them. The nearest vectors are chosen by codes of
//! two bits a number (`vectors.rs`). What both legs find is read, scored (`search/score.rs`) and ranked (`search/rank.rs`).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::thread;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::helper::{Asked, Helper};
use super::index::{self, LIVE, MODEL, NO_MODEL};
use super::memories::{COLUMNS, from_row, row_range};
use super::sharing::{SHARED_FROM, is_known};
use super::vectors::{Cosines, Scan};
use super::{Result, Store, time, vectors};
use throughline_embedding::local;
use throughline_model::contract::Memory;
use throughline_model::project::Project;
use throughline_search::pieces;
use throughline_search::query::{Facts, Query};
use throughline_search::rank::{self, CANDIDATES, Candidate, Profile, Why};
use throughline_search::score::{Piece, Score, Words, idf};
use throughline_search::vector::Probe;

/// How many memories a query without words looks through.
const FILTERED: u32 = 2_000;

/// How many of the pieces that have a word are asked for, the newest.
const NEWEST: usize = 4_000;

/// Of so many of the words that stand in more pieces, the rarest, those pieces are asked for that have several.
const MOST_COMMON: usize = 6;

/// About how many rows are walked over for each combination of common words, among the newest; a row takes about a tenth of
/// a microsecond and word.
const WALKED: usize = 40_000;

/// From so many memories on, half of the work is worth another connection.
const MUCH: i64 = 2_000;

/// What is to be found.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// What for.
    pub query: &'a Query,
    /// Among the memories of this project; none: of all.
    pub project: Option<&'a str>,
    /// With what was shared with all projects, beside the memories of the project.
    pub shared: bool,
    /// At most so many.
    pub limit: u32,
    /// The clock, milliseconds since the Unix epoch.
    pub now: u64,
    /// How to rank.
    pub profile: &'a Profile,
    /// The query as a vector, where another model than the built-in one made the database's.
    pub probe: Option<Probe>,
    /// Half the candidates of each leg: a hook has less time than a person.
    pub is_quick: bool,
}

impl<'a> Search<'a> {
    /// The usual search.
    pub fn new(query: &'a Query, project: Option<&'a str>, limit: u32, now: u64) -> Self {
        Self { query, project, shared: false, limit, now, profile: &rank::DEFAULT, probe: None, is_quick: false }
    }
}

impl Search<'_> {
    /// How many pieces each leg hands over.
    fn candidates(&self) -> usize {
        if self.is_quick { CANDIDATES / 2 } else { CANDIDATES }
    }

    /// How many of the pieces that have a word are asked for, the newest.
    fn newest(&self) -> usize {
        if self.is_quick { NEWEST / 2 } else { NEWEST }
    }
}

/// What was found, and how.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Why the search was less than it can be; none where it was not.
    pub degraded: Option<String>,
}

/// A memory that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The memory, with its score.
    pub memory: Memory,
    /// Where the score comes from.
    pub why: Why,
    /// The words of the query that stand in it.
    pub words: Vec<String>,
}

/// Which pieces have a query's words.
struct ByWords {
    /// By the piece's row, the weight of the words that it is known to have.
    scores: HashMap<i64, f64, foldhash::fast::RandomState>,
    /// In about how many pieces each word stands.
    counts: Vec<usize>,
    /// Whether every piece that has one of the words is among them.
    is_whole: bool,
}

impl Store {
    /// The memories that answer, best first. A query without words lists what its filters leave, newest first.
    pub fn search(&self, search: &Search<'_>) -> Result<Answer> {
        // Most pages are read once: memory for all of them takes longer to get than the few to be read again.
        self.explain(self.conn.execute_batch("PRAGMA cache_size = -1024"))?;
        // One state of the database for all of it: another index may be swapped in meanwhile.
        self.explain(self.conn.unchecked_transaction().and_then(|_tx| self.find(search)))
    }

    /// The memories that answer a query by the usual ranking.
    pub fn find_memories(&self, query: &Query, project: Option<&str>, limit: u32, now: u64) -> Result<Vec<Memory>> {
        let answer = self.search(&Search::new(query, project, limit, now))?;
        Ok(answer.hits.into_iter().map(|hit| hit.memory).collect())
    }

    fn find(&self, search: &Search<'_>) -> rusqlite::Result<Answer> {
        let conn = &self.conn;
        let query = search.query;
        if query.is_empty() {
            return Ok(Answer::default());
        }
        let ranges = ranges(conn, search)?;
        if ranges.is_empty() {
            return Ok(Answer::default());
        }
        if query.term_count() == 0 {
            return Ok(Answer { hits: filtered(conn, search)?, degraded: None });
        }
        let extents = ranges.iter().map(|memories| extent(conn, memories)).collect::<rusqlite::Result<Vec<_>>>()?;
        let model = index::meta(conn, MODEL)?.unwrap_or_else(|| NO_MODEL.into());
        let (probe, degraded) = probe(search, &model);
        let scans: Vec<Scan<'_>> = match probe.as_ref().filter(|_| query.required().is_none()) {
            Some(probe) => extents.iter().map(|extent| Scan::new(probe, extent.rows(), most_near(search))).collect(),
            None => Vec::new(),
        };
        let is_much = extents.iter().map(|extent| extent.memories).sum::<i64>() >= MUCH;
        let (found, candidates) = thread::scope(|scope| {
            let helper = is_much.then(|| Helper::start(scope, &self.path, &model)).flatten();
            let found = Arc::new(self.legs(search, &ranges, &extents, &scans, helper.as_ref())?);
            let candidates = self.candidates(search, probe.as_ref(), &found, helper.as_ref())?;
            Ok::<_, rusqlite::Error>((found, candidates))
        })?;
        let Found { by_words, words, .. } = &*found;
        let mut has: HashMap<i64, Vec<usize>, foldhash::fast::RandomState> = HashMap::default();
        let mut ranked = Vec::with_capacity(candidates.len());
        for (candidate, words) in candidates {
            has.insert(candidate.id, words);
            ranked.push(candidate);
        }
        let setting = rank::Setting {
            now: time(search.now),
            ideal: words.ideal(&by_words.counts),
            words: words.concepts(),
            known: probe.as_ref().map_or(0.0, |probe| f64::from(probe.known)),
            profile: search.profile,
        };
        let tokens: Vec<&str> = query.words().map(|word| word.token).collect();
        let mut hits = Vec::new();
        for ranked in rank::rank(ranked, &setting, search.limit as usize) {
            let Some((memory, _)) = memory(conn, ranked.id)? else { continue };
            let words = has.remove(&ranked.id).unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, reason = "a score needs no more")]
            hits.push(Hit {
                memory: Memory { score: ranked.score as f32, ..memory },
                why: ranked.why,
                words: words.into_iter().filter_map(|n| tokens.get(n)).map(|&token| token.to_owned()).collect(),
            });
        }
        Ok(Answer { hits, degraded })
    }

    /// What each leg finds. A helper begins with the vectors while this thread looks for the words.
    fn legs<'q, 'e>(
        &self,
        search: &Search<'q>,
        ranges: &[RangeInclusive<i64>],
        extents: &[Extent],
        scans: &'e [Scan<'e>],
        helper: Option<&Helper<'e>>,
    ) -> rusqlite::Result<Found<'q>> {
        let conn = &self.conn;
        let begun: Vec<_> =
            scans.iter().map(|scan| helper.map(|helper| (helper, helper.ask(|conn| scan.look(conn))))).collect();
        let extents = extents.iter().map(|extent| counted(conn, *extent)).collect::<rusqlite::Result<Vec<Extent>>>()?;
        // What was shared is ranked among the project's own: a word weighs what it weighs in both together.
        let mut by_words = ByWords::new();
        for (memories, extent) in ranges.iter().zip(&extents) {
            by_words.add(self::by_words(conn, search, memories, *extent)?);
        }
        let mut cosines = Cosines::default();
        for (scan, begun) in scans.iter().zip(begun) {
            cosines.extend(accepted(conn, search, scan.nearest(conn, begun)?)?);
        }
        let words = Words::new(search.query, &by_words.counts, extents.iter().map(|extent| extent.pieces).sum());
        let mut pieces: Vec<i64> = if search.profile.text > 0.0 { best(conn, search, &by_words)? } else { Vec::new() };
        pieces.extend(cosines.keys());
        pieces.sort_unstable();
        pieces.dedup();
        Ok(Found { by_words, words, cosines, pieces })
    }

    /// What is ranked of all that was found, with the words of the query that each memory has. A helper does half.
    fn candidates<'q: 'e, 'e>(
        &self,
        search: &'e Search<'q>,
        probe: Option<&'e Probe>,
        found: &Arc<Found<'q>>,
        helper: Option<&Helper<'e>>,
    ) -> rusqlite::Result<Vec<(Candidate<i64>, Vec<usize>)>> {
        let all = found.pieces.len();
        let mut middle = if helper.is_some() { all / 2 } else { all };
        // The pieces of a memory stay together.
        while (1..all).contains(&middle)
            && pieces::memory_of(found.pieces[middle - 1]) == pieces::memory_of(found.pieces[middle])
        {
            middle += 1;
        }
        let asked = helper.map(|helper| {
            let found = Arc::clone(found);
            helper.ask(move |conn| candidates(conn, search, probe, &found, middle..all))
        });
        let mut candidates = candidates(&self.conn, search, probe, found, 0..middle)?;
        candidates.extend(match asked.and_then(Asked::answer) {
            Some(others) => others,
            None => self::candidates(&self.conn, search, probe, found, middle..all)?,
        });
        Ok(candidates)
    }
}

/// What both legs found.
struct Found<'q> {
    by_words: ByWords,
    words: Words<'q>,
    /// Of what was found by meaning.
    cosines: Cosines,
    /// The rows of all pieces, in order, each once.
    pieces: Vec<i64>,
}

impl ByWords {
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

/// What is ranked of these of the pieces that were found, and the words of the query that each memory has.
fn candidates(
    conn: &Connection,
    search: &Search<'_>,
    probe: Option<&Probe>,
    found: &Found<'_>,
    pieces: Range<usize>,
) -> rusqlite::Result<Vec<(Candidate<i64>, Vec<usize>)>> {
    let Found { by_words, words, cosines, pieces: all } = found;
    let found = &all[pieces];
    let missing = || found.iter().copied().filter(|piece| !cosines.contains_key(piece));
    let more = probe.map(|probe| vectors::cosines_of(conn, probe, missing())).transpose()?.unwrap_or_default();
    let cosine = |piece: &i64| cosines.get(piece).or_else(|| more.get(piece)).copied().map(f64::from);
    let mut candidates = Vec::with_capacity(found.len());
    let mut select = conn.prepare_cached(&format!("SELECT {COLUMNS}, m.access_count FROM memories m WHERE m.rowid = ?1"))?;
    for of_one in found.chunk_by(|a, b| pieces::memory_of(*a) == pieces::memory_of(*b)) {
        let nearest = of_one.iter().filter_map(cosine).reduce(f64::max);
        let is_near = nearest.is_some_and(|cosine| cosine >= rank::NEAR_ENOUGH);
        let may_have_words = !by_words.is_whole || of_one.iter().any(|piece| by_words.scores.contains_key(piece));
        if search.profile.text > 0.0 && !may_have_words && !is_near {
            // The ranking would leave it out.
            continue;
        }
        let rowid = pieces::memory_of(of_one[0]);
        let mut rows = select.query([rowid])?;
        let Some(row) = rows.next()? else { continue };
        let stored = Stored::of(row)?;
        if stored.is_wanted(conn, search, row)? {
            candidates.push(scored(rowid, &stored, of_one, words, nearest));
        }
    }
    Ok(candidates)
}

/// The rows that are looked through: those of the project, and those that were shared.
fn ranges(conn: &Connection, search: &Search<'_>) -> rusqlite::Result<Vec<RangeInclusive<i64>>> {
    let mut ranges = Vec::from_iter(row_range(conn, search.project)?);
    if search.shared && search.project.is_some() {
        ranges.extend(row_range(conn, Some(&Project::shared().id))?);
    }
    Ok(ranges)
}

/// Whether a memory is the copy of one that is looked through, too.
fn is_double(conn: &Connection, search: &Search<'_>, memory: &Memory) -> rusqlite::Result<bool> {
    if !memory.attributes.iter().any(|(name, _)| name == SHARED_FROM) {
        return Ok(false);
    }
    search.project.map_or(Ok(true), |project| is_known(conn, &memory.id, project))
}

/// The best pieces by what is known of their words; of those that score alike, the newest.
fn best(conn: &Connection, search: &Search<'_>, found: &ByWords) -> rusqlite::Result<Vec<i64>> {
    let most = search.candidates();
    let mut best: Vec<(i64, f64)> = found.scores.iter().map(|(&piece, &score)| (piece, score)).collect();
    let order = |a: &(i64, f64), b: &(i64, f64)| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0));
    if best.len() > most && !search.query.restricts() {
        best.select_nth_unstable_by(most, order);
        best.truncate(most);
    }
    best.sort_unstable_by(order);
    let mut kept = Vec::with_capacity(most);
    for (piece, _) in best {
        if kept.len() >= most {
            break;
        }
        if !search.query.restricts() || is_of_kind(conn, search.query, pieces::memory_of(piece))? {
            kept.push(piece);
        }
    }
    Ok(kept)
}

/// The query as a vector that those of `model`, the database's, can be compared with, and what is amiss where there is none.
fn probe(search: &Search<'_>, model: &str) -> (Option<Probe>, Option<String>) {
    if search.profile.vector <= 0.0 || model == NO_MODEL {
        return (None, None);
    }
    // First: the index of another model, for which a probe was made, may have been swapped for this one meanwhile.
    if model == index::local_model() {
        return (local::embed(&search.query.text).map(|found| Probe::new(found.vector, found.known)), None);
    }
    if let Some(probe) = search.probe.clone().filter(|probe| probe.dims() == index::dims(model)) {
        return (Some(probe), None);
    }
    let why =
        format!("the vectors are those of {model}, with which the query was not computed: only words were searched for");
    (None, Some(why))
}

/// How many of the nearest pieces are asked for: what the query rules out must not take the place of what it does not.
fn most_near(search: &Search<'_>) -> usize {
    if search.query.restricts() { search.candidates() * 10 } else { search.candidates() }
}

/// The nearest of these pieces that the query accepts.
fn accepted(conn: &Connection, search: &Search<'_>, near: Vec<(i64, f32)>) -> rusqlite::Result<Vec<(i64, f32)>> {
    if !search.query.restricts() {
        return Ok(near);
    }
    let mut kept = Vec::new();
    for (piece, cosine) in near {
        if kept.len() >= search.candidates() {
            break;
        }
        if is_of_kind(conn, search.query, pieces::memory_of(piece))? {
            kept.push((piece, cosine));
        }
    }
    Ok(kept)
}

/// Whether a memory's row says nothing against it.
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

/// What is ranked of a memory, as it stands in its row: of some hundred candidates a few are shown.
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
}

impl<'r> Stored<'r> {
    /// From a row of [`COLUMNS`] with how often it was looked at behind them.
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
        })
    }

    /// Whether the query asks for it, its words aside, and it is not looked through a second time.
    fn is_wanted(&self, conn: &Connection, search: &Search<'_>, row: &Row<'_>) -> rusqlite::Result<bool> {
        if !search.query.restricts() && !self.attributes.contains(SHARED_FROM) {
            return Ok(true);
        }
        let memory = from_row(row)?;
        Ok(accepts(search.query, &memory) && !is_double(conn, search, &memory)?)
    }

    /// The same for memories of one kind that say the same, white space and the case of ASCII letters aside: FNV-1a, because it
    /// goes through all that is scored byte by byte.
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

/// A memory as it is ranked, by those of its pieces that were found and the cosine of the nearest, and the words that the best one
/// has.
fn scored(
    rowid: i64,
    stored: &Stored<'_>,
    found: &[i64],
    words: &Words<'_>,
    nearest: Option<f64>,
) -> (Candidate<i64>, Vec<usize>) {
    let cut = pieces::cut(stored.content);
    let (keywords, files) = (words_of(stored.keywords), words_of(stored.files));
    let mut best = Score::default();
    for piece in found {
        let content = cut.get(pieces::number_of(*piece)).copied().unwrap_or_default();
        let score = words.score(&Piece { title: stored.title, content, keywords: &keywords, files: &files });
        if score.bm25 >= best.bm25 {
            best = score;
        }
    }
    let candidate = Candidate {
        id: rowid,
        session: stored.session.to_owned(),
        kind: stored.kind.to_owned(),
        bm25: best.bm25,
        cosine: nearest,
        importance: stored.importance,
        created: stored.created,
        seen: stored.seen,
        accessed: stored.accessed,
        said: stored.said(),
    };
    (candidate, best.words().collect())
}

/// A stored list of words as one text. The marks of JSON stand between words as spaces do, so only what is escaped must be read.
fn words_of(list: &str) -> Cow<'_, str> {
    if list.contains('\\') { super::unjson::<Vec<String>>(list).join(" ").into() } else { list.into() }
}

/// Whether a memory is what the query asks for, its words aside.
fn accepts(query: &Query, memory: &Memory) -> bool {
    if !query.restricts() {
        return true;
    }
    let tools: Vec<&str> =
        memory.attributes.iter().filter(|(name, _)| name == "tool").map(|(_, tool)| tool.as_str()).collect();
    query.accepts(&Facts {
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

/// How much is searched through.
#[derive(Clone, Copy, Default)]
struct Extent {
    /// The newest memory.
    last: i64,
    /// From the oldest to the newest memory, in rows.
    memories: i64,
    /// About how many pieces there are.
    pieces: usize,
}

impl Extent {
    /// The rows of the memories, from the oldest to the newest.
    fn rows(self) -> RangeInclusive<i64> {
        self.last - self.memories + 1..=self.last
    }

    /// The first of the newest rows among which a word that stands in `count` pieces stands in about `most` of them.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "an estimate")]
    fn newest(self, count: usize, most: usize) -> i64 {
        let share = (most as f64 / count.max(1) as f64).min(1.0);
        pieces::row(self.last - (self.memories as f64 * share) as i64, 0)
    }
}

/// From where to where a range has memories.
fn extent(conn: &Connection, memories: &RangeInclusive<i64>) -> rusqlite::Result<Extent> {
    // Each by itself is one step into the table; both in one query would be a walk over all of it.
    let bound = |end: &str| -> rusqlite::Result<Option<i64>> {
        conn.prepare_cached(&format!("SELECT {end}(rowid) FROM memories WHERE rowid BETWEEN ?1 AND ?2"))?
            .query_row([memories.start(), memories.end()], |row| row.get(0))
    };
    let (Some(oldest), Some(newest)) = (bound("min")?, bound("max")?) else { return Ok(Extent::default()) };
    Ok(Extent { last: newest, memories: newest - oldest + 1, pieces: 0 })
}

/// The same, with about how many pieces the memories have.
fn counted(conn: &Connection, extent: Extent) -> rusqlite::Result<Extent> {
    /// What a count over all projects is cut to, since their ranges lie far apart.
    const MOST: i64 = 1_000_000;
    /// How many pieces are counted one by one: so many memories, or more, tell how many pieces one has.
    const COUNTED: i64 = 4_000;
    let (first, last) = pieces::rows(extent.rows());
    let (counted, down_to): (i64, Option<i64>) = conn
        .prepare_cached(&format!(
            "SELECT count(*), min(id) FROM (SELECT id FROM {}_docsize WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT ?3)",
            LIVE.words
        ))?
        .query_row([first, last, COUNTED], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let pieces = match down_to {
        Some(down_to) if counted == COUNTED => {
            let memories = (extent.last - pieces::memory_of(down_to) + 1).max(1);
            (extent.memories.min(MOST) * counted / memories).max(counted)
        }
        _ => counted,
    };
    Ok(Extent { pieces: usize::try_from(pieces).unwrap_or(0), ..extent })
}

/// Which pieces have which of the query's words.
fn by_words(
    conn: &Connection,
    search: &Search<'_>,
    memories: &RangeInclusive<i64>,
    extent: Extent,
) -> rusqlite::Result<ByWords> {
    let query = search.query;
    let (first, last) = pieces::rows(memories.clone());
    // In a hook what is ruled out is passed over afterwards: looking each row up would cost more.
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
    let mut found = ByWords::new();
    let mut common: Vec<(usize, String)> = Vec::new();
    for word in query.words() {
        let pieces = matching(&word.quoted(), first, newest_pieces)?;
        let count = if pieces.len() < newest_pieces { pieces.len() } else { estimate(&pieces, extent) };
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
    if let Some(required) = query.required() {
        let pieces: HashSet<i64> = matching(&required, first, newest_pieces)?.into_iter().collect();
        found.scores.retain(|piece, _| pieces.contains(piece));
        for piece in pieces {
            found.scores.entry(piece).or_default();
        }
    }
    Ok(found)
}

/// Asks for the pieces that have several of the common words, the newest first: those that have all, then those that have
/// all but the most common one, and so on, until there are enough.
fn combine(
    found: &mut ByWords,
    common: &[(usize, String)],
    extent: Extent,
    enough: usize,
    matching: &mut impl FnMut(&str, i64, usize) -> rusqlite::Result<Vec<i64>>,
) -> rusqlite::Result<()> {
    let common = &common[..common.len().min(MOST_COMMON)];
    let mut new = 0;
    for words in (2..=common.len()).rev().map(|rarest| &common[..rarest]) {
        if new >= enough {
            break;
        }
        let weight: f64 = words.iter().map(|(count, _)| idf(*count, extent.pieces)).sum();
        let expression = words.iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(" AND ");
        for piece in matching(&expression, extent.newest(words[0].0, 2 * WALKED / words.len()), enough)? {
            let score = found.scores.entry(piece).or_insert_with(|| {
                new += 1;
                0.0
            });
            *score = score.max(weight);
        }
    }
    Ok(())
}

/// In about how many pieces a word stands, by how close together its newest ones are.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
fn estimate(newest: &[i64], extent: Extent) -> usize {
    let (Some(&last), Some(&first)) = (newest.first(), newest.last()) else { return 0 };
    let spanned = (pieces::memory_of(last) - pieces::memory_of(first)).max(1) as f64;
    ((newest.len() as f64 * extent.memories as f64 / spanned) as usize).clamp(newest.len(), extent.pieces.max(newest.len()))
}

/// What the memory's row must say, as a part of a WHERE clause: only what the query restricts is asked.
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

/// What a query without words leaves, newest first.
fn filtered(conn: &Connection, search: &Search<'_>) -> rusqlite::Result<Vec<Hit>> {
    let query = search.query;
    let shared = Project::shared().id;
    let mut projects = vec![search.project];
    if search.shared && search.project.is_some() {
        projects.push(Some(&shared));
    }
    let mut hits = Vec::new();
    for project in projects {
        let mut condition = super::memories::Where::default();
        condition.query(query, project);
        let sql = format!(
            "SELECT m.rowid FROM memories m WHERE {} ORDER BY m.created_at DESC, m.id LIMIT {FILTERED}",
            condition.sql()
        );
        let mut select = conn.prepare_cached(&sql)?;
        let mut rows = select.query(rusqlite::params_from_iter(condition.params()))?;
        let mut left = search.limit;
        while left > 0
            && let Some(row) = rows.next()?
        {
            if let Some((memory, _)) = memory(conn, row.get(0)?)?.filter(|(memory, _)| accepts(query, memory))
                && !is_double(conn, search, &memory)?
            {
                hits.push(Hit { memory, why: Why::default(), words: Vec::new() });
                left -= 1;
            }
        }
    }
    hits.sort_by(|a, b| b.memory.created.cmp(&a.memory.created).then_with(|| a.memory.id.cmp(&b.memory.id)));
    hits.truncate(search.limit as usize);
    Ok(hits)
}
