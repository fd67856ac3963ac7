//! Processes, on Windows: groups, and what there is instead of sessions.

use std::env;
use std::io;
use std::os::windows::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

/// `CREATE_NEW_PROCESS_GROUP`.
const NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// Returns false: an administrator's process is not told from others.
pub fn is_root() -> bool {
    false
}

/// Does nothing: there are no sessions of this kind.
pub fn start_session() -> io::Result<()> {
    Ok(())
}

/// Makes a process that the command starts outlive this one. Fails on Windows: the process would inherit the handles of this
/// one's output, and an agent waits until all of them are closed.
pub fn outlive_parent(_: &mut Command) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "a hook cannot leave a process behind on Windows yet"))
}

/// Runs another program in the place of this one: waits for it, and ends with its exit code. Returns only if it cannot be
/// started.
pub fn replace_with(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

/// Makes the command start its process in a group of its own, so that a Ctrl-C does not reach it.
pub fn in_own_group(command: &mut Command) -> &mut Command {
    command.creation_flags(NEW_PROCESS_GROUP)
}

/// Kills a child and what it has started, if they are still running, and waits for the child.
pub fn kill_group(child: &mut Child) {
    let system = env::var_os("SystemRoot").map_or_else(|| PathBuf::from(r"C:\Windows"), PathBuf::from);
    // The process has not been waited for, so its id cannot have been reused.
    let _ = Command::new(system.join(r"System32\taskkill.exe"))
        .args(["/T", "/F", "/PID", &child.id().to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let _ = child.kill();
    let _ = child.wait();
}

/// Returns false: a killed process has an exit code like any other.
pub fn was_killed(_: ExitStatus) -> bool {
    false
}

/// What a process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimits {
    /// CPU time over all threads, in seconds.
    pub cpu_seconds: u64,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Address space, in bytes.
    pub address_space_bytes: u64,
}

/// Does nothing: this needs a job object, which is not made yet.
pub fn limit_resources(_: ResourceLimits) {}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    /// Is set in the environment of a test that runs itself again.
    const AGAIN: &str = "THROUGHLINE_TEST_PROCESS";

    #[test]
    fn a_child_is_killed() {
        const SLEEP: Duration = Duration::from_secs(20);
        if env::var_os(AGAIN).is_some() {
            println!("started");
            thread::sleep(SLEEP);
            return;
        }
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "--nocapture", "process::tests::a_child_is_killed"]).env(AGAIN, "1").stdout(Stdio::piped());
        let started = Instant::now();
        let mut child = in_own_group(&mut command).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let mut shown = Vec::new();
        while !shown.ends_with(b"started") {
            let mut byte = [0];
            output.read_exact(&mut byte).unwrap();
            shown.push(byte[0]);
        }
        kill_group(&mut child);
        output.read_to_end(&mut shown).unwrap();
        assert!(started.elapsed() < SLEEP);
    }

    #[test]
    fn a_hook_leaves_no_process_behind() {
        let refused = outlive_parent(&mut Command::new("throughline")).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
    }
}
