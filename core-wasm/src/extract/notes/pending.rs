//! What the session left to do.

use super::given::has_work;
use super::line::without_quote;
use crate::extract::open_points;
use crate::extract::signs;
use crate::extract::state::State;
use crate::extract::tasks::Status;
use crate::text;

/// The maximum length of what the agent was at when the session ended, in characters.
const MAX_STOPPED_CHARS: usize = 200;

/// The similarity at which two items that are left undone are one.
const SAME_POINT: f32 = 0.5;

/// Returns what is left to do, with `points` of the agent's answers that nothing else tells.
pub(super) fn pending(state: &State, points: Vec<String>) -> Vec<String> {
    let mut pending: Vec<String> = state.tasks.with_status(Status::Pending).map(str::to_owned).collect();
    if !state.open_question.is_empty() {
        pending.push(format!("{}: {}", state.labels().open_question, state.told_question()));
    }
    if !state.handoff.is_empty() {
        pending.push(state.labels().handoff.replace("{}", &state.handoff));
    }
    let open_ends = state.open_ends();
    // What waits for an answer tells it better, and so does the title of a plan that is not carried out.
    let speaks_of_plan =
        text::contains_any_words(&state.stopped_at.to_lowercase(), &["plan", "계획", "計画", "プラン", "计划"]);
    let is_told = !open_ends.is_empty() || speaks_of_plan;
    pending.extend(open_ends);
    if !state.stopped_at.is_empty() && !is_told && state.stopped_at.chars().count() <= MAX_STOPPED_CHARS {
        pending.push(state.labels().stopped_at.replace("{}", &state.stopped_at));
    }
    let has_acted = state.results.turns().iter().any(|turn| !turn.acts.is_empty());
    pending.extend(state.undone.items(&state.request, has_acted, state.labels()));
    if let Some(number) = state.unmerged_pull_request() {
        pending.push(state.labels().not_merged.replace("{}", &number.to_string()));
    }
    if state.evidence.is_never_run() && state.files.paths().next().is_some() {
        let labels = state.labels();
        pending.push(if state.evidence.has_run() { labels.never_run } else { labels.nothing_run }.to_owned());
    }
    let unrun = state.evidence.unrun(&state.files.paths().collect::<Vec<_>>());
    if !unrun.is_empty() {
        let names: Vec<String> = unrun.iter().map(|name| format!("`{name}`")).collect();
        pending.push(state.labels().unrun.replace("{}", &names.join(", ")));
    }
    if let Some(expected) = expected(state) {
        pending.push(format!("{}: {expected}", state.labels().expected));
    }
    if !state.cause_open.is_empty() && !state.admissions.contains(&state.cause_open) {
        pending.push(format!("{}: {}", state.labels().cause_open, state.cause_open));
    }
    // Whether it was pushed is told with the files.
    let is_told = |said: &String| state.blockers.contains(said) || signs::is_about_pushing(&said.to_lowercase());
    pending.extend(state.admissions.iter().filter(|said| !is_told(said)).cloned());
    let recap = state.recap.line();
    for said in points {
        if open_points::asks_for_look(&said) {
            continue;
        }
        let words = text::features(&said);
        let is_told = |known: &String| text::similarity(&text::features(known), &words) >= SAME_POINT;
        if !recap.contains(said.as_str()) && !pending.iter().chain(&state.blockers).any(is_told) {
            pending.push(said);
        }
    }
    // Checks by hand are planned as a matter of course, so what else is open comes before them.
    pending.sort_by_key(|item| item.starts_with(state.labels().not_checked));
    pending
}

/// Returns what the agent said of a deployment that was under way when the session ended, if nobody looked at it since.
pub(super) fn expected(state: &State) -> Option<&str> {
    (!state.expected.is_empty() && state.evidence.is_push_unseen()).then_some(state.expected.as_str())
}

/// Returns whether a session that changed nothing ended with a proposal, and with the question whether to carry it out.
pub(super) fn is_only_proposed(state: &State, outcome: &str) -> bool {
    !has_work(state) && !state.open_question.is_empty() && makes_proposal(outcome)
}

/// Returns whether an answer proposes something that is still to be done, given the question behind it that nobody answered. To offer a
/// commit proposes no work.
pub(super) fn is_left_proposed(open_question: &str, answer: &str) -> bool {
    const OFFERS: [&str; 6] = ["want me to", "like me to", "shall i", "까요", "ましょうか", "要我"];
    const CHORES: [&str; 7] = ["commit", "push", "커밋", "푸시", "コミット", "プッシュ", "提交"];
    let question = open_question.to_lowercase();
    let offers = text::contains_any(&question, &OFFERS) && !text::contains_any(&question, &CHORES);
    !question.is_empty() && (offers || makes_proposal(without_quote(answer)))
}

fn makes_proposal(answer: &str) -> bool {
    text::sentences(answer).iter().any(|said| signs::makes_proposal(&said.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_at_the_end_is_left_proposed() {
        let answer = "“I suggest red.” → The drawer has no lock.";
        for question in ["Want me to add one?", "자물쇠를 추가할까요?", "자물쇠를 고칠까요?", "鍵を追加しましょうか？"]
        {
            assert!(is_left_proposed(question, answer), "{question}");
        }
        for question in ["", "Want me to commit?", "커밋할까요?", "Which lock is it?"] {
            assert!(!is_left_proposed(question, answer), "{question}");
        }
        assert!(is_left_proposed("Which lock?", "I suggest a new lock."));
    }
}
