//! A client of the Model Context Protocol that writes its messages by hand, so that it can also write what no client would.
#![expect(clippy::needless_pass_by_value, reason = "what is sent is made where it is sent")]

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::Home;

/// The longest that an answer is waited for: a stop for hanging tests, not a bound that is tested.
const REPLY_TIMEOUT: Duration = Duration::from_mins(1);

/// The version of the protocol that is asked for.
pub const VERSION: &str = "2025-06-18";

/// What the client can do, and says.
#[derive(Debug, Clone, Default)]
pub struct Abilities {
    /// Its roots, where it has some.
    pub roots: Option<Vec<String>>,
    /// How it answers when its user is asked, where it can ask.
    pub consent: Option<Value>,
}

/// A running server with this client at it. It is killed where a test leaves it.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    waiting: VecDeque<Value>,
    abilities: Abilities,
    last: i64,
    /// Every notification, in order.
    pub notifications: Vec<Value>,
    /// What the server asked for, in order.
    pub asked: Vec<Value>,
    /// What the server said to the greeting.
    pub greeting: Value,
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    /// Starts a server in the folder, and says nothing.
    pub fn silent(home: &Home, folder: &Path) -> Self {
        let mut command = home.command(["mcp"]);
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the server starts");
        let output = child.stdout.take().expect("stdout is piped");
        let (heard, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if heard.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            waiting: VecDeque::new(),
            abilities: Abilities::default(),
            last: 0,
            notifications: Vec::new(),
            asked: Vec::new(),
            greeting: Value::Null,
        }
    }

    /// Starts a server in the folder and greets it.
    pub fn start(home: &Home, folder: &Path) -> Self {
        Self::able(home, folder, Abilities::default())
    }

    /// The same, of a client that can do more.
    pub fn able(home: &Home, folder: &Path, abilities: Abilities) -> Self {
        let mut client = Self::silent(home, folder);
        let mut capabilities = json!({});
        if abilities.roots.is_some() {
            capabilities["roots"] = json!({"listChanged": true});
        }
        if abilities.consent.is_some() {
            capabilities["elicitation"] = json!({});
        }
        client.abilities = abilities;
        let hello = json!({"protocolVersion": VERSION, "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"}});
        client.greeting = client.result("initialize", hello);
        client.notify("notifications/initialized", &json!({}));
        client
    }

    /// The server's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The roots are others from now on, and the server is told so.
    pub fn move_to(&mut self, roots: Vec<String>) {
        self.abilities.roots = Some(roots);
        self.notify("notifications/roots/list_changed", &json!({}));
    }

    /// Writes bytes as they are. False where nobody reads them.
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        let input = self.input.as_mut().expect("standard input is open");
        input.write_all(bytes).and_then(|()| input.flush()).is_ok()
    }

    /// Writes a message.
    pub fn say(&mut self, message: &Value) {
        assert!(self.write(format!("{message}\n").as_bytes()), "the server does not listen");
    }

    /// Says something that wants no answer.
    pub fn notify(&mut self, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Asks, and gives the question's identifier back.
    pub fn ask(&mut self, method: &str, params: &Value) -> i64 {
        self.last += 1;
        self.say(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        self.last
    }

    /// The next message that is no question and no notification; none where the server has ended.
    pub fn hear(&mut self) -> Option<Value> {
        let until = Instant::now() + REPLY_TIMEOUT;
        loop {
            let line = match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => panic!("the server did not answer"),
            };
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("not JSON: {error}: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{message}");
            match (message.get("method").and_then(Value::as_str), message.get("id")) {
                (Some("roots/list"), Some(id)) => {
                    let roots: Vec<Value> =
                        self.abilities.roots.iter().flatten().map(|uri| json!({"uri": uri, "name": "a root"})).collect();
                    let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"roots": roots}});
                    self.asked.push(message.clone());
                    self.say(&answer);
                }
                (Some("elicitation/create"), Some(id)) => {
                    let answer = json!({"jsonrpc": "2.0", "id": id, "result": self.abilities.consent});
                    self.asked.push(message.clone());
                    self.say(&answer);
                }
                (Some(other), Some(_)) => panic!("the server asks for {other}"),
                (Some(_), None) => self.notifications.push(message),
                (None, _) => return Some(message),
            }
        }
    }

    /// The answer to the question with this identifier; others are kept.
    pub fn answer(&mut self, id: i64) -> Value {
        if let Some(at) = self.waiting.iter().position(|message| message["id"] == id) {
            return self.waiting.remove(at).expect("it is there");
        }
        loop {
            let message = self.hear().expect("the server is at work");
            if message["id"] == id {
                return message;
            }
            self.waiting.push_back(message);
        }
    }

    /// Asks and waits for the answer, whole.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Asks for what must succeed.
    #[track_caller]
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.request(method, &params);
        assert!(answer.get("error").is_none(), "{method} {params}: {answer:#}");
        answer["result"].take()
    }

    /// Asks for what must fail, and gives the error's code back.
    #[track_caller]
    pub fn error(&mut self, method: &str, params: Value) -> i64 {
        let answer = self.request(method, &params);
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method} {params} should fail: {answer:#}"))
    }

    /// Calls a tool that must do its work; what it says to programs.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.told(tool, arguments).1
    }

    /// Calls a tool that must do its work; what it says to the model and to programs.
    #[track_caller]
    pub fn told(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let mut result = self.result("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_ne!(result["isError"], true, "{tool} {arguments}: {result:#}");
        let text = result["content"][0]["text"].as_str().expect("a text").to_owned();
        (text, result["structuredContent"].take())
    }

    /// Calls a tool that must refuse; what it says to the model.
    #[track_caller]
    pub fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.result("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result:#}");
        let text = result["content"][0]["text"].as_str().expect("a text").to_owned();
        assert!(text.contains("hint: "), "{text}");
        text
    }

    /// Closes standard input and waits until the server has ended; gives back its exit code and how long it took.
    pub fn leave(mut self) -> (Option<i32>, Duration) {
        drop(self.input.take());
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("wait") {
                return (status.code(), began.elapsed());
            }
            assert!(began.elapsed() < REPLY_TIMEOUT, "the server stays without a client");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Goes without a word: both pipes are closed, whatever is under way.
    pub fn vanish(mut self) -> Duration {
        drop(self.input.take());
        // The thread that reads ends with the next line.
        drop(std::mem::replace(&mut self.lines, mpsc::channel().1));
        let began = Instant::now();
        while self.child.try_wait().expect("wait").is_none() {
            assert!(began.elapsed() < REPLY_TIMEOUT, "the server stays without a client");
            std::thread::sleep(Duration::from_millis(2));
        }
        began.elapsed()
    }
}
