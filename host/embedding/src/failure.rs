//! Embedding failures and hints about what to do.

use std::fmt;
use std::time::Duration;

use throughline_embedder_wire::{Fault, FaultKind};

use super::process::PROGRAM;
use super::settings::{Provider, Settings};

/// Why a provider returned no vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingFailure {
    /// The provider that failed.
    pub provider: Provider,
    /// What happened and where, without a full stop. It never contains a key.
    pub what: String,
    /// What the user can do about it.
    pub hint: String,
    /// Whether the same request may succeed later without any change.
    pub is_retryable: bool,
    /// How long the provider asks clients to wait.
    pub retry_after: Option<Duration>,
}

impl fmt::Display for EmbeddingFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "embeddings of {}: {}", self.provider.name(), self.what)
    }
}

impl std::error::Error for EmbeddingFailure {}

impl EmbeddingFailure {
    /// Creates the failure of a provider that lacks a required setting or key.
    pub(super) fn not_configured(settings: &Settings, provider: Provider, what: String) -> Self {
        let kind = if provider == Provider::Folder { FaultKind::Request } else { FaultKind::Key };
        Self::new(settings, provider, Fault::permanent(kind, what))
    }

    /// Creates a failure from a fault and adds a hint.
    pub(super) fn new(settings: &Settings, provider: Provider, fault: Fault) -> Self {
        let section = provider.name();
        let hint = match fault.kind {
            FaultKind::Key if provider.key_env(settings).is_empty() => {
                format!("set embedding.{section}.key_env to the name of the variable that holds the key")
            }
            FaultKind::Key => {
                let names = provider.key_env(settings).join(" or ");
                format!("set {names} to a valid key, or choose another embedding.provider")
            }
            FaultKind::Unsupported if provider == Provider::Folder => {
                format!(
                    "install {PROGRAM} with its feature \"folder\" beside throughline, or choose another embedding.provider"
                )
            }
            FaultKind::Unsupported => {
                format!("install {PROGRAM} beside throughline, or set embedding.provider to \"local\"")
            }
            FaultKind::Rate if fault.retryable => "no action is needed: it will be tried again later".into(),
            FaultKind::Rate => "check the account's limits, or choose another embedding.provider".into(),
            FaultKind::Timeout if provider == Provider::Folder => {
                "raise embedding.timeout_ms, or use a smaller model".into()
            }
            FaultKind::Timeout => "check the network and the server, or raise embedding.timeout_ms".into(),
            FaultKind::Connection => format!("check the network, the proxy variables and embedding.{section}.base_url"),
            FaultKind::Server => "check the server's status; it will be tried again later".into(),
            FaultKind::Request | FaultKind::Refused => format!("check [embedding.{section}] in the configuration"),
            FaultKind::Answer if provider == Provider::Folder => {
                format!("install throughline and {PROGRAM} in the same version")
            }
            FaultKind::Answer => {
                format!("check embedding.{section}.base_url, model and dimensions: the server may use another protocol")
            }
            FaultKind::Model => "check embedding.folder.path: it must contain a model of the BERT family".into(),
        };
        Self {
            provider,
            what: fault.message,
            hint,
            is_retryable: fault.retryable,
            retry_after: fault.retry_after_ms.map(Duration::from_millis),
        }
    }
}
