//! What a prompt only shows between the user's words: data, a console's lines, and code under its comments.

use super::pasted::looks_pasted;
use super::terminal::speaks;
use crate::text::{self, Language};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The length from which a prompt with a title is a document, in bytes.
const MIN_DOCUMENT_BYTES: usize = 1_500;
/// How often a line is repeated that nobody typed.
const MIN_REPEATS: usize = 3;
/// The minimum length of a line of which repetitions count, in characters. Brackets and short words repeat in any text.
const MIN_REPEATED_CHARS: usize = 20;
/// How many words, or how many characters of another script, the user says beside what is shown.
const MIN_OWN_WORDS: usize = 4;
const MIN_OWN_CHARS: usize = 8;
/// The length from which a prompt may have a document behind what it says, in bytes, and how many sections that has at least.
const MIN_ATTACHED_BYTES: usize = 6_000;
const MIN_SECTIONS: usize = 2;
/// The length of what is told of its title, in characters.
const MAX_TITLE_CHARS: usize = 80;

/// Returns a prompt without what it only shows, unless hardly anything is left.
pub(super) fn without_shown(prompt: &str) -> Cow<'_, str> {
    if let Some(own) = before_document(prompt) {
        return Cow::Owned(own);
    }
    if is_document(prompt) || prompt.contains("```") {
        return Cow::Borrowed(prompt);
    }
    let typed = without_repeats(prompt);
    let all: Vec<&str> = typed.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()).collect();
    let own: Vec<&str> = all.iter().copied().filter(|paragraph| !is_shown(paragraph)).collect();
    // Among other output, the user's words cannot be told from it.
    let is_typed = own.len() < all.len() && own.iter().all(|paragraph| speaks(paragraph));
    let own = own.join("\n\n");
    if is_typed && says_enough(&own) { Cow::Owned(own) } else { typed }
}

/// Returns whether a prompt is a document: long, and with a title.
pub(super) fn is_document(prompt: &str) -> bool {
    prompt.len() > MIN_DOCUMENT_BYTES && prompt.trim_start().starts_with('#')
}

/// Returns what a prompt says before a long document that begins with its title, and that title. None if there is no such document, if it is
/// what the user asks for, or if somebody may have typed behind it.
fn before_document(prompt: &str) -> Option<String> {
    /// Words of a prompt that hands over what is to be done.
    const HANDS_OVER: [&str; 7] = ["implement", "this spec", "the spec", "this plan", "the plan", "this task", "brief"];
    if prompt.len() < MIN_ATTACHED_BYTES {
        return None;
    }
    let at = prompt.find("\n\n# ")?;
    let (own, document) = (prompt[..at].trim(), prompt[at..].trim_start());
    let is_own = own.len() < MIN_ATTACHED_BYTES / 4
        && !own.contains("```")
        && !own.ends_with([':', '：'])
        && own.lines().all(|line| !line.starts_with(['#', '>', '|']))
        && speaks(own)
        && says_enough(own)
        && !text::contains_any_words(&own.to_lowercase(), &HANDS_OVER);
    // The user's words may follow without a mark. An end in italics or in a list is the document's.
    let end = document.trim_end().lines().next_back()?.trim();
    let ends_typed = !end.starts_with(['*', '_', '-', '|', '>', '`', '#']) && !end.starts_with(|c: char| c.is_ascii_digit());
    let has_sections = document.lines().filter(|line| line.starts_with("## ")).count() >= MIN_SECTIONS;
    let title = document.lines().next()?.trim_start_matches(['#', ' ']).trim();
    let is_plain = |c: &char| !matches!(c, '"' | '“' | '”' | '→' | '`');
    let title: String = text::clip(title, MAX_TITLE_CHARS).chars().filter(is_plain).collect();
    (is_own && has_sections && !ends_typed && !title.is_empty()).then(|| format!("{own} (\"{title}\")"))
}

/// Returns a prompt without the lines that a console printed again and again, and without their mark before what was typed behind them:
/// "till:1 no paper" three times, then "till:1 and can you paint it?".
fn without_repeats(prompt: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = prompt.lines().map(str::trim).collect();
    // A pasted log may have thousands of lines.
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.chars().count() >= MIN_REPEATED_CHARS) {
        *times.entry(line).or_default() += 1;
    }
    let is_repeated = |line: &str| times.get(line).is_some_and(|times| *times >= MIN_REPEATS);
    let Some(repeated) = lines.iter().copied().find(|line| is_repeated(line)) else { return Cow::Borrowed(prompt) };
    let mark = repeated.split_once(' ').map(|(mark, _)| mark).filter(|mark| mark.contains(':')).unwrap_or("\n");
    let own =
        lines.iter().filter(|line| !is_repeated(line)).map(|line| line.strip_prefix(mark).unwrap_or(line).trim_start());
    let own = own.collect::<Vec<_>>().join("\n");
    if says_enough(&own) { Cow::Owned(own) } else { Cow::Borrowed(prompt) }
}

/// Returns whether somebody speaks in a text and says more than a word.
fn says_enough(said: &str) -> bool {
    let is_long = match text::language(said) {
        Language::English => said.split_whitespace().count() >= MIN_OWN_WORDS,
        _ => said.trim().chars().count() >= MIN_OWN_CHARS,
    };
    is_long && said.lines().any(speaks)
}

/// Returns whether a paragraph is data in braces, a program's list below its title in brackets, or code below its comments.
fn is_shown(paragraph: &str) -> bool {
    let lines: Vec<&str> = paragraph.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let Some((first, others)) = lines.split_first() else { return false };
    let is_field = |line: &&str| is_field(line);
    let is_data = lines.iter().any(is_field) && lines.iter().all(|line| is_field(line) || is_bracket(line));
    let is_title = first.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some_and(|title| title.contains(' '));
    let is_list = is_title && others.first().is_some_and(|line| line.starts_with("- "));
    let is_comment = |line: &&str| line.starts_with("# ") || line.starts_with("// ");
    let is_code = others.len() > 1 && is_comment(first) && lines.iter().any(|line| is_statement(line));
    is_data || is_list || (is_code && lines.iter().all(|line| is_comment(line) || is_statement(line)))
}

/// Returns whether a line is a field of JSON: `"till": 1,`.
fn is_field(line: &str) -> bool {
    let name = line.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    name.is_some_and(|(name, rest)| !name.contains(' ') && rest.trim_start().starts_with(':'))
}

/// Returns whether a line has nothing but the brackets of data, or one value in quotes.
fn is_bracket(line: &str) -> bool {
    let is_value = line.starts_with('"') && line.trim_end_matches(',').ends_with('"');
    is_value || line.chars().all(|c| matches!(c, '{' | '}' | '[' | ']' | ',' | ' '))
}

/// Returns whether a line is a statement of a program.
fn is_statement(line: &str) -> bool {
    line.contains(" = ") || line.ends_with([';', '{', '}', ')']) || looks_pasted(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_and_code_around_what_is_said_are_left_out() {
        let asked = "we get this when we open the till of the night";
        let data = "{\n    \"message\": \"no key for the till\",\n    \"tags\": [\n        \"night\"\n    ]\n}";
        assert_eq!(without_shown(&format!("{data}\n\n{asked}")), asked);
        assert_eq!(without_shown(&format!("{asked}\n\n{data}")), asked);
        let code = "# the key is only for the slip\n    # the drawer needs none\n    key = till.get(\"key\")";
        assert_eq!(without_shown(&format!("{code}\n\n{asked}")), asked);
        let list = "[Slips of this till]\n- slip.png\n    text: content=[{'till': 1}]";
        assert_eq!(without_shown(&format!("{list}\n\n{asked}")), asked);
    }

    #[test]
    fn what_a_console_repeats_is_left_out() {
        let line = "till:1 No paper in the drawer of the night.";
        let said = format!("i got this No paper.\n{line}\n{line}\n{line}\ntill:1  and can you paint the till?");
        assert_eq!(without_shown(&said), "i got this No paper.\nand can you paint the till?");
    }

    #[test]
    fn what_is_said_alone_stays() {
        for said in [
            "{\n  \"till\": 1\n}",
            "{\n  \"till\": 1\n}\n\nwhy?",
            "# The till\n\nPaint it green and ring the bell of the shop.",
            "Paint it.\n\n- the bell\n- the drawer",
            "[the till] is red\n\nPaint it green and ring the bell of the shop.",
        ] {
            assert_eq!(without_shown(said), said);
        }
    }

    #[test]
    fn what_stands_before_a_document_is_the_request() {
        let section = format!("## The drawer\n{}\n", "Never open the drawer at night. ".repeat(60));
        let said =
            "I got this review of the till. First turn each of its findings into an issue.\n\nAnd then mend all of them.";
        let document = format!("# The \"till\", reviewed\n**Date:** today\n{}*The end.*", section.repeat(4));
        assert_eq!(without_shown(&format!("{said}\n\n{document}")), format!("{said} (\"The till, reviewed\")"));
        for prompt in [
            document.clone(),
            format!("Implement this as it stands here:\n\n{document}"),
            format!("{said}\n\n{document}\n\nDo not touch the drawer."),
        ] {
            assert!(before_document(&prompt).is_none(), "{}", &prompt[..60]);
        }
    }
}
