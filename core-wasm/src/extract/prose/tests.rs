//! Tests of how prose is read.

use super::*;
use proptest::prelude::*;

#[test]
fn narration_is_never_an_insight() {
    for sentence in [
        "Now I have the full picture.",
        "Let me apply all three fixes because the parser requires it.",
        "All fixes applied. Now let me run the tests and lint.",
        "파일을 확인하겠습니다.",
        "让我检查一下，因为测试失败了。",
    ] {
        assert_eq!(insights(sentence, false), [], "{sentence}");
    }
}

#[test]
fn causes_stand_alone() {
    let said = "I see — the hook fails because `bun test` picks up files in `tmp/clones/`. Let me remove them.";
    let found = insights(said, false);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].text, "the hook fails because `bun test` picks up files in `tmp/clones/`.");
}

#[test]
fn pointers_are_resolved_by_the_heading() {
    let answer = "Done:\n\n**Fix 2: Aggregation guarded against malformed results** (2 places)\n- same guard\n\nThis prevents a `TypeError` when the limiter stores a raw Error.";
    let found = insights(answer, true);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].text.starts_with("Aggregation guarded against malformed results (2 places): This prevents"));
    assert!(found[0].is_choice);
    assert_eq!(insights("This prevents a `TypeError` because of it.", true), []);
}

#[test]
fn files_are_distinguished_from_names() {
    assert_eq!(file_in("see `src/a/runner.ts:12` and Node.js").as_deref(), Some("src/a/runner.ts"));
    assert_eq!(file_in("Next.js 14 and e.g. that"), None);
    assert_eq!(file_in("`writing-guide.md`의 내용").as_deref(), Some("writing-guide.md"));
}

#[test]
fn an_answer_admits_what_it_did_not_check() {
    let answer = "The totals are rounded.\n\n## Checks\n- The cart was tested in the unit, not end-to-end.\n- All 12 tests pass.\n\n\
                  ## Loose ends\n- The page of the partners is as it was. It has totals of its own.\n\n## Files\n- one\n";
    assert_eq!(
        admissions(answer),
        ["The cart was tested in the unit, not end-to-end.", "The page of the partners is as it was."]
    );
    assert!(admissions("The totals were verified on every page. Should I also test the page of the partners?").is_empty());
    assert_eq!(admissions("반올림은 브라우저에서 확인하지 못했습니다.").len(), 1);
}

#[test]
fn checks_that_the_agent_did_not_make() {
    for said in ["It compiles, but I haven't run the till in the shop.", "The tests of the drawer were not run."] {
        assert_eq!(admissions(said), [said]);
    }
    for said in ["The slip was not run through the till.", "I haven't changed the till of the shop."] {
        assert!(admissions(said).is_empty(), "{said}");
    }
}

proptest! {
    #[test]
    fn never_panics(text in any::<String>()) {
        insights(&text, true);
        blockers(&text);
        admissions(&text);
        closing_question(&text);
        strip_interjection(&text);
    }
}

#[test]
fn what_only_the_user_can_do() {
    let needs = |said: &str| needs_user(said).unwrap_or_default();
    assert_eq!(needs("It failed. Your till needs to be unlocked."), "Your till needs to be unlocked.");
    assert_eq!(needs("Do you need to unlock the till?"), "", "a question");
    assert_eq!(needs("I open the till and count the coins."), "");
    let long = format!("The drawer {}is stuck — you need to open it by hand", "of the shop ".repeat(12));
    assert_eq!(needs(&long), "you need to open it by hand");
}

#[test]
fn a_lesson_that_leans_on_the_sentence_before_it_is_told_with_it() {
    let of = |said: &str| insights(said, true).into_iter().map(|insight| insight.text).collect::<Vec<_>>();
    let said = "`MAX_ITEMS` is ten. However, it counts the old rows too, because `cart.ts` never drops them.";
    assert_eq!(of(said), [said]);
    assert!(of("## Why they differ\n\nThat is due to `cart.ts`, which silently drops the tax.").is_empty());
    assert_eq!(of("## Tax of gifts\n\nIt is silently dropped by `cart.ts` because gifts are free.").len(), 1);
}

#[test]
fn a_step_to_take_is_no_lesson() {
    assert!(insights("Add a flag to `cart.ts` because the default is silently ignored.", true).is_empty());
    assert_eq!(insights("`cart.ts` needs a flag because the default is silently ignored.", true).len(), 1);
}

#[test]
fn what_stands_in_parentheses_behind_a_deed_is_told_with_it() {
    assert!(admissions("The tax moved to `tax.ts` (not verified in the browser).").is_empty());
    assert_eq!(admissions("The tax was not verified in the browser.").len(), 1);
}

#[test]
fn what_lists_things_teaches_nothing() {
    for said in [
        "- `<price_conflict>` → 3 lines of a table that conflict with others",
        "- None (the menu's update is optional and does not work at this time)",
        "- `menu.md` (93 lines) - the dishes that conflicts with the cellar must be sorted by",
        "- `TestOpenDrawer_MismatchBecauseDrawerIsMissing`",
        "- Fix of the cause - Correctly identifies that the drawer in `till.go` opens twice because of its bell",
    ] {
        assert!(insights(said, true).is_empty(), "{said}");
    }
    let said = "- The carts do not work with `tar`, because the crane does not support it.";
    assert_eq!(insights(said, true).len(), 1);
}

#[test]
fn japanese_narration_and_empty_words() {
    for said in ["棚のテストを追加します。", "レジの設定を変更します。"] {
        assert!(is_narration(said), "{said}");
    }
    assert!(!is_narration("レジは税込みで動作します。"));
    for said in ["남은 계산대의 로그를 확인합니다.", "서랍이 비어 있으니 잔돈을 추가합니다.", "모든 변경 사항을 정리한다"]
    {
        assert!(is_narration(said), "{said}");
    }
    for said in [
        "계산대는 로그를 확인합니다.",
        "버튼을 누르면 영수증을 추가합니다.",
        "`print()`: 영수증을 추가합니다.",
        "로그를 확인했습니다.",
    ] {
        assert!(!is_narration(said), "{said}");
    }
    assert!(
        is_narration("I'm using the till-counting skill to count it.") && !is_narration("I'm using the drawer of the till.")
    );
    assert!(is_filler("追記完了です。") && is_filler("対応が完了しました。"));
    assert!(!is_filler("棚卸しの集計とレジの締めの移行が完了しました。"));
}

#[test]
fn bold_words_that_open_a_sentence_are_no_heading() {
    for heading in ["**The till**", "**The till** (at night)", "2. **The till** in `till.rs`", "**引き出し**:"] {
        assert!(is_heading(heading), "{heading}");
    }
    for sentence in
        ["**The till** rings twice.", "**引き出しは閉じたまま**です。開けるには鍵が必要です。", "**서랍**은 잠겨 있음"]
    {
        assert!(!is_heading(sentence), "{sentence}");
    }
}
