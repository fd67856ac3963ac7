//! Checks for other memory systems. If two are active, the agent is shown everything twice.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::finding::Finding;
use throughline_agents::settings::{self, Scope};
use throughline_platform::paths::{self, Paths};

/// Other memory systems by the names that `import --from` uses, each with the words of which one is in its hooks' commands or is the
/// name of its plugin.
const OTHER_SYSTEMS: [(&str, &[&str]); 7] = [
    ("jikime-mem", &["jikime-mem"]),
    ("jikime-adk", &["jikime-adk hook memory-load", "jikime-adk hook memory-flush", "jikime-adk hook memory-save"]),
    ("claude-mem", &["claude-mem"]),
    ("claude-memory-layer", &["claude-memory-layer", "code-memory"]),
    ("openclaw", &["openclaw"]),
    ("memory-keeper", &["memory-keeper", "memory-keeper-plugin", "crabshell"]),
    ("session-context", &["session-context", "save-context", "load-context"]),
];

/// Reports the other memory systems that Claude Code uses in `folder`.
pub(super) fn other_systems(paths: &Paths, folder: &Path) -> Vec<Finding> {
    let files = Scope::ALL.map(|scope| scope.file(paths, folder)).into_iter().chain(settings::managed());
    let mut seen: BTreeSet<(&str, String)> = BTreeSet::new();
    for file in files {
        // The check of the hooks reports files that cannot be read.
        let Ok(Some(text)) = settings::read(&file) else { continue };
        let Ok(value) = serde_json::from_str::<Value>(&text) else { continue };
        seen.extend(
            OTHER_SYSTEMS
                .iter()
                .filter(|(_, words)| words.iter().any(|word| is_in(&value, word)))
                .map(|(name, _)| (*name, paths::display(&file, &paths.home))),
        );
    }
    seen.into_iter().map(|(name, file)| finding(name, &file)).collect()
}

fn finding(name: &str, file: &str) -> Finding {
    Finding::warn(
        "others",
        format!("{name} is registered in {file} too: both store memories, and the agent is shown everything twice"),
        format!("import its memories with `throughline import --from {name}`, then disable it there"),
    )
}

/// Returns whether the settings name the system in a hook's command, or as an enabled plugin.
fn is_in(settings: &Value, name: &str) -> bool {
    let plugins = settings.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
    let is_plugin = plugins.filter(|(_, on)| **on != Value::Bool(false)).any(|(plugin, _)| {
        // `plugin@marketplace`
        plugin.split('@').next() == Some(name)
    });
    is_plugin || settings.get("hooks").is_some_and(|hooks| commands(hooks, name))
}

/// Returns whether a command in this value names the system as a whole word or path component.
fn commands(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(key, value)| match value {
            Value::String(command) => key == "command" && names(command, name),
            other => commands(other, name),
        }),
        Value::Array(values) => values.iter().any(|value| commands(value, name)),
        _ => false,
    }
}

fn names(command: &str, name: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-');
    command
        .match_indices(name)
        .any(|(at, _)| !is_part(command[..at].chars().next_back()) && !is_part(command[at + name.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hooks_and_plugins_are_told_from_mere_words() {
        let hook = |command: &str| json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}});
        for (settings, yes) in [
            (hook("node /home/u/.claude/plugins/claude-mem/scripts/worker.js"), true),
            (hook("bun ~/.jikime-mem/hook.ts"), false),
            (hook("claude-mem hook stop"), true),
            (hook("my-claude-memory hook"), false),
            (json!({"enabledPlugins": {"claude-mem@thedotmack": true}}), true),
            (json!({"enabledPlugins": {"claude-mem@thedotmack": false}}), false),
            (json!({"hooks": {}, "note": "claude-mem"}), false),
        ] {
            assert_eq!(is_in(&settings, "claude-mem"), yes, "{settings}");
        }
        assert!(is_in(&hook("bun ~/.jikime-mem/hook.ts"), "jikime-mem"));
        let named = |settings: &Value| -> Vec<&str> {
            let is_named = |words: &&[&str]| words.iter().any(|word| is_in(settings, word));
            OTHER_SYSTEMS.iter().filter(|(_, words)| is_named(words)).map(|(name, _)| *name).collect()
        };
        for (settings, system) in [
            (hook("jikime-adk hook memory-save"), "jikime-adk"),
            (hook(".claude/scripts/save-context.sh"), "session-context"),
            (json!({"enabledPlugins": {"memory-keeper@local": true}}), "memory-keeper"),
            (json!({"enabledPlugins": {"crabshell@local": true}}), "memory-keeper"),
            (hook("npx claude-memory-layer hook stop"), "claude-memory-layer"),
        ] {
            assert_eq!(named(&settings), [system], "{settings}");
        }
        assert!(named(&hook("jikime-adk hook statusline")).is_empty());
        assert!(named(&hook("throughline hook memory-save")).is_empty());
    }
}
