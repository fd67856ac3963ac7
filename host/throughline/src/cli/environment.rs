//! The folders, the configuration and the policies that commands work with.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use super::error::CommandError;
use super::output::{self, DIM};
use throughline_engine::config::ConfigError;
use throughline_engine::runtime::{Runtime, RuntimeError};
use throughline_platform::namespace::InvalidNamespaceName;
use throughline_platform::paths::{NAMESPACE, Paths, PathsError};
use throughline_sandbox::compile;
use throughline_store::{self as store, Access, Store, StoreError};

/// The namespace given with `--namespace`.
static NAMESPACE_OPTION: OnceLock<String> = OnceLock::new();

/// Sets the namespace that was given with `--namespace`. Only the first call has an effect, and it must come before anything
/// reads the namespace.
pub(super) fn set_namespace(name: String) {
    let _ = NAMESPACE_OPTION.set(name);
}

/// Whether a namespace was given with `--namespace`.
pub(super) fn has_namespace_option() -> bool {
    NAMESPACE_OPTION.get().is_some()
}

/// From now on, tells a person at a terminal that a policy is being compiled, if that takes long.
pub(super) fn announce_compiling() {
    if !std::io::stderr().is_terminal() {
        return;
    }
    compile::on_slow(|| {
        // Ignore the error of a closed stderr: nobody is reading.
        let _ = writeln!(
            anstream::stderr().lock(),
            "{DIM}compiling a policy; its compiled form is kept, so this takes long only once{DIM:#}"
        );
    });
}

/// Returns the folders of this machine, in the namespace that was asked for.
pub(super) fn paths() -> Result<Paths, CommandError> {
    let paths = Paths::from_env().map_err(|unknown| match unknown {
        PathsError::Home => CommandError::new("there is no home folder").hint("set HOME or THROUGHLINE_HOME"),
        PathsError::OtherUser(folder) => {
            CommandError::new(format!("this is root, but {} belongs to another user", folder.display()))
                .hint("run it as that user, or set HOME or THROUGHLINE_HOME to a folder of root's")
        }
        PathsError::Namespace(bad) => CommandError::new(format!("{NAMESPACE}: {bad}")).hint(InvalidNamespaceName::HINT),
    })?;
    Ok(match NAMESPACE_OPTION.get() {
        Some(name) => paths.in_namespace(Some(name)),
        None => paths,
    })
}

/// Returns the paths, configuration and policies that commands work with.
pub(super) fn runtime() -> Result<Runtime, CommandError> {
    Ok(runtime_of(paths()?)?)
}

/// Like [`runtime`], for commands that only read: they go on with the defaults if the configuration is broken and no
/// good one is known.
pub(super) fn runtime_for_reading() -> Result<Runtime, CommandError> {
    let runtime = Runtime::for_reading(paths()?)?;
    Ok(with_upgrade(runtime))
}

/// [`Runtime::new`] for a command.
pub(super) fn runtime_of(paths: Paths) -> Result<Runtime, RuntimeError> {
    Runtime::new(paths).map(with_upgrade)
}

/// Upgrades an old database with a message before it is opened, and warns of a broken configuration.
fn with_upgrade(runtime: Runtime) -> Runtime {
    if let Some(fault) = &runtime.config_fault {
        let which =
            if runtime.paths.last_good_config().exists() { "the last good settings" } else { "the default settings" };
        // Ignore the error of a closed stderr: nobody is reading.
        let _ = writeln!(
            anstream::stderr().lock(),
            "warning: the configuration cannot be used; {which} are in force: {}",
            output::clean_line(&fault.to_string())
        );
        if matches!(fault, ConfigError::Invalid { .. }) {
            let _ = writeln!(anstream::stderr().lock(), "hint: `throughline config edit` opens the file");
        }
    }
    runtime.for_command(|runtime| upgrade_database(&runtime.paths.database()))
}

/// Upgrades a large database of an older version, or waits for the process that is upgrading it. A million memories
/// take half a minute, so the person who waits gets a message.
pub(super) fn upgrade_database(database: &Path) -> Result<(), StoreError> {
    /// How long to wait for another process that writes: longer than the slowest upgrade.
    const BUSY_TIMEOUT: Duration = Duration::from_mins(15);
    if !store::needs_long_migration(database) {
        return Ok(());
    }
    // Ignore the error of a closed stderr: nobody is reading.
    let _ = writeln!(
        anstream::stderr().lock(),
        "{DIM}{} is from an older version; upgrading it first{DIM:#}",
        output::clean_line(&database.to_string_lossy())
    );
    Store::open(database, Access::Existing, BUSY_TIMEOUT).map(drop)
}
