//! Compiles a team's expression, and runs it over a text in linear time.

use std::ops::Range;

use regex_automata::{
    Input,
    meta::{Config, Regex},
    util::syntax,
};

use super::syntax::translate;

/// The maximum size of a compiled expression in bytes. Without it, nested counts would use up all memory.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// The maximum nesting of parentheses. The compiler recurses over them, and a guest's stack is small.
const MAX_NESTING: u32 = 32;

/// The maximum length of a match in bytes, in a text with few matches.
const WIDE_WINDOW: usize = 32 * 1024;
/// The maximum length of a match in a text with many matches; see [`for_each`].
const NARROW_WINDOW: usize = 512;
const NARROWEST_WINDOW: usize = 48;

/// Compiles an expression in Go's syntax.
pub(super) fn compile(go: &str) -> Result<Regex, String> {
    let pattern = translate(go)?;
    Regex::builder()
        .configure(Config::new().nfa_size_limit(Some(MAX_COMPILED_BYTES)).utf8_empty(false))
        .syntax(syntax::Config::new().utf8(false).nest_limit(MAX_NESTING))
        .build(&pattern)
        .map_err(|error| match error.size_limit() {
            Some(_) => "it takes more memory than an expression may".to_owned(),
            None => reason(&error),
        })
}

/// Returns the last line of a syntax error. The other lines show the translated pattern, which is not what the user
/// wrote.
fn reason(error: &regex_automata::meta::BuildError) -> String {
    let text = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Calls `visit` with each match and its secret. The secret is the group with that number. If the number is 0, it is
/// the first non-empty group, or else the match.
///
/// An expression may have to look far ahead before it turns out to match only a little (`a.*z|a`), so a search for all
/// matches takes quadratic time although each single search takes linear time. Therefore each search sees only a
/// window, and the windows of one text become narrow once there were many. The sum of their lengths is bounded by the
/// length of the text times a constant.
pub(super) fn for_each(regex: &Regex, group: usize, text: &str, mut visit: impl FnMut(Range<usize>, Range<usize>)) {
    let mut captures = regex.create_captures();
    let mut scanned = 0;
    let mut at = 0;
    while at <= text.len() {
        let width = match scanned / (text.len() + (1 << 20)) {
            0..16 => WIDE_WINDOW,
            16..64 => NARROW_WINDOW,
            _ => NARROWEST_WINDOW,
        };
        let end = text.ceil_char_boundary(at + 2 * width);
        scanned += end - at;
        regex.search_captures(&Input::new(text).range(at..end), &mut captures);
        let whole = captures.get_match().map(|found| found.range());
        match whole {
            // A match that starts late in the window may be longer than the visible part.
            Some(found) if end == text.len() || found.start < at + width => {
                at = if found.end > at { found.end } else { text.ceil_char_boundary(at + 1).max(at + 1) };
                visit(found.clone(), secret(&captures, group).unwrap_or(found));
            }
            _ if end == text.len() => break,
            _ => at = text.ceil_char_boundary(at + width),
        }
    }
}

fn secret(captures: &regex_automata::util::captures::Captures, group: usize) -> Option<Range<usize>> {
    let filled = |group: usize| captures.get_group(group).map(|span| span.range()).filter(|range| !range.is_empty());
    if group > 0 { filled(group) } else { (1..captures.group_len()).find_map(filled) }
}
