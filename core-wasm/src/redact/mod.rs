//! Stage `redactor`: texts lose what must not be kept.
//!
//! One pass looks for the rules' keywords ([`keywords`]); only where one stands does its rule look closer ([`rules`]).
//! No rule is compiled or built before that, because the stage runs in a fresh instance at every hook. Every matcher is
//! linear: what it scans without a result is bounded, or remembered in [`scan::Scan`] so that it is scanned once.

mod assignment;
mod block;
mod command;
mod keywords;
mod rules;
mod scan;
mod token;
mod value;
mod web;

use std::borrow::Cow;

use crate::bindings::exports::throughline::policy::redactor::{Finding, Redacted};
use scan::{Hit, Scan};

/// How often a text is scanned again after something was replaced. A replacement can bare what stood beside it, such as a
/// name that is no longer glued to a token; two passes were always enough for what the property tests could think of.
const PASSES: usize = 4;

/// The text without its secrets; borrowed where nothing was found.
pub fn scrub(text: &str) -> Cow<'_, str> {
    let (scrubbed, _) = clean(text);
    scrubbed.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// One result a text, in order: the text without its secrets, and the rules that found them in alphabetical order.
pub fn redact(texts: &[String]) -> Vec<Redacted> {
    texts
        .iter()
        .map(|text| {
            let (text, findings) = clean(text);
            Redacted { text, findings }
        })
        .collect()
}

fn clean(text: &str) -> (Option<String>, Vec<Finding>) {
    let mut cleaned: Option<String> = None;
    let mut findings: Vec<Finding> = Vec::new();
    for _ in 0..PASSES {
        let current = cleaned.as_deref().unwrap_or(text);
        let hits = find(current);
        if hits.is_empty() {
            break;
        }
        count(&hits, &mut findings);
        cleaned = Some(replace(current, &hits));
    }
    (cleaned, findings)
}

/// The secrets of a text: ordered, apart from one another, on character boundaries.
fn find(text: &str) -> Vec<Hit> {
    let mut scan = Scan::new(text);
    let mut from = 0;
    while let Some((at, head)) = keywords::next(scan.bytes, from) {
        for (rule, keyword) in keywords::at(scan.bytes, at, head) {
            rule.matcher.run(&mut scan, rule, at..at + keyword.len());
        }
        from = scan.resume.max(at + 1);
    }
    scan.into_hits()
}

fn replace(text: &str, hits: &[Hit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for hit in hits {
        out.push_str(text.get(kept..hit.start).unwrap_or_default());
        out.push_str("[redacted:");
        out.push_str(hit.rule);
        out.push(']');
        kept = hit.end;
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    out
}

fn count(hits: &[Hit], findings: &mut Vec<Finding>) {
    for hit in hits {
        match findings.binary_search_by(|finding| finding.rule.as_str().cmp(hit.rule)) {
            Ok(at) => findings[at].count += 1,
            Err(at) => findings.insert(at, Finding { rule: hit.rule.to_owned(), count: 1 }),
        }
    }
}

#[cfg(test)]
mod tests;
