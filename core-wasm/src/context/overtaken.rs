//! What later sessions have settled: plans and open tasks that they carried out or that are too old to be open, and faults that were
//! mended when they were found.

use super::attributes::attribute;
use super::later::is_doubtful;
use super::line::LANGUAGES;
use super::page::is_saved;
use crate::bindings::throughline::policy::types::{Memory, SessionNotes, SessionRecord};
use crate::extract::{labels, signs};
use crate::text;

/// The share of a task's words that the result of a later session has if it did the task, in tenths.
const DONE_TENTHS: usize = 9;
/// The minimum number of these words. Fewer occur by chance.
const MIN_WORDS: usize = 3;

/// The minimum length of a plan's title by which a request names it, in letters.
const MIN_TITLE: usize = 6;

/// Returns whether what a plan or a task says is to be done was done, or is so old that it was done or given up. `sessions` are the
/// newest ones, the newest first; there are more if they are `max_sessions`.
pub(super) fn is_overtaken(memory: &Memory, sessions: &[SessionRecord], max_sessions: usize) -> bool {
    if !matches!(memory.kind.as_str(), "plan" | "task") || is_saved(memory) {
        return false;
    }
    let Some(at) = sessions.iter().position(|record| record.id == memory.session_id) else {
        return sessions.len() >= max_sessions;
    };
    let mut later = sessions[..at].iter().filter_map(|record| record.notes.as_ref());
    if memory.kind == "plan" {
        let is_own = sessions[at].notes.as_ref().is_some_and(|notes| has_carried_out(notes, &memory.title));
        return is_own || later.any(|notes| asks_for(notes, &memory.title) && !notes.outcome.is_empty());
    }
    let title = without_number(&memory.title);
    let words = text::features(title);
    later.any(|notes| tells_deed(notes, title, &words))
}

/// Returns whether a session tells a task, which has these words, among its results.
pub(super) fn tells_deed(notes: &SessionNotes, task: &str, words: &text::Features) -> bool {
    let longest = task.split(|c: char| !c.is_alphanumeric()).max_by_key(|word| word.len()).unwrap_or_default();
    words.len() >= MIN_WORDS
        && results(notes, longest).any(|said| has_words(&said, words) && !is_doubtful(&said.to_lowercase()))
}

/// How many sessions, with the last one, may still work on what they found.
const RECENT_SESSIONS: usize = 4;

/// Returns whether something that was found out says what was wrong in the code before the recent sessions, or what was done about
/// it: whoever found it mended it. So is a fault of a recent session before the last that committed. What something cannot do at all holds
/// longer.
pub(super) fn is_mended(memory: &Memory, sessions: &[SessionRecord]) -> bool {
    const OPENINGS: [&str; 13] = [
        "the issue",
        "the bug",
        "the problem",
        "the error",
        "the fault",
        "the root cause",
        "the cause",
        "bug",
        "problem",
        "issue",
        "root cause",
        "原因",
        "問題の原因",
    ];
    const WORK: [&str; 14] = [
        "updated",
        "replaced",
        "fixed",
        "added",
        "removed",
        "changed",
        "moved",
        "renamed",
        "created",
        "dropped",
        "extracted",
        "fix",
        "add",
        "replace",
    ];
    let lower = memory.content.to_lowercase();
    let mut parts = lower.split([':', '—']).take(2).map(str::trim_start);
    let tells_work = parts.any(|part| WORK.iter().any(|verb| part.strip_prefix(verb).is_some_and(|it| it.starts_with(' '))));
    let tells_fault =
        OPENINGS.iter().any(|opening| lower.strip_prefix(opening).is_some_and(|it| it.starts_with([' ', ':', 'は'])));
    let at = sessions.iter().take(RECENT_SESSIONS).position(|record| record.id == memory.session_id);
    let has_committed =
        |at: usize| sessions[at].notes.as_ref().is_some_and(|notes| !notes.commits.is_empty() && notes.errors.is_empty());
    let is_over = at.is_none_or(|at| at > 0 && tells_fault && has_committed(at));
    sessions.len() >= RECENT_SESSIONS
        && (tells_fault || tells_work)
        && is_over
        && !signs::tells_limit(&lower)
        && !is_saved(memory)
}

/// Returns whether something that was found out only says what the change of its day had to do with: the next change is another one.
pub(super) fn is_of_its_change(lower: &str) -> bool {
    const SIGNS: [&str; 12] = [
        "unrelated to my change",
        "unrelated to my work",
        "unrelated to this change",
        "unrelated to these changes",
        "unrelated to our change",
        "not related to my change",
        "not related to our change",
        "from my changes",
        "caused by my change",
        "requires no changes",
        "needs no changes",
        "no changes needed",
    ];
    text::contains_any(lower, &SIGNS)
}

/// Returns how a session ended, without the plan at its end that it only made and that one of the later sessions was asked for.
pub(super) fn without_made_plan<'n>(outcome: &'n str, later: &[SessionRecord]) -> &'n str {
    let asked = |title: &str| later.iter().filter_map(|it| it.notes.as_ref()).any(|it| asks_for(it, title));
    let told = LANGUAGES.map(labels::labels).into_iter().find_map(|words| {
        let (before, after) = words.made_plan.split_once("{}")?;
        let (told, plan) = outcome.rsplit_once(before)?;
        asked(plan.split(after).next()?).then(|| told.trim_end())
    });
    told.unwrap_or(outcome)
}

/// Returns whether a session changed files and left nothing of its plan undone.
fn has_carried_out(notes: &SessionNotes, title: &str) -> bool {
    let mut undone = notes.current.iter().chain(&notes.pending);
    !notes.outcome.is_empty() && !notes.changes.is_empty() && !undone.any(|item| names(item, title))
}

/// Returns whether a session was asked for a plan, at first or later. How others called the issue that it was about asks for nothing.
pub(super) fn asks_for(notes: &SessionNotes, title: &str) -> bool {
    let first = notes.original_request.as_str();
    let first = attribute(notes, "request-about").and_then(|about| first.strip_suffix(about)).unwrap_or(first);
    let later = ["later-request", "more-requests"].into_iter().filter_map(|name| attribute(notes, name));
    // Each line is a request of its own. Behind it may stand the items of a list that it picks.
    let later = later.flat_map(str::lines).filter_map(|asked| asked.split(" (\"").next());
    later.chain([first]).any(|asked| names(asked, title))
}

/// Returns whether a text names a plan by its title, in whole words: a request for research names no plan "Search".
fn names(said: &str, title: &str) -> bool {
    let words = |text: &str| {
        let lower = text.to_lowercase();
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let title = words(title);
    title.chars().count() >= MIN_TITLE && text::contains_words(&words(said), &title)
}

/// Returns the title of a task without its place in a list: "Task 3: Close the till".
fn without_number(title: &str) -> &str {
    let (number, rest) = title.split_once(": ").unwrap_or(("", title));
    if number.ends_with(|c: char| c.is_ascii_digit()) { rest } else { title }
}

/// Returns what a session says that it did and that has a word, each thing alone: words of several things together name anything. The
/// word is asked first, because hashing all words of all results takes long.
fn results<'n>(notes: &'n SessionNotes, word: &'n str) -> impl Iterator<Item = String> + 'n {
    let all = notes.done.iter().chain(&notes.commits).chain([&notes.outcome]);
    all.filter(move |said| said.contains(word)).flat_map(|said| said.split("; ")).flat_map(text::sentences)
}

fn has_words(said: &str, words: &text::Features) -> bool {
    let own = text::features(said);
    words.iter().filter(|word| own.contains(*word)).count() * 10 >= words.len() * DONE_TENTHS
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::context) fn empty_notes() -> SessionNotes {
        SessionNotes {
            original_request: String::new(),
            current_objective: String::new(),
            outcome: String::new(),
            started: None,
            ended: None,
            turns: 0,
            done: Vec::new(),
            current: Vec::new(),
            pending: Vec::new(),
            decisions: Vec::new(),
            discoveries: Vec::new(),
            learnings: Vec::new(),
            preferences: Vec::new(),
            changes: Vec::new(),
            commits: Vec::new(),
            blockers: Vec::new(),
            errors: Vec::new(),
            attributes: Vec::new(),
        }
    }

    fn record(id: &str, asked: &str, outcome: &str) -> SessionRecord {
        SessionRecord {
            id: id.to_owned(),
            started: None,
            ended: None,
            summary: String::new(),
            topics: Vec::new(),
            files: Vec::new(),
            notes: Some(SessionNotes { original_request: asked.to_owned(), outcome: outcome.to_owned(), ..empty_notes() }),
        }
    }

    fn memory(kind: &str, session: &str, title: &str) -> Memory {
        Memory {
            id: "m".to_owned(),
            session_id: session.to_owned(),
            kind: kind.to_owned(),
            title: title.to_owned(),
            content: title.to_owned(),
            keywords: Vec::new(),
            files: Vec::new(),
            importance: 0.5,
            created: 0,
            seen: 1,
            score: 0.0,
            attributes: Vec::new(),
        }
    }

    #[test]
    fn a_plan_is_done_by_the_session_that_was_asked_for_it() {
        let sessions = [record("2", "Implement the plan \"Close the till\"", "It closes."), record("1", "Think", "")];
        assert!(is_overtaken(&memory("plan", "1", "Close the Till"), &sessions, 12));
        assert!(!is_overtaken(&memory("plan", "1", "Open the Till"), &sessions, 12));
        assert!(!is_overtaken(&memory("plan", "2", "Close the Till"), &sessions, 12), "nothing was changed yet");
        let mut sessions = sessions;
        if let Some(notes) = &mut sessions[0].notes {
            notes.attributes = vec![("later-request".to_owned(), "Implement the plan \"Open the till\"".to_owned())];
        }
        assert!(is_overtaken(&memory("plan", "1", "Open the Till"), &sessions, 12), "it was asked for later");
        if let Some(notes) = &mut sessions[0].notes {
            notes.attributes = vec![("more-requests".to_owned(), "open the\ntill by research".to_owned())];
        }
        assert!(!is_overtaken(&memory("plan", "1", "Open the Till"), &sessions, 12), "these are two requests");
        if let Some(notes) = &mut sessions[0].notes {
            notes.original_request = "fix #7 (\"Open the till\")".to_owned();
            notes.attributes = vec![("request-about".to_owned(), " (\"Open the till\")".to_owned())];
        }
        assert!(!is_overtaken(&memory("plan", "1", "Open the Till"), &sessions, 12), "a title of somebody else");
        assert!(!is_overtaken(&memory("plan", "1", "Search"), &sessions, 12), "a word of another one");
    }

    #[test]
    fn a_plan_that_was_only_made_is_not_told_once_a_later_session_had_it() {
        let later = [record("2", "Implement the plan \"Close the till\"", "It closes.")];
        let said =
            |title: &str| format!("It is open. {}: It rings.", labels::labels(LANGUAGES[0]).made_plan.replace("{}", title));
        assert_eq!(without_made_plan(&said("Close the till"), &later), "It is open.");
        assert_eq!(without_made_plan(&said("Open the till"), &later), said("Open the till"));
        assert_eq!(without_made_plan("It is open.", &later), "It is open.");
    }

    #[test]
    fn a_task_is_done_by_a_later_session_that_tells_it() {
        let sessions =
            [record("2", "Go on", "The cart is red; added a lock to the drawer of the till."), record("1", "", "")];
        assert!(is_overtaken(&memory("task", "1", "Task 3: Added lock drawer till"), &sessions, 12));
        assert!(!is_overtaken(&memory("task", "1", "Paint the drawer and the cart of the till"), &sessions, 12));
    }

    #[test]
    fn what_is_older_than_all_sessions_that_are_read_is_left_to_the_search() {
        let sessions = [record("9", "Go on", "Done.")];
        assert!(is_overtaken(&memory("task", "1", "Paint the drawer"), &sessions, 1));
        assert!(!is_overtaken(&memory("task", "1", "Paint the drawer"), &sessions, 12));
        let saved = Memory { attributes: vec![("source".to_owned(), "saved".to_owned())], ..memory("task", "1", "Paint") };
        assert!(!is_overtaken(&saved, &sessions, 1));
        assert!(!is_overtaken(&memory("learning", "1", "Paint dries"), &sessions, 1));
    }

    #[test]
    fn what_was_wrong_once_is_mended() {
        let sessions = ["9", "8", "7", "6"].map(|id| record(id, "Go on", "Done."));
        let found = |session: &str, said: &str| is_mended(&memory("discovery", session, said), &sessions);
        assert!(found("1", "The issue was a missing lock in `till.rs`."));
        assert!(!found("8", "The issue was a missing lock in `till.rs`."));
        assert!(!found("1", "The issue was that the drawer doesn't respect its key in `till.rs`."));
        assert!(!found("1", "The issues are listed in `till.rs`."));
        assert!(found("1", "`till.rs` — Replaced the lock") && found("1", "`till.rs`: Updated the comment"));
        assert!(!is_mended(&memory("discovery", "1", "Problem: no lock"), &sessions[1..]));
        let mut sessions = sessions;
        if let Some(notes) = &mut sessions[1].notes {
            notes.commits = vec!["Add the lock".to_owned()];
        }
        assert!(is_mended(&memory("learning", "8", "The problem is clear: the drawer has no lock"), &sessions));
        assert!(!is_mended(&memory("learning", "7", "The problem is clear: the drawer has no lock"), &sessions));
    }

    #[test]
    fn what_only_clears_a_change_is_of_its_day() {
        assert!(is_of_its_change("the warning of the till is unrelated to this change"));
        assert!(!is_of_its_change("the till is unrelated to the drawer"));
    }
}
