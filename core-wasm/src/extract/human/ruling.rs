//! Rulings: the words with which the user settles scope or design while the agent works, stated or asked for.

use super::asked_behind::stated;
use super::choice::has_pointer;
use super::consent::asks_record;
use super::correction::is_correction;
use super::pasted::{looks_pasted, own_words};
use super::plan::plan;
use super::reasoned::is_reasoned_demand;
use super::rule::{is_rule, is_undecided};
use crate::text::{self, strip_apostrophes};

/// The maximum length of a message whose sentences are taken as rulings, and of such a sentence, in characters.
const MAX_MESSAGE_CHARS: usize = 700;
const MAX_SENTENCE_CHARS: usize = 260;
/// The maximum length of the sentence before a ruling that only points there, in characters.
const MAX_BEFORE_CHARS: usize = 160;
/// The maximum length of a sentence that settles something by a word in its middle, in characters.
const MAX_SIGNED_CHARS: usize = 170;
/// The maximum number of rulings of one message.
pub(super) const MAX_RULINGS: usize = 3;
/// The length below which a ruling without a name needs what was said before it, in ASCII characters and in those of other scripts.
const MIN_ALONE_CHARS: usize = 45;
const MIN_ALONE_WIDE_CHARS: usize = 16;

/// One ruling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::extract) struct Ruling {
    /// The user's words.
    pub said: String,
    /// Whether it is put as a question, so that it only holds if the agent does so.
    pub asks: bool,
    /// Whether it points to something that the message does not say.
    pub points: bool,
}

/// Words before a ruling that settle nothing themselves.
const LEADS: &[&str] = &[
    "yes",
    "yeah",
    "yep",
    "ok",
    "okay",
    "and",
    "also",
    "but",
    "so",
    "then",
    "hmm",
    "oh",
    "ah",
    "actually",
    "maybe",
    "perhaps",
    "well",
    "right",
    "sure",
    "great",
    "good",
    "all good",
    "looks good",
    "no",
    "nah",
    "for now",
    "thinking again",
    "i think that",
    "i think",
    "i feel",
    "in that case",
    "please",
    "just",
    "now",
];

/// Verbs that settle how something is to be, behind "let's", "we should" and "can we".
const SETTLING_VERBS: &[&str] = &[
    "use",
    "reuse",
    "re-use",
    "keep",
    "drop",
    "skip",
    "rename",
    "call",
    "name",
    "limit",
    "cap",
    "leave",
    "avoid",
    "stick",
    "stay",
    "default",
    "hide",
    "get rid of",
    "ignore",
    "exclude",
    "share",
    "consolidate",
    "not",
    "only",
    "put",
    "treat",
    "separate",
    "split",
    "switch",
    "go for",
    "go with",
    "set",
    "store",
    "log",
    "allow",
    "require",
    "rely",
    "postpone",
    "defer",
    "make",
    "have",
    "move",
    "replace",
    "remove",
];

/// Verbs of that list that also ask for a plain change, so that a question with them settles something only with a limit beside it.
const PLAIN_VERBS: &[&str] = &[
    "make", "have", "move", "replace", "remove", "set", "put", "change", "take", "get", "return", "log", "split", "store",
    "show", "hide", "allow", "leave", "switch", "skip",
];

/// Verbs of a step that only looks at something.
const READS: &[&str] =
    &["look", "check", "see", "read", "talk", "discuss", "think", "try", "test", "run", "review", "compare"];

/// Adverbs between such an opening and its verb.
const ADVERBS: &[&str] = &[
    "just ",
    "rather ",
    "maybe ",
    "also ",
    "please ",
    "completely ",
    "now ",
    "then ",
    "simply ",
    "still ",
    "instead ",
    "always ",
];

/// Openings of a sentence that rules something out or in.
const OPENINGS: &[&str] = &[
    "we dont need",
    "we do not need",
    "we dont want",
    "we do not want",
    "i dont want",
    "i do not want",
    "no need for",
    "no need to have",
    "we shouldnt",
    "we should not",
    "id prefer",
    "id rather",
    "id personally prefer",
    "i would prefer",
    "i would rather",
    "keep",
    "leave",
    "use",
    "only",
    "make it",
    "call it",
    "name it",
    "default to",
    "stick to",
    "stick with",
];

/// Signs of a ruling anywhere in a sentence that asks nothing.
const SIGNS: &[&str] = &[
    "should only",
    "should be only",
    "should not",
    "shouldnt",
    "should never",
    "should always",
    "should default",
    "should stay",
    "should still",
    "must not",
    "must only",
    "is redundant",
    "are redundant",
    "is overkill",
    "is too much",
    "is to much",
    "on purpose",
    "is intentional",
    "deliberately",
    "out of scope",
    "separate pr",
    "different pr",
    "follow-up pr",
    "followup pr",
    "source of truth",
    "backwards compatible",
    "backwards compatibility",
    "backward compatibility",
    "is good enough",
    "is enough",
    "not worth",
    "thats why we",
    "we want to be explicit",
];

/// What a question ends with that only waits for a yes.
const TAGS: &[&str] = &[", or?", " or?", ", right?", ", no?", ", yes?", ", yeah?"];

/// Signs in Korean, Japanese and Chinese.
const WIDE_SIGNS: &[&str] = &[
    "대신",
    "빼고",
    "빼줘",
    "빼자",
    "안 해도",
    "안해도",
    "필요 없",
    "필요없",
    "그대로 두",
    "그대로 유지",
    "유지해",
    "만 해줘",
    "만 하자",
    "로 하자",
    "으로 하자",
    "로 가자",
    "로 통일",
    "만 사용",
    "기본값",
    "なしで",
    "いらない",
    "そのままで",
    "だけでいい",
    "だけにし",
    "にしよう",
    "に統一",
    "代わりに",
    "コミットせず、",
    "デフォルトは",
    "不用",
    "改用",
    "只用",
    "不需要",
    "保持不变",
    "默认",
];

/// Signs of a limit or of a preference: "can we just make it one?"
const LIMITS: &[&str] =
    &["instead", "rather than", "just", "only", "not", "dont", "without", "by default", "same", "to be", "always"];

/// Openings of questions that ask for something to be so.
const ASKS: &[&str] = &[
    "can we",
    "could we",
    "cant we",
    "couldnt we",
    "we can",
    "we could",
    "should we",
    "shouldnt we",
    "shall we",
    "can you",
    "could you",
    "why not",
    "why dont we",
    "any chance we can",
];

/// Words of a step of the work or of a remark, of which no colleague asks tomorrow.
pub(super) const STEPS: &[&str] = &[
    "subagent",
    "subagents",
    "skill",
    "skills",
    "superpower",
    "superpowers",
    "context limit",
    "this session",
    "keep going",
    "keep working",
    "keep in mind",
    "move to",
    "move on",
    "i would have",
    "id have",
    "i would not care",
    "rename this branch",
    "rename the branch",
    "worry",
    "have a look",
    "make sure",
    "make a",
    "make another",
    "need to commit",
    "want to commit",
    "need to push",
    "want to push",
    "the plan",
    "a plan",
    "consider",
    "let me know",
    "dont change anything",
    "dont change any code",
    "do not change anything",
];

/// Returns what a message of the user settles. Documents pasted in place of a message settle nothing.
pub(in crate::extract) fn rulings(message: &str) -> Vec<Ruling> {
    if plan(message).is_some() || message.starts_with('/') || message.chars().count() > MAX_MESSAGE_CHARS {
        return Vec::new();
    }
    let own = own_words(message);
    let all = text::sentences(&own);
    let typed = all.iter().flat_map(|sentence| text::typed_sentences(sentence));
    let sentences: Vec<&str> = typed.map(without_question_behind).flat_map(without_request).map(str::trim).collect();
    let mut found: Vec<Ruling> = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        // A comment of code was pasted.
        let reasoned = || (is_reasoned_demand(sentence) && !is_correction(sentence) && !is_rule(sentence)).then_some(false);
        let Some(asks) = rules(sentence).or_else(reasoned).filter(|_| !sentence.starts_with("//")) else { continue };
        let behind = sentence.split_once(['?', '？']).map_or("", |(_, behind)| behind);
        let next = sentences.get(at + 1).copied().unwrap_or_default();
        if asks && (doubts_question(behind) || doubts_question(next)) {
            continue;
        }
        let before = at.checked_sub(1).map(|at| sentences[at]);
        let before = before.filter(|it| it.chars().count() <= MAX_BEFORE_CHARS && !looks_pasted(it));
        let least = if sentence.is_ascii() { MIN_ALONE_CHARS } else { MIN_ALONE_WIDE_CHARS };
        let is_short = sentence.chars().count() < least && !names_something(sentence);
        let points = has_pointer(sentence) || is_short || sentence.starts_with('(');
        let mut said = if asks { without_question(sentence) } else { (*sentence).to_owned() };
        let known = found.iter().position(|known| before.is_some_and(|before| known.said.ends_with(before)));
        if let (true, Some(before)) = (points, before) {
            said = format!("{before} {sentence}");
        }
        if let Some(next) = sentences.get(at + 1).filter(|next| completes(next)) {
            let joint = if said.ends_with(|c: char| c.is_ascii_punctuation() || c == '。') { " " } else { "; " };
            said = format!("{said}{joint}{next}");
        }
        match known.filter(|_| points) {
            Some(known) => found[known].said = format!("{} {sentence}", found[known].said),
            None => found.push(Ruling { said, asks, points: points && before.is_none() }),
        }
    }
    found.truncate(MAX_RULINGS);
    found
}

/// Returns a sentence that settles something without the question behind it: "let's call it X instead of Y what else is to do?"
fn without_question_behind(sentence: &str) -> &str {
    let said = stated(sentence);
    if settles(without_leads(&strip_apostrophes(said))) { said } else { sentence }
}

/// Returns a sentence, or its parts if it settles something and then asks for more: "let's keep it, can you show the slip?"
fn without_request(sentence: &str) -> impl Iterator<Item = &str> {
    const REQUESTS: [&str; 4] = [", can you ", ", could you ", ", can we ", ", and can you "];
    let at = REQUESTS.iter().filter_map(|words| sentence.find(words)).min();
    let is_let = |at: &usize| settles(without_leads(&strip_apostrophes(&sentence[..*at])));
    let at = at.filter(|_| sentence.is_ascii()).filter(is_let);
    let (first, rest) = sentence.split_at(at.unwrap_or(sentence.len()));
    [first, rest.trim_start_matches(", ")].into_iter().filter(|part| !part.is_empty())
}

/// Questions that ask in so many words for something to be so. Any other stays a question.
const ORDERS: &[&str] = &["can we", "could we", "can't we", "cant we", "couldn't we", "couldnt we", "can you", "could you"];

/// Returns what a question wants to be so, as an order: "can we keep the slip?" becomes "keep the slip". What is put as a statement loses
/// only its tag. A question that goes on in another way stays as it is.
fn without_question(sentence: &str) -> String {
    let lower = sentence.to_ascii_lowercase();
    if let Some(tag) = TAGS.iter().find(|tag| lower.ends_with(**tag)) {
        return sentence[..sentence.len() - tag.len()].to_owned();
    }
    let order = || {
        let (asked, behind) = sentence.split_once('?')?;
        let opening = ORDERS.iter().find(|opening| text::starts_with_words(without_exclamation(&lower), opening))?;
        let begin = sentence.len() - without_exclamation(&lower).len() + opening.len();
        let order = asked.get(begin..)?.trim_start();
        let order = ["also ", "instead "].iter().find_map(|word| order.strip_prefix(word)).unwrap_or(order);
        // "…, can't we?" asks whether it is possible.
        let last = order.rsplit_once(", ").map(|(_, last)| last.to_ascii_lowercase());
        let asks_on = last.is_some_and(|last| {
            ["is ", "are ", "does ", "do ", "can", "could", "should", "would", "or"].iter().any(|it| last.starts_with(it))
        });
        match behind.trim() {
            _ if asks_on => None,
            "" => Some(order.to_owned()),
            behind if completes(behind) && !behind.contains('?') => Some(format!("{order}, {behind}")),
            _ => None,
        }
    };
    order().unwrap_or_else(|| sentence.to_owned())
}

/// Returns a sentence in lower case without an exclamation before it.
fn without_exclamation(lower: &str) -> &str {
    ["ah, ", "oh, ", "ok, ", "okay, ", "and ", "so "].iter().find_map(|lead| lower.strip_prefix(lead)).unwrap_or(lower)
}

/// Returns whether what stands behind a question doubts what it asks for: "should we round it? I don't think so".
fn doubts_question(behind: &str) -> bool {
    const DOUBTS: [&str; 12] = [
        "no",
        "nah",
        "nope",
        "i dont think",
        "i guess",
        "i doubt",
        "i dont know",
        "not sure",
        "if not",
        "or",
        "probably not",
        "maybe not",
    ];
    let lower = strip_apostrophes(&behind.trim().to_lowercase());
    DOUBTS.iter().any(|doubt| text::starts_with_words(&lower, doubt))
}

/// Returns whether what a message asks for is more than a step that is over once it is done: it says how something is to be. Of a plain
/// change that needs a limit, or a reason.
pub(in crate::extract) fn asks_to_stay(said: &str) -> bool {
    const REASONS: [&str; 8] = ["because", "since", "that way", "should", "shouldnt", "must", "everywhere", "from now on"];
    const STAYS: [&str; 16] = [
        "use", "reuse", "re-use", "keep", "drop", "limit", "cap", "avoid", "stick", "stay", "default", "ignore", "exclude",
        "require", "rely", "allow",
    ];
    const WISHES: [&str; 3] = ["somehow", "something like", "or something"];
    let lower = strip_apostrophes(&text::plain(said));
    let bare = without_leads(&lower);
    let order = behind(bare, ASKS).unwrap_or(bare);
    let holds = STAYS.iter().any(|verb| text::starts_with_words(order, verb))
        || text::contains_any_words(&lower, LIMITS)
        || text::contains_any_words(&lower, &REASONS);
    holds && !text::contains_any_words(&lower, &WISHES)
}

/// Returns whether a sentence quotes something, or names it by its form.
fn names_something(sentence: &str) -> bool {
    let is_name = |word: &str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        inner.chars().skip(1).any(|c| c.is_ascii_uppercase() || matches!(c, '_' | '/' | '.'))
    };
    sentence.contains(['`', '"']) || sentence.contains(" '") || sentence.split(' ').any(is_name)
}

/// Returns whether a sentence says what the ruling before it leaves, or why it was made.
fn completes(sentence: &str) -> bool {
    const OPENINGS: [&str; 8] = ["just", "only", "instead", "rather", "because", "since", "otherwise", "should be"];
    let lower = sentence.to_lowercase();
    sentence.chars().count() <= MAX_BEFORE_CHARS && OPENINGS.iter().any(|opening| text::starts_with_words(&lower, opening))
}

/// Returns whether a sentence settles something by asking for it. None if it settles nothing.
fn rules(sentence: &str) -> Option<bool> {
    let least = if sentence.is_ascii() { 12 } else { 7 };
    if !(least..=MAX_SENTENCE_CHARS).contains(&sentence.chars().count())
        || sentence.ends_with([':', '：'])
        || looks_pasted(sentence)
        || is_rule(sentence)
        || (asks_record(sentence) && !sentence.contains("せず、"))
        || sentence.ends_with("...")
        || sentence.matches('"').count() % 2 == 1
    {
        return None;
    }
    // "only _one_ cart"
    let lower = strip_apostrophes(&text::plain(sentence)).replace(['_', '*'], "");
    if text::contains_any_words(&lower, STEPS) || names_option_only(&lower) || is_undecided(&lower) {
        return None;
    }
    let bare = without_leads(&lower);
    // "It's the north shop": a fact that the agent cannot know.
    let names_one = text::starts_with_words(&lower, "its the") && !text::contains_words(&lower, "same");
    if (opens_ruling(bare) || names_one) && !sentence.contains(['?', '？']) {
        return Some(false);
    }
    if asks_for(bare, sentence) || waits_for_yes(&lower) {
        return Some(true);
    }
    // "There is a parser already, let's not write another."
    let clause = lower.rsplit_once(", ").map(|(_, clause)| without_leads(clause));
    let is_let = |clause: &str| clause.starts_with("lets ") || clause.starts_with("let us ");
    if clause.is_some_and(|clause| is_let(clause) && settles(clause) && !names_option_only(clause))
        && !sentence.contains(['?', '？'])
    {
        return Some(false);
    }
    // What opens with a question's word asks, with or without its mark.
    let wonders = ["what", "why", "how", "which", "where", "when", "who", "is", "are", "does", "do", "did", "if"];
    let is_open = sentence.contains(['?', '？']) || wonders.iter().any(|word| text::starts_with_words(bare, word));
    let has_sign = text::contains_any_words(&lower, SIGNS) || text::contains_any(&lower, WIDE_SIGNS);
    let is_short = sentence.chars().count() <= MAX_SIGNED_CHARS;
    (has_sign && is_short && !is_open && !is_correction(sentence)).then_some(false)
}

/// Returns whether a sentence settles something although it puts it in another's place: "let's call it X instead of Y".
pub(super) fn settles_anew(sentence: &str) -> bool {
    rules(sentence) == Some(false) && settles(without_leads(&strip_apostrophes(sentence)))
}

/// Returns whether a sentence in lower case, without what leads to it, begins as a ruling.
fn opens_ruling(bare: &str) -> bool {
    settles(bare) || OPENINGS.iter().any(|it| text::starts_with_words(bare, it))
}

/// Returns whether a sentence in lower case, without what leads to it, says what is to be: "let's keep it", "I want only one".
fn settles(bare: &str) -> bool {
    let limits = |rest: &str| text::contains_any_words(rest, LIMITS);
    let settles = behind(bare, &["lets", "let us", "we should", "we want to", "i would", "id"]).is_some_and(|rest| {
        let opens = |verbs: &[&str]| verbs.iter().any(|it| text::starts_with_words(rest, it));
        let replaces = !opens(READS) && text::contains_any_words(rest, &["instead of", "rather than"]);
        let goes_to_value = rest.strip_prefix("go ").is_some_and(|value| value.starts_with(|c: char| c.is_ascii_digit()));
        goes_to_value || replaces || opens(SETTLING_VERBS) || (opens(PLAIN_VERBS) && limits(rest))
    });
    let wants = behind(bare, &["i want", "id like", "i would like"]).is_some_and(limits);
    settles || wants
}

/// Returns whether a sentence asks for something to be so. `bare` is the sentence in lower case, without what leads to it. What weighs
/// two ways asks for none.
fn asks_for(bare: &str, sentence: &str) -> bool {
    if text::contains_words(bare, "or") || sentence.to_lowercase().starts_with("hmm") {
        return false;
    }
    let Some(verb) = behind(bare, ASKS) else { return false };
    let opens = |verbs: &[&str]| verbs.iter().any(|it| text::starts_with_words(verb, it));
    let has_limit = || text::contains_any_words(bare, LIMITS);
    (opens(SETTLING_VERBS) && !opens(PLAIN_VERBS)) || (opens(PLAIN_VERBS) && has_limit())
}

/// Returns whether a sentence in lower case says what should be, and only waits for a yes: "we should round both, or?"
fn waits_for_yes(lower: &str) -> bool {
    let Some(said) = TAGS.iter().find_map(|tag| lower.strip_suffix(tag)) else { return false };
    text::contains_any_words(said, &["we should", "we shouldnt"]) && !text::contains_any_words(said, &["fine", "ok", "work"])
}

/// Returns whether a sentence in lower case only names an option that somebody else described: "let's go with A", "I'd prefer that".
pub(super) fn names_option_only(lower: &str) -> bool {
    let last = lower.trim_end_matches(['.', '!', ' ']).rsplit(' ').next().unwrap_or_default();
    lower.len() <= 26 && (last.len() <= 1 || ["it", "that", "this", "them", "these", "those"].contains(&last))
}

/// Returns what stands behind one of the openings, and behind adverbs after it.
fn behind<'a>(bare: &'a str, openings: &[&str]) -> Option<&'a str> {
    let opening = openings.iter().find(|it| text::starts_with_words(bare, it))?;
    let mut rest = bare[opening.len()..].trim_start();
    while let Some(adverb) = ADVERBS.iter().find(|adverb| rest.starts_with(**adverb)) {
        rest = rest[adverb.len()..].trim_start();
    }
    Some(rest)
}

/// Returns a sentence in lower case without the words that lead to what it settles.
pub(super) fn without_leads(lower: &str) -> &str {
    let mut rest = lower;
    while let Some(lead) = LEADS.iter().find(|lead| text::starts_with_words(rest, lead)) {
        let after = rest[lead.len()..].trim_start_matches(|c: char| !c.is_alphanumeric());
        if after.is_empty() {
            break;
        }
        rest = after;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_settles_scope_and_design() {
        for said in [
            "ok, let's keep the old cart for now",
            "we don't need the test of the invoice",
            "yeah let's drop the '-' before each line",
            "I want the cart to be called basket instead of cart",
            "I think we should only have one list of carts",
            "All good, but, I would replace the cart with the list of the till",
            "the price stays a string on purpose",
            "then lets stay with the current rounding",
            "there is a parser of carts already, let's avoid a second one",
            "the number can change, that's why we print the sign on the receipt",
            "its the north shop and the night till",
            "장바구니 테스트는 필요 없어",
            "カートのテストはそのままでいいよ",
            "税率は一旦コミットせず、仕様はPRにしたい",
        ] {
            let found = rulings(said);
            assert_eq!(found.len(), 1, "{said}");
            assert_eq!((found[0].said.as_str(), found[0].asks), (said, false));
        }
        for said in [
            "can we use our own cart parser here?",
            "could you rename the carts to baskets?",
            "can you make the sum a constant and just round it",
            "even if one line is the same we should go on, or?",
        ] {
            assert!(rulings(said).first().is_some_and(|it| it.asks), "{said}");
        }
    }

    #[test]
    fn what_is_asked_for_is_told_as_an_order() {
        for (asked, told) in [
            ("can we use our own cart parser here?", "use our own cart parser here"),
            ("ah, can't we just keep the sum of `till.rs`?", "just keep the sum of `till.rs`"),
            ("could you instead move this list to the drawer?", "move this list to the drawer"),
            ("even if one line is the same we should go on, or?", "even if one line is the same we should go on"),
            ("can we use our own log? should be WARN", "use our own log, should be WARN"),
            ("should we avoid rounding by default?", "should we avoid rounding by default?"),
            ("why don't we use only one till here?", "why don't we use only one till here?"),
            ("We should keep İ the sum of the cart, or?", "We should keep İ the sum of the cart"),
        ] {
            assert_eq!(rulings(asked).first().map(|it| it.said.as_str()), Some(told), "{asked}");
        }
        for doubted in [
            "should we keep each line by default? I don't think so",
            "should we use the tax by default? no",
            "can we just use our own log? I guess not",
            "can we just use our own log? if not, tell me why",
        ] {
            assert!(rulings(doubted).is_empty(), "{doubted}");
        }
        for said in
            ["just keep the sum", "avoid mocks in the tests", "use SQLite for the carts", "drop support for the old till"]
        {
            assert!(asks_to_stay(said), "{said}");
        }
        assert!(asks_to_stay("use our log so it is in one place") && !asks_to_stay("rename the files so they sort"));
        assert!(!asks_to_stay("rename the files of the cart too") && !asks_to_stay("limit it to only one till somehow"));
    }

    #[test]
    fn what_is_settled_before_a_request_is_a_ruling() {
        let found = rulings("let's store the total in the slip, can you show me an example of it?");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].said.as_str(), found[0].asks), ("let's store the total in the slip", false));
        assert_eq!(rulings("I think a slip for each cart is to much")[0].said, "I think a slip for each cart is to much");
        assert_eq!(rulings("let's look at the total of the slip, can you show me an example of it?"), []);
    }

    #[test]
    fn procedure_and_questions_settle_nothing() {
        for said in [
            "let's commit and push",
            "let's keep going",
            "ok, let's have a look at the carts",
            "can we check whether the cart is rounded?",
            "could we use the cart, or is that risky?",
            "use the review skill on this",
            "let's use the drawer skill only for this",
            "let's switch to the review skill for the till now",
            "nothing lets stay the till open",
            "should we look at the till?",
            "let's go with A",
            "does the cart round only the sum?",
            "can you add a test for the cart?",
            "I'd prefer that",
            "let's not leave all of it to the end...",
            "let's look at the carts now",
            "the till prints the total twice, right?",
            "I think it's the drawer of the till",
        ] {
            assert_eq!(rulings(said), [], "{said}");
        }
    }

    #[test]
    fn what_is_put_in_the_place_of_something_is_settled() {
        let found = rulings("okay then lets sell the box as till, instead of cart what do we need to do for this?");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].said, "okay then lets sell the box as till, instead of cart");
        let found = rulings("ok. We should also store the path, so that nobody has to look for the slip");
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn a_ruling_that_points_takes_the_sentence_before_it() {
        let found = rulings("The carts are rounded twice. let's leave it that way");
        assert_eq!(found[0].said, "The carts are rounded twice. let's leave it that way");
        assert!(!found[0].points && rulings("let's leave it that way for now")[0].points);
        let found = rulings("we don't need the old carts. just test the new ones");
        assert_eq!((found.len(), found[0].said.as_str()), (1, "we don't need the old carts. just test the new ones"));
    }
}
