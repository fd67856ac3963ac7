//! Signs that a statement is no knowledge: a guess, praise, pasted code, or a state that was still open.

use super::prose;
use crate::text;

/// Words by which somebody guesses.
const GUESSES: &[&str] = &[
    "likely",
    "probably",
    "perhaps",
    "maybe",
    "might",
    "seems",
    "seem to",
    "appears to",
    "i think",
    "i guess",
    "i suspect",
    "i believe",
    "presumably",
    "could be",
    "must be caused",
    "not sure",
    "hypothesis",
    "my guess",
    "it looks like",
    "this looks like",
    "that looks like",
    "should now",
    "should fix",
    "should resolve",
    "should work",
    "should pass",
    "should now pass",
    "should succeed",
    "should be green",
    "것 같",
    "보입니다",
    "보이네요",
    "듯합",
    "듯해",
    "듯하",
    "아마",
    "가능성",
    "수도 있",
    "겠죠",
    "겁니다",
    "はずです",
    "はずだ",
    "ようです",
    "かもしれ",
    "と思われ",
    "と思います",
    "でしょう",
    "可能性",
    "みたいです",
    "らしいです",
    "可能是",
    "也许",
    "大概",
    "应该是",
];

/// Words of a state that was open when they were said.
const OPEN_STATES: &[&str] = &[
    "uncommitted",
    "not committed",
    "nothing committed",
    "nothing is committed",
    "nothing here is committed",
    "not yet",
    "not been committed",
    "not pushed",
    "not been pushed",
    "still fail",
    "still fails",
    "still failing",
    "still failed",
    "still need",
    "still broken",
    "still not",
    "still out",
    "waiting for",
    "waiting on",
    "in progress",
    "still running",
    "until then",
    "to land it",
    "to land this",
    "once it lands",
    "once it's merged",
    "once that merges",
    "once ci",
    "when ci",
    "checks are green",
    "remaining",
    "아직",
    "그때까지",
    "머지되면",
    "머지를 기다리",
    "되지 않은",
    "되지 않았",
    "まだ",
    "それまでは",
    "マージされたら",
    "マージ待ち",
    "未コミット",
    "作られていな",
    "完了しな",
    "失敗しています",
    "还没",
    "尚未",
];

/// Openings of praise and verdicts.
const PRAISE: &[&str] = &[
    "perfect",
    "great",
    "excellent",
    "good ",
    "good!",
    "good,",
    "nice",
    "looks good",
    "look good",
    "awesome",
    "well done",
    "everything looks",
    "everything is",
    "좋습니다",
    "좋네요",
    "완벽",
    "いい感じ",
    "素晴らしい",
    "很好",
    "完美",
];

/// Verdicts that may stand anywhere.
const VERDICTS: &[&str] = &["looks great", "looks good", "looks perfect", "looks clean", "깔끔하게", "きれいです"];

/// Openings of what somebody says on the way to something else.
const ON_THE_WAY: &[&str] = &[
    "wait",
    "actually",
    "hmm",
    "oh,",
    "oh ",
    "ah,",
    "i see",
    "i'll ",
    "i will ",
    "let me",
    "let's ",
    "now ",
    "next,",
    "first,",
    "looking at",
    "needs ",
    "you're right",
    "you are right",
    "good catch",
    "good point",
    "got it",
    "agreed",
    "sure",
    "yes,",
    "ok ",
    "ok,",
    "okay",
    "actually,",
    "아,",
    "아 ",
    "잠깐",
    "먼저",
    "이제",
    "그럼",
    "네,",
    "맞습니다",
    "まず",
    "次に",
    "では",
    "ああ",
    "あ、",
    "待って",
    "なるほど",
    "了解",
    "先に",
    "那么",
    "首先",
    "接下来",
    "好的",
];

/// Openings and headings of what was before a change.
const STATE_BEFORE: &[&str] =
    &["before", "old:", "old ", "previously", "current behavior", "기존", "이전", "변경 전", "以前", "変更前", "之前"];

/// Returns whether a text in lower case belongs to the way, not to what was reached.
pub(super) fn is_on_the_way(lower: &str) -> bool {
    let said = prose::strip_interjection(lower);
    ON_THE_WAY.iter().any(|opening| lower.starts_with(opening) || said.starts_with(opening))
        || text::contains_any_words(lower, &["no wait", "no, wait", "oh wait", "wait, no"])
}

/// Returns whether a text in lower case, below that heading, says how something was before a change.
pub(super) fn is_state_before(lower: &str, heading: &str) -> bool {
    let heading = heading.to_lowercase();
    STATE_BEFORE.iter().any(|sign| lower.starts_with(sign) || heading.starts_with(sign))
}

/// Signs of a failure that was over once it was fixed: a slip in the code that was being written.
const ONE_OFF: &[&str] = &[
    "unused",
    "undefined",
    "not imported",
    "missing import",
    "unused import",
    "unresolved import",
    "not defined",
    "redeclared",
    "already declared",
    "syntax error",
    "lint error",
    "linter complained",
    "errcheck",
    "gosec",
    "goconst",
    "gocritic",
    "noctx",
    "wrapcheck",
    "formatting",
    "typo",
    "type mismatch",
    "wrong number of arguments",
    "replace_all",
    "missing exhaustive",
    "exhaustive switch",
    "error ts",
    "does not exist on type",
    "is not assignable",
    "unparam",
    "added `//nolint",
    "adding `//nolint",
    "is a `//nolint",
    "unnecessary cast",
    "unnecessary_",
    "linter flagged",
    "lint issue",
    "lint warning",
    "lint failure",
    "code duplication",
    "duplicated code",
    "import block",
    "imported and not used",
    "import cycle",
    "type error",
    "compile error",
    "compilation error",
    "misleading comment",
    "string constant",
    "test data",
    "not been read yet",
    "lsp ",
    "pyright",
    "merge conflict",
    "task #",
];

/// Returns whether a text in lower case tells a slip that teaches nothing.
pub(super) fn is_one_off(lower: &str) -> bool {
    text::contains_any(lower, ONE_OFF)
}

/// Returns whether a text in lower case guesses.
pub(super) fn is_guess(lower: &str) -> bool {
    text::contains_any_words(lower, GUESSES)
}

/// Words of a commit, and words of one that was not made.
const COMMITS: &[&str] = &["commit", "committing", "커밋", "コミット", "提交"];
const CHECKS: &[&str] = &["test", "lint", "typecheck", "build", "check", "테스트", "テスト", "测试"];
const FAILURES: &[&str] = &["fail", "fails", "failed", "failing", "blocked", "rejected", "실패", "막혔", "失敗", "失败"];

/// Returns whether a statement is about what is committed and what is not, and not about the work.
pub(super) fn is_about_committing(lower: &str) -> bool {
    const SIGNS: [&str; 12] = [
        "pre-existing change",
        "unstaged",
        "untracked file",
        "remain untouched",
        "left untouched",
        "working tree",
        "to be committed",
        "should be committed",
        "commit created",
        "committed successfully",
        "unrelated to th",
        "are unrelated",
    ];
    text::contains_any(lower, &SIGNS)
}

/// Returns whether a sentence says no more than that a commit was made, or that the checks of its hook passed: the commit and the
/// verdicts of the checks are told as such.
pub(super) fn only_reports_commit(said: &str) -> bool {
    let lower = said.to_lowercase();
    let has = |words: &[&str]| text::contains_any(&lower, words);
    let is_of_hook = has(&["hook", "훅", "フック", "钩子"]) && has(&["pass", "succeed", "통과", "通過", "成功", "通过"]);
    let is_problem = has(&["fail", "not ", "n't ", "block", "실패", "失敗", "失败"]);
    only_says_committed(said) || (is_of_hook && !is_problem && !said.contains('`') && said.chars().count() <= 160)
}

/// Returns whether a sentence says no more than that a commit was made.
fn only_says_committed(said: &str) -> bool {
    let lower = said.to_lowercase();
    // A hash stands where the commit is told.
    let is_hash = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let rest = lower.split_whitespace().filter(|word| !is_hash(word)).collect::<Vec<_>>().join(" ");
    let is_named = rest.contains('`') || rest.bytes().any(|byte| byte.is_ascii_digit());
    rest.chars().count() <= 40 && !is_named && text::contains_any(&lower, COMMITS)
}

/// Returns whether a text in lower case says that a commit was not made.
pub(super) fn is_failed_commit(lower: &str) -> bool {
    const HOOKS: [&str; 2] = ["훅", "フック"];
    const ERRORS: [&str; 3] = ["exit code", "오류", "エラー"];
    let has = |words: &[&str]| text::contains_any_words(lower, words);
    (has(COMMITS) || has(&HOOKS)) && (has(FAILURES) || has(&ERRORS))
}

/// Returns whether a sentence announces that what was listed before it is mended now: "I'll fix both".
pub(super) fn announces_mending(said: &str) -> bool {
    const LEADS: [&str; 6] = ["let me fix", "i'll fix", "i will fix", "fixing", "let me address", "i'll address"];
    const LISTED: [&str; 8] = ["both", "all", "these", "them", "two", "three", "each", "everything"];
    const WIDE_ENDS: [&str; 7] =
        ["修正します", "直します", "対応します", "수정하겠습니다", "고치겠습니다", "반영하겠습니다", "수정할게요"];
    let lower = said.trim().to_lowercase().replace('’', "'");
    let end = lower.trim_end_matches(['.', '。', ':', '：', '!']);
    WIDE_ENDS.iter().any(|words| end.ends_with(words))
        || (LEADS.iter().any(|lead| text::starts_with_words(end, lead)) && text::contains_any_words(end, &LISTED))
}

/// Returns whether a text in lower case says that something is not done yet.
pub(super) fn is_open_state(lower: &str) -> bool {
    let is_awaited = || text::contains_words(lower, "yet") && (text::contains_words(lower, "not") || lower.contains("n't "));
    text::contains_any_words(lower, OPEN_STATES) || is_awaited()
}

/// Words of an offer or of a step that somebody proposes. Once the work has gone on, it was taken up or dropped.
const OFFERS: &[&str] = &[
    "if you want",
    "if you'd like",
    "if needed",
    "if necessary",
    "let me know",
    "just needs to be",
    "worth a",
    "worth adding",
    "simplest fix",
    "simplest improvement",
    "simplest approach",
    "i'll add",
    "i'll update",
    "we could",
    "you could",
    "you can also",
    "필요에 따라",
    "필요하면",
    "필요하시면",
    "원하시면",
    "원하신다면",
    "必要に応じて",
    "必要であれば",
    "よければ",
    "気になるよう",
    "気になる場合",
    "如果需要",
    "如有需要",
];

/// Openings with which somebody gives in to an objection.
const CONCESSIONS: &[&str] = &[
    "you're right",
    "you are right",
    "you're absolutely right",
    "you are absolutely right",
    "fair point",
    "fair enough",
    "good point",
    "good catch",
    "great catch",
    "my mistake",
    "my bad",
    "i was wrong",
    "i misread",
    "i misunderstood",
    "i stand corrected",
    "i was mistaken",
    "i conflated",
    "i overstated",
    "no, i'm not sure",
    "no — i'm not sure",
    "that was wrong",
    "that was my mistake",
    "correction:",
    "apologies",
    "sorry",
    "i apologize",
    "맞습니다",
    "맞네요",
    "그렇네요",
    "말씀하신 대로",
    "말씀이 맞",
    "맞는 말씀",
    "맞는 지적",
    "지적이 맞",
    "정정합니다",
    "정정하겠습니다",
    "착각했",
    "제가 착각",
    "제가 오해",
    "잘못 봤",
    "잘못 이해했",
    "아닙니다, 확실하지",
    "좋은 지적",
    "죄송합니다",
    "제가 잘못",
    "おっしゃる通り",
    "おっしゃるとおり",
    "ご指摘の通り",
    "ご指摘のとおり",
    "勘違いしていました",
    "誤解していました",
    "訂正します",
    "その通りです",
    "確かに",
    "なるほど",
    "失礼しました",
    "申し訳",
    "すみません",
    "你说得对",
    "您说得对",
    "我搞错了",
    "更正",
    "抱歉",
    "确实",
];

/// Returns whether a text begins by giving in to an objection.
pub(super) fn concedes(said: &str) -> bool {
    let lower = said.trim_start().to_lowercase().replace('’', "'");
    let said = prose::strip_interjection(lower.strip_prefix("ah ").unwrap_or(&lower));
    let opens = |opening: &&str| text::starts_with_words(&lower, opening) || text::starts_with_words(said, opening);
    let first: String = text::first_sentence(&lower).unwrap_or_default();
    CONCESSIONS.iter().any(opens) || admits_mistake(&first) || takes_correction(said)
}

/// Returns whether a text in lower case begins by taking what it answers for a correction: "That's a crucial distinction!"
fn takes_correction(lower: &str) -> bool {
    const OPENINGS: [&str; 4] = ["that's a ", "that's an ", "that is a ", "that is an "];
    const NOUNS: [&str; 5] = ["distinction", "clarification", "correction", "catch", "detail"];
    let Some(rest) = OPENINGS.iter().find_map(|opening| lower.strip_prefix(opening)) else {
        return text::starts_with_words(lower, "thanks for the correction");
    };
    // One or two words may say how much it weighs: "a really important clarification".
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).take(3);
    words.any(|word| NOUNS.contains(&word))
}

/// Returns whether a text says that the agent mends all that a review found: "Good review. Let me address the issues found."
pub(super) fn mends_findings(said: &str) -> bool {
    const MAX_SENTENCES: usize = 4;
    const VERBS: [&str; 6] = ["address", "fix", "resolve", "apply", "tackle", "work through"];
    const LEADS: [&str; 5] = ["let me", "i'll", "i will", "now", "now i'll"];
    const FINDINGS: [&str; 6] = ["issues", "findings", "feedback", "review comments", "points", "suggestions"];
    const OTHERS: [&str; 8] = ["not", "don't", "won't", "critical", "only", "first", "would you", "should i"];
    let says = |sentence: &String| {
        let lower = sentence.to_lowercase().replace('’', "'");
        let has = |words: &[&str]| text::contains_any_words(&lower, words);
        let begins = LEADS.iter().any(|lead| text::starts_with_words(&lower, lead));
        let in_english = begins && has(&VERBS) && has(&FINDINGS) && !has(&OTHERS) && !lower.contains('?');
        let in_others = text::contains_any(&lower, &["지적", "발견된 문제", "指摘", "レビュー結果"])
            && text::contains_any(&lower, &["수정하겠", "반영하겠", "고치겠", "修正します", "対応します", "直します"]);
        in_english || in_others
    };
    text::sentences(said).iter().take(MAX_SENTENCES).any(says)
}

/// Returns whether the first sentences of a text are surprised at what a check showed.
pub(super) fn disproves(said: &str) -> bool {
    const SIGNS: [&str; 17] = [
        "uh oh",
        "uh-oh",
        "oops",
        "this changes everything",
        "that changes everything",
        "it turns out",
        "turns out",
        "contrary to what",
        "not what i said",
        "the opposite of what",
        "my assumption was wrong",
        "예상과 달리",
        "예상과 다르",
        "제 예상이 틀렸",
        "予想に反して",
        "予想と違",
        "与预期相反",
    ];
    const MAX_SENTENCES: usize = 3;
    let is_sign = |sentence: &String| {
        let lower = sentence.to_lowercase();
        text::contains_any_words(&lower, &SIGNS)
    };
    text::sentences(text::head(said, 400)).iter().take(MAX_SENTENCES).any(is_sign)
}

/// Returns whether a sentence in lower case says that the agent was wrong, wherever it says so.
pub(super) fn admits_mistake(lower: &str) -> bool {
    const SIGNS: [&str; 17] = [
        "i was wrong",
        "i was mistaken",
        "i was imprecise",
        "i was being imprecise",
        "i had it backwards",
        "i misread",
        "i misunderstood",
        "제가 잘못",
        "제가 착각",
        "제가 오해",
        "잘못 봤",
        "잘못 이해",
        "勘違いして",
        "誤解して",
        "私の間違い",
        "我搞错",
        "我弄错",
    ];
    text::contains_any_words(lower, &SIGNS)
}

/// The length up to which an admission says nothing else, in characters.
const MAX_ADMISSION_CHARS: usize = 60;

/// How many characters may follow a concession that says nothing else: "You're right on both".
const MAX_AFTER_CONCESSION: usize = 12;

/// Returns whether a sentence only gives in.
fn only_concedes(said: &str) -> bool {
    let lower = said.to_lowercase().replace('’', "'");
    let rest = CONCESSIONS.iter().filter(|opening| text::starts_with_words(&lower, opening)).map(|it| &lower[it.len()..]);
    rest.map(str::trim).any(|rest| {
        rest.chars().count() <= MAX_AFTER_CONCESSION && !rest.contains('`') && !rest.bytes().any(|b| b.is_ascii_digit())
    })
}

/// Returns whether a sentence gives in or says that the agent was wrong, so that nothing after it speaks of what it names.
pub(super) fn gives_in(said: &str) -> bool {
    only_concedes(said) || admits_mistake(&said.to_lowercase())
}

/// Returns whether a sentence says no more than that the agent was wrong, or gives in.
pub(super) fn only_admits(said: &str) -> bool {
    if only_concedes(said) {
        return true;
    }
    let is_named = said.contains('`') || said.contains([',', '—', ':', ';', '、']);
    said.chars().count() <= MAX_ADMISSION_CHARS && !is_named && admits_mistake(&said.to_lowercase())
}

/// Openings after which somebody says what holds. After "sorry" somebody says what was done wrong.
const AGREEMENTS: &[&str] = &[
    "you're right",
    "you are right",
    "you're absolutely right",
    "you are absolutely right",
    "fair point",
    "good point",
    "good catch",
    "great catch",
    "actually no",
    "actually, no",
    "i was wrong",
    "i misread",
    "i misunderstood",
    "correction:",
    "맞습니다",
    "맞네요",
    "그렇네요",
    "말씀하신 대로",
    "おっしゃる通り",
    "おっしゃるとおり",
    "その通りです",
    "確かに",
    "なるほど",
    "你说得对",
    "您说得对",
    "确实",
];

/// The minimum length of what follows a concession for it to say something by itself, in characters.
const MIN_CONCEDED_CHARS: usize = 30;

/// Returns what a sentence says after it gives in, if that says something by itself: "The total is in cents" of "You're right — the
/// total is in cents".
pub(super) fn without_concession(sentence: &str) -> String {
    let mut rest = after_concession(sentence).to_owned();
    let word = rest.split_whitespace().next().unwrap_or_default();
    // A name keeps its letters.
    let is_word = word.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '\'' | '’' | ','));
    if rest.len() < sentence.len()
        && is_word
        && let Some(first) = rest.get_mut(..1)
    {
        first.make_ascii_uppercase();
    }
    rest
}

fn after_concession(sentence: &str) -> &str {
    const MARKS: [char; 10] = [',', '—', '–', '-', ':', ';', '!', '、', '，', '：'];
    let lower = sentence.to_lowercase();
    // The cut can be transferred only if lower-casing kept all byte positions.
    if lower.len() != sentence.len() {
        return sentence;
    }
    let plain = lower.replace('’', "'");
    let Some(opening) = AGREEMENTS.iter().find(|opening| text::starts_with_words(&plain, opening)) else {
        return sentence;
    };
    let Some((at, _)) = sentence.char_indices().nth(opening.chars().count()) else { return sentence };
    let after = sentence[at..].trim_start();
    let rest = after.trim_start_matches(MARKS).trim_start();
    let says_something =
        (after.starts_with(MARKS) || opening.ends_with(':')) && !text::starts_with_words(&rest.to_lowercase(), "i");
    if says_something && rest.chars().count() >= MIN_CONCEDED_CHARS { rest } else { sentence }
}

/// Returns whether a text in lower case offers or proposes something.
pub(super) fn is_offer(lower: &str) -> bool {
    text::contains_any_words(lower, OFFERS)
}

/// Returns whether a question in lower case asks which of several ways the user wants.
pub(super) fn asks_to_choose(lower: &str) -> bool {
    const SIGNS: [&str; 14] = [
        "which",
        "prefer",
        "preference",
        "what do you think",
        "what would you like",
        "how would you like",
        "how do you want",
        "어떤",
        "어느",
        "무엇을",
        "どちら",
        "どれ",
        "どの",
        "哪",
    ];
    text::contains_any_words(lower, &SIGNS)
}

/// Returns whether a line in lower case that leads to a list offers a choice between its items.
pub(super) fn offers_options(lower: &str) -> bool {
    const SIGNS: [&str; 23] = [
        "some options",
        "several options",
        "couple of options",
        "몇 가지 방법",
        "いくつかの方法",
        "几个方案",
        "you have",
        "you can",
        "you could",
        "your options",
        "ways to go",
        "ways to proceed",
        "ways to fix",
        "ways to handle",
        "ways forward",
        "few options",
        "two options",
        "three options",
        "here are the options",
        "선택지",
        "옵션이 있",
        "選択肢",
        "以下选项",
    ];
    let is_either = lower.trim_end_matches(['*', ' ', ':', '：']).ends_with(" either");
    is_either || text::contains_any(lower, &SIGNS)
}

/// The marks that an agent puts behind the option that it recommends.
pub(super) const RECOMMENDED: &[&str] = &[
    "(Recommended)",
    "(recommended)",
    "(recomanat)",
    "(recomendado)",
    "(empfohlen)",
    "(추천)",
    "(권장)",
    "(推奨)",
    "(おすすめ)",
    "（推奨）",
    "(推荐)",
    "（推荐）",
];

/// Returns whether a row of a table in lower case ends with the word that its subject was still to be done.
pub(super) fn is_open_row(lower: &str) -> bool {
    const STATES: [&str; 10] =
        ["todo", "to do", "pending", "not started", "in progress", "open", "예정", "미완료", "未着手", "未完成"];
    let state = lower.rsplit(" | ").next().unwrap_or_default();
    // A row of several columns tells them with their headers.
    let state = if state.contains(" — ") { state.rsplit(": ").next().unwrap_or_default() } else { state };
    STATES.contains(&state.trim())
}

/// Returns whether a text in lower case says that what fails is not the session's fault.
pub(super) fn excuses(lower: &str) -> bool {
    const SIGNS: [&str; 16] = [
        "pre-existing",
        "preexisting",
        "not related to",
        "unrelated to",
        "not caused by",
        "environment issue",
        "environmental issue",
        "only in ci",
        "flaky",
        "기존 문제",
        "무관",
        "既存の",
        "無関係",
        "関係ありません",
        "与本次",
        "无关",
    ];
    text::contains_any(lower, &SIGNS) && FAILURES.iter().chain(CHECKS).any(|word| lower.contains(word))
}

/// Returns whether the line above a list, in lower case, says that the list is of what is done or was found to be right.
pub(super) fn says_finished(lower: &str) -> bool {
    const WORDS: [&str; 15] = [
        "pass",
        "passes",
        "passed",
        "complete",
        "completed",
        "done",
        "verified",
        "implemented",
        "updated",
        "fixed",
        "summary",
        "완료",
        "통과",
        "完了",
        "完成",
    ];
    text::contains_any_words(lower, &WORDS) && !is_intent(lower)
}

/// Returns whether a text in lower case says what somebody is about to do.
pub(super) fn is_intent(lower: &str) -> bool {
    const SIGNS: [&str; 11] = [
        "next i",
        "i should",
        "i need to",
        "i'll",
        "i will",
        "i can now",
        "let me",
        "let's",
        "we need to",
        "하겠습니다",
        "していきます",
    ];
    text::contains_any_words(lower, &SIGNS)
}

/// Returns whether a sentence in lower case announces something that only a command does: "I'll merge it now". What waits for something
/// is not announced.
pub(super) fn announces_deed(lower: &str) -> bool {
    const OPENINGS: [&str; 8] =
        ["i'll ", "i will ", "i'm going to ", "i am going to ", "let me ", "now i'll ", "now let me ", "next i'll "];
    const DEEDS: [&str; 10] =
        ["merge", "push", "commit", "rebase", "deploy", "release", "publish", "tag", "squash", "cherry-pick"];
    const ENDS: [&str; 4] = ["하겠습니다", "할게요", "します", "しますね"];
    const FOREIGN_DEEDS: [&str; 10] =
        ["머지", "병합", "푸시", "커밋", "배포", "マージ", "プッシュ", "コミット", "デプロイ", "リリース"];
    const CONDITIONS: [&str; 12] =
        ["if ", "once ", "when ", "after ", "until ", "unless ", "as soon as", "before ", "되면", "하면", "たら", "ので"];
    let lower = lower.replace('’', "'");
    let lower = lower.trim_end_matches(['.', '!', ':', '。', ' ', '：']);
    if text::contains_any(lower, &CONDITIONS) {
        return false;
    }
    let rest = OPENINGS.iter().find_map(|opening| lower.strip_prefix(opening)).unwrap_or_default();
    let rest =
        ["now ", "go ahead and ", "just ", "then "].iter().fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
    DEEDS.iter().any(|deed| text::starts_with_words(rest, deed))
        || (ENDS.iter().any(|end| lower.ends_with(end)) && text::contains_any(lower, &FOREIGN_DEEDS))
}

/// Openings of a sentence that says little without the one before it.
const LEANING: &[&str] = &[
    "most ",
    "some ",
    "many ",
    "both ",
    "each ",
    "neither ",
    "none ",
    "all of ",
    "when ",
    "then ",
    "so ",
    "now ",
    "instead",
    "otherwise",
    "therefore",
    "thus",
    "hence",
    "the rest",
    "the others",
    "the other ",
    "그래서",
    "따라서",
    "그러면",
    "そのため",
    "したがって",
    "つまり",
    "所以",
    "因此",
];

/// Returns whether a text in lower case says that nothing was pushed.
pub(super) fn is_about_pushing(lower: &str) -> bool {
    const SIGNS: [&str; 8] =
        ["not pushed", "not been pushed", "n't pushed", "no pr opened", "push하지", "푸시하지", "プッシュして", "未推送"];
    text::contains_any(lower, &SIGNS)
}

/// Returns whether a text in lower case speaks to its reader.
pub(super) fn addresses_reader(lower: &str) -> bool {
    // What is quoted may be a text of the product.
    let lower: String = lower.replace(['“', '”', '`'], "\"").split('"').step_by(2).collect();
    text::contains_any_words(&lower, &["you", "your", "you're", "you'll", "you've", "you'd", "yours"])
}

/// Openings of a sentence about several things that were named before it.
const PLURALS: &[&str] = &[
    "two are ",
    "three are ",
    "all but one ",
    "meanwhile",
    "if that ",
    "it also ",
    "each ",
    "both ",
    "these ",
    "those ",
    "they ",
    "all three ",
    "all four ",
    "all of ",
    "neither ",
    "the latter",
    "the former",
    "이들",
    "각각",
    "それぞれ",
    "いずれも",
    "它们",
    "这些",
];

/// Returns whether a sentence in lower case speaks of several things that were named before it.
pub(super) fn speaks_of_named_before(lower: &str) -> bool {
    PLURALS.iter().any(|opening| lower.starts_with(opening))
}

/// Returns whether a sentence in lower case refers by its first word to the sentence before it.
pub(super) fn leans_on_sentence_before(lower: &str) -> bool {
    LEANING.iter().any(|opening| lower.starts_with(opening))
}

/// Returns whether a sentence in lower case says what a change does, which only a pronoun names: "It now detects the locale".
pub(super) fn opens_with_effect(lower: &str) -> bool {
    const VERBS: [&str; 12] = [
        "now", "fixes", "makes", "adds", "removes", "ensures", "prevents", "lets", "allows", "enables", "replaces", "avoids",
    ];
    let rest = ["it ", "this ", "that "].iter().find_map(|word| lower.strip_prefix(word));
    let says = |rest: &str| VERBS.iter().any(|verb| text::starts_with_words(rest, verb)) && !rest.starts_with("makes sense");
    rest.is_some_and(says) || lower.starts_with("これで")
}

/// Returns whether a line in lower case leads to a list that is no result: examples, or what somebody is about to do.
pub(super) fn leads_to_aside(lower: &str) -> bool {
    const SIGNS: [&str; 17] = [
        "for example",
        "e.g.",
        "if you have",
        "such as",
        "예를 들",
        "例えば",
        "たとえば",
        "例如",
        "i need to",
        "i should",
        "we need to",
        "i'll",
        "i will",
        "i'm going to",
        "해야 합니다",
        "必要があります",
        "我需要",
    ];
    lower.trim_end_matches(['*', ' ']).ends_with([':', '：']) && text::contains_any(lower, &SIGNS)
}

/// Returns whether an item in lower case says in which line something was changed: "line 31: updated the test".
pub(super) fn is_place_of_change(lower: &str) -> bool {
    let rest = lower.strip_prefix("lines ").or_else(|| lower.strip_prefix("line "));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '~'))
}

/// Returns whether a text in lower case says that checks fail.
pub(super) fn is_failing(lower: &str) -> bool {
    let has = |words: &[&str]| text::contains_any_words(lower, words);
    has(&["test", "tests", "lint", "build", "typecheck", "ci", "테스트", "テスト", "测试"])
        && has(&["fail", "fails", "failing", "실패", "失敗", "失败"])
}

/// Words of a problem in the code or in its checks, as it is while somebody speaks of it.
const PROBLEMS: &[&str] = &[
    "fail",
    "fails",
    "failing",
    "missing",
    "lacks",
    "doesn't",
    "does not",
    "don't",
    "isn't",
    "is not",
    "aren't",
    "are not",
    "can't",
    "cannot",
    "broken",
    "wrong",
    "error",
    "errors",
    "0%",
    "no longer",
    "실패",
    "없습니다",
    "失敗",
    "ありません",
    "失败",
];

/// Returns whether a sentence in lower case says that the cause of a failure is still to be found: it is unknown, or the next
/// failure is to show it.
pub(super) fn leaves_cause_open(lower: &str) -> bool {
    const UNKNOWN: [&str; 18] = [
        "cause is still unknown",
        "cause is unknown",
        "cause remains unknown",
        "cause is not known",
        "cause is unclear",
        "cause is still unclear",
        "couldn't determine the cause",
        "could not determine the cause",
        "원인은 아직",
        "원인을 찾지 못",
        "원인을 알 수 없",
        "원인은 불명",
        "原因は不明",
        "原因は未特定",
        "原因は特定できて",
        "原因はまだ",
        "原因尚未",
        "原因还不",
    ];
    const NEXT: [&str; 5] = ["next time", "다음에", "다음번", "次回", "下次"];
    const LOOKS: [&str; 9] =
        ["diagnos", "the cause", "root cause", "what went wrong", "원인", "진단", "原因", "診断", "诊断"];
    let has = |words: &[&str]| text::contains_any(lower, words);
    has(&UNKNOWN) || (has(&NEXT) && has(&LOOKS))
}

/// Returns whether a text in lower case says what is wrong. What was changed afterwards may have mended it.
pub(super) fn is_problem(lower: &str) -> bool {
    text::contains_any_words(lower, PROBLEMS)
}

/// Returns whether a text in lower case says what is wrong in a file, so that it may not hold any more once the file was changed.
pub(super) fn finds_fault(lower: &str) -> bool {
    const WORDS: [&str; 21] = [
        "bug",
        "problem",
        "issue",
        "incorrect",
        "ignored",
        "ignores",
        "silently",
        "skipped",
        "dropped",
        "overwriting",
        "overwrites",
        "shadows",
        "dead code",
        "never",
        "unused",
        "stale",
        "버그",
        "문제",
        "잘못",
        "バグ",
        "問題",
    ];
    const MENDED: [&str; 9] = ["now", "no longer", "fix", "fixed", "fixes", "이제", "수정", "修正", "现在"];
    let has = |words: &[&str]| text::contains_any_words(lower, words);
    !has(&MENDED) && (is_problem(lower) || has(&WORDS))
}

/// Returns whether a text in lower case says what something cannot do at all, whatever is built on it. A fault that was just found, or
/// how the code is today, is no limit.
pub(crate) fn tells_limit(lower: &str) -> bool {
    const LIMITS: [&str; 24] = [
        "doesn't support",
        "does not support",
        "don't support",
        "not supported",
        "unsupported",
        "doesn't respect",
        "don't respect",
        "only works",
        "unreliable",
        "eventually consistent",
        "limitation",
        "caveat",
        "gotcha",
        "by design",
        "지원하지",
        "지원되지",
        "불가능",
        "한계",
        "対応していない",
        "対応していません",
        "サポートされ",
        "不支持",
        "无法",
        "限制",
    ];
    // What does not work may be what was mended.
    const FAILS: [&str; 7] =
        ["doesn't work", "don't work", "does not work", "won't work", "cannot be", "can't be", "impossible"];
    const FAULTS: [&str; 8] = ["issue", "problem", "bug", "root cause", "failed", "needs to", "should", "the test"];
    const OWN: [&str; 6] = ["because we", "we're", "currently", "현재", "現在", "目前"];
    let lower = lower.replace('’', "'");
    let has = |words: &[&str]| text::contains_any_words(&lower, words);
    !has(&OWN) && (text::contains_any(&lower, &LIMITS) || (text::contains_any(&lower, &FAILS) && !has(&FAULTS)))
}

/// Returns whether a text in lower case says what must be kept to.
pub(super) fn demands(lower: &str) -> bool {
    text::contains_any_words(lower, &["must", "never", "always", "항상", "절대", "필수", "必ず", "常に", "必须", "总是"])
}

/// Returns whether a text in lower case says that something is missing or too old.
pub(super) fn lacks_something(lower: &str) -> bool {
    const SIGNS: [&str; 7] = ["is outdated", "are outdated", "is too old", "is not updated", "누락", "구버전", "不足して"];
    ["missing", "outdated"].iter().any(|word| text::starts_with_words(lower, word))
        || text::contains_any_words(lower, &SIGNS)
}

/// Returns whether a text in lower case says too little to stand alone for a whole turn: the middle of a thought, a step to take, or what
/// the agent liked or would do.
pub(super) fn is_fragment(lower: &str) -> bool {
    const OPENINGS: [&str; 17] = [
        "then",
        "or",
        "so the fix should",
        "if multiple",
        "i like",
        "i'd recommend",
        "i would recommend",
        "i recommend",
        "manual verification",
        "to verify",
        "to test it",
        "run `",
        "추천:",
        "おすすめ:",
        "推奨:",
        "推荐：",
        "推荐:",
    ];
    let bare = lower.replace('’', "'");
    let bare = bare.trim_end_matches(['.', ' ']);
    let ends_open = [", or", ", and", " because"].iter().any(|end| bare.ends_with(end));
    ends_open
        || OPENINGS.iter().any(|opening| {
            text::starts_with_words(bare, opening) || (opening.ends_with(['`', ':', '：']) && bare.starts_with(opening))
        })
}

/// Returns whether a text in lower case opens with what to do. Words that may also say what was done, or name something, do not count.
pub(super) fn is_imperative(lower: &str) -> bool {
    const VERBS: [&str; 23] = [
        "add",
        "calculate",
        "change",
        "compare",
        "compute",
        "create",
        "delete",
        "detect",
        "extract",
        "implement",
        "introduce",
        "skip",
        "store",
        "track",
        "keep",
        "make",
        "modify",
        "move",
        "refactor",
        "remove",
        "rename",
        "replace",
        "update",
    ];
    let (first, rest) = lower.split_once(' ').unwrap_or((lower, ""));
    VERBS.contains(&first) && rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '`' | '"' | '('))
}

/// Returns whether a text in lower case says what should be done.
pub(super) fn advises(lower: &str) -> bool {
    const SIGNS: [&str; 14] = [
        "should be",
        "should update",
        "should add",
        "should fix",
        "should remove",
        "needs to be",
        "need to be",
        "best fix",
        "recommended fix",
        "추가해야",
        "수정해야",
        "必要があります",
        "べきです",
        "应该",
    ];
    text::contains_any_words(lower, &SIGNS)
}

/// Returns whether the first sentences of a text say that what was done before is taken back.
pub(super) fn reverts(said: &str) -> bool {
    const SIGNS: [&str; 14] = [
        "revert that",
        "revert this",
        "revert it",
        "revert those",
        "undo that",
        "undo this",
        "undo it",
        "roll that back",
        "roll it back",
        "되돌리",
        "되돌려",
        "元に戻",
        "取り消",
        "撤销",
    ];
    let lower = text::head(said, 240).to_lowercase();
    text::contains_any_words(&lower, &SIGNS)
}

/// Words of headings above proposals.
const PROPOSALS: &[&str] = &[
    "recommendation",
    "recommendations",
    "suggestion",
    "suggestions",
    "suggested",
    "proposed",
    "proposals",
    "potential issues",
    "possible improvements",
    "improvements",
    "nice to have",
    "things to consider",
    "considerations",
    "options",
    "제안",
    "개선",
    "권장",
    "선택지",
    "提案",
    "改善",
    "推奨",
    "選択肢",
    "建议",
    "改进",
];

/// Returns whether a heading stands above proposals. Once the work has gone on, each was taken up or dropped.
pub(super) fn is_proposals(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let is_open = text::contains_any_words(&lower, &["remaining", "left", "open", "남은", "残"]);
    !is_open && text::contains_any_words(&lower, PROPOSALS)
}

/// Returns whether a heading stands above steps that were still to be done: "Implementation plan".
pub(super) fn is_plan(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let words = ["plan", "steps", "계획", "計画", "计划"];
    lower.split_whitespace().count() <= 4 && (text::contains_any_words(&lower, &words) || says_what_to_change(&lower))
}

/// Returns whether a heading in lower case stands above what is to be changed: "Must change", "Files to update".
pub(super) fn says_what_to_change(lower: &str) -> bool {
    const SIGNS: [&str; 19] = [
        "must change",
        "needs to change",
        "need to change",
        "needs to be changed",
        "needs to be added",
        "needs to be updated",
        "change needed",
        "changes needed",
        "change required",
        "changes required",
        "required changes",
        "needed changes",
        "to change",
        "to update",
        "to modify",
        "변경해야",
        "필요한 변경",
        "必要な変更",
        "需要修改",
    ];
    let is_denied = text::contains_any_words(lower, &["no", "not", "nothing"]);
    !is_denied && text::contains_any_words(lower, &SIGNS)
}

/// Words of a line below which something is only proposed, offered or supposed.
const PROPOSING: &[&str] = &[
    "recommend",
    "recommendation",
    "recommended",
    "proposal",
    "propose",
    "proposed",
    "suggestion",
    "suggestions",
    "i'd suggest",
    "options",
    "ways out",
    "ways to",
    "two ways",
    "three ways",
    "couldn't confirm",
    "could not confirm",
    "can't confirm",
    "not confirmed",
    "not applied",
    "would look like",
    "would be to",
    "if you want",
    "추천",
    "제안",
    "선택지",
    "提案",
    "推奨",
    "選択肢",
    "建议",
    "方案",
];

/// Returns whether a line leads to what is only proposed: a heading, or a line that ends with a colon, or the sentence that gives a
/// recommendation.
pub(super) fn proposes(line: &str) -> bool {
    let said = text::plain(line);
    let lower = said.to_lowercase().replace('’', "'");
    let is_lead = said.ends_with([':', '：']) || prose::is_heading(line);
    let gives = ["my recommendation", "i recommend", "i'd recommend", "i'd suggest", "my suggestion"];
    (is_lead && text::contains_any_words(&lower, PROPOSING)) || text::contains_any_words(&lower, &gives)
}

/// Returns whether a sentence in lower case proposes something in the agent's own name.
pub(super) fn makes_proposal(lower: &str) -> bool {
    const SIGNS: [&str; 15] = [
        "i suggest",
        "i'd suggest",
        "i would suggest",
        "i recommend",
        "i'd recommend",
        "i would recommend",
        "i propose",
        "my recommendation",
        "my suggestion",
        "제안합니다",
        "추천합니다",
        "권장합니다",
        "提案します",
        "おすすめします",
        "我建议",
    ];
    let lower = lower.replace('’', "'");
    text::contains_any_words(&lower, &SIGNS)
}

/// Returns whether a text in lower case only praises.
pub(super) fn is_praise(lower: &str) -> bool {
    PRAISE.iter().any(|praise| lower.starts_with(praise)) || text::contains_any(lower, VERDICTS)
}

/// The number of words from which a text says more than names.
const MIN_WORDS: usize = 2;

/// Returns whether a text consists of paths, addresses and identifiers, and says nothing of them.
pub(super) fn names_only(said: &str) -> bool {
    let is_name = |word: &&str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        inner.contains(['/', '\\', '_']) || inner.contains("://") || inner.len() >= 28 || word.starts_with('`')
    };
    let (names, words): (Vec<&str>, Vec<&str>) = said.split_whitespace().partition(is_name);
    !names.is_empty() && text::features(&words.join(" ")).len() < MIN_WORDS
}

/// Returns whether a text is a line that a program printed: it begins with a tag or has a long identifier.
pub(super) fn is_output(said: &str) -> bool {
    let is_identifier = |word: &str| word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    said.starts_with('[') || said.split(|c: char| !c.is_alphanumeric()).any(is_identifier)
}

/// Returns whether a text looks like pasted code or output.
pub(super) fn is_code(said: &str) -> bool {
    let openings = ["//", "#!", "$ ", "> ", "❯", "●", "at ", "ERROR", "Error:", "error:", "warning:", "WARN", "Traceback"];
    openings.iter().any(|opening| said.starts_with(opening)) || said.ends_with(['{', '}', ';'])
}

#[cfg(test)]
mod tests {
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
        for said in
            ["the till doesn’t support coins", "scales are unreliable in the rain", "저울은 동전을 지원하지 않습니다"]
        {
            assert!(tells_limit(said), "{said}");
        }
        for said in ["the issue is that the till doesn't work", "the drawer is empty", "it doesn't work because we skip it"]
        {
            assert!(!tells_limit(said), "{said}");
        }
    }

    #[test]
    fn what_a_check_showed_and_what_is_missing() {
        for said in
            ["**Uh oh!** Both tills rang.", "Done.\n\nIt turns out that the till adds.", "예상과 달리 두 번 울립니다."]
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
        assert!(
            concedes("Having looked again, I misread the log of the till.") && concedes("확인해 보니 제가 착각했습니다.")
        );
        assert!(concedes("No, I'm not sure — the log shows no restart.") && !concedes("I read the log of the till."));
        for said in
            ["Fair point.", "You're right on both.", "제가 잘못 봤습니다.", "ご指摘の通りです。", "I misread the log."]
        {
            assert!(only_admits(said), "{said}");
        }
        for said in ["You're right: `taxOf()` cuts.", "I misread the log: the till was closed.", "The till is closed."] {
            assert!(!only_admits(said), "{said}");
        }
    }

    #[test]
    fn what_is_announced_and_what_is_proposed() {
        for said in ["i'll merge `till` into `main` now.", "let me push it.", "이제 머지하겠습니다.", "マージします。"]
        {
            assert!(announces_deed(said), "{said}");
        }
        for said in
            ["i'll merge it once ci is green.", "i'll wait for the review.", "let me know.", "머지되면 배포하겠습니다."]
        {
            assert!(!announces_deed(said), "{said}");
        }
        assert!(makes_proposal("i’d suggest rounding at the till") && !makes_proposal("the review suggests rounding"));
    }

    #[test]
    fn what_only_reports_a_commit() {
        for said in ["Committed as `1a2b3c4`.", "The pre-commit hook ran tests and lint, all passing.", "커밋했습니다."]
        {
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
    }

    #[test]
    fn what_is_too_little_for_a_turn() {
        for said in [
            "then the second till has no slip.",
            "or simpler: keep the slip",
            "run `till open` to see it",
            "the till asks, or.",
        ] {
            assert!(is_fragment(said), "{said}");
        }
        assert!(!is_fragment("the till asks for the slip.") && !is_fragment("order of the slips: by day"));
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
    fn rows_and_options_that_were_open() {
        assert!(is_open_row("2 | the cart | todo") && !is_open_row("2 | the todo list | done"));
        assert!(offers_options("you have two ways:") && !offers_options("new options:"));
        assert!(is_guess("ci should pass now."));
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
        for said in [
            "Good review. Let me address the issues found.",
            "I'll fix these findings now.",
            "지적 사항을 모두 반영하겠습니다.",
        ] {
            assert!(mends_findings(said), "{said}");
        }
        for said in
            ["Let me fix the critical issues only.", "Should I address the findings?", "The review found two issues."]
        {
            assert!(!mends_findings(said), "{said}");
        }
    }

    #[test]
    fn headings_above_what_is_to_be_changed() {
        assert!(is_plan("Must change") && is_plan("Key changes needed") && is_plan("필요한 변경"));
        assert!(!is_plan("No change needed") && !is_plan("What was changed"));
    }
}
