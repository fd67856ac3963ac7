//! Running a process under a watchdog, with its input from memory and its output in files.
//!
//! Output goes to files and not to pipes, so that a child which a hook left running in the background, and which might hold
//! the hook's standard output, cannot make a finished hook look like a hanging one.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::schemas;

/// The longest that any one process of a test may run. It is a stop for hanging tests, not a bound that is tested.
pub const WATCHDOG: Duration = Duration::from_mins(2);

/// A finished process.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// Standard output; bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// From before it was started until it had been waited for.
    pub wall: Duration,
    /// Whether the watchdog had to end it.
    pub overdue: bool,
}

impl Finished {
    /// Panics unless the exit code is 0, and gives itself back.
    #[must_use]
    #[track_caller]
    pub fn success(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// Panics unless the exit code is another than 0 and stderr holds a `hint:` line, and gives itself back.
    #[must_use]
    #[track_caller]
    pub fn failure_with_hint(self) -> Self {
        assert!(!self.overdue && self.code.is_some_and(|code| code != 0), "wanted an exit code other than 0: {self:#?}");
        assert!(
            self.stderr.lines().any(|line| line.trim_start().starts_with("hint:")),
            "wanted a `hint:` line on stderr: {self:#?}"
        );
        self
    }
}

/// Runs the command with `input` on its standard input, for at most `limit`.
///
/// A separate thread writes the input, so that a process need not read all of it.
pub fn run(mut command: Command, input: Vec<u8>, limit: Duration) -> Finished {
    let mut stdout = tempfile::tempfile().expect("a temporary file");
    let mut stderr = tempfile::tempfile().expect("a temporary file");
    command
        .stdin(Stdio::piped())
        .stdout(stdout.try_clone().expect("a second handle"))
        .stderr(stderr.try_clone().expect("a second handle"));
    let started = Instant::now();
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let mut pipe = child.stdin.take().expect("stdin is piped");
    let writer = std::thread::spawn(move || {
        // A process may close its end before it has read everything; that is its right.
        drop(pipe.write_all(&input));
    });
    let overdue = Watchdog::over(child.id(), limit);
    let status = child.wait().expect("wait");
    let wall = started.elapsed();
    let overdue = overdue.dismiss();
    writer.join().expect("the writer does not panic");
    let finished = Finished { code: status.code(), stdout: whole(&mut stdout), stderr: whole(&mut stderr), wall, overdue };
    if Path::new(command.get_program()).file_name() == Some("throughline".as_ref()) {
        schemas::check(command.get_args(), &finished);
    }
    finished
}

fn whole(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().expect("rewind");
    file.read_to_end(&mut bytes).expect("read");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Kills one process when its time is up.
struct Watchdog {
    done: mpsc::Sender<()>,
    thread: std::thread::JoinHandle<bool>,
}

impl Watchdog {
    fn over(id: u32, limit: Duration) -> Self {
        let (done, wait) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let overdue = wait.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout);
            if overdue {
                kill_now(id);
            }
            overdue
        });
        Self { done, thread }
    }

    fn dismiss(self) -> bool {
        // The thread has gone where the time was up.
        let _ = self.done.send(());
        self.thread.join().expect("the watchdog does not panic")
    }
}

/// Sends SIGKILL to the process, which the caller started and has not waited for.
pub fn kill_now(id: u32) {
    let id = i32::try_from(id).expect("a process identifier");
    // It may have ended by itself in between.
    let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
}

/// The `throughline` under test: what `THROUGHLINE_BIN` names, else the one beside the running test or bench.
pub fn throughline() -> PathBuf {
    if let Some(path) = std::env::var_os("THROUGHLINE_BIN") {
        let path = PathBuf::from(path);
        assert!(path.is_file(), "THROUGHLINE_BIN names {}, which is no file", path.display());
        return path;
    }
    let path = beside_us("throughline");
    assert!(
        path.is_file(),
        "{} does not exist: run `cargo test --workspace`, or `cargo build -p throughline` with the same profile first, or let \
         THROUGHLINE_BIN name the binary to test",
        path.display()
    );
    path
}

/// The `throughline-embedder` under test: the one beside the running test.
pub fn embedder() -> PathBuf {
    let path = beside_us("throughline-embedder");
    assert!(
        path.is_file(),
        "{} does not exist: run `cargo test --workspace`, or `cargo build -p throughline-embedder` with the same profile first",
        path.display()
    );
    path
}

/// The `throughline-compiler` under test: the one beside `throughline`.
pub fn compiler() -> PathBuf {
    let path = throughline().with_file_name("throughline-compiler");
    assert!(
        path.is_file(),
        "{} does not exist: run `cargo test --workspace`, or `cargo build -p throughline-compiler` with the same profile first",
        path.display()
    );
    path
}

/// Copies a program to the path `to`, with its mode.
///
/// Another process writes the copy. Had this one written it, a child that another test starts at this moment would hold
/// the file open for writing, and the copy could not be run until the child has started its own program.
#[track_caller]
pub fn copy_program(program: &Path, to: &Path) {
    let status = Command::new("cp").arg(program).arg(to).status().expect("run cp");
    assert!(status.success(), "cannot copy {} to {}", program.display(), to.display());
}

/// The `throughline-sync` under test: the one beside the running test.
pub fn sync() -> PathBuf {
    let path = beside_us("throughline-sync");
    assert!(
        path.is_file(),
        "{} does not exist: run `cargo test --workspace`, or `cargo build -p throughline-sync` with the same profile first",
        path.display()
    );
    path
}

fn beside_us(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("the path of the running executable");
    let profile = own.ancestors().skip(1).find(|folder| !folder.ends_with("deps")).unwrap_or(Path::new("."));
    profile.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Where a program of this name lies, by `PATH`.
pub fn which(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
