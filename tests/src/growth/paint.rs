//! How soon the viewer's pages paint over a store of this size.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::memories;
use crate::home::Home;
use crate::viewer::{Viewer, browser, drive};

/// How often each page is loaded.
const LOADS: u32 = 7;

/// What the first paint may take with a million memories, milliseconds: the median of each page.
pub const MAX_PAINT: f64 = 300.0;

/// Loads the main pages in a browser. For each: the median and the worst of the first paint, and of when the page was complete.
pub fn paints(home: &Home, query: &str) -> Result<Value> {
    let (chromium, modules) = browser("the viewer's paints").context("no browser is here to measure the viewer with")?;
    let large = memories::project(0);
    let words: Vec<&str> = query.split_whitespace().collect();
    let viewer = Viewer::start(home, &[]);
    let setup = json!({
        "address": viewer.address, "chromium": chromium, "modules": modules, "loads": LOADS,
        "hashes": {
            "memories of all projects": "#/search",
            "memories of the large project": format!("#/search?project={large}"),
            "a search in the large project": format!("#/search?project={large}&q={}", words.join("+")),
            "today": "#/today",
            "projects": "#/projects",
        },
    });
    let mut measured = drive(home, "paint.mjs", &setup);
    Ok(measured["pages"].take())
}
