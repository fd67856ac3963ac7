//! Resolves the user's answer against the options that the agent proposed in prose.

mod barred;
mod behind;
mod beside;
mod by_name;
mod chosen;
mod items;
mod listed;
mod naming;
mod numbered;
mod offer;
mod proposal;
mod recommended;
mod reply;
mod resolution;
mod subject;
#[cfg(test)]
mod tests;

use super::{human, prose, questions};
use crate::text;
use barred::{
    are_findings, asks_for_no_option, denies_option, is_of_next_steps, lists_another, offers, only_wonders_about,
    says_order, wants_to_discuss,
};
use beside::said_beside;
use by_name::{taken_by_label, taken_by_name};
use chosen::{choose, closed};
pub(super) use items::{names_item, picked_items};
use listed::{ProposedOption, label, lettered_options, numbered_options, parse_numbered_option, parse_options};
use naming::{MAX_QUESTION_TAIL, Naming, calls_option, names_letter, names_number, names_one_of_two, picks_letter};
use numbered::{MAX_REPLY_CHARS, answers_several, asks_each, is_one_offer, replies};
use offer::{MIN_SHARED, taken_up, takes_something, values};
use proposal::proposal;
pub(super) use proposal::told_question;
use recommended::recommended;
use reply::{answered, names_itself, narrowed, puts_off};
pub(super) use resolution::Resolution;
pub(super) use subject::is_numbered_question;

/// Returns all that a prompt decides, given the previous answer: an option, the answers to numbered questions, or what it takes up of
/// an offer.
pub(super) fn resolve_all(prompt: &str, answer: &str) -> Vec<Resolution> {
    let replies = replies(prompt, answer);
    if !replies.is_empty() {
        return replies;
    }
    let resolved = taken_by_label(prompt, answer)
        .or_else(|| resolve(prompt, answer))
        .or_else(|| taken_up(prompt, answer))
        .or_else(|| answered(prompt, answer));
    // The last of several questions is not what all the answers are about.
    let resolved = resolved.filter(|it| it.asked.is_empty() || !answers_several(prompt));
    // A name says more than a consent.
    let is_bare = |it: &Resolution| it.rejected.is_empty() && it.asked.is_empty() && !it.is_own && !it.is_weighed;
    let named = taken_by_name(prompt, answer).filter(|_| resolved.as_ref().is_none_or(is_bare));
    named.or(resolved).into_iter().collect()
}

/// Returns which of the options of a question a prompt names, if it names just one: by its words, its number or its place.
pub(super) fn named_option(prompt: &str, labels: &[&str]) -> Option<usize> {
    let said = text::one_line(prompt);
    let lower = said.to_lowercase().replace('’', "'");
    let is_short = said.split(' ').count() <= MAX_FEW_WORDS;
    if said.chars().count() > MAX_OPTION_PROMPT_CHARS || human::only_asks(&said) || !(is_short || takes_something(&lower)) {
        return None;
    }
    let own: Vec<(Vec<String>, text::Features)> =
        labels.iter().map(|label| (values(&label.to_lowercase()), text::features(label))).collect();
    let (given, words, naming) = (values(&lower), text::features(&said), Naming::of(&said));
    let names = |at: usize| {
        let is_elsewhere = |value: &String| own.iter().enumerate().any(|(other, it)| other != at && it.0.contains(value));
        let by_value = own[at].0.iter().any(|value| given.contains(value) && !is_elsewhere(value));
        let only: Vec<&u32> = own[at]
            .1
            .iter()
            .filter(|word| !own.iter().enumerate().any(|(other, it)| other != at && it.1.contains(word)))
            .collect();
        let shared = only.iter().filter(|word| words.contains(word)).count();
        let by_words = shared >= MIN_SHARED || (shared == 1 && only.len() == 1 && words.len() <= MAX_FEW_WORDS);
        let option = ProposedOption {
            id: (at + 1).to_string(),
            name: String::new(),
            title: labels[at].to_owned(),
            body: String::new(),
        };
        by_value || by_words || naming.refers_to(&option)
    };
    let mut all = (0..labels.len()).filter(|at| names(*at));
    all.next().filter(|_| all.next().is_none())
}

/// The maximum length of a prompt that names an option, in characters, and how many words it has if one is enough.
const MAX_OPTION_PROMPT_CHARS: usize = 160;
const MAX_FEW_WORDS: usize = 4;

/// The maximum length of a prompt that chooses, and how the first sentence of a longer one begins that does, in characters.
const MAX_CHOICE_CHARS: usize = 240;
const TAKING: &[&str] = &[
    "i like",
    "i prefer",
    "i'd go with",
    "i would go with",
    "let's go with",
    "lets go with",
    "let's do",
    "lets do",
    "go with",
    "do",
    "use",
    "take",
    "ok",
    "yes",
];

/// How many options there are at most of which one is chosen without a question.
const MAX_OPTIONS: usize = 6;

/// Returns what a prompt decides, given the previous answer. None if it decides nothing.
pub(super) fn resolve(prompt: &str, answer: &str) -> Option<Resolution> {
    if prompt.chars().count() > MAX_CHOICE_CHARS {
        let first = choosing_sentence(prompt, answer)?;
        return resolve(&first, answer);
    }
    if wants_to_discuss(prompt) {
        return None;
    }
    if let Some(chosen) = chosen_by_letter(prompt, answer) {
        return Some(chosen);
    }
    let options = options_meant(prompt, answer);
    let named = named_options(prompt, &options);
    // Whoever quotes an option only to ask about it has not chosen it.
    if bars_choice(prompt, answer, &options, &named) || options.iter().any(|option| only_wonders_about(prompt, option)) {
        return None;
    }
    if !named.is_empty() && are_to_choose_from(prompt, answer, &options, named[0]) {
        return chosen_by_name(prompt, answer, &options, &named);
    }
    if let Some(reply) = narrowed(prompt, answer) {
        return Some(reply);
    }
    if !consents(prompt) {
        return None;
    }
    // A consent to several options chooses the one that the agent recommends.
    if options.len() >= 2
        && let Some(at) = recommended(&options, answer)
    {
        return Some(choose(&options, &[at], answer));
    }
    proposal(prompt, answer)
}

/// Returns the first sentence of a long prompt if it takes an option. Whoever does that may go on at length about what else there is to do.
fn choosing_sentence(prompt: &str, answer: &str) -> Option<String> {
    let first = prompt.lines().next().and_then(text::first_sentence)?;
    let lower = first.to_lowercase();
    let takes = first.chars().count() <= MAX_CHOICE_CHARS
        && TAKING.iter().any(|words| text::starts_with_words(&lower, words))
        && !first.contains(['?', '？'])
        && !human::is_paste(prompt)
        && !answer.contains(first.as_str())
        && calls_option(&lower);
    takes.then_some(first)
}

/// Returns the option with a letter that a prompt picks.
fn chosen_by_letter(prompt: &str, answer: &str) -> Option<Resolution> {
    let lettered = lettered_options(answer);
    let at = lettered.iter().position(|option| picks_letter(prompt, &option.id)).filter(|_| lettered.len() >= 2)?;
    let beside = said_beside(prompt, &lettered[at]);
    Some(Resolution { beside, ..choose(&lettered, &[at], answer) })
}

/// Returns the options of an answer of which a prompt may choose.
fn options_meant(prompt: &str, answer: &str) -> Vec<ProposedOption> {
    let calls = calls_option(&prompt.to_lowercase());
    options_at_end(answer).filter(|_| !calls).unwrap_or_else(|| parse_options(answer))
}

/// Returns the places of the options that a prompt names.
fn named_options(prompt: &str, options: &[ProposedOption]) -> Vec<usize> {
    // "1, 2 and 3" at the beginning names them all.
    let leading = leading_numbers(prompt);
    let listed: Vec<usize> = (0..options.len()).filter(|at| leading.contains(&options[*at].id.as_str())).collect();
    if listed.len() >= 2 {
        return listed;
    }
    let naming = Naming::of(prompt);
    let named: Vec<usize> = (0..options.len()).filter(|at| naming.refers_to(&options[*at])).collect();
    if named.is_empty() && options.len() == 2 { names_one_of_two(prompt).into_iter().collect() } else { named }
}

/// Returns the numbers with which a prompt begins, if there are commas between them: "1, 2, 3: what do they cost?"
fn leading_numbers(prompt: &str) -> Vec<&str> {
    let pieces = prompt.trim().split([',', '、', '，']).map(str::trim_start);
    let digits = |piece: &'_ str| piece.bytes().take_while(u8::is_ascii_digit).count();
    let mut goes_on = true;
    let is_number = |piece: &&str| {
        let (count, is_led) = (digits(piece), goes_on);
        // Behind the last one the prompt goes on.
        goes_on = count > 0 && piece[count..].trim_end().is_empty();
        count > 0 && is_led
    };
    pieces.take_while(is_number).map(|piece| &piece[..digits(piece)]).collect()
}

/// Returns whether a prompt that names options chooses none: "Option 1 doesn't work". What comes next turns nothing down: "What would you
/// like to do next?" A count is no number of an option.
fn bars_choice(prompt: &str, answer: &str, options: &[ProposedOption], named: &[usize]) -> bool {
    let lower = prompt.to_lowercase();
    let is_of_next = || asks_for_no_option(answer) || is_of_next_steps(answer, &options[0]);
    // "For #1, is there still a cycle?" only asks.
    let begins = || named.iter().any(|at| lower.starts_with(&options[*at].id));
    // To mend an item is work, and turns none of the others down.
    let mends = ["fix option", "fix options", "resolve option", "address option", "fix number"];
    let is_work = || text::contains_any_words(&lower, &mends) || (says_order(&lower) && !calls_option(&lower));
    let asks = || prompt.trim_end().ends_with(['?', '？']) && human::only_asks(prompt) && !begins();
    (calls_option(&lower) && denies_option(&lower))
        || (options.len() >= 2 && !named.is_empty() && (is_of_next() || is_work() || asks()))
}

/// Returns whether the items of an answer are options, of which a prompt names one at `named`, and not steps, questions or items of a
/// list of the user's own.
fn are_to_choose_from(prompt: &str, answer: &str, options: &[ProposedOption], named: usize) -> bool {
    let lower = prompt.to_lowercase();
    let calls = calls_option(&lower);
    let is_plain = options[0].name.is_empty();
    // Steps that are taken one by one exclude nothing: "run the first step".
    let is_step = text::contains_any_words(&lower, &["step", "steps", "단계", "ステップ", "步骤"]);
    // Numbered steps are no options unless the answer calls them so, or asks.
    let are_steps = calls && is_plain && !offers(&lower, answer);
    // An item of the user's own list has a number too: "3. Round the tax".
    let is_of_own_list = lists_another(prompt, &options[named], answer);
    // A long list that the answer ends without a question tells what there is.
    let is_inventory = is_plain && options.len() > MAX_OPTIONS && !calls && !text::tail(answer, 400).contains(['?', '？']);
    options.len() >= 2
        && !is_inventory
        && !are_steps
        && !is_of_own_list
        && (!is_step || calls)
        && (calls || !(is_plain && asks_each(options, answer)))
}

/// Returns the choice of the options at `named`. None if they are work that is asked for, or findings.
fn chosen_by_name(prompt: &str, answer: &str, options: &[ProposedOption], named: &[usize]) -> Option<Resolution> {
    let lower = prompt.to_lowercase();
    // "1, not 2" names what was not chosen too.
    let denies = ["not", "instead of", "rather than", "말고", "じゃなく", "而不是"];
    let is_one = text::contains_any_words(&lower, &denies);
    // Several items of a list are work that is asked for, and of findings none turns another one down.
    let is_plain = options[0].name.is_empty() && !calls_option(&lower);
    if (is_plain && named.len() >= 2 && !is_one) || are_findings(options) {
        return None;
    }
    // "All 3" is no choice.
    let begins = |at: &usize| lower.starts_with(&options[*at].id);
    let counts = |at: &usize| text::contains_words(&lower, &format!("all {}", options[*at].id));
    if !named.iter().any(begins) && named.iter().any(counts) {
        return None;
    }
    let mut chosen = choose(options, if is_one { &named[..1] } else { named }, answer);
    let [only] = named else { return Some(chosen) };
    let beside = said_beside(prompt, &options[*only]);
    let says_more = beside.is_empty() && prompt.chars().count() >= MIN_OWN_WORDS && prompt.trim().lines().count() == 1;
    if says_more && names_letter(prompt, &options[*only].id) {
        // What the user says beside the letter may limit the choice.
        chosen.what = format!("{} → {}", label(&chosen.what), text::clip(&text::one_line(prompt), MAX_REPLY_CHARS));
    }
    Some(Resolution { beside, ..chosen })
}

/// Returns the list with which an answer ends if it offers one of its items. That is what a bare number chooses from.
fn options_at_end(answer: &str) -> Option<Vec<ProposedOption>> {
    let last = answer.trim().lines().last()?;
    parse_numbered_option(last.trim())?;
    Some(numbered_options(answer)).filter(|items| items.len() >= 2 && is_one_offer(items, answer))
}

/// Returns what an answer asks at its end, as far as it can be understood alone: the question before its options, or else its last one.
pub(super) fn asked(answer: &str) -> Option<String> {
    let options = parse_options(answer);
    let asks_last = text::tail(answer, MAX_QUESTION_TAIL).contains(['?', '？']);
    let of_options =
        options.first().filter(|_| options.len() >= 2 && asks_last).map(|first| subject::question(answer, first));
    let last =
        || prose::closing_question(answer).filter(|question| !prose::is_procedure(question) && names_itself(question));
    of_options.filter(|question| !question.is_empty()).or_else(last)
}

/// Returns the title of the option of an answer that a prompt speaks of by its number or letter: "Option 1 doesn't work since …".
pub(super) fn meant(prompt: &str, answer: &str) -> Option<String> {
    let lower = prompt.to_lowercase();
    if !calls_option(&lower) {
        return None;
    }
    let options = parse_options(answer);
    let mut named = options.iter().filter(|option| names_number(&lower, &option.id));
    let option = named.next().filter(|_| named.next().is_none() && options.len() >= 2)?;
    Some(questions::strip_recommendation(&closed(&option.title)))
}

/// The length from which a prompt says more than the letter of an option, in characters.
const MIN_OWN_WORDS: usize = 40;

/// Returns whether a prompt agrees. It may do so in its first sentence and then ask for more. "Let's do it in #12" puts off.
fn consents(prompt: &str) -> bool {
    let first = text::first_sentence(prompt);
    !first.as_deref().is_some_and(puts_off) && (human::is_consent(prompt) || first.is_some_and(|it| human::is_consent(&it)))
}
