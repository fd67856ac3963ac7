//! Phrases by which a statement says that something changed, or that it did not, in English, Korean and Japanese.

use std::sync::LazyLock;

use regex::Regex;

use super::facts::compiled;

/// Compiles phrases: English ones stand between word borders, Korean and Japanese ones anywhere.
fn phrases(english: &str, korean: &str, japanese: &str) -> Regex {
    compiled(&format!(r"(?i)\b(?:{english})\b|(?:{korean}|{japanese})"))
}

/// Something is left as it is.
pub(super) static KEPT: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"unchanged|untouched|stays?|stayed|remains?|kept|keeps?|same|(?:as|like) (?:it|they|so far|before|now|decided|",
            r"agreed|documented|it was|is|was|were)|still|(?:left|leave|let) (?:it|them|alone|as)|no change|not (?:changed|",
            r"touched|edited|affected|concerned|involved|part of)|(?:did|do|does|was|were|is|are|need|needed)(?:n't| not|",
            r" no) (?:change|changed|touch|touched|edited|edit|affected|concerned|involved|part|bite|notice)|needed no|",
            r"holds|in force|independently|goes on|continues?|another matter"
        ),
        concat!(
            r"그대로|유지|변함|바꾸지 않|바뀌지 않|건드리지 않|손대지 않|전과 같|이전과|이전처럼|여전히|동일|변경 없|변경은 없|변경하지 않|두었|두기로|계속|지금처럼|상관없|영향을 주지|아직|남아 있|",
            r"남아|하지 않기로|않았|같습니다|같이 가|전처럼|예정인"
        ),
        r"従来どおり|従来通り|そのまま|のまま|変更していません|変わりません|変更なし|同じ|手を入れていません|維持|引き続き|別の設定|関係ありません",
    )
});

/// Something was taken away or replaced.
pub(super) static REMOVED: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"remov\w+|delet\w+|gone|drop(?:s|ped)?|revert\w*|discard\w*|uninstall\w*|disabled?|switched off|turned off|",
            r"no longer|retired|replac\w+|instead of|rewritten|moved?|moves|migrated|abandoned|decommission\w*|thrown out"
        ),
        r"삭제|제거|없앴|없애|지웠|지우|폐기|걷어|치웠|더 이상|교체|풀었|옮겼|옮기|종료|뺐",
        r"削除|撤去|廃止|やめ|取り除|不要になった|切り替え|置き換え|外し|移し|移行",
    )
});

/// Something is as it was before.
pub(super) static BACK: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        r"again|back|revert\w*|restored?|returned|reopened",
        r"다시|되돌|돌아가|복구|원래|롤백|원복|회귀|되살",
        r"戻し|戻す|元に|再び|復活|元の",
    )
});

/// A human asks to take something back or to replace it.
pub(super) static ASKS_REVERSAL: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"back to|revert|undo|roll\w* back|bring \w+ \w+ back|drop|kill|rip|get rid|remove|out again|go back|give up|",
            r"replace|instead|go for|go with|again|not \w+|switch|take|it is|abandon|scrap|ditch|swap|restore"
        ),
        r"되돌|원복|돌아가|돌리|돌려|없애|빼|지워|롤백|철회|포기|접자|걷어|내리자|갈아|교체|풀어|되살|가자|쓰자|로 가|말고|다시|바꾸|바꿔|버리|취소|복구",
        r"やめて|戻して|廃止|取り消|撤回|やめよう|外して|代わりに|切り替え|乗り換え|に戻",
    )
});

/// A human asks for a change.
pub(super) static ASKS_CHANGE: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"back to|make it|bump|raise|lower|go with|it is|then|instead|drop|rename|change|take|too (?:long|greedy|strong|",
            r"short|small|many)|enough|please|pls|want\w*|wants|plenty|complain\w*|rest|only|default to|no way|says?|",
            r"increase|decrease|reduce|extend|shorten|cut|double|halve|adjust|update|move"
        ),
        r"늘려|줄여|바꿔|바꾸|돌려|올려|낮춰|으로|로 가|가자|하자|그걸로|고쳐|까지|빼줘|해줘|넓혀|미뤄|못|안됨|안 됨|부족|민원|항의|난리",
        r"延ばして|短く|増やして|減らして|変えて|変更して|にして|でお願い|上げて|下げて|苦情|足りない|直して",
    )
});

/// A human asks, confirms, declines, or is about something else.
pub(super) static ASKS_NO_CHANGE: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"leave|told them no|no need|forget it|not worth|as is|don't (?:change|touch)|nope|confirm|question|remind me|",
            r"asking|checking|is it|which|what'?s|right\?|also|too|as well|another|second|same thing|bug|wrong|fails?|",
            r"once more|why|how (?:long|much|many)|does|where|when|who|can (?:i|we|you|one)|how many|separate"
        ),
        r"냅둬|놔둬|두자|안 바꿔|안 바꾸|안 돼|확인만|맞지|맞나|궁금|질문|됐어|필요 없|하지 마|따로|도 |도\?|도$|물어|괜찮나|몇|어떻게|언제|알람|모니터링|추가|말고",
        r"合ってる|ですか|でしたっけ|確認|教えて|質問|このまま|そのまま|やめておこう|別に|追加|も制限|らしい",
    )
});

/// An explanation was wrong.
pub(super) static REFUTED: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"(?:true|real|actual) (?:cause|reason|culprit|problem)|corrected|correct the|correction|red herring|innocent|",
            r"symptom|turned out|turns out|(?:was|is)(?:n't| not) (?:it|that|what|the|in|because)|nothing to do|",
            r"not the (?:cause|reason|culprit)|wrong|mistaken|misread|not because|withdrawn|retracted|false|doesn't hold|",
            r"mixed up|my (?:explanation|assumption|diagnosis|theory)|disprov\w+|unrelated|misdiagnos\w+"
        ),
        r"정정|바로잡|진짜 원인|실제 원인|실제로는|아니었|아닙니다|틀렸|틀린|잘못 짚|잘못 봤|잘못된|무관|오진|취소선|증상이었|사실과 달|착오|다시 썼|다시 측정|고쳤습니다",
        r"誤り|間違い|本当の原因|無関係|訂正|実際は|ではありません|ではなかった|勘違い|撤回",
    )
});

/// Something is left to do.
pub(super) static OPEN: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"todo|still (?:to do|open|missing|need\w*)|not (?:yet|done)|missing|left (?:to do|for|open|as|that)|",
            r"what (?:remains|is missing)|next (?:week|sprint|release|month)|later|follow[- ]?up|until|open|for now|",
            r"are(?:n't| not) (?:highlighted|done)|not started"
        ),
        r"남아|남은|남겨|아직|다음 (?:주|달|스프린트|릴리스|배포|분기|점검)|나중에|미뤘|미뤄|보류|예정|할 일|미완|TODO",
        r"まだ|未対応|残って|あとで|後で|次回|予定|保留|TODO",
    )
});

/// Something was done.
pub(super) static CLOSED: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"closed?|done|finished|completed?|live|enabled|resolved|green|removed|deleted|ticked|is through|landed|shipped|",
            r"merged|is in|are in|in place"
        ),
        r"닫았|완료|끝났|끝냈|종료|마무리|진행|지웠|만들었|됐다|됐습니다|반영|추가했|처리했",
        r"完了|終わり|閉じ|対応しました|済み|解決",
    )
});

/// Something still waits.
pub(super) static STILL_OPEN: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        r"still|yet|waits?|wait for|not (?:yet|done)|open|to come|left|until|remains?|as (?:it|before)",
        r"남아|아직|기다리|예정|그대로|전과 같|까지|보류|리뷰 중",
        r"まだ|残って|待ち|までは|予定|保留",
    )
});

/// Something stands beside what there is.
pub(super) static ADDED: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"of its own|own|separate\w*|in addition|too|as well|added|another|counted per|both|independent\w*|",
            r"a constant of|second|besides"
        ),
        r"별도|따로|추가|별개|새로 만|각각",
        r"別の|別に|追加|個別|それぞれ|独立",
    )
});

/// Nothing was changed.
pub(super) static UNCHANGED: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"nothing (?:was|is|has)? ?changed|nothing else|no code|no change in|no, |by design|answered|stays? untouched|",
            r"left as it is|nothing to change|no need|documented"
        ),
        r"코드는|코드 변경|변경하지|건드리지|안 바꾸|답변|정리했|하지 않기로|괜찮습니다|문의",
        r"変更はありません|変更していません|変更の履歴もありません|コードは|問題ありません|そのまま",
    )
});

/// The text names both the old and the new state.
pub(super) static INSTEAD: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"instead of|no longer|formerly|rather than|used to|anymore|any more|old|former|previous|previously|replac\w+|",
            r"up from|down from|was \w+ before|so far|until now|not \w+ but|reverted|removed?|deleted|gone|dropped|withdrawn"
        ),
        r"대신|말고|더 이상|예전|기존|이전에는|이전의|갈아|교체|아니라|에서 \S+(?:으)?로 (?:바|옮|올|내|늘|줄)|없앴|뺐|삭제|제거|철회",
        r"代わりに|ではなく|以前|旧|従来の|から\S+に|撤去|廃止|削除",
    )
});

/// What a sentence names was not done, or not yet, or not for good.
pub(super) static NOT_DONE: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"not|never|no|cannot|\w+n't|propos\w*|suggest\w*|recommend\w*|consider\w*|could|would|should|might|may|shall|will|",
            r"if|instead of|undone|undo|took back|taken back|revert\w*|reject\w*|refus\w*|declin\w*|plan\w*|todo"
        ),
        r"않|못|제안|추천|거절|거부|되돌|취소|원복|하면|예정|할까|할지|검토|고려|\?",
        r"ない|ません|提案|却下|拒否|取り消|戻し|予定|なら|たら|検討|？|\?",
    )
});

/// It holds from a moment on.
pub(super) static FROM_NOW: LazyLock<Regex> = LazyLock::new(|| {
    phrases(
        concat!(
            r"from now on|is now|are now|now|as of|starting (?:with|from)|since (?:this|the|today)\w*|from (?:version|the next|today)|",
            r"again|any more|anymore|going forward|henceforth"
        ),
        r"이제|앞으로|부터|바꿨|바뀌|바뀐|변경했|변경하고|올렸|내렸|늘렸|줄였|낮췄|고쳤|교체했|옮겼|전환",
        r"今後|以降|これから|変更しました|切り替えました|変えました|なりました|戻しました",
    )
});

/// It is about all of them.
pub(super) static ALL: LazyLock<Regex> =
    LazyLock::new(|| phrases(r"all|every|everywhere|whole|each", r"모든|전체|전부|모두|통일", "すべて|全て|全部|全体|統一"));

/// A request ends with a question.
pub(super) fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？'])
}

/// An explanation was asked for or given.
pub(super) static EXPLAINS: LazyLock<Regex> = LazyLock::new(|| {
    phrases(r"why|cause|reason|because|what'?s|whats|comes? from|due to", "원인|이유|때문|왜", "原因|理由|なぜ|ため")
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_phrases_compile() {
        let all = [
            (&KEPT, "the rest is untouched", "나머지는 그대로입니다", "上限はそのままです"),
            (&REMOVED, "the flag is gone", "플래그를 삭제했습니다", "旗は削除しました"),
            (&BACK, "as it was again", "다시 켰습니다", "元に戻しました"),
            (&ASKS_REVERSAL, "back to plain ids", "원복해줘", "やめて静的に"),
            (&ASKS_CHANGE, "make it 40", "늘려줘", "30分に延ばして"),
            (&ASKS_NO_CHANGE, "leave it", "그거 맞지", "これで合ってる"),
            (&REFUTED, "it turned out otherwise", "원인을 정정했습니다", "結論は誤りでした"),
            (&OPEN, "still to do", "아직 안 했습니다", "まだ対応していません"),
            (&CLOSED, "the ticket is closed", "완료했습니다", "対応は完了しました"),
            (&STILL_OPEN, "it still waits", "아직입니다", "まだ残っています"),
            (&ADDED, "a limit of its own", "별도로 둡니다", "別の設定です"),
            (&UNCHANGED, "nothing changed", "코드는 안 바꾸었습니다", "変更はありません"),
            (&ALL, "in every service", "모든 서비스", "すべての画面"),
            (&INSTEAD, "it is no longer used", "예전 값", "旧サーバー"),
            (&FROM_NOW, "from now on", "이제부터", "今後は"),
            (&NOT_DONE, "we did not raise it", "올리지 않았습니다", "上げませんでした"),
            (&EXPLAINS, "the reason", "원인은", "原因は"),
        ];
        for (phrases, english, korean, japanese) in all {
            assert!(phrases.is_match(english), "{english}");
            assert!(phrases.is_match(korean), "{korean}");
            assert!(phrases.is_match(japanese), "{japanese}");
        }
        assert!(is_question("is it? ") && !is_question("it is"));
    }
}
