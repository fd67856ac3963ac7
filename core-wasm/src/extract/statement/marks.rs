//! The marks of lists and labels at the beginning of a line.

use std::ops::Range;

use super::Form;

/// How far the items below another item are indented at least, in bytes.
const MIN_INDENT: usize = 2;

/// The mark of an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListMark {
    /// The sign before the item. A digit stands for any number.
    sign: char,
    /// How far the line is indented, in bytes.
    indent: usize,
}

impl ListMark {
    /// Returns the mark of a line of a text. None if the line is no item of a list.
    pub(super) fn of(line: &str, text: &str) -> Option<Self> {
        let sign = line.chars().next().filter(|_| is_item(line) && !line.starts_with("**"))?;
        let sign = if sign.is_ascii_digit() { '0' } else { sign };
        Some(ListMark { sign, indent: indent(line, text) })
    }

    /// Returns how deep in its list the item stands: 1, or 2 if the line is indented.
    pub(super) fn depth(self) -> u8 {
        if self.indent < MIN_INDENT { 1 } else { 2 }
    }

    /// Returns whether bold words behind the mark are an item like those around them, and not a heading: another item of the same list
    /// follows, or stood right before the last one. `before` is the mark of the line before, `next` the next line.
    pub(super) fn stands_beside(self, before: Option<Self>, next: Option<&str>, text: &str) -> bool {
        let is_deeper = next.is_some_and(|next| indent(next, text) > self.indent);
        let next = next.and_then(|next| ListMark::of(next, text));
        let is_last = || before == Some(self) && next.is_none_or(|next| next.indent < self.indent);
        !is_deeper && (next.is_some_and(|next| next == self) || is_last())
    }
}

/// Returns where a line of a text begins, in bytes.
pub(super) fn offset(line: &str, text: &str) -> usize {
    line.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

/// Returns where the boxes of a text stand, in bytes. A box has a star and a ruled line above it, and another such line below it: a lecture
/// beside the answer.
pub(super) fn boxes(text: &str) -> Vec<Range<usize>> {
    const RULE: &str = "──────────";
    let mut all: Vec<Range<usize>> = Vec::new();
    let mut open = None;
    for line in text.lines().filter(|line| line.contains(RULE)) {
        let at = offset(line, text);
        if line.contains('★') {
            open = Some(at);
        } else if let Some(start) = open.take() {
            all.push(start..at + line.len());
        }
    }
    all
}

/// Returns how far a line of a text is indented, in bytes.
fn indent(line: &str, text: &str) -> usize {
    text.get(..offset(line, text)).map_or(0, |before| before.len() - before.trim_end_matches([' ', '\t']).len())
}

/// Returns whether a line is a label with its value: `**Tests**: 12 pass`. A short one looks like a heading.
pub(super) fn labels_value(line: &str) -> bool {
    let mut parts = line.splitn(3, "**").skip(1);
    let (Some(label), Some(value)) = (parts.next(), parts.next()) else { return false };
    let is_marked = label.ends_with([':', '：']) || value.trim_start().starts_with([':', '：', '—', '–', '→', '=']);
    is_marked && value.chars().any(char::is_alphanumeric)
}

/// Returns whether the bold part of an item is only its letter or number: `- **B.** Long phrases`.
pub(super) fn is_lettered(line: &str) -> bool {
    let bold = line.split("**").nth(1).unwrap_or_default();
    bold.trim_matches(['.', ')', ':', ' ']).chars().count() <= 2
}

/// Returns whether white space stands before a line of a text.
pub(super) fn is_indented(line: &str, text: &str) -> bool {
    indent(line, text) > 0
}

/// Returns whether a line is an item of a list: "- one", "2. two".
pub(super) fn is_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    line.starts_with(['-', '*', '•', '+']) || ((1..=3).contains(&digits) && line[digits..].starts_with(['.', ')']))
}

/// Returns the number of a heading or an item: that before it, or that of its label, as in "Part 2: The drawer". 0 if it has none.
pub(super) fn number_of(line: &str, form: Form) -> u16 {
    if !matches!(form, Form::Heading | Form::Item) {
        return 0;
    }
    let bare = line.trim_start_matches(['#', '*', '-', ' ']);
    let digits = |said: &str| said.bytes().take_while(u8::is_ascii_digit).count();
    let before = digits(bare);
    if (1..=3).contains(&before)
        && bare[before..].starts_with(['.', ')'])
        && !bare[before + 1..].starts_with(|c: char| c.is_ascii_digit())
    {
        return bare[..before].parse().unwrap_or_default();
    }
    if form == Form::Heading { number_in_label(bare).unwrap_or_default() } else { 0 }
}

/// Returns the number behind the word with which a heading opens: 2 of "Part 2: The drawer", and of "Part 1.2". None if it has none.
fn number_in_label(heading: &str) -> Option<u16> {
    let (word, rest) = heading.split_once(' ')?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let is_label = word.chars().all(char::is_alphabetic) && rest[end..].trim_start().starts_with([':', '：', '—', '–', '-']);
    let number = rest[..end].trim_end_matches('.').rsplit('.').next()?;
    if is_label { number.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_items_have_numbers() {
        let of = |line: &str| number_of(line, Form::Heading);
        assert_eq!([of("### 3. The drawer"), of("**2) The bell**"), of("## Part 4: The lamp")], [3, 2, 4]);
        assert_eq!([of("Part 1.2 — The lamp"), of("## The 3 lamps"), of("Till 7"), of("1.5 cents")], [2, 0, 0, 0]);
        assert_eq!(number_of("12. One slip", Form::Item), 12);
        assert_eq!(number_of("12. One slip", Form::Sentence), 0);
    }
}
