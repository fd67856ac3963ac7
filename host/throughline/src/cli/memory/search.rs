//! `throughline memory search`.

use std::io::Write;

use clap::builder::{PossibleValue, PossibleValuesParser};
use serde::Serialize;

use super::entry::{self, Entry, TableOptions};
use super::interactive;
use super::selection::Restriction;
use super::show;
use super::{links, marks};
use crate::cli::error::CommandError;
use crate::cli::output;
use crate::cli::scope;
use throughline_engine::hooks::{OutdatedFile, describe_outdated, outdated_files};
use throughline_engine::runtime::Runtime;
use throughline_engine::search::{self, SearchOptions, SearchOutcome, SearchRequest};
use throughline_model::contract::Memory;
use throughline_search::rank::{self, Profile, ScoreExplanation};
use throughline_search::tokens;
use throughline_store::{DIGEST, Marked, Marks, Replacement, SearchHit, Store};

/// The most lines of a digest that are printed for people.
const MAX_DIGEST_LINES: usize = 3;

const SYNTAX: &str = "\
Besides words, a query can contain:
  \"two words\"              these words in this order; in a shell, type
                           '\"two words\"'
  -word  -\"two words\"      not these words
  type:decision,error_fix  one of these types; -type:turn any other type
  file:runner.ts           about a file with this in its path
  tool:Bash                learned from a call of this tool
  session:61d299fc         learned in the session whose identifier begins so
  after:2026-02-23         learned since then: a year, month, day or moment,
                           `today`, `yesterday`, or how long ago in h, d or w
  before:7d                learned before then
Put `--` before a query that begins with a hyphen.";

/// Search memories, best match first
///
/// Searches titles, contents, keywords and file names. A memory that matches any of the words is a result; one that
/// matches more of them ranks higher. Paraphrases are found too, if the embedding model knows the language.
/// `throughline search` is short for `throughline memory search`. Without a query, a terminal shows results while you
/// type.
#[derive(clap::Args)]
#[command(after_long_help = SYNTAX)]
pub(in crate::cli) struct Arguments {
    /// What to search for
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    #[command(flatten)]
    pub(super) restriction: Restriction,
    /// Also memories that you marked wrong
    #[arg(long, conflicts_with = "pinned")]
    wrong: bool,
    /// Print at most this many; by default 10, unless the profile says otherwise
    #[arg(long, value_name = "N", value_parser = crate::cli::number::limit)]
    limit: Option<u32>,
    /// How to rank: `text` and `vector` by words or by meaning alone, `rrf` by reciprocal rank fusion, `seed` by 70 %
    /// meaning and 30 % words with at most six results of at least 0.35. The default is set in the configuration
    #[arg(long, value_name = "NAME", value_parser = profiles())]
    pub(super) profile: Option<String>,
    /// Explain the score of each result
    #[arg(long)]
    explain: bool,
    /// Print an array of objects: id, `external_id` (if it was imported with one), type, title, content, score,
    /// `session_id`, project, `created_at`, files, …
    #[arg(long)]
    json: bool,
}

/// Returns the names of the profiles. Those that only measure a step of the ranking are hidden.
fn profiles() -> PossibleValuesParser {
    let measuring = rank::ABLATIONS.iter().map(|profile| PossibleValue::new(profile.name).hide(true));
    PossibleValuesParser::new(rank::PROFILES.iter().map(|profile| PossibleValue::new(profile.name)).chain(measuring))
}

impl Arguments {
    /// Returns what you may have said of the memories.
    pub(super) fn marked(&self) -> Marked {
        self.restriction.marked(self.wrong.then_some(Marked::Any))
    }

    /// Refuses a command line without a query where nobody can type one.
    pub(super) fn check(&self) -> Result<(), CommandError> {
        if !self.query.is_empty() || (!self.json && interactive::is_possible()) {
            return Ok(());
        }
        Err(CommandError::usage("there is nothing to search for").hint(
            "give the words of a query; without any, only a terminal searches while you type, and `throughline memory list` shows the \
             newest memories",
        ))
    }
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    if arguments.query.is_empty() {
        return match interactive::choose(runtime, store, arguments)? {
            Some(id) => show::print_memory(runtime, store, &id),
            None => Ok(()),
        };
    }
    let restriction = &arguments.restriction;
    let project = restriction.scope.project(runtime)?;
    let session = restriction.session.as_deref().map(|id| scope::resolve_session(store, id)).transpose()?;
    let options = SearchOptions {
        types: &restriction.types,
        session: session.as_deref(),
        limit: arguments.limit,
        profile: arguments.profile.as_deref(),
        marked: arguments.marked(),
    };
    let request = SearchRequest::explicit(runtime, store, &arguments.query.join(" "), project.as_ref(), options)?;
    let (profile, most) = (request.profile(), request.limit() as usize);
    let SearchOutcome { hits, warning } = request.run(store)?;
    if let Some(why) = warning {
        writeln!(anstream::stderr().lock(), "warning: {why}")?;
    }
    let lines: Vec<Vec<String>> = hits.iter().map(lines).collect();
    let ids: Vec<&str> = hits.iter().map(|hit| hit.memory.id.as_str()).collect();
    let replaced = store.replacements(&ids)?;
    let marks = store.marks(&ids)?;
    let found: Vec<Memory> = hits.iter().map(|hit| hit.memory.clone()).collect();
    let roots = store.project_roots(&found)?;
    let outdated = outdated_files(store, &found, &roots, runtime.now);
    let explain = arguments.explain.then_some(profile);
    let details: Vec<Vec<String>> = hits
        .iter()
        .zip(&lines)
        .zip(replaced.iter().zip(marks))
        .zip(&outdated)
        .map(|(((hit, lines), (replaced, marks)), outdated)| {
            details(hit, explain, marks, replaced.as_ref(), outdated, lines)
        })
        .collect();
    let (memories, explanations): (Vec<Memory>, Vec<Explanation>) =
        hits.into_iter().map(|hit| (hit.memory, Explanation { words: hit.words, why: hit.why })).unzip();
    if arguments.json {
        let entries = entry::entries(store, &memories, &roots)?;
        let found: Vec<SearchResult<'_>> = entries
            .into_iter()
            .zip(&explanations)
            .zip(&lines)
            .zip(&outdated)
            .map(|(((entry, explanation), lines), outdated_files)| SearchResult {
                entry,
                lines,
                outdated_files,
                explanation: arguments.explain.then_some(explanation),
            })
            .collect();
        output::json(&found)?;
    } else if memories.is_empty() && arguments.query.iter().all(|word| word.trim().is_empty()) {
        writeln!(
            anstream::stderr().lock(),
            "there are no words to search for; `throughline memory list` shows the newest memories"
        )?;
    } else if memories.is_empty() {
        scope::print_nothing_found(runtime, store, &restriction.scope, "nothing found")?;
    } else {
        let words: Vec<Vec<String>> = explanations.into_iter().map(|explanation| explanation.words).collect();
        let projects = project.is_none() || entry::has_shared(&memories);
        entry::write_table(runtime, store, &memories, TableOptions { projects, excerpts: true, words: &words }, &details)?;
        if memories.len() >= most {
            output::print_more(memories.len(), None)?;
        }
    }
    let ids: Vec<String> = memories.into_iter().map(|memory| memory.id).collect();
    search::record_lookup(runtime, store, &ids);
    Ok(())
}

/// Returns what stands below a result.
fn details(
    hit: &SearchHit,
    explain: Option<&Profile>,
    of_person: Marks,
    replaced: Option<&Replacement>,
    outdated: &[OutdatedFile],
    lines: &[String],
) -> Vec<String> {
    let mut all = marks::describe(&hit.memory, of_person);
    all.extend(explain.map(|profile| explanation(hit, profile)).into_iter().flatten());
    all.extend(replaced.map(links::replaced));
    all.extend(describe_outdated(outdated).map(|line| output::clean_line(&line)));
    all.extend(lines.iter().take(MAX_DIGEST_LINES).map(|line| output::clean_line(line)));
    all
}

/// A result as printed with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SearchResult<'a> {
    #[serde(flatten)]
    entry: Entry<'a>,
    /// For a digest, the lines that contain words of the query.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    lines: &'a [String],
    /// The files that it is about and that are gone, missing or much changed since it was learned.
    #[serde(skip_serializing_if = "<[OutdatedFile]>::is_empty")]
    outdated_files: &'a [OutdatedFile],
    /// What `--explain` adds.
    #[serde(flatten)]
    explanation: Option<&'a Explanation>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Explanation {
    /// The words of the query that its best chunk contains, as tokens of the index.
    words: Vec<String>,
    why: ScoreExplanation,
}

/// Returns the lines of a digest that contain words of the query, those with most of them first.
fn lines(hit: &SearchHit) -> Vec<String> {
    if !hit.memory.attributes.iter().any(|(name, value)| (name.as_str(), value.as_str()) == DIGEST) {
        return Vec::new();
    }
    let mut lines: Vec<(usize, &str)> = hit
        .memory
        .content
        .lines()
        .map(|line| {
            let tokens = tokens::index_text(line);
            (hit.words.iter().filter(|word| tokens.split(' ').any(|token| token == *word)).count(), line)
        })
        .filter(|(count, _)| *count > 0)
        .collect();
    lines.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    lines.into_iter().map(|(_, line)| line.to_owned()).collect()
}

/// Explains a score, for people.
fn explanation(hit: &SearchHit, profile: &Profile) -> Vec<String> {
    let ScoreExplanation { bm25, session, text, cosine, vector, vector_share, relevance, prior, repeat } = hit.why;
    let repeated = if repeat < 1.0 {
        format!(", {repeat:.2} because another memory of its session ranks higher")
    } else {
        String::new()
    };
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
        _ => lines.push("meaning: unknown".to_owned()),
    }
    lines
}
