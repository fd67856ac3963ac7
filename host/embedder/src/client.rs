//! Asks one embedding server for the vectors of many texts, in batches.

use throughline_embedder_wire::{Embedded, Fault, FaultKind, Limits, MAX_DIMS, Server, VERSION, batches};
use throughline_http::{Authorization, Key, Options};

use crate::reply::validate_vectors;

/// The longest JSON number in a vector, in bytes. Used to bound the size of a response.
const MAX_NUMBER_BYTES: u64 = 26;

/// Allowance for everything in a response besides the numbers, in bytes.
const RESPONSE_OVERHEAD_BYTES: u64 = 1 << 20;

/// A server and the settings for talking to it. It does not implement `Debug` because it holds the key.
pub(crate) struct Client {
    http: throughline_http::Client,
    dimensions: Option<usize>,
    limits: Limits,
}

impl Client {
    /// Validates the address and reads the key from the environment. Makes no connection.
    pub(crate) fn new(server: &Server, authorization: Authorization, limits: Limits) -> Result<Self, Fault> {
        let key = server.key_env.as_deref().map(Key::from_env).transpose()?;
        let options = Options {
            program: "throughline-embedder",
            base_url: &server.base_url,
            authorization,
            headers: &[],
            timeout_ms: limits.timeout_ms,
            tries: limits.tries,
            backoff_ms: limits.backoff_ms,
            repeat_charged: true,
        };
        Ok(Self { http: throughline_http::Client::new(&options, key)?, dimensions: server.dimensions, limits })
    }

    /// Returns the vectors of all texts, in order. `asked` writes the request body for a batch of texts; `read` parses
    /// the vectors from the response body.
    pub(crate) fn embed(
        &self,
        model: &str,
        path: &str,
        texts: &[String],
        asked: impl Fn(&[String]) -> serde_json::Result<Vec<u8>>,
        read: impl Fn(&[u8]) -> Result<Vec<Vec<f32>>, Fault>,
    ) -> Result<Embedded, Fault> {
        let mut dims = self.dimensions;
        let mut vectors = Vec::with_capacity(texts.len());
        for range in batches(texts.iter().map(String::len), &self.limits) {
            let texts = &texts[range];
            let body =
                asked(texts).map_err(|_| Fault::permanent(FaultKind::Request, "the request cannot be written as JSON"))?;
            let most = texts.len() as u64 * MAX_DIMS as u64 * MAX_NUMBER_BYTES + RESPONSE_OVERHEAD_BYTES;
            let reply = self.http.post(path, &body, most).map_err(|error| error.fault)?;
            vectors.extend(validate_vectors(read(&reply)?, texts.len(), &mut dims)?);
        }
        Ok(Embedded { version: VERSION, model: model.to_owned(), dims: dims.unwrap_or_default(), vectors })
    }
}
