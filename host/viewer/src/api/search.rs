//! Searches, with the explained score and the words that were found.

use serde::Deserialize;
use serde_json::{Value, json};

use super::paging::page_of;
use super::wanted::Wanted;
use super::{cursor, highlight};
use crate::app::App;
use crate::error::ApiError;

/// How many results all pages contain together. Results beyond that are not relevant.
const MAX_RESULTS: u32 = 200;

/// The longest query, bytes.
const MAX_QUERY: usize = 4 << 10;

/// What is read of a result to mark its words.
#[derive(Deserialize)]
struct Hit {
    title: String,
    content: String,
    #[serde(default)]
    words: Vec<String>,
}

/// `throughline search --explain`, page by page.
pub(super) fn search(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    if wanted.q.len() > MAX_QUERY {
        return Err(ApiError::refused("the query is longer than 4 KiB").hint("a few words are enough"));
    }
    let begin = cursor::decode(wanted.cursor.as_deref())?.unwrap_or(0_u32).min(MAX_RESULTS);
    let limit = wanted.limit().min(MAX_RESULTS - begin);
    let scope = wanted.scope();
    let count = format!("--limit={}", (begin + limit + 1).min(MAX_RESULTS));
    let mut words = vec!["search", "--json", "--explain", &scope, &count];
    let types = format!("--type={}", wanted.types);
    if !wanted.types.is_empty() {
        words.push(&types);
    }
    words.extend(["--", wanted.q.as_str()]);
    let (mut results, next) = page_of(app.command(&words)?, begin, limit);
    for result in &mut results {
        let Ok(hit) = Hit::deserialize(&*result) else { continue };
        result["title_parts"] = json!(highlight::parts(&hit.title, &hit.words));
        result["excerpt"] = json!(highlight::excerpt(&hit.content, &hit.words));
        // The whole text is on the memory's own page.
        if let Some(fields) = result.as_object_mut() {
            fields.remove("content");
        }
    }
    Ok(json!({"entries": results, "next": next}))
}
