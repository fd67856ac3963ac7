//! `throughline mcp`: runs the MCP server.

use std::process::ExitCode;

use super::environment;
use super::error::CommandError;
use crate::mcp;

/// Run an MCP server on standard input and output
///
/// Agents start the server themselves: `claude mcp add throughline -- throughline mcp`. It serves one project: that of
/// the client's first root, or else of the folder in which it is started. It has the tools `memory_search`,
/// `memory_timeline`, `memory_get`, `memory_save`, `memory_forget`, `session_context` and `failures_for`, memories as
/// resources, and the prompts save-context and resume. It exits when the client disconnects.
#[derive(clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_: &Arguments) -> Result<ExitCode, CommandError> {
    mcp::serve(environment::paths()?)?;
    Ok(ExitCode::SUCCESS)
}
