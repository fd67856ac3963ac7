//! MCP prompts, which a user can invoke by name in the client: to save what a session learned, and to resume the last
//! session.

use anyhow::Result;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::quote;
use super::tools::{self, ContextKind};
use super::worker::ToolContext;

/// How much text the user can add at most, in characters.
const MAX_FOCUS_CHARS: usize = 1_000;

/// A prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptKind {
    SaveContext,
    Resume,
}

impl PromptKind {
    fn name(self) -> &'static str {
        match self {
            Self::SaveContext => "save-context",
            Self::Resume => "resume",
        }
    }
}

/// Returns the descriptions of all prompts.
pub(super) fn all() -> Vec<Prompt> {
    let focus = PromptArgument::new("focus").with_description("What matters most, in your words").with_required(false);
    vec![
        Prompt::new(PromptKind::SaveContext.name(), Some("Save what this session learned"), Some(vec![focus]))
            .with_title("Save context"),
        Prompt::new(PromptKind::Resume.name(), Some("Resume the project's last session"), None).with_title("Resume"),
    ]
}

/// Returns the prompt with this name.
pub(super) fn named(name: &str) -> Option<PromptKind> {
    [PromptKind::SaveContext, PromptKind::Resume].into_iter().find(|prompt| prompt.name() == name)
}

/// Returns the text of a prompt.
pub(super) fn get(ctx: &mut ToolContext, prompt: PromptKind, arguments: &JsonObject) -> Result<GetPromptResult> {
    let text = match prompt {
        PromptKind::SaveContext => {
            let focus =
                arguments.get("focus").and_then(|focus| focus.as_str()).map(|focus| quote::line(focus, MAX_FOCUS_CHARS));
            let focus = focus
                .filter(|focus| !focus.is_empty())
                .map_or_else(String::new, |focus| format!(" Most important: {focus}"));
            format!(
                "Save what this session learned, so that a later session can continue from here. Call memory_save once with \
                 type session_summary: what was asked, what is done, what is in progress, what is left, what is blocked, and \
                 which files matter. Then call it once for each decision with its reason, each correction or preference of mine, \
                 and each root cause that was found. Search first, and do not store anything twice.{focus}"
            )
        }
        PromptKind::Resume => match tools::context(ctx, ContextKind::Last)?.fenced() {
            Some(context) => format!(
                "Resume the project's last session. This was saved from it:\n\n{context}\n\nCheck the files before you rely on \
                 this. Then say in a few lines where the work stands and what comes next, and ask me whether to continue."
            ),
            None => {
                "Nothing was saved from an earlier session of this project. Say so, and ask me what to start with.".into()
            }
        },
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}
