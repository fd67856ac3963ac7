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

/// Parts statements of a turn into those that are chosen and those that are missing.
fn parted(at: usize, numbers: impl Iterator<Item = usize>, chosen: &[Place]) -> (Vec<Place>, Vec<Place>) {
    numbers.map(|number| (at, number)).partition(|place| chosen.contains(place))
}
