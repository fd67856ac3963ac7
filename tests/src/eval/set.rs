//! A labelled set: what is searched, the questions, and which results answer them. Read from JSON lines, and written as such.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};

/// What a label names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A document, by its id.
    Document,
    /// A session; each counts where its first document stands.
    Session,
}

/// One thing to be remembered: a line of an import.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// Its name in labels; empty where labels are sessions.
    pub id: String,
    /// A project's name; empty: of none.
    pub project: String,
    /// Its session; may be empty.
    pub session: String,
    /// All that it says.
    pub content: String,
    /// Other fields of the import.
    pub others: Map<String, Value>,
}

impl Document {
    /// The line that `import` reads.
    pub fn line(&self) -> Value {
        let mut line = self.others.clone();
        for (name, value) in
            [("id", &self.id), ("project", &self.project), ("session_id", &self.session), ("content", &self.content)]
        {
            if !value.is_empty() {
                line.insert(name.into(), value.as_str().into());
            }
        }
        Value::Object(line)
    }

    /// What a label would call it.
    pub fn label(&self, unit: Unit) -> &str {
        match unit {
            Unit::Document => &self.id,
            Unit::Session => &self.session,
        }
    }
}

/// A question and its answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Question {
    /// What is searched for.
    pub query: String,
    /// How relevant each label is; without any the right answer is none.
    pub relevant: BTreeMap<String, f64>,
    /// What must not be among the first.
    pub forbidden: BTreeSet<String>,
    /// Reported apart.
    pub kind: String,
    /// The project that it is asked in; empty: all.
    pub project: String,
}

/// What is searched.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Documents to import.
    Documents(Vec<Document>),
    /// A folder of transcripts to ingest, named by their sessions.
    Transcripts(PathBuf),
}

/// A labelled set.
#[derive(Debug, Clone, PartialEq)]
pub struct Set {
    /// What to call it.
    pub name: String,
    /// What is searched.
    pub source: Source,
    /// What labels name.
    pub unit: Unit,
    /// The questions.
    pub questions: Vec<Question>,
}

impl Set {
    /// Documents and questions as JSON lines. A document is a line of `import` with an id. A question has `query`;
    /// `relevant`, a list of ids or an object of grades, or `session_id`, the session that answers it; and may have `kind`,
    /// `project`, `forbidden`, and `filters`, words of the search's own syntax (`type:decision`).
    pub fn jsonl(documents: &Path, questions: &Path) -> Result<Self> {
        let documents = lines(documents)?
            .into_iter()
            .map(|(place, value)| document(value).with_context(|| place))
            .collect::<Result<Vec<_>>>()?;
        let (questions, unit) = self::questions(questions)?;
        let known: BTreeSet<&str> = documents.iter().map(|document| document.label(unit)).collect();
        for question in &questions {
            if let Some(label) = question.relevant.keys().find(|label| !known.contains(label.as_str())) {
                bail!("{:?} is to be answered by {label:?}, and no document is called so", question.query);
            }
        }
        Ok(Self { name: "jsonl".into(), source: Source::Documents(documents), unit, questions })
    }

    /// Transcripts, and questions that name their sessions.
    pub fn transcripts(folder: &Path, questions: &Path) -> Result<Self> {
        let folder = fs::canonicalize(folder).with_context(|| format!("cannot find {}", folder.display()))?;
        let (questions, unit) = self::questions(questions)?;
        ensure!(unit == Unit::Session, "questions about transcripts need a session_id");
        Ok(Self { name: "transcripts".into(), source: Source::Transcripts(folder), unit, questions })
    }

    /// Writes `documents.jsonl` and `queries.jsonl`, which [`Set::jsonl`] reads.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let Source::Documents(documents) = &self.source else {
            bail!("transcripts are no documents: there is nothing to write")
        };
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        write_lines(&folder.join("documents.jsonl"), documents.iter().map(Document::line))?;
        let questions = self.questions.iter().map(|question| {
            let mut line = json!({"query": question.query});
            match self.unit {
                Unit::Document => line["relevant"] = json!(question.relevant),
                Unit::Session => line["sessions"] = json!(question.relevant),
            }
            for (name, value) in [("kind", &question.kind), ("project", &question.project)] {
                if !value.is_empty() {
                    line[name] = value.as_str().into();
                }
            }
            if !question.forbidden.is_empty() {
                line["forbidden"] = json!(question.forbidden);
            }
            line
        });
        write_lines(&folder.join("queries.jsonl"), questions)
    }
}

fn write_lines(path: &Path, lines: impl Iterator<Item = Value>) -> Result<()> {
    let mut text = Vec::new();
    for line in lines {
        writeln!(text, "{line}")?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The objects of a file of JSON lines, each with its place in words.
fn lines(path: &Path) -> Result<Vec<(String, Map<String, Value>)>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut values = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("{}, line {}", path.display(), number + 1);
        match serde_json::from_str(line) {
            Ok(Value::Object(value)) => values.push((place, value)),
            Ok(_) => bail!("{place}: it is no JSON object"),
            Err(error) => bail!("{place}: it is no JSON: {error}"),
        }
    }
    ensure!(!values.is_empty(), "{} has no lines", path.display());
    Ok(values)
}

/// A string or a number as text; empty where there is none.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

fn document(mut fields: Map<String, Value>) -> Result<Document> {
    let mut take = |name: &str| fields.remove(name).map(|value| text(&value)).unwrap_or_default();
    let (id, project, session, content) = (take("id"), take("project"), take("session_id"), take("content"));
    ensure!(!content.is_empty(), "the document has no content");
    Ok(Document { id, project, session, content, others: fields })
}

fn questions(path: &Path) -> Result<(Vec<Question>, Unit)> {
    let mut unit = None;
    let mut questions = Vec::new();
    for (place, fields) in lines(path)? {
        let (question, own) = question(&fields).with_context(|| place.clone())?;
        ensure!(*unit.get_or_insert(own) == own, "{place}: other questions name {:?}s", unit.unwrap_or(own));
        questions.push(question);
    }
    Ok((questions, unit.unwrap_or(Unit::Document)))
}

fn question(fields: &Map<String, Value>) -> Result<(Question, Unit)> {
    let field = |name: &str| fields.get(name).unwrap_or(&Value::Null);
    let mut query = text(field("query"));
    ensure!(!query.is_empty(), "the question has no query");
    for filter in field("filters").as_array().into_iter().flatten() {
        query = format!("{query} {}", text(filter));
    }
    let (labels, unit) = match (field("relevant"), field("sessions"), field("session_id")) {
        (Value::Null, Value::Null, Value::Null) => bail!("the question has neither relevant nor session_id"),
        (Value::Null, Value::Null, session) => (grades(&json!([session]))?, Unit::Session),
        (Value::Null, sessions, _) => (grades(sessions)?, Unit::Session),
        (relevant, ..) => (grades(relevant)?, Unit::Document),
    };
    let forbidden = field("forbidden").as_array().into_iter().flatten().map(text).collect();
    let question =
        Question { query, relevant: labels, forbidden, kind: text(field("kind")), project: text(field("project")) };
    Ok((question, unit))
}

/// A list of labels, or an object of grades.
fn grades(value: &Value) -> Result<BTreeMap<String, f64>> {
    match value {
        Value::Array(labels) => Ok(labels.iter().map(|label| (text(label), 1.0)).collect()),
        Value::Object(grades) => grades
            .iter()
            .map(|(label, grade)| {
                Ok((label.clone(), grade.as_f64().with_context(|| format!("the grade of {label:?} is no number"))?))
            })
            .collect(),
        _ => bail!("relevant is neither a list of ids nor an object of grades"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &Value) -> Result<(Question, Unit)> {
        question(line.as_object().expect("an object"))
    }

    #[test]
    fn labels_are_lists_grades_or_sessions() {
        let (question, unit) =
            asked(&json!({"query": "q", "relevant": ["a", 7], "filters": ["type:note"]})).expect("a question");
        assert_eq!((question.query.as_str(), unit), ("q type:note", Unit::Document));
        assert_eq!(question.relevant, BTreeMap::from([("7".to_owned(), 1.0), ("a".to_owned(), 1.0)]));
        let (question, unit) = asked(&json!({"query": "q", "session_id": "s"})).expect("a question");
        assert_eq!((question.relevant.keys().next().map(String::as_str), unit), (Some("s"), Unit::Session));
        let (question, _) = asked(&json!({"query": "q", "relevant": {"a": 3}})).expect("a question");
        assert!((question.relevant["a"] - 3.0).abs() < 1e-9);
        for wrong in [json!({"query": "q"}), json!({"relevant": []}), json!({"query": "q", "relevant": 1})] {
            assert!(asked(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let document =
            |id: &str| Document { id: id.into(), project: "p".into(), content: format!("text {id}"), ..Document::default() };
        let question = Question {
            query: "text".into(),
            relevant: BTreeMap::from([("a".to_owned(), 2.0)]),
            forbidden: BTreeSet::from(["b".to_owned()]),
            kind: "k".into(),
            project: "p".into(),
        };
        let set = Set {
            name: "jsonl".into(),
            source: Source::Documents(vec![document("a"), document("b")]),
            unit: Unit::Document,
            questions: vec![question],
        };
        set.write(folder.path()).expect("written");
        let (documents, queries) = (folder.path().join("documents.jsonl"), folder.path().join("queries.jsonl"));
        assert_eq!(Set::jsonl(&documents, &queries).expect("read"), set);
        fs::write(&queries, "{\"query\": \"text\", \"relevant\": [\"nobody\"]}\n").expect("written");
        assert!(Set::jsonl(&documents, &queries).unwrap_err().to_string().contains("no document is called so"));
        fs::write(&queries, "[]\n").expect("written");
        assert!(Set::jsonl(&documents, &queries).unwrap_err().to_string().contains("line 1: it is no JSON object"));
    }
}
