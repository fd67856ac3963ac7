//! `throughline-compiler`: reads a component from standard input, compiles it within limits, and writes its compiled form to
//! standard output. `throughline` starts it: `host/sandbox/src/compile.rs` is the other side.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use throughline_platform::process::{self, ResourceLimits};
use throughline_sandbox::compile::{
    COMMAND, Handshake, MAX_ADDRESS_SPACE_BYTES, MAX_CPU_SECONDS, MAX_MEMORY_BYTES, MISMATCH, PROGRAM,
};
use throughline_sandbox::folder::MAX_COMPONENT_BYTES;

const USAGE: &str = "throughline-compiler is started by throughline; it reads a component from standard input";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let own = Handshake::own();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--version" | "-V"] => {
            println!("{PROGRAM} {}", own.version);
            ExitCode::SUCCESS
        }
        [COMMAND, version, key] if own.is(version, key) => {
            let compiled = run(io::stdin().lock(), io::stdout().lock());
            if compiled.is_ok_and(|compiled| compiled) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        [COMMAND, ..] => {
            print!("{} ({})", own.version, own.key);
            ExitCode::from(MISMATCH)
        }
        _ => {
            eprintln!("error: {USAGE}\nhint: run `throughline policy --help`");
            ExitCode::from(2)
        }
    }
}

/// Limits this process, reads a component and writes its compiled form, or why there is none. Returns whether it succeeded.
fn run(input: impl Read, mut output: impl Write) -> io::Result<bool> {
    process::limit_resources(ResourceLimits {
        cpu_seconds: MAX_CPU_SECONDS,
        memory_bytes: MAX_MEMORY_BYTES,
        address_space_bytes: MAX_ADDRESS_SPACE_BYTES,
    });
    let mut wasm = Vec::new();
    input.take(MAX_COMPONENT_BYTES).read_to_end(&mut wasm)?;
    let compiled = throughline_compiler::compile(&wasm);
    match &compiled {
        Ok(bytes) => output.write_all(bytes)?,
        Err(error) => write!(output, "{error:#}")?,
    }
    output.flush()?;
    Ok(compiled.is_ok())
}
