//! What checks of a project fail with again and again: what a formatter mends, and variables that are not set. In one session that is
//! no news. The context stage tells it once several sessions had it.

use serde::{Deserialize, Serialize};

use super::display::{display_command, failure_text, is_whole};
use super::failure::Failure;
use super::normalize::normalize;
use crate::extract::commands::{self, Class};
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::said_by::SaidBy;
use crate::text;

/// The keyword of such a memory, by which the context stage knows it.
pub(crate) const ROUTINE: &str = "routine";

/// The maximum number of such failures in a session.
const MAX_ROUTINES: usize = 2;

/// A failure that returns in other sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Routine {
    /// The command, as it is told.
    what: String,
    error: String,
    /// What mended it, as it is told. May be empty.
    cure: String,
    source: LineRef,
}

/// The failures of a session that return in others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Routines {
    all: Vec<Routine>,
}

impl Routines {
    /// Records a failed command, which may lack a variable.
    pub(super) fn failed(&mut self, command: &str, error: &str, source: &LineRef) {
        if commands::is_unset_variable(error) && commands::class(command) != Class::Inspect {
            self.add(display_command(command), error, String::new(), source);
        }
    }

    /// Records a command that passed, which may mend what a failed check complained of.
    pub(super) fn passed(&mut self, command: &str, open: &[Failure]) {
        if commands::sets_variables(command) {
            let is_same = |it: &&mut Routine| it.cure.is_empty() && commands::class(&it.what) == commands::class(command);
            let cure = || Some(display_command(command)).filter(|cure| is_whole(cure));
            if let Some((known, cure)) = self.all.iter_mut().find(is_same).zip(cure()) {
                known.cure = cure;
            }
        }
        let only_checks = |segment: &str| text::contains_any(segment, &["--check", ":check", "--dry-run"]);
        let is_formatter =
            |segment: &&str| commands::class(segment) == Class::Check && commands::mends(segment) && !only_checks(segment);
        let Some(formatter) = commands::segments(command).into_iter().find(is_formatter) else { return };
        for failure in open.iter().filter(|failure| failure.is_check()) {
            let is_own = |segment: &&str| tool(segment) == tool(formatter);
            let own = commands::segments(&failure.what).into_iter().find(is_own);
            // Another tool mends only what is a matter of form.
            if own.is_some() || is_of_form(&failure.error) {
                let what = display_command(own.unwrap_or(&failure.what));
                self.add(what, &failure.error, display_command(formatter), &failure.source);
            }
        }
    }

    fn add(&mut self, what: String, error: &str, cure: String, source: &LineRef) {
        // A place in the code is of its day.
        let error = if error.contains(['/', '\\']) && !cure.is_empty() { "" } else { said_by_tool(error) };
        let error = normalize(error).trim_end_matches([':', '.', ' ']).to_owned();
        let is_known = |known: &Routine| known.cure == cure && (known.what == what || known.error == error);
        if self.all.len() < MAX_ROUTINES && what != cure && !self.all.iter().any(is_known) {
            self.all.push(Routine { what, error, cure, source: source.clone() });
        }
    }

    /// Returns what may return.
    pub(super) fn memories(&self, labels: &Labels) -> impl Iterator<Item = SessionMemory> {
        self.all.iter().map(|routine| {
            let Routine { what, error, cure, source } = routine;
            let fix = if cure.is_empty() { String::new() } else { format!("`{cure}`") };
            let content = failure_text(&format!("`{what}`"), 1, error, "", (labels.fixed_by, &fix), labels);
            SessionMemory {
                key: format!("routine:{:08x}", text::hash(&content)),
                kind: "error_fix".to_owned(),
                title: text::clip(&content, 200).into_owned(),
                content,
                keywords: vec![ROUTINE.to_owned()],
                importance: 45,
                source: source.clone(),
                said_by: SaidBy::Tool,
                ..SessionMemory::default()
            }
        })
    }
}

/// Returns what stands behind the last "error: " of a line. Runners put names of tasks before it.
pub(crate) fn said_by_tool(error: &str) -> &str {
    const TAG: &str = "rror: ";
    error.rfind(TAG).map_or(error, |at| &error[at + TAG.len()..])
}

/// Returns what distinguishes a tool from others: its first words, without options and without whether it checks or mends.
fn tool(segment: &str) -> Vec<&str> {
    let words = commands::own_words(segment).into_iter();
    let is_runner = |word: &str| matches!(word, "bun" | "npm" | "pnpm" | "yarn");
    let plain = words.filter(|word| !word.starts_with('-') && !word.contains(['/', '.', '>', '|']) && !is_runner(word));
    let base = |word| [":fix", ":write", ":check"].iter().find_map(|end| str::strip_suffix(word, end)).unwrap_or(word);
    plain.map(base).take(3).collect()
}

/// Returns whether an error is about the form of the code, which a formatter mends.
fn is_of_form(error: &str) -> bool {
    text::contains_any(&error.to_lowercase(), &["formatter", "formatted", "formatting", "gofmt", "rustfmt", "prettier"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::labels::labels;
    use crate::text::Language;

    fn told(failed: &str, error: &str, passed: &str) -> Vec<String> {
        let (mut routines, source) = (Routines::default(), LineRef::default());
        routines.failed(failed, error, &source);
        routines.passed(passed, &[Failure::of(failed, error, &source)]);
        routines.memories(labels(Language::English)).map(|memory| memory.content).collect()
    }

    #[test]
    fn what_a_formatter_mends_returns() {
        let (error, mended) =
            ("× Formatter would print other blanks:", "`npm run lint` fails: × Formatter would print other blanks");
        assert_eq!(
            told("npm run lint 2>&1", error, "npm run lint:fix | tail -5"),
            [format!("{mended}. Fixed by: `npm run lint:fix`")]
        );
        let other = told("npm run lint", "× This import is unused", "npm run lint:fix");
        assert_eq!(other, ["`npm run lint` fails: × This import is unused. Fixed by: `npm run lint:fix`"]);
        let place = told("ruff check src", "src/till.py:3:1: F401 unused", "ruff check src --fix");
        assert_eq!(place, ["`ruff check src` fails. Fixed by: `ruff check src --fix`"]);
        let of_form = told("make lint", "till is not formatted with gofmt", "make fmt");
        assert_eq!(of_form, ["`make lint` fails: till is not formatted with gofmt. Fixed by: `make fmt`"]);
    }

    #[test]
    fn what_a_formatter_does_not_mend_is_none_of_it() {
        assert!(told("make lint", "the drawer is never closed", "make fmt").is_empty());
        assert!(told("npm test", "2 failed", "npm run lint:fix").is_empty());
        assert!(told("cargo clippy", "unused drawer", "cargo fmt").is_empty());
        assert!(told("npm run lint", "blanks", "npm run lint").is_empty());
        assert!(told("cargo fmt --check", "other blanks", "cargo fmt --check").is_empty());
    }

    #[test]
    fn a_variable_that_is_not_set_returns() {
        let error = "@shop/till:test: error: Missing TILL_URL or TILL_HOST";
        assert_eq!(told("npm test", error, "ls"), ["`npm test` fails: Missing TILL_URL or TILL_HOST"]);
        let told_env = ["`npm test` fails: Missing TILL_URL or TILL_HOST. Fixed by: `npm run test:env`"];
        assert_eq!(told("npm test", error, "npm run test:env"), told_env);
        assert!(told("npm test", "Missing export MAX", "ls").is_empty());
        assert!(told("npm test", "src/till.ts:3:1: missing TILL_URL", "ls").is_empty(), "that is in the code");
        assert!(told("ls", error, "ls").is_empty());
    }
}
