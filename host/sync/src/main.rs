//! `throughline-sync`: the network part of team memory, in a process of its own. It pushes to, pulls from and searches on a
//! PostgreSQL server, and sets such a server up.
//!
//! `throughline team sync` starts `throughline-sync serve` and speaks with it over pipes (`throughline-sync-wire`). So the
//! program that reads everything that is said in a session has no network code, and the program with the network sees
//! nothing but what is to be sent. A server is not trusted: the size of its messages is limited ([`stream`]), and what it
//! sends is checked here ([`session`]) and once more by the main program, which stores it as it stores an import.

#![forbid(unsafe_code)]

mod address;
mod admin;
mod connect;
mod fault;
mod hex;
mod pin;
mod serve;
mod session;
mod stream;
mod tls;

use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};

/// Team memory for Throughline on PostgreSQL
///
/// `throughline team …` starts this program; by hand it sets a server up.
#[derive(Parser)]
#[command(name = "throughline-sync", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Send what is to be shared, and fetch what is new: the same as `throughline team sync`
    Run,
    /// Set a server up, invite and remove members, read the audit
    #[command(subcommand)]
    Admin(admin::Command),
    /// Serve requests on standard input: `throughline team` calls this
    #[command(hide = true)]
    Serve,
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Verb::Run => run(),
        Verb::Admin(command) => admin::run(&command),
        Verb::Serve => serve::run(),
    }
}

/// Hands over to the main program, which lies beside this one.
fn run() -> ExitCode {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("throughline")));
    let program = beside.filter(|it| it.is_file()).unwrap_or_else(|| "throughline".into());
    match Command::new(&program).args(["team", "sync"]).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: {} cannot be started: {error}", program.display());
            eprintln!("hint: install throughline beside throughline-sync");
            ExitCode::FAILURE
        }
    }
}
