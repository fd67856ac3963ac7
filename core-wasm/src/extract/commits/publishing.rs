//! The branches and tags that were pushed.

use crate::extract::commands::{self, GitCall};
use crate::text;

/// Returns the remote branch to which a command line pushed, as git reports it.
pub(in crate::extract) fn pushed_branch(command: &str, output: &str) -> Option<String> {
    pushed_branches(command, output).pop()
}

/// Returns the remote branches to which a command line pushed, as git reports it.
pub(in crate::extract) fn pushed_branches(command: &str, output: &str) -> Vec<String> {
    let mut calls = push_calls(command).peekable();
    if !command.contains("push") || (calls.peek().is_some() && !calls.any(|call| pushes_branch(&call.arguments))) {
        return Vec::new();
    }
    let is_hash = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_report = |line: &str| {
        let range = line.strip_prefix("+ ").unwrap_or(line);
        line.starts_with("* [new branch]") || range.split_once("..").is_some_and(|(hash, _)| is_hash(hash))
    };
    // Below "To " stands what was pushed, below "From " what was fetched. The end of an output may have neither.
    let mut is_below_to = None;
    let mut branches = Vec::new();
    for line in output.lines().map(str::trim) {
        if line.starts_with("To ") || line.starts_with("From ") {
            is_below_to = Some(line.starts_with("To "));
        }
        let Some((before, after)) = line.split_once(" -> ").filter(|_| is_report(line)) else { continue };
        let (source, target) = (before.split_whitespace().next_back(), after.split_whitespace().next());
        let (Some(source), Some(target)) = (source, target) else { continue };
        // `main -> origin/main` is what was fetched. Notes and other references are no branch.
        if is_below_to.unwrap_or_else(|| !target.ends_with(&format!("/{source}"))) && !is_beside_branches(target) {
            branches.push(target.to_owned());
        }
    }
    branches
}

/// Returns whether a command line pushes only in folders outside of the project, which may be other repositories.
pub(in crate::extract) fn pushes_elsewhere(command: &str) -> bool {
    let mut calls = push_calls(command).peekable();
    calls.peek().is_some() && calls.all(|call| call.is_outside())
}

/// Returns the calls of `git push` on a command line.
fn push_calls(command: &str) -> impl Iterator<Item = GitCall> {
    commands::git_calls_anywhere(command).into_iter().filter(|call| call.subcommand == "push")
}

/// Returns the remote branches that a command line deleted, as git or `gh` reports it.
pub(in crate::extract) fn deleted_branches<'a>(command: &str, output: &'a str) -> impl Iterator<Item = &'a str> {
    let (pushes, merges) = (command.contains("push"), command.contains("gh pr "));
    output.lines().map(str::trim).filter_map(move |line| match line.strip_prefix("- [deleted]") {
        Some(name) => Some(name.trim()).filter(|_| pushes),
        None => line.split_once("eleted remote branch ").map(|(_, name)| name.trim()).filter(|_| merges),
    })
}

/// Returns the remote branch that a quiet push names, of which git printed nothing. Empty if the push names no branch, `None` if there is no
/// such push.
pub(in crate::extract) fn quiet_push(command: &str, output: &str) -> Option<String> {
    const REPORTS: [&str; 5] = ["Everything up-to-date", " -> ", "[rejected]", "error:", "fatal:"];
    if !command.contains("push") || text::contains_any(output, &REPORTS) {
        return None;
    }
    let push = commands::segments(command).into_iter().rfind(|segment| is_push(segment))?;
    let call = commands::git_calls_anywhere(push).into_iter().rfind(|call| call.subcommand == "push")?;
    let named = call.arguments.iter().filter(|word| !word.starts_with('-')).nth(1);
    let branch = named.map(|word| word.rsplit(':').next().unwrap_or(word).trim_start_matches('+'));
    let branch = branch.map(|branch| branch.strip_prefix("refs/heads/").unwrap_or(branch));
    Some(branch.filter(|branch| *branch != "HEAD" && !branch.contains('$')).unwrap_or_default().to_owned())
}

/// Returns whether a reference is neither a branch nor a short name: `refs/notes/commits`.
fn is_beside_branches(reference: &str) -> bool {
    reference.strip_prefix("refs/").is_some_and(|rest| !rest.starts_with("heads/"))
}

/// Returns the tags that a command line pushed, as git reports them, each with whether it is there now. Others were deleted.
pub(in crate::extract) fn pushed_tags<'a>(command: &str, output: &'a str) -> impl Iterator<Item = (&'a str, bool)> {
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

/// Returns whether a command of a line pushes a branch. Words of the shell may stand before it, and another subcommand may have a message that
/// speaks of pushing.
pub(in crate::extract) fn is_push(segment: &str) -> bool {
    if let Some(script) = script_of_shell(segment) {
        return commands::segments(script).iter().any(|segment| calls_push(segment));
    }
    calls_push(segment)
}

fn calls_push(segment: &str) -> bool {
    let is_start = |at: &usize| segment[..*at].chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(');
    let start = segment.match_indices("git ").map(|(at, _)| at).find(is_start);
    let call = start.and_then(|at| commands::git_calls_anywhere(&segment[at..]).into_iter().next());
    call.is_some_and(|call| call.subcommand.trim_end_matches(')') == "push" && pushes_branch(&call.arguments))
}

/// Returns whether a push with these words pushes a branch. It does not if it pushes only notes or tags, deletes something or is a dry run.
fn pushes_branch(words: &[String]) -> bool {
    let pushes_none = words.iter().any(|word| matches!(word.as_str(), "--delete" | "-d" | "--dry-run" | "-n"));
    let mut named = words.iter().filter(|word| !word.starts_with('-')).skip(1).peekable();
    let is_branch = |word: &String| !is_beside_branches(word.trim_start_matches('+')) && !word.starts_with(':');
    let is_any = if named.peek().is_none() { !words.iter().any(|word| word == "--tags") } else { named.any(is_branch) };
    is_any && !pushes_none
}

/// Returns what a shell is told to run: `sh -c "git push"`.
fn script_of_shell(segment: &str) -> Option<&str> {
    let rest = ["sh -c ", "sh -lc "].iter().find_map(|call| segment.split_once(call)).map(|(_, rest)| rest.trim_start())?;
    let mark = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let script = &rest[1..];
    Some(script.find(mark).map_or(script, |end| &script[..end]))
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
    fn a_pushed_branch() {
        let output = "To github.com:o/shop.git\n   1a2b3c4..5d6e7f8  topic/cart -> topic/cart\n";
        assert_eq!(pushed_branch("git push 2>&1", output).unwrap(), "topic/cart");
        let first = "To github.com:o/shop.git\n * [new branch]      cart -> cart\n";
        assert_eq!(
            pushed_branch("git commit -m \"$(cat <<'E'\nx\nE\n)\" && git push -u origin cart", first).unwrap(),
            "cart"
        );
        let notes = "To github.com:o/shop.git\n   1a2b3c4..5d6e7f8  refs/notes/till -> refs/notes/till\n";
        assert_eq!(pushed_branch("git push origin refs/notes/till", notes), None);
        assert_eq!(pushed_branch("git push", "Everything up-to-date"), None);
        let renamed = "To hub:o/till\n * [new branch]      till -> ann/till";
        assert_eq!(pushed_branch("git push origin till:ann/till", renamed).unwrap(), "ann/till");
        let shown = "To hub:o/till\n   1a2b3c4..2b3c4d5  main -> main\n+ fn count(coins) -> total {";
        assert_eq!(pushed_branches("git push && git show -p", shown), ["main"]);
        let forced = "From hub:o/till\n + 1a2b3c4...2b3c4d5  lamp -> origin/lamp  (forced update)\n\
                      To hub:o/till\n + 1a2b3c4...2b3c4d5  main -> main  (forced update)";
        assert_eq!(pushed_branches("git pull; git push -f", forced), ["main"]);
        assert_eq!(pushed_branch("git push --dry-run", output), None);
        assert!(pushes_elsewhere("git -C ../docs push") && !pushes_elsewhere("cd till && git push"));
        assert_eq!(pushed_branch("git log", output), None);
    }

    #[test]
    fn branches_that_were_deleted() {
        let output = "To github.com:o/shop.git\n - [deleted]         cart\n - [deleted]         till\n";
        assert_eq!(deleted_branches("git push origin --delete cart till", output).collect::<Vec<_>>(), ["cart", "till"]);
        assert_eq!(deleted_branches("git fetch --prune", output).count(), 0);
        let merged = "✓ Merged pull request #7 (Open the drawer)\n✓ Deleted remote branch cart\n";
        assert_eq!(deleted_branches("gh pr merge 7 --delete-branch", merged).collect::<Vec<_>>(), ["cart"]);
    }

    #[test]
    fn a_quiet_push_names_its_branch() {
        assert_eq!(quiet_push("git add . && git push -q origin cart", "").unwrap(), "cart");
        assert_eq!(quiet_push("git push -q origin till:cart", "done").unwrap(), "cart");
        assert_eq!(quiet_push("git push -q", "").unwrap(), "");
        for none in ["git push origin refs/notes/till", "git log", "git push --dry-run"] {
            assert_eq!(quiet_push(none, ""), None, "{none}");
        }
        assert_eq!(quiet_push("git push origin cart", "Everything up-to-date"), None);
    }

    #[test]
    fn a_push_is_no_word_of_pushing() {
        for other in ["sh -c 'git add . && git commit -m x'", "git log -S 'git push'"] {
            assert!(!is_push(other), "{other}");
        }
        for other in
            ["git push origin refs/notes/till", "git push origin --delete cart", "git push origin :cart", "git push --tags"]
        {
            assert!(!is_push(other), "{other}");
        }
        for push in ["bash -lc \"git add . && git push\"", "sh -c 'git push origin main'", "git push)"] {
            assert!(is_push(push), "{push}");
        }
    }
}
