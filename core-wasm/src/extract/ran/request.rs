//! Requests that the session sent by hand over the web: to the program that it works on, and to services where they may change something.
//! What came back is often all that anybody saw of the program as it ran.

mod answer;
mod call;
mod line;
mod place;

use serde::{Deserialize, Serialize};

use crate::extract::commands;
use crate::extract::labels::Labels;
use call::{Call, Shows};
use line::{Before, Step};

/// The maximum number of requests to keep, and how many of them are told.
const MAX_REQUESTS: usize = 12;
const MAX_TOLD: usize = 5;
/// The requests of one kind: the same method and path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Sent {
    what: String,
    times: u32,
    /// What came back the last time. May be empty.
    answer: String,
    /// Whether code was changed since then.
    is_old: bool,
    /// Whether it went to a tracker, which is no program of the session's.
    is_to_tracker: bool,
}

/// All requests of a session, in the order of their last time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Requests {
    sent: Vec<Sent>,
}

impl Requests {
    /// Records the request of a command line that it sent for certain, and what it printed.
    pub(super) fn command_ran(&mut self, command: &str, output: &str, failed: bool) {
        if commands::runs_in_background(output) {
            return;
        }
        let Some((call, answer)) = sent(command, output, failed) else {
            // Nobody knows what answered last. What is searched for in an answer says nothing of how the request went.
            if !command.contains('|') {
                self.sent.retain(|known| known.what.split_once(' ').is_none_or(|(_, place)| !command.contains(place)));
            }
            return;
        };
        let before = self.sent.iter().position(|known| known.what == call.what).map(|at| self.sent.remove(at));
        // A page that only was fetched says nothing without its status.
        if answer.is_empty() && !call.may_change {
            return;
        }
        let times = before.map_or(1, |before| before.times + 1);
        let is_to_tracker = call.is_to_tracker;
        self.sent.push(Sent { what: call.what, times, answer, is_old: false, is_to_tracker });
        let extra = self.sent.len().saturating_sub(MAX_REQUESTS);
        self.sent.drain(..extra);
    }

    /// Records that code was changed.
    pub(super) fn code_changed(&mut self) {
        self.sent.iter_mut().for_each(|sent| sent.is_old = !sent.is_to_tracker);
    }

    /// Returns the latest requests as they are told, oldest first.
    pub(super) fn items(&self, labels: &Labels) -> Vec<String> {
        let told = |sent: &Sent| {
            let times = if sent.times > 1 { format!(" ({}×)", sent.times) } else { String::new() };
            let answer = if sent.answer.is_empty() { String::new() } else { format!(" → {}", sent.answer) };
            let age = if sent.is_old { format!(", {}", labels.before_edit) } else { String::new() };
            format!("`{}`{times}{answer}{age}", sent.what)
        };
        self.sent[self.sent.len().saturating_sub(MAX_TOLD)..].iter().map(told).collect()
    }
}

/// Returns the only request of a command line, if it was sent for certain and goes to this machine or may change something, and what came back.
fn sent(command: &str, output: &str, failed: bool) -> Option<(Call, String)> {
    let steps = line::steps(command)?;
    let mut calls = steps.iter().enumerate().filter_map(|(at, step)| Some((at, call::call(step)?)));
    let (at, call) = calls.next()?;
    if calls.next().is_some() || !(call.is_local || call.may_change) {
        return None;
    }
    let (before, behind) = (&steps[..at], &steps[at + 1..]);
    let is_plain = !steps.iter().any(|step| matches!(step.before, Before::Or | Before::Pipe));
    let is_alone =
        is_plain && before.iter().all(|step| is_quiet(step, false)) && behind.iter().all(|step| is_quiet(step, true));
    if failed {
        let answer = if is_alone { answer::of_failure(call.is_to_tracker, output) } else { String::new() };
        return (!answer.is_empty()).then_some((call, answer));
    }
    let is_shown = is_alone && !steps[at].is_redirected && call.shows != Shows::Nothing;
    let answer = if is_shown { answer::of(&call.shows, output) } else { String::new() };
    // A line passes with its last chain, in which each command needs the one before.
    let has_passed =
        matches!(steps[at].before, Before::Nothing | Before::And) && behind.iter().all(|step| step.before == Before::And);
    (has_passed || !answer.is_empty()).then_some((call, answer))
}

/// Returns whether a step prints nothing that may be taken for an answer.
fn is_quiet(step: &Step, is_behind: bool) -> bool {
    let is_sign = |c: char| if is_behind { c.is_alphanumeric() } else { c.is_numeric() };
    match step.words.split_first() {
        Some((program, _)) if matches!(program.as_str(), "sleep" | "cd" | "true") => true,
        Some((program, said)) if program == "echo" => !said.concat().contains(|c| is_sign(c) || "{[$\\%".contains(c)),
        _ => step.words.iter().all(|word| word.contains('=') && !word.starts_with('-')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::labels::labels;
    use crate::text::Language;

    fn items(runs: &[(&str, &str)]) -> Vec<String> {
        let mut requests = Requests::default();
        for (command, output) in runs {
            requests.command_ran(command, output, output.starts_with("Exit code"));
        }
        requests.items(labels(Language::English))
    }

    #[test]
    fn the_method_and_the_path_are_told_with_what_came_back() {
        for (command, output, told) in [
            ("curl -s http://localhost:3000/api/tills", "[{\"till\":1},{\"till\":2}]", "`GET /api/tills` → JSON"),
            (
                "sleep 8 && curl -s -X POST http://localhost:3000/api/slips \\\n  -H 'A: b' -d '{\"till\": 3}'",
                "{\"error\":\"Unauthorized - Please sign in\"}",
                "`POST /api/slips` → error",
            ),
            (
                "curl -X DELETE \"http://127.0.0.1:80/slips/693ab48706c139631b65bf46?all=1\"",
                "{\"message\":\"Deleted\"}",
                "`DELETE /slips/…` → JSON",
            ),
            ("curl -so /dev/null -w '%{http_code}' http://localhost:3000", "200", "`GET localhost:3000` → 200"),
            (
                "echo 'The till:'; curl -s http://localhost:3000/a -w \"\\n%{http_code}\"",
                "The till:\nx\n401",
                "`GET /a` → 401",
            ),
            ("curl -XPUT https://till.example/slips/7 --data-raw x", "", "`PUT till.example/slips/7`"),
            ("curl -X DELETE http://localhost:3000/slips/7", "Exit code 7", "`DELETE /slips/7` → no connection"),
            (
                "gh api repos/shop/till/pulls/12/comments/27856267/replies -f body='Folded.'",
                "{\"url\": \"https://api.github.com/repos/shop/till/pulls/comments/1\", \"id\": 1}",
                "`POST repos/shop/till/pulls/12/comments/…/replies`",
            ),
        ] {
            assert_eq!(items(&[(command, output)]), [told], "{command}");
        }
    }

    #[test]
    fn what_only_fetches_from_elsewhere_is_not_told() {
        for command in [
            "curl -fsSL https://till.example/install.sh",
            "gh api repos/shop/till/pulls/12/comments",
            "gh api graphql -f query='query { till }'",
            "curl -s -X POST \"$TILL/slips\" -d x",
            "echo 'curl -X POST http://localhost:3000/slips'",
        ] {
            assert!(items(&[(command, "{\"till\":1}")]).is_empty(), "{command}");
        }
        let page = "<!DOCTYPE html><html></html>";
        assert!(items(&[("curl -s http://localhost:3000/till", page)]).is_empty(), "it may show an error");
        assert!(items(&[("curl -s http://localhost:3000/till | grep -c drawer", "3")]).is_empty());
    }

    #[test]
    fn what_may_not_have_been_sent_from_here_is_not_told() {
        for command in [
            "if [ -n \"\" ]; then curl -X DELETE https://till.example/slips/8; fi",
            "false && curl -X DELETE https://till.example/slips/7 || echo \"{}\"",
            "false && curl -X DELETE https://till.example/slips/7; echo",
            "true || curl -X DELETE https://till.example/slips/7",
            "exit 0; curl -X DELETE https://till.example/slips/7",
            "curl -s -X DELETE http://localhost:3000/slips/7; echo gone",
            "ssh till \"curl -X DELETE http://localhost:3000/slips/11\"",
            "docker exec till curl -X DELETE http://localhost:3000/slips/12",
            "curl -X DELETE http://localhost:3000/slips/13 &",
        ] {
            for output in ["{}", ""] {
                assert_eq!(items(&[(command, output)]).len(), 0, "{command}");
            }
        }
        assert_eq!(
            items(&[("curl -X DELETE https://till.example/slips/7", "{}")]),
            ["`DELETE till.example/slips/7` → JSON"]
        );
        assert!(items(&[("curl -X DELETE http://localhost:3000/slips/7; ring", "Exit code 1")]).is_empty());
    }

    #[test]
    fn the_answer_of_another_program_is_not_told() {
        let found = "{\"error\":\"the drawer is missing\"}";
        for command in [
            "ring; curl -s http://localhost:3000/till",
            "cat notes.json; curl -s http://localhost:3000/till",
            "curl -s http://localhost:3000/till; cat till.json",
            "curl -s http://localhost:3000/till > till.json",
            "curl -s http://localhost:3000/till || echo '{\"error\":1}'",
            "curl -sL http://localhost:3000/till",
        ] {
            assert!(items(&[(command, found)]).is_empty(), "{command}");
        }
        let call = "curl -s -X DELETE http://localhost:3000/slips/7 > /dev/null && cat till.json";
        assert_eq!(items(&[(call, found)]), ["`DELETE /slips/7`"]);
        let call = "curl -s http://localhost:3000/till -w \"%{time_total} %{http_code} %{size_download}\"";
        assert!(items(&[(call, "0.123 200 512")]).is_empty());
        let call = "curl http://localhost:3000/till -o /dev/null -w '%{http_code}'";
        assert!(items(&[(call, "401\n100  12 --:--:--  200")]).is_empty(), "what it shows on the way");
    }

    #[test]
    fn the_last_answer_counts_while_it_is_known() {
        let call = "curl -s http://localhost:3000/till";
        assert_eq!(items(&[(call, "{\"error\":\"no drawer\"}"), (call, "{\"ok\":true}")]), ["`GET /till` (2×) → ok"]);
        let both = "curl -s http://localhost:3000/till && curl -s http://localhost:3000/slip";
        assert!(items(&[(call, "{\"ok\":true}"), (both, "{}{}")]).is_empty());
        let all = "for i in 1 2; do curl -s http://localhost:3000/till; done";
        assert!(items(&[(call, "{\"ok\":true}"), (all, "{}{}")]).is_empty());
    }

    #[test]
    fn what_is_searched_for_in_an_answer_says_nothing_of_it() {
        let call = "curl -s -o /dev/null -w '%{http_code}' http://localhost:3000/till";
        let search = "curl -s http://localhost:3000/till | grep -c drawer";
        assert_eq!(items(&[(call, "200"), (search, "0")]), ["`GET /till` → 200"]);
    }

    #[test]
    fn a_change_of_code_makes_an_answer_old() {
        let mut requests = Requests::default();
        requests.command_ran("curl -s localhost:3000/till", "{\"ok\":true}", false);
        requests.code_changed();
        assert_eq!(requests.items(labels(Language::English)), ["`GET /till` → ok, before the last edit"]);
    }
}
