//! YAML for notes: parsed by a library with limits, written for diffs and for Obsidian.

use std::fmt::Write as _;

use serde::de::DeserializeOwned;
use throughline_model::invalid::Invalid;

/// Parses a text. The error is one line for a person, starting with the line number.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Invalid> {
    serde_saphyr::from_str(text).map_err(|error| {
        let place = error.location().map(|at| format!("line {}: ", at.line())).unwrap_or_default();
        let why = error.to_string();
        // The library prints the place below the first line of its message.
        let first = why.lines().find(|line| !line.trim().is_empty()).unwrap_or("it is not valid YAML").trim();
        format!("{place}{}", first.strip_prefix("error: ").unwrap_or(first)).into()
    })
}

/// Formats a text as a scalar: plain if it cannot be taken for anything else, otherwise in double quotes.
pub fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// Formats a text in double quotes.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            // Characters that YAML calls not printable, line separators, and byte order marks.
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Words that YAML readers take for values of other types, some only in YAML 1.1.
const VALUES: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];

fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_dated = bytes.len() > 11
        && bytes[10] == b'_'
        && bytes[..10]
            .iter()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() });
    let begins = text.chars().next().is_some_and(char::is_alphabetic) || is_dated;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    begins && text.chars().all(plain) && !VALUES.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_means_something_else_is_quoted() {
        for text in ["", "yes", "3", "3-strike", "2026-01-02", "a: b", "- a", "#a", "null", "1e5", "a b", "@x", "NaN"] {
            assert!(scalar(text).starts_with('"'), "{text}");
        }
        for text in ["arch", "root-cause", "src/lib.rs", "한글", "2026-01-02_first"] {
            assert_eq!(scalar(text), text);
        }
    }

    #[test]
    fn a_fault_names_its_line() {
        let why = parse::<serde_json::Value>("a: 1\nb: [1,\n").unwrap_err().to_string();
        assert!(why.starts_with("line "), "{why}");
        assert!(!why.contains('\n'), "{why}");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(text in any::<String>()) {
            let yaml = format!("a: {}\nb:\n  - {}\n", scalar(&text), quoted(&text));
            let read: serde_json::Value = parse(&yaml).unwrap();
            prop_assert_eq!(read["a"].as_str(), Some(text.as_str()));
            prop_assert_eq!(read["b"][0].as_str(), Some(text.as_str()));
        }

        #[test]
        fn nothing_makes_it_panic(text in "[-a-c: \\[\\]{}&*!|>'\"%@#\n\t]{0,60}") {
            let _ = parse::<serde_json::Value>(&text);
        }
    }
}
