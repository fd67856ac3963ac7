//! The native shim of Throughline: hooks in, context out, a policy in its sandbox between, one SQLite file beneath.

pub mod agent;
pub mod cli;
pub mod config;
pub mod contract;
pub mod demo;
pub mod digest;
pub mod doctor;
pub mod embedding;
pub mod files;
pub mod hooks;
pub mod import;
pub mod ingest;
pub mod journal;
pub mod log;
pub mod paths;
pub mod policy;
pub mod privacy;
pub mod program;
pub mod project;
pub mod projection;
pub mod runtime;
pub mod search;
pub mod secrets;
pub mod settings;
pub mod store;
pub mod transcript;
