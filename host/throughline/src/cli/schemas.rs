//! Generates docs/json: a JSON Schema for what each command prints with `--json`, made from the Rust types. Tests check
//! that the files are current and that every command with the flag has one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use super::{context, doctor, events, failures, files, import, install, memory, namespaces, note, observations};
use super::{pause, policy, projections, projects, restore, scrub, session, status, team, uninstall, verify};

/// A command, without the name of the program, and the schema of what it prints.
pub(super) type Output = (&'static str, Schema);

/// Returns the schema of `T` as it is serialized.
pub(super) fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// Commands that print JSON without `--json`, and the option that asks for it.
const OTHER_FLAGS: &[(&str, &str)] =
    &[("export", "--format jsonl"), ("note graph", "--format json"), ("policy run", ""), ("redact", "--report json")];

fn outputs() -> BTreeMap<&'static str, Schema> {
    let own = [
        ("backup", of::<throughline_store::CopySummary>()),
        ("config show", of::<throughline_engine::config::Config>()),
        ("context", of::<context::StartContext<'_>>()),
        ("demo", of::<crate::demo::DemoReport>()),
        ("doctor", of::<doctor::Diagnosis>()),
        ("export", of::<throughline_engine::export::AnyExportLine<'_>>()),
        ("failures", of::<Vec<failures::FailureEntry<'_>>>()),
        ("files", of::<files::FilesOutput<'_>>()),
        ("import", of::<import::Imported>()),
        ("ingest", of::<super::ingest::IngestOutput>()),
        ("install", of::<install::Installed>()),
        ("namespaces", of::<Vec<namespaces::NamespaceEntry>>()),
        ("projections", of::<projections::WrittenFiles>()),
        ("projects", of::<Vec<projects::ProjectEntry>>()),
        ("redact", of::<scrub::RedactionReport>()),
        ("restore", of::<restore::Restored<'_>>()),
        ("resume", of::<pause::Resumed>()),
        ("scrub", of::<scrub::RedactionReport>()),
        ("status", of::<status::MemoryStatus>()),
        ("timeline", of::<Vec<events::EventEntry<'_>>>()),
        ("uninstall", of::<uninstall::Uninstalled>()),
        ("verify", of::<verify::Verified<'_>>()),
    ];
    own.into_iter()
        .chain(memory::schemas())
        .chain(note::schemas())
        .chain(observations::schemas())
        .chain(policy::schemas())
        .chain(super::model::schemas())
        .chain(session::schemas())
        .chain(team::schemas())
        .collect()
}

/// Collects every command with its one-line help, and whether it has the flag.
fn commands(command: &clap::Command, above: &str, into: &mut BTreeMap<String, (String, bool)>) {
    for below in command.get_subcommands() {
        let name = format!("{above}{}", below.get_name());
        let about = below.get_about().map(ToString::to_string).unwrap_or_default();
        let has_flag = below.get_arguments().any(|argument| argument.get_long() == Some("json"));
        commands(below, &format!("{name} "), into);
        into.insert(name, (about, has_flag));
    }
}

fn all_commands() -> BTreeMap<String, (String, bool)> {
    let mut command = super::command();
    command.build();
    let mut found = BTreeMap::new();
    commands(&command, "", &mut found);
    found
}

fn file_name(command: &str) -> String {
    format!("{}.schema.json", command.replace(' ', "-"))
}

/// Returns all files of the folder, by name.
fn files() -> BTreeMap<String, String> {
    let commands = all_commands();
    let mut index = HEAD.to_owned();
    let mut files = BTreeMap::new();
    for (command, mut schema) in outputs() {
        let about = &commands[command].0;
        schema.insert("title".into(), format!("throughline {command}").into());
        schema.insert("description".into(), about.as_str().into());
        let flag = OTHER_FLAGS.iter().find(|(name, _)| *name == command).map_or("--json", |(_, flag)| flag);
        let asked = format!("{command} {flag}");
        writeln!(index, "| `{asked}` | [{name}]({name}) | {about} |", asked = asked.trim_end(), name = file_name(command))
            .unwrap();
        files.insert(file_name(command), serde_json::to_string_pretty(&schema).unwrap() + "\n");
    }
    index.push_str(EXIT_CODES);
    files.insert("README.md".into(), index);
    files
}

const EXIT_CODES: &str = "
# Exit codes

| Code | Means | Standard output |
| --- | --- | --- |
| 0 | Success, even if nothing was found, or if the reader of the output closed it early | what was asked for |
| 1 | The command failed, or what it checked is not as it should be | what was found, otherwise nothing |
| 2 | The command line is wrong; nothing was done | nothing |

Standard error says why, and lines that begin with `hint:` say what to do. These commands exit with 1 after they have printed what they
found: `doctor` if a check failed (a warning is 0), `verify` if something is or stays wrong, `note check` if a note has an error,
`note sync` if both sides changed, `ingest` if a named transcript or all of them could not be read, `import` if a row or a line could not
be read (everything else is stored), `memory reindex` if the embedding provider failed, and `policy check` if a check failed.
`throughline hook` always exits with 0, so that it never disturbs a session, and `throughline mcp` exits with 0 when its client
disconnects. No other codes are used.
";

const BEGIN: &str = "<!-- schemas: generated -->\n";
const END: &str = "<!-- end of schemas -->";

/// Returns the README with the current list of schemas.
fn scripting_page(text: &str) -> String {
    let begin = text.find(BEGIN).expect("the marker") + BEGIN.len();
    let end = text.find(END).expect("the marker");
    let outputs = outputs();
    let links: Vec<String> = outputs.keys().map(|command| format!("[{command}](json/{})", file_name(command))).collect();
    format!("{}{}.\n{}", &text[..begin], links.join(",\n"), &text[end..])
}

const HEAD: &str = "\
# What commands print for programs

With `--json` a command prints one JSON document on standard output (`export` prints one per line), and messages for people on standard
error. A command that cannot do its work prints no document. One that checks something (`doctor`, `status`, `verify`) prints its document
and exits with 1 if something is not as it should be. The schemas follow draft 2020-12 of JSON Schema. Any version may add fields; a
required field keeps its name and its meaning until CHANGELOG.md says otherwise.
Generated: `UPDATE=1 cargo test -p throughline schemas`.

| Command | Schema | What it does |
| --- | --- | --- |
";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json")
}

#[test]
fn every_command_with_the_flag_has_a_schema() {
    let with_flag: BTreeSet<String> =
        all_commands().into_iter().filter_map(|(name, (_, has_flag))| has_flag.then_some(name)).collect();
    let outputs = outputs();
    let described: BTreeSet<String> = outputs
        .keys()
        .filter(|name| OTHER_FLAGS.iter().all(|(other, _)| other != *name))
        .map(|name| (*name).to_owned())
        .collect();
    assert_eq!(with_flag, described);
}

#[test]
fn the_scripting_page_lists_the_schemas() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scripting.md");
    let found = fs::read_to_string(&file).unwrap();
    let wanted = scripting_page(&found);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, wanted).unwrap();
        return;
    }
    assert!(
        found == wanted,
        "the list of schemas in docs/scripting.md is out of date; run `UPDATE=1 cargo test -p throughline schemas`"
    );
}

/// Editors find it by the first line of the file that `config init` writes.
#[test]
fn the_schema_of_the_configuration_is_current() {
    use throughline_engine::config;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.schema.json");
    let schema = SchemaSettings::draft07().for_deserialize().into_generator().into_root_schema_for::<config::Config>();
    let wanted = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    assert!(config::DEFAULT.starts_with(&format!("#:schema {}/", env!("CARGO_PKG_REPOSITORY"))));
    assert!(config::DEFAULT.lines().next().unwrap().ends_with("/docs/config.schema.json"));
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, wanted).unwrap();
        return;
    }
    assert!(
        fs::read_to_string(&file).unwrap_or_default() == wanted,
        "docs/config.schema.json is out of date; run `UPDATE=1 cargo test -p throughline schemas`"
    );
}

#[test]
fn the_schemas_are_current() {
    let folder = folder();
    let wanted = files();
    if std::env::var_os("UPDATE").is_some() {
        // Also removes the schemas of commands that no longer exist.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in wanted {
            fs::write(folder.join(name), text).unwrap();
        }
        return;
    }
    let found: BTreeMap<String, String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        .collect();
    for (name, text) in &wanted {
        let there = found.get(name).map_or("", String::as_str);
        assert!(there == text, "docs/json/{name} is out of date; run `UPDATE=1 cargo test -p throughline schemas`");
    }
    assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
}
