//! The registry of the policies for a project: which exist, which may run and why the others may not, and in what order
//! they answer a stage. Loads no component: manifests, digests and people's decisions are enough.
//!
//! It looks into the policy folders of the user, the project and the administrator, and decides for each policy whether
//! it runs or why it does not: managed configuration, the user's switch, a project's trust, the digest in manifest and
//! lock file, grants, settings, earlier failures. If there are no such folders, this costs three `stat` calls. Folders,
//! manifests and components are opened without following links, and only if no other user could have written them.
//! Hashing 18 MB would take longer than a hook, so a component's digest is remembered by device, inode, size and ctime,
//! as the seals in [`cache`](super::cache) are.
//!
//! Trust in a project's policies is for one digest over all their manifests and components. Being trusted grants
//! nothing; being granted trusts nothing.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::cache::Cache;
use super::capability::Capabilities;
use super::chain::DEFAULT_NAME;
use super::engine::Limits;
use super::failures::Failures;
use super::folder::{self, BrokenPolicy, Owner, PolicyPackage, Source};
use super::instance::Terms;
use super::lock::{self, Lock};
use super::managed::Managed;
use super::manifest::Mode;
use super::stage::Stage;
use super::user_config::{DecisionScope, PolicyDecision, UserConfigError, UserPolicyConfig};
use throughline_model::invalid::Invalid;
use throughline_platform::paths::Paths;

/// Where a project keeps its policies, relative to its root.
pub const PROJECT_FOLDER: &str = ".throughline/policies";

/// Why a policy does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The kind of reason.
    pub kind: RefusalKind,
    /// The reason in words.
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

/// The kinds of reasons why a policy does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// The user disabled it.
    Disabled,
    /// The project's policies are not trusted, or have changed since.
    Untrusted,
    /// A capability that it requests was not granted.
    Ungranted,
    /// Managed configuration does not let it run.
    Forbidden,
    /// It does not match its manifest or a lock file.
    Mismatch,
    /// A stronger policy has the same name.
    Shadowed,
    /// It failed several times in a row.
    SetAside,
    /// Its settings are invalid.
    Settings,
}

impl RefusalKind {
    /// Returns the word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Untrusted => "untrusted",
            Self::Ungranted => "ungranted",
            Self::Forbidden => "forbidden",
            Self::Mismatch => "unlike",
            Self::Shadowed => "shadowed",
            Self::SetAside => "set-aside",
            Self::Settings => "settings",
        }
    }

    /// Whether something is wrong with the policy. Otherwise a person decided that it should not run.
    fn is_fault(self) -> bool {
        match self {
            Self::Ungranted | Self::Mismatch | Self::SetAside | Self::Settings => true,
            Self::Disabled | Self::Untrusted | Self::Forbidden | Self::Shadowed => false,
        }
    }
}

/// A policy that was found, whether it may run or not.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Where it comes from.
    pub source: Source,
    /// The manifest and the digests.
    pub found: PolicyPackage,
    /// What it was granted, even if it does not request it.
    pub granted: Capabilities,
    /// What its instances may use.
    pub limits: Limits,
    /// Its settings, as capability `settings` returns them.
    pub settings: Map<String, Value>,
    /// Whether texts that it fails on may be neither kept nor shown. Only for redactors.
    pub required: bool,
    /// Whether nothing may be remembered without it.
    pub required_by_admin: bool,
    /// Why it does not run; none if it does.
    pub refusal: Option<Refusal>,
}

impl Candidate {
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.found.manifest.name
    }

    /// Returns its mode for the stage, or `None` if it does not have the stage.
    pub fn mode(&self, stage: Stage) -> Option<Mode> {
        self.found.manifest.stages.get(&stage).copied()
    }

    /// Returns whose files it may consist of.
    pub fn owner(&self) -> Owner {
        owner_of(self.source)
    }

    /// Returns the terms on which its component is loaded.
    pub fn terms(&self) -> Terms {
        self.found.terms(self.limits)
    }
}

/// Returns whose files are trusted in a source's folder.
pub fn owner_of(source: Source) -> Owner {
    if source == Source::Managed { Owner::Root } else { Owner::User }
}

/// All policies that were found for a project.
#[derive(Debug, Clone, Default)]
pub struct PolicyRegistry {
    /// Weakest first, without the default.
    pub candidates: Vec<Candidate>,
    /// Entries in the policy folders that are not usable policies.
    pub broken: Vec<BrokenPolicy>,
    /// Why nothing may be remembered; none if something may.
    pub blocked: Option<Blocked>,
}

/// Why nothing may be remembered: a required policy does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// The policy's name.
    pub policy: String,
    /// What is wrong, in words that name the policy.
    pub why: String,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nothing is remembered: {}", self.why)
    }
}

impl std::error::Error for Blocked {}

/// What the registry is built from.
pub struct RegistryInputs<'a> {
    /// The folders and files of this machine.
    pub paths: &'a Paths,
    /// The managed configuration.
    pub managed: &'a Managed,
    /// The tables `[policy.NAME]` of the configuration.
    pub settings: &'a BTreeMap<String, Map<String, Value>>,
    /// Where digests of components are cached.
    pub cache: &'a Cache,
    /// Earlier failures.
    pub failures: &'a Failures,
    /// Whether to read the policies of projects that were never trusted, in order to report them. Hooks do not, because
    /// that would read and hash whatever a foreign repository contains.
    pub include_untrusted: bool,
}

impl PolicyRegistry {
    /// Finds the policies for a project, or for work outside of any project.
    pub fn load(here: &RegistryInputs<'_>, root: Option<&Path>) -> Self {
        let mut registry = Self::default();
        // The user's decisions are read only if there is a policy that they could be about.
        let known = OnceCell::new();
        let user_config = || known.get_or_init(|| UserPolicyConfig::load(&here.paths.user_policy_config())).as_ref();
        for source in [Source::User, Source::Project, Source::Managed] {
            let Some(folder) = folder_of(source, here.paths, root) else { continue };
            if source == Source::Project && !here.include_untrusted && folder.is_dir() {
                let project = user_config().ok().zip(root).and_then(|(user_config, root)| user_config.project(root));
                if project.is_none_or(|project| project.trusted.is_none()) {
                    continue;
                }
            }
            let (found, broken) = folder::scan(&folder, owner_of(source), here.cache);
            if source != Source::Project {
                registry.withhold_for_broken(&broken);
            }
            registry.broken.extend(broken);
            if found.is_empty() {
                continue;
            }
            registry.add(here, source, &folder, found, user_config(), root);
        }
        if let Some(Err(what)) = known.into_inner() {
            let path = here.paths.user_policy_config();
            registry.broken.push(BrokenPolicy::new(&path, what.to_string(), UserConfigError::HINT));
        }
        registry.shadow();
        registry.block(here.managed);
        registry
    }

    fn add(
        &mut self,
        here: &RegistryInputs<'_>,
        source: Source,
        folder: &Path,
        found: Vec<PolicyPackage>,
        user_config: Result<&UserPolicyConfig, &UserConfigError>,
        root: Option<&Path>,
    ) {
        let lock = match Lock::load(&lock::file_of(folder), owner_of(source)) {
            Ok(lock) => Ok(lock),
            Err(what) => {
                let path = lock::file_of(folder);
                self.broken.push(BrokenPolicy::new(&path, what, "write it again: throughline policy lock"));
                Err("policies.lock cannot be read".to_owned())
            }
        };
        let trust = (source == Source::Project).then(|| trusted(user_config, root, &found));
        for found in found {
            let whose = root.filter(|_| source == Source::Project).map_or(DecisionScope::User, DecisionScope::Project);
            let decision = user_config.map(|user_config| user_config.decision_for(whose, &found.manifest.name));
            let granted = match (source, &decision) {
                (Source::Managed, _) => Ok(here.managed.granted(&found.manifest.name)),
                (_, Ok(decision)) => decision.granted(),
                (_, Err(_)) => Ok(Capabilities::default()),
            };
            let settings = settings(here, source, &found);
            let objection = lock.as_ref().map_or_else(|what| Some(what.clone()), |lock| lock.as_ref()?.objection(&found));
            let refusal = [
                forbidden(here.managed, source, &found),
                disabled(source, &decision, &found),
                trust.clone().flatten(),
                mismatch(&found),
                objection.map(|what| {
                    refusal(
                        RefusalKind::Mismatch,
                        what,
                        format!("review what changed, then: throughline policy lock{}", scope_flag(source)),
                    )
                }),
                ungranted(source, granted.as_ref(), &found),
                settings
                    .as_ref()
                    .err()
                    .map(|what| refusal(RefusalKind::Settings, what.to_string(), "correct it in config.toml")),
                set_aside(here.failures, &found),
            ]
            .into_iter()
            .flatten()
            .next();
            let is_redactor = found.manifest.stages.contains_key(&Stage::Redactor);
            self.candidates.push(Candidate {
                source,
                granted: granted.unwrap_or_default(),
                limits: here.managed.limit(found.manifest.limits()),
                settings: settings.unwrap_or_default(),
                required: is_redactor && (found.manifest.required || here.managed.redaction.forced),
                required_by_admin: source == Source::Managed && here.managed.policies.require.contains(&found.manifest.name),
                refusal,
                found,
            });
        }
    }

    /// Refuses every policy that has the same name as a stronger one that runs.
    fn shadow(&mut self) {
        for weaker in 0..self.candidates.len() {
            let name = self.candidates[weaker].name().to_owned();
            let stronger = self.candidates[weaker + 1..]
                .iter()
                .find(|candidate| candidate.name() == name && candidate.refusal.is_none())
                .map(|candidate| candidate.source);
            if let (Some(source), None) = (stronger, &self.candidates[weaker].refusal) {
                let what = format!("the {} policy with the same name replaces it", source.word());
                self.candidates[weaker].refusal = Some(refusal(RefusalKind::Shadowed, what, "rename it to use both"));
            }
        }
    }

    /// Decides whether nothing may be remembered because a required policy does not run.
    fn block(&mut self, managed: &Managed) {
        for name in &managed.policies.require {
            let there = self
                .candidates
                .iter()
                .find(|candidate| candidate.source == Source::Managed && candidate.name() == name.as_str());
            let why = match there.map(|candidate| &candidate.refusal) {
                Some(None) => continue,
                Some(Some(refusal)) => format!("the required policy {name} does not run: {}", refusal.what),
                None => format!("the required policy {name} is missing"),
            };
            self.blocked = Some(Blocked { policy: name.clone(), why });
        }
        // What this redactor would have removed must not be kept while it does not run, unless a person decided that.
        let runs = |name: &str| self.candidates.iter().any(|other| other.refusal.is_none() && other.name() == name);
        let withheld = self.candidates.iter().filter(|candidate| candidate.required).find_map(|candidate| {
            let refusal = candidate.refusal.as_ref().filter(|refusal| refusal.kind.is_fault())?;
            (!runs(candidate.name())).then_some((candidate.name(), refusal))
        });
        if let Some((name, refusal)) = withheld {
            let why = match refusal.kind {
                RefusalKind::SetAside => {
                    format!("the required redactor {name} was set aside because it keeps failing")
                }
                _ => format!("the required redactor {name} does not run: {}", refusal.what),
            };
            self.blocked = Some(Blocked { policy: name.to_owned(), why });
        }
    }

    /// Keeps everything back if one of these was a required redactor.
    fn withhold_for_broken(&mut self, broken: &[BrokenPolicy]) {
        if let Some((policy, broken)) = broken.iter().find_map(|broken| Some((broken.required.clone()?, broken))) {
            let why = format!("the required redactor {policy} does not run: {}: {}", broken.path.display(), broken.what);
            self.blocked = Some(Blocked { policy, why });
        }
    }

    /// Returns the policies that run and have the stage, strongest first; redactors in the order in which they run.
    pub fn order(&self, stage: Stage) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.candidates.len())
            .rev()
            .filter(|index| {
                let candidate = &self.candidates[*index];
                candidate.refusal.is_none() && candidate.mode(stage).is_some()
            })
            .collect();
        if stage == Stage::Redactor {
            order.reverse();
        }
        order
    }

    /// Whether there is nothing besides the default.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty() && self.broken.is_empty() && self.blocked.is_none()
    }
}

fn refusal(kind: RefusalKind, what: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal { kind, what: what.into(), hint: hint.into() }
}

/// Returns the option of `throughline policy` commands that selects the project's policies.
fn scope_flag(source: Source) -> &'static str {
    if source == Source::Project { " --in-project" } else { "" }
}

/// Returns why managed configuration does not let a policy run, or `None` if it does.
pub fn forbidden(managed: &Managed, source: Source, found: &PolicyPackage) -> Option<Refusal> {
    const ASK: &str = "ask your administrator: this is set in /etc/throughline/managed.toml";
    let allowed = match source {
        Source::User => managed.policies.user,
        Source::Project => managed.policies.project,
        Source::Default | Source::Managed => true,
    };
    if !allowed {
        return Some(refusal(
            RefusalKind::Forbidden,
            format!("{} policies may not run on this machine", source.word()),
            ASK,
        ));
    }
    if managed.policies.allow.as_ref().is_some_and(|allowed| !allowed.contains(&found.digest)) {
        return Some(refusal(
            RefusalKind::Forbidden,
            "its component is not on this machine's list of allowed components",
            ASK,
        ));
    }
    let forbidden = managed.forbidden().unwrap_or_default();
    let asked = &found.manifest.capabilities;
    let taken: Vec<String> = forbidden
        .list()
        .iter()
        .filter(|capability| {
            let mut rest = asked.clone();
            rest.remove(capability);
            rest != *asked
        })
        .map(ToString::to_string)
        .collect();
    (!taken.is_empty()).then(|| {
        refusal(
            RefusalKind::Forbidden,
            format!("it asks for {}, which no policy on this machine may have", taken.join(", ")),
            ASK,
        )
    })
}

fn disabled(source: Source, decision: &Result<PolicyDecision, &UserConfigError>, found: &PolicyPackage) -> Option<Refusal> {
    match decision {
        _ if source == Source::Managed => None,
        Ok(decision) if decision.enabled => None,
        Ok(_) => Some(refusal(
            RefusalKind::Disabled,
            "it is disabled",
            format!("throughline policy enable {}{}", found.manifest.name, scope_flag(source)),
        )),
        Err(_) => Some(refusal(
            RefusalKind::Ungranted,
            "policies.toml is damaged, so nobody knows what was granted",
            "repair the file",
        )),
    }
}

fn trusted(
    user_config: Result<&UserPolicyConfig, &UserConfigError>,
    root: Option<&Path>,
    found: &[PolicyPackage],
) -> Option<Refusal> {
    let trusted = root.zip(user_config.ok()).and_then(|(root, user_config)| user_config.project(root)?.trusted.clone());
    let what = match trusted {
        Some(identity) if identity == folder::identity(found) => return None,
        Some(_) => "the project's policies have changed since they were trusted",
        None => "the project's policies are not trusted",
    };
    Some(refusal(RefusalKind::Untrusted, what, "review them, then: throughline policy trust"))
}

fn mismatch(found: &PolicyPackage) -> Option<Refusal> {
    let build = "throughline policy build";
    if found.manifest.name == DEFAULT_NAME {
        return Some(refusal(RefusalKind::Mismatch, "it has the name of the default policy", "give it another name"));
    }
    if found.manifest.build.is_some() {
        return Some(refusal(
            RefusalKind::Mismatch,
            "this is a source folder",
            format!("install the folder that `{build}` makes below dist/"),
        ));
    }
    match &found.manifest.sha256 {
        Some(digest) if *digest == found.digest => None,
        Some(_) => Some(refusal(
            RefusalKind::Mismatch,
            "its component does not match the sha256 in its manifest",
            format!("build it again: {build}"),
        )),
        None => Some(refusal(
            RefusalKind::Mismatch,
            "its manifest does not name the component's sha256",
            format!("`{build}` writes it"),
        )),
    }
}

fn ungranted(source: Source, granted: Result<&Capabilities, &Invalid>, found: &PolicyPackage) -> Option<Refusal> {
    let name = &found.manifest.name;
    let granted = match granted {
        Ok(granted) => granted,
        Err(what) => {
            return Some(refusal(RefusalKind::Ungranted, format!("its grants in policies.toml: {what}"), "repair the file"));
        }
    };
    let missing: Vec<String> = found.manifest.capabilities.missing_from(granted).iter().map(ToString::to_string).collect();
    if missing.is_empty() {
        return None;
    }
    let hint = match source {
        Source::Managed => format!("under [grants] in /etc/throughline/managed.toml: {name} = {missing:?}"),
        _ => format!("throughline policy grant {name} {}{}", missing.join(" "), scope_flag(source)),
    };
    Some(refusal(RefusalKind::Ungranted, format!("it asks for {}, which it was not granted", missing.join(", ")), hint))
}

fn settings(here: &RegistryInputs<'_>, source: Source, found: &PolicyPackage) -> Result<Map<String, Value>, Invalid> {
    let name = &found.manifest.name;
    let is_redactor = found.manifest.stages.contains_key(&Stage::Redactor);
    // With a setting, a user could make the administrator's redactor find nothing, or keep it from running.
    let is_theirs = source == Source::Managed && is_redactor && here.managed.redaction.forced;
    let users = here.settings.get(name).filter(|_| !is_theirs);
    let mut set = users.cloned().unwrap_or_default();
    set.extend(here.managed.policy.get(name).cloned().unwrap_or_default());
    found.manifest.settings(Some(&set))
}

fn set_aside(failures: &Failures, found: &PolicyPackage) -> Option<Refusal> {
    let record = failures.of(&found.digest).filter(|record| record.is_set_aside())?;
    let stage = record.stage.map_or(String::new(), |stage| format!(" in the stage {stage}"));
    Some(refusal(
        RefusalKind::SetAside,
        format!("it was set aside after {} failures in a row, the last one: {}{stage}", record.in_a_row(), record.what),
        format!("check the log, then: throughline policy enable {}", found.manifest.name),
    ))
}

/// Returns the folder of a source's policies.
pub fn folder_of(source: Source, paths: &Paths, root: Option<&Path>) -> Option<PathBuf> {
    match source {
        Source::Default => None,
        Source::User => Some(paths.policies()),
        Source::Project => root.map(|root| root.join(PROJECT_FOLDER)),
        Source::Managed => Some(paths.managed.join("policies")),
    }
}
