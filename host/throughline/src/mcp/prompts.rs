//! What a user can call up by name in the client: to save what a session knows, and to take up the last one.

use anyhow::Result;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::quote;
use super::tools::{self, ContextWanted};
use super::worker::Desk;

/// The longest that the user can add, characters.
const MOST_FOCUS: usize = 1_000;

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    SaveContext,
    Resume,
}

impl Named {
    fn name(self) -> &'static str {
        match self {
            Self::SaveContext => "save-context",
            Self::Resume => "resume",
        }
    }
}

/// Both.
pub(super) fn all() -> Vec<Prompt> {
    let focus = PromptArgument::new("focus").with_description("What matters most, in your words").with_required(false);
    vec![
        Prompt::new(Named::SaveContext.name(), Some("Save what this session knows"), Some(vec![focus]))
            .with_title("Save context"),
        Prompt::new(Named::Resume.name(), Some("Take up the project's last session"), None).with_title("Resume"),
    ]
}

/// The one of this name.
pub(super) fn named(name: &str) -> Option<Named> {
    [Named::SaveContext, Named::Resume].into_iter().find(|prompt| prompt.name() == name)
}

/// What it says.
pub(super) fn get(desk: &mut Desk, prompt: Named, arguments: &JsonObject) -> Result<GetPromptResult> {
    let text = match prompt {
        Named::SaveContext => {
            let focus = arguments.get("focus").and_then(|focus| focus.as_str()).map(|focus| quote::line(focus, MOST_FOCUS));
            let focus =
                focus.filter(|focus| !focus.is_empty()).map_or_else(String::new, |focus| format!(" Above all: {focus}"));
            format!(
                "Save what this session knows, so that a later one can go on from here. Call memory_save once with type \
                 session_summary: what was asked, what is done, what is in hand and what is left, what is in the way, and the \
                 files that matter. Then once for each decision with its reason, each correction or preference of mine, and each \
                 cause that was found. Search first, and do not store what is stored.{focus}"
            )
        }
        Named::Resume => match tools::context(desk, ContextWanted::Last)?.fenced() {
            Some(context) => format!(
                "Take up the project's last session. This is what was saved of it:\n\n{context}\n\nSay in a few lines where it \
                 stands and what is next, look at the files before you rely on it, and ask me whether to go on."
            ),
            None => "Nothing is saved of an earlier session of this project. Say so, and ask me what to begin with.".into(),
        },
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}
