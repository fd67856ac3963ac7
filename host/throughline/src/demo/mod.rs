//! The demo: runs the sample session through the real program, called as Claude Code calls it, in a temporary home.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use throughline_agents::protocol::name::Agent;
use throughline_agents::settings::{self, Registration};
use throughline_engine::runtime;
use throughline_policy_kit::sample::{self, SampleEvent};

/// The session of the next day.
const NEXT_SESSION: &str = "5a3b1e00-5a5a-4000-8000-00000000da72";

/// An hour and a day in milliseconds.
const HOUR: u64 = 60 * 60 * 1000;
const DAY: u64 = 24 * HOUR;

/// A call of the program.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Step {
    /// The agent's name for the event; `install` for the first step.
    pub event: String,
    /// `startup`, `compact`, `manual`, …; empty if the event has no such value.
    pub occasion: String,
    /// How long the process ran, which is how long the agent waits for it.
    pub millis: f64,
    /// The context that the model was shown; null if there was none.
    pub context: Option<String>,
}

/// The result of the demo.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DemoReport {
    /// The folder in which the demo ran. It no longer exists.
    pub folder: PathBuf,
    /// How many lines the transcript has.
    pub lines: usize,
    /// The calls in order. The last one is the next day's start.
    pub steps: Vec<Step>,
    /// How many memories there were at the end.
    pub memories: u64,
}

impl DemoReport {
    /// Returns the context that the next day's session gets.
    pub(crate) fn next_session_context(&self) -> Option<&str> {
        self.steps.last()?.context.as_deref()
    }
}

/// Returns the beginning of this hour a day ago: the sample session takes less than an hour, so it has one date.
fn yesterday(now: u64) -> u64 {
    now.saturating_sub(DAY + now % HOUR)
}

/// Runs the sample session with `program`.
pub(crate) fn play(program: &Path) -> Result<DemoReport> {
    let stage = TemporaryHome::build(program)?;
    let mut steps = vec![stage.install()?];
    let hooks = stage.hooks()?;
    let lines = sample::lines(&stage.project(), yesterday(runtime::now()));
    let transcript = stage.transcript(sample::SESSION);
    let mut file = File::create(&transcript)?;
    let call = |event: &str, occasion: &str, more: Value| stage.call(&hooks, event, occasion, sample::SESSION, more);
    steps.push(call("SessionStart", "startup", json!({"source": "startup"}))?);
    for line in &lines {
        if line.before == Some(SampleEvent::Compacting) {
            steps.push(call("PreCompact", "manual", json!({"trigger": "manual", "custom_instructions": ""}))?);
        }
        writeln!(file, "{}", line.text)?;
        match &line.after {
            Some(SampleEvent::Answered(text)) => {
                let more = json!({"stop_hook_active": false, "last_assistant_message": text});
                steps.push(call("Stop", "", more)?);
            }
            Some(SampleEvent::Compacted(summary)) => {
                steps.push(call("SessionStart", "compact", json!({"source": "compact"}))?);
                steps.push(call("PostCompact", "manual", json!({"trigger": "manual", "compact_summary": summary}))?);
            }
            Some(SampleEvent::Compacting) | None => {}
        }
    }
    steps.push(call("SessionEnd", "prompt_input_exit", json!({"reason": "prompt_input_exit"}))?);
    steps.push(stage.call(&hooks, "SessionStart", "startup", NEXT_SESSION, json!({"source": "startup"}))?);
    Ok(DemoReport { folder: stage.home.path().into(), lines: lines.len(), memories: stage.memories()?, steps })
}

/// The temporary home.
struct TemporaryHome<'a> {
    program: &'a Path,
    home: TempDir,
}

impl<'a> TemporaryHome<'a> {
    fn build(program: &'a Path) -> Result<Self> {
        let home = tempfile::Builder::new()
            .prefix("throughline-demo-")
            .tempdir()
            .context("no folder for the demo can be created")?;
        let stage = Self { program, home };
        fs::create_dir_all(stage.project())?;
        if let Some(folder) = stage.transcript("").parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(stage)
    }

    fn claude(&self) -> PathBuf {
        self.home.path().join(".claude")
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("tea-shop")
    }

    /// Returns where Claude Code would write the transcript: in a directory named after the project's path.
    fn transcript(&self, session: &str) -> PathBuf {
        let project = self.project();
        let slug: String =
            project.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        self.claude().join("projects").join(slug).join(format!("{session}.jsonl"))
    }

    /// Returns a command whose environment contains this home and nothing from the user.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("TMPDIR", self.home.path())
            .env("CLAUDE_CONFIG_DIR", self.claude())
            .env("CLAUDE_PROJECT_DIR", self.project())
            .env("THROUGHLINE_HOME", self.home.path().join("throughline"))
            .current_dir(self.project());
        command
    }

    fn install(&self) -> Result<Step> {
        let mut command = self.command(self.program);
        command.args(["install", "--json"]);
        let (_, millis) = run(command, "")?;
        Ok(Step { event: "install".into(), occasion: String::new(), millis, context: None })
    }

    /// Returns the hooks that `install` registered. Like Claude Code, the demo calls hooks as the settings name them.
    fn hooks(&self) -> Result<Vec<Registration>> {
        let file = self.claude().join("settings.json");
        let text = settings::read(&file)?.unwrap_or_default();
        settings::registered(Agent::ClaudeCode, &file, &text, self.program)
            .map_err(|what| anyhow::anyhow!("the settings are not valid: {what}"))
    }

    fn call(&self, hooks: &[Registration], event: &str, occasion: &str, session: &str, more: Value) -> Result<Step> {
        let hook =
            hooks.iter().find(|hook| hook.event == event).with_context(|| format!("no hook is registered for {event}"))?;
        let mut payload = json!({
            "session_id": session,
            "transcript_path": self.transcript(session),
            "cwd": self.project(),
            "hook_event_name": event,
        });
        if let (Some(payload), Value::Object(more)) = (payload.as_object_mut(), more) {
            payload.extend(more);
        }
        let mut command = self.command(&hook.program);
        command.args(&hook.arguments);
        let (stdout, millis) = run(command, &payload.to_string())?;
        let answer: Value = serde_json::from_str(&stdout).unwrap_or_default();
        let context = answer.pointer("/hookSpecificOutput/additionalContext").and_then(Value::as_str);
        Ok(Step { event: event.into(), occasion: occasion.into(), millis, context: context.map(str::to_owned) })
    }

    fn memories(&self) -> Result<u64> {
        let mut command = self.command(self.program);
        command.args(["memory", "stats", "--json"]);
        let (stdout, _) = run(command, "")?;
        let stats: Value = serde_json::from_str(&stdout).unwrap_or_default();
        Ok(stats.get("memories").and_then(Value::as_u64).unwrap_or_default())
    }
}

/// Runs a command to its end with `input` on its standard input. Returns its standard output, and its run time in
/// milliseconds.
fn run(mut command: Command, input: &str) -> Result<(String, f64)> {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} cannot be started", command.get_program().display()))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).context("the program does not read its input")?;
    }
    let output = child.wait_with_output()?;
    let took: Duration = started.elapsed();
    if !output.status.success() {
        bail!("{} failed: {}", command.get_program().display(), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), took.as_secs_f64() * 1000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_session_has_one_date() {
        for now in [3 * DAY, 3 * DAY + HOUR - 1, 4 * DAY - 1] {
            let lines = sample::lines(Path::new("/shop"), yesterday(now));
            let days = lines.iter().filter_map(|line| {
                let line: Value = serde_json::from_str(&line.text).ok()?;
                line.get("timestamp")?.as_str().map(|time| time[..10].to_owned())
            });
            let days: std::collections::BTreeSet<String> = days.collect();
            assert_eq!(days.into_iter().collect::<Vec<_>>(), ["1970-01-03"], "{now}");
        }
    }
}
