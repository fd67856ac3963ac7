//! Texts of failures that are the same in every run.

/// Removes what differs from run to run (times, positions, hashes, names of temporary folders), so that the same
/// failure in two sessions becomes one memory.
pub(super) fn normalize(text: &str) -> String {
    let mut normalized = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        let space = &word[bare.len()..];
        if is_timing(bare) {
            // The white space after it is dropped as well.
            continue;
        }
        let in_path = bare.contains('/');
        let mut parts = bare.split('/').map(|part| normalize_part(part, in_path));
        normalized.push_str(&parts.next().unwrap_or_default());
        for part in parts {
            normalized.push('/');
            normalized.push_str(&part);
        }
        normalized.push_str(space);
    }
    // `[3.22ms].` leaves its full stop.
    normalized.trim().to_owned()
}

/// Returns whether the word is a duration such as `[3.22ms]` or `(1.2s)`, with or without a full stop or comma after
/// it.
fn is_timing(word: &str) -> bool {
    let inner = word.trim_end_matches(['.', ',']);
    let inner = inner
        .strip_prefix('[')
        .and_then(|inner| inner.strip_suffix(']'))
        .or_else(|| inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')));
    inner.is_some_and(|inner| {
        let number = inner.trim_end_matches("ms").trim_end_matches('s');
        number.len() < inner.len() && number.parse::<f32>().is_ok()
    })
}

/// Normalizes one part of a path, or one word.
fn normalize_part(part: &str, in_path: bool) -> String {
    let part = strip_position(part);
    let word = part.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let name = word.rsplit(['-', '.', '_']).next().unwrap_or(word);
    let generated = in_path && name.len() < word.len() && is_mkdtemp_suffix(name);
    if (generated || is_random(name))
        && let Some(at) = part.rfind(name)
    {
        return format!("{}…{}", &part[..at], &part[at + name.len()..]);
    }
    part
}

/// Strips `:12:5` or `(12,5)` after the name of a file.
fn strip_position(part: &str) -> String {
    let Some(at) = part.find([':', '(']) else {
        return part.to_owned();
    };
    let (name, rest) = part.split_at(at);
    let end =
        rest[1..].find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | ',' | ')')).map_or(rest.len(), |end| end + 1);
    let digits = rest[..end].bytes().any(|byte| byte.is_ascii_digit());
    if !name.contains('.') || !digits {
        return part.to_owned();
    }
    let colon = if rest[..end].ends_with(':') { ":" } else { "" };
    format!("{name}{colon}{}", &rest[end..])
}

/// Returns whether a program generated the name: a hash, or six or more letters and digits that do not look like a
/// word.
fn is_random(name: &str) -> bool {
    if name.len() < 6 || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return false;
    }
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let hexadecimal = name.len() >= 7 && digits > 0 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let changes = name
        .as_bytes()
        .windows(2)
        .filter(|pair| char_class(pair[0]) != char_class(pair[1]) && !pair[0].is_ascii_uppercase())
        .count();
    hexadecimal
        || (name.len() <= 12 && changes >= 2 && (digits > 0 || name.as_bytes()[name.len() - 1].is_ascii_uppercase()))
        || (name.len() == 6 && changes >= 2)
}

/// Returns whether the name is a suffix of six letters and digits, as `mkdtemp` appends it.
fn is_mkdtemp_suffix(name: &str) -> bool {
    name.len() == 6
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && name.bytes().any(|byte| byte.is_ascii_lowercase())
        && name.bytes().any(|byte| !byte.is_ascii_lowercase())
}

fn char_class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    }
}
