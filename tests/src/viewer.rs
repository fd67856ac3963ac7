//! The viewer in a real browser: what its tests and its measurement share.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::home::Home;
use crate::process::{self, WATCHDOG};
use crate::{env_flag, skip};

/// The versions of the npm packages that the test is written for.
const PLAYWRIGHT: &str = "1.65.1";
const AXE: &str = "4.14.1";

/// A running viewer. It is killed with the test.
pub struct Viewer {
    child: Child,
    /// The address that it printed, with the token.
    pub address: String,
}

impl Viewer {
    /// Starts the viewer of the home, with more arguments.
    pub fn start(home: &Home, more: &[&str]) -> Self {
        Self::of(home.command(["view", "--no-open"].iter().chain(more)))
    }

    /// Starts the viewer by this command, and waits for its address.
    pub fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("start the viewer");
        let mut address = String::new();
        BufReader::new(child.stdout.take().expect("stdout is piped")).read_line(&mut address).expect("read its address");
        assert!(address.starts_with("http://127.0.0.1:"), "{address:?}");
        Self { child, address: address.trim().to_owned() }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        process::kill_now(self.child.id());
        let _ = self.child.wait();
    }
}

/// What the browser test needs, or none, and a line that says so, where it is missing; a panic where `THROUGHLINE_REQUIRE_BROWSER` is
/// set.
pub fn browser(test: &str) -> Option<(PathBuf, PathBuf)> {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/viewer-browser");
    let named = std::env::var_os("THROUGHLINE_BROWSER").map(PathBuf::from);
    let chromium = named.or_else(|| process::which("chromium")).or_else(|| process::which("chromium-browser"));
    let has_modules = ["playwright-core", "axe-core"].iter().all(|name| modules.join("node_modules").join(name).is_dir());
    let why = match chromium {
        Some(chromium) if has_modules && process::which("node").is_some() => return Some((chromium, modules)),
        Some(_) => format!(
            "playwright-core and axe-core are missing; `npm install --prefix target/viewer-browser playwright-core@{PLAYWRIGHT} \
             axe-core@{AXE}` puts them there"
        ),
        None => "there is no chromium; Debian's package is called so, and THROUGHLINE_BROWSER names another".to_owned(),
    };
    assert!(!env_flag("THROUGHLINE_REQUIRE_BROWSER"), "{why}");
    skip(test, &why);
    None
}

/// Runs a program of `tests/viewer` with what it is to know, and returns what it measured.
pub fn drive(home: &Home, program: &str, setup: &Value) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("setup.json");
    std::fs::write(&file, setup.to_string()).expect("write");
    let mut command = home.isolated("node");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("viewer").join(program)).arg(&file);
    let run = process::run(command, Vec::new(), WATCHDOG);
    assert!(run.code == Some(0), "{}\n{}", run.stdout, run.stderr);
    eprintln!("{}", run.stdout.trim());
    serde_json::from_str(&run.stdout).expect("JSON")
}
