//! What earlier sessions decided, without what a later one decided anew and what was of its day.

use super::of_its_day::is_of_its_day;
use super::words::are_same_words;
use crate::bindings::throughline::policy::types::Memory;
use crate::context::attributes::later_requests;
use crate::context::later::LaterSessions;
use crate::context::line;
use crate::context::memories::Memories;
use crate::context::page::{Page, is_saved};
use crate::extract::labels::{self, Labels};
use crate::extract::prose;
use crate::said_by::SaidBy;
use crate::text;

/// The importance below which a decision that the user did not state is a detail of a plan or of the work, and answers no question.
const MIN_ANSWER: f32 = 0.7;

/// The maximum number of details of earlier work.
const MAX_DETAILS: usize = 3;

/// The share of its weight that a detail of earlier work keeps.
const DETAIL: f32 = 0.7;

/// The maximum length of the request that a detail belongs to, in characters.
const MAX_REQUEST_CHARS: usize = 80;

/// The minimum number of words of a question or a rule for a later one to replace it. Shorter ones may be about anything.
const MIN_SUBJECT: usize = 5;

/// The share of its weight that an answer keeps which chose nothing.
const UNDECIDED: f32 = 0.85;

/// Adds what earlier sessions decided, each with its date. `later` has the newest sessions, of which `last` was the last.
pub(in crate::context) fn add_decisions(
    page: &mut Page,
    memories: &dyn Memories,
    later: &LaterSessions,
    last: Option<&str>,
) {
    const LIMIT: u32 = 20;
    let mut details = 0;
    let all = page.checked_for_more(memories.important(&["decision"], LIMIT), LIMIT as usize);
    let all = in_asked_order(all, last);
    for memory in &all {
        if Some(memory.session_id.as_str()) == last {
            page.add_memory(memory, 1.0);
            continue;
        }
        if is_of_its_day(memory) || later.has_overtaken(memory) || all.iter().any(|later| is_revised_by(memory, later)) {
            page.leave_out(memory);
            continue;
        }
        let day = line::day(memory.created).unwrap_or_default();
        let is_detail = memory.importance < MIN_ANSWER
            && !is_saved(memory)
            && SaidBy::of(memory).is_some_and(|said_by| said_by != SaidBy::Human);
        let of =
            later.sessions().iter().find(|record| record.id == memory.session_id).and_then(|record| record.notes.as_ref());
        let request = of.map(|notes| line::truncate(&line::sanitize(&notes.original_request), MAX_REQUEST_CHARS));
        // What the user said in passing, and a detail, say nothing without the request that they belong to. A remark may belong to any of
        // several requests.
        let is_remark = !is_detail
            && memory.importance < MIN_ANSWER
            && !is_saved(memory)
            && !names_subject(&memory.content)
            && of.is_some_and(|notes| later_requests(notes).is_empty());
        if !is_detail {
            let mark = request.filter(|request| is_remark && !request.is_empty() && !memory.content.contains(request));
            let mark = mark.map_or_else(|| day.clone(), |request| format!("{day}: {request}"));
            page.add_marked(memory, if is_overrated(memory) { UNDECIDED } else { 1.0 }, mark);
            continue;
        }
        match request.filter(|request| !request.is_empty() && details < MAX_DETAILS) {
            Some(request) => {
                details += 1;
                page.add_marked(memory, DETAIL, format!("{day}: {request}"));
            }
            None => page.leave_out(memory),
        }
    }
}

/// Returns the decisions with those of the last session first and in the order in which they were asked: the later ones of a dialog weigh
/// a little less.
fn in_asked_order(mut all: Vec<Memory>, last: Option<&str>) -> Vec<Memory> {
    all.sort_by(|one, other| {
        let is_last = |memory: &Memory| Some(memory.session_id.as_str()) == last;
        let by_place = || one.created.cmp(&other.created).then(other.importance.total_cmp(&one.importance));
        is_last(other).cmp(&is_last(one)).then_with(|| if is_last(one) { by_place() } else { std::cmp::Ordering::Equal })
    });
    all
}

/// Returns whether the text of a decision says what it is about.
fn names_subject(content: &str) -> bool {
    let is_named = |words: &Labels| content.contains(&format!("({}: ", words.about));
    line::LANGUAGES.map(labels::labels).into_iter().any(is_named)
}

/// Returns whether a later session answered the same question, or settled the same in nearly the same words. Whoever saved something
/// on purpose takes it back himself.
fn is_revised_by(memory: &Memory, later: &Memory) -> bool {
    // An agent does not take back what a human said, and what is not told itself takes nothing back.
    let is_less = SaidBy::of(memory) == Some(SaidBy::Human) && SaidBy::of(later) != Some(SaidBy::Human);
    let is_told = later.importance >= MIN_ANSWER && !is_of_its_day(later);
    if later.created <= memory.created || later.session_id == memory.session_id || is_saved(memory) || is_less || !is_told {
        return false;
    }
    let what = |memory: &'_ Memory| line::parse_decision(&memory.content).0.to_owned();
    let (own, other) = (what(memory), what(later));
    match (own.split_once(" → "), other.split_once(" → ")) {
        (Some((own, _)), Some((other, _))) => {
            let (own, other) = (text::features(own), text::features(other));
            own.len() >= MIN_SUBJECT && are_same_words(&own, &other)
        }
        (None, None) => differ_in_value(&own, &other),
        _ => false,
    }
}

/// Returns whether two texts of some words are the same but for one number: "the first drawer has the number 1".
fn differ_in_value(one: &str, other: &str) -> bool {
    let words = |said: &str| said.split_whitespace().map(str::to_lowercase).collect::<Vec<String>>();
    let (one, other) = (words(one), words(other));
    let mut differing = one.iter().zip(&other).filter(|(one, other)| one != other);
    let has_digit = |word: &String| word.contains(|c: char| c.is_ascii_digit());
    one.len() == other.len()
        && one.len() > MIN_SUBJECT
        && differing.next().is_some_and(|(one, other)| has_digit(one) && has_digit(other))
        && differing.next().is_none()
}

/// Returns whether an answer chose nothing, but weighs as much as one that did.
fn is_overrated(memory: &Memory) -> bool {
    let (what, ..) = line::parse_decision(&memory.content);
    memory.importance > MIN_ANSWER && what.split_once(" → ").is_some_and(|(_, answer)| prose::chooses_nothing(answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::earlier::tests::{at, failure};

    #[test]
    fn the_decisions_of_a_dialog_stand_as_they_were_asked() {
        let of = |id: &str, session: &str, created: u64, importance: f32| {
            let memory = at(created, failure(session, "Which till? → the red one"));
            Memory { id: id.to_owned(), importance, ..memory }
        };
        let all = vec![of("a", "old", 1, 0.8), of("d", "new", 3, 0.8), of("b", "new", 2, 0.79), of("c", "new", 2, 0.8)];
        let order: Vec<String> = in_asked_order(all, Some("new")).into_iter().map(|memory| memory.id).collect();
        assert_eq!(order, ["c", "b", "d", "a"]);
    }

    #[test]
    fn a_later_session_answers_the_same_question_anew() {
        let said = |day: u64, content: &str| at(day, failure(&day.to_string(), content));
        let first = said(1, "Which of the two tills should open the drawer at night? → the red one");
        assert!(is_revised_by(&first, &said(2, "Which of the two tills should open the drawer at night? → the blue one")));
        assert!(!is_revised_by(&first, &said(2, "Which of the two tills should print the slip at noon? → the blue one")));
        assert!(!is_revised_by(&said(2, &first.content), &first), "that one is older");
        assert!(!is_revised_by(&said(1, "Which way? → A"), &said(2, "Which way? → B")), "that may be about anything");
        let counts = |from: &str| format!("the first drawer that the till opens should have the number {from} instead");
        assert!(is_revised_by(&said(1, &counts("0")), &said(2, &counts("1"))));
    }

    #[test]
    fn an_answer_that_chose_nothing_weighs_less_once() {
        let is_overrated = |importance: f32, content: &str| is_overrated(&Memory { importance, ..failure("1", content) });
        assert!(is_overrated(0.8, "Which tills are red? → All of the above"));
        assert!(is_overrated(0.8, "Which way? → Both — Each till has its own.. Rejected: One"));
        assert!(!is_overrated(0.7, "Which tills are red? → All of the above"), "the extraction knew it");
        assert!(!is_overrated(0.8, "Use both") && !is_overrated(0.8, "Is the till red? → yes"));
    }
}
