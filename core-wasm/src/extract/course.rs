//! The course of a session: what was asked in its turns, in their order, and which result came of each.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::commits;
use super::human;
use super::requests;
use super::results::{TurnResult, is_dismissed};
use super::state::State;
use super::undone::Push;
use crate::text;

/// The maximum length of a request beside its result, in bytes.
const MAX_ASKED_BYTES: usize = 240;
/// The length up to which all requests together are told whole, in characters.
const MAX_ALL_CHARS: usize = 3_600;
/// The length of the beginning of a request by which its prompt is known, in bytes.
const MAX_START_BYTES: usize = 60;
/// The same, by which it is found in all that its prompt says.
const MAX_WHOLE_START_BYTES: usize = 24;

/// The width from which a question, and a remark, says what its answer is about.
const MIN_QUESTION_WIDTH: usize = 10;
const MIN_REMARK_WIDTH: usize = 16;

/// Up to how many words, and up to which width, a question says too little without its answer.
const MAX_IDLE_WORDS: usize = 4;
const MAX_IDLE_WIDTH: usize = 20;

/// What stands for the first request, which the notes have in a field of its own.
pub(crate) const FIRST: &str = "*";
/// What stands for the end of the session, and for no result.
pub(crate) const END: &str = "end";
pub(crate) const NOTHING: &str = "-";

/// What stands around the words of the user before a result, and between them and what came of them.
pub(super) const QUOTE: char = '“';
pub(super) const END_OF_QUOTE: char = '”';
pub(crate) const ARROW: &str = " → ";

/// What stands in a line between a request, what the tools say of it, and what the user said for it while the agent worked.
pub(crate) const FIELD: char = '\t';
/// What stands between several remarks.
const NEXT: &str = "; ";

/// One request and the place of its result.
struct Step {
    asked: String,
    /// The number of the result in the notes, `end` or `-`.
    gave: String,
    turn: usize,
    /// What the user said for it while the agent worked: the result is of that, too.
    then: Vec<String>,
}

impl Step {
    /// Returns the words of the request.
    fn says<'a>(&'a self, state: &'a State) -> &'a str {
        if self.asked == FIRST { &state.request } else { &self.asked }
    }

    /// Returns whether nothing is told of what came of it.
    fn is_silent(&self) -> bool {
        self.gave == NOTHING && !self.asked.is_empty()
    }
}

/// Returns the steps, one a line: what came of it, and what was asked. `more` are the requests that are told whether something came of
/// them or not, with their turns, `results` the turns of the results, and `end` the turn of the end, if there is one.
pub(super) fn lines(state: &State, more: &[(usize, String)], results: &[usize], end: Option<usize>) -> String {
    let latest = requests::latest_with_turn(state);
    let mut steps: Vec<Step> = Vec::new();
    for (at, turn) in state.results.turns().iter().enumerate() {
        let gave = match results.iter().position(|of| *of == at) {
            Some(number) => number.to_string(),
            None if end == Some(at) => END.to_owned(),
            None => NOTHING.to_owned(),
        };
        let mut asked = asked_in(at, more, latest);
        if turn.asked == state.request && steps.iter().all(|step| step.asked != FIRST) {
            asked.insert(0, FIRST.to_owned());
        } else if gave != NOTHING && !asked.iter().any(|asked| is_said_in(asked, &turn.asked)) {
            let is_whole = state.results.turns().get(at + 1).is_none_or(|next| next.number != turn.number);
            // How the work ended says by itself what it is about.
            let needs_words = is_whole && (gave != END || !turn.has_work());
            asked.splice(0..0, told_beside_result(turn, needs_words));
        }
        add(&mut steps, state, at, asked, &gave);
    }
    if steps.iter().all(|step| step.asked != FIRST) {
        steps.insert(0, Step { asked: FIRST.to_owned(), gave: NOTHING.to_owned(), turn: 0, then: Vec::new() });
    }
    steps.extend(last_chore(state, &steps));
    let asked = in_full(state, &steps);
    let line = |at: usize| {
        let (gave, then) = (&steps[at].gave, steps[at].then.join(NEXT));
        let line = format!("{gave} {}{FIELD}{}", asked[at], record(state, &steps, at));
        if then.is_empty() { line } else { format!("{line}{FIELD}{then}") }
    };
    let tells = |at: &usize| !is_idle_question(&steps[*at]) || !record(state, &steps, *at).is_empty();
    (0..steps.len()).filter(tells).map(line).collect::<Vec<_>>().join("\n")
}

/// Returns whether a step is a question in a few words of which no answer is told: "why not?" says nothing without one.
fn is_idle_question(step: &Step) -> bool {
    let asked = step.asked.as_str();
    let is_short = if asked.is_ascii() {
        asked.split_whitespace().count() <= MAX_IDLE_WORDS
    } else {
        text::width(asked) <= MAX_IDLE_WIDTH
    };
    step.is_silent() && is_short && asked != FIRST && human::only_asks(asked) && !requests::is_verdict(asked)
}

/// Returns the requests of the steps, whole as far as there is room for them, the latest first.
fn in_full<'a>(state: &'a State, steps: &'a [Step]) -> Vec<Cow<'a, str>> {
    let told: usize = steps.iter().map(|step| step.says(state).chars().count()).sum();
    let mut room = MAX_ALL_CHARS.saturating_sub(told);
    let mut all: Vec<Cow<str>> = steps.iter().map(|step| Cow::Borrowed(step.asked.as_str())).collect();
    for (step, asked) in steps.iter().zip(&mut all).rev() {
        let Some(whole) = whole(state, step) else { continue };
        let longer = whole.chars().count().saturating_sub(asked.chars().count());
        if longer > 0 && longer <= room {
            room -= longer;
            *asked = Cow::Owned(whole);
        }
    }
    all
}

/// Returns all that the user said for a request of which the essence is known.
fn whole(state: &State, step: &Step) -> Option<String> {
    let turn = state.results.turns().get(step.turn).filter(|_| step.asked != FIRST && !step.asked.is_empty())?;
    let undone = format!(" ({})", state.labels().later_undone);
    let asked = step.asked.strip_suffix(&undone).unwrap_or(&step.asked);
    let start = asked.split('…').next().unwrap_or_default().trim_end();
    let begins = |at: &usize| turn.asked.starts_with(text::head(start, MAX_WHOLE_START_BYTES)) && *at == 0;
    let found = turn.whole.find(text::head(start, MAX_WHOLE_START_BYTES));
    let at = found.or(Some(0).filter(begins)).filter(|_| !start.is_empty() && !turn.whole.is_empty())?;
    let said = &turn.whole[at..];
    Some(if asked.len() < step.asked.len() { format!("{said}{undone}") } else { said.to_owned() })
}

/// Returns what is told of what the turn `at` was asked, in one line each.
fn asked_in(at: usize, more: &[(usize, String)], latest: Option<(usize, &str)>) -> Vec<String> {
    let of_turn = more.iter().filter(|(of, _)| *of == at).map(|(_, asked)| text::one_line(asked));
    let mut asked: Vec<String> = of_turn.collect();
    let latest = latest.filter(|(of, _)| *of == at).map(|(_, latest)| text::one_line(latest));
    let is_told = |latest: &str| asked.iter().any(|asked| is_said_in(asked, latest) || is_said_in(latest, asked));
    let latest = latest.filter(|latest| !is_told(latest));
    asked.extend(latest);
    asked
}

/// Adds the steps of a turn: what it was asked, and what came of that.
fn add(steps: &mut Vec<Step>, state: &State, at: usize, mut asked: Vec<String>, gave: &str) {
    let turns = state.results.turns();
    if gave != NOTHING {
        // A turn that the user's answers divide has several results.
        let is_part = |step: &Step| turns[step.turn].number == turns[at].number && turns[step.turn].asked == turns[at].asked;
        let request = steps.iter().position(|step| is_part(step) && is_said_in(step.says(state), &turns[at].asked));
        if let Some(request) = request {
            asked.retain(|asked| *asked != steps[request].asked && !is_said_in(asked, &turns[at].asked));
            if asked.iter().all(|asked| is_remark(&turns[at], asked)) && has_room(steps, request, gave) {
                steps[request].then.append(&mut asked);
                return gave.clone_into(&mut steps[request].gave);
            }
        }
        // "Yes" belongs to what was asked right before it.
        let consents = turns[at].consents || human::is_consent(&turns[at].asked);
        // A comment or an issue that was written for it is another thing.
        let has_own = |turn: &TurnResult| turn.acted && !turn.has_work();
        let before = steps
            .len()
            .checked_sub(1)
            .filter(|&before| consents && steps[before].turn + 1 == at && !has_own(&turns[steps[before].turn]))
            .filter(|&before| !human::objects(steps[before].says(state)));
        if let Some(before) = before.filter(|&before| asked.is_empty() && has_room(steps, before, gave)) {
            return gave.clone_into(&mut steps[before].gave);
        }
        // What was asked again is told where it was answered.
        if let Some(last) = asked.last() {
            let words = text::features(last);
            let is_same = |step: &Step| {
                step.asked == *last || text::similarity(&text::features(&step.asked), &words) >= requests::SAME_REQUEST
            };
            steps.retain(|step| step.gave != NOTHING || step.asked == FIRST || !is_same(step));
        }
        if asked.is_empty() {
            asked.push(String::new());
        }
    }
    // What was said to the same work has the same result.
    let remarks = asked.iter().rev().take_while(|asked| gave != NOTHING && is_remark(&turns[at], asked)).count();
    let mut then = asked.split_off(asked.len() - remarks.min(asked.len().saturating_sub(1)));
    let last = asked.len().saturating_sub(1);
    for (place, asked) in asked.into_iter().enumerate() {
        let gave = if place == last { gave } else { NOTHING };
        // Once is enough to tell all of it.
        let repeats = |step: &Step| is_same_request(step.says(state), &asked);
        let is_answered = steps.iter().any(|step| repeats(step) && step.gave != NOTHING);
        let is_told = steps.iter().any(repeats);
        if is_told && gave == NOTHING && (is_answered || !turns[at].has_work()) {
            continue;
        }
        let is_clipped = is_told && asked.len() > MAX_START_BYTES;
        let asked = if is_clipped { text::clip(&asked, MAX_START_BYTES).into_owned() } else { asked };
        let then = if place == last { std::mem::take(&mut then) } else { Vec::new() };
        steps.push(Step { asked: text::one_line(&asked), gave: gave.to_owned(), turn: at, then });
    }
}

/// Returns whether a request is said in the same words as another, or only with some more or less of them at its end.
fn is_same_request(one: &str, other: &str) -> bool {
    text::head(one, MAX_START_BYTES) == text::head(other, MAX_START_BYTES)
        && !other.is_empty()
        && (one == other || text::similarity(&text::features(one), &text::features(other)) >= requests::SAME_REQUEST)
}

/// Returns whether the user said something while the agent worked in a turn, and not to begin it.
fn is_remark(turn: &TurnResult, asked: &str) -> bool {
    !is_said_in(asked, &turn.asked) && turn.added.iter().any(|added| is_said_in(asked, added))
}

/// Returns the request to commit or to push with which the session ended, unless it is told already or has no answer.
fn last_chore(state: &State, steps: &[Step]) -> Option<Step> {
    let at = state.results.turns().len().checked_sub(1)?;
    let turn = &state.results.turns()[at];
    let asked = turn.asked.as_str();
    let is_told = || steps.iter().map(|step| step.says(state)).any(|said| !said.is_empty() && is_said_in(said, asked));
    if !requests::asks_record(turn, asked) || human::is_output(asked) || state.undone.is_unanswered(asked) || is_told() {
        return None;
    }
    let asked = text::clip(&text::one_line(asked), MAX_ASKED_BYTES).into_owned();
    Some(Step { asked, gave: NOTHING.to_owned(), turn: at, then: Vec::new() })
}

/// Returns what the tools say of a request if nothing else is told of what came of it: a commit, a push or a pull request if it asked for
/// that, the files that were changed for it, or that the user refused the plan for it. May be empty.
fn record(state: &State, steps: &[Step], at: usize) -> String {
    let (turns, step) = (state.results.turns(), &steps[at]);
    let Some(turn) = turns.get(step.turn).filter(|turn| step.is_silent() && !turn.is_taken_back) else {
        return String::new();
    };
    // The last of the requests of a turn stands for its work, but for what the user only said to it.
    let begins_turn = |of: &Step| of.asked == FIRST || !is_remark(turn, &of.asked);
    let mut later = steps[at + 1..].iter().take_while(|next| next.turn == step.turn);
    if later.any(|next| begins_turn(next) || next.gave != NOTHING) {
        return String::new();
    }
    if requests::asks_record(turn, &step.asked) {
        return recorded(state, step.turn, &step.asked.to_lowercase());
    }
    let mut earlier = steps[..at].iter().rev().take_while(|before| before.turn == step.turn);
    if !begins_turn(step) && earlier.any(|before| before.is_silent() && begins_turn(before)) {
        return String::new();
    }
    // "Yes" has the work done that was proposed for the request.
    let next = turns.get(step.turn + 1).filter(|next| next.consents && !next.is_taken_back);
    let next = next.filter(|_| steps.get(at + 1).is_none_or(|later| later.turn > step.turn + 1));
    let changed = [Some(turn), next].into_iter().flatten().map(|turn| changed_in(state, turn));
    let refusal = || state.undone.refusal(state.labels()).filter(|_| ends_with(turns, steps, at));
    let told = changed.into_iter().find(|names| !names.is_empty()).or_else(refusal).unwrap_or_default();
    let is_refused = !told.is_empty() && is_dismissed(turns, step.turn);
    if is_refused { format!("{told} ({})", state.labels().refused_next) } else { told }
}

/// Returns whether the session ended in the turn of a step, and no earlier step of the turn is silent. What the user said against a plan is a
/// step of the same turn.
fn ends_with(turns: &[TurnResult], steps: &[Step], at: usize) -> bool {
    let last = turns.last().map(|turn| turn.number);
    let is_of_last = |step: &Step| turns.get(step.turn).map(|turn| turn.number) == last;
    steps[at..].iter().all(is_of_last) && !steps[..at].iter().any(|before| before.is_silent() && is_of_last(before))
}

/// Returns the names of the files that a turn changed, as far as its changes still stand. May be empty.
fn changed_in(state: &State, turn: &TurnResult) -> String {
    const MAX_NAMES: usize = 4;
    let mut names: Vec<&str> = Vec::new();
    for path in state.files_changed_in(turn.number) {
        let name = path.rsplit('/').next().unwrap_or(path);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let mut told: Vec<String> = names.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    let more = names.len() - told.len();
    if more > 0 {
        told.push(format!("+{more}"));
    }
    state.labels().changed.replace("{}", &told.join(", "))
}

/// Returns whether the work was committed, pushed or proposed in the turn that was asked for that, as far as it is known. What was not
/// done then may have been done later, unless the turn is the last one.
fn recorded(state: &State, at: usize, lower: &str) -> String {
    let since = &state.results.turns()[at..];
    let (turn, is_last) = (&since[0], since.len() == 1);
    // What was pushed before it was asked for is not what was asked for.
    let is_pushed = || since.iter().any(|turn| turn.pushed);
    let opens = requests::proposes(lower) || (requests::publishes(lower) && human::asks_record(lower));
    let mut numbers = state.commits.iter().rev().filter_map(|line| commits::pull_request_number(line));
    let opened = numbers.next().filter(|_| opens && (is_last || numbers.next().is_none()));
    // A pull request may have been opened elsewhere.
    let is_elsewhere = opens && opened.is_none() && !human::speaks_of_recording(lower);
    let told = if turn.committed {
        after_commit(state, lower, is_last, is_elsewhere)
    } else {
        without_commit(state, lower, is_last, is_pushed())
    };
    let told = told.iter().map(|label| (*label).to_owned());
    told.chain(opened.map(|number| format!("PR #{number}"))).collect::<Vec<_>>().join(", ")
}

/// Returns what is told of a turn that made a commit.
fn after_commit(state: &State, lower: &str, is_last: bool, is_elsewhere: bool) -> Vec<&'static str> {
    let labels = state.labels();
    match state.undone.push() {
        Push::Made if wants_push(lower) => vec![labels.is_committed, labels.pushed],
        Push::Missing if is_last => vec![labels.not_pushed],
        _ if is_elsewhere => Vec::new(),
        _ => vec![labels.is_committed],
    }
}

/// Returns what is told of a turn that made no commit.
fn without_commit(state: &State, lower: &str, is_last: bool, is_pushed: bool) -> Vec<&'static str> {
    let labels = state.labels();
    // "Give me a commit message" asks for no commit.
    let asks_for_text = || text::contains_any(lower, &["message", "description", "메시지", "メッセージ"]);
    let is_left = || {
        let files: Vec<&str> = state.files.paths().collect();
        state.other_commit.0.is_empty() && state.commit_state(&files) == labels.not_committed
    };
    match state.undone.push() {
        Push::Made if wants_push(lower) && is_pushed => vec![labels.pushed],
        Push::Missing if wants_push(lower) && is_last => vec![labels.not_pushed],
        _ if is_last && !asks_for_text() && is_left() => vec![labels.not_committed],
        _ => Vec::new(),
    }
}

/// Returns whether a request in lower case asks for a push, or for what comes after one.
fn wants_push(lower: &str) -> bool {
    const PUSHES: [&str; 5] = ["push", "pushed", "푸시", "プッシュ", "推送"];
    requests::publishes(lower) || text::contains_any_words(lower, &PUSHES)
}

/// Returns the quoted words of the user before the result of a turn, and the result.
pub(crate) fn split_quote(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix(QUOTE)?.split_once(&format!("{END_OF_QUOTE}{ARROW}"))
}

/// Returns whether a request has no result yet, and nothing stands between it and the result.
fn has_room(steps: &[Step], at: usize, gave: &str) -> bool {
    steps[at].gave == NOTHING && (gave != END || at + 1 == steps.len())
}

/// Returns whether a request, which may have been shortened, begins with words of a prompt.
fn is_said_in(asked: &str, prompt: &str) -> bool {
    text::one_line(prompt).contains(text::head(asked, MAX_START_BYTES))
}

/// Returns what a turn was asked, shortened, if it says something beside its result. `needs_words` says that a few words are enough.
fn told_beside_result(turn: &TurnResult, needs_words: bool) -> Option<String> {
    let asked = human::without_option_letter(human::without_consent(&turn.asked));
    let publishes = requests::publishes(asked);
    let says =
        (turn.substantive || publishes) && human::stands_alone(asked) && (publishes || !human::speaks_of_recording(asked));
    let is_telling = !turn.is_unasked
        && (says || (needs_words && is_question_or_remark(turn, asked)))
        && !human::is_output(asked)
        && (!asked.contains(['[', '{', '|']) || human::Parts::in_line(asked).is_some())
        && !text::contains_any(asked, &[" // ", " = ", "();"]);
    is_telling.then(|| human::shortened(asked, MAX_ASKED_BYTES))
}

/// Returns whether a turn was asked a question, or told more than a consent or a chore: what came of it says little alone.
fn is_question_or_remark(turn: &TurnResult, asked: &str) -> bool {
    let asks = || asked.ends_with(['?', '？']) || human::only_asks(asked);
    let remarks = || text::width(asked) >= MIN_REMARK_WIDTH && !human::speaks_of_recording(asked);
    let is_long = || text::width(asked) >= MIN_QUESTION_WIDTH && (asks() || remarks());
    !turn.is_chore && !turn.consents && is_long() && !human::is_consent(asked)
}
