//! Implements the contract on top of [`crate::run`]. Built for WebAssembly only.

use crate::plan;
use crate::run::{self, Model, Role, Settings};

#[allow(unsafe_code, missing_docs, clippy::pedantic, reason = "generated: what crosses the component boundary")]
mod bindings {
    wit_bindgen::generate!({ path: "wit", world: "consolidator-policy", generate_all });
    export!(Policy);

    use super::Policy;
}

use bindings::exports::throughline::policy::consolidator::{Consolidated, Consolidation, Guest, Request, Source, Statement};
use bindings::throughline::policy::types::Failure;
use bindings::throughline::policy::{log, model, settings};

struct Policy;

impl Guest for Policy {
    fn consolidate(request: Request) -> Result<Consolidation, Failure> {
        let sources: Vec<plan::Source> = request.sources.into_iter().map(source).collect();
        let made = run::run(&request.scope, &sources, chosen(), &mut Host);
        let memories = made.memories.into_iter().map(|memory| Consolidated {
            kind: memory.kind,
            title: statement(memory.title),
            statements: memory.statements.into_iter().map(statement).collect(),
            replaces: memory.replaces,
            keywords: memory.keywords,
            files: Vec::new(),
            importance: memory.importance,
        });
        Ok(Consolidation { memories: memories.collect(), superseded: made.superseded })
    }
}

/// The model that the host offers.
struct Host;

impl Model for Host {
    fn complete(&mut self, purpose: &str, messages: &[(Role, String)], schema: &str, most: u32) -> Option<String> {
        let messages = messages.iter().map(|(role, content)| model::Message {
            role: match role {
                Role::System => model::Role::System,
                Role::User => model::Role::User,
                Role::Assistant => model::Role::Assistant,
            },
            content: content.clone(),
        });
        let request = model::Request {
            purpose: purpose.into(),
            messages: messages.collect(),
            schema: Some(schema.into()),
            max_tokens: most,
        };
        match model::complete(&request) {
            Ok(reply) => Some(reply.text),
            Err(model::ModelError::Limit(what)) => {
                log::write(log::Level::Info, &format!("a request was not made: {what}"));
                None
            }
            // The host has logged why.
            Err(_) => None,
        }
    }

    fn allowance(&self) -> usize {
        usize::try_from(model::allowance()).unwrap_or(usize::MAX)
    }
}

fn source(source: Source) -> plan::Source {
    plan::Source {
        id: source.id,
        kind: source.kind,
        said_by: source.said_by,
        importance: source.importance,
        replaceable: source.replaceable,
        lines: source.lines.into_iter().map(|line| (line.id, line.text)).collect(),
    }
}

fn statement(statement: crate::answer::Statement) -> Statement {
    Statement { text: statement.text, cites: statement.cites }
}

fn chosen() -> Settings {
    let number = |key: &str| settings::get(key).and_then(|value| serde_json::from_str::<u32>(&value).ok());
    let default = Settings::default();
    let or = |key: &str, default: usize| number(key).map_or(default, |number| number as usize);
    Settings {
        session_tokens: or("session-tokens", default.session_tokens),
        chunk_tokens: or("chunk-tokens", default.chunk_tokens),
        project_tokens: or("project-tokens", default.project_tokens),
        answer_tokens: number("answer-tokens").unwrap_or(default.answer_tokens),
    }
}
