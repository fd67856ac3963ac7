//! What the session is asked for: the first request, a later one, and what completes them.

use super::State;
use crate::extract::human;
use crate::text;

/// The maximum length of what completes a command that asked back, in characters.
const MAX_DETAIL_CHARS: usize = 40;
/// The maximum length of an answer that only asks back, in characters.
const MAX_ASKING_CHARS: usize = 600;
/// The length up to which a question for which nothing was done is only chat, in characters.
const MAX_CHAT_CHARS: usize = 50;

impl State {
    /// Takes a prompt as the request, as a later one, or as what completes it. `title` is what the prompt asks for, `whole` all that it says.
    pub(super) fn request_of_prompt(&mut self, prompt: &str, (title, whole): (&str, &str), substantive: bool) {
        if substantive {
            self.undone.asked(title);
            if self.request.is_empty() {
                title.clone_into(&mut self.request);
                whole.clone_into(&mut self.request_whole);
                self.request_only_asks = human::only_asks(title) || human::is_paste(prompt);
            } else if title.chars().count() >= if title.is_ascii() { 12 } else { 6 } {
                title.clone_into(&mut self.objective);
            }
        } else if human::asks_chore(prompt) {
            self.undone.asked_for_chore(title);
        } else if human::is_consent(prompt) && !human::thanks(prompt) && !self.open_question.is_empty() {
            // What the agent offered is asked for now.
            let accepted = self.told_question();
            self.undone.asked_for_chore(&accepted);
        }
        // What a command asked back for belongs to the request: "/review", "181".
        let is_bare = self.request.starts_with('/') && !self.request.contains(char::is_whitespace);
        let is_answer = asks_back(&self.last_answer) && human::stands_alone(title);
        let is_detail = (title.chars().count() <= MAX_DETAIL_CHARS || is_answer)
            && !title.starts_with('/')
            && !human::is_consent(prompt);
        if is_bare && is_detail && title != self.request && self.results.turns().len() == 1 {
            self.request = format!("{} {}", self.request, human::without_option_letter(title));
            self.request_whole.clear();
        }
    }

    /// Takes the closed turn's prompt as the first request or as a later one. What was only asked before the work is not what the
    /// session was for, and a question that was only answered is no later request.
    pub(super) fn request_of_closed_turn(&mut self) {
        let turn = &self.turn;
        let changed = turn.edited || turn.committed;
        if turn.substantive && turn.title == self.request {
            // Other scripts say as much in half as many characters.
            let is_english = text::language(&turn.title) == text::Language::English;
            let max = if is_english { MAX_CHAT_CHARS } else { MAX_CHAT_CHARS / 2 };
            let is_short = turn.title.chars().count() <= max;
            self.request_is_chat = is_short && !changed && turn.files.is_empty();
            // Whoever asks why something fails wants it mended.
            self.request_only_asks &= !(changed || (turn.used_tools && human::asks_cause(&turn.title)));
            return;
        }
        if !turn.substantive {
            self.request_only_asks &= !turn.edited;
            return;
        }
        let is_told = human::stands_alone(&turn.title) || human::sets_value(&turn.title);
        if !is_told || turn.is_aside || human::is_output(&turn.title) {
            // A consent had the first request worked on.
            self.request_only_asks &= !(changed && human::is_consent(&turn.title));
            return;
        }
        // "Do you have access to the tracker?" only leads to what the session is for.
        if self.request_only_asks && human::asks_ability(&self.request) && !human::asks_ability(&turn.title) {
            self.request.clone_from(&turn.title);
            self.request_whole.clone_from(&turn.whole);
            self.request_only_asks = human::only_asks(&turn.title) && !changed;
            self.later.clear();
            return;
        }
        let goes_on = human::begins_with_consent(&turn.title)
            || human::speaks_of_recording(&turn.title)
            || human::picks_of(&turn.title, &self.request)
            || turn.names_item;
        let was_question = self.request_only_asks && (self.request_is_chat || !goes_on);
        if changed && std::mem::take(&mut self.request_only_asks) && was_question {
            self.request.clone_from(&turn.title);
            self.request_whole.clone_from(&turn.whole);
            self.later.clear();
            return;
        }
        // What only records the work before it gives no other aim, nor does a question.
        let records = human::speaks_of_recording(&turn.title) && !turn.edited;
        let is_worked_on = changed || turn.used_tools || turn.answer.is_empty();
        let asks_for_work = !human::only_asks(&turn.title) && (changed || !human::states_fact(&turn.title));
        if asks_for_work && is_worked_on && !records {
            self.later.clone_from(&turn.title);
        }
    }

    /// Returns the first request with all that the user said for it, as far as that is told. May be empty.
    pub(in crate::extract) fn request_in_full(&self) -> &str {
        let (request, whole) = (self.request.as_str(), self.request_whole.as_str());
        let is_more = request.contains('…') || whole.chars().count() > request.chars().count();
        if is_more && !whole.is_empty() {
            return whole;
        }
        // A state that an older version saved has it only with the turn.
        let of_turn = self.results.turns().iter().find(|turn| turn.asked == request && !turn.whole.is_empty());
        of_turn.map(|turn| turn.whole.as_str()).filter(|whole| whole.len() > request.len()).unwrap_or(request)
    }

    /// Returns what the user asked for last, for a remark that does not say what it is about.
    pub(super) fn topic(&self) -> &str {
        let asked = [&self.turn.title, &self.objective, &self.request];
        asked.into_iter().find(|title| human::stands_alone(title) && !human::is_output(title)).map_or("", String::as_str)
    }
}

/// Returns whether an answer says little more than a question: what a command such as "brainstorm" asks back.
fn asks_back(answer: &str) -> bool {
    answer.contains(['?', '？']) && answer.chars().count() <= MAX_ASKING_CHARS
}
