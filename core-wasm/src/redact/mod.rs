//! Stage `redactor`: removes secrets and private data from texts.
//!
//! One pass looks for the keywords of the rules ([`keywords`]). Where a keyword occurs, its rule takes a closer look
//! ([`rules`]). Nothing is compiled or built before that, because every hook runs the stage in a fresh instance.
//! Personal numbers have no keywords; a second pass looks for them ([`number`]). A team's own rules ([`gitleaks`]) are
//! regular expressions that are compiled when one of their keywords appears. Every matcher is linear: what it scans
//! without a result is bounded, or recorded in [`scan::Scan`] so that it is scanned only once.

mod assignment;
mod block;
mod calls;
mod chosen;
mod command;
mod encoded;
pub mod gitleaks;
mod here_document;
mod keywords;
mod known;
mod login;
mod name;
mod number;
mod pin;
mod prose;
mod record;
mod rule;
mod rules;
mod scan;
mod stopwords;
pub mod tag;
mod token;
mod value;
mod value_start;
mod visible;
mod web;

use std::borrow::Cow;

use crate::bindings::exports::throughline::policy::redactor::{Finding, Redacted};
use gitleaks::TeamRules;
use known::Known;
use scan::{Context, Hit, Scan};
use visible::{Hidden, Visible};

/// How many times a text is scanned at most. A replacement can expose what was next to it, such as a name that was
/// glued to a token. Two passes were always enough for everything the property tests came up with.
const MAX_PASSES: usize = 4;

/// Redacts a text by the default rules. Returns the text borrowed if nothing was found.
pub fn scrub(text: &str) -> Cow<'_, str> {
    scrub_as(text, Context::Any)
}

fn scrub_as(text: &str, context: Context) -> Cow<'_, str> {
    redact_as(text, &TeamRules::empty(), context).text.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Redacts a command line by the default rules. Returns the text borrowed if nothing was found.
pub(crate) fn scrub_command(command: &str) -> Cow<'_, str> {
    scrub_as(command, Context::Command)
}

/// Returns the text without terminal escapes.
pub(crate) fn without_escapes(text: &str) -> Cow<'_, str> {
    Visible::of(text, Hidden::Escapes).map_or(Cow::Borrowed(text), |visible| Cow::Owned(visible.text))
}

/// Redacts each text alone, as the contract demands. Returns the results in order: the text without its secrets, and the rules that found
/// them in alphabetical order. What is a secret in one place of a text is one in all of them.
pub fn redact(texts: &[String], team: &TeamRules) -> Vec<Redacted> {
    texts.iter().map(|text| redact_as(text, team, Context::Any)).collect()
}

fn redact_as(text: &str, team: &TeamRules, context: Context) -> Redacted {
    let mut known = Known::default();
    known.take_tags(text);
    let by_rules = redact_by_rules(text, team, context, &mut known);
    redact_known(text, by_rules, team, context, &mut known)
}

/// Replaces the known secrets that no rule has found in a text, and what that exposes, in what the rules made of it.
fn redact_known(text: &str, by_rules: Redacted, team: &TeamRules, context: Context, known: &mut Known) -> Redacted {
    let Redacted { text: mut scrubbed, mut findings } = by_rules;
    for _ in 0..MAX_PASSES {
        let current = scrubbed.as_deref().unwrap_or(text);
        let hits = known.hits(current);
        if hits.is_empty() {
            break;
        }
        count_findings(&hits, &mut findings);
        let replaced = replace(current, &hits);
        let exposed = redact_by_rules(&replaced, team, context, known);
        for finding in exposed.findings {
            add_finding(&mut findings, &finding.rule, finding.count);
        }
        scrubbed = Some(exposed.text.unwrap_or(replaced));
    }
    Redacted { text: scrubbed, findings }
}

/// Replaces what the rules find, and notes it as known.
fn redact_by_rules<'t>(text: &str, team: &'t TeamRules, context: Context, known: &mut Known) -> Redacted {
    let mut cleaned: Option<String> = None;
    let mut findings: Vec<Finding> = Vec::new();
    let mut run = |find: &dyn Fn(&str) -> Vec<Hit<'t>>| {
        for _ in 0..MAX_PASSES {
            let current = cleaned.as_deref().unwrap_or(text);
            let mut hits = find(current);
            if let Some(visible) = Visible::of(current, Hidden::All) {
                let hidden = find(&visible.text);
                hits = scan::merge(current, hits, hidden.iter().map(|hit| visible.in_original(hit)).collect());
            }
            if hits.is_empty() {
                break;
            }
            count_findings(&hits, &mut findings);
            known.take(current, &hits);
            cleaned = Some(replace(current, &hits));
        }
    };
    run(&|text| find_secrets(text, team, context));
    // Rules that may only add see what the others left, so they cannot take away what another rule needs to match.
    if let Some(added) = team.added() {
        run(&|text| find_added(text, added));
    }
    Redacted { text: cleaned, findings }
}

/// Returns what a team's own rules find, without the default rules.
fn find_added<'t>(text: &str, team: &'t TeamRules) -> Vec<Hit<'t>> {
    let bytes = text.as_bytes();
    let mut active = team.initially_active();
    let mut from = 0;
    while let Some((at, head)) = team.index().next(bytes, from) {
        team.index().at(bytes, at, head).for_each(|(rule, _)| active.activate(rule));
        from = at + 1;
    }
    team.apply(text, Vec::new(), active)
}

/// Returns whether the default rules find a secret in a text.
fn has_secret(text: &str) -> bool {
    !find_secrets(text, &TeamRules::empty(), Context::Any).is_empty()
}

/// Returns the secrets of a text, ordered, without overlaps, on character boundaries.
fn find_secrets<'t>(text: &str, team: &'t TeamRules, context: Context) -> Vec<Hit<'t>> {
    let mut scan = Scan::new(text, context);
    let mut active = team.initially_active();
    let mut from = 0;
    while let Some((at, head)) = team.index().next(scan.bytes, from) {
        for (rule, length) in team.index().at(scan.bytes, at, head) {
            match rules::RULES.get(usize::from(rule)) {
                Some(entry) => entry.matcher.run(&mut scan, &entry.rule, at..at + length),
                None => active.activate(rule),
            }
        }
        from = scan.resume.max(at + 1);
    }
    let mut hits = scan.into_hits();
    let mut numbers = Vec::new();
    number::find_numbers(text, rules::DIGITS, &mut numbers);
    for rule in rules::SCANS {
        (rule.run)(text, rule.id, &mut numbers);
    }
    for rule in rules::OPTIONAL.iter().filter(|rule| team.enables(rule.id)) {
        (rule.run)(text, rule.id, &mut numbers);
    }
    hits = scan::merge(text, hits, numbers);
    team.apply(text, hits, active)
}

fn replace(text: &str, hits: &[Hit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for hit in hits {
        // Nothing that was replaced may be copied again, and a placeholder stands for something.
        if hit.end <= copied.max(hit.start) {
            continue;
        }
        out.push_str(text.get(copied..hit.start).unwrap_or_default());
        out.push_str("[redacted:");
        out.push_str(hit.rule);
        if let Some(tag) = text.get(hit.start..hit.end).and_then(tag::for_secret) {
            out.push('#');
            out.push_str(&tag);
        }
        out.push(']');
        copied = hit.end;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out
}

fn count_findings(hits: &[Hit], findings: &mut Vec<Finding>) {
    for hit in hits {
        add_finding(findings, hit.rule, 1);
    }
}

/// Adds to the findings of a rule. They stay in the order of the rules.
fn add_finding(findings: &mut Vec<Finding>, rule: &str, count: u32) {
    match findings.binary_search_by(|finding| finding.rule.as_str().cmp(rule)) {
        Ok(at) => findings[at].count += count,
        Err(at) => findings.insert(at, Finding { rule: rule.to_owned(), count }),
    }
}

#[cfg(test)]
mod tests;
