//! What later sessions say of the things that an earlier statement is about: what they took out or put something else in the place of,
//! what they were asked to remove, and the faults that they worked on.
//!
//! An earlier statement stands unless a later one names the same thing. Where the later ones disagree, the newest has the last word.

mod names;
mod removal;
#[cfg(test)]
mod tests;
mod work;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use self::names::{file_name, is_definition, name_of, names_file, parts, spans};
use self::removal::{DOUBTS, change_in, dropped_feature, says_taken_out, stem, taken_out, unwanted, uses, words};
use self::work::Work;
use super::attributes::{attribute, later_requests};
use super::line;
use super::page::is_saved;
use crate::bindings::throughline::policy::types::{Memory, SessionNotes, SessionRecord};
use crate::extract::{signs, standing};
use crate::text;

/// How many other words may stand among those of a removed thing where an earlier statement speaks of it.
const MAX_AMONG: usize = 2;

/// What the later sessions say, the newest first.
pub(super) struct Later<'s> {
    sessions: &'s [SessionRecord],
    told: Vec<Told>,
}

/// What became of a name in a session.
#[derive(Clone, Debug, PartialEq)]
enum Fate {
    /// It was taken out: everywhere, or of these files.
    Gone(Vec<String>),
    Stands,
}

/// What one session says.
#[derive(Default)]
struct Told {
    /// What became of the names that it speaks of.
    names: BTreeMap<String, Fate>,
    /// What it put in the place of something else: from which, to which.
    changes: Vec<(String, String)>,
    /// What it uses at its end.
    uses: BTreeSet<String>,
    /// The words of what it was asked to remove, if it changed files.
    removed: Vec<Vec<String>>,
    /// The words that name a feature that it took out with all that belonged to it.
    dropped: BTreeSet<String>,
    /// What it was asked and what it says that it did, if it changed files, each alone. Few statements need it.
    work: OnceCell<Vec<Work>>,
    commits: bool,
    /// Whether its checks passed.
    has_checked: bool,
}

impl<'s> Later<'s> {
    pub(super) fn of(sessions: &'s [SessionRecord]) -> Self {
        let told = sessions.iter().map(|record| record.notes.as_ref().map(Told::of).unwrap_or_default()).collect();
        Self { sessions, told }
    }

    /// Returns the sessions, the newest first.
    pub(super) fn sessions(&self) -> &'s [SessionRecord] {
        self.sessions
    }

    /// Returns the place of a session. One that is not among them is older than all.
    pub(super) fn place(&self, session: &str) -> usize {
        self.sessions.iter().position(|record| record.id == session).unwrap_or(self.sessions.len())
    }

    /// Returns whether sessions after its own overtook a memory. Whoever saved one on purpose takes it back himself.
    pub(super) fn has_overtaken(&self, memory: &Memory) -> bool {
        let at = self.place(&memory.session_id);
        let content = memory.content.as_str();
        // What a later session learned again holds.
        at > 0
            && memory.seen <= 1
            && !is_saved(memory)
            // What failed once may fail again.
            && !is_failure(memory)
            && (self.is_over(at, content, content)
                || (matches!(memory.kind.as_str(), "learning" | "discovery") && self.is_handled(at, content)))
    }

    /// Returns whether one of the newest `count` sessions says that a pull request is merged.
    pub(super) fn is_merged(&self, count: usize, number: u32) -> bool {
        let merged = |record: &SessionRecord| {
            let all = record.notes.as_ref().and_then(|notes| attribute(notes, "merged"));
            all.is_some_and(|all| all.split(' ').any(|merged| merged == number.to_string()))
        };
        self.sessions[..count].iter().any(merged)
    }

    /// Returns a result of the session at that place without what later ones overtook.
    pub(super) fn without_overtaken(&self, at: usize, said: &str) -> String {
        let parts = parts(said);
        let notes = self.sessions[at].notes.as_ref();
        let is_review = notes.is_some_and(|notes| notes.changes.is_empty() && asks_review(&notes.original_request));
        let mut left = String::with_capacity(said.len());
        let mut leaves_out = false;
        for (number, part) in parts.iter().enumerate() {
            let lower = part.to_lowercase();
            if number == 0 && is_changed_back(&self.told[..at], part, &lower) {
                // All that follows is about the change.
                return String::new();
            }
            let is_over = self.is_over(at, part, said)
                || self.is_of_past_tree(at, &lower)
                || (is_review && self.is_worked_on(at, part))
                // What explains a sentence goes with it.
                || (leaves_out && signs::begins_with_pronoun(&lower, false));
            leaves_out = is_over;
            if !is_over {
                left.push_str(part);
                continue;
            }
            // The heading of a list belongs to its other items too, unless each has its own.
            let next = parts.get(number + 1).filter(|_| part.trim_end().ends_with(';'));
            let is_list = next.is_some_and(|next| !next.contains(": "));
            if let Some((heading, _)) = part.split_once(": ").filter(|_| is_list) {
                left.push_str(heading);
                left.push_str(": ");
            }
        }
        let left = left.trim_end();
        let ended = left.trim_end_matches([';', ':', ' ']);
        if ended.len() < left.len() && !said.trim_end().ends_with([';', ':']) {
            return if ended.is_empty() { String::new() } else { format!("{ended}.") };
        }
        left.to_owned()
    }

    /// Returns whether a part of a result only tells how the working tree was left before a later session committed something.
    fn is_of_past_tree(&self, at: usize, lower: &str) -> bool {
        self.told[..at].iter().any(|told| told.commits) && tells_tree(lower)
    }

    /// Returns whether sessions after the one at that place overtook a statement of it. `whole` is the text in which it stands, which
    /// says of which files it speaks.
    pub(super) fn is_over(&self, at: usize, said: &str, whole: &str) -> bool {
        let later = &self.told[..at.min(self.told.len())];
        if later.is_empty() {
            return false;
        }
        let lower = said.to_lowercase();
        self.is_taken_out(at, said, &lower, whole) || is_changed_back(later, said, &lower) || self.is_unwanted(at, &lower)
    }

    /// Returns whether a statement in lower case speaks of a thing that a later session was asked to remove, or of a feature that it took
    /// out, and no newer one speaks of it as of something that is there.
    fn is_unwanted(&self, at: usize, lower: &str) -> bool {
        if says_taken_out(lower) || !unwanted(lower).is_empty() {
            return false;
        }
        let stands_after = |removal: usize, is_it: &dyn Fn(&str) -> bool| {
            let notes = self.sessions[..removal].iter().filter_map(|record| record.notes.as_ref());
            let mut results = notes.flat_map(|notes| notes.done.iter().chain([&notes.outcome])).flat_map(|said| parts(said));
            results.any(|part| {
                let lower = part.to_lowercase();
                !says_taken_out(&lower) && is_it(&lower)
            })
        };
        let later = self.told[..at.min(self.told.len())].iter().enumerate();
        later.into_iter().any(|(removal, told)| {
            let mut objects = told.removed.iter().filter(|object| speaks_of(object, lower));
            objects.any(|object| !stands_after(removal, &|said| speaks_of(object, said)))
                || (has_word(&told.dropped, lower) && !stands_after(removal, &|said| has_word(&told.dropped, said)))
        })
    }

    /// Returns whether most of what a statement names was taken out later.
    fn is_taken_out(&self, at: usize, said: &str, lower: &str, whole: &str) -> bool {
        if says_taken_out(lower) {
            return false;
        }
        let named: BTreeSet<String> = spans(said).filter_map(|span| name_of(span.text)).collect();
        let is_gone = |name: &&String| {
            self.told[..at.min(self.told.len())].iter().find_map(|told| told.fate(name)).is_some_and(|fate| match fate {
                Fate::Gone(files) => files.is_empty() || files.iter().any(|file| names_file(whole, file)),
                Fate::Stands => false,
            })
        };
        let gone = named.iter().filter(is_gone).count();
        gone > 0 && 2 * gone >= named.len()
    }

    /// Returns whether a fault that a session found was worked on by a later one: it speaks of the same file or name, in words of the fault.
    pub(super) fn is_handled(&self, at: usize, fault: &str) -> bool {
        let lower = fault.to_lowercase();
        let is_fault = (signs::finds_fault(&lower) || standing::says_missing(&lower))
            && !signs::tells_limit(&lower)
            && !signs::demands(&lower);
        is_fault && self.is_worked_on(at, fault)
    }

    /// Returns whether a later session worked on what a statement names, in words of the statement.
    fn is_worked_on(&self, at: usize, said: &str) -> bool {
        let own = Work::of(said);
        (0..at.min(self.told.len())).any(|later| self.work(later).iter().any(|work| own.is_done_by(work)))
    }

    /// Returns whether a task was done by sessions after its own: all that it names in code is in what one of them did, in its words. A
    /// task that only runs the checks is done once they ran.
    pub(super) fn has_done(&self, memory: &Memory) -> bool {
        let at = self.place(&memory.session_id);
        if memory.kind != "task" || is_saved(memory) || at == self.sessions.len() {
            return false;
        }
        if only_checks(&memory.title) {
            return self.told[..at].iter().any(|told| told.has_checked);
        }
        let own = Work::of(&memory.title);
        (0..at).any(|later| self.work(later).iter().any(|work| own.is_all_done_by(work)))
    }

    /// Returns what the session at that place was asked and says that it did, if it changed anything.
    fn work(&self, at: usize) -> &[Work] {
        let notes = self.sessions[at].notes.as_ref().filter(|notes| has_changed(notes));
        self.told[at].work.get_or_init(|| notes.map(all_work).unwrap_or_default())
    }
}

fn has_changed(notes: &SessionNotes) -> bool {
    !notes.changes.is_empty() || !notes.commits.is_empty()
}

fn all_work(notes: &SessionNotes) -> Vec<Work> {
    let results = notes.done.iter().chain([&notes.outcome]).flat_map(|said| parts(said)).map(Work::of);
    let later = later_requests(notes);
    let asked = [&notes.original_request].into_iter().chain(&later).chain(&notes.commits);
    results.chain(asked.map(|said| Work::of(said))).collect()
}

/// Returns whether a memory tells a failure with its cause or its cure, in the form of the extraction.
fn is_failure(memory: &Memory) -> bool {
    let (_, cause, fix) = line::parse_failure(&memory.content);
    memory.kind != "decision" && memory.content.starts_with('`') && !(cause.is_empty() && fix.is_empty())
        || matches!(memory.kind.as_str(), "error_fix" | "failure") && memory.content.starts_with('`')
}

impl Told {
    fn of(notes: &SessionNotes) -> Self {
        let evidence = ["evidence", "tests"].into_iter().filter_map(|name| attribute(notes, name));
        let has_checked = evidence.into_iter().any(|said| said.contains("pass"));
        let mut told = Self { commits: !notes.commits.is_empty(), has_checked, ..Self::default() };
        for said in notes.done.iter().chain([&notes.outcome]) {
            for part in parts(said) {
                told.hear(part, said);
            }
        }
        if !has_changed(notes) {
            return told;
        }
        let results = || notes.done.iter().chain([&notes.outcome]).flat_map(|said| parts(said));
        told.dropped = dropped_feature(&results().collect::<Vec<_>>());
        let later = later_requests(notes);
        for asked in [&notes.original_request].into_iter().chain(&later) {
            told.removed.extend(unwanted(asked));
        }
        told.removed.extend(notes.commits.iter().flat_map(|subject| unwanted(without_scope(subject))));
        told
    }

    /// Takes in a part of a result.
    fn hear(&mut self, part: &str, whole: &str) {
        // Most parts name nothing in code.
        if !part.contains('`') {
            return;
        }
        // The places in it are those in the part.
        let lower = part.to_ascii_lowercase();
        let is_doubtful = text::contains_any(&lower, DOUBTS);
        let change = change_in(part, &lower);
        let mut taken: Vec<String> = Vec::new();
        if !is_doubtful {
            for name in taken_out(part) {
                let (Some(known), is_local) = (name_of(name.text), name.is_local) else { continue };
                let files: Vec<String> =
                    spans(whole).filter_map(|span| file_name(span.text)).filter(|file| *file != known).collect();
                // A mention or a value that was taken out of a file may stand in others.
                let files = if is_local || !is_definition(&known) { files } else { Vec::new() };
                if !(files.is_empty() && (is_local || !is_definition(&known))) {
                    taken.push(known.clone());
                    self.names.insert(known, Fate::Gone(files));
                }
            }
        }
        for name in spans(part).filter_map(|span| name_of(span.text)) {
            let is_old = || change.as_ref().is_some_and(|(from, _)| *from == name);
            if !taken.contains(&name) && !is_old() && !says_taken_out(&lower) {
                self.names.insert(name, Fate::Stands);
            }
        }
        for used in uses(part, &lower) {
            // What it was changed to before is not used any more.
            for (_, to) in self.changes.iter().filter(|(from, _)| *from == used) {
                self.uses.remove(to);
            }
            self.changes.retain(|(from, _)| *from != used);
            self.uses.insert(used);
        }
        if let Some((from, to)) = change.filter(|_| !is_doubtful) {
            self.uses.remove(&from);
            self.uses.insert(to.clone());
            self.changes.push((from, to));
        }
    }

    /// Returns what became of a name, or of the folder that it lies in.
    fn fate(&self, name: &str) -> Option<&Fate> {
        self.names.get(name).or_else(|| {
            let folders = name.match_indices('/').map(|(at, _)| &name[..at]).filter(|folder| folder.contains('/'));
            folders.filter_map(|folder| self.names.get(folder)).find(|fate| **fate != Fate::Stands)
        })
    }
}

/// Returns whether somebody asks for a review: what it finds was wrong on its day.
fn asks_review(asked: &str) -> bool {
    text::contains_any_words(&asked.to_lowercase(), &["review", "audit", "리뷰", "검토", "レビュー", "监查"])
}

/// Returns whether a task only says that checks are to be run.
fn only_checks(title: &str) -> bool {
    const WORDS: [&str; 14] = [
        "run",
        "test",
        "lint",
        "typecheck",
        "build",
        "check",
        "verify",
        "format",
        "all",
        "the",
        "and",
        "suite",
        "quality",
        "gate",
    ];
    let lower = title.to_lowercase();
    let all = words(&lower);
    all.len() > 1 && all.len() <= 6 && all.iter().all(|word| WORDS.contains(&stem(word)))
}

/// Returns whether a statement tells a change that later sessions took back: they use again what it was changed from.
fn is_changed_back(later: &[Told], said: &str, lower: &str) -> bool {
    let Some((from, to)) = change_in(said, lower) else { return false };
    let last_word = later.iter().find_map(|told| match (told.uses.contains(&from), told.uses.contains(&to)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    });
    last_word == Some(true)
}

/// Returns whether a statement in lower case only tells how the working tree was left. Git says how it is now.
fn tells_tree(lower: &str) -> bool {
    const STATES: [&str; 16] = [
        "uncommitted",
        "not committed",
        "not yet committed",
        "still staged",
        "is staged",
        "are staged",
        "ready to commit",
        "ready to be committed",
        "ready for commit",
        "아직 커밋",
        "커밋되지 않",
        "커밋하지 않",
        "미커밋",
        "コミットされていな",
        "コミットしていま",
        "未コミット",
    ];
    text::contains_any_words(lower, &STATES) && lower.chars().count() <= 160
}

/// Returns a commit's subject without its type: "refactor(till): remove the drawer".
fn without_scope(subject: &str) -> &str {
    match subject.split_once(": ") {
        Some((kind, rest)) if !kind.contains(' ') => rest,
        _ => subject,
    }
}

/// Returns whether a text in lower case speaks of a thing: its words stand together there. One word alone is a phrase without spaces.
fn speaks_of(object: &[String], lower: &str) -> bool {
    if let [object] = object {
        return lower.split_whitespace().collect::<String>().contains(object.as_str());
    }
    let said: Vec<&str> = words(lower).into_iter().map(stem).collect();
    let among = if object.len() == 2 { 0 } else { MAX_AMONG };
    let width = (object.len() + among).min(said.len().max(1));
    said.windows(width).any(|window| object.iter().all(|word| window.contains(&word.as_str())))
}

/// Returns whether a text in lower case has one of these words.
fn has_word(all: &BTreeSet<String>, lower: &str) -> bool {
    words(lower).into_iter().any(|word| all.contains(stem(word)))
}
