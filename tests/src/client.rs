//! The real Claude Code client, offline against the fake API.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::fake_api::FakeApi;
use crate::home::Home;
use crate::process::{self, Finished};

/// The version that the tests are written for: the client's formats change without notice.
pub const VERSION: &str = "2.1.330";

/// The client's native binary: what `THROUGHLINE_CLIENT` names, else the one that `.ci/run` installs below `target/`.
/// None, and a line that says so, where it is missing; a panic where `THROUGHLINE_REQUIRE_CLIENT` is set.
pub fn find(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("THROUGHLINE_CLIENT").map_or_else(installed, PathBuf::from);
    if path.is_file() {
        return Some(path);
    }
    let why = format!(
        "no Claude Code {VERSION} at {}; `npm install --prefix target/claude-code-{VERSION} --ignore-scripts \
         @anthropic-ai/claude-code@{VERSION}` puts it there",
        path.display()
    );
    assert!(!crate::env_flag("THROUGHLINE_REQUIRE_CLIENT"), "{why}");
    crate::skip(test, &why);
    None
}

fn installed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../target")
        .join(format!("claude-code-{VERSION}"))
        .join("node_modules/@anthropic-ai/claude-code-linux-x64/claude")
}

/// What one run of the client did.
#[derive(Debug)]
pub struct Ran {
    /// The process.
    pub run: Finished,
    /// Each line of its `stream-json` output.
    pub events: Vec<Value>,
    /// What the model was asked, request by request.
    pub requests: Vec<Value>,
}

impl Ran {
    /// Every hook that the client reports to have run.
    pub fn hooks(&self) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(|event| event["subtype"] == "hook_response")
    }

    /// Panics unless the client succeeded, told of a hook for each of these events, and of no hook that failed.
    ///
    /// The client tells of no `SessionEnd`, whose hooks run after its output has ended; where one fails, it says so on stderr.
    #[track_caller]
    pub fn assert_hooks(&self, events: &[&str]) {
        assert_eq!(self.run.code, Some(0), "{self:#?}");
        assert!(self.run.stderr.is_empty(), "the client complains: {}", self.run.stderr);
        for hook in self.hooks() {
            assert_eq!(hook["exit_code"], 0, "{hook:#}");
            assert_eq!(hook["outcome"], "success", "{hook:#}");
            assert_eq!(hook["stderr"], "", "{hook:#}");
        }
        for wanted in events {
            assert!(
                self.hooks().any(|hook| hook["hook_event"] == *wanted),
                "no hook was run for {wanted}: {:#?}",
                self.hooks().collect::<Vec<_>>()
            );
        }
    }
}

/// A client in a home, ready to be run in a project.
pub struct Client<'a> {
    /// Its binary.
    pub binary: PathBuf,
    /// Where it lives.
    pub home: &'a Home,
    /// Where it works.
    pub project: &'a Path,
    /// What answers it.
    pub api: &'a FakeApi,
}

impl Client<'_> {
    /// The client, in the project, with nothing but its home and the stand-in for the API.
    fn command(&self) -> Command {
        let mut command = self.home.isolated(&self.binary);
        command
            .current_dir(self.project)
            // As on most machines: the client's folder is where it is by default.
            .env_remove("CLAUDE_CONFIG_DIR")
            .env("SHELL", "/bin/sh")
            .env("TERM", "dumb")
            .env("NO_PROXY", "127.0.0.1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_ERROR_REPORTING", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            // All tools are offered at once, the task list's too, instead of behind a search for tools.
            .env("ENABLE_TOOL_SEARCH", "false")
            .env("ANTHROPIC_API_KEY", "no-key-is-needed-on-loopback")
            .env("ANTHROPIC_BASE_URL", self.api.url());
        command
    }

    /// Runs one of its own commands, such as `plugin list`, with that on its standard input.
    pub fn manage(&self, arguments: &[&str], input: &str) -> Finished {
        let mut command = self.command();
        command.args(arguments);
        process::run(command, input.as_bytes().to_vec(), Duration::from_mins(1))
    }

    /// Runs one prompt without a terminal.
    pub fn prompt(&self, prompt: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command();
        command
            .args(["-p", prompt, "--output-format", "stream-json", "--verbose", "--include-hook-events"])
            .args([
                "--allowedTools",
                "Write,Edit,Read,Bash,TaskCreate,TaskUpdate,TodoWrite,Agent,Task,mcp__memtest__echo,mcp__throughline",
            ])
            .args(arguments);
        drop(self.api.take());
        let run = process::run(command, Vec::new(), Duration::from_secs(90));
        let events = run.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ran { run, events, requests: self.api.take() }
    }
}
