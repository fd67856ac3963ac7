//! A team's expression: compiled, and run over a text in linear time.

use std::ops::Range;

use regex_automata::{
    Input,
    meta::{Config, Regex},
    util::syntax,
};

use super::syntax::translate;

/// Bytes of a compiled expression. A count of counts would else take all memory.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Depth of parentheses; the compiler recurses over them, and a guest's stack is small.
const MAX_NESTING: u32 = 32;

/// The longest match, in bytes, in a text that is not full of matches.
const WIDE_WINDOW: usize = 32 * 1024;
/// The longest match where it is; see [`for_each`].
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

/// The last line of a syntax error: the others show the pattern, whose text was translated and is not the user's.
fn reason(error: &regex_automata::meta::BuildError) -> String {
    let text = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Calls with each match and its secret: the group of that number, or where it is 0 the first group that holds something, or
/// the match.
///
/// An expression may have to look far ahead before it knows that it matches little (`a.*z|a`), so that a search for all
/// matches takes quadratic time although each takes linear time. So each search sees a window, and the windows of one text
/// become narrow when there were many: the sum of their lengths is bounded by the length of the text, some constant times.
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
            // What begins late in the window may be longer than what the window shows of it.
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
