//! The order in which found memories are shown, and how well each answers, from 0 to 1.
//!
//! 1. A memory counts as its best piece.
//! 2. Its BM25 becomes a relevance between 0 and 1 that means the same whatever the query and the size of the database.
//! 3. Importance, age and how often it was seen move it a little ([`PRIOR_SHARE`]): they part equals, but do not beat
//!    relevance.
//! 4. What comes after others of its own session steps back, archived turns most of all, so that the first results are
//!    not one session's.

use std::collections::HashMap;

/// How many pieces the full-text search should hand over.
pub const CANDIDATES: usize = 200;

/// BM25 weights of the columns title, content, keywords, files.
pub const COLUMN_WEIGHTS: [f64; 4] = [1.5, 1.0, 1.5, 1.0];

/// The share of the final score that importance, age and sightings decide.
const PRIOR_SHARE: f64 = 0.15;

/// After this many days a memory's freshness is half of what it was.
const HALF_LIFE_DAYS: f64 = 30.0;

/// The kind of the archive of turns.
const TURN: &str = "turn";

/// What a further memory of a session keeps of its score, for each one of that session that stands above it.
const REPEAT: f64 = 0.92;

/// The same for archived turns, which are long and match much.
const REPEATED_TURN: f64 = 0.75;

/// BM25 of one term that tells much, as a share of the logarithm of the number of pieces. With it a memory that holds
/// all of a query's words has a relevance of about 0.65 to 0.8, and one that holds a single ordinary one less than 0.2.
const TERM_SHARE: f64 = 0.3;

/// A piece that the full-text search found.
#[derive(Clone, Debug)]
pub struct Candidate<Id> {
    /// The memory.
    pub id: Id,
    /// Its session's identifier.
    pub session: String,
    /// Its kind.
    pub kind: String,
    /// As FTS5 gives it: the better, the more negative.
    pub bm25: f64,
    /// 0 to 1.
    pub importance: f64,
    /// When it was learned; milliseconds since the Unix epoch.
    pub created: i64,
    /// In how many places it was learned; at least 1.
    pub seen: u32,
}

/// What the scores depend on besides the memory.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The clock; milliseconds since the Unix epoch.
    pub now: i64,
    /// How many tokens the query looks for.
    pub terms: usize,
    /// How many rows the full-text table has; a rough number does.
    pub rows: u64,
}

/// A memory in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked<Id> {
    /// The memory.
    pub id: Id,
    /// 0 to 1, never more than the one above it.
    pub score: f64,
}

/// The first `limit` memories of `candidates`, best first.
pub fn rank<Id: Ord + Clone>(candidates: Vec<Candidate<Id>>, setting: &Setting, limit: usize) -> Vec<Ranked<Id>> {
    let mut scored: Vec<(f64, Candidate<Id>)> =
        best_pieces(candidates).into_iter().map(|candidate| (score(&candidate, setting), candidate)).collect();
    scored.sort_by(|(a_score, a), (b_score, b)| {
        b_score.total_cmp(a_score).then(b.created.cmp(&a.created)).then(a.id.cmp(&b.id))
    });
    spread(scored, limit)
}

/// One candidate a memory: the one with the best BM25.
fn best_pieces<Id: Ord + Clone>(mut candidates: Vec<Candidate<Id>>) -> Vec<Candidate<Id>> {
    candidates.sort_by(|a, b| a.id.cmp(&b.id).then(a.bm25.total_cmp(&b.bm25)));
    candidates.dedup_by(|later, first| later.id == first.id);
    candidates
}

fn score<Id>(candidate: &Candidate<Id>, setting: &Setting) -> f64 {
    relevance(candidate.bm25, setting) * (1.0 - PRIOR_SHARE + PRIOR_SHARE * prior(candidate, setting.now))
}

/// 0 to 1: half where BM25 is what a piece would have that holds some of the query's telling words.
#[expect(clippy::cast_precision_loss, reason = "counts of this size are exact or need not be")]
fn relevance(bm25: f64, setting: &Setting) -> f64 {
    let bm25 = if bm25.is_finite() { (-bm25).max(0.0) } else { 0.0 };
    let half = TERM_SHARE * setting.terms.max(1) as f64 * (setting.rows as f64 + 2.0).ln();
    bm25 / (bm25 + half)
}

/// 0 to 1: what speaks for a memory before anything is asked.
#[expect(clippy::cast_precision_loss, reason = "a time in milliseconds is exact, and days need not be")]
fn prior<Id>(candidate: &Candidate<Id>, now: i64) -> f64 {
    let days = now.saturating_sub(candidate.created).max(0) as f64 / 86_400_000.0;
    let fresh = 0.5_f64.powf(days / HALF_LIFE_DAYS);
    let importance = if candidate.importance.is_nan() { 0.0 } else { candidate.importance.clamp(0.0, 1.0) };
    let confirmed = 1.0 - 1.0 / f64::from(candidate.seen.max(1));
    0.6 * importance + 0.25 * fresh + 0.15 * confirmed
}

/// Takes the best again and again, each time with what its session has already shown set against it.
fn spread<Id: Clone>(mut scored: Vec<(f64, Candidate<Id>)>, limit: usize) -> Vec<Ranked<Id>> {
    let mut shown: HashMap<String, i32> = HashMap::new();
    let mut ranked = Vec::with_capacity(limit.min(scored.len()));
    while ranked.len() < limit {
        let mut best: Option<(usize, f64)> = None;
        for (n, (score, candidate)) in scored.iter().enumerate() {
            // The list is in order and nothing rises: no later one can do better.
            if best.is_some_and(|(_, best)| *score <= best) {
                break;
            }
            let kept = if candidate.kind == TURN { REPEATED_TURN } else { REPEAT };
            let score = score * kept.powi(shown.get(&candidate.session).copied().unwrap_or(0));
            if best.is_none_or(|(_, best)| score > best) {
                best = Some((n, score));
            }
        }
        let Some((n, score)) = best else { break };
        let (_, candidate) = scored.remove(n);
        *shown.entry(candidate.session).or_default() += 1;
        ranked.push(Ranked { id: candidate.id, score });
    }
    ranked
}
