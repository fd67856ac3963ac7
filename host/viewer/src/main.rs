//! `throughline-viewer`: serves pages that show what is stored, to the browser of the person who started it.
//!
//! `throughline view` starts this program. Code that serves HTTP lives here and not in `throughline`, which reads everything that is
//! said in every session and contains no network code.
//!
//! A request goes through `guard`, which knows who may ask, to `page` (the files of the page, all in this binary) or to `api`.
//! The answers of `api` come from commands of `throughline` with `--json` (`program`), so that the viewer can do and show only
//! what a command can. Four things that commands print as a whole, or not at all, are read from the store: the long list of
//! memories, page by page; the events of a session; what sessions were told; and counts. `live` follows the running sessions.
//!
//! # Who may ask
//!
//! - The server listens on 127.0.0.1 alone.
//! - The address that is printed has a random token in its fragment, which browsers send to nobody. The page exchanges it, once,
//!   for a cookie that scripts cannot read and that other sites' requests do not carry.
//! - `Host` must be the address that is listened on, so a name that leads here (DNS rebinding) is refused; so is another `Origin`.
//! - Without `--write` nothing that changes is served.
//! - No script, style or image runs that is not a file of this binary. The page puts stored text on the screen as text only.
//! - The program ends when nobody has used it for a while.

#![forbid(unsafe_code)]

mod activity;
mod api;
mod app;
mod error;
mod guard;
mod lists;
mod live;
mod page;
mod program;
mod server;
mod settings;
mod token;

use std::process::ExitCode;

use settings::Settings;

const USAGE: &str = "throughline-viewer is started by `throughline view`";

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    if matches!(argument.as_deref(), Some("--version" | "-V")) {
        println!("throughline-viewer {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    let settings = match argument.as_deref().map(Settings::parse) {
        Some(Ok(settings)) => settings,
        Some(Err(why)) => {
            eprintln!("error: {why}\nhint: install throughline and throughline-viewer in the same version");
            return ExitCode::from(2);
        }
        None => {
            eprintln!("{USAGE}\nhint: `throughline view --help` says what it shows");
            return ExitCode::from(2);
        }
    };
    match server::run(settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            eprintln!("error: {}\nhint: {}", failed.message, failed.hint);
            ExitCode::FAILURE
        }
    }
}
