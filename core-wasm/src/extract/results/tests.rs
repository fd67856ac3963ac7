//! Tests of what is told of a session.

use super::*;
use crate::extract::statement::Voice;
use crate::text;

fn line(turn: &TurnResult, chosen: impl Iterator<Item = usize> + Clone) -> String {
    let said = Said::of(chosen.clone().map(|at| &turn.statements[at]));
    turn.line(chosen, &said, labels())
}

fn labels() -> &'static Labels {
    super::super::labels::labels(text::Language::English)
}

fn turn(answer: &str, commit: &str) -> TurnResult {
    let mut statements = statement::statements(answer, Voice::Answer);
    statements.extend(statement::statements(commit, Voice::Commit));
    TurnResult { statements, ..TurnResult::default() }
}

#[test]
fn a_lead_needs_most_of_its_list() {
    let turn = turn("Three problems stand out:\n- One is slow.\n- Two is lost.\n- Three is late.", "");
    assert_eq!(line(&turn, [0, 1].into_iter()), "One is slow.");
    assert_eq!(line(&turn, [0, 1, 3].into_iter()), "Three problems stand out: One is slow. Three is late.");
    assert_eq!(line(&turn, [0].into_iter()), "");
}

#[test]
fn a_lead_without_a_subject_is_left_out() {
    let told = |answer: &str| line(&turn(answer, ""), 0..3);
    assert_eq!(told("修正内容のまとめ:\n- 合計を丸めた\n- 税の行を足した"), "合計を丸めた; 税の行を足した");
    assert_eq!(told("## 주요 변경사항\n\n- 합계를 반올림했다\n- 세금 줄을 더했다"), "합계를 반올림했다; 세금 줄을 더했다");
    assert_eq!(told("丸め方の変更:\n- 合計を丸めた\n- 税の行を足した"), "丸め方の変更: 合計を丸めた; 税の行を足した");
}

#[test]
fn a_lead_of_one_text_does_not_lead_to_the_list_of_another() {
    let mut turn = turn("It is done.\n\nThe next step:", "");
    turn.statements.extend(statement::statements("- One\n- Two\n- Three is late.\n- Four", Voice::Answer));
    assert_eq!(line(&turn, [1, 4].into_iter()), "Three is late.");
}

#[test]
fn what_was_wrong_before_the_last_edit_is_not_how_it_ended() {
    let told = |found: &str| {
        let mut turn = turn("The total of `src/cart.ts` has two decimals now.", "");
        let mut before = statement::statements(found, Voice::Work);
        for statement in &mut before {
            statement.is_before_edit = true;
        }
        turn.statements.splice(0..0, before);
        let count = turn.statements.len();
        line(&turn, 0..count)
    };
    assert_eq!(
        told("The bug is that the total isn't rounded. `roundTotal()` returns early."),
        "The total of `src/cart.ts` has two decimals now. Before the change: The bug is that the total isn't rounded. \
         `roundTotal()` returns early."
    );
    assert!(
        told("The total comes from `add()`, but the slip needs `round()`.").contains(" Before the change: The total comes")
    );
    let mut alone = turn("", "");
    alone.statements = statement::statements("The bell is silently ignored instead of rung.", Voice::Work);
    alone.statements[0].is_before_edit = true;
    assert_eq!(line(&alone, 0..1), "Before the change: The bell is silently ignored instead of rung.");
    for kept in [
        "Fixed the total, which was wrong.",
        "The scale doesn't support two currencies.",
        "The total is read once.",
        "`total()` must stay a float, but the slip should show cents because the scale sends grams.",
        "`total()` is called in two places but both pass cents already.",
    ] {
        assert!(told(kept).starts_with(kept), "{kept}");
    }
}

#[test]
fn how_it_is_since_a_change_needs_no_state_before() {
    let told = |answer: &str| {
        let turn = turn(answer, "");
        let count = turn.statements.len();
        line(&turn, 0..count)
    };
    assert_eq!(told("The till is fast.\n- After: `round()` runs once."), "The till is fast. Now: `round()` runs once.");
    assert!(told("- Before: `round()` ran twice.\n- After: `round()` runs once.").contains("After: "));
}

#[test]
fn what_was_wrong_stands_below_its_heading() {
    let answer =
        "## The total of the cart\n\n### The Problem\n\n- `round()` ran twice\n\n### Result\n\n- `round()` runs once";
    let turn = turn(answer, "");
    let count = turn.statements.len();
    let told = line(&turn, 0..count);
    assert!(told.contains("The Problem: `round()` ran twice") && told.contains("Result: `round()` runs once"), "{told}");
}

#[test]
fn a_heading_of_changes_is_not_told_without_them() {
    let turn = turn("All is rounded.\n\n## Changes made to the till of the night\n\n- `round()` runs once", "");
    assert_eq!(line(&turn, 0..2), "All is rounded.");
    assert!(line(&turn, 0..3).contains("Changes made to the till of the night: "));
}

#[test]
fn a_failure_ends_with_the_run_that_passes() {
    let mut results = Results::default();
    results.push(TurnResult { edited: true, ..turn("The only failure is the test of the till, which needs a key.", "") });
    results.push(turn("All 33 checks pass, the test of the till as well.", ""));
    assert_eq!(results.superseded(), [(0, 0)]);
    results.push(turn("One test of the scale fails.", ""));
    assert!(!results.superseded().contains(&(0, 0)));
    let mut results = Results::default();
    results.push(TurnResult { edited: true, ..turn("The failing test of the till - Updated what it expects.", "") });
    results.push(turn("All 33 checks pass, the test of the till as well.", ""));
    assert!(results.superseded().is_empty(), "that is a cure");
}

#[test]
fn the_body_of_a_commit_does_not_repeat_the_answer() {
    let turn = turn(
        "`src/cart.ts` now rounds the total of the cart to cents.",
        "Round totals\n\nRounds the total to cents in the cart.\n\nThe invoice service still truncates.",
    );
    assert_eq!(
        line(&turn, 0..4),
        "`src/cart.ts` now rounds the total of the cart to cents. — committed as \"Round totals\"; The invoice service still truncates."
    );
}

#[test]
fn what_the_agent_takes_back_is_not_told() {
    let told = |conceded: bool| {
        let mut results = Results::default();
        results.push(turn("`cartTotal` is stored in the session. The invoice is sent by `mailQueue`.", ""));
        if conceded {
            results.concede(false);
        }
        results.push(turn("Fair point: `cartTotal` is computed for each request.", ""));
        (0..2).filter_map(|at| results.amendment(at)).any(|it| it.amends(&results.turns[0].statements[0]))
    };
    assert!(told(true) && !told(false));
    let mut results = Results::default();
    results.push(turn("The invoice is sent by `mailQueue`.", ""));
    results.concede(false);
    results.push(turn("Fair point: `cartTotal` is computed for each request.", ""));
    assert!(!results.amendment(0).unwrap().amends(&results.turns[0].statements[0]), "that is something else");
    results.turns[0].edited = true;
    results.turns.truncate(1);
    results.concede(true);
    results.push(turn("Fair point, I revert that.", ""));
    assert!(results.amendment(0).unwrap().amends(&results.turns[0].statements[0]), "nothing of it is left");
}

/// Returns what is told of an answer, and of the one that gives in after a prompt disputed it.
fn told_after_dispute(before: &str, after: &str) -> String {
    let mut results = Results::default();
    results.push(turn(before, ""));
    results.dispute(true, true);
    results.concede(false);
    results.push(turn(after, ""));
    results.told(labels()).into_iter().map(|(_, line)| line).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_claim_that_the_agent_gave_up_goes_with_what_rests_on_it() {
    let before = "The till is slow because `queueTotals` starts again when the printer restarts. Each total is then computed \
                  by `sumCart()` a second time, which locks the drawer.";
    let after = "No, I'm not sure — the log rules the printer out. The till is slow because `openDrawer()` waits for the \
                 scale, which answers after two seconds.";
    let told = told_after_dispute(before, after);
    assert!(told.contains("openDrawer") && !told.contains("queueTotals") && !told.contains("sumCart"), "{told}");
    let korean = told_after_dispute(
        "계산대가 느린 이유는 `sum cart` 단계에서 캐시를 사용하지 않기 때문입니다. 매번 모든 가격을 처음부터 다시 읽어 6초가 걸립니다.",
        "맞습니다, 제가 잘못 봤습니다. 캐시는 정상적으로 동작하고 있습니다. 실제로는 `openDrawer()`가 저울을 기다려서 계산대가 느립니다.",
    );
    assert!(korean.contains("openDrawer") && !korean.contains("6초") && !korean.contains("sum cart"), "{korean}");
}

#[test]
fn what_holds_does_not_lean_on_the_concession_before_it() {
    let after = "You're right — I was wrong about the night job. Each total has a lifetime of ten minutes, which `setTotal()` sets \
                 for the till.";
    let told = told_after_dispute("The totals of the till are cleared by a night job.", after);
    assert!(told.contains("lifetime of ten minutes") && !told.contains("cleared by"), "{told}");
}

#[test]
fn what_was_not_given_up_stands() {
    let before = "I found three faults:\n\n1. `openTill()` never closes its file, so each sale leaks a descriptor.\n\
                  2. `sumCart()` adds the tax twice for vouchers.\n3. `printSlip()` blocks because it writes synchronously.";
    let after = "You're right, vouchers are exempt: `sumCart()` skips the tax for them in `taxOf()`, so that is no fault.";
    let told = told_after_dispute(before, after);
    assert!(told.contains("openTill") && told.contains("printSlip") && !told.contains("adds the tax twice"), "{told}");
    // An item shares words with what was disputed beside it, and is not given up.
    let mut results = Results::default();
    results.push(turn(
        "The till has two kinds:\n\n- A sale of the till has its `saleId` from the slip of the day.\n\
         - A refund of the till keeps the day of its slip and the clerk.",
        "",
    ));
    results.dispute(true, true);
    results.concede(false);
    results
        .push(turn("You're right, a sale of the till has its `saleId` from the scale, not from the slip of the day.", ""));
    let given_up: Vec<String> = results.given_up().into_iter().map(|(_, said)| said).collect();
    assert!(given_up.iter().any(|said| said.contains("saleId")), "{given_up:?}");
    assert!(!given_up.iter().any(|said| said.contains("clerk")), "{given_up:?}");
    let mut results = Results::default();
    results.push(TurnResult { edited: true, ..turn("Removed `sumCart()` and the tax of vouchers.", "") });
    results.dispute(true, true);
    results.concede(false);
    results.push(turn("You're right, `sumCart()` did not add the tax of vouchers.", ""));
    assert!(results.given_up().is_empty() && results.corrects(1) && !results.corrects(0), "what was done stays done");
}

#[test]
fn items_that_differ_in_a_name_are_not_the_same() {
    let list = "- `roundTotal()` now gets the currency of the cart as its second argument\n\
                - `roundTax()` now gets the currency of the cart as its second argument\n\
                - now gets the currency of the cart as its second argument";
    let mut results = Results::default();
    results.push(turn(list, ""));
    let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
    assert_eq!(results.choose(judged, 0.0, 1_000), [(0, 0), (0, 1)]);
}

#[test]
fn options_are_not_told_once_somebody_chose() {
    let answer = "The hook also checks the menu. You have a few options:\n\n- Stash the change of the menu first\n- Leave the hook out";
    let mut results = Results::default();
    results.push(turn(answer, ""));
    results.push(turn("The hook was left out.", ""));
    let told = |results: &Results| {
        let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
        results.choose(judged, 0.0, 1_000).iter().filter(|(turn, number)| *turn == 0 && *number > 1).count()
    };
    assert_eq!(told(&results), 0);
    results.turns[0].edited = true;
    assert_eq!(told(&results), 0, "the work of the turn is another one");
    let mut results = Results::default();
    results.push(turn("The options of the till:\n\n- `till.rs` - Added the night\n- `menu.rs` - Removed the day", ""));
    results.push(turn("The hook was left out.", ""));
    results.turns[0].edited = true;
    assert_eq!((1..3).filter(|&number| results.turns[0].is_option(number)).count(), 0, "what was done is no option");
}

#[test]
fn a_problem_is_not_told_once_files_were_changed_after_it() {
    let problem = "The total in `src/cart.ts` is missing the tax of the second country.";
    let told = |is_before_edit: bool, text: &str| {
        let mut results = Results::default();
        let mut work = TurnResult { edited: true, ..turn("The tax is added.", "") };
        work.statements.extend(statement::statements(text, Voice::Work));
        work.statements[1].is_before_edit = is_before_edit;
        results.push(work);
        let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
        results.choose(judged, 0.0, 1_000).contains(&(0, 1))
    };
    assert!(told(false, problem) && !told(true, problem));
    let cause = "The root cause: the total is missing the tax because `addTax()` returns early.";
    assert!(told(true, cause), "a cause is worth telling after it was cured");
}

#[test]
fn a_list_is_told_whole_if_most_of_it_is() {
    let list = "It is done:\n- One is quick in `a.ts`.\n- Two is found in `b.ts`.\n- Three is on time in `c.ts`.\n- Four should work too.";
    let mut results = Results::default();
    results.push(turn(list, ""));
    assert_eq!(results.with_whole_lists(vec![(0, 1), (0, 3)]), [(0, 1), (0, 2), (0, 3)], "a hope stays out");
    assert_eq!(results.with_whole_lists(vec![(0, 1)]), [(0, 1), (0, 2), (0, 3)], "there is room for a short list");
    let long = format!("It is done:\n- One is quick in `a.ts`.\n- Two is found in {}.", "`b.ts` and ".repeat(50));
    let mut results = Results::default();
    results.push(turn(&long, ""));
    assert_eq!(results.with_whole_lists(vec![(0, 1)]), [(0, 1)]);
}

#[test]
fn an_answer_is_not_only_told_as_done() {
    let answer = "Done. The total of the cart is rounded to cents before it is shown.";
    let mut results = Results::default();
    results.push(TurnResult { edited: true, ..turn(answer, "") });
    assert_eq!(results.with_answers(vec![(0, 0)], &[]), [(0, 0), (0, 1)]);
    assert_eq!(results.with_answers(vec![(0, 1)], &[]), [(0, 1)]);
}

#[test]
fn statements_that_do_not_hold_leave_the_results() {
    let mut results = Results::default();
    results.push(TurnResult { number: 1, ..turn("`roundTotal` is new. `cartView` is new.", "") });
    results.push(TurnResult { number: 2, ..turn("`roundTotal` is back.", "") });
    results.retain(|said, turn| turn > 1 || !said.contains("roundTotal"), |_| false, true);
    let left: Vec<usize> = results.turns.iter().map(|turn| turn.statements.len()).collect();
    assert_eq!(left, [1, 1]);
}

#[test]
fn a_question_is_no_heading() {
    let turn = turn("## Should we keep it?\n\n- It is used once.", "");
    assert_eq!(line(&turn, [1].into_iter()), "It is used once.");
}

#[test]
fn a_sentence_that_leans_on_the_one_before_is_told_with_it() {
    let mut results = Results::default();
    results
        .push(turn("The tab measured its width only once. When a number appeared, the line was too short. It is blue.", ""));
    assert_eq!(results.with_antecedents(vec![(0, 1)]), [(0, 0), (0, 1)]);
    assert_eq!(results.with_antecedents(vec![(0, 2)]), [(0, 2)]);
    let mut results = Results::default();
    results.push(turn("- Added the helper `resetTill()` with a comment. It's for whoever tests the till next.", ""));
    assert_eq!(results.with_antecedents(vec![(0, 1)]), [(0, 0), (0, 1)], "it is the helper");
}

#[test]
fn the_steps_of_a_refused_plan_are_no_result() {
    let mut results = Results::default();
    let planned = turn("The guide moves to `docs/guide.md`.\n\n- Rewrite the links of the guide in `README.md`", "");
    results.push(TurnResult { is_refused: true, ..planned });
    let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
    assert_eq!(results.choose(judged, 0.0, 1_000), [(0, 0)]);
}

#[test]
fn scores_are_computed_anew_after_another_turn() {
    let mut results = Results::default();
    results.push(turn("The cache in `src/cache.rs` is stale because nobody clears it.", ""));
    let alone = results.judged().to_vec();
    results.push(turn("All is well.", ""));
    assert_eq!((alone.len(), results.judged().len()), (1, 2));
    assert_eq!(results.judged()[0].1.later_turns, 1);
}

#[test]
fn what_was_asked_is_no_result() {
    let mut results = Results::default();
    let asked = "The total of `src/cart.ts` must have two decimals.";
    let mut work = TurnResult {
        edited: true,
        substantive: true,
        asked: asked.to_owned(),
        ..turn("It is rounded in `src/cart.ts`.", "")
    };
    work.statements.extend(statement::statements(asked, Voice::Human));
    results.push(work);
    results.push(turn("All is well.", ""));
    let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
    assert!(!results.choose(judged, 0.0, 1_000).contains(&(0, 1)));
}

#[test]
fn a_commit_does_not_overtake_the_answer_that_it_records() {
    let mut results = Results::default();
    results.push(turn("`roundTotal` in `src/cart.ts` rounds to cents.", ""));
    results.push(TurnResult { committed: true, ..turn("", "Round totals\n\n`roundTotal` of `src/cart.ts` is new.") });
    let all = |results: &Results| results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
    assert!(results.choose(all(&results), 0.0, 1_000).contains(&(0, 0)));
    results.push(turn("`roundTotal` left `src/cart.ts` again.", ""));
    assert!(!results.choose(all(&results), 0.0, 1_000).contains(&(0, 0)));
}

#[test]
fn a_sentence_about_several_things_needs_them() {
    let mut results = Results::default();
    results.push(turn("Three colours are new:\n- red in `a.css`\n- blue in `b.css`\n\nEach has a state of its own.", ""));
    assert_eq!(results.without_leaning(&[(0, 2), (0, 3)]), [(0, 2), (0, 3)]);
    assert_eq!(results.without_leaning(&[(0, 1), (0, 3)]), [(0, 1)]);
}

#[test]
fn the_first_sentence_of_the_work_counts_more() {
    let answer =
        "All six shops show the total now, and the label stays.\n\nThe menu of the shop is as it was before all that.";
    let mut results = Results::default();
    results.push(TurnResult { edited: true, ..turn(answer, "") });
    let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, -0.5)).collect();
    assert_eq!(results.choose(judged, 0.0, 1_000), [(0, 0)]);
}

#[test]
fn who_is_addressed_knows_what_nobody_else_does() {
    let mut results = Results::default();
    results
        .push(turn("The total is rounded, as your picture of `src/cart.ts` shows. The total of `src/menu.ts` is not.", ""));
    let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
    assert_eq!(results.choose(judged, 0.0, 1_000), [(0, 1)]);
}

#[test]
fn tests_that_were_written_are_told_only_alone() {
    let told = |answer: &str, chosen: &[usize]| {
        let mut results = Results::default();
        results.push(TurnResult { edited: true, ..turn(answer, "") });
        results.without_records(chosen.iter().map(|&at| (0, at)).collect()).len()
    };
    let list = "- `src/cart.ts`: rounds the total\n- `src/cart.test.ts`: 4 tests of the total";
    assert_eq!((told(list, &[0, 1]), told(list, &[1])), (1, 1));
    assert_eq!(told("The total is rounded.\n\n## Tests added\n\n- 4 of the total\n- 2 of the tax", &[0, 2, 3]), 1);
    assert_eq!(told("All tests pass.\n\n## Tests added\n\n- 4 of the total\n- 2 of the tax", &[0, 2, 3]), 3, "nothing else");
    let most = "- `cart.ts`: rounds\n- `cart.test.ts`: expects cents\n- `tax.test.ts`: expects two rates\n- `till.test.ts`: opens twice";
    assert_eq!(told(most, &[0, 1, 2, 3]), 4, "the work was on tests");
    let only =
        "The review wants two.\n\n## Changes made to `cart.test.ts`\n\n- `round` expects cents\n- `tax` has two rates";
    assert_eq!(told(only, &[0, 1, 2, 3]), 4, "nothing else was listed");
    let behind = "- `cart.ts`: rounds the total of the cart\n- `cart.test.ts`: a helper. It is for the next one.";
    assert_eq!(told(behind, &[0, 1, 2]), 1, "what stands behind an entry goes with it");
}

#[test]
fn the_latest_request_asks_for_no_tests() {
    let told = |asked: &str| {
        let mut results = Results::default();
        let list = "- `src/cart.ts`: rounds the total\n- `src/cart.test.ts`: 4 tests of the total";
        results.push(TurnResult { edited: true, asked: asked.to_owned(), ..turn(list, "") });
        results.without_records(vec![(0, 0), (0, 1)]).len()
    };
    assert_eq!((told("Read the latest total"), told("Add a test for the total")), (1, 2));
}

#[test]
fn a_short_heading_is_told_only_above_something() {
    let turn = turn(
        "The tax is a rate.\n\n## Loose ends\n\n- The slip is late.\n\n## The tax of the shop is exempt at night\n\n- One",
        "",
    );
    assert_eq!(line(&turn, [0, 1].into_iter()), "The tax is a rate.");
    assert_eq!(line(&turn, [0, 1, 2].into_iter()), "The tax is a rate. Loose ends: The slip is late.");
    assert_eq!(line(&turn, [0, 3].into_iter()), "The tax is a rate. The tax of the shop is exempt at night");
    assert_eq!(line(&turn, [1].into_iter()), "Loose ends", "nothing else is told");
}

#[test]
fn many_names_of_tests_say_nothing_unless_they_were_asked_for() {
    let answer = "The total is rounded:\n\n- `TestTotal` - verifies the total\n- `TestTax`\n- `TestDay` — the day\n- `TestSlip` needs a printer that answers in time";
    let told = |asked: &str| {
        let mut results = Results::default();
        results.push(TurnResult { edited: true, asked: asked.to_owned(), ..turn(answer, "") });
        results.without_records((0..5).map(|at| (0, at)).collect()).len()
    };
    assert_eq!((told("Round the total"), told("Add tests for the total")), (1 + 1, 5));
}

#[test]
fn a_numbered_list_keeps_its_steps() {
    let mut results = Results::default();
    results.push(turn(
        "The slip is late:\n\n1. The till opens\n2. The scale answers\n3. The slip waits for it\n\n- One\n- Two\n- Three",
        "",
    ));
    assert_eq!(results.with_whole_steps(vec![(0, 1), (0, 3)]), [(0, 1), (0, 2), (0, 3)]);
    assert_eq!(results.with_whole_steps(vec![(0, 1)]), [(0, 1)], "one step is no list");
    assert_eq!(results.with_whole_steps(vec![(0, 4), (0, 5)]).len(), 2, "a list without numbers");
    results.dispute(true, true);
    assert_eq!(results.with_whole_steps(vec![(0, 1), (0, 3)]).len(), 2, "it may be wrong");
}

#[test]
fn a_list_goes_once_later_turns_say_most_of_it() {
    let mut results = Results::default();
    let list = "- `sumCart()` rounds each total of the cart to whole cents\n- `printSlip()` prints one slip for each sale of the day\n- It is faster\n";
    results.push(work(&format!("{list}- `openDrawer()` waits")));
    results.push(work(list.split("- It").next().unwrap()));
    let all: Vec<Place> = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)].to_vec();
    assert_eq!(results.without_overtaken_lists(all.clone()), [(1, 0), (1, 1)]);
    let with_new = [&all[..3], &[(0, 3)], &all[3..]].concat();
    assert!(results.without_overtaken_lists(with_new).contains(&(0, 3)), "no later turn speaks of the drawer");
    let half: Vec<Place> = [(0, 0), (0, 2), (0, 3), (1, 0)].to_vec();
    assert_eq!(results.without_overtaken_lists(half.clone()), half, "single items stay");
}

#[test]
fn a_commit_turn_does_not_repeat_file_by_file_what_was_done() {
    let mut results = Results::default();
    results.push(TurnResult {
        edited: true,
        ..turn("**`cart.ts`**\n\n- Rounds the total of the cart before the tax is added to it\n", "")
    });
    let record = "- `cart.ts`: the total is round\n- `menu.ts`: the colour is fixed";
    results.push(TurnResult { edited: true, committed: true, is_chore: true, ..turn(record, "") });
    assert_eq!(results.turns[0].statements.len(), 2);
    assert_eq!(results.without_records(vec![(0, 1), (1, 0), (1, 1)]), [(0, 1), (1, 1)]);
}

#[test]
fn labels_fillers_and_praise_are_left_out() {
    let answer = "Done.\n\nSummary: The total is rounded before the tax.\n\nI've successfully moved the tax into `tax.ts`.\n\n## Code changes\n\n- The tax is a rate.";
    let turn = turn(answer, "");
    assert_eq!(line(&turn, 0..5), "The total is rounded before the tax. Moved the tax into `tax.ts`. The tax is a rate.");
    assert_eq!(line(&turn, 0..1), "Done.");
    let complete = self::turn("The implementation is complete and ready for use! The tax is a rate.", "");
    assert_eq!(line(&complete, 0..2), "The tax is a rate.");
}

/// Chooses among the statements of a session as if all of them were worth telling.
fn chosen(results: &Results) -> Vec<String> {
    let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
    let places = results.choose(judged, 0.0, 2_000);
    places.into_iter().map(|(turn, number)| results.turns[turn].statements[number].text.clone()).collect()
}

#[test]
fn a_fault_is_not_told_once_a_later_turn_mended_it() {
    let fault = "The bug is in `cartTotal`: it fails for an empty cart and returns an error.";
    let mended = "`cartTotal` returns zero for an empty cart now, and no error.";
    let told = |edited: bool, answer: &str| {
        let mut results = Results::default();
        results.push(TurnResult { number: 1, ..turn(fault, "") });
        results.push(TurnResult { number: 2, edited, ..turn(answer, "") });
        chosen(&results).iter().any(|said| said == fault)
    };
    assert!(!told(true, mended));
    assert!(told(false, mended), "nothing was changed");
    assert!(told(true, "`menuView` is wider now, and it has no error."), "that is something else");
}

#[test]
fn what_is_to_be_committed_is_not_told_once_it_was() {
    let told = |committed: bool| {
        let mut results = Results::default();
        let steps = "- Commit the slip and open a pull request\n- Commit `a1` has the sum\n- Get these changes onto `main`";
        results.push(TurnResult { edited: true, ..turn(steps, "") });
        results.push(TurnResult { committed, ..turn("The slip has a date.", "") });
        results.superseded().len()
    };
    assert_eq!((told(false), told(true)), (0, 2));
}

#[test]
fn promises_are_not_told_of_an_earlier_turn() {
    let mut results = Results::default();
    let promises = "Once the push lands I'll patch the deployment of the shop. I'd need to add `nv_create` to the menu of tools.\n\n\
                    The cart rounds each line of the invoice to cents.";
    results.push(turn(promises, ""));
    results.push(turn("The menu was widened for the longer names.", ""));
    assert_eq!(
        chosen(&results),
        ["The cart rounds each line of the invoice to cents.", "The menu was widened for the longer names."]
    );
}

#[test]
fn a_few_rows_do_not_stand_for_a_table() {
    let table = "| file | what |\n|---|---|\n| `a.ts` | rounds the total |\n| `b.ts` | sends the mail |\n| `c.ts` | draws the menu |\n| `d.ts` | reads the tax |\n\n\
                 All four files are typed now.";
    let mut results = Results::default();
    results.push(turn(table, ""));
    let rows: Vec<usize> = (0..results.turns[0].statements.len())
        .filter(|at| results.turns[0].statements[*at].form == statement::Form::Row)
        .collect();
    assert_eq!(rows.len(), 4);
    let kept = |rows: &[usize]| results.without_stray_rows(rows.iter().map(|row| (0, *row)).collect()).len();
    assert_eq!(kept(&rows[..1]), 0);
    assert_eq!(kept(&rows[..3]), 3);
}

#[test]
fn a_problem_takes_its_cure_with_it() {
    let answer =
        "All three servers failed with a missing argument. I passed the version of the protocol to each. The menu is blue.";
    let mut results = Results::default();
    results.push(turn(answer, ""));
    assert_eq!(results.with_cures(vec![(0, 0)]), [(0, 0), (0, 1)]);
    assert_eq!(results.with_cures(vec![(0, 1)]), [(0, 1)]);
}

#[test]
fn an_amended_commit_is_told_once_and_its_hash_is_gone() {
    let mut results = Results::default();
    results.push(turn("The commit `039dfc5` still has the old trailer of the shop.", "Round totals"));
    results.commit_gone("Round totals", "039dfc5");
    results.push(turn("The trailer names the new model of the shop.", "Round totals"));
    assert_eq!(chosen(&results), ["The trailer names the new model of the shop.", "Round totals"]);
}

#[test]
fn a_heading_that_is_a_clause_is_no_part_of_a_sentence() {
    let turn = turn("## Why the totals differ\n\nThe tax is rounded twice.\n\n## Rounding\n\nCents are cut.", "");
    assert_eq!(line(&turn, [1, 3].into_iter()), "The tax is rounded twice. Rounding: Cents are cut.");
    let list = self::turn("## What the default leaves out\n\n- the tax\n- the mail\n\n## What changed\n\n- the menu", "");
    assert_eq!(line(&list, [1, 2, 4].into_iter()), "What the default leaves out: the tax; the mail. the menu");
}

#[test]
fn a_short_answer_is_told_before_its_explanation() {
    let mut results = Results::default();
    results
        .push(turn("Short answer: it does not, the branch is what counts. It reads the branch and then the trailer.", ""));
    let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 0.5)).collect();
    assert_eq!(results.choose(judged, 1.0, 2_000), [(0, 0)]);
}

#[test]
fn the_report_of_a_reviewer_is_nobodys_word() {
    let mut work = turn("The usage of the subcommand is printed now, with the flags of the cart.", "");
    let report = "Low: the usage of the root is printed instead of the usage of the subcommand.\nThe till always calls it with the root.";
    work.statements.extend(statement::statements(report, Voice::Human));
    work.edited = true;
    let mut results = Results::default();
    results.push(work);
    results.push(turn("The menu of the cart is wider.", ""));
    assert_eq!(
        chosen(&results),
        ["The usage of the subcommand is printed now, with the flags of the cart.", "The menu of the cart is wider."]
    );
}

#[test]
fn how_it_was_before_the_work_is_not_told() {
    let mut results = Results::default();
    results.push(TurnResult {
        number: 1,
        ..turn("Each request currently carries the name of the library, `defaultAgent`.", "")
    });
    results.push(TurnResult {
        number: 2,
        edited: true,
        ..turn("Each request carries the name of the till now, not `defaultAgent`.", "")
    });
    assert_eq!(chosen(&results), ["Each request carries the name of the till now, not `defaultAgent`."]);
}

#[test]
fn the_answer_with_which_the_work_ended_is_told_whole() {
    let answer = "Done. Both totals are right.\n\n**Cart.** `src/cart.ts` adds the tax first. It was cut to cents before.\n\n\
                  - The menu keeps its border\n\nThe tax of a gift is zero, so no line shows it.\n\nShall I commit?";
    let mut results = Results::default();
    results.push(TurnResult { edited: true, substantive: true, ..turn(answer, "") });
    let lines = results.told(labels());
    let [(0, told)] = lines.as_slice() else { panic!("{lines:?}") };
    for said in
        ["Both totals are right.", "Cart — `src/cart.ts` adds the tax first. It was cut", "border", "no line shows it"]
    {
        assert!(told.contains(said), "{said} is missing in {told}");
    }
    assert!(!told.contains("Done.") && !told.contains("Shall I"), "{told}");
}

#[test]
fn a_long_closing_answer_is_told_as_far_as_there_is_room() {
    let answer: Vec<String> = (0..90)
        .map(|number| {
            format!("- `part{number}.ts` rounds the total of its invoice number {number} before the tax is added to it")
        })
        .collect();
    let mut results = Results::default();
    results.push(TurnResult { edited: true, substantive: true, ..turn(&answer.join("\n"), "") });
    let told: usize = results.told(labels()).iter().map(|(_, line)| line.chars().count()).sum();
    assert!((4_000..5_000).contains(&told), "{told} characters");
}

#[test]
fn a_report_of_the_client_does_not_end_the_work() {
    let summary = "The cart rounds the total before the tax. ".repeat(2) + "The invoice shows it in `invoice.ts`.";
    let mut results = Results::default();
    results.push(TurnResult { edited: true, substantive: true, ..turn(&summary, "") });
    results.push(turn("The build of the invoice passed.", ""));
    assert_eq!(results.closing(), Some(0));
    results.push(TurnResult {
        substantive: true,
        prompt_chars: 80,
        files: vec!["menu.ts".to_owned()],
        ..turn("The menu has no total.", "")
    });
    assert_eq!(results.closing(), Some(2));
}

#[test]
fn a_short_answer_is_told_whole_unless_it_was_only_proposed_before_the_work() {
    let proposal = "The total could be rounded in `cart.ts` itself. The border of the menu is drawn twice there.";
    let told = |edited: bool, disputed: bool| {
        let mut results = Results::default();
        results.push(TurnResult { edited, disputed, substantive: true, prompt_chars: 80, ..turn(proposal, "") });
        results.push(TurnResult { edited: true, ..turn("`cart.ts` rounds the total itself, and draws one border.", "") });
        results.with_answers(vec![(0, 0)], &[]).iter().filter(|(at, _)| *at == 0).count()
    };
    assert_eq!((told(true, false), told(false, false)), (2, 1));
    assert_eq!(told(true, true), 1, "somebody wanted it otherwise, and files were changed since");
}

#[test]
fn the_result_of_the_request_is_told_beside_the_answer_to_a_later_question() {
    let audit = "Verdict: the till can be released after two repairs. I read all eleven modules and compared the totals \
                 with the invoices of the last year.\n\n- `till.rs` drops the tax of refunds.\n- `menu.rs` keeps prices that were deleted.";
    let told = |later: &str| {
        let mut results = Results::default();
        results.push(TurnResult { substantive: true, prompt_chars: 200, ..turn(audit, "") });
        results.push(TurnResult { substantive: true, edited: true, prompt_chars: 60, ..turn(later, "") });
        results.with_answers(vec![(1, 0)], &[])
    };
    assert_eq!(told("The port of the printer is 9100."), [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]);
    let mended = "Both are mended: `till.rs` keeps the tax of refunds, and `menu.rs` forgets deleted prices.";
    assert_eq!(told(mended), [(1, 0)], "what was found before a change of the same may not hold any more");
}

#[test]
fn a_main_result_is_never_told_twice() {
    let first = "The total of the cart is rounded to cents before the tax is added, as the invoice does it since last May.";
    let mut results = Results::default();
    results.push(TurnResult { substantive: true, prompt_chars: 200, ..turn(first, "") });
    results.push(TurnResult { substantive: true, prompt_chars: 200, ..turn(first, "") });
    assert_eq!(results.with_answers(vec![(1, 0)], &[]), [(1, 0)]);
    assert_eq!(results.with_answers(vec![(0, 0)], &[]), [(0, 0)]);
}

#[test]
fn options_are_not_told_as_done_beside_other_work() {
    let answer = "The menu is sorted. A few options:\n\n- Stash the menu before the release\n- Leave the hook out\n\nWhat do you prefer?";
    let mut results = Results::default();
    results.push(TurnResult { edited: true, ..turn(answer, "") });
    results.push(turn("The hook was left out.", ""));
    let judged: Vec<Judged> = results.judged().iter().map(|(place, setting, _)| (*place, *setting, 1.0)).collect();
    let chosen = results.choose(judged, 0.0, 1_000);
    assert!(!chosen.iter().any(|(turn, number)| *turn == 0 && *number > 1), "{chosen:?}");
}

#[test]
fn what_was_done_after_a_consent_is_told() {
    let answer = "Done. The release of the till is cancelled, and both printers are unlinked from the account of the shop.";
    let told = |acted: bool| {
        let mut results = Results::default();
        results.push(TurnResult { acted, prompt_chars: 9, ..turn(answer, "") });
        results.push(TurnResult { substantive: true, prompt_chars: 60, ..turn("The port of the printer is 9100.", "") });
        results.with_answers(vec![(1, 0)], &[])
    };
    assert_eq!((told(true), told(false)), (vec![(0, 1), (1, 0)], vec![(1, 0)]));
}

#[test]
fn the_verdict_is_told_with_the_rest_of_an_answer() {
    for verdict in [
        "**Verdict: release it after the repair of the drawer**",
        "**결론**: 서랍을 고친 뒤에 배포한다",
        "## Вердикт\n\nВыпускать после ремонта ящика",
    ] {
        let mut results = Results::default();
        results.push(turn(&format!("`till.rs` drops the tax of refunds.\n\n{verdict}"), ""));
        let told = results.with_answers(vec![(0, 0)], &[]);
        assert_eq!(told.len(), 2, "{verdict}: {told:?}");
    }
}

#[test]
fn bold_words_above_a_list_do_not_name_the_paragraph_behind_it() {
    let answer = "**Removed**\n- The old cart\n- Its styles\n\nThe invoice rounds each total to cents.";
    let cart = turn(answer, "");
    assert_eq!(line(&cart, [3].into_iter()), "The invoice rounds each total to cents.");
    assert_eq!(line(&cart, [1].into_iter()), "Removed: The old cart");
    let marked = turn(&answer.replace("**Removed**", "## Removed"), "");
    assert_eq!(line(&marked, [3].into_iter()), "Removed: The invoice rounds each total to cents.");
    let indented = turn("**Removed**\n1. The old cart\n   It was empty since the spring.", "");
    assert_eq!(line(&indented, [2].into_iter()), "Removed: It was empty since the spring.");
}

#[test]
fn what_speaks_for_a_change_is_not_told_unless_a_comparison_was_asked_for() {
    let answer = "`cart.ts` rounds the total once, at the end of the order.\n\n**Key benefits:**\n- One source of truth: `round_total()` is called in one place";
    let told = |asked: &str| {
        let mut results = Results::default();
        let asked = asked.to_owned();
        results.push(TurnResult { asked, edited: true, substantive: true, prompt_chars: 60, ..turn(answer, "") });
        results.push(turn("The lamp of the shop window is painted green.", ""));
        results.told(labels()).into_iter().next().map(|(_, line)| line).unwrap_or_default()
    };
    assert_eq!(told("Round the total once"), "`cart.ts` rounds the total once, at the end of the order.");
    assert!(told("What are the benefits of rounding once?").contains("One source of truth"));
}

#[test]
fn a_list_from_which_the_user_is_to_choose_is_no_work() {
    let answer = "The till has three faults.\n\n1. Mend the drawer first\n2. Added a lock to the drawer";
    let mut worked = TurnResult { edited: true, ..turn(answer, "") };
    assert!(!worked.is_option(1));
    worked.offers = true;
    assert!(worked.is_option(1) && !worked.is_option(0) && !worked.is_option(2), "{:?}", worked.statements);
}

#[test]
fn an_answer_opens_with_what_was_done() {
    let opens = |said: &str| {
        let turn = TurnResult { edited: true, ..turn(&format!("Done. {said}\n\n**The drawer:**\n- It rings."), "") };
        (0..turn.statements.len()).any(|number| turn.opens_with_deed(number))
    };
    for said in ["I've added a lock to the drawer of the till:", "Successfully removed the lock of the drawer:"] {
        assert!(opens(said), "{said}");
    }
    for said in ["Here's a summary of all the changes:", "I've added the following parts to the till:"] {
        assert!(!opens(said), "{said}");
    }
}

#[test]
fn what_stands_below_either_is_a_choice() {
    let mut two = turn("To round the total, either:\n- Change `cart.ts`\n- Use the invoice service", "");
    assert!(two.is_option(1) && two.is_option(2));
    two = turn("The total is rounded in two files:\n- `cart.ts`\n- The invoice service", "");
    assert!(!two.is_option(1));
}

/// Returns what is told of the turns together.
fn told(turns: impl IntoIterator<Item = TurnResult>) -> String {
    let mut results = Results::default();
    turns.into_iter().for_each(|turn| results.push(turn));
    results.told(labels()).into_iter().map(|(_, line)| line).collect::<Vec<_>>().join(" ")
}

/// Returns a turn that changed files and answers so.
fn work(answer: &str) -> TurnResult {
    TurnResult { edited: true, substantive: true, used_tools: true, ..turn(answer, "") }
}

#[test]
fn what_was_planned_goes_with_the_work_of_the_plan() {
    let planned = || turn("Added the `printSlip()` step to `src/till.ts`, which prints twice for vouchers.", "");
    let done = || work("`src/till.ts` prints one slip for each sale and keeps a copy in `slipStore`.");
    let all = told([planned(), TurnResult { carries_plan: true, ..done() }]);
    assert!(all.contains("slipStore") && !all.contains("prints twice"), "{all}");
    let all = told([planned(), done()]);
    assert!(all.contains("prints twice"), "nothing says that it was a plan: {all}");
    let refused = TurnResult { is_refused: true, ..turn("The slip of `src/till.ts` is printed by an if/else chain.", "") };
    let all = told([refused, done()]);
    assert!(all.contains("slipStore") && !all.contains("if/else"), "{all}");
}

#[test]
fn what_was_missing_ends_when_the_user_agrees() {
    let found =
        || turn("The till reads `src/tax.ts` at night. Missing entirely: the page of the vouchers in `docs/till.md`.", "");
    let done = work("The page of the vouchers stands in `docs/till.md` and names each of them.");
    let superseded = |next: TurnResult| {
        let mut results = Results::default();
        results.push(found());
        results.push(next);
        results.superseded()
    };
    assert_eq!(superseded(TurnResult { consents: true, ..done.clone() }), [(0, 1)]);
    assert!(superseded(done).is_empty(), "the user asked for something else");
}

#[test]
fn a_step_ends_with_the_work_on_the_same() {
    let steps = turn(
        "The till has no tax.\n\n- Add a `taxOf` field to `printSlip()`\n- Rename `openDrawer()` to `pullDrawer()`",
        "",
    );
    let superseded = |next: TurnResult| {
        let mut results = Results::default();
        results.push(steps.clone());
        results.push(next);
        results.superseded()
    };
    assert_eq!(superseded(work("`printSlip()` prints what `taxOf` says.")), [(0, 1)]);
    assert!(superseded(turn("`printSlip()` prints what `taxOf` says.", "")).is_empty(), "nothing was changed");
}

#[test]
fn a_later_count_of_tests_stands_for_the_earlier_one() {
    let first = || work("`sumCart()` rounds each total of the cart once. All 41 tests pass.");
    let all = told([first(), work("`printSlip()` prints one slip for each sale. All 43 tests pass.")]);
    assert!(all.contains("sumCart") && all.contains("43") && !all.contains("41"), "{all}");
}

#[test]
fn what_a_check_disproved_is_not_told() {
    let taken_back = |is_doubted: bool| {
        let mut results = Results::default();
        results.push(turn("The file `till.local.json` takes precedence over `till.json`, so no bell rings twice.", ""));
        if is_doubted {
            results.doubt();
        }
        results.push(turn("The bells of the test are set up in `bells.sh` and wait for a sale.", ""));
        results.disprove();
        results.push(turn("Uh oh! Both bells rang: the till merges the two files.", ""));
        results.taken_back()
    };
    assert_eq!(taken_back(true), [(0, 0)]);
    assert!(taken_back(false).is_empty());
}

#[test]
fn a_list_goes_with_its_heading() {
    let mut results = Results::default();
    results.push(TurnResult {
        number: 1,
        ..turn("## `print-slip` job that:\n\n- runs at night\n- fills `slipStore`\n\nThe till is closed then.", "")
    });
    results.retain(|said, _| !said.contains("print-slip"), |said| said.contains("slipStore"), true);
    let left: Vec<&str> = results.turns[0].statements.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(left, ["fills `slipStore`", "The till is closed then."]);
    assert!(results.turns[0].statements[1].heading.is_empty(), "it stands below what is gone");
}

#[test]
fn that_all_tests_pass_is_not_told_once_some_fail() {
    let told = |end: &str| {
        let mut results = Results::default();
        results.push(TurnResult {
            edited: true,
            ..turn("`src/cart.ts` rounds the total of the cart. All tests of the till pass.", "")
        });
        results.push(TurnResult { edited: true, ..turn(end, "") });
        results.told(labels()).into_iter().map(|(_, line)| line).collect::<Vec<_>>().join(" ")
    };
    let failing = told("`src/menu.ts` sorts the dishes of the day. Three tests of the menu fail with an empty list.");
    assert!(failing.contains("rounds the total") && !failing.contains("till pass"), "{failing}");
    let passing = told("`src/menu.ts` sorts the dishes of the day, and the menu of the week is sorted with them.");
    assert!(passing.contains("till pass"), "{passing}");
}

#[test]
fn a_cause_ends_with_the_actual_one() {
    let first = "The problem is the printer of the till: `queueTotals` waits for its slip.";
    let told = |second: &str, edited: bool| {
        let mut results = Results::default();
        results.push(TurnResult { edited, ..turn(first, "") });
        results.push(turn(second, ""));
        results.given_up().iter().any(|(_, said)| said == first)
    };
    let second = "Found the actual bug! `queueTotals` of the till waits for the scale, and not for the printer of the slip.";
    assert!(told(second, false) && !told(second, true));
    assert!(!told("`queueTotals` of the till waits for its slip for two seconds.", false));
    assert!(!told("The actual reason for the delay of the bus is the snow.", false), "that is something else");
}

#[test]
fn ways_beside_a_recommended_one_are_options() {
    let answer = "How is the total stored?\n\n| Option | Description |\n|---|---|\n| **A. As one word (Recommended)** | Short. |\n\
                  | **B. As a table** | Longer. |";
    let turn = turn(answer, "");
    let rows = || (0..turn.statements.len()).filter(|&at| turn.statements[at].form == statement::Form::Row);
    assert!(rows().count() == 2 && rows().all(|at| turn.is_option(at)), "{:?}", turn.statements);
    let plain = super::tests::turn(&answer.replace(" (Recommended)", ""), "");
    assert!((0..plain.statements.len()).all(|at| !plain.is_option(at)));
}

#[test]
fn the_list_of_a_commit_is_told_if_the_answer_says_little() {
    let commit =
        "Mend the till\n\nH1: Wrap the key of each slip\nH2: Check the length of the code\nM3: Clear the drawer at night";
    let told = |answer: &str| {
        let mut results = Results::default();
        results.push(TurnResult { edited: true, committed: true, ..turn(answer, commit) });
        results.told(labels()).into_iter().map(|(_, line)| line).collect::<String>()
    };
    let line = told("The build passes.");
    assert!(line.contains("H1: Wrap the key") && line.contains("M3: Clear the drawer"), "{line}");
    let line = told(
        "`wrapKey()` in `src/slip.ts` wraps the key of each slip, `checkCode()` measures the code before it is read, and the \
         drawer of the till is cleared by `closeDay()` each night.",
    );
    assert!(!line.contains("H1"), "{line}");
}

#[test]
fn a_turn_that_the_agent_gives_up_is_known_as_such() {
    let mut results = Results::default();
    results.push(turn("The slip of the till is lost when the drawer is closed.", ""));
    results.concede(false);
    assert!(!results.gives_up_before());
    results.push(turn("You're right, the drawer keeps it.", ""));
    assert!(results.gives_up_before());
}

#[test]
fn a_new_state_is_told_of_an_answer() {
    let told = |said: &str, edited: bool| {
        let mut results = Results::default();
        results.push(TurnResult { edited, ..turn(said, "") });
        results.push(turn("The lamp of the shop window is painted green.", ""));
        results.told(labels()).into_iter().map(|(_, line)| line).collect::<String>()
    };
    let state = "Tests pass. Now `openTill` keeps the reason of the failure for the night shift.";
    assert!(told(state, true).contains("openTill"));
    assert!(!told(state, false).contains("openTill"));
    assert!(
        !told("Tests pass. Now let me look at `openTill` and its drawer of the night shift.", true).contains("openTill")
    );
}

#[test]
fn what_a_review_found_is_over_once_a_later_turn_did_it() {
    let review = "## 1. `slipCache` is never emptied after a test\n\n\
                  `till.rs` fills it once for all tests. Consider a helper `resetSlips()` for tests that count slips.\n\n\
                  ## 2. The drawer of the night till is never closed\n\n\
                  `drawer.rs` has a bug: the drawer of the night till stays open.";
    let told = |answer: &str, edited: bool| -> Vec<String> {
        let work = TurnResult { edited, ..turn(answer, "") };
        let results = Results { turns: vec![turn(review, ""), work], ..Results::default() };
        let handled = results.handled();
        let left = results.turns[0].statements.iter().enumerate().filter(|(number, _)| !handled.contains(&(0, *number)));
        left.map(|(_, it)| it.text.clone()).collect()
    };
    let done = "`till_test.rs` — Added the helper `resetSlips()` for tests that count the slips.";
    assert!(!told(done, true).iter().any(|it| it.contains("lip")), "{:?}", told(done, true));
    assert!(told(done, true).iter().any(|it| it.contains("drawer.rs")));
    assert!(told(done, false).iter().any(|it| it.contains("slipCache")), "nothing was changed");
    assert!(told("Added the name of the till to `menu.rs`.", true).iter().any(|it| it.contains("slipCache")));
    let is_open = |answer: &str| told(answer, true).iter().any(|it| it.contains("drawer.rs"));
    assert!(is_open("Deferred: the `drawer.rs` bug, the drawer of the night till stays open."));
    assert!(is_open("Documented src/till/night/drawer.rs in the README."));
    assert!(!is_open("Changed `drawer.rs` to fix the bug that the drawer of the night till stays open."));
}

#[test]
fn what_stands_beside_a_mended_finding_stays() {
    let review = "## Issues I found in the cart\n\n\
                  - `round.rs` ignores the currency of the total for refunds.\n\
                  - `slip.rs` has a bug: the date is missing on every slip.";
    let work = TurnResult { edited: true, ..turn("Fixed: `round.rs` keeps the currency of the total for refunds.", "") };
    let mut results = Results { turns: vec![turn(review, ""), work], ..Results::default() };
    let told = |results: &Results| -> Vec<bool> {
        let handled = results.handled();
        let all = results.turns[0].statements.iter().enumerate();
        all.filter(|(_, it)| it.text.contains(".rs")).map(|(number, _)| !handled.contains(&(0, number))).collect()
    };
    assert_eq!(told(&results), [false, true]);
    results.turns[1].reverted = true;
    assert_eq!(told(&results), [true, true], "the mend was taken back");
}

#[test]
fn what_was_thought_of_things_that_are_gone_is_kept_for_the_search() {
    let memory = |edited: bool| {
        let mut turn = turn("The test `CountsSlips` only tests what the library does. The till has no test.", "");
        (turn.source.uuid, turn.edited) = ("one".to_owned(), edited);
        let mut results = Results { turns: vec![turn], ..Results::default() };
        results.retain(|said, _| !said.contains("CountsSlips"), |_| false, true);
        assert!(!results.turns[0].statements.iter().any(|it| it.text.contains("CountsSlips")));
        results.drafts(labels()).iter().any(|draft| draft.content.contains("CountsSlips"))
    };
    assert!(memory(false) && !memory(true));
}

#[test]
fn the_body_of_a_commit_tells_work_without_an_answer() {
    let told = |answer: &str, body: &str, way: &str| {
        let mut work = statement::statements(way, Voice::Work);
        for statement in &mut work {
            statement.is_before_edit = true;
        }
        work.extend(statement::statements(answer, Voice::Answer));
        let work = TurnResult { statements: work, edited: true, substantive: true, number: 1, ..TurnResult::default() };
        let commit = format!("Round the sum only\n\n{body}");
        let mut record = TurnResult { committed: true, is_chore: true, number: 2, ..turn("Committed.", &commit) };
        record.statements.rotate_left(1);
        let mut results = Results::default();
        results.push(work);
        results.push(record);
        let lines = results.told(labels());
        lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join(" / ")
    };
    let body = "- The sum of the cart is rounded to cents when the slip is printed\n- The drawer shows the same sum as the \
                slip\n- Lines of the night till have all of their digits";
    let way = "The plan says to round each line of the cart before the till adds the tax to it. This is the safest way because the \
               tax is added later on, and the slip prints the sums of all lines of the cart.";
    let short = told("All tests pass.", body, way);
    assert!(short.contains("The sum of the cart is rounded to cents") && !short.contains("safest way"), "{short}");
    let bare = told("All tests pass.", "Refs the ticket of the shop.", way);
    assert!(bare.contains("safest way"), "{bare}");
    let decided =
        "I leave the slips of `night.ts` alone on purpose because they keep their old format until the till is replaced.";
    let left = told("All tests pass.", body, &format!("{decided} {way}"));
    assert!(left.contains("on purpose") && left.contains("rounded to cents"), "{left}");
}

#[test]
fn a_deed_that_leads_to_headings_is_told() {
    let told = |answer: &str| {
        let mut results = Results::default();
        results.push(TurnResult { edited: true, substantive: true, ..turn(answer, "") });
        results.told(labels()).into_iter().map(|(_, line)| line).collect::<String>()
    };
    let parts = "\n\n**The slips:**\n\n```json\n{ \"slips\": 2 }\n```\n\n**At noon:**\n- `count()` counts the drawer\n- `fold()` folds it";
    let line = told(&format!("Done. Added the slips of the night to `till.rs`:{parts}"));
    assert!(line.starts_with("Added the slips of the night to `till.rs`. "), "{line}");
    for opening in
        ["Based on the code of the till, these are its slips:", "Proposed changes to the printer of the till, not made yet:"]
    {
        assert!(!told(&format!("{opening}{parts}")).contains(&opening[..8]), "{opening}");
    }
}

#[test]
fn what_was_taken_out_stands_below_the_line_that_says_so() {
    let answer = "All clean. Here's what was removed:\n\n- The drawer of the night till\n- Its key in the shop";
    let mut results = Results::default();
    results.push(turn(answer, ""));
    let lead = results.turns[0].statements.iter().position(|it| it.text.ends_with(':')).unwrap();
    assert_eq!(results.with_leads(vec![(0, lead + 1)]), [(0, lead), (0, lead + 1)]);
    assert_eq!(results.with_leads(vec![(0, 0)]), [(0, 0)]);
}

#[test]
fn a_list_behind_another_one_keeps_its_lead() {
    let leads = |lead: &str| {
        let mut results = Results::default();
        let answer = format!(
            "The till is open:\n- It counts `a.ts`.\n- It counts `b.ts`.\n\n{lead}\n- It rounds the total.\n- It prints the slip."
        );
        results.push(turn(&answer, ""));
        results.with_leads(vec![(0, 1), (0, 2), (0, 4), (0, 5)]).contains(&(0, 3))
    };
    assert!(leads("When the drawer shuts at night, the till does this:"));
    assert!(!leads("Here is the rest of it:"));
    assert!(!leads("You could choose between these options:"));
}

#[test]
fn a_proposal_that_was_replaced_does_not_stand_and_work_that_was_changed_does() {
    let is_withdrawn = |edited: bool, replaces: bool| {
        let mut results = Results::default();
        results.push(TurnResult { edited, ..turn("The till could ring a bell at noon.", "") });
        results.dispute(false, replaces);
        results.turns()[0].is_withdrawn()
    };
    assert!(is_withdrawn(false, true) && !is_withdrawn(true, true) && !is_withdrawn(false, false));
}

#[test]
fn a_list_of_one_item_keeps_its_lead_and_what_that_points_to() {
    let answer =
        "## Cause\n\nThe key of the till is misused. It was meant for:\n1. The drawer of the night\n\nThe slip is red.";
    let mut results = Results::default();
    results.push(turn(answer, ""));
    assert_eq!(results.with_leads(vec![(0, 3)]), [(0, 1), (0, 2), (0, 3)]);
}
