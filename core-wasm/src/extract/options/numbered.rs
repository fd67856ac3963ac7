//! Prompts that answer several numbered questions, one by one.

use super::listed::{ProposedOption, label, numbered_options, parse_numbered_option};
use super::resolution::Resolution;
use crate::text;

/// The maximum length of a prompt that answers several questions by their numbers, in characters.
pub(super) const MAX_REPLIES_CHARS: usize = 700;

/// The maximum number of such answers that are taken, and their maximum length in characters.
const MAX_REPLIES: usize = 4;
pub(super) const MAX_REPLY_CHARS: usize = 160;

/// The length up to which such an answer is told with the whole question, and the maximum length of that question, in characters.
const MAX_BARE_REPLY_CHARS: usize = 30;
const MAX_ASKED_CHARS: usize = 140;

/// Returns the answers of a prompt to the numbered questions of an answer: "1. full".
pub(super) fn replies<'p>(prompt: &'p str, answer: &str) -> Vec<Resolution> {
    if prompt.chars().count() > MAX_REPLIES_CHARS {
        return Vec::new();
    }
    let asked = numbered_options(answer);
    let is_one = is_one_offer(&asked, answer);
    if !is_one && !asks_each(&asked, answer) {
        return Vec::new();
    }
    let pair = |line: &'p str| -> Option<(&ProposedOption, &'p str)> {
        let reply = parse_numbered_option(line.trim())?;
        let question = asked.iter().find(|option| option.id == reply.id)?;
        Some((question, line.trim()[reply.id.len() + 1..].trim()))
    };
    let pairs: Vec<(&ProposedOption, &str)> = items_in(prompt).into_iter().filter_map(pair).collect();
    if pairs.iter().any(|(question, said)| !answers(question, said)) {
        return Vec::new();
    }
    let reply = |(question, said): (&ProposedOption, &str)| -> Option<Resolution> {
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
    let replies: Vec<Resolution> = pairs.into_iter().filter_map(reply).take(MAX_REPLIES).collect();
    // Whoever answers two of them takes none of several ways.
    if is_one && replies.len() < 2 { Vec::new() } else { replies }
}

/// Returns whether what the user wrote behind a number answers the item of that number: the item asks, or the answer is short or repeats a
/// word of it. Anything else is an item of a list of the user's own, in which the number means something else.
fn answers(item: &ProposedOption, said: &str) -> bool {
    let asks = [&item.title, &item.body].iter().any(|text| text.contains(['?', '？']));
    let words = text::features(&format!("{} {}", item.title, item.body));
    let repeats = || text::features(said).iter().any(|word| words.contains(word));
    asks || said.chars().count() <= MAX_BARE_REPLY_CHARS || repeats()
}

/// Returns whether a prompt answers several questions by their numbers, each of them or some.
pub(super) fn answers_several(prompt: &str) -> bool {
    prompt.len() <= MAX_REPLIES_CHARS && items_in(prompt).into_iter().filter_map(parse_numbered_option).count() >= 2
}

/// Returns the lines of a prompt. A line that counts is taken apart: "1. the sum, 2. each line".
fn items_in(prompt: &str) -> Vec<&str> {
    let mut all = Vec::new();
    for line in prompt.lines() {
        let mut rest = line.trim();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut number = rest[..digits].parse::<u32>().ok().filter(|_| rest[digits..].starts_with(". "));
        while let Some(next) = number.and_then(|number| number.checked_add(1))
            && let Some(at) = rest.find(&format!(" {next}. "))
        {
            all.push(rest[..at].trim_end_matches([',', ';', ' ']));
            rest = &rest[at + 1..];
            number = Some(next);
        }
        all.push(rest);
    }
    all
}

/// Returns whether the line above the numbered items of an answer offers one of them: "Would you like me to: 1. round it? 2. leave it?"
pub(super) fn is_one_offer(items: &[ProposedOption], answer: &str) -> bool {
    const OFFERS: [&str; 6] = ["would you like", "do you want", "want me to", "should i", "shall i", "should we"];
    let Some(first) = items.first() else { return false };
    let lines: Vec<&str> = answer.lines().map(|line| line.trim().trim_matches('*')).collect();
    let place = lines.iter().rposition(|line| first.is_on(line)).unwrap_or_default();
    let lead = lines[..place].iter().rfind(|line| !line.is_empty()).map(|line| line.to_lowercase());
    lead.is_some_and(|lead| lead.ends_with(':') && OFFERS.iter().any(|offer| lead.starts_with(offer)))
}

/// Returns whether the numbered items of an answer are questions, of which each wants its own answer, and not options.
pub(super) fn asks_each(items: &[ProposedOption], answer: &str) -> bool {
    let asks = |item: &&ProposedOption| item.title.contains(['?', '？']) || item.body.contains(['?', '？']);
    let lower = answer.to_lowercase();
    let announces = text::contains_any_words(&lower, &["to decide", "to confirm", "decisions where", "open questions"]);
    items.len() >= 2 && !is_one_offer(items, answer) && (announces || items.iter().filter(asks).count() * 2 > items.len())
}
