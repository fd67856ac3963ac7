//! JSON Schemas of notes: a base schema, one for each type with fields of its own, and those that a team adds.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use jsonschema::Validator;
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

const SUFFIX: &str = ".schema.json";

/// The largest schema file of a team that is read, bytes.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// The schemas that front matter is validated against.
pub struct Schemas {
    schemas: BTreeMap<String, Value>,
    validators: BTreeMap<String, Validator>,
}

impl Schemas {
    /// Loads the built-in schemas and those that a team put into `folder`.
    pub fn load(folder: Option<&Path>) -> Result<Self, NotesError> {
        Self::read(folder).map_err(NotesError::Schema)
    }

    fn read(folder: Option<&Path>) -> Result<Self, Invalid> {
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
        let mut this = Self { schemas, validators: BTreeMap::new() };
        this.compile()?;
        Ok(this)
    }

    /// Compiles the schemas. References by file name resolve to the other schemas; nothing is ever fetched.
    fn compile(&mut self) -> Result<(), Invalid> {
        let base = |name: &str| format!("throughline:///{name}{SUFFIX}");
        let without_id: BTreeMap<String, Value> = self
            .schemas
            .iter()
            .map(|(name, schema)| {
                let mut schema = schema.clone();
                if let Some(fields) = schema.as_object_mut() {
                    // The schema is named by its file, whatever its `$id` says.
                    fields.insert("$id".into(), Value::String(base(name)));
                }
                (name.clone(), schema)
            })
            .collect();
        let mut registry = jsonschema::Registry::new();
        for (name, schema) in &without_id {
            registry = registry.add(base(name), schema).map_err(|error| format!("{name}{SUFFIX}: {error}"))?;
        }
        let registry =
            registry.prepare().map_err(|error| format!("a schema refers to one that is not in _schema: {error}"))?;
        for (name, schema) in &without_id {
            let validator = jsonschema::options()
                .offline()
                .with_registry(&registry)
                .with_base_uri(base(name))
                .build(schema)
                .map_err(|error| format!("{name}{SUFFIX}: {error}"))?;
            self.validators.insert(name.clone(), validator);
        }
        Ok(())
    }

    /// Validates front matter. Returns each faulty field, empty for the whole, and the reason.
    pub fn validate(&self, note_type: &str, fields: &Map<String, Value>) -> Vec<(String, String)> {
        let Some(validator) = self.validators.get(note_type).or_else(|| self.validators.get(BASE)) else {
            return Vec::new();
        };
        let value = Value::Object(fields.clone());
        let mut faults: Vec<(String, String)> = validator
            .iter_errors(&value)
            .map(|error| {
                let path = error.instance_path().to_string();
                let field = path.trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
                (field, super::one_line(&error.to_string(), 300))
            })
            .collect();
        faults.sort();
        faults.dedup();
        faults
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn validate(note_type: &str, fields: &Value) -> Vec<String> {
        let fields = fields.as_object().unwrap();
        Schemas::load(None)
            .unwrap()
            .validate(note_type, fields)
            .into_iter()
            .map(|(field, why)| format!("{field}: {why}"))
            .collect()
    }

    #[test]
    fn what_the_protocol_requires_is_required() {
        let good =
            json!({"title": "t", "tags": ["a", "b"], "type": "root-cause", "created": "2026-02-23T09:56:43Z", "more": 1});
        assert_eq!(validate("root-cause", &good), [""; 0]);
        for (field, value, wrong) in [
            ("title", json!(null), "title"),
            ("tags", json!(["a"]), "tags"),
            ("created", json!("soon"), "created"),
            ("contextual_description", json!("x".repeat(201)), "contextual_description"),
            ("symptom", json!(3), "symptom"),
            ("type", json!("general"), "type"),
        ] {
            let mut bad = good.clone();
            bad[field] = value;
            let found = validate("root-cause", &bad);
            assert!(found.len() == 1 && found[0].starts_with(&format!("{wrong}: ")), "{field}: {found:?}");
        }
        let mut bad = good;
        bad.as_object_mut().unwrap().remove("created");
        assert!(validate("a-teams-own", &bad)[0].contains("created"));
    }

    #[test]
    fn a_team_adds_a_schema_and_is_told_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let schema = folder.path().join(SCHEMA_FOLDER);
        fs::create_dir(&schema).unwrap();
        let write = |text: &str| fs::write(schema.join("incident.schema.json"), text).unwrap();
        write(r#"{"allOf": [{"$ref": "base.schema.json"}], "required": ["severity"]}"#);
        let schemas = Schemas::load(Some(folder.path())).unwrap();
        let fields = json!({"title": "t", "tags": ["a", "b"], "type": "incident", "created": "2026-02-23"});
        let found = schemas.validate("incident", fields.as_object().unwrap());
        assert!(found.len() == 1 && found[0].1.contains("severity"), "{found:?}");
        for (text, wrong) in [
            ("{", "incident.schema.json: EOF"),
            (r#"{"$ref": "https://example.com/x.json"}"#, "https://example.com/x.json"),
            (r#"{"type": 3}"#, "incident.schema.json"),
        ] {
            write(text);
            let why = Schemas::load(Some(folder.path())).err().unwrap().to_string();
            assert!(why.contains(wrong), "{why}");
        }
    }
}
