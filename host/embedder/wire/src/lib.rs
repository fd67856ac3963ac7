//! The protocol between Throughline and its embedder: one JSON request on standard input, one JSON answer on standard
//! output.
//!
//! The two programs are installed separately, so each message carries the protocol version.

#![forbid(unsafe_code)]

mod batch;
mod endpoint;
mod vector;

use serde::{Deserialize, Serialize};

pub use batch::batches;
pub use endpoint::Endpoint;
pub use vector::{MAX_DIMS, Vector, normalized};

/// The protocol version. A program that receives another version reports that and does nothing else.
pub const VERSION: u32 = 1;

/// The longest accepted request, in bytes.
pub const MAX_REQUEST: u64 = 64 << 20;

/// A request to embed texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// [`VERSION`].
    pub version: u32,
    /// The provider that computes the vectors.
    pub provider: Provider,
    /// What the texts are embedded for.
    pub purpose: Purpose,
    /// The texts; none is empty.
    pub texts: Vec<String>,
    /// Deadlines, batch sizes and retries.
    pub limits: Limits,
}

/// A provider of vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Provider {
    /// `POST {base_url}/embeddings`, as OpenAI and many other servers implement it.
    Openai {
        /// The server.
        server: Server,
        /// The vector encoding to ask for. Answers in either encoding are accepted.
        encoding_format: EncodingFormat,
    },
    /// `POST {base_url}/models/{model}:batchEmbedContents`, as Gemini implements it.
    Gemini {
        /// The server.
        server: Server,
    },
    /// A model of the BERT family on this machine.
    Folder {
        /// The absolute path of a folder with `config.json`, `tokenizer.json` and `model.safetensors`.
        path: String,
    },
}

/// A server and its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The server's address; see [`Endpoint`].
    pub base_url: String,
    /// The model's name on the server.
    pub model: String,
    /// How many numbers each vector should have, or `None` for the model's default.
    pub dimensions: Option<usize>,
    /// The environment variable that holds the key, or `None` if the server needs no key.
    pub key_env: Option<String>,
}

/// How the server should encode vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EncodingFormat {
    /// JSON numbers, which every server supports.
    #[default]
    Float,
    /// Base64 of little-endian 32-bit floats: a third of the bytes.
    Base64,
}

/// The purpose of an embedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// A search query.
    Query,
    /// A text to search through.
    Document,
}

/// Limits on time, batch size and retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The maximum time for one batch, including retries, in milliseconds.
    pub timeout_ms: u64,
    /// The maximum number of texts in a batch.
    pub batch: usize,
    /// The maximum bytes of text in a batch. A longer text gets a batch of its own.
    pub batch_bytes: usize,
    /// The maximum number of attempts for a batch, including the first.
    pub tries: u32,
    /// The wait before the second attempt, in milliseconds. It doubles with each attempt.
    pub backoff_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        // Gemini accepts 100 texts per request and OpenAI 300,000 tokens; 250 KB is fewer tokens than that in any
        // script.
        Self { timeout_ms: 10_000, batch: 96, batch_bytes: 250_000, tries: 4, backoff_ms: 500 }
    }
}

/// The embedder's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// A vector for each text, in the order of the texts.
    Embedded(Embedded),
    /// The request failed.
    Failed(Fault),
}

/// The vectors of a request's texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedded {
    /// [`VERSION`].
    pub version: u32,
    /// The model's name; for a folder, it includes a fingerprint of the contents.
    pub model: String,
    /// How many numbers each vector has.
    pub dims: usize,
    /// One vector for each text.
    pub vectors: Vec<Vector>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// What happened and where, in one sentence without a full stop. It never contains a key.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// How long the server asks clients to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// Kinds of faults, distinguished by what the user can do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultKind {
    /// The request is invalid: a bad setting, an empty text, or another protocol version.
    Request,
    /// The key is missing or the server rejects it.
    Key,
    /// The server understood the request and refused it: an unknown model, a text that is too long.
    Refused,
    /// Too many requests.
    Rate,
    /// No answer in time.
    Timeout,
    /// The connection could not be made, or broke.
    Connection,
    /// The server failed.
    Server,
    /// The answer is not a valid answer to the request.
    Answer,
    /// The folder contains no model that can be run.
    Model,
    /// This embedder was built without the requested feature.
    Unsupported,
}

impl Fault {
    /// Creates a permanent fault: the same request would fail again.
    pub fn permanent(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: false, retry_after_ms: None }
    }

    /// Creates a temporary fault: the same request may succeed later.
    pub fn temporary(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: true, retry_after_ms: None }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_request_has_this_form() {
        let server = Server { base_url: "http://localhost:1/v1".into(), model: "m".into(), dimensions: None, key_env: None };
        let request = Request {
            version: VERSION,
            provider: Provider::Openai { server, encoding_format: EncodingFormat::Float },
            purpose: Purpose::Query,
            texts: vec!["a".into()],
            limits: Limits { timeout_ms: 1, batch: 2, batch_bytes: 3, tries: 4, backoff_ms: 5 },
        };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(
            text,
            "{\"version\":1,\"provider\":{\"kind\":\"openai\",\"server\":{\"base_url\":\"http://localhost:1/v1\",\"model\":\"m\",\
             \"dimensions\":null,\"key_env\":null},\"encoding_format\":\"float\"},\"purpose\":\"query\",\"texts\":[\"a\"],\
             \"limits\":{\"timeout_ms\":1,\"batch\":2,\"batch_bytes\":3,\"tries\":4,\"backoff_ms\":5}}"
        );
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
    }

    #[test]
    fn an_answer_has_this_form() {
        let vectors = vec![Vector(vec![1.0, 0.0])];
        let answer = Answer::Embedded(Embedded { version: VERSION, model: "m".into(), dims: 2, vectors });
        let text = serde_json::to_string(&answer).unwrap();
        assert_eq!(text, r#"{"embedded":{"version":1,"model":"m","dims":2,"vectors":["AACAPwAAAAA="]}}"#);
        assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
        let failed = Answer::Failed(Fault::permanent(FaultKind::Key, "none"));
        let text = serde_json::to_string(&failed).unwrap();
        assert_eq!(text, r#"{"failed":{"kind":"key","message":"none","retryable":false}}"#);
        assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), failed);
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = serde_json::from_slice::<Answer>(&bytes);
            let _ = serde_json::from_slice::<Request>(&bytes);
        }
    }
}
