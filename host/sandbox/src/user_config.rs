//! Reads and edits `policies.toml`, the user's decisions about policies: which are disabled, what each was granted, and
//! which projects are trusted. `throughline policy …` writes the file, and users may edit it by hand.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::capability::{Capabilities, Capability};
use super::folder::{Owner, check_folder_trusted, read_trusted};
use throughline_model::invalid::Invalid;
use throughline_platform::files;
use throughline_platform::paths;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

const HEAD: &str = "\
# Your decisions about policies. `throughline policy enable|disable|grant|revoke|trust` writes them; you may edit them too.
# [policy.NAME] is for your own policies, [project.\"FOLDER\"] for those that a project contains.
";

/// The decision about one policy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyDecision {
    /// Whether it may run.
    pub enabled: bool,
    /// The names of the granted capabilities.
    pub grants: Vec<String>,
}

impl Default for PolicyDecision {
    fn default() -> Self {
        Self { enabled: true, grants: Vec::new() }
    }
}

impl PolicyDecision {
    /// Returns the granted capabilities. An unknown name is an error.
    pub fn granted(&self) -> Result<Capabilities, Invalid> {
        Capabilities::parse(self.grants.iter().map(String::as_str))
    }
}

/// The decisions about a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Project {
    /// The digest of its policies when the user trusted them.
    pub trusted: Option<String>,
    /// The decisions about each of its policies.
    pub policy: BTreeMap<String, PolicyDecision>,
}

/// Why the decisions cannot be read: one line that names the file. Until it is repaired, only the default policy can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserConfigError(String);

impl UserConfigError {
    /// What the user can do about the error.
    pub const HINT: &str = "repair the file, or move it away and decide again";
}

impl fmt::Display for UserConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UserConfigError {}

/// All decisions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UserPolicyConfig {
    policy: BTreeMap<String, PolicyDecision>,
    project: BTreeMap<String, Project>,
}

/// Whose policy a decision is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionScope<'a> {
    /// The user's.
    User,
    /// That of the project with this root.
    Project(&'a Path),
}

impl UserPolicyConfig {
    /// Reads the file; a missing file contains no decisions. If the file is damaged, only the default policy can run,
    /// because the grants are then unknown.
    pub fn load(file: &Path) -> Result<Self, UserConfigError> {
        if file.symlink_metadata().is_err() {
            return Ok(Self::default());
        }
        if let Some(Err(what)) = file.parent().and_then(|folder| check_folder_trusted(folder, Owner::User)) {
            return Err(UserConfigError(format!("{}: its folder cannot be trusted: {what}", file.display())));
        }
        let because = |what: Invalid| UserConfigError(what.at(file.display()).into());
        let text = read_trusted(file, Owner::User, MAX_BYTES).map_err(because)?;
        toml::from_str(&text).map_err(|error| because(Invalid::because(error)))
    }

    /// Returns the decision about one policy.
    pub fn decision_for(&self, whose: DecisionScope<'_>, name: &str) -> PolicyDecision {
        let decided = match whose {
            DecisionScope::User => self.policy.get(name),
            DecisionScope::Project(root) => self.project(root).and_then(|project| project.policy.get(name)),
        };
        decided.cloned().unwrap_or_default()
    }

    /// Returns the decisions about a project.
    pub fn project(&self, root: &Path) -> Option<&Project> {
        self.project.get(root.to_str()?)
    }
}

/// The file, open for editing. Keeps comments and order.
pub struct UserConfigEditor {
    file: PathBuf,
    document: DocumentMut,
}

impl UserConfigEditor {
    /// Opens the file, or starts a new one.
    pub fn open(file: &Path) -> Result<Self> {
        // A damaged file must not be written to.
        UserPolicyConfig::load(file)?;
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read", file.display())),
        };
        let document = text.parse().with_context(|| format!("{} is damaged", file.display()))?;
        Ok(Self { file: file.to_owned(), document })
    }

    fn table(&mut self, path: &[&str]) -> &mut Table {
        let mut table = self.document.as_table_mut();
        for key in path {
            let item = table.entry(key).or_insert_with(|| {
                let mut table = Table::new();
                table.set_implicit(true);
                Item::Table(table)
            });
            if !item.is_table() {
                // The user wrote it as an inline table.
                *item = Item::Table(item.clone().into_table().unwrap_or_default());
            }
            table = item.as_table_mut().unwrap_or_else(|| unreachable!("it was just turned into a table"));
        }
        table
    }

    fn policy(&mut self, whose: DecisionScope<'_>, name: &str) -> &mut Table {
        match whose {
            DecisionScope::User => self.table(&["policy", name]),
            DecisionScope::Project(root) => {
                let root = root.to_string_lossy().into_owned();
                self.table(&["project", &root, "policy", name])
            }
        }
    }

    /// Enables or disables a policy.
    pub fn enable(&mut self, whose: DecisionScope<'_>, name: &str, enabled: bool) {
        self.policy(whose, name)["enabled"] = value(enabled);
    }

    /// Sets what a policy is granted.
    pub fn grant(&mut self, whose: DecisionScope<'_>, name: &str, granted: &Capabilities) {
        let names: Array = granted.list().iter().map(Capability::to_string).collect();
        self.policy(whose, name)["grants"] = value(names);
    }

    /// Deletes the decision about a policy.
    pub fn forget(&mut self, whose: DecisionScope<'_>, name: &str) {
        let policies = match whose {
            DecisionScope::User => self.table(&["policy"]),
            DecisionScope::Project(root) => {
                let root = root.to_string_lossy().into_owned();
                self.table(&["project", &root, "policy"])
            }
        };
        policies.remove(name);
    }

    /// Trusts a project's policies with this digest, or no longer trusts them.
    pub fn trust(&mut self, root: &Path, identity: Option<&str>) {
        let root = root.to_string_lossy().into_owned();
        let project = self.table(&["project", &root]);
        match identity {
            Some(identity) => project["trusted"] = value(identity),
            None => {
                project.remove("trusted");
            }
        }
    }

    /// Writes the file. A new file begins with a comment that says what it is.
    pub fn save(self) -> Result<()> {
        if let Some(folder) = self.file.parent() {
            paths::create_private(folder)?;
        }
        let mut text = self.document.to_string();
        if !self.file.exists() {
            text.insert_str(0, HEAD);
        }
        files::replace_atomically(&self.file, text.as_bytes(), 0o600)
            .with_context(|| format!("{} cannot be written", self.file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config/policies.toml");
        let root = Path::new("/home/me/a \"project\".x");
        let granted = Capabilities::parse(["transcript", "memories:decision"]).unwrap();
        let mut editor = UserConfigEditor::open(&file).unwrap();
        editor.enable(DecisionScope::User, "adr", false);
        editor.grant(DecisionScope::User, "adr", &granted);
        editor.trust(root, Some("abc"));
        editor.grant(DecisionScope::Project(root), "adr", &Capabilities::parse(["log"]).unwrap());
        editor.save().unwrap();

        let user_config = UserPolicyConfig::load(&file).unwrap();
        let own = user_config.decision_for(DecisionScope::User, "adr");
        assert!(!own.enabled);
        assert_eq!(own.granted().unwrap(), granted);
        assert!(user_config.decision_for(DecisionScope::User, "other").enabled);
        assert_eq!(user_config.project(root).unwrap().trusted.as_deref(), Some("abc"));
        assert_eq!(user_config.decision_for(DecisionScope::Project(root), "adr").grants, ["log"]);

        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("# Your decisions"), "{text}");
        fs::write(&file, text + "# mine\n").unwrap();
        let mut editor = UserConfigEditor::open(&file).unwrap();
        editor.trust(root, None);
        editor.forget(DecisionScope::User, "adr");
        editor.save().unwrap();
        let user_config = UserPolicyConfig::load(&file).unwrap();
        assert!(user_config.decision_for(DecisionScope::User, "adr").enabled);
        assert_eq!(user_config.project(root).unwrap().trusted, None);
        assert!(fs::read_to_string(&file).unwrap().contains("# mine"));
    }

    #[test]
    fn attack_decisions_that_others_may_write() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("policies.toml");
        fs::write(&file, "[policy.adr]\ngrants = [\"transcript\"]\n").unwrap();
        let load = || UserPolicyConfig::load(&file);
        for (path, mode, is_obeyed) in [
            (&file, 0o600, true),
            (&file, 0o666, false),
            (&file, 0o600, true),
            (&dir.path().to_path_buf(), 0o777, false),
            (&dir.path().to_path_buf(), 0o700, true),
        ] {
            throughline_platform::permissions::set_mode(path, mode).unwrap();
            assert_eq!(load().is_ok(), is_obeyed, "{mode:o} {}", path.display());
        }
    }

    #[test]
    fn a_damaged_file_is_an_error_and_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("policies.toml");
        fs::write(&file, "[policy.adr]\nenabeld = true\n").unwrap();
        assert!(UserPolicyConfig::load(&file).unwrap_err().to_string().contains("enabeld"));
        assert!(UserConfigEditor::open(&file).is_err());
    }
}
