//! Resolves the user's answer against the options that the agent proposed in prose.

use super::{human, prose};
use crate::text;

/// A resolved decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resolution {
    /// The chosen option, or the proposal.
    pub what: String,
    /// The reason, as far as the agent gave one.
    pub why: String,
    /// The options that were not chosen.
    pub rejected: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct ProposedOption {
    /// The number or letter: `1`, `b`, …
    id: String,
    /// The name, such as `방법 1` or `Option B`. Empty for plain numbers.
    name: String,
    title: String,
    body: String,
}

/// Words that introduce an option, before its number or letter.
const OPTION_WORDS: &[&str] = &[
    "option",
    "approach",
    "method",
    "alternative",
    "choice",
    "plan",
    "solution",
    "방법",
    "옵션",
    "방안",
    "案",
    "方法",
    "オプション",
    "プラン",
    "方案",
    "选项",
    "선택지",
];

/// Returns what a prompt decides, given the previous answer. None if it decides nothing.
pub(super) fn resolve(prompt: &str, answer: &str) -> Option<Resolution> {
    if prompt.chars().count() > 240 {
        return None;
    }
    let options = parse_options(answer);
    if options.len() >= 2
        && let Some(at) = options.iter().position(|option| refers_to(prompt, option))
    {
        return Some(choose(&options, at, answer));
    }
    if !consents(prompt) {
        return None;
    }
    // A consent to several options chooses the one that the agent recommends.
    if options.len() >= 2
        && let Some(at) = recommended(&options, answer)
    {
        return Some(choose(&options, at, answer));
    }
    proposal(prompt, answer)
}

/// A prompt may agree in its first sentence and then ask for more.
fn consents(prompt: &str) -> bool {
    human::is_consent(prompt) || text::first_sentence(prompt).is_some_and(|first| human::is_consent(&first))
}

fn choose(options: &[ProposedOption], at: usize, answer: &str) -> Resolution {
    let option = &options[at];
    let what = if option.name.is_empty() { option.title.clone() } else { format!("{}: {}", option.name, option.title) };
    let rejected = options
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != at)
        .map(
            |(_, other)| {
                if other.name.is_empty() { other.title.clone() } else { format!("{}: {}", other.name, other.title) }
            },
        )
        .collect();
    Resolution { what, why: reason(option, answer), rejected }
}

/// Returns the agent's reason: a sentence with a reason in the text of the option, otherwise a sentence about the
/// option elsewhere.
fn reason(option: &ProposedOption, answer: &str) -> String {
    let own =
        prose::insights(&option.body, true).into_iter().max_by_key(|insight| insight.score).map(|insight| insight.text);
    let elsewhere = || {
        text::sentences(answer).into_iter().find(|sentence| {
            !option.name.is_empty()
                && sentence.starts_with(&option.name)
                && !sentence.contains(&option.title)
                && !sentence.ends_with(['?', '？'])
        })
    };
    let first = || text::first_sentence(&option.body).filter(|sentence| !sentence.ends_with([':', '：']));
    text::clip(&own.or_else(elsewhere).or_else(first).unwrap_or_default(), 280).into_owned()
}

/// Returns the options of an answer: lines such as `### Option 1: …` and `**B)** …`, or the numbered bold items of its
/// last list.
fn parse_options(answer: &str) -> Vec<ProposedOption> {
    let mut named: Vec<ProposedOption> = Vec::new();
    let mut numbered: Vec<ProposedOption> = Vec::new();
    let mut open = None::<bool>;
    for line in answer.lines() {
        let trimmed = line.trim();
        let indented = line.starts_with([' ', '\t']);
        if let Some(option) = parse_named_option(trimmed) {
            if !named.iter().any(|known| known.id == option.id) {
                named.push(option);
                open = Some(true);
                continue;
            }
        } else if let Some(option) = parse_numbered_option(trimmed).filter(|_| !indented) {
            // A list that starts again at one is another list. The last list counts.
            if option.id == "1" || option.id == "a" {
                numbered.clear();
            }
            numbered.push(option);
            open = Some(false);
            continue;
        }
        if trimmed.starts_with('#') || trimmed.starts_with("---") {
            open = None;
        }
        let list = match open {
            Some(true) => named.last_mut(),
            Some(false) => numbered.last_mut(),
            None => None,
        };
        if let Some(option) = list
            && option.body.len() < 2000
        {
            option.body.push_str(line);
            option.body.push('\n');
        }
    }
    if named.len() >= 2 { named } else { numbered }
}

fn parse_named_option(line: &str) -> Option<ProposedOption> {
    if !line.starts_with(['#', '*', '-']) && !line.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let line = text::plain(line);
    let lower = line.to_lowercase();
    let name = OPTION_WORDS.iter().find(|name| lower.starts_with(*name))?;
    let after = line.get(name.len()..)?.trim_start_matches([' ', '#']);
    let id: String = after.chars().take_while(char::is_ascii_alphanumeric).take(2).collect();
    if id.is_empty() || (id.len() > 1 && !id.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    let rest = &after[id.len()..];
    if !rest.is_empty() && !rest.starts_with([':', '：', '.', ')', ' ', '—', '–', '-', '(']) {
        return None;
    }
    let marked = rest.trim_start().starts_with([':', '：', '.', ')', '—', '–', '-', '(']);
    if !marked {
        return None;
    }
    let title = rest.trim_matches([' ', ':', '：', '.', ')', '—', '–', '-']);
    let name_end = line.len() - after.len() + id.len();
    (!title.is_empty()).then(|| ProposedOption {
        id: id.to_lowercase(),
        name: line[..name_end].to_owned(),
        title: text::clip(title, 160).into_owned(),
        body: String::new(),
    })
}

/// Parses `1. **Title** — …` or `A) Title`.
fn parse_numbered_option(line: &str) -> Option<ProposedOption> {
    let line = line.trim_start_matches(['*', '#', '-', ' ']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let length = if digits > 0 { digits } else { usize::from(line.starts_with(|c: char| c.is_ascii_alphabetic())) };
    if length == 0 || length > 2 {
        return None;
    }
    let rest = line[length..].strip_prefix(['.', ')'])?;
    if !rest.starts_with([' ', '*']) {
        return None;
    }
    let title = text::plain(rest.trim_start_matches(['*', ' '])).replace("**", "");
    let title = title.trim_end_matches(", or").trim_end_matches(", and").trim_end_matches([',', ';']);
    (!title.is_empty()).then(|| ProposedOption {
        id: line[..length].to_lowercase(),
        name: String::new(),
        title: text::clip(title, 160).into_owned(),
        body: String::new(),
    })
}

/// Returns whether a prompt refers to that option: `방법 1로`, `option 2`, `2번`, `B`, `the second`, or its title.
fn refers_to(prompt: &str, option: &ProposedOption) -> bool {
    let lower = prompt.to_lowercase();
    if !option.name.is_empty() && contains_id(&lower, &option.name.to_lowercase()) {
        return true;
    }
    let id = &option.id;
    let words = ["option", "number", "no.", "#", "approach", "method", "plan", "方案", "案", "选", "방법", "옵션"];
    if words.iter().any(|word| contains_id(&lower, &format!("{word} {id}")) || contains_id(&lower, &format!("{word}{id}"))) {
        return true;
    }
    if [format!("{id}번"), format!("{id}番"), format!("第{id}"), format!("({id})"), format!("{id}안")]
        .iter()
        .any(|form| lower.contains(form.as_str()))
    {
        return true;
    }
    let ordinal = match id.as_str() {
        "1" | "a" => ["the first", "first one", "첫 번째", "첫번째", "一つ目", "第一"],
        "2" | "b" => ["the second", "second one", "두 번째", "두번째", "二つ目", "第二"],
        "3" | "c" => ["the third", "third one", "세 번째", "세번째", "三つ目", "第三"],
        _ => [""; 6],
    };
    if lower.chars().count() <= 60 && ordinal.iter().any(|word| !word.is_empty() && lower.contains(word)) {
        return true;
    }
    // "1 does seem like a decent path" starts with the choice itself.
    if lower
        .strip_prefix(id.as_str())
        .is_some_and(|rest| rest.starts_with([' ', '.', ',', ')']) && rest.chars().count() <= 160)
        && id.as_str() != "a"
    {
        return true;
    }
    let bare = lower.trim().trim_end_matches(['.', '!', ' ', ')']);
    if bare == id.as_str()
        || (bare.chars().count() <= 24
            && contains_id(bare, id)
            && id.bytes().all(|byte| byte.is_ascii_digit())
            && !bare.contains("ok"))
    {
        return true;
    }
    let title = option.title.to_lowercase();
    title.chars().count() >= 6 && lower.contains(&title)
}

/// Returns whether the text contains `id` without an adjacent ASCII letter or digit, or a dot before it.
fn contains_id(text: &str, id: &str) -> bool {
    text.match_indices(id).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + id.len()..].chars().next();
        before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '.') && after.is_none_or(|c| !c.is_ascii_alphanumeric())
    })
}

fn recommended(options: &[ProposedOption], answer: &str) -> Option<usize> {
    let lower = answer.to_lowercase();
    let signs = ["recommend", "추천", "권장", "おすすめ", "推奨", "推荐", "建议"];
    let named =
        |text: &str| options.iter().position(|option| !option.name.is_empty() && text.contains(&option.name.to_lowercase()));
    options
        .iter()
        .position(|option| signs.iter().any(|sign| option.title.to_lowercase().contains(sign)))
        .or_else(|| signs.iter().filter_map(|sign| lower.rfind(sign)).find_map(|at| named(text::head(&lower[at..], 200))))
}

/// Returns what the agent proposed at the end of an answer.
fn proposal(prompt: &str, answer: &str) -> Option<Resolution> {
    let question = prose::closing_question(answer)?;
    let bare = strip_question_opening(&question);
    let before = text::sentences(answer);
    let before = before
        .iter()
        .rev()
        .skip(1)
        .find(|sentence| !prose::is_narration(sentence) && !sentence.ends_with(['?', '？']) && !is_aside(sentence))
        .map(|sentence| sentence.trim_end_matches([':', '：']).to_owned());
    // A question without an object ("Shall I fix it?", "수정할까요?") refers to the sentence before it.
    let vague = bare.chars().count() < if bare.is_ascii() { 40 } else { 14 } || has_pointer(&bare);
    let what = match before {
        Some(before) if vague && !is_hedged(&before) => before,
        _ if vague => return None,
        // Other languages put the verb of asking into the sentence, so question and answer are stored together.
        _ if !bare.is_ascii() && bare == question.trim_end_matches(['?', '？', ' ']) => {
            format!("{question} → {}", text::clip(prompt, 60))
        }
        _ => bare,
    };
    Some(Resolution { what: text::clip(&what, 240).into_owned(), why: String::new(), rejected: Vec::new() })
}

/// Returns whether the sentence is a second thought next to the proposal.
fn is_aside(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    ["or ", "alternatively", "optionally", "또는", "혹은", "あるいは", "または", "或者"]
        .iter()
        .any(|opening| lower.starts_with(opening))
        || sentence.chars().count() < if sentence.is_ascii() { 24 } else { 10 }
}

fn is_hedged(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    ["may need", "might", "maybe", "try again", "not sure"].iter().any(|sign| lower.contains(sign))
}

fn has_pointer(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| matches!(word, "it" | "this" | "that" | "these" | "those" | "them"))
        || ["이대로", "그렇게", "이렇게", "これ", "この", "这样"].iter().any(|word| lower.contains(word))
}

/// Strips the opening of a question: "Would you like me to add tests?" becomes "add tests".
fn strip_question_opening(question: &str) -> String {
    let trimmed = question.trim_end_matches(['?', '？', ' ']);
    let lower = trimmed.to_lowercase();
    for opening in [
        "would you like me to ",
        "do you want me to ",
        "want me to ",
        "should i ",
        "shall i ",
        "may i ",
        "can i ",
        "would you like to ",
        "should we ",
        "shall we ",
    ] {
        if let Some(at) = lower.rfind(opening)
            && lower.len() == trimmed.len()
        {
            return trimmed[at + opening.len()..].to_owned();
        }
    }
    trimmed.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KOREAN: &str = "두 가지 방법을 제안드립니다.\n\n### 방법 1: 가이드에 언어 정책을 명시하는 방식\n\n기본 규칙이 이미 있으므로, `guide.md`에서 한국어를 지정하면 됩니다.\n\n---\n\n### 방법 2: 필드를 추가하는 방식\n\n문서별로 제어합니다.\n\n---\n\n### 추천\n\n**방법 1**이 더 간단합니다.\n\n어떤 방식으로 진행할까요?";

    #[test]
    fn an_option_named_by_the_human() {
        let resolved = resolve("방법 1로 진행하자.", KOREAN).unwrap();
        assert_eq!(resolved.what, "방법 1: 가이드에 언어 정책을 명시하는 방식");
        assert_eq!(resolved.rejected, ["방법 2: 필드를 추가하는 방식"]);
        assert!(resolved.why.contains("이미 있으므로"), "{}", resolved.why);
        assert_eq!(resolve("2번", KOREAN).unwrap().rejected, ["방법 1: 가이드에 언어 정책을 명시하는 방식"]);
        assert!(resolve("응", KOREAN).unwrap().what.starts_with("방법 1"), "a consent takes the recommended one");
    }

    #[test]
    fn numbered_points() {
        let answer =
            "Two ways:\n\n1. **Cache the token** — fewer calls\n2. **Ask each time** — simpler\n\nWhich one do you want?";
        let resolved = resolve("let's do option 2", answer).unwrap();
        assert_eq!(resolved.what, "Ask each time — simpler");
        assert_eq!(resolved.rejected, ["Cache the token — fewer calls"]);
        assert_eq!(resolve("add a test for the cache as well, please, in a new file", answer), None);
    }

    #[test]
    fn a_consent_takes_the_proposal() {
        let resolved = resolve(
            "yes please",
            "The index is stale.\n\nWould you like me to rebuild the search index with trigram support?",
        )
        .unwrap();
        assert_eq!(resolved.what, "rebuild the search index with trigram support");
        let resolved =
            resolve("어 그렇게 해줘.", "placeholder를 `<...>`로 바꾸면 충돌을 피할 수 있습니다. 수정할까요?").unwrap();
        assert_eq!(resolved.what, "placeholder를 `<...>`로 바꾸면 충돌을 피할 수 있습니다.");
        assert_eq!(resolve("yes", "All done."), None);
    }

    proptest! {
        #[test]
        fn never_panics(prompt in any::<String>(), answer in any::<String>()) {
            resolve(&prompt, &answer);
            resolve("option 1", &answer);
        }
    }
}
