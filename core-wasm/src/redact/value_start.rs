//! Finds where the value of a name begins: after an operator, in a call, in the next cell of a table, in a sentence.

use super::{
    name::{Name, NameStyle},
    scan::span,
    value::{Kind, Shape},
};

/// Calls that only wrap a value: `Buffer.from("…")`, `Some("…")`.
const WRAPPERS: &[&str] = &[
    "Buffer.from",
    "Some",
    "String::from",
    "SecretString::from",
    "SecretString::new",
    "Secret::new",
    "SecretStr",
    "b64decode",
    "base64.b64decode",
    "bytes",
    "bytes.fromhex",
    "unhexlify",
    "binascii.unhexlify",
    "hex.DecodeString",
    "hex::decode",
    "atob",
    "btoa",
    "str",
    "String",
    "Ok",
    "Just",
    "Optional.of",
    "Password",
    "utf8.encode",
    "encode",
];

/// Calls that type a value into a form field.
const TYPING_CALLS: &[&str] =
    &["fill", "type", "send_keys", "sendKeys", "setValue", "set_value", "set", "clearAndType", "pressSequentially"];

/// Where the value of a name begins, and how it is given.
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a place")]
pub(super) struct ValueStart {
    pub at: usize,
    pub shape: Shape,
    /// The value is an argument: `("name", "value")`, `name("value")`, `name 'value'`.
    pub is_argument: bool,
    /// The value is part of a sentence: `the password is …`.
    pub in_prose: bool,
    /// The value follows the name without an operator: `storePassword …`.
    pub is_bare_word: bool,
    /// The value is in an address that is percent-encoded as a whole.
    pub is_encoded: bool,
}

/// What stands between a name and its value in a sentence.
const VERBS: [&str; 42] = [
    "is now ",
    "is set to ",
    "should be ",
    "will be ",
    "is: ",
    "is ",
    "was ",
    "to ",
    "→ ",
    "-> ",
    "는 ",
    "은 ",
    "가 ",
    "이 ",
    "를 ",
    "을 ",
    "ist ",
    "war ",
    "lautet ",
    "es ",
    "era ",
    "est ",
    "è ",
    "é ",
    "este ",
    "är ",
    "là ",
    "adalah ",
    "— ",
    "– ",
    "- ",
    "は ",
    "は",
    "を",
    "が",
    "是 ",
    "是",
    "为 ",
    "为",
    "為",
    "改成",
    "改为",
];

impl ValueStart {
    pub(super) fn after(bytes: &[u8], name: &Name, kind: Kind) -> Option<Self> {
        let mut at = name.range.end;
        // `my password's …`
        if kind == Kind::Password && bytes[at..].starts_with(b"'s ") {
            return Some(Self { in_prose: true, ..Self::new(at + 3, Shape::Loose) });
        }
        if let Some(value_start) = Self::percent_encoded(bytes, at) {
            return Some(value_start);
        }
        let closed = skip_closing_quote(bytes, at);
        let quoted = closed > at;
        at = closed;
        if bytes.get(at) == Some(&b']') {
            at += 1;
        }
        if name.is_element && bytes.get(at) == Some(&b'>') {
            return Some(Self::new(at + 1, Shape::Bare));
        }
        // `<entry key="password">…</entry>`
        if quoted && bytes.get(at) == Some(&b'>') {
            let window = &bytes[..bytes.len().min(at + 256)];
            let end = span(window, at + 1, |byte| byte != b'<');
            return window[end..].starts_with(b"</").then(|| Self::new(at + 1, Shape::Bare));
        }
        if let Some(value_start) = Self::in_property_list(bytes, at) {
            return Some(value_start);
        }
        let far = || Self::in_default_block(bytes, at).or_else(|| Self::in_record(bytes, at));
        if let Some(value_start) = Self::typed_into_field(bytes, at).or_else(far) {
            return Some(value_start);
        }
        let named = at;
        at = Self::after_remark(bytes, at);
        // `**Password:** …`
        let operator = skip_emphasis(bytes, skip_blanks(bytes, skip_emphasis(bytes, at)));
        let spaced = operator > at || at > named;
        let length = operator_length(&bytes[operator..], quoted);
        let nested = bytes.get(skip_blanks(bytes, operator + length)) == Some(&b'{');
        if (length == 0 || bytes[operator] == b',' || nested)
            && let Some(value_start) = Self::in_value_attribute(bytes, at)
        {
            return Some(value_start);
        }
        if length == 0 {
            if let Some(value_start) = Self::without_operator(bytes, at, name, kind, quoted) {
                return Some(value_start);
            }
            if let Some(value_start) = Self::in_table(bytes, name.range.start, at).filter(|_| !name.is_short()) {
                return Some(value_start);
            }
            let telling = kind == Kind::Password || name.style == NameStyle::Compound;
            if telling && spaced && !quoted && !name.is_option {
                return Some(Self { is_bare_word: true, ..Self::new(operator, Shape::Loose) });
            }
            // Only an option takes its value without an operator.
            let option = name.is_option && spaced && !quoted;
            return option.then(|| Self::new(operator, Shape::Loose));
        }
        let is_argument = bytes[operator] == b',';
        if is_argument && name.range.start > 0 && bytes[name.range.start - 1] == b'/' {
            return None;
        }
        let start = skip_blanks(bytes, skip_emphasis(bytes, skip_blanks(bytes, operator + length)));
        let start = skip_wrapper(bytes, skip_yaml_tag(bytes, start));
        if bytes[operator] == b':'
            && let Some(value_start) = Self::in_block_scalar(bytes, start)
        {
            return Some(value_start);
        }
        let loose = spaced || start > operator + length || bytes[operator] != b'=';
        let shape = if loose { Shape::Loose } else { Shape::Bare };
        Some(Self { is_argument, ..Self::new(start, shape) })
    }

    /// Finds the value in `password%3D…` and `%22password%22%3A%22…`.
    fn percent_encoded(bytes: &[u8], at: usize) -> Option<Self> {
        let skip = |at: usize, codes: [&[u8]; 2]| {
            let is_code = |code: &&[u8]| bytes[at..].get(..3).is_some_and(|found| found.eq_ignore_ascii_case(code));
            if codes.iter().any(is_code) { at + 3 } else { at }
        };
        if bytes.get(at) != Some(&b'%') {
            return None;
        }
        let operator = skip(at, [b"%22", b"%27"]);
        let start = skip(operator, [b"%3D", b"%3A"]);
        (start > operator).then(|| Self { is_encoded: true, ..Self::new(skip(start, [b"%22", b"%27"]), Shape::Bare) })
    }

    /// Finds the value in `name="password" value="…"`, `{"name": "PASSWORD", "value": "…"}`, `- name: PASSWORD` with
    /// `value: …` below it, `"password": {"value": "…"}` and `variable "password" { default = "…"`.
    fn in_value_attribute(bytes: &[u8], at: usize) -> Option<Self> {
        const MAX_DISTANCE: usize = 48;
        const VALUES: [&[u8]; 3] = [b"value", b"default", b"stringvalue"];
        let window = &bytes[..bytes.len().min(at + MAX_DISTANCE)];
        let mut start = at;
        while let Some(&byte) = window.get(start) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b'"' | b'\'' | b'\\' | b'{' | b':' | b'+' | b'-' => start += 1,
                b'n' | b't' if window[at..start].ends_with(b"\\") => start += 1,
                // The number and the arrow in front of a line.
                b'0'..=b'9' | 0xE2 | 0x86 | 0x92 if window[at..start].contains(&b'\n') => start += 1,
                _ => break,
            }
        }
        let is_key = |key: &&&[u8]| bytes.get(start..start + key.len()).is_some_and(|found| found.eq_ignore_ascii_case(key));
        let end = start + VALUES.iter().find(is_key)?.len();
        // In `password: value`, `value` is just a word.
        let quoted = matches!(bytes[at - 1], b'"' | b'\'');
        if start == at || !quoted && window[at..start].iter().all(|byte| matches!(byte, b' ' | b':')) {
            return None;
        }
        let operator = skip_blanks(bytes, skip_closing_quote(bytes, end));
        let sign = bytes.get(operator).filter(|sign| matches!(sign, b'=' | b':'))?;
        let shape = if *sign == b'=' { Shape::Bare } else { Shape::Loose };
        Some(Self::new(skip_blanks(bytes, operator + 1), shape))
    }

    /// Finds the value below `password: |` and `password: >-`, as YAML writes texts with lines.
    fn in_block_scalar(bytes: &[u8], at: usize) -> Option<Self> {
        if !matches!(bytes.get(at), Some(b'|' | b'>')) {
            return None;
        }
        let end = span(&bytes[..bytes.len().min(at + 3)], at + 1, |byte| matches!(byte, b'-' | b'+' | b'1'..=b'9'));
        let line = skip_line_end(bytes, end);
        let start = skip_blanks(bytes, line);
        (line > end && start > line).then(|| Self::new(start, Shape::Loose))
    }

    /// Finds the value in `<key>Password</key>` with `<string>…</string>` behind it.
    fn in_property_list(bytes: &[u8], at: usize) -> Option<Self> {
        const CLOSE: &[u8] = b"</key>";
        const OPEN: &[u8] = b"<string>";
        if !bytes[at..].starts_with(CLOSE) {
            return None;
        }
        let mut start = skip_blanks(bytes, skip_line_end(bytes, skip_blanks(bytes, at + CLOSE.len())));
        // A tab in JSON.
        while bytes[start..].starts_with(b"\\t") {
            start += 2;
        }
        bytes[start..].starts_with(OPEN).then(|| Self::new(start + OPEN.len(), Shape::Bare))
    }

    /// Finds `default = "…"` some lines after `variable "password" {`.
    fn in_default_block(bytes: &[u8], at: usize) -> Option<Self> {
        const MAX_DISTANCE: usize = 200;
        const KEY: &[u8] = b"default";
        let open = skip_blanks(bytes, at);
        let quoted = at > 0 && matches!(bytes[at - 1], b'"' | b'\'');
        if !quoted || bytes.get(open) != Some(&b'{') {
            return None;
        }
        let window = &bytes[open..bytes.len().min(open + MAX_DISTANCE)];
        let window = &window[..memchr::memchr(b'}', window).unwrap_or(window.len())];
        let key = open + memchr::memmem::find(window, KEY)? + KEY.len();
        let sign = skip_blanks(bytes, key);
        (bytes.get(sign) == Some(&b'=')).then(|| Self::new(skip_blanks(bytes, sign + 1), Shape::Loose))
    }

    /// Finds the value in another field of the record that contains the name or starts after it:
    /// `"db_password":{"sensitive":true,"value":"…"}`, `"Name":"/db/password","Type":"SecureString","Value":"…"`.
    fn in_record(bytes: &[u8], at: usize) -> Option<Self> {
        const MAX_DISTANCE: usize = 200;
        const KEYS: [&[u8]; 4] = [b"value", b"result", b"secretvalue", b"plaintext"];
        let quoted = at > 0 && matches!(bytes[at - 1], b'"' | b'\'');
        if !quoted || !matches!(bytes.get(skip_blanks(bytes, at)), Some(b':' | b',')) {
            return None;
        }
        let window = &bytes[at..bytes.len().min(at + MAX_DISTANCE)];
        let window = &window[..window.iter().position(|&byte| matches!(byte, b'}' | b']' | b'[')).unwrap_or(window.len())];
        // A name with a value of its own needs no other field.
        let nested = window.iter().position(|&byte| byte == b'{');
        let after = &bytes[skip_blanks(bytes, skip_blanks(bytes, at) + 1)..];
        if bytes[skip_blanks(bytes, at)] == b':' && !after.starts_with(b"{") {
            return None;
        }
        let from = nested.map_or(0, |open| open + 1);
        let key = memchr::memchr_iter(b'"', &window[from..]).map(|quote| from + quote + 1).find_map(|start| {
            let key = KEYS
                .iter()
                .find(|key| window.get(start..start + key.len()).is_some_and(|found| found.eq_ignore_ascii_case(key)))?;
            let end = at + start + key.len();
            (skip_closing_quote(bytes, end) > end).then(|| skip_closing_quote(bytes, end))
        })?;
        let sign = skip_blanks(bytes, key);
        (bytes.get(sign) == Some(&b':')).then(|| Self::new(skip_blanks(bytes, sign + 1), Shape::Loose))
    }

    /// Finds the value in `setPassword("…")`, `key{"…"}`, `PASSWORD '…'`, `password is …` and `비밀번호는 …`.
    fn without_operator(bytes: &[u8], at: usize, name: &Name, kind: Kind, quoted: bool) -> Option<Self> {
        let start = skip_blanks(bytes, at);
        let rest = &bytes[start..];
        let quote = |at: usize| skip_closing_quote(bytes, at) > at;
        // `jwt.sign(user, process.env.JWT_SECRET || '…')`
        if let Some(sign) = ["|| ", "?? "].iter().find(|sign| rest.starts_with(sign.as_bytes()))
            && quote(start + sign.len())
        {
            return Some(Self { in_prose: true, ..Self::new(start + sign.len(), Shape::Bare) });
        }
        if !quoted && matches!(rest.first(), Some(b'(' | b'{')) && quote(start + 1) {
            return Some(Self { is_argument: true, ..Self::new(start + 1, Shape::Bare) });
        }
        if quoted {
            return None;
        }
        let named = kind == Kind::Password || name.style == NameStyle::Compound;
        if named && start > at && quote(start) && rest[0] != b'`' {
            return Some(Self { is_argument: true, in_prose: true, ..Self::new(start, Shape::Bare) });
        }
        let verb = VERBS.iter().find(|verb| rest.starts_with(verb.as_bytes())).filter(|verb| start > at || !verb.is_ascii());
        if let Some(verb) = verb {
            return Some(Self { in_prose: true, ..Self::new(start + verb.len(), Shape::Loose) });
        }
        if start == at
            && let Some(length) = length_of_particle(rest)
        {
            return Some(Self { in_prose: true, ..Self::new(start + length, Shape::Loose) });
        }
        // `비밀번호 sunny2024! 로 접속`
        (start > at && bytes[at - 1] >= 0x80).then(|| Self { in_prose: true, ..Self::new(start, Shape::Loose) })
    }

    /// Returns the position after a remark, as in `password for root@localhost: …` and `Password (staging): …`. Returns
    /// the same position if there is none.
    fn after_remark(bytes: &[u8], at: usize) -> usize {
        const MAX_BYTES: usize = 48;
        let window = &bytes[at..bytes.len().min(at + MAX_BYTES)];
        let plain = |byte: u8| !matches!(byte, b'\n' | b'\r' | b'"' | b'\\' | b'=' | b'{' | b';' | b'`');
        let end = if window.starts_with(b" { get;") {
            // A property in C#.
            memchr::memmem::find(window, b"} =").map(|end| end + 2)
        } else if window.starts_with(b" (") {
            let end = window.iter().position(|&byte| byte == b')' || !plain(byte));
            end.filter(|&end| window[end] == b')').map(|end| end + 1)
        } else {
            let word = [
                " for ",
                " of ",
                " on ",
                " für ",
                " von ",
                " du ",
                " de ",
                " pour ",
                " para ",
                " del ",
                " is generated for ",
            ]
            .iter()
            .find(|word| window.starts_with(word.as_bytes()));
            word.and_then(|word| {
                let rest = &window[word.len()..];
                let sign = (0..rest.len())
                    .find(|&at| !plain(rest[at]) || rest[at..].starts_with(b": ") || rest[at..].starts_with(b" is "))?;
                let few = rest[..sign].split(|&byte| byte == b' ').count() < 7;
                (plain(rest[sign]) && few).then_some(word.len() + sign)
            })
        };
        // It is a remark only before an operator; otherwise it is prose.
        match end {
            Some(end) if matches!(window.get(end), Some(b':' | b'=')) || window[end..].starts_with(b" is ") => at + end,
            _ => at,
        }
    }

    /// Finds the value in `[name=password]').type('…')` and `getByLabel('Password').fill('…')`.
    fn typed_into_field(bytes: &[u8], at: usize) -> Option<Self> {
        let window = &bytes[..bytes.len().min(at + 48)];
        let dot = span(window, at, |byte| matches!(byte, b']' | b'"' | b'\'' | b')' | b'`' | b' ' | b'\\'));
        if dot == at || window.get(dot) != Some(&b'.') {
            return None;
        }
        let end = span(window, dot + 1, |byte| byte.is_ascii_alphabetic() || byte == b'_');
        let known = TYPING_CALLS.iter().any(|name| name.as_bytes() == &window[dot + 1..end]);
        let quote = end + 1;
        (known && window.get(end) == Some(&b'(') && skip_closing_quote(bytes, quote) > quote)
            .then(|| Self { is_argument: true, ..Self::new(quote, Shape::Bare) })
    }

    /// Finds the next cell of a table row: `| DB_PASSWORD | … |`.
    fn in_table(bytes: &[u8], name: usize, at: usize) -> Option<Self> {
        const MAX_CELL_BYTES: usize = 32;
        let bar = skip_blanks(bytes, span(&bytes[..bytes.len().min(at + 2)], at, |byte| matches!(byte, b'`' | b'*')));
        let length = match &bytes[bar..] {
            [b'|', b' ', ..] => 1,
            [0xE2, 0x94, 0x82, ..] => 3,
            _ => 0,
        };
        // At most a few words of the same cell may precede the name.
        let before = &bytes[name.saturating_sub(MAX_CELL_BYTES)..name];
        let cell = before
            .iter()
            .rposition(|&byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'*' | b'`' | b'_' | b'-')));
        let row = cell.is_some_and(|bar| matches!(before[bar], b'|' | 0x82));
        (length > 0 && bar > at && row).then(|| {
            let start = skip_blanks(bytes, bar + length);
            let start = if bytes.get(start) == Some(&b'`') { start + 1 } else { start };
            Self { in_prose: true, ..Self::new(start, Shape::Loose) }
        })
    }

    pub(super) fn after_type(bytes: &[u8], at: usize) -> Option<Self> {
        let sign = skip_blanks(bytes, at);
        (sign > at && bytes.get(sign) == Some(&b'=') && bytes.get(sign + 1) == Some(&b' '))
            .then(|| Self::new(skip_blanks(bytes, sign + 1), Shape::Loose))
    }

    fn new(at: usize, shape: Shape) -> Self {
        Self { at, shape, is_argument: false, in_prose: false, is_bare_word: false, is_encoded: false }
    }
}

/// Returns the position after the quote that closes a name, including its backslashes in JSON within JSON. Returns the
/// same position if there is none.
fn skip_closing_quote(bytes: &[u8], at: usize) -> usize {
    let quote = span(&bytes[..bytes.len().min(at + 8)], at, |byte| byte == b'\\');
    match bytes.get(quote) {
        Some(b'"' | b'\'' | b'`') => quote + 1,
        _ => at,
    }
}

pub(super) fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    const MAX_BLANKS: usize = 32;
    span(&bytes[..bytes.len().min(at + MAX_BLANKS)], at, |byte| matches!(byte, b' ' | b'\t'))
}

/// Returns the length of the operator: `=`, `:`, `:=`, `=>`, `==`, `?=`, the full-width colon and equals sign,
/// and the comma after a quoted name.
fn operator_length(rest: &[u8], quoted: bool) -> usize {
    match rest {
        [b':', b':' | b'/', ..] => 0,
        [b'=', b'=', b'=', ..] | [0xEF, 0xBC, 0x9A | 0x9D, ..] => 3,
        [b':' | b'?' | b'=' | b'!', b'=', ..] | [b'=', b'>', ..] | [b':', b'-', b'!'..=b'~', ..] => 2,
        [b'=' | b':', ..] => 1,
        [b',', ..] if quoted => 1,
        _ => 0,
    }
}

/// Returns the position after the stars of Markdown emphasis, or the same position if there are none.
fn skip_emphasis(bytes: &[u8], at: usize) -> usize {
    span(&bytes[..bytes.len().min(at + 2)], at, |byte| byte == b'*')
}

/// Returns the position after a YAML anchor or tag, as in `&name …` and `!!str "…"`, or the same position if there is
/// none.
fn skip_yaml_tag(bytes: &[u8], at: usize) -> usize {
    const MAX_BYTES: usize = 32;
    if !matches!(bytes.get(at), Some(b'&' | b'!')) {
        return at;
    }
    let end = span(&bytes[..bytes.len().min(at + MAX_BYTES)], at + 1, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'!')
    });
    // A reference in Rust: `password: &mut String`.
    let is_type = matches!(&bytes[at + 1..end], b"str" | b"mut" | b"dyn" | b"impl" | b"self");
    let is_value = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) || skip_closing_quote(bytes, at) > at;
    if bytes.get(end) == Some(&b' ') && !is_type && is_value(end + 1) { end + 1 } else { at }
}

/// Returns the length in bytes of the Korean particle that stands between a name and a value without blanks: `비밀번호는sunny2024!입니다`.
fn length_of_particle(rest: &[u8]) -> Option<usize> {
    let particle = ["는", "은", "가", "이", "를", "을"].iter().find(|particle| rest.starts_with(particle.as_bytes()))?;
    rest.get(particle.len()).is_some_and(u8::is_ascii_alphanumeric).then_some(particle.len())
}

/// Returns the position after the end of a line, also one that JSON escapes, or the same position if the line goes on.
fn skip_line_end(bytes: &[u8], at: usize) -> usize {
    let ends: [&[u8]; 4] = [b"\r\n", b"\n", b"\\r\\n", b"\\n"];
    at + ends.iter().find(|end| bytes[at..].starts_with(end)).map_or(0, |end| end.len())
}

/// Returns the position of the quote in `Some("…")`, or the same position if nothing is wrapped.
fn skip_wrapper(bytes: &[u8], at: usize) -> usize {
    const MAX_BYTES: usize = 24;
    let window = &bytes[..bytes.len().min(at + MAX_BYTES)];
    let end = span(window, at, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b':' | b'_'));
    let known = end > at && bytes.get(end) == Some(&b'(') && WRAPPERS.iter().any(|name| name.as_bytes() == &window[at..end]);
    if known && skip_closing_quote(bytes, end + 1) > end + 1 { end + 1 } else { at }
}
