//! A permissive parser for Claude Code transcripts. It reads one line at a time and borrows from the line.

pub(crate) mod json;
pub(crate) mod user_text;

use std::borrow::Cow;

use json::Raw;

use crate::text;

/// The kind of a line, from its `type`. All types that contain nothing to remember map to `Other`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message from the user, or the result of a tool.
    User,
    /// A message from the agent.
    Assistant,
    /// A message from the client. Some of them contain an agent's summary.
    System,
    /// Text that the client adds to the conversation.
    Attachment,
    /// Prompts that the user types while the agent is working.
    Queue,
    /// A pull request that the session belongs to.
    PullRequest,
    /// A title of the session, given by the agent or the user.
    Title,
    /// What a running call does, such as the messages of a sub-agent.
    Progress,
    /// Everything else, including types that newer clients write.
    #[default]
    Other,
}

/// One record. Its parts are borrowed from the line.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of the line as the client writes them")]
pub(crate) struct Line<'a> {
    /// The kind of the line.
    pub kind: Kind,
    uuid: Option<Raw<'a>>,
    timestamp: Option<Raw<'a>>,
    cwd: Option<Raw<'a>>,
    branch: Option<Raw<'a>>,
    /// `model` of the message.
    model: Option<Raw<'a>>,
    /// `content` of the message.
    said: Option<Raw<'a>>,
    /// `toolUseResult`: the tool's structured result.
    pub result: Option<Raw<'a>>,
    /// `attachment`: text that the client adds.
    pub attachment: Option<Raw<'a>>,
    /// `content` of a queue operation, or of what the client says.
    pub content: Option<Raw<'a>>,
    /// `operation` of a queue operation.
    pub operation: Option<Raw<'a>>,
    /// `planContent`: the plan that the prompt asks the agent to carry out.
    pub plan: Option<Raw<'a>>,
    /// `prUrl`: the address of a pull request.
    pub pull_request: Option<Raw<'a>>,
    /// `aiTitle` or `customTitle`: the title of the session.
    pub title: Option<Raw<'a>>,
    /// `data` of a line that tells the progress of a call.
    progress: Option<Raw<'a>>,
    /// Whether the client wrote the text in the user's place.
    pub is_meta: bool,
    /// Whether the prompt came through the agent's SDK.
    is_from_sdk: bool,
    /// Whether the client says that a person wrote the prompt. Desktop apps use the SDK too.
    is_from_human: bool,
    /// Whether the line comes from a sub-agent.
    pub is_sidechain: bool,
    /// Whether this is the agent's summary of a context that was compacted.
    pub is_compact_summary: bool,
    /// Whether this is an API error in place of the agent's answer.
    pub is_api_error: bool,
    /// Whether the client wrote down where the session stands, for a user who was away.
    pub is_recap: bool,
    /// Whether the agent ended its turn with the message.
    pub ends_turn: bool,
}

impl<'a> Line<'a> {
    /// Returns the identifier of the line.
    pub(crate) fn uuid(&self) -> Option<Cow<'a, str>> {
        self.uuid?.text()
    }

    /// Returns whether a program wrote the prompt. It may paste what nobody has read.
    pub(crate) fn is_from_program(&self) -> bool {
        self.is_from_sdk && !self.is_from_human
    }

    /// Returns when the line was written, in milliseconds since the epoch.
    pub(crate) fn at(&self) -> Option<u64> {
        let text = self.timestamp?.text()?;
        let at: jiff::Timestamp = text.parse().ok()?;
        u64::try_from(at.as_millisecond()).ok()
    }

    /// Returns the timestamp as written.
    pub(crate) fn timestamp(&self) -> Option<Cow<'a, str>> {
        self.timestamp?.text()
    }

    /// Returns the agent's working folder.
    pub(crate) fn cwd(&self) -> Option<Cow<'a, str>> {
        self.cwd?.text()
    }

    /// Returns the git branch.
    pub(crate) fn branch(&self) -> Option<Cow<'a, str>> {
        self.branch?.text().filter(|branch| !branch.is_empty())
    }

    /// Returns the model that wrote the message.
    pub(crate) fn model(&self) -> Option<Cow<'a, str>> {
        self.model?.text()
    }

    /// Visits the blocks of the message in order.
    pub(crate) fn blocks(&self, visit: impl FnMut(Block<'a>)) {
        if let Some(content) = self.said {
            blocks_in(content, visit);
        }
    }

    /// Returns the message of a sub-agent that the line shows as the progress of the call that started it.
    pub(crate) fn sub_agent_message(&self) -> Option<Raw<'a>> {
        let data = self.progress.filter(|data| text::contains(data.json(), "\"agent_progress\""))?;
        data.get("message")?.get("message")
    }

    /// Reads a field, given the text from its value on. Returns where the value ends.
    fn read_field(&mut self, key: &[u8], rest: &'a str) -> Option<usize> {
        if key == b"message" {
            return self.read_message(rest);
        }
        let (value, end) = json::read_value(rest)?;
        self.set(key, value);
        Some(end)
    }

    /// Reads the message. Nearly all bytes of a line are in its content, so the content is found while the end of the message is
    /// looked for.
    fn read_message(&mut self, rest: &'a str) -> Option<usize> {
        (self.model, self.said, self.ends_turn) = (None, None, false);
        if !rest.starts_with('{') {
            return Some(json::read_value(rest)?.1);
        }
        json::read_fields(rest, |key, value| match key {
            b"model" => self.model = Some(value),
            b"content" => self.said = Some(value),
            b"stop_reason" => self.ends_turn = value.json() == "\"end_turn\"",
            _ => {}
        })
    }

    fn set(&mut self, key: &[u8], value: Raw<'a>) {
        match key {
            b"type" => self.kind = kind(value),
            b"uuid" => self.uuid = Some(value),
            b"timestamp" => self.timestamp = Some(value),
            b"cwd" => self.cwd = Some(value),
            b"gitBranch" => self.branch = Some(value),
            b"toolUseResult" => self.result = Some(value),
            b"attachment" => self.attachment = Some(value),
            b"content" => self.content = Some(value),
            b"operation" => self.operation = Some(value),
            b"planContent" => self.plan = Some(value),
            b"prUrl" => self.pull_request = Some(value),
            b"aiTitle" | b"customTitle" => self.title = Some(value),
            b"data" => self.progress = Some(value),
            b"isMeta" => self.is_meta = value.is_true(),
            b"promptSource" => self.is_from_sdk = value.json() == "\"sdk\"",
            b"origin" => self.is_from_human = value.get_text("kind").is_some_and(|kind| kind == "human"),
            b"isSidechain" => self.is_sidechain |= value.is_true(),
            b"agentId" => self.is_sidechain |= value.json().starts_with('"'),
            b"isCompactSummary" => self.is_compact_summary = value.is_true(),
            b"isApiErrorMessage" => self.is_api_error = value.is_true(),
            b"subtype" => self.is_recap = value.json() == "\"away_summary\"",
            _ => {}
        }
    }
}

/// Visits the blocks of a message in order.
pub(crate) fn blocks_of<'a>(message: Raw<'a>, visit: impl FnMut(Block<'a>)) {
    if let Some(content) = message.get("content") {
        blocks_in(content, visit);
    }
}

/// Visits the blocks of the content of a message in order.
fn blocks_in<'a>(content: Raw<'a>, mut visit: impl FnMut(Block<'a>)) {
    if content.is_array() {
        content.read_items(|rest| {
            if !rest.starts_with('{') {
                return Some(json::read_value(rest)?.1);
            }
            let (block, end) = Block::read(rest)?;
            if let Some(block) = block {
                visit(block);
            }
            Some(end)
        });
    } else if content.json().starts_with('"') {
        visit(Block::Text(content));
    }
}

fn kind(value: Raw<'_>) -> Kind {
    match value.json() {
        "\"user\"" => Kind::User,
        "\"assistant\"" => Kind::Assistant,
        "\"system\"" => Kind::System,
        "\"attachment\"" => Kind::Attachment,
        "\"queue-operation\"" => Kind::Queue,
        "\"pr-link\"" => Kind::PullRequest,
        "\"ai-title\"" | "\"custom-title\"" => Kind::Title,
        "\"progress\"" => Kind::Progress,
        _ => Kind::Other,
    }
}

/// One block of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Block<'a> {
    /// Text, as a JSON string.
    Text(Raw<'a>),
    /// The agent's thinking, as a JSON string.
    Thinking(Raw<'a>),
    /// A tool call.
    ToolUse {
        /// The identifier of the call.
        id: Raw<'a>,
        /// The tool's name.
        name: Raw<'a>,
        /// The arguments of the tool.
        input: Raw<'a>,
    },
    /// The result of a tool call.
    ToolResult {
        /// The identifier of the call.
        id: Raw<'a>,
        /// A string, or an array of blocks.
        content: Option<Raw<'a>>,
        /// Whether the client reports that the call failed.
        is_error: bool,
    },
}

impl<'a> Block<'a> {
    /// Reads the object at the beginning of a text. Returns the block that it is, and where it ends.
    fn read(text: &'a str) -> Option<(Option<Self>, usize)> {
        let mut fields = Fields::default();
        let end = json::read_fields(text, |key, value| fields.set(key, value))?;
        Some((fields.block(), end))
    }
}

/// The fields of a block.
#[derive(Default)]
struct Fields<'a> {
    kind: Option<&'a str>,
    text: Option<Raw<'a>>,
    id: Option<Raw<'a>>,
    name: Option<Raw<'a>>,
    input: Option<Raw<'a>>,
    use_id: Option<Raw<'a>>,
    content: Option<Raw<'a>>,
    is_error: bool,
}

impl<'a> Fields<'a> {
    fn set(&mut self, key: &[u8], value: Raw<'a>) {
        match key {
            b"type" => self.kind = Some(value.json()),
            b"text" | b"thinking" => self.text = Some(value),
            b"id" => self.id = Some(value),
            b"name" => self.name = Some(value),
            b"input" => self.input = Some(value),
            b"tool_use_id" => self.use_id = Some(value),
            b"content" => self.content = Some(value),
            b"is_error" => self.is_error = value.is_true(),
            _ => {}
        }
    }

    fn block(self) -> Option<Block<'a>> {
        let Self { kind, text, id, name, input, use_id, content, is_error } = self;
        match kind? {
            "\"text\"" => Some(Block::Text(text?)),
            "\"thinking\"" => Some(Block::Thinking(text?)),
            "\"tool_use\"" => Some(Block::ToolUse { id: id?, name: name?, input: input? }),
            "\"tool_result\"" => Some(Block::ToolResult { id: use_id?, content, is_error }),
            _ => None,
        }
    }
}

/// Returns the text of a tool result: a string, or the text blocks of an array.
pub(crate) fn result_text(content: Option<Raw<'_>>) -> Cow<'_, str> {
    let Some(content) = content else {
        return Cow::Borrowed("");
    };
    if let Some(text) = content.text() {
        return text;
    }
    let mut all = String::new();
    content.items(|item| {
        if let Some(text) = item.get_text("text") {
            if !all.is_empty() {
                all.push('\n');
            }
            all.push_str(&text);
        }
    });
    Cow::Owned(all)
}

/// Visits every record of one line of the file, usually one. Returns how many parts could not be read.
///
/// A crash may leave NUL bytes at the start of a line, and a lost newline puts two records on one line. A line that is
/// valid JSON but not an object contains no record and does not count as malformed.
pub(crate) fn read<'a>(text: &'a str, mut visit: impl FnMut(&Line<'a>)) -> u32 {
    let text = text.trim_start_matches(|c: char| c == '\0' || c == '\u{feff}' || c.is_whitespace()).trim_end();
    if text.is_empty() {
        return 0;
    }
    if !text.starts_with('{') {
        return u32::from(!json::is_json(text));
    }
    let mut rest = text;
    while !rest.is_empty() {
        let mut line = Line::default();
        let Some(end) = json::read_object(rest, |key, value| line.read_field(key, value)) else { return 1 };
        visit(&line);
        rest = rest[end..].trim_start();
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(text: &str) -> (Vec<Kind>, u32) {
        let mut all = Vec::new();
        let malformed = read(text, |line| all.push(line.kind));
        (all, malformed)
    }

    #[test]
    fn lines_damaged_by_crashes_are_read() {
        assert_eq!(kinds("\0\0{\"type\":\"user\"}"), (vec![Kind::User], 0));
        assert_eq!(kinds("{\"type\":\"user\"}{\"type\":\"assistant\"}"), (vec![Kind::User, Kind::Assistant], 0));
        assert_eq!(kinds("{\"type\":\"user\"} {\"type\":"), (vec![Kind::User], 1));
        assert_eq!(kinds(""), (vec![], 0));
        assert_eq!(kinds("// a comment"), (vec![], 1));
        assert_eq!(kinds("[1, 2]"), (vec![], 0));
    }

    #[test]
    fn fields_of_unexpected_types_are_no_error() {
        assert_eq!(kinds(r#"{"type":7,"message":"x","uuid":null,"isMeta":"no"}"#), (vec![Kind::Other], 0));
        let mut blocks = 0;
        read(r#"{"type":"user","message":{"content":[1,"x",{"type":"text"},{"type":"text","text":"hi"}]}}"#, |line| {
            line.blocks(|_| blocks += 1);
        });
        assert_eq!(blocks, 1);
    }

    #[test]
    fn the_last_of_two_messages_counts() {
        let mut seen = Vec::new();
        let text = r#"{"message":{"model":"a","content":"one"},"type":"assistant","message":{"content":["x",{"type":"text","text":"two"}, 3]}}"#;
        read(text, |line| {
            assert_eq!(line.model(), None);
            line.blocks(|block| {
                let Block::Text(raw) = block else { return };
                seen.push(raw.text().unwrap().into_owned());
            });
        });
        assert_eq!(seen, ["two"]);
        assert_eq!(kinds(r#"{"type":"user","message":{"content":"x"}"#), (vec![], 1));
        assert_eq!(kinds(r#"{"type":"user","message":{"content":[}}"#), (vec![], 1));
    }

    #[test]
    fn a_message_may_end_the_turn() {
        for (reason, ends) in [("\"end_turn\"", true), ("\"tool_use\"", false), ("null", false)] {
            let line = format!(r#"{{"type":"assistant","message":{{"content":"x","stop_reason":{reason}}}}}"#);
            read(&line, |line| assert_eq!(line.ends_turn, ends));
        }
    }

    #[test]
    fn times_are_milliseconds() {
        read(r#"{"timestamp":"1970-01-01T00:00:01.500Z"}"#, |line| {
            assert_eq!(line.at(), Some(1500));
        });
        read(r#"{"timestamp":"soon"}"#, |line| {
            assert_eq!(line.at(), None);
        });
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            read(&text, |line| line.blocks(|_| {}));
        }
    }
}
