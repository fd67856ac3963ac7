//! Pull requests: those that were opened, described, made drafts of, and merged.

use super::hashes::is_hash;
use super::message::quoted;
use crate::extract::commands;
use crate::text;

/// The maximum length of an address, in bytes.
const MAX_ADDRESS_BYTES: usize = 300;

/// Returns whether a line of the notes names a pull request, and not a commit.
pub(crate) fn is_pull_request(line: &str) -> bool {
    line.contains("://") && (line.contains("/pull/") || line.contains("/merge_requests/"))
}

/// Returns the number of the pull request that a line of the notes names.
pub(crate) fn pull_request_number(line: &str) -> Option<u32> {
    let at = ["/pull/", "/merge_requests/"].iter().find_map(|sign| line.find(sign).map(|at| at + sign.len()))?;
    leading_number(&line[at..])
}

/// Returns the number with which a text begins.
pub(in crate::extract) fn leading_number(text: &str) -> Option<u32> {
    text[..text.bytes().take_while(u8::is_ascii_digit).count()].parse().ok()
}

/// The commands that open a pull request, the last one of them as an option of `git push`.
pub(in crate::extract) const OPENS: [&str; 6] =
    ["gh pr create", "gh pr new", "glab mr create", "glab mr new", "hub pull-request", "merge_request.create"];

/// Returns the pull request that a command line opened, as its output names it.
pub(in crate::extract) fn pull_request(command: &str, output: &str) -> Option<String> {
    if text::contains_any(command, &OPENS) { address(output) } else { None }
}

/// Returns the first address of a pull request in what a program or a tool printed, up to its number.
pub(in crate::extract) fn address(output: &str) -> Option<String> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\\' | '<' | '>' | '(' | ')' | ',');
    output.match_indices("https://").find_map(|(at, _)| {
        let rest = text::head(&output[at..], MAX_ADDRESS_BYTES);
        let url = rest.split(is_end).next().filter(|url| is_pull_request(url))?;
        let number = pull_request_number(url)?.to_string();
        let end = ["/pull/", "/merge_requests/"].iter().find_map(|sign| url.find(sign).map(|at| at + sign.len()))?;
        // What is cut off in its number has another one.
        (end + number.len() < MAX_ADDRESS_BYTES).then(|| url[..end + number.len()].to_owned())
    })
}

/// Returns the numbers of the pull requests that a command line closes without a merge, or opens again, each with whether it is closed.
pub(in crate::extract) fn closed_pull_requests(command: &str) -> Vec<(u32, bool)> {
    const CALLS: [(&str, bool); 4] =
        [("gh pr close ", true), ("glab mr close ", true), ("gh pr reopen ", false), ("glab mr reopen ", false)];
    let closed = |segment: &str| {
        let (rest, is_closed) = CALLS.iter().find_map(|(call, is_closed)| Some((behind(segment, call)?, *is_closed)))?;
        Some((rest.split_whitespace().find_map(number_named)?, is_closed))
    };
    commands::segments(command).into_iter().filter_map(closed).collect()
}

/// Returns whether a command line merges the pull request of the branch, which it does not name.
pub(in crate::extract) fn merges_own(command: &str) -> bool {
    merges(command).any(|rest| !names_one(rest))
}

/// Returns what stands behind the words of a call in a segment. Variables may be set before it: `GH_REPO=o/till gh pr edit 7`.
fn behind<'a>(segment: &'a str, call: &str) -> Option<&'a str> {
    let (before, rest) = segment.split_once(call)?;
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let sets = |word: &str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    before.split_whitespace().all(sets).then_some(rest)
}

/// Returns whether words that are passed to `gh pr merge` name a pull request: by its number, its address or its branch.
fn names_one(rest: &str) -> bool {
    const WITH_VALUE: [&str; 13] = [
        "-t",
        "--subject",
        "-b",
        "--body",
        "-F",
        "--body-file",
        "-A",
        "--author-email",
        "--message",
        "-R",
        "--repo",
        "--match-head-commit",
        "--sha",
    ];
    let mut is_value = false;
    rest.split_whitespace().any(|word| {
        let is_of_option = std::mem::replace(&mut is_value, WITH_VALUE.contains(&word));
        // Of a value in quotes every word stands alone here, which only leads to saying less.
        !is_of_option && !word.starts_with(['-', '<', '>', '&']) && !word.contains('>')
    })
}

/// Returns what the parts of a command line pass that merge a pull request at once.
fn merges(command: &str) -> impl Iterator<Item = &str> {
    let rest = |segment| ["gh pr merge", "glab mr merge"].iter().find_map(|call| behind(segment, call));
    let is_now = |rest: &&str| !text::contains_any(rest, &["--auto", "--disable-auto", "--when-pipeline-succeeds"]);
    commands::segments(command).into_iter().filter_map(rest).filter(is_now)
}

/// Returns whether a command line that failed has merged a pull request all the same: only what `gh` did with the branch afterwards failed, or
/// the one that it names had been merged before.
pub(in crate::extract) fn is_merged_all_the_same(command: &str, output: &str) -> bool {
    // Before it merges, `gh` reads the folder with git, and that may fail as well.
    const AFTERWARDS: [&str; 3] = ["already used by worktree", "already checked out at", "overwritten by checkout"];
    let mut merges = merges(command);
    // Of several commands any may have failed.
    let (Some(rest), None, true) = (merges.next(), merges.next(), only_runs(command, "gh pr merge")) else { return false };
    let number = rest.split_whitespace().find_map(number_named);
    let was_merged = |line: &str| {
        let before = line.split_once(" was already merged").and_then(|(before, _)| before.rsplit_once('#'));
        before.and_then(|(_, named)| leading_number(named)).is_some_and(|named| number == Some(named))
    };
    let says =
        |line: &str| was_merged(line) || (line.starts_with("failed to run git:") && text::contains_any(line, &AFTERWARDS));
    output.lines().any(says) && !output.lines().any(|line| line.starts_with("X "))
}

/// Returns the number of a pull request that a word names: `7`, `#7`, `!7` or its address.
fn number_named(word: &str) -> Option<u32> {
    let word = word.trim_matches('"');
    pull_request_number(word).or_else(|| word.trim_start_matches(['#', '!']).parse().ok())
}

/// Returns the title passed to `gh pr create` or `gh pr edit`.
pub(in crate::extract) fn pull_request_title(command: &str) -> Option<String> {
    let at = command.find("--title")?;
    let rest = command[at + "--title".len()..].trim_start_matches(['=', ' ']);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    // What a shell puts in, nobody knows.
    quoted(&rest[1..], quote).filter(|title| !title.starts_with('$') && !text::contains_any(title, &["$(", "${"]))
}

/// Returns the number of a pull request that a command line gives another title, and the title.
pub(in crate::extract) fn renamed_pull_request(command: &str, output: &str) -> Option<(u32, String)> {
    let edits = edit_of_pull_request(command)?;
    Some((described_pull_request(command, output)?, pull_request_title(edits)?))
}

/// Returns the number of the pull request that a command line opens or edits.
pub(in crate::extract) fn described_pull_request(command: &str, output: &str) -> Option<u32> {
    let number = edit_of_pull_request(command).and_then(|edits| {
        let is_before = |word: &&str| !word.starts_with('-') || word.starts_with("--repo") || *word == "-R";
        edits.split_whitespace().take_while(is_before).find_map(number_named)
    });
    number.or_else(|| output.split_whitespace().find_map(pull_request_number))
}

/// Returns whether a command line edits a pull request.
pub(in crate::extract) fn edits_pull_request(command: &str) -> bool {
    edit_of_pull_request(command).is_some()
}

/// Returns what a command line passes to `gh pr edit`.
fn edit_of_pull_request(command: &str) -> Option<&str> {
    commands::segments(command).into_iter().find_map(|segment| behind(segment, "gh pr edit "))
}

/// Returns the pull request whose state as a draft a command line sets or shows, and whether it is one. A number of zero stands for the one
/// of the branch.
pub(in crate::extract) fn draft(command: &str, output: &str) -> Option<(u32, bool)> {
    let find = |call: &str| {
        let rest = commands::segments(command).into_iter().find_map(|segment| Some(segment.split_once(call)?.1))?;
        let number = rest.split_whitespace().next().and_then(|word| word.trim_start_matches('#').parse().ok());
        Some((number.unwrap_or_default(), rest))
    };
    if text::contains_any(command, &OPENS) {
        let is_draft = command.split_whitespace().any(|word| matches!(word, "--draft" | "-d"));
        return Some((pull_request_number(&pull_request(command, output)?)?, is_draft));
    }
    if let Some((number, rest)) = find("gh pr ready") {
        return Some((number, rest.split_whitespace().any(|word| word == "--undo")));
    }
    let (number, _) = find("gh pr view")?;
    let says =
        |state: &str| output.contains(&format!("\"isDraft\":{state}")) || output.contains(&format!("\"isDraft\": {state}"));
    // Of a list with several nobody knows which one is meant.
    match (says("true"), says("false")) {
        (true, false) => Some((number, true)),
        (false, true) => Some((number, false)),
        _ => output.lines().any(|line| line == "state:\tDRAFT").then_some((number, true)),
    }
}

/// Returns the numbers of the pull requests that a command line merged, or that its output shows as merged.
pub(in crate::extract) fn merged_pull_requests(command: &str, output: &str) -> Vec<u32> {
    let number = |text: &str| leading_number(text.trim_start_matches('#'));
    let mut all: Vec<u32> = Vec::new();
    for sign in [
        "Merge pull request #",
        "Merged pull request #",
        "Squashed and merged pull request #",
        "Rebased and merged pull request #",
    ] {
        all.extend(output.match_indices(sign).filter_map(|(at, sign)| number(&output[at + sign.len()..])).take(20));
    }
    let is_shown = text::contains_any(output, &["MERGED", "state:\tmerged"]);
    let shows = |segment| behind(segment, "gh pr view ").filter(|_| is_shown);
    for rest in merges(command).chain(commands::segments(command).into_iter().filter_map(shows)) {
        all.extend(rest.split_whitespace().find_map(number_named));
    }
    all.extend(merged_by_request(command, output));
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the number of the pull request that a request to the interface of the host merged. It has to stand alone: what others print
/// may be of another pull request.
fn merged_by_request(command: &str, output: &str) -> Option<u32> {
    let segments = commands::segments(command);
    let mut requests = segments.iter().filter(|segment| segment.contains("/pulls/"));
    let (Some(request), None, true) = (requests.next(), requests.next(), only_runs(command, "gh api")) else { return None };
    let said = output.replace(": ", ":");
    let is_merged = request.contains("PUT")
        && said.contains("\"merged\":true")
        && !text::contains_any(&said, &["not mergeable", "\"merged\":false", "\"status\":\"4"]);
    leading_number(request.split_once("/pulls/")?.1.split_once("/merge")?.0).filter(|_| is_merged)
}

/// Returns the numbers of the pull requests that `gh pr list` shows as merged: as lines that begin with the number, or as JSON.
pub(in crate::extract) fn listed_as_merged(command: &str, output: &str) -> Vec<u32> {
    const NUMBER: &str = "\"number\":";
    // What other commands print may be anybody's text.
    if !only_runs(command, "gh pr list") {
        return Vec::new();
    }
    let of_entry = |entry: &str| entry.find(NUMBER).and_then(|at| leading_number(entry[at + NUMBER.len()..].trim_start()));
    if output.contains(NUMBER) {
        // Quotes in a title have a backslash before them.
        let is_merged = |entry: &&str| entry.replace(": ", ":").contains("\"state\":\"MERGED\"");
        return output.split('}').filter(is_merged).filter_map(of_entry).collect();
    }
    let is_merged = |line: &&str| line.split('\t').skip(2).any(|field| field == "MERGED");
    output.lines().filter(is_merged).filter_map(|line| leading_number(line.trim_start_matches(['#', ' ']))).collect()
}

/// Returns the numbers of the pull requests whose squashed commits a log shows: "1a2b3c4 Sum the slips (#7)". `is_own` says whether the
/// session itself gave a commit that subject.
pub(in crate::extract) fn squashed_pull_requests(command: &str, output: &str, is_own: impl Fn(&str) -> bool) -> Vec<u32> {
    // Another branch may have what the main one has not.
    let is_of_others = text::contains_any(command, &["--all", "--branches", "--remotes"]);
    if is_of_others || !only_runs(command, "git log") {
        return Vec::new();
    }
    let squashed = |line: &str| -> Option<u32> {
        let (hash, subject) = line.trim_start_matches(['*', '|', ' ']).split_once(' ')?;
        let (_, number) = subject.strip_suffix(')')?.rsplit_once("(#")?;
        (is_hash(hash) && !is_own(subject)).then(|| number.parse().ok()).flatten()
    };
    output.lines().filter_map(|line| squashed(line.trim_end())).collect()
}

/// Returns whether a command line prints only what one command prints, or the beginning or end of it.
fn only_runs(command: &str, program: &str) -> bool {
    const OTHERS: [&str; 4] = ["cd ", "git fetch", "head", "tail"];
    let segments = commands::segments(command);
    let is_of = |segment: &&str| segment.starts_with(program) || OTHERS.iter().any(|other| segment.starts_with(other));
    segments.iter().any(|segment| segment.starts_with(program)) && segments.iter().all(is_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_title_of_a_pull_request() {
        let said = |command: &str, output: &str| renamed_pull_request(command, output);
        let title = Some((7, "Round the totals".to_owned()));
        assert_eq!(said("gh pr edit 7 --title \"Round the totals\" 2>&1", ""), title);
        assert_eq!(said("gh pr edit --title 'Round the totals'", "https://github.com/o/till/pull/7\n"), title);
        assert_eq!(said("GH_REPO=o/till gh pr edit 7 --title \"Round the totals\"", ""), title);
        assert_eq!(said("gh pr edit --repo o/till 7 --title 'Round the totals'", ""), title);
        assert_eq!(said("gh pr edit https://github.com/o/till/pull/7 --title 'Round the totals'", ""), title);
        assert_eq!(said("gh pr edit 7 --title \"$(head -1 till.md)\"", ""), None);
        assert_eq!(said("gh pr edit 7 --body 'Round the totals'", "https://github.com/o/till/pull/7"), None);
        assert_eq!(said("gh pr create --title 'Sum' && gh pr edit 7 --add-label x", ""), None);
        assert_eq!(said("gh pr create --title 'Round the totals'", "https://github.com/o/till/pull/7"), None);
    }

    #[test]
    fn merged_pull_requests_are_known_by_their_number() {
        assert_eq!(merged_pull_requests("git log --oneline -3", "1a2b3c4 Merge pull request #15 from shop/cart"), [15]);
        assert_eq!(merged_pull_requests("gh pr merge 7 --squash", ""), [7]);
        assert_eq!(merged_pull_requests("gh pr view 9 --json state", "{\"state\":\"MERGED\"}"), [9]);
        assert!(merged_pull_requests("gh pr merge 7 --auto", "").is_empty());
        assert_eq!(merged_pull_requests("GH_TOKEN=x gh pr merge 7 --squash", ""), [7]);
        let request = "gh api repos/o/till/pulls/7/merge -X PUT -f merge_method=squash";
        assert_eq!(merged_pull_requests(request, r#"{"sha":"1a2b3c4","merged":true}"#), [7]);
        assert!(merged_pull_requests(request, r#"{"message":"Pull Request is not mergeable"}"#).is_empty());
        let of_branch = "failed to run git: fatal: 'main' is already used by worktree at '/till'";
        assert!(is_merged_all_the_same("gh pr merge 7 --squash --delete-branch", of_branch));
        assert!(is_merged_all_the_same("gh pr merge 7 --admin", "! Pull request o/till#7 was already merged\n"));
        assert!(!is_merged_all_the_same("gh pr merge 7", "X Pull request o/till#7 is not mergeable"));
        for (command, output) in [
            ("cd /tmp && gh pr merge 7 --squash", "failed to run git: fatal: not a git repository: .git"),
            ("gh pr merge 6; gh pr merge 7", "! Pull request o/till#6 was already merged\nX Pull request o/till#7 has rags"),
            ("gh pr merge 7", "! Pull request o/till#6 was already merged"),
            ("npm test && gh pr merge 7", of_branch),
        ] {
            assert!(!is_merged_all_the_same(command, output), "{command}");
        }
        let two = format!("{request}; gh api repos/o/till/pulls/6 --jq .");
        assert!(merged_pull_requests(&two, "{\"status\":\"405\"}\n{\"number\":6,\"merged\":true}").is_empty());
        assert_eq!(merged_pull_requests("gh pr merge https://hub.example/o/till/pull/8 --squash", ""), [8]);
        assert_eq!(merged_pull_requests("glab mr merge 6 -y", ""), [6]);
        assert!(
            merges_own("gh pr merge --squash --delete-branch")
                && !merges_own("gh pr merge 7")
                && !merges_own("gh pr merge --auto")
        );
        assert!(!merges_own("gh pr merge feature/drawer --squash") && merges_own("gh pr merge -s -t 'Bell' 2>&1"));
        assert_eq!(closed_pull_requests("gh pr close 7 && gh pr close '#8'"), [(7, true)]);
        assert_eq!(closed_pull_requests("gh pr close 7 && gh pr reopen 7"), [(7, true), (7, false)]);
        let table = "9\tSum the slips\tslips\tMERGED\t2026-01-02\n8\tPrint\tp\tMERGED\n7\tCount MERGED slips\tc\tOPEN";
        assert_eq!(listed_as_merged("gh pr list --state all", table), [9, 8]);
        let json = r#"[{"number":5,"state":"MERGED"},{"number":4,"state":"OPEN","title":"\"state\":\"MERGED\""},{"state": "MERGED","number": 3}]"#;
        assert_eq!(listed_as_merged("gh pr list --json number,state,title | head -3", json), [5, 3]);
        assert!(listed_as_merged("gh pr list; curl https://x", table).is_empty(), "somebody else's text");
        let log = "1a2b3c4 Sum the slips (#7)\n* 2b3c4d5 Print (#6)\n3c4d5e6 Mend the sum, see (#5) there\n4d5e6f7 Own (#4)";
        assert_eq!(squashed_pull_requests("cd a && git log --oneline -4", log, |subject| subject == "Own (#4)"), [7, 6]);
        for other in ["cat log", "git log -3; curl https://x", "git log --all"] {
            assert!(squashed_pull_requests(other, log, |_| false).is_empty(), "{other}");
        }
        assert!(merged_pull_requests("gh pr view 9 --json state", "{\"state\":\"OPEN\"}").is_empty());
    }

    #[test]
    fn drafts() {
        let url = "https://hub.example/shop/till/pull/7";
        assert_eq!(draft("gh pr create --draft --title x", url), Some((7, true)));
        assert_eq!(draft("gh pr create --title x", url), Some((7, false)));
        assert_eq!(draft("cd till && gh pr ready 7", ""), Some((7, false)));
        assert_eq!(draft("gh pr ready --undo", ""), Some((0, true)));
        assert_eq!(draft("gh pr view --json isDraft", r#"{"isDraft":true}"#), Some((0, true)));
        assert_eq!(draft("gh pr view 7", "title:\tx\nstate:\tDRAFT\n"), Some((7, true)));
        assert_eq!(draft("gh pr view 7", "title:\tx\nstate:\tOPEN\n"), None);
    }

    #[test]
    fn the_address_ends_at_the_number() {
        let said = r#"[{"url":"https://api.hub.example/repos/o/r/pulls/7","html_url":"https://hub.example/o/r/pull/7","diff":"x"}]"#;
        assert_eq!(address(said).unwrap(), "https://hub.example/o/r/pull/7");
        assert_eq!(
            address("{\\\"url\\\":\\\"https://hub.example/o/r/pull/7.diff\\\"}").unwrap(),
            "https://hub.example/o/r/pull/7"
        );
        let lab = pull_request("glab mr create --fill", "!5 Open\n https://lab.example/o/r/-/merge_requests/5\n").unwrap();
        assert_eq!(lab, "https://lab.example/o/r/-/merge_requests/5");
        assert_eq!(pull_request("cat notes", "https://hub.example/o/r/pull/7"), None);
        let joined = format!("https://till.example/{}/pull/7", "https://x.y/".repeat(50_000));
        assert_eq!(
            address(&format!("{} https://hub.example/o/r/pull/8", &joined[..joined.len() - 7])).unwrap(),
            "https://hub.example/o/r/pull/8"
        );
    }

    #[test]
    fn pull_requests() {
        let command = "gh pr create --title \"Add x\" --body y";
        assert_eq!(pull_request(command, "https://github.com/o/r/pull/7\n").unwrap(), "https://github.com/o/r/pull/7");
        assert_eq!(pull_request_title(command).unwrap(), "Add x");
        let quotes = "gh pr create --title \"Say \\\"hi\\\" once\" --body y";
        assert_eq!(pull_request_title(quotes).unwrap(), "Say \"hi\" once");
    }
}
