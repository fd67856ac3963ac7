//! Checks whether the plugin is enabled, where, and whether its files are from this version.

use std::path::Path;

use super::finding::Finding;
use super::hooks::SettingsFile;
use throughline_agents::plugin;
use throughline_agents::settings::{self, Plugin};
use throughline_platform::paths::{self, Paths};

/// How to repair the plugin.
const INSTALL: &str = "run `throughline install --plugin`";

/// The plugin, and the settings file that enables it.
pub(super) struct Enabled<'a> {
    source: &'a SettingsFile,
    plugin: Plugin,
}

/// Finds the plugin as Claude Code does: if several settings files name it, the most specific one counts, and the
/// administrator's overrides all others. Returns `None` if it is disabled. The check of the hooks reports invalid
/// files.
pub(super) fn enabled(sources: &[SettingsFile]) -> Option<Enabled<'_>> {
    let mut named = sources.iter().filter_map(|source| Some((source, settings::plugin(&source.text).ok()??)));
    let (source, mut plugin) = named.next_back().filter(|(_, plugin)| plugin.enabled)?;
    if plugin.folder.is_none() {
        // One file may name the marketplace, and another may enable the plugin.
        let others = sources.iter().filter_map(|source| settings::plugin(&source.text).ok()?);
        plugin.folder = others.filter(|other| other.id == plugin.id).find_map(|other| other.folder);
    }
    Some(Enabled { source, plugin })
}

impl Enabled<'_> {
    /// Returns whether an administrator enabled the plugin.
    pub(super) fn is_managed(&self) -> bool {
        self.source.managed
    }

    /// Reports the state of the plugin. `beside`: whether settings register hooks too.
    pub(super) fn finding(&self, paths: &Paths, program: &Path, beside: bool) -> Finding {
        let id = &self.plugin.id;
        let shown = paths::display(&self.source.file, &paths.home);
        if let Some(folder) = &self.plugin.folder {
            let from = paths::display(folder, &paths.home);
            if !folder.join(".claude-plugin/marketplace.json").is_file() {
                let message = format!("{shown} enables {id} from {from}, which does not contain it");
                return Finding::fail("plugin", message, INSTALL);
            }
            if *folder == plugin::folder(paths) && !plugin::is_current(folder, program) {
                let message = format!("{id} in {from} is from another version, or calls a different program");
                return Finding::warn("plugin", message, INSTALL);
            }
        }
        let does = if beside { "its hooks do nothing for events that settings register" } else { "it registers the hooks" };
        Finding::ok("plugin", format!("{id} is enabled in {shown}; {does}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn source(file: &str, on: bool, managed: bool) -> SettingsFile {
        let text = json!({"enabledPlugins": {"throughline@throughline": on}}).to_string();
        SettingsFile { file: file.into(), text, managed }
    }

    #[test]
    fn the_most_particular_counts() {
        let user = source("user", true, false);
        let nothing = SettingsFile { file: "project".into(), text: "{}".into(), managed: false };
        assert!(enabled(&[]).is_none());
        assert!(enabled(&[user, nothing]).is_some());
        assert!(enabled(&[source("user", true, false), source("local", false, false)]).is_none());
        assert!(enabled(&[source("local", false, false), source("managed", true, true)]).is_some_and(|it| it.is_managed()));
    }
}
