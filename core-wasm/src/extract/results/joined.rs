//! Joins the statements of a turn to running text.

use std::borrow::Cow;

use crate::extract::clean;
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement};
use crate::extract::vanished;
use crate::text;

/// The number of words up to which a heading says nothing alone.
const MAX_SHORT_WORDS: usize = 2;

/// How many places behind its heading a statement still reads as what stands below it.
const MAX_GAP: u16 = 3;

/// The minimum length of what follows a label that can be left out, in characters.
const MIN_LABELLED_CHARS: usize = 24;

/// Words of headings above changes, and those that say that something is gone.
const OF_CHANGES: [&str; 7] = ["change", "changes", "file", "files", "created", "modified", "updated"];
const OF_REMOVALS: [&str; 2] = ["deleted", "removed"];

/// Returns the words of a heading in lower case.
fn words(heading: &str) -> Vec<String> {
    let lower = heading.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Returns whether a heading says of what stands below it only that these are changes: "Files changed (3)".
fn is_container(heading: &str) -> bool {
    prose::is_generic_heading(heading) || only_announces_changes(heading)
}

/// Returns whether a heading consists of words for changes and files, and of their number.
fn only_announces_changes(heading: &str) -> bool {
    const BESIDE: [&str; 37] = [
        "a",
        "across",
        "all",
        "and",
        "are",
        "both",
        "changed",
        "code",
        "edited",
        "few",
        "five",
        "following",
        "four",
        "here's",
        "implemented",
        "in",
        "is",
        "key",
        "made",
        "main",
        "minor",
        "now",
        "of",
        "or",
        "overall",
        "several",
        "six",
        "small",
        "successfully",
        "summary",
        "the",
        "these",
        "three",
        "to",
        "total",
        "two",
        "what",
    ];
    const WIDE: [&str; 6] = ["변경", "변경사항", "파일", "変更", "変更点", "ファイル"];
    let words = words(heading);
    let is_of_changes = |word: &String| OF_CHANGES.contains(&word.as_str());
    let is_beside = |word: &String| {
        is_of_changes(word) || BESIDE.contains(&word.as_str()) || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_wide = words.last().is_some_and(|last| WIDE.contains(&last.as_str())) && words.len() <= 3;
    is_wide || (words.iter().any(is_of_changes) && words.iter().all(is_beside))
}

/// Returns whether a heading only celebrates that something is complete: "Move complete! 🎉".
fn is_cheer(heading: &str) -> bool {
    const MAX_WORDS: usize = 4;
    let bare = heading.trim_end_matches(|c: char| is_decoration(c) || c == ' ');
    let is_loud = bare.ends_with('!') || bare.len() < heading.len() || heading.starts_with('✅');
    let words = words(heading);
    let cheers = |word: &String| {
        matches!(
            word.as_str(),
            "complete" | "completed" | "done" | "success" | "successful" | "successfully" | "news" | "ready"
        )
    };
    is_loud && words.len() <= MAX_WORDS && words.last().is_some_and(cheers) && statement::names(heading).is_empty()
}

/// Returns whether a character only decorates what it stands beside. Circles and marks grade it.
fn is_decoration(c: char) -> bool {
    let is_circle = matches!(c, '\u{1F534}' | '\u{1F535}' | '\u{1F7E0}'..='\u{1F7EB}');
    !is_circle && matches!(c, '\u{1F300}'..='\u{1FAFF}' | '\u{2728}' | '\u{2B50}' | '\u{FE0F}' | '\u{200D}')
}

/// Strips the pictures at both ends of what was said.
fn without_decoration(said: &str) -> &str {
    let is_own = |c: char| is_decoration(c) && c != '\u{FE0F}';
    if !said.contains(is_own) {
        return said;
    }
    let bare = said.trim_start_matches(|c: char| is_decoration(c) || c == ' ');
    bare.trim_end_matches(|c: char| is_decoration(c) || c == ' ')
}

/// Returns a heading as it is told: without positions, pictures, and a dash to what is not told.
fn heading_text(heading: &str) -> String {
    let said = clean::without_positions(heading);
    let plain: String = said.chars().filter(|&c| !is_decoration(c)).collect();
    text::one_line(&plain).trim_end_matches([' ', '—', '–', '-', ':', '：']).trim_start().to_owned()
}

/// Returns a statement as it is told, a heading with its colon.
pub(in crate::extract) fn told_as(statement: &Statement) -> String {
    if statement.form == Form::Heading {
        return heading_as_told(&statement.text);
    }
    let said = clean::without_positions(&statement.text);
    without_praise(without_label(without_decoration(&said))).into_owned()
}

/// Returns a heading as it is told above what stands below it.
pub(in crate::extract) fn heading_as_told(heading: &str) -> String {
    let told = heading_text(heading);
    if text::has_ended(&told) { told } else { told + ":" }
}

/// Returns whether a heading stands above what was wrong. What stands below it is not how it is now, and the next heading ends that.
fn is_problem(heading: &str) -> bool {
    const WORDS: [&str; 6] = ["problem", "problems", "issue", "root cause", "cause", "what was wrong"];
    let lower = heading.trim().to_lowercase();
    let bare = lower.strip_prefix("the ").unwrap_or(&lower);
    WORDS.contains(&bare)
}

/// Returns whether a statement stands in the list below a heading of what is to come. A sentence behind that list is none of it.
fn is_to_come(statement: &Statement) -> bool {
    let is_ahead = || matches!(statement.heading.to_lowercase().as_str(), "next step" | "next steps");
    is_listed(statement) && is_ahead() && !standing::is_deed(&statement.text.to_lowercase())
}

/// Returns whether a statement stands in a list.
fn is_listed(statement: &Statement) -> bool {
    matches!(statement.form, Form::Item | Form::Row)
}

/// Returns whether a heading stands above changes of one kind: "Deleted files". Those of another kind below it need their own heading.
fn is_of_changes(heading: &str) -> bool {
    const MAX_WORDS: usize = 3;
    let words = words(heading);
    words.len() <= MAX_WORDS
        && words.iter().any(|word| OF_CHANGES.contains(&word.as_str()) || OF_REMOVALS.contains(&word.as_str()))
        && statement::names(heading).is_empty()
}

/// Strips a label that says nothing of what follows it: "Summary: The total is rounded".
fn without_label(said: &str) -> &str {
    const TELLING: [&str; 8] = ["root cause", "cause", "problem", "issue", "fix", "the fix", "solution", "the problem"];
    let Some((label, rest)) = said.split_once([':', '：']) else { return said };
    // A colon in code ends no label: "`for i := 0`".
    if label.contains('`') {
        return said;
    }
    let rest = rest.trim_start();
    let is_whole = rest.chars().count() >= MIN_LABELLED_CHARS && !rest.starts_with(|c: char| c.is_ascii_lowercase());
    let is_empty = prose::is_generic_heading(label) && !TELLING.contains(&label.to_lowercase().as_str());
    if is_whole && is_empty { rest } else { said }
}

/// Strips the words with which the agent praises its own work: "I've successfully rounded the total".
fn without_praise(said: &str) -> Cow<'_, str> {
    const OPENINGS: [&str; 4] = ["I've successfully ", "I have successfully ", "I successfully ", "Successfully "];
    let Some(rest) = OPENINGS.iter().find_map(|opening| said.strip_prefix(opening)) else { return Cow::Borrowed(said) };
    Cow::Owned(text::capitalized(rest))
}

/// Returns whether a heading only says that changes stand below it: "Changes made to the till".
fn announces_changes(statement: &Statement) -> bool {
    const OPENINGS: [&str; 3] = ["changes made", "files changed", "summary of changes"];
    let lower = statement.text.to_lowercase();
    statement.form == Form::Heading && OPENINGS.iter().any(|opening| text::starts_with_words(&lower, opening))
}

/// Returns whether a statement is a heading of a few words.
fn is_short_heading(statement: &Statement) -> bool {
    statement.form == Form::Heading && statement.text.split_whitespace().count() <= MAX_SHORT_WORDS
}

/// Returns whether two statements are items of one list, so that the second goes on with it.
fn is_beside_in_list(last: &Statement, next: &Statement) -> bool {
    is_listed(last) && is_listed(next) && (last.voice, last.count, &last.heading) == (next.voice, next.count, &next.heading)
}

/// Returns what stands between a line and what is added to it: a list ends before what does not belong to it.
fn separator(line: &str, goes_on: bool) -> &'static str {
    // "Set the bell, or" goes on with the next item.
    let is_open = [",", " or", " and"].iter().any(|end| line.ends_with(end));
    if text::has_ended(line) || line.ends_with([':', '：', ';']) || is_open {
        return " ";
    }
    let ends_with_address = || line.rsplit(' ').next().is_some_and(|word| word.contains("://"));
    if goes_on || ends_with_address() { "; " } else { ". " }
}

/// Returns whether a heading says something itself: "The till stays open", "Rounded the total".
fn says_something(heading: &str) -> bool {
    const VERBS: [&str; 24] = [
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "not",
        "needs",
        "uses",
        "stays",
        "works",
        "fails",
        "passes",
        "passed",
        "pass",
        "must",
        "cannot",
        "can",
        "now",
        "keeps",
        "complete",
        "completed",
        "fixed",
        "removed",
    ];
    let lower = heading.to_lowercase();
    text::has_ended(heading)
        || standing::is_deed(lower.strip_prefix("we ").unwrap_or(&lower))
        || standing::is_short_answer(&lower)
        || text::contains_any_words(&lower, &VERBS)
        // Other languages have other verbs.
        || heading.chars().any(|c| c.is_alphabetic() && !c.is_ascii())
}

/// Joins statements into running text. A heading stands once before the statements below it.
pub(super) fn join<'a>(statements: impl Iterator<Item = &'a Statement>) -> String {
    let statements: Vec<&Statement> = statements.collect();
    let is_alone = statements.iter().all(|statement| prose::is_filler(&statement.text));
    let mut joined = Joined::default();
    for (at, &statement) in statements.iter().enumerate() {
        let next = statements.get(at + 1).copied();
        let is_title = statement.form == Form::Heading && statements.iter().any(|other| is_beside_title(statement, other));
        let is_vain = statements.len() > 1 && !is_title && heads_nothing(statement, next);
        // "Changes made:" says nothing that the statements below it do not, and "Done." nothing beside what was done.
        let is_empty = is_container(statement.text.trim_end_matches([':', '：']))
            || prose::is_filler(&statement.text)
            || (statement.form == Form::Heading && is_cheer(&statement.text));
        // "To:" is a part of what stands below it.
        let is_pair = statement.form == Form::Sentence && next.is_some_and(|next| is_second_of_pair(statement, next));
        if !is_vain && (!is_empty || is_alone || is_pair) {
            joined.push(statement);
        }
    }
    joined.line.trim_end_matches(':').to_owned()
}

/// Returns whether two statements of one form and text have numbers that follow each other.
fn is_beside_title(one: &Statement, other: &Statement) -> bool {
    (one.form, one.voice, one.count) == (other.form, other.voice, other.count)
        && one.number > 0
        && other.number > 0
        && one.number.abs_diff(other.number) == 1
}

/// Returns whether a line is the second label of how something was and is: "To:".
fn is_second_of_pair(label: &Statement, next: &Statement) -> bool {
    matches!(label.text.to_lowercase().trim_end_matches(':'), "to" | "after" | "now")
        && label.text.ends_with(':')
        && is_next(label, next)
        && is_listed(next)
}

/// Returns whether a statement is a heading that promises what does not come next: "Loose ends".
fn heads_nothing(statement: &Statement, next: Option<&Statement>) -> bool {
    let leads_to_heading = |next: &Statement| next.form == Form::Heading && is_next(statement, next);
    let promises = is_short_heading(statement) || statement.is_of_code || announces_changes(statement);
    let is_empty = || promises || !(next.is_some_and(leads_to_heading) || says_something(&statement.text));
    statement.form == Form::Heading && !next.is_some_and(|next| is_below(statement, next)) && is_empty()
}

/// Returns whether a statement stands right behind another one in the same text.
fn is_next(last: &Statement, next: &Statement) -> bool {
    (last.voice, last.count, last.place + 1) == (next.voice, next.count, next.place)
}

/// Returns whether the statement told next stands below a heading.
fn is_below(heading: &Statement, next: &Statement) -> bool {
    // A sentence behind a list that is not told stands below the heading, too.
    next.heading == heading.text && (next.form != Form::Sentence || next.place == heading.place + 1)
}

/// Returns whether a line that ends with a colon leads to the statement told next.
fn leads_to(last: &Statement, next: &Statement) -> bool {
    let is_near = (last.voice, last.count) == (next.voice, next.count) && next.place <= last.place + MAX_GAP;
    let is_of_list = is_listed(next) && next.heading == last.heading;
    match next.form {
        Form::Heading => false,
        _ if is_next(last, next) => true,
        _ => is_near && !next.is_behind_list && (last.text == next.heading || is_of_list),
    }
}

/// Statements that were joined.
#[derive(Default)]
struct Joined<'a> {
    line: String,
    /// The heading that was told last.
    heading: &'a str,
    last: Option<&'a Statement>,
}

impl<'a> Joined<'a> {
    fn push(&mut self, statement: &'a Statement) {
        self.separate(statement);
        let needs_heading = self.needs_heading(statement);
        self.last = Some(statement);
        if statement.form == Form::Heading {
            self.heading = &statement.text;
            self.push_heading();
            return;
        }
        if needs_heading {
            self.heading = &statement.heading;
            self.push_heading();
            self.line.push(' ');
        }
        self.line.push_str(&told_as(statement));
    }

    fn push_heading(&mut self) {
        self.line.push_str(&heading_as_told(self.heading));
    }

    /// Ends what was told before a statement.
    fn separate(&mut self, statement: &Statement) {
        let Some(last) = self.last else { return };
        if self.line.ends_with(':') && !leads_to(last, statement) {
            self.line.pop();
            self.close();
        }
        let goes_on = is_beside_in_list(last, statement);
        self.line.push_str(separator(&self.line, goes_on));
    }

    /// Strips the words that lead to a list which is not told: "The slip has new lines, including".
    fn close(&mut self) {
        const OPEN: [&str; 8] = [" including", " with", " to", " of", " for", " from", " by", " in"];
        while let Some(closed) = OPEN.iter().find_map(|word| self.line.strip_suffix(word)) {
            self.line.truncate(closed.trim_end_matches(',').len());
        }
    }

    /// Returns whether a statement is told with the heading above it. In the middle of what stands below it, it would tear that.
    fn needs_heading(&self, statement: &Statement) -> bool {
        let heading = &statement.heading;
        // Without its heading, a list would stand below the one before.
        let ends_last = !self.heading.is_empty() && is_listed(statement);
        let is_clause = signs::is_clause_heading(heading) && !ends_last;
        let has_begun = self
            .last
            .is_some_and(|last| (last.voice, last.count, &last.heading) == (statement.voice, statement.count, heading));
        !heading.is_empty()
            && !statement.is_behind_list
            && heading != self.heading
            && (is_clause || !has_begun)
            && !statement::is_question(heading)
            && !(is_clause && (statement.form == Form::Sentence || !signs::qualifies(heading)))
            && !self.is_empty_above(statement)
            && !text::starts_with_words(&statement.text.to_lowercase(), &heading.to_lowercase())
    }

    /// Returns whether the heading above a statement says nothing of it, nor ends what was told before it.
    fn is_empty_above(&self, statement: &Statement) -> bool {
        let heading = &statement.heading;
        // One sentence below "Code changes" needs no heading, but one below "Removed" does.
        let is_sentence_of_changes = || !is_listed(statement) && is_of_changes(heading) && !vanished::says_removal(heading);
        let says_nothing = is_container(heading) || is_cheer(heading) || is_sentence_of_changes();
        let is_list_of_changes = || is_of_changes(self.heading) && is_listed(statement);
        let ends_last = || !self.heading.is_empty() && (is_problem(self.heading) || is_list_of_changes());
        says_nothing && !is_problem(heading) && !is_to_come(statement) && !ends_last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::statement::{Voice, statements};

    fn told(answer: &str) -> String {
        join(statements(answer, Voice::Answer).iter())
    }

    /// Joins the statements of an answer but those that begin so.
    fn told_without(answer: &str, left_out: &[&str]) -> String {
        let all = statements(answer, Voice::Answer);
        join(all.iter().filter(|it| !left_out.iter().any(|opening| it.text.starts_with(opening))))
    }

    #[test]
    fn numbers_are_not_told() {
        assert_eq!(told("1. The till rounds\n2. The bell rings"), "The till rounds; The bell rings");
        let parts = "### 1. The till\nIt rounds.\n### 2. The bell\n### Part 3: The lamp\nIt is lit.";
        assert_eq!(told(parts), "The till: It rounds. The bell. Part 3: The lamp: It is lit.");
    }

    #[test]
    fn a_heading_that_only_counts_changes_is_left_out() {
        for heading in
            ["Files modified (3):", "Changes across 4 files", "All three changes are implemented", "Move complete! 🎉"]
        {
            assert_eq!(told(&format!("## {heading}\n\n- `till.rs` — rounds")), "`till.rs` — rounds", "{heading}");
        }
        for heading in ["Backend changes", "New files (2)", "`slip.rs` changes", "Wave 2 complete"] {
            assert_eq!(told(&format!("## {heading}\n\n- It rings")), format!("{heading}: It rings"));
        }
    }

    #[test]
    fn changes_of_another_kind_have_their_own_heading() {
        let files = "**New files**\n- `till.rs` — rounds\n\n**Modified files**\n- `slip.rs` — prints";
        assert_eq!(told(files), "New files: `till.rs` — rounds. Modified files: `slip.rs` — prints");
        let sentence = "**Code changes**\n\nThe till rounds.\n- It rings";
        assert_eq!(told(sentence), "The till rounds. It rings", "no heading in the middle of what stands below it");
    }

    #[test]
    fn steps_to_come_are_told_as_such() {
        let said = "The till rounds.\n\n## Next steps\n- Open the drawer\n- Print a slip\n\nThe lamp is red.";
        assert_eq!(told(said), "The till rounds. Next steps: Open the drawer; Print a slip. The lamp is red.");
        assert_eq!(told_without(said, &["Next", "Open", "Print"]), "The till rounds. The lamp is red.");
    }

    #[test]
    fn a_heading_above_nothing_is_told_if_it_says_something() {
        let said = |heading: &str| format!("The till rounds.\n\n## {heading}\n\n- It waits\n\n## Slip\n\n- It is white");
        let told = |heading: &str| told_without(&said(heading), &["It waits"]);
        assert_eq!(told("Options of the night till"), "The till rounds. Slip: It is white");
        assert_eq!(told("The night till is dark"), "The till rounds. The night till is dark. Slip: It is white");
        assert_eq!(told("Painted the night till"), "The till rounds. Painted the night till. Slip: It is white");
    }

    #[test]
    fn a_line_leads_to_what_is_told_of_its_list() {
        let said = "With it you will be able to:\n- Ask the till\n- Open the drawer\n- Print a slip";
        assert_eq!(told_without(said, &["Ask"]), "With it you will be able to: Open the drawer; Print a slip");
        let open = "The slip has new lines, including:\n\n## Lines\n\n- The shop";
        assert_eq!(told(open), "The slip has new lines. Lines: The shop");
        assert_eq!(
            told("Changed the label from:\n- \"Till\"\n\nTo:\n- \"Drawer\""),
            "Changed the label from: \"Till\". To: \"Drawer\""
        );
        assert_eq!(told("- Print a slip, or\n- Open the drawer"), "Print a slip, or Open the drawer");
    }

    #[test]
    fn pictures_and_dashes_to_nothing_are_left_out() {
        assert_eq!(
            told("`for i := 0; i < tills; i++` → `for i := range tills`"),
            "`for i := 0; i < tills; i++` → `for i := range tills`"
        );
        assert_eq!(told("## Till ✨ NEW\n\n- It rings"), "Till NEW: It rings");
        assert_eq!(told("**`till.rs`** —\n- It rings\n- 🔴 It is late"), "`till.rs`: It rings; 🔴 It is late");
        assert_eq!(
            told("All is well! 🎉 The till rings. (Only at night.) It shuts."),
            "All is well! The till rings. (Only at night.) It shuts."
        );
    }
}
