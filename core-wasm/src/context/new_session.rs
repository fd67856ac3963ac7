//! The page of a new session: what the earlier sessions left.

use std::cell::OnceCell;

use super::attributes::{
    MIN_RESULT_WIDTH, attribute, has_result, has_words, hash, is_draft, is_unfinished, saw_merged, was_closed,
};
use super::automated::sessions_of_people;
use super::changed_files::add_files;
use super::check_reports;
use super::course::{self, uncapitalized};
use super::earlier;
use super::later::LaterSessions;
use super::line::{self, MAX_END_CHARS, MAX_LINE_CHARS, MAX_RESULT_CHARS};
use super::page::{Entry, Label, LineLabel, Page, Part, SectionKind, discovery, is_routine, memory_text, parts};
use super::topics::add_topics;
use super::{Memories, add_standing};
use crate::bindings::exports::throughline::policy::context_builder::Request;
use crate::bindings::throughline::policy::types::{Memory, SessionNotes, SessionRecord};
use crate::extract::commits::{is_pull_request, pull_request_number};
use crate::extract::course::END;
use crate::extract::parts_of_result::Kind;
use crate::extract::{MAX_REQUESTS, labels};
use crate::said_by::{SAVED, saved_by};
use crate::text;

/// The line below the heading.
pub(super) const INTRO: &str =
    "What earlier sessions of this project left. It may be outdated: the user and the code have the last word.";

/// The length of a request that is told in full elsewhere, in characters.
const MAX_SHORT_CHARS: usize = 60;
/// How many requests of the last session after the first, and how many decisions, are told in a project with so many sessions. What several sessions learned weighs more.
const MAX_STEPS_OF_MANY: usize = 14;
const MAX_DECISIONS: usize = 8;
const MANY_SESSIONS: usize = 5;
/// The share of a page that the last session takes, in percent: alone or among a few, and among many.
const COURSE_SHARE: usize = 66;
const COURSE_SHARE_OF_MANY: usize = 34;

/// The minimum importance at which a memory is shown although its kind alone does not qualify it.
const MIN_IMPORTANCE: f32 = 0.4;

/// The maximum length of the request beside a task that was left undone, in characters.
const MAX_ASKED_CHARS: usize = 90;
/// The width below which a request says nothing of its tasks.
const MIN_ASKED_WIDTH: usize = 12;

/// The maximum length of the line of what is left undone, in characters.
const MAX_UNDONE_CHARS: usize = 1_000;
/// The same if a request without an answer is among it, of which nothing else tells.
const MAX_REQUESTED_CHARS: usize = 1_350;
/// The maximum length of one run that changed something outside of the repository, and of all of them, in characters.
const MAX_RAN_CHARS: usize = 320;
const MAX_ALL_RAN_CHARS: usize = 800;

/// The maximum number of pull requests that are told.
const MAX_PULL_REQUESTS: usize = 3;

/// Builds the page of a session that knows nothing yet.
pub(super) fn page(request: &Request, memories: &dyn Memories) -> Page {
    let mut page = Page::new(&request.session.root);
    let sessions = sessions_of_people(memories);
    let last = sessions.iter().position(has_result).or_else(|| sessions.iter().position(has_words));
    let record = last.map(|last| &sessions[last]);
    let stored = record.map(|record| memories.of_session(&record.id, &[], 60)).unwrap_or_default();
    if let Some(record) = record {
        let budget = usize::try_from(request.budget).unwrap_or(usize::MAX);
        let (steps, share) = if sessions.len() >= MANY_SESSIONS {
            (MAX_STEPS_OF_MANY, COURSE_SHARE_OF_MANY)
        } else {
            (MAX_REQUESTS, COURSE_SHARE)
        };
        let limits = course::Limits { steps, chars: budget.saturating_mul(share) / 100 };
        add_last_session(&mut page, record, &stored, limits);
    }
    if sessions.len() >= MANY_SESSIONS {
        page.limit(SectionKind::Decisions, MAX_DECISIONS);
    }
    let later = LaterSessions::of(&sessions);
    earlier::add_decisions(&mut page, memories, &later, record.map(|record| record.id.as_str()));
    earlier::add_lessons(&mut page, memories, &later, &stored);
    add_standing(&mut page, memories, 8, 1.0, &later);
    add_topics(&mut page, &later, last);
    // A plan that the last session carried out is told by what came of it.
    let told = last
        .map(|last| &sessions[last])
        .filter(|record| record.notes.as_ref().is_some_and(has_outcome))
        .map(|record| record.id.as_str());
    add_others(&mut page, memories, told, &later);
    page
}

/// Adds the most important memories of kinds without a section of their own, each with its date: plans and open tasks
/// may be done by now.
fn add_others(page: &mut Page, memories: &dyn Memories, told: Option<&str>, later: &LaterSessions) {
    let sessions = later.sessions();
    let mut all = memories.important(&["plan", "task"], 10);
    all.extend(memories.important(&[], 30));
    all.retain(|memory| memory.kind != "plan" || Some(memory.session_id.as_str()) != told);
    all.retain(|memory| memory.importance >= MIN_IMPORTANCE);
    let (overtaken, all): (Vec<Memory>, Vec<Memory>) =
        all.into_iter().partition(|memory| matches!(memory.kind.as_str(), "plan" | "task") && later.has_overtaken(memory));
    for memory in &overtaken {
        page.leave_out(memory);
    }
    for memory in &all {
        match (SectionKind::of(&memory.kind), line::day(memory.created)) {
            (Some(SectionKind::Other), Some(day)) => {
                let label = if memory.kind == "task" { "left undone" } else { &memory.kind };
                let asked = asked_in(memory, sessions);
                let line = format!("{day}, {label}: {}{asked}", memory_text(memory));
                page.add(SectionKind::Other, Entry::from_memory(memory, &line, 0.8));
            }
            _ => page.add_memory(memory, 0.8),
        }
    }
}

/// Returns in parentheses what was asked for in the session that left a task undone: "update the tests" alone says nothing a week later.
fn asked_in(memory: &Memory, sessions: &[SessionRecord]) -> String {
    let record = sessions.iter().find(|record| memory.kind == "task" && record.id == memory.session_id);
    let asked = record.and_then(|record| record.notes.as_ref()).map(|notes| line::sanitize(&notes.original_request));
    // "1" says less than the task.
    match asked.filter(|asked| text::width(asked) >= MIN_ASKED_WIDTH) {
        Some(asked) => format!(" (asked: {})", line::truncate(&asked, MAX_ASKED_CHARS)),
        None => String::new(),
    }
}

fn has_outcome(notes: &SessionNotes) -> bool {
    !notes.outcome.trim().is_empty()
}

fn add_last_session(page: &mut Page, record: &SessionRecord, stored: &[Memory], limits: course::Limits) {
    if let Some(dates) = dates(record) {
        page.lead(SectionKind::LastSession, format!("Date: {dates}"));
    }
    add_saved(page, SectionKind::LastSession, stored);
    match &record.notes {
        Some(notes) if has_result(record) => add_notes(page, notes, stored, limits),
        _ => {
            page.add(SectionKind::LastSession, Entry::session_line(Label::Summary, &record.summary, 1.0));
            let paths: Vec<String> = record.files.iter().map(|file| page.path(file)).collect();
            page.add(
                SectionKind::LastSession,
                Entry::session_line(Label::Files, &line::join(&paths, ", ", MAX_LINE_CHARS - 10), 0.9),
            );
        }
    }
    let is_told = |memory: &&Memory| SectionKind::of(&memory.kind) != Some(SectionKind::Other) && !is_routine(memory);
    if let Some(answers) = record.notes.as_ref().map(Answers::of) {
        let repeats =
            |memory: &&Memory| answers.say(if memory.content.is_empty() { &memory.title } else { &memory.content });
        let repeated: Vec<&Memory> = stored.iter().filter(repeats).collect();
        page.pass_over(&repeated);
    }
    for memory in stored.iter().filter(is_told) {
        page.add_memory(memory, 1.0);
    }
}

/// Adds what was saved by hand, or by the agent when it was asked to.
pub(super) fn add_saved(page: &mut Page, kind: SectionKind, stored: &[Memory]) {
    let by_hand = |memory: &&Memory| memory.kind == "session_summary" && saved_by(memory) == Some(SAVED);
    for memory in stored.iter().filter(by_hand) {
        for piece in pieces(&memory.content) {
            page.add(kind, Entry::session_line(Label::Saved, &piece, 1.0));
        }
    }
}

/// Splits a text at white space into pieces that fit on one line each.
fn pieces(text: &str) -> Vec<String> {
    const PIECE: usize = MAX_LINE_CHARS - 20;
    const MAX_PIECES: usize = 8;
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
    pieces.truncate(MAX_PIECES);
    pieces
}

/// Returns why the latest plan was carried out, what it does and what it leaves alone: behind the first request, and behind the later ones
/// if it was for one of these.
fn plan_reason(notes: &SessionNotes) -> (String, String) {
    let words = labels::of(attribute(notes, "language").unwrap_or_default());
    let title = attribute(notes, "plan-title").map(|title| format!(" (\"{}\")", line::sanitize(title)));
    let mut of_title = title.as_deref().unwrap_or_default();
    let mut said = String::new();
    for (name, label) in [("plan-reason", words.why), ("plan-goal", words.goal), ("plan-limits", words.limits)] {
        if let Some(told) = attribute(notes, name) {
            said = format!("{said} — {label}{of_title}: {}", line::sanitize(told));
            of_title = "";
        }
    }
    if title.is_some() { (String::new(), said) } else { (said, String::new()) }
}

fn add_notes(page: &mut Page, notes: &SessionNotes, stored: &[Memory], limits: course::Limits) {
    // A standing rule that was stated last appears under the preferences.
    let objective = notes.current_objective.as_str();
    let is_rule = !objective.is_empty() && notes.preferences.iter().any(|rule| rule.starts_with(objective));
    // With an outcome it was answered, or is told as left undone.
    let is_open = !has_outcome(notes) && is_unfinished(notes) && !is_rule;
    let request = line::sanitize(&notes.original_request);
    let (reason, later_reason) = plan_reason(notes);
    let mut asked = Entry::result_line(Label::Asked, &request, 1.0);
    if !(reason.is_empty() && later_reason.is_empty()) {
        asked = asked.with_whole_text(&Label::Asked.line(&format!("{request}{reason}{later_reason}")), MAX_RESULT_CHARS);
    }
    add_recap(page, SectionKind::LastSession, notes);
    let label = end_label(notes);
    course::add(page, notes, &asked, limits, |page| add_outcome(page, SectionKind::LastSession, &label, notes));
    if is_open {
        page.add(SectionKind::LastSession, Entry::session_line(Label::LastAsked, &notes.current_objective, 0.97));
    }
    // Without results these are the tasks of a list, mostly too short for a line each. The outcome tells what they name.
    if attribute(notes, "done") == Some("tasks") && !has_outcome(notes) {
        add_joined(page, SectionKind::LastSession, Label::Did, &notes.done);
    }
    let lines_of = |name: &str| -> Vec<String> {
        let items = attribute(notes, name).into_iter().flat_map(str::lines);
        items.map(|item| line::truncate(&line::sanitize(item), MAX_RAN_CHARS)).collect()
    };
    for (name, label) in [("ran", Label::Ran), ("requests", Label::Requests)] {
        let told = line::join(&lines_of(name), "; ", MAX_ALL_RAN_CHARS);
        page.add(SectionKind::LastSession, Entry::result_line(label, &told, 0.98));
    }
    let filed: Vec<String> = attribute(notes, "filed").into_iter().flat_map(str::lines).map(str::to_owned).collect();
    add_joined(page, SectionKind::LastSession, Label::Filed, &filed);
    // That a plan was refused is how the session ended, or what came of its last request, too.
    let records = course::records(notes);
    let is_told = |item: &str| notes.outcome.contains(item) || records.contains(&item);
    let is_beside_outcome = |item: &str| has_outcome(notes) && never_run(notes) == Some(item);
    let undone = notes.current.iter().chain(&notes.pending).filter(|it| !is_told(it) && !is_beside_outcome(it));
    let undone: Vec<String> = undone.map(|item| in_short(item, notes)).collect();
    add_undone(page, &undone, notes);
    let steps = attribute(notes, "last-steps").unwrap_or_default();
    page.add(SectionKind::LastSession, Entry::result_line(Label::LastSteps, steps, 0.96));
    add_files(page, SectionKind::LastSession, notes);
    let is_open = |error: &&String| !has_cause(error, stored) && !is_cause_of_verdict(error, notes);
    let errors: Vec<String> = notes.errors.iter().filter(is_open).cloned().collect();
    add_joined(page, SectionKind::LastSession, Label::OpenErrors, &errors);
    add_joined(page, SectionKind::LastSession, Label::Blockers, &notes.blockers);
    add_learned(page, notes, stored);
}

/// Returns what stands before how the session ended: that it only proposed something, or what the user then said against it.
fn end_label(notes: &SessionNotes) -> LineLabel {
    match attribute(notes, "end-disputed").map(line::sanitize) {
        _ if attribute(notes, "end") == Some("proposed") => Label::Proposed.into(),
        _ if attribute(notes, "end") == Some("unchanged") => Label::Outcome.with(" (nothing changed or written yet)"),
        Some(words) => Label::Outcome.with(&format!(", but the user then said {words}")),
        None => match attribute(notes, "end-confirmed").map(line::sanitize) {
            Some(words) => Label::Outcome.with(&format!(", confirmed by the user ({words})")),
            // Its success is not that of the last request.
            None if attribute(notes, "end") == Some("before") => Label::Outcome.with(" (before the last request)"),
            None => Label::Outcome.into(),
        },
    }
}

/// Adds where the session stood, as the client wrote it down for the user.
pub(super) fn add_recap(page: &mut Page, kind: SectionKind, notes: &SessionNotes) {
    let recap = attribute(notes, "recap").unwrap_or_default();
    page.add(kind, Entry::result_line(Label::Recap, recap, 0.995));
}

/// Returns whether a memory tells an open error with its cause: then it stands among what to watch out for.
fn has_cause(error: &str, stored: &[Memory]) -> bool {
    let Some((command, said)) = error.split_once("`: ") else { return false };
    stored.iter().any(|memory| memory.content.starts_with(&format!("{command}` ")) && memory.content.contains(said))
}

/// Returns whether the verdict of a check tells an open error, as the reason why the check failed.
fn is_cause_of_verdict(error: &str, notes: &SessionNotes) -> bool {
    let Some((_, said)) = error.split_once("`: ") else { return false };
    // The verdict may have less room for it.
    let start = text::head(said, MAX_SHORT_CHARS).split(';').next().unwrap_or_default();
    attribute(notes, "evidence").is_some_and(|all| !start.is_empty() && all.contains(&format!("({start}")))
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

/// Adds the outcome, with the commits that no other line tells and with the state in which the work was left.
pub(super) fn add_outcome(page: &mut Page, kind: SectionKind, label: &LineLabel, notes: &SessionNotes) {
    let words = labels::of(attribute(notes, "language").unwrap_or_default());
    // Tools say more surely than the agent how the checks ended.
    let not_run = words.not_run_since.split(':').next().unwrap_or_default();
    let tests = attribute(notes, "tests").map(|tests| format!("tests: {tests}"));
    let evidence = attribute(notes, "evidence").into_iter().flat_map(|all| all.split("; "));
    let evidence: Vec<&str> = tests.as_deref().into_iter().chain(evidence).collect();
    let said = check_reports::without_reports(&notes.outcome, &evidence, not_run);
    let state = work_state(notes, &said);
    let state = if state.is_empty() { state } else { format!(" ({})", line::sanitize(&state)) };
    // The state is short and certain, so the outcome is shortened before it.
    let room = MAX_END_CHARS.saturating_sub(label.text().chars().count() + 2 + state.chars().count());
    let mut parts = parts(notes, END, &notes.outcome);
    if !parts.is_empty() && !state.is_empty() {
        parts.push(Part { kind: Kind::Line, opening: state.trim().to_owned() });
    }
    let outcome = format!("{}{state}", line::truncate(&line::sanitize(&said), room));
    let (pull_requests, commits): (Vec<&String>, Vec<&String>) =
        notes.commits.iter().partition(|commit| is_pull_request(commit));
    let is_titled = |commit: &str| pull_requests.iter().any(|it| it.starts_with(&format!("{commit} (")));
    let commits: Vec<&String> = commits.into_iter().filter(|commit| !is_told(notes, commit) && !is_titled(commit)).collect();
    let (earlier, latest) = commits.split_at(commits.len().saturating_sub(3));
    let quoted = |commit: &&String| {
        let subject = text::quoted(&line::truncate(&line::sanitize(commit), 85));
        hash(notes, commit).map_or_else(|| subject.clone(), |hash| format!("{hash} {subject}"))
    };
    let mut shown: Vec<String> = latest.iter().map(quoted).collect();
    if !earlier.is_empty() {
        shown.push(format!("+{}", earlier.len()));
    }
    let commits = shown.join(", ");
    let joined = format!("{} ({}: {commits})", outcome.trim(), words.committed);
    if commits.is_empty() || joined.chars().count() + label.text().len() + 2 <= MAX_LINE_CHARS {
        let outcome = if commits.is_empty() { outcome } else { joined };
        page.add(kind, Entry::end_line(label.clone(), outcome.trim(), 0.99).with_parts(parts));
    } else {
        page.add(kind, Entry::end_line(label.clone(), &outcome, 0.99).with_parts(parts));
        page.add(kind, Entry::session_line(Label::Commits, &commits, 0.94));
    }
}

/// Returns whether the outcome or the result of a turn says this already.
fn is_told(notes: &SessionNotes, said: &str) -> bool {
    let results = notes.done.iter().filter(|done| text::width(done) >= MIN_RESULT_WIDTH);
    results.chain([&notes.outcome]).any(|line| line.contains(said))
}

/// Returns the letters and digits of a text, by which it is known whatever marks stand between them.
fn letters(said: &str) -> String {
    said.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// What the answers of a session say, to find the learnings that only repeat it.
struct Answers<'n> {
    notes: &'n SessionNotes,
    /// The letters of each, once they were asked for.
    letters: OnceCell<Vec<String>>,
}

impl<'n> Answers<'n> {
    fn of(notes: &'n SessionNotes) -> Self {
        Self { notes, letters: OnceCell::new() }
    }

    /// Returns whether a learning only repeats what an answer says of a failed job, and not what mended it.
    fn say(&self, learning: &str) -> bool {
        let words = labels::of(attribute(self.notes, "language").unwrap_or_default());
        let said = learning.strip_prefix(words.ci_failed.trim_end_matches("{}"));
        let Some(first) = said.filter(|said| !said.contains(words.fixed_by)).and_then(text::first_sentence) else {
            return false;
        };
        let answers = || self.notes.done.iter().chain([&self.notes.outcome]);
        let all = self.letters.get_or_init(|| answers().map(|said| letters(said)).collect());
        let first = letters(&first);
        all.iter().any(|said| said.contains(&first))
    }
}

/// Returns the state in which the work was left, as tools reported it: the counts of the last tests, the last verdicts of
/// the checks, where it was pushed, and its pull requests. Leaves out what `said`, the outcome as it is shown, says. May be empty.
fn work_state(notes: &SessionNotes, said: &str) -> String {
    let words = labels::of(attribute(notes, "language").unwrap_or_default());
    let mut items = Vec::new();
    if let Some(tests) = attribute(notes, "tests") {
        let passed = tests.split(' ').next().unwrap_or_default();
        let is_failing = !tests.ends_with(" 0 fail");
        // A count says nothing of the tests that did not run, or of what was changed since.
        let age = attribute(notes, "tests-age").map(|age| format!(", {age}")).unwrap_or_default();
        if is_failing || !age.is_empty() || !check_reports::tells_count(said, passed) {
            items.push(format!("{}: {tests}{age}", words.tests));
        }
    }
    let only_run = words.only_run.split('`').next().unwrap_or_default();
    let told = |item: &&str| {
        if item.starts_with("some tests: ") && said.contains(only_run) {
            return true;
        }
        let name = item.strip_suffix(": pass").map(|name| name.trim_end_matches("check"));
        // "Lint is clean" need not be said again. That the tests ran is worth a word always.
        name.is_some_and(|name| name != "tests" && check_reports::reports_check(said, name))
    };
    items.extend(
        attribute(notes, "evidence").into_iter().flat_map(|all| all.split("; ")).filter(|it| !told(it)).map(str::to_owned),
    );
    // Nobody looked at how it was before.
    if attribute(notes, "older-faults").is_some() && check_reports::says_older(said) {
        items.push(words.older_faults.to_owned());
    }
    items.extend(never_run(notes).map(uncapitalized));
    let tags = attribute(notes, "tags").into_iter().flat_map(|tags| tags.split(' '));
    items.extend(tags.filter(|tag| !notes.outcome.contains(*tag)).map(|tag| format!("tag {tag}")));
    let pull_requests: Vec<&String> = notes.commits.iter().filter(|commit| is_pull_request(commit)).collect();
    // Those that are over say less than those that wait for somebody.
    let is_over = |line: &&&String| {
        pull_request_number(line).is_some_and(|it| saw_merged(notes, &it.to_string()) || was_closed(notes, &it.to_string()))
    };
    let (over, open): (Vec<&String>, Vec<&String>) = pull_requests.iter().partition(is_over);
    let open = &open[open.len().saturating_sub(MAX_PULL_REQUESTS)..];
    let over = &over[over.len().saturating_sub(MAX_PULL_REQUESTS - open.len())..];
    items.extend(open.iter().chain(over).filter_map(|line| pull_request_text(notes, line)));
    items.join("; ")
}

/// Returns the item of what is left undone that says that nothing was run, at all or since the last change.
fn never_run(notes: &SessionNotes) -> Option<&str> {
    let words = labels::of(attribute(notes, "language").unwrap_or_default());
    notes.pending.iter().map(String::as_str).find(|item| [words.never_run, words.nothing_run].contains(item))
}

/// Returns the number of a pull request and whether it is merged, its title and its address, the latter unless the outcome tells them.
fn pull_request_text(notes: &SessionNotes, line: &str) -> Option<String> {
    let (title, url) = match line.rsplit_once(" (") {
        Some((title, url)) => (title, url.trim_end_matches(')')),
        None => ("", line),
    };
    let number = pull_request_number(url)?.to_string();
    let draft = labels::of(attribute(notes, "language").unwrap_or_default()).draft;
    let is_merged = saw_merged(notes, &number);
    let state = match (is_merged, is_draft(notes, &number)) {
        (true, _) => "merged",
        _ if was_closed(notes, &number) => "closed",
        (false, true) => draft,
        // Only the client names it, and perhaps an earlier session opened it.
        (false, false) if title.is_empty() => "of the branch",
        // Somebody may have merged it since then.
        (false, false) => "opened",
    };
    let mut text = format!("PR #{number} ({state})");
    let (tells_url, tells_title) = (notes.outcome.contains(url), title.is_empty() || is_told(notes, title));
    if !tells_title {
        text = format!("{text} \"{}\"", line::truncate(&line::sanitize(title), 120));
    }
    if !tells_url {
        text = format!("{text}: {url}");
    }
    (!tells_url || !tells_title || !is_merged).then_some(text)
}

/// Adds the items as one line of the section.
pub(super) fn add_joined(page: &mut Page, kind: SectionKind, label: Label, items: &[String]) {
    let items: Vec<String> = items.iter().map(|item| line::truncate(&line::sanitize(item), 200)).collect();
    page.add(kind, Entry::session_line(label, &line::join(&items, "; ", MAX_LINE_CHARS - 20), 0.96));
}

/// Returns an item of what is left undone. A request in it is shortened if it is told in full with the others.
fn in_short(item: &str, notes: &SessionNotes) -> String {
    let Some((at, said)) = request_in(item, notes) else { return item.to_owned() };
    let start = text::head(said, MAX_SHORT_CHARS);
    let is_told = attribute(notes, "course").is_some_and(|course| course.contains(start));
    if is_told { format!("{}{}", &item[..at], text::clip(said, MAX_SHORT_CHARS)) } else { item.to_owned() }
}

/// Returns the request in an item that tells of one without an answer, and where it begins.
fn request_in<'i>(item: &'i str, notes: &SessionNotes) -> Option<(usize, &'i str)> {
    let words = labels::of(attribute(notes, "language").unwrap_or_default());
    let labels = [words.open_request, words.begun_request, words.interrupted, words.interrupted_unchanged];
    let split = |label: &str| item.strip_prefix(label)?.strip_prefix(": ").map(|said| (item.len() - said.len(), said));
    labels.into_iter().find_map(split)
}

/// Adds what is left undone, each item whole: what was not checked says nothing without its reason.
fn add_undone(page: &mut Page, items: &[String], notes: &SessionNotes) {
    let is_request = |item: &String| request_in(item, notes).is_some();
    let room = |item: &String| if is_request(item) { MAX_REQUESTED_CHARS } else { MAX_UNDONE_CHARS / 2 };
    let max = if items.iter().any(is_request) { MAX_REQUESTED_CHARS } else { MAX_UNDONE_CHARS };
    let items: Vec<String> = items.iter().map(|item| line::truncate(&line::sanitize(item), room(item))).collect();
    let joined = line::join(&items, "; ", max).replace(".; ", ". ");
    page.add(SectionKind::LastSession, Entry::result_line(Label::LeftUndone, &joined, 0.96));
}

/// Adds the decisions, learnings and rules from the notes, in the notes' own words. `stored` distinguishes corrections
/// from rules, which the notes keep in one list.
pub(super) fn add_learned(page: &mut Page, notes: &SessionNotes, stored: &[Memory]) {
    for (place, decision) in notes.decisions.iter().enumerate() {
        let rejected: Vec<String> =
            decision.rejected.iter().map(|option| line::truncate(&line::sanitize(option), 90)).collect();
        let text = line::decision_line(&decision.what, &decision.why, &rejected.join("; "));
        page.add(SectionKind::Decisions, Entry::decision(&text, 0.6).with_place(place).with_key(&decision.what));
    }
    let answers = Answers::of(notes);
    for (importance, learning) in by_recency(0.6, &notes.learnings).filter(|(_, learning)| !answers.say(learning)) {
        page.add(SectionKind::WatchOut, Entry::new(learning, importance));
    }
    for (importance, rule) in by_recency(0.85, &notes.preferences) {
        let of_rule = stored
            .iter()
            .filter(|memory| memory.kind == "preference" || memory.kind == "correction")
            .find(|memory| text::one_line(&memory.content) == *rule || memory.title == *rule);
        let corrects = of_rule.is_some_and(|memory| memory.kind == "correction");
        let kind = if corrects { SectionKind::WatchOut } else { SectionKind::Preferences };
        let importance = if corrects { importance - 0.2 } else { importance };
        page.add(kind, Entry::new(rule, importance).of_correction(corrects));
    }
    for (importance, found) in by_recency(0.5, &notes.discoveries) {
        let text = discovery(&page.path(&found.file), &found.insight);
        page.add(SectionKind::Knowledge, Entry::new(&text, importance).with_key(&found.insight));
    }
}

/// Returns the items with their importance. Later items get slightly more, because the latest state counts.
pub(super) fn by_recency<T>(importance: f32, items: &[T]) -> impl Iterator<Item = (f32, &T)> {
    items.iter().enumerate().map(move |(at, item)| {
        let later = u8::try_from(at).unwrap_or(u8::MAX).min(40);
        (importance + f32::from(later) / 1000.0, item)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::overtaken::tests::empty_notes;

    #[test]
    fn what_speaks_against_the_outcome_stands_beside_it() {
        let words = ("end-disputed".to_owned(), "\"it is still green\"".to_owned());
        let notes = SessionNotes { attributes: vec![words], pending: vec!["Nothing was run".to_owned()], ..empty_notes() };
        assert_eq!(end_label(&notes).text(), "Outcome, but the user then said \"it is still green\"");
        assert_eq!(end_label(&empty_notes()).text(), "Outcome");
        let before = SessionNotes { attributes: vec![("end".to_owned(), "before".to_owned())], ..empty_notes() };
        assert_eq!(end_label(&before).text(), "Outcome (before the last request)");
        assert_eq!(work_state(&notes, ""), "nothing was run");
    }

    #[test]
    fn a_request_that_is_told_above_is_named_by_its_beginning() {
        let asked = "print the slip of the night till, and fold it in the middle before anybody takes it out of the drawer";
        let course = ("course".to_owned(), format!("end {asked}\t"));
        let notes = SessionNotes { attributes: vec![course], ..empty_notes() };
        let short = "Request without an answer: print the slip of the night till, and fold it in the…";
        assert_eq!(in_short(&format!("Request without an answer: {asked}"), &notes), short);
        let other = format!("Request without an answer: {}", asked.replace("print", "tear"));
        assert_eq!(in_short(&other, &notes), other, "nothing else tells it");
        let stopped = "Interrupted by the user; nothing changed";
        assert_eq!(in_short(stopped, &notes), stopped);
    }
}
