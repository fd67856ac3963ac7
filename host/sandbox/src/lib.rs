//! The sandbox for policies, which are WebAssembly components: finding them, granting them capabilities, running them,
//! and choosing the one that answers a stage.

pub mod cache;
pub mod capability;
pub mod chain;
pub mod engine;
pub mod failures;
pub mod folder;
pub mod imports;
pub mod instance;
pub mod ledger;
pub mod lock;
pub mod managed;
pub mod manifest;
pub mod roster;
pub mod rules;
pub mod shelf;
pub mod stage;
pub mod v0_1;
mod wasi;
