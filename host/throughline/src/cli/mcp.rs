//! `throughline mcp`.

use super::failure::{Done, Failure};
use crate::mcp;

/// Serve the memory to an agent, as an MCP server on standard input and output
///
/// Agents start it themselves: `claude mcp add throughline -- throughline mcp`. It serves the project of the client's first root,
/// else of the folder that it is started in, and no other, with the tools `memory_search`, `memory_timeline`, `memory_get`,
/// `memory_save`, `memory_forget`, `session_context` and `failures_for`, memories as resources, and the prompts save-context and
/// resume. It ends with the client.
#[derive(clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_: &Arguments) -> Result<Done, Failure> {
    mcp::serve(super::paths()?)?;
    Ok(Done::Well)
}
