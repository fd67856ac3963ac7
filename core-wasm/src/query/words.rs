//! Extracts the searchable words of a prompt: drops stop words in four languages.

/// A word to search for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    pub text: String,
    /// Whether the word is an identifier, path, flag, version or error code. A name says more than a word of prose.
    pub is_name: bool,
}

/// English words that say nothing about the subject, or that only move the work along.
const ENGLISH_STOP_WORDS: &str = " a about above actually after again agree ahead all allow also alright am an and any anything are arent as ask \
    at away back be because been before being better bit both but by can cant cannot change check come could couldnt did didnt do \
    does doesnt doing done dont down each either else even ever every everything fine first for from further get gets getting give \
    go goes going good got great had has hasnt have havent having he hello help her here hey hi him his hmm how however i if im in instead into \
    is isnt it its ive just keep kind know lets like little look looks lot made make many may maybe me mean might more most much must \
    my need needs never new next nice no nope not nothing now of off ok okay on once one only onto or other our out over own perfect \
    please possible pretty probably put quite rather really right said same say see seem seems she should shouldnt show since so some \
    something sorry still stop such sure take tell than thank thanks that thats the their them then there theres these they thing \
    things think this those though through time to too tried try two under until up us use using very want wants was wasnt way we well went were werent \
    what whats when where which while who why will with without wont work works would wouldnt wrong yeah yep yes yet you your yours \
    yourself ";

/// English words that ask for the next step of the current work. Next to other words they are ordinary words.
const CONTINUATION_WORDS: &str = " accept accepted approve approved changes comit commit continue everything execute finish go implement \
    merge proceed push recent resume retry run start step コミット プッシュ 커밋 푸시 수정 변경 변경사항 변경점 내용 내용들 작업 파일 \
    파일들 것들 수정된것들 ";

/// Korean stop words, without their particles.
const KOREAN_STOP_WORDS: &str = " 그 그거 그것 그게 그대로 그래 그래서 그러면 그럼 그렇게 그리고 그냥 거기 거 것 나 내 너 네 넵 넹 누가 다 다시 다음 단계 대한 \
    대해 대해서 더 또 때 뭐 뭐야 뭔가 맞아 모두 무슨 무엇 및 방금 부탁 부탁해 빨리 수 아까 아니 아니야 아니요 안 어 어디 어떤 어떻게 언제 여기 예 \
    오케이 왜 우리 위한 위해 음 응 이 이거 이것 이게 이제 이렇게 일단 있나 있는 있어 없는 없어 잘 저 저거 저것 저기 전부 정도 제 제발 제대로 좀 좋아 \
    지금 진행 진행하자 진행해 진행해줘 진행해주세요 하고 하는 하다 하자 하지만 한번 할 해 해라 해봐 해서 해주세요 해줘 했던 했어 확인 확인해 확인해줘 \
    계속 계속해 계속해줘 계속하자 계속해주세요 고마워 감사 감사합니다 ㅇㅇ ㅇㅋ ㄱㄱ 주세요 줘 \
    가는 가서 같아 같은 거야 거지 건데 그때 나오고 나오는 나오는데 나와 내가 너무 누구 되는 되는데 되지 됐지 됐더라 돼 때문 뭐였지 뭐지 뭔지 \
    보여 보이는 보이는데 설마 아니면 아직 알려 알려줘 알려주세요 알아 어느 어때 어떻지 언젠가 없지 없나 오는 왜지 이미 이번 있던 있었지 있지 자꾸 저번 \
    제가 지난번 찾아 찾아줘 하는데 하라고 하면 하면서 했나 했더라 했었지 했지 ";

/// Korean nouns of one syllable that say what a prompt is about.
const SHORT_KOREAN_NOUNS: &[&str] = &["훅", "값", "키", "큐", "앱", "웹", "락", "탭"];

/// Beginnings of the endings that turn a Korean noun into a verb: "커밋하려는데" is about "커밋".
const VERB_SYLLABLES: &[char] = &['하', '해', '했', '한', '할', '합', '되', '돼', '됐', '된', '될', '됩'];

/// Korean particles, longer ones first.
const KOREAN_PARTICLES: &[&str] = &[
    "에서는",
    "으로는",
    "이라고",
    "에게서",
    "까지는",
    "부터는",
    "에서",
    "으로",
    "에게",
    "한테",
    "까지",
    "부터",
    "처럼",
    "보다",
    "라고",
    "이나",
    "이랑",
    "하고",
    "에는",
    "에도",
    "과는",
    "와는",
    "을",
    "를",
    "이",
    "가",
    "은",
    "는",
    "에",
    "로",
    "와",
    "과",
    "의",
    "도",
    "만",
    "나",
    "랑",
];

/// Chinese words that separate content words, and words that make up a consent.
const CHINESE_STOP_WORDS: &[&str] = &[
    "为什么",
    "怎么样",
    "没问题",
    "请帮我",
    "帮我",
    "一下",
    "我们",
    "你们",
    "他们",
    "这个",
    "那个",
    "这些",
    "那些",
    "怎么",
    "什么",
    "如何",
    "可以",
    "需要",
    "应该",
    "现在",
    "然后",
    "还是",
    "就是",
    "不是",
    "没有",
    "已经",
    "继续",
    "好的",
    "谢谢",
    "确认",
    "同意",
    "請",
    "请",
    "的",
    "了",
    "吗",
    "呢",
    "吧",
    "是",
    "在",
    "有",
    "和",
    "与",
    "把",
    "被",
    "对",
    "我",
    "你",
    "他",
    "它",
    "这",
    "那",
    "就",
    "都",
    "也",
    "很",
    "不",
];

/// Japanese stop words without hiragana.
const JAPANESE_STOP_WORDS: &str = " 続行 続 了解 承知 確認 実行 今 次 何 事 時 的 様 オーケー ";

/// Returns the words of a text in order, each once, ignoring case.
pub(super) fn searchable(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for chunk in text.split_whitespace() {
        for (script, run) in runs(chunk) {
            push_run(script, run, &mut words);
        }
    }
    words
}

/// Returns whether the words only tell the agent to continue. A single word of prose, as in "yes, delete them", does
/// not say with what.
pub(super) fn only_continues(words: &[Word]) -> bool {
    matches!(words, [word] if !word.is_name) || words.iter().all(|word| contains_word(CONTINUATION_WORDS, &word.text))
}

#[derive(Clone, Copy, PartialEq)]
enum Script {
    /// Scripts that separate words by spaces, and every character that identifiers consist of.
    Spaced,
    Hangul,
    Han,
    Katakana,
    Hiragana,
    /// Punctuation that does not occur in identifiers.
    Other,
}

fn script(letter: char) -> Script {
    match letter {
        '\u{3041}'..='\u{309F}' => Script::Hiragana,
        '\u{30A0}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{FF66}'..='\u{FF9F}' => Script::Katakana,
        '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{AC00}'..='\u{D7AF}' => Script::Hangul,
        '々' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}' => {
            Script::Han
        }
        '_' | '-' | '.' | '/' | ':' | '#' | '@' | '$' | '+' | '\\' | '\'' | '’' | '~' | '%' => Script::Spaced,
        _ if letter.is_alphanumeric() => Script::Spaced,
        _ => Script::Other,
    }
}

/// Splits the text where the script changes: `README.md를` is a name and a particle.
fn runs(text: &str) -> impl Iterator<Item = (Script, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = script(rest.chars().next()?);
        let end = rest.find(|letter| script(letter) != first).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some((first, run))
    })
}

fn push_run(script: Script, run: &str, words: &mut Vec<Word>) {
    match script {
        Script::Spaced => push_spaced(run, words),
        Script::Hangul => {
            let bare = strip_particle(run);
            let stem = verb_stem(bare);
            let said = ![run, bare, stem].iter().any(|form| contains_word(KOREAN_STOP_WORDS, form))
                && !KOREAN_PARTICLES.contains(&run);
            if said && (stem.chars().count() > 1 || SHORT_KOREAN_NOUNS.contains(&stem)) {
                push(stem, false, words);
            }
        }
        Script::Han => push_han(run, words),
        Script::Katakana if run.chars().count() > 1 && !contains_word(JAPANESE_STOP_WORDS, run) => {
            push(run, false, words);
        }
        Script::Katakana | Script::Hiragana | Script::Other => {}
    }
}

fn push_spaced(run: &str, words: &mut Vec<Word>) {
    let word = trim_punctuation(run);
    let plain: String = word.chars().filter(|letter| !matches!(letter, '\'' | '’')).flat_map(char::to_lowercase).collect();
    let is_name = is_name(word);
    let digits = plain.chars().filter(char::is_ascii_digit).count();
    let short = plain.chars().count() < 2 || digits == plain.len() && digits < 3;
    if !short && (is_name || !contains_word(ENGLISH_STOP_WORDS, &plain)) {
        push(word.trim_end_matches("'s").trim_end_matches("’s"), is_name, words);
    }
}

/// Strips the punctuation of the sentence, but keeps the characters that start a flag, path or issue number.
fn trim_punctuation(run: &str) -> &str {
    let after = run.trim_end_matches(['.', ':', '-', '\'', '’', '/', '\\', '#', '$', '~', '%']);
    let before = after.trim_start_matches(['\'', '’', ':', '%']);
    let dashes = before.len() - before.trim_start_matches('-').len();
    match dashes {
        // A single dash would exclude the word from the search.
        1 => &before[1..],
        3.. => &before[dashes..],
        _ => before,
    }
}

/// Returns whether a word is a name that somebody gave: a joined word, a word with digits, or one with a case that
/// prose does not use.
fn is_name(word: &str) -> bool {
    let inside = word.get(1..).unwrap_or_default();
    let joined = word.trim_matches(['.', '-', '/', ':']).contains(['_', '.', '/', ':', '#', '@', '$', '\\', '+']);
    let letters = word.chars().filter(|letter| letter.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    joined
        || word.starts_with("--")
        || word.starts_with('.') && letters > 1
        || digits > 0 && letters > 0
        || inside.chars().any(char::is_uppercase) && inside.chars().any(char::is_lowercase)
        || letters >= 3 && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

fn strip_particle(run: &str) -> &str {
    let is_noun = |stem: &&str| stem.chars().count() > 1 || SHORT_KOREAN_NOUNS.contains(stem);
    KOREAN_PARTICLES.iter().find_map(|particle| run.strip_suffix(particle).filter(is_noun)).unwrap_or(run)
}

/// Returns the noun of a Korean verb that was made from one, otherwise the word as it is.
fn verb_stem(word: &str) -> &str {
    let ending = word.char_indices().skip(2).find(|(_, syllable)| VERB_SYLLABLES.contains(syllable));
    ending.map_or(word, |(at, _)| &word[..at])
}

fn push_han(run: &str, words: &mut Vec<Word>) {
    let mut rest = run;
    while !rest.is_empty() {
        let stop = CHINESE_STOP_WORDS
            .iter()
            .filter_map(|stop| rest.find(stop).map(|at| (at, *stop)))
            .min_by_key(|&(at, stop)| (at, std::cmp::Reverse(stop.len())));
        let (word, after) = match stop {
            Some((at, stop)) => (&rest[..at], &rest[at + stop.len()..]),
            None => (rest, ""),
        };
        rest = after;
        if word.chars().count() > 1 && !contains_word(JAPANESE_STOP_WORDS, word) {
            push(word, false, words);
        }
    }
}

fn push(text: &str, is_name: bool, words: &mut Vec<Word>) {
    /// In bytes. A longer word is encoded data.
    const MAX_BYTES: usize = 200;
    let known = words.iter().any(|word| word.text.eq_ignore_ascii_case(text));
    if !known && text.len() <= MAX_BYTES {
        words.push(Word { text: text.to_owned(), is_name });
    }
}

/// Returns whether a list of words, separated by blanks, contains the word.
fn contains_word(list: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    list.split(' ').any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        searchable(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn names_stay_whole() {
        for name in [
            "src/store/mod.rs",
            "getUserName",
            "E0308",
            "ENOENT",
            "--no-verify",
            "v1.2.3",
            "SQLITE_BUSY",
            "@scope/pkg",
            ".env",
            "#7536",
            "C:\\src\\a.rs",
            "crate::redact",
            "user_id",
            "https://example.com/a/issues/12",
        ] {
            assert_eq!(texts(&format!("why does ({name}), fail?")), [name, "fail"], "{name}");
            assert!(searchable(name)[0].is_name, "{name}");
        }
    }

    #[test]
    fn stop_words_are_dropped() {
        assert_eq!(texts("can you please tell me why the uploads are failing?"), ["uploads", "failing"]);
        assert_eq!(texts("결제 재시도를 README.md에서 어떻게 처리했지?"), ["결제", "재시도", "README.md", "처리"]);
        assert_eq!(texts("決済のリトライを実装してください"), ["決済", "リトライ", "実装"]);
        assert_eq!(texts("请帮我看一下支付重试的逻辑"), ["支付重试", "逻辑"]);
        assert_eq!(texts("the user's cache; The CACHE"), ["user", "cache"]);
    }

    #[test]
    fn a_korean_verb_is_searched_by_its_noun() {
        assert_eq!(texts("주문을 취소하려는데 결제가 반환되지 않았어"), ["주문", "취소", "결제", "반환", "않았어"]);
        assert_eq!(texts("훅 때문에 커밋이 안 되는데 지난번에는 뭐였지"), ["훅", "커밋"]);
        assert_eq!(texts("요금 제한"), ["요금", "제한"]);
    }

    #[test]
    fn a_korean_chore_has_no_words_of_its_own() {
        for chore in ["커밋해줘", "수정된 내용들을 커밋해줘", "변경사항 전부 푸시하자"] {
            assert!(only_continues(&searchable(chore)), "{chore}: {:?}", searchable(chore));
        }
        assert!(!only_continues(&searchable("커밋하면 훅이 실패해")));
    }

    #[test]
    fn consents_have_no_words() {
        for consent in
            ["ok", "Yes, do it.", "go ahead", "네", "응 계속 진행해줘", "はい", "続けて", "好的，继续", "thanks!", "👍", "1"]
        {
            assert!(
                searchable(consent).is_empty() || only_continues(&searchable(consent)),
                "{consent}: {:?}",
                searchable(consent)
            );
        }
    }
}
