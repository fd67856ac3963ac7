//! What belongs to the way, not to what was reached: guesses, praise, slips, and what was open or otherwise before.

use super::proposals::is_intent;
use crate::extract::prose;
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
    "원인 가설",
    "예상 원인",
    "추정 원인",
    "原因の仮説",
    "推定原因",
    "考えられる原因",
    "可能的原因",
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
pub(in crate::extract) fn is_on_the_way(lower: &str) -> bool {
    let said = prose::strip_interjection(lower);
    ON_THE_WAY.iter().any(|opening| lower.starts_with(opening) || said.starts_with(opening))
        || text::contains_any_words(lower, &["no wait", "no, wait", "oh wait", "wait, no"])
}

/// The length of the shortest words that end like a verb and are none, in bytes: "its", "as".
const MIN_VERB_BYTES: usize = 3;

/// Returns whether a sentence in lower case says how something is since a change: "Now the drawer opens".
pub(in crate::extract) fn says_how_it_is_now(lower: &str) -> bool {
    const SUBJECTS: [&str; 11] =
        ["`", "the ", "both ", "all ", "each ", "every ", "when ", "whenever ", "if ", "any ", "only "];
    const TO_DO: [&str; 8] = ["let me", "let's", "i'll", "i need", "need to", "needs to", "should", "하겠습니다"];
    let rest = ["now ", "now, ", "이제 "].iter().find_map(|word| lower.strip_prefix(word));
    // "Now uses the root": a verb of what something does, and no order such as "now process" or "now address".
    let is_deed_of_code = |rest: &str| {
        let verb = rest.split(' ').next().unwrap_or_default();
        verb.len() > MIN_VERB_BYTES
            && verb.ends_with('s')
            && !verb.ends_with("ss")
            && verb.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let is_state =
        |rest: &str| !rest.is_ascii() || is_deed_of_code(rest) || SUBJECTS.iter().any(|subject| rest.starts_with(subject));
    rest.is_some_and(is_state) && !text::contains_any(lower, &TO_DO)
}

/// Returns whether a text in lower case, below that heading, says how something was before a change.
pub(in crate::extract) fn is_state_before(lower: &str, heading: &str) -> bool {
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
pub(in crate::extract) fn is_one_off(lower: &str) -> bool {
    text::contains_any(lower, ONE_OFF)
}

/// Returns whether a text in lower case guesses.
pub(in crate::extract) fn is_guess(lower: &str) -> bool {
    text::contains_any_words(lower, GUESSES)
}

/// Returns whether a text in lower case only says what the work should bring about, which nobody has seen yet: "The till should now work".
pub(in crate::extract) fn is_hope(lower: &str) -> bool {
    const HOPES: [&str; 9] = [
        "should now",
        "should fix",
        "should resolve",
        "should work",
        "should pass",
        "should succeed",
        "should be green",
        "はずです",
        "はずだ",
    ];
    text::contains_any_words(lower, &HOPES)
}

/// Returns whether a text in lower case says that something is not done yet.
pub(crate) fn is_open_state(lower: &str) -> bool {
    let is_awaited = || text::contains_words(lower, "yet") && (text::contains_words(lower, "not") || lower.contains("n't "));
    text::contains_any_words(lower, OPEN_STATES) || is_awaited()
}

/// Returns whether the line above a list, in lower case, says that the list is of what is done or was found to be right.
pub(in crate::extract) fn says_finished(lower: &str) -> bool {
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

/// Returns whether a text in lower case only praises.
pub(in crate::extract) fn is_praise(lower: &str) -> bool {
    PRAISE.iter().any(|praise| lower.starts_with(praise)) || text::contains_any(lower, VERDICTS)
}
