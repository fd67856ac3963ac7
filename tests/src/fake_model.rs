//! A stand-in for servers of language models on loopback. It speaks the protocols of OpenAI, Anthropic and Gemini, and has the faults
//! that servers have, one a request, as the test wants them.

use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::{self, write_json};

/// How many bytes a token of this model has.
pub const TOKEN_BYTES: u64 = 3;

/// What the server does with a request.
#[derive(Clone, Debug)]
pub enum Act {
    /// Summarizes the session in words of its own lines.
    Right,
    /// Waits until the test comes to the same barrier, and summarizes then.
    Held(Arc<Barrier>),
    /// Remembers as decisions the first lines that have these words, and nothing else.
    Quotes(&'static [&'static str]),
    /// Answers with this text.
    Says(String),
    /// Answers rightly, and says that it took these tokens.
    Claims(Value, Value),
    /// Refuses as its protocol has it.
    Refuses,
    /// Answers with this status and this body.
    Status(u16, String),
    /// Writes these bytes, which need be no HTTP, and closes.
    Raw(Vec<u8>),
    /// Never answers.
    Silent,
    /// Announces a body, writes half of it, and closes.
    Half,
    /// Answers with a text of this many bytes.
    Long(usize),
}

/// What the server was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The path.
    pub path: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
    /// The body as it came.
    pub text: String,
    /// The tokens that the server charges for it.
    pub tokens: u64,
}

impl Asked {
    /// Returns the value of a header.
    pub fn header(&self, wanted: &str) -> Option<&str> {
        self.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }
}

/// A running server. It ends with the test's process.
pub struct FakeModel {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl FakeModel {
    /// Listens on a free port. The first request meets the first act, and so on; the last one is repeated.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub fn start(acts: impl Into<Vec<Act>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (shared, acts) = (Arc::clone(&asked), acts.into());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, acts) = (Arc::clone(&shared), acts.clone());
                std::thread::spawn(move || {
                    // A client that goes away in the middle is what some tests are about.
                    drop(serve(stream, &acts, &asked));
                });
            }
        });
        Self { port, asked }
    }

    /// Returns what `base_url` must be for OpenAI's protocol and Gemini's.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Returns what `base_url` must be for Anthropic's protocol.
    pub fn root(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns all requests so far.
    ///
    /// # Panics
    ///
    /// Never.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no holder panics").clone()
    }
}

fn serve(stream: TcpStream, acts: &[Act], asked: &Mutex<Vec<Asked>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut out = stream;
    while let Some(request) = http::read(&mut reader)? {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let text = String::from_utf8_lossy(&request.body).into_owned();
        let tokens = request.body.len() as u64 / TOKEN_BYTES;
        let one = Asked { path: request.path, headers: request.headers, body, text, tokens };
        let number = {
            let mut all = asked.lock().expect("no holder panics");
            all.push(one.clone());
            all.len() - 1
        };
        let claims = |input: &Value, output: &Value, text: &str| answer(&one, text, input, output);
        let honest = |text: &str| claims(&one.tokens.into(), &(text.len() as u64 / TOKEN_BYTES).into(), text);
        match &acts[number.min(acts.len() - 1)] {
            Act::Right => write_json(&mut out, 200, &honest(&summary_of(&one.body)))?,
            Act::Held(barrier) => {
                barrier.wait();
                write_json(&mut out, 200, &honest(&summary_of(&one.body)))?;
            }
            Act::Quotes(words) => write_json(&mut out, 200, &honest(&quotes_of(&one.body, words)))?,
            Act::Says(text) => write_json(&mut out, 200, &honest(text))?,
            Act::Claims(input, output) => write_json(&mut out, 200, &claims(input, output, &summary_of(&one.body)))?,
            Act::Refuses => write_json(&mut out, 200, &refusal(&one))?,
            Act::Status(status, body) => {
                write!(out, "HTTP/1.1 {status} -\r\nretry-after-ms: 1\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
            }
            Act::Raw(bytes) => return out.write_all(bytes),
            Act::Silent => std::thread::sleep(Duration::from_mins(10)),
            Act::Half => {
                let body = honest(&summary_of(&one.body)).to_string();
                return write!(out, "HTTP/1.1 200 -\r\ncontent-length: {}\r\n\r\n{}", body.len(), &body[..body.len() / 2]);
            }
            Act::Long(bytes) => write_json(&mut out, 200, &honest(&"x".repeat(*bytes)))?,
        }
    }
    Ok(())
}

/// The answer in the protocol of the request.
fn answer(asked: &Asked, text: &str, input: &Value, output: &Value) -> Value {
    if asked.path.ends_with("/messages") {
        let parsed = serde_json::from_str::<Value>(text);
        let block = parsed.map_or_else(
            |_| json!({"type": "text", "text": text}),
            |input| json!({"type": "tool_use", "id": "t", "name": "answer", "input": input}),
        );
        return json!({"type": "message", "model": "served", "content": [block], "stop_reason": "tool_use",
            "usage": {"input_tokens": input, "output_tokens": output}});
    }
    if asked.path.ends_with(":generateContent") {
        return json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}],
            "modelVersion": "served", "usageMetadata": {"promptTokenCount": input, "candidatesTokenCount": output}});
    }
    json!({"model": "served", "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": input, "completion_tokens": output}})
}

fn refusal(asked: &Asked) -> Value {
    let usage = json!(asked.tokens);
    if asked.path.ends_with("/messages") {
        return json!({"model": "served", "content": [], "stop_reason": "refusal", "usage": {"input_tokens": usage, "output_tokens": 1}});
    }
    if asked.path.ends_with(":generateContent") {
        return json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": usage}});
    }
    json!({"model": "served", "choices": [{"message": {"role": "assistant", "content": null, "refusal": "I cannot help with that"},
        "finish_reason": "stop"}], "usage": {"prompt_tokens": usage, "completion_tokens": 1}})
}

/// All texts of a request that are not the system's, whatever the protocol.
pub fn said(body: &Value) -> String {
    let messages = body["messages"].as_array().or_else(|| body["contents"].as_array());
    let text = |message: &Value| {
        let parts = message["parts"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
        let content = (message["role"] != "system").then(|| message["content"].as_str()).flatten();
        content.into_iter().chain(parts).collect::<Vec<_>>().join("\n")
    };
    messages.into_iter().flatten().map(text).collect::<Vec<_>>().join("\n")
}

/// Returns the number and the text of a line of a request.
fn numbered(line: &str) -> Option<(String, String)> {
    let (id, text) = line.strip_prefix('[')?.split_once("] ")?;
    id.parse::<u32>().ok()?;
    Some((id.to_owned(), text.to_owned()))
}

/// A good answer: a decision for each of the words, in the words of the first line that has it.
fn quotes_of(body: &Value, words: &[&str]) -> String {
    let said = said(body);
    let lines: Vec<(String, String)> = said.lines().filter_map(numbered).collect();
    let quote = |word: &&str| {
        let (id, text) = lines.iter().find(|(_, text)| text.contains(word))?;
        let statement = json!({"text": text, "cites": [id]});
        Some(json!({"kind": "decision", "title": statement, "statements": [statement], "replaces": [], "keywords": [word],
            "importance": 0.9}))
    };
    json!({"memories": words.iter().filter_map(quote).collect::<Vec<_>>(), "superseded": []}).to_string()
}

/// A good answer: the first two lines as a summary, with a statement that nobody said, in the place of the rules' summary.
fn summary_of(body: &Value) -> String {
    let said = said(body);
    let lines: Vec<(String, String)> = said.lines().filter_map(numbered).take(2).collect();
    let is_summary = |line: &&str| line.starts_with('m') && line.contains(" session_summary");
    let replaced = said.lines().find(is_summary).and_then(|line| line.split(' ').next());
    let mut statements: Vec<Value> = lines.iter().map(|(id, text)| json!({"text": text, "cites": [id]})).collect();
    let Some(first) = statements.first().cloned() else { return json!({"memories": [], "superseded": []}).to_string() };
    statements.push(json!({"text": "The zeppelin landed in Zanzibar.", "cites": [lines[0].0]}));
    json!({"memories": [{"kind": "session_summary", "title": first, "statements": statements,
        "replaces": replaced.into_iter().collect::<Vec<_>>(), "keywords": ["otter"], "importance": 0.6}], "superseded": []})
    .to_string()
}
