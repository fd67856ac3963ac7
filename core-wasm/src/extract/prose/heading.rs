//! Headings, pointers ("this", "the above") and the files that a sentence names.

use super::narration::is_narration;
use crate::extract::signs;
use crate::text;

pub(super) const POINTERS: &[&str] = &[
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

/// Words that tie a sentence to the one before it.
const CONNECTIVES: &[&str] = &[
    "and",
    "but",
    "or",
    "however",
    "also",
    "still",
    "even so",
    "besides",
    "meanwhile",
    "again",
    "conversely",
    "likewise",
    "similarly",
    "additionally",
    "그리고",
    "하지만",
    "그러나",
    "또한",
    "しかし",
    "また",
    "そして",
    "但是",
    "不过",
    "而且",
];

/// The maximum length of a sentence that is told because the next one needs it, in characters.
const MAX_PREVIOUS_CHARS: usize = 200;

/// Completes a sentence that leans on another: adds the previous sentence or the heading above it.
pub(super) fn resolve_pointer(sentence: &str, heading: &str, previous: &str) -> Option<String> {
    let lower = text::lower(sentence);
    if !leans(&lower) {
        // Korean and Japanese omit the subject if the previous sentence names it.
        let drops = matches!(text::language(sentence), text::Language::Korean | text::Language::Japanese);
        if drops && !previous.is_empty() && !is_narration(previous) && previous.chars().count() < 140 {
            return Some(format!("{previous} {sentence}"));
        }
        return Some(sentence.to_owned());
    }
    let before = previous.to_lowercase();
    let usable =
        !previous.is_empty() && !is_narration(previous) && previous.chars().count() < MAX_PREVIOUS_CHARS && !leans(&before);
    if usable {
        return Some(format!("{} {sentence}", previous.trim_end_matches(':')));
    }
    // A pronoun may stand for what the heading names, if that is no clause.
    let is_pointer = POINTERS.iter().any(|word| text::starts_with_words(&lower, word));
    (is_pointer && !heading.is_empty() && !signs::is_clause_heading(heading)).then(|| format!("{heading}: {sentence}"))
}

/// Returns whether a sentence in lower case needs the one before it.
fn leans(lower: &str) -> bool {
    POINTERS.iter().chain(CONNECTIVES).any(|word| text::starts_with_words(lower, word))
        || signs::leans_on_sentence_before(lower)
        || signs::speaks_of_named_before(lower)
}

/// Headings that stand above anything.
const GENERIC_HEADINGS: &[&str] = &[
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

/// Words of which a heading may consist that names no subject: "Two things to know", "What it does now".
const EMPTY_WORDS: &[&str] = &[
    "what",
    "what's",
    "why",
    "how",
    "where",
    "when",
    "here",
    "here's",
    "there",
    "there's",
    "it",
    "it's",
    "its",
    "this",
    "that",
    "these",
    "those",
    "the",
    "a",
    "an",
    "and",
    "of",
    "to",
    "is",
    "are",
    "was",
    "were",
    "do",
    "does",
    "did",
    "done",
    "i",
    "i've",
    "you",
    "your",
    "we",
    "my",
    "one",
    "two",
    "three",
    "four",
    "few",
    "some",
    "thing",
    "things",
    "point",
    "points",
    "note",
    "notes",
    "flag",
    "know",
    "worth",
    "knowing",
    "noting",
    "quick",
    "short",
    "answer",
    "works",
    "worked",
    "now",
    "also",
    "in",
    "on",
    "for",
    "matters",
    "means",
    "stand",
    "stands",
    "running",
    "happened",
    "change",
    "changes",
    "changed",
    "actually",
    "really",
    "more",
    "so",
    "far",
    "exactly",
    "take",
    "detail",
    "details",
    "confirmed",
    "working",
];

/// Returns whether a heading in lower case consists of words that name no subject.
fn names_nothing(lower: &str) -> bool {
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| EMPTY_WORDS.contains(&word))
}

/// Returns whether a heading says nothing of what stands below it.
pub(in crate::extract) fn is_generic_heading(title: &str) -> bool {
    let lower = title.trim().to_lowercase();
    let bare = lower.strip_prefix("the ").unwrap_or(&lower);
    GENERIC_HEADINGS.iter().any(|generic| *generic == lower || *generic == bare)
        || names_nothing(&lower)
        || names_nothing_wide(&lower)
}

/// Returns whether a Korean or Japanese heading consists of parts that name no subject: "주요 변경사항", "修正内容のまとめ".
fn names_nothing_wide(heading: &str) -> bool {
    const PARTS: [&str; 38] = [
        "주요",
        "변경",
        "수정",
        "작업",
        "완료",
        "구현",
        "업데이트",
        "사항",
        "내용",
        "요약",
        "결과",
        "내역",
        "된",
        "한",
        "최종",
        "主な",
        "変更",
        "修正",
        "対応",
        "実装",
        "更新",
        "完了",
        "作業",
        "内容",
        "点",
        "箇所",
        "項目",
        "サマリー",
        "サマリ",
        "まとめ",
        "概要",
        "結果",
        "の",
        "した",
        "最終",
        "です",
        "以下",
        "は",
    ];
    let mut rest: &str = &heading.replace(|c: char| !c.is_alphanumeric(), "");
    if rest.is_ascii() {
        return false;
    }
    while let Some(after) = PARTS.iter().find_map(|part| rest.strip_prefix(part)) {
        rest = after;
    }
    rest.is_empty()
}

/// Returns the title if the line is a heading: `## Title`, `**Title**`, `**Title** (where)`, `1. **Title**`.
pub(super) fn heading_of(line: &str) -> Option<String> {
    let is_marked = line.starts_with('#');
    let unnumbered = line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' ' | '-' | '*'));
    let is_bold = line.contains("**")
        && line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' ' | '-')).starts_with("**")
        && unnumbered
            .split_once("**")
            .is_some_and(|(_, rest)| rest.trim().trim_matches(':').chars().count() <= 24 && !goes_on(rest));
    if !is_marked && !is_bold {
        return None;
    }
    let title = text::plain(line);
    let title = title.trim_end_matches([':', '：']);
    Some(if is_generic_heading(title) { String::new() } else { strip_numbering(title) })
}

/// Returns whether a line that opens with bold words is a sentence, given what follows them: "**The till** rings twice.",
/// "**引き出し**は赤い".
fn goes_on(rest: &str) -> bool {
    const ENDS: [char; 4] = ['.', '。', '!', '！'];
    let after = rest.trim();
    // Where no space divides words, a particle follows the bold words at once.
    let is_glued = rest.starts_with(|c: char| c >= '\u{2e80}' && c.is_alphanumeric());
    let is_said = after.starts_with(char::is_alphanumeric) && after.ends_with(ENDS);
    (is_glued || is_said) && !after.ends_with([':', '：'])
}

/// Returns whether the line is a heading.
pub(in crate::extract) fn is_heading(line: &str) -> bool {
    heading_of(line).is_some()
}

/// Returns whether a text in lower case starts with a word that points to something said before it.
pub(in crate::extract) fn is_pointer(lower: &str) -> bool {
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
pub(in crate::extract) fn file_in(text: &str) -> Option<String> {
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
