//! Files that were edited, moved, removed or restored.

use std::borrow::Cow;

use super::State;
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::commands;
use crate::extract::commits;
use crate::extract::files::{self, Reversal, is_code, is_configuration, is_description, is_document};
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::prose;
use crate::extract::statement::Voice;
use crate::extract::tool_uses::ToolUse;
use crate::said_by::SaidBy;
use crate::text;
use crate::transcript::json::Raw;

/// The maximum number of lessons that one edit adds.
const MAX_LESSONS: usize = 4;
/// How many bytes of a document for the next session are read.
const MAX_HANDOFF_BYTES: usize = 12 * 1024;
/// The maximum length of a document whose open questions are read, in bytes.
const MAX_DOCUMENT_BYTES: usize = 64 * 1024;
/// The maximum length of a small change with the lines around it, in bytes.
const MAX_SMALL_BYTES: usize = 16 * 1024;
/// How many bytes of a new file are searched for names.
const MAX_CREATED_BYTES: usize = 32 * 1024;

/// What the client wrote down of an edit.
#[derive(Default)]
struct Edit<'a> {
    /// The changed lines. The patch of a file that was created is empty, and so none.
    patch: Option<Raw<'a>>,
    added: u32,
    removed: u32,
    /// The texts that were replaced and put in their place. May be empty.
    old: Cow<'a, str>,
    new: Cow<'a, str>,
    /// The whole file, if it was written as a whole.
    content: Option<Cow<'a, str>>,
    is_creation: bool,
    /// The whole file as it was before the edit.
    before: Option<Raw<'a>>,
}

impl<'a> Edit<'a> {
    fn read(result: Option<Raw<'a>>) -> Self {
        let mut this = Self::default();
        let Some(result) = result else { return this };
        result.fields(|key, value| match key {
            b"structuredPatch" => this.patch = Some(value),
            b"oldString" => this.old = value.text().unwrap_or_default(),
            b"newString" => this.new = value.text().unwrap_or_default(),
            b"content" => this.content = value.text(),
            b"originalFile" => this.before = Some(value),
            b"type" => this.is_creation = value.json() == "\"create\"",
            _ => {}
        });
        (this.added, this.removed) = this.patch.map_or((0, 0), files::patch_size);
        if this.added + this.removed == 0 {
            this.patch = None;
            let lines = this.content.as_deref().filter(|_| this.is_creation).map_or(0, |text| text.lines().count());
            this.added = u32::try_from(lines).unwrap_or(u32::MAX);
        }
        this
    }
}

impl Edit<'_> {
    /// Returns the lines that the edit adds or removes. The first says whether a line is added.
    fn lines(&self) -> Vec<(bool, String)> {
        let mut all = Vec::new();
        if let Some(patch) = self.patch {
            files::patch_lines(patch, |is_added, line| all.push((is_added, line.to_owned())));
        } else {
            let content = self.content.as_deref().filter(|_| self.is_creation).unwrap_or_default();
            all.extend(content.lines().map(|line| (true, line.to_owned())));
        }
        all
    }

    /// Returns whether a secret may stand in the changed lines, as far as these and the lines around them show. What is too long for a
    /// small change may have any.
    fn may_hold_secret(&self) -> bool {
        let Some(patch) = self.patch else {
            let content = self.content.as_deref().unwrap_or_default();
            return content.len() > MAX_SMALL_BYTES || has_secret(content);
        };
        // The lines before and after the change stand one below the other only in the file.
        let (mut before, mut after) = (String::new(), String::new());
        files::patch_context(patch, |sign, line| {
            let is_of = [(&mut before, '+'), (&mut after, '-')];
            for (side, _) in is_of.into_iter().filter(|(_, other)| *other != sign) {
                side.push_str(line);
                side.push('\n');
            }
        });
        let is_long = before.len() + after.len() > MAX_SMALL_BYTES;
        is_long || has_secret(&before) || has_secret(&after)
    }
}

/// Returns whether a text is another one without its secrets.
fn has_secret(text: &str) -> bool {
    let text = text.replace('\r', "");
    clean::clean(&text) != text
}

impl State {
    pub(super) fn edit_failed(&mut self, tool_use: &ToolUse, said: &str) {
        let first = said.replace("<tool_use_error>", "").replace("</tool_use_error>", "");
        let first = text::clip(first.lines().next().unwrap_or_default(), 160).into_owned();
        // What the client requires before every edit says nothing about the file.
        let is_procedure = text::contains_any(&first, commands::PROCEDURES);
        if !is_procedure {
            self.failures.edit_failed(&tool_use.what, &first, &tool_use.source, self.turns);
        }
    }

    pub(super) fn file_edited(&mut self, tool_use: &ToolUse, result: Option<Raw<'_>>, settled: &mut Vec<Draft>) {
        let (file, source) = (tool_use.what.as_str(), &tool_use.source);
        if file.is_empty() {
            return;
        }
        self.rulings_followed(settled);
        // A plan is recorded as a plan. The client's file for it is not part of the project.
        if clean::is_client_plan(file) {
            self.undone.plan_written(file);
            return;
        }
        let edit = Edit::read(result);
        self.mended_findings(file);
        self.count_names(file, &edit);
        if let Some(before) = edit.before.filter(|_| self.lost.wants_look(file, self.turns)).and_then(Raw::text) {
            self.file_looked_at(file, &before);
        }
        let lines = edit.lines();
        // What is committed of it stays.
        if self.lost.edited(file, &lines, self.turns, &self.branch) && self.undone.is_without_commit() {
            self.files.record_removal(file, true);
        }
        if edit.is_creation {
            self.files.record_creation(file);
        }
        self.files.record_lines(file, lines.iter().map(|(is_added, line)| (*is_added, line.as_str())), source.at);
        self.evidence.scripts_written(file, &lines);
        self.code_taken_out(&lines);
        self.text_written(file, &edit, source, settled);
        self.turn.file_edited(is_description(file));
        self.turn.add_file(file);
        let own = clean::path(file, &self.root);
        if !clean::is_outside(&own) {
            self.turn.lines_changed(&own, &lines, || edit.may_hold_secret());
        }
        self.taken_back.edited(file, self.turns, self.own_commits());
        self.edit_compared(file, &edit, source, settled);
        self.failures.file_changed(file);
        for memory in self.failures.edit_passed(file, &tool_use.name, self.labels()) {
            self.record_fix(memory, settled);
        }
    }

    /// Compares the whole text of a file with what the session wrote into it before. What is committed may be on another branch.
    pub(super) fn file_looked_at(&mut self, file: &str, whole: &str) {
        if self.undone.is_to_commit(file) && self.lost.looked_at(file, whole, self.turns) {
            self.undone.restored(|path| path == file);
        }
    }

    /// Takes what a file that was written says: a document, a note for the next session, or lessons. Any other one is only changed.
    fn text_written(&mut self, file: &str, edit: &Edit<'_>, source: &LineRef, settled: &mut Vec<Draft>) {
        let is_handoff = is_handoff(file);
        if is_handoff {
            let whole = clean::block(edit.content.as_deref().unwrap_or_default(), MAX_HANDOFF_BYTES);
            self.handed_over(file, &whole, source, settled);
        }
        let own = clean::path(file, &self.root);
        let is_own = !clean::is_outside(&own);
        if is_own {
            let runs = self.turn.runs;
            self.project_changed(file);
            if edit.patch.is_some_and(only_comments) {
                // There is nothing to try.
                self.turn.runs = runs;
            }
        } else if is_code(file) && !commands::is_temporary_folder(file) {
            self.evidence.changed_elsewhere();
        }
        if let Some(document) = edit.content.as_deref().filter(|_| is_document(file)) {
            if is_own && !is_handoff {
                self.open_points.documented(&own, &clean::block(document, MAX_DOCUMENT_BYTES));
            }
            self.turn.document_written(document);
        }
        if prose::is_of_lessons(file) {
            let written = if edit.new.is_empty() { edit.content.as_deref().unwrap_or_default() } else { &edit.new };
            self.lessons_written(written, &edit.old, source, settled);
        }
    }

    /// Compares an edit with those before it, some of which it may take back.
    fn edit_compared(&mut self, file: &str, edit: &Edit<'_>, source: &LineRef, settled: &mut Vec<Draft>) {
        let reversal = self.files.record_edit(file, &edit.old, &edit.new);
        // Short lines are not compared, so the patch must agree that lines were only removed, or only added.
        let is_back = match reversal {
            Reversal::None => false,
            Reversal::Removes => edit.added == 0 || edit.removed == 0,
            Reversal::Reverts => true,
        };
        if is_back {
            self.files.record_revert(file, edit.removed == 0);
            if !self.files.paths().any(|known| known == file) {
                self.taken_back.taken_out(file, self.turns);
            }
            if self.undone.is_without_commit() && self.files.paths().next().is_none() {
                _ = self.undone.found_clean();
            }
        }
        if reversal == Reversal::Reverts {
            self.record_revert(file, source, settled);
        }
    }

    /// Takes what the agent wrote down for the next session: what was decided, what to watch out for, and what is left to do.
    fn handed_over(&mut self, file: &str, document: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let document = &commits::unwrapped(document);
        for decided in prose::decisions(document) {
            self.record_decided("handoff", decided, SaidBy::Agent, 60, source, settled);
        }
        self.record_findings(document, source, settled);
        self.open_points.handed_over(document);
        if !document.is_empty() {
            self.handoff = clean::path(file, &self.root);
            self.turn.state(prose::status(document), Voice::Answer);
        }
    }

    /// Records the rules that the agent adds to the project's list of lessons. What stood there before is known.
    fn lessons_written(&mut self, written: &str, before: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let known = prose::lessons(before);
        let mut added = prose::lessons(&clean::clean(written));
        added.retain(|lesson| !known.contains(lesson));
        // A file that is written anew has the new ones at its end.
        for (title, content) in added.split_off(added.len().saturating_sub(MAX_LESSONS)) {
            let memory = SessionMemory {
                key: format!("lesson:{:08x}", text::hash(&title)),
                kind: "learning".to_owned(),
                title,
                content,
                importance: 70,
                source: source.clone(),
                ..SessionMemory::default()
            };
            self.memories.add(memory, settled);
        }
    }

    /// Counts the names that an edit wrote into a file and took out of it. A file without a patch is new.
    fn count_names(&mut self, file: &str, edit: &Edit<'_>) {
        let turn = self.turns;
        self.vanished.file_written(file);
        if let Some(patch) = edit.patch {
            files::patch_lines(patch, |is_added, line| {
                if is_added { self.vanished.added(file, line, turn) } else { self.vanished.removed(file, line, turn) }
            });
        } else {
            let content = edit.content.as_deref().unwrap_or_default();
            let is_whole = content.len() <= MAX_CREATED_BYTES;
            self.vanished.created(file, text::head(content, MAX_CREATED_BYTES), is_whole);
        }
    }

    /// Records that a file of the project was changed: what was checked or committed before does not cover it.
    pub(super) fn project_changed(&mut self, file: &str) {
        self.recap.file_edited();
        self.edited_on.clone_from(&self.branch);
        self.undone.file_changed(file);
        self.changed_meanwhile();
        if !is_document(file) {
            self.evidence.file_changed(file, is_code(file), !is_configuration(file));
            if is_code(file) {
                self.ran.code_changed();
                self.turn.runs =
                    Some((self.turn.runs.map_or(self.evidence.runs(), |(first, _)| first), self.evidence.runs()));
            }
        }
    }

    /// Records that an edit was reverted. The agent's preceding text gives the reason.
    fn record_revert(&mut self, file: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let sentences = text::sentences(&self.turn.answer);
        let why = sentences.iter().map(|sentence| prose::strip_interjection(sentence)).find(|sentence| tells_why(sentence));
        let Some(why) = why else { return };
        let note = self.labels().reverted.replace("{}", file);
        let memory = SessionMemory {
            key: format!("revert:{}", source.uuid),
            kind: "learning".to_owned(),
            title: format!("{} ({note})", text::clip(why, 260)),
            files: vec![file.to_owned()],
            importance: 60,
            source: source.clone(),
            ..SessionMemory::default()
        };
        self.memories.add(memory, settled);
    }

    /// Records that the files for which `is_restored` returns true are as they were at the last commit.
    pub(super) fn files_restored(&mut self, is_restored: impl Fn(&str) -> bool + Copy) {
        self.undone.restored(is_restored);
        self.lost.forget(is_restored);
        self.turn.restored(is_restored);
        let commits = self.own_commits();
        self.taken_back.restored(self.files.paths().filter(|path| is_restored(path)), self.turns, commits);
        if !self.undone.is_without_commit() {
            return;
        }
        for path in self.files.paths().filter(|path| is_restored(path)) {
            self.vanished.file_removed(path, self.turns);
        }
        self.files.record_restoration(is_restored);
        if self.files.paths().next().is_none() {
            _ = self.undone.found_clean();
        }
    }

    /// Returns the files that a turn changed, as far as its changes still stand.
    pub(in crate::extract) fn files_changed_in(&self, turn: u32) -> impl Iterator<Item = &str> {
        self.files.paths().filter(move |path| self.taken_back.stands_of_turn(path, turn))
    }

    /// Records the files that a command line writes or deletes.
    pub(super) fn files_changed_by(&mut self, tool_use: &ToolUse, settled: &mut Vec<Draft>) {
        let effects = commands::file_effects(&tool_use.what, &tool_use.folder);
        let is_restored = |path: &str| effects.restores_all || effects.restored.iter().any(|restored| restored == path);
        if effects.restores_all || !effects.restored.is_empty() {
            self.files_restored(is_restored);
        }
        let is_in_folder = |path: &&str| {
            effects.removed_folders.iter().any(|it| path.strip_prefix(it.as_str()).is_some_and(|rest| rest.starts_with('/')))
        };
        let in_folders: Vec<String> = self.files.paths().filter(is_in_folder).map(str::to_owned).collect();
        for (from, to) in &effects.moved {
            self.files.record_move(from, to);
            self.vanished.file_moved(from, to);
            self.taken_back.file_moved(from, to);
        }
        for path in &in_folders {
            self.file_removed(path, true);
        }
        // What a command line writes for itself was not there before, unless the session made it.
        let known: Vec<&String> = effects.passing.iter().filter(|path| self.files.paths().any(|it| it == **path)).collect();
        for path in effects.removed.iter().chain(known) {
            let is_moved = effects.moved.iter().any(|(from, _)| from == path);
            let leaves_nothing = self.file_removed(path, !is_moved);
            self.file_changed_by_command(path, !leaves_nothing);
        }
        for path in &effects.written {
            self.files.record_written(path);
            self.vanished.file_written(path);
            self.turn.add_file(path);
            self.taken_back.edited(path, self.turns, self.own_commits());
            self.file_changed_by_command(path, true);
        }
        for path in &effects.manifests {
            self.files.record_written(path);
            self.taken_back.edited(path, self.turns, self.own_commits());
            self.project_changed(path);
        }
        if effects.written.iter().chain(&effects.removed).any(|path| !clean::is_outside(path)) {
            self.rulings_followed(settled);
        }
    }

    /// Records that a command deleted a file, or moved it. Returns whether it leaves nothing to check and nothing to commit, because the session
    /// itself made it.
    fn file_removed(&mut self, path: &str, is_deleted: bool) -> bool {
        if is_deleted {
            self.taken_back.edited(path, self.turns, self.own_commits());
        }
        // A copy outside of the project may have the name of a file inside, and a hidden file that the session did not make may only be state
        // that comes back.
        let is_state = path.starts_with('.') && !self.files.is_own(path);
        if is_deleted && !clean::is_outside(path) && !is_state {
            self.vanished.file_deleted(path, self.turns);
        } else {
            self.vanished.file_removed(path, self.turns);
        }
        self.turn.restored(|known| known == path);
        self.lost.forget(|known| known == path);
        let leaves_nothing = self.files.is_own(path) && self.undone.is_to_commit(path);
        self.files.record_removal(path, leaves_nothing);
        if leaves_nothing {
            self.undone.restored(|known| known == path);
        }
        leaves_nothing
    }

    /// Records that a command changed a file, if it lies in the project, and whether that is a change of the project.
    fn file_changed_by_command(&mut self, path: &str, is_change: bool) {
        if clean::is_outside(path) {
            return;
        }
        self.failures.file_changed(path);
        self.turn.file_edited(is_description(path));
        if is_change {
            self.project_changed(path);
        }
    }
}

/// Returns whether a patch only changes lines that hold a comment and nothing else.
fn only_comments(patch: Raw<'_>) -> bool {
    const MARKS: [&str; 7] = ["//", "# ", "/*", "* ", "*/", "-- ", "<!--"];
    let mut is_all = true;
    files::patch_lines(patch, |_, line| {
        let line = line.trim();
        is_all &= line.is_empty() || line == "#" || line == "*" || MARKS.iter().any(|mark| line.starts_with(mark));
    });
    is_all
}

/// Returns whether what the agent says of an edit that it takes back names the cause. Mostly it only says what is not needed, that it
/// goes on, or that a test fails without the edit.
fn tells_why(said: &str) -> bool {
    const MIN_CAUSE: u8 = 2;
    let lower = said.to_lowercase();
    prose::signs(&lower).0 >= MIN_CAUSE
        && said.chars().count() >= 12
        && !said.ends_with([':', '：'])
        && !text::contains_any_words(&lower, &["test", "tests", "테스트", "テスト", "测试"])
        && !prose::is_narration(said)
}

/// Returns whether a file is written for the next session, by its name or its folder's.
fn is_handoff(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.rsplit('.').next() == Some("md") && text::contains_any(&lower, &["handoff", "hand-off", "handover", "hand_off"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_nothing_to_try() {
        let only = |patch: &str| only_comments(Raw::parse(patch).unwrap());
        assert!(only(r#"[{"lines":[" open()","+// The bell rings.","+","-# Old"]}]"#));
        assert!(!only(r#"[{"lines":["+// The bell rings.","+ring()"]}]"#));
        assert!(!only(r#"[{"lines":["+open() // The bell rings."]}]"#));
    }

    #[test]
    fn attack_a_secret_that_only_the_lines_around_it_show() {
        let holds = |lines: &str| {
            let result = format!(r#"{{"structuredPatch":[{{"lines":[{lines}]}}]}}"#);
            Edit::read(Raw::parse(&result)).may_hold_secret()
        };
        assert!(holds(r#"" password: |","-  Winter=2023Till","+  Summer=2024Till""#));
        assert!(holds(r#"" chpasswd <<EOF","-amy:Winter2023=Till","+amy:Summer2024=Till"," EOF""#));
        assert!(holds(r#""-DB_PASSWORD=Winter2023Till","+DB_PASSWORD=Summer2024Till""#));
        assert!(!holds(r#"" const bell = 1;","-round(total, 1);","+round(total, 2);""#));
    }
}
