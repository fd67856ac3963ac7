//! Joins the texts that several policies tell the agent.

use std::time::Instant;

use anyhow::Result;
use throughline_model::contract::{Memory, Session};

use super::work::Work;
use crate::capability::KindSet;
use crate::instance::BuiltContext;
use crate::manifest::Mode;
use crate::stage::Stage;

/// A context builder in mode `add` gets one part in so many of the budget: a quarter.
const ADDED_SHARE: u32 = 4;

impl Work<'_> {
    /// Runs stage `context-builder`: the text of the strongest policy in mode `replace`, followed by the texts of those
    /// in mode `add`.
    pub fn build_context(
        &mut self,
        session: &Session,
        source: &str,
        budget: u32,
        found: &[Memory],
        deadline: Instant,
    ) -> Result<Option<BuiltContext>> {
        const STAGE: Stage = Stage::ContextBuilder;
        let order = self.policies.registry.order(STAGE);
        let replacing = order.iter().position(|index| self.mode(*index, STAGE) == Mode::Replace).unwrap_or(order.len());
        let mut left = budget;
        let mut added: Vec<BuiltContext> = Vec::new();
        for index in order[..replacing].iter().copied() {
            // Two texts are separated by an empty line.
            let share = (budget / ADDED_SHARE).min(left.saturating_sub(2));
            let seen = self.visible(index, found);
            let built = self.call_policy(index, STAGE, deadline, |running, until| {
                running.build_context(session, source, share, seen, until)
            })?;
            if let Some(context) = built.flatten().filter(|context| !context.text.trim().is_empty()) {
                left -= u32::try_from(context.text.encode_utf16().count()).unwrap_or(left).saturating_add(2).min(left);
                added.push(context);
            }
        }
        let base = self.build_base(&order[replacing..], session, source, left, found, deadline)?;
        Ok(join(base, added))
    }

    fn build_base(
        &mut self,
        order: &[usize],
        session: &Session,
        source: &str,
        budget: u32,
        found: &[Memory],
        deadline: Instant,
    ) -> Result<Option<BuiltContext>> {
        for index in order
            .iter()
            .copied()
            .filter(|index| self.mode(*index, Stage::ContextBuilder) == Mode::Replace)
            .collect::<Vec<_>>()
        {
            let seen = self.visible(index, found);
            let built = self.call_policy(index, Stage::ContextBuilder, deadline, |running, until| {
                running.build_context(session, source, budget, seen, until)
            })?;
            if let Some(built) = built {
                return Ok(built);
            }
        }
        self.call_default(deadline, |running, until| running.build_context(session, source, budget, found.to_vec(), until))
    }

    /// Returns the search results that this policy may see.
    fn visible(&self, index: usize, found: &[Memory]) -> Vec<Memory> {
        let kinds: Option<&KindSet> = self.policies.registry.candidates[index].found.manifest.capabilities.memories.as_ref();
        found.iter().filter(|memory| kinds.is_some_and(|kinds| kinds.has(&memory.kind))).cloned().collect()
    }
}

/// Joins the texts into one, strongest last.
fn join(base: Option<BuiltContext>, added: Vec<BuiltContext>) -> Option<BuiltContext> {
    let mut parts = base.into_iter().chain(added.into_iter().rev());
    let mut whole = parts.next()?;
    for part in parts {
        whole.text.truncate(whole.text.trim_end().len());
        if !whole.text.is_empty() {
            whole.text.push_str("\n\n");
        }
        whole.text.push_str(&part.text);
        whole.used.extend(part.used);
    }
    Some(whole)
}
