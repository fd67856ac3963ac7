//! Converts a token's regular expression into a constant for `src/redact/token.rs`. The expression must have this form:
//!
//! `\b`? CLASS{n,m}? LITERALS (CLASS{n,m} | LITERAL)* `\b`?, where everything after the literals may be in parentheses
//!
//! A walk without backtracking finds the same matches as the expression, because no part of variable length is followed
//! by something that it could have consumed itself. Expressions of any other form are rejected.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use crate::Result;

/// The maximum length of a part that is not the last, in bytes.
const MAX_PART_BYTES: u32 = 512;
/// The maximum number of different prefixes of one rule.
const MAX_PREFIXES: usize = 64;

pub(crate) struct Shape {
    /// The prefixes of the tokens, in the issuer's case. If the token has a part `before`, they come after it.
    pub prefixes: Vec<String>,
    /// The fields of a `Token`, as source code.
    pub source: String,
}

/// A run of bytes from a set, with its minimum and maximum length.
struct Part {
    set: [u32; 4],
    min: u32,
    max: Option<u32>,
}

impl Part {
    fn source(&self) -> String {
        let max = self.max.map_or("usize::MAX".to_owned(), |max| max.to_string());
        let set = self.set.map(|word| format!("0x{:04x}_{:04x}", word >> 16, word & 0xFFFF)).join(", ");
        format!("Part {{ set: Set([{set}]), min: {}, max: {max} }}", self.min)
    }
}

pub(crate) fn compile(regex: &str) -> Result<Shape> {
    let hir = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(regex)?;
    let mut pieces = match hir.kind() {
        HirKind::Concat(pieces) => pieces.as_slice(),
        _ => return Err("no sequence".into()),
    };
    let is_edge = |hir: &Hir| matches!(hir.kind(), HirKind::Look(Look::WordAscii));
    let at_word_start = pieces.first().is_some_and(is_edge);
    let at_word_end = pieces.last().is_some_and(is_edge);
    pieces = &pieces[usize::from(at_word_start)..pieces.len() - usize::from(at_word_end)];
    // The secret may be a group that contains everything after the literals.
    let mut inside: &[Hir] = &[];
    if let Some((last, rest)) = pieces.split_last()
        && let HirKind::Capture(capture) = last.kind()
    {
        inside = match capture.sub.kind() {
            HirKind::Concat(pieces) => pieces,
            _ => std::slice::from_ref(&*capture.sub),
        };
        pieces = rest;
    }
    let mut before = None;
    if let Some((first, rest)) = pieces.split_first()
        && let Some(part) = part(first)?
        && part.max != Some(1)
    {
        before = Some(part);
        pieces = rest;
    }
    let mut prefixes = vec![String::new()];
    while let Some((first, rest)) = pieces.split_first() {
        let Some(spellings) = spellings(first).filter(|spellings| spellings.len() * prefixes.len() <= MAX_PREFIXES) else {
            break;
        };
        let joined = |prefix: &String| spellings.iter().map(|end| format!("{prefix}{end}")).collect::<Vec<_>>();
        prefixes = prefixes.iter().flat_map(joined).collect();
        pieces = rest;
    }
    if prefixes.iter().any(|prefix| prefix.len() < 3) {
        return Err("a match has no literal of three bytes in it".into());
    }
    let secret_after_keyword = !inside.is_empty();
    if secret_after_keyword && !pieces.is_empty() {
        return Err("a group that does not stand behind the literals".into());
    }
    let mut parts: Vec<Part> = Vec::new();
    for piece in pieces.iter().chain(inside) {
        match piece.kind() {
            HirKind::Literal(literal) => {
                parts.extend(literal.0.iter().map(|&byte| Part { set: set([(byte, byte)]), min: 1, max: Some(1) }));
            }
            _ => parts.push(part(piece)?.ok_or("a part is neither a class nor a literal")?),
        }
    }
    for pair in parts.windows(2) {
        let varies = pair[0].max != Some(pair[0].min);
        let overlaps = pair[0].set.iter().zip(pair[1].set).any(|(left, right)| left & right != 0);
        if varies && overlaps || pair[0].max.is_none_or(|max| max > MAX_PART_BYTES) || pair[1].min == 0 {
            return Err("a part that is not the last is unbounded, or the next one could begin within it".into());
        }
    }
    let before = before.map_or("None".to_owned(), |part| format!("Some({})", part.source()));
    let parts: Vec<String> = parts.iter().map(Part::source).collect();
    let source = format!(
        "at_word_start: {at_word_start}, at_word_end: {at_word_end}, secret_after_keyword: {secret_after_keyword}, before: {before}, parts: &[{}]",
        parts.join(", ")
    );
    Ok(Shape { prefixes, source })
}

/// Returns all strings that a literal, a small class or an alternation of literals matches.
fn spellings(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(vec![String::from_utf8(literal.0.to_vec()).ok()?]),
        HirKind::Class(Class::Bytes(class)) => {
            let bytes: Vec<u8> = class.ranges().iter().flat_map(|range| range.start()..=range.end()).collect();
            (bytes.len() <= 16).then(|| bytes.into_iter().map(|byte| char::from(byte).to_string()).collect())
        }
        HirKind::Alternation(alternatives) => Some(alternatives.iter().map(spellings).collect::<Option<Vec<_>>>()?.concat()),
        HirKind::Concat(pieces) => pieces.iter().map(spellings).try_fold(vec![String::new()], |all, next| {
            let next = next?;
            Some(all.iter().flat_map(|start| next.iter().map(move |end| format!("{start}{end}"))).collect())
        }),
        _ => None,
    }
}

fn part(hir: &Hir) -> Result<Option<Part>> {
    match hir.kind() {
        HirKind::Class(class) => Ok(Some(Part { set: bytes(class)?, min: 1, max: Some(1) })),
        HirKind::Repetition(repetition) => match repetition.sub.kind() {
            HirKind::Class(class) => Ok(Some(Part { set: bytes(class)?, min: repetition.min, max: repetition.max })),
            _ => Err("only a class may be repeated".into()),
        },
        _ => Ok(None),
    }
}

fn bytes(class: &Class) -> Result<[u32; 4]> {
    let Class::Bytes(class) = class else {
        return Err("a class of characters beyond ASCII".into());
    };
    if class.ranges().iter().any(|range| range.end() > 0x7F) {
        return Err("a class of bytes beyond ASCII".into());
    }
    Ok(set(class.ranges().iter().map(|range| (range.start(), range.end()))))
}

fn set(ranges: impl IntoIterator<Item = (u8, u8)>) -> [u32; 4] {
    let mut set = [0; 4];
    for byte in ranges.into_iter().flat_map(|(start, end)| start..=end) {
        set[usize::from(byte >> 5)] |= 1 << (byte & 31);
    }
    set
}
