//! The folders for this program's data, configuration and cache, and the agents' own folders. Only this module reads
//! the environment for them.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::namespace::{self, InvalidNamespaceName};
use crate::open::FolderOptions as _;
use crate::{permissions, process};

/// The folder of managed configuration, in which only an administrator can make files.
const MANAGED_FOLDER: &str = if cfg!(windows) { r"C:\Program Files\throughline\managed" } else { "/etc/throughline" };

/// Where a system keeps a user's files of one kind.
struct BaseFolder {
    /// The environment variable that names the folder.
    variable: &'static str,
    /// The folder below the home folder otherwise.
    default: &'static str,
    /// Our folder in it.
    own: &'static str,
}

#[cfg(not(windows))]
const BASE_FOLDERS: [BaseFolder; 3] = [
    BaseFolder { variable: "XDG_DATA_HOME", default: ".local/share", own: "throughline" },
    BaseFolder { variable: "XDG_CONFIG_HOME", default: ".config", own: "throughline" },
    BaseFolder { variable: "XDG_CACHE_HOME", default: ".cache", own: "throughline" },
];
#[cfg(windows)]
const BASE_FOLDERS: [BaseFolder; 3] = [
    BaseFolder { variable: "LOCALAPPDATA", default: r"AppData\Local", own: "throughline" },
    BaseFolder { variable: "APPDATA", default: r"AppData\Roaming", own: "throughline" },
    BaseFolder { variable: "LOCALAPPDATA", default: r"AppData\Local", own: r"throughline\cache" },
];

/// The environment variable that names the user's home.
const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// The environment variable that names the namespace.
pub const NAMESPACE: &str = "THROUGHLINE_NAMESPACE";

/// The name of the automatic copy of the database, beside it.
pub const WEEKLY_COPY: &str = "weekly-copy.db";

/// The program's folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The database and the log.
    pub data: PathBuf,
    /// `config.toml` and policies.
    pub config: PathBuf,
    /// Files that can be created again.
    pub cache: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// The folder in which this user's programs have their configuration.
    pub user_config: PathBuf,
    /// Claude Code's folder.
    pub claude: PathBuf,
    /// The file in which Claude Code keeps what it remembers about this user, such as MCP servers.
    pub claude_state: PathBuf,
    /// Codex CLI's folder.
    pub codex: PathBuf,
    /// Gemini CLI's folder.
    pub gemini: PathBuf,
    /// Cursor's folder.
    pub cursor: PathBuf,
    /// Copilot CLI's folder.
    pub copilot: PathBuf,
    /// Factory droid's folder.
    pub factory: PathBuf,
    /// pi's folder.
    pub pi: PathBuf,
    /// The administrator's configuration. No variable moves it.
    pub managed: PathBuf,
    /// The namespace; `None` for the default one.
    pub namespace: Option<String>,
}

/// Why the folders cannot be determined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathsError {
    /// There is no home folder.
    Home,
    /// The environment gives an invalid namespace name.
    Namespace(InvalidNamespaceName),
    /// This process runs as root, and this folder belongs to another user.
    OtherUser(PathBuf),
}

impl Paths {
    /// Reads the paths from the environment: everything is below `THROUGHLINE_HOME` if it is set, and otherwise in the
    /// XDG base directories, or on Windows in the folders for application data. `THROUGHLINE_NAMESPACE` selects a separate data folder.
    pub fn from_env() -> Result<Self, PathsError> {
        let paths = Self::from_lookup(|name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
            .ok_or(PathsError::Home)?;
        if process::is_root()
            && let Some(folder) = [&paths.data, &paths.config, &paths.cache].into_iter().find_map(|own| other_users(own))
        {
            return Err(PathsError::OtherUser(folder));
        }
        let Some(name) = env::var_os(NAMESPACE).filter(|name| !name.is_empty()) else { return Ok(paths) };
        let name = name.to_string_lossy();
        // A typing error must not give access to the default memory when a separate one was asked for.
        namespace::validate_name(&name).map_err(PathsError::Namespace)?;
        Ok(paths.in_namespace(Some(&name)))
    }

    /// Returns the same paths for a namespace, whose name was already checked.
    #[must_use]
    pub fn in_namespace(mut self, name: Option<&str>) -> Self {
        let common = self.default_namespace_data();
        self.data = name.map_or_else(|| common.clone(), |name| namespace::data_folder(&common, name));
        self.namespace = name.map(str::to_owned);
        self
    }

    /// Returns the data folder of the default namespace.
    pub fn default_namespace_data(&self) -> PathBuf {
        if self.namespace.is_none() {
            return self.data.clone();
        }
        self.data.ancestors().nth(2).unwrap_or(&self.data).to_path_buf()
    }

    fn from_lookup(var: impl Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        let absolute = |name: &str| var(name).filter(|path| path.is_absolute());
        let own = var("THROUGHLINE_HOME").map(|path| std::path::absolute(&path).unwrap_or(path));
        let home = absolute(HOME).or_else(env::home_dir).or_else(|| own.clone())?;
        let place = |part: &str, base: &BaseFolder| match &own {
            Some(own) => own.join(part),
            None => absolute(base.variable).unwrap_or_else(|| home.join(base.default)).join(base.own),
        };
        let [data, config, cache] = &BASE_FOLDERS;
        Some(Self {
            data: place("data", data),
            config: place("config", config),
            cache: place("cache", cache),
            user_config: absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            claude: var("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")),
            claude_state: var("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.clone()).join(".claude.json"),
            codex: var("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            // `GEMINI_CLI_HOME` replaces the home folder.
            gemini: var("GEMINI_CLI_HOME").unwrap_or_else(|| home.clone()).join(".gemini"),
            cursor: home.join(".cursor"),
            copilot: var("COPILOT_HOME").unwrap_or_else(|| home.join(".copilot")),
            factory: home.join(".factory"),
            pi: var("PI_CODING_AGENT_DIR").unwrap_or_else(|| home.join(".pi/agent")),
            home,
            managed: PathBuf::from(MANAGED_FOLDER),
            namespace: None,
        })
    }

    /// The folder in which agents' command lines answer as language models. Nothing is remembered of sessions there.
    pub fn model_sessions(&self) -> PathBuf {
        self.data.join("model-sessions")
    }

    /// The ledger of calls to language models, which all namespaces share.
    pub fn model_ledger(&self) -> PathBuf {
        self.default_namespace_data().join("model-ledger.db")
    }

    /// The database file.
    pub fn database(&self) -> PathBuf {
        self.data.join("throughline.db")
    }

    /// The log file.
    pub fn log(&self) -> PathBuf {
        self.data.join("log/throughline.log")
    }

    /// The folder of compiled components.
    pub fn components(&self) -> PathBuf {
        self.cache.join("components")
    }

    /// The administrator's folder of compiled components. If it exists on a machine with managed configuration, code is loaded
    /// only from there.
    pub fn managed_components(&self) -> PathBuf {
        self.managed.join("components")
    }

    /// The configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The copy of the last configuration that could be read.
    pub fn last_good_config(&self) -> PathBuf {
        self.data.join("config.last-good.toml")
    }

    /// The folder of the user's policies.
    pub fn policies(&self) -> PathBuf {
        self.config.join("policies")
    }

    /// The file with the user's decisions about policies.
    pub fn user_policy_config(&self) -> PathBuf {
        self.config.join("policies.toml")
    }

    /// The file that counts policy failures.
    pub fn policy_failures(&self) -> PathBuf {
        self.data.join("policy-failures.json")
    }

    /// The file of intervals that were paused or forgotten.
    pub fn intervals(&self) -> PathBuf {
        self.data.join("privacy.json")
    }

    /// The folder with the content that was forgotten in the last day.
    pub fn forgotten(&self) -> PathBuf {
        self.data.join("forgotten")
    }

    /// The automatic copy of the database.
    pub fn weekly_copy(&self) -> PathBuf {
        self.data.join(WEEKLY_COPY)
    }

    /// The file with the key for placeholder tags.
    pub fn tag_key(&self) -> PathBuf {
        self.data.join("tag.key")
    }

    /// The folder of records of when hooks ran last.
    pub fn last_runs(&self) -> PathBuf {
        self.data.join("hooks")
    }

    /// The folder of journals that hooks write.
    pub fn journal(&self) -> PathBuf {
        self.data.join("journal")
    }

    /// The folder of synthesized transcripts, written by hooks for agents that keep none that can be read.
    pub fn synthesized_transcripts(&self) -> PathBuf {
        self.data.join("minutes")
    }

    /// The folders below which agents keep their transcripts.
    pub fn transcripts(&self) -> [PathBuf; 6] {
        [
            self.claude_projects(),
            self.codex.join("sessions"),
            self.codex.join("archived_sessions"),
            self.gemini.join("tmp"),
            self.copilot.join("session-state"),
            self.factory.join("sessions"),
        ]
    }

    /// The folder of Claude Code's transcripts.
    pub fn claude_projects(&self) -> PathBuf {
        self.claude.join("projects")
    }
}

/// Returns the folder, or its nearest existing parent, if it belongs to another user. Root must not write there: the other user
/// could put links in the way, and could not use what root has written.
fn other_users(folder: &Path) -> Option<PathBuf> {
    let (nearest, meta) = folder.ancestors().find_map(|parent| Some((parent, fs::metadata(parent).ok()?)))?;
    (!permissions::belongs_to_user(&meta)).then(|| nearest.to_owned())
}

/// Returns the home that the user's account has in the system's user database, whatever `HOME` says. Windows is asked in the
/// ordinary way, because nothing that a user could pretend depends on it there: managed settings are not read.
pub fn account_home() -> Option<PathBuf> {
    #[cfg(unix)]
    let home = nix::unistd::User::from_uid(nix::unistd::geteuid()).ok()??.dir;
    #[cfg(windows)]
    let home = env::home_dir()?;
    Some(home).filter(|home| home.is_absolute())
}

/// Creates the folder and its missing parents, accessible to this user only.
pub fn create_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).private().create(folder)?;
    let meta = fs::metadata(folder)?;
    if permissions::others_have_access(&meta) && permissions::belongs_to_user(&meta) {
        permissions::set_mode(folder, 0o700)?;
    }
    Ok(())
}

/// Formats a path for people: `~` stands for the home folder.
pub fn display(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) if !rest.as_os_str().is_empty() && home != OsStr::new("/") => {
            format!("~/{}", rest.display())
        }
        _ => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Paths {
        Paths::from_lookup(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| PathBuf::from(v))).unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn attack_root_with_the_home_of_another_user() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(other_users(&dir.path().join("not/there/yet")), None);
        if process::is_root() {
            // Only root can give a folder away.
            std::os::unix::fs::chown(dir.path(), Some(65_534), None).unwrap();
            assert_eq!(other_users(&dir.path().join("not/there/yet")).as_deref(), Some(dir.path()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn one_folder_for_all() {
        let paths = with(&[("HOME", "/h"), ("THROUGHLINE_HOME", "/t"), ("XDG_DATA_HOME", "/x")]);
        assert_eq!(paths.database(), Path::new("/t/data/throughline.db"));
        assert_eq!(paths.components(), Path::new("/t/cache/components"));
        assert_eq!(paths.claude_projects(), Path::new("/h/.claude/projects"));
    }

    #[cfg(unix)]
    #[test]
    fn the_base_directories_otherwise() {
        let paths = with(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "relative"), ("XDG_DATA_HOME", "/x")]);
        assert_eq!(paths.database(), Path::new("/x/throughline/throughline.db"));
        assert_eq!(paths.config_file(), Path::new("/h/.config/throughline/config.toml"));
    }

    #[cfg(windows)]
    #[test]
    fn one_folder_for_all_on_windows() {
        let paths = with(&[("USERPROFILE", r"C:\h"), ("THROUGHLINE_HOME", r"D:\t"), ("LOCALAPPDATA", r"D:\x")]);
        assert_eq!(paths.database(), Path::new(r"D:\t\data\throughline.db"));
        assert_eq!(paths.components(), Path::new(r"D:\t\cache\components"));
        assert_eq!(paths.claude_projects(), Path::new(r"C:\h\.claude\projects"));
    }

    #[cfg(windows)]
    #[test]
    fn the_folders_for_application_data_otherwise() {
        let paths = with(&[("USERPROFILE", r"C:\h"), ("APPDATA", "relative"), ("LOCALAPPDATA", r"D:\x")]);
        assert_eq!(paths.database(), Path::new(r"D:\x\throughline\throughline.db"));
        assert_eq!(paths.components(), Path::new(r"D:\x\throughline\cache\components"));
        assert_eq!(paths.config_file(), Path::new(r"C:\h\AppData\Roaming\throughline\config.toml"));
    }
}
