//! One hook of Throughline's as an agent's settings write it: the command that it calls, and the members beside that.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::agents::{Call, Hook, Layout};
use super::json::{Document, PathStep, Piece};
use crate::protocol::name::Agent;

/// A path from the top of a document to a value.
pub(super) type JsonPath<'a> = Vec<PathStep<'a>>;

/// Returns the path that goes on with these steps.
pub(super) fn below<'a>(way: &[PathStep<'a>], steps: &[PathStep<'a>]) -> JsonPath<'a> {
    [way, steps].concat()
}

/// The program without a path, for settings that several people use: each has it elsewhere, or not at all.
pub const BY_NAME: &str = "throughline";

/// Calls the program by its name with the arguments that follow, and does nothing where it is not installed. Agents do
/// not always have the PATH of a terminal, so the folders in which it is usually installed are tried too.
const FIND: &str = r#"for p in "$(command -v throughline)" "${CARGO_HOME:-$HOME/.cargo}/bin/throughline" "$HOME/.local/bin/throughline"; do [ -x "$p" ] && exec "$p" "$@"; done; exit 0"#;

/// Whether the words call the program by its name.
fn looks_up(words: &[String]) -> bool {
    words.len() > 3 && words[..3] == ["sh", "-c", FIND]
}

/// Splits a command into the program and its arguments.
pub(super) fn called(mut words: Vec<String>) -> Option<(PathBuf, Vec<String>)> {
    if looks_up(&words) {
        words.drain(..3);
    }
    (!words.is_empty()).then(|| (PathBuf::from(words.remove(0)), words))
}

/// The words of a command that calls the program for every event.
pub(super) fn command(agent: Agent, program: &Path) -> Vec<String> {
    let mut words = vec![program.to_string_lossy().into_owned(), "hook".into(), "--agent".into(), agent.name().into()];
    if program == Path::new(BY_NAME) {
        words.splice(0..0, ["sh", "-c", FIND].map(str::to_owned));
    }
    words
}

/// A handler of Throughline's.
pub(super) struct Handler {
    value: Value,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    /// In the layout's unit.
    pub(super) timeout: Option<u64>,
    /// Whether the handler has the form that the layout prescribes.
    as_usual: bool,
    /// Whether the program is looked for by its name.
    by_name: bool,
}

impl Handler {
    /// Parses a handler. It is Throughline's if it calls `program`, or a program of that name, with `hook`.
    pub(super) fn parse(value: &Value, layout: &Layout, program: &Path) -> Option<Self> {
        let arguments =
            || value["args"].as_array().map(|it| it.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        let (words, as_usual): (Vec<String>, bool) = match (layout.call, arguments()) {
            (Call::Exec, Some(arguments)) => (with_first(value["command"].as_str()?, arguments), true),
            (Call::Exec, None) => (split(value["command"].as_str()?), false),
            (Call::Shell(name), arguments) => match (value[name].as_str(), value["command"].as_str(), arguments) {
                (Some(line), _, _) => (split(line), true),
                (None, Some(line), _) => (split(line), false),
                (None, None, arguments) => (with_first(value["exec"].as_str()?, arguments.unwrap_or_default()), false),
            },
            (Call::Plugin(_), _) => return None,
        };
        let by_name = looks_up(&words);
        let (called_program, called) = called(words)?;
        let ours = called_program == program || called_program.file_stem().is_some_and(|name| name == "throughline");
        let timeout = value[layout.timeout].as_u64();
        (ours && called.first().is_some_and(|word| word == "hook")).then(|| Self {
            value: value.clone(),
            program: called_program,
            arguments: called,
            timeout,
            as_usual,
            by_name,
        })
    }

    /// Updates the handler at `way`. Members that somebody else added are kept. Returns whether anything changed.
    pub(super) fn update(
        &self,
        document: &mut Document,
        way: &[PathStep<'_>],
        hook: &Hook,
        agent: Agent,
        layout: &Layout,
        program: &Path,
    ) -> bool {
        let wanted = hook.timeout * layout.second;
        let is_current = self.as_usual
            && self.program == program
            && self.by_name == (program == Path::new(BY_NAME))
            && self.arguments == hook.arguments(agent)
            && self.timeout.is_some_and(|timeout| timeout >= wanted);
        if is_current {
            return false;
        }
        for (name, piece) in members(hook, agent, layout, program) {
            let is_timeout = name == layout.timeout;
            let value = if is_timeout { Value::from(self.timeout.unwrap_or(0).max(wanted)) } else { piece };
            if self.value.get(&name) != Some(&value) {
                document.set(&below(way, &[PathStep::Name(&name)]), &Piece::Plain(value));
            }
        }
        // Other ways to name a command. They take precedence over ours, or must not be combined with it.
        let others: &[&str] = match layout.call {
            Call::Exec => &["shell"],
            Call::Shell("bash") => &["command", "exec", "args", "timeout"],
            Call::Shell(_) => &["args"],
            Call::Plugin(_) => &[],
        };
        for name in others {
            document.remove(&below(way, &[PathStep::Name(name)]));
        }
        true
    }
}

fn with_first(first: &str, mut rest: Vec<String>) -> Vec<String> {
    rest.insert(0, first.to_owned());
    rest
}

/// Returns a new handler of a hook.
pub(super) fn handler(hook: &Hook, agent: Agent, layout: &Layout, program: &Path) -> Piece {
    Piece::object(members(hook, agent, layout, program).into_iter().map(|(name, value)| (name, Piece::Plain(value))))
}

/// Returns the members of a handler as they should be.
fn members(hook: &Hook, agent: Agent, layout: &Layout, program: &Path) -> Vec<(String, Value)> {
    let mut called: Vec<String> = hook.arguments(agent).into_iter().map(str::to_owned).collect();
    called.insert(0, program.to_string_lossy().into_owned());
    if program == Path::new(BY_NAME) {
        called.splice(0..0, ["sh", "-c", FIND].map(str::to_owned));
    }
    let mut members: Vec<(String, Value)> =
        layout.more.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
    match layout.call {
        Call::Exec => {
            let arguments = called.split_off(1);
            members.push(("command".into(), called.concat().into()));
            members.push(("args".into(), arguments.into()));
        }
        Call::Shell(name) => {
            let words: Vec<String> = called.iter().map(|word| quoted(word)).collect();
            members.push((name.into(), words.join(" ").into()));
        }
        Call::Plugin(_) => {}
    }
    members.push((layout.timeout.into(), (hook.timeout * layout.second).into()));
    members
}

/// Quotes a word for POSIX shells and fish.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    // Unlike POSIX shells, fish interprets a backslash inside single quotes.
    let mut quoted = String::from("'");
    for c in word.chars() {
        match c {
            '\'' => quoted.push_str(r"'\''"),
            '\\' => quoted.push_str(r"'\\'"),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

/// Splits a shell command line into words at the level of quotes and backslashes.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for word in ["/a/b", "/a b", "/it's", r"/back\slash", "/$HOME/`x`", "/é", "", "a'b'\"c\"\\"] {
            assert_eq!(split(&format!("{} x", quoted(word))), [word, "x"], "{}", quoted(word));
        }
    }

    #[test]
    fn shell_split() {
        assert_eq!(split(r#"  "a b"\ c 'd"e' f\"g "\"" ''"#), ["a b c", "d\"e", "f\"g", "\"", ""]);
    }
}
