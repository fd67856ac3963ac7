//! Extracts from the agent's prose what goes beyond narration: results, causes, reasons and blockers.

use super::signs;
use crate::text;

/// Something worth knowing in the prose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Insight {
    /// One or two sentences that can be understood on their own.
    pub text: String,
    /// How strong the evidence is. Anything above 3 deserves a look.
    pub score: u8,
    /// Whether the agent explains why it did something one way and not another.
    pub is_choice: bool,
    /// The file that the insight is about.
    pub file: Option<String>,
}

/// Openings that only connect a sentence to the previous one.
const INTERJECTIONS: &[&str] = &[
    "i see",
    "i see the issue",
    "i see the problem",
    "found it",
    "found the issue",
    "found the problem",
    "found the root cause",
    "ok",
    "okay",
    "wait",
    "hmm",
    "actually",
    "ah",
    "right",
    "good",
    "great",
    "perfect",
    "excellent",
    "interesting",
    "got it",
    "good news",
    "note",
    "now i see",
    "good point",
    "good catch",
    "as expected",
    "hm",
    "oh",
    "you're right",
    "you are right",
    "also",
    "so",
    "and",
    "but",
    "however",
    "specifically",
    "in short",
    "yes",
    "no",
    "confirmed",
    "done",
    "fixed",
    "아",
    "잠깐",
    "네",
    "참고로",
    "좋습니다",
    "그런데",
    "하지만",
    "다만",
    "なるほど",
    "はい",
    "ただし",
    "なお",
    "好的",
    "注意",
    "但是",
    "不过",
];

/// Openings of sentences that narrate the agent's next step, or say nothing.
const NARRATION: &[&str] = &[
    "let me",
    "now let me",
    "let's",
    "now let's",
    "i'll",
    "i will",
    "i'm going to",
    "i am going to",
    "i'm now",
    "i need to",
    "i should",
    "i have the",
    "i have a",
    "i have all",
    "i now have",
    "now i have",
    "now i",
    "now we",
    "first, let",
    "first let",
    "first, i",
    "next, i",
    "next, let",
    "then i'll",
    "time to",
    "looking at",
    "checking",
    "running",
    "reading",
    "searching",
    "applying",
    "updating",
    "creating",
    "adding",
    "moving on",
    "now for",
    "now the",
    "now add",
    "now update",
    "now fix",
    "now run",
    "now create",
    "now apply",
    "now remove",
    "now replace",
    "now write",
    "now check",
    "now verify",
    "now build",
    "now test",
    "now commit",
    "all good",
    "all done",
    "here's",
    "here is",
    "here are",
    "the user",
    "let us",
    "would you",
    "do you",
    "should i",
    "want me",
    "shall i",
    "if you'd like",
    "feel free",
    "thanks",
    "thank you",
    "sure",
    "of course",
    "i understand",
    "i'd be happy",
    "hope",
    "ready",
    "nothing",
    "say the word",
    "good question",
    "great question",
    "the plan is ready",
    "my plan",
    "everything looks",
    "that looks",
    "this looks",
    "i can see",
    "i've read",
    "i've now",
    "we need to",
    "we should",
    "starting",
    "continuing",
    "proceeding",
    "writing",
    "launching",
    "waiting",
    "让我",
    "我来",
    "我将",
    "我会",
    "我先",
    "我需要",
    "现在让我",
    "现在我",
    "接下来",
    "首先",
    "现在开始",
    "まず",
    "次に",
    "それでは",
    "では、",
    "먼저",
    "이제",
    "다음으로",
    "그럼",
];

/// Endings of sentences that narrate the agent's next step.
const NARRATION_ENDS: &[&str] = &[
    "하겠습니다",
    "보겠습니다",
    "드리겠습니다",
    "겠습니다",
    "할게요",
    "볼게요",
    "합시다",
    "보죠",
    "ましょう",
    "てみます",
    "確認します",
    "進めます",
    "始めます",
    "実行します",
    "修正します",
    "見ます",
    "調べます",
];

/// Returns whether a sentence only narrates the agent's next step.
pub(crate) fn is_narration(sentence: &str) -> bool {
    let sentence = strip_interjection(sentence);
    let lower = sentence.to_lowercase().replace('’', "'");
    let end = lower.trim_end_matches(['.', ':', '。', '：', '!', '！', ' ']);
    NARRATION.iter().any(|opening| text::starts_with_words(&lower, opening))
        || NARRATION_ENDS.iter().any(|ending| end.ends_with(ending))
}

/// Strips words that only connect the sentence to the previous one.
pub(super) fn strip_interjection(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    loop {
        let lower = rest.to_lowercase();
        let shorter = INTERJECTIONS.iter().find_map(|word| {
            // The cut can be transferred only if lower-casing kept all byte positions.
            let after = lower.strip_prefix(word).filter(|_| lower.len() == rest.len())?;
            let cut = after.trim_start_matches([',', ' ', '—', '–', '-', ':', '!', '.', '、', '，', '。', '！', '：']);
            let marked = after.trim_start().starts_with([',', '—', '–', '-', ':', '!', '.', '、', '，', '。', '！', '：']);
            marked.then(|| &rest[rest.len() - cut.len()..])
        });
        match shorter {
            Some(shorter) if !shorter.is_empty() => rest = shorter,
            _ => return rest,
        }
    }
}

/// Signs of a cause or a surprise, with their weights.
const CAUSES: &[(&str, u8)] = &[
    ("root cause", 4),
    ("the issue is", 3),
    ("the problem is", 3),
    ("the issue was", 3),
    ("the problem was", 3),
    ("the bug is", 3),
    ("the bug was", 3),
    ("the culprit", 4),
    ("turns out", 4),
    ("caused by", 3),
    ("the reason", 3),
    ("because", 2),
    ("due to", 2),
    ("doesn't support", 3),
    ("does not support", 3),
    ("not supported", 3),
    ("only works", 3),
    ("doesn't work", 3),
    ("does not work", 3),
    ("won't work", 3),
    ("doesn't exist", 2),
    ("does not exist", 2),
    ("silently", 3),
    ("requires", 2),
    ("must be", 2),
    ("must not", 2),
    ("needs to be", 1),
    ("overrides", 2),
    ("shadows", 2),
    ("race condition", 3),
    ("conflicts with", 2),
    ("unlike", 2),
    ("contrary to", 3),
    ("despite", 2),
    ("even though", 2),
    ("gotcha", 4),
    ("caveat", 3),
    ("pre-existing", 1),
    ("unrelated", 1),
    ("by default", 2),
    ("hardcoded", 2),
    ("limitation", 2),
    ("workaround", 3),
    ("incompatible", 3),
    ("deprecated", 2),
    ("mismatch", 2),
    ("picks up", 2),
    ("which means", 2),
    ("missing", 1),
    ("때문", 3),
    ("원인", 4),
    ("문제는", 3),
    ("지원하지", 3),
    ("아니라", 2),
    ("아닙니다", 2),
    ("실패", 1),
    ("충돌", 2),
    ("필수", 2),
    ("오버라이드", 2),
    ("原因", 4),
    ("ため", 2),
    ("問題は", 3),
    ("対応していない", 3),
    ("ではなく", 2),
    ("必要がある", 2),
    ("失敗", 1),
    ("競合", 2),
    ("因为", 3),
    ("导致", 3),
    ("问题是", 3),
    ("不支持", 3),
    ("必须", 2),
    ("冲突", 2),
];

/// Signs of a choice and its reason, with their weights.
const REASONS: &[(&str, u8)] = &[
    ("instead of", 3),
    ("rather than", 3),
    ("so that", 2),
    ("prevents", 2),
    ("to prevent", 2),
    ("to avoid", 2),
    ("avoids", 2),
    ("ensures", 1),
    ("never", 2),
    ("otherwise", 2),
    ("in order to", 1),
    ("by design", 3),
    ("intentionally", 3),
    ("deliberately", 3),
    ("chose", 3),
    ("decided", 3),
    ("opted", 3),
    ("trade-off", 3),
    ("tradeoff", 3),
    ("prefer", 2),
    ("no longer", 2),
    (" so ", 1),
    ("fall back", 1),
    ("falls back", 1),
    ("fallback", 1),
    ("대신", 3),
    ("않도록", 2),
    ("므로", 2),
    ("위해", 1),
    ("덮어", 2),
    ("통일", 1),
    ("代わりに", 3),
    ("ので", 1),
    ("避け", 2),
    ("方針", 2),
    ("ように", 1),
    ("而不是", 3),
    ("避免", 2),
    ("以便", 2),
    ("确保", 1),
    ("所以", 1),
];

fn weight(lower: &str, signs: &[(&str, u8)]) -> u8 {
    let mut found: Vec<u8> =
        signs.iter().filter(|(sign, _)| text::contains(lower, sign)).map(|(_, weight)| *weight).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.iter().take(2).sum()
}

/// Returns what a later session would want to know from a text of the agent. `is_answer` says that the text is the last
/// one of the turn, so what it reports is the final state.
pub(super) fn insights(said: &str, is_answer: bool) -> Vec<Insight> {
    let mut all = Vec::new();
    let mut heading = String::new();
    let mut previous = String::new();
    for line in text::prose_lines(said) {
        if line.starts_with('|') {
            continue;
        }
        if let Some(title) = heading_of(line) {
            heading = title;
            previous.clear();
            continue;
        }
        // A list item stands on its own.
        if line.starts_with(['-', '*', '•']) {
            previous.clear();
        }
        for sentence in text::sentences(line) {
            let sentence = strip_interjection(&sentence).to_owned();
            if let Some(insight) = insight(&sentence, &heading, &previous, is_answer) {
                all.push(insight);
            }
            previous = sentence;
        }
    }
    all
}

fn insight(sentence: &str, heading: &str, previous: &str, is_answer: bool) -> Option<Insight> {
    if is_narration(sentence) || sentence.ends_with(['?', '？', ':', '：']) || sentence.contains("```") {
        return None;
    }
    let lower = sentence.to_lowercase();
    let (cause, reason) = (weight(&lower, CAUSES), weight(&lower, REASONS));
    // While working, the agent guesses; only causes count then.
    if cause + if is_answer { reason } else { reason / 2 } < 2 {
        return None;
    }
    if is_change_note(&lower)
        && weight(&lower, CAUSES) < 2
        && !["so that", "to avoid", "to prevent", "prevents"].iter().any(|why| text::contains(&lower, why))
    {
        return None;
    }
    let whole = resolve_pointer(sentence, heading, previous)?;
    let length = whole.chars().count();
    let min_length = if whole.is_ascii() { 40 } else { 16 };
    if length < min_length || length > 330 || is_speculation(&lower) {
        return None;
    }
    let file = file_in(&whole);
    let concrete = whole.contains('`') || file.is_some() || whole.bytes().any(|byte| byte == b'_');
    let score = cause + reason + 2 * u8::from(concrete) + u8::from(is_answer) + u8::from(!heading.is_empty() && is_answer);
    Some(Insight { text: whole, score, is_choice: reason > cause || (is_answer && reason >= 2 && reason >= cause), file })
}

/// Recognizes notes such as "`file` — Updated this and that". The list of files already contains such changes.
pub(super) fn is_change_note(lower: &str) -> bool {
    let rest = lower.strip_prefix('`').and_then(|rest| rest.split_once("` ")).map_or(lower, |(_, rest)| rest);
    let rest = rest.trim_start_matches(['—', '–', '-', ':', ' ', '(']);
    let verbs = [
        "updated",
        "added",
        "removed",
        "moved",
        "changed",
        "renamed",
        "rewrote",
        "replaced",
        "created",
        "extracted",
        "simplified",
        "refactored",
        "now ",
    ];
    verbs.iter().any(|verb| rest.starts_with(verb))
}

/// Returns the sentences that may name the cause of a failure. Excludes narration and questions, and speculation has no
/// weight.
pub(super) fn causes(said: &str) -> Vec<String> {
    let mut all = Vec::new();
    for sentence in text::sentences(said) {
        let sentence = strip_interjection(&sentence);
        let length = sentence.chars().count();
        let lower = sentence.to_lowercase();
        let pointer = POINTERS.iter().any(|word| text::starts_with_words(&lower, word));
        if (12..300).contains(&length)
            && !is_narration(sentence)
            && !is_change_note(&lower)
            && !sentence.ends_with(['?', '？', ':', '：'])
            && !pointer
            && cause_weight(sentence) > 1
        {
            all.push(sentence.to_owned());
        }
    }
    all
}

/// Words for what does not show in a file.
const BLANKS: &[&str] = &[
    "tab",
    "tabs",
    "indentation",
    "indented",
    "whitespace",
    "trailing space",
    "spaces",
    "crlf",
    "line endings",
    "line ending",
    "carriage",
    "encoding",
    "bom",
    "탭",
    "들여쓰기",
    "공백",
    "줄바꿈",
    "タブ",
    "インデント",
    "空白",
    "改行",
    "制表符",
    "缩进",
    "空格",
    "换行",
];

/// Returns the sentences that say how the blanks or the encoding of a file are.
pub(super) fn remarks_on_blanks(said: &str) -> Vec<String> {
    let says = |sentence: &String| {
        let lower = sentence.to_lowercase();
        (12..200).contains(&sentence.chars().count())
            && !is_narration(sentence)
            && !sentence.ends_with(['?', '？', ':', '：'])
            && !is_speculation(&lower)
            && !["may ", "might ", "issue"].iter().any(|doubt| text::contains(&lower, doubt))
            && BLANKS.iter().any(|word| text::contains_words(&lower, word))
    };
    text::sentences(said).iter().map(|sentence| strip_interjection(sentence).to_owned()).filter(says).take(2).collect()
}

/// Returns the weight of a sentence as the cause of a failure.
pub(super) fn cause_weight(sentence: &str) -> u8 {
    let lower = sentence.to_lowercase();
    if is_speculation(&lower) || signs::is_guess(&lower) || lower.starts_with("looks like") || lower.starts_with("all ") {
        return 0;
    }
    let concrete = u8::from(sentence.contains('`')) + u8::from(file_in(sentence).is_some());
    let failing =
        ["fail", "error", "not ", "n't", "uses", "expects", "runs", "문제", "않", "없", "ない", "エラー", "不", "错误"]
            .iter()
            .any(|sign| text::contains(&lower, sign));
    weight(&lower, CAUSES) + concrete + u8::from(failing)
}

/// Returns whether a proposal is only the next step of any work: a commit, a push, a run of the tests.
pub(super) fn is_procedure(proposal: &str) -> bool {
    let lower = proposal.to_lowercase();
    let steps = [
        "commit",
        "push",
        "merge",
        "deploy",
        "pull request",
        "open a pr",
        "run the tests",
        "continue",
        "proceed",
        "go ahead",
        "커밋",
        "푸시",
        "배포",
        "진행",
        "계속",
        "コミット",
        "プッシュ",
        "マージ",
        "続け",
        "提交",
        "推送",
        "继续",
    ];
    steps.iter().any(|step| text::contains(&lower, step))
}

/// Returns whether a sentence says in so many words that something was decided.
pub(super) fn declares_decision(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let signs = [
        "decided on",
        "decided to",
        "decision:",
        "we chose",
        "settled on",
        "we agreed",
        "agreed to use",
        "결정했",
        "결정:",
        "기로 했",
        "기로 결정",
        "채택",
        "に決定",
        "に決め",
        "採用し",
        "决定",
    ];
    signs.iter().any(|sign| text::contains(&lower, sign))
}

/// Returns whether a proposal names what it is preferred to, or that it is one of several ways.
pub(super) fn offers_choice(proposal: &str) -> bool {
    let lower = proposal.to_lowercase();
    let signs = [
        "instead of",
        "rather than",
        "recommend",
        "option ",
        "approach",
        "over ",
        " vs",
        "대신",
        "방법",
        "방식",
        "추천",
        "보다",
        "案",
        "方式",
        "方針",
        "代わり",
        "より",
        "推奨",
        "方案",
        "而不是",
        "建议",
    ];
    signs.iter().any(|sign| text::contains(&lower, sign))
}

/// Returns whether the sentence is a guess, a proposal or a forecast. None of them is knowledge.
pub(super) fn is_speculation(lower: &str) -> bool {
    [
        "may need",
        "must be caused",
        "my guess",
        "hypothesis",
        "i'd ",
        "maybe",
        "perhaps",
        "might be",
        "could be",
        "not sure",
        "i think",
        "probably",
        "possibly",
        "seems like",
        "likely",
        "wonder",
        "could",
        "would",
        "should resolve",
        "should fix",
        "should work",
        "should now",
        "should be fine",
        "should be able",
        "whenever you",
        "uncommitted",
        "can also",
        "recommend",
        "suggest",
        "consider",
        "alternatively",
        "수 있습니다",
        "수도 있",
        "가능합니다",
        "추천",
        "できます",
        "可以",
        "建议",
        "아마",
        "かもしれ",
        "可能是",
        "也许",
    ]
    .iter()
    .any(|word| text::contains(lower, word))
}

const POINTERS: &[&str] = &[
    "this",
    "that",
    "it",
    "these",
    "those",
    "they",
    "which",
    "both",
    "same",
    "its",
    "it's",
    "that's",
    "there",
    "here",
    "he",
    "she",
    "their",
    "the same",
    "the fix",
    "the change",
    "the above",
    "이것",
    "이는",
    "이건",
    "그것",
    "그건",
    "이렇게",
    "これ",
    "それ",
    "この",
    "その",
    "这",
    "那",
    "它",
];

/// Completes a sentence that starts with a pronoun: adds the heading above it or the previous sentence.
fn resolve_pointer(sentence: &str, heading: &str, previous: &str) -> Option<String> {
    let lower = sentence.to_lowercase();
    if !POINTERS.iter().any(|word| text::starts_with_words(&lower, word)) {
        // Korean and Japanese omit the subject if the previous sentence names it.
        let drops = matches!(text::language(sentence), text::Language::Korean | text::Language::Japanese);
        if drops && !previous.is_empty() && !is_narration(previous) && previous.chars().count() < 140 {
            return Some(format!("{previous} {sentence}"));
        }
        return Some(sentence.to_owned());
    }
    if !heading.is_empty() {
        return Some(format!("{heading}: {sentence}"));
    }
    let lower = previous.to_lowercase();
    let usable = !previous.is_empty()
        && !is_narration(previous)
        && !POINTERS.iter().any(|word| text::starts_with_words(&lower, word));
    usable.then(|| format!("{} {sentence}", previous.trim_end_matches(':')))
}

/// Returns the title if the line is a heading: `## Title`, `**Title**`, `**Title** (where)`, `1. **Title**`.
fn heading_of(line: &str) -> Option<String> {
    let is_marked = line.starts_with('#');
    let unnumbered = line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' ' | '-' | '*'));
    let is_bold = line.contains("**")
        && line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' ' | '-')).starts_with("**")
        && unnumbered.split_once("**").is_some_and(|(_, rest)| rest.trim().trim_matches(':').chars().count() <= 24);
    if !is_marked && !is_bold {
        return None;
    }
    let title = text::plain(line);
    let title = title.trim_end_matches([':', '：']);
    let generic = [
        "summary",
        "changes",
        "context",
        "what changed",
        "changes made",
        "what was done",
        "files changed",
        "files modified",
        "testing",
        "tests",
        "result",
        "results",
        "verification",
        "overview",
        "notes",
        "details",
        "files",
        "next steps",
        "key changes",
        "변경 요약",
        "요약",
        "概要",
        "まとめ",
        "总结",
        "root cause",
        "the fix",
        "fix",
        "problem",
        "issue",
        "solution",
    ];
    let lower = title.to_lowercase();
    Some(if generic.contains(&lower.as_str()) { String::new() } else { strip_numbering(title) })
}

/// Returns whether the line is a heading.
pub(super) fn is_heading(line: &str) -> bool {
    heading_of(line).is_some()
}

/// Returns the weights of the signs of a cause and of the signs of a reason in a text in lower case.
pub(super) fn signs(lower: &str) -> (u8, u8) {
    (weight(lower, CAUSES), weight(lower, REASONS))
}

/// Returns whether a text in lower case starts with a word that points to something said before it.
pub(super) fn is_pointer(lower: &str) -> bool {
    POINTERS.iter().any(|word| text::starts_with_words(lower, word))
}

/// Strips a numbered label: `Fix 2: Title` becomes `Title`.
fn strip_numbering(title: &str) -> String {
    if let Some((label, rest)) = title.split_once([':', '：'])
        && label.chars().count() <= 14
        && label.chars().any(|c| c.is_ascii_digit())
        && !rest.trim().is_empty()
    {
        return rest.trim().to_owned();
    }
    title.to_owned()
}

/// Returns the first word of the text that looks like a file of a project.
pub(super) fn file_in(text: &str) -> Option<String> {
    text.split(|c: char| {
        c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ':' | '*' | '[' | ']' | '@' | '、' | '。')
    })
    .map(|word| word.trim_end_matches('.'))
    .find(|word| is_file(word))
    .map(str::to_owned)
}

const EXTENSIONS: &[&str] = &[
    "rs", "ts", "tsx", "js", "jsx", "mjs", "cjs", "py", "go", "java", "kt", "rb", "php", "c", "h", "cc", "cpp", "hpp", "cs",
    "swift", "md", "mdx", "json", "jsonc", "yaml", "yml", "toml", "sh", "ps1", "sql", "css", "scss", "html", "vue",
    "svelte", "lua", "nix", "tf", "proto", "wit", "lock", "txt", "xml", "ini", "cfg", "conf", "gradle", "zig", "ex", "exs",
    "erl", "hs", "scala", "dart", "omp",
];

fn is_file(word: &str) -> bool {
    let Some((stem, extension)) = word.rsplit_once('.') else {
        return false;
    };
    !stem.is_empty()
        && !word.contains("://")
        && EXTENSIONS.contains(&extension)
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '\\'))
        // Names such as `Node.js` are not files.
        && (stem.contains('/') || stem.chars().next().is_some_and(|c| !c.is_uppercase() || extension != "js"))
}

/// Returns the sentence of an answer that says what was checked.
pub(super) fn checked(answer: &str) -> Option<String> {
    let signs = [
        "tests pass",
        "test pass",
        "tests passed",
        "tests passing",
        "typecheck",
        "lint",
        "all pass",
        "build succeeds",
        "build passes",
        "builds clean",
        "테스트",
        "テスト",
        "测试",
    ];
    text::sentences(answer).into_iter().rfind(|sentence| {
        let lower = sentence.to_lowercase();
        signs.iter().any(|sign| text::contains(&lower, sign))
            && !is_narration(sentence)
            && !sentence.ends_with(['?', '？', ':', '：'])
            && (12..200).contains(&sentence.chars().count())
    })
}

/// Returns whether a sentence reports nothing.
pub(super) fn is_filler(sentence: &str) -> bool {
    let bare: String =
        sentence.chars().filter(|c| c.is_alphanumeric() || *c == ' ').collect::<String>().trim().to_lowercase();
    let empty = [
        "done",
        "all done",
        "fixed",
        "completed",
        "complete",
        "perfect",
        "great",
        "summary",
        "good",
        "yes",
        "no",
        "ok",
        "committed",
        "all set",
        "finished",
        "success",
        "완료했습니다",
        "완료되었습니다",
        "수정 완료했습니다",
        "완료",
        "추가했습니다",
        "수정했습니다",
        "네",
        "はい",
        "完了しました",
        "完了",
        "修正しました",
        "できました",
        "完成",
        "已完成",
        "好的",
        "完成了",
        "변경 요약",
        "요약",
        "커밋 완료했습니다",
        "overview",
        "changes made",
        "what changed",
    ];
    bare.chars().count() < 4 || empty.contains(&bare.as_str())
}

/// Returns the sentences of an answer that say what blocks the work.
pub(super) fn blockers(answer: &str) -> Vec<String> {
    let signs = [
        "blocked by",
        "blocked on",
        "is blocked",
        "i can't proceed",
        "cannot proceed",
        "can't continue",
        "unable to",
        "you'll need to",
        "you will need to",
        "needs your",
        "waiting for you",
        "i don't have access",
        "i do not have access",
        "requires manual",
        "수 없습니다",
        "할 수 없",
        "できません",
        "できない",
        "无法",
        "需要你",
        "需要您",
    ];
    text::sentences(answer)
        .into_iter()
        .filter(|sentence| {
            let lower = sentence.to_lowercase();
            signs.iter().any(|sign| text::contains(&lower, sign))
                && !lower.starts_with("nothing")
                && !lower.starts_with("no ")
                && !sentence.ends_with(['?', '？'])
                && (16..300).contains(&sentence.chars().count())
        })
        .take(3)
        .collect()
}

/// Signs with which the agent admits what it did not check, or could not.
const ADMISSIONS: &[&str] = &[
    "not verified",
    "n't verified",
    "not been verified",
    "unverified",
    "could not verify",
    "couldn't verify",
    "can't verify",
    "cannot verify",
    "not tested",
    "n't tested",
    "not been tested",
    "untested",
    "could not test",
    "couldn't test",
    "can't test",
    "cannot test",
    "unable to test",
    "unable to verify",
    "unable to reproduce",
    "could not reproduce",
    "couldn't reproduce",
    "can't reproduce",
    "not reproducible",
    "did not run",
    "didn't run",
    "could not run",
    "couldn't run",
    "not end-to-end",
    "next time it fails",
    "확인하지 못",
    "검증하지 못",
    "테스트하지 못",
    "재현하지 못",
    "확인되지 않",
    "未確認",
    "未検証",
    "確認できていま",
    "検証できていま",
    "テストできていま",
    "再現できま",
    "未验证",
    "无法验证",
    "没有测试",
    "无法复现",
];

/// Headings above what an answer leaves open.
const OPEN_HEADINGS: &[&str] = &[
    "loose ends",
    "not verified",
    "not tested",
    "not done",
    "left undone",
    "still open",
    "open items",
    "remaining work",
    "남은 작업",
    "미완료",
    "残作業",
    "残りの作業",
    "未対応",
    "剩余工作",
    "未完成",
];

/// Returns the sentences of an answer that admit what was not checked, whole, and the first sentence of each item that
/// it lists as open.
pub(super) fn admissions(answer: &str) -> Vec<String> {
    const MAX: usize = 4;
    let mut all: Vec<String> = Vec::new();
    let mut is_below = false;
    for line in text::prose_lines(answer) {
        let is_heading = line.starts_with('#') || (line.starts_with("**") && line.trim_end_matches(':').ends_with("**"));
        if is_heading {
            let heading = line.to_lowercase();
            is_below = OPEN_HEADINGS.iter().any(|words| heading.contains(words));
            continue;
        }
        for (at, sentence) in text::sentences(line).into_iter().enumerate() {
            let is_told = !sentence.ends_with(['?', '？', ':', '：']) && (16..400).contains(&sentence.chars().count());
            if is_told && (admits(&sentence.to_lowercase()) || (is_below && at == 0)) && all.len() < MAX {
                all.push(sentence);
            }
        }
    }
    all
}

/// Returns whether a sentence in lower case says that something was not checked, or only in part.
fn admits(lower: &str) -> bool {
    let is_partly = |verb: &str| lower.find(verb).is_some_and(|at| lower[at..].contains(", not "));
    ADMISSIONS.iter().any(|sign| text::contains(lower, sign)) || is_partly("verified") || is_partly("tested ")
}

/// Returns what the agent proposes or asks at the end of its answer. None if the answer only reports.
pub(super) fn closing_question(answer: &str) -> Option<String> {
    let end = text::tail(answer, 1500);
    let asks = |said: &str| {
        let said = said.trim_end_matches(['*', '"', ' ', ')']);
        said.ends_with(['?', '？']) || ["까요.", "ますか。", "しょうか。", "吗。"].iter().any(|end| said.ends_with(end))
    };
    let lines: Vec<&str> = text::prose_lines(end).collect();
    let is_item = |line: &str| {
        line.starts_with(['-', '*', '•']) || line.trim_start_matches("**").starts_with(|c: char| c.is_ascii_digit())
    };
    // A question with its options: the line that leads to them, and the list.
    let options = lines.iter().rev().take_while(|line| is_item(line)).count();
    if (1..=MAX_OPTIONS).contains(&options) && options < lines.len() {
        let items = &lines[lines.len() - options..];
        let lead = text::sentences(lines[lines.len() - options - 1]).into_iter().next_back().unwrap_or_default();
        let is_question = asks(&lead) || (lead.ends_with([':', '：']) && asks_to_choose(&lead));
        if is_question || items.iter().all(|item| asks(item)) {
            let items: Vec<String> = items.iter().map(|item| text::plain(item)).collect();
            return Some(text::clip(&format!("{lead} {}", items.join(" / ")), MAX_QUESTION_CHARS).into_owned());
        }
    }
    let last = text::sentences(end).into_iter().next_back()?;
    asks(&last).then_some(last)
}

/// The maximum number of options below a closing question. A longer list is not a choice.
const MAX_OPTIONS: usize = 5;
/// The maximum length of a closing question with its options, in characters.
const MAX_QUESTION_CHARS: usize = 360;

/// Returns whether a line that leads to a list asks to choose from it.
fn asks_to_choose(lead: &str) -> bool {
    let lower = lead.to_lowercase();
    ["would you like", "do you want", "should i", "shall i", "which", "want me to", "prefer"]
        .iter()
        .any(|sign| lower.contains(sign))
}

#[cfg(test)]
mod tests {
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
        assert!(
            admissions("The totals were verified on every page. Should I also test the page of the partners?").is_empty()
        );
        assert_eq!(admissions("반올림은 브라우저에서 확인하지 못했습니다.").len(), 1);
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
}
