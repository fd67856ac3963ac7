//! A policy's source folder, and the installable folder that is made from it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use toml_edit::{DocumentMut, value};

use throughline_model::digest::sha256_hex;
use throughline_platform::files;
use throughline_sandbox::manifest::{self, Build, Language, Manifest};

/// The result of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltPolicy {
    /// The policy's name.
    pub name: String,
    /// The folder to install: `policy.toml` and the component.
    pub folder: PathBuf,
    /// The component's size, bytes.
    pub bytes: u64,
    /// The component's SHA-256, hexadecimal.
    pub digest: String,
}

/// A source folder, as its manifest describes it.
pub(super) struct PolicySource {
    /// The absolute path.
    pub(super) folder: PathBuf,
    pub(super) manifest: DocumentMut,
    pub(super) name: String,
    /// The component's file name.
    pub(super) component: String,
    pub(super) language: Language,
    /// The contract's world that it targets.
    pub(super) world: String,
}

impl PolicySource {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let folder = folder.canonicalize().with_context(|| format!("there is no folder {}", folder.display()))?;
        let file = folder.join(manifest::FILE);
        let text = fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
        let read = || -> Result<Self> {
            let Manifest { name, component, build, .. } = Manifest::parse(&text).map_err(anyhow::Error::msg)?;
            let Some(Build { language, world }) = build else {
                bail!("it has no [build]: this is not a source folder, or it is the result of a build");
            };
            Ok(Self { folder: folder.clone(), manifest: text.parse()?, name, component, language, world })
        };
        read().with_context(|| format!("{} cannot be built", file.display()))
    }

    /// Creates and returns the folder for intermediate files, which git ignores.
    pub(super) fn scratch(&self) -> Result<PathBuf> {
        let scratch = self.folder.join(".build");
        fs::create_dir_all(&scratch).with_context(|| format!("{} cannot be created", scratch.display()))?;
        Ok(scratch)
    }

    /// Writes the installable folder. The manifest is written last, so that a reader that comes in between sees a
    /// digest that does not match.
    pub(super) fn install(&self, component: &[u8]) -> Result<BuiltPolicy> {
        let folder = self.folder.join("dist").join(&self.name);
        let digest = sha256_hex(component);
        let text = installed_manifest(&self.manifest, &digest);
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(&folder)?;
            files::replace_atomically(&folder.join(&self.component), component, 0o644)?;
            files::replace_atomically(&folder.join(manifest::FILE), text.as_bytes(), 0o644)
        };
        write().with_context(|| format!("{} cannot be written", folder.display()))?;
        Ok(BuiltPolicy { name: self.name.clone(), folder, bytes: component.len() as u64, digest })
    }
}

/// Returns the manifest without `[build]`, with the digest after the component's name.
fn installed_manifest(source: &DocumentMut, digest: &str) -> String {
    let mut manifest = source.clone();
    manifest.remove("build");
    // Otherwise the key would keep its old position.
    manifest.remove("sha256");
    let mut order: Vec<String> = manifest.iter().map(|(key, _)| key.to_owned()).collect();
    let after = order.iter().position(|key| key == "component").map_or(order.len(), |at| at + 1);
    order.insert(after, "sha256".into());
    manifest.insert("sha256", value(digest));
    let place = |key: &toml_edit::Key| order.iter().position(|other| other == key.get());
    manifest.sort_values_by(|a, _, b, _| place(a).cmp(&place(b)));
    manifest.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "# A comment.\nname = \"x\"\nversion = \"1\"\ndescription = \"\"\ncontract = \"0.1.0\"\ncomponent = \"policy.wasm\" # the file\n\n# Stages.\n[stages]\n# Adds.\nredactor = \"add\"\n\n# How it is made.\n[build]\nlanguage = \"rust\"\nworld = \"redactor-policy\"\n";

    fn source(manifest: &str) -> (tempfile::TempDir, Result<PolicySource>) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("policy.toml"), manifest).unwrap();
        let source = PolicySource::read(dir.path());
        (dir, source)
    }

    #[test]
    fn the_manifest_keeps_its_text_and_gains_the_digest() {
        let expected = "# A comment.\nname = \"x\"\nversion = \"1\"\ndescription = \"\"\ncontract = \"0.1.0\"\ncomponent = \"policy.wasm\" # the file\nsha256 = \"00ff\"\n\n# Stages.\n[stages]\n# Adds.\nredactor = \"add\"\n";
        assert_eq!(installed_manifest(&MANIFEST.parse().unwrap(), "00ff"), expected);
        let old = MANIFEST.replace("# A comment.\n", "sha256 = \"old\"\n");
        let new = installed_manifest(&old.parse().unwrap(), "00ff");
        assert!(new.contains("# the file\nsha256 = \"00ff\"\n") && !new.contains("old"), "{new}");
    }

    #[test]
    fn the_folder_to_drop_in_holds_both_files() {
        let (dir, source) = source(MANIFEST);
        let built = source.unwrap().install(super::super::COMPONENT_HEADER).unwrap();
        assert_eq!(built.folder, dir.path().canonicalize().unwrap().join("dist/x"));
        assert_eq!((built.bytes, built.digest.as_str()), (8, sha256_hex(super::super::COMPONENT_HEADER).as_str()));
        assert_eq!(fs::read(built.folder.join("policy.wasm")).unwrap(), super::super::COMPONENT_HEADER);
        assert!(fs::read_to_string(built.folder.join("policy.toml")).unwrap().contains(&built.digest));
    }

    #[test]
    fn what_is_no_source_is_said() {
        for (manifest, said) in [
            (MANIFEST.split("# How").next().unwrap().to_owned(), "no [build]"),
            (MANIFEST.replace("\"rust\"", "\"cobol\""), "cobol"),
            (MANIFEST.replace("\"x\"", "\"../x\""), "../x"),
            (MANIFEST.replace("\"policy.wasm\"", "\"../policy.wasm\""), "must be a file name"),
            (MANIFEST.replace("world", "word"), "word"),
            ("name = ".to_owned(), "cannot be built"),
        ] {
            let error = source(&manifest).1.err().map(|error| format!("{error:#}")).unwrap_or_default();
            assert!(error.contains(said), "{said}: {error}");
        }
    }
}
