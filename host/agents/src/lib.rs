//! Everything that is peculiar to one coding agent: its hooks, its transcripts, its settings files and its plugin.
//!
//! Policies know one transcript format and one set of tools: Claude Code's. This crate converts everything else to
//! them, so that every policy works for every agent, and no other crate knows a wire format.
//!
//! - [`protocol`] parses a hook's payload into an [`protocol::Event`] and writes the answer in the agent's own form.
//!   Its [`protocol::transcripts`] translates transcripts.
//! - [`transcript`] opens transcript files, and reads complete lines from where the last read stopped.
//! - [`settings`] adds and removes our hooks in the agents' settings files, without changing any other byte.
//! - [`loaded_files`] finds the files that an agent loads on its own when a session starts.
//! - [`plugin`] is the plugin for Claude Code, embedded in the program. Its files are in `plugin/` at the root of the
//!   repository; a symbolic link in this crate leads there, which `cargo package` replaces by the files.
//!
//! A hook's call goes through the crate twice. The payload comes in through [`protocol::parse`]; the session's
//! transcript is opened with [`transcript::open`] and its lines are served to the policies. What they say goes out
//! through [`protocol::answer`].

pub mod loaded_files;
pub mod plugin;
pub mod protocol;
pub mod settings;
pub mod transcript;
