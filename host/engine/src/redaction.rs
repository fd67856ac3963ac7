//! Texts of a person's or another program's lose what must not be stored, in shares that a policy's memory holds.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::runtime::Runtime;

/// How much text the redactors get in one call, bytes: a policy's memory has an end.
const SHARE_BYTES: usize = 512 << 10;

/// The longest that the redactors may take for a share.
const PATIENT: Duration = Duration::from_mins(1);

/// Runs the redactors over the texts, with the policies and the secrets of the project at `root`.
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
