//! Claude Code: the JSON that its hooks receive and return, and the head of its transcripts. Checked against the
//! payloads of client 2.1.330.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::event::{Event, Moment, ToolUse};
use super::fields::{Fields, MAX_ID_BYTES, MAX_TOOL_USES, PayloadError};
use super::name::Agent;
use throughline_model::project::Project;

/// How many bytes of a transcript's head are searched for its session and folder. Sessions begin with up to 145 KB of
/// prompt snapshots.
const HEAD_BYTES: usize = 4 << 20;

/// The names that a hook can be called by, each with the event that it stands for if the payload does not name one.
pub const HOOK_NAMES: &[(&str, &str)] = &[
    ("memory-load", "SessionStart"),
    ("memory-flush", "PreCompact"),
    ("memory-save", "SessionEnd"),
    ("memory-track", "PostToolUse"),
    ("memory-failure", "PostToolUseFailure"),
    ("memory-search", "UserPromptSubmit"),
    ("memory-complete", "Stop"),
    ("memory-subagent", "SubagentStop"),
];

/// Parses a payload. If the payload does not name its event, `name`, the hook on the command line, determines the
/// event. The payload comes first because the response must fit the actual event, however the hook was registered.
pub fn parse(input: &[u8], name: Option<&str>) -> Result<Event, PayloadError> {
    let fields = Fields::of_payload(input)?;
    let session = fields.session("session_id")?;
    let text = |key: &str| fields.text(key).unwrap_or_default();
    let by_name = || HOOK_NAMES.iter().find(|(hook, _)| Some(*hook) == name).map(|(_, event)| (*event).to_owned());
    let event = fields.text("hook_event_name").or_else(by_name).unwrap_or_default();
    let moment = match event.as_str() {
        "SessionStart" => Moment::Start { source: fields.text("source").unwrap_or_else(|| "startup".into()) },
        "PreCompact" => Moment::Compacting { trigger: text("trigger") },
        "PostCompact" => Moment::Compacted { summary: text("compact_summary") },
        "Stop" => Moment::TurnEnded {
            last_message: fields.text("last_assistant_message"),
            again: fields.get("stop_hook_active").unwrap_or_default(),
        },
        "StopFailure" => Moment::TurnFailed { error: text("error"), message: fields.text("last_assistant_message") },
        "SessionEnd" => Moment::End { reason: text("reason") },
        "UserPromptSubmit" => Moment::PromptSubmitted { prompt: text("prompt") },
        "PostToolUse" | "PostToolUseFailure" => {
            let failed = event == "PostToolUseFailure";
            let mut uses: Vec<ToolUse> = fields.tool_use().into_iter().collect();
            for tool_use in &mut uses {
                // A response that contains a field called `error` is not a failure.
                tool_use.error = failed.then(|| tool_use.error.take().unwrap_or_default());
            }
            Moment::ToolsUsed { uses, batch: false }
        }
        "PostToolBatch" => {
            let calls: Vec<&RawValue> =
                fields.raw("tool_calls").and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default();
            let parse = |raw: &&RawValue| Fields::parse(raw.get().as_bytes()).ok()?.tool_use();
            let uses = calls.iter().take(MAX_TOOL_USES).filter_map(parse).map(as_shown_to_model).collect();
            Moment::ToolsUsed { uses, batch: true }
        }
        "SubagentStop" => Moment::SubAgentStopped {
            id: text("agent_id"),
            kind: text("agent_type"),
            transcript: fields.text("agent_transcript_path").map(PathBuf::from),
            last_message: fields.text("last_assistant_message"),
        },
        _ => Moment::Other { name: event },
    };
    Ok(Event {
        agent: Agent::ClaudeCode,
        session,
        transcript: fields.text("transcript_path").map(PathBuf::from),
        cwd: fields.folder("cwd"),
        moved_to: None,
        model: fields.text("model"),
        sub_agent: fields.text("agent_id").filter(|id| id.len() <= MAX_ID_BYTES),
        prompt: fields.text("prompt_id").filter(|id| id.len() <= MAX_ID_BYTES),
        moment,
    })
}

/// Fills in whether a call failed: a batch event contains only the text that the model received, not whether the call
/// failed.
fn as_shown_to_model(tool_use: ToolUse) -> ToolUse {
    const FAILURES: [&str; 3] = ["<tool_use_error>", "Permission to use ", "Error: "];
    let said: String = serde_json::from_str(&tool_use.output).unwrap_or_default();
    let interrupted = is_refusal(&said);
    let failed = FAILURES.iter().any(|beginning| said.starts_with(beginning));
    let error = (interrupted || failed).then_some(said);
    ToolUse { error, interrupted, ..tool_use }
}

/// Returns whether a result says that the user refused or interrupted the call.
pub(super) fn is_refusal(said: &str) -> bool {
    ["The user doesn't want to ", "[Request interrupted by user"].iter().any(|beginning| said.starts_with(beginning))
}

/// Returns the response that shows `context` to the model.
pub fn answer(moment: &Moment, context: &str) -> Option<String> {
    Some(json!({"hookSpecificOutput": {"hookEventName": event_name(moment)?, "additionalContext": context}}).to_string())
}

/// Returns the event's name in Claude Code, or `None` if the event takes no response.
pub fn event_name(moment: &Moment) -> Option<&'static str> {
    Some(match moment {
        Moment::Start { .. } => "SessionStart",
        Moment::PromptSubmitted { .. } => "UserPromptSubmit",
        Moment::ToolsUsed { batch: true, .. } => "PostToolBatch",
        Moment::ToolsUsed { uses, .. } if uses.iter().any(|it| it.error.is_some()) => "PostToolUseFailure",
        Moment::ToolsUsed { .. } => "PostToolUse",
        Moment::TurnEnded { .. } => "Stop",
        _ => return None,
    })
}

/// What the head of a transcript says about its session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// The session that the lines belong to.
    pub session: Option<String>,
    /// The folder in which the session began.
    pub cwd: Option<PathBuf>,
}

/// Looks for the session and the folder in the first lines.
pub fn head<'a>(lines: impl Iterator<Item = &'a str>) -> Head {
    #[derive(Deserialize)]
    struct Fields<'a> {
        #[serde(rename = "sessionId", borrow, default)]
        session: Option<&'a RawValue>,
        #[serde(borrow, default)]
        cwd: Option<&'a RawValue>,
    }
    let string = |raw: Option<&RawValue>| {
        raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok())
            .filter(|text| !text.is_empty() && text.len() <= 4096)
    };
    let mut head = Head::default();
    let mut bytes = 0;
    for line in lines {
        bytes += line.len();
        if let Ok(fields) = serde_json::from_str::<Fields<'_>>(line.trim_start_matches('\0')) {
            head.session = head.session.or_else(|| string(fields.session).filter(|id| id.len() <= 128));
            let folder = || string(fields.cwd).filter(|folder| Project::is_absolute_path(folder));
            head.cwd = head.cwd.or_else(|| folder().map(PathBuf::from));
        }
        if (head.session.is_some() && head.cwd.is_some()) || bytes > HEAD_BYTES {
            break;
        }
    }
    head
}

/// Returns the session that a transcript's file name contains: `<uuid>.jsonl`.
pub fn session_id_from_path(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let shape = [8, 4, 4, 4, 12];
    let parts: Vec<&str> = stem.split('-').collect();
    let is_uuid = parts.len() == shape.len()
        && parts.iter().zip(shape).all(|(part, length)| part.len() == length && part.bytes().all(|b| b.is_ascii_hexdigit()));
    (is_uuid && path.extension().is_some_and(|e| e == "jsonl")).then(|| stem.to_owned())
}

/// Returns the name of the directory that holds the transcripts of sessions that began in `folder`.
pub fn slug(folder: &Path) -> String {
    folder.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn moments() {
        let parse = |text: &str, name| parse(text.as_bytes(), name).unwrap().moment;
        assert_eq!(
            parse(r#"{"session_id":"s","hook_event_name":"SessionStart","source":"compact","new":[1]}"#, None),
            Moment::Start { source: "compact".into() }
        );
        assert_eq!(parse(r#"{"session_id":"s"}"#, Some("memory-load")), Moment::Start { source: "startup".into() });
        assert_eq!(
            parse(r#"{"session_id":"s","hook_event_name":"SessionEnd","reason":"other"}"#, Some("memory-load")),
            Moment::End { reason: "other".into() }
        );
        assert_eq!(
            parse(
                r#"{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_use_id":"t","error":"no"}"#,
                None
            ),
            Moment::ToolsUsed {
                uses: vec![ToolUse { id: "t".into(), tool: "Bash".into(), error: Some("no".into()), ..ToolUse::default() }],
                batch: false
            }
        );
        assert_eq!(
            parse(r#"{"session_id":"s","hook_event_name":"PostCompact","compact_summary":"x"}"#, Some("memory-flush")),
            Moment::Compacted { summary: "x".into() }
        );
        assert_eq!(
            parse(r#"{"session_id":"s","hook_event_name":"Tomorrow"}"#, None),
            Moment::Other { name: "Tomorrow".into() }
        );
    }

    #[test]
    fn attack_a_payload_without_an_absolute_folder() {
        for cwd in ["", r#","cwd":"""#, r#","cwd":"src""#, r#","cwd":"./""#, r#","cwd":7"#] {
            let payload = format!("{{\"session_id\":\"s\",\"hook_event_name\":\"Stop\"{cwd}}}");
            assert_eq!(parse(payload.as_bytes(), None).unwrap().cwd, PathBuf::new(), "{cwd}");
        }
    }

    #[test]
    fn what_is_no_payload() {
        assert!(matches!(parse(b" \n", None), Err(PayloadError::Empty)));
        assert!(matches!(parse(b"[1]", None), Err(PayloadError::NotJson(_))));
        assert!(matches!(parse(br#"{"session_id":7}"#, None), Err(PayloadError::NoSession)));
    }

    #[test]
    fn heads() {
        let lines =
            ["not json", "\0{\"type\":\"queue-operation\",\"sessionId\":\"s\"}", r#"{"cwd":"/p","sessionId":"other"}"#];
        assert_eq!(head(lines.into_iter()), Head { session: Some("s".into()), cwd: Some("/p".into()) });
        for nowhere in ["7", "\"\"", "\"src\"", "\"./\""] {
            assert_eq!(head([format!("{{\"cwd\":{nowhere}}}").as_str()].into_iter()), Head::default());
        }
    }

    #[test]
    fn names() {
        let of = |name: &str| session_id_from_path(Path::new(name));
        assert_eq!(
            of("/x/61d299fc-d26a-498a-b04f-cc8059ceb9a2.jsonl").as_deref(),
            Some("61d299fc-d26a-498a-b04f-cc8059ceb9a2")
        );
        assert_eq!(of("/x/agent-abc.jsonl"), None);
        assert_eq!(of("/x/07_964042.jsonl"), None);
    }

    proptest! {
        #[test]
        fn no_input_makes_it_fail(bytes in prop::collection::vec(any::<u8>(), 0..300), text in "\\PC{0,200}") {
            let _ = parse(&bytes, None);
            let _ = parse(text.as_bytes(), Some("memory-load"));
            head(text.lines());
        }
    }
}
