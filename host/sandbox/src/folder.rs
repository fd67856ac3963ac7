//! Finds the policies in a folder; each has a folder of its own with a manifest and a component. Nothing is opened that
//! another user could have put there or could change, that is a link, or that is larger than any policy.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::cache::Cache;
use super::engine::Limits;
use super::instance::Terms;
use super::manifest::{self, Manifest};
use throughline_model::digest::sha256_hex;
use throughline_model::invalid::Invalid;
use throughline_platform::open::{is_link_error, open_no_follow};
pub use throughline_platform::permissions::Owner;
use throughline_platform::permissions::distrust_reason;

/// The largest component, in bytes. A Python policy has 18 MiB.
pub const MAX_COMPONENT_BYTES: u64 = 64 << 20;

/// The largest manifest, in bytes.
const MAX_MANIFEST_BYTES: u64 = 64 << 10;

/// How many policies one folder may hold.
const MAX_POLICIES: usize = 64;

/// Where a policy comes from, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Embedded in the program.
    Default,
    /// The user's folder.
    User,
    /// The project's folder.
    Project,
    /// The system's folder, which only the administrator can write to.
    Managed,
}

impl Source {
    /// Returns the word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User => "user",
            Self::Project => "project",
            Self::Managed => "managed",
        }
    }
}

/// A policy in a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyPackage {
    /// Its folder.
    pub folder: PathBuf,
    /// Its parsed manifest.
    pub manifest: Manifest,
    /// SHA-256 of the manifest, hexadecimal.
    pub manifest_digest: String,
    /// SHA-256 of the current component, hexadecimal.
    pub digest: String,
}

/// An entry in a policy folder that is not a usable policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BrokenPolicy {
    /// The folder or file.
    pub path: PathBuf,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub hint: String,
    /// The name in its manifest, if the manifest says that nothing may be kept without the policy.
    #[serde(skip)]
    pub required: Option<String>,
}

impl BrokenPolicy {
    /// Describes an entry without which everything else may go on.
    pub(crate) fn new(path: &Path, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { path: path.to_owned(), what: what.into(), hint: hint.into(), required: None }
    }
}

/// Opens a regular file of at most `most` bytes that can be trusted.
pub fn open_trusted(path: &Path, owner: Owner, most: u64) -> Result<File, Invalid> {
    let file = open_no_follow(path).map_err(|error| match error {
        error if is_link_error(&error) => "it is a link, and links are not followed".into(),
        error => format!("it cannot be opened: {error}"),
    })?;
    let meta = file.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("it is not a regular file".into());
    }
    if let Some(what) = distrust_reason(&meta, owner) {
        return Err(what.into());
    }
    if meta.len() > most {
        return Err(format!("it has {} bytes, but only {most} are allowed", meta.len()).into());
    }
    Ok(file)
}

/// Reads the text of a file that can be trusted.
pub fn read_trusted(path: &Path, owner: Owner, most: u64) -> Result<String, Invalid> {
    let mut text = String::new();
    open_trusted(path, owner, most)?
        .take(most + 1)
        .read_to_string(&mut text)
        .map_err(|error| format!("it cannot be read: {error}"))?;
    if text.len() as u64 > most {
        return Err(format!("it has more than {most} bytes").into());
    }
    Ok(text)
}

/// Whether the folder can be trusted; none if there is no such folder.
pub fn check_folder_trusted(path: &Path, owner: Owner) -> Option<Result<(), Invalid>> {
    let file = match open_no_follow(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return None,
        Err(error) if is_link_error(&error) => return Some(Err("it is a link, and links are not followed".into())),
        Err(error) => return Some(Err(format!("it cannot be opened: {error}").into())),
        Ok(file) => file,
    };
    Some(match file.metadata() {
        Err(error) => Err(Invalid::because(error)),
        Ok(meta) if !meta.is_dir() => Err("it is not a folder".into()),
        Ok(meta) => distrust_reason(&meta, owner).map_or(Ok(()), |what| Err(what.into())),
    })
}

/// Returns the policies in `folder`, by name, and the entries that are not usable policies.
pub fn scan(folder: &Path, owner: Owner, cache: &Cache) -> (Vec<PolicyPackage>, Vec<BrokenPolicy>) {
    let mut broken = Vec::new();
    match check_folder_trusted(folder, owner) {
        None => return (Vec::new(), broken),
        Some(Err(what)) => {
            broken.push(BrokenPolicy::new(folder, what, repair(folder)));
            return (Vec::new(), broken);
        }
        Some(Ok(())) => {}
    }
    let mut paths: Vec<PathBuf> = match std::fs::read_dir(folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) => {
            broken.push(BrokenPolicy::new(folder, error.to_string(), repair(folder)));
            return (Vec::new(), broken);
        }
    };
    paths.retain(|path| !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")));
    paths.sort();
    if paths.len() > MAX_POLICIES {
        let what = format!("it has {} entries, but only the first {MAX_POLICIES} are read", paths.len());
        broken.push(BrokenPolicy::new(folder, what, "remove the entries that are not needed"));
        paths.truncate(MAX_POLICIES);
    }
    let mut found: Vec<PolicyPackage> = Vec::new();
    for path in paths {
        // A component beside the folders was probably dropped there by mistake, so it is reported.
        let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
        let is_component = path.extension().is_some_and(|extension| extension == "wasm" || extension == "cwasm");
        if is_file && !is_component {
            continue;
        }
        match read(&path, owner, cache) {
            Ok(policy) => found.push(policy),
            Err(broke) => broken.push(broke),
        }
    }
    found.sort_by(|a, b| a.manifest.name.cmp(&b.manifest.name));
    found.dedup_by(|again, first| {
        let same = again.manifest.name == first.manifest.name;
        if same {
            let what = format!("it has the same name as {}", first.folder.display());
            let required = (again.manifest.required && !first.manifest.required).then(|| again.manifest.name.clone());
            let entry = BrokenPolicy::new(&again.folder, what, "give one of them another name");
            broken.push(BrokenPolicy { required, ..entry });
        }
        same
    });
    (found, broken)
}

fn repair(path: &Path) -> String {
    format!("inspect it: ls -ld {0}; to let only yourself write to it: chmod go-w {0}", path.display())
}

/// Reads one policy.
pub fn read(folder: &Path, owner: Owner, cache: &Cache) -> Result<PolicyPackage, BrokenPolicy> {
    let broken = |path: &Path, what: Invalid, hint: String| BrokenPolicy::new(path, what, hint);
    match check_folder_trusted(folder, owner) {
        None => return Err(broken(folder, "it does not exist".into(), "check the path".into())),
        Some(Err(what)) if folder.is_file() => {
            return Err(broken(folder, what, "a policy is a folder with policy.toml and a component".into()));
        }
        Some(Err(what)) => return Err(broken(folder, what, repair(folder))),
        Some(Ok(())) => {}
    }
    let file = folder.join(manifest::FILE);
    if file.symlink_metadata().is_err() {
        return Err(broken(
            folder,
            format!("it has no {}", manifest::FILE).into(),
            "`throughline policy build` makes a folder that can be installed".into(),
        ));
    }
    let text = read_trusted(&file, owner, MAX_MANIFEST_BYTES).map_err(|what| broken(&file, what, repair(&file)))?;
    let parsed =
        Manifest::parse(&text).map_err(|what| broken(&file, what, "see docs/policy.schema.json for the format".into()))?;
    // Without its component, a redactor does not run. A required one still says that nothing may be kept then.
    let broken = |path: &Path, what, hint| BrokenPolicy {
        required: parsed.required.then(|| parsed.name.clone()),
        ..broken(path, what, hint)
    };
    let component = folder.join(&parsed.component);
    if component.symlink_metadata().is_err() {
        return Err(broken(
            folder,
            format!("the component {} does not exist", parsed.component).into(),
            format!("to build a source folder: throughline policy build {}", folder.display()),
        ));
    }
    let mut opened =
        open_trusted(&component, owner, MAX_COMPONENT_BYTES).map_err(|what| broken(&component, what, repair(&component)))?;
    let digest = cache
        .digest(&mut opened)
        .map_err(|error| broken(&component, format!("it cannot be read: {error}").into(), repair(&component)))?;
    Ok(PolicyPackage { folder: folder.to_owned(), manifest: parsed, manifest_digest: sha256_hex(text.as_bytes()), digest })
}

impl PolicyPackage {
    /// Returns the terms for loading its component with these limits and all capabilities that it requests.
    pub fn terms(&self, limits: Limits) -> Terms {
        Terms {
            name: self.manifest.name.clone(),
            digest: self.digest.clone(),
            capabilities: self.manifest.capabilities.clone(),
            stages: self.manifest.stages.keys().copied().collect(),
            limits,
        }
    }

    /// Returns the component's bytes. The caller must compare them with [`PolicyPackage::digest`].
    pub fn component(&self, owner: Owner) -> Result<Vec<u8>, Invalid> {
        let mut file = open_trusted(&self.folder.join(&self.manifest.component), owner, MAX_COMPONENT_BYTES)?;
        read_whole(&mut file).map_err(Invalid::because)
    }

    /// Returns a digest of the whole policy: the manifest and the component.
    pub fn identity(&self) -> String {
        sha256_hex(format!("{}\n{}\n", self.manifest_digest, self.digest).as_bytes())
    }
}

/// Reads the whole file from its beginning.
pub fn read_whole(file: &mut File) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(MAX_COMPONENT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_COMPONENT_BYTES {
        return Err(io::Error::other("the file has grown"));
    }
    Ok(bytes)
}

/// Returns one digest over all policies of a folder, ordered by name. Trusting a folder records this digest. Entries that
/// are not policies are never loaded and do not count.
pub fn identity(policies: &[PolicyPackage]) -> String {
    let lines: Vec<String> =
        policies.iter().map(|policy| format!("{} {}", policy.manifest.name, policy.identity())).collect();
    sha256_hex(lines.join("\n").as_bytes())
}
