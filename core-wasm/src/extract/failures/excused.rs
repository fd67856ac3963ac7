//! Checks that fail for no fault of the session: because of what was there before it, of the machine, or by chance. A commit or a report
//! that all is well mends none of that, so the next session meets it again.

use serde::{Deserialize, Serialize};

use super::display::{display_command, failure_text, is_whole};
use super::failure::{Failure, Subject};
use super::normalize::normalize;
use crate::extract::commands::{self, Class};
use crate::extract::labels::Labels;
use crate::extract::memories::SessionMemory;
use crate::extract::{prose, signs, statement};
use crate::said_by::SaidBy;
use crate::text;

/// The maximum number of such failures in a session.
const MAX_EXCUSED: usize = 3;
/// After how many texts of the agent an excuse is of something else.
const MAX_EXCUSE_AGE: u32 = 2;
/// The number of words from which an excuse without names says what is at fault.
const MIN_EXCUSE_WORDS: usize = 6;
/// Scripts that run all checks.
const OF_ALL: [&str; 3] = ["verify", "ci", "test:all"];

/// The failures that were excused and closed without being mended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Excused {
    all: Vec<Failure>,
}

impl Failure {
    /// Records what the agent said next, which may say that the failure is not the session's.
    pub(super) fn excused_by(&mut self, said: &str) {
        let checks = matches!(commands::class(&self.what), Class::Test | Class::Check | Class::Build);
        let is_open =
            checks && self.age <= MAX_EXCUSE_AGE && self.excuse.is_empty() && !commands::is_invocation(&self.error);
        if self.subject != Subject::Command || !is_open {
            return;
        }
        let excuse = |sentence: &String| {
            let lower = sentence.to_lowercase();
            let asks = sentence.ends_with(['?', '？', ':', '：']) || text::contains_any_words(&lower, &["if", "whether"]);
            let is_told = !asks && !prose::is_narration(sentence) && !supposes(&lower);
            is_told && signs::excuses(&lower)
        };
        let Some(sentence) = text::sentences(said).into_iter().find(excuse) else { return };
        prose::strip_interjection(&sentence).clone_into(&mut self.excuse);
    }

    /// Returns why the failure is not the session's, if what was said tells that to a reader of tomorrow.
    pub(super) fn excuse(&self) -> Option<String> {
        if self.excuse.is_empty() || self.error.is_empty() {
            return None;
        }
        says_much(&self.excuse).then(|| self.excuse.clone())
    }
}

/// Returns whether an excuse tells a reader of tomorrow what is at fault. "The failures are pre-existing on main" names nothing.
fn says_much(said: &str) -> bool {
    let bare = said.replace("pre-existing", "").replace("Pre-existing", "");
    !statement::names(&bare).is_empty() || text::features(said).len() >= MIN_EXCUSE_WORDS
}

/// Returns whether a sentence seems to name a cause and only says, or supposes, that the failure is not the session's.
pub(super) fn only_excuses(said: &str) -> bool {
    let lower = said.to_lowercase();
    signs::excuses(&lower) && (supposes(&lower) || !says_much(said))
}

fn supposes(lower: &str) -> bool {
    signs::is_guess(lower) || text::contains_any_words(lower, &["look", "looks"])
}

impl Excused {
    /// Keeps a failure that ends although it was not mended.
    pub(super) fn closed(&mut self, failure: &Failure) {
        if failure.excuse().is_none() {
            return;
        }
        self.all.retain(|known| !commands::same_purpose(&known.what, &failure.what));
        self.all.push(failure.clone());
        if self.all.len() > MAX_EXCUSED {
            self.all.remove(0);
        }
    }

    /// Records a change of a file: what passes after it may have been mended.
    pub(super) fn file_changed(&mut self) {
        self.all.iter_mut().for_each(|failure| failure.edited = true);
    }

    /// Records a command that passed. The same check is mended with it, and a script that runs all checks is the way to run that one.
    pub(super) fn passed(&mut self, command: &str) {
        if self.all.is_empty() {
            return;
        }
        let shown = display_command(command);
        let is_own = |failure: &Failure| {
            let own = display_command(&failure.what);
            own == shown || commands::chained(command).into_iter().any(|it| display_command(it) == own)
        };
        self.all.retain(|failure| !is_own(failure));
        let main = commands::main_segment(command);
        let runs_all = is_whole(&shown) && OF_ALL.iter().any(|name| commands::own_words(main).contains(name));
        for failure in self.all.iter_mut().filter(|failure| runs_all && !failure.edited && failure.cured_by.is_empty()) {
            failure.cured_by.clone_from(&shown);
        }
    }

    /// Returns whether a check was excused and is told.
    pub(super) fn tells(&self, failure: &Failure) -> bool {
        self.all.iter().any(|known| commands::same_purpose(&known.what, &failure.what))
    }

    /// Returns what the next session meets again.
    pub(super) fn memories(&self, labels: &Labels) -> impl Iterator<Item = SessionMemory> {
        self.all.iter().filter_map(|failure| {
            let excuse = failure.excuse()?;
            let what = format!("`{}`", display_command(&failure.what));
            let fix = if failure.cured_by.is_empty() { String::new() } else { format!("`{}`", failure.cured_by) };
            let fix = (labels.fixed_by, fix.as_str());
            let content = failure_text(&what, failure.times, &normalize(&failure.error), &normalize(&excuse), fix, labels);
            Some(SessionMemory {
                key: format!("excused:{:08x}", text::hash(&failure.what)),
                kind: "learning".to_owned(),
                title: content,
                keywords: failure.keywords(labels),
                importance: 60,
                source: failure.source.clone(),
                said_by: SaidBy::Tool,
                ..SessionMemory::default()
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Failures;
    use crate::extract::labels::{Labels, labels};
    use crate::extract::memories::LineRef;
    use crate::text;

    fn english() -> &'static Labels {
        labels(text::Language::English)
    }

    fn excused(command: &str, error: &str, said: &str) -> Failures {
        let mut failures = Failures::default();
        failures.command_failed(command, error, &LineRef::default(), 1, english());
        failures.agent_said(said);
        failures
    }

    fn told(failures: &Failures) -> Vec<String> {
        failures.drafts(english()).map(|draft| draft.content).filter(|said| said.contains("fails")).collect()
    }

    const SAID: &str = "The only failure is the test of the drawer, which needs `TILL_URL`. That is a pre-existing environment \
                        issue of the test in `drawer/open.test.ts`.";

    #[test]
    fn what_is_not_the_sessions_fault_outlives_its_commit() {
        let mut failures = excused("bun run test", "error: TILL_URL is missing", SAID);
        failures.checks_reported_passing();
        failures.checks_committed("git commit -m x", english());
        let expected = "`bun run test` fails: error: TILL_URL is missing. Cause: That is a pre-existing environment issue of the \
                        test in `drawer/open.test.ts`.";
        assert_eq!(told(&failures), [expected]);
        failures.command_passed("bun run verify", english());
        assert_eq!(told(&failures), [format!("{expected} Fixed by: `bun run verify`")]);
        failures.command_passed("bun run test", english());
        assert!(told(&failures).is_empty());
    }

    #[test]
    fn what_the_session_broke_is_not_told_after_its_commit() {
        let mut failures =
            excused("bun run test", "error: expected 3", "The test of the drawer fails because it counts to 2.");
        failures.checks_committed("git commit -m x", english());
        assert!(told(&failures).is_empty());
        let mut failures = excused("bun run test", "error: expected 3", "Those failures are pre-existing on main.");
        assert!(told(&failures).is_empty(), "that is no cause");
        failures.checks_committed("git commit -m x", english());
        assert!(told(&failures).is_empty());
        let guess = "The 3 failures in `drawer/open.test.ts` look pre-existing and not related to our drawer.";
        assert!(told(&excused("bun run test", "error: expected 3", guess)).is_empty());
        let asked = "Let me see whether that failure of `drawer/open.test.ts` is pre-existing on the main branch.";
        let mut failures = excused("bun run test", "error: expected 3", asked);
        failures.checks_committed("git commit -m x", english());
        assert!(told(&failures).is_empty());
    }

    #[test]
    fn a_run_that_leaves_it_out_mends_nothing() {
        let mut failures = excused("bun run test", "error: TILL_URL is missing", SAID);
        failures.command_passed("bun test src/cart.test.ts", english());
        assert_eq!(told(&failures).len(), 1);
    }
}
