//! Prompts that take something by its name alone: "let's use Tillbook", "Tillbook にしよう".

use crate::text;

/// The maximum length of such a sentence, in characters, and the minimum length of a name, in bytes.
const MAX_CHARS: usize = 40;
const MIN_NAME_BYTES: usize = 4;

/// Returns the name of what the first sentence of a prompt takes, if it says nothing else.
pub(in crate::extract) fn chosen_name(prompt: &str) -> Option<String> {
    const ENDS: [&str; 8] = ["にしよう", "にします", "にする", "でいこう", "で行こう", "로 하자", "으로 하자", "로 가자"];
    const LEADS: [&str; 6] = ["let's use ", "lets use ", "let's go with ", "lets go with ", "let's take ", "go with "];
    let first = text::first_sentence(prompt)?;
    let said = first.trim_end_matches(['.', '!', '。', '！']);
    let lower = said.to_lowercase().replace('’', "'");
    let wide = ENDS.iter().find_map(|end| lower.strip_suffix(end));
    let name = wide.or_else(|| LEADS.iter().find_map(|lead| lower.strip_prefix(lead)))?.trim();
    let is_name = name.len() >= MIN_NAME_BYTES
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
        && said.contains(|c: char| c.is_ascii_uppercase());
    (said.chars().count() <= MAX_CHARS && is_name).then(|| name.to_owned())
}

/// Returns whether an answer wants nothing of what was asked about: "no cash book, only slips". The clause that names it says so, or else
/// the first one. The name is in lower case.
pub(in crate::extract) fn wants_none(answer: &str, name: &str) -> bool {
    const WORDS: [&str; 6] = ["no", "none", "without", "don't", "dont", "neither"];
    const WIDE: [&str; 7] = ["ないで", "なしで", "いらない", "不要", "말고", "없이", "빼고"];
    let lower = answer.to_lowercase().replace('’', "'");
    let clauses = || lower.split([',', ';', '.', '、', '。', '，', '(', '（']);
    let Some(clause) = clauses().find(|clause| clause.contains(name)).or_else(|| clauses().next()) else { return false };
    text::contains_any_words(clause, &WORDS) || text::contains_any(clause, &WIDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_is_taken() {
        for said in ["Tillbook にしよう。\nhttps://till.example", "Let's use Tillbook.", "lets go with Tillbook!"] {
            assert_eq!(chosen_name(said).as_deref(), Some("tillbook"), "{said}");
        }
        for said in ["let's use it", "Let's use the red till", "引き出しにしよう", "is Tillbook any good?", "go with B"]
        {
            assert_eq!(chosen_name(said), None, "{said}");
        }
    }

    #[test]
    fn an_answer_wants_none_where_it_names_it_or_at_its_beginning() {
        for answer in ["no cash book, only slips", "we don't need one", "帳簿は入れないで", "slips alone, without Tillbook"]
        {
            assert!(wants_none(answer, "tillbook"), "{answer}");
        }
        for answer in ["a cash book", "the red drawer, no rush", "no rush, Tillbook is fine", "帳簿にする、急がないで"]
        {
            assert!(!wants_none(answer, "tillbook"), "{answer}");
        }
    }
}
