//! Two machines that sync clones of one git repository come to agree, whatever was written, edited, renamed and deleted on both.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tests::bulk::Dice;
use tests::env_number;
use tests::home::Home;
use tests::process::{self, Finished, WATCHDOG};

/// How many random histories are played, and how many things happen on each machine between two merges.
const HISTORIES: u64 = 4;
const MERGES: u64 = 3;
const DEEDS: u64 = 4;

/// A machine: a user's home with a clone of the repository.
struct Machine {
    home: Home,
    project: PathBuf,
}

/// The written and the deleted notes, each identified by its unique word.
#[derive(Default)]
struct History {
    written: u64,
    deleted: BTreeSet<String>,
    told: Vec<String>,
}

impl Machine {
    fn git(&self, arguments: &[&str]) -> Finished {
        let mut command = self.home.isolated("git");
        command.current_dir(&self.project);
        command.args(["-c", "user.name=Test", "-c", "user.email=test@example.org"]);
        command.args(arguments);
        process::run(command, Vec::new(), WATCHDOG)
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        let mut command = self.home.command(arguments);
        command.current_dir(&self.project);
        process::run(command, Vec::new(), WATCHDOG)
    }

    fn notes(&self) -> PathBuf {
        self.project.join(".gsd/memories")
    }

    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(&self.notes(), &self.notes(), &mut files);
        files
    }

    /// What people see of every note.
    fn stored(&self) -> Vec<Value> {
        if !self.home.database().exists() {
            return Vec::new();
        }
        let mut all = self.home.memories_of(&self.project);
        for memory in &mut all {
            for field in ["project", "score", "seen"] {
                memory.as_object_mut().expect("an object").remove(field);
            }
        }
        all.sort_by_key(|memory| memory["id"].to_string());
        all
    }

    /// A conflict makes it exit with 1, and is no fault.
    fn sync(&self) -> Value {
        let run = self.run(&["note", "sync", "--delete", "--json"]);
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:#?}"))
    }

    /// Syncs, commits, merges what the other machine pushed, syncs and pushes. Of a conflict one side is taken, file by file.
    fn publish(&self, dice: &mut Dice) {
        self.sync();
        self.commit();
        let _ = self.git(&["fetch", "--quiet", "origin"]).success();
        // The strategy that knows no renames: a deleted note and a new one are alike enough to be taken for one and merged, and a
        // folder that all were moved out of would take along what is new there.
        if self.git(&["merge", "--quiet", "--no-edit", "--strategy=resolve", "origin/main"]).code != Some(0) {
            let unmerged = self.git(&["ls-files", "--unmerged", "-z"]).success().stdout;
            let mut sides: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for entry in unmerged.split('\0').filter(|entry| !entry.is_empty()) {
                let (about, path) = entry.split_once('\t').expect("a path");
                sides.entry(path).or_default().push(about.rsplit(' ').next().expect("a stage"));
            }
            for (path, has) in sides {
                let (side, stage) = if dice.below(2) == 0 { ("--ours", "2") } else { ("--theirs", "3") };
                let run = if has.contains(&stage) {
                    let _ = self.git(&["checkout", side, "--", path]).success();
                    self.git(&["add", "--", path])
                } else {
                    self.git(&["rm", "--quiet", "--force", "--", path])
                };
                let _ = run.success();
            }
        }
        self.commit();
        // A note that was deleted for good on one machine may be in a file that was renamed on the other; the user is told and
        // deletes it.
        for told in self.sync()["told"].as_array().expect("an array") {
            if told["why"].as_str().is_some_and(|why| why.contains("deleted for good here: delete the file")) {
                fs::remove_file(self.notes().join(told["path"].as_str().expect("a path"))).expect("delete the file");
            }
        }
        self.commit();
        let _ = self.git(&["push", "--quiet", "origin", "HEAD:main"]).success();
    }

    fn commit(&self) {
        let _ = self.git(&["add", "--all"]).success();
        let _ = self.git(&["commit", "--quiet", "--allow-empty", "--message=Notes"]).success();
    }

    /// One thing that a person or an agent does.
    fn deed(&self, dice: &mut Dice, history: &mut History) {
        let files = self.files();
        let at = |dice: &mut Dice, number: usize| usize::try_from(dice.below(number as u64)).expect("a place");
        let file = (!files.is_empty()).then(|| files.iter().nth(at(dice, files.len())).expect("a file"));
        match (dice.below(8), file) {
            (0, Some((path, text))) => {
                history.deleted.extend(words(text));
                fs::remove_file(self.notes().join(path)).expect("delete the file");
                history.told.push(format!("delete {path}"));
            }
            (1, Some((path, _))) => {
                let to = format!("general/renamed-{}.md", dice.below(1_000_000));
                fs::create_dir_all(self.notes().join("general")).expect("create the folder");
                fs::rename(self.notes().join(path), self.notes().join(&to)).expect("rename the file");
                history.told.push(format!("rename {path} to {to}"));
            }
            (2 | 3, Some((path, text))) => {
                let more = format!("{text}\nEdited for reason {}.\n", dice.below(1_000_000));
                fs::write(self.notes().join(path), more).expect("edit the file");
                history.told.push(format!("edit {path}"));
            }
            (4, _) => {
                let stored = self.stored();
                if !stored.is_empty() {
                    let memory = &stored[at(dice, stored.len())];
                    history.deleted.extend(words(&memory.to_string()));
                    let _ = self.run(&["memory", "delete", memory["id"].as_str().expect("an id")]).success();
                    history.told.push(format!("delete the note {}", memory["title"]));
                }
            }
            (5, _) => {
                self.sync();
                history.told.push("sync".into());
            }
            _ => {
                history.written += 1;
                let word = format!("fact{:04}", history.written);
                let title = format!("What {} is about", ["pools", "tokens", "clocks"][at(dice, 3)]);
                let kind = ["root-cause", "general", "pattern-discovery"][at(dice, 3)];
                let title = format!("{title} in {}", history.written % 5);
                let run = self.run(&["note", "add", "--title", &title, "--type", kind, &format!("It is {word}.")]);
                let stored = run.success().stdout;
                if stored.starts_with("[SKIP:DUPLICATE]") {
                    history.deleted.insert(word);
                }
                history.told.push(format!("store {stored}"));
            }
        }
    }
}

fn collect(root: &Path, folder: &Path, into: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, into);
        } else {
            let name = path.strip_prefix(root).expect("below the folder").to_string_lossy().into_owned();
            into.insert(name, fs::read_to_string(&path).expect("a text"));
        }
    }
}

/// The words of the notes that a text holds.
fn words(text: &str) -> Vec<String> {
    text.match_indices("fact").map(|(at, _)| text[at..].chars().take(8).collect()).collect()
}

/// Two machines with clones of one repository, whose first commit is there.
fn machines(origin: &Path) -> [Machine; 2] {
    let home = Home::new();
    let project = home.project("shop");
    let one = Machine { home, project };
    let origin = origin.to_str().expect("a path");
    let _ = one.git(&["clone", "--quiet", "--bare", ".", origin]).success();
    let _ = one.git(&["remote", "add", "origin", origin]).success();
    let home = Home::new();
    home.git(&home.work(), &["clone", "--quiet", origin, "shop"]);
    let project = home.work().join("shop");
    [one, Machine { home, project }]
}

#[test]
fn two_machines_with_one_repository_come_to_agree() {
    for seed in 1..=env_number("THROUGHLINE_HISTORIES", HISTORIES) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let machines = machines(&folder.path().join("origin.git"));
        let mut dice = Dice::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut history = History::default();
        for _ in 0..MERGES {
            for machine in &machines {
                for _ in 0..DEEDS {
                    machine.deed(&mut dice, &mut history);
                }
            }
            for machine in &machines {
                machine.publish(&mut dice);
                history.told.push("publish".into());
            }
        }
        for machine in machines.iter().chain(&machines).chain(&machines) {
            machine.publish(&mut dice);
        }
        let told = history.told.join("\n");
        let [one, other] = &machines;
        assert_eq!(one.files(), other.files(), "seed {seed}: the folders differ\n{told}");
        assert_eq!(one.stored(), other.stored(), "seed {seed}: the notes differ\n{told}\n{:#?}", one.files());
        let kept: BTreeSet<String> = one.stored().iter().flat_map(|memory| words(&memory.to_string())).collect();
        for word in (1..=history.written).map(|number| format!("fact{number:04}")) {
            assert!(kept.contains(&word) || history.deleted.contains(&word), "seed {seed}: {word} is lost\n{told}");
        }
        for machine in &machines {
            let report = machine.sync();
            let idle = ["stored", "edited", "renamed", "deleted", "written", "rewritten", "removed"];
            assert!(idle.iter().all(|what| report[*what] == 0), "seed {seed}: {report:#}\n{told}");
        }
    }
}
