//! What the few sessions before the last one left open, as long as no other one speaks of it: a plan that was refused or only made, and
//! plain points of one sentence.

use super::attributes::{attribute, has_result, later_requests};
use super::line;
use super::page::{Entry, Page, SectionKind};
use crate::bindings::throughline::policy::types::{SessionNotes, SessionRecord};
use crate::text;

/// How many sessions before the last one are asked. What is older was settled or given up.
const MAX_SESSIONS: usize = 3;
/// A day, in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;
/// The longest time between a session and the last one for its points to be told, and the shortest for its plan: most plans are carried
/// out at once by a session that runs beside others.
const MAX_AGE: u64 = 21 * DAY;
const MIN_PLAN_AGE: u64 = DAY;
/// The weight of the points of the newest of them, and what each older session takes off.
const WEIGHT: f32 = 0.62;
const OLDER: f32 = 0.04;
/// The maximum length of a point, of all points of a session, and of what was asked there, in characters.
const MAX_POINT_CHARS: usize = 240;
const MAX_CHARS: usize = 440;
const MAX_ASKED_CHARS: usize = 70;

/// The length of the beginning by which a word is known in another form, and the minimum length of a word, in characters.
const STEM_CHARS: usize = 4;
const MIN_WORD_CHARS: usize = 5;
/// How many words of a point another session must say to settle it.
const MIN_SHARED: usize = 2;
/// From this letter on, words cannot be compared by their beginnings: Chinese, Japanese and Korean.
const FIRST_WIDE: char = '\u{1100}';

/// Words of what is over within hours, whoever settles it.
const PASSING: &[&str] = &[
    "pull request",
    "pr",
    "prs",
    "ci",
    "merge",
    "merged",
    "merging",
    "push",
    "pushed",
    "pushing",
    "force-push",
    "deploy",
    "deployed",
    "deploying",
    "deployment",
    "review",
    "reviewed",
    "reviewer",
    "reviewers",
    "commit",
    "commits",
    "committed",
    "uncommitted",
    "branch",
    "rebase",
    "release",
    "released",
    "publish",
    "published",
    "running",
    "waiting",
];
/// Words of a request for all that is left.
const REST: &[&str] = &["left", "remaining", "rest", "open points", "follow-ups", "go on", "continue", "todos"];

/// Adds what the sessions before the last one left open. In doubt whether it was settled, nothing is said.
pub(super) fn add_still_open(page: &mut Page, sessions: &[SessionRecord], last: Option<usize>) {
    let Some(last) = last else { return };
    let earlier = sessions.iter().enumerate().skip(last + 1).filter(|(_, record)| has_result(record)).take(MAX_SESSIONS);
    let mut weight = WEIGHT;
    for (at, record) in earlier {
        let points = still_open(sessions, last, at);
        let asked = record.notes.as_ref().map_or("", |notes| notes.original_request.trim());
        // Without its request nobody knows what it is about.
        if !points.is_empty() && !asked.is_empty() {
            let day = record.ended.or(record.started).and_then(line::day).map(|day| format!("{day}, ")).unwrap_or_default();
            let points = line::join(&points, "; ", MAX_CHARS);
            let asked = line::truncate(&line::sanitize(asked), MAX_ASKED_CHARS);
            let told = format!("{day}left undone: {points} (asked: {asked})");
            let entry = Entry::new(&told, weight).with_whole_text(&told, MAX_CHARS + MAX_ASKED_CHARS + 60);
            page.add(SectionKind::Other, entry.with_key(&points));
        }
        weight -= OLDER;
    }
}

/// Returns what a session left open and no other session settled that ran at the same time or later.
fn still_open(sessions: &[SessionRecord], last: usize, at: usize) -> Vec<String> {
    let record = &sessions[at];
    let age = sessions[last].ended.zip(record.ended).map(|(last, own)| last.saturating_sub(own));
    let Some(notes) = record.notes.as_ref().filter(|_| age.is_none_or(|age| age <= MAX_AGE)) else { return Vec::new() };
    let is_later = |other: &SessionRecord| other.ended.zip(record.started).is_none_or(|(ended, started)| ended >= started);
    let others = sessions.iter().enumerate().filter(|(place, other)| *place < at || (*place != at && is_later(other)));
    let others: Vec<Later> = others.filter_map(|(_, other)| other.notes.as_ref()).map(Later::of).collect();
    let mut open = Vec::new();
    let plan: Vec<&str> = attribute(notes, "open-plan").into_iter().flat_map(str::lines).collect();
    if let [told, title, files @ ..] = plan.as_slice()
        && age.is_some_and(|age| age >= MIN_PLAN_AGE)
        && is_comparable(told)
        && !others.iter().any(|other| other.took_up_plan(title, files))
    {
        open.push(line::truncate(&line::sanitize(told), MAX_POINT_CHARS));
    }
    let points = attribute(notes, "still-open").into_iter().flat_map(str::lines).filter(|point| is_plain(point));
    let points = points.filter(|point| !others.iter().any(|other| other.settled(point)));
    open.extend(points.map(line::sanitize));
    open
}

/// What another session said and did.
struct Later<'n> {
    /// Its requests, results, commits and open points, in lower case.
    said: Vec<String>,
    files: Vec<&'n str>,
    takes_up_rest: bool,
}

impl<'n> Later<'n> {
    fn of(notes: &'n SessionNotes) -> Self {
        let requests: Vec<String> =
            later_requests(notes).into_iter().chain([notes.original_request.clone()]).map(|it| it.to_lowercase()).collect();
        let takes_up_rest = requests.iter().any(|asked| text::contains_any_words(asked, REST));
        let results = notes.done.iter().chain(&notes.commits).chain(&notes.pending).chain([&notes.outcome]);
        let said = requests.into_iter().chain(results.map(|said| said.to_lowercase())).collect();
        Later { said, files: notes.changes.iter().map(|change| change.path.as_str()).collect(), takes_up_rest }
    }

    /// Returns whether a point is settled: the session took up all that was left, said enough of its words, or changed its file.
    fn settled(&self, point: &str) -> bool {
        let name = |path: &&str| path.rsplit('/').next().is_some_and(|name| point.contains(name));
        self.takes_up_rest || self.says(&stems(point), MIN_SHARED) || self.files.iter().any(name)
    }

    /// Returns whether a plan was taken up: the session says half of the words of its title, or changed half of its files.
    fn took_up_plan(&self, title: &str, files: &[&str]) -> bool {
        let is_changed = |file: &&&str| self.files.iter().any(|path| path.ends_with(**file) || file.ends_with(path));
        let changed = files.iter().filter(is_changed).count();
        let words = stems(title);
        self.says(&words, words.len().div_ceil(2)) || (!files.is_empty() && changed * 2 >= files.len())
    }

    /// Returns whether one of its texts has so many of these words. Of fewer words nobody knows what is about them.
    fn says(&self, words: &[String], needed: usize) -> bool {
        let shared = |said: &String| words.iter().filter(|word| said.contains(word.as_str())).count();
        words.len() < needed.max(1) || self.said.iter().any(|said| shared(said) >= needed)
    }
}

/// Returns whether a point is one sentence whose words can be compared, and that nothing but work settles.
fn is_plain(point: &str) -> bool {
    let lower = point.to_lowercase();
    is_comparable(point)
        && point.chars().count() <= MAX_POINT_CHARS
        && text::sentences(point).len() == 1
        && !point.contains(['?', '#'])
        && !text::contains_any_words(&lower, PASSING)
        && stems(point).len() > MIN_SHARED
}

fn is_comparable(said: &str) -> bool {
    !said.chars().any(|c| c >= FIRST_WIDE && c.is_alphabetic())
}

/// Returns the beginnings of the words of a text, each once.
fn stems(said: &str) -> Vec<String> {
    let lower = said.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= MIN_WORD_CHARS);
    let mut stems: Vec<String> = words.map(|word| word.chars().take(STEM_CHARS).collect()).collect();
    stems.sort();
    stems.dedup();
    stems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::overtaken::tests::empty_notes;

    /// A session that ended on that day.
    fn record(day: u64, asked: &str, outcome: &str, attributes: &[(&str, &str)]) -> SessionRecord {
        let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (original_request, outcome) = (asked.to_owned(), outcome.to_owned());
        SessionRecord {
            id: day.to_string(),
            started: Some(day * DAY),
            ended: Some(day * DAY + 1),
            summary: String::new(),
            topics: Vec::new(),
            files: Vec::new(),
            notes: Some(SessionNotes { original_request, outcome, attributes, ..empty_notes() }),
        }
    }

    fn open_after(asked: &str, outcome: &str, left: (&str, &str)) -> Vec<String> {
        let sign = || record(9, "Paint the sign of the shop", "It is blue.", &[]);
        still_open(&[sign(), record(5, asked, outcome, &[]), record(3, "Open the shop", "", &[left])], 0, 2)
    }

    #[test]
    fn another_session_settles_what_it_speaks_of() {
        let point = "The receipt printer was checked with a stub, not with the printer of the counter.";
        let left = ("still-open", point);
        assert_eq!(open_after("Round the totals of the cart", "Each total is rounded once.", left), [point]);
        for (asked, outcome) in [
            ("Try the receipt printer at the counter", "It prints."),
            ("Mend the till", "The printer at the counter works."),
            ("Go through the list of what is left", "All of it is done."),
        ] {
            assert!(open_after(asked, outcome, left).is_empty(), "{asked}");
        }
    }

    #[test]
    fn what_is_over_soon_or_cannot_be_compared_is_not_told() {
        for point in [
            "Merge the pull request once CI of the drawer is green",
            "Should the receipt printer of the counter be checked?",
            "The receipt printer was checked with a stub. The drawer of the counter was not.",
            "카운터 프린터를 실제 장비로 확인하기",
            "レジのプリンターを、実機で、夜間モードで、まだ確認していない",
        ] {
            assert!(open_after("Round the totals", "", ("still-open", point)).is_empty(), "{point}");
        }
    }

    #[test]
    fn a_plan_is_taken_up_by_its_title_or_its_files() {
        let told = "The user refused the plan \"Close the counter at night\"";
        let value = format!("{told}\nClose the counter at night\nsrc/lock.ts\nsrc/coins.ts");
        let left = ("open-plan", value.as_str());
        assert_eq!(open_after("Round the totals", "Each total is rounded once.", left), [told]);
        assert!(open_after("Implement the plan: Close the Counter at Night", "", left).is_empty());
        assert!(open_after("Nightly closing of the till", "", left).is_empty(), "by another title");
        let sign = || record(9, "Paint the sign of the shop", "It is blue.", &[]);
        let planned = || record(3, "Open the shop", "", &[left]);
        // One that ran at the same time and ended first.
        let beside = record(3, "Implement the plan: Close the Counter at Night", "", &[]);
        assert!(still_open(&[sign(), planned(), beside], 0, 1).is_empty());
        let files = ["src/lock.ts", "src/coins.ts"];
        let later = Later { said: Vec::new(), files: vec!["shop/src/lock.ts"], takes_up_rest: false };
        assert!(later.took_up_plan("Close the counter at night", &files));
        let later = Later { files: vec!["src/sign.ts"], ..later };
        assert!(!later.took_up_plan("Close the counter at night", &files));
    }
}
