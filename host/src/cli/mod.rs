//! The command line: arguments in, words out. It holds no logic of its own.

mod background;
mod hook;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.skip(1).collect();
    // A hook returns before anything that only people need is set up.
    match arguments.first().and_then(|word| word.to_str()) {
        Some("hook") => hook::run(&arguments[1..]),
        Some("background") => background::run(&arguments[1..]),
        _ => ExitCode::FAILURE,
    }
}
