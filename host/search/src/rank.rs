//! The order in which found memories are shown, how well each answers, from 0 to 1, and why.
//!
//! 1. A memory counts as its best piece, and a little as the other pieces of its session.
//! 2. Its BM25 becomes a relevance between 0 and 1 that means the same whatever the query and the size of the database; so
//!    does the cosine of its vector with the query's. A [`Profile`] says how much each counts. Whoever was found by one alone has
//!    the other computed, too: nothing is lost because only its words, or only its meaning, was found.
//! 3. Importance, age and how often it was seen or looked at move it a little: they part equals, but do not beat relevance.
//! 4. What comes after others of its own session steps back, archived turns most of all, so that the first results are not
//!    one session's; what says the same as one above it is left out.

use std::collections::{HashMap, HashSet};

/// How many pieces each leg should hand over.
pub const CANDIDATES: usize = 200;

/// After this many days a memory's freshness is half of what it was.
const HALF_LIFE_DAYS: f64 = 30.0;

/// The kind of the archive of turns.
const TURN: &str = "turn";

/// What a further memory of a session keeps of its score, for each one of that session that stands above it.
const REPEAT: f64 = 0.92;

/// The same for archived turns, which are long and match much.
const REPEATED_TURN: f64 = 0.75;

/// The textual relevance is one half at this share of the ideal BM25: a piece of the usual length that holds every word of the
/// query has one half or more, and one that holds a fifth of what they weigh a sixth.
const HALF_AT: f64 = 1.0;

/// What the second-best piece of a memory's session adds to the memory's BM25, as a share of its own; the third adds the
/// square of this share, and so on. A session that is about the matter is trusted more than one that mentions it.
const SESSION_SHARE: f64 = 0.05;

/// What has none of the query's words must be so near to it in meaning: with the built-in model, loose paraphrases have
/// cosines of .1 to .4, and close ones more than that; of texts that have nothing to do with one another one in fourteen has so
/// much. A search for rare words must not end in a list of everything.
pub const NEAR_ENOUGH: f64 = 0.2;

/// With more words than this the vectors count less: a long query says by its words alone what it is about, and its mean
/// vector is that of everything.
const FEW_WORDS: f64 = 2.0;

/// RRF's constant, as in the paper that it comes from (Cormack, Clarke and Büttcher, 2009).
const RRF_K: f64 = 60.0;

/// How textual and vector relevance become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// Their weighted mean.
    Weighted,
    /// Reciprocal ranks, weighted; the scores themselves say nothing.
    ReciprocalRank,
}

/// How to rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// As a person names it.
    pub name: &'static str,
    /// How much the words count.
    pub text: f64,
    /// How much the vectors count, where the model knows all of the query.
    pub vector: f64,
    /// How the two become one.
    pub fusion: Fusion,
    /// The share of the final score that importance, age and sightings decide.
    pub prior: f64,
    /// The mean itself is the relevance, as the memory system's design has it; otherwise it is lifted to what a reader
    /// takes for it, see [`lifted`].
    pub is_raw: bool,
    /// What scores less is left out.
    pub min_score: f64,
    /// How many results there are where nobody says how many.
    pub results: Option<u32>,
}

/// The default: what measured best over all labelled sets.
pub const DEFAULT: Profile = Profile {
    name: "default",
    text: 0.6,
    vector: 0.4,
    fusion: Fusion::Weighted,
    prior: 0.05,
    is_raw: false,
    min_score: 0.0,
    results: None,
};

/// All that can be asked for by name.
pub const PROFILES: [Profile; 5] = [
    DEFAULT,
    // The words alone.
    Profile { name: "text", text: 1.0, vector: 0.0, ..DEFAULT },
    // The vectors alone.
    Profile { name: "vector", text: 0.0, vector: 1.0, ..DEFAULT },
    Profile { name: "rrf", text: 0.5, vector: 0.5, fusion: Fusion::ReciprocalRank, ..DEFAULT },
    // The figures of the memory system's design.
    Profile { name: "seed", text: 0.3, vector: 0.7, prior: 0.0, is_raw: true, min_score: 0.35, results: Some(6), ..DEFAULT },
];

/// The profile of that name.
pub fn profile(name: &str) -> Option<&'static Profile> {
    static ALL: [Profile; 5] = PROFILES;
    ALL.iter().find(|profile| profile.name == name)
}

/// A piece that was found.
#[derive(Clone, Debug)]
pub struct Candidate<Id> {
    /// The memory.
    pub id: Id,
    /// Its session's identifier.
    pub session: String,
    /// Its kind.
    pub kind: String,
    /// How well its words answer; the more the better.
    pub bm25: f64,
    /// The cosine of its vector with the query's; none where one of them has none.
    pub cosine: Option<f64>,
    /// 0 to 1.
    pub importance: f64,
    /// When it was learned; milliseconds since the Unix epoch.
    pub created: i64,
    /// In how many places it was learned; at least 1.
    pub seen: u32,
    /// How often it was looked up or shown.
    pub accessed: u32,
    /// The same for two memories that say the same.
    pub said: u64,
}

/// What the scores depend on besides the memory.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The clock; milliseconds since the Unix epoch.
    pub now: i64,
    /// See [`super::score::Words::ideal`].
    pub ideal: f64,
    /// The share of the query that the model of the vectors knows, 0 to 1; 0 where there are no vectors.
    pub known: f64,
    /// How many words the query has.
    pub words: f64,
    /// How to rank.
    pub profile: &'a Profile,
}

/// A memory in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked<Id> {
    /// The memory.
    pub id: Id,
    /// 0 to 1, never more than the one above it.
    pub score: f64,
    /// Where the score comes from.
    pub why: Why,
}

/// Where a score comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Why {
    /// BM25 of its best piece.
    pub bm25: f64,
    /// What other pieces of its session add to that.
    pub session: f64,
    /// What both come to, 0 to 1.
    pub text: f64,
    /// The cosine of its nearest piece with the query.
    pub cosine: Option<f64>,
    /// What that comes to, 0 to 1.
    pub vector: Option<f64>,
    /// The share that the vector has in the relevance, 0 to 1.
    pub vector_share: f64,
    /// Text and vector in one, 0 to 1.
    pub relevance: f64,
    /// Importance, freshness and sightings, 0 to 1.
    pub prior: f64,
    /// What the score was multiplied with because its session stands above it already.
    pub repeat: f64,
}

/// The first `limit` memories of `candidates`, best first.
pub fn rank<Id: Ord + Clone + std::hash::Hash>(
    mut candidates: Vec<Candidate<Id>>,
    setting: &Setting<'_>,
    limit: usize,
) -> Vec<Ranked<Id>> {
    for candidate in &mut candidates {
        candidate.bm25 = if candidate.bm25.is_finite() { candidate.bm25.max(0.0) } else { 0.0 };
        candidate.cosine = candidate.cosine.filter(|cosine| cosine.is_finite());
    }
    candidates.sort_by(|a, b| {
        b.bm25
            .total_cmp(&a.bm25)
            .then(b.cosine.unwrap_or(-1.0).total_cmp(&a.cosine.unwrap_or(-1.0)))
            .then(b.created.cmp(&a.created))
            .then(a.id.cmp(&b.id))
    });
    if setting.profile.text > 0.0 {
        candidates.retain(|it| it.bm25 > 0.0 || it.cosine.is_some_and(|cosine| cosine >= NEAR_ENOUGH));
    }
    let support = support(&candidates);
    let memories = best_pieces(candidates);
    let ranks = match setting.profile.fusion {
        Fusion::Weighted => None,
        Fusion::ReciprocalRank => Some(reciprocal(&memories)),
    };
    let mut scored: Vec<(f64, Candidate<Id>, Why)> = memories
        .into_iter()
        .enumerate()
        .map(|(n, candidate)| {
            let support = support.get(&candidate.session).map_or(0.0, |&(sum, _)| sum);
            let mut why = why(&candidate, support, setting);
            if let Some((text, vector)) = ranks.as_ref().map(|ranks| ranks[n]) {
                (why.text, why.vector) = (text, why.vector.map(|_| vector));
                combine(&mut why, setting);
            }
            let prior = setting.profile.prior;
            (why.relevance * (1.0 - prior + prior * why.prior), candidate, why)
        })
        .collect();
    // Stable: what scores alike stays in the order of BM25, cosine, age and identifier.
    scored.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
    let mut said = HashSet::new();
    scored.retain(|(_, candidate, _)| said.insert(candidate.said));
    spread(scored, setting.profile.min_score, limit)
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

/// Each memory once: with its best piece's words, and its nearest piece's cosine.
fn best_pieces<Id: Ord + Clone + std::hash::Hash>(candidates: Vec<Candidate<Id>>) -> Vec<Candidate<Id>> {
    let mut places: HashMap<Id, usize> = HashMap::new();
    let mut memories: Vec<Candidate<Id>> = Vec::new();
    for candidate in candidates {
        if let Some(&place) = places.get(&candidate.id) {
            let best = &mut memories[place];
            if candidate.cosine > best.cosine {
                best.cosine = candidate.cosine;
            }
        } else {
            places.insert(candidate.id.clone(), memories.len());
            memories.push(candidate);
        }
    }
    memories
}

/// What a cosine says. Two texts that have nothing to do with one another are about [`UNRELATED`] apart.
fn nearness(cosine: f64) -> f64 {
    ((cosine - UNRELATED) / (1.0 - UNRELATED)).clamp(0.0, 1.0)
}

/// See [`nearness`].
const UNRELATED: f64 = 0.0;

fn why<Id>(candidate: &Candidate<Id>, support: f64, setting: &Setting<'_>) -> Why {
    let bm25 = candidate.bm25 + support;
    let half = HALF_AT * setting.ideal.max(f64::MIN_POSITIVE);
    let mut why = Why {
        bm25: candidate.bm25,
        session: support,
        text: bm25 / (bm25 + half),
        cosine: candidate.cosine,
        vector: candidate.cosine.map(nearness),
        prior: prior(candidate, setting.now),
        repeat: 1.0,
        ..Why::default()
    };
    combine(&mut why, setting);
    why
}

/// Text and vector become the relevance.
fn combine(why: &mut Why, setting: &Setting<'_>) {
    let profile = setting.profile;
    let vector = if why.vector.is_some() {
        profile.vector * setting.known.clamp(0.0, 1.0) * (FEW_WORDS / setting.words.max(1.0)).min(1.0)
    } else {
        0.0
    };
    let all = profile.text + vector;
    why.vector_share = if all > 0.0 { vector / all } else { 0.0 };
    let text = if profile.text > 0.0 { why.text } else { 0.0 };
    let relevance = text * (1.0 - why.vector_share) + why.vector.unwrap_or(0.0) * why.vector_share;
    why.relevance = if profile.is_raw { relevance } else { lifted(relevance) };
}

/// A memory of the usual length that holds every word of the query, and of whose meaning nothing is known, answers it two
/// thirds, and one that holds a quarter of what they weigh, one third. The order stays what it was.
fn lifted(relevance: f64) -> f64 {
    2.0 * relevance / (1.0 + relevance)
}

/// Of each memory the reciprocal ranks by words and by vector, from 1 downward.
#[expect(clippy::cast_precision_loss, reason = "some hundred")]
fn reciprocal<Id>(memories: &[Candidate<Id>]) -> Vec<(f64, f64)> {
    let mut ranks = vec![(0.0, 0.0); memories.len()];
    let of = |place: usize| (RRF_K + 1.0) / (RRF_K + 1.0 + place as f64);
    for (place, rank) in ranks.iter_mut().enumerate().filter(|(n, _)| memories[*n].bm25 > 0.0) {
        rank.0 = of(place);
    }
    let mut nearest: Vec<usize> = (0..memories.len()).filter(|&n| memories[n].cosine.is_some()).collect();
    nearest.sort_by(|&a, &b| memories[b].cosine.unwrap_or(-1.0).total_cmp(&memories[a].cosine.unwrap_or(-1.0)));
    for (place, n) in nearest.into_iter().enumerate() {
        ranks[n].1 = of(place);
    }
    ranks
}

fn prior<Id>(candidate: &Candidate<Id>, now: i64) -> f64 {
    worth(candidate.importance, candidate.created, candidate.seen, candidate.accessed, now)
}

/// 0 to 1: what speaks for a memory before anything is asked, from its importance, when it was learned, in how many places, and how
/// often it was looked up or shown. Searches part equals by it, and what is folded into digests is chosen by it.
#[expect(clippy::cast_precision_loss, reason = "a time in milliseconds is exact, and days need not be")]
pub fn worth(importance: f64, created: i64, seen: u32, accessed: u32, now: i64) -> f64 {
    let days = now.saturating_sub(created).max(0) as f64 / 86_400_000.0;
    let fresh = 0.5_f64.powf(days / HALF_LIFE_DAYS);
    let importance = if importance.is_nan() { 0.0 } else { importance.clamp(0.0, 1.0) };
    let often = |times: u32| 1.0 - 1.0 / (1.0 + f64::from(times));
    0.6 * importance + 0.2 * fresh + 0.15 * often(seen.max(1) - 1) + 0.05 * often(accessed)
}

/// Takes the best again and again, each time with what its session has already shown set against it.
fn spread<Id: Clone>(mut scored: Vec<(f64, Candidate<Id>, Why)>, min_score: f64, limit: usize) -> Vec<Ranked<Id>> {
    let mut shown: HashMap<String, i32> = HashMap::new();
    let mut ranked = Vec::with_capacity(limit.min(scored.len()));
    while ranked.len() < limit {
        let mut best: Option<(usize, f64, f64)> = None;
        for (n, (score, candidate, _)) in scored.iter().enumerate() {
            // The list is in order and nothing rises: no later one can do better.
            if best.is_some_and(|(_, best, _)| *score <= best) {
                break;
            }
            let kept: f64 = if candidate.kind == TURN { REPEATED_TURN } else { REPEAT };
            let kept = kept.powi(shown.get(&candidate.session).copied().unwrap_or(0));
            if best.is_none_or(|(_, best, _)| score * kept > best) {
                best = Some((n, score * kept, kept));
            }
        }
        let Some((n, score, repeat)) = best.filter(|&(_, score, _)| score >= min_score) else { break };
        let (_, candidate, why) = scored.remove(n);
        *shown.entry(candidate.session).or_default() += 1;
        ranked.push(Ranked { id: candidate.id, score, why: Why { repeat, ..why } });
    }
    ranked
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const SETTING: Setting<'_> = Setting { now: 100 * 86_400_000, ideal: 10.0, known: 1.0, words: 4.0, profile: &DEFAULT };

    fn candidate(id: u32, session: &str, bm25: f64) -> Candidate<u32> {
        Candidate {
            id,
            session: session.into(),
            kind: "learning".into(),
            bm25,
            cosine: None,
            importance: 0.5,
            created: 0,
            seen: 1,
            accessed: 0,
            said: u64::from(id),
        }
    }

    fn order(candidates: Vec<Candidate<u32>>) -> Vec<u32> {
        rank(candidates, &SETTING, 20).into_iter().map(|ranked| ranked.id).collect()
    }

    #[test]
    fn a_memory_stands_once_at_its_best_piece() {
        let pieces = vec![candidate(1, "a", 2.0), candidate(2, "b", 5.0), candidate(1, "a", 9.0)];
        assert_eq!(order(pieces), [1, 2]);
    }

    #[test]
    fn importance_age_and_sightings_part_equals_but_do_not_beat_relevance() {
        let plain = candidate(1, "a", 5.0);
        let important = Candidate { importance: 0.9, ..candidate(2, "b", 5.0) };
        let fresh = Candidate { created: SETTING.now, ..candidate(3, "c", 5.0) };
        let confirmed = Candidate { seen: 4, ..candidate(4, "d", 5.0) };
        for better in [important, fresh, confirmed] {
            let id = better.id;
            assert_eq!(order(vec![plain.clone(), better]), [id, 1]);
        }
        let relevant = Candidate { importance: 0.0, ..candidate(5, "e", 10.0) };
        let dear = Candidate { importance: 1.0, created: SETTING.now, seen: 9, ..candidate(6, "f", 5.0) };
        assert_eq!(order(vec![dear, relevant]), [5, 6]);
    }

    #[test]
    fn a_session_does_not_take_every_place() {
        let turn = |id, session, bm25| Candidate { kind: "turn".into(), ..candidate(id, session, bm25) };
        let turns = vec![turn(1, "a", 10.0), turn(2, "a", 9.8), turn(3, "a", 9.6), turn(4, "b", 8.0)];
        assert_eq!(order(turns), [1, 4, 2, 3]);
        let dense = vec![candidate(1, "a", 10.0), candidate(2, "a", 9.8), candidate(3, "b", 7.0)];
        assert_eq!(order(dense), [1, 2, 3], "decisions of one session may stand together");
    }

    #[test]
    fn a_session_that_is_about_the_matter_is_before_one_that_mentions_it() {
        let about = vec![candidate(1, "a", 8.0), candidate(2, "b", 8.0), candidate(3, "b", 7.0)];
        assert_eq!(order(about)[0], 2);
    }

    #[test]
    fn what_was_found_by_its_meaning_alone_is_kept_where_it_is_near() {
        let far = Candidate { cosine: Some(NEAR_ENOUGH - 0.05), ..candidate(1, "a", 0.0) };
        let near = Candidate { cosine: Some(0.6), ..candidate(2, "b", 0.0) };
        let said = candidate(3, "c", 4.0);
        let both = Candidate { cosine: Some(0.6), ..candidate(4, "d", 4.0) };
        assert_eq!(order(vec![far.clone(), near, said, both]), [4, 3, 2]);
        let vectors = Setting { profile: profile("vector").unwrap(), ..SETTING };
        assert_eq!(rank(vec![far], &vectors, 9).len(), 1);
    }

    #[test]
    fn a_vector_counts_for_no_more_than_the_model_knows_of_the_query() {
        let near = || vec![Candidate { cosine: Some(0.9), ..candidate(1, "a", 1.0) }];
        let score = |known, words| rank(near(), &Setting { known, words, ..SETTING }, 1)[0].score;
        assert!(score(1.0, 3.0) > score(0.5, 3.0) && score(0.5, 3.0) > score(0.0, 3.0));
        assert!(score(1.0, 3.0) > score(1.0, 20.0), "a long query says enough by its words");
        let without = rank(vec![candidate(1, "a", 1.0)], &SETTING, 1)[0].score;
        assert!((score(0.0, 3.0) - without).abs() < 1e-9, "a memory without a vector loses nothing");
    }

    #[test]
    fn what_says_the_same_stands_once() {
        let twice = vec![Candidate { said: 7, ..candidate(1, "a", 5.0) }, Candidate { said: 7, ..candidate(2, "b", 4.0) }];
        assert_eq!(order(twice), [1]);
    }

    #[test]
    fn what_holds_the_words_scores_high_and_what_mentions_one_low() {
        let score = |bm25| rank(vec![candidate(1, "a", bm25)], &SETTING, 1)[0].score;
        assert!(score(10.0) > 0.55, "{}", score(10.0));
        assert!(score(1.5) < 0.25, "{}", score(1.5));
        assert!(rank(vec![candidate(1, "a", 0.0)], &SETTING, 1).is_empty());
    }

    proptest! {
        #[test]
        fn scores_are_in_range_in_order_and_do_not_depend_on_the_input_s_order(
            rows in proptest::collection::vec(
                (0u32..20, 0u8..4, prop_oneof![-0.5..20.0f64, Just(f64::NAN), Just(f64::INFINITY)], any::<f64>(), any::<i64>(), any::<u32>()), 0..60),
            ideal in prop_oneof![0.0..50.0f64, Just(0.0)], limit in 0usize..30,
        ) {
            let session = |id: u32| format!("s{}", id % 4);
            // A memory's facts are the same in all of its pieces.
            let first = |id: u32| rows.iter().find(|row| row.0 == id).copied().unwrap();
            let candidates: Vec<Candidate<u32>> = rows.iter().map(|&(id, _, bm25, ..)| {
                let (_, kind, _, importance, created, seen) = first(id);
                let kind = if kind == 0 { TURN } else { "learning" }.into();
                Candidate { kind, importance, created, seen, ..candidate(id, &session(id), bm25) }
            }).collect();
            let setting = Setting { ideal, ..SETTING };
            let ranked = rank(candidates.clone(), &setting, limit);
            prop_assert!(ranked.iter().all(|one| (0.0..=1.0).contains(&one.score)), "{ranked:?}");
            prop_assert!(ranked.is_sorted_by(|a, b| a.score >= b.score), "{ranked:?}");
            let ids: BTreeSet<u32> = ranked.iter().map(|one| one.id).collect();
            prop_assert_eq!(ids.len(), ranked.len());
            let has_words = |one: &&Candidate<u32>| one.bm25 > 0.0 && one.bm25.is_finite();
            let distinct: BTreeSet<u32> = candidates.iter().filter(has_words).map(|one| one.id).collect();
            prop_assert_eq!(ranked.len(), distinct.len().min(limit));
            let reversed = rank(candidates.into_iter().rev().collect(), &setting, limit);
            prop_assert_eq!(
                reversed.iter().map(|one| one.id).collect::<Vec<_>>(),
                ranked.iter().map(|one| one.id).collect::<Vec<_>>()
            );
        }
    }
}
