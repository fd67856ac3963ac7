//! The Claude Code plugin that is embedded in this program: its files, laid out as a marketplace with one plugin, and
//! the folder they are written to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use throughline_platform::files;
use throughline_platform::paths::{self, Paths};

/// The name of the plugin and of its marketplace.
pub const NAME: &str = "throughline";

/// The plugin's identifier in Claude Code: `plugin@marketplace`.
pub const ID: &str = "throughline@throughline";

/// The environment variable by which the plugin's scripts say that they are the caller, and for which event.
pub const EVENT: &str = "THROUGHLINE_PLUGIN_EVENT";

/// The file in which the scripts look for the program first. It contains one line, the path.
const PROGRAM: &str = "plugin/scripts/program";

/// The options that a user can set in the client, as the plugin's manifest names them.
pub const OPTIONS: [&str; 3] = ["checkpoint", "context_budget", "shared_memories"];

/// A file of the plugin.
struct File {
    /// Relative to the root of the marketplace, which is also the root of the repository.
    path: &'static str,
    bytes: &'static [u8],
    mode: u32,
}

macro_rules! file {
    ($path:literal, $mode:literal) => {
        File { path: $path, bytes: include_bytes!(concat!("../../", $path)), mode: $mode }
    };
}

/// All files of the plugin. A test compares them with the repository.
const FILES: [File; 18] = [
    file!(".claude-plugin/marketplace.json", 0o600),
    file!("plugin/.claude-plugin/icon.png", 0o600),
    file!("plugin/.claude-plugin/icon.svg", 0o600),
    file!("plugin/.claude-plugin/plugin.json", 0o600),
    file!("plugin/.mcp.json", 0o600),
    file!("plugin/LICENSE", 0o600),
    file!("plugin/README.md", 0o600),
    file!("plugin/bin/throughline", 0o700),
    file!("plugin/commands/forget.md", 0o600),
    file!("plugin/commands/memory-doctor.md", 0o600),
    file!("plugin/commands/recall.md", 0o600),
    file!("plugin/commands/remember.md", 0o600),
    file!("plugin/commands/resume.md", 0o600),
    file!("plugin/commands/save-context.md", 0o600),
    file!("plugin/hooks/hooks.json", 0o600),
    file!("plugin/scripts/find.sh", 0o600),
    file!("plugin/scripts/hook.sh", 0o700),
    file!("plugin/skills/memory-protocol/SKILL.md", 0o600),
];

/// Returns the marketplace's folder, which all namespaces share.
pub fn folder(paths: &Paths) -> PathBuf {
    paths.default_namespace_data().join("marketplace")
}

/// Writes the files that are missing or differ. The plugin will call `program`.
///
/// # Errors
///
/// A folder or a file cannot be created.
pub fn write(folder: &Path, program: &Path) -> io::Result<()> {
    for (file, bytes, mode) in wanted(folder, program) {
        if fs::read(&file).is_ok_and(|present| present == bytes) {
            continue;
        }
        if let Some(parent) = file.parent() {
            paths::create_private(parent)?;
        }
        files::replace_atomically(&file, &bytes, mode)?;
    }
    Ok(())
}

/// Returns whether every file is as this version would write it.
pub fn is_current(folder: &Path, program: &Path) -> bool {
    wanted(folder, program).all(|(file, bytes, _)| fs::read(file).is_ok_and(|present| present == bytes))
}

/// Removes the files that [`write()`] created and the folders that are then empty. Other files are kept.
///
/// # Errors
///
/// A file cannot be removed.
pub fn remove(folder: &Path) -> io::Result<()> {
    for (file, _, _) in wanted(folder, Path::new("")) {
        if let Err(error) = fs::remove_file(&file)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        for above in file.ancestors().skip(1).take_while(|above| above.starts_with(folder)) {
            if fs::remove_dir(above).is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
                // The folder is not empty.
                break;
            }
        }
    }
    Ok(())
}

fn wanted(folder: &Path, program: &Path) -> impl Iterator<Item = (PathBuf, Vec<u8>, u32)> {
    let line = [program.as_os_str().as_encoded_bytes(), b"\n"].concat();
    let all = FILES.iter().map(|file| (file.path, file.bytes.to_vec(), file.mode));
    all.chain([(PROGRAM, line, 0o600)]).map(|(path, bytes, mode)| (folder.join(path), bytes, mode))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::fs::PermissionsExt;

    use serde_json::Value;

    use super::*;
    use crate::protocol::name::Agent;
    use crate::settings::Profile;

    fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    fn below(folder: &Path, into: &mut BTreeSet<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, into);
            } else {
                into.insert(path.strip_prefix(repository()).unwrap().to_path_buf());
            }
        }
    }

    fn json(path: &str) -> Value {
        let file = FILES.iter().find(|file| file.path == path).unwrap();
        serde_json::from_slice(file.bytes).unwrap()
    }

    #[test]
    fn it_is_the_repositorys() {
        let mut present = BTreeSet::new();
        for folder in [".claude-plugin", "plugin"] {
            below(&repository().join(folder), &mut present);
        }
        let carried: BTreeSet<PathBuf> = FILES.iter().map(|file| PathBuf::from(file.path)).collect();
        assert_eq!(carried, present);
        for file in &FILES {
            let path = repository().join(file.path);
            assert_eq!(fs::read(&path).unwrap(), file.bytes, "{}", file.path);
            let runs = fs::metadata(&path).unwrap().permissions().mode() & 0o100 != 0;
            assert_eq!(runs, file.mode & 0o100 != 0, "{}", file.path);
        }
    }

    #[test]
    fn its_hooks_are_the_standard_profiles() {
        let hooks = json("plugin/hooks/hooks.json")["hooks"].clone();
        let names: Vec<&str> = Profile::Standard.hooks(Agent::ClaudeCode).map(|hook| hook.event).collect();
        assert_eq!(hooks.as_object().unwrap().len(), names.len());
        for hook in Profile::Standard.hooks(Agent::ClaudeCode) {
            let handler = &hooks[hook.event][0]["hooks"][0];
            let mut arguments = vec!["${CLAUDE_PLUGIN_ROOT}/scripts/hook.sh", hook.event];
            arguments.extend(&hook.arguments(Agent::ClaudeCode)[1..]);
            assert_eq!(handler["args"], serde_json::json!(arguments), "{}", hook.event);
            assert_eq!(handler["timeout"], hook.timeout, "{}", hook.event);
        }
    }

    #[test]
    fn its_words_are_the_programs() {
        let manifest = json("plugin/.claude-plugin/plugin.json");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(manifest["repository"], env!("CARGO_PKG_REPOSITORY"));
        assert_eq!(manifest["license"], env!("CARGO_PKG_LICENSE"));
        assert_eq!(manifest["name"], NAME);
        let market = json(".claude-plugin/marketplace.json");
        assert_eq!(format!("{}@{}", market["plugins"][0]["name"].as_str().unwrap(), market["name"].as_str().unwrap()), ID);
        let find = FILES.iter().find(|file| file.path.ends_with("find.sh")).unwrap();
        assert!(String::from_utf8_lossy(find.bytes).contains(concat!(
            "--git ",
            env!("CARGO_PKG_REPOSITORY"),
            " throughline throughline-compiler'"
        )));
        let keys: BTreeSet<&str> = manifest["userConfig"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, OPTIONS.into());
    }

    #[test]
    fn it_is_written_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("marketplace");
        let program = Path::new("/opt/bin/throughline");
        assert!(!is_current(&folder, program));
        write(&folder, program).unwrap();
        assert!(is_current(&folder, program));
        assert!(!is_current(&folder, Path::new("/another")));
        fs::write(folder.join("plugin/README.md"), "old").unwrap();
        assert!(!is_current(&folder, program));
        write(&folder, program).unwrap();
        assert!(is_current(&folder, program));
        fs::write(folder.join("plugin/mine"), "x").unwrap();
        remove(&folder).unwrap();
        let mut left: Vec<PathBuf> = fs::read_dir(folder.join("plugin")).unwrap().map(|it| it.unwrap().path()).collect();
        assert_eq!(left.pop(), Some(folder.join("plugin/mine")));
        assert!(left.is_empty());
        fs::remove_file(folder.join("plugin/mine")).unwrap();
        remove(&folder).unwrap();
        assert!(!folder.exists());
    }
}
