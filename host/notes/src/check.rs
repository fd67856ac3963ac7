//! Checks a note: its front matter against the schemas, and its type, tags and links against the registry.

use serde_json::{Map, Value};
use throughline_model::invalid::Invalid;

use super::links::Link;
use super::markdown::{self, FileContext};
use super::registry::Registry;
use super::schema::FieldValidator;
use super::{Note, one_line};

/// A fault in a note.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoteFault {
    /// The line of the file, starting at 1; 0 if the fault is about the whole file.
    pub line: usize,
    /// The field of the front matter; empty if the fault is not about a field.
    pub field: String,
    /// What is wrong, in one line.
    pub why: String,
    /// Whether the note is usable despite the fault.
    pub is_warning: bool,
}

/// Resolves a link to the types of the notes that it may refer to.
pub type LinkResolver<'a> = dyn Fn(&Link) -> Vec<String> + 'a;

/// Returns all faults of a file, in the order of its lines, and the note if it can be read. `validate` is asked once at most.
pub fn check_file(
    text: &str,
    around: FileContext<'_>,
    registry: &Registry,
    validate: &FieldValidator<'_>,
    resolve: &LinkResolver<'_>,
) -> (Option<Note>, Vec<NoteFault>) {
    let fatal = |why: Invalid| {
        let why = String::from(why);
        // The YAML reader reports lines of the front matter, which starts after the first line of the file.
        let line = why.strip_prefix("line ").and_then(|rest| rest.split(':').next()).and_then(|line| line.parse().ok());
        let field = why.split(':').next().filter(|field| field.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        let line = line.map(|line: usize| line + 1).or_else(|| field.and_then(|field| line_of(text, field)));
        let field = field.unwrap_or_default().to_owned();
        NoteFault { line: line.unwrap_or(0), field, why, is_warning: false }
    };
    let parts = match markdown::split(text) {
        Ok(parts) => parts,
        Err(why) => return (None, vec![fatal(why)]),
    };
    let note = match markdown::parse(text, around, registry) {
        Ok(note) => note,
        Err(why) => {
            // Whoever corrects the file wants to see all of its faults at once.
            let first = fatal(why);
            let fields = parts.fields.as_ref();
            let note_type = fields.and_then(|fields| fields.get("type")).and_then(Value::as_str).unwrap_or(around.folder);
            let mut faults: Vec<NoteFault> = fields
                .map(|fields| validate(note_type, fields))
                .into_iter()
                .flatten()
                .filter(|(field, _)| *field != first.field)
                .map(|(field, why)| NoteFault { line: line_of(text, &field).unwrap_or(1), field, why, is_warning: false })
                .collect();
            faults.push(first);
            faults.sort();
            return (None, faults);
        }
    };
    let mut faults = Vec::new();
    match &parts.fields {
        Some(fields) => faults.extend(check_fields(&note, fields, registry, validate)),
        None => faults.push(NoteFault {
            line: 1,
            field: String::new(),
            why: "it has no front matter: title, tags, type and created are required".into(),
            is_warning: false,
        }),
    }
    faults.extend(check_links(&note, registry, resolve));
    if note.content.is_empty() {
        faults.push(warning("", "there is no text below its title".into()));
    }
    for fault in &mut faults {
        fault.line = line_of(text, &fault.field).unwrap_or(fault.line);
    }
    faults.sort();
    faults.dedup();
    (Some(note), faults)
}

fn warning(field: &str, why: String) -> NoteFault {
    NoteFault { line: 0, field: field.to_owned(), why, is_warning: true }
}

fn check_fields(
    note: &Note,
    fields: &Map<String, Value>,
    registry: &Registry,
    validate: &FieldValidator<'_>,
) -> Vec<NoteFault> {
    let mut faults: Vec<NoteFault> = validate(&note.note_type, fields)
        .into_iter()
        .map(|(field, why)| NoteFault { line: 1, field, why, is_warning: false })
        .collect();
    let Some(note_type) = registry.get(&note.note_type) else {
        let names: Vec<&str> = registry.names().collect();
        let why = format!("there is no type {:?}; the types are {}", note.note_type, names.join(", "));
        faults.push(NoteFault { line: 1, field: "type".into(), why: one_line(&why, 400), is_warning: false });
        return faults;
    };
    let missing: Vec<&str> = note_type.tags.iter().filter(|tag| !note.tags.contains(tag)).map(String::as_str).collect();
    if !missing.is_empty() && note.note_type != super::registry::GENERAL_TYPE {
        faults.push(warning("tags", format!("notes of type {} should be tagged {}", note.note_type, missing.join(", "))));
    }
    if note.keywords.is_empty() {
        faults.push(warning(
            "",
            "keywords: there are none; words that do not occur in the note make it easier to find".into(),
        ));
    }
    faults
}

fn check_links(note: &Note, registry: &Registry, resolve: &LinkResolver<'_>) -> Vec<NoteFault> {
    let mut faults = Vec::new();
    for link in Link::all(note, registry) {
        let types = resolve(&link);
        if types.is_empty() {
            faults.push(warning("related", format!("{} leads nowhere: there is no such note", link.target)));
        } else if link.relation != super::links::RELATED
            && !types.iter().any(|to| registry.allows_relation(&note.note_type, &link.relation, to))
        {
            let allowed = registry.allowed_targets(&note.note_type, &link.relation);
            let may = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") };
            let why = format!(
                "{}:{}: a {} {} {may}, but this is a {}",
                link.relation,
                link.target,
                note.note_type,
                link.relation,
                types.join(", ")
            );
            faults.push(warning("related", why));
        }
    }
    faults
}

/// Returns the line on which a field of the front matter starts.
fn line_of(text: &str, field: &str) -> Option<usize> {
    if field.is_empty() {
        return None;
    }
    let mut lines = text.lines().enumerate();
    lines.next().filter(|(_, first)| first.trim_start_matches('\u{feff}').trim_end() == "---")?;
    lines
        .take_while(|(_, line)| line.trim_end() != "---")
        .find(|(_, line)| line.split_once(':').is_some_and(|(name, _)| name.trim().trim_matches(['"', '\'']) == field))
        .map(|(number, _)| number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{self, FieldFaults, FrontMatter, Question};

    fn validate(note_type: &str, fields: &Map<String, Value>) -> FieldFaults {
        let note = FrontMatter { note_type: note_type.to_owned(), fields: fields.clone() };
        let question = Question { schemas: schema::read(None).unwrap(), notes: vec![note] };
        let answer = throughline_compiler::validate(&serde_json::to_vec(&question).unwrap()).unwrap();
        serde_json::from_slice::<Vec<FieldFaults>>(&answer).unwrap().remove(0)
    }

    fn check(text: &str) -> Vec<String> {
        let resolve = |link: &Link| match link.target.as_str() {
            "2026-02-01_known" => vec!["debug-eliminated".to_owned()],
            _ => Vec::new(),
        };
        let around = FileContext { stem: "2026-02-23_x", folder: "root-cause", modified: 0 };
        let (_, faults) = check_file(text, around, &Registry::built_in(), &validate, &resolve);
        let level = |fault: &NoteFault| if fault.is_warning { "warning" } else { "error" };
        faults.iter().map(|fault| format!("{}: {}: {}", fault.line, level(fault), fault.why)).collect()
    }

    const GOOD: &str = "---\ntitle: x\ntags: [debug, root-cause, pool]\ntype: root-cause\ncreated: 2026-02-23\nkeywords: [k]\n\
                        related: [resolves:2026-02-01_known, 2026-02-01_known]\n---\n\ntext\n";

    #[test]
    fn a_good_note_has_no_fault() {
        assert_eq!(check(GOOD), [""; 0]);
    }

    #[test]
    fn each_fault_has_its_line_and_its_reason() {
        for (from, to, wrong) in [
            ("title: x", "title: \"\"", "2: error: "),
            ("tags: [debug, root-cause, pool]", "tags: [debug]", "3: error: [\"debug\"] has less than 2 items"),
            (
                "tags: [debug, root-cause, pool]",
                "tags: [debug, pool]",
                "3: warning: notes of type root-cause should be tagged root-cause",
            ),
            (
                "type: root-cause",
                "type: rootcause",
                "4: error: there is no type \"rootcause\"; the types are architecture-decision",
            ),
            ("created: 2026-02-23", "created: soon", "5: error: created: \"soon\" is not a time"),
            ("created: 2026-02-23\n", "", "1: error: \"created\" is a required property"),
            ("keywords: [k]\n", "", "0: warning: keywords: there are none"),
            (
                "resolves:2026-02-01_known",
                "triggers:2026-02-01_known",
                "7: warning: triggers:2026-02-01_known: a root-cause triggers nothing",
            ),
            ("2026-02-01_known]", "2026-02-01_unknown]", "7: warning: 2026-02-01_unknown leads nowhere"),
            ("title: x", "title: [x", "error: line "),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD);
            let found = check(&text);
            assert!(found.iter().any(|fault| fault.contains(wrong)), "{wrong:?} is not in {found:#?}");
        }
        assert!(check("just text")[0].contains("no front matter"));
    }

    #[test]
    fn somebody_sees_all_faults_of_a_file_at_once() {
        let text = GOOD.replace("created: 2026-02-23", "created: soon").replace("[debug, root-cause, pool]", "[debug]");
        let found = check(&text.replace("title: x", "title: \"\""));
        let starts = ["2: error: ", "3: error: [\"debug\"] has less", "5: error: created: \"soon\" is not"];
        assert_eq!(found.len(), starts.len(), "{found:#?}");
        assert!(found.iter().zip(starts).all(|(fault, start)| fault.starts_with(start)), "{found:#?}");
    }
}
