//! Shows what the policy does with a prompt. `… --example prompt -- query` reads lines `{"prompt": …}` and prints the text of
//! each search, or nothing. `… -- page` reads lines `{"prompt": …, "hits": […]}`, with the results that
//! `throughline search --json --explain` prints for that text, and prints the features of the model that judges them, its
//! evidence, and what would be told.

#[path = "shared/session.rs"]
mod session;

use std::io::{BufRead, Write};

use serde_json::{Value, json};
use throughline_default_policy::bindings::exports::throughline::policy::context_builder::Request;
use throughline_default_policy::bindings::throughline::policy::memories::Fact;
use throughline_default_policy::bindings::throughline::policy::types::{Memory, Session, SessionRecord};
use throughline_default_policy::context::{Memories, build, prompt_features};
use throughline_default_policy::query::plan;

/// The budget of the page for a prompt, in UTF-16 units.
const BUDGET: u32 = 2_000;

/// A store that is never asked: the results are in the request.
struct Nothing;

impl Memories for Nothing {
    fn recent(&self, _kinds: &[&str], _limit: u32) -> Vec<Memory> {
        Vec::new()
    }

    fn important(&self, _kinds: &[&str], _limit: u32) -> Vec<Memory> {
        Vec::new()
    }

    fn of_session(&self, _session: &str, _kinds: &[&str], _limit: u32) -> Vec<Memory> {
        Vec::new()
    }

    fn search(&self, _query: &str, _kinds: &[&str], _limit: u32) -> Vec<Memory> {
        Vec::new()
    }

    fn knowledge(&self, _limit: u32) -> Vec<Fact> {
        Vec::new()
    }

    fn sessions(&self, _limit: u32) -> Vec<SessionRecord> {
        Vec::new()
    }

    fn last_session(&self) -> Option<SessionRecord> {
        None
    }

    fn session(&self, _id: &str) -> Option<SessionRecord> {
        None
    }
}

fn main() -> std::io::Result<()> {
    let shows_page = std::env::args().nth(1).is_some_and(|mode| mode == "page");
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let prompt = line["prompt"].as_str().unwrap_or_default();
        if shows_page {
            let request = request(prompt, &line["hits"]);
            let page = build(&request, &Nothing).map(|context| context.text).unwrap_or_default();
            let (features, evidence) = prompt_features(&request);
            writeln!(out, "{}", json!({"features": features, "evidence": evidence, "page": page}))?;
        } else {
            let text = plan(&session(prompt), prompt, None).map(|search| search.text).unwrap_or_default();
            writeln!(out, "{}", json!({ "text": text }))?;
        }
    }
    Ok(())
}

fn session(prompt: &str) -> Session {
    Session { attributes: vec![("prompt".to_owned(), prompt.to_owned())], ..session::session() }
}

fn request(prompt: &str, hits: &Value) -> Request {
    let found = hits.as_array().into_iter().flatten().map(memory).collect();
    Request { session: session(prompt), source: "prompt".to_owned(), budget: BUDGET, found }
}

fn memory(hit: &Value) -> Memory {
    let text = |name: &str| hit[name].as_str().unwrap_or_default().to_owned();
    let words: Vec<&str> = hit["words"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    #[expect(clippy::cast_possible_truncation, reason = "f32 is precise enough for a score")]
    let score = hit["score"].as_f64().unwrap_or(0.0) as f32;
    Memory {
        id: text("id"),
        session_id: text("session_id"),
        kind: text("type"),
        title: text("title"),
        content: text("content"),
        keywords: Vec::new(),
        files: Vec::new(),
        importance: 0.5,
        // The day and who said it take room in the line.
        created: text("created_at").parse().map_or(0, |at: jiff::Timestamp| at.as_millisecond().try_into().unwrap_or(0)),
        seen: 1,
        score,
        attributes: vec![
            ("said-by".to_owned(), text("said_by")),
            ("match.words".to_owned(), words.join(" ")),
            ("match.cosine".to_owned(), hit["why"]["cosine"].as_f64().unwrap_or(0.0).to_string()),
        ],
    }
}
