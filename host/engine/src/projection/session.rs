//! `sessions/YYYY-MM-DD_HHMM.md`: one session, for people.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use jiff::tz::TimeZone;

use super::text::{code, line, list, local, stamp};
use throughline_model::contract::{Decision, Memory, SessionRecord};
use throughline_store::{MemoryFilter, Result, SAVED, Store};

/// The prefix of the line that identifies a file as a session's.
const OF: &str = "- Session: ";

/// Returns the file name of each session by its identifier. Sessions of the same minute are numbered in order, so that
/// the names depend only on what is stored. `times` must be in that order.
pub(super) fn names(times: &[(String, u64)], zone: &TimeZone) -> BTreeMap<String, String> {
    let mut taken: HashMap<String, u32> = HashMap::new();
    times
        .iter()
        .map(|(session, at)| {
            let base = minute(*at, zone);
            let number = taken.entry(base.clone()).and_modify(|number| *number += 1).or_insert(1);
            let name = if *number == 1 { format!("{base}.md") } else { format!("{base}_{number}.md") };
            (session.clone(), name)
        })
        .collect()
}

/// Returns the common prefix of the names of all sessions of a minute.
pub(super) fn minute(at: u64, zone: &TimeZone) -> String {
    local(at, zone).strftime("%Y-%m-%d_%H%M").to_string()
}

/// Returns whether a file with this name and text was written by this program.
pub(super) fn is_ours(name: &str, text: &str) -> bool {
    let shape = |name: &str| {
        name.len() >= 15
            && name.bytes().take(15).enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                10 => byte == b'_',
                _ => byte.is_ascii_digit(),
            })
    };
    name.strip_suffix(".md").is_some_and(shape)
        && text.starts_with("# ")
        && text.lines().nth(2).is_some_and(|it| it.starts_with(OF))
}

/// Returns the summary that was saved for a session with the save command.
pub(super) fn saved_summary(store: &Store, project: &str, session: &str) -> Result<Option<Memory>> {
    let filter = MemoryFilter {
        project: Some(project.into()),
        session: Some(session.into()),
        kinds: vec!["session_summary".into()],
        ..MemoryFilter::default()
    };
    let by_hand = |memory: &Memory| memory.attributes.iter().any(|(name, value)| (name.as_str(), value.as_str()) == SAVED);
    Ok(store.recent(&filter, 8)?.into_iter().find(by_hand))
}

/// Returns the file's text.
pub(super) fn page(session: &SessionRecord, at: u64, saved: Option<&Memory>, zone: &TimeZone) -> String {
    let notes = session.notes.clone().unwrap_or_default();
    let mut page = format!("# Session of {}\n\n{OF}{}\n", local(at, zone).strftime("%Y-%m-%d %H:%M"), code(&session.id));
    for (name, at) in [("Started", session.started), ("Ended", session.ended)] {
        if let Some(at) = at {
            let _ = writeln!(page, "- {name}: {}", stamp(at));
        }
    }
    if notes.turns > 0 {
        let _ = writeln!(page, "- Turns: {}", notes.turns);
    }
    let objective = if notes.current_objective == notes.original_request { "" } else { &notes.current_objective };
    let lines = |items: &[String]| items.iter().map(|item| line(item)).collect::<Vec<_>>();
    let one = |text: &str| Some(line(text)).filter(|text| !text.is_empty()).into_iter().collect::<Vec<_>>();
    let outcome = if notes.outcome.is_empty() { &session.summary } else { &notes.outcome };
    let open = [&notes.current, &notes.pending, &notes.blockers, &notes.errors].into_iter().flatten().map(|item| line(item));
    let changes =
        notes.changes.iter().map(|change| format!("{} (+{} −{})", code(&change.path), change.added, change.removed));
    let learned = notes
        .learnings
        .iter()
        .map(|learning| line(learning))
        .chain(notes.discoveries.iter().map(|found| format!("{}: {}", code(&found.file), line(&found.insight))));
    let summary = saved.map(|memory| quote(&memory.content)).unwrap_or_default();
    let sections = [
        ("Request", one(&notes.original_request)),
        ("Objective", one(objective)),
        ("Outcome", one(outcome)),
        ("Summary", summary),
        ("Decisions", list(notes.decisions.iter().map(decision))),
        ("Done", list(lines(&notes.done))),
        ("Open", list(open)),
        ("Files Changed", list(changes)),
        ("Commits", list(lines(&notes.commits))),
        ("Learnings", list(learned)),
    ];
    for (title, lines) in sections {
        if !lines.is_empty() {
            let _ = write!(page, "\n## {title}\n{}\n", lines.join("\n"));
        }
    }
    page
}

/// Formats a decision in one line.
pub(super) fn decision(decision: &Decision) -> String {
    let mut text = line(&decision.what);
    if !decision.why.trim().is_empty() {
        let _ = write!(text, " — {}", line(&decision.why));
    }
    if !decision.rejected.is_empty() {
        let rejected: Vec<String> = decision.rejected.iter().map(|option| line(option)).collect();
        let _ = write!(text, " (rejected: {})", rejected.join("; "));
    }
    text
}

/// Quotes a text of several lines, so that no line can be a heading.
fn quote(text: &str) -> Vec<String> {
    text.trim().lines().map(|text| format!("> {}", line(text)).trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_of_one_minute_have_names_of_their_own() {
        let zone = TimeZone::fixed(jiff::tz::offset(9));
        // 2026-01-15T10:30:00Z and later.
        let at = 1_768_473_000_000;
        let times = [("b".to_owned(), at), ("a".to_owned(), at + 10_000), ("c".to_owned(), at + 60_000)];
        let found = names(&times, &zone);
        let names: Vec<&str> = ["a", "b", "c"].iter().map(|id| found[*id].as_str()).collect();
        assert_eq!(names, ["2026-01-15_1930_2.md", "2026-01-15_1930.md", "2026-01-15_1931.md"]);
        let text = page(&SessionRecord { id: "b".into(), ..SessionRecord::default() }, at, None, &zone);
        assert!(names.iter().all(|name| is_ours(name, &text)));
        assert!(!is_ours("notes.md", &text) && !is_ours("2026-01-15_1930.md", "# Mine\n\n- Session notes\n"));
    }
}
