//! What a failure teaches once it is over: its cause and its cure.

use super::display::{display_command, failure_text, has_variable, is_whole};
use super::failure::{Failure, Subject, is_part_of};
use super::form::{is_only_other_message, is_same_but_options, missing, names_missing, other_path, without_display_options};
use super::normalize::normalize;
use super::slips::is_state_of_copy;
use crate::extract::commands::{self, Class};
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::{prose, signs, statement};
use crate::said_by::SaidBy;
use crate::text;

/// How many texts of the agent may stand between a failed build and the right way to build it.
const MAX_VARIANT_AGE: u32 = 3;
/// The weight from which on a cause names a rule rather than a slip.
const MIN_RULE_WEIGHT: u8 = 3;

/// The maximum number of failures of which it is counted how often the user had to mend them.
const MAX_NEEDED: usize = 16;
/// The maximum length of a command that is kept, in characters.
const MAX_COMMAND_CHARS: usize = 500;
/// The minimum length of an error that says something, in characters.
const MIN_ERROR_CHARS: usize = 6;

/// Words for what a command of a class does, in the languages of the labels.
const SUBJECTS: &[(Class, &[&str])] = &[
    (Class::Test, &["test", "테스트", "テスト", "测试"]),
    (Class::Check, &["lint", "type", "format", "check", "린트", "타입", "型", "类型"]),
    (Class::Build, &["build", "compil", "bundl", "빌드", "컴파일", "ビルド", "コンパイル", "构建", "编译"]),
    (Class::Commit, &["commit", "hook", "커밋", "훅", "コミット", "フック", "提交", "钩子"]),
];

impl Failure {
    /// Returns the failure of a command.
    pub(super) fn of(command: &str, error: &str, source: &LineRef) -> Self {
        // A long list of files may stand before what failed.
        let head = text::clip(command, MAX_COMMAND_CHARS);
        let is_kept = head == command || commands::class(&head) == commands::class(command);
        let what = if is_kept { head } else { text::clip(commands::main_segment(command), MAX_COMMAND_CHARS) };
        Failure { what: what.into_owned(), error: error.to_owned(), source: source.clone(), ..Failure::default() }
    }

    /// Returns whether a sentence says what such commands do.
    fn names_purpose(&self, said: &str) -> bool {
        let lower = said.to_lowercase();
        let class = commands::class(&self.what);
        // Code has hooks too, so they count only if one failed.
        let is_of_hook = || self.error.to_lowercase().contains("hook");
        let says = |word: &&str| text::contains(&lower, word) && (**word != *"hook" || is_of_hook());
        self.subject == Subject::Command && SUBJECTS.iter().any(|(of, words)| *of == class && words.iter().any(says))
    }

    /// Returns whether a sentence that names a cause speaks of this failure: it has a name or two words of the command or its
    /// error, or says what such commands do.
    pub(super) fn is_subject_of(&self, cause: &str) -> bool {
        if self.names_purpose(cause) {
            return true;
        }
        shares_words(&format!("{} {}", self.what, self.error), cause)
    }

    /// Returns whether a sentence has a name or two words of the error.
    fn is_error_in(&self, cause: &str) -> bool {
        shares_words(&self.error, cause)
    }

    /// Records that it failed with another error. What was said of the one before is not why, unless it names the new one too, or both are
    /// of a kind: "--- FAIL: one", "--- FAIL: two".
    pub(super) fn meets(&mut self, newer: &Failure) {
        let kind = |error: &str| error.split_whitespace().next().map(str::to_owned);
        if kind(&self.error) != kind(&newer.error) {
            self.said.retain(|said| shares_words(&newer.error, said));
            if !shares_words(&newer.error, &self.excuse) {
                self.excuse.clear();
            }
            self.what.clone_from(&newer.what);
            self.age = 0;
        }
    }

    /// Returns whether a remark on the blanks of a file is about this failed edit and not about another of `edits`.
    pub(super) fn is_meant_by(&self, remark: &str, edits: &[String]) -> bool {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        match edits.iter().find(|file| remark.contains(&name(file))) {
            Some(file) => *file == self.what,
            // A remark that names no file is about the latest.
            None => prose::file_in(remark).is_none() && edits.last() == Some(&self.what),
        }
    }

    /// Returns the changed file that mended a check: the only one that was changed, or the only one that the error or its cause names.
    fn mended_file(&self, cause: &str) -> Option<&str> {
        let [first, others @ ..] = self.edited_files.as_slice() else { return None };
        let only_named = |said: &str| {
            let mut named = self.edited_files.iter().filter(|file| names_path(said, file));
            named.next().filter(|_| named.next().is_none())
        };
        let named = only_named(&self.error).or_else(|| only_named(cause));
        if others.is_empty() { Some(first) } else { named.map(String::as_str) }
    }

    /// Returns whether no file was changed since a command failed that checks nothing, but something was done: another error means
    /// that this mended the first.
    pub(super) fn is_past_setting(&self) -> bool {
        let mends =
            |step: &String| is_whole(step) && !is_look(step) && step.trim_matches('`') != display_command(&self.what);
        !self.is_check() && !self.edited && !self.error.is_empty() && self.steps.iter().any(mends)
    }

    /// Returns whether a command that passed is the right way to build what a failed build names: the same words behind another verb,
    /// and no file was changed between them.
    pub(super) fn is_rightly_built_by(&self, command: &str) -> bool {
        // What costs least is asked first: this is asked of each failure after each command that passed.
        if self.subject != Subject::Command || self.edited || self.age > MAX_VARIANT_AGE {
            return false;
        }
        let (failed, passed) = (commands::main_segment(&self.what), commands::main_segment(command));
        let (failed_words, passed_words) = (commands::verb_words(failed), commands::verb_words(passed));
        let (failed_verb, passed_verb) = (failed_words.get(1), passed_words.get(1));
        let later: Vec<&str> = passed.split_whitespace().collect();
        let mut same = failed.split_whitespace().filter(|word| !word.contains('>') && Some(word) != failed_verb);
        matches!(failed_verb, Some(&("build" | "compile")))
            && passed_verb != failed_verb
            && !commands::targets(&self.what).is_empty()
            && same.all(|word| Some(&word) != passed_verb && later.contains(&word))
    }

    pub(super) fn is_check(&self) -> bool {
        self.subject == Subject::Command
            && matches!(commands::class(&self.what), Class::Test | Class::Check | Class::Build | Class::Commit)
    }

    /// Returns whether the error stands at a line of a file that was edited since then: the edit mended it, whatever check was run next.
    pub(super) fn is_mended_slip(&self) -> bool {
        let at = || self.error.split(':').next().unwrap_or_default();
        commands::is_located(&self.error) && self.edited_files.iter().any(|file| names_path(at(), file))
    }

    /// Returns the failure and its fix as a memory. None if that would only say that the work continued.
    pub(super) fn fix_memory(&self, command: Option<&str>, labels: &Labels) -> Option<SessionMemory> {
        // A word alone, such as "FAIL", says nothing.
        if self.error.chars().count() < MIN_ERROR_CHARS && !self.is_unexplained {
            return None;
        }
        let mut cause = self.cause();
        let mut fix = self.fix(command, labels);
        if is_only_other_message(&display_command(&self.what), fix.trim_matches('`'), &self.error) {
            fix.clear();
        }
        // What was said later may explain another failure of the same command, of its code.
        let is_commit = commands::class(&self.what) == Class::Commit;
        let may_differ = self.times > 1 && commands::is_environment(&self.error) && !is_commit;
        if may_differ && !fix.is_empty() && !self.is_error_in(&cause) {
            cause.clear();
        }
        // A linter finds several faults at a time: what was said of another one is not why this one is.
        if self.times > 1
            && commands::class(&self.what) == Class::Check
            && !commands::is_environment(&self.error)
            && !self.is_error_in(&cause)
        {
            cause.clear();
        }
        // A linter, a type checker or a hook that named its rule and was mended by a change: the next change may meet the same rule.
        let is_rule = matches!(commands::class(&self.what), Class::Check | Class::Commit)
            && self.edited
            && !text::contains_words(&self.error.to_lowercase(), "fail")
            && (prose::cause_weight(&cause) >= MIN_RULE_WEIGHT || self.names_purpose(&cause))
            && (tells_rule(&cause) || tells_rule(&self.error) || commands::is_environment(&self.error));
        let is_of_machine = commands::is_environment(&self.error);
        let is_test = commands::class(&self.what) == Class::Test;
        if fix.is_empty()
            && (is_rule || (is_of_machine && !is_test && !cause.is_empty()))
            && let Some(file) = self.mended_file(&cause)
        {
            fix = labels.changed_file.replace("{}", &format!("`{file}`"));
        }
        // If no file was changed, the code was not at fault: how the command was run was, or what it found.
        let is_cured_elsewhere = !self.edited && !fix.is_empty();
        let environment = is_cured_elsewhere || is_of_machine || commands::class(&self.what) == Class::Commit;
        // A hook that names its rule or its cure says all that the next commit needs.
        let is_of_rule = is_commit && commands::names_rule(&self.error) && !is_bypass(&fix);
        let explains_itself = is_of_rule || (is_commit && commands::has_advice(&self.error));
        if is_of_rule {
            (cause, fix) = (String::new(), String::new());
        } else if explains_itself && !is_bypass(&fix) && !commands::is_advised(&self.error, &fix) {
            fix.clear();
        }
        // What the linter's finding is called says nothing against a cause that tells the rule.
        let tells_only_rule = is_rule && tells_rule(&cause);
        let slip = if tells_only_rule { cause.clone() } else { format!("{} {cause}", self.error) };
        if !environment && signs::is_one_off(&slip.to_lowercase()) {
            return None;
        }
        let importance = match (environment, cause.is_empty()) {
            (true, _) => 70,
            (false, false) => 55,
            (false, true) => return None,
        };
        // It passes now. Without a cure it teaches nothing, unless the environment may fail again for the cause that was named.
        let is_mended = || self.edited && (is_test || self.edited_files.iter().any(|file| names_path(&cause, file)));
        let is_environmental = is_of_machine && !cause.is_empty() && !is_mended();
        if fix.is_empty() && !is_environmental && !explains_itself {
            return None;
        }
        // The shell was in another folder: a slip.
        let is_look = (commands::class(&self.what) == Class::Inspect || is_of_reader(&self.error))
            && text::contains_any(&self.error, &["No such file", "can't read"]);
        if is_look || self.error.contains("cd:") {
            return None;
        }
        // An option that the tool does not know was a slip if the command passed without it.
        if commands::is_unknown_option(&self.error) && is_part_of(fix.trim_matches('`'), &display_command(&self.what)) {
            return None;
        }
        if is_state_of_copy(&self.what, &self.error, &fix) {
            return None;
        }
        // The same command in another form that nobody sees.
        if fix.trim_matches('`') == display_command(&self.what) {
            return None;
        }
        let (error, cause, fix) = (normalize(&self.error), normalize(&cause), normalize(&fix));
        let what = format!("`{}`", display_command(&self.what));
        let fixed_by = match (is_bypass(&fix), self.is_bypass_allowed) {
            (false, _) => labels.fixed_by,
            (true, false) => labels.bypassed_by,
            (true, true) => labels.allowed_bypass,
        };
        let content = failure_text(&what, self.times, &error, &cause, (fixed_by, &fix), labels);
        let files = prose::file_in(&cause).into_iter().collect();
        Some(SessionMemory {
            key: format!("fix:{}:{:08x}", self.source.uuid, text::hash(&self.what)),
            kind: "error_fix".to_owned(),
            title: text::clip(&content, 200).into_owned(),
            why: cause,
            content,
            keywords: self.keywords(labels),
            files,
            importance,
            source: self.source.clone(),
            said_by: SaidBy::Tool,
            ..SessionMemory::default()
        })
    }

    /// Returns a failure that the same command did not meet again after the user did what the agent asked for.
    pub(super) fn mended_by_user(
        &self,
        command: &str,
        needed: &mut Vec<(u32, u32)>,
        labels: &Labels,
    ) -> Option<SessionMemory> {
        let shown = display_command(&self.what);
        let is_commit = commands::class(&self.what) == Class::Commit && commands::class(command) == Class::Commit;
        let is_same = shown == display_command(command) || is_commit;
        if !self.is_answered || self.needs.is_empty() || self.error.is_empty() || self.edited || !is_same {
            return None;
        }
        let verb = commands::verb_words(commands::main_segment(&self.what)).join(" ");
        let hash = text::hash(if is_commit {
            "git commit"
        } else if verb.contains(' ') {
            &verb
        } else {
            &shown
        });
        if !needed.iter().any(|(known, _)| *known == hash) {
            needed.push((hash, 0));
        }
        let times = needed.iter_mut().find(|(known, _)| *known == hash).map(|(_, times)| {
            *times += self.times;
            *times
        })?;
        needed.truncate(MAX_NEEDED);
        let (error, needs) = (normalize(&self.error), normalize(&self.needs));
        let content = failure_text(&format!("`{shown}`"), times, &error, "", (labels.needs_user, &needs), labels);
        Some(SessionMemory {
            key: format!("needs:{hash:08x}"),
            kind: "error_fix".to_owned(),
            title: text::clip(&content, 200).into_owned(),
            content,
            keywords: self.keywords(labels),
            // What happened again will happen again.
            importance: if times > self.times { 85 } else { 70 },
            source: self.source.clone(),
            said_by: SaidBy::Tool,
            ..SessionMemory::default()
        })
    }

    /// Returns what people call the purpose of the command in the language of the labels.
    pub(super) fn keywords(&self, labels: &Labels) -> Vec<String> {
        let class = (self.subject == Subject::Command).then(|| commands::class(&self.what));
        labels.purposes.iter().filter(|(purpose, _)| Some(*purpose) == class).map(|(_, word)| (*word).to_owned()).collect()
    }

    /// Returns the most informative sentences between failure and success, in order.
    pub(super) fn cause(&self) -> String {
        let mut ranked: Vec<(usize, u8)> =
            self.said.iter().enumerate().map(|(at, said)| (at, prose::cause_weight(said))).collect();
        ranked.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
        ranked.truncate(2);
        ranked.sort_unstable();
        // The second sentence must add something to the first.
        let mut chosen: Vec<&str> = Vec::new();
        for (at, _) in ranked {
            let said = self.said[at].as_str();
            if chosen.iter().all(|known| text::similarity(&text::features(known), &text::features(said)) < 0.6) {
                chosen.push(said);
            }
        }
        text::clip(&chosen.join(" "), 420).into_owned()
    }

    /// Returns what was different when it passed: the command itself, otherwise the last action before.
    fn fix(&self, command: Option<&str>, labels: &Labels) -> String {
        if let Some(step) = self.step_that_brought() {
            return step.clone();
        }
        let by_command = command.and_then(|command| self.fix_in_command(command));
        by_command.unwrap_or_else(|| self.fix_before(command, labels))
    }

    /// Returns the step that put there what was missing: it names it, no other one installs something, and nothing was done behind it.
    fn step_that_brought(&self) -> Option<&String> {
        let name = missing(&self.error)?;
        let mut steps = self.steps.iter().filter(|step| !is_look(step));
        let last = steps.next_back().filter(|step| names_missing(step, name) && self.may_bring(step))?;
        (!steps.any(|step| self.may_bring(step))).then_some(last)
    }

    /// Returns whether a step, as it is told, may have put something there: it installs or adds it.
    fn may_bring(&self, step: &str) -> bool {
        const VERBS: [&str; 8] = ["install", "add", "i", "enable", "link", "sync", "tap", "set-url"];
        let is_install = commands::class(step.trim_matches('`')) == Class::Install;
        let names_verb = || commands::own_words(step.trim_matches('`')).iter().any(|word| VERBS.contains(word));
        is_whole(step) && step.trim_matches('`') != display_command(&self.what) && (is_install || names_verb())
    }

    /// Returns what is different in the command that passed. Empty if that is not to be told, none if nothing is.
    fn fix_in_command(&self, command: &str) -> Option<String> {
        if let Some(segment) = other_path(&self.what, command, &self.error) {
            return Some(format!("`{}`", text::one_line(segment)));
        }
        if is_other_place(&self.what, command, &self.error) {
            return None;
        }
        // Two commands of another machine are not forms of one, though the same program carries them there.
        let verb = |line: &str| remote_command(commands::main_segment(line)).map(|it| commands::verb_words(it).join(" "));
        if let (Some(failed), Some(passed)) = (verb(&self.what), verb(command))
            && failed != passed
        {
            return Some(String::new());
        }
        let command = &commands::with_values(command);
        let curing = commands::curing_segment(&self.what, command);
        let (before, after) = (display_command(&self.what), display_command(curing));
        // A command of another program is no form of the one that failed. A pull request needs its branch pushed, and what runs a
        // program may not know it.
        let is_own = commands::runs_program_of(&self.what, command)
            || commands::class(&self.what) == Class::Publish
            || commands::is_unknown_subcommand(&self.error);
        let is_same = without_display_options(&before) == without_display_options(&after);
        // Where the check itself passed, another one on its line did nothing.
        let passes_itself = self.is_check() && commands::segments(command).iter().any(|it| display_command(it) == before);
        // What is missing is not brought by an option, and a fault in a file is not mended by leaving the file out.
        let changes_nothing = (missing(&self.error).is_some() && is_same_but_options(&before, &after))
            || (commands::is_located(&self.error) && is_part_of(&after, &before));
        let is_other = !is_same && !self.tried.contains(&after) && is_own && !passes_itself && !changes_nothing;
        let is_way = commands::class(&self.what) != Class::Test
            || self.is_rightly_built_by(command)
            || (commands::is_unset_variable(&self.error) && commands::sets_variables(command));
        if is_other && (commands::is_invocation(&self.error) || is_way) {
            let steps = self.steps_before(curing, command);
            return Some(self.shown(command, &[steps.as_slice(), &[after]].concat().join(" && ")));
        }
        // The same command after another one on its line.
        let earlier = commands::segments(&self.what);
        let added = commands::segments(command);
        let added = added.into_iter().find(|it| !earlier.contains(it) && *it != after && commands::may_fix(it));
        if let Some(added) = added.filter(|added| is_same && display_command(added) != after) {
            return Some(self.shown(added, &display_command(added)));
        }
        // The same command in another folder.
        let (before_in_folder, after_in_folder) = (command_with_folder(&self.what), in_folder_of(command, &after));
        let is_elsewhere = without_display_options(&before_in_folder) != without_display_options(&after_in_folder);
        (is_same && is_elsewhere).then(|| self.shown(command, &after_in_folder))
    }

    /// Returns what stands before the cure on its line and changes something, as it is told: `rm till.lock && till open`.
    fn steps_before(&self, curing: &str, command: &str) -> Vec<String> {
        let earlier = commands::segments(&self.what);
        let all = commands::segments(command);
        let before = all.iter().position(|segment| *segment == curing).unwrap_or_default();
        // The edit of a file, or a folder that is made, is of no use to others.
        let is_own = |segment: &str| matches!(commands::own_program(segment), "sed" | "mkdir" | "touch");
        let is_step = |segment: &&&str| !earlier.contains(*segment) && commands::may_fix(segment) && !is_own(segment);
        let is_chain = !command.contains(['|', ';', '\n']);
        all[..before].iter().filter(is_step).filter(|_| is_chain).map(|segment| display_command(segment)).collect()
    }

    /// Returns a cure that `command` made, as it is told. Empty if it mends nothing or would be of no use to others.
    fn shown(&self, command: &str, cure: &str) -> String {
        // A commit's message is no part of its cure, so it may be left out.
        let is_commit = commands::class(command) == Class::Commit;
        let is_commit_first = is_commit && cure.split('…').next().is_some_and(|shown| shown.contains("commit"));
        let is_told = is_whole(cure) || (is_commit_first && !has_variable(cure));
        // That a linter mends what it finds is no news.
        let gives_up = text::contains_any(cure, &[" --abort", " --help", " --version", " --skip"])
            || (commands::class(&self.what) == Class::Check && commands::mends(cure));
        // Looking in another way at what is damaged mends it as little.
        let is_form = commands::only_looks(&self.what) && !commands::is_damage(&self.error);
        let only_looks = is_look(cure) && !is_form;
        let is_passing = changes_built(cure);
        // A script that was written for the occasion is of no use to anybody else.
        if is_told && !gives_up && !only_looks && !is_passing && !is_loop(command) {
            format!("`{cure}`")
        } else {
            String::new()
        }
    }

    /// Returns what was done last before it passed. `command` is the one that passed.
    fn fix_before(&self, command: Option<&str>, labels: &Labels) -> String {
        // Retries are not fixes.
        let own = display_command(&self.what);
        // Where nothing was edited, a module that the agent found missing was only not built.
        let is_missing = lacks_module(&self.error) || (!self.edited && lacks_module(&self.cause()));
        let is_of_code = !commands::is_environment(&self.error) && !is_missing;
        let is_own_fault = commands::class(&self.what) == Class::Test && is_of_code;
        let is_cure = |step: &&str| {
            let is_build = commands::class(step.trim_matches('`')) == Class::Build;
            step.trim_matches('`') != own
                && is_whole(step)
                && !is_look(step)
                && !is_trial(step)
                && !only_checks(step)
                && !is_own_fault
                && (!is_build || is_missing)
        };
        let steps: Vec<&str> = self.steps.iter().map(String::as_str).filter(is_cure).collect();
        // What was called again in another way had not done.
        let verb = |step: &str| commands::verb_words(step.trim_matches('`')).join(" ");
        let is_again = |at: usize| {
            let own = verb(steps[at]);
            own.contains(' ') && steps[at + 1..].iter().any(|later| verb(later) == own)
        };
        let steps: Vec<&str> = (0..steps.len()).filter(|at| !is_again(*at)).map(|at| steps[at]).collect();
        if steps.is_empty()
            && !self.edited
            && let Some(command) =
                command.filter(|it| is_in_root(it) && !commands::segments(&self.what)[0].starts_with("cd "))
        {
            return labels.in_root.replace("{}", &format!("`{}`", display_command(command)));
        }
        steps[steps.len().saturating_sub(2)..].join(", ")
    }
}

/// Returns whether a text names a file, by its name or by the end of its path: `till/main.rs` does not name `cart/main.rs`.
fn names_path(said: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_end = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '_' | '-');
    said.split(is_end).map(|word| word.trim_end_matches('.').trim_start_matches("./")).any(|word| {
        let is_path = word == name || word.strip_suffix(name).is_some_and(|folders| folders.ends_with('/'));
        is_path && (path.ends_with(word) || word.ends_with(path))
    })
}

/// Returns whether both texts have a name or two words in common.
fn shares_words(one: &str, other: &str) -> bool {
    let (names, words) = (statement::names(one), text::features(one));
    statement::names(other).iter().any(|name| names.contains(name))
        || text::features(other).iter().filter(|word| words.contains(word)).count() >= 2
}

/// Returns whether the cause of a failed check names a rule of the checker or the project. Others name the slip.
fn tells_rule(cause: &str) -> bool {
    const WORDS: [&str; 24] = [
        "requires",
        "require",
        "expects",
        "must",
        "rule",
        "rules",
        "forbids",
        "disallows",
        "not allowed",
        "doesn't allow",
        "does not allow",
        "only allows",
        "convention",
        "wants",
        "treats",
        "counts",
        "규칙",
        "요구",
        "필수",
        "ルール",
        "必要",
        "規約",
        "规则",
        "必须",
    ];
    text::contains_any_words(&cause.to_lowercase(), &WORDS)
}

/// Returns whether an error says that another module is not there, which may only have to be built.
fn lacks_module(error: &str) -> bool {
    const SIGNS: &[&str] =
        &["cannot find module", "cannot find package", "module not found", "could not resolve", "failed to resolve"];
    text::contains_any(&error.to_lowercase(), SIGNS)
}

/// Returns whether a step, as it is told, ran tests or a linter and changed nothing.
fn only_checks(step: &str) -> bool {
    let step = step.trim_matches('`');
    matches!(commands::class(step), Class::Test | Class::Check) && !commands::mends(step)
}

/// Returns whether a step, as it is told, only tried something on a temporary file, or on one that the next build makes anew.
fn is_trial(step: &str) -> bool {
    const MOVES: [&str; 4] = ["rm", "cp", "mv", "tar"];
    if changes_built(step) {
        return true;
    }
    let words = commands::own_words(step.trim_matches('`'));
    let is_temporary = |word: &&str| word.trim_matches(['"', '\'']).starts_with("/tmp/");
    words.first().is_some_and(|program| !MOVES.contains(program)) && words.iter().skip(1).any(is_temporary)
}

/// Returns whether a command, as it is told, begins by changing a file that the next build makes anew.
fn changes_built(command: &str) -> bool {
    const CHANGES: [&str; 5] = ["chmod", "chown", "touch", "ln", "codesign"];
    const BUILT: [&str; 5] = ["target", "dist", "build", "out", ".next"];
    let words = commands::own_words(command.trim_matches('`'));
    let is_built = |word: &&str| word.contains('/') && word.split('/').any(|folder| BUILT.contains(&folder));
    words.first().is_some_and(|program| CHANGES.contains(program)) && words.iter().skip(1).any(is_built)
}

/// Returns what a command line may have mended. What only looks at the result stands behind it: `git remote set-url … && git remote -v`.
pub(in crate::extract) fn curing_step(command: &str) -> &str {
    let is_cure = |segment: &&str| commands::may_fix(segment) && !is_look(segment);
    if is_look(commands::main_segment(command)) {
        commands::segments(command).into_iter().rfind(is_cure).unwrap_or(command)
    } else {
        command
    }
}

/// Returns what a command has another machine run: `ssh till "open drawer"`.
fn remote_command(command: &str) -> Option<&str> {
    let rest = command.trim_start().strip_prefix("ssh ")?;
    let at = rest.find(['"', '\''])?;
    let inside = rest[at..].trim_matches(['"', '\'', ' ']);
    // The command may go on behind a pipe of this machine.
    (!inside.is_empty()).then(|| inside.split(['"', '\'']).next().unwrap_or(inside))
}

/// Returns whether a step, as it is told, only looked at something.
fn is_look(step: &str) -> bool {
    const LOOKS: &[&str] =
        &["status", "list", "show", "version", "info", "help", "logs", "log", "get", "describe", "view", "whoami"];
    let step = step.trim_matches('`');
    if let Some(remote) = remote_command(step) {
        return is_look(remote);
    }
    // What is done comes behind options and their files: `till -f drawer.yml logs`.
    let is_file = |word: &&str| word.contains(['.', '/', '=']);
    let words = commands::own_words(step);
    // Most programs check with that option, and git sets something.
    let checks = |word: &&str| *word == "-c" && words.first() != Some(&"git");
    let looks = |word: &&str| LOOKS.contains(&word.trim_start_matches('-')) || checks(word);
    let lists_remotes = matches!(words.as_slice(), ["git", "remote"] | ["git", "remote", "-v" | "--verbose"]);
    let only_asks = text::contains_any(&step.to_lowercase(), &["\"select ", "'select "]);
    let names_look = || words.iter().skip(1).filter(|it| !is_file(it)).take(3).any(looks);
    lists_remotes || only_asks || commands::only_looks(step) || names_look()
}

/// Returns whether a command passed for other files than those for which it failed: that cures nothing.
fn is_other_place(failed: &str, later: &str, error: &str) -> bool {
    let (before, after) = (commands::targets(failed), commands::targets(later));
    let plain = |command: &str, targets: &[&str]| {
        let words = commands::own_words(commands::main_segment(command));
        words.into_iter().filter(|word| !targets.contains(word)).map(str::to_owned).collect::<Vec<_>>()
    };
    let name = |target: &&str| target.trim_matches(['"', '\'']).rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let is_same_file =
        before.iter().any(|target| !name(target).is_empty() && after.iter().any(|other| name(target) == name(other)));
    !commands::is_environment(error)
        && !is_same_file
        && !before.is_empty()
        && !after.is_empty()
        && before != after
        && plain(failed, &before) == plain(later, &after)
}

/// Returns whether a command line has a loop of a shell.
fn is_loop(command: &str) -> bool {
    let opens = |segment: &&str| ["for ", "while ", "until "].iter().any(|word| segment.trim_start().starts_with(word));
    commands::segments(command).iter().any(opens)
}

/// Returns whether an error is that of a program that only reads files.
fn is_of_reader(error: &str) -> bool {
    ["grep:", "sed:", "cat:", "ls:", "head:", "tail:", "wc:", "find:", "rg:", "awk:"]
        .iter()
        .any(|name| error.starts_with(name))
}

/// Returns whether a command line changes to the project's own folder first.
fn is_in_root(command: &str) -> bool {
    commands::segments(command).first().is_some_and(|first| first.trim() == "cd .")
}

/// Returns the command with the folder that it changes to.
pub(super) fn command_with_folder(command: &str) -> String {
    in_folder_of(command, &display_command(command))
}

/// Returns one command of a line, as it is told, with the folder that the line changes to.
fn in_folder_of(line: &str, shown: &str) -> String {
    match commands::segments(line).first().filter(|first| first.starts_with("cd ")) {
        Some(first) if first.trim() != "cd ." => format!("{} && {shown}", text::clip(first, 80)),
        _ => shown.to_owned(),
    }
}

/// Returns whether a text in lower case names a way past a check that leaves what fails as it is.
pub(in crate::extract) fn is_bypass(command: &str) -> bool {
    const FLAGS: [&str; 6] = ["no-verify", "no verify", "hookspath=/dev/null", "husky=0", "skip=", "--no-gpg-sign"];
    text::contains_any(&command.to_lowercase(), &FLAGS)
}

/// Returns whether a prompt in lower case is nothing but "no verify" with a slip of the finger.
pub(super) fn is_mistyped_bypass(said: &str) -> bool {
    const MAX_SLIPS: usize = 2;
    let words: Vec<&str> = said.split_whitespace().collect();
    let slips = |word: &str| word.chars().zip("verify".chars()).filter(|(own, meant)| own != meant).count();
    matches!(words.as_slice(), ["no", word]
        if word.starts_with('v') && word.chars().count() == "verify".len() && slips(word) <= MAX_SLIPS)
}
