//! What the sessions ran into: the same trouble once, by the memory that says most.

use super::lesson::{EDIT, Lesson};
use crate::bindings::throughline::policy::types::Memory;
use crate::context::later::LaterSessions;
use crate::context::line;
use crate::context::memories::Memories;
use crate::context::page::{LESSONS, Page, is_routine, is_saved, teaches_nothing};
use crate::extract::labels::{self, Labels};

/// How many of these are read. Much of it is the same trouble in another session.
const MAX_READ: u32 = 60;

/// The maximum number of lines about what only earlier sessions ran into, and the same again of the user's corrections.
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

/// Adds what the sessions ran into: the same trouble once, by the memory that says most. The page has those of the last session
/// already, whose memories are `stored`.
pub(in crate::context) fn add_lessons(page: &mut Page, memories: &dyn Memories, later: &LaterSessions, stored: &[Memory]) {
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
        let factor = if told.is_some() { 1.0 } else { share(best, times, is_recent) };
        let all = trouble.iter().map(|it| it.memory).collect();
        let said = of_all_files(&trouble, best.memory)
            .filter(|_| times >= ROUTINE)
            .or_else(|| best.without_fix().filter(|_| !best.is_usual(&trouble) && best.is_open_again(sessions)))
            .filter(|_| told.is_none());
        let cure = best.cure_in(&trouble);
        let missing = best.only_missing();
        let trouble = Trouble { memory: best.memory, said, factor, times, missing, all };
        if told.is_some() {
            trouble.add_to(page);
            if let Some(cure) = cure {
                page.add_mark(&trouble.memory.id, &format!("in an earlier session fixed by: {cure}"));
            }
        } else {
            earlier.push(trouble);
        }
    }
    let (missing, mut earlier): (Vec<Trouble>, Vec<Trouble>) = earlier.into_iter().partition(|it| it.missing.is_some());
    earlier.extend(together(missing));
    earlier.sort_by(|one, other| other.weight().total_cmp(&one.weight()));
    // Failures that tools report must not crowd out the user's corrections.
    let (mut said, mut found) = (0, 0);
    for trouble in &earlier {
        let told = if trouble.memory.kind == "correction" { &mut said } else { &mut found };
        if *told < MAX_LESSONS && trouble.weight() >= MIN_WEIGHT {
            *told += 1;
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

/// Returns the share of its weight that a lesson of earlier sessions keeps, which had its trouble so many times.
fn share(lesson: &Lesson, times: u32, is_recent: bool) -> f32 {
    match lesson.is_explained() {
        _ if is_saved(lesson.memory) => 1.0,
        _ if times == 1 && (lesson.is_mended_for_good() || lesson.is_job_of_its_day(is_recent)) => 0.0,
        _ if lesson.is_of_environment() && (times > 1 || is_recent) => 1.0,
        _ if lesson.is_of_environment() => OLD,
        _ if times == 1 && is_recent && lesson.is_known_failure() => RECENT,
        _ if times == 1 && lesson.is_slip() && !lesson.is_left_open() && !lesson.is_bypassed => UNEXPLAINED,
        false if lesson.is_routine() && times < ROUTINE => 0.0,
        _ if times > 1 => 1.0,
        false => UNEXPLAINED,
        true if is_recent || lesson.names_environment() => RECENT,
        true if lesson.is_slip() => UNEXPLAINED,
        true => OLD,
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
    /// The program that the machine does not have, if that is all of it.
    missing: Option<&'m str>,
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

/// Returns the programs that the machine does not have as one trouble, which is told in one line.
fn together(mut missing: Vec<Trouble>) -> Option<Trouble> {
    missing.sort_by(|one, other| other.weight().total_cmp(&one.weight()));
    let names: Vec<String> = missing.iter().filter_map(|it| it.missing).map(|name| format!("`{name}`")).collect();
    let all: Vec<&Memory> = missing.iter().flat_map(|it| it.all.iter().copied()).collect();
    let mut first = missing.into_iter().next()?;
    if let [own, _, ..] = names.as_slice() {
        let is_own = |words: &&&Labels| words.not_installed.replace("{}", own) == first.memory.content;
        let words = *line::LANGUAGES.map(labels::labels).iter().find(is_own)?;
        first.said = Some(words.none_installed.replace("{}", &names.join(", ")));
        (first.times, first.all) = (1, all);
    }
    Some(first)
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
    use crate::context::earlier::tests::failure;
    use crate::extract::failures::ROUTINE as ROUTINE_WORD;

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
    fn what_one_command_mends_is_one_trouble() {
        let all = [
            failure("1", "`shop count` fails: no drawer. Fixed by: `shop install`"),
            failure("2", "`shop ring` fails: the bell is not there. Fixed by: `shop install`"),
            failure("3", "`shop count --all` fails: unknown flag. Fixed by: `shop count all`"),
            failure("4", "`shop count -a` fails: it has no key. Fixed by: `shop count all`"),
        ];
        assert_eq!(
            groups(&all),
            [vec!["1", "2"], vec!["3"], vec!["4"]],
            "another form of a command is no cure of the other"
        );
    }

    #[test]
    fn programs_that_are_not_there_stand_on_one_line() {
        let all = [
            failure("1", "`till` is not installed here"),
            failure("2", "`bell` is not installed here. Instead: `ring`"),
            failure("3", "`till` is not installed here"),
            failure("4", "`drawer` is not installed here"),
        ];
        assert_eq!(groups(&all), [vec!["2"], vec!["1", "3"], vec!["4"]]);
        let missing = |memory| {
            let lesson = Lesson::of(memory);
            let missing = lesson.only_missing();
            Trouble { memory, said: None, factor: 1.0, times: 1, missing, all: vec![memory] }
        };
        let told = together(vec![missing(&all[0]), missing(&all[3])]).unwrap();
        assert_eq!(told.said.as_deref(), Some("Not installed here: `till`, `drawer`"));
        assert_eq!(told.all.len(), 2);
        assert_eq!(together(vec![missing(&all[0])]).unwrap().said, None);
        assert_eq!(missing(&all[1]).missing, None);
    }

    #[test]
    fn what_is_needed_again_keeps_its_weight() {
        let share = |content: &str| share(&Lesson::of(&failure("1", content)), 1, false);
        assert!(share("`make till` fails: command not found: make. Fixed by: `/opt/bin/make till`") >= OLD);
        assert!(share("`till` is not installed here") >= OLD);
        assert!(share("The bell could not be reached: Fixed by calling it at 10.0.3.7") >= RECENT);
        assert!(share("`git rebase main` fails: there is a lock. Fixed by: `rm -f .git/index.lock`") < OLD);
        assert!(share("`curl till` fails: no answer. Fixed by: `shop restart`") < OLD);
        assert!(share("`shop test` fails: 2 fail. Cause: `tillTotal` is unused. Fixed by: a change of `till.rs`") < OLD);
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

    #[test]
    fn a_process_is_of_one_day() {
        let is_of_machine = |content: &str| is_of_machine(&failure("1", content));
        assert!(is_of_machine("The till was busy. Fixed by killing the old one (PID 4711)"));
        assert!(!is_of_machine("The till listens on 10.0.3.7, PID files are left"));
        let rule = Memory { kind: "correction".into(), ..failure("1", "Never kill the till of PID 1") };
        assert!(!super::is_of_machine(&rule), "a rule holds on");
    }
}
