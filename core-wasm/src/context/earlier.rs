//! What sessions before the last one settled and ran into. A project has many of them, so each trouble is told once, what came back
//! in several sessions comes first, and details of old plans are left to the search.

use std::sync::LazyLock;

use super::attributes::later_requests;
use super::later::LaterSessions;
use super::line;
use super::memories::Memories;
use super::page::{LESSONS, Page, is_routine, is_saved, teaches_nothing};
use crate::bindings::throughline::policy::types::{Memory, SessionRecord};
use crate::extract::commands::{self, Class};
use crate::extract::failures;
use crate::extract::labels::{self, Labels};
use crate::extract::prose;
use crate::extract::signs;
use crate::said_by::SaidBy;
use crate::text;

/// How many of these are read. Much of it is the same trouble in another session.
const MAX_READ: u32 = 60;

/// The maximum number of lines about what only earlier sessions ran into.
const MAX_LESSONS: usize = 6;

/// What each further session adds to the weight of a trouble, and how many of them count.
const AGAIN: f32 = 0.05;
const MAX_AGAIN: u32 = 4;

/// The share of its weight that a lesson of one earlier session keeps: of one of the few sessions before the last, of an older one,
/// and of one that names no cause.
const RECENT: f32 = 0.9;
const OLD: f32 = 0.75;
const UNEXPLAINED: f32 = 0.6;

/// How many sessions, with the last one, are recent.
const RECENT_SESSIONS: usize = 4;

/// The weight below which a lesson of earlier sessions is left to the search.
const MIN_WEIGHT: f32 = 0.44;

/// In how many sessions a check must have failed alike to be told without a cause. Most fail now and then, and pass later.
const ROUTINE: u32 = 3;

/// In how many files edits must have failed alike to be told of their folders, which says more than the name of one file.
const MANY_FILES: usize = 3;
/// How many folders are named by two parts of their paths. More are named by the first one.
const MAX_FOLDERS: usize = 3;

/// From how many memories of one trouble on a cause must hold for others too.
const MANY_CAUSES: usize = 4;

/// What runners of scripts say of every failure. It distinguishes none.
static OF_RUNNERS: LazyLock<text::Features> =
    LazyLock::new(|| text::features("error errors task tasks failed fails failure exit exited code status command"));
/// The number of words from which two errors with the same ones are the same.
const MIN_EQUAL: usize = 2;

/// How what failed edits teach begins.
const EDIT: &str = "edit of ";

/// The maximum length of a cure that an earlier session found, in characters.
const MAX_CURE_CHARS: usize = 110;

/// The share of words in common from which two texts say the same, in tenths.
const SAME_TENTHS: usize = 8;
/// The minimum number of words in common. Fewer occur by chance.
const MIN_SAME: usize = 3;

/// The importance below which a decision that the user did not state is a detail of a plan or of the work, and answers no question.
const MIN_ANSWER: f32 = 0.7;
/// The maximum number of details of earlier work.
const MAX_DETAILS: usize = 3;
/// The share of its weight that a detail of earlier work keeps.
const DETAIL: f32 = 0.85;
/// The maximum length of the request that a detail belongs to, in characters.
const MAX_REQUEST_CHARS: usize = 80;

/// The minimum number of words of a question or a rule for a later one to replace it. Shorter ones may be about anything.
const MIN_SUBJECT: usize = 5;

/// The share of its weight that an answer keeps which chose nothing.
const UNDECIDED: f32 = 0.85;

/// How a clause of a correction begins that forbids or demands something, which may happen again, in lower case; what may stand before
/// it; and the words that do so anywhere.
const BANS: [&str; 7] = ["do not ", "don't ", "dont ", "never ", "always ", "stop ", "no more "];
const BEFORE_BANS: [&str; 14] =
    ["please", "and", "but", "so", "just", "also", "then", "again", "should", "must", "to", "nah", "no", "okay"];
const STANDING: [&str; 8] = ["must", "하지 마", "하지마", "말아", "しないで", "禁止", "不要", "必须"];

/// Adds what earlier sessions decided, each with its date. `later` has the newest sessions, of which `last` was the last.
pub(super) fn add_decisions(page: &mut Page, memories: &dyn Memories, later: &LaterSessions, last: Option<&str>) {
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

/// Returns whether a decision only says yes or no to a question about the work of its day.
fn is_of_its_day(memory: &Memory) -> bool {
    memory.content.split_once(" → ").is_some_and(|(question, answer)| prose::is_of_its_day(question, answer))
}

/// Returns whether an answer chose nothing, but weighs as much as one that did.
fn is_overrated(memory: &Memory) -> bool {
    let (what, ..) = line::parse_decision(&memory.content);
    memory.importance > MIN_ANSWER && what.split_once(" → ").is_some_and(|(_, answer)| prose::chooses_nothing(answer))
}

/// Adds what the sessions ran into: the same trouble once, by the memory that says most. The page has those of the last session
/// already, whose memories are `stored`.
pub(super) fn add_lessons(page: &mut Page, memories: &dyn Memories, later: &LaterSessions, stored: &[Memory]) {
    let sessions = later.sessions();
    let read = page.checked_for_more(memories.important(&LESSONS, MAX_READ), MAX_READ as usize);
    let is_new =
        |memory: &&Memory| LESSONS.contains(&memory.kind.as_str()) && read.iter().all(|known| known.id != memory.id);
    let all = read.iter().chain(stored.iter().filter(is_new));
    let is_of_last = |memory: &Memory| stored.iter().any(|known| known.id == memory.id);
    let says_nothing = |memory: &Memory| teaches_nothing(memory) || (is_of_machine(memory) && !is_of_last(memory));
    let (over, all): (Vec<&Memory>, Vec<&Memory>) =
        all.filter(|memory| !says_nothing(memory)).partition(|memory| !is_of_last(memory) && later.has_overtaken(memory));
    for memory in over {
        page.leave_out(memory);
    }
    let lessons: Vec<Lesson> = all.into_iter().map(Lesson::of).collect();
    let mut earlier: Vec<Trouble> = Vec::new();
    for trouble in troubles(&lessons) {
        let is_of_last_session = |it: &Lesson| !is_routine(it.memory) && is_of_last(it.memory);
        let told = trouble.iter().find(|it| is_of_last_session(it) || page.tells(it.memory));
        let Some(best) = told.or_else(|| trouble.iter().max_by_key(|it| it.says(&trouble))) else { continue };
        let times = times(&trouble);
        let is_recent = sessions.iter().take(RECENT_SESSIONS).any(|record| record.id == best.memory.session_id);
        let factor = match best.is_explained() {
            _ if told.is_some() || is_saved(best.memory) => 1.0,
            _ if times == 1 && best.is_mended_for_good() => 0.0,
            _ if times == 1 && best.is_slip() && !best.is_left_open() && !best.is_bypassed => UNEXPLAINED,
            false if best.is_routine() && times < ROUTINE => 0.0,
            _ if times > 1 => 1.0,
            false => UNEXPLAINED,
            true if is_recent => RECENT,
            true if best.is_slip() => UNEXPLAINED,
            true => OLD,
        };
        let all = trouble.iter().map(|it| it.memory).collect();
        let said = of_all_files(&trouble, best.memory)
            .filter(|_| times >= ROUTINE)
            .or_else(|| best.without_fix().filter(|_| !best.is_usual(&trouble) && best.is_open_again(sessions)))
            .filter(|_| told.is_none());
        let cure = best.cure_in(&trouble);
        let trouble = Trouble { memory: best.memory, said, factor, times, all };
        if told.is_some() {
            trouble.add_to(page);
            if let Some(cure) = cure {
                page.add_mark(&trouble.memory.id, &format!("in an earlier session fixed by: {cure}"));
            }
        } else {
            earlier.push(trouble);
        }
    }
    earlier.sort_by(|one, other| other.weight().total_cmp(&one.weight()));
    for (at, trouble) in earlier.iter().enumerate() {
        if at < MAX_LESSONS && trouble.weight() >= MIN_WEIGHT {
            trouble.add_to(page);
        } else {
            // One that says nothing by itself is no memory that a search should find.
            let (unsaid, all): (Vec<&Memory>, Vec<&Memory>) = trouble.all.iter().partition(|memory| is_routine(memory));
            page.pass_over(&unsaid);
            for memory in all {
                page.leave_out(memory);
            }
        }
    }
}

/// Returns whether a failure names a process by its number, which is another one in the next session.
fn is_of_machine(memory: &Memory) -> bool {
    let mut after = memory.content.split("PID ").skip(1);
    memory.kind == "error_fix" && !is_saved(memory) && after.any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns how many sessions had a trouble. A memory that several sessions learned in the same words was stored once.
fn times(trouble: &[&Lesson]) -> u32 {
    let mut seen: Vec<(&str, u32)> = Vec::new();
    for Lesson { memory, .. } in trouble {
        let session = memory.session_id.as_str();
        match seen.iter_mut().find(|(known, _)| *known == session) {
            Some((_, times)) => *times = memory.seen.max(*times),
            None => seen.push((session, memory.seen.max(1))),
        }
    }
    seen.iter().fold(0, |all, (_, times)| all.saturating_add(*times))
}

/// A trouble that the page tells.
struct Trouble<'m> {
    /// The memory that says most.
    memory: &'m Memory,
    /// What is told in the place of its words.
    said: Option<String>,
    /// The share of the memory's weight that counts.
    factor: f32,
    /// How many sessions had it.
    times: u32,
    /// All memories of it.
    all: Vec<&'m Memory>,
}

impl Trouble<'_> {
    fn weight(&self) -> f32 {
        self.memory.importance * self.factor + self.more()
    }

    /// Returns what it gains by coming back.
    fn more(&self) -> f32 {
        let more = u8::try_from(self.times.saturating_sub(1).min(MAX_AGAIN)).unwrap_or_default();
        AGAIN * f32::from(more)
    }

    fn add_to(&self, page: &mut Page) {
        match &self.said {
            Some(said) => {
                let memory = Memory { title: String::new(), content: said.clone(), ..self.memory.clone() };
                page.add_memory(&memory, self.factor);
            }
            None => page.add_memory(self.memory, self.factor),
        }
        if self.times > 1 {
            page.came_back(&self.memory.id, self.times, self.more());
        }
        page.tells_all(&self.memory.id, &self.all);
    }
}

/// What a session ran into.
struct Lesson<'m> {
    memory: &'m Memory,
    /// Whether it is a failure, and not what somebody said.
    is_failure: bool,
    cause: &'m str,
    fix: &'m str,
    /// Whether the fix only goes around it.
    is_bypassed: bool,
    /// The words of the cure.
    cure: text::Features,
    /// The words of what failed and how.
    error: text::Features,
    /// The folders that the cause and the cure name.
    folders: Vec<&'m str>,
}

impl<'m> Lesson<'m> {
    fn of(memory: &'m Memory) -> Self {
        let (said, cause, fix) = line::parse_failure(&memory.content);
        let is_of_command = said.starts_with('`');
        // What somebody wrote down himself has another form. A failure that was left open is something learned.
        let is_failure = match memory.kind.as_str() {
            "error_fix" | "failure" => is_of_command || !cause.is_empty() || !fix.is_empty(),
            "learning" => is_of_command && !cause.is_empty(),
            _ => false,
        };
        let (said, cause, fix) = if is_failure { (said, cause, fix) } else { ("", "", "") };
        let error = said.split_once("` ").filter(|_| is_of_command).map_or(said, |(_, error)| error);
        let error = error.split_once(": ").map_or(error, |(_, error)| error);
        let named = if is_failure { [cause, fix] } else { [memory.content.as_str(), ""] };
        let folders = named.into_iter().flat_map(folders).collect();
        let error = words_of_error(error);
        let is_bypassed = is_failure && line::is_bypassed(&memory.content);
        Self { memory, is_failure, cause, fix, is_bypassed, cure: text::features(fix), error, folders }
    }

    /// Returns how much it says among others of the same trouble: a cure that lasted, what helped most often, and the cause, if it is
    /// that of others too. Of equals, what was learned most often counts, and then the latest.
    fn says(&self, trouble: &[&Self]) -> (bool, u32, bool, u8, u32, u64) {
        // An edit that failed and names no other tool was mended by another edit.
        let is_mended = !self.fix.is_empty() || (self.is_edit() && !self.cause.is_empty());
        let is_same_cure = |it: &&&Self| is_mended && it.cure == self.cure;
        let cured = trouble.iter().filter(is_same_cure).fold(0, |all: u32, it| all.saturating_add(it.memory.seen.max(1)));
        let is_known =
            |name: &str| trouble.iter().any(|it| it.memory.id != self.memory.id && it.memory.content.contains(name));
        let is_general = trouble.len() < MANY_CAUSES || names_of_code(self.cause).all(is_known);
        // What was said after a command failed may be about something else.
        let is_of_error = || {
            !self.memory.content.starts_with('`')
                || self.error.is_empty()
                || text::features(self.cause).iter().any(|word| self.error.contains(word))
        };
        let is_other = |it: &&&Self| it.memory.id != self.memory.id;
        let is_of_folder = || trouble.iter().filter(is_other).any(|it| self.shares_folder(it));
        let cause = match self.cause.is_empty() {
            true => 1,
            false if trouble.len() < MANY_CAUSES || is_of_error() || is_of_folder() => 2,
            false => 0,
        };
        (cured > 0 && self.has_lasted(trouble), cured, is_general, cause, self.memory.seen, self.memory.created)
    }

    /// Returns whether it was mended and not only gone around, and no later session went around it or left it open.
    fn has_lasted(&self, trouble: &[&Self]) -> bool {
        let is_unmended_later =
            |it: &&Self| (it.is_bypassed || it.is_left_open()) && it.memory.created > self.memory.created;
        !self.is_bypassed && (self.is_usual(trouble) || !trouble.iter().any(is_unmended_later))
    }

    /// Returns whether its cure came back, or is routine. A routine failure that is left open says nothing about the cure.
    fn is_usual(&self, trouble: &[&Self]) -> bool {
        is_routine(self.memory)
            || self.memory.seen > 1
            || trouble.iter().any(|it| it.memory.id != self.memory.id && it.cure == self.cure)
    }

    /// Returns whether a session after its own left the same error open. `sessions` are the newest ones, the newest first.
    fn is_open_again(&self, sessions: &[SessionRecord]) -> bool {
        let own = sessions.iter().position(|record| record.id == self.memory.session_id).unwrap_or(sessions.len());
        let notes = sessions[..own].iter().filter_map(|record| record.notes.as_ref());
        let program = |said: &str| said.trim_start_matches('`').split_whitespace().next().unwrap_or_default().to_owned();
        let own_program = program(&self.memory.content);
        notes.flat_map(|notes| &notes.errors).any(|error| {
            let said = error.split_once("`: ").map_or(error.as_str(), |(_, error)| error);
            program(error) == own_program && are_same_words(&self.error, &words_of_error(said))
        })
    }

    /// Returns what failed and how, without what mended it.
    fn without_fix(&self) -> Option<String> {
        let told = self.memory.content.strip_suffix(self.fix).filter(|_| !self.fix.is_empty() && !self.is_bypassed)?;
        let labels = line::LANGUAGES.map(|language| format!("{}: ", labels::labels(language).fixed_by));
        labels.iter().find_map(|label| told.strip_suffix(label.as_str())).map(|told| told.trim_end().to_owned())
    }

    /// Returns what mended the same error in another session, if nothing mended it here.
    fn cure_in(&self, trouble: &[&Self]) -> Option<String> {
        if !self.is_failure || !(self.fix.is_empty() || self.is_bypassed) || self.is_edit() {
            return None;
        }
        let mends = |it: &&&Self| {
            it.memory.session_id != self.memory.session_id
                && !it.fix.is_empty()
                && !it.is_bypassed
                && !it.is_slip()
                && are_same_words(&self.error, &it.error)
        };
        let cure = trouble.iter().filter(mends).max_by_key(|it| it.memory.created)?.fix;
        Some(line::truncate(&line::sanitize(cure), MAX_CURE_CHARS))
    }

    /// Returns whether it is about edits of files.
    fn is_edit(&self) -> bool {
        self.is_failure && self.memory.content.starts_with(EDIT)
    }

    fn is_left_open(&self) -> bool {
        self.is_failure && self.memory.kind == "learning"
    }

    /// Returns whether a check failed for a cause in code of its day, or was left failing: much has been run since then.
    fn is_slip(&self) -> bool {
        let of_change = |words: &Labels| {
            let (before, after) = words.changed_file.split_once("{}").unwrap_or_default();
            self.fix.starts_with(before) && self.fix.ends_with(after)
        };
        let is_mended_in_code =
            self.fix.is_empty() || self.is_bypassed || line::LANGUAGES.map(labels::labels).into_iter().any(of_change);
        self.is_left_open() || (self.is_routine() && is_mended_in_code && names_of_code(self.cause).next().is_some())
    }

    /// Returns whether somebody wrote down a fault of the code with the change that mended it: neither comes back. A cure that is to be
    /// run or set is needed again.
    fn is_mended_for_good(&self) -> bool {
        let is_written = !self.is_left_open() && !self.memory.content.starts_with('`') && !self.is_edit();
        is_written
            && matches!(self.memory.kind.as_str(), "error_fix" | "learning")
            && tells_mended_code(&self.memory.content)
    }

    /// Returns whether it says more than that something failed and passed later, or that the user steered once.
    fn is_explained(&self) -> bool {
        // What the agent took a correction to mean is not the human's ban.
        let labels = line::LANGUAGES.map(|language| format!(" ({}: ", labels::labels(language).understood));
        let content = self.memory.content.as_str();
        let own = labels.iter().find_map(|label| content.split_once(label.as_str())).map_or(content, |(own, _)| own);
        let forbids = || forbids(&own.to_lowercase().replace('’', "'"));
        match self.memory.kind.as_str() {
            "correction" => forbids() && !self.is_about_one_call(),
            _ => !self.is_failure || !self.cause.is_empty(),
        }
    }

    /// Returns whether the user refused a call and said so of "this": what it was is over.
    fn is_about_one_call(&self) -> bool {
        let refused = line::LANGUAGES.map(labels::labels).map(|words| words.refused.split("{}").next().unwrap_or_default());
        let said =
            refused.iter().find_map(|label| self.memory.content.split_once(label)).map(|(said, _)| said.to_lowercase());
        // "This database" stays.
        let is_pointer = |said: &str| {
            let mut words = said.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).rev();
            // "Don't check this in yet"
            let last = words.find(|word| !matches!(*word, "in" | "yet" | "now" | "here" | "up"));
            last.is_some_and(|word| matches!(word, "this" | "these" | "it"))
                || text::contains_any(said, &["이건", "이거", "これ", "这个"])
        };
        said.is_some_and(|said| {
            let said = said.trim_end_matches(['(', ' ']);
            is_pointer(said) && !text::contains_any_words(said, &["never", "always"])
        })
    }

    /// Returns whether a check or a tool failed once, as they do in each session.
    fn is_routine(&self) -> bool {
        let command = self.memory.content.strip_prefix('`').and_then(|rest| rest.split_once('`'));
        let is_check = command.is_none_or(|(command, _)| {
            matches!(commands::class(command), Class::Test | Class::Check | Class::Build | Class::Commit | Class::Inspect)
        });
        self.is_failure && (is_check || self.memory.kind == "failure" || self.fix.is_empty())
    }

    /// Returns whether both are about the same trouble: the same error, or a failure whose cause or cure names the same folder.
    fn is_same(&self, other: &Self) -> bool {
        // What a formatter mends is one trouble, whatever it complained of.
        let is_same_cure =
            is_routine(self.memory) && is_routine(other.memory) && !self.fix.is_empty() && self.fix == other.fix;
        let is_failure = self.is_failure || other.is_failure;
        are_same_words(&self.error, &other.error) || is_same_cure || (is_failure && self.shares_folder(other))
    }

    /// Returns whether both name the same folder.
    fn shares_folder(&self, other: &Self) -> bool {
        self.folders.iter().any(|folder| other.folders.contains(folder))
    }
}

/// Returns whether a text tells a fault and how the code was changed for it.
fn tells_mended_code(said: &str) -> bool {
    const ENDED: [&str; 8] = [
        "(fixed in ",
        "fixed in commit",
        "already fixed",
        "has been fixed",
        "수정되었",
        "수정됐",
        "修正済み",
        "修正されました",
    ];
    const LABELS: [&str; 9] =
        ["fixed by ", "fixed to ", "fix: ", "solution: ", "해결: ", "수정: ", "修正: ", "対処: ", "解決: "];
    const CHANGES: [&str; 22] = [
        "add",
        "chang",
        "replac",
        "updat",
        "swap",
        "split",
        "stor",
        "filter",
        "mov",
        "renam",
        "implement",
        "refactor",
        "rewrit",
        "extract",
        "track",
        "return",
        "pass",
        "wrap",
        "validat",
        "accurate",
        "추가",
        "追加",
    ];
    const PRACTICES: [&str; 6] = ["before running", "path", "environment", "restart", "env", "flag"];
    // The places in it are those in the text.
    let lower = said.to_ascii_lowercase();
    if signs::tells_limit(&lower) || text::contains_any_words(&lower, &["must", "never", "always", "requires", "require"]) {
        return false;
    }
    let labelled = LABELS.iter().filter_map(|label| lower.rfind(label).map(|at| at + label.len())).max();
    let Some(at) = labelled.or_else(|| lower.rfind(": replaced ").map(|at| at + ": ".len())) else {
        return text::contains_any(&lower, &ENDED);
    };
    let cure = &lower[at..];
    let first = cure.split_whitespace().next().unwrap_or_default();
    let uses_name = || matches!(first, "use" | "using") && names_of_code(&said[at..]).next().is_some();
    let is_change = CHANGES.iter().any(|verb| first.starts_with(verb)) || uses_name();
    // What is run, or set outside the code, is needed again.
    let is_needed_again = said[at..].split('`').skip(1).step_by(2).any(is_run) || text::contains_any_words(cure, &PRACTICES);
    is_change && !is_needed_again
}

/// Returns whether something in backticks is a command, a flag of one, or a variable of the environment.
fn is_run(code: &str) -> bool {
    let (program, rest) = code.split_once(' ').unwrap_or((code, ""));
    let is_word =
        |word: &str, others: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c)) && !word.is_empty();
    let sets_variable = |(name, _): (&str, &str)| is_word(name, "_") && name == name.to_ascii_uppercase();
    code.starts_with('-')
        || code.contains('$')
        || (!rest.is_empty() && is_word(program, "-_"))
        || program.split_once('=').is_some_and(sets_variable)
}

/// Returns the words of an error that tell it from others.
fn words_of_error(error: &str) -> text::Features {
    let mut words = text::features(failures::said_by_tool(error));
    words.retain(|word| !OF_RUNNERS.contains(word));
    words
}

/// Returns whether two texts have the same words, or nearly.
fn are_same_words(one: &text::Features, other: &text::Features) -> bool {
    let shared = one.iter().filter(|word| other.contains(word)).count();
    let all = one.len().max(other.len());
    (shared >= MIN_SAME && shared * 10 >= all * SAME_TENTHS) || (shared >= MIN_EQUAL && shared == all)
}

/// Returns whether a text in lower case forbids or demands something.
pub(super) fn forbids(lower: &str) -> bool {
    let opens = |ban: &&str| {
        text::contains(lower, ban)
            && lower.match_indices(*ban).any(|(at, _)| {
                let before = lower[..at].trim_end();
                let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
                // "Stop for a second" only interrupts.
                let pauses =
                    ["stop for a ", "stop for now", "stop a second", "stop a sec", "stop a moment", "stop a minute"];
                let interrupts = pauses.iter().any(|words| text::starts_with_words(&lower[at..], words));
                !interrupts && (!before.ends_with(char::is_alphanumeric) || BEFORE_BANS.contains(&word))
            })
    };
    BANS.iter().any(opens) || text::contains_any_words(lower, &STANDING)
}

/// Returns the folders that a text names: paths of two parts or more without an extension, up to the first part that looks made up by
/// a program.
fn folders(said: &str) -> impl Iterator<Item = &str> {
    let words = said.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ';'));
    words.filter_map(|word| {
        let is_made_up = |part: &str| part.contains('…') || part.bytes().filter(u8::is_ascii_digit).count() > 2;
        let word = word.trim_end_matches(['.', ':']);
        let parts = word.split('/').take_while(|part| !part.is_empty() && !is_made_up(part));
        let length: usize = parts.map(|part| part.len() + 1).sum();
        let folder = word.get(..length.saturating_sub(1))?;
        let is_path = folder.contains('/') && folder.bytes().all(|byte| byte.is_ascii_graphic());
        let has_extension = folder.rsplit('/').next().is_some_and(|name| name.contains('.'));
        (is_path && !has_extension && !folder.contains("://")).then_some(folder)
    })
}

/// Returns the names in backticks that only code has: `tillTotal`, `till_total`, `total()` and `src/till.rs`.
fn names_of_code(said: &str) -> impl Iterator<Item = &str> {
    let is_inner_capital = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    let is_file = |name: &str| {
        let (stem, extension) = name.rsplit_once('.').unwrap_or_default();
        !stem.is_empty() && matches!(extension.len(), 1..=4) && extension.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let is_of_code = move |name: &&str| {
        let is_name = || name.contains(['_', '(']) || name.as_bytes().windows(2).any(is_inner_capital);
        !name.contains(char::is_whitespace) && (is_file(name) || (!name.contains(['/', '-', '$']) && is_name()))
    };
    said.split('`').skip(1).step_by(2).filter(is_of_code)
}

/// Returns what failed edits of many files teach, with their folders in the place of one file.
fn of_all_files(trouble: &[&Lesson], best: &Memory) -> Option<String> {
    let edited = |memory: &'_ Memory| memory.content.strip_prefix(EDIT)?.split(' ').next().map(str::to_owned);
    let mut files: Vec<String> = trouble.iter().filter_map(|it| edited(it.memory)).collect();
    files.sort();
    files.dedup();
    if files.len() < MANY_FILES || files.iter().any(|file| file.starts_with('/')) {
        return None;
    }
    let folders_of = |parts: usize| {
        let folder = |file: &String| {
            let all: Vec<&str> = file.split('/').collect();
            all[..parts.min(all.len() - 1)].join("/")
        };
        let mut folders: Vec<String> = files.iter().map(folder).filter(|folder| !folder.is_empty()).collect();
        folders.dedup();
        folders
    };
    let folders = Some(folders_of(2)).filter(|all| all.len() <= MAX_FOLDERS).unwrap_or_else(|| folders_of(1));
    let said = best.content.strip_prefix(EDIT)?.split_once(' ')?.1;
    // How many files and how often is true of one session.
    let said = said.strip_prefix("and ").and_then(|rest| rest.split_once(" more ")).map_or(said, |(_, rest)| rest);
    let (verb, said) = said.split_once(": ")?;
    let verb = verb.split(" (").next().unwrap_or(verb);
    (!folders.is_empty()).then(|| format!("{EDIT}files below {} {verb}: {said}", folders.join(", ")))
}

/// Returns the lessons in groups of the same trouble, each group where its first lesson stood.
fn troubles<'l, 'm>(lessons: &'l [Lesson<'m>]) -> Vec<Vec<&'l Lesson<'m>>> {
    let mut groups: Vec<Vec<&Lesson>> = Vec::new();
    for lesson in lessons {
        let (same, other): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|it| it.is_same(lesson)));
        groups = other;
        let mut group: Vec<&Lesson> = same.into_iter().flatten().collect();
        group.push(lesson);
        groups.push(group);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::throughline::policy::types::SessionNotes;
    use crate::context::overtaken::tests::empty_notes;
    use crate::extract::failures::ROUTINE as ROUTINE_WORD;

    fn failure(session: &str, content: &str) -> Memory {
        Memory {
            id: content.to_owned(),
            session_id: session.to_owned(),
            kind: "error_fix".to_owned(),
            title: String::new(),
            content: content.to_owned(),
            keywords: Vec::new(),
            files: Vec::new(),
            importance: 0.7,
            created: 0,
            seen: 1,
            score: 0.0,
            attributes: Vec::new(),
        }
    }

    #[test]
    fn folders_end_where_a_program_made_up_a_name() {
        let said = "`rm -rf tmp/toys/run-20260212/src`, (tmp/toys/) and src/cart/till.rs at https://example.org/a/b or 3/4";
        assert_eq!(folders(said).collect::<Vec<_>>(), ["tmp/toys", "tmp/toys", "3/4"]);
        assert_eq!(folders("cart /till tmp/…").count(), 0);
    }

    #[test]
    fn one_trouble_has_one_error_or_one_folder_to_blame() {
        let all = [
            failure("1", "`npm test` fails: error: cannot find the module till. Fixed by: `npm install`"),
            failure("2", "`npm run test` fails (3×): error: cannot find the module till"),
            failure(
                "3",
                "`git commit` fails: its hook failed. Cause: it ran the tests below `tmp/toys/`. Fixed by: `rm -rf tmp/toys/run-4711`",
            ),
            failure("4", "`make` fails: 12 fail. Cause: They are from tmp/toys."),
            failure("5", "`make lint` fails: the drawer is not closed"),
        ];
        let lessons: Vec<Lesson> = all.iter().map(Lesson::of).collect();
        let groups: Vec<Vec<&str>> =
            troubles(&lessons).iter().map(|group| group.iter().map(|it| it.memory.session_id.as_str()).collect()).collect();
        assert_eq!(groups, [vec!["1", "2"], vec!["3", "4"], vec!["5"]]);
    }

    fn session(id: &str, error: &str) -> SessionRecord {
        let notes = SessionNotes { errors: vec![error.to_owned()], ..empty_notes() };
        let (summary, topics, files) = Default::default();
        SessionRecord { id: id.to_owned(), started: None, ended: None, summary, topics, files, notes: Some(notes) }
    }

    fn groups(all: &[Memory]) -> Vec<Vec<String>> {
        let lessons: Vec<Lesson> = all.iter().map(Lesson::of).collect();
        let ids = |group: &Vec<&Lesson>| group.iter().map(|it| it.memory.session_id.clone()).collect();
        troubles(&lessons).iter().map(ids).collect()
    }

    #[test]
    fn what_a_runner_says_of_every_failure_makes_no_trouble() {
        let all = [
            failure("1", "`shop run lint` fails: [lint] ERROR task failed. Cause: `tillTotal` is unused"),
            failure("2", "`shop run lint` fails: [lint] ERROR task failed. Cause: The drawer must be closed"),
        ];
        assert_eq!(groups(&all), [["1"], ["2"]]);
    }

    #[test]
    fn an_open_failure_is_that_of_others_whatever_runs_the_task() {
        let open = Memory {
            kind: "learning".to_owned(),
            ..failure("1", "`shop test` fails: @shop/till:test: error: Missing TILL_URL. Cause: Nothing sets it.")
        };
        assert_eq!(groups(&[open, failure("2", "`shop test till` fails: Missing TILL_URL")]), [["1", "2"]]);
    }

    #[test]
    fn what_one_formatter_mends_is_one_trouble() {
        let routine =
            |session: &str, content: &str| Memory { keywords: vec![ROUTINE_WORD.to_owned()], ..failure(session, content) };
        let mended = "Fixed by: `shop lint:fix`";
        let all = [
            routine("1", &format!("`shop lint` fails: Formatter would print other blanks. {mended}")),
            routine("2", &format!("`shop lint` fails: this import is unused. {mended}")),
            failure("3", &format!("`shop tidy` fails: the drawer is open. {mended}")),
        ];
        assert_eq!(groups(&all), [vec!["1", "2"], vec!["3"]]);
    }

    #[test]
    fn the_usual_cure_is_told_and_no_cause_of_one_session() {
        let all = [
            failure("1", "`make till` fails: no rule for the till. Fixed by: `make rules`"),
            failure("2", "`make till` fails: no rule for the till. Cause: `tillTotal` is new. Fixed by: `make rules`"),
            failure("3", "`make till` fails: no rule for the till. Cause: Nobody made it. Fixed by: `make all`"),
            failure("4", "`make till` fails: no rule for the till. Cause: The drawer stands open. Fixed by: `make rules`"),
        ];
        let lessons: Vec<Lesson> = all.iter().map(Lesson::of).collect();
        let trouble: Vec<&Lesson> = lessons.iter().collect();
        let best = trouble.iter().max_by_key(|it| it.says(&trouble)).unwrap();
        assert_eq!(best.memory.session_id, "1", "neither a name of one session, nor what has no word of the error");
        let few = [&lessons[0], &lessons[1]];
        assert_eq!(few.iter().max_by_key(|it| it.says(&few)).unwrap().memory.session_id, "2");
    }

    #[test]
    fn a_cause_in_the_folder_of_others_is_told() {
        let cure = "Fixed by: `rm -rf shop/toys`";
        let all = ["3 fail.", "5 fail. Cause: They are left over in shop/toys.", "7 fail.", "8 fail."]
            .map(|said| failure(said, &format!("`make till` fails: {said} {cure}")));
        let lessons: Vec<Lesson> = all.iter().map(Lesson::of).collect();
        let trouble: Vec<&Lesson> = lessons.iter().collect();
        assert_eq!(trouble.iter().max_by_key(|it| it.says(&trouble)).unwrap().memory.content, all[1].content);
    }

    #[test]
    fn a_cause_in_code_and_what_was_left_open_are_of_their_day() {
        let is_slip =
            |kind: &str, content: &str| Lesson::of(&Memory { kind: kind.to_owned(), ..failure("1", content) }).is_slip();
        let fails = "`make lint` fails: 2 problems. Cause:";
        assert!(is_slip("error_fix", &format!("{fails} `tillTotal` is unused. Fixed by: a change of `src/till.rs`")));
        assert!(is_slip("learning", &format!("{fails} The drawer is open.")));
        assert!(!is_slip(
            "error_fix",
            &format!("{fails} The linter wants a full stop. Fixed by: a change of `src/till.rs`")
        ));
        assert!(!is_slip("error_fix", &format!("{fails} `tillTotal` is unused. Fixed by: `make rules`")));
    }

    #[test]
    fn edits_that_fail_in_many_files_name_their_folders() {
        let said = |path: &str, more: &str| {
            failure(path, &format!("edit of {path}{more} fails (3×): Text not found. Cause: The file uses tabs."))
        };
        let of = |all: &[Memory]| {
            let lessons: Vec<Lesson> = all.iter().map(Lesson::of).collect();
            of_all_files(&lessons.iter().collect::<Vec<_>>(), &all[0])
        };
        let all = [said("shop/src/till.ts", " and 2 more"), said("shop/src/cart.ts", ""), said("web/drawer.ts", "")];
        assert_eq!(of(&all).unwrap(), "edit of files below shop/src, web fails: Text not found. Cause: The file uses tabs.");
        assert_eq!(of(&all[..2]), None);
    }

    #[test]
    fn a_trouble_counts_the_sessions_that_learned_it_in_the_same_words() {
        let (twice, again) =
            (failure("1", "`make` fails: no rule for the cart"), failure("2", "`make` fails: no rule for the cart!"));
        let all = [Memory { seen: 4, ..twice.clone() }, again, twice];
        let lessons: Vec<Lesson> = all.iter().map(Lesson::of).collect();
        assert_eq!(times(&lessons.iter().collect::<Vec<_>>()), 5);
        let often = [Memory { seen: u32::MAX, ..failure("3", "x") }, failure("4", "x")];
        let lessons: Vec<Lesson> = often.iter().map(Lesson::of).collect();
        assert_eq!(times(&lessons.iter().collect::<Vec<_>>()), u32::MAX);
    }

    fn best(all: &[Memory]) -> String {
        let lessons: Vec<Lesson> = all.iter().map(Lesson::of).collect();
        let trouble: Vec<&Lesson> = lessons.iter().collect();
        trouble.iter().max_by_key(|it| it.says(&trouble)).unwrap().memory.session_id.clone()
    }

    fn at(created: u64, memory: Memory) -> Memory {
        Memory { created, ..memory }
    }

    #[test]
    fn what_is_only_gone_around_is_one_trouble_however_it_ended() {
        let fails = "`git commit -m \"…\"` fails: the drawer hook is stuck.";
        let around = "`git commit --no-verify -m \"…\"`";
        let all = [
            failure("1", &format!("{fails} Not mended, only bypassed by: {around}")),
            failure("2", &format!("{fails} Bypassed once, which the user allowed, by: {around}")),
            failure("3", &format!("{fails} Cause: Its key is old. Not mended, only bypassed by: {around}")),
        ];
        assert_eq!(groups(&all), [["1", "2", "3"]]);
    }

    #[test]
    fn a_cure_that_a_later_session_had_to_go_around_is_not_told() {
        let fails = "`git commit -m \"…\"` fails: the drawer hook is stuck.";
        let cured = |at_time: u64, session: &str| at(at_time, failure(session, &format!("{fails} Fixed by: `make key`")));
        let around = |at_time: u64, session: &str| {
            at(at_time, failure(session, &format!("{fails} Not mended, only bypassed by: `git commit --no-verify`")))
        };
        assert_eq!(best(&[cured(1, "1"), around(2, "2")]), "2");
        assert_eq!(best(&[around(1, "1"), around(2, "2"), cured(3, "3")]), "3", "the cure came last");
        assert_eq!(best(&[cured(1, "1"), around(2, "2"), cured(3, "3")]), "3", "it helped again");
    }

    #[test]
    fn a_cure_is_not_told_while_a_later_session_has_the_same_error_open() {
        let memory = failure("1", "`make till` fails: no rule for the old till. Fixed by: `make rules`");
        let (lesson, sessions) =
            (Lesson::of(&memory), [session("2", "`make till`: no rule for the old till"), session("1", "")]);
        assert!(lesson.is_open_again(&sessions) && !lesson.is_open_again(&sessions[1..]));
        assert!(!lesson.is_open_again(&[session("2", "`make till`: the cart is gone"), session("1", "")]));
        assert_eq!(lesson.without_fix().unwrap(), "`make till` fails: no rule for the old till.");
    }

    #[test]
    fn what_was_only_gone_around_has_the_cure_of_another_session() {
        let all = [
            failure("1", "`make till` fails: no rule for the old till. Fixed by: `make rules`"),
            failure("2", "`make till` fails: no rule for the old till. Not mended, only bypassed by: `make -i till`"),
            failure("3", "`make till` fails: the drawer of the new cart is open. Fixed by: `make shut`"),
        ];
        let all: Vec<Lesson> = all.iter().map(Lesson::of).collect();
        let trouble: Vec<&Lesson> = all.iter().collect();
        assert_eq!(all[1].cure_in(&trouble).as_deref(), Some("`make rules`"));
        assert_eq!(all[0].cure_in(&trouble), None);
    }

    #[test]
    fn a_process_is_of_one_day() {
        let is_of_machine = |content: &str| is_of_machine(&failure("1", content));
        assert!(is_of_machine("The till was busy. Fixed by killing the old one (PID 4711)"));
        assert!(!is_of_machine("The till listens on 10.0.3.7, PID files are left"));
        let rule = Memory { kind: "correction".into(), ..failure("1", "Never kill the till of PID 1") };
        assert!(!super::is_of_machine(&rule), "a rule holds on");
    }

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
    fn how_long_something_takes_is_a_decision() {
        let said = failure("1", "How long should the tokens of the shop live? → Short (15 minutes)");
        assert!(!is_of_its_day(&said));
    }

    #[test]
    fn another_edit_is_the_cure_of_most_failed_edits() {
        let fails = "fails (3×): Text not found. Cause: The file uses tabs.";
        let written = "Fixed by: writing the file with `python3`";
        let all = [
            failure("1", &format!("edit of a.ts {fails} {written}")),
            failure("2", &format!("edit of b.ts {fails}")),
            failure("3", &format!("edit of c.ts {fails}")),
        ];
        assert_ne!(best(&all), "1");
        assert_eq!(best(&[all[0].clone(), failure("4", &format!("edit of d.ts {fails} {written}")), all[1].clone()]), "4");
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

    #[test]
    fn a_correction_that_forbids_is_more_than_steering() {
        let is_explained =
            |content: &str| Lesson::of(&Memory { kind: "correction".to_owned(), ..failure("1", content) }).is_explained();
        assert!(
            is_explained("don’t run the whole count, it is too slow") && is_explained("서랍은 열지 말아 주세요: 열지 말아")
        );
        assert!(is_explained("so please never open it") && is_explained("the key must stay here"));
        assert!(is_explained("don't open drawers (The user refused: `till open`)"));
        assert!(!is_explained("don't open this (The user refused: `till open`)"));
        assert!(!is_explained("don't hand this in yet (The user refused: `till close`)"));
        assert!(!is_explained("stop for a second, the drawer is the cause") && is_explained("stop opening the drawer"));
        assert!(is_explained("stop a running till before you count the drawer"));
        assert!(!is_explained("somebody else opens the till") && !is_explained("we don't need it, you can always open it"));
    }

    #[test]
    fn a_question_about_the_next_step_is_of_its_day() {
        let decision = |content: &str| is_of_its_day(&failure("1", content));
        assert!(
            decision("The drawer is open. Want me to close it? → yes") && decision("서랍이 열렸어요. 지금 정리할까요? → 네")
        );
        assert!(!decision("Which till should the shop use? → the old one") && !decision("keep the drawer, shall i say"));
        assert!(!decision("There is no list. What should I fill in? → the one on the door"));
        assert!(!decision("Want me to start? → yes, but keep in mind that the till needs its key first"));
    }

    #[test]
    fn a_fault_of_the_code_that_was_mended_is_no_trap() {
        for mended in [
            "Slips came out twice: Fixed by filtering those that were printed",
            "Drawer and bell swapped - fixed by swapping `DRAWER` and `BELL` in the list",
            "The bell rang for all carts: Replaced the loop with a set in `ringBell`",
            "Wrong total: Fixed by using `till.total()` instead of `cart.total()`",
            "The till drops slips silently (fixed in commit `4e5a111`)",
        ] {
            assert!(tells_mended_code(mended), "{mended}");
        }
        for trap in [
            "The till did not start: Fixed by restarting with `TILL_HOST=10.0.0.3`",
            "Wrong till was called. Fix: Add the new one to PATH: `export PATH=\"$TILL:$PATH\"`",
            "Slips were not found: Fixed by omitting labels",
            "The tests need a drawer, which requires a key: Fixed by adding one",
            "The printer doesn't support color: Fixed by replacing red with black",
            "The till could not count: Fixed by using `make count`",
        ] {
            assert!(!tells_mended_code(trap), "{trap}");
        }
    }
}
