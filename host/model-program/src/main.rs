//! `throughline-model`: reads one JSON request from standard input, asks one language model, writes one JSON answer to standard
//! output, and exits.
//!
//! Code that needs a network lives here and not in `throughline`, which starts this program only from a background process or a
//! command, and only within the user's limits. Everything in a request was redacted before. `provider` has one module for each
//! protocol. Attempts, time and bytes are bounded, no redirect is followed, no message contains a key, and what may have been
//! charged is never sent again.

#![forbid(unsafe_code)]

mod key;
mod provider;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use throughline_http::request;
use throughline_model_wire::{Answer, Completed, Failed, Fault, FaultKind, MAX_REQUEST, MAX_TEXT, Request, VERSION};

const USAGE: &str = "throughline-model is started by throughline; it reads a JSON request from standard input";

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        None if !io::stdin().is_terminal() => {}
        Some("--version" | "-V") => {
            println!("throughline-model {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}\nhint: see [model] in throughline's configuration");
            return ExitCode::from(2);
        }
    }
    let request = request::read(MAX_REQUEST).and_then(|bytes| parse(&bytes));
    let answer = request.map_err(Failed::from).and_then(|request| complete(&request));
    let is_completed = answer.is_ok();
    let is_written = request::write(&answer.map_or_else(Answer::Failed, Answer::Completed));
    if is_written && is_completed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(bytes: &[u8]) -> Result<Request, Fault> {
    let request: Request = request::parse(bytes, VERSION)?;
    if request.messages.is_empty() || request.max_tokens == 0 || request.limits.tries == 0 {
        return Err(request::fault("the request has no message, or a limit of 0"));
    }
    Ok(request)
}

/// Passes the request to its provider, and checks the answer.
fn complete(request: &Request) -> Result<Completed, Failed> {
    let mut completed = provider::complete(request)?;
    if completed.text.trim().is_empty() {
        // The tokens that were read are charged all the same.
        return Err(Failed {
            fault: Fault::permanent(FaultKind::Refused, "the model answered with an empty text"),
            may_be_charged: true,
        });
    }
    if completed.text.len() > MAX_TEXT {
        return Err(Failed {
            fault: Fault::permanent(FaultKind::Answer, format!("the model answered with more than {MAX_TEXT} bytes")),
            may_be_charged: true,
        });
    }
    completed.model = completed.model.chars().filter(|c| !c.is_control()).take(200).collect();
    Ok(completed)
}

#[cfg(test)]
mod tests {
    use throughline_model_wire::{Limits, Message, Provider, Role};

    use super::*;

    fn request(change: impl FnOnce(&mut Request)) -> Vec<u8> {
        let mut request = Request {
            version: VERSION,
            provider: Provider::Recorded { folder: "/nowhere".into() },
            messages: vec![Message { role: Role::User, content: "a".into() }],
            schema: None,
            max_tokens: 1,
            limits: Limits { timeout_ms: 1, tries: 1, backoff_ms: 1 },
        };
        change(&mut request);
        serde_json::to_vec(&request).unwrap()
    }

    #[test]
    fn what_cannot_be_asked_for_is_named() {
        assert!(parse(&request(|_| {})).is_ok());
        for (bytes, word) in [
            (request(|request| request.version = 2), "version 2"),
            (request(|request| request.messages.clear()), "no message"),
            (request(|request| request.max_tokens = 0), "limit of 0"),
        ] {
            let fault = parse(&bytes).unwrap_err();
            assert_eq!((fault.kind, fault.retryable), (FaultKind::Request, false));
            assert!(fault.message.contains(word), "{fault:?}");
        }
    }
}
