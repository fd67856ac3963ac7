//! Consents ("yes", "go with 2"), chores ("commit it") and greetings: prompts that ask for nothing new.

use super::parts::Parts;
use crate::text;

pub(super) fn is_greeting(sentence: &str) -> bool {
    let bare = normalize(sentence);
    [
        "hi",
        "hello",
        "hey",
        "hi claude",
        "hey claude",
        "hello claude",
        "hi there",
        "good morning",
        "hallo",
        "hola",
        "bonjour",
        "привет",
        "здравствуйте",
        "안녕",
        "안녕하세요",
        "こんにちは",
        "你好",
        "thanks",
        "thank you",
    ]
    .contains(&bare.as_str())
}

/// Reduces a text to letters, digits and single spaces in lower case.
pub(super) fn normalize(text: &str) -> String {
    let memory: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    text::one_line(&memory).to_lowercase()
}

/// Words of consent at the start of a short prompt.
const CONSENTS: &[&str] = &[
    "yes",
    "yep",
    "yeah",
    "yup",
    "ok",
    "okay",
    "sure",
    "go ahead",
    "go for it",
    "do it",
    "do that",
    "please do",
    "sounds good",
    "looks good",
    "lgtm",
    "perfect",
    "its perfect",
    "it s perfect",
    "that s perfect",
    "great",
    "proceed",
    "continue",
    "go on",
    "go",
    "let s do",
    "let s go",
    "agreed",
    "correct",
    "exactly",
    "approved",
    "y",
    "make it so",
    "fine",
    "good",
    "응",
    "어",
    "네",
    "예",
    "그래",
    "좋아",
    "ㅇㅇ",
    "ㅇㅋ",
    "그렇게",
    "그러자",
    "그걸로 하",
    "그걸로 해",
    "그걸로 가",
    "그걸로 진행",
    "그거로 하",
    "그거로 해",
    "그거로 가",
    "진행",
    "오케이",
    "계속",
    "해줘",
    "맞아",
    "はい",
    "うん",
    "お願い",
    "いいよ",
    "いいね",
    "それで",
    "これでいい",
    "そうし",
    "続けて",
    "進めて",
    "ok",
    "おk",
    "オッケー",
    "好",
    "可以",
    "行",
    "嗯",
    "是的",
    "对",
    "继续",
    "没问题",
    "同意",
];

/// Returns a prompt in Korean or Japanese without the words with which it turns to what was said: "じゃあ", "그럼".
pub(in crate::extract) fn without_lead(prompt: &str) -> &str {
    const LEADS: [&str; 7] = ["じゃあ", "それじゃ", "じゃ、", "では、", "では ", "그럼", "그러면"];
    let rest = LEADS.iter().find_map(|lead| prompt.strip_prefix(lead)).unwrap_or(prompt);
    rest.trim_start_matches([' ', '、', ',', '　'])
}

/// Returns whether a sentence in Korean or Japanese is nothing but a yes, a no or thanks: "네, 그렇게 해주세요", "はい、お願いします".
pub(super) fn is_bare_consent(sentence: &str) -> bool {
    const WORDS: [&str; 53] = [
        "네",
        "넵",
        "예",
        "응",
        "어",
        "그래",
        "그래요",
        "좋아",
        "좋아요",
        "좋습니다",
        "좋네요",
        "맞아",
        "맞아요",
        "ㅇㅇ",
        "ㅇㅋ",
        "오케이",
        "굿",
        "고마워",
        "고맙습니다",
        "감사합니다",
        "아니",
        "아니요",
        "아뇨",
        "괜찮아",
        "괜찮아요",
        "いいえ",
        "大丈夫です",
        "그렇게",
        "그대로",
        "해줘",
        "해줘요",
        "해주세요",
        "해",
        "하자",
        "진행해",
        "진행해줘",
        "진행해주세요",
        "부탁해",
        "부탁해요",
        "부탁드립니다",
        "はい",
        "うん",
        "いいね",
        "いいですね",
        "了解",
        "了解です",
        "ありがとう",
        "ありがとうございます",
        "お願い",
        "お願いします",
        "それで",
        "それでお願いします",
        "そうしてください",
    ];
    let bare = normalize(sentence);
    !sentence.contains(['?', '？']) && !bare.is_empty() && bare.split(' ').all(|word| WORDS.contains(&word))
}

/// Returns whether a prompt in Korean or Japanese picks one of the things that a question named: "Aでお願いします", "A로 가자".
pub(in crate::extract) fn picks_of(prompt: &str, question: &str) -> bool {
    const ENDS: [&str; 12] = [
        "でお願い",
        "にします",
        "にしましょう",
        "でいきましょう",
        "で行きましょう",
        "を使って",
        "로 가자",
        "로 하자",
        "로 해줘",
        "로 해주세요",
        "로 진행",
        "로 할게",
    ];
    let first = text::first_sentence(prompt).unwrap_or_default().to_lowercase();
    let picked = ENDS.iter().find_map(|end| first.split_once(end)).map(|(picked, _)| picked.trim().trim_end_matches('으'));
    picked.is_some_and(|picked| picked.chars().count() > 1 && question.to_lowercase().contains(picked))
}

/// Returns whether a prompt only agrees to an earlier proposal.
pub(in crate::extract) fn is_consent(prompt: &str) -> bool {
    let bare = normalize(prompt);
    let bare = without_lead(&bare);
    // "네 서랍을 고쳐줘" orders something: it has an object.
    let mut words = bare.split(' ');
    let is_order = matches!(words.next(), Some("네" | "예" | "응" | "어")) && words.any(|word| word.ends_with(['을', '를']));
    let length = bare.chars().count();
    let short = if bare.is_ascii() { length <= 60 } else { length <= 30 };
    short
        && !is_order
        && !prompt.contains(['?', '？'])
        && CONSENTS.iter().any(|word| {
            bare.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ') || !word.is_ascii())
        })
}

/// Returns whether a prompt thanks for what was done. An offer behind that need not be accepted.
pub(in crate::extract) fn thanks(prompt: &str) -> bool {
    text::contains_any(&prompt.to_lowercase(), &["thank", "thx", "고마", "고맙", "감사", "ありがと", "谢谢"])
}

/// Returns whether a prompt begins by agreeing to what was proposed, and goes on.
pub(in crate::extract) fn begins_with_consent(prompt: &str) -> bool {
    let bare = normalize(prompt);
    let rest = ["ok ", "okay "].iter().find_map(|lead| bare.strip_prefix(lead)).unwrap_or(&bare);
    ["yes", "yep", "yeah", "sure", "go ahead", "let s go", "lets go", "sounds good", "agreed", "네", "응", "はい", "好的"]
        .iter()
        .any(|word| text::starts_with_words(rest, word))
}

/// Returns whether a prompt agrees to what the answer before it asked: it says yes, or says again what was asked.
pub(in crate::extract) fn takes_up(prompt: &str, question: &str) -> bool {
    const MAX_ECHO_CHARS: usize = 80;
    let own = text::features(prompt);
    let asked = text::features(question);
    let is_echo = prompt.chars().count() <= MAX_ECHO_CHARS && own.len() > 1 && own.is_subset(&asked);
    is_echo || is_consent(prompt) || begins_with_consent(prompt)
}

/// Words of chores. A chore completes the previous work and is not a request of its own.
const CHORES: &[&str] = &[
    "commit",
    "push",
    "merge",
    "create a pr",
    "create pr",
    "open a pr",
    "make a pr",
    "get a pr up",
    "continue",
    "go on",
    "retry",
    "try again",
    "resume",
    "stop",
    "thanks",
    "thank you",
    "wait",
    "커밋",
    "푸시",
    "계속",
    "コミット",
    "プッシュ",
    "続けて",
    "提交",
    "推送",
    "继续",
];

/// Words of orders to record or to publish the work, and words that say nothing beside them. A prompt of nothing else is a
/// chore, however long it is.
const CHORE_WORDS: &[&str] = &[
    "commit",
    "commits",
    "committed",
    "push",
    "pushed",
    "pull",
    "request",
    "pr",
    "prs",
    "merge",
    "merged",
    "rebase",
    "branch",
    "main",
    "master",
    "origin",
    "remote",
    "message",
    "changes",
    "change",
    "changed",
    "files",
    "file",
    "everything",
    "all",
    "work",
    "staged",
    "unstaged",
    "git",
    "github",
    "gh",
    "open",
    "create",
    "make",
    "draft",
    "new",
    "current",
    "upstream",
    "please",
    "pls",
    "can",
    "could",
    "you",
    "we",
    "i",
    "let",
    "lets",
    "s",
    "us",
    "now",
    "then",
    "and",
    "also",
    "just",
    "so",
    "ok",
    "okay",
    "yes",
    "great",
    "good",
    "nice",
    "thanks",
    "the",
    "a",
    "an",
    "this",
    "that",
    "these",
    "those",
    "it",
    "them",
    "to",
    "for",
    "with",
    "in",
    "on",
    "of",
    "from",
    "into",
    "up",
    "get",
    "go",
    "ahead",
    "do",
    "your",
    "our",
    "my",
    "as",
    "is",
    "have",
    "been",
    "ready",
    "done",
    "again",
    "continue",
    "first",
    "when",
    "once",
    "after",
    "before",
    "update",
    "set",
];

/// Returns whether a text in lower case only speaks of recording and publishing the work.
fn is_all_chore(bare: &str) -> bool {
    let is_git =
        |word: &str| word.starts_with("commit") || word.starts_with("push") || matches!(word, "merge" | "pr" | "rebase");
    let count = bare.split(' ').count();
    count <= 30 && bare.split(' ').any(is_git) && bare.split(' ').all(|word| CHORE_WORDS.contains(&word))
}

/// Returns whether a prompt asks for nothing but to record and to publish the work.
pub(in crate::extract) fn only_records(prompt: &str) -> bool {
    is_all_chore(&normalize(prompt))
}

/// Returns whether a prompt only asks to record or to continue the previous work.
pub(in crate::extract) fn is_chore(prompt: &str) -> bool {
    let bare = normalize(prompt);
    if is_all_chore(&bare) {
        return true;
    }
    let count = bare.split(' ').count();
    let short = if bare.is_ascii() { count <= 8 } else { bare.chars().count() <= 28 };
    // To resolve the conflicts of a merge is work, and so is what "keeps failing".
    let is_work = text::contains_any(
        &bare,
        &[
            "conflict",
            "conflicts",
            "충돌",
            "競合",
            "コンフリクト",
            "冲突",
            "실패",
            "오류",
            "에러",
            "失敗",
            "エラー",
            "失败",
            "报错",
        ],
    );
    short
        && !is_work
        && (CHORES.iter().any(|word| {
            bare.match_indices(word)
                .any(|(at, _)| !word.is_ascii() || bare[..at].chars().next_back().is_none_or(|c| c == ' '))
        }) || is_consent(prompt))
}

/// Returns whether a prompt asks to record or to continue the previous work. Thanks, a consent or a stop ask nothing.
pub(in crate::extract) fn asks_chore(prompt: &str) -> bool {
    const SILENT: &[&str] = &["thanks", "thank you", "wait", "stop"];
    let bare = normalize(prompt);
    is_chore(prompt) && !is_consent(prompt) && !SILENT.iter().any(|word| bare.starts_with(word))
}

/// Returns whether a prompt only asks to commit or to push the previous work.
pub(in crate::extract) fn asks_record(prompt: &str) -> bool {
    is_chore(prompt) && speaks_of_recording(prompt)
}

/// Returns whether a prompt speaks of a commit or a push.
pub(in crate::extract) fn speaks_of_recording(prompt: &str) -> bool {
    const RECORDS: &[&str] = &["commit", "push", "커밋", "푸시", "コミット", "プッシュ", "提交", "推送"];
    let bare = normalize(prompt);
    text::contains_any_words(&bare, RECORDS)
}

/// Strips the consent before a rule: "yes, and never …". What the consent is to says nothing without it: "yes to the first one".
pub(in crate::extract) fn without_consent(sentence: &str) -> &str {
    const GOES_ON: [&str; 8] = ["to", "for", "on", "with", "of", "as", "from", "by"];
    let goes_on = |rest: &str| GOES_ON.contains(&rest.split_whitespace().next().unwrap_or_default());
    let leads = ["yes, ", "yes ", "ok, ", "ok ", "okay, ", "okay ", "and ", "also, ", "also "];
    let mut rest = sentence;
    while let Some(lead) = leads.iter().find(|lead| rest.get(..lead.len()).is_some_and(|it| it.eq_ignore_ascii_case(lead))) {
        let bare = rest[lead.len()..].trim_start();
        if goes_on(bare) {
            break;
        }
        rest = bare;
    }
    rest
}

/// Strips the letter of the chosen option: "B) round the totals". The parts of a request keep theirs.
pub(in crate::extract) fn without_option_letter(said: &str) -> &str {
    let mut chars = said.chars();
    let is_option = chars.next().is_some_and(|c| c.is_ascii_uppercase()) && chars.next() == Some(')');
    if is_option && Parts::in_line(said).is_none() { said[2..].trim_start() } else { said }
}

/// Returns whether the prompt requests something of its own.
pub(in crate::extract) fn is_substantive(prompt: &str) -> bool {
    !is_chore(prompt) && !is_greeting(prompt) && !is_bare_consent(prompt)
}

/// The maximum length of a prompt that says in a few words that something is merged, in characters.
const MAX_MERGED_CHARS: usize = 60;

/// Returns whether the user speaks of all pull requests: "both are merged".
pub(in crate::extract) fn speaks_of_all(prompt: &str) -> bool {
    const WORDS: [&str; 17] = [
        "both",
        "prs",
        "pull requests",
        "all of them",
        "all merged",
        "all are merged",
        "merged all",
        "모두",
        "전부",
        "둘 다",
        "다 머지",
        "全部",
        "全て",
        "すべて",
        "両方",
        "どちらも",
        "都合并",
    ];
    text::contains_any_words(&prompt.to_lowercase(), &WORDS)
}

/// Returns the sentences in which the user says in a few words that a pull request is merged.
pub(in crate::extract) fn said_merged(prompt: &str) -> Vec<String> {
    const WORDS: [&str; 21] = [
        "merged",
        "머지했",
        "머지 했",
        "머지는 했",
        "머지됐",
        "머지되었",
        "머지 완료",
        "병합했",
        "병합됐",
        "マージした",
        "マージしました",
        "マージはした",
        "マージはしました",
        "マージもした",
        "マージ済み",
        "マージされた",
        "マージされました",
        "マージしといた",
        "マージしておいた",
        "合并了",
        "已合并",
    ];
    const OTHERS: [&str; 20] = [
        "not ",
        "n't ",
        "once ",
        "when ",
        "if ",
        "하면",
        "되면",
        "했으면",
        "하고 나",
        " 안 ",
        "したら",
        "されたら",
        "すれば",
        "したい",
        "した後",
        "したあと",
        "したとき",
        "したほうが",
        "していない",
        "如果",
    ];
    let says = |sentence: &String| {
        let lower = sentence.to_lowercase();
        let is_other = lower.contains(['?', '？']) || text::contains_any(&format!(" {lower}"), &OTHERS);
        !is_other && text::contains_any_words(&lower, &WORDS)
    };
    if prompt.trim().chars().count() > MAX_MERGED_CHARS {
        return Vec::new();
    }
    text::sentences(prompt.trim()).into_iter().filter(says).collect()
}
