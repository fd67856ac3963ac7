//! The section `[model]` of the configuration.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};
use throughline_embedding::settings::is_variable;
use throughline_model::invalid::Invalid;
use throughline_model_wire::{Agent, Endpoint};

/// The largest timeout that a user may set, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 600_000;

/// Which language model may be asked, and what it may cost.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The provider to ask.
    pub provider: Provider,
    /// The longest time for one request with all its retries, in milliseconds.
    pub timeout_ms: u64,
    /// The folder in which every request and its reply is kept.
    pub record: Option<PathBuf>,
    /// The section `[model.openai]`.
    #[serde(deserialize_with = "openai")]
    pub openai: Server,
    /// The section `[model.anthropic]`.
    #[serde(deserialize_with = "anthropic")]
    pub anthropic: Server,
    /// The section `[model.gemini]`.
    #[serde(deserialize_with = "gemini")]
    pub gemini: Server,
    /// The section `[model.command]`.
    pub command: AgentCommand,
    /// The section `[model.recorded]`.
    pub recorded: Recorded,
    /// The section `[model.price]`.
    pub price: Price,
    /// The section `[model.limits]`.
    pub limits: Limits,
}

/// The values of `model.provider`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// No model is asked.
    None,
    /// OpenAI, or a server that speaks its protocol.
    Openai,
    /// Anthropic.
    Anthropic,
    /// Gemini.
    Gemini,
    /// A coding agent's own command line.
    Command,
    /// Replies that were recorded.
    Recorded,
}

impl Provider {
    /// Returns the name in the configuration and in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Command => "command",
            Self::Recorded => "recorded",
        }
    }
}

/// A server, its model and where its key is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// The base URL; unset: the provider's own.
    pub base_url: Option<String>,
    /// The model's name on the server.
    pub model: Option<String>,
    /// Environment variables that may hold the key; the first one that is set is used. Unset: the provider's usual ones.
    pub key_env: Option<Vec<String>>,
    /// A file with the key that nobody else may read.
    pub key_file: Option<PathBuf>,
    /// A command that prints the key.
    pub key_command: Option<Vec<String>>,
}

/// A coding agent's own command line.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AgentCommand {
    /// The agent.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Agent,
    /// The absolute path of its program; unset: its name, found in `PATH`.
    pub program: Option<PathBuf>,
    /// The model; unset: the agent's default.
    pub model: Option<String>,
    /// The tokens that the agent adds to each request.
    pub overhead_tokens: u64,
}

/// Replies that were recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Recorded {
    /// The folder.
    pub folder: Option<PathBuf>,
}

/// What a model costs, in US dollars for a million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Price {
    /// Tokens that are read.
    pub input: Option<f64>,
    /// Tokens that are written.
    pub output: Option<f64>,
}

/// What may be spent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The limits of all policies together.
    #[serde(flatten)]
    pub all: Amounts,
    /// The sections `[model.limits.policy.NAME]`.
    pub policy: BTreeMap<String, Amounts>,
}

/// Limits in tokens and US dollars. One that is not set does not limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Amounts {
    pub call_tokens: Option<u64>,
    pub session_tokens: Option<u64>,
    pub day_tokens: Option<u64>,
    pub month_tokens: Option<u64>,
    pub call_usd: Option<f64>,
    pub session_usd: Option<f64>,
    pub day_usd: Option<f64>,
    pub month_usd: Option<f64>,
}

impl Server {
    fn of(base_url: &str, variables: &[&str]) -> Self {
        Self {
            base_url: Some(base_url.into()),
            key_env: Some(variables.iter().map(|&variable| variable.into()).collect()),
            ..Self::default()
        }
    }

    fn openai() -> Self {
        Self::of("https://api.openai.com/v1", &["OPENAI_API_KEY"])
    }

    fn anthropic() -> Self {
        Self::of("https://api.anthropic.com", &["ANTHROPIC_API_KEY"])
    }

    fn gemini() -> Self {
        Self::of("https://generativelanguage.googleapis.com/v1beta", &["GEMINI_API_KEY", "GOOGLE_API_KEY"])
    }

    /// Takes what is not set from the provider's defaults.
    fn or(self, default: Self) -> Self {
        Self { base_url: self.base_url.or(default.base_url), key_env: self.key_env.or(default.key_env), ..self }
    }
}

fn openai<'de, D: Deserializer<'de>>(from: D) -> Result<Server, D::Error> {
    Ok(Server::deserialize(from)?.or(Server::openai()))
}

fn anthropic<'de, D: Deserializer<'de>>(from: D) -> Result<Server, D::Error> {
    Ok(Server::deserialize(from)?.or(Server::anthropic()))
}

fn gemini<'de, D: Deserializer<'de>>(from: D) -> Result<Server, D::Error> {
    Ok(Server::deserialize(from)?.or(Server::gemini()))
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            provider: Provider::None,
            timeout_ms: 120_000,
            record: None,
            openai: Server::openai(),
            anthropic: Server::anthropic(),
            gemini: Server::gemini(),
            command: AgentCommand::default(),
            recorded: Recorded::default(),
            price: Price::default(),
            limits: Limits::default(),
        }
    }
}

impl Default for AgentCommand {
    fn default() -> Self {
        Self { agent: Agent::Claude, program: None, model: None, overhead_tokens: 20_000 }
    }
}

impl Settings {
    /// Validates what the types cannot express. Errors name the setting and what is wrong with it.
    pub fn check(&self) -> Result<(), Invalid> {
        if !(1_000..=MAX_TIMEOUT_MS).contains(&self.timeout_ms) {
            return Err(
                format!("model.timeout_ms is {}, but must be between 1000 and {MAX_TIMEOUT_MS}", self.timeout_ms).into()
            );
        }
        for (name, server) in [("openai", &self.openai), ("anthropic", &self.anthropic), ("gemini", &self.gemini)] {
            Endpoint::parse(server.base_url.as_deref().unwrap_or_default())
                .map_err(|what| format!("model.{name}.base_url cannot be used: {what}"))?;
            if !server.key_env.iter().flatten().all(|variable| is_variable(variable)) {
                // Never quote the value: a key that was pasted here must not end up in a log.
                return Err(format!("model.{name}.key_env must contain names of variables, never the key itself").into());
            }
            if server.key_file.as_ref().is_some_and(|path| !path.is_absolute()) {
                return Err(format!("model.{name}.key_file must be an absolute path, never the key itself").into());
            }
            if server.key_command.as_ref().is_some_and(Vec::is_empty) {
                return Err(format!("model.{name}.key_command is empty").into());
            }
        }
        for (name, path) in [
            ("record", &self.record),
            ("recorded.folder", &self.recorded.folder),
            ("command.program", &self.command.program),
        ] {
            if path.as_ref().is_some_and(|path| !path.is_absolute()) {
                return Err(format!("model.{name} is not an absolute path").into());
            }
        }
        for (name, price) in [("input", self.price.input), ("output", self.price.output)] {
            if price.is_some_and(|price| !(0.0..=1e6).contains(&price)) {
                return Err(format!("model.price.{name} must be US dollars for a million tokens, 0 or more").into());
            }
        }
        let all = [("model.limits".to_owned(), self.limits.all)];
        let policies = self.limits.policy.iter().map(|(name, amounts)| (format!("model.limits.policy.{name}"), *amounts));
        for (place, amounts) in all.into_iter().chain(policies) {
            for (name, usd) in amounts.usd() {
                if usd.is_some_and(|usd| !(0.0..=1e6).contains(&usd)) {
                    return Err(format!("{place}.{name} must be US dollars, from 0 to 1000000").into());
                }
            }
        }
        Ok(())
    }
}

impl Amounts {
    /// Returns the limits in dollars with their names.
    pub fn usd(&self) -> [(&'static str, Option<f64>); 4] {
        [
            ("call_usd", self.call_usd),
            ("session_usd", self.session_usd),
            ("day_usd", self.day_usd),
            ("month_usd", self.month_usd),
        ]
    }

    /// Returns the limits in tokens with their names.
    pub fn tokens(&self) -> [(&'static str, Option<u64>); 4] {
        [
            ("call_tokens", self.call_tokens),
            ("session_tokens", self.session_tokens),
            ("day_tokens", self.day_tokens),
            ("month_tokens", self.month_tokens),
        ]
    }

    /// Returns whether a limit bounds what is spent over time.
    pub fn bound_time(&self) -> bool {
        self.day_tokens.is_some() || self.month_tokens.is_some() || self.day_usd.is_some() || self.month_usd.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(Settings::default().check(), Ok(()));
        let key = ["sk-", "abcdefgh12345678"].concat();
        for (text, words) in [
            ("timeout_ms = 1", "model.timeout_ms is 1"),
            ("openai.base_url = \"http://example.org/v1\"", "model.openai.base_url"),
            (&format!("anthropic.key_env = [\"{key}\"]"), "model.anthropic.key_env"),
            (&format!("gemini.key_file = \"{key}\""), "model.gemini.key_file"),
            ("openai.key_command = []", "key_command is empty"),
            ("record = \"here\"", "model.record"),
            ("price.input = -1.0", "model.price.input"),
            ("limits.day_usd = nan", "model.limits.day_usd"),
            ("limits.policy.a.call_usd = -0.5", "model.limits.policy.a.call_usd"),
        ] {
            let error = toml::from_str::<Settings>(text).unwrap().check().unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains(&key), "{text}: {error}");
        }
        assert!(toml::from_str::<Settings>("provider = \"openia\"").is_err());
    }
}
