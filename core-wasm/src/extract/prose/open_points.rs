//! What an answer leaves open: what somebody still has to do, to decide or to check.

use std::borrow::Cow;

use super::heading::{is_heading, is_pointer};
use super::is_open_heading;
use super::narration::is_narration;
use crate::text;

/// The maximum number of points of one answer.
const MAX_POINTS: usize = 5;
/// The length of a point, in characters. A shorter one names nothing, a longer one is a paragraph.
const POINT_CHARS: std::ops::Range<usize> = 24..420;
/// The minimum length in Korean and Japanese, which need fewer characters to say the same.
const MIN_WIDE_CHARS: usize = 8;
/// The maximum length of what is put before a point because it names what the point is about, in characters.
const MAX_SUBJECT_CHARS: usize = 160;

/// Words of a heading, or of a line that leads to a list, below which stands what is open.
const LEADS: &[&str] = &[
    "for you",
    "need you",
    "needs you",
    "need your",
    "on your side",
    "from you",
    "yours",
    "your call",
    "to decide",
    "still to",
    "still open",
    "still need",
    "still pending",
    "still missing",
    "still not",
    "still left",
    "still has",
    "still have",
    "still on you",
    "still waiting",
    "still unresolved",
    "still required",
    "still outstanding",
    "still undone",
    "still broken",
    "still fail",
    "still running",
    "loose end",
    "left to do",
    "what's left",
    "what is left",
    "left out",
    "remaining",
    "remains",
    "outstanding",
    "follow-up",
    "follow up",
    "followup",
    "next step",
    "next up",
    "not prove",
    "not covered",
    "not confirmed",
    "couldn't confirm",
    "could not confirm",
    "can't confirm",
    "not done",
    "not applied",
    "not included",
    "before merging",
    "before you",
    "open question",
    "known limitation",
    "known gap",
    "caveat",
    "다음 단계",
    "남은",
    "확인 필요",
    "次のステップ",
    "残り",
    "残って",
    "要確認",
    "后续",
    "下一步",
    "剩余",
];

/// Words of a line that says that what remains is to stay.
const KEPT: &[&str] = &[
    "appropriate",
    "as-is",
    "by design",
    "correct",
    "expected",
    "fine",
    "handle",
    "handles",
    "intentional",
    "intentionally",
    "legitimate",
    "unrelated",
    "unstaged",
    "untracked",
    "valid",
];

/// Words of a sentence that says that something waits for somebody, or is not done.
const WAITS: &[&str] = &[
    "let me know when",
    "let me know which",
    "let me know whether",
    "say the word",
    "tell me when",
    "tell me which",
    "when you're ready",
    "when you are ready",
    "up to you",
    "your call",
    "you'll need to",
    "you will need to",
    "you'd need to",
    "you need to",
    "you'll have to",
    "you should",
    "waiting on",
    "waiting for",
    "hold off",
    "holding off",
    "still running",
    "worth a check",
    "worth checking",
    "worth verifying",
    "worth confirming",
    "still needs",
    "still need to",
    "still need",
    "still has to",
    "still have to",
    "still pending",
    "still open",
    "still to be",
    "still to do",
    "still unresolved",
    "still uncommitted",
    "still outstanding",
    "needs to be updated",
    "not yet",
    "n't yet",
    "haven't been",
    "hasn't been",
    "remains open",
    "remains to be",
    "never been",
    "one step left",
    "left for you",
    "needs a human",
    "needs you to",
    "to handle separately",
    "in a follow-up",
    "worth a follow-up",
    "a force-push",
    "to force-push",
    "a force push",
    "to force push",
    "next step is",
    "next step:",
    "next action",
    "once it lands",
    "once that lands",
    "once it's merged",
    "once that merges",
    "merge this",
    "to be decided",
    "not decided",
    "unposted",
    "was denied",
    "were denied",
    "아직",
    "미구현입니다",
    "미구현 상태",
    "미완료입니다",
    "구현되지 않았습니다",
    "구현하지 않았습니다",
    "필요합니다",
    "해야 합니다",
    "하셔야",
    "まだ",
    "未実装です",
    "未実装のまま",
    "未対応です",
    "未対応のまま",
    "未着手です",
    "未完了です",
    "実装していません",
    "必要があります",
    "してください",
    "尚未",
    "还需要",
    "需要您",
    "需要你",
];

/// Words of an offer that any answer may end with.
const COURTESIES: &[&str] = &[
    "if you have",
    "any questions",
    "anything else",
    "feel free",
    "happy to",
    "if you'd like me to",
    "if you want me to",
    "hope this",
    "/clear",
    "per your call",
    "if you want",
    "if you'd like",
    "필요하시면",
    "원하시면",
    "気になる",
    "必要であれば",
    "必要に応じて",
    "指摘してください",
    "教えてください",
    "お知らせください",
    "알려주세요",
    "알려 주세요",
    "말씀해주세요",
    "말씀해 주세요",
];

/// Returns what the answer leaves open, each point as it stands in the answer, in one line that names what it is about.
///
/// These are the items below a heading or a line that says so, and the sentences that speak of what waits.
pub(in crate::extract) fn open_points(answer: &str) -> Vec<String> {
    read(answer, true)
}

/// Returns what a document lists as open: the items below its headings that say so. What is only assumed comes last.
pub(in crate::extract) fn listed_points(document: &str) -> Vec<String> {
    read(document, false)
}

/// Returns the questions that a document lists below a heading for open ones.
pub(in crate::extract) fn open_questions(document: &str) -> Vec<String> {
    const HEADINGS: [&str; 10] = [
        "open question",
        "unresolved question",
        "questions to answer",
        "undecided",
        "미해결 질문",
        "열린 질문",
        "未解決の質問",
        "未解決事項",
        "未决问题",
        "待定问题",
    ];
    let mut all: Vec<String> = Vec::new();
    let mut is_below = false;
    for line in text::prose_lines(document) {
        if line.starts_with('#') {
            let heading = text::plain(line).to_lowercase();
            is_below = text::contains_any(&heading, &HEADINGS);
        } else if is_below && (starts_with_number(line) || line.starts_with(['-', '*', '•'])) {
            let sentences = text::sentences(line);
            let asks = sentences.iter().position(|it| it.trim_end_matches(['*', '"', ' ']).ends_with(['?', '？']));
            let said = asks.map(|at| sentences[..=at].join(" ")).filter(|said| is_of_length(said));
            if let Some(said) = said
                && all.len() < MAX_POINTS
            {
                all.push(said);
            }
        }
    }
    all
}

/// Returns the first paragraph of a document that says where the work stands, below a heading that says so. May be empty.
pub(in crate::extract) fn status(document: &str) -> &str {
    const HEADINGS: [&str; 12] = [
        "where things stand",
        "current state",
        "current status",
        "status",
        "state",
        "what was done",
        "done",
        "summary",
        "현재 상태",
        "현황",
        "現状",
        "当前状态",
    ];
    let mut is_below = false;
    for paragraph in document.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        if paragraph.starts_with('#') {
            let (heading, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
            let heading = text::plain(heading).to_lowercase();
            is_below = HEADINGS.iter().any(|words| text::starts_with_words(&heading, words));
            if is_below && !rest.trim().is_empty() {
                return rest.trim();
            }
        } else if is_below {
            return paragraph;
        }
    }
    ""
}

fn read(answer: &str, with_sentences: bool) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut assumed: Vec<String> = Vec::new();
    let (mut is_below, mut is_assumed, mut previous) = (false, false, String::new());
    for line in text::prose_lines(answer) {
        if line.starts_with('|') {
            continue;
        }
        let is_item = line.starts_with(['-', '*', '•', '+']) && !line.starts_with("**") || starts_with_number(line);
        let is_lead = text::plain(line).ends_with([':', '：']);
        if !is_item && (is_heading(line) || is_lead) {
            is_below = leads_to_open(line);
            is_assumed = !with_sentences && is_of_assumptions(line);
            previous = String::new();
            continue;
        }
        // A paragraph ends the list of an answer. In a document it may be all that stands below the heading.
        is_below &= is_item || !with_sentences;
        let sentences = text::sentences(line);
        let Some(first) = sentences.first() else { continue };
        if is_below {
            let point = sentences.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" ");
            let point = if is_of_length(&point) { &point } else { first };
            add(if is_assumed { &mut assumed } else { &mut all }, point, "");
        } else if with_sentences {
            for sentence in &sentences {
                let lower = text::lower(sentence).replace('’', "'");
                if waits(&lower) {
                    add(&mut all, sentence, if is_pointer(&lower) { &previous } else { "" });
                }
                previous.clone_from(sentence);
            }
        }
    }
    if with_sentences {
        let extra = all.len().saturating_sub(MAX_POINTS);
        all.drain(..extra);
    }
    all.extend(assumed);
    all.truncate(MAX_POINTS);
    all
}

/// Returns whether a heading stands above what nobody has checked.
fn is_of_assumptions(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    text::contains_any(&lower, &["assum", "not verified", "unverified", "검증되지", "가정", "未確認", "未验证"])
}

fn add(all: &mut Vec<String>, point: &str, subject: &str) {
    // What the agent was waiting for when it ended is open.
    const WAITING: [&str; 7] =
        ["Waiting on ", "Waiting for ", "I'll hold", "I will hold", "I'll wait", "I will wait", "Holding off"];
    let point = point.strip_prefix("[ ] ").unwrap_or(point);
    let says = !is_narration(point) || WAITING.iter().any(|opening| point.starts_with(opening));
    let is_told = is_of_length(point) && !point.ends_with([':', '：']) && says;
    if is_told && !all.iter().any(|known| known.contains(point)) {
        let has_room = !subject.is_empty() && subject.chars().count() <= MAX_SUBJECT_CHARS;
        all.push(if has_room { format!("{subject} {point}") } else { point.to_owned() });
    }
}

/// Returns whether a point is neither too short to name something nor a paragraph.
fn is_of_length(point: &str) -> bool {
    let count = point.chars().count();
    let is_wide = matches!(text::language(point), text::Language::Korean | text::Language::Japanese);
    POINT_CHARS.contains(&count) || (is_wide && (MIN_WIDE_CHARS..POINT_CHARS.end).contains(&count))
}

fn starts_with_number(line: &str) -> bool {
    let line = line.trim_start_matches('*');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (1..=2).contains(&digits) && line[digits..].starts_with(['.', ')'])
}

fn leads_to_open(line: &str) -> bool {
    let lower = text::plain(line).to_lowercase().replace('’', "'");
    // Of several ways one is to be chosen: that is a question, and none of them is a step.
    if text::contains_any(
        &lower,
        &["option", "choice", "approaches", "two ways", "선택지", "후보", "選択肢", "候補", "考えられる", "选项"],
    ) {
        return false;
    }
    // "The remaining usages are intentional": what is as it should be is not open.
    let is_kept = lower.contains("remain") && text::contains_any_words(&lower, KEPT);
    !is_kept && (is_open_heading(&lower) || text::contains_any(&lower, LEADS))
}

/// Returns whether a sentence in lower case says that something waits for somebody, or is not done.
fn waits(lower: &str) -> bool {
    // What would be if something else happened is no state.
    let is_condition = ["if ", "in that case", "in this case"].iter().any(|opening| lower.starts_with(opening))
        || lower.starts_with("your call")
        || lower.starts_with("say the word")
        || text::contains_any(lower, &["if you need", "if you ever need", ", but now "])
        || text::contains_any(lower, COURTESIES)
        || is_case(lower);
    let said = without_quotations(lower);
    !is_condition && !lower.ends_with(['?', '？']) && text::contains_any_words(&said, WAITS) && !is_of_program(&said)
}

/// Returns whether a sentence in lower case only says for what a program waits, or what it runs: "The drawer is waiting for the key".
fn is_of_program(lower: &str) -> bool {
    const RUNS: [&str; 3] = ["waiting for", "waiting on", "still running"];
    // Who waits, or for whom: then it is the work that waits.
    const OF_WORK: [&str; 30] = [
        "you",
        "your",
        "you're",
        "i",
        "i'm",
        "we",
        "we're",
        "user",
        "review",
        "reviewer",
        "approval",
        "merge",
        "pr",
        "ci",
        "checks",
        "check",
        "build",
        "job",
        "workflow",
        "release",
        "agent",
        "agents",
        "test",
        "tests",
        "suite",
        "decision",
        "answer",
        "background",
        "ack",
        "upstream",
    ];
    let others = || WAITS.iter().filter(|sign| !RUNS.contains(sign)).any(|sign| text::contains_any_words(lower, &[*sign]));
    let opens = || ["waiting", "still"].iter().any(|word| text::starts_with_words(lower, word));
    text::contains_any_words(lower, &RUNS) && !text::contains_any_words(lower, &OF_WORK) && !opens() && !others()
}

/// Returns a sentence without what stands between corner brackets: those are other words.
fn without_quotations(sentence: &str) -> Cow<'_, str> {
    if !sentence.contains('「') {
        return Cow::Borrowed(sentence);
    }
    let outside = sentence.split('「').enumerate().map(|(at, part)| match part.split_once('」') {
        Some((_, rest)) if at > 0 => rest,
        _ => part,
    });
    Cow::Owned(outside.collect())
}

/// Returns whether a sentence in lower case says what holds in the case that something is not there yet: "shown only if not yet paid",
/// "Not yet paid: it is shown".
fn is_case(lower: &str) -> bool {
    const MAX_LABEL_CHARS: usize = 30;
    let is_label = lower
        .split_once(": ")
        .is_some_and(|(label, _)| label.starts_with("not yet ") && label.chars().count() <= MAX_LABEL_CHARS);
    // "added only if their path hasn't been seen"
    let of_case = |(before, _): (&str, &str)| {
        let clause = before.rsplit([',', ';', ':']).next().unwrap_or_default();
        text::contains_any_words(clause, &["if", "unless", "until", "when", "whether"])
    };
    let mut negatives = [" hasn't been", " haven't been"].iter().filter_map(|words| lower.split_once(words));
    let is_negative_case = negatives.any(of_case);
    is_label
        || is_negative_case
        || lower
            .split_once(" yet")
            .and_then(|(before, _)| before.rsplit_once(" if "))
            .is_some_and(|(_, case)| text::contains_words(case, "not") || case.contains("n't"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_yet_is_open_unless_it_is_only_a_case() {
        assert_eq!(
            open_points("The receipt of the till is not yet printed."),
            ["The receipt of the till is not yet printed."]
        );
        assert!(open_points("The name of the till only if the receipt is not yet printed.").is_empty());
        assert!(open_points("The till answers:\n\n- **Paid**: it opens\n- **Not yet paid**: shows the total").is_empty());
    }

    #[test]
    fn what_a_program_waits_for_is_not_open() {
        assert!(open_points("The drawer holds the line open, waiting for the next slip, so nothing is printed.").is_empty());
        assert!(open_points("So every till is still running the old count of the day.").is_empty());
        assert!(open_points("It fails at once instead of waiting for the shop to open.").is_empty());
        for said in ["The till is waiting for your key of the drawer.", "CI of the till is still running on the branch."] {
            assert_eq!(open_points(said), [said]);
        }
    }

    #[test]
    fn what_is_open_takes_fewer_characters_in_scripts_that_say_more_in_one() {
        assert_eq!(open_points("レシートの印刷はまだ手動です。"), ["レシートの印刷はまだ手動です。"]);
        assert_eq!(open_points("`cart.ts` を直しました。返金の丸めは未実装です。"), ["返金の丸めは未実装です。"]);
        assert_eq!(open_points("영수증에 날짜를 넣었습니다. 환불 영수증은 미구현입니다."), ["환불 영수증은 미구현입니다."]);
        assert!(open_points("未実装の丸めを実装しました。").is_empty());
        assert_eq!(open_points("**다음 단계**\n- [ ] 서랍의 영수증 인쇄"), ["서랍의 영수증 인쇄"]);
        assert!(open_points("ほかに直したい点があれば教えてください。").is_empty());
        assert_eq!(open_points("**今後の課題**:\n- 引き出しの確認が未対応です\n- 印刷"), ["引き出しの確認が未対応です"]);
    }

    #[test]
    fn an_item_without_words_is_no_point() {
        for item in ["1. ```\ngit push\n```", "3. `", "- **", "- "] {
            assert!(open_points(&format!("## Next steps\n\n{item}")).is_empty(), "{item}");
            assert!(open_questions(&format!("## Open questions\n\n{item}")).is_empty(), "{item}");
        }
    }

    #[test]
    fn words_in_brackets_are_no_state() {
        assert!(open_points("レシートには「まだ支払われていない」という印が付きます。").is_empty());
        assert_eq!(open_points("レシートの印刷と税の計算はまだ確認されていません。").len(), 1);
    }

    #[test]
    fn what_remains_as_it_should_be_is_not_open() {
        assert!(
            open_points("The remaining sums are intentional:\n- **Receipts** (`print`) - rounded by the till").is_empty()
        );
        assert_eq!(open_points("Remaining:\n- `print` rounds the receipt by hand"), ["`print` rounds the receipt by hand"]);
        assert!(open_points("The guide says that the numbers change after a rebase/force-push of the branch.").is_empty());
    }

    #[test]
    fn the_open_questions_of_a_document() {
        let document = "# Tills\n\n## Open Questions\n\n1. **Rounding** - Does the till round each line? It does today.\n2. **Names**\n\n## Steps\n\n- Why is the tax a rate of the country?\n";
        assert_eq!(open_questions(document), ["Rounding - Does the till round each line?"]);
    }

    #[test]
    fn items_below_a_line_that_says_so() {
        let answer = "The cart is rounded.\n\nTwo things for you:\n1. Merge the branch `cart` before the release. It has no \
                      conflicts.\n2. Set `TAX_RATE` on the server.\n\nAll 12 tests pass.";
        assert_eq!(
            open_points(answer),
            ["Merge the branch `cart` before the release. It has no conflicts.", "Set `TAX_RATE` on the server."]
        );
        let proof = "**What it did not prove:**\n- whether the total is shown on a phone\n\n**What changed:**\n- the total is rounded";
        assert_eq!(open_points(proof), ["whether the total is shown on a phone"]);
    }

    #[test]
    fn what_a_document_lists() {
        let document = "# Handoff\n\nYou should read this.\n\n## Done\n\n- the cart is rounded to two decimals\n\n## Next step\n\n\
                        Run `npm run e2e` against the staging server.\n\n## Open questions\n\n- whether the tax is shown twice on a phone\n";
        assert_eq!(
            listed_points(document),
            ["Run `npm run e2e` against the staging server.", "whether the tax is shown twice on a phone"]
        );
    }

    #[test]
    fn where_the_work_stands() {
        let document = "# Handoff\n\n## Where things stand\n\nThe cart is rounded and deployed.\nAll tests pass.\n\n## Next step\n\nThe mail.\n";
        assert_eq!(status(document), "The cart is rounded and deployed.\nAll tests pass.");
        assert_eq!(status("# Handoff\n\n## Status\nDeployed.\n"), "Deployed.");
        assert_eq!(status("# Handoff\n\nThe cart is rounded.\n"), "");
    }

    #[test]
    fn what_the_agent_waits_for() {
        let answer = "The branch is pushed. Waiting on the build of the till, then I'll deploy it.";
        assert_eq!(open_points(answer), ["Waiting on the build of the till, then I'll deploy it."]);
        let until = "I'll hold off merging until the reviewers answer — say the word when I shall look.";
        assert_eq!(open_points(&format!("The branch is pushed. {until}")), [until]);
        let code = "Code of one agent that is still in `till.rs`:\n- `Total`: what the customer pays for all\n- `Tax`: what the state gets of it";
        assert_eq!(open_points(code), [""; 0]);
    }

    #[test]
    fn of_several_ways_none_is_a_step() {
        let answer =
            "There are two options left:\n- Hold the update back and warn about it.\n- Ask before each update is written.";
        assert!(open_points(answer).is_empty());
    }

    #[test]
    fn what_is_only_advised_or_thought_of_is_not_open() {
        assert!(open_points("税率が気になるようであれば、レジの設定を確認してください。").is_empty());
        let ways = "次のステップとして考えられるのは:\n- レシートの表に税の列を追加する\n- 合計の丸めを表にする";
        assert!(open_points(ways).is_empty());
        assert_eq!(open_points("レジの設定とレシートの印刷はまだ確認されていません。").len(), 1);
    }

    #[test]
    fn sentences_that_wait_for_somebody() {
        let answer = "Both branches are rebased. They will need a force-push when you're ready. Let me know if you have any questions.";
        assert_eq!(
            open_points(answer),
            ["Both branches are rebased. They will need a force-push when you're ready."],
            "a pronoun takes what it points to"
        );
        assert!(open_points("The total is rounded. All tests pass.").is_empty());
        assert!(open_points("If it still fails, you need to restart the server.").is_empty());
        assert!(open_points("In that case you should fall back to the drawer of the other till.").is_empty());
        assert!(open_points("Receipts are added only if their number hasn't been seen before.").is_empty());
    }
}
