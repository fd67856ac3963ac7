//! Values that are given to a telling name: environment files, JSON, YAML, program text, headers, options, XML.

use std::ops::Range;

use super::{
    rules::Rule,
    scan::{Scan, is_name, span, span_back},
    value::{Kind, Shape, is_secret},
};

/// How far a name reaches to either side of its keyword, in bytes.
const NAME: usize = 64;

/// What may follow the keyword within a name that still names the secret itself.
const SUFFIXES: &[&str] = &[
    "base",
    "base64",
    "b64",
    "default",
    "dev",
    "development",
    "hex",
    "live",
    "local",
    "main",
    "new",
    "old",
    "primary",
    "prod",
    "production",
    "root",
    "secondary",
    "staging",
    "test",
    "value",
];

/// What goes before `token` or `key` in the names of things that are no secrets.
const HARMLESS: &[&str] = &[
    "bos",
    "cache",
    "cancel",
    "cancellation",
    "completion",
    "context",
    "continuation",
    "count",
    "cursor",
    "design",
    "eos",
    "foreign",
    "group",
    "idempotency",
    "input",
    "mask",
    "max",
    "min",
    "next",
    "nextpage",
    "num",
    "object",
    "output",
    "pad",
    "page",
    "partition",
    "pagination",
    "prev",
    "primary",
    "prompt",
    "public",
    "publishable",
    "publickey",
    "registry",
    "row",
    "s3",
    "shortcut",
    "site",
    "sort",
    "special",
    "stop",
    "sync",
    "syntax",
    "total",
    "translation",
    "unique",
    "unk",
    "usage",
];

/// What goes before `token` in the names of what is a secret without doubt.
const CERTAIN: &[&str] = &["access", "api", "auth", "bearer", "deploy", "refresh", "secret"];

/// Names of configuration files that a blank and a password follow.
const DIRECTIVES: &[&str] = &["requirepass", "masterauth"];

/// Finds the value of the name that the keyword ends.
pub(super) fn find(scan: &mut Scan, rule: &'static Rule, kind: Kind, at: Range<usize>) {
    if scan.covers(at.start) {
        return;
    }
    let Some(name) = Name::around(scan.bytes, &at, kind) else {
        return;
    };
    let kind = name.kind;
    let Some(mut given) = Given::after(scan.bytes, &name, kind) else {
        return;
    };
    let Some(mut value) = Value::at(scan, given.at, given.shape) else {
        return;
    };
    // `password: string = "…"`: the value stands behind the type.
    if value.shape == Shape::Loose
        && let Some(next) = Given::behind_type(scan.bytes, value.range.end)
        && let Some(behind) = Value::at(scan, next.at, next.shape)
    {
        (given, value) = (next, behind);
    }
    let text = scan.text.get(value.range.clone()).unwrap_or_default();
    // `--pass=early`: the short name alone is an ordinary word, unless what it is given is none.
    let digit = text.bytes().take(NAME).any(|byte| byte.is_ascii_digit());
    let chosen = digit && text.contains(['!', '@', '#', '$', '%', '^', '&']);
    let short = name.is_short && value.shape != Shape::Quoted && !(if value.shape == Shape::Loose { chosen } else { digit });
    let unquoted = given.is_argument && value.shape != Shape::Quoted;
    let spoken = given.is_spoken && !digit;
    let unclosed = name.is_element && !scan.bytes[value.range.end..].starts_with(b"</");
    if !short && !unquoted && !spoken && !unclosed && is_secret(text, kind, value.shape) {
        scan.likely(rule.id, value.range);
    }
}

struct Name {
    range: Range<usize>,
    /// `--name`
    is_option: bool,
    /// `<name>`
    is_element: bool,
    /// A keyword such as `pass` that is also an ordinary word, and nothing beside it.
    is_short: bool,
    /// What it promises: `CODECOV_TOKEN` and `authToken` more than `token`.
    kind: Kind,
}

impl Name {
    fn around(bytes: &[u8], at: &Range<usize>, kind: Kind) -> Option<Self> {
        let end = Self::end(bytes, at.end)?;
        // ` pw`, `?key`: what goes before a keyword that does not begin as names do is no part of the name.
        let whole = bytes[at.start].is_ascii() && !is_name(bytes[at.start]);
        let start = if whole { at.start } else { span_back(bytes, at.start, NAME, is_name) };
        let before = &bytes[start..at.start];
        let short = at.len() <= 4 && bytes[at.start].is_ascii();
        let glued = before.last().is_some_and(|last| {
            last.is_ascii_digit()
                || last.is_ascii_lowercase() && !bytes[at.start].is_ascii_uppercase()
                || last.is_ascii_uppercase() && bytes[at.start].is_ascii_uppercase()
        });
        if short && glued && !ends_escape(&bytes[..at.start]) {
            return None;
        }
        if matches!(kind, Kind::Token | Kind::Key) && is_harmless(before) {
            return None;
        }
        let certain =
            before.len() > 1 && !bytes[start..at.end].iter().any(u8::is_ascii_lowercase) || ends_with_word(before, CERTAIN);
        Some(Self {
            range: start..end,
            is_option: bytes[start..].starts_with(b"-")
                || DIRECTIVES.iter().any(|name| bytes[at.clone()].eq_ignore_ascii_case(name.as_bytes()))
                || kind != Kind::Password && is_set(&bytes[..start]),
            is_element: start > 0 && bytes[start - 1] == b'<',
            is_short: short && before.iter().all(|&byte| byte == b'-') && kind == Kind::Password,
            kind: if kind == Kind::Token && certain { Kind::Secret } else { kind },
        })
    }

    /// The end of the name, or none where the keyword is but a part of another word.
    fn end(bytes: &[u8], keyword_end: usize) -> Option<usize> {
        let rest = &bytes[keyword_end..bytes.len().min(keyword_end + NAME)];
        let end = span(rest, 0, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let suffix = rest[..end].trim_ascii();
        let continued = rest.get(end) == Some(&b'-') && rest.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
        let suffix = suffix.strip_prefix(b"_").unwrap_or(suffix);
        let known = suffix.iter().all(u8::is_ascii_digit)
            || SUFFIXES.iter().any(|known| suffix.eq_ignore_ascii_case(known.as_bytes()));
        (known && !continued).then_some(keyword_end + end)
    }
}

/// `npm config set //registry/:_authToken VALUE`, `aws configure set aws_secret_access_key VALUE`
fn is_set(before: &[u8]) -> bool {
    memchr::memmem::find(&before[before.len().saturating_sub(NAME)..], b" set ").is_some()
}

fn ends_escape(before: &[u8]) -> bool {
    matches!(before, [.., b'\\', b'n' | b'r' | b't'])
}

/// Whether the last word before the keyword makes it a name of something else.
fn is_harmless(before: &[u8]) -> bool {
    ends_with_word(before, HARMLESS)
}

fn ends_with_word(before: &[u8], words: &[&str]) -> bool {
    let before = before.trim_ascii_end();
    let before = before.strip_suffix(b"_").or_else(|| before.strip_suffix(b"-")).unwrap_or(before);
    let word = before.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(before, |at| &before[at + 1..]);
    words.iter().any(|ending| {
        word.len() >= ending.len() && word[word.len() - ending.len()..].eq_ignore_ascii_case(ending.as_bytes())
    })
}

/// Where a name's value begins, and how it was given.
struct Given {
    at: usize,
    shape: Shape,
    /// `("name", "value")`, `name("value")`, `name 'value'`
    is_argument: bool,
    /// `the password is …`
    is_spoken: bool,
}

impl Given {
    fn after(bytes: &[u8], name: &Name, kind: Kind) -> Option<Self> {
        let mut at = name.range.end;
        let closed = closing_quote(bytes, at);
        let quoted = closed > at;
        at = closed;
        if bytes.get(at) == Some(&b']') {
            at += 1;
        }
        if name.is_element && bytes.get(at) == Some(&b'>') {
            return Some(Self::new(at + 1, Shape::Bare));
        }
        let operator = blanks(bytes, at);
        let spaced = operator > at;
        let length = operator_length(&bytes[operator..], quoted);
        if (length == 0 || bytes[operator] == b',')
            && let Some(given) = Self::beside(bytes, at)
        {
            return Some(given);
        }
        if length == 0 {
            if let Some(given) = Self::without_sign(bytes, at, kind, quoted) {
                return Some(given);
            }
            // Only an option takes its value without a sign.
            let option = name.is_option && spaced && !quoted;
            return option.then(|| Self::new(operator, Shape::Loose));
        }
        let is_argument = bytes[operator] == b',';
        if is_argument && name.range.start > 0 && bytes[name.range.start - 1] == b'/' {
            return None;
        }
        let start = blanks(bytes, operator + length);
        let loose = spaced || start > operator + length || bytes[operator] != b'=';
        let shape = if loose { Shape::Loose } else { Shape::Bare };
        Some(Self { is_argument, ..Self::new(start, shape) })
    }

    /// `name="password" value="…"`, `{"name": "PASSWORD", "value": "…"}`, `- name: PASSWORD` and below it `value: …`.
    fn beside(bytes: &[u8], at: usize) -> Option<Self> {
        const FAR: usize = 40;
        const VALUE: &[u8] = b"value";
        let window = &bytes[..bytes.len().min(at + FAR)];
        let mut start = at;
        while let Some(&byte) = window.get(start) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b'"' | b'\'' | b'\\' => start += 1,
                b'n' | b't' if window[at..start].ends_with(b"\\") => start += 1,
                _ => break,
            }
        }
        let end = start + VALUE.len();
        if start == at || !bytes.get(start..end)?.eq_ignore_ascii_case(VALUE) {
            return None;
        }
        let operator = blanks(bytes, closing_quote(bytes, end));
        let sign = bytes.get(operator).filter(|sign| matches!(sign, b'=' | b':'))?;
        let shape = if *sign == b'=' { Shape::Bare } else { Shape::Loose };
        Some(Self::new(blanks(bytes, operator + 1), shape))
    }

    /// `setPassword("…")`, `PASSWORD '…'`, `password is …`, `비밀번호는 …`
    fn without_sign(bytes: &[u8], at: usize, kind: Kind, quoted: bool) -> Option<Self> {
        let start = blanks(bytes, at);
        let rest = &bytes[start..];
        let quote = |at: usize| closing_quote(bytes, at) > at;
        if !quoted && rest.first() == Some(&b'(') && quote(start + 1) {
            return Some(Self { is_argument: true, ..Self::new(start + 1, Shape::Bare) });
        }
        if quoted {
            return None;
        }
        if kind == Kind::Password && start > at && quote(start) && rest[0] != b'`' {
            return Some(Self { is_argument: true, is_spoken: true, ..Self::new(start, Shape::Bare) });
        }
        // `비밀번호 sunny2024! 로 접속`
        if start > at && bytes[at - 1] >= 0x80 {
            return Some(Self { is_spoken: true, ..Self::new(start, Shape::Loose) });
        }
        let verb =
            ["is ", "was ", "to ", "는 ", "은 ", "가 ", "이 "].iter().find(|verb| rest.starts_with(verb.as_bytes()))?;
        (start > at || !verb.is_ascii()).then(|| Self { is_spoken: true, ..Self::new(start + verb.len(), Shape::Loose) })
    }

    fn behind_type(bytes: &[u8], at: usize) -> Option<Self> {
        let sign = blanks(bytes, at);
        (sign > at && bytes.get(sign) == Some(&b'=') && bytes.get(sign + 1) == Some(&b' '))
            .then(|| Self::new(blanks(bytes, sign + 1), Shape::Loose))
    }

    fn new(at: usize, shape: Shape) -> Self {
        Self { at, shape, is_argument: false, is_spoken: false }
    }
}

/// The position behind a quote that closes a name, with its backslashes in JSON within JSON; the same where none is.
fn closing_quote(bytes: &[u8], at: usize) -> usize {
    let quote = span(&bytes[..bytes.len().min(at + 8)], at, |byte| byte == b'\\');
    match bytes.get(quote) {
        Some(b'"' | b'\'' | b'`') => quote + 1,
        _ => at,
    }
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    const MOST: usize = 32;
    span(&bytes[..bytes.len().min(at + MOST)], at, |byte| matches!(byte, b' ' | b'\t'))
}

/// `=`, `:`, `:=`, `=>`, `==`, `?=`, the full-width colon, and behind a quoted name the comma.
fn operator_length(rest: &[u8], quoted: bool) -> usize {
    match rest {
        [b':', b':' | b'/', ..] => 0,
        [b'=', b'=', b'=', ..] | [0xEF, 0xBC, 0x9A, ..] => 3,
        [b':' | b'?' | b'=' | b'!', b'=', ..] | [b'=', b'>', ..] => 2,
        [b'=' | b':', ..] => 1,
        [b',', ..] if quoted => 1,
        _ => 0,
    }
}

struct Value {
    range: Range<usize>,
    shape: Shape,
}

impl Value {
    fn at(scan: &mut Scan, at: usize, shape: Shape) -> Option<Self> {
        let bytes = scan.bytes;
        // `b"…"`, `f"…"`, `@"…"`
        let at = match &bytes[at..] {
            [b'b' | b'r' | b'f' | b'u' | b'@' | b'L', b'"' | b'\'', ..] => at + 1,
            _ => at,
        };
        if let Some(range) = quoted(scan, at) {
            return Some(Self { range, shape: Shape::Quoted });
        }
        let end = trimmed(&bytes[at..scan.word(at)]) + at;
        (end > at).then_some(Self { range: at..end, shape })
    }
}

/// The inside of the quotes that open at `at`: to the quote that is escaped as often as the opening one, on the same line.
pub(super) fn quoted(scan: &Scan, at: usize) -> Option<Range<usize>> {
    const DEEPEST: usize = 15;
    let bytes = scan.bytes;
    let open = span(&bytes[..bytes.len().min(at + DEEPEST)], at, |byte| byte == b'\\');
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

/// The length of a word without what merely follows it: commas, semicolons, brackets that it did not open.
fn trimmed(word: &[u8]) -> usize {
    /// Brackets that are looked at from the end.
    const MOST: usize = 8;
    let mut length = word.len();
    for _ in 0..MOST {
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
