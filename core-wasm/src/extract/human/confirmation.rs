//! What the user says for the success of the work: that it has come about.

use serde::{Deserialize, Serialize};

use super::denial::{denials, said_of_work};
use super::plan::plan;
use super::request::is_slash_command;
use crate::text::{self, strip_apostrophes};

/// How many sentences at the beginning of a prompt speak of the work before it.
const MAX_SENTENCES: usize = 2;
/// How many bytes of a prompt are searched, and the maximum length of what is kept, in bytes.
const MAX_BYTES: usize = 2_000;
const MAX_SAID_BYTES: usize = 120;
/// The maximum number of words of what works: "the drawer of the till works".
const MAX_SUBJECT_WORDS: usize = 5;
/// The maximum number of words of a sentence that tells what the user tried: "I opened the drawer".
const MAX_TRIAL_WORDS: usize = 5;

/// A sentence by which the user says that what the agent did has come about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::extract) struct Confirmation {
    pub said: String,
    /// Whether the prompt begins with it.
    pub opens: bool,
    /// The words of what works, of which the work must have been. Empty if only a pronoun or nothing names it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// Returns the sentence by which a prompt says that what the agent did works: "tested and working", "ok, now it works". In doubt none does:
/// each of its words must be known, and the prompt tells neither a fault nor that the user took the work back.
pub(in crate::extract) fn confirmation(prompt: &str) -> Option<Confirmation> {
    if plan(prompt).is_some() || is_slash_command(prompt) || !denials(prompt).is_empty() {
        return None;
    }
    let own = said_of_work(text::head(prompt, MAX_BYTES));
    let sentences = text::sentences(&own);
    if sentences.iter().any(|said| words(&strip_apostrophes(said)).any(|word| is_in(TAKEN_BACK, word))) {
        return None;
    }
    let mut names = Vec::new();
    for (at, said) in sentences.iter().take(MAX_SENTENCES).enumerate() {
        let next = sentences.get(at + 1).map(|next| next.to_lowercase()).unwrap_or_default();
        let is_limited = words(&next).next().is_some_and(|word| is_in(BUTS, word));
        if let Some(of) = works(said).filter(|_| !is_limited) {
            names.extend(of);
            let said = text::clip(&text::one_line(said), MAX_SAID_BYTES).into_owned();
            return Some(Confirmation { said, opens: at == 0, names });
        }
        names.extend(tried(said)?);
    }
    None
}

/// Words of a prompt whose user works otherwise than by what the agent did, or does not mean it.
const TAKEN_BACK: &str =
    "revert reverted reverting rollback rolled undo undid undone myself manually hand instead kidding joking jk nope oops";
/// Words with which a sentence begins that limits the one before it.
const BUTS: &str =
    "but however except only not no wait actually sorry oh yet until aber nur doch mais sauf pero mas ma só solo";
/// Words before what works.
const LEADS: &str = "ok okay yes yep yeah great perfect nice cool awesome super excellent good brilliant thanks thank you and now ah oh hmm \
                     alright confirmed verified tested checked hey wow ultrathink ja danke oui merci sí gracias sim obrigado obrigada jetzt \
                     agora ahora maintenant ora ya 이제 잘 네 좋아 现在 谢谢";
/// What a sentence speaks of that names nothing.
const PRONOUNS: &str = "it this that everything all both es das alles ça tout todo tudo isso tutto";
const ARTICLES: &str = "the my our der die das la le el o a il";
const OF: &str = "of in de du do da des di del";
/// Words that make another thing of what is named.
const OTHERS: &str = "old previous original other new else same only not no still never";
/// Words for what is no longer there once it is mended.
const FAULTS: &str = "error errors bug bugs issue issues problem problems fault";
const AUXILIARIES: &str = "is are has ist hat est está esta";
/// Words that say that something works.
const WORKS: &str = "works worked working funktioniert klappt geht fonctionne funciona funcionó funcionando funcionou corrigiu resolveu \
                     consertou funzionato funziona 된다 되네 돼 돼요 됩니다 된다요 작동합니다 작동해 작동해요 동작합니다 동작해 동작해요 動いた \
                     動きました 動くようになった 動くようになりました うまくいった うまくいきました 可以了";
/// Words that say that a fault is mended. Alone they may tell what the user did, and of a thing that it does not move.
const MENDED: &str =
    "fixed solved resolved behoben gelöst résolu corrigé solucionado resuelto arreglado resolvido corrigido risolto";
/// Words around them: how well, and since when.
const AROUND: &str = "now again all great fine well perfectly nicely good correctly properly also really finally and tested beautifully too \
                      smoothly 就这样吧 辛苦了 辛苦你了 jetzt wieder gut einwandfrei maintenant bien ahora agora bem bene perfectamente perfeitamente 잘 이제";
const PHRASES: [&str; 5] = ["as expected", "like a charm", "thank you", "por completo", "por todo"];
/// Words that say that it is so since the work.
const SINCE: &str = "now again jetzt wieder ahora agora";
/// Verbs of who tries something.
const TRIED: &str = "opened tested ran pulled restarted reloaded refreshed pressed clicked";
/// Words with which an order goes on behind a comma.
const NEXT: &str = "now next then please jetzt agora ahora maintenant";

/// Returns the words of a text in lower case, without signs around them.
fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower
        .split_whitespace()
        .map(|word| word.trim_matches([',', ';', ':', '.', '!', '…', '。', '！', '，', '、']))
        .filter(|it| !it.is_empty())
}

/// Returns whether a word is in a list of words.
fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|it| it == word)
}

/// Returns the words of what works, if a sentence says that it works, and nothing else but how well and what is to be done next.
fn works(said: &str) -> Option<Vec<String>> {
    if said.contains(['?', '？', '`', '"', '“', '”', '„', '«', '»', ':']) && !said.ends_with(':') {
        return None;
    }
    let mut lower = strip_apostrophes(said);
    for phrase in PHRASES {
        lower = lower.replace(phrase, "");
    }
    let parts = lower.split([',', ';', '!', '.', '(', ')', '–', '—', '，', '、', '！', '。']);
    let (mut names, mut is_said) = (Vec::new(), false);
    for part in parts.flat_map(|part| part.split(" - ")) {
        let part: Vec<&str> = words(part).collect();
        if part.iter().all(|word| is_in(LEADS, word) || is_in(AROUND, word)) {
            continue;
        }
        if is_said && is_order(&part) {
            break;
        }
        names.extend(subject(&part)?);
        is_said = true;
    }
    is_said.then_some(names)
}

/// Returns whether a clause goes on with what is to be done: "now paint the drawer", and not "now the drawer is red".
fn is_order(part: &[&str]) -> bool {
    const WIDE: [&str; 2] = ["再", "次は"];
    const FAULTS_OF_LATER: &str = "i we get see erro error fehler erreur não no ne nicht";
    let is_thing = |word: &&str| [PRONOUNS, ARTICLES, AUXILIARIES, FAULTS, OTHERS].iter().any(|list| is_in(list, word));
    let tells = || part[1..].iter().any(|word| is_in(FAULTS_OF_LATER, word));
    WIDE.iter().any(|next| part[0].starts_with(next))
        || (part.len() > 2 && is_in(NEXT, part[0]) && !is_thing(&part[1]) && !tells())
}

/// Returns the words of what works, if a clause only tells that it does: "the drawer is working now". None if it names nothing.
fn subject(part: &[&str]) -> Option<Vec<String>> {
    const AGREED: [&str; 3] = ["works", "geht", "klappt"];
    let part = ["i can confirm that", "i can confirm", "i confirm that", "can confirm"]
        .iter()
        .find_map(|begin| {
            let begin: Vec<&str> = begin.split(' ').collect();
            part.strip_prefix(begin.as_slice())
        })
        .unwrap_or(part);
    // "Tested and working".
    let leads = part.iter().take_while(|word| is_in(LEADS, word)).count();
    let (leads, rest) = part.split_at(leads);
    let verb = rest.iter().position(|word| is_in(WORKS, word) || is_in(MENDED, word))?;
    let (before, behind) = (&rest[..verb], &rest[verb + 1..]);
    let mut thing = before;
    while let Some((_, first)) = thing.split_last().filter(|(last, _)| is_in(AUXILIARIES, last) || is_in(AROUND, last)) {
        thing = first;
    }
    // "That fixed it".
    let is_back = behind.first().is_some_and(|word| is_in(PRONOUNS, word));
    let has_since = leads.iter().chain(before).chain(behind).any(|word| is_in(SINCE, word));
    let is_pronoun = thing.len() == 1 && is_in(PRONOUNS, thing[0]);
    let names = if thing.is_empty() || is_pronoun { Vec::new() } else { named(thing, before)? };
    let is_fault = thing.iter().any(|word| is_in(FAULTS, word));
    // "That works" may only agree to something.
    let may_agree =
        AGREED.contains(&rest[verb]) && (thing.is_empty() || matches!(thing, ["that" | "this" | "das"])) && !has_since;
    let is_mended = !is_in(MENDED, rest[verb]) || is_fault || is_pronoun;
    let is_known = behind.iter().skip(usize::from(is_back)).all(|word| is_in(AROUND, word) || is_in(LEADS, word));
    (is_known && is_mended && !may_agree).then_some(names)
}

/// Returns the words of a thing that is named with an article, or before "all": "the drawer of the till", "drawer all". `before` is all that
/// stands before the verb.
fn named(thing: &[&str], before: &[&str]) -> Option<Vec<String>> {
    let has_article = is_in(ARTICLES, thing[0]) || ["this", "that"].contains(&thing[0]);
    let is_before_all = || thing.len() == 1 && before.get(1) == Some(&"all");
    let is_small = |word: &&&str| is_in(ARTICLES, word) || is_in(OF, word);
    let names: Vec<&str> = thing.iter().skip(usize::from(has_article)).filter(|it| !is_small(it)).copied().collect();
    let is_other = |word: &&str| [OTHERS, PRONOUNS, AUXILIARIES, WORKS, MENDED].iter().any(|list| is_in(list, word));
    let is_thing = !names.is_empty() && names.len() <= MAX_SUBJECT_WORDS && !names.iter().any(is_other);
    let names = || names.into_iter().filter(|word| !is_in(FAULTS, word)).map(str::to_owned).collect();
    (is_thing && (has_article || is_before_all())).then(names)
}

/// Returns the words that a short sentence names if it only praises or tells what the user tried: "I opened the drawer", "the till opens".
fn tried(said: &str) -> Option<Vec<String>> {
    let lower = strip_apostrophes(said);
    let all: Vec<&str> = words(&lower).collect();
    if all.iter().all(|word| is_in(LEADS, word)) {
        return Some(Vec::new());
    }
    let named = match all.as_slice() {
        ["i", verb, named @ ..] if is_in(TRIED, verb) => named,
        ["the", named @ ..] if named.len() == 2 => named,
        _ => return None,
    };
    let is_plain = all.len() <= MAX_TRIAL_WORDS && !all.iter().any(|word| is_in(OTHERS, word)) && !said.contains(['?', ':']);
    let is_name = |word: &&&str| !is_in(ARTICLES, word) && !is_in(OF, word) && !is_in(PRONOUNS, word);
    is_plain.then(|| named.iter().filter(is_name).map(|word| (*word).to_owned()).collect())
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
            "可以了，就这样吧，辛苦你了",
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

    #[test]
    fn in_doubt_nothing_is_confirmed() {
        for said in [
            "non funziona",
            "nunca funcionó",
            "es hat nie funktioniert",
            "hardly works",
            "Yesterday it worked, now I get an error",
            "On the counter it works, at the door the bell is gone",
            "It worked, then it crashed",
            "It works. Just kidding, the slip is white",
            "It works. But only at night",
            "The drawer opens. The bell works. The lamp does not work.",
            "without your slip it works",
            "Reverted it. Works now.",
            "I did it by hand. It is working now",
            "I mended the bell. It works now",
            "Prüfe, ob es funktioniert",
            "Erkläre, worum es geht",
            "quando funciona, toca o sino",
            "Once it works, ring the bell",
            "Confirm that it works",
            "Pretend that it works",
            "잘 작동해야 합니다",
            "等可以了告诉我",
            "把它修好了再画",
            "the clerk says it works",
            "Ana: it works\nMe: no it does not ring",
            "The slip reads as follows.\n\nIt works!",
            "write on the slip: bell fixed",
            "the drawer is fixed",
            "Width is fixed",
            "Mend the bell. Everything else works",
            "it works like this",
            "That works, paint it",
            "ça marche, continue",
            "ok, now the bell is red",
            "this never worked",
        ] {
            assert!(confirmation(said).is_none(), "{said}");
        }
    }

    #[test]
    fn what_works_is_named() {
        let names = |said: &str| confirmation(said).map(|it| it.names.join(" ")).unwrap_or_default();
        assert_eq!(names("The bell of the till works. Now paint the lamp"), "bell till");
        assert_eq!(names("I opened the drawer. It works now"), "drawer");
        assert_eq!(names("the error of the drawer is fixed now"), "drawer");
        assert_eq!(names("ok now it works"), "");
    }
}
