//! Installs a policy in a folder of policies and removes it, completely or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::folder::{Owner, PolicyPackage};
use super::manifest;
use throughline_platform::files;
use throughline_platform::open::FolderOptions as _;
use throughline_platform::paths;

/// Copies a policy into `folder` under its own name. If there is a policy of that name, it is replaced if `replace` is
/// set; otherwise this fails.
pub fn add(found: &PolicyPackage, folder: &Path, replace: bool) -> Result<PathBuf> {
    let name = &found.manifest.name;
    let place = folder.join(name);
    if place.symlink_metadata().is_ok() && !replace {
        bail!("there already is a policy {name}: {}", place.display());
    }
    paths::create_private(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    let fresh = folder.join(format!(".{name}.{}.new", std::process::id()));
    let put = (|| -> Result<()> {
        clear(&fresh)?;
        fs::DirBuilder::new().private().create(&fresh)?;
        let text = fs::read(found.folder.join(manifest::FILE))?;
        if throughline_model::digest::sha256_hex(&text) != found.manifest_digest {
            bail!("its manifest changed during the installation");
        }
        let component = found.component(Owner::User).map_err(anyhow::Error::msg)?;
        if throughline_model::digest::sha256_hex(&component) != found.digest {
            bail!("its component changed during the installation");
        }
        files::replace_atomically(&fresh.join(manifest::FILE), &text, 0o600)?;
        files::replace_atomically(&fresh.join(&found.manifest.component), &component, 0o600)?;
        // The target of a folder's rename must be empty. A hook that comes in between does not find the policy and uses
        // the next one.
        clear(&place)?;
        Ok(fs::rename(&fresh, &place)?)
    })();
    if put.is_err() {
        let _ = clear(&fresh);
    }
    put.with_context(|| format!("{} cannot be installed in {}", found.folder.display(), folder.display()))?;
    Ok(place)
}

/// Removes the policy from its folder.
pub fn remove(found: &PolicyPackage) -> Result<()> {
    clear(&found.folder).with_context(|| format!("{} cannot be removed", found.folder.display()))
}

fn clear(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(folder),
        Ok(_) => fs::remove_file(folder),
    }
}
