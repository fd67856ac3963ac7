//! Everything that is peculiar to one coding agent.

pub mod plugin;
pub mod protocol;
pub mod settings;
pub mod transcript;
