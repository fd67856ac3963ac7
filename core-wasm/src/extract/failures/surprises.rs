//! What the machine does not have or does otherwise: programs that are missing, and commands that run only in another form.

use serde::{Deserialize, Serialize};

use super::display::{display_command, is_whole};
use crate::extract::commands::{self, Complaint, Reason};
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::said_by::SaidBy;
use crate::text;

/// The maximum number of open surprises. The oldest is dropped first.
const MAX_OPEN: usize = 12;
/// After how many commands that passed the other form of a command is no cure any more.
const MAX_AGE: u32 = 12;
/// After how many commands that passed the work certainly went on without the program.
const MIN_AGE: u32 = 3;
/// The maximum length of a command or a pattern on a line, in characters.
const MAX_SHOWN_CHARS: usize = 90;

/// One surprise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Surprise {
    reason: Reason,
    name: String,
    segment: String,
    error: String,
    source: LineRef,
    /// How often it happened.
    times: u32,
    /// How many commands have passed since then.
    age: u32,
    /// What was run instead of a missing program. May be empty.
    instead: String,
}

/// All surprises that are not explained yet, and the programs that are missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Surprises {
    open: Vec<Surprise>,
}

impl Surprises {
    /// Records a command and what it printed. Returns what is known now of earlier ones, and of this
    /// one if it explains itself; and whether the command is explained.
    pub(super) fn ran(
        &mut self,
        command: &str,
        output: &str,
        (is_error, failed): (bool, bool),
        source: &LineRef,
        labels: &Labels,
    ) -> (Vec<SessionMemory>, bool) {
        let found = commands::complaint(command, output, is_error);
        let mut known = Vec::new();
        if !failed {
            self.open.retain_mut(|surprise| {
                let repeats = found.as_ref().is_some_and(|it| it.reason == surprise.reason && it.name == surprise.name);
                !repeats && !surprise.ends_with(command, !output.trim().is_empty(), labels, &mut known)
            });
        } else if let Some(program) = found.is_none().then(|| commands::own_program(commands::main_segment(command))) {
            // It ran, whatever came of it.
            self.open.retain(|surprise| surprise.reason != Reason::Absent || surprise.name != program);
        }
        let main = commands::main_segment(command);
        let is_explained =
            found.as_ref().is_some_and(|complaint| complaint.segment == main || complaint.reason == Reason::Hook);
        if let Some(complaint) = found {
            match explanation(&complaint, labels) {
                Some((key, content)) => known.push(memory(key, content, source.clone())),
                None => self.add(complaint, source),
            }
        }
        (known, is_explained)
    }

    fn add(&mut self, complaint: Complaint, source: &LineRef) {
        let Complaint { reason, name, segment, error } = complaint;
        if let Some(same) = self.open.iter_mut().find(|it| it.reason == reason && it.name == name) {
            same.times += 1;
            same.age = 0;
            return;
        }
        let segment = text::clip(&segment, 600).into_owned();
        self.open.push(Surprise { reason, name, segment, error, source: source.clone(), times: 1, ..Surprise::default() });
        if self.open.len() > MAX_OPEN {
            self.open.remove(0);
        }
    }

    /// Records a change of a file: another ignore file ignores other paths.
    pub(super) fn file_changed(&mut self, file: &str) {
        if file.ends_with("ignore") || file.ends_with(".git/info/exclude") {
            self.open.retain(|surprise| surprise.reason != Reason::Ignored);
        }
    }

    /// Returns the programs that the session went without.
    pub(super) fn memories(&self, labels: &Labels) -> Vec<SessionMemory> {
        self.open.iter().filter_map(|surprise| surprise.memory(labels)).collect()
    }
}

impl Surprise {
    /// Takes a command that passed. Returns whether the surprise is over.
    fn ends_with(&mut self, command: &str, has_output: bool, labels: &Labels, known: &mut Vec<SessionMemory>) -> bool {
        self.age += 1;
        if self.reason == Reason::Label {
            // Whoever makes the label may use it.
            return command.contains("label create") && command.contains(self.name.as_str());
        }
        if self.reason == Reason::NoLog && !has_output {
            return self.age > MAX_AGE;
        }
        if self.reason == Reason::Ignored {
            // It was added after all, or all files are, or what is ignored changed.
            let adds = |segment: &&str| {
                let words = commands::own_words(segment);
                commands::own_program(segment) == "git"
                    && words.get(1) == Some(&"add")
                    && (segment.contains(self.name.as_str()) || segment.split_whitespace().any(is_of_all))
            };
            return command.contains("ignore") || commands::segments(command).iter().any(adds);
        }
        if self.reason == Reason::Absent || self.reason == Reason::Module {
            let installs = ["install", "add", "sync", "tap", "get"];
            // A package may be named otherwise than its module, but not otherwise than its program.
            let is_named = |word: &&str| match self.reason {
                Reason::Module => word.contains(self.name.as_str()),
                _ => word.split(['@', '=', '[']).next().and_then(|word| word.rsplit('/').next()) == Some(self.name.as_str()),
            };
            let names = |segment: &&str| {
                let words = commands::own_words(segment);
                words.first() != Some(&"git")
                    && words.iter().any(|word| installs.contains(word))
                    && words.iter().any(is_named)
            };
            if commands::segments(command).iter().any(names) {
                return true;
            }
        }
        if self.reason == Reason::Absent {
            if commands::segments(command).iter().any(|segment| commands::names_program(segment, &self.name)) {
                // A mention is no run: `which name`, or a name that is also a file's.
                return commands::own_program(commands::main_segment(command)) == self.name;
            }
            if self.instead.is_empty()
                && self.age <= MIN_AGE
                && let Some(other) = self.same_work(command)
            {
                self.instead = other;
            }
            return false;
        }
        let Some(cure) = self.cure(command) else { return self.age > MAX_AGE && self.reason != Reason::Hook };
        let content = format!("{}. {}: `{cure}`", self.told(labels), labels.fixed_by);
        known.push(memory(format!("surprise:{:?}:{}", self.reason, self.name), content, self.source.clone()));
        true
    }

    /// Returns what happened, as it is told.
    fn told(&self, labels: &Labels) -> String {
        let quoted = |text: &str| format!("`{text}`");
        let shown = match self.reason {
            Reason::Module => {
                let python = labels.no_module.replacen("{}", &quoted(&runner(&self.segment)), 1);
                return python.replacen("{}", &quoted(&self.name), 1);
            }
            Reason::Repository | Reason::Label => commands::verb_words(&self.segment).join(" "),
            Reason::Hook => self.name.clone(),
            Reason::NoLog => return labels.prints_nothing.replace("{}", &quoted(&self.name)),
            _ => text::clip(&display_command(&self.segment), MAX_SHOWN_CHARS).into_owned(),
        };
        let error = self.error.split(". ").next().unwrap_or_default().trim_end_matches('.');
        format!("{} {}: {error}", quoted(&shown), labels.fails.to_lowercase())
    }

    /// Returns the command of a line that does the same work without the missing program.
    fn same_work(&self, command: &str) -> Option<String> {
        let without = |segment: &str| {
            let words = commands::own_words(segment);
            words.into_iter().filter(|word| *word != self.name).collect::<Vec<_>>().join(" ")
        };
        let (own, program) = (without(&self.segment), commands::own_program(&self.segment));
        let is_same = |segment: &&str| {
            // What ran it is missing, as `timeout 30` is on some machines.
            let other = without(segment);
            let is_end = other.contains(' ') && own.strip_suffix(other.as_str()).is_some_and(|it| it.ends_with(' '));
            (own == other && program != self.name) || is_end
        };
        let segment = commands::segments(command).into_iter().find(is_same)?;
        let shown = display_command(segment);
        (is_whole(&shown) && shown.chars().count() <= MAX_SHOWN_CHARS).then_some(shown)
    }

    /// Returns the form of the command in which it passed.
    fn cure(&self, command: &str) -> Option<String> {
        let command = &commands::with_values(command);
        let segments = commands::segments(command);
        let program = commands::own_program(&self.segment);
        match self.reason {
            Reason::Module => {
                let imports = commands::imports(command, &self.name);
                let segment = segments.iter().find(|segment| commands::own_program(segment) == program)?;
                let other = runner(segment);
                (imports && other != runner(&self.segment)).then_some(other)
            }
            Reason::Repository => {
                let option = |segment: &&str| {
                    let mut words = segment.split_whitespace();
                    let named = words.find(|word| matches!(*word, "-R" | "--repo"))?;
                    let repository = words.next()?.trim_matches(['"', '\'']);
                    repository.contains('/').then(|| format!("{named} {repository}"))
                };
                let variable = |segment: &&str| {
                    let named = segment.split_whitespace().find(|word| word.starts_with("GH_REPO="))?;
                    named.contains('/').then(|| named.to_owned())
                };
                let of_gh = || segments.iter().filter(|segment| commands::own_program(segment) == "gh");
                of_gh().find_map(option).or_else(|| of_gh().find_map(variable)).filter(|it| is_whole(it))
            }
            Reason::Hook => {
                let is_other_way = |segment: &&&str| {
                    commands::own_program(segment) == program
                        && !segment.trim_start().starts_with(program)
                        && commands::own_words(segment).len() > 1
                        && segment
                            .split_whitespace()
                            .next()
                            .is_some_and(|first| first.bytes().all(|byte| byte.is_ascii_lowercase()))
                };
                segments.iter().find(is_other_way).map(|segment| format!("{} …", runner(segment)))
            }
            Reason::Tagged => {
                let own = subjects(&self.segment);
                let builds = |segment: &&&str| {
                    commands::own_program(segment) == program
                        && commands::build_tags(segment).is_some()
                        && subjects(segment).iter().any(|subject| own.contains(subject))
                };
                let shown = display_command(segments.iter().find(builds)?);
                Some(shown).filter(|shown| is_whole(shown))
            }
            Reason::NoLog => {
                let words = segments.iter().filter(|segment| commands::own_program(segment) == "gh");
                let mut words = words.flat_map(|segment| segment.split_whitespace());
                let is_log = |word: &&str| word.contains("/jobs/") && word.trim_matches(['"', '\'']).ends_with("/logs");
                let (before, behind) = words.find(is_log)?.trim_matches(['"', '\'']).split_once("/jobs/")?;
                let id = behind.strip_suffix("/logs").filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
                id.filter(|_| is_whole(before)).map(|_| format!("gh api {before}/jobs/ID/logs"))
            }
            _ => None,
        }
    }

    /// Returns what a program that was not there teaches.
    fn memory(&self, labels: &Labels) -> Option<SessionMemory> {
        match self.reason {
            Reason::Absent if self.age >= MIN_AGE || !self.instead.is_empty() => {
                let mut content = labels.not_installed.replace("{}", &format!("`{}`", self.name));
                if !self.instead.is_empty() {
                    content = format!("{content}. {}: `{}`", labels.instead, self.instead);
                }
                Some(memory(format!("absent:{}", self.name), content, self.source.clone()))
            }
            Reason::Ignored => {
                let content = labels.ignored_by_git.replace("{}", &format!("`{}`", self.name));
                Some(memory(format!("ignored:{}", self.name), content, self.source.clone()))
            }
            Reason::Label => Some(memory(format!("label:{}", self.name), self.told(labels), self.source.clone())),
            // What was refused once may have been refused for its words.
            Reason::Hook if self.times > 1 => {
                let content = format!("{}: {}", labels.refused_here.replace("{}", &format!("`{}`", self.name)), self.error);
                Some(memory(format!("surprise:Hook:{}", self.name), content, self.source.clone()))
            }
            _ => None,
        }
    }
}

/// Returns what a command of Go is about: the package of the deepest folder, and the names of tests.
fn subjects(segment: &str) -> Vec<&str> {
    let words = || segment.split_whitespace();
    let tests = words().skip_while(|word| *word != "-run").nth(1).map(|names| names.trim_matches(['"', '\'', '^', '$']));
    let package = words().find(|word| word.starts_with("./")).map(|word| word.trim_end_matches("...").trim_end_matches('/'));
    // A test that is picked is what was looked for, wherever it is.
    tests.or(package.filter(|package| package.len() > 2)).into_iter().collect()
}

/// Returns whether an argument of `git add` means all files.
fn is_of_all(word: &str) -> bool {
    matches!(word, "." | "-A" | "--all" | "*" | ":/" | "-f" | "--force")
}

/// Returns a segment up to its program: what runs it, and it.
fn runner(segment: &str) -> String {
    let program = commands::own_words(segment).first().copied().unwrap_or_default().to_owned();
    let mut shown: Vec<&str> = Vec::new();
    for word in segment.split_whitespace() {
        let is_program = word.rsplit('/').next() == Some(program.as_str());
        if !word.contains('=') && !matches!(word, "do" | "then" | "!" | "(" | "if") {
            shown.push(word);
        }
        if is_program {
            break;
        }
    }
    shown.join(" ")
}

/// Returns what a complaint teaches by itself: how the shell reads a line does not depend on the project.
fn explanation(complaint: &Complaint, labels: &Labels) -> Option<(String, String)> {
    let name = text::clip(&complaint.name, 60);
    match complaint.reason {
        Reason::Pattern if complaint.name.starts_with("--") => {
            Some(("zsh:pattern".to_owned(), labels.unquoted.replace("{}", &format!("`{name}`"))))
        }
        Reason::Pattern => {
            let (before, query) = complaint.name.split_once('?')?;
            let last = before.rsplit('/').next().unwrap_or(before);
            let option = query.split('=').next().unwrap_or_default();
            Some(("zsh:address".to_owned(), labels.unquoted.replace("{}", &format!("`…/{last}?{option}=…`"))))
        }
        Reason::Moved => {
            let address = format!("`{}`", complaint.name);
            Some(("git:moved".to_owned(), labels.moved_to.replace("{}", &address)))
        }
        Reason::Exists => Some(("zsh:exists".to_owned(), labels.no_clobber.to_owned())),
        Reason::SearchPath => Some(("zsh:path".to_owned(), labels.path_variable.to_owned())),
        _ => None,
    }
}

fn memory(key: String, content: String, source: LineRef) -> SessionMemory {
    SessionMemory {
        kind: "error_fix".to_owned(),
        title: text::clip(&content, 200).into_owned(),
        content,
        importance: if key.starts_with("zsh:") || key.starts_with("git:") { 45 } else { 60 },
        source,
        said_by: SaidBy::Tool,
        key,
        ..SessionMemory::default()
    }
}
