//! What the notes say of a session beside its texts: language, tests, commits, branch and plan, each as a name and a value.

use crate::extract::clean;
use crate::extract::commits::is_pull_request;
use crate::extract::plan_reason;
use crate::extract::requests;
use crate::extract::state::State;
use crate::text::Language;

pub(super) fn attributes(state: &State, results: &[String], outcome: &str) -> Vec<(String, String)> {
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
