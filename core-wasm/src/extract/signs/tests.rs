//! Tests of the signs.

use super::*;

#[test]
fn guesses_in_three_languages() {
    for said in ["it is likely a cache", "원인은 캐시인 것 같습니다", "動作するはずです。", "it might be stale"]
    {
        assert!(is_guess(said), "{said}");
    }
    for said in ["the mighty parser", "it is unlikely", "동작합니다", "動作します"] {
        assert!(!is_guess(said), "{said}");
    }
}

#[test]
fn what_limits_whatever_is_built() {
    for said in ["the till doesn’t support coins", "scales are unreliable in the rain", "저울은 동전을 지원하지 않습니다"]
    {
        assert!(tells_limit(said), "{said}");
    }
    for said in ["the issue is that the till doesn't work", "the drawer is empty", "it doesn't work because we skip it"] {
        assert!(!tells_limit(said), "{said}");
    }
}

#[test]
fn what_a_check_showed_and_what_is_missing() {
    for said in ["**Uh oh!** Both tills rang.", "Done.\n\nIt turns out that the till adds.", "예상과 달리 두 번 울립니다."]
    {
        assert!(disproves(said), "{said}");
    }
    assert!(!disproves("Both tills rang. The slip is printed."));
    assert!(lacks_something("missing entirely: the slip") && lacks_something("the till is outdated"));
    assert!(!lacks_something("it rounds whichever total is missing"));
    assert!(
        is_imperative("add `tax` to the slip")
            && is_imperative("store `tax`")
            && !is_imperative("added `tax`")
            && !is_imperative("update: it rings")
    );
    assert!(advises("the slip should be printed") && !advises("the slip is printed"));
}

#[test]
fn concessions_in_three_languages() {
    for said in [
        "You're right, the cart has no tax.",
        "Fair point. I take the cache out.",
        "맞습니다. 장바구니에는 세금이 없습니다.",
        "なるほど、税は含まれていないのですね。",
    ] {
        assert!(concedes(said), "{said}");
    }
    for said in [
        "That's a crucial distinction! The till keeps its slip.",
        "That's a really important clarification. Let me look again.",
        "Exactly — I was being imprecise.",
        "Ah yes, you're absolutely right!",
        "Ah, thanks for the correction.",
    ] {
        assert!(concedes(said), "{said}");
    }
    assert!(!concedes("The cart is right as it is.") && !concedes("That's a good question about the detail."));
    assert!(reverts("Fair point. Let me revert that.") && reverts("죄송합니다. 되돌리겠습니다."));
    assert!(!reverts("Fair point. I add a test that reverts the order."));
}

#[test]
fn what_holds_stands_after_the_concession() {
    assert_eq!(
        without_concession("You’re right — the hook of the till runs after the build."),
        "The hook of the till runs after the build."
    );
    assert_eq!(
        without_concession("You're right — tillHook runs after the build of the shop."),
        "tillHook runs after the build of the shop."
    );
    assert_eq!(
        without_concession("You're right — ’tis the hook of the till that runs first."),
        "’tis the hook of the till that runs first."
    );
    assert_eq!(
        without_concession("맞습니다, `taxOf()`는 고객의 국가에 따라 세율을 정하도록 되어 있습니다."),
        "`taxOf()`는 고객의 국가에 따라 세율을 정하도록 되어 있습니다."
    );
    for said in [
        "You're right, thanks.",
        "Good point about the till that we opened.",
        "You're right, I forgot to round the total of the cart.",
    ] {
        assert_eq!(without_concession(said), said);
    }
}

#[test]
fn admissions_wherever_they_stand() {
    assert!(concedes("Having looked again, I misread the log of the till.") && concedes("확인해 보니 제가 착각했습니다."));
    assert!(concedes("No, I'm not sure — the log shows no restart.") && !concedes("I read the log of the till."));
}

#[test]
fn what_is_announced_and_what_is_proposed() {
    for said in ["i'll merge `till` into `main` now.", "let me push it.", "이제 머지하겠습니다.", "マージします。"]
    {
        assert!(announces_deed(said), "{said}");
    }
    for said in ["i'll merge it once ci is green.", "i'll wait for the review.", "let me know.", "머지되면 배포하겠습니다."]
    {
        assert!(!announces_deed(said), "{said}");
    }
    assert!(makes_proposal("i’d suggest rounding at the till") && !makes_proposal("the review suggests rounding"));
}

#[test]
fn what_has_no_words_but_hashes() {
    assert!(has_only_hashes("`1a2b3c4` — ``") && has_only_hashes("1a2b3c4, 2b3c4d5"));
    assert!(!has_only_hashes("`1a2b3c4` rings") && !has_only_hashes("— ``") && !has_only_hashes("1234567 slips"));
}

#[test]
fn what_only_reports_a_commit() {
    for said in ["Committed as `1a2b3c4`.", "The pre-commit hook ran tests and lint, all passing.", "커밋했습니다."] {
        assert!(only_reports_commit(said), "{said}");
    }
    for said in [
        "The hook also lints what is not staged.",
        "The hook passes over `src/cart.ts`.",
        "The commit of 3 files has 2 more than named.",
    ] {
        assert!(!only_reports_commit(said), "{said}");
    }
}

#[test]
fn sentences_to_the_reader_and_about_what_stands_before() {
    assert!(addresses_reader("which is what your screenshot shows"));
    assert!(!addresses_reader("the label \"your cart\" is grey") && !addresses_reader("the youngest cart"));
    assert!(speaks_of_named_before("each has a colour of its own") && !speaks_of_named_before("the cart has a colour"));
    assert!(is_about_pushing("not pushed and no pr opened") && !is_about_pushing("the total is not rounded"));
    assert!(is_about_pushing("the branch is ready to push"));
    assert!(!is_about_pushing("the migration is ready to push to the live shop once the backup was made"));
}

#[test]
fn headings_of_proposals() {
    assert!(is_proposals("Testing Recommendations") && is_proposals("改善案") && is_proposals("개선 제안"));
    assert!(!is_proposals("What changed") && !is_proposals("残る改善案"));
}

#[test]
fn open_states() {
    for said in [
        "the change is uncommitted on `next`",
        "three tests still fail",
        "3 tests still failing",
        "ci is still running",
        "to land it, merge the branch of the till",
        "아직 push하지 않았다",
    ] {
        assert!(is_open_state(said), "{said}");
    }
    assert!(!is_open_state("all is committed"));
}

#[test]
fn options_guesses_and_hopes() {
    assert!(offers_options("you have two ways:") && !offers_options("new options:"));
    assert!(is_guess("ci should pass now.") && is_hope("the total should now be round"));
    assert!(is_guess("the drawer is likely open") && !is_hope("the drawer is likely open"));
    assert!(is_intent("i should branch from `main` first") && !is_intent("the filling is dry"));
    assert!(is_failing("two tests of the cart fail") && !is_failing("the tests of the cart pass"));
    assert!(is_problem("the tax is missing") && !is_problem("the tax is added"));
}

#[test]
fn names_and_output() {
    assert!(names_only("`/home/u/a.jsonl`; `/home/u/b.jsonl`") && names_only("https://example.com/shop/pull/7"));
    assert!(!names_only("The totals of `src/cart.ts` are rounded.") && !names_only("All tests pass."));
    assert!(is_output("[test:cart] $ npm test") && is_output("rm 89bb5e5efd2c0eb3fc01283df21a072d failed"));
    assert!(!is_output("the cart [beta] is blue"));
}

#[test]
fn praise_and_code() {
    assert!(is_praise("perfect! all tests pass") && is_praise("screen 2 looks great"));
    assert!(!is_praise("the good case is tested"));
    assert!(is_code("// set by the hook later") && is_code("ERROR: Session 1") && !is_code("an error: the cache"));
}

#[test]
fn faults_in_a_file() {
    assert!(finds_fault("the till prints an error instead of the slip") && finds_fault("the till ignores the slip"));
    assert!(!finds_fault("the till prints the slip") && !finds_fault("the till now ignores the slip"));
}

#[test]
fn what_a_review_found_is_mended() {
    for said in
        ["Good review. Let me address the issues found.", "I'll fix these findings now.", "지적 사항을 모두 반영하겠습니다."]
    {
        assert!(mends_findings(said), "{said}");
    }
    for said in ["Let me fix the critical issues only.", "Should I address the findings?", "The review found two issues."] {
        assert!(!mends_findings(said), "{said}");
    }
}

#[test]
fn what_the_code_does_since_a_change_is_a_state() {
    for said in ["now uses the root of the shop", "now the drawer opens", "now returns the total"] {
        assert!(says_how_it_is_now(said), "{said}");
    }
    for said in ["now process the slips", "now add the tax", "now its turn", "now let me see"] {
        assert!(!says_how_it_is_now(said), "{said}");
    }
}

#[test]
fn headings_of_fixes() {
    assert!(is_fix_heading("The Fix (2 files)") && is_fix_heading("2. Solution") && is_fix_heading("修正"));
    assert!(!is_fix_heading("Fix the till") && !is_fix_heading("The bug"));
}

#[test]
fn what_seemed_to_be_of_no_use_is_defended() {
    for said in [
        "the second cache is actually needed: the till reads it.",
        "`sum` is actually **correct**.",
        "the exports are in fact used by the slips.",
    ] {
        assert!(defends(said), "{said}");
    }
    for said in [
        "it is not actually needed.",
        "is it actually needed?",
        "now the till actually works.",
        "none of them is actually used, so i deleted them.",
        "the second cache is no longer actually needed.",
        "let me check which cache is actually used.",
        "the total is computed after all required fields are set.",
        "실제로 사용되지 않아서 삭제했습니다.",
        "実際に使われていませんでした。",
    ] {
        assert!(!defends(said), "{said}");
    }
}
