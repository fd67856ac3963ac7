//! The HTTP client for one embedding server: batching, retries, deadlines and response size limits.

use std::io;
use std::time::{Duration, Instant, SystemTime};

use throughline_embedder_wire::{Embedded, Endpoint, Fault, FaultKind, Limits, MAX_DIMS, Server, VERSION, batches};
use ureq::http::{HeaderMap, HeaderValue, Response, StatusCode};
use ureq::{Agent, Body, Error};

use crate::reply::{parse_error_message, validate_vectors};
use crate::{retry, tls};

/// The longest JSON number in a vector, in bytes. Used to bound the size of a response.
const MAX_NUMBER_BYTES: u64 = 26;

/// Allowance for everything in a response besides the numbers, in bytes.
const RESPONSE_OVERHEAD_BYTES: u64 = 1 << 20;

/// The maximum number of bytes read from an error response.
const MAX_ERROR_BYTES: u64 = 64 << 10;

/// How the key is sent to the server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Authorization {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// `x-goog-api-key: KEY`.
    GoogleApiKey,
}

/// A server and the settings for talking to it. It does not implement `Debug` because it holds the key.
pub(crate) struct Client {
    agent: Agent,
    endpoint: Endpoint,
    dimensions: Option<usize>,
    key: Option<Key>,
    limits: Limits,
}

struct Key {
    /// The environment variable that holds the key.
    variable: String,
    secret: String,
    header: (&'static str, HeaderValue),
}

/// A failed attempt.
struct AttemptError {
    fault: Fault,
    /// Whether another attempt within this request may succeed.
    is_retryable: bool,
}

impl Client {
    /// Validates the address and reads the key from the environment. Makes no connection.
    pub(crate) fn new(server: &Server, authorization: Authorization, limits: Limits) -> Result<Self, Fault> {
        let endpoint = Endpoint::parse(&server.base_url)
            .map_err(|what| Fault::permanent(FaultKind::Request, format!("base_url cannot be used: {what}")))?;
        let key = server.key_env.as_deref().map(|name| Key::read(name, authorization)).transpose()?;
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // Never follow redirects: the key and the texts must go to the configured address and nowhere else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .https_only(!endpoint.is_loopback)
            .user_agent(concat!("throughline-embedder/", env!("CARGO_PKG_VERSION")));
        if endpoint.is_loopback {
            config = config.proxy(None);
        }
        if endpoint.url.starts_with("https:") {
            config = config.tls_config(tls::config()?);
        }
        Ok(Self { agent: config.build().new_agent(), endpoint, dimensions: server.dimensions, key, limits })
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
            let reply = self.post(path, &body, most)?;
            vectors.extend(validate_vectors(read(&reply)?, texts.len(), &mut dims)?);
        }
        Ok(Embedded { version: VERSION, model: model.to_owned(), dims: dims.unwrap_or_default(), vectors })
    }

    /// Posts `body` and returns the response body, retrying as often as the limits allow.
    fn post(&self, path: &str, body: &[u8], most: u64) -> Result<Vec<u8>, Fault> {
        let until = Instant::now() + Duration::from_millis(self.limits.timeout_ms);
        let backoff = Duration::from_millis(self.limits.backoff_ms);
        let mut tried = 1;
        loop {
            let AttemptError { mut fault, is_retryable } = match self.attempt(path, body, most, until) {
                Ok(body) => return Ok(body),
                Err(miss) => miss,
            };
            let asked = fault.retry_after_ms.map(Duration::from_millis);
            let wait = retry::backoff_delay(tried, backoff, asked, retry::random_fraction());
            // Give up if the wait leaves no time for another attempt.
            if !is_retryable || tried >= self.limits.tries || Instant::now() + wait >= until {
                if tried > 1 {
                    fault.message = format!("{} (attempt {tried}, giving up)", fault.message);
                }
                return Err(fault);
            }
            std::thread::sleep(wait);
            tried += 1;
        }
    }

    /// Makes one attempt.
    fn attempt(&self, path: &str, body: &[u8], most: u64, until: Instant) -> Result<Vec<u8>, AttemptError> {
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let mut request = self
            .agent
            .post(format!("{}{path}", self.endpoint.url))
            .config()
            .timeout_global(Some(left))
            .build()
            .header("content-type", "application/json");
        if let Some(Key { header: (name, value), .. }) = &self.key {
            request = request.header(*name, value.clone());
        }
        let mut response = request.send(body).map_err(|error| self.transport_error(&error))?;
        if response.status() != StatusCode::OK {
            return Err(self.status_error(&mut response));
        }
        response.body_mut().with_config().limit(most).read_to_vec().map_err(|error| self.transport_error(&error))
    }

    /// Maps a response other than 200 to a fault.
    fn status_error(&self, response: &mut Response<Body>) -> AttemptError {
        let status = response.status();
        let from = &self.endpoint.authority;
        if status.is_redirection() {
            let message = format!("{from} answered {status} with a redirect, which is not followed");
            return AttemptError { fault: Fault::permanent(FaultKind::Refused, message), is_retryable: false };
        }
        if matches!(status.as_u16(), 401 | 403) {
            // Leave out the server's message: it tends to quote the key.
            let message = match &self.key {
                Some(key) => format!("{from} answered {status}: it rejects the key in {}", key.variable),
                None => format!("{from} answered {status}: it needs a key, but key_env names none"),
            };
            return AttemptError { fault: Fault::permanent(FaultKind::Key, message), is_retryable: false };
        }
        let retry_after = parse_retry_after(response.headers());
        let body = response.body_mut().with_config().limit(MAX_ERROR_BYTES).read_to_vec().unwrap_or_default();
        let (said, code) = parse_error_message(&body, self.key.as_ref().map(|key| key.secret.as_str()));
        let said = said.map(|said| format!(": {said}")).unwrap_or_default();
        let message = format!("{from} answered {status}{said}");
        let mut fault = match status.as_u16() {
            // OpenAI's code for an account without credit; waiting does not help.
            429 if code.as_deref() == Some("insufficient_quota") => Fault::permanent(FaultKind::Rate, message),
            429 => Fault::temporary(FaultKind::Rate, message),
            408 => Fault::temporary(FaultKind::Timeout, message),
            500.. => Fault::temporary(FaultKind::Server, message),
            _ => Fault::permanent(FaultKind::Refused, message),
        };
        if fault.retryable {
            fault.retry_after_ms = retry_after.and_then(|wait| u64::try_from(wait.as_millis()).ok());
        }
        AttemptError { is_retryable: fault.retryable, fault }
    }

    /// Maps a connection error to a fault.
    fn transport_error(&self, error: &Error) -> AttemptError {
        let from = &self.endpoint.authority;
        let connection = |what: String| Fault::temporary(FaultKind::Connection, what);
        let (fault, is_retryable) = match error {
            Error::Timeout(_) => {
                let message = format!("{from} did not answer within {} ms", self.limits.timeout_ms);
                (Fault::temporary(FaultKind::Timeout, message), false)
            }
            Error::HostNotFound => (connection(format!("{from} was not found")), true),
            Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                (connection(format!("{from} closed the connection before its answer was complete")), true)
            }
            // rustls errors arrive as `InvalidData`. A bad certificate will be just as bad next time.
            Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                (Fault::permanent(FaultKind::Connection, format!("{from} cannot be trusted: {error}")), false)
            }
            Error::Io(error) => (connection(format!("no connection to {from}: {error}")), true),
            Error::Rustls(error) => {
                (Fault::permanent(FaultKind::Connection, format!("{from} cannot be trusted: {error}")), false)
            }
            Error::ConnectionFailed => (connection(format!("no connection to {from}")), true),
            // Leave out the error's message: it could contain a proxy password.
            Error::ConnectProxyFailed(_) | Error::InvalidProxyUrl => {
                (connection(format!("the proxy could not connect to {from}")), true)
            }
            Error::BodyExceedsLimit(most) => {
                (Fault::permanent(FaultKind::Answer, format!("{from} answered with more than {most} bytes")), false)
            }
            Error::LargeResponseHeader(..) | Error::Protocol(_) => {
                (Fault::temporary(FaultKind::Answer, format!("{from} sent an invalid HTTP response")), false)
            }
            other => (Fault::permanent(FaultKind::Request, format!("the request to {from} failed: {other}")), false),
        };
        AttemptError { fault, is_retryable }
    }
}

/// Returns how long the server asks clients to wait before the next request.
fn parse_retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    retry::parse_retry_after(text("retry-after-ms"), text("retry-after"), SystemTime::now())
}

impl Key {
    /// Reads the key from the environment. Errors name the variable and never include its value.
    fn read(variable: &str, authorization: Authorization) -> Result<Self, Fault> {
        let fault = |what: &str| Fault::permanent(FaultKind::Key, format!("{variable} {what}"));
        let secret = std::env::var(variable).map_err(|_| fault("is not set, or is not valid UTF-8"))?;
        let secret = secret.trim();
        if secret.is_empty() {
            return Err(fault("is empty"));
        }
        let (name, value) = match authorization {
            Authorization::Bearer => ("authorization", format!("Bearer {secret}")),
            Authorization::GoogleApiKey => ("x-goog-api-key", secret.to_owned()),
        };
        let is_plain = secret.bytes().all(|byte| byte.is_ascii_graphic());
        let Some(mut value) = HeaderValue::from_str(&value).ok().filter(|_| is_plain) else {
            return Err(fault("contains characters that no key has"));
        };
        value.set_sensitive(true);
        Ok(Self { variable: variable.to_owned(), secret: secret.to_owned(), header: (name, value) })
    }
}
