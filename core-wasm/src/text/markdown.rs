//! Markdown without its marks.

use std::borrow::Cow;

use super::find::contains;
use super::line::one_line;

/// Strips heading, list, quote and emphasis marks from one line of Markdown.
pub(crate) fn plain(line: &str) -> String {
    let mut rest = line.trim();
    loop {
        let shorter = rest.trim_start_matches(['#', '>', '|', ' ', '\t']);
        // What is not done yet keeps its box.
        let shorter = ["- [x] ", "* [x] ", "- [X] ", "- ", "* ", "• ", "+ "]
            .iter()
            .find_map(|mark| shorter.strip_prefix(mark))
            .unwrap_or(shorter);
        if shorter.len() == rest.len() {
            break;
        }
        rest = shorter;
    }
    let unmarked = one_line(&strip_links(&strip_emphasis(rest)));
    strip_numbering(&unmarked).trim_end_matches('|').trim().to_owned()
}

/// Strips the marks of bold text outside code.
fn strip_emphasis(text: &str) -> Cow<'_, str> {
    if !contains(text, "**") && !contains(text, "__") {
        return Cow::Borrowed(text);
    }
    let backticks = text.matches('`').count();
    let part = |(at, part): (usize, &str)| {
        // Every second part stands between backticks. Without a closing one it is no code.
        let is_code = at % 2 == 1 && backticks > at;
        if is_code { part.to_owned() } else { without_underscores(&part.replace("**", "")) }
    };
    Cow::Owned(text.split('`').enumerate().map(part).collect::<Vec<_>>().join("`"))
}

/// Strips the underscores around words in bold. A name such as `__init__` keeps them.
fn without_underscores(text: &str) -> String {
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, inside, after)) =
        rest.split_once("__").and_then(|(before, rest)| rest.split_once("__").map(|(inside, after)| (before, inside, after)))
    {
        let is_bold = inside.contains(char::is_whitespace);
        plain.push_str(before);
        if is_bold {
            plain.push_str(inside);
        } else {
            plain.extend(["__", inside, "__"]);
        }
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// Replaces each Markdown link outside code by its text.
fn strip_links(text: &str) -> Cow<'_, str> {
    if !contains(text, "](") {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut rest, mut code) = (String::with_capacity(text.len()), text, false);
    while let Some(at) = rest.find(['`', '[']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let link = from.strip_prefix('[').filter(|_| !code).and_then(|inner| {
            let (shown, target) = inner.split_once("](")?;
            let (_, after) = target.split_once(')')?;
            (!shown.contains('[')).then_some((shown, after))
        });
        if let Some((shown, after)) = link {
            plain.push_str(shown);
            rest = after;
        } else {
            code ^= from.starts_with('`');
            plain.push_str(&from[..1]);
            rest = &from[1..];
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Strips a leading number such as `1.` or `2)`.
fn strip_numbering(text: &str) -> &str {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=3).contains(&digits)
        && let Some(rest) = text[digits..].strip_prefix(['.', ')'])
        && rest.starts_with([' ', '*'])
    {
        return rest.trim_start();
    }
    text
}

/// Returns the lines of Markdown prose, without fenced code, table rulers and empty lines.
pub(crate) fn prose_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().map(str::trim).filter(move |line| {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            return false;
        }
        !fenced && !line.is_empty() && line.chars().any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_their_text_outside_code() {
        assert_eq!(plain("- see [a.md](docs/a.md:3) and `[text](url)`"), "see a.md and `[text](url)`");
    }

    #[test]
    fn a_name_between_underscores_keeps_them() {
        assert_eq!(
            plain("Leave __both of them__ out of __slips__/__init__.py"),
            "Leave both of them out of __slips__/__init__.py"
        );
        assert_eq!(plain("add all __slips__ to it"), "add all __slips__ to it");
    }

    #[test]
    fn a_ticked_box_is_a_mark() {
        assert_eq!(plain("- [x] **Round** the total"), "Round the total");
        assert_eq!(plain("- [ ] Round the total"), "[ ] Round the total");
    }
}
