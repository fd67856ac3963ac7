//! Errors that the human pasted: what the agent said of their cause, and what it changed.

use serde::{Deserialize, Serialize};

use super::normalize::normalize;
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::{prose, signs};
use crate::text;

/// The maximum length of the error and of its cause on a line, in characters.
const MAX_ERROR_CHARS: usize = 100;
const MAX_CAUSE_CHARS: usize = 190;
/// The maximum length of the line, in characters.
const MAX_LINE_CHARS: usize = 300;
/// The minimum length of an error that says something, in characters.
const MIN_ERROR_CHARS: usize = 16;

/// The minimum length of a cause, in characters.
const MIN_CAUSE_CHARS: usize = 24;
/// Within how many characters a cause is announced.
const OPENING_CHARS: usize = 48;
/// The number of words without a path from which two errors are compared by them.
const MIN_SAME_WORDS: usize = 5;
/// The maximum number of files to keep.
const MAX_FILES: usize = 6;

/// Words that announce a cause near the beginning of a sentence.
const NOUNS: &[&str] = &["root cause", "culprit was", "culprit is"];

/// Openings of a sentence that names a cause and nothing else.
const LEADS: &[&str] = &[
    "the cause",
    "root cause",
    "the root cause",
    "cause:",
    "that's because",
    "that is because",
    "this is because",
    "it's because",
    "the problem is",
    "the problem was",
    "the issue is",
    "the issue was",
    "the bug is",
    "the bug was",
    "it fails because",
    "this fails because",
    "this happens because",
    "that error means",
    "this error means",
    "the error means",
    "the error is because",
    "the failure is",
    "the crash is",
    "the crash was",
];

/// Lines with which a runner says only that what it ran failed.
const RUNNERS: &[&str] = &["command failed", "exited with", "exit code", "process completed with", "elifecycle"];

/// The beginnings of npm's lines of errors.
const OF_NPM: [&str; 2] = ["npm error ", "npm err! "];

/// Words of an error that says by itself what is needed.
const DEMANDS: &[&str] = &["requires", "is required", "are required", "must be", "must have"];

/// Words of an error that somebody has to log in, or lacks rights.
const OF_ACCOUNTS: &[&str] = &["password", "log in", "login", "logged in", "authenticat", "permission", "two-factor"];

/// A pasted error that waits for its cause and its cure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Pasted {
    error: String,
    cause: String,
    /// The files that were changed since then.
    files: Vec<String>,
    /// A hash of the line that says what was run and failed. 0 if there is none.
    #[serde(default)]
    run: u32,
}

impl Pasted {
    /// Returns the error that a prompt shows, if it shows one.
    pub(super) fn in_prompt(prompt: &str) -> Option<Self> {
        let error = text::clip(&pasted_error(prompt)?, MAX_ERROR_CHARS).into_owned();
        Some(Pasted { error, run: failed_run(prompt), ..Pasted::default() })
    }

    /// Returns whether the same was run and failed again.
    pub(super) fn is_same_run(&self, other: &Pasted) -> bool {
        self.run != 0 && self.run == other.run
    }

    /// Returns whether it is the same error, but for numbers, paths and addresses.
    pub(super) fn is_same_error(&self, other: &Pasted) -> bool {
        fn words(error: &str) -> Vec<&str> {
            error.split_whitespace().filter(|word| !word.contains('/')).collect()
        }
        let (own, theirs) = (normalize(&self.error), normalize(&other.error));
        own == theirs || (words(&own) == words(&theirs) && words(&own).len() >= MIN_SAME_WORDS)
    }

    /// Returns the key of the memory of this error.
    pub(super) fn key(&self) -> String {
        format!("pasted:{:08x}", text::hash(&normalize(&self.error)))
    }

    pub(super) fn agent_said(&mut self, said: &str) {
        for sentence in text::sentences(said) {
            let sentence = prose::strip_interjection(&sentence).replace("**", "");
            let lower = sentence.trim().to_lowercase();
            let opening = text::clip(&lower, OPENING_CHARS);
            let is_lead = LEADS.iter().any(|lead| lower.starts_with(lead)) || text::contains_any(&opening, NOUNS);
            let is_long_enough = sentence.chars().count() >= MIN_CAUSE_CHARS && !sentence.ends_with([':', '?']);
            let is_told = is_long_enough && !signs::is_offer(&lower) && !hedges(&lower) && !prose::is_narration(&sentence);
            if is_lead
                && is_told
                && let Some(cause) = whole_clauses(sentence.trim(), MAX_CAUSE_CHARS)
            {
                cause.clone_into(&mut self.cause);
            }
        }
    }

    pub(super) fn file_changed(&mut self, file: &str) {
        let is_work = !file.contains("/scratchpad/") && !file.starts_with("/tmp/") && !file.contains("/memory/");
        if is_work && self.files.len() < MAX_FILES && !self.files.iter().any(|known| known == file) {
            self.files.push(file.to_owned());
        }
    }

    /// Returns the error with its cause and what was changed.
    pub(super) fn memory(&self, source: &LineRef, labels: &Labels) -> Option<SessionMemory> {
        let lower = self.error.to_lowercase();
        // No change of a file logs anybody in.
        let says_need = text::contains_any_words(&lower, DEMANDS) && !text::contains_any(&lower, OF_ACCOUNTS);
        if self.cause.is_empty() && !says_need {
            return None;
        }
        let name = |path: &&String| path.rsplit('/').next().is_some_and(|name| self.cause.contains(name));
        let is_work = |path: &&String| path.rsplit('.').next() != Some("md") && !path.to_lowercase().contains("test");
        let file = self.files.iter().find(name).or_else(|| self.files.iter().find(is_work))?;
        let error = normalize(&self.error);
        let content = |file: &str, cause: &str| {
            let fix = labels.changed_file.replace("{}", &format!("`{file}`"));
            let cause = cause.trim_end_matches('.');
            let colon = if cause.is_empty() { "" } else { ": " };
            format!("\"{error}\"{colon}{cause}. {}: {fix}", labels.fixed_by)
        };
        // The end of a path says enough, and the first clauses of a cause.
        let last = file.rsplit('/').next().unwrap_or(file);
        let left = MAX_LINE_CHARS.saturating_sub(content(last, "").chars().count());
        let content = [content(file, &self.cause), content(last, &self.cause)]
            .into_iter()
            .find(|content| content.chars().count() <= MAX_LINE_CHARS)
            .or_else(|| Some(content(last, whole_clauses(&self.cause, left)?)))?;
        Some(SessionMemory {
            key: self.key(),
            kind: "error_fix".to_owned(),
            title: text::clip(&content, 200).into_owned(),
            why: self.cause.clone(),
            content,
            files: vec![file.clone()],
            importance: 60,
            source: source.clone(),
            ..SessionMemory::default()
        })
    }
}

/// Returns a sentence, or its first clauses if it is too long.
fn whole_clauses(sentence: &str, max: usize) -> Option<&str> {
    if sentence.chars().count() <= max {
        return Some(sentence);
    }
    let fits = |at: &usize| sentence[..*at].chars().count() <= max && *at >= MIN_CAUSE_CHARS;
    let ends =
        [" — ", "; ", ", so ", ", but ", ", which ", ", and ", ". "].iter().flat_map(|mark| sentence.match_indices(mark));
    ends.map(|(at, _)| at).filter(fits).max().map(|at| &sentence[..at])
}

fn hedges(lower: &str) -> bool {
    text::contains_any_words(lower, &["probably", "likely", "might", "may be", "perhaps", "i think", "i suspect"])
}

/// Returns whether a line is code that calls something with a text: `log.Printf("failed to open: %v", err)`. An exception is printed so, too.
fn is_call(line: &str) -> bool {
    let Some((name, arguments)) = line.split_once('(') else { return false };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | ':' | '!'));
    let is_exception = name.ends_with("Error") || name.ends_with("Exception");
    is_name && !is_exception && arguments.contains(['"', '\'', '`'])
}

/// Returns the line of a prompt that is the error of a program. Prose that speaks of errors is none.
pub(in crate::extract) fn pasted_error(prompt: &str) -> Option<String> {
    let is_error = |line: &&str| {
        let lower = line.to_lowercase();
        let opens = ["error:", "error ", "fatal:", "fatal error", "panic:", "exception", "failed:", "e  "];
        let names = ["error: ", "exception: ", "fatal: ", "fatal error: ", "failed to ", "panicked at", "error[", "err!"];
        (opens.iter().any(|it| lower.starts_with(it)) || text::contains_any(&lower, &names))
            && (line.starts_with(|c: char| !c.is_alphabetic())
                || opens.iter().any(|it| lower.starts_with(it))
                || (lower.starts_with("failed to ") && line.contains(": "))
                || has_code(line))
            && !line.ends_with(['?', '{', ';', ','])
            && !is_call(line)
            && line.chars().count() >= MIN_ERROR_CHARS
            || (OF_NPM.iter().any(|opening| lower.starts_with(opening)) && !is_detail_of_npm(&lower))
    };
    let lines = prompt.lines().map(str::trim);
    let mut errors = lines.filter(|line| line.chars().count() < 600).filter(is_error);
    let first = errors.next()?;
    // What failed says more than that something did.
    let line = if is_of_runner(first) { errors.find(|line| !is_of_runner(line)).unwrap_or(first) } else { first };
    let lower = line.to_lowercase();
    let of_npm = OF_NPM.iter().find(|opening| lower.starts_with(**opening)).and_then(|opening| line.get(opening.len()..));
    if let (Some(said), Some(code)) = (of_npm, code_of_npm(prompt)) {
        return Some(format!("{code}: {}", said.trim()));
    }
    let bare = |line: &str| line.trim_start_matches(['#', '>', '-', '*', ' ', '`', '│', '⎿']).to_owned();
    let mut error = bare(line);
    // "failed to load the prices:" says nothing without the line below it.
    if error.ends_with(':')
        && let Some(next) = prompt.lines().map(str::trim).skip_while(|it| *it != line).nth(1).map(bare)
        && !next.to_lowercase().starts_with("warning")
    {
        error = text::one_line(&format!("{error} {next}"));
    }
    Some(error)
}

/// Returns whether a line only says that what was run failed.
pub(in crate::extract) fn is_of_runner(line: &str) -> bool {
    text::contains_any(&line.to_lowercase(), RUNNERS)
}

/// Returns a hash of the last line of a prompt that says what was run and failed. 0 if there is none.
fn failed_run(prompt: &str) -> u32 {
    let named = |line: &&str| is_of_runner(line) && line.contains(['"', '`', '\'']);
    let line = prompt.lines().rev().map(str::trim).find(named);
    line.map_or(0, |line| text::hash(line.trim_end_matches(|c: char| !c.is_alphanumeric())))
}

/// Returns whether a line of npm in lower case says nothing of what was wrong.
fn is_detail_of_npm(lower: &str) -> bool {
    let said = OF_NPM.iter().find_map(|opening| lower.strip_prefix(opening)).unwrap_or(lower).trim();
    ["code ", "a complete log", "errno", "syscall", "path ", "    ", "{", "}"].iter().any(|it| said.starts_with(it))
        || said.is_empty()
}

/// Returns the code that npm gives to an error.
fn code_of_npm(prompt: &str) -> Option<&str> {
    prompt
        .lines()
        .find_map(|line| line.trim().strip_prefix("npm error code ").or(line.trim().strip_prefix("npm ERR! code ")))
}

/// Returns whether a line looks like a program's: a path, a position or a name in it.
fn has_code(line: &str) -> bool {
    let before = line.split([' ', ':']).next().unwrap_or_default();
    line.contains("::") || line.contains("()") || before.contains(['/', '.', '_', '[']) || before.ends_with("Error")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_prints_an_error_is_none() {
        assert_eq!(pasted_error("log.Printf(\"Warning: failed to open the till: %v\", err)"), None);
        assert!(is_call("log.Printf(\"failed to open: %v\", err)"));
        assert!(!is_call("TillError(\"failed to open\")") && !is_call("the till (\"failed to open\")"));
    }

    #[test]
    fn no_change_of_a_file_logs_anybody_in() {
        let told = |error: &str| {
            let pasted = Pasted { error: error.to_owned(), files: vec!["src/till.ts".to_owned()], ..Pasted::default() };
            pasted.memory(&LineRef::default(), crate::extract::labels::labels(text::Language::English))
        };
        assert!(told("EOTP: the till requires a one-time password").is_none());
        assert!(told("error: the till requires a drawer").is_some());
    }
}
