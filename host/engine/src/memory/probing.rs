//! Turns a query into a vector, using the same model as the database's vectors.

use crate::reindex::provider_of;
use crate::runtime::Runtime;
use throughline_embedding::{Embedder, Provider, Purpose};
use throughline_search::query::Query;
use throughline_search::rank::Profile;
use throughline_search::vector::Probe;
use throughline_store::{IndexState, Store, StoreError};

/// Returns the query's vector if the database's vectors are from another model than the built-in one, otherwise `None`.
/// If a vector was needed but could not be computed, also returns the reason. Only the provider of the database's
/// vectors is asked, and only if the configuration includes it.
pub fn probe(
    runtime: &Runtime,
    store: &Store,
    query: &Query,
    profile: &Profile,
) -> Result<(Option<Probe>, Option<String>), StoreError> {
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
    let settings = &runtime.config.embedding;
    let embedder = Embedder::installed();
    let degraded = |why: String| Ok((None, Some(format!("{why}; only words were searched for"))));
    let choice = Provider::choose(settings, |name| embedder.is_set(name));
    if !choice.order.contains(&provider) {
        let lacks = choice.passed_over.into_iter().find(|(passed_over, _)| *passed_over == provider);
        let why = lacks.map_or_else(|| "it is not in the configuration".into(), |(_, what)| what);
        return degraded(format!("the stored vectors are from {model}, which was not used: {why}"));
    }
    match embedder.embed(settings, provider, std::slice::from_ref(&query.text), Purpose::Query) {
        Ok((by, found)) if by.to_string() == model => {
            Ok((found.into_iter().next().map(|found| Probe::new(found.vector, found.known)), None))
        }
        Ok((by, _)) => degraded(format!(
            "the stored vectors are from {model}, but {by} answered (`throughline memory reindex` recomputes them)"
        )),
        Err(failure) => degraded(format!("{failure} ({})", failure.hint)),
    }
}
