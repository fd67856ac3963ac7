//! What the user says beside the number or letter of an option: "3, but opened by default".

use super::contains_id;
use super::listed::ProposedOption;
use crate::extract::{human, prose};
use crate::text;

/// The maximum length of what stands before the number or letter, if that only takes it, and of the words that are told, in characters.
const MAX_LEAD_CHARS: usize = 28;
const MAX_BESIDE_CHARS: usize = 160;
/// The minimum length of such words, and of those of other scripts.
const MIN_BESIDE_CHARS: usize = 12;
const MIN_WIDE_CHARS: usize = 8;
/// How many words they must have that the option does not.
const MIN_NEW_WORDS: usize = 2;

/// Particles, counters and verbs with which Korean, Japanese and Chinese take an option.
const WIDE_TAKES: &[&str] = &[
    "으로",
    "안으로",
    "번으로",
    "번",
    "안",
    "로",
    "을",
    "를",
    "이",
    "가",
    "하자",
    "가자",
    "갑시다",
    "해줘",
    "해주세요",
    "할게",
    "할게요",
    "진행하자",
    "진행해줘",
    "진행해주세요",
    "진행해",
    "진행",
    "부탁",
    "부탁해",
    "좋아",
    "좋겠어",
    "좋네",
    "番",
    "案",
    "で",
    "に",
    "を",
    "が",
    "は",
    "の",
    "方",
    "ほう",
    "しよう",
    "しましょう",
    "する",
    "します",
    "いこう",
    "行こう",
    "いきましょう",
    "お願いします",
    "お願い",
    "進めて",
    "ください",
    "いい",
    "良い",
    "です",
    "採用",
    "方案",
    "选",
    "吧",
    "个",
    "进行",
    "可以",
];

/// Returns what a prompt says beside the number, letter or name of the option that it takes. Empty if that is nothing of its own: a
/// verdict, the words of the option, or an order to commit.
pub(super) fn said_beside(prompt: &str, option: &ProposedOption) -> String {
    let said = text::one_line(prompt);
    let lower = said.to_lowercase();
    let Some(end) = reference_end(&lower, option).filter(|end| said.is_char_boundary(*end)) else { return String::new() };
    let rest = said[end..].trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '`' | '"' | '(' | '/' | '-'));
    let rest = without_verdict(rest.trim_start_matches(['-', ' ']));
    if human::asks_record(rest) || prose::is_procedure(rest) {
        return String::new();
    }
    let is_own = if said.is_ascii() || text::language(&said) == text::Language::English {
        let known = text::features(&format!("{} {}", option.title, option.name));
        let own = text::features(rest);
        let least = if turns(rest) { 1 } else { MIN_NEW_WORDS };
        rest.chars().count() >= MIN_BESIDE_CHARS && own.iter().filter(|word| !known.contains(word)).count() >= least
    } else {
        let bare = WIDE_TAKES.iter().fold(rest.to_owned(), |rest, word| rest.replace(word, ""));
        bare.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_WIDE_CHARS && !bare.contains(&option.title)
    };
    if is_own { whole_sentences(rest) } else { String::new() }
}

/// Returns the first sentence of a text, and as many of the next as there is room for.
fn whole_sentences(rest: &str) -> String {
    let mut told = String::new();
    for sentence in text::sentences(rest) {
        let is_led = told.ends_with([':', '：']);
        if !told.is_empty() && !is_led && told.chars().count() + sentence.chars().count() > MAX_BESIDE_CHARS {
            break;
        }
        told = if told.is_empty() { sentence } else { format!("{told} {sentence}") };
    }
    text::clip(&told, MAX_BESIDE_CHARS).into_owned()
}

/// Returns whether what is said beside an option limits or changes it by its first word.
fn turns(rest: &str) -> bool {
    let lower = rest.to_lowercase();
    let words = ["but", "and", "though", "except", "only", "just", "with", "without", "plus", "unless"];
    words.iter().any(|word| text::starts_with_words(&lower, word))
}

/// Returns where the number, letter or name of an option ends that a text in lower case begins with, behind a few words.
fn reference_end(lower: &str, option: &ProposedOption) -> Option<usize> {
    let head = text::head(lower, MAX_LEAD_CHARS);
    let end_of = |name: &str| {
        let found = head.match_indices(name).map(|(at, _)| at + name.len());
        found.filter(|_| contains_id(head, name)).find(|end| !lower[*end..].starts_with(|c: char| c.is_ascii_alphanumeric()))
    };
    let name = option.name.to_lowercase();
    if name.is_empty() { None } else { end_of(&name) }.or_else(|| end_of(&option.id))
}

/// Returns what the user says beside an option without a verdict before it: "does seem fine, though …".
fn without_verdict(rest: &str) -> &str {
    const VERDICTS: [&str; 9] = ["is", "does", "seems", "sounds", "looks", "makes sense", "please", "for sure", "is fine"];
    const TURNS: [&str; 6] = [", but ", ", though ", ", although ", ", except ", ", and ", ". "];
    let lower = rest.to_lowercase();
    if !VERDICTS.iter().any(|verdict| text::starts_with_words(&lower, verdict)) {
        return rest;
    }
    let turn = TURNS.iter().filter_map(|turn| lower.find(turn)).min();
    turn.and_then(|at| rest.get(at..)).map_or("", |behind| behind.trim_start_matches([',', '.', ' ']))
}

#[cfg(test)]
mod tests {
    use crate::extract::options::resolve;

    fn beside(prompt: &str) -> String {
        let answer = "1. **Round the sum** - simple\n2. **Round each line** - exact\n\nWhich one?";
        resolve(prompt, answer).unwrap().beside
    }

    #[test]
    fn what_is_said_beside_the_number_is_told() {
        for (said, own) in [
            ("2, but only on invoices", "but only on invoices"),
            ("option 2 and I'd even round the tax", "and I'd even round the tax"),
            ("1 does seem like a decent path, though we may want lines later", "though we may want lines later"),
            ("2. - the slip shows the cents, yeah?", "the slip shows the cents, yeah?"),
            ("2번으로 하되 영수증 합계는 그대로 둬", "하되 영수증 합계는 그대로 둬"),
        ] {
            assert!(beside(said).ends_with(own), "{said}: {}", beside(said));
        }
    }
    #[test]
    fn a_bare_number_chooses_from_the_list_at_the_end() {
        let answer = "### Option 1: Round the sum\n- simple\n### Option 2: Round each line\n- exact\n\nWould you like me to:\n\
                      1. **Write the plan** for both?\n2. **Draw a slip** that rounds the sum?";
        let chosen = resolve("2, but for invoices only", answer).unwrap();
        assert_eq!((chosen.what.as_str(), chosen.rejected.len()), ("Draw a slip that rounds the sum", 1));
        assert_eq!(chosen.beside, "but for invoices only");
        assert_eq!(resolve("option 2", answer).unwrap().what, "Option 2: Round each line");
    }
    #[test]
    fn all_of_them_is_no_choice() {
        let answer = "1. **Round the sum** - simple\n2. **Round each line** - exact\n\nWhich one?";
        assert_eq!(resolve("yes, all 2", answer), None);
        assert_eq!(resolve("are the first two of any use?", answer), None);
    }
    #[test]
    fn a_bare_choice_says_nothing_beside_it() {
        for said in [
            "2",
            "let's do 2",
            "2 sounds good to me",
            "2번으로 진행하자",
            "2番でお願いします",
            "2, round each line",
            "2, then commit it",
        ] {
            assert_eq!(beside(said), "", "{said}");
        }
    }
}
