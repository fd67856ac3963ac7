//! Checks where the MCP server is registered, and whether what is registered is this program.

use super::finding::Finding;
use super::hooks::is_executable;
use throughline_agents::settings::{self, Client};
use throughline_platform::paths::{self, Paths};
use throughline_platform::program;

/// The name of the check.
const CHECK: &str = "mcp";

/// Checks the user's settings of all clients that are installed.
pub(super) fn servers(paths: &Paths) -> Vec<Finding> {
    let program = program::stable_path().unwrap_or_default();
    let mut findings = Vec::new();
    let mut registered = Vec::new();
    for client in Client::all() {
        let install = format!("run `throughline install --agent {}`", client.name());
        let file = client.server_file(paths);
        let shown = paths::display(&file, &paths.home);
        let text = match settings::read(&file) {
            Ok(text) => text.unwrap_or_default(),
            // The check of the hooks reports files of the agents.
            Err(_) => continue,
        };
        match settings::registered_server(client, &text, &program) {
            Ok(Some(called)) if called.is_absolute() && !is_executable(&called) => {
                let message = format!("{shown} calls {}, which does not exist or cannot be run", called.display());
                findings.push(Finding::fail(CHECK, message, install));
            }
            Ok(Some(called)) if called.is_absolute() && !program::is_same_file(&called, &program) => {
                let message = format!("{shown} calls a different program: {}", called.display());
                findings.push(Finding::warn(CHECK, message, install));
            }
            Ok(Some(_)) => registered.push(client.title()),
            Ok(None) if client.agent().is_none() && client.home(paths).is_dir() => {
                let message = format!("{}: the MCP server is not registered", client.title());
                findings.push(Finding { hint: Some(install), ..Finding::ok(CHECK, message) });
            }
            Err(what) if client.agent().is_none() && client.home(paths).is_dir() => {
                let hint = format!("fix the file: {} cannot read it either", client.title());
                findings.push(Finding::warn(CHECK, format!("{shown} is not valid: {what}"), hint));
            }
            Ok(None) | Err(_) => {}
        }
    }
    if !registered.is_empty() {
        findings.push(Finding::ok(CHECK, format!("the server is registered with {}", registered.join(", "))));
    }
    findings
}
