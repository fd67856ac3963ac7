//! All that a prompt says, on one line: a short one whole, and of a longer one what asks, forbids or decides.

use super::antecedent::without_log;
use super::consent::is_greeting;
use super::demand::{decides, is_demand, is_order};
use super::parts::Parts;
use super::pasted::{is_banner, is_paste, looks_pasted, strip_mentions};
use super::plan::plan;
use super::quoted::{quoted_first, with_quotation};
use super::request::{is_marked, is_slash_command, is_titled, without_marks};
use super::rule::is_rule;
use super::shown::without_shown;
use super::terminal::without_terminal;
use super::wrapped::unwrapped;
use crate::text;

/// The length up to which a prompt is told whole, in characters, and that of what is told of a longer one.
pub(in crate::extract) const MAX_WHOLE_CHARS: usize = 700;
/// The same for a prompt with parts: there are more things to tell.
const MAX_PARTS_CHARS: usize = 900;
/// The same for a prompt that nobody answered: no answer tells what it asks for.
pub(in crate::extract) const MAX_UNANSWERED_CHARS: usize = 1_200;
/// The length from which a prompt is a document, in characters.
const MIN_DOCUMENT_CHARS: usize = 2_500;

/// The length from which the opening of a prompt says what it is about, in characters.
const MIN_OPENING_CHARS: usize = 90;

/// What ends a sentence or leads to the next, so that no mark is needed behind it.
const ENDS: [char; 12] = ['.', '!', '?', ':', ';', ',', '…', '。', '！', '？', '：', '、'];
const QUOTES: [char; 4] = ['"', '”', '`', '」'];

/// Returns what a prompt says, on one line of at most `max` characters, without greetings and standing rules. None if it is a document, or
/// if text is pasted in it.
pub(in crate::extract) fn whole_request(prompt: &str, max: usize) -> Option<String> {
    if let Some((quote, own)) = quoted_first(prompt) {
        return whole_request(own, max).map(|said| with_quotation(&said, quote, max));
    }
    let prompt = unwrapped(&without_shown(&without_marks(prompt)));
    if is_slash_command(&prompt) || plan(&prompt).is_some() || is_titled(&prompt) {
        return None;
    }
    if let Some(parts) = Parts::in_prompt(&prompt) {
        return Some(parts.told(max.max(MAX_PARTS_CHARS))).filter(|said| !said.is_empty());
    }
    let is_document = prompt.chars().count() >= MIN_DOCUMENT_CHARS;
    if is_document || prompt.contains("```") || is_paste(&prompt) {
        return None;
    }
    if without_terminal(&prompt).is_some() || without_log(&prompt).is_some() {
        return None;
    }
    let parts = parts(&prompt)?;
    let every: Vec<usize> = (0..parts.len()).collect();
    let whole = joined(&parts, &every);
    let said = if whole.chars().count() <= max { whole } else { joined(&parts, &telling(&parts, max)) };
    let said = said.trim_end_matches([':', '：', ' ']);
    (!said.is_empty() && said.chars().count() <= max).then(|| said.to_owned())
}

/// A sentence of a prompt, or a part of one that somebody who types fast ends with two full stops.
struct Part {
    said: String,
    /// What stands between the part before and this one.
    glue: &'static str,
    is_item: bool,
}

/// Returns the parts of a prompt. None if a line is not the user's.
fn parts(prompt: &str) -> Option<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut was_item, mut is_paragraph) = (false, false);
    // What somebody else wrote is quoted.
    for line in prompt.lines().filter(|line| !line.trim_start().starts_with('>')) {
        if line.trim().is_empty() {
            is_paragraph = true;
            continue;
        }
        let is_item = is_list_item(line);
        if (!is_item && is_marked(line)) || is_drawn(line) {
            return None;
        }
        let line = line.trim_end_matches(['\\', ' ']);
        let sentences: Vec<String> = text::sentences(line).iter().map(|sentence| strip_mentions(sentence)).collect();
        for (at, sentence) in sentences.iter().enumerate() {
            let clauses = clauses(sentence);
            if clauses.iter().any(|said| looks_pasted(said)) || is_banner(sentence) || sentence.ends_with(['{', ';', '}']) {
                return None;
            }
            if is_greeting(sentence) || (is_rule(sentence) && !parts.is_empty()) {
                continue;
            }
            // The items of a list are told apart, and so are paragraphs, and orders on lines of their own.
            let ends_open = parts.last().is_some_and(|part| !part.said.trim_end_matches(QUOTES).ends_with(ENDS));
            let is_order = sentence.starts_with(char::is_uppercase) && is_demand(sentence);
            let is_apart = at == 0 && (is_item || was_item || is_paragraph || is_order) && ends_open;
            let mut glue = if is_apart { "; " } else { " " };
            for said in clauses {
                parts.push(Part { said: said.to_owned(), glue, is_item });
                glue = "";
            }
        }
        (was_item, is_paragraph) = (is_item, false);
    }
    Some(parts)
}

/// Splits a sentence behind each ".." of somebody who types fast, who ends all sentences in that way.
fn clauses(sentence: &str) -> Vec<&str> {
    let mut clauses = Vec::new();
    let mut start = 0;
    for (at, dots) in sentence.match_indices("..") {
        let end = at + dots.len();
        if at > start && sentence[end..].starts_with(|c: char| c.is_alphabetic() || c == ' ') {
            clauses.push(&sentence[start..end]);
            start = end;
        }
    }
    clauses.push(&sentence[start..]);
    clauses
}

/// Returns the places of the parts that are told of a prompt of more than `max` characters: its opening, the last part that says what is
/// wanted, and as many of the others as fit, in their order.
fn telling(parts: &[Part], max: usize) -> Vec<usize> {
    let mut told = vec![0];
    while told.len() < parts.len() && text::width(&joined(parts, &told)) < MIN_OPENING_CHARS {
        told.push(told.len());
    }
    // What a colon leads to, and the other items of a list, belong to what leads to them.
    let mut wanted: Vec<usize> = Vec::new();
    let mut led: Vec<usize> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let before = at.checked_sub(1).filter(|before| wanted.contains(before)).map(|before| (before, &parts[before]));
        let is_led = before.is_some_and(|(place, before)| {
            before.said.ends_with([':', '：']) || (part.is_item && before.is_item && led.contains(&place))
        });
        if is_led {
            led.push(at);
        }
        if is_led || says_wish(&part.said) {
            wanted.push(at);
        }
    }
    let weighs = |at: &usize| decides(&parts[*at].said);
    let asks = |at: &usize| led.contains(at) || is_demand(&parts[*at].said);
    let of = |holds: &dyn Fn(&usize) -> bool| wanted.iter().copied().filter(|at| holds(at)).collect::<Vec<_>>();
    for at in wanted.last().copied().into_iter().chain(of(&weighs)).chain(of(&asks)).chain(wanted.iter().copied()) {
        if told.contains(&at) {
            continue;
        }
        told.push(at);
        told.sort_unstable();
        if joined(parts, &told).chars().count() > max {
            told.retain(|it| *it != at);
        }
    }
    told
}

/// Returns whether a line shows what a program draws on a terminal: a frame, a mark of success, or a command behind the mark of a shell.
fn is_drawn(line: &str) -> bool {
    let is_command = |(_, rest): (&str, &str)| rest.trim_start().starts_with(char::is_lowercase);
    line.contains(['│', '✓']) || line.split_once('❯').is_some_and(is_command)
}

/// Returns whether a sentence asks for something, forbids it, or says how it is to be.
fn says_wish(sentence: &str) -> bool {
    const WORDS: [&str; 10] =
        ["must", "should", "need to", "needs to", "i want", "we want", "i wish", "i'd like", "goal", "make sure"];
    let lower = sentence.to_lowercase().replace('’', "'");
    is_order(sentence) || is_demand(sentence) || decides(sentence) || text::contains_any_words(&lower, &WORDS)
}

/// Returns the parts at these places on one line, with a mark where some are left out.
fn joined(parts: &[Part], places: &[usize]) -> String {
    let mut said = String::new();
    for (place, &at) in places.iter().enumerate() {
        let follows = place.checked_sub(1).is_none_or(|before| places[before] + 1 == at);
        if !said.is_empty() {
            said.push_str(if follows { parts[at].glue } else { " … " });
        }
        said.push_str(if follows { &parts[at].said } else { parts[at].said.trim_start() });
    }
    said
}

/// Returns whether a line is an item of a list: "- fold the slip", "2. fold it".
fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < line.len() && rest.starts_with(['.', ')', ':']);
    is_numbered || ["- ", "* ", "• "].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(prompt: &str) -> Option<String> {
        whole_request(prompt, MAX_WHOLE_CHARS)
    }

    #[test]
    fn what_explains_a_request_is_told_with_it() {
        let said = "Move the slips of the night till to a folder. I think they should be text files, too.";
        assert_eq!(whole(said).as_deref(), Some(said));
        assert_eq!(
            whole("Fold the slip of the till.\n\nNever print it twice.").as_deref(),
            Some("Fold the slip of the till.")
        );
    }

    #[test]
    fn a_request_may_begin_with_the_mention_of_a_file() {
        let said = "@till/drawer/icon.png should be as flat as the drawing. Right now it is round.";
        assert_eq!(whole(said).as_deref(), Some(&said[1..]));
        assert_eq!(whole("paint it\n@Component({\n@@ -1,2 +1,2 @@"), None);
    }

    #[test]
    fn the_steps_of_a_list_are_told_apart() {
        let said = "Go through the faults of the till:\n\n- pick a fault\n- mend it on a branch\n- if the bell rings, stop\n\nThen close it.";
        let told =
            "Go through the faults of the till: pick a fault; mend it on a branch; if the bell rings, stop; Then close it.";
        assert_eq!(whole(said).as_deref(), Some(told));
        assert_eq!(whole("1. fold the slip\n2. ring the bell").as_deref(), Some("1) fold the slip; 2) ring the bell"));
        let typed = "Fold the slip of the\ntill\nRemove the bell\n\nthe drawer sticks";
        assert_eq!(whole(typed).as_deref(), Some("Fold the slip of the till; Remove the bell; the drawer sticks"));
    }

    #[test]
    fn of_a_longer_prompt_what_is_wanted_is_told() {
        let opening = "The till is old and its drawer was hard to open for as long as anybody in the shop can remember it";
        let filler = "The till of the shop has been there for years and everybody likes how it rings. ".repeat(7);
        let said = format!("{opening}. {filler}Rename the drawer. {filler}Do not touch the bell. {filler}Then close it.");
        let told = format!("{opening}. … Rename the drawer. … Do not touch the bell. … Then close it.");
        assert_eq!(whole(&said), Some(told.clone()));
        let typed = said.to_lowercase().replace(". ", "..");
        assert_eq!(whole(&typed), Some(told.to_lowercase().replace(". …", ".. …")));
    }

    #[test]
    fn what_others_wrote_is_left_out() {
        let said = "Can you check the till?\nWe got a complaint:\n\n> Dear shop,\n> your till is open.";
        assert_eq!(whole(said).as_deref(), Some("Can you check the till? We got a complaint"));
        assert_eq!(whole("why does this happen: ❯ till open\nno drawer │ no slip"), None);
    }

    #[test]
    fn a_long_prompt_or_one_with_the_words_of_a_program_is_not_told_whole() {
        assert_eq!(whole(&"Fold the slip of the till. ".repeat(100)), None);
        assert_eq!(whole("The till fails:\n\n```\nerror: no drawer\n```"), None);
        assert_eq!(whole("The till fails, look into it please:\n\n+ let total = 1;\n@@ -1,2 +1,2 @@"), None);
        assert_eq!(whole("/review the till"), None);
    }
}
