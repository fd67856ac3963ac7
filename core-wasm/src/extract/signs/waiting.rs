//! Sentences that say that the agent waits: for the user's word, or for something that runs beside it.

use crate::text;

/// Returns whether a sentence in lower case says that the agent waits, or that it goes on once the user says so. What a program waits for
/// is no such state: "The till waits for the key".
pub(in crate::extract) fn says_agent_waits(lower: &str) -> bool {
    const OPENINGS: [&str; 7] =
        ["waiting for", "waiting on", "awaiting", "pending your", "standing by for", "blocked on your", "on hold until you"];
    const ANYWHERE: [&str; 27] = [
        "i'm waiting",
        "i am waiting",
        "i'll wait",
        "i will wait",
        "we're waiting",
        "just waiting",
        "idle and waiting",
        "waiting for you",
        "waiting for your",
        "waiting on you",
        "waiting on your",
        "awaiting your",
        "pending your",
        "need your approval",
        "needs your approval",
        "need your go-ahead",
        "once you approve",
        "once you confirm",
        "when you approve",
        "if you approve",
        "after you approve",
        "on your go-ahead",
        "running in the background",
        "기다리고 있",
        "お待ちし",
        "等待您",
        "等待你",
    ];
    let bare = lower.trim_end_matches(['.', '。', ' ', ':', '：', '*']);
    OPENINGS.iter().any(|opening| text::starts_with_words(lower, opening))
        || text::contains_any_words(lower, &ANYWHERE)
        || ends_waiting(bare)
        || asks_for_word(lower)
}

/// Returns whether a sentence in Korean or Japanese ends with the word that somebody waits.
fn ends_waiting(bare: &str) -> bool {
    const ENDS: [&str; 8] =
        ["대기 중", "대기중", "대기 중입니다", "대기중입니다", "대기합니다", "대기하고 있습니다", "待ち", "待ちです"];
    ENDS.iter().any(|end| bare.ends_with(end))
}

/// Returns whether a sentence in Korean, Japanese or Chinese asks for a word of the user's, or says what follows it.
fn asks_for_word(lower: &str) -> bool {
    const WORDS: [&str; 8] = ["승인", "답변", "확인", "말씀", "承認", "確認", "确认", "批准"];
    const ASKS: [&str; 11] = [
        "해주시면",
        "해 주시면",
        "필요합니다",
        "후 진행",
        "후에 진행",
        "いただければ",
        "いただいたら",
        "いただき次第",
        "后我",
        "后继续",
        "后再",
    ];
    const BETWEEN: [char; 10] = [' ', '이', '라', '고', '"', '」', '”', '’', 'を', 'ご'];
    let asks = |rest: &str| ASKS.iter().any(|ask| rest.trim_start_matches(BETWEEN).starts_with(ask));
    WORDS.iter().any(|word| lower.match_indices(word).any(|(at, _)| asks(&lower[at + word.len()..])))
}

#[cfg(test)]
mod tests {
    use super::says_agent_waits;

    #[test]
    fn the_agent_waits_and_not_the_program() {
        for said in [
            "waiting for the checks of the till",
            "i'm waiting for the drawer's tests.",
            "the till is ready; once you approve, i open it.",
            "서랍 게이트에서 대기 중",
            "계산대를 열려면 승인이 필요합니다.",
            "\"승인\"이라고 답변해주시면 엽니다.",
            "引き出しの承認待ちです。",
            "等待您的确认",
        ] {
            assert!(says_agent_waits(said), "{said}");
        }
        for said in [
            "the till is waiting for the key",
            "shows \"waiting for the drawer\" until it opens",
            "the slip stays pending until it is paid",
            "계산대는 열쇠를 대기 중인 상태로 둡니다",
        ] {
            assert!(!says_agent_waits(said), "{said}");
        }
    }
}
