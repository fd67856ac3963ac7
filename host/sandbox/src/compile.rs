//! Has components compiled by `throughline-compiler`, a child process with limits. A small component can be made to take
//! minutes and gigabytes; with the limits only the child dies.
//!
//! The compiler is a program of its own, because it is larger than everything else together: a hook that had it in its own file
//! would start half as fast. The child reads the component from standard input and writes the compiled form to standard output;
//! the parent stores it in the cache. The child also does what only rare commands need and what takes large libraries: each
//! [`Job`] is one.
//!
//! The output of the compiler runs as native code, so the compiler is trusted like this program: it must be in the same
//! folder, belong to the same user or to root, and is never searched in `PATH`. The two agree on their version and on
//! [`engine::compatibility_key`] before anything is compiled.

use std::fmt;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};

use super::engine;
use throughline_platform::process;
use throughline_platform::program::{self, CompanionError};

/// The name of the compiler's program.
pub const PROGRAM: &str = "throughline-compiler";

/// What the compiler does in one run. Its word is the first argument; the version and the key of a [`Handshake`] follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// Compiles a component.
    Compile,
    /// Reads which interfaces a component has, and writes a [`ComponentInterface`] as JSON.
    Interface,
    /// Makes a component of a core module.
    Encode,
    /// Validates the front matter of notes: reads a question of `throughline_notes::schema` and writes its answer.
    Validate,
}

impl Job {
    const ALL: [Self; 4] = [Self::Compile, Self::Interface, Self::Encode, Self::Validate];

    /// Returns the word that asks for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Compile => "compile",
            Self::Interface => "interface",
            Self::Encode => "encode",
            Self::Validate => "validate",
        }
    }

    /// Returns the job that a word asks for.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|job| job.word() == word)
    }
}

/// The names of a component's interfaces and functions, with their versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComponentInterface {
    /// What it imports.
    pub imports: Vec<String>,
    /// What it exports.
    pub exports: Vec<String>,
}

/// Why the compiler did not do its job: in its own words, on one line.
#[derive(Debug)]
pub struct JobError(pub String);

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JobError {}

/// The compiler's exit code if it is not the one for this program. It then writes its own version and key.
pub const MISMATCH: u8 = 3;

/// How much CPU time compiling may take, in seconds, over all threads. Python's runtime takes 20.
pub const MAX_CPU_SECONDS: u64 = 300;

/// How much memory compiling may use, in bytes. Python's runtime takes 1 GB.
pub const MAX_MEMORY_BYTES: u64 = 2 << 30;

/// How much address space compiling may reserve, in bytes, on systems that do not count the memory itself.
pub const MAX_ADDRESS_SPACE_BYTES: u64 = 16 << 30;

/// The largest output that is accepted, in bytes: several times the compiled form of Python's runtime.
const MAX_OUTPUT_BYTES: u64 = 512 << 20;

/// What to do if the compiler is missing or another one's.
const HINT: &str = "install throughline-compiler of the same version beside throughline: `cargo install --locked --path host/compiler` in \
                    a clone, or `cargo install --locked --git https://github.com/throughline/throughline throughline-compiler`";

/// What the two programs must agree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    /// The version of the program.
    pub version: &'static str,
    /// The key of the code that it compiles or runs.
    pub key: String,
}

impl Handshake {
    /// Returns that of this program.
    pub fn own() -> Self {
        Self { version: env!("CARGO_PKG_VERSION"), key: engine::compatibility_key() }
    }

    /// Returns whether another program's version and key are the same.
    pub fn is(&self, version: &str, key: &str) -> bool {
        self.version == version && self.key == key
    }
}

/// The error if there is no compiler that this program may use.
#[derive(Debug)]
pub struct CompilerError {
    message: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for CompilerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CompilerError {}

impl CompilerError {
    /// Creates an error with this message and the hint to install the compiler.
    pub fn new(message: String) -> Self {
        Self { message, hint: HINT.to_owned() }
    }
}

/// Returns the compiler beside this program.
pub fn find() -> Result<PathBuf, CompilerError> {
    program::find_beside_this(PROGRAM).map_err(|error| match error {
        CompanionError::Missing { folder } => CompilerError::new(format!("there is no {PROGRAM} in {}", folder.display())),
        CompanionError::Untrusted { file, reason } => CompilerError {
            message: format!("{} cannot be trusted: {reason}", file.display()),
            hint: "it must belong to the owner of throughline or to root, and nobody else may write to it".into(),
        },
        CompanionError::Unknown(error) => CompilerError::new(format!("this program cannot be found: {error}")),
    })
}

/// How long a compilation may take in silence.
const SILENCE: Duration = Duration::from_secs(1);

/// What is called if a compilation takes long.
static ON_SLOW: OnceLock<fn()> = OnceLock::new();

/// Sets a function that is called after a compilation has taken a second, to inform a waiting user. Only the first call
/// has an effect.
pub fn on_slow(notice: fn()) {
    let _ = ON_SLOW.set(notice);
}

/// Compiles a component in a child process, and returns its compiled form.
pub fn in_child(wasm: &[u8]) -> Result<Vec<u8>> {
    let compiler = find()?;
    let answer = match ON_SLOW.get() {
        Some(notice) => with_notice(SILENCE, *notice, || run(&compiler, Job::Compile, wasm)),
        None => run(&compiler, Job::Compile, wasm),
    };
    of_compiler(&compiler, answer)
}

/// Has a child process do a job, and returns what it writes. A [`JobError`] says why it could not.
pub fn ask(job: Job, input: &[u8]) -> Result<Vec<u8>> {
    run(&find()?, job, input)
}

/// Returns the interfaces of a component.
pub fn interface(wasm: &[u8]) -> Result<ComponentInterface> {
    serde_json::from_slice(&ask(Job::Interface, wasm)?).context("throughline-compiler gave no answer that can be read")
}

/// Does `work`, and calls `notice` once if it takes longer than `after`.
fn with_notice<T>(after: Duration, notice: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
    let (done, is_done) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(after) == Err(mpsc::RecvTimeoutError::Timeout) {
                notice();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Returns what the compiler compiled, if it is that.
fn of_compiler(compiler: &Path, answer: Result<Vec<u8>>) -> Result<Vec<u8>> {
    let answer = answer.map_err(|error| match error.downcast::<JobError>() {
        Ok(JobError(reason)) => anyhow!("the component does not compile: {reason}"),
        Err(other) => other,
    })?;
    if !engine::is_precompiled(&answer) {
        return Err(CompilerError::new(format!("{} wrote no compiled component", compiler.display())).into());
    }
    Ok(answer)
}

fn run(compiler: &Path, job: Job, input: &[u8]) -> Result<Vec<u8>> {
    let own = Handshake::own();
    let mut child = Command::new(compiler)
        .args([job.word(), own.version, &own.key])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .current_dir("/")
        .spawn()
        .map_err(|error| CompilerError::new(format!("{} cannot be started: {error}", compiler.display())))?;
    // The child reads all of its input before it writes. If it died, its status says more than the broken pipe.
    let fed = child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(input));
    let mut written = Vec::new();
    let read = child.stdout.take().map_or(Ok(0), |output| output.take(MAX_OUTPUT_BYTES + 1).read_to_end(&mut written));
    let is_too_large = written.len() as u64 > MAX_OUTPUT_BYTES;
    if is_too_large || read.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().context("the process of throughline-compiler was lost")?;
    if is_too_large {
        bail!("throughline-compiler wrote more than {} MiB", MAX_OUTPUT_BYTES >> 20);
    }
    if process::was_killed(status) {
        bail!(
            "the component takes too much to compile: at most {} MiB of memory and {MAX_CPU_SECONDS} s are allowed",
            MAX_MEMORY_BYTES >> 20
        );
    }
    if status.code() == Some(MISMATCH.into()) {
        return Err(CompilerError::new(format!(
            "{} is of version {}, and throughline is {} ({})",
            compiler.display(),
            reason(&written),
            own.version,
            own.key
        ))
        .into());
    }
    if !status.success() {
        return Err(JobError(reason(&written)).into());
    }
    fed.and(read).context("the process of throughline-compiler was interrupted")?;
    Ok(written)
}

/// Returns what a child that failed wrote in place of a compiled form.
fn reason(output: &[u8]) -> String {
    /// The most that is shown, in characters.
    const MAX_CHARS: usize = 1_000;
    String::from_utf8_lossy(output).chars().filter(|char| !char.is_control()).take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use throughline_platform::permissions;

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    /// Runs a script in place of the compiler.
    fn shell(script: &str) -> Result<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(PROGRAM);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        permissions::set_mode(&file, 0o755).unwrap();
        of_compiler(&file, run(&file, Job::Compile, EMPTY))
    }

    #[test]
    fn the_childs_output_is_the_compiled_form() {
        let folder = tempfile::tempdir().unwrap();
        let compiled = throughline_compiler::compile(EMPTY).unwrap();
        let file = folder.path().join("compiled");
        fs::write(&file, &compiled).unwrap();
        let script = format!("cat >/dev/null; cat '{}'", file.display());
        assert_eq!(shell(&script).unwrap(), compiled);
        let error = shell("cat").unwrap_err().to_string();
        assert!(error.ends_with("throughline-compiler wrote no compiled component"), "{error}");
    }

    #[test]
    fn attack_a_component_that_takes_all_memory_kills_only_the_child() {
        // What the kernel, or an allocation that fails, does to a child beyond its limits.
        for signal in ["KILL", "ABRT", "XCPU"] {
            let error = shell(&format!("kill -s {signal} $$")).unwrap_err().to_string();
            assert!(error.contains("takes too much to compile: at most 2048 MiB"), "{error}");
        }
        let error = shell("ulimit -t 1; while :; do :; done").unwrap_err().to_string();
        assert!(error.contains("takes too much"), "{error}");
    }

    #[test]
    fn only_a_long_compilation_is_noticed() {
        let noticed = |after, takes| {
            let count = std::sync::atomic::AtomicU32::new(0);
            with_notice(
                after,
                || {
                    count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                },
                || std::thread::sleep(takes),
            );
            count.into_inner()
        };
        assert_eq!(noticed(Duration::from_millis(1), Duration::from_millis(300)), 1);
        assert_eq!(noticed(Duration::from_mins(1), Duration::ZERO), 0);
    }

    #[test]
    fn a_child_says_why_it_failed() {
        let error = shell("cat >/dev/null; printf 'bad\\033[31m magic'; exit 1").unwrap_err().to_string();
        assert_eq!(error, "the component does not compile: bad[31m magic");
    }

    #[test]
    fn each_job_is_asked_for_by_its_word() {
        for job in Job::ALL {
            assert_eq!(Job::of_word(job.word()), Some(job));
        }
        assert_eq!(Job::of_word("--version"), None);
    }

    #[test]
    fn a_compiler_of_another_version_is_not_used() {
        let own = Handshake::own();
        let told = shell("echo \"$*\"; exit 3").unwrap_err();
        let words =
            format!("is of version compile {} {}, and throughline is {} ({})", own.version, own.key, own.version, own.key);
        assert!(told.to_string().ends_with(&words), "{told}");
        assert!(told.downcast_ref::<CompilerError>().unwrap().hint.contains("cargo install"));
        assert!(own.is(own.version, &own.key));
        assert!(!own.is("0.0.9", &own.key) && !own.is(own.version, "0"));
    }

    #[test]
    fn a_compiler_that_is_not_there_is_named_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let error = run(&folder.path().join(PROGRAM), Job::Interface, EMPTY).unwrap_err();
        assert!(error.to_string().contains(PROGRAM) && error.is::<CompilerError>(), "{error}");
        // None lies beside the tests.
        let error = find().unwrap_err();
        assert!(error.to_string().starts_with("there is no throughline-compiler in /"), "{error}");
    }
}
