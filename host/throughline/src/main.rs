//! The program `throughline`.

mod cli;
mod demo;
mod doctor;
mod mcp;
mod notice;
mod times;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(std::env::args_os())
}
