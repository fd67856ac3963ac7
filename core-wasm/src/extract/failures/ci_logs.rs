//! Why the continuous integration failed: the agent reads a job's log and says so next. No command of this machine failed.

use serde::{Deserialize, Serialize};

use super::normalize::normalize;
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::{commands, prose, signs, statement};
use crate::text;

/// The maximum number of diagnoses of a session. The oldest is dropped first.
const MAX_DIAGNOSES: usize = 3;
/// How many texts of the agent may follow before one says why.
const MAX_AGE: u32 = 1;
/// The length of a diagnosis, in characters.
const DIAGNOSIS_CHARS: std::ops::Range<usize> = 30..260;
/// The minimum length of the number of a run.
const MIN_RUN_DIGITS: usize = 5;
/// The minimum length of a log, in bytes.
const MIN_LOG_BYTES: usize = 60;
/// What a log has of a job that failed.
const FAILURES: [&str; 7] = ["FAIL", "error:", "Error:", "ERROR", "fatal:", "panicked", "Traceback"];
/// Openings that only announce a diagnosis.
const OPENINGS: [&str; 8] = [
    "found it",
    "clear cause",
    "root cause confirmed",
    "root cause",
    "the root cause",
    "confirmed",
    "this confirms it",
    "good progress",
];

/// A log that was read and is not explained yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Read {
    source: LineRef,
    /// The number of the run. May be empty.
    run: String,
    /// How many texts followed.
    age: u32,
}

/// A diagnosis, and the files that were changed before the next commit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Diagnosis {
    said: String,
    run: String,
    files: Vec<String>,
    is_closed: bool,
    /// Whether it passed after the change.
    #[serde(default)]
    has_passed: bool,
    source: LineRef,
}

/// What the logs of the continuous integration showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CiLogs {
    read: Option<Read>,
    all: Vec<Diagnosis>,
    /// Whether jobs failed, as the latest list of them says.
    #[serde(default)]
    has_failed: bool,
}

impl CiLogs {
    /// Records a command that passed: it may print the log of a failed job.
    pub(super) fn ran(&mut self, command: &str, output: &str, source: &LineRef) {
        let reads = |segment: &&str| {
            let words = commands::own_words(segment);
            let is_view = words.starts_with(&["gh", "run", "view"]) && segment.contains(" --log");
            is_view || (words.first() == Some(&"gh") && segment.contains("/actions/jobs/") && segment.contains("/logs"))
        };
        // Somebody also reads the log of a job that passed, which may speak of errors.
        let ended = || text::contains_any(output, &["##[error]", "Process completed with exit code"]);
        let shows = || self.has_failed && text::contains_any(output, &FAILURES);
        let has_failed = || command.contains("--log-failed") || ended() || shows();
        if output.len() >= MIN_LOG_BYTES && commands::segments(command).iter().any(reads) && has_failed() {
            let is_number = |word: &&str| word.len() >= MIN_RUN_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit());
            let run = command.split(|c: char| !c.is_ascii_alphanumeric()).find(is_number).unwrap_or_default().to_owned();
            self.read = Some(Read { source: source.clone(), run, age: 0 });
        }
    }

    /// Records that jobs failed.
    pub(super) fn failed(&mut self) {
        self.has_failed = true;
    }

    /// Records that all jobs passed: what was changed before mended what had failed.
    pub(super) fn passed(&mut self) {
        self.has_failed = false;
        self.all.iter_mut().for_each(|known| known.has_passed |= !known.files.is_empty());
    }

    /// Records what the agent said, which may explain the log.
    pub(super) fn agent_said(&mut self, said: &str) {
        let Some(read) = self.read.take() else { return };
        // The log of a later run shows what is mended, whatever else failed there.
        if text::contains_any_words(&said.to_lowercase(), &["pass now", "passes now", "now pass", "now passes"]) {
            self.passed();
        }
        match diagnosis(said) {
            Some(said) if !self.all.iter().any(|known| known.said == said) => {
                // Of the same run, what was said before was on the way to the cause.
                self.all.retain(|known| known.is_closed || read.run.is_empty() || known.run != read.run);
                let Read { source, run, .. } = read;
                self.all.push(Diagnosis { said, run, source, ..Diagnosis::default() });
                if self.all.len() > MAX_DIAGNOSES {
                    self.all.remove(0);
                }
            }
            // What has nothing to do with the work is not explained.
            None if read.age < MAX_AGE && !clears_work(said) => self.read = Some(Read { age: read.age + 1, ..read }),
            _ => {}
        }
    }

    /// Records a change of a file, which may mend what failed.
    pub(super) fn file_changed(&mut self, file: &str) {
        // What is said next is about the change.
        self.read = None;
        if let Some(open) = self.all.last_mut().filter(|known| !known.is_closed)
            && !open.files.iter().any(|known| known == file)
        {
            open.files.push(file.to_owned());
        }
    }

    /// Records a commit, which ends what was changed for the failure.
    pub(super) fn committed(&mut self) {
        self.read = None;
        self.all.iter_mut().for_each(|known| known.is_closed = true);
    }

    /// Returns why it failed, and the file that was changed for that if there is only one.
    pub(super) fn memories(&self, labels: &Labels) -> impl Iterator<Item = SessionMemory> {
        self.all.iter().map(|Diagnosis { said, files, has_passed, source, .. }| {
            let mut content = labels.ci_failed.replace("{}", &normalize(said));
            if let [file] = files.as_slice() {
                let fix = labels.changed_file.replace("{}", &format!("`{file}`"));
                let label = if *has_passed { labels.fixed_by } else { labels.tried };
                content = format!("{} {label}: {fix}", content.trim_end());
            }
            SessionMemory {
                key: format!("ci:{:08x}", text::hash(said)),
                kind: "learning".to_owned(),
                title: content,
                importance: 62,
                source: source.clone(),
                ..SessionMemory::default()
            }
        })
    }
}

/// Returns the first sentence of a text that names what failed and guesses nothing, with the next one if that goes on.
fn diagnosis(said: &str) -> Option<String> {
    // An item of a list says nothing without the others.
    let is_item = |line: &str| line.starts_with(['-', '*', '•', '|', '#']) && !line.starts_with("**");
    let is_numbered = |line: &str| line.split_once(['.', ')']).is_some_and(|(number, _)| number.parse::<u8>().is_ok());
    let lines = text::prose_lines(said).take_while(|line| !is_item(line) && !is_numbered(line));
    let sentences: Vec<String> = lines.flat_map(text::sentences).collect();
    let is_told = |sentence: &str| {
        let lower = sentence.to_lowercase();
        let is_flaky = text::contains_any_words(&lower, &["flaky", "flake"]);
        let has_subject = !statement::names(sentence).is_empty() || sentence.contains('`') || is_flaky;
        let is_open = sentence.ends_with(['?', '？', ':', '：']) || prose::is_narration(sentence) || signs::is_guess(&lower);
        // What is as it should be, or only stands in the log, is no cause.
        let is_aside =
            text::contains_any_words(&lower, &["pass now", "passes now", "let me", "i'll", "suggests", "separate problem"])
                || lower.trim_end_matches('.').ends_with("expected")
                || (signs::is_of_others(&lower) && !is_flaky)
                || lower.starts_with("i see ");
        has_subject && !is_open && !is_aside && !tells_deed_or_success(&lower)
    };
    let bare = |sentence: &str| {
        let sentence = prose::strip_interjection(sentence).replace("**", "");
        let lower = sentence.to_lowercase();
        let opening = OPENINGS.iter().find_map(|opening| lower.strip_prefix(opening));
        let rest = opening.filter(|_| lower.len() == sentence.len()).map(|rest| &sentence[sentence.len() - rest.len()..]);
        let rest = rest.filter(|rest| rest.trim_start().starts_with([':', '—', '-', '–', ',', '.']));
        rest.unwrap_or(&sentence).trim_start_matches([' ', ':', '—', '-', '–', ',', '.']).to_owned()
    };
    if clears_work(said) {
        return None;
    }
    let at = sentences.iter().position(|sentence| is_told(sentence))?;
    let first = bare(&sentences[at]);
    let both = sentences.get(at + 1).filter(|next| is_told(next)).map(|next| format!("{first} {next}"));
    both.filter(|both| DIAGNOSIS_CHARS.contains(&both.chars().count()))
        .or_else(|| Some(first).filter(|first| DIAGNOSIS_CHARS.contains(&first.chars().count())))
}

/// Returns whether a text says that the failure has nothing to do with the work.
fn clears_work(said: &str) -> bool {
    text::contains_words(&said.to_lowercase(), "unrelated")
}

/// Returns whether a sentence in lower case tells what was done next, answers a question, or says that all is well: that is no cause.
fn tells_deed_or_success(lower: &str) -> bool {
    const OPENINGS: [&str; 9] =
        ["re-triggered", "retriggered", "re-ran", "reran", "restarted", "pushed", "fixed", "committed", "to answer"];
    let passes = text::contains_any_words(lower, &["passed", "succeeded", "successfully", "is green"]);
    let fails = || text::contains_any_words(lower, &["but", "fail", "fails", "failed", "flaky", "flake", "not"]);
    OPENINGS.iter().any(|words| text::starts_with_words(lower, words)) || (passes && !fails())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::labels::labels;

    const LOG: &str = "test\tRun tests\t2026-01-02T03:04:05Z ##[error]Process completed with exit code 1. The till is open.";

    fn told(logs: &CiLogs) -> Vec<String> {
        logs.memories(labels(text::Language::English)).map(|memory| memory.title).collect()
    }

    #[test]
    fn what_the_agent_says_of_a_log_is_why_it_failed() {
        let mut logs = CiLogs::default();
        logs.agent_said("The till in `open.ts` is never closed.");
        assert!(told(&logs).is_empty(), "no log was read");
        let passed = "test\tRun tests\t2026-01-02T03:04:05Z 14 slips were printed by the till of the shop, 0 failed.";
        logs.ran("gh run view 12 --log | grep slips", passed, &LineRef::default());
        logs.agent_said("That explains it: `open.ts` prints all slips of the till.");
        assert!(told(&logs).is_empty(), "nothing failed");
        let errors =
            "test\tRun tests\t2026-01-02T03:04:05Z error: the slips of the shop are printed, which is what the test wants.";
        logs.ran("gh run view 12 --log | grep slips", errors, &LineRef::default());
        logs.agent_said("The till in `open.ts` is never closed.");
        assert!(told(&logs).is_empty(), "no job is known to have failed");
        logs.ran("gh run view 12 --log-failed 2>&1 | tail -80", LOG, &LineRef::default());
        logs.agent_said("Both are clear: the failure of `open.ts` is unrelated. The drawer of `close.ts` is never closed.");
        logs.agent_said("The slip of `open.ts` is not printed either.");
        assert!(told(&logs).is_empty(), "it has nothing to do with the work");
        logs.ran("gh run view 12 --log-failed 2>&1 | tail -80", LOG, &LineRef::default());
        logs.agent_said("Let me look at the job.");
        logs.agent_said("Found it — `open_unix_test.go` is never built on this machine. Let me run it in a container.");
        logs.file_changed("till/open.go");
        assert_eq!(
            told(&logs),
            [
                "CI failed: `open_unix_test.go` is never built on this machine. Tried, not seen to pass: a change of `till/open.go`"
            ]
        );
        let mut later = logs.clone();
        later.committed();
        later.ran("gh run view 12 --log-failed", LOG, &LineRef::default());
        later.agent_said("Progress, the tests of the till pass now. Let me look at the drawer.");
        assert!(told(&later)[0].ends_with("Fixed by: a change of `till/open.go`"));
        logs.passed();
        assert!(told(&logs)[0].ends_with("Fixed by: a change of `till/open.go`"));
        logs.committed();
        logs.file_changed("till/close.go");
        logs.ran("gh run view 13 --log-failed", LOG, &LineRef::default());
        logs.agent_said("This is probably the drawer of `close.go`. The 404 of `open.go` is expected. - `a.go` is old");
        assert_eq!(told(&logs).len(), 1, "a guess, and what is as it should be");
        logs.ran("gh run view 14 --log-failed", LOG, &LineRef::default());
        logs.agent_said("The lamp of `close.go` is dark. It is pre-existing, and not caused by this drawer.");
        assert_eq!(told(&logs).len(), 2, "only what fails");
        logs.all.pop();
        logs.ran("gh run view 14 --log-failed", LOG, &LineRef::default());
        logs.agent_said("The same failures of `close.go` are on `main` too. That of `open.go` is pre-existing.");
        assert_eq!(told(&logs).len(), 1, "no cause");
        logs.agent_said("Re-triggered the job of `close.go`. The check of `close.go` passed at the first attempt.");
        assert_eq!(told(&logs).len(), 1, "no cause either");
        logs.file_changed("till/close.go");
        logs.agent_said("The drawer of `close.go` is closed at night now.");
        assert_eq!(told(&logs).len(), 1, "what was changed");
    }
}
