//! Throughline's plugin in Claude Code's settings: adds and removes its marketplace and its enabled state, in the form
//! in which Claude Code stores both, without touching anything else.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::json::{Document, PathStep, Piece, Syntax};
use super::malformed::Malformed;
use crate::plugin::{ID, NAME};

/// The settings key for marketplaces by name.
const MARKETPLACES: &str = "extraKnownMarketplaces";

/// The settings key for plugins by `plugin@marketplace`, each with whether it is enabled.
const ENABLED: &str = "enabledPlugins";

/// The plugin's entry in the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// `throughline@…`.
    pub id: String,
    /// Whether the plugin is enabled.
    pub enabled: bool,
    /// The folder of its marketplace, if the marketplace is a folder and these settings name it.
    pub folder: Option<PathBuf>,
}

/// Returns the plugin's entry, whatever its marketplace, or `None` if there is none. If there are several, an enabled
/// one is preferred.
pub fn plugin(text: &str) -> Result<Option<Plugin>, Malformed> {
    let settings = parse(text)?;
    let mut found: Option<Plugin> = None;
    for id in settings.names(&[PathStep::Name(ENABLED)]) {
        let Some((NAME, market)) = id.split_once('@') else { continue };
        // Claude Code also accepts a list of versions, which means that the plugin is enabled.
        let on = !matches!(
            settings.get(&[PathStep::Name(ENABLED), PathStep::Name(&id)]),
            None | Some(Value::Null | Value::Bool(false))
        );
        if found.as_ref().is_none_or(|found| !found.enabled && on) {
            found = Some(Plugin { folder: source(&settings, market).and_then(|it| directory(&it)), id, enabled: on });
        }
    }
    Ok(found)
}

/// Returns the text with the plugin enabled, from the marketplace in `folder`. An existing marketplace of the same name
/// that is not a folder, such as the repository itself, is kept.
pub(super) fn enable(text: &str, folder: &Path) -> Result<String, Malformed> {
    let mut settings = parse(text)?;
    let elsewhere = source(&settings, NAME).is_some_and(|source| directory(&source).is_none());
    let market = json!({"source": {"source": "directory", "path": folder.to_string_lossy()}});
    let mut changed = false;
    if !elsewhere {
        changed = set(&mut settings, &[PathStep::Name(MARKETPLACES), PathStep::Name(NAME)], &market);
    }
    changed |= set(&mut settings, &[PathStep::Name(ENABLED), PathStep::Name(ID)], &Value::Bool(true));
    Ok(if changed { settings.into_text() } else { text.to_owned() })
}

/// Returns the text without what [`enable`] added. If the marketplace is not the one in `folder`, somebody else enabled
/// the plugin, and it is kept.
pub(super) fn disable(text: &str, folder: &Path) -> Result<String, Malformed> {
    let mut settings = parse(text)?;
    if source(&settings, NAME).and_then(|source| directory(&source)).is_none_or(|present| present != folder) {
        return Ok(text.to_owned());
    }
    for (group, name) in [(MARKETPLACES, NAME), (ENABLED, ID)] {
        let group = [PathStep::Name(group)];
        let present = settings.get(&group);
        if present.is_some_and(|members| members.get(name).is_some()) {
            settings.remove(&[group[0], PathStep::Name(name)]);
            // The group is now empty.
            if settings.names(&group).is_empty() {
                settings.remove(&group);
            }
        }
    }
    Ok(settings.into_text())
}

/// Parses settings and checks the groups that this module edits.
fn parse(text: &str) -> Result<Document, Malformed> {
    let settings = Document::parse(text, Syntax::Strict)?;
    for group in [MARKETPLACES, ENABLED] {
        if settings.get(&[PathStep::Name(group)]).is_some_and(|value| !value.is_object()) {
            return Err(Malformed::Shape { place: group.into(), wanted: "an object" });
        }
    }
    Ok(settings)
}

/// Returns the source of a marketplace, if these settings name it.
fn source(settings: &Document, market: &str) -> Option<Value> {
    settings.get(&[PathStep::Name(MARKETPLACES), PathStep::Name(market), PathStep::Name("source")])
}

fn directory(source: &Value) -> Option<PathBuf> {
    (source["source"] == "directory").then(|| source["path"].as_str().map(PathBuf::from))?
}

/// Sets a value. Returns whether anything changed.
fn set(settings: &mut Document, path: &[PathStep<'_>], wanted: &Value) -> bool {
    let changes = settings.get(path).as_ref() != Some(wanted);
    if changes {
        settings.set(path, &to_piece(wanted));
    }
    changes
}

fn to_piece(value: &Value) -> Piece {
    match value {
        Value::Object(members) => Piece::object(members.iter().map(|(name, value)| (name, to_piece(value)))),
        plain => Piece::Plain(plain.clone()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FOLDER: &str = "/home/u/.local/share/throughline/marketplace";

    fn on(text: &str) -> String {
        enable(text, Path::new(FOLDER)).unwrap()
    }

    fn off(text: &str) -> String {
        disable(text, Path::new(FOLDER)).unwrap()
    }

    #[test]
    fn it_is_stored_as_the_client_stores_it() {
        let text = on("");
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            json!({
                "extraKnownMarketplaces": {"throughline": {"source": {"source": "directory", "path": FOLDER}}},
                "enabledPlugins": {"throughline@throughline": true},
            })
        );
        assert_eq!(on(&text), text);
        let found = plugin(&text).unwrap().unwrap();
        assert_eq!(found, Plugin { id: ID.into(), enabled: true, folder: Some(FOLDER.into()) });
        assert_eq!(off(&text), "{}\n");
    }

    #[test]
    fn what_others_put_there_stays() {
        let theirs = "{\n  \"enabledPlugins\": {\n    \"a@b\": true\n  },\n  \"model\": \"opus\"\n}\n";
        let with = on(theirs);
        assert!(with.contains("\"a@b\": true") && with.contains("\"model\": \"opus\""), "{with}");
        assert_eq!(off(&with), theirs);
        assert_eq!(off(theirs), theirs);
    }

    #[test]
    fn another_source_of_it_is_left() {
        let github = json!({
            "extraKnownMarketplaces": {"throughline": {"source": {"source": "github", "repo": "throughline/throughline"}}},
            "enabledPlugins": {"throughline@throughline": false},
        });
        let with: Value = serde_json::from_str(&on(&github.to_string())).unwrap();
        assert_eq!(with["extraKnownMarketplaces"], github["extraKnownMarketplaces"]);
        assert_eq!(with["enabledPlugins"][ID], true);
        assert_eq!(off(&with.to_string()), with.to_string());
        // A marketplace folder of an earlier installation is updated.
        let moved = enable(&on(""), Path::new("/new")).unwrap();
        assert_eq!(plugin(&moved).unwrap().unwrap().folder, Some("/new".into()));
    }

    #[test]
    fn the_one_that_is_on_counts() {
        let of = |enabled: Value| plugin(&json!({"enabledPlugins": enabled}).to_string()).unwrap();
        assert_eq!(of(json!({"throughline-other@x": true, "other@throughline": true})), None);
        assert_eq!(of(json!({"throughline@a": false, "throughline@b": ["1.0"]})).unwrap().id, "throughline@b");
        assert!(!of(json!({"throughline@a": false})).unwrap().enabled);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail(bits in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", "\"enabledPlugins\"", "\"extraKnownMarketplaces\"", ":", ",", "\"throughline@throughline\"",
            "\"throughline\"", "\"source\"", "true", "null", "\u{feff}", "é",
        ]), 0..24)) {
            let text = bits.concat();
            let _ = plugin(&text);
            if let Ok(with) = enable(&text, Path::new(FOLDER)) {
                prop_assert!(plugin(&with).unwrap().unwrap().enabled);
                prop_assert_eq!(enable(&with, Path::new(FOLDER)).unwrap(), with.clone());
                prop_assert!(disable(&with, Path::new(FOLDER)).is_ok());
            }
        }

        #[test]
        fn what_was_enabled_and_disabled_was_never_there(
            model in "\\PC{0,12}", plugins in prop::collection::hash_map("[a-z]{1,6}@[a-z]{1,6}", any::<bool>(), 1..4)
        ) {
            let text = serde_json::to_string_pretty(&json!({"model": model, "enabledPlugins": plugins})).unwrap() + "\n";
            prop_assert_eq!(off(&on(&text)), text);
        }
    }
}
