//! The agents' settings files: where they are, and how Throughline's hooks and plugin are added and removed without
//! touching anything else.
//!
//! [`agents`] is the one table: for each agent its events, what we do at each and how long that may take, where its
//! files are, and which form hooks have in them (in groups or not, a program or a line for a shell, seconds or
//! milliseconds, comments or not). [`hooks`] applies the table, and [`json`] edits the text. A [`Change`] is an edit
//! that can be shown as a difference before it is applied.
//!
//! A file is edited as text. [`json`] makes JSON of the same length from it, with blanks for comments and trailing
//! commas, lets serde find where each value is, and splices. Removing is the inverse of adding. Where a layout leaves
//! that open (was an empty object on one line or two?), `uninstall` looks at the backups: if `install` would turn one
//! of them into the current file, that backup is restored as a whole.
//!
//! [`client`] says where each client has its MCP servers, and [`server`] adds and removes ours: in JSON with the same editor,
//! in TOML with `toml_edit`, and in YAML line by line.
//!
//! [`mod@prompt_hook`] handles the only hook that is not a command: a condition that Claude Code's small model checks at the end of
//! a turn.
//!
//! A registered command carries `--agent NAME`, and the event's name where payloads do not name their event (Copilot
//! CLI). It has the program's absolute path, or, in a project's settings that others use too, a shell that looks the
//! program up and does nothing where it is missing. Where an agent takes a line for a shell, words are quoted for POSIX
//! shells and fish alike.
//!
//! - *Codex CLI* trusts a hook by a hash of command and timeout. So a line that works is never rewritten.
//! - *droid* reads `hooks.json` before the `hooks` of its settings. So that file is used if it exists and is never
//!   created: it would hide somebody's hooks in the settings.
//! - *opencode*, *pi* and *Amp* have no settings for hooks. [`plugin_file`] writes a plugin, a file of our own.
//! - *Goose* reads hooks from a plugin's folder, and shows the model nothing that they say.
//! - *Cursor* and *Copilot CLI* also run the hooks in Claude Code's settings, which `install` and `doctor` say.

pub mod agents;
mod client;
mod handler;
mod hooks;
mod json;
mod malformed;
mod plugin;
pub mod plugin_file;
mod prompt_hook;
mod scope;
mod server;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use agents::{Hook, Profile};
pub use client::{Client, Target};
pub use handler::BY_NAME;
pub use hooks::{Registration, is_set};
pub use malformed::Malformed;
pub use plugin::{Plugin, plugin};
pub use prompt_hook::{PromptHook, prompt_hook};
pub use scope::Scope;

use crate::protocol::name::Agent;
use throughline_platform::files;
use throughline_platform::paths::Paths;
use throughline_platform::permissions;

/// The largest settings file that is read, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// How many symbolic links are followed from a settings file at most.
const MAX_LINKS: u32 = 40;

/// Returns the settings files that an administrator wrote. Users cannot change them.
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

/// Why settings cannot be read or changed. The file is left unchanged.
#[derive(Debug)]
pub enum SettingsError {
    /// The file cannot be read.
    Unreadable(PathBuf, io::Error),
    /// The agent could not read the file either.
    Malformed(PathBuf, Malformed),
    /// The file cannot be written.
    Unwritable(PathBuf, io::Error),
    /// Another program changed the file at the same time.
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
            Self::Changed(path) => write!(f, "{} was changed by another program at the same time", path.display()),
        }
    }
}

impl std::error::Error for SettingsError {}

impl SettingsError {
    /// Returns what the user can do about the error.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable(..) | Self::Unwritable(..) => "check the owner and the permissions of the file and its folder",
            Self::Malformed(..) => "fix the file; it was not changed",
            Self::Changed(_) => "run the command again",
        }
    }
}

/// Returns whether settings that Claude Code reads in `folder` register Throughline's hook for the event, with a
/// program that exists. A plugin's hooks are not in these files.
pub fn register(paths: &Paths, folder: &Path, event: &str, program: &Path) -> bool {
    let files = Scope::ALL.map(|scope| scope.file(paths, folder)).into_iter().chain(managed());
    files.filter_map(|file| Some((read(&file).ok()??, file))).any(|(text, file)| {
        let found = registered(Agent::ClaudeCode, &file, &text, program).unwrap_or_default();
        // A bare name is resolved with the agent's PATH, which may be a different one.
        found.iter().any(|it| it.event == event && (it.program.is_relative() || it.program.is_file()))
    })
}

/// Returns the text of a settings file, or `None` if the file does not exist.
pub fn read(file: &Path) -> Result<Option<String>, SettingsError> {
    let unreadable = |error| SettingsError::Unreadable(file.into(), error);
    match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
        Ok(meta) if !meta.is_file() || meta.len() > MAX_BYTES => {
            return Err(unreadable(io::Error::other("it is not a regular file, or it is too large")));
        }
        Ok(_) => {}
    }
    fs::read_to_string(file).map(Some).map_err(unreadable)
}

/// Returns Throughline's hooks in the text of the agent's `file`, in the order of the text.
///
/// # Errors
///
/// The text is not valid settings for the agent either.
pub fn registered(agent: Agent, file: &Path, text: &str, program: &Path) -> Result<Vec<Registration>, Malformed> {
    hooks::registered(text, &agents::layout(agent, file, text), program)
}

/// Parses a file that may contain comments. Returns `None` if it cannot be parsed.
pub fn parse_lenient(text: &str) -> Option<serde_json::Value> {
    json::Document::parse(text, json::Syntax::Comments).ok()?.get(&[])
}

/// Returns the program that Throughline's MCP server in the client's file calls, or `None` if it is not registered there.
///
/// # Errors
///
/// The text is not valid settings for the client either.
pub fn registered_server(client: Client, text: &str, program: &Path) -> Result<Option<PathBuf>, Malformed> {
    server::registered(text, client.server_format(), program)
}

/// Returns the programs that Throughline's hooks and server in `text`, the content of the client's file, call.
pub fn called(client: Client, target: &Target, text: &str, program: &Path) -> Vec<PathBuf> {
    let hooks =
        client.agent().filter(|_| target.hooks).and_then(|agent| registered(agent, &target.file, text, program).ok());
    let server = if target.servers { registered_server(client, text, program).ok().flatten() } else { None };
    hooks.into_iter().flatten().map(|hook| hook.program).chain(server).collect()
}

/// Plans to let those hooks and that server of the file that are registered call `program`.
///
/// # Errors
///
/// As for [`Change::install`].
pub fn update(client: Client, target: &Target, text: &str, program: &Path) -> Result<Change, SettingsError> {
    let hooks = client.agent().filter(|agent| {
        target.hooks && registered(*agent, &target.file, text, program).is_ok_and(|found| !found.is_empty())
    });
    let has_server = target.servers && registered_server(client, text, program).is_ok_and(|found| found.is_some());
    match hooks {
        Some(agent) => {
            let change = Change::install(agent, &target.file, program, None)?;
            if has_server { change.and_server(program) } else { Ok(change) }
        }
        None if has_server => Change::register_server(client, &target.file, program),
        None => Change::plan(client, &target.file, |text, _| Ok(Some(text.to_owned()))),
    }
}

/// A planned change of a settings file.
#[derive(Debug)]
pub struct Change {
    client: Client,
    /// The file itself, after following links.
    file: PathBuf,
    /// The current text; `None` if the file does not exist.
    before: Option<String>,
    /// The new text; `None` if the file is to be removed, or not to be created.
    after: Option<String>,
}

impl Change {
    /// Plans the installation of Throughline's hooks, which call `program`, in the agent's `file`. A prompt hook that is
    /// registered there is brought up to date.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not valid settings for the agent either.
    pub fn install(agent: Agent, file: &Path, program: &Path, profile: Option<Profile>) -> Result<Self, SettingsError> {
        Self::plan(agent.into(), file, |text, _| {
            let layout = agents::layout(agent, file, text);
            let with = hooks::install(text, agent, &layout, program, profile)?;
            let has_prompt_hook = agent == Agent::ClaudeCode && prompt_hook(&with)?.is_some();
            Ok(Some(if has_prompt_hook { prompt_hook::add(&with)? } else { with }))
        })
    }

    /// Also plans to register the prompt hook in Claude Code's settings file, or to remove it if `wanted` is false.
    ///
    /// # Errors
    ///
    /// As for [`Change::install`].
    pub fn with_prompt_hook(mut self, wanted: bool) -> Result<Self, SettingsError> {
        if let Some(text) = &self.after {
            let edited = if wanted { prompt_hook::add(text) } else { prompt_hook::remove(text) };
            self.after = Some(edited.map_err(|what| SettingsError::Malformed(self.file.clone(), what))?);
        }
        Ok(self)
    }

    /// Plans to enable Throughline's plugin, from the marketplace in `folder`, in Claude Code's `file`, in place of
    /// hooks.
    ///
    /// # Errors
    ///
    /// As for [`Change::install`].
    pub fn install_plugin(file: &Path, program: &Path, folder: &Path) -> Result<Self, SettingsError> {
        Self::plan(Agent::ClaudeCode.into(), file, |text, _| {
            let layout = agents::layout(Agent::ClaudeCode, file, text);
            plugin::enable(&hooks::uninstall(text, Agent::ClaudeCode, &layout, program)?, folder).map(Some)
        })
    }

    /// Plans to register Throughline's MCP server, which is `program`, in the client's `file`.
    ///
    /// # Errors
    ///
    /// As for [`Change::install`].
    pub fn register_server(client: Client, file: &Path, program: &Path) -> Result<Self, SettingsError> {
        Self::plan(client, file, |text, _| Ok(Some(text.to_owned())))?.and_server(program)
    }

    /// Plans to register the MCP server in the same file too.
    ///
    /// # Errors
    ///
    /// As for [`Change::install`].
    pub fn and_server(mut self, program: &Path) -> Result<Self, SettingsError> {
        let text = self.after.unwrap_or_default();
        let with = server::add(&text, self.client.server_format(), program);
        self.after = Some(with.map_err(|what| SettingsError::Malformed(self.file.clone(), what))?);
        Ok(self)
    }

    /// Plans to take the MCP server out of the same file.
    ///
    /// # Errors
    ///
    /// As for [`Change::install`].
    pub fn without_server(mut self, target: &Target, program: &Path) -> Result<Self, SettingsError> {
        if target.servers
            && let Some(text) = &self.after
        {
            let left = server::remove(text, self.client.server_format(), program);
            self.after = Some(left.map_err(|what| SettingsError::Malformed(self.file.clone(), what))?);
        }
        Ok(self)
    }

    /// Plans the removal of hooks and plugin from the agent's `file`.
    ///
    /// # Errors
    ///
    /// As for [`Change::install`].
    pub fn uninstall(agent: Agent, file: &Path, program: &Path, folder: &Path) -> Result<Self, SettingsError> {
        let target = Target { file: file.to_owned(), hooks: true, servers: false };
        Self::remove(agent.into(), &target, program, folder)
    }

    /// Plans the removal of hooks, plugin and MCP server. If the file is exactly what `install` made of a backup, the
    /// backup is restored. A file that only contains hooks, or that `install` made, is removed with the last of them.
    ///
    /// # Errors
    ///
    /// As for [`Change::install`].
    pub fn remove(client: Client, target: &Target, program: &Path, folder: &Path) -> Result<Self, SettingsError> {
        let ours = Ours { agent: client.agent().filter(|_| target.hooks), target, client, program, folder };
        Self::plan(client, &target.file, |text, file| {
            let after = ours.take_out(text)?;
            if after == text {
                return Ok(Some(after));
            }
            let original = kept(file).find(|kept| {
                ours.take_out(kept).is_ok_and(|it| it == *kept) && ours.put_in_like(text, kept).is_ok_and(|it| it == text)
            });
            if original.is_some() {
                return Ok(original);
            }
            // A file that `install` made has no backup from before; an empty one is not left behind.
            let is_ours = |kept: &String| ours.take_out(kept).is_ok_and(|it| it != *kept && ours.is_empty(&it));
            let only_hooks = ours.agent.is_some_and(|agent| agents::layout(agent, &target.file, text).only_hooks);
            let may_go = only_hooks || kept(file).all(|kept| is_ours(&kept));
            Ok((!may_go || !ours.is_empty(&after)).then_some(after))
        })
    }

    fn plan(
        client: Client,
        file: &Path,
        edit: impl FnOnce(&str, &Path) -> Result<Option<String>, Malformed>,
    ) -> Result<Self, SettingsError> {
        let file = resolve_links(file).map_err(|e| SettingsError::Unreadable(file.into(), e))?;
        let before = read(&file)?;
        let text = before.as_deref().unwrap_or_default();
        let mut after = edit(text, &file).map_err(|what| SettingsError::Malformed(file.clone(), what))?;
        if before.is_none() && after.as_deref() == Some("") {
            after = None;
        }
        Ok(Self { client, file, before, after })
    }

    /// Returns the events that will call `program` after the change.
    pub fn events(&self, program: &Path) -> Vec<String> {
        let after = self.after.as_deref().unwrap_or_default();
        let agent = self.client.agent();
        let found = agent.and_then(|agent| registered(agent, &self.file, after, program).ok()).unwrap_or_default();
        found.into_iter().map(|registration| registration.event).collect()
    }

    /// Returns whether the prompt hook will be registered after the change.
    pub fn has_prompt_hook(&self) -> bool {
        let after = self.after.as_deref().unwrap_or_default();
        self.client == Agent::ClaudeCode.into() && prompt_hook(after).is_ok_and(|hook| hook.is_some())
    }

    /// Returns whether the plugin will be enabled after the change.
    pub fn has_plugin(&self) -> bool {
        let after = self.after.as_deref().unwrap_or_default();
        self.client == Agent::ClaudeCode.into()
            && plugin(after).is_ok_and(|plugin| plugin.is_some_and(|plugin| plugin.enabled))
    }

    /// Returns the client whose settings change.
    pub fn client(&self) -> Client {
        self.client
    }

    /// Returns whether the MCP server will be registered in the file after the change.
    pub fn has_server(&self, program: &Path) -> bool {
        registered_server(self.client, self.after.as_deref().unwrap_or_default(), program).is_ok_and(|it| it.is_some())
    }

    /// Returns the file that changes.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns whether there is nothing to change.
    pub fn is_unchanged(&self) -> bool {
        self.before == self.after
    }

    /// Returns whether the whole file is removed.
    pub fn removes_file(&self) -> bool {
        self.before.is_some() && self.after.is_none()
    }

    /// Returns a diff of the change with three lines of context.
    pub fn diff(&self) -> String {
        let name = self.file.display().to_string();
        let side = |text: &Option<String>| if text.is_some() { name.clone() } else { "/dev/null".into() };
        let (before, after) = (self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default());
        let (from, to) = (side(&self.before), side(&self.after));
        similar::TextDiff::from_lines(before, after).unified_diff().header(&from, &to).to_string()
    }

    /// Makes the change. Returns the path of the backup, or `None` if there was no file, if it is removed, or if nothing changes.
    ///
    /// # Errors
    ///
    /// A file cannot be written, or the file changed after the change was planned.
    pub fn apply(&self) -> Result<Option<PathBuf>, SettingsError> {
        if self.is_unchanged() {
            return Ok(None);
        }
        let unwritable = |error| SettingsError::Unwritable(self.file.clone(), error);
        let mut mode = 0o600;
        let mut backup = None;
        if let Some(before) = &self.before {
            let meta = fs::metadata(&self.file).map_err(unwritable)?;
            mode = permissions::mode(&meta);
            // A file that is removed has nothing in it but ours.
            backup = self.after.as_ref().map(|_| keep(&self.file, before, mode)).transpose().map_err(unwritable)?;
        } else if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(unwritable)?;
        }
        if read(&self.file)? != self.before {
            return Err(SettingsError::Changed(self.file.clone()));
        }
        match &self.after {
            Some(after) => files::replace_atomically(&self.file, after.as_bytes(), mode).map_err(unwritable)?,
            None => fs::remove_file(&self.file).map_err(unwritable)?,
        }
        Ok(backup)
    }
}

/// What of ours a file can contain.
struct Ours<'a> {
    /// The agent, if the file can contain hooks.
    agent: Option<Agent>,
    client: Client,
    target: &'a Target,
    program: &'a Path,
    folder: &'a Path,
}

impl Ours<'_> {
    fn layout(&self, agent: Agent, text: &str) -> agents::Layout {
        agents::layout(agent, &self.target.file, text)
    }

    /// Returns the text without anything of ours.
    fn take_out(&self, text: &str) -> Result<String, Malformed> {
        let mut after = text.to_owned();
        // In the opposite order of installing.
        if self.target.servers {
            after = server::remove(&after, self.client.server_format(), self.program)?;
        }
        if self.agent == Some(Agent::ClaudeCode) {
            after = prompt_hook::remove(&after)?;
        }
        if let Some(agent) = self.agent {
            let layout = self.layout(agent, &after);
            after = hooks::uninstall(&after, agent, &layout, self.program)?;
        }
        if self.agent == Some(Agent::ClaudeCode) {
            after = plugin::disable(&after, self.folder)?;
        }
        Ok(after)
    }

    /// Returns `kept` with the hooks, the prompt hook and the server that `text` has.
    fn put_in_like(&self, text: &str, kept: &str) -> Result<String, Malformed> {
        let mut after = kept.to_owned();
        if let Some(agent) = self.agent {
            let present = hooks::registered(text, &self.layout(agent, text), self.program)?;
            if let Some(profile) = Profile::of(agent, present.iter().map(|it| it.event.as_str())) {
                after = hooks::install(kept, agent, &self.layout(agent, kept), self.program, Some(profile))?;
            }
            if agent == Agent::ClaudeCode && prompt_hook(text)?.is_some() {
                after = prompt_hook::add(&after)?;
            }
        }
        let format = self.client.server_format();
        if self.target.servers && server::registered(text, format, self.program)?.is_some() {
            after = server::add(&after, format, self.program)?;
        }
        Ok(after)
    }

    fn is_empty(&self, text: &str) -> bool {
        match self.agent {
            Some(agent) => hooks::is_empty(text, &self.layout(agent, text)),
            None => server::is_empty(text, self.client.server_format()),
        }
    }
}

/// Returns the path of the backup with this number, counted from 1.
fn backup(file: &Path, number: u32) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".throughline-backup");
    if number > 1 {
        name.push(format!(".{number}"));
    }
    PathBuf::from(name)
}

/// Returns the paths of the backups of a settings file that are there, oldest first.
pub fn backups(file: &Path) -> Vec<PathBuf> {
    (1..=u32::MAX).map(|number| backup(file, number)).take_while(|backup| backup.exists()).collect()
}

/// Returns the texts of the backups of the file, oldest first.
fn kept(file: &Path) -> impl Iterator<Item = String> {
    (1..).map_while(move |number| read(&backup(file, number)).ok().flatten())
}

/// The most backups of a file: the first one, which is from before the installation, and the latest ones.
const MAX_BACKUPS: u32 = 3;

/// Saves `text` as a backup next to `file`. The first backup is always kept, because it may be the only copy of the file
/// from before the installation. The new backup gets a number; if there are too many, the oldest of the others goes.
fn keep(file: &Path, text: &str, mode: u32) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let backup = backup(file, number);
        match fs::read_to_string(&backup) {
            Ok(kept) if kept == text => return Ok(backup),
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            _ => number += 1,
        }
    }
    while number > MAX_BACKUPS {
        for at in 2..number - 1 {
            fs::rename(backup(file, at + 1), backup(file, at))?;
        }
        number -= 1;
    }
    let backup = backup(file, number);
    files::replace_atomically(&backup, text.as_bytes(), mode)?;
    Ok(backup)
}

/// Follows the symbolic links of a settings file, because users keep such files among their dotfiles. The target need
/// not exist.
fn resolve_links(file: &Path) -> io::Result<PathBuf> {
    let mut file = std::path::absolute(file)?;
    for _ in 0..MAX_LINKS {
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
    use std::os::unix::fs::{PermissionsExt as _, symlink};

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
        assert!(install(&file).is_unchanged());
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
        // A backup with the same content exists already.
        fs::write(&real, "{\"model\": \"opus\"}").unwrap();
        assert_eq!(install(&file).apply().unwrap(), Some(first));
    }

    #[test]
    fn somebody_installs_and_uninstalls_again_and_again_and_three_backups_are_left() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        for round in 0..6 {
            fs::write(&file, format!("{{\"round\": {round}}}")).unwrap();
            install(&file).apply().unwrap();
            Change::uninstall(Agent::ClaudeCode, &file, Path::new(PROGRAM), dir.path()).unwrap().apply().unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), format!("{{\"round\": {round}}}"));
        }
        let backups: Vec<String> = kept(&file).collect();
        assert_eq!(backups.len(), 3);
        assert_eq!(backups[0], "{\"round\": 0}");
        assert!(backups[1] == "{\"round\": 5}" && backups[2].contains(PROGRAM), "{backups:?}");
    }

    #[test]
    fn a_file_that_was_not_there_is_not_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        install(&file).apply().unwrap();
        // Changed once more by a newer version.
        Change::install(Agent::ClaudeCode, &file, Path::new("/new/throughline"), None).unwrap().apply().unwrap();
        let removed = Change::uninstall(Agent::ClaudeCode, &file, Path::new("/new/throughline"), dir.path()).unwrap();
        assert!(removed.removes_file());
        removed.apply().unwrap();
        assert!(!file.exists());
        // One that somebody had is left as it was.
        let own = dir.path().join("own.json");
        fs::write(&own, "{}").unwrap();
        install(&own).apply().unwrap();
        Change::uninstall(Agent::ClaudeCode, &own, Path::new(PROGRAM), dir.path()).unwrap().apply().unwrap();
        assert_eq!(fs::read_to_string(&own).unwrap(), "{}");
    }

    #[test]
    fn settings_of_a_project_name_no_folder_of_one_person() {
        for agent in Agent::ALL {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("hooks.json");
            let by_name = Path::new(BY_NAME);
            if !matches!(agent, Agent::Opencode | Agent::Pi | Agent::Amp) {
                fs::write(&file, "{}").unwrap();
            }
            Change::install(agent, &file, Path::new(PROGRAM), None).unwrap().apply().unwrap();
            // An installation of an earlier version is turned into one by name.
            Change::install(agent, &file, by_name, None).unwrap().apply().unwrap();
            let text = fs::read_to_string(&file).unwrap();
            assert!(!text.contains(PROGRAM) && text.contains("command -v throughline"), "{text}");
            let found = registered(agent, &file, &text, by_name).unwrap();
            assert!(
                !found.is_empty() && found.iter().all(|it| it.program == by_name && it.arguments[0] == "hook"),
                "{found:?}"
            );
            assert!(Change::install(agent, &file, by_name, None).unwrap().is_unchanged());
            let removed = Change::uninstall(agent, &file, Path::new(PROGRAM), dir.path()).unwrap();
            removed.apply().unwrap();
            assert!(fs::read_to_string(&file).map_or(true, |left| !left.contains("throughline")));
        }
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
        assert_eq!(scope::checkout(&dir.path().join("repo/src")), dir.path().join("repo"));
        assert_eq!(scope::checkout(Path::new("/")), Path::new("/"));
    }
}
