//! The configuration: reads and validates `config.toml`. The commented default file is the documentation.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use throughline_model::files::open_regular;
use throughline_model::invalid::Invalid;
use throughline_platform::files;
use throughline_platform::open::FileOptions as _;
use throughline_platform::paths;
use throughline_platform::permissions::{Owner, distrust_reason};
use throughline_store::RetentionStep;

/// The commented default configuration.
pub const DEFAULT: &str = include_str!("config.default.toml");

/// The largest configuration file that is read, bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// Everything a user can set. Every field has its default in [`DEFAULT`].
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// If false, hooks do nothing.
    pub enabled: bool,
    /// Section `[context]`.
    pub context: Context,
    /// Section `[hooks]`.
    pub hooks: Hooks,
    /// Section `[transcripts]`.
    pub transcripts: Transcripts,
    /// Section `[redaction]`.
    pub redaction: Redaction,
    /// Section `[privacy]`.
    pub privacy: throughline_privacy::Settings,
    /// Section `[log]`.
    pub log: Log,
    /// Section `[search]`.
    pub search: Search,
    /// Section `[sharing]`.
    pub sharing: Sharing,
    /// Section `[notice]`.
    pub notice: Notice,
    /// Section `[backup]`.
    pub backup: Backup,
    /// Section `[gc]`.
    pub gc: Gc,
    /// Section `[compress]`.
    pub compress: Compress,
    /// Section `[git]`.
    pub git: Git,
    /// Section `[observations]`.
    pub observations: Observations,
    /// Section `[checkpoint]`.
    pub checkpoint: Checkpoint,
    /// Section `[projections]`.
    pub projections: Projections,
    /// Section `[team]`.
    pub team: crate::team::rules::Settings,
    /// Section `[embedding]`.
    pub embedding: throughline_embedding::Settings,
    /// Section `[model]`.
    pub model: crate::model::settings::Settings,
    /// Sections `[policy.NAME]`: the tables that policies see through their `settings`.
    pub policy: std::collections::BTreeMap<String, serde_json::Map<String, serde_json::Value>>,
}

/// The context that the agent is shown.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Context {
    /// The most text, in UTF-16 code units. Claude Code cuts text longer than 10,000 units down to a preview.
    pub budget: u32,
}

/// How long hooks may take, milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Hooks {
    /// `SessionStart`.
    pub load_ms: u64,
    /// `PreCompact` and `PostCompact`.
    pub flush_ms: u64,
    /// `Stop`.
    pub stop_ms: u64,
    /// `SessionEnd`.
    pub save_ms: u64,
    /// The time that `SessionStart` may spend on sessions that were left unread.
    pub catch_up_ms: u64,
    /// `PostToolUse`, `PostToolUseFailure`, `PostToolBatch`.
    pub track_ms: u64,
    /// `UserPromptSubmit`.
    pub search_ms: u64,
}

/// Where transcripts may be read from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Transcripts {
    /// Folders in addition to the agents' own.
    pub roots: Vec<PathBuf>,
}

/// What is redacted in addition to the default policy's rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Redaction {
    /// Files of rules in gitleaks' format.
    pub rules: Vec<PathBuf>,
}

/// The log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// The size at which the log is rotated, bytes; one older file is kept.
    pub max_bytes: u64,
}

/// How memories are searched.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// How `memory search` ranks: the name of one of [`throughline_search::rank::PROFILES`].
    pub profile: String,
}

impl Default for Search {
    fn default() -> Self {
        Self { profile: throughline_search::rank::DEFAULT_PROFILE.name.to_owned() }
    }
}

/// Memories that were shared with all projects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Sharing {
    /// Whether policies, and so the agent, see shared memories.
    pub context: bool,
}

impl Default for Sharing {
    /// On by default: only a person shares a memory, and only because agents should see it.
    fn default() -> Self {
        Self { context: true }
    }
}

/// What a person is told in a session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Notice {
    /// Whether the start of a session says in one line that memory works. That it does not work is always said.
    pub start: bool,
}

/// The automatic copy of the database.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Backup {
    /// Whether a copy is made once a week.
    pub weekly: bool,
}

/// Which memories `memory gc` drops.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Gc {
    /// Days after which an unused memory may be dropped.
    pub max_age_days: u32,
    /// The number of a project's most important memories that are kept whatever their age.
    pub keep: u32,
}

/// Which memories are folded into digests.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Compress {
    /// Whether to fold in the background after the end of a session.
    pub auto: bool,
    /// Days after which an unused memory counts as old.
    pub older_than_days: u32,
    /// Memories worth less than this, from 0 to 1, are folded: see [`throughline_search::rank::prior_score`].
    pub below: f64,
    /// Whether archived turns are folded too.
    pub turns: bool,
    /// The number of newest session summaries that a project keeps; older ones are folded whatever their age.
    pub summaries: u32,
    /// Days after which `memory gc --purge` deletes the sources of a digest.
    pub purge_after_days: u32,
}

/// What is read of the history of a project's git repository.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Git {
    /// Whether new commits are read after each session, in projects whose history was read once.
    pub follow: bool,
    /// The most commits that are read at once, the newest ones.
    pub max_commits: u32,
}

/// How long observations are kept.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Observations {
    /// Days that an unused observation is kept.
    pub days: u32,
    /// The conditions for promotion from each retention tier to the next, lowest tier first. The last tier is
    /// permanent.
    #[serde(alias = "ladder")]
    pub tiers: Vec<RetentionStep>,
}

/// When a session is saved before its end.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Checkpoint {
    /// What a checkpoint does.
    pub mode: Mode,
    /// What triggers a checkpoint.
    pub by: By,
    /// Tool calls between two checkpoints.
    pub every: u32,
    /// The longest summary that the agent is asked for, characters.
    pub summary_max_length: u32,
    /// Size of the agent's context window, tokens.
    pub context_window: u32,
    /// Tokens before the reserve at which a checkpoint is due.
    pub soft_threshold_tokens: u32,
    /// Tokens that the agent keeps free.
    pub reserve_tokens_floor: u32,
}

/// What a checkpoint does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Continues reading the transcript.
    Auto,
    /// Asks the agent for a summary.
    Ask,
    /// Nothing.
    Off,
}

/// What triggers a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The number of tool calls.
    Tools,
    /// The number of tokens in the context.
    Tokens,
}

/// Files generated from the database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Projections {
    /// A folder for `NAME/memory.md` and `NAME/sessions/…` of each project; `None` to write none.
    pub folder: Option<PathBuf>,
    /// Whether to write `.claude/session-context.json` in each project.
    pub session_context: bool,
}

impl Default for Observations {
    fn default() -> Self {
        // The values that the original system shipped: access, confidence, sessions, days.
        let step = |access, confidence, sessions, days| RetentionStep { access, confidence, sessions, days };
        Self {
            days: 30,
            tiers: vec![step(1, 0.5, 0, 30), step(3, 0.7, 1, 60), step(5, 0.85, 2, 90), step(10, 0.92, 3, 180)],
        }
    }
}

impl Default for Checkpoint {
    fn default() -> Self {
        // 5, 500, 4,000 and 20,000 are the figures of the original designs.
        Self {
            mode: Mode::Auto,
            by: By::Tools,
            every: 5,
            summary_max_length: 500,
            context_window: 200_000,
            soft_threshold_tokens: 4_000,
            reserve_tokens_floor: 20_000,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            enabled: true,
            context: Context::default(),
            hooks: Hooks::default(),
            transcripts: Transcripts::default(),
            redaction: Redaction::default(),
            privacy: throughline_privacy::Settings::default(),
            log: Log::default(),
            search: Search::default(),
            sharing: Sharing::default(),
            notice: Notice::default(),
            backup: Backup::default(),
            gc: Gc::default(),
            compress: Compress::default(),
            git: Git::default(),
            observations: Observations::default(),
            checkpoint: Checkpoint::default(),
            projections: Projections::default(),
            team: crate::team::rules::Settings::default(),
            embedding: throughline_embedding::Settings::default(),
            model: crate::model::settings::Settings::default(),
            policy: std::collections::BTreeMap::new(),
        }
    }
}

impl Default for Context {
    fn default() -> Self {
        Self { budget: 9_500 }
    }
}

impl Default for Hooks {
    fn default() -> Self {
        // Each is well below the timeout that `install` sets in the client (10, 15, 5 and 15 s). `SessionEnd` is below
        // the 1.5 s that it gets without such a setting.
        Self {
            load_ms: 5_000,
            flush_ms: 10_000,
            stop_ms: 3_000,
            save_ms: 1_200,
            catch_up_ms: 250,
            track_ms: 2_000,
            search_ms: 2_000,
        }
    }
}

impl Default for Notice {
    fn default() -> Self {
        Self { start: true }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { max_bytes: 1 << 20 }
    }
}

impl Default for Backup {
    fn default() -> Self {
        Self { weekly: true }
    }
}

impl Default for Gc {
    fn default() -> Self {
        // 90 days and 1,000 memories are the defaults of the system that this one grew out of.
        Self { max_age_days: 90, keep: 1_000 }
    }
}

impl Default for Git {
    fn default() -> Self {
        Self { follow: true, max_commits: 100_000 }
    }
}

impl Default for Compress {
    fn default() -> Self {
        // Half a year is twice the age for `gc`, since a digest still says what each memory was about.
        Self { auto: true, older_than_days: 180, below: 0.45, turns: false, summaries: 50, purge_after_days: 90 }
    }
}

impl Hooks {
    /// Returns the whole time budget of a hook.
    pub fn budget(&self, moment: &str) -> Duration {
        Duration::from_millis(match moment {
            "memory-load" => self.load_ms,
            "memory-save" => self.save_ms,
            "memory-complete" | "memory-subagent" => self.stop_ms,
            "memory-track" => self.track_ms,
            "memory-search" => self.search_ms,
            _ => self.flush_ms,
        })
    }
}

/// Why a configuration file cannot be used: what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{} cannot be read: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Somebody else can change the file, or put another in its place.
    #[error("{at} is not obeyed: {why}; see `ls -ld {at}`, and let only yourself write to it", at = path.display())]
    Untrusted {
        /// The file, or its folder.
        path: PathBuf,
        /// Who can.
        why: &'static str,
    },
    /// The file is larger than any configuration.
    #[error("{} is too large", .0.display())]
    TooLarge(PathBuf),
    /// A setting cannot be used.
    #[error("{}: {why}", file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: Invalid,
    },
}

/// Keeps a copy of a good configuration beside the database. It takes the text that was parsed and not the file, which
/// somebody may have broken since. If the copy cannot be written, a later run writes it.
fn keep_copy(text: &str, copy: &Path) {
    // Before anything is stored there is no folder for it, and nothing to go on with.
    let has_folder = copy.parent().is_some_and(Path::is_dir);
    if has_folder && fs::read(copy).ok().as_deref() != Some(text.as_bytes()) {
        let _ = files::replace_atomically(copy, text.as_bytes(), 0o600);
    }
}

impl Config {
    /// Reads the file; a missing file gives the default.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        Self::load_with_text(file).map(|(config, _)| config)
    }

    /// Like [`Config::load`], and returns the text that was parsed. It is empty if there is no file.
    fn load_with_text(file: &Path) -> Result<(Self, String), ConfigError> {
        let text = Self::read_trusted(file)?.unwrap_or_default();
        let config = Self::parse(&text).map_err(|why| ConfigError::Invalid { file: file.to_owned(), why })?;
        Ok((config, text))
    }

    /// Reads the file, or `None` if there is none. The file may be a link, but nobody else may be able to change it or to put
    /// another in its place: the settings say where transcripts and rules are read.
    fn read_trusted(file: &Path) -> Result<Option<String>, ConfigError> {
        let cannot = |error: io::Error| ConfigError::Unreadable { file: file.to_owned(), error };
        let mut opened = match open_regular(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(cannot)?,
        };
        let distrust = |path: &Path, why| ConfigError::Untrusted { path: path.to_owned(), why };
        let meta = opened.metadata().map_err(cannot)?;
        if let Some(why) = distrust_reason(&meta, Owner::User) {
            return Err(distrust(file, why));
        }
        if let Some(folder) = file.parent()
            && let Some(why) = fs::metadata(folder).ok().and_then(|meta| distrust_reason(&meta, Owner::User))
        {
            return Err(distrust(folder, why));
        }
        if meta.len() > MAX_CONFIG_BYTES {
            return Err(ConfigError::TooLarge(file.to_owned()));
        }
        let mut text = String::new();
        io::Read::read_to_string(&mut opened, &mut text).map_err(cannot)?;
        Ok(Some(text))
    }

    /// Reads the file and keeps a copy of it if it is good. If it is broken, returns the copy that was kept last, and what
    /// is wrong with the file. If there is no copy either, that is the error.
    pub fn load_or_last_good(file: &Path, copy: &Path) -> Result<(Self, Option<ConfigError>), ConfigError> {
        match Self::load_with_text(file) {
            Ok((config, text)) => {
                keep_copy(&text, copy);
                Ok((config, None))
            }
            Err(fault) => match Self::load(copy) {
                Ok(last) if copy.exists() => Ok((last, Some(fault))),
                _ => Err(fault),
            },
        }
    }

    /// Parses and validates the text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let config: Self = toml::from_str(text).map_err(|error| in_one_line(&error, text))?;
        if !(500..=10_000).contains(&config.context.budget) {
            return Err(format!("context.budget is {}, but must be between 500 and 10000", config.context.budget).into());
        }
        if let Some(root) = config.transcripts.roots.iter().find(|root| !root.is_absolute()) {
            return Err(format!("transcripts.roots contains {}, which is not absolute", root.display()).into());
        }
        if let Some(file) = config.redaction.rules.iter().find(|file| !file.is_absolute()) {
            return Err(format!("redaction.rules contains {}, which is not absolute", file.display()).into());
        }
        if throughline_search::rank::find_profile(&config.search.profile).is_none() {
            let known = throughline_search::rank::PROFILES.map(|profile| profile.name).join(", ");
            return Err(format!("search.profile is {:?}, but must be one of {known}", config.search.profile).into());
        }
        if config.checkpoint.every == 0 {
            return Err("checkpoint.every is 0; to turn checkpoints off, set checkpoint.mode to \"off\"".into());
        }
        if !(0.0..=1.0).contains(&config.compress.below) {
            return Err(format!("compress.below is {}, but must be between 0 and 1", config.compress.below).into());
        }
        if let Some(folder) = config.projections.folder.iter().find(|folder| !folder.is_absolute()) {
            return Err(format!("projections.folder is {}, which is not absolute", folder.display()).into());
        }
        config.embedding.check()?;
        config.model.check()?;
        config.team.check()?;
        // The rules are compiled again where they are needed. If none are set, this costs nothing.
        throughline_privacy::ExclusionRules::new(&config.privacy, Path::new("/"))?;
        Ok(config)
    }
}

/// Says in one plain line what is wrong with a configuration: `line 2: unknown key `bugdet`; did you mean `budget`?`.
fn in_one_line(error: &toml::de::Error, text: &str) -> Invalid {
    let message = error.message().trim();
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    let what = match unknown {
        Some((name, expected)) => {
            let known: Vec<String> = expected.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            let meant = nearest(name, &known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("unknown key `{name}`{meant}")
        }
        None => message.lines().map(|line| in_plain_words(line.trim())).collect::<Vec<_>>().join(", "),
    };
    let line = error.span().map(|span| text.get(..span.start).unwrap_or(text).matches('\n').count() + 1);
    line.map_or_else(|| what.clone(), |line| format!("line {line}: {what}")).into()
}

/// Replaces the names of Rust's types by words that everybody knows.
fn in_plain_words(message: &str) -> String {
    let types = ["u16", "u32", "u64", "usize"];
    match types.into_iter().find_map(|name| message.strip_suffix(&format!("expected {name}"))) {
        Some(before) => format!("{before}expected a whole number"),
        None => message.to_owned(),
    }
}

/// Returns the name that is most like what was typed, if one is.
pub(crate) fn nearest<'a>(typed: &str, known: &'a [String]) -> Option<&'a str> {
    /// How alike two names must be, 0 to 1.
    const MIN_SIMILARITY: f64 = 0.7;
    let alike = |name: &String| strsim::normalized_damerau_levenshtein(typed, name);
    let best = known.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)))?;
    (alike(best) >= MIN_SIMILARITY).then_some(best.as_str())
}

/// Writes [`DEFAULT`] to `file` and creates its folder. If the file exists, it is kept and an error is returned.
pub fn init(file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        paths::create_private(folder)?;
    }
    let mut out = fs::File::options().write(true).create_new(true).private().open(file)?;
    out.write_all(DEFAULT.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use throughline_agents::protocol::name::Agent;
    use throughline_agents::settings::agents;

    #[test]
    fn what_is_wrong_is_said_in_one_line_and_in_plain_words() {
        let fault = |text: &str| Config::parse(text).unwrap_err().to_string();
        assert_eq!(fault("[context]\nbugdet = 3\n"), "line 2: unknown key `bugdet`; did you mean `budget`?");
        assert_eq!(fault("[context]\nxyz = 3\n"), "line 2: unknown key `xyz`");
        let number = fault("\n[context]\nbudget = \"many\"\n");
        assert!(
            number.starts_with("line 3: invalid type: string") && number.ends_with("expected a whole number"),
            "{number}"
        );
        let syntax = fault("enabled = \n");
        assert!(syntax.starts_with("line 1: ") && !syntax.contains('\n'), "{syntax}");
    }

    #[test]
    fn attack_a_configuration_that_others_may_write() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        fs::write(&file, "[context]\nbudget = 700\n").unwrap();
        let mode = |path: &Path, mode| throughline_platform::permissions::set_mode(path, mode).unwrap();
        mode(&file, 0o644);
        assert_eq!(Config::load(&file).unwrap().context.budget, 700);
        mode(&file, 0o666);
        assert!(Config::load(&file).unwrap_err().to_string().contains("other users may write to it"));
        mode(&file, 0o600);
        mode(dir.path(), 0o777);
        assert!(Config::load(&file).unwrap_err().to_string().contains("other users may write to it"));
        mode(dir.path(), 0o700);
        assert_eq!(Config::load(&file).unwrap().context.budget, 700);
        // As from a folder of dot files.
        let link = dir.path().join("link.toml");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(Config::load(&link).unwrap().context.budget, 700);
    }

    #[test]
    fn attack_a_configuration_of_another_user() {
        if !throughline_platform::process::is_root() {
            // Only root can give a file away.
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        fs::write(&file, "").unwrap();
        std::os::unix::fs::chown(&file, Some(65_534), None).unwrap();
        assert!(Config::load(&file).unwrap_err().to_string().contains("it belongs to another user"));
    }

    #[test]
    fn attack_a_fifo_as_configuration() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert!(Config::load(&file).unwrap_err().to_string().contains("not a regular file"));
    }

    #[test]
    fn the_commented_default_is_the_default() {
        assert_eq!(Config::parse(DEFAULT).unwrap(), Config::default());
        let uncommented: String = DEFAULT
            .lines()
            .map(|line| line.strip_prefix("#: ").unwrap_or(line))
            .fold(String::new(), |text, line| text + line + "\n");
        assert_ne!(uncommented, DEFAULT);
        assert_eq!(Config::parse(&uncommented).unwrap(), Config::default());
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(Config::parse("[context]\nbudgte = 1").unwrap_err().to_string().contains("budgte"));
        assert!(Config::parse("[context]\nbudget = 20000").unwrap_err().to_string().contains("20000"));
        assert!(Config::parse("[compress]\nbelow = 2.0").unwrap_err().to_string().contains("compress.below"));
        assert!(Config::parse("[transcripts]\nroots = [\"a\"]").unwrap_err().to_string().contains("absolute"));
    }

    #[test]
    fn agents_give_more_time_than_is_taken() {
        let config = Config::default();
        for agent in Agent::ALL {
            for hook in agents::hooks(agent) {
                let budget = config.hooks.budget(if hook.task == "memory-failure" { "memory-track" } else { hook.task });
                // The grace period before the program kills itself is added to that.
                assert!(Duration::from_secs(hook.timeout) >= budget + Duration::from_millis(250), "{agent:?} {hook:?}");
            }
            assert!(
                agents::hooks(agent)
                    .iter()
                    .all(|hook| agent != Agent::Codex || hook.event != "SessionEnd" || hook.timeout <= 3)
            );
        }
    }
}
