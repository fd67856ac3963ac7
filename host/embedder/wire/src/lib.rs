//! What Throughline and its embedder say to each other: one request on standard input, one answer on standard output, both JSON.
//!
//! The two programs are installed one by one, so each message names the version of this form.

#![forbid(unsafe_code)]

mod batch;
mod endpoint;
mod vector;

use serde::{Deserialize, Serialize};

pub use batch::batches;
pub use endpoint::Endpoint;
pub use vector::{MOST_DIMS, Vector, normalized};

/// The version of this form. A program that meets another one says so and does nothing.
pub const VERSION: u32 = 1;

/// The longest request that is read, bytes.
pub const MOST_REQUEST: u64 = 64 << 20;

/// What is to be embedded, and by whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// [`VERSION`].
    pub version: u32,
    /// Who computes.
    pub provider: Provider,
    /// What for.
    pub purpose: Purpose,
    /// What; none is empty.
    pub texts: Vec<String>,
    /// How long and how often.
    pub limits: Limits,
}

/// Who computes vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Provider {
    /// `POST {base_url}/embeddings`, as OpenAI and many servers after it have it.
    Openai {
        /// Where.
        server: Server,
        /// How vectors are asked for; both forms are understood in any case.
        encoding_format: EncodingFormat,
    },
    /// `POST {base_url}/models/{model}:batchEmbedContents`, as Gemini has it.
    Gemini {
        /// Where.
        server: Server,
    },
    /// A model of the BERT family on this machine.
    Folder {
        /// Absolute; holds `config.json`, `tokenizer.json` and `model.safetensors`.
        path: String,
    },
}

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Where it is; see [`Endpoint`].
    pub base_url: String,
    /// As the server calls it.
    pub model: String,
    /// How many numbers a vector is to have; none: as many as the model gives by itself.
    pub dimensions: Option<usize>,
    /// The environment variable that holds the key; none: the server wants none.
    pub key_env: Option<String>,
}

/// How a server is asked to write vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EncodingFormat {
    /// JSON numbers: every server knows it.
    #[default]
    Float,
    /// Base64 of little-endian 32-bit floats: a third of the bytes.
    Base64,
}

/// What texts are embedded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// What is searched for.
    Query,
    /// What is searched through.
    Document,
}

/// How long and how often the embedder may try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The longest that one batch may take with all its tries, milliseconds.
    pub timeout_ms: u64,
    /// The most texts of one batch.
    pub batch: usize,
    /// The most bytes of text of one batch. A text that is longer by itself is a batch of its own.
    pub batch_bytes: usize,
    /// The most tries of one batch, the first included.
    pub tries: u32,
    /// The wait before the second try, milliseconds; it doubles from try to try.
    pub backoff_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        // Gemini takes 100 texts a request, and OpenAI 300,000 tokens: 250 KB are fewer in any script.
        Self { timeout_ms: 10_000, batch: 96, batch_bytes: 250_000, tries: 4, backoff_ms: 500 }
    }
}

/// What the embedder answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// A vector for each text, in the order of the texts.
    Embedded(Embedded),
    /// There are none.
    Failed(Fault),
}

/// The vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedded {
    /// [`VERSION`].
    pub version: u32,
    /// The model's name; of a folder with a fingerprint of what is in it.
    pub model: String,
    /// How many numbers each vector has.
    pub dims: usize,
    /// One for each text.
    pub vectors: Vec<Vector>,
}

/// Why there are no vectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Of which kind.
    pub kind: Kind,
    /// What happened and where, one sentence without a full stop. It holds no key.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// How long the server wants to be left alone, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// Kinds of faults, by what one can do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// What was asked for cannot be asked for: a setting, an empty text, another version of this form.
    Request,
    /// There is no key, or the server does not take it.
    Key,
    /// The server understood and does not want to: an unknown model, too long a text.
    Refused,
    /// Too many requests.
    Rate,
    /// No answer in time.
    Timeout,
    /// No connection, or one that broke.
    Connection,
    /// The server failed.
    Server,
    /// What came back is no answer to what was asked.
    Answer,
    /// The folder holds no model that can be run.
    Model,
    /// This embedder was built without what was asked for.
    Unsupported,
}

impl Fault {
    /// One that will be the same next time.
    pub fn lasting(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: false, retry_after_ms: None }
    }

    /// One that may be over next time.
    pub fn passing(kind: Kind, message: impl Into<String>) -> Self {
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
        let failed = Answer::Failed(Fault::lasting(Kind::Key, "none"));
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
