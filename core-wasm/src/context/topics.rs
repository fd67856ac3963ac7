//! The lines about the sessions before the last one: what each was asked, what it gave, and what it committed.
//!
//! The end of a session is often a small thing that was asked last. So the line has the result of the first request too, and what was
//! asked between the two.

use super::attributes::{MIN_RESULT_WIDTH, attribute, has_result, has_words, hash, later_requests, places};
use super::later::LaterSessions;
use super::left_undone::left_undone;
use super::line;
use super::overtaken::{is_of_its_change, without_made_plan};
use super::page::{Entry, Page, SectionKind};
use crate::bindings::throughline::policy::types::{SessionNotes, SessionRecord};
use crate::extract::commits::{is_pull_request, pull_request_number};
use crate::extract::labels::{self, Labels};
use crate::extract::{prose, signs};
use crate::text;

/// How many sessions are told in a line each.
const MAX_TOPICS: u8 = 11;
/// How many of them are told in a short line before what the last session found on its way.
const MAX_SURE: u8 = 2;
const SURE: f32 = 0.86;
/// How many are told in a short line before what only one earlier session ran into, and the importance of that.
const MAX_BRIEF: u8 = 8;
const BRIEF: f32 = 0.6;
/// By how much the whole line of a session weighs less than the short lines of all.
const ALL_FIRST: f32 = 0.2;

/// The maximum length of a line, of the day before it, of what the session was asked at first and later, of the result of the first request,
/// and of how the session ended, alone and beside the first result, in characters.
const MAX_CHARS: usize = 950;
const MAX_DAY_CHARS: usize = 12;
const MAX_ASKED_CHARS: usize = 120;
const MAX_LATER_CHARS: usize = 90;
const MAX_FIRST_CHARS: usize = 220;
const MAX_END_CHARS: usize = 420;
const MAX_SECOND_CHARS: usize = 260;
/// The length up to which the end is told with the result before it, and the maximum length of that result, in characters.
const MAX_SHORT_END_CHARS: usize = 160;
const MAX_LAST_CHARS: usize = 200;
/// How many later requests are told: the latest two, and more while they are short.
const MIN_LATER: usize = 2;
const MAX_LATER: usize = 4;
const MAX_ALL_LATER_CHARS: usize = 230;

/// How many commits are told, and the maximum length of the subject of one and of each of several, in characters.
const MAX_COMMITS: usize = 3;
const MAX_SUBJECT_CHARS: usize = 120;
const MAX_SUBJECTS_CHARS: usize = 75;

/// The maximum lengths of what a short line tells, and of what was asked before it, in characters.
const MAX_SHORT_CHARS: usize = 175;
const MAX_SHORT_ASKED_CHARS: usize = 105;

/// The length up to which a sentence about checks says nothing else, in characters.
const MAX_REPORT_CHARS: usize = 60;
/// The minimum length by which a request is known again, in characters.
const MIN_SAME_REQUEST_CHARS: usize = 24;
/// The share of words in common from which the first result says what the end says.
const SAME_RESULT: f32 = 0.6;

/// Adds one line about each session but the last. The newest comes first.
pub(super) fn add_topics<'s>(page: &mut Page, later: &LaterSessions<'s>, last: Option<usize>) {
    let sessions = later.sessions();
    // What a later session amended or took back is told with that one.
    let holds = |record: &SessionRecord| record.notes.as_ref().is_none_or(|notes| attribute(notes, "superseded").is_none());
    // "Go on with the next step" may have been another one, so what was committed is told.
    let is_asked_again = |at: usize| {
        let asked = request_of(&sessions[at]);
        let commits_nothing = sessions[at].notes.as_ref().is_some_and(|notes| notes.commits.is_empty());
        let mut later = sessions[..at].iter().filter(|later| has_result(later));
        commits_nothing
            && asked.chars().count() >= MIN_SAME_REQUEST_CHARS
            && later.any(|later| request_of(later).eq_ignore_ascii_case(asked))
    };
    let told = |(at, record): &(usize, &SessionRecord)| {
        Some(*at) != last && has_words(record) && holds(record) && !is_asked_again(*at)
    };
    let with_topic = |(at, record): (usize, &'s SessionRecord)| {
        let topic = match &record.notes {
            Some(notes) if !notes.original_request.trim().is_empty() => Topic::of(notes, later, at),
            _ => Topic { text: line::truncate(&line::sanitize(&record.summary), 240), short: String::new() },
        };
        // All that it gave was overtaken.
        let outcome = record.notes.as_ref().map_or("", |notes| notes.outcome.trim());
        if !outcome.is_empty() && !topic.text.contains(" → ") && later.without_overtaken(at, outcome).is_empty() {
            return None;
        }
        Some((record, topic))
    };
    let all = sessions.iter().enumerate().filter(told).filter_map(with_topic);
    for ((record, topic), age) in all.zip(0_u8..MAX_TOPICS) {
        let day = record.ended.or(record.started).and_then(line::day);
        let dated = |said: &str| day.as_ref().map_or_else(|| said.to_owned(), |day| format!("{day}: {said}"));
        let is_sure = age < MAX_SURE;
        // A request alone says little.
        let is_whole = topic.short.is_empty() && topic.text.contains(" → ");
        let importance = if is_sure && is_whole { SURE } else { 0.45 - f32::from(age) / 100.0 };
        let text = dated(&topic.text);
        let mut entry = Entry::new(&text, importance).with_whole_text(&text, MAX_CHARS).with_key(&topic.text);
        if !topic.short.is_empty() {
            let brief = match age {
                _ if is_sure => SURE,
                ..MAX_BRIEF => BRIEF - f32::from(age) / 100.0,
                _ => importance,
            };
            entry = entry.with_short(&dated(&topic.short), brief);
            // A line about each session helps more than all about a few.
            if age > 0 {
                entry = entry.with_whole_importance(importance - ALL_FIRST);
            }
        }
        page.add(SectionKind::Topics, entry.into_session_line());
    }
}

fn request_of(record: &SessionRecord) -> &str {
    record.notes.as_ref().map_or("", |notes| notes.original_request.as_str())
}

/// What is told of a session.
struct Topic {
    text: String,
    /// The same where there is no room. Empty if the text is short.
    short: String,
}

impl Topic {
    /// Returns what stands for the session at that place.
    fn of(notes: &SessionNotes, later: &LaterSessions, at: usize) -> Self {
        let words = labels::of(attribute(notes, "language").unwrap_or_default());
        let request = line::sanitize(&notes.original_request);
        let asked = line::truncate(&request, MAX_ASKED_CHARS);
        // A recap stands alone, and says in a line how it ended.
        let recap = attribute(notes, "recap").map(line::sanitize);
        let end = recap.clone().unwrap_or_else(|| end_of(notes, words, later, at, &request));
        let committed = committed(notes, words, later, at);
        let requests = if recap.is_none() { told_requests(notes) } else { Vec::new() };
        // Of a request that is not a plan, and that nothing else came after, the end is another try.
        let names_plan = |words: &Labels| words.plan.split("{}").next().is_some_and(|plan| request.starts_with(plan));
        let is_plan = line::LANGUAGES.map(labels::labels).into_iter().any(names_plan);
        let is_first_try = requests.is_empty() && !is_plan;
        let first = first_result(notes, words, &request)
            .map(|first| later.without_overtaken(at, &first))
            .filter(|first| text::width(first) >= MIN_RESULT_WIDTH)
            .filter(|first| recap.is_none() && !is_first_try && !says_the_same(first, &end));
        let mut text = asked.clone();
        let mut max_end = MAX_END_CHARS;
        if let Some(first) = &first {
            text = format!("{text} → {}", line::brief(first, MAX_FIRST_CHARS));
            max_end = MAX_SECOND_CHARS;
        }
        for (at, asked) in requests.iter().enumerate() {
            text = format!("{} … {}{asked}", without_dots(&text), if at == 0 { "later: " } else { "" });
        }
        let arrow = if first.is_some() && requests.is_empty() { "…" } else { "→" };
        let mut end_text = line::brief(&end, max_end);
        // A short end is what was asked last, and seldom the work.
        if end.chars().count() <= MAX_SHORT_END_CHARS
            && let Some(last) = last_result(notes, words).map(|last| later.without_overtaken(at, &last)).filter(|last| {
                recap.is_none()
                    && !last.is_empty()
                    && !says_the_same(last, &end)
                    && first.as_ref().is_none_or(|first| !says_the_same(last, first))
            })
        {
            let last = line::brief(without_request(&last, requests.iter().map(String::as_str)), MAX_LAST_CHARS);
            end_text = format!("{} … {end_text}", without_dots(&last));
        }
        if !end_text.is_empty() {
            let before = if arrow == "…" { without_dots(&text) } else { &text };
            text = format!("{before} {arrow} {end_text}");
        }
        if !committed.is_empty() {
            let mark = if end_text.is_empty() { arrow } else { "—" };
            text = format!("{text} {mark} {committed}");
        }
        if let Some(undone) = left_undone(notes, later, at) {
            let undone = format!(" — left undone: {undone}");
            let room = MAX_CHARS - MAX_DAY_CHARS - undone.chars().count();
            text = format!("{}{undone}", line::truncate(&text, room));
        }
        let short = short_of(&request, first.as_deref().unwrap_or(&end), &committed);
        let is_shorter = short.chars().count() < text.chars().count();
        Self { text, short: if is_shorter { short } else { String::new() } }
    }
}

/// Returns how the session at that place ended, without what is told beside it and what holds no more. May be empty.
fn end_of(notes: &SessionNotes, words: &Labels, later: &LaterSessions, at: usize, request: &str) -> String {
    let end = without_commits(without_made_plan(&notes.outcome, &later.sessions()[..at]), notes, words);
    let end = later.without_overtaken(at, &end);
    let asked = later_requests(notes);
    let requests = std::iter::once(request).chain(asked.iter().map(String::as_str));
    without_asides(without_report(without_request(&line::sanitize(&end), requests)))
}

/// Returns the short line: what was asked, and what it gave. Commits say that more surely than the agent. Empty if it gave nothing.
fn short_of(request: &str, result: &str, committed: &str) -> String {
    let gave =
        if committed.is_empty() { line::brief(result, MAX_SHORT_CHARS) } else { line::truncate(committed, MAX_SHORT_CHARS) };
    if gave.is_empty() {
        return String::new();
    }
    format!("{} → {gave}", line::truncate(request, MAX_SHORT_ASKED_CHARS))
}

/// Returns how a session ended without the sentences that only offer more, send the user to look, draw a frame, begin with a tag for a program,
/// or say what the changes have nothing to do with.
fn without_asides(ended: &str) -> String {
    const SENDS: [&str; 2] = ["reload and ", "refresh and "];
    let says_nothing = |sentence: &str| {
        let lower = sentence.trim_start().to_lowercase();
        SENDS.iter().any(|opening| lower.starts_with(opening))
            || signs::only_offers(&lower)
            || sentence.contains("───")
            || begins_with_tag(sentence)
            || is_of_its_change(&lower)
    };
    let sentences = text::sentences(ended);
    let kept: Vec<&str> = sentences.iter().map(String::as_str).filter(|sentence| !says_nothing(sentence)).collect();
    // As it stands, unless something is left out of it.
    if kept.is_empty() || kept.len() == sentences.len() { ended.to_owned() } else { kept.join(" ") }
}

/// Returns whether a sentence begins with a tag for a program: "[TILL-REPORT] …".
fn begins_with_tag(sentence: &str) -> bool {
    let tag = sentence.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or("", |(tag, _)| tag);
    tag.len() > 3 && tag.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_'))
}

/// Returns what the first request of a session gave, if that is not how the session ended: the results of later ones are told with what
/// was asked.
fn first_result(notes: &SessionNotes, words: &Labels, request: &str) -> Option<String> {
    // Of the results, only the very first is known to be that of the first request.
    let first = results(notes).next().filter(|first| notes.done.first() == Some(first))?;
    let first = line::sanitize(&without_commits(first, notes, words));
    let first = without_report(without_request(&first, std::iter::once(request))).to_owned();
    (!first.starts_with('“') && text::width(&first) >= MIN_RESULT_WIDTH).then_some(first)
}

/// Returns a result without the request at its beginning that is told before it.
fn without_request<'a>(said: &'a str, mut requests: impl Iterator<Item = &'a str>) -> &'a str {
    let Some((asked, answer)) = said.split_once(" → ") else { return said };
    // The name of a file that was attached has a mark in the one and none in the other.
    let begin = |said: &str| -> String {
        said.chars().filter(|c| c.is_alphanumeric()).take(MIN_SAME_REQUEST_CHARS).flat_map(char::to_lowercase).collect()
    };
    let own = begin(asked);
    if requests.any(|request| begin(request) == own) { answer } else { said }
}

/// Returns the latest requests after the first one that are told.
fn told_requests(notes: &SessionNotes) -> Vec<String> {
    let requests: Vec<String> = later_requests(notes).iter().map(|it| line::truncate(it, MAX_LATER_CHARS)).collect();
    let mut chars = 0;
    let fits = |(number, asked): &(usize, &String)| {
        chars += asked.chars().count();
        *number < MIN_LATER || chars <= MAX_ALL_LATER_CHARS
    };
    let count = requests.iter().rev().enumerate().take(MAX_LATER).take_while(fits).count();
    requests[requests.len() - count..].to_vec()
}

/// Returns a text without the mark of its cut.
fn without_dots(said: &str) -> &str {
    said.trim_end_matches([' ', '…'])
}

/// Returns what the last request before the end gave, with that request.
fn last_result(notes: &SessionNotes, words: &Labels) -> Option<String> {
    let last = results(notes).last()?;
    Some(line::sanitize(&without_commits(last, notes, words)))
}

/// Returns the results of the requests before the end that changed something.
fn results(notes: &SessionNotes) -> impl Iterator<Item = &String> {
    let found: Vec<usize> = places(notes, "found").collect();
    // The tasks of a list are no results.
    let are_results = attribute(notes, "done") != Some("tasks");
    let all = notes.done.iter().enumerate().filter(move |_| are_results);
    all.filter(move |(at, done)| !found.contains(at) && text::width(done) >= MIN_RESULT_WIDTH).map(|(_, done)| done)
}

/// Returns whether two results say mostly the same.
fn says_the_same(one: &str, other: &str) -> bool {
    text::similarity(&text::features(one), &text::features(other)) >= SAME_RESULT
}

/// Returns what a session committed, the first and the latest, and its latest pull request. May be empty.
fn committed(notes: &SessionNotes, words: &Labels, later: &LaterSessions, at: usize) -> String {
    let (pull_requests, commits): (Vec<&String>, Vec<&String>) =
        notes.commits.iter().partition(|commit| is_pull_request(commit));
    let max = if commits.len() == 1 { MAX_SUBJECT_CHARS } else { MAX_SUBJECTS_CHARS };
    let quoted = |commit: &&&String| {
        let subject = text::quoted(&line::truncate(&line::sanitize(commit), max));
        hash(notes, commit).map_or_else(|| subject.clone(), |hash| format!("{hash} {subject}"))
    };
    let left_out = commits.len().saturating_sub(MAX_COMMITS);
    let latest = if left_out > 0 { MAX_COMMITS - 1 } else { commits.len() };
    let first = usize::from(left_out > 0);
    let mut told: Vec<String> = commits[..first].iter().map(|commit| quoted(&commit)).collect();
    told.extend((left_out > 0).then(|| format!("+{left_out}")));
    told.extend(commits[commits.len() - latest..].iter().map(|commit| quoted(&commit)));
    let number = pull_requests
        .last()
        .and_then(|line| pull_request_number(line.rsplit_once(" (").map_or(line, |(_, url)| url.trim_end_matches(')'))));
    let tag = attribute(notes, "tags").and_then(|tags| tags.split(' ').next_back()).map(|tag| format!("tag {tag}"));
    let commits = if told.is_empty() { String::new() } else { format!("{} {}", words.committed, told.join(", ")) };
    let pull_request = number.map(|number| {
        // The session itself and the later ones.
        let is_merged = later.is_merged(at + 1, number);
        format!("PR #{number}{}", if is_merged { " (merged)" } else { "" })
    });
    [Some(commits).filter(|commits| !commits.is_empty()), tag, pull_request]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}

/// Returns a result without what it says of the commits of the session, which are told behind it.
fn without_commits(said: &str, notes: &SessionNotes, words: &Labels) -> String {
    let mut said = said.to_owned();
    for subject in &notes.commits {
        let quoted = text::quoted(subject);
        let mut end = said.len();
        // Each time in what is left before the last place, because what is taken out may reach back over the one before.
        while let Some(at) = said.get(..end).and_then(|before| before.rfind(&quoted)) {
            end = at;
            let Some(before) = before_commit(&said[..at], words) else { continue };
            end = before.len();
            let is_ended = before.is_empty() || before.ends_with(['.', '!', '?', '。', '！', '？', ':', '：', '…']);
            let before = if is_ended { before.to_owned() } else { format!("{before}.") };
            let after = said[at + quoted.len()..].trim_start_matches(['.', ';', '。']).trim_start();
            said = if before.is_empty() { after.to_owned() } else { format!("{before} {after}") };
        }
    }
    said.trim_end().to_owned()
}

/// Returns what stands before "committed as" and a hash at the end of a text.
fn before_commit<'a>(said: &'a str, words: &Labels) -> Option<&'a str> {
    let said = said.trim_end_matches([' ', '—']);
    // The hash is one word.
    let before_hash = said.rsplit_once(' ').map_or("", |(before, _)| before.trim_end());
    let before = [said, before_hash].into_iter().find_map(|it| {
        let at = it.len().checked_sub(words.committed.len())?;
        it.get(at..).filter(|end| end.eq_ignore_ascii_case(words.committed))?;
        it.get(..at)
    })?;
    Some(before.trim_end_matches([' ', '—', ';']))
}

/// Returns how a session ended without the sentence at the beginning that only says that checks pass, if more follows.
fn without_report(ended: &str) -> &str {
    match ended.split_once(". ") {
        Some((report, rest))
            if report.chars().count() <= MAX_REPORT_CHARS
                && prose::checked(report).is_some()
                && !signs::is_failing(&report.to_lowercase()) =>
        {
            rest
        }
        _ => ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::labels::labels;
    use crate::text::Language;

    fn notes(commits: &[&str], done: &[&str]) -> SessionNotes {
        let owned = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
        SessionNotes { commits: owned(commits), done: owned(done), ..crate::context::overtaken::tests::empty_notes() }
    }

    #[test]
    fn a_commit_that_is_named_twice_is_taken_out_twice() {
        let notes = notes(&["Init", "fix-login"], &[]);
        let without = |said: &str, language| without_commits(said, &notes, labels(language));
        assert_eq!(without("Set up the till — committed as \"Init\", \"Init\".", Language::English), "Set up the till.");
        let said = "로그인을 고쳤습니다 — 커밋 \"fix-login\", \"fix-login\" 브랜치를 푸시했습니다.";
        assert!(without(said, Language::Korean).starts_with("로그인을 고쳤습니다."), "{}", without(said, Language::Korean));
    }

    #[test]
    fn what_only_offers_more_is_no_end() {
        assert_eq!(
            without_asides("Ring it and see. The till rings twice. Happy to make it louder."),
            "Ring it and see. The till rings twice."
        );
        assert_eq!(without_asides("The lint warning is unrelated to my change. The till rings."), "The till rings.");
        assert_eq!(without_asides("Let me know which till."), "Let me know which till.");
        assert_eq!(without_asides("If you'd like a bell, say so. The till rings."), "The till rings.");
        let told = "If you open the drawer at night, the bell rings. The till is shut.";
        assert_eq!(without_asides(told), told);
        assert_eq!(without_asides("[TILL-NOTE] The bell is loud. The till rings."), "The till rings.");
        assert_eq!(without_asides("[TILL] The bell is loud."), "[TILL] The bell is loud.", "there is nothing else");
    }

    #[test]
    fn a_short_line_tells_the_commits_or_else_the_result() {
        assert_eq!(short_of("Ring twice", "It rings.", "committed as \"Ring\""), "Ring twice → committed as \"Ring\"");
        assert_eq!(short_of("Ring twice", "It rings.", ""), "Ring twice → It rings.");
        assert_eq!(short_of("Ring twice", "", ""), "");
    }

    #[test]
    fn what_still_fails_is_no_report_of_checks() {
        assert_eq!(without_report("All 41 tests pass. The drawer opens now."), "The drawer opens now.");
        let fails = "Not all tests pass: two fail. The drawer opens now.";
        assert_eq!(without_report(fails), fails);
    }
}
