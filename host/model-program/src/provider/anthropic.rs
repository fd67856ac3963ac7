//! Anthropic's protocol: `POST {base_url}/v1/messages`. A schema becomes the input of a tool that the model must use, because
//! every model of theirs knows that.

use serde_json::{Value, json};
use throughline_http::Authorization;
use throughline_model_wire::{Completed, Failed, Request, Role, Server, VERSION};

use super::exchange::{model, odd, post, refused, sum, tokens};

const HEADERS: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

/// The name of the tool that takes the answer.
const TOOL: &str = "answer";

/// Completes the request.
pub(super) fn complete(server: &Server, request: &Request) -> Result<Completed, Failed> {
    let (system, messages): (Vec<_>, Vec<_>) = request.messages.iter().partition(|message| message.role == Role::System);
    let system = system.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n");
    let mut body = json!({"model": server.model, "max_tokens": request.max_tokens, "messages": messages});
    if !system.is_empty() {
        body["system"] = system.into();
    }
    if let Some(schema) = &request.schema {
        body["tools"] = json!([{"name": TOOL, "description": "Takes the answer.", "input_schema": schema}]);
        body["tool_choice"] = json!({"type": "tool", "name": TOOL});
    }
    read(&post(server, Authorization::XApiKey, HEADERS, "/v1/messages", request, &body)?, &server.model)
}

fn read(response: &Value, asked: &str) -> Result<Completed, Failed> {
    let reason = response["stop_reason"].as_str().unwrap_or_default();
    if reason == "refusal" {
        return Err(refused("it gave no reason"));
    }
    let blocks = response["content"].as_array().ok_or_else(|| odd("there is no content"))?;
    let used = blocks.iter().find(|block| block["type"] == "tool_use").map(|block| block["input"].to_string());
    let said = || blocks.iter().filter_map(|block| block["text"].as_str()).collect::<String>();
    let usage = &response["usage"];
    Ok(Completed {
        version: VERSION,
        model: model(&response["model"], asked),
        text: used.unwrap_or_else(said),
        truncated: reason == "max_tokens",
        input_tokens: sum(
            &usage["input_tokens"],
            &[&usage["cache_creation_input_tokens"], &usage["cache_read_input_tokens"]],
        ),
        output_tokens: tokens(&usage["output_tokens"]),
    })
}
