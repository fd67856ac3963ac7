//! A policy that has a language model go over what a session or a project taught. The logic is plain Rust with unit tests; `guest`
//! implements the contract.

pub mod answer;
#[cfg(target_arch = "wasm32")]
mod guest;
pub mod plan;
pub mod run;
