//! Our plugin for opencode, which has no settings for hooks: the file that `install` writes, and how it is read again.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::agents::{Profile, hooks};
use super::hooks::Registration;
use super::malformed::Malformed;
use crate::protocol::name::Agent;

/// The plugin, without a command and without events.
const SOURCE: &str = include_str!("opencode.js");

/// How each of our plugins begins, whatever its version.
const MARK: &str = "// Throughline's plugin for opencode";

/// The lines that `install` completes.
const COMMAND: &str = "const COMMAND = ";
const TIMEOUTS: &str = "const TIMEOUTS = ";

/// Returns the plugin that calls `command` for the events of the profile.
///
/// # Errors
///
/// `text` is a file of somebody else's.
pub(super) fn install(text: &str, command: &[String], profile: Profile) -> Result<String, Malformed> {
    if !text.trim().is_empty() && !is_ours(text) {
        return Err(Malformed::Shape { place: String::new(), wanted: "a plugin of Throughline's" });
    }
    let timeouts: serde_json::Map<String, Value> =
        profile.hooks(Agent::Opencode).map(|hook| (hook.event.to_owned(), hook.timeout.into())).collect();
    let source = SOURCE.replace("const COMMAND = []", &format!("{COMMAND}{}", Value::from(command)));
    Ok(source.replace("const TIMEOUTS = {}", &format!("{TIMEOUTS}{}", Value::from(timeouts))))
}

/// Returns nothing in place of our plugin; somebody else's file stays.
pub(super) fn uninstall(text: &str) -> String {
    if is_ours(text) { String::new() } else { text.to_owned() }
}

/// Returns the events that our plugin reports. `called` splits its command into program and arguments.
pub(super) fn registered(
    text: &str,
    called: impl FnOnce(Vec<String>) -> Option<(PathBuf, Vec<String>)>,
) -> Result<Vec<Registration>, Malformed> {
    if !is_ours(text) {
        return Ok(Vec::new());
    }
    let (command, timeouts): (Vec<String>, BTreeMap<String, u64>) = (line(text, COMMAND)?, line(text, TIMEOUTS)?);
    let Some((program, arguments)) = called(command) else { return Ok(Vec::new()) };
    let known = hooks(Agent::Opencode).iter().filter_map(|hook| Some((hook.event, *timeouts.get(hook.event)?)));
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

/// Whether an opencode that runs this plugin does what this version's does.
pub fn is_current(text: &str) -> bool {
    let body = |text: &str| {
        let own = |line: &&str| !line.starts_with(COMMAND) && !line.starts_with(TIMEOUTS);
        text.lines().filter(own).map(str::to_owned).collect::<Vec<_>>()
    };
    body(text) == body(SOURCE)
}

fn is_ours(text: &str) -> bool {
    text.starts_with(MARK)
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

    fn words(program: &str) -> Vec<String> {
        [program, "hook", "--agent", "opencode"].map(str::to_owned).to_vec()
    }

    fn split(words: Vec<String>) -> Option<(PathBuf, Vec<String>)> {
        let mut words = words.into_iter();
        Some((PathBuf::from(words.next()?), words.collect()))
    }

    #[test]
    fn what_is_written_is_read_again() {
        let program = "/a \"b\"\\c/throughline";
        let text = install("", &words(program), Profile::Standard).unwrap();
        let found = registered(&text, split).unwrap();
        assert_eq!(found.len(), hooks(Agent::Opencode).len());
        assert!(found.iter().all(|it| it.program == Path::new(program) && it.arguments[2] == "opencode"));
        assert_eq!(Profile::of(Agent::Opencode, found.iter().map(|it| it.event.as_str())), Some(Profile::Standard));
        let minimal = install(&text, &words(program), Profile::Minimal).unwrap();
        assert_eq!(registered(&minimal, split).unwrap().len(), 3);
        assert!(is_current(&text) && is_current(&minimal) && !is_current(&format!("{text}x")));
        assert_eq!(uninstall(&minimal), "");
    }

    #[test]
    fn every_event_that_is_reported_has_a_timeout() {
        for hook in hooks(Agent::Opencode) {
            assert!(SOURCE.contains(&format!("report(\"{}\"", hook.event)), "{}", hook.event);
        }
        let reported = SOURCE.matches("report(\"").count();
        assert_eq!(reported, hooks(Agent::Opencode).len());
    }

    #[test]
    fn somebody_elses_file_stays() {
        let theirs = "export const Mine = async () => ({})\n";
        assert!(install(theirs, &words("/p"), Profile::Standard).is_err());
        assert_eq!(uninstall(theirs), theirs);
        assert_eq!(registered(theirs, split).unwrap(), []);
        assert!(registered(&format!("{MARK}\nconst COMMAND = 7\n"), split).is_err());
    }
}
