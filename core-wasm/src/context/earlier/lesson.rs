//! What one memory of a session teaches: what failed, why, what mended it, and how much that says to another session.

use super::ban::forbids;
use super::mended::tells_mended_code;
use super::named::{folders, names_of_code};
use super::words::{are_same_words, words_of_error};
use crate::bindings::throughline::policy::types::{Memory, SessionRecord};
use crate::context::line;
use crate::context::page::is_routine;
use crate::extract::commands::{self, Class};
use crate::extract::labels::{self, Labels};
use crate::text;

/// From how many memories of one trouble on a cause must hold for others too.
const MANY_CAUSES: usize = 4;

/// How what failed edits teach begins.
pub(super) const EDIT: &str = "edit of ";

/// The maximum length of a cure that an earlier session found, in characters.
const MAX_CURE_CHARS: usize = 110;

/// What a session ran into.
pub(super) struct Lesson<'m> {
    pub memory: &'m Memory,
    /// Whether it is a failure, and not what somebody said.
    is_failure: bool,
    cause: &'m str,
    fix: &'m str,
    /// Whether the fix only goes around it.
    pub is_bypassed: bool,
    /// The program that this machine does not have, if it says so.
    missing: Option<&'m str>,
    /// The words of the cure.
    cure: text::Features,
    /// The words of what failed and how.
    error: text::Features,
    /// The folders that the cause and the cure name.
    folders: Vec<&'m str>,
}

impl<'m> Lesson<'m> {
    pub(super) fn of(memory: &'m Memory) -> Self {
        let (said, cause, fix) = line::parse_failure(&memory.content);
        let is_of_command = said.starts_with('`');
        // What somebody wrote down himself has another form. A failure that was left open is something learned.
        let is_failure = match memory.kind.as_str() {
            "error_fix" | "failure" => is_of_command || !cause.is_empty() || !fix.is_empty(),
            "learning" => is_of_command && !cause.is_empty(),
            _ => false,
        };
        let missing = missing_program(&memory.content).filter(|_| memory.kind == "error_fix");
        let (said, cause, fix) = if is_failure && missing.is_none() { (said, cause, fix) } else { ("", "", "") };
        let error = said.split_once("` ").filter(|_| is_of_command).map_or(said, |(_, error)| error);
        let error = error.split_once(": ").map_or(error, |(_, error)| error);
        let named = if is_failure { [cause, fix] } else { [memory.content.as_str(), ""] };
        let folders = named.into_iter().flat_map(folders).collect();
        let error = words_of_error(error);
        let is_bypassed = is_failure && line::is_bypassed(&memory.content);
        Self { memory, is_failure, cause, fix, is_bypassed, missing, cure: text::features(fix), error, folders }
    }

    /// Returns how much it says among others of the same trouble: a cure that lasted, what helped most often, and the cause, if it is
    /// that of others too. Of equals, what was learned most often counts, and then the latest.
    pub(super) fn says(&self, trouble: &[&Self]) -> (bool, u32, bool, u8, u32, u64) {
        // An edit that failed and names no other tool was mended by another edit.
        let is_mended = !self.fix.is_empty() || (self.is_edit() && !self.cause.is_empty());
        let is_same_cure = |it: &&&Self| is_mended && it.cure == self.cure;
        let cured = trouble.iter().filter(is_same_cure).fold(0, |all: u32, it| all.saturating_add(it.memory.seen.max(1)));
        let is_known =
            |name: &str| trouble.iter().any(|it| it.memory.id != self.memory.id && it.memory.content.contains(name));
        let is_general = trouble.len() < MANY_CAUSES || names_of_code(self.cause).all(is_known);
        // What was said after a command failed may be about something else.
        let is_of_error = || {
            !self.memory.content.starts_with('`')
                || self.error.is_empty()
                || text::features(self.cause).iter().any(|word| self.error.contains(word))
        };
        let is_other = |it: &&&Self| it.memory.id != self.memory.id;
        let is_of_folder = || trouble.iter().filter(is_other).any(|it| self.shares_folder(it));
        let cause = match self.cause.is_empty() {
            true => 1,
            false if trouble.len() < MANY_CAUSES || is_of_error() || is_of_folder() => 2,
            false => 0,
        };
        (cured > 0 && self.has_lasted(trouble), cured, is_general, cause, self.memory.seen, self.memory.created)
    }

    /// Returns whether it was mended and not only gone around, and no later session went around it or left it open.
    fn has_lasted(&self, trouble: &[&Self]) -> bool {
        let is_unmended_later =
            |it: &&Self| (it.is_bypassed || it.is_left_open()) && it.memory.created > self.memory.created;
        !self.is_bypassed && (self.is_usual(trouble) || !trouble.iter().any(is_unmended_later))
    }

    /// Returns whether its cure came back, or is routine. A routine failure that is left open says nothing about the cure.
    pub(super) fn is_usual(&self, trouble: &[&Self]) -> bool {
        is_routine(self.memory)
            || self.memory.seen > 1
            || trouble.iter().any(|it| it.memory.id != self.memory.id && it.cure == self.cure)
    }

    /// Returns whether a session after its own left the same error open. `sessions` are the newest ones, the newest first.
    pub(super) fn is_open_again(&self, sessions: &[SessionRecord]) -> bool {
        let own = sessions.iter().position(|record| record.id == self.memory.session_id).unwrap_or(sessions.len());
        let notes = sessions[..own].iter().filter_map(|record| record.notes.as_ref());
        let program = |said: &str| said.trim_start_matches('`').split_whitespace().next().unwrap_or_default().to_owned();
        let own_program = program(&self.memory.content);
        notes.flat_map(|notes| &notes.errors).any(|error| {
            let said = error.split_once("`: ").map_or(error.as_str(), |(_, error)| error);
            program(error) == own_program && are_same_words(&self.error, &words_of_error(said))
        })
    }

    /// Returns what failed and how, without what mended it.
    pub(super) fn without_fix(&self) -> Option<String> {
        let told = self.memory.content.strip_suffix(self.fix).filter(|_| !self.fix.is_empty() && !self.is_bypassed)?;
        let labels = line::LANGUAGES.map(|language| format!("{}: ", labels::labels(language).fixed_by));
        labels.iter().find_map(|label| told.strip_suffix(label.as_str())).map(|told| told.trim_end().to_owned())
    }

    /// Returns what mended the same error in another session, if nothing mended it here.
    pub(super) fn cure_in(&self, trouble: &[&Self]) -> Option<String> {
        if !self.is_failure || !(self.fix.is_empty() || self.is_bypassed) || self.is_edit() {
            return None;
        }
        let mends = |it: &&&Self| {
            it.memory.session_id != self.memory.session_id
                && !it.fix.is_empty()
                && !it.is_bypassed
                && !it.is_slip()
                && are_same_words(&self.error, &it.error)
        };
        let cure = trouble.iter().filter(mends).max_by_key(|it| it.memory.created)?.fix;
        Some(line::truncate(&line::sanitize(cure), MAX_CURE_CHARS))
    }

    /// Returns whether it is about edits of files.
    pub(super) fn is_edit(&self) -> bool {
        self.is_failure && self.memory.content.starts_with(EDIT)
    }

    pub(super) fn is_left_open(&self) -> bool {
        self.is_failure && self.memory.kind == "learning"
    }

    /// Returns whether a check failed for a cause in code of its day, or was left failing: much has been run since then.
    pub(super) fn is_slip(&self) -> bool {
        let is_mended_in_code = self.fix.is_empty() || self.is_bypassed || is_change_of_file(self.fix);
        self.is_left_open() || (self.is_routine() && is_mended_in_code && names_of_code(self.cause).next().is_some())
    }

    /// Returns whether it tells what holds on this machine or with these tools, whatever the work is about: a program that is not there, or
    /// another command as the cure. A failure that a change of a file mended does not come back, and where branches stood or what a server
    /// answered was true for one day.
    pub(super) fn is_of_environment(&self) -> bool {
        // The wrong folder is a slip, and says nothing of the machine.
        let is_slip = || is_change_of_file(self.fix) || is_form(self.fix, |words| words.in_root);
        let is_command = || self.is_mended_by_another() && !self.is_bypassed && !is_slip();
        let has_cure = || is_command() || self.memory.content.contains("; run `");
        self.missing.is_some() || (self.is_failure && !is_routine(self.memory) && has_cure() && !self.is_of_moment())
    }

    /// Returns whether what somebody wrote down names where the work is done: an address, or what that place does not let the agent do.
    pub(super) fn names_environment(&self) -> bool {
        const PLACES: [&str; 5] = ["this environment", "sandbox", "from within", "for subagents", "by subagents"];
        let content = self.memory.content.as_str();
        let is_address = |word: &str| {
            let parts = || word.split('.');
            parts().count() == 4
                && parts().all(|part| matches!(part.len(), 1..=3) && part.bytes().all(|c| c.is_ascii_digit()))
        };
        let mut words = content.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').map(|word| word.trim_matches('.'));
        !content.starts_with('`') && (text::contains_any(&content.to_lowercase(), &PLACES) || words.any(is_address))
    }

    /// Returns whether tests or a check were left failing as they did before. An agent that knows this does not look for a fault of its own.
    pub(super) fn is_known_failure(&self) -> bool {
        const BEFORE: [&str; 6] = ["pre-existing", "preexisting", "already failing", "기존", "既存", "原有"];
        self.is_left_open() && text::contains_any(&self.cause.to_lowercase(), &BEFORE)
    }

    /// Returns whether the command that failed depends on the moment: on where branches stand, on a server, or on a script that was written
    /// for one use. A command whose beginning is cut off counts as such, because nobody knows what it ran.
    fn is_of_moment(&self) -> bool {
        const BRANCHES: [&str; 8] = ["checkout", "switch", "branch", "rebase", "merge", "stash", "cherry-pick", "pull"];
        let command = self.memory.content.split('`').nth(1).unwrap_or_default();
        let words = commands::own_words(commands::main_segment(command));
        match words.first().copied().unwrap_or_default() {
            "git" => words.get(1).is_some_and(|word| BRANCHES.contains(word)),
            "curl" | "wget" => true,
            // What a linter complained of is mended in the code.
            _ => command.starts_with('…') || words.contains(&"-c") || matches!(commands::class(command), Class::Check),
        }
    }

    /// Returns the program that this machine does not have, if it says nothing more.
    pub(super) fn only_missing(&self) -> Option<&'m str> {
        self.missing.filter(|name| not_installed(name).any(|said| said == self.memory.content))
    }

    /// Returns whether somebody wrote down a fault of the code with the change that mended it: neither comes back. A cure that is to be
    /// run or set is needed again.
    pub(super) fn is_mended_for_good(&self) -> bool {
        let is_written = !self.is_left_open() && !self.memory.content.starts_with('`') && !self.is_edit();
        is_written
            && matches!(self.memory.kind.as_str(), "error_fix" | "learning")
            && tells_mended_code(&self.memory.content)
    }

    /// Returns whether a job of the CI failed once, and was mended or came before the recent sessions: the next change ran it again. One that
    /// fails now and then does so on.
    pub(super) fn is_job_of_its_day(&self, is_recent: bool) -> bool {
        const NOW_AND_THEN: [&str; 5] = ["flaky", "flake", "intermittent", "intermittently", "now and then"];
        let content = self.memory.content.as_str();
        let tells_job =
            |words: &Labels| words.ci_failed.split("{}").next().is_some_and(|opening| content.starts_with(opening));
        line::LANGUAGES.map(labels::labels).into_iter().any(tells_job)
            && (!is_recent || !line::parse_failure(content).2.is_empty())
            && !text::contains_any_words(&content.to_lowercase(), &NOW_AND_THEN)
    }

    /// Returns whether it says more than that something failed and passed later, or that the user steered once.
    pub(super) fn is_explained(&self) -> bool {
        // What the agent took a correction to mean is not the human's ban.
        let labels = line::LANGUAGES.map(|language| format!(" ({}: ", labels::labels(language).understood));
        let content = self.memory.content.as_str();
        let own = labels.iter().find_map(|label| content.split_once(label.as_str())).map_or(content, |(own, _)| own);
        let forbids = || forbids(&own.to_lowercase().replace('’', "'"));
        match self.memory.kind.as_str() {
            "correction" => forbids() && !self.is_about_one_call(),
            _ => !self.is_failure || !self.cause.is_empty(),
        }
    }

    /// Returns whether the user refused a call and said so of "this": what it was is over.
    fn is_about_one_call(&self) -> bool {
        let refused = line::LANGUAGES.map(labels::labels).map(|words| words.refused.split("{}").next().unwrap_or_default());
        let said =
            refused.iter().find_map(|label| self.memory.content.split_once(label)).map(|(said, _)| said.to_lowercase());
        // "This database" stays.
        let is_pointer = |said: &str| {
            let mut words = said.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).rev();
            // "Don't check this in yet"
            let last = words.find(|word| !matches!(*word, "in" | "yet" | "now" | "here" | "up"));
            last.is_some_and(|word| matches!(word, "this" | "these" | "it"))
                || text::contains_any(said, &["이건", "이거", "これ", "这个"])
        };
        said.is_some_and(|said| {
            let said = said.trim_end_matches(['(', ' ']);
            is_pointer(said) && !text::contains_any_words(said, &["never", "always"])
        })
    }

    /// Returns whether a check or a tool failed once, as they do in each session.
    pub(super) fn is_routine(&self) -> bool {
        let command = self.memory.content.strip_prefix('`').and_then(|rest| rest.split_once('`'));
        let is_check = command.is_none_or(|(command, _)| {
            matches!(commands::class(command), Class::Test | Class::Check | Class::Build | Class::Commit | Class::Inspect)
        });
        self.is_failure && (is_check || self.memory.kind == "failure" || self.fix.is_empty())
    }

    /// Returns whether both are about the same trouble: the same error, or a failure whose cause or cure names the same folder.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        if self.missing.is_some() || other.missing.is_some() {
            return self.missing == other.missing;
        }
        if is_about_quotes(&self.memory.content) && is_about_quotes(&other.memory.content) {
            return true;
        }
        // What a formatter mends is one trouble, whatever it complained of.
        let is_same_cure =
            is_routine(self.memory) && is_routine(other.memory) && !self.fix.is_empty() && self.fix == other.fix;
        let is_failure = self.is_failure || other.is_failure;
        let is_same_cure = is_same_cure
            || (self.fix == other.fix
                && self.is_of_environment()
                && other.is_of_environment()
                && self.is_mended_by_another());
        are_same_words(&self.error, &other.error) || is_same_cure || (is_failure && self.shares_folder(other))
    }

    /// Returns whether a command mended it that is no other form of the one that failed: `make rules` for `make till`.
    fn is_mended_by_another(&self) -> bool {
        let program = |said: &str| -> Vec<String> {
            let command = said.split('`').nth(1).unwrap_or_default();
            commands::main_segment(command).split_whitespace().take(2).map(str::to_owned).collect()
        };
        self.fix.starts_with('`') && program(self.fix) != program(&self.memory.content)
    }

    /// Returns whether both name the same folder.
    fn shares_folder(&self, other: &Self) -> bool {
        self.folders.iter().any(|folder| other.folders.contains(folder))
    }
}

/// Returns whether a cure is a change of a file.
fn is_change_of_file(fix: &str) -> bool {
    is_form(fix, |words| words.changed_file)
}

/// Returns whether a text says that the shell needs quotes around something. That is one trouble, whatever stands in the quotes.
fn is_about_quotes(said: &str) -> bool {
    is_form(said, |words| words.unquoted)
}

/// Returns whether a text is a label with something in its place, in any language.
fn is_form(said: &str, of: impl Fn(&Labels) -> &'static str) -> bool {
    line::LANGUAGES.map(labels::labels).into_iter().any(|words| {
        let (before, after) = of(words).split_once("{}").unwrap_or_default();
        said.starts_with(before) && said.ends_with(after)
    })
}

/// Returns the program that this machine does not have, if a text says so.
fn missing_program(said: &str) -> Option<&str> {
    let name = said.split('`').nth(1)?;
    not_installed(name).any(|form| said.starts_with(&form)).then_some(name)
}

/// Returns how it is said that this machine does not have a program, in each language.
fn not_installed(name: &str) -> impl Iterator<Item = String> {
    let quoted = format!("`{name}`");
    line::LANGUAGES.map(labels::labels).into_iter().map(move |words| words.not_installed.replace("{}", &quoted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::throughline::policy::types::SessionNotes;
    use crate::context::earlier::tests::{at, failure};
    use crate::context::overtaken::tests::empty_notes;

    #[test]
    fn the_usual_cure_is_told_and_no_cause_of_one_session() {
        let all = [
            failure("1", "`make till` fails: no rule for the till. Fixed by: `make rules`"),
            failure("2", "`make till` fails: no rule for the till. Cause: `tillTotal` is new. Fixed by: `make rules`"),
            failure("3", "`make till` fails: no rule for the till. Cause: Nobody made it. Fixed by: `make all`"),
            failure("4", "`make till` fails: no rule for the till. Cause: The drawer stands open. Fixed by: `make rules`"),
        ];
        let lessons: Vec<Lesson> = all.iter().map(Lesson::of).collect();
        let trouble: Vec<&Lesson> = lessons.iter().collect();
        let best = trouble.iter().max_by_key(|it| it.says(&trouble)).unwrap();
        assert_eq!(best.memory.session_id, "1", "neither a name of one session, nor what has no word of the error");
        let few = [&lessons[0], &lessons[1]];
        assert_eq!(few.iter().max_by_key(|it| it.says(&few)).unwrap().memory.session_id, "2");
    }

    #[test]
    fn a_cause_in_the_folder_of_others_is_told() {
        let cure = "Fixed by: `rm -rf shop/toys`";
        let all = ["3 fail.", "5 fail. Cause: They are left over in shop/toys.", "7 fail.", "8 fail."]
            .map(|said| failure(said, &format!("`make till` fails: {said} {cure}")));
        let lessons: Vec<Lesson> = all.iter().map(Lesson::of).collect();
        let trouble: Vec<&Lesson> = lessons.iter().collect();
        assert_eq!(trouble.iter().max_by_key(|it| it.says(&trouble)).unwrap().memory.content, all[1].content);
    }

    #[test]
    fn a_cause_in_code_and_what_was_left_open_are_of_their_day() {
        let is_slip =
            |kind: &str, content: &str| Lesson::of(&Memory { kind: kind.to_owned(), ..failure("1", content) }).is_slip();
        let fails = "`make lint` fails: 2 problems. Cause:";
        assert!(is_slip("error_fix", &format!("{fails} `tillTotal` is unused. Fixed by: a change of `src/till.rs`")));
        assert!(is_slip("learning", &format!("{fails} The drawer is open.")));
        assert!(!is_slip(
            "error_fix",
            &format!("{fails} The linter wants a full stop. Fixed by: a change of `src/till.rs`")
        ));
        assert!(!is_slip("error_fix", &format!("{fails} `tillTotal` is unused. Fixed by: `make rules`")));
    }

    #[test]
    fn a_failed_job_is_of_its_day() {
        let is_over = |content: &str, is_recent: bool| Lesson::of(&failure("1", content)).is_job_of_its_day(is_recent);
        assert!(
            is_over("CI failed: The drawer stands open.", false) && !is_over("CI failed: The drawer stands open.", true)
        );
        assert!(is_over("CI failed: The drawer stands open. Fixed by: a change of `till.yml`", true));
        assert!(!is_over("CI failed: The drawer test is flaky.", false) && !is_over("The drawer failed.", false));
    }

    fn best(all: &[Memory]) -> String {
        let lessons: Vec<Lesson> = all.iter().map(Lesson::of).collect();
        let trouble: Vec<&Lesson> = lessons.iter().collect();
        trouble.iter().max_by_key(|it| it.says(&trouble)).unwrap().memory.session_id.clone()
    }

    fn session(id: &str, error: &str) -> SessionRecord {
        let notes = SessionNotes { errors: vec![error.to_owned()], ..empty_notes() };
        let (summary, topics, files) = Default::default();
        SessionRecord { id: id.to_owned(), started: None, ended: None, summary, topics, files, notes: Some(notes) }
    }

    #[test]
    fn a_cure_that_a_later_session_had_to_go_around_is_not_told() {
        let fails = "`git commit -m \"…\"` fails: the drawer hook is stuck.";
        let cured = |at_time: u64, session: &str| at(at_time, failure(session, &format!("{fails} Fixed by: `make key`")));
        let around = |at_time: u64, session: &str| {
            at(at_time, failure(session, &format!("{fails} Not mended, only bypassed by: `git commit --no-verify`")))
        };
        assert_eq!(best(&[cured(1, "1"), around(2, "2")]), "2");
        assert_eq!(best(&[around(1, "1"), around(2, "2"), cured(3, "3")]), "3", "the cure came last");
        assert_eq!(best(&[cured(1, "1"), around(2, "2"), cured(3, "3")]), "3", "it helped again");
    }

    #[test]
    fn a_cure_is_not_told_while_a_later_session_has_the_same_error_open() {
        let memory = failure("1", "`make till` fails: no rule for the old till. Fixed by: `make rules`");
        let (lesson, sessions) =
            (Lesson::of(&memory), [session("2", "`make till`: no rule for the old till"), session("1", "")]);
        assert!(lesson.is_open_again(&sessions) && !lesson.is_open_again(&sessions[1..]));
        assert!(!lesson.is_open_again(&[session("2", "`make till`: the cart is gone"), session("1", "")]));
        assert_eq!(lesson.without_fix().unwrap(), "`make till` fails: no rule for the old till.");
    }

    #[test]
    fn what_was_only_gone_around_has_the_cure_of_another_session() {
        let all = [
            failure("1", "`make till` fails: no rule for the old till. Fixed by: `make rules`"),
            failure("2", "`make till` fails: no rule for the old till. Not mended, only bypassed by: `make -i till`"),
            failure("3", "`make till` fails: the drawer of the new cart is open. Fixed by: `make shut`"),
        ];
        let all: Vec<Lesson> = all.iter().map(Lesson::of).collect();
        let trouble: Vec<&Lesson> = all.iter().collect();
        assert_eq!(all[1].cure_in(&trouble).as_deref(), Some("`make rules`"));
        assert_eq!(all[0].cure_in(&trouble), None);
    }

    #[test]
    fn another_edit_is_the_cure_of_most_failed_edits() {
        let fails = "fails (3×): Text not found. Cause: The file uses tabs.";
        let written = "Fixed by: writing the file with `python3`";
        let all = [
            failure("1", &format!("edit of a.ts {fails} {written}")),
            failure("2", &format!("edit of b.ts {fails}")),
            failure("3", &format!("edit of c.ts {fails}")),
        ];
        assert_ne!(best(&all), "1");
        assert_eq!(best(&[all[0].clone(), failure("4", &format!("edit of d.ts {fails} {written}")), all[1].clone()]), "4");
    }

    #[test]
    fn a_correction_that_forbids_is_more_than_steering() {
        let is_explained =
            |content: &str| Lesson::of(&Memory { kind: "correction".to_owned(), ..failure("1", content) }).is_explained();
        assert!(
            is_explained("don’t run the whole count, it is too slow") && is_explained("서랍은 열지 말아 주세요: 열지 말아")
        );
        assert!(is_explained("so please never open it") && is_explained("the key must stay here"));
        assert!(is_explained("don't open drawers (The user refused: `till open`)"));
        assert!(!is_explained("don't open this (The user refused: `till open`)"));
        assert!(!is_explained("don't hand this in yet (The user refused: `till close`)"));
        assert!(!is_explained("stop for a second, the drawer is the cause") && is_explained("stop opening the drawer"));
        assert!(is_explained("stop a running till before you count the drawer"));
        assert!(!is_explained("somebody else opens the till") && !is_explained("we don't need it, you can always open it"));
    }
}
