//! Writes the statements that were chosen of a turn as one line.

use super::joined::join;
use super::turn_result::{TurnResult, is_lead, share_of};
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::labels::Labels;
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::said_by::SaidBy;
use crate::text;

/// The minimum number of names of a statement that can be overtaken by a later one. One name alone is a subject.
pub(super) const MIN_NAMES: usize = 2;
/// The share of its words that the answer must have for a statement of a commit's body to repeat it.
pub(super) const REPEATED: f32 = 0.6;
/// The same if the answer also has all of its names.
pub(super) const NAMED: f32 = 0.4;

/// Returns whether a line that leads to a list in Korean or Japanese says nothing beside it: "修正内容:".
fn names_no_subject(lead: &str) -> bool {
    !lead.is_ascii() && prose::is_generic_heading(lead.trim_end_matches([':', '：']))
}

/// What the agent said in its own words, to tell what a commit's body only repeats.
pub(super) struct Said(Vec<(text::Features, Vec<u32>)>);

impl Said {
    pub(super) fn of<'a>(statements: impl Iterator<Item = &'a Statement> + Clone) -> Self {
        if !statements.clone().any(|statement| statement.voice == Voice::Commit) {
            return Said(Vec::new());
        }
        let own = statements.filter(|statement| statement.is_of_agent());
        Said(own.map(|statement| (text::features(&statement.text), statement::names(&statement.text))).collect())
    }

    /// Returns whether one statement says most of what a statement of a commit says, or all of its names and a good part of its
    /// words.
    fn has(&self, statement: &Statement) -> bool {
        let (words, names) = (text::features(&statement.text), statement::names(&statement.text));
        self.0.iter().any(|(said, named)| {
            let again = share_of(&words, |word| said.contains(word));
            let is_named = names.len() >= MIN_NAMES && names.iter().all(|name| named.contains(name));
            again >= REPEATED || (is_named && again >= NAMED)
        })
    }
}

impl TurnResult {
    /// Returns the chosen statements as one line: what the human said, what the agent said, and what was committed.
    pub(super) fn line(&self, chosen: impl Iterator<Item = usize>, said: &Said, labels: &Labels) -> String {
        let chosen: Vec<usize> = chosen.collect();
        // A line that leads to a list says nothing without it, and promises too much before a small part of it.
        let is_followed = |lead: usize| {
            let items = self.items_below(lead);
            let told = items.clone().filter(|at| chosen.contains(at)).count();
            told > 0 && 2 * told >= items.count()
        };
        let is_told = |at: usize| {
            let statement = &self.statements[at];
            // A step is one of several, with or without what stands below it.
            statement.form == Form::Heading
                || !is_lead(&statement.text)
                || statement.is_step
                || self.opens_with_deed(at)
                || self.leads_with_deed(at)
                || (is_followed(at) && !names_no_subject(&statement.text))
        };
        let chosen: Vec<&Statement> = chosen.iter().filter(|at| is_told(**at)).map(|at| &self.statements[*at]).collect();
        // The body of a commit often repeats the answer in other words. Its subject stays.
        let own: text::Features = chosen
            .iter()
            .filter(|statement| statement.is_of_agent())
            .flat_map(|statement| text::features(&statement.text))
            .collect();
        let repeats = |statement: &&Statement| {
            statement.voice == Voice::Commit && statement.place > 0 && {
                let words = text::features(&statement.text);
                share_of(&words, |word| own.contains(word)) >= REPEATED || said.has(statement)
            }
        };
        // That a commit was made, and which one, is told with its subject. That it was pushed may not be known.
        let only_names_commit = |it: &Statement| {
            let is_named = |commit: &&Statement| {
                let rest = it.text.replace(&commit.text, "");
                let is_rest = || signs::only_reports_commit(&rest.replace(['`', '"'], " "));
                signs::has_only_hashes(&rest) || (rest.len() < it.text.len() && is_rest())
            };
            let is_pushed = || text::contains_any(&it.text.to_lowercase(), &["push", "푸시", "プッシュ", "推送"]);
            it.is_of_agent() && chosen.iter().filter(|it| is_subject(it)).any(is_named) && !is_pushed()
        };
        let holds = |it: &&Statement| !repeats(it) && !only_names_commit(it);
        let chosen: Vec<&Statement> = chosen.iter().copied().filter(holds).collect();
        let said: Vec<&Statement> = chosen.iter().copied().filter(|statement| statement.is_of_agent()).collect();
        // What was wrong before the last edit is not how the turn ended.
        let wrong = if said.first().is_some_and(|first| was_wrong(first)) {
            said.iter().take_while(|it| was_before(it)).count()
        } else {
            0
        };
        let (before, after) = said.split_at(wrong);
        // What was changed may have nothing to do with what was found wrong.
        // Most lines begin with nothing that was wrong, and need no comparison of words.
        let is_mended = before.is_empty() || after.is_empty() || self.speaks_of_change(before, after, &chosen);
        let (before, after) = if is_mended { (before, after) } else { (&said[..0], &said[..]) };
        let mut line = without_after(without_connective(join(after.iter().copied())));
        let mut behind = String::new();
        // What the answer says of the cause tells it better.
        let tells_cause = || after.iter().any(|it| signs::names_cause(&it.text) || signs::names_cause(&it.heading));
        if line.is_empty() && !before.is_empty() {
            line = format!("{}: {}", labels.before_change, join(before.iter().copied()));
        } else if !before.is_empty() && !tells_cause() {
            behind = format!("{}: {}", labels.before_change, join(before.iter().copied()));
        }
        let commits = commits_text(chosen.iter().copied().filter(|statement| statement.voice == Voice::Commit), labels);
        if !line.is_empty() && !commits.is_empty() {
            line.push_str(" — ");
        }
        line.push_str(&commits);
        if !behind.is_empty() {
            line = format!("{}. {behind}", line.trim_end_matches(['.', '。']));
        }
        line
    }

    /// Returns whether what was wrong has a word of what the agent said after the change, of the commits, or of the changed files.
    fn speaks_of_change(&self, wrong: &[&Statement], after: &[&Statement], chosen: &[&Statement]) -> bool {
        let commits = chosen.iter().filter(|it| it.voice == Voice::Commit);
        let changed = after.iter().chain(commits).map(|it| it.text.as_str()).chain(self.files.iter().map(String::as_str));
        let changed: text::Features = changed.flat_map(text::features).collect();
        wrong.iter().any(|it| !text::features(&it.text).is_disjoint(&changed))
    }

    pub(super) fn draft(&self, chosen: impl Iterator<Item = usize>, said: &Said, labels: &Labels) -> Option<Draft> {
        let said = self.line(chosen, said, labels);
        if said.is_empty() || self.source.uuid.is_empty() {
            return None;
        }
        let content = if self.asked.is_empty() || said.contains(self.asked.as_str()) {
            said
        } else {
            format!("{} → {said}", self.asked)
        };
        Some(Draft {
            key: Some(format!("result:{}", self.source.uuid)),
            kind: "result".to_owned(),
            title: text::clip(if self.asked.is_empty() { &content } else { &self.asked }, 160).into_owned(),
            content,
            keywords: Vec::new(),
            files: self.files.clone(),
            importance: 0.3,
            origin: self.source.origin(),
            attributes: vec![SaidBy::Agent.attribute()],
        })
    }
}

/// Returns whether a statement of the agent tells how something was before it changed files in the same turn.
fn was_before(statement: &Statement) -> bool {
    let lower = statement.text.to_lowercase();
    // "It is ignored instead of printed" tells of no cure.
    let said = if signs::finds_fault(&lower) { lower.replace(" instead of ", " ") } else { lower };
    statement.voice == Voice::Work
        && statement.is_before_edit
        && statement.form == Form::Sentence
        && !standing::is_deed(&said)
        && !standing::says_mended(&said)
}

/// Returns whether a statement says what was wrong before the agent changed files in the same turn.
fn was_wrong(statement: &Statement) -> bool {
    const AGAINST: [&str; 3] = ["valid point", "fair point", "insufficient"];
    const BESIDE_BUT: [&str; 3] = ["actually", "needs", "expects"];
    const HOLDS: [&str; 7] = ["stay", "stays", "keep", "keeps", "must", "so it", "not only"];
    let lower = statement.text.to_lowercase();
    let is_against = || {
        text::contains_any_words(&lower, &AGAINST)
            || (lower.contains(" but ") && text::contains_any_words(&lower, &BESIDE_BUT))
    };
    was_before(statement)
        && (signs::finds_fault(&lower) || signs::is_failing(&lower) || is_against())
        && !text::contains_any_words(&lower, &HOLDS)
        && !signs::tells_limit(&lower)
        && !signs::excuses(&lower)
}

/// Returns whether a statement is the subject of a commit.
fn is_subject(statement: &Statement) -> bool {
    statement.voice == Voice::Commit && statement.place == 0
}

/// Returns the subject of each commit, with what its body adds.
fn commits_text<'a>(statements: impl Iterator<Item = &'a Statement>, labels: &Labels) -> String {
    let mut line = String::new();
    for statement in statements {
        let separator = match line.chars().last() {
            None => "",
            Some(':' | '：' | '.' | '。') => " ",
            Some(_) => "; ",
        };
        if statement.place == 0 {
            line = format!("{line}{separator}{} {}", labels.committed, text::quoted(&statement.text));
        } else {
            line = format!("{line}{separator}{}", statement.text);
        }
    }
    line
}

/// Strips the word that joins a line to something that is not told: "So the drawer stays open".
fn without_connective(said: String) -> String {
    const WORDS: [&str; 6] = ["So, ", "But, ", "And, ", "So ", "But ", "And "];
    const GO_ON: [&str; 9] = ["that ", "far", "much ", "many ", "do ", "does ", "did ", "is ", "are "];
    let rest =
        WORDS.iter().find_map(|word| said.strip_prefix(word)).filter(|rest| !GO_ON.iter().any(|it| rest.starts_with(it)));
    rest.map(text::capitalized).unwrap_or(said)
}

/// Rewords the label of how it is since a change where nothing tells how it was before: "After: the total is rounded".
fn without_after(said: String) -> String {
    const LABEL: &str = "After: ";
    const NOW: &str = "Now: ";
    if !said.contains(LABEL) || said.contains("Before: ") {
        return said;
    }
    let own = said.strip_prefix(LABEL).map_or_else(|| said.clone(), |rest| format!("{NOW}{rest}"));
    [". ", "; ", ": "].iter().fold(own, |said, end| said.replace(&format!("{end}{LABEL}"), &format!("{end}{NOW}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::labels;

    fn told(answer: &str) -> String {
        let statements = statement::statements(answer, Voice::Answer);
        let turn = TurnResult { statements, edited: true, ..TurnResult::default() };
        turn.line(0..turn.statements.len(), &Said::of([].iter()), labels::labels(text::Language::English))
    }

    #[test]
    fn a_list_ends_before_what_follows_it() {
        assert_eq!(
            told("**Till**\n- Rounds the total\n- Prints once\n\nThe drawer stays shut\n\n**Slip**\n- Names the shop"),
            "Till: Rounds the total; Prints once. The drawer stays shut. Slip: Names the shop"
        );
        assert_eq!(
            told("- Added \"Total:\"\n- Added \"Tax.\"\n\nBoth are new"),
            "Added \"Total:\"; Added \"Tax.\" Both are new"
        );
        assert_eq!(told("See https://till.example/1\n\nIt opens"), "See https://till.example/1; It opens");
        assert_eq!(told("- Takes `sum(one, ...)`\n- Takes `tax(...)`"), "Takes `sum(one, ...)`; Takes `tax(...)`");
    }

    #[test]
    fn a_line_is_joined_to_nothing_before_it() {
        assert_eq!(told("So the drawer stays open."), "The drawer stays open.");
        assert_eq!(told("So far it stays open."), "So far it stays open.");
        assert_eq!(told("So does the lamp of the till."), "So does the lamp of the till.");
    }

    #[test]
    fn a_heading_above_code_that_is_not_told_is_left_out() {
        let said = "The slip is folded.\n\n**Format of the till file:**\n```rust\nfn a() {}\nfn b() {}\n```\n\n**Logic:**\n- It rings twice\n- It waits";
        assert_eq!(told(said), "The slip is folded. Logic: It rings twice; It waits");
    }

    #[test]
    fn a_heading_that_is_a_sentence_ends_as_one() {
        assert_eq!(told("## Found the cause!\n\nThe drawer counts twice."), "Found the cause! The drawer counts twice.");
    }

    #[test]
    fn a_lead_that_says_what_was_done_needs_no_list() {
        let mut statements = statement::statements(
            "Replaced the slow test of the till with three fast ones:\n- `testOne`\n- `testTwo`",
            Voice::Answer,
        );
        statements.truncate(1);
        statements.extend(statement::statements("The total is rounded.", Voice::Answer));
        let mut turn = TurnResult { statements, edited: true, ..TurnResult::default() };
        let line = |turn: &TurnResult| turn.line(0..2, &Said::of([].iter()), labels::labels(text::Language::English));
        assert_eq!(line(&turn), "Replaced the slow test of the till with three fast ones. The total is rounded.");
        turn.statements[0].text = "Mended these parts of the till:".to_owned();
        assert_eq!(line(&turn), "The total is rounded.");
    }
}
