//! What the sections of a document decide and find: a plan, a sub-agent's report, or a long answer.

use super::heading::is_pointer;
use super::insight::is_stray;
use super::narration::is_narration;
use super::proposal::is_speculation;
use crate::query::form::PromptForm;
use crate::text;

/// Headings below which decisions stand.
const DECISIONS: &[&str] = &[
    "decision",
    "decisions",
    "decided",
    "결정",
    "결정사항",
    "決定",
    "決定事項",
    "設計判断",
    "決まったこと",
    "决定",
    "决策",
];

/// Headings that say of every item below them that it was left out.
const SCOPES: &[&str] = &["not doing", "not included", "non-goals", "non goals", "out of scope", "alternatives"];

/// Headings below which stands what was weighed and left out, and why.
const LEFT_OUT: &[&str] = &[
    "why no",
    "why not",
    "제외",
    "하지 않는",
    "범위 밖",
    "대안",
    "対象外",
    "やらない",
    "スコープ外",
    "代替案",
    "不做",
    "范围外",
    "备选",
];

/// Headings below which stands how it is or was, and how it will be checked: nothing that is chosen.
const NOT_CHOSEN: &[&str] = &[
    "context",
    "background",
    "problem",
    "cause",
    "issue",
    "bug",
    "current",
    "verification",
    "verify",
    "test",
    "tests",
    "testing",
    "배경",
    "문제",
    "원인",
    "현재",
    "검증",
    "테스트",
    "背景",
    "問題",
    "原因",
    "現状",
    "検証",
    "テスト",
    "问题",
    "验证",
];

/// Headings below which stands what surprises. What is only found ("Key findings") is mostly an inventory of the code.
const FINDINGS: &[&str] = &[
    "critical",
    "caveat",
    "caveats",
    "risk",
    "risks",
    "gotcha",
    "gotchas",
    "pitfall",
    "pitfalls",
    "limitation",
    "limitations",
    "insight",
    "known issues",
    "warning",
    "warnings",
    "주의",
    "주의사항",
    "위험",
    "한계",
    "注意",
    "注意点",
    "リスク",
    "制約",
    "风险",
    "限制",
];

/// Words with which a sentence says what is taken in the place of what.
const CONTRASTS: &[&str] = &["instead of", "rather than", "대신", "ではなく", "代わりに", "而不是"];

/// Words of a statement about what is wrong or unexpected.
const FAULTS: &[&str] = &[
    "not", "no", "never", "invalid", "empty", "missing", "broken", "wrong", "only", "must", "cannot", "fails", "silently",
    "doesn't", "isn't", "aren't", "않", "없", "실패", "만 ", "ない", "失敗", "のみ", "不", "没有",
];

/// Ends of a line that asks, or that leads to the next one.
const UNFINISHED: [char; 4] = ['?', '？', ':', '：'];

/// The maximum number of decisions, of sentences with a contrast among them, and of findings that are taken from one document.
const MAX_DECISIONS: usize = 4;
const MAX_CONTRASTS: usize = 1;
const MAX_FINDINGS: usize = 2;

/// The maximum length of what is taken, in characters.
const MAX_ITEM_CHARS: usize = 300;

/// The level of a line that leads to a list, below all headings, and its maximum length in characters.
const LEAD: usize = usize::MAX;
const MAX_LEAD_CHARS: usize = 60;

/// One line of prose, with the headings that it stands below.
pub(super) struct Line<'a> {
    pub text: &'a str,
    /// The headings in lower case, the outermost first. The document's title is none of them.
    pub headings: Vec<String>,
}

impl Line<'_> {
    pub(super) fn is_below(&self, words: &[&str]) -> bool {
        self.headings.iter().any(|heading| text::contains_any_words(heading, words))
    }

    /// Returns whether the line is an item of a list's outermost level.
    fn is_item(&self) -> bool {
        begins_item(self.text)
    }
}

/// Returns whether a line begins like an item of a list.
fn begins_item(line: &str) -> bool {
    line.starts_with(['-', '*', '•']) || line.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the lines of a document that are neither headings nor code nor rows of a table.
pub(super) fn lines(document: &str) -> Vec<Line<'_>> {
    let mut all = Vec::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut is_code = false;
    for line in document.lines() {
        let bare = line.trim();
        let is_fence = bare.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || bare.is_empty() || bare.starts_with('|') {
            continue;
        }
        let is_item = begins_item(bare);
        // A line that leads to a list of decisions is as good as a heading, until the next paragraph.
        let leads = !is_item && bare.ends_with([':', '：']) && bare.chars().count() <= MAX_LEAD_CHARS && {
            let lower = bare.to_lowercase();
            text::contains_any_words(&lower, DECISIONS)
        };
        if !is_item && !line.starts_with([' ', '\t']) {
            open.retain(|(depth, _)| *depth != LEAD);
        }
        if leads {
            open.push((LEAD, text::plain(bare).to_lowercase()));
            continue;
        }
        let marks = bare.bytes().take_while(|byte| *byte == b'#').count();
        let is_bold = bare.starts_with("**") && bare.trim_end_matches([':', '：']).ends_with("**");
        if marks > 0 || is_bold {
            // A line in bold print is a heading of the lowest level.
            let depth = if marks > 0 { marks } else { LEAD - 1 };
            open.retain(|(known, _)| *known < depth);
            if marks != 1 {
                open.push((depth, text::plain(bare).to_lowercase()));
            }
            continue;
        }
        all.push(Line { text: line, headings: open.iter().map(|(_, heading)| heading.clone()).collect() });
    }
    all
}

/// Words of headings below which stands what is wrong.
const WRONG_TODAY: &[&str] =
    &["issue", "issues", "problem", "problems", "bug", "bugs", "findings", "root cause", "문제", "問題", "问题"];

/// Returns the decisions of a document: the items below a heading that says so, what it leaves out, and the sentences that take one
/// thing in the place of another and say why.
pub(in crate::extract) fn decisions(document: &str) -> Vec<String> {
    let lines = lines(document);
    let mut all = Vec::new();
    for line in lines.iter().filter(|line| line.is_item()) {
        // How the product decides is no decision about it.
        let is_of_product = line.is_below(&["criteria", "tree", "framework", "logic"]);
        let is_scope = line.is_below(SCOPES);
        let is_left_out = is_scope || line.is_below(LEFT_OUT);
        if is_of_product || !(line.is_below(DECISIONS) || is_left_out) {
            continue;
        }
        let item = text::plain(line.text);
        // Why something is not done says what there is already, or what it is weighed against.
        let lower = item.to_lowercase();
        let is_reason = !item.is_ascii()
            || ["already", "nothing", "vs", "enough", "sufficient"]
                .iter()
                .chain(FAULTS)
                .any(|word| text::contains_words(&lower, word));
        if is_left_out && !line.is_below(DECISIONS) && !is_scope && !is_reason {
            continue;
        }
        let is_told = item.chars().count() >= if item.is_ascii() { 20 } else { 10 } && !item.ends_with(UNFINISHED);
        if is_told && !is_state_today(&lower) {
            // What stands alone in such a list would read as if it were done.
            let heading = line.headings.iter().rev().find(|heading| !heading.starts_with("why")).filter(|_| is_left_out);
            let item = heading.map_or_else(|| item.clone(), |heading| format!("{}: {item}", text::capitalized(heading)));
            push_new(&mut all, text::clip(&item, MAX_ITEM_CHARS).into_owned());
        }
    }
    let contrasts: Vec<String> = lines
        .iter()
        // What is wrong today is no choice: "returns nothing instead of an error".
        .filter(|line| !line.is_below(NOT_CHOSEN) && !line.is_below(WRONG_TODAY) && !names_position(line.text))
        .flat_map(|line| text::sentences(&text::plain(line.text)))
        .filter(|sentence| states_contrast(sentence) && gives_reason(sentence))
        .take(MAX_CONTRASTS)
        .collect();
    for sentence in contrasts {
        push_new(&mut all, sentence);
    }
    all.truncate(MAX_DECISIONS);
    all
}

/// Returns whether an item of a list of decisions, in lower case, only says what there is already.
fn is_state_today(lower: &str) -> bool {
    const STATES: [&str; 10] = [
        "already works",
        "already exists",
        "already exist",
        "already supports",
        "already handles",
        "already has",
        "no change needed",
        "no changes needed",
        "이미 있",
        "既にあ",
    ];
    text::contains_any(lower, &STATES)
        && !text::contains_any_words(lower, &["use", "reuse", "keep", "so", "since", "if", "when"])
}

/// Returns the decisions of an answer: only the items below a heading that says so.
pub(in crate::extract) fn declared_decisions(answer: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in lines(answer).iter().filter(|line| line.is_item() && line.is_below(DECISIONS)) {
        let item = text::plain(line.text);
        let length = item.chars().count();
        let least = if item.is_ascii() { 30 } else { 15 };
        if length >= least
            && !item.ends_with(UNFINISHED)
            && !is_state_today(&item.to_lowercase())
            && !line.is_below(&["open", "pending", "needed", "when", "미결", "未決"])
        {
            push_new(&mut all, text::clip(&item, MAX_ITEM_CHARS).into_owned());
        }
    }
    all.truncate(MAX_DECISIONS);
    all
}

/// Returns what a document says below a heading of findings: statements that name something and say what is wrong with it.
pub(in crate::extract) fn findings(document: &str) -> Vec<String> {
    let mut all = Vec::new();
    // What a report quotes is another document's.
    let is_quoted = |line: &&Line<'_>| line.text.trim_start().starts_with('>');
    for line in lines(document).iter().filter(|line| line.is_below(FINDINGS) && !is_quoted(line)) {
        // What follows in a line explains its first statement.
        if let Some(said) = text::sentences(&text::plain(line.text)).into_iter().find(|said| warns(said)) {
            push_new(&mut all, said);
        }
    }
    all.truncate(MAX_FINDINGS);
    all
}

/// Returns whether a sentence names something, says what is wrong with it, and can be understood alone.
fn warns(said: &str) -> bool {
    let lower = text::lower(said);
    let least = if said.is_ascii() { 40 } else { 20 };
    let is_english = text::language(said) == text::Language::English;
    let end = said.trim_end_matches(['.', '。', '!', '！']);
    // An order from a report is nobody's word.
    let is_order = (is_english && PromptForm::of(said).orders)
        || ["하세요", "주세요", "해줘", "ください", "こと"].iter().any(|ending| end.ends_with(ending));
    let names = said.contains('`') || super::heading::file_in(said).is_some();
    // A word of a name says nothing: `Till_NotOpen` is a test.
    let words: String = without_asides(&lower).split('`').step_by(2).collect();
    let is_alone = !is_pointer(&lower)
        && !text::contains_any_words(&lower, &["you", "i", "my", "instead", "since"])
        && !said.ends_with(UNFINISHED);
    names
        && is_alone
        && !is_of_inventory(said)
        && !is_bare_condition(&lower)
        && !is_order
        && !is_stray(&lower)
        && text::contains_any_words(&words, FAULTS)
        && (least..=MAX_ITEM_CHARS).contains(&said.chars().count())
}

/// Returns a text without what stands in parentheses behind its first word.
fn without_asides(said: &str) -> String {
    let mut depth = 0_usize;
    let mut kept = String::new();
    for c in said.chars() {
        match c {
            '(' if !kept.is_empty() => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    // A bracket that is never closed is no aside.
    if depth == 0 { kept } else { said.to_owned() }
}

/// Returns whether a sentence in lower case is a condition without what follows from it.
fn is_bare_condition(lower: &str) -> bool {
    let opens = ["if ", "when ", "unless "].iter().any(|word| lower.starts_with(word));
    opens && !lower.contains(", ") && !lower.contains(" then ")
}

/// Returns whether a sentence is an entry of a list of files, with a remark behind its dash: "`src/cart.ts` — the only file to change".
fn is_of_inventory(said: &str) -> bool {
    let Some((name, rest)) =
        said.trim_start_matches(['-', '*', ' ']).strip_prefix('`').and_then(|rest| rest.split_once('`'))
    else {
        return false;
    };
    let is_path = name.contains('/') || super::heading::file_in(name).as_deref() == Some(name);
    is_path && rest.trim_start().starts_with(['-', '–', '—'])
}

/// Returns whether a sentence orders to change what there is today: a step, of which the outcome tells what came of it. What it names
/// behind "instead of" is how things are, and was not turned down.
fn orders_change(lower: &str) -> bool {
    const VERBS: [&str; 7] = ["change", "update", "replace", "modify", "rename", "pass", "log"];
    let bare = lower.trim_start_matches(|c: char| !c.is_alphabetic());
    VERBS.iter().any(|verb| text::starts_with_words(bare, verb))
}

/// Returns whether a line says at which line of a file something is to be changed: a step of the work.
fn names_position(line: &str) -> bool {
    text::contains_any(line, &["(line ", "(lines ", "(~line", "(at line", "(L1", "(L2", "(L3"])
}

/// Returns whether a sentence says what is taken in the place of what, and can be understood alone.
fn states_contrast(sentence: &str) -> bool {
    let lower = text::lower(sentence);
    let length = sentence.chars().count();
    let least = if sentence.is_ascii() { 40 } else { 20 };
    (least..=240).contains(&length)
        && text::contains_any(&lower, CONTRASTS)
        && !CONTRASTS.iter().any(|sign| lower.starts_with(sign))
        && !lower.starts_with("not ")
        && !orders_change(&lower)
        && !is_of_inventory(sentence.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' ')))
        && !sentence.ends_with(UNFINISHED)
        && !text::contains_any(&lower, &["currently", "at the moment", "right now", "현재", "現在", "目前"])
        && !is_pointer(&lower)
        && !is_speculation(&lower)
        && !is_narration(sentence)
}

/// Returns whether a sentence says why, if only in brackets, or how things will be from now on. Another step of a plan is told by what was
/// done.
fn gives_reason(sentence: &str) -> bool {
    const REASONS: [&str; 10] =
        ["because", "since", "so that", "so the", "so it", "to avoid", "to keep", "as it", "as the", "now"];
    let in_brackets = sentence.trim_end_matches(['.', '。']).strip_suffix([')', '）']);
    // Other scripts give the reason in other forms, and so does a dash.
    !sentence.is_ascii()
        || in_brackets.is_some_and(|rest| rest.rsplit(['(', '（']).next().is_some_and(|reason| reason.contains(' ')))
        || text::contains_any_words(&sentence.to_lowercase(), &REASONS)
}

fn push_new(all: &mut Vec<String>, item: String) {
    let features = text::features(&item);
    if all.iter().all(|known| text::similarity(&text::features(known), &features) < 0.6) {
        all.push(item);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::extract::prose) const PLAN: &str = "# Plan: prices in cents\n\n## Context\nThe cart uses floats instead of integers and loses cents today.\n\n\
    ## Approach\nStore every price as an integer of cents. Tests follow.\n\n- Round once in `src/cart/total.ts` rather than in every line of the cart, so that no cent is lost\n\n\
    ## Critical Notes\n- The old page shows it. `assets/euro.svg` is empty: it holds an error page\n- Prices look nicer now\n\n\
    ## Why no migration\n- `orders` already stores integers of cents\n- Styles use the `btn` class of the page\n\n## Out of scope\n- Prices in other currencies than euro\n\n\
    ## Verification\n1. The total shows cents instead of floats in the browser\n";

    #[test]
    fn a_plan_decides_by_contrast_and_by_what_it_leaves_out() {
        assert_eq!(
            decisions(PLAN),
            [
                "`orders` already stores integers of cents",
                "Out of scope: Prices in other currencies than euro",
                "Round once in `src/cart/total.ts` rather than in every line of the cart, so that no cent is lost",
            ]
        );
        let step = "## Steps\n- Round once in `src/cart/total.ts` rather than in every line of the cart";
        assert!(decisions(step).is_empty(), "a step is told by what was done");
        let korean = "## 설계 결정\n- 캐시는 메모리 대신 파일에 저장한다\n\n## 배경\n- 지금은 파일 대신 메모리에 저장되고 있어서 느리다";
        assert_eq!(decisions(korean), ["캐시는 메모리 대신 파일에 저장한다"]);
        let state = "## Key decisions\n- Server: `DELETE /cart` already works for carts that are empty\n- Keep `/cart`, which already works\n\n\
    ## Steps\n- Change `sumCart()` to return cents instead of euros\n\
    - Use `cents` instead of `euros` in: `sumCart()` (line ~828), `drawCart()`\n\
    Not a loss of coins, just two slips instead of one.\n\
    - `cart/total.ts` — `sumCart()`: use the cents of the cart instead of counting them again\n";
        assert_eq!(decisions(state), ["Keep `/cart`, which already works"]);
        let japanese = "## 方針\n合計は各行ではなく最後に一度だけ丸めることにして、誤差をなくす。";
        assert_eq!(decisions(japanese), ["合計は各行ではなく最後に一度だけ丸めることにして、誤差をなくす。"]);
    }

    #[test]
    fn an_answer_decides_only_below_a_heading_that_says_so() {
        let answer = "The cart is done.\n\n**Design decisions worth knowing:**\n- `round()` is called once, not in every line\n\n\
    **Notes**\n- The cart uses `cents` instead of floats everywhere";
        assert_eq!(declared_decisions(answer), ["`round()` is called once, not in every line"]);
        let state = "## Key decisions\n- Server: `DELETE /cart` already works for carts that are empty";
        assert!(declared_decisions(state).is_empty());
        let led = "Done.\n\nDesign decisions worth knowing:\n\n- `round()` is called once, not in every line\n\nThe rest:\n- all prices are integers of cents now";
        assert_eq!(declared_decisions(led), ["`round()` is called once, not in every line"]);
        assert!(
            declared_decisions("**When the decision is made:**\n- Each time the cart is opened by a customer").is_empty()
        );
        assert!(declared_decisions("## Open decisions\n- Whether the cart rounds up or down at the end").is_empty());
    }

    #[test]
    fn a_finding_names_something_and_what_is_wrong_with_it() {
        assert_eq!(findings(PLAN), ["`assets/euro.svg` is empty: it holds an error page"]);
        let report = "### 주의사항\n- `build.sh`는 `assets/` 폴더를 복사하지 않으므로 배포하면 그림이 없다\n";
        assert_eq!(findings(report).len(), 1);
        assert_eq!(
            findings("## 注意点\n- `assets/` はビルドでコピーされないため、本番では画像が表示されません。\n").len(),
            1
        );
        let inventory =
            "## Critical files\n- `src/cart/total.ts` — the only file to change\n- `docs/cart/` - Target folder (empty now)";
        assert!(findings(inventory).is_empty(), "a list of files finds nothing");
        assert!(findings("## Risks\n- If a user edits `src/cart.ts` by hand and does not save it\n").is_empty());
        let orders = "## Warnings\n- Run `tools/upload.sh` before every commit, or nothing works\n- You cannot commit without `tools/upload.sh`";
        assert!(findings(orders).is_empty(), "a report gives no orders");
        let quoted = "## Risks\n> - `till open` can no longer find the drawer of yesterday\n";
        assert!(findings(quoted).is_empty(), "that is another document's");
        let names = "## Risks\n- Drawer tests are listed: `TestDrawer_NotOpen`, `TestDrawer_Empty`\n";
        assert!(findings(names).is_empty(), "a word of a name is no fault");
    }
}
