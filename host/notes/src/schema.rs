//! JSON Schemas of notes: a base schema, one for each type with fields of its own, and those that a team adds.
//!
//! Validating takes a large library, so `throughline-compiler` does it: it reads a [`Question`] and answers with the faults of
//! each note.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::NotesError;
use super::registry::SCHEMA_FOLDER;
use throughline_model::invalid::Invalid;

/// The name of the schema for all notes.
pub const BASE: &str = "base";

/// The built-in schemas, by note type.
pub const SCHEMAS: &[(&str, &str)] = &[
    (BASE, include_str!("schema/base.schema.json")),
    ("architecture-decision", include_str!("schema/architecture-decision.schema.json")),
    ("debug-blocked", include_str!("schema/debug-blocked.schema.json")),
    ("debug-eliminated", include_str!("schema/debug-eliminated.schema.json")),
    ("deviation", include_str!("schema/deviation.schema.json")),
    ("execution-summary", include_str!("schema/execution-summary.schema.json")),
    ("root-cause", include_str!("schema/root-cause.schema.json")),
    ("security-finding", include_str!("schema/security-finding.schema.json")),
    ("session-handoff", include_str!("schema/session-handoff.schema.json")),
    ("session-summary", include_str!("schema/session-summary.schema.json")),
];

/// The end of a schema's file name.
pub const SUFFIX: &str = ".schema.json";

/// The largest schema file of a team that is read, bytes.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// What is wrong with front matter: each faulty field, empty for the whole, and the reason.
pub type FieldFaults = Vec<(String, String)>;

/// Validates the front matter of a note of a type.
pub type FieldValidator<'a> = dyn Fn(&str, &Map<String, Value>) -> FieldFaults + 'a;

/// The front matter of a note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrontMatter {
    /// The type of the note.
    pub note_type: String,
    /// The fields.
    pub fields: Map<String, Value>,
}

/// What is to be validated. The answer is a list of [`FieldFaults`], one for each note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The schemas by their names. Front matter without a schema of its type is validated against [`BASE`].
    pub schemas: BTreeMap<String, Value>,
    /// What is validated.
    pub notes: Vec<FrontMatter>,
}

/// Reads the built-in schemas and those that a team put into `folder`.
pub fn read(folder: Option<&Path>) -> Result<BTreeMap<String, Value>, NotesError> {
    read_all(folder).map_err(NotesError::Schema)
}

fn read_all(folder: Option<&Path>) -> Result<BTreeMap<String, Value>, Invalid> {
    let mut schemas = BTreeMap::new();
    for (name, text) in SCHEMAS {
        schemas.insert((*name).to_owned(), serde_json::from_str(text).map_err(Invalid::because)?);
    }
    let files = folder.and_then(|folder| fs::read_dir(folder.join(SCHEMA_FOLDER)).ok());
    for file in files.into_iter().flatten().filter_map(Result::ok) {
        let name = file.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)) else { continue };
        let path = file.path();
        let text = super::read_in_folder(folder.unwrap_or(&path), &path, MAX_FILE_BYTES);
        let read = text.and_then(|text| serde_json::from_str(&text.unwrap_or_default()).map_err(Invalid::because));
        schemas.insert(name.to_owned(), read.map_err(|why| why.at(path.display()))?);
    }
    Ok(schemas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_adds_a_schema_and_is_told_if_it_is_no_json() {
        let folder = tempfile::tempdir().unwrap();
        let schema = folder.path().join(SCHEMA_FOLDER);
        fs::create_dir(&schema).unwrap();
        let write = |text: &str| fs::write(schema.join("incident.schema.json"), text).unwrap();
        write(r#"{"required": ["severity"]}"#);
        assert_eq!(read(Some(folder.path())).unwrap().len(), SCHEMAS.len() + 1);
        write("{");
        let why = read(Some(folder.path())).unwrap_err().to_string();
        assert!(why.contains("incident.schema.json: EOF"), "{why}");
    }
}
