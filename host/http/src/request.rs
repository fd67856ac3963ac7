//! The frame of a program that reads one JSON request from standard input and writes one JSON answer to standard output.

use std::io::{self, Read as _, Write as _};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use throughline_embedder_wire::{Fault, FaultKind};

/// The part of a request that is the same in every version.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// Reads standard input to its end: at most `max` bytes.
pub fn read(max: u64) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    io::stdin()
        .take(max + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| fault(format!("the request cannot be read: {error}")))?;
    if bytes.len() as u64 > max {
        return Err(fault(format!("the request is longer than {max} bytes")));
    }
    Ok(bytes)
}

/// Parses a request of this version.
pub fn parse<T: DeserializeOwned>(bytes: &[u8], version: u32) -> Result<T, Fault> {
    // Report only the position of the error: the message itself could quote the request's contents.
    let malformed = |error: serde_json::Error| {
        let (line, column) = (error.line(), error.column());
        fault(format!("the request is malformed at line {line}, column {column}"))
    };
    let Versioned { version: theirs } = serde_json::from_slice(bytes).map_err(malformed)?;
    if theirs != version {
        return Err(fault(format!(
            "the request has version {theirs}, but this program supports {version}: install the same version of both"
        )));
    }
    serde_json::from_slice(bytes).map_err(malformed)
}

/// Writes the answer to standard output. Returns whether that succeeded.
pub fn write(answer: &impl Serialize) -> bool {
    serde_json::to_vec(answer).map_err(io::Error::other).and_then(|bytes| io::stdout().write_all(&bytes)).is_ok()
}

/// A request that cannot be carried out, and will not be if it is sent again.
pub fn fault(message: impl Into<String>) -> Fault {
    Fault::permanent(FaultKind::Request, message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn what_cannot_be_read_is_named_and_not_quoted() {
        assert!(parse::<Value>(b"{\"version\":1}", 1).is_ok());
        for (bytes, word) in [
            (&b"{\"version\":2}"[..], "version 2"),
            (b"{\"key\":\"secret\"}", "malformed"),
            (b"{\"version\":1,\"key\":\"secret", "malformed"),
            (b"", "malformed"),
        ] {
            let fault = parse::<Value>(bytes, 1).unwrap_err();
            assert_eq!((fault.kind, fault.retryable), (FaultKind::Request, false));
            assert!(fault.message.contains(word) && !fault.message.contains("secret"), "{fault:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse::<Value>(&bytes, 1);
        }
    }
}
