//! The `[embedding]` section of the configuration.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use throughline_embedder_wire::{EncodingFormat, Endpoint, MAX_DIMS};
use throughline_model::invalid::Invalid;

/// The default OpenAI address.
pub const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

/// The default Gemini address.
pub const GEMINI_BASE_URL: &str = "https://generativelanguage.googleapis.com/v1beta";

/// The largest number of texts per request that every provider accepts: Gemini's limit.
const MAX_TEXTS: usize = 100;

/// The largest timeout that a user may set, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 600_000;

/// Which provider embeds texts, and how.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The provider to use.
    pub provider: ProviderSetting,
    /// For `auto`: the providers to try. The first one that is configured and answers is used.
    pub order: Vec<Provider>,
    /// The longest time for one request with all its retries, in milliseconds; for a model in a folder, for one text.
    pub timeout_ms: u64,
    /// The maximum number of texts per request.
    pub batch: usize,
    /// The section `[embedding.openai]`.
    pub openai: Openai,
    /// The section `[embedding.gemini]`.
    pub gemini: Gemini,
    /// The section `[embedding.folder]`.
    pub folder: Folder,
}

/// The values of `embedding.provider`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProviderSetting {
    /// The built-in model.
    Local,
    /// The first provider of `embedding.order` that is configured and answers.
    Auto,
    /// OpenAI only.
    Openai,
    /// Gemini only.
    Gemini,
    /// The model in a folder only.
    Folder,
    /// No embeddings: search by words only.
    None,
}

/// A provider of embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// The built-in model.
    Local,
    /// OpenAI, or an OpenAI-compatible server.
    Openai,
    /// Gemini.
    Gemini,
    /// A model of the BERT family in a folder.
    Folder,
}

/// An OpenAI-compatible server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Openai {
    /// The base URL, to which `/embeddings` is appended.
    pub base_url: String,
    /// The model's name on the server.
    pub model: String,
    /// How many numbers each vector should have; unset: the model's default.
    pub dimensions: Option<usize>,
    /// How the server should encode vectors.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub encoding_format: EncodingFormat,
    /// Environment variables that may hold the key; the first one that is set is used. Empty: the server needs no key.
    pub key_env: Vec<String>,
}

/// Gemini.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Gemini {
    /// The base URL, to which `/models/…` is appended.
    pub base_url: String,
    /// The model's name, without `models/`.
    pub model: String,
    /// How many numbers each vector should have; unset: the model's default.
    pub dimensions: Option<usize>,
    /// Environment variables that may hold the key; the first one that is set is used.
    pub key_env: Vec<String>,
}

/// A model on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Folder {
    /// A folder with `config.json`, `tokenizer.json` and `model.safetensors`.
    pub path: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            provider: ProviderSetting::Local,
            order: vec![Provider::Openai, Provider::Gemini, Provider::Local],
            timeout_ms: 10_000,
            batch: 96,
            openai: Openai::default(),
            gemini: Gemini::default(),
            folder: Folder::default(),
        }
    }
}

impl Default for Openai {
    fn default() -> Self {
        Self {
            base_url: OPENAI_BASE_URL.into(),
            model: "text-embedding-3-small".into(),
            dimensions: None,
            encoding_format: EncodingFormat::Float,
            key_env: vec!["OPENAI_API_KEY".into()],
        }
    }
}

impl Default for Gemini {
    fn default() -> Self {
        Self {
            base_url: GEMINI_BASE_URL.into(),
            model: "gemini-embedding-001".into(),
            dimensions: None,
            key_env: vec!["GEMINI_API_KEY".into(), "GOOGLE_API_KEY".into()],
        }
    }
}

impl Provider {
    /// Returns the provider's name in the configuration and in the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Openai => "openai",
            Self::Gemini => "gemini",
            Self::Folder => "folder",
        }
    }
}

impl Settings {
    /// Validates what the types cannot express. Errors name the setting and what is wrong with it.
    pub fn check(&self) -> Result<(), Invalid> {
        if !(1..=MAX_TEXTS).contains(&self.batch) {
            return Err(format!("embedding.batch is {}, but must be between 1 and {MAX_TEXTS}", self.batch).into());
        }
        if !(100..=MAX_TIMEOUT_MS).contains(&self.timeout_ms) {
            return Err(format!(
                "embedding.timeout_ms is {}, but must be between 100 and {MAX_TIMEOUT_MS}",
                self.timeout_ms
            )
            .into());
        }
        for (place, provider) in self.order.iter().enumerate() {
            if self.order[..place].contains(provider) {
                return Err(format!("embedding.order names {} twice", provider.name()).into());
            }
        }
        if self.provider == ProviderSetting::Auto && self.order.is_empty() {
            return Err("embedding.order is empty; to turn embeddings off, set embedding.provider to \"none\"".into());
        }
        let servers = [
            ("openai", &self.openai.base_url, &self.openai.model, self.openai.dimensions, &self.openai.key_env),
            ("gemini", &self.gemini.base_url, &self.gemini.model, self.gemini.dimensions, &self.gemini.key_env),
        ];
        for (name, base_url, model, dimensions, key_env) in servers {
            Endpoint::parse(base_url).map_err(|what| format!("embedding.{name}.base_url cannot be used: {what}"))?;
            if model.trim().is_empty() {
                return Err(format!("embedding.{name}.model is empty").into());
            }
            if let Some(dimensions) = dimensions.filter(|dimensions| !(1..=MAX_DIMS).contains(dimensions)) {
                return Err(
                    format!("embedding.{name}.dimensions is {dimensions}, but must be between 1 and {MAX_DIMS}").into()
                );
            }
            if !key_env.iter().all(|variable| is_variable(variable)) {
                // Never quote the value: a key that was pasted here must not end up in a log.
                return Err(format!("embedding.{name}.key_env must contain names of variables, never the key itself").into());
            }
        }
        match &self.folder.path {
            Some(path) if !path.is_absolute() => {
                Err(format!("embedding.folder.path is {}, which is not absolute", path.display()).into())
            }
            None if self.provider == ProviderSetting::Folder => {
                Err("embedding.provider is \"folder\", but embedding.folder.path is not set".into())
            }
            _ => Ok(()),
        }
    }
}

/// Returns whether `name` can be the name of a variable: capitals, digits and `_`. Hardly any key consists of only
/// these.
pub fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name.len() <= 100
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(Settings::default().check(), Ok(()));
        for (text, words) in [
            ("batch = 0", "embedding.batch is 0"),
            ("batch = 101", "embedding.batch is 101"),
            ("timeout_ms = 1", "embedding.timeout_ms is 1"),
            ("order = [\"local\", \"local\"]", "names local twice"),
            ("provider = \"auto\"\norder = []", "is empty"),
            ("provider = \"folder\"", "path is not set"),
            ("folder.path = \"models/x\"", "not absolute"),
            ("openai.base_url = \"http://example.org/v1\"", "embedding.openai.base_url"),
            ("gemini.base_url = \"https://me:pass@example.org\"", "embedding.gemini.base_url"),
            ("openai.dimensions = 0", "embedding.openai.dimensions is 0"),
            ("gemini.model = \" \"", "embedding.gemini.model"),
        ] {
            let error = toml::from_str::<Settings>(text).unwrap().check().unwrap_err();
            assert!(error.to_string().contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_key_in_the_file_is_refused_and_not_repeated() {
        let key = ["sk-", "abcdefgh12345678"].concat();
        let settings: Settings = toml::from_str(&format!("openai.key_env = [\"{key}\"]")).unwrap();
        assert!(!settings.check().unwrap_err().to_string().contains(&key));
    }
}
