//! Open failures, and what fixed them.

use serde::{Deserialize, Serialize};

use super::commands::{self, Class};
use super::labels::Labels;
use super::memories::{LineRef, SessionMemory};
use super::prose;
use super::signs;
use super::statement;
use crate::bindings::throughline::policy::types::Draft;
use crate::said_by::SaidBy;
use crate::text;

/// The maximum number of open failures. The oldest is dropped first.
const MAX_OPEN: usize = 16;
/// The maximum number of steps kept between failure and success.
const MAX_STEPS: usize = 8;
/// Up to how many texts after a failure may name its cause, and after how many the failure is dropped.
const MAX_CAUSE_AGE: u32 = 8;
const MAX_AGE: u32 = 30;
/// The same for what an edit found in its file.
const MAX_EDIT_CAUSE_AGE: u32 = 3;
/// The maximum number of errors of edits to keep.
const MAX_EDIT_TROUBLES: usize = 4;
/// The maximum number of sentences that the agent said between failure and success.
const MAX_SENTENCES: usize = 12;

/// What failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Subject {
    /// A shell command.
    #[default]
    Command,
    /// An edit of a file.
    Edit,
}

/// One open failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Failure {
    subject: Subject,
    /// The command or the file.
    what: String,
    /// The line that explains the failure.
    error: String,
    source: LineRef,
    /// How many times it failed.
    times: u32,
    /// What the agent has said since then.
    said: Vec<String>,
    /// What has been done since then.
    steps: Vec<String>,
    /// The number of the turn.
    turn: u32,
    /// How many texts the agent has written since then.
    #[serde(default)]
    age: u32,
    /// Whether files were changed since then.
    #[serde(default)]
    edited: bool,
    /// Whether the user allowed to go past it.
    #[serde(default)]
    is_bypass_allowed: bool,
}

/// Edits that failed with the same error, in whatever files: one lesson, not one for each file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct EditTrouble {
    error: String,
    files: Vec<String>,
    times: u32,
    cause: String,
    fix: String,
}

/// All open failures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Failures {
    open: Vec<Failure>,
    #[serde(default)]
    edits: Vec<EditTrouble>,
}

impl Failures {
    /// Records a failed command.
    pub(super) fn command_failed(&mut self, command: &str, error: &str, source: &LineRef, turn: u32) {
        // A path that does not exist is a mistake of the agent.
        if error.contains("pathspec")
            || (is_throwaway(command) && !commands::is_invocation(error) && !commands::is_damage(error))
        {
            return;
        }
        let same =
            |failure: &&mut Failure| failure.subject == Subject::Command && commands::same_purpose(&failure.what, command);
        if let Some(known) = self.open.iter_mut().find(same) {
            known.times += 1;
            known.turn = turn;
            // The first failure is the one to explain. A different error in the code being worked on is a newer state
            // of it.
            if known.error.is_empty() || (!commands::is_environment(&known.error) && !error.is_empty()) {
                error.clone_into(&mut known.error);
            }
            return;
        }
        self.push(Failure {
            subject: Subject::Command,
            what: text::clip(command, 500).into_owned(),
            error: error.to_owned(),
            source: source.clone(),
            times: 1,
            turn,
            ..Failure::default()
        });
    }

    /// Records a failed edit.
    pub(super) fn edit_failed(&mut self, file: &str, error: &str, source: &LineRef, turn: u32) {
        if let Some(known) = self.open.iter_mut().find(|failure| failure.subject == Subject::Edit && failure.what == file) {
            known.times += 1;
            return;
        }
        self.push(Failure {
            subject: Subject::Edit,
            what: file.to_owned(),
            error: error.to_owned(),
            source: source.clone(),
            times: 1,
            turn,
            ..Failure::default()
        });
    }

    fn push(&mut self, failure: Failure) {
        self.open.push(failure);
        if self.open.len() > MAX_OPEN {
            self.open.remove(0);
        }
    }

    /// Records a text of the agent, which may name a cause.
    pub(super) fn agent_said(&mut self, said: &str) {
        if self.open.is_empty() {
            return;
        }
        let causes: Vec<String> = prose::causes(said);
        let has_edits = self.open.iter().any(|it| it.subject == Subject::Edit && it.age < MAX_EDIT_CAUSE_AGE);
        let blanks: Vec<String> = if has_edits { prose::remarks_on_blanks(said) } else { Vec::new() };
        self.open.retain(|failure| failure.age < MAX_AGE || failure.is_check());
        for failure in &mut self.open {
            failure.age += 1;
            // Later texts are about something else, unless they name what failed.
            let is_next = failure.age == 1;
            for cause in causes.iter().filter(|_| failure.age <= MAX_CAUSE_AGE) {
                if is_next || failure.is_subject_of(cause) {
                    push_bounded(&mut failure.said, cause.clone(), MAX_SENTENCES);
                }
            }
            // An edit that finds no match is mostly one of blanks, and the agent says so in plain words.
            if failure.subject == Subject::Edit && failure.age <= MAX_EDIT_CAUSE_AGE {
                for cause in &blanks {
                    push_bounded(&mut failure.said, cause.clone(), MAX_SENTENCES);
                }
            }
        }
    }

    /// Records what the human said, who may allow to go past what fails.
    pub(super) fn human_said(&mut self, said: &str) {
        let lower = said.to_lowercase();
        let is_forbidden = ["don't", "do not", "never", "without", "말고", "하지 마", "しないで", "不要"]
            .iter()
            .any(|it| lower.contains(it));
        if is_bypass(&lower) && !is_forbidden {
            self.open.iter_mut().for_each(|failure| failure.is_bypass_allowed = true);
        }
    }

    /// Records an action that may have been the fix.
    pub(super) fn step(&mut self, step: &str) {
        for failure in &mut self.open {
            if failure.steps.last().map(String::as_str) != Some(step) {
                push_bounded(&mut failure.steps, step.to_owned(), MAX_STEPS);
            }
        }
    }

    /// Records that a file was changed, which may have been the fix.
    pub(super) fn file_changed(&mut self) {
        for failure in &mut self.open {
            failure.edited = true;
        }
    }

    /// Records a command that passed. Returns the failures that it resolves, with their fixes.
    pub(super) fn command_passed(&mut self, command: &str, labels: &Labels) -> Vec<SessionMemory> {
        self.close_matching(
            |failure| failure.subject == Subject::Command && commands::same_purpose(&failure.what, command),
            Some(command),
            labels,
        )
    }

    /// Records a command that ran and rewords a failed one. Whatever its result, the tool was found.
    pub(super) fn command_reached(&mut self, command: &str, error: &str, labels: &Labels) -> Vec<SessionMemory> {
        self.close_matching(
            |failure| {
                failure.subject == Subject::Command
                    && failure.error != error
                    && commands::is_invocation(&failure.error)
                    && !commands::is_invocation(error)
                    && text::one_line(&failure.what) != text::one_line(command)
                    && commands::is_rewording(&failure.what, command)
            },
            Some(command),
            labels,
        )
    }

    /// Records an edit that succeeded, with the tool that made it.
    pub(super) fn edit_passed(&mut self, file: &str, tool: &str, labels: &Labels) -> Vec<SessionMemory> {
        self.edits_closed(|failure| failure.what == file, tool, labels)
    }

    /// Records a command that passed and writes files of which an edit failed: the way around it.
    pub(super) fn edited_by_command(&mut self, command: &str, labels: &Labels) -> Vec<SessionMemory> {
        let has_edits = self.open.iter().any(|failure| failure.subject == Subject::Edit);
        let Some(tool) = commands::editor(command).filter(|_| has_edits) else { return Vec::new() };
        let written = commands::file_effects(command).written;
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let is_file = |failure: &Failure| {
            written.iter().any(|path| failure.what.ends_with(path.as_str())) || command.contains(&name(&failure.what))
        };
        self.edits_closed(is_file, tool, labels)
    }

    /// Closes failed edits. What they teach is told together with earlier ones of the same error.
    fn edits_closed(&mut self, ended: impl Fn(&Failure) -> bool, tool: &str, labels: &Labels) -> Vec<SessionMemory> {
        let mut closed = Vec::new();
        self.open.retain(|failure| {
            let ends = failure.subject == Subject::Edit && ended(failure);
            if ends {
                closed.push(failure.clone());
            }
            !ends
        });
        closed.into_iter().filter_map(|failure| self.edit_memory(&failure, tool, labels)).collect()
    }

    /// Adds a failed edit to those of the same error, and returns what they teach together.
    ///
    /// One failed edit is a mistake of the agent. Several say something about the files, if their cause was named or another
    /// tool had to write them.
    fn edit_memory(&mut self, failure: &Failure, tool: &str, labels: &Labels) -> Option<SessionMemory> {
        let error = normalize(&failure.error);
        if error.is_empty() || signs::is_one_off(&error.to_lowercase()) {
            return None;
        }
        let known = self.edits.iter().position(|trouble| trouble.error == error);
        let mut trouble = known.map(|at| self.edits.remove(at)).unwrap_or_default();
        trouble.error = error;
        trouble.times += failure.times;
        if !trouble.files.contains(&failure.what) {
            trouble.files.push(failure.what.clone());
        }
        let cause = normalize(&failure.cause());
        if !cause.is_empty() {
            trouble.cause = cause;
        }
        // Another edit of the same file says nothing of what was wrong with the first.
        if !matches!(tool, "Edit" | "MultiEdit" | "NotebookEdit") {
            trouble.fix = labels.written_with.replace("{}", &format!("`{tool}`"));
        }
        let teaches = trouble.times > 1 && !(trouble.cause.is_empty() && trouble.fix.is_empty());
        let memory = teaches.then(|| trouble.memory(&failure.source, labels));
        self.edits.push(trouble);
        if self.edits.len() > MAX_EDIT_TROUBLES {
            self.edits.remove(0);
        }
        memory
    }

    fn close_matching(
        &mut self,
        ended: impl Fn(&Failure) -> bool,
        command: Option<&str>,
        labels: &Labels,
    ) -> Vec<SessionMemory> {
        let mut fixes = Vec::new();
        self.open.retain(|failure| {
            let ends = ended(failure);
            if ends {
                fixes.extend(failure.fix_memory(command, labels));
            }
            !ends
        });
        fixes
    }

    /// Returns whether a check or a commit is failing.
    pub(super) fn has_open_checks(&self) -> bool {
        self.open.iter().any(Failure::is_check)
    }

    /// Closes all open checks after a commit: committed work has none. A commit in another repository closes nothing.
    pub(super) fn checks_committed(&mut self, command: &str) {
        self.open.retain(|failure| !failure.is_check() || !commands::is_same_place(&failure.what, command));
    }

    /// Closes the failed commits after git showed that the changes are committed.
    pub(super) fn commit_landed(&mut self) {
        self.open.retain(|failure| commands::class(&failure.what) != Class::Commit);
    }

    /// Closes all open checks after the agent reported that they pass. A failed commit stays open.
    pub(super) fn checks_reported_passing(&mut self) {
        self.open.retain(|failure| !failure.is_check() || commands::class(&failure.what) == Class::Commit);
    }

    /// Returns failed checks and commits that are still open and whose cause the agent named: the next session will run
    /// into them.
    pub(super) fn drafts(&self, labels: &Labels) -> impl Iterator<Item = Draft> {
        self.open.iter().filter(|failure| failure.is_check() && !failure.error.is_empty()).filter_map(move |failure| {
            let cause = failure.cause();
            let memory = SessionMemory {
                key: format!("open:{}:{:08x}", failure.source.uuid, text::hash(&failure.what)),
                kind: "learning".to_owned(),
                title: format!(
                    "`{}` {}: {}. {}: {cause}",
                    display_command(&failure.what),
                    labels.fails.to_lowercase(),
                    failure.error,
                    labels.cause
                ),
                keywords: failure.keywords(labels),
                importance: 60,
                source: failure.source.clone(),
                said_by: SaidBy::Tool,
                ..SessionMemory::default()
            };
            (!cause.is_empty()).then(|| memory.draft())
        })
    }

    /// Returns the failures that matter at the end: checks, builds and commits that failed in this turn or the one
    /// before.
    pub(super) fn errors(&self, turn: u32) -> Vec<String> {
        self.open
            .iter()
            .filter(|failure| failure.subject == Subject::Command && failure.turn + 1 >= turn && !failure.error.is_empty())
            .filter(|failure| !matches!(commands::class(&failure.what), Class::Inspect | Class::Other))
            .map(|failure| format!("`{}`: {}", display_command(&failure.what), failure.error))
            .collect()
    }
}

fn push_bounded(list: &mut Vec<String>, item: String, max: usize) {
    if list.contains(&item) {
        return;
    }
    list.push(item);
    if list.len() > max {
        // The first step after the failure and the latest ones are the most informative.
        list.remove(1);
    }
}

/// Returns whether a text in lower case names a way past a check that leaves what fails as it is.
fn is_bypass(lower: &str) -> bool {
    ["no-verify", "no verify", "hookspath=/dev/null", "husky=0", "skip=", "--no-gpg-sign"]
        .iter()
        .any(|flag| lower.to_lowercase().contains(flag))
}

/// Returns whether the command was a one-off. Its failure teaches nothing else.
fn is_throwaway(command: &str) -> bool {
    let main = commands::main_segment(command);
    let inline = [" -e ", " -c ", " -pe ", " - <<", " <<"].iter().any(|flag| main.contains(flag));
    let loops = ["for ", "while ", "until "].iter().any(|word| command.contains(word)) && command.contains("done");
    let class = commands::class(command);
    class == Class::Inspect || (class == Class::Other && inline) || loops
}

impl EditTrouble {
    fn memory(&self, source: &LineRef, labels: &Labels) -> SessionMemory {
        let more = match self.files.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let what = format!("edit of {}{more}", self.files[0]);
        let content = failure_text(&what, self.times, &self.error, &self.cause, (labels.fixed_by, &self.fix), labels);
        SessionMemory {
            key: format!("edits:{:08x}", text::hash(&self.error)),
            kind: "error_fix".to_owned(),
            title: text::clip(&content, 200).into_owned(),
            why: self.cause.clone(),
            content,
            files: self.files.clone(),
            importance: 50,
            source: source.clone(),
            said_by: SaidBy::Tool,
            ..SessionMemory::default()
        }
    }
}

/// Returns a failure, how often it happened, its cause and its fix as one line.
fn failure_text(what: &str, times: u32, error: &str, cause: &str, fix: (&str, &str), labels: &Labels) -> String {
    let times = if times > 1 { format!(" ({times}×)") } else { String::new() };
    let mut content = format!("{} {}{times}: {error}", normalize(what), labels.fails.to_lowercase());
    for (label, body) in [(labels.cause, cause), fix] {
        if !body.is_empty() {
            content.push_str(if content.ends_with(['.', '。', '`']) { " " } else { ". " });
            content.push_str(label);
            content.push_str(": ");
            content.push_str(body);
        }
    }
    content
}

/// Words for what a command of a class does, in the languages of the labels.
const SUBJECTS: &[(Class, &[&str])] = &[
    (Class::Test, &["test", "테스트", "テスト", "测试"]),
    (Class::Check, &["lint", "type", "format", "check", "린트", "타입", "型", "类型"]),
    (Class::Build, &["build", "compil", "bundl", "빌드", "컴파일", "ビルド", "コンパイル", "构建", "编译"]),
    (Class::Commit, &["commit", "hook", "커밋", "훅", "コミット", "フック", "提交", "钩子"]),
];

impl Failure {
    /// Returns whether a sentence that names a cause speaks of this failure: it has a name or two words of the command or its
    /// error, or says what such commands do.
    fn is_subject_of(&self, cause: &str) -> bool {
        let lower = cause.to_lowercase();
        let class = commands::class(&self.what);
        let says = |word: &&str| text::contains(&lower, word);
        if self.subject == Subject::Command && SUBJECTS.iter().any(|(of, words)| *of == class && words.iter().any(says)) {
            return true;
        }
        let own = format!("{} {}", self.what, self.error);
        let (names, words) = (statement::names(&own), text::features(&own));
        statement::names(cause).iter().any(|name| names.contains(name))
            || text::features(cause).iter().filter(|word| words.contains(word)).count() >= 2
    }

    fn is_check(&self) -> bool {
        self.subject == Subject::Command
            && matches!(commands::class(&self.what), Class::Test | Class::Check | Class::Build | Class::Commit)
    }

    /// Returns the failure and its fix as a memory. None if that would only say that the work continued.
    fn fix_memory(&self, command: Option<&str>, labels: &Labels) -> Option<SessionMemory> {
        if self.error.is_empty() {
            return None;
        }
        let cause = self.cause();
        let fix = self.fix(command);
        // If no file was changed, the code was not at fault: how the command was run was, or what it found.
        let is_cured_elsewhere = !self.edited && !fix.is_empty();
        let environment =
            is_cured_elsewhere || commands::is_environment(&self.error) || commands::class(&self.what) == Class::Commit;
        if !environment && signs::is_one_off(&format!("{} {cause}", self.error).to_lowercase()) {
            return None;
        }
        let importance = match (environment, cause.is_empty()) {
            (true, _) => 70,
            (false, false) => 55,
            (false, true) => return None,
        };
        // It passes now. Without a cure it teaches nothing, unless the environment may fail again for the cause that was named.
        let is_environmental = commands::is_environment(&self.error) && !cause.is_empty();
        if fix.is_empty() && !is_environmental {
            return None;
        }
        // The shell was in another folder: a slip.
        if self.error.contains("cd:") {
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

    /// Returns what people call the purpose of the command in the language of the labels.
    fn keywords(&self, labels: &Labels) -> Vec<String> {
        let class = (self.subject == Subject::Command).then(|| commands::class(&self.what));
        labels.purposes.iter().filter(|(purpose, _)| Some(*purpose) == class).map(|(_, word)| (*word).to_owned()).collect()
    }

    /// Returns the most informative sentences between failure and success, in order.
    fn cause(&self) -> String {
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
    fn fix(&self, command: Option<&str>) -> String {
        // A commit's message is no part of its cure, so it may be left out.
        let shown = |command: &str, cure: String| {
            let is_commit = commands::class(command) == Class::Commit;
            if is_commit || is_whole(&cure) { format!("`{cure}`") } else { String::new() }
        };
        if let Some(command) = command {
            let command = commands::with_values(command);
            let command = command.as_str();
            let (before, after) = (display_command(&self.what), display_command(command));
            if before != after && (commands::is_invocation(&self.error) || commands::class(&self.what) != Class::Test) {
                return shown(command, after);
            }
            // The same command after another one on its line.
            let earlier = commands::segments(&self.what);
            let added = commands::segments(command);
            let added = added.into_iter().find(|it| !earlier.contains(it) && *it != after && commands::may_fix(it));
            if let Some(added) = added.filter(|added| before == after && display_command(added) != after) {
                return shown(added, display_command(added));
            }
            // The same command in another folder.
            let (before_in_folder, after_in_folder) = (command_with_folder(&self.what), command_with_folder(command));
            if before == after && before_in_folder != after_in_folder {
                return shown(command, after_in_folder);
            }
        }
        // Retries are not fixes.
        let own = display_command(&self.what);
        let is_cure = |step: &&str| step.trim_matches('`') != own && is_whole(step);
        let steps: Vec<&str> = self.steps.iter().map(String::as_str).filter(is_cure).collect();
        steps[steps.len().saturating_sub(2)..].join(", ")
    }
}

/// Returns whether a command can be run as it is shown: nothing of it was left out, and it uses no variable.
fn is_whole(command: &str) -> bool {
    let is_variable =
        |(at, _): (usize, &str)| command[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '{'));
    !command.contains('…') && !command.match_indices('$').any(is_variable)
}

/// Returns the command with the folder that it changes to.
fn command_with_folder(command: &str) -> String {
    match commands::segments(command).first().filter(|first| first.starts_with("cd ")) {
        Some(first) if first.trim() != "cd ." => format!("{} && {}", text::clip(first, 80), display_command(command)),
        _ => display_command(command),
    }
}

/// Removes what differs from run to run (times, positions, hashes, names of temporary folders), so that the same
/// failure in two sessions becomes one memory.
fn normalize(text: &str) -> String {
    let mut normalized = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        let space = &word[bare.len()..];
        if is_timing(bare) {
            // The white space after it is dropped as well.
            continue;
        }
        let in_path = bare.contains('/');
        let mut parts = bare.split('/').map(|part| normalize_part(part, in_path));
        normalized.push_str(&parts.next().unwrap_or_default());
        for part in parts {
            normalized.push('/');
            normalized.push_str(&part);
        }
        normalized.push_str(space);
    }
    // `[3.22ms].` leaves its full stop.
    normalized.trim().to_owned()
}

/// Returns whether the word is a duration such as `[3.22ms]` or `(1.2s)`, with or without a full stop or comma after
/// it.
fn is_timing(word: &str) -> bool {
    let inner = word.trim_end_matches(['.', ',']);
    let inner = inner
        .strip_prefix('[')
        .and_then(|inner| inner.strip_suffix(']'))
        .or_else(|| inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')));
    inner.is_some_and(|inner| {
        let number = inner.trim_end_matches("ms").trim_end_matches('s');
        number.len() < inner.len() && number.parse::<f32>().is_ok()
    })
}

/// Normalizes one part of a path, or one word.
fn normalize_part(part: &str, in_path: bool) -> String {
    let part = strip_position(part);
    let word = part.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let name = word.rsplit(['-', '.', '_']).next().unwrap_or(word);
    let generated = in_path && name.len() < word.len() && is_mkdtemp_suffix(name);
    if (generated || is_random(name))
        && let Some(at) = part.rfind(name)
    {
        return format!("{}…{}", &part[..at], &part[at + name.len()..]);
    }
    part
}

/// Strips `:12:5` or `(12,5)` after the name of a file.
fn strip_position(part: &str) -> String {
    let Some(at) = part.find([':', '(']) else {
        return part.to_owned();
    };
    let (name, rest) = part.split_at(at);
    let end =
        rest[1..].find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | ',' | ')')).map_or(rest.len(), |end| end + 1);
    let digits = rest[..end].bytes().any(|byte| byte.is_ascii_digit());
    if !name.contains('.') || !digits {
        return part.to_owned();
    }
    let colon = if rest[..end].ends_with(':') { ":" } else { "" };
    format!("{name}{colon}{}", &rest[end..])
}

/// Returns whether a program generated the name: a hash, or six or more letters and digits that do not look like a
/// word.
fn is_random(name: &str) -> bool {
    if name.len() < 6 || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return false;
    }
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let hexadecimal = name.len() >= 7 && digits > 0 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let changes = name
        .as_bytes()
        .windows(2)
        .filter(|pair| char_class(pair[0]) != char_class(pair[1]) && !pair[0].is_ascii_uppercase())
        .count();
    hexadecimal
        || (name.len() <= 12 && changes >= 2 && (digits > 0 || name.as_bytes()[name.len() - 1].is_ascii_uppercase()))
        || (name.len() == 6 && changes >= 2)
}

/// Returns whether the name is a suffix of six letters and digits, as `mkdtemp` appends it.
fn is_mkdtemp_suffix(name: &str) -> bool {
    name.len() == 6
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && name.bytes().any(|byte| byte.is_ascii_lowercase())
        && name.bytes().any(|byte| !byte.is_ascii_lowercase())
}

fn char_class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    }
}

/// Formats a command for display: its main part on one line, without redirections and without the text of a message.
pub(super) fn display_command(command: &str) -> String {
    // The project's own folder says nothing.
    let main = commands::main_segment(command).replace(" -C . ", " ");
    let main = match (main.find("<<"), main.find(" -m ")) {
        (Some(at), _) => {
            let end = main[at..].find('\n').map_or(main.len(), |line| at + line);
            let closing = if main[..at].contains("\"$(") { ")\"" } else { "" };
            format!("{} …{closing}", &main[..end])
        }
        (None, Some(at)) if commands::class(command) == Class::Commit => {
            format!("{} -m \"…\"", &main[..at])
        }
        _ => {
            match [" -e \"", " -e '", " -c \"", " -c '"].iter().find_map(|flag| main.find(flag).map(|at| at + flag.len())) {
                // The text of an inline script is of no use to a reader.
                Some(at) if main.len() > at + 60 => format!("{}…{}", &main[..at], &main[at - 1..at]),
                _ => main.clone(),
            }
        }
    };
    let line = text::one_line(&main);
    let line = ["2>&1", "2>/dev/null", "> /dev/null", ">/dev/null"].iter().fold(line, |line, end| line.replace(end, ""));
    text::clip(&text::one_line(&line), 140).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_same_failure_has_the_same_text_in_every_run() {
        for (text, same) in [
            ("(fail) Events > RawEvent [3.22ms]", "(fail) Events > RawEvent"),
            ("`rm -rf tmp/clones/agents-eval-eqYk1k`", "`rm -rf tmp/clones/agents-eval-…`"),
            ("left in tmp/clones/agents-eval-DtKspd/.", "left in tmp/clones/agents-eval-…/."),
            ("src/engine.ts(217,6): error TS2322: no", "src/engine.ts: error TS2322: no"),
            ("src/main.rs:12:5 is at 1a2b3c4d", "src/main.rs is at …"),
            (
                "useEffect in RemediateTab.tsx needs base64 on port 3000",
                "useEffect in RemediateTab.tsx needs base64 on port 3000",
            ),
        ] {
            assert_eq!(normalize(text), same);
        }
    }

    fn cured(error: &str, edited: bool, failed: &str, passed: &str) -> Option<String> {
        let mut failures = Failures::default();
        failures.command_failed(failed, error, &LineRef::default(), 1);
        if edited {
            failures.file_changed();
        }
        let cures = failures.command_passed(passed, super::super::labels::labels(text::Language::English));
        cures.into_iter().next().map(|cure| cure.content)
    }

    #[test]
    fn what_passes_otherwise_without_an_edit_is_cured_by_its_command() {
        let (failed, error) = ("shopctl orders --json", "invalid order \"--json\"");
        assert_eq!(
            cured(error, false, failed, "shopctl --json orders").unwrap(),
            "`shopctl orders --json` fails: invalid order \"--json\". Fixed by: `shopctl --json orders`"
        );
        assert_eq!(cured(error, true, failed, "shopctl --json orders"), None, "the code may have been at fault");
        assert_eq!(cured(error, false, failed, failed), None, "nothing says what was different");
    }

    #[test]
    fn a_cure_can_be_run_as_it_stands() {
        let (failed, error) = ("wsl zsh /mnt/x/a.zsh", "can't create temp file");
        let cure = |passed| cured(error, false, failed, passed).unwrap_or_default();
        assert!(cure("p=/tmp/a.zsh && wsl zsh \"$p\"").ends_with("Fixed by: `wsl zsh \"/tmp/a.zsh\"`"));
        assert_eq!(cure("wsl zsh \"$p\""), "", "nobody knows the variable tomorrow");
        assert!(!is_whole("python3 -c \"…\""));
        assert!(is_whole("echo 5$ > price"));
    }

    #[test]
    fn a_damaged_repository_is_cured_by_what_was_run() {
        let labels = super::super::labels::labels(text::Language::English);
        let mut failures = Failures::default();
        failures.command_failed("git status", "fatal: unable to read 1a2b3c4d", &LineRef::default(), 1);
        failures.command_failed("git log -1", "fatal: your branch has no commits", &LineRef::default(), 1);
        failures.step("`git read-tree HEAD`");
        let cures = failures.command_passed("git status", labels);
        assert_eq!(cures.len(), 1, "a look that finds nothing is no failure");
        assert!(cures[0].content.ends_with("Fixed by: `git read-tree HEAD`"), "{}", cures[0].content);
        assert!(failures.command_passed("git log -1", labels).is_empty());
    }

    #[test]
    fn a_failure_is_found_by_its_purpose_in_the_language_of_the_session() {
        for (language, words) in [(text::Language::Korean, vec!["커밋".to_owned()]), (text::Language::English, Vec::new())]
        {
            let mut failures = Failures::default();
            failures.command_failed("git commit -m a", "the hook hangs", &LineRef::default(), 1);
            let cures = failures.command_passed("git commit -n -m a", super::super::labels::labels(language));
            assert_eq!(cures[0].draft().keywords, words);
        }
    }

    #[test]
    fn a_command_before_the_same_one_is_its_cure() {
        let cure = cured("the config is locked by its owner", false, "make fmt", "direnv allow && make fmt").unwrap();
        assert!(cure.ends_with("Fixed by: `direnv allow`"), "{cure}");
    }

    #[test]
    fn an_edit_that_failed_until_the_file_was_written_anew() {
        let labels = super::super::labels::labels(text::Language::English);
        let mut failures = Failures::default();
        for _ in 0..2 {
            failures.edit_failed("src/cart.ts", "the text was not found", &LineRef::default(), 1);
        }
        assert_eq!(
            failures.clone().edit_passed("src/cart.ts", "Write", labels)[0].content,
            "edit of src/cart.ts fails (2×): the text was not found. Fixed by: writing the file with `Write`"
        );
        assert!(failures.edit_passed("src/cart.ts", "Edit", labels).is_empty(), "another edit says nothing");
    }

    #[test]
    fn a_later_cause_belongs_to_the_failure_that_it_names() {
        let labels = super::super::labels::labels(text::Language::English);
        let mut failures = Failures::default();
        failures.command_failed("git commit -m a", "the hook is broken", &LineRef::default(), 1);
        failures.agent_said("I look at the list of orders.");
        failures.agent_said("The totals are wrong because `src/tax.ts` rounds twice.");
        failures.agent_said("The hook fails because `core.hooksPath` names a folder that is gone.");
        let cures = failures.command_passed("git -c core.hooksPath=.hooks commit -m a", labels);
        assert!(cures[0].content.contains("folder that is gone"), "{}", cures[0].content);
        assert!(!cures[0].content.contains("rounds twice"), "{}", cures[0].content);
    }

    #[test]
    fn a_commit_elsewhere_says_nothing_of_a_failed_one() {
        let labels = super::super::labels::labels(text::Language::English);
        let mut failures = Failures::default();
        failures.command_failed("git commit -m a", "the hook is broken", &LineRef::default(), 1);
        failures.checks_committed("git -C /srv/notes commit -m b");
        let cures = failures.command_passed("git commit --no-verify -m a", labels);
        assert!(cures[0].content.contains("--no-verify"), "{}", cures[0].content);
    }

    #[test]
    fn edits_that_fail_alike_in_several_files_are_one_lesson() {
        let labels = super::super::labels::labels(text::Language::English);
        let mut failures = Failures::default();
        let fail = |failures: &mut Failures, file| failures.edit_failed(file, "text not found", &LineRef::default(), 1);
        fail(&mut failures, "src/cart.ts");
        failures.agent_said("The file is indented with tabs.");
        assert!(failures.edit_passed("src/cart.ts", "Edit", labels).is_empty(), "one failure is a slip");
        fail(&mut failures, "src/order.ts");
        let script = "python3 - <<'EOF'\np='src/order.ts'\nopen(p,'w').write(open(p).read().replace('a','b'))\nEOF";
        let lesson = failures.edited_by_command(script, labels);
        assert_eq!(
            lesson[0].content,
            "edit of src/cart.ts and 1 more fails (2×): text not found. Cause: The file is indented with tabs. Fixed by: writing the file with `python3`"
        );
        fail(&mut failures, "src/mail.ts");
        assert!(failures.edited_by_command("cat src/mail.ts", labels).is_empty(), "looking mends nothing");
        let again = failures.edited_by_command("sed -i s/a/b/ src/mail.ts", labels);
        assert_eq!((again[0].key.as_str(), again[0].files.len()), (lesson[0].key.as_str(), 3));
    }

    #[test]
    fn the_projects_own_folder_is_not_a_fix() {
        assert_eq!(command_with_folder("cd . && bun run lint"), command_with_folder("bun run lint"));
        assert_ne!(command_with_folder("cd web && bun run lint"), command_with_folder("bun run lint"));
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            normalize(&text);
        }
    }
}
