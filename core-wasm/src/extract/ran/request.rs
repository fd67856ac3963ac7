//! Requests that the session sent by hand over the web: to the program that it works on, and to services where they may change something.
//! What came back is often all that anybody saw of the program as it ran.

mod answer;

use serde::{Deserialize, Serialize};

use super::kind;
use crate::extract::commands;
use crate::extract::labels::Labels;

/// The maximum number of requests to keep, and how many of them are told.
const MAX_REQUESTS: usize = 12;
const MAX_TOLD: usize = 5;
/// From how many characters a part of a path that is a number or a hash names one of many things.
const MIN_ID_CHARS: usize = 6;
/// Programs that may stand behind the pipe of a request and leave its answer as it is, or cut it.
const SHOWS: [&str; 4] = ["head", "tail", "jq", "cat"];

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
    /// Records the requests of a command line and what it printed. Of several, nobody knows which one answered what.
    pub(super) fn command_ran(&mut self, command: &str, output: &str, failed: bool) {
        let scripts = kind::scripts(command);
        let segments = scripts.iter().flat_map(|script| commands::segments(script));
        let calls: Vec<(&str, Call)> = segments.filter_map(|segment| Some((segment, call(segment)?))).collect();
        let Some((segment, call)) = calls.first() else { return };
        if calls.iter().any(|(_, other)| other.what != call.what) {
            self.sent.retain(|known| !calls.iter().any(|(_, call)| call.what == known.what));
            return;
        }
        let is_shown = is_shown(command);
        // What is searched for in an answer says nothing of how the request went.
        if !is_shown && !call.may_change {
            return;
        }
        let is_told = is_shown && (failed || !call.is_to_tracker);
        let answer = if is_told { answer::of(segment, output, failed) } else { String::new() };
        let before = self.sent.iter().position(|known| known.what == call.what).map(|at| self.sent.remove(at));
        // A page that only was fetched says nothing without its status.
        if answer.is_empty() && (failed || !call.may_change) {
            return;
        }
        let times = before.map_or(1, |before| before.times + 1);
        let (what, is_to_tracker) = (call.what.clone(), call.is_to_tracker);
        self.sent.push(Sent { what, times, answer, is_old: false, is_to_tracker });
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

/// A request of a command.
struct Call {
    /// Its method and its path, with the host if that is another machine.
    what: String,
    /// Whether it sends something.
    may_change: bool,
    /// Whether it goes to a tracker.
    is_to_tracker: bool,
}

/// Returns the request that a command sends, if it goes to this machine or may change something.
fn call(segment: &str) -> Option<Call> {
    let words = commands::own_words(segment);
    let words: Vec<&str> = words.iter().map(|word| word.trim_matches(['"', '\''])).collect();
    let (place, is_local) = match *words.first()? {
        "curl" => curl_place(&words)?,
        "gh" if words.get(1) == Some(&"api") => (gh_place(&words)?, false),
        _ => return None,
    };
    let method = method(&words);
    let may_change = !matches!(method, "GET" | "HEAD" | "OPTIONS");
    let is_to_tracker = words[0] == "gh";
    (is_local || may_change).then(|| Call { what: format!("{method} {place}"), may_change, is_to_tracker })
}

/// Returns the path of the address that is called, with the host if that is another machine, and whether it is this one.
fn curl_place(words: &[&str]) -> Option<(String, bool)> {
    let is_address = |word: &&&str| word.starts_with("http") && word.contains("://") || word.starts_with("localhost");
    let address = words[1..].iter().find(is_address)?;
    let address = address.split_once("://").map_or(*address, |(_, rest)| rest);
    if address.contains(['$', '`', '{', '<']) {
        return None;
    }
    let place = address.split(['?', '#']).next()?.trim_end_matches('/');
    let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let is_local = matches!(host.split(':').next()?, "localhost" | "127.0.0.1" | "0.0.0.0");
    let path = without_ids(path);
    let place = if is_local && !path.is_empty() { path } else { format!("{host}{path}") };
    Some((place, is_local))
}

/// Returns the place that GitHub's client is told to call. A query of `graphql` only looks, unless it is a mutation.
fn gh_place(words: &[&str]) -> Option<String> {
    let is_place = |word: &&&str| word.trim_start_matches('/').starts_with("repos/") || **word == "graphql";
    let place = words[2..].iter().find(is_place)?.trim_start_matches('/');
    let is_query = place == "graphql" && !words.iter().any(|word| word.contains("mutation"));
    (!is_query && !place.contains('$')).then(|| without_ids(place.split('?').next().unwrap_or(place)))
}

/// Returns a path with a gap in the place of each part that names one of many things: a long number, or a hash.
fn without_ids(path: &str) -> String {
    let is_id = |part: &&str| {
        let has_digit = part.bytes().any(|byte| byte.is_ascii_digit());
        has_digit && part.len() >= MIN_ID_CHARS && part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    };
    path.split('/').map(|part| if is_id(&part) { "…" } else { part }).collect::<Vec<_>>().join("/")
}

/// Returns the method of a request: the one that is named, or that of a call that sends something.
fn method<'a>(words: &[&'a str]) -> &'a str {
    const NAMES: [&str; 3] = ["-X", "--request", "--method"];
    const SENDS: [&str; 5] = ["-d", "-F", "-f", "--json", "--input"];
    let named = words.windows(2).find(|pair| NAMES.contains(&pair[0])).map(|pair| pair[1]);
    let joined = || words.iter().find_map(|word| word.strip_prefix("-X").filter(|method| !method.is_empty()));
    // `curl -f` only fails on an error.
    let is_data = |word: &&&str| {
        (SENDS.contains(*word) && (**word != "-f" || words[0] == "gh"))
            || ["--data", "--form", "--field", "--raw-field"].iter().any(|option| word.starts_with(option))
    };
    let sends = || words.iter().any(|word| is_data(&word)) && !words.contains(&"-G") && !words.contains(&"--get");
    named.or_else(joined).unwrap_or_else(|| if sends() { "POST" } else { "GET" })
}

/// Returns whether what a command line printed is the answer to its requests, be it cut.
fn is_shown(command: &str) -> bool {
    commands::piped(command).iter().all(|next| SHOWS.contains(&commands::own_program(next)))
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
            (
                "curl -s http://localhost:3000/api/tills",
                "[{\"till\":1},{\"till\":2},{\"till\":3},{\"till\":4},{\"till\":5},{\"till\":6}]",
                "`GET /api/tills` → JSON",
            ),
            (
                "sleep 8 && curl -s -X POST http://localhost:3000/api/slips \\\n  -H 'A: b' -d '{\"till\": 3}'",
                "{\"error\":\"Unauthorized - Please sign in\"}",
                "`POST /api/slips` → Unauthorized - Please sign in",
            ),
            (
                "curl -X DELETE \"http://127.0.0.1:80/slips/693ab48706c139631b65bf46?all=1\"",
                "{\"message\":\"Deleted\"}",
                "`DELETE /slips/…` → Deleted",
            ),
            ("curl -so /dev/null -w '%{http_code}' http://localhost:3000", "200", "`GET localhost:3000` → 200"),
            ("curl -XPUT https://till.example/slips/7 --data-raw x", "", "`PUT till.example/slips/7`"),
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
    fn the_last_answer_counts_while_it_is_known() {
        let call = "curl -s http://localhost:3000/till";
        let told = ["`GET /till` (2×) → {\"ok\":true}"];
        assert_eq!(items(&[(call, "{\"error\":\"no drawer\"}"), (call, "{\"ok\":true}")]), told);
        let both = "curl -s http://localhost:3000/till && curl -s http://localhost:3000/slip";
        assert!(items(&[(call, "{\"ok\":true}"), (both, "{}{}")]).is_empty());
        let ports = "curl -s http://localhost:3000/till || curl -s http://localhost:3001/till";
        assert_eq!(items(&[(ports, "{\"ok\":true}")]), ["`GET /till` → {\"ok\":true}"]);
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
        let told = ["`GET /till` → {\"ok\":true}, before the last edit"];
        assert_eq!(requests.items(labels(Language::English)), told);
    }
}
