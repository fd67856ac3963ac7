//! Version 0.1 of the contract, as wasmtime sees it. A later minor version gets a module beside this one, from its own
//! folder in `wit/`; ARCHITECTURE.md says how the two live side by side.

pub mod bindings;
pub mod types;
