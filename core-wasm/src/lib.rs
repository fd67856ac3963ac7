//! The default policy: decides, without a language model, what to remember of a coding agent's session.
//!
//! The crate is pure logic. Lines, memories and settings come in through the contract (`wit/`), and values go out. The
//! code uses no files, clock, environment or randomness. It builds as a WebAssembly component for the host, and
//! natively for its own tests, fuzzers and benches.

pub mod bindings;
pub mod context;
pub mod extract;
#[cfg(target_arch = "wasm32")]
mod guest;
pub mod observe;
pub mod query;
pub mod redact;
mod said_by;
mod scrubbed;
pub mod summary;
mod text;
mod transcript;
