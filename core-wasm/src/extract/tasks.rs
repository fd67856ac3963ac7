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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_whole_list_replaces_the_previous_one() {
        let (mut tasks, source) = (Tasks::default(), LineRef::default());
        let list = |json| Raw::parse(json).unwrap();
        tasks.replace(list(r#"[{"content":"a","status":"in_progress"},{"content":"b","status":"pending"}]"#), &source);
        tasks.replace(list(r#"[{"content":"a","status":"completed"},{"content":"c","status":"pending"}]"#), &source);
        assert_eq!(tasks.with_status(Status::Pending).collect::<Vec<_>>(), ["c"]);
        assert_eq!(tasks.with_status(Status::Done).collect::<Vec<_>>(), ["a"]);
    }
}
