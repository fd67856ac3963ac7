//! The model's answer: parsed, and checked against the request.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::plan::Chunk;

/// The JSON Schema of an answer.
pub const SCHEMA: &str = include_str!("schema.json");

/// The kinds that the model may write.
const KINDS: [&str; 8] =
    ["session_summary", "decision", "error_fix", "preference", "learning", "task", "discovery", "convention"];

/// The most memories of one answer.
const MAX_MEMORIES: usize = 40;

/// An answer.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// New memories.
    pub memories: Vec<Memory>,
    /// Pairs of sources, by their short names: the second takes the place of the first.
    #[serde(default)]
    pub superseded: Vec<(String, String)>,
}

/// A new memory.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// A core kind.
    pub kind: String,
    /// One line.
    pub title: Statement,
    /// The content.
    pub statements: Vec<Statement>,
    /// Sources that it takes the place of, by their short names.
    #[serde(default)]
    pub replaces: Vec<String>,
    /// Search words.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// From 0 to 1.
    #[serde(default = "half")]
    pub importance: f32,
}

/// A sentence and the lines that say it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The sentence.
    pub text: String,
    /// Identifiers of lines.
    pub cites: Vec<String>,
}

fn half() -> f32 {
    0.5
}

impl Answer {
    /// Parses an answer to the request that a chunk made.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words that the model can act on.
    pub fn parse(text: &str, chunk: &Chunk) -> Result<Self, String> {
        let answer: Self = serde_json::from_str(text).map_err(|error| format!("it does not match the schema: {error}"))?;
        if answer.memories.len() > MAX_MEMORIES {
            return Err(format!("it has {} memories, but only {MAX_MEMORIES} are allowed", answer.memories.len()));
        }
        let lines: BTreeSet<&str> = chunk.lines.iter().map(String::as_str).collect();
        for memory in &answer.memories {
            if !KINDS.contains(&memory.kind.as_str()) {
                return Err(format!("there is no kind {:?}", memory.kind));
            }
            if memory.statements.is_empty() {
                return Err(format!("a memory of the kind {} has no statement", memory.kind));
            }
            for statement in std::iter::once(&memory.title).chain(&memory.statements) {
                if let Some(unknown) = statement.cites.iter().find(|line| !lines.contains(line.as_str())) {
                    return Err(format!("a statement cites the line {unknown:?}, which is not there"));
                }
                if statement.cites.is_empty() {
                    return Err(format!("the statement {:?} cites no line", statement.text));
                }
            }
            if let Some(unknown) = memory.replaces.iter().find(|name| !chunk.names.contains_key(name.as_str())) {
                return Err(format!("replaces names the source {unknown:?}, which is not there"));
            }
        }
        let is_unknown = |name: &&String| !chunk.names.contains_key(name.as_str());
        if let Some(unknown) = answer.superseded.iter().flat_map(|(older, newer)| [older, newer]).find(is_unknown) {
            return Err(format!("superseded names the source {unknown:?}, which is not there"));
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chunk() -> Chunk {
        Chunk {
            text: String::new(),
            lines: vec!["1".into(), "2".into()],
            names: [("m1".to_owned(), "id-1".to_owned())].into(),
            has_summary: true,
        }
    }

    const GOOD: &str = r#"{"memories": [{"kind": "decision", "title": {"text": "a", "cites": ["1"]},
        "statements": [{"text": "b", "cites": ["2"]}], "replaces": ["m1"], "keywords": [], "importance": 0.5}], "superseded": []}"#;

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(Answer::parse(GOOD, &chunk()).unwrap().memories.len(), 1);
        for (from, to, word) in [
            ("decision", "poem", "poem"),
            ("[\"2\"]", "[\"7\"]", "\"7\""),
            ("[\"2\"]", "[]", "cites no line"),
            ("m1", "m9", "m9"),
            ("\"superseded\": []", "\"superseded\": [[\"m1\", \"m2\"]]", "m2"),
            ("\"keywords\"", "\"tags\"", "schema"),
            ("{\"memories\"", "sorry {\"memories\"", "schema"),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD);
            let problem = Answer::parse(&text, &chunk()).unwrap_err();
            assert!(problem.contains(word), "{problem}");
        }
        serde_json::from_str::<serde_json::Value>(SCHEMA).unwrap();
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(text in "\\PC{0,200}", cut in 0_usize..300) {
            let _ = Answer::parse(&text, &chunk());
            let cut = GOOD.floor_char_boundary(cut.min(GOOD.len()));
            let _ = Answer::parse(&GOOD[..cut], &chunk());
        }
    }
}
