//! Computes the session's notes from the state at its current end.

use super::clean;
use super::commits::is_pull_request;
use super::course::{self, ARROW, END_OF_QUOTE, QUOTE, split_quote};
use super::files;
use super::human;
use super::labels::Labels;
use super::plan_reason;
use super::prose;
use super::references;
use super::requests;
use super::results::TurnResult;
use super::signs;
use super::standing;
use super::state::State;
use super::statement::{Statement, Voice};
use super::tasks::Status;
use super::vanished;
use crate::bindings::throughline::policy::types::{Decision, Discovery, SessionNotes};
use crate::text::{self, Language};

/// The maximum number of entries in each list.
const MAX_ENTRIES: usize = 40;
/// The length below which the end of a session is completed by the work before it, in characters.
const MIN_END_CHARS: usize = 160;

/// How many of the latest turns that only found something are told of. What is not told of them any more makes no room for earlier ones.
const MAX_FOUND: usize = 3;

/// The length from which the work before such an end is told before it, in characters, and how many others may stand between the two.
const MIN_LARGE_CHARS: usize = 240;
const MAX_SMALL: usize = 2;

/// The length below which it says little, whatever the last turn did.
const MIN_TELLING_CHARS: usize = 60;

/// The maximum length of the end of a session together with the work before it, in characters.
const MAX_END_CHARS: usize = 1_300;

/// The maximum length of a run of tests that is told, in bytes.
const MAX_RUN_BYTES: usize = 140;

/// The maximum length of what a turn was asked, before its result, in bytes.
const MAX_ASKED_BYTES: usize = 110;

/// The length below which too little would remain of a result, in characters.
const MIN_REST_CHARS: usize = 40;

/// The maximum length of what the agent was at when the session ended, in characters.
const MAX_STOPPED_CHARS: usize = 200;

/// The maximum length of what the user said that is told beside a result, in bytes.
const MAX_SAID_BYTES: usize = 200;

/// The number of changed files from which an answer of a turn that changed none sums up earlier work.
const MIN_SUMMED_FILES: usize = 2;

/// The similarity at which two items that are left undone are one.
const SAME_POINT: f32 = 0.5;

/// Returns the notes of a session whose last turn is closed.
pub(super) fn notes(state: &State) -> SessionNotes {
    let live = || state.memories.live();
    let of = |kinds: &'static [&'static str]| live().filter(move |memory| kinds.contains(&memory.kind.as_str()));
    let lines = |kinds: &'static [&'static str]| -> Vec<String> {
        of(kinds)
            .map(|memory| match memory.content.as_str() {
                "" => memory.told(&memory.title).into_owned(),
                content => text::one_line(&memory.told(content)),
            })
            .collect()
    };
    let done: Vec<String> = state.tasks.with_status(Status::Done).map(str::to_owned).collect();
    let Outcome { end: outcome, end_of, results, since } = outcome(state);
    // What was not checked is told as left undone, and not twice.
    let mut elsewhere = state.admissions.clone();
    elsewhere.extend(Some(state.cause_open.clone()).filter(|said| !said.is_empty()));
    let open_points = state.open_points.items();
    elsewhere.extend(open_points.iter().cloned());
    elsewhere.extend(text::sentences(state.recap.state()));
    // So is the cause of a failure, which is told with its fix.
    elsewhere
        .extend(of(&["error_fix"]).flat_map(|memory| text::sentences(&memory.why)).filter(|it| it.len() >= MIN_REST_CHARS));
    let outcome = without(&outcome, &elsewhere, state.labels().before_change);
    let of_turns: Vec<usize> = results.iter().map(|(at, ..)| *at).collect();
    let told_once = |line: String| without(&line, &elsewhere, state.labels().before_change);
    let (results, given): (Vec<_>, Vec<_>) = results.into_iter().map(|(_, it, given)| (told_once(it), given)).unzip();
    let mut attributes = attributes(state, &results, &outcome);
    let about = about_request(state);
    let original_request = format!("{}{about}", state.request);
    if !about.is_empty() {
        attributes.push(("request-about".to_owned(), about));
    }
    let more = requests::others(state);
    attributes.push(("course".to_owned(), course::lines(state, &more, &of_turns, end_of)));
    let more: Vec<String> = more.into_iter().map(|(_, asked)| asked).collect();
    if !more.is_empty() {
        attributes.push(("more-requests".to_owned(), more.join("\n")));
    }
    let is_told = |filed: &String| filed.split_once(' ').is_some_and(|(key, _)| references::has_key(&outcome, key));
    let filed: Vec<String> = state.references.filed().filter(|filed| !is_told(filed)).collect();
    if !filed.is_empty() {
        attributes.push(("filed".to_owned(), filed.join("\n")));
    }
    if is_only_proposed(state, &outcome) {
        attributes.push(("end".to_owned(), "proposed".to_owned()));
    }
    if results.is_empty() && !done.is_empty() {
        // Where the session has an end, that tells what the tasks of its list name.
        attributes.push(("done".to_owned(), "tasks".to_owned()));
    }
    let left_out = results.len().saturating_sub(MAX_ENTRIES);
    for (name, kind) in [("found", Given::Finding), ("documented", Given::Document)] {
        let own = given[left_out..].iter().enumerate().filter(|(_, given)| **given == kind);
        let own: Vec<String> = own.map(|(at, _)| at.to_string()).collect();
        if !own.is_empty() {
            attributes.push((name.to_owned(), own.join(" ")));
        }
    }
    let before_work = before_work(state, &results, &of_turns, &given, left_out);
    if !before_work.is_empty() {
        attributes.push(("found-before-work".to_owned(), before_work.join(" ")));
    }
    if since > 0 {
        attributes.push(("since".to_owned(), since.to_string()));
        if results.last().is_some_and(|said| is_left_proposed(&state.open_question, said)) {
            attributes.push(("since-proposed".to_owned(), "yes".to_owned()));
        }
    }
    let removed: Vec<String> = state.files.removed().map(|at| at.to_string()).collect();
    if !removed.is_empty() {
        attributes.push(("removed-files".to_owned(), removed.join(" ")));
    }
    state.rewritten.corrected(SessionNotes {
        original_request,
        current_objective: if state.objective == state.request { String::new() } else { state.objective.clone() },
        outcome,
        started: state.started,
        ended: state.ended,
        turns: state.turns,
        done: last(if results.is_empty() { done } else { results }),
        current: last(state.tasks.with_status(Status::Current).map(str::to_owned).collect()),
        pending: last(pending(state, open_points)),
        decisions: of(&["decision"])
            .map(|memory| Decision {
                what: format!("{}{}", memory.title, memory.beside),
                why: memory.why.clone(),
                rejected: memory.rejected.clone(),
            })
            .collect(),
        discoveries: of(&["discovery"])
            .map(|memory| Discovery {
                file: memory.files.first().cloned().unwrap_or_default(),
                insight: memory.told(&memory.title).into_owned(),
                at: memory.source.at,
            })
            .collect(),
        learnings: lines(&["error_fix", "learning"]),
        preferences: lines(&["preference", "correction"]),
        changes: state.files.changes(),
        commits: state.commits.clone(),
        blockers: state.blockers.clone(),
        errors: state.failures.errors(state.turns),
        attributes,
    })
}

/// Returns the places of the results that were only found before files were changed for what they speak of, without the first `left_out`.
/// What an answer says was done is none, nor is that of a turn which may have done something beside files.
fn before_work(state: &State, results: &[String], of: &[usize], given: &[Given], left_out: usize) -> Vec<String> {
    let turns = state.results.turns();
    let is_before = |turn: usize| turns[turn + 1..].iter().any(|later| later.edited && !later.is_taken_back);
    let is_found = |at: &usize| {
        let tells_deed = || {
            let said = text::sentences(&without_quote(&results[*at]).to_lowercase()).into_iter().next().unwrap_or_default();
            [" - ", " — "].iter().any(|mark| said.split(mark).any(standing::is_own_deed))
        };
        let is_overtaken = || is_before(of[*at]) && !state.results.holds(of[*at]);
        given[*at] == Given::Finding && !turns[of[*at]].acted && is_overtaken() && !tells_deed()
    };
    (left_out..results.len()).filter(is_found).map(|at| (at - left_out).to_string()).collect()
}

/// Returns what stands behind the first request: the title of the issue or pull request that it is about. May be empty.
fn about_request(state: &State) -> String {
    let turn = state.results.turns().iter().find(|turn| turn.asked == state.request).map_or(1, |turn| turn.number);
    let meant = state.references.meant(&state.request, turn).filter(|_| !state.request.is_empty());
    meant.map(|meant| format!(" ({meant})")).unwrap_or_default()
}

/// Returns what is left to do, with `open_points` of the agent's answers that nothing else tells.
fn pending(state: &State, open_points: Vec<String>) -> Vec<String> {
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
    pending.extend(state.undone.items(&state.request, state.labels()));
    if let Some(number) = state.unmerged_pull_request() {
        pending.push(state.labels().not_merged.replace("{}", &number.to_string()));
    }
    if state.evidence.is_never_run() && state.files.paths().next().is_some() {
        pending.push(state.labels().never_run.to_owned());
    }
    if !state.cause_open.is_empty() && !state.admissions.contains(&state.cause_open) {
        pending.push(format!("{}: {}", state.labels().cause_open, state.cause_open));
    }
    // Whether it was pushed is told with the files.
    let is_told = |said: &String| state.blockers.contains(said) || signs::is_about_pushing(&said.to_lowercase());
    pending.extend(state.admissions.iter().filter(|said| !is_told(said)).cloned());
    let recap = state.recap.line();
    for said in open_points {
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

/// Returns whether the session changed files, or committed what was changed before.
fn has_work(state: &State) -> bool {
    state.files.paths().next().is_some() || !state.commits.is_empty()
}

/// Returns whether a session that changed nothing ended with a proposal, and with the question whether to carry it out.
fn is_only_proposed(state: &State, outcome: &str) -> bool {
    !has_work(state) && !state.open_question.is_empty() && makes_proposal(outcome)
}

fn makes_proposal(answer: &str) -> bool {
    text::sentences(answer).iter().any(|said| signs::makes_proposal(&said.to_lowercase()))
}

/// Returns whether an answer proposes something that is still to be done, given the question behind it that nobody answered. To offer a
/// commit proposes no work.
fn is_left_proposed(open_question: &str, answer: &str) -> bool {
    const OFFERS: [&str; 6] = ["want me to", "like me to", "shall i", "까요", "ましょうか", "要我"];
    const CHORES: [&str; 7] = ["commit", "push", "커밋", "푸시", "コミット", "プッシュ", "提交"];
    let question = open_question.to_lowercase();
    let offers = text::contains_any(&question, &OFFERS) && !text::contains_any(&question, &CHORES);
    !question.is_empty() && (offers || makes_proposal(without_quote(answer)))
}

/// What a turn gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    /// A change of the project.
    Work,
    /// Only what the agent found out.
    Finding,
    /// Only documents: what they describe may be still to be built.
    Document,
}

impl Given {
    fn of(state: &State, turn: &TurnResult, line: &str) -> Self {
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

/// What is told of turns, each with the place of its turn.
type Lines = Vec<(usize, String)>;

/// How a session ended, and what its other turns gave, one line a turn, oldest first.
#[derive(Default)]
struct Outcome {
    end: String,
    /// The turn that it is of.
    end_of: Option<usize>,
    /// The results, each with its turn.
    results: Vec<(usize, String, Given)>,
    /// How many of the results came after the end: answers and proposals since the last work.
    since: usize,
}

/// Returns how the session ended and what its other turns gave.
///
/// The end is the last turn that has something to tell. A chore such as "commit this" at the end says less than the work
/// before it, so the work is added.
fn outcome(state: &State) -> Outcome {
    let turns = state.results.turns();
    let (lines, dropped) = state.results.told(state.labels());
    let lines = lines.into_iter().map(|(at, line)| (at, without_request(state, &turns[at], line)));
    let lines = lines.map(|(at, line)| (at, with_quoted_user(&turns[at], line))).collect();
    let (mut lines, moved) = with_commits(turns, lines, state.labels().committed);
    // How it was before a change says nothing without the change, but it is better than no end.
    let last = lines.len().saturating_sub(1);
    let mut place = 0..;
    lines.retain(|(_, line)| place.next() == Some(last) || !line.starts_with(state.labels().before_change));
    let Some((mut at, mut end)) = lines.pop() else { return Outcome::default() };
    // "Done." says less than the work before it, and so does what the agent says to "thanks". To "yes, do that" it may answer with
    // all that was settled.
    let is_chat =
        |at: usize, end: &str| turns[at].is_chat() && end.chars().count() < MIN_END_CHARS && !state.results.corrects(at);
    // What the agent said while it was still at work is not how the session ended.
    let is_begun = |at: usize| turns[at].is_unfinished && !turns[at].has_work();
    while prose::is_filler(&end) || signs::names_only(&end) || is_chat(at, &end) || is_begun(at) {
        let Some(earlier) = lines.pop() else { break };
        (at, end) = earlier;
    }
    // So is what it says to a report of the client after it summed up the work: that is told behind the summary.
    if let Some(closing) = state.results.closing().filter(|&closing| closing < at && !discusses(&turns[closing])) {
        let is_report = |at: usize| !turns[at].substantive && !turns[at].edited;
        let later = lines.iter().rposition(|(of, _)| *of <= closing).map_or(0, |place| place + 1);
        let is_summed_up = later > 0 && lines[later - 1].0 == closing;
        if is_summed_up && is_report(at) && lines[later..].iter().all(|(of, _)| is_report(*of)) {
            let reports: Vec<String> = lines.drain(later..).map(|(_, line)| as_sentence(&line)).collect();
            let summary = lines.pop().map(|(_, line)| line).unwrap_or_default();
            end = [vec![as_sentence(&summary)], reports, vec![end]].concat().join(" ");
            end =
                end.replace(&format!(". {} \"", state.labels().committed), &format!(". — {} \"", state.labels().committed));
            at = closing;
        }
    }
    // Nor is what it answers to a last question beside the work, or only proposes: that is told as what came since.
    let mut since = 0;
    if let Some(place) = work_before_aside(state, &lines, at) {
        let mut asides = lines.split_off(place + 1);
        asides.push((at, end));
        since = asides.len();
        (at, end) = lines.pop().unwrap_or_default();
        end = with_larger_work(turns, &mut lines, at, end, state.labels());
        lines.extend(asides);
    } else {
        end = with_larger_work(turns, &mut lines, at, end, state.labels());
    }
    end = with_user_behind(end);
    let is_about_recording = !turns[at].substantive || human::speaks_of_recording(&turns[at].asked);
    // In other languages the label is a plain word, too.
    let label = format!("{} \"", state.labels().committed);
    let words = end.split(label.as_str()).next().unwrap_or_default();
    // "Tests pass." does not say of what.
    let only_checks = || text::sentences(words).iter().all(|said| prose::checked(said).is_some());
    let says_little = words.chars().count() < MIN_TELLING_CHARS;
    let is_short = says_little || (words.chars().count() < MIN_END_CHARS && (is_about_recording || only_checks()));
    // What was committed is the work before it.
    let is_commit = at + 1 == turns.len() && turns[at].only_commits();
    let fits = |work: &str| work.chars().count() + end.chars().count() <= MAX_END_CHARS;
    // What was changed and committed for a request is not the work before it.
    let has_own_commit = turns[at].edited && turns[at].substantive && end.contains(label.as_str());
    let before = work_before(turns, &lines, at, &end, state.labels().committed)
        .filter(|_| !has_own_commit)
        .filter(|&place| !turns[lines[place].0].is_taken_back || turns[at].is_taken_back);
    if let Some(place) = before.filter(|&place| is_short || (is_commit && fits(&lines[place].1))) {
        let work = with_user_behind(lines.remove(place).1);
        // The line of a turn that says nothing itself is what was committed.
        let is_message = end.starts_with(state.labels().committed)
            || turns[at].statements.iter().any(|it| it.voice == Voice::Commit && end.starts_with(it.text.as_str()));
        end = if is_message { format!("{work} — {end}") } else { format!("{} {end}", as_sentence(&work)) };
    }
    let checked = &turns[turns.len() - 1].checked;
    if !checked.is_empty()
        && !signs::only_reports_commit(checked)
        && !end.contains(checked.as_str())
        && prose::checked(&end).is_none()
    {
        end = format!("{} {checked}", as_sentence(&end));
    }
    // That a plan is written is not the end if the user refused it.
    if let Some(refusal) = state.undone.refusal(state.labels()) {
        end = format!("{} {refusal}", as_sentence(&end));
    }
    let sentence = |line: &str| as_sentence(&with_hashes(state, &with_test_count(state, line)));
    let given: Vec<Given> = lines.iter().map(|(at, line)| Given::of(state, &turns[*at], line)).collect();
    let found = lines.iter().zip(&given).filter(|(_, given)| **given == Given::Finding).map(|((at, _), _)| *at);
    let found: Vec<usize> = found.chain(dropped).collect();
    let is_late = |at: usize| found.iter().filter(|&&later| later > at).count() < MAX_FOUND;
    let asides = &lines[lines.len().saturating_sub(since)..];
    let since = asides.iter().filter(|(at, _)| is_late(*at)).count();
    let results = lines.iter().zip(given).filter(|((at, _), given)| *given != Given::Finding || is_late(*at));
    let results = results.map(|((at, line), given)| match asked_of(state, asked_at(&moved, *at), line) {
        Some(asked) => (asked_at(&moved, *at), format!("{QUOTE}{asked}{END_OF_QUOTE}{ARROW}{}", sentence(line)), given),
        None => (asked_at(&moved, *at), sentence(line), given),
    });
    Outcome { end: sentence(&end), end_of: Some(at), results: results.collect(), since }
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
            && (requests::asks_to_see(&asked) || (only_answers() && !signs::is_problem(&asked)))
            && !state.results.corrects(at)
    };
    let place = lines.iter().rposition(|(of, said)| Given::of(state, &turns[*of], said) != Given::Finding)?;
    let says = lines[place].1.chars().count() >= MIN_REST_CHARS;
    let is_work_over = has_work(state) && says && is_aside(at);
    (is_work_over && lines[place + 1..].iter().all(|(of, _)| is_aside(*of))).then_some(place)
}

/// Puts the larger work before a small one that ended the session, and before small ones right before it.
fn with_larger_work(
    turns: &[TurnResult],
    lines: &mut Vec<(usize, String)>,
    at: usize,
    end: String,
    labels: &Labels,
) -> String {
    let is_work = |at: usize| turns[at].edited && !turns[at].is_taken_back;
    let is_small = |said: &str| without_quote(said).chars().count() < MIN_END_CHARS;
    if !is_work(at) || turns[at].committed || !is_small(&end) {
        return end;
    }
    let small = lines.iter().rev().take_while(|(of, said)| is_work(*of) && is_small(said)).count();
    let Some(place) = lines.len().checked_sub(small + 1).filter(|_| small < MAX_SMALL) else { return end };
    let (of, work) = &lines[place];
    let chars: usize = lines[place..].iter().map(|(_, said)| said.chars().count()).sum();
    if !is_work(*of) || work.chars().count() < MIN_LARGE_CHARS || chars + end.chars().count() > MAX_END_CHARS {
        return end;
    }
    let mut told: Vec<String> = lines.drain(place..).map(|(_, said)| as_sentence(&with_user_behind(said))).collect();
    told.push(with_user_behind(end));
    told.join(&format!(" {}: ", labels.then))
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
fn asked_of(state: &State, at: usize, line: &str) -> Option<String> {
    let turn = &state.results.turns()[at];
    let asked = turn.asked.as_str();
    let is_told_elsewhere = asked == state.request || requests::latest(state) == Some(asked);
    let is_led = line.starts_with(QUOTE);
    // What was wrong is mended by now, or was only thought to be wrong.
    let lower = asked.to_lowercase();
    let is_telling = turn.substantive
        && !signs::is_problem(&lower)
        && !signs::is_guess(&lower)
        && !is_told_elsewhere
        && !is_led
        && human::stands_alone(asked)
        && !human::is_output(asked)
        && !asked.contains(['[', '{', '|'])
        && !text::contains_any(asked, &[" // ", " = ", "();"])
        && !human::speaks_of_recording(asked);
    is_telling.then(|| text::clip(asked, MAX_ASKED_BYTES).into_owned())
}

/// Strips what the user said from the line of a turn, as far as that is told as the request.
fn without_request(state: &State, turn: &TurnResult, line: String) -> String {
    if turn.asked != state.request && requests::latest(state) != Some(turn.asked.as_str()) {
        return line;
    }
    let Some((said, answer)) = line.split_once(" → ") else { return line };
    let own = turn.statements.iter().filter(|it| it.voice == Voice::Human);
    if !own.clone().any(|it| said.starts_with(it.text.as_str())) {
        return line;
    }
    let told = own.filter(|it| turn.asked.contains(it.text.as_str()));
    let rest = told.fold(said.to_owned(), |said, it| said.replacen(it.text.as_str(), "", 1));
    let rest = without_gaps(rest);
    let rest = rest.trim_end_matches([' ', ';']).trim_start_matches([' ', ';', '.']);
    if rest.is_empty() { answer.to_owned() } else { format!("{rest} → {answer}") }
}

/// Puts what the user said before the result of a turn into quotation marks.
fn with_quoted_user(turn: &TurnResult, line: String) -> String {
    let Some((said, rest)) = line.split_once(ARROW) else { return line };
    let is_users = turn.statements.iter().any(|it| it.voice == Voice::Human && said.starts_with(it.text.as_str()));
    let said = text::clip(said, MAX_SAID_BYTES);
    if is_users { format!("{QUOTE}{said}{END_OF_QUOTE}{ARROW}{rest}") } else { line }
}

/// Puts what the user said before the result of a turn behind it.
fn with_user_behind(line: String) -> String {
    match split_quote(&line) {
        Some((said, rest)) => format!("{} ({QUOTE}{said}{END_OF_QUOTE})", rest.trim_end_matches(['.', '。'])),
        None => line,
    }
}

/// Returns the result of a turn without the quoted words of the user before it.
fn without_quote(line: &str) -> &str {
    split_quote(line).map_or(line, |(_, result)| result)
}

/// Appends the commit of a turn that gave nothing else to the work before it, while that has room for it. What was only discussed
/// between the two was not committed, and neither was the work before it if the turn has work of its own. Also returns the turns of such
/// commits, each with the turn of the work.
fn with_commits(turns: &[TurnResult], lines: Lines, label: &str) -> (Lines, Vec<(usize, usize)>) {
    let mut all: Lines = Vec::new();
    let mut moved: Vec<(usize, usize)> = Vec::new();
    for (at, line) in lines {
        let has_room = |place: &usize| all[*place].1.chars().count() + line.chars().count() <= MAX_END_CHARS;
        let work = all.iter().rposition(|(of, _)| !discusses(&turns[*of])).or(all.len().checked_sub(1));
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

/// Removes the sentences from a line, unless nothing else would remain of it. What stands behind this label keeps it: it would be said of
/// the next sentence.
fn without(line: &str, sentences: &[String], label: &str) -> String {
    let has_label = line.contains(label);
    let is_labelled = |sentence: &str| has_label && line.contains(&format!("{label}: {sentence}"));
    let removed = sentences.iter().filter(|sentence| !is_labelled(sentence));
    let shorter = removed.fold(line.to_owned(), |line, sentence| line.replacen(sentence.as_str(), "", 1));
    if shorter == line {
        return shorter;
    }
    let shorter = without_gaps(text::one_line(&shorter));
    let shorter = ["; .", ". ."].iter().find_map(|end| shorter.strip_suffix(end)).unwrap_or(&shorter);
    let shorter = shorter.trim_matches([' ', ';']).trim_start_matches(". ").trim_start_matches("— ");
    if shorter.chars().count() >= MIN_REST_CHARS { shorter.to_owned() } else { line.to_owned() }
}

/// Removes the separators of sentences that are not there any more.
fn without_gaps(mut line: String) -> String {
    const GAPS: [(&str, &str); 5] = [("; ; ", "; "), (": ; ", ": "), ("; . ", ". "), (". . ", ". "), (": . ", ": ")];
    // Of several sentences in a row, their separators remain.
    while let Some((gap, end)) = GAPS.iter().find(|(gap, _)| line.contains(gap)) {
        line = line.replace(gap, end);
    }
    line
}

/// Adds to "All tests pass" how many there are, if their last full run reported it, or which were run, if they were only some.
fn with_test_count(state: &State, sentence: &str) -> String {
    if let Some(run) = state.evidence.some_tests().filter(|run| run.len() <= MAX_RUN_BYTES) {
        let only = state.labels().only_run.replacen("{}", run, 1);
        return ["ll tests pass", "모든 테스트 통과", "모든 테스트가 통과"]
            .iter()
            .fold(sentence.to_owned(), |sentence, claim| with_note(&sentence, claim, &only));
    }
    match state.tests {
        Some((tests, false)) if tests.failed == 0 && tests.passed > 1 => {
            ["all", "All"].iter().fold(sentence.to_owned(), |sentence, all| {
                sentence.replacen(&format!("{all} tests pass"), &format!("{all} {} tests pass", tests.passed), 1)
            })
        }
        _ => sentence.to_owned(),
    }
}

/// Adds a note in parentheses to the first claim in a sentence.
fn with_note(sentence: &str, claim: &str, note: &str) -> String {
    let Some(at) = sentence.find(claim) else { return sentence.to_owned() };
    let (before, after) = sentence.split_at(at + claim.len());
    // "pass" may be only the beginning of a word, and what follows in parentheses says it already.
    let is_open = after.starts_with(|c: char| c.is_ascii_alphabetic()) || after.trim_start().starts_with('(');
    if is_open { sentence.to_owned() } else { format!("{before} ({note}){after}") }
}

/// Writes the hash of a commit before its quoted subject.
fn with_hashes(state: &State, line: &str) -> String {
    let label = state.labels().committed;
    state.hashes.iter().fold(line.to_owned(), |line, (subject, hash)| {
        line.replacen(&format!("{label} \"{subject}\""), &format!("{label} {hash} \"{subject}\""), 1)
    })
}

/// Ends the line with a full stop.
fn as_sentence(line: &str) -> String {
    if line.ends_with(['.', '!', '。', '！', '…', '?', '？']) { line.to_owned() } else { format!("{line}.") }
}

fn last(mut list: Vec<String>) -> Vec<String> {
    let more = list.len().saturating_sub(MAX_ENTRIES);
    list.drain(..more);
    list
}

fn attributes(state: &State, results: &[String], outcome: &str) -> Vec<(String, String)> {
    let language = match state.language() {
        Language::English => "en",
        Language::Korean => "ko",
        Language::Japanese => "ja",
        Language::Chinese => "zh",
    };
    let mut all = vec![("language".to_owned(), language.to_owned())];
    if !state.model.is_empty() {
        all.push(("model".to_owned(), state.model.clone()));
    }
    if let Some((tests, _)) = state.tests {
        all.push(("tests".to_owned(), tests.verdict()));
        let is_of_some = state.tests.is_some_and(|(_, is_of_some)| is_of_some);
        let ages =
            [(is_of_some, state.labels().of_some_files), (state.evidence.are_tests_old(), state.labels().before_edit)];
        let ages: Vec<&str> = ages.iter().filter(|(holds, _)| *holds).map(|(_, age)| *age).collect();
        if !ages.is_empty() {
            all.push(("tests-age".to_owned(), ages.join(", ")));
        }
    }
    // Scripts and sub-agents change files, too. What was committed says how many.
    let (files, added, removed) = state.largest_commit;
    let others = (files as usize).saturating_sub(state.files.paths().count());
    let own: u32 = state.files.changes().iter().map(|change| change.added.saturating_add(change.removed)).sum();
    // So does a file in which somebody else had changed something, too.
    let is_much_larger = state.commits.len() == 1 && added.saturating_add(removed) / 3 > own / 2 && files > 0;
    if others > 0 || is_much_larger {
        let noun = if files == 1 { "file" } else { "files" };
        let more = if others > 0 {
            format!(", at least {others} of them changed by other means than the agent's edits")
        } else {
            String::new()
        };
        all.push(("commit-size".to_owned(), format!("{files} {noun}, +{added} −{removed}{more}")));
    }
    let evidence = state.evidence.items(state.undone.push(), state.has_open_pull_request(), state.labels());
    if !evidence.is_empty() {
        all.push(("evidence".to_owned(), evidence.join("; ")));
    }
    if !state.branch.is_empty() {
        // The client names the branch of the folder, which the user may have changed since.
        let is_of_commit = state.undone.is_committed() && !state.commit_branch.is_empty();
        let branch = if is_of_commit { &state.commit_branch } else { &state.branch };
        all.push(("branch".to_owned(), branch.clone()));
        let mut commit_state = state.commit_state(&state.files.paths().collect::<Vec<_>>());
        if !state.other_commit.0.is_empty() {
            let other = state.labels().other_commit.replace("{}", &state.other_commit.0);
            commit_state = if commit_state.is_empty() { other } else { format!("{commit_state}; {other}") };
        }
        if !commit_state.is_empty() {
            all.push(("commit-state".to_owned(), commit_state));
        }
    }
    let left_out = state.undone.left_out();
    if !left_out.is_empty() {
        all.push(("left-out".to_owned(), left_out));
    }
    if !state.hashes.is_empty() {
        let hash =
            |subject: &String| state.hashes.iter().find(|(of, _)| of == subject).map_or("-", |(_, hash)| hash.as_str());
        all.push(("commit-hashes".to_owned(), state.commits.iter().map(hash).collect::<Vec<_>>().join(" ")));
    }
    if !state.tags.is_empty() {
        all.push(("tags".to_owned(), state.tags.join(" ")));
    }
    if !state.merged.is_empty() {
        let numbers: Vec<String> = state.merged.iter().map(u32::to_string).collect();
        all.push(("merged".to_owned(), numbers.join(" ")));
    }
    if !state.drafts.is_empty() {
        let numbers: Vec<String> = state.drafts.iter().map(u32::to_string).collect();
        all.push(("drafts".to_owned(), numbers.join(" ")));
    }
    // One that the session opened is told among its commits.
    let has_opened = state.commits.iter().any(|commit| is_pull_request(commit));
    if let Some(number) = state.references.only_pull_request().filter(|_| !has_opened) {
        all.push(("pull-request".to_owned(), number.to_string()));
    }
    if let Some(later) = requests::latest(state) {
        all.push(("later-request".to_owned(), later.to_owned()));
    }
    let recap = state.recap.line();
    if !recap.is_empty() {
        all.push(("recap".to_owned(), recap));
    }
    let explanation = [("plan-reason", &state.plan_reason), ("plan-goal", &state.plan_goal)];
    let answers = || results.iter().map(String::as_str).chain([outcome]);
    let holds = |said: &str| !plan_reason::is_refuted(said, answers());
    if let Some((name, said)) = explanation.into_iter().find(|(_, said)| !said.is_empty()).filter(|(_, said)| holds(said)) {
        all.push((name.to_owned(), clean::without_positions(said).into_owned()));
        if !state.plan_title.is_empty() {
            all.push(("plan-title".to_owned(), state.plan_title.clone()));
        }
    }
    if !state.title.is_empty() {
        all.push(("title".to_owned(), state.title.clone()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::labels::labels;

    const BEFORE: &str = "Before the change";

    fn turn(edited: bool) -> TurnResult {
        TurnResult { edited, ..TurnResult::default() }
    }

    #[test]
    fn a_small_change_stands_behind_the_work_before_it() {
        let large = "The till adds the tax and rounds the total. ".repeat(8);
        let told = |before: &str, edited: bool| {
            let turns = [turn(true), turn(edited)];
            let mut lines = vec![(0, before.to_owned())];
            with_larger_work(&turns, &mut lines, 1, "Renamed the drawer.".to_owned(), labels(Language::English))
        };
        assert_eq!(told(large.trim(), true), format!("{} Then: Renamed the drawer.", large.trim()));
        assert_eq!(told("It rings.", true), "Renamed the drawer.", "the work before it is small, too");
        assert_eq!(told(&large, false), "Renamed the drawer.");
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

    #[test]
    fn what_is_told_elsewhere_leaves_no_gap() {
        let line = |rest: &str| format!("The till rounds the total. {rest}The slip names the shop.");
        let gone = ["It rings".to_owned(), "It shuts".to_owned()];
        assert_eq!(without(&line("It rings. It shuts. "), &gone, BEFORE), line(""));
        assert_eq!(without(&line("Now: It rings; it waits. "), &gone, BEFORE), line("Now: it waits. "));
        let slip = "The slip names the shop and the hour of the day";
        assert_eq!(without(&format!("It rings. {slip}"), &gone, BEFORE), slip);
        let labelled = format!("{BEFORE}: It rings. {slip}");
        assert_eq!(without(&labelled, &gone, BEFORE), labelled, "the label is of that sentence");
    }

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

    #[test]
    fn the_words_of_the_user_are_quoted_and_stand_behind_the_end() {
        let said = super::super::statement::statements("The drawer is not red.", Voice::Human);
        let turn = TurnResult { statements: said, ..turn(true) };
        let line = with_quoted_user(&turn, "The drawer is not red. → Painted it.".to_owned());
        assert_eq!(line, "“The drawer is not red.” → Painted it.");
        assert_eq!(with_user_behind(line), "Painted it (“The drawer is not red.”)");
        assert_eq!(with_quoted_user(&turn, "`red` → `blue`".to_owned()), "`red` → `blue`");
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
