//! A Model Context Protocol server on standard input and output, through which an agent uses the memory of its project.
//!
//! `server.rs` speaks the protocol on the main thread, with a runtime that only this command has. `worker.rs` does the
//! work on a thread of its own, one call at a time. A long call can therefore still be cancelled.

mod client_folder;
mod cursor;
mod prompts;
mod quote;
mod resources;
mod server;
mod tools;
mod transport;
mod worker;

use anyhow::{Context as _, Result};
use rmcp::ServiceExt as _;

use throughline_platform::paths::Paths;

/// Serves one client until it closes standard input or stops reading standard output.
pub(crate) fn serve(paths: Paths) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().context("the server cannot start")?;
    runtime.block_on(async {
        let (transport, gone) = transport::stdio()?;
        let folder = std::env::current_dir().context("the current directory cannot be determined")?;
        let worker = worker::Worker::start(paths)?;
        let server = server::Server::new(worker, folder, gone);
        // A client that disconnects before the handshake did not ask for anything.
        if let Ok(running) = server.serve(transport).await {
            running.waiting().await.context("the server stopped unexpectedly")?;
        }
        Ok(())
    })
}
