//! `PostToolUse`, `PostToolUseFailure` and `PostToolBatch`: record tool calls as observations in the session's journal.
//! This runs inside the agent's loop, so the database is opened only after a failure.

use std::borrow::Cow;
use std::time::Instant;

use serde_json::Value;

use super::{Outcome, checkpoints, noting};
use crate::runtime::Runtime;
use throughline_agents::protocol::name::Agent;
use throughline_agents::protocol::transcripts::codex;
use throughline_agents::protocol::{Event, ToolUse};
use throughline_agents::transcript;
use throughline_model::contract::Session;
use throughline_model::digest::sha256_hex;
use throughline_model::project::Project;
use throughline_platform::log::Level;
use throughline_privacy::Rules;
use throughline_sandbox::instance::ToolEvent;
use throughline_store::journal::{Record, Seen};
use throughline_store::{Access, Failure, OBSERVATION, StoreError};

/// The attribute that identifies equal failures, and how many digits of its hash are kept.
const SIGNATURE: &str = "signature";
const SIGNATURE_DIGITS: usize = 24;

/// Records the tool calls. Returns text for the agent: that it has met this failure before, or that it is time to save.
pub(super) fn track(
    runtime: &Runtime,
    event: &Event,
    uses: &[ToolUse],
    batch: bool,
    deadline: Instant,
) -> Outcome<Option<String>> {
    let uses = with_codes(runtime, event, uses);
    let fresh = unseen(runtime, event, &uses, batch);
    let project = Project::of(&event.cwd);
    let wanted: Vec<ToolUse> = fresh.iter().filter_map(|it| allowed(&runtime.privacy, it)).collect();
    let mut answer = None;
    if !wanted.is_empty() {
        let policies = runtime.policies(Some(&project.root))?;
        runtime.secrets.look_in(&project.root, &event.cwd);
        let mut work = policies.work(None, deadline)?;
        let session =
            Session::new(&event.session, &project, &event.cwd, event.agent.name(), event.model.clone(), runtime.now);
        let mut records = Vec::new();
        for it in &wanted {
            if let Some(seen) = observe(runtime, &mut work, &session, it, deadline)? {
                records.push(noting::record(runtime, event, OBSERVATION, it.id.clone(), seen));
            }
        }
        let failed: Vec<Record> = records.iter().filter(|it| it.seen.failed && !it.seen.interrupted).cloned().collect();
        let appended = noting::note(runtime, &mut work, records, deadline)?;
        if appended.iter().any(|it| it.wants_taking()) {
            super::background::take(runtime, &event.session);
        }
        answer = warning(runtime, &project, &failed)?;
    }
    let reminder = checkpoints::count(runtime, event, fresh.len())?;
    let said: Vec<String> = answer.into_iter().chain(reminder).collect();
    Ok((!said.is_empty()).then(|| said.join("\n\n")))
}

/// Returns the tool calls with the exit codes of commands. Codex's hook does not report them, but its rollout has them
/// just before the hook runs.
fn with_codes<'u>(runtime: &Runtime, event: &Event, uses: &'u [ToolUse]) -> Cow<'u, [ToolUse]> {
    /// How many bytes at the end of the rollout are searched.
    const ENDING: u64 = 256 << 10;
    let Some(path) = event.transcript.as_ref().filter(|_| event.agent == Agent::Codex) else { return uses.into() };
    if uses.iter().all(|it| it.tool != "Bash" || it.error.is_some()) {
        return uses.into();
    }
    let mut uses = uses.to_vec();
    let ending = transcript::open(path, &runtime.transcript_roots()).ok().and_then(|it| it.ending(ENDING).ok());
    for it in uses.iter_mut().filter(|it| it.tool == "Bash" && it.error.is_none()) {
        let code = ending.as_ref().and_then(|ending| codex::exit_code(ending, &it.id)).filter(|code| *code != 0);
        let said: String = serde_json::from_str(&it.output).unwrap_or_default();
        it.error = code.map(|code| format!("Exit code {code}\n{said}"));
    }
    uses.into()
}

/// Returns the batched calls that were not reported individually.
fn unseen<'u>(runtime: &Runtime, event: &Event, uses: &'u [ToolUse], batch: bool) -> Vec<&'u ToolUse> {
    if !batch {
        return uses.iter().collect();
    }
    let keys: Vec<&str> = uses.iter().map(|it| it.id.as_str()).collect();
    let mut known = runtime.journal().holds(&event.session, &keys);
    // A checkpoint may have moved the journal into the database since.
    if known.contains(&false)
        && let Ok(store) = runtime.store(Access::Existing, super::PATIENCE)
    {
        for (known, key) in known.iter_mut().zip(&keys) {
            *known |= store.has_event(&event.session, key).unwrap_or_default();
        }
    }
    uses.iter().zip(known).filter(|(_, known)| !known).map(|(it, _)| it).collect()
}

/// Returns the tool call without what the user excluded, or `None` if the call is about an excluded tool or path.
pub(super) fn allowed(rules: &Rules, tool_use: &ToolUse) -> Option<ToolUse> {
    if rules.is_empty() {
        return Some(tool_use.clone());
    }
    if rules.excludes_tool(&tool_use.tool) {
        return None;
    }
    let mut input: Value = serde_json::from_str(&tool_use.input).unwrap_or(Value::Null);
    if names_path(rules, &input) {
        return None;
    }
    clean(rules, &mut input);
    let mut output: Value = serde_json::from_str(&tool_use.output).unwrap_or(Value::Null);
    clean(rules, &mut output);
    Some(ToolUse {
        input: input.to_string(),
        output: output.to_string(),
        error: tool_use.error.as_ref().map(|error| rules.clean(error).unwrap_or_else(|| error.clone())),
        ..tool_use.clone()
    })
}

fn names_path(rules: &Rules, value: &Value) -> bool {
    match value {
        Value::String(text) => rules.names_path(text),
        Value::Array(items) => items.iter().any(|item| names_path(rules, item)),
        Value::Object(fields) => fields.values().any(|item| names_path(rules, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn clean(rules: &Rules, value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(cleaned) = rules.clean(text) {
                *text = cleaned;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| clean(rules, item)),
        Value::Object(fields) => fields.values_mut().for_each(|item| clean(rules, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn observe(
    runtime: &Runtime,
    work: &mut throughline_sandbox::chain::Work<'_>,
    session: &Session,
    tool_use: &ToolUse,
    deadline: Instant,
) -> Outcome<Option<Seen>> {
    // Secrets are masked before the policy runs: it may transform the text so that they would not be recognized
    // afterwards.
    let mut texts = [tool_use.input.clone(), tool_use.output.clone(), tool_use.error.clone().unwrap_or_default()];
    runtime.secrets.mask(&mut texts);
    let [input, output, error] = texts;
    let event = ToolEvent {
        tool: tool_use.tool.clone(),
        use_id: tool_use.id.clone(),
        at: runtime.now,
        input,
        output,
        succeeded: tool_use.error.is_none(),
        error: tool_use.error.is_some().then_some(error),
        duration_ms: tool_use.duration,
    };
    let mut observation = work.observe(session, &event, deadline)?;
    for (name, value) in observation.iter_mut().flat_map(|seen| &mut seen.attributes) {
        if name == SIGNATURE {
            // The signature is only compared, so it need not be readable. It is hashed because no redactor can
            // recognize a secret in normalized text.
            sha256_hex(value.as_bytes())[..SIGNATURE_DIGITS].clone_into(value);
        }
    }
    Ok(observation.map(|seen| Seen {
        tool: tool_use.tool.clone(),
        summary: seen.summary,
        detail: seen.detail,
        files: seen.files,
        attributes: seen.attributes,
        failed: tool_use.error.is_some(),
        interrupted: tool_use.interrupted,
        duration: tool_use.duration.map(u64::from),
        agent: None,
    }))
}

/// Returns what is known about earlier failures of the same kind.
fn warning(runtime: &Runtime, project: &Project, failed: &[Record]) -> Outcome<Option<String>> {
    if failed.is_empty() {
        return Ok(None);
    }
    let store = match runtime.store(Access::Existing, super::PATIENCE) {
        Err(StoreError::Missing(_) | StoreError::Older(_)) => return Ok(None),
        other => other?,
    };
    let mut lines = Vec::new();
    for record in failed {
        let Some(signature) = record.seen.attribute(SIGNATURE) else { continue };
        match store.failure(&project.id, signature) {
            Ok(Some(failure)) => lines.push(warn(&failure)),
            Ok(None) => {}
            Err(error) => runtime.log.note(Level::Warn, "earlier failures could not be looked up", error.to_string()),
        }
    }
    lines.dedup();
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}

/// Describes a known failure to the agent. Its texts were redacted before they were stored.
fn warn(failure: &Failure) -> String {
    let times = |number: u32, one: &str, many: &str| match number {
        1 => one.to_owned(),
        number => format!("{number} {many}"),
    };
    let often =
        format!("{} in {}", times(failure.count, "once", "times"), times(failure.sessions, "one session", "sessions"));
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match &failure.fix {
        Some(fix) => format!(
            "Throughline: this failure has happened before ({often}): {}. What was done before it passed: {}.",
            line(&failure.error),
            line(fix)
        ),
        None => {
            format!("Throughline: this failure has happened before ({often}) and no fix is known: {}.", line(&failure.error))
        }
    }
}
