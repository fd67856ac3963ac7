//! A memory in a list: an identifier, and one line of what it is about.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::contract::Memory;
use crate::mcp::quote::{self, Origin};
use crate::runtime;

/// The most characters of a title, and of an excerpt.
const TITLE: usize = 160;
const EXCERPT: usize = 160;

/// A memory in short.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Entry {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    excerpt: String,
    date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    origin: Origin,
    untrusted: bool,
}

impl Entry {
    pub(super) fn new(memory: &Memory) -> Self {
        let origin = Origin::of(memory);
        Self {
            id: memory.id.clone(),
            kind: quote::line(&memory.kind, 64),
            title: quote::line(&memory.title, TITLE),
            excerpt: excerpt(memory),
            date: day(memory.created),
            score: (memory.score > 0.0).then(|| (f64::from(memory.score) * 1000.0).round() / 1000.0),
            origin,
            untrusted: origin.is_untrusted(),
        }
    }

    /// In one line or two.
    pub(super) fn write(&self, out: &mut String) {
        let score = self.score.map_or_else(String::new, |score| format!(" {score:.2}"));
        let mark = self.origin.mark();
        let _ = writeln!(out, "{} {} {}{score}  {}{mark}", self.id, self.kind, self.date, self.title);
        if !self.excerpt.is_empty() {
            let _ = writeln!(out, "    {}", self.excerpt);
        }
    }
}

/// What the content says beyond the title, in one line.
fn excerpt(memory: &Memory) -> String {
    let title = memory.title.trim();
    let content = memory.content.trim();
    let rest = content.strip_prefix(title).unwrap_or(content).trim_start();
    quote::line(rest, EXCERPT)
}

/// The day, UTC.
pub(super) fn day(at: u64) -> String {
    runtime::stamp(at).chars().take(10).collect()
}
