//! The small change of a turn, which is told if its answer says nothing of it.

use serde::{Deserialize, Serialize};

use super::Turn;
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::statement::{Form, Statement, Voice};
use crate::text;

/// The maximum number of lines that a small change adds to a file or removes from it, and of the files of one.
const MAX_LINES: usize = 8;
const MAX_FILES: usize = 3;
/// The maximum number of added lines that are told of one file.
const MAX_TOLD: usize = 2;
/// The minimum length of a line that is told, and the maximum lengths of one beside what it replaced, and of all that are told of one
/// file, in characters.
const MIN_CHARS: usize = 4;
const MAX_PAIR_CHARS: usize = 60;
const MAX_ALL_CHARS: usize = 160;
/// The length from which an answer says something of the work, whatever it names, in characters.
const MIN_ANSWER_CHARS: usize = 160;

/// The lines of one file that a turn changed, without their indentation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChangedLines {
    file: String,
    removed: Vec<String>,
    added: Vec<String>,
    /// Whether they are more than a small change has, so that not all of them are known.
    is_large: bool,
}

impl ChangedLines {
    /// Counts a line that was added or removed. One that is back, or gone again, does not count.
    fn count(&mut self, is_added: bool, line: &str) {
        let (own, other) =
            if is_added { (&mut self.added, &mut self.removed) } else { (&mut self.removed, &mut self.added) };
        match other.iter().position(|known| known == line) {
            Some(at) => _ = other.remove(at),
            None => own.push(line.to_owned()),
        }
    }

    /// Counts the lines of an edit. The first of each pair says whether the line was added.
    fn count_all(&mut self, lines: &[(bool, String)]) {
        // An edit of which no line is known may have changed anything.
        if lines.is_empty() || lines.len() > 2 * MAX_LINES {
            self.is_large = true;
            return;
        }
        for (is_added, line) in lines {
            match line.trim() {
                "" => {}
                line if line.chars().count() > MAX_ALL_CHARS => self.is_large = true,
                line => self.count(*is_added, line),
            }
        }
        self.is_large |= self.added.len() > MAX_LINES || self.removed.len() > MAX_LINES;
    }

    /// Returns what is told of the change. None if that is too much.
    fn told(&self) -> Option<String> {
        let telling = |lines: &[String]| -> Vec<String> {
            let mut telling: Vec<String> = lines.iter().filter(|line| says_something(line)).cloned().collect();
            telling.dedup();
            telling
        };
        let (removed, added) = (telling(&self.removed), telling(&self.added));
        let chars = |lines: &[String]| -> usize { lines.iter().map(|line| line.chars().count()).sum() };
        let is_short = |line: &String| line.chars().count() <= MAX_PAIR_CHARS;
        match (removed.as_slice(), added.as_slice()) {
            _ if self.is_large || added.len() > MAX_TOLD || chars(&added) > MAX_ALL_CHARS => None,
            _ if added.iter().chain(&removed).any(|line| line.contains('`')) => None,
            ([before], [after]) if is_short(before) && is_short(after) => Some(format!("`{before}` → `{after}`")),
            _ => Some(added.iter().map(|line| format!("+ `{line}`")).collect::<Vec<_>>().join(", ")),
        }
    }
}

impl Turn {
    /// Records the lines that an edit of a file added or removed. The first of each pair says whether the line was added. `may_hold_secret`
    /// is asked only if they may be told.
    pub(in crate::extract) fn lines_changed(
        &mut self,
        file: &str,
        lines: &[(bool, String)],
        may_hold_secret: impl FnOnce() -> bool,
    ) {
        if self.changed_lines.len() > MAX_FILES {
            return;
        }
        let at = self.changed_lines.iter().position(|it| it.file == file).unwrap_or_else(|| {
            self.changed_lines.push(ChangedLines { file: file.to_owned(), ..ChangedLines::default() });
            self.changed_lines.len() - 1
        });
        let changed = &mut self.changed_lines[at];
        if !changed.is_large {
            changed.count_all(lines);
        }
        // To look for secrets takes longer than all else here.
        if changed.is_large || may_hold_secret() {
            changed.is_large = true;
            (changed.removed, changed.added) = (Vec::new(), Vec::new());
        }
        // A turn that changed more files did something else than a small change, even if some of them are restored later: a change
        // without a file stands for all that are not kept.
        if self.changed_lines.len() > MAX_FILES {
            self.changed_lines.truncate(MAX_FILES);
            self.changed_lines.push(ChangedLines { is_large: true, ..ChangedLines::default() });
        }
    }

    /// Forgets the changes of files that are gone, or as they were before.
    pub(in crate::extract) fn restored(&mut self, is_restored: impl Fn(&str) -> bool) {
        self.changed_lines.retain(|it| !is_restored(&it.file));
    }

    /// Returns the small change of a turn whose answer says nothing of it, by file: "Good catch."
    pub(super) fn untold_changes(&self) -> Vec<Statement> {
        let told: Option<Vec<(String, &str)>> =
            self.changed_lines.iter().map(|it| Some((it.told()?, it.file.as_str()))).collect();
        let Some(told) = told.filter(|_| self.changed_lines.len() <= MAX_FILES && !self.is_silent()) else {
            return Vec::new();
        };
        let mut changes: Vec<(String, Vec<&str>)> = Vec::new();
        for (change, file) in told.into_iter().filter(|(change, _)| !change.is_empty()) {
            match changes.iter_mut().find(|(known, _)| *known == change) {
                Some((_, files)) => files.push(file),
                None => changes.push((change, vec![file])),
            }
        }
        let texts: Vec<String> =
            changes.iter().map(|(change, files)| format!("{change} (`{}`)", files.join("`, `"))).collect();
        if self.says_of_change(&texts) {
            return Vec::new();
        }
        let count = u16::try_from(texts.len()).unwrap_or(u16::MAX);
        let told = texts.into_iter().zip(0..).map(|(text, place)| Statement {
            text,
            voice: Voice::Answer,
            form: Form::Item,
            place,
            count,
            ..Statement::default()
        });
        told.collect()
    }

    /// Returns whether the agent says something of a change: its answer is long, or a word of the change stands there or in what it said
    /// while it worked.
    fn says_of_change(&self, change: &[String]) -> bool {
        let says_nothing =
            |said: &String| prose::is_filler(said) || prose::is_narration(said) || signs::is_praise(&said.to_lowercase());
        let said = text::sentences(&self.answer);
        let words: text::Features = change.iter().flat_map(|change| text::features(change)).collect();
        let names = |said: &str| !text::features(said).is_disjoint(&words);
        let on_the_way = |it: &Statement| it.voice == Voice::Work && names(&it.text);
        if self.statements.iter().any(on_the_way) {
            return true;
        }
        !said.iter().all(says_nothing)
            && (self.answer.chars().count() >= MIN_ANSWER_CHARS || said.iter().any(|said| names(said)))
    }
}

/// Returns whether a line of code says something alone: not "}", and not what it only takes from elsewhere.
fn says_something(line: &str) -> bool {
    const IMPORTS: [&str; 4] = ["import ", "use ", "from ", "#include "];
    line.chars().count() >= MIN_CHARS
        && line.contains([' ', '(', '='])
        && line.contains(char::is_alphanumeric)
        && !IMPORTS.iter().any(|opening| line.starts_with(opening))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::memories::LineRef;

    fn turn(edits: &[(&str, &str, &str)]) -> Turn {
        let mut turn = Turn::begin(LineRef::default(), String::new(), "only cents are rounded", true);
        for (file, before, after) in edits {
            let removed = before.lines().map(|line| (false, line.to_owned()));
            let lines: Vec<(bool, String)> = removed.chain(after.lines().map(|line| (true, line.to_owned()))).collect();
            turn.lines_changed(file, &lines, || false);
        }
        turn
    }

    fn told(mut turn: Turn, answer: &str) -> Vec<String> {
        turn.say(answer, LineRef::default());
        let told = turn.all_statements().into_iter().filter(|it| it.form == Form::Item);
        told.map(|it| it.text).collect()
    }

    #[test]
    fn a_small_change_is_stated_if_the_answer_says_nothing() {
        let turn = turn(&[
            ("day.sh", "round -1", "round -2"),
            ("night.sh", "round -1", "round -2"),
            ("slow.sh", "wait 30", "wait 60"),
            ("slow.sh", "wait 60", "wait 30"),
        ]);
        assert_eq!(told(turn.clone(), "Good catch."), ["`round -1` → `round -2` (`day.sh`, `night.sh`)"]);
        assert!(told(turn.clone(), "The till now has a round sum in all places.").is_empty());
        assert_eq!(told(turn.clone(), "The hint of the editor is stale, and will go.").len(), 1);
        assert!(told(turn, "").is_empty(), "the turn was interrupted");
    }

    #[test]
    fn the_lines_that_were_added_are_told_whole() {
        let added = "use till::bell;\n\nlet rings = bell.count(slip);\nlog(\"rang {rings} times\");\n}";
        let told = |more: &str| told(turn(&[("till.rs", "log(\"rang\");", &format!("{added}\n{more}"))]), "That is right.");
        assert_eq!(told(""), ["+ `let rings = bell.count(slip);`, + `log(\"rang {rings} times\");` (`till.rs`)"]);
        assert!(told("let third = 1;").is_empty(), "it is no small change");
    }

    #[test]
    fn of_many_files_nothing_is_told_though_some_are_restored() {
        let edits: Vec<String> = (0..6).map(|number| format!("slip{number}.sh")).collect();
        let edits: Vec<(&str, &str, &str)> = edits.iter().map(|file| (file.as_str(), "round -1", "round -2")).collect();
        let mut turn = turn(&edits);
        turn.restored(|file| ["slip0.sh", "slip1.sh", "slip2.sh"].contains(&file));
        assert!(told(turn, "Good catch.").is_empty());
    }

    #[test]
    fn a_change_is_told_only_if_all_of_it_is_known_and_small() {
        let large = "wait 1\n".repeat(20);
        for other in [("slip.sh", "", large.as_str()), ("slip.sh", "", "")] {
            let turn = turn(&[("day.sh", "round -1", "round -2"), other]);
            assert!(told(turn.clone(), "Good catch.").is_empty());
            let mut restored = turn;
            restored.restored(|file| file == "slip.sh");
            assert_eq!(told(restored, "Good catch.").len(), 1);
        }
    }
}
