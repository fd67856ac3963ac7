//! Parses server responses, and error messages with the key removed.

use serde::Deserialize;
use serde_json::Value;
use throughline_embedder_wire::{Fault, FaultKind};

/// The maximum length of a quoted server message, in characters.
const MAX_MESSAGE_CHARS: usize = 200;

/// How many consecutive bytes of the key a word must contain to be treated as part of the key.
const MIN_KEY_FRAGMENT_BYTES: usize = 5;

/// Returns a permanent fault about the server's answer.
pub fn invalid_answer(message: impl Into<String>) -> Fault {
    Fault::permanent(FaultKind::Answer, message)
}

/// Parses the answer as `T`. The fault is temporary, since a proxy's error page or a truncated answer may be gone next
/// time.
pub fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Fault> {
    serde_json::from_slice(body).map_err(|error| {
        let message = format!(
            "the server's answer does not match the protocol at byte {} of {}",
            error_offset(body, &error),
            body.len()
        );
        Fault::temporary(FaultKind::Answer, message)
    })
}

fn error_offset(body: &[u8], error: &serde_json::Error) -> usize {
    let lines: usize =
        body.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    lines + error.column()
}

/// Returns the server's own error message and error code, with parts of the key removed, on one line, and shortened.
pub(crate) fn parse_error_message(body: &[u8], key: Option<&str>) -> (Option<String>, Option<String>) {
    // Use `get_mut`: indexing a value that is not an object in order to change it panics.
    let error = serde_json::from_slice::<Value>(body)
        .ok()
        .and_then(|mut value| value.get_mut("error").map(Value::take))
        .unwrap_or_default();
    let message = error.as_str().or_else(|| error["message"].as_str());
    let code = error["code"].as_str().or_else(|| error["status"].as_str());
    (
        message.map(|text| sanitize_message(text, key)).filter(|text| !text.is_empty()),
        code.map(|text| sanitize_message(text, key)),
    )
}

fn sanitize_message(text: &str, key: Option<&str>) -> String {
    let text: String = text.chars().take(10 * MAX_MESSAGE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> =
        text.split_whitespace().map(|word| if contains_key_fragment(word, key) { "…" } else { word }).collect();
    words.join(" ").chars().take(MAX_MESSAGE_CHARS).collect()
}

/// Returns whether the word contains part of the key. Servers quote the key with asterisks in the middle.
fn contains_key_fragment(word: &str, key: Option<&str>) -> bool {
    if word.contains("**") {
        return true;
    }
    let Some(key) = key.map(str::as_bytes).filter(|key| !key.is_empty()) else { return false };
    key.windows(MIN_KEY_FRAGMENT_BYTES.min(key.len()))
        .any(|part| word.as_bytes().windows(part.len()).any(|found| found == part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_servers_words_hold_no_key() {
        let key = ["sk-", "proj-abcdefghijkl"].concat();
        let body =
            serde_json::json!({"error": {"message": format!("key {key}\nor sk-pr*****ijkl\u{7}, sorry"), "code": "bad"}});
        let (message, code) = parse_error_message(body.to_string().as_bytes(), Some(&key));
        assert_eq!(message.unwrap(), "key … or … , sorry");
        assert_eq!(code.unwrap(), "bad");
        assert_eq!(parse_error_message(b"{\"error\": \"plain\"}", None), (Some("plain".into()), None));
        assert_eq!(parse_error_message(b"<html>", Some("")), (None, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_none(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse_error_message(&bytes, Some("key-of-somebody"));
        }

        #[test]
        fn any_json_is_a_message_or_none(body in r#"(7|null|true|"x"|\[\]|\{\}|\{"error":(7|null|"x"|\[\]|\{"message":7\})\})"#) {
            let _ = parse_error_message(body.as_bytes(), Some("key-of-somebody"));
        }

        #[test]
        fn no_message_holds_the_key(before in ".{0,40}", after in ".{0,40}", key in "[a-zA-Z0-9_-]{8,40}") {
            let body = serde_json::json!({"error": {"message": format!("{before}{key}{after}")}});
            let (message, _) = parse_error_message(body.to_string().as_bytes(), Some(&key));
            prop_assert!(!message.unwrap_or_default().contains(&key));
        }
    }
}
