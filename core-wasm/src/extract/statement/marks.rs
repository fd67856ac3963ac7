//! The marks of lists and labels at the beginning of a line.

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

    /// Returns whether bold words behind the mark are an item like those around them, and not a heading: another item of the same list
    /// follows, or stood right before the last one. `before` is the mark of the line before, `next` the next line.
    pub(super) fn stands_beside(self, before: Option<Self>, next: Option<&str>, text: &str) -> bool {
        let is_deeper = next.is_some_and(|next| indent(next, text) > self.indent);
        let next = next.and_then(|next| ListMark::of(next, text));
        let is_last = || before == Some(self) && next.is_none_or(|next| next.indent < self.indent);
        !is_deeper && (next.is_some_and(|next| next == self) || is_last())
    }
}

/// Returns how far a line of a text is indented, in bytes.
fn indent(line: &str, text: &str) -> usize {
    let at = line.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    text.get(..at).map_or(0, |before| before.len() - before.trim_end_matches([' ', '\t']).len())
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
