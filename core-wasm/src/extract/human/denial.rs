//! What the user says against the success of the work: that it has not come about.

use serde::{Deserialize, Serialize};

use super::pasted::own_words;
use super::plan::plan;
use super::request::is_slash_command;
use crate::text::{self, strip_apostrophes};

/// How many sentences at the beginning of a prompt speak of the work before it, whatever they name.
const MAX_OPENING_SENTENCES: usize = 4;
/// How many sentences are searched.
const MAX_SENTENCES: usize = 120;
/// How many bytes of a prompt are searched.
const MAX_BYTES: usize = 6_000;
/// How many of them are kept, and the maximum length of each, in bytes.
const MAX_DENIALS: usize = 6;
const MAX_SAID_BYTES: usize = 200;
/// How many words a question has at most that only asks whether something is as it was.
const FEW_WORDS: usize = 3;
/// How many words behind "still" tell what is as it was.
const WORDS_BEHIND_STILL: usize = 3;

/// A sentence by which the user may say that what the agent did has not come about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::extract) struct Denial {
    pub said: String,
    /// Whether the prompt begins with it.
    pub opens: bool,
    /// Whether it only tells a fault, which may be a new one.
    pub is_fault: bool,
    /// Whether it speaks against the work before it only if it names that.
    pub needs_name: bool,
}

/// Returns the sentences by which a prompt denies that what the agent did has come about: "no changes", "none of it works", "still rings
/// twice". A fault, and what is said far behind the beginning, speaks against the work only if it names that.
pub(in crate::extract) fn denials(prompt: &str) -> Vec<Denial> {
    if plan(prompt).is_some() || is_slash_command(prompt) {
        return Vec::new();
    }
    let own = said_of_work(text::head(prompt, MAX_BYTES));
    let denial = |(at, said): (usize, String)| {
        let lower = strip_apostrophes(&said);
        let denies = says_unchanged(&lower) || says_failed(&lower);
        (denies || tells_fault(&lower)).then(|| Denial {
            said: text::clip(&text::one_line(&said), MAX_SAID_BYTES).into_owned(),
            opens: at == 0,
            is_fault: !denies,
            needs_name: !denies || at >= MAX_OPENING_SENTENCES,
        })
    };
    text::sentences(&own).into_iter().take(MAX_SENTENCES).enumerate().filter_map(denial).take(MAX_DENIALS).collect()
}

/// Returns the user's own words of a prompt, as far as they may speak of the work before it. They may stand in the line that leads to what
/// is pasted: "Still red. The till says:".
pub(super) fn said_of_work(prompt: &str) -> String {
    let own = own_words(prompt);
    let first = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let end = first.rfind(['.', '!', '?']).filter(|_| own.trim().is_empty() && first.ends_with(':'));
    end.map_or(own, |end| first[..=end].to_owned())
}

/// Returns whether one of the first sentences of a prompt says so whatever the agent did.
pub(in crate::extract) fn denies_success(prompt: &str) -> bool {
    denials(prompt).iter().any(|denial| !denial.needs_name)
}

/// Returns whether a sentence in lower case without apostrophes says that something is as it was.
fn says_unchanged(lower: &str) -> bool {
    const WHOLE: [&str; 8] = [
        "no change",
        "no changes",
        "no difference",
        "nothing changed",
        "same result",
        "same problem",
        "same issue",
        "still the same",
    ];
    const SUBJECTS: [&str; 4] = ["it", "this", "that", "they"];
    const OPENINGS: [&str; 6] = ["still", "it still", "this still", "that still", "it is still", "its still"];
    const DENIALS: [&str; 6] = ["doesnt", "does not", "dont", "do not", "didnt", "did not"];
    const VERBS: [&str; 9] = ["look", "seem", "work", "show", "change", "help", "fix", "load", "appear"];
    let said = lower.trim_end_matches(['.', '!', '…', ' ']);
    if !said.ends_with('?') && is_still_so(said) {
        return true;
    }
    // "Still working?" only asks.
    let is_still = || OPENINGS.iter().any(|opening| text::starts_with_words(said, opening));
    if WHOLE.contains(&said) || (is_still() && !(said.ends_with('?') && said.split_whitespace().count() <= FEW_WORDS)) {
        return true;
    }
    // "It really", "this still".
    let Some((_, rest)) = said.split_once(' ').filter(|(subject, _)| SUBJECTS.contains(subject)) else { return false };
    let behind_adverb = rest.split_once(' ').map(|(_, rest)| rest);
    let denies = |rest: &str| {
        let denied = DENIALS.iter().find_map(|denial| rest.strip_prefix(denial)?.strip_prefix(' '));
        denied.is_some_and(|denied| VERBS.iter().any(|verb| text::starts_with_words(denied, verb)))
    };
    denies(rest) || behind_adverb.is_some_and(denies)
}

/// Words close behind "still" with which a sentence tells of a fault.
const FAULTS_BEHIND_STILL: [&str; 22] = [
    "not",
    "isnt",
    "arent",
    "doesnt",
    "dont",
    "cant",
    "cannot",
    "wont",
    "get",
    "getting",
    "seeing",
    "broken",
    "failing",
    "fails",
    "wrong",
    "missing",
    "crashing",
    "crashes",
    "happening",
    "happens",
    "unable",
    "stuck",
];
/// What says in other languages that a fault is as it was.
const STILL_SO: [&str; 41] = [
    "persiste",
    "ainda está",
    "ainda dá erro",
    "ainda com erro",
    "ainda não está",
    "ainda não func",
    "ainda não foi",
    "ainda não res",
    "ainda não aparece",
    "erros continuam",
    "erro continua",
    "continua com erro",
    "continua dando erro",
    "continua igual",
    "mesmo erro",
    "sigue sin",
    "sigue fallando",
    "sigue dando",
    "sigue igual",
    "todavía no func",
    "aún no func",
    "mismo error",
    "toujours pas",
    "toujours la même",
    "même erreur",
    "immer noch",
    "noch immer",
    "gleicher fehler",
    "selbe fehler",
    "아직도",
    "아직 안",
    "여전히",
    "그대로예요",
    "그대로네",
    "まだ直",
    "まだ動か",
    "まだでき",
    "相変わらず",
    "还是不",
    "仍然",
    "依然",
];

/// Returns whether a fault is as it was in the middle of a sentence: "the drawer is still not red".
fn is_still_so(lower: &str) -> bool {
    // "Se o erro persiste".
    if ["se ", "si ", "falls ", "wenn "].iter().any(|case| lower.starts_with(case)) {
        return false;
    }
    let mut rest = lower;
    while let Some(at) = rest.find("still ") {
        let is_word = !rest[..at].ends_with(char::is_alphanumeric);
        rest = &rest[at + "still ".len()..];
        let mut next = rest.split([' ', ',', '.', ';', ':']).take(WORDS_BEHIND_STILL);
        if is_word && (next.any(|word| FAULTS_BEHIND_STILL.contains(&word)) || rest.starts_with("an issue")) {
            return true;
        }
    }
    text::contains_any(lower, &STILL_SO)
}

/// Returns whether a sentence in lower case without apostrophes says that an attempt failed: "none of the changes worked", "that did not
/// resolve it".
fn says_failed(lower: &str) -> bool {
    const WHOLE: [&str; 23] = [
        "não funcionou",
        "não corrigiu",
        "não resolveu",
        "não deu certo",
        "no funcionó",
        "no ha funcionado",
        "no lo arregló",
        "na pas marché",
        "na pas fonctionné",
        "na rien changé",
        "nicht geholfen",
        "nichts geändert",
        "nicht funktioniert",
        "해결되지 않",
        "해결이 안",
        "고쳐지지 않",
        "바뀐 게 없",
        "바뀐게 없",
        "直っていな",
        "直ってな",
        "変わっていな",
        "没有解决",
        "没有变化",
    ];
    const DENIALS: [&str; 8] =
        ["didnt ", "did not ", "hasnt ", "has not ", "havent ", "have not ", "doesnt seem to ", "does not seem to "];
    const VERBS: [&str; 12] = [
        "work",
        "worked",
        "fix",
        "fixed",
        "help",
        "helped",
        "resolve",
        "resolved",
        "solve",
        "solved",
        "take effect",
        "taken effect",
    ];
    const WORKS: [&str; 8] = ["work", "works", "worked", "working", "helped", "fixed", "live", "applied"];
    if text::contains_any(lower, &WHOLE) {
        return true;
    }
    if is_order_or_case(lower) {
        return false;
    }
    // "I did not fix it" tells what the user did.
    let denied = |denial: &&str| {
        let mut found = lower.match_indices(*denial);
        found.any(|(at, _)| {
            let subject = lower[..at].trim_end().rsplit(' ').next().unwrap_or_default();
            let rest = &lower[at + denial.len()..];
            !["i", "we"].contains(&subject) && VERBS.iter().any(|verb| text::starts_with_words(rest, verb))
        })
    };
    let none =
        ["none of ", "nothing ", "neither of "].iter().find_map(|words| lower.split_once(words)).map(|(_, rest)| rest);
    none.is_some_and(|rest| rest.split(' ').take(8).any(|word| WORKS.contains(&word.trim_end_matches(['.', ',', '!']))))
        || DENIALS.iter().any(denied)
        || text::contains_any_words(
            lower,
            &["not fixed", "not resolved", "not solved", "not been fixed", "not been resolved"],
        )
}

/// Returns whether a sentence in lower case without apostrophes tells that something does not work now.
fn tells_fault(lower: &str) -> bool {
    const DOES_NOT: [&str; 6] = ["doesnt", "does not", "dont", "do not", "cant", "cannot"];
    const VERBS: [&str; 12] =
        ["work", "show", "display", "save", "load", "appear", "update", "respond", "start", "open", "close", "populate"];
    const IS_NOT: [&str; 6] = ["isnt", "is not", "arent", "are not", "not", "no longer"];
    const STATES: [&str; 12] = [
        "working",
        "showing",
        "displaying",
        "displayed",
        "saving",
        "saved",
        "loading",
        "populating",
        "self populating",
        "updating",
        "appearing",
        "visible",
    ];
    const FAILS: [&str; 8] =
        ["is broken", "are broken", "keeps failing", "is failing", "are failing", "blocks", "hangs", "crashes"];
    let follows = |words: &str, next: &[&str]| {
        let mut found = lower.match_indices(words).filter(|(at, _)| !lower[..*at].ends_with(char::is_alphanumeric));
        found.any(|(at, _)| {
            lower[at + words.len()..]
                .strip_prefix(' ')
                .is_some_and(|rest| next.iter().any(|it| text::starts_with_words(rest, it)))
        })
    };
    !is_order_or_case(lower)
        && (DOES_NOT.iter().any(|words| follows(words, &VERBS))
            || IS_NOT.iter().any(|words| follows(words, &STATES))
            || text::contains_any_words(lower, &FAILS))
}

/// Returns whether a sentence in lower case without apostrophes orders something, asks whether it is so, or speaks of a case: "make sure it
/// does not fail", "if it does not work".
fn is_order_or_case(lower: &str) -> bool {
    const WORDS: [&str; 15] = [
        "if",
        "unless",
        "until",
        "ensure",
        "make sure",
        "so that",
        "should",
        "must",
        "in case",
        "would",
        "could",
        "in order",
        "let it",
        "want",
        "whether",
    ];
    const ASKS: [&str; 9] = ["is", "are", "does", "do", "can", "will", "did", "has", "have"];
    let begins = |words: &[&str]| words.iter().any(|word| text::starts_with_words(lower, word));
    text::contains_any_words(lower, &WORDS)
        || begins(&["dont", "do not", "please dont", "please do not", "never", "when"])
        || (lower.ends_with('?') && begins(&ASKS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_that_nothing_came_of_the_work_denies_it() {
        for said in [
            "I opened the drawer twice. No changes.",
            "it really doesnt look red",
            "This doesn't seem to help",
            "Still ringing twice instead of once?",
            "I pulled the slip. The drawer is still not red.",
            "None of these edits worked, are they in the shop?",
            "Your last change did not resolve it",
            "The bell is still broken",
            "서랍이 아직 안 열려",
            "引き出しがまだ直っていない",
            "铃还是不响",
            "o erro da gaveta ainda persiste",
            "abra a gaveta, pois os erros continuam",
            "La campana sigue sin sonar",
            "La cloche ne sonne toujours pas",
            "Die Klingel läutet immer noch nicht",
            "Das hat leider nicht funktioniert",
            "It is still red. The till shows this error:\n\nTypeError: slip is not red",
        ] {
            assert!(denies_success(said), "{said}");
        }
        for said in [
            "make no changes",
            "it doesnt have to be red",
            "it didnt need the lock",
            "Still open?",
            "I did not fix the lock yet",
            "make sure that it does not ring, it still has to open",
            "if it did not work, ring the bell",
            "none of the slips is red",
            "se o erro persiste, toque a campainha",
            "não mexa na gaveta ainda",
        ] {
            assert!(!denies_success(said), "{said}");
        }
    }

    #[test]
    fn a_fault_may_be_a_new_one() {
        let said = denials("Paint it red. The till does not open.");
        let is_new = |it: &Denial| it.is_fault && it.needs_name && !it.opens;
        assert!(said.len() == 1 && said.iter().all(is_new), "{said:?}");
        assert_eq!(denials("The till should not open. Make sure the till does not open. Is the till not working?"), []);
    }

    #[test]
    fn what_stands_far_behind_must_name_the_work() {
        let said = denials("Paint it red. Fold the slip. Oil the lock. Hang the lamp. The bell still fails.");
        assert!(said.len() == 1 && said[0].needs_name && !said[0].is_fault, "{said:?}");
    }
}
