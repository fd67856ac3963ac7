//! Redaction counts, sizes, and what `doctor` finds.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::wanted::Wanted;
use crate::app::App;
use crate::error::ApiError;

/// `throughline doctor`, in the folder of the project.
pub(super) fn doctor(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    app.command_in(&["doctor", "--json"], wanted.project.as_deref())
}

/// How often each rule replaced something, by day. The store has no secrets, only the names of the rules in their place.
pub(super) fn redaction(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    let Some(store) = app.store()? else { return Ok(json!({"counts": []})) };
    let project = wanted.project.as_deref().map(|root| App::find_project(&store, root)).transpose()?;
    Ok(json!({"counts": store.redactions(project.map(|project| project.id).as_deref())?}))
}

/// Sizes, and the last run of each hook.
pub(super) fn health(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    let database = app.paths.database();
    let stats = match app.store()? {
        Some(_) => app.command(&["memory", "stats", "--json", &wanted.scope()])?,
        None => Value::Null,
    };
    let size = |path: &Path| fs::metadata(path).map_or(0, |meta| meta.len());
    let sizes = json!([
        {"name": "database", "bytes": size(&database)},
        {"name": "write-ahead log", "bytes": size(&database.with_extension("db-wal"))},
        {"name": "journals", "bytes": size_of_folder(&app.paths.journal())},
        {"name": "weekly copy", "bytes": size(&app.paths.weekly_copy())},
        {"name": "log", "bytes": size(&app.paths.log())},
    ]);
    Ok(json!({"stats": stats, "sizes": sizes, "runs": last_runs(&app.paths.last_runs())}))
}

fn size_of_folder(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum()
}

/// Returns the last run of each hook of each agent, as the hooks recorded it.
fn last_runs(folder: &Path) -> Vec<Value> {
    let mut runs: Vec<Value> = Vec::new();
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some(mut run) = fs::read(file.path()).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok()) else {
            continue;
        };
        let name = file.file_name().to_string_lossy().into_owned();
        if let (Some(fields), Some((agent, _))) = (run.as_object_mut(), name.split_once('.')) {
            fields.insert("agent".into(), json!(agent));
            runs.push(run);
        }
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run["at"].as_u64()));
    runs
}
