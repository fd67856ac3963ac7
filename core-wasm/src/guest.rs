//! The component's exports: each stage hands the contract's values to its module. Wasm only.

use crate::bindings::exports::throughline::policy::{
    context_builder, extractor, observer, query, redactor, summarizer,
};
use crate::bindings::throughline::policy::transcript::Reader;
use crate::bindings::throughline::policy::types::{Failure, Session, SessionNotes};
use crate::extract::Lines;
use crate::{extract, redact, summary};

struct Policy;

#[allow(
    unsafe_code,
    clippy::pedantic,
    reason = "generated: what crosses the component boundary"
)]
mod exports {
    use super::Policy;

    crate::bindings::export!(Policy with_types_in crate::bindings);
}

struct Pulled<'a>(&'a Reader);

impl Lines for Pulled<'_> {
    fn next_lines(&mut self, max_bytes: u32, visit: &mut dyn FnMut(&str, u64)) -> bool {
        let lines = self.0.read_lines(max_bytes);
        for line in &lines {
            visit(&line.text, line.end);
        }
        !lines.is_empty()
    }
}

impl extractor::Guest for Policy {
    fn extract(
        request: extractor::Request,
        transcript: &Reader,
    ) -> Result<extractor::Extraction, Failure> {
        Ok(extract::extract(&request, &mut Pulled(transcript)))
    }
}

impl summarizer::Guest for Policy {
    fn summarize(
        _session: Session,
        notes: SessionNotes,
    ) -> Result<Option<summarizer::Summary>, Failure> {
        Ok(summary::summarize(&notes))
    }
}

impl redactor::Guest for Policy {
    fn redact(texts: Vec<String>) -> Result<Vec<redactor::Redacted>, Failure> {
        let redacted = |text: &String| match redact::scrub(text) {
            std::borrow::Cow::Borrowed(_) => redactor::Redacted {
                text: None,
                findings: Vec::new(),
            },
            std::borrow::Cow::Owned(text) => redactor::Redacted {
                text: Some(text),
                findings: Vec::new(),
            },
        };
        Ok(texts.iter().map(redacted).collect())
    }
}

impl context_builder::Guest for Policy {
    fn build(
        _request: context_builder::Request,
    ) -> Result<Option<context_builder::Context>, Failure> {
        Ok(None)
    }
}

impl observer::Guest for Policy {
    fn observe(
        _session: Session,
        _event: observer::ToolEvent,
    ) -> Result<Option<observer::Observation>, Failure> {
        Ok(None)
    }
}

impl query::Guest for Policy {
    fn plan(
        _session: Session,
        _prompt: String,
        _last_turn: Option<String>,
    ) -> Result<Option<query::Search>, Failure> {
        Ok(None)
    }
}
