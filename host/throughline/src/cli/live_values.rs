//! What a shell completes beyond words of the command line: projects, memories, sessions and policies. It only reads, and where
//! something cannot be read there is nothing to complete.

use std::ffi::OsStr;

use clap_complete::{ArgValueCompleter, CompletionCandidate};

use super::environment;
use super::output;
use super::policy;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::runtime::Runtime;
use throughline_engine::targets;
use throughline_platform::paths;
use throughline_store::{Access, MemoryFilter, Store};

/// The most values of a kind, the newest ones.
const MAX_VALUES: u32 = 200;

/// The longest description of a value, in characters.
const MAX_DESCRIPTION: usize = 60;

type Completer = fn(&OsStr) -> Vec<CompletionCandidate>;

/// Returns the command tree with completions of live values.
pub(super) fn add(command: clap::Command) -> clap::Command {
    below(command, &[])
}

fn below(command: clap::Command, path: &[String]) -> clap::Command {
    let here: Vec<String> = path.iter().cloned().chain([command.get_name().to_owned()]).collect();
    let words: Vec<&str> = here.iter().skip(1).map(String::as_str).collect();
    let command = command.mut_args(|arg| match completer(&words, &arg) {
        Some(completer) => arg.add(ArgValueCompleter::new(completer)),
        None => arg,
    });
    command.mut_subcommands(|inner| below(inner, &here))
}

/// Returns what completes an argument of the command that these words name.
fn completer(words: &[&str], arg: &clap::Arg) -> Option<Completer> {
    let name = arg.get_id().as_str();
    // A new policy has a new name, and what was forgotten is no memory.
    if matches!(words, ["policy", "new"] | ["memory", "unforget"]) {
        return None;
    }
    match (words.first().copied().unwrap_or_default(), name, arg.is_positional()) {
        ("memory", "id" | "ids", true) => Some(memories),
        ("session", "id", true) | (_, "session", false) => Some(sessions),
        ("policy", "name" | "policy", _) => Some(policies),
        (_, "project", false) => Some(projects),
        _ => None,
    }
}

/// A value, and what it is.
fn candidate(value: &str, description: &str) -> CompletionCandidate {
    let description = output::clean_line(description);
    let short: String = description.chars().take(MAX_DESCRIPTION).collect();
    CompletionCandidate::new(output::clean_line(value)).help((!short.is_empty()).then(|| short.into()))
}

fn open() -> Option<(Runtime, Store)> {
    let runtime = Runtime::for_reading(environment::paths().ok()?).ok()?;
    let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT).ok()?;
    Some((runtime, store))
}

fn projects(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let Some((runtime, store)) = open() else { return Vec::new() };
    let known = store.all_projects().unwrap_or_default();
    let named = known.iter().filter_map(|project| {
        let name = project.root.file_name()?.to_string_lossy().into_owned();
        let path = project.root.to_string_lossy().into_owned();
        // Whoever types a path wants a path. A name that two projects have says too little.
        let is_unique = known.iter().filter(|it| it.root.file_name() == project.root.file_name()).count() == 1;
        let value = if typed.contains('/') || !is_unique { path } else { name };
        value.starts_with(&*typed).then(|| candidate(&value, &paths::display(&project.root, &runtime.paths.home)))
    });
    named.collect()
}

fn memories(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let Some((runtime, store)) = open() else { return Vec::new() };
    let project = targets::find_project(&runtime, None).ok().map(|project| project.id);
    let filter = MemoryFilter { project, shared: true, ..MemoryFilter::default() };
    let found = store.recent(&filter, MAX_VALUES).unwrap_or_default();
    found.iter().filter(|it| it.id.starts_with(&*typed)).map(|it| candidate(&it.id, &it.content)).collect()
}

fn sessions(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let Some((runtime, store)) = open() else { return Vec::new() };
    let Ok(project) = targets::find_project(&runtime, None) else { return Vec::new() };
    let found = store.sessions(&project.id, "", MAX_VALUES).unwrap_or_default();
    found.iter().filter(|it| it.id.starts_with(&*typed)).map(|it| candidate(&it.id, &it.summary)).collect()
}

fn policies(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let Some((runtime, _)) = open() else { return Vec::new() };
    let names = policy::names(&runtime);
    names.iter().filter(|name| name.starts_with(&*typed)).map(|name| candidate(name, "")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_kind_of_value_is_completed_somewhere() {
        let command = super::add(super::super::command());
        let at = |path: &[&str]| path.iter().fold(&command, |at, name| at.find_subcommand(name).expect("a command")).clone();
        let completes = |path: &[&str], arg: &str| {
            let command = at(path);
            let arg = command.get_arguments().find(|it| it.get_id() == arg).expect("an argument").clone();
            arg.get::<clap_complete::ArgValueCompleter>().is_some()
        };
        assert!(completes(&["memory", "show"], "id") && completes(&["memory", "delete"], "ids"));
        assert!(completes(&["session", "show"], "id") && completes(&["timeline"], "session"));
        assert!(completes(&["policy", "remove"], "name") && completes(&["policy", "inspect"], "policy"));
        assert!(completes(&["search"], "project") && completes(&["status"], "project"));
        assert!(!completes(&["policy", "new"], "name"), "a new policy has a new name");
    }
}
