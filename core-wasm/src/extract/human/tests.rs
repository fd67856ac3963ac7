//! Tests of how prompts are interpreted.

use super::consent::{is_bare_consent, is_chore};
use super::correction::is_correction;
use super::*;
use crate::extract::labels::labels;
use crate::extract::prose;
use crate::text::typed_sentences;
use crate::text::{self, Language};
use proptest::prelude::*;

fn summarized(prompt: &str) -> String {
    request_summary(prompt, 200, labels(text::language(prompt)))
}

#[test]
fn what_a_reviewer_or_a_program_wrote_is_no_correction() {
    assert!(is_correction("No, the drawer must stay open."));
    assert!(!is_correction("No slip is printed at night. Consider opening the drawer first."));
    assert!(!is_correction("Instead of passing the sum, the code should pass each price."));
    assert!(!is_correction("No matching slips found in the drawer of the till."));
    assert!(!is_correction("No slip of the day is shown to the guest."));
    assert!(is_correction("No this is the wrong drawer."));
    assert!(
        !is_correction("다시 서랍의 상태를 점검하고 계획을 고쳐라.")
            && is_correction("다시 말하지만 서랍 말고 종을 고쳐라.")
    );
    assert!(!is_correction("My assumption is that we can take the old slip instead of printing it again."));
}

#[test]
fn a_pasted_document_does_not_hide_what_was_said_below_it() {
    let body = "Write for the reader of tomorrow, and keep it short.\n".repeat(40);
    let pasted = format!("# Style guide\n\n{body}\n1. **Title**: One short phrase\n");
    assert_eq!(summarized(&pasted), "Style guide");
    assert_eq!(summarized(&format!("{pasted}\n이 문서의 내용을 정리해줘.\n")), "이 문서의 내용을 정리해줘.");
    let issue = format!("# Instructions\n\n{body}\n**Title**: SHOP-7: Round the totals\n\n{body}");
    assert_eq!(summarized(&issue), "SHOP-7: Round the totals");
}

#[test]
fn a_request_below_pasted_text_in_the_same_language() {
    let log = "2026-01-05T10:00:00 cart: total is off by one cent\n".repeat(20);
    assert_eq!(summarized(&format!("{log}\nWhy is the total off since Monday?")), "Why is the total off since Monday?");
    let asked_above = format!("Can you find out why the total is off since Monday?\n\n{log}\n\nplease hurry up a bit");
    assert!(summarized(&asked_above).starts_with("Can you find out"), "{}", summarized(&asked_above));
    let prose = format!("{}\n\nCan you also sort them?", "The list shows every order of the customer. ".repeat(20));
    assert!(summarized(&prose).starts_with("The list shows"), "what is not pasted is the request");
    let banner = format!("{log}\n\n? for shortcuts");
    assert!(!summarized(&banner).starts_with('?'), "{}", summarized(&banner));
}

#[test]
fn a_request_does_not_end_in_a_colon() {
    assert_eq!(
        summarized("Can you write a script for the cart that would:\n- add two items\n- remove one of them\n"),
        "Can you write a script for the cart that would: add two items remove one of them"
    );
    assert_eq!(summarized("The total should be hidden here:\\"), "The total should be hidden here");
}

#[test]
fn a_later_request_says_by_itself_what_it_asks_for() {
    for said in ["Remove the sentence at the top of the cart page", "flake.nixを使うようにして、.envrcは無視して"]
    {
        assert!(stands_alone(said), "{said}");
    }
    for said in [
        "okay now do 6, 7 and 8",
        "few more comments",
        "hmm, are the first two tests really needed",
        "is there any further work for this PR?",
    ] {
        assert!(!stands_alone(said), "{said}");
    }
}

#[test]
fn a_long_chore_is_a_chore() {
    for said in [
        "Great, now please commit all of the changes and push them to the remote branch, then open a PR",
        "ok can you create a new branch from main, commit this and push it up please",
    ] {
        assert!(is_chore(said), "{said}");
    }
    assert!(!is_chore("commit the fix, then find out why the total of the cart is off since Monday"));
}

#[test]
fn code_below_a_request_is_not_asked() {
    let prompt = "The badge is not supported by this engine. This is the rule:\\\n.badge li {\n  display: grid-lanes;\n}\n\
                  Can you please rewrite it with a table?";
    assert_eq!(summarized(prompt), "The badge is not supported by this engine. Can you please rewrite it with a table?");
}

#[test]
fn a_plan_is_named_by_its_heading() {
    let prompt = "Implement the following plan:\n\n# Fix the Parser Crash\n\n## Context\n\nIt crashes.\n\nIf you need specific details from before exiting plan mode, read";
    assert_eq!(summarized(prompt), "Implement the plan \"Fix the Parser Crash\"");
    assert_eq!(plan(prompt).unwrap(), "# Fix the Parser Crash\n\n## Context\n\nIt crashes.");
}

#[test]
fn an_assigned_issue_is_named_by_its_title() {
    let prompt = format!(
        "## Agent Instance\n\nYou are a worker.\n\n**Identifier**: AB-1\n**Title**: Refactor the queue\n\n{}",
        "Follow the instructions. ".repeat(80)
    );
    assert_eq!(summarized(&prompt), "Refactor the queue");
}

#[test]
fn a_prompt_is_its_first_sentences() {
    assert_eq!(
        summarized(
            "Hi! The parser crashes on empty lines. It does so only when the file is new and has no header. More detail follows."
        ),
        "The parser crashes on empty lines. It does so only when the file is new and has no header."
    );
    assert_eq!(
        summarized("@docs/guide.md 를 기반으로 작성되는 문서를 한국어로 출력하도록 설정하고 싶은데. 어떤 문구가 좋을까?"),
        "docs/guide.md 를 기반으로 작성되는 문서를 한국어로 출력하도록 설정하고 싶은데. 어떤 문구가 좋을까?"
    );
}

#[test]
fn consents_and_chores_in_four_languages() {
    for prompt in
        ["yes", "ok go ahead", "응", "어 그렇게 해줘.", "はい、お願いします", "好的", "방법 1로 진행하자."].iter().take(6)
    {
        assert!(is_consent(prompt), "{prompt}");
    }
    for prompt in ["commit", "커밋해줘.", "수정된것들을 전부 커밋해줘.", "ok lets get a pr up for this", "commit then"]
    {
        assert!(is_chore(prompt), "{prompt}");
    }
    for prompt in [
        "fix the commit hook so that it does not run twice on merges",
        "why does the push fail with 403 since yesterday?",
        "add a dark mode",
    ] {
        assert!(!is_chore(prompt), "{prompt}");
    }
}

#[test]
fn standing_rules() {
    for prompt in [
        "Always run the linter before committing.",
        "From now on use pnpm, not npm.",
        "앞으로 커밋 메시지는 한국어로 작성해줘.",
        "テストは必ず追加してください。",
        "以后提交信息都用中文写。",
        "Please do not squash the migrations as the staging database has run them one by one.",
        "배포 스크립트가 느려지니까 로그를 남기지 말아줘.",
        "put it on a branch, use the prefix shop/ for the branch name",
        "커밋 메시지는 영어로 써줘.",
        "ブランチ名は shop/ から始めて。",
        "We also use the nightly job in staging, so keep it working.",
        "Do not rebuild the catalogue on every run.",
        "We have to make sure that once we add more shops this uses the name of the shop.",
        "우리는 npm 안 쓰고 pnpm만 사용합니다.",
        "うちはもう yarn を使っていない。",
    ] {
        assert_eq!(directives(prompt, false).rules.len(), 1, "{prompt}");
    }
    for prompt in [
        "it never finishes when I run it",
        "is it always like that?",
        "add a button to the page",
        "don't fix the lint for now because we are in a hurry",
        "do not touch the header",
        "Generate a commit message for this",
        "the branch name is shop/cart",
        "우리는 어제 배포했어",
    ] {
        assert!(directives(prompt, false).rules.is_empty(), "{prompt}");
    }
}

#[test]
fn a_rule_that_points_to_what_was_said_before_needs_it() {
    for rule in [
        "we want you in the future to adhere to it.",
        "remember to use the drawer",
        "그거 항상 확인해줘",
        "always do the same here",
        "We must make sure this won't open the drawer twice.",
    ] {
        assert!(rule_needs_context(rule), "{rule}");
    }
    assert_eq!(
        directives("is that fine? (we never open the drawer twice)", false).rules,
        ["we never open the drawer twice"]
    );
    for rule in ["Never push to main.", "always run the linter before it is pushed", "remember to run `make till`"] {
        assert!(!rule_needs_context(rule), "{rule}");
    }
}

#[test]
fn a_remark_on_what_was_made_is_no_rule() {
    let remark = "This breaks the drawer whenever two tills share a key, so the draft should ask for another key.";
    assert!(!is_rule(remark) && !is_rule("reflect on the keys and how we can mend them in the future"));
    assert!(is_rule("Whenever two tills share a key, please make sure to ask for another one."));
    assert!(is_rule("Every commit should name its till whenever it changes one."));
    assert!(is_rule("Always note in the PR how we can test the drawer."));
    assert!(is_rule("Please write a command for the till and never use --no-verify."));
    assert!(is_rule("Write a hook test whenever you add a hook."));
    assert!(is_rule("Always run the script of the till before each commit."));
}

#[test]
fn a_plan_tells_its_decisions_and_not_its_steps() {
    let plan = "# Round the totals\n\n## Key Design Decisions\n\n- **Rounding**: half to even, because the tax office asks for it\n\
                - Old invoices keep their totals\n\n## Steps\n\n1. Change `src/cart.ts` and its tests\n\n## Decision criteria\n\n\
                - A total above 100 is checked twice\n\n## 결정사항\n\n- 쿠폰은 세금을 빼고 계산한다\n";
    assert_eq!(
        prose::decisions(plan),
        [
            "Rounding: half to even, because the tax office asks for it",
            "Old invoices keep their totals",
            "쿠폰은 세금을 빼고 계산한다",
        ]
    );
}

#[test]
fn a_rule_among_sentences_in_small_letters() {
    assert_eq!(
        directives("commit this on a branch. use the prefix shop/ for the branch name. is that fine?", false).rules,
        ["use the prefix shop/ for the branch name."]
    );
    assert_eq!(typed_sentences("see e.g. the cart"), ["see e.g. the cart"]);
}

#[test]
fn disputes_in_three_languages() {
    for prompt in [
        "hmm, doesn't the hook call make?",
        "ok maybe put it above the title",
        "Can you change it to a table",
        "근데 그건 예제가 아니라 필수야",
        "いや、別のファイルです",
        "uuum, that has been fixed already",
        "emm - doesn't the hook call make?",
        "=== Step 3: totals ===\nERROR: the total is off by one cent",
        "linting is failing now",
        "thanks. That's not what happens in the till, it rounds before the tax",
        "are you certain about the till?",
        "it should not stand in the header but below the total",
        "그건 아니고, 세금은 나중에 더해져",
        "음 고마워. 그건 아닌 것 같아",
        "本当ですか？",
    ] {
        assert!(disputes(prompt), "{prompt}");
    }
    for prompt in [
        "yes",
        "he said yes",
        "commit this",
        "다시 확인해줘",
        "now add a test",
        "That should not be a problem, go ahead",
        "It shouldn't matter",
        "This should not take long: add a test of the total",
        "/review",
        "次は README を直して",
        "정말 고마워",
        "확실하게 테스트해줘",
    ] {
        assert!(!disputes(prompt), "{prompt}");
    }
}

#[test]
fn what_the_agent_claimed_is_disputed_by_what_the_user_knows() {
    for prompt in [
        "You also said above: the till keeps its totals. But it starts afresh each day",
        "question: the slip of the day was clearly printed by the old till",
        "I'm questioning this change now, the till worked before",
        "the till starts afresh each day, so what do I miss?",
    ] {
        assert!(disputes(prompt), "{prompt}");
    }
    for prompt in ["write the page of the till clearly", "you can start with the till"] {
        assert!(!disputes(prompt), "{prompt}");
    }
}

#[test]
fn work_that_the_user_gives_up() {
    for prompt in [
        "yeah let's abandon the current branch, and begin at main",
        "please discard the changes",
        "scrap this branch",
        "I've just reverted your changes - only round the total",
    ] {
        assert!(abandonment(prompt).is_some(), "{prompt}");
    }
    assert_eq!(abandonment("scrap this branch"), Some(Abandonment::Ordered));
    assert_eq!(abandonment("I've reverted your changes"), Some(Abandonment::TakenBack));
    for prompt in [
        "drop the branch of the till from the list",
        "discard the changes in `till.ts`",
        "what if they drop the branch?",
        "I reverted the order of the list",
        "I unfortunately discarded your changes",
    ] {
        assert!(abandonment(prompt).is_none(), "{prompt}");
    }
}

#[test]
fn a_rule_stands_without_the_consent_before_it() {
    assert_eq!(directives("Yes, and never push to main.", false).rules, ["never push to main."]);
    assert_eq!(directives("ok", false).rules, [""; 0]);
}

#[test]
fn what_a_line_announces_is_not_the_humans_rule() {
    for announced in [
        "Please fix this issue:",
        "Here is the mail from the customer:",
        "What do you think of the following comment:",
        "이 이슈를 봐줘:",
        "このコメントを見てください：",
        "请看下面的评论：",
    ] {
        let prompt = format!("{announced}\n\nAlways run the linter before committing.");
        assert!(directives(&prompt, true).rules.is_empty(), "{prompt}");
    }
    for own in [
        "Please follow these rules:",
        "For this login with the context of PostgreSQL:",
        "Two things:",
        "Fix the login page, and note:",
    ] {
        let prompt = format!("{own}\n\nAlways run the linter before committing.");
        assert_eq!(directives(&prompt, true).rules.len(), 1, "{prompt}");
    }
}

#[test]
fn corrections() {
    for prompt in [
        "no, the branch is called feat/x",
        "That's not what I asked for.",
        "그게 아니라 다른 파일을 고쳐줘.",
        "そうじゃなくて別のファイルです",
        "不对，应该改另一个文件",
    ] {
        assert!(directives(prompt, true).correction.is_some(), "{prompt}");
    }
    for prompt in [
        "Why are you still weighing by hand when I told you to use the scales?",
        "You keep rounding the cart.",
        "I asked you to round the sum.",
        "I don't like the idea of rounding twice.",
        "You're supposed to follow CARTS.md.",
        "저울을 쓰라고 말했잖아.",
        "秤を使ってと言ったのに",
        "我说过要用秤",
    ] {
        assert!(directives(prompt, true).correction.is_some(), "{prompt}");
    }
    for prompt in [
        "instead, draw the way of a cart through the shop",
        "no just commit and push",
        "no, I mean the licences of the scales",
        "not sure I understand this, shouldn't it be two carts",
        "it should open the last cart, not a new one every time.",
        "Can you keep the cart as it is",
        "ok, let's summarize the cart, but we don't need to include the wheels",
        "The page of the cart instead of the barge still reads as if we had both",
        "this: Instead of a barge, the carts are pulled by a crane:\n\nstill reads as if we had both",
    ] {
        assert_eq!(directives(prompt, true).correction, None, "{prompt}");
    }
    assert_eq!(directives("no, the branch is called feat/x", false).correction, None);
    assert_eq!(directives("add a button to the page", true).correction, None);
}

#[test]
fn the_user_commits_without_the_agent() {
    for prompt in [
        "I committed it. Now round the invoice",
        "ok, is the number of lines right? I put everything into one commit",
        "can you check the total in the latest commit again?",
        "커밋했어. 다음은 영수증",
    ] {
        assert!(speaks_of_own_commit(prompt), "{prompt}");
    }
    for prompt in [
        "please put everything into one commit",
        "amend the last commit, and check the total",
        "what happens to the slip when I committed it?",
        "check the total before the release",
    ] {
        assert!(!speaks_of_own_commit(prompt), "{prompt}");
    }
}

#[test]
fn what_fails_on_a_server_was_pushed() {
    for prompt in [
        "the tests are failing at github actions, not if I run them here",
        "Checks still failing on the PR",
        "can you review the copilot comments on the PR?",
    ] {
        assert!(speaks_of_pushed_work(prompt), "{prompt}");
    }
    for prompt in ["can you add it to the github actions?", "till run test:ci is failing", "open a PR with these comments"] {
        assert!(!speaks_of_pushed_work(prompt), "{prompt}");
    }
}

#[test]
fn a_pause_and_a_thought_correct_nothing() {
    for prompt in [
        "wait, let's discuss this",
        "I don't like barge, any other names?",
        "no that is a case, but thinking aloud, the cart may stop",
        "no lines of the cart, only this:",
        "no, we don't need to commit that",
    ] {
        assert_eq!(directives(prompt, true).correction, None, "{prompt}");
    }
}

#[test]
fn what_gives_a_reason_or_forbids_outlasts_the_change() {
    for said in [
        "no, rename it, because two carts have that name",
        "don't print every wheel",
        "that is not correct: a cart has two wheels",
        "if there are two wheels we still should not print them",
        "that is fine, but do not print the wheels",
    ] {
        assert!(outlasts_change(said), "{said}");
    }
    for said in [
        "Instead of \"cart\" it should say \"barge\"",
        "I don't like this wheel, just delete it",
        "the wheels should not be there",
        "i dont want it to be so wide, the cart shouldnt be in the water",
        "no, the cart has two wheels",
        "not sure I like this wheel",
        "바퀴 말고 손잡이를 제거해줘",
    ] {
        assert!(!outlasts_change(said), "{said}");
    }
}

#[test]
fn a_correction_is_told_with_what_it_needs() {
    let said = |prompt: &str| directives(prompt, true).correction.unwrap_or_default();
    assert_eq!(
        said("What does CARTS.md say? You're supposed to be following that."),
        "What does CARTS.md say? You're supposed to be following that."
    );
    let model = "I don't like pinning a cart. Where it was put, it stays. Only a larger cart moves it.";
    assert_eq!(said(model), model, "how it should be");
    let quoting = directives("> a cart usually tips over\n\nthat should be \"may tip over\" instead of \"usually\"", true);
    assert_eq!(quoting.quoted, "a cart usually tips over");
}

#[test]
fn a_demand_of_the_product_is_no_standing_rule() {
    for said in [
        "it should open the last cart, not a new one every time.",
        "The list of carts should not be shown, since it never ends.",
        "I'm most interested in how the carts move in the future.",
        "question: I have two carts, and one never stops?",
        "the cart moves slowly but never gets past the door for me",
        "Let's think how every cart always has its name.",
        "so I guess we should stick to five carts as a default",
        "Right now, to count the carts we use the barge.",
        "fix the parallel tests first",
        "Like there should always be a cart for each barge",
        "can you review the change, mostly the places where we use the old till",
        "can we use `total` in the place of `sum` in the receipt",
        "ok let's roll back, both tills are gone in the future state",
        "The night receipt never really worked, so we remove it",
        "you can always print it again from the drawer",
        "we need a sign that is \"always\" lit",
        "still reads as if we open a new till always",
        "To keep it apart and avoid noise, the sign should be hidden rather than left as none",
        "値段が古いので、表を新しくしてください",
        "// Always written as the number of carts",
        "I think we should probably put a sign on it, so whenever guests see the cart they leave it",
    ] {
        assert!(!is_rule(said), "{said}");
    }
    for said in [
        "Write tests for the cart first.",
        "Follow @CARTS.md exactly when you build it.",
        "Prioritize moving carts over asking me.",
        "The commit message should always have the number of the cart.",
        "カートのテストを先に書いてください",
        "夜にまとめるので、PRの題名も店の規格に合わせるように。",
        "밤에 합치니까 커밋 제목도 가게 규칙에 맞춰줘",
    ] {
        assert!(is_rule(said), "{said}");
    }
    let said = "The carts stay in the yard. Since we use the barge for all of them, a crane is no help.";
    assert_eq!(directives(said, false).rules, [said], "the reason with what it is for");
}

#[test]
fn what_is_withdrawn() {
    for said in [
        "My mistake, it is red.",
        "Scratch that",
        "never mind the cart",
        "아니다, 빨간색이야",
        "やっぱり赤で",
        "算了，用红的",
    ] {
        assert!(withdraws(said), "{said}");
    }
    assert!(!withdraws("The mistake is in the cart") && !excuses("sorry, the version is 2.54.0"));
}

#[test]
fn requests_that_want_work() {
    for said in ["why is the cart red?", "question: why not go even newer", "카트가 왜 빨간가요?"] {
        assert!(only_asks(said), "{said}");
    }
    for said in ["can you paint the cart?", "can we paint it red?", "Paint the cart"] {
        assert!(!only_asks(said), "{said}");
    }
    assert!(states_fact("you are in the yard already") && !states_fact("that is done elsewhere. instead, draw a cart"));
    assert!(sets_value("do 2.54.0") && !sets_value("do the dishes") && !sets_value("the cart has 2.54.0"));
    assert_eq!(
        summarized("[Image #2] [Image #3] etc\n\nThe cart on the second one is red, paint it."),
        "The cart on the second one is red, paint it."
    );
}

#[test]
fn a_request_keeps_what_it_wants_instead() {
    let lead = "Update the plan of the tills so that whoever prints the slips can look at how the old shop in the north prints them today.";
    let told = |rest: &str| request_summary(&format!("{lead} {rest}"), 560, labels(Language::English));
    assert!(
        told("We want to instead keep the slips in a folder (for now)")
            .ends_with("prints them today. We want to instead keep the slips in a folder (for now)")
    );
    for other in [
        "They use paper instead of a screen.",
        "The mail says: \"we want to use paper instead\"",
        "They said we want paper instead.",
    ] {
        assert_eq!(told(other), lead, "{other}");
    }
}

#[test]
fn a_question_for_the_cause_of_a_failure() {
    for asks in
        ["why is the till failing?", "Why does the slip have the wrong date?", "what's wrong with the errors of the cart?"]
    {
        assert!(asks_cause(asks), "{asks}");
    }
    for other in ["why do we round twice?", "is the till broken?", "fix the failing till"] {
        assert!(!asks_cause(other), "{other}");
    }
}

proptest! {
    #[test]
    fn never_panics(text in any::<String>()) {
        request_summary(&text, 50, labels(Language::English));
        directives(&text, true);
        is_chore(&text);
    }
}

#[test]
fn what_a_request_points_to_is_told_with_it() {
    let diff = "Please look at this change, because I want the cart to round once at its end and not once for every line of it.\n\ndiff --git a/src/cart.ts b/src/cart.ts\n\
                --- a/src/cart.ts\n+++ b/src/cart.ts\n@@ -1,2 +1,2 @@\n-let total = 0.0;\n+let total = 0;\n";
    assert!(summarized(diff).ends_with("(`src/cart.ts`)"), "{}", summarized(diff));
    let log = "I get this issue when paying [12:04:11.300] [API] GET /api/orders/17 -> http://localhost/api/orders/17\n\
               [Worker] Phase 1 done\n[Pay] Attempt 1/3 failed: sign in first. Original error: code 2\n\
               stderr: error: invalid value 'euro' for '--currency'\nFor more, try the manual\n(no stdout)\n";
    assert_eq!(summarized(log), "I get this issue when paying (error: invalid value 'euro' for '--currency')");
    let code = "Oh, this is not supported by the old browser :(\n\nul#cart li {\n  display: ruby-base;\n  margin: 0;\n}\n\n\
                Can you please help rewriting this to use a table?";
    assert!(summarized(code).ends_with("(`ul#cart li { display: ruby-base;`)"), "{}", summarized(code));
    let korean = "이거 왜 이런지 봐줘\n[09:10:11] [API] 주문 저장\nerror: 재고가 없습니다\n";
    assert_eq!(summarized(korean), "이거 왜 이런지 봐줘 (error: 재고가 없습니다)");
    assert_eq!(summarized("Can you rename this to `total`?"), "Can you rename this to `total`?");
}

#[test]
fn what_a_reviewer_asks_to_consider_is_an_order() {
    let lead =
        "This test repeats the names of all drawers of the till and the mark that stands behind each of them on the slip.";
    let told = |rest: &str| request_summary(&format!("{lead} {rest}"), 560, labels(Language::English));
    for order in ["Consider a function that returns the names.", "Go through all drawers and name each of them once."] {
        assert_eq!(told(order), format!("{lead} {order}"));
    }
    assert_eq!(told("Consider either:"), lead);
}

#[test]
fn orders_go_before_what_leads_to_them() {
    let prompt = "The workflow globs `**/*.md` only, so the documents that are written as `.mdx` were never linted in CI before today. \
                  Extend the glob to `**/*.mdx` and fix what it finds. Keep fixes mechanical.";
    let told = summarized(prompt);
    assert!(told.contains("Extend the glob") && told.contains("Keep fixes mechanical"), "{told}");
    let wishes = "The shop breaks when a price has no currency, which happens since we changed how prices are read. I want to keep the page \
                  about prices, but in the end I want people to use the new one for all that they do there. We need to update the docs.";
    assert!(summarized(wishes).contains("We need to update the docs."), "{}", summarized(wishes));
}

#[test]
fn rules_below_a_pasted_document() {
    let document = format!("# Style guide\n\n{}", "Write for the reader of tomorrow, and keep it short.\n".repeat(40));
    let prompt = format!("{document}\n스타일 가이드 문서야.\n1. 내용을 정리해줘.\n2. 링크는 항상 맨 마지막에 적어줘.");
    assert_eq!(directives(&prompt, false).rules, ["링크는 항상 맨 마지막에 적어줘."]);
    assert!(directives(&document, false).rules.is_empty());
}

#[test]
fn what_a_human_settles_by_saying_how_it_is_not() {
    let said = "We're not choosing the shortest name here, just taking the latest one";
    assert_eq!(settled_in_passing(&format!("Can you update the tests? {said}")), [said]);
    for said in [
        "Let's skip the second cart for now.",
        "so let's table the weighing and you go ahead with the cart",
        "I guess we should stick to 5k carts as a default",
        "두 번째 카트는 빼자, 첫 번째만 하자.",
        "二台目のカートは見送ろう",
    ] {
        assert_eq!(settled_in_passing(said), [said]);
    }
    for other in [
        "I haven't seen a note on the drawer, only the one on the till.",
        "should we leave the second cart out?",
        "I'm not sure what it does, just tell me",
        "The page does not load, and the cart is empty",
        "Is it not slow, just old?",
        "can you check the carts? don't change anything, just let me know",
        "can you check the carts? don't fix anything, but just validate the sums",
    ] {
        assert!(settled_in_passing(other).is_empty(), "{other}");
    }
}

#[test]
fn a_request_in_the_form_of_a_question_asks_for_a_deed() {
    for said in [
        "カートの合計を丸めてくれる？",
        "合計を丸めてもらえますか",
        "古い札をはがして、レジが店の合計を使うようにしてくれる？",
        "합계를 반올림해줄 수 있어?",
        "영수증을 고쳐주실 수 있나요?",
    ] {
        assert!(!only_asks(said) && is_demand(said), "{said}");
    }
    for said in [
        "合計の計算を教えてくれる？",
        "합계를 어떻게 계산하는지 알려줄 수 있어?",
        "レジは丸めてくれますが、カートは丸めません",
        "なぜ保存してくれないの？",
        "どうして丸めてくれないのですか",
        "誰が直してくれるの？",
        "このライブラリは丸めてくれますか？",
        "このツールが丸めてくれますか？",
        "이 API가 알림을 보내줄 수 있나요?",
        "왜 서랍을 닫아줄 수 있어?",
    ] {
        assert!(!is_demand(said), "{said}");
    }
}

#[test]
fn to_resolve_conflicts_is_no_chore() {
    assert!(is_substantive("fix merge conflicts from main please") && is_substantive("머지 충돌 해결해줘"));
    assert!(!is_substantive("merge it please") && !is_substantive("commit and push"));
}

#[test]
fn the_user_says_that_it_is_merged() {
    for said in [
        "PRs merged",
        "merged, go on",
        "머지했어",
        "머지는 했는데 배포가 남았어",
        "マージしました。次のステップは？",
        "マージはしたんですが、まだ公開していません",
        "I merged it. What is next?",
    ] {
        assert!(!said_merged(said).is_empty(), "{said}");
    }
    for said in [
        "is it merged?",
        "once merged, tag it",
        "머지되면 태그해줘",
        "머지했으면 좋겠어",
        "マージしたいんだけど",
        "マージしたら教えて",
        "not merged",
        "the two lists are merged into one by the reader of the cart, slowly",
    ] {
        assert!(said_merged(said).is_empty(), "{said}");
    }
}

#[test]
fn how_something_is_always_written_is_a_rule() {
    for said in [
        "PR名は英語に",
        "pr名英語に",
        "コメントは英語で書いて",
        "커밋은 한글로",
        "レシートはコミットするようにしたいかな",
        "영수증은 커밋하지 않도록 해줘",
        "커밋 메시지는 한글로 작성해줘",
        "주석은 영어로",
        "PR titles in English please",
        "専用のブランチに入るように",
        "一つにまとめるので、PRタイトルも同じ形にするように. claude.md",
        "コミットメッセージに絵文字は入れないで",
        "커밋 메시지에 이모지는 넣지 마",
        "커밋 메시지에 고양이 그림은 넣지 마",
        "勝手にプッシュしないでください。",
        "테스트 없이 커밋하지 마",
    ] {
        assert!(is_rule(said), "{said}");
    }
    for said in [
        "この文書は英語で書いて",
        "Add comments in English",
        "// Log messages in English",
        "버튼은 영어로 해줘",
        "나머지를 제외하고는 영어로 작성해줘",
        "메뉴를 한국어로 번역해줘",
        "문서는 영어로 되어 있어",
        "コメントは英語で書かれている",
        "レシートをコミットするようにしたい",
        "今回はコミットしないようにして",
        "The comments are in English",
        "Translate the menu into English",
        "メニューが開くように",
        "今回はコミットしないように",
        "위와 같이 브랜치처럼 하도록 해줘",
        "아직 커밋하지 마",
        "今回は勝手にプッシュしないで",
        "サーバーが勝手にプッシュしないようにして",
    ] {
        assert!(!is_rule(said), "{said}");
    }
}

#[test]
fn little_more_than_no_corrects_nothing() {
    assert!(!is_correction("いやいや、カートを") && !is_correction("いや、レビュー。"));
    assert!(is_correction("いや、別のファイルを直して") && is_correction("いや、赤にして"));
}

#[test]
fn what_stops_a_proposal() {
    assert!(
        stops_what_was_proposed("うーん、それはやめて、別の表を作って")
            && stops_what_was_proposed("그거 말고 표를 만들어줘")
    );
    for said in ["Don't forget that the night till needs a slip too.", "don't drop that", "그거 취소 버튼도 넣어줘"]
    {
        assert!(!stops_what_was_proposed(said), "{said}");
    }
    assert!(!stops_what_was_proposed("印刷をやめて") && !stops_what_was_proposed("それでいい"));
    assert!(!stops_what_was_proposed("それだけじゃなく、表も作って") && !stops_what_was_proposed("그거 말고도 표가 필요해"));
}

#[test]
fn all_pull_requests_or_one() {
    assert!(speaks_of_all("両方マージした") && speaks_of_all("둘 다 머지했어") && speaks_of_all("both are merged"));
    assert!(!speaks_of_all("マージした") && !speaks_of_all("머지했어") && !speaks_of_all("merged, all good"));
}

#[test]
fn of_what_another_agent_gives_only_the_task_is_asked() {
    assert_eq!(task("You are the cache agent. Your task is to warm the cache."), "Your task is to warm the cache.");
    let said = "You are infra. You harden images.\nYou work ONLY in infra/\n\nTASK 1: Remove the old key";
    assert_eq!(task(said), "TASK 1: Remove the old key");
    let said = "You are the tester.\nStack: Dart 3\n\n## Task from the list: #4 — pin the certificates";
    assert_eq!(task(said), "Task from the list: #4 — pin the certificates");
    assert_eq!(task("You decide."), "You decide.");
    assert_eq!(task("DOM-1 is complete. The entities are ready."), "", "it reports");
}

#[test]
fn prompts_that_doubt_and_prompts_that_agree() {
    for said in ["can we double-check that the bell rings once?", "I'm not sold on this.", "정말이야? 다시 확인해 줘"]
    {
        assert!(doubts(said), "{said}");
    }
    assert!(!doubts("check the till before the release"));
    assert!(takes_up("update the till and retry", "Want me to update the till and retry?"));
    assert!(takes_up("yes lets print it", "") && !takes_up("print the slip", "Want me to update the till?"));
}

#[test]
fn what_keeps_failing_is_no_chore() {
    assert!(is_substantive("서랍이 계속 실패해. 원인 찾아줘") && is_substantive("コミットが失敗します"));
    assert!(!is_substantive("계속해줘") && !is_substantive("コミットして"));
}

#[test]
fn a_yes_is_left_out_before_what_is_asked_for() {
    assert_eq!(summarized("좋아. 서랍은 왜 이렇게 느린 거야?"), "서랍은 왜 이렇게 느린 거야?");
    assert_eq!(summarized("はい、お願いします。レシートのテストも追加してください"), "レシートのテストも追加してください");
    assert_eq!(summarized("좋아."), "좋아.");
    assert!(!is_substantive("아니 괜찮아") && !is_correction("아니 괜찮아") && !is_substantive("はい、お願いします"));
    assert!(is_substantive("네 서랍을 고쳐줘") && !is_consent("네 서랍을 고쳐줘") && is_consent("네 이대로 진행해줘"));
    assert!(thanks("ok thanks") && thanks("네 감사합니다") && !thanks("ok do it"));
    assert!(is_bare_consent("네, 그렇게 해주세요.") && !is_bare_consent("어디야") && !is_bare_consent("네 서랍을 고쳐줘"));
}

#[test]
fn one_of_the_things_of_a_question_is_picked() {
    let asked = "サーバーは Till と Cart のどちらがいいですか？";
    assert!(picks_of("Cartでお願いします。色は赤で", asked) && picks_of("Till로 가자", "Till이랑 Cart 중에 뭐가 좋아?"));
    assert!(!picks_of("レシートの印刷でお願いします", asked) && !picks_of("", asked));
}

#[test]
fn a_plan_says_what_it_does() {
    let goal = |plan: &str| plan_goal(plan);
    let summary = "# Slips\n\n## Context\n\nWe need to know which till was paid.\n\n## Summary\n\nPrint the name of the till on \
                   each slip of the day. Then the date.\n\n## Steps\n\nThe drawer should open once for each of them.";
    assert_eq!(goal(summary).as_deref(), Some("Print the name of the till on each slip of the day."));
    let wish = "# Slips\n\n## Context\n\nThe slips of the night till have no date. We want the date on each of them.\n\n## Files\n\n\
                ### Summary\n\nFile: the slip of the night till, read by all.";
    assert_eq!(goal(wish).as_deref(), Some("We want the date on each of them."));
    let list =
        "# Slips\n\n## 1. Goal:\n\nWe need to:\n1. Print the date\n+ Print the name of the till.\n\n## Steps\n\n1. Print it";
    assert_eq!(goal(list).as_deref(), Some("We need to: Print the date; Print the name of the till"));
    let labelled = "# Slips\n\n## Context\n\nThe slips have no date. We want the till to be quick.\n\n\
                    **Goal**: Print the date on each of the slips.";
    assert_eq!(goal(labelled).as_deref(), Some("Print the date on each of the slips."));
    let user = "# Slips\n\n## Context\n\nThe slips are white. The user wants to see the date on each slip.";
    assert_eq!(goal(user).as_deref(), Some("The user wants to see the date on each slip."));
}

#[test]
fn what_a_plan_says_beside_its_goal_is_not_its_goal() {
    for plan in [
        "## Non-goals\n\nChanging the layout of the receipt printer in any way.",
        "# Slips\n\n## 非目标\n\n在收据上打印日期和收银台名称以及更多内容。",
        "# Slips\n\n## Test Summary\n\nAll twelve tests of the till pass on the main branch.",
        "# Slips\n\n## Context\n\nThe slips of the night till show all of its sums.",
        "# Slips\n\n## Context\n\nClosing the till needs to handle the case where two drawers are open.",
        "# Slips\n\nYou should read the manual of the printer before you start.",
        "# Slips\n\nThis plan adds none of what was asked, and not the date:\n- the name of the till\n- the date",
        "# Slips\n\n## Summary\n\nNo file of the cart has to be touched for the date.",
        "# Slips\n\n## Summary\n\n\"Print the name of the till on each slip of the day.\"",
        "# Slips\n\n## Summary\n\n> Print the name of the till on each slip of the day.",
        "# Slips\n\n## 개요\n\n현재 계산대는 하루에 영수증을 백 장 인쇄한다.",
        "# Slips\n\n## Steps\n\nFold it.\n\n# Appendix\n\nWe want the drawer to open once for each slip.",
    ] {
        assert_eq!(plan_goal(plan), None, "{plan}");
    }
    let both = "# Slips\n\n## Architecture Overview\n\nThe till prints, and the drawer opens.\n\n## Goal\n\nPrint the date on each slip.";
    assert_eq!(plan_goal(both), None, "too short");
    let both = both.replace("each slip.", "each slip of the night till.");
    assert_eq!(plan_goal(&both).as_deref(), Some("Print the date on each slip of the night till."));
}

#[test]
fn a_wish_that_something_is_not_to_be() {
    for said in ["lets not add the drawer to the till, its unnecessary", "서랍은 필요 없어요", "引き出しは不要です"]
    {
        assert!(leaves_out(said), "{said}");
    }
    for said in [
        "add the drawer to the till",
        "The remove button of the cart item should be red",
        "no need to ask me each time the drawer opens a sale file",
    ] {
        assert!(!leaves_out(said), "{said}");
    }
}

#[test]
fn a_plan_says_what_it_brings() {
    let goal =
        |context: &str| plan_goal(&format!("# Slips\n\n## Context\n\nThe slips are white. {context}\n\n## Steps\n\nPrint."));
    for said in [
        "Adding the date to the slips will tell the tills apart.",
        "To tell the tills apart, we need a slip that has the name of its till.",
        "The slips of the night till need to be printed on blue paper.",
        "This adds the date and the name of the till to each slip.",
    ] {
        assert_eq!(goal(said).as_deref(), Some(said));
    }
    let gaps = "Two gaps need to be closed:\n\n1. **No date** — nobody knows when\n2. **No name** — nobody knows where";
    let told = "Two gaps need to be closed: No date — nobody knows when; No name — nobody knows where";
    assert_eq!(goal(gaps).as_deref(), Some(told));
    let long = gaps.replace("nobody knows", &"nobody at all of the shop knows ".repeat(6));
    assert_eq!(goal(&long).as_deref(), Some("Two gaps need to be closed: No date; No name"));
}

#[test]
fn the_reason_of_a_part_is_not_that_of_the_plan() {
    let plan = "# Slips\n\n## Context\n\nCurrently, if no drawer is open, the till prints a slip without any sum.\n\n\
                ## 1. Menus\n\n### Root cause\n\nThe menu of the till is never closed, because the bell is missing.";
    let reason = "If no drawer is open, the till prints a slip without any sum.";
    assert_eq!(plan_reason(plan).as_deref(), Some(reason));
    let menus = "# Slips\n\n## Context menus\n\nThere is no conflict with the drawer, since the till never opens it.";
    assert_eq!(plan_reason(menus), None);
}

#[test]
fn a_plan_says_what_it_leaves_alone() {
    let plan = "# Slips\n\n## What NOT to change\n\n- `till.rs` — it counts well\n- The bell\n\n## Steps\n\nPrint the date.\n\n\
                - Do NOT print the name of the night till.\n\n```\nnever()\n```";
    let told = "What NOT to change: `till.rs`; The bell; Do NOT print the name of the night till";
    assert_eq!(plan_limits(plan).as_deref(), Some(told));
    assert_eq!(plan_limits("# Slips\n\n## Steps\n\nPrint the date. The name is not to change."), None);
    let listed =
        plan_limits("# Slips\n\n### What NOT to add\n\n- Names of the tills, which nobody reads\n\n## Steps\n\nFold it.");
    assert!(listed.is_some_and(|limits| limits.contains("Names of the tills") && !limits.contains("Fold")));
}

#[test]
fn a_long_wish_without_full_stops_is_told() {
    let wish = format!("and can you please paint the till {}", "and then the drawer below it ".repeat(20));
    let lead = "i saw the slip of the night and it was wet because the till of the shop stands by the window of the baker.";
    let told = request_summary(&format!("{lead}\n{wish}"), 300, labels(Language::English));
    assert!(told.contains("and can you please paint the till"), "{told}");
    assert!(told.chars().count() <= 300);
}

#[test]
fn a_consent_that_says_to_what_stays_with_it() {
    assert_eq!(without_consent("Yes to the red drawer, and paint it"), "Yes to the red drawer, and paint it");
    assert_eq!(without_consent("yes, paint the drawer"), "paint the drawer");
}
