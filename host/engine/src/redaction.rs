//! Redacts texts that people or other programs supply, in chunks small enough for a policy's memory.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::runtime::Runtime;

/// How much text one call of the redactors gets, in bytes, because a policy's memory is limited.
const SHARE_BYTES: usize = 512 << 10;

/// The longest that the redactors may take for one chunk.
const PATIENT: Duration = Duration::from_mins(1);

/// Redacts the texts in place with the policies and secrets of the project at `root`.
pub fn in_place(runtime: &Runtime, root: Option<&Path>, texts: Vec<&mut String>) -> Result<()> {
    if texts.is_empty() {
        return Ok(());
    }
    if let Some(root) = root {
        runtime.secrets.look_in(root, root);
    }
    let policies = runtime.policies(root)?;
    let mut work = policies.work(None, Instant::now() + PATIENT)?;
    let mut share: Vec<&mut String> = Vec::new();
    let mut bytes = 0;
    for text in texts {
        if let Some(clean) = runtime.privacy.clean(text) {
            *text = clean;
        }
        if text.is_empty() {
            continue;
        }
        bytes += text.len();
        share.push(text);
        if bytes >= SHARE_BYTES {
            work.redact_in_place(std::mem::take(&mut share), Instant::now() + PATIENT)?;
            bytes = 0;
        }
    }
    if share.is_empty() { Ok(()) } else { work.redact_in_place(share, Instant::now() + PATIENT).map(drop) }
}
