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

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;

use serde::Deserialize;
use throughline_embedder_wire::{Answer, Embedded, Fault, FaultKind, MAX_REQUEST, Provider, Request, VERSION};

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
    let answer = read().and_then(|request| embed(&request)).map_or_else(Answer::Failed, Answer::Embedded);
    let is_embedded = matches!(answer, Answer::Embedded(_));
    let written = serde_json::to_vec(&answer).map_err(io::Error::other).and_then(|bytes| io::stdout().write_all(&bytes));
    if written.is_ok() && is_embedded { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reads the request from standard input.
fn read() -> Result<Request, Fault> {
    let mut bytes = Vec::new();
    io::stdin()
        .take(MAX_REQUEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Fault::permanent(FaultKind::Request, format!("the request cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_REQUEST {
        return Err(Fault::permanent(FaultKind::Request, format!("the request is longer than {MAX_REQUEST} bytes")));
    }
    parse(&bytes)
}

/// The part of a request that is the same in every version.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

fn parse(bytes: &[u8]) -> Result<Request, Fault> {
    // Report only the position of the error: the message itself could quote the request's contents.
    let malformed = |error: serde_json::Error| {
        Fault::permanent(
            FaultKind::Request,
            format!("the request is malformed at line {}, column {}", error.line(), error.column()),
        )
    };
    let Versioned { version } = serde_json::from_slice(bytes).map_err(malformed)?;
    if version != VERSION {
        return Err(Fault::permanent(
            FaultKind::Request,
            format!(
                "the request has version {version}, but this embedder supports {VERSION}: install the same version of both"
            ),
        ));
    }
    let request: Request = serde_json::from_slice(bytes).map_err(malformed)?;
    if request.limits.batch == 0 || request.limits.batch_bytes == 0 || request.limits.tries == 0 {
        return Err(Fault::permanent(FaultKind::Request, "a limit must not be 0"));
    }
    match request.texts.iter().position(|text| text.trim().is_empty()) {
        Some(index) => {
            Err(Fault::permanent(FaultKind::Request, format!("text {} of {} is empty", index + 1, request.texts.len())))
        }
        None if request.texts.is_empty() => Err(Fault::permanent(FaultKind::Request, "the request has no text")),
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
            FaultKind::Unsupported,
            "this embedder was built without support for models in a folder; build it with --features folder",
        )),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            (b"{\"version\":1,\"key\":\"secret\"}".to_vec(), "malformed"),
            (b"".to_vec(), "malformed"),
        ] {
            let fault = parse(&bytes).unwrap_err();
            assert_eq!((fault.kind, fault.retryable), (FaultKind::Request, false));
            assert!(fault.message.contains(word) && !fault.message.contains("secret"), "{fault:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
        }
    }
}
