//! The default policy: what a coding agent's session is remembered by, without a model.
//!
//! Pure logic. Lines, memories and settings come in through the contract (`wit/`), values go out; there is no file, no
//! clock, no environment and no randomness. It builds as a WebAssembly component for the host and natively for its own
//! tests, fuzzers and benches.

pub mod bindings;
pub mod context;
pub mod extract;
#[cfg(target_arch = "wasm32")]
mod guest;
pub mod observe;
pub mod query;
pub mod redact;
pub mod summary;
mod text;
mod transcript;
