//! What the agent says while its teammates work: where they stood at that moment.

use serde::{Deserialize, Serialize};

use super::Turn;
use crate::extract::statement::Voice;

/// What was said since the latest message of a teammate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    /// Whether a message came to which the agent has said nothing yet.
    is_new: bool,
    /// How many statements there were when the agent began to speak of the latest message.
    first: usize,
    /// Whether the agent itself changed files or committed since.
    pub(super) has_worked: bool,
}

impl Turn {
    /// Records a message of a teammate.
    pub(in crate::extract) fn teammate_wrote(&mut self) {
        self.notified = true;
        self.status.is_new = true;
    }

    /// Forgets what the agent said since the message before, now that it speaks of another one: who works on what, and how much is done, was
    /// true until then. Work of its own stays.
    pub(super) fn forget_status(&mut self) {
        if !std::mem::take(&mut self.status.is_new) {
            return;
        }
        let first = self.status.first.min(self.statements.len());
        if !std::mem::take(&mut self.status.has_worked) {
            let mut place = 0..;
            self.statements
                .retain(|it| place.next().is_none_or(|at| at < first) || matches!(it.voice, Voice::Human | Voice::Commit));
            self.answer.clear();
        }
        self.status.first = self.statements.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::memories::LineRef;

    fn told(turn: &Turn) -> Vec<String> {
        turn.all_statements().into_iter().filter(|it| it.voice != Voice::Human).map(|it| it.text).collect()
    }

    #[test]
    fn where_teammates_stood_is_over_with_the_next_message() {
        let mut turn = Turn::begin(LineRef::default(), "build the till".to_owned(), "build the till with a team", true);
        turn.say("Two teammates are at work: one on the drawer, one on the bell.", LineRef::default());
        turn.teammate_wrote();
        turn.say("The drawer is done.", LineRef::default());
        turn.say("Completed: 1 of 2 tasks, the bell is next.", LineRef::default());
        turn.teammate_wrote();
        turn.say("The till has a drawer and a bell now.", LineRef::default());
        assert_eq!(told(&turn), ["The till has a drawer and a bell now."]);
        turn.teammate_wrote();
        assert_eq!(told(&turn).len(), 1, "nothing was said since");
    }

    #[test]
    fn work_of_the_agent_itself_stays() {
        let mut turn = Turn::begin(LineRef::default(), "build the till".to_owned(), "build the till with a team", true);
        turn.teammate_wrote();
        turn.say("The bell rings twice because the wire is bent.", LineRef::default());
        turn.file_edited(false);
        turn.say("The wire is straight now.", LineRef::default());
        turn.teammate_wrote();
        turn.say("The drawer is done, too.", LineRef::default());
        assert_eq!(told(&turn).len(), 3);
    }
}
