//! What an answer leaves open: what somebody still has to do, to decide or to check.

use super::heading::{is_heading, is_pointer};
use super::is_open_heading;
use super::narration::is_narration;
use super::waits::waits;
use crate::extract::signs;
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
    "known gap",
    "manual step",
    "manual setup",
    "required setup",
    "setup required",
    "action required",
    "actions required",
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

/// Words of a line below which stands what the work does not do. Other items below it only explain the work.
const LIMITS: &[&str] = &["caveat", "known limitation"];

/// Words of an item that says what something does not do.
const NEGATIONS: &[&str] =
    &["does not", "do not", "is not", "are not", "was not", "were not", "cannot", "not yet", "never", "lacks", "missing"];

/// Signs of a heading above what is done.
pub(super) const DONE: &[char] = &['✅', '✔', '✓', '☑'];

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
    let mut points = Points::default();
    let mut previous = String::new();
    let (mut below, mut is_assumed, mut is_fresh) = (Below::Other, false, false);
    for line in text::prose_lines(answer) {
        if line.starts_with('|') {
            continue;
        }
        let is_item = line.starts_with(['-', '*', '•', '+']) && !line.starts_with("**") || starts_with_number(line);
        let is_lead = text::plain(line).ends_with([':', '：']);
        if !is_item && (is_heading(line) || is_lead) {
            below = Below::of_heading(line);
            is_assumed = !with_sentences && is_of_assumptions(line);
            is_fresh = line.starts_with('#');
            (previous, points.parent) = (String::new(), String::new());
            continue;
        }
        // A paragraph ends the list of an answer, unless it stands right below a heading. In a document it may be all that stands there.
        let belongs = is_item || !with_sentences || (is_fresh && !is_offered(line));
        let here = if belongs { below } else { Below::Other };
        if !is_item && with_sentences {
            below = Below::Other;
        }
        is_fresh = false;
        let sentences = text::sentences(line);
        let Some(first) = sentences.first() else { continue };
        if here.tells(line) {
            let point = sentences.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" ");
            let point = if is_of_length(&point) { &point } else { first };
            points.add_item(point, starts_with_number(line), is_assumed);
        } else if with_sentences {
            for sentence in &sentences {
                let lower = text::lower(sentence).replace('’', "'");
                if waits(&lower) {
                    points.add(sentence, if is_pointer(&lower) { &previous } else { "" }, false);
                }
                previous.clone_from(sentence);
            }
        }
    }
    points.all(with_sentences)
}

/// What stands below a heading, or a line that leads to a list.
#[derive(Clone, Copy)]
enum Below {
    /// What is open.
    Open,
    /// What the work does not do.
    Limits,
    /// Anything else.
    Other,
}

impl Below {
    /// Returns what stands below a heading or another line that leads to a list.
    fn of_heading(line: &str) -> Self {
        if line.contains(DONE) {
            Below::Other
        } else if leads_to_open(line) {
            Below::Open
        } else if text::contains_any(&line.to_lowercase(), LIMITS) {
            Below::Limits
        } else {
            Below::Other
        }
    }

    /// Returns whether an item that stands there is open.
    fn tells(self, item: &str) -> bool {
        match self {
            Below::Open => true,
            Below::Limits => {
                let lower = item.to_lowercase().replace('’', "'");
                lower.contains("n't ") || text::contains_any_words(&lower, NEGATIONS)
            }
            Below::Other => false,
        }
    }
}

/// The points that were found so far.
#[derive(Default)]
struct Points {
    found: Vec<String>,
    /// What is only assumed.
    assumed: Vec<String>,
    /// The numbered item that leads to the items below it. May be empty.
    parent: String,
}

impl Points {
    /// Adds an item of a list, with the numbered item that leads to it.
    fn add_item(&mut self, item: &str, is_numbered: bool, is_assumed: bool) {
        if is_numbered {
            self.parent = if item.ends_with([':', '：']) { item.to_owned() } else { String::new() };
        }
        if is_numbered || self.parent.is_empty() {
            self.add(item, "", is_assumed);
            return;
        }
        let all = if is_assumed { &mut self.assumed } else { &mut self.found };
        match all.last_mut().filter(|last| last.starts_with(self.parent.as_str())) {
            Some(last) if last.chars().count() + item.chars().count() < POINT_CHARS.end => {
                *last = format!("{last}; {item}");
            }
            Some(_) => {}
            None => all.push(format!("{} {item}", self.parent)),
        }
    }

    fn add(&mut self, point: &str, subject: &str, is_assumed: bool) {
        // What the agent was waiting for when it ended is open.
        const WAITING: [&str; 7] =
            ["Waiting on ", "Waiting for ", "I'll hold", "I will hold", "I'll wait", "I will wait", "Holding off"];
        let all = if is_assumed { &mut self.assumed } else { &mut self.found };
        let point = point.strip_prefix("[ ] ").unwrap_or(point);
        let says = !is_narration(point) || WAITING.iter().any(|opening| point.starts_with(opening));
        let is_told = is_of_length(point) && !point.ends_with([':', '：']) && says;
        if is_told && !all.iter().any(|known| known.contains(point)) {
            let has_room = !subject.is_empty() && subject.chars().count() <= MAX_SUBJECT_CHARS;
            all.push(if has_room { format!("{subject} {point}") } else { point.to_owned() });
        }
    }

    /// Returns the points, what is only assumed last. Of an answer the last ones are kept, and of a document the first.
    fn all(mut self, is_answer: bool) -> Vec<String> {
        if is_answer {
            let extra = self.found.len().saturating_sub(MAX_POINTS);
            self.found.drain(..extra);
        }
        self.found.extend(self.assumed);
        self.found.truncate(MAX_POINTS);
        self.found
    }
}

/// Returns whether a paragraph offers something, or says that there is nothing.
fn is_offered(line: &str) -> bool {
    let lower = text::plain(line).to_lowercase();
    signs::is_offer(&lower) || ["you can", "you may", "none", "nothing", "no "].iter().any(|it| lower.starts_with(it))
}

/// Returns whether a heading stands above what nobody has checked.
fn is_of_assumptions(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    text::contains_any(&lower, &["assum", "not verified", "unverified", "검증되지", "가정", "未確認", "未验证"])
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
    // Of a paragraph that ends with a colon its last sentence leads to the list.
    let last = text::sentences(line).pop().unwrap_or_default();
    let lower = text::plain(&last).to_lowercase().replace('’', "'");
    // Of several ways one is to be chosen: that is a question, and none of them is a step.
    if text::contains_any(
        &lower,
        &["option", "choice", "approaches", "two ways", "선택지", "후보", "選択肢", "候補", "考えられる", "选项"],
    ) {
        return false;
    }
    // "The remaining usages are intentional": what is as it should be is not open.
    let is_kept = lower.contains("remain") && text::contains_any_words(&lower, KEPT);
    let leads = text::contains_any(&lower, LEADS) || text::contains_words(&lower, "yours");
    !is_kept && (is_open_heading(&lower) || leads)
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
    fn what_is_below_a_heading_of_done_work_or_only_explains_it_is_not_open() {
        assert!(open_points("### ✅ Remaining slips\n- `till.rs`: the slip names the shop of the till").is_empty());
        let caveats = "Two caveats:\n- The sum is rounded, so it may be a cent more\n- The slip does not name the shop";
        assert_eq!(open_points(caveats), ["The slip does not name the shop"]);
        assert!(open_points("Once it is printed, you should see the total on the slip of the shop.").is_empty());
        assert_eq!(open_points("You should order paper for the till soon.").len(), 1);
    }

    #[test]
    fn the_steps_that_are_left_to_the_user() {
        let setup = "**Required setup (manual steps):**\n1. Order the paper of the till\n2. Tell the till its names:\n   - `SHOP`\n   - `TOWN`\n";
        assert_eq!(open_points(setup), ["Order the paper of the till", "Tell the till its names: `SHOP`; `TOWN`"]);
        let left = "### What's left\n\n**The drawer.** Somebody has to open it by hand.\n\nAll tests pass.";
        assert_eq!(open_points(left), ["The drawer. Somebody has to open it by hand."]);
        assert!(open_points("### Next steps\n\nYou can print the slips whenever you like.").is_empty());
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
    fn what_a_file_holds_is_not_open() {
        let said = "I wrote the guide. Next time you can look at the remaining till yourself. It holds:";
        assert!(open_points(&format!("{said}\n\n- the faults of the night till and their causes")).is_empty());
        assert_eq!(open_points("The slip is red. Still open:\n\n- the bell of the night till rings twice").len(), 1);
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
}
