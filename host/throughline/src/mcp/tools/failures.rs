//! The `failures_for` tool.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{ToolOutput, fitting};
use super::entry::day;
use super::timeline;
use crate::mcp::cursor;
use crate::mcp::quote::{self, Origin};
use crate::mcp::worker::ToolContext;
use throughline_engine::hooks;
use throughline_store::{self as store, folded};

/// How many failures are examined. The most frequent come first.
const MAX_EXAMINED: u32 = 2_000;

/// The longest line of an error and of a fix, in characters.
const LINE: usize = 300;

/// How much of a known error must stand in an error's text, or the other way round, by words.
const MIN_LIKENESS: f32 = 0.6;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A file or folder; the end of its path is enough
    file: Option<String>,
    /// The whole command, or its beginning
    command: Option<String>,
    /// The text of an error, as it was printed
    error: Option<String>,
    /// Only failures without a known fix
    #[serde(default)]
    open: bool,
    #[serde(default = "super::call::default_limit", deserialize_with = "super::call::number")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct FailuresPage {
    about: &'static str,
    failures: Vec<Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Failure {
    /// What was tried
    subject: String,
    error: String,
    /// What was done between the failure and the success
    fix: Option<String>,
    open: bool,
    count: u32,
    sessions: u32,
    last: String,
    files: Vec<String>,
    origin: Origin,
    untrusted: bool,
}

impl Failure {
    fn new(failure: &store::Failure) -> Self {
        Self {
            subject: quote::line(&failure.subject, LINE),
            error: quote::line(&failure.error, LINE),
            fix: failure.fix.as_deref().map(|fix| quote::line(fix, LINE)),
            open: failure.is_open(),
            count: failure.count,
            sessions: failure.sessions,
            last: day(failure.last_at),
            files: failure.files.iter().take(8).map(|file| quote::line(file, LINE)).collect(),
            origin: Origin::Tool,
            untrusted: true,
        }
    }

    fn write(&self, out: &mut String) {
        let state = if self.open { "open" } else { "fixed" };
        let _ = writeln!(out, "{state} {}× in {} sessions, last {}  {}", self.count, self.sessions, self.last, self.subject);
        let _ = writeln!(out, "    {}{}", self.error, self.origin.mark());
        if let Some(fix) = &self.fix {
            let _ = writeln!(out, "    {}: {fix}", if self.open { "helped once" } else { "helped" });
        }
    }
}

pub(super) fn failures(ctx: &mut ToolContext, arguments: &Arguments) -> Result<ToolOutput> {
    let Arguments { file, command, error, open, limit, cursor } = arguments;
    let of = (&ctx.project.id, file, command, error, open);
    let begin: usize = cursor::decode("failures", &of, cursor.as_deref())?.unwrap_or(0);
    let limit = limit.clamp(&1, &50);
    let mut found = Vec::new();
    let noted = ctx.runtime.journal().sessions().is_ok_and(|sessions| !sessions.is_empty());
    if let Some(mut store) = if noted { Some(ctx.open_or_create()?) } else { ctx.open_existing()? } {
        hooks::store_all_journals(&ctx.runtime, &mut store)?;
        found = store.failures(Some(&ctx.project.id), None, *open, MAX_EXAMINED)?;
    }
    let path = file.as_deref().map(|file| timeline::event_path(ctx, file));
    found.retain(|failure| {
        path.as_deref().is_none_or(|path| is_about(failure, path))
            && command.as_deref().is_none_or(|command| is_of(failure, command))
            && error.as_deref().is_none_or(|error| likeness(failure, error) >= MIN_LIKENESS)
    });
    if let Some(error) = error {
        found.sort_by(|a, b| likeness(b, error).total_cmp(&likeness(a, error)));
    }
    let all = found.len();
    let mut shown: Vec<Failure> = found.iter().skip(begin).take(*limit as usize).map(Failure::new).collect();
    shown.truncate(fitting(&shown));
    let end = begin.saturating_add(shown.len());
    let next_cursor = (end < all && !shown.is_empty()).then(|| cursor::encode("failures", &of, end));
    let page = FailuresPage { about: quote::NOTICE, failures: shown, next_cursor };
    let mut text = String::new();
    if page.failures.is_empty() {
        text.push_str("No known failure of this project matches.");
    } else {
        let mut lines = String::new();
        page.failures.iter().for_each(|failure| failure.write(&mut lines));
        text.push_str(&quote::fence(&lines));
    }
    if let Some(cursor) = &page.next_cursor {
        let _ = write!(text, "\nMore: cursor {cursor}");
    }
    ToolOutput::new(text, &page)
}

/// Returns whether the failure is about the file: its files, its error or its command name it.
fn is_about(failure: &store::Failure, path: &str) -> bool {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    if path.is_empty() {
        return false;
    }
    let is_it = |file: &String| {
        file == path
            || file.strip_suffix(path).is_some_and(|before| before.ends_with('/'))
            || file.strip_prefix(path).is_some_and(|behind| behind.starts_with('/'))
    };
    failure.files.iter().any(is_it) || failure.error.contains(path) || failure.subject.contains(path)
}

/// Returns whether the failure belongs to the command: either contains every word of the other.
fn is_of(failure: &store::Failure, command: &str) -> bool {
    let (subject, command) = (folded(&failure.subject), folded(command));
    let all = |of: &str, within: &str| {
        let within: Vec<&str> = within.split_whitespace().collect();
        let mut words = of.split_whitespace().peekable();
        words.peek().is_some() && words.all(|word| within.contains(&word))
    };
    all(&subject, &command) || all(&command, &subject)
}

/// Returns which share of the words of a failure's error stands in a text, or of the text's words in the error if that is
/// more. Numbers do not count: line numbers and times differ from one time to the next.
fn likeness(failure: &store::Failure, text: &str) -> f32 {
    let words = |text: &str| -> BTreeSet<String> {
        folded(text)
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| word.chars().count() > 1 && !word.bytes().all(|byte| byte.is_ascii_digit()))
            .map(str::to_owned)
            .collect()
    };
    let (own, theirs) = (words(&failure.error), words(text));
    #[expect(clippy::cast_precision_loss, reason = "a number of words")]
    let share = |of: &BTreeSet<String>, within: &BTreeSet<String>| {
        if of.is_empty() { 0.0 } else { of.intersection(within).count() as f32 / of.len() as f32 }
    };
    share(&own, &theirs).max(share(&theirs, &own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_known_by_its_command_and_its_files() {
        let failure = store::Failure {
            id: 1,
            subject: "cargo test x".into(),
            error: "error[E0425]: cannot find `y` in src/lib.rs".into(),
            signature: String::new(),
            files: vec!["api/src/main.rs".into()],
            count: 1,
            sessions: 1,
            error_sessions: 1,
            first_at: 0,
            last_at: 0,
            fix: None,
            fixed_at: None,
            project: String::new(),
        };
        for command in ["cargo test", "cargo test -p x", "cd api && Cargo test x"] {
            assert!(is_of(&failure, command), "{command}");
        }
        for command in ["cargo build", "", " "] {
            assert!(!is_of(&failure, command), "{command}");
        }
        for file in ["api/src/main.rs", "main.rs", "api", "src/lib.rs", "./src/main.rs"] {
            assert!(is_about(&failure, file), "{file}");
        }
        for file in ["ain.rs", "ap", "", "/"] {
            assert!(!is_about(&failure, file), "{file}");
        }
        for error in
            ["error[E0425]: cannot find `y` in src/lib.rs", "thread 7: error[E0425]: cannot find `z` in src/lib.rs:17"]
        {
            assert!(likeness(&failure, error) >= MIN_LIKENESS, "{error}");
        }
        for error in ["connection refused", "", "17", "error: disk full while writing the log of the server"] {
            assert!(likeness(&failure, error) < MIN_LIKENESS, "{error}");
        }
    }
}
