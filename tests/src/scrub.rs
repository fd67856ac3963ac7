//! Removes the parts of a text that differ from run to run, so that it can be used in a snapshot.

use std::path::Path;

/// The text with the home's path as `[HOME]`, and every date, time, and identifier of 36 characters by its kind.
pub fn scrub(text: &str, home: &Path) -> String {
    let canonical = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    let text = text.replace(&*canonical.to_string_lossy(), "[HOME]").replace(&*home.to_string_lossy(), "[HOME]");
    let mut rest = text.as_str();
    let mut out = String::with_capacity(text.len());
    while let Some(first) = rest.chars().next() {
        if let Some((length, name)) =
            PATTERNS.iter().find_map(|(pattern, name)| matches(pattern, rest).then_some((pattern.len(), name)))
        {
            out.push_str(name);
            rest = &rest[length..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// The recognized patterns, longest first: `9` stands for any digit, `f` for any hexadecimal digit.
const PATTERNS: &[(&str, &str)] = &[
    ("ffffffff-ffff-ffff-ffff-ffffffffffff", "[UUID]"),
    ("9999-99-99T99:99:99.999Z", "[TIME]"),
    ("9999-99-99T99:99:99Z", "[TIME]"),
    ("9999-99-99 99:99", "[TIME]"),
    ("9999-99-99", "[DATE]"),
];

fn matches(pattern: &str, text: &str) -> bool {
    let mut bytes = text.bytes();
    pattern.bytes().all(|wanted| {
        bytes.next().is_some_and(|byte| match wanted {
            b'9' => byte.is_ascii_digit(),
            b'f' => byte.is_ascii_hexdigit(),
            other => byte == other,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::scrub;
    use std::path::Path;

    #[test]
    fn what_differs_from_run_to_run_is_named_by_its_kind() {
        let text = "/h/me/x on 2026-11-21T20:47:48.283Z, 2026-11-21 and 한 0a1b2c3d-0000-4000-8000-00000000000f";
        assert_eq!(scrub(text, Path::new("/h/me")), "[HOME]/x on [TIME], [DATE] and 한 [UUID]");
    }
}
