//! What a session leaves open, by the words of its answers: each point holds until a later turn takes it up.

use serde::{Deserialize, Serialize};

use super::human;
use super::prose;
use super::signs;
use super::standing;
use super::statement;
use crate::text;

/// The maximum number of points.
const MAX_POINTS: usize = 6;
/// How many words a text must share with a point to be about it.
const MIN_SUBJECT_WORDS: usize = 3;
/// How many words a prompt must share with a point to take it up. It says little, and means it.
const MIN_ASKED_WORDS: usize = 2;
/// The share of a short text's words that must be a point's for the text to be about it.
const MIN_SHARE: f32 = 0.5;
/// How many words an answer to a question has at most that asks for nothing else.
const MAX_ANSWER_WORDS: usize = 5;
/// The number of words from which a point without names says what is open.
const MIN_POINT_WORDS: usize = 3;
/// Up to which width a request to look at the work says nothing of what to look at.
const MAX_LOOK_WIDTH: usize = 36;
/// How many later answers a point outlives that do not speak of it.
const MAX_AGE: u8 = 3;

/// Words of what waits until a pull request is merged.
const WAITS_FOR_MERGE: &[&str] = &[
    "to land it",
    "to land this",
    "once it lands",
    "once that lands",
    "once it's merged",
    "once that merges",
    "once merged",
    "ready to merge",
    "merge it",
    "merge this",
    "merge the pr",
    "merge the pull request",
    "머지하",
    "머지되면",
    "マージし",
    "マージされたら",
    "合并后",
];

/// The open points, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OpenPoints {
    all: Vec<OpenPoint>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct OpenPoint {
    said: String,
    /// How many answers were given since.
    age: u8,
    /// Whether it was written down in the open turn, whose answer repeats it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_just_written: bool,
    /// Whether a document for the next session lists it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_handed_over: bool,
    /// What stands before a request of which the agent only said what it would do. Empty for other points.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    promised: String,
    /// The document of the project that asks it. Empty if the agent said it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    document: String,
}

impl OpenPoints {
    /// Records what the user says: what it takes up is not open any more, nor is what waited for a decision.
    pub(super) fn prompted(&mut self, said: &str) {
        let words = text::features(said);
        let takes_up = |point: &str| words.intersection(&text::features(point)).count() >= MIN_ASKED_WORDS;
        // "Yes for both" answers every question.
        let answers = human::is_consent(said);
        let is_answered = |point: &str| {
            answers && (point.contains(['?', '？']) || point.trim_end_matches(['.', '。']).ends_with(['か', '까']))
        };
        // Whoever answers in a few words what the agent asked back has it done.
        if answers || said.split_whitespace().count() <= MAX_ANSWER_WORDS {
            self.all.retain(|point| point.promised.is_empty() || point.age > 0);
        }
        self.all.retain(|OpenPoint { said: point, .. }| {
            !takes_up(point) && !is_about(said, point) && !waits_for_decision(point) && !is_answered(point)
        });
    }

    /// Takes what a document for the next session lists as open. It is written at the end, so it replaces what was open before.
    pub(super) fn handed_over(&mut self, document: &str) {
        let points = prose::listed_points(document);
        if !points.is_empty() {
            let of = |said| OpenPoint { said, is_just_written: true, is_handed_over: true, ..OpenPoint::default() };
            self.all = points.into_iter().map(of).collect();
        }
    }

    /// Takes the open questions of a document that the agent wrote. They replace those of its earlier versions.
    pub(super) fn documented(&mut self, file: &str, document: &str) {
        self.all.retain(|point| point.document != file);
        for said in prose::open_questions(document) {
            self.all.push(OpenPoint { said, is_just_written: true, document: file.to_owned(), ..OpenPoint::default() });
        }
        self.drop_oldest();
    }

    /// Records a commit: that something is not committed does not hold any more.
    pub(super) fn committed(&mut self) {
        const COMMIT: [&str; 4] = ["commit", "커밋", "コミット", "提交"];
        self.all.retain(|point| !text::contains_any(&point.said.to_lowercase(), &COMMIT));
    }

    /// Records the answer that ends a turn. What it speaks of is as it says, and it may leave something open itself. If it only explains what
    /// the user asked, no more than its questions are open: what "you need to do" then is how it is done.
    pub(super) fn answered(&mut self, answer: &str, only_explains: bool) {
        for point in &mut self.all {
            point.age += 1;
        }
        let mut sentences = text::sentences(answer);
        // What was done about each point may stand in a table.
        let rows = answer.lines().map(str::trim).filter(|line| line.starts_with('|'));
        sentences.extend(rows.map(|row| text::plain(&row.replace('|', " "))));
        self.all.retain_mut(|point| {
            let holds = std::mem::take(&mut point.is_just_written) || !sentences.iter().any(|it| is_about(it, &point.said));
            // What the agent was waiting for came by the next answer, or it waits no more.
            let is_passing = point.said.to_lowercase().starts_with("still waiting");
            // A question of an answer that the user went past is one no more.
            let is_of_answer = point.document.is_empty() && !point.is_handed_over;
            let is_passed_over = is_of_answer && point.age > 0 && point.said.ends_with(['?', '？']);
            holds && !is_passed_over && point.age <= if is_passing { 0 } else { MAX_AGE }
        });
        let points = prose::open_points(answer).into_iter();
        for said in points.filter(|said| !only_explains || said.ends_with(['?', '？'])) {
            // Whether it was pushed is told with the files, and what is only offered is a question.
            let lower = said.to_lowercase();
            let is_known = |known: &OpenPoint| known.said == said || is_about(&said, &known.said);
            let is_done = standing::is_deed(&lower) || lower.contains("marked as complete");
            // "Tell me which and I'll go" names nothing.
            let says_little = standing::is_short_answer(&lower)
                || weighs_option(&lower)
                || lower.starts_with("that ")
                || waits_for_work(&lower)
                || offers_commit(&said, &lower)
                || (statement::names(&said).is_empty() && text::features(&said).len() < MIN_POINT_WORDS);
            if !is_done && !says_little && !signs::is_about_pushing(&lower) && !self.all.iter().any(is_known) {
                self.all.push(OpenPoint { said, ..OpenPoint::default() });
            }
        }
        self.drop_oldest();
    }

    /// Records a request of which the answer only said what would be done. `label` says so.
    pub(super) fn promised(&mut self, said: &str, label: &str) {
        self.all.push(OpenPoint { said: said.to_owned(), promised: label.to_owned(), ..OpenPoint::default() });
        self.drop_oldest();
    }

    fn drop_oldest(&mut self) {
        let extra = self.all.len().saturating_sub(MAX_POINTS);
        self.all.drain(..extra);
    }

    /// Records a pull request: that one is to be opened does not hold any more.
    pub(super) fn pull_request_opened(&mut self) {
        let is_to_open = |lower: &str| {
            text::contains_any(
                lower,
                &["open the pr", "open a pr", "create a pr", "create the pr", "open a pull request", "no pr "],
            )
        };
        self.all.retain(|point| !is_to_open(&point.said.to_lowercase()));
    }

    /// Records that a pull request was merged: nothing waits for it, or for its checks, any more.
    pub(super) fn pull_request_merged(&mut self, number: u32) {
        // What is to be done after it stays.
        const STATES: [&str; 8] = ["waiting on", "waiting for", "until", "merge", "land", "review", "green", "checks"];
        let own = format!("#{number}");
        let has = |lower: &str, words: &[&str]| text::contains_any_words(lower, words);
        self.all.retain(|point| {
            let lower = point.said.to_lowercase();
            let is_own = text::contains_words(&lower, &own);
            let waits = has(&lower, WAITS_FOR_MERGE) || (is_own && has(&lower, &STATES));
            !waits || (lower.contains('#') && !is_own)
        });
    }

    /// Records that the continuous integration passed: that it is running does not hold any more.
    pub(super) fn ci_passed(&mut self) {
        let waits = |lower: &str| {
            let is_of_ci = text::contains_any_words(lower, &["ci", "checks", "workflow", "pipeline"]);
            let is_running = text::contains_any_words(lower, &["running", "green", "pending", "waiting"]);
            is_of_ci && is_running
        };
        self.all.retain(|point| !waits(&point.said.to_lowercase()));
    }

    /// Returns the points, those of the latest answer first. The questions of a document are one, with its name.
    pub(super) fn items(&self) -> Vec<String> {
        let mut all: Vec<&OpenPoint> = self.all.iter().collect();
        all.sort_by_key(|point| point.age);
        let mut items: Vec<(&str, String)> = Vec::new();
        for OpenPoint { said, document, promised, .. } in all {
            match items.iter_mut().find(|(of, _)| !document.is_empty() && of == document) {
                Some((_, known)) => *known = format!("{known} {said}"),
                None if !promised.is_empty() => items.push(("", format!("{promised}: {said}"))),
                None if document.is_empty() => items.push(("", said.clone())),
                None => items.push((document, format!("`{document}`: {said}"))),
            }
        }
        items.into_iter().map(|(_, item)| item).collect()
    }
}

/// Returns whether a point in lower case begins with what speaks for an option or against it.
fn weighs_option(lower: &str) -> bool {
    const LABELS: [&str; 14] = [
        "pro",
        "pros",
        "con",
        "cons",
        "cost",
        "costs",
        "upside",
        "downside",
        "risk",
        "benefit",
        "trade-off",
        "tradeoff",
        "장점",
        "단점",
    ];
    lower.split_once([':', '：']).is_some_and(|(label, _)| LABELS.contains(&label.trim()))
}

/// Returns whether a point only says that the changes may be committed: whether they are is told with the files.
fn offers_commit(said: &str, lower: &str) -> bool {
    statement::names(said).is_empty() && text::contains_any_words(lower, &["ready to commit", "ready for you to commit"])
}

/// Returns whether a point only asks the user to look at what the answer tells: "Please review it."
pub(super) fn asks_for_look(said: &str) -> bool {
    const LOOKS: [&str; 8] = ["review", "take a look", "レビュー", "ご確認", "검토", "확인 부탁", "审阅", "过目"];
    let lower = said.to_lowercase();
    let end = lower.trim_end_matches(['.', '!', '。', '！']);
    let asks = lower.starts_with("please ")
        || ["ください", "お願いします", "주세요", "부탁드립니다"].iter().any(|it| end.ends_with(it))
        || lower.starts_with('请');
    asks && statement::names(said).is_empty()
        && text::width(end) <= MAX_LOOK_WIDTH
        && text::contains_any_words(&lower, &LOOKS)
}

/// Returns whether a point in lower case only says that the agent has nothing to do.
fn waits_for_work(lower: &str) -> bool {
    const WORK: [&str; 6] =
        ["further instruction", "next instruction", "next assignment", "next task", "assign more work", "team lead"];
    let lower = lower.replace('-', " ");
    text::contains(&lower, "waiting") && text::contains_any(&lower, &WORK)
}

fn waits_for_decision(point: &str) -> bool {
    const SIGNS: [&str; 11] = [
        "decide",
        "your call",
        "up to you",
        "which of",
        "say the word",
        "your go",
        "your approval",
        "your confirmation",
        "your decision",
        "when you're ready",
        "when you are ready",
    ];
    let lower = point.to_lowercase().replace('’', "'");
    text::contains_any_words(&lower, &SIGNS)
}

/// Returns whether a text speaks of what a point is about: it has one of its names, or enough of its words.
fn is_about(text: &str, point: &str) -> bool {
    let (words, own) = (text::features(text), text::features(point));
    let shared = words.iter().filter(|word| own.contains(word)).count();
    let names = statement::names(point);
    let has_name = statement::names(text).iter().any(|name| names.contains(name));
    let is_short = shared > 0 && text::similarity(&words, &own) >= MIN_SHARE;
    shared >= MIN_SUBJECT_WORDS || is_short || (has_name && shared > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_a_merge_ends_with_it() {
        let waiting = "The release of the till is waiting on PR #7 of the cart.";
        let other = "The release of the scale is waiting on PR #9 of the drawer.";
        let after = "Once ready to merge, the sign of the shop still needs a new colour (#11).";
        let points = || {
            let all = [waiting, other, after].map(|said| OpenPoint { said: said.to_owned(), ..OpenPoint::default() });
            OpenPoints { all: all.to_vec() }
        };
        let mut merged = points();
        merged.pull_request_merged(7);
        assert_eq!(merged.items(), [other, after]);
        let running = "CI of the till is still running on the branch.".to_owned();
        let mut passed = OpenPoints { all: vec![OpenPoint { said: running, ..OpenPoint::default() }] };
        passed.ci_passed();
        assert!(passed.items().is_empty());
    }

    #[test]
    fn what_waits_for_a_go_ends_with_what_the_user_says_next() {
        let mut points = OpenPoints::default();
        points.answered("I looked at the till.\n\n### Open questions\n\n1. Shall the slip have the date, or only the total of it?\n2. Waiting for your go before the drawer is built.", false);
        assert_eq!(points.items().len(), 2, "{:?}", points.items());
        points.prompted("build it in blue");
        assert_eq!(points.items().len(), 1, "{:?}", points.items());
        points.answered("It is blue.", false);
        assert!(points.items().is_empty(), "{:?}", points.items());
        points.handed_over("## Open questions\n\n- Shall the slip have the date, or only the total of it?");
        points.answered("I wrote it down.", false);
        points.answered("It is blue.", false);
        assert_eq!(points.items().len(), 1, "it is for the next session");
    }

    #[test]
    fn a_request_that_was_only_announced_stays_until_it_is_taken_up() {
        let mut points = OpenPoints::default();
        let promise = |points: &mut OpenPoints| {
            points.answered("I'll lock the drawer once the till is closed. Shall I watch it?", false);
            points.promised("lock the drawer in the evening", "Announced, not done");
        };
        let told = ["Announced, not done: lock the drawer in the evening"];
        promise(&mut points);
        points.prompted("the slips of the second till have no date, can you have a look at them?");
        points.answered("Here's what was done: the date is printed.", false);
        assert!(points.items().contains(&told[0].to_owned()), "{:?}", points.items());
        points.answered("The drawer is locked in the evening now.", false);
        assert!(!points.items().contains(&told[0].to_owned()), "{:?}", points.items());
        promise(&mut points);
        points.prompted("yes, watch it");
        assert!(!points.items().contains(&told[0].to_owned()), "{:?}", points.items());
    }

    #[test]
    fn what_waits_for_a_commit_ends_with_it() {
        for said in ["서명이 안 됩니다. 사용자가 직접 서랍을 커밋해야 합니다.", "レジの変更をまだコミットしていません。"]
        {
            let mut points = OpenPoints::default();
            points.answered(said, false);
            assert_eq!(points.items().len(), 1, "{said}");
            points.committed();
            assert!(points.items().is_empty(), "{said}");
        }
    }

    #[test]
    fn that_changes_may_be_committed_is_told_with_the_files() {
        let mut points = OpenPoints::default();
        points
            .answered("The till is closed.\n\nThe changes are ready for you to commit and deploy when you're ready!", false);
        assert!(points.items().is_empty(), "{:?}", points.items());
    }

    #[test]
    fn that_the_user_may_look_at_the_work_is_not_open() {
        for said in ["Please review it.", "レビューしてください。", "검토해 주세요."] {
            assert!(asks_for_look(said), "{said}");
        }
        for said in ["Please set `TAX_RATE`.", "`TAX_RATE` の値をレビューしてください。", "The review of the till is open."]
        {
            assert!(!asks_for_look(said), "{said}");
        }
    }

    #[test]
    fn what_speaks_against_an_option_is_not_open() {
        let mut points = OpenPoints::default();
        points.answered("Option A:\n- Cost: Slower, because the till is waiting for the drawer to close\n\nThat till is waiting for you.", false);
        assert!(points.items().is_empty(), "{:?}", points.items());
    }

    #[test]
    fn a_document_outlives_the_answer_that_speaks_of_it() {
        let mut points = OpenPoints::default();
        points.handed_over(
            "## Next step\n\nRun `npm run e2e` against the staging server.\n\n## Assumed\n\n- the tax rate is read once\n",
        );
        points.answered("The handoff is written. Next: run `npm run e2e` against the staging server.", false);
        assert_eq!(points.items().first().map(String::as_str), Some("Run `npm run e2e` against the staging server."));
        points.prompted("tests first");
        points.answered("I ran `npm run e2e` against the staging server: all pass.", false);
        assert!(!points.items().iter().any(|point| point.contains("e2e")));
    }

    #[test]
    fn the_questions_of_a_document_hold_until_it_is_written_anew() {
        let mut points = OpenPoints::default();
        let asks = "## Open questions\n\n- Does the till round each line?\n- Is the tax a rate of the country?\n";
        points.documented("docs/till.md", asks);
        points.answered("Both documents of the till are written.", false);
        assert_eq!(points.items(), ["`docs/till.md`: Does the till round each line? Is the tax a rate of the country?"]);
        points.documented("docs/till.md", "## Open questions\n\n- Is the tax a rate of the country?\n");
        assert_eq!(points.items(), ["`docs/till.md`: Is the tax a rate of the country?"]);
    }

    #[test]
    fn how_something_is_done_is_not_open() {
        let answer =
            "You need to set `TAX_RATE` before the till starts.\n\nOpen questions:\n- Is the tax a rate of the country?";
        let mut points = OpenPoints::default();
        points.answered(answer, true);
        assert_eq!(points.items(), ["Is the tax a rate of the country?"]);
        points.answered(answer, false);
        assert_eq!(points.items().len(), 2);
    }

    #[test]
    fn what_is_done_is_not_open() {
        let mut points = OpenPoints::default();
        points.answered("Rounded. I am waiting for the team lead's next assignment.\n\nNext steps:\n- Notified the till of the new tax table\n- Round the tax of the invoice", false);
        assert_eq!(points.items(), ["Round the tax of the invoice"]);
    }

    #[test]
    fn a_table_says_what_was_done_too() {
        let mut points = OpenPoints::default();
        points.answered("Rounded. The menu still needs a border.", false);
        points.answered(
            "| Point | Change |\n|---|---|\n| Border | The `Menu` of the shop has a border now, and needs no more |\n",
            false,
        );
        assert!(points.items().is_empty());
    }

    #[test]
    fn a_consent_answers_the_questions() {
        let mut points = OpenPoints::default();
        points.answered("Rounded.\n\nOpen questions:\n- Should the tax be rounded for each line of the invoice?\n- The menu is still without a border", false);
        assert_eq!(points.items().len(), 2);
        points.prompted("yes, go ahead");
        assert_eq!(points.items(), ["The menu is still without a border"]);
        let mut points = OpenPoints::default();
        points.answered("レジを直しました。\n\nOpen questions:\n- 税率は伝票ごとに丸めてよいか", false);
        assert_eq!(points.items().len(), 1);
        points.prompted("これでいいよ。");
        assert!(points.items().is_empty(), "{:?}", points.items());
    }

    #[test]
    fn a_point_holds_until_somebody_takes_it_up() {
        let mut points = OpenPoints::default();
        points.answered("Rounded. You still need to set `TAX_RATE` on the server. The menu still needs a border.", false);
        assert_eq!(points.items().len(), 2);
        points.prompted("now make the cart blue");
        points.answered("The cart is blue.", false);
        assert_eq!(points.items().len(), 2);
        points.prompted("I set TAX_RATE on the server");
        assert_eq!(points.items(), ["The menu still needs a border."]);
        points.answered(
            "The totals are not yet committed. You should decide on the colour of the menu. The next step is to open a PR for the cart.", false);
        points.committed();
        points.pull_request_opened();
        points.prompted("blue");
        assert_eq!(points.items(), ["The menu still needs a border."]);
        for _ in 0..MAX_AGE {
            points.answered("Done.", false);
        }
        assert!(points.items().is_empty());
    }
}
