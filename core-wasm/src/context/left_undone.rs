//! What an earlier session left undone and no later one took up: it stands behind the line about that session.

use super::attributes::attribute;
use super::later::LaterSessions;
use super::line::{self, LANGUAGES};
use super::overtaken::asks_for;
use crate::bindings::throughline::policy::types::SessionNotes;
use crate::extract::labels::{self, Labels};
use crate::text;

/// How many things are told of a session, and the maximum length of each, in characters.
const MAX_ITEMS: usize = 2;
const MAX_CHARS: usize = 130;
/// The width below which a task says nothing without the others of its list.
const MIN_WIDTH: usize = 24;
/// How many sessions, with the last one, may still go on with what one of them left.
const RECENT_SESSIONS: usize = 5;

/// Returns what the session at that place left undone and no later one took up. None if that is nothing, or if nobody would take it up.
pub(super) fn left_undone(notes: &SessionNotes, later: &LaterSessions, at: usize) -> Option<String> {
    // What nobody took up in so many sessions was done elsewhere, or is not wanted any more.
    if at >= RECENT_SESSIONS {
        return None;
    }
    let items = notes.current.iter().chain(&notes.pending).filter(|item| is_open(item, later, at));
    let words = labels::of(attribute(notes, "language").unwrap_or_default());
    let told = |item: &String| line::brief(&line::sanitize(&without_label(item, words)), MAX_CHARS).replace("; ", ", ");
    let told: Vec<String> = items.take(MAX_ITEMS).map(told).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// Returns an item without what is said anew by its place: a plan that was not carried out is told by its title.
fn without_label(item: &str, words: &Labels) -> String {
    let made = words.made_plan.split("{}").next().and_then(|label| item.strip_prefix(label));
    let (Some(said), Some((_, after))) = (made, words.plan.split_once("{}")) else { return item.to_owned() };
    let title = after.chars().next().and_then(|mark| said.split_once(mark)).map_or(said, |(title, _)| title);
    words.plan.replace("{}", title)
}

/// Returns whether an item is still open, as far as the later sessions say.
fn is_open(item: &str, later: &LaterSessions, at: usize) -> bool {
    let begins = |of: fn(&Labels) -> &'static str| {
        let is_label = |label: &str| !label.is_empty() && item.starts_with(label);
        LANGUAGES.map(labels::labels).into_iter().any(|words| is_label(of(words).split("{}").next().unwrap_or_default()))
    };
    let put_aside: [fn(&Labels) -> &'static str; 3] = [|it| it.stashed, |it| it.handoff, |it| it.written_plan];
    if put_aside.into_iter().any(begins) {
        return true;
    }
    if begins(|it| it.made_plan) {
        let title = item.split(['"', '「', '」']).nth(1).unwrap_or_default();
        let mut sessions = later.sessions()[..at].iter().filter_map(|record| record.notes.as_ref());
        return !sessions.any(|notes| asks_for(notes, title)) && !later.has_taken_up(at, title);
    }
    // How the last request ended, and what was not run or checked then, is of its day.
    let of_its_day: [fn(&Labels) -> &'static str; 15] = [
        |it| it.open_question,
        |it| it.open_request,
        |it| it.begun_request,
        |it| it.still_running,
        |it| it.stopped_at,
        |it| it.refused_plan,
        |it| it.refused_run,
        |it| it.not_checked,
        |it| it.not_merged,
        |it| it.expected,
        |it| it.never_run,
        |it| it.unrun,
        |it| it.interrupted,
        |it| it.interrupted_unchanged,
        |it| it.cause_open,
    ];
    !of_its_day.into_iter().any(begins)
        && text::width(item) >= MIN_WIDTH
        && !item.ends_with(['?', '？'])
        && !is_remark(&item.to_lowercase())
        && !later.has_taken_up(at, item)
}

/// Returns whether an item in lower case is a remark to the user at the end of a talk, and no task: what only the user could do was soon
/// done, and what the agent had not seen then is of its day.
fn is_remark(lower: &str) -> bool {
    const TO_THE_USER: [&str; 9] = ["i", "i'm", "i've", "i’m", "i’ve", "we", "you", "you'll", "you’ll"];
    const DOUBTS: [&str; 4] = ["worth checking", "worth a look", "might ", "may be "];
    text::contains_any_words(lower, &TO_THE_USER) || text::contains_any(lower, &DOUBTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::throughline::policy::types::SessionRecord;
    use crate::context::overtaken::tests::empty_notes;

    fn record(notes: SessionNotes) -> SessionRecord {
        let (summary, topics, files) = Default::default();
        SessionRecord { id: String::new(), started: None, ended: None, summary, topics, files, notes: Some(notes) }
    }

    fn told(pending: &[&str], done_later: &str) -> Option<String> {
        let pending = pending.iter().map(|it| (*it).to_owned()).collect();
        let sessions = [
            record(SessionNotes { outcome: done_later.to_owned(), ..empty_notes() }),
            record(SessionNotes { pending, ..empty_notes() }),
        ];
        left_undone(sessions[1].notes.as_ref()?, &LaterSessions::of(&sessions), 1)
    }

    #[test]
    fn what_no_later_session_took_up_is_told() {
        let words = labels::labels(LANGUAGES[0]);
        let task = "Paint the drawer of the night till red";
        let of_its_day = format!("{}: shall I close it?", words.open_question);
        let unrun = words.unrun.replace("{}", "`till/Dockerfile`");
        let pending = [of_its_day.as_str(), task, words.never_run, &unrun, "Lint"];
        assert_eq!(told(&pending, "The bell rings.").as_deref(), Some(task));
        assert_eq!(told(&[task], "Paint the drawer of the night till red: done, it is dry."), None);
        let unrun = words.unrun.replace("{}", "`till.yml`");
        assert_eq!(told(&[&unrun, "The drawer is red, but I have not seen it open"], "The bell rings."), None);
        let plan = words.made_plan.replace("{}", "Close the night till");
        let named = words.plan.replace("{}", "Close the night till");
        assert_eq!(told(&[&format!("{plan}: Ring first; close it.")], "The bell rings."), Some(named));
    }
}
