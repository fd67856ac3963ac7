//! Ranks found memories, scores each from 0 to 1, and explains the scores.
//!
//! 1. A memory scores as its best piece does, plus a little for the other pieces of its session. If the query has identifiers or
//!    paths as they were written, what the session's memories say of them is added up: a session in which a name stands in many
//!    memories is about it.
//! 2. Its BM25 score is mapped to a relevance between 0 and 1 that is comparable across queries and database sizes; so
//!    is the cosine of its vector and the query's. A [`Profile`] says how much each counts. If a memory was found by
//!    one of them only, the other is computed too, so nothing is lost for matching by words only or by meaning only.
//! 3. Importance, age, and how often a memory was seen or looked at adjust the score slightly. They break ties but do
//!    not outweigh relevance. BM25 and age are part of this one ranking of all searches; `note recall` has no other.
//! 4. Archived turns of a session that is already listed are demoted, so that one session does not fill the top of the
//!    list. A memory that says the same as one above it is dropped.

use std::collections::{HashMap, HashSet};

/// How many pieces each search method should return.
pub const MAX_CANDIDATES: usize = 200;

/// The half-life of a memory's freshness, in days.
const HALF_LIFE_DAYS: f64 = 30.0;

/// The kind of archived turns.
const TURN_KIND: &str = "turn";

/// The factor applied to the score of an archived turn for each memory of the same session ranked above it: turns are long
/// and match many words. Other memories keep their scores. When they lost 8 % each time, 350 questions about messages of real
/// chats found .500 of the right messages among the first ten, instead of .536.
const REPEATED_TURN_FACTOR: f64 = 0.75;

/// The share of the ideal BM25 at which textual relevance is one half. A piece of the usual length scores one half or
/// more if it has every word of the query, and one sixth if it has a fifth of their total weight.
const HALF_AT: f64 = 1.0;

/// What the second-best piece of a session adds to a memory's BM25, as a share of that piece's own; the third adds the
/// square of this share, and so on. A session about the topic is trusted more than one that mentions it.
const SESSION_SHARE: f64 = 0.05;

/// The share by which vectors count less if the whole query is names. A model knows the parts of a name, but not what has the name.
/// It was set on questions by name about 24 sessions; docs/performance.md has the figures.
const NAMES_OVER_VECTORS: f64 = 0.85;

/// The minimum cosine of a memory that has none of the query's words. With the built-in model, loose paraphrases have
/// cosines of 0.1 to 0.4, and close ones more; of unrelated texts, one in fourteen reaches this value. A search for
/// rare words must not end in a list of everything.
pub const MIN_COSINE: f64 = 0.2;

/// Above this number of words, vectors count less. The words of a long query describe its topic well enough, and its
/// mean vector resembles everything.
const SHORT_QUERY_WORDS: f64 = 2.0;

/// The constant of reciprocal rank fusion, as in the original paper (Cormack, Clarke and Büttcher, 2009).
const RRF_K: f64 = 60.0;

/// The factor for what a colleague shared: it comes after one's own word of equal relevance, and before what is less relevant by
/// more than this.
const COLLEAGUE_FACTOR: f64 = 0.98;

/// The factor applied to the score of a memory whose place a later one took.
const SUPERSEDED_FACTOR: f64 = 0.5;

/// If a later memory may have changed an earlier one, the share of the earlier one's score that the later one needs on its own
/// to rank above it. A search that the later one does not match may be about something else that the earlier one says. What likely
/// changed it needs little: "make it 15" has none of the words that one searches for. With nothing at all, what seemed to have
/// changed many others led every prompt about a product of 57 conversations.
const LIKELY_SHARE: f64 = 0.08;
const POSSIBLE_SHARE: f64 = 0.2;

/// The same in a search that somebody asked for. It lists both, so a wrong link costs one place.
const ASKED_LIKELY_SHARE: f64 = 0.0;
const ASKED_POSSIBLE_SHARE: f64 = 0.1;

/// How textual and vector relevance are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// Their weighted mean.
    Weighted,
    /// Weighted reciprocal ranks; the scores themselves are ignored.
    ReciprocalRank,
}

/// A set of ranking parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// The name that users select it by.
    pub name: &'static str,
    /// The weight of the words.
    pub text: f64,
    /// The weight of the vectors, if the model knows all of the query.
    pub vector: f64,
    /// How the two are combined.
    pub fusion: Fusion,
    /// The share of the final score that importance, age and occurrences decide.
    pub prior: f64,
    /// The share of their BM25 that further pieces of a session add to its memories, see [`SESSION_SHARE`].
    pub session: f64,
    /// The share of [`Candidate::names`] that is added to a memory's BM25.
    pub names: f64,
    /// Whether a memory that took the place of another one, or likely changed it, gets its score.
    pub follows_links: bool,
    /// Whether the mean itself is the relevance, as in the memory system's design. Otherwise it is rescaled to match
    /// what a reader expects of such a number, see [`rescale_relevance`].
    pub is_raw: bool,
    /// The minimum score of a result.
    pub min_score: f64,
    /// The default number of results, if the profile sets one.
    pub results: Option<u32>,
}

/// The default profile: the one that measured best over all labelled sets.
pub const DEFAULT_PROFILE: Profile = Profile {
    name: "default",
    text: 0.6,
    vector: 0.4,
    fusion: Fusion::Weighted,
    prior: 0.05,
    session: SESSION_SHARE,
    names: 1.0,
    follows_links: true,
    is_raw: false,
    min_score: 0.0,
    results: None,
};

/// All profiles that can be selected by name.
pub const PROFILES: [Profile; 5] = [
    DEFAULT_PROFILE,
    // Words only.
    Profile { name: "text", text: 1.0, vector: 0.0, ..DEFAULT_PROFILE },
    // Vectors only.
    Profile { name: "vector", text: 0.0, vector: 1.0, ..DEFAULT_PROFILE },
    Profile { name: "rrf", text: 0.5, vector: 0.5, fusion: Fusion::ReciprocalRank, ..DEFAULT_PROFILE },
    // The parameters of the memory system's design.
    Profile {
        name: "seed",
        text: 0.3,
        vector: 0.7,
        prior: 0.0,
        is_raw: true,
        min_score: 0.35,
        results: Some(6),
        ..DEFAULT_PROFILE
    },
];

/// The default profile without one of its steps each, to measure what the step does. No step may lose to leaving it out.
/// Without vectors it is the profile `text`.
pub const ABLATIONS: [Profile; 4] = [
    Profile { name: "without-prior", prior: 0.0, ..DEFAULT_PROFILE },
    Profile { name: "without-session", session: 0.0, ..DEFAULT_PROFILE },
    Profile { name: "without-names", names: 0.0, ..DEFAULT_PROFILE },
    Profile { name: "without-links", follows_links: false, ..DEFAULT_PROFILE },
];

/// Returns the profile of that name.
pub fn find_profile(name: &str) -> Option<&'static Profile> {
    static ALL: [Profile; 5] = PROFILES;
    static WITHOUT: [Profile; 4] = ABLATIONS;
    ALL.iter().chain(&WITHOUT).find(|profile| profile.name == name)
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
    /// The BM25 score; higher is better.
    pub bm25: f64,
    /// The score of the query's names in all found memories of its session, in the unit of BM25; see
    /// [`super::score::WeightedWords::score_names`].
    pub names: f64,
    /// The cosine of its vector and the query's, or `None` if either has no vector.
    pub cosine: Option<f64>,
    /// The importance, 0 to 1.
    pub importance: f64,
    /// When it was learned, in milliseconds since the Unix epoch.
    pub created: i64,
    /// The number of its occurrences; at least 1.
    pub seen: u32,
    /// How often it was looked up or shown.
    pub accessed: u32,
    /// A hash of the content: equal for two memories that say the same.
    pub content_hash: u64,
    /// Whether a colleague shared it.
    pub is_colleagues: bool,
    /// What holds now, if a later memory took its place.
    pub head: Option<Id>,
    /// The later memories about the same that may have changed it, the oldest first, if none took its place.
    pub later: Vec<Later<Id>>,
}

/// A later memory about the same that may have changed an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Later<Id> {
    /// The later memory.
    pub id: Id,
    /// Whether more speaks for a change than against it.
    pub is_likely: bool,
    /// Whether the two are similar enough that the earlier one is in doubt.
    pub is_doubt: bool,
}

/// The inputs of the scores besides the memories.
#[derive(Clone, Copy, Debug)]
pub struct RankingContext<'a> {
    /// The current time, in milliseconds since the Unix epoch.
    pub now: i64,
    /// See [`super::score::WeightedWords::ideal`].
    pub ideal: f64,
    /// The share of the query that the embedding model knows, 0 to 1; 0 if there are no vectors.
    pub known: f64,
    /// How many words the query has.
    pub words: f64,
    /// Which share of the query are names, 0 to 1, see [`super::score::WeightedWords::share_of_names`]; 0 to rank them as other
    /// words.
    pub names: f64,
    /// The ranking parameters.
    pub profile: &'a Profile,
    /// Whether nobody asked for the search. Memories whose place a later one took are left out, and what likely changed a memory must
    /// match a little to stand before it.
    pub is_unasked: bool,
}

/// A ranked memory.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedMemory<Id> {
    /// The memory.
    pub id: Id,
    /// The score, 0 to 1; scores never increase down the list.
    pub score: f64,
    /// How the score was computed.
    pub why: ScoreExplanation,
    /// The latest memory about the same that puts it in doubt: of several, the latest that the query is about as well.
    pub later: Option<Id>,
}

/// The components of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScoreExplanation {
    /// BM25 of its best piece.
    pub bm25: f64,
    /// What other pieces of its session, and the names in all of them, add to that.
    pub session: f64,
    /// The textual relevance computed from both, 0 to 1.
    pub text: f64,
    /// The cosine of its nearest piece and the query.
    pub cosine: Option<f64>,
    /// The vector relevance computed from the cosine, 0 to 1.
    pub vector: Option<f64>,
    /// The share of the vector in the relevance, 0 to 1.
    pub vector_share: f64,
    /// The combined relevance of text and vector, 0 to 1.
    pub relevance: f64,
    /// Importance, freshness and occurrences, 0 to 1.
    pub prior: f64,
    /// The factor applied because its session is already listed above it.
    pub repeat: f64,
}

/// Returns the best `limit` memories of `candidates`, best first. A memory whose place another one took comes after that
/// one.
pub fn rank<Id: Ord + Copy + std::hash::Hash>(
    mut candidates: Vec<Candidate<Id>>,
    setting: &RankingContext<'_>,
    limit: usize,
) -> Vec<RankedMemory<Id>> {
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
        let heads: HashSet<Id> = candidates.iter().flat_map(Candidate::preferred).collect();
        candidates
            .retain(|it| it.bm25 > 0.0 || it.cosine.is_some_and(|cosine| cosine >= MIN_COSINE) || heads.contains(&it.id));
    }
    let support = support(&candidates, setting.profile.session);
    let memories = best_pieces(candidates);
    let ranks = match setting.profile.fusion {
        Fusion::Weighted => None,
        Fusion::ReciprocalRank => Some(reciprocal_ranks(&memories)),
    };
    let mut scored: Vec<(f64, Candidate<Id>, ScoreExplanation)> = memories
        .into_iter()
        .enumerate()
        .map(|(n, candidate)| {
            let names = setting.profile.names * setting.names * candidate.names;
            let support = support.get(&candidate.session).map_or(0.0, |&(sum, _)| sum) + names;
            let mut why = why(&candidate, support, setting);
            if let Some((text, vector)) = ranks.as_ref().map(|ranks| ranks[n]) {
                (why.text, why.vector) = (text, why.vector.map(|_| vector));
                combine(&mut why, setting);
            }
            let prior = setting.profile.prior;
            let trust = if candidate.is_colleagues { COLLEAGUE_FACTOR } else { 1.0 };
            (trust * why.relevance * (1.0 - prior + prior * why.prior), candidate, why)
        })
        .collect();
    let heads = if setting.profile.follows_links { prefer_heads(&mut scored, setting.is_unasked) } else { HashMap::new() };
    let doubts: HashMap<Id, Vec<Id>> = scored.iter().map(|(_, it, _)| (it.id, it.doubts().collect())).collect();
    if setting.is_unasked {
        scored.retain(|(_, it, _)| it.head.is_none());
    }
    // The sort is stable: equal scores stay in the order of BM25, cosine, age and identifier.
    scored.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
    let mut said = HashSet::new();
    scored.retain(|(_, candidate, _)| said.insert(candidate.content_hash));
    let mut ranked = diversify(scored, setting.profile.min_score, limit);
    put_heads_first(&mut ranked, &heads);
    for it in &mut ranked {
        let doubts = doubts.get(&it.id).map_or(&[][..], Vec::as_slice);
        let raised = heads.get(&it.id).and_then(|heads| heads.iter().rev().find(|head| doubts.contains(head)));
        it.later = raised.or(doubts.last()).copied();
    }
    ranked
}

impl<Id: Copy> Candidate<Id> {
    /// Returns what may stand before it though it has no word of the search.
    pub fn preferred(&self) -> impl Iterator<Item = Id> + '_ {
        self.head.into_iter().chain(self.later.iter().filter(|it| it.is_likely).map(|it| it.id))
    }

    /// Returns what puts it in doubt, the oldest first.
    fn doubts(&self) -> impl Iterator<Item = Id> + '_ {
        self.later.iter().filter(|it| it.is_doubt).map(|it| it.id)
    }
}

impl<Id> Later<Id> {
    /// Returns the share of the earlier memory's score that it needs to stand before it.
    fn least_share(&self, is_unasked: bool) -> f64 {
        match (self.is_likely, is_unasked) {
            (true, false) => ASKED_LIKELY_SHARE,
            (false, false) => ASKED_POSSIBLE_SHARE,
            (true, true) => LIKELY_SHARE,
            (false, true) => POSSIBLE_SHARE,
        }
    }
}

/// Gives a current memory at least the score of the memory that it superseded, and lowers the score of the superseded one. A
/// later memory that may have changed an earlier one gets the latter's score too, if it matches well enough
/// ([`Later::least_share`]); the latter keeps its own. Returns which memories must stand before which: by the earlier one, the
/// later ones, the oldest first.
fn prefer_heads<Id: Ord + Copy + std::hash::Hash>(
    scored: &mut [(f64, Candidate<Id>, ScoreExplanation)],
    is_unasked: bool,
) -> HashMap<Id, Vec<Id>> {
    let mut heads: HashMap<Id, Vec<Id>> = HashMap::new();
    if scored.iter().all(|(_, it, _)| it.head.is_none() && it.later.is_empty()) {
        return heads;
    }
    let places: HashMap<Id, usize> = scored.iter().enumerate().map(|(at, (_, it, _))| (it.id, at)).collect();
    // Their own scores, because one that was raised must not raise others that are worse.
    let own: Vec<f64> = scored.iter().map(|(score, ..)| *score).collect();
    let mut order: Vec<usize> = (0..scored.len()).collect();
    order.sort_by_key(|&at| (scored[at].1.created, scored[at].1.id));
    for at in order {
        let (score, it) = (scored[at].0, &scored[at].1);
        let (id, head) = (it.id, it.head);
        if let Some(head) = head {
            if let Some(&place) = places.get(&head) {
                scored[place].0 = scored[place].0.max(score);
                scored[at].0 *= SUPERSEDED_FACTOR;
            }
            heads.insert(id, vec![head]);
            continue;
        }
        for later in it.later.clone() {
            let Some(&place) = places.get(&later.id) else { continue };
            if own[place] >= later.least_share(is_unasked) * score {
                scored[place].0 = scored[place].0.max(score);
                heads.entry(id).or_default().push(later.id);
            }
        }
    }
    heads
}

/// Puts each memory of the list before those whose place it took, which repeats of one session may have undone.
fn put_heads_first<Id: Ord + Copy + std::hash::Hash>(ranked: &mut [RankedMemory<Id>], heads: &HashMap<Id, Vec<Id>>) {
    for at in 0..ranked.len() {
        // The memory that was inserted here may itself have been replaced. There is no circle, but the loop must end
        // whatever is stored.
        for _ in at..ranked.len() {
            let below = |head: &Id| ranked.iter().skip(at + 1).any(|it| it.id == *head);
            let Some(head) = heads.get(&ranked[at].id).and_then(|heads| heads.iter().rev().find(|head| below(head))) else {
                break;
            };
            let Some(place) = ranked.iter().position(|it| it.id == *head) else { break };
            let score = ranked[at].score;
            ranked[at..=place].rotate_right(1);
            ranked[at].score = score;
        }
    }
}

/// Returns, for each session, what its pieces after the best one add to each of its memories, and the share that the
/// next piece would get. `candidates` must be sorted best first.
fn support<Id>(candidates: &[Candidate<Id>], session: f64) -> HashMap<String, (f64, f64)> {
    let mut support: HashMap<String, (f64, f64)> = HashMap::new();
    for candidate in candidates {
        match support.get_mut(&candidate.session) {
            Some((sum, share)) => {
                *sum += *share * candidate.bm25;
                *share *= session;
            }
            None => {
                support.insert(candidate.session.clone(), (0.0, session));
            }
        }
    }
    support
}

/// Merges pieces into memories: each gets the words of its best piece and the cosine of its nearest piece.
fn best_pieces<Id: Ord + Copy + std::hash::Hash>(candidates: Vec<Candidate<Id>>) -> Vec<Candidate<Id>> {
    let mut places: HashMap<Id, usize> = HashMap::new();
    let mut memories: Vec<Candidate<Id>> = Vec::new();
    for candidate in candidates {
        if let Some(&place) = places.get(&candidate.id) {
            let best = &mut memories[place];
            if candidate.cosine > best.cosine {
                best.cosine = candidate.cosine;
            }
        } else {
            places.insert(candidate.id, memories.len());
            memories.push(candidate);
        }
    }
    memories
}

/// Maps a cosine to a relevance. Unrelated texts have a cosine of about [`UNRELATED_COSINE`].
fn normalize_cosine(cosine: f64) -> f64 {
    ((cosine - UNRELATED_COSINE) / (1.0 - UNRELATED_COSINE)).clamp(0.0, 1.0)
}

/// See [`normalize_cosine`].
const UNRELATED_COSINE: f64 = 0.0;

fn why<Id>(candidate: &Candidate<Id>, support: f64, setting: &RankingContext<'_>) -> ScoreExplanation {
    let bm25 = candidate.bm25 + support;
    let half = HALF_AT * setting.ideal.max(f64::MIN_POSITIVE);
    let mut why = ScoreExplanation {
        bm25: candidate.bm25,
        session: support,
        text: bm25 / (bm25 + half),
        cosine: candidate.cosine,
        vector: candidate.cosine.map(normalize_cosine),
        prior: prior(candidate, setting.now),
        repeat: 1.0,
        ..ScoreExplanation::default()
    };
    combine(&mut why, setting);
    why
}

/// Combines text and vector into the relevance.
fn combine(why: &mut ScoreExplanation, setting: &RankingContext<'_>) {
    let profile = setting.profile;
    let vector = if why.vector.is_some() {
        let words = 1.0 - NAMES_OVER_VECTORS * profile.names * setting.names;
        profile.vector * setting.known.clamp(0.0, 1.0) * words * (SHORT_QUERY_WORDS / setting.words.max(1.0)).min(1.0)
    } else {
        0.0
    };
    let all = profile.text + vector;
    why.vector_share = if all > 0.0 { vector / all } else { 0.0 };
    let text = if profile.text > 0.0 { why.text } else { 0.0 };
    let relevance = text * (1.0 - why.vector_share) + why.vector.unwrap_or(0.0) * why.vector_share;
    why.relevance = if profile.is_raw { relevance } else { rescale_relevance(relevance) };
}

/// Rescales a relevance without changing the order. A memory of the usual length whose vector is unknown scores two
/// thirds if it has every word of the query, and one third if it has a quarter of their total weight.
fn rescale_relevance(relevance: f64) -> f64 {
    2.0 * relevance / (1.0 + relevance)
}

/// Returns, for each memory, the reciprocal ranks by words and by vector, at most 1.
#[expect(clippy::cast_precision_loss, reason = "some hundred")]
fn reciprocal_ranks<Id>(memories: &[Candidate<Id>]) -> Vec<(f64, f64)> {
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
    prior_score(candidate.importance, candidate.created, candidate.seen, candidate.accessed, now)
}

/// Returns a memory's prior from 0 to 1, independent of any query. It depends on importance, age, the number of
/// occurrences, and how often the memory was looked up or shown. Search uses it to break ties, and compression uses it
/// to choose what to fold into digests.
#[expect(clippy::cast_precision_loss, reason = "a time in milliseconds is exact, and days need not be")]
pub fn prior_score(importance: f64, created: i64, seen: u32, accessed: u32, now: i64) -> f64 {
    let days = now.saturating_sub(created).max(0) as f64 / 86_400_000.0;
    let fresh = 0.5_f64.powf(days / HALF_LIFE_DAYS);
    let importance = if importance.is_nan() { 0.0 } else { importance.clamp(0.0, 1.0) };
    let often = |times: u32| 1.0 - 1.0 / (1.0 + f64::from(times));
    0.6 * importance + 0.2 * fresh + 0.15 * often(seen.max(1) - 1) + 0.05 * often(accessed)
}

/// Selects the best memory repeatedly, each time demoting archived turns of sessions that are already listed.
fn diversify<Id: Copy>(
    mut scored: Vec<(f64, Candidate<Id>, ScoreExplanation)>,
    min_score: f64,
    limit: usize,
) -> Vec<RankedMemory<Id>> {
    let mut shown: HashMap<String, i32> = HashMap::new();
    let mut ranked = Vec::with_capacity(limit.min(scored.len()));
    while ranked.len() < limit {
        let mut best: Option<(usize, f64, f64)> = None;
        for (n, (score, candidate, _)) in scored.iter().enumerate() {
            // The list is sorted and no factor exceeds 1, so no later memory can do better.
            if best.is_some_and(|(_, best, _)| *score <= best) {
                break;
            }
            let kept: f64 = if candidate.kind == TURN_KIND { REPEATED_TURN_FACTOR } else { 1.0 };
            let kept = kept.powi(shown.get(&candidate.session).copied().unwrap_or(0));
            if best.is_none_or(|(_, best, _)| score * kept > best) {
                best = Some((n, score * kept, kept));
            }
        }
        let Some((n, score, repeat)) = best.filter(|&(_, score, _)| score >= min_score) else { break };
        let (_, candidate, why) = scored.remove(n);
        *shown.entry(candidate.session).or_default() += 1;
        ranked.push(RankedMemory { id: candidate.id, score, why: ScoreExplanation { repeat, ..why }, later: None });
    }
    ranked
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const SETTING: RankingContext<'_> = RankingContext {
        now: 100 * 86_400_000,
        ideal: 10.0,
        known: 1.0,
        words: 4.0,
        names: 0.0,
        profile: &DEFAULT_PROFILE,
        is_unasked: false,
    };

    fn candidate(id: u32, session: &str, bm25: f64) -> Candidate<u32> {
        Candidate {
            id,
            session: session.into(),
            kind: "learning".into(),
            bm25,
            names: 0.0,
            cosine: None,
            importance: 0.5,
            created: 0,
            seen: 1,
            accessed: 0,
            content_hash: u64::from(id),
            is_colleagues: false,
            head: None,
            later: Vec::new(),
        }
    }

    fn order(candidates: Vec<Candidate<u32>>) -> Vec<u32> {
        rank(candidates, &SETTING, 20).into_iter().map(|ranked| ranked.id).collect()
    }

    #[test]
    fn a_session_that_often_has_the_name_comes_first_and_vectors_say_little_of_names() {
        let near = Candidate { cosine: Some(0.5), names: 1.0, ..candidate(1, "a", 6.0) };
        let often = Candidate { cosine: Some(0.3), names: 4.0, ..candidate(2, "b", 5.9) };
        let first = |names, profile| {
            rank(vec![near.clone(), often.clone()], &RankingContext { names, words: 1.0, profile, ..SETTING }, 2)[0].id
        };
        assert_eq!(first(0.0, &DEFAULT_PROFILE), 1);
        assert_eq!(first(1.0, &DEFAULT_PROFILE), 2);
        assert_eq!(first(1.0, find_profile("without-names").unwrap()), 1);
    }

    #[test]
    fn what_may_have_changed_an_earlier_memory_stands_before_it_if_it_matches_or_somebody_asked() {
        let unasked = RankingContext { is_unasked: true, ..SETTING };
        let order_of = |candidates: Vec<Candidate<u32>>, setting| {
            rank(candidates, setting, 20).into_iter().map(|ranked| ranked.id).collect::<Vec<_>>()
        };
        let order = |candidates| order_of(candidates, &unasked);
        let earlier =
            |is_likely| Candidate { later: vec![Later { id: 2, is_likely, is_doubt: true }], ..candidate(1, "a", 8.0) };
        let later = |bm25| candidate(2, "b", bm25);
        let (possible, likely) = (earlier(false), earlier(true));
        assert_eq!(order(vec![possible.clone(), later(7.0)]), [2, 1]);
        assert_eq!(order(vec![possible.clone(), later(0.3)]), [1, 2], "it hardly matches");
        assert_eq!(order(vec![likely.clone(), later(2.0)]), [2, 1]);
        assert_eq!(order(vec![likely.clone(), later(0.5)]), [2, 1], "what likely changed it needs little");
        assert_eq!(order(vec![likely.clone(), later(0.0)]), [1, 2], "but something");
        let asked =
            |earlier: &Candidate<u32>, bm25| order_of(vec![candidate(4, "d", 4.0), earlier.clone(), later(bm25)], &SETTING);
        assert_eq!(asked(&likely, 0.0), [2, 1, 4], "somebody asked, and the change is likely");
        assert_eq!(asked(&possible, 0.0)[0], 1, "a possible change that the search has no word of");
        assert_eq!(asked(&possible, 0.5)[0], 2, "the search is about both");
        let again = Candidate { later: vec![Later { id: 3, is_likely: true, is_doubt: true }], created: 1, ..later(0.5) };
        let last = Candidate { created: 2, ..candidate(3, "c", 0.5) };
        assert_eq!(order(vec![likely, again, last]), [3, 2, 1], "and so on to the last one");
    }

    #[test]
    fn each_ablation_leaves_out_its_step() {
        let ids = |name: &str, candidates: Vec<Candidate<u32>>| {
            let profile = find_profile(name).expect("a profile");
            let ranked = rank(candidates, &RankingContext { profile, ..SETTING }, 9);
            ranked.into_iter().map(|it| it.id).collect::<Vec<_>>()
        };
        let changed = || {
            let later = vec![Later { id: 2, is_likely: true, is_doubt: true }];
            vec![Candidate { later, ..candidate(1, "a", 8.0) }, candidate(2, "b", 2.0)]
        };
        assert_eq!((ids("default", changed()), ids("without-links", changed())), (vec![2, 1], vec![1, 2]));
        let supported = || vec![candidate(1, "a", 8.0), candidate(2, "b", 7.9), candidate(3, "b", 7.8)];
        assert_eq!((ids("default", supported())[0], ids("without-session", supported())[0]), (2, 1));
        let important = || vec![candidate(1, "a", 8.0), Candidate { importance: 1.0, ..candidate(2, "b", 7.9) }];
        assert_eq!((ids("default", important())[0], ids("without-prior", important())[0]), (2, 1));
    }

    #[test]
    fn a_memory_stands_once_at_its_best_piece() {
        let pieces = vec![candidate(1, "a", 2.0), candidate(2, "b", 5.0), candidate(1, "a", 9.0)];
        assert_eq!(order(pieces), [1, 2]);
    }

    #[test]
    fn a_colleagues_word_comes_after_ones_own_of_equal_relevance() {
        let colleagues = |bm25| Candidate { is_colleagues: true, content_hash: 7, ..candidate(1, "a", bm25) };
        let ranked = |bm25| {
            let ranked = rank(vec![colleagues(bm25), candidate(2, "b", 5.0)], &SETTING, 9);
            ranked.iter().map(|it| it.id).collect::<Vec<_>>()
        };
        assert_eq!(ranked(5.0), [2, 1]);
        assert_eq!(ranked(10.0), [1, 2], "what is much more relevant comes first, whoever said it");
    }

    #[test]
    fn importance_age_and_occurrences_part_equals_but_do_not_beat_relevance() {
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
        let dense = vec![candidate(1, "a", 10.0), candidate(2, "a", 9.9), candidate(3, "a", 9.8), candidate(4, "b", 9.5)];
        assert_eq!(order(dense), [1, 2, 3, 4], "decisions of one session may stand together");
    }

    #[test]
    fn a_session_that_is_about_the_matter_is_before_one_that_mentions_it() {
        let about = vec![candidate(1, "a", 8.0), candidate(2, "b", 8.0), candidate(3, "b", 7.0)];
        assert_eq!(order(about)[0], 2);
    }

    #[test]
    fn what_was_found_by_its_meaning_alone_is_kept_where_it_is_near() {
        let far = Candidate { cosine: Some(MIN_COSINE - 0.05), ..candidate(1, "a", 0.0) };
        let near = Candidate { cosine: Some(0.6), ..candidate(2, "b", 0.0) };
        let said = candidate(3, "c", 4.0);
        let both = Candidate { cosine: Some(0.6), ..candidate(4, "d", 4.0) };
        assert_eq!(order(vec![far.clone(), near, said, both]), [4, 3, 2]);
        let vectors = RankingContext { profile: find_profile("vector").unwrap(), ..SETTING };
        assert_eq!(rank(vec![far], &vectors, 9).len(), 1);
    }

    #[test]
    fn a_vector_counts_for_no_more_than_the_model_knows_of_the_query() {
        let near = || vec![Candidate { cosine: Some(0.9), ..candidate(1, "a", 1.0) }];
        let score = |known, words| rank(near(), &RankingContext { known, words, ..SETTING }, 1)[0].score;
        assert!(score(1.0, 3.0) > score(0.5, 3.0) && score(0.5, 3.0) > score(0.0, 3.0));
        assert!(score(1.0, 3.0) > score(1.0, 20.0), "a long query says enough by its words");
        let without = rank(vec![candidate(1, "a", 1.0)], &SETTING, 1)[0].score;
        assert!((score(0.0, 3.0) - without).abs() < 1e-9, "a memory without a vector loses nothing");
    }

    #[test]
    fn what_says_the_same_stands_once() {
        let twice = vec![
            Candidate { content_hash: 7, ..candidate(1, "a", 5.0) },
            Candidate { content_hash: 7, ..candidate(2, "b", 4.0) },
        ];
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
            // All pieces of a memory have the same properties.
            let first = |id: u32| rows.iter().find(|row| row.0 == id).copied().unwrap();
            let candidates: Vec<Candidate<u32>> = rows.iter().map(|&(id, _, bm25, ..)| {
                let (_, kind, _, importance, created, seen) = first(id);
                let kind = if kind == 0 { TURN_KIND } else { "learning" }.into();
                Candidate { kind, importance, created, seen, ..candidate(id, &session(id), bm25) }
            }).collect();
            let setting = RankingContext { ideal, ..SETTING };
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
