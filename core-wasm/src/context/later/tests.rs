//! Tests of what later sessions overtake.

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

fn asked(request: &str) -> SessionRecord {
    let mut record = session(&[], "It is done.");
    if let Some(notes) = &mut record.notes {
        notes.original_request = request.to_owned();
    }
    record
}

/// Returns whether later sessions, the newest first, overtook what was said before.
fn is_over(said: &str, later: &[SessionRecord]) -> bool {
    let mut all = later.to_vec();
    all.push(session(&[], said));
    Later::of(&all).is_over(later.len(), said, said)
}

/// Does the same for one session after it.
fn is_over_after(said: &str, later: SessionRecord) -> bool {
    is_over(said, &[later])
}

#[test]
fn what_was_switched_back_is_not_told() {
    let said = "Switched `till publish` to `shop publish`.";
    let uses = |said: &str| session(&[said], "It opens.");
    let back = "`slip-till.ts` is now `slip.ts`: no second step, uses `till publish`.";
    assert!(is_over_after(said, uses(back)));
    assert!(is_over(said, &[uses("The drawer opens."), uses(back)]));
    assert!(!is_over(said, &[uses("The slip uses `shop publish`."), uses(back)]), "the newest has the last word");
    assert!(!is_over_after(said, uses("It no longer uses `till publish`.")));
    let first = session(&["Uses `till publish`."], "Changed `till publish` to `shop publish`.");
    assert!(!is_over_after(said, first), "the end counts");
    let last = session(&["Changed `till publish` to `shop publish`."], "The slip uses `till publish`.");
    assert!(is_over_after(said, last));
}

#[test]
fn what_was_taken_out_is_not_told() {
    let said = "Added `openDrawer()` to the till.";
    assert!(is_over_after(said, session(&[], "Removed `openDrawer()`: the till has no drawer.")));
    assert!(is_over_after(said, session(&["Removed `closeDrawer` and `openDrawer`."], "It rings.")));
    assert!(is_over_after(said, session(&[], "`openDrawer`を削除しました。")));
    assert!(is_over_after(said, session(&[], "`openDrawer`를 제거했습니다.")));
    for kept in [
        "`openDrawer` was not removed.",
        "Removed `ringBell` from `openDrawer()`.",
        "Removed the `openDrawer` import.",
        "Removed the `ringBell` and `openDrawer` imports.",
        "Removed `openDrawer` first. `openDrawer()` is back and opens the till.",
        "`openDrawer`は削除しません。",
    ] {
        assert!(!is_over_after(said, session(&[], kept)), "{kept}");
    }
    assert!(!is_over("Removed `openDrawer`.", &[session(&[], "Removed `openDrawer` too.")]), "it is gone");
    let again = [session(&[], "`openDrawer()` rings."), session(&[], "Removed `openDrawer()`.")];
    assert!(!is_over(said, &again), "it was written again");
    let many = "`openDrawer`, `ringBell` and `printSlip` are new.";
    assert!(!is_over_after(many, session(&[], "Removed `openDrawer`.")), "most of it stands");
}

#[test]
fn what_lies_in_a_folder_goes_with_it() {
    let said = "Location: `.till/skills/count/SKILL.md`.";
    assert!(is_over_after(said, session(&[], "Removed the old `.till/skills/count/` directory.")));
    assert!(!is_over_after(said, session(&[], "Removed the old `.till/skills/ring/` directory.")));
    assert!(is_over_after("`shop/bells/` is not copied.", session(&[], "There are no references to `shop/bells/`.")));
}

#[test]
fn what_was_removed_on_request_is_not_told() {
    let said = "The vertical drawer lines end at the last slip.";
    assert!(is_over_after(said, asked("Remove the vertical drawer line feature completely, it doesn't help.")));
    assert!(is_over_after("The ring command opens the till.", asked("let's completely remove the ring command")));
    for other in [
        "How do I remove the vertical drawer lines?",
        "don't remove the vertical drawer lines",
        "Remove that",
        "Remove the horizontal drawer lines",
    ] {
        assert!(!is_over_after(said, asked(other)), "{other}");
    }
    let ring = asked("remove the ring command");
    assert!(!is_over_after("Ring the bell with this command.", ring), "the words stand apart");
    assert!(is_over_after("クーポンバナーは上にあります。", asked("決済画面のクーポンバナーを削除して")));
    assert!(!is_over_after("クーポンバナーは上にあります。", asked("クーポンバナーを削除していいですか")));
    assert!(is_over_after("쿠폰 배너는 위에 있습니다.", asked("결제 화면의 쿠폰 배너를 제거해줘")));
    assert!(!is_over_after("쿠폰 배너는 위에 있습니다.", asked("회원 배너를 제거해줘")));
    let mut unchanged = asked("Remove the vertical drawer line feature");
    unchanged.notes.as_mut().unwrap().changes.clear();
    assert!(!is_over_after(said, unchanged), "nothing was changed");
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
        created: 0,
        seen: 1,
        score: 0.0,
        attributes: Vec::new(),
    }
}

fn then(later: SessionRecord) -> [SessionRecord; 2] {
    [later, SessionRecord { id: "old".to_owned(), ..session(&[], "It rings.") }]
}

#[test]
fn a_fault_that_somebody_worked_on_is_no_news() {
    let is_over =
        |kind: &str, said: &str, request: &str| Later::of(&then(asked(request))).has_overtaken(&memory(kind, said));
    let fault = "Silent loss in `shop/till/slips.ts`: it skips slips that fail to print";
    let request = "Log the slips that fail to print in till/slips.ts:38";
    assert!(is_over("learning", fault, request));
    assert!(!is_over("learning", fault, "Rename the functions of till/slips.ts"), "that is other work");
    assert!(!is_over("learning", fault, "Log the carts that fail to print in till/carts.ts"));
    assert!(!is_over("learning", "`shop/till/slips.ts` must never print a slip that fails", request), "that is a rule");
    assert!(!is_over("error_fix", "`make slips.ts` fails: slips fail to print. Fixed by: `make ink`", request));
    let saved = Memory { attributes: vec![("source".to_owned(), "saved".to_owned())], ..memory("learning", fault) };
    assert!(!Later::of(&then(asked(request))).has_overtaken(&saved));
    let again = Memory { seen: 2, ..memory("learning", fault) };
    assert!(!Later::of(&then(asked(request))).has_overtaken(&again), "a later session learned it again");
}

#[test]
fn a_task_is_done_by_a_session_that_did_all_of_it() {
    let is_done = |task: &str, outcome: &str| Later::of(&then(session(&[], outcome))).has_done(&memory("task", task));
    assert!(is_done("Add WithTill to till_hooks.ts", "`till_hooks.ts` - Added `logs.WithTill` to 6 hooks."));
    assert!(!is_done("Add WithTill to slip_hooks.ts", "`till_hooks.ts` - Added `logs.WithTill` to 6 hooks."));
    assert!(!is_done("Add WithTill to till_hooks.ts", "`till_hooks.ts` - Renamed it. `logs.WithTill` is new."));
    assert!(!is_done("Run tests and lint", "It rings."));
    let mut checked = session(&[], "It rings.");
    checked.notes.as_mut().unwrap().attributes = vec![("evidence".to_owned(), "tests: pass".to_owned())];
    assert!(Later::of(&then(checked.clone())).has_done(&memory("task", "Run tests and lint")));
    assert!(!Later::of(&then(checked)).has_done(&memory("task", "Test the drawer")));
}

#[test]
fn a_result_loses_only_what_was_overtaken() {
    let told = |said: &str, later: SessionRecord| {
        let all = then(later);
        Later::of(&all).without_overtaken(1, said)
    };
    let gone = || session(&[], "Removed `openDrawer()`.");
    assert_eq!(
        told("It rings. Added `openDrawer()`. This opens it. `printSlip` prints.", gone()),
        "It rings. `printSlip` prints."
    );
    assert_eq!(
        told("New: `openDrawer()` opens; `printSlip()` prints; it rings.", gone()),
        "New: `printSlip()` prints; it rings."
    );
    assert_eq!(told("It rings: the till is red; `openDrawer()` opens.", gone()), "It rings: the till is red.");
    let mut committed = session(&[], "It rings.");
    assert_eq!(told("It opens. The file is still staged.", committed.clone()), "It opens. The file is still staged.");
    committed.notes.as_mut().unwrap().commits.push("Ring".to_owned());
    assert_eq!(told("It opens. The file is still staged.", committed.clone()), "It opens.");
    assert_eq!(told("開きます。引き出しはコミットされていない状態でした。", committed), "開きます。");
}

#[test]
fn the_findings_of_a_review_end_with_the_work_on_them() {
    let mut all = then(asked("Handle the slips in printer.ts that are longer than the roll"));
    let notes = all[1].notes.as_mut().unwrap();
    (notes.original_request, notes.changes) = ("Review the till".to_owned(), Vec::new());
    let said = "Slips that are longer than the roll pass through `printer.ts`. `cart.ts` has no owner.";
    assert_eq!(Later::of(&all).without_overtaken(1, said), "`cart.ts` has no owner.");
    all[1].notes.as_mut().unwrap().original_request = "Where are slips cut?".to_owned();
    assert_eq!(Later::of(&all).without_overtaken(1, said), said, "an answer to a question stays");
}

#[test]
fn a_pull_request_is_merged_by_whoever_says_so() {
    let mut later = session(&[], "It rings.");
    later.notes.as_mut().unwrap().attributes = vec![("merged".to_owned(), "7 12".to_owned())];
    let all = then(later);
    let later = Later::of(&all);
    assert!(later.is_merged(2, 12) && !later.is_merged(2, 1) && !later.is_merged(0, 7));
}

#[test]
fn a_feature_goes_with_what_was_said_of_it() {
    let said = "if all 3 lights are on, the next drawer shows none";
    let removed =
        || session(&["Removed drawer light feature: Removed light switches; Removed all related colors."], "It rings.");
    assert!(is_over(said, &[removed()]));
    assert!(!is_over("the next drawer is red", &[removed()]), "a drawer stays");
    assert!(!is_over(said, &[session(&[], "The lights are back, and red."), removed()]));
    assert!(!is_over(
        said,
        &[session(&["Removed drawer light feature: Removed light switches."], "The light of the shop stays.")]
    ));
    assert!(!is_over(said, &[session(&["Removed the light from one drawer."], "It rings.")]));
}

#[test]
fn what_was_put_back_after_its_removal_is_told() {
    let said = "The vertical drawer lines end at the last slip.";
    let remove = || asked("Remove the vertical drawer line feature");
    assert!(is_over(said, &[asked("Paint the till"), remove()]));
    assert!(!is_over(said, &[session(&[], "The vertical drawer lines are drawn again."), remove()]));
}
