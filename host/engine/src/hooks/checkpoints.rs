//! Checkpoints: saves the state of a session before its end, after a number of tool calls or when the context fills up.
//! Mode `auto` continues reading the transcript in a background process; mode `ask` asks the agent for a summary.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::result::HookResult;
use super::spawn;
use crate::config::{By, Checkpoint, Mode};
use crate::runtime::Runtime;
use throughline_agents::protocol::{Event, Moment};
use throughline_model::files::open_regular;
use throughline_platform::log::Level;

/// How many bytes at the end of a transcript are searched for the token usage of the agent's last request.
const TAIL_BYTES: u64 = 256 << 10;

/// Counts tool calls. If a checkpoint is due, starts it or returns the request for a summary.
pub(super) fn count_tool_calls(
    runtime: &Runtime,
    event: &Event,
    transcript: Option<&Path>,
    uses: usize,
) -> HookResult<Option<String>> {
    let settings = &runtime.config.checkpoint;
    if settings.mode == Mode::Off || uses == 0 || event.sub_agent.is_some() {
        return Ok(None);
    }
    let journal = runtime.journal();
    let mut due = false;
    for _ in 0..uses {
        let number = journal.increment_tool_count(&event.session)?;
        due |= settings.by == By::Tools && number.is_multiple_of(u64::from(settings.every));
    }
    if settings.by == By::Tokens {
        due = is_full(settings, transcript) && journal.mark(&event.session)?;
    }
    if !due {
        return Ok(None);
    }
    if settings.mode == Mode::Ask {
        return Ok(Some(summary_request(settings, event, false)));
    }
    match transcript {
        Some(path) => spawn::continue_reading(runtime, path, &event.cwd, &event.session),
        None => runtime.log.record(Level::Debug, "a checkpoint was due, but the agent gave no transcript", ""),
    }
    Ok(None)
}

/// Asks for a last summary at the end of a turn, in the mode in which the agent is asked for summaries.
pub(super) fn request_last_summary(runtime: &Runtime, event: &Event) -> Option<String> {
    let settings = &runtime.config.checkpoint;
    let Moment::TurnEnded { again: false, .. } = event.moment else { return None };
    let journal = runtime.journal();
    if settings.mode != Mode::Ask || journal.tool_count(&event.session) == 0 {
        return None;
    }
    // Only once a turn, so that an agent that does not answer is not asked again.
    journal.reset_tool_count(&event.session);
    Some(summary_request(settings, event, true))
}

/// The text that asks the agent for a summary.
fn summary_request(settings: &Checkpoint, event: &Event, last: bool) -> String {
    let occasion = if last {
        "the turn is ending. Save its results before you stop"
    } else {
        "it is time to save. Do it now, then continue with the task"
    };
    format!(
        "Throughline: {occasion}.\n\
         1. Write a summary of this session so far in at most {most} characters: decisions with their reasons, the current \
         state, what was done last, known issues. No secrets.\n\
         2. Store it: throughline memory save --session {session} \"SUMMARY\"\n\
         Nothing else is needed, and the user need not be told.",
        most = settings.summary_max_length,
        session = event.session,
    )
}

/// Returns whether the context is so full that it may be compacted soon.
fn is_full(settings: &Checkpoint, transcript: Option<&Path>) -> bool {
    let limit = settings.context_window.saturating_sub(settings.reserve_tokens_floor + settings.soft_threshold_tokens);
    transcript.and_then(token_usage).is_some_and(|tokens| tokens >= u64::from(limit))
}

/// Returns the token usage of the agent's last request, from the end of the transcript.
fn token_usage(transcript: &Path) -> Option<u64> {
    let mut file = open_regular(transcript).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes).ok()?;
    bytes.split(|&byte| byte == b'\n').rev().find_map(|line| {
        memchr::memmem::find(line, b"\"usage\"")?;
        let line: Value = serde_json::from_slice(line).ok()?;
        if line["isSidechain"] == true {
            return None;
        }
        let usage = &line["message"]["usage"];
        let sum = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"]
            .iter()
            .filter_map(|name| usage[*name].as_u64())
            .sum::<u64>();
        (sum > 0).then_some(sum)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_request_of_the_main_conversation_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let line = |tokens: u64, sidechain: bool| {
            serde_json::json!({"type": "assistant", "isSidechain": sidechain, "message": {"usage": {
                "input_tokens": 3, "cache_read_input_tokens": tokens, "output_tokens": 7}}})
            .to_string()
        };
        assert_eq!(token_usage(&path), None);
        let text = [
            line(100, false),
            line(5_000, false),
            line(90_000, true),
            r#"{"type":"user","usage":1}"#.into(),
            "{torn".into(),
        ];
        std::fs::write(&path, text.join("\n")).unwrap();
        assert_eq!(token_usage(&path), Some(5_010));
    }
}
