//! Rules that have no word such as "always": how to work, what is demanded for later times, and what is forbidden for a reason.

use crate::text;

/// The same without what may also be a demand on a thing.
const ADDRESSES: &[&str] = &["i", "we", "you", "your", "our", "my", "me", "us", "please", "let's"];

/// Words of the agent's work, as opposed to what the product does.
pub(super) const WORK: &[&str] = &[
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

/// Returns whether a sentence in lower case says how the agent is to work: after which document, what first, what before what.
pub(super) fn tells_way_of_working(lower: &str) -> bool {
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
pub(super) fn tells_practice(lower: &str) -> bool {
    let teams =
        ["우리는", "저희는", "우리 팀은", "저희 팀은", "うちでは", "うちは", "我々は", "私たちは", "我们用", "我们只用"];
    let uses = ["사용", "쓰고", "쓰는", "써요", "쓴다", "씁니다", "써.", "안 써", "使っ", "使い", "使う", "使わ", "用"];
    text::contains_any(lower, &teams) && text::contains_any(lower, &uses)
}

/// Returns whether a sentence in lower case demands something for all times at which something else happens.
pub(super) fn is_lasting_demand(lower: &str) -> bool {
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
pub(super) fn is_reasoned_prohibition(lower: &str) -> bool {
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
