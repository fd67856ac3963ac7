//! Processes: sessions, groups, limits of resources, and the user they run as.

use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, Resource, Rlimit, Signal, geteuid, getrlimit, kill_process_group, setrlimit, setsid};

/// Returns whether this process runs as root.
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// Moves this process to a session and a process group of its own, so that it survives the terminal and the group of
/// its parent. Fails if it already leads a group.
pub fn start_session() -> io::Result<()> {
    setsid()?;
    Ok(())
}

/// Makes a process that the command starts outlive this one. The process itself has to call [`start_session`].
pub fn outlive_parent(_: &mut Command) -> io::Result<()> {
    Ok(())
}

/// Puts another program in the place of this one. Returns only if that fails.
pub fn replace_with(command: &mut Command) -> io::Error {
    command.exec()
}

/// Makes the command start its process in a group of its own, so that everything the process starts can be killed with
/// it ([`kill_group`]).
pub fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Kills a child that leads a process group ([`in_own_group`]) and its group, if they are still running, and waits for
/// the child.
pub fn kill_group(child: &mut Child) {
    // The process has not been waited for, so its id cannot have been reused.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
}

/// Returns whether a signal ended the process.
pub fn was_killed(status: ExitStatus) -> bool {
    status.signal().is_some()
}

/// What a process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimits {
    /// CPU time over all threads, in seconds.
    pub cpu_seconds: u64,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Address space, in bytes. It also counts memory that is only reserved, and some systems count nothing else.
    pub address_space_bytes: u64,
}

/// Limits this process. The limits cannot be raised again. A limit that cannot be set stays as it was. A process that
/// runs into one leaves no core file.
pub fn limit_resources(limits: ResourceLimits) {
    let ResourceLimits { cpu_seconds, memory_bytes, address_space_bytes } = limits;
    for (resource, most) in [
        (Resource::Cpu, cpu_seconds),
        (Resource::Data, memory_bytes),
        (Resource::As, address_space_bytes),
        (Resource::Core, 0),
    ] {
        let now = getrlimit(resource);
        let most = now.maximum.map_or(most, |hard| hard.min(most));
        // If a limit cannot be set, the old one stays in force.
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::io::Read as _;
    use std::process::Stdio;

    use rustix::process::{getpid, getsid};

    use super::*;

    /// Is set in the environment of a test that runs itself again.
    const AGAIN: &str = "THROUGHLINE_TEST_PROCESS";

    /// The limits of the test, which are more than it needs.
    const CPU_SECONDS: u64 = 60;
    const ADDRESS_SPACE_BYTES: u64 = 1 << 40;

    #[test]
    fn a_process_limits_and_detaches_itself() {
        // Neither can be undone, so another process does it: this test, run again.
        if env::var_os(AGAIN).is_some() {
            start_session().unwrap();
            assert_eq!(getsid(None).unwrap(), getpid());
            assert!(start_session().is_err());
            limit_resources(ResourceLimits {
                cpu_seconds: CPU_SECONDS,
                memory_bytes: ADDRESS_SPACE_BYTES,
                address_space_bytes: ADDRESS_SPACE_BYTES,
            });
            for (resource, most) in [(Resource::Cpu, CPU_SECONDS), (Resource::As, ADDRESS_SPACE_BYTES)] {
                let now = getrlimit(resource);
                assert!(now.current.is_some_and(|limit| limit <= most));
                assert_eq!(now.current, now.maximum);
            }
            return;
        }
        let own = env::current_exe().unwrap();
        let test = "process::tests::a_process_limits_and_detaches_itself";
        let mut command = Command::new(own);
        command.args(["--exact", test]).env(AGAIN, "1").stdin(Stdio::null()).stdout(Stdio::piped());
        let output = command.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
    }

    #[test]
    fn a_group_is_killed_with_its_leader() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & echo started; wait"]).stdout(Stdio::piped());
        let mut child = in_own_group(&mut command).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        output.read_exact(&mut [0; "started\n".len()]).unwrap();
        kill_group(&mut child);
        // `sleep` has the same output: it ends when both are gone.
        let mut rest = Vec::new();
        output.read_to_end(&mut rest).unwrap();
        assert!(rest.is_empty());
    }
}
