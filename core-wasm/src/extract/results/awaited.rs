//! States of the moment that later turns ended: the agent waited for the user's word, or something was still to be done.

use super::turn_result::TurnResult;
use super::{Place, Results};
use crate::extract::signs;
use crate::extract::statement::{Form, Statement};
use crate::text;

impl Results {
    /// Returns what turns said that the agent waits for, once a later turn went on, with the lists below it, and what they said is still to
    /// be done, once a later turn says that it is done.
    pub(super) fn awaited(&self) -> Vec<Place> {
        let mut all = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            let later = &self.turns[at + 1..];
            let is_over = later.iter().any(goes_on);
            let waits = |said: &str| is_over && signs::says_agent_waits(&text::lower(said));
            let is_past = |it: &Statement| {
                let is_below = matches!(it.form, Form::Item | Form::Row) && waits(&it.heading);
                it.is_of_agent() && (waits(&it.text) || is_below || is_done_in(it, later))
            };
            let own = turn.statements.iter().enumerate().filter(|(_, it)| is_past(it));
            all.extend(own.map(|(number, _)| (at, number)));
        }
        all
    }
}

/// Returns whether a turn went on with what the agent had waited with.
fn goes_on(turn: &TurnResult) -> bool {
    turn.has_work() || turn.acted || (turn.consents && turn.used_tools)
}

/// Returns whether a later turn says that it did what a statement says is still to be done: "The slip still needs to be printed", "Slip
/// printed".
fn is_done_in(statement: &Statement, later: &[TurnResult]) -> bool {
    let lower = text::lower(&statement.text);
    let Some((subject, deed)) = to_be_done(&lower) else { return false };
    let words = text::features(subject);
    let is_done = |it: &Statement| {
        let said = text::lower(&it.text);
        it.is_of_agent()
            && text::contains_words(&said, deed)
            && to_be_done(&said).is_none()
            && !signs::is_open_state(&said)
            && words.is_subset(&text::features(&said))
    };
    !words.is_empty() && later.iter().any(|turn| turn.statements.iter().any(is_done))
}

/// Returns what is still to be done, and the participle of the deed.
fn to_be_done(lower: &str) -> Option<(&str, &str)> {
    const SIGNS: [&str; 9] = [
        " still needs to be ",
        " still has to be ",
        " still need to be ",
        " needs to be ",
        " need to be ",
        " is not yet ",
        " are not yet ",
        " has not been ",
        " hasn't been ",
    ];
    let (at, sign) = SIGNS.iter().find_map(|sign| Some((lower.find(sign)?, sign)))?;
    let subject = lower[..at].rsplit(['.', ';', ':', ',', '(']).next().unwrap_or_default();
    let deed = lower[at + sign.len()..].split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    deed.ends_with("ed").then_some((subject, deed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::statement::{Voice, statements};

    fn awaited(turns: &[(&str, bool)]) -> Vec<Place> {
        let mut results = Results::default();
        for (said, edited) in turns {
            let statements = statements(said, Voice::Answer);
            results.push(TurnResult { statements, edited: *edited, ..TurnResult::default() });
        }
        results.awaited()
    }

    #[test]
    fn what_the_agent_waits_for_is_over_once_it_goes_on() {
        let waits = "The till is ready. Waiting for your approval to open the drawer.";
        assert_eq!(awaited(&[(waits, true), ("The drawer is open.", true)]), [(0, 1)]);
        assert_eq!(awaited(&[(waits, true), ("It is the left drawer.", false)]), []);
        let list = "## Waiting for your approval\n\n- Till: checked\n- Drawer: closed";
        assert_eq!(awaited(&[(list, true), ("The drawer is open.", true)]).len(), 3);
    }

    #[test]
    fn what_was_still_to_be_done_is_over_once_it_is_done() {
        let open = "The slip still needs to be printed.";
        assert_eq!(awaited(&[(open, true), ("The slip is printed on paper.", true)]), [(0, 0)]);
        assert_eq!(awaited(&[(open, true), ("The total is printed.", true)]), []);
        assert_eq!(awaited(&[(open, true), ("The slip is not yet printed.", true)]), []);
    }
}
