//! Commits and pull requests that were really created.

use serde::{Deserialize, Serialize};

use super::commands::{self, GitCall};
use crate::text;

/// The maximum number of files to read from git's list of changed files.
const MAX_STAT_FILES: usize = 60;

/// A commit, as reported by the output or the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    /// The first line of the message.
    pub subject: String,
    /// The other lines of the message, without trailers.
    pub body: String,
    /// The branch, if the output names it.
    pub branch: Option<String>,
    /// The short hash, if the output names it.
    pub hash: Option<String>,
    /// Whether the commit replaces the previous one.
    pub amends: bool,
}

/// Returns the commits that a command line created, judging by its output. Empty if git made none.
///
/// What stands after the commits on the line may have failed: then only the commits count that git itself reports.
pub(super) fn commits_from(command: &str, output: &str, is_error: bool) -> Vec<Commit> {
    let segments: Vec<&str> = commands::segments(command).into_iter().filter(|segment| is_commit(segment)).collect();
    if segments.is_empty() {
        return Vec::new();
    }
    let amends = command.contains("--amend");
    // A segment may end before its here-document, so look for such a message in the whole command.
    let messages: Vec<(String, String)> = match segments.as_slice() {
        all if all.len() == 1 || command.contains("<<") => messages_of(command),
        all => all.iter().filter_map(|segment| message(segment)).collect(),
    }
    .iter()
    .map(|message| split_message(message.trim_start_matches(['@', '\n', ' '])))
    .collect();
    let printed = |(branch, hash, shown): (String, String, String)| {
        let subject = shown.trim_start_matches(['@', ' ']).to_owned();
        let body = messages.iter().find(|(known, _)| *known == subject).map(|(_, body)| body.clone());
        Commit { subject, body: body.unwrap_or_default(), branch: Some(branch), hash: Some(hash), amends }
    };
    let mut all: Vec<Commit> = output.lines().filter_map(parse_commit_line).map(printed).collect();
    if all.is_empty() {
        let is_made = !is_error
            && !commands::output_reports_failure(commands::Class::Commit, output)
            && (reports_success(output) || segments.iter().all(|segment| is_quiet(segment)));
        let named = messages.into_iter().filter(|(subject, _)| !subject.is_empty());
        all.extend(named.filter_map(|(subject, body)| {
            let hash = listed_hash(output, &subject);
            (is_made || hash.is_some()).then_some(Commit { subject, body, branch: None, hash, amends })
        }));
    }
    for commit in &mut all {
        commit.subject = strip_trailer(&commit.subject).to_owned();
    }
    all.retain(|commit| !is_temporary(&commit.subject));
    all
}

/// Returns the messages of the commits of a command line. Each may stand in a here-document, which hides what follows it.
fn messages_of(command: &str) -> Vec<String> {
    // A message may name the command too: "Give `git commit` more time".
    let begins = |at: usize| {
        let before = command[..at].trim_end_matches(' ');
        before.is_empty() || before.ends_with(['\n', ';', '&', '|', '('])
    };
    let mut pieces: Vec<usize> = command.match_indices("git commit").map(|(at, _)| at).filter(|at| begins(*at)).collect();
    if pieces.len() < 2 || !command.contains("<<") {
        return vec![message(command).unwrap_or_default()];
    }
    pieces.push(command.len());
    pieces.windows(2).filter_map(|piece| message(&command[piece[0]..piece[1]])).collect()
}

/// Returns whether a command line tries to make a commit.
pub(super) fn is_tried(command: &str) -> bool {
    commands::class(command) == commands::Class::Commit
        || commands::git_calls(command).iter().any(|(subcommand, _)| subcommand == "commit")
}

/// Returns whether a command line makes other commits of those that were made before, so that their hashes lead nowhere.
pub(super) fn replaces_hashes(command: &str) -> bool {
    commands::git_calls(command).iter().any(|(subcommand, arguments)| {
        let has = |words: &[&str]| arguments.iter().any(|word| words.contains(&word.as_str()));
        match subcommand.as_str() {
            "rebase" => !has(&["--abort"]),
            "pull" => has(&["--rebase", "-r"]),
            "cherry-pick" | "filter-branch" => true,
            "reset" => has(&["--hard", "--soft"]),
            _ => false,
        }
    })
}

/// What is left after a command line moved the branch back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reset {
    /// How many of the session's commits are left.
    pub left: usize,
    /// Whether the changes of the others are still in the files.
    pub keeps_changes: bool,
}

/// Returns what `git reset` leaves of the session's commits, which have the subjects `own`, the oldest first. None if it drops none, or if
/// nobody knows which. The first `kept` are on another branch, or have commits of others above them.
pub(super) fn reset(
    call: &GitCall,
    output: &str,
    own: &[String],
    kept: usize,
    hashes: &[(String, String)],
) -> Option<Reset> {
    if call.subcommand != "reset" {
        return None;
    }
    let names: Vec<&str> = call.arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    // Files are only taken out of the next commit.
    let [target] = names[..] else { return None };
    let has = |options: &[&str]| call.arguments.iter().any(|word| options.contains(&word.as_str()));
    let place = |subject: &str| own.iter().position(|known| known == subject);
    let has_hash =
        |(_, hash): &&(String, String)| is_hash(target) && (hash.starts_with(target) || target.starts_with(hash.as_str()));
    let left = if let Some(at) = head_now(output).and_then(|(_, subject)| place(subject)) {
        at + 1
    } else if let Some((subject, _)) = hashes.iter().find(has_hash) {
        place(subject)? + 1
    } else if let Some(steps) = steps_back(target) {
        own.len().saturating_sub(steps)
    } else if has(&["--soft"]) && !target.contains(['@', '^', '~']) && !target.contains("HEAD") && !is_hash(target) {
        // Whoever keeps all changes joins the commits of a branch.
        kept
    } else {
        return None;
    };
    (kept..own.len()).contains(&left).then(|| Reset { left, keeps_changes: !has(&["--hard", "--keep", "--merge"]) })
}

/// Returns the hash and the subject of the commit to which git says that it moved the branch.
fn head_now(output: &str) -> Option<(&str, &str)> {
    let commit = output.lines().find_map(|line| line.trim().strip_prefix("HEAD is now at "))?;
    commit.split_once(' ').map(|(hash, subject)| (hash, subject.trim()))
}

/// Returns those subjects of commits that git brings back, each with its hash: by another reset, or by reverting the revert.
pub(super) fn brought_back(output: &str, dropped: &[String]) -> Vec<(String, String)> {
    let made = output.lines().filter_map(parse_commit_line).filter_map(|(_, hash, subject)| {
        let inner = subject.strip_prefix("Reapply \"").or_else(|| subject.strip_prefix("Revert \"Revert \""))?;
        Some((inner.trim_end_matches('"').to_owned(), hash))
    });
    let head = head_now(output).map(|(hash, subject)| (subject.to_owned(), hash.to_owned()));
    head.into_iter().chain(made).filter(|(subject, _)| dropped.contains(subject)).collect()
}

/// Returns whether a call of git leaves the session's commits on another branch, or commits of others above them. Then `HEAD~1` is not the
/// session's latest commit any more.
pub(super) fn leaves_branch(call: &GitCall) -> bool {
    let arguments = &call.arguments;
    match call.subcommand.as_str() {
        "switch" | "merge" | "pull" | "rebase" | "cherry-pick" | "revert" | "am" => true,
        "checkout" => !arguments.iter().any(|word| matches!(word.as_str(), "--" | ".")),
        "worktree" => arguments.first().is_some_and(|verb| verb == "add"),
        "branch" => arguments.first().is_some_and(|name| !name.starts_with('-')),
        "push" => arguments.iter().any(|word| word.contains(':')),
        _ => false,
    }
}

/// Returns how many commits before the latest one a name such as `HEAD~2` or `HEAD^` means.
fn steps_back(name: &str) -> Option<usize> {
    let rest = name.strip_prefix("HEAD").or_else(|| name.strip_prefix('@'))?;
    match rest.strip_prefix('~') {
        Some("") => Some(1),
        Some(number) => number.parse().ok(),
        None => rest.bytes().all(|byte| byte == b'^').then_some(rest.len()),
    }
}

/// Returns those of the session's commits, given by their subjects, that `git revert` undoes, with their places.
pub(super) fn reverted<'a>(call: &GitCall, output: &str, own: &'a [String]) -> Vec<(usize, &'a String)> {
    let is_reverted = |subject: &String| call.subcommand == "revert" && output.contains(&format!("] Revert \"{subject}\""));
    own.iter().enumerate().filter(|(_, subject)| is_reverted(subject)).collect()
}

/// What a call of git does with stashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stash {
    /// It puts changes away, on that branch: all of them, or those of some files.
    Put(String, bool),
    /// It brings the latest ones back.
    Taken,
    /// It brings a part back.
    Copied,
    /// It throws the latest one away.
    Dropped,
    /// It throws all away.
    Cleared,
}

/// Returns what a command line does with stashes.
pub(super) fn stashes(command: &str, output: &str, failed: bool) -> Vec<Stash> {
    let act = |call: GitCall| {
        let mut names = call.arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
        if call.subcommand != "stash" {
            return call.arguments.iter().any(|word| word.contains("stash@")).then_some(Stash::Copied);
        }
        match names.next() {
            verb @ (None | Some("push" | "save")) => {
                let (_, rest) = output.split_once("Saved working directory and index state ")?;
                let branch = rest.split_once("n ").and_then(|(_, rest)| rest.split(':').next()).unwrap_or_default();
                // A word may be a message, too.
                let is_whole = verb != Some("push") || names.next().is_none();
                Some(Stash::Put(branch.trim().to_owned(), is_whole))
            }
            // What conflicts is taken over by hand.
            Some("pop" | "apply" | "branch") if !failed || output.contains("Dropped ") => Some(Stash::Taken),
            Some("pop" | "apply" | "branch") => Some(Stash::Copied),
            Some("drop") if !failed && names.next().is_none_or(|name| name.contains('0')) => Some(Stash::Dropped),
            Some("clear") => Some(Stash::Cleared),
            _ => None,
        }
    };
    commands::git_calls_in_root(command).into_iter().filter_map(act).collect()
}

/// Returns the hash of a commit with that subject, as git prints it: on the line of a commit, or in a list.
pub(super) fn hash_of(output: &str, subject: &str) -> Option<String> {
    let made = output.lines().filter_map(parse_commit_line).find(|(_, _, shown)| shown == subject);
    made.map(|(_, hash, _)| hash).or_else(|| listed_hash(output, subject))
}

/// Strips a trailer that follows the subject without an empty line between them.
fn strip_trailer(subject: &str) -> &str {
    let mut words = subject.rsplitn(3, ' ');
    let (Some(value), Some(name), Some(rest)) = (words.next(), words.next(), words.next()) else {
        return subject;
    };
    let is_trailer =
        name.ends_with(':') && name.contains('-') && name.starts_with(|c: char| c.is_ascii_uppercase()) && !value.is_empty();
    if is_trailer { rest.trim_end() } else { subject }
}

/// Returns whether the commit is meant to be folded into another one, or its subject still contains a shell expansion.
fn is_temporary(subject: &str) -> bool {
    let lower = subject.to_lowercase();
    ["wip", "fixup!", "squash!", "amend!", "tmp", "temp "].iter().any(|opening| lower.starts_with(opening))
        || subject.contains('$')
}

fn is_commit(segment: &str) -> bool {
    arguments(segment).is_some() && !segment.contains("--dry-run")
}

/// Returns the words after `git commit`. None if a segment of a command line does not commit.
fn arguments(segment: &str) -> Option<Vec<String>> {
    let words = commands::tokens(segment).into_iter();
    let mut words = words.skip_while(|word| word != "git" && !word.ends_with("/git"));
    words.next()?;
    while let Some(word) = words.next() {
        match word.as_str() {
            // The folder or setting that follows is not the subcommand.
            "-C" | "-c" => _ = words.next(),
            option if option.starts_with('-') => {}
            subcommand => return (subcommand == "commit").then(|| words.collect()),
        }
    }
    None
}

/// Returns whether a segment commits without a word, so that all that is printed comes from other commands.
fn is_quiet(segment: &str) -> bool {
    let is_flag = |word: &String| {
        let letters = word.strip_prefix('-').filter(|letters| letters.bytes().all(|byte| byte.is_ascii_lowercase()));
        word == "--quiet" || letters.is_some_and(|letters| letters.contains('q') && letters.len() <= 4)
    };
    arguments(segment).is_some_and(|words| words.iter().any(is_flag))
}

/// Returns the hash of a commit with that subject if the output lists it, as `git log --oneline` does.
fn listed_hash(output: &str, subject: &str) -> Option<String> {
    output.lines().map(str::trim).find_map(|line| {
        let (hash, rest) = line.split_once(' ')?;
        // The names of branches stand before the subject.
        let named = rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(rest, |(_, subject)| subject);
        (is_hash(hash) && named.trim() == subject).then(|| hash.to_owned())
    })
}

/// Returns whether the output looks like success: silence, a short "ok", or a count of files, as git and its wrappers
/// print them.
fn reports_success(output: &str) -> bool {
    let output = output.trim();
    output.len() < 200 || output.contains("file changed") || output.contains("files changed")
}

/// Parses `[branch 1a2b3c4] subject`.
pub(super) fn parse_commit_line(line: &str) -> Option<(String, String, String)> {
    let (inside, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let inside = inside.replace(" (root-commit)", "");
    let (branch, hash) = inside.rsplit_once(' ')?;
    is_hash(hash).then(|| (branch.to_owned(), hash.to_owned(), subject.trim().to_owned()))
}

/// Returns whether a word is the hash of a commit, or its beginning.
pub(super) fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether a command line tells git not to run its hooks.
pub(super) fn bypasses_hook(command: &str) -> bool {
    let is_short = |(subcommand, arguments): &(String, Vec<String>)| {
        subcommand == "commit" && arguments.iter().any(|word| word == "-n")
    };
    text::contains_any(command, &["no-verify", "hooksPath", "HUSKY=0"]) || commands::git_calls(command).iter().any(is_short)
}

/// Returns the message given by `-m` or a here-document.
pub(super) fn message(command: &str) -> Option<String> {
    let at = command.find("commit")?;
    let rest = &command[at..];
    if let Some(start) = rest.find("<<") {
        let after = rest[start + 2..].trim_start_matches('-').trim_start();
        let tag: String =
            after.trim_start_matches(['\'', '"']).chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let body = &after[after.find('\n')? + 1..];
        let end = body.lines().take_while(|line| line.trim() != tag).map(|line| line.len() + 1).sum::<usize>();
        return Some(body[..end.min(body.len())].trim().to_owned());
    }
    let value = rest[message_flag(rest)?..].trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '@'))?;
    if quote == '@' {
        // A here-string of PowerShell.
        return value.get(2..)?.split("'@").next().map(|text| text.trim().to_owned());
    }
    let inner = &value[1..];
    let mut end = inner.len();
    let mut escaped = false;
    for (at, c) in inner.char_indices() {
        if c == quote && !escaped {
            end = at;
            break;
        }
        escaped = c == '\\' && !escaped;
    }
    Some(inner[..end].replace("\\\"", "\"").trim().to_owned())
}

/// Returns the position just past the option that precedes the message: `-m`, `--message`, or short options joined with
/// it such as `-qam`.
fn message_flag(command: &str) -> Option<usize> {
    command.match_indices(" -").find_map(|(at, _)| {
        let option = &command[at + 2..];
        let letters = option.bytes().take_while(u8::is_ascii_alphabetic).count();
        if option[..letters].ends_with('m') {
            return Some(at + 2 + letters);
        }
        let long = option.strip_prefix("-message")?;
        long.starts_with([' ', '=']).then_some(at + 2 + "-message".len() + 1)
    })
}

/// Returns whether git says that no change is left to commit, whoever committed it.
pub(super) fn says_clean(output: &str) -> bool {
    text::contains_any(output, &["nothing to commit", "working tree clean"])
}

/// Returns whether a line begins with a short label that has a number, so that it is an entry of a list: "H1: wrap the key".
pub(super) fn has_numbered_label(line: &str) -> bool {
    const MAX_LABEL_CHARS: usize = 4;
    line.split_once(": ").is_some_and(|(label, _)| {
        label.chars().count() <= MAX_LABEL_CHARS
            && label.starts_with(|c: char| c.is_ascii_uppercase())
            && label.ends_with(|c: char| c.is_ascii_digit())
    })
}

/// Returns the body of a commit with its wrapped lines joined: one line for each paragraph and list item.
pub(super) fn unwrapped(body: &str) -> String {
    let mut text = String::new();
    let (mut is_open, mut is_code) = (false, false);
    for line in body.lines() {
        let bare = line.trim();
        let is_fence = bare.starts_with("```") || bare.starts_with("~~~");
        if is_code || is_fence {
            is_code ^= is_fence;
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(line.trim_end());
            is_open = false;
            continue;
        }
        let starts = bare.starts_with(['-', '*', '•', '#', '|', '>'])
            || bare.starts_with(|c: char| c.is_ascii_digit())
            || has_numbered_label(bare);
        if !text.is_empty() {
            text.push(if is_open && !starts && !bare.is_empty() { ' ' } else { '\n' });
        }
        text.push_str(bare);
        // In parentheses, what a colon leads to is no list.
        let leads = bare.ends_with([':', '：']) && bare.matches('(').count() <= bare.matches(')').count();
        is_open = !bare.is_empty() && !leads && !bare.starts_with(['#', '|']);
    }
    text
}

/// Returns the numbers of the pull requests that a command line merged, or that its output shows as merged.
pub(super) fn merged_pull_requests(command: &str, output: &str) -> Vec<u32> {
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
    for segment in commands::segments(command) {
        let named = || segment.split_whitespace().skip(3).find_map(number);
        let merges = segment.starts_with("gh pr merge ") && !segment.contains("--auto");
        let shows = segment.starts_with("gh pr view ") && text::contains_any(output, &["MERGED", "state:\tmerged"]);
        all.extend(named().filter(|_| merges || shows));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the numbers of the pull requests that `gh pr list` shows as merged: as lines that begin with the number, or as JSON.
pub(super) fn listed_as_merged(command: &str, output: &str) -> Vec<u32> {
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
pub(super) fn squashed_pull_requests(command: &str, output: &str, is_own: impl Fn(&str) -> bool) -> Vec<u32> {
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

/// Returns whether a command line joins or drops commits, so that those made before are not there any more.
pub(super) fn rewrites_history(command: &str) -> bool {
    commands::segments(command).iter().any(|segment| {
        let has = |words: &str| segment.contains(words);
        has("git ") && (has("--squash") || (has("rebase ") && (has(" -i") || has("--autosquash"))))
    })
}

fn split_message(message: &str) -> (String, String) {
    let mut lines = message.lines();
    let subject = lines.next().unwrap_or("").trim().to_owned();
    let trailer = |line: &&str| {
        let lower = line.to_lowercase();
        !(lower.starts_with("co-authored-by:") || lower.starts_with("signed-off-by:") || lower.contains("generated with"))
    };
    let mut body: Vec<&str> = lines.filter(trailer).collect();
    while body.last().is_some_and(|line| line.trim().is_empty() || is_link_or_name(line)) {
        body.pop();
    }
    (subject, text::clip_block(body.join("\n").trim(), 1200).into_owned())
}

/// Returns whether a line is a trailer whose value is an address, a number or a person: "Change-Id: 1a2b", "Acked-by: A <a@b.c>".
fn is_link_or_name(line: &str) -> bool {
    let Some((name, value)) = line.split_once(": ") else { return false };
    let is_name = name.contains('-')
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_name && (!value.trim().contains(' ') || value.trim_end().ends_with('>'))
}

/// What git prints of the size of a change: one line for each file, and the sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stat {
    /// The files: path, lines added and lines removed. The counts are 0 if git only prints their proportion.
    pub files: Vec<(String, u32, u32)>,
    /// The number of files, of lines added and of lines removed.
    pub sums: (u32, u32, u32),
}

/// Returns the largest change of which an output tells the size.
pub(super) fn stat(output: &str) -> Option<Stat> {
    let mut found: Option<Stat> = None;
    let mut files = Vec::new();
    for line in output.lines().map(str::trim) {
        if let Some(sums) = stat_sums(line) {
            let stat = Stat { files: std::mem::take(&mut files), sums };
            if found.as_ref().is_none_or(|known| known.sums < stat.sums || known.files.is_empty() && known.sums == stat.sums)
            {
                found = Some(stat);
            }
        } else if let Some(file) = stat_file(line).filter(|_| files.len() < MAX_STAT_FILES) {
            files.push(file);
        }
    }
    found
}

/// Parses `2 files changed, 12 insertions(+), 3 deletions(-)`, also behind the words of a wrapper.
pub(super) fn stat_sums(line: &str) -> Option<(u32, u32, u32)> {
    let at = line.find(" file changed").or_else(|| line.find(" files changed"))?;
    let number = |text: &str| text.rsplit([' ', ',']).next().and_then(|word| word.parse().ok());
    let before = |sign: &str| line[at..].find(sign).and_then(|end| number(&line[at..at + end])).unwrap_or(0);
    Some((number(&line[..at])?, before(" insertion"), before(" deletion")))
}

/// Parses `src/cart.ts | 12 +++---`. The counts are 0 if git only prints their proportion.
pub(super) fn stat_file(line: &str) -> Option<(String, u32, u32)> {
    let (path, rest) = line.rsplit_once(" | ")?;
    let (count, bar) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let (count, path): (u32, &str) = (count.parse().ok()?, path.trim());
    let is_shortened = path.starts_with("...") || path.contains("=>") || path.contains(' ') || path.is_empty();
    let marks = |mark: char| u32::try_from(bar.matches(mark).count()).unwrap_or(0);
    let (added, removed) = (marks('+'), marks('-'));
    let exact = if added + removed == count { (added, removed) } else { (0, 0) };
    (!is_shortened).then(|| (path.to_owned(), exact.0, exact.1))
}

/// Returns the remote branch to which a command line pushed, as git reports it.
pub(super) fn pushed_branch(command: &str, output: &str) -> Option<String> {
    if !command.contains("push") {
        return None;
    }
    let is_report = |line: &&str| {
        line.starts_with("* [new branch]")
            || line.starts_with("+ ")
            || line.split_once("..").is_some_and(|(hash, _)| hash.len() >= 7 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    let line = output.lines().map(str::trim).filter(is_report).rfind(|line| line.contains(" -> "))?;
    line.split_once(" -> ")?.1.split_whitespace().next().map(str::to_owned)
}

/// Returns the tags that a command line pushed, as git reports them, each with whether it is there now. Others were deleted.
pub(super) fn pushed_tags<'a>(command: &str, output: &'a str) -> impl Iterator<Item = (&'a str, bool)> {
    let is_push = command.contains("push") && !command.contains("--dry-run");
    // Fetching prints the same below "From". `git push | tail -1` may leave nothing but the tag.
    let fetches = text::contains_any(command, &["fetch", "pull"]);
    let is_report = move |line: &str| line.starts_with("To ") || (!fetches && line.trim_start().starts_with("* [new tag]"));
    let pushed = output.lines().skip_while(move |line| !is_push || !is_report(line)).map(str::trim);
    let tags = pushed.filter_map(|line| match line.strip_prefix("* [new tag]") {
        Some(tag) => tag.split_once(" -> ").map(|(tag, _)| (tag.trim(), true)),
        None => line.strip_prefix("- [deleted]").map(|tag| (tag.trim(), false)),
    });
    tags.filter(|(tag, _)| !tag.is_empty() && !tag.contains(char::is_whitespace))
}

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
pub(super) fn leading_number(text: &str) -> Option<u32> {
    text[..text.bytes().take_while(u8::is_ascii_digit).count()].parse().ok()
}

/// Returns the pull request that the output of `gh pr create` names.
pub(super) fn pull_request(command: &str, output: &str) -> Option<String> {
    if !command.contains("gh pr create") {
        return None;
    }
    output.split_whitespace().find(|word| word.starts_with("https://") && word.contains("/pull/")).map(str::to_owned)
}

/// Returns the number of a pull request that a command line gives another title, and the title.
pub(super) fn renamed_pull_request(command: &str, output: &str) -> Option<(u32, String)> {
    let edits = edit_of_pull_request(command)?;
    Some((described_pull_request(command, output)?, pull_request_title(edits)?))
}

/// Returns the number of the pull request that a command line opens or edits.
pub(super) fn described_pull_request(command: &str, output: &str) -> Option<u32> {
    let first = edit_of_pull_request(command).and_then(|edits| edits.split_whitespace().next());
    let number = first.and_then(|word| word.trim_start_matches('#').parse().ok());
    number.or_else(|| output.split_whitespace().find_map(pull_request_number))
}

/// Returns what a command line passes to `gh pr edit`.
fn edit_of_pull_request(command: &str) -> Option<&str> {
    commands::segments(command).into_iter().find_map(|segment| segment.strip_prefix("gh pr edit "))
}

/// Returns the pull request whose state as a draft a command line sets or shows, and whether it is one. A number of zero stands for the one
/// of the branch.
pub(super) fn draft(command: &str, output: &str) -> Option<(u32, bool)> {
    let find = |call: &str| {
        let rest = commands::segments(command).into_iter().find_map(|segment| Some(segment.split_once(call)?.1))?;
        let number = rest.split_whitespace().next().and_then(|word| word.trim_start_matches('#').parse().ok());
        Some((number.unwrap_or_default(), rest))
    };
    if command.contains("gh pr create") {
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

/// Returns the title passed to `gh pr create` or `gh pr edit`.
pub(super) fn pull_request_title(command: &str) -> Option<String> {
    let at = command.find("--title")?;
    let rest = command[at + "--title".len()..].trim_start_matches(['=', ' ']);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    quoted(&rest[1..], quote)
}

/// Returns a text up to the quote that closes it, without the marks before quotes inside of it.
pub(super) fn quoted(text: &str, quote: char) -> Option<String> {
    let mut inner = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quote == '"' => inner.extend(chars.next()),
            c if c == quote => return Some(inner),
            c => inner.push(c),
        }
    }
    (!inner.is_empty()).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_pushed() {
        let output =
            "To https://example.org/shop.git\n * [new tag]         v0.3.0 -> v0.3.0\n   1a2b3c4..2b3c4d5  main -> main\n";
        assert_eq!(pushed_tags("git push --tags", output).collect::<Vec<_>>(), [("v0.3.0", true)]);
        let last = " * [new tag]         v0.3.0 -> v0.3.0\n";
        assert_eq!(pushed_tags("git push --tags 2>&1 | tail -1", last).collect::<Vec<_>>(), [("v0.3.0", true)]);
        assert_eq!(pushed_tags("git pull && git push | tail -1", last).count(), 0);
        let deleted = "To https://example.org/shop.git\n - [deleted]         v0.3.0\n";
        assert_eq!(pushed_tags("git push origin :v0.3.0", deleted).collect::<Vec<_>>(), [("v0.3.0", false)]);
        assert_eq!(pushed_tags("git fetch", output).count(), 0);
    }

    #[test]
    fn another_title_of_a_pull_request() {
        let said = |command: &str, output: &str| renamed_pull_request(command, output);
        let title = Some((7, "Round the totals".to_owned()));
        assert_eq!(said("gh pr edit 7 --title \"Round the totals\" 2>&1", ""), title);
        assert_eq!(said("gh pr edit --title 'Round the totals'", "https://github.com/o/till/pull/7\n"), title);
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
    fn the_output_decides_whether_there_is_a_commit() {
        let command = "git add a && git commit -m \"$(cat <<'EOF'\nFix it\n\nBecause.\n\nCo-Authored-By: X <x@y>\nEOF\n)\"";
        let made_by =
            |output| commits_from(command, output, false).into_iter().map(|commit| commit.subject).collect::<Vec<_>>();
        assert_eq!(made_by("[main 7c7833a] Fix it\n 1 file changed"), ["Fix it"]);
        assert_eq!(made_by("ok ✓"), ["Fix it"]);
        assert!(made_by("ok ✓ 1 file changed\nFAILED: git commit\nhusky - pre-commit script failed (code 1)").is_empty());
        assert!(made_by("On branch main\nnothing to commit, working tree clean").is_empty());
        assert_eq!(commits_from(command, "ok", false)[0].body, "Because.");
    }

    #[test]
    fn a_commit_has_a_hash_and_may_go_past_its_hook() {
        let made = commits_from("git commit -m 'Round totals'", "[main 1a2b3c4] Round totals\n 1 file changed", false);
        assert_eq!(made[0].hash.as_deref(), Some("1a2b3c4"));
        assert_eq!(commits_from("git commit -m 'Round totals'", "ok", false)[0].hash, None);
        assert!(bypasses_hook("git commit -n -m 'x'") && bypasses_hook("HUSKY=0 git commit -m 'x'"));
        assert!(!bypasses_hook("git commit -m 'x' && git log -n 3"));
    }

    #[test]
    fn one_command_line_makes_several_commits() {
        let command = "git add a && git commit -q -m 'Add a' && git add b && git commit -q -m 'Add b'";
        let subjects = |output, is_error| {
            commits_from(command, output, is_error).into_iter().map(|commit| commit.subject).collect::<Vec<_>>()
        };
        assert_eq!(subjects("", false), ["Add a", "Add b"]);
        assert!(subjects("fatal: unable to write", true).is_empty());
        assert_eq!(subjects("[main 1a2b3c4] Add a\n 1 file changed\nerror: nothing added", true), ["Add a"]);
    }

    #[test]
    fn the_size_of_a_commit() {
        let table = " src/cart.ts  | 3 ++-\n src/long.ts | 200 +++---\n .../far/x.ts | 1 +\n 3 files changed, 110 insertions(+), 94 deletions(-)";
        let stat = stat(table).unwrap();
        assert_eq!(stat.files, [("src/cart.ts".to_owned(), 2, 1), ("src/long.ts".to_owned(), 0, 0)]);
        assert_eq!(stat.sums, (3, 110, 94));
        assert_eq!(super::stat("ok ✓ 1 file changed, 40 insertions(+)").unwrap().sums, (1, 40, 0));
        assert_eq!(super::stat("2 files were moved"), None);
    }

    #[test]
    fn a_pushed_branch() {
        let output = "To github.com:o/shop.git\n   1a2b3c4..5d6e7f8  topic/cart -> topic/cart\n";
        assert_eq!(pushed_branch("git push 2>&1", output).unwrap(), "topic/cart");
        let first = "To github.com:o/shop.git\n * [new branch]      cart -> cart\n";
        assert_eq!(
            pushed_branch("git commit -m \"$(cat <<'E'\nx\nE\n)\" && git push -u origin cart", first).unwrap(),
            "cart"
        );
        assert_eq!(pushed_branch("git push", "Everything up-to-date"), None);
        assert_eq!(pushed_branch("git log", output), None);
    }

    #[test]
    fn messages_in_quotes() {
        assert_eq!(message("git commit -m 'Fix it'").unwrap(), "Fix it");
        assert_eq!(message("git commit -am \"Say \\\"hi\\\"\n\nbody\"").unwrap(), "Say \"hi\"\n\nbody");
        assert_eq!(message("git commit --amend --no-edit"), None);
        assert_eq!(message("git commit -qam 'Fix it'").unwrap(), "Fix it");
        assert_eq!(message("git commit --message='Fix it'").unwrap(), "Fix it");
        assert!(commits_from("echo commit", "ok", false).is_empty());
        assert!(commits_from("git log --grep commit -m 'x'", "ok", false).is_empty());
    }

    #[test]
    fn options_before_the_subcommand_are_not_it() {
        for command in ["git -C . commit -m 'Fix it'", "git -c user.name=x -C /tmp/a commit -qm 'Fix it'"] {
            assert_eq!(commits_from(command, "ok", false).len(), 1, "{command}");
        }
        assert!(commits_from("git -C commit log -m 'x'", "ok", false).is_empty());
    }

    #[test]
    fn a_quiet_commit_before_other_commands() {
        let long = format!("{}\n1a2b3c4 (HEAD -> main) Fix it\n5d6e7f8 Older", "12 passed\n".repeat(40));
        let made = commits_from("git -c user.name=\"A B\" commit -m 'Fix it' && git log --oneline -2", &long, false);
        assert_eq!((made[0].subject.as_str(), made[0].hash.as_deref()), ("Fix it", Some("1a2b3c4")));
        let quiet = "pytest && git commit -qm 'Fix it' && git push";
        assert_eq!(commits_from(quiet, &"12 passed\n".repeat(40), false).len(), 1);
        assert!(commits_from(quiet, "error: nothing added to commit", true).is_empty());
        assert!(commits_from("git commit -m 'Fix it'; ls", &"a line\n".repeat(40), false).is_empty());
    }

    #[test]
    fn a_message_that_names_the_command() {
        let command = "git add a && git commit -q -F - <<'EOF'\nGive `git commit` more time\n\nEach git commit may be signed.\nEOF\ngit log --oneline -1";
        let made = commits_from(command, "1a2b3c4 Give `git commit` more time", false);
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].subject, "Give `git commit` more time");
    }

    #[test]
    fn hashes_that_lead_nowhere() {
        for command in
            ["git pull --rebase origin main", "git cherry-pick 1a2b3c4", "git reset -q --hard HEAD~1", "git rebase main"]
        {
            assert!(replaces_hashes(command), "{command}");
        }
        for command in ["git pull", "git rebase --abort", "git reset a.ts", "git log"] {
            assert!(!replaces_hashes(command), "{command}");
        }
        assert_eq!(hash_of("[main 5d6e7f8] Fix it\n 1 file changed", "Fix it").as_deref(), Some("5d6e7f8"));
        assert_eq!(hash_of("5d6e7f8 (HEAD -> main) Fix it", "Fix it").as_deref(), Some("5d6e7f8"));
        assert_eq!(hash_of("5d6e7f8 Fix it twice", "Fix it"), None);
    }

    #[test]
    fn code_and_tables_are_not_joined() {
        let plan = "The total is\nrounded.\n\n```\na\nb\n```\n| a | b |\n| c | d |\n\n## Steps\nRound it.";
        assert_eq!(unwrapped(plan), "The total is rounded.\n\n```\na\nb\n```\n| a | b |\n| c | d |\n\n## Steps\nRound it.");
    }

    #[test]
    fn two_commits_with_here_documents() {
        let command = "git add a && git commit -q -F - <<'EOF' && echo OK\nAdd a\n\nBody.\nEOF\ngit add b && git commit -q -F - <<'EOF'\nAdd b\nEOF\ngit log --oneline -2";
        let made = commits_from(command, "OK\n5d6e7f8 Add b\n1a2b3c4 Add a", false);
        let made: Vec<(&str, Option<&str>)> = made.iter().map(|it| (it.subject.as_str(), it.hash.as_deref())).collect();
        assert_eq!(made, [("Add a", Some("1a2b3c4")), ("Add b", Some("5d6e7f8"))]);
    }

    #[test]
    fn trailers_are_no_part_of_a_body() {
        let body = |message: &str| split_message(message).1;
        let trailers = "Claude-Session: https://example.org/1\nReviewed-by: Ada <ada@example.org>\n";
        assert_eq!(body(&format!("Round totals\n\nThe tax was rounded twice.\n\n{trailers}")), "The tax was rounded twice.");
        assert_eq!(body("Round totals\n\nFollow-up: the tax is rounded twice."), "Follow-up: the tax is rounded twice.");
    }

    #[test]
    fn wrapped_lines_of_a_body_are_joined() {
        let body = "Clear the cache at\nlogin.\n\n- one\n  more\n- two";
        assert_eq!(unwrapped(body), "Clear the cache at login.\n\n- one more\n- two");
        assert_eq!(unwrapped("- name the state (two:\n  open, shut)"), "- name the state (two: open, shut)");
        assert_eq!(unwrapped("H1: wrap the key\nof each slip\nM2: clear it"), "H1: wrap the key of each slip\nM2: clear it");
    }

    #[test]
    fn what_joins_commits_is_recognized() {
        for command in ["git merge --squash topic", "git rebase -i main"] {
            assert!(rewrites_history(command), "{command}");
        }
        for command in ["git reset HEAD src/a.rs", "git rebase main", "git merge topic", "echo --soft"] {
            assert!(!rewrites_history(command), "{command}");
        }
    }

    fn call(command: &str) -> GitCall {
        commands::git_calls_in_root(command).pop().unwrap()
    }

    #[test]
    fn what_a_reset_leaves() {
        let own = ["Add a", "Add b", "Add c"].map(str::to_owned);
        let hashes = [("Add a".to_owned(), "1a2b3c4".to_owned())];
        let left = |command: &str, output: &str| {
            reset(&call(command), output, &own, 0, &hashes).map(|reset| (reset.left, reset.keeps_changes))
        };
        assert_eq!(left("git reset --hard HEAD~1", "HEAD is now at 2b3c4d5 Add b"), Some((2, false)));
        assert_eq!(left("git reset --hard HEAD~1", "HEAD is now at 2b3c4d5 Add a"), Some((1, false)), "others merged");
        assert_eq!(left("git add . && git reset --soft HEAD~2", ""), Some((1, true)));
        assert_eq!(left("git reset HEAD^^", "Unstaged changes after reset:\nM\ta.ts"), Some((1, true)));
        assert_eq!(left("git reset --soft 1a2b3c4d", ""), Some((1, true)));
        for all in ["git reset --soft HEAD~9", "git reset --soft main"] {
            assert_eq!(left(all, ""), Some((0, true)));
        }
        for command in [
            "git reset --hard",
            "git reset HEAD",
            "git reset HEAD~1 a.ts",
            "git reset --hard origin/main",
            "git reset a.ts",
            "git reset --soft HEAD@{1}",
            "git reset --soft ORIG_HEAD",
            "git reset --soft HEAD^1",
            "git reset --soft 9a8b7c6",
        ] {
            assert_eq!(left(command, ""), None, "{command}");
        }
    }

    #[test]
    fn commits_below_those_of_others_are_not_reset() {
        let own = ["Add a", "Add b", "Add c"].map(str::to_owned);
        let left = |command: &str, kept: usize| reset(&call(command), "", &own, kept, &[]).map(|reset| reset.left);
        assert_eq!(left("git reset --hard HEAD~1", 3), None, "a merge lies on top");
        assert_eq!(left("git reset --hard HEAD~2", 1), Some(1));
        assert_eq!(left("git reset --hard HEAD~3", 1), None);
        assert_eq!(left("git reset --soft main", 1), Some(1), "two commits of a branch are joined");
    }

    #[test]
    fn commits_are_brought_back() {
        let dropped = ["Add a".to_owned()];
        for output in [
            "HEAD is now at 1a2b3c4 Add a",
            "[main 1a2b3c4] Reapply \"Add a\"\n 1 file changed",
            "[main 1a2b3c4] Revert \"Revert \"Add a\"\"\n 1 file changed",
        ] {
            assert_eq!(brought_back(output, &dropped), [("Add a".to_owned(), "1a2b3c4".to_owned())], "{output}");
        }
        assert!(brought_back("HEAD is now at 1a2b3c4 Add b", &dropped).is_empty());
    }

    #[test]
    fn what_a_command_does_with_stashes() {
        let put = |is_whole: bool| Stash::Put("main".to_owned(), is_whole);
        let saved = "Saved working directory and index state WIP on main: 1a2b3c4 Add a";
        assert_eq!(stashes("git stash; git stash drop stash@{1}", saved, false), [put(true)]);
        assert_eq!(stashes("git stash push -- other.ts", saved, false), [put(false)]);
        assert_eq!(stashes("git checkout stash@{0} -- a.ts && git stash drop", "", false), [Stash::Copied, Stash::Dropped]);
        assert_eq!(stashes("git stash pop", "Dropped refs/stash@{0}", false), [Stash::Taken]);
        assert_eq!(stashes("git stash apply", "CONFLICT (content): a.ts", true), [Stash::Copied]);
        assert!(stashes("git stash drop", "No stash entries found.", true).is_empty());
        assert!(stashes("git stash list && git -C vendor/till stash drop", "", false).is_empty());
    }

    #[test]
    fn a_branch_keeps_the_commits() {
        for command in [
            "git branch topic",
            "git checkout -b topic",
            "git switch -c topic",
            "git revert HEAD",
            "git merge topic",
            "git pull",
            "git push origin HEAD:refs/heads/tax",
        ] {
            assert!(leaves_branch(&call(command)), "{command}");
        }
        for command in
            ["git branch -D topic", "git branch", "git checkout -- a.ts", "git worktree list", "git push origin main"]
        {
            assert!(!leaves_branch(&call(command)), "{command}");
        }
    }

    #[test]
    fn what_a_revert_undoes() {
        let own = ["Add a", "Add b"].map(str::to_owned);
        let output = "[main 2b3c4d5] Revert \"Add a\"\n 1 file changed, 1 deletion(-)";
        assert_eq!(reverted(&call("git revert --no-edit 1a2b3c4"), output, &own), [(0, &own[0])]);
        assert!(reverted(&call("git log"), output, &own).is_empty());
        assert!(reverted(&call("git revert --abort"), "", &own).is_empty());
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
    fn pull_requests() {
        let command = "gh pr create --title \"Add x\" --body y";
        assert_eq!(pull_request(command, "https://github.com/o/r/pull/7\n").unwrap(), "https://github.com/o/r/pull/7");
        assert_eq!(pull_request_title(command).unwrap(), "Add x");
        let quotes = "gh pr create --title \"Say \\\"hi\\\" once\" --body y";
        assert_eq!(pull_request_title(quotes).unwrap(), "Say \"hi\" once");
    }
}
