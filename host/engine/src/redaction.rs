//! Redacts what people or other programs supply, in chunks small enough for a policy's memory.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::runtime::Runtime;
use throughline_model::redacted::TextRedactor;
use throughline_privacy::ExclusionRules;
use throughline_sandbox::chain::Policies;

/// How much text one call of the redactors gets, in bytes, because a policy's memory is limited.
const CHUNK_BYTES: usize = 512 << 10;

/// The longest that the redactors may take for one chunk.
const CHUNK_TIMEOUT: Duration = Duration::from_mins(1);

/// The redactors in force for a project: the user's exclusions, the secrets of this machine, and its policies.
pub struct ProjectRedactor<'a> {
    runtime: &'a Runtime,
    root: Option<&'a Path>,
}

impl<'a> ProjectRedactor<'a> {
    /// Creates a redactor for the project at `root`; `None` is outside any project.
    pub fn new(runtime: &'a Runtime, root: Option<&'a Path>) -> Self {
        Self { runtime, root }
    }
}

impl TextRedactor for ProjectRedactor<'_> {
    type Error = anyhow::Error;

    fn redact_texts(&mut self, texts: Vec<&mut String>) -> Result<()> {
        if texts.is_empty() {
            return Ok(());
        }
        if let Some(root) = self.root {
            self.runtime.secrets.add_env_files(root, root);
        }
        PolicyRedactor { policies: self.runtime.policies(self.root)?, privacy: Arc::clone(&self.runtime.privacy) }
            .redact_texts(texts)
    }
}

/// The same redactors, for what outlives a borrow of the runtime.
pub struct PolicyRedactor {
    /// The project's policies.
    pub policies: Rc<Policies>,
    /// What the user excluded.
    pub privacy: Arc<ExclusionRules>,
}

impl TextRedactor for PolicyRedactor {
    type Error = anyhow::Error;

    fn redact_texts(&mut self, texts: Vec<&mut String>) -> Result<()> {
        let mut work = self.policies.work(None, Instant::now() + CHUNK_TIMEOUT)?;
        let mut chunk: Vec<&mut String> = Vec::new();
        let mut bytes = 0;
        for text in texts {
            if let Some(clean) = self.privacy.clean(text) {
                *text = clean;
            }
            if text.is_empty() {
                continue;
            }
            bytes += text.len();
            chunk.push(text);
            if bytes >= CHUNK_BYTES {
                work.redact_in_place(std::mem::take(&mut chunk), Instant::now() + CHUNK_TIMEOUT)?;
                bytes = 0;
            }
        }
        if chunk.is_empty() { Ok(()) } else { work.redact_in_place(chunk, Instant::now() + CHUNK_TIMEOUT) }
    }
}

/// Redacts the texts in place with the policies and secrets of the project at `root`.
pub fn in_place(runtime: &Runtime, root: Option<&Path>, texts: Vec<&mut String>) -> Result<()> {
    ProjectRedactor::new(runtime, root).redact_texts(texts)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::convert::Infallible;

    use throughline_model::redacted::{Redacted, TextRedactor, Texts};

    /// Redacts nothing: no text of the tests that use it is secret.
    struct NoSecrets;

    impl TextRedactor for NoSecrets {
        type Error = Infallible;

        fn redact_texts(&mut self, _texts: Vec<&mut String>) -> Result<(), Infallible> {
            Ok(())
        }
    }

    pub(crate) fn redacted<T: Texts>(value: T) -> Redacted<T> {
        let Ok(value) = Redacted::new(value, &mut NoSecrets);
        value
    }
}
