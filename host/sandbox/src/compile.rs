//! Compiles components of other people in a child process with limits. A small component can be made to take minutes and
//! gigabytes; with the limits only the child dies.
//!
//! The child is this program. It reads the component from standard input and writes the compiled form to standard
//! output; the parent stores it in the cache.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::engine;
use super::folder::MAX_COMPONENT_BYTES;
use throughline_platform::process::{self, ResourceLimits};

/// The arguments with which this program is the child.
pub const CHILD: [&str; 2] = ["background", "compile-component"];

/// How much CPU time compiling may take, in seconds, over all threads. Python's runtime takes 20.
const MAX_CPU_SECONDS: u64 = 300;

/// How much memory compiling may use, in bytes. Python's runtime takes 1 GB.
const MAX_MEMORY_BYTES: u64 = 2 << 30;

/// How much address space compiling may reserve, in bytes, on systems that do not count the memory itself.
const MAX_ADDRESS_SPACE_BYTES: u64 = 16 << 30;

/// The largest compiled form that is accepted, in bytes: several times that of Python's runtime.
const MAX_COMPILED_BYTES: u64 = 512 << 20;

/// Compiles a component in a child process, and returns its compiled form.
pub fn in_child(wasm: &[u8]) -> Result<Vec<u8>> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    in_child_of(Command::new(program).args(CHILD), wasm)
}

fn in_child_of(command: &mut Command, wasm: &[u8]) -> Result<Vec<u8>> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .current_dir("/")
        .spawn()
        .context("the process that compiles it cannot be started")?;
    // The child reads all of its input before it writes. If it died, its status says more than the broken pipe.
    let fed = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(wasm));
    let mut compiled = Vec::new();
    let read = child.stdout.take().map_or(Ok(0), |output| output.take(MAX_COMPILED_BYTES + 1).read_to_end(&mut compiled));
    let is_too_large = compiled.len() as u64 > MAX_COMPILED_BYTES;
    if is_too_large || read.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().context("the process that compiles it was lost")?;
    if is_too_large {
        bail!("the component's compiled form has more than {} MiB", MAX_COMPILED_BYTES >> 20);
    }
    if process::was_killed(status) {
        bail!(
            "the component takes too much to compile: at most {} MiB of memory and {MAX_CPU_SECONDS} s are allowed",
            MAX_MEMORY_BYTES >> 20
        );
    }
    if !status.success() {
        bail!("the component does not compile: {}", reason(&compiled));
    }
    fed.and(read).context("the process that compiles it was interrupted")?;
    Ok(compiled)
}

/// Returns what a child that failed wrote in place of a compiled form.
fn reason(output: &[u8]) -> String {
    /// The most that is shown, in characters.
    const MAX_CHARS: usize = 1_000;
    String::from_utf8_lossy(output).chars().filter(|char| !char.is_control()).take(MAX_CHARS).collect()
}

/// The child: limits itself, reads a component and writes its compiled form, or why there is none. Returns whether it
/// succeeded.
pub fn run_child(input: impl Read, mut output: impl Write) -> io::Result<bool> {
    process::limit_resources(ResourceLimits {
        cpu_seconds: MAX_CPU_SECONDS,
        memory_bytes: MAX_MEMORY_BYTES,
        address_space_bytes: MAX_ADDRESS_SPACE_BYTES,
    });
    let mut wasm = Vec::new();
    input.take(MAX_COMPONENT_BYTES).read_to_end(&mut wasm)?;
    let compiled = engine::compile(&wasm);
    match &compiled {
        Ok(bytes) => output.write_all(bytes)?,
        Err(error) => write!(output, "{error:#}")?,
    }
    output.flush()?;
    Ok(compiled.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    fn shell(script: &str) -> Result<Vec<u8>> {
        in_child_of(Command::new("/bin/sh").args(["-c", script]), EMPTY)
    }

    #[test]
    fn the_childs_output_is_the_compiled_form() {
        assert_eq!(shell("cat").unwrap(), EMPTY);
        let compiled = engine::compile(EMPTY).unwrap();
        assert!(engine::is_precompiled(&compiled));
    }

    #[test]
    fn a_component_that_takes_all_memory_only_kills_the_child() {
        // What the kernel, or an allocation that fails, does to a child beyond its limits.
        for signal in ["KILL", "ABRT", "XCPU"] {
            let error = shell(&format!("kill -s {signal} $$")).unwrap_err().to_string();
            assert!(error.contains("takes too much to compile: at most 2048 MiB"), "{error}");
        }
        let error = shell("ulimit -t 1; while :; do :; done").unwrap_err().to_string();
        assert!(error.contains("takes too much"), "{error}");
    }

    #[test]
    fn a_child_says_why_it_failed() {
        let error = shell("cat >/dev/null; printf 'bad\\033[31m magic'; exit 1").unwrap_err().to_string();
        assert_eq!(error, "the component does not compile: bad[31m magic");
        assert!(engine::compile(b"no component").is_err());
    }
}
