//! The database: that it opens, is whole, and takes what is written to it.

use std::time::Duration;

use super::Finding;
use crate::config::Config;
use crate::paths::{self, Paths};
use crate::policy::managed::Managed;
use crate::runtime::Runtime;
use crate::store::{Access, SCHEMA_VERSION, Store, StoreError};

/// How long another process that writes is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// What there is to say of it, and the store where it can be read.
pub(super) fn database(paths: &Paths, now: u64) -> (Finding, Option<Store>) {
    let runtime = Runtime::with(paths.clone(), Config::default(), Managed::default());
    let store = match runtime.store(Access::Existing, PATIENCE) {
        Ok(store) => store,
        Err(StoreError::Missing(path)) => {
            let shown = paths::display(&path, &paths.home);
            return (
                Finding::warn("database", format!("{shown} does not exist yet"), "`throughline install` makes it"),
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
    let hint = error.hint().unwrap_or_else(|| "move it away; `throughline ingest` fills a new one".into());
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
            "{}: sound and writable, schema {SCHEMA_VERSION}, memories {}, sessions {}, projects {}, {}",
            paths::display(store.path(), &paths.home),
            stats.memories,
            stats.sessions,
            stats.projects,
            indicatif::DecimalBytes(stats.bytes)
        ),
    ))
}
