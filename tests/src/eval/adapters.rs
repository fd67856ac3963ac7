//! Sets in the formats of others, read from files that the user supplies: `DevMemBench`, `LoCoMo`, REALTALK,
//! `LongMemEval`, `CoSQA`, KLUE-NLI, and replay sets.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Map;

use super::set::{Document, Question, Set, Source, Unit};

/// The longest content that is imported, bytes; what is longer is cut.
const MAX_CONTENT: usize = 64 << 10;

/// What a document is where sessions are labelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Grain {
    /// Each message
    Message,
    /// A message of the human and what answers it
    Exchange,
    /// The whole session
    Session,
}

/// Someone's words in a dialogue.
#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
}

fn read<T: DeserializeOwned>(path: &Path, what: &str) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not {what}", path.display()))
}

/// The messages of a session as documents.
fn documents(project: &str, session: &str, created: Option<&str>, messages: &[Message], grain: Grain) -> Vec<Document> {
    let mut texts: Vec<String> = Vec::new();
    for (number, message) in messages.iter().filter(|message| !message.content.trim().is_empty()).enumerate() {
        let begins = match grain {
            Grain::Message => true,
            Grain::Exchange => message.role == "user",
            Grain::Session => false,
        };
        match texts.last_mut().filter(|_| !begins && number > 0) {
            Some(text) => *text = format!("{text}\n\n{}", message.content),
            None => texts.push(message.content.clone()),
        }
    }
    let mut others = Map::new();
    if let Some(created) = created {
        others.insert("created_at".into(), created.into());
    }
    texts
        .into_iter()
        .enumerate()
        .map(|(number, content)| Document {
            id: format!("{session}/{number}"),
            project: project.into(),
            session: session.into(),
            content: content[..content.floor_char_boundary(MAX_CONTENT)].to_owned(),
            others: others.clone(),
        })
        .collect()
}

/// A time in the notation of a set, as RFC 3339 in UTC without a zone; none where it is written otherwise.
fn time(text: &str, format: &str) -> Option<String> {
    jiff::civil::DateTime::strptime(format, text).ok().map(|time| time.to_string())
}

/// `DevMemBench`: `sessions.json` and `questions.json` in one folder. A question is answered by sessions.
pub fn devmembench(folder: &Path, grain: Grain) -> Result<Set> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Dialogue {
        session_id: String,
        #[serde(default)]
        metadata: Metadata,
        messages: Vec<Message>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Metadata {
        date: Option<String>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Asked {
        question_type: String,
        question: String,
        haystack_session_ids: Vec<String>,
    }
    let sessions: Vec<Dialogue> = read(&folder.join("sessions.json"), "a DevMemBench file of sessions")?;
    let asked: Vec<Asked> = read(&folder.join("questions.json"), "a DevMemBench file of questions")?;
    let documents = sessions
        .iter()
        .flat_map(|it| documents("", &it.session_id, it.metadata.date.as_deref(), &it.messages, grain))
        .collect();
    let questions = asked
        .into_iter()
        .map(|it| Question {
            query: it.question,
            relevant: it.haystack_session_ids.into_iter().map(|id| (id, 1.0)).collect(),
            kind: it.question_type,
            ..Question::default()
        })
        .collect();
    finish(Set { name: "devmembench".into(), source: Source::Documents(documents), unit: Unit::Session, questions })
}

/// A turn of a conversation, as `LoCoMo` and REALTALK have it.
#[derive(Deserialize)]
struct Turn {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    clean_text: Option<String>,
    #[serde(default)]
    blip_caption: Option<String>,
}

/// A question about a conversation.
#[derive(Deserialize)]
struct AskedOfTurns {
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
    category: u32,
}

/// The documents and the questions of one conversation, a project. Adversarial questions (category 5), to which there is no
/// answer, are left out, and so are those whose evidence names no turn.
fn conversation(
    place: &str,
    project: &str,
    fields: &Map<String, serde_json::Value>,
    asked: Vec<AskedOfTurns>,
    set: (&mut Vec<Document>, &mut Vec<Question>),
) -> Result<()> {
    let (documents, questions) = set;
    let mut turns = HashSet::new();
    for (session, value) in fields.iter().filter(|(name, value)| name.starts_with("session_") && value.is_array()) {
        let said: Vec<Turn> = serde_json::from_value(value.clone()).with_context(|| format!("{place}, {session}"))?;
        let at = fields.get(&format!("{session}_date_time")).and_then(|at| at.as_str());
        let at = at.and_then(|at| time(at, "%I:%M %p on %d %B, %Y"));
        for turn in said {
            let mut content = format!("{}: {}", turn.speaker, turn.clean_text.unwrap_or(turn.text));
            if let Some(caption) = turn.blip_caption {
                content = format!("{content} [{caption}]");
            }
            turns.insert(turn.dia_id.clone());
            documents.push(Document {
                id: format!("{project}/{}", turn.dia_id),
                project: project.to_owned(),
                session: format!("{project}/{session}"),
                content,
                others: at.iter().map(|at| ("created_at".to_owned(), at.as_str().into())).collect(),
            });
        }
    }
    for asked in asked.into_iter().filter(|asked| asked.category != 5) {
        // Some have several turns in one string.
        let evidence = asked.evidence.iter().flat_map(|turns| turns.split([';', ',', ' '])).map(str::trim);
        let relevant: BTreeMap<String, f64> =
            evidence.filter(|turn| turns.contains(*turn)).map(|turn| (format!("{project}/{turn}"), 1.0)).collect();
        if relevant.is_empty() {
            continue;
        }
        let kind = ["", "multi-hop", "temporal", "open-domain", "single-hop"];
        questions.push(Question {
            query: asked.question,
            relevant,
            kind: kind.get(asked.category as usize).map_or_else(|| asked.category.to_string(), ToString::to_string),
            project: project.to_owned(),
            ..Question::default()
        });
    }
    Ok(())
}

/// `LoCoMo`: one file of conversations, each a project. A question is answered by turns, its evidence.
pub fn locomo(file: &Path) -> Result<Set> {
    #[derive(Deserialize)]
    struct Talk {
        sample_id: String,
        conversation: Map<String, serde_json::Value>,
        qa: Vec<AskedOfTurns>,
    }
    let samples: Vec<Talk> = read(file, "a LoCoMo file: a list with sample_id, conversation and qa")?;
    let (mut documents, mut questions) = (Vec::new(), Vec::new());
    for Talk { sample_id, conversation: fields, qa } in samples {
        let place = format!("{}: {sample_id}", file.display());
        conversation(&place, &sample_id, &fields, qa, (&mut documents, &mut questions))?;
    }
    finish(Set { name: "locomo".into(), source: Source::Documents(documents), unit: Unit::Document, questions })
}

/// REALTALK: a folder with a file for each chat between two people, a project. A question is answered by messages, its
/// evidence.
pub fn realtalk(folder: &Path) -> Result<Set> {
    #[derive(Deserialize)]
    struct Chat {
        qa: Vec<AskedOfTurns>,
        #[serde(flatten)]
        fields: Map<String, serde_json::Value>,
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    let (mut documents, mut questions) = (Vec::new(), Vec::new());
    for file in files {
        let Chat { qa, fields } = read(&file, "a chat of REALTALK: an object with qa and sessions")?;
        let project = file.file_stem().unwrap_or_default().to_string_lossy();
        conversation(&file.display().to_string(), &project, &fields, qa, (&mut documents, &mut questions))?;
    }
    finish(Set { name: "realtalk".into(), source: Source::Documents(documents), unit: Unit::Document, questions })
}

/// `CoSQA`: what people typed into a search engine, answered by Python functions. `queries` is a file such as
/// cosqa-retrieval-dev-500.json, and `functions` the file that numbers all functions.
pub fn cosqa(queries: &Path, functions: &Path) -> Result<Set> {
    #[derive(Deserialize)]
    struct Asked {
        doc: String,
        retrieval_idx: u32,
    }
    let functions: BTreeMap<String, u32> = read(functions, "a file of CoSQA: an object of functions and their numbers")?;
    let queries: Vec<Asked> = read(queries, "a file of CoSQA: a list with doc and retrieval_idx")?;
    let documents =
        functions.into_iter().map(|(content, number)| Document { id: number.to_string(), content, ..Document::default() });
    let questions = queries.into_iter().map(|it| Question {
        query: it.doc,
        relevant: BTreeMap::from([(it.retrieval_idx.to_string(), 1.0)]),
        ..Question::default()
    });
    finish(Set {
        name: "cosqa".into(),
        source: Source::Documents(documents.collect()),
        unit: Unit::Document,
        questions: questions.collect(),
    })
}

/// KLUE-NLI: Korean sentences, and what follows from them. Each paragraph has `sentences` premises of one source; the
/// query is a consequence of one of them, and the answer is its paragraph.
pub fn klue_nli(file: &Path, sentences: usize) -> Result<Set> {
    #[derive(Deserialize)]
    struct Pair {
        source: String,
        premise: String,
        hypothesis: String,
        gold_label: String,
    }
    ensure!(sentences > 0, "a paragraph has at least one sentence");
    let pairs: Vec<Pair> = read(file, "a file of KLUE-NLI: a list with source, premise, hypothesis and gold_label")?;
    let mut premises: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for pair in &pairs {
        let of_source = premises.entry(&pair.source).or_default();
        if !of_source.contains(&pair.premise.as_str()) {
            of_source.push(&pair.premise);
        }
    }
    let mut documents = Vec::new();
    let mut places: BTreeMap<&str, String> = BTreeMap::new();
    for (source, premises) in premises {
        for (number, paragraph) in premises.chunks(sentences).enumerate() {
            let id = format!("{source}/{number}");
            places.extend(paragraph.iter().map(|premise| (*premise, id.clone())));
            documents.push(Document { id, content: paragraph.join(" "), ..Document::default() });
        }
    }
    let questions = pairs.iter().filter(|pair| pair.gold_label == "entailment").map(|pair| Question {
        query: pair.hypothesis.clone(),
        relevant: places.get(pair.premise.as_str()).map(|id| (id.clone(), 1.0)).into_iter().collect(),
        ..Question::default()
    });
    let questions = questions.collect();
    finish(Set { name: "klue-nli".into(), source: Source::Documents(documents), unit: Unit::Document, questions })
}

/// `LongMemEval`: one file of questions, each with a haystack of its own, a project. A question is answered by sessions;
/// those to which there is no answer (`…_abs`) are left out.
pub fn longmemeval(file: &Path, grain: Grain) -> Result<Set> {
    #[derive(Deserialize)]
    struct Asked {
        question_id: String,
        question_type: String,
        question: String,
        haystack_session_ids: Vec<String>,
        #[serde(default)]
        haystack_dates: Vec<String>,
        haystack_sessions: Vec<Vec<Message>>,
        answer_session_ids: Vec<String>,
    }
    let all: Vec<Asked> =
        read(file, "a LongMemEval file: a list with question_id, haystack_sessions and answer_session_ids")?;
    let (mut found, mut questions) = (Vec::new(), Vec::new());
    for asked in all.into_iter().filter(|asked| !asked.question_id.ends_with("_abs")) {
        let project = asked.question_id;
        ensure!(
            asked.haystack_sessions.len() == asked.haystack_session_ids.len(),
            "{}: {project} has another number of sessions than of their identifiers",
            file.display()
        );
        for (number, (session, messages)) in asked.haystack_session_ids.iter().zip(&asked.haystack_sessions).enumerate() {
            let date = asked.haystack_dates.get(number);
            let date = date.and_then(|date| time(date, "%Y/%m/%d (%a) %H:%M").or_else(|| time(date, "%Y-%m-%d")));
            found.extend(documents(&project, session, date.as_deref(), messages, grain));
        }
        questions.push(Question {
            query: asked.question,
            relevant: asked.answer_session_ids.into_iter().map(|id| (id, 1.0)).collect(),
            kind: asked.question_type,
            project,
            ..Question::default()
        });
    }
    finish(Set { name: "longmemeval".into(), source: Source::Documents(found), unit: Unit::Session, questions })
}

/// A replay set: memories, and queries with graded labels, some of which must not find forbidden memories. Each file is a
/// project.
pub fn replay(files: &[impl AsRef<Path>]) -> Result<Set> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Replay {
        name: String,
        queries: Vec<Asked>,
        memories: Vec<Memory>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Asked {
        query: String,
        #[serde(default)]
        category: String,
        #[serde(default)]
        expected_ids: Vec<String>,
        #[serde(default)]
        expected_relevance: BTreeMap<String, f64>,
        #[serde(default)]
        forbidden_ids: Vec<String>,
    }
    #[derive(Deserialize)]
    struct Memory {
        id: String,
        content: String,
    }
    let (mut documents, mut questions) = (Vec::new(), Vec::new());
    for file in files {
        let replay: Replay = read(file.as_ref(), "a replay set: an object with name, queries and memories")?;
        documents.extend(replay.memories.into_iter().map(|memory| Document {
            id: memory.id,
            project: replay.name.clone(),
            content: memory.content,
            ..Document::default()
        }));
        for asked in replay.queries {
            let mut relevant: BTreeMap<String, f64> = asked.expected_ids.into_iter().map(|id| (id, 1.0)).collect();
            relevant.extend(asked.expected_relevance);
            questions.push(Question {
                query: asked.query,
                relevant,
                forbidden: asked.forbidden_ids.into_iter().collect(),
                kind: if asked.category.is_empty() { replay.name.clone() } else { asked.category },
                project: replay.name.clone(),
            });
        }
    }
    finish(Set { name: "replay".into(), source: Source::Documents(documents), unit: Unit::Document, questions })
}

fn finish(set: Set) -> Result<Set> {
    let Source::Documents(documents) = &set.source else { return Ok(set) };
    ensure!(!documents.is_empty() && !set.questions.is_empty(), "there are no documents or no questions");
    let known: HashSet<&str> = documents.iter().map(|document| document.label(set.unit)).collect();
    for question in &set.questions {
        let unknown = question.relevant.keys().find(|label| !known.contains(label.as_str()));
        ensure!(unknown.is_none(), "{:?} is to be answered by {unknown:?}, which is not there", question.query);
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn file(folder: &Path, name: &str, value: &Value) -> std::path::PathBuf {
        let path = folder.join(name);
        fs::write(&path, value.to_string()).expect("written");
        path
    }

    fn contents(set: &Set) -> Vec<&str> {
        let Source::Documents(documents) = &set.source else { panic!("no documents") };
        documents.iter().map(|document| document.content.as_str()).collect()
    }

    #[test]
    fn a_devmembench_session_is_cut_as_wanted() {
        let folder = tempfile::tempdir().expect("a folder");
        let message = |role: &str, content: &str| json!({"role": role, "content": content});
        let messages = [message("user", "a"), message("assistant", "b"), message("user", "c")];
        file(
            folder.path(),
            "sessions.json",
            &json!([{"sessionId": "S1", "metadata": {"date": "2025-01-15"}, "messages": messages}]),
        );
        let asked = json!([{"questionId": "Q", "questionType": "t", "question": "q?", "haystackSessionIds": ["S1"]}]);
        file(folder.path(), "questions.json", &asked);
        let of = |grain| devmembench(folder.path(), grain).expect("a set");
        assert_eq!(contents(&of(Grain::Message)), ["a", "b", "c"]);
        assert_eq!(contents(&of(Grain::Exchange)), ["a\n\nb", "c"]);
        assert_eq!(contents(&of(Grain::Session)), ["a\n\nb\n\nc"]);
        file(folder.path(), "sessions.json", &json!({"sessions": []}));
        assert!(devmembench(folder.path(), Grain::Session).unwrap_err().to_string().contains("is not a DevMemBench file"));
    }

    #[test]
    fn a_locomo_question_is_answered_by_turns() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = file(
            folder.path(),
            "locomo.json",
            &json!([{"sample_id": "c1", "qa": [
                {"question": "one?", "evidence": ["D1:1; D1:2", "D9:9"], "category": 1},
                {"question": "none?", "evidence": ["D"], "category": 4},
                {"question": "trap?", "evidence": ["D1:1"], "category": 5}],
            "conversation": {"speaker_a": "Ann", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi"},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Look", "blip_caption": "a boat"}]}}]),
        );
        let set = locomo(&path).expect("a set");
        assert_eq!(contents(&set), ["Ann: Hi", "Bo: Look [a boat]"]);
        assert_eq!(set.questions.len(), 1);
        assert_eq!(set.questions[0].relevant.keys().collect::<Vec<_>>(), ["c1/D1:1", "c1/D1:2"]);
        let Source::Documents(documents) = &set.source else { panic!("no documents") };
        assert_eq!(documents[0].others["created_at"], "2023-05-08T13:56:00");
    }

    #[test]
    fn a_realtalk_question_is_answered_by_messages() {
        let folder = tempfile::tempdir().expect("a folder");
        file(
            folder.path(),
            "chat.json",
            &json!({"name": {}, "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "clean_text": "Hi"}],
                "events_session_1": [], "qa": [{"question": "one?", "evidence": ["D1:1"], "category": 2}]}),
        );
        let set = realtalk(folder.path()).expect("a set");
        assert_eq!(contents(&set), ["Ann: Hi"]);
        assert_eq!(set.questions[0].relevant.keys().collect::<Vec<_>>(), ["chat/D1:1"]);
    }

    #[test]
    fn a_cosqa_query_is_answered_by_a_function() {
        let folder = tempfile::tempdir().expect("a folder");
        let functions = file(folder.path(), "functions.json", &json!({"def a(): pass": 3, "def b(): pass": 4}));
        let queries = file(folder.path(), "queries.json", &json!([{"doc": "how to b", "retrieval_idx": 4}]));
        let set = cosqa(&queries, &functions).expect("a set");
        assert_eq!(contents(&set), ["def a(): pass", "def b(): pass"]);
        assert_eq!(set.questions[0].relevant.keys().collect::<Vec<_>>(), ["4"]);
    }

    #[test]
    fn what_follows_from_a_korean_sentence_asks_for_its_paragraph() {
        let folder = tempfile::tempdir().expect("a folder");
        let pair =
            |premise: &str, label: &str| json!({"source": "s", "premise": premise, "hypothesis": "h", "gold_label": label});
        let pairs =
            json!([pair("a.", "neutral"), pair("a.", "entailment"), pair("b.", "neutral"), pair("c.", "entailment")]);
        let path = file(folder.path(), "nli.json", &pairs);
        let set = klue_nli(&path, 2).expect("a set");
        assert_eq!(contents(&set), ["a. b.", "c."]);
        let answers: Vec<_> = set.questions.iter().flat_map(|question| question.relevant.keys()).collect();
        assert_eq!(answers, ["s/0", "s/1"]);
    }

    #[test]
    fn a_longmemeval_question_has_a_haystack_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let asked = |id: &str| {
            json!({"question_id": id, "question_type": "t", "question": "q?", "answer_session_ids": ["s2"],
                "haystack_session_ids": ["s1", "s2"], "haystack_dates": ["2023/05/20 (Sat) 02:21", "2026-01-02"],
                "haystack_sessions": [[{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]]})
        };
        let path = file(folder.path(), "set.json", &json!([asked("q1"), asked("q2_abs")]));
        let set = longmemeval(&path, Grain::Session).expect("a set");
        let Source::Documents(documents) = &set.source else { panic!("no documents") };
        assert_eq!((documents.len(), documents[0].project.as_str(), set.questions.len()), (2, "q1", 1));
        assert_eq!(documents[0].others["created_at"], "2023-05-20T02:21:00");
        assert_eq!(documents[1].others["created_at"], "2026-01-02T00:00:00");
    }

    #[test]
    fn a_replay_set_has_grades_and_traps() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = file(
            folder.path(),
            "set.json",
            &json!({"name": "r", "memories": [{"id": "m", "content": "c"}], "queries": [
            {"query": "q", "expectedIds": ["m"], "expectedRelevance": {"m": 3}},
            {"query": "n", "category": "trap", "expectedIds": [], "forbiddenIds": ["m"]}]}),
        );
        let set = replay(&[path]).expect("a set");
        assert!((set.questions[0].relevant["m"] - 3.0).abs() < 1e-9);
        assert!(set.questions[1].relevant.is_empty() && set.questions[1].forbidden.contains("m"));
        assert_eq!(set.questions[1].kind, "trap");
    }
}
