//! The contents of a rule file: gitleaks' TOML, key by key. Keys are case-insensitive, as in gitleaks.

use serde::Deserialize;
use toml::{Table, Value};

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct File {
    pub extend: Extend,
    pub allowlist: Option<Value>,
    pub allowlists: Vec<Value>,
    /// Parsed one by one, so that an invalid rule does not affect the others.
    pub rules: Vec<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Extend {
    pub path: String,
    pub url: String,
    pub disabledrules: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Rule {
    pub id: String,
    pub regex: String,
    pub secretgroup: usize,
    pub entropy: f32,
    pub path: String,
    pub keywords: Vec<String>,
    pub allowlist: Option<Allowlist>,
    pub allowlists: Vec<Allowlist>,
    pub skipreport: bool,
    pub required: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Allowlist {
    pub targetrules: Vec<String>,
    pub condition: String,
    pub regextarget: String,
    pub regexes: Vec<String>,
    pub stopwords: Vec<String>,
    pub paths: Vec<String>,
    pub commits: Vec<String>,
}

/// Parses a file. The error gives the line, but no text from it.
pub(super) fn parse(text: &str) -> Result<File, String> {
    let table: Table = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(0, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
        format!("line {line} is no TOML: {}", error.message())
    })?;
    Value::Table(with_lowercase_keys(table)).try_into().map_err(|error: toml::de::Error| error.message().to_owned())
}

/// Converts all keys of the table to lower case. The parser bounds the nesting.
fn with_lowercase_keys(table: Table) -> Table {
    table.into_iter().map(|(key, value)| (key.to_ascii_lowercase(), value_with_lowercase_keys(value))).collect()
}

fn value_with_lowercase_keys(value: Value) -> Value {
    match value {
        Value::Table(table) => Value::Table(with_lowercase_keys(table)),
        Value::Array(values) => Value::Array(values.into_iter().map(value_with_lowercase_keys).collect()),
        other => other,
    }
}
