//! Helpers shared by the tests of components.

use std::time::Instant;

use throughline_model::digest::sha256_hex;
use throughline_sandbox::cache::Cache;
use throughline_sandbox::capability::Capabilities;
use throughline_sandbox::engine::{EpochTicker, Limits};
use throughline_sandbox::instance::{LinkedPolicy, Terms};
use throughline_sandbox::stage::Stage;

/// Returns terms that grant a component every capability of the contract.
pub(crate) fn terms(name: &str, stages: &[Stage], limits: Limits) -> Terms {
    Terms {
        name: name.into(),
        digest: "d".repeat(64),
        capabilities: Capabilities::of_default(),
        stages: stages.to_vec(),
        limits,
    }
}

/// Compiles a component, in a cache of its own, and links it.
pub(crate) fn link(clock: &EpochTicker, terms: Terms, wasm: &[u8]) -> anyhow::Result<LinkedPolicy> {
    let folder = tempfile::tempdir()?;
    let cache = Cache::new(folder.path().join("components"));
    let compile = throughline_compiler::compile;
    let (component, _) = cache.load_or_compile(clock.engine(), &sha256_hex(wasm), wasm, Instant::now(), compile)?;
    LinkedPolicy::link(terms, clock, &component)
}
