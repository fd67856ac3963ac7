//! What sessions before the last one settled and ran into. A project has many of them, so each trouble is told once, what came back
//! in several sessions comes first, and details of old plans are left to the search.

use super::line;
use super::memories::Memories;
use super::page::{Page, is_failed_edit};
use crate::bindings::throughline::policy::types::{Memory, SessionRecord};
use crate::extract::commands::{self, Class};
use crate::said_by::SaidBy;
use crate::text;

/// The kinds of what a session ran into.
const LESSONS: [&str; 4] = ["error_fix", "failure", "learning", "correction"];

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

/// The share of words in common from which two errors are the same, in tenths.
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

/// How a question begins that is only about the work of its day, in lower case, and how it ends in languages that ask at the end.
const OF_ITS_DAY: [&str; 12] = [
    "want me to",
    "do you want me to",
    "would you like me",
    "shall i",
    "should i",
    "what do you want to do",
    "what would you like",
    "which pr",
    "do you have",
    "ready to",
    "要我",
    "需要我",
];
const ENDS_OF_ITS_DAY: [&str; 5] = ["할까요", "드릴까요", "하시겠어요", "しますか", "ましょうか"];

/// The number of words up to which an answer says no more than yes, no or which.
const MAX_ANSWER_WORDS: usize = 5;

/// What a correction says that forbids or demands something, which may happen again, in lower case.
const STANDING: [&str; 14] = [
    "do not",
    "don't",
    "dont",
    "never",
    "always",
    "must",
    "stop",
    "하지 마",
    "하지마",
    "말아",
    "しないで",
    "禁止",
    "不要",
    "必须",
];

/// Adds what earlier sessions decided, each with its date. `sessions` are the newest ones, of which `last` was the last.
pub(super) fn add_decisions(page: &mut Page, memories: &dyn Memories, sessions: &[SessionRecord], last: Option<&str>) {
    const LIMIT: u32 = 20;
    let mut details = 0;
    for memory in page.checked_for_more(memories.important(&["decision"], LIMIT), LIMIT as usize) {
        if Some(memory.session_id.as_str()) == last {
            page.add_memory(&memory, 1.0);
            continue;
        }
        if is_of_its_day(&memory) {
            page.leave_out(&memory);
            continue;
        }
        let day = line::day(memory.created).unwrap_or_default();
        let is_detail = memory.importance < MIN_ANSWER
            && !is_saved(&memory)
            && SaidBy::of(&memory).is_some_and(|said_by| said_by != SaidBy::Human);
        if !is_detail {
            page.add_marked(&memory, 1.0, day);
            continue;
        }
        // A detail says nothing without the request that it belongs to.
        let of = sessions.iter().find(|record| record.id == memory.session_id).and_then(|record| record.notes.as_ref());
        let request = of.map(|notes| line::truncate(&line::sanitize(&notes.original_request), MAX_REQUEST_CHARS));
        match request.filter(|request| !request.is_empty() && details < MAX_DETAILS) {
            Some(request) => {
                details += 1;
                page.add_marked(&memory, DETAIL, format!("{day}: {request}"));
            }
            None => page.leave_out(&memory),
        }
    }
}

/// Returns whether a memory was saved on purpose: by a command, a note or a tool, and not found in a transcript.
fn is_saved(memory: &Memory) -> bool {
    memory.session_id.is_empty() || memory.attributes.iter().any(|(name, _)| name == "source")
}

/// Returns whether a decision only says yes or no to a question about the work of its day.
fn is_of_its_day(memory: &Memory) -> bool {
    let Some((question, answer)) = memory.content.split_once(" → ") else { return false };
    let lower = question.to_lowercase();
    let asked = lower.trim_end_matches(['?', '？', ' ']);
    let last = asked.rsplit(['.', '?', '!', '。', '？']).next().unwrap_or_default().trim_start();
    let is_about_the_day =
        OF_ITS_DAY.iter().any(|opening| last.starts_with(opening)) || ENDS_OF_ITS_DAY.iter().any(|end| last.ends_with(end));
    is_about_the_day && answer.split_whitespace().count() <= MAX_ANSWER_WORDS
}

/// Adds what the sessions ran into: the same trouble once, by the memory that says most. The page has those of the last session
/// already, whose memories are `stored`.
pub(super) fn add_lessons(page: &mut Page, memories: &dyn Memories, sessions: &[SessionRecord], stored: &[Memory]) {
    let mut all = page.checked_for_more(memories.important(&LESSONS, MAX_READ), MAX_READ as usize);
    let is_new = |memory: &&Memory| LESSONS.contains(&memory.kind.as_str()) && all.iter().all(|known| known.id != memory.id);
    let unread: Vec<Memory> = stored.iter().filter(is_new).cloned().collect();
    all.extend(unread);
    all.retain(|memory| !is_failed_edit(memory));
    let lessons: Vec<Lesson> = all.iter().map(Lesson::of).collect();
    let mut earlier: Vec<Trouble> = Vec::new();
    for trouble in troubles(&lessons) {
        let is_told = |it: &&&Lesson| stored.iter().any(|memory| memory.id == it.memory.id) || page.tells(it.memory);
        let told = trouble.iter().find(is_told);
        let Some(best) = told.or_else(|| trouble.iter().max_by_key(|it| it.says())) else { continue };
        let times = times(&trouble);
        let is_recent = sessions.iter().take(RECENT_SESSIONS).any(|record| record.id == best.memory.session_id);
        let factor = match best.is_explained() {
            _ if told.is_some() || is_saved(best.memory) => 1.0,
            false if best.is_routine() && times < ROUTINE => 0.0,
            _ if times > 1 => 1.0,
            false => UNEXPLAINED,
            true if is_recent => RECENT,
            true => OLD,
        };
        let all = trouble.iter().map(|it| it.memory).collect();
        let trouble = Trouble { memory: best.memory, factor, times, all };
        if told.is_some() {
            trouble.add_to(page);
        } else {
            earlier.push(trouble);
        }
    }
    earlier.sort_by(|one, other| other.weight().total_cmp(&one.weight()));
    for (at, trouble) in earlier.iter().enumerate() {
        if at < MAX_LESSONS && trouble.weight() >= MIN_WEIGHT {
            trouble.add_to(page);
        } else {
            trouble.all.iter().for_each(|memory| page.leave_out(memory));
        }
    }
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
        page.add_memory(self.memory, self.factor);
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
    /// The words of what failed and how.
    error: text::Features,
    /// The folders that the cause and the cure name.
    folders: Vec<&'m str>,
}

impl<'m> Lesson<'m> {
    fn of(memory: &'m Memory) -> Self {
        let (said, cause, fix) = line::parse_failure(&memory.content);
        // What somebody wrote down himself has another form.
        let is_failure = matches!(memory.kind.as_str(), "error_fix" | "failure")
            && (said.starts_with('`') || !cause.is_empty() || !fix.is_empty());
        let (said, cause, fix) = if is_failure { (said, cause, fix) } else { ("", "", "") };
        let error = said.split_once("` ").filter(|_| said.starts_with('`')).map_or(said, |(_, error)| error);
        let error = error.split_once(": ").map_or(error, |(_, error)| error);
        let named = if is_failure { [cause, fix] } else { [memory.content.as_str(), ""] };
        let folders = named.into_iter().flat_map(folders).collect();
        Self { memory, is_failure, cause, fix, error: text::features(error), folders }
    }

    /// Returns how much it says: the cause and the cure. Of equals, what was learned most often counts, and then the latest.
    fn says(&self) -> (bool, bool, u32, u64) {
        (!self.cause.is_empty(), !self.fix.is_empty(), self.memory.seen, self.memory.created)
    }

    /// Returns whether it says more than that something failed and passed later, or that the user steered once.
    fn is_explained(&self) -> bool {
        let forbids = || text::contains_any_words(&self.memory.content.to_lowercase().replace('’', "'"), &STANDING);
        match self.memory.kind.as_str() {
            "correction" => forbids(),
            _ => !self.is_failure || !self.cause.is_empty(),
        }
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
        let shared = self.error.iter().filter(|word| other.error.contains(word)).count();
        let is_same_error = shared >= MIN_SAME && shared * 10 >= self.error.len().max(other.error.len()) * SAME_TENTHS;
        let is_failure = self.is_failure || other.is_failure;
        is_same_error || (is_failure && self.folders.iter().any(|folder| other.folders.contains(folder)))
    }
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

    #[test]
    fn a_correction_that_forbids_is_more_than_steering() {
        let is_explained =
            |content: &str| Lesson::of(&Memory { kind: "correction".to_owned(), ..failure("1", content) }).is_explained();
        assert!(
            is_explained("don’t run the whole count, it is too slow") && is_explained("서랍은 열지 말아 주세요: 열지 말아")
        );
        assert!(!is_explained("somebody else opens the till"));
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
}
