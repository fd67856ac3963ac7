//! Small text utilities.

/// Returns one line of at most `most` bytes, without control characters. A shortened line ends in an ellipsis.
pub fn clip(text: &str, most: usize) -> String {
    let mut line = String::with_capacity(text.len().min(most));
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !c.is_control()));
        if line.len() > most {
            let end = line.floor_char_boundary(most.saturating_sub('…'.len_utf8()));
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

/// Returns the text after `prefix`, ignoring the case of ASCII letters.
pub fn after<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// Strips what precedes the text of a Markdown line: quote marks, bullets, numbers, emphasis.
pub fn bare(line: &str) -> &str {
    let line = line.trim_start_matches([' ', '\t', '>', '*', '-', '+', '_', '`']);
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match line[digits..].strip_prefix(". ") {
        Some(rest) if digits > 0 => rest.trim_start_matches([' ', '*', '_', '`']),
        _ => line,
    }
}

/// Returns the value of `NAME: value` in a Markdown line, in any emphasis (`**NAME:** value`, `**NAME**: value`). The
/// value may be empty.
pub fn labelled<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    value(after(bare(line), name)?)
}

/// Like [`labelled`], but the case of the name matters.
pub fn marked<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    value(bare(line).strip_prefix(name)?)
}

/// Returns the text after the colon.
fn value(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['*', '_', '`']);
    let value = rest.strip_prefix(':').or_else(|| rest.strip_prefix('：'))?;
    Some(value.trim_start_matches(['*', '_', '`']).trim())
}

/// Returns the lines outside of fenced code.
pub fn unfenced(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        fenced ^= fence;
        !fenced && !fence
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn labels_in_the_ways_that_people_write_them() {
        for line in ["Status: done", "- **Status:** done", "> **Status**: done", "3. status: done", "* `Status`: done"] {
            assert_eq!(labelled(line, "status"), Some("done"), "{line}");
        }
        assert_eq!(labelled("Statuses: x", "status"), None);
        assert_eq!(labelled("상태: 승인", "상태"), Some("승인"));
    }

    #[test]
    fn code_is_left_out() {
        assert_eq!(unfenced("a\n```rust\nb\n```\nc").collect::<Vec<_>>(), ["a", "c"]);
    }

    proptest! {
        #[test]
        fn clips_hold_their_length(text in any::<String>(), most in 3_usize..60) {
            let clipped = clip(&text, most);
            prop_assert!(clipped.len() <= most, "{} > {most}", clipped.len());
            labelled(&text, "a");
        }
    }
}
