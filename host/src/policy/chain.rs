//! Which policy serves a stage. In this version there is one: the default, embedded in the program.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::cache::{Cache, Origin};
use super::engine::{Clockwork, Limits};
use super::imports::Grants;
use super::instance::{Loaded, Running};

/// The default policy: the component and its SHA-256, built from core-wasm/ and committed.
const DEFAULT_WASM: &[u8] = include_bytes!("../../../policies/default/policy.wasm");
const DEFAULT_DIGEST: &str = include_str!("../../../policies/default/policy.wasm.sha256");

/// The default policy's name.
pub const DEFAULT_NAME: &str = "default";

/// The policies that are in force.
pub struct Policies {
    default: Loaded,
    /// What loading the default took.
    pub origin: Origin,
}

/// Nothing is compiled yet, and there is no time to do it now.
#[derive(Debug)]
pub struct NotCompiled;

impl std::fmt::Display for NotCompiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the default policy is not compiled yet")
    }
}

impl std::error::Error for NotCompiled {}

impl Policies {
    /// Loads what is in force; compiled components are kept in `cache`. Where they are not there yet, they are compiled,
    /// which takes a second, or waited for until `until`; without `until` that is [`NotCompiled`].
    pub fn load(cache: &Path, until: Option<Instant>) -> Result<Self> {
        let clock = Clockwork::start()?;
        let cache = Cache::new(cache);
        let digest = DEFAULT_DIGEST.trim();
        let (component, origin) = match (cache.load(clock.engine(), digest), until) {
            (Some(component), _) => (component, Origin::Cached),
            (None, None) => return Err(NotCompiled.into()),
            (None, Some(until)) => cache
                .load_or_compile(clock.engine(), digest, DEFAULT_WASM, until)
                .context("the default policy cannot be loaded")?,
        };
        let default = Loaded::link(DEFAULT_NAME, digest, &clock, &component, Limits::default())?;
        Ok(Self { default, origin })
    }

    /// Name and digest of the policy that extracts.
    pub fn extractor(&self) -> (&str, &str) {
        (&self.default.name, &self.default.digest)
    }

    /// Starts the policy with what it is granted.
    pub fn start(&self, grants: Grants) -> Result<Running<'_>> {
        self.default.start(grants)
    }

    /// Redacts texts in place, outside of any session: for the log. Where it fails, none of the texts may be used.
    pub fn redact(&self, texts: &mut [String]) -> Result<()> {
        self.start(Grants::default())?.redact(texts, Instant::now() + Duration::from_secs(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_digest_is_the_components() {
        assert_eq!(crate::digest::sha256_hex(DEFAULT_WASM), DEFAULT_DIGEST.trim());
    }
}
