//! Resolves the user's answer against the options that the agent proposed in prose.

mod behind;
mod beside;
mod items;
mod listed;
mod offer;
mod reply;
mod subject;

use super::{clean, human, prose, questions, standing};
use crate::text;
use behind::{contains_id, follows_choice};
use beside::said_beside;
pub(super) use items::{names_item, picked_items};
use listed::{
    OPTION_WORDS, ProposedOption, label, lettered_options, numbered_options, parse_numbered_option, parse_options,
};
use offer::{MIN_SHARED, taken_up, takes_something, values};
use reply::narrowed;
use subject::has_pointer;

/// A resolved decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Resolution {
    /// The question to which the options belong. May be empty.
    pub asked: String,
    /// The chosen option, or the proposal.
    pub what: String,
    /// The reason, as far as the agent gave one.
    pub why: String,
    /// The options that were not chosen.
    pub rejected: Vec<String>,
    /// What the user says beside the number of the option. May be empty.
    pub beside: String,
    /// Whether the prompt says in its own words what it decides.
    pub is_own: bool,
    /// Whether the answer weighed several ways and sums up what is decided.
    pub is_weighed: bool,
}

impl Resolution {
    /// Returns whether the choice is one of how the session itself goes on, which ends with it.
    pub(super) fn is_of_session(&self) -> bool {
        const WAYS: [&str; 6] =
            ["something else", "subagent-driven", "parallel session", "(this session)", "in this session", "다른 것"];
        let names_way = |option: &str| {
            let lower = text::head(option, 60).to_lowercase();
            text::contains_any(&lower, &WAYS)
        };
        !self.is_own && (names_way(&self.what) || self.rejected.iter().any(|option| names_way(option)))
    }
}

/// The maximum length of a prompt that answers several questions by their numbers, in characters.
const MAX_REPLIES_CHARS: usize = 700;
/// The maximum number of such answers that are taken, and their maximum length in characters.
const MAX_REPLIES: usize = 4;
const MAX_REPLY_CHARS: usize = 160;
/// The length up to which such an answer is told with the whole question, and the maximum length of that question, in characters.
const MAX_BARE_REPLY_CHARS: usize = 30;
const MAX_ASKED_CHARS: usize = 140;

/// Returns all that a prompt decides, given the previous answer: an option, the answers to numbered questions, or what it takes up of
/// an offer.
pub(super) fn resolve_all(prompt: &str, answer: &str) -> Vec<Resolution> {
    let replies = replies(prompt, answer);
    if !replies.is_empty() {
        return replies;
    }
    resolve(prompt, answer).or_else(|| taken_up(prompt, answer)).into_iter().collect()
}

/// Returns the answers of a prompt to the numbered questions of an answer: "1. full".
fn replies(prompt: &str, answer: &str) -> Vec<Resolution> {
    if prompt.chars().count() > MAX_REPLIES_CHARS {
        return Vec::new();
    }
    let asked = numbered_options(answer);
    let is_one = is_one_offer(&asked, answer);
    if !is_one && !asks_each(&asked, answer) {
        return Vec::new();
    }
    let reply = |line: &str| -> Option<Resolution> {
        let reply = parse_numbered_option(line.trim())?;
        let question = asked.iter().find(|option| option.id == reply.id)?;
        let said = line.trim()[reply.id.len() + 1..].trim();
        // "no" says nothing without what was asked.
        let is_bare = said.chars().count() <= MAX_BARE_REPLY_CHARS;
        let asked =
            || if is_bare { text::clip(&question.title, MAX_ASKED_CHARS).into_owned() } else { label(&question.title) };
        (!said.is_empty() && !said.contains(['?', '？'])).then(|| Resolution {
            what: format!("{} → {}", asked(), text::clip(said, MAX_REPLY_CHARS)),
            is_own: true,
            ..Resolution::default()
        })
    };
    let replies: Vec<Resolution> = prompt.lines().filter_map(reply).take(MAX_REPLIES).collect();
    // Whoever answers two of them takes none of several ways.
    if is_one && replies.len() < 2 { Vec::new() } else { replies }
}

/// Returns whether the line above the numbered items of an answer offers one of them: "Would you like me to: 1. round it? 2. leave it?"
fn is_one_offer(items: &[ProposedOption], answer: &str) -> bool {
    const OFFERS: [&str; 6] = ["would you like", "do you want", "want me to", "should i", "shall i", "should we"];
    let Some(first) = items.first() else { return false };
    let lines: Vec<&str> = answer.lines().map(|line| line.trim().trim_matches('*')).collect();
    let place = lines.iter().rposition(|line| first.is_on(line)).unwrap_or_default();
    let lead = lines[..place].iter().rfind(|line| !line.is_empty()).map(|line| line.to_lowercase());
    lead.is_some_and(|lead| lead.ends_with(':') && OFFERS.iter().any(|offer| lead.starts_with(offer)))
}

/// Returns whether the numbered items of an answer are questions, of which each wants its own answer, and not options.
fn asks_each(items: &[ProposedOption], answer: &str) -> bool {
    let asks = |item: &&ProposedOption| item.title.contains(['?', '？']) || item.body.contains(['?', '？']);
    let lower = answer.to_lowercase();
    let announces = text::contains_any_words(&lower, &["to decide", "to confirm", "decisions where", "open questions"]);
    items.len() >= 2 && !is_one_offer(items, answer) && (announces || items.iter().filter(asks).count() * 2 > items.len())
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
    let (given, words) = (values(&lower), text::features(&said));
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
        by_value || by_words || refers_to(&said, &option)
    };
    let mut all = (0..labels.len()).filter(|at| names(*at));
    all.next().filter(|_| all.next().is_none())
}

/// How much of the end of an answer may ask which option is wanted, in bytes.
const MAX_QUESTION_TAIL: usize = 400;

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

/// Returns what a prompt decides, given the previous answer. None if it decides nothing.
pub(super) fn resolve(prompt: &str, answer: &str) -> Option<Resolution> {
    // Whoever takes an option may go on at length about what else there is to do.
    if prompt.chars().count() > MAX_CHOICE_CHARS {
        let first = prompt
            .lines()
            .next()
            .and_then(text::first_sentence)
            .filter(|first| first.chars().count() <= MAX_CHOICE_CHARS)?;
        let lower = first.to_lowercase();
        let takes = TAKING.iter().any(|words| text::starts_with_words(&lower, words))
            && !first.contains(['?', '？'])
            && !human::is_paste(prompt)
            && !answer.contains(first.as_str())
            && text::contains_any_words(&lower, &["option", "approach", "옵션", "방법", "案", "方案"]);
        return if takes { resolve(&first, answer) } else { None };
    }
    if wants_to_discuss(prompt) {
        return None;
    }
    let lettered = lettered_options(answer);
    if lettered.len() >= 2
        && let Some(at) = lettered.iter().position(|option| picks_letter(prompt, &option.id))
    {
        let beside = said_beside(prompt, &lettered[at]);
        return Some(Resolution { beside, ..choose(&lettered, &[at], answer) });
    }
    let lower = prompt.to_lowercase();
    let names_option = text::contains_any_words(&lower, &["option", "approach", "옵션", "방법", "案", "方案"]);
    let options = options_at_end(answer).filter(|_| !names_option).unwrap_or_else(|| parse_options(answer));
    let mut named: Vec<usize> = (0..options.len()).filter(|at| refers_to(prompt, &options[*at])).collect();
    if named.is_empty() && options.len() == 2 {
        named.extend(names_one_of_two(prompt));
    }
    // Steps that are taken one by one exclude nothing: "run the first step".
    let is_step = text::contains_any_words(&lower, &["step", "steps", "단계", "ステップ", "步骤"]);
    // "Option 1 doesn't work" chooses none.
    if names_option && denies_option(&lower) {
        return None;
    }
    // Whoever quotes an option only to ask about it has not chosen it.
    if options.iter().any(|option| only_wonders_about(prompt, option)) {
        return None;
    }
    // What comes next turns nothing down: "What would you like to do next?" A count is no number of an option.
    if options.len() >= 2 && !named.is_empty() && (asks_for_no_option(answer) || is_of_next_steps(answer, &options[0])) {
        return None;
    }
    // Numbered steps are no options unless the answer calls them so, or asks.
    let are_steps = names_option && options.first().is_some_and(|it| it.name.is_empty()) && !offers(&lower, answer);
    // An item of the user's own list has a number too: "3. Round the tax".
    let is_of_own_list = named.first().is_some_and(|at| lists_another(prompt, &options[*at], answer));
    let is_choice = options.len() >= 2
        && !are_steps
        && !is_of_own_list
        && (!is_step || names_option)
        && (names_option || !(options[0].name.is_empty() && asks_each(&options, answer)));
    if is_choice && !named.is_empty() {
        // "1, not 2" names what was not chosen too.
        let denies = ["not", "instead of", "rather than", "말고", "じゃなく", "而不是"];
        let is_one = text::contains_any_words(&lower, &denies);
        // Several items of a list are work that is asked for, and of findings none turns another one down.
        let is_plain = options[0].name.is_empty() && !names_option;
        if (is_plain && named.len() >= 2 && !is_one) || are_findings(&options) {
            return None;
        }
        // "All 3" is no choice.
        let begins = |at: &usize| lower.starts_with(&options[*at].id);
        if !named.iter().any(begins)
            && named.iter().any(|at| text::contains_words(&lower, &format!("all {}", options[*at].id)))
        {
            return None;
        }
        let mut chosen = choose(&options, if is_one { &named[..1] } else { &named }, answer);
        let beside = if named.len() == 1 { said_beside(prompt, &options[named[0]]) } else { String::new() };
        let says_more = beside.is_empty() && prompt.chars().count() >= MIN_OWN_WORDS && prompt.trim().lines().count() == 1;
        if named.len() == 1 && says_more && names_letter(prompt, &options[named[0]].id) {
            // What the user says beside the letter may limit the choice.
            chosen.what = format!("{} → {}", label(&chosen.what), text::clip(&text::one_line(prompt), MAX_REPLY_CHARS));
        }
        return Some(Resolution { beside, ..chosen });
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

/// Returns the list with which an answer ends if it offers one of its items. That is what a bare number chooses from.
fn options_at_end(answer: &str) -> Option<Vec<ProposedOption>> {
    let last = answer.trim().lines().last()?;
    parse_numbered_option(last.trim())?;
    Some(numbered_options(answer)).filter(|items| items.len() >= 2 && is_one_offer(items, answer))
}

/// Returns whether the items of a list are findings: most of them have a grade, two have the same title, or most name a line of a file.
fn are_findings(items: &[ProposedOption]) -> bool {
    let titles: Vec<String> = items.iter().map(|item| label(&item.title).to_lowercase()).collect();
    let is_graded = |item: &ProposedOption| standing::is_graded_finding(&item.title.to_lowercase());
    2 * items.iter().filter(|item| is_graded(item)).count() > items.len()
        || (0..titles.len()).any(|at| titles[..at].contains(&titles[at]))
        || 2 * items.iter().filter(|item| names_line_of_file(&item.title)).count() > items.len()
}

/// Returns whether a text names a line of a file: `till.rs:12`.
fn names_line_of_file(said: &str) -> bool {
    said.split([' ', '`', '(', ')', ',', '[', ']']).any(|word| {
        let Some((path, line)) = word.split_once(':') else { return false };
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        line.starts_with(|c: char| c.is_ascii_digit()) && extension.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

/// Returns whether a prompt wants to talk about something before anything is chosen: "let's discuss the second one".
fn wants_to_discuss(prompt: &str) -> bool {
    let lower = prompt.to_lowercase();
    text::contains_any_words(&lower, &["discuss", "talk about", "talk through", "tell me more about"])
}

/// Returns whether a prompt is an item of another list than the option's: it begins with the same number, shares no word with the
/// option, and the answer asks nothing.
fn lists_another(prompt: &str, option: &ProposedOption, answer: &str) -> bool {
    let Some(own) = parse_numbered_option(prompt.trim()).filter(|own| own.id == option.id) else { return false };
    let words = text::features(&own.title);
    words.len() >= MIN_SHARED
        && words.is_disjoint(&text::features(&option.title))
        && !text::tail(answer, MAX_QUESTION_TAIL).contains(['?', '？'])
}

/// Returns the title of the option of an answer that a prompt speaks of by its number or letter: "Option 1 doesn't work since …".
pub(super) fn meant(prompt: &str, answer: &str) -> Option<String> {
    let lower = prompt.to_lowercase();
    if !text::contains_any_words(&lower, &["option", "approach", "옵션", "방법", "案", "方案"]) {
        return None;
    }
    let options = parse_options(answer);
    let mut named = options.iter().filter(|option| names_number(&lower, &option.id));
    let option = named.next().filter(|_| named.next().is_none() && options.len() >= 2)?;
    Some(questions::strip_recommendation(&closed(&option.title)))
}

/// Returns whether a prompt quotes an option, and beside that only asks something.
fn only_wonders_about(prompt: &str, option: &ProposedOption) -> bool {
    let said = text::one_line(prompt);
    let Some((before, after)) = said.split_once(option.title.as_str()) else { return false };
    let rest = after.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_quoted = option.title.chars().count() >= MIN_QUOTED_CHARS && before.chars().count() <= MAX_BEFORE_QUOTE;
    is_quoted && rest.ends_with(['?', '？']) && human::only_asks(rest)
}

/// The minimum length of an option that somebody quotes, and the maximum length of what stands before it, in characters.
const MIN_QUOTED_CHARS: usize = 16;
const MAX_BEFORE_QUOTE: usize = 12;

/// The length from which a prompt says more than the letter of an option, in characters.
const MIN_OWN_WORDS: usize = 40;

/// Returns whether an answer ends with a question that no option answers: what is to be done next, or how much of something.
fn asks_for_no_option(answer: &str) -> bool {
    const ASKS: [&str; 12] = [
        "any of these",
        "any of them",
        "some of these",
        "do next",
        "tackle next",
        "work on next",
        "what's next",
        "what next",
        "다음으로 무엇",
        "다음에 무엇",
        "次に何",
        "接下来做什么",
    ];
    const COUNTS: [&str; 5] = ["how many", "how much", "몇 ", "何回", "いくつ"];
    let sentences = text::sentences(text::tail(answer, MAX_QUESTION_TAIL));
    let last =
        sentences.iter().rev().find(|said| said.ends_with(['?', '？'])).map(|said| said.to_lowercase().replace('’', "'"));
    last.is_some_and(|last| text::contains_any_words(&last, &ASKS) || text::contains_any(&last, &COUNTS))
}

/// Returns whether the options of an answer, of which `first` is the first, stand below a heading for what may be done next.
fn is_of_next_steps(answer: &str, first: &ProposedOption) -> bool {
    const HEADINGS: [&str; 6] = ["next step", "what's next", "다음 단계", "次のステップ", "次の作業", "下一步"];
    let lines: Vec<&str> = answer.lines().map(str::trim).collect();
    let place = lines.iter().position(|line| first.is_on(line));
    let heading = lines[..place.unwrap_or_default()].iter().rev().find(|line| prose::is_heading(line));
    heading.is_some_and(|heading| text::contains_any(&heading.to_lowercase().replace('’', "'"), &HEADINGS))
}

/// Returns whether a prompt in lower case says of an option that it is none.
fn denies_option(lower: &str) -> bool {
    const DENIALS: [&str; 16] = [
        "does not work",
        "doesnt work",
        "will not work",
        "wont work",
        "cannot work",
        "cant work",
        "would not work",
        "wouldnt work",
        "is wrong",
        "is not possible",
        "is not an option",
        "isnt an option",
        "안 돼",
        "안돼",
        "안 되",
        "使えない",
    ];
    let lower = lower.replace(['\'', '’'], "");
    let first = text::first_sentence(&lower).unwrap_or(lower);
    text::contains_any_words(&first, &DENIALS)
}

/// Returns whether an answer calls something what a prompt in lower case calls it ("option 2"), speaks of several ways, or ends with a
/// question.
fn offers(lower: &str, answer: &str) -> bool {
    let said = answer.to_lowercase();
    let is_named = |word: &str| text::contains_words(&said, word) || text::contains_words(&said, &format!("{word}s"));
    text::contains_any_words(&said, &["ways", "choices", "options"])
        || OPTION_WORDS.iter().any(|word| text::contains_words(lower, word) && is_named(word))
        || text::tail(answer, MAX_QUESTION_TAIL).contains(['?', '？'])
}

/// Returns whether a prompt agrees. It may do so in its first sentence and then ask for more.
fn consents(prompt: &str) -> bool {
    human::is_consent(prompt) || text::first_sentence(prompt).is_some_and(|first| human::is_consent(&first))
}

/// Resolves to the chosen options. The others were rejected; of those only what names them is kept.
fn choose(options: &[ProposedOption], chosen: &[usize], answer: &str) -> Resolution {
    let with_name = |option: &ProposedOption, title: &str| {
        if option.name.is_empty() { title.to_owned() } else { format!("{}: {title}", option.name) }
    };
    let title = |at: &usize| {
        let title = questions::strip_recommendation(&closed(&options[*at].title));
        clean::without_positions(title.trim_end_matches([':', '：', '?', '？'])).into_owned()
    };
    let what: Vec<String> = chosen.iter().map(|at| with_name(&options[*at], &title(at))).collect();
    // Whoever takes both turns none of them down.
    let takes_all = chosen.iter().any(|at| prose::takes_all(&label(&options[*at].title)));
    let rejected = (0..options.len()).filter(|at| !chosen.contains(at) && !takes_all);
    let rejected = rejected.map(|at| with_name(&options[at], &label(&options[at].title))).collect();
    let why = chosen.first().map(|at| reason(&options[*at], answer)).unwrap_or_default();
    let why = if why.trim_end_matches(['.', '。']) == what.join("; ") { String::new() } else { why };
    let asked = subject::question(answer, &options[0]);
    Resolution { asked, what: text::clip(&what.join("; "), 240).into_owned(), why, rejected, ..Resolution::default() }
}

/// Returns a title without a bracket at its end that is never closed.
fn closed(title: &str) -> String {
    match title.rfind(" (") {
        Some(at) if !title[at..].contains(')') => title[..at].to_owned(),
        _ => title.to_owned(),
    }
}

/// Returns the agent's reason: a sentence with a reason in the text of the option, otherwise a sentence about the
/// option elsewhere.
fn reason(option: &ProposedOption, answer: &str) -> String {
    let own =
        prose::insights(&option.body, true).into_iter().max_by_key(|insight| insight.score).map(|insight| insight.text);
    let elsewhere = || {
        text::sentences(answer).into_iter().find(|sentence| {
            !option.name.is_empty()
                && sentence.starts_with(&option.name)
                && !sentence.contains(&option.title)
                && !sentence.ends_with(['?', '？'])
        })
    };
    // The question behind the last option is not its reason.
    let first = || {
        let said = text::sentences(&option.body).into_iter().find(|sentence| !sentence.ends_with([':', '：']));
        said.filter(|sentence| !sentence.ends_with(['?', '？']))
    };
    text::clip(&own.or_else(elsewhere).or_else(first).unwrap_or_default(), 280).into_owned()
}

/// Returns whether a short prompt picks an option by its letter: "or no, do c".
fn picks_letter(prompt: &str, letter: &str) -> bool {
    let lower = prompt.trim().to_lowercase();
    let bare = lower.trim_end_matches(['.', '!', ' ', ')']);
    let picks = ["do", "with", "pick", "take", "choose", "try", "use", "option", "for"];
    let last =
        |words: &str| bare.ends_with(words) && bare[..bare.len() - words.len()].chars().next_back().is_none_or(|c| c == ' ');
    bare == letter
        || bare == format!("({letter}")
        || (bare.chars().count() <= 40
            && picks.iter().any(|verb| last(&format!("{verb} {letter}")) || last(&format!("{verb} ({letter}"))))
        || (letter != "a" && ["let's do ", "lets do "].iter().any(|lead| bare.starts_with(&format!("{lead}{letter} "))))
}

/// Returns whether a prompt refers to that option: `방법 1로`, `option 2`, `2번`, `B`, `the second`, or its title.
fn refers_to(prompt: &str, option: &ProposedOption) -> bool {
    let (lower, id) = (prompt.to_lowercase(), option.id.as_str());
    let has_title = || {
        let title = option.title.to_lowercase();
        title.chars().count() >= MIN_TITLE_CHARS && lower.contains(&title)
    };
    (!option.name.is_empty() && contains_id(&lower, &option.name.to_lowercase()))
        || names_number(&lower, id)
        || names_place(&lower, id)
        || begins_with_id(&lower, id)
        || names_letter(prompt, id)
        || takes_by_particle(prompt, id)
        || (id != "a" && text::sentences(prompt).iter().any(|sentence| accepts(&sentence.to_lowercase(), id)))
        || says_little_else(&lower, id)
        || has_title()
}

/// The minimum length of a title by which an option is known, in characters.
const MIN_TITLE_CHARS: usize = 6;
/// The maximum length of a prompt that refers to an option by its place in the list, in characters.
const MAX_PLACE_CHARS: usize = 60;
/// The maximum length of what follows a number or a letter with which a prompt begins, in characters.
const MAX_AFTER_ID: usize = 160;
/// The maximum length of a prompt that says little else than a number, in characters.
const MAX_BARE_CHARS: usize = 24;

/// Returns whether a text in lower case has the number or letter with a word for options: "option 2", "2번", "(b)".
fn names_number(lower: &str, id: &str) -> bool {
    const WORDS: [&str; 12] =
        ["option", "number", "no.", "#", "approach", "method", "plan", "方案", "案", "选", "방법", "옵션"];
    let is_behind = |word: &&str| contains_id(lower, &format!("{word} {id}")) || contains_id(lower, &format!("{word}{id}"));
    let forms = [format!("{id}번"), format!("{id}番"), format!("第{id}"), format!("({id})"), format!("{id}안")];
    WORDS.iter().any(is_behind) || forms.iter().any(|form| lower.contains(form.as_str()))
}

/// Returns whether a short text in lower case names the place of the number or letter: "the second one".
fn names_place(lower: &str, id: &str) -> bool {
    // "The first two" are no option.
    const COUNTS: [&str; 8] = ["two", "three", "four", "few", "2", "3", "4", "half"];
    let ordinals: &[&str] = match id {
        "1" | "a" => {
            &["the first", "first one", "첫 번째", "첫번째", "첫째", "一つ目", "1つ目", "一番目", "最初の案", "第一"]
        }
        "2" | "b" => &["the second", "second one", "두 번째", "두번째", "둘째", "二つ目", "2つ目", "二番目", "第二"],
        "3" | "c" => &["the third", "third one", "세 번째", "세번째", "셋째", "三つ目", "3つ目", "三番目", "第三"],
        _ => &[],
    };
    let names_one = |word: &&str| {
        let behind = lower.split_once(*word).map(|(_, behind)| behind.trim_start());
        behind.is_some_and(|rest| !COUNTS.iter().any(|count| text::starts_with_words(rest, count)))
    };
    lower.chars().count() <= MAX_PLACE_CHARS && ordinals.iter().any(names_one)
}

/// Returns whether a text in lower case begins with the number or letter: "1 does seem like a decent path".
fn begins_with_id(lower: &str, id: &str) -> bool {
    // "A" alone is mostly an article.
    let marks: &[char] = if id == "a" { &['.', ')'] } else { &[' ', '.', ',', ')'] };
    let is_short = |rest: &str| rest.chars().count() <= MAX_AFTER_ID;
    lower.strip_prefix(id).is_some_and(|rest| rest.starts_with(marks) && is_short(rest) && follows_choice(rest))
}

/// Returns whether a short prompt begins with the letter and a particle or an ending with which Korean and Japanese take something:
/// "Aにしよう", "B로 가자".
fn takes_by_particle(prompt: &str, id: &str) -> bool {
    const BEHIND: [&str; 16] = [
        "で",
        "にし",
        "にする",
        "がいい",
        "が良",
        "案で",
        "案に",
        "案が",
        "を採用",
        "の方で",
        "のほうで",
        "로",
        "으로",
        "안으로",
        "안 으로",
        "가 좋",
    ];
    let said = human::without_lead(prompt.trim());
    let is_short = said.chars().count() <= MAX_BARE_CHARS && !said.contains(['?', '？']);
    let is_letter = id.len() == 1 && id.bytes().all(|byte| byte.is_ascii_lowercase());
    let rest = said.strip_prefix(id.to_ascii_uppercase().as_str()).filter(|_| is_short && is_letter);
    rest.is_some_and(|rest| BEHIND.iter().any(|behind| rest.trim_start().starts_with(behind)))
}

/// Returns which of two options a short prompt takes: the former or the latter.
fn names_one_of_two(prompt: &str) -> Option<usize> {
    const FORMER: [&str; 3] = ["the former", "전자", "前者"];
    const LATTER: [&str; 3] = ["the latter", "후자", "後者"];
    let lower = prompt.trim().to_lowercase();
    let said = human::without_lead(&lower);
    if said.chars().count() > MAX_BARE_CHARS || said.contains(['?', '？']) {
        return None;
    }
    [FORMER, LATTER].iter().position(|words| words.iter().any(|word| said.starts_with(word)))
}

/// Returns whether a text in lower case is the number or letter, or is short and has the number.
fn says_little_else(lower: &str, id: &str) -> bool {
    let bare = lower.trim().trim_end_matches(['.', '!', ' ', ')']);
    let is_number = id.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = bare.chars().count() <= MAX_BARE_CHARS && !bare.contains("ok");
    let is_short = is_short && bare.strip_prefix(id).is_none_or(follows_choice);
    bare == id || (is_short && is_number && contains_id(bare, id))
}

/// Returns whether a prompt takes an option by its letter, in upper case: "I think B, it leaves us room", "let's go with A".
fn names_letter(prompt: &str, id: &str) -> bool {
    const BEFORE: [&str; 16] = [
        "think", "with", "for", "option", "pick", "prefer", "do", "choose", "like", "take", "yes", "ok", "okay", "yeah",
        "say", "vote",
    ];
    let letter = id.to_ascii_uppercase();
    if id.len() != 1 || !id.bytes().all(|byte| byte.is_ascii_lowercase()) || prompt.contains(['?', '？']) {
        return false;
    }
    let words: Vec<&str> = prompt.split_whitespace().collect();
    (0..words.len()).any(|at| {
        let before = at.checked_sub(1).map(|at| words[at].to_lowercase());
        let is_taken = before.is_none_or(|it| BEFORE.contains(&it.trim_matches(|c: char| !c.is_alphanumeric())));
        // "A" and "I" alone are mostly other words.
        let is_ended = words[at].ends_with([',', '.', ')', '!', ':']) || (at + 1 == words.len() && at > 0);
        let is_word = matches!(id, "a" | "i");
        let behind = || words.get(at + 1..).map(|rest| format!(" {}", rest.join(" "))).unwrap_or_default();
        let is_taken = is_taken && (is_ended || follows_choice(&behind()));
        is_taken && (is_ended || !is_word) && words[at].trim_matches(|c: char| !c.is_alphanumeric()) == letter
    })
}

/// Returns whether a sentence in lower case says of the option with this number or letter that it is the one: "1 is correct".
fn accepts(lower: &str, id: &str) -> bool {
    const VERDICTS: [&str; 10] = [
        "is correct",
        "is right",
        "is fine",
        "is better",
        "is the way",
        "is what i",
        "sounds good",
        "sounds right",
        "looks good",
        "makes sense",
    ];
    lower
        .strip_prefix(id)
        .and_then(|rest| rest.strip_prefix(' '))
        .is_some_and(|rest| VERDICTS.iter().any(|verdict| text::starts_with_words(rest, verdict)))
}

fn recommended(options: &[ProposedOption], answer: &str) -> Option<usize> {
    let lower = answer.to_lowercase();
    let signs = ["recommend", "추천", "권장", "おすすめ", "推奨", "推荐", "建议"];
    let named =
        |text: &str| options.iter().position(|option| !option.name.is_empty() && text.contains(&option.name.to_lowercase()));
    options
        .iter()
        .position(|option| {
            let title = option.title.to_lowercase();
            !title.contains("not recommended") && signs.iter().any(|sign| title.contains(sign))
        })
        .or_else(|| signs.iter().filter_map(|sign| lower.rfind(sign)).find_map(|at| named(text::head(&lower[at..], 200))))
        .or_else(|| praised(options, answer))
}

/// Returns the one option of which the end of an answer says that it is the better one: "Option 1 is cleaner".
fn praised(options: &[ProposedOption], answer: &str) -> Option<usize> {
    const PRAISES: [&str; 14] = [
        "is cleaner",
        "is the cleanest",
        "is simpler",
        "is the simplest",
        "is better",
        "is the better",
        "is best",
        "is the best",
        "is safer",
        "is the safest",
        "makes more sense",
        "makes the most sense",
        "seems better",
        "seems cleaner",
    ];
    // "Option 1 is simpler, but it loses cents" recommends nothing, and neither does "if speed matters, …".
    const DOUBTS: [&str; 9] = ["but", "if", "though", "although", "however", "unless", "only", "except", "while"];
    const TAKES: [&str; 8] = ["go with", "prefer", "pick", "choose", "rather", "lean", "suggest", "vote"];
    let tail = text::tail(answer, MAX_QUESTION_TAIL);
    let sentences: Vec<String> = text::sentences(tail).iter().map(|said| said.to_lowercase()).collect();
    let names: Vec<String> = options
        .iter()
        .map(|it| if it.name.is_empty() { format!("option {}", it.id) } else { it.name.to_lowercase() })
        .collect();
    let is_praised_in = |said: &String, name: &String| {
        let follows = |(at, _): (usize, &str)| said[at + name.len()..].trim_start();
        let mut behind = said.match_indices(name.as_str()).map(follows);
        !text::contains_any_words(said, &DOUBTS)
            && behind.any(|rest| PRAISES.iter().any(|praise| text::starts_with_words(rest, praise)))
    };
    let mut praised = (0..names.len()).filter(|at| sentences.iter().any(|said| is_praised_in(said, &names[*at])));
    let at = praised.next().filter(|_| praised.next().is_none())?;
    let takes_other = |said: &String| {
        let has_other = || names.iter().enumerate().any(|(other, name)| other != at && contains_id(said, name));
        text::contains_any_words(said, &TAKES) && has_other()
    };
    (!sentences.iter().any(takes_other)).then_some(at)
}

/// Returns what the agent proposed at the end of an answer.
fn proposal(prompt: &str, answer: &str) -> Option<Resolution> {
    let question = prose::closing_question(answer)?;
    let bare = strip_question_opening(&question);
    let summary = summed_up(answer);
    let is_weighed = summary.is_some() && is_vague(&bare);
    let before = summary.or_else(|| before_question(answer));
    // A fact about "it" says less than what is to be done with a thing that the question names.
    let leans = |before: &String| prose::is_pointer(&before.to_lowercase()) && bare.contains('`');
    let vague = is_vague(&bare) && !before.as_ref().is_some_and(leans);
    let what = match before {
        Some(before) if vague && !is_hedged(&before) => before,
        _ if vague => return None,
        // Other languages put the verb of asking into the sentence, so question and answer are stored together.
        _ if !bare.is_ascii() && bare == question.trim_end_matches(['?', '？', ' ']) => {
            format!("{question} → {}", text::clip(prompt, 60))
        }
        _ => bare,
    };
    Some(Resolution { what: text::clip(&what, 240).into_owned(), is_weighed, ..Resolution::default() })
}

/// Returns the paragraph before the closing question of an answer if it sums up what was weighed before it.
fn summed_up(answer: &str) -> Option<String> {
    const OPENINGS: [&str; 11] = [
        "まとめると",
        "結論",
        "つまり",
        "要するに",
        "정리하면",
        "요약하면",
        "결론",
        "to sum up",
        "in short",
        "总结",
        "总之",
    ];
    let mut paragraphs = answer.trim().rsplit("\n\n").map(str::trim);
    paragraphs.next().filter(|last| text::sentences(last).len() == 1)?;
    let paragraph = paragraphs.next().map(text::one_line)?;
    let lower = paragraph.to_lowercase();
    let opening = OPENINGS.iter().find(|opening| lower.starts_with(**opening))?;
    let said = text::sentences(paragraph.get(opening.len()..)?).join(" ");
    Some(said.trim_start_matches(['、', ',', '，', ':', '：', ' ']).to_owned())
}

/// Returns the sentence to which the closing question of an answer refers.
fn before_question(answer: &str) -> Option<String> {
    let before = text::sentences(answer);
    before
        .iter()
        .rev()
        .skip(1)
        .find(|sentence| !prose::is_narration(sentence) && !sentence.ends_with(['?', '？']) && !is_aside(sentence))
        .map(|sentence| sentence.trim_end_matches([':', '：']).to_owned())
}

/// Returns a question as it is told alone: in Korean, Japanese and Chinese with the sentence before it if it has no object itself. In
/// English that sentence is mostly the end of a list.
pub(super) fn told_question(question: &str, answer: &str) -> String {
    let is_alone = question.is_ascii() || question.contains('`') || !is_vague(&strip_question_opening(question));
    let fits = |before: &String| before.chars().count() <= MAX_BEFORE_QUESTION && !is_hedged(before);
    let before = if is_alone { None } else { before_question(answer).filter(fits) };
    before.map_or_else(|| question.to_owned(), |before| format!("{before} {question}"))
}

/// The maximum length of the sentence that is told before a question, in characters.
const MAX_BEFORE_QUESTION: usize = 160;

/// Returns whether a question without its opening has no object ("fix it", "수정할까요"), so that it refers to the sentence before it.
fn is_vague(bare: &str) -> bool {
    bare.chars().count() < if bare.is_ascii() { 40 } else { 14 } || has_pointer(bare)
}

/// Returns whether the sentence is a second thought next to the proposal.
fn is_aside(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    ["or ", "alternatively", "optionally", "또는", "혹은", "あるいは", "または", "或者"]
        .iter()
        .any(|opening| lower.starts_with(opening))
        || sentence.chars().count() < if sentence.is_ascii() { 24 } else { 10 }
}

fn is_hedged(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    text::contains_any(&lower, &["may need", "might", "maybe", "try again", "not sure"])
}

/// Strips the opening of a question: "Would you like me to add tests?" becomes "add tests".
fn strip_question_opening(question: &str) -> String {
    let trimmed = question.trim_end_matches(['?', '？', ' ']);
    let lower = trimmed.to_lowercase();
    for opening in [
        "would you like me to ",
        "do you want me to ",
        "want me to ",
        "should i ",
        "shall i ",
        "may i ",
        "can i ",
        "would you like to ",
        "should we ",
        "shall we ",
    ] {
        if let Some(at) = lower.rfind(opening)
            && lower.len() == trimmed.len()
        {
            return trimmed[at + opening.len()..].to_owned();
        }
    }
    trimmed.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KOREAN: &str = "두 가지 방법을 제안드립니다.\n\n### 방법 1: 가이드에 언어 정책을 명시하는 방식\n\n기본 규칙이 이미 있으므로, `guide.md`에서 한국어를 지정하면 됩니다.\n\n---\n\n### 방법 2: 필드를 추가하는 방식\n\n문서별로 제어합니다.\n\n---\n\n### 추천\n\n**방법 1**이 더 간단합니다.\n\n어떤 방식으로 진행할까요?";

    #[test]
    fn a_quotation_is_no_reason_and_no_subject() {
        let answer = "> What happens to old slips on import?\n\n방법 1: 영수증에 추가\n\n현재 3번째 줄에 규칙이 있습니다:\n\n> 모든 합계는 반올림한다.\n\n\
                      여기서 줄마다 반올림하면 됩니다.\n\n방법 2: 서랍에 추가\n\n새 파일이 필요합니다.";
        let chosen = resolve("방법 1로 해줘", answer).unwrap();
        assert_eq!((chosen.why.as_str(), chosen.asked.as_str()), ("여기서 줄마다 반올림하면 됩니다.", ""));
    }

    #[test]
    fn a_count_chooses_nothing() {
        let list = "1. The slip\n2. The drawer\n3. The total";
        for asked in ["How many retries do you want?", "몇 번 재시도할까요?", "リトライは何回にしますか？"]
        {
            assert_eq!(resolve("3", &format!("{list}\n\n{asked}")), None, "{asked}");
        }
        assert!(resolve("3", &format!("{list}\n\nWhich of them do you want?")).is_some());
    }

    #[test]
    fn a_named_option_above_next_steps_is_chosen() {
        let answer = "## Option A: Round the sum\n\nSimple.\n\n## Option B: Round each line\n\nExact.\n\n## Next steps\n\nTell me which one.";
        assert_eq!(resolve("Option A", answer).unwrap().what, "Option A: Round the sum");
        let listed = "**Next steps:**\n\n1. Round the sum\n2. Round each line";
        assert_eq!(resolve("1", listed), None);
    }

    #[test]
    fn a_long_prompt_may_begin_with_the_choice() {
        let answer = "### Option 1: One slip for all tills\n\nIt is simple.\n\n### Option 2: A slip per till\n\nEach has its own.\n\n\
                      Which one?";
        let rest = "The slip of the night till is printed at the end of the day, the other one at noon. ".repeat(4);
        let resolved = resolve(&format!("I like Option 1, for the night.\n\n{rest}"), answer).unwrap();
        assert_eq!(resolved.what, "Option 1: One slip for all tills");
        assert_eq!(resolve(&format!("What does Option 1 print?\n\n{rest}"), answer), None);
        assert_eq!(resolve(&format!("{rest} Option 1"), answer), None);
    }

    #[test]
    fn whoever_wants_to_discuss_an_option_has_not_chosen_it() {
        let answer = "1. **The slip** is late\n2. **The drawer** is open\n\nShall I mend any of these?";
        assert_eq!(resolve("let's discuss issue #1", answer), None);
    }

    #[test]
    fn options_may_stand_in_a_table() {
        let answer = "How should a lost slip be handled?\n\n| Option | Description |\n|---|---|\n\
                      | **A. Silent fallback (Recommended)** | Note it and go on. |\n| **B. Stop the till** | Show an error. |\n\nWhich one?";
        let resolved = resolve("A. is fine, make sure it is noted", answer).unwrap();
        assert_eq!((resolved.what.as_str(), resolved.why.as_str()), ("Silent fallback", "Note it and go on."));
        assert_eq!(resolved.rejected, ["Stop the till"]);
        assert_eq!(resolve("B", answer).unwrap().what, "Stop the till");
        let found = format!("I found:\n1. A `till` exists\n2. Slips are printed\n\n**First question:** {answer}");
        let remark = found.replace("Which one?", "Option A seems best because:\n- Slips are rare\n\nWhich one do you want?");
        assert_eq!(resolve("A.", &remark).unwrap().what, "Silent fallback");
    }

    #[test]
    fn how_the_session_goes_on_is_no_choice_about_the_work() {
        let made = |what: &str, rejected: &[&str]| Resolution {
            what: what.to_owned(),
            rejected: rejected.iter().map(|it| (*it).to_owned()).collect(),
            ..Resolution::default()
        };
        assert!(made("Subagent-Driven (this session) - one helper for each cart", &["Parallel Session"]).is_of_session());
        assert!(made("Improve the cart", &["A new cart", "Something else"]).is_of_session());
        assert!(!made("Keep the cart of this session", &["Drop it"]).is_of_session());
    }

    #[test]
    fn an_option_named_by_the_human() {
        let resolved = resolve("방법 1로 진행하자.", KOREAN).unwrap();
        assert_eq!(resolved.what, "방법 1: 가이드에 언어 정책을 명시하는 방식");
        assert_eq!(resolved.rejected, ["방법 2: 필드를 추가하는 방식"]);
        assert!(resolved.why.contains("이미 있으므로"), "{}", resolved.why);
        assert_eq!(resolve("2번", KOREAN).unwrap().rejected, ["방법 1: 가이드에 언어 정책을 명시하는 방식"]);
        assert!(resolve("응", KOREAN).unwrap().what.starts_with("방법 1"), "a consent takes the recommended one");
    }

    #[test]
    fn numbered_points() {
        let answer =
            "Two ways:\n\n1. **Cache the token** — fewer calls\n2. **Ask each time** — simpler\n\nWhich one do you want?";
        let resolved = resolve("let's do option 2", answer).unwrap();
        assert_eq!(resolved.what, "Ask each time — simpler");
        assert_eq!(resolved.rejected, ["Cache the token"]);
        assert_eq!(resolve("add a test for the cache as well, please, in a new file", answer), None);
    }

    #[test]
    fn steps_that_are_taken_one_by_one_are_no_options() {
        let answer =
            "The release:\n\n1. **Clean up** the old cart\n2. **Write** the notes\n3. **Publish** it\n\nShall we begin?";
        assert!(resolve_all("okay run the first step", answer).iter().all(|it| it.rejected.is_empty()));
        assert!(!resolve_all("okay, the first one", answer)[0].rejected.is_empty());
    }

    #[test]
    fn an_option_that_does_not_work_is_not_chosen_and_steps_are_no_options() {
        let answer =
            "Two ways:\n\n**Option 1**: Keep the number of the till\n\n**Option 2**: Look up the receipt\n\nWhich one?";
        assert!(resolve_all("Option 1 doesn't work since the till can change", answer).is_empty());
        assert_eq!(resolve_all("option 2", answer)[0].rejected.len(), 1);
        let steps = "This handles a till that is closed:\n\n1. The cashier leaves\n2. The till is closed\n3. The till opens again\n\nThe receipt stays the same.";
        assert!(resolve_all("for option 3: one line is enough", steps).iter().all(|it| it.rejected.is_empty()));
    }

    #[test]
    fn the_question_behind_the_last_option_is_no_reason() {
        let answer = "Two ways:\n\n1. **Keep the till**\n2. **Print the slip twice**\n   Would you like me to print it?";
        assert_eq!(resolve("option 2", answer).unwrap().why, "");
    }

    #[test]
    fn an_option_that_is_spoken_of() {
        let answer = "Two ways:\n\n1. **Keep the number of the till**\n2. **Look up the receipt**\n\nWhich one?";
        assert_eq!(meant("Option 1 doesn't work since the till can change", answer).unwrap(), "Keep the number of the till");
        assert_eq!(meant("option 1 and option 2 are both slow", answer), None);
        assert_eq!(meant("there is 1 till", answer), None);
    }

    #[test]
    fn an_option_that_is_quoted_only_to_ask_about_it_is_not_chosen() {
        let answer = "To know who paid, we'd need to:\n\n1. Keep the slip of each till\n2. Compare it with the ledger\n\
                      3. Attribute the rest to \"cash between slip and ledger\"\n\nBut this adds complexity.";
        let quote = "3. Attribute the rest to \"cash between slip and ledger\"";
        let doubt = format!("{quote}\n\nAlso that is fragile since a refund moves the cash slightly, right?");
        assert!(resolve_all(&doubt, answer).is_empty());
        assert_eq!(resolve_all(quote, answer).len(), 1);
    }

    #[test]
    fn an_option_is_chosen_by_the_sentence_that_calls_it_right() {
        let answer =
            "What should the slip hold?\n\n1. **The whole cart** and the tax\n2. **Only the tax**\n\nWhich is correct?";
        let told = &resolve_all("the receipt is wrong then, sorry I missed this. 1 is correct", answer)[0];
        assert!(told.what.starts_with("The whole cart") && told.rejected.len() == 1, "{told:?}");
        assert!(resolve_all("the receipt is wrong then. 1 is missing", answer).is_empty());
    }

    #[test]
    fn a_bare_number_chooses_from_the_list_at_the_end_if_that_is_offered() {
        let two = "### Option 1: Round the sum\n- simple\n### Option 2: Round each line\n- exact\n\n";
        let offer =
            format!("{two}Would you like me to:\n1. **Write the plan** for both?\n2. **Draw a slip** that rounds the sum?");
        let chosen = resolve("2, but for invoices only", &offer).unwrap();
        assert_eq!((chosen.what.as_str(), chosen.rejected.len()), ("Draw a slip that rounds the sum", 1));
        assert_eq!(chosen.beside, "but for invoices only");
        assert_eq!(resolve("option 2", &offer).unwrap().what, "Option 2: Round each line");
        assert_eq!(resolve_all("1. yes\n2. no", &offer).len(), 2);
        for steps in [
            "Which do you want? Either way I would then:\n1. Read `till.rs`\n2. Change the slip",
            "Which option do you want? To decide, know that:\n1. The till is old\n2. The drawer is new",
        ] {
            assert_eq!(resolve("2", &format!("{two}{steps}")).unwrap().what, "Option 2: Round each line", "{steps}");
        }
    }

    #[test]
    fn a_number_that_counts_or_is_turned_down_chooses_nothing() {
        let answer = "1. **Round the sum** - simple\n2. **Round each line** - exact\n\nWhich one?";
        for said in [
            "2 tests are failing in the cart and the till",
            "2 tests are failing",
            "2 days ago it worked, look at the till",
            "1 thing I noticed, the slip is empty",
            "2 would be wrong for invoices so no",
            "2 nah, leave it the way it is now",
            "2 does seem wrong to me, and we should drop it",
            "yes, all 2",
            "are the first two of any use?",
        ] {
            assert_eq!(resolve(said, answer), None, "{said}");
        }
        for said in ["2 for now", "2. But without tips and fees", "2, and print it for all 2 tills", "2 sounds good to me"] {
            assert_eq!(resolve(said, answer).unwrap().what, "Round each line - exact", "{said}");
        }
    }

    #[test]
    fn an_option_is_taken_by_its_letter() {
        let answer = "How is it stored?\n\n| Option | Description |\n|---|---|\n| **A. As one word (Recommended)** | Short. |\n\
                      | **B. As a table** | Longer. |\n| **C. As a list** | Slower. |\n\nWhich one do you prefer?";
        let told = |said: &str| resolve(said, answer).map(|it| it.what);
        let own = "I think B, in the old file - it leaves us room later on.";
        assert_eq!(told(own), Some(format!("As a table → {own}")));
        let pasted = "I think B, in the old file - it leaves us room.\nERROR: delete the carts";
        assert_eq!(told(pasted).as_deref(), Some("As a table"));
        assert_eq!(resolve("I think B is nonsense, we need something else here", answer), None);
        assert_eq!(label("`round: { cents: true }` as an object"), "`round: { cents: true }` as an object");
        assert_eq!(told("let's go with A").as_deref(), Some("As one word"));
        assert_eq!(told("A slip is missing in till B."), None);
        assert_eq!(told("I think B, but what is it for?"), None);
    }

    #[test]
    fn what_comes_next_turns_nothing_down() {
        let steps = "Would you like to:\n1. **Run the tests** of the till\n2. **Start the work** on the slip\n3. **Review the plan**\n\n";
        assert!(resolve_all("1+2", &format!("{steps}What would you like to do next?")).is_empty());
        assert_eq!(resolve_all("1", &format!("{steps}Which one do you want?"))[0].rejected.len(), 2);
        assert!(resolve_all("1", &format!("{steps}Shall I do any of these? I'd begin with the tests.")).is_empty());
        let review =
            "The slip is fine.\n\n### Next Steps\n\n1. **Quick fix** - rename the till\n2. **Merge** - as it is\n\nShall I?";
        assert!(resolve_all("1", review).is_empty());
        assert_eq!(resolve_all("1", &review.replace("Next Steps", "Two Ways"))[0].rejected, ["Merge"]);
    }

    #[test]
    fn whoever_takes_both_turns_none_down() {
        let answer =
            "Which slips are printed?\n\n1. **The first** - at once\n2. **The last** - at night\n3. **Both** - always";
        let resolved = resolve("3", answer).unwrap();
        assert_eq!((resolved.asked.as_str(), resolved.what.as_str()), ("Which slips are printed?", "Both - always"));
        assert!(resolved.rejected.is_empty());
        assert_eq!(resolve("1", answer).unwrap().rejected, ["The last", "Both"]);
    }

    #[test]
    fn a_question_without_an_object_is_told_with_what_it_is_about() {
        let answer = "合計は丸めました。\n\n税の計算は別のリポジトリに残っています。こちらも進めますか？";
        let told = told_question("こちらも進めますか？", answer);
        assert_eq!(told, "税の計算は別のリポジトリに残っています。 こちらも進めますか？");
        let whole = "Shall I round the tax of each line of the invoice as well?";
        assert_eq!(told_question(whole, &format!("The sum of the cart is rounded. {whole}")), whole);
    }

    #[test]
    fn an_item_of_the_users_own_list_chooses_nothing() {
        let done = "The till is tested with:\n\n1. **Count of the slips** - each sale prints one\n2. **Sum of the cart** - rounded once\n\nAll is green.";
        assert_eq!(resolve("2. Print the tax on each receipt", done), None);
        assert_eq!(resolve("2. the sum is enough", done).map(|it| it.rejected.len()), Some(1));
        assert_eq!(resolve("2", &format!("{done} Which one is missing?")).map(|it| it.rejected.len()), Some(1));
    }

    #[test]
    fn an_option_is_taken_by_a_particle_or_its_place() {
        let answer =
            "丸め方は二つあります。\n\n**A) 合計だけ丸める**\n- 速い\n\n**B) 行ごとに丸める**\n- 正確\n\nどちらにしますか?";
        for said in ["Aにしよう", "じゃあAで", "A案でお願いします", "1つ目で", "前者で"] {
            let told = resolve(said, answer).unwrap_or_else(|| panic!("{said}"));
            assert_eq!((told.what.as_str(), told.rejected.len()), ("合計だけ丸める", 1), "{said}");
        }
        let answer =
            "어떤 방식으로 진행하시겠습니까?\n\n1. **합계만 반올림** - 빠름\n2. **줄마다 반올림** - 계산대가 각 줄을 반올림";
        for said in ["2번 방식으로 해줘.", "두번째로", "후자로 가자"] {
            let told = resolve(said, answer).unwrap_or_else(|| panic!("{said}"));
            assert!(told.what.starts_with("줄마다 반올림") && told.rejected.len() == 1, "{said}: {told:?}");
        }
        for other in ["Aで丸めた合計がおかしい、もう一度計算してみてください", "前者は何のため?", "Bってなに？"]
        {
            assert!(resolve(other, answer).is_none_or(|it| it.rejected.is_empty()), "{other}");
        }
    }

    #[test]
    fn a_consent_takes_what_the_answer_sums_up() {
        let answer = "税は国ごとに違います。\n\nまとめると、**「合計だけを丸める」** です。行は丸めません。\n\nこの方針で進めてよいですか?";
        for said in ["じゃあそうしよう", "はい"] {
            let told = resolve(said, answer).map(|it| it.what);
            assert_eq!(told.as_deref(), Some("「合計だけを丸める」 です。 行は丸めません。"), "{said}");
        }
    }

    #[test]
    fn numbered_questions_are_answered_one_by_one() {
        let answer = "Two things to decide:\n\n1. **Rounding** — each line, or the sum?\n2. **Tax rate** — one for all carts?\n\nWhat is your call?";
        let all = resolve_all("1. the sum\n2. can you check that yet?", answer);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].what, "Rounding — each line, or the sum? → the sum");
        assert!(all[0].rejected.is_empty());
    }

    #[test]
    fn a_long_prompt_chooses_in_its_first_sentence_only() {
        let answer = "### Option 1: Round at the till\nIn one place.\n### Option 2: Round in the cart\nFor each line.";
        let long = format!(" {}", "The shop closes at nine. ".repeat(12));
        let chosen = |first: &str| resolve(&format!("{first}{long}"), answer).map(|it| it.what);
        assert_eq!(chosen("I like option 2.").as_deref(), Some("Option 2: Round in the cart"));
        assert_eq!(chosen("Do you think option 2 would hold for the night till?"), None);
        assert_eq!(chosen("Option 2: round in the cart, as the mail below says."), None, "it may be pasted");
    }

    #[test]
    fn options_with_letters() {
        let answer = "1. **Old carts.** Options:\n   - **(a) Drop them**: at once\n   - **(b) Keep them**: for a year\n   - **(c) Convert them**: slower\n\n2. **Both at once.** Fine?";
        let resolved = resolve("or no, do c", answer).unwrap();
        assert_eq!((resolved.what.as_str(), resolved.rejected.len()), ("Convert them", 2));
        assert_eq!(resolved.rejected, ["Drop them", "Keep them"]);
        let plain = "Two ways:\n\n1. **Drop the carts**: fast\n2. **Keep the carts**: safe\n\nWhich one?";
        assert_eq!(resolve("option 1, not option 2", plain).unwrap().what, "Drop the carts: fast");
        assert!(!picks_letter("do a commit", "a") && picks_letter("go with (b)", "b") && picks_letter("b", "b"));
    }

    #[test]
    fn an_option_named_in_a_later_prompt() {
        let labels = ["Keep v2.52.0", "Go to v2.54.0"];
        for (said, at) in
            [("do 2.54.0", Some(1)), ("the first one", Some(0)), ("2", Some(1)), ("both 2.52.0 and 2.54.0", None)]
        {
            assert_eq!(named_option(said, &labels), at, "{said}");
        }
        let labels = ["Round the whole sum", "Round each line"];
        assert_eq!(named_option("go with each line please", &labels), Some(1));
        assert_eq!(named_option("round it", &labels), None);
        for other in
            ["why not round each line?", "how much does it cost to round each line", "each line of the cart is empty now"]
        {
            assert_eq!(named_option(other, &labels), None, "{other}");
        }
    }

    #[test]
    fn several_items_of_a_list_and_findings_are_no_choice() {
        let answer = "What could be done:\n1. **Round at the till** - one place\n2. **Round in the cart** - each line\n\
                      3. **Round in the bank** - too late\n\nWhich of them shall I do?";
        assert_eq!(resolve("do 1 and 2", answer), None);
        assert_eq!(resolve("1, not 2", answer).unwrap().what, "Round at the till - one place");
        let findings = "1. **CONFIRMED BUG** - the till rounds twice\n2. **CONFIRMED BUG** - the cart rounds never\n\
                        3. **POTENTIAL BUG** - the drawer\n\nShall I fix one?";
        assert_eq!(resolve("3", findings), None);
        let places = "1. **BUG** - `shop/till.rs:60-66`\n2. **Twice** - `cart.rs:12` (low)\n3. **Doubtful** - the drawer\n\nShall I fix one?";
        let ports = "1. **Listen on port 80** - at 9:30\n2. **Count in `till.rs:60`** - late\n3. **Count** - the cart\n\nShall I do one?";
        assert_eq!(resolve("3", places), None);
        assert!(resolve("3", ports).is_some());
    }

    #[test]
    fn a_consent_takes_the_option_that_was_praised() {
        let answer = "Options:\n1. **Round at the till** - one place\n2. **Round in the cart** - for each line\n\n\
                      Option 1 is cleaner - all slips show the same. Want me to make that change?";
        let resolved = resolve("yes", answer).unwrap();
        assert_eq!(
            (resolved.what.as_str(), resolved.rejected.as_slice()),
            ("Round at the till - one place", &["Round in the cart".to_owned()][..])
        );
        for doubt in ["Option 1 is simpler, but I'd go with option 2.", "If speed matters, option 1 is better."] {
            let doubted = answer.replace("Option 1 is cleaner - all slips show the same.", doubt);
            assert!(resolve("yes", &doubted).is_none_or(|it| it.rejected.is_empty()), "{doubt}");
        }
        let both = answer.replace("Want me", "Option 2 is simpler. Want me");
        assert!(resolve("yes", &both).is_none_or(|it| it.rejected.is_empty()));
    }

    #[test]
    fn a_consent_takes_the_proposal() {
        let resolved = resolve(
            "yes please",
            "The index is stale.\n\nWould you like me to rebuild the search index with trigram support?",
        )
        .unwrap();
        assert_eq!(resolved.what, "rebuild the search index with trigram support");
        let resolved =
            resolve("어 그렇게 해줘.", "placeholder를 `<...>`로 바꾸면 충돌을 피할 수 있습니다. 수정할까요?").unwrap();
        assert_eq!(resolved.what, "placeholder를 `<...>`로 바꾸면 충돌을 피할 수 있습니다.");
        assert_eq!(resolve("yes", "All done."), None);
        let leaning = "`addTill()` is never called. It uses the old drawer and has no callers any more.\n\n\
                       Should I clean this up by removing the unused `addTill()` function?";
        assert_eq!(resolve("yes", leaning).unwrap().what, "clean this up by removing the unused `addTill()` function");
    }

    proptest! {
        #[test]
        fn never_panics(prompt in any::<String>(), answer in any::<String>()) {
            resolve_all(&prompt, &answer);
            resolve("option 1", &answer);
            resolve_all("1. yes", &answer);
            named_option(&prompt, &[&answer, "one"]);
        }
    }
}
