//! Reads and writes `policies.lock`: the digests that the policies of a folder had when a person reviewed them. If the
//! file exists, only the policies in it run, and only if they are unchanged.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folder::{Owner, PolicyPackage, read_trusted};
use throughline_model::invalid::Invalid;
use throughline_platform::files;

/// The largest lock file, in bytes.
const MAX_BYTES: u64 = 256 << 10;

/// The version of the file format.
const VERSION: u32 = 1;

/// The contents of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    version: u32,
    #[serde(default, rename = "policy")]
    policies: Vec<Pin>,
}

/// One policy's digests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Pin {
    name: String,
    version: String,
    component_sha256: String,
    manifest_sha256: String,
}

/// Returns the path of a policy folder's lock file, which is beside the folder.
pub fn file_of(folder: &Path) -> PathBuf {
    folder.with_file_name("policies.lock")
}

impl Lock {
    /// Creates a lock of the current policies.
    pub fn of(policies: &[PolicyPackage]) -> Self {
        let pin = |found: &PolicyPackage| Pin {
            name: found.manifest.name.clone(),
            version: found.manifest.version.clone(),
            component_sha256: found.digest.clone(),
            manifest_sha256: found.manifest_digest.clone(),
        };
        Self { version: VERSION, policies: policies.iter().map(pin).collect() }
    }

    /// Reads the file, or `None` if there is no file.
    pub fn load(file: &Path, owner: Owner) -> Result<Option<Self>, Invalid> {
        if file.symlink_metadata().is_err() {
            return Ok(None);
        }
        let text = read_trusted(file, owner, MAX_BYTES).map_err(|what| what.at(file.display()))?;
        let lock: Self = toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        if lock.version != VERSION {
            return Err(format!("{} has version {}, but this program reads {VERSION}", file.display(), lock.version).into());
        }
        Ok(Some(lock))
    }

    /// Writes the file.
    pub fn write(&self, file: &Path) -> anyhow::Result<()> {
        let head = "# Written by `throughline policy lock`: policies that are not in this file, or have changed since, do not run.\n";
        files::replace_atomically(file, format!("{head}{}", toml::to_string(self)?).as_bytes(), 0o644)?;
        Ok(())
    }

    /// How many policies it names.
    pub fn len(&self) -> usize {
        self.policies.len()
    }

    /// Whether it names no policies; then none may run.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// Returns why this lock does not let the policy run, or `None` if it does.
    pub fn objection(&self, found: &PolicyPackage) -> Option<String> {
        let Some(pin) = self.policies.iter().find(|pin| pin.name == found.manifest.name) else {
            return Some("policies.lock does not name it".into());
        };
        if pin.component_sha256 != found.digest {
            return Some(format!(
                "policies.lock has another digest for its component ({})",
                &pin.component_sha256[..12.min(pin.component_sha256.len())]
            ));
        }
        (pin.manifest_sha256 != found.manifest_digest).then(|| "policies.lock has another digest for its manifest".into())
    }
}
