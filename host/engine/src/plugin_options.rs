//! The options that the user set in the plugin's dialog. Claude Code passes them to the plugin's hooks as environment
//! variables.

use crate::config::{Config, Mode};

/// Overrides the configuration file with the options. `variable` looks up an environment variable. Returns a message
/// for every value that is invalid; such an option counts as not set.
pub fn apply(config: &mut Config, variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    let set = |key: &str| {
        let value = variable(&format!("CLAUDE_PLUGIN_OPTION_{}", key.to_uppercase()))?;
        let value = value.trim().to_owned();
        (!value.is_empty()).then_some(value)
    };
    if let Some(value) = set("context_budget") {
        match value.parse() {
            Ok(budget) if (500..=10_000).contains(&budget) => config.context.budget = budget,
            _ => wrong.push(format!("context_budget is {value:?}, but it must be between 500 and 10000")),
        }
    }
    if let Some(value) = set("checkpoint") {
        match value.as_str() {
            "auto" => config.checkpoint.mode = Mode::Auto,
            "ask" => config.checkpoint.mode = Mode::Ask,
            "off" => config.checkpoint.mode = Mode::Off,
            _ => wrong.push(format!("checkpoint is {value:?}, but it must be auto, ask or off")),
        }
    }
    if let Some(value) = set("shared_memories") {
        match value.as_str() {
            "true" => config.sharing.context = true,
            "false" => config.sharing.context = false,
            _ => wrong.push(format!("shared_memories is {value:?}, but it must be true or false")),
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use throughline_agents::plugin::OPTIONS;

    fn with(pairs: &[(&str, &str)]) -> (Config, Vec<String>) {
        let mut config = Config::default();
        let wrong = apply(&mut config, |name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()));
        (config, wrong)
    }

    #[test]
    fn what_is_set_counts_and_what_is_not_does_not() {
        let (config, wrong) = with(&[("CLAUDE_PLUGIN_OPTION_CHECKPOINT", ""), ("CLAUDE_PLUGIN_OPTION_OTHER", "x")]);
        assert_eq!((config, wrong), (Config::default(), Vec::new()));
        let (config, wrong) = with(&[
            ("CLAUDE_PLUGIN_OPTION_CONTEXT_BUDGET", "700"),
            ("CLAUDE_PLUGIN_OPTION_CHECKPOINT", "off"),
            ("CLAUDE_PLUGIN_OPTION_SHARED_MEMORIES", "false"),
        ]);
        assert_eq!((config.context.budget, config.checkpoint.mode, config.sharing.context), (700, Mode::Off, false));
        assert!(wrong.is_empty());
    }

    #[test]
    fn what_is_wrong_is_named_and_left() {
        let (config, wrong) = with(&[
            ("CLAUDE_PLUGIN_OPTION_CONTEXT_BUDGET", "99999999999999"),
            ("CLAUDE_PLUGIN_OPTION_CHECKPOINT", "sometimes"),
            ("CLAUDE_PLUGIN_OPTION_SHARED_MEMORIES", "maybe"),
        ]);
        assert_eq!(config, Config::default());
        assert_eq!(wrong.len(), OPTIONS.len());
        for (said, key) in wrong.iter().zip(["context_budget", "checkpoint", "shared_memories"]) {
            assert!(said.starts_with(key), "{said}");
        }
    }
}
