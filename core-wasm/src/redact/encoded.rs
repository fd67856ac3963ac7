//! Secrets that are encoded together with their name: `REJfUEFTU1dPUkQ9…` is `DB_PASSWORD=…` in base64. A text is decoded only if
//! its first bytes are printable, which those of images, hashes and compressed data are not.

use super::scan::{Hit, span, span_back};
use super::value::base64_value;

/// How long a run of encoded text may be, in bytes. A shorter one has no room for a name and a value. Longer ones are files.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=4096;

/// How many bytes are decoded to see whether they are text.
const SAMPLE_BYTES: usize = 24;

/// Finds runs of base64 or hexadecimal digits in which the rules find a secret once they are decoded.
pub(super) fn find(text: &str, rule: &'static str, hits: &mut Vec<Hit<'static>>) {
    const SHORTEST: usize = *LENGTHS.start();
    let bytes = text.as_bytes();
    // No run goes on across this place.
    let mut at = 0;
    // Few runs are long enough. One that is has a digit where the shortest would end, so nothing else is looked at first.
    while let Some(&last) = bytes.get(at + SHORTEST - 1) {
        if !is_digit(last) {
            at += SHORTEST;
            continue;
        }
        let begin = span_back(bytes, at + SHORTEST - 1, SHORTEST - 1, is_digit);
        let end = span(bytes, at + SHORTEST, is_digit);
        // The letter of `\n` belongs to the escape.
        let start =
            begin + usize::from(begin > 0 && bytes[begin - 1] == b'\\' && matches!(bytes[begin], b'n' | b'r' | b't'));
        let run = &bytes[start.min(end)..end];
        if LENGTHS.contains(&run.len()) && (is_secret(run, hex_value, 4) || is_secret(run, base64_value, 6)) {
            let padding = span(&bytes[..bytes.len().min(end + 2)], end, |byte| byte == b'=');
            hits.push(Hit { start, end: padding, rule, certain: true });
        }
        at = end;
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn hex_value(byte: u8) -> Option<u32> {
    char::from(byte).to_digit(16)
}

/// Returns whether the run, decoded with so many bits in each digit, is a text with a secret in it.
fn is_secret(run: &[u8], value: fn(u8) -> Option<u32>, bits: u32) -> bool {
    let Some(sample) = decode(&run[..run.len().min(SAMPLE_BYTES)], value, bits) else { return false };
    if !sample.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')) {
        return false;
    }
    let decoded = decode(run, value, bits).and_then(|decoded| String::from_utf8(decoded).ok());
    decoded.is_some_and(|text| super::has_secret(&text))
}

fn decode(run: &[u8], value: fn(u8) -> Option<u32>, bits: u32) -> Option<Vec<u8>> {
    let (mut buffer, mut count, mut decoded) = (0_u32, 0, Vec::with_capacity(run.len()));
    for &byte in run {
        buffer = buffer << bits | value(byte)?;
        count += bits;
        if count >= 8 {
            count -= 8;
            decoded.push((buffer >> count & 0xFF) as u8);
            buffer &= (1 << count) - 1;
        }
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::super::scrub;

    fn base64(text: &str) -> String {
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for chunk in text.as_bytes().chunks(3) {
            let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(*chunk.get(at).unwrap_or(&0)));
            out.extend((0..=chunk.len()).map(|at| char::from(ALPHABET[bits >> (18 - at * 6) & 63])));
            out.extend(std::iter::repeat_n('=', 3 - chunk.len()));
        }
        out
    }

    fn hex(text: &str) -> String {
        text.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    }

    #[test]
    fn attack_a_secret_in_base64_or_hex() {
        for plain in ["DB_PASSWORD=Summer2024!", "password: tr0ub4dor&3", "API_KEY=q7Vd92kfLs0XaB3n\nDEBUG=1\n"] {
            for encoded in [base64(plain), hex(plain), hex(plain).to_uppercase(), base64(&base64(plain))] {
                let text = format!("value {encoded} end");
                let scrubbed = scrub(&text);
                assert!(scrubbed.starts_with("value [redacted:") && scrubbed.ends_with("] end"), "{plain}: {scrubbed}");
            }
        }
    }

    #[test]
    fn attack_encoded_text_at_any_place() {
        let encoded = base64("DB_PASSWORD=Summer2024!");
        for length in 0..40 {
            for before in ["x ", ". ", "abcdefghijklmno ", "\\n"] {
                let before = before.repeat(length).chars().take(length).collect::<String>() + " ";
                assert_eq!(scrub(&format!("{before}{encoded}")).matches("[redacted:").count(), 1, "{before:?}");
            }
        }
    }

    #[test]
    fn what_is_encoded_and_not_secret_stays() {
        for text in [
            base64("The quick brown fox: jumps=over the lazy dog"),
            base64("{\"name\":\"app\",\"version\":\"1.2.3\"}"),
            hex("hello=world, and more"),
            "src/components/Button/Button.test".into(),
            "0123456789abcdef0123456789abcdef01234567".into(),
            "VGhpcyBpcyBub3RoaW5n".into(),
        ] {
            assert_eq!(scrub(&text), text);
        }
    }
}
