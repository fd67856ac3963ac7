//! What agents have in common whose hooks are a plugin of ours: how the plugin is answered, and what becomes of its tool calls.

use std::path::Path;

use serde_json::{Value, json};

use super::event::{Moment, ToolUse, derive_id};
use super::fields::Fields;
use super::tool_mapping::{self, Outcome};

/// Returns the tool call of a payload in Claude Code's terms. `outcome` reads what came of it. Empty if the payload names no tool.
pub(super) fn uses(
    fields: &Fields<'_>,
    session: &str,
    cwd: &Path,
    outcome: impl FnOnce(&Fields<'_>) -> Outcome,
) -> Vec<ToolUse> {
    let Some(tool) = fields.id("tool_name") else { return Vec::new() };
    let input: Value = fields.value("tool_input");
    let outcome = outcome(fields);
    let id = fields.id("tool_use_id").unwrap_or_else(|| derive_id(&[session, &tool, &input.to_string(), &outcome.text]));
    tool_mapping::to_claude_code(&ToolUse { id, tool, ..outcome.tool_use() }, &input, cwd)
}

/// Whether a plugin shows the model an answer to the event.
pub(super) fn shows_answer(moment: &Moment) -> bool {
    matches!(moment, Moment::Start { .. } | Moment::PromptSubmitted { .. } | Moment::ToolsUsed { .. })
}

/// Returns the answer that makes a plugin show `context` to the model.
pub(super) fn answer(moment: &Moment, context: &str) -> Option<String> {
    shows_answer(moment).then(|| json!({"context": context}).to_string())
}
