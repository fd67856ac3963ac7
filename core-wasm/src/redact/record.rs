//! Secrets in records that say elsewhere what their fields mean: a Kubernetes secret, a JSON web key, the columns of an
//! INSERT.

use std::ops::Range;

use memchr::memmem;

use super::{
    assignment::quoted,
    rule::Rule,
    scan::{Scan, is_name, span, span_back},
    token::is_url_safe,
    value::{Kind, Shape, is_secret},
};

/// Finds the values below `data:` and `stringData:` of an object of kind Secret. `kubectl` prints them before the kind;
/// people write them after it.
pub(super) fn kubernetes(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    /// How far the fields of one object reach, in bytes.
    const MAX_DISTANCE: usize = 4096;
    let bytes = scan.bytes;
    let start = at.start.saturating_sub(MAX_DISTANCE);
    let start = memmem::rfind(&bytes[start..at.start], b"---").map_or(start, |found| start + found);
    let end = bytes.len().min(at.end + MAX_DISTANCE);
    let end = memmem::find(&bytes[at.end..end], b"---").map_or(end, |found| at.end + found);
    let area = scan.unsearched(rule.id, start..end);
    let mut from = area.start;
    while let Some(found) = memmem::find(&bytes[from..area.end], b"ata") {
        let start = span_back(bytes, from + found, 9, |byte| byte.is_ascii_alphabetic());
        // The letter of `\n`.
        let start = start + usize::from(bytes[..start].ends_with(b"\\"));
        let name_end = from + found + 3;
        let is_data = matches!(&bytes[start..name_end], b"data" | b"stringData");
        from = if is_data { data(scan, rule, name_end, area.end) } else { name_end };
    }
}

/// Finds the entries of a mapping whose name ends at `at`. Returns where the mapping ends.
fn data(scan: &mut Scan, rule: &'static Rule, at: usize, end: usize) -> usize {
    let bytes = scan.bytes;
    let between = |byte: u8| matches!(byte, b' ' | b':' | b'"' | b'\\' | b'{' | b'\r');
    let mut from = span(&bytes[..end], at, between);
    if !bytes[at..from].contains(&b':') {
        return at;
    }
    // Line numbers with arrows, diff marks, indentation, and the quotes and commas of JSON.
    let margin = |byte: u8| !byte.is_ascii_alphabetic() && !matches!(byte, b'}' | b'-' | b'_');
    loop {
        let mut name = span(&bytes[..end], from, margin);
        // `\n` of a text in JSON.
        if bytes[name - 1] == b'\\' && bytes.get(name) == Some(&b'n') {
            name = span(&bytes[..end], name + 1, margin);
        }
        let name_end = span(&bytes[..end], name, is_name);
        let sign = span(&bytes[..end], name_end, |byte| matches!(byte, b'"' | b'\\'));
        let value = span(&bytes[..end], sign, |byte| matches!(byte, b':' | b' ' | b'"' | b'\\'));
        let outdented = matches!(&bytes[name..name_end], b"kind" | b"metadata" | b"type" | b"apiVersion" | b"immutable");
        if name_end == name || !bytes[sign..value].contains(&b':') || outdented {
            return name;
        }
        let value_end = scan.word(value).min(end);
        let text = scan.text.get(value..value_end).unwrap_or_default();
        if is_base64(text) || is_secret(text, Kind::Password, Shape::Bare) {
            scan.add_likely(rule.id, value..value_end);
        }
        from = value_end.max(name_end);
    }
}

fn is_base64(text: &str) -> bool {
    const MIN_LENGTH: usize = 8;
    let body = text.trim_end_matches('=');
    text.len() >= MIN_LENGTH
        && text.len().is_multiple_of(4)
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        && body.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Finds the private parts of a JSON web key: RFC 7518, sections 6.2.2, 6.3.2 and 6.4.
pub(super) fn web_key(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_DISTANCE: usize = 4096;
    const PRIVATE: [&[u8]; 7] = [b"d", b"p", b"q", b"dp", b"dq", b"qi", b"k"];
    /// 128 bits in base64.
    const MIN_LENGTH: usize = 22;
    let bytes = scan.bytes;
    let start = at.start.saturating_sub(MAX_DISTANCE);
    let start = memchr::memrchr(b'{', &bytes[start..at.start]).map_or(at.start, |open| start + open);
    let end = bytes.len().min(at.end + MAX_DISTANCE);
    let end = memchr::memchr(b'}', &bytes[at.end..end]).map_or(end, |close| at.end + close);
    let area = scan.unsearched(rule.id, start..end);
    let mut from = area.start;
    while let Some(found) = memchr::memchr(b'"', &bytes[from..area.end]) {
        let name = from + found + 1;
        let name_end = span(&bytes[..area.end], name, |byte| byte.is_ascii_alphabetic());
        from = name;
        let value = span(&bytes[..area.end], name_end, |byte| matches!(byte, b'"' | b'\\' | b':' | b' '));
        let value_end = span(&bytes[..area.end], value, is_url_safe);
        if PRIVATE.contains(&&bytes[name..name_end])
            && bytes[name_end..value].contains(&b':')
            && value_end - value >= MIN_LENGTH
        {
            scan.add_certain(rule.id, value..value_end);
            from = value_end;
        }
    }
}

/// Finds values whose column name indicates a secret: `INSERT INTO users (name, password) VALUES ('amy', 'SECRET')`.
pub(super) fn insert(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_BYTES: usize = 1024;
    /// How many columns and rows are examined.
    const MAX_COLUMNS: usize = 32;
    const MAX_ROWS: usize = 8;
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + MAX_BYTES)];
    let open = span(window, at.end, |byte| byte != b'(' && byte != b';');
    let close = span(window, open, |byte| byte != b')' && byte != b';');
    if window.get(open) != Some(&b'(') || window.get(close) != Some(&b')') {
        return;
    }
    let columns: Vec<Option<Kind>> =
        window[open + 1..close].split(|&byte| byte == b',').take(MAX_COLUMNS).map(column).collect();
    if columns.iter().all(Option::is_none) {
        return;
    }
    let mut from = close;
    for _ in 0..MAX_ROWS {
        let row = span(window, from + 1, |byte| byte != b'(' && byte != b';');
        if window.get(row) != Some(&b'(') {
            return;
        }
        from = row;
        for &kind in &columns {
            let value = span(window, from + 1, |byte| byte.is_ascii_whitespace());
            let inside = quoted(scan, value).filter(|inside| inside.end < window.len());
            let value_end = inside.as_ref().map_or(value, |inside| span(window, inside.end, |byte| byte == b'\\') + 1);
            if let (Some(kind), Some(inside)) = (kind, inside)
                && is_secret(scan.text.get(inside.clone()).unwrap_or_default(), kind, Shape::Quoted)
            {
                scan.add_likely(rule.id, inside);
            }
            from = span(window, value_end, |byte| !matches!(byte, b',' | b')' | b';'));
            if window.get(from) != Some(&b',') {
                break;
            }
        }
    }
}

/// Finds the password in `WIFI:T:WPA;S:home;P:SECRET;;`, the text of a QR code.
pub(super) fn wifi(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_BYTES: usize = 256;
    let window = &scan.bytes[..scan.bytes.len().min(at.end + MAX_BYTES)];
    let window = &window[..span(window, at.end, |byte| byte != b'\n' && byte != b'"')];
    let field = memmem::find(&window[at.end - 1..], b":P:").or_else(|| memmem::find(&window[at.end - 1..], b";P:"));
    let Some(start) = field.map(|field| at.end - 1 + field + 3) else { return };
    // A backslash escapes the semicolon.
    let end = (start..window.len()).find(|&at| window[at] == b';' && window[at - 1] != b'\\').unwrap_or(window.len());
    if end > start {
        scan.add_certain(rule.id, start..end);
    }
}

/// Finds the values below the name of a column: in CSV, in values separated by tabs or semicolons, and in tables of Markdown and
/// of database programs.
pub(super) fn columns(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    /// How long a header may be, how many cells it may have, and how many rows are read.
    const MAX_HEADER_BYTES: usize = 512;
    const MAX_CELLS: usize = 32;
    const MAX_ROWS: usize = 200;
    /// The tab of a text in JSON is two letters.
    const SEPARATORS: [&[u8]; 5] = [b",", b";", b"\t", b"|", b"\\t"];
    let bytes = scan.bytes;
    let start = line_start(bytes, at.start, MAX_HEADER_BYTES);
    // One header has several keywords.
    if scan.unsearched(rule.id, start..at.end).start > start {
        return;
    }
    let end = line_end(bytes, at.end, MAX_HEADER_BYTES);
    scan.unsearched(rule.id, start..end);
    // `Here is the list: user,password`
    let start = memmem::rfind(&bytes[start..at.start], b": ").map_or(start, |colon| start + colon + 2);
    let header = &bytes[start..end];
    let count = |separator: &&[u8]| memmem::find_iter(header, separator).count();
    let Some(separator) = SEPARATORS.into_iter().filter(|separator| count(separator) > 0).max_by_key(count) else {
        return;
    };
    // What stands outside of the first and the last bar belongs to no cell.
    let is_framed = separator == b"|" && header.trim_ascii_end().ends_with(b"|");
    let cells = split(header, separator, is_framed);
    if !(2..=MAX_CELLS).contains(&cells.len()) || !cells.iter().all(|cell| is_column_name(&header[cell.clone()])) {
        return;
    }
    let wanted: Vec<(usize, Kind)> =
        cells.iter().enumerate().filter_map(|(at, cell)| Some((at, named_column(&header[cell.clone()])?))).collect();
    let mut from = end;
    for _ in 0..MAX_ROWS {
        let Some(row) = next_line(bytes, from) else { return };
        from = line_end(bytes, row, MAX_HEADER_BYTES * 4);
        let line = &bytes[row..from];
        let values = split(line, separator, is_framed);
        if values.len() != cells.len() {
            // The rule below a header has other signs between its cells.
            if line.iter().all(|byte| matches!(byte, b'-' | b'+' | b'|' | b':' | b' ' | b'=')) && !line.is_empty() {
                continue;
            }
            return;
        }
        for (cell, kind) in &wanted {
            let value = trimmed(bytes, row + values[*cell].start..row + values[*cell].end);
            let text = scan.text.get(value.clone()).unwrap_or_default();
            let is_telling = text.bytes().any(|byte| byte.is_ascii_digit()) && text.len() >= 6;
            if is_telling && is_secret(text, *kind, Shape::Bare) {
                scan.add_likely(rule.id, value);
            }
        }
    }
}

/// Returns where the line that contains `at` begins. A newline may be escaped.
fn line_start(bytes: &[u8], at: usize, most: usize) -> usize {
    let low = at.saturating_sub(most);
    let window = &bytes[low..at];
    let newline = memchr::memrchr(b'\n', window).map_or(0, |newline| newline + 1);
    let escaped = memmem::rfind(&window[newline..], b"\\n").map_or(newline, |escape| newline + escape + 2);
    // A text in JSON begins after a quote.
    let quote = window[escaped..].iter().rposition(|&byte| byte == b'"').map_or(escaped, |quote| escaped + quote + 1);
    low + quote
}

/// Returns where the line that contains `from` ends.
fn line_end(bytes: &[u8], from: usize, most: usize) -> usize {
    let window = &bytes[..bytes.len().min(from + most)];
    (from..window.len())
        .find(|&at| {
            matches!(window[at], b'\n' | b'\r' | b'"')
                || window[at] == b'\\' && matches!(window.get(at + 1), Some(b'n' | b'r' | b'\\' | b'"'))
        })
        .unwrap_or(window.len())
}

/// Returns where the line after a line's end begins, or none if there is no other line.
fn next_line(bytes: &[u8], end: usize) -> Option<usize> {
    let rest = &bytes[end..];
    let escape = span(&rest[..rest.len().min(8)], 0, |byte| matches!(byte, b'\\' | b'r' | b'\r'));
    match rest.get(escape)? {
        b'\n' => Some(end + escape + 1),
        b'n' if escape > 0 => Some(end + escape + 1),
        _ => None,
    }
}

/// Splits a line into its cells, without those outside of the first and last bar if a frame is around the table, and otherwise
/// without empty ones there.
fn split(line: &[u8], separator: &[u8], is_framed: bool) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut start = 0;
    for at in memmem::find_iter(line, separator).chain([line.len()]) {
        cells.push(start..at);
        start = at + separator.len();
    }
    if separator == b"|" {
        let is_blank =
            |cell: &Range<usize>| !line[cell.clone()].iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
        let is_blank = |cell: &Range<usize>| is_framed || is_blank(cell);
        if cells.last().is_some_and(is_blank) {
            cells.pop();
        }
        if cells.first().is_some_and(is_blank) {
            cells.remove(0);
        }
    }
    cells
}

fn is_column_name(cell: &[u8]) -> bool {
    const MAX_BYTES: usize = 40;
    let cell = cell.trim_ascii();
    !cell.is_empty()
        && cell.len() <= MAX_BYTES
        && memchr::memchr_iter(b' ', cell).count() <= 3
        && cell.iter().all(|&byte| {
            byte.is_ascii_alphanumeric()
                || byte >= 0x80
                || matches!(byte, b' ' | b'_' | b'-' | b'*' | b'`' | b'/' | b'\'' | b'+')
        })
}

/// Returns the kind of value that a column's name indicates, in any language.
fn named_column(name: &[u8]) -> Option<Kind> {
    const NAMES: [&str; 8] = ["비밀번호", "패스워드", "비번", "암호", "パスワード", "密码", "密碼", "contraseña"];
    let is_other = NAMES.iter().any(|other| memmem::find(name, other.as_bytes()).is_some());
    if is_other { Some(Kind::Password) } else { column(name) }
}

/// Returns the range without blanks, quotes and marks of emphasis.
fn trimmed(bytes: &[u8], mut range: Range<usize>) -> Range<usize> {
    let is_margin = |byte: u8| matches!(byte, b' ' | b'\t' | b'\'' | b'`' | b'*' | b'\r');
    while range.start < range.end && is_margin(bytes[range.start]) {
        range.start += 1;
    }
    while range.start < range.end && is_margin(bytes[range.end - 1]) {
        range.end -= 1;
    }
    range
}

/// Returns the kind of value that the name of a column indicates.
fn column(name: &[u8]) -> Option<Kind> {
    let name: Vec<u8> = name.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending.as_bytes()));
    if ends(&["password", "passwd", "pwd", "passphrase", "passwort", "kennwort"]) {
        Some(Kind::Password)
    } else if ends(&["secret", "apikey", "accesskey", "privatekey", "secretkey", "accesstoken", "refreshtoken", "authtoken"])
    {
        Some(Kind::Secret)
    } else {
        ends(&["token"]).then_some(Kind::Token)
    }
}
