//! Validates the front matter of notes against JSON Schemas.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow};
use jsonschema::Validator;
use serde_json::{Map, Value};
use throughline_notes::one_line;
use throughline_notes::schema::{BASE, FieldFaults, Question, SUFFIX};

/// The maximum length of what is said of a fault, in characters.
const MAX_FAULT_CHARS: usize = 300;

/// Reads a [`Question`] as JSON, and returns the answer as JSON. Fails if a schema cannot be used, and names it.
pub fn validate(question: &[u8]) -> Result<Vec<u8>> {
    let question: Question = serde_json::from_slice(question).context("the question cannot be read")?;
    let validators = compile(question.schemas)?;
    let answer: Vec<FieldFaults> =
        question.notes.iter().map(|note| faults(&validators, &note.note_type, &note.fields)).collect();
    Ok(serde_json::to_vec(&answer)?)
}

/// Compiles the schemas. References by file name resolve to the other schemas; nothing is ever fetched.
fn compile(mut schemas: BTreeMap<String, Value>) -> Result<BTreeMap<String, Validator>> {
    let base = |name: &str| format!("throughline:///{name}{SUFFIX}");
    for (name, schema) in &mut schemas {
        if let Some(fields) = schema.as_object_mut() {
            // The schema is named by its file, whatever its `$id` says.
            fields.insert("$id".into(), Value::String(base(name)));
        }
    }
    let mut registry = jsonschema::Registry::new();
    for (name, schema) in &schemas {
        registry = registry.add(base(name), schema).map_err(|error| anyhow!("{name}{SUFFIX}: {error}"))?;
    }
    let registry = registry.prepare().map_err(|error| anyhow!("a schema refers to one that is not in _schema: {error}"))?;
    let mut validators = BTreeMap::new();
    for (name, schema) in &schemas {
        let validator = jsonschema::options()
            .offline()
            .with_registry(&registry)
            .with_base_uri(base(name))
            .build(schema)
            .map_err(|error| anyhow!("{name}{SUFFIX}: {error}"))?;
        validators.insert(name.clone(), validator);
    }
    Ok(validators)
}

/// Returns each faulty field, empty for the whole, and the reason.
fn faults(validators: &BTreeMap<String, Validator>, note_type: &str, fields: &Map<String, Value>) -> FieldFaults {
    let Some(validator) = validators.get(note_type).or_else(|| validators.get(BASE)) else { return Vec::new() };
    let value = Value::Object(fields.clone());
    let mut faults: FieldFaults = validator
        .iter_errors(&value)
        .map(|error| {
            let path = error.instance_path().to_string();
            let field = path.trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
            (field, one_line(&error.to_string(), MAX_FAULT_CHARS))
        })
        .collect();
    faults.sort();
    faults.dedup();
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use throughline_notes::schema;

    use super::*;

    /// Validates one note, against the built-in schemas and those given.
    fn ask(note_type: &str, fields: &Value, more: &[(&str, Value)]) -> Result<Vec<String>> {
        let mut schemas = schema::read(None).unwrap();
        schemas.extend(more.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())));
        let question = json!({"schemas": schemas, "notes": [{"note_type": note_type, "fields": fields}]});
        let answer: Vec<FieldFaults> = serde_json::from_slice(&validate(&serde_json::to_vec(&question)?)?)?;
        Ok(answer[0].iter().map(|(field, why)| format!("{field}: {why}")).collect())
    }

    #[test]
    fn what_the_protocol_requires_is_required() {
        let good =
            json!({"title": "t", "tags": ["a", "b"], "type": "root-cause", "created": "2026-02-23T09:56:43Z", "more": 1});
        assert_eq!(ask("root-cause", &good, &[]).unwrap(), [""; 0]);
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
            let found = ask("root-cause", &bad, &[]).unwrap();
            assert!(found.len() == 1 && found[0].starts_with(&format!("{wrong}: ")), "{field}: {found:?}");
        }
        let mut bad = good;
        bad.as_object_mut().unwrap().remove("created");
        assert!(ask("a-teams-own", &bad, &[]).unwrap()[0].contains("created"));
    }

    #[test]
    fn a_teams_schema_is_used_and_one_that_is_wrong_is_named() {
        let fields = json!({"title": "t", "tags": ["a", "b"], "type": "incident", "created": "2026-02-23"});
        let incident = |schema: Value| ask("incident", &fields, &[("incident", schema)]);
        let found = incident(json!({"allOf": [{"$ref": "base.schema.json"}], "required": ["severity"]})).unwrap();
        assert!(found.len() == 1 && found[0].contains("severity"), "{found:?}");
        for (schema, wrong) in [
            (json!({"$ref": "https://example.com/x.json"}), "https://example.com/x.json"),
            (json!({"type": 3}), "incident.schema.json"),
        ] {
            let why = incident(schema).unwrap_err().to_string();
            assert!(why.contains(wrong), "{why}");
        }
    }

    #[test]
    fn what_is_no_question_is_refused() {
        assert!(validate(b"{").is_err());
    }
}
