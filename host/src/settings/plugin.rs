//! Our plugin in Claude Code's settings: the marketplace that it comes from and whether it is enabled, as the client itself
//! stores both, put in and taken out without touching anything else.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::hooks::{Malformed, around, body, object, parse};
use super::json::{Members, Style, raw, value};
use crate::plugin::{ID, NAME};

/// Marketplaces by their names.
const MARKETPLACES: &str = "extraKnownMarketplaces";

/// Plugins by `plugin@marketplace`, and whether each is on.
const ENABLED: &str = "enabledPlugins";

/// What settings say of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// `throughline@…`.
    pub id: String,
    /// Whether it is on.
    pub enabled: bool,
    /// The folder of its marketplace, where that is one and is named here.
    pub folder: Option<PathBuf>,
}

/// What the text says of the plugin, from whichever marketplace it is; none: nothing. Of several, one that is on counts.
pub fn plugin(text: &str) -> Result<Option<Plugin>, Malformed> {
    let members = parse(text)?.members;
    let Some(enabled) = members.get(ENABLED) else { return Ok(None) };
    let enabled = object(enabled, ENABLED)?;
    let mut found: Option<Plugin> = None;
    for id in enabled.names() {
        let Some((NAME, market)) = id.split_once('@') else { continue };
        // The client also takes a list of versions, which means that it is on.
        let on = enabled.get(&id).is_some_and(|raw| !matches!(raw.get(), "false" | "null"));
        if found.as_ref().is_none_or(|found| !found.enabled && on) {
            found = Some(Plugin { folder: source(&members, market).and_then(|it| directory(&it)), id, enabled: on });
        }
    }
    Ok(found)
}

/// The text with the plugin enabled, from the marketplace in `folder`. A marketplace of our name that is no folder, such as the
/// repository itself, stays what it is.
pub fn enable(text: &str, folder: &Path) -> Result<String, Malformed> {
    edit(text, |members, style| {
        let elsewhere = source(members, NAME).is_some_and(|source| directory(&source).is_none());
        let entry = json!({"source": {"source": "directory", "path": folder.to_string_lossy()}});
        let moved = !elsewhere && set(members, MARKETPLACES, NAME, &entry, style)?;
        Ok(set(members, ENABLED, ID, &Value::Bool(true), style)? || moved)
    })
}

/// The text without what [`enable`] put in. Where the marketplace is another than the one in `folder`, the plugin was not ours to
/// enable, and stays.
pub fn disable(text: &str, folder: &Path) -> Result<String, Malformed> {
    edit(text, |members, style| {
        if source(members, NAME).and_then(|source| directory(&source)).is_none_or(|present| present != folder) {
            return Ok(false);
        }
        let market = unset(members, MARKETPLACES, NAME, style)?;
        Ok(unset(members, ENABLED, ID, style)? || market)
    })
}

/// Where the marketplace comes from, as far as it is said here.
fn source(members: &Members, market: &str) -> Option<Value> {
    let markets: Value = serde_json::from_str(members.get(MARKETPLACES)?.get()).ok()?;
    markets.get(market)?.get("source").cloned()
}

fn directory(source: &Value) -> Option<PathBuf> {
    (source["source"] == "directory").then(|| source["path"].as_str().map(PathBuf::from))?
}

fn edit(text: &str, change: impl FnOnce(&mut Members, &Style) -> Result<bool, Malformed>) -> Result<String, Malformed> {
    let body = body(text);
    let style = Style::of(body);
    let mut members = parse(text)?.members;
    if !change(&mut members, &style)? {
        return Ok(text.to_owned());
    }
    let (before, after) = around(text, body);
    Ok(format!("{before}{}{after}", members.write(&style, 0)))
}

/// Sets a member of a member. Returns whether that changed anything.
fn set(members: &mut Members, group: &str, name: &str, wanted: &Value, style: &Style) -> Result<bool, Malformed> {
    let mut inner = members.get(group).map(|raw| object(raw, group)).transpose()?.unwrap_or_default();
    let present = inner.get(name).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    if present.as_ref() == Some(wanted) {
        return Ok(false);
    }
    inner.set(name, laid_out(wanted, style, 2));
    members.set(group, raw(inner.write(style, 1)));
    Ok(true)
}

/// Removes a member of a member, and the outer one where nothing is left in it. Returns whether that changed anything.
fn unset(members: &mut Members, group: &str, name: &str, style: &Style) -> Result<bool, Malformed> {
    let Some(mut inner) = members.get(group).map(|raw| object(raw, group)).transpose()? else { return Ok(false) };
    if inner.get(name).is_none() {
        return Ok(false);
    }
    inner.remove(name);
    if inner.is_empty() {
        members.remove(group);
    } else {
        members.set(group, raw(inner.write(style, 1)));
    }
    Ok(true)
}

/// The value in the file's own layout, where it stands `depth` levels deep.
fn laid_out(plain: &Value, style: &Style, depth: usize) -> Box<serde_json::value::RawValue> {
    let Value::Object(fields) = plain else { return value(plain) };
    let mut members = Members::default();
    for (name, field) in fields {
        members.set(name, laid_out(field, style, depth + 1));
    }
    raw(members.write(style, depth))
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
        // A folder that was ours before is brought up to date.
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
