//! The command line of a coding agent, so that a subscription can pay: `claude -p`, `codex exec`, `gemini -p`. The prompt goes
//! through standard input. The agent session for the call is marked, runs in its own folder, and keeps no transcript if the
//! agent has an option for that.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use serde_json::Value;
use throughline_model_wire::{Agent, Completed, Failed, Fault, FaultKind, MARK, Request, Role, VERSION};
use throughline_platform::process::{in_own_group, kill_group};

use super::exchange::{MAX_RESPONSE_BYTES, charged, odd, refused, sum, tokens};

/// Completes the request.
pub(super) fn complete(
    agent: Agent,
    program: &str,
    model: Option<&str>,
    folder: &Path,
    request: &Request,
) -> Result<Completed, Failed> {
    let (system, said): (Vec<_>, Vec<_>) = request.messages.iter().partition(|message| message.role == Role::System);
    let mut system = system.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n");
    if let Some(schema) = &request.schema {
        system.push_str("\n\nAnswer with one JSON object that matches this JSON Schema, and with nothing else:\n");
        system.push_str(&schema.to_string());
    }
    let said = said.iter().map(|message| match message.role {
        Role::Assistant => format!("Your earlier answer:\n{}", message.content),
        Role::System | Role::User => message.content.clone(),
    });
    let mut prompt = said.collect::<Vec<_>>().join("\n\n");
    let mut command = Command::new(program);
    match agent {
        Agent::Claude => {
            command.args(["-p", "--output-format", "json", "--no-session-persistence", "--max-turns", "1"]);
            command.args(["--tools", "", "--strict-mcp-config", "--settings", r#"{"disableAllHooks":true}"#]);
            command.args(["--system-prompt", &system]);
            command.env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", request.max_tokens.to_string());
        }
        Agent::Codex => {
            command.args(["exec", "--json", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only"]);
            command.args(["-c", "notify=[]"]);
            prompt = format!("{system}\n\n{prompt}");
        }
        Agent::Gemini => {
            command.args(["--output-format", "json"]);
            prompt = format!("{system}\n\n{prompt}");
        }
    }
    command.args(model.into_iter().flat_map(|model| ["--model", model]));
    if agent == Agent::Codex {
        command.arg("-");
    }
    command.env(MARK, "1").current_dir(folder);
    let output = run(command, program, prompt, Duration::from_millis(request.limits.timeout_ms))?;
    let mut completed = read(agent, &output)?;
    if completed.model.is_empty() {
        model.unwrap_or(program).clone_into(&mut completed.model);
    }
    Ok(completed)
}

/// Runs the command and returns its output.
fn run(mut command: Command, program: &str, prompt: String, time: Duration) -> Result<String, Failed> {
    let failed = |what: String| Failed::from(Fault::temporary(FaultKind::Unsupported, what));
    let mut child = in_own_group(&mut command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(format!("{program} cannot be started: {error}")))?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        kill_group(&mut child);
        return Err(failed(format!("cannot communicate with {program}")));
    };
    let (sender, receiver) = mpsc::sync_channel(1);
    let writing = std::thread::Builder::new().spawn(move || drop(input.write_all(prompt.as_bytes())));
    let reading = std::thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let read = output.take(MAX_RESPONSE_BYTES + 1).read_to_end(&mut bytes).map(|_| bytes);
        drop(sender.send(read));
    });
    if let Err(error) = writing.and(reading) {
        kill_group(&mut child);
        return Err(failed(format!("cannot communicate with {program}: {error}")));
    }
    let read = receiver.recv_timeout(time);
    // The status must be asked for before the group is killed, which would be the status.
    let status = child.try_wait().ok().flatten();
    kill_group(&mut child);
    let bytes = match read {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return Err(charged(Fault::temporary(FaultKind::Answer, format!("{program}: {error}")))),
        Err(RecvTimeoutError::Timeout) => {
            let what = format!("{program} did not answer within {} ms", time.as_millis());
            return Err(charged(Fault::temporary(FaultKind::Timeout, what)));
        }
        Err(RecvTimeoutError::Disconnected) => return Err(charged(Fault::temporary(FaultKind::Answer, "no output"))),
    };
    if bytes.len() as u64 > MAX_RESPONSE_BYTES {
        let what = format!("{program} printed more than {MAX_RESPONSE_BYTES} bytes");
        return Err(charged(Fault::permanent(FaultKind::Answer, what)));
    }
    if bytes.is_empty() {
        let how = status.map(|status| format!(": {status}")).unwrap_or_default();
        return Err(charged(Fault::temporary(FaultKind::Answer, format!("{program} ended without an answer{how}"))));
    }
    String::from_utf8(bytes).map_err(|_| charged(Fault::temporary(FaultKind::Answer, format!("{program} printed no text"))))
}

/// Reads the answer from what the agent printed.
fn read(agent: Agent, output: &str) -> Result<Completed, Failed> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).map_err(|_| odd("it is not JSON"));
    let (text, input, written) = match agent {
        Agent::Claude => {
            let answer = parse(output)?;
            if answer["is_error"] == true {
                return Err(refused("the agent reports an error"));
            }
            let usage = &answer["usage"];
            let cached = [&usage["cache_creation_input_tokens"], &usage["cache_read_input_tokens"]];
            let text = answer["result"].as_str().map(str::to_owned);
            (text, sum(&usage["input_tokens"], &cached), tokens(&usage["output_tokens"]))
        }
        Agent::Codex => {
            let events: Vec<Value> = output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            let said = events.iter().rev().find(|event| event["item"]["type"] == "agent_message");
            let usage = events.iter().rev().find(|event| event["type"] == "turn.completed").map(|event| &event["usage"]);
            let number = |name: &str| usage.and_then(|usage| tokens(&usage[name]));
            let text = said.and_then(|event| event["item"]["text"].as_str()).map(str::to_owned);
            (text, number("input_tokens"), number("output_tokens"))
        }
        Agent::Gemini => {
            let answer = parse(output)?;
            let models = answer["stats"]["models"].as_object();
            let total = |name: &str| {
                models.map(|models| {
                    models.values().filter_map(|model| tokens(&model["tokens"][name])).fold(0, u64::saturating_add)
                })
            };
            let text = answer["response"].as_str().map(str::to_owned);
            (text, total("prompt"), total("candidates"))
        }
    };
    let text = text.ok_or_else(|| odd("there is no answer in it"))?;
    Ok(Completed {
        version: VERSION,
        model: String::new(),
        text,
        truncated: false,
        input_tokens: input,
        output_tokens: written,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_agents_print() {
        let claude = r#"{"type":"result","is_error":false,"result":"yes","usage":{"input_tokens":3,
            "cache_read_input_tokens":4,"output_tokens":5}}"#;
        let codex = "{\"type\":\"thread.started\"}\n\
            {\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"yes\"}}\n\
            {\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":7,\"output_tokens\":5}}\n";
        let gemini = r#"{"response":"yes","stats":{"models":{"m":{"tokens":{"prompt":7,"candidates":5}}}}}"#;
        for (agent, output) in [(Agent::Claude, claude), (Agent::Codex, codex), (Agent::Gemini, gemini)] {
            let completed = read(agent, output).unwrap();
            let seen = (completed.text.as_str(), completed.input_tokens, completed.output_tokens);
            assert_eq!(seen, ("yes", Some(7), Some(5)), "{agent:?}");
            for output in ["", "no", "{}", "[]", "{\"is_error\":true}"] {
                let failed = read(agent, output).unwrap_err();
                assert!(failed.may_be_charged, "{agent:?} {output}");
            }
        }
    }
}
