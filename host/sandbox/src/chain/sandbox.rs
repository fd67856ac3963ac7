//! The engine, the cache of compiled components, and the default policy.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::cache::{Cache, Origin};
use crate::capability::Capabilities;
use crate::compile;
use crate::default_component;
use crate::engine::{EpochTicker, Limits};
use crate::instance::{LinkedPolicy, Terms};
use crate::registry::Candidate;
use crate::stage::Stage;

/// The SHA-256 of the default policy's component, in hexadecimal with a newline, built from core-wasm/ and committed.
const DEFAULT_DIGEST: &str = include_str!("../../default-policy/policy.wasm.sha256");

/// The default policy's name.
pub const DEFAULT_NAME: &str = "default";

/// The error if the default policy is not compiled yet and there is no time to compile it now.
#[derive(Debug)]
pub struct NotCompiled;

impl std::fmt::Display for NotCompiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the default policy is not compiled yet")
    }
}

impl std::error::Error for NotCompiled {}

/// Which policies may be compiled now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compiling {
    /// None. For a hook that can leave its work to a background process.
    Never,
    /// Only the default, until then. For a hook that needs it at once.
    Default(Instant),
    /// All, each until then at most. For commands and background processes.
    All(Instant),
}

impl Compiling {
    /// Returns the deadline for compiling the default, or `None` if it may not be compiled.
    pub fn default_until(self) -> Option<Instant> {
        match self {
            Self::Never => None,
            Self::Default(until) | Self::All(until) => Some(until),
        }
    }

    pub(super) fn others_until(self) -> Option<Instant> {
        match self {
            Self::Never | Self::Default(_) => None,
            Self::All(until) => Some(until),
        }
    }
}

/// Makes the compiled form of a component.
pub type Compile = fn(&[u8]) -> Result<Vec<u8>>;

/// The engine, the cache and the default policy, which all [`Policies`](super::Policies) of a process share.
pub struct Sandbox {
    clock: EpochTicker,
    pub(super) cache: Cache,
    compile: Compile,
    default: OnceCell<(Arc<LinkedPolicy>, Origin)>,
}

impl Sandbox {
    /// Creates a sandbox that keeps compiled components in `cache`, and has them compiled by the program beside this one.
    pub fn new(cache: Cache) -> Result<Self> {
        Self::compiling_with(compile::in_child, cache)
    }

    /// Creates a sandbox that compiles with this function. Tests have no program beside them.
    pub fn compiling_with(compile: Compile, cache: Cache) -> Result<Self> {
        Ok(Self { clock: EpochTicker::start()?, cache, compile, default: OnceCell::new() })
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        self.clock.engine()
    }

    /// The cache.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Returns the default policy and how it was loaded. If it is not compiled, it is compiled now, which takes a
    /// second, or another process's compilation is awaited until `until`. Without `until` the error is [`NotCompiled`].
    pub fn default_policy(&self, until: Option<Instant>) -> Result<(Arc<LinkedPolicy>, Origin)> {
        if let Some((loaded, origin)) = self.default.get() {
            return Ok((Arc::clone(loaded), *origin));
        }
        let digest = DEFAULT_DIGEST.trim();
        let (component, origin) = match (self.cache.load(self.engine(), digest), until) {
            (Some(component), _) => (component, Origin::Cached),
            (None, None) => return Err(NotCompiled.into()),
            (None, Some(until)) => self
                .cache
                .load_or_compile(self.engine(), digest, &default_component::bytes()?, until, self.compile)
                .context("the default policy cannot be loaded")?,
        };
        let terms = Terms {
            name: DEFAULT_NAME.into(),
            digest: digest.into(),
            capabilities: Capabilities::of_default(),
            stages: Stage::OF_DEFAULT.to_vec(),
            limits: Limits::of_default(),
        };
        let loaded = Arc::new(self.link(terms, &component)?);
        // Only the first call reports that it was compiled: one line in the log is enough.
        let _ = self.default.set((Arc::clone(&loaded), Origin::Cached));
        Ok((loaded, origin))
    }

    /// Links a component with these terms.
    pub fn link(&self, terms: Terms, component: &Component) -> Result<LinkedPolicy> {
        LinkedPolicy::link(terms, &self.clock, component)
    }

    /// Loads a policy's component, if its compiled form is cached.
    pub fn compiled(&self, candidate: &Candidate) -> Option<Component> {
        self.cache.load(self.engine(), &candidate.found.digest)
    }

    /// Loads a policy's component. If `until` is given, compiles it by then if necessary. Returns none if it is not
    /// compiled.
    pub fn component(&self, candidate: &Candidate, until: Option<Instant>) -> Result<Option<Component>> {
        if let Some(component) = self.compiled(candidate) {
            return Ok(Some(component));
        }
        let digest = &candidate.found.digest;
        let Some(until) = until.filter(|_| !self.cache.is_of_system()) else { return Ok(None) };
        let bytes = candidate.found.component(candidate.owner()).map_err(anyhow::Error::msg)?;
        Ok(Some(self.load_or_compile(digest, &bytes, until)?))
    }

    /// Loads a component of somebody else. If it is not compiled yet, it is compiled now; another
    /// process's compilation is awaited until `until`.
    pub fn load_or_compile(&self, digest: &str, wasm: &[u8], until: Instant) -> Result<Component> {
        self.cache.load_or_compile_stored(self.engine(), digest, wasm, until, self.compile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_digest_and_manifest_are_the_components() {
        assert_eq!(throughline_model::digest::sha256_hex(&default_component::bytes().unwrap()), DEFAULT_DIGEST.trim());
        let text = include_str!("../../default-policy/policy.toml");
        let manifest = crate::manifest::Manifest::parse(text).unwrap();
        assert_eq!(manifest.sha256.as_deref(), Some(DEFAULT_DIGEST.trim()));
        assert_eq!(manifest.name, DEFAULT_NAME);
        assert_eq!(manifest.stages.into_keys().collect::<Vec<_>>(), Stage::OF_DEFAULT);
        assert_eq!(manifest.capabilities, Capabilities::of_default());
    }
}
