//! What a turn gave: work, documents, or only what the agent found out.

use crate::extract::results::TurnResult;
use crate::extract::state::State;
use crate::extract::tasks::Status;
use crate::extract::{files, human, standing, vanished};

/// The number of changed files from which an answer of a turn that changed none sums up earlier work.
const MIN_SUMMED_FILES: usize = 2;

/// What a turn gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// A change of the project.
    Work,
    /// Only what the agent found out.
    Finding,
    /// Only documents: what they describe may be still to be built.
    Document,
}

impl Given {
    pub(super) fn of(state: &State, turn: &TurnResult, line: &str) -> Self {
        // An answer may sum up what earlier turns did.
        let names_changed = |name: &&str| state.files.paths().any(|path| files::is_named(path, name));
        let sums_up = || vanished::files_in(line).filter(names_changed).count() >= MIN_SUMMED_FILES;
        let lower = line.to_lowercase();
        let tells_deed = || {
            (standing::is_own_deed(&lower) && (turn.acted || sums_up())) || (turn.acted && standing::tells_polite_deed(line))
        };
        if turn.edited && !turn.built && !turn.committed {
            Given::Document
        } else if !(turn.has_work() || tells_deed()) {
            Given::Finding
        } else {
            Given::Work
        }
    }
}

/// Returns whether the session changed files, or committed what was changed before.
pub(super) fn has_work(state: &State) -> bool {
    state.files.paths().next().is_some() || !state.commits.is_empty()
}

/// Returns whether a session that was asked to do something ended with a question or with tasks, and changed nothing: no file, and nothing with
/// a command or through others. What it designed reads like work that was done.
pub(super) fn is_unchanged(state: &State) -> bool {
    let turns = state.results.turns();
    let asks = |turn: &TurnResult| turn.substantive && !human::only_asks(&turn.asked);
    let is_open = !state.open_question.is_empty() || state.tasks.with_status(Status::Pending).next().is_some();
    !has_work(state)
        && is_open
        && turns.iter().any(|turn| turn.used_tools)
        && turns.iter().any(asks)
        && turns.iter().all(|turn| turn.acts.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(edited: bool) -> TurnResult {
        TurnResult { edited, ..TurnResult::default() }
    }

    #[test]
    fn only_a_turn_that_may_have_acted_did_something() {
        let of = |acted: bool, said: &str| Given::of(&State::default(), &TurnResult { acted, ..turn(false) }, said);
        for deed in ["Closed the issue of the till.", "カートの Issue を更新しました。", "계산대 이슈를 등록했습니다."]
        {
            assert_eq!((of(true, deed), of(false, deed)), (Given::Work, Given::Finding), "{deed}");
        }
        for found in
            ["The till rings twice.", "Confirmed: the till rings twice.", "CI を確認しました。", "이슈를 확인했습니다."]
        {
            assert_eq!(of(true, found), Given::Finding, "{found}");
        }
        let written = TurnResult { built: true, ..turn(true) };
        assert_eq!(Given::of(&State::default(), &written, "The till rings."), Given::Work);
        assert_eq!(Given::of(&State::default(), &turn(true), "The till rings."), Given::Document);
    }
}
