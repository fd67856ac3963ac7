//! Rulings: the words with which the user settles scope or design while the agent works, stated or asked for.

mod question;
mod settling;

use self::question::{
    MAX_BEFORE_CHARS, completes, doubts_question, waits_for_yes, without_question, without_question_behind, without_request,
};
pub(super) use self::settling::without_leads;
use self::settling::{ASKS, LIMITS, asks_for, behind, opens_ruling, settles};
use super::choice::has_pointer;
use super::consent::asks_record;
use super::correction::is_correction;
use super::pasted::{looks_pasted, own_words};
use super::plan::plan;
use super::reasoned::is_reasoned_demand;
use super::request::is_slash_command;
use super::rule::{is_rule, is_undecided};
use super::undecided::asks_for_ideas;
use crate::text::{self, strip_apostrophes};

/// The maximum length of a message whose sentences are taken as rulings, and of such a sentence, in characters.
const MAX_MESSAGE_CHARS: usize = 700;
const MAX_SENTENCE_CHARS: usize = 260;

/// The maximum length of a sentence that settles something by a word in its middle, in characters.
const MAX_SIGNED_CHARS: usize = 170;

/// The maximum number of rulings of one message.
pub(in crate::extract::human) const MAX_RULINGS: usize = 3;

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

/// Words of a step of the work or of a remark, of which no colleague asks tomorrow.
pub(in crate::extract::human) const STEPS: &[&str] = &[
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
    if plan(message).is_some() || is_slash_command(message) || message.chars().count() > MAX_MESSAGE_CHARS {
        return Vec::new();
    }
    if asks_for_ideas(message) {
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
        let is_ruling = !sentence.starts_with("//") && !is_vague(sentence) && !says_where_to_look(sentence, message);
        let Some(asks) = rules(sentence).or_else(reasoned).filter(|_| is_ruling) else { continue };
        let behind = sentence.split_once(['?', '？']).map_or("", |(_, behind)| behind);
        let next = sentences.get(at + 1).copied().unwrap_or_default();
        if asks && (doubts_question(behind) || doubts_question(next)) {
            continue;
        }
        let before = at.checked_sub(1).map(|at| sentences[at]);
        let before = before.filter(|it| it.chars().count() <= MAX_BEFORE_CHARS && !looks_pasted(it));
        let least = if sentence.is_ascii() { MIN_ALONE_CHARS } else { MIN_ALONE_WIDE_CHARS };
        let is_short = sentence.chars().count() < least && !names_something(sentence) && !says_as_what(sentence);
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

/// Returns whether a sentence only names the tool with which the page that a message shows is to be read: "use till7".
fn says_where_to_look(sentence: &str, message: &str) -> bool {
    let lower = sentence.to_lowercase();
    message.contains("://") && lower.starts_with("use ") && lower.split_whitespace().count() == 2
}

/// Returns whether a sentence leaves open how something is to be: "it should say that it is lost or something like that".
fn is_vague(sentence: &str) -> bool {
    text::contains_any_words(&sentence.to_lowercase(), &["something like that", "or something", "or whatever"])
}

/// Returns whether a sentence says of something as what it is to be used: "use the drawer as the till".
fn says_as_what(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let used = lower.split_once("use ").and_then(|(_, rest)| rest.split_once(" as "));
    used.is_some_and(|(what, role)| !what.contains(' ') && role.split_whitespace().count() >= 2)
}

/// Returns whether a sentence quotes something, or names it by its form.
fn names_something(sentence: &str) -> bool {
    let is_name = |word: &str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        inner.chars().skip(1).any(|c| c.is_ascii_uppercase() || matches!(c, '_' | '/' | '.'))
    };
    sentence.contains(['`', '"']) || sentence.contains(" '") || sentence.split(' ').any(is_name)
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
pub(in crate::extract::human) fn settles_anew(sentence: &str) -> bool {
    rules(sentence) == Some(false) && settles(without_leads(&strip_apostrophes(sentence)))
}

/// Returns whether a sentence in lower case only names an option that somebody else described: "let's go with A", "I'd prefer that".
pub(in crate::extract::human) fn names_option_only(lower: &str) -> bool {
    let last = lower.trim_end_matches(['.', '!', ' ']).rsplit(' ').next().unwrap_or_default();
    lower.len() <= 26 && (last.len() <= 1 || ["it", "that", "this", "them", "these", "those"].contains(&last))
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
    fn with_what_a_page_is_read_rules_nothing() {
        assert_eq!(rulings("https://till.example/start\nuse tillbook"), []);
        assert_eq!(rulings("use wooden drawers for the night till of the shop").len(), 1);
    }

    #[test]
    fn a_vague_wish_rules_nothing() {
        for said in [
            "I think it should not ring, it should tell you that the slip is lost or something like that",
            "we should keep the cart in a box or something",
        ] {
            assert!(rulings(said).is_empty(), "{said}");
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
        assert!(!rulings("use paper as the till")[0].points && rulings("use the paper till")[0].points);
        let found = rulings("we don't need the old carts. just test the new ones");
        assert_eq!((found.len(), found[0].said.as_str()), (1, "we don't need the old carts. just test the new ones"));
    }
}
