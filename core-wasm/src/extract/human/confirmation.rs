//! What the user says for the success of the work: that it has come about.

use serde::{Deserialize, Serialize};

use super::denial::said_of_work;
use super::plan::plan;
use super::request::is_slash_command;
use crate::text::{self, strip_apostrophes};

/// How many sentences at the beginning of a prompt speak of the work before it.
const MAX_SENTENCES: usize = 3;
/// How many bytes of a prompt are searched, and the maximum length of what is kept, in bytes.
const MAX_BYTES: usize = 2_000;
const MAX_SAID_BYTES: usize = 120;
/// The maximum number of words of what works: "the drawer of the till works".
const MAX_SUBJECT_WORDS: usize = 5;
/// The maximum length of such a sentence in a script without spaces, in characters.
const MAX_WIDE_CHARS: usize = 30;

/// A sentence by which the user says that what the agent did has come about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::extract) struct Confirmation {
    pub said: String,
    /// Whether the prompt begins with it.
    pub opens: bool,
}

/// Returns the sentence by which a prompt says that what the agent did works: "tested and working", "ok, now it works". One that limits
/// that says it not: "it works, but only at night".
pub(in crate::extract) fn confirmation(prompt: &str) -> Option<Confirmation> {
    if plan(prompt).is_some() || is_slash_command(prompt) {
        return None;
    }
    let own = said_of_work(text::head(prompt, MAX_BYTES));
    let sentences = text::sentences(&own);
    let (at, said) = sentences.iter().take(MAX_SENTENCES).enumerate().find(|(_, said)| says_so(said))?;
    Some(Confirmation { said: text::clip(&text::one_line(said), MAX_SAID_BYTES).into_owned(), opens: at == 0 })
}

/// Words of a sentence that limits what it says, or speaks of what is to be.
const LIMITS: &str = "but however except only not isnt doesnt didnt still almost partly mostly already if should until before used yet \
                      half sort kind no hope hopefully think believe guess maybe probably fail fails failing failed broken \
                      aber nicht nur kein nichts mais pas sauf pero mas não ainda";
/// Words before what works.
const LEADS: &str = "ok okay yes yep yeah great perfect nice cool awesome super excellent good brilliant thanks so and now ah oh hmm alright \
                     right confirmed verified tested checked hey wow ultrathink ja oui sí sim jetzt agora";
/// Words that say that something works.
const VERBS: &str = "works worked working fixed solved resolved funktioniert klappt läuft geht behoben gelöst fonctionne marche réglé résolu \
                     corrigé funciona funcionó funcionando solucionado resuelto arreglado funcionou resolvido resolveu corrigido corrigiu \
                     consertou funzionato funziona risolto sistemato";
const AUXILIARIES: &str = "is are its has been seems ist hat est está esta foi ha";
/// Words around them: how well, since when, and what else somebody did who says so.
const AROUND: &str = "now again all great fine well perfectly nicely good correctly properly as expected like a charm thanks thank you also \
                      really both finally and tested beautifully here everywhere too smoothly jetzt wieder gut einwandfrei alles maintenant \
                      bien ahora agora bem perfectamente perfeitamente completo por todo";
/// Words before such a verb that make something else of it: a question, an order, or what somebody did or does.
const OTHERS: &str = "how what why when where which who whether make ensure let lets does is are do did can get have keep want need \
                      needs would could will to nothing none be wie was were you we i im whats hows old previous original other agent \
                      user someone somebody check see verify test continue";

/// Returns whether a sentence says so, and neither asks nor limits it.
fn says_so(said: &str) -> bool {
    let lower = strip_apostrophes(said);
    let lower = lower.trim_end_matches(['.', '!', '…', ' ', '。', '！', ')', ':']);
    let limits = |word: &str| is_in(LIMITS, word.trim_end_matches([',', ';']));
    let clauses = || lower.split([',', ';', '!', '(', '–', '—']).flat_map(|part| part.split(" - ")).map(str::trim);
    if said.contains(['?', '？', '`']) || lower.split_whitespace().any(limits) {
        return false;
    }
    says_so_without_spaces(lower) || clauses().any(says_success)
}

/// Returns whether a clause only tells that something works: "the drawer is working now".
fn says_success(clause: &str) -> bool {
    let clause = clause.strip_prefix("i can ").unwrap_or(clause);
    let mut words: Vec<&str> = clause.strip_prefix("confirm that ").unwrap_or(clause).split_whitespace().collect();
    while words.first().is_some_and(|word| is_in(LEADS, word) && words.len() > 1) {
        words.remove(0);
    }
    while words.last().is_some_and(|word| is_in(AROUND, word)) {
        words.pop();
    }
    // "That fixed it".
    if words.last().is_some_and(|word| ["it", "that", "this"].contains(word)) {
        words.pop();
    }
    let Some((verb, before)) = words.split_last().filter(|(verb, _)| is_in(VERBS, verb)) else { return false };
    let is_of_subject = |word: &&&str| ![VERBS, AROUND, AUXILIARIES].iter().any(|list| is_in(list, word));
    let subject: Vec<&&str> = before.iter().filter(is_of_subject).collect();
    let is_other = before.first().into_iter().chain(subject.iter().copied()).any(|word| is_in(OTHERS, word));
    // "Fixed" alone may tell what the user did.
    let is_bare = before.is_empty() && ["fixed", "solved", "resolved"].contains(verb);
    !is_other && !is_bare && subject.len() <= MAX_SUBJECT_WORDS
}

/// Returns whether a word is in a list of words.
fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|it| it == word)
}

/// Returns whether a sentence in a language that has no spaces, or endings for verbs, says so.
fn says_so_without_spaces(lower: &str) -> bool {
    const SIGNS: [&str; 35] = [
        "잘 된다",
        "잘 되네",
        "잘 됩니다",
        "잘 돼",
        "잘돼",
        "잘된다",
        "이제 된다",
        "이제 됩니다",
        "이제 돼",
        "이제 되네",
        "해결됐",
        "해결되었",
        "해결되네",
        "잘 작동",
        "잘 동작",
        "정상 작동",
        "정상 동작",
        "정상적으로 동작",
        "정상적으로 작동",
        "잘 나온",
        "잘 나와",
        "動いた",
        "動きました",
        "動いてる",
        "動いています",
        "動くようになった",
        "動くようになりました",
        "直った",
        "直りました",
        "うまくいった",
        "うまくいきました",
        "解決しました",
        "可以了",
        "解决了",
        "修好了",
    ];
    const LIMITS: [&str; 22] = [
        "지만",
        "는데",
        "안 ",
        "않",
        "못",
        "아직",
        "면 ",
        "게 해",
        "도록",
        "けど",
        "が、",
        "ない",
        "ません",
        "たら",
        "ように",
        "まだ",
        "不",
        "没",
        "但",
        "如果",
        "吗",
        "か",
    ];
    let limits = |sign: &&&str| !LIMITS.iter().any(|limit| !sign.contains(limit) && lower.contains(limit));
    lower.chars().count() <= MAX_WIDE_CHARS && SIGNS.iter().filter(|sign| lower.contains(**sign)).any(|sign| limits(&sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_that_it_works_confirms_it() {
        for said in [
            "Tested and working. I'm in. Now paint the lamp.",
            "That is working. Some amendments for the drawer",
            "Drawer all working. I have now sold a slip and it's not red",
            "ok now it works",
            "it works!",
            "Tested and working. The slip has this error:\n\nTypeError: slip is not red\n",
            "works now, thanks",
            "Great, the bell of the till is working again",
            "perfect, that fixed it",
            "the error of the drawer is fixed now",
            "I can confirm that it works as expected",
            "the till opens. Everything works. Ring the bell next.",
            "Die Klingel funktioniert jetzt",
            "agora está funcionando",
            "corrigiu por completo, agora pinte a gaveta",
            "이제 됩니다. 종도 울려줘",
            "動きました！次は鐘をお願い",
            "可以了，再画一个铃",
        ] {
            assert!(confirmation(said).is_some(), "{said}");
        }
        assert!(confirmation("I opened the drawer. It works now").is_some_and(|it| !it.opens && it.said == "It works now"));
    }

    #[test]
    fn who_limits_it_or_asks_confirms_nothing() {
        for said in [
            "working but the slip is not red",
            "does it work now? it works?",
            "make sure everything works",
            "explain how it works",
            "check that the drawer is working",
            "I fixed it",
            "fixed",
            "I want the drawer to be fixed",
            "it should be working",
            "it works only at night",
            "the bell still is not fixed",
            "it was working",
            "uh, that has already been fixed",
            "Tested and working? No.",
            "is the bell working",
            "fix the working drawer",
            "what works",
            "the old drawer works",
            "hopefully it works",
            "the bell works, the lamp fails",
            "동작하지 않아",
            "잘 되는지 확인해줘",
            "動いたか確認して",
        ] {
            assert!(confirmation(said).is_none(), "{said}");
        }
    }
}
