//! Shortens long strings in JSON: of a tool response of several megabytes, only the beginning and the end of each
//! string are kept.
//!
//! Strings are shortened before secrets are removed and before a policy sees the value. A secret that the cut splits
//! may go undetected, so no word is split, and the kept ends are longer than what a policy keeps: an observation's detail
//! has 10 KiB, and each end has twice that.

/// JSON of up to this many bytes is not changed.
const MAX_UNCUT_BYTES: usize = 128 << 10;

/// How much is kept of each end of a longer string, in bytes of JSON.
const END: usize = 20 << 10;

/// The longest result, in bytes. A list of very many short strings would exceed it.
const MAX_TOTAL_BYTES: usize = 512 << 10;

/// How far before the cut to look for the beginning of an escape sequence.
const SEARCH: usize = 4096;

/// The longest word that is not split, in bytes. No token is longer.
const MAX_WORD_BYTES: usize = 2048;

/// Like [`MAX_UNCUT_BYTES`] and [`END`], for outputs in a transcript. A transcript has thousands of them, and its reader waits for all.
/// Each end still has more than a policy keeps of it.
const MAX_UNCUT_RECORDED_BYTES: usize = 16 << 10;
/// See [`MAX_UNCUT_RECORDED_BYTES`].
const RECORDED_END: usize = 8 << 10;

/// Shortens JSON to at most [`MAX_TOTAL_BYTES`] bytes. The input must be valid JSON.
pub(super) fn shorten(json: &str) -> String {
    shorten_to(json, MAX_UNCUT_BYTES, END)
}

/// Like [`shorten`], for an output in a transcript.
pub(super) fn shorten_recorded(json: &str) -> String {
    shorten_to(json, MAX_UNCUT_RECORDED_BYTES, RECORDED_END)
}

fn shorten_to(json: &str, max_uncut_bytes: usize, end_bytes: usize) -> String {
    if json.len() <= max_uncut_bytes {
        return json.to_owned();
    }
    let bytes = json.as_bytes();
    let mut out = String::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'"', &bytes[at..]).map(|open| at + open) {
        let end = string_end(bytes, open + 1);
        out.push_str(&json[at..=open]);
        push_text(&mut out, &json[open + 1..end], end_bytes);
        at = end;
        // The closing quote must not be taken for an opening one.
        if let Some(quote) = json.get(at..=at) {
            out.push_str(quote);
            at += 1;
        }
        if out.len() > MAX_TOTAL_BYTES {
            return as_text(json, end_bytes);
        }
    }
    out.push_str(&json[at..]);
    if out.len() > MAX_TOTAL_BYTES { as_text(json, end_bytes) } else { out }
}

/// Shortens plain text of more than [`MAX_UNCUT_BYTES`] bytes to a little more than twice [`END`]. The kept text is cut to its
/// final length only after secrets are removed, so that the final cut does not split one.
pub fn shorten_text(text: &str) -> String {
    if text.len() <= MAX_UNCUT_BYTES {
        return text.to_owned();
    }
    let (head, tail) = (text.floor_char_boundary(END), text.ceil_char_boundary(text.len() - END));
    let tail = if has_private(&text.as_bytes()[head..tail]) { "" } else { &text[tail..] };
    format!("{}\n…\n{}", without_last_word(&text[..head]), without_first_word(tail))
}

/// Drops the word that a cut may have split at the end of a text.
fn without_last_word(text: &str) -> &str {
    let near = &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_WORD_BYTES))..];
    let word = near.rfind(char::is_whitespace).map_or(0, |at| near.len() - at);
    &text[..text.len() - word]
}

/// Drops the word that a cut may have split at the start of a text.
fn without_first_word(text: &str) -> &str {
    let near = &text[..text.floor_char_boundary(MAX_WORD_BYTES)];
    near.find(char::is_whitespace).map_or(text, |at| &text[at..])
}

/// Returns the position of the quote that closes a string.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

/// Returns the two ends of the JSON as one string, for values that are too long even with all strings shortened.
fn as_text(json: &str, end: usize) -> String {
    let (head, tail) = (json.floor_char_boundary(end), json.ceil_char_boundary(json.len() - end));
    serde_json::Value::from(format!("{}\n…\n{}", without_last_word(&json[..head]), without_first_word(&json[tail..])))
        .to_string()
}

/// Appends the content of a string, without the middle of a long one.
fn push_text(out: &mut String, inside: &str, end: usize) {
    if inside.len() <= 3 * end {
        out.push_str(inside);
        return;
    }
    let head = head_end(inside, end);
    // A newline is an escape sequence here, and a blank is never part of one.
    out.push_str(without_last_word(&inside[..head]));
    out.push_str("\\n…\\n");
    // A section that the user marked as private may begin in the part that is cut out.
    if let Some(tail) = tail_start(inside, end)
        && !has_private(&inside.as_bytes()[head..tail])
    {
        out.push_str(without_first_word(&inside[tail..]));
    }
}

/// Returns the length of the byte or of the whole escape sequence at the start of `rest`.
fn step(rest: &[u8]) -> usize {
    match rest {
        // Both halves of a surrogate pair.
        [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..] => 12,
        [b'\\', b'u', ..] => 6,
        [b'\\', ..] => 2,
        _ => 1,
    }
}

/// Returns the end of the kept beginning. It follows a whole character or escape sequence.
fn head_end(inside: &str, end: usize) -> usize {
    let bytes = inside.as_bytes();
    let mut at = 0;
    while at < end {
        at += step(&bytes[at..]);
    }
    inside.ceil_char_boundary(at)
}

/// Returns the start of the kept end. It precedes a whole character or escape sequence. `None` if that position cannot
/// be determined.
fn tail_start(inside: &str, end: usize) -> Option<usize> {
    const ESCAPE: usize = 6;
    let bytes = inside.as_bytes();
    let from = bytes.len() - end;
    let near = bytes[from - ESCAPE..from].iter().rposition(|&byte| byte == b'\\').map(|at| from - ESCAPE + at);
    let mut at = match near {
        None => from,
        Some(last) => {
            // The first of a run of backslashes begins an escape sequence.
            let run = bytes[from - SEARCH..=last].iter().rev().take_while(|&&byte| byte == b'\\').count();
            if run > SEARCH / 2 {
                return None;
            }
            last + 1 - run
        }
    };
    while at < from {
        at += step(&bytes[at..]);
    }
    // Skip the second half of a surrogate pair whose first half was cut off.
    if matches!(bytes[at..], [b'\\', b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', ..]) {
        at += ESCAPE;
    }
    Some(inside.ceil_char_boundary(at))
}

fn has_private(bytes: &[u8]) -> bool {
    const WORD: &[u8] = b"private";
    memchr::memchr2_iter(b'p', b'P', bytes)
        .any(|at| bytes.get(at..at + WORD.len()).is_some_and(|word| word.eq_ignore_ascii_case(WORD)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_short_stays() {
        let json = r#"{"a":"b\"c","d":[1,null]}"#;
        assert_eq!(shorten(json), json);
    }

    #[test]
    fn long_texts_lose_their_middle() {
        let text = format!("first\n{}\nlast \"한\" \u{1f600}", "x".repeat(5 << 20));
        let value = json!({"stdout": text, "code": 0});
        let short = shorten(&value.to_string());
        assert!(short.len() < 64 << 10);
        let short: Value = serde_json::from_str(&short).unwrap();
        let stdout = short["stdout"].as_str().unwrap();
        assert!(stdout.starts_with("first\n") && stdout.ends_with("last \"한\" \u{1f600}") && stdout.contains("\n…\n"));
        assert_eq!(short["code"], 0);
    }

    #[test]
    fn what_is_private_does_not_lose_its_beginning() {
        let text = format!("{} <private> {} me </private>", "x".repeat(1 << 20), "y ".repeat(1 << 19));
        assert!(!shorten(&json!([text]).to_string()).contains("me </"));
    }

    #[test]
    fn attack_a_key_at_the_cut_of_a_long_output() {
        let key = format!("AKIA{}", "Q7XK2M9PLT4WZ8RB");
        for gap in 1..20 {
            let text = format!("{} {key} {}", " ".repeat(END - gap - 1), "x ".repeat(1 << 18));
            assert!(!shorten(&json!([text]).to_string()).contains("AKIA"));
            assert!(!shorten_text(&text).contains("AKIA"));
            let text = format!("{} {key} {}", "x ".repeat(1 << 18), " ".repeat(END - gap - 1));
            assert!(!shorten(&json!([text]).to_string()).contains("RB"));
            assert!(!shorten_text(&text).contains("RB"));
        }
    }

    #[test]
    fn plain_texts_keep_their_ends() {
        let text = format!("first {} last", "한 ".repeat(100_000));
        let short = shorten_text(&text);
        assert!(short.len() < 64 << 10 && short.starts_with("first") && short.ends_with("last"));
        assert_eq!(shorten_text("as it is"), "as it is");
        let private = format!("a{}<private>{} b", " x".repeat(60_000), " y".repeat(60_000));
        assert!(!shorten_text(&private).contains('y'));
    }

    #[test]
    fn very_many_texts_become_one() {
        let list: Vec<String> = (0..200_000).map(|n| format!("file{n}.rs")).collect();
        let short = shorten(&serde_json::to_string(&list).unwrap());
        assert!(short.len() < 64 << 10);
        assert!(serde_json::from_str::<Value>(&short).unwrap().as_str().unwrap().contains("file199999.rs"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn it_stays_json(piece in prop::sample::select(vec!["\\", "\"", "\u{1}", "\u{1f600}", "한", "a\n", "\u{e000}", "ab\\u0"]),
                         other in "\\PC{0,8}", times in 20_000_usize..60_000) {
            let text = format!("{piece}{other}").repeat(times);
            let escaped = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat();
            for json in [json!({"a": text, "b": [text]}).to_string(), format!("[\"{escaped}\"]")] {
                let short = shorten(&json);
                prop_assert!(short.len() <= MAX_TOTAL_BYTES.max(MAX_UNCUT_BYTES));
                prop_assert!(serde_json::from_str::<Value>(&short).is_ok());
            }
        }
    }
}
