//! OpenAI's chat protocol, which many other servers implement: `POST {base_url}/chat/completions`.

use serde_json::{Value, json};
use throughline_http::Authorization;
use throughline_model_wire::{Completed, Failed, Request, Server, VERSION};

use super::exchange::{model, odd, post, refused, tokens};

/// The address of OpenAI itself. Its newer models refuse `max_tokens`, and most other servers know nothing else.
const OPENAI: &str = "https://api.openai.com/";

/// Completes the request.
pub(super) fn complete(server: &Server, request: &Request) -> Result<Completed, Failed> {
    let limit = if server.base_url.starts_with(OPENAI) { "max_completion_tokens" } else { "max_tokens" };
    let mut body = json!({"model": server.model, "messages": request.messages, limit: request.max_tokens});
    if let Some(schema) = &request.schema {
        body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}});
    }
    read(&post(server, Authorization::Bearer, &[], "/chat/completions", request, &body)?, &server.model)
}

fn read(response: &Value, asked: &str) -> Result<Completed, Failed> {
    let choice = &response["choices"][0];
    if let Some(why) = choice["message"]["refusal"].as_str().filter(|why| !why.is_empty()) {
        return Err(refused(&why.chars().filter(|c| !c.is_control()).take(200).collect::<String>()));
    }
    let reason = choice["finish_reason"].as_str().unwrap_or_default();
    if reason == "content_filter" {
        return Err(refused("its filter stopped it"));
    }
    let Some(text) = choice["message"]["content"].as_str() else { return Err(odd("there is no message")) };
    Ok(Completed {
        version: VERSION,
        model: model(&response["model"], asked),
        text: text.to_owned(),
        truncated: reason == "length",
        input_tokens: tokens(&response["usage"]["prompt_tokens"]),
        output_tokens: tokens(&response["usage"]["completion_tokens"]),
    })
}
