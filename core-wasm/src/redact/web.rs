//! Secrets in network traffic: URLs with a user, authorization headers, cookies.

use std::ops::Range;

use memchr::memmem;

use super::{
    assignment::quoted,
    rule::Rule,
    scan::{Scan, is_name, is_token_start, span, span_back},
    token::is_url_safe,
    value::{Kind, Shape, base64_value, entropy, is_secret},
};

/// Finds the password in an address of either form.
pub(super) fn address(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    if scan.bytes[at.start] == b'@' {
        data_source(scan, rule, at);
    } else {
        userinfo(scan, rule, at);
    }
}

/// Finds the password in `scheme://user:password@host`, or a token alone in that place.
fn userinfo(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    /// The maximum number of bytes between the slashes and the `@`.
    const MAX_BYTES: usize = 512;
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + MAX_BYTES)];
    let authority = span(window, at.end, |byte| {
        byte > b' ' && !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
    });
    let colon = window[at.end..authority].iter().position(|&byte| byte == b':').map(|colon| at.end + colon);
    let mut host = memchr::memrchr(b'@', &window[at.end..authority]).map(|sign| at.end + sign);
    // A password may contain characters that should have been escaped. A port may not.
    if host.is_none()
        && let Some(colon) = colon
        && window.get(colon + 1).is_some_and(|next| !next.is_ascii_digit() && *next != b'/')
    {
        let end = span(window, authority, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\'));
        host = memchr::memchr(b'@', &window[authority..end]).map(|sign| authority + sign);
    }
    let Some(host) = host else {
        return;
    };
    if bytes[at.end..host].starts_with(b"[redacted:") {
        return;
    }
    let (user, password) = match colon {
        Some(colon) if colon < host => (at.end..colon, colon + 1..host),
        _ => (at.end..at.end, at.end..host),
    };
    let text = |range: Range<usize>| scan.text.get(range).unwrap_or_default();
    let alone = password.start == at.end;
    // A user name that no person would have is a key, too.
    let is_key = user.len() >= 32 && is_secret(text(user.clone()), Kind::Token, Shape::Bare);
    let secret = if alone {
        is_secret(text(password.clone()), Kind::Token, Shape::Bare) && password.len() >= 16
    } else {
        text(user.clone()) != text(password.clone()) && is_secret(text(password.clone()), Kind::Password, Shape::Bare)
    };
    if is_key {
        scan.add_likely(rule.id, user);
    }
    if secret {
        scan.add_likely(rule.id, password);
    }
}

/// Finds the password in `user:password@tcp(host)`, the data source name of the Go driver for `MySQL`.
fn data_source(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_BYTES: usize = 128;
    let start =
        span_back(scan.bytes, at.start, MAX_BYTES, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`' | b'='));
    let Some(colon) = memchr::memchr(b':', &scan.bytes[start..at.start]) else {
        return;
    };
    let password = start + colon + 1..at.start;
    let text = scan.text.get(password.clone()).unwrap_or_default();
    if is_secret(text, Kind::Password, Shape::Bare) {
        scan.add_likely(rule.id, password);
    }
}

/// Finds the credential in `Authorization: Bearer …`, `"authorization": "Basic …"` and `-H 'Authorization: token …'`.
pub(super) fn authorization(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    if scan.covers(at.start) {
        return;
    }
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + 24)];
    let sign = span(window, at.end, is_separator);
    if !window[at.end..sign].iter().any(|byte| matches!(byte, b':' | b'=' | b',')) {
        return;
    }
    let scheme = span(window, sign, |byte| byte.is_ascii_alphabetic() || byte == b'-');
    let known = ["bearer", "basic", "token", "apikey", "digest", "negotiate", "bot", "key", "splunk", "genie-key"]
        .iter()
        .any(|known| bytes[sign..scheme].eq_ignore_ascii_case(known.as_bytes()));
    let start = if known {
        span(&bytes[..bytes.len().min(scheme + 8)], scheme, |byte| matches!(byte, b' ' | b'\t' | b'='))
    } else {
        sign
    };
    if known && start == scheme {
        return;
    }
    let kind = if known { Kind::Secret } else { Kind::Token };
    credential(scan, rule, start, |text| is_secret(text, kind, Shape::Bare) || known && is_user_and_password(text));
}

/// Finds `Bearer …` without the name of its header.
pub(super) fn bearer(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    if scan.covers(at.start) || !is_token_start(scan.bytes, at.start) {
        return;
    }
    credential(scan, rule, at.end, |text| text.len() >= 12 && is_secret(text, Kind::Token, Shape::Bare));
}

/// Finds `Basic …` without the name of its header, and the `"auth"` of container registries and package managers.
pub(super) fn basic(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    if scan.covers(at.start) {
        return;
    }
    let bytes = scan.bytes;
    let start = span(&bytes[..bytes.len().min(at.end + 8)], at.end, is_separator);
    credential(scan, rule, start, is_user_and_password);
}

/// Returns whether the byte may separate a header's name from its value, in JSON, program text or a request.
fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b':' | b'=' | b',' | b'"' | b'\'' | b'`' | b'\\' | b'(' | b'[' | b']')
}

/// Adds the credential that starts at `start`, if its beginning passes the check.
fn credential(scan: &mut Scan, rule: &'static Rule, start: usize, check: impl Fn(&str) -> bool) {
    /// How many bytes are enough for the check.
    const SAMPLE_BYTES: usize = 256;
    let class = |byte: u8| {
        is_url_safe(byte) || matches!(byte, b'+' | b'/' | b'=' | b'.' | b'~' | b':' | b'!' | b'$' | b'%' | b'*' | b'@')
    };
    let end = scan.word(start);
    let beginning = start..span(&scan.bytes[..end.min(start + SAMPLE_BYTES)], start, class);
    if check(scan.text.get(beginning).unwrap_or_default()) {
        scan.add_likely(rule.id, start..span(&scan.bytes[..end], start, class));
    }
}

/// Returns whether base64 decodes to `user:password`.
fn is_user_and_password(text: &str) -> bool {
    let text = text.trim_end_matches('=').as_bytes();
    if text.len() < 8 {
        return false;
    }
    let mut colon = false;
    let (mut bits, mut count) = (0u32, 0);
    for &byte in text {
        let Some(value) = base64_value(byte) else { return false };
        bits = bits << 6 | value;
        count += 6;
        if count >= 8 {
            count -= 8;
            let decoded = (bits >> count) & 0xFF;
            bits &= (1 << count) - 1;
            if !(0x20..0x7F).contains(&decoded) {
                return false;
            }
            colon |= decoded == u32::from(b':');
        }
    }
    colon
}

/// Finds the values of a `Cookie` or `Set-Cookie` header or of `curl --cookie`. The names stay.
pub(super) fn cookie(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const ATTRIBUTES: &[&str] = &["path", "domain", "max-age", "expires", "samesite", "priority", "version"];
    let bytes = scan.bytes;
    // `--cookie …`, and curl's `-b '…'`, whose quote belongs to the keyword.
    let short = bytes[at.start] == b' ';
    let option = bytes[..at.start].ends_with(b"--");
    let window = &bytes[..bytes.len().min(at.end + 12)];
    let start = span(window, at.end, is_separator);
    let between = &window[at.end..start];
    let sign = between.iter().any(|byte| matches!(byte, b':' | b','))
        || between.contains(&b'=') && between.last().is_some_and(|last| matches!(last, b'"' | b'\'' | b'`'));
    if !(sign || short || option && start > at.end) {
        return;
    }
    if scan.reached(rule.id) > start {
        return;
    }
    let end = header_end(scan, at.end, start);
    let line = scan.unsearched(rule.id, start..end);
    let mut from = line.start;
    while from < line.end {
        let pair_end = span(&bytes[..line.end], from, |byte| byte != b';');
        let name_at = span(&bytes[..pair_end], from, |byte| byte == b' ');
        let name_end = span(&bytes[..pair_end], name_at, is_name);
        let value_at = span(&bytes[..pair_end], name_end, |byte| byte == b'=').min(name_end + 1);
        let value_end = span(&bytes[..pair_end], value_at, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`'));
        let name = scan.text.get(name_at..name_end).unwrap_or_default();
        let value = scan.text.get(value_at..value_end).unwrap_or_default();
        let attribute = ATTRIBUTES.iter().any(|attribute| name.eq_ignore_ascii_case(attribute));
        if name_end == name_at || value_at == name_end && from == line.start {
            break;
        }
        if !attribute && is_cookie_value(value) {
            scan.add_likely(rule.id, value_at..value_end);
        }
        from = pair_end + 1;
    }
}

/// Finds the value in a line of a cookie jar: domain, flag, path, flag, time, name and value, separated by tabs.
pub(super) fn cookie_jar(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    /// The maximum number of bytes after the keyword, and of fields after it. The value is one of these fields.
    const MAX_BYTES: usize = 512;
    const MAX_FIELDS: usize = 6;
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + MAX_BYTES)];
    // The tab is escaped once for each level of JSON within JSON.
    let tab_start = at.end - 1;
    let tab_end = span(window, tab_start, |byte| byte == b'\\') + 1;
    let Some(tab) = bytes.get(tab_start..tab_end).filter(|tab| matches!(tab, [b'\t'] | [b'\\', .., b't'])) else {
        return;
    };
    let mut starts = vec![tab_end];
    let line = span(window, tab_end, |byte| byte != b'\n' && byte != b'"');
    while starts.len() <= MAX_FIELDS
        && let Some(next) = memmem::find(&window[starts[starts.len() - 1]..line], tab)
    {
        starts.push(starts[starts.len() - 1] + next + tab.len());
    }
    // A time, a name and a value follow the second flag.
    let [.., time, name, value] = starts[..] else { return };
    let timed = bytes[time..name - tab.len()].iter().all(u8::is_ascii_digit);
    let end = span(bytes, value, |byte| byte > b' ' && !matches!(byte, b'\\' | b'"'));
    if timed && name > time + tab.len() && is_cookie_value(scan.text.get(value..end).unwrap_or_default()) {
        scan.add_likely(rule.id, value..end);
    }
}

/// Finds the password in `jdbc:oracle:thin:user/SECRET@host`.
pub(super) fn oracle(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_BYTES: usize = 200;
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + MAX_BYTES)];
    let end = span(window, at.end, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\'));
    let Some(host) = memmem::find(&window[at.end..end], b"@") else { return };
    let Some(slash) = memchr::memchr(b'/', &window[at.end..at.end + host]) else { return };
    let password = at.end + slash + 1..at.end + host;
    if is_secret(scan.text.get(password.clone()).unwrap_or_default(), Kind::Password, Shape::Bare) {
        scan.add_likely(rule.id, password);
    }
}

/// Returns the end of a header: the end of the quotes around it, or of the line.
fn header_end(scan: &Scan, name_end: usize, start: usize) -> usize {
    let quoted = (name_end..start).find_map(|at| quoted(scan, at).filter(|range| range.start == start));
    if let Some(range) = quoted {
        return range.end;
    }
    let bytes = scan.bytes;
    (start..bytes.len())
        .find(|&at| match bytes[at] {
            b'\n' | b'"' | b'\'' | b'`' => true,
            b'\\' => matches!(bytes.get(at + 1), Some(b'n' | b'r' | b'"')),
            _ => false,
        })
        .unwrap_or(bytes.len())
}

fn is_cookie_value(value: &str) -> bool {
    value.len() >= 8 && !value.starts_with("[redacted") && is_secret(value, Kind::Secret, Shape::Bare)
        || value.len() >= 24 && entropy(value.as_bytes()) >= 4.0 && is_secret(value, Kind::Token, Shape::Bare)
}

/// Finds the key in the address of a webhook on a host of its own: `https://chat.example/hooks/KEY`.
pub(super) fn webhook(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_HOST_BYTES: usize = 80;
    const MIN_BYTES: usize = 20;
    let bytes = scan.bytes;
    let before = &bytes[at.start.saturating_sub(MAX_HOST_BYTES)..at.start];
    let Some(scheme) = memmem::rfind(before, b"://") else { return };
    if before[scheme + 3..].iter().any(|byte| *byte <= b' ' || matches!(byte, b'"' | b'\'')) {
        return;
    }
    let end = span(&bytes[..bytes.len().min(at.end + 200)], at.end, |byte| is_url_safe(byte) || byte == b'/');
    let key = at.end..end;
    let text = scan.text.get(key.clone()).unwrap_or_default();
    let last = text.rsplit('/').next().unwrap_or_default();
    let has_digit = last.bytes().any(|byte| byte.is_ascii_digit());
    if last.len() >= MIN_BYTES && has_digit && entropy(last.as_bytes()) >= 3.2 {
        scan.add_likely(rule.id, key);
    }
}

/// Finds the keys among the parameters of an address whose host lets in anybody who knows them.
pub(super) fn signed_webhook(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_BYTES: usize = 600;
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + MAX_BYTES)];
    let end = span(window, at.end, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\'));
    let area = scan.unsearched(rule.id, at.end..end);
    for name in ["sig=", "key=", "token="] {
        let Some(found) = memmem::find(&bytes[area.clone()], name.as_bytes()) else { continue };
        let start = area.start + found + name.len();
        let end = span(&bytes[..area.end], start, |byte| is_url_safe(byte) || matches!(byte, b'%' | b'.' | b'~'));
        if end - start >= 16 {
            scan.add_likely(rule.id, start..end);
        }
    }
}
