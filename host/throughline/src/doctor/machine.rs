//! What the program stands on: itself, its configuration, its folders, the disk and the log.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::Finding;
use throughline_engine::config::Config;
use throughline_platform::log::{self, Level};
use throughline_platform::namespace;
use throughline_platform::paths::{self, Paths};
use throughline_platform::program;

/// Below this the disk counts as full, bytes: a transaction of one share of a transcript needs some.
const FULL: u64 = 4 << 20;

/// Below this somebody should know, bytes.
const NEARLY_FULL: u64 = 200 << 20;

/// How far back the log is looked through, milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

pub(super) fn program() -> Finding {
    let version = env!("CARGO_PKG_VERSION");
    match program::lasting_path() {
        Ok(path) if path.exists() => Finding::ok("program", format!("throughline {version}, {}", path.display())),
        Ok(path) => Finding::fail(
            "program",
            format!("{} is gone: this process still runs from the removed file", path.display()),
            "install the program again, then run `throughline install`",
        ),
        Err(error) => Finding::fail("program", format!("its path is unknown: {error}"), "call it by its whole path"),
    }
}

pub(super) fn configuration(paths: &Paths, config: &Config) -> Finding {
    let file = paths.config_file();
    let shown = paths::display(&file, &paths.home);
    if !config.enabled {
        return Finding::warn(
            "configuration",
            format!("{shown} turns remembering off"),
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
        if std::fs::metadata(&file).is_ok_and(|meta| meta.mode() & 0o077 != 0) {
            let shown = paths::display(&file, &paths.home);
            findings.push(Finding::warn("folders", format!("others may read {shown}"), format!("chmod 600 {shown}")));
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok("folders", paths::display(&paths.data, &paths.home)));
    }
    findings
}

/// The namespace in use, where there are any.
pub(super) fn namespace(paths: &Paths) -> Option<Finding> {
    let place = paths::display(&paths.data, &paths.home);
    if let Some(name) = &paths.namespace {
        return Some(Finding::ok("namespace", format!("{name}, which remembers in {place}")));
    }
    let others = namespace::all(paths).unwrap_or_default();
    let message = || format!("none, which remembers in {place}; there are {}", others.join(", "));
    (!others.is_empty()).then(|| Finding::ok("namespace", message()))
}

/// What is wrong with a folder, if anything is.
fn folder_finding(folder: &Path, needed: bool, paths: &Paths) -> Option<Finding> {
    let shown = paths::display(folder, &paths.home);
    let meta = match std::fs::metadata(folder) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return needed
                .then(|| Finding::warn("folders", format!("{shown} does not exist yet"), "`throughline install` makes it"));
        }
        Err(error) => {
            return Some(Finding::fail(
                "folders",
                format!("{shown} cannot be used: {error}"),
                "check what stands in its way, or set THROUGHLINE_HOME",
            ));
        }
    };
    if !meta.is_dir() {
        return Some(Finding::fail("folders", format!("{shown} is no folder"), "move it away, or set THROUGHLINE_HOME"));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Some(Finding::warn(
            "folders",
            format!("{shown} belongs to another user"),
            format!("sudo chown $USER {shown}"),
        ));
    }
    if meta.permissions().mode() & 0o077 != 0 {
        return Some(Finding::warn("folders", format!("others may look into {shown}"), format!("chmod 700 {shown}")));
    }
    if needed && rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err() {
        return Some(Finding::fail("folders", format!("{shown} cannot be written"), format!("chmod 700 {shown}")));
    }
    None
}

pub(super) fn disk(paths: &Paths) -> Finding {
    let existing =
        paths.data.ancestors().find(|folder| folder.is_dir()).map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
    let hint = "free some space; what could not be stored is read again from the transcripts";
    match rustix::fs::statvfs(&existing) {
        Ok(stat) => {
            let free = stat.f_bavail.saturating_mul(stat.f_frsize);
            let shown = indicatif::DecimalBytes(free);
            let place = paths::display(&existing, &paths.home);
            match free {
                0..FULL => Finding::fail("disk", format!("the disk of {place} is full: {shown} of space left"), hint),
                FULL..NEARLY_FULL => Finding::warn("disk", format!("{shown} of space left for {place}"), hint),
                _ => Finding::ok("disk", format!("{shown} of space left")),
            }
        }
        Err(error) => Finding::warn("disk", format!("its free space is unknown: {error}"), "look with df"),
    }
}

pub(super) fn log(paths: &Paths, now: u64) -> Finding {
    let file = paths.log();
    let lines = log::since(&file, now.saturating_sub(DAY));
    let count = |level| lines.iter().filter(|line| line.level == level).count();
    let (errors, warnings) = (count(Level::Error), count(Level::Warn));
    let Some(last) = lines.iter().rev().find(|line| line.level >= Level::Warn) else {
        return Finding::ok("log", "no warnings of hooks in the last 24 hours");
    };
    Finding::warn(
        "log",
        format!(
            "the last 24 hours saw {errors} error{} and {warnings} warning{} of hooks; the last one: {}",
            if errors == 1 { "" } else { "s" },
            if warnings == 1 { "" } else { "s" },
            last.text
        ),
        format!("read {}", paths::display(&file, &paths.home)),
    )
}
