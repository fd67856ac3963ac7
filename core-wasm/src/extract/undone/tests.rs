//! Tests of what a session leaves undone.

use super::super::labels::labels;
use super::*;
use crate::text::Language;

fn items(undone: &Undone) -> Vec<String> {
    undone.items("the first request", false, labels(Language::English))
}

#[test]
fn a_command_of_the_client_is_no_request() {
    assert!(is_client_command("/clear") && is_client_command("/model"));
    assert!(!is_client_command("/srv/shop") && !is_client_command("/review the till") && !is_client_command("clear"));
}

#[test]
fn all_that_the_agent_did_not_hear_is_told() {
    let mut undone = Undone::default();
    undone.asked("Open the till.");
    undone.went_unheard("Open the till.");
    undone.went_unheard("yes, that drawer");
    assert_eq!(items(&undone), ["Request without an answer: yes, that drawer / Open the till."]);
    undone.asked("What is the state?");
    assert_eq!(items(&undone), ["Request without an answer: Open the till. / yes, that drawer / What is the state?"]);
    undone.asked("");
    assert!(items(&undone).is_empty(), "an answer hears all of it");
    undone.asked("Ring the bell.");
    assert_eq!(items(&undone), ["Request without an answer: Ring the bell."]);
}

#[test]
fn changes_are_committed_and_pushed() {
    let state = |undone: &Undone| undone.commit_state(&["a.ts"], 1, labels(Language::English));
    let mut undone = Undone::default();
    assert_eq!(state(&undone), "");
    undone.file_changed("a.ts");
    assert_eq!(state(&undone), "not committed");
    undone.committed(false);
    assert_eq!(state(&undone), "committed, not pushed");
    undone.remotes_named("git remote -v", "");
    assert_eq!(state(&undone), "", "there is nowhere to push to");
    undone.remotes_named("git remote add origin /srv/shop.git", "");
    undone.command_passed("git commit -m \"$(cat <<'EOF'\nGive git another push path\nEOF\n)\"");
    assert_eq!(undone.push(), Push::Missing, "a message that speaks of pushing");
    undone.command_passed("git status && git push -u origin main");
    assert_eq!(state(&undone), "");
    undone.file_changed("a.ts");
    assert_eq!(state(&undone), "changed after the last commit, not committed");
    undone.found_clean();
    assert_eq!(state(&undone), "");
    undone.committed(false);
    undone.command_passed("git push origin refs/notes/till");
    undone.file_changed("a.ts");
    assert_eq!(state(&undone), "committed, not pushed; changed after the last commit, not committed");
}

#[test]
fn what_the_agent_staged_of_others_is_told_without_a_commit() {
    let mut undone = Undone::default();
    let said = "On branch main\nChanges not staged for commit:\n\tmodified:   till.ts\n\tmodified:   slip.ts\n";
    undone.git_listed(&work_tree::status("git status", said).unwrap(), |_| false);
    assert_eq!(undone.left_out(), "");
    undone.command_ran("git add till.ts", "");
    assert_eq!(undone.left_out(), "staged: `till.ts`; `slip.ts`");
}

#[test]
fn a_list_of_stashes_tells_which_are_gone() {
    let mut undone = Undone::default();
    for branch in ["cart", "till", "main"] {
        undone.stash_moved(&Stash::Put(branch.to_owned(), true));
    }
    undone.stash_moved(&Stash::Listed(["main", "cart", "old"].map(str::to_owned).to_vec()));
    assert_eq!(undone.stashes, ["cart", "main"]);
    undone.stash_moved(&Stash::Listed(Vec::new()));
    assert!(!undone.has_stash());
}

#[test]
fn somebody_else_may_have_pushed_the_earlier_commits() {
    let mut undone = Undone::default();
    let state = |undone: &Undone, own| undone.commit_state(&["a.ts"], own, labels(Language::English));
    undone.file_changed("a.ts");
    undone.committed(false);
    undone.commit_added();
    assert_eq!(state(&undone, 2), "committed, not pushed");
    undone.git_listed(&Listed { is_ahead: Some(true), ahead: 1, ..Listed::default() }, |_| false);
    assert_eq!(state(&undone, 2), "committed, 1 of 2 commits not pushed");
    undone.commit_added();
    assert_eq!(state(&undone, 3), "committed, 2 of 3 commits not pushed");
    undone.pushed();
    assert_eq!(state(&undone, 3), "");
    undone.commit_added();
    undone.committed(false);
    assert_eq!(state(&undone, 4), "committed, 1 of 4 commits not pushed");
    undone.commits_dropped(true, std::iter::empty());
    assert_eq!(state(&undone, 3), "committed, not pushed", "nobody knows which are left");
}

#[test]
fn what_somebody_else_committed_is_not_to_be_committed() {
    let mut undone = Undone::default();
    undone.file_changed("a.ts");
    undone.file_changed("b.ts");
    let listed = |modified: &[&str]| {
        let modified = modified.iter().map(|path| (*path).to_owned()).collect();
        Listed { modified, is_whole: true, ..Listed::default() }
    };
    let state = |undone: &Undone| undone.commit_state(&["a.ts", "b.ts"], 1, labels(Language::English));
    undone.git_listed(&listed(&["a.ts", "b.ts"]), |_| false);
    assert_eq!(state(&undone), "not committed");
    undone.git_listed(&listed(&["b.ts"]), |_| false);
    assert_eq!(state(&undone), "not committed: `b.ts`");
    undone.file_changed("a.ts");
    assert_eq!(state(&undone), "not committed");
}

#[test]
fn a_check_by_hand_that_nobody_made() {
    let plan = "# Plan: badge\n\n## Steps\n1. Open the file in the browser\n\n## Verification\n\n1. `bun run test` passes\n2. \
                Manual: run `bun run dev` and open the summary\n";
    let mut undone = Undone::default();
    undone.plan_accepted(plan);
    assert!(items(&undone).is_empty(), "nothing was changed yet");
    undone.committed(false);
    assert_eq!(items(&undone), ["Planned, but not checked: Manual: run `bun run dev` and open the summary"]);
    undone.command_passed("bun run dev &");
    assert!(items(&undone).is_empty());
    undone.plan_accepted("## Verification\n\n- File: `src/manual_commit.go` is formatted\n");
    assert!(items(&undone).is_empty(), "a name is no check by hand");
}

#[test]
fn what_is_not_to_be_needs_no_check() {
    let plan = "## Verification\n\n- Manual test: `till drawer open` opens the drawer\n";
    let mut undone = Undone::default();
    undone.plan_accepted(plan);
    undone.file_changed("a.ts");
    undone.ruled_out("let's not add colours to the cart");
    assert_eq!(items(&undone).len(), 1);
    undone.ruled_out("let's not open the drawer from the command line, it's unnecessary");
    assert!(items(&undone).is_empty());
}

#[test]
fn what_must_hold_is_told_and_not_the_way_to_it() {
    let plan = "## Verification\n\n1. Open the cart in the browser\n2. Click \"Pay\"\n3. Verify the total has two decimals\n\
                4. Confirm that the button is grey\n5. Verify all unit tests pass\n";
    let mut undone = Undone::default();
    undone.plan_accepted(plan);
    undone.file_changed("a.ts");
    assert_eq!(
        items(&undone),
        ["Planned, but not checked: Verify the total has two decimals; Confirm that the button is grey"]
    );
    undone.looked();
    assert!(items(&undone).is_empty());
    undone.plan_accepted("## Verification\n\n- Verify the total has two decimals\n");
    assert!(items(&undone).is_empty(), "nothing says that it is checked by hand");
}

#[test]
fn what_somebody_else_pushed_is_not_to_commit() {
    let state = |undone: &Undone| undone.commit_state(&["a.ts", "b.ts"], 1, labels(Language::English));
    let mut undone = Undone::default();
    undone.file_changed("a.ts");
    undone.file_changed("b.ts");
    assert_eq!(state(&undone), "not committed");
    undone.pushed_by_others();
    assert_eq!(state(&undone), "");
    undone.file_changed("b.ts");
    assert_eq!(state(&undone), "not committed: `b.ts`");
    undone.committed(false);
    undone.file_changed("a.ts");
    undone.pushed_by_others();
    assert!(state(&undone).contains("not committed: `a.ts`"), "{}", state(&undone));
}

#[test]
fn a_plan_is_the_answer_to_its_request() {
    let mut undone = Undone::default();
    undone.asked("round the total");
    undone.plan_written("plan.md");
    undone.plan_refused("Round it");
    assert!(!undone.is_unanswered("round the total") && items(&undone).len() == 1);
    undone.asked("print the slip");
    assert!(undone.is_unanswered("print the slip") && items(&undone).len() == 2);
}

#[test]
fn a_pull_request_says_which_checks_were_made() {
    let mut undone = Undone::default();
    undone.plan_accepted("## Verification\n\n1. Open the cart in the browser\n2. Confirm that the button is grey\n");
    undone.committed(false);
    undone.pull_request_described("- [x] All tests pass", None);
    assert_eq!(items(&undone), ["Planned, but not checked: Confirm that the button is grey"]);
    undone.pull_request_described("- [x] The button is grey\n- [ ] Manual: pay with the night till", Some(7));
    assert_eq!(items(&undone), ["Planned, but not checked: Manual: pay with the night till"]);
    undone.pull_request_merged(6);
    assert_eq!(items(&undone).len(), 1);
    undone.pull_request_merged(7);
    assert!(items(&undone).is_empty(), "whoever merged it did without the check");
    undone.pull_request_described("- [ ] Manual: pay\n- [ ] Verify the receipt after merge", Some(7));
    undone.pull_request_merged(7);
    assert_eq!(items(&undone), ["Planned, but not checked: Verify the receipt after merge"]);
    let for_reviewers = "## レビュー観点\n- [ ] 税率は一つでよいか\n## Test plan\n- [ ] Manual: pay with the night till";
    undone.pull_request_described(for_reviewers, Some(8));
    assert_eq!(items(&undone), ["Planned, but not checked: Manual: pay with the night till"]);
}

#[test]
fn an_interruption_is_no_silence() {
    let mut undone = Undone::default();
    undone.asked("the first request");
    undone.interrupted();
    assert_eq!(items(&undone), ["Interrupted by the user; nothing changed"]);
    let has_acted = undone.items("the first request", true, labels(Language::English));
    assert_eq!(has_acted, ["Interrupted by the user"]);
    undone.file_changed("a.ts");
    assert_eq!(items(&undone), ["Interrupted by the user"]);
    undone.asked("go on");
    assert_eq!(items(&undone), ["Request without an answer: go on"]);
}

#[test]
fn a_plan_that_is_written_anew_is_not_the_refused_one() {
    let mut undone = Undone::default();
    undone.plan_refused("Move the guide");
    undone.plan_written("/home/u/.claude/plans/guide.md");
    assert_eq!(items(&undone), ["A plan is written and not accepted yet: `/home/u/.claude/plans/guide.md`"]);
    undone.plan_accepted("# Move the guide");
    undone.asked("/compact");
    assert!(items(&undone).is_empty());
}

#[test]
fn checks_that_the_user_stopped() {
    let mut undone = Undone::default();
    undone.run_refused("npm run test:e2e 2>&1");
    undone.run_refused("git push");
    assert_eq!(items(&undone), ["Not run, because the user stopped it: `npm run test:e2e`"]);
    undone.command_ran("npm run test:e2e", "");
    assert!(items(&undone).is_empty());
}

#[test]
fn a_refused_plan_and_an_open_request() {
    let mut undone = Undone::default();
    undone.plan_refused("Move the guide");
    undone.asked("why is it slow?");
    assert_eq!(items(&undone), ["Request without an answer: why is it slow?", "The plan \"Move the guide\" was refused"]);
    undone.asked("the first request");
    undone.file_changed("a.ts");
    assert_eq!(items(&undone), ["Begun, and not known to be finished"]);
    undone.asked("");
    assert!(items(&undone).is_empty());
}
