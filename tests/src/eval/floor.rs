//! The floor: what the database's own full-text search finds with an OR of the words, over the units that are labelled.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use rusqlite::Connection;
use serde_json::Value;

use super::run::{Answer, LIMIT};
use super::set::{Question, Set, Source};

/// Words that are not searched for: articles, prepositions, pronouns, auxiliaries, and what questions begin with. A floor
/// without them is a higher one.
const STOP_WORDS: &str = "a about after all also am an and any are as at be been before being between both but by can could did do does \
     doing done each for from had has have having he her here him his how i if in into is it its just may me might \
     more most must my no not of on only or other our over own same shall she should so some such than that the their \
     them then there these they this those to too us very was we were what when where which who whom whose why will \
     with would you your";

/// What a word is to the floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// As `porter unicode61` has it.
    Porter,
    /// The same, with scripts that have no spaces between words, or whose words take endings, in pairs of characters.
    Pairs,
}

/// Asks all questions of FTS5 with `porter unicode61`.
pub fn answers(set: &Set, split: Split) -> Result<Vec<Answer>> {
    let db = Connection::open_in_memory()?;
    let tables = fill(&db, set, split)?;
    set.questions.iter().map(|question| answer(&db, &tables, question, split)).collect()
}

/// Whether questions are in a script that [`Split::Pairs`] divides.
pub fn has_pairs(set: &Set) -> bool {
    set.questions.iter().any(|question| question.query.chars().any(is_paired))
}

fn is_paired(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Divides runs of such scripts into pairs of characters; a character alone stays.
fn divided(text: &str, split: Split) -> String {
    if split == Split::Porter {
        return text.to_owned();
    }
    let mut out = String::new();
    let chars: Vec<char> = text.chars().collect();
    for run in chars.chunk_by(|a, b| is_paired(*a) == is_paired(*b)) {
        if is_paired(run[0]) && run.len() > 1 {
            for pair in run.windows(2) {
                out.push(' ');
                out.extend(pair);
            }
            out.push(' ');
        } else {
            out.extend(run);
        }
    }
    out
}

/// A table a project, so that words are weighed within it, and one of all where questions are asked of all. A document and
/// its session's others are one row where sessions are labelled. Gives the tables by project.
fn fill(db: &Connection, set: &Set, split: Split) -> Result<HashMap<String, String>> {
    let mut texts: Vec<(String, String, String)> = Vec::new();
    match &set.source {
        Source::Documents(documents) => {
            let mut places: HashMap<(&str, &str), usize> = HashMap::new();
            for document in documents {
                let label = document.label(set.unit);
                let place = *places.entry((&document.project, label)).or_insert_with(|| {
                    texts.push((document.project.clone(), label.to_owned(), String::new()));
                    texts.len() - 1
                });
                let text = &mut texts[place].2;
                for part in ["title", "content", "keywords", "files"] {
                    match document.others.get(part) {
                        Some(Value::String(words)) => push(text, words),
                        Some(Value::Array(list)) => {
                            for words in list.iter().filter_map(Value::as_str) {
                                push(text, words);
                            }
                        }
                        _ if part == "content" => push(text, &document.content),
                        _ => {}
                    }
                }
            }
        }
        Source::Transcripts(folder) => {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == "jsonl") {
                    let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    texts.push((String::new(), id, said(&path)?));
                }
            }
        }
    }
    let mut tables: HashMap<String, String> = HashMap::new();
    for question in &set.questions {
        let name = format!("t{}", tables.len());
        if !tables.contains_key(&question.project) {
            db.execute_batch(&format!(
                "CREATE VIRTUAL TABLE {name} USING fts5 (label UNINDEXED, text, tokenize = 'porter unicode61')"
            ))?;
            tables.insert(question.project.clone(), name);
        }
    }
    db.execute_batch("BEGIN")?;
    for (project, label, text) in &texts {
        for name in [Some(project), Some(&String::new()).filter(|_| !project.is_empty())].into_iter().flatten() {
            if let Some(table) = tables.get(name) {
                db.prepare_cached(&format!("INSERT INTO {table} VALUES (?1, ?2)"))?
                    .execute((label, divided(text, split)))?;
            }
        }
    }
    db.execute_batch("COMMIT")?;
    Ok(tables)
}

fn answer(db: &Connection, tables: &HashMap<String, String>, question: &Question, split: Split) -> Result<Answer> {
    let table = tables.get(&question.project).context("a question of an unknown project")?;
    let started = Instant::now();
    let stop_words: HashSet<&str> = STOP_WORDS.split_whitespace().collect();
    let words = divided(&question.query, split)
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty() && !stop_words.contains(word.to_lowercase().as_str()))
        .map(|word| format!("\"{word}\""))
        .collect::<Vec<_>>()
        .join(" OR ");
    if words.is_empty() {
        return Ok(Answer { ranking: Vec::new(), took: started.elapsed() });
    }
    let ranking = db
        .prepare_cached(&format!("SELECT label FROM {table} WHERE {table} MATCH ?1 ORDER BY rank LIMIT ?2"))?
        .query_map((words, LIMIT), |row| row.get(0))?
        .collect::<Result<Vec<String>, _>>()?;
    Ok(Answer { ranking, took: started.elapsed() })
}

/// All that the human and the agent said in a transcript; not what tools printed.
fn said(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut text = String::new();
    let lines = String::from_utf8_lossy(&bytes);
    for line in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if !matches!(line["type"].as_str(), Some("user" | "assistant")) || line["isMeta"] == true {
            continue;
        }
        match &line["message"]["content"] {
            Value::String(said) => push(&mut text, said),
            Value::Array(blocks) => {
                for block in blocks.iter().filter(|block| block["type"] == "text") {
                    push(&mut text, block["text"].as_str().unwrap_or_default());
                }
            }
            _ => {}
        }
    }
    Ok(text)
}

fn push(text: &mut String, said: &str) {
    text.push_str(said);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::set::{Document, Unit};
    use super::*;

    #[test]
    fn words_are_weighed_within_a_project_and_sessions_are_one_row() {
        let document = |project: &str, session: &str, content: &str| Document {
            project: project.into(),
            session: session.into(),
            content: content.into(),
            ..Document::default()
        };
        let question =
            |query: &str, project: &str| Question { query: query.into(), project: project.into(), ..Question::default() };
        let set = Set {
            name: String::new(),
            source: Source::Documents(vec![
                document("p", "s1", "the otter"),
                document("p", "s1", "swims"),
                document("q", "s2", "an otter flies"),
            ]),
            unit: Unit::Session,
            questions: vec![question("otters", "p"), question("swimming otter", ""), question("the", "q")],
        };
        let rankings: Vec<Vec<String>> =
            answers(&set, Split::Porter).expect("answers").into_iter().map(|answer| answer.ranking).collect();
        assert_eq!(rankings, [vec!["s1"], vec!["s1", "s2"], vec![]]);
        assert!(!has_pairs(&set));
        assert_eq!(divided("값이 v2다", Split::Pairs), " 값이  v2다");
        assert_eq!(divided("인증을 cache", Split::Pairs), " 인증 증을  cache");
    }
}
