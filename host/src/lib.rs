//! The native shim of Throughline: hooks in, context out, a policy in its sandbox between, one SQLite file beneath.

pub mod cli;
pub mod demo;
pub mod doctor;
pub mod mcp;
