//! Searches memories: the one recipe for commands, the MCP server, prompts, policies and notes.
//!
//! A person or an agent that asks gets everything that can be had: types and dates are checked, shared memories are
//! included, the query is embedded with the model of the stored vectors if that is not the built-in one, and what was
//! found counts as looked up. A prompt and a policy ask unasked: any text is a query, no other program is started,
//! nothing is counted, and what a later memory took the place of is left out.

use anyhow::Result;
use jiff::Zoned;

use crate::memory::types;
use crate::reindex::provider_of;
use crate::runtime::Runtime;
use throughline_embedding::{Embedder, Provider, Purpose, Settings as EmbeddingSettings};
use throughline_model::project::Project;
use throughline_search::query::Query;
use throughline_search::rank::{self, Profile};
use throughline_search::vector::QueryVector;
use throughline_store::{IndexState, Marked, Search, SearchHit, Store, StoreError};

/// How many results to return if neither the caller nor the profile says.
const DEFAULT_LIMIT: u32 = 10;

/// What to search for.
#[derive(Debug, Clone)]
pub struct SearchRequest<'a> {
    query: Query,
    /// The project's identifier; `None` searches all projects.
    project: Option<&'a str>,
    limit: u32,
    now: u64,
    profile: &'static Profile,
    includes_shared: bool,
    is_quick: bool,
    /// Whether nobody asked for it: what a later memory took the place of is left out.
    is_unasked: bool,
    /// What a person may have said of the results.
    marked: Marked,
    /// The settings to embed the query with; `None` does without.
    embedding: Option<&'a EmbeddingSettings>,
}

/// What a person or an agent asked for besides the words of a query.
#[derive(Debug, Clone, Copy, Default)]
pub struct SearchOptions<'a> {
    /// Only these types.
    pub types: &'a [String],
    /// Only this session, or the sessions whose identifiers begin so.
    pub session: Option<&'a str>,
    /// How many results; `None` for the profile's number.
    pub limit: Option<u32>,
    /// The name of the ranking profile; `None` for the configured one.
    pub profile: Option<&'a str>,
    /// What a person may have said of the results.
    pub marked: Marked,
}

/// The results of a search.
#[derive(Debug, Clone, Default)]
pub struct SearchOutcome {
    /// The results, best first.
    pub hits: Vec<SearchHit>,
    /// Why results may be missing.
    pub warning: Option<String>,
}

impl<'a> SearchRequest<'a> {
    /// A search that a person or an agent asked for. Unknown types and unreadable dates are errors.
    pub fn explicit(
        runtime: &'a Runtime,
        store: &Store,
        text: &str,
        project: Option<&'a Project>,
        options: SearchOptions<'_>,
    ) -> Result<Self> {
        let mut query = types::parse_query(text, options.types, store, project)?;
        query.sessions.extend(options.session.map(str::to_owned));
        let name = options.profile.unwrap_or(&runtime.config.search.profile);
        let profile = rank::find_profile(name).unwrap_or(&rank::DEFAULT_PROFILE);
        Ok(Self {
            query,
            project: project.map(|project| project.id.as_str()),
            limit: options.limit.or(profile.results).unwrap_or(DEFAULT_LIMIT),
            now: runtime.now,
            profile,
            includes_shared: true,
            is_quick: false,
            is_unasked: false,
            marked: options.marked,
            embedding: Some(&runtime.config.embedding),
        })
    }

    /// A search of a policy, through its capability.
    pub fn of_policy(text: &str, kinds: &[String], project: &'a str, limit: u32, now: u64) -> Self {
        let mut query = Query::parse(text, &Zoned::now());
        query.kinds.extend_from_slice(kinds);
        Self { is_unasked: true, ..Self::of_notes(query, project, limit, now) }
    }

    /// A search among a project's notes, whose query names the types that count. It is ranked by default, and starts no other
    /// program.
    pub fn of_notes(query: Query, project: &'a str, limit: u32, now: u64) -> Self {
        Self {
            query,
            project: Some(project),
            limit,
            now,
            profile: &rank::DEFAULT_PROFILE,
            includes_shared: false,
            is_quick: false,
            is_unasked: false,
            marked: Marked::NotWrong,
            embedding: None,
        }
    }

    /// A search for a prompt, while the agent waits. It examines half as much as a person's.
    pub fn of_prompt(text: &str, kinds: &[String], project: &'a str, limit: u32, now: u64) -> Self {
        Self { is_quick: true, ..Self::of_policy(text, kinds, project, limit, now) }
    }

    /// Includes the memories that other projects share, or not.
    #[must_use]
    pub fn with_shared(self, includes_shared: bool) -> Self {
        Self { includes_shared, ..self }
    }

    /// The query.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// The most results.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// How results are ranked.
    pub fn profile(&self) -> &'static Profile {
        self.profile
    }

    /// Searches.
    pub fn run(&self, store: &Store) -> Result<SearchOutcome, StoreError> {
        let (probe, warning) = match self.embedding {
            Some(settings) => embed_query(settings, store, &self.query, self.profile)?,
            None => (None, None),
        };
        let results = store.search(&Search {
            query: &self.query,
            project: self.project,
            shared: self.includes_shared,
            limit: self.limit,
            now: self.now,
            profile: self.profile,
            probe,
            is_quick: self.is_quick,
            is_unasked: self.is_unasked,
            marked: self.marked,
        })?;
        Ok(SearchOutcome { hits: results.hits, warning: warning.or(results.degraded) })
    }
}

/// Counts memories as looked up by a person or an agent. This is only bookkeeping: if it cannot be written, what was
/// found is still good.
pub fn record_lookup(runtime: &Runtime, store: &Store, ids: &[String]) {
    let _ = store.set_synchronous_normal().and_then(|()| store.mark_shown(ids, None, "lookup", runtime.now));
}

/// Returns the query's vector if the database's vectors are from another model than the built-in one, otherwise `None`.
/// If a vector was needed but could not be computed, also returns the reason. Only the provider of the database's
/// vectors is asked, and only if the configuration includes it.
fn embed_query(
    settings: &EmbeddingSettings,
    store: &Store,
    query: &Query,
    profile: &Profile,
) -> Result<(Option<QueryVector>, Option<String>), StoreError> {
    let IndexState { model, is_current, .. } = store.index_state()?;
    if !is_current {
        let why = "the index was built by another version, so some memories are not found until it is rebuilt: that starts when a \
                   session starts, or with `throughline memory reindex`";
        return Ok((None, Some(why.into())));
    }
    let Some(provider) = provider_of(&model) else { return Ok((None, None)) };
    if profile.vector <= 0.0 || query.term_count() == 0 || query.text.trim().is_empty() {
        return Ok((None, None));
    }
    let embedder = Embedder::installed();
    let degraded = |why: String| Ok((None, Some(format!("{why}; only words were searched for"))));
    let choice = Provider::choose(settings, |name| embedder.is_set(name));
    if !choice.order.contains(&provider) {
        let lacks = choice.skipped.into_iter().find(|(skipped, _)| *skipped == provider);
        let why = lacks.map_or_else(|| "it is not in the configuration".into(), |(_, what)| what);
        return degraded(format!("the stored vectors are from {model}, which was not used: {why}"));
    }
    match embedder.embed(settings, provider, std::slice::from_ref(&query.text), Purpose::Query) {
        Ok((by, found)) if by.to_string() == model => {
            Ok((found.into_iter().next().map(|found| QueryVector::new(found.vector, found.known)), None))
        }
        Ok((by, _)) => degraded(format!(
            "the stored vectors are from {model}, but {by} answered (`throughline memory reindex` recomputes them)"
        )),
        Err(failure) => degraded(format!("{failure} ({})", failure.hint)),
    }
}
