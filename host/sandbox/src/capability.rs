//! Capabilities: what a policy can be granted, which imports each capability covers, and whether everything requested
//! was granted.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use throughline_model::invalid::Invalid;

/// The package of the contract's interfaces.
pub const CONTRACT: &str = "throughline:policy";

/// Versions of the contract that this host supports, the newest first. A policy built for another minor version is refused.
pub const SUPPORTED_VERSIONS: [&str; 2] = ["0.2.0", "0.1.0"];

/// A set of memory kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum KindSet {
    /// The word `all`.
    Every(Every),
    /// These kinds.
    Only(BTreeSet<String>),
}

/// The word `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Every {
    /// Every kind.
    All,
}

impl KindSet {
    /// Every kind.
    pub const ALL: Self = Self::Every(Every::All);

    /// Whether the set contains this kind.
    pub fn has(&self, kind: &str) -> bool {
        match self {
            Self::Every(_) => true,
            Self::Only(kinds) => kinds.contains(kind),
        }
    }

    /// Returns the kinds in `self` that are not in `granted`, or none if there are none.
    fn missing_from(&self, granted: Option<&Self>) -> Option<Self> {
        match (self, granted) {
            (_, Some(Self::Every(_))) => None,
            (Self::Every(_), _) => Some(Self::ALL),
            (Self::Only(asked), granted) => {
                let missing: BTreeSet<String> =
                    asked.iter().filter(|kind| !granted.is_some_and(|granted| granted.has(kind))).cloned().collect();
                (!missing.is_empty()).then_some(Self::Only(missing))
            }
        }
    }

    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Only(mut some), Self::Only(more)) => {
                some.extend(more);
                Self::Only(some)
            }
            _ => Self::ALL,
        }
    }
}

/// One capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Capability {
    /// The transcript of the session being read, from where the last read stopped.
    Transcript,
    /// The memories of the current project, limited to some kinds.
    Memories(KindSet),
    /// The policy's own table in the configuration.
    Settings,
    /// Writing lines to the host's log.
    Log,
    /// Asking a language model, within the user's limits.
    Model,
    /// The time of day and a monotonic clock.
    WallClock,
    /// Random bytes.
    Random,
    /// The system interfaces that language runtimes expect, with nothing behind them.
    Wasi,
}

impl Capability {
    /// All capabilities, in the order in which they are listed.
    pub const ALL: [Self; 8] = [
        Self::Transcript,
        Self::Memories(KindSet::ALL),
        Self::Settings,
        Self::Log,
        Self::Model,
        Self::WallClock,
        Self::Random,
        Self::Wasi,
    ];

    /// Returns the name, without the kinds. A capability of the contract has the name of its interface.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Transcript => "transcript",
            Self::Memories(_) => "memories",
            Self::Settings => "settings",
            Self::Log => "log",
            Self::Model => "model",
            Self::WallClock => "wall-clock",
            Self::Random => "random",
            Self::Wasi => "wasi",
        }
    }

    /// Returns the packages that the capability covers, if its interface is not one of the contract's.
    fn packages(&self) -> &'static [&'static str] {
        match self {
            Self::WallClock => &["wasi:clocks"],
            Self::Random => &["wasi:random"],
            Self::Wasi => &["wasi:cli", "wasi:io", "wasi:filesystem", "wasi:sockets"],
            Self::Transcript | Self::Memories(_) | Self::Settings | Self::Log | Self::Model => &[],
        }
    }
}

/// Formats the capability as in the configuration and on the command line: `transcript`, `memories`,
/// `memories:decision,preference`.
impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memories(KindSet::Only(kinds)) => {
                write!(f, "memories:{}", kinds.iter().map(String::as_str).collect::<Vec<_>>().join(","))
            }
            other => f.write_str(other.name()),
        }
    }
}

impl FromStr for Capability {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if let Some(kinds) = text.strip_prefix("memories:") {
            let kinds: BTreeSet<String> =
                kinds.split(',').map(str::trim).filter(|kind| !kind.is_empty()).map(str::to_owned).collect();
            if kinds.is_empty() {
                return Err("`memories:` must name a kind, as in `memories:decision`".into());
            }
            return Ok(Self::Memories(KindSet::Only(kinds)));
        }
        if text == "memories:all" {
            return Ok(Self::Memories(KindSet::ALL));
        }
        Self::ALL.into_iter().find(|capability| capability.name() == text).ok_or_else(|| {
            let known = Self::ALL.map(|capability| match capability {
                Self::Memories(_) => "memories, memories:KIND,…",
                other => other.name(),
            });
            format!("there is no capability {text}; the capabilities are {}", known.join(", ")).into()
        })
    }
}

/// A set of capabilities: what a manifest requests, or what was granted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability by itself")]
pub struct Capabilities {
    /// The lines of the transcript being read.
    pub transcript: bool,
    /// The current project's memories, read-only: a list of kinds, or `"all"`.
    pub memories: Option<KindSet>,
    /// The policy's own table in the configuration.
    pub settings: bool,
    /// Writing lines to the host's log.
    pub log: bool,
    /// Asking the language model that the user set up, within the user's limits.
    pub model: bool,
    /// `wasi:clocks`: the time of day and a monotonic clock.
    pub wall_clock: bool,
    /// `wasi:random`: random bytes.
    pub random: bool,
    /// `wasi:cli`, `wasi:io`, `wasi:filesystem` and `wasi:sockets` in a fixed shape: no arguments, no environment, no
    /// files, no network; standard output and error go to the log.
    pub wasi: bool,
}

impl Capabilities {
    /// Returns the capabilities of the default policy: those of the contract that cost nothing.
    pub fn of_default() -> Self {
        Self { transcript: true, memories: Some(KindSet::ALL), settings: true, log: true, ..Self::default() }
    }

    /// Returns the switch of a capability; `None` for `memories`, which is a set of kinds.
    fn switch(&mut self, capability: &Capability) -> Option<&mut bool> {
        Some(match capability {
            Capability::Transcript => &mut self.transcript,
            Capability::Memories(_) => return None,
            Capability::Settings => &mut self.settings,
            Capability::Log => &mut self.log,
            Capability::Model => &mut self.model,
            Capability::WallClock => &mut self.wall_clock,
            Capability::Random => &mut self.random,
            Capability::Wasi => &mut self.wasi,
        })
    }

    /// Adds a capability.
    pub fn add(&mut self, capability: Capability) {
        if let Some(switch) = self.switch(&capability) {
            *switch = true;
        } else if let Capability::Memories(kinds) = capability {
            self.memories = Some(match self.memories.take() {
                Some(had) => had.with(kinds),
                None => kinds,
            });
        }
    }

    /// Removes a capability. For `memories`, removes the kinds that are named, or all if none is named.
    pub fn remove(&mut self, capability: &Capability) {
        if let Some(switch) = self.switch(capability) {
            *switch = false;
        } else if let Capability::Memories(kinds) = capability {
            self.memories = self.memories.take().and_then(|had| had.missing_from(Some(kinds)));
        }
    }

    /// Returns the capabilities as a list.
    pub fn list(&self) -> Vec<Capability> {
        let granted = |capability: Capability| match capability {
            Capability::Memories(_) => self.memories.clone().map(Capability::Memories),
            other => self.has(&other).then_some(other),
        };
        Capability::ALL.into_iter().filter_map(granted).collect()
    }

    /// Returns the capabilities in `self` that are not in `granted`.
    pub fn missing_from(&self, granted: &Self) -> Vec<Capability> {
        self.list()
            .into_iter()
            .filter_map(|capability| match capability {
                Capability::Memories(kinds) => kinds.missing_from(granted.memories.as_ref()).map(Capability::Memories),
                other => (!granted.has(&other)).then_some(other),
            })
            .collect()
    }

    /// Whether the capability is in the set. For `memories`, whether any kind is.
    pub fn has(&self, capability: &Capability) -> bool {
        match capability {
            Capability::Transcript => self.transcript,
            Capability::Memories(_) => self.memories.is_some(),
            Capability::Settings => self.settings,
            Capability::Log => self.log,
            Capability::Model => self.model,
            Capability::WallClock => self.wall_clock,
            Capability::Random => self.random,
            Capability::Wasi => self.wasi,
        }
    }

    /// Parses capability names, as the configuration writes them.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, Invalid> {
        let mut all = Self::default();
        for name in names {
            all.add(name.parse()?);
        }
        Ok(all)
    }
}

/// What an import of a component requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Import {
    /// Only types: nothing to grant.
    Types,
    /// This capability.
    Needs(Capability),
    /// A version of the contract that this host does not support.
    OtherVersion(String),
    /// Nothing that a policy can be granted.
    Unsupported,
}

/// Classifies an import by its name, such as `throughline:policy/memories@0.1.0`.
pub fn classify_import(name: &str) -> Import {
    let (path, version) = name.split_once('@').unwrap_or((name, ""));
    let Some((package, interface)) = path.split_once('/') else {
        return Import::Unsupported;
    };
    let needs = |covers: &dyn Fn(&Capability) -> bool| {
        Capability::ALL.into_iter().find(covers).map_or(Import::Unsupported, Import::Needs)
    };
    match (package, interface) {
        (CONTRACT, _) if !is_supported(version) => Import::OtherVersion(version.to_owned()),
        (CONTRACT, "types") => Import::Types,
        // Version 0.1 has no `model`, and a component cannot mix versions.
        (CONTRACT, _) => needs(&|it| it.packages().is_empty() && it.name() == interface),
        _ => needs(&|it| it.packages().contains(&package)),
    }
}

/// Returns the version of the contract in the name of an import or export, or `None` if it is not the contract's.
pub fn version_in(name: &str) -> Option<&str> {
    let (path, version) = name.split_once('@')?;
    let (package, _) = path.split_once('/')?;
    (package == CONTRACT).then_some(version)
}

/// Whether this host supports that version: major and minor must match, and the patch must not be newer.
pub fn is_supported(version: &str) -> bool {
    let parse = |text: &str| -> Option<[u32; 3]> {
        let mut parts = text.split('.').map(|part| part.parse().ok());
        let version = [parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then_some(version)
    };
    let Some(asked) = parse(version) else { return false };
    SUPPORTED_VERSIONS
        .iter()
        .filter_map(|served| parse(served))
        .any(|served| served[..2] == asked[..2] && asked[2] <= served[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> Capabilities {
        Capabilities::parse(names.iter().copied()).unwrap()
    }

    #[test]
    fn what_was_not_granted_is_named() {
        let asked = set(&["transcript", "memories:decision,plan", "random"]);
        assert!(asked.missing_from(&asked).is_empty());
        let granted = set(&["transcript", "memories:decision"]);
        let missing: Vec<String> = asked.missing_from(&granted).iter().map(ToString::to_string).collect();
        assert_eq!(missing, ["memories:plan", "random"]);
        assert!(set(&["memories:plan"]).missing_from(&set(&["memories"])).is_empty());
        assert_eq!(set(&["memories"]).missing_from(&granted), [Capability::Memories(KindSet::ALL)]);
    }

    #[test]
    fn granting_and_revoking_undo_each_other() {
        let mut granted = set(&["memories:decision"]);
        granted.add("memories:plan".parse().unwrap());
        assert_eq!(granted, set(&["memories:decision,plan"]));
        granted.remove(&"memories:decision".parse().unwrap());
        assert_eq!(granted, set(&["memories:plan"]));
        granted.remove(&"memories".parse().unwrap());
        assert_eq!(granted, Capabilities::default());
        for capability in Capability::ALL {
            let name = capability.name();
            assert_eq!((name.parse(), capability.to_string().as_str()), (Ok(capability.clone()), name));
            let mut one = set(&[name]);
            assert!(one.has(&capability));
            one.remove(&capability);
            assert_eq!(one, Capabilities::default());
        }
        let error = "files".parse::<Capability>().unwrap_err().to_string();
        let known = "transcript, memories, memories:KIND,…, settings, log, model, wall-clock, random, wasi";
        assert_eq!(error, format!("there is no capability files; the capabilities are {known}"));
        assert!("memories:".parse::<Capability>().is_err());
    }

    #[test]
    fn imports_are_told_apart() {
        assert_eq!(classify_import("throughline:policy/log@0.1.0"), Import::Needs(Capability::Log));
        assert_eq!(classify_import("throughline:policy/model@0.2.0"), Import::Needs(Capability::Model));
        assert_eq!(classify_import("throughline:policy/log@0.3.0"), Import::OtherVersion("0.3.0".into()));
        assert_eq!(classify_import("throughline:policy/log@0.1.1"), Import::OtherVersion("0.1.1".into()));
        assert_eq!(classify_import("throughline:policy/types@0.1.0"), Import::Types);
        assert_eq!(classify_import("throughline:policy/files@0.1.0"), Import::Unsupported);
        assert_eq!(classify_import("wasi:clocks/wall-clock@0.2.3"), Import::Needs(Capability::WallClock));
        assert_eq!(classify_import("wasi:http/outgoing-handler@0.2.0"), Import::Unsupported);
        assert_eq!(classify_import("env"), Import::Unsupported);
        assert_eq!(version_in("throughline:policy/query@0.3.0"), Some("0.3.0"));
        assert_eq!(version_in("wasi:clocks/wall-clock@0.2.3"), None);
    }
}
