//! The sandbox: policies as WebAssembly components, what they may use, and which of them serves a stage.

pub mod bindings;
pub mod build;
pub mod cache;
pub mod chain;
pub mod engine;
pub mod imports;
pub mod instance;
pub mod template;
pub mod types;
