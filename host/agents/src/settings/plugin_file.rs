//! Our plugins for agents that have no settings for hooks: the file that `install` writes, and how it is read again.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::agents::{Profile, hooks};
use super::hooks::Registration;
use super::malformed::Malformed;
use crate::protocol::name::Agent;

/// A plugin.
struct PluginFile {
    /// The whole file, without a command and without events.
    source: &'static str,
    /// How it begins, whatever its version.
    mark: &'static str,
}

const OPENCODE: PluginFile =
    PluginFile { source: include_str!("opencode.js"), mark: "// Throughline's plugin for opencode" };
const PI: PluginFile = PluginFile { source: include_str!("pi.js"), mark: "// Throughline's extension for pi" };

const AMP: PluginFile = PluginFile { source: include_str!("amp.js"), mark: "// Throughline's plugin for Amp" };

/// Returns the agent's plugin, if it is an agent with one.
const fn plugin(agent: Agent) -> Option<&'static PluginFile> {
    match agent {
        Agent::Opencode => Some(&OPENCODE),
        Agent::Pi => Some(&PI),
        Agent::Amp => Some(&AMP),
        _ => None,
    }
}

/// The lines that `install` completes.
const COMMAND: &str = "const COMMAND = ";
const TIMEOUTS: &str = "const TIMEOUTS = ";

/// Returns the plugin that calls `command` for the events of the profile.
///
/// # Errors
///
/// `text` is a file of somebody else's.
pub(super) fn install(agent: Agent, text: &str, command: &[String], profile: Profile) -> Result<String, Malformed> {
    if !text.trim().is_empty() && !is_ours(agent, text) {
        return Err(Malformed::Shape { place: String::new(), wanted: "a plugin of Throughline's" });
    }
    let timeouts: serde_json::Map<String, Value> =
        profile.hooks(agent).map(|hook| (hook.event.to_owned(), hook.timeout.into())).collect();
    let source = plugin(agent).map_or("", |plugin| plugin.source);
    let source = source.replace("const COMMAND = []", &format!("{COMMAND}{}", Value::from(command)));
    Ok(source.replace("const TIMEOUTS = {}", &format!("{TIMEOUTS}{}", Value::from(timeouts))))
}

/// Returns nothing in place of our plugin; somebody else's file stays.
pub(super) fn uninstall(agent: Agent, text: &str) -> String {
    if is_ours(agent, text) { String::new() } else { text.to_owned() }
}

/// Returns the events that our plugin reports. `called` splits its command into program and arguments.
pub(super) fn registered(
    agent: Agent,
    text: &str,
    called: impl FnOnce(Vec<String>) -> Option<(PathBuf, Vec<String>)>,
) -> Result<Vec<Registration>, Malformed> {
    if !is_ours(agent, text) {
        return Ok(Vec::new());
    }
    let (command, timeouts): (Vec<String>, BTreeMap<String, u64>) = (line(text, COMMAND)?, line(text, TIMEOUTS)?);
    let Some((program, arguments)) = called(command) else { return Ok(Vec::new()) };
    let known = hooks(agent).iter().filter_map(|hook| Some((hook.event, *timeouts.get(hook.event)?)));
    let registration = |(number, (event, timeout)): (usize, (&str, u64))| Registration {
        event: event.to_owned(),
        matcher: None,
        program: program.clone(),
        arguments: arguments.clone(),
        timeout: Some(timeout),
        position: vec![number],
    };
    Ok(known.enumerate().map(registration).collect())
}

/// Whether an agent that runs this plugin does what this version's does. An agent without a plugin has none that is old.
pub fn is_current(agent: Agent, text: &str) -> bool {
    let body = |text: &str| {
        let own = |line: &&str| !line.starts_with(COMMAND) && !line.starts_with(TIMEOUTS);
        text.lines().filter(own).map(str::to_owned).collect::<Vec<_>>()
    };
    plugin(agent).is_none_or(|plugin| body(text) == body(plugin.source))
}

fn is_ours(agent: Agent, text: &str) -> bool {
    plugin(agent).is_some_and(|plugin| text.starts_with(plugin.mark))
}

fn line<T: serde::de::DeserializeOwned>(text: &str, beginning: &str) -> Result<T, Malformed> {
    let found = text.lines().enumerate().find_map(|(number, line)| Some((number, line.strip_prefix(beginning)?)));
    let (number, value) =
        found.ok_or(Malformed::Shape { place: String::new(), wanted: "a plugin as `install` writes it" })?;
    serde_json::from_str(value).map_err(|error| Malformed::Syntax {
        line: number + 1,
        column: beginning.len() + error.column(),
        why: "`install` wrote another value here".into(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The agents with a plugin.
    const AGENTS: [Agent; 3] = [Agent::Opencode, Agent::Pi, Agent::Amp];

    fn words(program: &str) -> Vec<String> {
        [program, "hook", "--agent", "it"].map(str::to_owned).to_vec()
    }

    fn split(words: Vec<String>) -> Option<(PathBuf, Vec<String>)> {
        let mut words = words.into_iter();
        Some((PathBuf::from(words.next()?), words.collect()))
    }

    #[test]
    fn what_is_written_is_read_again() {
        for agent in AGENTS {
            let program = "/a \"b\"\\c/throughline";
            let text = install(agent, "", &words(program), Profile::Standard).unwrap();
            let found = registered(agent, &text, split).unwrap();
            assert_eq!(found.len(), hooks(agent).len());
            assert!(found.iter().all(|it| it.program == Path::new(program) && it.arguments[2] == "it"));
            assert_eq!(Profile::of(agent, found.iter().map(|it| it.event.as_str())), Some(Profile::Standard));
            let minimal = install(agent, &text, &words(program), Profile::Minimal).unwrap();
            assert_eq!(registered(agent, &minimal, split).unwrap().len(), Profile::Minimal.hooks(agent).count());
            assert!(is_current(agent, &text) && is_current(agent, &minimal) && !is_current(agent, &format!("{text}x")));
            assert_eq!(uninstall(agent, &minimal), "");
        }
    }

    #[test]
    fn every_event_that_is_reported_has_a_timeout() {
        for agent in AGENTS {
            let source = plugin(agent).unwrap().source;
            for hook in hooks(agent) {
                assert!(source.contains(&format!("report(\"{}\"", hook.event)), "{}", hook.event);
            }
            assert_eq!(source.matches("report(\"").count(), hooks(agent).len());
        }
    }

    #[test]
    fn somebody_elses_file_stays() {
        let theirs = "export const Mine = async () => ({})\n";
        for agent in AGENTS {
            assert!(install(agent, theirs, &words("/p"), Profile::Standard).is_err());
            assert_eq!(uninstall(agent, theirs), theirs);
            assert_eq!(registered(agent, theirs, split).unwrap(), []);
            let mark = plugin(agent).unwrap().mark;
            assert!(registered(agent, &format!("{mark}\nconst COMMAND = 7\n"), split).is_err());
        }
    }
}
