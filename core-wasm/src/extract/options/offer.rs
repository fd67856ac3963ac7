//! Offers that a prompt takes up by their own words, without a number or a plain yes.

use super::listed::{MAX_LABEL_CHARS, MIN_LABEL_BYTES};
use super::proposal::strip_question_opening;
use super::resolution::Resolution;
use crate::extract::{human, prose};
use crate::text;

/// The maximum length of a prompt that takes up an offer in a few words, in characters.
const MAX_TAKING_CHARS: usize = 120;
/// The maximum length of the sentence of an offer that is told with it, in characters.
const MAX_OFFER_CHARS: usize = 200;

/// Openings of a prompt that takes something up.
const TAKES: &[&str] = &[
    "do",
    "go with",
    "go for",
    "i'd go with",
    "use",
    "take",
    "let's",
    "lets",
    "pick",
    "choose",
    "keep",
    "switch to",
    "try",
    "make it",
    "i prefer",
    "i'd rather",
    "i'd prefer",
];

/// Endings of such a prompt in other languages.
const WIDE_TAKES: &[&str] =
    &["하자", "가자", "로 해줘", "로 해", "로 할게", "でいこう", "で行こう", "でお願いします", "でお願い", "にしよう", "吧"];

/// Signs of a sentence that offers something or weighs one way against another.
const OFFERS: &[&str] = &[
    "my take",
    "my pick",
    "my vote",
    "i'd",
    "i would",
    "i lean",
    "recommend",
    "suggest",
    "if you'd rather",
    "if you prefer",
    "would you like",
    "do you want",
    "want me to",
    "should i",
    "shall i",
    "alternatively",
    "either",
    "추천",
    "권장",
    "제안",
    "할까요",
    "おすすめ",
    "推奨",
    "提案",
    "ましょうか",
    "建议",
    "推荐",
    "要不要",
];

/// Returns whether a prompt in lower case begins or ends as one that takes something of an offer.
pub(super) fn takes_something(lower: &str) -> bool {
    let bare = without_leads(lower);
    TAKES.iter().any(|opening| text::starts_with_words(bare, opening))
        || WIDE_TAKES.iter().any(|ending| bare.trim_end_matches(['.', '。', '!']).ends_with(ending))
}

/// Returns a prompt without the words with which it turns to what was said.
fn without_leads(said: &str) -> &str {
    ["yes, ", "yes ", "yeah, ", "yeah ", "ok, ", "ok ", "actually ", "sure, ", "or ", "no, ", "then ", "so "].iter().fold(
        said,
        |rest, lead| {
            let is_lead = rest.get(..lead.len()).is_some_and(|it| it.eq_ignore_ascii_case(lead));
            if is_lead { &rest[lead.len()..] } else { rest }
        },
    )
}

/// Returns the offer that a prompt takes up by its words: "let's do the fallback" after "I'd add a fallback".
pub(super) fn taken_up(prompt: &str, answer: &str) -> Option<Resolution> {
    let said = text::one_line(prompt);
    if said.chars().count() > MAX_TAKING_CHARS || said.contains(['?', '？', '`']) {
        return None;
    }
    let core = without_leads(human::without_consent(&said)).trim_end_matches(['.', '!', '。']).trim();
    let lower = core.to_lowercase().replace('’', "'");
    if !takes_something(&lower) || prose::is_procedure(&lower) {
        return None;
    }
    let (values, mut words) = (values(&lower), text::features(&lower));
    for word in ["let", "lets", "please", "use", "take", "try", "pick", "choose", "now", "just"] {
        words.remove(&text::hash(word));
    }
    let shares = |sentence: &str| {
        let own = self::values(&sentence.to_lowercase());
        let shared = text::features(sentence).intersection(&words).count();
        values.iter().any(|value| own.contains(value)) || (shared >= MIN_SHARED && shared * 2 >= words.len())
    };
    let sentences = text::sentences(answer);
    let offer = sentences.iter().rev().find(|sentence| {
        let lower = sentence.to_lowercase().replace('’', "'");
        text::contains_any_words(&lower, OFFERS) && shares(sentence)
    })?;
    let rejected = other_way(offer, &|part| shares(part)).into_iter().collect();
    let is_told = offer.chars().count() <= MAX_OFFER_CHARS && !offer.ends_with(['?', '？']);
    let why = if is_told { offer.clone() } else { String::new() };
    let core = core.trim_start_matches(|c: char| !c.is_alphanumeric());
    Some(Resolution { what: core.to_owned(), why, rejected, is_own: true, ..Resolution::default() })
}

/// How many words a prompt must share with the offer that it takes up.
pub(super) const MIN_SHARED: usize = 2;

/// Returns the words of a text in lower case that name a value or a thing by their form: versions, numbers, options, paths.
pub(super) fn values(lower: &str) -> Vec<String> {
    let trim = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let bare = word.strip_prefix('v').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        bare.unwrap_or(word).to_owned()
    };
    let is_value = |word: &String| {
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        let inner = word.chars().any(|c| matches!(c, '_' | '/' | '-' | '.'));
        word.len() >= 2 && (has_digit || (inner && word.len() >= 4))
    };
    lower.split_whitespace().map(trim).filter(is_value).collect()
}

/// Returns the way that an offer names beside the one that was taken: the other part of "A or B".
fn other_way(offer: &str, is_taken: &dyn Fn(&str) -> bool) -> Option<String> {
    let bare = strip_question_opening(offer);
    let (one, other) = bare.split_once(", or ").or_else(|| bare.split_once("、それとも"))?;
    let rest = match (is_taken(one), is_taken(other)) {
        (true, false) => other,
        (false, true) => one,
        _ => return None,
    };
    let rest = rest.trim().trim_end_matches(['?', '？', '.', ',']);
    (rest.chars().count() >= MIN_LABEL_BYTES && rest.chars().count() <= MAX_LABEL_CHARS).then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::extract::options::resolve_all;

    #[test]
    fn an_offer_is_taken_up_by_its_words() {
        let answer = "Carts may fail.\n\nMy take: try the second cart as a fallback and join the errors, rather than match the \
                      shop's message. It is not urgent.";
        let taken = &resolve_all("yeah, let's do the fallback with joined errors", answer)[0];
        assert_eq!(taken.what, "let's do the fallback with joined errors");
        assert!(taken.why.starts_with("My take"), "{}", taken.why);
        let answer = "Done with 2.52.0. If you'd rather go to 2.54.0 after all, just say so.";
        assert_eq!(resolve_all("do 2.54.0", answer)[0].what, "do 2.54.0");
        let answer = "The cart is fixed. Do you want me to round the sum of the cart, or each line of the invoice?";
        let taken = &resolve_all("do the sum of the cart", answer)[0];
        assert_eq!(taken.rejected, ["each line of the invoice"]);
        for other in ["do the dishes", "commit and push 2.54.0", "what is 2.54.0?", "the cart is in 2.54.0"] {
            assert!(resolve_all(other, answer).is_empty(), "{other}");
        }
    }
}
