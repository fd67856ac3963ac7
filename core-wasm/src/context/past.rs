//! What a new session is told of the earlier ones.

use super::line::{self, LINE};
use super::page::{Entry, Page, Part, discovery, said};
use super::{Memories, standing};
use crate::bindings::exports::throughline::policy::context_builder::Request;
use crate::bindings::throughline::policy::types::{Change, Memory, SessionNotes, SessionRecord};
use crate::extract::labels;
use crate::text;

/// The line under the heading.
pub const INTRO: &str =
    "What earlier sessions of this project left. It may be outdated: the user and the code have the last word.";

/// Sessions that are looked at: some of them may hold nothing.
const SESSIONS: u32 = 12;

/// The least importance that shows a memory unasked where its kind alone does not.
const LEAST: f32 = 0.4;

/// The page of a session that knows nothing yet.
pub fn page(request: &Request, memories: &dyn Memories) -> Page {
    let mut page = Page::new(&request.session.root);
    let sessions = memories.sessions(SESSIONS);
    let last = sessions.iter().position(has_result).or_else(|| sessions.iter().position(has_words));
    if let Some(last) = last {
        let record = &sessions[last];
        let stored = memories.of_session(&record.id, &[], 60);
        last_session(&mut page, record, &stored);
    }
    for (kinds, limit) in [(&["decision"][..], 20), (&["error_fix", "failure", "learning", "correction"], 24)] {
        for memory in page.counted(memories.important(kinds, limit), limit as usize) {
            page.remember(&memory, 1.0);
        }
    }
    standing(&mut page, memories, 8, 1.0);
    let earlier = sessions.iter().enumerate().filter(|(at, _)| Some(*at) != last).map(|(_, record)| record);
    topics(&mut page, earlier.filter(|record| has_words(record)));
    others(&mut page, memories);
    page
}

/// The weightiest memories of the kinds that have no part of their own, each with its day: what was planned or undone then
/// may be done by now.
fn others(page: &mut Page, memories: &dyn Memories) {
    let mut all = memories.important(&["plan", "task"], 10);
    all.extend(memories.important(&[], 30));
    for memory in all.iter().filter(|memory| memory.importance >= LEAST) {
        match (Part::of(&memory.kind), line::day(memory.created)) {
            (Some(Part::Other), Some(day)) => {
                let label = if memory.kind == "task" { "left undone" } else { &memory.kind };
                let line = format!("{day}, {label}: {}", said(memory));
                page.add(Part::Other, Entry::of(memory, &line, 0.8));
            }
            _ => page.remember(memory, 0.8),
        }
    }
}

/// Whether anything came of the session, or was left open by it.
fn has_result(record: &SessionRecord) -> bool {
    let Some(notes) = &record.notes else {
        return !record.summary.trim().is_empty();
    };
    let learned = [&notes.done, &notes.commits, &notes.learnings, &notes.preferences];
    !notes.outcome.is_empty()
        || !notes.changes.is_empty()
        || !notes.decisions.is_empty()
        || learned.iter().any(|list| !list.is_empty())
        || is_unfinished(notes)
}

fn has_words(record: &SessionRecord) -> bool {
    let asked = record.notes.as_ref().is_some_and(|notes| !notes.original_request.trim().is_empty());
    asked || !record.summary.trim().is_empty()
}

fn last_session(page: &mut Page, record: &SessionRecord, stored: &[Memory]) {
    if let Some(dates) = dates(record) {
        page.lead(Part::LastSession, format!("Date: {dates}"));
    }
    saved(page, Part::LastSession, stored);
    match &record.notes {
        Some(notes) if has_result(record) => noted(page, notes, stored),
        _ => {
            page.add(Part::LastSession, Entry::labelled("Summary", &record.summary, 1.0));
            let paths: Vec<String> = record.files.iter().map(|file| page.path(file)).collect();
            page.add(Part::LastSession, Entry::labelled("Files", &line::list(&paths, ", ", LINE - 10), 0.9));
        }
    }
    for memory in stored.iter().filter(|memory| Part::of(&memory.kind) != Some(Part::Other)) {
        page.remember(memory, 1.0);
    }
}

/// What was written down of the session by hand, or by the agent when it was asked to.
pub(super) fn saved(page: &mut Page, part: Part, stored: &[Memory]) {
    let by_hand = |memory: &&Memory| {
        memory.kind == "session_summary"
            && memory.attributes.iter().any(|(name, value)| name == "source" && value == "saved")
    };
    for memory in stored.iter().filter(by_hand) {
        for piece in pieces(&memory.content) {
            page.add(part, Entry::labelled("Saved", &piece, 1.0));
        }
    }
}

/// A text in pieces that fit a line each, apart at white space.
fn pieces(text: &str) -> Vec<String> {
    const PIECE: usize = LINE - 20;
    const MOST: usize = 8;
    let mut pieces: Vec<String> = Vec::new();
    for line in text.lines() {
        pieces.push(String::new());
        for word in line.split_whitespace() {
            let last = pieces.last().map_or(0, |piece| piece.chars().count());
            if last > 0 && last + 1 + word.chars().count() > PIECE {
                pieces.push(String::new());
            }
            if let Some(piece) = pieces.last_mut() {
                if !piece.is_empty() {
                    piece.push(' ');
                }
                piece.push_str(word);
            }
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces.truncate(MOST);
    pieces
}

fn noted(page: &mut Page, notes: &SessionNotes, stored: &[Memory]) {
    page.add(Part::LastSession, Entry::labelled("Asked", &notes.original_request, 1.0));
    // A standing rule that was said last stands under the preferences.
    let is_rule = notes.preferences.contains(&notes.current_objective);
    if is_unfinished(notes) && !is_rule {
        page.add(Part::LastSession, Entry::labelled("Last asked", &notes.current_objective, 0.97));
    }
    outcome(page, Part::LastSession, "Outcome", notes);
    files(page, Part::LastSession, notes);
    let undone: Vec<String> = notes.current.iter().chain(&notes.pending).cloned().collect();
    for (label, items) in [("Left undone", &undone), ("Open errors", &notes.errors), ("Blockers", &notes.blockers)] {
        joined(page, Part::LastSession, label, items);
    }
    learned(page, notes, stored);
}

fn dates(record: &SessionRecord) -> Option<String> {
    let notes = record.notes.as_ref();
    let started = record.started.or(notes.and_then(|notes| notes.started)).and_then(line::day);
    let ended = record.ended.or(notes.and_then(|notes| notes.ended)).and_then(line::day);
    match (started, ended) {
        (Some(started), Some(ended)) if started != ended => Some(format!("{started} to {ended}")),
        (started, ended) => ended.or(started),
    }
}

fn is_unfinished(notes: &SessionNotes) -> bool {
    [&notes.current, &notes.pending, &notes.errors, &notes.blockers].iter().any(|list| !list.is_empty())
}

/// How it stands, with what was committed and tested where the words do not say so.
pub fn outcome(page: &mut Page, part: Part, label: &str, notes: &SessionNotes) {
    let words = labels::of(attribute(notes, "language").unwrap_or_default());
    let mut outcome = notes.outcome.trim().to_owned();
    if let Some(tests) = attribute(notes, "tests")
        && !outcome.to_lowercase().contains(words.tests)
        && !outcome.to_lowercase().contains("test")
    {
        outcome = format!("{outcome} ({}: {tests})", words.tests);
    }
    let commits: Vec<&String> = notes.commits.iter().filter(|commit| !outcome.contains(commit.as_str())).collect();
    let (earlier, latest) = commits.split_at(commits.len().saturating_sub(3));
    let mut shown: Vec<String> = latest.iter().map(|commit| format!("\"{}\"", line::cut(&line::safe(commit), 85))).collect();
    if !earlier.is_empty() {
        shown.push(format!("+{}", earlier.len()));
    }
    let commits = shown.join(", ");
    let joined = format!("{} ({}: {commits})", outcome.trim(), words.committed);
    if commits.is_empty() || joined.chars().count() + label.len() + 2 <= LINE {
        let outcome = if commits.is_empty() { outcome } else { joined };
        page.add(part, Entry::labelled(label, outcome.trim(), 0.99));
    } else {
        page.add(part, Entry::labelled(label, &outcome, 0.99));
        page.add(part, Entry::labelled("Commits", &commits, 0.94));
    }
}

fn attribute<'a>(notes: &'a SessionNotes, name: &str) -> Option<&'a str> {
    notes.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// The files that changed most, in the order in which they were changed; those outside the project come last, for they are
/// seldom what a session was about.
pub fn files(page: &mut Page, part: Part, notes: &SessionNotes) {
    let changes: Vec<(bool, &Change)> =
        notes.changes.iter().map(|change| (page.path(&change.path).starts_with('/'), change)).collect();
    let mut order: Vec<usize> = (0..changes.len()).collect();
    order.sort_by_key(|&at| (changes[at].0, std::cmp::Reverse(changes[at].1.added.saturating_add(changes[at].1.removed))));
    order.truncate(8);
    order.sort_by_key(|&at| (changes[at].0, at));
    let mut items: Vec<String> = order.iter().map(|&at| changed(page, changes[at].1)).collect();
    if changes.len() > order.len() {
        items.push(format!("+{}", changes.len() - order.len()));
    }
    page.add(part, Entry::labelled("Files", &line::list(&items, ", ", LINE - 10), 0.9));
}

fn changed(page: &Page, change: &Change) -> String {
    let path = line::safe(&page.path(&change.path));
    match (change.added, change.removed) {
        (0, 0) => path,
        (added, 0) => format!("{path} (+{added})"),
        (0, removed) => format!("{path} (−{removed})"),
        (added, removed) => format!("{path} (+{added} −{removed})"),
    }
}

/// The items as one line of that part.
pub fn joined(page: &mut Page, part: Part, label: &str, items: &[String]) {
    let items: Vec<String> = items.iter().map(|item| line::cut(&line::safe(item), 200)).collect();
    page.add(part, Entry::labelled(label, &line::list(&items, "; ", LINE - 20), 0.96));
}

/// What the notes say that was decided, learned and laid down, in the notes' own words. `stored` tells corrections from
/// rules: the notes hold both in one list.
pub fn learned(page: &mut Page, notes: &SessionNotes, stored: &[Memory]) {
    for (importance, decision) in ranked(0.6, &notes.decisions) {
        let rejected: Vec<String> = decision.rejected.iter().map(|option| line::cut(&line::safe(option), 90)).collect();
        let text = line::decided(&decision.what, &decision.why, &line::list(&rejected, "; ", LINE / 2));
        page.add(Part::Decisions, Entry::new(&text, importance).also(&decision.what));
    }
    for (importance, learning) in ranked(0.6, &notes.learnings) {
        page.add(Part::WatchOut, Entry::new(learning, importance));
    }
    for (importance, rule) in ranked(0.85, &notes.preferences) {
        let of_rule = stored
            .iter()
            .filter(|memory| memory.kind == "preference" || memory.kind == "correction")
            .find(|memory| text::one_line(&memory.content) == *rule || memory.title == *rule);
        let corrects = of_rule.is_some_and(|memory| memory.kind == "correction");
        let part = if corrects { Part::WatchOut } else { Part::Preferences };
        page.add(part, Entry::new(rule, if corrects { importance - 0.2 } else { importance }));
    }
    for (importance, found) in ranked(0.5, &notes.discoveries) {
        let text = discovery(&page.path(&found.file), &found.insight);
        page.add(Part::Knowledge, Entry::new(&text, importance).also(&found.insight));
    }
}

/// The items with their importance: what came later weighs a little more, for the state at the end is what holds.
pub fn ranked<T>(importance: f32, items: &[T]) -> impl Iterator<Item = (f32, &T)> {
    items.iter().enumerate().map(move |(at, item)| {
        let later = u8::try_from(at).unwrap_or(u8::MAX).min(40);
        (importance + f32::from(later) / 1000.0, item)
    })
}

/// What the sessions before the last were about, one line each.
fn topics<'a>(page: &mut Page, sessions: impl Iterator<Item = &'a SessionRecord>) {
    for (record, age) in sessions.zip(0_u8..6) {
        let told = match &record.notes {
            Some(notes) if !notes.original_request.trim().is_empty() => {
                let asked = line::cut(&line::safe(&notes.original_request), 120);
                match text::first_sentence(&notes.outcome) {
                    Some(outcome) => format!("{asked} → {}", line::cut(&line::safe(&outcome), 120)),
                    None => asked,
                }
            }
            _ => line::cut(&line::safe(&record.summary), 240),
        };
        let day = record.ended.or(record.started).and_then(line::day);
        let text = day.map_or_else(|| told.clone(), |day| format!("{day}: {told}"));
        page.add(Part::Topics, Entry::new(&text, 0.45 - f32::from(age) / 100.0).also(&told).whole());
    }
}
