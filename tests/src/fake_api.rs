//! A stand-in for the Messages API on loopback, so that the real client runs offline.
//!
//! It answers by what the last prompt asks for: each scenario word in it is a script of tool calls, played one round a
//! request, and closed by a text. Every request is kept, so that a test sees what the model would have been shown.

use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::http::{self, Request, write_json};

/// The words that the model "writes" when it is asked to summarize the conversation.
pub const COMPACTION_SUMMARY: &str = "The human asked for a greeting file; it was written and then put in capitals.";

/// The message of the commit that the model makes in the scenario `SCN_COMMIT`.
pub const COMMIT_MESSAGE: &str =
    "Cache tokens\n\nDecision: keep tokens in Redis, not in process memory\nRejected: one cache per worker";

/// The text that the model stores unasked in the scenario `SCN_RECALL`.
pub const SAVED_BY_THE_MODEL: &str = "The otter of Busan reads its greetings in the morning.";

/// What the agent adds when a hook did not let it stop.
pub const ADDITION: &str = "The greeting file for the Busan office is written. I decided to use plain text instead of JSON because the office \
                            reads it by eye.\n\n## Still open\n\n- Translate the greeting into Korean";

/// Counts the answers of all servers of this process.
static ANSWERS: AtomicUsize = AtomicUsize::new(1);

/// A running server. It ends with the test's process.
pub struct FakeApi {
    port: u16,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl FakeApi {
    /// Listens on a free port. Tools of the scenarios work in `project`.
    pub fn start(project: &Path) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&requests);
        let project = project.to_owned();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let requests = Arc::clone(&shared);
                let project = project.clone();
                std::thread::spawn(move || {
                    // A client that goes away in the middle is no concern of the others.
                    drop(serve(stream, &project, &requests));
                });
            }
        });
        Self { port, requests }
    }

    /// What `ANTHROPIC_BASE_URL` must be.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The bodies of all requests for messages since the last call.
    pub fn take(&self) -> Vec<Value> {
        std::mem::take(&mut *self.requests.lock().expect("no holder panics"))
    }
}

/// The system prompt of a request.
pub fn system(request: &Value) -> String {
    text_blocks(&request["system"]).join("\n")
}

/// Returns whether the client asks whether a turn may end, as its prompt hooks do.
pub fn is_judgement(request: &Value) -> bool {
    system(request).contains("evaluating a stop-condition hook")
}

/// What the client's small model says: whoever was asked before may stop, and so may who only says hello.
fn judge(asked: &str) -> Answer {
    let may_stop = asked.contains("\"stop_hook_active\":true") || asked.contains("\"last_assistant_message\":\"Hello");
    Answer::text(if may_stop {
        "{\"ok\": true, \"reason\": \"Nothing is missing.\"}"
    } else {
        "{\"ok\": false, \"reason\": \"Add what was decided and what is open.\"}"
    })
}

/// All texts that a request shows to the model, system prompts excluded, joined.
pub fn shown(request: &Value) -> String {
    messages(request).map(|message| text_blocks(&message["content"]).join("\n")).collect::<Vec<_>>().join("\n")
}

fn messages(request: &Value) -> impl DoubleEndedIterator<Item = &Value> {
    request["messages"].as_array().into_iter().flatten()
}

fn text_blocks(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => Vec::new(),
    }
}

fn has_result(message: &Value) -> bool {
    message["content"].as_array().is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "tool_result"))
}

/// One answer of the model: a text, then tools to use.
struct Answer {
    text: &'static str,
    tools: Vec<(&'static str, Value)>,
}

impl Answer {
    fn text(text: &'static str) -> Self {
        Self { text, tools: Vec::new() }
    }

    fn tool(text: &'static str, name: &'static str, input: Value) -> Self {
        Self { text, tools: vec![(name, input)] }
    }
}

/// What the model answers to this request.
fn answer(request: &Value, project: &Path) -> Answer {
    let from_user = || messages(request).rev().filter(|message| message["role"] == "user");
    // The client may put what it wants summarized behind the last tool's result, in the same message.
    let newest = from_user().next().map(|message| text_blocks(&message["content"])).unwrap_or_default();
    if is_judgement(request) {
        return judge(&newest.join("\n"));
    }
    if newest.iter().any(|text| text.contains("Respond with TEXT ONLY")) {
        return Answer::text(
            "<analysis>Two turns.</analysis><summary>The human asked for a greeting file; it was written and then put in \
             capitals.</summary>",
        );
    }
    let rounds = from_user().take_while(|message| has_result(message)).count();
    let prompt = from_user()
        .nth(rounds)
        .and_then(|message| {
            let texts = text_blocks(&message["content"]);
            let is_persons = |text: &&&str| !text.trim_start().starts_with("<system-reminder>");
            // A memory may follow the prompt as a separate text.
            let with_word = texts.iter().rfind(|text| is_persons(text) && text.contains("SCN_"));
            with_word.or_else(|| texts.iter().rfind(is_persons)).copied()
        })
        .unwrap_or_default();
    let mut script = script(prompt, request, project);
    if rounds < script.len() { script.swap_remove(rounds) } else { Answer::text(closing(prompt)) }
}

/// The rounds of every scenario that the prompt names, in this order.
fn script(prompt: &str, request: &Value, project: &Path) -> Vec<Answer> {
    let file = |name: &str| project.join(name).to_string_lossy().into_owned();
    let offered =
        |name: &str| request["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == name));
    let mut rounds = opencode_rounds(prompt, file);
    rounds.extend(pi_rounds(prompt));
    if prompt.contains("SCN_WRITE") {
        rounds.push(Answer::tool(
            "I write the file.",
            "Write",
            json!({"file_path": file("greeting.txt"), "content": "hello from the model\n"}),
        ));
    }
    if prompt.contains("SCN_EDIT") {
        rounds.push(Answer::tool("I read it first.", "Read", json!({"file_path": file("greeting.txt")})));
        rounds.push(Answer::tool(
            "Now the edit.",
            "Edit",
            json!({"file_path": file("greeting.txt"), "old_string": "hello from the model",
                "new_string": "HELLO FROM THE MODEL"}),
        ));
    }
    if prompt.contains("SCN_FAIL") {
        rounds.push(Answer::tool(
            "I run the check.",
            "Bash",
            json!({"command": "ls missing-folder-of-the-check", "description": "Run the check"}),
        ));
    }
    if prompt.contains("SCN_TODO") {
        if offered("TaskCreate") {
            rounds.push(Answer::tool(
                "I note what is left.",
                "TaskCreate",
                json!({"subject": "Translate the greeting", "description": "Into Korean", "activeForm": "Translating"}),
            ));
        } else {
            rounds.push(Answer::tool(
                "I note what is left.",
                "TodoWrite",
                json!({"todos": [{"content": "Translate the greeting", "status": "pending", "activeForm": "Translating"}]}),
            ));
        }
    }
    if prompt.contains("SCN_BATCH") {
        rounds.push(Answer {
            text: "Two at once.",
            tools: vec![
                ("Bash", json!({"command": "echo hi; echo err >&2", "description": "Say hi"})),
                ("Read", json!({"file_path": file("greeting.txt")})),
            ],
        });
    }
    let agent = if offered("Agent") { "Agent" } else { "Task" };
    let job = |kind: &str| json!({"description": "sub job", "prompt": "SUBJOB do it", "subagent_type": kind});
    if prompt.contains("SCN_AGENT") {
        rounds.push(Answer::tool("I send somebody.", agent, job("general-purpose")));
    }
    if prompt.contains("SCN_FG") {
        let mut job = job("Explore");
        job["run_in_background"] = json!(false);
        rounds.push(Answer::tool("I send somebody and wait.", agent, job));
    }
    if prompt.contains("SUBJOB") {
        rounds.push(Answer::tool("I do it.", "Bash", json!({"command": "echo from-sub", "description": "Say so"})));
    }
    if prompt.contains("SCN_PNG") {
        rounds.push(Answer::tool("I look at it.", "Read", json!({"file_path": file("pic.png")})));
    }
    if prompt.contains("SCN_BIG") {
        rounds.push(Answer::tool("I count.", "Bash", json!({"command": "seq 1 20000", "description": "Count"})));
    }
    if prompt.contains("SCN_ASK") {
        let options = json!([{"label": "A", "description": "a"}, {"label": "B", "description": "b"}]);
        let question = json!({"question": "A or B?", "header": "Pick", "multiSelect": false, "options": options});
        rounds.push(Answer::tool("I ask.", "AskUserQuestion", json!({"questions": [question]})));
    }
    if prompt.contains("SCN_MCP") {
        rounds.push(Answer::tool("I call.", "mcp__memtest__echo", json!({"q": "an otter"})));
    }
    if prompt.contains("SCN_RECALL") {
        rounds.push(Answer::tool("I look it up.", "mcp__throughline__memory_search", json!({"query": "greetings otter"})));
        let wish = json!({"type": "learning", "content": SAVED_BY_THE_MODEL});
        rounds.push(Answer::tool("I keep it.", "mcp__throughline__memory_save", wish));
    }
    if prompt.contains("SCN_COMMIT") {
        let command = format!("git commit --allow-empty --message \"$(cat <<'EOF'\n{COMMIT_MESSAGE}\nEOF\n)\"");
        rounds.push(Answer::tool("I commit.", "Bash", json!({"command": command, "description": "Commit"})));
    }
    rounds
}

/// The rounds with opencode's own tools.
fn opencode_rounds(prompt: &str, file: impl Fn(&str) -> String) -> Vec<Answer> {
    let mut rounds = Vec::new();
    if prompt.contains("SCN_OPENCODE") {
        rounds.push(Answer::tool(
            "I write the file.",
            "write",
            json!({"filePath": file("greeting.txt"), "content": "hello from the model\n"}),
        ));
        rounds.push(Answer {
            text: "I run the check, and read what it needs.",
            tools: vec![
                ("bash", json!({"command": "ls missing-folder-of-the-check", "description": "Run the check"})),
                ("read", json!({"filePath": file("nowhere.txt")})),
            ],
        });
        rounds.push(Answer::tool(
            "I send somebody.",
            "task",
            json!({"description": "sub job", "prompt": "SUBTASK do it", "subagent_type": "general"}),
        ));
    }
    if prompt.contains("SUBTASK") {
        rounds.push(Answer::tool("I do it.", "bash", json!({"command": "echo from-sub", "description": "Say so"})));
    }
    rounds
}

/// The rounds with pi's own tools.
fn pi_rounds(prompt: &str) -> Vec<Answer> {
    if !prompt.contains("SCN_PI") {
        return Vec::new();
    }
    let edit = json!({"path": "greeting.txt", "edits": [{"oldText": "hello from the model", "newText": "HELLO"}]});
    vec![
        Answer::tool("I write the file.", "write", json!({"path": "greeting.txt", "content": "hello from the model\n"})),
        Answer::tool("Now the edit.", "edit", edit),
        Answer {
            text: "I run the check, and read what it needs.",
            tools: vec![
                ("bash", json!({"command": "ls missing-folder-of-the-check"})),
                ("read", json!({"path": "nowhere.txt"})),
            ],
        },
    ]
}

fn closing(prompt: &str) -> &'static str {
    if prompt.starts_with("Stop hook feedback:") {
        ADDITION
    } else if prompt.contains("SUBJOB") || prompt.contains("SUBTASK") {
        "Sub result: done."
    } else if ["SCN_FAIL", "SCN_OPENCODE", "SCN_PI"].iter().any(|it| prompt.contains(it)) {
        "The check cannot run yet: `missing-folder-of-the-check` does not exist."
    } else if prompt.contains("SCN_EDIT") {
        "The greeting in `greeting.txt` is in capitals now."
    } else if prompt.contains("SCN_COMMIT") {
        "It is committed."
    } else if prompt.contains("SCN_WRITE") {
        "I wrote `greeting.txt` with the greeting."
    } else {
        "Hello from the stand-in."
    }
}

/// Answers the requests of one connection until it closes.
fn serve(stream: TcpStream, project: &Path, requests: &Mutex<Vec<Value>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut out = stream;
    while let Some(Request { method, path, body, .. }) = http::read(&mut reader)? {
        let route = path.split('?').next().unwrap_or_default();
        match (method.as_str(), route) {
            ("POST", "/v1/messages") => {
                let request: Value = serde_json::from_slice(&body).unwrap_or_default();
                // Never the same twice in one server's life: the client drops a tool call whose identifier it knows.
                let number = ANSWERS.fetch_add(1, Ordering::Relaxed);
                requests.lock().expect("no holder panics").push(request.clone());
                let answer = answer(&request, project);
                if request["stream"] == true {
                    return stream_answer(&mut out, &request, &answer, number);
                }
                write_json(&mut out, 200, &whole_answer(&request, &answer, number))?;
            }
            ("POST", "/v1/messages/count_tokens") => {
                write_json(&mut out, 200, &json!({"input_tokens": 100}))?;
            }
            ("HEAD", _) => write!(out, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?,
            _ => write_json(
                &mut out,
                404,
                &json!({"type": "error", "error": {"type": "not_found_error", "message": "no such path"}}),
            )?,
        }
    }
    Ok(())
}

fn usage(output: u32) -> Value {
    json!({"input_tokens": 1000, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": output})
}

/// The blocks of an answer as the API gives them.
fn blocks(answer: &Answer, number: usize) -> Vec<Value> {
    let mut blocks = vec![json!({"type": "text", "text": answer.text})];
    for (index, (name, input)) in answer.tools.iter().enumerate() {
        blocks.push(json!({"type": "tool_use", "id": format!("toolu_{number:06}_{index}"), "name": name, "input": input}));
    }
    blocks
}

fn stop_reason(answer: &Answer) -> &'static str {
    if answer.tools.is_empty() { "end_turn" } else { "tool_use" }
}

fn whole_answer(request: &Value, answer: &Answer, number: usize) -> Value {
    json!({"id": format!("msg_{number:06}"), "type": "message", "role": "assistant", "model": request["model"],
        "content": blocks(answer, number), "stop_reason": stop_reason(answer), "stop_sequence": null, "usage": usage(20)})
}

/// Writes the answer as server-sent events, and closes the connection as its end.
fn stream_answer(out: &mut TcpStream, request: &Value, answer: &Answer, number: usize) -> std::io::Result<()> {
    write!(
        out,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\nconnection: close\r\n\r\n"
    )?;
    let mut start = whole_answer(request, answer, number);
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"] = usage(1);
    event(out, &json!({"type": "message_start", "message": start}))?;
    for (index, block) in blocks(answer, number).into_iter().enumerate() {
        let (opened, delta) = if block["type"] == "text" {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": block["text"]}))
        } else {
            let input = block["input"].to_string();
            let mut opened = block;
            opened["input"] = json!({});
            (opened, json!({"type": "input_json_delta", "partial_json": input}))
        };
        event(out, &json!({"type": "content_block_start", "index": index, "content_block": opened}))?;
        event(out, &json!({"type": "content_block_delta", "index": index, "delta": delta}))?;
        event(out, &json!({"type": "content_block_stop", "index": index}))?;
    }
    event(
        out,
        &json!({"type": "message_delta", "delta": {"stop_reason": stop_reason(answer), "stop_sequence": null},
            "usage": {"output_tokens": 20}}),
    )?;
    event(out, &json!({"type": "message_stop"}))
}

fn event(out: &mut TcpStream, data: &Value) -> std::io::Result<()> {
    write!(out, "event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())?;
    out.flush()
}
