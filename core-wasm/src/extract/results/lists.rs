//! Keeps lists whole: a list or a procedure with gaps misleads.

use super::barred::is_barred;
use super::turn_result::is_lead;
use super::{MAX_SESSION_CHARS, Place, Results};
use crate::extract::signs;
use crate::extract::statement::{self, Form};
use crate::extract::vanished;

/// The maximum length of what is added to complete one list, in characters.
const MAX_LIST_CHARS: usize = 300;
/// The length up to which a list is told whole once one of its items is, in characters.
const MAX_SHORT_LIST_CHARS: usize = 450;
/// The number of steps of a list from which the others are added, and the maximum length of these, in characters.
const MIN_STEPS: usize = 2;
const MAX_STEPS_CHARS: usize = 500;
/// The maximum length of the titles that are added of one answer, in characters.
const MAX_TITLES_CHARS: usize = 900;
/// The maximum length of an answer with titles and what stands below them, in characters, and that of the one with which the work ended.
const MAX_PARTS_CHARS: usize = 1_100;
const MAX_END_CHARS: usize = 2_600;

impl Results {
    /// Adds the line above each told list that says what its items are: without it they read as a part of what stands before them, and
    /// what was taken out as if it were there.
    pub(super) fn with_leads(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate() {
            for list in turn.lists() {
                let Some(above) = list.start.checked_sub(1) else { continue };
                let (lead, first) = (&turn.statements[above], &turn.statements[list.start]);
                let leads = is_lead(&lead.text) && (lead.voice, lead.place + 1) == (first.voice, first.place);
                let told = list.clone().filter(|number| chosen.contains(&(at, *number))).count();
                let is_most = 2 * told >= list.len() && (told >= 2 || list.len() == 1) && chosen.contains(&(at, list.start));
                // "It was meant for:" needs the sentence that says what was.
                let points = lead.goes_on && signs::begins_with_pronoun(&lead.text.to_lowercase(), true);
                let is_needed =
                    (told > 0 && vanished::says_removal(&lead.text)) || (is_most && (turn.needs_lead(above) || points));
                if leads && is_needed && !chosen.contains(&(at, above)) {
                    chosen.push((at, above));
                    let before = above.checked_sub(1).filter(|before| points && !chosen.contains(&(at, *before)));
                    chosen.extend(before.map(|before| (at, before)));
                }
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Adds what is missing of the lists of which most is chosen, while there is room: a list with gaps misleads.
    pub(super) fn with_whole_lists(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        let mut room = (MAX_SESSION_CHARS + MAX_LIST_CHARS).saturating_sub(self.length(chosen.iter().copied()));
        for (at, turn) in self.turns.iter().enumerate() {
            for list in turn.lists() {
                let (told, mut missing) = parted(at, list, &chosen);
                let later_turns = self.turns.len() - 1 - at;
                missing.retain(|&(_, number)| {
                    !is_barred(&turn.statements[number], turn, later_turns, 1.0) && !turn.is_option(number)
                });
                let (own, chars) = (self.length(told.iter().copied()), self.length(missing.iter().copied()));
                let is_most = told.len() >= 2 && told.len() >= missing.len() && chars <= MAX_LIST_CHARS;
                let is_short = !told.is_empty() && chars + own <= MAX_SHORT_LIST_CHARS && chars + MAX_LIST_CHARS <= room;
                if (is_short || is_most) && chars <= room {
                    room -= chars;
                    chosen.extend(missing);
                }
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Adds the missing steps of the numbered lists of which enough is chosen: a cause or a procedure without one of its steps is
    /// another one. What is only offered is no step.
    pub(super) fn with_whole_steps(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate() {
            if turn.is_withdrawn() || turn.is_refused {
                continue;
            }
            for list in turn.lists() {
                let is_choice = |number: usize| {
                    let it = &turn.statements[number];
                    turn.is_offered(number)
                        || statement::is_question(&it.text)
                        || signs::is_proposals(&it.heading)
                        || it.is_proposed
                };
                let is_step = |number: &usize| turn.statements[*number].is_step;
                let (told, missing) = parted(at, list.clone().filter(is_step), &chosen);
                let chars = self.length(missing.iter().copied());
                let is_most = told.len() >= MIN_STEPS && 2 * told.len() >= missing.len();
                if is_most && chars <= MAX_STEPS_CHARS && !list.clone().any(is_choice) {
                    chosen.extend(missing);
                }
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Adds the titles of the numbered parts of the answers of which one part is told: one of eight parts does not stand for the others.
    /// Where there is no room for more, less is told of each part.
    pub(super) fn with_titles(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        let closing = self.closing();
        for (at, turn) in self.turns.iter().enumerate().filter(|(_, turn)| !turn.is_withdrawn() && !turn.is_refused) {
            for titles in turn.titles() {
                let part = |number: usize| {
                    let it = &turn.statements[number];
                    let is_above = |of: &usize| *of < number && turn.statements[*of].text == it.heading;
                    titles.iter().copied().rfind(|of| it.form != Form::Heading && is_above(of))
                };
                let is_told = |&(of, number): &Place| of == at && (titles.contains(&number) || part(number).is_some());
                let is_missing = |place: &Place| !chosen.contains(place);
                let missing: Vec<Place> = titles.iter().map(|&number| (at, number)).filter(is_missing).collect();
                if !chosen.iter().any(is_told) || self.length(missing.iter().copied()) > MAX_TITLES_CHARS {
                    continue;
                }
                chosen.extend(missing);
                let max_chars = if closing == Some(at) && turn.has_work() { MAX_END_CHARS } else { MAX_PARTS_CHARS };
                let own = chosen.iter().filter(|(of, _)| *of == at).copied();
                let (details, rest): (Vec<Place>, Vec<Place>) = own.partition(|&(_, number)| part(number).is_some());
                let left = max_chars.saturating_sub(self.length(rest.into_iter()));
                if self.length(details.iter().copied()) > left {
                    let kept = self.of_each_part(&details, |number| part(number).unwrap_or_default(), left);
                    chosen.retain(|place| !details.contains(place) || kept.contains(place));
                }
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Returns those of the statements below titles that fit into so many characters: the first of each part, then the second, and so on.
    /// `part` returns the title above a statement.
    fn of_each_part(&self, details: &[Place], part: impl Fn(usize) -> usize, mut left: usize) -> Vec<Place> {
        let mut order: Vec<(usize, Place)> = Vec::new();
        for &place in details {
            let before = order.iter().filter(|(_, of)| part(of.1) == part(place.1)).count();
            order.push((before, place));
        }
        order.sort_unstable();
        let mut kept = Vec::new();
        for (_, place) in order {
            let chars = self.length([place].into_iter());
            if chars > left {
                break;
            }
            left -= chars;
            kept.push(place);
        }
        kept
    }

    /// Adds what is missing of the lists whose lead says how many items they have: "Two causes:" with one of them misleads. Where there is no
    /// room, or where one was turned down or is `overtaken`, the list stays as it is.
    pub(super) fn with_counted_lists(&self, mut chosen: Vec<Place>, overtaken: &[Place]) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate().filter(|(_, turn)| !turn.is_withdrawn() && !turn.is_refused) {
            for list in turn.lists() {
                let first = &turn.statements[list.start];
                let items = list.clone().filter(|&number| !turn.statements[number].goes_on).count();
                let lead =
                    list.start.checked_sub(1).map(|above| turn.statements[above].text.as_str()).filter(|lead| is_lead(lead));
                if announced(lead.unwrap_or(&first.heading)) != Some(items) {
                    continue;
                }
                let is_gone =
                    |&(_, number): &Place| turn.statements[number].is_turned_down || overtaken.contains(&(at, number));
                let (told, missing) = parted(at, list, &chosen);
                let has_room = self.length(missing.iter().copied()) <= MAX_LIST_CHARS;
                if !told.is_empty() && has_room && !missing.iter().any(is_gone) {
                    chosen.extend(missing);
                }
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Leaves out the rows of a table of which less than half is told: a few rows do not stand for the others.
    pub(super) fn without_stray_rows(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate() {
            for list in turn.lists().into_iter().filter(|list| turn.statements[list.start].form == Form::Row) {
                let told = list.clone().filter(|number| chosen.contains(&(at, *number))).count();
                if told > 0 && 2 * told < list.len() {
                    chosen.retain(|(of, number)| *of != at || !list.contains(number));
                }
            }
        }
        chosen
    }
}

/// Returns how many items a line says that it leads to: 2 for "You have two ways:". None if it has no number, or several.
fn announced(lead: &str) -> Option<usize> {
    const NUMBERS: [&str; 8] = ["two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let lower = lead.to_lowercase();
    let number = |word: &str| {
        let digits = word.parse().ok().filter(|number| (2..=9).contains(number));
        digits.or_else(|| NUMBERS.iter().position(|name| *name == word).map(|at| at + 2))
    };
    let mut numbers = lower.split(|c: char| !c.is_alphanumeric()).filter_map(number);
    numbers.next().filter(|_| numbers.next().is_none())
}

/// Parts statements of a turn into those that are chosen and those that are missing.
fn parted(at: usize, numbers: impl Iterator<Item = usize>, chosen: &[Place]) -> (Vec<Place>, Vec<Place>) {
    numbers.map(|number| (at, number)).partition(|place| chosen.contains(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::results::TurnResult;
    use crate::extract::statement::Voice;

    fn with_titles(answer: &str, chosen: &[usize]) -> Vec<String> {
        let mut results = Results::default();
        let statements = statement::statements(answer, Voice::Answer);
        results.push(TurnResult { statements, ..TurnResult::default() });
        let told = results.with_titles(chosen.iter().map(|&number| (0, number)).collect());
        told.into_iter().map(|(at, number)| results.turns[at].statements[number].text.clone()).collect()
    }

    #[test]
    fn the_titles_of_all_parts_are_told_with_one_of_them() {
        let answer = "### 1. The till\nIt rounds.\n### 2. The bell\nIt rings.\n### 3. The lamp\nIt is lit.";
        assert_eq!(with_titles(answer, &[1]), ["The till", "It rounds.", "The bell", "The lamp"]);
        assert!(with_titles(answer, &[]).is_empty());
        let ways = answer.replace("### ", "### Option ").replace(". ", ": ");
        assert_eq!(with_titles(&ways, &[1]), ["It rounds."]);
    }

    #[test]
    fn a_list_has_as_many_items_as_its_lead_says() {
        let told = |lead: &str| {
            let mut results = Results::default();
            let statements =
                statement::statements(&format!("{lead}\n- The lock is worn\n- The lamp is broken"), Voice::Answer);
            results.push(TurnResult { statements, ..TurnResult::default() });
            results.with_counted_lists(vec![(0, 1)], &[]).len()
        };
        assert_eq!([told("Two parts are worn:"), told("2 parts of the till:")], [2, 2]);
        assert_eq!([told("Three parts are worn:"), told("Two of three parts:"), told("These are worn:")], [1, 1, 1]);
    }

    #[test]
    fn less_is_told_of_each_part_where_there_is_no_room() {
        let part = |number: usize| {
            format!("### {number}. Part\nIt is one.\n\n{}.\n", "The long way of the till ".repeat(20).trim())
        };
        let answer: String = (1..=3).map(part).collect();
        let told = with_titles(&answer, &[1, 2, 4, 5, 7, 8]);
        assert_eq!(told.iter().filter(|said| said.as_str() == "It is one.").count(), 3);
        assert_eq!(told.len(), 8, "{told:?}");
    }
}
