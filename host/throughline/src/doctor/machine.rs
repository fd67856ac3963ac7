//! Checks the program itself, its configuration, its folders, the disk and the log.

use std::io;
use std::path::{Path, PathBuf};

use super::finding::Finding;
use throughline_engine::config::Config;
use throughline_platform::log::{self, Level};
use throughline_platform::paths::{self, Paths};
use throughline_platform::{disk, namespace, permissions, program};

/// Below this many free bytes, the disk counts as full: a transaction for one chunk of a transcript needs some space.
const MIN_FREE_BYTES: u64 = 4 << 20;

/// Below this many free bytes, the check warns.
const LOW_FREE_BYTES: u64 = 200 << 20;

/// How far back the log is searched, in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

pub(super) fn program() -> Finding {
    let version = env!("THROUGHLINE_VERSION");
    match program::stable_path() {
        Ok(path) if path.exists() => Finding::ok("program", format!("throughline {version}, {}", path.display())),
        Ok(path) => Finding::fail(
            "program",
            format!("{} was removed while this process was running", path.display()),
            "install the program again, then run `throughline install`",
        ),
        Err(error) => Finding::fail("program", format!("its path is unknown: {error}"), "run it by its full path"),
    }
}

/// Reports a second installation: after an upgrade of one, the other would still be called by somebody.
pub(super) fn installations(paths: &Paths) -> Option<Finding> {
    let found = program::installations(&paths.home);
    let shown: Vec<String> = found.iter().map(|file| paths::display(file, &paths.home)).collect();
    (found.len() > 1).then(|| {
        Finding::warn(
            "program",
            format!("{} installations: {}", found.len(), shown.join(", ")),
            "remove all but one, each with the tool that installed it, then run `throughline install`",
        )
    })
}

pub(super) fn configuration(paths: &Paths, config: &Config) -> Finding {
    let file = paths.config_file();
    let shown = paths::display(&file, &paths.home);
    if !config.enabled {
        return Finding::warn(
            "configuration",
            format!("{shown} turns memory off"),
            "remove `enabled = false` to turn it on",
        );
    }
    if file.exists() {
        Finding::ok("configuration", shown)
    } else {
        Finding::ok("configuration", "all defaults (`throughline config init` writes the file)")
    }
}

pub(super) fn folders(paths: &Paths) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (folder, needed) in [(&paths.data, true), (&paths.cache, true), (&paths.config, false)] {
        findings.extend(folder_finding(folder, needed, paths));
    }
    for file in [paths.database(), paths.log(), paths.config_file()] {
        if std::fs::metadata(&file).is_ok_and(|meta| permissions::others_have_access(&meta)) {
            let shown = paths::display(&file, &paths.home);
            findings.push(Finding::warn("folders", format!("other users can read {shown}"), format!("chmod 600 {shown}")));
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok("folders", paths::display(&paths.data, &paths.home)));
    }
    findings
}

/// Reports the namespace in use, if there are any namespaces.
pub(super) fn namespace(paths: &Paths) -> Option<Finding> {
    let place = paths::display(&paths.data, &paths.home);
    if let Some(name) = &paths.namespace {
        return Some(Finding::ok("namespace", format!("{name}, stored in {place}")));
    }
    let others = namespace::list_namespaces(paths).unwrap_or_default();
    let message = || format!("none, stored in {place}; the others are {}", others.join(", "));
    (!others.is_empty()).then(|| Finding::ok("namespace", message()))
}

/// Returns what is wrong with a folder, if anything.
fn folder_finding(folder: &Path, needed: bool, paths: &Paths) -> Option<Finding> {
    let shown = paths::display(folder, &paths.home);
    let meta = match std::fs::metadata(folder) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return needed.then(|| {
                Finding::warn("folders", format!("{shown} does not exist yet"), "`throughline install` creates it")
            });
        }
        Err(error) => {
            return Some(Finding::fail(
                "folders",
                format!("{shown} cannot be used: {error}"),
                "check the path, or set THROUGHLINE_HOME",
            ));
        }
    };
    if !meta.is_dir() {
        return Some(Finding::fail("folders", format!("{shown} is not a folder"), "move it away, or set THROUGHLINE_HOME"));
    }
    if !permissions::belongs_to_user(&meta) {
        return Some(Finding::warn(
            "folders",
            format!("{shown} belongs to another user"),
            format!("sudo chown $USER {shown}"),
        ));
    }
    if permissions::others_have_access(&meta) {
        return Some(Finding::warn("folders", format!("other users can read {shown}"), format!("chmod 700 {shown}")));
    }
    if needed && !permissions::OWNERS_ARE_KNOWN && !folder.starts_with(&paths.home) {
        let message = format!("{shown} is not below {}, and who can read it cannot be checked here", paths.home.display());
        return Some(Finding::warn("folders", message, "keep Throughline's folders below your own"));
    }
    if needed && !permissions::may_write(folder) {
        return Some(Finding::fail("folders", format!("{shown} cannot be written"), format!("chmod 700 {shown}")));
    }
    None
}

pub(super) fn disk(paths: &Paths) -> Finding {
    let existing =
        paths.data.ancestors().find(|folder| folder.is_dir()).map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
    let hint = "free some space; anything that could not be stored is read again from the transcripts";
    match disk::free_bytes(&existing) {
        Ok(free) => {
            let shown = indicatif::DecimalBytes(free);
            let place = paths::display(&existing, &paths.home);
            match free {
                0..MIN_FREE_BYTES => Finding::fail("disk", format!("the disk of {place} is full: {shown} left"), hint),
                MIN_FREE_BYTES..LOW_FREE_BYTES => Finding::warn("disk", format!("{shown} left for {place}"), hint),
                _ => Finding::ok("disk", format!("{shown} left")),
            }
        }
        Err(error) => Finding::warn("disk", format!("its free space is unknown: {error}"), "check with df"),
    }
}

pub(super) fn log(paths: &Paths, now: u64) -> Finding {
    let file = paths.log();
    let lines = log::read_since(&file, now.saturating_sub(DAY));
    let count = |level| lines.iter().filter(|line| line.level == level).count();
    let (errors, warnings) = (count(Level::Error), count(Level::Warn));
    let Some(last) = lines.iter().rev().find(|line| line.level >= Level::Warn) else {
        return Finding::ok("log", "no warnings from hooks in the last 24 hours");
    };
    Finding::warn(
        "log",
        format!(
            "{errors} error{} and {warnings} warning{} from hooks in the last 24 hours; the latest: {}",
            if errors == 1 { "" } else { "s" },
            if warnings == 1 { "" } else { "s" },
            last.text
        ),
        format!("read {}", paths::display(&file, &paths.home)),
    )
}
