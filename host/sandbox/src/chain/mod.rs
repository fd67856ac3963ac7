//! Decides which policy answers a stage: the policies that are active for a project, strongest first, with the default
//! policy as the last resort. If a policy fails, is slow or is not compiled yet, the next weaker one answers.
//!
//! For a stage, the strongest policy with mode `replace` answers. One with mode `add` works together with the next
//! weaker:
//!
//! | stage | `add` means |
//! | --- | --- |
//! | `extractor` | its drafts and notes are added to those of the next. Its keys are kept apart by its name. It has its own state and its own place in the transcript, so a policy that failed, was not compiled yet or is new continues from where *it* stopped |
//! | `context-builder` | its text stands below the next one's, and has at most a quarter of the budget |
//! | `summarizer`, `observer`, `query` | it is asked first, and the next one if it has no answer |
//! | `redactor` | always: the default first, so that the others see no more than they must, then from weak to strong |
//!
//! # Failures
//!
//! A failure of a policy is recorded with name and digest, in words that contain nothing of what the policy said, and
//! the next policy is asked. Three failures in a row of one stage set it aside until somebody enables it. The exceptions are a
//! redactor that is `required`, by its manifest or by managed `forced` redaction, and a policy that the administrator
//! requires. If one of these gives no answer, nothing is stored and nothing is told, because what it would have removed
//! must not be kept; the cursor stays, so nothing is lost. That redactors are not required by default is a decision: a
//! broken word list should not silently end all memory, and the default redactor has run in any case.
//!
//! # Redaction
//!
//! [`Work::redact`] runs over every text that is stored, logged or shown. The host masks the values that it knows; the
//! default policy finds forms; the other redactors follow; and if any of them changed something, the values are masked
//! once more.

mod context;
mod policies;
mod redaction;
mod sandbox;
mod work;

pub use policies::{Extractor, Policies, PolicyId, Reporter, short};
pub use redaction::Redactor;
pub use sandbox::{Compile, Compiling, DEFAULT_NAME, NotCompiled, Sandbox};
pub use work::{NoAnswer, Work};
