//! The agent's to-do and task lists, in their latest state.

use serde::{Deserialize, Serialize};

use super::clean;
use super::memories::LineRef;
use crate::bindings::throughline::policy::types::Draft;
use crate::said_by::SaidBy;
use crate::text;
use crate::transcript::json::Raw;

/// The maximum number of tasks. Finished tasks are dropped first, then the oldest.
const MAX_TASKS: usize = 80;

/// The status of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Status {
    /// Not started.
    #[default]
    Pending,
    /// In progress.
    Current,
    /// Finished.
    Done,
}

impl Status {
    fn of(name: &str) -> Self {
        match name {
            "completed" | "done" | "resolved" => Status::Done,
            "in_progress" | "active" => Status::Current,
            _ => Status::Pending,
        }
    }
}

/// One task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Task {
    /// The number in the list. Empty in lists without numbers.
    id: String,
    /// What has to be done, in one line.
    pub subject: String,
    detail: String,
    /// The status.
    pub status: Status,
    source: LineRef,
}

impl Task {
    fn key(&self) -> String {
        format!("task:{:08x}", text::hash(&self.subject))
    }
}

/// All tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tasks {
    all: Vec<Task>,
}

impl Tasks {
    /// Replaces the list by one that names every task at once (`TodoWrite`).
    pub(super) fn replace(&mut self, todos: Raw<'_>, source: &LineRef) {
        let mut next = Vec::new();
        todos.items(|todo| {
            let Some(subject) = todo.get_text("content").or_else(|| todo.get_text("subject")) else {
                return;
            };
            let subject = clean::line(&subject, 180);
            let status = Status::of(&todo.get_text("status").unwrap_or_default());
            if next.len() < MAX_TASKS && !next.iter().any(|task: &Task| task.subject == subject) {
                next.push(Task { subject, status, source: source.clone(), ..Task::default() });
            }
        });
        // A list that is cleared after all tasks are done still says what was done.
        if next.is_empty() && self.all.iter().all(|task| task.status == Status::Done) {
            return;
        }
        for old in std::mem::take(&mut self.all) {
            match next.iter_mut().find(|task| task.subject == old.subject) {
                Some(task) => task.source = old.source,
                None if !old.id.is_empty() || old.status == Status::Done => next.insert(0, old),
                None => {}
            }
        }
        self.all = next;
        self.enforce_limit();
    }

    /// Adds a task with the number that the list gave it.
    pub(super) fn create(&mut self, id: &str, subject: &str, detail: &str, source: &LineRef) {
        let subject = clean::line(subject, 180);
        if subject.is_empty() {
            return;
        }
        self.all.retain(|task| task.id != id || id.is_empty() || task.status == Status::Done);
        let same = self.all.iter_mut().find(|task| task.subject == subject);
        match same {
            Some(task) => (task.id, task.status) = (id.to_owned(), Status::Pending),
            None => self.all.push(Task {
                id: id.to_owned(),
                subject,
                detail: clean::line(detail, 300),
                source: source.clone(),
                ..Task::default()
            }),
        }
        self.enforce_limit();
    }

    /// Records that the agent said that all is done, which lists are not always told.
    pub(super) fn all_done(&mut self) {
        self.all.iter_mut().for_each(|task| task.status = Status::Done);
    }

    /// Records what an answer says of tasks by their numbers: "Task 1 is complete".
    pub(super) fn said_done(&mut self, answer: &str) {
        let open = self.all.iter_mut().filter(|task| task.status != Status::Done);
        let numbered: Vec<(&mut Task, String)> =
            open.filter_map(|task| numbered(&task.subject).map(|name| (task, name))).collect();
        if numbered.is_empty() {
            return;
        }
        let said: Vec<String> = text::sentences(answer).iter().map(|sentence| sentence.to_lowercase()).collect();
        for (task, name) in numbered {
            let is_done = |sentence: &String| {
                let forms = ["is complete", "complete", "is done", "done", "completed", "is finished", "finished"];
                forms.iter().any(|form| text::contains_words(sentence, &format!("{name} {form}")))
                    && !text::contains_any_words(sentence, &["when", "once", "after", "until", "if", "not", "except"])
            };
            if said.iter().any(is_done) {
                task.status = Status::Done;
            }
        }
    }

    /// Records that all checks passed: a task that only asks to run them is done, and so is the last one if the agent was at it and it is
    /// about tests.
    pub(super) fn checks_passed(&mut self) {
        self.all.iter_mut().filter(|task| only_checks(&task.subject)).for_each(|task| task.status = Status::Done);
        let mut open = self.all.iter_mut().filter(|task| task.status != Status::Done);
        let (last, other) = (open.next(), open.next());
        let is_of_tests = |task: &&mut Task| {
            text::contains_any_words(&task.subject.to_lowercase(), &["test", "tests", "테스트", "テスト", "测试"])
        };
        if let Some(task) = last.filter(|task| other.is_none() && task.status == Status::Current).filter(is_of_tests) {
            task.status = Status::Done;
        }
    }

    /// Updates a task. The status `deleted` removes it.
    pub(super) fn update(&mut self, id: &str, status: Option<&str>) {
        // Numbers start again after the list was cleared, so the latest task with that number is meant.
        let Some(at) = self.all.iter().rposition(|task| task.id == id) else {
            return;
        };
        if status == Some("deleted") {
            self.all.remove(at);
            return;
        }
        let task = &mut self.all[at];
        if let Some(status) = status {
            task.status = Status::of(status);
        }
    }

    /// Takes a list of all tasks, as the client prints it: `#2 [completed] Round the total (till-dev) [blocked by #1]`. Others than the agent
    /// may have worked on them. Where the list is lost, nobody knows what is open.
    pub(super) fn listed(&mut self, list: &str) {
        if list.trim() == "No tasks found" {
            self.all.retain(|task| task.status == Status::Done);
        }
        for line in list.lines() {
            let Some((id, rest)) = line.trim().strip_prefix('#').and_then(|rest| rest.split_once(" [")) else { continue };
            let Some((status, subject)) = rest.split_once("] ") else { continue };
            if let Some(task) = self.all.iter_mut().rfind(|task| task.id == id && subject.starts_with(task.subject.as_str()))
            {
                task.status = Status::of(status);
            }
        }
    }

    fn enforce_limit(&mut self) {
        while self.all.len() > MAX_TASKS {
            let at = self.all.iter().position(|task| task.status == Status::Done).unwrap_or(0);
            self.all.remove(at);
        }
    }

    /// Returns the subjects of the tasks with that status.
    pub(super) fn with_status(&self, status: Status) -> impl Iterator<Item = &str> {
        self.all.iter().filter(move |task| task.status == status).map(|task| task.subject.as_str())
    }

    /// Returns the unfinished tasks as memories.
    pub(super) fn drafts(&self) -> impl Iterator<Item = Draft> {
        self.all.iter().filter(|task| task.status != Status::Done).map(|task| Draft {
            key: Some(task.key()),
            kind: "task".to_owned(),
            title: task.subject.clone(),
            content: if task.detail.is_empty() {
                task.subject.clone()
            } else {
                format!("{}: {}", task.subject, task.detail)
            },
            keywords: Vec::new(),
            files: Vec::new(),
            importance: 0.5,
            origin: task.source.origin(),
            attributes: vec![SaidBy::Agent.attribute()],
        })
    }
}

/// Returns the name and number with which the subject of a task begins, in lower case: "Task 1: Round the total".
fn numbered(subject: &str) -> Option<String> {
    let (name, _) = subject.split_once([':', '—', '–'])?;
    let (word, number) = name.trim().split_once(' ')?;
    let is_name = word.chars().all(char::is_alphabetic) && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    is_name.then(|| name.trim().to_lowercase())
}

/// Returns whether a task asks for nothing but to run the checks: "Run fmt, lint and tests".
pub(crate) fn only_checks(subject: &str) -> bool {
    const CHECKS: [&str; 16] = [
        "fmt",
        "format",
        "formatter",
        "formatting",
        "lint",
        "linter",
        "linters",
        "linting",
        "clippy",
        "test",
        "tests",
        "build",
        "typecheck",
        "type-check",
        "checks",
        "vet",
    ];
    const OTHERS: [&str; 25] = [
        "run",
        "re-run",
        "rerun",
        "execute",
        "verify",
        "check",
        "all",
        "the",
        "and",
        "with",
        "full",
        "whole",
        "unit",
        "suite",
        "final",
        "quality",
        "validation",
        "project",
        "pass",
        "passes",
        "that",
        "make",
        "sure",
        "ensure",
        "again",
    ];
    const FOREIGN_CHECKS: [&str; 9] =
        ["테스트", "린트", "포맷", "빌드", "テスト", "リント", "フォーマット", "ビルド", "测试"];
    const FOREIGN_OTHERS: [&str; 13] =
        ["실행하기", "실행", "확인", "전체", "및", "와", "과", "実行", "確認", "全", "と", "の", "运行"];
    let lower = subject.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty());
    let mut names_check = false;
    for word in words {
        if CHECKS.contains(&word) {
            names_check = true;
        } else if !OTHERS.contains(&word) {
            let rest = FOREIGN_CHECKS.iter().fold(word.to_owned(), |rest, check| rest.replace(check, ""));
            names_check |= rest != word;
            if !FOREIGN_OTHERS.iter().fold(rest, |rest, other| rest.replace(other, "")).is_empty() {
                return false;
            }
        }
    }
    names_check
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_task_is_done_if_it_is_about_tests_and_they_pass() {
        let mut tasks = Tasks::default();
        tasks.create("1", "Update the unit tests of the till", "", &LineRef::default());
        tasks.checks_passed();
        assert_eq!(tasks.with_status(Status::Pending).count(), 1, "nobody was at it");
        tasks.update("1", Some("in_progress"));
        tasks.create("2", "Open the drawer", "", &LineRef::default());
        tasks.checks_passed();
        assert_eq!(tasks.with_status(Status::Current).count(), 1, "there is more to do");
        tasks.update("2", Some("completed"));
        tasks.checks_passed();
        assert_eq!(tasks.with_status(Status::Done).count(), 2);
    }

    #[test]
    fn the_last_state_counts() {
        let (mut tasks, source) = (Tasks::default(), LineRef::default());
        tasks.create("1", "Write it", "", &source);
        tasks.create("2", "Test it", "all of it", &source);
        tasks.update("1", Some("completed"));
        tasks.update("2", Some("in_progress"));
        assert_eq!(tasks.with_status(Status::Done).collect::<Vec<_>>(), ["Write it"]);
        assert_eq!(tasks.drafts().map(|draft| draft.content).collect::<Vec<_>>(), ["Test it: all of it"]);
        tasks.update("2", Some("deleted"));
        assert_eq!(tasks.drafts().count(), 0);
    }

    #[test]
    fn the_list_that_the_client_shows_counts() {
        let (mut tasks, source) = (Tasks::default(), LineRef::default());
        for (id, subject) in [("1", "Round the total"), ("2", "Print the slip"), ("3", "Open the drawer")] {
            tasks.create(id, subject, "", &source);
        }
        tasks.listed("#2 [in_progress] Print the slip [blocked by #1]\n#1 [completed] Round the total (till-dev)\n#3 [completed] Other");
        assert_eq!(tasks.with_status(Status::Done).collect::<Vec<_>>(), ["Round the total"]);
        assert_eq!(tasks.with_status(Status::Current).collect::<Vec<_>>(), ["Print the slip"]);
        tasks.listed("No tasks found");
        assert_eq!(tasks.with_status(Status::Done).count(), 1);
        assert_eq!(tasks.drafts().count(), 0, "nobody knows what is open");
    }

    #[test]
    fn tasks_that_only_run_the_checks() {
        for subject in ["Run fmt, lint and tests", "Verify that all tests pass", "테스트 및 린트 실행", "テストの実行"]
        {
            assert!(only_checks(subject), "{subject}");
        }
        for subject in ["Write tests", "Fix lint of the till", "Run the migration", "Check all", "테스트 작성"] {
            assert!(!only_checks(subject), "{subject}");
        }
        let (mut tasks, source) = (Tasks::default(), LineRef::default());
        tasks.create("1", "Run lint and tests", "", &source);
        tasks.create("2", "Deploy the till", "", &source);
        tasks.checks_passed();
        assert_eq!(tasks.with_status(Status::Pending).collect::<Vec<_>>(), ["Deploy the till"]);
    }

    #[test]
    fn a_whole_list_replaces_the_previous_one() {
        let (mut tasks, source) = (Tasks::default(), LineRef::default());
        let list = |json| Raw::parse(json).unwrap();
        tasks.replace(list(r#"[{"content":"a","status":"in_progress"},{"content":"b","status":"pending"}]"#), &source);
        tasks.replace(list(r#"[{"content":"a","status":"completed"},{"content":"c","status":"pending"}]"#), &source);
        assert_eq!(tasks.with_status(Status::Pending).collect::<Vec<_>>(), ["c"]);
        assert_eq!(tasks.with_status(Status::Done).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn tasks_that_an_answer_calls_complete_by_their_numbers() {
        let mut tasks = Tasks::default();
        for (id, subject) in
            [("1", "Task 1: Round the total"), ("2", "Task 2: Print the slip"), ("3", "Task 12: Open the drawer")]
        {
            tasks.create(id, subject, "", &LineRef::default());
        }
        tasks.said_done("Once Task 1 is complete, I go on.");
        assert_eq!(tasks.with_status(Status::Pending).count(), 3);
        tasks.said_done("All tests pass. **Batch 1 complete — Task 1 done.** Task 2 is next.");
        assert_eq!(
            tasks.with_status(Status::Pending).collect::<Vec<_>>(),
            ["Task 2: Print the slip", "Task 12: Open the drawer"]
        );
    }
}
