//! Compiles components with the configuration of the sandbox, and does what else takes large libraries: reads the interfaces of a
//! component, makes a component of a module, and validates notes.
//!
//! Only the program `throughline-compiler` and tests use it: a program that remembers has none of this in it, because most of its
//! code and half of its start would be the compiler's.

mod component;
mod notes;

pub use component::{compile, encode, interface};
pub use notes::validate;

use anyhow::Result;
use throughline_sandbox::compile::Job;

/// Does a job, and returns what the program writes.
pub fn run(job: Job, input: &[u8]) -> Result<Vec<u8>> {
    match job {
        Job::Compile => compile(input),
        Job::Interface => Ok(serde_json::to_vec(&interface(input)?)?),
        Job::Encode => encode(input),
        Job::Validate => validate(input),
    }
}
