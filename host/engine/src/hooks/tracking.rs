//! `PostToolUse`, `PostToolUseFailure` and `PostToolBatch`: record tool calls as observations in the session's journal.
//! This runs inside the agent's loop, so the database is opened only after a failure.

use std::borrow::Cow;
use std::time::Instant;

use super::exclusion::without_excluded;
use super::result::{HookResult, STORE_BUSY_TIMEOUT};
use super::synthesized_transcript::SessionSource;
use super::{checkpoints, journal_writer};
use crate::runtime::Runtime;
use crate::text::one_line;
use serde_json::Value;
use throughline_agents::protocol::name::Agent;
use throughline_agents::protocol::transcripts::codex;
use throughline_agents::protocol::{Event, ToolUse};
use throughline_agents::transcript;
use throughline_model::contract::Session;
use throughline_model::digest::sha256_hex;
use throughline_model::project::Project;
use throughline_platform::log::Level;
use throughline_sandbox::instance::ToolEvent;
use throughline_store::journal::{EventPayload, JournalRecord};
use throughline_store::{Access, Failure, OBSERVATION, StoreError};

/// The attribute that identifies equal failures, and how many digits of its hash are kept.
const SIGNATURE: &str = "signature";
const SIGNATURE_DIGITS: usize = 24;

/// Records the tool calls. Returns text for the agent: that it has met this failure before, or that it is time to save.
pub(super) fn track(
    runtime: &Runtime,
    event: &Event,
    source: &SessionSource,
    uses: &[ToolUse],
    batch: bool,
    deadline: Instant,
) -> HookResult<Option<String>> {
    let uses = with_exit_codes(runtime, event, source, uses);
    let fresh = unreported_uses(runtime, event, &uses, batch);
    let project = Project::discover(&event.cwd);
    let wanted: Vec<ToolUse> = fresh.iter().filter_map(|it| without_excluded(&runtime.privacy, it)).collect();
    let mut answer = None;
    if !wanted.is_empty() {
        let policies = runtime.policies(Some(&project.root))?;
        runtime.secrets.add_env_files(&project.root, &event.cwd);
        let mut work = policies.work(None, deadline)?;
        let session =
            Session::new(&event.session, &project, &event.cwd, event.agent.name(), event.model.clone(), runtime.now);
        let mut records = Vec::new();
        for it in &wanted {
            if let Some(seen) = observe(runtime, &mut work, &session, it, runtime.now, deadline)? {
                records.push(journal_writer::new_record(runtime, event, OBSERVATION, it.id.clone(), seen));
            }
        }
        let failed: Vec<JournalRecord> =
            records.iter().filter(|it| it.seen.failed && !it.seen.interrupted).cloned().collect();
        let appended = journal_writer::append_redacted(runtime, &mut work, records, deadline)?;
        if appended.iter().any(|it| it.should_take()) {
            super::spawn::store_journal(runtime, &event.session);
        }
        answer = known_failure_warning(runtime, &project, &failed)?;
    }
    let reminder = checkpoints::count_tool_calls(runtime, event, source.path(), fresh.len())?;
    let said: Vec<String> = answer.into_iter().chain(reminder).collect();
    Ok((!said.is_empty()).then(|| said.join("\n\n")))
}

/// Returns the tool calls with the exit codes of commands. Codex's hook does not report them, but its rollout has them
/// just before the hook runs.
fn with_exit_codes<'u>(runtime: &Runtime, event: &Event, source: &SessionSource, uses: &'u [ToolUse]) -> Cow<'u, [ToolUse]> {
    /// How many bytes at the end of the rollout are searched.
    const TAIL_BYTES: u64 = 256 << 10;
    let Some(path) = source.own_path().filter(|_| event.agent == Agent::Codex) else { return uses.into() };
    if uses.iter().all(|it| it.tool != "Bash" || it.error.is_some()) {
        return uses.into();
    }
    let mut uses = uses.to_vec();
    let ending = transcript::open(path, &runtime.transcript_roots()).ok().and_then(|it| it.read_end(TAIL_BYTES).ok());
    for it in uses.iter_mut().filter(|it| it.tool == "Bash" && it.error.is_none()) {
        let code = ending.as_ref().and_then(|ending| codex::exit_code(ending, &it.id)).filter(|code| *code != 0);
        let said: String = serde_json::from_str(&it.output).unwrap_or_default();
        it.error = code.map(|code| format!("Exit code {code}\n{said}"));
    }
    uses.into()
}

/// Returns the batched calls that were not reported individually.
fn unreported_uses<'u>(runtime: &Runtime, event: &Event, uses: &'u [ToolUse], batch: bool) -> Vec<&'u ToolUse> {
    if !batch {
        return uses.iter().collect();
    }
    let keys: Vec<&str> = uses.iter().map(|it| it.id.as_str()).collect();
    let mut known = runtime.journal().contains_keys(&event.session, &keys);
    // A checkpoint may have moved the journal into the database since.
    if known.contains(&false)
        && let Ok(store) = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT)
    {
        let stored = store.known_events(&event.session, &keys).unwrap_or_default();
        for (known, key) in known.iter_mut().zip(&keys) {
            *known |= stored.contains(*key);
        }
    }
    uses.iter().zip(known).filter(|(_, known)| !known).map(|(it, _)| it).collect()
}

/// Asks the policy what is worth recording of a call that ended at `at`.
pub(super) fn observe(
    runtime: &Runtime,
    work: &mut throughline_sandbox::chain::Work<'_>,
    session: &Session,
    tool_use: &ToolUse,
    at: u64,
    deadline: Instant,
) -> HookResult<Option<EventPayload>> {
    // Secrets are masked before the policy runs: it may transform the text so that they would not be recognized
    // afterwards.
    let mut texts = [tool_use.input.clone(), tool_use.output.clone(), tool_use.error.clone().unwrap_or_default()];
    runtime.secrets.mask(&mut texts);
    if work.has_added_redactors() {
        redact_whole(work, &mut texts, deadline)?;
    }
    let [input, output, error] = texts;
    let event = ToolEvent {
        tool: tool_use.tool.clone(),
        use_id: tool_use.id.clone(),
        at,
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
    Ok(observation.map(|seen| EventPayload {
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

/// Lets the redactors that users and teams added see the texts before the policy cuts them. Texts are JSON or plain.
fn redact_whole(work: &mut throughline_sandbox::chain::Work<'_>, texts: &mut [String], deadline: Instant) -> HookResult<()> {
    /// The longest string that they see whole, in bytes, because they have little time. A policy cuts longer ones.
    const MAX_BYTES: usize = 64 << 10;
    fn strings<'v>(value: &'v mut Value, into: &mut Vec<&'v mut String>) {
        match value {
            Value::String(text) if text.len() <= MAX_BYTES => into.push(text),
            Value::Array(items) => items.iter_mut().for_each(|item| strings(item, into)),
            Value::Object(fields) => fields.values_mut().for_each(|item| strings(item, into)),
            _ => {}
        }
    }
    let mut values: Vec<(bool, Value)> = texts
        .iter()
        .map(|text| match serde_json::from_str(text) {
            Ok(value) => (true, value),
            Err(_) => (false, Value::String(text.clone())),
        })
        .collect();
    let before = values.clone();
    let mut slots = Vec::new();
    for (_, value) in &mut values {
        strings(value, &mut slots);
    }
    work.redact_by_added(slots, deadline)?;
    for ((text, (is_json, value)), before) in texts.iter_mut().zip(values).zip(before) {
        if value == before.1 {
            continue;
        }
        *text = match value {
            Value::String(plain) if !is_json => plain,
            json => json.to_string(),
        };
    }
    Ok(())
}

/// Returns what is known about earlier failures of the same kind.
fn known_failure_warning(runtime: &Runtime, project: &Project, failed: &[JournalRecord]) -> HookResult<Option<String>> {
    if failed.is_empty() {
        return Ok(None);
    }
    let store = match runtime.store(Access::Existing, STORE_BUSY_TIMEOUT) {
        Err(StoreError::Missing(_) | StoreError::Older(_)) => return Ok(None),
        other => other?,
    };
    let mut lines = Vec::new();
    for record in failed {
        let Some(signature) = record.seen.attribute(SIGNATURE) else { continue };
        match store.failure(&project.id, signature) {
            Ok(Some(failure)) => lines.push(format_warning(&failure)),
            Ok(None) => {}
            Err(error) => runtime.log.record(Level::Warn, "earlier failures could not be looked up", error.to_string()),
        }
    }
    lines.dedup();
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}

/// Describes a known failure to the agent. Its texts were redacted before they were stored.
fn format_warning(failure: &Failure) -> String {
    let times = |number: u32, one: &str, many: &str| match number {
        1 => one.to_owned(),
        number => format!("{number} {many}"),
    };
    let often =
        format!("{} in {}", times(failure.count, "once", "times"), times(failure.sessions, "one session", "sessions"));
    // A tool wrote the error, and what it wrote must not pass for anybody else's word: it is quoted, and cannot end the quotation.
    let error = format!("“{}”", one_line(&failure.error).replace(['“', '”', '„', '‟', '"'], "'"));
    match &failure.fix {
        Some(fix) => format!(
            "Throughline: this failure has happened before ({often}). The tool said {error}. What was done before it passed: {}.",
            one_line(fix)
        ),
        None => {
            format!("Throughline: this failure has happened before ({often}) and no fix is known. The tool said {error}.")
        }
    }
}
