//! The form of a prompt: whether it asks, reports trouble, gives an order, or only chats.
//!
//! The form says how much a prompt needs the memory. A question or a symptom does; "write a chart" hardly does; thanks
//! never do.

use crate::text;

/// What can be seen of a prompt without knowing the project.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each a feature of its own")]
pub(crate) struct PromptForm {
    /// Whether it asks something.
    pub asks: bool,
    /// Whether it says that something is wrong or missing.
    pub reports_trouble: bool,
    /// Whether it begins or ends like an order.
    pub orders: bool,
    /// Whether it begins with thanks, praise or a greeting.
    pub chats: bool,
    /// Whether most of it is in a script in which a word takes fewer letters than in the Latin one.
    pub is_wide: bool,
    /// Its length in characters. In a wide script, each counts twice.
    pub length: usize,
}

/// Words with which an English question begins.
const INTERROGATIVES: &[&str] = &[
    "what",
    "why",
    "how",
    "where",
    "which",
    "who",
    "when",
    "did",
    "do",
    "does",
    "is",
    "are",
    "can",
    "could",
    "should",
    "may",
    "must",
    "was",
    "were",
    "has",
    "have",
    "by what",
    "by which",
    "in what",
    "in which",
    "into which",
    "with what",
    "with which",
    "to which",
    "from which",
    "on which",
    "for which",
];

/// Parts of questions in Korean, Japanese and Chinese.
const WIDE_INTERROGATIVES: &[&str] = &[
    "왜",
    "어떻게",
    "어디",
    "무슨",
    "무엇",
    "뭘",
    "뭐",
    "언제",
    "어느",
    "얼마",
    "까요",
    "나요",
    "なぜ",
    "どう",
    "どこ",
    "何",
    "いつ",
    "どれ",
    "どの",
    "ですか",
    "ますか",
    "だっけ",
    "为什么",
    "怎么",
    "哪",
    "什么",
    "吗",
];

/// Endings of prompts in Korean, Japanese and Chinese that ask for an answer, though they have the form of an order. Half of them
/// ask what everybody knows, so they do not count as questions either.
const WIDE_INQUIRIES: &[&str] = &[
    "알려줘",
    "알려 줘",
    "알려주세요",
    "알려 주세요",
    "말해줘",
    "말해 줘",
    "가르쳐줘",
    "教えて",
    "教えてください",
    "告诉我",
];

/// Endings of questions in Korean and Japanese.
const WIDE_QUESTION_ENDINGS: &[&str] =
    &["か", "지", "뭐야", "뭐냐", "뭔지", "어때", "더라", "었나", "았나", "했나", "인가", "だったっけ", "だろう"];

/// English words of trouble. A word that begins with one of them counts.
const TROUBLE: &[&str] = &[
    "fail", "broke", "break", "error", "crash", "panic", "wrong", "missing", "never", "not", "nothing", "empty", "red",
    "twice", "gone", "refus", "reject", "stop", "hang", "slow", "complain", "lost", "stay", "blow", "cannot", "cant",
    "wont", "doesnt", "dont", "isnt", "no",
];

/// Words of trouble in Korean, Japanese and Chinese.
const WIDE_TROUBLE: &[&str] = &[
    "안 ",
    "못",
    "없",
    "오류",
    "실패",
    "에러",
    "자꾸",
    "멈춰",
    "멈춘",
    "깨",
    "사라",
    "エラー",
    "失敗",
    "ない",
    "止ま",
    "おかし",
    "変な",
    "消え",
    "空の",
    "错误",
    "失败",
    "不能",
    "没有",
];

/// Verbs with which an English order begins.
const ORDERS: &[&str] = &[
    "add",
    "write",
    "rename",
    "update",
    "bump",
    "raise",
    "lower",
    "sort",
    "translate",
    "publish",
    "create",
    "make",
    "remove",
    "delete",
    "move",
    "run",
    "fix",
    "implement",
    "commit",
    "push",
    "merge",
    "format",
    "refactor",
    "convert",
    "generate",
    "set",
    "use",
    "put",
    "change",
    "draw",
    "draft",
    "build",
    "deploy",
    "release",
    "undo",
    "give",
    "explain",
];

/// Endings of orders and wishes in Korean, Japanese and Chinese.
const WIDE_ORDERS: &[&str] =
    &["해줘", "하자", "해 줘", "해라", "줘", "싶어", "주세요", "て", "たい", "ください", "ます", "しよう"];

/// Openings of prompts that only chat.
const CHAT: &[&str] = &[
    "thanks",
    "thank you",
    "ok",
    "okay",
    "cool",
    "great",
    "nice",
    "good",
    "alright",
    "looks",
    "perfect",
    "done",
    "bye",
    "hi",
    "hello",
    "hey",
    "morning",
    "고마워",
    "감사",
    "좋아",
    "응",
    "네",
    "ありがとう",
    "はい",
    "了解",
    "お疲れ",
    "谢谢",
    "好的",
];

impl PromptForm {
    /// Reads the form of a prompt.
    pub(crate) fn of(prompt: &str) -> Self {
        let lower = prompt.trim().to_lowercase().replace(['\'', '’'], "");
        let end = lower.trim_end_matches(['.', '!', '?', '。', '！', '？', '~', ' ']);
        let is_wide = text::language(prompt) != text::Language::English;
        let chars = prompt.chars().count();
        let starts = |list: &[&str]| list.iter().any(|opening| text::starts_with_words(&lower, opening));
        let ordered = lower.strip_prefix("please ").unwrap_or(&lower);
        let inquires = WIDE_INQUIRIES.iter().any(|ending| end.ends_with(ending));
        Self {
            asks: lower.contains(['?', '？'])
                || starts(INTERROGATIVES)
                || WIDE_QUESTION_ENDINGS.iter().any(|ending| end.ends_with(ending))
                || text::contains_any(&lower, WIDE_INTERROGATIVES),
            reports_trouble: lower
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| TROUBLE.iter().any(|sign| is_form_of(word, sign)))
                || text::contains_any(&lower, WIDE_TROUBLE),
            orders: ORDERS.iter().any(|verb| text::starts_with_words(ordered, verb))
                || (!inquires && WIDE_ORDERS.iter().any(|ending| end.ends_with(ending))),
            chats: starts(CHAT),
            is_wide,
            length: if is_wide { 2 * chars } else { chars },
        }
    }
}

/// Returns whether a word begins with the sign. Short signs must be the whole word.
fn is_form_of(word: &str, sign: &str) -> bool {
    if sign.len() < 4 { word == sign } else { word.starts_with(sign) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn questions_and_symptoms() {
        for prompt in
            ["where did the command go", "is that intended?", "문서가 자꾸 영어로 나와", "出力が空のままになるのはなぜ？"]
        {
            let form = PromptForm::of(prompt);
            assert!(form.asks || form.reports_trouble, "{prompt}: {form:?}");
            assert!(!form.chats, "{prompt}");
        }
        assert!(PromptForm::of("the api doesn't come up").reports_trouble);
        assert!(!PromptForm::of("a note about nodes").reports_trouble);
    }

    #[test]
    fn orders_and_chat() {
        for prompt in ["write a Helm chart", "Please rename tmp to buffer", "변수 이름 바꿔 줘", "README を整えて"]
        {
            assert!(PromptForm::of(prompt).orders, "{prompt}");
        }
        for prompt in ["thanks, that's all", "고마워, 오늘은 여기까지", "ok", "Good morning!"] {
            assert!(PromptForm::of(prompt).chats, "{prompt}");
        }
        assert!(!PromptForm::of("goodness of fit is wrong").chats);
        assert!(!PromptForm::of("writers may reshare").orders);
    }

    #[test]
    fn an_order_to_tell_is_no_order() {
        for prompt in ["배송비를 어디서 정하는지 알려줘", "送料の決め方を教えてください", "할인율이 몇이더라"]
        {
            assert!(!PromptForm::of(prompt).orders, "{prompt}");
        }
        assert!(PromptForm::of("배송비를 올려줘").orders);
        assert!(PromptForm::of("할인율이 몇이더라").asks);
    }

    #[test]
    fn letters_of_a_wide_script_count_twice() {
        assert_eq!(PromptForm::of("왜 그래").length, 8);
        assert_eq!(PromptForm::of("why").length, 3);
    }

    proptest! {
        #[test]
        fn never_panics(prompt in any::<String>()) {
            PromptForm::of(&prompt);
        }
    }
}
