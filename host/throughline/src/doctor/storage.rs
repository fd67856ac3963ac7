//! Checks that the database opens, is intact and can be written to.

use std::time::Duration;

use super::finding::Finding;
use throughline_embedding::target_model::TargetModel;
use throughline_engine::config::Config;
use throughline_engine::runtime::Runtime;
use throughline_platform::paths::{self, Paths};
use throughline_sandbox::managed::Managed;
use throughline_store::{Access, SCHEMA_VERSION, Store, StoreError};

/// How long to wait for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// Reports on the database, and returns the store if it can be read.
pub(super) fn database(paths: &Paths, now: u64) -> (Finding, Option<Store>) {
    let runtime = Runtime::with(paths.clone(), Config::default(), Managed::default());
    let store = match runtime.store(Access::Existing, BUSY_TIMEOUT) {
        Ok(store) => store,
        Err(StoreError::Missing(path)) => {
            let shown = paths::display(&path, &paths.home);
            return (
                Finding::warn("database", format!("{shown} does not exist yet"), "`throughline install` creates it"),
                None,
            );
        }
        Err(error) => return (broken(&error), None),
    };
    match examine(&store, paths, now) {
        Ok(finding) => (finding, Some(store)),
        Err(error) => (broken(&error), None),
    }
}

fn broken(error: &StoreError) -> Finding {
    let hint = error.hint().unwrap_or_else(|| "move it away; `throughline ingest` fills a new database".into());
    Finding::fail("database", error.to_string(), hint)
}

fn examine(store: &Store, paths: &Paths, now: u64) -> Result<Finding, StoreError> {
    let verdict = store.integrity()?;
    if verdict != "ok" {
        return Err(StoreError::Damaged(store.path().into(), verdict));
    }
    let stats = store.stats(None)?;
    store.prove_writable(now)?;
    Ok(Finding::ok(
        "database",
        format!(
            "{}: intact and writable, schema {SCHEMA_VERSION}, memories {}, sessions {}, projects {}, {}",
            paths::display(store.path(), &paths.home),
            stats.memories,
            stats.sessions,
            stats.projects,
            indicatif::DecimalBytes(stats.bytes)
        ),
    ))
}

/// How to repair an index that is out of date.
const HINT: &str = "it continues when the next session starts; `throughline memory reindex` does it now";

/// Checks whether the index has this version's format, and whether all memories have vectors.
pub(super) fn index(store: &Store, config: &Config) -> Finding {
    let made = || -> Result<Finding, StoreError> {
        let state = store.index_state()?;
        let all = store.memory_count()?;
        if let Some(made) = state.made {
            let percent = made.saturating_mul(100) / all.max(1);
            return Ok(Finding::warn("index", format!("it is being rebuilt: {} %", percent.min(100)), HINT));
        }
        if !state.is_current {
            return Ok(Finding::warn("index", "it is from another version, and must be rebuilt", HINT));
        }
        let target_model = TargetModel::from_settings(&config.embedding, |name| {
            std::env::var_os(name).is_some_and(|value| !value.is_empty())
        });
        let as_wanted = match target_model {
            TargetModel::Model(model) => model == state.model,
            TargetModel::FromProvider(asked) => state.asked == Some(asked),
        };
        if !as_wanted {
            let what = format!("its vectors are from {}, but the configuration names another model", state.model);
            return Ok(Finding::warn("index", what, HINT));
        }
        Ok(match store.unembedded()? {
            0 => Finding::ok("index", format!("current, with vectors from {}", state.model)),
            waiting => {
                Finding::warn("index", format!("{waiting} of {all} memories have no vectors from {} yet", state.model), HINT)
            }
        })
    };
    made().unwrap_or_else(|error| broken(&error))
}
