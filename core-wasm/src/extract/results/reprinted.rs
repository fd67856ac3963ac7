//! Answers that a later one prints anew: of a document, a summary or a list that is given again, the last version counts.

use super::turn_result::{TurnResult, share, share_of};
use crate::extract::prose;
use crate::extract::statement::{Form, Statement, Voice};
use crate::text;

/// The share of its words that one statement of the later answer must have for a statement to be printed anew.
const SAID_AGAIN: f32 = 0.6;
/// The same for a statement of few words.
const SAID_WHOLLY: f32 = 0.8;
/// The number of words up to which a statement has few.
const FEW_WORDS: usize = 6;
/// The minimum number of words that can be said again. Shorter statements occur by chance.
const MIN_WORDS: usize = 4;
/// The minimum number of statements that must be printed anew.
const MIN_AGAIN: usize = 3;
/// The share of an answer that must be printed anew.
const MOST: f32 = 0.5;
/// The same for an answer that tells what its turn changed: what is not said again was done too.
const MOST_WORK: f32 = 0.7;
/// The same for an answer whose headings stand above the later one too.
const HEADED: f32 = 0.35;
/// The minimum number of headings that say that it is the same document.
const MIN_HEADINGS: usize = 2;

/// Words before what an answer corrects: "Revised option 2".
const REVISED: [&str; 9] =
    ["revised ", "updated ", "corrected ", "amended ", "수정된 ", "개정된 ", "修正した", "修正版", "修订后的"];

/// An answer that may print an earlier one anew.
pub(super) struct Reprint {
    statements: Vec<text::Features>,
    words: text::Features,
    headings: Vec<u32>,
    /// What is revised, in lower case.
    revised: Vec<String>,
}

impl Reprint {
    /// Returns the answer of a turn, or none if it is too short to print anything anew.
    pub(super) fn of(turn: &TurnResult) -> Option<Self> {
        let answer: Vec<&Statement> = turn.statements.iter().filter(|it| it.voice == Voice::Answer).collect();
        if answer.len() < MIN_AGAIN {
            return None;
        }
        let statements: Vec<text::Features> = answer.iter().map(|it| text::features(&it.text)).collect();
        let words = statements.iter().flatten().copied().collect();
        // "Updated the guide" says what was changed.
        let is_work = turn.has_work();
        let revised = answer.iter().filter(|_| !is_work).filter_map(|it| revised(above(it))).collect();
        Some(Reprint { statements, words, headings: headings(&answer), revised })
    }

    /// Removes from an earlier turn the answer that is printed anew.
    pub(super) fn replace(&self, earlier: &mut TurnResult) {
        let is_work = earlier.has_work();
        if self.prints_anew(earlier, is_work) {
            earlier.statements.retain(|it| it.voice != Voice::Answer);
        }
        if !is_work && !self.revised.is_empty() {
            earlier.statements.retain(|it| it.voice != Voice::Answer || !self.revises(it));
        }
    }

    /// Returns whether it says again most of what an earlier turn's answer says.
    fn prints_anew(&self, earlier: &TurnResult, is_work: bool) -> bool {
        let mut answer: Vec<&Statement> = earlier.statements.iter().filter(|it| it.voice == Voice::Answer).collect();
        let own = headings(&answer);
        let shared = own.iter().filter(|heading| self.headings.contains(heading)).count();
        let is_headed = shared >= MIN_HEADINGS && 2 * shared >= own.len();
        let least = match (is_work, is_headed) {
            (true, _) => MOST_WORK,
            (false, true) => HEADED,
            (false, false) => MOST,
        };
        // Of most answers the few longest statements show that they are not printed anew.
        answer.sort_by_key(|it| std::cmp::Reverse(it.text.len()));
        let all = chars(&answer);
        let (mut again, mut other) = (0, 0);
        for statement in &answer {
            if self.says_again(statement) {
                again += 1;
            } else {
                other += statement.text.chars().count();
            }
            if share(all - other, all) < least {
                return false;
            }
        }
        again >= MIN_AGAIN
    }

    /// Returns whether a statement of an earlier turn stands below the heading of what is revised.
    fn revises(&self, earlier: &Statement) -> bool {
        let lower = above(earlier).to_lowercase();
        let is_alone = |subject: &str| {
            let rest = lower.strip_prefix(subject).unwrap_or("-").trim_start();
            rest.is_empty() || rest.starts_with([':', '：', '(', '—'])
        };
        let is_of = |subject: &str| subject.contains(' ') && text::contains_words(&lower, subject);
        self.revised.iter().any(|subject| is_alone(subject) || is_of(subject))
    }

    /// Returns whether one statement says most of what an earlier one says.
    fn says_again(&self, earlier: &Statement) -> bool {
        let own = text::features(&earlier.text);
        let least = if own.len() <= FEW_WORDS { SAID_WHOLLY } else { SAID_AGAIN };
        let is_most = |said: &text::Features| share_of(&own, |word| said.contains(word)) >= least;
        own.len() >= MIN_WORDS && is_most(&self.words) && self.statements.iter().any(is_most)
    }
}

/// Returns the heading above a statement, or the statement if it is one. May be empty.
fn above(statement: &Statement) -> &str {
    if statement.form == Form::Heading { &statement.text } else { &statement.heading }
}

/// Returns what a heading revises: "revised option 2: in the till" revises "option 2".
fn revised(heading: &str) -> Option<String> {
    let lower = heading.to_lowercase();
    let rest = REVISED.iter().find_map(|word| lower.strip_prefix(word))?;
    let subject = rest.split([':', '：', '(', '—', '`']).next().unwrap_or_default().trim();
    (!subject.is_empty() && !prose::is_generic_heading(subject)).then(|| subject.to_owned())
}

/// Returns the headings of an answer that say what stands below them.
fn headings(answer: &[&Statement]) -> Vec<u32> {
    let own = answer.iter().map(|it| above(it).trim_start_matches(|c: char| !c.is_alphabetic()));
    let telling = own.filter(|heading| !heading.is_empty() && !prose::is_generic_heading(heading));
    let mut all: Vec<u32> = telling.map(|heading| text::hash(&heading.to_lowercase())).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn chars(statements: &[&Statement]) -> usize {
    statements.iter().map(|it| it.text.chars().count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::statement;

    fn answer(said: &str) -> TurnResult {
        TurnResult { statements: statement::statements(said, Voice::Answer), ..TurnResult::default() }
    }

    /// Returns how many statements are left of the earlier answer.
    fn left(earlier: &TurnResult, later: &TurnResult) -> usize {
        let mut earlier = earlier.clone();
        if let Some(reprint) = Reprint::of(later) {
            reprint.replace(&mut earlier);
        }
        earlier.statements.len()
    }

    const SUMMARY: &str = "Tills of the shop:\n- The drawer opens before the printer has written the slip.\n\
                           - Each total is rounded twice, by the cart and by the till.\n\
                           - Nobody clears the list of returned bottles at night.";

    #[test]
    fn a_summary_that_is_given_again_replaces_the_first() {
        let again = format!("{SUMMARY}\n- The scale answers after two seconds, so each sale of fruit waits for it.");
        assert_eq!(left(&answer(SUMMARY), &answer(&again)), 0);
        assert_eq!(left(&answer(&again), &answer("- The drawer opens late.\n- The scale waits.\n- It is slow.")), 5);
    }

    #[test]
    fn work_is_replaced_by_what_says_most_of_it() {
        let other = "- The menu of the shop is sorted by the day on which each dish was cooked first.\n\
                     - The cellar has a list of all barrels and of what they hold today.\n";
        let work = TurnResult { edited: true, ..answer(&format!("{SUMMARY}\n{other}")) };
        assert_eq!(left(&work, &answer(SUMMARY)), 6, "the menu was changed too");
        let work = TurnResult { edited: true, ..answer(SUMMARY) };
        assert_eq!(left(&work, &answer(SUMMARY)), 0);
    }

    #[test]
    fn what_is_revised_by_name_is_replaced() {
        let first = answer("### Option 2: round late\n\nThe till rounds the sum.\n\n### Option 3\n\nNobody rounds.");
        let revised = "### Revised Option 2\n\nThe cart rounds each price.\n\nThe printer shows cents.\n\nNo bank is asked.";
        assert_eq!(left(&first, &answer(revised)), 2);
        let work = TurnResult { edited: true, ..answer(revised) };
        assert_eq!(left(&first, &work), 4, "that says what was changed");
    }
}
