//! What the notes say of a session beside its texts: language, tests, commits, requests, plan and results, each as a name and a value.

use super::confirmed::{confirmed, untried, words_for_end};
use super::denied::{denied, words_against_end, words_of_denials};
use super::given::{Given, is_unchanged};
use super::last_steps::last_steps;
use super::outcome::{Outcome, ResultLine};
use super::overtaken::before_work;
use super::pending::{is_left_proposed, is_only_proposed};
use super::{MAX_ENTRIES, about_request};
use crate::extract::clean;
use crate::extract::commits::is_pull_request;
use crate::extract::course;
use crate::extract::plan_reason;
use crate::extract::references;
use crate::extract::requests;
use crate::extract::state::State;
use crate::extract::tasks::Status;
use crate::extract::work_tree::is_same_file;
use crate::text::Language;

/// The attributes, in the order in which the notes list them.
#[derive(Default)]
struct Attributes(Vec<(String, String)>);

impl Attributes {
    /// Adds an attribute, unless there is nothing to say.
    fn add(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.0.push((name.to_owned(), value));
        }
    }

    fn add_numbers<T: ToString>(&mut self, name: &str, numbers: impl IntoIterator<Item = T>) {
        let numbers: Vec<String> = numbers.into_iter().map(|number| number.to_string()).collect();
        self.add(name, numbers.join(" "));
    }
}

/// Returns the attributes of a session, given how it ended and what its turns gave.
pub(super) fn attributes(state: &State, outcome: &Outcome) -> Vec<(String, String)> {
    let mut all = Attributes::default();
    all.add("language", language(state));
    all.add("model", state.model.as_str());
    add_checks(&mut all, state);
    add_branch(&mut all, state);
    add_commits(&mut all, state);
    all.add("later-request", requests::latest(state).unwrap_or_default());
    all.add("recap", state.recap.line());
    add_plan(&mut all, state, outcome);
    all.add("title", state.title.as_str());
    add_requests(&mut all, state, outcome);
    add_results(&mut all, state, outcome);
    all.add("last-steps", last_steps(state, outcome));
    all.add_numbers("removed-files", state.files.removed());
    add_lost(&mut all, state);
    all.0
}

fn language(state: &State) -> &'static str {
    match state.language() {
        Language::English => "en",
        Language::Korean => "ko",
        Language::Japanese => "ja",
        Language::Chinese => "zh",
    }
}

/// Adds what the tests gave, how large the largest commit is, and what else shows whether the work holds.
fn add_checks(all: &mut Attributes, state: &State) {
    // What passed before the last change says nothing beside what passed after it.
    let is_overtaken = state.evidence.are_tests_old() && state.evidence.has_newer_tests();
    if let Some((tests, is_of_some)) = state.tests.as_ref().filter(|_| !is_overtaken) {
        all.add("tests", tests.verdict());
        let ages =
            [(*is_of_some, state.labels().of_some_files), (state.evidence.are_tests_old(), state.labels().before_edit)];
        let ages: Vec<&str> = ages.iter().filter(|(holds, _)| *holds).map(|(_, age)| *age).collect();
        all.add("tests-age", ages.join(", "));
    }
    add_commit_contents(all, state);
    let evidence = state.evidence.items(state.undone.push(), state.has_open_pull_request(), state.labels());
    all.add("evidence", evidence.join("; "));
    all.add("ran", state.ran.items(state.labels()).join("\n"));
    all.add("requests", state.ran.requests(state.labels()).join("\n"));
    if state.evidence.knows_nothing_before() {
        all.add("older-faults", "unseen");
    }
}

/// Adds the size of the largest commit and the files in it that the agent did not edit, if it holds more than the agent's edits: scripts
/// and sub-agents change files, too, and so does somebody else.
fn add_commit_contents(all: &mut Attributes, state: &State) {
    let (files, added, removed) = state.largest_commit;
    let others = (files as usize).saturating_sub(state.files.paths().count());
    let own_lines = state.commit_contents.own_lines();
    let noun = if files == 1 { "file" } else { "files" };
    let mut size = format!("{files} {noun}, +{added} −{removed}");
    if let Some((added, removed)) = own_lines {
        size = format!("{size}; the agent's edits of {}: +{added} −{removed}", if files == 1 { "it" } else { "them" });
    }
    all.add("commit-size", if others > 0 || own_lines.is_some() { size } else { String::new() });
    let is_own = |path: &str| state.files.paths().any(|own| is_same_file(own, path));
    // Of a session with more files than are kept, any other file may be its own.
    if !state.files.has_dropped() {
        let (open, of_others) = state.commit_contents.others(others, is_own);
        all.add("committed-too", of_others);
        all.add("also-committed", open);
    }
    if state.undone.is_committed() {
        let lacking = state.files.paths().enumerate().filter(|(_, path)| state.commit_contents.lacks(path));
        all.add_numbers("not-in-commit", lacking.map(|(place, _)| place).collect::<Vec<_>>());
    }
}

/// Adds the branch, and what is not committed on it.
fn add_branch(all: &mut Attributes, state: &State) {
    if !state.branch.is_empty() {
        // The client names the branch of the folder, which the user may have changed since.
        let is_of_commit = state.undone.is_committed() && !state.commit_branch.is_empty();
        all.add("branch", if is_of_commit { state.commit_branch.as_str() } else { state.branch.as_str() });
        let is_there = |path: &&str| !state.lost.is_lost(path) && !state.lost.may_be_lost(path, &state.branch);
        let mut commit_state = state.commit_state(&state.files.paths().filter(is_there).collect::<Vec<_>>());
        if !state.other_commit.0.is_empty() {
            let other = state.labels().other_commit.replace("{}", &state.other_commit.0);
            commit_state = if commit_state.is_empty() { other } else { format!("{commit_state}; {other}") };
        }
        all.add("commit-state", commit_state);
    }
    all.add("committed-as", state.committed_as.as_str());
    all.add("left-out", state.undone.left_out());
    all.add("switched", state.switched.told());
    all.add("switched-end", if state.switched.is_left(&state.branch) { state.branch.as_str() } else { "" });
}

/// Adds the changed files that are in no commit beside the session's: those in hidden folders, those whose changes are lost, as a later look
/// showed, and those that were changed on the same branch and not looked at since.
fn add_lost(all: &mut Attributes, state: &State) {
    let places = |test: &dyn Fn(&str) -> bool| -> Vec<usize> {
        state.files.paths().enumerate().filter(|(_, path)| test(path)).map(|(place, _)| place).collect()
    };
    all.add_numbers("ignored-files", places(&|path| state.undone.is_ignored(path)));
    all.add_numbers("local-files", places(&|path| state.undone.is_local(path)));
    all.add_numbers("lost-files", places(&|path| state.lost.is_lost(path)));
    all.add_numbers("unseen-files", places(&|path| state.lost.may_be_lost(path, &state.branch)));
    if let Some(before) = state.lost.branch_before(&state.branch) {
        all.add("lost-branches", format!("from `{before}` to `{}`", state.branch));
    }
}

/// Adds the hashes of the commits, the tags, and the numbers of pull requests.
fn add_commits(all: &mut Attributes, state: &State) {
    if !state.hashes.is_empty() {
        let hash =
            |subject: &String| state.hashes.iter().find(|(of, _)| of == subject).map_or("-", |(_, hash)| hash.as_str());
        all.add_numbers("commit-hashes", state.commits.iter().map(hash));
    }
    all.add("tags", state.tags.join(" "));
    all.add_numbers("merged", &state.merged);
    all.add_numbers("drafts", &state.drafts);
    all.add_numbers("closed", &state.closed);
    // One that the session opened is told among its commits.
    let has_opened = state.commits.iter().any(|commit| is_pull_request(commit));
    let branches = [state.edited_on.as_str(), state.commit_branch.as_str()];
    let is_of_work = |number: &u32| !has_opened && state.references.may_hold(*number, branches);
    all.add_numbers("pull-request", state.references.only_pull_request().filter(is_of_work));
}

/// Adds why the plan was made, what it is to reach and what it leaves alone, unless an answer says that what it names exists.
fn add_plan(all: &mut Attributes, state: &State, outcome: &Outcome) {
    let explanation =
        [("plan-reason", &state.plan_reason), ("plan-goal", &state.plan_goal), ("plan-limits", &state.plan_limits)];
    let answers = || outcome.results.iter().map(|it| it.line.as_str()).chain([outcome.end.as_str()]);
    let holds = |said: &str| !plan_reason::is_refuted(said, answers());
    let mut told = explanation.into_iter().filter(|(_, said)| !said.is_empty() && holds(said)).peekable();
    if told.peek().is_some() {
        all.add("plan-title", state.plan_title.as_str());
    }
    told.for_each(|(name, said)| all.add(name, clean::without_positions(said)));
}

/// Adds what was asked: what the first request is about, which request gave which result, and which tickets were filed.
fn add_requests(all: &mut Attributes, state: &State, outcome: &Outcome) {
    all.add("request-about", about_request(state));
    let more = requests::later(state);
    let of_turns: Vec<usize> = outcome.results.iter().map(|it| it.turn).collect();
    all.add("course", course::lines(state, &more, &of_turns, outcome.end_of));
    let more: Vec<String> = more.into_iter().map(|(_, asked)| asked).collect();
    all.add("more-requests", more.join("\n"));
    let is_told = |filed: &String| references::has_key(&outcome.end, filed.split(' ').next().unwrap_or_default());
    let filed: Vec<String> = state.references.filed().filter(|filed| !is_told(filed)).collect();
    all.add("filed", filed.join("\n"));
}

/// Returns whether the session ended with a request that has no answer, and what is told as its end came before that.
fn is_before_last_request(state: &State, outcome: &Outcome) -> bool {
    let end = outcome.end_of.and_then(|at| state.results.turns().get(at));
    state.undone.has_unanswered() && end.is_some_and(|turn| turn.number < state.turns)
}

/// Adds what the end and the results are: proposals, findings or documents, and how many came after the end.
fn add_results(all: &mut Attributes, state: &State, outcome: &Outcome) {
    let results = &outcome.results;
    if is_only_proposed(state, &outcome.end) {
        all.add("end", "proposed");
    } else if is_unchanged(state) {
        all.add("end", "unchanged");
    } else if is_before_last_request(state, outcome) {
        all.add("end", "before");
    }
    if results.is_empty() && state.tasks.with_status(Status::Done).next().is_some() {
        // Where the session has an end, that tells what the tasks of its list name.
        all.add("done", "tasks");
    }
    // The others are left out of the notes.
    let told = &results[results.len().saturating_sub(MAX_ENTRIES)..];
    let of = |given: Given| told.iter().enumerate().filter(move |(_, it)| it.given == given).map(|(place, _)| place);
    all.add_numbers("found", of(Given::Finding));
    all.add_numbers("documented", of(Given::Document));
    all.add_numbers("found-before-work", before_work(state, told));
    all.add_numbers("disputed", denied(state, told));
    all.add("disputed-in", words_of_denials(state, told).join("\n"));
    let against = outcome.end_of.map(|at| words_against_end(state, at)).unwrap_or_default();
    let confirmed_end = outcome.end_of.filter(|_| against.is_empty()).map(|at| words_for_end(state, at));
    all.add("end-disputed", against);
    all.add("confirmed", confirmed(state, told).join("\n"));
    all.add_numbers("untried", untried(state, told));
    all.add("end-confirmed", confirmed_end.unwrap_or_default());
    all.add_numbers("refused", told.iter().enumerate().filter(|(_, it)| it.is_refused).map(|(place, _)| place));
    if outcome.since > 0 {
        all.add_numbers("since", [outcome.since]);
        let is_left = |last: &ResultLine| is_left_proposed(&state.open_question, &last.line);
        all.add("since-proposed", if results.last().is_some_and(is_left) { "yes" } else { "" });
    }
}
