//! Changes single settings in the text of the configuration file. Every other byte stays, comments included.

use std::fmt;

use toml_edit::{DocumentMut, Item, Table, Value, value};

use crate::config::{Config, nearest};

/// Why a setting cannot be read or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditError {
    /// There is no setting of this name. The names that there are, if it names a section.
    Unknown {
        /// What was asked for.
        key: String,
        /// The settings of the section, or all of them.
        known: Vec<String>,
        /// The setting with the nearest name, if one is near.
        near: Option<String>,
    },
    /// The file is not TOML.
    Syntax(String),
    /// The file would not be a valid configuration afterwards.
    Invalid(String),
    /// The setting cannot have this value.
    Value {
        /// The setting.
        key: String,
        /// What is wrong with it.
        what: String,
        /// The default, if the setting has one.
        default: Option<String>,
    },
}

impl EditError {
    /// What the user can do.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { near, .. } => match near {
                Some(near) => format!("did you mean {near}? `throughline config show` prints every setting"),
                None => "`throughline config show` prints every setting with its name".into(),
            },
            Self::Syntax(_) => "`throughline config edit` opens the file".into(),
            Self::Value { key, default: Some(default), .. } => {
                format!("the default is {default}: `throughline config set {key} {default}`")
            }
            Self::Invalid(_) | Self::Value { .. } => {
                "`throughline config init` writes a file that explains every setting".into()
            }
        }
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { key, known, .. } => write!(f, "there is no setting {key}; known are {}", known.join(", ")),
            Self::Syntax(what) => write!(f, "the file is not valid, so nothing was changed: {what}"),
            Self::Invalid(what) => write!(f, "nothing was changed: {what}"),
            // The value is not quoted: it may be a key that somebody pasted.
            Self::Value { key, what, .. } => write!(f, "nothing was changed: {key} cannot have this value: {what}"),
        }
    }
}

impl std::error::Error for EditError {}

/// Returns the settings as TOML. A setting that is not the default has a comment which says what the default is.
pub fn with_defaults(config: &Config) -> Result<String, EditError> {
    let text = |config: &Config| toml::to_string(config).map_err(|error| EditError::Invalid(error.to_string()));
    let (mut document, default) = (parse(&text(config)?)?, parse(&text(&Config::default())?)?);
    note_defaults(document.as_table_mut(), default.as_table());
    Ok(document.to_string())
}

fn note_defaults(table: &mut Table, default: &Table) {
    for (name, item) in table.iter_mut() {
        let before = default.get(&name);
        match item {
            Item::Table(table) => note_defaults(table, before.and_then(Item::as_table).unwrap_or(&Table::new())),
            Item::Value(value) => {
                let old = before.and_then(Item::as_value).map(|value| value.to_string().trim().to_owned());
                if old.as_deref() != Some(value.to_string().trim()) {
                    let said = old.map_or_else(|| "no default".to_owned(), |old| format!("default: {old}"));
                    value.decor_mut().set_suffix(format!(" # {}", said.replace('\n', " ")));
                }
            }
            _ => {}
        }
    }
}

/// Returns the value of a setting (`context.budget`), or of a section, as it is in force. A setting that has no value is unknown.
pub fn get(config: &Config, key: &str) -> Result<toml::Value, EditError> {
    let all = toml::Value::try_from(config).map_err(|error| EditError::Invalid(error.to_string()))?;
    let mut at = &all;
    for part in key.split('.') {
        at = at.get(part).ok_or_else(|| unknown(&all, key))?;
    }
    Ok(at.clone())
}

/// Returns `text` with the setting. `new` is a TOML value, and anything that is none is a string.
pub fn set(text: &str, key: &str, new: &str) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let parsed = new.trim().parse::<Value>().unwrap_or_else(|_| new.into());
    let (name, table) = section(&mut document, key, true).ok_or_else(|| not_a_setting(key))?;
    if let Some(Item::Value(old)) = table.get_mut(name) {
        // The comment behind the old value stays.
        let decor = old.decor().clone();
        *old = parsed;
        *old.decor_mut() = decor;
    } else {
        table.insert(name, value(parsed));
    }
    checked(&document, key).map_err(|error| refused(error, text, key))
}

/// Names the value if it is the reason: the text was valid before. TOML's own message names a line that is not in the
/// user's file.
fn refused(error: EditError, text: &str, key: &str) -> EditError {
    let EditError::Invalid(what) = error else { return error };
    if Config::parse(text).is_err() {
        return EditError::Invalid(what);
    }
    let default = toml::Value::try_from(Config::default())
        .ok()
        .and_then(|all| key.split('.').try_fold(&all, |at, part| at.get(part)).map(ToString::to_string));
    let what = what.strip_prefix("line ").and_then(|rest| rest.split_once(": ")).map_or(what.as_str(), |(_, what)| what);
    EditError::Value { key: key.to_owned(), what: what.to_owned(), default }
}

/// Returns `text` without the setting, so that its default is in force; `None` if the text does not set it.
pub fn unset(text: &str, key: &str) -> Result<Option<String>, EditError> {
    let mut document = parse(text)?;
    // A key that the file has may be one of another version.
    let removed = section(&mut document, key, false).and_then(|(name, table)| table.remove(name));
    if removed.is_some() {
        remove_empty_sections(&mut document, key);
    }
    if removed.is_none() {
        check_name(key)?;
    }
    removed.map(|_| checked(&document, key)).transpose()
}

/// Removes the sections above a setting that have become empty, unless a comment stands above them.
fn remove_empty_sections(document: &mut DocumentMut, key: &str) {
    let mut above = key;
    while let Some((parent, _)) = above.rsplit_once('.') {
        let is_bare = |table: &Table| {
            let comment = table.decor().prefix().and_then(|prefix| prefix.as_str());
            table.is_empty() && comment.is_none_or(|text| text.trim().is_empty())
        };
        let Some((name, table)) = section(document, parent, false) else { return };
        if !table.get(name).and_then(Item::as_table).is_some_and(is_bare) {
            return;
        }
        table.remove(name);
        above = parent;
    }
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse().map_err(|error: toml_edit::TomlError| EditError::Syntax(error.to_string().trim().to_owned()))
}

/// Returns the last part of a key and the table that has it, which is made if `make`.
fn section<'k, 'd>(document: &'d mut DocumentMut, key: &'k str, make: bool) -> Option<(&'k str, &'d mut Table)> {
    let (above, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut table = document.as_table_mut();
    for part in above.split('.').filter(|part| !part.is_empty()) {
        if make && !table.contains_key(part) {
            table.insert(part, Item::Table(Table::new()));
        }
        table = table.get_mut(part)?.as_table_mut()?;
    }
    Some((name, table))
}

/// Returns the text if it is a valid configuration.
fn checked(document: &DocumentMut, key: &str) -> Result<String, EditError> {
    let text = document.to_string();
    match Config::parse(&text) {
        Ok(_) => Ok(text),
        Err(what) if what.to_string().contains("unknown key") => Err(not_a_setting(key)),
        Err(what) => Err(EditError::Invalid(what.into())),
    }
}

/// Returns an error if there is no setting and no section of this name. A setting without a default is known by name only
/// to the configuration itself.
fn check_name(key: &str) -> Result<(), EditError> {
    let mut document = DocumentMut::new();
    let Some((name, table)) = section(&mut document, key, true) else { return Err(not_a_setting(key)) };
    // The value may be of the wrong type, which is another error.
    table.insert(name, value(0));
    match Config::parse(&document.to_string()) {
        Err(what) if what.to_string().contains("unknown key") => Err(not_a_setting(key)),
        _ => Ok(()),
    }
}

fn not_a_setting(key: &str) -> EditError {
    match toml::Value::try_from(Config::default()) {
        Ok(all) => unknown(&all, key),
        Err(error) => EditError::Invalid(error.to_string()),
    }
}

fn unknown(all: &toml::Value, key: &str) -> EditError {
    let names = |section: &str, table: &toml::Table| -> Vec<String> {
        table.keys().map(|name| format!("{section}.{name}")).collect()
    };
    let top = || all.as_table().into_iter().flatten();
    let within = key.split_once('.').and_then(|(section, _)| Some((section, all.get(section)?.as_table()?)));
    let known: Vec<String> = match within {
        Some((section, table)) => names(section, table),
        None => top().map(|(name, _)| name.clone()).collect(),
    };
    let everywhere = top().filter_map(|(name, value)| Some(names(name, value.as_table()?))).flatten().chain(known.clone());
    let near = nearest(key, &known).or(nearest(key, &everywhere.collect::<Vec<_>>())).map(str::to_owned);
    EditError::Unknown { key: key.to_owned(), known, near }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_setting_is_changed_and_comments_stay() {
        let text = "# mine\n[context]\nbudget = 9000 # enough\n\n[gc]\nkeep = 5\n";
        let changed = set(text, "context.budget", "8000").unwrap();
        assert_eq!(changed, text.replace("9000", "8000"));
        assert_eq!(set(&changed, "context.budget", "9000").unwrap(), text);
        assert_eq!(unset(text, "gc.keep").unwrap().unwrap(), "# mine\n[context]\nbudget = 9000 # enough\n");
        assert_eq!(unset(text, "context.budget").unwrap().unwrap(), "# mine\n[context]\n\n[gc]\nkeep = 5\n");
        let added = set(text, "notice.start", "false").unwrap();
        assert!(added.starts_with(text) && added.ends_with("[notice]\nstart = false\n"), "{added}");
        assert_eq!(set("", "enabled", "false").unwrap(), "enabled = false\n");
        assert_eq!(set("", "search.profile", "text").unwrap(), "[search]\nprofile = \"text\"\n");
        assert_eq!(set("", "privacy.exclude_paths", "[\"*.pem\"]").unwrap(), "[privacy]\nexclude_paths = [\"*.pem\"]\n");
        assert_eq!(unset(text, "projections.folder").unwrap(), None);
        assert!(matches!(unset(text, "nosuch").unwrap_err(), EditError::Unknown { .. }));
        let near = unset(text, "contxt.budget").unwrap_err();
        assert_eq!(near.hint(), "did you mean context.budget? `throughline config show` prints every setting");
    }

    #[test]
    fn what_is_not_the_default_is_marked() {
        let config = Config::parse("[context]\nbudget = 8000\n[privacy]\nexclude_paths = [\"*.pem\"]\n").unwrap();
        let text = with_defaults(&config).unwrap();
        let marked: Vec<&str> = text.lines().filter(|line| line.contains(" # ")).collect();
        assert_eq!(marked, ["budget = 8000 # default: 9500", "exclude_paths = [\"*.pem\"] # default: []"]);
        assert_eq!(Config::parse(&text).unwrap().context.budget, 8000);
        assert!(!with_defaults(&Config::default()).unwrap().contains('#'));
    }

    #[test]
    fn what_is_wrong_is_said_and_nothing_is_changed() {
        let unknown = set("", "context.bugdet", "1").unwrap_err();
        assert_eq!(unknown.to_string(), "there is no setting context.bugdet; known are context.budget");
        assert!(matches!(set("", "x", "1").unwrap_err(), EditError::Unknown { known, .. } if known.contains(&"gc".into())));
        assert!(matches!(set("", "enabled.x", "1").unwrap_err(), EditError::Value { .. }));
        assert_eq!(unknown.hint(), "did you mean context.budget? `throughline config show` prints every setting");
        let many = set("", "context.budget", "many").unwrap_err();
        assert!(many.to_string().starts_with("nothing was changed: context.budget cannot have this value: "), "{many}");
        assert!(!many.to_string().contains("line "), "{many}");
        assert_eq!(many.hint(), "the default is 9500: `throughline config set context.budget 9500`");
        assert!(matches!(set("", "context.budget", "1").unwrap_err(), EditError::Value { .. }));
        let before = set("[context]\nbudget = 1\n", "enabled", "false").unwrap_err();
        assert!(matches!(before, EditError::Invalid(_)), "what was wrong before is not the new value's fault: {before}");
        assert!(matches!(set("[context", "context.budget", "900").unwrap_err(), EditError::Syntax(_)));
    }

    #[test]
    fn every_setting_is_known_by_its_name() {
        let config = Config::default();
        assert_eq!(get(&config, "context.budget").unwrap(), toml::Value::Integer(9_500));
        assert!(get(&config, "context").unwrap().is_table());
        assert!(matches!(get(&config, "context.x").unwrap_err(), EditError::Unknown { .. }));
    }

    proptest! {
        #[test]
        fn what_is_set_is_in_force_or_refused(key in "[a-z_.\"\\[ ]{0,12}", new in "\\PC{0,12}") {
            if let Ok(text) = set("# top\n[gc]\nkeep = 7\n", &key, &new) {
                prop_assert!(Config::parse(&text).is_ok() && text.contains("# top"));
            }
        }
    }
}
