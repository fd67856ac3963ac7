//! `throughline-embedder`: reads one JSON request from standard input, writes one JSON answer to standard output, and
//! exits.
//!
//! Code that needs a network or a large library lives here and not in `throughline`, which starts this program only if
//! the configuration names a provider that needs it.
//!
//! `openai` and `gemini` speak the protocols of servers, through one HTTP client (`throughline-http`). `folder` runs a model from a
//! folder. A wrong vector is worse than none: whatever a server answers, the result is a vector of length 1 with the
//! right number of dimensions for each text, in the order of the texts, or a fault of a named kind (`reply`). Attempts,
//! time and bytes are bounded, no redirect is followed, and no message contains a key.
//!
//! Models from a folder are the feature `folder`, which is off by default. The tensor library takes minutes to compile
//! and changes features of `regex`, `hashbrown` and `syn` for everything that is built with it, so tests would run a
//! different program from the one that users install. For six texts in English, Korean and SQL, all-MiniLM-L6-v2 gives
//! the same vectors as the model's definition written out with numpy: cosine 1.0000000, and no number differs by more
//! than 3·10⁻⁷.

#![forbid(unsafe_code)]

mod client;
#[cfg(feature = "folder")]
mod folder;
mod gemini;
mod openai;
mod reply;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use throughline_embedder_wire::{Answer, Embedded, Fault, MAX_REQUEST, Provider, Request, VERSION};
use throughline_http::request;

const USAGE: &str = "throughline-embedder is started by throughline; it reads a JSON request from standard input";

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        None if !io::stdin().is_terminal() => {}
        Some("--version" | "-V") => {
            let folder = if cfg!(feature = "folder") { ", with models from a folder" } else { "" };
            println!("throughline-embedder {}{folder}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}\nhint: see [embedding] in throughline's configuration");
            return ExitCode::from(2);
        }
    }
    let answer = request::read(MAX_REQUEST).and_then(|bytes| parse(&bytes)).and_then(|request| embed(&request));
    let is_embedded = answer.is_ok();
    let is_written = request::write(&answer.map_or_else(Answer::Failed, Answer::Embedded));
    if is_written && is_embedded { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(bytes: &[u8]) -> Result<Request, Fault> {
    let request: Request = request::parse(bytes, VERSION)?;
    if request.limits.batch == 0 || request.limits.batch_bytes == 0 || request.limits.tries == 0 {
        return Err(request::fault("a limit must not be 0"));
    }
    match request.texts.iter().position(|text| text.trim().is_empty()) {
        Some(index) => Err(request::fault(format!("text {} of {} is empty", index + 1, request.texts.len()))),
        None if request.texts.is_empty() => Err(request::fault("the request has no text")),
        None => Ok(request),
    }
}

/// Passes the request to its provider.
fn embed(request: &Request) -> Result<Embedded, Fault> {
    match &request.provider {
        Provider::Openai { server, encoding_format } => openai::embed(server, *encoding_format, request),
        Provider::Gemini { server } => gemini::embed(server, request),
        #[cfg(feature = "folder")]
        Provider::Folder { path } => folder::embed(path.as_ref(), request),
        #[cfg(not(feature = "folder"))]
        Provider::Folder { .. } => Err(Fault::permanent(
            throughline_embedder_wire::FaultKind::Unsupported,
            "this embedder was built without support for models in a folder; build it with --features folder",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(change: impl FnOnce(&mut Request)) -> Vec<u8> {
        let mut request = Request {
            version: VERSION,
            provider: Provider::Folder { path: "/nowhere".into() },
            purpose: throughline_embedder_wire::Purpose::Query,
            texts: vec!["a".into()],
            limits: throughline_embedder_wire::Limits::default(),
        };
        change(&mut request);
        serde_json::to_vec(&request).unwrap()
    }

    #[test]
    fn what_cannot_be_asked_for_is_named() {
        assert!(parse(&request(|_| {})).is_ok());
        for (bytes, word) in [
            (request(|request| request.version = 2), "version 2"),
            (request(|request| request.texts.clear()), "no text"),
            (request(|request| request.texts.push(" \n".into())), "text 2 of 2 is empty"),
            (request(|request| request.limits.batch = 0), "limit"),
        ] {
            let fault = parse(&bytes).unwrap_err();
            assert_eq!((fault.kind, fault.retryable), (throughline_embedder_wire::FaultKind::Request, false));
            assert!(fault.message.contains(word), "{fault:?}");
        }
    }
}
