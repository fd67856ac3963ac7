//! Transcripts of other agents, told as Claude Code tells its own: each line of theirs becomes lines of ours, or none. What a
//! line becomes follows from it and from the transcript's first line alone, so that it does not matter where a reading begins.
//!
//! Only what people and agents said and did is told. What an agent puts before its model by itself (instructions, surroundings,
//! what a hook said) is not.

pub mod codex;
pub mod copilot;
mod droid;
mod gemini;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::claude_code::{self, Head};
use super::name::Agent;
use super::terms::{self, Outcome};
use throughline_model::digest::sha256_hex;

/// How much of a transcript's beginning holds its first line, bytes. Codex's has 21 KB.
pub const HEAD_BYTES: usize = 1 << 20;

/// How far the mark of a form is looked for, bytes.
pub const MARK_BYTES: usize = 4 << 10;

/// Tells the lines of one transcript of another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translator {
    agent: Agent,
    session: Option<String>,
    cwd: Option<PathBuf>,
    /// Whether it is that of a sub-agent.
    aside: bool,
}

impl Translator {
    /// Whether the first bytes are those of another agent's transcript.
    pub fn may_be(beginning: &[u8]) -> bool {
        agent_of(first_line(beginning)).is_some()
    }

    /// By the beginning of a transcript; none where it is Claude Code's, or nothing that is known.
    pub fn of(beginning: &[u8]) -> Option<Self> {
        let first = first_line(beginning);
        let agent = agent_of(first)?;
        let line: Value = serde_json::from_slice(first).ok()?;
        let said = |value: &Value| value.as_str().filter(|text| !text.is_empty() && text.len() <= 4096).map(str::to_owned);
        let (session, cwd, aside) = match agent {
            Agent::Codex => {
                let head = &line["payload"];
                (said(&head["id"]), said(&head["cwd"]), codex::is_aside(head))
            }
            Agent::Gemini => (said(&line["sessionId"]), None, line["kind"] == "subagent"),
            Agent::Copilot => {
                let data = &line["data"];
                (said(&data["sessionId"]), said(&data["context"]["cwd"]).or_else(|| said(&data["cwd"])), false)
            }
            _ => (said(&line["id"]), said(&line["cwd"]), false),
        };
        Some(Self { agent, session: session.filter(|id| id.len() <= 128), cwd: cwd.map(PathBuf::from), aside })
    }

    /// Whose it is.
    pub fn agent(&self) -> Agent {
        self.agent
    }

    /// What its head says.
    pub fn head(&self) -> Head {
        Head { session: self.session.clone(), cwd: self.cwd.clone() }
    }

    /// The same, of a session that began in this folder.
    #[must_use]
    pub fn in_folder(mut self, cwd: Option<PathBuf>) -> Self {
        self.cwd = self.cwd.or(cwd);
        self
    }

    /// A line as Claude Code would have written it: none, one or several. `place`: where the line begins, bytes. What is no JSON
    /// stays as it is, so that it is counted.
    pub fn translate(&self, place: u64, text: &str) -> Vec<String> {
        let text = text.trim_start_matches(['\0', '\u{feff}']).trim();
        if text.is_empty() {
            return Vec::new();
        }
        let Ok(line) = serde_json::from_str::<Value>(text) else {
            return vec![text.to_owned()];
        };
        let mut told = Told { translator: self, lines: Vec::new(), place: place.to_string(), at: String::new() };
        match self.agent {
            Agent::Codex => codex::tell(&line, &mut told),
            Agent::Gemini => gemini::tell(&line, &mut told),
            Agent::Copilot => copilot::tell(&line, &mut told),
            Agent::Droid => droid::tell(&line, &mut told),
            Agent::ClaudeCode | Agent::Cursor => {}
        }
        told.lines
    }
}

fn first_line(beginning: &[u8]) -> &[u8] {
    beginning.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default()
}

/// Whose first line it is. In a text inside of the JSON the quotes would be escaped, so these are members.
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

/// The project's folder of one of Gemini CLI's chats, which do not name it: it stands beside them.
pub fn folder_of(path: &Path) -> Option<PathBuf> {
    const LONGEST: u64 = 4096;
    let chats = path.ancestors().find(|it| it.ends_with("chats"))?;
    let mut text = String::new();
    let file = File::open(chats.parent()?.join(".project_root")).ok()?;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(PathBuf::from(text.trim())).filter(|folder| folder.is_absolute())
}

/// Lines as they come about.
struct Told<'a> {
    translator: &'a Translator,
    lines: Vec<String>,
    /// What names the line within its session.
    place: String,
    at: String,
}

impl Told<'_> {
    /// When it was written.
    fn at(&mut self, timestamp: &Value) {
        timestamp.as_str().unwrap_or_default().clone_into(&mut self.at);
    }

    fn cwd(&self) -> Option<&Path> {
        self.translator.cwd.as_deref()
    }

    fn line(&mut self, role: &str, part: &str, content: Value, more: Option<(&str, Value)>) {
        let session = self.translator.session.as_deref().unwrap_or_default();
        let line = Written { session, cwd: self.cwd(), at: &self.at, aside: self.translator.aside }.line(
            &format!("{}/{part}", self.place),
            role,
            content,
            more,
        );
        self.lines.push(line);
    }

    /// What a person said.
    fn prompt(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.line("user", "said", text.into(), None);
        }
    }

    /// The agent's summary of what it forgets.
    fn summary(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.line("user", "summary", text.into(), Some(("isCompactSummary", true.into())));
        }
    }

    /// That a person stopped the agent.
    fn interrupted(&mut self) {
        self.line("user", "stop", "[Request interrupted by user]".into(), None);
    }

    /// What the agent said.
    fn says(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.line("assistant", "said", json!([{"type": "text", "text": text}]), None);
        }
    }

    /// That it used a tool.
    fn uses(&mut self, id: &str, tool: &str, input: &Value) {
        let blocks = use_blocks(id, tool, input, self.cwd());
        self.line("assistant", &format!("use/{id}"), blocks.into(), None);
    }

    /// What came of it.
    fn result(&mut self, id: &str, outcome: &Outcome) {
        let block = result_block(id, &outcome.text, outcome.failed);
        self.line("user", &format!("result/{id}"), json!([block]), None);
    }
}

/// A use of a tool as blocks, several where it is a patch of several files.
fn use_blocks(id: &str, tool: &str, input: &Value, cwd: Option<&Path>) -> Vec<Value> {
    let block = |it: terms::Use| json!({"type": "tool_use", "id": it.id, "name": it.tool, "input": it.input});
    terms::uses(id, tool, input, cwd).into_iter().map(block).collect()
}

/// A tool's result as a block.
fn result_block(id: &str, text: &str, failed: bool) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
    if failed {
        block["is_error"] = true.into();
    }
    block
}

/// What the lines of a session have in common.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// The session.
    pub session: &'a str,
    /// Its folder, where it is known.
    pub cwd: Option<&'a Path>,
    /// When, RFC 3339; empty where that is not known.
    pub at: &'a str,
    /// Whether a sub-agent said it.
    pub aside: bool,
}

impl Written<'_> {
    /// One line in Claude Code's form. `place` names it within the session: the same place is the same line.
    pub fn line(&self, place: &str, role: &str, content: Value, more: Option<(&str, Value)>) -> String {
        let mut line = Map::new();
        let mut put = |key: &str, value: Value| line.insert(key.to_owned(), value);
        put("type", role.into());
        let uuid = &sha256_hex(format!("{}\0{place}", self.session).as_bytes())[..32];
        put("uuid", format!("told-{uuid}").into());
        put("sessionId", self.session.into());
        if !self.at.is_empty() {
            put("timestamp", self.at.into());
        }
        if let Some(cwd) = self.cwd {
            put("cwd", cwd.to_string_lossy().into());
        }
        if self.aside {
            put("isSidechain", true.into());
        }
        if let Some((key, value)) = more {
            put(key, value);
        }
        let mut message = Map::new();
        message.insert("role".to_owned(), role.into());
        message.insert("content".to_owned(), content);
        put("message", message.into());
        Value::Object(line).to_string()
    }

    /// The use of a tool, and what came of it, as two lines.
    pub fn use_lines(&self, id: &str, tool: &str, input: &Value, text: &str, failed: bool) -> [String; 2] {
        let used = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        let result = json!([result_block(id, text, failed)]);
        [self.line(&format!("use/{id}"), "assistant", used, None), self.line(&format!("result/{id}"), "user", result, None)]
    }
}

/// The session that a transcript's name gives: `<uuid>.jsonl`, as Claude Code and droid have it, or
/// `rollout-<moment>-<uuid>.jsonl`, as Codex has it. Copilot's is that of its folder.
pub fn session_of_name(path: &Path) -> Option<String> {
    const UUID: usize = 36;
    if path.file_name()? == "events.jsonl" {
        return claude_code::session_of_name(&path.parent()?.with_extension("jsonl"));
    }
    let stem = path.file_stem()?.to_str()?;
    if stem.starts_with("rollout-") {
        let id = stem.get(stem.len().checked_sub(UUID)?..)?;
        return claude_code::session_of_name(&path.with_file_name(format!("{id}.{}", path.extension()?.to_str()?)));
    }
    claude_code::session_of_name(path)
}

/// Whether the name is that of a transcript, though it may not say of which session: `session-<moment>-<beginning>.jsonl`, as
/// Gemini CLI has it.
pub fn is_transcript_name(path: &Path) -> bool {
    let is_gemini = || {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("session-")
            && path.extension().is_some_and(|ending| ending == "jsonl")
            && path.parent().is_some_and(|it| it.ends_with("chats"))
    };
    session_of_name(path).is_some() || is_gemini()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// First lines as the agents write them.
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
            let translator = Translator::of(format!("\n{head}\n{{}}").as_bytes()).unwrap();
            assert_eq!((translator.agent(), translator.head().session.as_deref()), (agent, Some("s")));
        }
        assert_eq!(Translator::of(br#"{"type":"user","message":{"content":"\"type\":\"session_meta\""}}"#), None);
        assert_eq!(Translator::of(b""), None);
        assert_eq!(Translator::of(b"{\"type\":\"session_meta\",\"pay"), None);
    }

    #[test]
    fn names() {
        let of = |name: &str| session_of_name(Path::new(name));
        let id = Some("61d299fc-d26a-498a-b04f-cc8059ceb9a2".to_owned());
        assert_eq!(of("/x/rollout-2026-11-22T22-57-06-61d299fc-d26a-498a-b04f-cc8059ceb9a2.jsonl"), id);
        assert_eq!(of("/x/61d299fc-d26a-498a-b04f-cc8059ceb9a2.jsonl"), id);
        assert_eq!(of("/x/61d299fc-d26a-498a-b04f-cc8059ceb9a2/events.jsonl"), id);
        assert_eq!(of("/x/rollout-é.jsonl"), None);
        assert_eq!(of("/x/session-2026-11-22T22-57-61d299fc.jsonl"), None);
        assert!(is_transcript_name(Path::new("/x/chats/session-2026-11-22T22-57-61d299fc.jsonl")));
        assert!(!is_transcript_name(Path::new("/x/session-2026-11-22T22-57-61d299fc.jsonl")));
    }

    /// JSON that looks like the agents' lines, and JSON that does not.
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
            let _ = Translator::of(&bytes);
            for head in HEADS {
                let translator = Translator::of(head.as_bytes()).unwrap();
                for (place, text) in lines.iter().chain([&noise]).enumerate() {
                    let told = translator.translate(place as u64, text);
                    // The same whenever it is read.
                    prop_assert_eq!(&told, &translator.translate(place as u64, text));
                    let is_json = serde_json::from_str::<Value>(text.trim()).is_ok();
                    for told in told {
                        prop_assert!(!told.contains('\n'));
                        prop_assert!(!is_json || serde_json::from_str::<Value>(&told).unwrap()["uuid"].is_string());
                    }
                }
            }
        }
    }
}
