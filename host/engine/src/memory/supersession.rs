//! Compares new memories with the others of their project, and links those whose place a later one took.
//!
//! Sessions, imports, notes and people bring memories in; whatever was not compared yet is found by a mark of the
//! project. A reading hook leaves this to a detached process. For a small project, the start of a session does this
//! itself, so that it shows the current statements.

use std::collections::HashMap;

use anyhow::Result;

use throughline_embedding::local;
use throughline_model::contract::Memory;
use throughline_search::supersession::{Change, Meaning, Relation, Statement, Subject, compare};
use throughline_store::{Comparison, EXTERNAL_ID, SAVED, Store, Supersession};

/// Kinds that are not compared: a commit is history, and the others repeat what other memories say.
const NOT_COMPARED: &[&str] = &[COMMIT, "plan", "failure", "compact_summary"];

/// Kinds that state nothing by themselves, but repeat what statements of their session say.
const REPEATING: &[&str] = &["turn", "session_summary"];

/// Kinds that the extractor makes of what statements of their session say. A person, an agent, a note or an import may state
/// something with the same kinds.
const EXTRACTED: &[&str] = &["learning", "error_fix", "convention"];

/// The longest statement, in characters. A longer text says many things, of which a later one changes a few.
const MAX_STATEMENT_CHARS: usize = 900;

/// An archived turn, what stands in it between the request and the answer, and the longest answer that is compared in the
/// place of the result that was made of it.
const TURN: &str = "turn";
const TURN_BREAK: &str = "\n\n";
const MAX_ANSWER_CHARS: usize = 1_200;

/// What was decided.
const DECISION: &str = "decision";

/// What came of a request.
const RESULT: &str = "result";

/// What was committed.
const COMMIT: &str = "commit";

/// How many memories of each kind are compared, the newest ones. The work grows with their number: 3,000 memories of
/// usual length take about 50 ms.
const MAX_COMPARED: u32 = 3_000;

/// With fewer memories than this, of all kinds together, a session's start compares them itself.
const MAX_AT_START: u32 = 200;

/// Compares a project's new memories with all others, and stores the links. Returns how many are new.
pub fn link_project(store: &mut Store, project: &str, now: u64) -> Result<u64> {
    match store.to_compare(project, NOT_COMPARED, MAX_COMPARED)? {
        Some(comparison) => put(store, project, &comparison, now),
        None => Ok(0),
    }
}

/// Does the same for all projects.
pub fn link_all(store: &mut Store, now: u64) -> Result<u64> {
    let mut linked = 0;
    for project in store.all_projects()? {
        linked += link_project(store, &project.id, now)?;
    }
    Ok(linked)
}

/// Does the same at a session's start if there are few enough memories that the delay does not matter. Returns false if
/// others must do it.
pub fn link_at_start(store: &mut Store, project: &str, now: u64) -> Result<bool> {
    let Some(comparison) = store.to_compare(project, NOT_COMPARED, MAX_AT_START)? else { return Ok(true) };
    if comparison.memories.len() >= MAX_AT_START as usize {
        return Ok(false);
    }
    put(store, project, &comparison, now)?;
    Ok(true)
}

/// Returns whether a project has memories that were not compared yet.
pub fn is_due(store: &Store, project: &str) -> Result<bool> {
    Ok(store.has_uncompared(project)?)
}

fn put(store: &mut Store, project: &str, comparison: &Comparison, now: u64) -> Result<u64> {
    let turns = turns(comparison);
    let statements: Vec<Statement<'_>> =
        comparison.memories.iter().map(|it| statement(&it.memory, &turns, it.is_new)).collect();
    let id = |at: usize| comparison.memories[at].memory.id.clone();
    let embed = |text: &str| local::embed(text).map(|it| Meaning { vector: it.vector, known: it.known });
    let mut links: Vec<Supersession> = compare(&statements, &embed)
        .into_iter()
        .map(|link| Supersession {
            older: id(link.older),
            newer: id(link.newer),
            relation: link.relation,
            change: link.change,
            similarity: Some(link.similarity),
            made_at: now,
            undone_at: None,
        })
        .collect();
    links.extend(of_commits(store, project, comparison, &links)?);
    Ok(store.put_comparison(project, comparison, &links)?)
}

/// Returns the links of the commits that an older memory names by their subjects. They are no statements, but say the same: what
/// changed it, or may have, may also have changed them.
fn of_commits(store: &Store, project: &str, comparison: &Comparison, links: &[Supersession]) -> Result<Vec<Supersession>> {
    let memories: HashMap<&str, &Memory> =
        comparison.memories.iter().map(|it| (it.memory.id.as_str(), &it.memory)).collect();
    let mut commits: HashMap<&str, Vec<Memory>> = HashMap::new();
    let mut found = Vec::new();
    for link in links.iter().filter(|link| link.relation.supersedes() || link.change == Change::Likely) {
        let (Some(older), Some(newer)) = (memories.get(link.older.as_str()), memories.get(link.newer.as_str())) else {
            continue;
        };
        // The summary of a session names all its commits.
        if older.session_id.is_empty() || older.kind != RESULT {
            continue;
        }
        if !commits.contains_key(older.session_id.as_str()) {
            commits.insert(&older.session_id, store.of_session(project, &older.session_id, COMMIT)?);
        }
        let own = commits[older.session_id.as_str()].iter();
        let named =
            own.filter(|commit| commit.created < newer.created && older.content.contains(&format!("\"{}\"", commit.title)));
        found.extend(named.map(|commit| Supersession {
            older: commit.id.clone(),
            relation: Relation::Follows,
            change: Change::Likely,
            ..link.clone()
        }));
    }
    Ok(found)
}

/// Returns whether a line of an archived turn is a command that was run.
fn is_command(line: &str) -> bool {
    let line = line.trim();
    line.len() > 2 && line.starts_with('`') && line.ends_with('`') && line.matches('`').count() == 2
}

/// The answers of archived turns, by their session and time; `None` for those that are too long or report work step by step.
type Turns<'a> = HashMap<(&'a str, u64), Option<&'a str>>;

/// Returns what was answered in the turns. A result keeps the most informative sentences of an answer; that something changed
/// may stand in another one.
fn turns(comparison: &Comparison) -> Turns<'_> {
    let mut turns = Turns::new();
    for turn in comparison.memories.iter().map(|it| &it.memory).filter(|it| it.kind == TURN && !it.session_id.is_empty()) {
        if let Some((_, answer)) = turn.content.split_once(TURN_BREAK) {
            let is_plain = answer.chars().nth(MAX_ANSWER_CHARS).is_none() && !answer.lines().any(is_command);
            let answer = Some(answer).filter(|_| is_plain);
            turns.insert((turn.session_id.as_str(), turn.created), answer);
        }
    }
    turns
}

fn statement<'a>(memory: &'a Memory, turns: &Turns<'a>, is_new: bool) -> Statement<'a> {
    let has = |wanted: &str| memory.attributes.iter().any(|(name, _)| name == wanted);
    let is_imported = has(EXTERNAL_ID);
    let is_extracted = !memory.session_id.is_empty() && !has(SAVED.0) && !is_imported;
    let is_repeating =
        REPEATING.contains(&memory.kind.as_str()) || (is_extracted && EXTRACTED.contains(&memory.kind.as_str()));
    let turn = turns.get(&(memory.session_id.as_str(), memory.created)).filter(|_| memory.kind == RESULT);
    Statement {
        session: &memory.session_id,
        created: memory.created,
        title: settled(&memory.kind, &memory.title),
        content: turn.copied().flatten().unwrap_or_else(|| settled(&memory.kind, &memory.content)),
        // Another program may have stored a whole session as one memory.
        is_whole: !is_imported && turn.is_none_or(Option::is_some),
        is_statement: !is_repeating && memory.content.chars().nth(MAX_STATEMENT_CHARS).is_none(),
        subject: match memory.kind.as_str() {
            "task" => Subject::Task,
            // A person or a note may settle something with this kind.
            "discovery" if is_extracted => Subject::Finding,
            _ => Subject::Deed,
        },
        is_new,
    }
}

/// Returns what a text of that kind settles: of a decision not why, and not what was rejected. What is left out has words such as
/// "option" and "reason" that all decisions share.
fn settled<'a>(kind: &str, text: &'a str) -> &'a str {
    const ASIDE: [&str; 2] = [" Why: ", " Rejected: "];
    if kind != DECISION {
        return text;
    }
    let end = ASIDE.iter().filter_map(|aside| text.find(aside)).min().unwrap_or(text.len());
    let told = &text[..end];
    match told.strip_prefix("Option ").and_then(|rest| rest.split_once(": ")) {
        Some((number, chosen)) if number.len() <= 2 => chosen,
        _ => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_decision_only_the_choice_is_compared() {
        let decided = "Where do labels go? → Option 2: an own bucket. Why: cheap. Rejected: Option 1: the database";
        assert_eq!(settled("decision", decided), "Where do labels go? → Option 2: an own bucket.");
        assert_eq!(settled("decision", "Option 2: an own bucket. Rejected: none"), "an own bucket.");
        assert_eq!(settled("decision", "Option pricing: by the hour"), "Option pricing: by the hour");
        assert_eq!(settled("result", decided), decided);
    }
}
