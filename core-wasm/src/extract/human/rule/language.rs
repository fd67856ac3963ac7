//! Rules about the language in which something is always written: "コメントは英語で", "커밋 메시지는 한글로", "PR titles in English".

use super::records::ONCE;
use crate::text;

/// The maximum length of such a sentence, in characters.
const MAX_CHARS: usize = 48;

const LANGUAGES: [&str; 11] =
    ["英語", "日本語", "韓国語", "中国語", "영어", "한국어", "한글", "일본어", "중국어", "english", "korean"];

/// What may stand behind the language.
const ENDS: [&str; 22] = [
    "で",
    "に",
    "でお願い",
    "でお願いします",
    "で書いて",
    "で書いてください",
    "で書くように",
    "にして",
    "にしてください",
    "로",
    "로만",
    "로 써",
    "로 써줘",
    "로 쓰자",
    "로 작성",
    "로 작성해",
    "로 작성해줘",
    "로 해줘",
    "로 하자",
    "로 부탁해",
    "로 작성하도록",
    "로 작성해주세요",
];

/// Kinds of texts that need no topic marker.
const TEXTS: [&str; 8] =
    ["pr名", "prタイトル", "コミットメッセージ", "ブランチ名", "pr 제목", "커밋 메시지", "커밋 메세지", "브랜치 이름"];

/// Kinds of texts that a topic marker must follow.
const TOPICS: [&str; 16] = [
    "コメント",
    "メッセージ",
    "ドキュメント",
    "タイトル",
    "説明",
    "本文",
    "名前",
    "コミット",
    "주석",
    "문서",
    "제목",
    "설명",
    "본문",
    "이름",
    "커밋",
    "pr",
];

/// All that may stand before the language in English: a verb would ask for one text.
const ENGLISH_KINDS: [&str; 20] = [
    "titles",
    "messages",
    "comments",
    "commits",
    "prs",
    "docs",
    "descriptions",
    "names",
    "bodies",
    "notes",
    "all",
    "the",
    "and",
    "pr",
    "commit",
    "code",
    "issue",
    "branch",
    "pull",
    "request",
];

/// Returns whether a short sentence in lower case says in which language something is always written.
pub(super) fn tells_language(lower: &str) -> bool {
    let said = lower.trim().trim_end_matches(['.', '!', '。', '！']);
    if said.chars().count() > MAX_CHARS || text::contains_any_words(&format!(" {said}"), ONCE) {
        return false;
    }
    LANGUAGES.iter().any(|language| {
        let Some((before, after)) = said.rsplit_once(language) else { return false };
        if language.is_ascii() {
            let kind = before.strip_suffix(" in ");
            kind.is_some_and(is_english_kind) && matches!(after.trim(), "" | "please")
        } else {
            is_kind(before.trim_end()) && ENDS.contains(&after)
        }
    })
}

fn is_english_kind(words: &str) -> bool {
    words.split_whitespace().all(|word| ENGLISH_KINDS.contains(&word))
}

/// Returns whether Korean or Japanese words name a kind of texts. The topic marker speaks of the kind, the object marker of one text.
fn is_kind(words: &str) -> bool {
    let ends = |words: &str, kinds: &[&str]| kinds.iter().any(|kind| words.ends_with(kind));
    let topic = ["は", "は、", "은", "는"].iter().find_map(|marker| words.strip_suffix(marker));
    ends(words, &TEXTS) || topic.is_some_and(|topic| ends(topic, &TEXTS) || ends(topic, &TOPICS))
}
