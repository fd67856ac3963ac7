//! `throughline-compiler`: does one job within limits, such as compiling a component. It reads from standard input and writes to
//! standard output. `throughline` starts it: `host/sandbox/src/compile.rs` is the other side and names the jobs.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use throughline_platform::process::{self, ResourceLimits};
use throughline_sandbox::compile::{
    Handshake, Job, MAX_ADDRESS_SPACE_BYTES, MAX_CPU_SECONDS, MAX_MEMORY_BYTES, MISMATCH, PROGRAM,
};
use throughline_sandbox::folder::MAX_COMPONENT_BYTES;

const USAGE: &str = "throughline-compiler is started by throughline; it reads from standard input";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let own = Handshake::own();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--version" | "-V"] => {
            println!("{PROGRAM} {}", own.version);
            ExitCode::SUCCESS
        }
        [word, ref handshake @ ..] if let Some(job) = Job::of_word(word) => match *handshake {
            [version, key] if own.is(version, key) => {
                let done = run(job, io::stdin().lock(), io::stdout().lock());
                if done.is_ok_and(|done| done) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
            }
            _ => {
                print!("{} ({})", own.version, own.key);
                ExitCode::from(MISMATCH)
            }
        },
        _ => {
            eprintln!("error: {USAGE}\nhint: run `throughline policy --help`");
            ExitCode::from(2)
        }
    }
}

/// Limits this process, does the job, and writes what came of it, or why nothing did. Returns whether it succeeded.
fn run(job: Job, input: impl Read, mut output: impl Write) -> io::Result<bool> {
    process::limit_resources(ResourceLimits {
        cpu_seconds: MAX_CPU_SECONDS,
        memory_bytes: MAX_MEMORY_BYTES,
        address_space_bytes: MAX_ADDRESS_SPACE_BYTES,
    });
    let mut read = Vec::new();
    input.take(MAX_COMPONENT_BYTES).read_to_end(&mut read)?;
    let done = throughline_compiler::run(job, &read);
    match &done {
        Ok(bytes) => output.write_all(bytes)?,
        Err(error) => write!(output, "{error:#}")?,
    }
    output.flush()?;
    Ok(done.is_ok())
}
