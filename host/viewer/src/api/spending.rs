//! What policies spent on language models, by day, policy and project.

use serde_json::{Value, json};

use super::wanted::Wanted;
use crate::app::App;
use crate::error::ApiError;

/// How many days are shown, today included.
const DAYS: &str = "--days=366";

/// `throughline model spend` of one project, or of all; the latest day first. The ledger is that of all namespaces.
pub(super) fn spending(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    let mut rows = app.command(&["model", "spend", "--json", DAYS])?;
    if let (Some(project), Some(rows)) = (&wanted.project, rows.as_array_mut()) {
        rows.retain(|row| row["project"].as_str() == Some(project));
    }
    Ok(json!({"rows": rows}))
}
