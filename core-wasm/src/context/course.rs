//! The course of the last session on its page: what was asked, one request after the other, and what came of each.

use std::borrow::Cow;

use super::attributes::{MIN_RESULT_WIDTH, attribute, later_requests, places};
use super::course_room::{MIN_ASKED_CHARS, Room, Share};
use super::line::{self, MAX_RESULT_CHARS};
use super::page::{Entry, Label, LineLabel, Page, SectionKind, parts, with_whole_result};
use crate::bindings::throughline::policy::types::SessionNotes;
use crate::extract::course::{ARROW, END, FIELD, FIRST, NOTHING, split_quote};
use crate::extract::{Parts, labels, states_fact};
use crate::text;

/// How much room results get beside each other. The latest work before the end often says more than the end. What was only found or said
/// weighs less than work.
const LATEST_WEIGHT: f32 = 2.5;
const WORK_WEIGHT: f32 = 1.0;
const FOUND_WEIGHT: f32 = 0.75;

/// The number of the latest steps that are told in any case.
const MIN_STEPS: usize = 6;

/// The length of "- Asked: " and of the arrow before a result, in characters.
const LABEL_CHARS: usize = 12;

/// The width from which a finding says enough without what was asked.
const MIN_STRAY_WIDTH: usize = 200;

/// How much of a course is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The number of the steps beside the first.
    pub steps: usize,
    /// The length of the requests and the results together with the end, in characters.
    pub chars: usize,
}

impl Limits {
    /// Returns the room that the end leaves to the steps, in characters. A long end leaves them three fifths.
    fn room(self, notes: &SessionNotes) -> usize {
        self.chars.saturating_sub(notes.outcome.chars().count()).max(self.chars * 3 / 5)
    }
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gave {
    Nothing,
    /// The result of that number in the notes.
    Result(usize),
    /// The end of the session.
    End,
}

/// A request, and what came of it.
#[derive(Debug)]
struct Step<'n> {
    /// What was asked. None if it is the first request, empty if it says nothing.
    asked: Option<Cow<'n, str>>,
    /// What the tools say of the request.
    record: Option<&'n str>,
    /// What the user said for it while the agent worked.
    then: Option<&'n str>,
    gave: Gave,
}

impl Step<'_> {
    /// Returns what was said for the request while the agent worked, as it stands behind it. May be empty.
    fn then(&self) -> String {
        self.then.map(|then| format!(" — then: {}", line::sanitize(then))).unwrap_or_default()
    }

    /// Returns what was asked, with what was said for it later. None if it is the first request.
    fn asked(&self) -> Option<String> {
        self.asked.as_deref().map(|asked| format!("{}{}", line::sanitize(asked), self.then()))
    }
}

/// Returns the steps of a session, oldest first.
fn steps(notes: &SessionNotes) -> Vec<Step<'_>> {
    let Some(course) = attribute(notes, "course") else { return steps_without_course(notes) };
    course.lines().filter_map(step_in).collect()
}

/// Returns what the tools say of the requests, such as that the user refused the plan for one.
pub(super) fn records(notes: &SessionNotes) -> Vec<&str> {
    steps(notes).into_iter().filter_map(|step| step.record).collect()
}

/// Returns the steps of a session of which nobody wrote down what gave which result: its requests, then its results.
fn steps_without_course(notes: &SessionNotes) -> Vec<Step<'_>> {
    let silent = |gave: Gave| Step { asked: Some(Cow::Borrowed("")), record: None, then: None, gave };
    let mut steps = vec![Step { asked: None, record: None, then: None, gave: Gave::Nothing }];
    let later = later_requests(notes).into_iter();
    steps.extend(later.map(|asked| Step { asked: Some(Cow::Owned(asked)), record: None, then: None, gave: Gave::Nothing }));
    // The tasks of a list are no results.
    let results = if attribute(notes, "done") == Some("tasks") { 0 } else { notes.done.len() };
    let since = attribute(notes, "since").and_then(|since| since.parse().ok()).unwrap_or(0_usize);
    let end = results.saturating_sub(since);
    steps.extend((0..end).map(|at| silent(Gave::Result(at))));
    steps.push(silent(Gave::End));
    steps.extend((end..results).map(|at| silent(Gave::Result(at))));
    steps
}

/// Returns the step that a line of the attribute tells.
fn step_in(line: &str) -> Option<Step<'_>> {
    let (gave, rest) = line.split_once(' ')?;
    let gave = match gave {
        END => Gave::End,
        NOTHING => Gave::Nothing,
        number => Gave::Result(number.parse().ok()?),
    };
    // Lines of earlier versions have no field for what the tools say.
    let parts = rest.split_once(FIELD).or_else(|| rest.rsplit_once(ARROW));
    let (asked, said) = parts.unwrap_or((rest, ""));
    let (record, then) = said.split_once(FIELD).unwrap_or((said, ""));
    let asked = (asked != FIRST).then_some(Cow::Borrowed(asked));
    Some(Step { asked, record: filled(record), then: filled(then), gave })
}

fn filled(field: &str) -> Option<&str> {
    Some(field).filter(|field| !field.is_empty())
}

/// Adds the steps. `request` is the first request as it is told, and `add_end` adds how the session ended.
pub(super) fn add(page: &mut Page, notes: &SessionNotes, request: &Entry, limits: Limits, add_end: impl Fn(&mut Page)) {
    let course = Course::of(notes, limits);
    for (at, step) in course.steps.iter().enumerate() {
        let entry = match step.gave {
            Gave::Result(number) => course.result_entry(at, number, request),
            Gave::Nothing | Gave::End => course.request_entry(at, request),
        };
        if let Some(entry) = entry {
            page.add(SectionKind::LastSession, entry);
        }
        if step.gave == Gave::End {
            add_end(page);
        }
    }
    if course.end.is_none() {
        add_end(page);
    }
}

/// The results of a session, and the places of those that are only findings, only documents, or found before later work.
struct Results<'n> {
    notes: &'n SessionNotes,
    found: Vec<usize>,
    documented: Vec<usize>,
    before_work: Vec<usize>,
    /// The places of those of which the user then said that they are wrong.
    disputed: Vec<usize>,
    /// The places of those that the user did not want.
    refused: Vec<usize>,
    /// The places of those after which the agent ran nothing.
    untried: Vec<usize>,
}

impl<'n> Results<'n> {
    fn of(notes: &'n SessionNotes) -> Self {
        let of_kind = |name| places(notes, name).collect();
        Self {
            notes,
            found: of_kind("found"),
            documented: of_kind("documented"),
            before_work: of_kind("found-before-work"),
            disputed: of_kind("disputed"),
            refused: of_kind("refused"),
            untried: of_kind("untried"),
        }
    }

    /// Returns whether there is room for a step, and nothing else tells it.
    fn is_told(&self, step: &Step) -> bool {
        match (step.gave, step.asked.as_deref()) {
            (_, None) => true,
            (Gave::Result(at), Some(asked)) => {
                self.notes.done.get(at).is_some_and(|said| !asked.is_empty() || text::width(said) >= MIN_RESULT_WIDTH)
            }
            // A rule is told among the preferences.
            (_, Some(asked)) => !self.notes.preferences.iter().any(|told| !asked.is_empty() && told.starts_with(asked)),
        }
    }

    /// Returns whether a step is a short finding without what was asked: that says little, if the requests of the others are known.
    fn is_stray(&self, step: &Step) -> bool {
        let is_short = |at: usize| self.notes.done.get(at).is_some_and(|said| text::width(said) < MIN_STRAY_WIDTH);
        let is_found = matches!(step.gave, Gave::Result(at) if self.found.contains(&at) && is_short(at));
        is_found && step.asked.as_deref().is_some_and(str::is_empty)
    }

    /// Leaves out what there is no room for: the oldest steps but the first, first those of which the user only told something, then the
    /// others without work.
    fn drop_oldest(&self, steps: &mut Vec<Step>, max_steps: usize, chars: usize) {
        let mut least: Vec<usize> = steps.iter().map(|step| Room::least(&self.share(step, None))).collect();
        let mut needed: usize = least.iter().sum();
        while steps.len() > max_steps + 1 || needed > chars {
            let may_go = |step: &Step| step.asked.is_some() && step.gave != Gave::End;
            let latest = steps.len().saturating_sub(MIN_STEPS);
            let old = &steps[..latest];
            let is_idle = |step: &Step| may_go(step) && !self.is_work(step.gave) && step.record.is_none();
            let tells = |step: &Step| step.then.is_none() && step.asked.as_deref().is_some_and(states_fact);
            let chatter = old.iter().position(|step| is_idle(step) && tells(step));
            let idle = chatter.or_else(|| old.iter().position(is_idle));
            let Some(at) = idle.or_else(|| old.iter().position(may_go)) else { break };
            steps.remove(at);
            needed -= least.remove(at);
        }
    }

    /// Returns the lengths of a step's request and of its result, and what they weigh.
    fn share(&self, step: &Step, latest_work: Option<Gave>) -> Share {
        let asked = step.asked.as_deref().map_or(0, |asked| asked.chars().count() + step.then().chars().count());
        let said = match step.gave {
            Gave::Result(at) => self.notes.done.get(at).map_or(0, |said| without_quote(said).chars().count()),
            Gave::Nothing | Gave::End => 0,
        };
        let weight = match step.gave {
            gave if latest_work == Some(gave) => LATEST_WEIGHT,
            gave if self.is_work(gave) => WORK_WEIGHT,
            _ => FOUND_WEIGHT,
        };
        let first = if step.asked.is_none() { self.notes.original_request.chars().count().min(MAX_RESULT_CHARS) } else { 0 };
        let around = LABEL_CHARS + first + step.record.map_or(0, |record| record.chars().count());
        let parts = step.asked.as_deref().filter(|_| asked > MIN_ASKED_CHARS).and_then(Parts::in_line);
        let least_asked = parts.map_or(MIN_ASKED_CHARS, |parts| parts.least().max(MIN_ASKED_CHARS));
        Share { around, asked, least_asked, said, weight }
    }

    fn is_work(&self, gave: Gave) -> bool {
        matches!(gave, Gave::Result(at) if !self.found.contains(&at))
    }
}

/// The steps of a session that are told.
struct Course<'n> {
    results: Results<'n>,
    steps: Vec<Step<'n>>,
    /// The place of the step that the session ended with.
    end: Option<usize>,
    room: Room,
}

impl<'n> Course<'n> {
    fn of(notes: &'n SessionNotes, limits: Limits) -> Self {
        let results = Results::of(notes);
        let mut steps = steps(notes);
        let place_of_end = |steps: &[Step]| steps.iter().position(|step| step.gave == Gave::End);
        let end = place_of_end(&steps).filter(|_| attribute(notes, "course").is_some()).unwrap_or(0);
        let mut place = 0..;
        steps.retain(|step| {
            let is_over = place.next().is_none_or(|at| at > end);
            results.is_told(step) && (is_over || !results.is_stray(step))
        });
        let latest_work = steps.iter().map(|step| step.gave).rfind(|gave| results.is_work(*gave));
        let chars = limits.room(notes);
        results.drop_oldest(&mut steps, limits.steps, chars);
        let room = Room::divide(chars, steps.iter().map(|step| results.share(step, latest_work)));
        Self { end: place_of_end(&steps), results, steps, room }
    }

    /// Returns whether a step came after the end.
    fn is_over(&self, at: usize) -> bool {
        self.end.is_some_and(|end| at > end)
    }

    fn importance(&self, at: usize) -> f32 {
        let place = f32::from(u8::try_from(at).unwrap_or(u8::MAX).min(40));
        0.9 + place / 1000.0 + if self.is_over(at) { 0.05 } else { 0.0 }
    }

    /// Returns the entry of a step that has no result of its own, unless it asked nothing.
    fn request_entry(&self, at: usize, request: &Entry) -> Option<Entry> {
        let step = &self.steps[at];
        let then = step.then();
        let max = self.room.for_asked(at);
        let entry = match step.asked().as_deref() {
            None if then.is_empty() => request.clone(),
            None => request.clone().with_whole_text(&format!("{}{then}", request.text()), MAX_RESULT_CHARS),
            Some("") => return None,
            Some(asked) => Entry::result_line(Label::Asked, asked, self.importance(at).max(0.93)).without_words(),
        };
        let entry = if step.asked.is_some() { entry.shortened(max) } else { entry };
        Some(if let Some(record) = step.record { entry.with_record(record) } else { entry })
    }

    /// Returns the entry of a step with a result, if the notes have that.
    fn result_entry(&self, at: usize, number: usize, request: &Entry) -> Option<Entry> {
        let step = &self.steps[at];
        let said = self.results.notes.done.get(number)?;
        let max = self.room.for_result(at);
        let special = self.special_label(at, number);
        let parts = parts(self.results.notes, &number.to_string(), said);
        let asked = step.asked();
        if asked.as_deref() == Some("") {
            let said = if is_quoted_before(&self.steps[..at], said) { without_quote(said) } else { said };
            let label = special.unwrap_or_else(|| self.plain_label(at, number).into());
            return Some(Entry::end_line(label, said, self.importance(at)).shortened(max).with_parts(parts));
        }
        let begin = match &asked {
            None => format!("{}{}", request.text(), step.then()),
            Some(asked) => Label::Asked.line(asked),
        };
        let brief = if asked.is_some() { line::brief_request(&begin, self.room.for_asked(at)) } else { begin.clone() };
        let words = labels::of(attribute(self.results.notes, "language").unwrap_or_default());
        let label = special.map(|label| words.of_result(&uncapitalized(label.text().trim_start_matches("Then "))));
        let entry = Entry::end_line(Label::Asked, without_quote(said), self.importance(at));
        let entry = if asked.is_none() { entry.weighing_as(request) } else { entry };
        Some(entry.behind((&begin, &brief), label.as_deref(), max).with_parts(with_whole_result(parts, without_quote(said))))
    }

    /// Returns what a result is, if it is not simply that of the request before it.
    fn special_label(&self, at: usize, number: usize) -> Option<LineLabel> {
        let Results { notes, found, documented, before_work, disputed, refused, untried } = &self.results;
        let is_last = self.is_over(at) && at + 1 == self.steps.len();
        match () {
            () if is_last && attribute(notes, "since-proposed").is_some() => Some(Label::ThenProposed.into()),
            () if refused.contains(&number) => Some(Label::RefusedNext.into()),
            () if documented.contains(&number) => Some(Label::Documented.into()),
            () if found.contains(&number) && before_work.contains(&number) => Some(Label::FoundBeforeWork.into()),
            () if disputed.contains(&number) => Some(disputed_label(notes, number)),
            () => confirmed_label(notes, number).or_else(|| untried.contains(&number).then(|| Label::Untried.into())),
        }
    }

    /// Returns what stands before a result whose request says nothing.
    fn plain_label(&self, at: usize, number: usize) -> Label {
        match () {
            () if !self.results.found.contains(&number) => Label::Did,
            () if self.is_over(at) => Label::Then,
            () => Label::Found,
        }
    }
}

/// Returns a label with its first letter in lower case, as it stands in a line.
pub(super) fn uncapitalized(label: &str) -> String {
    let (first, rest) = label.split_at(label.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}", first.to_lowercase())
}

/// Returns that a result is disputed, with the user's words if the next request does not begin with them.
fn disputed_label(notes: &SessionNotes, number: usize) -> LineLabel {
    let mut all = attribute(notes, "disputed-in").into_iter().flat_map(str::lines).filter_map(|line| line.split_once(' '));
    let words = all.find_map(|(of, words)| (of.parse() == Ok(number)).then(|| line::sanitize(words)));
    words.map_or(Label::DisputedNext.into(), |words| Label::DisputedNext.with(&format!(" ({words})")))
}

/// Returns that the user said later that a result works, with the words if the next request does not begin with them.
fn confirmed_label(notes: &SessionNotes, number: usize) -> Option<LineLabel> {
    let of = |line: &str| {
        let (of, words) = line.split_once(' ').unwrap_or((line, ""));
        let words = if words.is_empty() { String::new() } else { format!(" ({})", line::sanitize(words)) };
        (of.parse() == Ok(number)).then(|| Label::ConfirmedNext.with(&words))
    };
    attribute(notes, "confirmed").into_iter().flat_map(str::lines).find_map(of)
}

/// Returns whether a result quotes the request before it that an earlier step tells.
fn is_quoted_before(steps: &[Step], said: &str) -> bool {
    let Some((quoted, _)) = split_quote(said) else { return false };
    steps.iter().filter_map(|step| step.asked.as_deref()).any(|asked| asked.starts_with(quoted.trim_end_matches('…')))
}

/// Returns a result without the request that is quoted before it.
fn without_quote(said: &str) -> &str {
    split_quote(said).map_or(said, |(_, result)| result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::overtaken::tests::empty_notes;

    #[test]
    fn words_against_a_result_stand_in_its_label() {
        let disputed = ("disputed-in".to_owned(), "1 \"it Still rings\"".to_owned());
        let notes = SessionNotes { attributes: vec![disputed], ..empty_notes() };
        assert_eq!(disputed_label(&notes, 0).text(), "Disputed next");
        assert_eq!(uncapitalized(disputed_label(&notes, 1).text()), "disputed next (\"it Still rings\")");
    }

    #[test]
    fn a_request_that_an_earlier_step_tells_is_not_quoted_again() {
        let step =
            |asked: &'static str| Step { asked: Some(Cow::Borrowed(asked)), record: None, then: None, gave: Gave::Nothing };
        let steps = [step("why does the bell ring twice in the morning?")];
        assert!(is_quoted_before(&steps, "“why does the bell…” → The bell has two clappers."));
        assert!(!is_quoted_before(&steps, "“is the drawer red?” → The drawer is green."));
        assert!(!is_quoted_before(&steps, "The bell has two clappers."));
    }

    #[test]
    fn what_the_tools_say_of_a_request_has_a_field_of_its_own() {
        let read = |line| step_in(line).map(|step| (step.asked.map(Cow::into_owned), step.record, step.gave));
        let asked = Some("rename the till → the drawer".to_owned());
        assert_eq!(read("- rename the till → the drawer\t"), Some((asked.clone(), None, Gave::Nothing)));
        assert_eq!(read("- rename the till → the drawer\tcommitted"), Some((asked, Some("committed"), Gave::Nothing)));
        assert_eq!(read("2 *\t"), Some((None, None, Gave::Result(2))));
        let then = step_in("2 *\t\tring the bell, too").map(|step| (step.asked, step.record, step.then));
        assert_eq!(then, Some((None, None, Some("ring the bell, too"))));
        // Earlier versions had no such field.
        assert_eq!(read("- * → changed: `till.rs`"), Some((None, Some("changed: `till.rs`"), Gave::Nothing)));
        assert_eq!(read("end fold the slip"), Some((Some("fold the slip".to_owned()), None, Gave::End)));
    }
}
