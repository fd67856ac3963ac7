//! The agents' settings files: where they are, and how our hooks and our plugin get in and out of them without harm to anything
//! else.

pub mod agents;
mod hooks;
mod json;
mod plugin;

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

pub use agents::{Hook, Profile};
pub use hooks::{Malformed, Registration, is_set};
pub use plugin::{Plugin, plugin};

use crate::protocol::name::Agent;
use throughline_platform::files;
use throughline_platform::paths::Paths;

/// The largest settings file that is read, bytes.
const MOST_BYTES: u64 = 16 << 20;

/// The most links that are followed from a settings file.
const MOST_LINKS: u32 = 40;

/// Whom settings are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This user, in all projects.
    User,
    /// Everybody who works on the project: the file is meant to be committed.
    Project,
    /// This user in this project.
    Local,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// Claude Code's settings file, for the project around `folder`.
    pub fn file(self, paths: &Paths, folder: &Path) -> PathBuf {
        match self {
            Self::User => paths.claude.join("settings.json"),
            Self::Project => checkout(folder).join(".claude/settings.json"),
            Self::Local => checkout(folder).join(".claude/settings.local.json"),
        }
    }
}

/// The root of the work tree around `folder`, or the folder itself. Unlike a project's root it is a worktree's own: that
/// is where the client looks.
fn checkout(folder: &Path) -> &Path {
    folder.ancestors().find(|candidate| candidate.join(".git").exists()).unwrap_or(folder)
}

/// Settings files that an administrator wrote; users cannot change them.
pub fn managed() -> Vec<PathBuf> {
    let folder =
        Path::new(if cfg!(target_os = "macos") { "/Library/Application Support/ClaudeCode" } else { "/etc/claude-code" });
    let mut files = vec![folder.join("managed-settings.json")];
    let mut more: Vec<PathBuf> = fs::read_dir(folder.join("managed-settings.d"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    more.sort();
    files.extend(more);
    files
}

/// Why settings cannot be read or changed. The file is then as it was.
#[derive(Debug)]
pub enum SettingsError {
    /// It cannot be read.
    Unreadable(PathBuf, io::Error),
    /// It is not what the client reads either.
    Malformed(PathBuf, Malformed),
    /// It cannot be written.
    Unwritable(PathBuf, io::Error),
    /// Somebody else changed it at the same moment.
    Changed(PathBuf),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => {
                write!(f, "{} cannot be read: {error}", path.display())
            }
            Self::Malformed(path, what) => {
                write!(f, "{} is not valid: {what}", path.display())
            }
            Self::Unwritable(path, error) => {
                write!(f, "{} cannot be written: {error}", path.display())
            }
            Self::Changed(path) => write!(f, "{} was changed by another program at the same moment", path.display()),
        }
    }
}

impl std::error::Error for SettingsError {}

impl SettingsError {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable(..) | Self::Unwritable(..) => "check owner and mode of the file and its folder",
            Self::Malformed(..) => "mend it there; it was left as it is",
            Self::Changed(_) => "run the command again",
        }
    }
}

/// Whether settings that the client reads in `folder` register our hooks for the event, calling a program that is there. What a
/// plugin registers is not in them.
pub fn register(paths: &Paths, folder: &Path, event: &str, program: &Path) -> bool {
    let files = Scope::ALL.map(|scope| scope.file(paths, folder)).into_iter().chain(managed());
    files.filter_map(|file| Some((read(&file).ok()??, file))).any(|(text, file)| {
        let found = registered(Agent::ClaudeCode, &file, &text, program).unwrap_or_default();
        // A bare name is looked for on the client's PATH, which may be another.
        found.iter().any(|it| it.event == event && (it.program.is_relative() || it.program.is_file()))
    })
}

/// The text of a settings file; none where there is no file.
pub fn read(file: &Path) -> Result<Option<String>, SettingsError> {
    let unreadable = |error| SettingsError::Unreadable(file.into(), error);
    match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
        Ok(meta) if !meta.is_file() || meta.len() > MOST_BYTES => {
            return Err(unreadable(io::Error::other("it is no settings file")));
        }
        Ok(_) => {}
    }
    fs::read_to_string(file).map(Some).map_err(unreadable)
}

/// Our hooks in the text of the agent's `file`, in its order.
///
/// # Errors
///
/// It is not what the agent reads either.
pub fn registered(agent: Agent, file: &Path, text: &str, program: &Path) -> Result<Vec<Registration>, Malformed> {
    hooks::registered(text, &agents::layout(agent, file, text), program)
}

/// What a file says, whose reader takes comments too; none: it is no such file.
pub fn lenient(text: &str) -> Option<serde_json::Value> {
    json::Document::parse(text, json::Syntax::Comments).ok()?.get(&[])
}

/// A change of a settings file that has not been made yet.
#[derive(Debug)]
pub struct Change {
    agent: Agent,
    /// The file itself, behind any links.
    file: PathBuf,
    /// None: there is no file.
    before: Option<String>,
    /// None: it is removed, or not made.
    after: Option<String>,
}

impl Change {
    /// What it takes for our hooks to be in the agent's `file` and call `program`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not what the agent reads either.
    pub fn install(agent: Agent, file: &Path, program: &Path, profile: Option<Profile>) -> Result<Self, SettingsError> {
        Self::plan(agent, file, |text, layout, _| hooks::install(text, agent, layout, program, profile).map(Some))
    }

    /// What it takes for our plugin to be enabled in Claude Code's `file`, from the marketplace in `folder`, instead of hooks.
    ///
    /// # Errors
    ///
    /// As for [`Change::install`].
    pub fn install_plugin(file: &Path, program: &Path, folder: &Path) -> Result<Self, SettingsError> {
        Self::plan(Agent::ClaudeCode, file, |text, layout, _| {
            plugin::enable(&hooks::uninstall(text, Agent::ClaudeCode, layout, program)?, folder).map(Some)
        })
    }

    /// What it takes for neither to be there. Where the file is what `install` made of one that was kept, and nothing else was
    /// changed since, that one comes back; a file that holds nothing but hooks goes with the last of them.
    ///
    /// # Errors
    ///
    /// As for [`Change::install`].
    pub fn uninstall(agent: Agent, file: &Path, program: &Path, folder: &Path) -> Result<Self, SettingsError> {
        Self::plan(agent, file, |text, layout, file| {
            let mut after = hooks::uninstall(text, agent, layout, program)?;
            if agent == Agent::ClaudeCode {
                after = plugin::disable(&after, folder)?;
            }
            if after == text {
                return Ok(Some(after));
            }
            let present = hooks::registered(text, layout, program)?;
            let profile = Profile::of(agent, present.iter().map(|it| it.event.as_str()));
            let original = kept(file).find(|kept| {
                let layout = agents::layout(agent, file, kept);
                let is_without = hooks::registered(kept, &layout, program).is_ok_and(|found| found.is_empty());
                is_without && hooks::install(kept, agent, &layout, program, profile).is_ok_and(|it| it == text)
            });
            if original.is_some() {
                return Ok(original);
            }
            Ok((!layout.only_hooks || !hooks::is_empty(&after, layout)).then_some(after))
        })
    }

    fn plan(
        agent: Agent,
        file: &Path,
        edit: impl FnOnce(&str, &agents::Layout, &Path) -> Result<Option<String>, Malformed>,
    ) -> Result<Self, SettingsError> {
        let named = file;
        let file = behind_links(file).map_err(|e| SettingsError::Unreadable(file.into(), e))?;
        let before = read(&file)?;
        let text = before.as_deref().unwrap_or_default();
        let mut after = edit(text, &agents::layout(agent, named, text), &file)
            .map_err(|what| SettingsError::Malformed(file.clone(), what))?;
        if before.is_none() && after.as_deref() == Some("") {
            after = None;
        }
        Ok(Self { agent, file, before, after })
    }

    /// Events that will call `program` once the change is made.
    pub fn events(&self, program: &Path) -> Vec<String> {
        let after = self.after.as_deref().unwrap_or_default();
        let found = registered(self.agent, &self.file, after, program).unwrap_or_default();
        found.into_iter().map(|registration| registration.event).collect()
    }

    /// Whether the plugin is enabled once the change is made.
    pub fn has_plugin(&self) -> bool {
        let after = self.after.as_deref().unwrap_or_default();
        self.agent == Agent::ClaudeCode && plugin(after).is_ok_and(|plugin| plugin.is_some_and(|plugin| plugin.enabled))
    }

    /// Whose settings it changes.
    pub fn agent(&self) -> Agent {
        self.agent
    }

    /// The file that it changes.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether there is nothing to do.
    pub fn is_nothing(&self) -> bool {
        self.before == self.after
    }

    /// Whether the file goes as a whole.
    pub fn removes_file(&self) -> bool {
        self.before.is_some() && self.after.is_none()
    }

    /// The lines that change, with three around them.
    pub fn diff(&self) -> String {
        let name = self.file.display().to_string();
        let side = |text: &Option<String>| if text.is_some() { name.clone() } else { "/dev/null".into() };
        let (before, after) = (self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default());
        let (from, to) = (side(&self.before), side(&self.after));
        similar::TextDiff::from_lines(before, after).unified_diff().header(&from, &to).to_string()
    }

    /// Makes the change. Returns where the file as it was is kept; none where there was no file, or nothing to do.
    ///
    /// # Errors
    ///
    /// A file cannot be written, or was changed since the plan was made.
    pub fn apply(&self) -> Result<Option<PathBuf>, SettingsError> {
        if self.is_nothing() {
            return Ok(None);
        }
        let unwritable = |error| SettingsError::Unwritable(self.file.clone(), error);
        let mut mode = 0o600;
        let mut backup = None;
        if let Some(before) = &self.before {
            let meta = fs::metadata(&self.file).map_err(unwritable)?;
            mode = meta.permissions().mode() & 0o7777;
            backup = Some(keep(&self.file, before, mode).map_err(unwritable)?);
        } else if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(unwritable)?;
        }
        if read(&self.file)? != self.before {
            return Err(SettingsError::Changed(self.file.clone()));
        }
        match &self.after {
            Some(after) => files::replace(&self.file, after.as_bytes(), mode).map_err(unwritable)?,
            None => fs::remove_file(&self.file).map_err(unwritable)?,
        }
        Ok(backup)
    }
}

/// The backup of that number, from 1.
fn backup(file: &Path, number: u32) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".throughline-backup");
    if number > 1 {
        name.push(format!(".{number}"));
    }
    PathBuf::from(name)
}

/// What was kept of the file, the oldest first.
fn kept(file: &Path) -> impl Iterator<Item = String> {
    (1..).map_while(move |number| read(&backup(file, number)).ok().flatten())
}

/// Keeps `text` beside `file`. A backup that holds another text stays: it may be the only trace of how the file was before
/// we came; the new one then has a number.
fn keep(file: &Path, text: &str, mode: u32) -> io::Result<PathBuf> {
    let mut number = 1_u32;
    loop {
        let backup = backup(file, number);
        match fs::read_to_string(&backup) {
            Ok(kept) if kept == text => return Ok(backup),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                files::replace(&backup, text.as_bytes(), mode)?;
                return Ok(backup);
            }
            _ => number += 1,
        }
    }
}

/// The file that a settings file leads to, which need not exist: people keep theirs among their dotfiles.
fn behind_links(file: &Path) -> io::Result<PathBuf> {
    let mut file = std::path::absolute(file)?;
    for _ in 0..MOST_LINKS {
        match fs::read_link(&file) {
            Ok(target) => {
                file = file.parent().unwrap_or(Path::new("/")).join(target);
            }
            Err(_) => return Ok(file),
        }
    }
    Err(io::Error::other("too many links"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const PROGRAM: &str = "/opt/bin/throughline";

    fn install(file: &Path) -> Change {
        Change::install(Agent::ClaudeCode, file, Path::new(PROGRAM), None).unwrap()
    }

    fn mode(file: &Path) -> u32 {
        fs::metadata(file).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_new_file_is_private_and_has_no_backup() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("deep/settings.json");
        assert_eq!(install(&file).apply().unwrap(), None);
        assert_eq!(mode(&file), 0o600);
        assert!(install(&file).is_nothing());
    }

    #[test]
    fn links_modes_and_backups_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("dotfiles/claude.json");
        fs::create_dir(real.parent().unwrap()).unwrap();
        fs::write(&real, "{\"model\": \"opus\"}").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o644)).unwrap();
        let file = dir.path().join("settings.json");
        symlink("dotfiles/claude.json", &file).unwrap();

        let change = install(&file);
        assert!(change.diff().contains("\n-{\"model\": \"opus\"}\n"), "{}", change.diff());
        let first = change.apply().unwrap().unwrap();
        assert_eq!(fs::read_to_string(&first).unwrap(), "{\"model\": \"opus\"}");
        assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
        assert_eq!(mode(&real), 0o644);
        assert!(fs::read_to_string(&real).unwrap().contains(PROGRAM));

        let removed = Change::uninstall(Agent::ClaudeCode, &file, Path::new(PROGRAM), dir.path()).unwrap();
        let second = removed.apply().unwrap().unwrap();
        assert_ne!(first, second);
        // The same content as before has its backup already.
        fs::write(&real, "{\"model\": \"opus\"}").unwrap();
        assert_eq!(install(&file).apply().unwrap(), Some(first));
    }

    #[test]
    fn a_link_to_nothing_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        symlink("there.json", &file).unwrap();
        install(&file).apply().unwrap();
        assert!(dir.path().join("there.json").is_file());
        symlink("loop.json", dir.path().join("loop.json")).unwrap();
        assert!(Change::install(Agent::ClaudeCode, &dir.path().join("loop.json"), Path::new(PROGRAM), None).is_err());
    }

    #[test]
    fn what_changed_meanwhile_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        fs::write(&file, "{}").unwrap();
        let change = install(&file);
        fs::write(&file, "{\"a\": 1}").unwrap();
        assert!(matches!(change.apply(), Err(SettingsError::Changed(_))));
        assert_eq!(fs::read_to_string(&file).unwrap(), "{\"a\": 1}");
    }

    #[test]
    fn what_is_broken_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        fs::write(&file, "{ // mine\n}").unwrap();
        let error = Change::install(Agent::ClaudeCode, &file, Path::new(PROGRAM), None).unwrap_err();
        assert!(error.to_string().contains("line 1, column 3"), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "{ // mine\n}");
        assert!(Change::install(Agent::ClaudeCode, dir.path(), Path::new(PROGRAM), None).is_err());
    }

    #[test]
    fn scopes() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("repo/.git")).unwrap();
        fs::create_dir_all(dir.path().join("repo/src")).unwrap();
        assert_eq!(checkout(&dir.path().join("repo/src")), dir.path().join("repo"));
        assert_eq!(checkout(Path::new("/")), Path::new("/"));
    }
}
