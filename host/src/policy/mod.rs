//! The sandbox: policies as WebAssembly components, what they may use, and which of them serves a stage.

pub mod bindings;
pub mod cache;
pub mod chain;
pub mod compare;
pub mod conformance;
pub mod engine;
pub mod imports;
pub mod instance;
pub mod stage;
pub mod types;
