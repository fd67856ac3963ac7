//! Rules about commits, branches and pull requests.

use super::addressed::without_rules_file;
use crate::text::{self, strip_apostrophes};

/// Words that say that a sentence holds for this once.
pub(super) const ONCE: &[&str] = &[
    "이번",
    "일단",
    "지금",
    "아직",
    "여기",
    " 이 ",
    "이건",
    "今回",
    "一旦",
    "とりあえず",
    "今は",
    "まだ",
    "ここ",
    "この",
    "これ",
    "this",
    "these",
    "the following",
];

/// Returns whether a short Korean or Japanese sentence in lower case says what is always committed or pushed: "docsはコミットするように".
pub(super) fn tells_what_is_committed(lower: &str) -> bool {
    const MAX_CHARS: usize = 48;
    const ACTIONS: [&str; 9] = [
        "コミットするように",
        "コミットしないように",
        "プッシュするように",
        "プッシュしないように",
        "prにするように",
        "prを出すように",
        "커밋하도록",
        "커밋하지 않도록",
        "푸시하지 않도록",
    ];
    const ORDERS: [&str; 5] = ["し", "する", "お願い", "해", "하"];
    let said = lower.trim().trim_end_matches(['.', '!', '。', '！']);
    let is_short = said.chars().count() <= MAX_CHARS && !said.contains(['?', '？']);
    is_short
        && !text::contains_any_words(said, ONCE)
        && ACTIONS.iter().any(|action| {
            let Some((before, after)) = said.split_once(action) else { return false };
            let after = after.trim_start();
            let is_kind = before.trim_end().ends_with(['は', '은', '는']);
            is_kind && (after.is_empty() || ORDERS.iter().any(|order| after.starts_with(order)))
        })
}

/// Returns whether a short Korean or Japanese sentence in lower case says how branches, work trees, commits or pull requests are always
/// dealt with: it ends with "so that …" and asks for nothing beside it, or it says what must not stand in them.
pub(super) fn tells_working_habit(lower: &str) -> bool {
    const MAX_CHARS: usize = 40;
    const RECORDS: [&str; 12] = [
        "ワークツリー",
        "worktree",
        "ブランチ",
        "コミット",
        "プルリク",
        "pr",
        "プッシュ",
        "워크트리",
        "브랜치",
        "커밋",
        "풀리퀘",
        "푸시",
    ];
    const PLACES: [&str; 10] = [
        "コミットメッセージに",
        "コミットに",
        "prに",
        "prの本文に",
        "ブランチ名に",
        "커밋 메시지에",
        "커밋 메세지에",
        "커밋에",
        "pr에",
        "브랜치 이름에",
    ];
    const BANS: [&str; 10] = [
        "入れないで",
        "入れない",
        "書かないで",
        "付けないで",
        "つけないで",
        "넣지 마",
        "넣지마",
        "쓰지 마",
        "달지 마",
        "붙이지 마",
    ];
    let said = lower.trim().trim_end_matches(['.', '!', '。', '！']);
    if said.is_ascii() || said.chars().count() > MAX_CHARS || text::contains_any_words(&format!(" {said}"), ONCE) {
        return false;
    }
    let verb = said.strip_suffix("ように").or_else(|| said.strip_suffix("하도록").map(str::trim_end));
    // "Like" a thing is no order.
    let is_order = verb.is_some_and(|verb| !verb.ends_with(['の', 'な']));
    let bans = BANS.iter().any(|ban| said.ends_with(ban)) && text::contains_any(said, &PLACES);
    bans || (is_order && text::contains_any_words(said, &RECORDS))
}

/// Returns whether a sentence in lower case says how branches, commits or pull requests are named.
pub(super) fn is_naming_rule(lower: &str) -> bool {
    let named = [
        "branch name",
        "branch names",
        "branches",
        "commit message",
        "commit messages",
        "pr title",
        "pr titles",
        "브랜치 이름은",
        "브랜치명은",
        "커밋 메시지는",
        "커밋 메세지는",
        "ブランチ名は",
        "コミットメッセージは",
    ];
    let ways = [
        "prefix",
        "start with",
        "starting with",
        "in the format",
        "conventional",
        "be sure to",
        "로 ",
        "으로",
        "접두",
        "接頭",
        "で",
        "から始",
    ];
    let says = |words: &[&str]| text::contains_any_words(lower, words);
    says(&named) && says(&ways)
}

/// Returns whether a Korean or Japanese sentence in lower case says how commits or pull requests have to be, and why: the reason holds
/// for the next ones too.
pub(super) fn is_reasoned_convention(lower: &str) -> bool {
    const RECORDS: [&str; 8] = ["pr", "コミット", "ブランチ", "プルリク", "커밋", "브랜치", "풀리퀘", "머지"];
    const REASONS: [&str; 7] = ["ので", "から、", "ため、", "니까", "므로", "때문에", "어서 "];
    const DEMANDS: [&str; 9] =
        ["ように", "ようにして", "べき", "してください", "하도록", "하도록 해줘", "해야 해", "해야 합니다", "맞춰줘"];
    let end = without_rules_file(lower).trim_end_matches(['.', '。', '!', '！']);
    text::contains_any(lower, &RECORDS)
        && text::contains_any(lower, &REASONS)
        && DEMANDS.iter().any(|demand| end.ends_with(demand))
}

/// Returns whether somebody commits or pushes without the agent: "let me commit", "I'll push it myself", "don't commit".
fn keeps_record(said: &str) -> bool {
    const BEFORE: [&str; 9] = ["let me", "let us", "ill", "i will", "id rather", "dont", "do not", "never", "stop"];
    const DEEDS: [&str; 4] = ["commit", "push", "committing", "pushing"];
    let lower = strip_apostrophes(said);
    let is_kept = |before: &&str| DEEDS.iter().any(|deed| text::contains_words(&lower, &format!("{before} {deed}")));
    !said.ends_with(['?', '？']) && BEFORE.iter().any(is_kept)
}

/// Returns whether a sentence in lower case says that for all that is to come: "next time, let me commit".
pub(super) fn keeps_later_records(lower: &str) -> bool {
    const LATER: [&str; 6] = ["next time", "from now on", "in future", "in the future", "going forward", "every time"];
    text::contains_any_words(lower, &LATER) && keeps_record(lower)
}

/// Returns whether a short Korean or Japanese sentence in lower case forbids to record or to publish work unasked or without something:
/// "勝手にプッシュしないで", "테스트 없이 커밋하지 마".
pub(super) fn forbids_record(lower: &str) -> bool {
    const MAX_CHARS: usize = 48;
    const UNASKED: [&str; 11] =
        ["勝手に", "無断で", "なしで", "なしに", "せずに", "함부로", "마음대로", "맘대로", "멋대로", "없이", "않고"];
    const DEEDS: [&str; 14] = [
        "プッシュ",
        "コミット",
        "マージ",
        "デプロイ",
        "push",
        "commit",
        "merge",
        "deploy",
        "푸시",
        "커밋",
        "머지",
        "병합",
        "배포",
        "삭제",
    ];
    const BANS: [&str; 8] =
        ["しないで", "しないでください", "するな", "하지 마", "하지마", "하지 마세요", "하지 말아줘", "하지 말 것"];
    let said = lower.trim().trim_end_matches(['.', '!', '。', '！']);
    let ban = BANS.iter().find_map(|ban| said.strip_suffix(ban));
    said.chars().count() <= MAX_CHARS
        && ban.is_some_and(|before| DEEDS.iter().any(|deed| before.trim_end().ends_with(deed)))
        && text::contains_any(said, &UNASKED)
        && !text::contains_any_words(&format!(" {said}"), ONCE)
}
