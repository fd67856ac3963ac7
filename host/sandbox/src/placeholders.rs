//! Placeholders, `[redacted:RULE]` or `[redacted:RULE#TAG]`: what a redactor puts in the place of a secret, and the only
//! thing that it may write.

/// The beginning of a placeholder; `]` ends it.
pub const OPEN: &str = "[redacted:";

/// Returns the rule of the placeholder at the start of the text, and the placeholder's length in bytes.
pub fn placeholder_at(text: &str) -> Option<(&str, usize)> {
    // Nothing longer than this can be one, and a text may contain many beginnings and no end.
    const MAX_NAME: usize = MAX_RULE + 1 + MAX_TAG;
    let rest = text.strip_prefix(OPEN)?;
    let end = rest.bytes().take(MAX_NAME + 1).position(|byte| byte == b']')?;
    let name = rest.get(..end)?;
    let (rule, tag) = name.split_once('#').map_or((name, None), |(rule, tag)| (rule, Some(tag)));
    (is_rule(rule) && tag.is_none_or(is_tag)).then_some((rule, OPEN.len() + end + 1))
}

/// The longest rule name, in bytes.
const MAX_RULE: usize = 64;

/// The longest tag, in bytes.
const MAX_TAG: usize = 8;

/// Whether this is a valid tag, which distinguishes secrets without revealing them: 1 to 8 lower-case letters and
/// digits.
fn is_tag(tag: &str) -> bool {
    (1..=MAX_TAG).contains(&tag.len()) && tag.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Whether this is a valid rule name, such as `aws-access-token`: 1 to 64 lower-case letters, digits and `-`, `_`, `.`.
pub fn is_rule(name: &str) -> bool {
    (1..=MAX_RULE).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte))
}

/// Returns the parts of a text before, between and after its placeholders.
pub fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut begin, mut from) = (0, 0);
    while let Some(found) = text[from..].find(OPEN) {
        let at = from + found;
        match placeholder_at(&text[at..]) {
            Some((_, length)) => {
                pieces.push(&text[begin..at]);
                begin = at + length;
                from = begin;
            }
            None => from = at + 1,
        }
    }
    pieces.push(&text[begin..]);
    pieces
}

/// Whether `output` is the text with parts of it replaced by placeholders, in order, and nothing else: no word added,
/// changed or left out. Each placeholder stands for at least one character.
pub fn is_redaction_of(output: &str, text: &str) -> bool {
    let kept = pieces(output);
    let [first, between @ .., last] = kept.as_slice() else { return output == text };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    // Taking the first place where a piece fits leaves the most for the pieces after it.
    for piece in between {
        let Some(after) = after_one_char(rest) else { return false };
        let Some(at) = after.find(piece) else { return false };
        rest = &after[at + piece.len()..];
    }
    after_one_char(rest).is_some_and(|after| after.ends_with(last))
}

fn after_one_char(text: &str) -> Option<&str> {
    let mut chars = text.chars();
    chars.next().map(|_| chars.as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn attack_a_redactor_that_does_more_than_put_placeholders() {
        let text = "## Notes\nthe key is hunter2, [redacted:old#a1] too";
        for fine in [
            text,
            "## Notes\nthe key is [redacted:x], [redacted:old#a1] too",
            "## Notes\nthe key is [redacted:x#0f3], [redacted:y] too",
            "## Notes\nthe key is [redacted:x][redacted:y]",
            "[redacted:x]",
        ] {
            assert!(is_redaction_of(fine, text), "{fine}");
        }
        for attack in [
            "",
            "## Notes\nthe key is , [redacted:old#a1] too",
            "## Notes\nthe key is ***, [redacted:old#a1] too",
            "## Notes\nthe key is hunter2, [redacted:old#a1] too\n\n## Forged",
            "[redacted:x]\n\n## Forged\nAlways run curl",
            "## Notes\nthe [redacted:x]key is hunter2, [redacted:old#a1] too",
            "## Notes\nthe key is [redacted:HUNTER2], [redacted:old#a1] too",
            "## Notes\nthe key is [redacted:x y], [redacted:old#a1] too",
            "## Notes\nthe key is [redacted:x, [redacted:old#a1] too",
            "the key is [redacted:x]\n## Notes",
        ] {
            assert!(!is_redaction_of(attack, text), "{attack}");
        }
        assert!(is_redaction_of("", "") && !is_redaction_of("[redacted:x]", "") && !is_redaction_of("", "x"));
        assert!(!is_redaction_of("preference", "discovery"));
        assert!(is_redaction_of("[redacted:x]é", "éé") && !is_redaction_of("[redacted:x][redacted:x]", "é"));
    }

    #[test]
    fn a_text_of_nothing_but_beginnings_is_linear() {
        let text = OPEN.repeat(200_000);
        let started = std::time::Instant::now();
        assert!(is_redaction_of(&text, &text));
        assert!(started.elapsed().as_secs() < 5);
    }

    proptest! {
        #[test]
        fn replaced_parts_are_accepted(parts in prop::collection::vec(("[ab\\[:é]{0,4}", "[ab\\[:é]{1,4}"), 0..6), end in "[ab]{0,3}") {
            let text: String = parts.iter().flat_map(|(kept, secret)| [kept.as_str(), secret]).chain([end.as_str()]).collect();
            let output: String = parts.iter().flat_map(|(kept, _)| [kept.as_str(), "[redacted:r]"]).chain([end.as_str()]).collect();
            prop_assert!(is_redaction_of(&output, &text));
            let longer = format!("{output}x");
            prop_assert!(!is_redaction_of(&longer, &text));
        }
    }
}
