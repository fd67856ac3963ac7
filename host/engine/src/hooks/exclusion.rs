//! Removes what the user excluded from tool calls, before anything looks at them.

use serde_json::Value;

use throughline_agents::protocol::ToolUse;
use throughline_privacy::ExclusionRules;

/// Returns the tool call without the parts that the user excluded, or `None` if the call is about an excluded tool or
/// path.
pub(super) fn without_excluded(rules: &ExclusionRules, tool_use: &ToolUse) -> Option<ToolUse> {
    if rules.is_empty() {
        return Some(tool_use.clone());
    }
    if rules.excludes_tool(&tool_use.tool) {
        return None;
    }
    let mut input: Value = serde_json::from_str(&tool_use.input).unwrap_or(Value::Null);
    if names_excluded_path(rules, &input) {
        return None;
    }
    clean(rules, &mut input);
    let mut output: Value = serde_json::from_str(&tool_use.output).unwrap_or(Value::Null);
    clean(rules, &mut output);
    Some(ToolUse {
        input: input.to_string(),
        output: output.to_string(),
        error: tool_use.error.as_ref().map(|error| rules.clean(error).unwrap_or_else(|| error.clone())),
        ..tool_use.clone()
    })
}

fn names_excluded_path(rules: &ExclusionRules, value: &Value) -> bool {
    match value {
        Value::String(text) => rules.names_excluded_path(text),
        Value::Array(items) => items.iter().any(|item| names_excluded_path(rules, item)),
        Value::Object(fields) => fields.values().any(|item| names_excluded_path(rules, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn clean(rules: &ExclusionRules, value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(cleaned) = rules.clean(text) {
                *text = cleaned;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| clean(rules, item)),
        Value::Object(fields) => fields.values_mut().for_each(|item| clean(rules, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
