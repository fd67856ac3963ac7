//! What the user turns down: an idea that was proposed, or what was built for it.

use super::dispute::is_hesitation;
use super::pasted::own_words;
use super::plan::plan;
use super::request::is_slash_command;
use crate::text::{self, strip_apostrophes};

/// Sounds of somebody who does not like what they see. Alone, or before what is wrong with it.
const SOUNDS: &[&str] = &["eh", "ehh", "meh", "ew", "eww", "yuck", "blah", "bleh", "boo", "nah"];
/// Words before what somebody says.
const LEADS: &[&str] = &[
    "ok",
    "okay",
    "yeah",
    "well",
    "so",
    "and",
    "but",
    "also",
    "honestly",
    "sorry",
    "no",
    "i think",
    "i feel like",
    "i mean",
];
/// What is judged, if it is named: an idea, and not a part of the work.
const IDEAS: &[&str] = &[
    "idea",
    "ideas",
    "approach",
    "plan",
    "proposal",
    "proposals",
    "design",
    "direction",
    "concept",
    "analogy",
    "option",
    "options",
    "suggestion",
    "suggestions",
    "premise",
];
/// What stands before such a word, or for it.
const POINTERS: &[&str] = &["this", "that", "it", "these", "those", "them", "any of", "all of", "the", "your"];
/// The same if no word follows.
const PRONOUNS: &[&str] = &[
    "this",
    "that",
    "it",
    "these",
    "those",
    "them",
    "any of them",
    "any of these",
    "any of those",
    "all of these",
    "all of those",
];
/// What somebody feels who turns something down. What it is follows.
const DISLIKES: &[&str] = &[
    "dont like",
    "dont really like",
    "really dont like",
    "do not like",
    "didnt like",
    "dont love",
    "dont know if i like",
    "hate",
    "not a fan of",
    "not sold on",
    "not convinced by",
    "not convinced of",
];
/// What an idea is.
const FAULTS: &[&str] = &[
    "too complicated",
    "too complex",
    "too much",
    "too many",
    "too abstract",
    "overkill",
    "overcomplicated",
    "over complicated",
    "overengineered",
    "over engineered",
    "terrible",
    "awful",
    "bad",
    "boring",
    "not what i want",
    "not what i wanted",
    "not what i meant",
    "not it",
];
/// What is wrong with it, said alone: "too many words".
const ELLIPSES: &[&str] = &["too much", "too many", "too complicated", "too complex"];
/// Verbs between an idea and its fault.
const VERBS: &[&str] = &["is", "was", "are", "seems", "seem", "feels", "feel", "sounds", "sound", "looks", "look"];
/// Words before the fault that weigh it.
const WEIGHTS: &[&str] = &[
    "just", "a", "an", "little", "bit", "kinda", "kind", "of", "way", "far", "really", "still", "all", "very", "so", "like",
];
/// How somebody asks for another proposal behind that.
const ASKS_ON: &[&str] =
    &[", any other", " any other", ", any better", ", what else", ", other ideas", ", give me other", ", whats another"];
/// Orders to begin anew.
const NEW_BEGINNINGS: &[&str] = &[
    "back to the drawing board",
    "lets start over",
    "lets start from scratch",
    "scrap that",
    "scrap this",
    "scrap it",
    "scrap the idea",
    "lets go another direction",
    "lets go in another direction",
    "lets try something else",
    "lets do something else",
];
/// The same in other scripts.
const WIDE: &[&str] = &[
    "마음에 안 들",
    "마음에 들지 않",
    "별로야",
    "별로네",
    "별로인",
    "気に入らない",
    "ボツ",
    "却下",
    "不喜欢这个",
    "不太好",
];

/// How many clauses of a prompt are searched, and how long a prompt is at most, in characters: a longer one explains something.
const MAX_CLAUSES: usize = 6;
const MAX_PROMPT_CHARS: usize = 900;

/// Returns whether a prompt turns down what was proposed or built before it: "eh", "I don't like this idea", "it's too complicated".
/// A fault of a part of it does not.
pub(in crate::extract) fn dismisses(prompt: &str) -> bool {
    if plan(prompt).is_some() || is_slash_command(prompt) || prompt.chars().count() > MAX_PROMPT_CHARS {
        return false;
    }
    let clauses = clauses(prompt);
    clauses.first().is_some_and(|first| is_only_sound(first)) || clauses.iter().any(|clause| turns_down(clause))
}

/// Returns the name of the idea that a prompt turns down: "ringing a bell" of "I don't like the idea of ringing a bell".
pub(in crate::extract) fn dismissed_idea(prompt: &str) -> Option<String> {
    let down = clauses(prompt).into_iter().find(|clause| turns_down(clause))?;
    let (_, name) = down.split_once(" idea of ")?;
    let name = ["using ", "having ", "a ", "the "].iter().fold(name, |name, lead| name.strip_prefix(lead).unwrap_or(name));
    Some(name.to_owned())
}

/// Returns the first clauses of what the user wrote, in lower case without apostrophes. Two points end a clause, too.
fn clauses(prompt: &str) -> Vec<String> {
    let own = own_words(prompt);
    let sentences = text::sentences(&own);
    let clauses = sentences.iter().flat_map(|it| it.split("..")).flat_map(text::typed_sentences);
    clauses.map(str::trim).filter(|it| !it.is_empty()).take(MAX_CLAUSES).map(strip_apostrophes).collect()
}

/// Returns whether a clause in lower case is nothing but a sound.
fn is_only_sound(clause: &str) -> bool {
    SOUNDS.contains(&clause.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// Returns whether a clause in lower case without apostrophes turns something down.
fn turns_down(clause: &str) -> bool {
    let said = without_leads(clause);
    // "I don't like it, any other ideas?"
    let said = ASKS_ON.iter().find_map(|it| said.split_once(it)).map_or(said, |(said, _)| said);
    if said.ends_with(['?', '？']) {
        return false;
    }
    let begins_anew = || NEW_BEGINNINGS.iter().any(|it| text::contains_words(said, it));
    // "I tried it and it's too much."
    let behind = || said.rsplit_once(" and ").map(|(_, behind)| behind);
    begins_anew() || dislikes(said) || finds_bad(said) || behind().is_some_and(finds_bad) || text::contains_any(clause, WIDE)
}

/// Strips the sounds and the words before what somebody says.
fn without_leads(clause: &str) -> &str {
    let mut said = clause.trim();
    loop {
        let word = said.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let lead = LEADS.iter().find(|lead| text::starts_with_words(said, lead)).map_or(0, |lead| lead.len());
        let lead = if SOUNDS.contains(&word) || is_hesitation(word) || word == "uh" { word.len() } else { lead };
        if lead == 0 {
            return said;
        }
        said = said[lead..].trim_start_matches(|c: char| !c.is_alphanumeric());
    }
}

/// Returns whether somebody says that they do not like something, and it is the whole: "I hate all of those".
fn dislikes(said: &str) -> bool {
    let said = ["im ", "i am ", "i ", "we "].iter().find_map(|person| said.strip_prefix(person)).unwrap_or_default();
    let what = DISLIKES.iter().find(|it| text::starts_with_words(said, it)).map(|it| said[it.len()..].trim_start());
    what.is_some_and(|what| {
        let is_end =
            |rest: &str| rest.trim_start().is_empty() || rest.starts_with(['.', ',', '!', ';', ' ']) && ends_clause(rest);
        PRONOUNS.iter().any(|it| text::starts_with_words(what, it) && is_end(&what[it.len()..])) || idea(what).is_some()
    })
}

/// Returns whether what follows a pronoun says nothing more of what it stands for: "it", "it for level two", not "it blinking".
fn ends_clause(rest: &str) -> bool {
    const NEXT: [&str; 10] = ["at all", "and", "but", "for", "so", "because", "since", "either", "much", "lets"];
    let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    rest.is_empty() || NEXT.iter().any(|it| text::starts_with_words(rest, it))
}

/// Returns what follows the name of an idea that a text begins with: "the idea of a bell".
fn idea(said: &str) -> Option<&str> {
    let pointer = POINTERS.iter().find(|it| text::starts_with_words(said, it))?;
    let rest = said[pointer.len()..].trim_start();
    let rest = ["the ", "these ", "those ", "your "].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    let name = IDEAS.iter().find(|it| text::starts_with_words(rest, it))?;
    Some(rest[name.len()..].trim_start())
}

/// Returns whether a text says that an idea is bad: "it seems a little too complicated", "this idea sucks".
fn finds_bad(said: &str) -> bool {
    let contracted = ["its", "thats", "theyre"].iter().find(|it| text::starts_with_words(said, it));
    let pronoun = || PRONOUNS.iter().find(|it| text::starts_with_words(said, it)).map(|it| said[it.len()..].trim_start());
    let is_excess = |before: &str, rest: &str| {
        // "The page loads way too many pictures" is a fault of a part.
        let speaks_of_it = before.is_empty() || contracted.is_some() || idea(said).is_some() || pronoun().is_some();
        speaks_of_it && ["many", "much", "complicated", "complex"].iter().any(|it| text::starts_with_words(rest, it))
    };
    let mut excess = ["far too ", "way too "].iter().filter_map(|words| said.split_once(words));
    if excess.any(|(before, rest)| is_excess(before, rest)) || ELLIPSES.iter().any(|it| text::starts_with_words(said, it)) {
        return true;
    }
    let is_bad = |verdict: &str| {
        let words: Vec<&str> = verdict.split_whitespace().skip_while(|word| WEIGHTS.contains(word)).collect();
        FAULTS.iter().any(|fault| text::starts_with_words(&words.join(" "), fault))
    };
    if let Some(subject) = contracted {
        return is_bad(&said[subject.len()..]);
    }
    let Some(verdict) = idea(said).or_else(pronoun) else { return false };
    // "It just feels like too much".
    let verdict = verdict.strip_prefix("just ").unwrap_or(verdict);
    let behind = VERBS.iter().find_map(|verb| verdict.strip_prefix(verb)?.strip_prefix(' '));
    text::starts_with_words(verdict, "sucks") || text::starts_with_words(verdict, "suck") || behind.is_some_and(is_bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_like_an_idea_turns_it_down() {
        for said in [
            "eh",
            "too many words, and no bell",
            "I mean it's a nice slip but far too many lines",
            "Meh.. let's think about the bell again",
            "ew i hate all of those",
            "uh it's a little too complicated",
            "Don't ring it yet. Also this idea sucks for the night till. Let's see.",
            "I don't like the idea of a second drawer",
            "hmm, I tried it and it is not what I wanted",
            "that approach feels way too complicated",
            "let's go back to the drawing board",
            "아니, 별로야",
        ] {
            assert!(dismisses(said), "{said}");
        }
    }

    #[test]
    fn who_finds_fault_with_a_part_turns_nothing_down() {
        for said in [
            "I don't like the bell on the left",
            "is it too complicated?",
            "the drawer is too big",
            "the till prints way too many slips",
            "I don't like it blinking at noon",
            "ehh there's a new slip in the till",
            "it is too bad that the till has no bell, but fine",
            "use the bell, it is not much",
            "I like this idea",
        ] {
            assert!(!dismisses(said), "{said}");
        }
    }
}
