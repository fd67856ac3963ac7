//! How the session ended, and what its other turns gave.

use super::given::{Given, has_work};
use super::line::{MIN_REST_CHARS, as_sentence, with_hashes, with_tests_run};
use super::overtaken::is_refused;
use crate::extract::course::{ARROW, END_OF_QUOTE, QUOTE, split_quote};
use crate::extract::human;
use crate::extract::prose;
use crate::extract::requests;
use crate::extract::results::TurnResult;
use crate::extract::signs;
use crate::extract::state::State;
use crate::extract::statement::{Statement, Voice};
use crate::text;

/// The length below which the end of a session is completed by the work before it, in characters.
const MIN_END_CHARS: usize = 160;

/// The width from which the line of a turn that ended while the agent was still looking says something.
const MIN_BEGUN_WIDTH: usize = 120;

/// The length below which it says little, whatever the last turn did.
const MIN_TELLING_CHARS: usize = 60;

/// The maximum length of the end of a session together with the work before it, in characters.
const MAX_END_CHARS: usize = 1_300;

/// The maximum length of what a turn was asked, before its result, in bytes.
const MAX_ASKED_BYTES: usize = 110;

/// The maximum length of a result that the user did not want, in characters.
const MAX_REFUSED_CHARS: usize = 240;

/// What is told of turns, each with the place of its turn.
type Lines = Vec<(usize, String)>;

/// What one turn gave.
pub(super) struct ResultLine {
    /// The place of the turn in which it was asked for.
    pub turn: usize,
    pub line: String,
    pub given: Given,
    /// Whether the user turned it down right after it, and nothing was built of it.
    pub is_refused: bool,
}

/// How a session ended, and what its other turns gave, one line a turn, oldest first.
#[derive(Default)]
pub(super) struct Outcome {
    pub end: String,
    /// The turn that it is of.
    pub end_of: Option<usize>,
    pub results: Vec<ResultLine>,
    /// How many of the results came after the end: answers and proposals since the last work.
    pub since: usize,
    /// The turns of which something is told: with the end, or as a result.
    pub told: Vec<usize>,
}

/// Returns how the session ended and what its other turns gave.
///
/// The end is the last turn that has something to tell. A chore such as "commit this" at the end says less than the work
/// before it, so the work is added.
pub(super) fn outcome(state: &State) -> Outcome {
    let (mut lines, moved) = told_lines(state);
    let told = lines.iter().map(|(at, _)| asked_at(&moved, *at)).chain(lines.iter().map(|(at, _)| *at)).collect();
    let Some((at, end)) = take_end(state, &mut lines) else { return Outcome::default() };
    let (at, end) = with_summary(state, &mut lines, at, end);
    let (at, end, asides) = without_asides(state, &mut lines, at, end);
    let end = with_work_before(state, &mut lines, (at, asked_at(&moved, at)), end);
    let end = with_check(state, end);
    let end = with_yes_or_no(&state.results.turns()[at], with_numbers(state, &end));
    let since = asides.len();
    lines.extend(asides);
    let results = lines.iter().map(|(at, line)| result(state, *at, asked_at(&moved, *at), line)).collect();
    Outcome { end, end_of: Some(at), results, since, told }
}

/// Returns the lines of all turns, and the turns of commits with those of their work.
fn told_lines(state: &State) -> (Lines, Vec<(usize, usize)>) {
    let turns = state.results.turns();
    let (mut lines, moved) = with_commits(turns, state.results.told(state.labels()), state.labels().committed);
    // How it was before a change says nothing without the change, but it is better than no end.
    let last = lines.len().saturating_sub(1);
    let mut place = 0..;
    // Nor does a short remark of a turn that ended while the agent was still looking.
    let is_idle =
        |at: usize, line: &str| line.starts_with(state.labels().before_change) || is_passing_remark(&turns[at], line);
    lines.retain(|(at, line)| place.next() == Some(last) || !is_idle(*at, line));
    (lines, moved)
}

/// Takes the line of the last turn that has something to tell, and drops those behind it.
fn take_end(state: &State, lines: &mut Lines) -> Option<(usize, String)> {
    let turns = state.results.turns();
    // "Done." says less than the work before it, and so does what the agent says to "thanks". To "yes, do that" it may answer with
    // all that was settled.
    let is_chat =
        |at: usize, end: &str| turns[at].is_chat() && end.chars().count() < MIN_END_CHARS && !state.results.corrects(at);
    // What the agent said while it was still at work is not how the session ended.
    let (mut at, mut end) = lines.pop()?;
    while prose::is_filler(&end) || signs::names_only(&end) || is_chat(at, &end) || is_begun(&turns[at]) {
        let Some(earlier) = lines.pop() else { break };
        (at, end) = earlier;
    }
    Some((at, end))
}

/// Puts the summary of the work before what the agent said to reports of the client that came after it.
fn with_summary(state: &State, lines: &mut Lines, at: usize, end: String) -> (usize, String) {
    let turns = state.results.turns();
    let closing = state.results.closing().filter(|&closing| closing < at && !discusses(&turns[closing]));
    let Some(closing) = closing else { return (at, end) };
    let is_report = |at: usize| !turns[at].substantive && !turns[at].edited;
    let later = lines.iter().rposition(|(of, _)| *of <= closing).map_or(0, |place| place + 1);
    let is_summed_up = later > 0 && lines[later - 1].0 == closing;
    if !is_summed_up || !is_report(at) || !lines[later..].iter().all(|(of, _)| is_report(*of)) {
        return (at, end);
    }
    let mut told: Vec<String> = lines.drain(later - 1..).map(|(_, line)| as_sentence(&line)).collect();
    told.push(end);
    let committed = state.labels().committed;
    (closing, told.join(" ").replace(&format!(". {committed} \""), &format!(". — {committed} \"")))
}

/// Takes the work as the end if the last answers are beside it or only propose something. Also returns those answers, which are told as
/// what came since, and are not among the lines any more.
fn without_asides(state: &State, lines: &mut Lines, at: usize, end: String) -> (usize, String, Lines) {
    let Some(place) = work_before_aside(state, lines, at) else { return (at, end, Vec::new()) };
    let mut asides = lines.split_off(place + 1);
    asides.push((at, end));
    let (at, end) = lines.pop().unwrap_or_default();
    (at, end, asides)
}

/// Puts the work before an end that says little, or that is its commit. `own` is the turn of the work that the turn at `at` committed, or
/// that turn itself.
fn with_work_before(state: &State, lines: &mut Lines, (at, own): (usize, usize), end: String) -> String {
    let turns = state.results.turns();
    let committed = state.labels().committed;
    let is_about_recording = !turns[at].substantive || human::speaks_of_recording(&turns[at].asked);
    // In other languages the label is a plain word, too.
    let label = format!("{committed} \"");
    let words = end.split(label.as_str()).next().unwrap_or_default();
    // "Tests pass." does not say of what.
    let only_checks = || text::sentences(words).iter().all(|said| prose::checked(said).is_some());
    let says_little = words.chars().count() < MIN_TELLING_CHARS;
    let is_short = says_little || (words.chars().count() < MIN_END_CHARS && (is_about_recording || only_checks()));
    // What was committed is the work before it.
    let is_commit = at + 1 == turns.len() && turns[at].only_commits();
    let fits = |work: &str| work.chars().count() + end.chars().count() <= MAX_END_CHARS;
    // What was done for a request of its own is not the end of the work before it.
    let has_own_work = turns[own].edited && turns[own].substantive && (end.contains(label.as_str()) || !only_checks());
    // Nor is a plan for another request, which is told behind the end if the user put it aside.
    let has_plan = at + 1 == turns.len() && state.undone.refusal(state.labels()).is_some();
    let before = work_before(turns, lines, at, &end, committed)
        .filter(|_| !has_own_work && !has_plan)
        .filter(|&place| !turns[lines[place].0].is_taken_back || turns[at].is_taken_back)
        .filter(|&place| is_short || (is_commit && fits(&lines[place].1)));
    let Some(place) = before else { return end };
    let work = lines.remove(place).1;
    // The line of a turn that says nothing itself is what was committed.
    let is_message = end.starts_with(committed)
        || turns[at].statements.iter().any(|it| it.voice == Voice::Commit && end.starts_with(it.text.as_str()));
    if is_message { format!("{work} — {end}") } else { format!("{} {end}", as_sentence(&work)) }
}

/// Adds what the last turn checked, unless the end says what was checked.
fn with_check(state: &State, end: String) -> String {
    let Some(TurnResult { checked, .. }) = state.results.turns().last() else { return end };
    let says_nothing = checked.is_empty() || signs::only_reports_commit(checked);
    let is_told = end.contains(checked.as_str()) || prose::checked(&end).is_some();
    if says_nothing || is_told { end } else { format!("{} {checked}", as_sentence(&end)) }
}

/// Ends a line as a sentence, with the tests that were run and the hashes of commits in it.
fn with_numbers(state: &State, line: &str) -> String {
    as_sentence(&with_hashes(state, &with_tests_run(state, line)))
}

/// Returns the result of the turn at `at`, given the place of the turn in which it was asked for, and its line.
pub(super) fn result(state: &State, at: usize, turn: usize, line: &str) -> ResultLine {
    let turns = state.results.turns();
    let given = Given::of(state, &turns[at], line);
    let said = with_yes_or_no(&turns[at], with_numbers(state, line));
    let line = match asked_of(state, turn) {
        Some(asked) => format!("{QUOTE}{asked}{END_OF_QUOTE}{ARROW}{said}"),
        None => said,
    };
    let is_refused = is_refused(state, at, &line);
    let line = if is_refused { in_short(&line) } else { line };
    ResultLine { turn, line, given, is_refused }
}

/// Returns the beginning of a result that was refused, up to the end of a sentence if one is near. The user's words before it stay.
fn in_short(line: &str) -> String {
    let (asked, said) = split_quote(line).map_or((None, line), |(asked, said)| (Some(asked), said));
    let told = text::clip(said, MAX_REFUSED_CHARS);
    let mut ends = told.match_indices(' ').map(|(at, _)| &told[..at]).filter(|told| text::has_ended(told));
    let told = match ends.next_back().filter(|end| end.len() * 3 > told.len() && told.len() < said.len()) {
        Some(end) => format!("{end} …"),
        None => told.into_owned(),
    };
    asked.map_or(told.clone(), |asked| format!("{QUOTE}{asked}{END_OF_QUOTE}{ARROW}{told}"))
}

/// Returns whether a turn changed nothing and ended while the agent was still looking.
fn is_begun(turn: &TurnResult) -> bool {
    turn.is_unfinished && !turn.has_work()
}

/// Returns whether a line is only what the agent said on the way in a turn that has no answer.
fn is_passing_remark(turn: &TurnResult, line: &str) -> bool {
    is_begun(turn) && text::width(line) < MIN_BEGUN_WIDTH
}

/// Puts the yes or no of an answer before what is told of it, unless that begins so.
fn with_yes_or_no(turn: &TurnResult, line: String) -> String {
    let word = turn.yes_or_no.trim_end_matches('.');
    if word.is_empty() || turn.has_work() || line.starts_with(word) {
        return line;
    }
    format!("{} {line}", turn.yes_or_no)
}

/// Returns the place of the line with the latest deed, if the user only asked about something since then, and nothing was left open.
/// A question about a fault is of what there is at the end, unless it only wants the fault explained.
fn work_before_aside(state: &State, lines: &[(usize, String)], at: usize) -> Option<usize> {
    let turns = state.results.turns();
    let proposes = |turn: &TurnResult| {
        let says = |it: &Statement| it.voice == Voice::Answer && signs::makes_proposal(&it.text.to_lowercase());
        !turn.acted && (!state.open_question.is_empty() || turn.statements.iter().any(says))
    };
    let is_aside = |at: usize| {
        let turn = &turns[at];
        let asked = turn.asked.to_lowercase();
        // "How can I test it?" asks how, and not for a test.
        let asks_how = || ["how can ", "how could "].iter().any(|words| asked.starts_with(words)) && !turn.used_tools;
        let only_answers = || human::only_asks(&turn.asked) || asks_how() || (at + 1 == turns.len() && proposes(turn));
        !turn.has_work()
            && !turn.failed
            && (human::only_wants_to_see(&asked) || (only_answers() && !signs::is_problem(&asked)))
            && !state.results.corrects(at)
    };
    let place = lines.iter().rposition(|(of, said)| Given::of(state, &turns[*of], said) != Given::Finding)?;
    let says = lines[place].1.chars().count() >= MIN_REST_CHARS;
    let is_work_over = has_work(state) && says && is_aside(at);
    (is_work_over && lines[place + 1..].iter().all(|(of, _)| is_aside(*of))).then_some(place)
}

/// Returns the place of the line with the work before a chore that says less. What the user only discussed between the two is not how
/// the session ended, unless the chore's turn did what was discussed and says nothing of it.
fn work_before(turns: &[TurnResult], lines: &[(usize, String)], at: usize, end: &str, label: &str) -> Option<usize> {
    let last = lines.len().checked_sub(1)?;
    if !turns.iter().any(TurnResult::has_work) || turns[lines[last].0].has_work() {
        return Some(last);
    }
    let own = end.split(label).next().unwrap_or_default();
    let says = |said: &String| said.chars().count() >= MIN_REST_CHARS && prose::checked(said).is_none();
    if text::sentences(own).iter().any(says) {
        return None;
    }
    if turns[at].edited {
        return Some(last);
    }
    lines.iter().rposition(|(of, _)| turns[*of].has_work()).or(Some(last))
}

/// Returns what a turn was asked, shortened, if nothing else tells it: what "what is easy is the first" answers.
fn asked_of(state: &State, at: usize) -> Option<String> {
    let turn = &state.results.turns()[at];
    let asked = turn.asked.as_str();
    let is_told_elsewhere = asked == state.request || requests::latest(state) == Some(asked);
    // What was wrong is mended by now, or was only thought to be wrong.
    let lower = asked.to_lowercase();
    let is_telling = turn.substantive
        && !turn.is_unasked
        && !signs::is_problem(&lower)
        && !signs::is_guess(&lower)
        && !is_told_elsewhere
        && human::stands_alone(asked)
        && !human::is_output(asked)
        && !asked.contains(['[', '{', '|'])
        && !text::contains_any(asked, &[" // ", " = ", "();"])
        && !human::speaks_of_recording(asked);
    is_telling.then(|| text::clip(asked, MAX_ASKED_BYTES).into_owned())
}

/// Appends the commit of a turn that gave nothing else to the work before it, while that has room for it. What was only discussed
/// between the two was not committed, and neither was the work before it if the turn has work of its own. Also returns the turns of such
/// commits, each with the turn of the work.
fn with_commits(turns: &[TurnResult], lines: Lines, label: &str) -> (Lines, Vec<(usize, usize)>) {
    let mut all: Lines = Vec::new();
    let mut moved: Vec<(usize, usize)> = Vec::new();
    for (at, line) in lines {
        let has_room = |place: &usize| all[*place].1.chars().count() + line.chars().count() <= MAX_END_CHARS;
        let worked = turns[..at].iter().rposition(|turn| turn.has_work() || turn.acted);
        let work = all.iter().rposition(|(of, _)| Some(*of) == worked || (worked.is_none() && !discusses(&turns[*of])));
        let is_chore = !(turns[at].edited && turns[at].substantive);
        match work.filter(|_| is_chore && line.starts_with(label)).filter(has_room) {
            Some(place) => {
                let (of, work) = all.remove(place);
                moved.push((at, asked_at(&moved, of)));
                all.push((at, format!("{} — {line}", as_sentence(&work))));
            }
            None => all.push((at, line)),
        }
    }
    (all, moved)
}

/// Returns the turn in which the work was asked for that a turn committed, given the turns of commits with those of their work.
fn asked_at(moved: &[(usize, usize)], at: usize) -> usize {
    moved.iter().find(|(commit, _)| *commit == at).map_or(at, |(_, work)| *work)
}

/// Returns whether a turn only answered a question. Commands change something, too.
fn discusses(turn: &TurnResult) -> bool {
    !turn.has_work() && !turn.used_tools && human::only_asks(&turn.asked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::statement;

    fn turn(edited: bool) -> TurnResult {
        TurnResult { edited, ..TurnResult::default() }
    }

    #[test]
    fn a_short_remark_of_a_turn_without_an_answer_is_passing() {
        let told = |edited: bool, is_unfinished: bool, times: usize| {
            let turn = TurnResult { is_unfinished, ..turn(edited) };
            !is_passing_remark(&turn, &"The bell would ring twice in the night till. ".repeat(times))
        };
        assert!(!told(false, true, 1));
        assert!(told(true, true, 1) && told(false, false, 1) && told(false, true, 3));
    }

    #[test]
    fn what_came_since_the_work_is_not_taken_for_the_end() {
        let asked = |asked: &str, answer: &str, edited: bool| TurnResult {
            asked: asked.to_owned(),
            statements: statement::statements(answer, Voice::Answer),
            substantive: true,
            prompt_chars: 80,
            built: edited,
            ..turn(edited)
        };
        let mut state = State::default();
        state.commits.push(String::new());
        for turn in [
            asked(
                "paint the drawer of the night till",
                "The drawer of the night till is painted red, and its lock is oiled.",
                true,
            ),
            TurnResult {
                substantive: false,
                committed: true,
                ..asked("run it", "The tests of the till and the lint pass now.", false)
            },
            asked(
                "Which lock does the day till have?",
                "The day till has a lock of steel, because the old one was worn.",
                false,
            ),
            asked(
                "Where are the slips of the shop?",
                "The slips of the shop are printed below the counter of the till.",
                false,
            ),
        ] {
            state.results.push(turn);
        }
        let outcome = outcome(&state);
        let lines: Vec<&str> = outcome.results.iter().map(|it| it.line.as_str()).collect();
        assert!(outcome.end.contains("painted red") && outcome.end.contains("pass now"), "{}", outcome.end);
        assert_eq!((outcome.since, lines.len()), (2, 2), "{lines:?}");
    }

    #[test]
    fn a_commit_at_the_end_does_not_join_two_requests() {
        let asked = |asked: &str, answer: &str| TurnResult {
            asked: asked.to_owned(),
            statements: statement::statements(answer, Voice::Answer),
            substantive: true,
            prompt_chars: 80,
            built: true,
            ..turn(true)
        };
        let mut state = State::default();
        state.commits.push("Fold the slip".to_owned());
        let painted = "The drawer of the night till is painted red, and its lock is oiled.";
        for turn in [
            asked("paint the drawer of the night till", painted),
            asked("fold the slip of the day till", "The slip of the day till is folded."),
            TurnResult {
                asked: "commit it".to_owned(),
                statements: statement::statements("Fold the slip", Voice::Commit),
                committed: true,
                ..turn(false)
            },
        ] {
            state.results.push(turn);
        }
        let outcome = outcome(&state);
        let lines: Vec<&str> = outcome.results.iter().map(|it| it.line.as_str()).collect();
        assert_eq!(outcome.end, "The slip of the day till is folded. — committed as \"Fold the slip\".");
        assert!(lines.len() == 1 && lines[0].contains("painted red"), "{lines:?}");
    }

    #[test]
    fn a_commit_of_own_work_stays_with_its_request() {
        let own = TurnResult { substantive: true, ..turn(true) };
        let lines = || vec![(0, "Painted the drawer".to_owned()), (1, "committed as \"Fold the slip\"".to_owned())];
        let (all, moved) = with_commits(&[turn(true), own], lines(), "committed as");
        assert_eq!((all, moved), (lines(), Vec::new()));
        let (all, moved) = with_commits(&[turn(true), turn(false)], lines(), "committed as");
        assert_eq!(all, [(1, "Painted the drawer. — committed as \"Fold the slip\"".to_owned())]);
        assert_eq!(moved, [(1, 0)]);
        assert_eq!((asked_at(&moved, 1), asked_at(&moved, 2)), (0, 2));
    }
}
