//! Options and questions of an answer that the next prompt settled: the decision tells what was chosen, or the work went on without it.

use super::Results;
use crate::extract::options;
use crate::extract::statement::{self, Statement, Voice};

impl Results {
    /// Records that the user turned down some of the options that the answer of the latest turn lists, given how they begin.
    pub(in crate::extract) fn turn_down(&mut self, options: &[&str]) {
        if let Some(last) = self.latest() {
            let mut is_of_option = false;
            for it in last.statements.iter_mut().filter(|it| it.voice == Voice::Answer) {
                let said = lettered(&it.text).map_or(it.text.as_str(), |(_, said)| said);
                let begins = |option: &&str| said.starts_with(option) || it.heading.starts_with(option);
                is_of_option = options.iter().any(begins) || (is_of_option && it.goes_on);
                it.is_turned_down |= is_of_option;
            }
        }
        self.judged.take();
    }

    /// Records that the user answered the numbered question of an interview with which the answer of the latest turn ends. The decision
    /// tells it with what was chosen.
    pub(in crate::extract) fn question_answered(&mut self) {
        if let Some(last) = self.latest() {
            let is_question = |it: &Statement| it.voice == Voice::Answer && options::is_numbered_question(&it.text);
            let first = last.statements.iter().rposition(is_question).unwrap_or(last.statements.len());
            last.statements[first..].iter_mut().for_each(|it| it.is_turned_down = true);
        }
        self.judged.take();
    }

    /// Records that the user went on past the lettered options with which the answer of the latest turn ends. They wait for nobody any more.
    pub(in crate::extract) fn options_passed_over(&mut self) {
        let Some(turn) = self.latest().filter(|turn| !turn.has_work()) else { return };
        let Some(list) = turn.lists().pop() else { return };
        // Another list may stand right before the options.
        let items = |from: usize| turn.statements[from..list.end].iter().filter(|it| !it.goes_on);
        let letters = |from: usize| items(from).map(|it| lettered(&it.text).map(|(letter, _)| letter));
        let is_series = |from: &usize| letters(*from).zip('a'..).all(|(own, letter)| own == Some(letter));
        let Some(start) = list.clone().find(is_series).filter(|start| items(*start).count() >= 2) else { return };
        let behind = &turn.statements[list.end..];
        let asks = behind.len() <= 2 && behind.last().is_some_and(|it| statement::is_question(&it.text));
        if asks {
            let is_lead = |it: &Statement| it.voice == Voice::Answer && it.text.ends_with([':', '：']);
            let first = start.checked_sub(1).filter(|at| is_lead(&turn.statements[*at])).unwrap_or(start);
            turn.statements[first..].iter_mut().for_each(|it| it.is_turned_down = true);
        }
        self.judged.take();
    }
}

/// Returns the letter before an option, in lower case, and the option without it: "B) Buy a drawer". None if it has none.
fn lettered(option: &str) -> Option<(char, &str)> {
    let mut rest = option.chars();
    let letter = rest.next().filter(char::is_ascii_alphabetic)?;
    let mark = rest.next()?;
    let said = rest.as_str().strip_prefix(' ').filter(|_| matches!(mark, ')' | '.' | ':'))?;
    Some((letter.to_ascii_lowercase(), said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::results::TurnResult;

    fn down(answer: &str, settle: impl Fn(&mut Results)) -> Vec<bool> {
        let mut results = Results::default();
        let statements = statement::statements(answer, Voice::Answer);
        results.push(TurnResult { statements, ..TurnResult::default() });
        settle(&mut results);
        results.turns()[0].statements.iter().map(|it| it.is_turned_down).collect()
    }

    #[test]
    fn an_option_that_was_turned_down_is_not_told() {
        let answer = "The drawer of the till is stuck. Two ways:\n\n- Oil the lock of the drawer. It takes an hour.\n- Buy a drawer for the \
                      shop. It takes a week.";
        assert_eq!(down(answer, |it| it.turn_down(&["Buy a drawer"])), [false, false, false, false, true, true]);
        let lettered = "Two ways:\n\n- A) Oil the lock of the drawer.\n- B) Buy a drawer for the shop.";
        assert_eq!(down(lettered, |it| it.turn_down(&["Buy a drawer"])), [false, false, true]);
    }

    #[test]
    fn the_question_of_an_interview_is_told_by_its_decision() {
        let answer = "The drawer is stuck.\n\n**Question 2 of 3:** The lock. Two ways:\n\n- A) Oil it.\n- B) Buy one.\n\nI recommend A.";
        let down = down(answer, Results::question_answered);
        assert!(!down[0] && down[1..].iter().all(|is_down| *is_down), "{down:?}");
    }

    #[test]
    fn lettered_options_wait_for_nobody_once_the_user_went_on() {
        let answer =
            "The drawer is stuck. Can you confirm one of:\n\n- A) It is oiled at night.\n- B) Nobody oils it.\n\nWhich?";
        assert_eq!(down(answer, Results::options_passed_over), [false, true, true, true, true]);
        let after = answer.replace("one of:\n\n", "one of:\n\n- Oil it today.\n");
        assert_eq!(down(&after, Results::options_passed_over), [false, false, false, true, true, true]);
        for steps in [answer.replace("Which?", "It is open."), answer.replace("A) ", "").replace("B) ", "")] {
            assert!(!down(&steps, Results::options_passed_over).contains(&true), "{steps}");
        }
    }
}
