//! Which commits of a session git made anew under another hash, so that the hash that the agent told leads nowhere.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::commands;
use super::commits;
use crate::bindings::throughline::policy::types::SessionNotes;
use crate::text;

/// The maximum number of commits to keep. The oldest is dropped first.
const MAX_COMMITS: usize = 80;
/// The maximum length of a subject, in bytes.
const MAX_SUBJECT_BYTES: usize = 180;
/// How often a commit may be made anew at most for its last hash to be found.
const MAX_STEPS: usize = 20;

/// The branch that git names while it makes commits anew.
const DETACHED: &str = "detached HEAD";

/// A commit, as git printed it when it was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Made {
    hash: String,
    subject: String,
    branch: String,
    is_pushed: bool,
    /// Whether the branch has it no more.
    is_gone: bool,
    /// The hash under which it was made anew. Empty if git did not print it.
    anew: String,
}

/// The commits of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Rewritten {
    made: Vec<Made>,
    /// The commits that stand behind another one, the latest of the branch, in what git listed since the last commit was made.
    behind: Vec<String>,
}

impl Rewritten {
    /// Takes what git printed for a command line.
    pub(super) fn command_ran(&mut self, command: &str, output: &str) {
        let calls = commands::git_calls(command);
        if calls.is_empty() {
            return;
        }
        let amends = command.contains("--amend");
        let pulls = calls.iter().any(|(subcommand, _)| subcommand == "pull");
        let lists = calls.iter().any(|(subcommand, arguments)| subcommand == "log" && is_of_branch(arguments));
        if calls.iter().any(|(subcommand, _)| !is_look(subcommand)) {
            self.behind.clear();
        }
        let filters = calls.iter().any(|(subcommand, _)| matches!(subcommand.as_str(), "filter-repo" | "filter-branch"));
        let is_filtered = filters && text::contains_any(output, &["New history written", "was rewritten"]);
        if is_filtered {
            self.made.iter_mut().for_each(|it| it.is_gone = true);
        }
        for line in output.lines().map(str::trim) {
            let head = line.split_once("HEAD is now at ").filter(|_| is_filtered).and_then(|(_, head)| head.split_once(' '));
            if let Some((hash, subject)) = head {
                self.listed(hash, subject);
            } else if let Some((branch, hash, subject)) = commits::parse_commit_line(line) {
                self.made(branch, hash, &subject, amends);
            } else if let Some((_, branch)) = line.rsplit_once("rebased and updated refs/heads/") {
                self.rebased(branch.trim_end_matches('.'), pulls);
            } else if let Some((hash, subject)) = line.split_once(' ').filter(|(hash, _)| lists && commits::is_hash(hash)) {
                self.listed(hash, subject);
            } else if line.contains(" -> ") {
                self.pushed(line);
            }
        }
        if lists {
            let hashes =
                output.lines().filter_map(|line| line.split_whitespace().next()).filter(|word| commits::is_hash(word));
            self.behind = hashes.skip(1).take(MAX_COMMITS).map(str::to_owned).collect();
        }
    }

    fn made(&mut self, branch: String, hash: String, subject: &str, amends: bool) {
        let subject = text::clip(subject, MAX_SUBJECT_BYTES).into_owned();
        // On another branch the same commit may stand beside the first one.
        let is_before = |it: &Made| !it.is_gone && it.hash != hash && (it.branch == branch || branch == DETACHED);
        let of_subject = self.made.iter().rposition(|it| is_before(it) && it.subject == subject);
        // Which commit a rebase stops at to be amended, nobody knows without its subject.
        let latest = || {
            let at = self.made.iter().rposition(is_before).filter(|_| amends && branch != DETACHED);
            at.filter(|at| !self.is_behind_head(&self.made[*at].hash))
        };
        if let Some(at) = of_subject.or_else(latest) {
            (self.made[at].is_gone, self.made[at].anew) = (true, hash.clone());
        }
        self.behind.clear();
        self.made.push(Made { hash, subject, branch, ..Made::default() });
        let extra = self.made.len().saturating_sub(MAX_COMMITS);
        self.made.drain(..extra);
    }

    /// Returns whether git printed another commit as the latest of the branch, so that an amendment does not replace this one.
    pub(super) fn is_behind_head(&self, hash: &str) -> bool {
        !hash.is_empty() && self.behind.iter().any(|behind| is_same(behind, hash))
    }

    /// Records that git put the commits of a branch upon others. A pull leaves those that were pushed as they are.
    fn rebased(&mut self, branch: &str, pulls: bool) {
        for commit in &mut self.made {
            if commit.branch == DETACHED {
                branch.clone_into(&mut commit.branch);
            } else if commit.branch == branch && !(pulls && commit.is_pushed) {
                commit.is_gone = true;
            }
        }
    }

    /// Records a commit that the branch has.
    fn listed(&mut self, hash: &str, subject: &str) {
        let subject = subject.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(subject, |(_, rest)| rest);
        if let Some(known) = self.made.iter_mut().find(|it| is_same(&it.hash, hash)) {
            known.is_gone = false;
            return;
        }
        for commit in self.made.iter_mut().filter(|it| it.is_gone && it.anew.is_empty() && it.subject == subject) {
            hash.clone_into(&mut commit.anew);
        }
    }

    /// Records a line of a push: `1a2b3c4..5d6e7f8  cart -> cart`, or `+ 1a2b3c4...5d6e7f8 cart -> cart (forced update)`.
    fn pushed(&mut self, line: &str) {
        let Some((commits, branch)) = line.split_once(" -> ") else { return };
        let (Some(range), Some(branch)) =
            (commits.split_whitespace().find(|word| word.contains("..")), branch.split_whitespace().next())
        else {
            return;
        };
        if let Some((old, new)) = range.split_once("...").filter(|(_, new)| line.starts_with('+') && commits::is_hash(new))
            && let Some(known) = self.made.iter_mut().find(|it| it.is_gone && it.anew.is_empty() && is_same(&it.hash, old))
        {
            new.clone_into(&mut known.anew);
        }
        self.made.iter_mut().filter(|it| it.branch == branch).for_each(|it| it.is_pushed = true);
    }

    /// Returns the text with the hashes under which its commits stand now. One that git did not print is left out.
    pub(super) fn told<'a>(&self, said: &'a str) -> Cow<'a, str> {
        if !self.made.iter().any(|it| it.is_gone) {
            return said.into();
        }
        let mut told = String::new();
        let mut rest = said;
        while let Some((start, end)) = next_hash(rest) {
            let gone = self.made.iter().find(|it| it.is_gone && is_same(&it.hash, &rest[start..end]));
            let Some(commit) = gone else {
                told.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            };
            told.push_str(&rest[..start]);
            let behind = &rest[end..];
            rest = if let Some(hash) = self.last_hash(commit) {
                told.push_str(&hash[..hash.len().min(end - start)]);
                behind
            } else {
                without_hash(&mut told, behind, &commit.subject)
            };
        }
        if told.is_empty() { said.into() } else { (told + rest).into() }
    }

    /// Returns the hash under which a commit stands at last. `None` if nobody knows it.
    fn last_hash<'a>(&'a self, commit: &'a Made) -> Option<&'a str> {
        let mut hash = commit.anew.as_str();
        for _ in 0..MAX_STEPS {
            match self.made.iter().find(|it| !hash.is_empty() && is_same(&it.hash, hash)) {
                Some(later) if later.is_gone => hash = &later.anew,
                _ => break,
            }
        }
        (!hash.is_empty()).then_some(hash)
    }

    /// Returns the notes of a session with the hashes under which its commits stand now.
    pub(super) fn corrected(&self, mut notes: SessionNotes) -> SessionNotes {
        if !self.made.iter().any(|it| it.is_gone) {
            return notes;
        }
        let correct = |said: &mut String| {
            if let Cow::Owned(told) = self.told(said) {
                *said = told;
            }
        };
        correct(&mut notes.outcome);
        notes.done.iter_mut().chain(&mut notes.pending).chain(&mut notes.learnings).for_each(correct);
        notes.decisions.iter_mut().for_each(|it| [&mut it.what, &mut it.why].into_iter().for_each(correct));
        notes.discoveries.iter_mut().for_each(|it| correct(&mut it.insight));
        notes.attributes.iter_mut().filter(|(name, _)| name == "course").for_each(|(_, lines)| correct(lines));
        notes
    }
}

/// Returns whether `git log` with these arguments lists the commits of the branch that is checked out.
fn is_of_branch(arguments: &[String]) -> bool {
    let is_other = |word: &String| matches!(word.as_str(), "--all" | "-g" | "--walk-reflogs" | "--branches" | "--reflog");
    let names = arguments.iter().take_while(|word| *word != "--").filter(|word| !word.starts_with('-'));
    !arguments.iter().any(is_other) && names.clone().all(|name| name.ends_with("..HEAD") || name.parse::<u32>().is_ok())
}

/// Returns whether a call of git leaves the commits of the branch as they are, or adds one, of which git prints a line.
fn is_look(subcommand: &str) -> bool {
    matches!(subcommand, "log" | "status" | "diff" | "show" | "add" | "commit" | "remote" | "fetch" | "push" | "rev-parse")
}

fn is_same(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Returns where the next word is that looks like a hash.
fn next_hash(text: &str) -> Option<(usize, usize)> {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/');
    let mut start = 0;
    for word in text.split_inclusive(|c: char| !is_of_word(c)) {
        let own = word.trim_end_matches(|c: char| !is_of_word(c));
        if commits::is_hash(own) {
            return Some((start, start + own.len()));
        }
        start += word.len();
    }
    None
}

/// Takes a hash out of a text, of which `told` stands before it and `rest` behind it. Where that leaves a gap, the subject of the commit
/// stands in its place. Returns what is left of the rest.
fn without_hash<'a>(told: &mut String, rest: &'a str, subject: &str) -> &'a str {
    let is_quoted = told.ends_with('`') && rest.starts_with('`');
    if is_quoted {
        told.pop();
    }
    let rest = if is_quoted { &rest[1..] } else { rest };
    // The subject may stand behind it.
    let behind = rest.trim_start_matches([' ', '-', '—', ':', '"']);
    if behind.starts_with(subject) {
        return if rest.starts_with(" \"") { &rest[1..] } else { behind };
    }
    if told.ends_with('(') && rest.starts_with(')') {
        told.truncate(told.trim_end_matches([' ', '(']).len());
        return &rest[1..];
    }
    let ends_clause = rest.is_empty() || rest.starts_with([',', '.', ';', ':', ')']);
    let prepositions = [" in commit ", " as commit ", " as ", " in ", " at "];
    if let Some(preposition) = prepositions.iter().find(|it| ends_clause && told.ends_with(*it)) {
        told.truncate(told.len() - preposition.len());
    } else {
        told.push('"');
        told.push_str(subject);
        told.push('"');
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed(rewritten: &mut Rewritten, hash: &str, subject: &str) {
        rewritten.command_ran("git commit -m x", &format!("[cart {hash}] {subject}\n 1 file changed"));
    }

    #[test]
    fn an_amended_commit_has_another_hash() {
        let mut rewritten = Rewritten::default();
        committed(&mut rewritten, "1a2b3c4d", "Round the total");
        let said = "Committed as `1a2b3c4`, and 5d6e7f8 is of somebody else.";
        assert!(matches!(rewritten.told(said), Cow::Borrowed(_)));
        rewritten.command_ran("git commit --amend --no-edit", "[cart 2b3c4d5e] Round all totals");
        rewritten.command_ran("git commit --amend --no-edit", "[cart 3c4d5e6f] Round all totals");
        assert_eq!(rewritten.told(said), "Committed as `3c4d5e6`, and 5d6e7f8 is of somebody else.");
    }

    #[test]
    fn what_a_rebase_made_anew_is_told_without_its_old_hash() {
        let mut rewritten = Rewritten::default();
        committed(&mut rewritten, "1a2b3c4", "Round the total");
        committed(&mut rewritten, "5d6e7f8", "Print the slip");
        let told = |rewritten: &Rewritten, said: &str| rewritten.told(said).into_owned();
        rewritten.command_ran("git rebase main", "Successfully rebased and updated refs/heads/cart.");
        for (said, expected) in [
            ("Fixed in `1a2b3c4`, replied", "Fixed, replied"),
            ("The total (`1a2b3c4`) is round; the slip in commit 5d6e7f8.", "The total is round; the slip."),
            ("`1a2b3c4` - Round the total; 5d6e7f8 Print the slip", "Round the total; Print the slip"),
            ("committed as 1a2b3c4 \"Round the total\".", "committed as \"Round the total\"."),
            ("Commit `1a2b3c4` rounds it", "Commit \"Round the total\" rounds it"),
            ("see /shop/1a2b3c4 and 1a2b3c4-till", "see /shop/1a2b3c4 and 1a2b3c4-till"),
        ] {
            assert_eq!(told(&rewritten, said), expected);
        }
        rewritten.command_ran("git log --oneline -2", "7a8b9c0 (HEAD -> cart) Print the slip\n6f7a8b9 Round the total");
        assert_eq!(told(&rewritten, "Fixed in `1a2b3c4` and 5d6e7f8."), "Fixed in `6f7a8b9` and 7a8b9c0.");
        rewritten.command_ran("git log --oneline -1", "1a2b3c4 Round the total");
        assert_eq!(told(&rewritten, "Fixed in 1a2b3c4"), "Fixed in 1a2b3c4", "the branch was put back");
    }

    #[test]
    fn a_rebase_may_print_the_new_hashes() {
        let mut rewritten = Rewritten::default();
        committed(&mut rewritten, "1a2b3c4", "Round the total");
        rewritten.command_ran("git push", "   0a1b2c3..1a2b3c4  cart -> cart");
        committed(&mut rewritten, "5d6e7f8", "Print the slip");
        let printed = "[detached HEAD 7a8b9c0] Print the slip\nSuccessfully rebased and updated refs/heads/cart.";
        rewritten.command_ran("git pull --rebase && git rebase --continue", printed);
        let said = "1a2b3c4 and 5d6e7f8 and 7a8b9c0";
        assert_eq!(rewritten.told(said), "1a2b3c4 and 7a8b9c0 and 7a8b9c0", "a pull leaves what was pushed");
        rewritten.command_ran("git rebase main", "Successfully rebased and updated refs/heads/cart.");
        rewritten.command_ran("git commit --amend -m x", "[detached HEAD 0c1d2e3] Count the coins");
        rewritten.command_ran("git push -f", " + 7a8b9c0...9c0d1e2 cart -> cart (forced update)");
        assert_eq!(rewritten.told("5d6e7f8"), "9c0d1e2");
    }

    #[test]
    fn what_a_filter_made_anew_has_another_hash() {
        let mut rewritten = Rewritten::default();
        committed(&mut rewritten, "1a2b3c4", "Round the total");
        committed(&mut rewritten, "5d6e7f8", "Print the slip");
        let printed = "Parsed 2 commitsHEAD is now at 7a8b9c0 Print the slip\n\nNew history written in 0.04 seconds...";
        rewritten.command_ran("git filter-repo --path drawer --invert-paths --force", printed);
        assert_eq!(
            rewritten.told("Committed as 5d6e7f8; the total (1a2b3c4) is round."),
            "Committed as 7a8b9c0; the total is round."
        );
        rewritten.command_ran("git log --oneline HEAD~2..HEAD", "7a8b9c0 Print the slip\n6f7a8b9 Round the total");
        assert_eq!(rewritten.told("5d6e7f8 and 1a2b3c4"), "7a8b9c0 and 6f7a8b9");
    }

    #[test]
    fn an_amendment_leaves_a_commit_behind_the_latest() {
        let mut rewritten = Rewritten::default();
        committed(&mut rewritten, "1a2b3c4", "Round the total");
        rewritten.command_ran("git log --oneline -2", "5d6e7f8 saved by the hook\n1a2b3c4 Round the total");
        assert!(rewritten.is_behind_head("1a2b3c4d") && !rewritten.is_behind_head("5d6e7f8"));
        rewritten.command_ran("git commit --amend -m x", "[cart 7a8b9c0] Print the slip");
        assert_eq!(rewritten.told("1a2b3c4"), "1a2b3c4");
        assert!(!rewritten.is_behind_head("1a2b3c4"), "it is not known any more which is the latest");
        rewritten.command_ran("git commit --amend -m x", "[cart 8b9c0d1] Print the long slip");
        assert_eq!(rewritten.told("7a8b9c0"), "8b9c0d1");
    }

    #[test]
    fn a_commit_on_another_branch_stands_beside_the_first() {
        let mut rewritten = Rewritten::default();
        committed(&mut rewritten, "1a2b3c4", "Round the total");
        rewritten.command_ran("git cherry-pick 1a2b3c4", "[fixes 5d6e7f8] Round the total");
        rewritten.command_ran("git log --oneline --all", "5d6e7f8 Round the total");
        assert_eq!(rewritten.told("1a2b3c4"), "1a2b3c4");
    }
}
