//! Bindings for version 0.1 of the contract. A later minor version gets a module beside this one, from its own folder
//! in `wit/`; ARCHITECTURE.md describes how both versions coexist.

pub mod bindings;
pub mod types;
