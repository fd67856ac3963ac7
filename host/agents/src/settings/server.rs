//! Throughline's MCP server in a client's settings: finds it, and adds and removes it without touching anything else in the
//! text.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table};

use super::json::{Document, PathStep, Piece, Syntax};
use super::malformed::Malformed;

/// The name of the server in every client.
const NAME: &str = "throughline";

/// What the program is called with.
const ARGUMENT: &str = "mcp";

/// The table of servers in Codex's configuration.
const TOML_SERVERS: &str = "mcp_servers";

/// The mapping with servers in Goose's configuration.
const YAML_SERVERS: &str = "extensions";

/// How many seconds Goose waits for an answer: its own default.
const GOOSE_TIMEOUT: u64 = 300;

/// The form of a settings file with MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON with a member that contains the servers by name.
    Json { servers: &'static str, entry: Entry, syntax: Syntax },
    /// TOML, as Codex reads it.
    Toml,
    /// YAML, as Goose reads it.
    Yaml,
}

/// The form of one server in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// `command` is the program and `args` are its arguments. `more` are other members; with `tools`, all are allowed.
    Program { more: &'static [(&'static str, &'static str)], tools: bool },
    /// `command` is a list with the program and its arguments.
    List,
}

/// A server that was found in settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RegisteredServer {
    /// The program that is called; none if the server is not a program.
    program: Option<PathBuf>,
    arguments: Vec<String>,
}

impl RegisteredServer {
    fn of(mut words: Vec<String>) -> Self {
        let program = (!words.is_empty()).then(|| PathBuf::from(words.remove(0)));
        Self { program, arguments: words }
    }

    /// The program, if the server is Throughline's: it calls `program`, or a program of that name, with `mcp`.
    fn into_ours(self, program: &Path) -> Option<PathBuf> {
        let called = self.program?;
        let is_ours = called == program || called.file_stem().is_some_and(|stem| stem == NAME);
        (is_ours && self.arguments.iter().any(|word| word == ARGUMENT)).then_some(called)
    }
}

/// Returns the program that Throughline's server in the text calls, or `None` if there is no such server.
///
/// # Errors
///
/// The client could not read the text either.
pub(super) fn registered(text: &str, format: Format, program: &Path) -> Result<Option<PathBuf>, Malformed> {
    Ok(find(text, format)?.and_then(|found| found.into_ours(program)))
}

/// Returns the text with the server. One of ours that calls another program is changed in place; somebody else's server of
/// the same name stays.
pub(super) fn add(text: &str, format: Format, program: &Path) -> Result<String, Malformed> {
    match find(text, format)?.map(|found| found.into_ours(program)) {
        None => insert(text, format, program),
        Some(Some(called)) if called != program => replace(text, format, program),
        Some(_) => Ok(text.to_owned()),
    }
}

/// Returns the text without the server, and without what contained nothing else. Somebody else's stays.
pub(super) fn remove(text: &str, format: Format, program: &Path) -> Result<String, Malformed> {
    if registered(text, format, program)?.is_none() {
        return Ok(text.to_owned());
    }
    match format {
        Format::Json { servers, syntax, .. } => {
            let mut document = Document::parse(text, syntax)?;
            document.remove(&[PathStep::Name(servers), PathStep::Name(NAME)]);
            if document.names(&[PathStep::Name(servers)]).is_empty() {
                document.remove(&[PathStep::Name(servers)]);
            }
            Ok(document.into_text())
        }
        Format::Toml => {
            let mut document = parse_toml(text)?;
            if let Some(servers) = document.get_mut(TOML_SERVERS).and_then(Item::as_table_like_mut) {
                servers.remove(NAME);
                if servers.is_empty() {
                    document.remove(TOML_SERVERS);
                }
            }
            Ok(document.to_string())
        }
        Format::Yaml => yaml::remove(text),
    }
}

/// Returns whether the text contains nothing.
pub(super) fn is_empty(text: &str, format: Format) -> bool {
    match format {
        Format::Json { syntax, .. } => Document::parse(text, syntax).is_ok_and(|it| it.names(&[]).is_empty()),
        Format::Toml | Format::Yaml => text.trim().is_empty(),
    }
}

fn find(text: &str, format: Format) -> Result<Option<RegisteredServer>, Malformed> {
    match format {
        Format::Json { servers, syntax, .. } => {
            let document = Document::parse(text, syntax)?;
            let present = document.get(&[PathStep::Name(servers)]);
            if present.is_some_and(|it| !it.is_object()) {
                return Err(Malformed::Shape { place: servers.into(), wanted: "an object" });
            }
            Ok(document.get(&[PathStep::Name(servers), PathStep::Name(NAME)]).map(|server| found_in(&server, "command")))
        }
        Format::Toml => {
            let document = parse_toml(text)?;
            let Some(servers) = document.get(TOML_SERVERS) else { return Ok(None) };
            let Some(servers) = servers.as_table_like() else {
                return Err(Malformed::Shape { place: TOML_SERVERS.into(), wanted: "a table" });
            };
            let Some(server) = servers.get(NAME) else { return Ok(None) };
            let word = |item: &Item| item.as_str().map(str::to_owned);
            let arguments = server.get("args").and_then(Item::as_array);
            let arguments = arguments.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned));
            Ok(Some(RegisteredServer::of(server.get("command").and_then(word).into_iter().chain(arguments).collect())))
        }
        Format::Yaml => {
            let value = yaml::parse(text)?;
            let server = &value[YAML_SERVERS][NAME];
            Ok((!server.is_null()).then(|| found_in(server, "cmd")))
        }
    }
}

/// Reads a server in which the member `command` has the program, or a list with program and arguments.
fn found_in(server: &Value, command: &str) -> RegisteredServer {
    let strings = |value: &Value| {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let words = match &server[command] {
        Value::String(program) => [vec![program.clone()], strings(&server["args"])].concat(),
        list => strings(list),
    };
    RegisteredServer::of(words)
}

fn insert(text: &str, format: Format, program: &Path) -> Result<String, Malformed> {
    let program = program.to_string_lossy();
    match format {
        Format::Json { servers, entry, syntax } => {
            let mut document = Document::parse(text, syntax)?;
            document.set(&[PathStep::Name(servers), PathStep::Name(NAME)], &piece(entry, &program));
            Ok(document.into_text())
        }
        Format::Toml => {
            let mut document = parse_toml(text)?;
            let mut server = Table::new();
            server["command"] = toml_edit::value(program.as_ref());
            server["args"] = toml_edit::value(toml_edit::Array::from_iter([ARGUMENT]));
            if !text.trim().is_empty() {
                server.decor_mut().set_prefix("\n");
            }
            let servers = document.entry(TOML_SERVERS).or_insert_with(|| {
                let mut servers = Table::new();
                servers.set_implicit(true);
                Item::Table(servers)
            });
            if let Some(inline) = servers.as_inline_table_mut() {
                inline.insert(NAME, server.into_inline_table().into());
            } else if let Some(servers) = servers.as_table_mut() {
                servers.insert(NAME, Item::Table(server));
            }
            let after = document.to_string();
            if registered(&after, format, Path::new(program.as_ref()))?.is_none() {
                return Err(Malformed::Shape { place: TOML_SERVERS.into(), wanted: "a table that can be extended" });
            }
            Ok(after)
        }
        Format::Yaml => yaml::insert(text, &program),
    }
}

fn piece(entry: Entry, program: &str) -> Piece {
    let member = |name: &str, value: Value| (name.to_owned(), Piece::Plain(value));
    match entry {
        Entry::Program { more, tools } => {
            let mut members: Vec<_> = more.iter().map(|(name, value)| member(name, Value::from(*value))).collect();
            members.push(member("command", program.into()));
            members.push(member("args", json!([ARGUMENT])));
            members.extend(tools.then(|| member("tools", json!(["*"]))));
            Piece::object(members)
        }
        Entry::List => Piece::object([
            member("type", "local".into()),
            member("command", json!([program, ARGUMENT])),
            member("enabled", true.into()),
        ]),
    }
}

/// Returns the text in which our server calls `program`. Everything else that its entry has is kept.
fn replace(text: &str, format: Format, program: &Path) -> Result<String, Malformed> {
    let program = program.to_string_lossy();
    match format {
        Format::Json { servers, syntax, .. } => {
            let mut document = Document::parse(text, syntax)?;
            let path = [PathStep::Name(servers), PathStep::Name(NAME), PathStep::Name("command")];
            match document.get(&path) {
                Some(Value::Array(_)) => {
                    document.set(&[&path[..], &[PathStep::At(0)]].concat(), &Piece::plain(program.as_ref()));
                }
                _ => document.set(&path, &Piece::plain(program.as_ref())),
            }
            Ok(document.into_text())
        }
        Format::Toml => {
            let mut document = parse_toml(text)?;
            if let Some(value) = document[TOML_SERVERS][NAME]["command"].as_value_mut() {
                let decor = value.decor().clone();
                *value = program.as_ref().into();
                *value.decor_mut() = decor;
            }
            Ok(document.to_string())
        }
        Format::Yaml => yaml::replace(text, &program),
    }
}

fn parse_toml(text: &str) -> Result<DocumentMut, Malformed> {
    text.parse::<DocumentMut>().map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = text.get(..at).unwrap_or_default();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Malformed::Syntax { line: before.matches('\n').count() + 1, column, why: error.message().to_owned() }
    })
}

/// Goose's configuration. Edits are made line by line, and refused unless a parser finds what was meant.
mod yaml {
    use super::{ARGUMENT, GOOSE_TIMEOUT, Malformed, NAME, Value, YAML_SERVERS, json};

    pub(super) fn parse(text: &str) -> Result<Value, Malformed> {
        if text.trim().is_empty() {
            return Ok(Value::Object(serde_json::Map::new()));
        }
        let value: Value = serde_saphyr::from_str(text).map_err(|error| Malformed::Syntax {
            line: error.location().map_or(1, |place| usize::try_from(place.line()).unwrap_or(1)),
            column: error.location().map_or(1, |place| usize::try_from(place.column()).unwrap_or(1)),
            why: error.to_string().lines().next().unwrap_or_default().to_owned(),
        })?;
        match value {
            Value::Null => Ok(Value::Object(serde_json::Map::new())),
            Value::Object(_) if matches!(value[YAML_SERVERS], Value::Null | Value::Object(_)) => Ok(value),
            Value::Object(_) => Err(Malformed::Shape { place: YAML_SERVERS.into(), wanted: "a mapping" }),
            _ => Err(Malformed::Shape { place: String::new(), wanted: "a mapping" }),
        }
    }

    pub(super) fn insert(text: &str, program: &str) -> Result<String, Malformed> {
        let server = json!({"name": "Throughline", "type": "stdio", "enabled": true, "cmd": program, "args": [ARGUMENT],
            "timeout": GOOSE_TIMEOUT});
        let mut wanted = parse(text)?;
        wanted[YAML_SERVERS][NAME] = server.clone();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let heading = heading(&lines);
        let indent = heading.and_then(|at| lines[at + 1..].iter().find(|line| has_content(line))).map(|line| indent(line));
        let indent = " ".repeat(indent.filter(|indent| *indent > 0).unwrap_or(2));
        // A string of JSON is one of YAML.
        let members = server.as_object().into_iter().flatten();
        let members: Vec<String> = members.map(|(name, value)| format!("{indent}{indent}{name}: {value}\n")).collect();
        let block = format!("{indent}{NAME}:\n{}", members.concat());
        let after = match heading {
            Some(at) => [lines[..=at].concat(), block, lines[at + 1..].concat()].concat(),
            None if text.is_empty() || text.ends_with('\n') => format!("{text}{YAML_SERVERS}:\n{block}"),
            None => format!("{text}\n{YAML_SERVERS}:\n{block}"),
        };
        checked(after, &wanted)
    }

    pub(super) fn replace(text: &str, program: &str) -> Result<String, Malformed> {
        let mut wanted = parse(text)?;
        wanted[YAML_SERVERS][NAME]["cmd"] = program.into();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let Some(block) = block(&lines) else { return Err(unusual()) };
        let line = |(number, line): (usize, &&str)| {
            if block.contains(&number) && line.trim_start().starts_with("cmd:") {
                format!("{}cmd: {}\n", " ".repeat(indent(line)), Value::from(program))
            } else {
                (*line).to_owned()
            }
        };
        let after = lines.iter().enumerate().map(line).collect();
        checked(after, &wanted)
    }

    pub(super) fn remove(text: &str) -> Result<String, Malformed> {
        let mut wanted = parse(text)?;
        let servers = wanted[YAML_SERVERS].as_object_mut().ok_or_else(unusual)?;
        servers.remove(NAME);
        let is_last = servers.is_empty();
        if is_last {
            wanted.as_object_mut().ok_or_else(unusual)?.remove(YAML_SERVERS);
        }
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let (Some(block), Some(heading)) = (block(&lines), heading(&lines)) else { return Err(unusual()) };
        let stays = |number: &usize| !(block.contains(number) || is_last && *number == heading);
        checked((0..lines.len()).filter(stays).map(|number| lines[number]).collect(), &wanted)
    }

    /// The line that begins the mapping of servers as a block.
    fn heading(lines: &[&str]) -> Option<usize> {
        let rest = |line: &str| line.strip_prefix(YAML_SERVERS).and_then(|rest| rest.strip_prefix(':')).map(str::to_owned);
        lines.iter().position(|line| rest(line).is_some_and(|rest| !has_content(&rest)))
    }

    /// The lines of our server.
    fn block(lines: &[&str]) -> Option<std::ops::Range<usize>> {
        let heading = heading(lines)?;
        let start = heading + 1 + lines[heading + 1..].iter().position(|line| line.trim() == format!("{NAME}:"))?;
        let ends = |line: &&str| has_content(line) && indent(line) <= indent(lines[start]);
        let end = lines[start + 1..].iter().position(ends).map_or(lines.len(), |after| start + 1 + after);
        // Blank lines and comments before the next server belong to that one.
        let trailing = lines[start + 1..end].iter().rev().take_while(|line| !has_content(line)).count();
        Some(start..end - trailing)
    }

    fn has_content(line: &str) -> bool {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    }

    fn indent(line: &str) -> usize {
        line.len() - line.trim_start_matches(' ').len()
    }

    fn checked(after: String, wanted: &Value) -> Result<String, Malformed> {
        if parse(&after).is_ok_and(|value| value == *wanted) { Ok(after) } else { Err(unusual()) }
    }

    fn unusual() -> Malformed {
        Malformed::Shape { place: YAML_SERVERS.into(), wanted: "written as a block with one server below another" }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::name::Agent;
    use crate::settings::Client;

    const PROGRAM: &str = "/opt/a b/throughline";

    fn with(text: &str, client: Client) -> String {
        add(text, client.server_format(), Path::new(PROGRAM)).unwrap()
    }

    fn without(text: &str, client: Client) -> String {
        remove(text, client.server_format(), Path::new("/another/throughline")).unwrap()
    }

    #[test]
    fn every_client_gets_the_server_and_loses_it() {
        for client in Client::all() {
            let format = client.server_format();
            let text = with("", client);
            assert_eq!(registered(&text, format, Path::new("")).unwrap(), Some(PROGRAM.into()), "{text}");
            assert_eq!(with(&text, client), text, "the second time changed something");
            let moved = add(&text, format, Path::new("/new/throughline")).unwrap();
            assert_eq!(moved, text.replace(PROGRAM, "/new/throughline"), "{moved}");
            assert!(is_empty(&without(&text, client), format), "{}", without(&text, client));
        }
    }

    #[test]
    fn the_forms_are_those_of_the_clients() {
        let parsed = |client: Client| serde_json::from_str::<Value>(&with("", client)).unwrap();
        let of = |name: &str| parsed(Client::of(name).unwrap());
        let args = json!(["mcp"]);
        assert_eq!(
            of("claude-code"),
            json!({"mcpServers": {"throughline": {"type": "stdio", "command": PROGRAM, "args": args}}})
        );
        assert_eq!(of("gemini"), json!({"mcpServers": {"throughline": {"command": PROGRAM, "args": args}}}));
        assert_eq!(
            of("copilot"),
            json!({"mcpServers": {"throughline": {"type": "local", "command": PROGRAM, "args": args, "tools": ["*"]}}})
        );
        assert_eq!(
            of("opencode"),
            json!({"mcp": {"throughline": {"type": "local", "command": [PROGRAM, "mcp"], "enabled": true}}})
        );
        assert_eq!(of("amp"), json!({"amp.mcpServers": {"throughline": {"command": PROGRAM, "args": args}}}));
        assert_eq!(of("zed"), json!({"context_servers": {"throughline": {"command": PROGRAM, "args": args}}}));
        assert_eq!(
            with("", Client::of("codex").unwrap()),
            format!("[mcp_servers.throughline]\ncommand = \"{PROGRAM}\"\nargs = [\"mcp\"]\n")
        );
        let goose = with("", Client::Agent(Agent::Goose));
        assert!(goose.starts_with("extensions:\n  throughline:\n    "), "{goose}");
        assert!(goose.contains("\n    cmd: \"/opt/a b/throughline\"\n"), "{goose}");
    }

    #[test]
    fn what_others_wrote_stays_byte_by_byte() {
        let json = "// Mine.\n{\n\t\"theme\": \"dark\", // one\n\t\"KEY\": {\n\t\t\"docs\": {\"command\": \"docs\"}, /* two */\n\t},\n}\n";
        let strict = "{\"KEY\":{\"docs\":{\"url\":\"http://localhost\"}},\"a\":1e2}";
        let toml =
            "# Mine.\nmodel = \"m\" # one\n\n[mcp_servers.docs]\ncommand = \"docs\"\n\n[features]\nhooks = true\n\n\n";
        let yaml = "# Mine.\nGOOSE_MODEL: m\nextensions:\n  # one\n  docs:\n    type: stdio\n    cmd: docs\n\n  other:\n    enabled: false\nlast: 'x'\n";
        for client in Client::all() {
            let text = match client.server_format() {
                Format::Json { servers, syntax: Syntax::Comments, .. } => json.replace("KEY", servers),
                Format::Json { servers, .. } => strict.replace("KEY", servers),
                Format::Toml => toml.to_owned(),
                Format::Yaml => yaml.to_owned(),
            };
            let added = with(&text, client);
            assert_ne!(added, text);
            assert_eq!(without(&added, client), text, "{} with the server:\n{added}", client.name());
        }
    }

    #[test]
    fn a_server_of_somebody_elses_with_our_name_stays() {
        for client in Client::all() {
            let theirs = with("", client).replace(PROGRAM, "/opt/wrapper");
            assert_eq!(with(&theirs, client), theirs, "{}", client.name());
            assert_eq!(without(&theirs, client), theirs, "{}", client.name());
        }
    }

    #[test]
    fn what_was_pasted_by_hand_is_ours() {
        let pasted =
            "[mcp_servers.throughline]\ncommand = \"throughline\" # by hand\nargs = [\"mcp\"]\nenv = { A = \"b\" }\n";
        let codex = Client::of("codex").unwrap();
        assert_eq!(with(pasted, codex), pasted.replace("\"throughline\"", &format!("\"{PROGRAM}\"")));
        assert_eq!(without(pasted, codex), "");
    }

    #[test]
    fn what_cannot_be_edited_is_named() {
        let error = |client: &str, text: &str| {
            add(text, Client::of(client).unwrap().server_format(), Path::new(PROGRAM)).unwrap_err().to_string()
        };
        assert_eq!(error("gemini", "{\"mcpServers\": []}"), "mcpServers is not an object");
        assert_eq!(error("codex", "mcp_servers = 1\n"), "mcp_servers is not a table");
        assert!(error("codex", "a = 1\nb = \n").starts_with("line 2, column "), "{}", error("codex", "a = 1\nb = \n"));
        assert_eq!(error("goose", "extensions: []\n"), "extensions is not a mapping");
        assert!(error("goose", "extensions: {a: {type: stdio}}\n").starts_with("extensions is not written as a block"));
        assert!(error("goose", "a: [\n").starts_with("line "), "{}", error("goose", "a: [\n"));
    }

    #[test]
    fn tables_in_a_line_are_extended() {
        let codex = Client::of("codex").unwrap();
        for text in ["mcp_servers = { docs = { command = \"docs\" } }\n", "mcp_servers.docs.command = \"docs\"\n"] {
            let added = with(text, codex);
            assert!(added.contains("docs") && added.contains(PROGRAM), "{added}");
            let left: toml_edit::DocumentMut = without(&added, codex).parse().unwrap();
            assert_eq!(left["mcp_servers"]["docs"]["command"].as_str(), Some("docs"));
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail(bits in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", "mcp_servers", "extensions", "mcpServers", "\"mcpServers\"", ":", ",", "=", "\n", "  ", ".",
            "throughline", "\"throughline\"", "command", "cmd", "mcp", "# x", "é",
        ]), 0..24)) {
            let text = bits.concat();
            for client in Client::all() {
                let format = client.server_format();
                if let Ok(added) = add(&text, format, Path::new(PROGRAM)) {
                    prop_assert_eq!(add(&added, format, Path::new(PROGRAM)).unwrap(), added.clone());
                    prop_assert!(remove(&added, format, Path::new(PROGRAM)).is_ok() || client == Client::Agent(Agent::Goose));
                }
            }
        }

        #[test]
        fn what_was_added_and_removed_was_never_there(
            servers in prop::collection::btree_map("[a-s]{1,6}", "[a-z/]{1,12}", 1..4), model in "[a-z ]{0,12}"
        ) {
            let each = |form: fn((&String, &String)) -> String| servers.iter().map(form).collect::<Vec<_>>().concat();
            let tables = each(|(name, command)| format!("\n[mcp_servers.{name}]\ncommand = \"{command}\"\n"));
            let blocks = each(|(name, command)| format!("  {name}:\n    cmd: \"{command}\"\n"));
            let toml = format!("model = \"{model}\"\n{tables}");
            let yaml = format!("model: \"{model}\"\nextensions:\n{blocks}");
            let codex = Client::of("codex").unwrap();
            prop_assert_eq!(without(&with(&toml, codex), codex), toml);
            prop_assert_eq!(without(&with(&yaml, Client::Agent(Agent::Goose)), Client::Agent(Agent::Goose)), yaml);
        }
    }
}
