//! Values that are assigned to a name that indicates a secret: environment files, JSON, YAML, program text, headers,
//! options, XML.

use std::ops::Range;

use super::{
    chosen::{SYMBOLS, is_algorithm, is_chosen, is_generated, is_strong},
    name::{MAX_NAME_BYTES, Name, NameStyle},
    rule::Rule,
    scan::{Scan, span},
    value::{Kind, Shape, is_secret},
    value_start::{ValueStart, skip_blanks},
};

/// Finds the value of the name that the keyword ends.
pub(super) fn find(scan: &mut Scan, rule: &'static Rule, kind: Kind, at: Range<usize>) {
    if scan.covers(at.start) {
        return;
    }
    // An operator at the end of a keyword only makes the name unambiguous. It is parsed like any other operator.
    let at = at.start..at.start + name_length(&scan.bytes[at]);
    let Some(name) = Name::around(scan.bytes, &at, kind) else {
        return;
    };
    let kind = name.kind;
    if let Some(secret) = behind_adjective(scan, &at).filter(|_| kind == Kind::Password) {
        scan.add_likely(rule.id, secret);
        return;
    }
    let Some(mut value_start) = ValueStart::after(scan.bytes, &name, kind) else {
        return;
    };
    let Some(mut value) = Value::at(scan, value_start.at, value_start.shape) else {
        return;
    };
    if value_start.is_encoded {
        value.range.end = encoded_end(&scan.bytes[..value.range.end], value.range.start);
    }
    // `password: string = "…"`: the value follows the type.
    if value.shape == Shape::Loose
        && let Some(next) = ValueStart::after_type(scan.bytes, value.range.end)
        && let Some(after) = Value::at(scan, next.at, next.shape)
    {
        (value_start, value) = (next, after);
    }
    // `process.env.PASSWORD || 'Summer2024!'`: the value follows the reference.
    if value.shape != Shape::Quoted
        && !value_start.in_prose
        && let Some(after) = Value::after_reference(scan, value.range.clone())
    {
        value = after;
    }
    if let Some(inner) = value.in_braces(scan, &name) {
        scan.add_likely(rule.id, inner);
    } else if is_plausible(scan, &name, &value_start, &value) {
        let text = scan.text.get(value.range.clone()).unwrap_or_default();
        if is_secret(text, kind, value.shape) {
            scan.add_likely(rule.id, value.range);
        }
    }
}

/// What stands behind the name of a password if not the password but something about it follows.
const SUBJECTS: [&str; 13] =
    ["column", "field", "reset", "rule", "rules", "policy", "input", "hash", "test", "page", "length", "manager", "type"];

/// Returns the password behind one word more than its name: `mot de passe permanent : …`, `contraseña nueva: …`. It must be one by its form,
/// because such a word may also say what else it is about: `password policy: …`. In English that word is mostly a noun, so that a name of
/// program text may follow: `password dialog: LoginV2Page`. There the password must have a sign.
fn behind_adjective(scan: &mut Scan, name: &Range<usize>) -> Option<Range<usize>> {
    const MAX_WORD_BYTES: usize = 16;
    let (bytes, at) = (scan.bytes, name.end);
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte >= 0x80;
    let word = span(&bytes[..bytes.len().min(at + 1 + MAX_WORD_BYTES)], at + 1, is_letter);
    let sign = skip_blanks(bytes, word);
    if bytes.get(at) != Some(&b' ') || word < at + 4 || bytes.get(sign) != Some(&b':') {
        return None;
    }
    if SUBJECTS.iter().any(|subject| bytes[at + 1..word].eq_ignore_ascii_case(subject.as_bytes())) {
        return None;
    }
    let start =
        span(&bytes[..bytes.len().min(sign + 6)], sign + 1, |byte| matches!(byte, b' ' | b'`' | b'*' | b'"' | b'\''));
    let end = scan.word(start);
    let text = scan.text.get(start..end)?;
    let text = text.trim_end_matches(['`', '"', '\'', '.', ',']);
    let is_english = ["password", "passwd", "passphrase"].contains(&scan.text[name.clone()].to_ascii_lowercase().as_str());
    let is_password = is_strong(text) || is_chosen(text) && (!is_english || text.contains(SYMBOLS));
    (start > sign + 1 && is_password).then(|| start..start + text.len())
}

/// Returns whether the combination of name, operator and value can mean a secret, whatever the value consists of.
fn is_plausible(scan: &Scan, name: &Name, value_start: &ValueStart, value: &Value) -> bool {
    let text = scan.text.get(value.range.clone()).unwrap_or_default();
    let digit = text.bytes().take(MAX_NAME_BYTES).any(|byte| byte.is_ascii_digit());
    // `--pass=early`: the short name alone is an ordinary word, unless its value is not a word.
    let chosen = digit && text.contains(['!', '@', '#', '$', '%', '^', '&']) || is_strong(text);
    let generated = digit && text.len() >= 8 && text.bytes().any(|byte| byte.is_ascii_uppercase());
    let sure = match value.shape {
        Shape::Quoted => true,
        Shape::Bare => digit,
        Shape::Loose => chosen || generated || name.style == NameStyle::Abbreviation && digit,
    };
    // `비밀번호는 argon2로 저장`: the value is an algorithm.
    let algorithm = value_start.in_prose && is_algorithm(text);
    let argument = !value_start.is_argument || value.shape == Shape::Quoted && !name.is_getter(scan.bytes);
    let closed = !name.is_element || scan.bytes[value.range.end..].starts_with(b"</");
    let is_stated = (digit || !value_start.in_prose)
        && (!value_start.is_bare_word
            || !name.is_short() && is_generated(text)
            || name.kind == Kind::Password && is_strong(text));
    (sure || !name.is_short()) && argument && is_stated && closed && !algorithm
}

/// Returns the length of a keyword without the operator at its end.
fn name_length(keyword: &[u8]) -> usize {
    keyword.iter().rposition(|byte| !matches!(byte, b' ' | b'=' | b':')).map_or(keyword.len(), |last| last + 1)
}

struct Value {
    range: Range<usize>,
    shape: Shape,
}

impl Value {
    fn at(scan: &mut Scan, at: usize, shape: Shape) -> Option<Self> {
        let bytes = scan.bytes;
        // Prefixed strings: `b"…"`, `f"…"`, `@"…"`.
        let at = match &bytes[at..] {
            [b'b' | b'r' | b'f' | b'u' | b'@' | b'L' | b'N', b'"' | b'\'', ..] => at + 1,
            _ => at,
        };
        if let Some(range) = quoted(scan, at) {
            // ``PASSWORD=`openssl rand 24` `` is a command.
            let command = shape == Shape::Bare && bytes[at] == b'`' && bytes[range.clone()].contains(&b' ');
            return (!command).then_some(Self { range, shape: Shape::Quoted });
        }
        let end = trimmed_length(&bytes[at..scan.word(at)]) + at;
        let at = at + opening_quote_length(&bytes[at..]);
        let end = end_before_next_script(&bytes[..end], at);
        (end > at).then_some(Self { range: at..end, shape })
    }

    /// Returns the value inside braces. Connection strings quote with braces: `Password={drummer62};`.
    fn in_braces(&self, scan: &Scan, name: &Name) -> Option<Range<usize>> {
        if name.kind != Kind::Password || name.range.start == 0 || scan.bytes[name.range.start - 1] != b';' {
            return None;
        }
        let (inner, _) = scan.text.get(self.range.clone())?.strip_prefix('{')?.split_once('}')?;
        let start = self.range.start + 1;
        let chosen = inner.bytes().filter(u8::is_ascii_digit).count() > 1 && is_secret(inner, Kind::Password, Shape::Bare);
        chosen.then(|| start..start + inner.len())
    }

    /// Returns the default value after a reference, which is used if the reference has no value.
    fn after_reference(scan: &Scan, range: Range<usize>) -> Option<Self> {
        let bytes = scan.bytes;
        let reference = [&b"process.env"[..], b"import.meta", b"os.environ", b"os.getenv", b"ENV["]
            .iter()
            .any(|start| bytes[range.start..].starts_with(start));
        if !reference {
            return None;
        }
        let end = skip_blanks(bytes, span(&bytes[..bytes.len().min(range.start + 96)], range.start, |byte| byte > b' '));
        let sign = ["|| ", "?? ", "or "].iter().find(|sign| bytes[end..].starts_with(sign.as_bytes()))?;
        let range = quoted(scan, end + sign.len())?;
        Some(Self { range, shape: Shape::Quoted })
    }
}

/// Returns the content of the quotes that open at `at`. The closing quote is escaped as many times as the opening one
/// and is on the same line.
pub(super) fn quoted(scan: &Scan, at: usize) -> Option<Range<usize>> {
    const MAX_BACKSLASHES: usize = 15;
    let bytes = scan.bytes;
    let open = span(&bytes[..bytes.len().min(at + MAX_BACKSLASHES)], at, |byte| byte == b'\\');
    let depth = open - at;
    let &quote = bytes.get(open).filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
    let start = open + 1;
    let mut backslashes = 0;
    for (offset, &byte) in bytes[start..].iter().enumerate() {
        match byte {
            b'\n' => return None,
            b'\\' => backslashes += 1,
            _ if byte == quote => {
                let escaped = if depth == 0 { backslashes % 2 == 1 } else { backslashes > depth };
                if !escaped {
                    let end = start + offset - if depth == 0 { 0 } else { backslashes };
                    return Some(start..end);
                }
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
    }
    None
}

/// The first two bytes of the curly quotes, U+2018 to U+201F.
const CURLY_QUOTES: [u8; 2] = [0xE2, 0x80];

fn bytes_are_closing_quote(rest: &[u8]) -> bool {
    matches!(rest, [0xE2, 0x80, 0x98..=0x9F, ..])
}

/// Returns the length of a quote that opens as printers set it: `「`, `『`, `“`, `‘`, `«`.
fn opening_quote_length(rest: &[u8]) -> usize {
    match rest {
        [0xE3, 0x80, 0x8A | 0x8C | 0x8E | 0x90, ..] | [0xE2, 0x80, 0x98 | 0x9C | 0x9E, ..] => 3,
        [0xC2, 0xAB, ..] => 2,
        _ => 0,
    }
}

/// Returns where a value ends in a percent-encoded address: before a quote, an ampersand, a comma, a bracket or a blank.
fn encoded_end(value: &[u8], start: usize) -> usize {
    const MAX_BYTES: usize = 256;
    const ENDS: [&[u8]; 6] = [b"%22", b"%27", b"%26", b"%2C", b"%7D", b"%20"];
    let is_end = |at: usize| ENDS.iter().any(|end| value[at..].get(..3).is_some_and(|code| code.eq_ignore_ascii_case(end)));
    let window = &value[start..value.len().min(start + MAX_BYTES)];
    memchr::memchr_iter(b'%', window).map(|found| start + found).find(|at| is_end(*at)).unwrap_or(value.len())
}

/// Returns where a word in ASCII ends that a sentence in a script without blanks goes on after: `パスワードはSummer2024!です`.
fn end_before_next_script(word: &[u8], at: usize) -> usize {
    /// No password that people pass on in a sentence is longer.
    const MAX_BYTES: usize = 128;
    let window = &word[..word.len().min(at + MAX_BYTES)];
    if !window.get(at).is_some_and(u8::is_ascii) {
        return word.len();
    }
    // The first bytes of kana, Han characters and Hangul.
    let next = span(window, at, |byte| !(0xE3..=0xED).contains(&byte));
    let quote = memchr::memmem::find(&window[at..next], &CURLY_QUOTES).map_or(next, |found| at + found);
    let next = if bytes_are_closing_quote(&window[quote..]) { quote } else { next };
    if next < window.len() { next } else { word.len() }
}

/// Returns the length of a word without trailing commas, semicolons, and brackets that it did not open.
fn trimmed_length(word: &[u8]) -> usize {
    /// How many trailing bytes are examined.
    const MAX_BRACKETS: usize = 8;
    let mut length = word.len();
    for _ in 0..MAX_BRACKETS {
        let open = match word[..length].last() {
            Some(b')') => b'(',
            Some(b']') => b'[',
            Some(b'}') => b'{',
            Some(b',' | b';') => 0,
            _ => break,
        };
        let inside = &word[length.saturating_sub(256)..length - 1];
        if open != 0 && inside.contains(&open) {
            break;
        }
        length -= 1;
    }
    length
}
