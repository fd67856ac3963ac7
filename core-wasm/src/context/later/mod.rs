//! What later sessions settled of what an earlier one said: names in code that they took out, a switch that they took back, faults that
//! they mended, and tasks that they did.
//!
//! In doubt a statement is shown: a stale line does less harm than a lost rule or a task that nobody does.

mod names;
mod removal;
mod subject;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::Range;

use self::names::{is_definition, name_of, parts, spans, words};
pub(super) use self::removal::is_doubtful;
use self::removal::{begins_clause, says_switched_back, switch_in, taken_out};
use self::subject::Subject;
use super::attributes::{attribute, later_requests, saw_merged};
use super::earlier::forbids;
use super::line;
use super::overtaken;
use super::page::is_saved;
use crate::bindings::throughline::policy::types::{Memory, SessionNotes, SessionRecord};
use crate::extract::tasks::only_checks;
use crate::extract::vanished::says_removal;
use crate::extract::{signs, standing};
use crate::text;

/// How many of the newest sessions are read. Some of them may contain nothing.
pub(super) const MAX_SESSIONS: u32 = 12;
/// How much is read of a text and of all results of a session, in bytes. The newest results are read first.
const MAX_TEXT_BYTES: usize = 4 * 1024;
const MAX_SESSION_BYTES: usize = 16 * 1024;

/// The importance below which little speaks for what one session found out.
const MIN_FINDING: f32 = 0.5;

/// The newest sessions, the newest first, with what each says of the statements before it.
pub(super) struct LaterSessions<'s> {
    sessions: &'s [SessionRecord],
    findings: Vec<SessionFindings<'s>>,
}

/// A part of a result: a sentence or an item. A commit is one.
struct Part<'s> {
    said: &'s str,
    /// The place of its words in the lower case text of the session.
    place: Range<usize>,
}

/// What one session says.
#[derive(Default)]
struct SessionFindings<'s> {
    /// All that it says, was asked and committed, in lower case.
    lower: String,
    /// The parts of its results, in their order.
    results: Vec<Part<'s>>,
    /// The subjects of its commits, the newest first.
    commits: Vec<Part<'s>>,
    has_changed: bool,
    /// The names that it took out, if it changed files.
    removed: BTreeSet<String>,
}

impl<'s> LaterSessions<'s> {
    pub(super) fn of(sessions: &'s [SessionRecord]) -> Self {
        let findings = sessions.iter().map(|record| record.notes.as_ref().map(SessionFindings::of).unwrap_or_default());
        Self { sessions, findings: findings.collect() }
    }

    /// Returns the sessions, the newest first.
    pub(super) fn sessions(&self) -> &'s [SessionRecord] {
        self.sessions
    }

    /// Returns whether later sessions overtook a memory: a plan or a task that was carried out, a fault that was mended, or a statement
    /// about what is gone. What was saved on purpose stays.
    pub(super) fn has_overtaken(&self, memory: &Memory) -> bool {
        if is_saved(memory) {
            return false;
        }
        match memory.kind.as_str() {
            "plan" => overtaken::is_overtaken(memory, self.sessions, MAX_SESSIONS as usize),
            "task" => self.has_done(memory),
            "discovery" | "learning" if overtaken::is_mended(memory, self.sessions) => true,
            "preference" => false,
            kind => {
                let at = self.count_later(memory);
                let content = text::head(&memory.content, MAX_TEXT_BYTES);
                let is_lesson = matches!(kind, "learning" | "discovery");
                // What a later session learned again holds, and what failed once may fail again.
                at > 0
                    && memory.seen <= 1
                    && !is_failure(memory)
                    && (self.is_over(at, content, kind == "learning")
                        || (is_lesson
                            && (overtaken::is_of_its_change(&content.to_lowercase()) || self.has_mended(at, content))))
            }
        }
    }

    /// Returns whether one session before the last found something out, and little speaks for its use to another one.
    pub(super) fn is_weak_finding(&self, memory: &Memory) -> bool {
        memory.importance < MIN_FINDING && memory.seen <= 1 && !is_saved(memory) && self.count_later(memory) > 0
    }

    /// Returns how many sessions came after that of a memory. A session that is not listed may still run, or be older than all.
    fn count_later(&self, memory: &Memory) -> usize {
        match self.sessions.iter().position(|record| record.id == memory.session_id) {
            Some(at) => at,
            None if self.sessions.len() < MAX_SESSIONS as usize => 0,
            None => self.sessions.iter().take_while(|it| it.ended.is_some_and(|ended| ended > memory.created)).count(),
        }
    }

    /// Returns whether one of the newest `count` sessions saw that a pull request is merged.
    pub(super) fn is_merged(&self, count: usize, number: u32) -> bool {
        let number = number.to_string();
        self.sessions[..count].iter().filter_map(|record| record.notes.as_ref()).any(|notes| saw_merged(notes, &number))
    }

    /// Returns a result of the session at that place without what later ones overtook.
    pub(super) fn without_overtaken(&self, at: usize, said: &str) -> String {
        if at == 0 || said.len() > MAX_TEXT_BYTES {
            return said.trim_end().to_owned();
        }
        let parts = parts(said);
        let notes = self.sessions[at].notes.as_ref();
        let is_review = notes.is_some_and(|notes| notes.changes.is_empty() && asks_review(&notes.original_request));
        let mut left = String::with_capacity(said.len());
        let (mut leaves_out, mut heading) = (false, "");
        for (number, part) in parts.iter().enumerate() {
            let is_over = self.is_over(at, part, false)
                || (is_review && self.has_done_the_same(at, part))
                // What explains a sentence goes with it.
                || (leaves_out && signs::begins_with_pronoun(&part.to_lowercase(), false));
            leaves_out = is_over;
            if !is_over {
                if !heading.is_empty() {
                    left.push_str(heading);
                    left.push_str(": ");
                }
                heading = "";
                left.push_str(part);
                continue;
            }
            // The heading of a list belongs to its other items too, unless each has its own.
            let next = parts.get(number + 1).filter(|_| part.trim_end().ends_with(';'));
            heading = match part.split_once(": ") {
                Some((own, _)) if next.is_some_and(|next| !next.contains(": ")) => own,
                _ if next.is_some() => heading,
                _ => "",
            };
        }
        let left = left.trim_end();
        let ended = left.trim_end_matches([';', ':', ' ']);
        if ended.len() < left.len() && !said.trim_end().ends_with([';', ':']) {
            return if ended.is_empty() { String::new() } else { format!("{ended}.") };
        }
        left.to_owned()
    }

    /// Returns whether one of the newest `at` sessions overtook a statement. A rule stays.
    fn is_over(&self, at: usize, said: &str, is_lesson: bool) -> bool {
        // Few statements name something, so their words are read last.
        let has_removed = self.has_removed_names(at, said, is_lesson);
        if !has_removed && !names_two(said) {
            return false;
        }
        let lower = said.to_lowercase();
        ((has_removed && !says_removal(&lower)) || self.is_switched_back(at, said, &lower)) && !is_rule(&lower)
    }

    /// Returns whether most of what a statement names was taken out later.
    fn has_removed_names(&self, at: usize, said: &str, is_lesson: bool) -> bool {
        if self.findings[..at].iter().all(|it| it.removed.is_empty()) {
            return false;
        }
        let named: BTreeSet<String> = spans(said).filter_map(|span| name_of(span.text)).collect();
        // Of a file that was cleaned away, the lesson that it taught stays.
        let is_gone = |name: &&String| !(is_lesson && name.contains('/')) && self.is_removed(at, name);
        let gone = named.iter().filter(is_gone).count();
        2 * gone > named.len()
    }

    /// Returns whether one of the newest `at` sessions took out a name, or the folder that it lies in, and no newer one speaks of it.
    fn is_removed(&self, at: usize, name: &str) -> bool {
        let folders = name.match_indices('/').map(|(at, _)| &name[..at]).filter(|folder| folder.contains('/'));
        let forms: Vec<&str> = folders.chain([name]).collect();
        let removal = self.findings[..at].iter().position(|it| forms.iter().any(|form| it.removed.contains(*form)));
        removal.is_some_and(|removal| !(0..removal).any(|newer| self.speaks_of(newer, name)))
    }

    /// Returns whether a session speaks of a name, in its results, requests or commits.
    fn speaks_of(&self, at: usize, name: &str) -> bool {
        text::contains(&self.findings[at].lower, name)
    }

    /// Returns whether a statement tells a switch that later sessions took back. The last word counts.
    fn is_switched_back(&self, at: usize, said: &str, lower: &str) -> bool {
        let Some((from, to)) = switch_in(said, lower) else { return false };
        let newest_first = self.findings[..at].iter().flat_map(|it| it.parts(&it.results).rev());
        let names = |(_, lower): &(&str, &str)| text::contains(lower, &from) || text::contains(lower, &to);
        newest_first.filter(names).find_map(|(part, lower)| says_switched_back(part, lower, &from, &to)) == Some(true)
    }

    /// Returns whether one of the newest `at` sessions did what an item says that was left undone, or still has it on its own list.
    pub(super) fn has_taken_up(&self, at: usize, item: &str) -> bool {
        let item = text::head(item, MAX_TEXT_BYTES);
        let words = text::features(item);
        let lower = item.to_lowercase();
        let lists = |record: &SessionRecord| {
            let open = record.notes.iter().flat_map(|notes| notes.pending.iter().chain(&notes.current));
            open.into_iter().any(|open| open.to_lowercase() == lower)
        };
        self.sessions[..at].iter().any(|record| {
            lists(record) || record.notes.as_ref().is_some_and(|notes| overtaken::tells_deed(notes, item, &words))
        }) || self.has_done_the_same(at, item)
    }

    /// Returns whether a fault that a session found was mended by a later one.
    fn has_mended(&self, at: usize, fault: &str) -> bool {
        let lower = fault.to_lowercase();
        (signs::finds_fault(&lower) || standing::says_missing(&lower)) && self.has_done_the_same(at, fault)
    }

    /// Returns whether one of the newest `at` sessions did something about what a statement names, in words of the statement. A rule
    /// stays.
    fn has_done_the_same(&self, at: usize, said: &str) -> bool {
        let own = Subject::of(said);
        (0..at).any(|later| self.deeds_about(later, &own).any(|(_, deed)| own.is_shared_by(&deed)))
            && !is_rule(&said.to_lowercase())
    }

    /// Returns whether a task was done by a session after its own, and neither that one nor a newer one still has it on its list: it tells
    /// the task in its words, or did something to all that the task names in code, with the verb of the task. A task that only runs the
    /// checks is done once they passed.
    fn has_done(&self, memory: &Memory) -> bool {
        let title = text::head(&memory.title, MAX_TEXT_BYTES).to_lowercase();
        let own = Subject::of(&memory.title);
        let verb = words(&title).next().unwrap_or_default();
        let is_open = |record: &SessionRecord| {
            let lists = record.notes.iter().flat_map(|notes| notes.pending.iter().chain(&notes.current));
            lists.into_iter().any(|item| item.to_lowercase().contains(&title))
        };
        let later = &self.sessions[..self.count_later(memory)];
        let newer = later.iter().position(is_open).unwrap_or(later.len());
        if newer == later.len() && overtaken::is_overtaken(memory, self.sessions, MAX_SESSIONS as usize) {
            return true;
        }
        later[..newer].iter().enumerate().any(|(at, record)| {
            if only_checks(&title) {
                return record.notes.as_ref().is_some_and(|notes| has_passed(notes, &title));
            }
            self.deeds_about(at, &own).any(|(lower, deed)| tells_verb(lower, verb) && own.is_all_in(&deed))
        })
    }

    /// Returns what the session at that place says that it did and committed about something that a statement names, in lower case, if it
    /// changed anything. Most sessions say nothing of it, so they are asked for the names first.
    fn deeds_about<'a>(&'a self, at: usize, own: &'a Subject) -> impl Iterator<Item = (&'a str, Subject)> {
        let findings = &self.findings[at];
        let is_named = findings.has_changed && own.may_be_named_in(&findings.lower);
        let about = move |(_, lower): &(&str, &str)| is_named && own.may_be_named_in(lower);
        let is_deed = |(_, lower): &(&str, &str)| standing::is_deed(lower) || standing::tells_work(lower);
        let told = findings.parts(&findings.results).filter(about).filter(is_deed);
        // The scope of a commit names something, but is no word of what was done.
        let commits = findings.parts(&findings.commits).filter(about).map(|(said, lower)| (said, without_scope(lower)));
        told.chain(commits).filter(|(_, lower)| is_done(lower)).map(|(said, lower)| (lower, Subject::of(said)))
    }
}

impl<'s> SessionFindings<'s> {
    fn of(notes: &'s SessionNotes) -> Self {
        let mut findings = Self { has_changed: has_changed(notes), ..Self::default() };
        let mut results = newest(notes.done.iter().chain([&notes.outcome]).rev());
        results.reverse();
        for said in results.into_iter().flat_map(parts) {
            let place = findings.add(said);
            findings.results.push(Part { said, place });
        }
        for said in newest(notes.commits.iter().rev()) {
            let place = findings.add(said);
            findings.commits.push(Part { said, place });
        }
        for asked in later_requests(notes).iter().chain([&notes.original_request]) {
            findings.add(text::head(asked, MAX_TEXT_BYTES));
        }
        // A session that changed nothing speaks of what others did.
        if findings.has_changed {
            findings.removed = findings.removed_names();
        }
        findings
    }

    /// Adds the lower case of a text, on lines of its own. Returns its place.
    fn add(&mut self, said: &str) -> Range<usize> {
        let start = self.lower.len();
        self.lower.push_str(&said.to_lowercase());
        let place = start..self.lower.len();
        self.lower.push('\n');
        place
    }

    /// Returns parts with their lower case.
    fn parts<'a>(&'a self, parts: &'a [Part<'s>]) -> impl DoubleEndedIterator<Item = (&'s str, &'a str)> {
        parts.iter().map(|part| (part.said, &self.lower[part.place.clone()]))
    }

    /// Returns the names that the results say were taken out, and of which no later part speaks.
    fn removed_names(&self) -> BTreeSet<String> {
        let mut removed = BTreeSet::new();
        for (part, _) in self.parts(&self.results).filter(|(part, _)| part.contains('`')) {
            let taken: Vec<String> = taken_out(part).into_iter().filter(|name| is_definition(name)).collect();
            if !removed.is_empty() {
                for name in spans(part).filter_map(|span| name_of(span.text)).filter(|name| !taken.contains(name)) {
                    removed.remove(&name);
                }
            }
            removed.extend(taken);
        }
        removed
    }
}

/// Returns what is read of the texts of a session, the newest of which comes first.
fn newest<'s>(texts: impl Iterator<Item = &'s String>) -> Vec<&'s str> {
    let mut left = MAX_SESSION_BYTES;
    let read = texts.map(|said| {
        let said = text::head(said, MAX_TEXT_BYTES.min(left));
        left -= said.len();
        said
    });
    read.filter(|said| !said.is_empty()).collect()
}

/// Returns whether what tells a deed, in lower case, says that it was done to the code itself.
fn is_done(lower: &str) -> bool {
    const OTHERS: [&str; 7] = ["test", "tests", "documented", "noted", "comment", "remaining", "plan"];
    !is_doubtful(lower) && !text::contains_any_words(lower, &OTHERS)
}

/// Returns whether a statement names two things in code, so that it may tell of a switch.
fn names_two(said: &str) -> bool {
    said.bytes().filter(|byte| *byte == b'`').count() >= 4
}

fn has_changed(notes: &SessionNotes) -> bool {
    !notes.changes.is_empty() || !notes.commits.is_empty()
}

/// Returns whether a text in lower case says what must or must not be, or what cannot be.
fn is_rule(lower: &str) -> bool {
    signs::demands(lower) || signs::tells_limit(lower) || forbids(lower)
}

/// Returns whether a memory tells a failure with its cause or its cure, in the form of the extraction.
fn is_failure(memory: &Memory) -> bool {
    let (_, cause, fix) = line::parse_failure(&memory.content);
    memory.content.starts_with('`')
        && (matches!(memory.kind.as_str(), "error_fix" | "failure")
            || (memory.kind != "decision" && !(cause.is_empty() && fix.is_empty())))
}

/// Returns whether somebody asks for a review: what it finds was wrong on its day.
fn asks_review(asked: &str) -> bool {
    text::contains_any_words(&asked.to_lowercase(), &["review", "audit", "리뷰", "검토", "レビュー", "审查"])
}

/// Returns whether all checks that a task names passed at the end of a session, and nothing else that it names is unknown.
fn has_passed(notes: &SessionNotes, title: &str) -> bool {
    let evidence: Vec<&str> = attribute(notes, "evidence").into_iter().flat_map(|all| all.split("; ")).collect();
    let passes = |name: &str| evidence.iter().any(|item| item.strip_suffix(": pass") == Some(name));
    let counts = attribute(notes, "tests").and_then(|counts| counts.strip_suffix(" fail")?.split_once(" pass, "));
    let checks: Vec<bool> = words(title)
        .filter_map(|word| match word {
            "test" | "tests" => match counts {
                Some((count, "0")) => Some(count != "0"),
                Some(_) => Some(false),
                None => Some(passes("tests")),
            },
            "lint" | "linter" | "linting" | "clippy" => Some(passes("lint")),
            "typecheck" => Some(passes("typecheck")),
            "build" => Some(passes("build")),
            "fmt" | "format" | "formatter" | "formatting" => Some(passes("fmt") || passes("format")),
            "checks" | "vet" | "linters" | "type" => Some(false),
            _ => None,
        })
        .collect();
    !checks.is_empty() && checks.into_iter().all(|passed| passed)
}

/// Returns whether a deed in lower case tells the verb of a task at the start of a clause: "Add a lock", "`till.ts`: added a lock".
fn tells_verb(lower: &str, verb: &str) -> bool {
    let stem = verb.strip_suffix('e').unwrap_or(verb);
    let doubled = format!("{verb}{}ed", verb.chars().next_back().unwrap_or('e'));
    let forms = [verb.to_owned(), format!("{stem}ed"), doubled, format!("{}ied", verb.trim_end_matches('y'))];
    let mut places = lower.match_indices(stem).filter(|(at, _)| verb.len() > 2 && begins_clause(&lower[..*at]));
    places.any(|(at, _)| words(&lower[at..]).next().is_some_and(|word| forms.iter().any(|form| form == word)))
}

/// Returns a commit's subject without its type: "refactor(till): remove the drawer".
fn without_scope(subject: &str) -> &str {
    match subject.split_once(": ") {
        Some((kind, rest)) if !kind.contains(' ') => rest,
        _ => subject,
    }
}
