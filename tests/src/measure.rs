//! Wall times and memory of whole processes.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use crate::process;

/// Milliseconds, for tables.
pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// The median; panics where there is nothing.
pub fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Runs the command once with this input and gives its wall time; panics where it fails.
pub fn time(mut command: Command, input: &[u8]) -> Duration {
    use std::io::Write as _;

    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // A process that does not read its input may be gone already.
    drop(stdin.write_all(input));
    drop(stdin);
    let status = child.wait().expect("wait");
    let wall = started.elapsed();
    assert!(status.success(), "{command:?}: {status}");
    wall
}

/// The argument with which the bench calls itself, to measure the memory of a command in a process without other
/// children.
pub const PEAK_WORD: &str = "peak-memory-of";

/// Has the kernel read a file from disk again, as after a start of the machine.
///
/// A file that was just written is cached in larger pieces than one that was read, and each mapped piece counts as memory of
/// the process. The hook after a tool call took 18.5 to 20.3 MiB with a binary that had just been copied, and 15.1 to 15.8 MiB
/// with the same one after this; a policy that had just been compiled made a difference of 2 MiB.
fn read_from_disk_again(file: &Path) {
    let Ok(file) = File::open(file) else { return };
    // What is not on disk yet stays in the cache.
    if file.sync_all().is_ok() {
        let _ = posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
    }
}

/// The largest resident set, in bytes, that the command reaches, and its wall time.
///
/// The kernel reports only the maximum over all children, and a child's count starts at its parent's; so a small process
/// of ours runs the command.
pub fn peak(command: &Command, input: Vec<u8>) -> (u64, Duration) {
    read_from_disk_again(Path::new(command.get_program()));
    let home = command.get_envs().find(|(name, _)| *name == "THROUGHLINE_HOME").and_then(|(_, home)| home);
    let compiled = home.and_then(|home| std::fs::read_dir(Path::new(home).join("cache/components")).ok());
    compiled.into_iter().flatten().flatten().for_each(|policy| read_from_disk_again(&policy.path()));
    let own = std::env::current_exe().expect("the path of the running executable");
    let mut between = Command::new(own);
    between.arg(PEAK_WORD).arg(command.get_program()).args(command.get_args()).env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            between.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        between.current_dir(folder);
    }
    let run = process::run(between, input, Duration::from_mins(30)).success();
    let bytes = run
        .stderr
        .lines()
        .last()
        .and_then(|line| line.parse().ok())
        .unwrap_or_else(|| panic!("no number of bytes: {run:#?}"));
    (bytes, run.wall)
}

/// The process in between: runs the command on its own standard streams and writes the peak on stderr.
pub fn stand_between(mut arguments: impl Iterator<Item = std::ffi::OsString>) {
    use nix::sys::resource::{UsageWho, getrusage};

    let program = arguments.next().expect("a program to run");
    let status = Command::new(&program).args(arguments).stdout(Stdio::null()).status().expect("run the program");
    assert!(status.success(), "{}: {status}", program.display());
    let kibibytes = getrusage(UsageWho::RUSAGE_CHILDREN).expect("getrusage").max_rss();
    eprintln!("{}", kibibytes * 1024);
}
