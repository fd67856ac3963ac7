//! Standing rules: what the user wants done in every later session.

use crate::text;
use crate::text::Language;

/// Signs of a standing rule. ASCII signs must be whole words. In scripts without spaces, a sign may occur anywhere.
const RULE_SIGNS: &[&str] = &[
    "always",
    "never",
    "from now on",
    "in the future",
    "going forward",
    "every time",
    "whenever you",
    "i prefer",
    "we prefer",
    "as a rule",
    "don't ever",
    "do not ever",
    "make sure to always",
    "make sure you always",
    "remember to",
    "we use",
    "we don't use",
    "we also use",
    "we only use",
    "on every run",
    "on every commit",
    "on each run",
    "each time",
    "we always",
    "we never",
    "our convention",
    "must always",
    "must never",
    "stick to",
    "stop using",
    "my preference",
    "my philosophy",
    "better not",
    "i'd rather",
    "i would rather",
    "please avoid",
    "only ever",
    "항상",
    "절대",
    "앞으로",
    "언제나",
    "매번",
    "반드시",
    "기억해",
    "규칙",
    "いつも",
    "常に",
    "必ず",
    "今後",
    "これから",
    "絶対",
    "毎回",
    "覚えて",
    "ルール",
    "总是",
    "永远",
    "以后",
    "今后",
    "每次",
    "务必",
    "必须",
    "绝对不",
    "记住",
    "一律",
];

/// Words of somebody who speaks for themselves or to the agent. A sentence without any describes how something is.
const PERSONS: &[&str] =
    &["i", "we", "you", "your", "our", "my", "me", "us", "i'd", "i'm", "let's", "please", "must", "should"];

/// The same without what may also be a demand on a thing.
const ADDRESSES: &[&str] = &["i", "we", "you", "your", "our", "my", "me", "us", "please", "let's"];

/// Words with which an order begins, behind words such as "and" or "also".
const ORDER_OPENINGS: &[&str] = &[
    "always",
    "never",
    "don't",
    "do not",
    "dont",
    "use",
    "remember",
    "make sure",
    "prefer",
    "avoid",
    "keep",
    "stop",
    "stick",
    "from now on",
    "in the future",
    "going forward",
    "when",
    "whenever",
    "every time",
    "only",
    "no",
    "as a rule",
    "better",
    "run",
    "write",
    "ask",
    "add",
    "put",
    "check",
];

/// Returns whether an English sentence addresses the agent.
fn addresses_agent(lower: &str) -> bool {
    let words = || lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    let lead = ["and", "also", "but", "so", "ok", "okay", "yes", "then", "hmm", "oh", "btw", "plus", "now"];
    let rest: Vec<&str> = words().skip_while(|word| lead.contains(word)).collect();
    let rest = rest.join(" ");
    let is_order = ORDER_OPENINGS
        .iter()
        .any(|opening| rest.strip_prefix(opening).is_some_and(|after| after.is_empty() || after.starts_with(' ')));
    is_order || words().any(|word| PERSONS.contains(&word))
}

/// Endings of Korean and Japanese sentences that ask for something or say what ought to be.
const WIDE_ORDER_ENDINGS: &[&str] = &[
    "해줘",
    "하자",
    "해라",
    "해",
    "줘",
    "해야 한다",
    "해야 해",
    "해야 합니다",
    "해야해",
    "하세요",
    "주세요",
    "마",
    "말 것",
    "말아줘",
    "말아라",
    "할 것",
    "않는다",
    "한다",
    "써",
    "쓰자",
    "없어야 한다",
    "싶어",
    "싶습니다",
    "바랍니다",
    "됩니다",
    "안 돼",
    "안돼",
    "して",
    "めて",
    "ください",
    "すること",
    "ように",
    "도록",
    "しない",
    "しないで",
    "禁止",
    "する",
    "たい",
    "こと",
    "べき",
    "で",
    "ます",
];

pub(in crate::extract) fn is_rule(sentence: &str) -> bool {
    let lower = format!(" {} ", sentence.to_lowercase().replace('’', "'"));
    let length = sentence.chars().count();
    // A comment in pasted code is nobody's rule.
    if ["//", "/*", "<!--"].iter().any(|mark| sentence.trim_start().starts_with(mark)) {
        return false;
    }
    if tells_language(&lower) || tells_what_is_committed(&lower) {
        return true;
    }
    if length < if sentence.is_ascii() { 16 } else { 7 } || length > 400 || sentence.ends_with(['?', '？']) {
        return false;
    }
    // How something is done today is no rule for tomorrow.
    // Nor is an example of what was said before it.
    if [" right now", " currently", " at the moment", " today ", " like there ", " like it "]
        .iter()
        .any(|opening| lower.starts_with(opening))
    {
        return false;
    }
    // "it never finishes" describes what happens. A rule addresses the agent or speaks of "we".
    let statements = [
        " it never",
        " it always",
        " will never",
        " will also never",
        " would never",
        " could never",
        " can never",
        " is never",
        " is always",
        " was never",
        " are never",
        " are always",
        " i never",
        " i always get",
        " still always",
        " has never",
        " have never",
        " they never",
        " never mind",
        " nevermind",
        " does it always",
        " not always",
        " they always",
        " never been ",
        " always been ",
        " assuming we ",
        " assumed we ",
        " thought we ",
        " interested in ",
        " let's think ",
        " lets think ",
        " let's discuss ",
        " think about how ",
        " think how ",
        " can always",
        " could always",
        " would always",
        " don't always",
        " doesn't always",
        " don't never",
        " as if ",
        " as though ",
        " in the future state",
        " in the future version",
        " let's fix ",
        " lets fix ",
        " how can we ",
    ];
    let asks = [" question", " one question", " i wonder", " can we ", " could we ", " maybe we ", " potentially"]
        .iter()
        .any(|opening| lower.starts_with(opening));
    if asks || sentence.contains("? ") || remarks_on_text(&lower) || demands_of_product(&lower) || is_undecided(&lower) {
        return false;
    }
    if text::contains_any(&lower, &statements) || ponders(&lower) {
        return false;
    }
    let end = without_rules_file(&lower).trim_end_matches(['.', '!', '~', '。', '！', ')']).trim_end();
    // "Let's stick to it but just move it" settles one thing.
    let steers = text::contains_any(&lower, &[" let's ", " just ", " i guess ", " for now"]);
    let is_once = lower.contains(" stick to ") && steers;
    if is_once || describes_habit(&lower) || tells_past(&lower) {
        return false;
    }
    if tells_practice(&lower) || tells_way_of_working(&lower) || tells_working_habit(&lower) {
        return true;
    }
    let is_addressed = match text::language(sentence) {
        Language::English => addresses_agent(lower.trim()),
        Language::Korean | Language::Japanese => WIDE_ORDER_ENDINGS.iter().any(|ending| end.ends_with(ending)),
        Language::Chinese => true,
    };
    if !is_addressed {
        return false;
    }
    // A word in quotes is somebody else's.
    let said = lower.replace("\"always\"", "").replace("\"never\"", "");
    let uses = |sign: &str| sign.starts_with("we ") && is_dependent(&said, sign);
    RULE_SIGNS.iter().any(|rule| text::contains_words(&said, rule) && !uses(rule))
        || is_reasoned_prohibition(&lower)
        || forbids_record(&lower)
        || is_naming_rule(&lower)
        || is_reasoned_convention(&lower)
        || is_lasting_demand(&lower)
}

/// Returns whether a sentence in lower case leaves open what is to be, or only wants to be told something: "there has to be a decision
/// on whether …", "before you go on, clarify that …".
pub(super) fn is_undecided(lower: &str) -> bool {
    const OPEN: [&str; 5] = ["whether", "theoretically", "in theory", "decision on", "to validate this"];
    const TELLS: [&str; 3] = ["clarify", "explain", "confirm whether"];
    let clauses = || lower.split([',', ';', ':']).map(str::trim_start);
    text::contains_any_words(lower, &OPEN)
        || clauses().any(|clause| TELLS.iter().any(|verb| text::starts_with_words(clause, verb)))
}

/// Returns whether a sentence in lower case wants a way to be thought of: "reflect on the keys and how we can mend them".
fn ponders(lower: &str) -> bool {
    lower.contains(" how we can ")
        && text::contains_any_words(lower, &["reflect", "think", "see", "discuss", "consider", "figure out"])
}

/// Returns a sentence in lower case without the file for rules that is named behind it: "…ように. claude.md".
fn without_rules_file(lower: &str) -> &str {
    let said = lower.trim();
    let before = ["claude.md", "agents.md"].iter().find_map(|file| said.strip_suffix(file));
    before.map_or(said, |before| before.trim_end_matches(['.', ',', '。', '、', ' ']))
}

/// Returns whether a sentence in lower case says how a text reads, which is for that text only.
pub(super) fn remarks_on_text(lower: &str) -> bool {
    text::contains_any_words(lower, &["still reads", "still sounds", "reads like", "reads as if", "sounds as if"])
}

/// Returns whether an English sentence in lower case says what something does each time: "always calls". An order has the verb
/// without an ending.
fn describes_habit(lower: &str) -> bool {
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let verb = pair[1].trim_end_matches(|c: char| !c.is_alphanumeric());
        matches!(pair[0], "always" | "never" | "constantly")
            && verb.len() > 3
            && verb.ends_with('s')
            && !verb.ends_with("ss")
    })
}

/// Returns whether an English sentence in lower case says what something did: "never really worked".
fn tells_past(lower: &str) -> bool {
    let words: Vec<&str> = lower.split_whitespace().collect();
    (0..words.len()).filter(|at| matches!(words[*at], "always" | "never")).any(|at| {
        let verb = words[at + 1..].iter().find(|word| !word.ends_with("ly")).copied().unwrap_or_default();
        let verb = verb.trim_end_matches(|c: char| !c.is_alphanumeric());
        verb.len() > 4 && verb.ends_with("ed") && !matches!(verb, "need" | "embed" | "exceed" | "proceed" | "succeed")
    })
}

/// Returns whether the clause of a sign depends on another one or asks: "the branches where we use it", "can we use it".
fn is_dependent(lower: &str, sign: &str) -> bool {
    const BEFORE: [&str; 17] = [
        "where", "which", "that", "how", "when", "what", "why", "if", "can", "could", "should", "shall", "do", "did",
        "before", "until", "whether",
    ];
    let before = |at: usize| lower[..at].split_whitespace().next_back().unwrap_or_default();
    lower.match_indices(sign).all(|(at, _)| BEFORE.contains(&before(at)))
}

/// Words of the agent's work, as opposed to what the product does.
const WORK: &[&str] = &[
    "commit",
    "commits",
    "branch",
    "branches",
    "pr",
    "prs",
    "pull request",
    "test",
    "tests",
    "comment",
    "comments",
    "code",
    "message",
    "messages",
    "doc",
    "docs",
    "documentation",
    "changelog",
    "review",
    "lint",
    "script",
    "scripts",
    "plan",
    "agent",
    "agents",
    "skill",
    "skills",
    "readme",
    "release",
    "deploy",
    "style",
    "naming",
];

/// Returns whether an English sentence in lower case demands something of the product, which ends with the task: "it should open
/// the last cart every time".
pub(super) fn demands_of_product(lower: &str) -> bool {
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let lead = words.iter().take_while(|word| ["also", "and", "but", "so", "then", "ok", "okay"].contains(word)).count();
    let words = &words[lead..];
    let is_demand = |at: &usize| {
        let next = words.get(at + 1).copied();
        matches!(words[*at], "should" | "shouldn't" | "shouldnt")
            || (matches!(words[*at], "needs" | "has") && next == Some("to"))
    };
    let demand = (0..words.len().min(6)).find(is_demand);
    let is_subject = match (words.first().copied(), demand) {
        (Some("it" | "they"), Some(1)) => true,
        (Some("the"), Some(at)) => at >= 2,
        _ => false,
    };
    let person = ["you", "your", "i", "we", "please"].iter().any(|word| words.contains(word));
    is_subject && !person && !text::contains_any_words(lower, WORK)
}

/// Returns whether a sentence in lower case says how the agent is to work: after which document, what first, what before what.
fn tells_way_of_working(lower: &str) -> bool {
    let says = |words: &[&str]| text::contains_any_words(lower, words);
    let names_document = lower.split_whitespace().any(|word| {
        let word = word.trim_end_matches(['.', ',', '!', ')', ':']);
        word.starts_with('@') || [".md", ".mdx", ".txt", ".rst"].iter().any(|ending| word.ends_with(ending))
    });
    let follows = says(&["follow", "stick to", "adhere to", "따라", "従って", "遵循", "按照"])
        && says(&["exactly", "strictly", "to the letter", "guidelines", "그대로", "정확히", "厳密に", "正確に", "严格"]);
    // "Fix the tests first" is a step of this session.
    let is_step = ["fix ", "run ", "commit ", "finish ", "do "].iter().any(|verb| lower.trim_start().starts_with(verb));
    let first = says(&["begin by writing tests", "start by writing tests", "begin with tests", "tests first", "test first"])
        || (says(&["write tests", "write the tests"]) && says(&["first", "before you implement", "before implementing"]))
        || (says(&["테스트를 먼저", "테스트부터", "テストを先に", "テストから", "先写测试", "先写好测试"]));
    let prefers = says(&["prioritize"]) && says(&["over"]);
    (follows && names_document) || (first && !is_step) || prefers
}

/// Returns whether a Korean, Japanese or Chinese sentence says what the human's own team uses.
fn tells_practice(lower: &str) -> bool {
    let teams =
        ["우리는", "저희는", "우리 팀은", "저희 팀은", "うちでは", "うちは", "我々は", "私たちは", "我们用", "我们只用"];
    let uses = ["사용", "쓰고", "쓰는", "써요", "쓴다", "씁니다", "써.", "안 써", "使っ", "使い", "使う", "使わ", "用"];
    text::contains_any(lower, &teams) && text::contains_any(lower, &uses)
}

/// Words that say that a sentence holds for this once.
const ONCE: &[&str] = &[
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
fn tells_what_is_committed(lower: &str) -> bool {
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

/// Returns whether a short sentence in lower case says in which language something is always written. The topic marker speaks of the
/// kind, the object marker of one text: "コメントは英語で", "커밋 메시지는 한글로", "PR titles in English".
fn tells_language(lower: &str) -> bool {
    const MAX_CHARS: usize = 48;
    const LANGUAGES: [&str; 11] =
        ["英語", "日本語", "韓国語", "中国語", "영어", "한국어", "한글", "일본어", "중국어", "english", "korean"];
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
    const TEXTS: [&str; 8] =
        ["pr名", "prタイトル", "コミットメッセージ", "ブランチ名", "pr 제목", "커밋 메시지", "커밋 메세지", "브랜치 이름"];
    // All that may stand before the language in English: a verb would ask for one text.
    const KINDS: [&str; 20] = [
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
    let said = lower.trim().trim_end_matches(['.', '!', '。', '！']);
    if said.chars().count() > MAX_CHARS || text::contains_any_words(&format!(" {said}"), ONCE) {
        return false;
    }
    LANGUAGES.iter().any(|language| {
        let Some((before, after)) = said.rsplit_once(language) else { return false };
        if language.is_ascii() {
            let Some(before) = before.strip_suffix(" in ") else { return false };
            let is_kind = before.split_whitespace().all(|word| KINDS.contains(&word));
            return is_kind && matches!(after.trim(), "" | "please");
        }
        let before = before.trim_end();
        let topic = ["は", "は、", "은", "는"].iter().find_map(|marker| before.strip_suffix(marker));
        let is_topic = topic.is_some_and(|topic| TEXTS.iter().chain(&TOPICS).any(|kind| topic.ends_with(kind)));
        let is_kind = is_topic || TEXTS.iter().any(|kind| before.ends_with(kind));
        is_kind && ENDS.contains(&after)
    })
}

/// Returns whether a short Korean or Japanese sentence in lower case says how branches, work trees, commits or pull requests are always
/// dealt with: it ends with "so that …" and asks for nothing beside it, or it says what must not stand in them.
fn tells_working_habit(lower: &str) -> bool {
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
fn is_naming_rule(lower: &str) -> bool {
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
fn is_reasoned_convention(lower: &str) -> bool {
    const RECORDS: [&str; 8] = ["pr", "コミット", "ブランチ", "プルリク", "커밋", "브랜치", "풀리퀘", "머지"];
    const REASONS: [&str; 7] = ["ので", "から、", "ため、", "니까", "므로", "때문에", "어서 "];
    const DEMANDS: [&str; 9] =
        ["ように", "ようにして", "べき", "してください", "하도록", "하도록 해줘", "해야 해", "해야 합니다", "맞춰줘"];
    let end = without_rules_file(lower).trim_end_matches(['.', '。', '!', '！']);
    text::contains_any(lower, &RECORDS)
        && text::contains_any(lower, &REASONS)
        && DEMANDS.iter().any(|demand| end.ends_with(demand))
}

/// Returns whether a sentence in lower case demands something for all times at which something else happens.
fn is_lasting_demand(lower: &str) -> bool {
    let demands = ["make sure", "ensure", "has to", "have to", "must", "should", "needs to", "need to"];
    let times = ["once we", "as soon as", "whenever", "every time", "when we add", "when you add", "when adding"];
    let says = |words: &[&str]| text::contains_any_words(lower, words);
    // "We should probably …, so whenever …" proposes something and says what it is for.
    let proposes = says(&["should probably", "could probably", "i think we should", "so whenever", "so every time"]);
    // "This breaks it whenever …, so the text should …" remarks on what was made.
    let is_addressed = says(&["make sure", "ensure"]) || says(ADDRESSES) || says(WORK);
    // "The things we should know whenever …" names something.
    let names = says(&["things we should", "things you should", "what we should", "what you should"]);
    says(&demands) && says(&times) && !proposes && !names && is_addressed
}

/// Returns whether a sentence in lower case forbids something and says why. The reason holds for the next time too.
fn is_reasoned_prohibition(lower: &str) -> bool {
    let forbids =
        ["do not ", "don't ", "must not ", "should not ", "shouldn't ", " avoid ", "하지 마", "하지마", "말아", "しないで"];
    let reasons = [" as ", " because ", " since ", " otherwise ", "때문", "니까", "므로", "から", "ので"];
    let passing = [
        "for now",
        "this time",
        "right now",
        "yet",
        "worry",
        "don't know",
        "don't think",
        "don't see",
        "don't have",
        "i don't",
    ];
    // "To avoid the leak" says what something is for.
    let is_purpose = |at: usize| [" to", " and", " or"].iter().any(|word| lower[..at].ends_with(word));
    let at = forbids.iter().filter_map(|words| lower.find(words).filter(|at| *words != " avoid " || !is_purpose(*at))).min();
    at.is_some_and(|at| {
        // In Korean and Japanese the reason stands first.
        let rest = if lower.is_ascii() { &lower[at..] } else { lower };
        text::contains_any(&rest.replace(" as well ", " "), &reasons)
    }) && !text::contains_any(lower, &passing)
}

/// Returns whether a short Korean or Japanese sentence in lower case forbids to record or to publish work unasked or without something:
/// "勝手にプッシュしないで", "테스트 없이 커밋하지 마".
fn forbids_record(lower: &str) -> bool {
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

/// Returns the short bans in a prompt, in lower case: "no verify" in "commit it, no verify". What points to something, or only calms,
/// is none.
pub(in crate::extract) fn short_bans(prompt: &str) -> impl Iterator<Item = String> {
    const MAX_CHARS: usize = 32;
    const OPENINGS: [&str; 6] = ["no", "dont", "do not", "never", "without", "skip"];
    const OTHERS: [&str; 28] = [
        "need", "needs", "problem", "problems", "worry", "worries", "idea", "this", "that", "it", "them", "these", "those",
        "i", "you", "we", "change", "changes", "more", "longer", "one", "know", "think", "thanks", "matter", "please",
        "yet", "now",
    ];
    let is_ban = |clause: &String| {
        let words = clause.split_whitespace().count();
        let opening = OPENINGS.iter().find(|it| text::starts_with_words(clause, it));
        let rest = opening.map_or(0, |it| words - it.split_whitespace().count());
        (1..=3).contains(&rest) && clause.len() <= MAX_CHARS && !text::contains_any_words(clause, &OTHERS)
    };
    let short = Some(prompt).filter(|prompt| prompt.is_ascii() && prompt.len() <= 10 * MAX_CHARS).unwrap_or_default();
    let clauses = short.split([',', '.', ';', '\n', '(', ')', '!']).filter(|clause| !clause.contains(['?', '`', '/']));
    clauses.map(|clause| strip_apostrophes(clause.trim())).filter(is_ban)
}

/// Converts to lower case without apostrophes. People leave them out as often as not.
pub(super) fn strip_apostrophes(text: &str) -> String {
    text.to_lowercase().replace(['’', '\''], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_ban_stands_in_its_own_clause() {
        let bans = |prompt: &str| short_bans(prompt).collect::<Vec<_>>();
        assert_eq!(bans("commit the till, no verify"), ["no verify"]);
        assert_eq!(bans("Don't run the drawer"), ["dont run the drawer"]);
        for said in ["no", "no problem", "don't do that", "no, I mean the till", "no need for it", "does it run, no slips?"]
        {
            assert!(bans(said).is_empty(), "{said}");
        }
    }

    #[test]
    fn what_is_left_open_or_asked_is_no_rule() {
        for said in [
            "There needs to be a decision on whether we should stick to the old till",
            "before you close it, clarify that the night till should never be counted",
            "It should build a list of things we should know whenever the till rings, and read it in the script",
            "The easiest thing, theoretically, would be to always use the till of the day before",
        ] {
            assert!(!is_rule(said), "{said}");
        }
        assert!(is_rule("we should never count the night till") && is_rule("from now on, tell me the total first"));
    }
}
