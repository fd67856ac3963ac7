//! Takes the secrets out of the values of a tool call.

use std::borrow::Cow;

use serde_json::Value;

use crate::redact::scrub;
use crate::scrubbed::Scrubbed;

/// Scrubs each text of a value. The whole contents of files before and after a change are dropped: nothing is derived from
/// them.
pub(super) fn scrub_texts(value: &mut Value) {
    const UNUSED: [&str; 4] = ["originalFile", "original_file", "updated_file", "base64"];
    match value {
        Value::String(text) => *text = Scrubbed::of_output(text).into_string(),
        Value::Array(items) => items.iter_mut().for_each(scrub_texts),
        Value::Object(fields) => {
            scrub_names(fields);
            for (name, value) in fields {
                if UNUSED.contains(&name.as_str()) {
                    *value = Value::Null;
                } else {
                    scrub_texts(value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Scrubs the names of fields that are texts and not identifiers: the answers to questions have the questions as names.
fn scrub_names(fields: &mut serde_json::Map<String, Value>) {
    let is_identifier =
        |name: &str| name.len() <= 24 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if fields.keys().all(|name| is_identifier(name)) {
        return;
    }
    *fields = std::mem::take(fields)
        .into_iter()
        .map(|(name, value)| (if is_identifier(&name) { name } else { Scrubbed::of_output(&name).into_string() }, value))
        .collect();
}

/// Scrubs the value of a field whose name may be what gives it away: `"password": "…"`.
pub(super) fn scrub_named(name: &str, value: &str) -> String {
    let name = format!("{}: ", Value::from(name));
    let field = format!("{name}{}", Value::from(value));
    match scrub(&field) {
        Cow::Borrowed(_) => value.to_owned(),
        Cow::Owned(scrubbed) => scrubbed
            .strip_prefix(&name)
            .and_then(|value| serde_json::from_str(value).ok())
            .unwrap_or_else(|| "[redacted]".to_owned()),
    }
}
