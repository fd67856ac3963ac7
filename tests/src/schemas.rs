//! Holds what the program prints for programs against the schemas in docs/json.
//!
//! Every run of the binary with `--json` is checked here, in every test, so the first test that prints something that its
//! schema lacks fails.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::process::Finished;

/// The folder of the schemas.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/json"))
}

/// Panics where the program was asked for JSON and printed something else than its schema says.
#[track_caller]
pub fn check<'a>(arguments: impl Iterator<Item = &'a OsStr>, run: &Finished) {
    let arguments: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    let Some((command, by_line)) = asked_for(&arguments) else { return };
    // Nothing was printed where nothing could be done.
    if run.stdout.is_empty() || run.code.is_none() {
        return;
    }
    let validator = validator(&command).unwrap_or_else(|| panic!("no schema in docs/json for `{command}`: {arguments:?}"));
    let documents: Vec<&str> = if by_line { run.stdout.lines().collect() } else { vec![&run.stdout] };
    for document in documents {
        let value: Value = serde_json::from_str(document)
            .unwrap_or_else(|error| panic!("`{command}` printed what is not JSON: {error}: {run:#?}"));
        let faults: Vec<String> =
            validator.iter_errors(&value).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
        assert!(faults.is_empty(), "`{command}` printed other than docs/json says: {faults:#?}\n{value:#}");
    }
}

/// The command that is asked for JSON, in its words joined by `-`, and whether it prints a document a line.
fn asked_for(arguments: &[String]) -> Option<(String, bool)> {
    let mut rest = arguments;
    while let [option, _, more @ ..] = rest
        && option == "--namespace"
    {
        rest = more;
    }
    let words: Vec<&str> = rest.iter().map(String::as_str).take_while(|word| !word.starts_with('-')).take(2).collect();
    let has = |option: &str, value: &str| {
        rest.windows(2).any(|two| two[0] == option && two[1] == value) || rest.contains(&format!("{option}={value}"))
    };
    let (is_asked, by_line) = match words[..] {
        // Into a file, it prints nothing for programs.
        ["export", ..] => (!rest.iter().any(|word| word == "-o" || word == "--output"), true),
        ["note", "graph"] => (has("--format", "json"), false),
        ["policy", "run"] => (true, false),
        ["redact", ..] => (has("--report", "json"), false),
        _ => (rest.iter().any(|word| word == "--json"), false),
    };
    let groups = ["config", "memory", "model", "note", "observations", "policy", "session", "team"];
    let depth = if groups.contains(words.first()?) { 2 } else { 1 };
    is_asked.then(|| (words.into_iter().take(depth).collect::<Vec<_>>().join("-"), by_line))
}

/// The schema of the command, closed: what it does not name is a fault here, though readers are asked to let it pass.
fn validator(command: &str) -> Option<Arc<Validator>> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    if let Some(known) = KNOWN.lock().expect("no panic while it is held").get(command) {
        return Some(Arc::clone(known));
    }
    let text = std::fs::read_to_string(folder().join(format!("{command}.schema.json"))).ok()?;
    let mut schema: Value = serde_json::from_str(&text).expect("a schema");
    close(&mut schema);
    let made = Arc::new(jsonschema::validator_for(&schema).expect("a schema"));
    KNOWN.lock().expect("no panic while it is held").insert(command.to_owned(), Arc::clone(&made));
    Some(made)
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let is_object =
                fields.get("properties").is_some_and(Value::is_object) && fields.get("type") == Some(&json!("object"));
            if is_object && !fields.contains_key("additionalProperties") {
                fields.insert("unevaluatedProperties".into(), json!(false));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
