//! Managed configuration: what an administrator sets for everybody on this machine and users cannot override. It is read
//! from `/etc/throughline/managed.toml` and drop-ins beside it, all of which must belong to root and be writable by
//! nobody else. No variable moves it. If any of it is damaged, unreadable or owned by somebody else, nothing is
//! remembered, because it is then unknown what was forbidden.
//!
//! Drop-ins add up, and the stricter of two switches or limits holds. The configuration binds this program, not a user
//! who runs another one: that is the operating system's part.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::cache::Cache;
use super::capability::Capabilities;
use super::engine::Limits;
use super::folder::{Owner, check_folder_trusted, read_trusted};
use super::manifest::is_name;
use throughline_model::digest::is_sha256_hex;
use throughline_model::files::canonical;
use throughline_model::invalid::Invalid;
use throughline_platform::paths::{self, Paths};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The administrator's settings. The default restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Managed {
    /// Section `[policies]`.
    pub policies: ManagedPolicies,
    /// Section `[grants]`: the capabilities granted to the policies of the managed folder, by policy name.
    pub grants: BTreeMap<String, Vec<String>>,
    /// Section `[limits]`.
    pub limits: ManagedLimits,
    /// Section `[redaction]`.
    pub redaction: Redaction,
    /// Section `[transcripts]`.
    pub transcripts: Transcripts,
    /// Section `[memory]`.
    pub memory: Memory,
    /// Section `[model]`.
    pub model: ManagedModel,
    /// Section `[team]`.
    pub team: Team,
    /// Sections `[policy.NAME]`: settings that override the user's.
    pub policy: BTreeMap<String, serde_json::Map<String, serde_json::Value>>,
    /// What `~` stands for: the home of the user's account, because the user can set `HOME` to anything. `None` if no
    /// setting needs it, or if the account is unknown.
    #[serde(skip)]
    account_home: Option<PathBuf>,
    /// Whether there is any managed configuration.
    #[serde(skip)]
    is_present: bool,
}

/// Section `[policies]`: which policies may run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ManagedPolicies {
    /// SHA-256 digests of components; if set, only these and the default may run.
    pub allow: Option<Vec<String>>,
    /// Names of policies in the managed folder without which nothing is remembered.
    pub require: Vec<String>,
    /// Whether the user's own policies may run.
    pub user: bool,
    /// Whether policies that projects contain may run.
    pub project: bool,
    /// Capabilities that no policy but the default may have.
    pub forbid: Vec<String>,
}

impl Default for ManagedPolicies {
    fn default() -> Self {
        Self { allow: None, require: Vec::new(), user: true, project: true, forbid: Vec::new() }
    }
}

/// Section `[limits]`: the most that any policy but the default may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ManagedLimits {
    /// Linear memory, MiB.
    pub memory_mib: Option<u32>,
    /// The time of one call, milliseconds.
    pub time_ms: Option<u32>,
    /// The output of one call, KiB.
    pub output_kib: Option<u32>,
}

/// Section `[redaction]`: what must be redacted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Redaction {
    /// Whether every active redactor is required: if one of them fails, the texts are neither kept nor shown. The user's
    /// own rules and settings can then only add to what is redacted.
    pub forced: bool,
    /// Whether the default redactor runs. Nothing else can turn it off.
    pub default: bool,
}

impl Default for Redaction {
    fn default() -> Self {
        Self { forced: false, default: true }
    }
}

/// Section `[transcripts]`: which transcripts may be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Transcripts {
    /// Folders; if set, transcripts elsewhere are not read. `~/` is the user's home.
    pub roots: Option<Vec<PathBuf>>,
}

/// Section `[memory]`: where nothing is remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Memory {
    /// Folders. Sessions in or below them are not read and receive no context. `~/` is the user's home.
    pub off: Vec<PathBuf>,
}

/// Section `[model]`: which language models may be asked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ManagedModel {
    /// Whether no model may be asked.
    pub forbid: bool,
    /// The providers that may be asked; if not set, any.
    pub providers: Option<Vec<String>>,
    /// Section `[model.limits]`: they lower the user's, and allow nothing by themselves.
    pub limits: ManagedModelLimits,
}

/// Section `[model.limits]`: the most that may be spent, by all policies of a user together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub struct ManagedModelLimits {
    pub call_tokens: Option<u64>,
    pub session_tokens: Option<u64>,
    pub day_tokens: Option<u64>,
    pub month_tokens: Option<u64>,
    pub call_usd: Option<f64>,
    pub session_usd: Option<f64>,
    pub day_usd: Option<f64>,
    pub month_usd: Option<f64>,
}

impl ManagedModel {
    /// Merges a drop-in: the stricter of two settings applies.
    fn add(&mut self, other: Self) {
        fn lower<T: PartialOrd + Copy>(mine: &mut Option<T>, other: Option<T>) {
            *mine = match (*mine, other) {
                (Some(a), Some(b)) => Some(if b < a { b } else { a }),
                (a, b) => a.or(b),
            };
        }
        self.forbid |= other.forbid;
        self.providers = match (self.providers.take(), other.providers) {
            (Some(mine), Some(other)) => Some(mine.into_iter().filter(|name| other.contains(name)).collect()),
            (mine, other) => mine.or(other),
        };
        let (mine, other) = (&mut self.limits, other.limits);
        lower(&mut mine.call_tokens, other.call_tokens);
        lower(&mut mine.session_tokens, other.session_tokens);
        lower(&mut mine.day_tokens, other.day_tokens);
        lower(&mut mine.month_tokens, other.month_tokens);
        lower(&mut mine.call_usd, other.call_usd);
        lower(&mut mine.session_usd, other.session_usd);
        lower(&mut mine.day_usd, other.day_usd);
        lower(&mut mine.month_usd, other.month_usd);
    }
}

/// Section `[team]`: what may be shared with a team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Team {
    /// Whether nothing may be shared, and nothing that others share is read.
    pub off: bool,
    /// Whether a person must look at each memory before it leaves.
    pub review: bool,
    /// Whether something may be shared with a sealed team only.
    pub sealed: bool,
}

impl Managed {
    /// Reads `managed.toml` and the drop-ins of `managed.d/` in `folder`. A missing folder sets nothing. The error says
    /// what is damaged, and where.
    pub fn load(folder: &Path) -> Result<Self, Invalid> {
        match check_folder_trusted(folder, Owner::Root) {
            None => return Ok(Self::default()),
            Some(trusted) => trusted.map_err(|what| what.at(folder.display()))?,
        }
        let mut managed = Self::default();
        let file = folder.join("managed.toml");
        if file.symlink_metadata().is_ok() {
            managed = read(&file)?;
            managed.is_present = true;
        }
        let drop_ins = folder.join("managed.d");
        if let Some(trusted) = check_folder_trusted(&drop_ins, Owner::Root) {
            trusted.map_err(|what| what.at(drop_ins.display()))?;
            let entries = std::fs::read_dir(&drop_ins).map_err(|error| format!("{}: {error}", drop_ins.display()))?;
            let mut files = Vec::new();
            for entry in entries {
                files.push(entry.map_err(|error| format!("{}: {error}", drop_ins.display()))?.path());
            }
            files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
            files.sort();
            for file in files {
                managed.add(read(&file)?);
                managed.is_present = true;
            }
        }
        if managed.folders().any(|path| path.starts_with("~")) {
            managed.account_home = paths::account_home();
        }
        Ok(managed)
    }

    /// Returns the cache of compiled components. With managed configuration, no file of the user's decides what runs.
    pub fn cache(&self, paths: &Paths) -> Cache {
        if self.is_present {
            Cache::for_managed(paths.components(), &paths.managed_components())
        } else {
            Cache::new(paths.components())
        }
    }

    /// Whether there is any managed configuration.
    pub fn is_present(&self) -> bool {
        self.is_present
    }

    /// Parses and validates one file.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let managed: Self = toml::from_str(text).map_err(Invalid::because)?;
        for digest in managed.policies.allow.iter().flatten() {
            if !is_sha256_hex(digest) {
                return Err(
                    format!("policies.allow holds {digest:?}, which is not a SHA-256 in lower-case hexadecimal").into()
                );
            }
        }
        if let Some(name) = managed.policies.require.iter().find(|name| !is_name(name)) {
            return Err(format!("policies.require holds {name:?}, which no policy can be called").into());
        }
        managed.forbidden().map_err(|error| error.at("policies.forbid"))?;
        for (name, grants) in &managed.grants {
            Capabilities::parse(grants.iter().map(String::as_str))
                .map_err(|error| error.at(format_args!("grants.{name}")))?;
        }
        for path in managed.folders() {
            if !path.is_absolute() && !path.starts_with("~") {
                return Err(format!("{} must be absolute or begin with ~/", path.display()).into());
            }
        }
        if [managed.limits.memory_mib, managed.limits.time_ms, managed.limits.output_kib].contains(&Some(0)) {
            return Err("limits must be above 0".into());
        }
        let usd = managed.model.limits;
        if [usd.call_usd, usd.session_usd, usd.day_usd, usd.month_usd]
            .into_iter()
            .flatten()
            .any(|usd| !(0.0..=1e6).contains(&usd))
        {
            return Err("model.limits must be US dollars, from 0 to 1000000".into());
        }
        Ok(managed)
    }

    /// Merges a drop-in: lists and tables are extended; of two switches or limits, the stricter one applies.
    fn add(&mut self, other: Self) {
        fn both<T>(mine: &mut Option<Vec<T>>, other: Option<Vec<T>>) {
            if let Some(more) = other {
                mine.get_or_insert_default().extend(more);
            }
        }
        fn lower(mine: &mut Option<u32>, other: Option<u32>) {
            *mine = match (*mine, other) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        both(&mut self.policies.allow, other.policies.allow);
        self.policies.require.extend(other.policies.require);
        self.policies.user &= other.policies.user;
        self.policies.project &= other.policies.project;
        self.policies.forbid.extend(other.policies.forbid);
        for (name, grants) in other.grants {
            self.grants.entry(name).or_default().extend(grants);
        }
        lower(&mut self.limits.memory_mib, other.limits.memory_mib);
        lower(&mut self.limits.time_ms, other.limits.time_ms);
        lower(&mut self.limits.output_kib, other.limits.output_kib);
        self.redaction.forced |= other.redaction.forced;
        // Turning the default redactor off is the less strict state, and a drop-in that does not mention the redactor
        // must not turn it on again.
        self.redaction.default &= other.redaction.default;
        both(&mut self.transcripts.roots, other.transcripts.roots);
        self.memory.off.extend(other.memory.off);
        self.model.add(other.model);
        self.team.off |= other.team.off;
        self.team.review |= other.team.review;
        self.team.sealed |= other.team.sealed;
        for (name, settings) in other.policy {
            self.policy.entry(name).or_default().extend(settings);
        }
    }

    /// Returns the capabilities that no policy but the default may have.
    pub fn forbidden(&self) -> Result<Capabilities, Invalid> {
        Capabilities::parse(self.policies.forbid.iter().map(String::as_str))
    }

    /// Returns what a policy of the managed folder was granted.
    pub fn granted(&self, name: &str) -> Capabilities {
        let grants = self.grants.get(name).into_iter().flatten().map(String::as_str);
        Capabilities::parse(grants).unwrap_or_default()
    }

    /// Returns the limits of a policy that requests these.
    pub fn limit(&self, asked: Limits) -> Limits {
        let most = Limits {
            memory_bytes: self.limits.memory_mib.map_or(usize::MAX, |mib| (mib as usize) << 20),
            time: self.limits.time_ms.map_or(Duration::MAX, |ms| Duration::from_millis(ms.into())),
            output_bytes: self.limits.output_kib.map_or(usize::MAX, |kib| (kib as usize) << 10),
            table_elements: usize::MAX,
            items: usize::MAX,
        };
        asked.within(most)
    }

    /// Returns all folders that the settings name, as they are written.
    fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.transcripts.roots.iter().flatten().chain(&self.memory.off)
    }

    /// Returns the path without `~`. `home` counts if the home of the account is unknown.
    fn expand(&self, path: &Path, home: &Path) -> PathBuf {
        let home = self.account_home.as_deref().unwrap_or(home);
        path.strip_prefix("~").map_or_else(|_| path.to_owned(), |rest| home.join(rest))
    }

    /// Whether nothing is to be remembered of work in this folder.
    pub fn is_off(&self, folder: &Path, home: &Path) -> bool {
        if self.memory.off.is_empty() {
            return false;
        }
        // A link to a folder counts as the folder, even if what was below it is gone.
        let real = canonical(folder);
        self.memory.off.iter().any(|off| {
            let off = self.expand(off, home);
            folder.starts_with(&off) || real.starts_with(canonical(&off))
        })
    }

    /// Returns which of the wanted transcript folders may be read.
    pub fn transcript_roots(&self, wanted: Vec<PathBuf>, home: &Path) -> Vec<PathBuf> {
        let Some(allowed) = &self.transcripts.roots else {
            return wanted;
        };
        let allowed: Vec<PathBuf> = allowed.iter().map(|root| self.expand(root, home)).collect();
        let within = |root: &PathBuf| -> Vec<PathBuf> {
            // `..` and links must not lead out.
            let real = canonical(root);
            if allowed.iter().any(|allowed| real.starts_with(canonical(allowed))) {
                return vec![root.clone()];
            }
            allowed.iter().filter(|allowed| allowed.starts_with(root)).cloned().collect()
        };
        wanted.iter().flat_map(within).collect()
    }
}

fn read(file: &Path) -> Result<Managed, Invalid> {
    let text = read_trusted(file, Owner::Root, MAX_BYTES).map_err(|what| what.at(file.display()))?;
    Managed::parse(&text).map_err(|error| error.at(file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commented example, which serves as the documentation.
    const EXAMPLE: &str = include_str!("managed.example.toml");

    fn parse(text: &str) -> Managed {
        Managed::parse(text).unwrap()
    }

    #[test]
    fn the_commented_example_lays_down_what_it_shows() {
        assert_eq!(parse(EXAMPLE), Managed::default());
        let uncommented: String = EXAMPLE
            .lines()
            .map(|line| line.strip_prefix("#: ").unwrap_or(line))
            .fold(String::new(), |text, line| text + line + "\n");
        let managed = parse(&uncommented);
        assert!(managed.redaction.forced && !managed.policies.project);
        assert_eq!(managed.limits.time_ms, Some(500));
        assert!(!managed.memory.off.is_empty() && managed.transcripts.roots.is_some() && !managed.grants.is_empty());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, word) in [
            ("[policies]\nalow = []", "alow"),
            ("[policies]\nallow = [\"x\"]", "not a SHA-256"),
            ("[policies]\nforbid = [\"files\"]", "files"),
            ("[policies]\nrequire = [\"Till \\u001b[1m\"]", "policies.require"),
            ("[grants]\nadr = [\"files\"]", "grants.adr"),
            ("[memory]\noff = [\"secret\"]", "must be absolute"),
            ("[limits]\ntime-ms = 0", "above 0"),
        ] {
            let error = Managed::parse(text).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn drop_ins_only_make_it_stricter() {
        let mut managed = parse("[limits]\ntime-ms = 300\n[policies]\nrequire = [\"a\"]\nproject = false");
        managed.add(parse("[model]\nproviders = [\"openai\", \"command\"]\n[model.limits]\nday-tokens = 9\nday-usd = 0.5"));
        managed.add(parse("[model]\nproviders = [\"command\"]\n[model.limits]\nday-tokens = 10\nday-usd = 0.25"));
        assert_eq!(managed.model.providers.as_deref(), Some(["command".to_owned()].as_slice()));
        assert_eq!((managed.model.limits.day_tokens, managed.model.limits.day_usd), (Some(9), Some(0.25)));
        managed
            .add(parse("[limits]\ntime-ms = 900\nmemory-mib = 8\n[policies]\nrequire = [\"b\"]\n[memory]\noff = [\"/x\"]"));
        assert_eq!(managed.limits, ManagedLimits { memory_mib: Some(8), time_ms: Some(300), output_kib: None });
        assert_eq!(managed.policies.require, ["a", "b"]);
        assert!(!managed.policies.project && managed.policies.user);
        let limits = managed.limit(Limits::default());
        assert_eq!((limits.memory_bytes, limits.time), (8 << 20, Duration::from_millis(300)));
    }

    #[test]
    fn a_review_that_one_file_requires_is_required() {
        let mut managed = parse("[team]\nreview = true\nsealed = true");
        managed.add(parse("[team]\noff = false\nreview = false\nsealed = false"));
        assert_eq!(managed.team, Team { off: false, review: true, sealed: true });
        managed.add(parse("[team]\noff = true"));
        assert!(managed.team.off);
    }

    #[test]
    fn folders_are_off_with_all_that_is_below() {
        let managed = parse("[memory]\noff = [\"/srv/secret\", \"~/private\"]");
        let off = |folder: &str| managed.is_off(Path::new(folder), Path::new("/home/me"));
        assert!(off("/srv/secret") && off("/srv/secret/a/b") && off("/home/me/private/x"));
        assert!(!off("/srv/secrets") && !off("/home/me"));
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let managed = parse(&format!("[memory]\noff = [{:?}]", real.to_str().unwrap()));
        assert!(managed.is_off(&link, Path::new("/")), "a link to it counts as it");
    }

    #[test]
    fn transcripts_are_read_within_the_allowed_folders() {
        let managed = parse("[transcripts]\nroots = [\"~/.claude/projects\", \"/srv/logs/a\"]");
        let roots = ["/home/me/.claude/projects", "/srv/logs", "/tmp"].map(PathBuf::from).to_vec();
        let left = managed.transcript_roots(roots, Path::new("/home/me"));
        assert_eq!(left, ["/home/me/.claude/projects", "/srv/logs/a"].map(PathBuf::from));
    }

    #[test]
    fn attack_another_home_by_variable() {
        let mut managed = parse("[memory]\noff = [\"~/private\"]\n[transcripts]\nroots = [\"~/logs\"]");
        managed.account_home = Some("/no/me".into());
        let fake = Path::new("/no/fake");
        assert!(managed.is_off(Path::new("/no/me/private/x"), fake));
        assert_eq!(managed.transcript_roots(vec!["/no/fake/logs".into()], fake), Vec::<PathBuf>::new());
        assert_eq!(managed.transcript_roots(vec!["/no/me/logs/a".into()], fake), [PathBuf::from("/no/me/logs/a")]);
    }

    #[test]
    fn attack_a_deleted_folder_behind_a_link_to_one_that_is_off() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let managed = parse(&format!("[memory]\noff = [{real:?}]"));
        assert!(managed.is_off(&link.join("gone/deep"), Path::new("/")));
        assert!(managed.is_off(&dir.path().join("other/../link/gone"), Path::new("/")));
        assert!(!managed.is_off(&dir.path().join("other/gone"), Path::new("/")));
    }

    #[test]
    fn attack_a_transcript_folder_that_leads_out_of_the_allowed_one() {
        let dir = tempfile::tempdir().unwrap();
        let allowed = dir.path().join("allowed");
        std::fs::create_dir(&allowed).unwrap();
        std::os::unix::fs::symlink(dir.path(), allowed.join("link")).unwrap();
        let managed = parse(&format!("[transcripts]\nroots = [{allowed:?}]"));
        let left = |root: PathBuf| managed.transcript_roots(vec![root], Path::new("/"));
        assert_eq!(left(allowed.join("link/other")), Vec::<PathBuf>::new());
        assert_eq!(left(allowed.join("../other")), Vec::<PathBuf>::new());
        assert_eq!(left(allowed.join("inside")), [allowed.join("inside")]);
    }

    #[test]
    fn a_damaged_or_foreign_file_is_an_error() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Managed::load(&dir.path().join("none")).unwrap(), Managed::default());
        if !throughline_platform::process::is_root() {
            assert!(Managed::load(dir.path()).unwrap_err().to_string().contains("does not belong to root"));
            return;
        }
        assert_eq!(Managed::load(dir.path()).unwrap(), Managed::default());
        let file = dir.path().join("managed.toml");
        std::fs::write(&file, "[policies]\nproject = false\n").unwrap();
        assert!(!Managed::load(dir.path()).unwrap().policies.project);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(Managed::load(dir.path()).unwrap_err().to_string().contains("other users may write"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::fs::create_dir(dir.path().join("managed.d")).unwrap();
        std::fs::write(dir.path().join("managed.d/10.toml"), "nonsense").unwrap();
        assert!(Managed::load(dir.path()).unwrap_err().to_string().contains("10.toml"));
    }
}
