//! Tests of the sandbox with components that are made for the purpose.

mod chain;
mod sandbox;
mod support;
mod versions;
mod wasi;
