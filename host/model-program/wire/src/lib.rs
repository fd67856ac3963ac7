//! The protocol between Throughline and `throughline-model`: one JSON request on standard input, one JSON answer on standard
//! output.
//!
//! The two programs are installed separately, so each message carries the protocol version. Addresses and faults are those of the
//! embedder's protocol.

#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

pub use throughline_embedder_wire::{Endpoint, Fault, FaultKind};

/// The protocol version. A program that receives another version reports that and does nothing else.
pub const VERSION: u32 = 1;

/// The longest accepted request, in bytes.
pub const MAX_REQUEST: u64 = 16 << 20;

/// The longest text of an answer, in bytes.
pub const MAX_TEXT: usize = 1 << 20;

/// The variable that marks every process that a call to a model starts. Throughline's hooks do nothing if it is set, so that a
/// session that a call creates is never remembered.
pub const MARK: &str = "THROUGHLINE_MODEL_CALL";

/// A request to complete a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// [`VERSION`].
    pub version: u32,
    /// The provider to ask.
    pub provider: Provider,
    /// The messages, in order; at least one.
    pub messages: Vec<Message>,
    /// The JSON Schema of the answer, if it is to be JSON.
    pub schema: Option<serde_json::Value>,
    /// The most tokens that the answer may have.
    pub max_tokens: u32,
    /// Deadline and retries.
    pub limits: Limits,
}

impl Request {
    /// Returns the request without its provider, as text for a digest.
    pub fn asked(&self) -> String {
        serde_json::json!([self.messages, self.schema, self.max_tokens]).to_string()
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// The text.
    pub content: String,
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The instructions.
    System,
    /// The policy, in place of a user.
    User,
    /// The model, in an earlier answer.
    Assistant,
}

/// A provider of answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Provider {
    /// `POST {base_url}/chat/completions`, as OpenAI, ollama, vLLM, llama.cpp and many others implement it.
    Openai {
        /// The server.
        server: Server,
    },
    /// `POST {base_url}/v1/messages`, as Anthropic implements it.
    Anthropic {
        /// The server.
        server: Server,
    },
    /// `POST {base_url}/models/{model}:generateContent`, as Gemini implements it.
    Gemini {
        /// The server.
        server: Server,
    },
    /// A coding agent's own command line, so that its subscription pays.
    Command {
        /// Which agent it is.
        agent: Agent,
        /// The absolute path of the program, or its name in `PATH`.
        program: String,
        /// The model; none for the agent's default.
        model: Option<String>,
        /// The folder in which it runs. Nothing is remembered of sessions there.
        folder: String,
    },
    /// Replies that were recorded in a folder.
    Recorded {
        /// The folder.
        folder: String,
    },
}

/// A coding agent that answers from the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Agent {
    /// `claude -p`.
    Claude,
    /// `codex exec`.
    Codex,
    /// `gemini -p`.
    Gemini,
}

/// A server and its model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The server's address; see [`Endpoint`].
    pub base_url: String,
    /// The model's name on the server.
    pub model: String,
    /// Where the key is, or none if the server needs no key.
    pub key: Option<KeySource>,
}

/// Where a key is. It is never part of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeySource {
    /// This environment variable.
    Env(String),
    /// This file, which nobody else may read.
    File(String),
    /// The output of this command, such as a keyring's.
    Command(Vec<String>),
}

/// Limits on time and retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The maximum time for the request, including retries, in milliseconds.
    pub timeout_ms: u64,
    /// The maximum number of attempts, including the first. What may have been charged is never repeated.
    pub tries: u32,
    /// The wait before the second attempt, in milliseconds. It doubles with each attempt.
    pub backoff_ms: u64,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The model answered.
    Completed(Completed),
    /// The request failed.
    Failed(Failed),
}

/// What the model answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    /// [`VERSION`].
    pub version: u32,
    /// The model that says that it answered.
    pub model: String,
    /// The text.
    pub text: String,
    /// Whether the text was cut off at the most tokens.
    pub truncated: bool,
    /// How many tokens the provider says that it read; none if it does not say.
    pub input_tokens: Option<u64>,
    /// How many tokens the provider says that it wrote; none if it does not say.
    pub output_tokens: Option<u64>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// What happened.
    pub fault: Fault,
    /// Whether the provider may have done the work, and charged for it.
    pub may_be_charged: bool,
}

impl From<Fault> for Failed {
    /// A fault that was found before anything was sent.
    fn from(fault: Fault) -> Self {
        Self { fault, may_be_charged: false }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_request_has_this_form() {
        let server = Server {
            base_url: "http://localhost:1/v1".into(),
            model: "m".into(),
            key: Some(KeySource::Env("A_KEY".into())),
        };
        let request = Request {
            version: VERSION,
            provider: Provider::Openai { server },
            messages: vec![Message { role: Role::User, content: "a".into() }],
            schema: None,
            max_tokens: 5,
            limits: Limits { timeout_ms: 1, tries: 2, backoff_ms: 3 },
        };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(
            text,
            "{\"version\":1,\"provider\":{\"kind\":\"openai\",\"server\":{\"base_url\":\"http://localhost:1/v1\",\"model\":\"m\",\
             \"key\":{\"env\":\"A_KEY\"}}},\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"schema\":null,\"max_tokens\":5,\
             \"limits\":{\"timeout_ms\":1,\"tries\":2,\"backoff_ms\":3}}"
        );
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = serde_json::from_slice::<Answer>(&bytes);
            let _ = serde_json::from_slice::<Request>(&bytes);
        }
    }
}
