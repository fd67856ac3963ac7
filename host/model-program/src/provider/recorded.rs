//! Replies that were recorded in a folder, so that prompts can be compared without a model. The name of a file is the digest of
//! its request.

use std::path::Path;

use sha2::{Digest, Sha256};
use throughline_model_wire::{Completed, Failed, Fault, FaultKind, Request, VERSION};

/// Returns the digest of a request without its provider.
fn digest(request: &Request) -> String {
    Sha256::digest(request.asked()).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Completes the request.
pub(super) fn complete(folder: &Path, request: &Request) -> Result<Completed, Failed> {
    let name = format!("{}.json", digest(request));
    let fault = |what: String| Failed::from(Fault::permanent(FaultKind::Model, what));
    let text = std::fs::read(folder.join(&name))
        .map_err(|error| fault(format!("no reply to this request is recorded in {}: {name}: {error}", folder.display())))?;
    let completed: Completed =
        serde_json::from_slice(&text).map_err(|error| fault(format!("{}/{name}: {error}", folder.display())))?;
    if completed.version != VERSION {
        return Err(fault(format!("{}/{name} was recorded by another version", folder.display())));
    }
    Ok(completed)
}
