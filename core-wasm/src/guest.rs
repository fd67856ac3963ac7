//! The exports of the component: passes the contract's values to the module of each stage. Built for WebAssembly only.

use std::cell::OnceCell;

use crate::bindings::exports::throughline::policy::{context_builder, extractor, observer, query, redactor, summarizer};
use crate::bindings::throughline::policy::transcript::Reader;
use crate::bindings::throughline::policy::types::{Failure, Memory, Session, SessionNotes, SessionRecord};
use crate::bindings::throughline::policy::{log, memories, settings};
use crate::context::Memories;
use crate::extract::Lines;
use crate::redact::gitleaks::TeamRules;
use crate::{context, extract, redact, summary};

struct Policy;

thread_local! {
    /// The team's rules. Read from the settings when the first text arrives.
    static TEAM_RULES: OnceCell<TeamRules> = const { OnceCell::new() };
}

#[allow(unsafe_code, clippy::pedantic, reason = "generated: what crosses the component boundary")]
mod exports {
    use super::Policy;

    crate::bindings::export!(Policy with_types_in crate::bindings);
}

struct ReaderLines<'a>(&'a Reader);

impl Lines for ReaderLines<'_> {
    fn next_lines(&mut self, max_bytes: u32, visit: &mut dyn FnMut(&str, u64)) -> bool {
        let lines = self.0.read_lines(max_bytes);
        for line in &lines {
            visit(&line.text, line.end);
        }
        !lines.is_empty()
    }
}

impl extractor::Guest for Policy {
    fn extract(request: extractor::Request, transcript: &Reader) -> Result<extractor::Extraction, Failure> {
        Ok(extract::extract(&request, &mut ReaderLines(transcript)))
    }
}

impl summarizer::Guest for Policy {
    fn summarize(_session: Session, notes: SessionNotes) -> Result<Option<summarizer::Summary>, Failure> {
        Ok(summary::summarize(&notes))
    }
}

impl redactor::Guest for Policy {
    fn redact(texts: Vec<String>) -> Result<Vec<redactor::Redacted>, Failure> {
        TEAM_RULES.with(|team| {
            let team = team.get_or_init(|| {
                let (rules, optional) = (settings::get("redaction-rules"), settings::get("redaction-optional-rules"));
                let added = settings::get("redaction-added-rules");
                TeamRules::from_settings(rules.as_deref(), optional.as_deref()).with_added(added.as_deref())
            });
            let redacted = redact::redact(&texts, team);
            for problem in team.take_problems() {
                log::write(log::Level::Error, &problem);
            }
            Ok(redacted)
        })
    }
}

/// The contract's `memories` capability, answered by the host.
struct HostMemories;

fn to_strings(kinds: &[&str]) -> Vec<String> {
    kinds.iter().map(|kind| (*kind).to_owned()).collect()
}

impl Memories for HostMemories {
    fn recent(&self, kinds: &[&str], limit: u32) -> Vec<Memory> {
        memories::recent(&to_strings(kinds), limit)
    }

    fn important(&self, kinds: &[&str], limit: u32) -> Vec<Memory> {
        memories::important(&to_strings(kinds), limit)
    }

    fn of_session(&self, session: &str, kinds: &[&str], limit: u32) -> Vec<Memory> {
        memories::of_session(session, &to_strings(kinds), limit)
    }

    fn search(&self, query: &str, kinds: &[&str], limit: u32) -> Vec<Memory> {
        memories::search(query, &to_strings(kinds), limit)
    }

    fn knowledge(&self, limit: u32) -> Vec<memories::Fact> {
        memories::knowledge(limit)
    }

    fn sessions(&self, limit: u32) -> Vec<SessionRecord> {
        memories::sessions(limit)
    }

    fn last_session(&self) -> Option<SessionRecord> {
        memories::last_session()
    }

    fn session(&self, id: &str) -> Option<SessionRecord> {
        memories::session(id)
    }
}

impl context_builder::Guest for Policy {
    fn build(request: context_builder::Request) -> Result<Option<context_builder::Context>, Failure> {
        Ok(context::build(&request, &HostMemories))
    }
}

impl observer::Guest for Policy {
    fn observe(session: Session, event: observer::ToolEvent) -> Result<Option<observer::Observation>, Failure> {
        Ok(crate::observe::observe(&session, &event))
    }
}

impl query::Guest for Policy {
    fn plan(session: Session, prompt: String, last_turn: Option<String>) -> Result<Option<query::Search>, Failure> {
        Ok(crate::query::plan(&session, &prompt, last_turn.as_deref()))
    }
}
