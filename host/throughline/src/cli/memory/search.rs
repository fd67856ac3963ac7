//! `throughline memory search`.

use std::io::Write;

use clap::builder::PossibleValuesParser;
use serde::Serialize;

use super::{Entry, Failure, Look, Restriction, Runtime, Store};
use crate::cli::output;
use throughline_engine::memory::probing;
use throughline_model::contract::Memory;
use throughline_notes::registry::Registry;
use throughline_search::query::Query;
use throughline_search::rank::{self, Profile, Why};
use throughline_search::tokens;
use throughline_store::{Answer, DIGEST, Hit, Search};

/// How many results there are where neither the person nor the profile says.
const RESULTS: u32 = 10;

/// How many lines of a digest are shown to people.
const MOST_LINES: usize = 3;

const SYNTAX: &str = "\
A query may hold, beside words (put `--` before one that begins with a hyphen):
  \"two words\"                these, in this order; say '\"two words\"' to the shell
  -word  -\"two words\"        not this
  type:decision,error_fix    of one of these types; -type:turn of any but this
  file:runner.ts             about a file with this in its path
  tool:Bash                  learned from the use of this tool
  session:61d299fc           of the session whose identifier begins so
  after:2026-02-23           learned since then: a year, month, day or moment, `today`,
  before:7d                  `yesterday`, or how long ago in h, d or w; or learned before";

/// Search the memories, best first
///
/// The words are searched for in titles, contents, keywords and file names; any of them may match, and the more the better.
/// What means the same in other words is found, too, where the model knows the language.
#[derive(clap::Args)]
#[command(after_long_help = SYNTAX)]
pub(super) struct Arguments {
    /// What to search for
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    #[command(flatten)]
    restriction: Restriction,
    /// At most this many; 10 where the profile says nothing else
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// How to rank: `text` and `vector` by words or meaning alone, `rrf` by reciprocal ranks, `seed` by seven parts
    /// meaning and three parts words with at most six results of at least .35. Else as the configuration says
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(rank::PROFILES.map(|profile| profile.name)))]
    profile: Option<String>,
    /// Say of each result where its score comes from
    #[arg(long)]
    explain: bool,
    /// Print an array of objects: id, `external_id` (where it was imported with an id), type, title, content, score,
    /// `session_id`, project, `created_at`, files, …
    #[arg(long)]
    json: bool,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), Failure> {
    let restriction = &arguments.restriction;
    let project = restriction.scope.project()?;
    let mut query = Query::parse(&arguments.query.join(" "), &jiff::Zoned::now());
    query.kinds.extend_from_slice(&restriction.types);
    query.kinds = Registry::meant_by_own(&query.kinds);
    query.sessions.extend(restriction.session.clone());
    let id = project.as_ref().map(|project| project.id.as_str());
    let name = arguments.profile.as_deref().unwrap_or(&runtime.config.search.profile);
    let profile = rank::profile(name).unwrap_or(&rank::DEFAULT);
    let limit = arguments.limit.or(profile.results).unwrap_or(RESULTS);
    let (probe, amiss) = probing::probe(runtime, store, &query, profile)?;
    let search = Search { profile, probe, shared: true, ..Search::new(&query, id, limit, runtime.now) };
    let Answer { hits, degraded } = store.search(&search)?;
    if let Some(why) = amiss.or(degraded) {
        writeln!(anstream::stderr().lock(), "warning: {why}")?;
    }
    let lines: Vec<Vec<String>> = hits.iter().map(lines).collect();
    let notes: Vec<Vec<String>> = hits
        .iter()
        .zip(&lines)
        .map(|(hit, lines)| {
            let mut all = if arguments.explain { notes(hit, profile) } else { Vec::new() };
            all.extend(lines.iter().take(MOST_LINES).map(|line| output::clean_line(line)));
            all
        })
        .collect();
    let (memories, reasons): (Vec<Memory>, Vec<Reasons>) =
        hits.into_iter().map(|hit| (hit.memory, Reasons { words: hit.words, why: hit.why })).unzip();
    if arguments.json {
        let roots = store.project_roots(&memories)?;
        let entries = memories.iter().zip(&roots).map(|(memory, root)| Entry::new(memory, root));
        let found: Vec<Found<'_>> = entries
            .zip(&reasons)
            .zip(&lines)
            .map(|((entry, reasons), lines)| Found { entry, lines, reasons: arguments.explain.then_some(reasons) })
            .collect();
        output::json(&found)?;
    } else if memories.is_empty() {
        super::tell_empty(&restriction.scope)?;
    } else {
        let look = Look { projects: project.is_none() || super::has_shared(&memories), excerpts: true };
        super::write_table(runtime, store, &memories, look, &notes)?;
    }
    let ids: Vec<String> = memories.into_iter().map(|memory| memory.id).collect();
    super::note_lookup(runtime, store, &ids);
    Ok(())
}

/// A result.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Found<'a> {
    #[serde(flatten)]
    entry: Entry<'a>,
    /// Of a digest, the lines that have words of the query.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    lines: &'a [String],
    /// What `--explain` adds.
    #[serde(flatten)]
    reasons: Option<&'a Reasons>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Reasons {
    /// The words of the query that its best piece has, as the index knows them.
    words: Vec<String>,
    why: Why,
}

/// The lines of a digest in which words of the query stand; those that have most of them first.
fn lines(hit: &Hit) -> Vec<String> {
    if !hit.memory.attributes.iter().any(|(name, value)| (name.as_str(), value.as_str()) == DIGEST) {
        return Vec::new();
    }
    let mut lines: Vec<(usize, &str)> = hit
        .memory
        .content
        .lines()
        .map(|line| {
            let said = tokens::index_text(line);
            (hit.words.iter().filter(|word| said.split(' ').any(|token| token == *word)).count(), line)
        })
        .filter(|(count, _)| *count > 0)
        .collect();
    lines.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    lines.into_iter().map(|(_, line)| line.to_owned()).collect()
}

/// Where a score comes from, for people.
fn notes(hit: &Hit, profile: &Profile) -> Vec<String> {
    let Why { bm25, session, text, cosine, vector, vector_share, relevance, prior, repeat } = hit.why;
    let repeated = if repeat < 1.0 { format!(", {repeat:.2} because its session stands above it") } else { String::new() };
    let mut lines =
        vec![format!("score {:.3} = relevance {relevance:.3}, importance and age {prior:.2}{repeated}", hit.memory.score)];
    if profile.text > 0.0 {
        let words = if hit.words.is_empty() { "none".to_owned() } else { output::clean_line(&hit.words.join(" ")) };
        lines.push(format!(
            "words {text:.3} ({:.0} %): BM25 {bm25:.2}, its session {session:.2}: {words}",
            100.0 * (1.0 - vector_share)
        ));
    }
    match (cosine, vector) {
        (Some(cosine), Some(vector)) => {
            lines.push(format!("meaning {vector:.3} ({:.0} %): cosine {cosine:.3}", 100.0 * vector_share));
        }
        _ => lines.push("meaning: not known".to_owned()),
    }
    lines
}
