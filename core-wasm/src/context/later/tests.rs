//! Tests of what later sessions overtake, and above all of what stays.

use super::*;
use crate::bindings::throughline::policy::types::Change;
use crate::context::overtaken::tests::empty_notes;

fn session(done: &[&str], outcome: &str) -> SessionRecord {
    let done = done.iter().map(|it| (*it).to_owned()).collect();
    let changes = vec![Change { path: "src/till.ts".to_owned(), added: 1, removed: 1 }];
    let notes = SessionNotes { done, outcome: outcome.to_owned(), changes, ..empty_notes() };
    let (summary, topics, files) = Default::default();
    SessionRecord { id: String::new(), started: None, ended: None, summary, topics, files, notes: Some(notes) }
}

fn with(mut record: SessionRecord, change: impl FnOnce(&mut SessionNotes)) -> SessionRecord {
    change(record.notes.as_mut().unwrap());
    record
}

fn committed(subject: &str) -> SessionRecord {
    with(session(&[], "It rings."), |notes| notes.commits.push(subject.to_owned()))
}

fn asked(request: &str) -> SessionRecord {
    with(session(&[], "It rings."), |notes| notes.original_request = request.to_owned())
}

/// Returns whether later sessions, the newest first, overtook what was said before.
fn is_over(said: &str, later: &[SessionRecord]) -> bool {
    let mut all = later.to_vec();
    all.push(session(&[], said));
    LaterSessions::of(&all).is_over(later.len(), said, false)
}

fn memory(kind: &str, said: &str) -> Memory {
    Memory {
        id: "m".to_owned(),
        session_id: "old".to_owned(),
        kind: kind.to_owned(),
        title: said.to_owned(),
        content: said.to_owned(),
        keywords: Vec::new(),
        files: Vec::new(),
        importance: 0.5,
        created: 10,
        seen: 1,
        score: 0.0,
        attributes: Vec::new(),
    }
}

fn then(later: SessionRecord) -> [SessionRecord; 2] {
    [later, SessionRecord { id: "old".to_owned(), ..session(&[], "It rings.") }]
}

fn has_overtaken(memory: &Memory, later: SessionRecord) -> bool {
    LaterSessions::of(&then(later)).has_overtaken(memory)
}

#[test]
fn what_was_taken_out_is_not_told() {
    for gone in [
        "Removed `openDrawer()`: the till has no drawer.",
        "It rings. I removed the old `openDrawer` function.",
        "`till.ts` - Removed `openDrawer()`; it rings.",
        "Removed `closeDrawer` and `openDrawer`.",
        "Deleted `ringBell`, `closeDrawer`, and `openDrawer()` functions.",
        "`openDrawer()` was removed.",
        "There are no references to `openDrawer`.",
        "`openDrawer`を削除しました。",
        "`openDrawer`は削除済み。",
        "`openDrawer`를 제거했습니다.",
        "`openDrawer`는 삭제되었습니다.",
    ] {
        assert!(is_over("Added `openDrawer()` to the till.", &[session(&[], gone)]), "{gone}");
    }
    let said = "Location: `.till/skills/count/SKILL.md`.";
    assert!(is_over(said, &[session(&[], "Removed the old `.till/skills/count/` directory.")]));
    assert!(!is_over(said, &[session(&[], "Removed the old `.till/skills/ring/` directory.")]));
}

#[test]
fn what_was_taken_out_in_part_or_not_for_good_is_told() {
    for kept in [
        "`openDrawer` was not removed.",
        "Removed `ringBell` from `openDrawer()`.",
        "Removed the `openDrawer` import.",
        "Removed the `ringBell` and `openDrawer` imports.",
        "Removed the `openDrawer` tests.",
        "Removed the `openDrawer` mock.",
        "Removed `openDrawer` from the cart.",
        "Removed `openDrawer`'s unused `force` parameter.",
        "Removed the duplicate `openDrawer()`; all import it from the shop.",
        "Removed `openDrawer()` (moved to `drawer.ts`).",
        "The cart no longer uses `openDrawer()`.",
        "There are no references to `openDrawer()` in the cart.",
        "`openDrawer` is removed on unmount.",
        "`openDrawer` was removed when the till closed.",
        "Nobody ever removed `openDrawer`.",
        "The fork removed `openDrawer`.",
        "Temporarily removed `openDrawer()`, then put it back.",
        "Renamed `openDrawer()` to `openTill()`.",
        "Reverted `openDrawer()` to the committed version.",
        "Removed `openDrawer` first. `openDrawer()` is back and opens the till.",
        "`openDrawer`は削除しません。",
        "`openDrawer`を削除していない。",
        "`openDrawer`を削除せずに残した。",
        "`openDrawer`を削除するとビルドが壊れる。",
        "`openDrawer`を削除してはいけない。",
        "`openDrawer`を削除できなかった。",
        "`openDrawer`を削除したい。",
        "`openDrawer`를 삭제하면 빌드가 깨집니다.",
        "`openDrawer`를 삭제하지 못했습니다.",
        "`openDrawer`를 삭제하지 말 것.",
        "`openDrawer`를 삭제하면 안 됩니다.",
        "`openDrawer`를 삭제할 계획입니다.",
        "`openDrawer`를 삭제했다가 다시 넣었습니다.",
    ] {
        assert!(!is_over("`openDrawer()` locks the till.", &[session(&[], kept)]), "{kept}");
    }
    let gone = || session(&[], "Removed `openDrawer()`.");
    assert!(!is_over("`openDrawer` and `printSlip` are new.", &[gone()]), "half of it stands");
    assert!(!is_over("Removed `openDrawer`.", &[gone()]), "it is gone");
    assert!(!is_over("`shop/till.ts` opens.", &[session(&[], "Removed `cart/till.ts`.")]), "another file");
    let looked = with(gone(), |notes| notes.changes.clear());
    assert!(!is_over("`openDrawer()` locks the till.", &[looked]), "the session changed nothing");
}

#[test]
fn what_was_put_back_is_told() {
    for newer in [
        session(&[], "Restored `openDrawer()`, which was removed by mistake."),
        session(&[], "Reverted the removal of `openDrawer()`."),
        session(&[], "Replaced `popDrawer()` with `openDrawer()`."),
        session(&[], "Removed `popDrawer()` and added `openDrawer()` again."),
        session(&[], "`openDrawer()` rings."),
        committed("Revert \"Remove openDrawer\""),
        asked("Put openDrawer back"),
    ] {
        let told = newer.notes.as_ref().map(|notes| notes.outcome.clone());
        assert!(!is_over("`openDrawer()` locks the till.", &[newer, session(&[], "Removed `openDrawer()`.")]), "{told:?}");
    }
    assert!(is_over("`openDrawer()` locks the till.", &[asked("Paint it"), session(&[], "Removed `openDrawer()`.")]));
}

#[test]
fn a_rule_stays() {
    for rule in [
        "`openDrawer()` must lock the till.",
        "Never call `openDrawer()` twice.",
        "Don't open it with `openDrawer()`.",
        "`openDrawer()` doesn't support two tills.",
        "`openDrawer`는 항상 잠급니다.",
        "`openDrawer`は必ず閉じる。",
    ] {
        assert!(!is_over(rule, &[session(&[], "Removed `openDrawer()`.")]), "{rule}");
    }
    for request in [
        "Remove the vertical drawer lines",
        "Add an endpoint to delete user accounts",
        "Add drag and drop file upload",
        "Why did you remove the drawer lines? Put them back.",
        "서랍 줄을 없애지 마세요",
        "引き出しの線を削除してはいけません",
    ] {
        for said in [
            "The vertical drawer lines end at the slip.",
            "Never delete user accounts without a backup.",
            "The file upload accepts at most 5 MB.",
            "서랍 줄은 위에 있습니다.",
            "引き出しの線は上にあります。",
        ] {
            assert!(!is_over(said, &[asked(request), committed(request)]), "{request}: {said}");
        }
    }
    let feature = "Removed the gift feature from the cart: removed gift labels from slips; removed gift colors.";
    assert!(!is_over("Orders from the shop never leave the country.", &[session(&[feature], "It rings.")]));
    assert!(!is_over("A gift has a red slip.", &[session(&[feature], "It rings.")]), "one word names nothing");
}

#[test]
fn what_was_switched_back_is_not_told() {
    let said = "Switched `till publish` to `shop publish`.";
    for back in [
        "`slip-till.ts` is now `slip.ts`: no second step, uses `till publish`.",
        "Went back to `till publish`.",
        "Switched `shop publish` to `till publish`.",
    ] {
        assert!(is_over(said, &[session(&[back], "It opens.")]), "{back}");
        assert!(
            !is_over(said, &[session(&[], "The slip uses `shop publish`."), session(&[back], "")]),
            "the last word counts"
        );
    }
    for kept in [
        "It no longer uses `till publish`.",
        "Calls `shop exec` instead of using `till publish`.",
        "Never use `till publish`.",
        "Stopped using `till publish` in CI.",
        "The tests of the admin use `till publish`.",
        "We could go back to `till publish`.",
    ] {
        assert!(!is_over(said, &[session(&[kept], "It opens.")]), "{kept}");
    }
    let all = then(session(&[], "Went back to `till publish`."));
    let left = LaterSessions::of(&all).without_overtaken(1, &format!("{said} This prints. The drawer is red."));
    assert_eq!(left, "The drawer is red.");
}

#[test]
fn a_fault_that_somebody_mended_is_no_news() {
    let fault = "Silent loss in `shop/till/slips.ts`: it skips slips that fail to print";
    let is_over = |later: SessionRecord| has_overtaken(&memory("learning", fault), later);
    assert!(is_over(session(&[], "Added a log of the slips that fail to print in `till/slips.ts`.")));
    assert!(is_over(committed("fix(till): log slips that fail to print in slips.ts")));
    for kept in [
        "Known and not fixed: `slips.ts` skips slips that fail to print.",
        "`slips.ts` skips slips that fail to print.",
        "Added a test for slips that fail to print in `slips.ts`.",
        "Renamed the functions of `till/slips.ts`.",
        "Logged the slips that fail to print in `cart/slips.ts`.",
        "Did not log slips that fail to print in `slips.ts` yet.",
    ] {
        assert!(!is_over(session(&[], kept)), "{kept}");
    }
    assert!(!is_over(asked("Why does slips.ts skip slips that fail to print?")));
    let mended = || session(&[], "Added a log of the slips that fail to print in `till/slips.ts`.");
    for (kind, kept) in [
        ("learning", "`shop/till/slips.ts` must never print a slip that fails"),
        ("error_fix", "`make slips.ts` fails: slips fail to print. Fixed by: `make ink`"),
    ] {
        assert!(!has_overtaken(&memory(kind, kept), mended()), "{kept}");
    }
    let saved = Memory { attributes: vec![("source".to_owned(), "saved".to_owned())], ..memory("learning", fault) };
    assert!(!has_overtaken(&saved, mended()));
    assert!(!has_overtaken(&Memory { seen: 2, ..memory("learning", fault) }, mended()), "it was learned again");
    let lesson = "`run test src/` also runs what lies in `till/clones/` and blocks the commit";
    assert!(!has_overtaken(&memory("learning", lesson), session(&[], "Removed `till/clones/`.")));
    assert!(!has_overtaken(&memory("learning", "`till/clones/` blocks it"), session(&[], "Removed `till/clones/`.")));
}

#[test]
fn a_session_that_is_not_listed_may_still_run() {
    let unknown = |created| Memory { session_id: "other".to_owned(), created, ..memory("decision", "`openDrawer` locks") };
    assert!(!has_overtaken(&unknown(10), session(&[], "Removed `openDrawer()`.")));
    let mut many = vec![session(&[], "Removed `openDrawer()`."); MAX_SESSIONS as usize];
    for record in &mut many {
        record.ended = Some(20);
    }
    assert!(LaterSessions::of(&many).has_overtaken(&unknown(10)) && !LaterSessions::of(&many).has_overtaken(&unknown(30)));
}

#[test]
fn a_task_is_done_by_a_session_that_did_all_of_it() {
    let add = "Add WithTill to till_hooks.ts";
    let is_done = |task: &str, later: SessionRecord| has_overtaken(&memory("task", task), later);
    assert!(is_done(add, session(&[], "`till_hooks.ts` - Added `logs.WithTill` to 6 hooks.")));
    assert!(is_done(add, committed("feat(till): add WithTill to till_hooks.ts")));
    for (task, kept) in [
        (add, "Next: add WithTill to `till_hooks.ts`."),
        (add, "Did not add WithTill to `till_hooks.ts` yet."),
        (add, "`slip_hooks.ts` - Added `logs.WithTill` to 6 hooks."),
        (add, "`till_hooks.ts` - Renamed it. `logs.WithTill` is new."),
        ("Remove slip retry logging in till_hooks.ts", "Added slip retry logging in `till_hooks.ts`."),
        ("Do not remove openDrawer in till.ts", "Could not remove openDrawer in `till.ts`."),
        ("Run tests and lint", "It rings."),
    ] {
        assert!(!is_done(task, session(&[], kept)), "{kept}");
    }
    let blocked = with(asked(add), |notes| notes.outcome = "Blocked.".to_owned());
    assert!(!is_done(add, blocked));
    let done = session(&[], "`till_hooks.ts` - Added `logs.WithTill` to 6 hooks.");
    assert!(!is_done(add, with(done, |notes| notes.pending.push(add.to_owned()))), "it is still on the list");
}

#[test]
fn the_checks_are_done_once_they_passed() {
    let is_done = |task: &str, name: &str, value: &str| {
        let attributes = vec![(name.to_owned(), value.to_owned())];
        has_overtaken(&memory("task", task), with(session(&[], "It rings."), |notes| notes.attributes = attributes))
    };
    assert!(is_done("Run tests and lint", "evidence", "fmt: pass; tests: pass; lint: pass"));
    assert!(is_done("Run tests", "tests", "12 pass, 0 fail"));
    for (task, name, value) in [
        ("Run tests and lint", "tests", "0 pass, 12 fail"),
        ("Run tests", "tests", "11 pass, 1 fail"),
        ("Run tests", "tests", "0 pass, 0 fail"),
        ("Run lint", "evidence", "lint: fail; typecheck: pass"),
        ("Run lint", "evidence", "lint: passed and failed since the last edit"),
        ("Run tests and lint", "evidence", "tests: pass"),
        ("Test the drawer", "evidence", "tests: pass"),
    ] {
        assert!(!is_done(task, name, value), "{task}: {value}");
    }
}

#[test]
fn a_result_loses_only_what_was_overtaken() {
    for (said, left) in [
        ("It rings. Added `openDrawer()`. This opens it. `printSlip` prints.", "It rings. `printSlip` prints."),
        ("New: `openDrawer()` opens; `printSlip()` prints; it rings.", "New: `printSlip()` prints; it rings."),
        ("It rings: the till is red; `openDrawer()` opens.", "It rings: the till is red."),
        ("New: `openDrawer()` opens; `openDrawer()` rings.", ""),
        ("Added the drawer lock with 12 tests, ready to commit.", "Added the drawer lock with 12 tests, ready to commit."),
    ] {
        let all = then(committed("Remove it"));
        let all = [session(&[], "Removed `openDrawer()`."), all[0].clone(), all[1].clone()];
        assert_eq!(LaterSessions::of(&all).without_overtaken(2, said), left);
    }
}

#[test]
fn the_findings_of_a_review_end_with_the_work_on_them() {
    let later = session(&[], "`printer.ts`: handled slips that are longer than the roll.");
    let mut all = then(later);
    let notes = all[1].notes.as_mut().unwrap();
    (notes.original_request, notes.changes) = ("Review the till".to_owned(), Vec::new());
    let said = "Slips that are longer than the roll pass through `printer.ts`. `cart.ts` has no owner.";
    assert_eq!(LaterSessions::of(&all).without_overtaken(1, said), "`cart.ts` has no owner.");
    all[1].notes.as_mut().unwrap().original_request = "Where are slips cut?".to_owned();
    assert_eq!(LaterSessions::of(&all).without_overtaken(1, said), said, "an answer to a question stays");
}

#[test]
fn a_pull_request_is_merged_by_whoever_says_so() {
    let merged = ("merged".to_owned(), "7 12".to_owned());
    let all = then(with(session(&[], "It rings."), |notes| notes.attributes = vec![merged]));
    let later = LaterSessions::of(&all);
    assert!(later.is_merged(2, 12) && !later.is_merged(2, 1) && !later.is_merged(0, 7));
}

#[test]
fn a_weak_finding_of_one_earlier_session_is_left_to_the_search() {
    let mut all = then(session(&[], "It rings."));
    all[1].id = "old".to_owned();
    let later = LaterSessions::of(&all);
    let found = |importance: f32, seen: u32| {
        later.is_weak_finding(&Memory { importance, seen, ..memory("discovery", "The till has no list.") })
    };
    assert!(found(0.44, 1) && !found(0.52, 1) && !found(0.44, 2));
    assert!(!LaterSessions::of(&all[1..]).is_weak_finding(&Memory { importance: 0.44, ..memory("discovery", "No list.") }));
}

#[test]
fn what_was_left_undone_is_taken_up_by_who_does_it_or_lists_it() {
    let task = "Paint the drawer of the night till";
    let takes_up = |later: SessionRecord| LaterSessions::of(&then(later)).has_taken_up(1, task);
    assert!(takes_up(session(&[], "Paint the drawer of the night till: done, it is red.")));
    assert!(takes_up(with(session(&[], "It rings."), |notes| notes.pending = vec![task.to_owned()])));
    assert!(!takes_up(session(&[], "It rings.")));
}

#[test]
fn the_parts_of_a_text_are_all_of_it() {
    let said = format!("It rings.{} Next; `a. B` 「開く。」閉じる…  End", " ".repeat(20_000));
    assert_eq!(parts(&said).concat(), said);
    assert_eq!(parts("It rings. It opens; `a. B` c").len(), 3);
}

proptest::proptest! {
    #[test]
    fn no_text_panics(said in "[`a. ;:A/_é가 ]{0,80}|(removed |`aBcde`|, | and |を削除した| to |switched |。|\\. ){0,12}") {
        let all = [session(&[&said], &said), session(&[&said], "It rings."), session(&[], &said)];
        let later = LaterSessions::of(&all);
        assert!(later.without_overtaken(2, &said).len() <= said.len() + 1);
        later.has_overtaken(&memory("task", &said));
        assert_eq!(parts(&said).concat(), said);
    }
}
