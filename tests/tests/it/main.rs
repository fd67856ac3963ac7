//! Runs all end-to-end tests in one binary, with a module for each subject.
//!
//! One binary links the harness once and compiles the default policy once; a binary for each module did both about forty times.
//! `cargo test -p tests --test it lifecycle::` runs one module.

mod agents;
mod agents_installed;
mod attacks;
mod bad_input;
mod by_hand;
mod canary;
mod client_plugin;
mod client_policies;
mod client_tracking;
mod commands;
mod component;
mod compress;
mod corpus;
mod crash;
mod demo;
mod embedder;
mod guide;
mod import;
mod isolation;
mod life;
mod lifecycle;
mod managed;
mod mcp;
mod mcp_clients;
mod migration;
mod mistakes;
mod moving_in;
mod moving_out;
mod namespaces;
mod notes;
mod notes_git;
mod notice;
mod observations;
mod packages;
mod planted;
mod plugin;
mod policies;
mod privacy;
mod projections;
mod real_client;
mod redaction;
mod references;
mod reindex;
mod schemas;
mod sharing;
mod supersession;
mod tool_history;
mod tracking;
mod verify;
mod viewer;
