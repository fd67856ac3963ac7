//! What is no statement: narration ("Let me look"), interjections and filler.

use crate::text;

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
    "i have enough",
    "i have full",
    "i now have",
    "now i have",
    "now i",
    "now we",
    "first let",
    "first i",
    "next i",
    "next let",
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
    "할게",
    "볼게",
    "합시다",
    "보죠",
    "ましょう",
    "てみます",
    "確認します",
    "進めます",
    "始めます",
    "実行します",
    "修正します",
    "追加します",
    "削除します",
    "変更します",
    "作成します",
    "更新します",
    "対応します",
    "反映します",
    "移動します",
    "置き換えます",
    "見ます",
    "調べます",
    "コミットします",
    "プッシュします",
    "再実行します",
];

/// Returns whether a sentence only narrates the agent's next step.
pub(crate) fn is_narration(sentence: &str) -> bool {
    let sentence = strip_interjection(sentence);
    let lower = text::lower(sentence).replace('’', "'");
    // "Next, I paint it" is "Next I paint it".
    let lower = match lower.split_once(", ") {
        Some((word @ ("first" | "next"), rest)) => format!("{word} {rest}"),
        _ => lower,
    };
    let end = lower.trim_end_matches(['.', ':', '。', '：', '!', '！', ' ']);
    let names_skill = || lower.starts_with("i'm using the ") && lower.contains(" skill");
    NARRATION.iter().any(|opening| text::starts_with_words(&lower, opening))
        || names_skill()
        || NARRATION_ENDS.iter().any(|ending| end.ends_with(ending))
        || announces_step(end)
}

/// Returns whether a Korean sentence without its mark says in the present what the agent does next: "로그를 확인합니다". With a subject or a
/// condition it tells what something does: "계산대는 로그를 확인합니다". The subject of a reason before that is another one.
fn announces_step(said: &str) -> bool {
    const ACTS: [&str; 24] = [
        "확인",
        "점검",
        "비교",
        "정리",
        "시작",
        "진행",
        "적용",
        "수정",
        "추가",
        "삭제",
        "제거",
        "변경",
        "작성",
        "업데이트",
        "반영",
        "커밋",
        "푸시",
        "조사",
        "분석",
        "검토",
        "실행",
        "재시도",
        "재시작",
        "계획",
    ];
    const REASONS: [&str; 6] = ["니", "므로", "어서", "아서", "해서", "는데"];
    // "남은", "하는" and "없이" are no subjects.
    const STEMS: [char; 12] = ['하', '되', '있', '없', '않', '보', '남', '같', '많', '맞', '높', '낮'];
    let Some(act) = ["합니다", "한다"].iter().find_map(|end| said.strip_suffix(end)) else { return false };
    let words: Vec<&str> = said.split_whitespace().collect();
    let is_subject = |word: &&str| {
        let stem = ["은", "는", "이", "가"].iter().find_map(|particle| word.strip_suffix(particle));
        stem.is_some_and(|stem| !stem.is_empty() && !stem.ends_with(STEMS))
    };
    let behind = words.iter().rposition(|word| REASONS.iter().any(|end| word.ends_with(end))).map_or(0, |at| at + 1);
    let is_conditional = words.iter().any(|word| *word == "시" || word.ends_with('면'));
    ACTS.iter().any(|noun| act.ends_with(noun))
        && !said.starts_with('`')
        && !is_conditional
        && !words[behind..].iter().any(is_subject)
}

/// Strips words that only connect the sentence to the previous one.
pub(in crate::extract) fn strip_interjection(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    loop {
        // Most sentences begin with a letter with which none of these words does.
        let may_begin = |first: u8| INTERJECTIONS.iter().any(|word| word.as_bytes().first() == Some(&first));
        if rest.bytes().next().is_none_or(|first| first.is_ascii() && !may_begin(first.to_ascii_lowercase())) {
            return rest;
        }
        let lower = text::lower(rest);
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

/// The number of words up to which a sentence says nothing but that the work is complete.
const MAX_COMPLETE_WORDS: usize = 8;
/// The same of a Japanese sentence, in characters.
const MAX_COMPLETE_CHARS: usize = 10;

/// Returns whether a sentence reports nothing.
pub(in crate::extract) fn is_filler(sentence: &str) -> bool {
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
        "all clean",
        "all green",
        "all good",
        "clean",
        "pushed",
        "finished",
        "success",
        "much better",
        "both pass",
        "all passing",
        "all fixed",
        "everything passes",
        "everything works",
        "implementation complete",
        "implementation is complete",
        "the fix is in place",
        "the implementation is in place",
        "all changes are complete",
        "the changes are complete",
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
    // "The implementation is complete and ready for use!"
    let is_complete = (bare.starts_with("the implementation is complete") && bare.split(' ').count() <= MAX_COMPLETE_WORDS)
        // "追記完了です": it does not say of what.
        || (bare.chars().count() <= MAX_COMPLETE_CHARS && ["完了です", "完了しました"].iter().any(|end| bare.ends_with(end)));
    bare.chars().count() < 4 || is_complete || empty.contains(&bare.as_str())
}
