//! What the agent says when it acknowledges a correction: it names in full what "leave that" meant.

use super::narration;
use crate::text;

/// Openings with which the agent acknowledges what the user said.
const OPENINGS: &[&str] = &[
    "got it",
    "understood",
    "ok",
    "okay",
    "right",
    "you're right",
    "agreed",
    "makes sense",
    "sure",
    "네",
    "알겠습니다",
    "알겠어요",
    "맞습니다",
    "맞아요",
    "그렇네요",
    "이해했습니다",
    "了解",
    "承知",
    "わかりました",
    "分かりました",
    "はい",
    "なるほど",
    "その通り",
    "おっしゃる通り",
    "明白",
    "好的",
];

/// The least and the most that such a sentence says, in characters. Scripts without spaces say as much in half as many.
const MIN_CHARS: usize = 30;
const MAX_CHARS: usize = 200;

/// Words of a sentence that only says that the agent looks into it.
const LOOKS: &[&str] = &["確認し", "調べ", "見てみ", "확인하", "확인해", "살펴", "조사하", "查看", "检查"];

/// How many sentences without content may stand before the one that names it.
const MAX_BARE: usize = 2;

/// Returns the first sentence with content of a text that begins by acknowledging what the user said, without the acknowledgement.
pub(in crate::extract) fn acknowledged(said: &str) -> Option<String> {
    // "了解です。", "はい、", and no longer word: "네트워크".
    let behind = |sentence: &str| {
        let words =
            OPENINGS.iter().find(|words| sentence.get(..words.len()).is_some_and(|it| it.eq_ignore_ascii_case(words)))?;
        let rest = &sentence[words.len()..];
        let rest =
            ["です", "しました", "いたしました", "입니다"].iter().find_map(|end| rest.strip_prefix(end)).unwrap_or(rest);
        (!rest.starts_with(char::is_alphanumeric)).then(|| rest.to_owned())
    };
    let sentences: Vec<String> = text::sentences(said).iter().map(|sentence| sentence.replace('’', "'")).collect();
    behind(sentences.first()?)?;
    let bare = |sentence: &String| {
        let rest = behind(sentence).unwrap_or_else(|| sentence.clone());
        rest.trim_start_matches(|c: char| !c.is_alphanumeric() && !"`\"「'".contains(c)).to_owned()
    };
    let says = |sentence: &String| {
        let weight = if text::language(sentence) == text::Language::English { 1 } else { 2 };
        weight * sentence.chars().count() >= MIN_CHARS
    };
    let found = sentences.iter().take(MAX_BARE + 1).map(bare).find(says)?;
    let is_whole = found.chars().count() <= MAX_CHARS && !found.ends_with([':', '：', '?', '？']);
    let looks = LOOKS.iter().any(|words| found.contains(words))
        || (text::language(&found) == text::Language::English && narration::is_narration(&found));
    (is_whole && !looks).then_some(found)
}

/// Returns the sentence of an answer that recommends one of several ways.
pub(in crate::extract) fn recommended(answer: &str) -> Option<String> {
    const SIGNS: [&str; 12] = [
        "i recommend",
        "i'd recommend",
        "i would recommend",
        "my recommendation",
        "i'd go with",
        "추천",
        "권장",
        "가장 깔끔",
        "おすすめ",
        "推奨",
        "一番",
        "推荐",
    ];
    let says = |sentence: &String| {
        let lower = text::lower(sentence).replace('’', "'");
        !sentence.ends_with(['?', '？', ':', '：']) && text::contains_any_words(&lower, &SIGNS)
    };
    text::sentences(answer).into_iter().rfind(says)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_up_a_correction_names_it() {
        let told = |said: &str| acknowledged(said).unwrap_or_default();
        assert_eq!(
            told("了解です。税の計算はそのまま残して、印刷だけを直します。"),
            "税の計算はそのまま残して、印刷だけを直します。"
        );
        assert_eq!(
            told("네, 장바구니의 합계 계산은 그대로 두고 출력만 고치겠습니다."),
            "장바구니의 합계 계산은 그대로 두고 출력만 고치겠습니다."
        );
        assert_eq!(
            told("Got it. The till keeps its own sum, and only the slip changes."),
            "The till keeps its own sum, and only the slip changes."
        );
        assert_eq!(
            told("You’re right, the till keeps its own sum – only the slip changes."),
            "the till keeps its own sum – only the slip changes."
        );
        for said in [
            "네트워크 설정은 그대로 두고 출력만 고치겠습니다.",
            "Right, let me look at the till’s drawer and the cart again.",
            "税の計算はそのまま残して、印刷だけを直します。",
            "了解。直します。",
            "Right, let me look at the till and the cart again.",
            "",
        ] {
            assert_eq!(told(said), "", "{said}");
        }
    }

    #[test]
    fn what_was_recommended() {
        let answer = "A は速い。B は簡単。\n\n現状では A (`till.toml` に書く) が一番きれいです。どちらにしますか？";
        assert_eq!(recommended(answer).unwrap(), "現状では A (`till.toml` に書く) が一番きれいです。");
        assert_eq!(recommended("A is fast. B is simple."), None);
    }
}
