//! The real opencode, offline against the fake API.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::fake_api::FakeApi;
use crate::home::Home;
use crate::process;

/// The version that the plugin was written for.
pub const VERSION: &str = "1.18.33";

/// The binary: what `THROUGHLINE_OPENCODE` names, else the one that `.ci/run` installs below `target/`. None, and a line that
/// says so, where it is missing; a panic where `THROUGHLINE_REQUIRE_CLIENT` is set.
pub fn find(test: &str) -> Option<PathBuf> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../target")
        .join(format!("opencode-{VERSION}"))
        .join("node_modules/opencode-linux-x64/bin/opencode");
    let path = std::env::var_os("THROUGHLINE_OPENCODE").map_or(installed, PathBuf::from);
    if path.is_file() {
        return Some(path);
    }
    let why = format!(
        "no opencode {VERSION} at {}; `npm install --prefix target/opencode-{VERSION} --ignore-scripts \
         opencode-ai@{VERSION}` puts it there",
        path.display()
    );
    assert!(!crate::env_flag("THROUGHLINE_REQUIRE_CLIENT"), "{why}");
    crate::skip(test, &why);
    None
}

/// Writes a configuration that makes it use the fake API. Returns the file.
pub fn configure(home: &Home, api: &FakeApi) -> PathBuf {
    let folder = home.path().join("xdg/config/opencode");
    std::fs::create_dir_all(&folder).expect("create the folder");
    let options = json!({"baseURL": format!("{}/v1", api.url()), "apiKey": "no-key-is-needed-on-loopback"});
    // opencode adds the schema itself where it is missing.
    let config = json!({"$schema": "https://opencode.ai/config.json", "provider": {"anthropic": {"options": options}}, "model": "anthropic/claude-sonnet-4-5",
        "autoupdate": false, "share": "disabled"});
    let file = folder.join("opencode.json");
    std::fs::write(&file, format!("{config:#}\n")).expect("write the configuration");
    file
}

/// Runs one prompt in the project. Returns what the model was asked.
pub fn prompt(binary: &Path, home: &Home, project: &Path, api: &FakeApi, arguments: &[&str]) -> Vec<Value> {
    let mut command = home.isolated(binary);
    command
        .current_dir(project)
        .arg("run")
        .args(arguments)
        .env("NO_PROXY", "127.0.0.1")
        .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
        .env("OPENCODE_DISABLE_MODELS_FETCH", "1");
    drop(api.take());
    let run = process::run(command, Vec::new(), Duration::from_mins(2));
    assert_eq!(run.code, Some(0), "{run:#?}");
    // Requests without tools ask for a title.
    api.take().into_iter().filter(|request| request["tools"].as_array().is_some_and(|it| !it.is_empty())).collect()
}
