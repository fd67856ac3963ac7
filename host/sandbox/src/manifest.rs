//! Reads `policy.toml`: what a policy says about itself and what it requests. Nothing in it is trusted unchecked: the
//! component must have the digest and the stages that the manifest names, and only granted capabilities are usable.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::capability::{self, Capabilities};
use super::engine::Limits;
use super::stage::Stage;
use throughline_model::digest::is_sha256_hex;
use throughline_model::invalid::Invalid;

/// The manifest's file name in a policy's folder.
pub const FILE: &str = "policy.toml";

/// The longest policy name, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// The highest limits that a manifest may request. Managed configuration can only lower them.
const MAX_MEMORY_MIB: u32 = 512;
const MAX_TIME_MS: u32 = 10_000;
const MAX_OUTPUT_KIB: u32 = 65_536;

/// A policy's manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "policy.toml", description = "The manifest of a Throughline policy."))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Manifest {
    /// Lower-case letters, digits and hyphens, at most 64; unique among the policies of one folder.
    pub name: String,
    /// The policy's own version.
    pub version: String,
    /// One line for people.
    pub description: String,
    /// The version of the contract that it was built for, such as `0.1.0`.
    pub contract: String,
    /// The component's file name, in the manifest's folder.
    #[serde(default = "component")]
    pub component: String,
    /// The component's SHA-256, hexadecimal. `throughline policy build` writes it; only source folders lack it.
    pub sha256: Option<String>,
    /// The stages that it has, and whether each replaces weaker policies or is added to them.
    pub stages: BTreeMap<Stage, Mode>,
    /// For a redactor: if it fails, or cannot run, what it could not check is neither kept nor shown. Otherwise the other
    /// redactors have to suffice.
    #[serde(default)]
    pub required: bool,
    /// The capabilities that it requests. Each must also be granted.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// The limits that it requests.
    #[serde(default)]
    pub limits: RequestedLimits,
    /// The settings that it reads, with their types and defaults.
    #[serde(default)]
    pub settings: BTreeMap<String, Setting>,
    /// How `throughline policy build` makes the component; only in a source folder.
    pub build: Option<Build>,
}

fn component() -> String {
    "policy.wasm".into()
}

/// How a policy's stage relates to the same stage of weaker policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Only this policy's answer counts; the weaker policies answer if it fails.
    Replace,
    /// Works together with the next weaker policy: an extractor adds its drafts and notes; a context builder's text
    /// is appended; a summarizer, an observer and a query planner are called first, and the weaker policy only if they
    /// have no answer. Redactors always have this mode.
    Add,
}

/// The limits that a manifest requests; the default applies to those it leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RequestedLimits {
    /// Total linear memory, MiB: 1 to 512, by default 96.
    pub memory_mib: Option<u32>,
    /// The longest that one call may take, milliseconds: 1 to 10000, by default 2000.
    pub time_ms: Option<u32>,
    /// The most that one call may pass to the host, KiB: 1 to 65536, by default 8192.
    pub output_kib: Option<u32>,
}

/// A setting that a policy reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Setting {
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: SettingType,
    /// The value if the user sets none.
    pub default: Option<Value>,
    /// One line for people.
    #[serde(default)]
    pub description: String,
}

/// The type of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SettingType {
    /// A string.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A list of strings.
    List,
}

impl SettingType {
    fn accepts(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::List => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::List => "a list of strings",
        }
    }
}

/// How a component is built from source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Build {
    /// The language of the source.
    pub language: Language,
    /// The contract's world that it targets.
    pub world: String,
}

/// A language that `throughline policy build` can build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// Built with cargo.
    Rust,
    /// Built with componentize-py.
    Python,
    /// Built with componentize-js.
    #[serde(rename = "javascript")]
    JavaScript,
}

impl Language {
    /// All languages, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::Rust, Self::Python, Self::JavaScript];

    /// Returns the name in manifests and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::JavaScript => "javascript",
        }
    }
}

impl std::str::FromStr for Language {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::ALL
            .into_iter()
            .find(|language| language.name() == text)
            .ok_or_else(|| format!("unknown language {text:?}; the languages are rust, python and javascript").into())
    }
}

/// Whether this is a valid policy name. Names appear in paths, configuration keys and logs.
pub fn is_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !name.starts_with('-')
}

impl Manifest {
    /// Parses and validates a manifest. The error says what is wrong and where.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let manifest: Self = toml::from_str(text).map_err(Invalid::because)?;
        manifest.validate()?;
        Ok(manifest)
    }

    fn validate(&self) -> Result<(), Invalid> {
        if !is_name(&self.name) {
            return Err(
                format!("name is {:?}, but must be lower-case letters, digits and hyphens, at most 64", self.name).into()
            );
        }
        if self.version.is_empty()
            || self.version.len() > MAX_NAME_BYTES
            || self.version.chars().any(|c| c.is_control() || c == ' ')
        {
            return Err("version must be one word".into());
        }
        if self.description.chars().any(char::is_control) || self.description.len() > 500 {
            return Err("description must be one line of at most 500 bytes".into());
        }
        if !capability::is_supported(&self.contract) {
            return Err(format!(
                "contract is {:?}, but this version of Throughline supports {}",
                self.contract,
                capability::SUPPORTED_VERSIONS.join(", ")
            )
            .into());
        }
        if self.contract.starts_with("0.1.") && (self.capabilities.model || self.stages.contains_key(&Stage::Consolidator)) {
            return Err(format!(
                "contract is {:?}, which has neither the capability model nor the stage consolidator: both are new in 0.2.0",
                self.contract
            )
            .into());
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let is_wasm = std::path::Path::new(&self.component).extension().is_some_and(|extension| extension == "wasm");
        if self.component.starts_with('.') || !is_wasm || !self.component.chars().all(plain) {
            return Err(format!("component is {:?}, but must be a file name that ends in .wasm", self.component).into());
        }
        if self.sha256.as_deref().is_some_and(|digest| !is_sha256_hex(digest)) {
            return Err("sha256 must be 64 hexadecimal digits in lower case".into());
        }
        if self.stages.is_empty() {
            return Err("[stages] names no stage".into());
        }
        if self.stages.get(&Stage::Redactor) == Some(&Mode::Replace) {
            return Err("a redactor cannot replace others: write redactor = \"add\"".into());
        }
        if self.required && !self.stages.contains_key(&Stage::Redactor) {
            return Err("required is only for policies that have the stage redactor".into());
        }
        for (name, asked, most) in [
            ("memory-mib", self.limits.memory_mib, MAX_MEMORY_MIB),
            ("time-ms", self.limits.time_ms, MAX_TIME_MS),
            ("output-kib", self.limits.output_kib, MAX_OUTPUT_KIB),
        ] {
            if let Some(asked) = asked.filter(|asked| !(1..=most).contains(asked)) {
                return Err(format!("limits.{name} is {asked}, but must be between 1 and {most}").into());
            }
        }
        for (name, setting) in &self.settings {
            if let Some(default) = setting.default.as_ref().filter(|default| !setting.kind.accepts(default)) {
                return Err(
                    format!("the default of settings.{name} is {default}, but must be {}", setting.kind.word()).into()
                );
            }
        }
        Ok(())
    }

    /// Returns the limits of its instances.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        if let Some(mib) = self.limits.memory_mib {
            limits.memory_bytes = (mib as usize) << 20;
        }
        if let Some(ms) = self.limits.time_ms {
            limits.time = std::time::Duration::from_millis(ms.into());
        }
        if let Some(kib) = self.limits.output_kib {
            limits.output_bytes = (kib as usize) << 10;
        }
        limits
    }

    /// Returns the policy's settings: the defaults, overridden by what the user set. A value of the wrong type is an
    /// error, and so is a key that the manifest does not declare.
    pub fn settings(&self, set: Option<&serde_json::Map<String, Value>>) -> Result<serde_json::Map<String, Value>, Invalid> {
        let mut settings: serde_json::Map<String, Value> =
            self.settings.iter().filter_map(|(name, setting)| Some((name.clone(), setting.default.clone()?))).collect();
        for (key, value) in set.into_iter().flatten() {
            match self.settings.get(key) {
                None => {
                    return Err(format!("[policy.{}] sets {key}, which is not a setting of the policy", self.name).into());
                }
                Some(setting) if !setting.kind.accepts(value) => {
                    return Err(format!(
                        "[policy.{}] sets {key} to {value}, but it must be {}",
                        self.name,
                        setting.kind.word()
                    )
                    .into());
                }
                Some(_) => {
                    settings.insert(key.clone(), value.clone());
                }
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WHOLE: &str = r#"
name = "adr"
version = "0.1.0"
description = "Decision records"
contract = "0.1.0"
component = "policy.wasm"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
[stages]
extractor = "add"
redactor = "add"
[capabilities]
transcript = true
memories = ["decision"]
[limits]
time-ms = 50
[settings.marker]
type = "string"
default = "DECISION"
"#;

    #[test]
    fn a_whole_manifest_is_read() {
        let manifest = Manifest::parse(WHOLE).unwrap();
        assert_eq!(manifest.stages[&Stage::Extractor], Mode::Add);
        assert_eq!(manifest.limits().time.as_millis(), 50);
        assert_eq!(manifest.settings(None).unwrap()["marker"], "DECISION");
        let user = serde_json::json!({ "marker": "BESCHLUSS" });
        assert_eq!(manifest.settings(user.as_object()).unwrap()["marker"], "BESCHLUSS");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (from, to, word) in [
            ("version", "versoin", "versoin"),
            ("\"adr\"", "\"Adr\"", "name is"),
            ("\"adr\"", "\"../adr\"", "name is"),
            ("\"policy.wasm\"", "\"../policy.wasm\"", "component is"),
            ("\"0.1.0\"\ncomponent", "\"0.3.0\"\ncomponent", "supports 0.2.0, 0.1.0"),
            ("sha256 = \"00", "sha256 = \"zz", "sha256"),
            ("redactor = \"add\"", "redactor = \"replace\"", "cannot replace"),
            ("extractor", "extracter", "extracter"),
            ("transcript = true", "files = true", "files"),
            ("transcript = true", "model = true", "new in 0.2.0"),
            ("extractor = \"add\"", "consolidator = \"add\"", "new in 0.2.0"),
            ("time-ms = 50", "time-ms = 0", "limits.time-ms is 0"),
            ("time-ms = 50", "time-ms = 20000", "between 1 and 10000"),
            ("default = \"DECISION\"", "default = 1", "must be a string"),
        ] {
            let text = WHOLE.replacen(from, to, 1);
            assert_ne!(text, WHOLE);
            let error = Manifest::parse(&text).unwrap_err();
            assert!(error.to_string().contains(word), "{to}: {error}");
        }
        let manifest = Manifest::parse(WHOLE).unwrap();
        let set = |value: Value| manifest.settings(value.as_object()).unwrap_err();
        assert!(set(serde_json::json!({ "marker": 1 })).to_string().contains("must be a string"));
        assert!(set(serde_json::json!({ "makrer": "x" })).to_string().contains("makrer"));
    }

    /// `UPDATE=1 cargo test -p throughline-sandbox --features schema schema` updates the file.
    #[cfg(feature = "schema")]
    #[test]
    fn the_shipped_schema_is_this_one() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/policy.schema.json");
        let schema = serde_json::to_string_pretty(&schemars::schema_for!(Manifest)).unwrap() + "\n";
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(file, &schema).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(file).unwrap_or_default(),
            schema,
            "UPDATE=1 cargo test -p throughline-sandbox --features schema schema"
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,200}", cut in 0_usize..400) {
            let _ = Manifest::parse(&text);
            let cut = WHOLE.floor_char_boundary(cut.min(WHOLE.len()));
            let _ = Manifest::parse(&format!("{}{text}{}", &WHOLE[..cut], &WHOLE[cut..]));
        }
    }
}
