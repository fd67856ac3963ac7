//! A policy that remembers a team's decision records. The logic is plain Rust with unit tests; `guest` implements the
//! contract.

pub mod adr;
pub mod fold;
#[cfg(target_arch = "wasm32")]
mod guest;
pub mod lines;
mod text;
