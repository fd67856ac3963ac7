//! Translators: convert other agents' transcripts to Claude Code's format. Each line becomes zero or more lines. The
//! result depends only on the line and on the transcript's first line, so reading can begin anywhere.
//!
//! Only what users and agents said and did is translated. Text that an agent adds to the model's context on its own
//! (instructions, environment, output of hooks) is left out.

pub mod codex;
pub mod copilot;
mod droid;
mod gemini;
mod lines;
pub mod tool_calls;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::claude_code::{self, Head};
use super::name::Agent;
pub use lines::LineWriter;
use lines::TranslatedLines;

/// How many bytes of a transcript are read to find its first line. Codex's first line has 21 KB.
pub const HEAD_BYTES: usize = 1 << 20;

/// How many bytes of the first line are searched for the marks of a format.
pub const MARK_BYTES: usize = 4 << 10;

/// Translates the lines of one transcript of another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translator {
    agent: Agent,
    session: Option<String>,
    cwd: Option<PathBuf>,
    /// Whether the transcript belongs to a sub-agent.
    is_sidechain: bool,
}

impl Translator {
    /// Returns whether a file that begins like this is another agent's transcript.
    pub fn is_foreign(beginning: &[u8]) -> bool {
        agent_of(first_line(beginning)).is_some()
    }

    /// Creates the translator for a transcript that begins like this; `None` for Claude Code's and for unknown formats.
    pub fn for_transcript(beginning: &[u8]) -> Option<Self> {
        let first = first_line(beginning);
        let agent = agent_of(first)?;
        let line: Value = serde_json::from_slice(first).ok()?;
        let said = |value: &Value| value.as_str().filter(|text| !text.is_empty() && text.len() <= 4096).map(str::to_owned);
        let (session, cwd, is_sidechain) = match agent {
            Agent::Codex => {
                let head = &line["payload"];
                (said(&head["id"]), said(&head["cwd"]), codex::is_sub_agent(head))
            }
            Agent::Gemini => (said(&line["sessionId"]), None, line["kind"] == "subagent"),
            Agent::Copilot => {
                let data = &line["data"];
                (said(&data["sessionId"]), said(&data["context"]["cwd"]).or_else(|| said(&data["cwd"])), false)
            }
            _ => (said(&line["id"]), said(&line["cwd"]), false),
        };
        Some(Self { agent, session: session.filter(|id| id.len() <= 128), cwd: cwd.map(PathBuf::from), is_sidechain })
    }

    /// Returns the agent that wrote the transcript.
    pub fn agent(&self) -> Agent {
        self.agent
    }

    /// Returns the session and the folder that the first line names.
    pub fn head(&self) -> Head {
        Head { session: self.session.clone(), cwd: self.cwd.clone() }
    }

    /// Sets the folder of the session unless the first line named one.
    #[must_use]
    pub fn with_cwd(mut self, cwd: Option<PathBuf>) -> Self {
        self.cwd = self.cwd.or(cwd);
        self
    }

    /// Translates one line to zero or more lines in Claude Code's format. `place` is the byte offset at which the line
    /// begins. A line that is not JSON is returned unchanged, so that it is counted.
    pub fn translate(&self, place: u64, text: &str) -> Vec<String> {
        let text = text.trim_start_matches(['\0', '\u{feff}']).trim();
        if text.is_empty() {
            return Vec::new();
        }
        let Ok(line) = serde_json::from_str::<Value>(text) else {
            return vec![text.to_owned()];
        };
        let session = self.session.as_deref().unwrap_or_default();
        let mut out = TranslatedLines::new(session, self.cwd.as_deref(), self.is_sidechain, place);
        match self.agent {
            Agent::Codex => codex::translate_line(&line, &mut out),
            Agent::Gemini => gemini::translate_line(&line, &mut out),
            Agent::Copilot => copilot::translate_line(&line, &mut out),
            Agent::Droid => droid::translate_line(&line, &mut out),
            Agent::ClaudeCode | Agent::Cursor | Agent::Opencode | Agent::Qwen | Agent::Pi | Agent::Goose | Agent::Amp => {}
        }
        out.into_lines()
    }
}

fn first_line(beginning: &[u8]) -> &[u8] {
    beginning.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default()
}

/// Returns the agent that wrote a first line. Quotes in a string inside the JSON would be escaped, so the marks can
/// only be fields.
fn agent_of(first: &[u8]) -> Option<Agent> {
    let has = |mark: &str| memchr::memmem::find(&first[..first.len().min(MARK_BYTES)], mark.as_bytes()).is_some();
    if has("\"type\":\"session_meta\"") {
        Some(Agent::Codex)
    } else if has("\"projectHash\":") && has("\"sessionId\":") {
        Some(Agent::Gemini)
    } else if has("\"type\":\"session.start\"") {
        Some(Agent::Copilot)
    } else if has("\"type\":\"session_start\"") {
        Some(Agent::Droid)
    } else {
        None
    }
}

/// Returns the project folder of a Gemini CLI chat. The chat does not name it; a file next to the chats does.
pub fn project_folder_of_chat(path: &Path) -> Option<PathBuf> {
    const MAX_BYTES: u64 = 4096;
    let chats = path.ancestors().find(|it| it.ends_with("chats"))?;
    let mut text = String::new();
    let file = File::open(chats.parent()?.join(".project_root")).ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(PathBuf::from(text.trim())).filter(|folder| folder.is_absolute())
}

/// Returns the session that a transcript's path contains: `<uuid>.jsonl` for Claude Code and droid,
/// `rollout-<time>-<uuid>.jsonl` for Codex, and the name of the directory for Copilot.
pub fn session_id_from_path(path: &Path) -> Option<String> {
    const UUID: usize = 36;
    if path.file_name()? == "events.jsonl" {
        return claude_code::session_id_from_path(&path.parent()?.with_extension("jsonl"));
    }
    let stem = path.file_stem()?.to_str()?;
    if stem.starts_with("rollout-") {
        let id = stem.get(stem.len().checked_sub(UUID)?..)?;
        return claude_code::session_id_from_path(&path.with_file_name(format!("{id}.{}", path.extension()?.to_str()?)));
    }
    claude_code::session_id_from_path(path)
}

/// Returns whether a file name is a transcript's, even if it does not contain the session: Gemini CLI uses
/// `session-<time>-<first characters of the identifier>.jsonl`.
pub fn is_transcript_name(path: &Path) -> bool {
    let is_gemini = || {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("session-")
            && path.extension().is_some_and(|ending| ending == "jsonl")
            && path.parent().is_some_and(|it| it.ends_with("chats"))
    };
    session_id_from_path(path).is_some() || is_gemini()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// First lines in the agents' formats.
    pub(super) const HEADS: [&str; 4] = [
        r#"{"timestamp":"2026-11-22T22:57:06.501Z","ordinal":0,"type":"session_meta","payload":{"session_id":"s","id":"s","cwd":"/p","thread_source":"user"}}"#,
        r#"{"sessionId":"s","projectHash":"h","startTime":"2026-11-22T22:57:06.501Z","lastUpdated":"2026-11-22T22:57:06.501Z"}"#,
        r#"{"type":"session.start","data":{"sessionId":"s","version":1,"context":{"cwd":"/p"}},"id":"1","timestamp":"2026-11-22T22:57:06.501Z","parentId":null}"#,
        r#"{"type":"session_start","id":"s","title":"x","cwd":"/p","version":2}"#,
    ];

    #[test]
    fn forms_are_known_by_their_heads() {
        let agents = [Agent::Codex, Agent::Gemini, Agent::Copilot, Agent::Droid];
        for (head, agent) in HEADS.into_iter().zip(agents) {
            let translator = Translator::for_transcript(format!("\n{head}\n{{}}").as_bytes()).unwrap();
            assert_eq!((translator.agent(), translator.head().session.as_deref()), (agent, Some("s")));
        }
        assert_eq!(
            Translator::for_transcript(br#"{"type":"user","message":{"content":"\"type\":\"session_meta\""}}"#),
            None
        );
        assert_eq!(Translator::for_transcript(b""), None);
        assert_eq!(Translator::for_transcript(b"{\"type\":\"session_meta\",\"pay"), None);
    }

    #[test]
    fn names() {
        let of = |name: &str| session_id_from_path(Path::new(name));
        let id = Some("61d299fc-d26a-498a-b04f-cc8059ceb9a2".to_owned());
        assert_eq!(of("/x/rollout-2026-11-22T22-57-06-61d299fc-d26a-498a-b04f-cc8059ceb9a2.jsonl"), id);
        assert_eq!(of("/x/61d299fc-d26a-498a-b04f-cc8059ceb9a2.jsonl"), id);
        assert_eq!(of("/x/61d299fc-d26a-498a-b04f-cc8059ceb9a2/events.jsonl"), id);
        assert_eq!(of("/x/rollout-é.jsonl"), None);
        assert_eq!(of("/x/session-2026-11-22T22-57-61d299fc.jsonl"), None);
        assert!(is_transcript_name(Path::new("/x/chats/session-2026-11-22T22-57-61d299fc.jsonl")));
        assert!(!is_transcript_name(Path::new("/x/session-2026-11-22T22-57-61d299fc.jsonl")));
    }

    /// Generates JSON that resembles the agents' lines, and JSON that does not.
    fn line() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            prop::sample::select(vec![
                "response_item",
                "event_msg",
                "message",
                "user",
                "assistant",
                "gemini",
                "function_call",
                "compacted",
                "message",
                "function_call_output",
                "tool.execution_complete",
                "user.message",
                "assistant.message",
                "*** Begin Patch",
                "x",
            ])
            .prop_map(Value::from),
        ];
        let keys = prop::sample::select(vec![
            "type",
            "payload",
            "content",
            "role",
            "text",
            "output",
            "arguments",
            "name",
            "call_id",
            "toolCalls",
            "id",
            "args",
            "result",
            "data",
            "message",
            "timestamp",
            "item",
            "changes",
            "toolRequests",
            "toolCallId",
            "action",
            "command",
            "$set",
            "messages",
        ]);
        leaf.prop_recursive(4, 40, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(keys.clone().prop_map(str::to_owned), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
        .prop_map(|value| value.to_string())
    }

    proptest! {
        #[test]
        fn no_line_makes_them_fail(lines in prop::collection::vec(line(), 1..6), noise in "\\PC{0,200}",
                                   bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Translator::for_transcript(&bytes);
            for head in HEADS {
                let translator = Translator::for_transcript(head.as_bytes()).unwrap();
                for (place, text) in lines.iter().chain([&noise]).enumerate() {
                    let out = translator.translate(place as u64, text);
                    // The result does not depend on when the line is read.
                    prop_assert_eq!(&out, &translator.translate(place as u64, text));
                    let is_json = serde_json::from_str::<Value>(text.trim()).is_ok();
                    for out in out {
                        prop_assert!(!out.contains('\n'));
                        prop_assert!(!is_json || serde_json::from_str::<Value>(&out).unwrap()["uuid"].is_string());
                    }
                }
            }
        }
    }
}
