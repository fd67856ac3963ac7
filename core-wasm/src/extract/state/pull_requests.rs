//! Pull requests that were opened, renamed or merged.

use super::State;
use super::committing::MAX_COMMITS;
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::commits;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::planned;
use crate::extract::tool_uses::ToolUse;
use crate::said_by::SaidBy;
use crate::text;

impl State {
    /// Returns whether there is a pull request, the session's own or the only one that it handled, that is not known to be merged.
    pub(in crate::extract) fn has_open_pull_request(&self) -> bool {
        self.known_pull_request().is_some_and(|number| !self.merged.contains(&number) && !self.closed.contains(&number))
    }

    /// Returns the pull request of the session if the user asked to merge it and none is known to be merged.
    pub(in crate::extract) fn unmerged_pull_request(&self) -> Option<u32> {
        let asks = || self.results.turns().iter().any(|turn| asks_merge(&turn.asked.to_lowercase()));
        self.known_pull_request().filter(|_| self.merged.is_empty() && asks())
    }

    /// Records the pull request that a command opened or described.
    pub(super) fn pull_request_written(&mut self, tool_use: &ToolUse, output: &str, failed: bool, settled: &mut Vec<Draft>) {
        let command = tool_use.what.as_str();
        if let Some(url) = commits::pull_request(command, output) {
            let title = commits::pull_request_title(command).unwrap_or_default();
            self.record_pull_request(&url, &title, &tool_use.source, settled);
        }
        if let Some((number, title)) = commits::renamed_pull_request(command, output).filter(|_| !failed) {
            self.rename_pull_request(number, &title, &tool_use.source, settled);
        }
        if !failed && (commits::edits_pull_request(command) || text::contains_any(command, &commits::OPENS)) {
            let number = commits::described_pull_request(command, output);
            self.undone.pull_request_described(command, number);
            if planned::ticks_checks(command) {
                self.tasks.checks_passed();
            }
        }
    }

    /// Records what a tool of a tracker's server did to a pull request or an issue.
    pub(super) fn tracker_answered(&mut self, tool_use: &ToolUse, output: &str, settled: &mut Vec<Draft>) {
        let Some(tracked) = tool_use.tracked.as_deref() else { return };
        let name = tool_use.name.to_lowercase();
        let verb = name.rsplit("__").next().unwrap_or_default();
        if verb.contains("issue") {
            self.references.issue_filed(verb, &tracked.title, output, self.turns);
        } else if opens(verb) {
            let Some(url) = commits::address(&clean::clean(output)) else { return };
            self.record_pull_request(&url, &tracked.title, &tool_use.source, settled);
            let number = commits::pull_request_number(&url);
            self.undone.pull_request_described(&tracked.body, number);
            if let (Some(number), Some(true)) = (number, tracked.is_draft) {
                self.draft_is(number, true);
            }
        } else if verb.starts_with("merge") || verb.starts_with("accept") {
            let output = output.replace('\\', "").replace(": ", ":");
            let is_merged = text::contains_any(&output, &["\"merged\":true", "\"state\":\"merged\"", "successfully merged"]);
            if is_merged && tracked.number > 0 {
                self.pull_request_merged(tracked.number);
            }
        } else if (verb.starts_with("update") || verb.starts_with("edit")) && tracked.number > 0 {
            if !tracked.title.is_empty() {
                self.rename_pull_request(tracked.number, &tracked.title, &tool_use.source, settled);
            }
            if let Some(is_draft) = tracked.is_draft {
                self.draft_is(tracked.number, is_draft);
            }
            if tracked.is_closed || tracked.is_opened {
                self.pull_request_closed(tracked.number, tracked.is_closed);
            }
        }
    }

    /// Records that a pull request was closed without a merge, or opened again.
    fn pull_request_closed(&mut self, number: u32, is_closed: bool) {
        self.closed.retain(|known| *known != number);
        self.closed.extend(is_closed.then_some(number));
        let extra = self.closed.len().saturating_sub(MAX_COMMITS);
        self.closed.drain(..extra);
    }

    /// Records whether a pull request is a draft, if a command line made it one, made it ready for review, or shows it.
    pub(super) fn draft_seen(&mut self, command: &str, output: &str) {
        let Some((number, is_draft)) = commits::draft(command, output) else { return };
        let number = if number == 0 { self.known_pull_request() } else { Some(number) };
        if let Some(number) = number {
            self.draft_is(number, is_draft);
        }
    }

    fn draft_is(&mut self, number: u32, is_draft: bool) {
        self.drafts.retain(|known| *known != number);
        self.drafts.extend(is_draft.then_some(number));
        let extra = self.drafts.len().saturating_sub(MAX_COMMITS);
        self.drafts.drain(..extra);
    }

    /// Returns the session's latest pull request, or else the only one that it handled.
    fn known_pull_request(&self) -> Option<u32> {
        let own = self.commits.iter().filter_map(|commit| commits::pull_request_number(commit)).next_back();
        own.or(self.references.only_pull_request())
    }

    /// Records which pull requests a command merged, or shows as merged.
    pub(super) fn pull_requests_merged(&mut self, command: &str, output: &str, failed: bool) {
        if failed || !text::contains_any(command, &["gh pr", "gh api", "glab mr", "git "]) {
            return;
        }
        let is_own = |subject: &str| self.commits.iter().any(|commit| commit == subject);
        let mut listed = commits::squashed_pull_requests(command, output, is_own);
        listed.extend(commits::listed_as_merged(command, output));
        // A number in a log may be an issue's, and most of a list are those of others.
        listed.retain(|number| self.commits.iter().any(|commit| commits::pull_request_number(commit) == Some(*number)));
        let named = commits::merged_pull_requests(command, output);
        let own = self.known_pull_request().filter(|_| named.is_empty() && commits::merges_own(command));
        for number in named.into_iter().chain(listed).chain(own) {
            self.pull_request_merged(number);
        }
        for (number, is_closed) in commits::closed_pull_requests(command) {
            self.pull_request_closed(number, is_closed);
        }
    }

    /// Records that a pull request is merged.
    pub(super) fn pull_request_merged(&mut self, number: u32) {
        self.open_points.pull_request_merged(number);
        self.undone.pull_request_merged(number);
        self.evidence.merged();
        self.turn.merged = true;
        self.merged.retain(|known| *known != number);
        self.merged.push(number);
        let extra = self.merged.len().saturating_sub(MAX_COMMITS);
        self.merged.drain(..extra);
    }

    pub(super) fn record_pull_request(&mut self, url: &str, title: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        self.open_points.pull_request_opened();
        let line = if title.is_empty() { url.to_owned() } else { format!("{title} ({url})") };
        // The client names the address before the result of the command that gave the title.
        match self.commits.iter_mut().find(|known| known.contains(url)) {
            Some(known) if known == url => known.clone_from(&line),
            Some(_) => return,
            None => self.commits.push(line.clone()),
        }
        self.remember_pull_request(url, line, source, settled);
    }

    /// Gives a pull request of the session another title.
    fn rename_pull_request(&mut self, number: u32, title: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let is_of = |known: &&mut String| commits::pull_request_number(known) == Some(number);
        let Some(known) = self.commits.iter_mut().find(is_of) else { return };
        let Some(url) = known.split([' ', '(', ')']).find(|word| word.starts_with("https://")).map(str::to_owned) else {
            return;
        };
        let line = format!("{title} ({url})");
        known.clone_from(&line);
        self.remember_pull_request(&url, line, source, settled);
    }

    fn remember_pull_request(&mut self, url: &str, line: String, source: &LineRef, settled: &mut Vec<Draft>) {
        let memory = SessionMemory {
            key: format!("pr:{url}"),
            kind: "commit".to_owned(),
            title: line,
            importance: 50,
            source: source.clone(),
            said_by: SaidBy::Tool,
            ..SessionMemory::default()
        };
        self.memories.add(memory, settled);
    }
}

/// Returns whether a server's tool opens a pull request, by its name in lower case. Others create reviews and comments of one.
fn opens(verb: &str) -> bool {
    const NAMES: [&str; 5] = ["pull_request", "pullrequest", "pull-request", "merge_request", "mergerequest"];
    verb.strip_prefix("create").is_some_and(|name| NAMES.contains(&name.trim_start_matches(['_', '-'])))
}

/// Returns whether a prompt in lower case asks to merge a pull request. To merge another branch into it is something else.
fn asks_merge(lower: &str) -> bool {
    const SIGNS: [&str; 15] = [
        "merge it",
        "get it merged",
        "get this merged",
        "get that merged",
        "merge this pr",
        "merge the pr",
        "merge that pr",
        "merge when",
        "merge once",
        "merge after",
        "머지해",
        "병합해",
        "マージして",
        "合并它",
        "合并这个",
    ];
    const OTHERS: [&str; 13] = [
        "into",
        "merge main",
        "merge master",
        "merge origin",
        "merge conflict",
        "merge conflicts",
        "conflict",
        "merge request",
        "don't merge",
        "do not merge",
        "before",
        "until",
        "if i",
    ];
    let said = |sentence: &str| text::contains_any_words(sentence, &SIGNS) && !text::contains_any_words(sentence, &OTHERS);
    text::sentences(lower).iter().any(|sentence| !sentence.ends_with(['?', '？']) && said(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_is_no_pull_request() {
        assert!(opens("create_pull_request") && opens("createpullrequest") && opens("create_merge_request"));
        assert!(!opens("create_pending_pull_request_review") && !opens("create_pull_request_comment"));
    }

    #[test]
    fn a_merge_is_asked_for_in_words() {
        assert!(asks_merge("push the till and lets get it merged"));
        assert!(asks_merge("open a pr, and merge when the checks pass"));
        assert!(!asks_merge("merge main into the branch of the till"));
        assert!(!asks_merge("do not merge it before the drawer opens"));
        assert!(!asks_merge("should we merge it?"));
    }
}
