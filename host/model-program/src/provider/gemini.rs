//! Gemini's protocol: `POST {base_url}/models/{model}:generateContent`.

use serde_json::{Value, json};
use throughline_http::Authorization;
use throughline_model_wire::{Completed, Failed, Request, Role, Server, VERSION};

use super::exchange::{check_path_name, model, odd, post, refused, sum, tokens};

/// Completes the request.
pub(super) fn complete(server: &Server, request: &Request) -> Result<Completed, Failed> {
    let name = server.model.strip_prefix("models/").unwrap_or(&server.model);
    check_path_name(name)?;
    let parts = |text: &str| json!([{"text": text}]);
    let (system, messages): (Vec<_>, Vec<_>) = request.messages.iter().partition(|message| message.role == Role::System);
    let contents: Vec<Value> = messages
        .iter()
        .map(|message| {
            let role = if message.role == Role::Assistant { "model" } else { "user" };
            json!({"role": role, "parts": parts(&message.content)})
        })
        .collect();
    let mut body = json!({"contents": contents, "generationConfig": {"maxOutputTokens": request.max_tokens}});
    if !system.is_empty() {
        let system = system.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n");
        body["systemInstruction"] = json!({"parts": parts(&system)});
    }
    if let Some(schema) = &request.schema {
        body["generationConfig"]["responseMimeType"] = "application/json".into();
        body["generationConfig"]["responseJsonSchema"] = schema.clone();
    }
    let path = format!("/models/{name}:generateContent");
    read(&post(server, Authorization::GoogleApiKey, &[], &path, request, &body)?, &server.model)
}

fn read(response: &Value, asked: &str) -> Result<Completed, Failed> {
    if response["promptFeedback"]["blockReason"].is_string() {
        return Err(refused("its filter blocked the request"));
    }
    let candidate = &response["candidates"][0];
    let reason = candidate["finishReason"].as_str().unwrap_or_default();
    if matches!(reason, "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII") {
        return Err(refused("its filter stopped it"));
    }
    let parts = candidate["content"]["parts"].as_array().ok_or_else(|| odd("there is no content"))?;
    // A thought is no part of the answer.
    let said = parts.iter().filter(|part| part["thought"] != true).filter_map(|part| part["text"].as_str());
    let usage = &response["usageMetadata"];
    Ok(Completed {
        version: VERSION,
        model: model(&response["modelVersion"], asked),
        text: said.collect(),
        truncated: reason == "MAX_TOKENS",
        input_tokens: tokens(&usage["promptTokenCount"]),
        output_tokens: sum(&usage["candidatesTokenCount"], &[&usage["thoughtsTokenCount"]]),
    })
}
