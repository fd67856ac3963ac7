//! Whether the subject of a tool use is proven by its redacted command. Earlier builds derived subjects from commands before
//! these were redacted.

use super::journal::EventPayload;

/// The attributes that earlier builds derived from the whole command.
const DERIVED: [&str; 2] = ["subject", "signature"];

/// Removes the subject and what was derived with it from a tool use, unless the command has its words. Returns whether
/// something was removed.
pub(super) fn drop_unproven(seen: &mut EventPayload) -> bool {
    let Some(subject) = seen.attribute(DERIVED[0]) else { return false };
    let is_proven = match seen.attribute("command") {
        Some(command) => subject.split_whitespace().all(|word| has_word(command, word)),
        None => match seen.files.as_slice() {
            [file] => subject == seen.tool || subject == format!("{} {file}", seen.tool),
            _ => subject == seen.tool,
        },
    };
    if !is_proven {
        seen.attributes.retain(|(name, _)| !DERIVED.contains(&name.as_str()));
    }
    !is_proven
}

/// Returns whether the word is in the text, not as a part of a longer word.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word)
        .any(|(at, _)| !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_whole_word() {
        assert!(has_word("./node_modules/.bin/jest --ci", "jest") && has_word("curl 'https://x'", "https://x"));
        assert!(!has_word("latest", "test") && !has_word("a_test", "test") && !has_word("x", "test"));
    }
}
