//! Runs `git` on a repository that somebody else may have made.

use std::path::Path;
use std::process::{Command, Stdio};

/// Returns `git` with nothing in force that could start another program, fetch, or ask.
pub(crate) fn git(root: &Path) -> Command {
    let mut command = Command::new("git");
    command.args(["--no-pager", "--no-replace-objects", "--literal-pathspecs"]);
    for setting in ["core.fsmonitor=false", "log.showSignature=false", "protocol.allow=never", "core.hooksPath=/dev/null"] {
        command.args(["-c", setting]);
    }
    command.arg("-C").arg(root);
    // A hook runs with the agent's environment, which may point git to another repository.
    for name in
        ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT"]
    {
        command.env_remove(name);
    }
    command.envs([("GIT_TERMINAL_PROMPT", "0"), ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_NO_LAZY_FETCH", "1"), ("LC_ALL", "C")]);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command
}
