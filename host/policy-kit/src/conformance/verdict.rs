//! Verdicts: how a check comes to its result, and how results are recorded.

use std::fmt::{Debug, Display};
use std::time::Instant;

use anyhow::Result;

use super::fixtures::ROOT;
use super::report::{ConformanceCheck, Status};
use super::subject::Instance;
use super::suite::Suite;
use throughline_sandbox::stage::Stage;

/// The result of a check and what was observed.
pub(super) struct Verdict {
    pub(super) status: Status,
    pub(super) seen: String,
}

impl Verdict {
    pub(super) fn pass(seen: impl Into<String>) -> Self {
        Self { status: Status::Pass, seen: seen.into() }
    }

    /// Passes, or warns if `odd`.
    pub(super) fn odd(odd: bool, seen: impl Into<String>) -> Self {
        Self { status: if odd { Status::Warn } else { Status::Pass }, seen: seen.into() }
    }

    pub(super) fn fail(seen: impl Into<String>) -> Self {
        Self { status: Status::Fail, seen: seen.into() }
    }

    /// Turns an error into a failure with the error's message.
    pub(super) fn of(result: Result<Self>) -> Self {
        result.unwrap_or_else(|error| Self::fail(format!("{error:#}")))
    }
}

/// Collects what is wrong with a set of results and reports the first examples.
#[derive(Default)]
pub(super) struct Faults {
    seen: usize,
    fails: Vec<String>,
    warns: Vec<String>,
}

impl Faults {
    /// Counts one more result.
    pub(super) fn count_result(&mut self) {
        self.seen += 1;
    }

    /// Counts one more attempt. An error breaks the contract.
    pub(super) fn attempt<T>(&mut self, result: Result<T>) -> Option<T> {
        self.count_result();
        result.map_err(|error| self.fails.push(format!("{error:#}"))).ok()
    }

    /// Records a break of the contract if `wrong`.
    pub(super) fn fail(&mut self, wrong: bool, what: impl FnOnce() -> String) {
        if wrong {
            self.fails.push(what());
        }
    }

    /// Records a warning if `wrong`.
    pub(super) fn warn(&mut self, wrong: bool, what: impl FnOnce() -> String) {
        if wrong {
            self.warns.push(what());
        }
    }

    /// Returns the verdict; `what` names the results, in the plural. Without any results it is a warning, unless the
    /// policy `may_lack` them.
    pub(super) fn verdict(self, what: &str, may_lack: bool) -> Verdict {
        match (self.fails.is_empty(), self.warns.is_empty()) {
            (false, _) => Verdict::fail(examples(&self.fails)),
            (true, false) => Verdict::odd(true, examples(&self.warns)),
            (true, true) if self.seen == 0 && !may_lack => {
                Verdict::odd(true, format!("no {what} to check: no call returned any"))
            }
            (true, true) => Verdict::pass(format!("{} {what}, nothing wrong", self.seen)),
        }
    }
}

/// How many examples a report shows.
const EXAMPLES: usize = 3;

fn examples(all: &[String]) -> String {
    let told = all.iter().take(EXAMPLES).map(String::as_str).collect::<Vec<_>>().join("; ");
    match all.len().saturating_sub(EXAMPLES) {
        0 => told,
        more => format!("{told}; and {more} more"),
    }
}

/// Collects the checks of a stage.
pub(super) struct CheckRecorder<'a> {
    pub(super) stage: Stage,
    pub(super) checks: &'a mut Vec<ConformanceCheck>,
    pub(super) drafts: &'a mut usize,
}

impl CheckRecorder<'_> {
    pub(super) fn note(&mut self, id: &'static str, contract: &'static str, why: &'static str, verdict: Verdict) {
        let Verdict { status, seen } = verdict;
        self.checks.push(ConformanceCheck { id, stage: self.stage, status, seen, why, contract });
    }
}

/// Quotes the beginning of a text on one line, for a report.
pub(super) fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let short: String = text.chars().take(MAX_CHARS).collect();
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("{short:?}{dots}")
}

/// Whether two values have the same debug representation.
pub(super) fn is_same(one: &impl Debug, other: &impl Debug) -> bool {
    format!("{one:?}") == format!("{other:?}")
}

pub(super) fn is_one_line(text: &str) -> bool {
    !text.contains(['\n', '\r'])
}

/// Whether this is a valid kind: lower case, words joined by `_`, at most 64 bytes.
pub(super) fn is_kind(kind: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    kind.len() <= 64 && kind.starts_with(|c: char| c.is_ascii_lowercase()) && kind.split('_').all(is_word)
}

/// Checks a file path that a policy returned: it must be relative to the root if inside it.
pub(super) fn check_file(faults: &mut Faults, case: &impl Display, file: &str) {
    let inside = file.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    faults.count_result();
    faults.fail(inside, || format!("{case}: {} is inside the root but not relative to it", quoted(file)));
    faults.fail(file.trim().is_empty() || !is_one_line(file), || format!("{case}: {} is not a path", quoted(file)));
    faults.warn(file.starts_with("./"), || format!("{case}: {} begins with ./", quoted(file)));
}

/// Checks that the same input gives the same result twice in one instance and once in a fresh one.
pub(super) fn deterministic<T: Debug>(suite: &Suite<'_>, call: impl Fn(&mut dyn Instance, Instant) -> Result<T>) -> Verdict {
    let compared = || {
        let mut one = suite.instance()?;
        let first = suite.timed(|until| call(&mut *one, until))?;
        let second = suite.timed(|until| call(&mut *one, until))?;
        let mut other = suite.instance()?;
        let fresh = suite.timed(|until| call(&mut *other, until))?;
        Ok(match (is_same(&first, &second), is_same(&first, &fresh)) {
            (true, true) => Verdict::pass("the same result twice in one instance and in a fresh one"),
            (false, _) => Verdict::fail("the second call of an instance gives a different result from the first"),
            (true, false) => Verdict::fail("a fresh instance gives a different result"),
        })
    };
    Verdict::of(compared())
}

pub(super) const WHY_DETERMINISTIC: &str =
    "Every call may get a new instance: a result that depends on the instance cannot be reproduced or debugged.";
pub(super) const PLACE_INSTANCES: &str =
    "worlds.wit, rules: \"Every call may get a new instance, so do not keep anything in globals that must survive a call\"";
pub(super) const PLACE_OPEN: &str = "worlds.wit, rules: open strings, \"must ignore those that it does not know\"";
pub(super) const PLACE_UNICODE: &str = "worlds.wit, rules: \"Texts are plain Unicode\"";
