//! Tests of what git still has to commit.

use super::*;

fn tree(paths: &[&str]) -> WorkTree {
    let mut tree = WorkTree::default();
    for path in paths {
        tree.file_changed(path);
    }
    tree
}

#[test]
fn a_commit_contains_what_was_added() {
    let mut work = tree(&["src/cart.ts", "src/view/total.ts", "README.md"]);
    work.command_ran("cd src && git add cart.ts view/ && git commit -m 'Round totals'");
    work.committed();
    assert_eq!(work.changed(), ["README.md"]);
    work.file_changed("src/cart.ts");
    work.command_ran("git commit -am 'Say so'");
    work.committed();
    assert!(work.changed().is_empty());
}

#[test]
fn the_list_of_added_files_does_not_grow_without_end() {
    let mut work = WorkTree::default();
    for number in 0..2 * MAX_FILES {
        work.list(vec![format!("slip{number}.ts")]);
    }
    assert_eq!(work.listed_and_added().len(), MAX_FILES);
}

#[test]
fn a_commit_of_nothing_that_is_known_contains_everything() {
    for command in ["git commit -m 'x'", "git add -A && git commit -m 'x'", "git add . ; git commit"] {
        let mut work = tree(&["src/cart.ts", "README.md"]);
        work.command_ran(command);
        work.committed();
        assert!(work.changed().is_empty(), "{command}");
    }
}

#[test]
fn patterns_and_hidden_folders() {
    let mut work = tree(&["src/cart.ts", "docs/a.md", ".notes/plan.md"]);
    work.command_ran("git add 'src/*.ts'");
    work.committed();
    assert_eq!(work.changed(), ["docs/a.md"]);
}

#[test]
fn a_pattern_covers_what_it_matches() {
    for (pattern, left) in [
        ("*.ts", vec!["docs/a.md", "src/view/page.css"]),
        ("src/*", vec!["docs/a.md"]),
        ("src/*/*.css", vec!["src/cart.ts", "docs/a.md"]),
        ("d*/a.m*", vec!["src/cart.ts", "src/view/page.css"]),
    ] {
        let mut work = tree(&["src/cart.ts", "docs/a.md", "src/view/page.css"]);
        work.command_ran(&format!("git add '{pattern}' && git commit -m 'Round totals'"));
        work.committed();
        assert_eq!(work.changed(), left, "{pattern}");
    }
}

#[test]
fn only_the_first_commit_that_git_shows_may_be_the_sessions() {
    let log = "1a2b3c4 Colour the menu\n src/menu.ts | 3 ++-\n5d6e7f8 Round totals\n src/cart.ts | 3 ++-\n";
    assert_eq!(shown_files("git log --oneline --stat -2", log), ["src/menu.ts"]);
    assert_eq!(shown_commit(log), Some(("1a2b3c4".to_owned(), "Colour the menu".to_owned())));
    let merge = "commit 1a2b3c4d5e (HEAD -> main)\nMerge: 1 2\nAuthor: M\n\n    Colour the menu\n";
    assert_eq!(shown_commit(merge), Some(("1a2b3c4".to_owned(), "Colour the menu".to_owned())));
    assert_eq!(shown_commit("fatal: bad revision"), None);
}

#[test]
fn git_has_the_last_word() {
    let mut work = tree(&["src/cart.ts", "docs/new.md"]);
    let said = "On branch main\nYour branch is ahead of 'origin/main' by 2 commits.\n\nChanges not staged for commit:\n  (use \"git add\")\n\tmodified:   package.json\n\nUntracked files:\n  (use \"git add\")\n\tdocs/\n\nno changes added to commit";
    let listed = status("git status", said).unwrap();
    assert_eq!((listed.is_whole, listed.is_ahead, listed.ahead), (true, Some(true), 2));
    assert!(!work.listed(&listed, |_| false));
    assert_eq!(work.changed(), ["docs/new.md"]);
    assert_eq!(work.left_out(), ["package.json"]);
    work.others.push("src/menu.ts".to_owned());
    work.others.push("yarn.lock".to_owned());
    assert_eq!(work.left_out(), ["package.json", "src/menu.ts"], "nobody spoke of what a tool writes");
    work.others.truncate(1);
    work.agent_said("The change of `package.json` is not mine, so I leave it out.");
    assert_eq!(work.left_out(), ["package.json"]);
    work.file_changed("package.json");
    assert!(work.left_out().is_empty());
}

#[test]
fn what_git_ignores_is_not_added() {
    let mut work = tree(&[]);
    work.command_ran("git add src/cart.ts dist/cart.js notes.txt");
    work.ignore(vec!["dist".to_owned(), "notes.txt".to_owned()]);
    assert_eq!(work.added(), ["src/cart.ts"]);
    assert!(work.is_ignored("dist/cart.js") && !work.is_ignored("docs/notes.txt"), "another file of that name");
}

#[test]
fn what_git_ignored_once_may_be_committed_later() {
    let mut work = tree(&[]);
    work.ignore(vec!["config".to_owned(), "dist".to_owned()]);
    work.command_ran("git add -f config/till.env && git commit -m x");
    assert!(!work.is_ignored("config/till.env") && work.is_ignored("dist/cart.js"));
    work.file_changed(".gitignore");
    assert!(!work.is_ignored("dist/cart.js"));
}

#[test]
fn what_was_listed_and_added_is_known_to_be_changed() {
    let mut work = tree(&["src/cart.ts"]);
    let said = "On branch main\nChanges to be committed:\n\tmodified:   menu.ts\n\nChanges not staged for commit:\n\tmodified:   src/cart.ts\n\tmodified:   view.ts\n\tmodified:   bell.ts\n";
    work.listed(&status("git status", said).unwrap(), |_| false);
    work.command_ran("git add src/cart.ts view.ts door.ts");
    assert_eq!(work.listed_and_added(), ["menu.ts", "view.ts"]);
    let settled = said.replace("modified:   menu.ts", "modified:   view.ts");
    work.listed(&status("git status", &settled).unwrap(), |_| false);
    assert_eq!(work.listed_and_added(), ["view.ts"], "somebody else committed the other one");
    work.command_ran("git commit -am x");
    assert_eq!(work.listed_and_added(), ["view.ts", "bell.ts"]);
    work.committed();
    assert!(work.listed_and_added().is_empty());
}

#[test]
fn what_the_agent_stages_of_others_is_staged_until_it_is_committed_or_unstaged() {
    let mut work = tree(&["src/cart.ts"]);
    let said = "On branch main\nChanges not staged for commit:\n\tmodified:   src/cart.ts\n\tmodified:   menu.ts\n\tmodified:   bell.ts\n";
    let staged = |work: &WorkTree| work.staged_of_others().join(" ");
    work.listed(&status("git status", said).unwrap(), |_| false);
    work.command_ran("git add src/cart.ts menu.ts");
    assert_eq!((staged(&work).as_str(), work.left_out()), ("menu.ts", vec!["bell.ts"]));
    work.command_ran("git restore --staged menu.ts");
    assert_eq!((staged(&work).as_str(), work.left_out()), ("", vec!["bell.ts", "menu.ts"]));
    work.command_ran("git add -A");
    assert_eq!(staged(&work), "bell.ts menu.ts");
    work.command_ran("git rm --cached bell.ts");
    assert_eq!(staged(&work), "menu.ts");
    let cut = "\u{1f4cc} main\n\u{2753} Untracked: 5 files\n   a.md\n   ... +4 more\n";
    let mut settled = work.clone();
    settled.listed(&status("rtk git status", cut).unwrap(), |_| false);
    assert_eq!(staged(&settled), "", "somebody committed it");
    work.committed();
    assert_eq!(staged(&work), "");
}

#[test]
fn a_commit_of_more_files_than_were_named_may_hold_any() {
    let left = |size: u32| {
        let mut work = tree(&["src/cart.ts"]);
        work.others.push("src/menu.ts".to_owned());
        work.command_ran("git add src/cart.ts && git commit -m 'Round totals'");
        work.commit_measured(size);
        work.committed();
        work.left_out().len()
    };
    assert_eq!((left(1), left(0), left(3)), (1, 1, 0));
}

#[test]
fn a_list_that_is_cut_among_new_files_is_whole_for_the_others() {
    let said = "\u{1f4cc} main\n\u{1f4dd} Modified: 1 files\n   src/menu.ts\n\u{2753} Untracked: 5 files\n   a.md\n   ... +4 more\n";
    let listed = status("rtk git status", said).unwrap();
    assert_eq!((listed.is_whole, listed.is_whole_of_tracked), (false, true));
    let mut work = tree(&["src/cart.ts"]);
    work.others.push("src/view.ts".to_owned());
    work.listed(&listed, |_| false);
    assert_eq!(work.left_out(), ["src/menu.ts"]);
}

#[test]
fn short_lists() {
    let listed = status("git status --short", " M src/cart.ts\n?? docs/new.md\nR  a.ts -> b.ts").unwrap();
    assert_eq!(listed.modified, ["src/cart.ts", "b.ts"]);
    assert_eq!(listed.untracked, ["docs/new.md"]);
    assert_eq!(listed.staged, ["b.ts"]);
    assert!(listed.is_whole);
    assert!(status("git status --short", "").unwrap().is_whole);
    assert!(!status("git status --short | head -5", " M a.ts").unwrap().is_whole);
    assert!(!status("git status -s src", " M src/a.ts").unwrap().is_whole);
    assert_eq!(status("git log --oneline", "M a.ts"), None);
}

#[test]
fn a_list_that_counts_its_files() {
    let said = "* main...origin/main [ahead 3]\n~ Modified: 1 files\n   src/cart.ts\n? Untracked: 5 files\n   .notes/\n   ... +4 more\nok";
    let listed = status("rtk git status", said).unwrap();
    assert_eq!((listed.modified.as_slice(), listed.is_whole), (&["src/cart.ts".to_owned()][..], false));
    assert_eq!((listed.is_ahead, listed.ahead), (Some(true), 3));
}

#[test]
fn a_commit_that_failed_may_have_been_made() {
    let shown = "commit 1a2b3c4\n\n    Round totals\n\n src/cart.ts | 3 ++-\n 1 file changed";
    let files = shown_files("git show HEAD --stat", shown);
    let mut work = tree(&["src/cart.ts"]);
    assert!(!work.shown(&files), "it may be an older commit");
    work.commit_failed();
    assert!(work.shown(&files) && work.changed().is_empty());
    let mut work = tree(&["src/cart.ts"]);
    work.commit_failed();
    assert!(work.listed(&Listed { is_whole: true, ..Listed::default() }, |_| false));
}

#[test]
fn a_difference_lists_what_git_tracks() {
    let mut work = tree(&["src/cart.ts", "src/view.ts", "src/new.ts"]);
    let is_new = |path: &str| path == "src/new.ts";
    let listed = diff("git diff --stat", " src/view.ts | 3 ++-\n 1 file changed, 2 insertions(+), 1 deletion(-)").unwrap();
    work.listed(&listed, is_new);
    assert_eq!(work.changed(), ["src/view.ts", "src/new.ts"]);
    work.listed(&diff("git diff --name-only", "").unwrap(), is_new);
    assert_eq!(work.changed(), ["src/new.ts"]);
    for command in ["git diff --cached --stat", "git diff main --stat", "git diff --stat | head -3", "git diff src/a.ts"] {
        assert_eq!(diff(command, ""), None, "{command}");
    }
    assert_eq!(diff("git diff", "diff --git a/x b/x"), None);
}

#[test]
fn what_somebody_else_staged_is_committed_too() {
    let mut work = tree(&["src/cart.ts"]);
    let said = "On branch main\nChanges to be committed:\n\tnew file:   logo.svg\n\nChanges not staged for commit:\n\tmodified:   src/cart.ts\n\tmodified:   menu.ts\n";
    work.listed(&status("git status", said).unwrap(), |_| false);
    work.agent_said("`logo.svg` and `menu.ts` are not mine.");
    work.command_ran("git add src/cart.ts && git commit -m 'Round totals'");
    work.committed();
    assert!(work.changed().is_empty());
    assert_eq!(work.left_out(), ["menu.ts"]);
}

#[test]
fn what_is_stashed_comes_back() {
    let mut work = tree(&["src/cart.ts"]);
    work.command_ran("git stash");
    assert!(work.changed().is_empty());
    work.command_ran("git stash pop");
    assert_eq!(work.changed(), ["src/cart.ts"]);
    work.restored(|path| path == "src/cart.ts");
    assert!(work.changed().is_empty());
}

#[test]
fn what_is_added_restored_or_stashed_is_not_left_out() {
    let left = |commands: &[&str]| {
        let mut work = tree(&["src/cart.ts"]);
        work.others = ["src/menu.ts".to_owned(), "src/view.ts".to_owned()].to_vec();
        for command in commands {
            work.command_ran(command);
        }
        work.left_out().join(" ")
    };
    assert_eq!(left(&["git add src/menu.ts && git commit --fixup 1a2b3c4"]), "src/view.ts");
    assert_eq!(left(&["git stash push -- src/view.ts"]), "src/menu.ts");
    assert_eq!(left(&["git stash", "git status"]), "");
    assert_eq!(left(&["git stash", "git stash pop"]), "src/menu.ts src/view.ts");
    let mut work = tree(&[]);
    work.others.push("src/menu.ts".to_owned());
    work.restored(|path| path == "src/menu.ts");
    assert!(work.left_out().is_empty());
}

#[test]
fn an_empty_short_status_behind_other_commands() {
    let is_clean = |command, output| status(command, output).is_some_and(|listed| listed.is_whole);
    assert!(is_clean("rm a.lock && git status --short && echo CLEAN", "CLEAN"));
    assert!(is_clean(
        "git commit -q -F - <<'EOF'\nFix it\nEOF\ngit log --oneline -1; git status --short; echo done",
        "1a2b3c4 Fix it\ndone"
    ));
    assert!(is_clean("git status -sb", "## main...origin/main"));
    assert!(!is_clean("git status --short && npm test", "12 passed"), "what follows may have printed it all");
    assert!(!is_clean("cd nowhere && git status --short", "error: no such folder"));
    assert!(!is_clean("git status --short | head -3; echo done", "done"));
}

#[test]
fn a_table_of_sizes_beside_other_commands() {
    let output = "[fmt] ok\n .../cart/total.ts | 2 +-\n src/menu.ts | 4 ++++\n 2 files changed, 5 insertions(+), 1 deletion(-)\n---\n\
                  diff --git a/src/menu.ts b/src/menu.ts\n";
    let listed = diff("npm run fmt && git diff HEAD --stat && echo --- && git diff", output).unwrap();
    assert_eq!((listed.is_whole_of_tracked, listed.is_cut_of_tracked), (true, true));
    let mut work = tree(&["src/cart/total.ts", "src/view.ts"]);
    assert!(!work.listed(&listed, |_| false));
    assert_eq!((work.changed(), work.left_out()), (&["src/cart/total.ts".to_owned()][..], vec!["src/menu.ts"]));
    assert!(work.has_settled());
    for command in [
        "npm run fmt && git diff --stat -- src/cart",
        "git diff --stat main..HEAD && ls",
        "git diff --stat --cached && ls",
        "git show --stat && git diff --stat",
        "cd /srv/other && git diff --stat",
        "git pull && git diff --stat",
        "git diff --stat && git -C ../other log --stat",
    ] {
        assert_eq!(diff(command, output), None, "{command}");
    }
    let cut = " src/menu.ts | 4 ++++\n 2 files changed, 5 insertions(+), 1 deletion(-)\n";
    assert_eq!(diff("git diff --stat | tail -2", cut), None);
}

#[test]
fn a_hidden_file_that_commits_leave_out() {
    let mut tree = WorkTree::default();
    tree.file_changed(".till/draft.html");
    tree.file_changed("src/till.rs");
    tree.command_ran("git add src/till.rs");
    tree.committed();
    assert!(tree.is_local(".till/draft.html") && !tree.is_local("src/till.rs") && tree.changed().is_empty());
    tree.command_ran("git add .till");
    tree.committed();
    assert!(!tree.is_local(".till/draft.html"));
}
