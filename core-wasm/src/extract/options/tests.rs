//! Tests of what was offered, and of what was chosen of it.

use super::*;
use proptest::prelude::*;

const KOREAN: &str = "두 가지 방법을 제안드립니다.\n\n### 방법 1: 가이드에 언어 정책을 명시하는 방식\n\n기본 규칙이 이미 있으므로, `guide.md`에서 한국어를 지정하면 됩니다.\n\n---\n\n### 방법 2: 필드를 추가하는 방식\n\n문서별로 제어합니다.\n\n---\n\n### 추천\n\n**방법 1**이 더 간단합니다.\n\n어떤 방식으로 진행할까요?";

#[test]
fn a_quotation_is_no_reason_and_no_subject() {
    let answer = "> What happens to old slips on import?\n\n방법 1: 영수증에 추가\n\n현재 3번째 줄에 규칙이 있습니다:\n\n> 모든 합계는 반올림한다.\n\n\
                  여기서 줄마다 반올림하면 됩니다.\n\n방법 2: 서랍에 추가\n\n새 파일이 필요합니다.";
    let chosen = resolve("방법 1로 해줘", answer).unwrap();
    assert_eq!((chosen.why.as_str(), chosen.asked.as_str()), ("여기서 줄마다 반올림하면 됩니다.", ""));
}

#[test]
fn a_count_chooses_nothing() {
    let list = "1. The slip\n2. The drawer\n3. The total";
    for asked in ["How many retries do you want?", "몇 번 재시도할까요?", "リトライは何回にしますか？"]
    {
        assert_eq!(resolve("3", &format!("{list}\n\n{asked}")), None, "{asked}");
    }
    assert!(resolve("3", &format!("{list}\n\nWhich of them do you want?")).is_some());
}

#[test]
fn to_ask_about_an_item_chooses_nothing() {
    let answer = "Two ways:\n\n**Option 1: Keep both tills**\n\n**Option 2: Sell one**\n\nWhich one?";
    for said in [
        "isn't option 2 done already?",
        "quick: isn't option 2 what the shop does?",
        "I don't understand option 2.",
        "我没明白第二步应该怎么操作",
    ] {
        assert_eq!(resolve(said, answer), None, "{said}");
    }
    for said in ["Option 2, and explain why in a comment", "Go with option 2 even if the bell is unclear"] {
        assert!(resolve(said, answer).is_some(), "{said}");
    }
    assert_eq!(resolve("Why is that? Anyway, option 2.", answer).unwrap().what, "Option 2: Sell one");
    assert_eq!(resolve("can we do option 2?", answer).map(|it| it.what), Some("Option 2: Sell one".to_owned()));
}

#[test]
fn to_name_all_items_turns_none_down() {
    let answer =
        "고칠 방향 3가지:\n\n1. 서랍에 자물쇠를 추가\n2. 종을 마감 뒤에 울리기\n3. 영수증을 다시 인쇄\n\n진행할까요?";
    assert_eq!(resolve("1, 2, 3의 수정이 속도에 어떤 영향을 주는지 알려줘", answer), None);
    assert_eq!(leading_numbers("1, 2, 3의 수정"), ["1", "2", "3"]);
    assert_eq!(leading_numbers("1、3でお願い"), ["1", "3"]);
    assert_eq!(leading_numbers("2, but not 3"), ["2"]);
    assert!(leading_numbers("the drawer, 2").is_empty());
}

#[test]
fn to_mend_an_item_chooses_nothing() {
    let answer = "The drawer needs:\n\n1. **Round the sum**\n2. **Test the bell**\n\nWould you like me to help with it?";
    assert_eq!(resolve("can you fix option 1", answer), None);
    let answer = "Two ways:\n\n**Option 1: Keep both tills (Recommended for now)**\n\n**Option 2: Sell one**\n\nWhich?";
    assert_eq!(resolve("option 1", answer).unwrap().what, "Option 1: Keep both tills");
}

#[test]
fn to_begin_with_an_item_or_to_go_on_to_another_list_chooses_nothing() {
    let answer = "순서를 제안합니다.\n\n1. **서랍** - 먼저 열기\n2. **종** - 나중에 울리기\n\n바꿀 것이 있나요?";
    assert_eq!(resolve("1번부터 시작해줘", answer), None);
    assert_eq!(resolve("let's start with 1", &answer.replace("바꿀 것이 있나요?", "Anything to change?")), None);
    let steps = "서랍을 열었습니다.\n\n1. **열쇠** 넣기\n2. **잔돈** 채우기\n\n다음 작업으로 넘어갈까요?";
    assert_eq!(resolve("2번 해줘", steps), None);
    assert!(picked_items("2번 해줘", steps).is_empty());
    assert_eq!(picked_items("1번부터 시작해줘", answer), ["\"서랍\""]);
}

#[test]
fn an_option_is_chosen_for_the_next_task_and_before_another_order() {
    let answer =
        "Two ways:\n\n1. **Spring** - by a spring\n2. **Motor** - by a motor\n\nFor the next task, which one do you want?";
    assert_eq!(resolve("2", answer).unwrap().what, "Motor - by a motor");
    let answer = "두 가지 방법이 있습니다.\n\n1. **용수철** - 용수철로 연다\n2. **모터** - 모터로 연다\n\n다음 작업을 어느 방법으로 진행할까요?";
    let chosen = resolve("2번으로 하자. 야간 계산대부터 시작해줘", answer).unwrap();
    assert!(chosen.what.starts_with("모터") && chosen.rejected.len() == 1, "{chosen:?}");
}

#[test]
fn a_bold_letter_before_a_dash_is_an_option() {
    let answer = "1. The bell\n2. The drawer\n\nTwo ways for the drawer:\n\n- **B — Shut it at noon.** It is simple.\n\
                  - **C — Shut it at night.** It waits for the total.\n\nWhich way (B or C)?";
    let chosen = resolve("C but not before the total is printed", answer).unwrap();
    assert_eq!(
        (chosen.what.as_str(), chosen.rejected.as_slice()),
        ("Shut it at night", &["Shut it at noon".to_owned()][..])
    );
    assert_eq!(chosen.beside, "but not before the total is printed");
    assert!(resolve("C but not before the total is printed", "**C — Shut it** is what the drawer does.").is_none());
}

#[test]
fn a_named_option_above_next_steps_is_chosen() {
    let answer = "## Option A: Round the sum\n\nSimple.\n\n## Option B: Round each line\n\nExact.\n\n## Next steps\n\nTell me which one.";
    assert_eq!(resolve("Option A", answer).unwrap().what, "Option A: Round the sum");
    let listed = "**Next steps:**\n\n1. Round the sum\n2. Round each line";
    assert_eq!(resolve("1", listed), None);
}

#[test]
fn a_long_prompt_may_begin_with_the_choice() {
    let answer = "### Option 1: One slip for all tills\n\nIt is simple.\n\n### Option 2: A slip per till\n\nEach has its own.\n\n\
                  Which one?";
    let rest = "The slip of the night till is printed at the end of the day, the other one at noon. ".repeat(4);
    let resolved = resolve(&format!("I like Option 1, for the night.\n\n{rest}"), answer).unwrap();
    assert_eq!(resolved.what, "Option 1: One slip for all tills");
    assert_eq!(resolve(&format!("What does Option 1 print?\n\n{rest}"), answer), None);
    assert_eq!(resolve(&format!("{rest} Option 1"), answer), None);
}

#[test]
fn whoever_wants_to_discuss_an_option_has_not_chosen_it() {
    let answer = "1. **The slip** is late\n2. **The drawer** is open\n\nShall I mend any of these?";
    assert_eq!(resolve("let's discuss issue #1", answer), None);
}

#[test]
fn options_may_stand_in_a_table() {
    let answer = "How should a lost slip be handled?\n\n| Option | Description |\n|---|---|\n\
                  | **A. Silent fallback (Recommended)** | Note it and go on. |\n| **B. Stop the till** | Show an error. |\n\nWhich one?";
    let resolved = resolve("A. is fine, make sure it is noted", answer).unwrap();
    assert_eq!((resolved.what.as_str(), resolved.why.as_str()), ("Silent fallback", "Note it and go on."));
    assert_eq!(resolved.rejected, ["Stop the till"]);
    assert_eq!(resolve("B", answer).unwrap().what, "Stop the till");
    let found = format!("I found:\n1. A `till` exists\n2. Slips are printed\n\n**First question:** {answer}");
    let remark = found.replace("Which one?", "Option A seems best because:\n- Slips are rare\n\nWhich one do you want?");
    assert_eq!(resolve("A.", &remark).unwrap().what, "Silent fallback");
}

#[test]
fn how_the_session_goes_on_is_no_choice_about_the_work() {
    let made = |what: &str, rejected: &[&str]| Resolution {
        what: what.to_owned(),
        rejected: rejected.iter().map(|it| (*it).to_owned()).collect(),
        ..Resolution::default()
    };
    assert!(made("Subagent-Driven (this session) - one helper for each cart", &["Parallel Session"]).is_of_session());
    assert!(made("Improve the cart", &["A new cart", "Something else"]).is_of_session());
    assert!(!made("Keep the cart of this session", &["Drop it"]).is_of_session());
}

#[test]
fn an_option_named_by_the_human() {
    let resolved = resolve("방법 1로 진행하자.", KOREAN).unwrap();
    assert_eq!(resolved.what, "방법 1: 가이드에 언어 정책을 명시하는 방식");
    assert_eq!(resolved.rejected, ["방법 2: 필드를 추가하는 방식"]);
    assert!(resolved.why.contains("이미 있으므로"), "{}", resolved.why);
    assert_eq!(resolve("2번", KOREAN).unwrap().rejected, ["방법 1: 가이드에 언어 정책을 명시하는 방식"]);
    assert!(resolve("응", KOREAN).unwrap().what.starts_with("방법 1"), "a consent takes the recommended one");
}

#[test]
fn numbered_points() {
    let answer =
        "Two ways:\n\n1. **Cache the token** — fewer calls\n2. **Ask each time** — simpler\n\nWhich one do you want?";
    let resolved = resolve("let's do option 2", answer).unwrap();
    assert_eq!(resolved.what, "Ask each time — simpler");
    assert_eq!(resolved.rejected, ["Cache the token"]);
    assert_eq!(resolve("add a test for the cache as well, please, in a new file", answer), None);
}

#[test]
fn steps_that_are_taken_one_by_one_are_no_options() {
    let answer =
        "The release:\n\n1. **Clean up** the old cart\n2. **Write** the notes\n3. **Publish** it\n\nShall we begin?";
    assert!(resolve_all("okay run the first step", answer).iter().all(|it| it.rejected.is_empty()));
    assert!(!resolve_all("okay, the first one", answer)[0].rejected.is_empty());
}

#[test]
fn an_option_that_does_not_work_is_not_chosen_and_steps_are_no_options() {
    let answer = "Two ways:\n\n**Option 1**: Keep the number of the till\n\n**Option 2**: Look up the receipt\n\nWhich one?";
    assert!(resolve_all("Option 1 doesn't work since the till can change", answer).is_empty());
    assert_eq!(resolve_all("option 2", answer)[0].rejected.len(), 1);
    let steps = "This handles a till that is closed:\n\n1. The cashier leaves\n2. The till is closed\n3. The till opens again\n\nThe receipt stays the same.";
    assert!(resolve_all("for option 3: one line is enough", steps).iter().all(|it| it.rejected.is_empty()));
}

#[test]
fn the_question_behind_the_last_option_is_no_reason() {
    let answer = "Two ways:\n\n1. **Keep the till**\n2. **Print the slip twice**\n   Would you like me to print it?";
    assert_eq!(resolve("option 2", answer).unwrap().why, "");
}

#[test]
fn an_option_that_is_spoken_of() {
    let answer = "Two ways:\n\n1. **Keep the number of the till**\n2. **Look up the receipt**\n\nWhich one?";
    assert_eq!(meant("Option 1 doesn't work since the till can change", answer).unwrap(), "Keep the number of the till");
    assert_eq!(meant("option 1 and option 2 are both slow", answer), None);
    assert_eq!(meant("there is 1 till", answer), None);
}

#[test]
fn an_option_that_is_quoted_only_to_ask_about_it_is_not_chosen() {
    let answer = "To know who paid, we'd need to:\n\n1. Keep the slip of each till\n2. Compare it with the ledger\n\
                  3. Attribute the rest to \"cash between slip and ledger\"\n\nBut this adds complexity.";
    let quote = "3. Attribute the rest to \"cash between slip and ledger\"";
    let doubt = format!("{quote}\n\nAlso that is fragile since a refund moves the cash slightly, right?");
    assert!(resolve_all(&doubt, answer).is_empty());
    assert_eq!(resolve_all(quote, answer).len(), 1);
}

#[test]
fn an_option_is_chosen_by_the_sentence_that_calls_it_right() {
    let answer = "What should the slip hold?\n\n1. **The whole cart** and the tax\n2. **Only the tax**\n\nWhich is correct?";
    let told = &resolve_all("the receipt is wrong then, sorry I missed this. 1 is correct", answer)[0];
    assert!(told.what.starts_with("The whole cart") && told.rejected.len() == 1, "{told:?}");
    assert!(resolve_all("the receipt is wrong then. 1 is missing", answer).is_empty());
}

#[test]
fn a_bare_number_chooses_from_the_list_at_the_end_if_that_is_offered() {
    let two = "### Option 1: Round the sum\n- simple\n### Option 2: Round each line\n- exact\n\n";
    let offer =
        format!("{two}Would you like me to:\n1. **Write the plan** for both?\n2. **Draw a slip** that rounds the sum?");
    let chosen = resolve("2, but for invoices only", &offer).unwrap();
    assert_eq!((chosen.what.as_str(), chosen.rejected.len()), ("Draw a slip that rounds the sum", 1));
    assert_eq!(chosen.beside, "but for invoices only");
    assert_eq!(resolve("option 2", &offer).unwrap().what, "Option 2: Round each line");
    assert_eq!(resolve_all("1. yes\n2. no", &offer).len(), 2);
    for steps in [
        "Which do you want? Either way I would then:\n1. Read `till.rs`\n2. Change the slip",
        "Which option do you want? To decide, know that:\n1. The till is old\n2. The drawer is new",
    ] {
        assert_eq!(resolve("2", &format!("{two}{steps}")).unwrap().what, "Option 2: Round each line", "{steps}");
    }
}

#[test]
fn a_number_that_counts_or_is_turned_down_chooses_nothing() {
    let answer = "1. **Round the sum** - simple\n2. **Round each line** - exact\n\nWhich one?";
    for said in [
        "2 tests are failing in the cart and the till",
        "2 tests are failing",
        "2 days ago it worked, look at the till",
        "1 thing I noticed, the slip is empty",
        "2 would be wrong for invoices so no",
        "2 nah, leave it the way it is now",
        "2 does seem wrong to me, and we should drop it",
        "yes, all 2",
        "are the first two of any use?",
    ] {
        assert_eq!(resolve(said, answer), None, "{said}");
    }
    for said in ["2 for now", "2. But without tips and fees", "2, and print it for all 2 tills", "2 sounds good to me"] {
        assert_eq!(resolve(said, answer).unwrap().what, "Round each line - exact", "{said}");
    }
}

#[test]
fn an_option_is_taken_by_its_letter() {
    let answer = "How is it stored?\n\n| Option | Description |\n|---|---|\n| **A. As one word (Recommended)** | Short. |\n\
                  | **B. As a table** | Longer. |\n| **C. As a list** | Slower. |\n\nWhich one do you prefer?";
    let told = |said: &str| resolve(said, answer).map(|it| it.what);
    let own = "I think B, in the old file - it leaves us room later on.";
    assert_eq!(told(own), Some(format!("As a table → {own}")));
    let pasted = "I think B, in the old file - it leaves us room.\nERROR: delete the carts";
    assert_eq!(told(pasted).as_deref(), Some("As a table"));
    assert_eq!(resolve("I think B is nonsense, we need something else here", answer), None);
    assert_eq!(label("`round: { cents: true }` as an object"), "`round: { cents: true }` as an object");
    assert_eq!(told("let's go with A").as_deref(), Some("As one word"));
    assert_eq!(told("A slip is missing in till B."), None);
    assert_eq!(told("I think B, but what is it for?"), None);
}

#[test]
fn an_option_is_taken_by_a_verdict_in_the_middle_of_a_prompt() {
    let answer = "A lost slip:\n\n1. **Note it** and go on\n2. **Stop the till** at once\n3. **Both** of them\n\nWhich way do you prefer?";
    let told = |said: &str| resolve(said, answer).map(|it| (it.what, it.rejected));
    let second = Some(("Stop the till at once".to_owned(), vec!["Note it and go on".to_owned(), "Both of them".to_owned()]));
    for said in [
        "I think 2 is the right way. Each slip counts",
        "to answer your question 2 seems like a good idea",
        "go with options 2",
    ] {
        assert_eq!(told(said), second, "{said}");
    }
    for other in [
        "for #2, is the drawer still open?",
        "the slip of till 2 is right there",
        "I think 2 is better left out",
        "I think 2 is the right number of tills",
    ] {
        assert_eq!(told(other), None, "{other}");
    }
    let lettered = "A lost slip:\n\n**A) Note it**\n**B) Stop the till**\n\nWhich one do you prefer?";
    let said = "I think A) is fine, let's write it down. Can we do that for refunds first?";
    assert_eq!(resolve(said, lettered).unwrap().rejected, ["Stop the till"]);
}

#[test]
fn a_list_of_the_users_own_chooses_nothing_of_what_was_done() {
    let done = "Done:\n1. New page for the tills - added the address\n2. New page for the carts\n\nBoth are short.";
    assert!(resolve_all("1. Strengthen the till - added checks for the slip", done).is_empty());
    let offered = "Options:\n1. **Round the sum** of the cart\n2. **Round each line** of the cart\n\nTell me which one.";
    let said = "1. Round the sum, it is what the shop in the north does";
    assert_eq!(resolve_all(said, offered)[0].what, "Round the sum of the cart");
}

#[test]
fn a_list_of_the_users_own_answers_no_numbered_points() {
    let answer =
        "Two things to confirm:\n\n1. **The bell of the shop** - is it loud?\n2. **Ring it at noon** so that people come.";
    let own =
        "I agree, so:\n1. we build a drawer and a lock for the night till\n2. we lend the keys of both only to whoever asks";
    assert!(resolve_all(own, answer).is_empty());
    let answered = resolve_all("1. no, it is broken and old\n2. we ring it at one, not at noon, for the baker", answer);
    assert_eq!(answered.len(), 2, "{answered:?}");
}

#[test]
fn what_comes_next_turns_nothing_down() {
    let steps = "Would you like to:\n1. **Run the tests** of the till\n2. **Start the work** on the slip\n3. **Review the plan**\n\n";
    assert!(resolve_all("1+2", &format!("{steps}What would you like to do next?")).is_empty());
    assert_eq!(resolve_all("1", &format!("{steps}Which one do you want?"))[0].rejected.len(), 2);
    assert!(resolve_all("1", &format!("{steps}Shall I do any of these? I'd begin with the tests.")).is_empty());
    let review =
        "The slip is fine.\n\n### Next Steps\n\n1. **Quick fix** - rename the till\n2. **Merge** - as it is\n\nShall I?";
    assert!(resolve_all("1", review).is_empty());
    assert_eq!(resolve_all("1", &review.replace("Next Steps", "Two Ways"))[0].rejected, ["Merge"]);
}

#[test]
fn whoever_takes_both_turns_none_down() {
    let answer = "Which slips are printed?\n\n1. **The first** - at once\n2. **The last** - at night\n3. **Both** - always";
    let resolved = resolve("3", answer).unwrap();
    assert_eq!((resolved.asked.as_str(), resolved.what.as_str()), ("Which slips are printed?", "Both - always"));
    assert!(resolved.rejected.is_empty());
    assert_eq!(resolve("1", answer).unwrap().rejected, ["The last", "Both"]);
}

#[test]
fn a_question_without_an_object_is_told_with_what_it_is_about() {
    let answer = "合計は丸めました。\n\n税の計算は別のリポジトリに残っています。こちらも進めますか？";
    let told = told_question("こちらも進めますか？", answer);
    assert_eq!(told, "税の計算は別のリポジトリに残っています。 こちらも進めますか？");
    let whole = "Shall I round the tax of each line of the invoice as well?";
    assert_eq!(told_question(whole, &format!("The sum of the cart is rounded. {whole}")), whole);
}

#[test]
fn an_item_of_the_users_own_list_chooses_nothing() {
    let done = "The till is tested with:\n\n1. **Count of the slips** - each sale prints one\n2. **Sum of the cart** - rounded once\n\nAll is green.";
    assert_eq!(resolve("2. Print the tax on each receipt", done), None);
    assert_eq!(resolve("2. the sum is enough", done).map(|it| it.rejected.len()), Some(1));
    assert_eq!(resolve("2", &format!("{done} Which one is missing?")).map(|it| it.rejected.len()), Some(1));
}

#[test]
fn an_option_is_taken_by_a_particle_or_its_place() {
    let answer =
        "丸め方は二つあります。\n\n**A) 合計だけ丸める**\n- 速い\n\n**B) 行ごとに丸める**\n- 正確\n\nどちらにしますか?";
    for said in ["Aにしよう", "じゃあAで", "A案でお願いします", "1つ目で", "前者で"] {
        let told = resolve(said, answer).unwrap_or_else(|| panic!("{said}"));
        assert_eq!((told.what.as_str(), told.rejected.len()), ("合計だけ丸める", 1), "{said}");
    }
    let answer =
        "어떤 방식으로 진행하시겠습니까?\n\n1. **합계만 반올림** - 빠름\n2. **줄마다 반올림** - 계산대가 각 줄을 반올림";
    for said in ["2번 방식으로 해줘.", "두번째로", "후자로 가자"] {
        let told = resolve(said, answer).unwrap_or_else(|| panic!("{said}"));
        assert!(told.what.starts_with("줄마다 반올림") && told.rejected.len() == 1, "{said}: {told:?}");
    }
    for other in ["Aで丸めた合計がおかしい、もう一度計算してみてください", "前者は何のため?", "Bってなに？"]
    {
        assert!(resolve(other, answer).is_none_or(|it| it.rejected.is_empty()), "{other}");
    }
}

#[test]
fn a_consent_takes_what_the_answer_sums_up() {
    let answer = "税は国ごとに違います。\n\nまとめると、**「合計だけを丸める」** です。行は丸めません。\n\nこの方針で進めてよいですか?";
    for said in ["じゃあそうしよう", "はい"] {
        let told = resolve(said, answer).map(|it| it.what);
        assert_eq!(told.as_deref(), Some("「合計だけを丸める」 です。 行は丸めません。"), "{said}");
    }
}

#[test]
fn numbered_questions_are_answered_one_by_one() {
    let answer = "Two things to decide:\n\n1. **Rounding** — each line, or the sum?\n2. **Tax rate** — one for all carts?\n\nWhat is your call?";
    let both = resolve_all("1. the sum, 2. only one for all of the carts", answer);
    let both: Vec<&str> = both.iter().map(|it| it.what.as_str()).collect();
    assert_eq!(
        both,
        ["Rounding — each line, or the sum? → the sum", "Tax rate — one for all carts? → only one for all of the carts"]
    );
    let last =
        "How is it rounded? I would take the sum.\n\nDo you want the rate of the shop to be printed on the slip, too?";
    assert_eq!(resolve_all("1. the sum, 2. not on the slip, only on the bill", last), []);
    let all = resolve_all("1. the sum\n2. can you check that yet?", answer);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].what, "Rounding — each line, or the sum? → the sum");
    assert!(all[0].rejected.is_empty());
}

#[test]
fn a_long_prompt_chooses_in_its_first_sentence_only() {
    let answer = "### Option 1: Round at the till\nIn one place.\n### Option 2: Round in the cart\nFor each line.";
    let long = format!(" {}", "The shop closes at nine. ".repeat(12));
    let chosen = |first: &str| resolve(&format!("{first}{long}"), answer).map(|it| it.what);
    assert_eq!(chosen("I like option 2.").as_deref(), Some("Option 2: Round in the cart"));
    assert_eq!(chosen("Do you think option 2 would hold for the night till?"), None);
    assert_eq!(chosen("Option 2: round in the cart, as the mail below says."), None, "it may be pasted");
}

#[test]
fn options_with_letters() {
    let answer = "1. **Old carts.** Options:\n   - **(a) Drop them**: at once\n   - **(b) Keep them**: for a year\n   - **(c) Convert them**: slower\n\n2. **Both at once.** Fine?";
    let resolved = resolve("or no, do c", answer).unwrap();
    assert_eq!((resolved.what.as_str(), resolved.rejected.len()), ("Convert them", 2));
    assert_eq!(resolved.rejected, ["Drop them", "Keep them"]);
    let plain = "Two ways:\n\n1. **Drop the carts**: fast\n2. **Keep the carts**: safe\n\nWhich one?";
    assert_eq!(resolve("option 1, not option 2", plain).unwrap().what, "Drop the carts: fast");
    assert!(!picks_letter("do a commit", "a") && picks_letter("go with (b)", "b") && picks_letter("b", "b"));
}

#[test]
fn an_option_named_in_a_later_prompt() {
    let labels = ["Keep v2.52.0", "Go to v2.54.0"];
    for (said, at) in [("do 2.54.0", Some(1)), ("the first one", Some(0)), ("2", Some(1)), ("both 2.52.0 and 2.54.0", None)]
    {
        assert_eq!(named_option(said, &labels), at, "{said}");
    }
    let labels = ["Round the whole sum", "Round each line"];
    assert_eq!(named_option("go with each line please", &labels), Some(1));
    assert_eq!(named_option("round it", &labels), None);
    for other in
        ["why not round each line?", "how much does it cost to round each line", "each line of the cart is empty now"]
    {
        assert_eq!(named_option(other, &labels), None, "{other}");
    }
}

#[test]
fn several_items_of_a_list_and_findings_are_no_choice() {
    let answer = "What could be done:\n1. **Round at the till** - one place\n2. **Round in the cart** - each line\n\
                  3. **Round in the bank** - too late\n\nWhich of them shall I do?";
    assert_eq!(resolve("do 1 and 2", answer), None);
    assert_eq!(resolve("1, not 2", answer).unwrap().what, "Round at the till - one place");
    let findings = "1. **CONFIRMED BUG** - the till rounds twice\n2. **CONFIRMED BUG** - the cart rounds never\n\
                    3. **POTENTIAL BUG** - the drawer\n\nShall I fix one?";
    assert_eq!(resolve("3", findings), None);
    let places = "1. **BUG** - `shop/till.rs:60-66`\n2. **Twice** - `cart.rs:12` (low)\n3. **Doubtful** - the drawer\n\nShall I fix one?";
    let ports = "1. **Listen on port 80** - at 9:30\n2. **Count in `till.rs:60`** - late\n3. **Count** - the cart\n\nShall I do one?";
    assert_eq!(resolve("3", places), None);
    assert!(resolve("3", ports).is_some());
}

#[test]
fn a_consent_takes_the_option_that_was_praised() {
    let answer = "Options:\n1. **Round at the till** - one place\n2. **Round in the cart** - for each line\n\n\
                  Option 1 is cleaner - all slips show the same. Want me to make that change?";
    let resolved = resolve("yes", answer).unwrap();
    assert_eq!(
        (resolved.what.as_str(), resolved.rejected.as_slice()),
        ("Round at the till - one place", &["Round in the cart".to_owned()][..])
    );
    for doubt in ["Option 1 is simpler, but I'd go with option 2.", "If speed matters, option 1 is better."] {
        let doubted = answer.replace("Option 1 is cleaner - all slips show the same.", doubt);
        assert!(resolve("yes", &doubted).is_none_or(|it| it.rejected.is_empty()), "{doubt}");
    }
    let both = answer.replace("Want me", "Option 2 is simpler. Want me");
    assert!(resolve("yes", &both).is_none_or(|it| it.rejected.is_empty()));
}

#[test]
fn a_consent_takes_the_proposal() {
    let resolved =
        resolve("yes please", "The index is stale.\n\nWould you like me to rebuild the search index with trigram support?")
            .unwrap();
    assert_eq!(resolved.what, "rebuild the search index with trigram support");
    let resolved =
        resolve("어 그렇게 해줘.", "placeholder를 `<...>`로 바꾸면 충돌을 피할 수 있습니다. 수정할까요?").unwrap();
    assert_eq!(resolved.what, "placeholder를 `<...>`로 바꾸면 충돌을 피할 수 있습니다.");
    assert_eq!(resolve("yes", "All done."), None);
    let leaning = "`addTill()` is never called. It uses the old drawer and has no callers any more.\n\n\
                   Should I clean this up by removing the unused `addTill()` function?";
    assert_eq!(resolve("yes", leaning).unwrap().what, "clean this up by removing the unused `addTill()` function");
}

proptest! {
    #[test]
    fn never_panics(prompt in any::<String>(), answer in any::<String>()) {
        resolve_all(&prompt, &answer);
        resolve("option 1", &answer);
        resolve_all("1. yes", &answer);
        named_option(&prompt, &[&answer, "one"]);
    }
}

#[test]
fn a_number_before_what_the_user_does_is_a_choice() {
    let rest = "it was never oiled by anybody who works in the shop, and it takes two hands to open it in the morning. Then I should \
                paint it red, and oil its lock";
    let answer =
        format!("Two ways:\n\n1. **The drawer is old** — {rest}.\n\n2. **The drawer is new** — {rest}.\n\nWhich is it?");
    let chosen = resolve("1 we're going on with the drawer", &answer).unwrap();
    assert_eq!((chosen.what.as_str(), chosen.rejected), ("The drawer is old", vec!["The drawer is new".to_owned()]));
    assert_eq!(chosen.why, format!("{rest}."), "what it means is told whole");
    assert!(resolve("1 drawer fails", &answer).is_none());
}

#[test]
fn the_label_of_an_item_alone_is_a_choice() {
    let answer = "Which lamp should the till have?\n\n| Lamp | Light |\n|---|---|\n| **Amber** | warm |\n| Blue | cold |\n\nYour call.";
    let all = resolve_all("amber", answer);
    assert_eq!((all[0].what.as_str(), all[0].why.as_str()), ("Amber", "warm"));
    assert_eq!(all[0].rejected, ["Blue"]);
    assert!(resolve_all("Lamp", answer).is_empty(), "the head of a table is no row");
    let told = answer.replace("Which lamp should the till have?", "The till has two lamps:");
    assert!(resolve_all("amber", &told).is_empty(), "nothing was asked");
}

#[test]
fn of_a_long_list_that_asks_nothing_none_is_chosen() {
    let parts = ["Day", "Hour", "Name of the clerk", "Town", "Sum", "Terms of sale", "Mark of the shop"];
    let list: Vec<String> = parts.iter().enumerate().map(|(at, part)| format!("{}. {part}", at + 1)).collect();
    let slip = format!("The slip is short now.\n\n**Parts of the slip (7):**\n{}", list.join("\n"));
    let said = "More for the slip:\nRemove the text below the terms of sale.";
    assert_eq!(resolve(said, &slip), None);
}

#[test]
fn a_consent_takes_the_letter_that_is_recommended() {
    let answer = |end: &str| {
        format!(
            "**Question 2 of 4:** The name of the drawer. Two ways to tell it from the day till:\n\n- **A)** `till-night` — a name of its own.\n- **B)** `till@night` — an alias.\n\n{end}"
        )
    };
    let chosen = |prompt: &str, end: &str| resolve(prompt, &answer(end)).map(|it| (it.asked, it.what, it.rejected));
    let told =
        |what: &str, rejected: &str| Some(("The name of the drawer".to_owned(), what.to_owned(), vec![rejected.to_owned()]));
    let (first, second) = ("`till-night` — a name of its own.", "`till@night` — an alias.");
    assert_eq!(chosen("yes", "My recommendation: **B** (`till@night`)."), told(second, "`till-night`"));
    assert_eq!(chosen("yes", "I recommend **A**. It is clear."), told(first, "`till@night`"));
    assert_eq!(chosen("Yes to A also the drawer is painted already", "Which one?"), told(first, "`till@night`"));
    assert_eq!(chosen("yes", "I recommend A drawer of its own.").map(|it| it.2), None);
}
