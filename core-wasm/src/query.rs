//! Stage `query`: turns a prompt into a search, if the prompt needs one.
//!
//! A search result costs the agent attention, so most prompts should cause none: slash commands, texts that the client
//! writes in the user's place, and plain consents. A consent is searched by what it consents to, if the agent's last
//! answer names it.

pub(crate) mod form;
mod words;

use crate::{
    bindings::{exports::throughline::policy::query::Search, throughline::policy::types::Session},
    redact::scrub,
};
use words::{Word, only_continues};

/// The maximum number of memories to choose from for one prompt.
const MAX_RESULTS: u32 = 20;
/// The minimum score. Below it, a memory has hardly anything of the prompt. Whether the others help is judged by
/// `context/relevance.rs`, which knows how they match.
const MIN_SCORE: f32 = 0.05;
/// The maximum number of words in a search.
const MAX_WORDS: usize = 32;
/// How many bytes at the beginning of a prompt count as the question. Text after them is usually pasted.
const QUESTION_BYTES: usize = 1_500;
/// How many bytes of a prompt are searched for names.
const MAX_PROMPT_BYTES: usize = 16_000;
/// How many bytes at the end of the last answer may contain the proposal that the user consents to.
const PROPOSAL_BYTES: usize = 600;
/// The minimum number of names in a proposal that is worth searching for.
const MIN_NAMES: usize = 2;

/// Plans the search, or returns none if the prompt needs no memory. The session is not used yet; a later version may
/// use it.
pub fn plan(_session: &Session, prompt: &str, last_turn: Option<&str>) -> Option<Search> {
    let prompt = prompt.trim();
    if is_command(prompt) || is_client_text(prompt) {
        return None;
    }
    let mut words = prompt_words(strip_instructions(prompt));
    if only_continues(&words) {
        words = proposal_words(last_turn?);
    }
    let text = to_query(&words);
    (!text.is_empty()).then(|| Search {
        text,
        // Every kind, also those of a team's own notes. The page leaves out what is not for prompts.
        kinds: Vec::new(),
        limit: MAX_RESULTS,
        min_score: MIN_SCORE,
    })
}

/// Returns whether the prompt is a command such as `/compact`, `/plugin:command x`, `!ls` or `# remember this`. A path
/// such as `/etc/hosts` is not a command.
fn is_command(prompt: &str) -> bool {
    let first = prompt.split_whitespace().next().unwrap_or_default();
    let command = first.strip_prefix('/').is_some_and(|name| !name.is_empty() && !name.contains(['/', '.']));
    command || prompt.starts_with(['!', '#'])
}

/// Returns whether the client wrote the prompt in the user's place.
fn is_client_text(prompt: &str) -> bool {
    const TAGS: &[&str] = &[
        "task-notification",
        "command-",
        "local-command-",
        "bash-",
        "system-reminder",
        "user-prompt-submit-hook",
        "tool-use-id",
    ];
    const TEXTS: &[&str] = &["[Request interrupted", "Stop hook feedback:", "Caveat: The messages below"];
    let tag = prompt.strip_prefix('<').unwrap_or_default();
    TAGS.iter().any(|name| tag.starts_with(name)) || TEXTS.iter().any(|text| prompt.starts_with(text))
}

/// Strips instructions that a program running the agent puts before the prompt, such as
/// `<system_instruction>…</system_instruction>`.
fn strip_instructions(prompt: &str) -> &str {
    const MAX_ELEMENTS: usize = 8;
    let is_joined = |name: &str| {
        name.contains(['_', '-']) && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
    };
    let mut rest = prompt;
    for _ in 0..MAX_ELEMENTS {
        let name = rest.strip_prefix('<').and_then(|tag| tag.split(['>', ' ']).next());
        let Some(name) = name.filter(|name| is_joined(name)) else {
            break;
        };
        let Some((_, after)) = rest.split_once(&format!("</{name}>")) else {
            break;
        };
        rest = after.trim_start();
    }
    rest
}

/// Returns the words of the question and the names in the text pasted after it.
fn prompt_words(prompt: &str) -> Vec<Word> {
    let prompt = scrub(&prompt[..prompt.floor_char_boundary(MAX_PROMPT_BYTES)]);
    let (question, pasted) = prompt.split_at(prompt.floor_char_boundary(QUESTION_BYTES));
    let mut words = words::searchable(question);
    words.truncate(MAX_WORDS);
    if words.len() < MAX_WORDS && !pasted.is_empty() {
        let names = words::searchable(pasted).into_iter().filter(|word| word.is_name);
        let new: Vec<Word> = names.filter(|name| !words.contains(name)).collect();
        words.extend(new);
        words.truncate(MAX_WORDS);
    }
    words
}

/// Returns the names at the end of the agent's answer, where the agent says what it would do next. Returns nothing if
/// there are few names.
fn proposal_words(last_turn: &str) -> Vec<Word> {
    let scrubbed = scrub(last_turn);
    let start = scrubbed.ceil_char_boundary(scrubbed.len().saturating_sub(PROPOSAL_BYTES));
    // Do not start in the middle of a word.
    let end = &scrubbed[start..];
    let end = if start == 0 { end } else { end.split_once(char::is_whitespace).map_or("", |(_, rest)| rest) };
    let mut words = words::searchable(end);
    if words.iter().filter(|word| word.is_name).count() < MIN_NAMES {
        return Vec::new();
    }
    words.truncate(MAX_WORDS);
    words
}

/// Joins the words in the syntax of `throughline memory search`. No word may read as a search operator.
fn to_query(words: &[Word]) -> String {
    const FIELDS: &[&str] = &["type:", "file:", "session:", "after:", "before:"];
    let plain = |word: &Word| {
        let field = FIELDS.iter().any(|field| word.text.to_lowercase().starts_with(field));
        if field { word.text.replacen(':', " ", 1) } else { word.text.clone() }
    };
    words.iter().map(plain).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn session() -> Session {
        Session {
            id: "s".to_owned(),
            project: "p".to_owned(),
            root: "/r".to_owned(),
            cwd: "/r".to_owned(),
            agent: "claude-code".to_owned(),
            model: None,
            now: 0,
            attributes: Vec::new(),
        }
    }

    fn text(prompt: &str, last_turn: Option<&str>) -> Option<String> {
        plan(&session(), prompt, last_turn).map(|search| search.text)
    }

    #[test]
    fn a_question_searches_for_its_words() {
        let search = plan(&session(), "why does src/pay.rs fail with E0308 again?", None).unwrap();
        assert_eq!(search.text, "src/pay.rs fail E0308");
        assert_eq!(search.limit, 20);
        assert!(search.kinds.is_empty(), "every kind");
        assert_eq!(text("/etc/hosts is wrong", None).as_deref(), Some("/etc/hosts"));
        assert_eq!(text("결제 재시도는 왜 세 번이야?", None).as_deref(), Some("결제 재시도 번이야"));
    }

    #[test]
    fn prompts_that_need_no_memory_are_not_searched() {
        for prompt in [
            "",
            " ",
            "ok",
            "yes",
            "Yes please!",
            "go on",
            "continue",
            "commit this",
            "계속",
            "네",
            "응 그렇게 해줘",
            "続けて",
            "继续",
            "/compact",
            "/simplify src",
            "!ls -la",
            "# always use tabs",
            "<task-notification>\n<task-id>b1</task-id>",
            "<command-name>/clear</command-name>",
            "[Request interrupted by user]",
            "Stop hook feedback:\n- tests fail",
            "…",
            "👍",
        ] {
            assert_eq!(text(prompt, None), None, "{prompt}");
            assert_eq!(text(prompt, Some("All done, everything works.")), None, "{prompt}");
        }
    }

    #[test]
    fn a_consent_searches_for_the_proposal() {
        let answer = "The tests pass. Shall I move retry_limit from src/pay.rs into config.toml?";
        let search = text("yes, go ahead", Some(answer)).unwrap();
        for word in ["retry_limit", "src/pay.rs", "config.toml"] {
            assert!(search.contains(word), "{search}");
        }
        assert_eq!(text("계속해줘", Some(answer)), Some(search));
        let long = format!("{} {answer}", "wordy_name ".repeat(400));
        assert!(text("ok", Some(&long)).unwrap().contains("retry_limit"));
    }

    #[test]
    fn nothing_reads_as_an_operator() {
        assert_eq!(
            text("what is \"type:foo\" and -docker or file:x.rs", None).as_deref(),
            Some("type foo docker file x.rs")
        );
    }

    #[test]
    fn secrets_are_not_searched_for() {
        let search = text("use password=hunter2hunter2 for the login form", None).unwrap();
        assert!(!search.contains("hunter2"), "{search}");
    }

    #[test]
    fn only_names_are_taken_from_pasted_text() {
        let prompt = format!("fix this crash: {} panicked at src/deep/inside.rs", "some words of prose ".repeat(200));
        let search = text(&prompt, None).unwrap();
        assert!(search.starts_with("fix crash"), "{search}");
        assert!(search.ends_with("src/deep/inside.rs"), "{search}");
    }

    proptest! {
        #[test]
        fn any_prompt_is_handled(prompt in "\\PC{0,300}", last in prop::option::of("\\PC{0,1500}")) {
            if let Some(search) = plan(&session(), &prompt, last.as_deref()) {
                prop_assert!(!search.text.trim().is_empty());
                prop_assert!(search.text.split(' ').count() <= 2 * MAX_WORDS);
                prop_assert!(!search.text.contains('"'));
            }
        }
    }
}
