//! Goes over the sources: asks for each chunk, has a bad answer repaired once, and stays within its budget.

use crate::answer::{Answer, Memory, SCHEMA, Statement};
use crate::plan::{Chunk, Source, chunks};

/// The prompts. A new version is a new file, so that answers to the old one are not taken for answers to it.
const SESSION: &str = include_str!("../prompts/session.v1.md");
const PART: &str = include_str!("../prompts/part.v1.md");
const PROJECT: &str = include_str!("../prompts/project.v1.md");
const REPAIR: &str = include_str!("../prompts/repair.v1.md");

/// What the host adds to each request, and to each message, when it counts what it may cost.
const FRAME: usize = 1_000;
const MESSAGE: usize = 16;

/// With less room than this for sources, a request is not worth its prompt.
const MIN_ROOM: usize = 200;

/// The settings.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The most input tokens for one session.
    pub session_tokens: usize,
    /// The most input tokens of one request.
    pub chunk_tokens: usize,
    /// The most input tokens for a project.
    pub project_tokens: usize,
    /// The most tokens of one answer.
    pub answer_tokens: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { session_tokens: 30_000, chunk_tokens: 15_000, project_tokens: 15_000, answer_tokens: 3_000 }
    }
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The instructions.
    System,
    /// The policy.
    User,
    /// The model.
    Assistant,
}

/// Asks the model.
pub trait Model {
    /// Returns the answer; none if there is none.
    fn complete(&mut self, purpose: &str, messages: &[(Role, String)], schema: &str, most: u32) -> Option<String>;
    /// Returns the tokens that a call may have now.
    fn allowance(&self) -> usize;
}

/// What was made, with identifiers of the host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Made {
    /// New memories; `replaces` has identifiers of sources.
    pub memories: Vec<Memory>,
    /// Pairs of identifiers of sources.
    pub superseded: Vec<(String, String)>,
}

/// Goes over the sources of a session or a project.
pub fn run(scope: &str, sources: &[Source], settings: Settings, model: &mut dyn Model) -> Made {
    let mut made = Made::default();
    let is_project = scope == "project";
    // Another scope than these is one that this version knows nothing about.
    if !matches!(scope, "session" | "project") || sources.is_empty() {
        return made;
    }
    let prompt = if is_project { PROJECT } else { SESSION };
    let whole = if is_project { settings.project_tokens } else { settings.session_tokens };
    let overhead = prompt.len() + PART.len() + SCHEMA.len() + FRAME + 3 * MESSAGE;
    if whole < overhead + MIN_ROOM {
        return made;
    }
    let allowed = model.allowance().saturating_sub(settings.answer_tokens as usize);
    let one = settings.chunk_tokens.min(whole).min(allowed).saturating_sub(overhead);
    // A project is gone over in one request: what belongs together must be seen together.
    let requests = if is_project { 1 } else { (whole / (one + overhead).max(1)).max(1) };
    if one < MIN_ROOM {
        return made;
    }
    let mut budget = Budget { left: whole };
    let all = chunks(sources, one * requests, one);
    for chunk in all.iter().take(requests) {
        let purpose = if is_project { "project" } else { "session" };
        let Some(answer) = ask(purpose, prompt, chunk, &mut budget, settings, model) else { continue };
        made.add(answer, chunk, is_project || chunk.has_summary);
    }
    made
}

/// The input tokens that are left.
struct Budget {
    left: usize,
}

impl Budget {
    /// Takes what a request can have; false if that is too much.
    fn take(&mut self, messages: &[(Role, String)]) -> bool {
        let size = messages.iter().map(|(_, text)| text.len() + MESSAGE).sum::<usize>() + SCHEMA.len() + FRAME;
        let fits = size <= self.left;
        if fits {
            self.left -= size;
        }
        fits
    }
}

fn ask(
    purpose: &str,
    prompt: &str,
    chunk: &Chunk,
    budget: &mut Budget,
    settings: Settings,
    model: &mut dyn Model,
) -> Option<Answer> {
    let part = if chunk.has_summary { "" } else { PART };
    let mut messages = vec![(Role::System, format!("{prompt}{part}")), (Role::User, chunk.text.clone())];
    let mut ask = |messages: &[(Role, String)], purpose: &str| {
        budget.take(messages).then(|| model.complete(purpose, messages, SCHEMA, settings.answer_tokens)).flatten()
    };
    let text = ask(&messages, purpose)?;
    let problem = match Answer::parse(&text, chunk) {
        Ok(answer) => return Some(answer),
        Err(problem) => problem,
    };
    messages.push((Role::Assistant, text));
    messages.push((Role::User, REPAIR.replace("{problem}", &problem)));
    Answer::parse(&ask(&messages, "repair")?, chunk).ok()
}

impl Made {
    fn add(&mut self, answer: Answer, chunk: &Chunk, may_summarize: bool) {
        let id = |name: &String| chunk.names.get(name).cloned();
        for memory in answer.memories {
            if memory.kind == "session_summary" && !may_summarize {
                continue;
            }
            let replaces = memory.replaces.iter().filter_map(id).collect();
            let clean = |statement: Statement| Statement { text: statement.text.trim().to_owned(), ..statement };
            self.memories.push(Memory {
                title: clean(memory.title),
                statements: memory.statements.into_iter().map(clean).collect(),
                replaces,
                ..memory
            });
        }
        self.superseded.extend(answer.superseded.iter().filter_map(|(older, newer)| Some((id(older)?, id(newer)?))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives these answers in order, and records what it was asked.
    struct Fake {
        answers: Vec<Option<&'static str>>,
        asked: Vec<(String, usize)>,
        allowance: usize,
    }

    impl Fake {
        fn new(answers: &[Option<&'static str>]) -> Self {
            Self { answers: answers.iter().rev().copied().collect(), asked: Vec::new(), allowance: 1 << 30 }
        }
    }

    impl Model for Fake {
        fn complete(&mut self, purpose: &str, messages: &[(Role, String)], schema: &str, _: u32) -> Option<String> {
            let bytes = messages.iter().map(|(_, text)| text.len() + MESSAGE).sum::<usize>() + schema.len() + FRAME;
            self.asked.push((purpose.into(), bytes));
            self.answers.pop().flatten().map(str::to_owned)
        }

        fn allowance(&self) -> usize {
            self.allowance
        }
    }

    fn source(id: &str, kind: &str, text: &str) -> Source {
        Source {
            id: id.into(),
            kind: kind.into(),
            replaceable: true,
            lines: vec![(format!("{id}-1"), text.into())],
            ..Source::default()
        }
    }

    const GOOD: &str = r#"{"memories": [{"kind": "session_summary", "title": {"text": " a ", "cites": ["x-1"]},
        "statements": [{"text": "b", "cites": ["x-1"]}], "replaces": ["m1"], "keywords": [], "importance": 0.5}], "superseded": []}"#;

    #[test]
    fn a_bad_answer_is_repaired_once() {
        let sources = [source("x", "session_summary", "we did it")];
        for (answers, asked, made) in [
            (vec![Some(GOOD)], vec!["session"], 1),
            (vec![Some("sorry"), Some(GOOD)], vec!["session", "repair"], 1),
            (vec![Some("sorry"), Some("sorry"), Some(GOOD)], vec!["session", "repair"], 0),
            (vec![None, Some(GOOD)], vec!["session"], 0),
        ] {
            let mut model = Fake::new(&answers);
            let result = run("session", &sources, Settings::default(), &mut model);
            assert_eq!(model.asked.iter().map(|(purpose, _)| purpose.as_str()).collect::<Vec<_>>(), asked);
            assert_eq!(result.memories.len(), made);
            if let Some(memory) = result.memories.first() {
                assert_eq!((memory.title.text.as_str(), memory.replaces.as_slice()), ("a", ["x".to_owned()].as_slice()));
            }
        }
        let mut poor = Fake { allowance: 3_500, ..Fake::new(&[Some(GOOD)]) };
        assert_eq!(run("session", &sources, Settings::default(), &mut poor), Made::default());
        assert!(poor.asked.is_empty());
        assert!(run("another", &sources, Settings::default(), &mut Fake::new(&[Some(GOOD)])).memories.is_empty());
    }

    #[test]
    fn a_long_session_stays_within_its_tokens() {
        let text = "a sentence about the export queue and its tests ".repeat(12);
        let sources: Vec<Source> = (0..2_000)
            .map(|place| source(&format!("s{place}"), if place % 9 == 0 { "learning" } else { "turn" }, &text))
            .collect();
        assert!(sources.iter().map(|source| source.lines[0].1.len()).sum::<usize>() > 1_000_000);
        // Whatever the answers, also when each is to be repaired.
        for answer in [Some(r#"{"memories": [], "superseded": []}"#), Some("sorry"), None] {
            let mut model = Fake::new(&[answer; 50]);
            run("session", &sources, Settings::default(), &mut model);
            let tokens: usize = model.asked.iter().map(|(_, bytes)| bytes).sum();
            assert!((15_000..=30_000).contains(&tokens), "{tokens}");
            assert!(model.asked.iter().all(|(_, bytes)| *bytes <= 30_000));
        }
    }
}
