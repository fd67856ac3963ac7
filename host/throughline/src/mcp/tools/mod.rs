//! The MCP tools. A tool is a description, the types of its input and output, and a function.

mod call;
mod context;
mod entry;
mod failures;
mod forget;
mod get;
mod save;
mod search;
mod timeline;

use std::sync::Arc;

use anyhow::Result;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use call::{ToolOutput, parse_arguments};
pub(super) use context::{ContextKind, context};
pub(super) use entry::note_types;
pub(super) use forget::{ForgetRequest, NAME as FORGET};
pub(super) use get::whole;

use super::quote;
use super::worker::ToolContext;
use throughline_engine::hint;

/// A tool.
pub(super) struct ToolDefinition {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    input: fn() -> JsonObject,
    output: fn() -> JsonObject,
    /// Runs the tool with these arguments.
    pub(super) call: fn(&mut ToolContext, JsonObject) -> Result<ToolOutput>,
}

/// What a call changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Nothing,
    /// It adds data; repeating the call adds nothing more.
    Adds,
    /// It deletes data; repeating the call deletes nothing more.
    Removes,
}

/// All tools.
pub(super) const ALL: [ToolDefinition; 7] = [
    ToolDefinition {
        name: "memory_search",
        title: "Search the project's memory",
        description: "Search what earlier sessions of this project decided, learned, fixed or were told. Returns ids and one-line \
                      summaries, best first; memory_get reads whole memories.",
        effect: Effect::Nothing,
        input: input_schema_of::<search::Arguments>,
        output: output_schema_of::<search::SearchPage>,
        call: |ctx, arguments| search::search(ctx, parse_arguments(arguments)?),
    },
    ToolDefinition {
        name: "memory_timeline",
        title: "What happened",
        description: "What happened in this project's sessions, in order: prompts, tool calls, failures. Returns the latest page first.",
        effect: Effect::Nothing,
        input: input_schema_of::<timeline::Arguments>,
        output: output_schema_of::<timeline::TimelinePage>,
        call: |ctx, arguments| timeline::timeline(ctx, parse_arguments(arguments)?),
    },
    ToolDefinition {
        name: "memory_get",
        title: "Read memories",
        description: "Read whole memories, or a range of their lines.",
        effect: Effect::Nothing,
        input: input_schema_of::<get::Arguments>,
        output: output_schema_of::<get::GetResult>,
        call: |ctx, arguments| get::get(ctx, &parse_arguments(arguments)?),
    },
    ToolDefinition {
        name: "memory_save",
        title: "Remember",
        description: "Store something that a later session should know: a decision with its reason, a correction, a preference, a \
                      root cause. One fact per call, understandable without this conversation. Secrets are removed.",
        effect: Effect::Adds,
        input: input_schema_of::<save::Arguments>,
        output: output_schema_of::<save::Saved>,
        call: |ctx, arguments| save::save(ctx, parse_arguments(arguments)?),
    },
    ToolDefinition {
        name: FORGET,
        title: "Forget",
        description: "Delete memories of this project, by ids, words, session or time; all given options must match. Use it only \
                      when the user asks for it. Without the user's consent it only lists what would be deleted.",
        effect: Effect::Removes,
        input: input_schema_of::<forget::Arguments>,
        output: output_schema_of::<forget::ForgetResult>,
        call: |ctx, arguments| Ok(ForgetRequest::new(arguments)?.preview(ctx)?.said),
    },
    ToolDefinition {
        name: "session_context",
        title: "The project's context",
        description: "What a new session of this project sees at its start, or what was saved from the last session.",
        effect: Effect::Nothing,
        input: input_schema_of::<context::Arguments>,
        output: output_schema_of::<context::Context>,
        call: |ctx, arguments| context::session_context(ctx, &parse_arguments(arguments)?),
    },
    ToolDefinition {
        name: "failures_for",
        title: "Known failures",
        description: "Known failures of a file or command in this project, and what fixed them. Call it before you retry what failed.",
        effect: Effect::Nothing,
        input: input_schema_of::<failures::Arguments>,
        output: output_schema_of::<failures::FailuresPage>,
        call: |ctx, arguments| failures::failures(ctx, &parse_arguments(arguments)?),
    },
];

impl ToolDefinition {
    /// Returns the tool's description for clients.
    pub(super) fn to_tool(&self) -> Tool {
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(self.effect == Effect::Nothing)
            .destructive(self.effect == Effect::Removes)
            .idempotent(true)
            .open_world(false);
        let mut tool = Tool::new(self.name, self.description, Arc::new((self.input)()));
        tool.title = Some(self.title.into());
        tool.output_schema = Some(Arc::new((self.output)()));
        tool.annotations = Some(annotations);
        tool
    }
}

/// Returns the JSON Schema of the arguments.
fn input_schema_of<T: JsonSchema>() -> JsonObject {
    schema::<T>(SchemaSettings::draft2020_12())
}

/// Returns the JSON Schema of the structured result.
fn output_schema_of<T: JsonSchema>() -> JsonObject {
    schema::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// Generates a schema without the parts that clients do not need.
fn schema<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let settings = settings
        .with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true;
        })
        // Number formats, which clients do not know and complain about.
        .with_transform(RecursiveTransform(|schema: &mut Schema| {
            schema.remove("format");
        }));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    match schema.to_value() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// Returns an error and a hint in words.
pub(super) fn error_text(error: &anyhow::Error) -> String {
    let hint = hint::of(error).unwrap_or_else(|| "run `throughline doctor` to find the cause".into());
    quote::neutralize(&format!("{error:#}\nhint: {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptions(value: &Value) -> usize {
        match value {
            Value::Object(fields) => fields
                .iter()
                .map(|(name, value)| match value {
                    Value::String(text) if name == "description" => text.len(),
                    value => descriptions(value),
                })
                .sum(),
            Value::Array(items) => items.iter().map(descriptions).sum(),
            _ => 0,
        }
    }

    #[test]
    fn all_descriptions_together_have_at_most_four_kilobytes() {
        let tools = serde_json::to_value(ALL.map(|tool| tool.to_tool())).unwrap();
        let bytes = descriptions(&tools);
        assert!((1_000..=4_096).contains(&bytes), "{bytes} bytes");
    }

    #[test]
    fn schemas_are_of_objects_and_say_all_there_is() {
        for tool in ALL.map(|tool| tool.to_tool()) {
            for schema in [&tool.input_schema, tool.output_schema.as_ref().unwrap()] {
                assert_eq!(schema["type"], "object", "{schema:?}");
                assert!(schema.contains_key("properties"), "{schema:?}");
                assert!(!serde_json::to_string(schema).unwrap().contains("\"format\""), "{schema:?}");
                assert!(!schema.contains_key("$schema") && !schema.contains_key("$defs") && !schema.contains_key("title"));
            }
            assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
        }
    }
}
