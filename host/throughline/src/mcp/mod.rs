//! The server of the Model Context Protocol on standard input and output: the agent asks, within its own project.
//!
//! Two halves. `server.rs` speaks the protocol on the main thread, with a runtime that only this command has; `worker.rs` does
//! the work on a thread of its own, call by call, with what a command has. So a long call keeps nobody from cancelling it.

mod cursor;
mod place;
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
pub fn serve(paths: Paths) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().context("the server cannot start")?;
    runtime.block_on(async {
        let (transport, gone) = transport::stdio()?;
        let folder = std::env::current_dir().context("the present folder is not known")?;
        let worker = worker::Worker::start(paths)?;
        let server = server::Server::new(worker, folder, gone);
        // A client that goes before it has said who it is has wanted nothing.
        if let Ok(running) = server.serve(transport).await {
            running.waiting().await.context("the server broke off")?;
        }
        Ok(())
    })
}
