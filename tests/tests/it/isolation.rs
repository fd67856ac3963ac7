//! No project sees another's memories, however alike their folders are called: prefixes of one another, same basenames, other
//! cases and Unicode normal forms, links, worktrees, folders that were moved.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tests::home::Home;
use tests::session::Session;
use tests::transcript::session_id;

/// Every project says this, and a word of its own.
const COMMON: &str = "quokka";

fn word(number: usize) -> String {
    // No word is a prefix of another, and none of them has a common stem.
    format!("zz{number:03}kiwi")
}

fn write(home: &Home, folder: &Path, number: usize) {
    let mut session = Session::new(home, folder, &session_id(number as u64 + 1));
    session
        .transcript
        .user(&format!("Always use the {COMMON} tool named {}", word(number)))
        .bash_fails("make", 2, &format!("error: {COMMON} {} is missing", word(number)))
        .edits("src/main.rs", "old", &word(number))
        .answer(&format!("The {COMMON} tool {} is in use", word(number)));
    session.transcript.write_to(&session.path);
}

/// Panics unless what is seen in the folder is of the project with this number alone; none: of no project.
#[track_caller]
fn assert_sees(home: &Home, folder: &Path, all: usize, own: Option<usize>) {
    let shown = folder.to_string_lossy().into_owned();
    let mut told = Vec::new();
    for arguments in [
        vec!["memory", "search", COMMON, "--json", "--limit", "1000", "--project", &shown],
        vec!["memory", "search", "type:turn", "--json", "--limit", "1000", "--project", &shown],
        vec!["memory", "list", "--json", "--limit", "1000", "--project", &shown],
        vec!["context", "--source", "startup", "--project", &shown],
        vec!["context", "--source", "resume", "--session", &session_id(1), "--project", &shown],
    ] {
        told.push((arguments.join(" "), home.run(&arguments).success().stdout));
    }
    let hook = Session::new(home, folder, &session_id(9_999)).start("startup");
    told.push(("hook".into(), hook.context.unwrap_or_default()));
    for (what, text) in &told {
        for number in (0..all).filter(|number| Some(*number) != own) {
            assert!(!text.contains(&word(number)), "{what} in {shown} tells of project {number}:\n{text}");
        }
    }
    if let Some(own) = own {
        assert!(told[0].1.contains(&word(own)), "{shown} does not know its own: {}", told[0].1);
        assert!(told[5].1.contains(&word(own)), "{shown} is not told its own: {}", told[5].1);
    }
}

#[test]
fn projects_that_are_called_alike() {
    let home = Home::new();
    let work = home.work();
    let mut folders: Vec<PathBuf> = Vec::new();
    for name in
        ["app", "app2", "app-old", "APP", "a%", "a_", "caf\u{e9}", "cafe\u{301}", "x/app", "y/app", "x/app/vendor/app"]
    {
        folders.push(home.project(name));
    }
    for name in ["plain", "plain/inner", "Plain", "plain "] {
        let folder = work.join(name);
        std::fs::create_dir_all(&folder).expect("the folder");
        folders.push(folder);
    }
    for (number, folder) in folders.iter().enumerate() {
        write(&home, folder, number);
    }
    drop(home.run(["ingest"]).success());
    let all = folders.len();
    for (number, folder) in folders.iter().enumerate() {
        assert_sees(&home, folder, all, Some(number));
    }

    // Other names of the same project.
    std::os::unix::fs::symlink(&folders[0], work.join("link")).expect("a link");
    assert_sees(&home, &work.join("link"), all, Some(0));
    let tree = work.join("tree");
    home.git(&folders[0], &["worktree", "add", "--quiet", &tree.to_string_lossy()]);
    assert_sees(&home, &tree, all, Some(0));

    // Another project in the place of one that was there, and one that has moved away.
    std::fs::rename(&folders[1], work.join("moved")).expect("it moves");
    assert_sees(&home, &work.join("moved"), all, None);
    std::fs::rename(&folders[2], &folders[1]).expect("another one moves in");
    std::os::unix::fs::symlink(&folders[1], &folders[2]).expect("a link");
    assert_sees(&home, &folders[2], all, Some(1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn projects_of_any_names(names in prop::collection::vec("[aA\u{e1}_%.b -]{1,4}(/[aAb]{1,2})?", 6)) {
        let home = Home::new();
        let mut folders = BTreeSet::new();
        for name in names {
            // A component of dots is another folder.
            if name.split('/').any(|part| part.chars().all(|c| c == '.')) {
                continue;
            }
            let folder = home.work().join(name);
            std::fs::create_dir_all(&folder).expect("the folder");
            folders.insert(folder);
        }
        let folders: Vec<PathBuf> = folders.into_iter().collect();
        for (number, folder) in folders.iter().enumerate() {
            write(&home, folder, number);
        }
        drop(home.run(["ingest"]).success());
        for (number, folder) in folders.iter().enumerate() {
            assert_sees(&home, folder, folders.len(), Some(number));
        }
    }
}
