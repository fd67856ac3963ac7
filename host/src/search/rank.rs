//! The order in which found memories are shown, and how well each answers, from 0 to 1.
//!
//! 1. A memory counts as its best piece, and a little as the other pieces of its session.
//! 2. Its BM25 becomes a relevance between 0 and 1 that means the same whatever the query and the size of the database.
//! 3. Importance, age and how often it was seen move it a little ([`PRIOR_SHARE`]): they part equals, but do not beat
//!    relevance.
//! 4. What comes after others of its own session steps back, archived turns most of all, so that the first results are
//!    not one session's.

use std::collections::{BTreeSet, HashMap};

/// How many pieces the full-text search should hand over.
pub const CANDIDATES: usize = 200;

/// BM25 weights of the columns title, content, keywords, files.
pub const COLUMN_WEIGHTS: [f64; 4] = [1.5, 1.0, 1.5, 1.0];

/// The share of the final score that importance, age and sightings decide. On 658 questions about real sessions a share of
/// 0.15 found the right session first in 62.8 % of cases, 0.05 in 64.1 %, as none at all.
const PRIOR_SHARE: f64 = 0.05;

/// After this many days a memory's freshness is half of what it was.
const HALF_LIFE_DAYS: f64 = 30.0;

/// The kind of the archive of turns.
const TURN: &str = "turn";

/// What a further memory of a session keeps of its score, for each one of that session that stands above it.
const REPEAT: f64 = 0.92;

/// The same for archived turns, which are long and match much.
const REPEATED_TURN: f64 = 0.75;

/// The relevance is one half at this share of the ideal BM25. So a piece that holds every word of the query has 0.67 or
/// more, and one that holds a fifth of what they weigh less than 0.3.
const HALF_AT: f64 = 0.5;

/// What the second-best piece of a memory's session adds to the memory's BM25, as a share of its own; the third adds the
/// square of this share, and so on. A session that is about the matter is trusted more than one that mentions it.
const SESSION_SHARE: f64 = 0.05;

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
    /// See [`super::query::Plan::ideal`].
    pub ideal: f64,
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
pub fn rank<Id: Ord + Clone>(mut candidates: Vec<Candidate<Id>>, setting: &Setting, limit: usize) -> Vec<Ranked<Id>> {
    for candidate in &mut candidates {
        candidate.bm25 = if candidate.bm25.is_finite() { (-candidate.bm25).max(0.0) } else { 0.0 };
    }
    candidates.sort_by(|a, b| b.bm25.total_cmp(&a.bm25).then(b.created.cmp(&a.created)).then(a.id.cmp(&b.id)));
    let support = support(&candidates);
    let mut taken = BTreeSet::new();
    candidates.retain(|candidate| taken.insert(candidate.id.clone()));
    let mut scored: Vec<(f64, Candidate<Id>)> = candidates
        .into_iter()
        .map(|candidate| {
            let support = support.get(&candidate.session).map_or(0.0, |&(sum, _)| sum);
            (score(&candidate, candidate.bm25 + support, setting), candidate)
        })
        .collect();
    // Stable: what scores alike stays in the order of BM25, age and identifier.
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    spread(scored, limit)
}

/// For each session, what its pieces after the best one add to each of its memories, and the share that the next would
/// have. `candidates` are best first.
fn support<Id>(candidates: &[Candidate<Id>]) -> HashMap<String, (f64, f64)> {
    let mut support: HashMap<String, (f64, f64)> = HashMap::new();
    for candidate in candidates {
        match support.get_mut(&candidate.session) {
            Some((sum, share)) => {
                *sum += *share * candidate.bm25;
                *share *= SESSION_SHARE;
            }
            None => {
                support.insert(candidate.session.clone(), (0.0, SESSION_SHARE));
            }
        }
    }
    support
}

fn score<Id>(candidate: &Candidate<Id>, bm25: f64, setting: &Setting) -> f64 {
    let half = HALF_AT * setting.ideal.max(f64::MIN_POSITIVE);
    let relevance = bm25 / (bm25 + half);
    relevance * (1.0 - PRIOR_SHARE + PRIOR_SHARE * prior(candidate, setting.now))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SETTING: Setting = Setting { now: 100 * 86_400_000, ideal: 10.0 };

    fn candidate(id: u32, session: &str, bm25: f64) -> Candidate<u32> {
        Candidate { id, session: session.into(), kind: "learning".into(), bm25, importance: 0.5, created: 0, seen: 1 }
    }

    fn order(candidates: Vec<Candidate<u32>>) -> Vec<u32> {
        rank(candidates, &SETTING, 20).into_iter().map(|ranked| ranked.id).collect()
    }

    #[test]
    fn a_memory_stands_once_at_its_best_piece() {
        let pieces = vec![candidate(1, "a", -2.0), candidate(2, "b", -5.0), candidate(1, "a", -9.0)];
        assert_eq!(order(pieces), [1, 2]);
    }

    #[test]
    fn importance_age_and_sightings_part_equals_but_do_not_beat_relevance() {
        let plain = candidate(1, "a", -5.0);
        let important = Candidate { importance: 0.9, ..candidate(2, "b", -5.0) };
        let fresh = Candidate { created: SETTING.now, ..candidate(3, "c", -5.0) };
        let confirmed = Candidate { seen: 4, ..candidate(4, "d", -5.0) };
        for better in [important, fresh, confirmed] {
            let id = better.id;
            assert_eq!(order(vec![plain.clone(), better]), [id, 1]);
        }
        let relevant = Candidate { importance: 0.0, ..candidate(5, "e", -10.0) };
        let dear = Candidate { importance: 1.0, created: SETTING.now, seen: 9, ..candidate(6, "f", -5.0) };
        assert_eq!(order(vec![dear, relevant]), [5, 6]);
    }

    #[test]
    fn a_session_does_not_take_every_place() {
        let turn = |id, session, bm25| Candidate { kind: "turn".into(), ..candidate(id, session, bm25) };
        let turns = vec![turn(1, "a", -10.0), turn(2, "a", -9.8), turn(3, "a", -9.6), turn(4, "b", -8.0)];
        assert_eq!(order(turns), [1, 4, 2, 3]);
        let dense = vec![candidate(1, "a", -10.0), candidate(2, "a", -9.8), candidate(3, "b", -7.0)];
        assert_eq!(order(dense), [1, 2, 3], "decisions of one session may stand together");
    }

    #[test]
    fn a_session_that_is_about_the_matter_is_before_one_that_mentions_it() {
        let about = vec![candidate(1, "a", -8.0), candidate(2, "b", -8.0), candidate(3, "b", -7.0)];
        assert_eq!(order(about)[0], 2);
    }

    #[test]
    fn what_holds_the_words_scores_high_and_what_mentions_one_low() {
        let score = |bm25| rank(vec![candidate(1, "a", bm25)], &SETTING, 1)[0].score;
        assert!(score(-10.0) > 0.55, "{}", score(-10.0));
        assert!(score(-1.5) < 0.25, "{}", score(-1.5));
        assert!(score(0.0).abs() < f64::EPSILON);
    }

    proptest! {
        #[test]
        fn scores_are_in_range_in_order_and_do_not_depend_on_the_input_s_order(
            rows in proptest::collection::vec(
                (0u32..20, 0u8..4, prop_oneof![-20.0..0.5f64, Just(f64::NAN), Just(f64::NEG_INFINITY)], any::<f64>(), any::<i64>(), any::<u32>()), 0..60),
            ideal in prop_oneof![0.0..50.0f64, Just(0.0)], limit in 0usize..30,
        ) {
            let session = |id: u32| format!("s{}", id % 4);
            // A memory's facts are the same in all of its pieces.
            let first = |id: u32| rows.iter().find(|row| row.0 == id).copied().unwrap();
            let candidates: Vec<Candidate<u32>> = rows.iter().map(|&(id, _, bm25, ..)| {
                let (_, kind, _, importance, created, seen) = first(id);
                let kind = if kind == 0 { TURN } else { "learning" }.into();
                Candidate { id, session: session(id), kind, bm25, importance, created, seen }
            }).collect();
            let setting = Setting { now: SETTING.now, ideal };
            let ranked = rank(candidates.clone(), &setting, limit);
            prop_assert!(ranked.iter().all(|one| (0.0..=1.0).contains(&one.score)), "{ranked:?}");
            prop_assert!(ranked.is_sorted_by(|a, b| a.score >= b.score), "{ranked:?}");
            let ids: BTreeSet<u32> = ranked.iter().map(|one| one.id).collect();
            prop_assert_eq!(ids.len(), ranked.len());
            let distinct: BTreeSet<u32> = candidates.iter().map(|one| one.id).collect();
            prop_assert_eq!(ranked.len(), distinct.len().min(limit));
            let reversed = rank(candidates.into_iter().rev().collect(), &setting, limit);
            prop_assert_eq!(
                reversed.iter().map(|one| one.id).collect::<Vec<_>>(),
                ranked.iter().map(|one| one.id).collect::<Vec<_>>()
            );
        }
    }
}
