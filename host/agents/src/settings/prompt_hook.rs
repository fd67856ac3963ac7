//! Finds, adds and removes the prompt hook in Claude Code's settings, without touching anything else. The hook lets the client's
//! small model check the last answer of a turn.
//!
//! Of all events, only `Stop` and `SubagentStop` give the agent what such a hook says; elsewhere it only ends the turn with a
//! warning. At `Stop` the client (2.1.330) shows its small model the conversation and the condition, with the hook's input in the
//! place of `$ARGUMENTS`. The model answers `{"ok": …, "reason": …}`. If `ok` is false, the turn goes on, and the agent reads
//! `Stop hook feedback:`, the condition and the reason. So the condition must make sense to the small model and to the agent. What
//! the agent then adds is in the transcript as its own word. If the model fails or answers in another form, the turn ends.

use serde_json::Value;

use super::hooks;
use super::json::{Document, PathStep, Piece, Syntax};
use super::malformed::Malformed;

/// The event at which the hook is registered.
const EVENT: &str = "Stop";

/// The beginning of the condition, by which the hook is known in whatever version.
const MARK: &str = "Throughline remembers this session";

/// The condition. The default policy knows the heading that it asks for. From the second time on, the client shows the agent its
/// first 500 characters only.
const CONDITION: &str = "Throughline remembers this session by what the agent says. May the turn end? \
    Yes, if `stop_hook_active` is true in the input below, because nobody is asked twice, or if `background_tasks` is not empty. \
    Yes, if the turn changed nothing and settled nothing, or if the agent waits for the user's answer. \
    Yes, if the agent's last message says what came of the request, each decision with its reason, and what is left open, as far \
    as there is any. Otherwise no, and then the reason is: \"Add one short message in the user's language: what came of the \
    request, each decision with its reason, and below the heading `## Still open` a list of what is left open, if anything is. Do \
    nothing else.\" Input: $ARGUMENTS";

/// How long the model may take, in seconds: the client's own default.
const TIMEOUT: u64 = 30;

/// Throughline's prompt hook, as it was found in settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptHook {
    /// Whether it is registered once, at the right event and with this version's text.
    pub is_current: bool,
}

/// Returns the text with the prompt hook. One that is there is brought up to date and keeps what somebody added to it, such as
/// a model, and a longer timeout.
pub(super) fn add(text: &str) -> Result<String, Malformed> {
    let mut document = Document::parse(text, Syntax::Strict)?;
    let found = find(&document);
    let kept = found.iter().position(|it| it.event == EVENT);
    let mut changed = false;
    for (_, place) in found.iter().enumerate().rev().filter(|(number, _)| Some(*number) != kept) {
        hooks::remove(&mut document, &place.path());
        changed = true;
    }
    // Removing others may have moved it.
    if let Some(place) = find(&document).first() {
        for (name, value) in place.outdated() {
            let path = [&place.path()[..], &[PathStep::Name(name)]].concat();
            document.set(&path, &Piece::Plain(value));
            changed = true;
        }
    } else {
        let handler = Piece::object([
            ("type", Piece::plain("prompt")),
            ("prompt", Piece::plain(CONDITION)),
            ("timeout", Piece::plain(TIMEOUT)),
        ]);
        let group = Piece::object([("hooks", Piece::List(vec![handler]))]);
        document.push(&[PathStep::Name("hooks"), PathStep::Name(EVENT)], &group);
        changed = true;
    }
    Ok(if changed { document.into_text() } else { text.to_owned() })
}

/// Returns the text without the prompt hook, and without groups and lists that contained nothing else.
pub(super) fn remove(text: &str) -> Result<String, Malformed> {
    let mut document = Document::parse(text, Syntax::Strict)?;
    let found = find(&document);
    for place in found.iter().rev() {
        hooks::remove(&mut document, &place.path());
    }
    Ok(if found.is_empty() { text.to_owned() } else { document.into_text() })
}

/// Returns the prompt hook in the text of a settings file of Claude Code's, or `None` if there is none.
///
/// # Errors
///
/// The text is not valid settings for the client either.
pub fn prompt_hook(text: &str) -> Result<Option<PromptHook>, Malformed> {
    let found = find(&Document::parse(text, Syntax::Strict)?);
    let is_current = matches!(&found[..], [place] if place.event == EVENT && place.outdated().is_empty());
    Ok((!found.is_empty()).then_some(PromptHook { is_current }))
}

/// Where a prompt hook of ours is, and what it is.
struct Place {
    event: String,
    /// The index of its group in the event's list, and its own in the group.
    at: (usize, usize),
    handler: Value,
}

impl Place {
    fn path(&self) -> [PathStep<'_>; 5] {
        let (group, place) = self.at;
        [
            PathStep::Name("hooks"),
            PathStep::Name(&self.event),
            PathStep::At(group),
            PathStep::Name("hooks"),
            PathStep::At(place),
        ]
    }

    /// Returns the members of the handler that differ from this version's, with the values that they should have.
    fn outdated(&self) -> Vec<(&'static str, Value)> {
        let mut members = Vec::new();
        if self.handler["prompt"] != CONDITION {
            members.push(("prompt", CONDITION.into()));
        }
        if self.handler["timeout"].as_u64().is_some_and(|seconds| seconds < TIMEOUT) {
            members.push(("timeout", TIMEOUT.into()));
        }
        members
    }
}

/// Finds our prompt hooks, in the order of the text. What has another form than the client expects is passed over.
fn find(document: &Document) -> Vec<Place> {
    let mut found = Vec::new();
    for event in document.names(&[PathStep::Name("hooks")]) {
        let groups = document.get(&[PathStep::Name("hooks"), PathStep::Name(&event)]).unwrap_or_default();
        for (group, value) in groups.as_array().into_iter().flatten().enumerate() {
            for (place, handler) in value["hooks"].as_array().into_iter().flatten().enumerate() {
                let is_ours = handler["type"] == "prompt"
                    && handler["prompt"].as_str().is_some_and(|prompt| prompt.trim_start().starts_with(MARK));
                if is_ours {
                    found.push(Place { event: event.clone(), at: (group, place), handler: handler.clone() });
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const OTHERS: &str = r#"{
  "hooks": {
    "Stop": [ {"hooks": [{"type": "prompt", "prompt": "Are the tests green? $ARGUMENTS"}]} ]
  }
}
"#;

    #[test]
    fn it_has_the_form_that_the_client_reads() {
        let text = add("").unwrap();
        let hook = json!({"type": "prompt", "prompt": CONDITION, "timeout": 30});
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!({"hooks": {"Stop": [{"hooks": [hook]}]}}));
        assert_eq!(add(&text).unwrap(), text);
        assert_eq!(prompt_hook(&text).unwrap(), Some(PromptHook { is_current: true }));
        assert_eq!(remove(&text).unwrap(), "{}\n");
    }

    #[test]
    fn the_condition_names_what_ends_the_asking_first() {
        assert!(CONDITION.starts_with(MARK) && CONDITION.ends_with("$ARGUMENTS"));
        let shown_again: String = CONDITION.chars().take(500).collect();
        assert!(
            shown_again.contains("`stop_hook_active` is true") && shown_again.contains("what is left open"),
            "{shown_again}"
        );
    }

    #[test]
    fn hooks_of_others_stay() {
        let with = add(OTHERS).unwrap();
        assert!(with.contains("\"Are the tests green? $ARGUMENTS\"") && with.contains(MARK), "{with}");
        assert_eq!(remove(&with).unwrap(), OTHERS);
        assert_eq!((remove(OTHERS).unwrap(), prompt_hook(OTHERS).unwrap()), (OTHERS.to_owned(), None));
    }

    #[test]
    fn one_of_another_version_is_brought_up_to_date() {
        let hook = |prompt: &str| json!({"type": "prompt", "prompt": prompt, "model": "a-model", "timeout": 5});
        let old = json!({"hooks": {
            "SubagentStop": [{"hooks": [hook("Throughline remembers this session. Well?")]}],
            "Stop": [
                {"hooks": [{"type": "command", "command": "say done"}, hook("Throughline remembers this session. Well?")]},
                {"hooks": [hook("Throughline remembers this session. Twice?")]},
            ],
        }});
        assert_eq!(prompt_hook(&old.to_string()).unwrap(), Some(PromptHook { is_current: false }));
        let new = add(&old.to_string()).unwrap();
        let mut wanted = hook(CONDITION);
        wanted["timeout"] = json!(30);
        assert_eq!(
            serde_json::from_str::<Value>(&new).unwrap(),
            json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}, wanted]}]}})
        );
        assert_eq!(prompt_hook(&new).unwrap(), Some(PromptHook { is_current: true }));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail(bits in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", "\"hooks\"", "\"Stop\"", ":", ",", "\"type\"", "\"prompt\"", "\"Throughline remembers this session\"",
            "null", "7", "\u{feff}",
        ]), 0..24)) {
            let text = bits.concat();
            let _ = (add(&text), remove(&text), prompt_hook(&text));
        }
    }
}
