//! Plans that were made, accepted or refused.

use super::State;
use super::refusals::without_client_note;
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::human;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::prose;
use crate::said_by::SaidBy;
use crate::text;

impl State {
    /// Records a plan, whatever the user said to it, and what it decides.
    fn record_plan(&mut self, plan: &str, said_by: SaidBy, importance: u8, source: &LineRef, settled: &mut Vec<Draft>) {
        let Some(title) = human::plan_title(plan) else { return };
        let memory = SessionMemory {
            key: format!("plan:{:08x}", text::hash(&title)),
            kind: "plan".to_owned(),
            content: plan_outline(plan),
            title,
            importance,
            source: source.clone(),
            said_by,
            ..SessionMemory::default()
        };
        self.memories.forget(|known| known.key == memory.key);
        self.memories.add(memory, settled);
        // What an earlier version decided that nobody agreed to does not count any more.
        self.memories.forget(|known| known.key.starts_with("planned:") && known.said_by == SaidBy::Agent);
        for decided in prose::decisions(plan) {
            self.record_decided("planned", decided, said_by, 65, source, settled);
        }
        self.record_findings(plan, source, settled);
    }

    /// Records a plan that the user approved or handed over. One that waits, or was refused, says nothing of what is carried out.
    pub(super) fn plan_taken_up(
        &mut self,
        plan: &str,
        said_by: SaidBy,
        importance: u8,
        source: &LineRef,
        settled: &mut Vec<Draft>,
    ) {
        self.undone.plan_accepted(plan);
        self.rulings_followed(settled);
        self.record_plan(plan, said_by, importance, source, settled);
        let Some(title) = human::plan_title(plan) else { return };
        self.plan_explained(plan);
        // The reason is told with the first request, unless the plan is for a later one.
        let is_of_request =
            self.objective.is_empty() || self.objective == self.request || self.request.contains(title.as_str());
        self.plan_title = if is_of_request { String::new() } else { title };
    }

    /// Records why a plan is carried out, what it does, and what it leaves alone.
    pub(super) fn plan_explained(&mut self, plan: &str) {
        let reason = human::plan_reason(plan).unwrap_or_default();
        let is_other = |goal: &String| !goal.contains(&reason) || reason.is_empty();
        self.plan_goal = human::plan_goal(plan).filter(is_other).unwrap_or_default();
        self.plan_limits = human::plan_limits(plan).unwrap_or_default();
        self.plan_reason = reason;
    }

    /// Records that the user did not agree to a plan, for this reason or none. Returns the plan's title.
    pub(super) fn plan_refused(
        &mut self,
        plan: &str,
        reason: Option<&str>,
        source: &LineRef,
        settled: &mut Vec<Draft>,
    ) -> String {
        let title = human::title(plan).unwrap_or_default();
        // Whoever asks something about a plan has not refused it yet.
        let asks = reason.is_some_and(|reason| without_client_note(reason).trim_end().ends_with(['?', '？']));
        self.turn.is_refused = !asks;
        if reason.is_some() && !asks {
            self.undone.plan_refused(&title);
        } else {
            self.undone.plan_made(&title, &self.gist_of(plan));
            self.record_plan(plan, SaidBy::Agent, 35, source, settled);
            // Without a reason, the interruption that follows is the client's.
            self.question_deferred |= reason.is_none();
        }
        title
    }

    /// Returns what a plan proposes in a few words, with why, as far as it says that.
    fn gist_of(&self, plan: &str) -> String {
        let gist = prose::gist(plan);
        match human::plan_reason(plan).filter(|reason| !gist.contains(reason.as_str())) {
            Some(reason) if !gist.is_empty() => format!("{gist} — {}: {reason}", self.labels().why),
            _ => gist,
        }
    }
}

/// Reduces a plan to its title, reasons and headings, without code.
fn plan_outline(plan: &str) -> String {
    let mut digest = String::new();
    let mut code = false;
    let mut prose = 0;
    for line in plan.lines() {
        let line = line.trim_end();
        if line.trim_start().starts_with("```") {
            code = !code;
            continue;
        }
        let heading = line.starts_with('#');
        if heading {
            prose = 0;
        }
        // Two lines of text below each heading are enough to say what it is about.
        if code || line.trim().is_empty() || (!heading && prose >= 2) || line.starts_with('|') {
            continue;
        }
        if !heading {
            prose += 1;
        }
        digest.push_str(&text::clip(line, 300));
        digest.push('\n');
        if digest.len() > 1600 {
            break;
        }
    }
    text::clip_block(&digest, 1600).into_owned()
}
