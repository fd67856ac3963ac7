//! docs/json: a JSON Schema for what each command prints with `--json`, made from the types that are printed. Tests keep it current,
//! and whole: every command that has the flag has a schema.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use super::{context, scrub, session, verify};
use super::{
    doctor, events, failures, files, gc, install, memory, namespaces, observations, policy, projections, restore, resume,
};

/// A command, without the program's name, and the schema of what it prints.
pub(super) type Output = (&'static str, Schema);

/// The schema of what is printed where a `T` is.
pub(super) fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// What `throughline import` prints.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is asked for")]
enum Imported {
    /// From another system.
    Moved(throughline_engine::import::from::Moved),
    /// From lines of JSON, as `memory import` does.
    Lines(throughline_engine::import::Report),
}

/// Commands that are asked for JSON otherwise than with `--json`, and how.
const OTHERWISE: &[(&str, &str)] =
    &[("export", "--format jsonl"), ("memory graph", "--format json"), ("policy run", ""), ("redact", "--report json")];

fn outputs() -> BTreeMap<&'static str, Schema> {
    let own = [
        ("backup", of::<throughline_store::Content>()),
        ("config show", of::<throughline_engine::config::Config>()),
        ("context", of::<context::Shown<'_>>()),
        ("demo", of::<crate::demo::Played>()),
        ("doctor", of::<doctor::Report>()),
        ("export", of::<throughline_engine::export::Fields<'_>>()),
        ("failures", of::<Vec<failures::Entry<'_>>>()),
        ("files", of::<files::Answer<'_>>()),
        ("gc", of::<gc::Report>()),
        ("import", of::<Imported>()),
        ("ingest", of::<throughline_engine::ingest::Report>()),
        ("install", of::<install::Report>()),
        ("namespaces", of::<Vec<namespaces::Space>>()),
        ("projections", of::<projections::Report>()),
        ("redact", of::<scrub::Report>()),
        ("restore", of::<restore::Report<'_>>()),
        ("resume", of::<resume::Answer>()),
        ("save", of::<throughline_engine::projection::SessionContext>()),
        ("scrub", of::<scrub::Report>()),
        ("timeline", of::<Vec<events::Step<'_>>>()),
        ("uninstall", of::<install::Removed>()),
        ("verify", of::<verify::Report<'_>>()),
    ];
    own.into_iter()
        .chain(memory::schemas())
        .chain(observations::schemas())
        .chain(policy::schemas())
        .chain(session::schemas())
        .collect()
}

/// Every command with its one-line help, and whether it has the flag.
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

/// All files of the folder, by name.
fn files() -> BTreeMap<String, String> {
    let commands = all_commands();
    let mut index = HEAD.to_owned();
    let mut files = BTreeMap::new();
    for (command, mut schema) in outputs() {
        let about = &commands[command].0;
        schema.insert("title".into(), format!("throughline {command}").into());
        schema.insert("description".into(), about.as_str().into());
        let flag = OTHERWISE.iter().find(|(name, _)| *name == command).map_or("--json", |(_, flag)| flag);
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
| 0 | It is done; also where nothing was found, and where the reader of the output had seen enough | what was asked for |
| 1 | It could not be done, or what was looked at is not as it should be | what was found, else nothing |
| 2 | The command line is wrong; nothing was done | nothing |

Standard error says why, and in lines that begin with `hint:` what to do. Those who end with 1 after they have printed what they found:
`doctor` where a check failed (a warning is 0), `verify` where something is or stays wrong, `memory check` where a note has an error,
`memory sync` where both sides changed, `ingest` where a named transcript or all of them could not be read, `import` and `memory import`
where a row or a line could not be read (all else is stored), `memory reindex` where the provider of vectors failed, and `policy check`
where a check failed. `throughline hook` always ends with 0, so that no session is ever disturbed, and `throughline mcp` with 0 when its client
goes. No other codes are used.
";

const BEGIN: &str = "<!-- schemas: generated -->\n";
const END: &str = "<!-- end of schemas -->";

/// Returns docs/scripting.md with the current list of schemas.
fn scripting_page(text: &str) -> String {
    let begin = text.find(BEGIN).expect("the mark") + BEGIN.len();
    let end = text.find(END).expect("the mark");
    let outputs = outputs();
    let links: Vec<String> = outputs.keys().map(|command| format!("[{command}](json/{})", file_name(command))).collect();
    format!("{}{}.\n{}", &text[..begin], links.join(",\n"), &text[end..])
}

const HEAD: &str = "\
# What commands print for programs

With `--json` a command prints one JSON document on standard output (`export` one a line), and what a person should know beside it on
standard error. Where it could do nothing it prints none, and the exit code says so. The schemas are of draft 2020-12 of JSON Schema.
Fields may be added with any version; one that is required stays, with its name and its meaning, until CHANGELOG.md says otherwise.
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
        .filter(|name| OTHERWISE.iter().all(|(other, _)| other != *name))
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

#[test]
fn the_schemas_are_current() {
    let folder = folder();
    let wanted = files();
    if std::env::var_os("UPDATE").is_some() {
        // What no command prints any more has no schema.
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
